/* SPDX-License-Identifier: MIT
 * Loops that are shorter or longer in the file than predicted, by the indices in the names of findings. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain/trials/proposals.h"

/* An index in the name of an open finding. */
struct place {
    size_t pattern, position, finding;
    uint64_t index;
    bool missing;
};

static bool same_loop(const struct place *a, const struct place *b)
{
    return a->pattern == b->pattern && a->position == b->position && a->missing == b->missing;
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->pattern != b->pattern) return a->pattern < b->pattern ? -1 : 1;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    if (a->missing != b->missing) return a->missing ? -1 : 1;
    if (a->index != b->index) return a->index < b->index ? -1 : 1;
    return a->finding < b->finding ? -1 : a->finding > b->finding;
}

static struct place *list_places(struct sp_check *check, size_t *count)
{
    struct place *places = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        const bool missing = finding->kind == SP_FINDING_MISSING;
        const struct sp_place *name = &check->places[i];
        if (!sp_finding_is_open(finding) || (!missing && finding->kind != SP_FINDING_UNEXPECTED)) continue;
        for (size_t p = 0; p < name->indices.count; p++) {
            SP_GROW(places, *count, capacity);
            places[(*count)++] = (struct place){name->pattern, p, i, name->indices.value[p], missing};
        }
    }
    if (*count) qsort(places, *count, sizeof *places, compare_places);
    return places;
}

/* Whether the tensor with the index before it is in the file and expected there: then a loop ends here. */
static bool follows_a_match(struct sp_check *check, const struct place *place)
{
    struct sp_text name = {0};
    struct sp_indices indices = check->places[place->finding].indices;
    const struct sp_match *match = &check->match;
    if (!indices.value[place->position]--) return false;
    sp_pattern_fill(&name, sp_pattern_text(&check->patterns, place->pattern), &indices);
    const size_t other = place->missing ? sp_prediction_find(check->prediction, name.data)
                                        : sp_inventory_find(check->inventory, name.data);
    sp_text_free(&name);
    return other != SP_NONE && (place->missing ? match->tensor_of[other] : match->predicted_of[other]) != SP_NONE;
}

/* A loop that is shorter or longer in the file than predicted: any integer that has the predicted length. */
static void resize_loop(struct sp_proposals *proposals, const struct sp_prediction *prediction, uint64_t predicted,
                        uint64_t found)
{
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        int64_t value;
        if (!sp_integer_value(hyper, &value)) continue;
        if (value == (int64_t)predicted) sp_propose(proposals, hyper, sp_value_int((int64_t)found));
        /* A number of further layers, or of those at the end that lack something, and so far there are none. */
        if (value == 0) sp_propose(proposals, hyper, sp_value_int(llabs((int64_t)found - (int64_t)predicted)));
    }
}

/* When the last indices of a loop, a..b, are all missing, it may end at a; when they are unexpected, behind b. When all
 * are missing it may have none. */
void sp_propose_lengths(struct sp_proposals *proposals, struct sp_check *check)
{
    size_t count;
    struct place *places = list_places(check, &count);
    for (size_t from = 0, to; from < count; from = to) {
        size_t first = from; /* of the last run of indices */
        for (to = from + 1; to < count && same_loop(&places[from], &places[to]); to++)
            if (places[to].index > places[to - 1].index + 1) first = to;
        const uint64_t begin = places[first].index, end = places[to - 1].index + 1;
        const bool none = places[from].missing && !begin;
        if (!none && !follows_a_match(check, &places[first])) continue;
        if (places[from].missing) resize_loop(proposals, check->prediction, end, begin);
        else resize_loop(proposals, check->prediction, begin, end);
    }
    free(places);
}
