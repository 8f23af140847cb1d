/* SPDX-License-Identifier: MIT
 * From a table and hyper-parameters to the list of tensors: sections are looped, parts and sub-tables opened,
 * ties resolved at the end, when all names are known. */
#include "lang/prediction.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { MAX_USE_DEPTH = 64, MAX_TIES = 32, MAX_PREDICTED = 4 * 1000 * 1000, MAX_STEPS = 64 * 1000 * 1000 };

struct pending_tie {
    size_t tensor;
    const char *target;
    struct sp_span span;
};

struct expander {
    struct sp_eval eval;
    struct sp_prediction *out;
    struct pending_tie *ties;
    size_t tie_count, tie_capacity;
    struct sp_map group_names;
    unsigned use_depth;
    size_t most; /* tensors */
    bool full;   /* there are more */
    size_t steps, most_steps;
    bool unsupported; /* a 'require' said no */
};

static void expand_unit(struct expander *x, const struct sp_frame *frame);

/* ---- one tensor ---- */

static size_t group_index(struct expander *x, const char *name)
{
    struct sp_prediction *out = x->out;
    const size_t known = sp_map_get(&x->group_names, name);
    if (known != SIZE_MAX) return known;
    SP_GROW(out->groups, out->group_count, out->group_capacity);
    out->groups[out->group_count] = (struct sp_group){.name = name};
    sp_map_add(&x->group_names, name, out->group_count);
    return out->group_count++;
}

static const char *group_name(struct expander *x, const struct sp_env *env)
{
    const char *own = env->section->name, *outer = env->frame->group;
    if (!outer) return own;
    if (!*own || !env->frame->unit->is_table) return outer;
    return *outer ? sp_arena_printf(x->eval.arena, "%s: %s", outer, own) : own;
}

static bool shape(struct expander *x, const struct sp_env *env, const struct sp_row *row, struct sp_predicted *tensor)
{
    uint64_t *dims = sp_arena_array(x->eval.arena, row->rank, sizeof *dims);
    bool good = true;
    tensor->parameters = 1;
    for (size_t i = 0; i < row->rank; i++) {
        int64_t size;
        if (!sp_eval_int(&x->eval, env, row->shape[i], "the dimension", &size)) good = false;
        else if (size < 0)
            good = sp_eval_fail(&x->eval, row->shape[i]->span, "the dimension is %" PRId64 ", less than 0", size);
        else dims[i] = (uint64_t)size;
        if (good && !sp_mul_u64(tensor->parameters, dims[i], &tensor->parameters))
            good = sp_eval_fail(&x->eval, row->span, "the number of elements does not fit in 64 bits");
    }
    tensor->shape = dims;
    tensor->rank = (uint32_t)row->rank;
    return good;
}

static bool old_names(struct expander *x, const struct sp_env *env, const struct sp_row *row,
                      struct sp_predicted *tensor)
{
    const char **names = sp_arena_array(x->eval.arena, row->old_count, sizeof *names);
    for (size_t i = 0; i < row->old_count; i++)
        if (!(names[i] = sp_eval_template(&x->eval, env, &row->olds[i]))) return false;
    tensor->old_names = names;
    tensor->old_name_count = row->old_count;
    return true;
}

static bool tie(struct expander *x, const struct sp_env *env, const struct sp_row *row, struct sp_predicted *tensor)
{
    bool tied = row->has_tie;
    if (tied && row->tie_condition && !sp_eval_bool(&x->eval, env, row->tie_condition, &tied)) return false;
    if (!tied) return true;
    const char *target = sp_eval_template(&x->eval, env, &row->tie);
    if (!target) return false;
    tensor->rows_only = row->tie_rows;
    SP_GROW(x->ties, x->tie_count, x->tie_capacity);
    x->ties[x->tie_count++] = (struct pending_tie){x->out->count, target, row->tie.span};
    return true;
}

