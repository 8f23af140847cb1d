/* SPDX-License-Identifier: MIT */
#include "solve/lines.h"

#include <stdlib.h>

#include "base/budget.h"
#include "solve/limits.h"

/* ---- loops ---- */

void sp_loop_enter(struct sp_loop *loop, int64_t iteration) { loop->binding.value = sp_value_int(iteration); }

void sp_loop_leave(struct sp_loop *loop)
{
    for (; loop; loop = loop->outer)
        loop->binding.value = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_UNKNOWN, .string = ""};
}

struct sp_loop *sp_line_outermost(const struct sp_line *line)
{
    struct sp_loop *loop = line->loop;
    while (loop && loop->outer) loop = loop->outer;
    return loop;
}

/* An expression behind a definition that was searched. */
struct looked_through {
    const struct sp_frame *frame;
    const struct sp_expr *expr;
};

/* A search of an expression, and of the definitions that it names, for the index of a loop. Definitions are searched
 * once, as far as they are outside of loops: each may be named by several others, and those by several others. */
struct dependence {
    const struct sp_loop *loop; /* NULL: any that is in no iteration */
    int depth;                  /* of the recursion */
    SP_ARRAY(struct looked_through) seen;
};

static bool depends_on(struct dependence *dependence, const struct sp_env *env, const struct sp_expr *expr);

/* Whether the expression was searched before; otherwise notes it. */
static bool was_seen(struct dependence *dependence, const struct sp_env *env, const struct sp_expr *expr)
{
    if (env->loops || env->args) return false;
    for (size_t i = 0; i < dependence->seen.count; i++)
        if (dependence->seen.items[i].frame == env->frame && dependence->seen.items[i].expr == expr) return true;
    *SP_PUSH(&dependence->seen) = (struct looked_through){env->frame, expr};
    return false;
}

static bool name_depends_on(struct dependence *dependence, const struct sp_env *env, const struct sp_expr *expr)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr);
    struct sp_env own = *env;
    if (meaning.kind == SP_MEANS_LOOP) {
        const struct sp_binding *index = sp_loop_numbered(env->loops, meaning.index);
        return dependence->loop ? index == &dependence->loop->binding : index->value.type == SHAPEPROOF_VALUE_UNKNOWN;
    }
    if (meaning.kind == SP_MEANS_DEFINITION && meaning.definition->is_function) {
        own = sp_definition_env(env, meaning);
        expr = meaning.definition->expr;
    } else if (!sp_meaning_open(&own, &expr)) return false;
    return !was_seen(dependence, &own, expr) && depends_on(dependence, &own, expr);
}

static bool mentions_argument(const struct sp_expr *body, size_t index)
{
    if (body->kind == SP_EXPR_NAME) return body->reach == SP_REACH_ARGUMENT && body->index == index;
    for (size_t i = 0; i < body->count; i++)
        if (mentions_argument(body->args[i], index)) return true;
    return false;
}

/* Whether the value of a call depends on its index'th argument: a table's own function may ignore it, as sparse(i) =
 * experts > 0 does. True for all other expressions. */
static bool needs_argument(const struct sp_env *env, const struct sp_expr *expr, size_t index)
{
    if (expr->kind != SP_EXPR_CALL || expr->function) return true;
    const struct sp_meaning meaning = sp_meaning_of(env, expr);
    return meaning.kind != SP_MEANS_DEFINITION || mentions_argument(meaning.definition->expr, index);
}

static bool depends_on(struct dependence *dependence, const struct sp_env *env, const struct sp_expr *expr)
{
    bool depends = false;
    if (dependence->depth == SP_DEEPEST_DEPENDENCE) return false;
    dependence->depth++;
    if (expr->kind == SP_EXPR_NAME || (expr->kind == SP_EXPR_CALL && !expr->function))
        depends = name_depends_on(dependence, env, expr);
    for (size_t i = 0; i < expr->count && !depends; i++)
        depends = needs_argument(env, expr, i) && depends_on(dependence, env, expr->args[i]);
    dependence->depth--;
    return depends;
}

bool sp_depends_on(const struct sp_env *env, const struct sp_expr *expr, const struct sp_loop *loop)
{
    struct dependence dependence = {.loop = loop};
    const bool depends = depends_on(&dependence, env, expr);
    sp_free(dependence.seen.items);
    return depends;
}

/* ---- names ---- */

int64_t sp_line_iteration(const struct sp_line *line, const struct sp_loop *loop, const uint64_t *numbers)
{
    for (size_t i = 0; i < line->hole_count; i++) {
        const struct sp_hole *hole = &line->holes[i];
        if (hole->loop != loop) continue;
        const uint64_t behind = numbers[i] - hole->constant; /* below 0 it is above INT64_MAX, since it is unsigned */
        return behind > INT64_MAX || behind % hole->factor ? -1 : (int64_t)(behind / hole->factor);
    }
    return -1;
}

