/* SPDX-License-Identifier: MIT
 * From names to tables, from tables to classes, from those to hyper-parameters: each step is dearer than the one before
 * and sees fewer candidates. */
#include "base/budget.h"
#include "base/call.h"
#include "infer/search.h"
#include "lang/tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Whether an attempt is as good as the best one: it predicts the same of the file; or it explains all of it as well,
 * under other names, without joining fused tensors. */
static bool is_equal(const struct sp_attempt *attempt, const struct sp_attempt *best)
{
    if (sp_attempt_explains_all(attempt) && sp_attempt_explains_all(best) && !attempt->joints)
        return attempt->explained == best->explained;
    return sp_predictions_agree(attempt->prediction, best->prediction, best);
}

/* An attempt that is reported as a candidate, and whether it is as good as the best one. */
struct candidate {
    const struct sp_attempt *attempt;
    bool same;
};

/* The candidate with that table; NULL when there is none yet. */
static struct candidate *find_candidate(struct candidate *candidates, size_t count, const struct sp_unit *table)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].attempt->table == table) return &candidates[i];
    return NULL;
}

/* Collects the attempts that are reported as candidates, one for each table; the best attempt is the first. Of several
 * attempts at a table the first one that is as good as the best attempt counts, or if there is none the first. Returns
 * how many. */
static size_t choose_candidates(const struct shapeproof_inference *inference, const struct sp_infer_search *search,
                                struct candidate *candidates)
{
    size_t count = 0;
    candidates[count++] = (struct candidate){inference->best, true};
    for (size_t i = 0; i < search->attempts.count; i++) {
        const struct sp_attempt *attempt = search->attempts.items[i];
        struct candidate *known = find_candidate(candidates, count, attempt->table);
        if (!attempt->explained || attempt->is_second_choice || attempt->view->transposed || (known && known->same))
            continue;
        const struct candidate candidate = {attempt, is_equal(attempt, inference->best)};
        if (attempt->is_further && !candidate.same) continue;
        if (!known) candidates[count++] = candidate;
        else if (candidate.same) *known = candidate;
    }
    return count;
}

/* Puts the candidates behind the first one in order: those that are as good as it, the likeliest first, and then the
 * others as they are. A stable insertion sort, since most are in order and there are few. */
static void sort_candidates(struct candidate *candidates, size_t count)
{
    for (size_t i = 2; i < count; i++) {
        const struct candidate moved = candidates[i];
        size_t place = i;
        for (; place > 1 && moved.same; place--) {
            const struct candidate before = candidates[place - 1];
            if (before.same && sp_attempt_compare(before.attempt, moved.attempt) <= 0) break;
            candidates[place] = before;
        }
        candidates[place] = moved;
    }
}

static void keep_candidates(struct shapeproof_inference *inference, const struct sp_infer_search *search)
{
    struct candidate *candidates = sp_arena_array(&inference->arena, search->attempts.count + 1, sizeof *candidates);
    const size_t count = choose_candidates(inference, search, candidates);
    sort_candidates(candidates, count);
    inference->candidates = sp_arena_array(&inference->arena, count, sizeof *inference->candidates);
    inference->candidate_count = count;
    for (size_t i = 0; i < count; i++)
        inference->candidates[i] = (struct shapeproof_inference_candidate){
            candidates[i].attempt->table->name, candidates[i].attempt->explained, candidates[i].attempt->missing,
            candidates[i].same};
}

/* Lists the tensors of the file that are not explained, and the predicted ones that it lacks. */
static void keep_findings(struct shapeproof_inference *inference)
{
    const struct sp_attempt *best = inference->best;
    const size_t tensors = shapeproof_inventory_count(inference->inventory),
                 predicted = shapeproof_prediction_count(best->prediction);
    inference->unexplained = sp_arena_array(&inference->arena, best->unexplained, sizeof *inference->unexplained);
    inference->missing = sp_arena_array(&inference->arena, best->missing, sizeof *inference->missing);
    for (size_t i = 0; i < tensors; i++)
        if (sp_is_error(sp_attempt_tensor(best, i))) inference->unexplained[inference->unexplained_count++] = i;
    for (size_t i = 0; i < predicted; i++)
        if (sp_attempt_lacks(best, i)) inference->missing[inference->missing_count++] = i;
}

