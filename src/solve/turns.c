/* SPDX-License-Identifier: MIT */
#include "solve/turns.h"

enum { MAX_LOOPS = SP_MAX_INDICES };

static bool walk_turns_from(struct sp_turns *turns, struct sp_loop *const *loops, size_t count)
{
    if (!count) return turns->visit(turns);
    struct sp_loop *loop = *loops;
    if (loop->binding.value.type == SHAPEPROOF_VALUE_INT) return walk_turns_from(turns, loops + 1, count - 1);
    const struct shapeproof_value first = sp_solver_value(turns->solver, loop->env, loop->clause->first);
    struct shapeproof_value last = sp_solver_value(turns->solver, loop->env, loop->clause->last);
    turns->open = first.type == SHAPEPROOF_VALUE_INT ? last : first;
    if (turns->open.type == SHAPEPROOF_VALUE_UNKNOWN && first.type == SHAPEPROOF_VALUE_INT && turns->end)
        turns->open = last = turns->end(turns, loop);
    if (turns->open.type != SHAPEPROOF_VALUE_INT) return false;
    for (int64_t turn = first.integer; turn <= last.integer; turn++) {
        if (!turns->left) return false;
        turns->left--;
        sp_loop_enter(loop, turn);
        if (!walk_turns_from(turns, loops + 1, count - 1)) return false;
    }
    loop->binding.value = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_UNKNOWN, .string = ""};
    return true;
}

bool sp_walk_turns(struct sp_turns *turns)
{
    struct sp_loop *loops[MAX_LOOPS];
    const struct sp_loop *inner = turns->line->loop;
    const size_t count = inner ? inner->depth + 1 : 0;
    turns->open = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_INT};
    if (count > MAX_LOOPS) return false;
    for (struct sp_loop *loop = turns->line->loop; loop; loop = loop->outer) loops[loop->depth] = loop;
    return walk_turns_from(turns, loops, count);
}

enum sp_answer sp_line_numbers(struct sp_solver *solver, const struct sp_line *line, uint64_t *numbers,
                               struct shapeproof_value *open)
{
    for (size_t i = 0; i < line->hole_count; i++) {
        const struct sp_hole *hole = &line->holes[i];
        numbers[i] = hole->constant;
        if (hole->loop) numbers[i] += (uint64_t)hole->loop->binding.value.integer * hole->factor;
        if (!hole->expr) continue;
        *open = sp_solver_value(solver, hole->env, hole->expr);
        if (open->type == SHAPEPROOF_VALUE_UNKNOWN) return SP_OPEN;
        if (open->type != SHAPEPROOF_VALUE_INT) return SP_CONTRADICTS;
        numbers[i] = (uint64_t)open->integer;
    }
    return SP_HOLDS;
}

/* ---- the turns of one name ---- */

static bool is_other_name(struct sp_turns *turns)
{
    const uint64_t *wanted = turns->context;
    uint64_t numbers[SP_MAX_INDICES];
    struct shapeproof_value open;
    if (sp_line_numbers(turns->solver, turns->line, numbers, &open) != SP_HOLDS) return true;
    for (size_t i = 0; i < turns->line->hole_count; i++)
        if (turns->line->holes[i].expr && numbers[i] != wanted[i]) return true;
    return false;
}

bool sp_line_find_turns(struct sp_solver *solver, const struct sp_line *line, const uint64_t *numbers)
{
    enum { MAX_TURNS = 1000 };
    uint64_t wanted[SP_MAX_INDICES];
    struct sp_turns turns = {
        .solver = solver, .line = line, .visit = is_other_name, .context = wanted, .left = MAX_TURNS};
    for (size_t i = 0; i < line->hole_count; i++) wanted[i] = numbers[i];
    sp_line_enter(line, numbers);
    if (sp_walk_turns(&turns) || turns.open.type != SHAPEPROOF_VALUE_INT || !turns.left) return false;
    return !is_other_name(&turns);
}