void sp_line_enter(const struct sp_line *line, const uint64_t *numbers)
{
    for (struct sp_loop *loop = line->loop; loop; loop = loop->outer) {
        const int64_t iteration = sp_line_iteration(line, loop, numbers);
        if (iteration >= 0) sp_loop_enter(loop, iteration);
    }
}

size_t sp_line_fix_numbers(struct sp_solver *solver, const struct sp_line *line, struct sp_fixed_numbers *fixed)
{
    size_t unknown = SIZE_MAX;
    for (size_t i = 0; i < line->hole_count; i++) {
        const struct sp_hole *hole = &line->holes[i];
        struct shapeproof_value value = sp_value_int((int64_t)hole->constant);
        fixed->is_fixed[i] = !hole->loop;
        if (hole->expr && !sp_solver_eval(solver, hole->env, hole->expr, &value)) value = sp_value_int(-1);
        if (hole->expr && value.type != SHAPEPROOF_VALUE_INT) {
            fixed->is_fixed[i] = false;
            unknown = i;
        }
        fixed->value[i] = (uint64_t)value.integer;
    }
    return unknown;
}

bool sp_line_fits(const struct sp_line *line, const struct sp_fixed_numbers *fixed, const uint64_t *numbers)
{
    for (size_t i = 0; i < line->hole_count; i++) {
        if (fixed->is_fixed[i] && numbers[i] != fixed->value[i]) return false;
        if (!line->holes[i].loop) continue;
        const int64_t iteration = sp_line_iteration(line, line->holes[i].loop, numbers);
        if (iteration < 0 || (uint64_t)iteration * line->holes[i].factor + line->holes[i].constant != numbers[i])
            return false; /* one index twice in the name, or not a number that it can make */
    }
    return true;
}

/* ---- conditions ---- */

/* The bit of the loop that lies so far outside. */
static uint64_t loop_bit(size_t outside) { return UINT64_C(1) << (outside < 63 ? outside : 63); }

static uint64_t loops_of(const struct sp_line_condition *condition)
{
    struct sp_condition_state *state = condition->state;
    size_t outside = 0;
    for (const struct sp_loop *loop = condition->loop; loop && !state->is_told; loop = loop->outer, outside++)
        if (sp_depends_on(condition->env, condition->expr, loop)) state->about |= loop_bit(outside);
    state->is_told = true;
    return state->about;
}

bool sp_condition_varies(const struct sp_line_condition *condition) { return loops_of(condition) != 0; }

bool sp_condition_is_about(const struct sp_line_condition *condition, const struct sp_loop *loop)
{
    const uint64_t about = loops_of(condition);
    size_t outside = 0;
    const struct sp_loop *around = condition->loop;
    for (; around && around != loop; around = around->outer) outside++;
    return around && (about & loop_bit(outside));
}

static bool eval_condition(struct sp_solver *solver, const struct sp_line_condition *condition,
                           struct shapeproof_value *value)
{
    if (sp_condition_varies(condition)) return sp_solver_eval(solver, condition->env, condition->expr, value);
    return sp_solver_remember(solver, condition->env, condition->expr, &condition->state->remembered, value);
}

struct shapeproof_value sp_condition_value(struct sp_solver *solver, const struct sp_line_condition *condition)
{
    struct shapeproof_value value;
    return eval_condition(solver, condition, &value) ? value : sp_value_absent("");
}

bool sp_line_is_ruled_out(struct sp_solver *solver, const struct sp_line *line)
{
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer) {
        struct shapeproof_value value;
        if (!eval_condition(solver, condition, &value)) return true;
        if (value.type == SHAPEPROOF_VALUE_BOOL && !value.boolean) return true;
        if (value.type == SHAPEPROOF_VALUE_INT && !value.integer) return true;
    }
    return false;
}

bool sp_line_is_decided(struct sp_solver *solver, const struct sp_line *line)
{
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer) {
        struct shapeproof_value value;
        if (!eval_condition(solver, condition, &value) || value.type == SHAPEPROOF_VALUE_UNKNOWN) return false;
    }
    return true;
}

static bool is_within_line(struct sp_solver *solver, const struct sp_loop *loop)
{
    const struct shapeproof_value first = sp_solver_value(solver, loop->env, loop->clause->first);
    const struct shapeproof_value last = sp_solver_value(solver, loop->env, loop->clause->last);
    const struct shapeproof_value iteration = loop->binding.value;
    return first.type == SHAPEPROOF_VALUE_INT && last.type == SHAPEPROOF_VALUE_INT &&
           iteration.type == SHAPEPROOF_VALUE_INT && iteration.integer >= first.integer &&
           iteration.integer <= last.integer;
}