static void emit(struct expander *x, const struct sp_env *env, const struct sp_row *row)
{
    struct sp_prediction *out = x->out;
    struct sp_predicted tensor = {.same_as = SP_NONE,
                                  .dtype = row->dtype,
                                  .optional = row->optional || env->frame->optional,
                                  .buffer = row->buffer};
    tensor.name = sp_eval_template(&x->eval, env, &row->name);
    if (!shape(x, env, row, &tensor) || !tensor.name) return;
    if (!old_names(x, env, row, &tensor) || !tie(x, env, row, &tensor)) return;
    if (out->count >= x->most) {
        x->full = true;
        sp_eval_fail(&x->eval, row->span, "more than %zu tensors", x->most);
        return;
    }
    if (!sp_map_add(&out->names, tensor.name, out->count)) {
        sp_eval_fail(&x->eval, row->span, "the tensor '%s' is predicted twice", tensor.name);
        return;
    }
    tensor.group = group_index(x, group_name(x, env));
    SP_GROW(out->tensors, out->count, out->capacity);
    SP_GROW(out->origins, out->count, out->origin_capacity);
    out->tensors[out->count] = tensor;
    out->origins[out->count++] = (struct sp_origin){row, env->section, env->frame};
}

/* ---- parts and sub-tables ---- */

static const struct sp_argument *given_by_name(const struct sp_row *row, const char *name)
{
    for (size_t i = 0; i < row->arg_count; i++)
        if (row->args[i].name == name) return &row->args[i];
    return NULL;
}

/* The expression for each parameter: by position first, then by name; NULL for the parameter's own fallback. */
static struct sp_expr **argument_exprs(struct expander *x, const struct sp_row *row)
{
    struct sp_expr **exprs = sp_arena_array(x->eval.arena, row->unit->param_count, sizeof *exprs);
    size_t next = 0;
    for (size_t i = 0; i < row->arg_count; i++)
        if (!row->args[i].name && next < row->unit->param_count) exprs[next++] = row->args[i].expr;
    for (size_t i = next; i < row->unit->param_count; i++) {
        const struct sp_argument *named = given_by_name(row, row->unit->params[i].name);
        if (named) exprs[i] = named->expr;
    }
    return exprs;
}

/* A fallback may use the parameters before it. */
static bool argument_values(struct expander *x, const struct sp_env *env, struct sp_frame *frame,
                            struct sp_value *values)
{
    const struct sp_env own = {.frame = frame};
    for (size_t i = 0; i < frame->unit->param_count; i++) {
        const struct sp_expr *given = frame->param_exprs[i];
        if (given ? !sp_eval(&x->eval, env, given, &values[i])
                  : !sp_eval(&x->eval, &own, frame->unit->params[i].fallback, &values[i]))
            return false;
    }
    return true;
}

/* The sub-configuration that `from` names (a missing one is empty: all its defaults hold), and what `with` gives. */
static struct sp_view *open_view(struct expander *x, const struct sp_env *env, const struct sp_row *row)
{
    const struct sp_view *outer = env->frame->view;
    struct sp_view *view = sp_arena_alloc(x->eval.arena, sizeof *view);
    *view = (struct sp_view){.object = outer->object, .prefix = outer->prefix};
    if (row->has_from) {
        struct sp_text path = {0};
        if (!sp_eval(&x->eval, env, row->from, &view->object)) return NULL;
        if (sp_value_is_set(view->object) && view->object.type != SP_OBJECT) {
            sp_eval_fail(&x->eval, row->from->span, "expected a sub-configuration, found %s",
                         sp_value_kind(view->object.type));
            return NULL;
        }
        sp_describe(&path, env, row->from);
        view->prefix = sp_arena_printf(x->eval.arena, "%s.", path.data);
        sp_text_free(&path);
    }
    const size_t inherited = row->has_from ? 0 : outer->given_count;
    struct sp_reading *given = sp_arena_array(x->eval.arena, row->with_count + inherited, sizeof *given);
    const char *from = sp_arena_printf(x->eval.arena, "table %s", env->frame->unit->name);
    for (size_t i = 0; i < row->with_count; i++) {
        given[view->given_count].path = row->with[i].name;
        given[view->given_count].from = from;
        if (!sp_eval(&x->eval, env, row->with[i].expr, &given[view->given_count].value)) return NULL;
        view->given_count++;
    }
    for (size_t i = 0; i < inherited; i++) given[view->given_count++] = outer->given[i];
    view->given = given;
    return view;
}

