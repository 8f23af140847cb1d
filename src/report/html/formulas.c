/* SPDX-License-Identifier: MIT
 * What a table promises in formulas, beside the numbers: its groups, claims, and the hyper-parameters. */
#include <inttypes.h>
#include <string.h>

#include "base/chars.h"
#include "report/html/html.h"
#include "report/verify.h"

/* ---- a formula with its numbers ---- */

static const struct shapeproof_named_value *value_named(const struct shapeproof_verification *verification,
                                                        const char *name, size_t length)
{
    for (size_t i = 0; i < shapeproof_verification_value_count(verification); i++) {
        const struct shapeproof_named_value *value = shapeproof_verification_value(verification, i);
        if (strlen(value->name) == length && memcmp(value->name, name, length) == 0) return value;
    }
    return NULL;
}

/* "E*(V + P)" -> "768*(50257 + 1024)"; a name without a value, such as that of a function, stays. */
static void put_numbers(struct sp_text *text, const struct shapeproof_verification *verification, const char *formula)
{
    while (*formula) {
        size_t length = 0;
        while (sp_is_word(formula[length])) length++;
        const struct shapeproof_named_value *value = length ? value_named(verification, formula, length) : NULL;
        if (value && value->value.denominator == 1) sp_text_printf(text, "%" PRId64, value->value.numerator);
        else sp_text_append(text, formula, length ? length : 1);
        formula += length ? length : 1;
    }
}

/* ---- groups ---- */

static void put_group_cells(struct sp_table *table, const struct shapeproof_verification *verification,
                            const struct shapeproof_stored_group *group)
{
    struct sp_text *cell = sp_table_cell(table), numbers = {0};
    sp_put_stored_group(cell, group);
    cell = sp_table_cell(table);
    if (group->formula) sp_put_visible(cell, group->formula);
    if (group->formula) put_numbers(&numbers, verification, group->formula);
    cell = sp_table_cell(table);
    if (group->formula && strcmp(numbers.data, group->formula) != 0) sp_put_visible(cell, numbers.data);
    sp_text_free(&numbers);
    sp_text_grouped(sp_table_cell(table), group->predicted);
    cell = sp_table_cell(table);
    const bool is_of_file = shapeproof_verification_inventory(verification) != NULL;
    if (is_of_file) sp_text_grouped(cell, group->stored);
    cell = sp_table_cell(table);
    if (!is_of_file || group->stored == group->predicted) return;
    sp_put_signed(cell, (int64_t)(group->stored - group->predicted));
    sp_table_color(table, SP_COLOR_RED);
}

