/* SPDX-License-Identifier: MIT
 * Names of another program (names/naming_schemes.h): those of one checkpoint are translated where the other has what
 * comes of it. What is left, such as something in front of them, the later steps find. */
#include <inttypes.h>
#include <string.h>

#include "base/budget.h"
#include "diff/pairing.h"
#include "names/components.h"
#include "names/naming_schemes.h"
#include "names/patterns.h"

/* ---- stacks ---- */

/* Two lists of layers that the converter to GGUF numbers as one, the second behind the first:
 *
 *     model.L_module.layers.{0-15}  ->  model.stack.{0-15}
 *     model.H_module.layers.{0-15}  ->  model.stack.{16-31}
 *
 * That name is its own, so that no other model's rule applies to it. */
static const struct {
    const char *first, *second, *one;
} stacked_lists[] = {{"L_module.layers.", "H_module.layers.", "stack."}}; /* HRM */

enum { MOST_LAYERS = 100000 }; /* no model has more; a number in a name can be as large as its writer likes */

/* Where the list stands in a name with the number of a layer, `*number`, behind it; NULL if it does not. */
static const char *layer_of_list(const char *name, const char *list, uint64_t *number)
{
    for (const char *part = name; part; part = sp_behind_component(part, ".")) {
        const size_t length = strlen(list);
        if (strncmp(part, list, length) == 0 && sp_index_at(name, (size_t)(part - name) + length, number)) return part;
    }
    return NULL;
}

/* Whether a tensor is in such a list: the end of its own name is then that of another layer. */
static bool is_in_stacked_list(const char *name)
{
    uint64_t number;
    for (size_t i = 0; i < sizeof stacked_lists / sizeof *stacked_lists; i++)
        if (layer_of_list(name, stacked_lists[i].first, &number) ||
            layer_of_list(name, stacked_lists[i].second, &number))
            return true;
    return false;
}

/* ---- translations ---- */

/* What is looked for: the ends of the names that have no counterpart yet, of one side. */
struct ends {
    struct sp_arena arena;
    struct sp_map known;
    struct sp_text text, whole;
};

/* The name and its ends. Of one that is longer than any name of a model, only ends that such a name could have: all of
 * them together are as long as the square of the name. */
static void add_ends(struct ends *ends, const char *name)
{
    enum { MOST_BYTES = 1024 };
    size_t left = strlen(name);
    sp_map_add(&ends->known, name, 0);
    for (const char *end = name, *next; (next = sp_behind_component(end, ".")); end = next) {
        left -= (size_t)(next - end);
        if (left > MOST_BYTES) continue;
        sp_budget_spend(1 + left / 8); /* the name is hashed */
        sp_map_add(&ends->known, next, 0);
    }
}

/* Without its last index: what is one for each expert here may be one for all of them there. */
static void add_ends_of_stack(struct ends *ends, const char *name)
{
    size_t last = SIZE_MAX, length = 0;
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");) {
        uint64_t index;
        const size_t place = (size_t)(part.text - name);
        if (!part.length || !*part.rest || sp_index_at(name, place, &index) != part.length) continue;
        last = place;
        length = part.length;
    }
    if (last == SIZE_MAX) return;
    ends->text.length = 0;
    sp_text_append(&ends->text, name, last);
    sp_text_puts(&ends->text, name + last + length + 1);
    add_ends(ends, sp_arena_copy(&ends->arena, ends->text.data, ends->text.length));
}

static const char *name_of(const struct sp_diff_half *half, size_t i)
{
    return shapeproof_inventory_tensor(half->inventory, i)->name;
}

/* Under their common spelling and as they are: a "scale" is a weight for the one, and in schemes what it is called. */
static void collect_ends(const struct sp_diff_half *half, struct ends *ends)
{
    for (size_t i = 0; i < shapeproof_inventory_count(half->inventory); i++) {
        if (half->other[i] != SHAPEPROOF_NONE) continue;
        add_ends(ends, half->spelling[i].text);
        add_ends_of_stack(ends, half->spelling[i].text);
        if (strcmp(half->spelling[i].text, name_of(half, i)) != 0 && !is_in_stacked_list(name_of(half, i)))
            add_ends(ends, name_of(half, i));
    }
}

static void free_ends(struct ends *ends)
{
    sp_map_free(&ends->known);
    sp_text_free(&ends->text);
    sp_text_free(&ends->whole);
    sp_arena_free(&ends->arena);
}

static bool is_known(const struct ends *ends, const char *name) { return sp_map_get(&ends->known, name) != SIZE_MAX; }

/* Into `ends->text`: of the names that the scheme has for it the first that is known, or the whole of which is. */
static bool translate_to_known(struct ends *ends, const struct sp_naming_scheme *scheme, const char *name)
{
    for (size_t row = 0; sp_naming_scheme_translate(scheme, name, &row, &ends->text);) {
        const bool part = sp_naming_scheme_whole(scheme, name, row, &ends->whole);
        if (is_known(ends, part ? ends->whole.data : ends->text.data)) return true;
    }
    return false;
}

