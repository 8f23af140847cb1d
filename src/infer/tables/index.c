/* SPDX-License-Identifier: MIT */
#include "infer/tables/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "names/components.h"
#include "names/patterns.h"
#include "solve/outline.h"

/* ---- texts ---- */

/* The offset of a text, which is added when it is not there yet. */
static uint32_t put_text(struct sp_table_index *index, const char *text)
{
    const size_t known = sp_map_get(&index->offsets, text);
    if (known != SIZE_MAX) return (uint32_t)known;
    const size_t offset = index->text.length;
    sp_text_append(&index->text, text, strlen(text) + 1);
    sp_map_add(&index->offsets, sp_arena_string(&index->arena, text), offset);
    return (uint32_t)offset;
}

/* ---- names without expressions ---- */

/* Whether an expression may be a text, as far as it says so itself. */
static bool may_be_text(const struct sp_unit *unit, const struct sp_expr *expr, unsigned depth)
{
    enum { MAX_DEPTH = 8 }; /* definitions that stand for one another: more than any table has */
    if (depth == MAX_DEPTH) return false;
    if (expr->kind == SP_EXPR_LITERAL) return expr->value.type == SHAPEPROOF_VALUE_STRING;
    if (expr->kind == SP_EXPR_NAME || expr->kind == SP_EXPR_CALL) {
        const struct sp_meaning meaning = sp_meaning_at(unit, expr);
        return meaning.kind == SP_MEANS_DEFINITION && may_be_text(unit, meaning.definition->expr, depth + 1);
    }
    if (expr->kind == SP_EXPR_UNARY || (expr->kind == SP_EXPR_BINARY && expr->op != SP_OP_ADD)) return false;
    const size_t end = expr->kind == SP_EXPR_INDEX || expr->kind == SP_EXPR_MEMBER ? 1 : expr->count;
    for (size_t i = expr->kind == SP_EXPR_CHOICE; i < end; i++)
        if (may_be_text(unit, expr->args[i], depth + 1)) return true;
    return false;
}

/* A name with a mark for each number and each expression. An expression at its beginning is what is in front of all
 * names of a class, and left out. */
static void put_rough_name(struct sp_text *text, const struct sp_unit *unit, const struct sp_template *name)
{
    const char number = SP_INDEX_MARK, any = SP_TEXT_MARK;
    struct sp_indices indices = {.count = 0};
    text->length = 0;
    sp_text_puts(text, "");
    for (size_t i = 0; i < name->count; i++) {
        const char *next = i + 1 < name->count ? name->pieces[i + 1].text : NULL;
        if (name->pieces[i].text) sp_name_split(text, name->pieces[i].text, SP_INDEX_ANYWHERE, &indices);
        else if (i > 0 || (next && strchr(SP_ENDS, *next)))
            sp_text_append(text, may_be_text(unit, name->pieces[i].hole, 0) ? &any : &number, 1);
    }
}

/* The last two components, or the only one. */
static const char *last_two(const char *name)
{
    const char *two = name;
    for (const char *rest; (rest = sp_behind_component(name, SP_ENDS)) && *rest; name = rest) two = name;
    return two;
}

/* ---- rows ---- */

static bool is_conditional(const struct sp_section *section)
{
    for (size_t i = 0; i < section->clause_count; i++)
        if (section->clauses[i].kind == SP_CLAUSE_IF) return true;
    return false;
}

/* What is added, and to what. */
struct adding {
    struct sp_table_index *index;
    const struct shapeproof_tables *tables;
    const struct sp_unit *unit;
    struct sp_text scratch;
    unsigned section; /* SP_INDEXED_SECTION before the first row of one */
};

static void add_row(struct adding *adding, const char *name, size_t unit, unsigned flags)
{
    struct sp_indexed_row *row = SP_PUSH(&adding->index->rows);
    row->name = put_text(adding->index, name);
    row->unit = (unit < SP_INDEXED_NONE ? (uint32_t)unit : SP_INDEXED_NONE) & SP_INDEXED_NONE;
    row->flags = (flags | adding->section) & 0xff;
    adding->section = 0;
}

static void add_tensor(struct adding *adding, const struct sp_row *row, bool optional)
{
    optional |= row->optional || row->has_tie || row->condition;
    put_rough_name(&adding->scratch, adding->unit, &row->name);
    add_row(adding, last_two(adding->scratch.data), SIZE_MAX, optional ? SP_INDEXED_OPTIONAL : 0);
    for (size_t i = 0; i < row->old_count; i++) {
        put_rough_name(&adding->scratch, adding->unit, &row->olds[i]);
        add_row(adding, last_two(adding->scratch.data), SIZE_MAX, SP_INDEXED_OPTIONAL);
    }
}

static void add_use(struct adding *adding, const struct sp_row *use, bool optional)
{
    optional |= use->optional || use->condition;
    put_rough_name(&adding->scratch, adding->unit, &use->name);
    const size_t length = adding->scratch.length;
    const size_t last = sp_last_component(adding->scratch.data, length ? length - 1 : 0, SP_ENDS);
    add_row(adding, adding->scratch.data + last, sp_tables_place_of(adding->tables, use->unit),
            SP_INDEXED_USE | (optional ? SP_INDEXED_OPTIONAL : 0) |
                (sp_row_is_alternative(use) ? SP_INDEXED_ALTERNATIVE : 0));
}

static void add_section(struct adding *adding, const struct sp_section *section)
{
    const bool optional = is_conditional(section);
    adding->section = SP_INDEXED_SECTION;
    for (size_t i = 0; i < section->row_count; i++) {
        const struct sp_row *row = &section->rows[i];
        if (row->kind == SP_ROW_TENSOR) add_tensor(adding, row, optional);
        else add_use(adding, row, optional);
    }
}

struct sp_indexed_unit sp_table_index_add(struct sp_table_index *index, const struct shapeproof_tables *tables,
                                          const struct sp_unit *unit)
{
    struct adding adding = {.index = index, .tables = tables, .unit = unit};
    const size_t first = index->rows.count;
    for (size_t i = 0; i < unit->section_count; i++) add_section(&adding, &unit->sections[i]);
    sp_text_free(&adding.scratch);
    const size_t parent = unit->parent ? sp_tables_place_of(tables, unit->parent) : SIZE_MAX;
    return (struct sp_indexed_unit){.first = (uint32_t)first,
                                    .count = (uint32_t)(index->rows.count - first),
                                    .parent = parent < SP_INDEXED_NONE ? (uint32_t)parent : SP_INDEXED_NONE,
                                    .needs_arguments = sp_unit_needs_arguments(unit),
                                    .chooses = sp_unit_chooses(unit)};
}

void sp_table_index_add_classes(struct sp_table_index *index, struct sp_indexed_unit *unit, const char *const *classes,
                                size_t count)
{
    unit->classes = (uint32_t)index->text.length;
    unit->class_count = (uint8_t)count;
    for (size_t i = 0; i < count; i++) sp_text_append(&index->text, classes[i], strlen(classes[i]) + 1);
}

void sp_table_index_free(struct sp_table_index *index)
{
    sp_free(index->rows.items);
    sp_map_free(&index->offsets);
    sp_text_free(&index->text);
    sp_arena_free(&index->arena);
}
