/* SPDX-License-Identifier: MIT
 * A point, replayed: the table is counted as a prediction would be that is given these values, and both sides of the
 * claim are evaluated there. What cannot be replayed is no counter-example, whatever a formula says. */
#include <stdlib.h>
#include <string.h>

#include "prove/settle.h"
#include "prove/symbolic/atoms.h"
#include "prove/trial.h"
#include "prove/words.h"

/* ---- values into a configuration ---- */

static bool is_condition_symbol(const struct sp_trial *trial, const struct sp_symbol_info *symbol)
{
    return trial->count->symbolic.algebra.atoms[symbol->atom].is_condition;
}

/* The whole number that a value is once the other values are put into it: H = 4*E is 12 where E = 3. False for none. */
static bool whole_number(const struct sp_trial *trial, const struct sp_poly *value, const struct sp_values *values,
                         int64_t *number)
{
    struct sp_rational constant;
    const struct sp_poly *reduced = sp_reduce(trial->count, value, values);
    if (!reduced || !sp_poly_is_constant(reduced, &constant) || constant.den != 1) return false;
    *number = constant.num;
    return true;
}

/* Makes absent(KEY) or null(KEY) have the truth `holds`: sets the key to null for the second. The key is left out of
 * the point for the first (is_left_out_key). */
static void set_unset(const struct sp_symbol_info *symbol, bool holds, struct shapeproof_config *config)
{
    const bool null = strncmp(symbol->key, "null(", 5) == 0;
    if (null && holds)
        sp_config_set_value(config, symbol->unset_key,
                            (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL, .string = ""}, "claim");
}

/* Sets one side of a pair, num_layers[1]. The other side stays as it was in a pair, else it is the same number. */
static void set_side(const struct sp_symbol_info *symbol, int64_t number, struct shapeproof_config *config)
{
    struct shapeproof_value *pair = sp_arena_array(&config->arena, 2, sizeof *pair);
    const char *bracket = strrchr(symbol->key, '[');
    const char *key = sp_arena_copy(&config->arena, symbol->key, (size_t)(bracket - symbol->key));
    const struct shapeproof_value now = sp_value_at(sp_config_hyper(config)->root, key);
    const bool second = bracket[1] == '1';
    for (size_t i = 0; i < 2; i++)
        pair[i] = now.type == SHAPEPROOF_VALUE_LIST && now.count == 2 ? now.items[i] : sp_value_int(number);
    pair[second] = sp_value_int(number);
    sp_config_set_value(config, key,
                        (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 2, .items = pair}, "claim");
}

static bool is_side(const struct sp_trial *trial, const struct sp_symbol_info *symbol)
{
    const char *bracket = strrchr(symbol->key, '[');
    const bool known = sp_atom_info(&trial->count->symbolic, symbol->atom)->origin != NULL;
    return known && bracket && (strcmp(bracket, "[0]") == 0 || strcmp(bracket, "[1]") == 0);
}

/* Whether a condition of the point, absent(key) or null(key), holds, so that the key has no value there. */
static bool is_left_out_key(const struct sp_trial *trial, const struct sp_values *values, const char *key)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct sp_symbol_info *symbol = sp_symbol_of(trial->count, values->atoms[i]);
        const bool holds = !sp_poly_is_zero(values->values[i]);
        if (symbol && symbol->unset_key && holds && strcmp(symbol->unset_key, key) == 0) return true;
    }
    return false;
}

/* Sets the key of a symbol. A symbol that is computed from keys, or is an item or a member, has no key to set. */
static void set_symbol(const struct sp_trial *trial, const struct sp_symbol_info *symbol, int64_t number,
                       struct shapeproof_config *config)
{
    if (symbol->unset_key) set_unset(symbol, number != 0, config);
    else if (is_side(trial, symbol)) set_side(symbol, number, config);
    else if (!strpbrk(symbol->key, "([ "))
        sp_config_set_value(config, symbol->key,
                            is_condition_symbol(trial, symbol) ? sp_value_bool(number != 0) : sp_value_int(number),
                            "claim");
}

