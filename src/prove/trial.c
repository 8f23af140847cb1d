/* SPDX-License-Identifier: MIT
 * Reading a claim: its two sides and what `when` says, in the words of the table it is about. */
#include "prove/trial.h"

#include <stdlib.h>
#include <string.h>

#include "lang/functions.h"
#include "lang/walk.h"
#include "prove/rows.h"
#include "prove/symbolic/atoms.h"
#include "prove/symbolic/meaning.h"
#include "prove/symbolic/sizing.h"

/* The frame in which the names of a claim are looked up: that of the table for claims which stand in it, else one of
 * the definitions above the claims, behind which sp_sym_env.outer has those of the table. */
static struct sp_sym_frame *claims_frame(struct sp_trial *trial)
{
    struct sp_arena *arena = &trial->count->symbolic.algebra.arena;
    if (!trial->unit->about) return trial->count->frame;
    struct sp_sym_frame *frame = sp_arena_alloc(arena, sizeof *frame);
    *frame = (struct sp_sym_frame){.unit = trial->unit, .path = "", .prefix = ""};
    frame->cache = sp_arena_array(arena, trial->unit->definition_count, sizeof *frame->cache);
    frame->cached = sp_arena_array(arena, trial->unit->definition_count, 1);
    return frame;
}

const struct sp_poly *sp_trial_sum_of_group(const struct sp_trial *trial, const struct sp_group_sums *sums,
                                            const char *name)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    if (!name || strcmp(name, "total") == 0) return sp_poly_int(algebra, sums->total);
    const struct sp_poly *sum = NULL;
    for (size_t i = 0; i < sums->count; i++) {
        const struct sp_poly *part = sp_poly_int(algebra, sums->items[i].parameters);
        if (sp_group_is_in(trial->count->table, sums->items[i].name, name))
            sum = sum ? sp_poly_add(algebra, sum, part) : part;
    }
    if (sum) return sum;
    return sp_count_group(trial->count, name) ? sp_poly_int(algebra, 0) : NULL;
}

const struct sp_poly *sp_trial_group(const struct sp_trial *trial, const char *name)
{
    return trial->sums ? sp_trial_sum_of_group(trial, trial->sums, name) : sp_count_group(trial->count, name);
}

/* [group] and `total`. */
static const struct sp_poly *group_of_claim(void *context, const char *name) { return sp_trial_group(context, name); }

/* stored([group]), stored(total) and stored(bytes). */
static const struct sp_poly *stored_group(void *context, const char *name)
{
    const struct sp_trial *trial = context;
    if (strcmp(name, SP_STORED_BYTES) == 0) return sp_poly_int(&trial->count->symbolic.algebra, trial->stored->bytes);
    return sp_trial_sum_of_group(trial, trial->stored, name);
}

/* `active` and active([group]). */
static const struct sp_poly *active_of_claim(void *context, const char *group)
{
    struct sp_trial *trial = context;
    trial->asks_active = true;
    return sp_count_active(trial->count, group);
}

/* What a look ahead does with the open conditions of a formula: it only evaluates them, for their symbols. */
static void evaluate_condition(void *context, const struct sp_sym_env *env, const struct sp_expr *condition)
{
    struct sp_trial *trial = context;
    const struct sp_poly *holds;
    sp_sym_condition(&trial->count->symbolic, env, condition, &holds);
}

/* cache(...) */
static const struct sp_poly *states_of_claim(void *context, unsigned tp, const struct sp_sym_given *given, size_t count)
{
    struct sp_trial *trial = context;
    const struct sp_open_formula open = {evaluate_condition, trial};
    return sp_count_states(trial->count, &trial->when, tp, given, count, trial->looks_ahead ? &open : NULL);
}

/* activations(...) */
static const struct sp_poly *activations_of_claim(void *context, const struct sp_sym_given *given, size_t count)
{
    struct sp_trial *trial = context;
    const struct sp_open_formula open = {evaluate_condition, trial};
    return sp_count_activations(trial->count, &trial->when, given, count, trial->looks_ahead ? &open : NULL);
}

