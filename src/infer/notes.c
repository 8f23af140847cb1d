/* SPDX-License-Identifier: MIT
 * What is said besides the table and its hyper-parameters: under which names, and how, the file stores the model. */
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "model/inventory.h"
#include "names/collapse.h"
#include "stored/descriptions.h"

static void add_note(struct shapeproof_inference *inference, const char *id, const char *message, const char *brief)
{
    *SP_PUSH(&inference->notes) = (struct shapeproof_inference_note){id, message, brief};
}

void sp_note_untried(struct shapeproof_inference *inference)
{
    add_note(inference, "steps",
             "a table took too many steps and was not tried to the end, so it may fit better than the chosen one; "
             "--limit steps=N allows more",
             NULL);
}

void sp_note_metadata(struct shapeproof_inference *inference, const char *message, const char *brief)
{
    inference->is_contradicted = true;
    add_note(inference, "metadata", message, brief);
}

/* ---- names ---- */

/* The first tensor of the file that is called otherwise than predicted, and how many there are. */
static size_t first_renamed(const struct sp_attempt *best, size_t *count)
{
    const unsigned front = SP_STRIPPED | SP_ADDED | SP_UNWRAPPED | SP_TRANSLATED | SP_PREFIX_REPLACED;
    size_t first = SHAPEPROOF_NONE;
    *count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(best->view->file); i++) {
        const size_t seen = sp_seen_as(best->view, i);
        if (best->match.predicted_of[seen] == SHAPEPROOF_NONE) continue;
        if (!best->view->is_respelt && !(best->match.renaming[seen] & front)) continue;
        if (first == SHAPEPROOF_NONE) first = i;
        ++*count;
    }
    return first;
}

/* Whose names they are; NULL when only something is in front of them, or not. */
static const char *whose_names(const struct sp_attempt *best)
{
    if (best->view->is_respelt) return "of TensorFlow";
    return best->naming.scheme ? best->naming.scheme->says : NULL;
}

static void note_names(struct shapeproof_inference *inference)
{
    const struct sp_attempt *best = inference->best;
    struct sp_arena *arena = &inference->arena;
    const char *whose = whose_names(best);
    size_t count;
    const size_t first = first_renamed(best, &count);
    if (first == SHAPEPROOF_NONE) return;
    const size_t predicted = best->match.predicted_of[sp_seen_as(best->view, first)];
    add_note(inference, "names",
             sp_arena_printf(arena, "%s%s, such as %s for %s (%s)", whose ? "names " : "names with other prefixes",
                             whose ? whose : "", shapeproof_inventory_tensor(best->view->file, first)->name,
                             shapeproof_prediction_tensor(best->prediction, predicted)->name,
                             sp_count_of(arena, count, "tensor")),
             whose ? sp_arena_printf(arena, "under names %s", whose) : NULL);
}

/* ---- the rest ---- */

static void note_quantised(struct shapeproof_inference *inference)
{
    const struct sp_unpacked *unpacked = inference->best->view->unpacked;
    struct sp_arena *arena = &inference->arena;
    if (!unpacked) return;
    const char *brief = sp_arena_printf(arena, "quantised: %s", sp_describe_scheme(arena, unpacked->form));
    add_note(inference, "quantised",
             sp_arena_printf(arena, "%s (%s in %s)", brief, sp_count_of(arena, unpacked->count, "weight"),
                             sp_count_of(arena, unpacked->tensors, "tensor")),
             brief);
}

static void note_parametrised(struct shapeproof_inference *inference)
{
    const struct sp_infer_view *view = inference->best->view;
    size_t count = 0;
    if (!view->parametrised) return;
    for (size_t i = 0; i < shapeproof_inventory_count(view->inventory); i++) count += view->is_computed[i];
    inference->is_as_stored = false;
    add_note(inference, "parametrised",
             sp_arena_printf(&inference->arena, "stored under %s: %s", view->parametrised,
                             sp_count_of(&inference->arena, count, "weight")),
             sp_arena_printf(&inference->arena, "%zu weights under %s", count, view->parametrised));
}

/* The names of tensors of the file that are seen in a certain way, "h.{0-11}.attn.bias", and how many. */
static const char *names_where(struct shapeproof_inference *inference, const struct sp_attempt *attempt,
                               bool (*is)(const struct sp_attempt *attempt, size_t seen), size_t *count)
{
    const struct shapeproof_inventory *file = inference->inventory;
    const char **names = sp_realloc(NULL, shapeproof_inventory_count(file), sizeof *names);
    *count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(file); i++)
        if (is(attempt, sp_seen_as(attempt->view, i))) names[(*count)++] = shapeproof_inventory_tensor(file, i)->name;
    const char *list = *count ? sp_some_names(&inference->arena, names, *count) : "";
    sp_free(names);
    return list;
}

static bool is_excused(const struct sp_attempt *attempt, size_t seen) { return attempt->is_excused[seen]; }

static void note_buffers(struct shapeproof_inference *inference)
{
    size_t count;
    const char *names = names_where(inference, inference->best, is_excused, &count);
    if (count)
        add_note(inference, "buffers",
                 sp_arena_printf(&inference->arena, "also buffers that loaders compute anew: %s (%s)", names,
                                 sp_count_of(&inference->arena, count, "tensor")),
                 NULL);
}

static bool is_beside(const struct sp_attempt *attempt, size_t seen) { return attempt->is_beside[seen]; }

