/* SPDX-License-Identifier: MIT
 * Each atom has one final form: its value, or the result of its operation for the final forms of the arguments, or
 * itself. Conditions go first, because what they make 0 need not have a value. */
#include "prove/symbolic/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "lang/eval.h"
#include "prove/symbolic/atoms.h"
#include "prove/symbolic/operations.h"

enum {
    MAX_ROUNDS = 8,       /* of deciding conditions by the assumption that no loop goes backwards */
    MAX_DEPTH = 1000,     /* atoms computed within one another: bounds the stack */
    MAX_ITERATIONS = 4096 /* of a sum that is computed iteration by iteration */
};

void sp_values_add(struct sp_values *values, size_t atom, const struct sp_poly *value)
{
    SP_GROW(values->atoms, values->count, values->capacity);
    if (values->value_capacity < values->capacity) {
        values->value_capacity = values->capacity;
        values->values = sp_realloc(values->values, values->capacity, sizeof *values->values);
    }
    values->atoms[values->count] = atom;
    values->values[values->count++] = value;
}

void sp_values_free(struct sp_values *values)
{
    sp_free(values->atoms);
    sp_free(values->values);
    *values = (struct sp_values){0};
}

/* ---- final forms ---- */

/* One reduction: the values that are put in, and the final forms that are known so far. */
struct reducer {
    struct sp_symbolic *symbolic;
    const size_t *atoms; /* that have a value */
    const struct sp_poly *const *values;
    size_t count;
    const struct sp_poly **finals; /* by atom, of those that are STATE_DONE */
    char *states;                  /* by atom */
    size_t size;                   /* of both: newer atoms are made from final forms, and final themselves */
    unsigned depth;                /* of atoms that are computed within one another */
};

/* Of an atom: whether its final form is known. */
enum {
    STATE_NEW,
    STATE_BUSY, /* it is being computed: met again, the values go round in a circle */
    STATE_DONE,
    STATE_NONE /* it has none */
};

/* The polynomial with the final forms of its atoms put in; NULL when it has no value. */
static const struct sp_poly *reduce_poly(struct reducer *r, const struct sp_poly *poly);

/* reduce_sym for each of an array, into one in the arena. False when one has no value. */
static bool reduce_list(struct reducer *r, const struct sp_sym *from, size_t count, struct sp_sym **to);

/* Makes a number that is an atom for a real number (is_real), or such an atom with a factor, the real number itself. */
static void take_real(struct sp_symbolic *symbolic, struct sp_sym *sym)
{
    if (sym->kind != SP_SYM_NUMBER || sym->poly->count != 1 || sym->poly->terms[0].count != 1) return;
    const struct sp_term *term = &sym->poly->terms[0];
    const struct sp_atom_info *info = sp_atom_info(symbolic, term->factors[0].atom);
    if (!info->is_real || term->factors[0].exponent != 1) return;
    const double factor = (double)term->coefficient.num / (double)term->coefficient.den;
    *sym = sp_sym_of_value(symbolic, sp_value_real(factor * info->real));
}

/* The value of an atom that is no number after all, once it is computed: an item of a list of texts. False for any
 * other.
 */
static bool reduce_to_value(struct reducer *r, const struct sp_poly *poly, struct sp_sym *out)
{
    const size_t atom = sp_atom_alone(poly);
    struct sp_sym *args;
    if (atom >= r->size || r->states[atom] == STATE_BUSY || r->depth >= MAX_DEPTH) return false;
    const struct sp_origin *origin = sp_atom_info(r->symbolic, atom)->origin;
    if (!origin || origin->operation.kind == SP_DO_SUM) return false;
    for (size_t i = 0; i < r->count; i++)
        if (r->atoms[i] == atom) return false;
    r->states[atom] = STATE_BUSY;
    r->depth++;
    const bool good = reduce_list(r, origin->args, origin->count, &args) &&
                      sp_sym_operate(r->symbolic, &origin->operation, args, origin->count, out);
    r->depth--;
    r->states[atom] = STATE_NONE;
    return good && !sp_sym_is_numeric(*out);
}

