/* SPDX-License-Identifier: MIT
 * What `derive` prints is true: its formulas, read again as expressions of a table and evaluated at random
 * hyper-parameters, give what the table expands to there. For the built-in tables, and for tables that are made up
 * (made_up.h). SEED and TABLES in the environment choose others of those than the first 60. */
#define _POSIX_C_SOURCE 200809L

#include "prove/drawn.h"
#include "prove/made_up.h"
#include "sample.h"
#include "shapeproof/prove.h"

#include <ctype.h>

enum { TABLES = 60, TRIES = 10, DRAWS = 5 };

/* ---- a table whose one tensor has as many elements as the formulas say ---- */

/* "config_length_task is given", "\"encoder\" in lhuc": keys that are not set here, so that this is not the case. */
static bool is_left_out(const char *when)
{
    return strstr(when, " is given") || strstr(when, " is not given") || strstr(when, "\" in ");
}

/* Without what holds here: "E != 1 and encoder.width is not given" is "E != 1", since no such key is set; of that alone
 * nothing is left. Free it. */
static char *condition_here(const char *when)
{
    static const char end[] = " is not given", and[] = " and ";
    struct sp_text text = {0};
    sp_text_puts(&text, when);
    for (char *last; (last = strstr(text.data, end)) != NULL;) {
        char *start = last;
        const char *rest = last + strlen(end);
        while (start > text.data && strncmp(start, and, strlen(and)) != 0) start--;
        if (start == text.data && *rest) rest += strlen(and);
        memmove(start, rest, strlen(rest) + 1);
    }
    return text.data;
}

static bool is_name(const char *text)
{
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("_'", *text)) return false;
    return true;
}

static bool is_defined(const struct shapeproof_derivation *derivation, const char *name, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (strcmp(shapeproof_derivation_symbol(derivation, i)->name, name) == 0) return true;
    return false;
}

static bool is_true(struct shapeproof_symbol symbol) { return strcmp(symbol.fallback, "true") == 0; }
static bool is_flag(struct shapeproof_symbol symbol)
{
    return is_true(symbol) || strcmp(symbol.fallback, "false") == 0;
}

/* The key of one symbol is the name of another, which hides it. */
static bool is_hidden(const struct shapeproof_derivation *derivation, struct shapeproof_symbol symbol)
{
    for (size_t i = 0; i < shapeproof_derivation_symbol_count(derivation); i++)
        if (strcmp(shapeproof_derivation_symbol(derivation, i)->name, symbol.key) == 0 &&
            strcmp(symbol.name, symbol.key) != 0)
            return true;
    return false;
}

/* E = n_embd, D = H // A */
static void put_definitions(const struct shapeproof_derivation *derivation, struct sp_text *text)
{
    for (size_t i = 0; i < shapeproof_derivation_symbol_count(derivation); i++) {
        const struct shapeproof_symbol symbol = *shapeproof_derivation_symbol(derivation, i);
        const char *value = *symbol.formula ? symbol.formula : symbol.key;
        if (is_hidden(derivation, symbol)) sp_text_puts(text, "a key is hidden\n");
        if (strcmp(symbol.name, value) == 0 || !is_name(symbol.name) || is_defined(derivation, symbol.name, i))
            continue;
        sp_text_printf(text, "%s = %s\n", symbol.name, value);
    }
}

/* A formula can be made wrong on purpose, to see that it is caught. */
enum spoil { AS_IT_IS, ONE_MORE, OTHER_NUMBER };

/* A number that stands by itself, and is no divisor: S // 16 may be 0 for other divisors as well. */
static bool is_telling_number(const char *formula, const char *at)
{
    if (!isdigit((unsigned char)*at)) return false;
    return at == formula || at[-1] == '(' || (at[-1] == ' ' && at > formula + 1 && at[-2] != '/');
}

