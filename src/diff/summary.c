/* SPDX-License-Identifier: MIT
 * What a comparison comes to: the groups that people see, and one line. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "diff/diff.h"
#include "names/collapse.h"

static bool is_error(const struct shapeproof_diff_finding *finding)
{
    return finding->severity == SHAPEPROOF_SEVERITY_ERROR;
}

/* ---- groups ---- */

static struct sp_collapse_input *collapse_input(const struct shapeproof_diff *diff)
{
    struct sp_collapse_input *input = sp_realloc(NULL, diff->finding_count, sizeof *input);
    struct sp_kinds kinds = {0};
    struct sp_text kind = {0};
    for (size_t i = 0; i < diff->finding_count; i++) {
        const struct shapeproof_diff_finding *finding = &diff->findings[i];
        kind.length = 0;
        sp_text_printf(&kind, "%d %s %s\n%s", (int)finding->severity, finding->id,
                       finding->reason ? finding->reason : "", finding->message);
        input[i] = (struct sp_collapse_input){.name = finding->name, .key = sp_kind_of(&kinds, &kind)};
    }
    sp_text_free(&kind);
    sp_kinds_free(&kinds);
    return input;
}

/* Groups are in the order of how much they weigh: what is missing or has another shape, then other data, then what may
 * be the same in another form. */
enum section { OTHER_SHAPES, OTHER_DATA, OTHER_ERRORS, NOTES, SECTIONS };

/* Whether a tensor is missing on one side, or has another shape. */
static bool is_other_shape(size_t kind)
{
    return kind == SHAPEPROOF_DIFF_FINDING_REMOVED || kind == SHAPEPROOF_DIFF_FINDING_ADDED ||
           kind == SHAPEPROOF_DIFF_FINDING_SHAPE || kind == SHAPEPROOF_DIFF_FINDING_TRANSPOSED;
}

static enum section section_of(const struct shapeproof_diff_finding *finding)
{
    if (!is_error(finding)) return NOTES;
    if (is_other_shape(finding->kind)) return OTHER_SHAPES;
    return finding->kind == SHAPEPROOF_DIFF_FINDING_DATA ? OTHER_DATA : OTHER_ERRORS;
}

static void form_groups(struct shapeproof_diff *diff)
{
    struct sp_collapse_input *input = collapse_input(diff);
    struct sp_collapsed *collapsed;
    const size_t count = sp_collapse(&diff->arena, NULL, input, diff->finding_count, &collapsed);
    diff->groups = sp_arena_array(&diff->arena, count, sizeof *diff->groups);
    diff->group_count = 0;
    for (enum section section = 0; section < SECTIONS; section++)
        for (size_t i = 0; i < count; i++) {
            const struct shapeproof_diff_finding *first = &diff->findings[collapsed[i].first];
            if (section_of(first) == section)
                diff->groups[diff->group_count++] =
                    (struct shapeproof_diff_group){collapsed[i].name, collapsed[i].count, first};
        }
    sp_free(input);
}

/* ---- what differs ---- */