/* bytes(...), lora(...) and optimizer(...). */
static const struct sp_poly *sizing_of_claim(void *context, const struct sp_expr *expr, const struct sp_poly *number)
{
    struct sp_trial *trial = context;
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    if (!expr->sizing->is_as_stored) return sp_count_sizing(trial->count, expr, number);
    if (trial->stored) return sp_poly_int(&symbolic->algebra, trial->stored->bytes);
    sp_sym_fail(symbolic, expr->span, "bytes(as stored) needs a checkpoint: give one");
    return NULL;
}

/* flops(...) */
static const struct sp_poly *flops_of_claim(void *context, const struct sp_flops *asked)
{
    struct sp_trial *trial = context;
    const struct sp_open_formula open = {evaluate_condition, trial};
    return sp_count_flops(trial->count, &trial->when, asked, trial->looks_ahead ? &open : NULL);
}

/* elements(NAME), count(NAME) and dim(NAME, index): of the table, or of what stands in its place. */
static const struct sp_poly *rows_of_claim(void *context, const struct sp_expr *expr, int64_t index, const char **why)
{
    struct sp_trial *trial = context;
    const struct sp_group_sums *sums = trial->sums;
    trial->asks_rows = true;
    const struct sp_poly *poly = sp_count_of_rows(trial->count, expr, index, why);
    struct sp_rational number;
    if (!poly || !sums || !sums->rows) return poly;
    *why = "it is no number";
    if (!sp_poly_is_constant(poly, &number) || number.den != 1) return NULL;
    return sums->rows(sums->context, expr, index, &number.num, why)
               ? sp_poly_int(&trial->count->symbolic.algebra, number.num)
               : NULL;
}

struct sp_sym_env sp_trial_env(struct sp_trial *trial)
{
    struct sp_sym_env env = {
        .frame = claims_frame(trial), .group = group_of_claim, .rows = rows_of_claim, .context = trial};
    if (trial->count->table) {
        env.active = active_of_claim;
        env.states = states_of_claim;
        env.activations = activations_of_claim;
        env.sizing = sizing_of_claim;
        env.flops = flops_of_claim;
    }
    if (trial->stored) env.stored = stored_group;
    if (trial->unit->about) env.outer = trial->count->frame;
    return env;
}

bool sp_trial_undecided(struct sp_trial *trial, const char *why)
{
    trial->proof.verdict = SHAPEPROOF_UNDECIDED;
    trial->proof.difference = sp_arena_string(trial->arena, why);
    return false;
}

/* Makes the proof undecided with the mistake that an evaluation has just reported, and takes that back. Always false.
 */
static bool undecided_by_messages(struct sp_trial *trial)
{
    struct sp_text *messages = &trial->count->messages;
    char *message = messages->data;
    if (message) message[sp_first_line(message)] = '\0'; /* the source line is shown with the claim */
    sp_trial_undecided(trial, message ? message : "cannot be evaluated");
    sp_text_free(messages);
    trial->count->symbolic.report.mistakes = 0;
    return false;
}

/* ---- texts and lists: fixed before the table is counted ---- */

/* Whether an item of `when` gives a text or a list: rnn_cell_type = "gru", depths = [2, 6]. */
static bool is_setting(const struct sp_argument *when)
{
    return when->name && (when->expr->kind == SP_EXPR_LIST ||
                          (when->expr->kind == SP_EXPR_LITERAL && when->expr->value.type == SHAPEPROOF_VALUE_STRING));
}

/* What the unit defines under the name, which is interned; NULL when it defines no value of that name. */
static const struct sp_expr *defined(const struct sp_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->definition_count; i++)
        if (unit->definitions[i].name == name && !unit->definitions[i].is_function) return unit->definitions[i].expr;
    return NULL;
}

const char *sp_trial_key_of_name(const struct sp_trial *trial, const char *name)
{
    const struct sp_unit *const units[] = {trial->unit, trial->count->table};
    for (size_t i = 0; i < 2; i++) {
        const struct sp_expr *expr = defined(units[i], name);
        if (!expr) continue;
        while (expr->kind == SP_EXPR_DEFAULT) expr = expr->args[0];
        if (expr->kind != SP_EXPR_NAME) return NULL;
        name = expr->name;
    }
    return name;
}

/* Whether the item `when` of claim->when stands in the claim itself, and not in the line `claims for ... when` above
 * all claims. Own items come first. */
static bool is_own(const struct sp_trial *trial, size_t when) { return when < trial->claim->own_when_count; }

