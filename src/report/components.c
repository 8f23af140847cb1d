/* SPDX-License-Identifier: MIT
 * A directory of several models: the worst verdict, a line for each component, the reports of those that differ. */
#include <inttypes.h>
#include <string.h>

#include "base/call.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/names.h"
#include "report/check.h"
#include "report/inventory.h"
#include "report/markdown.h"
#include "shapeproof/report.h"

/* What is said of a component in a word; a later one is worse. */
enum outcome {
    OUTCOME_NONE, /* there is nothing to check */
    OUTCOME_MATCH,
    OUTCOME_EXPLAINED,
    OUTCOME_UNKNOWN, /* also after an error */
    OUTCOME_DIFFERS,
    OUTCOME_MISSING /* the list has a component that is not there */
};

static const char *const outcome_words[] = {"-", "match", "explained", "unknown", "differs", "missing"};

static enum outcome outcome_of(const struct shapeproof_component *component,
                               const struct shapeproof_component_result *result)
{
    if (component->state == SHAPEPROOF_COMPONENT_MISSING && !result->check) return OUTCOME_MISSING;
    if (!result->check) return result->error ? OUTCOME_UNKNOWN : OUTCOME_NONE;
    const enum shapeproof_verdict verdict = shapeproof_check_verdict(result->check);
    return verdict == SHAPEPROOF_VERDICT_MATCH       ? OUTCOME_MATCH
           : verdict == SHAPEPROOF_VERDICT_EXPLAINED ? OUTCOME_EXPLAINED
           : verdict == SHAPEPROOF_VERDICT_UNKNOWN   ? OUTCOME_UNKNOWN
                                                     : OUTCOME_DIFFERS;
}

/* What is missing differs from what the list says. */
static enum outcome as_verdict(enum outcome outcome) { return outcome == OUTCOME_MISSING ? OUTCOME_DIFFERS : outcome; }

static enum outcome worst_outcome(const struct shapeproof_components *components,
                                  const struct shapeproof_component_result *results)
{
    enum outcome worst = OUTCOME_NONE;
    for (size_t i = 0; i < shapeproof_component_count(components); i++) {
        const enum outcome outcome = as_verdict(outcome_of(shapeproof_component(components, i), &results[i]));
        if (outcome > worst) worst = outcome;
    }
    return worst;
}

/* ---- JSON: shapeproof.components/1 ---- */

/* One model of a pipeline: its names, and its check or the error that prevented it. */
static void json_component(struct sp_writer *json, const struct shapeproof_component *component,
                           const struct shapeproof_component_result *result)
{
    static const char *const states[] = {[SHAPEPROOF_COMPONENT_MODEL] = "model",
                                         [SHAPEPROOF_COMPONENT_PLAIN] = "plain",
                                         [SHAPEPROOF_COMPONENT_MISSING] = "missing"};
    sp_write_open(json, '{');
    sp_write_key_string(json, "name", component->name);
    sp_write_key_string(json, "library", component->library);
    sp_write_key_string(json, "class", component->class_name);
    sp_write_key_string(json, "state", states[component->state]);
    sp_write_key_optional(json, "note", component->note);
    if (result->check) sp_json_check_members(json, result->check, result->loadings);
    if (result->error) {
        sp_write_key_string(json, "error", result->error->message);
        sp_write_key_filled(json, "kind", shapeproof_kind_name(result->error->kind));
        sp_write_key_filled(json, "hint", result->error->hint);
        sp_write_key_number(json, "status", (uint64_t)result->error->status);
    }
    sp_write_close(json);
}

static void json_components(const struct shapeproof_components *components,
                            const struct shapeproof_component_result *results, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.components/1");
    sp_write_key_string(&json, "verdict", outcome_words[worst_outcome(components, results)]);
    sp_write_key_string(&json, "file", shapeproof_components_path(components));
    sp_write_key_open(&json, "components", '[');
    for (size_t i = 0; i < shapeproof_component_count(components); i++)
        json_component(&json, shapeproof_component(components, i), &results[i]);
    sp_write_close(&json);
    sp_write_close(&json);
}

/* ---- text ---- */

static enum sp_color outcome_color(enum outcome outcome)
{
    if (outcome == OUTCOME_NONE) return SP_COLOR_NONE;
    return sp_verdict_color(outcome == OUTCOME_MATCH       ? SHAPEPROOF_VERDICT_MATCH
                            : outcome == OUTCOME_EXPLAINED ? SHAPEPROOF_VERDICT_EXPLAINED
                                                           : SHAPEPROOF_VERDICT_DIFFERS);
}