/* How errors of one kind are said, in the order of the kinds. */
static const struct {
    const char *noun, *says; /* "2 tensors removed" */
    bool by_message;         /* the message says more than the names, when it is the same for all */
} kinds[] = {
    [SHAPEPROOF_DIFF_FINDING_REMOVED] = {"tensor", "removed", false},
    [SHAPEPROOF_DIFF_FINDING_ADDED] = {"tensor", "added", false},
    [SHAPEPROOF_DIFF_FINDING_QUANTISED] = {"weight", "quantised", true},
    [SHAPEPROOF_DIFF_FINDING_JOINED] = {"fused tensor", "", false},
    [SHAPEPROOF_DIFF_FINDING_SHAPE] = {"tensor", "of another shape", true},
    [SHAPEPROOF_DIFF_FINDING_TRANSPOSED] = {"tensor", "transposed", true},
    [SHAPEPROOF_DIFF_FINDING_DTYPE] = {"tensor", "of another dtype", true},
    [SHAPEPROOF_DIFF_FINDING_TIED] = {"tensor", "tied differently", false},
    [SHAPEPROOF_DIFF_FINDING_DATA] = {"tensor", "with other data", false},
    [SHAPEPROOF_DIFF_FINDING_NOT_COMPARED] = {"tensor", "not compared", false},
    [SHAPEPROOF_DIFF_FINDING_RENAMED] = {"tensor", "renamed", false},
    [SHAPEPROOF_DIFF_FINDING_UNUSED] = {"expectation", "unused", false},
    [SHAPEPROOF_DIFF_FINDING_EXPIRED] = {"expectation", "expired", false},
    [SHAPEPROOF_DIFF_FINDING_METADATA] = {"metadata key", "with another value", false},
    [SHAPEPROOF_DIFF_FINDING_PARAMETRISED] = {"weight", "parametrised", true},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* The kinds in the order of how much they weigh, as section_of has them. */
static const enum shapeproof_diff_finding_kind weight[KINDS] = {
    SHAPEPROOF_DIFF_FINDING_REMOVED,      SHAPEPROOF_DIFF_FINDING_ADDED,        SHAPEPROOF_DIFF_FINDING_SHAPE,
    SHAPEPROOF_DIFF_FINDING_TRANSPOSED,   SHAPEPROOF_DIFF_FINDING_DATA,         SHAPEPROOF_DIFF_FINDING_QUANTISED,
    SHAPEPROOF_DIFF_FINDING_PARAMETRISED, SHAPEPROOF_DIFF_FINDING_JOINED,       SHAPEPROOF_DIFF_FINDING_DTYPE,
    SHAPEPROOF_DIFF_FINDING_TIED,         SHAPEPROOF_DIFF_FINDING_NOT_COMPARED, SHAPEPROOF_DIFF_FINDING_RENAMED,
    SHAPEPROOF_DIFF_FINDING_UNUSED,       SHAPEPROOF_DIFF_FINDING_EXPIRED,      SHAPEPROOF_DIFF_FINDING_STORED_ONCE,
    SHAPEPROOF_DIFF_FINDING_STATE,        SHAPEPROOF_DIFF_FINDING_METADATA,
};

struct tally {
    size_t count;
    const struct shapeproof_diff_finding *first;
    bool one_message;
};

static void count_errors(const struct shapeproof_diff *diff, struct tally *tallies)
{
    for (size_t i = 0; i < diff->finding_count; i++) {
        const struct shapeproof_diff_finding *finding = &diff->findings[i];
        if (!is_error(finding)) continue; /* notes have no row */
        struct tally *tally = &tallies[finding->kind];
        if (!tally->count++) *tally = (struct tally){1, finding, true};
        if (strcmp(finding->message, tally->first->message) != 0) tally->one_message = false;
    }
}

static const char *names_of(struct shapeproof_diff *diff, size_t kind)
{
    const char **names = sp_realloc(NULL, diff->finding_count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < diff->finding_count; i++)
        if (is_error(&diff->findings[i]) && diff->findings[i].kind == kind) names[count++] = diff->findings[i].name;
    const char *list = sp_some_names(&diff->arena, names, count);
    sp_free(names);
    return list;
}

/* "in names alone: 28 tensors renamed, module.* -> *" */
static void put_renamed(struct shapeproof_diff *diff, struct sp_text *text, size_t count)
{
    const struct shapeproof_diff_mapping *mapping = &diff->mappings[0];
    sp_text_printf(text, "in names alone: %s renamed", sp_count_of(&diff->arena, count, "tensor"));
    if (diff->mapping_count == 1)
        sp_text_printf(text, ", %s -> %s%s", mapping->from, mapping->to, mapping->transposed ? ", transposed" : "");
}

/* Of the errors of a kind, for the first with each message: how many have it; 0 of all other findings. To be freed. */
static size_t *count_messages(const struct shapeproof_diff *diff, size_t kind)
{
    size_t *counts = sp_realloc(NULL, diff->finding_count, sizeof *counts);
    struct sp_map first = {0};
    for (size_t i = 0; i < diff->finding_count; i++) {
        const struct shapeproof_diff_finding *finding = &diff->findings[i];
        counts[i] = 0;
        if (!is_error(finding) || finding->kind != kind) continue;
        sp_map_add(&first, finding->message, i);
        counts[sp_map_get(&first, finding->message)]++;
    }
    sp_map_free(&first);
    return counts;
}

/* "28 weights quantised in B: gptq, 4 bits, groups of 128". Where not all are so, each way with its weights: "3 weights
 * stored under weight norm in A; conv.weight is stored under weight norm in A, where a part is missing: ..." */
static void put_weights(struct shapeproof_diff *diff, struct sp_text *text, const struct tally *tally, size_t kind)
{
    enum { SHOWN = 3 };
    size_t said = 0, *counts = count_messages(diff, kind);
    for (size_t i = 0; i < diff->finding_count && said <= SHOWN; i++) {
        const struct shapeproof_diff_finding *finding = &diff->findings[i];
        const size_t count = counts[i];
        if (!count || ++said > SHOWN) continue;
        if (said > 1) sp_text_puts(text, "; ");
        if (count == 1 && tally->count > 1) sp_text_printf(text, "%s %s", finding->name, finding->message);
        else
            sp_text_printf(text, "%s %s", sp_count_of(&diff->arena, count, "weight"), finding->message + strlen("is "));
    }
    if (said > SHOWN) sp_text_puts(text, "; others in other ways");
    sp_free(counts);
}

static bool is_of_weights(size_t kind)
{
    return kind == SHAPEPROOF_DIFF_FINDING_QUANTISED || kind == SHAPEPROOF_DIFF_FINDING_PARAMETRISED;
}

/* What joined tensors are made of, each once: "self_attn.qkv_proj = q_proj + k_proj + v_proj" */
static void put_joints(const struct shapeproof_diff *diff, struct sp_text *text)
{
    enum { SHOWN = 2 };
    struct sp_map said = {0};
    for (size_t i = 0; i < diff->finding_count; i++) {
        const struct shapeproof_diff_finding *finding = &diff->findings[i];
        const bool is_joint = is_error(finding) && finding->kind == SHAPEPROOF_DIFF_FINDING_JOINED;
        const char *says = is_joint ? strstr(finding->message, ": ") : NULL;
        if (says) says += strspn(says, ": 0123456789."); /* the number of a layer is no part of it */
        if (!says || !sp_map_add(&said, says, i) || said.count > SHOWN) continue;
        sp_text_printf(text, "%s%s", said.count > 1 ? ", " : ": ", says);
    }
    if (said.count > SHOWN) sp_text_printf(text, " and %zu more", said.count - SHOWN);
    sp_map_free(&said);
}

/* "8 tensors fused in B": a whole is a tensor of one side, its parts are several of the other. */
static void put_joined(struct shapeproof_diff *diff, struct sp_text *text, const struct tally *tally)
{
    size_t in_a = 0;
    for (size_t i = 0; i < diff->finding_count; i++)
        in_a += is_error(&diff->findings[i]) && diff->findings[i].kind == SHAPEPROOF_DIFF_FINDING_JOINED &&
                diff->findings[i].a != SHAPEPROOF_NONE;
    sp_text_printf(text, "%s %s", sp_count_of(&diff->arena, tally->count, "tensor"),
                   !in_a                  ? "fused in B"
                   : in_a == tally->count ? "split in B"
                                          : "fused in one of them");
    put_joints(diff, text);
}

/* ": each is transposed", "; 9 of them: has the data of the layer before it": the relation of tensors with other data
 * that most of them have. When there is none, how a single tensor differs. */
static void put_relation(const struct shapeproof_diff *diff, struct sp_text *text, const struct tally *tally)
{
    const char *best = NULL;
    size_t most = 0, *counts = sp_realloc(NULL, diff->finding_count, sizeof *counts); /* of each message */
    struct sp_map said = {0};
    for (int counted = 0; counted < 2; counted++)
        for (size_t i = 0; i < diff->finding_count; i++) {
            const struct shapeproof_diff_finding *finding = &diff->findings[i];
            if (!is_error(finding) || finding->kind != SHAPEPROOF_DIFF_FINDING_DATA) continue;
            if (strcmp(finding->message, SP_OTHER_DATA) == 0) continue;
            if (sp_map_add(&said, finding->message, i)) counts[i] = 0;
            const size_t first = sp_map_get(&said, finding->message);
            if (!counted) counts[first]++;
            else if (counts[first] > most) best = finding->message, most = counts[first];
        }
    sp_map_free(&said);
    sp_free(counts);
    if (!best && tally->count == 1 && tally->first->detail) sp_text_printf(text, ": %s", tally->first->detail);
    if (!best) return;
    if (tally->count == 1) sp_text_printf(text, ": %s", best);
    else if (most == tally->count) sp_text_printf(text, ": each %s", best);
    else sp_text_printf(text, "; %zu of them: %s", most, best);
}

/* "embed.weight has other data, 1 of 768 elements differs by at most 0.5": a tensor with other data that is the only
 * difference. */
static void put_one_with_data(struct sp_text *text, const struct shapeproof_diff_finding *finding)
{
    sp_text_printf(text, "%s %s", finding->name, finding->message);
    if (finding->detail) sp_text_printf(text, ", %s", finding->detail);
}

/* All errors are of this kind. */
static void put_only_kind(struct shapeproof_diff *diff, struct sp_text *text, size_t kind, const struct tally *tally)
{
    const char *names = names_of(diff, kind);
    if (kind == SHAPEPROOF_DIFF_FINDING_RENAMED) put_renamed(diff, text, tally->count);
    else if (is_of_weights(kind)) put_weights(diff, text, tally, kind);
    else if (kind == SHAPEPROOF_DIFF_FINDING_JOINED && tally->count > 1) put_joined(diff, text, tally);
    else if (tally->count == 1 && kind == SHAPEPROOF_DIFF_FINDING_DATA) put_one_with_data(text, tally->first);
    else if (tally->count == 1) sp_text_printf(text, "%s %s", tally->first->name, tally->first->message);
    else
        sp_text_printf(text, "%s %s: %s", sp_count_of(&diff->arena, tally->count, kinds[kind].noun), kinds[kind].says,
                       kinds[kind].by_message && tally->one_message ? tally->first->message : names);
    if (kind == SHAPEPROOF_DIFF_FINDING_DATA && tally->count > 1) put_relation(diff, text, tally);
}

/* What is said of such ones has commas of its own. */
static bool is_list(const char *noun) { return strcmp(noun, "weight") == 0 || strcmp(noun, "fused tensor") == 0; }

/* " (blk.1.ffn_down.bias)": which tensors are missing or have another shape, when few rows of findings say it; of
 * tensors with other data also the relation that explains it. */
static void put_few_names(struct shapeproof_diff *diff, struct sp_text *text, const struct tally *tallies, size_t kind)
{
    enum { FEW = 8 }; /* rows: two wholes that are missing, and the q, k and v that each of them should be */
    size_t shapes = 0;
    for (size_t i = 0; i < diff->group_count; i++)
        shapes += is_error(diff->groups[i].first) && is_other_shape(diff->groups[i].first->kind);
    if (is_other_shape(kind) && shapes <= FEW) sp_text_printf(text, " (%s)", names_of(diff, kind));
    if (kind != SHAPEPROOF_DIFF_FINDING_DATA) return;
    sp_text_printf(text, " (%s", names_of(diff, kind));
    put_relation(diff, text, &tallies[kind]);
    sp_text_puts(text, ")");
}

/* "2 tensors removed, 1 added" */
static void put_difference_kinds(struct shapeproof_diff *diff, struct sp_text *text, const struct tally *tallies)
{
    const char *noun = "";
    for (size_t i = 0; i < KINDS; i++) {
        const size_t k = weight[i];
        if (!tallies[k].count) continue;
        if (*noun) sp_text_puts(text, is_list(noun) ? "; " : ", ");
        if (is_of_weights(k)) put_weights(diff, text, &tallies[k], k);
        else if (k == SHAPEPROOF_DIFF_FINDING_JOINED) put_joined(diff, text, &tallies[k]);
        else if (strcmp(noun, kinds[k].noun) == 0) sp_text_printf(text, "%zu %s", tallies[k].count, kinds[k].says);
        else sp_text_printf(text, "%s %s", sp_count_of(&diff->arena, tallies[k].count, kinds[k].noun), kinds[k].says);
        put_few_names(diff, text, tallies, k);
        noun = kinds[k].noun;
    }
}

/* ---- what is the same ---- */

/* The tensors of A that are in B as well, also as a part of another one or in parts, and their elements. */
static size_t count_in_both(const struct shapeproof_diff *diff, uint64_t *elements)
{
    size_t count = 0;
    *elements = 0; /* at most the inventory's total */
    for (size_t i = 0; i < shapeproof_inventory_count(diff->a.inventory); i++) {
        if (diff->a.other[i] == SHAPEPROOF_NONE && !diff->a.joined[i]) continue;
        count++;
        if (sp_diff_a(diff, i)->same_as == SHAPEPROOF_NONE) *elements += sp_diff_a(diff, i)->parameters;
    }
    return count;
}

/* "; the conversion to GGUF: 21 tensors renamed, 5 of another dtype", "; the names of timm: 28 tensors differ in names
 * alone": the notes of sp_diff_judge_conversion, by kind. */
static void put_converted(struct shapeproof_diff *diff, struct sp_text *text, const size_t *notes)
{
    static const struct {
        enum shapeproof_diff_finding_kind kind;
        const char *says;
    } changes[] = {
        {SHAPEPROOF_DIFF_FINDING_RENAMED, "renamed"},
        {SHAPEPROOF_DIFF_FINDING_REMOVED, "only in A"},
        {SHAPEPROOF_DIFF_FINDING_ADDED, "only in B"},
        {SHAPEPROOF_DIFF_FINDING_JOINED, "fused or split"},
        {SHAPEPROOF_DIFF_FINDING_SHAPE, "of another shape"},
        {SHAPEPROOF_DIFF_FINDING_TRANSPOSED, "transposed"},
        {SHAPEPROOF_DIFF_FINDING_DTYPE, "of another dtype"},
        {SHAPEPROOF_DIFF_FINDING_QUANTISED, "quantised"},
        {SHAPEPROOF_DIFF_FINDING_PARAMETRISED, "without their parametrisation"},
    };
    const bool gguf = sp_diff_is_conversion(diff);
    bool first = true;
    size_t used = 0;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) used += notes[changes[i].kind] > 0;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const size_t count = notes[changes[i].kind];
        if (!count) continue;
        if (first && diff->scheme && !gguf)
            sp_text_printf(text, "; the names %s: %s ", diff->scheme, sp_count_of(&diff->arena, count, "tensor"));
        else if (first)
            sp_text_printf(text, "; the %s: %s ", gguf ? "conversion to GGUF" : "export to ONNX",
                           sp_count_of(&diff->arena, count, "tensor"));
        else sp_text_printf(text, ", %zu ", count);
        if (used > 1 || changes[i].kind != SHAPEPROOF_DIFF_FINDING_RENAMED) sp_text_puts(text, changes[i].says);
        else sp_text_puts(text, count == 1 ? "differs in its name alone" : "differ in names alone");
        first = false;
    }
}