/* The same of a tensor, by its name, its common spelling, and that without its first component: the key of a training
 * under which the model is. */
static bool is_translated_to_known(struct ends *ends, const struct sp_naming_scheme *scheme,
                                   const struct sp_diff_half *half, size_t i)
{
    const char *spelling = half->spelling[i].text, *behind = sp_behind_component(spelling, ".");
    return translate_to_known(ends, scheme, name_of(half, i)) || translate_to_known(ends, scheme, spelling) ||
           (behind && translate_to_known(ends, scheme, behind));
}

/* The same; else the first name that the scheme has for it. */
static bool translate_tensor(struct ends *ends, const struct sp_naming_scheme *scheme, const struct sp_diff_half *half,
                             size_t i)
{
    const char *spelling = half->spelling[i].text, *behind = sp_behind_component(spelling, ".");
    size_t row = 0, row_behind = 0;
    return is_translated_to_known(ends, scheme, half, i) ||
           sp_naming_scheme_translate(scheme, spelling, &row, &ends->text) ||
           (behind && sp_naming_scheme_translate(scheme, behind, &row_behind, &ends->text));
}

/* How many names are ends of names of the other side, translated if there is a scheme to do it. */
static size_t count_known(const struct sp_diff_half *half, const struct sp_naming_scheme *scheme, struct ends *ends)
{
    size_t known = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(half->inventory); i++) {
        if (half->other[i] != SHAPEPROOF_NONE) continue;
        known += is_known(ends, half->spelling[i].text) || (scheme && is_translated_to_known(ends, scheme, half, i));
    }
    return known;
}

static void translate_side(struct sp_pairing *p, const struct sp_diff_half *half, const struct sp_naming_scheme *scheme,
                           struct ends *ends)
{
    for (size_t i = 0; i < shapeproof_inventory_count(half->inventory); i++) {
        const unsigned habits = half->spelling[i].habits | SP_HABIT_SCHEME;
        if (half->other[i] != SHAPEPROOF_NONE || !translate_tensor(ends, scheme, half, i)) continue;
        half->spelling[i] = sp_spell(&p->diff->arena, ends->text.data);
        half->spelling[i].habits = habits;
    }
}

/* The scheme that makes the most names known, and by far more than are so without it. */
static bool find_scheme(struct sp_pairing *p, const struct sp_diff_half *half, const struct sp_diff_half *other)
{
    enum { LEAST = 4 };
    struct ends ends = {0};
    const struct sp_naming_scheme *best = NULL;
    collect_ends(other, &ends);
    const size_t plain = count_known(half, NULL, &ends);
    size_t most = 2 * plain + LEAST;
    for (size_t i = 0; i < sp_naming_scheme_count(); i++) {
        const size_t known = count_known(half, sp_naming_scheme(i), &ends);
        if (known < most) continue;
        most = known + 1;
        best = sp_naming_scheme(i);
    }
    if (best) translate_side(p, half, best, &ends);
    free_ends(&ends);
    if (best) {
        p->diff->scheme = best->says;
        p->diff->plain = "of transformers";
    }
    return best;
}

/* ---- numbering stacks ---- */

/* Spells each tensor of the list as one of the list `one`, with `behind` added to its number. Returns how many layers
 * the list has. */
static uint64_t number_list(struct sp_pairing *p, const struct sp_diff_half *half, const char *list, const char *one,
                            uint64_t behind)
{
    uint64_t layers = 0, number = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(half->inventory); i++) {
        const char *name = half->spelling[i].text;
        const char *layer = name ? layer_of_list(name, list, &number) : NULL;
        if (half->other[i] != SHAPEPROOF_NONE || !layer || number >= MOST_LAYERS) continue;
        const char *rest = sp_behind_component(layer + strlen(list), ".");
        half->spelling[i].text = sp_arena_printf(&p->diff->arena, "%.*s%s%" PRIu64 "%s%s", (int)(layer - name), name,
                                                 one, number + behind, rest ? "." : "", rest ? rest : "");
        layers = number >= layers ? number + 1 : layers;
    }
    return layers;
}

/* Numbers the lists of the original as the converter does. */
static void number_stacked_lists(struct sp_pairing *p)
{
    const struct sp_diff_half *original =
        sp_format_has(p->diff->a.inventory, SP_BY_LLAMA_CPP) ? &p->diff->b : &p->diff->a;
    if (!sp_diff_is_conversion(p->diff)) return;
    for (size_t i = 0; i < sizeof stacked_lists / sizeof *stacked_lists; i++) {
        const uint64_t layers = number_list(p, original, stacked_lists[i].first, stacked_lists[i].one, 0);
        if (layers) number_list(p, original, stacked_lists[i].second, stacked_lists[i].one, layers);
    }
}

bool sp_pairing_naming_schemes(struct sp_pairing *p)
{
    number_stacked_lists(p);
    return find_scheme(p, &p->diff->a, &p->diff->b) || find_scheme(p, &p->diff->b, &p->diff->a);
}
