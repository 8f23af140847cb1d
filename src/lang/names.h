/* SPDX-License-Identifier: MIT
 * What a name means. Where it stands tells part of it, once and for all; the table that it is read for tells the rest,
 * since a table that extends another one may define anew what an inherited line names:
 *
 *     table base                                table child extends base
 *     width = n default 2                       width = m
 *     [blocks] for i in 0..1
 *     h.{i} (width)
 *
 *     reach  i: SP_REACH_LOOP 0                 the same expression
 *            width: SP_REACH_UNIT, slot 1
 *     names  base:  1 width: definition 0, 2 n: key
 *            child: 1 width: definition 0 (its own), 2 n: key, 3 m: key
 *
 * The numbering of a child goes on from that of its parent, so that one slot is good for both. */
#ifndef SP_LANG_NAMES_H
#define SP_LANG_NAMES_H

#include "lang/syntax/ast.h"
#include "lang/tables.h"

/* Finds where the names in the units from index `first` on lead. The units are linked, without a mistake. */
void sp_resolve_names(struct shapeproof_tables *tables, const struct sp_units *units, size_t first);

/* The same for a name that stands in no unit, or in another one: a definition, a parameter or a key. Not fast. */
struct sp_meaning sp_meaning_by_name(const struct sp_unit *unit, const char *name);

/* A definition, a parameter or a key, whatever there is around it. */
static inline struct sp_meaning sp_meaning_in_unit(const struct sp_unit *unit, const struct sp_expr *expr)
{
    return expr->slot ? unit->names[expr->slot].meaning : sp_meaning_by_name(unit, expr->name);
}

/* All that is known without looking at an environment. */
static inline struct sp_meaning sp_meaning_at(const struct sp_unit *unit, const struct sp_expr *expr)
{
    switch (expr->reach) {
    case SP_REACH_UNIT:
        break;
    case SP_REACH_ARGUMENT:
        return (struct sp_meaning){.kind = SP_MEANS_ARGUMENT, .index = expr->index};
    case SP_REACH_LOOP:
        return (struct sp_meaning){.kind = SP_MEANS_LOOP, .index = expr->index};
    case SP_REACH_LOCAL:
        return (struct sp_meaning){.kind = SP_MEANS_DEFINITION, .definition = expr->local, .is_local = true};
    case SP_REACH_KEY:
        return (struct sp_meaning){.kind = SP_MEANS_KEY};
    }
    return sp_meaning_in_unit(unit, expr);
}

#endif
