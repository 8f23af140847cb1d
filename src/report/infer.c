/* SPDX-License-Identifier: MIT
 * The lost configuration: the table and what it explains in the first line, then the hyper-parameters, those that the
 * file does not determine, and what stays unexplained. */
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/json_write.h"
#include "base/value.h"
#include "names/collapse.h"
#include "report/findings.h"
#include "report/markdown.h"
#include "report/table.h"
#include "report/wrap.h"
#include "shapeproof/report.h"

/* How many tensors of the file are not as predicted. */
static size_t unexplained(const struct shapeproof_inference *inference)
{
    return shapeproof_inference_unexplained_count(inference);
}

/* The tensor of the file behind an index into those. */
static const struct shapeproof_tensor *unexplained_tensor(const struct shapeproof_inference *inference, size_t index)
{
    return shapeproof_inventory_tensor(shapeproof_inference_inventory(inference),
                                       shapeproof_inference_unexplained(inference, index));
}

/* Likewise the predicted tensor that the file lacks. */
static const struct shapeproof_predicted *missing_tensor(const struct shapeproof_inference *inference, size_t index)
{
    return shapeproof_prediction_tensor(shapeproof_inference_prediction(inference),
                                        shapeproof_inference_missing(inference, index));
}

/* ---- JSON: shapeproof.infer/1 ---- */

/* What was found out, with the reason for each. */
static void json_hyperparameters(struct sp_writer *json, const struct shapeproof_inference *inference)
{
    sp_write_key_open(json, "hyperparameters", '[');
    for (size_t i = 0; i < shapeproof_inference_count(inference); i++) {
        const struct shapeproof_inferred *inferred = shapeproof_inference_get(inference, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "name", inferred->name);
        sp_write_key_value(json, "value", inferred->value);
        sp_write_key_bool(json, "determined", inferred->determined);
        sp_write_key_string(json, "because", inferred->because);
        sp_write_close(json);
    }
    sp_write_close(json);
}

/* "unexplained" and "missing": names alone. */
static void json_names(struct sp_writer *json, const struct shapeproof_inference *inference)
{
    sp_write_key_open(json, "unexplained", '[');
    for (size_t i = 0; i < unexplained(inference); i++) sp_write_string(json, unexplained_tensor(inference, i)->name);
    sp_write_close(json);
    sp_write_key_open(json, "missing", '[');
    for (size_t i = 0; i < shapeproof_inference_missing_count(inference); i++)
        sp_write_string(json, missing_tensor(inference, i)->name);
    sp_write_close(json);
}

/* How the file stores it. */
static void json_notes(struct sp_writer *json, const struct shapeproof_inference *inference)
{
    sp_write_key_open(json, "notes", '[');
    for (size_t i = 0; i < shapeproof_inference_note_count(inference); i++) {
        const struct shapeproof_inference_note *note = shapeproof_inference_note(inference, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "id", note->id);
        sp_write_key_string(json, "message", note->message);
        sp_write_close(json);
    }
    sp_write_close(json);
}

/* The tables that came close, the chosen one first. */
static void json_candidates(struct sp_writer *json, const struct shapeproof_inference *inference)
{
    sp_write_key_open(json, "candidates", '[');
    for (size_t i = 0; i < shapeproof_inference_candidate_count(inference); i++) {
        const struct shapeproof_inference_candidate *candidate = shapeproof_inference_candidate(inference, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "table", candidate->table);
        sp_write_key_number(json, "explained", candidate->explained);
        sp_write_key_number(json, "missing", candidate->missing);
        sp_write_key_bool(json, "same", candidate->same);
        sp_write_close(json);
    }
    sp_write_close(json);
}

static void infer_json(const struct shapeproof_inference *inference, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.infer/1");
    sp_write_key_string(&json, "table", shapeproof_inference_table(inference));
    json_hyperparameters(&json, inference);
    sp_write_key_number(&json, "explained", shapeproof_inference_explained(inference));
    json_names(&json, inference);
    json_notes(&json, inference);
    json_candidates(&json, inference);
    sp_write_key_string(&json, "file", shapeproof_inventory_path(shapeproof_inference_inventory(inference)));
    sp_write_close(&json);
}

