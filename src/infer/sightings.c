/* SPDX-License-Identifier: MIT */
#include "infer/sightings.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 40 };

/* ---- loops ---- */

void sp_loop_enter(struct sp_loop *loop, int64_t turn) { loop->binding.value = sp_value_int(turn); }

void sp_loop_leave(struct sp_loop *loop)
{
    for (; loop; loop = loop->outer) loop->binding.value = (struct sp_value){.type = SP_UNKNOWN, .string = ""};
}

struct sp_loop *sp_line_outermost(const struct sp_line *line)
{
    struct sp_loop *loop = line->loop;
    while (loop && loop->outer) loop = loop->outer;
    return loop;
}

static bool depends_on(const struct sp_env *env, const struct sp_expr *expr, const struct sp_loop *loop, int depth);

static bool name_depends_on(const struct sp_env *env, const struct sp_expr *expr, const struct sp_loop *loop, int depth)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr);
    struct sp_env own = *env;
    if (meaning.kind == SP_MEANS_LOOP) {
        const struct sp_binding *index = sp_loop_numbered(env->loops, meaning.index);
        return loop ? index == &loop->binding : index->value.type == SP_UNKNOWN;
    }
    if (meaning.kind == SP_MEANS_DEFINITION && meaning.definition->is_function) {
        own = sp_definition_env(env, meaning);
        return depends_on(&own, meaning.definition->expr, loop, depth);
    }
    return sp_meaning_open(&own, &expr) && depends_on(&own, expr, loop, depth);
}

static bool depends_on(const struct sp_env *env, const struct sp_expr *expr, const struct sp_loop *loop, int depth)
{
    if (++depth > MAX_DEPTH) return false;
    if (expr->kind == SP_EXPR_NAME || (expr->kind == SP_EXPR_CALL && !expr->function))
        if (name_depends_on(env, expr, loop, depth)) return true;
    for (size_t i = 0; i < expr->count; i++)
        if (depends_on(env, expr->args[i], loop, depth)) return true;
    return false;
}

bool sp_depends_on(struct sp_outline *outline, const struct sp_env *env, const struct sp_expr *expr,
                   const struct sp_loop *loop)
{
    (void)outline;
    return depends_on(env, expr, loop, 0);
}

/* ---- one line ---- */

static const struct sp_named *named_at(const struct sp_sightings *sights, size_t named)
{
    return &sights->shapes->named[named];
}

const struct sp_tensor *sp_sighting_tensor(const struct sp_sightings *sights, size_t named)
{
    return sp_inventory_tensor(sights->shapes->inventory, named_at(sights, named)->tensor);
}

int64_t sp_sighting_turn(const struct sp_sightings *sights, const struct sp_sighting *sighting,
                         const struct sp_loop *loop, size_t named)
{
    for (size_t i = 0; i < sighting->line->hole_count; i++) {
        const struct sp_hole *hole = &sighting->line->holes[i];
        if (hole->loop != loop) continue;
        const uint64_t number = named_at(sights, named)->place.indices.value[i];
        if (number < hole->constant || (number - hole->constant) % hole->factor) return -1;
        return (int64_t)((number - hole->constant) / hole->factor);
    }
    return -1;
}

void sp_sighting_enter(const struct sp_sightings *sights, const struct sp_sighting *sighting, size_t named)
{
    for (struct sp_loop *loop = sighting->line->loop; loop; loop = loop->outer) {
        const int64_t turn = sp_sighting_turn(sights, sighting, loop, named);
        if (turn >= 0) sp_loop_enter(loop, turn);
    }
}

/* Numbers that the line's name must have: those of the name itself, and expressions that are known by now. */
struct numbers {
    uint64_t value[SP_MAX_INDICES];
    bool fixed[SP_MAX_INDICES];
};

static void fix_numbers(struct sp_sightings *sights, struct sp_sighting *sighting, struct numbers *numbers)
{
    sighting->unknown = SIZE_MAX;
    for (size_t i = 0; i < sighting->line->hole_count; i++) {
        const struct sp_hole *hole = &sighting->line->holes[i];
        struct sp_value value = sp_value_int((int64_t)hole->constant);
        numbers->fixed[i] = !hole->loop;
        if (hole->expr && !sp_solver_eval(&sights->outline->solver, hole->env, hole->expr, &value))
            value = sp_value_int(-1);
        if (hole->expr && value.type != SP_INT) {
            numbers->fixed[i] = false;
            sighting->unknown = i;
        }
        numbers->value[i] = (uint64_t)value.integer;
    }
}

static bool fits(const struct sp_sightings *sights, const struct sp_sighting *sighting, const struct numbers *numbers,
                 size_t named)
{
    const struct sp_line *line = sighting->line;
    for (size_t i = 0; i < line->hole_count; i++) {
        const uint64_t number = named_at(sights, named)->place.indices.value[i];
        if (numbers->fixed[i] && number != numbers->value[i]) return false;
        if (!line->holes[i].loop) continue;
        const int64_t turn = sp_sighting_turn(sights, sighting, line->holes[i].loop, named);
        if (turn < 0 || (uint64_t)turn * line->holes[i].factor + line->holes[i].constant != number)
            return false; /* one index twice in the name, or not a number that it can make */
    }
    return sp_sighting_tensor(sights, named)->rank == line->row->rank;
}