static void finish_inference(struct shapeproof_inference *inference, const struct sp_infer_search *search)
{
    keep_candidates(inference, search);
    keep_findings(inference);
    sp_note_storage(inference, search->transposed);
    sp_compare_metadata(inference);
    sp_determine(inference);
    sp_settle_nulls(inference);
    sp_add_head_counts(inference);
    sp_write_config(inference);
}

/* Limits the search to the table with that name; NULL: no limit. False, with an error, when there is no such table. */
static bool choose_only_table(struct sp_tables_searched *searched, const char *table_name,
                              struct shapeproof_error *error)
{
    if (!table_name) return true;
    searched->only = sp_tables_table(searched->tables, table_name, error);
    return searched->only;
}

struct shapeproof_inference *sp_infer_within(const struct shapeproof_inventory *inventory,
                                             const struct shapeproof_tables *tables,
                                             const struct shapeproof_infer_options *options,
                                             struct sp_infer_budget *budget, struct shapeproof_error *error)
{
    const char *table_name = options ? options->table : NULL;
    struct sp_infer_search search = {.file = inventory,
                                     .searched = {.tables = tables, .as_named = budget && budget->as_named},
                                     .budget = budget,
                                     .watch = options ? options->watch : NULL};
    if (!choose_only_table(&search.searched, table_name, error)) return NULL;
    struct shapeproof_inference *inference = sp_realloc(NULL, 1, sizeof *inference);
    *inference = (struct shapeproof_inference){.inventory = inventory};
    search.arena = &inference->arena;
    sp_infer_search_file(&search);
    /* Of what the search made the inference keeps the views, what the file states, and the best attempt if that is
     * evidence for its table. */
    inference->views = search.views.items;
    inference->view_count = search.views.count;
    inference->stated = search.stated.config;
    inference->stated_table = search.stated.table;
    if (search.is_cancelled) sp_fail_cancelled(error);
    else if (sp_attempt_is_plausible(search.best, table_name != NULL)) {
        inference->best = search.best;
        finish_inference(inference, &search);
    } else sp_fail_unknown(error, inventory, table_name, search.attempts.items, search.attempts.count);
    for (size_t i = 0; i < search.attempts.count; i++)
        if (search.attempts.items[i] != inference->best) sp_attempt_free(search.attempts.items[i]);
    sp_free(search.attempts.items);
    if (inference->best) return inference;
    shapeproof_inference_free(inference);
    return NULL;
}

struct shapeproof_inference *shapeproof_infer(const struct shapeproof_inventory *inventory,
                                              const struct shapeproof_tables *tables,
                                              const struct shapeproof_infer_options *options,
                                              struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("searching for a table");
    SP_BUDGET_REUSE(inventory);
    sp_tables_reuse(tables);
    sp_error_reset(error);
    if (options && !sp_options_are_known(options->reserved, error)) return NULL;
    const size_t refusals = sp_budget_memory_refusals(), untried = sp_budget_step_refusals();
    struct shapeproof_inference *inference = sp_infer_within(inventory, tables, options, NULL, error);
    if (sp_budget_memory_refusals() > refusals) sp_call_exceed(); /* a better table may be one that was not tried */
    if (!inference && sp_budget_step_refusals() > untried && error && error->status == SHAPEPROOF_ERR_UNKNOWN)
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                "%s: no table was found, but one that was tried took too many steps; --limit steps=N allows more",
                shapeproof_inventory_path(inventory));
    if (inference && sp_budget_step_refusals() > untried) sp_note_untried(inference);
    return inference;
}