/* ---- text ---- */

/* gpt2: explains 27 of 28 tensors, but 1 more should be there */
static void put_verdict(const struct shapeproof_inference *inference, struct sp_text *text,
                        const struct shapeproof_report_options *options)
{
    const size_t begin = text->length;
    const size_t explained = shapeproof_inference_explained(inference), all = explained + unexplained(inference);
    const bool good = shapeproof_inference_explains_all(inference);
    sp_color_begin(text, options->color, good ? SP_COLOR_GREEN : SP_COLOR_YELLOW);
    sp_put_visible(text, shapeproof_inference_table(inference));
    sp_color_end(text, options->color, good ? SP_COLOR_GREEN : SP_COLOR_YELLOW);
    sp_text_puts(text, ": explains ");
    if (explained == all) sp_text_puts(text, "all ");
    sp_text_grouped(text, explained);
    if (explained != all) {
        sp_text_puts(text, " of ");
        sp_text_grouped(text, all);
    }
    sp_text_puts(text, all == 1 ? " tensor" : " tensors");
    for (size_t i = 0; i < shapeproof_inference_note_count(inference); i++) {
        const struct shapeproof_inference_note *note = shapeproof_inference_note(inference, i);
        if (!note->brief) continue;
        sp_text_puts(text, ", ");
        sp_put_visible(text, note->brief);
    }
    if (shapeproof_inference_missing_count(inference)) {
        sp_text_puts(text, ", but ");
        sp_text_grouped(text, shapeproof_inference_missing_count(inference));
        sp_text_puts(text, " more should be there");
    }
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) sp_markdown_paragraph(text, begin);
    else sp_text_puts(text, "\n\n");
}

/* The tables that explain the file just as well. */
static void put_equals(const struct shapeproof_inference *inference, struct sp_table *table)
{
    struct sp_text *cell = NULL;
    for (size_t i = 1; i < shapeproof_inference_candidate_count(inference); i++) {
        const struct shapeproof_inference_candidate *candidate = shapeproof_inference_candidate(inference, i);
        if (!candidate->same) continue;
        if (cell) sp_text_puts(cell, ", ");
        else cell = sp_labelled(table, "or just as well");
        sp_put_visible(cell, candidate->table);
    }
}

/* A line below a heading; returns where what is said begins. */
static size_t begin_remark(struct sp_text *text)
{
    sp_text_puts(text, "  ");
    return text->length;
}

static void end_remark(struct sp_text *text, size_t begin, const struct shapeproof_report_options *options)
{
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        sp_markdown_item(text, begin - strlen("  "));
        return;
    }
    sp_wrap(text, begin, strlen("  ") + SP_HANGING);
    sp_text_puts(text, "\n");
}

/* How the file stores the model. */
static void put_inference_notes(const struct shapeproof_inference *inference, struct sp_text *text,
                                const struct shapeproof_report_options *options)
{
    if (!shapeproof_inference_note_count(inference)) return;
    sp_put_heading(text, options, "notes");
    for (size_t i = 0; i < shapeproof_inference_note_count(inference); i++) {
        const size_t begin = begin_remark(text);
        sp_put_visible(text, shapeproof_inference_note(inference, i)->message);
        end_remark(text, begin, options);
    }
}

/* The file, the table that was found, and those that say the same of it. */
static void put_inferred_table(const struct shapeproof_inference *inference, struct sp_text *text,
                               const struct shapeproof_report_options *options)
{
    struct sp_table table = sp_label_table();
    const struct shapeproof_inventory *inventory = shapeproof_inference_inventory(inference);
    struct sp_text *cell = sp_labelled(&table, "checkpoint");
    sp_put_visible(cell, shapeproof_inventory_path(inventory));
    sp_text_printf(cell, " (%s)", shapeproof_inventory_format(inventory));
    cell = sp_labelled(&table, "table");
    sp_put_visible(cell, shapeproof_inference_table(inference));
    if (*shapeproof_inference_class(inference)) sp_text_printf(cell, ", for %s", shapeproof_inference_class(inference));
    put_equals(inference, &table);
    sp_table_render(&table, text, options);
}