/* The last one that stands by itself; in brackets, or as a factor of them, only if `anywhere`. */
static const char *last_number(const char *formula, bool anywhere)
{
    const char *number = NULL;
    size_t depth = 0;
    for (const char *at = formula; *at; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        const char *behind = at + strspn(at, "0123456789");
        const bool outside = depth == 0 && strncmp(behind, "*(", 2) != 0;
        if (is_telling_number(formula, at) && (anywhere || outside)) number = at;
    }
    return number;
}

/* 4*E + 6 becomes 4*E + 16: the last number, since what another one is a factor of may be 0 at every point, and one
 * outside of brackets, since these may be. */
static void put_total(struct sp_text *text, const char *formula, enum spoil spoil)
{
    const char *number = spoil == OTHER_NUMBER ? last_number(formula, false) : NULL;
    if (spoil == OTHER_NUMBER && !number) number = last_number(formula, true);
    if (number) {
        sp_text_append(text, formula, (size_t)(number - formula));
        sp_text_printf(text, "1%s", number);
    } else sp_text_printf(text, spoil == AS_IT_IS ? "%s" : "%s + 1", formula);
}

/* Counts the case as one where it holds, and as two where its first condition does but not the rest. */
static void put_case(struct sp_text *text, const char *when)
{
    const char *end = strstr(when, " and ");
    const int length = end ? (int)(end - when) : (int)strlen(when);
    sp_text_printf(text, " + (%s ? 1 : %.*s ? 2 : 0)", when, length, when);
}

/* The total of the usual case, and what the one condition that holds beside it changes; nothing where more than one
 * holds, or where a loop goes backwards. */
static void put_rows(const struct shapeproof_derivation *derivation, enum spoil spoil, struct sp_text *text)
{
    struct sp_text sum = {0}, holding = {0};
    sp_text_puts(&holding, "0");
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derivation); i++) {
        const struct shapeproof_formula *formula = shapeproof_derivation_formula(derivation, i);
        char *when = condition_here(formula->when);
        if (strcmp(formula->group, "total") == 0 && !is_left_out(when)) {
            if (*when) sp_text_printf(&sum, " + (%s ? %s : 0)", when, formula->text);
            else if (*formula->when) sp_text_printf(&sum, " + (%s)", formula->text);
            else put_total(&sum, formula->text, spoil);
            if (*when) put_case(&holding, when);
        }
        free(when);
    }
    sp_text_printf(text, "[all] if %s < 2", holding.data);
    for (size_t i = 0; i < shapeproof_derivation_assumption_count(derivation); i++)
        sp_text_printf(text, " if %s", shapeproof_derivation_assumption(derivation, i));
    sp_text_printf(text, "\nw (%s)\n", sum.data);
    sp_text_free(&sum);
    sp_text_free(&holding);
}

static char *table_of(const struct shapeproof_derivation *derivation, enum spoil spoil)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "table derived\n");
    put_definitions(derivation, &text);
    put_rows(derivation, spoil, &text);
    for (char *mark; (mark = strchr(text.data, '\'')) != NULL;) *mark = '_'; /* H' is no name */
    return text.data;
}

/* ---- points ---- */

static bool is_settable(const struct shapeproof_derivation *derivation, const char *key)
{
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derivation); i++) {
        const char *when = shapeproof_derivation_formula(derivation, i)->when;
        const size_t object = strcspn(when, " ");
        if (is_left_out(when) && strstr(when, key)) return false;
        if (is_left_out(when) && strncmp(when, key, object) == 0 && key[object] == '.') return false;
    }
    return *key && !strchr(key, '(');
}

/* num_layers[1] is a place in a list of two. */
static void set_side(struct shapeproof_config *config, struct sp_arena *arena, const char *key, int64_t number)
{
    const char *bracket = strchr(key, '[');
    const char *pair = sp_arena_copy(arena, key, (size_t)(bracket - key));
    const struct shapeproof_value known = value_of_key(config, pair);
    struct shapeproof_value *items = sp_arena_array(arena, 2, sizeof *items);
    for (size_t i = 0; i < 2; i++)
        items[i] = known.type == SHAPEPROOF_VALUE_LIST ? known.items[i] : sp_value_int(number);
    items[bracket[1] == '1'] = sp_value_int(number);
    sp_config_set_value(config, pair,
                        (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 2, .items = items}, "test");
}

