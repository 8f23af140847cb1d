/* SPDX-License-Identifier: MIT
 * From a table and hyper-parameters to the list of tensors: sections are looped, parts and sub-tables opened,
 * ties resolved at the end, when all names are known. */
#include "lang/expander.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/checked.h"
#include "lang/walk.h"

enum { MAX_USE_DEPTH = 64 };

static void expand_unit(struct sp_expander *x, const struct sp_frame *frame);

/* ---- one tensor ---- */

/* The index of the group of that name in the prediction, which is added when it is new. */
static size_t group_index(struct sp_expander *x, const char *name)
{
    struct shapeproof_prediction *out = x->out;
    if (name == x->last_group) return x->last_group_index;
    const size_t known = sp_map_get(&x->group_names, name);
    x->last_group = name;
    x->last_group_index = known != SIZE_MAX ? known : out->group_count;
    if (known != SIZE_MAX) return known;
    SP_GROW(out->groups, out->group_count, out->group_capacity);
    out->groups[out->group_count] = (struct shapeproof_group){.name = name};
    sp_map_add(&x->group_names, name, out->group_count);
    return out->group_count++;
}

/* Evaluates the dimensions of a row, into the shape and the number of parameters of the tensor. False after a mistake.
 * Where a part replaces a matrix (quantisation), the leading dimensions of the
 * matrix, such as experts, come first. */
static bool expand_shape(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row,
                         struct shapeproof_predicted *tensor)
{
    const struct sp_replaced *replaced = env->frame->replaced;
    const uint32_t lead = replaced ? replaced->lead_rank : 0;
    uint64_t *whole = sp_arena_array(x->eval.arena, lead + row->rank, sizeof *whole), *dims = whole + lead;
    bool good = true;
    tensor->parameters = 1;
    for (uint32_t i = 0; i < lead; i++) {
        whole[i] = replaced->lead[i];
        tensor->parameters *= whole[i]; /* no overflow: the product divides the number of parameters of the matrix */
    }
    for (size_t i = 0; i < row->rank; i++) {
        int64_t size;
        if (!sp_eval_int(&x->eval, env, row->shape[i], "the dimension", &size)) good = false;
        else if (size < 0)
            good = sp_eval_fail(&x->eval, row->shape[i]->span, "the dimension is %" PRId64 ", less than 0", size);
        else dims[i] = (uint64_t)size;
        if (good && !sp_mul_u64(tensor->parameters, dims[i], &tensor->parameters))
            good = sp_eval_overflow(&x->eval, row->span, "the number of elements does not fit in 64 bits");
    }
    tensor->shape = whole;
    tensor->rank = lead + (uint32_t)row->rank;
    return good;
}

const char *sp_expander_name(struct sp_expander *x, const struct sp_env *env, const struct sp_template *name)
{
    const struct sp_text *text = sp_eval_template(&x->eval, env, name);
    return text ? sp_arena_copy(x->eval.arena, text->data, text->length) : NULL;
}

static bool old_names(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row,
                      struct shapeproof_predicted *tensor)
{
    if (!row->old_count) return true;
    const char **names = sp_arena_array(x->eval.arena, row->old_count, sizeof *names);
    for (size_t i = 0; i < row->old_count; i++)
        if (!(names[i] = sp_expander_name(x, env, &row->olds[i]))) return false;
    tensor->old_names = names;
    tensor->old_name_count = row->old_count;
    return true;
}

void sp_expander_tie(struct sp_expander *x, const char *target, struct sp_span span)
{
    SP_GROW(x->ties, x->tie_count, x->tie_capacity);
    x->ties[x->tie_count++] = (struct sp_pending_tie){x->out->count, target, span};
}

static bool tie_tensor(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row,
                       struct shapeproof_predicted *tensor)
{
    bool tied = row->has_tie;
    if (tied && row->tie_condition && !sp_eval_bool(&x->eval, env, row->tie_condition, &tied)) return false;
    if (!tied) return true;
    const char *target = sp_expander_name(x, env, &row->tie);
    if (!target) return false;
    tensor->rows_only = row->tie_rows;
    sp_expander_tie(x, target, row->tie.span);
    return true;
}