bool sp_line_is_met(struct sp_solver *solver, const struct sp_line *line)
{
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer)
        if (!sp_value_is_true(sp_condition_value(solver, condition))) return false;
    return true;
}

bool sp_line_is_used(struct sp_solver *solver, const struct sp_line *line)
{
    for (const struct sp_loop *loop = line->loop; loop; loop = loop->outer)
        if (!is_within_line(solver, loop)) return false;
    return sp_line_is_met(solver, line);
}

/* ---- the lines of an outline by their names ---- */

/* Numbers and the pattern that has them. A pattern has as many marks as there are numbers before it, so that no two of
 * these are the same. */
static void put_key(struct sp_text *text, const uint64_t *numbers, size_t count, const char *pattern)
{
    text->length = 0;
    for (size_t i = 0; i < count; i++) {
        sp_text_number(text, numbers[i]);
        sp_text_puts(text, ",");
    }
    sp_text_puts(text, pattern);
}

/* The key of a line in the map: each of the thousands of layers of a Keras model has lines of its own for dense_4 and
 * dense_5, which the pattern alone would not part. */
static const char *key_of_line(struct sp_line_map *map, const struct sp_line *line)
{
    uint64_t numbers[SP_MAX_INDICES];
    for (size_t i = 0; i < line->hole_count; i++) {
        if (line->holes[i].loop || line->holes[i].expr) return line->name;
        numbers[i] = line->holes[i].constant;
    }
    if (!line->hole_count) return line->name;
    put_key(&map->pattern, numbers, line->hole_count, line->name);
    return sp_arena_copy(&map->keys, map->pattern.data, map->pattern.length);
}

void sp_line_map_init(struct sp_line_map *map, struct sp_outline *outline)
{
    *map = (struct sp_line_map){.outline = outline};
    map->next = sp_realloc(NULL, outline->count, sizeof *map->next);
    for (size_t i = outline->count; i-- > 0;) {
        const char *key = key_of_line(map, &outline->lines[i]);
        map->next[i] = sp_map_get(&map->first, key);
        sp_map_set(&map->first, key, i);
    }
}

void sp_line_map_free(struct sp_line_map *map)
{
    sp_free(map->next);
    sp_map_free(&map->first);
    sp_arena_free(&map->keys);
    sp_text_free(&map->pattern);
}

size_t sp_lines_named(struct sp_line_map *map, const char *name, struct sp_indices *indices,
                      const struct sp_line **lines, size_t most)
{
    struct sp_fixed_numbers fixed;
    struct sp_text key = {0};
    size_t count = 0;
    map->pattern.length = 0;
    indices->count = 0;
    sp_text_puts(&map->pattern, "");
    sp_name_split(&map->pattern, name, SP_INDEX_ANYWHERE, indices);
    size_t i = sp_map_get(&map->first, map->pattern.data), constant = SIZE_MAX;
    if (indices->count) {
        put_key(&key, indices->value, indices->count, map->pattern.data);
        constant = sp_map_get(&map->first, key.data);
    }
    sp_text_free(&key);
    for (; (i != SIZE_MAX || constant != SIZE_MAX) && count < most; sp_budget_spend(1)) {
        size_t *earlier = i < constant ? &i : &constant; /* lines come in the order of the outline */
        const struct sp_line *line = &map->outline->lines[*earlier];
        *earlier = map->next[*earlier];
        sp_line_fix_numbers(&map->outline->solver, line, &fixed);
        if (sp_line_fits(line, &fixed, indices->value)) lines[count++] = line;
    }
    return count;
}

/* What the name of a line has behind its front: one component, or any that end in the leaf. */
static bool ends_as(const char *rest, const char *leaf)
{
    const char *slash = strrchr(rest, '/'), *last = slash ? slash + 1 : rest;
    if (!leaf) return !slash;
    const size_t length = strlen(last);
    return strncmp(last, leaf, length) == 0 && (!leaf[length] || leaf[length] == ':');
}

size_t sp_lines_below(struct sp_line_map *map, const char *front, const char *leaf, struct sp_indices *indices,
                      const struct sp_line **lines, size_t most)
{
    struct sp_fixed_numbers fixed;
    size_t count = 0;
    map->pattern.length = 0;
    *indices = (struct sp_indices){.count = 0};
    sp_text_puts(&map->pattern, "");
    sp_name_split(&map->pattern, front, SP_INDEX_ANYWHERE, indices);
    for (size_t i = 0; i < map->outline->count && count < most; i++) {
        const struct sp_line *line = &map->outline->lines[i];
        if (strncmp(line->name, map->pattern.data, map->pattern.length) != 0) continue;
        if (!ends_as(line->name + map->pattern.length, leaf)) continue;
        sp_line_fix_numbers(&map->outline->solver, line, &fixed);
        if (sp_line_fits(line, &fixed, indices->value)) lines[count++] = line;
    }
    return count;
}