/* The first line: the worst verdict, and which components have it: "differs: 1 of 5 components: unet". Behind it, those
 * that a loader does not load whole. */
static void put_worst_verdict(const struct shapeproof_components *components,
                              const struct shapeproof_component_result *results, struct sp_text *text,
                              const struct shapeproof_report_options *options)
{
    const enum outcome worst = worst_outcome(components, results);
    struct sp_names names = {0}, failed = {0};
    const size_t count = shapeproof_component_count(components);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        const enum outcome outcome = as_verdict(outcome_of(component, &results[i]));
        if (outcome == worst) sp_names_add(&names, component->name);
        if (results[i].loadings && shapeproof_loading_failed(results[i].loadings))
            sp_names_add(&failed, component->name);
    }
    sp_color_puts(text, options->color, outcome_color(worst), outcome_words[worst]);
    if (worst == OUTCOME_MATCH && names.count == 1) sp_text_puts(text, ": the one component that has weights");
    else if (worst == OUTCOME_MATCH) sp_text_printf(text, ": all %zu components that have weights", names.count);
    else sp_text_printf(text, ": %zu of %zu components: %s", names.count, count, sp_names_text(&names));
    if (failed.count && worst != OUTCOME_DIFFERS)
        sp_text_printf(text, "; %zu %s not load whole: %s", failed.count, failed.count == 1 ? "does" : "do",
                       sp_names_text(&failed));
    sp_text_puts(text, "\n\n");
    sp_names_free(&names);
    sp_names_free(&failed);
}

/* What came of it, or why there is nothing to compare: "DDIMScheduler: no weights". */
static void put_reason(const struct shapeproof_component *component, const struct shapeproof_component_result *result,
                       struct sp_text *cell)
{
    if (result->check) {
        struct sp_text line = {0};
        sp_put_headline(result->check, result->loadings, &line);
        sp_text_puts(cell, strchr(line.data, ' ') + 1); /* the verdict has a column of its own */
        sp_text_free(&line);
    } else if (result->error) { /* a table's mistake shows it in more lines, for which there is the JSON */
        const char *message = result->error->message;
        sp_text_visible(cell, message, sp_first_line(message));
    } else {
        sp_put_visible(cell, component->class_name);
        sp_text_printf(cell, ": %s", component->note);
    }
}

static void put_component_lines(const struct shapeproof_components *components,
                                const struct shapeproof_component_result *results, struct sp_text *text,
                                const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{"component", SP_LEFT}, {"verdict", SP_LEFT}, {"", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 3, .prose = true};
    for (size_t i = 0; i < shapeproof_component_count(components); i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        const enum outcome outcome = outcome_of(component, &results[i]);
        sp_put_visible(sp_table_cell(&table), component->name);
        sp_text_puts(sp_table_cell(&table), outcome_words[outcome]);
        sp_table_color(&table, outcome_color(outcome));
        put_reason(component, &results[i], sp_table_cell(&table));
    }
    sp_table_render(&table, text, options);
}

/* The report that the component has by itself. */
static void put_details(const struct shapeproof_component_result *result, struct sp_text *text,
                        const struct shapeproof_report_options *options)
{
    struct shapeproof_report_options own = *options;
    struct sp_text details = {0};
    own.loadings = result->loadings;
    sp_put_check(result->check, &details, &own);
    sp_text_puts(text, "\n");
    sp_text_append(text, details.data, details.length);
    sp_text_free(&details);
}

/* Whether one of those that were asked does not take it whole, or cannot be told to, and the line of the component does
 * not say all there is to that: a loader that finds no file has counted nothing. */
static bool is_ill_loaded(const struct shapeproof_loadings *loadings)
{
    for (size_t i = 0; loadings && i < shapeproof_loading_count(loadings); i++) {
        const struct shapeproof_loading *loading = shapeproof_loading(loadings, i);
        const bool counted = loading->expected || loading->fresh || loading->ignored || loading->reshaped;
        if (loading->answer == SHAPEPROOF_LOADING_REFUSED && !counted && !loading->decides) continue;
        if (loading->answer != SHAPEPROOF_LOADING_WHOLE) return true;
    }
    return false;
}