/* Makes the proof undecided because `when` gives two values to `name`. Always false. */
static bool contradicts(struct sp_trial *trial, const char *name)
{
    trial->is_contradictory = true;
    return sp_trial_undecided(
        trial, sp_arena_printf(trial->arena, "'when' contradicts itself: it gives '%s' two values", name));
}

/* Whether the claim itself gives that key a text or a list. */
static bool is_own_setting(const struct sp_trial *trial, const char *key)
{
    for (size_t i = 0; i < trial->claim->own_when_count; i++) {
        const struct sp_argument *when = &trial->claim->when[i];
        const char *own = is_setting(when) ? sp_trial_key_of_name(trial, when->name) : NULL;
        if (own && strcmp(own, key) == 0) return true;
    }
    return false;
}

/* Reads the texts and lists of `when` into a configuration. Two values for one key are a contradiction, unless the
 * claim gives the one and the line above all claims the other: then that of the claim counts, and the item of the line
 * is noted in trial->replaced. */
bool sp_trial_read_settings(struct sp_trial *trial, struct shapeproof_config *into)
{
    const struct sp_sym_env env = sp_trial_env(trial);
    for (size_t i = 0; i < trial->claim->when_count; i++) {
        const struct sp_argument *when = &trial->claim->when[i];
        struct sp_sym sym;
        if (!is_setting(when)) continue;
        const char *key = sp_trial_key_of_name(trial, when->name);
        if (!key)
            return sp_trial_undecided(trial, "'when' gives a string or a list to a name that is not a "
                                             "hyper-parameter");
        if (!sp_sym_eval(&trial->count->symbolic, &env, when->expr, &sym)) return undecided_by_messages(trial);
        if (sym.kind != SP_SYM_VALUE) return sp_trial_undecided(trial, "the items of a list in 'when' must be known");
        const struct shapeproof_value known = sp_value_at(sp_config_hyper(into)->root, key);
        if (sp_value_is_set(known) && !sp_values_equal(known, sym.value)) {
            const bool is_replaced = !is_own(trial, i) && is_own_setting(trial, key);
            if (!is_replaced) return contradicts(trial, when->name);
            trial->replaced[i] = true;
            continue;
        }
        sp_config_set_value(into, key, sym.value, "claim");
    }
    return true;
}

/* Whether an expression calls absent() or null(): these have no answer here, where every hyper-parameter counts as
 * given. */
static bool asks_for_absence(const struct sp_expr *expr)
{
    bool asks = expr->kind == SP_EXPR_CALL && expr->function && expr->function->sees_absent;
    for (size_t i = 0; i < expr->count && !asks; i++) asks = asks_for_absence(expr->args[i]);
    return asks;
}

bool sp_trial_check_settings(struct sp_trial *trial)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    const struct sp_sym_env env = {.frame = trial->count->frame};
    const struct sp_unit *table = trial->count->table;
    struct sp_rational holds;
    const struct sp_poly *condition;
    for (size_t i = 0; i < table->requirement_count; i++) {
        if (asks_for_absence(table->requirements[i].condition)) continue;
        if (!sp_sym_condition(symbolic, &env, table->requirements[i].condition, &condition))
            return undecided_by_messages(trial);
        if (sp_poly_is_constant(condition, &holds) && holds.num == 0)
            return sp_trial_undecided(trial, "the table does not cover this 'when'");
    }
    const struct shapeproof_value root = symbolic->fixed.settings->root;
    for (size_t i = 0; i < root.count && i < 64; i++) /* settings_read has 64 bits: later ones are not checked */
        if (!(symbolic->fixed.settings_read >> i & 1))
            return sp_trial_undecided(
                trial, sp_arena_printf(trial->arena, "the table does not use '%s'", root.members[i].key));
    return true;
}

/* ---- numbers and conditions: put into the polynomials ---- */

/* What remains of a polynomial under the values that `when` gave so far. */
static const struct sp_poly *under_when(struct sp_trial *trial, const struct sp_poly *poly)
{
    return sp_reduce(trial->count, poly, &trial->when);
}

/* How good an unknown is for solving an equation that is linear in it, coefficient*x + rest = 0: 0 for none, more for
 * a solution that is a whole number wherever the others are. */
