/* SPDX-License-Identifier: MIT
 * Whether a file is evidence enough for a table; and what is said when it is for none. */
#include <stdlib.h>
#include <string.h>

#include "config/inside.h"
#include "infer/infer.h"
#include "infer/limits.h"
#include "names/patterns.h"

/* ---- enough? ---- */

/* How many kinds of predicted tensors the file has and lacks. */
struct kinds {
    size_t there;   /* at least one tensor of the kind is in the file */
    size_t missing; /* none is, although it is required */
};

/* Counts the kinds of predicted tensors, where names that differ in their numbers alone are one kind. A kind is
 * there when one of its tensors is, and missing when all that are required are missing. */
static struct kinds count_kinds(const struct sp_attempt *attempt)
{
    const size_t predicted = shapeproof_prediction_count(attempt->prediction);
    struct sp_patterns patterns = {0};
    struct kinds kinds = {0};
    enum { MISSING = 1, THERE = 2 }; /* bits */
    unsigned char *state_of_kind = sp_realloc(NULL, predicted, sizeof *state_of_kind);
    memset(state_of_kind, 0, predicted);
    for (size_t i = 0; i < predicted; i++) {
        const size_t kind = sp_pattern_of(&patterns, shapeproof_prediction_tensor(attempt->prediction, i)->name, NULL);
        if (attempt->match.tensor_of[i] != SHAPEPROOF_NONE || attempt->is_joined[i]) state_of_kind[kind] |= THERE;
        else if (sp_attempt_lacks(attempt, i)) state_of_kind[kind] |= MISSING;
    }
    for (size_t i = 0; i < patterns.count; i++) {
        kinds.there += (state_of_kind[i] & THERE) != 0;
        kinds.missing += state_of_kind[i] == MISSING;
    }
    sp_free(state_of_kind);
    sp_patterns_free(&patterns);
    return kinds;
}

/* The tensors without an explanation, less those under other outer keys of a pickle than all that is explained: a
 * second state dict there is no evidence against the first. */
static size_t unexplained_beside(const struct sp_attempt *attempt)
{
    const struct shapeproof_inventory *file = attempt->view->file; /* its view may have other tensors */
    const struct shapeproof_tensor *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(file); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(file, i);
        if (attempt->match.predicted_of[sp_seen_as(attempt->view, i)] == SHAPEPROOF_NONE) continue;
        if (!first) first = tensor;
        if (!first->outer || tensor->outer != first->outer || strncmp(tensor->name, first->name, first->outer) != 0)
            return attempt->unexplained;
    }
    for (size_t i = 0; first && i < shapeproof_inventory_count(file); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(file, i);
        count += sp_is_error(sp_attempt_tensor(attempt, i)) && tensor->outer == first->outer &&
                 strncmp(tensor->name, first->name, first->outer) == 0;
    }
    return count;
}

bool sp_attempt_is_plausible(const struct sp_attempt *attempt, bool asked_for)
{
    if (!attempt || !attempt->prediction || attempt->explained <= unexplained_beside(attempt)) return false;
    if (asked_for) return true;
    if (attempt->without_layers) return false;
    if (!attempt->missing) return true;
    const struct kinds kinds = count_kinds(attempt);
    return kinds.missing <= kinds.there;
}

/* ---- not enough ---- */

/* Best first; equals by the names of their tables, because qsort leaves them in any order. */
static int by_merit(const void *left, const void *right)
{
    const struct sp_attempt *a = *(struct sp_attempt *const *)left, *b = *(struct sp_attempt *const *)right;
    const int order = sp_attempt_compare(a, b);
    return order ? order : strcmp(a->table->name, b->table->name);
}

/* How near a table comes to a file that it does not explain. */
enum distance {
    NEAR,   /* it explains a tensor of a layer, or has no layers */
    BESIDE, /* it has layers, and explains none of their tensors: such as a table that shares only the embedding */
    FAR_OFF /* it lacks more than SP_FAR_MISSING tensors for each that it explains */
};

static enum distance distance_of(const struct sp_attempt *attempt)
{
    if (attempt->missing / SP_FAR_MISSING > attempt->explained) return FAR_OFF;
    return attempt->without_layers ? BESIDE : NEAR;
}

/* Prints the best tables of that distance, at most SP_MOST_NEAREST: "; nearest: llama (explains 9, lacks 200), ...".
 * Returns how many. `attempts` are sorted by_merit. */
static size_t put_nearest_of(struct sp_text *text, struct sp_attempt *const *attempts, size_t count,
                             enum distance distance)
{
    const struct sp_unit *last = NULL; /* the classes of a table explain alike, and one is enough */
    size_t shown = 0;
    for (size_t i = 0; i < count && shown < SP_MOST_NEAREST; i++) {
        const struct sp_attempt *attempt = attempts[i];
        if (!attempt->prediction || !attempt->explained || distance_of(attempt) != distance) continue;
        if (attempt->table == last) continue;
        last = attempt->table;
        sp_text_printf(text, "%s%s (explains %zu, lacks %zu)", shown++ ? ", " : "; nearest: ", attempt->table->name,
                       attempt->explained, attempt->missing);
    }
    return shown;
}

static void put_nearest(struct sp_text *text, struct sp_attempt **attempts, size_t count)
{
    if (count) qsort(attempts, count, sizeof *attempts, by_merit);
    if (!put_nearest_of(text, attempts, count, NEAR)) put_nearest_of(text, attempts, count, BESIDE);
}

/* Whether the file lists the layers of the model itself, as those of Keras do. */
static bool has_layers(const struct shapeproof_inventory *inventory)
{
    struct sp_arena arena = {0};
    struct shapeproof_value entry;
    const bool has = sp_config_keras_entry(&arena, inventory, &entry);
    sp_arena_free(&arena);
    return has;
}

/* One of
 *
 *     FILE: no table explains the 12 tensors; nearest: llama (explains 9, lacks 200), ...
 *     FILE: the table 'llama' explains less than half of the 12 tensors
 *     FILE: there are no tensors in it */
void sp_fail_unknown(struct shapeproof_error *error, const struct shapeproof_inventory *inventory,
                     const char *table_name, struct sp_attempt **attempts, size_t count)
{
    const size_t all = shapeproof_inventory_count(inventory);
    const char *path = shapeproof_inventory_path(inventory);
    struct sp_text text = {0};
    if (!all) {
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "%s: there are no tensors in it", path);
        return;
    }
    if (table_name && all == 1) sp_text_printf(&text, "the table '%s' does not explain the one tensor", table_name);
    else if (table_name)
        sp_text_printf(&text, "the table '%s' explains less than half of the %zu tensors", table_name, all);
    else if (all == 1) sp_text_puts(&text, "no table explains the one tensor");
    else sp_text_printf(&text, "no table explains the %zu tensors", all);
    if (!table_name) put_nearest(&text, attempts, count);
    sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "%s: %s", path, text.data);
    sp_hint(error, "%s",
            has_layers(inventory)
                ? "the file has its own configuration: 'shapeproof check' compares it with that, without a table"
                : "'shapeproof tables' lists the tables, for --table NAME; 'shapeproof learn CHECKPOINT...' writes one "
                  "from checkpoints and their config.json, for --table FILE");
    sp_text_free(&text);
}
