/* SPDX-License-Identifier: MIT */
#include "infer/literals.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LITERALS = 200, MAX_DEPTH = 16, MAX_CLASSES = 32 };

static void add(struct sp_literals *literals, const char *text)
{
    for (size_t i = 0; i < literals->count; i++)
        if (strcmp(literals->list[i], text) == 0) return;
    if (literals->count == MAX_LITERALS) return;
    SP_GROW(literals->list, literals->count, literals->capacity);
    literals->list[literals->count++] = text;
}

static void add_value(struct sp_literals *literals, struct sp_value value)
{
    if (value.type == SP_STRING) add(literals, value.string);
    for (size_t i = 0; value.type == SP_LIST && i < value.count; i++) add_value(literals, value.items[i]);
}

static void collect_expr(struct sp_literals *literals, const struct sp_expr *expr)
{
    if (!expr) return;
    if (expr->kind == SP_EXPR_LITERAL) add_value(literals, expr->value);
    for (size_t i = 0; i < expr->count; i++) collect_expr(literals, expr->args[i]);
}

void sp_literals_define(struct sp_literals *literals, const struct sp_unit *table)
{
    for (size_t i = 0; i < table->definition_count; i++) collect_expr(literals, table->definitions[i].expr);
    for (size_t i = 0; i < table->requirement_count; i++) collect_expr(literals, table->requirements[i].condition);
}

bool sp_is_release(const char *text) { return strchr(text, '.') && text[strspn(text, "0123456789.")] == '\0'; }

/* ---- what has to do with a key ---- */

/* The key, and the definitions that depend on it. */
struct subject {
    struct sp_literals names;
    struct sp_literals *texts;
    const struct sp_unit *unit;
};

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

static bool is_constant(const struct sp_expr *expr)
{
    bool constant = expr->kind == SP_EXPR_LITERAL || expr->kind == SP_EXPR_LIST;
    for (size_t i = 0; i < expr->count; i++) constant = constant && is_constant(expr->args[i]);
    return constant;
}

/* `kind in known` means the texts of `known`. */
static void collect_named(const struct subject *subject, const struct sp_expr *expr)
{
    for (size_t i = 0; expr->kind == SP_EXPR_NAME && i < subject->unit->definition_count; i++)
        if (strcmp(subject->unit->definitions[i].name, expr->name) == 0 &&
            is_constant(subject->unit->definitions[i].expr))
            collect_expr(subject->texts, subject->unit->definitions[i].expr);
    for (size_t i = 0; i < expr->count; i++) collect_named(subject, expr->args[i]);
}

/* The text behind `key default ...`, or NULL. */
static const char *fallback_in(const struct sp_literals *names, const struct sp_expr *expr)
{
    const char *found = NULL;
    if (expr->kind == SP_EXPR_DEFAULT && mentions(names, expr->args[0])) {
        const struct sp_expr *last = expr->args[1];
        while (last->kind == SP_EXPR_DEFAULT) last = last->args[1];
        if (last->kind == SP_EXPR_LITERAL && last->value.type == SP_STRING) return last->value.string;
    }
    for (size_t i = 0; i < expr->count && !found; i++) found = fallback_in(names, expr->args[i]);
    return found;
}

static void take(struct subject *subject, const struct sp_expr *expr)
{
    if (!expr || !mentions(&subject->names, expr)) return;
    if (!subject->texts->fallback) subject->texts->fallback = fallback_in(&subject->names, expr);
    collect_expr(subject->texts, expr);
    collect_named(subject, expr);
}

static void take_unit(struct subject *subject, const struct sp_unit *unit, unsigned depth);

static void take_row(struct subject *subject, const struct sp_row *row, unsigned depth)
{
    take(subject, row->condition);
    for (size_t i = 0; i < row->rank; i++) take(subject, row->shape[i]);
    for (size_t i = 0; i < row->arg_count; i++) take(subject, row->args[i].expr);
    if (row->kind == SP_ROW_USE) take_unit(subject, row->unit, depth + 1);
}

static void take_unit(struct subject *subject, const struct sp_unit *unit, unsigned depth)
{
    const struct sp_unit *outer = subject->unit;
    if (depth > MAX_DEPTH || subject->texts->count == MAX_LITERALS) return;
    subject->unit = unit;
    for (size_t i = 0; i < unit->definition_count; i++)
        if (mentions(&subject->names, unit->definitions[i].expr)) add(&subject->names, unit->definitions[i].name);
    for (size_t i = 0; i < unit->definition_count; i++) take(subject, unit->definitions[i].expr);
    for (size_t i = 0; i < unit->requirement_count; i++) take(subject, unit->requirements[i].condition);
    for (size_t s = 0; s < unit->section_count; s++) {
        const struct sp_section *section = &unit->sections[s];
        for (size_t i = 0; i < section->clause_count; i++) take(subject, section->clauses[i].first);
        for (size_t i = 0; i < section->row_count; i++) take_row(subject, &section->rows[i], depth);
    }
    subject->unit = outer;
}

