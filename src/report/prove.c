/* SPDX-License-Identifier: MIT
 * What was proved, derived and solved. */
#include <inttypes.h>
#include <string.h>

#include "report/common.h"
#include "report/json.h"
#include "report/table.h"
#include "shapeproof/report.h"

static void json_optional(struct sp_writer *json, const char *key, const char *value)
{
    if (value && *value) sp_write_key_string(json, key, value);
}

/* ---- prove ---- */

static void json_proof(struct sp_writer *json, const struct sp_proof *proof)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "table", proof->table);
    sp_write_key_string(json, "claim", proof->claim);
    json_optional(json, "given", proof->given);
    sp_write_key_string(json, "verdict", sp_verdict_on_claim_name(proof->verdict));
    json_optional(json, "difference", proof->difference);
    json_optional(json, "counterexample", proof->counterexample);
    json_optional(json, "cases", proof->cases);
    json_optional(json, "source", proof->source);
    json_optional(json, "correction", proof->correction);
    sp_write_key_bool(json, "erratum", proof->erratum);
    sp_write_key_bool(json, "as_expected", proof->as_expected);
    if (proof->verdict == SP_TESTED) sp_write_key_number(json, "points", proof->points);
    sp_write_key_string(json, "file", proof->file);
    sp_write_key_number(json, "line", proof->line);
    sp_write_close(json);
}

static void prove_json(const struct sp_proofs *proofs, struct sp_text *text)
{
    struct sp_writer json = {.text = text};
    sp_write_open(&json, '{');
    sp_write_key_string(&json, "schema", "shapeproof.prove/1");
    sp_write_key(&json, "claims");
    sp_write_open(&json, '[');
    for (size_t i = 0; i < sp_proofs_count(proofs); i++) json_proof(&json, sp_proofs_get(proofs, i));
    sp_write_close(&json);
    sp_write_close(&json);
}

static const struct {
    const char *word;
    enum sp_color color;
} verdicts[] = {
    {"PROVED", SP_COLOR_GREEN}, {"REFUTED", SP_COLOR_RED}, {"TESTED", SP_COLOR_YELLOW}, {"UNDECIDED", SP_COLOR_RED}};

static void put_detail(struct sp_text *text, const char *label, const char *detail)
{
    if (!detail || !*detail) return;
    sp_text_puts(text, "             ");
    sp_text_puts(text, label);
    sp_put_visible(text, detail);
    sp_text_puts(text, "\n");
}

static void put_proof(const struct sp_proof *proof, struct sp_text *text, bool color)
{
    const char *word = verdicts[proof->verdict].word;
    sp_text_puts(text, "  ");
    sp_color_puts(text, color,
                  proof->as_expected && proof->verdict == SP_REFUTED ? SP_COLOR_YELLOW : verdicts[proof->verdict].color,
                  word);
    sp_text_pad(text, 11 - strlen(word));
    sp_put_visible(text, proof->claim);
    if (proof->verdict == SP_TESTED) sp_text_printf(text, " (at %zu points)", proof->points);
    sp_text_puts(text, "\n");
    put_detail(text, "given ", proof->given);
    put_detail(text, "", proof->difference);
    put_detail(text, "at ", proof->counterexample);
    put_detail(text, "", proof->cases);
    put_detail(text, "source: ", proof->source);
    put_detail(text, "correct: ", proof->correction);
    if (proof->erratum && !proof->as_expected) put_detail(text, "", "marked as an erratum, and not refuted");
}

static void prove_text(const struct sp_proofs *proofs, struct sp_text *text, const struct sp_prove_options *options)
{
    size_t counts[4] = {0}, errata = 0, surprises = 0;
    const char *table = "";
    for (size_t i = 0; i < sp_proofs_count(proofs); i++) {
        const struct sp_proof *proof = sp_proofs_get(proofs, i);
        counts[proof->verdict]++;
        errata += proof->erratum && proof->as_expected;
        surprises += !proof->as_expected;
        if (proof->as_expected && !options->all) continue;
        if (strcmp(table, proof->table) != 0)
            sp_color_puts(text, options->report.color, SP_COLOR_BOLD, table = proof->table), sp_text_puts(text, "\n");
        put_proof(proof, text, options->report.color);
    }
    if (*table) sp_text_puts(text, "\n");
    sp_put_count(text, sp_proofs_count(proofs), "claim", "claims");
    sp_text_printf(text, ": %zu proved, %zu refuted (%zu known errata), %zu tested, %zu undecided", counts[SP_PROVED],
                   counts[SP_REFUTED], errata, counts[SP_TESTED], counts[SP_UNDECIDED]);
    sp_text_printf(text, surprises ? "; %zu not as expected\n" : "\n", surprises);
}