/* What chooses the class is said beside the table, unless that has none: an architecture is a hyper-parameter then, as
 * it is when it is the name of a model within the class. */
static bool is_said_before(const struct shapeproof_inference *inference, struct shapeproof_inferred inferred)
{
    const char *class = shapeproof_inference_class(inference);
    const bool is_other = inferred.value.type == SHAPEPROOF_VALUE_STRING && strcmp(inferred.value.string, class) != 0;
    return sp_is_class_key(inferred.name) && *class && !is_other;
}

enum certainty { DETERMINED, NOT_DETERMINED };

/* The hyper-parameters that the file determines, or those that it does not. */
static void put_inferred(enum certainty certainty, const struct shapeproof_inference *inference, struct sp_text *text,
                         const struct shapeproof_report_options *options)
{
    const bool determined = certainty == DETERMINED;
    const struct sp_column columns[] = {
        {determined ? "hyper-parameter" : "not determined", SP_LEFT}, {"value", SP_LEFT}, {"because", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 3, .prose = true};
    for (size_t i = 0; i < shapeproof_inference_count(inference); i++) {
        const struct shapeproof_inferred inferred = *shapeproof_inference_get(inference, i);
        if (inferred.determined != determined || is_said_before(inference, inferred)) continue;
        sp_put_visible(sp_table_cell(&table), inferred.name);
        sp_put_value(sp_table_cell(&table), inferred.value, 40);
        sp_put_visible(sp_table_cell(&table), inferred.because);
    }
    if (table.count) sp_text_puts(text, "\n");
    sp_table_render(&table, text, options);
}

/* ---- what is not explained ---- */

/* Names with what is to be said of each; those of which the same is said share a line. */
struct remarks {
    struct sp_arena arena;
    struct sp_kinds kinds; /* equal remarks have one key */
    struct sp_collapse_input *names;
    const char **remarks; /* parallel to names */
    size_t count;
};

/* Takes a name and what is said of it; the text is emptied. */
static void remark(struct remarks *remarks, const char *name, struct sp_text *text)
{
    remarks->names[remarks->count] = (struct sp_collapse_input){.name = name, .key = sp_kind_of(&remarks->kinds, text)};
    remarks->remarks[remarks->count++] = sp_arena_copy(&remarks->arena, text->data, text->length);
    text->length = 0;
}

/*   h.{0,1}.attn.bias (1, 1, 16, 16) (2 tensors) */
static void put_tensor_remark(struct sp_text *text, const char *name, const char *said, size_t count,
                              const struct shapeproof_report_options *options)
{
    const size_t begin = begin_remark(text);
    sp_put_visible(text, name);
    sp_text_printf(text, " %s", said);
    if (count > 1) sp_text_printf(text, " (%zu tensors)", count);
    end_remark(text, begin, options);
}

/* All of them below the heading, collapsed unless each is wanted; nothing when there are none. */
static void put_remarks(struct remarks *remarks, struct sp_text *text, const struct shapeproof_report_options *options,
                        const char *heading)
{
    enum { FEWEST = 4 };
    struct sp_collapsed *groups;
    if (!remarks->count) return;
    sp_put_heading(text, options, heading);
    const size_t count = options->all ? 0 : sp_collapse(&remarks->arena, NULL, remarks->names, remarks->count, &groups);
    const size_t lines = sp_count_lines(text), room = lines + FEWEST < SP_MOST_LINES ? SP_MOST_LINES - lines : FEWEST;
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (i < room)
            put_tensor_remark(text, groups[i].name, remarks->remarks[groups[i].first], groups[i].count, options);
        else left += groups[i].count;
    const size_t begin = text->length;
    if (left) sp_text_printf(text, "  ... and %zu more; --all lists them\n", left);
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) sp_markdown_item(text, begin);
    for (size_t i = 0; i < remarks->count && options->all; i++)
        put_tensor_remark(text, remarks->names[i].name, remarks->remarks[i], 1, options);
}

