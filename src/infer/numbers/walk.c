/* SPDX-License-Identifier: MIT
 * Checks a list of modules under the values that are known: walks its lines through all iterations of their loops. Each
 * iteration must have a tensor, of the right shape, and no two iterations the same one. */
#include <stdlib.h>

#include "infer/limits.h"
#include "infer/numbers/modules.h"
#include "solve/invert.h"
#include "solve/iterations.h"

/* Whether a loop whose end is not known is beyond its first iteration: the loop may end before, so that a missing
 * tensor is no contradiction. */
static bool is_beyond_end(const struct sp_modules *modules, struct sp_iterations *iterations)
{
    if (!modules->open_ended) return false;
    for (const struct sp_loop *loop = iterations->line->loop; loop; loop = loop->outer) {
        const struct shapeproof_value last = sp_solver_value(iterations->solver, loop->env, loop->clause->last);
        const struct shapeproof_value first = sp_solver_value(iterations->solver, loop->env, loop->clause->first);
        if (last.type == SHAPEPROOF_VALUE_UNKNOWN && loop->binding.value.integer > first.integer) return true;
    }
    return false;
}

/* Whether the tensor of an iteration may be missing: the line is optional or tied, or a condition of it may be false.
 * If just one condition has no value, it is told to be false. */
static bool is_excused_iteration(struct sp_iterations *iterations)
{
    const struct sp_line_condition *open = NULL;
    size_t count = 0;
    for (const struct sp_line_condition *condition = iterations->line->condition; condition;
         condition = condition->outer)
        if (sp_condition_value(iterations->solver, condition).type == SHAPEPROOF_VALUE_UNKNOWN) {
            open = condition;
            count++;
        }
    if (count == 1) return sp_invert_bool(iterations->solver, open->env, open->expr, false) != SP_CONTRADICTS;
    return count > 0 || iterations->line->optional || iterations->line->row->has_tie;
}

/* Whether the tensor can be the one of these iterations: tells that all conditions are true and the dimensions are its
 * own, and is false when that contradicts. What it told before it failed stays: the caller undoes it. */
static bool agrees_with(struct sp_iterations *iterations, const struct sp_modules *modules, size_t named)
{
    const struct shapeproof_tensor *tensor = sp_occurrence_tensor(&modules->deduction->occurrences, named);
    const struct sp_line *line = iterations->line;
    bool agrees = tensor->rank == line->row->rank;
    for (const struct sp_line_condition *condition = line->condition; condition && agrees; condition = condition->outer)
        agrees = sp_invert_bool(iterations->solver, condition->env, condition->expr, true) != SP_CONTRADICTS;
    for (size_t d = 0; d < line->row->rank && agrees; d++) {
        const struct sp_want want = sp_want_value(sp_value_int((int64_t)tensor->shape[d]));
        agrees = sp_shapes_is_flat(modules->deduction->occurrences.shapes, named) ||
                 sp_invert(iterations->solver, line->env, line->row->shape[d], &want) != SP_CONTRADICTS;
    }
    return agrees;
}

/* The number of the module in another iteration of a loop. False when it is not known (`open` is the unknown value,
 * with the key that it lacks), or the file has no such module. */
static bool number_in_iteration(struct sp_iterations *iterations, struct sp_loop *loop, int64_t iteration,
                                uint64_t *number, struct shapeproof_value *open)
{
    const struct sp_modules *modules = iterations->context;
    const struct shapeproof_value before = loop->binding.value;
    uint64_t numbers[SP_MAX_INDICES];
    sp_loop_enter(loop, iteration);
    const enum sp_answer answer = sp_line_numbers(iterations->solver, iterations->line, numbers, open);
    loop->binding.value = before;
    if (answer != SP_HOLDS) return false;
    *number = numbers[modules->front];
    return *number < modules->stages.count;
}

/* Whether the module may be of the same stage as that of the first iteration of the loop. True as well where stages are
 * not told by shapes. */
static bool is_of_stage(struct sp_iterations *iterations, const struct sp_modules *modules, const uint64_t *numbers)
{
    struct sp_loop *loop = modules->stage;
    struct shapeproof_value open;
    uint64_t of_first;
    if (!loop || !modules->stages.count) return true;
    const struct shapeproof_value first = sp_solver_value(iterations->solver, loop->env, loop->clause->first);
    if (first.type != SHAPEPROOF_VALUE_INT || first.integer == loop->binding.value.integer) return true;
    return !number_in_iteration(iterations, loop, first.integer, &of_first, &open) ||
           sp_stages_alike(&modules->stages, of_first, numbers[modules->front]);
}

/* Whether the tensor may be another line's: there is one with the same names, and the loop may have ended before. */
static bool may_be_of_another(const struct sp_modules *modules, struct sp_iterations *iterations)
{
    const struct sp_deduction *deduction = modules->deduction;
    return deduction->has_namesake[iterations->line - deduction->outline->lines] && is_beyond_end(modules, iterations);
}