/* A symbolic value with the assignments applied. A number that becomes a real one, 0.5*r with r = 0.3, is a known value
 * then; an atom that is computed to be no number, an item of a list of texts, becomes that text. One that was computed
 * from others (it has an origin, or items) is computed again from the reduced ones. False when it has no value any
 * more. */
static bool reduce_sym(struct reducer *r, struct sp_sym sym, struct sp_sym *out)
{
    struct sp_sym *parts;
    *out = sym;
    if (sym.kind == SP_SYM_VALUE) return true;
    if (sym.kind == SP_SYM_OPAQUE && sym.origin) {
        const struct sp_origin *origin = sym.origin;
        return reduce_list(r, origin->args, origin->count, &parts) &&
               sp_sym_operate(r->symbolic, &origin->operation, parts, origin->count, out);
    }
    if (sym.kind == SP_SYM_OPAQUE && sym.items) {
        if (!reduce_list(r, sym.items, sym.count, &parts)) return false;
        *out = sp_sym_of_items(r->symbolic, parts, sym.count);
        return true;
    }
    if (sym.kind == SP_SYM_OPAQUE) return true;
    if (!(out->poly = reduce_poly(r, sym.poly)))
        return (sym.kind == SP_SYM_NUMBER || sym.kind == SP_SYM_CONDITION) && reduce_to_value(r, sym.poly, out);
    take_real(r->symbolic, out);
    if (sym.kind != SP_SYM_EITHER) return true;
    if (!reduce_list(r, sym.either, 2, &parts)) return false;
    *out = sp_sym_combine(r->symbolic, out->poly, parts[0], parts[1]);
    return true;
}

static bool reduce_list(struct reducer *r, const struct sp_sym *from, size_t count, struct sp_sym **to)
{
    *to = sp_arena_array(&r->symbolic->algebra.arena, count, sizeof **to);
    for (size_t i = 0; i < count; i++)
        if (!reduce_sym(r, from[i], &(*to)[i])) return false;
    return true;
}

/* Whether a reduction left the arguments as they were, as far as that is seen without looking into lists and choices.
 */
static bool same_args(const struct sp_sym *a, const struct sp_sym *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i].kind != b[i].kind || a[i].kind == SP_SYM_EITHER) return false;
        if (a[i].kind == SP_SYM_OPAQUE && (a[i].origin || a[i].items)) return false;
        if (a[i].kind <= SP_SYM_CONDITION && !sp_poly_equal(a[i].poly, b[i].poly)) return false;
    }
    return true;
}

/* Whether the operation may have another result although its arguments are the same: comparisons, floors, min and max
 * are decided by what is known of sizes, which differs between a count and a reduction. */
static bool may_be_decided(const struct sp_operation *operation)
{
    return operation->kind == SP_DO_BINARY || operation->kind == SP_DO_CALL;
}

/* One reduction of a polynomial with these values. */
static const struct sp_poly *reduce_once(struct sp_symbolic *symbolic, const struct sp_poly *poly, const size_t *atoms,
                                         const struct sp_poly *const *values, size_t count);

/* The body of a sum where its index has that value. It is a reduction of its own, since an atom may have a value in one
 * iteration and none in another. */
static const struct sp_poly *iteration_of_sum(struct reducer *r, const struct sp_origin *sum, int64_t index)
{
    size_t *atoms = sp_realloc(NULL, r->count + 1, sizeof *atoms);
    const struct sp_poly **values = sp_realloc(NULL, r->count + 1, sizeof *values);
    if (r->count) memcpy(atoms, r->atoms, r->count * sizeof *atoms);
    if (r->count) memcpy(values, r->values, r->count * sizeof *values);
    atoms[r->count] = sum->operation.index;
    values[r->count] = sp_poly_int(&r->symbolic->algebra, index);
    const struct sp_poly *iteration = reduce_once(r->symbolic, sum->args[0].poly, atoms, values, r->count + 1);
    sp_free(atoms);
    sp_free(values);
    return iteration;
}