/* For at most `count` of them; end with end_remarks. */
static void begin_remarks(struct remarks *remarks, size_t count)
{
    *remarks = (struct remarks){.count = 0};
    remarks->names = sp_arena_array(&remarks->arena, count, sizeof *remarks->names);
    remarks->remarks = sp_arena_array(&remarks->arena, count, sizeof *remarks->remarks);
}

static void end_remarks(struct remarks *remarks)
{
    sp_kinds_free(&remarks->kinds);
    sp_arena_free(&remarks->arena);
}

/* The tensors of the file that are not explained, each with its shape, and with the one that the table has for that
 * name if it has it. Those with the same shapes share a line. */
static void put_unexplained(const struct shapeproof_inference *inference, struct sp_text *text,
                            const struct shapeproof_report_options *options)
{
    const struct shapeproof_prediction *prediction = shapeproof_inference_prediction(inference);
    struct remarks remarks;
    struct sp_text said = {0};
    begin_remarks(&remarks, unexplained(inference));
    for (size_t i = 0; i < unexplained(inference); i++) {
        const struct shapeproof_tensor *tensor = unexplained_tensor(inference, i);
        const size_t predicted = shapeproof_prediction_find(prediction, tensor->name);
        sp_put_shape(&said, tensor->shape, tensor->rank);
        if (predicted != SHAPEPROOF_NONE) {
            sp_text_puts(&said, ", where the table has ");
            sp_put_shape(&said, shapeproof_prediction_tensor(prediction, predicted)->shape,
                         shapeproof_prediction_tensor(prediction, predicted)->rank);
        }
        remark(&remarks, tensor->name, &said);
    }
    put_remarks(&remarks, text, options, "not explained");
    sp_text_free(&said);
    end_remarks(&remarks);
}

/* The shape that each should have. */
static void put_missing(const struct shapeproof_inference *inference, struct sp_text *text,
                        const struct shapeproof_report_options *options)
{
    struct remarks remarks;
    struct sp_text said = {0};
    begin_remarks(&remarks, shapeproof_inference_missing_count(inference));
    for (size_t i = 0; i < shapeproof_inference_missing_count(inference); i++) {
        const struct shapeproof_predicted *tensor = missing_tensor(inference, i);
        sp_put_shape(&said, tensor->shape, tensor->rank);
        remark(&remarks, tensor->name, &said);
    }
    put_remarks(&remarks, text, options, "should be there");
    sp_text_free(&said);
    end_remarks(&remarks);
}

/* The tables that came next, when the first one does not explain everything: those that explain half as much as it at
 * least, and a few of them. */
static void put_other_tables(const struct shapeproof_inference *inference, struct sp_text *text,
                             const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {
        {"other tables", SP_LEFT}, {"explained", SP_RIGHT}, {"missing", SP_RIGHT}};
    enum { MOST = 4 };
    struct sp_table table = {.columns = columns, .column_count = 3};
    size_t shown = 0;
    if (!unexplained(inference) && !shapeproof_inference_missing_count(inference)) return;
    for (size_t i = 1; i < shapeproof_inference_candidate_count(inference) && shown < MOST; i++) {
        const struct shapeproof_inference_candidate *candidate = shapeproof_inference_candidate(inference, i);
        if (candidate->same || candidate->explained * 2 < shapeproof_inference_explained(inference)) continue;
        sp_put_visible(sp_table_cell(&table), candidate->table);
        sp_text_grouped(sp_table_cell(&table), candidate->explained);
        sp_text_grouped(sp_table_cell(&table), candidate->missing);
        shown++;
    }
    if (shown) sp_text_puts(text, "\n");
    sp_table_render(&table, text, options);
}

char *shapeproof_report_infer(const struct shapeproof_inference *inference,
                              const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) {
        infer_json(inference, &text);
        return sp_text_take(&text, length);
    }
    put_verdict(inference, &text, options);
    put_inferred_table(inference, &text, options);
    put_inferred(DETERMINED, inference, &text, options);
    put_inferred(NOT_DETERMINED, inference, &text, options);
    put_inference_notes(inference, &text, options);
    put_unexplained(inference, &text, options);
    put_missing(inference, &text, options);
    put_other_tables(inference, &text, options);
    return sp_text_take(&text, length);
}