static void put_notes(struct shapeproof_diff *diff, struct sp_text *text)
{
    size_t notes[KINDS] = {0}, expected = 0;
    const struct shapeproof_diff_finding *first = NULL;
    for (size_t i = 0; i < diff->finding_count; i++) {
        const struct shapeproof_diff_finding *finding = &diff->findings[i];
        if (finding->reason) expected++;
        else if (!notes[finding->kind]++ && finding->kind == SHAPEPROOF_DIFF_FINDING_STORED_ONCE) first = finding;
    }
    const size_t once = notes[SHAPEPROOF_DIFF_FINDING_STORED_ONCE], state = notes[SHAPEPROOF_DIFF_FINDING_STATE];
    put_converted(diff, text, notes);
    if (once == 1) sp_text_printf(text, "; %s %s", first->name, first->message);
    else if (once) sp_text_printf(text, "; %zu tied tensors stored twice in one file, once in the other", once);
    if (state)
        sp_text_printf(text, "; %s of the state of an optimizer or trainer in one alone",
                       sp_count_of(&diff->arena, state, "tensor"));
    if (expected) sp_text_printf(text, "; %s", sp_count_of(&diff->arena, expected, "expected difference"));
}

static void put_same(struct shapeproof_diff *diff, struct sp_text *text)
{
    uint64_t elements;
    sp_text_printf(text, "all %s, ", sp_count_of(&diff->arena, count_in_both(diff, &elements), "tensor"));
    sp_text_grouped(text, elements);
    sp_text_puts(text, " elements");
    if (diff->totals.data_compared && !diff->totals.data_different && !diff->totals.data_unread && !diff->data_note)
        sp_text_puts(text, ", byte for byte");
    put_notes(diff, text);
}