static struct sp_frame *new_frame(struct expander *x, const struct sp_unit *unit, const struct sp_view *view)
{
    struct sp_frame *frame = sp_arena_alloc(x->eval.arena, sizeof *frame);
    *frame = (struct sp_frame){.unit = unit, .view = view, .prefix = ""};
    frame->cache = sp_arena_array(x->eval.arena, unit->definition_count, sizeof *frame->cache);
    return frame;
}

static void use(struct expander *x, const struct sp_env *env, const struct sp_row *row)
{
    const struct sp_view *view = row->unit->is_table ? open_view(x, env, row) : env->frame->view;
    if (!view) return;
    struct sp_frame *frame = new_frame(x, row->unit, view);
    struct sp_value *values = sp_arena_array(x->eval.arena, row->unit->param_count, sizeof *values);
    frame->caller = env->frame;
    frame->caller_section = env->section;
    frame->param_exprs = argument_exprs(x, row);
    frame->params = values;
    frame->prefix = sp_eval_template(&x->eval, env, &row->name);
    frame->group = group_name(x, env);
    frame->optional = row->optional || env->frame->optional;
    if (!frame->prefix || !argument_values(x, env, frame, values)) return;
    if (x->use_depth >= MAX_USE_DEPTH) {
        sp_eval_fail(&x->eval, row->unit_span, "parts used more than %d deep", MAX_USE_DEPTH);
        return;
    }
    x->use_depth++;
    expand_unit(x, frame);
    x->use_depth--;
}

/* ---- sections ---- */

static bool take_step(struct expander *x, struct sp_span span)
{
    if (x->full) return false;
    if (x->steps++ < x->most_steps) return true;
    return sp_eval_fail(&x->eval, span, "the loops take more than %zu steps", x->most_steps);
}

static void expand_rows(struct expander *x, const struct sp_env *env)
{
    for (size_t i = 0; i < env->section->row_count; i++) {
        const struct sp_row *row = &env->section->rows[i];
        bool wanted = true;
        if (!take_step(x, row->span)) return;
        if (row->condition && (!sp_eval_bool(&x->eval, env, row->condition, &wanted) || !wanted)) continue;
        if (row->kind == SP_ROW_USE) use(x, env, row);
        else emit(x, env, row);
    }
}

static void expand_clauses(struct expander *x, const struct sp_env *env, size_t clause);

static void expand_with(struct expander *x, const struct sp_env *env, size_t clause, struct sp_value value)
{
    const struct sp_binding binding = {env->section->clauses[clause].name, value, env->bindings};
    const struct sp_env inner = {env->frame, env->section, &binding, NULL};
    expand_clauses(x, &inner, clause + 1);
}

/* The loop over the indices of the scope alone. */
static void expand_some(struct expander *x, const struct sp_env *env, size_t clause, int64_t first, int64_t last)
{
    const struct sp_scope *scope = x->eval.hyper->scope;
    for (size_t i = 0; i < scope->index_count; i++)
        if (scope->indices[i] >= first && scope->indices[i] <= last)
            expand_with(x, env, clause, sp_value_int(scope->indices[i]));
}

static void expand_range(struct expander *x, const struct sp_env *env, size_t clause)
{
    const struct sp_clause *loop = &env->section->clauses[clause];
    int64_t first, last;
    if (!sp_eval_int(&x->eval, env, loop->first, "the first index", &first) ||
        !sp_eval_int(&x->eval, env, loop->last, "the last index", &last))
        return;
    if (x->eval.hyper->scope && x->eval.hyper->scope->indices) {
        expand_some(x, env, clause, first, last);
        return;
    }
    for (int64_t i = first; i <= last && take_step(x, loop->last->span); i++) {
        expand_with(x, env, clause, sp_value_int(i));
        if (i == INT64_MAX || x->eval.mistakes > SP_MAX_MESSAGES) return;
    }
}

