/* SPDX-License-Identifier: MIT
 * Cases of a formula. In the usual case every condition is as the defaults of the table make it. A case differs from it
 * in the conditions that its `overrides` give a value. Example: a model with biases and a tied head by default, whose
 * blocks have a gate where n > 2.
 *
 *     total(usual)             12*E^2*N + 13*E*N + V*E
 *     change 'tied': false     gain V*E      sp_case_changes finds it: it changes the total when it changes alone
 *     change 'bias': false     gain -9*E*N   likewise
 *     n > 2                    no gain alone, but the gain of 'bias' is -10*E*N where it holds: sp_case_deciding
 *                              lists n > 2 for the change 'bias' */
#include "prove/cases.h"

#include <string.h>

#include "lang/eval.h"
#include "prove/symbolic/atoms.h"

/* ---- one case ---- */

/* The value that the atom has among `values` (or NULL). False, and *value as it was, for none. */
static bool value_in(const struct sp_values *values, size_t atom, const struct sp_poly **value)
{
    for (size_t i = 0; values && i < values->count; i++)
        if (values->atoms[i] == atom) {
            *value = values->values[i];
            return true;
        }
    return false;
}

/* For a case in which an object is given, absent(OBJECT) being 0: its members that count something and are 0 by default
 * are 1. There is one of each thing then, although there are none without the object. */
static void add_members(struct sp_count *count, struct sp_values *values, size_t absent)
{
    const struct sp_symbol_info *object = sp_symbol_of(count, absent);
    for (size_t i = 0; object && object->unset_key && i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *member = &count->symbolic.symbols.items[i];
        if (!member->fallback || !sp_poly_is_zero(member->fallback) || member->unset_key) continue;
        if (count->symbolic.algebra.atoms[member->atom].is_condition) continue;
        if (sp_path_within(member->key, object->unset_key) && !strchr(member->key + strlen(object->unset_key) + 1, '.'))
            sp_values_add(values, member->atom, sp_poly_int(&count->symbolic.algebra, 1));
    }
}

/* A polynomial with the overridden conditions (or NULL) and, for all else, the defaults put in. NULL for no value. */
static const struct sp_poly *by_default(struct sp_count *count, const struct sp_poly *poly,
                                        const struct sp_values *overrides)
{
    struct sp_values values = {.assume = true};
    for (size_t i = 0; overrides && i < overrides->count; i++) {
        sp_values_add(&values, overrides->atoms[i], overrides->values[i]);
        if (sp_poly_is_zero(overrides->values[i])) add_members(count, &values, overrides->atoms[i]);
    }
    sp_values_add_defaults(count, &values, SP_DEFAULTS_OF_ALL);
    sp_values_add_fractions(count, &values);
    const struct sp_poly *reduced = sp_reduce(count, poly, &values);
    sp_values_free(&values);
    return reduced;
}

/* ---- comparisons of one quantity ---- */

/* All comparisons of one quantity q, a polynomial with whole values, with constants. Each holds above a number, its
 * threshold, or below it, or at it. The thresholds and the numbers next to them stand for every value of q, since
 * between them no comparison changes:
 *
 *     q < 2, 2 < q, q < 3       thresholds 2, 2, 3       candidates 1, 2, 3, 4
 *
 * A case makes some comparisons true or false. It is possible, q <= 2 and q >= 3 is not, when a candidate is left. */
enum { MOST_THRESHOLDS = 64 };

/* One comparison. */
struct threshold {
    size_t condition; /* its atom */
    struct sp_rational at;
    bool equality; /* it holds where q is `at`; else only where q is more or less */
    bool above;    /* where it is no equality: it holds where q > at; else where q < at */
};

struct candidate {
    int64_t value;
    bool is_out; /* what is known of the conditions excludes it */
};

struct quantity {
    struct threshold thresholds[MOST_THRESHOLDS];
    struct candidate candidates[3 * MOST_THRESHOLDS];
    size_t count, candidate_count;
};

static bool threshold_holds(const struct threshold *threshold, struct sp_rational value)
{
    const int order = sp_rational_compare(value, threshold->at);
    if (threshold->equality) return order == 0;
    return threshold->above ? order > 0 : order < 0;
}

static bool have_same_factors(const struct sp_term *a, const struct sp_term *b)
{
    if (a->count != b->count) return false;
    for (size_t f = 0; f < a->count; f++)
        if (a->factors[f].atom != b->factors[f].atom || a->factors[f].exponent != b->factors[f].exponent) return false;
    return true;
}

