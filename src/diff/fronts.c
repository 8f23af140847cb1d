/* SPDX-License-Identifier: MIT
 * Names that begin otherwise, many in the same way: "module." taken away, "transformer.h." for "model.layers.".
 * Patterns vote for such changes, and those with the most tensors are applied first. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/order.h"
#include "diff/pairing.h"
#include "names/prefix_pairs.h"

/* What speaks for a change of beginnings. */
struct vote {
    const struct sp_prefix_rule *front;
    size_t patterns, tensors, place;
    bool alike; /* the names as a whole are similar */
};

struct votes {
    struct sp_prefix_pairs fronts;
    SP_ARRAY(struct vote) of; /* each front */
};

static size_t count_marks(const char *text, size_t length)
{
    size_t marks = 0;
    for (size_t i = 0; i < length; i++) marks += text[i] == SP_INDEX_MARK;
    return marks;
}

/* How many members have the same indices and fit. */
static size_t count_fitting(const struct sp_pairing *p, const struct sp_side *a, const struct sp_side *b)
{
    size_t fitting = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const int order = sp_compare_indices(&a->members[i].indices, &b->members[k].indices);
        if (order == 0) fitting += sp_pairing_fits(p, a->members[i].item, b->members[k].item);
        if (order <= 0) i++;
        if (order >= 0) k++;
    }
    return fitting;
}

/* Whether one name is what the other ends with: "lm_head.weight" and "language_model.lm_head.weight". Between names of
 * two programs, one of them translated, this says more than the number of letters. */
static bool is_end_of_other(const char *a, const char *b)
{
    const size_t length = strlen(a), other = strlen(b);
    if (length > other) return is_end_of_other(b, a);
    return strchr(a, '.') && length < other && b[other - length - 1] == '.' && sp_ends_with(b, a);
}

static void add_vote(struct sp_pairing *p, const struct sp_side *a, const struct sp_side *b,
                     struct sp_prefix_rule_guess guess, struct votes *votes)
{
    const char *in_a = sp_pairing_text(p, a), *in_b = sp_pairing_text(p, b);
    const size_t fitting = count_fitting(p, a, b), fewer = a->count < b->count ? a->count : b->count;
    if (fitting * 2 < fewer || count_marks(in_a, guess.from) != count_marks(in_b, guess.to)) return;
    const size_t place = sp_prefix_pairs_add(&votes->fronts, in_a, guess.from, in_b, guess.to);
    if (place == votes->of.count) *SP_PUSH(&votes->of) = (struct vote){.place = place};
    struct vote *vote = &votes->of.items[place];
    vote->patterns++;
    vote->tensors += fitting;
    vote->alike = vote->alike || sp_similarity(in_a, in_b) || (p->diff->scheme && is_end_of_other(in_a, in_b));
}

static void collect_votes(struct sp_pairing *p, struct votes *votes)
{
    for (size_t i = 0; i < p->a.count; i++) sp_prefix_pairs_note_a(&votes->fronts, sp_pairing_text(p, &p->a.items[i]));
    for (size_t i = 0; i < p->b.count; i++)
        sp_prefix_pairs_note_b(&votes->fronts, sp_pairing_text(p, &p->b.items[i]), i);
    for (size_t i = 0; i < p->a.count; i++) {
        const struct sp_prefix_rule_guess guess =
            sp_prefix_pairs_guess(&votes->fronts, sp_pairing_text(p, &p->a.items[i]));
        if (guess.b != SIZE_MAX) add_vote(p, &p->a.items[i], &p->b.items[guess.b], guess, votes);
    }
    for (size_t i = 0; i < votes->of.count; i++) votes->of.items[i].front = &votes->fronts.items[i];
}

static int compare_votes(const void *left, const void *right)
{
    const struct vote *a = left, *b = right;
    return a->tensors != b->tensors ? sp_order(b->tensors, a->tensors) : sp_order(a->place, b->place);
}

/* Enough of them agree that a tensor may have another shape as well. */
static bool is_firm(const struct vote *vote)
{
    const bool is_prefix = !*vote->front->from || !*vote->front->to;
    return vote->patterns > 1 || (is_prefix && vote->tensors > 1);
}

/* Pairs the patterns that begin with vote->front->from with those that begin with its `to` instead. */
static void apply_front(struct sp_pairing *p, const struct vote *vote)
{
    const struct sp_prefix_rule *front = vote->front;
    const size_t length = strlen(front->from);
    struct sp_arena scratch = {0};
    const size_t translation = sp_pairing_translation(p, front->from, front->to, "*");
    p->diff->translations.items[translation].is_prefix = !*front->from || !*front->to;
    for (size_t i = 0; i < p->a.count; i++) {
        const char *text = sp_pairing_text(p, &p->a.items[i]);
        if (strncmp(text, front->from, length) != 0) continue;
        const char *wanted = sp_arena_printf(&scratch, "%s%s", front->to, text + length);
        const struct sp_side *b = sp_pairing_side(&p->b, sp_pattern_of(&p->patterns, wanted, NULL));
        if (b)
            sp_pairing_join(p, &p->a.items[i], b, translation,
                            is_firm(vote) ? SP_PAIR_ANY_SHAPES : SP_PAIR_SAME_SHAPES);
    }
    sp_arena_free(&scratch);
}

/* One pattern alone is little evidence: then the names must be alike. */
void sp_pairing_fronts(struct sp_pairing *p)
{
    struct votes votes = {.fronts = {.arena = &p->arena, .separators = "."}};
    collect_votes(p, &votes);
    if (votes.of.count) qsort(votes.of.items, votes.of.count, sizeof *votes.of.items, compare_votes);
    for (size_t i = 0; i < votes.of.count; i++)
        if (votes.of.items[i].patterns > 1 || votes.of.items[i].alike) apply_front(p, &votes.of.items[i]);
    sp_free(votes.of.items);
    sp_prefix_pairs_free(&votes.fronts);
}
