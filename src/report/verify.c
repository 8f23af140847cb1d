/* SPDX-License-Identifier: MIT
 * Claims against a checkpoint: the groups of its table with what is stored of them, then the claims. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/json_write.h"
#include "report/ci.h"
#include "report/common.h"
#include "report/csv.h"
#include "report/html/html.h"
#include "report/markdown.h"
#include "report/table.h"
#include "report/verify.h"
#include "report/wrap.h"
#include "shapeproof/report.h"

/* ---- JSON: shapeproof.verify/1 ---- */

/* A whole number as a number, another fraction as a text. */
static void json_fraction(struct sp_writer *json, const char *key, struct shapeproof_fraction value)
{
    char text[48];
    if (!value.denominator) return;
    snprintf(text, sizeof text, "%" PRId64 "/%" PRId64, value.numerator, value.denominator);
    if (value.denominator != 1) {
        sp_write_key_string(json, key, text);
        return;
    }
    *strchr(text, '/') = '\0';
    sp_write_key(json, key);
    sp_write_raw(json, text);
}

static void json_whole(struct sp_writer *json, const char *key, int64_t number)
{
    json_fraction(json, key, (struct shapeproof_fraction){number, 1});
}

/* One group: formula and predicted parameters; if there is a file, also what it stores and what makes the difference. A
 * group without a name is what the file has and the table does not. */
static void json_group(struct sp_writer *json, const struct shapeproof_stored_group *group, bool is_of_file)
{
    sp_write_open_line(json, '{');
    if (group->name) sp_write_key_string(json, "group", group->name);
    sp_write_key_bool(json, "in_table", group->name != NULL);
    sp_write_key_optional(json, "formula", group->formula);
    sp_write_key_number(json, "predicted", group->predicted);
    if (!is_of_file) {
        sp_write_close(json);
        return;
    }
    sp_write_key_number(json, "stored", group->stored);
    sp_write_key_open(json, "deviations", '[');
    for (size_t i = 0; i < group->deviation_count; i++) {
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "kind", shapeproof_deviation_name(group->deviations[i].kind));
        json_whole(json, "parameters", group->deviations[i].parameters);
        sp_write_key_string(json, "term", group->deviations[i].term);
        sp_write_key_string(json, "names", group->deviations[i].names);
        sp_write_close(json);
    }
    sp_write_close(json);
    sp_write_close(json);
}

/* Whether a claim is about a table; otherwise it is about a checkpoint alone. */
static bool is_about_table(const struct shapeproof_verified_claim *claim)
{
    return strcmp(claim->proof->table, "checkpoint") != 0;
}

/* A claim that is refuted without a counter-example is judged at the defaults of the table, as `approx` and `rounds to`
 * are: what it differs by there says nothing of these values. */
static bool differs_in_general(const struct shapeproof_proof *proof)
{
    return proof->verdict != SHAPEPROOF_REFUTED || proof->counterexample;
}

/* One claim: its three numbers, the difference, and whether it is proved for the table. */
static void json_claim(struct sp_writer *json, const struct shapeproof_verified_claim *claim)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "claim", claim->proof->claim);
    sp_write_key_filled(json, "given", claim->proof->given);
    sp_write_key_string(json, "answer", shapeproof_claim_answer_name(claim->answer));
    sp_write_key_optional(json, "why", claim->why);
    json_fraction(json, "formula", claim->formula);
    json_fraction(json, "predicted", claim->predicted);
    json_fraction(json, "stored", claim->stored);
    sp_write_key_optional(json, "difference", claim->difference);
    if (is_about_table(claim)) {
        sp_write_key_string(json, "verdict", shapeproof_verdict_on_claim_name(claim->proof->verdict));
        sp_write_key_optional(json, "premises", claim->premises);
        if (differs_in_general(claim->proof)) sp_write_key_filled(json, "table_difference", claim->proof->difference);
    }
    sp_write_key_bool(json, "erratum", claim->proof->erratum);
    sp_write_key_filled(json, "source", claim->proof->source);
    sp_write_key_string(json, "file", claim->proof->file);
    sp_write_key_number(json, "line", claim->proof->line);
    sp_write_close(json);
}