/* A sum whose ends are known numbers now, iteration by iteration; *sum becomes NULL when one has no value. False, and
 * *sum as it was, for any other atom. */
static bool by_iterations(struct reducer *r, const struct sp_origin *origin, const struct sp_poly **sum)
{
    struct sp_rational first, last;
    if (origin->operation.kind != SP_DO_SUM) return false;
    const struct sp_poly *from = reduce_poly(r, origin->args[1].poly), *to = reduce_poly(r, origin->args[2].poly);
    if (!from || !to || !sp_poly_is_constant(from, &first) || !sp_poly_is_constant(to, &last)) return false;
    if (first.den != 1 || last.den != 1 ||
        (last.num >= first.num && (uint64_t)last.num - (uint64_t)first.num > MAX_ITERATIONS))
        return false;
    *sum = sp_poly_int(&r->symbolic->algebra, 0);
    for (int64_t i = first.num; *sum && i <= last.num; i++) {
        const struct sp_poly *iteration = iteration_of_sum(r, origin, i);
        const bool spent = iteration && sp_sym_spend(r->symbolic, origin->operation.span, 1 + iteration->count);
        *sum = spent ? sp_poly_add(&r->symbolic->algebra, *sum, iteration) : NULL;
    }
    return true;
}

/* The final form of an atom that is computed from others: itself where its arguments stay as they are, else what the
 * operation gives for the new ones. A condition which says that a loop goes backwards is 0 with premises.assumes. NULL
 * when it has no value. */
static const struct sp_poly *computed(struct reducer *r, size_t atom, const struct sp_origin *origin)
{
    struct sp_symbolic *symbolic = r->symbolic;
    const struct sp_poly *self = sp_poly_atom(&symbolic->algebra, atom), *poly = self;
    const bool is_condition = symbolic->algebra.atoms[atom].is_condition;
    struct sp_sym *args, result;
    if (by_iterations(r, origin, &poly)) return poly;
    if (!reduce_list(r, origin->args, origin->count, &args)) return NULL;
    const bool same = same_args(origin->args, args, origin->count);
    if (!same || may_be_decided(&origin->operation)) {
        if (!sp_sym_operate(symbolic, &origin->operation, args, origin->count, &result)) return NULL;
        if (!(is_condition ? sp_sym_as_condition(symbolic, origin->operation.span, result, &poly)
                           : sp_sym_as_number(symbolic, origin->operation.span, result, &poly)))
            return NULL;
    }
    const size_t alone = sp_atom_alone(poly);
    if (symbolic->premises.assumes && alone != SIZE_MAX && sp_atom_info(symbolic, alone)->range &&
        sp_atom_assume(symbolic, alone))
        return sp_poly_int(&symbolic->algebra, 0);
    return poly;
}

/* The value of the atom, if it has one; else it is computed again, or is itself. */
static const struct sp_poly *find_final(struct reducer *r, size_t atom)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->atoms[i] == atom) return reduce_poly(r, r->values[i]);
    const struct sp_origin *origin = sp_atom_info(r->symbolic, atom)->origin;
    return origin ? computed(r, atom, origin) : sp_poly_atom(&r->symbolic->algebra, atom);
}

/* The final form of an atom, which is found once. NULL when it has no value. */
static const struct sp_poly *final_form(struct reducer *r, size_t atom)
{
    if (atom >= r->size) return sp_poly_atom(&r->symbolic->algebra, atom);
    if (r->states[atom] == STATE_DONE) return r->finals[atom];
    if (r->states[atom] != STATE_NEW || r->depth >= MAX_DEPTH) return NULL;
    r->states[atom] = STATE_BUSY;
    r->depth++;
    r->finals[atom] = find_final(r, atom);
    r->depth--;
    r->states[atom] = r->finals[atom] ? STATE_DONE : STATE_NONE;
    return r->finals[atom];
}

