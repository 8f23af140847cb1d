/* SPDX-License-Identifier: MIT
 * From names to tables, from tables to classes, from those to hyper-parameters: each step is dearer than the one before
 * and sees fewer candidates. */
#include "infer/infer.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TABLES = 40, MAX_ATTEMPTS = 12 };

/* ---- classes ---- */

/* How well the names of a table for models of some class agree with the file. */
struct fit {
    const struct sp_unit *table;
    const char *class;
    size_t seen;    /* tensors of the file */
    size_t missing; /* names that the file does not have */
};

static bool is_expected(struct sp_outline *outline, const struct sp_line *line)
{
    if (line->optional || line->old_of != SIZE_MAX || line->row->has_tie) return false;
    for (const struct sp_proviso *proviso = line->proviso; proviso; proviso = proviso->outer) {
        struct sp_value value;
        if (!sp_outline_eval(outline, proviso->env, proviso->expr, &value) || value.type == SP_UNKNOWN) return false;
    }
    return true;
}

static struct fit fit_of(const struct sp_unit *table, const char *class, const struct sp_shapes *shapes)
{
    struct fit fit = {.table = table, .class = class};
    struct sp_outline outline;
    struct sp_sightings sights;
    sp_outline_init(&outline, table, class);
    sp_sightings_init(&sights, &outline, shapes);
    fit.seen = sights.seen;
    for (size_t i = 0; i < outline.count; i++)
        fit.missing += !sights.of[i].count && is_expected(&outline, &outline.lines[i]);
    sp_sightings_free(&sights);
    sp_outline_free(&outline);
    return fit;
}

static bool is_better_fit(struct fit a, struct fit b)
{
    return a.seen != b.seen ? a.seen > b.seen : a.missing < b.missing;
}

static struct fit best_class(struct sp_arena *arena, const struct sp_unit *table, const struct sp_shapes *shapes)
{
    size_t count;
    const char **classes = sp_classes_of(arena, table, &count);
    struct fit best = fit_of(table, classes[0], shapes);
    for (size_t i = 1; i < count; i++) {
        const struct fit fit = fit_of(table, classes[i], shapes);
        if (is_better_fit(fit, best)) best = fit;
    }
    return best;
}

static int compare_fits(const void *left, const void *right)
{
    const struct fit *a = left, *b = right;
    if (is_better_fit(*a, *b)) return -1;
    if (is_better_fit(*b, *a)) return 1;
    return strcmp(a->table->name, b->table->name);
}

/* The tables whose names fit best, with the class for which they do. */
static size_t find_fits(struct sp_arena *arena, const struct sp_tables *tables, const struct sp_shapes *shapes,
                        struct fit *fits)
{
    size_t count, kept = 0;
    struct sp_ranked *ranked = sp_rank_tables(tables, shapes, &count);
    for (size_t i = 0; i < count && i < MAX_TABLES; i++)
        if (ranked[i].covered * 2 >= ranked[0].covered) fits[kept++] = best_class(arena, ranked[i].table, shapes);
    free(ranked);
    if (kept) qsort(fits, kept, sizeof *fits, compare_fits);
    return kept;
}

/* ---- attempts ---- */

static void add_candidate(struct sp_inference *inference, const struct sp_attempt *attempt, bool same)
{
    inference->candidates[inference->candidate_count++] = (struct sp_inference_candidate){
        attempt->table->name, attempt->explained, attempt->missing, same};
}

static void keep_candidates(struct sp_inference *inference, struct sp_attempt **attempts, size_t count)
{
    inference->candidates = sp_arena_array(&inference->arena, count + 1, sizeof *inference->candidates);
    add_candidate(inference, inference->best, true);
    for (size_t i = 0; i < count; i++)
        if (attempts[i] != inference->best && attempts[i]->explained)
            add_candidate(inference, attempts[i], sp_attempt_is_same(attempts[i], inference->best));
}

