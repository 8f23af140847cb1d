/* SPDX-License-Identifier: MIT
 * Runs: the worst verdict, a row for each kind of file in each step, and the reports of the models that differ. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/json_write.h"
#include "base/names.h"
#include "report/common.h"
#include "report/csv.h"
#include "report/markdown.h"
#include "report/table.h"
#include "shapeproof/report.h"

/* ---- what is said of the run as a whole ---- */

/* From best to worst. */
static const char *const verdicts[] = {"match", "explained", "unknown", "differs", "unreadable"};

static size_t rank_of(const char *verdict)
{
    size_t rank = 0;
    while (rank + 1 < sizeof verdicts / sizeof *verdicts && strcmp(verdicts[rank], verdict) != 0) rank++;
    return rank;
}

static size_t count_broken(const struct shapeproof_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_run_file_count(run); i++)
        count += shapeproof_run_file(run, i)->state == SHAPEPROOF_RUN_BROKEN;
    return count;
}

/* The worst verdict of the models; a broken file beside them is a difference. Without a model it is not known. */
static const char *worst_verdict(const struct shapeproof_run *run, const struct shapeproof_run_result *results)
{
    const size_t count = shapeproof_run_model_count(run);
    size_t worst = rank_of(count ? "match" : "unknown");
    for (size_t i = 0; i < count; i++) {
        const size_t rank = rank_of(results[i].verdict);
        if (rank > worst) worst = rank;
    }
    if (count_broken(run) && worst < rank_of("differs")) worst = rank_of("differs");
    return verdicts[worst];
}

static enum sp_color color_of(const char *verdict)
{
    const size_t rank = rank_of(verdict);
    return rank == 0 ? SP_COLOR_GREEN : rank <= rank_of("unknown") ? SP_COLOR_YELLOW : SP_COLOR_RED;
}

/* "all 3 models", or which models have the verdict; behind it those that match and yet do not load whole, and the files
 * that are broken: "1 of 3 models: checkpoint-4; 1 broken file". */
static void put_reason(const struct shapeproof_run *run, const struct shapeproof_run_result *results,
                       const char *verdict, struct sp_text *text)
{
    const size_t count = shapeproof_run_model_count(run), broken = count_broken(run);
    struct sp_names names = {0}, failed = {0};
    for (size_t i = 0; i < count; i++) {
        const char *name = shapeproof_run_model(run, i)->name;
        if (strcmp(results[i].verdict, verdict) == 0) sp_names_add(&names, name);
        if (rank_of(results[i].verdict) <= rank_of("explained") && results[i].status) sp_names_add(&failed, name);
    }
    if (!count) sp_text_puts(text, "no model is in it");
    else if (names.count == count) sp_text_printf(text, count == 1 ? "the one model" : "all %zu models", count);
    else if (names.count) sp_text_printf(text, "%zu of %zu models: %s", names.count, count, sp_names_text(&names));
    if (failed.count)
        sp_text_printf(text, "; %zu %s not load whole: %s", failed.count, failed.count == 1 ? "does" : "do",
                       sp_names_text(&failed));
    if (broken) {
        if (!count || names.count) sp_text_puts(text, "; ");
        sp_put_count(text, broken, "broken file", "broken files");
    }
    sp_names_free(&names);
    sp_names_free(&failed);
}

/* The name of a step, or "not known"; and in brackets how that is known, or why it is not. */
static void put_step(const struct shapeproof_run *run, size_t index, const char *reason, struct sp_text *text)
{
    if (index == SHAPEPROOF_NONE) sp_text_puts(text, "not known");
    else sp_put_visible(text, shapeproof_run_step(run, index)->name);
    if (!*reason) return;
    sp_text_puts(text, " (");
    sp_put_visible(text, reason);
    sp_text_puts(text, ")");
}