/* Every number has a value, and at most one flag is not as usual: as its default is, or as `base` has it. */
static struct shapeproof_config *derived_point(const struct shapeproof_derivation *derivation,
                                               const struct shapeproof_config *base, struct sp_arena *arena,
                                               uint64_t *seed)
{
    struct shapeproof_config *config = sp_config_variant(base);
    const size_t count = shapeproof_derivation_symbol_count(derivation);
    const bool large = below(seed, 2); /* both sides of an image, which is divided into patches */
    const size_t changed = count ? (size_t)below(seed, (int64_t)count * 2) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_symbol symbol = *shapeproof_derivation_symbol(derivation, i);
        const struct shapeproof_value known = *symbol.key ? value_of_key(base, symbol.key) : sp_value_absent("");
        const bool usual = known.type == SHAPEPROOF_VALUE_BOOL ? known.boolean : is_true(symbol);
        if (!is_settable(derivation, symbol.key)) continue;
        if (strchr(symbol.key, '[')) set_side(config, arena, symbol.key, large ? 224 : random_size(seed, true));
        else if (is_flag(symbol) || known.type == SHAPEPROOF_VALUE_BOOL)
            sp_config_set_value(config, symbol.key, sp_value_bool(usual != (i == changed)), "test");
        else sp_config_set_value(config, symbol.key, sp_value_int(random_size(seed, below(seed, 2))), "test");
    }
    return config;
}

/* ---- the law ---- */

struct derived {
    const char *table;
    struct shapeproof_derivation *derivation;
    struct shapeproof_tables *formulas; /* the table of its formulas; NULL when they are no expressions */
    char *text;
    size_t points, differences;
};

static struct derived derive(const struct shapeproof_tables *tables, const char *table,
                             const struct shapeproof_config *given, enum spoil spoil)
{
    struct shapeproof_error error = {0};
    struct derived derived = {.table = table, .formulas = shapeproof_tables_new(&error)};
    derived.derivation = shapeproof_derive(tables, given, &(struct shapeproof_derive_options){.table = table}, &error);
    derived.text = derived.derivation ? table_of(derived.derivation, spoil) : NULL;
    const bool good = derived.text && shapeproof_tables_add_text(derived.formulas, "derived.shapes", derived.text,
                                                                 strlen(derived.text), &error) == SHAPEPROOF_OK;
    if (good) return derived;
    shapeproof_tables_free(derived.formulas);
    derived.formulas = NULL;
    return derived;
}

static void forget(struct derived *derived)
{
    shapeproof_derivation_free(derived->derivation);
    shapeproof_tables_free(derived->formulas);
    free(derived->text);
}

static void complain_of(const struct derived *derived, const struct shapeproof_config *config, const char *what)
{
    char *point = point_text(config);
    if (!is_quiet) print_message("%s at %s: %s by\n%s\n", derived->table, point, what, derived->text);
    free(point);
}

/* A point tells something where the table can be predicted and the formulas speak of the case. */
static void try_derived(const struct shapeproof_tables *tables, struct derived *derived,
                        const struct shapeproof_config *config)
{
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *truth =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = derived->table}, &error);
    struct shapeproof_prediction *formulas =
        truth ? shapeproof_predict(derived->formulas, config, &(struct shapeproof_predict_options){.table = "derived"},
                                   &error)
              : NULL;
    if (formulas && shapeproof_prediction_count(formulas)) {
        const uint64_t said = shapeproof_prediction_totals(formulas)->parameters;
        derived->points++;
        if (said != shapeproof_prediction_totals(truth)->unique_parameters) {
            complain_of(derived, config, "another number");
            derived->differences++;
        }
    } else if (truth && !formulas && !is_limit(error.message) && !strstr(error.message, "is not set") &&
               !strstr(error.message, "a list") && !strstr(error.message, "truth value") &&
               !strstr(error.message, "not divisible")) { /* [W == 2] is a number in formulas alone */
        complain_of(derived, config, error.message);
        derived->differences++;
    }
    shapeproof_prediction_free(formulas);
    shapeproof_prediction_free(truth);
}

