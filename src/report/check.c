/* SPDX-License-Identifier: MIT
 * The result of a check: the verdict in the first line, what was compared, the causes, the findings. */
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/json_write.h"
#include "report/check.h"
#include "report/findings.h"
#include "report/fit.h"
#include "report/html/html.h"
#include "report/inventory.h"
#include "report/prediction.h"
#include "report/table.h"
#include "report/verify.h"
#include "shapeproof/load.h"
#include "shapeproof/report.h"

/* ---- what loaders take ---- */

/* What loaders make of a checkpoint. */

static size_t count_loadings(const struct shapeproof_loadings *loadings)
{
    return loadings ? shapeproof_loading_count(loadings) : 0;
}

/* A row of what is checked for a single loader, below it a table for several. NULL for none. */
static void put_loading_row(struct sp_table *table, const struct shapeproof_loadings *loadings)
{
    if (count_loadings(loadings) == 1)
        sp_put_visible(sp_labelled(table, "loading"), shapeproof_loading(loadings, 0)->message);
}

/* Green for whole, red for refused. */
static enum sp_color answer_color(enum shapeproof_loading_answer answer)
{
    return answer == SHAPEPROOF_LOADING_WHOLE     ? SP_COLOR_GREEN
           : answer == SHAPEPROOF_LOADING_REFUSED ? SP_COLOR_RED
                                                  : SP_COLOR_YELLOW;
}

/* The table of the loaders: what each makes of the file. Only if there are two or more. */
static void put_loading_table(const struct shapeproof_loadings *loadings, struct sp_text *text,
                              const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {
        {"loading", SP_LEFT}, {"", SP_LEFT}, {"new", SP_RIGHT}, {"ignored", SP_RIGHT}, {"", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns, .prose = true};
    const size_t count = count_loadings(loadings);
    if (count < 2) return;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_loading *loading = shapeproof_loading(loadings, i);
        sp_text_puts(sp_table_cell(&table), loading->loader);
        sp_text_puts(sp_table_cell(&table), shapeproof_loading_answer_name(loading->answer));
        sp_table_color(&table, answer_color(loading->answer));
        sp_text_grouped(sp_table_cell(&table), loading->fresh);
        sp_text_grouped(sp_table_cell(&table), loading->ignored);
        sp_put_visible(sp_table_cell(&table), loading->message);
    }
    sp_text_puts(text, "\n");
    sp_table_render(&table, text, options);
}

/* "loads": a list, empty for NULL. */
static void json_loadings(struct sp_writer *json, const struct shapeproof_loadings *loadings)
{
    sp_write_key_open(json, "loads", '[');
    for (size_t i = 0; i < count_loadings(loadings); i++) {
        const struct shapeproof_loading *loading = shapeproof_loading(loadings, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "loader", loading->loader);
        sp_write_key_string(json, "answer", shapeproof_loading_answer_name(loading->answer));
        sp_write_key_number(json, "new", loading->fresh);
        sp_write_key_number(json, "ignored", loading->ignored);
        sp_write_key_number(json, "lost", loading->lost);
        sp_write_key_number(json, "reshaped", loading->reshaped);
        sp_write_key_number(json, "expected", loading->expected);
        sp_write_key_string(json, "message", loading->message);
        sp_write_key_optional(json, "remedy", loading->remedy);
        sp_write_key_bool(json, "decides", loading->decides);
        sp_write_close(json);
    }
    sp_write_close(json);
}

/* ---- JSON: shapeproof.check/1 ---- */

/* "found": what the file holds. */
static void json_found(struct sp_writer *json, const struct shapeproof_check *check)
{
    const struct shapeproof_totals totals = *shapeproof_inventory_totals(shapeproof_check_inventory(check));
    sp_write_key_open_line(json, "found", '{');
    sp_json_totals(json, &totals);
    sp_write_close(json);
}

/* A size that a name or an index declares, and whether it is so. */
static void json_declared(struct sp_writer *json, const struct shapeproof_declared *declared)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "where", declared->where);
    sp_write_key_string(json, "text", declared->text);
    sp_write_key_number(json, declared->bytes ? "bytes" : "parameters", declared->value);
    sp_write_key_bool(json, "agrees", declared->agrees);
    sp_write_key_optional(json, "note", declared->note);
    sp_write_close(json);
}