enum atom_sort { CONDITIONS, QUANTITIES };

/* Puts in the final forms of all atoms of one sort that are in the polynomial. One without a final form stays. */
static const struct sp_poly *put_finals(struct reducer *r, enum atom_sort sort, const struct sp_poly *poly)
{
    struct sp_algebra *algebra = &r->symbolic->algebra;
    size_t *atoms = sp_realloc(NULL, r->size, sizeof *atoms), count = 0;
    const struct sp_poly **finals = sp_realloc(NULL, r->size, sizeof *finals);
    char *seen = sp_realloc(NULL, r->size, 1);
    memset(seen, 0, r->size);
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count && !algebra->failed; k++) {
            const size_t atom = poly->terms[i].factors[k].atom;
            if (atom >= r->size || algebra->atoms[atom].is_condition != (sort == CONDITIONS) || seen[atom]) continue;
            seen[atom] = 1;
            const struct sp_poly *final = final_form(r, atom);
            if (!final || sp_atom_alone(final) == atom) continue;
            atoms[count] = atom;
            finals[count++] = final;
        }
    poly = sp_poly_substitute_all(algebra, poly, atoms, finals, count);
    sp_free(atoms);
    sp_free(finals);
    sp_free(seen);
    return poly;
}

/* Whether an atom is left that has no value, or was not put in. One that was multiplied by 0 is gone, and does not
 * matter.
 */
static bool has_no_value(struct reducer *r, const struct sp_poly *poly)
{
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++) {
            const size_t atom = poly->terms[i].factors[k].atom;
            const struct sp_poly *final = final_form(r, atom);
            if (!final || sp_atom_alone(final) != atom) return true;
        }
    return false;
}

static const struct sp_poly *reduce_poly(struct reducer *r, const struct sp_poly *poly)
{
    if (!poly) return NULL;
    poly = put_finals(r, CONDITIONS, poly);
    poly = put_finals(r, QUANTITIES, poly);
    return r->symbolic->algebra.failed || has_no_value(r, poly) ? NULL : poly;
}

/* ---- one reduction ---- */

static const struct sp_poly *reduce_once(struct sp_symbolic *symbolic, const struct sp_poly *poly, const size_t *atoms,
                                         const struct sp_poly *const *values, size_t count)
{
    struct reducer r = {.symbolic = symbolic, .atoms = atoms, .values = values, .count = count};
    r.size = symbolic->algebra.atom_count;
    r.finals = sp_realloc(NULL, r.size, sizeof *r.finals);
    r.states = sp_realloc(NULL, r.size, 1);
    memset(r.states, 0, r.size);
    poly = reduce_poly(&r, poly);
    sp_free(r.finals);
    sp_free(r.states);
    return poly;
}

/* reduce_once without messages: what goes wrong on the way is no mistake of the table. */
static const struct sp_poly *reduce_quietly(struct sp_symbolic *symbolic, const struct sp_poly *poly,
                                            const size_t *atoms, const struct sp_poly *const *values, size_t count)
{
    struct sp_text *messages = symbolic->report.messages, ignored = {0};
    const size_t mistakes = symbolic->report.mistakes;
    symbolic->report.messages = &ignored;
    poly = reduce_once(symbolic, poly, atoms, values, count);
    symbolic->report.messages = messages;
    symbolic->report.mistakes = mistakes;
    sp_text_free(&ignored);
    return poly;
}

const struct sp_poly *sp_sym_put(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t atom,
                                 const struct sp_poly *value)
{
    return reduce_quietly(symbolic, poly, &atom, &value, 1);
}

const struct sp_poly *sp_sym_compute_again(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    return reduce_quietly(symbolic, poly, NULL, NULL, 0);
}

static int exponent_in(const struct sp_term *term, size_t atom)
{
    for (size_t i = 0; i < term->count; i++)
        if (term->factors[i].atom == atom) return term->factors[i].exponent;
    return 0;
}

