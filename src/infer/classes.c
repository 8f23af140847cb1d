/* SPDX-License-Identifier: MIT
 * The classes of models that a table covers, as far as it names them. */
#include "infer/classes.h"

#include <ctype.h>
#include <string.h>

#include "base/chars.h"
#include "infer/limits.h"
#include "infer/tables/index.h"
#include "solve/literals.h"
#include "solve/solver.h"

static bool mentions_class(const struct sp_expr *expr)
{
    if (!expr) return false;
    if (expr->kind == SP_EXPR_NAME && sp_is_class_key(expr->name)) return true;
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
    struct sp_solver *solver; /* of the table */
    const char **list;
    size_t count;
};

static bool is_covered(const struct classes *classes, const char *class)
{
    if (!classes->table->requirement_count) return false;
    sp_known_clear(&classes->solver->known);
    return *class ? sp_solver_tell_class(classes->solver, class) : sp_solver_is_covered(classes->solver);
}

static void consider_class(struct classes *classes, const char *begin, const char *end)
{
    const char *class = sp_arena_printf(classes->arena, "%s%s", begin, end);
    if (sp_is_among(class, classes->list, classes->count)) return;
    if (classes->count < SP_MOST_CLASSES_OF_TABLE && is_covered(classes, class))
        classes->list[classes->count++] = class;
}

/* What the definitions of the table are as texts: "BertFor" + "MaskedLM" among them. */
static void collect_defined(struct sp_literals *literals, struct sp_solver *solver)
{
    const struct sp_unit *table = solver->table;
    const struct sp_env env = {.frame = solver->frame};
    for (size_t i = 0; i < table->definition_count; i++) {
        struct shapeproof_value value;
        if (!table->definitions[i].is_function && sp_solver_eval(solver, &env, table->definitions[i].expr, &value))
            sp_literals_add(literals, value);
    }
}

/* Considers the classes that begin with that text: "Phimoe" -> "PhimoeForCausalLM", "PhimoeModel". What is a class of
 * its own, "PhiMoEForCausalLM", is no end of one. */
static void consider_family(struct classes *classes, const struct sp_literals *texts, const char *family)
{
    for (size_t i = 0; i < texts->count && is_camel(family); i++)
        if (is_camel(texts->list[i]) && strncmp(texts->list[i], family, strlen(family)) != 0 &&
            !is_covered(classes, texts->list[i]))
            consider_class(classes, family, texts->list[i]);
}

/* What the table defines as `family`; "" when it defines none. */
static const char *own_family(struct sp_solver *solver)
{
    const struct sp_unit *table = solver->table;
    const struct sp_env env = {.frame = solver->frame};
    struct shapeproof_value value;
    for (size_t i = 0; i < table->definition_count; i++)
        if (strcmp(table->definitions[i].name, "family") == 0 &&
            sp_solver_eval(solver, &env, table->definitions[i].expr, &value) && value.type == SHAPEPROOF_VALUE_STRING)
            return value.string;
    return "";
}

/* A class is the family and what follows it, or one text. Classes of the table's own family come first: those are what
 * the framework calls them today, and the others names of releases before it. */
static void find_classes(struct classes *classes)
{
    struct sp_literals texts = {0};
    collect_defined(&texts, classes->solver);
    sp_literals_define(&texts, classes->table);
    consider_family(classes, &texts, own_family(classes->solver));
    for (size_t i = 0; i < texts.count; i++)
        if (is_camel(texts.list[i])) consider_class(classes, texts.list[i], "");
    for (size_t i = 0; i < texts.count; i++) consider_family(classes, &texts, texts.list[i]);
    sp_literals_free(&texts);
}

bool sp_stands_for_settings(const struct sp_unit *table)
{
    return table->architecture_count && strcmp(sp_unit_class_key(table), "architecture") == 0;
}

