/* SPDX-License-Identifier: MIT
 * A table text and a configuration, and what the dimension of its first row needs. */
#ifndef TESTS_SOLVE_SOLVING_H
#define TESTS_SOLVE_SOLVING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "lang/tables.h"
#include "solve/invert.h"
#include "solve/key.h"
#include "solve/lines.h"

/* The tables to which a test adds its own, as the state of its group. */
static inline int tables_setup(void **state)
{
    struct shapeproof_error error = {0};
    *state = shapeproof_tables_new(&error);
    return *state == NULL;
}

static inline int tables_teardown(void **state)
{
    shapeproof_tables_free(*state);
    return 0;
}

struct solving {
    struct sp_arena arena;
    const struct sp_unit *table;
    struct shapeproof_value root; /* the configuration */
    struct sp_outline outline;    /* of the table under it */
};

static inline struct shapeproof_value json_value(struct sp_arena *arena, const char *json)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value value;
    if (!sp_value_parse_json(arena, json, strlen(json), &value, &error)) fail_msg("%s: %s", json, error.message);
    return value;
}

/* The last table of the text. */
static inline const struct sp_unit *add_table(struct shapeproof_tables *tables, const char *text)
{
    struct shapeproof_error error = {0};
    if (shapeproof_tables_add_text(tables, "t.shapes", text, strlen(text), &error) != SHAPEPROOF_OK)
        fail_msg("%s\n%s", text, shapeproof_tables_messages(tables));
    return tables->own.items[tables->own.count - 1];
}

static inline void solving_open(struct solving *s, struct shapeproof_tables *tables, const char *text,
                                const char *config)
{
    *s = (struct solving){.table = add_table(tables, text)};
    s->root = json_value(&s->arena, config);
    sp_outline_configure(&s->outline, s->table, &s->root);
}

static inline void solving_close(struct solving *s)
{
    sp_outline_free(&s->outline);
    sp_arena_free(&s->arena);
}

/* What the key is in the configuration, as one that is in question. */
static inline struct sp_unknown solving_key(const struct solving *s, const char *key)
{
    return (struct sp_unknown){key, sp_value_member(s->root, key)};
}

static inline struct sp_key_values solve_dimension(struct solving *s, struct sp_unknown key,
                                                   struct shapeproof_value wanted)
{
    const struct sp_line *line = &s->outline.lines[0];
    return sp_solve_key(&s->outline.solver, &key, line->env, line->row->shape[0], wanted);
}

/* The dimension if the key were that. */
static inline struct shapeproof_value dimension_if(struct solving *s, const char *path, struct shapeproof_value value)
{
    const struct sp_line *line = &s->outline.lines[0];
    struct shapeproof_value dimension = sp_value_absent("");
    if (sp_suppose(&s->outline.solver, path, value))
        dimension = sp_solver_value(&s->outline.solver, line->env, line->row->shape[0]);
    sp_suppose_end(&s->outline.solver);
    return dimension;
}

#endif
