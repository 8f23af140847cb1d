/* SPDX-License-Identifier: MIT
 * The verdicts on claims: those that surprise, or all, under the name of their table; and the verdicts on printed
 * figures. */
#include <string.h>

#include "base/call.h"
#include "base/json_write.h"
#include "report/ci.h"
#include "report/common.h"
#include "report/csv.h"
#include "report/markdown.h"
#include "report/table.h"
#include "report/verify.h"
#include "shapeproof/report.h"

/* A claim, the verdict on it, and why; what there is nothing to say about is left out. */
static void json_proof(struct sp_writer *json, const struct shapeproof_proof *proof)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "table", proof->table);
    sp_write_key_string(json, "claim", proof->claim);
    sp_write_key_filled(json, "given", proof->given);
    sp_write_key_string(json, "verdict", shapeproof_verdict_on_claim_name(proof->verdict));
    sp_write_key_filled(json, "difference", proof->difference);
    sp_write_key_filled(json, "counterexample", proof->counterexample);
    sp_write_key_filled(json, "cases", proof->cases);
    sp_write_key_filled(json, "letters", proof->letters);
    sp_write_key_filled(json, "source", proof->source);
    sp_write_key_filled(json, "correction", proof->correction);
    sp_write_key_bool(json, "erratum", proof->erratum);
    sp_write_key_bool(json, "as_expected", proof->as_expected);
    if (proof->verdict == SHAPEPROOF_TESTED) {
        sp_write_key_number(json, "points", proof->points);
        sp_write_key_number(json, "disagreed", 0); /* one would refute the claim */
        sp_write_key_number(json, "untried", proof->untried);
    }
    sp_write_key_string(json, "file", proof->file);
    sp_write_key_number(json, "line", proof->line);
    if (proof->steps) {
        sp_write_key_open(json, "steps", '[');
        for (size_t i = 0; i < proof->step_count; i++) sp_write_string(json, proof->steps[i]);
        sp_write_close(json);
    }
    sp_write_close(json);
}

static void json_figure(struct sp_writer *json, const struct shapeproof_figure *figure)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "model", figure->model);
    sp_write_key_string(json, "printed", figure->printed);
    sp_write_key_string(json, "of", figure->of);
    sp_write_key_string(json, "verdict", shapeproof_verdict_on_claim_name(figure->verdict));
    if (figure->verdict != SHAPEPROOF_UNDECIDED) {
        sp_write_key_number(json, "predicted", figure->total);
        sp_write_key_number(json, "counted", figure->counted);
    }
    sp_write_key_filled(json, "convention", figure->convention);
    sp_write_key_filled(json, "why", figure->why);
    sp_write_key_filled(json, "right", figure->right);
    sp_write_key_string(json, "source", figure->source);
    sp_write_key_filled(json, "at", figure->at);
    sp_write_key_filled(json, "note", figure->note);
    sp_write_close(json);
}

static void prove_json(const struct shapeproof_proofs *proofs, const struct shapeproof_figures *figures,
                       struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.prove/1");
    sp_write_key_open(&json, "claims", '[');
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) json_proof(&json, shapeproof_proofs_get(proofs, i));
    sp_write_close(&json);
    if (figures) {
        sp_write_key_open(&json, "figures", '[');
        for (size_t i = 0; i < shapeproof_figures_count(figures); i++)
            json_figure(&json, shapeproof_figures_get(figures, i));
        sp_write_close(&json);
    }
    sp_write_close(&json);
}

static const struct {
    const char *word;
    enum sp_color color;
} verdicts[] = {[SHAPEPROOF_PROVED] = {"PROVED", SP_COLOR_GREEN},
                [SHAPEPROOF_REFUTED] = {"REFUTED", SP_COLOR_RED},
                [SHAPEPROOF_TESTED] = {"TESTED", SP_COLOR_YELLOW},
                [SHAPEPROOF_UNDECIDED] = {"UNDECIDED", SP_COLOR_RED}};