size_t sp_expander_most(const struct sp_expander *x)
{
    const struct sp_hyper *hyper = x->eval.hyper;
    const size_t most = hyper->most && hyper->most < SP_MAX_PREDICTED ? (size_t)hyper->most : SP_MAX_PREDICTED;
    return hyper->scope && hyper->scope->most < most ? hyper->scope->most : most;
}

/* What to do about the limit of tensors: that of a prediction that is compared with a file can be raised, but not that
 * of a trial, which is in the scope. */
static const char *way_to_more_tensors(const struct sp_expander *x)
{
    const uint64_t most = x->eval.hyper->most;
    return most < SP_MAX_PREDICTED && most == sp_expander_most(x) ? "; --limit tensors=N allows more" : "";
}

void sp_expander_add(struct sp_expander *x, const struct sp_row_origin *origin,
                     const struct shapeproof_predicted *tensor)
{
    struct shapeproof_prediction *out = x->out;
    const struct sp_span span = origin->row->span;
    if (!*tensor->name) {
        sp_eval_fail(&x->eval, span, "the name of the tensor is empty");
    } else if (out->count >= sp_expander_most(x)) {
        if (!x->eval.limits)
            sp_eval_exceed(&x->eval, span, "more than %zu tensors, the limit%s", sp_expander_most(x),
                           way_to_more_tensors(x));
    } else if (!sp_map_add(&out->names, tensor->name, out->count)) {
        sp_eval_fail(&x->eval, span, "the tensor '%s' is predicted twice", tensor->name);
    } else {
        SP_GROW(out->tensors, out->count, out->capacity);
        SP_GROW(out->origins, out->count, out->origin_capacity);
        out->tensors[out->count] = *tensor;
        out->origins[out->count++] = *origin;
    }
}

/* Adds the tensor of a row, or those that are stored in its place. */
static void emit(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row)
{
    struct shapeproof_predicted tensor = {.same_as = SHAPEPROOF_NONE,
                                          .dtype = row->dtype,
                                          .optional = row->optional || env->frame->optional,
                                          .buffer = row->buffer};
    tensor.name = sp_expander_name(x, env, &row->name);
    if (!expand_shape(x, env, row, &tensor) || !tensor.name || sp_expander_replace(x, env, row, &tensor)) return;
    if (!old_names(x, env, row, &tensor) || !tie_tensor(x, env, row, &tensor)) return;
    sp_expander_note_stored_tensor(x, env, &tensor);
    tensor.group = group_index(x, env->group);
    sp_expander_add(x, &(struct sp_row_origin){row, env->frame}, &tensor);
}

/* ---- parts and sub-tables ---- */

/* A fallback may use the parameters before it. */
static bool argument_values(struct sp_expander *x, const struct sp_env *env, struct sp_frame *frame,
                            struct shapeproof_value *values)
{
    const struct sp_env own = {.frame = frame};
    for (size_t i = 0; i < frame->unit->param_count; i++) values[i] = sp_value_absent(frame->unit->params[i].name);
    for (size_t i = 0; i < frame->unit->param_count; i++) {
        const struct sp_expr *given = frame->param_exprs[i];
        if (given ? !sp_eval(&x->eval, env, given, &values[i])
                  : !sp_eval(&x->eval, &own, frame->unit->params[i].fallback, &values[i]))
            return false;
    }
    return true;
}

/* The sub-configuration that `from` names. A missing one is empty: all its defaults hold. */
static bool open_object(struct sp_expander *x, const struct sp_env *env, const struct sp_expr *from,
                        struct sp_view *view)
{
    if (!sp_eval(&x->eval, env, from, &view->object)) return false;
    if (sp_value_is_set(view->object) && view->object.type != SHAPEPROOF_VALUE_OBJECT)
        return sp_eval_fail(&x->eval, from->span, "expected a sub-configuration, found %s",
                            sp_value_kind(view->object.type));
    struct sp_text path = {0};
    const char *known = sp_eval_path(&x->eval, env, from);
    if (known) sp_text_puts(&path, known);
    else sp_describe(&path, env, from); /* an item of a list, say */
    view->prefix = sp_arena_printf(x->eval.arena, "%s.", path.data);
    sp_text_free(&path);
    return true;
}

