/* SPDX-License-Identifier: MIT
 * Which tensor of A is which of B. Each step takes what the ones before it have left, and is linear in the names:
 *
 *   0. what is known to be called the same by what the caller says; of Keras, layers of a class with other numbers
 *      (counters.c);
 *   1. the same name;
 *   2. the same name in its common spelling: "dense/dense/kernel:0" and "dense.weight"; also when it is translated
 *      by the graph that uses the tensors (graph.c), from the names on disk to those in memory (in_memory.c), or from
 *      those of another program (naming_schemes.c); a weight under a parametrisation as the weight (parametrised.c);
 *   3. another beginning, for many patterns alike (fronts.c);
 *   4. a pattern under another name that is like it, with the same indices and shapes (sides.h);
 *   5. of Keras, when nothing is called the same, the order of the layers (counters.c);
 *   6. of Keras, layers with the same variables of the same shapes (structure.c).
 *
 * Patterns are names without their indices. What two tensors could be renamed to is not claimed for either. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "diff/pairing.h"
#include "model/layouts.h"

bool sp_pairing_fits(const struct sp_pairing *p, size_t a, size_t b)
{
    const struct shapeproof_tensor *in_a = sp_diff_a(p->diff, a), *in_b = sp_diff_b(p->diff, b);
    return sp_tensor_same_shape(in_a, in_b) || sp_tensor_is_transposed(in_a, in_b);
}

/* ---- 1: the same name ---- */

void sp_diff_pair_tensors(struct shapeproof_diff *diff, size_t a, size_t b, size_t translation)
{
    diff->a.other[a] = b;
    diff->b.other[b] = a;
    diff->translation_of[a] = translation;
    diff->totals.both++;
}

static void pair_equal_names(struct shapeproof_diff *diff)
{
    for (size_t i = 0; i < shapeproof_inventory_count(diff->a.inventory); i++) {
        const size_t b = diff->a.other[i] == SHAPEPROOF_NONE
                             ? shapeproof_inventory_find(diff->b.inventory, sp_diff_a(diff, i)->name)
                             : SHAPEPROOF_NONE;
        if (b != SHAPEPROOF_NONE && diff->b.other[b] == SHAPEPROOF_NONE)
            sp_diff_pair_tensors(diff, i, b, SHAPEPROOF_NONE);
    }
}

void sp_diff_pair_known(struct shapeproof_diff *diff, const char *const *names_a, const char *const *names_b)
{
    struct sp_map map = {0};
    for (size_t i = 0; i < shapeproof_inventory_count(diff->b.inventory); i++)
        if (names_b[i]) sp_map_add(&map, names_b[i], i);
    for (size_t i = 0; i < shapeproof_inventory_count(diff->a.inventory); i++) {
        const size_t b = names_a[i] ? sp_map_get(&map, names_a[i]) : SHAPEPROOF_NONE;
        if (b != SHAPEPROOF_NONE && diff->b.other[b] == SHAPEPROOF_NONE)
            sp_diff_pair_tensors(diff, i, b, SHAPEPROOF_NONE);
    }
    sp_map_free(&map);
}

/* ---- joining two sides ---- */

/* How many members have the indices of member `from`, which follow one another. Of several none is paired. */
static size_t run_of_equals(const struct sp_side *side, size_t from)
{
    size_t to = from + 1;
    while (to < side->count && sp_compare_indices(&side->members[to].indices, &side->members[from].indices) == 0) to++;
    return to - from;
}

void sp_pairing_join(struct sp_pairing *p, const struct sp_side *a, const struct sp_side *b, size_t translation,
                     enum sp_pairing_shapes shapes)
{
    struct shapeproof_diff *diff = p->diff;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const size_t i_run = run_of_equals(a, i), k_run = run_of_equals(b, k);
        const size_t x = a->members[i].item, y = b->members[k].item;
        const int order = sp_compare_indices(&a->members[i].indices, &b->members[k].indices);
        if (order <= 0) i += i_run;
        if (order >= 0) k += k_run;
        if (order != 0 || i_run > 1 || k_run > 1 || diff->a.other[x] != SHAPEPROOF_NONE ||
            diff->b.other[y] != SHAPEPROOF_NONE)
            continue;
        const bool may_differ =
            shapes == SP_PAIR_ANY_SHAPES && strcmp(diff->a.spelling[x].leaf, diff->b.spelling[y].leaf) == 0;
        if (!sp_pairing_fits(p, x, y) && !may_differ) continue;
        sp_diff_pair_tensors(diff, x, y, translation);
    }
}

/* ---- 2: the same spelling ---- */

/* Makes the sides of what has no counterpart yet, under its common spelling. */
static void collect_side(struct sp_pairing *p, const struct sp_diff_half *half, struct sp_sides *sides)
{
    sp_sides_free(sides);
    for (size_t i = 0; i < shapeproof_inventory_count(half->inventory); i++)
        if (half->other[i] == SHAPEPROOF_NONE && !half->joined[i] && !half->once[i])
            sp_sides_add(sides, &p->patterns, half->spelling[i].text,
                         sp_found_shape(&p->arena, shapeproof_inventory_tensor(half->inventory, i)), i);
    sp_sides_form(sides);
}

static void collect_unpaired(struct sp_pairing *p)
{
    collect_side(p, &p->diff->a, &p->a);
    collect_side(p, &p->diff->b, &p->b);
}