/* Whether a = factor*b + offset, with constants for both: the terms of a and b, which have one order, are the same but
 * for their coefficients, all in one ratio. 2*n + 3 and n + 1 have the factor 2 and the offset 1. False on overflow,
 * too; the results mean nothing then. */
static bool is_multiple_of(const struct sp_poly *a, const struct sp_poly *b, struct sp_rational *factor,
                           struct sp_rational *offset)
{
    struct sp_rational constant_of_a = sp_rational_int(0), constant_of_b = sp_rational_int(0), ratio, part;
    size_t i = 0, k = 0, matched = 0;
    while (i < a->count || k < b->count) {
        const struct sp_term *one = i < a->count ? &a->terms[i] : NULL, *other = k < b->count ? &b->terms[k] : NULL;
        if (one && !one->count) constant_of_a = one->coefficient, i++;
        else if (other && !other->count) constant_of_b = other->coefficient, k++;
        else {
            if (!one || !other || !have_same_factors(one, other)) return false;
            if (!sp_rational_div(one->coefficient, other->coefficient, &ratio)) return false;
            if (matched && sp_rational_compare(ratio, *factor) != 0) return false;
            *factor = ratio;
            matched++, i++, k++;
        }
    }
    return matched && sp_rational_mul(*factor, constant_of_b, &part) && sp_rational_sub(constant_of_a, part, offset);
}

/* The quantity that a comparison is about: its gap without the constant, divided by the common factor of what is left,
 * and with a positive first term. Of 6 - 2*n it is n, and so of n - 7. NULL when the quantity may be a fraction. */
static const struct sp_poly *quantity_of_gap(struct sp_symbolic *symbolic, const struct sp_poly *gap)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational common = sp_rational_int(0), share;
    const struct sp_poly *sum = gap;
    int sign = 0;
    for (size_t i = 0; i < gap->count; i++) {
        const struct sp_term *term = &gap->terms[i];
        if (!term->count) sum = sp_poly_sub(algebra, gap, sp_poly_rational(algebra, term->coefficient));
        else if (!sp_rational_gcd(common, term->coefficient, &common)) return NULL;
        if (term->count && !sign) sign = term->coefficient.num < 0 ? -1 : 1;
        for (size_t f = 0; f < term->count; f++)
            if (term->factors[f].exponent < 1 || !(algebra->atoms[term->factors[f].atom].is_condition ||
                                                   sp_atom_info(symbolic, term->factors[f].atom)->is_whole))
                return NULL;
    }
    return sp_rational_div(sp_rational_int(sign), common, &share) ? sp_poly_scale(algebra, sum, share) : NULL;
}

/* Adds a comparison and its candidates. One that is too far from 0, or too many, is left out. */
static void add_threshold(struct quantity *quantity, struct threshold threshold)
{
    enum { FARTHEST = 1 << 30 };
    const int64_t down = threshold.at.num / threshold.at.den - (threshold.at.num % threshold.at.den < 0);
    if (quantity->count == MOST_THRESHOLDS || down > FARTHEST || down < -FARTHEST) return;
    quantity->thresholds[quantity->count++] = threshold;
    for (int64_t value = down - 1; value <= down + 1; value++)
        quantity->candidates[quantity->candidate_count++] = (struct candidate){.value = value};
}

/* Collects all comparisons of the quantity that `condition` is about, itself among them. A comparison with the gap
 * slope*q + offset changes where the gap is 0, at q = -offset/slope. False when the condition is no comparison, or the
 * only one of its quantity. */
static bool find_quantity(struct sp_count *count, size_t condition, struct quantity *quantity)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    const struct sp_poly *gap, *other;
    struct threshold threshold;
    quantity->count = quantity->candidate_count = 0;
    if (!sp_atom_comparison(symbolic, condition, &gap, &threshold.equality) || symbolic->algebra.failed) return false;
    const struct sp_poly *asked = quantity_of_gap(symbolic, gap);
    const size_t atoms = symbolic->algebra.atom_count;
    for (threshold.condition = 0; asked && threshold.condition < atoms; threshold.condition++) {
        struct sp_rational slope, offset;
        if (!sp_atom_comparison(symbolic, threshold.condition, &other, &threshold.equality)) continue;
        if (!is_multiple_of(other, asked, &slope, &offset)) continue;
        if (!sp_rational_div(offset, slope, &threshold.at)) continue;
        threshold.at.num = -threshold.at.num;
        threshold.above = slope.num > 0;
        add_threshold(quantity, threshold);
    }
    return quantity->count > 1;
}