/* A line below the claim, below its first word; nothing when there is nothing to say. */
static void put_detail(struct sp_text *text, const char *label, const char *detail)
{
    if (!detail || !*detail) return;
    sp_text_puts(text, "             ");
    sp_text_puts(text, label);
    sp_put_visible(text, detail);
    sp_text_puts(text, "\n");
}

/*   REFUTED    claim total = V*E, and below it why, where, and who said so. */
void sp_put_proof(const struct shapeproof_proof *proof, struct sp_text *text, bool color)
{
    enum { VERDICT_COLUMNS = 11 };
    const char *word = verdicts[proof->verdict].word;
    const bool is_known_erratum = proof->as_expected && proof->verdict == SHAPEPROOF_REFUTED;
    sp_text_puts(text, "  ");
    sp_color_puts(text, color, is_known_erratum ? SP_COLOR_YELLOW : verdicts[proof->verdict].color, word);
    sp_text_pad(text, VERDICT_COLUMNS - strlen(word));
    sp_put_visible(text, proof->claim);
    sp_text_puts(text, "\n");
    put_detail(text, "given ", proof->given);
    if (proof->verdict == SHAPEPROOF_TESTED)
        sp_text_printf(text, "             agreed at %zu points, disagreed at 0, %zu could not be tried\n",
                       proof->points, proof->untried);
    put_detail(text, "", proof->difference);
    put_detail(text, "at ", proof->counterexample);
    put_detail(text, "", proof->cases);
    put_detail(text, "where ", proof->letters);
    for (size_t i = 0; i < proof->step_count; i++) put_detail(text, "| ", proof->steps[i]);
    put_detail(text, "source: ", proof->source);
    put_detail(text, "correct: ", proof->correction);
    if (proof->erratum && !proof->as_expected) put_detail(text, "", "marked as an erratum, and not refuted");
}

/* "3 claims: 1 proved, 2 refuted (1 known errata), 0 tested, 0 undecided; 1 not as expected" */
static void put_counts(const struct shapeproof_proofs *proofs, struct sp_text *text)
{
    size_t counts[sizeof verdicts / sizeof *verdicts] = {0}; /* by verdict */
    size_t errata = 0, surprises = 0;
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        counts[proof->verdict]++;
        errata += proof->erratum && proof->as_expected;
        surprises += !proof->as_expected;
    }
    sp_put_count(text, shapeproof_proofs_count(proofs), "claim", "claims");
    sp_text_printf(text, ": %zu proved, %zu refuted (%zu known errata), %zu tested, %zu undecided",
                   counts[SHAPEPROOF_PROVED], counts[SHAPEPROOF_REFUTED], errata, counts[SHAPEPROOF_TESTED],
                   counts[SHAPEPROOF_UNDECIDED]);
    sp_text_printf(text, surprises ? "; %zu not as expected\n" : "\n", surprises);
}

/* The claims table by table, without those that are as expected unless all are wanted; then how many of each verdict
 * there are. */
static void prove_text(const struct shapeproof_proofs *proofs, struct sp_text *text,
                       const struct shapeproof_report_options *options)
{
    const char *table = "";
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        if (proof->as_expected && !options->all) continue;
        if (strcmp(table, proof->table) != 0) {
            table = proof->table;
            sp_color_puts(text, options->color, SP_COLOR_BOLD, table);
            sp_text_puts(text, "\n");
        }
        sp_put_proof(proof, text, options->color);
    }
    if (*table) sp_text_puts(text, "\n");
    put_counts(proofs, text);
}

/* ---- figures ---- */

/* What is said of a figure behind its number: by which convention it is right, or why it is wrong. */
static void put_remark(struct sp_text *cell, const struct shapeproof_figure *figure)
{
    sp_put_visible(cell, *figure->convention ? figure->convention : figure->why);
    if (figure->verdict == SHAPEPROOF_REFUTED && *figure->note) {
        sp_text_puts(cell, "; ");
        sp_put_visible(cell, figure->note);
    }
}

