/* SPDX-License-Identifier: MIT
 * Tensors that are one in the file and several in the prediction, or the other way round (joints.h). Where all is there
 * it is a warning; what is like it elsewhere, and not all there, is an error. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "explain/gather.h"
#include "match/pieces.h"

static void add_missing(const struct shapeproof_check *check, struct sp_joints *joints, bool whole)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_MISSING)) continue;
        const struct shapeproof_predicted *tensor =
            shapeproof_prediction_tensor(check->prediction, check->findings[i].predicted);
        const struct sp_joint_piece piece = {i, tensor->shape, tensor->rank};
        if (whole) sp_joints_add_whole(joints, tensor->name, piece, SP_JOINT_FIRST_SIDE);
        else sp_joints_add_part(joints, tensor->name, piece, SP_JOINT_FIRST_SIDE);
    }
}

static void add_unexpected(const struct shapeproof_check *check, struct sp_joints *joints, bool whole)
{
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_UNEXPECTED))
            sp_joints_add_stored(joints, &check->naming,
                                 shapeproof_inventory_tensor(check->inventory, check->findings[i].tensor), i, whole);
}

/* ---- saying it ---- */

static const struct {
    enum sp_cause_kind kind;
    const char *says;
} words[2][2] = {
    /* the file has the parts, the file has the wholes */
    {{SP_CAUSE_SPLIT, "split in the file"}, {SP_CAUSE_FUSED, "fused in the file"}},        /* side by side */
    {{SP_CAUSE_UNPACKED, "unpacked in the file"}, {SP_CAUSE_PACKED, "packed in the file"}} /* over an index */
};

static const char order_hint[] = "shapes tell neither the order of what is joined nor whether heads alternate in it: "
                                 "convert it with the tools of the framework that wrote it";

static bool is_of(const struct sp_joint *joint, bool stacked) { return stacked == (joint->joining != SP_SIDE_BY_SIDE); }

/* "self_attn.qkv_proj = q_proj + k_proj + v_proj, mlp.gate_up_proj = gate_proj + up_proj". */
static void put_joint_kinds(struct sp_text *text, const struct sp_joints *joints, bool stacked)
{
    enum { SHOWN = 3 };
    struct sp_map known = {0};
    for (size_t i = 0; i < joints->count; i++) {
        const struct sp_joint *joint = &joints->items[i];
        if (!is_of(joint, stacked) || !sp_map_add(&known, joint->says, 0) || known.count > SHOWN) continue;
        sp_text_printf(text, "%s%s%s", known.count > 1 ? ", " : "", joint->says,
                       joint->transposed ? " (transposed)" : "");
    }
    if (known.count > SHOWN) sp_text_printf(text, " and %zu more", known.count - SHOWN);
    sp_map_free(&known);
}

/* One cause for all joined (or all stacked) weights: it explains the finding of the whole and those of its parts.
 * `wholes_in_file`: the file has the wholes and the prediction the parts; else the reverse. */
static void explain_joints(struct shapeproof_check *check, const struct sp_joints *joints, bool wholes_in_file,
                           bool stacked)
{
    size_t parts = 0, wholes = 0;
    struct shapeproof_cause *cause = NULL;
    struct sp_text text = {0};
    for (size_t i = 0; i < joints->count; i++) {
        const struct sp_joint *joint = &joints->items[i];
        if (!is_of(joint, stacked)) continue;
        if (!cause) cause = sp_blame(check, words[stacked][wholes_in_file].kind);
        sp_attribute_finding(check, joint->whole.item, cause);
        for (size_t k = 0; k < joint->part_count; k++) sp_attribute_finding(check, joint->parts[k], cause);
        parts += joint->part_count;
        wholes++;
        if (joint->mixed) cause->hint = order_hint;
    }
    if (!cause) return;
    sp_text_printf(&text, "%s: ", words[stacked][wholes_in_file].says);
    put_joint_kinds(&text, joints, stacked);
    sp_text_printf(&text, " (%zu tensors as %zu)", wholes_in_file ? parts : wholes, wholes_in_file ? wholes : parts);
    cause->message = sp_text_keep(&text, &check->arena);
}