/* Excludes the candidates at which the comparison has not the truth `holds`. */
static void exclude_candidates(struct quantity *quantity, const struct threshold *threshold, bool holds)
{
    for (size_t i = 0; i < quantity->candidate_count; i++)
        if (threshold_holds(threshold, sp_rational_int(quantity->candidates[i].value)) != holds)
            quantity->candidates[i].is_out = true;
}

static bool is_possible(const struct quantity *quantity)
{
    for (size_t i = 0; i < quantity->candidate_count; i++)
        if (!quantity->candidates[i].is_out) return true;
    return false;
}

/* Whether the formulas take for granted that the condition does not hold: a loop would go backwards. */
static bool is_excluded_by_range(struct sp_symbolic *symbolic, size_t condition)
{
    const char *range = sp_atom_info(symbolic, condition)->range;
    for (size_t i = 0; range && i < symbolic->premises.count; i++)
        if (strcmp(symbolic->premises.assumed[i], range) == 0) return true;
    return false;
}

/* Excludes the candidates at which a loop would go backwards. */
static void exclude_by_range(struct sp_count *count, struct quantity *quantity)
{
    for (size_t i = 0; i < quantity->count; i++)
        if (is_excluded_by_range(&count->symbolic, quantity->thresholds[i].condition))
            exclude_candidates(quantity, &quantity->thresholds[i], false);
}

/* Excludes the candidates that contradict the overridden conditions. Returns whether any of these is about the
 * quantity.
 */
static bool exclude_by_case(struct quantity *quantity, const struct sp_values *overrides)
{
    bool any = false;
    for (size_t i = 0; i < quantity->count; i++) {
        const struct sp_poly *value;
        if (!value_in(overrides, quantity->thresholds[i].condition, &value)) continue;
        exclude_candidates(quantity, &quantity->thresholds[i], !sp_poly_is_zero(value));
        any = true;
    }
    return any;
}

/* The value that the quantity has in the usual case: the first possible candidate at which no comparison holds but
 * overridden ones, *none_holds being true then; else the largest possible candidate. NULL when none is possible. */
static const struct candidate *usual_candidate(const struct quantity *quantity, const struct sp_values *overrides,
                                               bool *none_holds)
{
    const struct candidate *largest = NULL;
    *none_holds = true;
    for (size_t i = 0; i < quantity->candidate_count; i++) {
        const struct candidate *candidate = &quantity->candidates[i];
        const struct sp_poly *value;
        if (candidate->is_out) continue;
        size_t k = 0;
        while (k < quantity->count && (value_in(overrides, quantity->thresholds[k].condition, &value) ||
                                       !threshold_holds(&quantity->thresholds[k], sp_rational_int(candidate->value))))
            k++;
        if (k == quantity->count) return candidate;
        if (!largest || candidate->value > largest->value) largest = candidate;
    }
    *none_holds = false;
    return largest;
}

static const struct threshold *threshold_of_condition(const struct quantity *quantity, size_t condition)
{
    size_t i = 0;
    while (i < quantity->count && quantity->thresholds[i].condition != condition) i++;
    return i < quantity->count ? &quantity->thresholds[i] : NULL;
}

static bool asks_same_quantity(struct sp_count *count, size_t condition, size_t other)
{
    struct quantity quantity;
    return find_quantity(count, condition, &quantity) && threshold_of_condition(&quantity, other);
}

/* Excludes the candidates that contradict the comparisons which the defaults decide, one after the other, unless that
 * would leave none. */
static void exclude_by_default(struct sp_count *count, struct quantity *quantity, const struct sp_values *overrides)
{
    for (size_t i = 0; i < quantity->count; i++) {
        struct quantity rest = *quantity;
        struct sp_rational truth;
        const struct sp_poly *atom = sp_poly_atom(&count->symbolic.algebra, quantity->thresholds[i].condition);
        const struct sp_poly *value = by_default(count, atom, overrides);
        if (!value || !sp_poly_is_constant(value, &truth)) continue;
        exclude_candidates(&rest, &quantity->thresholds[i], truth.num != 0);
        if (is_possible(&rest)) *quantity = rest;
    }
}