static int merit_of_unknown(struct sp_trial *trial, const struct sp_poly *gap, size_t atom,
                            const struct sp_poly **solution)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_symbol_info *symbol = sp_symbol_of(trial->count, atom);
    struct sp_rational number;
    if (!symbol || symbol->is_computed || algebra->atoms[atom].is_condition) return 0;
    if (sp_poly_degree(gap, atom) != 1 || sp_poly_low_degree(gap, atom) < 0) return 0;
    const struct sp_poly *by = sp_poly_coefficient(algebra, gap, atom, 1);
    const struct sp_poly *rest = sp_poly_coefficient(algebra, gap, atom, 0);
    if (sp_poly_involves(symbolic, rest, atom) || sp_poly_involves(symbolic, by, atom)) return 0;
    *solution = sp_poly_divide(algebra, sp_poly_scale(algebra, rest, sp_rational_int(-1)), by);
    if (!*solution || algebra->failed) return 0;
    if (!sp_poly_is_whole(symbolic, *solution)) return 1;
    return sp_poly_is_constant(by, &number) ? 3 : 2;
}

/* Whether sizes from 1 up make it at least 1. */
static bool is_positive(struct sp_trial *trial, const struct sp_poly *poly)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    symbolic->premises.sizes = symbolic->premises.counts = true;
    const bool positive = sp_poly_never_negative(symbolic, sp_poly_sub(algebra, poly, sp_poly_int(algebra, 1)));
    symbolic->premises.sizes = symbolic->premises.counts = false;
    return positive;
}

/* h*(k - m) = 0 is k - m = 0 where h is a size, which is not 0. */
static const struct sp_poly *without_sizes(struct sp_trial *trial, const struct sp_poly *gap)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    const size_t atoms = algebra->atom_count;
    for (size_t atom = 0; atom < atoms; atom++) {
        const int low = sp_poly_uses(gap, atom) ? sp_poly_low_degree(gap, atom) : 0;
        const struct sp_poly *size = sp_poly_atom(algebra, atom);
        if (low <= 0 || algebra->atoms[atom].is_condition || !is_positive(trial, size)) continue;
        gap = sp_poly_mul(algebra, gap, sp_poly_power(algebra, size, -low));
    }
    return gap;
}

bool sp_trial_solve(struct sp_trial *trial, const struct sp_poly *gap, size_t *atom, const struct sp_poly **value)
{
    const size_t atoms = trial->count->symbolic.algebra.atom_count;
    int best = 0;
    gap = without_sizes(trial, gap);
    for (size_t i = 0; i < atoms; i++) {
        const struct sp_poly *solution;
        const int merit = sp_poly_uses(gap, i) ? merit_of_unknown(trial, gap, i, &solution) : 0;
        if (merit <= best) continue;
        best = merit;
        *atom = i;
        *value = solution;
    }
    return best > 0;
}

/* gap = 0, beside what `when` said before: solved for a hyper-parameter that has no value yet. `name` is for messages.
 */
static bool add_equation(struct sp_trial *trial, const struct sp_poly *gap, const char *name)
{
    struct sp_rational number;
    const struct sp_poly *value;
    size_t atom;
    gap = under_when(trial, gap);
    if (!gap) return sp_trial_undecided(trial, "a hyper-parameter that has a value is in a denominator");
    if (sp_poly_is_zero(gap)) return true;
    if (sp_poly_is_constant(gap, &number) || is_positive(trial, gap) ||
        is_positive(trial, sp_poly_scale(&trial->count->symbolic.algebra, gap, sp_rational_int(-1))))
        return contradicts(trial, name);
    if (!sp_trial_solve(trial, gap, &atom, &value))
        return sp_trial_undecided(trial, sp_arena_printf(trial->arena, "'when' cannot be solved: %s = 0",
                                                         sp_sym_text(&trial->count->symbolic, gap)));
    sp_values_add(&trial->when, atom, value);
    return true;
}