static bool is_detailed(const struct shapeproof_component_result *result,
                        const struct shapeproof_report_options *options)
{
    if (!result->check) return false;
    return options->all || shapeproof_check_verdict(result->check) == SHAPEPROOF_VERDICT_DIFFERS ||
           is_ill_loaded(result->loadings);
}

/* The worst verdict, a table with a row for each component, and the reports of those that differ. */
static void components_markdown(const struct shapeproof_components *components,
                                const struct shapeproof_component_result *results, struct sp_text *text,
                                const struct shapeproof_report_options *options)
{
    struct shapeproof_report_options own = *options;
    sp_text_printf(text, "**%s**: ", outcome_words[worst_outcome(components, results)]);
    sp_markdown_code(text, shapeproof_components_path(components));
    sp_text_puts(text, "\n\n| component | verdict | |\n|---|---|---|\n");
    for (size_t i = 0; i < shapeproof_component_count(components); i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        struct sp_text reason = {0};
        sp_text_puts(&reason, "");
        put_reason(component, &results[i], &reason);
        sp_text_puts(text, "| ");
        sp_markdown_cell_code(text, component->name);
        sp_text_printf(text, " | %s | ", outcome_words[outcome_of(component, &results[i])]);
        sp_markdown_text(text, reason.data);
        sp_text_puts(text, " |\n");
        sp_text_free(&reason);
    }
    for (size_t i = 0; i < shapeproof_component_count(components); i++) {
        if (!is_detailed(&results[i], options)) continue;
        own.loadings = results[i].loadings;
        sp_text_puts(text, "\n### ");
        sp_markdown_code(text, shapeproof_component(components, i)->name);
        sp_text_puts(text, "\n\n");
        sp_markdown_check(text, results[i].check, &own);
    }
}

char *shapeproof_report_components(const struct shapeproof_components *components,
                                   const struct shapeproof_component_result *results,
                                   const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) {
        json_components(components, results, &text);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_CSV) {
        struct sp_csv csv = {.text = &text};
        sp_csv_check_heading(&csv);
        for (size_t i = 0; i < shapeproof_component_count(components); i++)
            if (results[i].check) sp_csv_check(&csv, results[i].check);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        components_markdown(components, results, &text, options);
        return sp_text_take(&text, length);
    }
    put_worst_verdict(components, results, &text, options);
    put_component_lines(components, results, &text, options);
    for (size_t i = 0; i < shapeproof_component_count(components); i++)
        if (is_detailed(&results[i], options)) put_details(&results[i], &text, options);
    return sp_text_take(&text, length);
}

/* ---- what they hold ---- */

static void put_totals_row(struct sp_table *table, const char *name, const char *class_name,
                           const struct shapeproof_totals *totals)
{
    sp_put_visible(sp_table_cell(table), name);
    sp_put_visible(sp_table_cell(table), class_name);
    sp_text_grouped(sp_table_cell(table), totals->tensors);
    sp_text_grouped(sp_table_cell(table), totals->unique_parameters);
    sp_put_bytes(sp_table_cell(table), totals->bytes);
}

char *shapeproof_report_component_totals(const struct shapeproof_components *components,
                                         const struct shapeproof_totals *totals,
                                         const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct sp_column columns[] = {{"component", SP_LEFT},
                                               {"class", SP_LEFT},
                                               {"tensors", SP_RIGHT},
                                               {"parameters", SP_RIGHT},
                                               {"bytes", SP_RIGHT}};
    static const struct shapeproof_report_options plain = {0};
    struct sp_table table = {.columns = columns, .column_count = 5};
    struct shapeproof_totals sum = {0};
    struct sp_text text = {0};
    sp_put_visible(&text, shapeproof_components_path(components));
    sp_text_puts(&text, "\n\n");
    for (size_t i = 0; i < shapeproof_component_count(components); i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        if (!totals[i].tensors) continue;
        put_totals_row(&table, component->name, component->class_name, &totals[i]);
        /* of a hundred checkpoints they may be too large where none of them is */
        sum.tensors = sp_add_saturated(sum.tensors, totals[i].tensors);
        sum.unique_parameters = sp_add_saturated(sum.unique_parameters, totals[i].unique_parameters);
        sum.bytes = sp_add_saturated(sum.bytes, totals[i].bytes);
    }
    put_totals_row(&table, "together", "", &sum);
    sp_table_render(&table, &text, options ? options : &plain);
    return sp_text_take(&text, length);
}
