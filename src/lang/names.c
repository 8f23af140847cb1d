/* SPDX-License-Identifier: MIT
 * Numbers the names of each unit, and finds for each expression how far it has to look. */
#include "lang/names.h"

#include <stdlib.h>
#include <string.h>

/* Where an expression stands. */
struct place {
    const struct sp_section *section; /* or NULL */
    size_t clauses;                   /* of it that are around the expression, or before it */
    const struct sp_definition *defining;
    bool is_number_of_name; /* it is all there is between the braces of a name, such as h.{i}.weight */
    bool is_of_measure;     /* it is a share, or says how often something multiplies */
};

struct slot_place {
    const char *name;
    const struct sp_unit *unit;
    unsigned slot;
};

/* The slots of the unit under way, by the address of the name: names are interned. Those of units before stay until
 * there is no room. */
struct slots {
    struct slot_place *places;
    size_t count, mask;
    struct shapeproof_tables *tables;
    struct sp_unit *unit;
    bool met_index; /* a name that was resolved is the index of a loop, or a local definition, which may read it */
};

static void reserve_places(struct slots *slots, size_t count)
{
    slots->places = sp_realloc(NULL, count, sizeof *slots->places);
    memset(slots->places, 0, count * sizeof *slots->places);
    slots->count = 0;
    slots->mask = count - 1;
}

/* The place of a name, or the one that it would have. */
static struct slot_place *place_of_name(const struct slots *slots, const char *name)
{
    size_t i = (size_t)(((uintptr_t)name >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
    while (slots->places[i & slots->mask].name && slots->places[i & slots->mask].name != name) i++;
    return &slots->places[i & slots->mask];
}

/* Keeps the names of the unit under way; as few are there that a place is found soon. */
static void make_room(struct slots *slots)
{
    struct slot_place *before = slots->places;
    const size_t places = slots->mask + 1;
    size_t own = 0;
    if (2 * slots->count < places) return;
    for (size_t i = 0; i < places; i++) own += before[i].unit == slots->unit;
    reserve_places(slots, 4 * own < places ? places : 2 * places);
    for (size_t i = 0; i < places; i++) {
        if (before[i].unit != slots->unit) continue;
        *place_of_name(slots, before[i].name) = before[i];
        slots->count++;
    }
    sp_free(before);
}

struct sp_meaning sp_meaning_by_name(const struct sp_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->param_count; i++)
        if (unit->params[i].name == name) return (struct sp_meaning){.kind = SP_MEANS_PARAM, .index = i};
    for (size_t i = 0; i < unit->definition_count; i++)
        if (unit->definitions[i].name == name)
            return (struct sp_meaning){SP_MEANS_DEFINITION, .definition = &unit->definitions[i], .index = i};
    return (struct sp_meaning){.kind = SP_MEANS_KEY};
}

static void add_slot(struct slots *slots, const char *name, struct sp_meaning meaning)
{
    struct sp_unit *unit = slots->unit;
    if (unit->name_count == unit->name_capacity) {
        struct sp_name_slot *grown = sp_arena_array(&slots->tables->arena, 2 * unit->name_capacity + 16, sizeof *grown);
        if (unit->name_count) memcpy(grown, unit->names, unit->name_count * sizeof *grown);
        unit->names = grown;
        unit->name_capacity = 2 * unit->name_capacity + 16;
    }
    unit->names[unit->name_count++] = (struct sp_name_slot){name, meaning};
}

static unsigned slot_of(struct slots *slots, const char *name)
{
    make_room(slots);
    struct slot_place *place = place_of_name(slots, name);
    if (place->unit == slots->unit) return place->slot;
    slots->count += !place->name;
    *place = (struct slot_place){name, slots->unit, (unsigned)slots->unit->name_count};
    add_slot(slots, name, (struct sp_meaning){.kind = SP_MEANS_KEY});
    return place->slot;
}

/* ---- expressions ---- */

static bool is_argument(struct sp_expr *expr, const struct sp_definition *function)
{
    for (size_t i = function->param_count; i-- > 0;) {
        if (function->params[i] != expr->name) continue;
        expr->reach = SP_REACH_ARGUMENT;
        expr->index = (unsigned)i;
        return true;
    }
    return false;
}

static bool is_loop(struct sp_expr *expr, const struct place *place)
{
    unsigned loops = 0;
    struct sp_clause *found = NULL;
    for (size_t i = 0; i < place->clauses; i++) {
        struct sp_clause *clause = &place->section->clauses[i];
        if (clause->kind == SP_CLAUSE_IF) continue;
        if (clause->name == expr->name) {
            expr->reach = SP_REACH_LOOP;
            expr->index = loops;
            found = clause;
        }
        loops++;
    }
    if (found && place->is_of_measure) found->is_measured = true;
    else if (found && !place->is_number_of_name) found->is_read = true;
    return found;
}

static bool is_local(struct sp_expr *expr, const struct place *place)
{
    for (size_t i = 0; place->section && i < place->section->local_count; i++) {
        const struct sp_definition *local = &place->section->locals[i];
        if (local->name != expr->name || local == place->defining) continue;
        expr->reach = SP_REACH_LOCAL;
        expr->local = local;
        return true;
    }
    return false;
}

static void resolve_name(struct slots *slots, const struct place *place, struct sp_expr *expr)
{
    expr->slot = slot_of(slots, expr->name);
    if (place->defining && is_argument(expr, place->defining)) return;
    if (place->section && (is_loop(expr, place) || is_local(expr, place))) {
        slots->met_index = true;
        return;
    }
    if (!place->section && place->defining && place->defining->name == expr->name) expr->reach = SP_REACH_KEY;
}

static void resolve_expr(struct slots *slots, const struct place *place, struct sp_expr *expr)
{
    if (!expr) return;
    const bool named = expr->kind == SP_EXPR_NAME || expr->kind == SP_EXPR_CALL;
    if (named && !expr->slot) resolve_name(slots, place, expr); /* else it is inherited, with its slot */
    for (size_t i = 0; i < expr->count; i++) resolve_expr(slots, place, expr->args[i]);
    if (expr->division) resolve_expr(slots, place, expr->division->of);
}

static void resolve_template(struct slots *slots, const struct place *place, const struct sp_template *name)
{
    struct place inside = *place;
    for (size_t i = 0; i < name->count; i++) {
        struct sp_expr *hole = name->pieces[i].hole;
        inside.is_number_of_name = hole && hole->kind == SP_EXPR_NAME;
        resolve_expr(slots, &inside, hole);
    }
}

static void resolve_arguments(struct slots *slots, const struct place *place, const struct sp_argument *args,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) resolve_expr(slots, place, args[i].expr);
}