static void put_facts(const struct shapeproof_run *run, struct sp_text *text)
{
    sp_text_puts(text, "run   ");
    sp_put_visible(text, shapeproof_run_path(run));
    if (*shapeproof_run_framework(run)) sp_text_printf(text, " (%s)", shapeproof_run_framework(run));
    if (!shapeproof_run_step_count(run)) { /* several adapters */
        sp_text_puts(text, ", no steps\n");
        return;
    }
    sp_text_printf(text, ", ");
    sp_put_count(text, shapeproof_run_step_count(run), "step", "steps");
    sp_text_puts(text, "\nlast  ");
    put_step(run, shapeproof_run_last(run), shapeproof_run_last_reason(run), text);
    if (shapeproof_run_best(run) != SHAPEPROOF_NONE || *shapeproof_run_best_reason(run)) {
        sp_text_puts(text, "\nbest  ");
        put_step(run, shapeproof_run_best(run), shapeproof_run_best_reason(run), text);
    }
    sp_text_puts(text, "\n");
}

/* ---- rows: the files of one kind in one step ---- */

struct row {
    size_t step;
    enum shapeproof_run_kind kind;
    size_t first, end;   /* its files */
    uint32_t holds;      /* what else is in them: 1 << kind */
    const char *verdict; /* of the model; or whether the files are whole */
    const char *reason;
};

static bool has_weights(enum shapeproof_run_kind kind)
{
    return kind == SHAPEPROOF_RUN_MODEL || kind == SHAPEPROOF_RUN_ADAPTER || kind == SHAPEPROOF_RUN_AVERAGE;
}

/* Whether the model is read from this file: it is the file, or a folder that the file is in, and no folder of another
 * model lies between them. */
static bool is_read_from(const struct shapeproof_run_model *model, const char *file)
{
    if (strcmp(model->name, ".") == 0) return true;
    const size_t length = strlen(model->name);
    return strncmp(model->name, file, length) == 0 && (!file[length] || file[length] == '/');
}

/* The first model of the step or of a later one. Models are in the order of their steps, those of no step first. */
static size_t first_model_of(const struct shapeproof_run *run, size_t step)
{
    size_t low = 0, high = shapeproof_run_model_count(run);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (shapeproof_run_model(run, middle)->step + 1 < step + 1) low = middle + 1; /* no step: SIZE_MAX */
        else high = middle;
    }
    return low;
}

/* The model that a file belongs to: the one with the longest name; SHAPEPROOF_NONE when there is none. */
static size_t model_of_file(const struct shapeproof_run *run, const struct shapeproof_run_file *file)
{
    size_t found = SHAPEPROOF_NONE, longest = 0;
    if (!has_weights(file->kind)) return SHAPEPROOF_NONE;
    for (size_t i = first_model_of(run, file->step); i < shapeproof_run_model_count(run); i++) {
        const struct shapeproof_run_model *model = shapeproof_run_model(run, i);
        if (model->step != file->step) break;
        if (!is_read_from(model, file->name) || strlen(model->name) < longest) continue;
        found = i;
        longest = strlen(model->name);
    }
    return found;
}

/* The row that begins with the file at `first`: the next ones of the same step, kind and model. */
static struct row next_row(const struct shapeproof_run *run, const struct shapeproof_run_result *results, size_t first)
{
    const struct shapeproof_run_file *file = shapeproof_run_file(run, first);
    struct row row = {.step = file->step, .kind = file->kind, .first = first, .verdict = "whole", .reason = ""};
    const size_t model = model_of_file(run, file);
    const bool is_unused = file->state == SHAPEPROOF_RUN_UNUSED;
    for (row.end = first; row.end < shapeproof_run_file_count(run); row.end++) {
        const struct shapeproof_run_file *next = shapeproof_run_file(run, row.end);
        if (next->step != row.step || next->kind != row.kind || model_of_file(run, next) != model) break;
        if ((next->state == SHAPEPROOF_RUN_UNUSED) != is_unused) break;
        if (next->state == SHAPEPROOF_RUN_NOT_READ && strcmp(row.verdict, "whole") == 0) row.verdict = "";
        if (next->state != SHAPEPROOF_RUN_BROKEN || strcmp(row.verdict, "broken") == 0) continue;
        row.verdict = "broken";
        row.reason = next->note;
    }
    if (is_unused) {
        row.verdict = "unused";
        row.reason = file->note;
    } else if (model != SHAPEPROOF_NONE) {
        row.holds = shapeproof_run_model(run, model)->holds;
        row.verdict = results[model].verdict;
        row.reason = results[model].reason;
    }
    return row;
}