/* Whether a comparison holds at the usual value of its quantity. Where the defaults decide the comparison
 * (`is_decided`), or some comparison has to hold, the values that contradict the defaults are excluded first. */
static bool holds_among(struct sp_count *count, struct quantity *quantity, const struct threshold *threshold,
                        bool is_decided, const struct sp_values *overrides)
{
    bool none_holds;
    const struct candidate *candidate = usual_candidate(quantity, overrides, &none_holds);
    if (is_decided || !none_holds) {
        exclude_by_default(count, quantity, overrides);
        candidate = usual_candidate(quantity, overrides, &none_holds);
    }
    return candidate && threshold_holds(threshold, sp_rational_int(candidate->value));
}

/* Replaces the value by the possible candidate next to it, the larger one of two. False when none is possible. */
static bool nearest_candidate(const struct quantity *quantity, struct sp_rational *value)
{
    const struct candidate *nearest = NULL;
    struct sp_rational least = {0, 1}, distance;
    for (size_t i = 0; i < quantity->candidate_count; i++) {
        const struct candidate *candidate = &quantity->candidates[i];
        if (candidate->is_out || !sp_rational_sub(sp_rational_int(candidate->value), *value, &distance)) continue;
        if (distance.num < 0) distance.num = -distance.num;
        const int order = nearest ? sp_rational_compare(distance, least) : -1;
        if (order > 0 || (order == 0 && candidate->value < nearest->value)) continue;
        nearest = candidate;
        least = distance;
    }
    if (nearest) *value = sp_rational_int(nearest->value);
    return nearest != NULL;
}

/* The value of the quantity by default: (gap - offset)/slope of any of its comparisons, whose gap is slope*q + offset.
 * Where it contradicts the overridden conditions, the possible candidate next to it. False when the quantity has no
 * value by default, or no candidate is possible. */
static bool default_of_quantity(struct sp_count *count, const struct quantity *quantity,
                                const struct threshold *threshold, const struct sp_values *overrides,
                                struct sp_rational *value)
{
    const struct sp_poly *gap;
    struct sp_rational gap_by_default, slope, offset;
    bool equality;
    sp_atom_comparison(&count->symbolic, threshold->condition, &gap, &equality);
    const struct sp_poly *now = by_default(count, gap, overrides), *asked = quantity_of_gap(&count->symbolic, gap);
    if (!now || !sp_poly_is_constant(now, &gap_by_default) || !asked || !is_multiple_of(gap, asked, &slope, &offset))
        return false;
    if (!sp_rational_sub(gap_by_default, offset, value) || !sp_rational_div(*value, slope, value)) return false;
    bool allowed = true;
    for (size_t i = 0; i < quantity->count; i++) {
        const struct sp_poly *truth;
        if (value_in(overrides, quantity->thresholds[i].condition, &truth))
            allowed = allowed && threshold_holds(&quantity->thresholds[i], *value) == !sp_poly_is_zero(truth);
    }
    return allowed || nearest_candidate(quantity, value);
}

/* Whether a case can occur: its conditions contradict neither each other nor what the formulas take for granted. */
static bool is_possible_case(struct sp_count *count, const struct sp_values *overrides)
{
    struct quantity quantity;
    for (size_t i = 0; i < overrides->count; i++) {
        if (!find_quantity(count, overrides->atoms[i], &quantity)) continue;
        exclude_by_range(count, &quantity);
        exclude_by_case(&quantity, overrides);
        if (!is_possible(&quantity)) return false;
    }
    return true;
}

/* The truth of a condition in the case:
 *
 *     one that is overridden                 as the case says
 *     one that the defaults leave open       false
 *     any other                              as the defaults make it
 *
 * A comparison must agree with the others of its quantity. If the case says something of the quantity, or the defaults
 * leave the comparison open, it is decided at one value of the quantity which the case allows: the default, or the
 * candidate next to it; without a default the usual value. */
static bool holds_in_case(struct sp_count *count, size_t condition, const struct sp_values *overrides)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct quantity quantity;
    struct sp_rational truth;
    const struct sp_poly *value;
    const bool is_overridden = value_in(overrides, condition, &value);
    if (!is_overridden) value = by_default(count, sp_poly_atom(algebra, condition), overrides);
    const bool is_decided = value && sp_poly_is_constant(value, &truth), holds = is_decided && truth.num != 0;
    if (is_overridden || !find_quantity(count, condition, &quantity)) return holds;
    const struct threshold *threshold = threshold_of_condition(&quantity, condition);
    const bool narrowed = exclude_by_case(&quantity, overrides);
    if (!threshold || (is_decided && !narrowed) || !is_possible(&quantity)) return holds;
    if (is_decided && default_of_quantity(count, &quantity, threshold, overrides, &truth))
        return threshold_holds(threshold, truth);
    return holds_among(count, &quantity, threshold, is_decided, overrides);
}

