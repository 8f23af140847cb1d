/* SPDX-License-Identifier: MIT */
#include "solve/literals.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "solve/limits.h"

bool sp_literals_have(const struct sp_literals *literals, const char *text)
{
    for (size_t i = 0; i < literals->count; i++)
        if (strcmp(literals->list[i], text) == 0) return true;
    return false;
}

static void add_literal(struct sp_literals *literals, const char *text)
{
    if (literals->count == SP_MOST_LITERALS || sp_literals_have(literals, text)) return;
    SP_GROW(literals->list, literals->count, literals->capacity);
    literals->list[literals->count++] = text;
}

void sp_literals_add(struct sp_literals *literals, struct shapeproof_value value)
{
    if (value.type == SHAPEPROOF_VALUE_STRING) add_literal(literals, value.string);
    for (size_t i = 0; value.type == SHAPEPROOF_VALUE_LIST && i < value.count; i++)
        sp_literals_add(literals, value.items[i]);
}

void sp_literals_in(struct sp_literals *literals, const struct sp_expr *expr)
{
    if (!expr) return;
    if (expr->kind == SP_EXPR_LITERAL) sp_literals_add(literals, expr->value);
    for (size_t i = 0; i < expr->count; i++) sp_literals_in(literals, expr->args[i]);
}

void sp_literals_define(struct sp_literals *literals, const struct sp_unit *table)
{
    for (size_t i = 0; i < table->definition_count; i++) sp_literals_in(literals, table->definitions[i].expr);
    for (size_t i = 0; i < table->requirement_count; i++) sp_literals_in(literals, table->requirements[i].condition);
}

bool sp_is_release(const char *text) { return strchr(text, '.') && text[strspn(text, "0123456789.")] == '\0'; }

/* ---- what has to do with a key ---- */

/* What is collected for one key. */
struct subject {
    struct sp_literals names;      /* the key, and the definitions and parameters that depend on it in this unit */
    struct sp_literals *texts;     /* the result */
    struct sp_literals beginnings; /* texts that are compared with starts_with */
    struct sp_literals served;     /* class names of inner tables that the key is given to as their class */
    const struct sp_unit *unit;    /* that is being read */
};

/* Whether the expression mentions any of the names. */
static bool mentions(const struct sp_literals *names, const struct sp_expr *expr)
{
    if (!expr) return false;
    const bool named = expr->kind == SP_EXPR_NAME || expr->kind == SP_EXPR_MEMBER || expr->kind == SP_EXPR_CALL;
    for (size_t i = 0; named && i < names->count; i++)
        if (strcmp(names->list[i], expr->name) == 0) return true;
    for (size_t i = 0; i < expr->count; i++)
        if (mentions(names, expr->args[i])) return true;
    return false;
}

/* Whether it is a literal, or a list of such. */
static bool is_constant_literal(const struct sp_expr *expr)
{
    bool constant = expr->kind == SP_EXPR_LITERAL || expr->kind == SP_EXPR_LIST;
    for (size_t i = 0; i < expr->count; i++) constant = constant && is_constant_literal(expr->args[i]);
    return constant;
}

/* Adds the texts of constant definitions that the expression names: of `kind in kinds` those of kinds = ["a", "b"]. */
static void collect_named(const struct subject *subject, const struct sp_expr *expr)
{
    for (size_t i = 0; expr->kind == SP_EXPR_NAME && i < subject->unit->definition_count; i++)
        if (strcmp(subject->unit->definitions[i].name, expr->name) == 0 &&
            is_constant_literal(subject->unit->definitions[i].expr))
            sp_literals_in(subject->texts, subject->unit->definitions[i].expr);
    for (size_t i = 0; i < expr->count; i++) collect_named(subject, expr->args[i]);
}

/* The text that stands for the key where it is not set, the last of `key default ...`; NULL when there is none. */
static const char *fallback_in(const struct sp_literals *names, const struct sp_expr *expr)
{
    const char *found = NULL;
    if (expr->kind == SP_EXPR_DEFAULT && mentions(names, expr->args[0])) {
        const struct sp_expr *last = expr->args[1];
        while (last->kind == SP_EXPR_DEFAULT) last = last->args[1];
        if (last->kind == SP_EXPR_LITERAL && last->value.type == SHAPEPROOF_VALUE_STRING) return last->value.string;
    }
    for (size_t i = 0; i < expr->count && !found; i++) found = fallback_in(names, expr->args[i]);
    return found;
}

/* Adds the second operands of starts_with. */
static void collect_beginnings(struct sp_literals *beginnings, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_CALL && expr->count == 2 && strcmp(expr->name, "starts_with") == 0)
        sp_literals_in(beginnings, expr->args[1]);
    for (size_t i = 0; i < expr->count; i++) collect_beginnings(beginnings, expr->args[i]);
}

/* Whether the text is only an operand of starts_with, and another text begins so, which can be the value: "Cross",
 * where there is "CrossAttnDownBlock2D". */
static bool is_mere_beginning(const struct subject *subject, const char *text)
{
    const size_t length = strlen(text);
    if (!sp_literals_have(&subject->beginnings, text)) return false;
    for (size_t i = 0; i < subject->texts->count; i++)
        if (strncmp(subject->texts->list[i], text, length) == 0 && subject->texts->list[i][length]) return true;
    return false;
}

