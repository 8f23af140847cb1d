/* SPDX-License-Identifier: MIT */
#include "infer/guess/trying.h"

enum { MAX_QUESTIONS = 400, MAX_ROUNDS = 4 };

struct sp_outcome sp_deduction_ask_unresolved(struct sp_deduction *deduction, size_t limit)
{
    const struct sp_known *known = &deduction->solver->known;
    struct sp_outcome outcome = {.contradictions = 0};
    for (int round = 0; round < MAX_ROUNDS; round++) {
        outcome = (struct sp_outcome){.contradictions = 0};
        const size_t before = known->told;
        for (size_t i = 0; i < deduction->open_count && i < MAX_QUESTIONS && outcome.contradictions <= limit; i++) {
            const enum sp_answer answer = sp_ask(deduction, &deduction->open[i]);
            if (deduction->effort->trials) --deduction->effort->trials;
            outcome.contradictions += answer == SP_CONTRADICTS;
            outcome.answered += answer == SP_HOLDS;
        }
        if (known->told == before || outcome.contradictions > limit) break;
    }
    return outcome;
}

struct sp_outcome sp_try_want(struct sp_deduction *deduction, const char *key, struct sp_want want, size_t limit,
                              struct sp_kept *then)
{
    struct sp_known *known = &deduction->solver->known;
    struct sp_outcome outcome = {.contradictions = SIZE_MAX};
    struct sp_kept kept = sp_known_keep(known);
    if (sp_known_tell(known, key, &want) == SP_HOLDS) outcome = sp_deduction_ask_unresolved(deduction, limit);
    if (then) *then = sp_known_keep(known);
    sp_known_restore(known, &kept);
    return outcome;
}

struct sp_outcome sp_try_value(struct sp_deduction *deduction, const char *key, struct shapeproof_value value,
                               size_t limit)
{
    return sp_try_want(deduction, key, sp_want_value(value), limit, NULL);
}

/* ---- one of two alternatives ---- */

static enum sp_answer ask_supposing(struct sp_deduction *deduction, const struct sp_question *question)
{
    deduction->solver->known.touched = 0;
    deduction->solver->supposes = true;
    const enum sp_answer answer = sp_ask(deduction, question);
    deduction->solver->supposes = false;
    return answer;
}

bool sp_suppose_alternative(struct sp_deduction *deduction, size_t limit)
{
    enum { FEW = 8 };
    struct sp_known *known = &deduction->solver->known;
    for (size_t i = 0, tried = 0; i < deduction->open_count && tried < FEW; i++) {
        const struct sp_question question = deduction->open[i];
        if (question.kind != SP_ASK_DIMENSION) continue;
        const size_t told = known->told;
        struct sp_kept kept = sp_known_keep(known);
        const bool tells = ask_supposing(deduction, &question) == SP_HOLDS && known->told != told;
        const bool is_better = tells && sp_deduction_ask_unresolved(deduction, limit).contradictions < limit;
        tried += tells;
        sp_known_restore(known, &kept);
        if (is_better) return ask_supposing(deduction, &question) == SP_HOLDS;
    }
    return false;
}