/* No tensor of the one is in the other, as a whole or in parts; and both have several. */
static bool has_nothing_in_common(const struct shapeproof_diff *diff)
{
    enum { SEVERAL = 3 };
    const size_t in_a = shapeproof_inventory_count(diff->a.inventory),
                 in_b = shapeproof_inventory_count(diff->b.inventory);
    if (diff->totals.both || in_a < SEVERAL || in_b < SEVERAL) return false;
    for (size_t i = 0; i < in_a; i++)
        if (diff->a.joined[i]) return false;
    return true;
}

static void put_nothing(struct shapeproof_diff *diff, struct sp_text *text)
{
    sp_text_printf(text, "nothing in common: %s in A alone, %zu in B alone",
                   sp_count_of(&diff->arena, shapeproof_inventory_count(diff->a.inventory), "tensor"),
                   shapeproof_inventory_count(diff->b.inventory));
}

void sp_diff_conclude(struct shapeproof_diff *diff)
{
    struct tally tallies[KINDS] = {{0}};
    struct sp_text text = {0};
    size_t used = 0, only = 0;
    form_groups(diff);
    count_errors(diff, tallies);
    for (size_t k = 0; k < KINDS; k++)
        if (tallies[k].count) used++, only = k;
    diff->same = !used;
    if (!used) put_same(diff, &text);
    else if (has_nothing_in_common(diff)) put_nothing(diff, &text);
    else if (used == 1) put_only_kind(diff, &text, only, &tallies[only]);
    else put_difference_kinds(diff, &text, tallies);
    const char *sizes = used ? sp_diff_sizes(diff) : NULL;
    if (sizes) sp_text_printf(&text, "; %s", sizes);
    diff->summary = sp_text_keep(&text, &diff->arena);
}