/* ---- units ---- */

/* The share and the times of a section or row. */
static void resolve_measures(struct slots *slots, struct place place, const struct sp_row_share *share,
                             struct sp_expr *times)
{
    place.is_of_measure = true;
    resolve_expr(slots, &place, share->part);
    resolve_expr(slots, &place, share->whole);
    resolve_expr(slots, &place, times);
}

static void resolve_row(struct slots *slots, const struct place *place, struct sp_row *row)
{
    resolve_measures(slots, *place, &row->share, row->times);
    resolve_template(slots, place, &row->name);
    resolve_template(slots, place, &row->tie);
    for (size_t i = 0; i < row->old_count; i++) resolve_template(slots, place, &row->olds[i]);
    for (size_t i = 0; i < row->rank; i++) resolve_expr(slots, place, row->shape[i]);
    slots->met_index = false;
    resolve_expr(slots, place, row->condition);
    if (slots->met_index) row->reads_index = true;
    resolve_expr(slots, place, row->tie_condition);
    resolve_expr(slots, place, row->from);
    resolve_arguments(slots, place, row->args, row->arg_count);
    resolve_arguments(slots, place, row->with, row->with_count);
}

static void resolve_definitions(struct slots *slots, struct place place, const struct sp_definition *definitions,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        place.defining = &definitions[i];
        resolve_expr(slots, &place, definitions[i].expr);
    }
}

