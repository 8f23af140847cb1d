/* SPDX-License-Identifier: MIT */
#include "solve/solver.h"

#include "solve/limits.h"

#include <stdlib.h>
#include <string.h>

/* The value that is configured: looked for once, since a configuration may be wide, as that of a Keras model is. Paths
 * live as long as the solver. */
static struct shapeproof_value configured_value(struct sp_solver *solver, const char *path)
{
    const size_t place = sp_map_get(&solver->places, path);
    if (place != SIZE_MAX) return solver->values.items[place];
    sp_map_add(&solver->places, path, solver->values.count);
    const char *dot = strchr(path, '.');
    solver->component.length = 0;
    sp_text_append(&solver->component, path, dot ? (size_t)(dot - path) : strlen(path));
    struct shapeproof_value value = sp_members_get(&solver->members, *solver->configured, solver->component.data);
    if (dot) value = sp_value_at(value, dot + 1);
    else if (value.type == SHAPEPROOF_VALUE_ABSENT) value = sp_value_absent(path);
    return *SP_PUSH(&solver->values) = value;
}

static struct shapeproof_value ask_known(void *context, const char *path)
{
    struct sp_solver *solver = context;
    if (solver->lookups) *SP_PUSH(solver->lookups) = path;
    if (!solver->configured || (solver->open && strcmp(path, solver->open) == 0))
        return sp_known_value(&solver->known, path);
    const struct shapeproof_value value = configured_value(solver, path);
    return value.type == SHAPEPROOF_VALUE_BOOL && solver->flags_open ? sp_known_value(&solver->known, path) : value;
}

static struct shapeproof_value ask_known_item(void *context, const char *path, size_t index)
{
    struct sp_solver *solver = context;
    if (solver->lookups) *SP_PUSH(solver->lookups) = path;
    return sp_known_item(&solver->known, path, index);
}

void sp_solver_open(struct sp_solver *solver, const char *key)
{
    sp_known_clear(&solver->known);
    solver->open = key;
}

void sp_solver_ask_anew(struct sp_solver *solver)
{
    sp_known_renew(&solver->known);
    sp_map_free(&solver->places);
    solver->places = (struct sp_map){0};
    sp_members_free(&solver->members);
    solver->values.count = 0;
}

void sp_solver_note_lookups(struct sp_solver *solver, struct sp_lookups *lookups)
{
    sp_known_renew(&solver->known); /* what was worked out before is looked up once more */
    solver->lookups = lookups;
}

/* Mistakes of expressions before are forgotten. */
static struct sp_eval *begin_eval(struct sp_solver *solver)
{
    struct sp_eval *eval = &solver->eval;
    sp_eval_settle(eval);
    eval->mistakes = eval->limits = eval->message_count = eval->steps = eval->spent = 0;
    eval->stopped = false;
    solver->messages.length = 0;
    return eval;
}

bool sp_solver_eval(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                    struct shapeproof_value *value)
{
    return sp_eval(begin_eval(solver), env, expr, value);
}

bool sp_solver_remember(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                        struct sp_remembered *remembered, struct shapeproof_value *value)
{
    return sp_eval_remembered(begin_eval(solver), env, expr, remembered, value);
}

struct shapeproof_value sp_solver_value(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr)
{
    struct shapeproof_value value;
    return sp_solver_eval(solver, env, expr, &value) ? value : sp_value_absent("");
}

const struct sp_literals *sp_solver_texts(struct sp_solver *solver, const char *path)
{
    const size_t known = sp_map_get(&solver->texts_of, path);
    if (known != SIZE_MAX) return solver->texts.items[known];
    struct sp_literals *texts = sp_realloc(NULL, 1, sizeof *texts);
    *texts = (struct sp_literals){0};
    sp_literals_about(texts, solver->table, path);
    sp_map_add(&solver->texts_of, sp_arena_string(&solver->arena, path), solver->texts.count);
    *SP_PUSH(&solver->texts) = texts;
    return texts;
}

static void free_texts(struct sp_solver *solver)
{
    for (size_t i = 0; i < solver->texts.count; i++) {
        sp_literals_free(solver->texts.items[i]);
        sp_free(solver->texts.items[i]);
    }
    sp_free(solver->texts.items);
    sp_map_free(&solver->texts_of);
}

const char *sp_solver_path(struct sp_solver *solver, const struct sp_env *env, const char *key)
{
    return sp_arena_printf(&solver->arena, "%s%s", env->frame->view->prefix, key);
}