size_t sp_positive_atom(struct sp_symbolic *symbolic, size_t condition)
{
    const struct sp_origin *origin = sp_atom_info(symbolic, condition)->origin;
    if (!origin || origin->operation.kind != SP_DO_BINARY || origin->operation.op != SP_OP_LT) return SIZE_MAX;
    if (origin->args[0].kind != SP_SYM_NUMBER || origin->args[1].kind != SP_SYM_NUMBER) return SIZE_MAX;
    const size_t atom = sp_poly_is_zero(origin->args[0].poly) ? sp_atom_alone(origin->args[1].poly) : SIZE_MAX;
    if (atom == SIZE_MAX) return SIZE_MAX;
    const struct sp_atom_info *info = sp_atom_info(symbolic, atom);
    return info->is_bounded && info->least >= 0 ? atom : SIZE_MAX;
}

/* Whether an atom of the term is a condition 0 < x beside x, which decides nothing there: [0 < x]*x is x. */
static bool is_idle_atom(struct sp_symbolic *symbolic, const struct sp_term *term, size_t atom)
{
    const size_t positive = symbolic->algebra.atoms[atom].is_condition ? sp_positive_atom(symbolic, atom) : SIZE_MAX;
    return positive != SIZE_MAX && exponent_in(term, positive) > 0;
}

static bool has_idle(struct sp_symbolic *symbolic, const struct sp_term *term)
{
    for (size_t i = 0; i < term->count; i++)
        if (is_idle_atom(symbolic, term, term->factors[i].atom)) return true;
    return false;
}

/* The term without its idle conditions. */
static const struct sp_poly *tidy_term(struct sp_symbolic *symbolic, const struct sp_term *term)
{
    struct sp_factor *factors = sp_arena_array(&symbolic->algebra.arena, term->count, sizeof *factors);
    struct sp_term tidied = {term->coefficient, factors, 0};
    for (size_t i = 0; i < term->count; i++)
        if (!is_idle_atom(symbolic, term, term->factors[i].atom)) factors[tidied.count++] = term->factors[i];
    return sp_poly_scale(&symbolic->algebra, &(struct sp_poly){&tidied, 1}, sp_rational_int(1));
}

/* The polynomial without such conditions. */
static const struct sp_poly *tidy(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    bool found = false;
    for (size_t i = 0; i < poly->count && !found; i++) found = has_idle(symbolic, &poly->terms[i]);
    if (!found) return poly;
    const struct sp_poly **terms = sp_realloc(NULL, poly->count, sizeof *terms);
    for (size_t i = 0; i < poly->count; i++) terms[i] = tidy_term(symbolic, &poly->terms[i]);
    const struct sp_poly *sum = sp_poly_total(&symbolic->algebra, terms, poly->count);
    sp_free(terms);
    return sum;
}

/* Whether a loop of the table may go backwards, as far as one can see. */
static bool has_range(struct sp_symbolic *symbolic)
{
    for (size_t i = 0; i < symbolic->algebra.atom_count; i++)
        if (sp_atom_info(symbolic, i)->range) return true;
    return false;
}

/* Reduces the polynomial under the assumption that no loop goes backwards, until that decides no more conditions. What
 * was assumed is kept in premises.assumed. */
static const struct sp_poly *assume_ranges(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    symbolic->premises.assumes = true;
    for (int round = 0; poly && round < MAX_ROUNDS; round++) {
        const struct sp_poly *before = poly;
        poly = reduce_quietly(symbolic, poly, NULL, NULL, 0);
        if (poly && sp_poly_equal(poly, before)) break;
    }
    symbolic->premises.assumes = false;
    return poly;
}

/* Whether the polynomial still depends on an item that its list does not have. */
static bool has_void(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    bool found = false;
    char *seen = sp_realloc(NULL, symbolic->algebra.atom_count, 1);
    memset(seen, 0, symbolic->algebra.atom_count);
    sp_poly_reach(symbolic, poly, seen);
    for (size_t i = 0; i < symbolic->algebra.atom_count && !found; i++)
        found = seen[i] && sp_atom_info(symbolic, i)->is_void;
    sp_free(seen);
    return found;
}

