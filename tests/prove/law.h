/* SPDX-License-Identifier: MIT
 * The law of src/prove: what a table counts in closed form is, for any hyper-parameters, what its expanded rows sum up
 * to. Shared by the tests that hold it against the built-in tables and against random ones. */
#ifndef SP_TESTS_PROVE_LAW_H
#define SP_TESTS_PROVE_LAW_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/chars.h"
#include "prove/settle.h"
#include "prove/symbolic/atoms.h"
#include "shapeproof/prediction.h"

/* ---- random numbers (splitmix64) ---- */

static inline uint64_t random_bits(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static inline int64_t below(uint64_t *seed, int64_t count) { return (int64_t)(random_bits(seed) % (uint64_t)count); }

/* Sizes that divide each other often. */
static inline int64_t random_size(uint64_t *seed, bool small)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 48};
    return sizes[below(seed, small ? 5 : sizeof sizes / sizeof *sizes)];
}

/* ---- a point: a value for each hyper-parameter of the table ---- */

/* A text would not do in its place: the value of an object, a pair, an item of a list. */
static inline bool is_plain(const struct sp_count *count, const struct sp_symbol_info *symbol)
{
    if (symbol->is_computed || symbol->is_text || symbol->unset_key || strpbrk(symbol->key, "[(")) return false;
    const size_t length = strlen(symbol->key);
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const char *other = count->symbolic.symbols.items[i].key;
        if (strncmp(other, symbol->key, length) == 0 && other[length] == '.') return false;
    }
    return true;
}

/* Whether one side of it, key[0], is a symbol too. */
static inline bool is_pair(const struct sp_count *count, const char *key)
{
    char side[300];
    snprintf(side, sizeof side, "%s[0]", key);
    const struct sp_symbol_info *symbol = sp_sym_symbol(&count->symbolic, side);
    return symbol != NULL;
}

static inline struct shapeproof_value random_list(struct sp_arena *arena, uint64_t *seed, size_t count)
{
    struct shapeproof_value *items = sp_arena_array(arena, count, sizeof *items);
    for (size_t i = 0; i < count; i++) items[i] = sp_value_int(1 + below(seed, 4));
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
}

/* Texts, and lists that no formula speaks of, keep their default. */
static inline struct shapeproof_config *random_point(struct sp_count *count, const struct shapeproof_config *settings,
                                                     struct sp_arena *arena, uint64_t *seed, bool small)
{
    struct shapeproof_config *config = sp_config_variant(settings);
    const size_t length = (size_t)below(seed, 4) + 1;
    const int64_t same = small || below(seed, 4) ? 0 : random_size(seed, false); /* where sizes must agree */
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
        struct shapeproof_value value = sp_value_int(same ? same : random_size(seed, small));
        if (!is_plain(count, symbol)) continue;
        if (symbol->is_list && !sp_poly_involves(&count->symbolic, count->total, symbol->atom)) continue;
        if (count->symbolic.algebra.atoms[symbol->atom].is_condition) value = sp_value_bool(below(seed, 2));
        else if (is_pair(count, symbol->key) && below(seed, 2)) value = random_list(arena, seed, 2);
        else if (symbol->is_list) value = random_list(arena, seed, length);
        else if (count->symbolic.infos.items[symbol->atom].least < 1 && below(seed, 3) == 0) value = sp_value_int(0);
        sp_config_set_value(config, symbol->key, value, "test");
    }
    return config;
}

static inline struct shapeproof_value value_of_key(const struct shapeproof_config *config, const char *path)
{
    struct shapeproof_value value = sp_config_hyper(config)->root;
    char key[256];
    snprintf(key, sizeof key, "%s", path);
    for (char *save = NULL, *part = strtok_r(key, ".", &save); part; part = strtok_r(NULL, ".", &save))
        value = sp_value_member(value, part);
    return value;
}

/* key[0]: an item of a pair, or what stands for both. */
static inline struct shapeproof_value value_of_side(const struct shapeproof_config *config, const char *side)
{
    char key[256];
    size_t place = 0;
    snprintf(key, sizeof key, "%s", side);
    char *bracket = strrchr(key, '[');
    sscanf(bracket, "[%zu]", &place);
    *bracket = '\0';
    const struct shapeproof_value pair = value_of_key(config, key);
    if (pair.type != SHAPEPROOF_VALUE_LIST) return pair;
    return place < pair.count ? pair.items[place] : sp_value_absent("");
}