void sp_literals_about(struct sp_literals *literals, const struct sp_unit *table, const char *path)
{
    const char *dot = strrchr(path, '.'), *key = dot ? dot + 1 : path;
    const size_t length = strcspn(key, "["); /* an item is named as its list */
    struct subject subject = {.texts = literals};
    struct sp_arena arena = {0};
    add(&subject.names, sp_arena_copy(&arena, key, length));
    take_unit(&subject, table, 0);
    sp_arena_free(&arena);
    sp_literals_free(&subject.names);
}

void sp_literals_free(struct sp_literals *literals)
{
    free(literals->list);
    *literals = (struct sp_literals){0};
}

/* ---- classes ---- */

static bool mentions_class(const struct sp_expr *expr)
{
    if (!expr) return false;
    if (expr->kind == SP_EXPR_NAME && strcmp(expr->name, "architectures") == 0) return true;
    for (size_t i = 0; i < expr->count; i++)
        if (mentions_class(expr->args[i])) return true;
    return false;
}

static bool depends_on_class(const struct sp_unit *table)
{
    for (size_t i = 0; i < table->definition_count; i++)
        if (mentions_class(table->definitions[i].expr)) return true;
    return false;
}

/* "GPT2", "ForCausalLM": a class or a part of one. */
static bool is_camel(const char *text)
{
    if (!isupper((unsigned char)*text)) return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_') return false;
    return true;
}

struct classes {
    struct sp_arena *arena;
    const struct sp_unit *table;
    const char **list;
    size_t count;
};

static bool is_covered(const struct sp_unit *table, const char *class)
{
    struct sp_outline outline;
    bool covered = table->requirement_count > 0;
    sp_outline_begin(&outline, table, class);
    const struct sp_env env = {.frame = outline.frame};
    for (size_t i = 0; i < table->requirement_count && covered; i++) {
        struct sp_value value;
        covered = sp_outline_eval(&outline, &env, table->requirements[i].condition, &value) &&
                  (value.type == SP_UNKNOWN || (value.type == SP_BOOL && value.boolean));
    }
    sp_outline_free(&outline);
    return covered;
}

static void consider(struct classes *classes, const char *begin, const char *end)
{
    const char *class = sp_arena_printf(classes->arena, "%s%s", begin, end);
    for (size_t i = 0; i < classes->count; i++)
        if (strcmp(classes->list[i], class) == 0) return;
    if (classes->count < MAX_CLASSES && is_covered(classes->table, class)) classes->list[classes->count++] = class;
}

/* What the definitions of the table are as texts: "BertFor" + "MaskedLM" among them. */
static void collect_defined(struct sp_literals *literals, struct sp_outline *outline)
{
    const struct sp_unit *table = outline->table;
    const struct sp_env env = {.frame = outline->frame};
    for (size_t i = 0; i < table->definition_count; i++) {
        struct sp_env own = env;
        struct sp_value value;
        own.defining = &table->definitions[i];
        if (!table->definitions[i].is_function && sp_outline_eval(outline, &own, table->definitions[i].expr, &value))
            add_value(literals, value);
    }
}

/* A class is one text, or the family and what follows it. */
static void find_classes(struct classes *classes)
{
    struct sp_literals texts = {0};
    struct sp_outline outline;
    sp_outline_begin(&outline, classes->table, "");
    collect_defined(&texts, &outline);
    sp_literals_define(&texts, classes->table);
    for (size_t i = 0; i < texts.count; i++)
        if (is_camel(texts.list[i])) consider(classes, texts.list[i], "");
    for (size_t i = 0; i < texts.count; i++)
        for (size_t k = 0; k < texts.count && is_camel(texts.list[i]); k++)
            if (is_camel(texts.list[k]) && strncmp(texts.list[k], texts.list[i], strlen(texts.list[i])) != 0)
                consider(classes, texts.list[i], texts.list[k]);
    sp_outline_free(&outline);
    sp_literals_free(&texts);
}

const char **sp_classes_of(struct sp_arena *arena, const struct sp_unit *table, size_t *count)
{
    struct classes classes = {arena, table, sp_arena_array(arena, MAX_CLASSES + 1, sizeof(char *)), 0};
    if (table->architecture_count)
        for (size_t i = 0; i < table->architecture_count; i++) consider(&classes, table->architectures[i], "");
    else if (depends_on_class(table)) find_classes(&classes);
    if (!classes.count) classes.list[classes.count++] = "";
    *count = classes.count;
    return classes.list;
}
