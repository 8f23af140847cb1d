/* SPDX-License-Identifier: MIT
 * The formulas and figures of five publications, 153 of them, each with the verdict that somebody worked out by hand
 * (data/published-claims.json of a corpus; skipped without it). Each becomes a claim about a small table that knows
 * nothing but the letters it uses, and must be judged the same.
 *
 * How a stated figure is meant follows from the figure and from the kind of statement, never from the verdict:
 *   - sub-totals and closed forms state equality;
 *   - so do totals and approximations, but one that ends with three zeros or more is printed in thousands, millions or
 *     billions: it is right too when the truth, rounded at the last digit that is not 0, is that figure;
 *   - an approximation with all its digits comes from a formula without the lower terms: right within 0.5 %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "base/value.h"
#include "sample.h"
#include "shapeproof/prove.h"

enum { MAX_LETTERS = 16, ZEROS_OF_A_PRINTED_FIGURE = 3 };

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = malloc(1 << 20);
    const size_t length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    text[length] = '\0';
    return text;
}

static const char *field(struct shapeproof_value claim, const char *name)
{
    return sp_value_member(claim, name).string;
}

static bool is_number(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_INT || value.type == SHAPEPROOF_VALUE_REAL;
}

static double number_in(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_INT ? (double)value.integer : value.real;
}

/* A number or an expression as text. */
static void put_value(struct sp_text *text, struct shapeproof_value value)
{
    if (is_number(value)) sp_text_printf(text, "%.0f", number_in(value));
    else sp_text_puts(text, value.string);
}

/* ---- how the stated figure is meant ---- */

enum reading { EQUALITY, PRINTED, APPROXIMATE };

static int trailing_zeros(double figure)
{
    int zeros = 0;
    for (int64_t n = (int64_t)figure; n && n % 10 == 0; n /= 10) zeros++;
    return zeros;
}

static enum reading reading_of(struct shapeproof_value claim)
{
    const struct shapeproof_value stated = sp_value_member(claim, "stated");
    const bool approximation = strcmp(field(claim, "kind"), "approximation") == 0;
    if (!is_number(stated) || (!approximation && strcmp(field(claim, "kind"), "total") != 0)) return EQUALITY;
    if (trailing_zeros(number_in(stated)) >= ZEROS_OF_A_PRINTED_FIGURE) return PRINTED;
    return approximation ? APPROXIMATE : EQUALITY;
}

/* 1430000000 as "1.43B": all of its digits, and no more. */
static void put_printed(struct sp_text *text, double figure)
{
    static const struct {
        int zeros;
        char letter;
    } units[] = {{3, 'K'}, {6, 'M'}, {9, 'B'}, {12, 'T'}};
    const int zeros = trailing_zeros(figure);
    size_t unit = 0;
    while (units[unit].zeros < zeros) unit++;
    double one = 1;
    for (int i = 0; i < units[unit].zeros; i++) one *= 10;
    sp_text_printf(text, "%.*f%c", units[unit].zeros - zeros, figure / one, units[unit].letter);
}

/* ---- the claim as text ---- */

struct letters {
    char names[MAX_LETTERS][16];
    size_t count;
};

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static void collect_letters(struct letters *letters, const char *expression)
{
    while (*expression) {
        size_t length = 0, known = 0;
        if (is_letter(*expression))
            while (is_letter(expression[length]) || (expression[length] >= '0' && expression[length] <= '9')) length++;
        if (length) {
            assert_true(length < sizeof letters->names[0]);
            while (known < letters->count &&
                   (strncmp(letters->names[known], expression, length) != 0 || letters->names[known][length]))
                known++;
            assert_true(known < MAX_LETTERS);
            snprintf(letters->names[known], sizeof letters->names[known], "%.*s", (int)length, expression);
            if (known == letters->count) letters->count++;
        }
        expression += length ? length : 1;
    }
}