static void expand_each(struct expander *x, const struct sp_env *env, size_t clause)
{
    const struct sp_clause *loop = &env->section->clauses[clause];
    struct sp_value list;
    if (!sp_eval_set(&x->eval, env, loop->first, "the loop", &list)) return;
    if (list.type != SP_LIST) {
        sp_eval_fail(&x->eval, loop->first->span, "expected a list or first..last, found %s", sp_value_kind(list.type));
        return;
    }
    for (size_t i = 0; i < list.count && take_step(x, loop->first->span); i++)
        expand_with(x, env, clause, list.items[i]);
}

static void expand_clauses(struct expander *x, const struct sp_env *env, size_t clause)
{
    bool wanted;
    if (clause == env->section->clause_count) {
        expand_rows(x, env);
        return;
    }
    switch (env->section->clauses[clause].kind) {
    case SP_CLAUSE_RANGE:
        expand_range(x, env, clause);
        break;
    case SP_CLAUSE_EACH:
        expand_each(x, env, clause);
        break;
    case SP_CLAUSE_IF:
        if (sp_eval_bool(&x->eval, env, env->section->clauses[clause].first, &wanted) && wanted)
            expand_clauses(x, env, clause + 1);
        break;
    }
}

static bool requirements_hold(struct expander *x, const struct sp_frame *frame)
{
    const struct sp_env env = {.frame = frame};
    for (size_t i = 0; i < frame->unit->requirement_count; i++) {
        const struct sp_requirement *requirement = &frame->unit->requirements[i];
        struct sp_value message;
        bool holds;
        if (!sp_eval_bool(&x->eval, &env, requirement->condition, &holds)) return false;
        if (holds) continue;
        if (!sp_eval_set(&x->eval, &env, requirement->message, "the message", &message)) return false;
        x->unsupported = true;
        return sp_eval_fail(&x->eval, requirement->span, "%s",
                            message.type == SP_STRING ? message.string : "not covered by this table");
    }
    return true;
}

static void expand_unit(struct expander *x, const struct sp_frame *frame)
{
    if (!requirements_hold(x, frame)) return;
    for (size_t i = 0; i < frame->unit->section_count; i++) {
        const struct sp_env env = {.frame = frame, .section = &frame->unit->sections[i]};
        expand_clauses(x, &env, 0);
    }
}

/* ---- what can only be done when all tensors are known ---- */

static bool tie_fits(const struct sp_predicted *tensor, const struct sp_predicted *target)
{
    if (tensor->rank != target->rank) return false;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        const bool rows = tensor->rows_only && i == 0;
        if (rows ? tensor->shape[i] > target->shape[i] : tensor->shape[i] != target->shape[i]) return false;
    }
    return true;
}

/* Whether the ties that are resolved so far lead from `target` back to the tensor. */
static bool in_circle(const struct expander *x, size_t tensor, size_t target)
{
    for (size_t steps = 0; target != SP_NONE && target != tensor; steps++) {
        if (steps == MAX_TIES) return true; /* nobody chains so many */
        target = x->out->tensors[target].same_as;
    }
    return target == tensor;
}

static void resolve_ties(struct expander *x)
{
    struct sp_prediction *out = x->out;
    for (size_t i = 0; i < x->tie_count; i++) {
        const struct pending_tie *tied = &x->ties[i];
        if (tied->tensor >= out->count) continue; /* its row failed */
        const size_t target = sp_map_get(&out->names, tied->target);
        if (target == SIZE_MAX && x->eval.hyper->scope) continue;
        if (target == SIZE_MAX)
            sp_eval_fail(&x->eval, tied->span, "this table has no tensor '%s' to be the same as", tied->target);
        else if (in_circle(x, tied->tensor, target))
            sp_eval_fail(&x->eval, tied->span, "'%s' is tied to itself", out->tensors[tied->tensor].name);
        else if (!tie_fits(&out->tensors[tied->tensor], &out->tensors[target]))
            sp_eval_fail(&x->eval, tied->span, "'%s' and '%s' have different shapes", out->tensors[tied->tensor].name,
                         tied->target);
        else out->tensors[tied->tensor].same_as = target;
    }
}