/* The configuration that a sub-table reads when it is not just the user's own: the one that `from` opens, and what
 * `with` gives. */
static struct sp_view *expand_view(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row)
{
    const struct sp_view *outer = env->frame->view;
    struct sp_view *view = sp_arena_alloc(x->eval.arena, sizeof *view);
    *view = (struct sp_view){.object = outer->object, .prefix = outer->prefix};
    if (row->has_from && !open_object(x, env, row->from, view)) return NULL;
    const size_t inherited = row->has_from ? 0 : outer->given_count;
    struct sp_given *given = sp_arena_array(x->eval.arena, row->with_count + inherited, sizeof *given);
    const struct shapeproof_provenance from = {.source = SHAPEPROOF_SOURCE_TABLE, .name = env->frame->unit->name};
    for (size_t i = 0; i < row->with_count; i++) {
        given[i] = (struct sp_given){.key = row->with[i].name, .from = from};
        if (!sp_eval(&x->eval, env, row->with[i].expr, &given[i].value)) return NULL;
    }
    if (inherited) memcpy(given + row->with_count, outer->given, inherited * sizeof *given);
    view->given = given;
    view->given_count = row->with_count + inherited;
    return view;
}

/* What a frame has only while its unit is expanded. */
static void open_frame(struct sp_frame *frame, const struct sp_env *env, const struct shapeproof_value *values)
{
    frame->params = values;
    frame->user_env = env->frame == frame ? NULL : env;
    if (frame->unit->definition_count)
        frame->cache = sp_realloc(NULL, frame->unit->definition_count, sizeof *frame->cache);
    for (size_t i = 0; i < frame->unit->definition_count; i++) frame->cache[i].state = SP_CACHE_EMPTY;
}

static void close_frame(struct sp_frame *frame)
{
    sp_free(frame->cache);
    frame->cache = NULL;
    frame->params = NULL;
    frame->user_env = NULL;
}

/* Expands the unit of an open frame, with the prefix in front of all names. */
static void expand_behind(struct sp_expander *x, struct sp_frame *frame, struct sp_usage *usage, const char *prefix)
{
    const struct sp_usage start = sp_usage_start(x);
    struct sp_text own = {0}; /* what `prefix` points to is needed for the names of the unit */
    sp_text_puts(&own, prefix);
    frame->prefix = own.data;
    if (!frame->usages)
        frame->usages = sp_arena_array(x->eval.arena, frame->unit->section_count, sizeof *frame->usages);
    expand_unit(x, frame);
    if (usage) sp_usage_keep(x, usage, &start, frame);
    frame->prefix = NULL;
    sp_text_free(&own);
}

void sp_expander_use(struct sp_expander *x, const struct sp_env *env, struct sp_frame *frame, struct sp_usage *usage,
                     const char *prefix)
{
    struct shapeproof_value values[SP_MAX_PARAMS];
    open_frame(frame, env, values);
    x->use_depth++;
    if (argument_values(x, env, frame, values) && !(usage && sp_usage_repeat(x, usage, frame, prefix)))
        expand_behind(x, frame, usage, prefix);
    x->use_depth--;
    close_frame(frame);
}

/* The table that serves the architecture which the row names, `table(backbone.model_type)`; NULL, reported, when there
 * is none or when it has parameters that must be given. */
static const struct sp_unit *chosen_table(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row)
{
    struct shapeproof_value name;
    if (!sp_eval_set(&x->eval, env, row->args[0].expr, &name)) return NULL;
    const size_t place = name.type == SHAPEPROOF_VALUE_STRING ? sp_tables_of_class(row->choice, name.string) : SIZE_MAX;
    const struct sp_unit *table = place != SIZE_MAX ? sp_tables_at(row->choice, place) : NULL;
    if (table && !sp_unit_needs_arguments(table)) return table;
    x->unsupported = true;
    sp_eval_fail(&x->eval, row->unit_span, "there is no table for the architecture '%s'",
                 name.type == SHAPEPROOF_VALUE_STRING ? name.string : "");
    return NULL;
}

