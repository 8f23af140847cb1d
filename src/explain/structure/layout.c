/* SPDX-License-Identifier: MIT
 * Tensors that are one in the file and several in the prediction, or the other way round (joints.h). Where all is there
 * it is a warning; what is like it elsewhere, and not all there, is an error. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "explain/gather.h"
#include "match/pieces.h"

/* Which side has several tensors in one. */
enum holder {
    PREDICTION_HAS_WHOLES, /* the file has the parts: q_proj, k_proj and v_proj for qkv_proj */
    FILE_HAS_WHOLES        /* the prediction has the parts */
};

/* How parts make a whole. */
enum joint_kind {
    FUSED,  /* side by side: q, k and v */
    STACKED /* over an index of the names: the experts of a layer, the layers of a model */
};

static enum joint_kind kind_of_joint(const struct sp_joint *joint)
{
    return joint->joining == SP_SIDE_BY_SIDE ? FUSED : STACKED;
}

/* Adds what is missing: the wholes, or the parts. */
static void add_missing(const struct shapeproof_check *check, struct sp_joints *joints, enum holder holder)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_MISSING)) continue;
        const struct shapeproof_predicted *tensor =
            shapeproof_prediction_tensor(check->prediction, check->findings[i].predicted);
        const struct sp_joint_piece piece = {i, tensor->shape, tensor->rank};
        if (holder == PREDICTION_HAS_WHOLES) sp_joints_add_whole(joints, tensor->name, piece, SP_JOINT_FIRST_SIDE);
        else sp_joints_add_part(joints, tensor->name, piece, SP_JOINT_FIRST_SIDE);
    }
}

/* Adds what is unexpected: the parts, or the wholes. */
static void add_unexpected(const struct shapeproof_check *check, struct sp_joints *joints, enum holder holder)
{
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_UNEXPECTED))
            sp_joints_add_stored(joints, &check->naming,
                                 shapeproof_inventory_tensor(check->inventory, check->findings[i].tensor), i,
                                 holder == FILE_HAS_WHOLES);
}

/* ---- saying it ---- */

static const struct {
    enum sp_cause_kind kind;
    const char *says;
} words[2][2] = {
    [FUSED] = {[PREDICTION_HAS_WHOLES] = {SP_CAUSE_SPLIT, "split in the file"},
               [FILE_HAS_WHOLES] = {SP_CAUSE_FUSED, "fused in the file"}},
    [STACKED] = {[PREDICTION_HAS_WHOLES] = {SP_CAUSE_UNPACKED, "unpacked in the file"},
                 [FILE_HAS_WHOLES] = {SP_CAUSE_PACKED, "packed in the file"}},
};

static const char order_hint[] = "shapes determine neither the order of the parts nor whether heads alternate in "
                                 "the fused tensor: convert it with the tools of the framework that wrote it";

/* "self_attn.qkv_proj = q_proj + k_proj + v_proj, mlp.gate_up_proj = gate_proj + up_proj". */
static void put_joint_kinds(struct sp_text *text, const struct sp_joints *joints, enum joint_kind kind)
{
    enum { SHOWN = 3 };
    struct sp_map known = {0};
    for (size_t i = 0; i < joints->count; i++) {
        const struct sp_joint *joint = &joints->items[i];
        if (kind_of_joint(joint) != kind || !sp_map_add(&known, joint->says, 0) || known.count > SHOWN) continue;
        sp_text_printf(text, "%s%s%s", known.count > 1 ? ", " : "", joint->says,
                       joint->transposed ? " (transposed)" : "");
    }
    if (known.count > SHOWN) sp_text_printf(text, " and %zu more", known.count - SHOWN);
    sp_map_free(&known);
}