char *sp_report_prove(const struct sp_proofs *proofs, const struct sp_prove_options *options, size_t *length)
{
    static const struct sp_prove_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->report.format == SP_REPORT_JSON) prove_json(proofs, &text);
    else prove_text(proofs, &text, options);
    return sp_text_take(&text, length);
}

/* ---- derive ---- */

static void derive_json(const struct sp_derivation *derivation, struct sp_text *text)
{
    struct sp_writer json = {.text = text};
    sp_write_open(&json, '{');
    sp_write_key_string(&json, "schema", "shapeproof.derive/1");
    sp_write_key_string(&json, "table", sp_derivation_table(derivation));
    sp_write_key(&json, "formulas");
    sp_write_open(&json, '[');
    for (size_t i = 0; i < sp_derivation_formula_count(derivation); i++) {
        const struct sp_formula formula = sp_derivation_formula(derivation, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "group", formula.group);
        json_optional(&json, "when", formula.when);
        sp_write_key_string(&json, "formula", formula.text);
        sp_write_key_string(&json, "expanded", formula.expanded);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key(&json, "symbols");
    sp_write_open(&json, '[');
    for (size_t i = 0; i < sp_derivation_symbol_count(derivation); i++) {
        const struct sp_symbol symbol = sp_derivation_symbol(derivation, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", symbol.name);
        json_optional(&json, "key", symbol.key);
        json_optional(&json, "default", symbol.fallback);
        json_optional(&json, "formula", symbol.formula);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key(&json, "assuming");
    sp_write_open(&json, '[');
    for (size_t i = 0; i < sp_derivation_assumption_count(derivation); i++)
        sp_write_string(&json, sp_derivation_assumption(derivation, i));
    sp_write_close(&json);
    sp_write_close(&json);
}

static void put_group(struct sp_text *text, const char *group)
{
    sp_text_puts(text, "[");
    sp_put_visible(text, group);
    sp_text_puts(text, "]");
}

static void put_formulas(const struct sp_derivation *derivation, struct sp_text *text,
                         const struct sp_derive_options *options)
{
    static const struct sp_column columns[] = {{NULL, false}, {NULL, false}};
    struct sp_table table = {.columns = columns, .column_count = 2};
    for (size_t i = 0; i < sp_derivation_formula_count(derivation); i++) {
        const struct sp_formula formula = sp_derivation_formula(derivation, i);
        struct sp_text *cell = sp_table_cell(&table);
        if (*formula.when) {
            sp_text_puts(cell, "  if ");
            sp_put_visible(cell, formula.when);
        } else if (strcmp(formula.group, "total") == 0) sp_text_puts(cell, "total");
        else put_group(cell, formula.group);
        cell = sp_table_cell(&table);
        const char *shown = options->expanded ? formula.expanded : formula.text;
        if (*formula.when && *shown != '-') sp_text_puts(cell, "+ ");
        sp_put_visible(cell, shown);
    }
    sp_table_render(&table, text, &options->report);
    sp_table_free(&table);
}

static void put_symbols(const struct sp_derivation *derivation, struct sp_text *text,
                        const struct sp_report_options *options)
{
    static const struct sp_column columns[] = {{"symbol", false}, {"hyper-parameter", false}, {"default", false}};
    struct sp_table table = {.columns = columns, .column_count = 3};
    for (size_t i = 0; i < sp_derivation_symbol_count(derivation); i++) {
        const struct sp_symbol symbol = sp_derivation_symbol(derivation, i);
        sp_put_visible(sp_table_cell(&table), symbol.name);
        struct sp_text *cell = sp_table_cell(&table);
        sp_text_puts(cell, *symbol.formula ? "= " : "");
        sp_put_visible(cell, *symbol.formula ? symbol.formula : symbol.key);
        sp_put_visible(sp_table_cell(&table), symbol.fallback);
    }
    sp_table_render(&table, text, options);
    sp_table_free(&table);
}

static void put_assumptions(const struct sp_derivation *derivation, struct sp_text *text)
{
    for (size_t i = 0; i < sp_derivation_assumption_count(derivation); i++) {
        sp_text_puts(text, i ? " and " : "given ");
        sp_put_visible(text, sp_derivation_assumption(derivation, i));
    }
    if (sp_derivation_assumption_count(derivation)) sp_text_puts(text, "\n");
}

char *sp_report_derive(const struct sp_derivation *derivation, const struct sp_derive_options *options, size_t *length)
{
    static const struct sp_derive_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->report.format == SP_REPORT_JSON) {
        derive_json(derivation, &text);
        return sp_text_take(&text, length);
    }
    put_formulas(derivation, &text, options);
    put_assumptions(derivation, &text);
    sp_text_puts(&text, "\n");
    put_symbols(derivation, &text, &options->report);
    return sp_text_take(&text, length);
}

/* ---- solve ---- */

static void json_solution(struct sp_writer *json, const struct sp_solution *solution, bool rounded)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "name", solution->name);
    sp_write_key_string(json, "key", solution->key);
    sp_write_key_number(json, rounded ? "first" : "value", (uint64_t)solution->value);
    if ((rounded || solution->last != solution->value) && solution->last != INT64_MAX)
        sp_write_key_number(json, "last", (uint64_t)solution->last);
    json_optional(json, "configured", solution->configured);
    sp_write_close(json);
}

