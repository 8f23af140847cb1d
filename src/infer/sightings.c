/* SPDX-License-Identifier: MIT */
#include "infer/sightings.h"

#include <stdlib.h>
#include <string.h>

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
    return sp_line_turn(sighting->line, loop, named_at(sights, named)->place.indices.value);
}

void sp_sighting_enter(const struct sp_sightings *sights, const struct sp_sighting *sighting, size_t named)
{
    sp_line_enter(sighting->line, named_at(sights, named)->place.indices.value);
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
    struct sp_fixed_numbers fixed;
    int64_t least, most;
    sighting->count = 0;
    if (pattern == SP_NONE) return;
    const size_t first = shapes->first[pattern], end = shapes->first[pattern + 1];
    if (!sighting->named) sighting->named = sp_realloc(NULL, end - first, sizeof *sighting->named);
    sighting->unknown = sp_line_fix_numbers(&sights->outline->solver, sighting->line, &fixed);
    known_turns(sights, loop, &least, &most);
    for (size_t i = first; i < end; i++) {
        const int64_t turn = loop ? sp_sighting_turn(sights, sighting, loop, i) : least;
        if (turn >= least && turn <= most &&
            sp_line_fits(sighting->line, &fixed, shapes->named[i].place.indices.value) &&
            sp_sighting_tensor(sights, i)->rank == sighting->line->row->rank)
            sighting->named[sighting->count++] = i;
    }
}

static bool is_indexed(const struct sp_line *line)
{
    for (size_t i = 0; i < line->row->rank && line->loop; i++)
        if (sp_depends_on(line->env, line->row->shape[i], NULL)) return true;
    for (const struct sp_proviso *proviso = line->proviso; proviso && line->loop; proviso = proviso->outer)
        if (sp_depends_on(proviso->env, proviso->expr, NULL)) return true;
    return false;
}

/* ---- all of them ---- */

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
        if (!sp_line_is_ruled_out(&sights->outline->solver, sighting->line)) collect(sights, sighting);
    }
    find_owners(sights, rivalry);
}

void sp_sightings_init(struct sp_sightings *sights, struct sp_outline *outline, const struct sp_shapes *shapes)
{
    *sights = (struct sp_sightings){.outline = outline, .shapes = shapes};
    sights->of = sp_realloc(NULL, outline->count, sizeof *sights->of);
    sights->owners = sp_realloc(NULL, shapes->count, sizeof *sights->owners);
    for (size_t i = 0; i < outline->count; i++)
        sights->of[i] = (struct sp_sighting){.line = &outline->lines[i], .indexed = is_indexed(&outline->lines[i])};
    sp_sightings_renew(sights, SP_RIVALS_ALL);
}

void sp_sightings_free(struct sp_sightings *sights)
{
    for (size_t i = 0; sights->outline && i < sights->outline->count; i++) free(sights->of[i].named);
    free(sights->of);
    free(sights->owners);
    *sights = (struct sp_sightings){0};
}