/* One cause for all joints of a kind: it explains the findings about the wholes and about their parts. */
static void explain_joints(struct shapeproof_check *check, const struct sp_joints *joints, enum holder holder,
                           enum joint_kind kind)
{
    size_t parts = 0, wholes = 0;
    struct shapeproof_cause *cause = NULL;
    struct sp_text text = {0};
    for (size_t i = 0; i < joints->count; i++) {
        const struct sp_joint *joint = &joints->items[i];
        if (kind_of_joint(joint) != kind) continue;
        if (!cause) cause = sp_blame(check, words[kind][holder].kind);
        sp_attribute_finding(check, joint->whole.item, cause);
        for (size_t k = 0; k < joint->part_count; k++) sp_attribute_finding(check, joint->parts[k], cause);
        parts += joint->part_count;
        wholes++;
        if (joint->mixed) cause->hint = order_hint;
    }
    if (!cause) return;
    sp_text_printf(&text, "%s: ", words[kind][holder].says);
    put_joint_kinds(&text, joints, kind);
    const size_t predicted = holder == FILE_HAS_WHOLES ? parts : wholes, stored = parts + wholes - predicted;
    sp_text_printf(&text, " (%zu tensors stored as %zu)", predicted, stored);
    cause->message = sp_text_keep(&text, &check->arena);
}

/* ---- what is not all there ---- */

/* Wholes that look like those of joints and have no joint, since a part is absent or of another shape. With a joint of
 * layers.0.attn.qkv_proj as the example, and parts in the file:
 *
 *     layers.7.attn.qkv_proj   missing                     a whole that remains
 *     layers.7.attn.q_proj     unexpected                  its parts that are findings, which make it one
 *     layers.7.attn.k_proj     unexpected
 *     layers.7.attn.v_proj     no finding: not in the file, absent */
struct remains {
    struct shapeproof_check *check;
    const struct sp_joints *joints;
    enum holder holder;
    struct sp_patterns patterns;
    struct sp_map findings; /* open ones by their names */
    struct sp_map examples; /* the pattern of a whole -> a joint */
    const char **wholes;    /* names of the wholes that remain */
    const char **absent;    /* names of the parts that the file lacks */
    size_t whole_count, whole_capacity, absent_count, absent_capacity;
    const struct shapeproof_finding *first; /* of the first whole */
    struct shapeproof_cause *cause;         /* of all; NULL as long as there is none */
    size_t names; /* how many names of parts may still be made up, which bounds the work on a hostile file */
};

static const char *finding_name(const struct remains *remains, size_t finding)
{
    return remains->check->findings[finding].name;
}

/* Fills `examples` and `findings`. */
static void note_examples(struct remains *remains)
{
    for (size_t i = 0; i < remains->joints->count; i++) {
        const char *name = finding_name(remains, remains->joints->items[i].whole.item);
        const size_t pattern = sp_pattern_of(&remains->patterns, name, NULL);
        sp_map_add(&remains->examples, sp_pattern_text(&remains->patterns, pattern), i);
    }
    for (size_t i = 0; i < remains->check->finding_count; i++)
        if (sp_finding_is_open(&remains->check->findings[i]))
            sp_map_add(&remains->findings, finding_name(remains, i), i);
}

/* The name of a part of the example, with the indices of another whole: "layers.7.attn.q_proj" for a part
 * "layers.0.attn.q_proj". Joined over the first index, the parts have one more in front, which stays. */
static const char *name_like(struct remains *remains, const struct sp_joint *example, size_t part,
                             const struct sp_indices *whole)
{
    struct sp_indices indices;
    struct sp_text name = {0};
    const size_t pattern = sp_pattern_of(&remains->patterns, finding_name(remains, part), &indices);
    const size_t front = example->joining == SP_OVER_FIRST ? 1 : 0;
    for (size_t i = 0; i < whole->count && front + i < indices.count; i++) indices.value[front + i] = whole->value[i];
    sp_pattern_fill(&name, sp_pattern_text(&remains->patterns, pattern), &indices);
    return sp_text_keep(&name, &remains->check->arena);
}

static void explain_remains(struct remains *remains, size_t finding)
{
    if (!remains->cause) remains->cause = sp_blame(remains->check, SP_CAUSE_INCOMPLETE);
    sp_attribute_finding(remains->check, finding, remains->cause);
}

/* If a finding is about a whole that remains: explains it and those of its parts that are findings, and notes those of
 * its parts that the file lacks. Where the file has the whole, a part without a finding is in the file as
 * predicted. */