/* "model", or of a file with more in it "model, optimizer". */
static void put_kinds(const struct row *row, struct sp_text *text)
{
    sp_text_puts(text, shapeproof_run_kind_name(row->kind));
    for (unsigned kind = 0; kind <= SHAPEPROOF_RUN_LOG; kind++)
        if (row->holds & 1u << kind)
            sp_text_printf(text, ", %s", shapeproof_run_kind_name((enum shapeproof_run_kind)kind));
}

/* The names of its files below the step: "model-00001-of-00004.safetensors and 3 more". */
static void put_files(const struct shapeproof_run *run, const struct row *row, struct sp_text *text)
{
    enum { SHOWN = 2 }; /* more hide the state, which is behind them */
    for (size_t i = row->first; i < row->end && i < row->first + SHOWN; i++) {
        const char *name = shapeproof_run_file(run, i)->name;
        if (row->step != SHAPEPROOF_NONE && !shapeproof_run_step(run, row->step)->is_file)
            name += strlen(shapeproof_run_step(run, row->step)->name) + 1;
        else if (row->step != SHAPEPROOF_NONE) name = sp_base_name(name);
        sp_text_puts(text, i > row->first ? ", " : "");
        sp_put_visible(text, name);
    }
    if (row->end - row->first > SHOWN) sp_text_printf(text, " and %zu more", row->end - row->first - SHOWN);
}

static uint64_t bytes_of(const struct shapeproof_run *run, const struct row *row)
{
    uint64_t bytes = 0;
    for (size_t i = row->first; i < row->end; i++) bytes += shapeproof_run_file(run, i)->bytes;
    return bytes;
}

/* What is in the first column of the rows of a step, or of the files of none. */
static void put_step_name(const struct shapeproof_run *run, size_t step, struct sp_text *text)
{
    if (step == SHAPEPROOF_NONE) sp_text_puts(text, ".");
    else sp_put_visible(text, shapeproof_run_step(run, step)->name);
}