const char *sp_solver_key(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr)
{
    struct sp_env own = *env;
    for (unsigned depth = 0; depth < SP_MOST_NAMES_IN_TURN && expr->kind == SP_EXPR_NAME; depth++) {
        const struct sp_meaning meaning = sp_meaning_of(&own, expr);
        if (meaning.kind != SP_MEANS_KEY) {
            if (!sp_meaning_open(&own, &expr)) return NULL;
            continue;
        }
        const struct sp_given *given = sp_view_given(own.frame->view, expr->name);
        if (!given) return sp_solver_path(solver, &own, expr->name);
        if (!given->open.env) return NULL; /* a value that is in no key: what a file tells */
        own = *given->open.env;
        expr = given->open.expr;
    }
    if (expr->kind != SP_EXPR_MEMBER) return NULL;
    const char *object = sp_solver_key(solver, &own, expr->args[0]);
    return object ? sp_arena_printf(&solver->arena, "%s.%s", object, expr->name) : NULL;
}

bool sp_solver_is_covered(struct sp_solver *solver)
{
    const struct sp_env env = {.frame = solver->frame};
    for (size_t i = 0; i < solver->table->requirement_count; i++) {
        struct shapeproof_value value;
        if (!sp_solver_eval(solver, &env, solver->table->requirements[i].condition, &value)) return false;
        if (value.type != SHAPEPROOF_VALUE_UNKNOWN && (value.type != SHAPEPROOF_VALUE_BOOL || !value.boolean))
            return false;
    }
    return true;
}

/* Of several types that a table has those under which it covers what was told; `only`: the last of them. */
static size_t count_types(struct sp_solver *solver, struct sp_want *only)
{
    size_t count = 0;
    for (size_t i = 0; i < solver->table->model_type_count; i++) {
        const struct sp_want type = sp_want_value(sp_value_string(solver->table->model_types[i]));
        const struct sp_mark mark = sp_known_mark(&solver->known);
        sp_known_tell(&solver->known, "model_type", &type);
        if (sp_solver_is_covered(solver)) {
            *only = type;
            count++;
        }
        sp_known_undo(&solver->known, &mark);
    }
    return count;
}

bool sp_solver_tell_class(struct sp_solver *solver, const char *class)
{
    struct shapeproof_value *item = sp_arena_alloc(&solver->arena, sizeof *item);
    *item = sp_value_string(sp_arena_string(&solver->arena, class));
    const struct shapeproof_value list = {.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = item};
    const struct sp_want want = sp_want_value(sp_unit_is_by_class(solver->table) ? *item : list);
    sp_known_tell(&solver->known, sp_unit_class_key(solver->table), &want);
    if (solver->table->model_type_count < 2) return sp_solver_is_covered(solver);
    struct sp_want type;
    const size_t types = count_types(solver, &type);
    if (types == 1) sp_known_tell(&solver->known, "model_type", &type);
    return types > 0;
}

void sp_solver_init(struct sp_solver *solver, const struct sp_unit *table)
{
    *solver = (struct sp_solver){.table = table};
    struct sp_view *view = sp_arena_alloc(&solver->arena, sizeof *view);
    struct sp_frame *frame = sp_arena_alloc(&solver->arena, sizeof *frame);
    *view = (struct sp_view){.object = {.type = SHAPEPROOF_VALUE_OBJECT}, .prefix = ""};
    *frame = (struct sp_frame){.unit = table, .view = view};
    frame->remembered = sp_arena_array(&solver->arena, table->definition_count, sizeof *frame->remembered);
    frame->param_exprs = sp_arena_array(&solver->arena, table->param_count, sizeof(struct sp_expr *));
    solver->frame = frame;
    solver->known.arena = &solver->arena;
    solver->knowledge = (struct sp_knowledge){
        ask_known, ask_known_item, solver, &solver->known.changes, &solver->known.touched, &solver->known.asked};
    solver->hyper =
        (struct sp_hyper){.root = {.type = SHAPEPROOF_VALUE_OBJECT}, .file = "", .knowledge = &solver->knowledge};
    solver->eval = (struct sp_eval){.arena = &solver->arena, .hyper = &solver->hyper, .messages = &solver->messages};
}

void sp_solver_free(struct sp_solver *solver)
{
    sp_eval_free(&solver->eval);
    sp_map_free(&solver->places);
    sp_members_free(&solver->members);
    sp_text_free(&solver->component);
    sp_free(solver->values.items);
    sp_text_free(&solver->messages);
    sp_known_free(&solver->known);
    free_texts(solver);
    sp_arena_free(&solver->arena);
    *solver = (struct sp_solver){.table = NULL};
}
