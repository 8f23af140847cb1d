/* SPDX-License-Identifier: MIT
 * Loops that are shorter or longer in the file than predicted, by the indices in the names of findings. */
#include <stdlib.h>
#include <string.h>

#include "explain/patch.h"
#include "explain/trials/conditions.h"
#include "names/components.h"

/* Indices of a loop in a row that are all missing, or all unexpected. */
struct run {
    const struct sp_named_index *first, *last;
    bool is_all; /* nothing of the loop is there */
};

/* Whether the tensor with the index before that one is in the file and predicted: then one of the two loops, that of
 * the file or the predicted one, ends here. */
static bool follows_a_match(const struct sp_proposals *proposals, const struct sp_named_index *at)
{
    struct sp_text name = {0};
    struct sp_indices indices = *sp_named_indices(proposals, at);
    const struct shapeproof_check *check = proposals->check;
    const struct sp_match *match = &check->match;
    if (!indices.count || !indices.value[at->position]--) return false;
    sp_pattern_fill(&name, sp_named_pattern(proposals, at), &indices);
    const size_t other = at->missing ? shapeproof_prediction_find(check->prediction, name.data)
                                     : shapeproof_inventory_find(check->inventory, name.data);
    sp_text_free(&name);
    return other != SHAPEPROOF_NONE &&
           (at->missing ? match->tensor_of[other] : match->predicted_of[other]) != SHAPEPROOF_NONE;
}

/* Whether the run begins with the missing index 0, and the file has no tensor that is predicted below the front of the
 * loop, "model.layers.": nothing of the loop. */
static bool is_all_missing(const struct sp_proposals *proposals, const struct sp_named_index *first)
{
    struct sp_text before = {0}, front = {0};
    const struct shapeproof_check *check = proposals->check;
    const struct sp_indices *indices = sp_named_indices(proposals, first);
    const char *pattern = sp_named_pattern(proposals, first);
    size_t length = 0, position = 0;
    bool none = first->missing && !first->index && indices->count;
    if (!none) return false;
    while (pattern[length] && (pattern[length] != SP_INDEX_MARK || position++ < first->position)) length++;
    sp_text_append(&before, pattern, length);
    sp_pattern_fill(&front, before.data, indices);
    for (size_t i = 0; none && i < shapeproof_prediction_count(check->prediction); i++)
        none = check->match.tensor_of[i] == SHAPEPROOF_NONE ||
               strncmp(shapeproof_prediction_tensor(check->prediction, i)->name, front.data, front.length) != 0;
    sp_text_free(&before);
    sp_text_free(&front);
    return none;
}

/* The iteration of the loop that gives an index in a name: 3 for the index 7 of a hole 2*i + 1. */
static int64_t iteration_of_loop(const struct sp_hole *hole, uint64_t index)
{
    return ((int64_t)index - (int64_t)hole->constant) / (int64_t)hole->factor;
}

/* A number of layers has to change together with the lists of the configuration that have an entry for each layer.
 * Proposes the changes from `first` on once more with these: after num_hidden_layers 16, num_hidden_layers 16 with
 * layer_types of 16 entries. */
static void propose_with_lists(struct sp_proposals *proposals, size_t first)
{
    struct shapeproof_check *check = proposals->check;
    const size_t end = proposals->count;
    for (size_t i = first; i < end; i++) {
        const struct sp_change change = proposals->items[i];
        const size_t front = sp_last_component(change.key, strlen(change.key), ".");
        const char *path = sp_arena_copy(&check->arena, change.key, front); /* "text_config.", or "" */
        if (change.also || change.instead_of) continue;
        const struct shapeproof_value lists =
            sp_patch_lists(check, path, (struct shapeproof_member){change.key + front, change.value});
        struct sp_change with = change;
        for (size_t k = 0; lists.type == SHAPEPROOF_VALUE_OBJECT && k < lists.count; k++) {
            struct sp_change *also = sp_arena_array(&check->arena, 1, sizeof *also);
            *also = (struct sp_change){.key = sp_arena_printf(&check->arena, "%s%s", path, lists.members[k].key),
                                       .value = lists.members[k].value,
                                       .from = change.from,
                                       .also = with.also};
            with.also = also;
        }
        if (with.also && proposals->count < SP_MOST_PROPOSALS) proposals->items[proposals->count++] = with;
    }
}

/* Proposes another end of the loop. If the predicted loop ends with a run of missing indices, it should end before the
 * run; if it ends before a run of unexpected ones, with the run. Between its end and that run another loop may have
 * iterations with the same names. */
static void propose_end(struct sp_proposals *proposals, const struct run *run, const struct sp_hole *hole)
{
    const struct sp_loop *loop = hole->loop;
    const struct shapeproof_value last = sp_solver_value(&proposals->outline.solver, loop->env, loop->clause->last);
    const int64_t before = iteration_of_loop(hole, run->first->index) - 1,
                  with = iteration_of_loop(hole, run->last->index);
    const bool missing = run->first->missing;
    const size_t first = proposals->count;
    if (last.type != SHAPEPROOF_VALUE_INT || (missing ? last.integer != with : last.integer > before)) return;
    const struct sp_key_list keys = sp_proposal_keys_of(proposals, loop->env, loop->clause->last);
    for (size_t i = 0; i < keys.count; i++)
        sp_propose_for(proposals, &proposals->keys[keys.items[i]], loop->env, loop->clause->last,
                       sp_value_int(missing ? before : with));
    sp_free(keys.items);
    propose_with_lists(proposals, first);
}

/* Proposes what may change at one end of a run, `at`: the end of the loop, and numbers in conditions that differ before
 * and behind it, such as `shared` in `index < layers - shared`. */
static void propose_at(struct sp_proposals *proposals, const struct run *run, const struct sp_named_index *at)
{
    const struct sp_line *lines[SP_MOST_LINES];
    struct sp_indices indices;
    const struct shapeproof_finding *finding = &proposals->check->findings[at->finding];
    const size_t count = sp_proposal_lines(proposals, finding, &indices, lines);
    for (size_t i = 0; i < count; i++) {
        bool counts = false;
        sp_line_find_iterations(&proposals->outline.solver, lines[i], indices.value);
        for (size_t h = 0; h < lines[i]->hole_count; h++) {
            if (!lines[i]->holes[h].loop || indices.value[h] != at->index || (at->in_word && h != at->position))
                continue;
            counts = true;
            if (at == run->first) propose_end(proposals, run, &lines[i]->holes[h]);
        }
        if (counts && !run->is_all) sp_propose_met(proposals, lines[i], !at->missing, sp_is_number_key);
        sp_loop_leave(lines[i]->loop);
    }
}

/* When the last indices of a loop, a..b, are all missing, it may end before a; when they are unexpected, with b.
 * When all are missing it may have none. */
void sp_propose_lengths(struct sp_proposals *proposals)
{
    const struct sp_named_index *indices = proposals->indices;
    for (size_t from = 0, to; from < proposals->index_count; from = to) {
        size_t first = from; /* of the last run of indices */
        for (to = from + 1; to < proposals->index_count && sp_same_loop(&indices[from], &indices[to]); to++)
            if (indices[to].index > indices[to - 1].index + 1) first = to;
        const struct run run = {&indices[first], &indices[to - 1], is_all_missing(proposals, &indices[first])};
        if (!run.is_all && !follows_a_match(proposals, run.first)) continue;
        propose_at(proposals, &run, run.first);
        if (run.last != run.first) propose_at(proposals, &run, run.last);
    }
}
