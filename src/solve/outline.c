/* SPDX-License-Identifier: MIT
 * Walks a table as the expansion does, but each loop is walked once, with an index that is unknown, and each condition
 * is kept instead of decided. Frames and environments stay, so that expressions can be worked out later. */
#include "solve/outline.h"

#include <stdlib.h>
#include <string.h>

#include "lang/walk.h"
#include "solve/alternatives.h"
#include "solve/limits.h"

/* Where the walk is: what the lines that are added there have in common. */
struct place {
    const struct sp_env *env;
    struct sp_loop *loop;                      /* the innermost, or NULL */
    const struct sp_line_condition *condition; /* the innermost, or NULL */
    const struct sp_assumption *assumed;       /* the innermost, or NULL */
    unsigned assumptions;                      /* how many */
    const char *prefix;                        /* of the names: a pattern */
    const struct sp_hole *holes;               /* the numbers in it */
    size_t hole_count;
    bool optional;
    unsigned depth;  /* uses of parts one within the other */
    uint64_t origin; /* sp_line.origin */
};

static void outline_unit(struct sp_outline *outline, const struct sp_frame *frame, const struct place *place);

/* The hash of an origin and the number of the row, item or section there. */
static uint64_t origin_within(uint64_t origin, uint64_t number)
{
    const uint64_t mixed = (origin ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    return mixed ^ (mixed >> 29);
}

/* ---- names ---- */

/* The loop, of those from `loop` outwards, whose index the expression is; NULL when it is none. */
static struct sp_loop *loop_named(struct sp_loop *loop, const struct sp_env *env, const struct sp_expr *expr)
{
    if (expr->kind != SP_EXPR_NAME) return NULL;
    const struct sp_meaning meaning = sp_meaning_of(env, expr);
    if (meaning.kind != SP_MEANS_LOOP) return NULL;
    const struct sp_binding *index = sp_loop_numbered(env->loops, meaning.index);
    while (loop && &loop->binding != index) loop = loop->outer;
    return loop;
}

/* The value of the expression under the assumptions of the place; false when there can be none. */
static bool value_under(struct sp_outline *outline, const struct place *place, const struct sp_expr *expr,
                        struct shapeproof_value *value)
{
    struct sp_assumption lacking = {.condition = NULL};
    return sp_assume_eval(outline, place->assumed, place->env, expr, value, &lacking);
}

/* Applies `hole op by`, or, unless is_left, `by op hole`, to factor*index + constant. False when the result is no such
 * term. The constant is computed modulo 2^64. */
static bool move_hole(struct sp_hole *hole, enum sp_op op, bool is_left, int64_t by)
{
    const uint64_t number = (uint64_t)by;
    switch (op) {
    case SP_OP_ADD:
        hole->constant += number;
        return true;
    case SP_OP_SUB:
        hole->constant -= number;
        return is_left;
    case SP_OP_MUL:
        hole->constant *= number;
        return by > 0 && !__builtin_mul_overflow(hole->factor, number, &hole->factor) && hole->factor <= INT64_MAX;
    default:
        return false;
    }
}

/* The hole of an expression that is linear in one index: {i}, {i + 1}, {2*i}, {3*i + 2}, or a definition of such. False
 * for any other. */
static bool hole_of_index(struct sp_outline *outline, const struct place *place, const struct sp_expr *expr,
                          struct sp_hole *hole)
{
    struct shapeproof_value by;
    *hole = (struct sp_hole){.loop = loop_named(place->loop, place->env, expr), .factor = 1};
    if (hole->loop) return true;
    if (expr->kind == SP_EXPR_NAME) {
        struct sp_env own = *place->env;
        struct place there = *place;
        there.env = &own;
        return sp_meaning_open(&own, &expr) && hole_of_index(outline, &there, expr, hole);
    }
    if (expr->kind != SP_EXPR_BINARY) return false;
    for (size_t i = 0; i < 2; i++)
        if (hole_of_index(outline, place, expr->args[i], hole))
            return value_under(outline, place, expr->args[1 - i], &by) && by.type == SHAPEPROOF_VALUE_INT &&
                   move_hole(hole, expr->op, i == 0, by.integer);
    return false;
}

static struct sp_hole hole_of(struct sp_outline *outline, const struct place *place, const struct sp_expr *expr)
{
    struct sp_hole hole;
    return hole_of_index(outline, place, expr, &hole) ? hole : (struct sp_hole){.expr = expr, .env = place->env};
}

/* A name under construction. */
struct pattern {
    struct sp_text text;
    struct sp_hole holes[SP_MAX_INDICES];
    size_t count;
};

/* Appends a text to the pattern; the numbers in it become holes. */
static void append_text(struct pattern *pattern, const char *text)
{
    struct sp_indices indices = {.count = pattern->count};
    sp_name_split(&pattern->text, text, SP_INDEX_ANYWHERE, &indices);
    for (; pattern->count < indices.count; pattern->count++)
        pattern->holes[pattern->count] = (struct sp_hole){.constant = indices.value[pattern->count]};
}

/* Whether the expression must be a number, whatever its keys are: it computes with an index or a number. */
static bool is_number(const struct sp_env *env, const struct sp_expr *expr, unsigned depth)
{
    struct sp_env own = *env;
    if (depth == SP_DEEPEST_USE) return false;
    if (expr->kind == SP_EXPR_LITERAL) return expr->value.type == SHAPEPROOF_VALUE_INT;
    if (expr->kind == SP_EXPR_BINARY && expr->op != SP_OP_ADD) return expr->op <= SP_OP_POW;
    if (expr->kind == SP_EXPR_BINARY)
        return is_number(env, expr->args[0], depth + 1) || is_number(env, expr->args[1], depth + 1);
    if (expr->kind != SP_EXPR_NAME) return false;
    if (sp_meaning_of(env, expr).kind == SP_MEANS_LOOP) return true;
    return sp_meaning_open(&own, &expr) && is_number(&own, expr, depth + 1);
}

/* Appends the value of an expression in a name: a text as it is, SP_TEXT_MARK for one that depends on the class, or a
 * hole. False when it can be neither. */
static bool append_hole(struct sp_outline *outline, const struct place *place, const struct sp_expr *expr,
                        struct pattern *pattern)
{
    const char mark = SP_INDEX_MARK, text = SP_TEXT_MARK;
    struct shapeproof_value value;
    if (!value_under(outline, place, expr, &value)) return false;
    if (value.type == SHAPEPROOF_VALUE_STRING) {
        append_text(pattern, value.string);
    } else if (value.type == SHAPEPROOF_VALUE_UNKNOWN && sp_is_class_key(value.string) &&
               !is_number(place->env, expr, 0)) {
        sp_text_append(&pattern->text, &text, 1);
    } else if ((value.type == SHAPEPROOF_VALUE_INT || value.type == SHAPEPROOF_VALUE_UNKNOWN) &&
               pattern->count < SP_MAX_INDICES) {
        const struct sp_hole number = {.constant = (uint64_t)value.integer};
        pattern->holes[pattern->count++] = value.type == SHAPEPROOF_VALUE_INT ? number : hole_of(outline, place, expr);
        sp_text_append(&pattern->text, &mark, 1);
    } else return false;
    return true;
}

/* The pattern of a name behind the prefix of the place; false when an expression in it has no value. */
static bool append_template(struct sp_outline *outline, const struct place *place, const struct sp_template *name,
                            struct pattern *pattern)
{
    *pattern = (struct pattern){.count = place->hole_count};
    sp_text_puts(&pattern->text, place->prefix);
    if (place->hole_count) memcpy(pattern->holes, place->holes, place->hole_count * sizeof *place->holes);
    for (size_t i = 0; i < name->count; i++) {
        if (name->pieces[i].text) append_text(pattern, name->pieces[i].text);
        else if (!append_hole(outline, place, name->pieces[i].hole, pattern)) return false;
    }
    return true;
}

static const char *kept_text(struct sp_outline *outline, const struct pattern *pattern)
{
    return sp_arena_copy(&outline->solver.arena, pattern->text.data, pattern->text.length);
}

static const struct sp_hole *kept_holes(struct sp_outline *outline, const struct pattern *pattern)
{
    struct sp_hole *holes = sp_arena_array(&outline->solver.arena, pattern->count, sizeof *holes);
    if (pattern->count) memcpy(holes, pattern->holes, pattern->count * sizeof *holes);
    return holes;
}

/* ---- rows ---- */

const char *sp_line_shown(struct sp_outline *outline, const struct sp_line *line)
{
    struct sp_text text = {0};
    size_t next = 0;
    sp_text_puts(&text, "");
    for (const char *p = line->name; *p; p++) {
        const struct sp_hole *hole = *p == SP_INDEX_MARK && next < line->hole_count ? &line->holes[next++] : NULL;
        if (!hole) sp_text_append(&text, p, 1);
        else if (hole->loop || hole->expr) sp_text_puts(&text, "{}");
        else sp_text_number(&text, hole->constant);
    }
    return sp_text_keep(&text, &outline->solver.arena);
}

/* The pattern of the tensor that a row may be tied to; NULL when there is none. */
static const char *tie_of_row(struct sp_outline *outline, const struct place *place, const struct sp_row *row)
{
    struct pattern pattern;
    if (!row->has_tie) return NULL;
    const bool good = append_template(outline, place, &row->tie, &pattern);
    const char *tie = good ? kept_text(outline, &pattern) : NULL;
    sp_text_free(&pattern.text);
    return tie;
}

/* Adds a row as a line, under one of its names: `name` is an older one of the line old_of, or the current one, and then
 * old_of is SP_NO_LINE. Adds nothing when the outline is full (SP_MOST_ROW_TEMPLATES) or an expression in the name has
 * no value: such a row is treated as if the table did not have it. */
static void add_line(struct sp_outline *outline, const struct place *place, const struct sp_row *row,
                     const struct sp_template *name, size_t old_of)
{
    struct pattern pattern = {.count = 0};
    if (outline->count < SP_MOST_ROW_TEMPLATES && append_template(outline, place, name, &pattern)) {
        SP_GROW(outline->lines, outline->count, outline->capacity);
        outline->lines[outline->count++] = (struct sp_line){.row = row,
                                                            .env = place->env,
                                                            .loop = place->loop,
                                                            .condition = place->condition,
                                                            .optional = row->optional || place->optional,
                                                            .name = kept_text(outline, &pattern),
                                                            .holes = kept_holes(outline, &pattern),
                                                            .hole_count = pattern.count,
                                                            .tie = tie_of_row(outline, place, row),
                                                            .old_of = old_of,
                                                            .origin = place->origin,
                                                            .share = SP_ALL_ALTERNATIVES >> place->assumptions,
                                                            .alternative = SP_NO_LINE};
    }
    sp_text_free(&pattern.text);
}

/* Adds a row with all of its names. */
static void walk_tensor(struct sp_outline *outline, const struct place *place, const struct sp_row *row)
{
    const size_t line = outline->count;
    add_line(outline, place, row, &row->name, SP_NO_LINE);
    for (size_t i = 0; i < row->old_count && outline->count > line; i++)
        add_line(outline, place, row, &row->olds[i], line);
}

/* The configuration that a sub-table reads: nothing but what `with` gives is known of it. */
static const struct sp_view *view_of(struct sp_outline *outline, const struct sp_env *env, const struct sp_row *row)
{
    const struct sp_view *outer = env->frame->view;
    struct sp_view *view = sp_arena_alloc(&outline->solver.arena, sizeof *view);
    const size_t inherited = row->has_from ? 0 : outer->given_count;
    struct sp_given *given = sp_arena_array(&outline->solver.arena, row->with_count + inherited, sizeof *given);
    const char *path = row->has_from ? sp_eval_path(&outline->solver.eval, env, row->from) : NULL;
    *view = (struct sp_view){.prefix = outer->prefix, .given = given, .given_count = row->with_count + inherited};
    if (path) view->prefix = sp_arena_printf(&outline->solver.arena, "%s.", path);
    for (size_t i = 0; i < row->with_count; i++)
        given[i] = (struct sp_given){.key = row->with[i].name, .open = {row->with[i].expr, env}};
    if (inherited) memcpy(given + row->with_count, outer->given, inherited * sizeof *given);
    return view;
}

/* Lays out the part or table that a row uses, in a frame of its own and with the row's name as the prefix. If the
 * filter leaves it out, only the texts of its condition are noted, so that nobody tries them as values. */
static void walk_use(struct sp_outline *outline, const struct place *place, const struct sp_row *row)
{
    struct sp_frame *frame = sp_arena_alloc(&outline->solver.arena, sizeof *frame);
    struct pattern pattern;
    struct place inner = *place;
    if (place->depth >= SP_DEEPEST_USE) return;
    if (outline->filter && !outline->filter->keeps(outline->filter->context, row)) {
        sp_literals_in(&outline->left_out, row->condition);
        return;
    }
    /* A part reads the configuration as its user does, unless `from` or `with` changes it. */
    const bool has_own_view = row->unit->is_table || row->has_from || row->with_count;
    *frame = (struct sp_frame){.unit = row->unit,
                               .view = has_own_view ? view_of(outline, place->env, row) : place->env->frame->view,
                               .param_exprs = row->given,
                               .caller = place->env->frame,
                               .user_env = place->env};
    const bool is_outside_loops = place->env->frame->remembered && !place->env->loops;
    if (is_outside_loops) /* its definitions depend on no index, and can be cached */
        frame->remembered =
            sp_arena_array(&outline->solver.arena, row->unit->definition_count, sizeof *frame->remembered);
    if (append_template(outline, place, &row->name, &pattern)) {
        inner.prefix = kept_text(outline, &pattern);
        inner.holes = kept_holes(outline, &pattern);
        inner.hole_count = pattern.count;
        inner.optional = place->optional || row->optional;
        inner.depth++;
        outline_unit(outline, frame, &inner);
    }
    sp_text_free(&pattern.text);
}

/* A condition within that of the place. */
static const struct sp_line_condition *add_condition(struct sp_outline *outline, const struct place *place,
                                                     const struct sp_expr *expr, const struct sp_env *env, bool assumed)
{
    struct sp_line_condition *added = sp_arena_alloc(&outline->solver.arena, sizeof *added);
    *added = (struct sp_line_condition){.expr = expr,
                                        .env = env,
                                        .loop = place->loop,
                                        .state = sp_arena_alloc(&outline->solver.arena, sizeof *added->state),
                                        .outer = place->condition,
                                        .number = outline->condition_count++,
                                        .assumed = assumed};
    return added;
}

/* The same for the condition that a row or clause may have (NULL: none). */
static const struct sp_line_condition *condition_of(struct sp_outline *outline, const struct place *place,
                                                    const struct sp_expr *expr)
{
    return expr ? add_condition(outline, place, expr, place->env, false) : place->condition;
}

/* The place under one more assumption. */
static struct place assuming(struct sp_outline *outline, const struct place *place, struct sp_assumption assumption,
                             bool holds)
{
    struct sp_assumption *kept = sp_arena_alloc(&outline->solver.arena, sizeof *kept);
    struct place inner = *place;
    assumption.holds = holds;
    assumption.outer = place->assumed;
    *kept = assumption;
    inner.assumed = kept;
    inner.assumptions++;
    inner.condition = add_condition(outline, place, sp_assumption_expr(outline, kept), &kept->env, true);
    return inner;
}

/* Finds the first condition that the name depends on and that is neither known nor assumed: `lacking`. */
static void find_lacking_condition(struct sp_outline *outline, const struct place *place,
                                   const struct sp_template *name, struct sp_assumption *lacking)
{
    struct shapeproof_value value;
    for (size_t i = 0; i < name->count; i++)
        if (name->pieces[i].hole)
            sp_assume_eval(outline, place->assumed, place->env, name->pieces[i].hole, &value, lacking);
}

/* Lays out a row, once for each alternative of its names: if one depends on a condition, under the assumption that this
 * is true and under the opposite. */
static void walk_row(struct sp_outline *outline, const struct place *place, const struct sp_row *row)
{
    struct sp_assumption lacking = {.condition = NULL};
    find_lacking_condition(outline, place, &row->name, &lacking);
    if (row->has_tie) find_lacking_condition(outline, place, &row->tie, &lacking);
    for (size_t i = 0; i < row->old_count; i++) find_lacking_condition(outline, place, &row->olds[i], &lacking);
    if (lacking.condition && place->assumptions < SP_MAX_ASSUMPTIONS) {
        const struct place yes = assuming(outline, place, lacking, true);
        const struct place no = assuming(outline, place, lacking, false);
        walk_row(outline, &yes, row);
        walk_row(outline, &no, row);
    } else if (row->kind == SP_ROW_USE) walk_use(outline, place, row);
    else walk_tensor(outline, place, row);
}

static bool is_false_value(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_BOOL && !value.boolean;
}

/* Where the walk is, for its callbacks. */
struct step {
    struct sp_outline *outline;
    const struct place *place;
};

static const struct sp_walker outlining;

/* Goes on with the section of the place from a clause on. */
static void walk_on(struct sp_outline *outline, const struct place *place, size_t clause)
{
    sp_walk(&outlining, place->env->section, clause, &(struct step){outline, place});
}

/* sp_walker.row: lays out a row with its condition, unless that is known to be false. Like the other callbacks it
 * returns true, because nothing ends the walk. */
static bool outline_row(const void *at, const struct sp_row *row)
{
    const struct step *step = at;
    const struct place *place = step->place;
    struct place own = *place;
    struct shapeproof_value wanted = sp_value_bool(true);
    if (row->condition && !sp_solver_eval(&step->outline->solver, place->env, row->condition, &wanted)) return true;
    if (is_false_value(wanted) && (!step->outline->keeps_all || sp_row_is_alternative(row))) return true;
    own.condition = condition_of(step->outline, place, row->condition);
    own.origin = origin_within(place->origin, (uint64_t)(row - place->env->section->rows));
    walk_row(step->outline, &own, row);
    return true;
}

/* ---- sections ---- */

static const struct sp_env *env_with(struct sp_outline *outline, const struct sp_env *env,
                                     const struct sp_binding *binding)
{
    struct sp_env *own = sp_arena_alloc(&outline->solver.arena, sizeof *own);
    *own = *env;
    own->loops = binding;
    return own;
}

/* sp_walker.range: adds a loop, whose index has no value, and lays out what is inside of it once. */
static bool outline_range(const void *at, size_t clause)
{
    const struct step *step = at;
    struct sp_outline *outline = step->outline;
    const struct place *place = step->place;
    struct sp_loop *loop = sp_arena_alloc(&outline->solver.arena, sizeof *loop);
    struct place inner = *place;
    *loop = (struct sp_loop){.clause = &place->env->section->clauses[clause],
                             .env = place->env,
                             .outer = place->loop,
                             .depth = place->loop ? place->loop->depth + 1 : 0,
                             .number = outline->loop_count};
    loop->binding =
        sp_loop_within(place->env->loops, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_UNKNOWN, .string = ""});
    SP_GROW(outline->loops, outline->loop_count, outline->loop_capacity);
    outline->loops[outline->loop_count++] = loop;
    inner.env = env_with(outline, place->env, &loop->binding);
    inner.loop = loop;
    walk_on(outline, &inner, clause + 1);
    return true;
}