/* Appends a row for the figure. */
static void put_figure(struct sp_table *table, const struct shapeproof_figure *figure)
{
    const bool is_total = strcmp(figure->of, "total") == 0;
    sp_text_puts(sp_table_cell(table), verdicts[figure->verdict].word);
    sp_table_color(table, figure->verdict == SHAPEPROOF_REFUTED ? SP_COLOR_YELLOW : verdicts[figure->verdict].color);
    sp_put_visible(sp_table_cell(table), figure->model);
    sp_put_visible(sp_table_cell(table), is_total ? "" : figure->of);
    sp_put_visible(sp_table_cell(table), figure->printed);
    struct sp_text *number = sp_table_cell(table);
    if (figure->verdict != SHAPEPROOF_UNDECIDED) sp_text_grouped(number, figure->counted);
    sp_put_visible(sp_table_cell(table), figure->at);
    put_remark(sp_table_cell(table), figure);
}

/* The name of a publication, above its figures. */
static void put_source(struct sp_text *text, const char *source, const struct shapeproof_report_options *options)
{
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        sp_text_puts(text, "\n");
        sp_markdown_heading(text, source);
        return;
    }
    sp_color_begin(text, options->color, SP_COLOR_BOLD);
    sp_put_visible(text, source);
    sp_color_end(text, options->color, SP_COLOR_BOLD);
    sp_text_puts(text, "\n");
}

/* The figures below the name of their source. */
static void put_sources(const struct shapeproof_figures *figures, struct sp_text *text,
                        const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{"verdict", SP_LEFT},  {"model", SP_LEFT},    {"of", SP_LEFT},
                                               {"printed", SP_RIGHT}, {"counted", SP_RIGHT}, {"at", SP_LEFT},
                                               {"remark", SP_LEFT}};
    const size_t count = shapeproof_figures_count(figures);
    const bool is_markdown = options->format == SHAPEPROOF_REPORT_MARKDOWN;
    for (size_t i = 0; i < count;) {
        const char *source = shapeproof_figures_get(figures, i)->source;
        struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
        put_source(text, source, options);
        for (; i < count && strcmp(shapeproof_figures_get(figures, i)->source, source) == 0; i++)
            put_figure(&table, shapeproof_figures_get(figures, i));
        sp_table_render(&table, text, options);
        if (!is_markdown) sp_text_puts(text, "\n");
    }
}

/* "430 figures: 330 proved (40 by another convention), 100 refuted, 0 undecided" */
static void put_figure_counts(const struct shapeproof_figures *figures, struct sp_text *text)
{
    size_t counts[sizeof verdicts / sizeof *verdicts] = {0}, conventions = 0;
    for (size_t i = 0; i < shapeproof_figures_count(figures); i++) {
        const struct shapeproof_figure *figure = shapeproof_figures_get(figures, i);
        counts[figure->verdict]++;
        conventions += *figure->convention != '\0';
    }
    sp_put_count(text, shapeproof_figures_count(figures), "printed figure", "printed figures");
    sp_text_printf(text, ": %zu proved (%zu by a convention), %zu refuted, %zu undecided\n", counts[SHAPEPROOF_PROVED],
                   conventions, counts[SHAPEPROOF_REFUTED], counts[SHAPEPROOF_UNDECIDED]);
}

/* ---- Markdown ---- */

/* Appends a detail of a claim to the cell, behind a semicolon if there is one before it. */
static void put_cell_detail(struct sp_text *cell, size_t begin, const char *label, const char *detail)
{
    if (!detail || !*detail) return;
    sp_text_printf(cell, "%s%s", cell->length > begin ? "; " : "", label);
    sp_put_visible(cell, detail);
}