/* Why a group stores more or less: "-96 = -3*E*N  missing  h.{0-1}.attn.c_attn.bias". */
static void put_deviations(struct sp_text *html, const struct shapeproof_verification *verification)
{
    static const struct sp_column columns[] = {{"why they differ", SP_LEFT},
                                               {"parameters", SP_RIGHT},
                                               {"as a term", SP_LEFT},
                                               {"", SP_LEFT},
                                               {"tensors", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (size_t i = 0; i < shapeproof_verification_group_count(verification); i++) {
        const struct shapeproof_stored_group *group = shapeproof_verification_group(verification, i);
        for (size_t k = 0; k < group->deviation_count; k++) {
            const struct shapeproof_deviation *deviation = &group->deviations[k];
            const struct shapeproof_fraction parameters = {deviation->parameters, 1};
            const char *term = sp_deviation_term(deviation);
            sp_put_stored_group(sp_table_cell(&table), group);
            struct sp_text *cell = sp_table_cell(&table);
            if (deviation->parameters > 0) sp_text_puts(cell, "+");
            sp_put_fraction(cell, parameters);
            cell = sp_table_cell(&table);
            if (term) sp_put_visible(cell, term);
            sp_text_puts(sp_table_cell(&table), sp_deviation_words(deviation->kind));
            sp_put_visible(sp_table_cell(&table), deviation->names);
        }
    }
    if (table.count) sp_html_table(&table, html);
    else sp_table_free(&table);
}

/* What the letters of the formulas are: "E = 768 (n_embd)". */
static void put_values(struct sp_text *html, const struct shapeproof_verification *verification)
{
    const size_t count = shapeproof_verification_value_count(verification);
    if (!count) return;
    sp_text_puts(html, "<p class=\"values\">");
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_named_value *value = shapeproof_verification_value(verification, i);
        struct sp_text text = {0};
        sp_text_printf(&text, "%s = ", value->name);
        sp_put_fraction(&text, value->value);
        sp_text_puts(html, i ? ", <span>" : "<span>");
        sp_html_code(html, text.data);
        if (strcmp(value->name, value->key) != 0 && *value->key) {
            sp_text_puts(html, " (");
            sp_html_text(html, value->key);
            sp_text_puts(html, ")");
        }
        sp_text_puts(html, "</span>");
        sp_text_free(&text);
    }
    sp_text_puts(html, "</p>\n");
}

void sp_html_groups(struct sp_text *html, const struct shapeproof_verification *verification)
{
    static const struct sp_column columns[] = {{"group", SP_LEFT},      {"formula", SP_LEFT}, {"with numbers", SP_LEFT},
                                               {"predicted", SP_RIGHT}, {"stored", SP_RIGHT}, {"difference", SP_RIGHT}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    if (!shapeproof_verification_prediction(verification)) return;
    sp_html_section(html, "Parameters by group");
    for (size_t i = 0; i < shapeproof_verification_group_count(verification); i++)
        put_group_cells(&table, verification, shapeproof_verification_group(verification, i));
    sp_html_table(&table, html);
    put_values(html, verification);
    for (size_t i = 0; i < shapeproof_verification_uncounted_count(verification); i++) {
        sp_text_puts(html, "<p>Not counted: ");
        sp_put_uncounted(html, shapeproof_verification_uncounted(verification, i));
        sp_text_puts(html, "</p>\n");
    }
    put_deviations(html, verification);
}

/* ---- claims ---- */

/* A number; nothing for one that is not known. */
static void put_known(struct sp_text *cell, struct shapeproof_fraction value)
{
    if (value.denominator) sp_put_fraction(cell, value);
}

/* Where a claim holds in general: "proved", "proved when H = 4*E". */
static void put_general_verdict(struct sp_text *cell, const struct shapeproof_verified_claim *claim)
{
    if (!claim->predicted.denominator || !sp_claim_is_judged_in_general(claim)) return;
    if (!claim->premises) sp_text_puts(cell, shapeproof_verdict_on_claim_name(claim->proof->verdict));
    else if (!*claim->premises) sp_text_puts(cell, "proved for this configuration");
    else {
        sp_text_puts(cell, "proved when ");
        sp_put_visible(cell, claim->premises);
    }
}

static void put_claim_cells(struct sp_table *table, const struct shapeproof_verified_claim *claim)
{
    const char *reason = claim->answer == SHAPEPROOF_CLAIM_FAILS ? claim->difference : claim->why;
    struct sp_text *cell = sp_table_cell(table);
    sp_put_visible(cell, claim->proof->claim);
    if (claim->proof->given && *claim->proof->given) {
        sp_text_puts(cell, ", given ");
        sp_put_visible(cell, claim->proof->given);
    }
    cell = sp_table_cell(table);
    sp_text_puts(cell, shapeproof_claim_answer_name(claim->answer));
    if (claim->proof->erratum) sp_text_puts(cell, ", a known erratum");
    sp_table_color(table, sp_claim_color(claim->answer));
    put_known(sp_table_cell(table), claim->formula);
    put_known(sp_table_cell(table), claim->predicted);
    put_known(sp_table_cell(table), claim->stored);
    put_general_verdict(sp_table_cell(table), claim);
    cell = sp_table_cell(table);
    if (reason) sp_put_visible(cell, reason);
    cell = sp_table_cell(table);
    if (claim->proof->source) sp_put_visible(cell, claim->proof->source);
}

void sp_html_claims(struct sp_text *html, const struct shapeproof_verification *verification, bool all)
{
    static const struct sp_column columns[] = {{"claim", SP_LEFT},      {"answer", SP_LEFT},  {"formula", SP_RIGHT},
                                               {"predicted", SP_RIGHT}, {"stored", SP_RIGHT}, {"in general", SP_LEFT},
                                               {"why", SP_LEFT},        {"source", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    size_t left_out = 0;
    for (size_t i = 0; i < shapeproof_verification_claim_count(verification); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(verification, i);
        if (sp_claim_is_shown(claim, all)) put_claim_cells(&table, claim);
        else left_out++;
    }
    if (table.count || left_out) sp_html_section(html, "Claims");
    if (table.count) sp_html_table(&table, html);
    else sp_table_free(&table);
    if (!left_out) return;
    sp_text_puts(html, "<p>");
    sp_put_count(html, left_out, "claim is", "claims are");
    sp_text_puts(html, " about other hyper-parameters or a known erratum; --all lists them</p>\n");
}

/* ---- hyper-parameters ---- */

void sp_html_hyperparameters(struct sp_text *html, const struct shapeproof_prediction *prediction)
{
    enum { VALUE_COLUMNS = 200 }; /* a longer value is cut */
    static const struct sp_column columns[] = {{"hyper-parameter", SP_LEFT}, {"value", SP_LEFT}, {"from", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    const size_t count = shapeproof_prediction_hyperparameter_count(prediction);
    if (!count) return;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        sp_put_visible(sp_table_cell(&table), hyper->name);
        sp_put_value(sp_table_cell(&table), hyper->value, VALUE_COLUMNS);
        sp_put_provenance(sp_table_cell(&table), hyper->from);
    }
    struct sp_text summary = {0};
    sp_put_count(&summary, count, "hyper-parameter", "hyper-parameters");
    sp_html_section(html, "Hyper-parameters");
    sp_html_fold_begin(html, summary.data, false);
    sp_html_table(&table, html);
    sp_html_fold_end(html);
    sp_text_free(&summary);
}
