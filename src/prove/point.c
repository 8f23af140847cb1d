/* SPDX-License-Identifier: MIT
 * A counter-example as it is printed, read again: "E = 1, N = 1, tied = false, depths = [2, 3], the others 1" becomes
 * settings of a configuration. A name is a hyper-parameter or what the table calls it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "config/config.h"
#include "prove/cases.h"
#include "shapeproof/prove.h"

struct point {
    struct shapeproof_config *config;
    struct sp_count *count;
    struct shapeproof_error *error;
};

static bool is_wrong(struct point *point, const char *item, const char *expected)
{
    return sp_fail(point->error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "'%s': expected %s", item, expected);
}

/* The key that the name, or what the table defines under it, stands for; NULL when the table has none. A list that the
 * table was counted with is no symbol, but it has a definition. */
static const char *key_of(const struct point *point, const char *name)
{
    const struct sp_unit *table = point->count->table;
    const char *key = NULL;
    for (size_t i = 0; i < table->definition_count && !key; i++) {
        const struct sp_expr *expr = table->definitions[i].expr;
        if (table->definitions[i].is_function || strcmp(table->definitions[i].name, name) != 0) continue;
        while (expr->kind == SP_EXPR_DEFAULT) expr = expr->args[0];
        if (expr->kind == SP_EXPR_NAME) key = expr->name;
    }
    const struct sp_symbol_info *symbol = sp_sym_symbol(&point->count->symbolic, key ? key : name);
    return symbol && !symbol->is_computed ? symbol->key : key;
}

/* Both sides of "patch_size[0]" are set with the first of them: the other may follow. */
static void set_side(struct point *point, const char *key, const char *bracket, struct shapeproof_value value)
{
    struct sp_arena *arena = &point->config->arena;
    const char *pair = sp_arena_copy(arena, key, (size_t)(bracket - key));
    const struct shapeproof_value now = sp_value_at(sp_config_hyper(point->config)->root, pair);
    struct shapeproof_value *items = sp_arena_array(arena, 2, sizeof *items);
    for (size_t i = 0; i < 2; i++)
        items[i] = now.type == SHAPEPROOF_VALUE_LIST && now.count == 2 ? now.items[i] : value;
    items[bracket[1] == '1'] = value;
    sp_config_set_value(point->config, pair,
                        (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 2, .items = items},
                        "the point");
}

/* Sets the hyper-parameter of that name to the value that the text is: JSON, or else a text as it stands. False, with
 * the error, when the table has none of that name. */
static bool set_value(struct point *point, const char *name, const char *text)
{
    struct shapeproof_value value;
    struct shapeproof_error ignored = {0};
    const char *key = key_of(point, name), *bracket = key ? strrchr(key, '[') : NULL;
    if (!key) return is_wrong(point, name, "a hyper-parameter of the table");
    if (!sp_value_parse_json(&point->config->arena, text, strlen(text), &value, &ignored))
        value = sp_value_string(sp_arena_string(&point->config->arena, text));
    if (bracket) set_side(point, key, bracket, value);
    else sp_config_set_value(point->config, sp_arena_string(&point->config->arena, key), value, "the point");
    return true;
}

/* Sets every number among the hyper-parameters that has no value yet. */
static void set_others(struct point *point, int64_t size)
{
    const struct sp_symbolic *symbolic = &point->count->symbolic;
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        const bool is_number = !symbol->is_computed && !symbol->is_text && !symbol->is_list && !symbol->unset_key &&
                               !strpbrk(symbol->key, "[(") && !symbolic->algebra.atoms[symbol->atom].is_condition;
        const struct shapeproof_value now = sp_value_at(sp_config_hyper(point->config)->root, symbol->key);
        if (is_number && now.type == SHAPEPROOF_VALUE_ABSENT)
            sp_config_set_value(point->config, sp_arena_string(&point->config->arena, symbol->key), sp_value_int(size),
                                "the point");
    }
}

/* Whether the item is "the others 1" or "all 2"; *size becomes the number. */
static bool names_others(const char *item, int64_t *size)
{
    static const char *const words[] = {"the others ", "all "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        char *end;
        if (strncmp(item, words[i], length) != 0) continue;
        errno = 0;
        *size = strtoll(item + length, &end, 10);
        return end != item + length && !*end && !errno;
    }
    return false;
}

/* Sets what one item of the point says. The item is cut up on the way. False with the error.
 *
 *     the others 1, all 2       every number that has no value yet
 *     E = 3, tied = false       one hyper-parameter
 *     k is null                 null
 *     k is given, not given,
 *     is not null               nothing: that follows from the other items
 *     tied, not tied            true, false */
static bool set_item(struct point *point, char *item)
{
    char *equals = strchr(item, '='), *is = strstr(item, " is ");
    int64_t size;
    if (names_others(item, &size)) {
        set_others(point, size);
        return true;
    }
    if (equals) {
        char *end = equals;
        while (end > item && end[-1] == ' ') end--;
        *end = '\0';
        return set_value(point, item, equals + 1 + strspn(equals + 1, " "));
    }
    if (is) {
        *is = '\0';
        return strcmp(is + 4, "null") != 0 || set_value(point, item, "null");
    }
    return strncmp(item, "not ", 4) == 0 ? set_value(point, item + 4, "false") : set_value(point, item, "true");
}

/* The next item, cut off at its comma; a comma within a list cuts nothing. NULL behind the last. */
static char *next_item(char **rest)
{
    char *item = *rest + strspn(*rest, ", "), *at = item;
    for (int depth = 0; *at && (*at != ',' || depth > 0); at++) depth += (*at == '[') - (*at == ']');
    *rest = *at ? at + 1 : at;
    *at = '\0';
    return *item ? item : NULL;
}

enum shapeproof_status shapeproof_config_set_point(struct shapeproof_config *config,
                                                   const struct shapeproof_tables *tables, const char *table,
                                                   const char *text, struct shapeproof_error *error)
{
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("reading the hyper-parameters");
    sp_config_keep(config);
    sp_error_reset(error);
    struct sp_count count;
    const struct sp_unit *unit = sp_tables_table(tables, table, error);
    if (!unit) return error->status;
    struct point point = {config, &count, error};
    char *rest = sp_arena_string(&config->arena, text);
    if (sp_count_table(&count, tables, unit, NULL, SP_SIDES_MAY_DIFFER))
        for (char *item; (item = next_item(&rest)) && set_item(&point, item);)
            continue; /* stops at the first mistake */
    else sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "the table '%s' cannot be counted", table);
    sp_count_free(&count);
    return error->status;
}