/* The numbers and conditions of a point. */
static inline struct sp_values point_values(struct sp_count *count, const struct shapeproof_config *config)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_values values = {0};
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
        const bool side = count->symbolic.infos.items[symbol->atom].origin && !symbol->is_computed;
        const struct shapeproof_value value =
            side ? value_of_side(config, symbol->key) : value_of_key(config, symbol->key);
        if (value.type == SHAPEPROOF_VALUE_INT)
            sp_values_add(&values, symbol->atom, sp_poly_int(algebra, value.integer));
        if (value.type == SHAPEPROOF_VALUE_BOOL)
            sp_values_add(&values, symbol->atom, sp_poly_int(algebra, value.boolean));
        if (value.type == SHAPEPROOF_VALUE_ABSENT && symbol->fallback && !symbol->is_ambiguous &&
            strchr(symbol->key, '['))
            sp_values_add(&values, symbol->atom, symbol->fallback); /* in a list that is not given */
        if (symbol->unset_key)
            sp_values_add(
                &values, symbol->atom,
                sp_poly_int(algebra, strncmp(symbol->key, "absent", 6) == 0 &&
                                         value_of_key(config, symbol->unset_key).type == SHAPEPROOF_VALUE_ABSENT));
    }
    return values;
}

static inline char *point_text(const struct shapeproof_config *config)
{
    struct sp_text text = {0};
    sp_value_json(&text, sp_config_hyper(config)->root);
    return text.data;
}

/* ---- what must agree ---- */

static inline bool same_number(const struct sp_poly *poly, uint64_t number)
{
    struct sp_rational value;
    return poly && sp_poly_is_constant(poly, &value) && value.den == 1 && value.num >= 0 &&
           (uint64_t)value.num == number;
}

/* What is made wrong on purpose is not worth a message: totals are said to be off by this. */
static uint64_t off_by;
static bool is_quiet;

static inline void complain(struct sp_count *count, const char *how, const char *group, const struct sp_poly *poly,
                            uint64_t expected, const struct shapeproof_config *config)
{
    if (is_quiet) return;
    char *point = point_text(config);
    print_message("%s, %s, [%s]: %s instead of %" PRIu64 "\n  at %s\n", count->table->name, how, group,
                  poly ? sp_sym_text(&count->symbolic, poly) : "nothing", expected, point);
    free(point);
}

/* Lists have no place among the values, nor have those of their items that only a sum comes to. */
static inline bool may_stay_open(struct sp_count *count)
{
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
        const bool of_list = symbol->is_list || (symbol->key && sp_ends_with(symbol->key, "]"));
        if (of_list && sp_poly_involves(&count->symbolic, count->total, symbol->atom)) return true;
    }
    return false;
}

/* How many tensors all rows have together, likewise: 1 when that differs. */
static inline size_t compare_tensors(struct sp_count *count, const struct sp_values *values, bool lenient,
                                     const struct shapeproof_prediction *prediction,
                                     const struct shapeproof_config *config, const char *how)
{
    const struct sp_poly *sum = sp_poly_int(&count->symbolic.algebra, 0);
    uint64_t expected = 0;
    struct sp_rational value;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        expected += !tensor->optional && !tensor->buffer && tensor->same_as == SHAPEPROOF_NONE;
    }
    for (size_t i = 0; i < count->row_count; i++)
        sum = sp_poly_add(&count->symbolic.algebra, sum, count->rows[i].tensors);
    sum = sp_reduce(count, sum, values);
    if (count->symbolic.algebra.failed || same_number(sum, expected)) return 0;
    if (lenient && (!sum || !sp_poly_is_constant(sum, &value))) return 0;
    complain(count, how, "number of tensors", sum, expected, config);
    return 1;
}

/* Groups and total of `count`, with `values` in them, against the prediction. Returns how many differ. With `lenient`
 * what stays open is no difference. */