/* The truth of every condition in the case. A condition is free (a hyper-parameter itself, such as `tied`) or computed
 * (such as n > 2). Computed ones are included only if `poly` (or NULL: none) uses them or the case overrides them:
 * which of them a formula uses is known only once the free ones have a value. Hence sp_case_usual calls this twice. */
static struct sp_values usual_values(struct sp_count *count, const struct sp_poly *poly,
                                     const struct sp_values *overrides)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_values values = {.assume = true};
    const size_t atoms = algebra->atom_count;
    for (size_t atom = 0; atom < atoms; atom++) {
        const struct sp_poly *value;
        const bool is_overridden = value_in(overrides, atom, &value), is_free = sp_symbol_of(count, atom) != NULL;
        if (!algebra->atoms[atom].is_condition) continue;
        if (!is_free && !(poly && (is_overridden || sp_poly_uses(poly, atom)))) continue;
        sp_values_add(&values, atom,
                      is_overridden ? value : sp_poly_int(algebra, holds_in_case(count, atom, overrides)));
    }
    return values;
}

/* The polynomial in the case: see usual_values for `computed`. NULL when it has no value. */
static const struct sp_poly *in_case(struct sp_count *count, const struct sp_poly *poly, const struct sp_poly *computed,
                                     const struct sp_values *overrides)
{
    struct sp_values values = usual_values(count, computed, overrides);
    const struct sp_poly *reduced = sp_reduce(count, poly, &values);
    sp_values_free(&values);
    return reduced;
}

const struct sp_poly *sp_case_usual(struct sp_count *count, const struct sp_poly *poly,
                                    const struct sp_values *overrides)
{
    const struct sp_poly *without_free = in_case(count, poly, NULL, overrides);
    return without_free ? in_case(count, without_free, without_free, overrides) : NULL;
}

const struct sp_poly *sp_case_general(struct sp_count *count, const struct sp_poly *poly)
{
    const struct sp_values none = {.assume = true};
    return sp_reduce(count, poly, &none);
}

/* ---- changes ---- */

static void add_change(struct sp_count *count, struct sp_values *overrides, const struct sp_case_change *change)
{
    sp_values_add(overrides, change->condition, sp_poly_int(&count->symbolic.algebra, change->holds));
}

/* The conditions of a change, and the others that are `held` (or NULL). Free them. */
static struct sp_values values_of_change(struct sp_count *count, const struct sp_case_change *change,
                                         const struct sp_values *held)
{
    struct sp_values overrides = {0};
    for (size_t i = 0; held && i < held->count; i++) sp_values_add(&overrides, held->atoms[i], held->values[i]);
    add_change(count, &overrides, change);
    return overrides;
}

/* total(after the change) - total(before it), both with the other conditions as `held` (or NULL) says. Where `held`
 * contradicts the state before the change, it is applied only after it: with n < 2 held, n < 3 cannot be false. NULL
 * when one of the two totals has no value. */
static const struct sp_poly *gain_of_case(struct sp_count *count, const struct sp_poly *total,
                                          const struct sp_case_change *change, const struct sp_values *held)
{
    const struct sp_poly *cases[2];
    for (int after = 0; after < 2; after++) {
        const struct sp_case_change now = {.condition = change->condition, .holds = change->holds == after};
        struct sp_values overrides = values_of_change(count, &now, held);
        if (!after && held && !is_possible_case(count, &overrides)) {
            sp_values_free(&overrides);
            overrides = values_of_change(count, &now, NULL);
        }
        cases[after] = sp_case_usual(count, total, &overrides);
        sp_values_free(&overrides);
    }
    const struct sp_poly *gain =
        cases[0] && cases[1] ? sp_poly_sub(&count->symbolic.algebra, cases[1], cases[0]) : NULL;
    return count->symbolic.algebra.failed ? NULL : gain;
}