void sp_json_claims(struct sp_writer *json, const struct shapeproof_verification *verification)
{
    sp_write_key_open(json, "claims", '[');
    for (size_t i = 0; i < shapeproof_verification_claim_count(verification); i++)
        json_claim(json, shapeproof_verification_claim(verification, i));
    sp_write_close(json);
}

/* The document of `prove --checkpoint --json`: values of the symbols, groups, what is not counted, claims. */
static void verify_json(const struct shapeproof_verification *verification,
                        const struct shapeproof_report_verify_options *options, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.verify/1");
    if (!options->groups)
        sp_write_key_string(&json, "verdict",
                            shapeproof_claim_answer_name(shapeproof_verification_answer(verification)));
    sp_write_key_optional(&json, "checkpoint", options->path);
    if (shapeproof_verification_prediction(verification))
        sp_write_key_string(&json, "table",
                            shapeproof_prediction_table(shapeproof_verification_prediction(verification)));
    sp_write_key_optional(&json, "letters", options->letters);
    if (options->inference) {
        sp_write_key_open_line(&json, "guessed", '[');
        for (size_t i = 0; i < shapeproof_inference_undetermined_count(options->inference); i++)
            sp_write_string(&json, shapeproof_inference_undetermined(options->inference, i));
        sp_write_close(&json);
    }
    sp_write_key_open(&json, "values", '[');
    for (size_t i = 0; i < shapeproof_verification_value_count(verification); i++) {
        const struct shapeproof_named_value *value = shapeproof_verification_value(verification, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "symbol", value->name);
        sp_write_key_filled(&json, "key", value->key);
        json_fraction(&json, "value", value->value);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "groups", '[');
    for (size_t i = 0; i < shapeproof_verification_group_count(verification); i++)
        json_group(&json, shapeproof_verification_group(verification, i),
                   shapeproof_verification_inventory(verification) != NULL);
    sp_write_close(&json);
    sp_write_key_open(&json, "not_counted", '[');
    for (size_t i = 0; i < shapeproof_verification_uncounted_count(verification); i++) {
        const struct shapeproof_uncounted *uncounted = shapeproof_verification_uncounted(verification, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "what", uncounted->what);
        sp_write_key_number(&json, "tensors", uncounted->tensors);
        sp_write_key_number(&json, "elements", uncounted->elements);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    if (!options->groups) sp_json_claims(&json, verification);
    sp_write_close(&json);
}

/* ---- text ---- */

void sp_put_signed(struct sp_text *text, int64_t number)
{
    sp_text_puts(text, number < 0 ? "-" : "+");
    sp_text_grouped(text, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* Where the value of a key is from; nothing where the table takes it from other keys. */
static struct sp_text said_where(const struct shapeproof_prediction *prediction, const char *key)
{
    struct sp_text where = {0};
    sp_text_puts(&where, "");
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        const bool usual =
            hyper->from.source == SHAPEPROOF_SOURCE_DEFAULT || hyper->value.type == SHAPEPROOF_VALUE_NULL;
        if (strcmp(hyper->name, key) != 0) continue;
        if (usual) sp_text_puts(&where, "default");
        else sp_put_provenance(&where, hyper->from);
    }
    return where;
}

/* "E = 16", and behind the last value from one place that place: "E = 16 (config.json)". */
static void put_value(const struct shapeproof_verification *verification, size_t index, struct sp_text *text)
{
    const struct shapeproof_prediction *prediction = shapeproof_verification_prediction(verification);
    const struct shapeproof_named_value *value = shapeproof_verification_value(verification, index);
    const bool last = index + 1 == shapeproof_verification_value_count(verification);
    struct sp_text where = said_where(prediction, value->key), next = {0};
    if (!last) next = said_where(prediction, shapeproof_verification_value(verification, index + 1)->key);
    sp_put_visible(text, value->name);
    sp_text_puts(text, " = ");
    sp_put_fraction(text, value->value);
    if (where.length && (last || strcmp(where.data, next.data) != 0)) sp_text_printf(text, " (%s)", where.data);
    if (!last) sp_text_puts(text, ",");
    sp_text_free(&where);
    sp_text_free(&next);
}

/* In lines that end between two values. */
static void put_values(const struct shapeproof_verification *verification, struct sp_text *text)
{
    size_t columns = 0;
    for (size_t i = 0; i < shapeproof_verification_value_count(verification); i++) {
        struct sp_text value = {0};
        put_value(verification, i, &value);
        const size_t more = 1 + sp_text_columns(value.data, value.length);
        if (!i || columns + more > SP_LINE_COLUMNS) {
            sp_text_puts(text, i ? "\n  " : "  ");
            columns = 1 + more;
        } else {
            sp_text_puts(text, " ");
            columns += more;
        }
        sp_text_append(text, value.data, value.length);
        sp_text_free(&value);
    }
    sp_text_puts(text, "\n");
}

/* Values that were inferred, and that others could stand for. */
static void put_undetermined(const struct shapeproof_inference *inference, struct sp_text *text)
{
    const size_t begin = text->length, count = inference ? shapeproof_inference_undetermined_count(inference) : 0;
    if (!count) return;
    sp_text_puts(text, "  guessed, since the file does not decide them: ");
    for (size_t i = 0; i < count; i++) {
        if (i) sp_text_puts(text, ", ");
        sp_put_visible(text, shapeproof_inference_undetermined(inference, i));
    }
    sp_text_puts(text, "\n");
    sp_wrap(text, begin, 4);
}

/* "table gpt2"; without a table the number of tensors and parameters. */
static void put_subject(const struct shapeproof_verification *verification, struct sp_text *text)
{
    const struct shapeproof_prediction *prediction = shapeproof_verification_prediction(verification);
    if (prediction) {
        sp_text_puts(text, "table ");
        sp_put_visible(text, shapeproof_prediction_table(prediction));
    } else {
        const struct shapeproof_totals *totals =
            shapeproof_inventory_totals(shapeproof_verification_inventory(verification));
        sp_put_count(text, totals->tensors, "tensor", "tensors");
        sp_text_puts(text, ", ");
        sp_put_count(text, totals->unique_parameters, "parameter", "parameters");
    }
    sp_text_puts(text, "\n");
}

static void put_letters(const char *letters, struct sp_text *text)
{
    if (!letters) return;
    sp_text_puts(text, "  in the claims ");
    sp_put_visible(text, letters);
    sp_text_puts(text, ", as usual in publications\n");
}

/* The first lines of the report: checkpoint, table and values. */
static void put_heading(const struct shapeproof_verification *verification,
                        const struct shapeproof_report_verify_options *options, struct sp_text *text)
{
    if (options->path) sp_put_visible(text, options->path), sp_text_puts(text, ": ");
    put_subject(verification, text);
    if (shapeproof_verification_prediction(verification)) put_values(verification, text);
    put_undetermined(options->inference, text);
    put_letters(options->letters, text);
}

const char *sp_deviation_words(enum shapeproof_deviation_kind kind)
{
    static const char *const words[] = {"missing", "stored although tied", "of another shape", "not predicted"};
    return words[kind];
}

const char *sp_deviation_term(const struct shapeproof_deviation *deviation)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, deviation->parameters);
    return strcmp(deviation->term, number) != 0 ? deviation->term : NULL;
}