/* The turns of the outermost loop around the line, as far as they are known. */
static void known_turns(struct sp_sightings *sights, const struct sp_loop *loop, int64_t *first, int64_t *last)
{
    struct sp_value value;
    *first = 0;
    *last = INT64_MAX;
    if (!loop) return;
    if (sp_solver_eval(&sights->outline->solver, loop->env, loop->clause->first, &value) && value.type == SP_INT)
        *first = value.integer;
    if (sp_solver_eval(&sights->outline->solver, loop->env, loop->clause->last, &value) && value.type == SP_INT)
        *last = value.integer;
}

static void collect(struct sp_sightings *sights, struct sp_sighting *sighting)
{
    const struct sp_shapes *shapes = sights->shapes;
    const size_t pattern = sp_shapes_find(shapes, sighting->line->name);
    const struct sp_loop *loop = sp_line_outermost(sighting->line);
    struct numbers numbers;
    int64_t least, most;
    sighting->count = 0;
    if (pattern == SP_NONE) return;
    const size_t first = shapes->first[pattern], end = shapes->first[pattern + 1];
    if (!sighting->named) sighting->named = sp_realloc(NULL, end - first, sizeof *sighting->named);
    fix_numbers(sights, sighting, &numbers);
    known_turns(sights, loop, &least, &most);
    for (size_t i = first; i < end; i++) {
        const int64_t turn = loop ? sp_sighting_turn(sights, sighting, loop, i) : least;
        if (turn >= least && turn <= most && fits(sights, sighting, &numbers, i))
            sighting->named[sighting->count++] = i;
    }
}

static bool is_indexed(struct sp_outline *outline, const struct sp_line *line)
{
    for (size_t i = 0; i < line->row->rank && line->loop; i++)
        if (sp_depends_on(outline, line->env, line->row->shape[i], NULL)) return true;
    for (const struct sp_proviso *proviso = line->proviso; proviso && line->loop; proviso = proviso->outer)
        if (sp_depends_on(outline, proviso->env, proviso->expr, NULL)) return true;
    return false;
}

/* ---- all of them ---- */

bool sp_line_is_ruled_out(struct sp_outline *outline, const struct sp_line *line)
{
    for (const struct sp_proviso *proviso = line->proviso; proviso; proviso = proviso->outer) {
        struct sp_value value;
        if (!sp_solver_eval(&outline->solver, proviso->env, proviso->expr, &value)) return true;
        if (value.type == SP_BOOL && !value.boolean) return true;
        if (value.type == SP_INT && !value.integer) return true;
    }
    return false;
}

/* Of two lines with the same tensors the one that has them, and whether it can be told. */
static size_t owner_of(const struct sp_sightings *sights, size_t first, size_t second, enum sp_rivalry rivalry,
                       bool *certain)
{
    const struct sp_sighting *a = &sights->of[first], *b = &sights->of[second];
    *certain = true;
    if ((a->unknown != SIZE_MAX) != (b->unknown != SIZE_MAX)) return a->unknown == SIZE_MAX ? first : second;
    if (rivalry != SP_RIVALS_ALL && a->line->optional != b->line->optional) return a->line->optional ? second : first;
    *certain = false;
    return first;
}

static void find_owners(struct sp_sightings *sights, enum sp_rivalry rivalry)
{
    sights->seen = 0;
    sights->first_owns = rivalry == SP_RIVALS_LATER;
    for (size_t i = 0; i < sights->shapes->count; i++) sights->owners[i] = SP_NONE;
    for (size_t i = 0; i < sights->outline->count; i++) sights->of[i].is_rival = false;
    for (size_t i = 0; i < sights->outline->count; i++)
        for (size_t k = 0; k < sights->of[i].count; k++) {
            size_t *owner = &sights->owners[sights->of[i].named[k]];
            const size_t before = *owner;
            bool certain;
            sights->seen += before == SP_NONE;
            *owner = before == SP_NONE ? i : owner_of(sights, before, i, rivalry, &certain);
            if (before == SP_NONE) continue;
            sights->of[before].is_rival |= !certain || *owner != before;
            sights->of[i].is_rival |= !certain || *owner != i;
        }
}

bool sp_sighting_is_owner(const struct sp_sightings *sights, size_t line)
{
    const struct sp_sighting *sighting = &sights->of[line];
    if (!sighting->count || !sighting->is_rival) return sighting->count > 0;
    return sights->first_owns && sights->owners[sighting->named[0]] == line;
}

void sp_sightings_renew(struct sp_sightings *sights, enum sp_rivalry rivalry)
{
    for (size_t i = 0; i < sights->outline->count; i++) {
        struct sp_sighting *sighting = &sights->of[i];
        sighting->count = 0;
        if (!sp_line_is_ruled_out(sights->outline, sighting->line)) collect(sights, sighting);
    }
    find_owners(sights, rivalry);
}

void sp_sightings_init(struct sp_sightings *sights, struct sp_outline *outline, const struct sp_shapes *shapes)
{
    *sights = (struct sp_sightings){.outline = outline, .shapes = shapes};
    sights->of = sp_realloc(NULL, outline->count, sizeof *sights->of);
    sights->owners = sp_realloc(NULL, shapes->count, sizeof *sights->owners);
    for (size_t i = 0; i < outline->count; i++)
        sights->of[i] =
            (struct sp_sighting){.line = &outline->lines[i], .indexed = is_indexed(outline, &outline->lines[i])};
    sp_sightings_renew(sights, SP_RIVALS_ALL);
}

void sp_sightings_free(struct sp_sightings *sights)
{
    for (size_t i = 0; sights->outline && i < sights->outline->count; i++) free(sights->of[i].named);
    free(sights->of);
    free(sights->owners);
    *sights = (struct sp_sightings){0};
}