/* The frame of a use of a part or table; NULL after a mistake. */
static struct sp_frame *new_use_frame(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row,
                                      const struct sp_view *view)
{
    const struct sp_unit *unit = row->choice ? chosen_table(x, env, row) : row->unit;
    if (!unit) return NULL;
    struct sp_frame *frame = sp_arena_alloc(x->eval.arena, sizeof *frame);
    *frame = (struct sp_frame){.unit = unit,
                               .view = view,
                               .param_exprs = row->given,
                               .caller = env->frame,
                               .used_by = row,
                               .group = env->group,
                               .optional = row->optional || env->frame->optional,
                               .replaced = env->frame->replaced};
    if (row->choice) frame->param_exprs = sp_arena_array(x->eval.arena, unit->param_count, sizeof(struct sp_expr *));
    return frame;
}

/* The use of a part or table: expands it behind the prefix of the row, or repeats what it made the last time. */
static void expand_use(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row)
{
    const bool own_view = row->has_from || row->with_count;
    const struct sp_view *view = own_view ? expand_view(x, env, row) : env->frame->view;
    const struct sp_text *prefix = view ? sp_eval_template(&x->eval, env, &row->name) : NULL;
    if (!prefix) return;
    if (x->use_depth >= MAX_USE_DEPTH) {
        sp_eval_fail(&x->eval, row->unit_span, "parts used more than %d deep", MAX_USE_DEPTH);
        return;
    }
    struct sp_usage *usage = own_view || row->choice ? NULL : sp_usage_of(x, env, row);
    struct sp_frame *frame = usage && usage->frame ? usage->frame : new_use_frame(x, env, row, view);
    if (!frame) return;
    if (usage) usage->frame = frame;
    sp_expander_use(x, env, frame, usage, prefix->data);
}

/* ---- sections ---- */

/* Where the expansion is. */
struct place {
    struct sp_expander *x;
    const struct sp_env *env;
};

static const struct sp_walker expansion;

static bool expand_row(const void *at, const struct sp_row *row)
{
    const struct place *place = at;
    struct sp_eval *eval = &place->x->eval;
    bool wanted = true;
    if (!sp_eval_spend(eval, row->span, 1)) return false;
    if (row->condition && (!sp_eval_bool(eval, place->env, row->condition, &wanted) || !wanted)) return true;
    if (row->kind == SP_ROW_USE) expand_use(place->x, place->env, row);
    else emit(place->x, place->env, row);
    return true;
}

/* One iteration of a loop; false ends it. The iteration after one with a mistake would make the same again. After too
 * many tensors, each loop has one iteration, which is only there to find mistakes. */
static bool expand_iteration(const struct place *place, size_t clause, struct shapeproof_value value)
{
    struct sp_expander *x = place->x;
    const struct sp_section *section = place->env->section;
    const struct sp_binding binding = sp_loop_within(place->env->loops, value);
    const size_t mistakes = x->eval.mistakes;
    struct sp_env inner = *place->env;
    inner.loops = &binding;
    if (!sp_eval_spend(&x->eval, section->clauses[clause].first->span, 1)) return false;
    x->iterations++;
    sp_walk(&expansion, section, clause + 1, &(struct place){x, &inner});
    return x->eval.mistakes == mistakes && !x->eval.limits;
}

/* The loop over the indices of the scope alone. */
static bool expand_some(const struct place *place, size_t clause, int64_t first, int64_t last)
{
    const struct sp_scope *scope = place->x->eval.hyper->scope;
    for (size_t i = 0; i < scope->index_count; i++)
        if (scope->indices[i] >= first && scope->indices[i] <= last &&
            !expand_iteration(place, clause, sp_value_int(scope->indices[i])))
            return false;
    return true;
}