void sp_put_stored_group(struct sp_text *text, const struct shapeproof_stored_group *group)
{
    if (group->name) sp_put_visible(text, *group->name ? group->name : "tensors");
    else sp_text_puts(text, "not predicted");
}

/* A group of the table stands in brackets. */
static void put_group_name(struct sp_text *text, const struct shapeproof_stored_group *group)
{
    if (group->name) sp_text_puts(text, "[");
    sp_put_stored_group(text, group);
    if (group->name) sp_text_puts(text, "]");
}

/* Without a file what is stored is left empty. */
static void put_group(struct sp_table *table, const struct shapeproof_stored_group *group, bool is_of_file)
{
    put_group_name(sp_table_cell(table), group);
    struct sp_text *cell = sp_table_cell(table);
    if (group->formula) sp_put_visible(cell, group->formula);
    sp_text_grouped(sp_table_cell(table), group->predicted);
    cell = sp_table_cell(table);
    if (is_of_file) sp_text_grouped(cell, group->stored);
    const bool differs = group->stored != group->predicted;
    if (differs) sp_table_color(table, SP_COLOR_YELLOW);
    cell = sp_table_cell(table);
    if (differs) sp_put_signed(cell, (int64_t)(group->stored - group->predicted));
}

/* [attention] -96 = -3*E*N: h.{0-1}.attn.c_attn.bias is missing */
static void put_deviation(struct sp_text *text, const struct shapeproof_stored_group *group,
                          const struct shapeproof_deviation *deviation)
{
    const size_t begin = text->length;
    const char *term = sp_deviation_term(deviation);
    put_group_name(text, group);
    sp_text_puts(text, " ");
    sp_put_signed(text, deviation->parameters);
    if (term) {
        sp_text_puts(text, " = ");
        sp_put_visible(text, term);
    }
    sp_text_printf(text, ", %s: ", sp_deviation_words(deviation->kind));
    sp_put_visible(text, deviation->names);
    sp_text_puts(text, "\n");
    sp_wrap(text, begin, 2);
}