/* The settings of the claim and those of the point, as a configuration. Pairs are set first, then the sides which have
 * values of their own. */
static struct shapeproof_config *configured(const struct sp_trial *trial, const struct sp_values *values)
{
    struct shapeproof_config *config = sp_config_variant(trial->settings);
    for (int sides = 0; sides < 2; sides++)
        for (size_t i = 0; i < values->count; i++) {
            const struct sp_symbol_info *symbol = sp_symbol_of(trial->count, values->atoms[i]);
            int64_t number;
            if (!symbol || is_side(trial, symbol) != (sides == 1)) continue;
            if (is_left_out_key(trial, values, symbol->key)) continue;
            if (whole_number(trial, values->values[i], values, &number)) set_symbol(trial, symbol, number, config);
        }
    return config;
}

/* ---- both sides ---- */

/* The point, in the count of the table for all hyper-parameters. */
struct point {
    struct sp_count *count;
    const struct sp_values *values;
};

/* The value of a name of the claim that the settled table does not have, by the count for all hyper-parameters: see
 * `named` in struct sp_sym_fixed. */
static bool value_of_name(void *context, const char *name, struct sp_rational *value)
{
    const struct point *point = context;
    const struct sp_symbol_info *symbol = sp_sym_symbol(&point->count->symbolic, name);
    struct sp_values all = {0};
    if (!symbol || symbol->is_text || symbol->is_list) return false;
    for (size_t i = 0; i < point->values->count; i++)
        sp_values_add(&all, point->values->atoms[i], point->values->values[i]);
    sp_values_add_defaults(point->count, &all, SP_DEFAULTS_OF_ALL);
    const struct sp_poly *poly =
        sp_reduce(point->count, sp_poly_atom(&point->count->symbolic.algebra, symbol->atom), &all);
    sp_values_free(&all);
    return poly && sp_poly_is_constant(poly, value);
}

/* Counts the table with all settled at the point, and reads the sides of the claim in that count, where they are
 * numbers. `when` is not read: what it gives is among the values. False when a side has no value; *why is the message
 * about it, or NULL when there is none. */
static bool evaluate_at(const struct sp_trial *trial, const struct sp_values *values, struct sp_rational *left,
                        struct sp_rational *right, const char **why)
{
    struct shapeproof_config *config = configured(trial, values);
    struct sp_count there;
    struct sp_trial local = *trial;
    local.count = &there;
    local.when = (struct sp_values){0};
    local.divisors = NULL;
    local.proof.difference = NULL;
    const bool counted = sp_count_settled(&there, trial->count->tables, trial->count->table, sp_config_hyper(config));
    struct point point = {trial->count, values};
    there.symbolic.fixed.named = value_of_name;
    there.symbolic.fixed.context = &point;
    const bool good = counted && sp_trial_read_sides(&local) && sp_poly_is_constant(local.left, left) &&
                      sp_poly_is_constant(local.right, right);
    *why = local.proof.difference;
    /* towards the limit of the claim, for which this is done */
    trial->count->symbolic.algebra.work += there.symbolic.algebra.work + there.symbolic.steps;
    sp_count_free(&there);
    shapeproof_config_free(config);
    return good;
}

bool sp_trial_sides_at(const struct sp_trial *trial, const struct sp_values *values, struct sp_rational *left,
                       struct sp_rational *right)
{
    const char *why;
    return evaluate_at(trial, values, left, right, &why);
}

const char *sp_trial_gap_at(const struct sp_trial *trial, const struct sp_values *values)
{
    struct sp_rational left, right;
    const char *why;
    if (evaluate_at(trial, values, &left, &right, &why) || !why) return NULL;
    if (strstr(why, "division by zero")) return "it divides by zero";
    return strstr(why, "takes an integer from 0 up") ? "an argument of ceil_div or round_up is negative, or no integer"
                                                     : NULL;
}