/* Lays out what is inside of `for x in LIST` once for each item. If the list depends on a condition, `big ? [1, 2] :
 * [1]`, that is done for each of both under an assumption. Where it is not known at all, nothing is laid out. */
static void walk_each(struct sp_outline *outline, const struct place *place, size_t clause)
{
    const struct sp_clause *loop = &place->env->section->clauses[clause];
    struct sp_assumption lacking = {.condition = NULL};
    struct shapeproof_value list;
    if (!sp_assume_eval(outline, place->assumed, place->env, loop->first, &list, &lacking)) return;
    if (list.type != SHAPEPROOF_VALUE_LIST && lacking.condition && place->assumptions < SP_MAX_ASSUMPTIONS) {
        const struct place yes = assuming(outline, place, lacking, true);
        const struct place no = assuming(outline, place, lacking, false);
        walk_each(outline, &yes, clause);
        walk_each(outline, &no, clause);
    }
    if (list.type != SHAPEPROOF_VALUE_LIST) return;
    for (size_t i = 0; i < list.count && outline->count < SP_MOST_ROW_TEMPLATES; i++) {
        struct sp_binding *binding = sp_arena_alloc(&outline->solver.arena, sizeof *binding);
        struct place inner = *place;
        *binding = sp_loop_within(place->env->loops, list.items[i]);
        inner.env = env_with(outline, place->env, binding);
        inner.origin = origin_within(place->origin, i);
        walk_on(outline, &inner, clause + 1);
    }
}