static inline size_t compare_counts(struct sp_count *count, const struct sp_values *values, bool lenient,
                                    const struct shapeproof_prediction *prediction,
                                    const struct shapeproof_config *config, const char *how)
{
    size_t differences = 0;
    struct sp_rational value;
    for (size_t i = 0; i <= shapeproof_prediction_group_count(prediction); i++) {
        const bool total = i == shapeproof_prediction_group_count(prediction);
        const struct shapeproof_group group =
            total ? (struct shapeproof_group){"total", 0} : *shapeproof_prediction_group(prediction, i);
        const uint64_t expected =
            total ? shapeproof_prediction_totals(prediction)->unique_parameters + off_by : group.parameters;
        const struct sp_poly *poly = total ? count->total : sp_count_group(count, group.name);
        if (!poly && expected == 0) continue;
        if (poly) poly = sp_reduce(count, poly, values);
        if (count->symbolic.algebra.failed) break; /* on the way to the number one does not fit in 64 bits */
        if (same_number(poly, expected) || expected > INT64_MAX) continue;
        if (lenient && (!poly || !sp_poly_is_constant(poly, &value))) continue;
        complain(count, how, group.name, poly, expected, config);
        differences++;
    }
    if (!off_by && !count->symbolic.algebra.failed)
        differences += compare_tensors(count, values, lenient, prediction, config, how);
    count->symbolic.algebra.failed = NULL;
    return differences;
}

/* What takes too much is refused, and a division by zero that no loop gets to is seen all the same. */
static inline bool is_limit(const char *message)
{
    static const char *const limits[] = {"steps", "loops", "too many", "too much", "too long", "64 bits", "by zero"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strstr(message, limits[i])) return true;
    return false;
}

struct tries {
    size_t points, differences, unpredicted;
    struct shapeproof_error why; /* the first point could not be predicted */
};

/* Counted with the lists of the point, for all numbers, and then evaluated. */
static inline void try_lists(const struct shapeproof_tables *tables, const struct sp_unit *table,
                             const struct shapeproof_config *config, const struct shapeproof_prediction *prediction,
                             struct tries *tries)
{
    struct sp_count count;
    struct shapeproof_config *lists = sp_config_open(config, SP_OPEN_NUMBERS);
    if (sp_count_table(&count, tables, table, sp_config_hyper(lists), SP_SIDES_MAY_DIFFER)) {
        struct sp_values values = point_values(&count, config);
        tries->differences += compare_counts(&count, &values, true, prediction, config, "evaluated with lists");
        sp_values_free(&values);
    }
    sp_count_free(&count);
    shapeproof_config_free(lists);
}

/* Counted at the point alone. */
static inline void try_settled(const struct shapeproof_tables *tables, const struct sp_unit *table,
                               const struct shapeproof_config *config, const struct shapeproof_prediction *prediction,
                               struct tries *tries)
{
    struct sp_count settled;
    const struct sp_values none = {0};
    const bool good =
        sp_count_settled_but(&settled, tables, table, sp_config_hyper(config), NULL, 0, SP_SIDES_MAY_DIFFER);
    if (!good && !is_limit(settled.messages.data)) {
        print_message("%s\n", settled.messages.data);
        tries->differences++;
    }
    if (good) tries->differences += compare_counts(&settled, &none, false, prediction, config, "settled");
    sp_count_free(&settled);
}

/* The law at one point: counted for all hyper-parameters and then evaluated. */
static inline void try_point(const struct shapeproof_tables *tables, struct sp_count *count,
                             const struct shapeproof_config *config, struct tries *tries)
{
    struct shapeproof_error error = {0};
    struct sp_values values = point_values(count, config);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = count->table->name}, &error);
    if (prediction) {
        const bool open = may_stay_open(count);
        tries->points++;
        tries->differences += compare_counts(count, &values, open, prediction, config, "evaluated");
        if (open) try_lists(tables, count->table, config, prediction, tries);
        if (!off_by) try_settled(tables, count->table, config, prediction, tries);
    } else if (!tries->points && tries->unpredicted++ == 0) tries->why = error;
    sp_values_free(&values);
    shapeproof_prediction_free(prediction);
}

#endif
