/* SPDX-License-Identifier: MIT
 * From names to tables, from tables to classes, from those to hyper-parameters: each step is dearer than the one before
 * and sees fewer candidates. */
#include "infer/infer.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TABLES = 40, MAX_ATTEMPTS = 16, MAX_EFFORT = 150000 };

/* Among which tables. */
struct search {
    const struct sp_tables *tables;
    const struct sp_unit *only; /* NULL: all */
};

/* ---- tables ---- */

static int compare_fits(const void *left, const void *right)
{
    const struct sp_fit *a = left, *b = right;
    if (sp_fit_is_better(*a, *b)) return -1;
    if (sp_fit_is_better(*b, *a)) return 1;
    return strcmp(a->table->name, b->table->name);
}

/* The tables whose names fit best, with the class for which they do. */
static size_t find_fits(struct sp_arena *arena, const struct search *search, const struct sp_shapes *shapes,
                        struct sp_fit *fits)
{
    size_t count, kept = 0;
    struct sp_ranked *ranked = sp_rank_tables(search->tables, search->only, shapes, &count);
    for (size_t i = 0; i < count && i < MAX_TABLES; i++)
        if (ranked[i].covered * 2 >= ranked[0].covered) fits[kept++] = sp_fit_table(arena, ranked[i].table, shapes);
    free(ranked);
    if (kept) qsort(fits, kept, sizeof *fits, compare_fits);
    return kept;
}

/* How to rename, for the tables that the ends of the names point to. */
static struct sp_naming likely_naming(struct sp_inference *inference, const struct search *search,
                                      const struct sp_shapes *shapes)
{
    enum { FEW = 6 };
    const struct sp_unit *likely[FEW];
    size_t count;
    struct sp_ranked *ranked = sp_rank_tables(search->tables, search->only, shapes, &count);
    if (count > FEW) count = FEW;
    for (size_t i = 0; i < count; i++) likely[i] = ranked[i].table;
    free(ranked);
    return sp_fit_naming(&inference->arena, inference->inventory, likely, count);
}

/* The names once more, with something taken away in front, or added; kept when a table sees more of them so. */
static size_t find_renamed_fits(struct sp_inference *inference, const struct search *search, struct sp_shapes *shapes,
                                struct sp_fit *fits, size_t count)
{
    struct sp_shapes renamed;
    struct sp_fit others[MAX_TABLES];
    const struct sp_naming naming = likely_naming(inference, search, shapes);
    sp_shapes_init(&renamed, inference->inventory, &naming, 1);
    const size_t found = find_fits(&inference->arena, search, &renamed, others);
    const bool is_better = found && others[0].seen > fits[0].seen;
    sp_shapes_free(is_better ? shapes : &renamed);
    if (!is_better) return count;
    *shapes = renamed;
    memcpy(fits, others, found * sizeof *fits);
    return found;
}

/* ---- attempts ---- */

static void add_candidate(struct sp_inference *inference, const struct sp_attempt *attempt, bool same)
{
    inference->candidates[inference->candidate_count++] =
        (struct sp_inference_candidate){attempt->table->name, attempt->explained, attempt->missing, same};
}

static void keep_candidates(struct sp_inference *inference, struct sp_attempt **attempts, size_t count)
{
    inference->candidates = sp_arena_array(&inference->arena, count + 1, sizeof *inference->candidates);
    add_candidate(inference, inference->best, true);
    for (size_t i = 0; i < count; i++)
        if (attempts[i] != inference->best && attempts[i]->explained)
            add_candidate(inference, attempts[i],
                          sp_predictions_agree(attempts[i]->prediction, inference->best->prediction, inference->best));
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

static void finish_inference(struct sp_inference *inference, struct sp_attempt **attempts, size_t count)
{
    keep_candidates(inference, attempts, count);
    keep_findings(inference);
    sp_determine(inference);
    inference->config = sp_known_config_text(&inference->arena, inference->best->config);
}

/* When one table explains everything, those that make more names which the file lacks are no equals. */
static bool is_worse_fit(struct sp_fit fit, struct sp_fit best)
{
    return fit.seen < best.seen || fit.missing > best.missing || fit.absent > best.absent + 4;
}

struct attempts {
    struct sp_attempt *list[MAX_ATTEMPTS], *best;
    size_t count;
};

static void attempt_all(struct attempts *attempts, const struct sp_tables *tables, const struct sp_shapes *shapes,
                        const struct sp_fit *fits, size_t found)
{
    size_t effort = MAX_EFFORT;
    for (size_t i = 0; i < found && i < MAX_ATTEMPTS; i++) {
        const struct sp_attempt *best = attempts->best;
        if (best && sp_attempt_explains_all(best) && best->table->model_type_count && is_worse_fit(fits[i], fits[0]))
            break;
        struct sp_attempt *attempt = sp_attempt_new(tables, fits[i].table, fits[i].class, shapes, &effort);
        attempts->list[attempts->count++] = attempt;
        if (!best || sp_attempt_is_better(attempt, best)) attempts->best = attempt;
    }
}

static bool choose_only_table(struct search *search, const char *table_name, struct sp_error *error)
{
    if (!table_name) return true;
    search->only = sp_tables_unit(search->tables, table_name);
    if (search->only && search->only->is_table) return true;
    sp_hint(error, "'shapeproof tables' lists them");
    return sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "there is no table '%s'", table_name);
}

struct sp_inference *sp_infer(const struct sp_inventory *inventory, const struct sp_tables *tables,
                              const struct sp_infer_options *options, struct sp_error *error)
{
    sp_error_reset(error);
    static const struct sp_infer_options none = {0};
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    const char *table_name = options->table;
    struct search search = {.tables = tables};
    if (!choose_only_table(&search, table_name, error)) return NULL;
    const struct sp_naming plain = {.strip = "", .add = ""};
    struct sp_inference *inference = sp_realloc(NULL, 1, sizeof *inference);
    struct sp_shapes shapes;
    *inference = (struct sp_inference){.inventory = inventory};
    sp_shapes_init(&shapes, inventory, &plain, 1);
    struct sp_fit fits[MAX_TABLES];
    size_t count = find_fits(&inference->arena, &search, &shapes, fits);
    if (count && fits[0].seen < shapes.count) count = find_renamed_fits(inference, &search, &shapes, fits, count);
    struct attempts attempts = {.count = 0};
    attempt_all(&attempts, tables, &shapes, fits, count);
    if (sp_attempt_is_plausible(attempts.best, table_name != NULL)) {
        inference->best = attempts.best;
        finish_inference(inference, attempts.list, attempts.count);
    } else sp_fail_unknown(error, inventory, table_name, attempts.list, attempts.count);
    sp_shapes_free(&shapes);
    for (size_t i = 0; i < attempts.count; i++)
        if (attempts.list[i] != inference->best) sp_attempt_free(attempts.list[i]);
    if (inference->best) return inference;
    sp_inference_free(inference);
    return NULL;
}

void sp_inference_free(struct sp_inference *inference)
{
    if (!inference) return;
    sp_attempt_free(inference->best);
    sp_arena_free(&inference->arena);
    free(inference);
}

/* ---- what the public header promises ---- */

const struct sp_inventory *sp_inference_inventory(const struct sp_inference *inference) { return inference->inventory; }
const char *sp_inference_class(const struct sp_inference *inference) { return inference->best->class; }
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