static void resolve_section(struct slots *slots, const struct sp_section *section)
{
    struct place place = {.section = section};
    for (; place.clauses < section->clause_count; place.clauses++) {
        struct sp_clause *clause = &section->clauses[place.clauses];
        slots->met_index = false;
        resolve_expr(slots, &place, clause->first);
        resolve_expr(slots, &place, clause->last);
        if (slots->met_index) clause->reads_index = true; /* what is inherited was resolved before */
    }
    resolve_measures(slots, place, &section->share, section->times);
    resolve_definitions(slots, place, section->locals, section->local_count);
    for (size_t i = 0; i < section->row_count; i++) resolve_row(slots, &place, &section->rows[i]);
}

/* Slot 0 is for what was never resolved; then come the names of the parent, in its order. */
static void begin_slots(struct slots *slots, struct sp_unit *unit)
{
    const struct sp_unit *parent = unit->parent;
    slots->unit = unit;
    if (!parent) add_slot(slots, NULL, (struct sp_meaning){.kind = SP_MEANS_KEY});
    for (size_t i = 0; parent && i < parent->name_count; i++) {
        if (i) slot_of(slots, parent->names[i].name);
        else add_slot(slots, NULL, (struct sp_meaning){.kind = SP_MEANS_KEY});
    }
}

/* The slot comes first: a new one may move the names. */
static void give_meaning(struct slots *slots, const char *name, struct sp_meaning meaning)
{
    const size_t slot = slot_of(slots, name);
    slots->unit->names[slot].meaning = meaning;
}

static void give_meanings(struct slots *slots)
{
    const struct sp_unit *unit = slots->unit;
    for (size_t i = 0; i < unit->param_count; i++)
        give_meaning(slots, unit->params[i].name, (struct sp_meaning){.kind = SP_MEANS_PARAM, .index = i});
    for (size_t i = 0; i < unit->definition_count; i++)
        give_meaning(slots, unit->definitions[i].name,
                     (struct sp_meaning){.kind = SP_MEANS_DEFINITION, .definition = &unit->definitions[i], .index = i});
}

/* Gives each name in the unit a slot, and each slot its meaning; what the unit extends first. */
static void resolve_unit(struct slots *slots, struct sp_unit *unit)
{
    const struct place outside = {.section = NULL};
    if (unit->name_count) return; /* done before: begin_slots makes one at least */
    if (unit->parent) resolve_unit(slots, unit->parent);
    begin_slots(slots, unit);
    for (size_t i = 0; i < unit->param_count; i++) resolve_expr(slots, &outside, unit->params[i].fallback);
    resolve_definitions(slots, outside, unit->definitions, unit->definition_count);
    resolve_expr(slots, &outside, unit->pipeline.count);
    for (size_t i = 0; i < unit->requirement_count; i++) {
        resolve_expr(slots, &outside, unit->requirements[i].condition);
        resolve_expr(slots, &outside, unit->requirements[i].message);
    }
    for (size_t i = 0; i < unit->formula_condition_count; i++)
        resolve_expr(slots, &outside, unit->formula_conditions[i].condition);
    for (size_t i = 0; i < unit->section_count; i++) resolve_section(slots, &unit->sections[i]);
    for (size_t i = 0; i < unit->state_count; i++) resolve_section(slots, &unit->states[i]);
    for (size_t i = 0; i < unit->claim_count; i++) {
        resolve_expr(slots, &outside, unit->claims[i].left);
        resolve_expr(slots, &outside, unit->claims[i].right);
        resolve_arguments(slots, &outside, unit->claims[i].when, unit->claims[i].when_count);
    }
    give_meanings(slots);
}

void sp_resolve_names(struct shapeproof_tables *tables, const struct sp_units *units, size_t first)
{
    enum { PLACES = 256 }; /* a power of two; few units have more than 128 names */
    struct slots slots = {.tables = tables};
    reserve_places(&slots, PLACES);
    for (size_t i = first; i < units->count; i++) resolve_unit(&slots, units->items[i]);
    sp_free(slots.places);
}