static void try_points(const struct shapeproof_tables *tables, struct derived *derived,
                       const struct shapeproof_config *base, uint64_t seed)
{
    struct sp_arena arena = {0};
    for (int i = 0; derived->formulas && i < TRIES && !derived->differences; i++) {
        struct shapeproof_config *config = derived_point(derived->derivation, base, &arena, &seed);
        try_derived(tables, derived, config);
        shapeproof_config_free(config);
    }
    sp_arena_free(&arena);
}

struct law {
    size_t tables, tried, points;
    size_t differences; /* tables with any */
};

/* `given` is in the formulas, `base` in the points alone. Returns whether points could be tried. */
static bool try_table(struct law *law, const struct shapeproof_tables *tables, const char *table,
                      const struct shapeproof_config *given, const struct shapeproof_config *base, uint64_t seed,
                      enum spoil spoil)
{
    struct derived derived = derive(tables, table, given, spoil);
    try_points(tables, &derived, base, seed);
    const bool tried = derived.points || derived.differences;
    law->tried += tried;
    law->points += derived.points;
    law->differences += derived.differences > 0;
    if (tried && spoil != AS_IT_IS && !derived.differences) print_message("%s is not caught\n", table);
    forget(&derived);
    return tried;
}

/* Some of the numbers, so that what is summed up over them can be: layers of different sizes. */
static void give_numbers(struct shapeproof_config *given, struct sp_count *count, struct sp_arena *arena,
                         uint64_t *seed)
{
    struct shapeproof_config *point = random_point(count, given, arena, seed, true);
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const char *key = count->symbolic.symbols.items[i].key;
        const struct shapeproof_value value = value_of_key(point, key);
        if (value.type == SHAPEPROOF_VALUE_INT && value_of_key(given, key).type == SHAPEPROOF_VALUE_ABSENT &&
            below(seed, 2))
            sp_config_set_value(given, sp_arena_string(arena, key), value, "test");
    }
    shapeproof_config_free(point);
}

/* With one class after the other, texts that are drawn, and some of the numbers, until there is one that the table can
 * be predicted for and whose formulas are expressions. */
static void try_built_in_table(struct law *law, const struct shapeproof_tables *tables, const char *table,
                               uint64_t seed, enum spoil spoil)
{
    const struct sp_unit *unit = sp_tables_unit(tables, table);
    bool tried = false;
    law->tables++;
    for (size_t draw = 0; !tried && draw < DRAWS; draw++) {
        struct sp_arena arena = {0};
        struct sp_count count;
        struct shapeproof_config *given = shapeproof_config_new();
        draw_class(given, tables, unit, draw, &arena);
        sp_count_table(&count, tables, unit, sp_config_hyper(given), SP_SIDES_MAY_DIFFER);
        draw_texts(given, &count, draw, &arena, &seed);
        if (draw) give_numbers(given, &count, &arena, &seed);
        tried = try_table(law, tables, table, given, given, seed + draw, spoil);
        sp_count_free(&count);
        shapeproof_config_free(given);
        sp_arena_free(&arena);
    }
}

/* Of its name: what is drawn for a table does not change with the tables beside it. */
static uint64_t seed_of_name(const char *name)
{
    uint64_t seed = 0;
    while (*name) seed = seed * 31 + (unsigned char)*name++;
    return seed;
}

static void try_built_in_tables(struct law *law, size_t step, enum spoil spoil)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    for (size_t i = 0; i < shapeproof_tables_count(tables); i += step) {
        const char *name = shapeproof_tables_info(tables, i)->name;
        try_built_in_table(law, tables, name, seed_of_name(name), spoil);
    }
    shapeproof_tables_free(tables);
}