static bool outline_each(const void *at, size_t clause)
{
    const struct step *step = at;
    walk_each(step->outline, step->place, clause);
    return true;
}

static bool outline_if(const void *at, size_t clause)
{
    const struct step *step = at;
    const struct place *place = step->place;
    const struct sp_expr *condition = place->env->section->clauses[clause].first;
    struct place inner = *place;
    struct shapeproof_value wanted;
    if (!sp_solver_eval(&step->outline->solver, place->env, condition, &wanted)) return true;
    if (is_false_value(wanted) && !step->outline->keeps_all) return true;
    inner.condition = condition_of(step->outline, place, condition);
    walk_on(step->outline, &inner, clause + 1);
    return true;
}

static const struct sp_walker outlining = {outline_range, outline_each, outline_if, outline_row};

/* Adds what the unit requires; its lines are those from `first` on. */
static void add_requirements(struct sp_outline *outline, const struct sp_frame *frame, const struct place *place,
                             size_t first)
{
    if (!frame->unit->requirement_count) return;
    struct sp_env *env = sp_arena_alloc(&outline->solver.arena, sizeof *env);
    *env = (struct sp_env){.frame = frame};
    for (size_t i = 0; i < frame->unit->requirement_count && outline->requirement_count < SP_MOST_ROW_TEMPLATES; i++) {
        SP_GROW(outline->requirements, outline->requirement_count, outline->requirement_capacity);
        outline->requirements[outline->requirement_count++] = (struct sp_placed_requirement){
            frame->unit->requirements[i].condition, env, place->condition, first, outline->count};
    }
}