static void gather_remains(struct remains *remains, size_t whole)
{
    struct sp_indices indices;
    const size_t pattern = sp_pattern_of(&remains->patterns, finding_name(remains, whole), &indices);
    const size_t place = sp_map_get(&remains->examples, sp_pattern_text(&remains->patterns, pattern));
    size_t known = 0; /* parts that are findings */
    if (place == SIZE_MAX) return;
    const struct sp_joint *example = &remains->joints->items[place];
    if (example->part_count > remains->names) return;
    remains->names -= example->part_count;
    const char **names = sp_arena_array(&remains->check->arena, example->part_count, sizeof *names);
    for (size_t i = 0; i < example->part_count; i++) {
        names[i] = name_like(remains, example, example->parts[i], &indices);
        known += sp_map_get(&remains->findings, names[i]) != SIZE_MAX;
    }
    if (!known) return;
    if (!remains->first) remains->first = &remains->check->findings[whole];
    SP_GROW(remains->wholes, remains->whole_count, remains->whole_capacity);
    remains->wholes[remains->whole_count++] = finding_name(remains, whole);
    explain_remains(remains, whole);
    for (size_t i = 0; i < example->part_count; i++) {
        const size_t part = sp_map_get(&remains->findings, names[i]);
        if (part != SIZE_MAX) {
            if (sp_finding_is_open(&remains->check->findings[part])) explain_remains(remains, part);
        } else if (remains->holder == PREDICTION_HAS_WHOLES) {
            SP_GROW(remains->absent, remains->absent_count, remains->absent_capacity);
            remains->absent[remains->absent_count++] = names[i];
        }
    }
}

/* "the file lacks layers.7.attn.v_proj.weight, a part of layers.7.attn.qkv_proj.weight". */
static void say_remains(struct remains *remains)
{
    struct sp_arena *arena = &remains->check->arena;
    struct shapeproof_cause *cause = remains->cause;
    const char *wholes = sp_some_names(arena, remains->wholes, remains->whole_count);
    if (remains->absent_count)
        cause->message = sp_arena_printf(arena, "the file lacks %s, %s of %s",
                                         sp_some_names(arena, remains->absent, remains->absent_count),
                                         remains->absent_count == 1 ? "a part" : "parts", wholes);
    else if (remains->whole_count == 1)
        cause->message = sp_arena_printf(arena, "%s is %s, but its parts do not add up to this shape", wholes,
                                         remains->first->found);
    else cause->message = sp_arena_printf(arena, "the parts of %s do not add up to the shapes of these", wholes);
}

/* One cause for the wholes that look like those of joints, and cannot be made of what is there. */
static void explain_incomplete(struct shapeproof_check *check, const struct sp_joints *joints, enum holder holder)
{
    struct remains remains = {.check = check, .joints = joints, .holder = holder};
    remains.names = 4 * check->finding_count + 1000;
    const enum shapeproof_finding_kind kind =
        holder == FILE_HAS_WHOLES ? SHAPEPROOF_FINDING_UNEXPECTED : SHAPEPROOF_FINDING_MISSING;
    if (!joints->count) return;
    note_examples(&remains);
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], kind)) gather_remains(&remains, i);
    if (remains.cause) say_remains(&remains);
    sp_patterns_free(&remains.patterns);
    sp_map_free(&remains.findings);
    sp_map_free(&remains.examples);
    sp_free(remains.wholes);
    sp_free(remains.absent);
}

/* ---- both directions ---- */

static void explain_side(struct shapeproof_check *check, enum holder holder)
{
    struct sp_joints joints = {0};
    add_missing(check, &joints, holder);
    if (joints.nests.count) add_unexpected(check, &joints, holder);
    sp_joints_find(&joints);
    explain_joints(check, &joints, holder, FUSED);
    explain_joints(check, &joints, holder, STACKED);
    explain_incomplete(check, &joints, holder);
    sp_joints_free(&joints);
}

void sp_explain_layout(struct shapeproof_check *check)
{
    if (!sp_check_open_both(check)) return;
    explain_side(check, FILE_HAS_WHOLES);
    explain_side(check, PREDICTION_HAS_WHOLES);
}