/* The condition has that truth; where it says that two numbers are equal, one of them is put in for the other. */
static bool add_condition(struct sp_trial *trial, size_t atom, bool holds, const char *name)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    const struct sp_poly *gap, *known = under_when(trial, sp_poly_atom(&symbolic->algebra, atom));
    struct sp_rational truth;
    bool equality;
    if (known && sp_poly_is_constant(known, &truth)) return (truth.num != 0) == holds || contradicts(trial, name);
    if (sp_atom_comparison(symbolic, atom, &gap, &equality)) {
        symbolic->premises.sizes = true;
        const bool is_equal = equality ? holds : !holds && sp_poly_never_negative(symbolic, gap);
        symbolic->premises.sizes = false;
        size_t unknown;
        const struct sp_poly *value, *reduced = is_equal ? under_when(trial, gap) : NULL;
        if (reduced && sp_trial_solve(trial, reduced, &unknown, &value)) sp_values_add(&trial->when, unknown, value);
    }
    sp_values_add(&trial->when, atom, sp_poly_int(&symbolic->algebra, holds));
    return true;
}

/* Reads an item of `when` that is a condition, a polynomial which is 1 where it holds:
 *
 *     a and b      a*b is one term: each of its factors is true
 *     not tied     1 - tied: what is left of 1 is one factor, which is false
 *     a or b       a + b - a*b says of neither what it is: undecided
 */
static bool condition_value(struct sp_trial *trial, const struct sp_sym_env *env, const struct sp_argument *when)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    const struct sp_poly *condition;
    struct sp_rational truth;
    const struct sp_span span = when->expr->span;
    const char *name = sp_arena_copy(trial->arena, span.source->text + span.offset, span.length);
    if (!sp_sym_condition(&trial->count->symbolic, env, when->expr, &condition)) return undecided_by_messages(trial);
    if (sp_poly_is_constant(condition, &truth))
        return truth.num || sp_trial_undecided(trial, "this 'when' is never true");
    const struct sp_poly *negation = sp_poly_sub(algebra, sp_poly_int(algebra, 1), condition);
    const bool is_product =
        condition->count == 1 && sp_rational_compare(condition->terms[0].coefficient, (struct sp_rational){1, 1}) == 0;
    const bool is_negated_atom = !is_product && negation->count == 1 && negation->terms[0].count == 1;
    if (!is_product && !is_negated_atom)
        return sp_trial_undecided(trial, "this 'when' is neither NAME = value nor a condition of the table");
    const struct sp_term *term = is_product ? &condition->terms[0] : &negation->terms[0];
    for (size_t i = 0; i < term->count; i++)
        if (!add_condition(trial, term->factors[i].atom, is_product, name)) return false;
    return true;
}

/* The polynomial that a name on the left of NAME = value stands for. False, and undecided, for a constant, to which no
 * claim can give a value. */
static bool symbol_of_name(struct sp_trial *trial, const struct sp_sym_env *env, const struct sp_argument *when,
                           const struct sp_poly **symbol)
{
    if (!sp_sym_number(&trial->count->symbolic, env, when->target, symbol)) return undecided_by_messages(trial);
    struct sp_rational number;
    return !sp_poly_is_constant(*symbol, &number) ||
           sp_trial_undecided(trial, "'when' gives a value to a name that is not a hyper-parameter");
}

/* Reads an item of `when` that is NAME = value. A hyper-parameter that is still free gets the value; of anything else,
 * such as a name that is computed, the equation is solved for a hyper-parameter. */
static bool number_value(struct sp_trial *trial, const struct sp_sym_env *env, const struct sp_argument *when)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    const struct sp_poly *symbol, *value;
    if (!symbol_of_name(trial, env, when, &symbol)) return false;
    if (!sp_sym_number(&trial->count->symbolic, env, when->expr, &value)) return undecided_by_messages(trial);
    const size_t atom = sp_atom_alone(symbol);
    const struct sp_poly *now = under_when(trial, symbol), *wanted = under_when(trial, value);
    const bool is_free = atom != SIZE_MAX && now && sp_atom_alone(now) == atom;
    if (!is_free || !wanted || sp_poly_involves(&trial->count->symbolic, wanted, atom))
        return add_equation(trial, sp_poly_sub(algebra, symbol, value), when->name);
    sp_values_add(&trial->when, atom, value);
    return true;
}

/* The word "defaults" stands for the table's default of every flag that is not mentioned. */
static bool is_defaults(const struct sp_argument *when)
{
    return !when->name && when->expr->kind == SP_EXPR_NAME && strcmp(when->expr->name, "defaults") == 0;
}