/* "counts": elements, counted in every way; with what is declared about them. */
static void json_counts(struct sp_writer *json, const struct shapeproof_check *check)
{
    const struct shapeproof_counts counts = *shapeproof_check_counts(check);
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"predicted", counts.predicted}, {"stored", counts.stored}, {"unique", counts.unique},
                   {"logical", counts.logical},     {"copies", counts.copies}, {"buffers", counts.buffers},
                   {"state", counts.state}};
    sp_write_key_open_line(json, "counts", '{');
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sp_write_key_number(json, numbers[i].key, numbers[i].value);
    sp_write_key_open_line(json, "declared", '[');
    for (size_t i = 0; i < shapeproof_check_declared_count(check); i++)
        json_declared(json, shapeproof_check_declared(check, i));
    sp_write_close(json);
    sp_write_close(json);
}

/* The values of a hyper-parameter are JSON already. */
static void json_cause(struct sp_writer *json, const struct shapeproof_cause *cause)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "id", cause->id);
    sp_write_key_string(json, "message", cause->message);
    sp_write_key_optional(json, "hyperparameter", cause->hyperparameter);
    if (cause->configured.type != SHAPEPROOF_VALUE_ABSENT) sp_write_key_value(json, "configured", cause->configured);
    if (cause->found.type != SHAPEPROOF_VALUE_ABSENT) sp_write_key_value(json, "found", cause->found);
    sp_write_key_number(json, "explains", cause->explains);
    sp_write_key_string(json, "severity", shapeproof_severity_name(cause->severity));
    sp_write_key_optional(json, "hint", cause->hint);
    if (cause->patch.type == SHAPEPROOF_VALUE_OBJECT) sp_write_key_value(json, "patch", cause->patch);
    sp_write_close(json);
}

/* The cause by its id: several findings share one. */
static void json_finding(struct sp_writer *json, const struct shapeproof_check *check,
                         const struct shapeproof_finding *finding)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "id", finding->id);
    sp_write_key_string(json, "severity", shapeproof_severity_name(finding->severity));
    sp_write_key_string(json, "name", finding->name);
    sp_write_key_optional(json, "expected", finding->expected);
    sp_write_key_optional(json, "found", finding->found);
    sp_write_key_string(json, "message", finding->message);
    sp_write_key_optional(json, "reason", finding->reason);
    if (finding->cause != SHAPEPROOF_NONE)
        sp_write_key_string(json, "cause", shapeproof_check_cause(check, finding->cause)->id);
    sp_write_close(json);
}

void sp_json_check_members(struct sp_writer *json, const struct shapeproof_check *check,
                           const struct shapeproof_loadings *loadings)
{
    sp_write_key_string(json, "verdict", shapeproof_verdict_name(shapeproof_check_verdict(check)));
    sp_write_key_string(json, "table", shapeproof_prediction_table(shapeproof_check_prediction(check)));
    sp_json_hyperparameters(json, shapeproof_check_prediction(check), NULL);
    sp_json_predicted_totals(json, "predicted", shapeproof_check_prediction(check));
    json_found(json, check);
    json_counts(json, check);
    sp_write_key_open(json, "causes", '[');
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++) json_cause(json, shapeproof_check_cause(check, i));
    sp_write_close(json);
    sp_write_key_open(json, "findings", '[');
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++)
        json_finding(json, check, shapeproof_check_finding(check, i));
    sp_write_close(json);
    if (loadings) json_loadings(json, loadings);
    sp_json_warnings(json, shapeproof_check_inventory(check), shapeproof_check_prediction(check));
    sp_write_key_string(json, "summary", shapeproof_check_summary(check));
    sp_write_key_optional(json, "advice", shapeproof_check_advice(check));
    sp_write_key_string(json, "file", shapeproof_inventory_path(shapeproof_check_inventory(check)));
}

/* ---- text ---- */

enum sp_color sp_verdict_color(enum shapeproof_verdict verdict)
{
    return verdict == SHAPEPROOF_VERDICT_MATCH       ? SP_COLOR_GREEN
           : verdict == SHAPEPROOF_VERDICT_EXPLAINED ? SP_COLOR_YELLOW
                                                     : SP_COLOR_RED;
}

