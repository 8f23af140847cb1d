/* SPDX-License-Identifier: MIT
 * A tensor that several lines could have is one of them: when the conditions of all others are not met, those of the
 * one that is left are. */
#include "base/order.h"
#include "infer/deduce.h"
#include "solve/invert.h"

#include <stdlib.h>
#include <string.h>

void sp_claims_init(struct sp_deduction *deduction)
{
    struct sp_map first = {0};
    const struct sp_outline *outline = deduction->outline;
    deduction->namesake = sp_realloc(NULL, outline->count, sizeof *deduction->namesake);
    for (size_t i = outline->count; i-- > 0;) {
        deduction->namesake[i] = sp_map_get(&first, outline->lines[i].name);
        sp_map_set(&first, outline->lines[i].name, i);
    }
    sp_map_free(&first);
}

static int compare_named(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return sp_order(a, b);
}

static bool has_tensor(const struct sp_occurrence *occurrence, size_t named)
{
    return occurrence->count &&
           bsearch(&named, occurrence->named, occurrence->count, sizeof *occurrence->named, compare_named);
}

/* What one line's conditions say of its claim. */
struct claim {
    bool is_ruled_out;
    size_t unknown; /* conditions that are not known; of these the last: */
    const struct sp_line_condition *open;
    const char *lacks; /* a key that they need, or NULL */
};

static struct claim weigh_claim(struct sp_deduction *deduction, const struct sp_line *line)
{
    struct claim claim = {.is_ruled_out = false};
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer) {
        const struct sp_value value = sp_condition_value(deduction->solver, condition);
        if (value.type == SP_UNKNOWN) {
            if (!claim.lacks && *value.string) claim.lacks = value.string;
            claim.open = condition;
            claim.unknown++;
        } else if (!sp_value_is_true(value)) claim.is_ruled_out = true;
    }
    return claim;
}

enum sp_answer sp_ask_claimed(struct sp_deduction *deduction, const struct sp_question *question, const char **lacks)
{
    const struct sp_occurrences *occurrences = &deduction->occurrences;
    size_t claims = 0, last = SIZE_MAX;
    bool is_clear = true; /* which condition of the last claim would have to be met */
    *lacks = NULL;
    for (size_t i = question->line; i != SIZE_MAX; i = deduction->namesake[i]) {
        const struct sp_occurrence *occurrence = &occurrences->of[i];
        if (!has_tensor(occurrence, question->named)) continue;
        sp_occurrence_enter(occurrences, occurrence, question->named);
        const struct claim claim = weigh_claim(deduction, occurrence->line);
        sp_loop_leave(occurrence->line->loop);
        if (claim.is_ruled_out) continue;
        if (!claim.unknown) return SP_HOLDS;
        if (!*lacks) *lacks = claim.lacks;
        is_clear = claim.unknown == 1 && occurrence->unknown == SIZE_MAX;
        last = i;
        claims++;
    }
    if (!claims) return SP_CONTRADICTS;
    if (claims > 1 || !is_clear) return SP_OPEN;
    const struct sp_occurrence *occurrence = &occurrences->of[last];
    sp_occurrence_enter(occurrences, occurrence, question->named);
    const struct claim claim = weigh_claim(deduction, occurrence->line);
    const enum sp_answer answer = sp_invert_bool(deduction->solver, claim.open->env, claim.open->expr, true);
    sp_loop_leave(occurrence->line->loop);
    return answer;
}