/* Whether the claim itself gives a value to what this names. */
static bool is_named_by_claim(struct sp_trial *trial, const struct sp_sym_env *env, const struct sp_argument *when)
{
    const struct sp_poly *symbol, *own;
    if (!when->name || !symbol_of_name(trial, env, when, &symbol)) return false;
    for (size_t i = 0; i < trial->claim->own_when_count; i++) {
        const struct sp_argument *other = &trial->claim->when[i];
        if (!other->name || is_setting(other) || !symbol_of_name(trial, env, other, &own)) continue;
        if (sp_poly_equal(own, symbol)) return true;
    }
    return false;
}

/* Whether the default of a hyper-parameter is x // y where x is a hyper-parameter too: x goes into *of, y into *by. */
static bool is_quotient(struct sp_count *count, const struct sp_poly *fallback, const struct sp_symbol_info **of,
                        const struct sp_poly **by)
{
    const size_t atom = fallback ? sp_atom_alone(fallback) : SIZE_MAX;
    const struct sp_origin *origin = atom == SIZE_MAX ? NULL : sp_atom_info(&count->symbolic, atom)->origin;
    if (!origin || origin->operation.kind != SP_DO_BINARY || origin->operation.op != SP_OP_FLOOR) return false;
    if (origin->args[0].kind != SP_SYM_NUMBER || origin->args[1].kind != SP_SYM_NUMBER) return false;
    const size_t dividend = sp_atom_alone(origin->args[0].poly);
    *of = dividend == SIZE_MAX ? NULL : sp_symbol_of(count, dividend);
    *by = origin->args[1].poly;
    return *of && !(*of)->is_computed;
}

/* What a premise about the key K says as an equation, *symbol = *value:
 *
 *     SP_PREMISE_VALUE       K = value
 *     SP_PREMISE_DEFAULT     K = its default
 *     SP_PREMISE_QUOTIENT    of D, whose default is H // A: H = A*D, so that *symbol is H */
bool sp_premise_put(struct sp_count *count, const struct sp_premise *premise, const struct sp_symbol_info **symbol,
                    const struct sp_poly **value)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    const struct sp_symbol_info *named = sp_sym_symbol(&count->symbolic, premise->key);
    const struct sp_poly *by;
    *symbol = named;
    if (!named) return false;
    switch (premise->kind) {
    case SP_PREMISE_VALUE:
        *value = sp_poly_int(algebra, premise->value);
        return true;
    case SP_PREMISE_DEFAULT:
        *value = named->fallback;
        return *value != NULL;
    case SP_PREMISE_QUOTIENT:
        if (!is_quotient(count, named->fallback, symbol, &by)) return false;
        *value = sp_poly_mul(algebra, by, sp_poly_atom(algebra, named->atom));
        return true;
    }
    return false;
}

/* Adds what the premises say to what `when` gives, of symbols to which it gives no value itself. */
static void add_premises(struct sp_trial *trial)
{
    for (size_t i = 0; i < trial->premise_count; i++) {
        const struct sp_symbol_info *symbol;
        const struct sp_poly *value;
        bool known = !sp_premise_put(trial->count, &trial->premises[i], &symbol, &value);
        for (size_t k = 0; k < trial->when.count && !known; k++) known = trial->when.atoms[k] == symbol->atom;
        if (!known) sp_values_add(&trial->when, symbol->atom, value);
    }
}

/* Whether the expression has a measure in it that counts the table anew. */
static bool asks_measure(const struct sp_expr *expr)
{
    bool asks = expr->kind == SP_EXPR_CACHE || expr->kind == SP_EXPR_FLOPS || expr->kind == SP_EXPR_ACTIVATIONS;
    for (size_t i = 0; i < expr->count && !asks; i++) asks = asks_measure(expr->args[i]);
    return asks;
}

/* Looks ahead at the sides of a claim about measures: a hyper-parameter that only a measure reads, such as
 * sliding_window, becomes a symbol when the measure is counted, and `when` may name it. Mistakes are reported when the
 * sides are read. */