static void keep_findings(struct sp_inference *inference)
{
    const struct sp_attempt *best = inference->best;
    const size_t tensors = sp_inventory_count(inference->inventory), predicted = sp_prediction_count(best->prediction);
    inference->unexplained = sp_arena_array(&inference->arena, best->unexplained, sizeof *inference->unexplained);
    inference->missing = sp_arena_array(&inference->arena, best->missing, sizeof *inference->missing);
    for (size_t i = 0; i < tensors; i++)
        if (sp_is_error(sp_match_tensor(&best->match, i))) inference->unexplained[inference->unexplained_count++] = i;
    for (size_t i = 0; i < predicted; i++)
        if (sp_match_predicted(&best->match, i) == SP_MISSING) inference->missing[inference->missing_count++] = i;
}

static const char *config_text(struct sp_inference *inference)
{
    struct sp_text text = {0};
    sp_value_json(&text, sp_config_hyper(inference->best->config)->root);
    const char *kept = sp_arena_copy(&inference->arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

static void finish(struct sp_inference *inference, struct sp_attempt **attempts, size_t count)
{
    keep_candidates(inference, attempts, count);
    keep_findings(inference);
    sp_determine(inference);
    inference->config = config_text(inference);
}

static void drop(struct sp_attempt *attempt)
{
    if (attempt) sp_attempt_free(attempt);
    free(attempt);
}

static bool is_good(const struct sp_attempt *attempt)
{
    return attempt && attempt->prediction && attempt->explained && attempt->explained >= attempt->unexplained;
}

static void attempt_all(struct sp_inference *inference, const struct sp_tables *tables, const struct sp_shapes *shapes)
{
    struct fit fits[MAX_TABLES];
    struct sp_attempt *attempts[MAX_ATTEMPTS], *best = NULL;
    const size_t found = find_fits(&inference->arena, tables, shapes, fits);
    size_t count = 0;
    for (; count < found && count < MAX_ATTEMPTS; count++) {
        attempts[count] = sp_realloc(NULL, 1, sizeof *attempts[count]);
        sp_attempt_init(attempts[count], tables, fits[count].table, fits[count].class, shapes);
        if (!best || sp_attempt_is_better(attempts[count], best)) best = attempts[count];
    }
    if (is_good(best)) {
        inference->best = best;
        finish(inference, attempts, count);
    }
    for (size_t i = 0; i < count; i++)
        if (attempts[i] != inference->best) drop(attempts[i]);
}

struct sp_inference *sp_infer(const struct sp_inventory *inventory, const struct sp_tables *tables,
                              struct sp_error *error)
{
    struct sp_inference *inference = sp_realloc(NULL, 1, sizeof *inference);
    struct sp_shapes shapes;
    *inference = (struct sp_inference){.inventory = inventory};
    sp_shapes_init(&shapes, inventory, "");
    attempt_all(inference, tables, &shapes);
    sp_shapes_free(&shapes);
    if (inference->best) return inference;
    sp_inference_free(inference);
    sp_fail(error, SP_ERR_UNKNOWN, SP_KIND_NONE, "no table explains half of the %zu tensors",
            sp_inventory_count(inventory));
    return NULL;
}

void sp_inference_free(struct sp_inference *inference)
{
    if (!inference) return;
    drop(inference->best);
    sp_arena_free(&inference->arena);
    free(inference);
}

/* ---- what the public header promises ---- */

const char *sp_inference_table(const struct sp_inference *inference) { return inference->best->table->name; }

const struct sp_prediction *sp_inference_prediction(const struct sp_inference *inference)
{
    return inference->best->prediction;
}

size_t sp_inference_count(const struct sp_inference *inference) { return inference->inferred_count; }

struct sp_inferred sp_inference_get(const struct sp_inference *inference, size_t index)
{
    return inference->inferred[index];
}

size_t sp_inference_explained(const struct sp_inference *inference) { return inference->best->explained; }
size_t sp_inference_unexplained_count(const struct sp_inference *inference) { return inference->unexplained_count; }

size_t sp_inference_unexplained(const struct sp_inference *inference, size_t index)
{
    return inference->unexplained[index];
}

size_t sp_inference_missing_count(const struct sp_inference *inference) { return inference->missing_count; }
size_t sp_inference_missing(const struct sp_inference *inference, size_t index) { return inference->missing[index]; }
size_t sp_inference_candidate_count(const struct sp_inference *inference) { return inference->candidate_count; }

struct sp_inference_candidate sp_inference_candidate(const struct sp_inference *inference, size_t index)
{
    return inference->candidates[index];
}

const char *sp_inference_config(const struct sp_inference *inference) { return inference->config; }
