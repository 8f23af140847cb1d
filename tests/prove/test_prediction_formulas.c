/* SPDX-License-Identifier: MIT
 * The formulas beside the numbers of a prediction: as its flags and texts have it, with its numbers as symbols. */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "corpus.h"
#include "lang/tables_fixture.h"
#include "shapeproof/prove.h"

static const char *formula_of(const struct shapeproof_derivation *forms, const char *group)
{
    for (size_t i = 0; i < shapeproof_derivation_formula_count(forms); i++)
        if (strcmp(shapeproof_derivation_formula(forms, i)->group, group) == 0)
            return shapeproof_derivation_formula(forms, i)->expanded;
    return "none";
}

static void expect(const char *table, const char *const *settings, const char *group, const char *formula)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    for (; *settings; settings++) assert_int_equal(shapeproof_config_set(config, *settings, &error), SHAPEPROOF_OK);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = table}, &error);
    if (!prediction) fail_msg("%s", error.message);
    struct shapeproof_derivation *forms = shapeproof_derive_prediction(tables, prediction, config, &error);
    if (!forms) fail_msg("%s", error.message);
    assert_string_equal(formula_of(forms, group), formula);
    shapeproof_derivation_free(forms);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
}
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void flags_and_texts(void **state)
{
    (void)state;
    expect("gpt2", SETTINGS("n_layer=3"), "attention", "4*E^2*N + 6*E*N");
    expect("gpt2", SETTINGS("n_layer=3"), "head", "0");
    expect("gpt2", SETTINGS("tie_word_embeddings=false"), "head", "V*E");
    expect("gpt2", SETTINGS("architectures=[\"GPT2ForSequenceClassification\"]", "num_labels=7"), "head", "E*labels");
    expect("gpt2", SETTINGS("add_cross_attention=true"), "cross attention", "4*E^2*N + 6*E*N");
    expect("sockeye_rnn",
           SETTINGS("rnn_cell_type=gru", "num_embed=[8,16]", "num_layers=2", "rnn_num_hidden=32", "vocab_size_src=10",
                    "vocab_size_trg=12"),
           "hidden", "2*h^2 + h");
}

/* What holds for these sizes alone is a number here; a formula that would be wrong for them is not shown. */
static void not_polynomial(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    const char text[] = "table t\nk = k default 4\n[a]\nw (n // 2)\n[b]\nv (absent(m) ? n : 7)\n[c]\nu (k)\n";
    assert_int_equal(shapeproof_tables_add_text(tables, "t.shapes", text, strlen(text), &error), SHAPEPROOF_OK);
    expect("t", SETTINGS("n=6"), "a", "(n // 2)");
    expect("t", SETTINGS("n=6"), "b", "n");
    expect("t", SETTINGS("n=6", "m=1"), "b", "none"); /* with m open the formula would be n, which is not 7 */
    expect("t", SETTINGS("n=6"), "c", "k");
    expect("t", SETTINGS("n=6"), "total", "k + n + (n // 2)");
}

/* What is written is read again: an operator takes what stands beside it, and no more. */
static void operands_in_brackets(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    const char text[] =
        "table o\n[a]\nw (n // (2*m))\n[b]\nv (m*n // 3 % (4*m))\n[c]\nu ((2*m)^n)\n[d]\nt (9 % (n // m))\n";
    assert_int_equal(shapeproof_tables_add_text(tables, "o.shapes", text, strlen(text), &error), SHAPEPROOF_OK);
    expect("o", SETTINGS("n=7", "m=2"), "a", "(n // (2*m))");
    expect("o", SETTINGS("n=7", "m=2"), "b", "((n*m // 3) % (4*m))");
    expect("o", SETTINGS("n=7", "m=2"), "c", "((2*m) ^ n)");
    expect("o", SETTINGS("n=7", "m=2"), "d", "(9 % (n // m))");
}

struct formula_count {
    size_t with, without;
};

static void count_formulas(void *context, const char *name, struct shapeproof_config *config,
                           struct shapeproof_inventory *inventory)
{
    struct formula_count *count = context;
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, NULL, &error);
    if (prediction) { /* not every architecture has a table */
        struct shapeproof_derivation *forms = shapeproof_derive_prediction(tables, prediction, config, &error);
        if (!forms) fail_msg("%s: %s", name, error.message);
        for (size_t i = 0; i < shapeproof_prediction_group_count(prediction); i++) {
            const char *formula = formula_of(forms, shapeproof_prediction_group(prediction, i)->name);
            ++*(strcmp(formula, "none") == 0 ? &count->without : &count->with);
        }
        shapeproof_derivation_free(forms);
        shapeproof_prediction_free(prediction);
    }
    shapeproof_inventory_close(inventory);
    shapeproof_config_free(config);
}

/* A formula is there only if it gives the number that was predicted tensor by tensor: nearly all do. */
static void configurations(void **state)
{
    struct formula_count count = {0};
    (void)state;
    corpus_read_record(SERIES, count_formulas, &count);
    corpus_read_folder("architectures/real", count_formulas, &count);
    print_message("%zu groups with a formula, %zu without\n", count.with, count.without);
    assert_true(count.with > 19 * count.without);
}

/* In LaTeX a floor has its brackets, and so has one within it. */
static void typeset(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    const char text[] = "table floors\n[a]\nw ((n // m) // k)\n";
    assert_int_equal(shapeproof_tables_add_text(tables, "floors.shapes", text, strlen(text), &error), SHAPEPROOF_OK);
    const struct shapeproof_derive_options options = {.table = "floors", .notation = SHAPEPROOF_FORMULA_LATEX};
    struct shapeproof_derivation *forms = shapeproof_derive(tables, NULL, &options, &error);
    if (!forms) fail_msg("%s", error.message);
    assert_string_equal(formula_of(forms, "a"), "\\left\\lfloor \\frac{\\left\\lfloor \\frac{n}{m} \\right\\rfloor}{k} "
                                                "\\right\\rfloor");
    shapeproof_derivation_free(forms);
}

/* A key of a sub-configuration has the whole path in front of it. */
static void nested_keys(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    const char text[] = "part nested\n[a]\nw (width)\ntable nests\n[a]\nx.* nested() from outer.inner\n";
    assert_int_equal(shapeproof_tables_add_text(tables, "nests.shapes", text, strlen(text), &error), SHAPEPROOF_OK);
    struct shapeproof_derivation *forms =
        shapeproof_derive(tables, NULL, &(struct shapeproof_derive_options){.table = "nests"}, &error);
    if (!forms) fail_msg("%s", error.message);
    assert_int_equal(shapeproof_derivation_symbol_count(forms), 1);
    assert_string_equal(shapeproof_derivation_symbol(forms, 0)->key, "outer.inner.width");
    shapeproof_derivation_free(forms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_and_texts), cmocka_unit_test(not_polynomial), cmocka_unit_test(operands_in_brackets),
        cmocka_unit_test(configurations),  cmocka_unit_test(typeset),        cmocka_unit_test(nested_keys)};
    return cmocka_run_group_tests(tests, open_tables, close_tables);
}