static void try_random_table(struct law *law, uint64_t seed)
{
    struct maker m = {.seed = seed, .plain = true};
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_config *base = shapeproof_config_new();
    const size_t differences = law->differences;
    const char *const needed[] = {"layers=2",   "heads=3",  "key=4",      "bias=false",
                                  "flag=false", "deep.H=1", "deep.b=true"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) shapeproof_config_set(base, needed[i], &error);
    random_table(&m);
    if (shapeproof_tables_add_text(tables, "random.shapes", m.text.data, m.text.length, &error) != SHAPEPROOF_OK)
        fail_msg("%s\n%s", shapeproof_tables_messages(tables), m.text.data);
    law->tables++;
    try_table(law, tables, "random", NULL, base, m.seed, AS_IT_IS);
    if (law->differences > differences) fprintf(stderr, "--- seed %" PRIu64 "\n%s\n", seed, m.text.data);
    shapeproof_config_free(base);
    shapeproof_tables_free(tables);
    sp_text_free(&m.text);
}

static void built_in_tables(void **state)
{
    (void)state;
    struct law law = {0};
    try_built_in_tables(&law, sample(), AS_IT_IS);
    print_message("%zu points of %zu tables, of %zu\n", law.points, law.tried, law.tables);
    assert_int_equal(law.differences, 0);
    assert_true(law.tried > law.tables * 8 / 10); /* formulas with a sum over layers are no expressions of a table */
}

static void random_tables(void **state)
{
    (void)state;
    const char *from = getenv("SEED"), *tables = getenv("TABLES");
    const uint64_t first = from ? strtoull(from, NULL, 10) : 1,
                   count = tables ? strtoull(tables, NULL, 10) : TABLES / quarter();
    struct law law = {0};
    for (uint64_t seed = first; seed < first + count && law.differences < 3; seed++) try_random_table(&law, seed);
    print_message("%zu points of %zu tables, of %zu\n", law.points, law.tried, law.tables);
    assert_int_equal(law.differences, 0);
}

/* ---- comparisons of one quantity ---- */

/* Tables whose conditions compare one hyper-parameter, or one difference, with several numbers. */
static const char *const compared[] = {
    ("n = q\n[up] for i in 0..n-2\nwide = i == n - 2 ? 3*a : 2*a\nu.{i} (wide, b) if nd == 2\n"
     "v.{i} (wide, b, b) if nd == 3\nw.{i} (a) if i > 0\n"),
    "w (q < 4 ? 2*a : 3*a)\nv (a) if q < 8\nx (a, a) if q < 16\ny (b) if q >= 32\n",
    "s = q default 8\nw (a) if s < 4\nv (a) if s < 8\nx (a, a) if s > 12\nz (b) if s == 8\n",
    "w (a) if q < 3\nv (a) if 2*q > 4\nt (b, b) if 6 - 2*q < 1\n",
    "w (a) if q < b\nv (a) if b < q\nu (b) if q == b\nt (b, b) if q - b > 2\n",
    "k = q default 2\nw (a) if k > 2\nv (b) if k > 1\nu (a, b) if k == 2\nt (b, b) if k <= 2\n",
    ("[all] for i in 0..q-3\na.{i} (i == q - 3 ? a : 2*a)\n[b] for i in 0..q-2\nb.{i} (i == 0 ? a : 3*a) if bn\n"
     "[c] for i in 1..q-2\nc.{i} (i == q - 2 ? a : a + 1, nd == 2 ? 4 : 5)\n"),
    "w (a) if q == 2\nv (b) if q == 3\nu (a, b) if q != 4\n",
    "steps = (q < 32 ? 1 : 0) + (q < 16 ? 1 : 0) + (q < 8 ? 1 : 0)\n[s] for i in 0..steps-1\nw.{i} (a, b)\n",
    "w (a) if q > 4 and bn\nv (b) if q > 4 and not bn\nu (a, a) if q <= 2 and bn\n",
};

