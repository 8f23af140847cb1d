/* SPDX-License-Identifier: MIT
 * What the search found becomes facts. */
#include "infer/numbers/modules.h"
#include "solve/invert.h"

struct sp_reason sp_modules_reason(const struct sp_modules *modules, size_t named)
{
    return (struct sp_reason){.kind = SP_REASON_INDICES,
                              .name = sp_occurrence_tensor(&modules->deduction->occurrences, named)->name};
}

/* Tells one choice, as a guess or with the tensor `named` as the reason. */
static void tell_as(struct sp_modules *modules, const struct sp_choice *choice, size_t named, bool is_guess)
{
    struct sp_known *known = &modules->deduction->solver->known;
    known->touched = 0;
    if (is_guess) {
        known->reason = (struct sp_reason){.kind = SP_REASON_GUESS, .name = ""};
        sp_known_guess(known, choice->key);
    } else {
        known->reason = sp_modules_reason(modules, named);
        known->reason.rounded = choice->want.value.type == SHAPEPROOF_VALUE_INT;
    }
    sp_choice_tell(known, choice);
}

/* For which lists the length is told. */
enum lengths {
    NO_LENGTHS,
    LENGTHS_OF_ITEMS, /* lists that are items of lists */
    ALL_LENGTHS
};

/* Tells the choices of the solution from `first` on and before `end`. Whether anything was new. */
static bool tell_choices(struct sp_modules *modules, size_t first, size_t end, enum lengths lengths, size_t named,
                         bool is_guess)
{
    const struct sp_known *known = &modules->deduction->solver->known;
    const size_t before = known->told;
    for (size_t i = first; i < end; i++) {
        const struct sp_choice *choice = &modules->solution[i];
        const enum lengths own = sp_is_item_key(choice->key) ? LENGTHS_OF_ITEMS : ALL_LENGTHS;
        if (choice->want.kind == SP_WANT_VALUE || lengths >= own) tell_as(modules, choice, named, is_guess);
    }
    return known->told != before;
}

bool sp_modules_tell(struct sp_modules *modules, size_t named)
{
    /* When the budget is spent there may be further solutions, so that no choice is certain. */
    const size_t certain = *modules->left ? modules->common : 0, all = modules->solution_depth;
    return tell_choices(modules, 0, certain, NO_LENGTHS, named, false) ||
           tell_choices(modules, certain, all, *modules->left ? NO_LENGTHS : ALL_LENGTHS, named, true) ||
           tell_choices(modules, 0, certain, ALL_LENGTHS, named, false) ||
           tell_choices(modules, certain, all, LENGTHS_OF_ITEMS, named, true);
}

bool sp_modules_tell_staged(struct sp_modules *modules, size_t named)
{
    struct sp_known *known = &modules->deduction->solver->known;
    const size_t before = sp_known_count_set(known);
    size_t from = 0;
    tell_choices(modules, 0, modules->solution_depth, ALL_LENGTHS, named, true);
    known->reason = sp_modules_reason(modules, named);
    sp_modules_pass(modules, &from);
    for (size_t i = 0; i < modules->solution_depth; i++)
        if (modules->solution[i].want.kind == SP_WANT_LENGTH) sp_known_open_list(known, modules->solution[i].key);
    return sp_known_count_set(known) != before;
}

bool sp_modules_tell_ends(struct sp_modules *modules, size_t named)
{
    struct sp_solver *solver = modules->deduction->solver;
    const size_t before = solver->known.told;
    for (size_t i = 0; i < modules->end_count && !modules->solution_depth; i++) {
        const struct sp_want want = sp_want_value(sp_value_int(modules->ends[i].last));
        solver->known.reason = (struct sp_reason){
            .kind = SP_REASON_LAST, .name = sp_occurrence_tensor(&modules->deduction->occurrences, named)->name};
        solver->known.touched = 0;
        sp_invert(solver, modules->ends[i].loop->env, modules->ends[i].loop->clause->last, &want);
    }
    return solver->known.told != before;
}