static bool sum_up(struct sp_prediction *out)
{
    struct sp_predicted_totals *totals = &out->totals;
    for (size_t i = 0; i < out->count; i++) {
        const struct sp_predicted *tensor = &out->tensors[i];
        if (tensor->optional) continue;
        totals->tensors++;
        if (tensor->buffer) {
            if (!sp_add_u64(totals->buffers, tensor->parameters, &totals->buffers)) return false;
            continue;
        }
        if (!sp_add_u64(totals->parameters, tensor->parameters, &totals->parameters)) return false;
        if (tensor->same_as != SP_NONE) continue;
        totals->unique_parameters += tensor->parameters; /* at most the sum above */
        out->groups[tensor->group].parameters += tensor->parameters;
    }
    return true;
}

static void keep_readings(struct expander *x)
{
    struct sp_prediction *out = x->out;
    out->hypers = sp_arena_array(&out->arena, x->eval.reading_count, sizeof *out->hypers);
    for (size_t i = 0; i < x->eval.reading_count; i++) {
        struct sp_text value = {0};
        sp_value_json(&value, x->eval.readings[i].value);
        out->hypers[out->hyper_count++] = (struct sp_hyperparameter){
            x->eval.readings[i].path, sp_arena_copy(&out->arena, value.data, value.length), x->eval.readings[i].from};
        sp_text_free(&value);
    }
}

static void find_unused(struct expander *x)
{
    const struct sp_hyper *hyper = x->eval.hyper;
    x->out->unused = sp_arena_array(&x->out->arena, hyper->override_count, sizeof *x->out->unused);
    for (size_t i = 0; i < hyper->override_count; i++)
        if (sp_map_get(&x->eval.read_paths, hyper->overrides[i].path) == SIZE_MAX)
            x->out->unused[x->out->unused_count++] = hyper->overrides[i].path;
}

static void report(struct expander *x, struct sp_error *error)
{
    const char *missing = x->eval.first_missing;
    sp_fail(error, x->unsupported ? SP_ERR_UNKNOWN : SP_ERR_TABLE, SP_KIND_NONE, "%s", x->eval.messages->data);
    if (missing) sp_hint(error, "give it in config.json, or with --set %s=VALUE", missing);
}

static void start(struct expander *x, const struct sp_unit *table)
{
    struct sp_view *view = sp_arena_alloc(x->eval.arena, sizeof *view);
    *view = (struct sp_view){.object = x->eval.hyper->root, .prefix = ""};
    struct sp_frame *frame = new_frame(x, table, view);
    struct sp_value *values = sp_arena_array(x->eval.arena, table->param_count, sizeof *values);
    frame->params = values;
    frame->param_exprs = sp_arena_array(x->eval.arena, table->param_count, sizeof(struct sp_expr *));
    for (size_t i = 0; i < table->param_count; i++)
        if (!table->params[i].fallback) {
            sp_eval_fail(&x->eval, table->params[i].span, "the table needs the argument '%s'", table->params[i].name);
            return;
        }
    if (argument_values(x, &(struct sp_env){.frame = frame}, frame, values)) expand_unit(x, frame);
}

struct sp_prediction *sp_expand(const struct sp_unit *table, const struct sp_hyper *hyper, struct sp_error *error)
{
    struct sp_prediction *out = sp_realloc(NULL, 1, sizeof *out);
    struct sp_text messages = {0};
    *out = (struct sp_prediction){.table = table};
    struct expander x = {.eval = {.arena = &out->arena, .hyper = hyper, .messages = &messages}, .out = out};
    x.most = hyper->scope ? hyper->scope->most : MAX_PREDICTED;
    x.most_steps = hyper->scope ? 64 * x.most + 1024 : MAX_STEPS;
    start(&x, table);
    if (!x.eval.mistakes) resolve_ties(&x);
    if (!x.eval.mistakes && !sum_up(out)) sp_eval_fail(&x.eval, table->span, "the total does not fit in 64 bits");
    keep_readings(&x);
    find_unused(&x);
    if (x.eval.mistakes) report(&x, error);
    free(x.ties);
    free(x.eval.readings);
    sp_map_free(&x.eval.read_paths);
    sp_text_free(&x.eval.scratch);
    sp_map_free(&x.group_names);
    sp_text_free(&messages);
    if (error->status == SP_OK) return out;
    sp_prediction_free(out);
    return NULL;
}