/* Whether the change can happen while other conditions are as `held` says: no two of them contradict each other. */
static bool is_possible_change(struct sp_count *count, const struct sp_case_change *change,
                               const struct sp_values *held)
{
    struct sp_values overrides = values_of_change(count, change, held);
    const bool possible = is_possible_case(count, &overrides);
    sp_values_free(&overrides);
    return possible;
}

/* Undoes the other changes that this one brings about. When the default of one flag is another flag, setting the one
 * changes both; what the other gains is reported for the other, so that it counts once. Comparisons of the same
 * quantity stay as the change makes them: where n < 2, n < 4 holds too. Free the result. */
static struct sp_values without_others(struct sp_count *count, const struct sp_changes *changes, size_t which)
{
    struct sp_values held = {0};
    for (size_t i = 0; i < changes->count; i++) {
        const struct sp_case_change *other = &changes->items[i];
        if (i == which || sp_case_holds(count, other->condition, &changes->items[which]) != other->holds) continue;
        if (asks_same_quantity(count, changes->items[which].condition, other->condition)) continue;
        sp_values_add(&held, other->condition, sp_poly_int(&count->symbolic.algebra, !other->holds));
    }
    return held;
}

/* Whether the atom is a condition that could change the total. `reduced`: the total with all free conditions as usual;
 * a computed condition has to be in it, since one that is not needs another change first. */
static bool may_change_case(struct sp_count *count, const struct sp_poly *total, const struct sp_poly *reduced,
                            size_t atom)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    if (!symbolic->algebra.atoms[atom].is_condition || sp_atom_info(symbolic, atom)->depends) return false;
    return sp_symbol_of(count, atom) ? sp_poly_involves(symbolic, total, atom) : sp_poly_uses(reduced, atom);
}

/* Tries each condition with the value that it does not have in the usual case, and lists it when the total changes.
 * Such a change may bring about others: once the list is known, each gain is computed again with the other conditions
 * of the list held as they are, so that each difference counts once. */
struct sp_changes sp_case_changes(struct sp_count *count, const struct sp_poly *total)
{
    struct sp_changes changes = {0};
    const struct sp_poly *reduced = in_case(count, total, NULL, NULL);
    const size_t atoms = count->symbolic.algebra.atom_count;
    for (size_t atom = 0; reduced && atom < atoms; atom++) {
        struct sp_case_change change = {.condition = atom};
        if (!may_change_case(count, total, reduced, atom)) continue;
        change.holds = !holds_in_case(count, atom, NULL);
        if (!is_possible_change(count, &change, NULL)) continue;
        change.gain = gain_of_case(count, total, &change, NULL);
        if (!change.gain || sp_poly_is_zero(change.gain)) continue;
        SP_GROW(changes.items, changes.count, changes.capacity);
        changes.items[changes.count++] = change;
    }
    for (size_t i = 0; i < changes.count; i++) {
        struct sp_values held = without_others(count, &changes, i);
        if (held.count) changes.items[i].gain = gain_of_case(count, total, &changes.items[i], &held);
        sp_values_free(&held);
    }
    return changes;
}

bool sp_case_holds(struct sp_count *count, size_t condition, const struct sp_case_change *change)
{
    struct sp_values overrides = {0};
    if (change) add_change(count, &overrides, change);
    const bool truth = holds_in_case(count, condition, &overrides);
    sp_values_free(&overrides);
    return truth;
}

/* Whether the condition is one of the changes. */
static bool is_changed(const struct sp_changes *changes, size_t condition)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].condition == condition) return true;
    return false;
}

/* Comparisons that `poly` (or NULL) speaks of. */
static struct sp_conditions comparisons(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    const size_t atoms = symbolic->algebra.atom_count;
    struct sp_conditions found = {0};
    const struct sp_poly *gap;
    bool equality;
    for (size_t atom = 0; poly && atom < atoms; atom++) {
        if (!sp_poly_uses(poly, atom) || !sp_atom_comparison(symbolic, atom, &gap, &equality)) continue;
        SP_GROW(found.items, found.count, found.capacity);
        found.items[found.count++] = atom;
    }
    return found;
}

/* The comparisons of the usual case, less those that are changes themselves. */
struct sp_conditions sp_case_open(struct sp_count *count, const struct sp_poly *total, const struct sp_changes *changes)
{
    struct sp_conditions found = comparisons(&count->symbolic, in_case(count, total, NULL, NULL));
    const size_t candidates = found.count;
    found.count = 0;
    for (size_t i = 0; i < candidates; i++)
        if (!is_changed(changes, found.items[i])) found.items[found.count++] = found.items[i];
    return found;
}