static void put_deviations(const struct shapeproof_verification *verification, struct sp_text *text)
{
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_verification_group_count(verification); i++) {
        const struct shapeproof_stored_group *group = shapeproof_verification_group(verification, i);
        for (size_t k = 0; k < group->deviation_count; k++, count++) {
            if (!count) sp_text_puts(text, "\n");
            put_deviation(text, group, &group->deviations[k]);
        }
    }
}

void sp_put_uncounted(struct sp_text *text, const struct shapeproof_uncounted *uncounted)
{
    sp_text_printf(text, "%s, ", uncounted->what);
    sp_put_count(text, uncounted->tensors, "tensor", "tensors");
    sp_text_puts(text, " with ");
    sp_put_count(text, uncounted->elements, "element", "elements");
}

static void put_group_table(const struct shapeproof_verification *verification, struct sp_text *text,
                            const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {
        {"group", SP_LEFT}, {"formula", SP_LEFT}, {"predicted", SP_RIGHT}, {"stored", SP_RIGHT}, {"", SP_RIGHT}};
    struct sp_table table = {.columns = columns, .column_count = 5};
    for (size_t i = 0; i < shapeproof_verification_group_count(verification); i++)
        put_group(&table, shapeproof_verification_group(verification, i),
                  shapeproof_verification_inventory(verification) != NULL);
    sp_table_render(&table, text, options);
}

static void put_uncounted_line(struct sp_text *text, const struct shapeproof_uncounted *uncounted)
{
    sp_text_puts(text, "not counted: ");
    sp_put_uncounted(text, uncounted);
    sp_text_puts(text, "\n");
}

/* The table of the groups, then what is stored and belongs to none of them, then why stored and predicted differ. */
static void put_groups(const struct shapeproof_verification *verification, struct sp_text *text,
                       const struct shapeproof_report_options *options)
{
    put_group_table(verification, text, options);
    for (size_t i = 0; i < shapeproof_verification_uncounted_count(verification); i++)
        put_uncounted_line(text, shapeproof_verification_uncounted(verification, i));
    put_deviations(verification, text);
}

static const struct {
    const char *word;
    enum sp_color color;
} answers[] = {
    {"HOLDS", SP_COLOR_GREEN}, {"FAILS", SP_COLOR_RED}, {"OTHER", SP_COLOR_DIM}, {"UNKNOWN", SP_COLOR_YELLOW}};

enum sp_color sp_claim_color(enum shapeproof_claim_answer answer) { return answers[answer].color; }

bool sp_claim_is_judged_in_general(const struct shapeproof_verified_claim *claim)
{
    return claim->formula.denominator || claim->proof->verdict == SHAPEPROOF_PROVED;
}

/* PROVED, PROVED when H = 4*E, REFUTED */
static void put_verdict(struct sp_text *text, const struct shapeproof_verified_claim *claim)
{
    static const char *const words[] = {"PROVED", "REFUTED", "TESTED", "UNDECIDED"};
    if (!claim->premises) sp_text_puts(text, words[claim->proof->verdict]);
    else if (!*claim->premises) sp_text_puts(text, "PROVED for this configuration");
    else {
        sp_text_puts(text, "PROVED when ");
        sp_put_visible(text, claim->premises);
    }
}