/* Gives each tensor its common spelling; one that has a counterpart of the same name needs none. */
static void spell(struct shapeproof_diff *diff, struct sp_diff_half *half)
{
    for (size_t i = 0; i < shapeproof_inventory_count(half->inventory); i++) {
        const size_t a = half->other[i] != SHAPEPROOF_NONE && half->side == SHAPEPROOF_DIFF_A ? i : half->other[i];
        if (a == SHAPEPROOF_NONE || diff->translation_of[a] != SHAPEPROOF_NONE)
            half->spelling[i] = sp_spell(&diff->arena, shapeproof_inventory_tensor(half->inventory, i)->name);
    }
}

static int compare_side(const void *key, const void *item)
{
    const size_t pattern = *(const size_t *)key, other = ((const struct sp_side *)item)->members->pattern;
    return sp_order(pattern, other);
}

const struct sp_side *sp_pairing_side(const struct sp_sides *sides, size_t pattern)
{
    return sides->count ? bsearch(&pattern, sides->items, sides->count, sizeof *sides->items, compare_side) : NULL;
}

static void pair_spellings(struct sp_pairing *p)
{
    for (size_t i = 0; i < p->a.count; i++) {
        const struct sp_side *b = sp_pairing_side(&p->b, p->a.items[i].members->pattern);
        if (b) sp_pairing_join(p, &p->a.items[i], b, SHAPEPROOF_NONE, SP_PAIR_ANY_SHAPES);
    }
}

/* ---- what the later steps use ---- */

const char *sp_pairing_text(const struct sp_pairing *p, const struct sp_side *side)
{
    return sp_pattern_text(&p->patterns, side->members->pattern);
}

size_t sp_pairing_translation(struct sp_pairing *p, const char *a, const char *b, const char *rest)
{
    struct shapeproof_diff *diff = p->diff;
    struct sp_differing_component differs;
    struct sp_arena scratch = {0};
    const char *from = sp_pattern_shown(&scratch, a), *to = sp_pattern_shown(&scratch, b), *before = "";
    if (sp_one_component(a, b, &differs)) {
        if (differs.a > a) before = "*.";
        if (differs.a[differs.a_length]) rest = ".*";
        from = sp_arena_copy(&scratch, differs.a, differs.a_length);
        to = sp_arena_copy(&scratch, differs.b, differs.b_length);
    }
    *SP_PUSH(&diff->translations) =
        (struct sp_translation){.from = sp_arena_printf(&diff->arena, "%s%s%s", before, from, rest),
                                .to = sp_arena_printf(&diff->arena, "%s%s%s", before, to, rest)};
    sp_arena_free(&scratch);
    return diff->translations.count - 1;
}

/* ---- 4: a name that is like it ---- */

static void pair_alike(struct sp_pairing *p)
{
    sp_sides_pair(&p->patterns, &p->a, &p->b);
    for (size_t i = 0; i < p->a.count; i++) {
        const struct sp_side *a = &p->a.items[i];
        if (a->other)
            sp_pairing_join(p, a, a->other,
                            sp_pairing_translation(p, sp_pairing_text(p, a), sp_pairing_text(p, a->other), ""),
                            SP_PAIR_SAME_SHAPES);
    }
}

/* Steps 3 and 4; first with indices that are whole components, so that "ln_1" can become "norm1", then with others, so
 * that "layer_1" can become "layers.1". */
static void pair_renamed(struct sp_pairing *p, enum sp_index_rule rule)
{
    sp_sides_free(&p->a);
    sp_sides_free(&p->b);
    sp_patterns_free(&p->patterns);
    p->patterns.rule = rule;
    collect_unpaired(p);
    sp_pairing_fronts(p);
    collect_unpaired(p);
    pair_alike(p);
}

/* Step 2 with names that are translated first: those that an exporter to ONNX made up by the nodes of the graph, then,
 * of what is left, those that transformers has in memory, or else those of another program. */
static void pair_translated(struct sp_pairing *p)
{
    struct shapeproof_diff *diff = p->diff;
    const bool by_graph = sp_pairing_graph(p);
    const char *scheme = diff->scheme, *plain = diff->plain;
    if (by_graph) {
        collect_unpaired(p);
        pair_spellings(p);
        collect_unpaired(p);
    }
    if (sp_pairing_in_memory(p) || sp_pairing_naming_schemes(p)) {
        collect_unpaired(p);
        pair_spellings(p);
    }
    if (!by_graph) return;
    diff->scheme = scheme;
    diff->plain = plain;
    sp_pairing_shared(p);
}

/* The steps of the head of this file. */
void sp_diff_pair(struct shapeproof_diff *diff)
{
    struct sp_pairing p = {.diff = diff};
    sp_diff_pair_counters(diff); /* 0 */
    pair_equal_names(diff);      /* 1 */
    spell(diff, &diff->a);
    spell(diff, &diff->b);
    sp_diff_spell_parametrised(diff);
    collect_unpaired(&p);
    pair_spellings(&p); /* 2 */
    collect_unpaired(&p);
    pair_translated(&p);
    pair_renamed(&p, SP_INDEX_COMPONENT); /* 3 and 4 */
    pair_renamed(&p, SP_INDEX_APART);
    sp_pairing_copies(&p);
    sp_diff_pair_order(diff); /* 5 */
    sp_pairing_structure(&p); /* 6 */
    sp_sides_free(&p.a);
    sp_sides_free(&p.b);
    sp_patterns_free(&p.patterns);
    sp_arena_free(&p.arena);
}