/* Whether conditions->items[which] follows from the change (or NULL) and the other conditions: with the opposite value
 * the case would be impossible. */
static bool is_implied(struct sp_count *count, const struct sp_case_change *change,
                       const struct sp_conditions *conditions, size_t which)
{
    struct sp_values overrides = {0};
    if (change) add_change(count, &overrides, change);
    for (size_t i = 0; i < conditions->count; i++) {
        const bool holds = sp_case_holds(count, conditions->items[i], change);
        add_change(count, &overrides,
                   &(struct sp_case_change){.condition = conditions->items[i], .holds = i == which ? !holds : holds});
    }
    const bool implied = !is_possible_case(count, &overrides);
    sp_values_free(&overrides);
    return implied;
}

/* Whether the condition has the value `holds` in every point of the case. */
static bool case_makes(struct sp_count *count, const struct sp_values *overrides, size_t condition, bool holds)
{
    const struct sp_poly *value;
    if (value_in(overrides, condition, &value)) return sp_poly_is_zero(value) != holds;
    struct sp_values inverted = {0};
    for (size_t i = 0; i < overrides->count; i++) sp_values_add(&inverted, overrides->atoms[i], overrides->values[i]);
    sp_values_add(&inverted, condition, sp_poly_int(&count->symbolic.algebra, !holds));
    const bool makes = !is_possible_case(count, &inverted);
    sp_values_free(&inverted);
    return makes;
}

/* The case of a change: its condition, and the others with the value that they have once it is made. Free the result.
 */
static struct sp_values values_of_case(struct sp_count *count, const struct sp_case_change *change,
                                       const struct sp_conditions *others)
{
    struct sp_values overrides = {0};
    add_change(count, &overrides, change);
    for (size_t i = 0; i < others->count; i++) {
        const bool holds = sp_case_holds(count, others->items[i], change);
        add_change(count, &overrides, &(struct sp_case_change){.condition = others->items[i], .holds = holds});
    }
    return overrides;
}

bool sp_case_is_within(struct sp_count *count, const struct sp_case_change *a, const struct sp_conditions *with_a,
                       const struct sp_case_change *b, const struct sp_conditions *with_b)
{
    struct sp_values left = values_of_case(count, a, with_a), right = values_of_case(count, b, with_b);
    bool within = true;
    for (size_t i = 0; i < right.count && within; i++)
        within = case_makes(count, &left, right.atoms[i], !sp_poly_is_zero(right.values[i]));
    sp_values_free(&left);
    sp_values_free(&right);
    return within;
}

/* Removes while it tests, so that of two conditions that imply each other one stays. */
void sp_case_drop_implied(struct sp_count *count, const struct sp_case_change *change, struct sp_conditions *conditions)
{
    for (size_t i = 0; i < conditions->count;) {
        if (!is_implied(count, change, conditions, i)) i++;
        else memmove(conditions->items + i, conditions->items + i + 1, (--conditions->count - i) * sizeof(size_t));
    }
}

/* The change of a condition to the value that it does not have in the usual case. */
static struct sp_case_change inverted_condition(struct sp_count *count, size_t condition)
{
    return (struct sp_case_change){.condition = condition, .holds = !holds_in_case(count, condition, NULL)};
}

/* Tries every pair: `which` changed while one other is changed already. A gain that has no value counts as one. */
bool sp_case_is_needed(struct sp_count *count, const struct sp_poly *total, const struct sp_conditions *open,
                       size_t which)
{
    const struct sp_case_change change = inverted_condition(count, open->items[which]);
    for (size_t i = 0; i < open->count; i++) {
        if (i == which) continue;
        const struct sp_case_change other = inverted_condition(count, open->items[i]);
        struct sp_values held = {0};
        add_change(count, &held, &other);
        const bool possible = is_possible_change(count, &change, &held);
        const struct sp_poly *gain = possible ? gain_of_case(count, total, &change, &held) : NULL;
        sp_values_free(&held);
        if (possible && (!gain || !sp_poly_is_zero(gain))) return true;
    }
    return false;
}

/* The gain of the change while one condition has the opposite of the value that the change gives it. False when the two
 * exclude each other. *gain is NULL when the total has no value there. `undone`: see without_others. */
