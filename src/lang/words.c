/* SPDX-License-Identifier: MIT
 * Which keys a table can read, whatever their values: those that its expressions name, and those of the parts and
 * tables that it uses. */
#include "lang/words.h"

#include <string.h>

#include "base/suggest.h"
#include "lang/names.h"

enum { MAX_DEPTH = 16 };

struct visit {
    const struct sp_unit *unit;
    struct sp_map *words;
    unsigned depth;
};

static void visit_unit(struct visit visit);

static void visit_expr(const struct visit *visit, const struct sp_expr *expr)
{
    if (!expr) return;
    const bool is_key = expr->kind == SP_EXPR_NAME && sp_meaning_at(visit->unit, expr).kind == SP_MEANS_KEY;
    if (is_key || expr->kind == SP_EXPR_MEMBER) sp_map_add(visit->words, expr->name, 0);
    for (size_t i = 0; i < expr->count; i++) visit_expr(visit, expr->args[i]);
}

static void visit_template(const struct visit *visit, const struct sp_template *name)
{
    for (size_t i = 0; i < name->count; i++) visit_expr(visit, name->pieces[i].hole);
}

static void visit_row(const struct visit *visit, const struct sp_row *row)
{
    visit_template(visit, &row->name);
    visit_template(visit, &row->tie);
    for (size_t i = 0; i < row->rank; i++) visit_expr(visit, row->shape[i]);
    visit_expr(visit, row->condition);
    visit_expr(visit, row->tie_condition);
    visit_expr(visit, row->from);
    for (size_t i = 0; i < row->arg_count; i++) visit_expr(visit, row->args[i].expr);
    for (size_t i = 0; i < row->with_count; i++) visit_expr(visit, row->with[i].expr);
    if (row->kind == SP_ROW_USE) visit_unit((struct visit){row->unit, visit->words, visit->depth + 1});
}

static void visit_definitions(const struct visit *visit, const struct sp_definition *definitions, size_t count)
{
    for (size_t i = 0; i < count; i++) visit_expr(visit, definitions[i].expr);
}

static void visit_section(const struct visit *visit, const struct sp_section *section)
{
    for (size_t i = 0; i < section->clause_count; i++) {
        visit_expr(visit, section->clauses[i].first);
        visit_expr(visit, section->clauses[i].last);
    }
    visit_definitions(visit, section->locals, section->local_count);
    for (size_t i = 0; i < section->row_count; i++) visit_row(visit, &section->rows[i]);
}

static void visit_unit(struct visit visit)
{
    const struct sp_unit *unit = visit.unit;
    if (visit.depth > MAX_DEPTH) return;
    visit_definitions(&visit, unit->definitions, unit->definition_count);
    for (size_t i = 0; i < unit->param_count; i++) visit_expr(&visit, unit->params[i].fallback);
    for (size_t i = 0; i < unit->requirement_count; i++) visit_expr(&visit, unit->requirements[i].condition);
    for (size_t i = 0; i < unit->section_count; i++) visit_section(&visit, &unit->sections[i]);
}

void sp_unit_words(const struct sp_unit *unit, struct sp_map *words)
{
    visit_unit((struct visit){.unit = unit, .words = words});
}

const char *sp_unit_misspelt(const struct sp_unit *unit, struct sp_value root, const char *meant)
{
    const char *dot = strrchr(meant, '.'), *leaf = dot ? dot + 1 : meant, *found = NULL;
    struct sp_arena arena = {0};
    struct sp_map words = {0};
    const struct sp_value object = dot ? sp_value_at(root, sp_arena_copy(&arena, meant, (size_t)(dot - meant))) : root;
    for (size_t i = 0; object.type == SP_OBJECT && i < object.count && !found; i++) {
        const struct sp_member *member = &object.members[i];
        if (!sp_value_is_set(member->value) || !sp_is_misspelt(member->key, leaf)) continue;
        if (!words.count) sp_unit_words(unit, &words);
        if (sp_map_get(&words, member->key) == SIZE_MAX) found = member->key;
    }
    sp_map_free(&words);
    sp_arena_free(&arena);
    return found;
}
