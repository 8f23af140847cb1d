/* SPDX-License-Identifier: MIT */
#include "prove/count.h"

#include <stdlib.h>
#include <string.h>

#include "lang/functions.h"

enum { MAX_LOOPS = 60, MAX_USES = 64 };

struct walk {
    struct sp_symbolic *symbolic;
    unsigned uses;
};

/* The rows that a part of the table adds, while its loops are still open. */
struct tally {
    struct sp_row_count *rows;
    size_t count, capacity;
};

static bool walk_unit(struct walk *walk, struct sp_sym_frame *frame, struct tally *tally);

static void add_to(struct walk *walk, struct tally *tally, struct sp_row_count row, const struct sp_poly *poly)
{
    for (size_t i = 0; i < tally->count; i++)
        if (strcmp(tally->rows[i].name, row.name) == 0 && strcmp(tally->rows[i].group, row.group) == 0) {
            tally->rows[i].parameters = sp_poly_add(&walk->symbolic->algebra, tally->rows[i].parameters, poly);
            return;
        }
    SP_GROW(tally->rows, tally->count, tally->capacity);
    row.parameters = poly;
    tally->rows[tally->count++] = row;
}

static void multiply_into(struct walk *walk, struct tally *tally, const struct tally *inner, const struct sp_poly *by)
{
    for (size_t i = 0; i < inner->count; i++)
        add_to(walk, tally, inner->rows[i], sp_poly_mul(&walk->symbolic->algebra, by, inner->rows[i].parameters));
}

static const char *group_name(struct walk *walk, const struct sp_sym_env *env)
{
    const char *own = env->section->name, *outer = env->frame->group;
    if (!outer || !*outer) return own;
    if (!*own || !env->frame->unit->is_table) return outer;
    return sp_arena_printf(&walk->symbolic->algebra.arena, "%s: %s", outer, own);
}

/* ---- rows ---- */