static void outline_unit(struct sp_outline *outline, const struct sp_frame *frame, const struct place *place)
{
    const size_t first = outline->count;
    for (size_t i = 0; i < frame->unit->section_count; i++) {
        struct sp_env *env = sp_arena_alloc(&outline->solver.arena, sizeof *env);
        struct place inner = *place;
        *env = (struct sp_env){.frame = frame, .section = &frame->unit->sections[i]};
        inner.env = env;
        inner.origin = origin_within(place->origin, i);
        walk_on(outline, &inner, 0);
    }
    add_requirements(outline, frame, place, first);
}

/* ---- the whole ---- */

void sp_outline_init(struct sp_outline *outline, const struct sp_unit *table, const char *class,
                     const struct sp_use_filter *filter)
{
    *outline = (struct sp_outline){.filter = filter};
    sp_solver_init(&outline->solver, table);
    if (*class) sp_solver_tell_class(&outline->solver, class);
    outline_unit(outline, outline->solver.frame, &(struct place){.prefix = ""});
    outline->filter = NULL;
    sp_alternatives_link(outline);
}

void sp_outline_configure(struct sp_outline *outline, const struct sp_unit *table, const struct shapeproof_value *root)
{
    *outline = (struct sp_outline){.keeps_all = true};
    sp_solver_init(&outline->solver, table);
    outline->solver.configured = root;
    outline->solver.flags_open = true;
    outline_unit(outline, outline->solver.frame, &(struct place){.prefix = ""});
    sp_solver_ask_anew(&outline->solver);
    outline->solver.flags_open = false;
    sp_alternatives_link(outline);
}

void sp_outline_free(struct sp_outline *outline)
{
    sp_free(outline->lines);
    sp_free(outline->requirements);
    sp_free(outline->loops);
    sp_literals_free(&outline->left_out);
    sp_solver_free(&outline->solver);
    *outline = (struct sp_outline){.lines = NULL};
}