/* The number of modules that a loop over 0..N-1 counts, for a message: "n_layer" where N is that hyper-parameter, "an
 * item of depths" where it is depths[i]; NULL when the loop counts otherwise. */
static const char *counted_key(struct sp_eval *eval, const struct sp_env *env, const struct sp_clause *loop)
{
    const struct sp_expr *count = sp_loop_count(loop);
    if (!count) return NULL;
    if (count->kind != SP_EXPR_INDEX) return sp_eval_path(eval, env, count);
    const char *list = sp_eval_path(eval, env, count->args[0]);
    return list ? sp_arena_printf(eval->arena, "an item of %s", list) : NULL;
}

/* How many tensors the row of a part adds at least: one, or, for the use of another part, as many as the groups of that
 * part that have neither a loop nor a condition. Parts that are nested deeper count as 0. */
static size_t least_of_row(const struct sp_row *row, unsigned depth)
{
    enum { MAX_LOOKED_INTO = 4 };
    size_t least = 0;
    if (row->kind == SP_ROW_TENSOR) return 1;
    if (!row->unit || row->choice || depth == MAX_LOOKED_INTO) return 0;
    for (size_t k = 0; k < row->unit->section_count; k++) {
        const struct sp_section *section = &row->unit->sections[k];
        for (size_t i = 0; i < section->row_count && !section->clause_count; i++)
            if (!section->rows[i].condition) least += least_of_row(&section->rows[i], depth + 1);
    }
    return least;
}

/* How many tensors each iteration of a loop adds at least. A condition that does not read its index holds in all of
 * them or in none. */
static size_t least_of_section(const struct place *place)
{
    struct sp_expander *x = place->x;
    const struct sp_section *section = place->env->section;
    if (x->last_looped == section && x->last_frame == place->env->frame) return x->last_least;
    x->last_looped = section;
    x->last_frame = place->env->frame;
    x->last_least = 0;
    for (size_t i = 0; i < section->row_count; i++) {
        const struct sp_row *row = &section->rows[i];
        bool wanted = !row->condition;
        if (row->condition && !row->reads_index && !sp_eval_bool(&x->eval, place->env, row->condition, &wanted)) break;
        if (wanted) x->last_least += least_of_row(row, 0);
    }
    return x->last_least;
}

/* Whether what stands behind the loop are conditions that do not read its index. */
static bool has_constant_conditions(const struct sp_section *section, size_t clause)
{
    while (++clause < section->clause_count)
        if (section->clauses[clause].kind != SP_CLAUSE_IF || section->clauses[clause].reads_index) return false;
    return true;
}

/* "with n_layer = 1000000000, ", or "" where the loop does not count what a hyper-parameter says. */
static const char *with_key(const struct place *place, const struct sp_clause *loop, int64_t last)
{
    const char *key = last < INT64_MAX ? counted_key(&place->x->eval, place->env, loop) : NULL;
    return key ? sp_arena_printf(place->x->eval.arena, "with %s = %" PRId64 ", ", key, last + 1) : "";
}

/* Whether the iterations from `first` to `last` take more steps than there may be: each takes one. */
static bool takes_too_many_steps(const struct place *place, size_t clause, int64_t first, int64_t last)
{
    struct sp_eval *eval = &place->x->eval;
    const struct sp_clause *loop = &place->env->section->clauses[clause];
    if (last < first || !sp_budget_lacks_steps(sp_add_saturated(eval->steps, (uint64_t)last - (uint64_t)first)))
        return false;
    sp_eval_exceed(eval, loop->last->span, "%sthe table takes more than %" PRIu64 " steps; --limit steps=N allows more",
                   with_key(place, loop, last), sp_budget_steps());
    return true;
}

/* Whether the iterations from `first` to `last` of a loop, of which one has made tensors, make more tensors than the
 * limit or the memory allows. Only the innermost loop of a group is tested. A quantised model is not, since it may
 * store nothing in place of a matrix. */
