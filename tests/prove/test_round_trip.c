/* SPDX-License-Identifier: MIT
 * The formulas that derive --claims writes of a table: prove proves each of them, and refutes that of the total with 1
 * added. A sample of the tables; all of them with SHAPEPROOF_ALL_TABLES=1 in the environment, which takes minutes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shapeproof/shapeproof.h"

enum {
    STEP = 16, /* every sixteenth table is in the sample */
    STEPS = 1000000000
};

struct verdicts {
    size_t proved, others;
    bool refuted_wrong_total;
};

/* The verdicts on the claims of a file about the table. */
static struct verdicts judge(struct shapeproof_tables *tables, const char *file)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_prove_options options = {.files = &file, .file_count = 1};
    struct shapeproof_proofs *proofs = shapeproof_prove(tables, &options, &error);
    struct verdicts verdicts = {0};
    assert_non_null(proofs);
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        const bool is_wrong_total = i + 1 == shapeproof_proofs_count(proofs); /* it stands last */
        if (is_wrong_total) verdicts.refuted_wrong_total = proof->verdict == SHAPEPROOF_REFUTED;
        else if (proof->verdict == SHAPEPROOF_PROVED) verdicts.proved++;
        else verdicts.others++;
    }
    shapeproof_proofs_free(proofs);
    return verdicts;
}

/* The claims, and the last one, which is that of the total, with 1 added. */
static char *with_wrong_total(const char *claims)
{
    const char *total = strstr(claims, "\nclaim total = ") + 1;
    char *text = malloc(2 * strlen(claims) + 64);
    assert_non_null(text);
    sprintf(text, "%s%.*s + 1\n", claims, (int)strlen(total) - 1, total);
    return text;
}

/* Whether each claim is proved, and the wrong total refuted; false after it printed what is not so. */
static bool goes_round(const char *name, const char *claims)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    char *text = with_wrong_total(claims);
    struct verdicts verdicts = {0};
    if (shapeproof_tables_add_text(tables, "derived", text, strlen(text), &error) == SHAPEPROOF_OK)
        verdicts = judge(tables, "derived");
    else print_error("%s\n", shapeproof_tables_messages(tables));
    const bool good = verdicts.proved > 0 && !verdicts.others && verdicts.refuted_wrong_total;
    if (!good)
        print_error("%s: %zu proved, %zu not; with 1 added the total is%s refuted\n", name, verdicts.proved,
                    verdicts.others, verdicts.refuted_wrong_total ? "" : " not");
    shapeproof_tables_free(tables);
    free(text);
    return good;
}

static void formulas_are_proved(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    const size_t step = getenv("SHAPEPROOF_ALL_TABLES") ? 1 : STEP;
    size_t tested = 0, wrong = 0;
    (void)state;
    /* the expansion of the largest table takes more than the claims of a file have by default */
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.steps = STEPS}, &error));
    for (size_t i = 0; i < shapeproof_tables_count(tables); i += step) {
        const char *name = shapeproof_tables_info(tables, i)->name;
        if (strcmp(shapeproof_tables_kind(tables, i), "part") == 0) continue;
        char *claims = shapeproof_derive_claims(tables, name, NULL, &error);
        if (!claims) continue; /* it has arguments, or no formula: shapeproof derive says why */
        wrong += !goes_round(name, claims);
        shapeproof_free(claims);
        tested++;
    }
    assert_true(shapeproof_set_limits(NULL, &error));
    assert_int_equal(wrong, 0);
    assert_true(tested > shapeproof_tables_count(tables) / step / 2);
    shapeproof_tables_free(tables);
}

static void text_of_small_table(void **state)
{
    static const char table[] =
        "table t\nn = size\nk = list\n[a] for i in 0..len(k)-1\nw.{i} (n, k[i])\n[b]\nb (n) if n > 2\n";
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    size_t length;
    (void)state;
    assert_int_equal(shapeproof_tables_add_text(tables, "t.shapes", table, strlen(table), &error), SHAPEPROOF_OK);
    char *claims = shapeproof_derive_claims(tables, "t", &length, &error);
    assert_non_null(claims);
    assert_string_equal(claims, "claims for t\n\nclaim [a] = n*sum(i in 0..len(k) - 1: k[i])\nclaim [b] = n*[2 < n]\n"
                                "claim total = n*(sum(i in 0..len(k) - 1: k[i]) + [2 < n])\n");
    assert_int_equal(length, strlen(claims));
    shapeproof_free(claims);
    assert_null(shapeproof_derive_claims(tables, "nothing", NULL, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    shapeproof_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(formulas_are_proved), cmocka_unit_test(text_of_small_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