static void put_rows(const struct shapeproof_run *run, const struct shapeproof_run_result *results,
                     struct sp_text *text, const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {
        {"step", SP_LEFT}, {"what", SP_LEFT}, {"files", SP_LEFT}, {"size", SP_RIGHT}, {"state", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 5};
    for (size_t i = 0, end; i < shapeproof_run_file_count(run); i = end) {
        const struct row row = next_row(run, results, i);
        end = row.end;
        struct sp_text *step = sp_table_cell(&table);
        if (!i || shapeproof_run_file(run, i - 1)->step != row.step) put_step_name(run, row.step, step);
        put_kinds(&row, sp_table_cell(&table));
        put_files(run, &row, sp_table_cell(&table));
        sp_put_bytes(sp_table_cell(&table), bytes_of(run, &row));
        sp_text_puts(sp_table_cell(&table), row.verdict);
        if (strcmp(row.verdict, "unused") == 0) continue;
        if (has_weights(row.kind) || strcmp(row.verdict, "broken") == 0)
            sp_table_color(&table, strcmp(row.verdict, "broken") == 0 ? SP_COLOR_RED : color_of(row.verdict));
    }
    sp_table_render(&table, text, options);
}

/* ---- why files are broken, and models not checked ---- */

/* A message about a path, or a file in that folder, without the path in front, which the line has already. */
static const char *without_path(const char *message, const char *path)
{
    const size_t length = strlen(path);
    if (strncmp(message, path, length) != 0) return message;
    if (strncmp(message + length, ": ", 2) == 0) return message + length + 2;
    return message[length] == '/' ? message + length + 1 : message;
}

static void put_line(struct sp_text *text, const struct shapeproof_report_options *options, const char *word,
                     const char *names, const char *why)
{
    sp_color_puts(text, options->color, SP_COLOR_RED, word);
    sp_text_puts(text, ": ");
    sp_text_puts(text, names);
    sp_text_puts(text, ": ");
    sp_put_visible(text, why);
    sp_text_puts(text, "\n");
}

/* Why there is no check of a model. */
static const char *fault_of(const struct shapeproof_run *run, const struct shapeproof_run_result *results, size_t model)
{
    return without_path(results[model].reason, shapeproof_run_model(run, model)->path);
}

/* A line for each reason for which models could not be checked, and for each broken file. */
static void put_faults(const struct shapeproof_run *run, const struct shapeproof_run_result *results,
                       struct sp_text *text, const struct shapeproof_report_options *options)
{
    const size_t begin = text->length, count = shapeproof_run_model_count(run);
    bool *said = sp_realloc(NULL, count + 1, sizeof *said);
    memset(said, 0, (count + 1) * sizeof *said);
    sp_text_puts(text, "\n");
    for (size_t i = 0; i < count; i++) {
        struct sp_names names = {0};
        if (said[i] || (results[i].report && *results[i].report)) continue;
        for (size_t k = i; k < count; k++) {
            if (results[k].report && *results[k].report) continue;
            if (strcmp(fault_of(run, results, i), fault_of(run, results, k)) != 0) continue;
            said[k] = true;
            sp_names_add(&names, shapeproof_run_model(run, k)->name);
        }
        put_line(text, options, results[i].verdict, sp_names_text(&names), fault_of(run, results, i));
        sp_names_free(&names);
    }
    sp_free(said);
    for (size_t i = 0; i < shapeproof_run_file_count(run); i++) {
        const struct shapeproof_run_file *file = shapeproof_run_file(run, i);
        if (file->state == SHAPEPROOF_RUN_BROKEN)
            put_line(text, options, "broken", sp_quote(file->name).text, file->note);
    }
    if (text->length == begin + 1) text->data[text->length = begin] = '\0';
}

/* The word for a state; "" if nothing is known. */
static const char *name_of_state(enum shapeproof_run_state state)
{
    static const char *const names[] = {"", "whole", "broken", "unused"};
    return names[state];
}

/* ---- JSON: shapeproof.run/1 ---- */

static void json_step(struct sp_writer *json, const char *key, const struct shapeproof_run *run, size_t index)
{
    sp_write_key_optional(json, key, index == SHAPEPROOF_NONE ? NULL : shapeproof_run_step(run, index)->name);
}

static void json_run(const struct shapeproof_run *run, const struct shapeproof_run_result *results,
                     struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.run/1");
    sp_write_key_string(&json, "verdict", worst_verdict(run, results));
    sp_write_key_string(&json, "file", shapeproof_run_path(run));
    sp_write_key_filled(&json, "framework", shapeproof_run_framework(run));
    json_step(&json, "last", run, shapeproof_run_last(run));
    sp_write_key_filled(&json, "last_reason", shapeproof_run_last_reason(run));
    json_step(&json, "best", run, shapeproof_run_best(run));
    sp_write_key_filled(&json, "best_reason", shapeproof_run_best_reason(run));
    sp_write_key_open(&json, "steps", '[');
    for (size_t i = 0; i < shapeproof_run_step_count(run); i++) {
        const struct shapeproof_run_step *step = shapeproof_run_step(run, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", step->name);
        if (step->number != SHAPEPROOF_NONE) sp_write_key_number(&json, "number", step->number);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "files", '[');
    for (size_t i = 0; i < shapeproof_run_file_count(run); i++) {
        const struct shapeproof_run_file *file = shapeproof_run_file(run, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", file->name);
        sp_write_key_string(&json, "what", shapeproof_run_kind_name(file->kind));
        json_step(&json, "step", run, file->step);
        sp_write_key_number(&json, "bytes", file->bytes);
        if (!has_weights(file->kind) || file->state == SHAPEPROOF_RUN_UNUSED)
            sp_write_key_string(&json, "state", file->state ? name_of_state(file->state) : "not read");
        sp_write_key_filled(&json, "note", file->note);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "models", '[');
    for (size_t i = 0; i < shapeproof_run_model_count(run); i++) {
        const struct shapeproof_run_model *model = shapeproof_run_model(run, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", model->name);
        sp_write_key_string(&json, "what", shapeproof_run_kind_name(model->kind));
        if (model->holds) {
            sp_write_key_open_line(&json, "holds", '[');
            for (unsigned kind = 0; kind <= SHAPEPROOF_RUN_LOG; kind++)
                if (model->holds & 1u << kind)
                    sp_write_string(&json, shapeproof_run_kind_name((enum shapeproof_run_kind)kind));
            sp_write_close(&json);
        }
        json_step(&json, "step", run, model->step);
        sp_write_key_string(&json, "verdict", results[i].verdict);
        sp_write_key_string(&json, "reason", results[i].reason);
        sp_write_key_number(&json, "status", (uint64_t)results[i].status);
        if (results[i].document) { /* a line, whose end is not part of the value */
            struct sp_text line = {0};
            sp_text_append(&line, results[i].document, strcspn(results[i].document, "\n"));
            sp_write_key(&json, "check");
            sp_write_raw(&json, line.data);
            sp_text_free(&line);
        }
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_close(&json);
}

/* ---- Markdown ---- */

static void markdown_run(const struct shapeproof_run *run, const struct shapeproof_run_result *results,
                         struct sp_text *text)
{
    const char *verdict = worst_verdict(run, results);
    struct sp_text reason = {0};
    put_reason(run, results, verdict, &reason);
    sp_text_printf(text, "**%s**: ", verdict);
    sp_markdown_text(text, reason.data);
    sp_text_free(&reason);
    sp_text_puts(text, "\n\n| step | what | files | state | |\n|---|---|---|---|---|\n");
    for (size_t i = 0, end; i < shapeproof_run_file_count(run); i = end) {
        const struct row row = next_row(run, results, i);
        struct sp_text files = {0};
        end = row.end;
        put_files(run, &row, &files);
        sp_text_puts(text, "| ");
        sp_markdown_cell_code(text, row.step == SHAPEPROOF_NONE ? "." : shapeproof_run_step(run, row.step)->name);
        sp_text_puts(text, " | ");
        put_kinds(&row, text);
        sp_text_puts(text, " | ");
        sp_markdown_text(text, files.data);
        sp_text_printf(text, " | %s | ", row.verdict);
        sp_markdown_text(text, row.reason);
        sp_text_puts(text, " |\n");
        sp_text_free(&files);
    }
}

/* ---- CSV: a row for each file ---- */

static void csv_run(const struct shapeproof_run *run, const struct shapeproof_run_result *results, struct sp_text *text)
{
    struct sp_csv csv = {.text = text};
    static const char *const titles[] = {"step", "what", "file", "bytes", "state", "reason", NULL};
    sp_csv_heading(&csv, titles);
    for (size_t i = 0; i < shapeproof_run_file_count(run); i++) {
        const struct shapeproof_run_file *file = shapeproof_run_file(run, i);
        const size_t model = model_of_file(run, file);
        const bool is_own = model == SHAPEPROOF_NONE || file->state == SHAPEPROOF_RUN_UNUSED;
        sp_csv_field(&csv, file->step == SHAPEPROOF_NONE ? "" : shapeproof_run_step(run, file->step)->name);
        sp_csv_field(&csv, shapeproof_run_kind_name(file->kind));
        sp_csv_field(&csv, file->name);
        sp_csv_number(&csv, file->bytes);
        sp_csv_field(&csv, is_own ? name_of_state(file->state) : results[model].verdict);
        sp_csv_field(&csv, is_own ? file->note : results[model].reason);
        sp_csv_end_row(&csv);
    }
}

/* ---- the report ---- */

char *shapeproof_report_run(const struct shapeproof_run *run, const struct shapeproof_run_result *results,
                            const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) {
        json_run(run, results, &text);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        markdown_run(run, results, &text);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_CSV) {
        csv_run(run, results, &text);
        return sp_text_take(&text, length);
    }
    const char *verdict = worst_verdict(run, results);
    sp_color_puts(&text, options->color, color_of(verdict), verdict);
    sp_text_puts(&text, ": ");
    put_reason(run, results, verdict, &text);
    sp_text_puts(&text, "\n\n");
    put_facts(run, &text);
    sp_text_puts(&text, "\n");
    put_rows(run, results, &text, options);
    put_faults(run, results, &text, options);
    for (size_t i = 0; i < shapeproof_run_model_count(run); i++) {
        const bool differs = rank_of(results[i].verdict) >= rank_of("unknown") || results[i].status;
        if (!results[i].report || !*results[i].report || !(differs || options->all)) continue;
        sp_text_puts(&text, "\n");
        sp_text_puts(&text, results[i].report);
    }
    return sp_text_take(&text, length);
}