/* The path without the directory that the checkpoint is in, or is. */
static const char *path_beside(const char *path, const char *checkpoint)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    const char *rest = checkpoint + length;
    if (!slash || strncmp(path, checkpoint, length) != 0 || (*rest && (*rest != '/' || strchr(rest + 1, '/'))))
        return path;
    return slash + 1;
}

/* "gpt2, from config.json": the configuration names the table and has the hyper-parameters. "gpt2, with the values of
 * gpt2-xl": a published model. "mine (mine.shapes), with the values of config.json": the table is the user's. */
static void put_table_line(const struct shapeproof_check *check, struct sp_text *cell)
{
    const char *config = shapeproof_config_path(shapeproof_check_config(check));
    const char *file = shapeproof_prediction_table_file(shapeproof_check_prediction(check));
    sp_put_visible(cell, shapeproof_prediction_table(shapeproof_check_prediction(check)));
    if (file) {
        sp_text_puts(cell, " (");
        sp_put_visible(cell, file);
        sp_text_puts(cell, ")");
    }
    const char *model = shapeproof_config_model(shapeproof_check_config(check));
    if (*model) sp_text_printf(cell, ", with the values of %s", model);
    if (!*config) return;
    sp_text_puts(cell, file ? ", with the values of " : ", from ");
    const char *place = shapeproof_config_place(shapeproof_check_config(check));
    sp_put_visible(cell, place);
    if (*place) sp_text_puts(cell, " of ");
    sp_put_visible(cell, path_beside(config, shapeproof_inventory_path(shapeproof_check_inventory(check))));
}

/* ---- the counts: only those that say something ---- */

/* "12 in buffers", behind a comma if there is something before it. */
static void put_share(struct sp_text *note, uint64_t elements, const char *what)
{
    if (!elements) return;
    if (note->length && note->data[note->length - 1] != ' ') sp_text_puts(note, ", ");
    sp_text_grouped(note, elements);
    sp_text_printf(note, " %s", what);
}

/* A row; `note` is emptied. */
static void put_count(struct sp_table *table, const char *label, uint64_t tensors, uint64_t parameters,
                      struct sp_text *note)
{
    sp_text_puts(sp_table_cell(table), label);
    sp_text_grouped(sp_table_cell(table), tensors);
    sp_text_grouped(sp_table_cell(table), parameters);
    sp_text_append(sp_table_cell(table), note->data, note->length);
    note->length = 0;
}

/* A rough size is worth seeing even if it agrees; an exact one is not. */
static void put_declared(struct sp_table *table, const struct shapeproof_declared *declared)
{
    if (declared->exact && declared->agrees && !declared->note) return;
    sp_text_puts(sp_table_cell(table), "declared");
    sp_table_cell(table);
    struct sp_text *cell = sp_table_cell(table);
    if (declared->exact) sp_text_grouped(cell, declared->value);
    else sp_put_visible(cell, declared->text);
    if (declared->bytes) sp_text_puts(cell, " bytes");
    cell = sp_table_cell(table);
    sp_put_visible(cell, declared->where);
    if (declared->note) sp_text_printf(cell, ": %s", declared->note);
    else if (!declared->agrees) sp_text_puts(cell, ": not so");
}

/* The table of counts: "predicted" and "stored", then "unique" and "logical" where they differ from the row above, then
 * what files say of the size. A note behind a row says what it counts. */
