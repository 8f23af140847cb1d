/* SPDX-License-Identifier: MIT
 * What a table text says, without its layout: two texts that mean the same give the same. */
#ifndef TESTS_LANG_TREE_H
#define TESTS_LANG_TREE_H

#include <stdlib.h>

#include "lang/syntax/parser.h"
#include "shapeproof/value.h"

static inline void put_expr(struct sp_text *out, const struct sp_expr *expr)
{
    if (!expr) {
        sp_text_puts(out, "-");
        return;
    }
    sp_text_printf(out, "(%d.%d %s", (int)expr->kind, (int)expr->op, expr->name ? expr->name : "");
    if (expr->kind == SP_EXPR_LITERAL) {
        char *value = shapeproof_value_text(expr->value);
        sp_text_puts(out, value);
        free(value);
    }
    for (size_t i = 0; i < expr->count; i++) put_expr(out, expr->args[i]);
    sp_text_puts(out, ")");
}

static inline void put_template(struct sp_text *out, const struct sp_template *name)
{
    sp_text_puts(out, "<");
    for (size_t i = 0; i < name->count; i++) {
        if (name->pieces[i].text) sp_text_puts(out, name->pieces[i].text);
        else put_expr(out, name->pieces[i].hole);
    }
    sp_text_puts(out, ">");
}

static inline void put_arguments(struct sp_text *out, const struct sp_argument *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sp_text_printf(out, " %s=", args[i].name ? args[i].name : "");
        put_expr(out, args[i].expr);
    }
    sp_text_puts(out, ";");
}

static inline void put_row(struct sp_text *out, const struct sp_row *row)
{
    put_template(out, &row->name);
    sp_text_printf(out, "%d %d %d %d %d %d ", (int)row->kind, row->optional, (int)row->dtype, row->buffer, row->has_tie,
                   row->tie_rows);
    put_expr(out, row->condition);
    for (size_t i = 0; i < row->rank; i++) put_expr(out, row->shape[i]);
    put_template(out, &row->tie);
    put_expr(out, row->tie_condition);
    for (size_t i = 0; i < row->old_count; i++) put_template(out, &row->olds[i]);
    sp_text_printf(out, " %s %d ", row->unit_name ? row->unit_name : "", row->has_from);
    put_expr(out, row->from);
    put_arguments(out, row->args, row->arg_count);
    put_arguments(out, row->with, row->with_count);
    sp_text_puts(out, "\n");
}

static inline void put_definitions(struct sp_text *out, const struct sp_definition *definitions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sp_text_printf(out, "%s %d", definitions[i].name, definitions[i].is_function);
        for (size_t k = 0; k < definitions[i].param_count; k++) sp_text_printf(out, " %s", definitions[i].params[k]);
        put_expr(out, definitions[i].expr);
        sp_text_puts(out, "\n");
    }
}

static inline void put_section(struct sp_text *out, const struct sp_section *section)
{
    sp_text_printf(out, "[%s]", section->name);
    for (size_t i = 0; i < section->clause_count; i++) {
        const struct sp_clause *clause = &section->clauses[i];
        sp_text_printf(out, " %d %s ", (int)clause->kind, clause->name ? clause->name : "");
        put_expr(out, clause->first);
        put_expr(out, clause->last);
    }
    sp_text_puts(out, "\n");
    put_definitions(out, section->locals, section->local_count);
    for (size_t i = 0; i < section->row_count; i++) put_row(out, &section->rows[i]);
}

static inline void put_claim(struct sp_text *out, const struct sp_claim *claim)
{
    sp_text_printf(out, "claim %d %d %d %g %s \"%s\" ", (int)claim->kind, claim->erratum, claim->is_example,
                   claim->percent, claim->printed ? claim->printed : "", claim->source);
    put_expr(out, claim->left);
    put_expr(out, claim->right);
    put_arguments(out, claim->when, claim->when_count);
    sp_text_puts(out, "\n");
}

static inline void put_texts(struct sp_text *out, const char *word, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) sp_text_printf(out, "%s %s\n", word, texts[i]);
}

static inline void put_unit(struct sp_text *out, const struct sp_unit *unit)
{
    sp_text_printf(out, "# %s\n%d %s %s %s\n", unit->title, unit->is_table, unit->name,
                   unit->parent_name ? unit->parent_name : "", unit->about ? unit->about : "");
    put_texts(out, "model_type", unit->model_types, unit->model_type_count);
    put_texts(out, "architectures", unit->architectures, unit->architecture_count);
    for (size_t i = 0; i < unit->param_count; i++) {
        sp_text_puts(out, unit->params[i].name);
        put_expr(out, unit->params[i].fallback);
    }
    put_definitions(out, unit->definitions, unit->definition_count);
    for (size_t i = 0; i < unit->requirement_count; i++) {
        put_expr(out, unit->requirements[i].condition);
        put_expr(out, unit->requirements[i].message);
    }
    for (size_t i = 0; i < unit->section_count; i++) put_section(out, &unit->sections[i]);
    for (size_t i = 0; i < unit->claim_count; i++) put_claim(out, &unit->claims[i]);
}

/* free() it; NULL when the text has a mistake. */
static inline char *tree_of(const char *text)
{
    struct sp_arena arena = {0};
    struct sp_symbols symbols = {0};
    struct sp_unit **units = NULL;
    struct sp_text messages = {0}, out = {0};
    size_t count = 0, capacity = 0;
    const struct sp_source_text source = {.name = "t.shapes", .text = text, .length = strlen(text), .own = true};
    if (sp_parse(&source, &arena, &symbols, &units, &count, &capacity, &messages)) {
        sp_text_puts(&out, "");
        for (size_t i = 0; i < count; i++) put_unit(&out, units[i]);
    }
    free(units);
    sp_text_free(&messages);
    sp_symbols_free(&symbols);
    sp_arena_free(&arena);
    return out.data;
}

#endif
