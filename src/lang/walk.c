/* SPDX-License-Identifier: MIT */
#include "lang/walk.h"

static bool walk_clause(const struct sp_walker *walker, enum sp_clause_kind kind, size_t clause, const void *at)
{
    switch (kind) {
    case SP_CLAUSE_RANGE:
        return walker->range(at, clause);
    case SP_CLAUSE_EACH:
        return walker->each(at, clause);
    case SP_CLAUSE_IF:
        return walker->condition(at, clause);
    }
    return false;
}

bool sp_walk(const struct sp_walker *walker, const struct sp_section *section, size_t clause, const void *at)
{
    if (clause < section->clause_count) return walk_clause(walker, section->clauses[clause].kind, clause, at);
    for (size_t i = 0; i < section->row_count; i++)
        if (!walker->row(at, &section->rows[i])) return false;
    return true;
}

const char *sp_group_name(struct sp_arena *arena, const struct sp_unit *unit, const struct sp_section *section,
                          const char *outer)
{
    if (!outer || !*outer) return section->name;
    if (!*section->name || !unit->is_table) return outer;
    return sp_arena_printf(arena, "%s: %s", outer, section->name);
}

/* Whether all tensors of the row are in groups of the table that it uses. */
static bool has_groups_of_table(const struct sp_row *row)
{
    if (row->kind != SP_ROW_USE || !row->unit || !row->unit->is_table) return false;
    for (size_t i = 0; i < row->unit->section_count; i++)
        if (!*row->unit->sections[i].name && row->unit->sections[i].row_count) return false;
    return true;
}

/* Whether the table has the group, and the group has no tensors of its own, but only tables that it uses. */
static bool is_of_tables(const struct sp_unit *table, const char *group)
{
    size_t rows = 0;
    for (size_t i = 0; i < table->section_count; i++) {
        const struct sp_section *section = &table->sections[i];
        if (strcmp(section->name, group) != 0) continue;
        for (size_t k = 0; k < section->row_count; k++, rows++)
            if (!has_groups_of_table(&section->rows[k])) return false;
    }
    return rows > 0;
}

bool sp_group_is_in(const struct sp_unit *table, const char *group, const char *asked)
{
    const size_t length = strlen(asked);
    if (strncmp(group, asked, length) != 0) return false;
    return !group[length] || (strncmp(group + length, ": ", 2) == 0 && is_of_tables(table, asked));
}

static bool is_literal(const struct sp_expr *expr, int64_t value)
{
    return expr->kind == SP_EXPR_LITERAL && expr->value.type == SHAPEPROOF_VALUE_INT && expr->value.integer == value;
}

const struct sp_expr *sp_loop_count(const struct sp_clause *loop)
{
    const struct sp_expr *last = loop->last;
    if (!is_literal(loop->first, 0) || last->kind != SP_EXPR_BINARY || last->op != SP_OP_SUB) return NULL;
    return is_literal(last->args[1], 1) ? last->args[0] : NULL;
}