static void put_counts(const struct shapeproof_check *check, struct sp_text *text,
                       const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {
        {"counts", SP_LEFT}, {"tensors", SP_RIGHT}, {"parameters", SP_RIGHT}, {"", SP_LEFT}};
    const struct shapeproof_predicted_totals predicted =
        *shapeproof_prediction_totals(shapeproof_check_prediction(check));
    const struct shapeproof_counts *counts = shapeproof_check_counts(check);
    struct sp_table table = {.columns = columns, .column_count = 4, .prose = true};
    struct sp_text note = {0};
    if (predicted.parameters != counts->predicted) put_share(&note, predicted.parameters, "with ties twice");
    put_share(&note, predicted.buffers, "more in buffers");
    put_count(&table, "predicted", counts->predicted_tensors, counts->predicted, &note);
    put_count(&table, "stored", counts->stored_tensors, counts->stored, &note);
    if (counts->unique != counts->stored) {
        sp_text_puts(&note, "each storage once");
        put_count(&table, "unique", counts->unique_tensors, counts->unique, &note);
    }
    if (counts->copies || counts->buffers || counts->state) sp_text_puts(&note, "without ");
    put_share(&note, counts->copies, "in copies of tied tensors");
    put_share(&note, counts->buffers, "in buffers");
    put_share(&note, counts->state, "in the state of a trainer");
    /* packed weights count with what they stand for: otherwise "logical" is "unique" without what is named above */
    if (counts->logical != counts->unique - counts->copies - counts->buffers - counts->state)
        sp_text_puts(&note, note.length ? ", unpacked" : "unpacked");
    if (counts->logical != counts->unique)
        put_count(&table, "logical", counts->logical_tensors, counts->logical, &note);
    for (size_t i = 0; i < shapeproof_check_declared_count(check); i++)
        put_declared(&table, shapeproof_check_declared(check, i));
    sp_text_puts(text, "\n");
    sp_table_render(&table, text, options);
    sp_text_free(&note);
}

/* What was not read, where a directory has more than one that could be. */
static void put_others(const struct shapeproof_check *check, struct sp_text *cell)
{
    const char *beside = shapeproof_inventory_beside(shapeproof_check_inventory(check));
    if (!beside) return;
    sp_text_puts(cell, ", not ");
    sp_put_visible(cell, beside);
}

/* What was compared: the file, and with which table. */
static void put_checkpoint(const struct shapeproof_check *check, struct sp_text *text,
                           const struct shapeproof_report_options *options)
{
    struct sp_table table = sp_label_table();
    struct sp_text *cell = sp_labelled(&table, "checkpoint");
    sp_put_visible(cell, shapeproof_inventory_path(shapeproof_check_inventory(check)));
    sp_text_printf(cell, " (%s)", shapeproof_inventory_format(shapeproof_check_inventory(check)));
    put_others(check, cell);
    put_table_line(check, sp_labelled(&table, "table"));
    sp_put_doubt_rows(&table, "", shapeproof_check_inventory(check));
    put_loading_row(&table, options->loadings);
    sp_table_render(&table, text, options);
}

void sp_put_compared(const struct shapeproof_check *check, struct sp_text *text,
                     const struct shapeproof_report_options *options)
{
    put_checkpoint(check, text, options);
    put_loading_table(options->loadings, text, options);
    put_counts(check, text, options);
}

/* ---- the first line ---- */

enum { FIRST_LINE = 159 };

/* The first loader that does not take the file whole; NULL when there is none. */
static const struct shapeproof_loading *bad_loading(const struct shapeproof_loadings *loadings)
{
    for (size_t i = 0; loadings && i < shapeproof_loading_count(loadings); i++) {
        const struct shapeproof_loading *loading = shapeproof_loading(loadings, i);
        if (loading->answer == SHAPEPROOF_LOADING_IN_PART || loading->answer == SHAPEPROOF_LOADING_REFUSED)
            return loading;
    }
    return NULL;
}

/* Appends it behind a semicolon, the first `length` bytes of a printable text, if there is room. */
static bool put_remark(struct sp_text *line, const char *remark, size_t length)
{
    if (sp_text_columns(line->data, line->length) + 2 + sp_text_columns(remark, length) > FIRST_LINE) return false;
    sp_text_puts(line, "; ");
    sp_text_append(line, remark, length);
    return true;
}

/* Cuts the line before a word, so that there is room for a remark of that length. */
static void make_room(struct sp_text *line, size_t length) { sp_cut_at_word(line, 0, FIRST_LINE - 2 - length); }

/* In a few words: with all of them, or without what goes without saying. */
static void put_briefly(struct sp_text *text, const struct shapeproof_loading *loading, const char *noun)
{
    if (loading->answer == SHAPEPROOF_LOADING_IN_PART && loading->fresh)
        sp_text_printf(text, "%zu of %zu %snew", loading->fresh, loading->expected, noun);
    else sp_text_puts(text, "it does not load whole");
}