bool sp_trial_is_possible(const struct sp_trial *trial, const struct sp_values *values)
{
    struct shapeproof_config *config = configured(trial, values);
    struct shapeproof_error error = {0};
    const struct shapeproof_predict_options options = {.table = trial->count->table->name};
    struct shapeproof_prediction *prediction = shapeproof_predict(trial->count->tables, config, &options, &error);
    trial->count->symbolic.algebra.work += prediction ? shapeproof_prediction_count(prediction) : 0;
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return prediction != NULL;
}

/* ---- in words ---- */

/* Whether `when` gives the atom a value. */
static bool is_when(const struct sp_trial *trial, size_t atom)
{
    for (size_t i = 0; i < trial->when.count; i++)
        if (trial->when.atoms[i] == atom) return true;
    return false;
}

/* Whether it is a pair whose sides have values of their own: num_layers beside num_layers[0]. */
static bool is_pair_of_sides(const struct sp_trial *trial, const struct sp_values *values,
                             const struct sp_symbol_info *symbol)
{
    const size_t length = strlen(symbol->key);
    for (size_t i = 0; i < values->count; i++) {
        const struct sp_symbol_info *side = sp_symbol_of(trial->count, values->atoms[i]);
        if (side && is_side(trial, side) && strncmp(side->key, symbol->key, length) == 0 && side->key[length] == '[')
            return true;
    }
    return false;
}

static bool is_valued(const struct sp_values *values, size_t atom)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->atoms[i] == atom) return true;
    return false;
}

/* Which atoms the polynomials depend on at a point, also through what is computed from others and through the defaults
 * of hyper-parameters without a value there: of `flag default W == E` both W and E. Heap. */
static char *find_reached(struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *const *polys,
                          size_t count)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    char *seen = sp_realloc(NULL, symbolic->algebra.atom_count, 1);
    char *followed = sp_realloc(NULL, symbolic->symbols.count, 1);
    memset(seen, 0, symbolic->algebra.atom_count);
    memset(followed, 0, symbolic->symbols.count);
    for (size_t i = 0; i < count; i++) sp_poly_reach(symbolic, polys[i], seen);
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t i = 0; i < symbolic->symbols.count; i++) {
            const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
            if (followed[i] || !seen[symbol->atom] || !symbol->fallback || is_valued(values, symbol->atom)) continue;
            followed[i] = 1;
            sp_poly_reach(symbolic, symbol->fallback, seen);
            grown = true;
        }
    }
    sp_free(followed);
    return seen;
}

static bool is_default(const struct sp_symbol_info *symbol, const struct sp_poly *value)
{
    return symbol->fallback && !symbol->is_ambiguous && sp_poly_equal(symbol->fallback, value);
}

/* "tied = false", "bias is not given"; NULL for a flag that has its default. */
static const char *flag_words(struct sp_trial *trial, const struct sp_symbol_info *symbol, const struct sp_poly *value)
{
    const bool holds = !sp_poly_is_zero(value);
    if (symbol->unset_key) return sp_condition_words(&trial->count->symbolic, symbol->atom, holds);
    if (is_default(symbol, value)) return NULL;
    return sp_arena_printf(trial->arena, "%s = %s", symbol->name, holds ? "true" : "false");
}

/* Whether the point must give a value to the number: the claim depends on it, or it has no default. */
static bool is_needed_key(const struct sp_symbol_info *symbol, const char *reached)
{
    return reached[symbol->atom] || !symbol->fallback || symbol->is_ambiguous;
}

/* Whether every hyper-parameter that is a number has a value, so that "the others 1" can stand for those that are not
 * named. */
static bool is_whole_point(const struct sp_trial *trial, const struct sp_values *values)
{
    const struct sp_symbolic *symbolic = &trial->count->symbolic;
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        bool found = symbol->is_computed || symbol->is_text || symbol->is_list || symbol->unset_key ||
                     strpbrk(symbol->key, "([ ") || is_condition_symbol(trial, symbol) || is_when(trial, symbol->atom);
        for (size_t k = 0; k < values->count && !found; k++) found = values->atoms[k] == symbol->atom;
        if (!found) return false;
    }
    return true;
}