static bool makes_too_many_tensors(const struct place *place, size_t clause, int64_t first, int64_t last)
{
    /* bytes that a tensor takes at least: with its name, and its place in the map of names */
    enum { LEAST_TENSOR = sizeof(struct shapeproof_predicted) + sizeof(struct sp_row_origin) + 32 };
    struct sp_expander *x = place->x;
    const struct sp_section *section = place->env->section;
    const struct sp_clause *loop = &section->clauses[clause];
    const size_t most = sp_expander_most(x), left = most - x->out->count;
    if (last < first || x->eval.hyper->overlay || !has_constant_conditions(section, clause)) return false;
    const size_t least = least_of_section(place);
    if (!least) return false;
    const uint64_t more = (uint64_t)last - (uint64_t)first;
    if (more >= left / least) {
        sp_eval_exceed(&x->eval, loop->last->span, "%sthe table has more than %zu tensors, the limit%s",
                       with_key(place, loop, last), most, way_to_more_tensors(x));
        return true;
    }
    if (!sp_budget_lacks_memory(more * least * LEAST_TENSOR)) return false;
    sp_eval_exceed(&x->eval, loop->last->span,
                   "%sthe table has more tensors than %s of memory have room for; --limit memory=SIZE allows more",
                   with_key(place, loop, last), sp_budget_memory_text().text);
    return true;
}

/* Whether no iteration of the loop makes a tensor if the first one did not: only names depend on the index, or the
 * condition behind it is false whatever the index is, as in `for i in 0..N-1 if decoder` of an encoder. */
static bool is_empty_loop(const struct place *place, size_t clause)
{
    const struct sp_section *section = place->env->section;
    const struct sp_clause *loop = &section->clauses[clause], *next = loop + 1;
    bool holds = true;
    if (!loop->is_read) return true;
    return clause + 1 < section->clause_count && next->kind == SP_CLAUSE_IF && !next->reads_index &&
           sp_eval_bool(&place->x->eval, place->env, next->first, &holds) && !holds;
}

/* A range that ends before it begins is empty, `dense..layers-1` where all layers are dense; but a hyper-parameter that
 * is a number of modules is a mistake when it is negative. */
static bool expand_range(const void *at, size_t clause)
{
    const struct place *place = at;
    const struct sp_clause *loop = &place->env->section->clauses[clause];
    struct sp_eval *eval = &place->x->eval;
    int64_t first, last;
    if (!sp_eval_int(eval, place->env, loop->first, "the first index", &first) ||
        !sp_eval_int(eval, place->env, loop->last, "the last index", &last))
        return false;
    const char *key = last < -1 ? counted_key(eval, place->env, loop) : NULL;
    if (key)
        return sp_eval_fail(eval, loop->last->span, "%s is %" PRId64 ", and a number of modules cannot be negative",
                            key, last + 1);
    if (eval->hyper->scope && eval->hyper->scope->indices) return expand_some(place, clause, first, last);
    /* A configuration of 600 bytes can ask for 10^9 layers. Too long a loop is refused after its first iteration, whose
     * mistakes are more telling. */
    const size_t before = place->x->out->count;
    for (int64_t i = first; i <= last && expand_iteration(place, clause, sp_value_int(i)) && i < INT64_MAX; i++) {
        if (i > first) continue;
        const bool has_made = place->x->out->count > before;
        if (!has_made && is_empty_loop(place, clause)) return true;
        if (has_made && makes_too_many_tensors(place, clause, i + 1, last)) return false;
        if (takes_too_many_steps(place, clause, i + 1, last)) return false;
    }
    return true;
}

static bool expand_each(const void *at, size_t clause)
{
    const struct place *place = at;
    const struct sp_expr *expr = place->env->section->clauses[clause].first;
    struct sp_eval *eval = &place->x->eval;
    struct shapeproof_value list;
    if (!sp_eval_set(eval, place->env, expr, &list)) return false;
    if (list.type != SHAPEPROOF_VALUE_LIST)
        return sp_eval_fail(eval, expr->span, "expected a list or first..last, found %s", sp_value_kind(list.type));
    for (size_t i = 0; i < list.count && expand_iteration(place, clause, list.items[i]); i++) continue;
    return true;
}