void shapeproof_inference_free(struct shapeproof_inference *inference)
{
    if (!inference) return;
    sp_attempt_free(inference->best);
    for (size_t i = 0; i < inference->view_count; i++) sp_infer_view_free(inference->views[i]);
    sp_free(inference->views);
    sp_free(inference->notes.items);
    sp_free(inference->undetermined.items);
    shapeproof_config_free(inference->stated);
    sp_arena_free(&inference->arena);
    sp_free(inference);
}

/* ---- what the public header promises ---- */

const struct shapeproof_inventory *shapeproof_inference_inventory(const struct shapeproof_inference *inference)
{
    return inference->inventory;
}
const char *shapeproof_inference_class(const struct shapeproof_inference *inference) { return inference->best->class; }
const char *shapeproof_inference_table(const struct shapeproof_inference *inference)
{
    return inference->best->table->name;
}

const struct shapeproof_prediction *shapeproof_inference_prediction(const struct shapeproof_inference *inference)
{
    return inference->best->prediction;
}

size_t shapeproof_inference_count(const struct shapeproof_inference *inference) { return inference->inferred_count; }

const struct shapeproof_inferred *shapeproof_inference_get(const struct shapeproof_inference *inference, size_t index)
{
    return &inference->inferred[index];
}

size_t shapeproof_inference_explained(const struct shapeproof_inference *inference)
{
    return inference->best->explained;
}
size_t shapeproof_inference_unexplained_count(const struct shapeproof_inference *inference)
{
    return inference->unexplained_count;
}

size_t shapeproof_inference_unexplained(const struct shapeproof_inference *inference, size_t index)
{
    return inference->unexplained[index];
}

size_t shapeproof_inference_missing_count(const struct shapeproof_inference *inference)
{
    return inference->missing_count;
}
size_t shapeproof_inference_missing(const struct shapeproof_inference *inference, size_t index)
{
    return inference->missing[index];
}
size_t shapeproof_inference_candidate_count(const struct shapeproof_inference *inference)
{
    return inference->candidate_count;
}

const struct shapeproof_inference_candidate *
shapeproof_inference_candidate(const struct shapeproof_inference *inference, size_t index)
{
    return &inference->candidates[index];
}

size_t shapeproof_inference_note_count(const struct shapeproof_inference *inference) { return inference->notes.count; }

const struct shapeproof_inference_note *shapeproof_inference_note(const struct shapeproof_inference *inference,
                                                                  size_t index)
{
    return &inference->notes.items[index];
}

bool shapeproof_inference_explains_all(const struct shapeproof_inference *inference)
{
    return !inference->unexplained_count && !inference->missing_count && inference->is_as_stored &&
           !inference->lacks_shards && !inference->is_contradicted;
}

size_t shapeproof_inference_undetermined_count(const struct shapeproof_inference *inference)
{
    return inference->undetermined.count;
}

const char *shapeproof_inference_undetermined(const struct shapeproof_inference *inference, size_t index)
{
    return inference->undetermined.items[index];
}

const char *shapeproof_inference_config(const struct shapeproof_inference *inference) { return inference->config; }

void shapeproof_inference_configure(const struct shapeproof_inference *inference, struct shapeproof_config *config)
{
    SP_CALL(NULL, );
    SP_SPENDS("taking what was inferred");
    sp_config_keep(config);
    struct shapeproof_value root;
    struct shapeproof_error error = {0};
    const bool parsed =
        sp_value_parse_json(&config->arena, inference->config, strlen(inference->config), &root, &error);
    assert(parsed); /* it is our own text */
    for (size_t i = 0; parsed && i < root.count; i++)
        if (strcmp(root.members[i].key, "shapeproof_undetermined") != 0)
            sp_config_set_value(config, root.members[i].key, root.members[i].value, "inferred");
}