static void name_measured_symbols(struct sp_trial *trial)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    const struct sp_sym_env env = sp_trial_env(trial);
    const struct sp_expr *const sides[] = {trial->claim->left, trial->claim->right};
    const struct sp_sym_report report = symbolic->report;
    const size_t steps = symbolic->steps, work = symbolic->algebra.work;
    const char *const failed = symbolic->algebra.failed;
    struct sp_text unheard = {0}; /* not that of sp_sym_begin_look_ahead: measures look ahead themselves */
    struct sp_sym sym;
    trial->looks_ahead = true;
    symbolic->report.messages = &unheard;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        if (sides[i] && asks_measure(sides[i])) sp_sym_eval(symbolic, &env, sides[i], &sym);
    symbolic->report = report;
    symbolic->steps = steps;
    symbolic->algebra.work = work;
    symbolic->algebra.failed = failed;
    trial->looks_ahead = false;
    sp_text_free(&unheard);
}

/* Reads the numbers and conditions of `when` into trial->when. An item of the line above all claims that contradicts an
 * item of the claim itself about the same name is replaced by it; any other contradiction makes the claim undecided. */
bool sp_trial_read_when(struct sp_trial *trial)
{
    const struct sp_sym_env env = sp_trial_env(trial);
    if (trial->claim->when_count) name_measured_symbols(trial);
    for (size_t i = 0; i < trial->claim->when_count; i++) {
        const struct sp_argument *when = &trial->claim->when[i];
        if (is_setting(when) || is_defaults(when)) continue;
        trial->is_contradictory = false;
        if (when->name ? number_value(trial, &env, when) : condition_value(trial, &env, when)) continue;
        if (!trial->is_contradictory || is_own(trial, i) || !is_named_by_claim(trial, &env, when)) return false;
        trial->replaced[i] = true;
        trial->proof.difference = NULL; /* the contradiction, which is none */
    }
    for (size_t i = 0; i < trial->claim->when_count; i++)
        if (is_defaults(&trial->claim->when[i]))
            sp_values_add_defaults(trial->count, &trial->when, SP_DEFAULTS_OF_CONDITIONS);
    add_premises(trial);
    return true;
}

const char *sp_trial_given(const struct sp_trial *trial)
{
    const struct sp_claim *claim = trial->claim;
    struct sp_text text = {0};
    bool whole = true;
    for (size_t i = claim->own_when_count; i < claim->when_count; i++) whole = whole && !trial->replaced[i];
    if (whole) return trial->unit->about ? trial->unit->given_text : "";
    sp_text_puts(&text, "");
    for (size_t i = claim->own_when_count; i < claim->when_count; i++) {
        const struct sp_span span = claim->when[i].expr->span;
        const size_t from = claim->when[i].span.offset, to = span.offset + span.length;
        if (trial->replaced[i]) continue;
        sp_text_printf(&text, "%s%.*s", text.length ? ", " : "", (int)(to - from), span.source->text + from);
    }
    return sp_text_keep(&text, trial->arena);
}

/* Evaluates both sides; the right one is the left one in a claim without any. False, and undecided, after a mistake. */
static bool evaluate_sides(struct sp_trial *trial)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    const struct sp_sym_env env = sp_trial_env(trial);
    symbolic->divisors = trial->divisors;
    bool good = sp_sym_number(symbolic, &env, trial->claim->left, &trial->left);
    trial->right = trial->left;
    good = good && (!trial->claim->right || sp_sym_number(symbolic, &env, trial->claim->right, &trial->right));
    symbolic->divisors = NULL;
    return good || undecided_by_messages(trial);
}

bool sp_trial_read_sides(struct sp_trial *trial)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    if (!evaluate_sides(trial)) return false;
    trial->left = sp_reduce(trial->count, trial->left, &trial->when);
    trial->right = sp_reduce(trial->count, trial->right, &trial->when);
    if (!trial->left || !trial->right)
        return sp_trial_undecided(trial, "a hyper-parameter that has a value is in a "
                                         "denominator");
    trial->error = sp_poly_sub(&symbolic->algebra, trial->right, trial->left);
    if (symbolic->algebra.failed) return sp_trial_undecided(trial, symbolic->algebra.failed);
    return true;
}

/* ---- at the values of a configuration ---- */