struct point_words {
    struct sp_text text;
    bool depends;       /* the claim depends on one of the numbers of the point */
    const char *others; /* the size of all numbers that are not named, or NULL: there are none */
};

/* Appends "name = value"; the name alone when the value is NULL. */
static void add_words(struct point_words *words, const char *name, const char *value)
{
    sp_text_printf(&words->text, "%s%s", words->text.length ? ", " : "", name);
    if (value) sp_text_printf(&words->text, " = %s", value);
}

/* Appends a number, unless it need not be named and has the size of the others. The first that need not be named
 * decides what that size is. */
static void add_number(struct sp_trial *trial, const struct sp_symbol_info *symbol, const struct sp_poly *value,
                       bool is_named, struct point_words *words)
{
    const char *size = sp_sym_text(&trial->count->symbolic, value);
    if (!is_named && !words->others) words->others = size;
    if (is_named || strcmp(words->others, size) != 0) add_words(words, symbol->name, size);
}

/* Appends a number to which the point gives no value, so that it has its default, if this is a known number. */
static void add_default(struct sp_trial *trial, const struct sp_symbol_info *symbol, const struct sp_values *values,
                        struct point_words *words)
{
    struct sp_rational number;
    if (!symbol->fallback || symbol->is_ambiguous || symbol->is_computed || symbol->unset_key ||
        is_condition_symbol(trial, symbol) || is_valued(values, symbol->atom) || is_when(trial, symbol->atom) ||
        !sp_poly_is_constant(symbol->fallback, &number))
        return;
    add_words(words, symbol->name, sp_sym_text(&trial->count->symbolic, symbol->fallback));
}

/* A number is left out when the point need not give it; a flag when neither side of the claim depends on it, or it has
 * its default. */
const char *sp_trial_point_words(struct sp_trial *trial, const struct sp_values *values, size_t varied,
                                 const struct sp_poly *const *polys, size_t count)
{
    const struct sp_poly *const sides[] = {trial->left, trial->right};
    char *reached = find_reached(trial, values, polys, count), *in_sides = find_reached(trial, values, sides, 2);
    struct point_words words = {.others = NULL};
    const struct sp_sym_symbols *symbols = &trial->count->symbolic.symbols;
    const bool whole_point = is_whole_point(trial, values);
    sp_text_puts(&words.text, "");
    for (size_t i = 0; i < values->count; i++) {
        const struct sp_symbol_info *symbol = sp_symbol_of(trial->count, values->atoms[i]);
        if (!symbol || is_when(trial, symbol->atom) || is_pair_of_sides(trial, values, symbol)) continue;
        if (!is_condition_symbol(trial, symbol)) {
            const bool is_named = !whole_point || (i < varied && reached[symbol->atom]);
            words.depends = words.depends || reached[symbol->atom];
            if (is_needed_key(symbol, reached)) add_number(trial, symbol, values->values[i], is_named, &words);
        } else if (in_sides[symbol->atom]) {
            const char *flag = flag_words(trial, symbol, values->values[i]);
            if (flag) add_words(&words, flag, NULL);
        }
    }
    for (size_t i = 0; i < symbols->count; i++)
        if (reached[symbols->items[i].atom]) add_default(trial, &symbols->items[i], values, &words);
    if (words.others && (words.depends || words.text.length)) {
        add_words(&words, words.text.length ? "the others " : "all ", NULL);
        sp_text_puts(&words.text, words.others);
    }
    sp_free(reached);
    sp_free(in_sides);
    return sp_text_keep(&words.text, trial->arena);
}

const char *sp_trial_sides_words(struct sp_trial *trial, struct sp_rational truth, struct sp_rational claimed)
{
    return sp_arena_printf(trial->arena, "%s, claimed %s", sp_rational_text(trial->arena, truth),
                           sp_rational_text(trial->arena, claimed));
}