/* A line below the claim. */
static void put_line(struct sp_text *text, const char *label, const char *line)
{
    const size_t begin = text->length;
    if (!line || !*line) return;
    sp_text_printf(text, "         %s", label);
    sp_put_visible(text, line);
    sp_text_puts(text, "\n");
    sp_wrap(text, begin, 11);
}

/* formula 7,872, table 7,872 (PROVED when H = 4*E), stored 8,800: 928 more = ...; a number whose denominator is 0 is
 * not known and left out, as "stored" is without a checkpoint. */
static void put_numbers(struct sp_text *text, const struct shapeproof_verified_claim *claim)
{
    const size_t begin = text->length;
    if (!claim->stored.denominator && !claim->predicted.denominator) return;
    sp_text_puts(text, "         ");
    if (claim->formula.denominator) {
        sp_text_puts(text, "formula ");
        sp_put_fraction(text, claim->formula);
        sp_text_puts(text, ", ");
    }
    if (claim->predicted.denominator) {
        sp_text_puts(text, "table ");
        sp_put_fraction(text, claim->predicted);
        if (sp_claim_is_judged_in_general(claim)) {
            sp_text_puts(text, " (");
            put_verdict(text, claim);
            sp_text_puts(text, ")");
        }
        if (claim->stored.denominator) sp_text_puts(text, ", ");
    }
    if (claim->stored.denominator) {
        sp_text_puts(text, "stored ");
        sp_put_fraction(text, claim->stored);
    }
    if (claim->difference) {
        sp_text_puts(text, ": ");
        sp_put_visible(text, claim->difference);
    }
    sp_text_puts(text, "\n");
    sp_wrap(text, begin, 11);
}

void sp_put_claim(struct sp_text *text, const struct shapeproof_verified_claim *claim, bool color)
{
    const char *word = answers[claim->answer].word;
    sp_color_puts(text, color, answers[claim->answer].color, word);
    sp_text_pad(text, 9 - strlen(word));
    sp_put_visible(text, claim->proof->claim);
    sp_text_puts(text, "\n");
    put_line(text, "given ", claim->proof->given);
    put_numbers(text, claim);
    put_line(text, "", claim->why);
    if (claim->proof->verdict == SHAPEPROOF_REFUTED && !claim->premises && differs_in_general(claim->proof) &&
        (claim->stored.denominator || claim->predicted.denominator))
        put_line(text, "in general ", claim->proof->difference);
    put_line(text, "source: ", claim->proof->source);
}

bool sp_claim_is_shown(const struct shapeproof_verified_claim *claim, bool all)
{
    return all || (claim->answer != SHAPEPROOF_CLAIM_OTHER && !claim->proof->erratum);
}

/* The last line: how many claims hold, fail, or could not be decided: "5 claims: 3 hold, 1 fails, 1 is a known
 * erratum". Or that there is none. */
void sp_put_claim_totals(const struct shapeproof_verification *verification, struct sp_text *text)
{
    size_t counts[] = {[SHAPEPROOF_CLAIM_HOLDS] = 0,
                       [SHAPEPROOF_CLAIM_FAILS] = 0,
                       [SHAPEPROOF_CLAIM_OTHER] = 0,
                       [SHAPEPROOF_CLAIM_UNKNOWN] = 0};
    size_t errata = 0;
    const size_t count = shapeproof_verification_claim_count(verification);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(verification, i);
        if (claim->proof->erratum) errata++;
        else counts[claim->answer]++;
    }
    if (!count) {
        const struct shapeproof_prediction *prediction = shapeproof_verification_prediction(verification);
        sp_text_puts(text, prediction ? "no claim is about the table '" : "there are no claims for checkpoint\n");
        if (prediction) sp_put_visible(text, shapeproof_prediction_table(prediction)), sp_text_puts(text, "'\n");
        return;
    }
    sp_put_count(text, count, "claim", "claims");
    const char *sign = ": ";
    const struct {
        size_t count;
        const char *one, *many;
    } parts[] = {
        {counts[SHAPEPROOF_CLAIM_HOLDS], "holds", "hold"},
        {counts[SHAPEPROOF_CLAIM_FAILS], "fails", "fail"},
        {counts[SHAPEPROOF_CLAIM_UNKNOWN], "is unknown", "are unknown"},
        {counts[SHAPEPROOF_CLAIM_OTHER], "is about other hyper-parameters", "are about other hyper-parameters"},
        {errata, "is a known erratum", "are known errata"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].count) continue;
        sp_text_printf(text, "%s%zu %s", sign, parts[i].count, parts[i].count == 1 ? parts[i].one : parts[i].many);
        sign = ", ";
    }
    sp_text_puts(text, "\n");
}