/* All that is said of the loading, or as much as there is room for; where causes say what is wrong, no details, and
 * nothing in place of a cause. */
static void put_bad_loading(struct sp_text *line, const struct shapeproof_loading *loading, bool detailed)
{
    struct sp_text message = {0}, brief = {0}, briefest = {0};
    sp_put_visible(&message, loading->message);
    put_briefly(&brief, loading, "tensors ");
    put_briefly(&briefest, loading, "");
    const char *detail = strstr(message.data, ": ");
    const size_t head = detail ? (size_t)(detail - message.data) : message.length;
    if (!(detailed && put_remark(line, message.data, message.length)) && !put_remark(line, message.data, head) &&
        !put_remark(line, brief.data, brief.length)) {
        if (detailed) make_room(line, briefest.length);
        put_remark(line, briefest.data, briefest.length);
    }
    sp_text_free(&message);
    sp_text_free(&brief);
    sp_text_free(&briefest);
}

/* What reassures is left out when there is worse to say. */
static void cut_reassurance(struct sp_text *line)
{
    static const char reassurance[] = "; nothing else differs";
    const size_t size = sizeof reassurance - 1;
    if (line->length < size || strcmp(line->data + line->length - size, reassurance) != 0) return;
    line->length -= size;
    line->data[line->length] = '\0';
}

void sp_put_headline(const struct shapeproof_check *check, const struct shapeproof_loadings *loadings,
                     struct sp_text *line)
{
    const struct shapeproof_loading *bad = bad_loading(loadings);
    sp_text_printf(line, "%s: ", shapeproof_verdict_name(shapeproof_check_verdict(check)));
    sp_put_visible(line, shapeproof_check_headline(check));
    if (!bad) return;
    cut_reassurance(line);
    put_bad_loading(line, bad, shapeproof_check_verdict(check) != SHAPEPROOF_VERDICT_DIFFERS);
}

static void put_first_line(const struct shapeproof_check *check, struct sp_text *text,
                           const struct shapeproof_report_options *options)
{
    struct sp_text line = {0};
    const char *verdict = shapeproof_verdict_name(shapeproof_check_verdict(check));
    sp_put_headline(check, options->loadings, &line);
    sp_color_puts(text, options->color, sp_verdict_color(shapeproof_check_verdict(check)), verdict);
    sp_text_puts(text, line.data + strlen(verdict));
    sp_text_puts(text, "\n\n");
    sp_text_free(&line);
}

void sp_put_check(const struct shapeproof_check *check, struct sp_text *text,
                  const struct shapeproof_report_options *options)
{
    put_first_line(check, text, options);
    sp_put_compared(check, text, options);
    sp_put_causes_and_findings(check, text, options);
    if (options->claims) {
        sp_text_puts(text, "\n");
        sp_put_claims(text, options->claims, options);
    }
    if (options->fit) {
        sp_text_puts(text, "\n");
        sp_put_fit(text, options->fit, options);
    }
}

char *shapeproof_report_check(const struct shapeproof_check *check, const struct shapeproof_report_options *options,
                              size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    SP_BUDGET_REUSE(shapeproof_check_inventory(check));
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) {
        struct sp_writer json = sp_write_document(&text, "shapeproof.check/1");
        sp_json_check_members(&json, check, options->loadings);
        if (options->claims) sp_json_claims(&json, options->claims);
        if (options->fit) {
            sp_write_key_open(&json, "fit", '{');
            sp_json_fit_members(&json, options->fit);
            sp_write_close(&json);
        }
        sp_write_close(&json);
    } else if (options->format == SHAPEPROOF_REPORT_CSV) {
        struct sp_csv csv = {.text = &text};
        sp_csv_check_heading(&csv);
        sp_csv_check(&csv, check);
    } else if (options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        sp_markdown_check(&text, check, options);
    } else if (options->format == SHAPEPROOF_REPORT_HTML) {
        sp_html_check(check, &text, options, false);
    } else {
        sp_put_check(check, &text, options);
    }
    return sp_text_take(&text, length);
}
