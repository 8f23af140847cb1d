/* SPDX-License-Identifier: MIT
 * Settings that random numbers cannot be: which class of a model it is, and the texts of keys, drawn from those that
 * the table compares them with. */
#ifndef SP_TESTS_PROVE_DRAWN_H
#define SP_TESTS_PROVE_DRAWN_H

#include "infer/classes.h"
#include "prove/law.h"
#include "solve/literals.h"

/* A key that is used as a text and has no other use, so that the table can be asked what it may be. */
static inline bool is_text_key(const struct sp_count *count, const struct sp_symbol_info *symbol)
{
    struct sp_symbol_info number = *symbol;
    number.is_text = false;
    return symbol->is_text && is_plain(count, &number);
}

/* Gives the class of that number, counted round. Returns how many there are. */
static inline size_t draw_class(struct shapeproof_config *config, const struct shapeproof_tables *tables,
                                const struct sp_unit *table, size_t number, struct sp_arena *arena)
{
    size_t count;
    const char *const *classes = sp_classes_of(tables, table, &count);
    const char *key = sp_unit_class_key(table), *class = classes[number % count];
    if (value_of_key(config, key).type != SHAPEPROOF_VALUE_ABSENT) return 1;
    if (!*class) return count;
    struct shapeproof_value *text = sp_arena_alloc(arena, sizeof *text);
    *text = sp_value_string(class);
    const struct shapeproof_value list = {.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = text};
    sp_config_set_value(config, key, sp_unit_is_by_class(table) ? *text : list, "test");
    return count;
}

/* The path of a key as it is written, encoder.model_type; NULL for any other expression. */
static inline const char *written_key(struct sp_arena *arena, const struct sp_unit *table, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_MEMBER) {
        const char *object = written_key(arena, table, expr->args[0]);
        return object ? sp_arena_printf(arena, "%s.%s", object, expr->name) : NULL;
    }
    for (size_t i = 0; expr->kind == SP_EXPR_NAME && i < table->definition_count; i++)
        if (strcmp(table->definitions[i].name, expr->name) == 0 && table->definitions[i].expr != expr &&
            !(table->definitions[i].expr->kind == SP_EXPR_DEFAULT && table->definitions[i].expr->args[0] == expr))
            return NULL;
    return expr->kind == SP_EXPR_NAME ? expr->name : NULL;
}

struct drawer {
    struct shapeproof_config *config;
    const struct sp_unit *table;
    struct sp_arena *arena;
    uint64_t *seed;
    bool gives; /* those of the first draw stay as they are */
    size_t keys;
};

/* One of the texts that the table says, or that what it uses says. */
static inline void draw_text(struct drawer *drawer, const char *key)
{
    struct sp_unit alone = *drawer->table;
    struct sp_literals texts = {0};
    if (value_of_key(drawer->config, key).type != SHAPEPROOF_VALUE_ABSENT) return;
    if (below(drawer->seed, 2)) alone.section_count = 0;
    sp_literals_about(&texts, &alone, key);
    if (texts.count) drawer->keys++;
    if (texts.count && drawer->gives && below(drawer->seed, 4))
        sp_config_set_value(drawer->config, sp_arena_string(drawer->arena, key),
                            sp_value_string(texts.list[below(drawer->seed, (int64_t)texts.count)]), "test");
    sp_literals_free(&texts);
}

/* Keys whose default is a text: encoder.model_type default "". */
static inline void draw_in(struct drawer *drawer, const struct sp_expr *expr)
{
    const struct sp_expr *last = expr;
    while (last->kind == SP_EXPR_DEFAULT) last = last->args[1];
    if (last != expr && last->kind == SP_EXPR_LITERAL && last->value.type == SHAPEPROOF_VALUE_STRING) {
        const char *key = written_key(drawer->arena, drawer->table, expr->args[0]);
        if (key) draw_text(drawer, key);
    }
    for (size_t i = 0; i < expr->count; i++) draw_in(drawer, expr->args[i]);
}

/* Returns how many keys could be texts. */
static inline size_t draw_texts(struct shapeproof_config *config, const struct sp_count *count, size_t number,
                                struct sp_arena *arena, uint64_t *seed)
{
    const struct sp_unit *table = count->table;
    struct drawer drawer = {config, table, arena, seed, number > 0, 0};
    for (size_t i = 0; i < count->symbolic.symbols.count; i++)
        if (is_text_key(count, &count->symbolic.symbols.items[i]))
            draw_text(&drawer, count->symbolic.symbols.items[i].key);
    for (size_t i = 0; i < table->definition_count; i++) draw_in(&drawer, table->definitions[i].expr);
    for (size_t i = 0; i < table->requirement_count; i++) draw_in(&drawer, table->requirements[i].condition);
    return drawer.keys;
}

#endif