void sp_put_claims(struct sp_text *text, const struct shapeproof_verification *verification,
                   const struct shapeproof_report_options *options)
{
    for (size_t i = 0; i < shapeproof_verification_claim_count(verification); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(verification, i);
        if (sp_claim_is_shown(claim, options->all)) sp_put_claim(text, claim, options->color);
    }
    sp_put_claim_totals(verification, text);
}

static void verify_text(const struct shapeproof_verification *verification,
                        const struct shapeproof_report_verify_options *options, struct sp_text *text)
{
    put_heading(verification, options, text);
    sp_text_puts(text, "\n");
    if (shapeproof_verification_prediction(verification)) {
        put_groups(verification, text, &options->report);
        if (!options->groups) sp_text_puts(text, "\n");
    }
    if (!options->groups) sp_put_claims(text, verification, &options->report);
}

/* ---- Markdown ---- */

/* Checkpoint and table, then a paragraph each for the values, for those that were guessed, and for the letters. */
static void put_markdown_heading(const struct shapeproof_verification *verification,
                                 const struct shapeproof_report_verify_options *options, struct sp_text *text)
{
    if (options->path) {
        sp_markdown_code(text, options->path);
        sp_text_puts(text, ": ");
    }
    size_t begin = text->length;
    put_subject(verification, text);
    sp_markdown_paragraph(text, begin);
    begin = text->length;
    if (shapeproof_verification_prediction(verification)) put_values(verification, text);
    sp_markdown_paragraph(text, begin);
    begin = text->length;
    put_undetermined(options->inference, text);
    sp_markdown_paragraph(text, begin);
    begin = text->length;
    put_letters(options->letters, text);
    sp_markdown_paragraph(text, begin);
}

/* A number in a cell; empty if it is not known. */
static void put_fraction_cell(struct sp_table *table, struct shapeproof_fraction value)
{
    struct sp_text *cell = sp_table_cell(table);
    if (value.denominator) sp_put_fraction(cell, value);
}