/* A hole whose value is a known text is filled in, others stay as they are written. */
static const char *row_name(struct walk *walk, const struct sp_sym_env *env, const struct sp_template *name)
{
    struct sp_text text = {0};
    sp_text_puts(&text, env->frame->prefix);
    for (size_t i = 0; i < name->count; i++) {
        const struct sp_expr *hole = name->pieces[i].hole;
        struct sp_sym sym = {.kind = SP_SYM_NUMBER};
        const bool text_known = hole && sp_sym_eval(walk->symbolic, env, hole, &sym) && sym.kind == SP_SYM_VALUE &&
                                sym.value.type == SP_STRING;
        if (!hole) sp_text_puts(&text, name->pieces[i].text);
        else if (text_known) sp_text_puts(&text, sym.value.string);
        else sp_text_printf(&text, "{%.*s}", (int)hole->span.length, hole->span.source->text + hole->span.offset);
    }
    const char *kept = sp_arena_copy(&walk->symbolic->algebra.arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

/* 1 when the row counts: its condition holds and it is not tied to another tensor. */
static bool presence(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row,
                     const struct sp_poly **out)
{
    struct sp_algebra *algebra = &walk->symbolic->algebra;
    const struct sp_poly *tied = sp_poly_int(algebra, 1);
    *out = sp_poly_int(algebra, 1);
    if (row->condition && !sp_sym_condition(walk->symbolic, env, row->condition, out)) return false;
    if (!row->has_tie) return true;
    if (row->tie_condition && !sp_sym_condition(walk->symbolic, env, row->tie_condition, &tied)) return false;
    *out = sp_poly_mul(algebra, *out, sp_poly_sub(algebra, sp_poly_int(algebra, 1), tied));
    return true;
}

static bool tensor(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row, struct tally *tally)
{
    const struct sp_poly *size, *dim;
    if (row->optional || row->buffer) return true;
    if (!presence(walk, env, row, &size)) return false;
    for (size_t i = 0; i < row->rank && !sp_poly_is_zero(size); i++) {
        if (!sp_sym_number(walk->symbolic, env, row->shape[i], &dim)) return false;
        size = sp_poly_mul(&walk->symbolic->algebra, size, dim);
    }
    const struct sp_row_count count = {group_name(walk, env), row_name(walk, env, &row->name), NULL};
    add_to(walk, tally, count, size);
    return true;
}

static struct sp_sym_frame *new_frame(struct walk *walk, const struct sp_unit *unit)
{
    struct sp_arena *arena = &walk->symbolic->algebra.arena;
    struct sp_sym_frame *frame = sp_arena_alloc(arena, sizeof *frame);
    *frame = (struct sp_sym_frame){.unit = unit, .path = "", .prefix = ""};
    frame->cache = sp_arena_array(arena, unit->definition_count, sizeof *frame->cache);
    frame->cached = sp_arena_array(arena, unit->definition_count, 1);
    return frame;
}

static bool arguments(struct walk *walk, const struct sp_sym_env *env, struct sp_expr **given,
                      struct sp_sym_frame *frame)
{
    struct sp_sym *params = sp_arena_array(&walk->symbolic->algebra.arena, frame->unit->param_count, sizeof *params);
    frame->params = params;
    for (size_t i = 0; i < frame->unit->param_count; i++) {
        const struct sp_expr *expr = given ? given[i] : NULL;
        const struct sp_sym_env own = {.frame = frame};
        if (!expr && !frame->unit->params[i].fallback)
            return sp_sym_fail(walk->symbolic, frame->unit->params[i].span, "the table needs the argument '%s'",
                               frame->unit->params[i].name);
        if (expr ? !sp_sym_eval(walk->symbolic, env, expr, &params[i])
                 : !sp_sym_eval(walk->symbolic, &own, frame->unit->params[i].fallback, &params[i]))
            return false;
    }
    return true;
}

/* The keys of a sub-configuration begin with its path; `with` gives some of them. */
static bool open_view(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row,
                      struct sp_sym_frame *frame)
{
    struct sp_arena *arena = &walk->symbolic->algebra.arena;
    struct sp_sym_given *given = sp_arena_array(arena, row->with_count + env->frame->given_count, sizeof *given);
    frame->path = env->frame->path;
    if (row->from) {
        const struct sp_expr *from = row->from;
        while (from->kind == SP_EXPR_DEFAULT) from = from->args[0];
        if (from->kind != SP_EXPR_NAME)
            return sp_sym_fail(walk->symbolic, row->from->span, "this sub-configuration has no name");
        frame->path = sp_arena_printf(arena, "%s%s.", env->frame->path, from->name);
    }
    for (size_t i = 0; i < row->with_count; i++) {
        given[frame->given_count].key = row->with[i].name;
        if (!sp_sym_eval(walk->symbolic, env, row->with[i].expr, &given[frame->given_count++].sym)) return false;
    }
    for (size_t i = 0; !row->from && i < env->frame->given_count; i++)
        given[frame->given_count++] = env->frame->given[i];
    frame->given = given;
    return true;
}

static bool use(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row, struct tally *tally)
{
    struct sp_algebra *algebra = &walk->symbolic->algebra;
    struct sp_sym_frame *frame = new_frame(walk, row->unit);
    struct tally inner = {0};
    const struct sp_poly *wanted = sp_poly_int(algebra, 1);
    if (row->optional) return true;
    if (row->condition && !sp_sym_condition(walk->symbolic, env, row->condition, &wanted)) return false;
    if (sp_poly_is_zero(wanted)) return true;
    if (walk->uses >= MAX_USES)
        return sp_sym_fail(walk->symbolic, row->unit_span, "parts used more than %d deep", MAX_USES);
    frame->group = group_name(walk, env);
    frame->prefix = row_name(walk, env, &row->name);
    frame->path = env->frame->path;
    frame->given = env->frame->given;
    frame->given_count = env->frame->given_count;
    if (row->unit->is_table) {
        frame->given_count = 0;
        if (!open_view(walk, env, row, frame)) return false;
    }
    walk->uses++;
    const bool good = arguments(walk, env, row->given, frame) && walk_unit(walk, frame, &inner);
    walk->uses--;
    multiply_into(walk, tally, &inner, wanted);
    free(inner.rows);
    return good;
}

static bool rows(struct walk *walk, const struct sp_sym_env *env, struct tally *tally)
{
    for (size_t i = 0; i < env->section->row_count; i++) {
        const struct sp_row *row = &env->section->rows[i];
        if (!(row->kind == SP_ROW_USE ? use(walk, env, row, tally) : tensor(walk, env, row, tally))) return false;
    }
    return true;
}

/* ---- loops ---- */

/* [i < F] holds min(F, N) times for i from 0 on; the F, or NULL for any other condition. */
static const char *upper_end(struct walk *walk, const char *index, const char *condition)
{
    const char *less = sp_arena_printf(&walk->symbolic->algebra.arena, "[%s < ", index);
    const size_t length = strlen(less), all = strlen(condition);
    if (strncmp(condition, less, length) != 0 || strstr(condition + length, index)) return NULL;
    return sp_arena_copy(&walk->symbolic->algebra.arena, condition + length, all - length - 1);
}

/* How often a product of conditions holds in first..last; what has no closed form is a number of its own. */
static const struct sp_poly *times_true(struct walk *walk, const char *index, size_t index_atom,
                                        const struct sp_poly *conditions, const struct sp_poly *first,
                                        const struct sp_poly *last)
{
    struct sp_symbolic *symbolic = walk->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    const char *text = sp_sym_text(symbolic, conditions), *count;
    const char *is_first = sp_arena_printf(&algebra->arena, "[%s == 0]", index);
    const struct sp_poly *length = sp_poly_add(algebra, sp_poly_sub(algebra, last, first), sp_poly_int(algebra, 1));
    const uint64_t depends =
        (sp_sym_depends(symbolic, conditions) | sp_sym_depends(symbolic, length)) & ~symbolic->depends[index_atom];
    const char *end = sp_poly_is_zero(first) ? upper_end(walk, index, text) : NULL;
    if (sp_poly_is_zero(first) && strcmp(text, is_first) == 0) return sp_poly_int(algebra, 1); /* there is a layer 0 */
    if (end) count = sp_arena_printf(&algebra->arena, "min(%s, %s)", end, sp_sym_text(symbolic, length));
    else
        count = sp_arena_printf(&algebra->arena, "count(%s in %s..%s: %s)", index, sp_sym_text(symbolic, first),
                                sp_sym_text(symbolic, last), text);
    return sp_sym_opaque(symbolic, false, depends, count);
}

/* The part of a term that depends on the index other than by its powers. */
static const struct sp_poly *entangled(struct walk *walk, const struct sp_term *term, size_t index_atom,
                                       const struct sp_poly **rest)
{
    struct sp_algebra *algebra = &walk->symbolic->algebra;
    const uint64_t bit = walk->symbolic->depends[index_atom];
    const struct sp_poly *tangle = sp_poly_int(algebra, 1);
    *rest = sp_poly_rational(algebra, term->coefficient);
    for (size_t i = 0; i < term->count; i++) {
        const struct sp_factor factor = term->factors[i];
        const struct sp_poly *power = sp_poly_power(algebra, sp_poly_atom(algebra, factor.atom), factor.exponent);
        const bool tied = factor.atom != index_atom && factor.atom < walk->symbolic->depends_capacity &&
                          (walk->symbolic->depends[factor.atom] & bit);
        if (tied) tangle = sp_poly_mul(algebra, tangle, power);
        else *rest = sp_poly_mul(algebra, *rest, power);
    }
    return tangle;
}

static bool only_conditions(const struct walk *walk, const struct sp_poly *tangle)
{
    for (size_t i = 0; tangle->count && i < tangle->terms[0].count; i++)
        if (!walk->symbolic->algebra.atoms[tangle->terms[0].factors[i].atom].is_condition) return false;
    return true;
}

/* The sum over the index of one term. */
static const struct sp_poly *sum_term(struct walk *walk, const char *index, size_t index_atom,
                                      const struct sp_term *term, const struct sp_poly *first,
                                      const struct sp_poly *last)
{
    struct sp_symbolic *symbolic = walk->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational one;
    const struct sp_poly *rest, *tangle = entangled(walk, term, index_atom, &rest), *sum;
    if (sp_poly_is_constant(tangle, &one) && (sum = sp_poly_sum(algebra, rest, index_atom, first, last)) != NULL)
        return sum;
    if (only_conditions(walk, tangle) && !sp_poly_uses(rest, index_atom))
        return sp_poly_mul(algebra, rest, times_true(walk, index, index_atom, tangle, first, last));
    const struct sp_poly *whole = sp_poly_mul(algebra, tangle, rest);
    const uint64_t depends =
        (sp_sym_depends(symbolic, whole) | sp_sym_depends(symbolic, last)) & ~symbolic->depends[index_atom];
    return sp_sym_opaque(symbolic, false, depends,
                         sp_arena_printf(&algebra->arena, "sum(%s in %s..%s: %s)", index, sp_sym_text(symbolic, first),
                                         sp_sym_text(symbolic, last), sp_sym_text(symbolic, whole)));
}

static const struct sp_poly *sum_over(struct walk *walk, const char *index, size_t index_atom,
                                      const struct sp_poly *poly, const struct sp_poly *first,
                                      const struct sp_poly *last)
{
    const struct sp_poly *total = sp_poly_int(&walk->symbolic->algebra, 0);
    for (size_t i = 0; i < poly->count; i++)
        total = sp_poly_add(&walk->symbolic->algebra, total,
                            sum_term(walk, index, index_atom, &poly->terms[i], first, last));
    return total;
}

static bool clauses(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct tally *tally);

static bool with_index(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct sp_sym sym,
                       struct tally *tally)
{
    const struct sp_sym_binding binding = {env->section->clauses[clause].name, sym, env->bindings};
    struct sp_sym_env inner = *env;
    inner.bindings = &binding;
    return clauses(walk, &inner, clause + 1, tally);
}

static bool sum_loop(struct walk *walk, const struct sp_sym_env *env, size_t clause, const struct sp_poly *first,
                     const struct sp_poly *last, const char *list, struct tally *tally)
{
    struct sp_symbolic *symbolic = walk->symbolic;
    const struct sp_clause *loop = &env->section->clauses[clause];
    struct tally inner = {0};
    if (symbolic->loops >= MAX_LOOPS) return sp_sym_fail(symbolic, loop->first->span, "more than %d loops", MAX_LOOPS);
    const uint64_t bit = (uint64_t)1 << symbolic->loops++;
    const char *name = loop->name;
    const struct sp_poly *index = sp_sym_opaque(symbolic, false, bit, name);
    const size_t atom = index->terms[0].factors[0].atom;
    struct sp_sym item = sp_sym_of_poly(index);
    if (list)
        item = sp_sym_of_poly(
            sp_sym_opaque(symbolic, false, bit, sp_arena_printf(&symbolic->algebra.arena, "%s[%s]", list, name)));
    const bool good = with_index(walk, env, clause, item, &inner);
    for (size_t i = 0; i < inner.count; i++)
        add_to(walk, tally, inner.rows[i], sum_over(walk, name, atom, inner.rows[i].parameters, first, last));
    free(inner.rows);
    symbolic->loops--;
    return good;
}

static bool each(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct tally *tally)
{
    const struct sp_clause *loop = &env->section->clauses[clause];
    struct sp_algebra *algebra = &walk->symbolic->algebra;
    struct sp_sym list;
    if (!sp_sym_eval(walk->symbolic, env, loop->first, &list)) return false;
    if (list.kind == SP_SYM_VALUE && list.value.type == SP_LIST) {
        for (size_t i = 0; i < list.value.count; i++)
            if (!with_index(walk, env, clause, sp_sym_of_value(walk->symbolic, list.value.items[i]), tally))
                return false;
        return true;
    }
    if (list.kind != SP_SYM_OPAQUE) return sp_sym_fail(walk->symbolic, loop->first->span, "expected a list");
    const struct sp_poly *length =
        sp_sym_opaque(walk->symbolic, false, 0, sp_arena_printf(&algebra->arena, "len(%s)", list.name));
    return sum_loop(walk, env, clause, sp_poly_int(algebra, 0), sp_poly_sub(algebra, length, sp_poly_int(algebra, 1)),
                    list.name, tally);
}

enum { UNROLL = 64 };

/* A loop over a few known indices is unrolled, so that list items in it are known too. */
static bool range(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct tally *tally)
{
    const struct sp_clause *loop = &env->section->clauses[clause];
    const struct sp_poly *first, *last;
    struct sp_rational from, to;
    if (!sp_sym_number(walk->symbolic, env, loop->first, &first) ||
        !sp_sym_number(walk->symbolic, env, loop->last, &last))
        return false;
    const bool known = sp_poly_is_constant(first, &from) && sp_poly_is_constant(last, &to);
    if (!known || to.num - from.num > UNROLL) return sum_loop(walk, env, clause, first, last, NULL, tally);
    for (int64_t i = from.num; i <= to.num; i++)
        if (!with_index(walk, env, clause, sp_sym_of_poly(sp_poly_int(&walk->symbolic->algebra, i)), tally))
            return false;
    return true;
}

static bool conditional(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct tally *tally)
{
    struct tally inner = {0};
    const struct sp_poly *wanted;
    if (!sp_sym_condition(walk->symbolic, env, env->section->clauses[clause].first, &wanted)) return false;
    if (sp_poly_is_zero(wanted)) return true;
    const bool good = clauses(walk, env, clause + 1, &inner);
    multiply_into(walk, tally, &inner, wanted);
    free(inner.rows);
    return good;
}

static bool clauses(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct tally *tally)
{
    if (clause == env->section->clause_count) return rows(walk, env, tally);
    switch (env->section->clauses[clause].kind) {
    case SP_CLAUSE_RANGE:
        return range(walk, env, clause, tally);
    case SP_CLAUSE_EACH:
        return each(walk, env, clause, tally);
    case SP_CLAUSE_IF:
        return conditional(walk, env, clause, tally);
    }
    return false;
}

static bool walk_unit(struct walk *walk, struct sp_sym_frame *frame, struct tally *tally)
{
    for (size_t i = 0; i < frame->unit->section_count; i++) {
        const struct sp_sym_env env = {.frame = frame, .section = &frame->unit->sections[i]};
        if (!clauses(walk, &env, 0, tally)) return false;
    }
    return true;
}

/* ---- the whole ---- */

static void sum_groups(struct sp_count *count)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    count->total = sp_poly_int(algebra, 0);
    for (size_t i = 0; i < count->row_count; i++) {
        const struct sp_row_count *row = &count->rows[i];
        size_t group = 0;
        while (group < count->group_count && strcmp(count->groups[group].name, row->group) != 0) group++;
        if (group == count->group_count) {
            SP_GROW(count->groups, count->group_count, count->group_capacity);
            count->groups[count->group_count++] = (struct sp_group_count){row->group, sp_poly_int(algebra, 0)};
        }
        count->groups[group].parameters = sp_poly_add(algebra, count->groups[group].parameters, row->parameters);
        count->total = sp_poly_add(algebra, count->total, row->parameters);
    }
}

bool sp_count_table(struct sp_count *count, const struct sp_tables *tables, const struct sp_unit *table,
                    const struct sp_hyper *settings, bool scalars)
{
    *count = (struct sp_count){.tables = tables, .table = table};
    count->symbolic.scalars = scalars;
    count->symbolic.root = table;
    count->symbolic.settings = settings;
    count->symbolic.messages = &count->messages;
    struct walk walk = {&count->symbolic, 0};
    struct tally tally = {0};
    count->frame = new_frame(&walk, table);
    const bool good = arguments(&walk, &(struct sp_sym_env){.frame = count->frame}, NULL, count->frame) &&
                      walk_unit(&walk, count->frame, &tally);
    count->rows = tally.rows;
    count->row_count = tally.count;
    sum_groups(count);
    if (good && count->symbolic.algebra.failed)
        return sp_sym_fail(&count->symbolic, table->span, "%s", count->symbolic.algebra.failed);
    return good;
}

void sp_count_free(struct sp_count *count)
{
    free(count->rows);
    free(count->groups);
    sp_text_free(&count->messages);
    sp_symbolic_free(&count->symbolic);
}

/* A group of the table without a single tensor has no parameters. */
static const struct sp_poly *empty_group(struct sp_count *count, const char *name)
{
    for (size_t i = 0; i < count->table->section_count; i++)
        if (strcmp(count->table->sections[i].name, name) == 0) return sp_poly_int(&count->symbolic.algebra, 0);
    return NULL;
}

const struct sp_poly *sp_count_group(void *context, const char *name)
{
    struct sp_count *count = context;
    if (!name || strcmp(name, "total") == 0) return count->total;
    for (size_t i = 0; i < count->group_count; i++)
        if (strcmp(count->groups[i].name, name) == 0) return count->groups[i].parameters;
    return empty_group(count, name);
}