/* ---- what is not all there ---- */

/* Wholes that look like those of joints, and what stands for their parts. */
struct remains {
    struct shapeproof_check *check;
    const struct sp_joints *joints;
    struct sp_patterns patterns;
    struct sp_map findings; /* open ones by their names */
    struct sp_map examples; /* the pattern of a whole -> a joint */
    const char **wholes, **absent;
    size_t whole_count, whole_capacity, absent_count, absent_capacity;
    const struct shapeproof_finding *first; /* whole */
    struct shapeproof_cause *cause;
    size_t names; /* how many may still be made up */
};

static const char *finding_name(const struct remains *remains, size_t finding)
{
    return remains->check->findings[finding].name;
}

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

/* The name of a part of the example, with the indices of another whole. */
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

/* Explains the whole and those of its parts that are findings; notes the others. */
static void gather_remains(struct remains *remains, size_t whole, bool wholes_in_file)
{
    struct sp_indices indices;
    const size_t pattern = sp_pattern_of(&remains->patterns, finding_name(remains, whole), &indices);
    const size_t place = sp_map_get(&remains->examples, sp_pattern_text(&remains->patterns, pattern));
    size_t there = 0;
    if (place == SIZE_MAX) return;
    const struct sp_joint *example = &remains->joints->items[place];
    if (example->part_count > remains->names) return;
    remains->names -= example->part_count;
    const char **names = sp_arena_array(&remains->check->arena, example->part_count, sizeof *names);
    for (size_t i = 0; i < example->part_count; i++) {
        names[i] = name_like(remains, example, example->parts[i], &indices);
        there += sp_map_get(&remains->findings, names[i]) != SIZE_MAX;
    }
    if (!there) return;
    if (!remains->first) remains->first = &remains->check->findings[whole];
    SP_GROW(remains->wholes, remains->whole_count, remains->whole_capacity);
    remains->wholes[remains->whole_count++] = finding_name(remains, whole);
    explain_remains(remains, whole);
    for (size_t i = 0; i < example->part_count; i++) {
        const size_t part = sp_map_get(&remains->findings, names[i]);
        if (part != SIZE_MAX && sp_finding_is_open(&remains->check->findings[part])) explain_remains(remains, part);
        if (part != SIZE_MAX || wholes_in_file) continue;
        SP_GROW(remains->absent, remains->absent_count, remains->absent_capacity);
        remains->absent[remains->absent_count++] = names[i];
    }
}

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
        cause->message = sp_arena_printf(arena, "%s is %s, which is not what its parts make together", wholes,
                                         remains->first->found);
    else cause->message = sp_arena_printf(arena, "%s are not what their parts make together", wholes);
}

static void explain_incomplete(struct shapeproof_check *check, const struct sp_joints *joints, bool wholes_in_file)
{
    struct remains remains = {.check = check, .joints = joints};
    remains.names = 4 * check->finding_count + 1000;
    const enum shapeproof_finding_kind kind =
        wholes_in_file ? SHAPEPROOF_FINDING_UNEXPECTED : SHAPEPROOF_FINDING_MISSING;
    if (!joints->count) return;
    note_examples(&remains);
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], kind)) gather_remains(&remains, i, wholes_in_file);
    if (remains.cause) say_remains(&remains);
    sp_patterns_free(&remains.patterns);
    sp_map_free(&remains.findings);
    sp_map_free(&remains.examples);
    free(remains.wholes);
    free(remains.absent);
}

/* ---- both directions ---- */

static void explain_side(struct shapeproof_check *check, bool wholes_in_file)
{
    struct sp_joints joints = {0};
    add_missing(check, &joints, !wholes_in_file);
    if (joints.nests.count) add_unexpected(check, &joints, wholes_in_file);
    sp_joints_find(&joints);
    explain_joints(check, &joints, wholes_in_file, false);
    explain_joints(check, &joints, wholes_in_file, true);
    explain_incomplete(check, &joints, wholes_in_file);
    sp_joints_free(&joints);
}

void sp_explain_layout(struct shapeproof_check *check)
{
    if (!sp_check_open_both(check)) return;
    explain_side(check, true);
    explain_side(check, false);
}