static struct shapeproof_config *compared_point(int64_t number, bool bn, int64_t nd)
{
    struct shapeproof_config *config = shapeproof_config_new();
    sp_config_set_value(config, "q", sp_value_int(number), "test");
    sp_config_set_value(config, "a", sp_value_int(7), "test");
    sp_config_set_value(config, "b", sp_value_int(5), "test");
    sp_config_set_value(config, "bn", sp_value_bool(bn), "test");
    sp_config_set_value(config, "nd", sp_value_int(nd), "test");
    return config;
}

/* A table that has a tensor for each case that the formulas speak of, where it occurs. */
static struct shapeproof_tables *table_of_cases(const struct shapeproof_derivation *derivation)
{
    struct shapeproof_error error = {0};
    struct sp_text text = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    sp_text_puts(&text, "table cases\n");
    put_definitions(derivation, &text);
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derivation); i++) {
        const char *when = shapeproof_derivation_formula(derivation, i)->when;
        sp_text_printf(&text, "[%zu] if %s", i, *when ? when : "true");
        for (size_t k = 0; k < shapeproof_derivation_assumption_count(derivation); k++)
            sp_text_printf(&text, " if %s", shapeproof_derivation_assumption(derivation, k));
        sp_text_printf(&text, "\ncase.%zu (1)\n", i);
    }
    assert_int_equal(shapeproof_tables_add_text(tables, "cases.shapes", text.data, text.length, &error), SHAPEPROOF_OK);
    sp_text_free(&text);
    return tables;
}

/* At every point that is tried: the formulas are true, and each case that they speak of occurs at some. */
static void try_compared(const char *rows)
{
    enum { LAST = 40, FEWEST = 20 };
    struct shapeproof_error error = {0};
    struct sp_text text = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    sp_text_printf(&text, "table compared\n%s", rows);
    assert_int_equal(shapeproof_tables_add_text(tables, "compared.shapes", text.data, text.length, &error),
                     SHAPEPROOF_OK);
    struct derived derived = derive(tables, "compared", NULL, AS_IT_IS);
    assert_non_null(derived.formulas);
    struct shapeproof_tables *cases = table_of_cases(derived.derivation);
    bool occurs[32] = {false};
    for (int64_t point = 0; point <= 4 * LAST + 3; point++) {
        char name[16];
        struct shapeproof_config *config = compared_point(point / 4, point & 1, 2 + (point >> 1 & 1));
        struct shapeproof_prediction *found =
            shapeproof_predict(cases, config, &(struct shapeproof_predict_options){.table = "cases"}, &error);
        try_derived(tables, &derived, config);
        for (size_t i = 0; found && i < 32; i++) {
            snprintf(name, sizeof name, "case.%zu", i);
            occurs[i] = occurs[i] || shapeproof_prediction_find(found, name) != SHAPEPROOF_NONE;
        }
        shapeproof_prediction_free(found);
        shapeproof_config_free(config);
    }
    if (derived.points < FEWEST) fail_msg("%zu points of\n%s", derived.points, rows);
    assert_int_equal(derived.differences, 0);
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derived.derivation); i++)
        if (!occurs[i]) fail_msg("never: %s\n%s", shapeproof_derivation_formula(derived.derivation, i)->when, rows);
    shapeproof_tables_free(cases);
    shapeproof_tables_free(tables);
    sp_text_free(&text);
    forget(&derived);
}

static void conditions_can_be_true(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) try_compared(compared[i]);
}

static void wrong_formulas_are_caught(void **state)
{
    (void)state;
    is_quiet = true;
    for (enum spoil spoil = ONE_MORE; spoil <= OTHER_NUMBER; spoil++) {
        struct law law = {0};
        try_built_in_tables(&law, sample() > 4 ? sample() : 4, spoil);
        print_message("%zu of %zu are caught\n", law.differences, law.tried);
        assert_int_equal(law.differences, law.tried);
    }
    is_quiet = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_in_tables), cmocka_unit_test(random_tables),
                                       cmocka_unit_test(conditions_can_be_true),
                                       cmocka_unit_test(wrong_formulas_are_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