/* A row for each claim that is shown, then how many there are of each answer. */
static void put_markdown_claims(const struct shapeproof_verification *verification, struct sp_text *text,
                                const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{"answer", SP_LEFT},    {"claim", SP_LEFT},   {"formula", SP_RIGHT},
                                               {"table", SP_RIGHT},    {"stored", SP_RIGHT}, {"difference", SP_LEFT},
                                               {"in general", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (size_t i = 0; i < shapeproof_verification_claim_count(verification); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(verification, i);
        if (!sp_claim_is_shown(claim, options->all)) continue;
        sp_text_puts(sp_table_cell(&table), answers[claim->answer].word);
        sp_put_visible(sp_table_cell(&table), claim->proof->claim);
        put_fraction_cell(&table, claim->formula);
        put_fraction_cell(&table, claim->predicted);
        put_fraction_cell(&table, claim->stored);
        const char *why = claim->difference ? claim->difference : claim->why;
        sp_put_visible(sp_table_cell(&table), why ? why : "");
        struct sp_text *verdict = sp_table_cell(&table);
        if (claim->predicted.denominator && sp_claim_is_judged_in_general(claim)) put_verdict(verdict, claim);
    }
    const bool has_rows = table.count > 0;
    sp_table_render(&table, text, options);
    if (has_rows) sp_text_puts(text, "\n");
    const size_t begin = text->length;
    sp_put_claim_totals(verification, text);
    sp_markdown_line(text, begin);
}

/* Each difference between stored and predicted, as an item of a list. */
static void put_markdown_deviations(const struct shapeproof_verification *verification, struct sp_text *text)
{
    bool is_any = false;
    for (size_t i = 0; i < shapeproof_verification_group_count(verification); i++) {
        const struct shapeproof_stored_group *group = shapeproof_verification_group(verification, i);
        for (size_t k = 0; k < group->deviation_count; k++) {
            const size_t begin = text->length;
            put_deviation(text, group, &group->deviations[k]);
            sp_markdown_item(text, begin);
            is_any = true;
        }
    }
    if (is_any) sp_text_puts(text, "\n");
}

static void verify_markdown(const struct shapeproof_verification *verification,
                            const struct shapeproof_report_verify_options *options, struct sp_text *text)
{
    put_markdown_heading(verification, options, text);
    if (shapeproof_verification_prediction(verification)) {
        put_group_table(verification, text, &options->report);
        sp_text_puts(text, "\n");
        for (size_t i = 0; i < shapeproof_verification_uncounted_count(verification); i++) {
            const size_t begin = text->length;
            put_uncounted_line(text, shapeproof_verification_uncounted(verification, i));
            sp_markdown_paragraph(text, begin);
        }
        put_markdown_deviations(verification, text);
    }
    if (!options->groups) put_markdown_claims(verification, text, &options->report);
    else sp_cut_back(text, text->length - 1); /* the empty line behind the last paragraph */
}

/* ---- CSV ---- */

/* A number in full, or nothing if it is not known. */
static void csv_fraction(struct sp_csv *csv, struct shapeproof_fraction value)
{
    char number[48] = "";
    if (value.denominator == 1) snprintf(number, sizeof number, "%" PRId64, value.numerator);
    else if (value.denominator)
        snprintf(number, sizeof number, "%" PRId64 "/%" PRId64, value.numerator, value.denominator);
    sp_csv_field(csv, number);
}

/* A row for each claim, as JSON has them. */
static void verify_csv(const struct shapeproof_verification *verification,
                       const struct shapeproof_report_verify_options *options, struct sp_text *text)
{
    static const char *const titles[] = {"subject",    "claim", "answer",  "formula", "predicted", "stored",
                                         "difference", "why",   "verdict", "file",    "line",      NULL};
    const struct shapeproof_prediction *prediction = shapeproof_verification_prediction(verification);
    struct sp_csv csv = {.text = text};
    sp_csv_heading(&csv, titles);
    for (size_t i = 0; i < shapeproof_verification_claim_count(verification); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(verification, i);
        sp_csv_field(&csv, options->path ? options->path : prediction ? shapeproof_prediction_table(prediction) : NULL);
        sp_csv_field(&csv, claim->proof->claim);
        sp_csv_field(&csv, shapeproof_claim_answer_name(claim->answer));
        csv_fraction(&csv, claim->formula);
        csv_fraction(&csv, claim->predicted);
        csv_fraction(&csv, claim->stored);
        sp_csv_field(&csv, claim->difference);
        sp_csv_field(&csv, claim->why);
        sp_csv_field(&csv, is_about_table(claim) ? shapeproof_verdict_on_claim_name(claim->proof->verdict) : NULL);
        sp_csv_field(&csv, claim->proof->file);
        sp_csv_number(&csv, claim->proof->line);
        sp_csv_end_row(&csv);
    }
}

char *shapeproof_report_verify(const struct shapeproof_verification *verification,
                               const struct shapeproof_report_verify_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_verify_options plain;
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->report.format == SHAPEPROOF_REPORT_JSON) verify_json(verification, options, &text);
    else if (options->report.format == SHAPEPROOF_REPORT_MARKDOWN) verify_markdown(verification, options, &text);
    else if (options->report.format == SHAPEPROOF_REPORT_CSV) verify_csv(verification, options, &text);
    else if (options->report.format == SHAPEPROOF_REPORT_SARIF || options->report.format == SHAPEPROOF_REPORT_JUNIT)
        sp_ci_verification(&text, verification, options);
    else if (options->report.format == SHAPEPROOF_REPORT_HTML) sp_html_verify(verification, &text, options, false);
    else if (options->report.format == SHAPEPROOF_REPORT_HTML_PART) sp_html_verify(verification, &text, options, true);
    else verify_text(verification, options, &text);
    return sp_text_take(&text, length);
}