/* agrees_with, but if it is false nothing was told. */
static bool agrees_or_tells_nothing(struct sp_iterations *iterations, const struct sp_modules *modules, size_t named)
{
    struct sp_known *known = &iterations->solver->known;
    const struct sp_mark mark = sp_known_mark(known);
    const bool agrees = agrees_with(iterations, modules, named);
    if (agrees) sp_known_commit(known, &mark);
    else sp_known_undo(known, &mark);
    return agrees;
}

/* Visits one iteration. True: its tensor is in the file and agrees, or nothing speaks against the iteration. False ends
 * the walk: the tensor is missing without an excuse, differs, or is that of another iteration (stamps); the module is
 * of another stage; its number is not known; or the budget of steps is used up. */
static bool visit_module(struct sp_iterations *iterations)
{
    struct sp_modules *modules = iterations->context;
    const struct sp_shapes *shapes = modules->deduction->occurrences.shapes;
    uint64_t numbers[SP_MAX_INDICES];
    if (!*modules->left) return false;
    --*modules->left;
    if (sp_line_numbers(iterations->solver, iterations->line, numbers, &iterations->open) != SP_HOLDS) return false;
    if (sp_line_is_ruled_out(iterations->solver, iterations->line)) return true;
    const size_t named =
        sp_shapes_seek(shapes, sp_shapes_find(shapes, iterations->line->name), numbers, iterations->line->hole_count);
    if (named == SHAPEPROOF_NONE) return is_beyond_end(modules, iterations) || is_excused_iteration(iterations);
    if (modules->stamps[named] == modules->stamp || !is_of_stage(iterations, modules, numbers)) return false;
    if (may_be_of_another(modules, iterations)) {
        if (!agrees_or_tells_nothing(iterations, modules, named)) return true;
    } else if (!agrees_with(iterations, modules, named)) return false;
    modules->stamps[named] = modules->stamp;
    modules->found++;
    modules->steps++;
    return true;
}

/* Notes that a loop without a known end goes up to `last`, or as far as another line has it. */
static void note_end(struct sp_modules *modules, const struct sp_loop *loop, int64_t last)
{
    size_t i = 0;
    while (i < modules->end_count && modules->ends[i].loop != loop) i++;
    if (i == SP_MOST_LOOP_ENDS) return;
    if (i == modules->end_count) modules->ends[modules->end_count++] = (struct sp_end){loop, last};
    else if (last > modules->ends[i].last) modules->ends[i].last = last;
}

/* The end of a loop whose index is in the name: the highest index that the file's names have. Returns the unknown bound
 * when no name has its index. */
static struct shapeproof_value end_by_names(struct sp_iterations *iterations, struct sp_loop *loop)
{
    struct sp_modules *modules = iterations->context;
    const struct sp_shapes *shapes = modules->deduction->occurrences.shapes;
    const size_t pattern = sp_shapes_find(shapes, iterations->line->name);
    int64_t last = -1;
    for (size_t i = shapes->first[pattern]; i < shapes->first[pattern + 1]; i++) {
        const int64_t iteration = sp_line_iteration(iterations->line, loop, shapes->named[i].place.indices.value);
        if (iteration > last) last = iteration;
    }
    modules->open_ended = true;
    if (last >= 0) note_end(modules, loop, last);
    return last < 0 ? iterations->open : sp_value_int(last);
}

static bool has_index_of(const struct sp_line *line, const struct sp_loop *loop)
{
    for (size_t i = 0; i < line->hole_count; i++)
        if (line->holes[i].loop == loop) return true;
    return false;
}

/* The last iteration of a loop by the shapes of the modules. A stage, the loop modules->stage, goes as far as its
 * modules are alike; the loop around it has as many iterations as there are stages, or repetitions of the whole. False
 * when the loop is none of these, or the number of its first module is not known; then iterations->open is what that
 * lacks, which comes before the end of the loop. */
static bool last_by_stages(struct sp_iterations *iterations, struct sp_loop *loop, int64_t first, int64_t *last)
{
    const struct sp_modules *modules = iterations->context;
    uint64_t number, next;
    if (!modules->stage || has_index_of(iterations->line, loop)) return false;
    if (loop != modules->stage) { /* over the stages; or, where these have lists of their own, over what is repeated */
        const bool repeats = loop->outer != NULL;
        *last = first + (repeats ? sp_stages_repeats(&modules->stages) : sp_stages_count(&modules->stages)) - 1;
        return modules->stage->outer == loop && (!repeats || has_index_of(iterations->line, loop->outer));
    }
    if (!number_in_iteration(iterations, loop, first, &number, &iterations->open)) return false;
    const uint64_t step =
        number_in_iteration(iterations, loop, first + 1, &next, &iterations->open) && next > number ? next - number : 1;
    *last = first + sp_stages_behind(&modules->stages, number, step);
    return true;
}