static void solve_json(const struct sp_solutions *solutions, struct sp_text *text)
{
    const bool rounded = sp_solutions_rounded(solutions);
    struct sp_writer json = {.text = text};
    sp_write_open(&json, '{');
    sp_write_key_string(&json, "schema", "shapeproof.solve/1");
    sp_write_key_string(&json, "table", sp_solutions_table(solutions));
    sp_write_key(&json, rounded ? "rounds_to" : "total");
    if (rounded) sp_write_string(&json, sp_solutions_asked(solutions));
    else sp_write_raw(&json, sp_solutions_asked(solutions));
    sp_write_key_bool(&json, "as_given", sp_solutions_as_given(solutions));
    sp_write_key(&json, "solutions");
    sp_write_open(&json, '[');
    for (size_t i = 0; i < sp_solutions_count(solutions); i++) {
        const struct sp_solution solution = sp_solutions_get(solutions, i);
        json_solution(&json, &solution, rounded);
    }
    sp_write_close(&json);
    sp_write_key(&json, "skipped");
    sp_write_open(&json, '[');
    for (size_t i = 0; i < sp_solutions_skipped_count(solutions); i++)
        sp_write_string(&json, sp_solutions_skipped(solutions, i));
    sp_write_close(&json);
    sp_write_close(&json);
}

/* "1024", or "41004..41208" */
static void put_values(struct sp_text *text, const struct sp_solution *solution)
{
    sp_text_printf(text, "%" PRId64, solution->value);
    if (solution->last == INT64_MAX) sp_text_puts(text, "..");
    else if (solution->last != solution->value) sp_text_printf(text, "..%" PRId64, solution->last);
}

static void put_solutions(const struct sp_solutions *solutions, struct sp_text *text,
                          const struct sp_report_options *options)
{
    static const struct sp_column exact[] = {
        {"symbol", false}, {"hyper-parameter", false}, {"value", true}, {"instead of", true}};
    static const struct sp_column rounded[] = {
        {"symbol", false}, {"hyper-parameter", false}, {"values", true}, {"now", true}};
    struct sp_table table = {.columns = sp_solutions_rounded(solutions) ? rounded : exact, .column_count = 4};
    for (size_t i = 0; i < sp_solutions_count(solutions); i++) {
        const struct sp_solution solution = sp_solutions_get(solutions, i);
        sp_put_visible(sp_table_cell(&table), solution.name);
        sp_put_visible(sp_table_cell(&table), solution.key);
        put_values(sp_table_cell(&table), &solution);
        sp_put_visible(sp_table_cell(&table), solution.configured);
    }
    sp_table_render(&table, text, options);
    sp_table_free(&table);
}

static void solve_text(const struct sp_solutions *solutions, struct sp_text *text,
                       const struct sp_report_options *options)
{
    const bool as_given = sp_solutions_as_given(solutions), found = sp_solutions_count(solutions) > 0;
    if (as_given || !found) {
        sp_text_puts(text, as_given ? "the hyper-parameters give " : "no single hyper-parameter gives ");
        sp_put_visible(text, sp_solutions_asked(solutions));
        sp_text_puts(text, as_given ? " parameters as they are\n" : " parameters\n");
    }
    if (as_given && found) sp_text_puts(text, "\n");
    if (found) put_solutions(solutions, text, options);
    for (size_t i = 0; i < sp_solutions_skipped_count(solutions); i++)
        sp_text_printf(text, "%s%s%s", i ? ", " : "not tried, since no exact answer can be computed: ",
                       sp_solutions_skipped(solutions, i), i + 1 == sp_solutions_skipped_count(solutions) ? "\n" : "");
}

char *sp_report_solve(const struct sp_solutions *solutions, const struct sp_report_options *options, size_t *length)
{
    static const struct sp_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SP_REPORT_JSON) solve_json(solutions, &text);
    else solve_text(solutions, &text, options);
    return sp_text_take(&text, length);
}