/* Removes such texts. Releases stay: "4.1" is one, although "4.10" begins so. */
static void drop_beginnings(struct subject *subject)
{
    struct sp_literals *texts = subject->texts;
    size_t kept = 0;
    for (size_t i = 0; i < texts->count; i++)
        if (sp_is_release(texts->list[i]) || !is_mere_beginning(subject, texts->list[i]))
            texts->list[kept++] = texts->list[i];
    texts->count = kept;
}

/* Collects from an expression (NULL: none) if it mentions the subject. */
static void take_from_expression(struct subject *subject, const struct sp_expr *expr)
{
    if (!expr || !mentions(&subject->names, expr)) return;
    if (!subject->texts->fallback) subject->texts->fallback = fallback_in(&subject->names, expr);
    sp_literals_in(subject->texts, expr);
    collect_beginnings(&subject->beginnings, expr);
    collect_named(subject, expr);
}

static void take_unit(struct subject *subject, const struct sp_unit *unit, unsigned depth);

/* If the row uses a table and gives it the key as its class, adds the names of that table's classes to `served`. */
static void take_served(struct subject *subject, const struct sp_row *row)
{
    const struct sp_unit *unit = row->unit;
    bool chooses = false;
    for (size_t i = 0; i < row->with_count && sp_unit_is_by_class(unit); i++)
        if (strcmp(row->with[i].name, sp_unit_class_key(unit)) == 0)
            chooses = chooses || mentions(&subject->names, row->with[i].expr);
    for (size_t i = 0; i < unit->architecture_count && chooses; i++)
        add_literal(&subject->served, unit->architectures[i]);
}

/* Adds the parameters of the unit that a row uses which are computed from the key. */
static void name_inside(struct subject *subject, const struct sp_row *row)
{
    for (size_t i = 0; i < row->unit->param_count && row->given; i++)
        if (mentions(&subject->names, row->given[i])) add_literal(&subject->names, row->unit->params[i].name);
}

/* Collects from a row, and from the unit that it uses, where only its own parameters are names of the key. */
static void take_row(struct subject *subject, const struct sp_row *row, unsigned depth)
{
    take_from_expression(subject, row->condition);
    for (size_t i = 0; i < row->rank; i++) take_from_expression(subject, row->shape[i]);
    for (size_t i = 0; i < row->arg_count; i++) take_from_expression(subject, row->args[i].expr);
    if (row->kind != SP_ROW_USE) return;
    const size_t outside = subject->names.count;
    take_served(subject, row);
    name_inside(subject, row);
    take_unit(subject, row->unit, depth + 1);
    subject->names.count = outside;
}

/* Collects from a unit: first the definitions that depend on the key become names of it, then every expression is read.
 */
static void take_unit(struct subject *subject, const struct sp_unit *unit, unsigned depth)
{
    const struct sp_unit *outer = subject->unit;
    if (depth > SP_DEEPEST_LITERALS || subject->texts->count == SP_MOST_LITERALS) return;
    subject->unit = unit;
    for (size_t i = 0; i < unit->definition_count; i++)
        if (mentions(&subject->names, unit->definitions[i].expr))
            add_literal(&subject->names, unit->definitions[i].name);
    for (size_t i = 0; i < unit->definition_count; i++) take_from_expression(subject, unit->definitions[i].expr);
    for (size_t i = 0; i < unit->requirement_count; i++) take_from_expression(subject, unit->requirements[i].condition);
    for (size_t s = 0; s < unit->section_count; s++) {
        const struct sp_section *section = &unit->sections[s];
        for (size_t i = 0; i < section->clause_count; i++) take_from_expression(subject, section->clauses[i].first);
        for (size_t i = 0; i < section->row_count; i++) take_row(subject, &section->rows[i], depth);
    }
    subject->unit = outer;
}

void sp_literals_about(struct sp_literals *literals, const struct sp_unit *table, const char *path)
{
    if (strcmp(path, "architecture") == 0 && strcmp(sp_unit_class_key(table), path) == 0) {
        for (size_t i = 0; i < table->architecture_count; i++)
            sp_literals_add(literals, sp_value_string(table->architectures[i]));
        return; /* the value is the name of a model, of which the table lists all */
    }
    const char *key = sp_behind_last(path, '.'); /* "text_config.layer_types[3]" is found as layer_types */
    const size_t length = strcspn(key, "[");
    struct subject subject = {.texts = literals};
    struct sp_arena arena = {0};
    add_literal(&subject.names, sp_arena_copy(&arena, key, length));
    take_unit(&subject, table, 0);
    drop_beginnings(&subject);
    if (subject.served.count) literals->count = 0;
    for (size_t i = 0; i < subject.served.count; i++) add_literal(literals, subject.served.list[i]);
    sp_literals_free(&subject.served);
    sp_arena_free(&arena);
    sp_literals_free(&subject.beginnings);
    sp_literals_free(&subject.names);
}

void sp_literals_free(struct sp_literals *literals)
{
    sp_free(literals->list);
    *literals = (struct sp_literals){0};
}