static bool expand_if(const void *at, size_t clause)
{
    const struct place *place = at;
    const struct sp_section *section = place->env->section;
    bool wanted;
    if (!sp_eval_bool(&place->x->eval, place->env, section->clauses[clause].first, &wanted)) return false;
    return !wanted || sp_walk(&expansion, section, clause + 1, at);
}

static const struct sp_walker expansion = {expand_range, expand_each, expand_if, expand_row};

static bool requirements_hold(struct sp_expander *x, const struct sp_frame *frame)
{
    const struct sp_env env = {.frame = frame};
    for (size_t i = 0; i < frame->unit->requirement_count; i++) {
        const struct sp_requirement *requirement = &frame->unit->requirements[i];
        struct shapeproof_value message;
        bool holds;
        if (!sp_eval_bool(&x->eval, &env, requirement->condition, &holds)) return false;
        if (holds) continue;
        if (!sp_eval_set(&x->eval, &env, requirement->message, &message)) return false;
        x->unsupported = true;
        return sp_eval_fail(&x->eval, requirement->span, "%s",
                            message.type == SHAPEPROOF_VALUE_STRING ? message.string : "not covered by this table");
    }
    return true;
}

static void expand_unit(struct sp_expander *x, const struct sp_frame *frame)
{
    if (!requirements_hold(x, frame)) return;
    for (size_t i = 0; i < frame->unit->section_count; i++) {
        const struct sp_section *section = &frame->unit->sections[i];
        const struct sp_env env = {.frame = frame,
                                   .section = section,
                                   .group = sp_group_name(x->eval.arena, frame->unit, section, frame->group)};
        sp_walk(&expansion, section, 0, &(struct place){x, &env}); /* a mistake in it does not end the unit */
    }
}

/* The class that chose a table has told something, also where no expression asks for it. */
static void read_choosing_key(struct sp_expander *x, const struct sp_unit *table, const struct sp_view *view)
{
    struct shapeproof_value class;
    if (sp_unit_is_by_class(table)) sp_eval_key(&x->eval, view, sp_unit_class_key(table), &class);
}

static void start(struct sp_expander *x, const struct sp_unit *table)
{
    struct sp_view *view = sp_arena_alloc(x->eval.arena, sizeof *view);
    *view = (struct sp_view){.object = x->eval.hyper->root, .prefix = ""};
    struct sp_frame *frame = sp_arena_alloc(x->eval.arena, sizeof *frame);
    *frame = (struct sp_frame){.unit = table, .view = view};
    frame->param_exprs = sp_arena_array(x->eval.arena, table->param_count, sizeof(struct sp_expr *));
    for (size_t i = 0; i < table->param_count; i++)
        if (!table->params[i].fallback) {
            sp_eval_fail(&x->eval, table->params[i].span, "the table needs the argument '%s'", table->params[i].name);
            return;
        }
    read_choosing_key(x, table, view);
    sp_expander_use(x, &(struct sp_env){.frame = frame}, frame, NULL, "");
}

struct shapeproof_prediction *sp_expand(const struct sp_unit *table, const struct sp_hyper *hyper,
                                        struct shapeproof_error *error)
{
    SP_SPENDS("expanding the table");
    struct shapeproof_prediction *out = sp_realloc(NULL, 1, sizeof *out);
    struct sp_text messages = {0};
    *out = (struct shapeproof_prediction){.table = table};
    struct sp_expander x = {.eval = {.arena = &out->arena, .hyper = hyper, .messages = &messages}, .out = out};
    start(&x, table);
    sp_expander_finish(&x, error);
    sp_free(x.ties);
    sp_eval_free(&x.eval);
    sp_map_free(&x.group_names);
    sp_text_free(&messages);
    if (error->status == SHAPEPROOF_OK) return out;
    shapeproof_prediction_free(out);
    return NULL;
}