static void note_beside(struct shapeproof_inference *inference)
{
    size_t count;
    const char *names = names_where(inference, inference->best, is_beside, &count);
    if (count)
        add_note(inference, "beside",
                 sp_arena_printf(&inference->arena,
                                 "also a moving average of the model, or values of a trainer: %s (%s)", names,
                                 sp_count_of(&inference->arena, count, "tensor")),
                 NULL);
}

static void note_recomputed(struct shapeproof_inference *inference)
{
    const struct sp_attempt *best = inference->best;
    const size_t total = shapeproof_prediction_count(best->prediction);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < total; i++)
        if (best->is_recomputed[i]) names[count++] = shapeproof_prediction_tensor(best->prediction, i)->name;
    if (count)
        add_note(inference, "absent-buffers",
                 sp_arena_printf(&inference->arena, "without buffers that loaders compute anew: %s (%s)",
                                 sp_some_names(&inference->arena, names, count),
                                 sp_count_of(&inference->arena, count, "tensor")),
                 NULL);
    sp_free(names);
}

static void note_incomplete(struct shapeproof_inference *inference)
{
    size_t count;
    const char *names = names_where(inference, inference->best, sp_attempt_is_incomplete, &count);
    if (!count) return;
    inference->is_as_stored = false;
    add_note(inference, "incomplete",
             sp_arena_printf(&inference->arena, "quantised weights without all that belongs to them: %s (%s)", names,
                             sp_count_of(&inference->arena, count, "tensor")),
             sp_arena_printf(&inference->arena, "%zu of them incomplete", count));
}

static bool is_joined(const struct sp_attempt *attempt, size_t seen)
{
    const struct sp_infer_view *view = attempt->view;
    return sp_attempt_is_joined(attempt, seen) || (view->is_part && view->is_part[seen]);
}

static void note_joined(struct shapeproof_inference *inference)
{
    const struct sp_attempt *best = inference->best;
    size_t count;
    const char *names = names_where(inference, best, is_joined, &count);
    const char *how = best->view->is_part || best->fused.count ? "fused" : "split";
    if (!count) return;
    add_note(inference, "joined",
             sp_arena_printf(&inference->arena, "%s in the file, such as %s: %s (%s)", how,
                             best->joint ? best->joint : best->view->fused, names,
                             sp_count_of(&inference->arena, count, "tensor")),
             sp_arena_printf(&inference->arena, "%zu of them %s", count, how));
}

static bool is_transposed(const struct sp_attempt *attempt, size_t seen)
{
    return attempt->view->is_transposed && attempt->view->is_transposed[seen];
}

static void note_transposed(struct shapeproof_inference *inference)
{
    size_t count;
    const char *names = names_where(inference, inference->best, is_transposed, &count);
    inference->is_as_stored = !count;
    if (count)
        add_note(inference, "transposed",
                 sp_arena_printf(&inference->arena, "stored transposed: %s (%s)", names,
                                 sp_count_of(&inference->arena, count, "tensor")),
                 sp_arena_printf(&inference->arena, "%zu of them transposed", count));
}

static void note_fits_transposed(struct shapeproof_inference *inference, const struct sp_attempt *transposed)
{
    size_t count;
    const char *names = names_where(inference, transposed, is_transposed, &count), *table = transposed->table->name;
    const char *who = strcmp(table, "gpt2") == 0 ? ", as nanoGPT stores it" : "";
    add_note(inference, "turned",
             sp_arena_printf(&inference->arena, "%s explains it as well with %s transposed%s: %s", table,
                             sp_count_of(&inference->arena, count, "tensor"), who, names),
             sp_arena_printf(&inference->arena, "or %s with %zu of them transposed%s", table, count, who));
}

/* The shards that could not be read, and as far as the index lists them the tensors that they should hold. */
static void note_shards(struct shapeproof_inference *inference)
{
    const struct shapeproof_inventory *file = inference->inventory;
    struct sp_arena *arena = &inference->arena;
    const char **names = sp_realloc(NULL, file->promise_count, sizeof *names), *shard = NULL;
    size_t count = 0;
    for (size_t i = 0; i < file->promise_count; i++) {
        if (!file->promises[i].unreadable) continue;
        if (!shard) shard = file->promises[i].shard;
        if (file->promises[i].tensor) names[count++] = file->promises[i].tensor;
    }
    inference->lacks_shards = shard != NULL;
    if (count)
        add_note(inference, "absent-shards",
                 sp_arena_printf(arena, "in shards that could not be read, such as %s: %s (%s)", shard,
                                 sp_some_names(arena, names, count), sp_count_of(arena, count, "tensor")),
                 sp_arena_printf(arena, "without %zu in shards that could not be read", count));
    else if (shard)
        add_note(inference, "absent-shards",
                 sp_arena_printf(arena, "shards that could not be read, such as %s, may hold more tensors", shard),
                 "without shards that could not be read");
    sp_free(names);
}

void sp_note_storage(struct shapeproof_inference *inference, const struct sp_attempt *transposed)
{
    note_names(inference);
    note_quantised(inference);
    note_parametrised(inference);
    note_transposed(inference);
    note_incomplete(inference);
    note_joined(inference);
    if (transposed) note_fits_transposed(inference, transposed);
    note_buffers(inference);
    note_beside(inference);
    note_recomputed(inference);
    note_shards(inference);
}