/* Makes what is told next follow from a guess, one for all stages of a list: neighbours that are alike may be two
 * stages.
 */
static void guess_stages(struct sp_modules *modules, const char *key)
{
    struct sp_known *known = &modules->deduction->solver->known;
    if (known->guesses == modules->guesses) sp_known_guess(known, key);
    else known->touched = known->guesses;
}

/* The last iteration of a loop whose bound has no value, for sp_iterations.end. */
static struct shapeproof_value end_of_loop(struct sp_iterations *iterations, struct sp_loop *loop)
{
    struct sp_modules *modules = iterations->context;
    const struct shapeproof_value open = iterations->open,
                                  first = sp_solver_value(iterations->solver, loop->env, loop->clause->first);
    int64_t last;
    if (!modules->deduction->by_stages || !modules->stages.count ||
        !last_by_stages(iterations, loop, first.integer, &last))
        return end_by_names(iterations, loop);
    guess_stages(modules, open.string);
    const struct sp_want want = sp_want_value(sp_value_int(last));
    const enum sp_answer answer = sp_invert(iterations->solver, loop->env, loop->clause->last, &want);
    if (answer == SP_OPEN) return sp_solver_value(iterations->solver, loop->env, loop->clause->last);
    return answer == SP_HOLDS ? want.value : sp_value_absent("");
}

/* Whether the iteration is within the bounds of the loop, as far as these are known. */
static bool may_have_iteration(struct sp_solver *solver, const struct sp_loop *loop, int64_t iteration)
{
    const struct shapeproof_value first = sp_solver_value(solver, loop->env, loop->clause->first);
    const struct shapeproof_value last = sp_solver_value(solver, loop->env, loop->clause->last);
    return !(first.type == SHAPEPROOF_VALUE_INT && iteration < first.integer) &&
           !(last.type == SHAPEPROOF_VALUE_INT && iteration > last.integer);
}

/* Enters the iterations that the numbers in front of the list stand for; false when the line does not have one of them.
 */
static bool enter_front(const struct sp_modules *modules, const struct sp_line *line)
{
    bool may_be = true;
    for (size_t i = 0; i < modules->front; i++) {
        struct sp_loop *loop = line->holes[i].loop;
        if (!loop) continue;
        const int64_t iteration = sp_line_iteration(line, loop, modules->numbers);
        may_be = may_be && may_have_iteration(modules->deduction->solver, loop, iteration);
        sp_loop_enter(loop, iteration);
    }
    return may_be;
}

/* Walks one line of the list through its iterations. SP_HOLDS: it agrees with the file in all of them, or has none
 * under the numbers in front. SP_OPEN: the walk cannot go on without the key `lacks`. Otherwise SP_CONTRADICTS. */
static enum sp_answer walk_line(struct sp_modules *modules, size_t place, const char **lacks)
{
    struct sp_deduction *deduction = modules->deduction;
    const struct sp_line *line = &deduction->outline->lines[modules->lines[place]];
    struct sp_iterations iterations = {.solver = deduction->solver,
                                       .line = line,
                                       .visit = visit_module,
                                       .end = end_of_loop,
                                       .context = modules,
                                       .left = *modules->left};
    modules->open_ended = false;
    modules->stage = sp_stage_loop(line, modules->front);
    const bool agrees = !enter_front(modules, line) || sp_walk_iterations(&iterations);
    sp_loop_leave(line->loop);
    *lacks = !agrees && iterations.open.type == SHAPEPROOF_VALUE_UNKNOWN && *iterations.open.string
                 ? iterations.open.string
                 : NULL;
    if (agrees) return SP_HOLDS;
    return *lacks ? SP_OPEN : SP_CONTRADICTS;
}

enum sp_answer sp_modules_pass(struct sp_modules *modules, size_t *from)
{
    enum sp_answer answer = SP_HOLDS;
    modules->stamp++;
    modules->found = 0;
    if (!*from) modules->end_count = 0;
    for (size_t i = *from; i < modules->count; i++) {
        const char *lacks;
        const size_t steps = modules->steps;
        const enum sp_answer own = walk_line(modules, i, &lacks);
        if (own == SP_CONTRADICTS) return own;
        if (answer == SP_OPEN) modules->steps = steps;
        if (own == SP_HOLDS || answer == SP_OPEN) continue;
        answer = own;
        modules->lacks = lacks;
        *from = i;
    }
    return answer;
}

bool sp_modules_are_whole(struct sp_modules *modules)
{
    size_t from = 0;
    return sp_modules_pass(modules, &from) == SP_HOLDS && modules->found == modules->tensors;
}