/* What put_proof says below a claim. */
static void put_details(struct sp_text *cell, const struct shapeproof_proof *proof)
{
    const size_t begin = cell->length;
    put_cell_detail(cell, begin, "given ", proof->given);
    if (proof->verdict == SHAPEPROOF_TESTED)
        sp_text_printf(cell, "%sagreed at %zu points, %zu could not be tried", cell->length > begin ? "; " : "",
                       proof->points, proof->untried);
    put_cell_detail(cell, begin, "", proof->difference);
    put_cell_detail(cell, begin, "at ", proof->counterexample);
    put_cell_detail(cell, begin, "", proof->cases);
    put_cell_detail(cell, begin, "where ", proof->letters);
    for (size_t i = 0; i < proof->step_count; i++) put_cell_detail(cell, begin, "", proof->steps[i]);
    put_cell_detail(cell, begin, "source: ", proof->source);
    put_cell_detail(cell, begin, "correct: ", proof->correction);
    if (proof->erratum && !proof->as_expected)
        put_cell_detail(cell, begin, "", "marked as an erratum, and not refuted");
}

/* How many claims, and how many figures, have which verdict; then the claims that text lists; then the figures. */
static void prove_markdown(const struct shapeproof_proofs *proofs, const struct shapeproof_figures *figures,
                           struct sp_text *text, const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {
        {"table", SP_LEFT}, {"verdict", SP_LEFT}, {"claim", SP_LEFT}, {"details", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    size_t begin = text->length;
    put_counts(proofs, text);
    sp_markdown_line(text, begin);
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        if (proof->as_expected && !options->all) continue;
        sp_put_visible(sp_table_cell(&table), proof->table);
        sp_text_puts(sp_table_cell(&table), verdicts[proof->verdict].word);
        sp_put_visible(sp_table_cell(&table), proof->claim);
        put_details(sp_table_cell(&table), proof);
    }
    if (table.count) sp_text_puts(text, "\n");
    sp_table_render(&table, text, options);
    if (!figures) return;
    sp_text_puts(text, "\n");
    begin = text->length;
    put_figure_counts(figures, text);
    sp_markdown_line(text, begin);
    if (options->all) put_sources(figures, text, options);
}

/* ---- CSV ---- */

/* A row for each claim, as JSON has them. */
static void prove_csv(const struct shapeproof_proofs *proofs, struct sp_text *text)
{
    static const char *const titles[] = {"table",      "claim",          "verdict", "as_expected", "erratum", "given",
                                         "difference", "counterexample", "cases",   "source",      "file",    "line",
                                         NULL};
    struct sp_csv csv = {.text = text};
    sp_csv_heading(&csv, titles);
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        sp_csv_field(&csv, proof->table);
        sp_csv_field(&csv, proof->claim);
        sp_csv_field(&csv, shapeproof_verdict_on_claim_name(proof->verdict));
        sp_csv_field(&csv, proof->as_expected ? "true" : "false");
        sp_csv_field(&csv, proof->erratum ? "true" : "false");
        sp_csv_field(&csv, proof->given);
        sp_csv_field(&csv, proof->difference);
        sp_csv_field(&csv, proof->counterexample);
        sp_csv_field(&csv, proof->cases);
        sp_csv_field(&csv, proof->source);
        sp_csv_field(&csv, proof->file);
        sp_csv_number(&csv, proof->line);
        sp_csv_end_row(&csv);
    }
}

char *shapeproof_report_book(const struct shapeproof_proofs *proofs, const struct shapeproof_figures *figures,
                             const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) {
        prove_json(proofs, figures, &text);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_SARIF || options->format == SHAPEPROOF_REPORT_JUNIT) {
        sp_ci_proofs(&text, proofs, figures, options);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        prove_markdown(proofs, figures, &text, options);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_CSV) {
        prove_csv(proofs, &text);
        return sp_text_take(&text, length);
    }
    if (figures && options->all) put_sources(figures, &text, options);
    prove_text(proofs, &text, options);
    if (figures) put_figure_counts(figures, &text);
    return sp_text_take(&text, length);
}

char *shapeproof_report_prove(const struct shapeproof_proofs *proofs, const struct shapeproof_report_options *options,
                              size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    return shapeproof_report_book(proofs, NULL, options, length);
}