/* Puts in the values, assumes what they allow to be assumed, and tidies the result up. */
const struct sp_poly *sp_reduce(struct sp_count *count, const struct sp_poly *poly, const struct sp_values *values)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    symbolic->premises.sizes = symbolic->premises.voids = true;
    symbolic->premises.counts = count->counts_may_be_0;
    symbolic->steps = 0;
    poly = reduce_quietly(symbolic, poly, values->atoms, values->values, values->count);
    if (values->assume && has_range(symbolic)) poly = assume_ranges(symbolic, poly);
    symbolic->premises.sizes = symbolic->premises.voids = symbolic->premises.counts = false;
    poly = poly && !has_void(symbolic, poly) ? tidy(symbolic, poly) : NULL;
    return symbolic->algebra.failed ? NULL : poly;
}

/* ---- defaults ---- */

static bool has_value(const struct sp_values *values, size_t atom)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->atoms[i] == atom) return true;
    return false;
}

/* Whether absent(key) is true by default: not of a hyper-parameter on which the total depends, since formulas take it
 * for given; but of any other, and of an object, of which the members are the hyper-parameters. */
static bool is_usually_absent(struct sp_count *count, const char *key)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    bool is_spoken_of = false;
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        if (symbol->unset_key || !sp_path_within(symbol->key, key)) continue;
        if (strcmp(symbol->key, key) != 0) return true;
        is_spoken_of = is_spoken_of || sp_poly_involves(symbolic, count->total, symbol->atom);
    }
    return !is_spoken_of;
}

void sp_values_add_defaults(struct sp_count *count, struct sp_values *values, enum sp_defaults which)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        struct sp_rational number;
        const struct sp_poly *value = symbol->fallback;
        if (!value || symbol->is_ambiguous || has_value(values, symbol->atom)) continue;
        if (which == SP_DEFAULTS_OF_CONDITIONS && !symbolic->algebra.atoms[symbol->atom].is_condition) continue;
        if (sp_poly_is_constant(value, &number) && number.den != 1) continue; /* computed in floating point */
        if (symbol->unset_key && strncmp(symbol->key, "absent(", 7) == 0)
            value = sp_poly_int(&symbolic->algebra, is_usually_absent(count, symbol->unset_key));
        sp_values_add(values, symbol->atom, value);
    }
}

void sp_values_add_fractions(struct sp_count *count, struct sp_values *values)
{
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
        struct sp_rational number;
        if (!symbol->fallback || symbol->is_ambiguous || has_value(values, symbol->atom)) continue;
        if (sp_poly_is_constant(symbol->fallback, &number) && number.den != 1)
            sp_values_add(values, symbol->atom, symbol->fallback);
    }
}

bool sp_holds_by_default(struct sp_count *count, size_t condition)
{
    struct sp_values defaults = {0};
    struct sp_rational value;
    sp_values_add_defaults(count, &defaults, SP_DEFAULTS_OF_ALL);
    const struct sp_poly *truth = sp_reduce(count, sp_poly_atom(&count->symbolic.algebra, condition), &defaults);
    sp_values_free(&defaults);
    return truth && sp_poly_is_constant(truth, &value) && value.num != 0;
}

const struct sp_symbol_info *sp_symbol_of(const struct sp_count *count, size_t atom)
{
    for (size_t i = 0; i < count->symbolic.symbols.count; i++)
        if (count->symbolic.symbols.items[i].atom == atom) return &count->symbolic.symbols.items[i];
    return NULL;
}

bool sp_is_transparent(const struct sp_count *count, const struct sp_poly *poly)
{
    if (!poly) return false;
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++) {
            const struct sp_symbol_info *symbol = sp_symbol_of(count, poly->terms[i].factors[k].atom);
            if (!symbol || symbol->is_computed) return false;
        }
    return true;
}