static void fit_classes(const struct shapeproof_tables *tables, const struct sp_unit *table)
{
    struct sp_solver solver;
    sp_solver_init(&solver, table);
    struct classes classes = {&solver.arena, table, &solver,
                              sp_arena_array(&solver.arena, SP_MOST_CLASSES_OF_TABLE + 1, sizeof(char *)), 0};
    for (size_t i = 0; i < table->architecture_count && !sp_stands_for_settings(table); i++)
        consider_class(&classes, table->architectures[i], "");
    if (!table->architecture_count && depends_on_class(table)) find_classes(&classes);
    if (!classes.count) classes.list[classes.count++] = "";
    sp_tables_keep_classes(tables, table, classes.list, classes.count);
    sp_solver_free(&solver);
}

/* From the index of built-in tables; false when it is not there. */
static bool find_indexed_classes(const struct shapeproof_tables *tables, const struct sp_unit *table)
{
    const size_t place = sp_tables_place_of(tables, table);
    const char *classes[SP_MOST_CLASSES_OF_TABLE];
    if (place >= sp_builtin_index_count || !sp_builtin_index_units[place].class_count) return false;
    const struct sp_indexed_unit *indexed = &sp_builtin_index_units[place];
    const char *class = sp_builtin_index_text + indexed->classes;
    for (size_t i = 0; i < indexed->class_count; i++, class += strlen(class) + 1) classes[i] = class;
    sp_tables_keep_classes(tables, table, classes, indexed->class_count);
    return true;
}

const char *const *sp_classes_of(const struct shapeproof_tables *tables, const struct sp_unit *table, size_t *count)
{
    if (!table->classes && !find_indexed_classes(tables, table)) fit_classes(tables, table);
    *count = table->class_count;
    return (const char *const *)table->classes;
}

/* "PhiMoEForCausalLM" -> "ForCausalLM"; NULL for a class without a head. */
static const char *head_of(const char *class) { return strstr(class, "For"); }

const char *sp_class_today(const struct shapeproof_tables *tables, const struct sp_unit *table, const char *class,
                           bool (*is_as_good)(const void *context, const char *class), const void *context)
{
    size_t count;
    const char *const *classes = sp_classes_of(tables, table, &count);
    const char *head = head_of(class);
    for (size_t i = 0; i < count && head && strcmp(classes[i], class) != 0; i++) {
        const char *own = head_of(classes[i]);
        if (own && strcmp(own, head) == 0 && is_as_good(context, classes[i])) return classes[i];
    }
    return class;
}

size_t sp_count_heads(const struct shapeproof_tables *tables, const struct sp_unit *table)
{
    size_t count, heads = 0;
    const char *const *classes = sp_classes_of(tables, table, &count);
    for (size_t i = 0; i < count; i++) heads += strstr(classes[i], "For") || strstr(classes[i], "LMHead");
    return heads;
}

bool sp_is_part(const struct shapeproof_tables *tables, const struct sp_unit *table)
{
    return table->model_type_count && !sp_count_heads(tables, table);
}

/* The place of what the unit at a place extends, or SIZE_MAX. */
static size_t parent_of(const struct shapeproof_tables *tables, size_t place)
{
    if (place < sp_builtin_index_count) {
        const uint32_t parent = sp_builtin_index_units[place].parent;
        return parent == SP_INDEXED_NONE ? SIZE_MAX : parent;
    }
    const struct sp_unit *unit = sp_tables_at(tables, place);
    return unit && unit->parent ? sp_tables_place_of(tables, unit->parent) : SIZE_MAX;
}

size_t sp_count_heirs(const struct shapeproof_tables *tables, const struct sp_unit *table)
{
    size_t count, heirs = 0;
    const size_t *list = sp_tables_list(tables, &count);
    const size_t place = sp_tables_place_of(tables, table);
    for (size_t i = 0; i < count; i++) {
        size_t above = parent_of(tables, list[i]);
        while (above != SIZE_MAX && above != place) above = parent_of(tables, above);
        heirs += above != SIZE_MAX;
    }
    return heirs;
}