static bool gain_without(struct sp_count *count, const struct sp_poly *total, const struct sp_case_change *change,
                         const struct sp_values *undone, size_t condition, const struct sp_poly **gain)
{
    const struct sp_case_change opposite = {.condition = condition, .holds = !sp_case_holds(count, condition, change)};
    struct sp_values held = values_of_change(count, &opposite, undone);
    const bool possible = is_possible_change(count, change, &held);
    *gain = possible ? gain_of_case(count, total, change, &held) : NULL;
    sp_values_free(&held);
    return possible;
}

/* The comparisons that the total uses after the change. Free the items. */
static struct sp_conditions comparisons_after(struct sp_count *count, const struct sp_poly *total,
                                              const struct sp_case_change *change)
{
    struct sp_values overrides = {0};
    add_change(count, &overrides, change);
    const struct sp_conditions found = comparisons(&count->symbolic, in_case(count, total, NULL, &overrides));
    sp_values_free(&overrides);
    return found;
}

/* Keeps of the comparisons those that decide what the change gains: with the opposite value the gain is another one, or
 * has no value. One that is a change of the list itself is reported there, unless it compares the same quantity. */
static void keep_deciding(struct sp_count *count, const struct sp_poly *total, const struct sp_changes *changes,
                          size_t which, const struct sp_values *undone, struct sp_conditions *comparisons)
{
    const struct sp_case_change *change = &changes->items[which];
    size_t kept = 0;
    for (size_t i = 0; i < comparisons->count; i++) {
        const size_t candidate = comparisons->items[i];
        const struct sp_poly *gain;
        if (candidate == change->condition) continue;
        if (is_changed(changes, candidate) && !asks_same_quantity(count, change->condition, candidate)) continue;
        if (!gain_without(count, total, change, undone, candidate, &gain)) continue;
        if (!gain || !sp_poly_equal(gain, change->gain)) comparisons->items[kept++] = candidate;
    }
    comparisons->count = kept;
}

/* Adds the flags of the list without which the change, a comparison, gains nothing: n > 2 gains only with 'gated'. */
static void add_flags_deciding(struct sp_count *count, const struct sp_poly *total, const struct sp_changes *changes,
                               size_t which, const struct sp_values *undone, struct sp_conditions *found)
{
    const struct sp_poly *gap, *gain;
    bool equality;
    if (!sp_atom_comparison(&count->symbolic, changes->items[which].condition, &gap, &equality)) return;
    for (size_t i = 0; i < changes->count; i++) {
        const size_t candidate = changes->items[i].condition;
        if (i == which || !sp_symbol_of(count, candidate)) continue;
        gain_without(count, total, &changes->items[which], undone, candidate, &gain);
        if (gain && sp_poly_is_zero(gain)) *SP_PUSH(found) = candidate;
    }
}

/* Adds the absences of keys without which the change, the absence of another key, gains nothing: that dense_act_fn is
 * given changes T5 only if transformers_version is not given. */
static void add_absences_deciding(struct sp_count *count, const struct sp_poly *total, const struct sp_changes *changes,
                                  size_t which, const struct sp_values *undone, struct sp_conditions *found)
{
    const struct sp_symbol_info *symbol = sp_symbol_of(count, changes->items[which].condition);
    const struct sp_poly *gain;
    if (!symbol || !symbol->unset_key) return;
    const size_t symbols = count->symbolic.symbols.count;
    for (size_t i = 0; i < symbols; i++) {
        const struct sp_symbol_info *other = &count->symbolic.symbols.items[i];
        const size_t candidate = other->atom;
        if (!other->unset_key || strcmp(other->unset_key, symbol->unset_key) == 0 || is_changed(changes, candidate))
            continue;
        if (!gain_without(count, total, &changes->items[which], undone, candidate, &gain)) continue;
        if (gain && sp_poly_is_zero(gain)) *SP_PUSH(found) = candidate;
    }
}

struct sp_conditions sp_case_deciding(struct sp_count *count, const struct sp_poly *total,
                                      const struct sp_changes *changes, size_t which)
{
    const struct sp_case_change *change = &changes->items[which];
    struct sp_values undone = without_others(count, changes, which);
    struct sp_conditions found = comparisons_after(count, total, change);
    keep_deciding(count, total, changes, which, &undone, &found);
    sp_case_drop_implied(count, change, &found);
    add_flags_deciding(count, total, changes, which, &undone, &found);
    add_absences_deciding(count, total, changes, which, &undone, &found);
    sp_values_free(&undone);
    return found;
}