/* The value of a key where the table is counted: the one that is given, else the table's default. False for none. */
static bool taken_value(struct sp_trial *trial, const char *key, struct sp_sym *out)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    const struct sp_sym_env env = {.frame = trial->count->frame};
    const struct shapeproof_value given = sp_value_at(symbolic->fixed.settings->root, key);
    *out = sp_sym_of_value(symbolic, given);
    return sp_value_is_set(given) || sp_sym_defaulted_key(symbolic, &env, key, out);
}

/* Whether a key has the text or list that `when` gives it: rnn_cell_type = "gru". */
static bool is_setting_so(struct sp_trial *trial, const struct sp_sym_env *env, const struct sp_argument *when)
{
    const char *key = sp_trial_key_of_name(trial, when->name);
    struct sp_sym here, wanted;
    return key && taken_value(trial, key, &here) && sp_sym_eval(&trial->count->symbolic, env, when->expr, &wanted) &&
           here.kind == SP_SYM_VALUE && wanted.kind == SP_SYM_VALUE && sp_values_equal(here.value, wanted.value);
}

/* Whether a number has the value that `when` gives it, H = 4*E. Where it has not, *why becomes "H is 100"; it is left
 * as it is when a side of the equation has no value. */
static bool is_number_so(struct sp_trial *trial, const struct sp_sym_env *env, const struct sp_argument *when,
                         const char **why)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    const struct sp_poly *here, *wanted;
    struct sp_rational number;
    if (!sp_sym_number(symbolic, env, when->target, &here) || !sp_sym_number(symbolic, env, when->expr, &wanted))
        return false;
    if (sp_poly_equal(here, wanted)) return true;
    if (sp_poly_is_constant(here, &number))
        *why = sp_arena_printf(trial->arena, "%s is %s", when->name, sp_rational_text(trial->arena, number));
    return false;
}

/* Whether a condition of `when` holds. */
static bool is_condition_so(struct sp_trial *trial, const struct sp_sym_env *env, const struct sp_argument *when)
{
    const struct sp_poly *condition;
    struct sp_rational truth;
    return sp_sym_condition(&trial->count->symbolic, env, when->expr, &condition) &&
           sp_poly_is_constant(condition, &truth) && truth.num != 0;
}

/* Whether the item `when` stands in the line above all claims, and the claim itself has an item about the same name,
 * which replaces it. */
static bool gives_other_value(const struct sp_claim *claim, size_t when)
{
    bool gives = false;
    for (size_t i = 0; i < claim->own_when_count && when >= claim->own_when_count && !gives; i++)
        gives =
            claim->when[i].name && claim->when[when].name && strcmp(claim->when[i].name, claim->when[when].name) == 0;
    return gives;
}

/* Checks each item of `when` in turn, but for `defaults`, which the caller compares (sp_claim_takes_defaults): it is
 * about all flags together. For the first that is not so, *why becomes "it is about H = 4*E, and H is 100", without the
 * second half where nothing more is known. A mistake in an item counts as not so, and is not reported. */
bool sp_trial_applies(struct sp_trial *trial, const char **why)
{
    const struct sp_sym_env env = sp_trial_env(trial);
    for (size_t i = 0; i < trial->claim->when_count; i++) {
        const struct sp_argument *when = &trial->claim->when[i];
        const struct sp_span from = when->span, to = when->expr->span;
        const int length = (int)(to.offset + to.length - from.offset);
        const char *is = NULL;
        if (is_defaults(when) || gives_other_value(trial->claim, i)) continue;
        const bool so = is_setting(when) ? is_setting_so(trial, &env, when)
                        : when->name     ? is_number_so(trial, &env, when, &is)
                                         : is_condition_so(trial, &env, when);
        sp_text_free(&trial->count->messages);
        trial->count->symbolic.report.mistakes = 0;
        if (so) continue;
        *why = sp_arena_printf(trial->arena, "it is about %.*s%s%s", length, from.source->text + from.offset,
                               is ? ", and " : "", is ? is : "");
        return false;
    }
    return true;
}

bool sp_claim_takes_defaults(const struct sp_claim *claim)
{
    bool takes = false;
    for (size_t i = 0; i < claim->when_count && !takes; i++) takes = is_defaults(&claim->when[i]);
    return takes;
}

bool sp_claim_has_settings(const struct sp_claim *claim)
{
    bool has = false;
    for (size_t i = 0; i < claim->when_count && !has; i++) has = is_setting(&claim->when[i]);
    return has;
}