/* A tensor for each letter, so that each is a hyper-parameter of the table. */
static void put_table(struct sp_text *text, const char *name, struct shapeproof_value claim)
{
    struct letters letters = {.count = 0};
    const struct shapeproof_value stated = sp_value_member(claim, "stated");
    const struct shapeproof_value bindings = sp_value_member(claim, "bindings");
    collect_letters(&letters, "any"); /* an example needs a value */
    collect_letters(&letters, field(claim, "expression"));
    if (stated.type == SHAPEPROOF_VALUE_STRING) collect_letters(&letters, stated.string);
    for (size_t i = 0; i < bindings.count; i++) collect_letters(&letters, bindings.members[i].key);
    sp_text_printf(text, "table %s\n", name);
    for (size_t i = 0; i < letters.count; i++)
        sp_text_printf(text, "weight_%s (%s)\n", letters.names[i], letters.names[i]);
    sp_text_printf(text, "claims for %s when any = 1", name);
    for (size_t i = 0; i < bindings.count; i++) {
        sp_text_printf(text, ", %s = ", bindings.members[i].key);
        put_value(text, bindings.members[i].value);
    }
    sp_text_puts(text, "\n");
}

static void put_claims(struct sp_text *text, struct shapeproof_value claim)
{
    const struct shapeproof_value stated = sp_value_member(claim, "stated");
    const char *expression = field(claim, "expression");
    sp_text_printf(text, "claim %s = ", expression);
    put_value(text, sp_value_member(claim, "recomputed"));
    sp_text_printf(text, "\nclaim %s = ", expression);
    put_value(text, stated);
    if (reading_of(claim) == PRINTED) {
        sp_text_printf(text, "\nexample any = 1: %s rounds to \"", expression);
        put_printed(text, number_in(stated));
        sp_text_puts(text, "\"");
    } else if (reading_of(claim) == APPROXIMATE) {
        sp_text_printf(text, "\napprox %s = ", expression);
        put_value(text, stated);
        sp_text_puts(text, " within 0.5%");
    }
    sp_text_puts(text, "\n");
}

/* ---- the verdict ---- */

static const char *verdict_of(const struct shapeproof_proofs *proofs)
{
    if (shapeproof_proofs_get(proofs, 1)->verdict == SHAPEPROOF_PROVED) return "exact";
    if (shapeproof_proofs_get(proofs, 1)->verdict != SHAPEPROOF_REFUTED) return "not decided";
    if (!shapeproof_proofs_get(proofs, 1)->difference) return "no difference";
    if (shapeproof_proofs_count(proofs) == 2) return "wrong";
    if (shapeproof_proofs_get(proofs, 2)->verdict == SHAPEPROOF_PROVED) return "rounding-ok";
    return shapeproof_proofs_get(proofs, 2)->verdict == SHAPEPROOF_REFUTED ? "wrong" : "not decided";
}

/* What is true must be proved; what is stated must get the verdict of the file. */
static bool judged_right(struct shapeproof_tables *tables, const char *name, struct shapeproof_value claim)
{
    struct sp_text text = {0};
    struct shapeproof_error error = {0};
    put_table(&text, name, claim);
    put_claims(&text, claim);
    if (shapeproof_tables_add_text(tables, "claims", text.data, text.length, &error) != SHAPEPROOF_OK)
        fail_msg("%s", error.message);
    struct shapeproof_proofs *proofs =
        shapeproof_prove(tables, &(struct shapeproof_prove_options){.tables = &name, .table_count = 1}, &error);
    if (!proofs) fail_msg("%s", error.message);
    const bool true_is_proved = shapeproof_proofs_get(proofs, 0)->verdict == SHAPEPROOF_PROVED;
    const char *verdict = verdict_of(proofs);
    const bool right = true_is_proved && strcmp(verdict, field(claim, "verdict")) == 0;
    if (!right)
        print_error("%s %s: %s%s, the file says %s\n%s\n", field(claim, "source"), field(claim, "where"), verdict,
                    true_is_proved ? "" : ", and the truth is not proved", field(claim, "verdict"), text.data);
    shapeproof_proofs_free(proofs);
    sp_text_free(&text);
    return right;
}

static void published_claims(void **state)
{
    (void)state;
    char path[CORPUS_PATH];
    char *json = corpus_path(path, "published-claims.json") ? read_file(path) : NULL;
    if (!json) skip();
    struct sp_arena arena = {0};
    struct shapeproof_value claims;
    struct shapeproof_error error = {0};
    if (!sp_value_parse_json(&arena, json, strlen(json), &claims, &error)) fail_msg("%s", error.message);
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    size_t right = 0;
    for (size_t i = 0; i < claims.count; i++) {
        char name[32];
        snprintf(name, sizeof name, "letters_%zu", i);
        right += judged_right(tables, name, claims.items[i]);
    }
    assert_int_equal(right, claims.count);
    assert_int_equal(right, 153);
    shapeproof_tables_free(tables);
    sp_arena_free(&arena);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_claims)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
