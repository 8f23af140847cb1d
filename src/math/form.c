/* SPDX-License-Identifier: MIT
 * What a person would write is mostly what is shortest to read. A sum is split at an atom, x*A + B, in which A and B
 * are written in the same way; every atom is tried, and the shortest form wins. A product is one of its factors, which
 * are such sums. */
#include "math/form.h"

#include <stdlib.h>
#include <string.h>

#include "math/terms.h"

/* ---- factors ---- */

/* A factor that lacks an atom divides each coefficient of that atom's powers, so those of the smallest coefficient are
 * tried, which has an atom less. In a single atom the rational roots give linear factors. This finds what formulas for
 * parameters have; x^2 - y^2 stays as it is. */

enum { SP_MAX_FACTORS = 64 };

struct sp_factors {
    struct sp_term monomial;                    /* with the number */
    const struct sp_poly *sums[SP_MAX_FACTORS]; /* coefficients are integers, the first one positive */
    size_t count;
};

enum { MAX_DIVISIONS = 6 };

/* The result, or NULL when computing it failed, which then is no failure. */
static const struct sp_poly *attempt(struct sp_algebra *algebra, const struct sp_poly *result)
{
    if (!algebra->failed) return result;
    algebra->failed = NULL;
    return NULL;
}

/* ---- number and monomial ---- */

static struct sp_rational content_of(const struct sp_poly *a)
{
    struct sp_rational content = {0, 1};
    for (size_t i = 0; i < a->count; i++)
        if (!sp_rational_gcd(content, a->terms[i].coefficient, &content)) content = sp_rational_int(1);
    if (a->terms[0].coefficient.num < 0) content.num = -content.num;
    return content;
}

/* What all terms share, but no negative exponents: 1 + k/h is simpler than (h + k)/h. */
static struct sp_term shared_monomial(struct sp_algebra *algebra, const struct sp_poly *a)
{
    const struct sp_degrees degrees = sp_terms_degrees(algebra, a, &algebra->arena);
    struct sp_factor *factors = sp_arena_array(&algebra->arena, algebra->atom_count, sizeof *factors);
    struct sp_term shared = {content_of(a), factors, 0};
    for (size_t which = 0; which < algebra->atom_count; which++)
        if (degrees.low[which] > 0) factors[shared.count++] = (struct sp_factor){which, degrees.low[which]};
    return shared;
}

static const struct sp_poly *divide_by_term(struct sp_algebra *algebra, const struct sp_poly *a,
                                            const struct sp_term *term)
{
    const struct sp_poly single = {term, 1};
    return attempt(algebra, sp_poly_divide(algebra, a, &single));
}

/* ---- divisors ---- */

struct division {
    const struct sp_poly *divisor, *quotient;
};

static void factor(struct sp_algebra *algebra, const struct sp_poly *a, int depth, struct sp_factors *factors);

static bool divide(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *by,
                   struct division *found)
{
    *found = (struct division){by, attempt(algebra, sp_poly_divide(algebra, a, by))};
    return found->quotient;
}

static const struct sp_poly *smallest_coefficient(struct sp_algebra *algebra, const struct sp_poly *a, size_t which)
{
    const struct sp_poly *smallest = a;
    for (int e = sp_poly_low_degree(a, which); e <= sp_poly_degree(a, which) && smallest->count > 1; e++) {
        const struct sp_poly *coefficient = sp_poly_coefficient(algebra, a, which, e);
        if (coefficient->count && coefficient->count < smallest->count) smallest = coefficient;
    }
    return smallest;
}

static bool divisor_without(struct sp_algebra *algebra, const struct sp_poly *a, size_t which, int depth,
                            struct division *found)
{
    const struct sp_poly *smallest = smallest_coefficient(algebra, a, which);
    struct sp_factors candidates;
    if (smallest->count < 2 || smallest->count == a->count) return false;
    factor(algebra, smallest, depth + 1, &candidates);
    for (size_t i = 0; i < candidates.count; i++)
        if (divide(algebra, a, candidates.sums[i], found)) return true;
    return false;
}

/* b*A - A is (b - 1)*A. */
static bool divisor_of_condition(struct sp_algebra *algebra, const struct sp_poly *a, size_t which,
                                 struct division *found)
{
    const struct sp_poly *with = sp_poly_coefficient(algebra, a, which, 1);
    const struct sp_poly *rest = sp_poly_coefficient(algebra, a, which, 0);
    if (with->count < 2 || !sp_poly_is_zero(sp_poly_add(algebra, with, rest))) return false;
    found->divisor = sp_poly_sub(algebra, sp_poly_atom(algebra, which), sp_poly_int(algebra, 1));
    found->quotient = with;
    return true;
}

/* With y = n*x, n being the first coefficient, rational roots in x are integers in y. `sign` says which are sought. */
static bool linear_divisor(struct sp_algebra *algebra, const struct sp_poly *a, size_t which, int sign,
                           struct division *found)
{
    const struct sp_poly *x = sp_poly_atom(algebra, which);
    struct sp_rational lead = a->terms[0].coefficient, scale, inverse;
    int64_t root;
    bool complete;
    if (sp_poly_degree(a, which) < 2 || sp_poly_low_degree(a, which) < 0) return false;
    if (!sp_rational_power(lead, sp_poly_degree(a, which) - 1, &scale)) return false;
    if (!sp_rational_div(sp_rational_int(sign), lead, &inverse)) return false;
    const struct sp_poly *in_y = sp_poly_substitute(algebra, a, which, sp_poly_scale(algebra, x, inverse));
    in_y = attempt(algebra, sp_poly_scale(algebra, in_y, scale));
    if (!in_y || sp_poly_roots(algebra, in_y, which, &root, 1, &complete) == 0) return false;
    const struct sp_poly *linear =
        sp_poly_sub(algebra, sp_poly_scale(algebra, x, lead), sp_poly_int(algebra, sign * root));
    const struct sp_term shared = {content_of(linear), NULL, 0};
    linear = divide_by_term(algebra, linear, &shared);
    return linear && divide(algebra, a, linear, found);
}

static bool is_univariate(const struct sp_poly *a, size_t which)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->terms[i].count > 1 || (a->terms[i].count == 1 && a->terms[i].factors[0].atom != which)) return false;
    return true;
}

static bool find_divisor(struct sp_algebra *algebra, const struct sp_poly *a, int depth, struct division *found)
{
    for (size_t which = 0; which < algebra->atom_count; which++) {
        if (!sp_poly_uses(a, which)) continue;
        if (algebra->atoms[which].is_condition) {
            if (divisor_of_condition(algebra, a, which, found)) return true;
        } else if (is_univariate(a, which)) {
            return linear_divisor(algebra, a, which, 1, found) || linear_divisor(algebra, a, which, -1, found);
        } else if (depth < MAX_DIVISIONS && divisor_without(algebra, a, which, depth, found)) return true;
    }
    return false;
}

static void factor(struct sp_algebra *algebra, const struct sp_poly *a, int depth, struct sp_factors *factors)
{
    struct division found;
    const struct sp_term one = {{1, 1}, NULL, 0};
    *factors = (struct sp_factors){.monomial = shared_monomial(algebra, a)};
    const struct sp_poly *rest = divide_by_term(algebra, a, &factors->monomial);
    if (!rest) {
        factors->monomial = one;
        rest = a;
    }
    while (rest->count > 1 && factors->count + 1 < SP_MAX_FACTORS && find_divisor(algebra, rest, depth, &found)) {
        factors->sums[factors->count++] = found.divisor;
        rest = found.quotient;
    }
    if (rest->count > 1) factors->sums[factors->count++] = rest;
    else sp_terms_row(algebra, &factors->monomial, rest, &algebra->arena, &factors->monomial);
}

/* `a` is not 0. Finds the factors that lack an atom of the polynomial, and linear ones in a single atom. The algebra
 * is for scratch: what overflows on the way is not tried, and `failed` is cleared. */
static void poly_factor(struct sp_algebra *algebra, const struct sp_poly *a, struct sp_factors *factors)
{
    factor(algebra, a, 0, factors);
}

/* ---- form ---- */

enum { MANY_TERMS = 14, MAX_TERMS = 1000, MAX_FORMS = 600, MAX_DEPTH = 12 };

struct finder {
    struct sp_algebra *algebra;
    const size_t *atoms; /* by name, so that the order in which they came to be known does not matter */
    size_t left;         /* forms that may still be tried; then the most common atom alone is */
};

static const struct sp_sum *find(struct finder *finder, const struct sp_poly *a, int depth);
static const struct sp_sum *collect_factors(struct finder *finder, const struct sp_poly *a, int depth);

/* ---- cost ---- */

static size_t cost_of_factors(const struct sp_term *term, int sign, size_t *count)
{
    size_t cost = 0;
    for (size_t i = 0; i < term->count; i++) {
        const int exponent = sign * term->factors[i].exponent;
        if (exponent < 0) continue;
        cost += exponent > 1 ? 3 : 1;
        ++*count;
    }
    return cost;
}

static size_t cost_of_piece(const struct sp_factored_term *piece)
{
    const struct sp_rational number = piece->term.coefficient;
    size_t above = piece->count + (llabs(number.num) != 1), below = number.den != 1;
    size_t cost = above + below;
    cost += cost_of_factors(&piece->term, 1, &above) + cost_of_factors(&piece->term, -1, &below);
    for (size_t i = 0; i < piece->count; i++)
        cost += piece->brackets[i].sum->cost + (piece->brackets[i].power > 1 ? 2 : 0);
    cost += above ? above - 1 : 1;             /* signs of multiplication, or a lonely 1 */
    return cost + below + (below > 1 ? 1 : 0); /* signs of division, and a bracket around them */
}

/* ---- order ---- */

/* Plain terms, then products with brackets, a number last; each by its first term. */
static int rank_of_piece(const struct sp_factored_term *piece) { return piece->count ? 1 : piece->term.count ? 0 : 2; }

static int compare_values(const struct sp_poly *a, const struct sp_poly *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        const int order = sp_terms_compare(&a->terms[i], &b->terms[i]);
        if (order) return order;
        const int number = sp_rational_compare(a->terms[i].coefficient, b->terms[i].coefficient);
        if (number) return number;
    }
    return (a->count > b->count) - (a->count < b->count);
}

static int compare_pieces(const void *left, const void *right)
{
    const struct sp_factored_term *a = left, *b = right;
    if (rank_of_piece(a) != rank_of_piece(b)) return rank_of_piece(a) - rank_of_piece(b);
    return compare_values(a->value, b->value);
}

static int compare_brackets(const void *left, const void *right)
{
    const struct sp_sum *a = ((const struct sp_bracket *)left)->sum, *b = ((const struct sp_bracket *)right)->sum;
    if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    return compare_values(a->value, b->value);
}

/* A sum begins with something positive where it has that: n - L, not -L + n. */
static void positive_first(struct sp_factored_term *pieces, size_t count)
{
    size_t first = 0;
    while (first < count && pieces[first].term.coefficient.num < 0) first++;
    if (first == count) return;
    const struct sp_factored_term piece = pieces[first];
    memmove(pieces + 1, pieces, first * sizeof *pieces);
    pieces[0] = piece;
}

static const struct sp_sum *make_sum(struct sp_arena *arena, const struct sp_poly *value,
                                     struct sp_factored_term *pieces, size_t count)
{
    struct sp_sum *sum = sp_arena_alloc(arena, sizeof *sum);
    positive_first(pieces, count);
    *sum = (struct sp_sum){pieces, count, count ? count - 1 : 0, value};
    for (size_t i = 0; i < count; i++) sum->cost += cost_of_piece(&pieces[i]);
    return sum;
}

const struct sp_sum *sp_sum_expanded(struct sp_arena *arena, const struct sp_poly *a)
{
    struct sp_factored_term *pieces = sp_arena_array(arena, a->count, sizeof *pieces);
    struct sp_poly *values = sp_arena_array(arena, a->count, sizeof *values);
    for (size_t i = 0; i < a->count; i++) {
        values[i] = (struct sp_poly){&a->terms[i], 1};
        pieces[i] = (struct sp_factored_term){.term = a->terms[i], .value = &values[i]};
    }
    return make_sum(arena, a, pieces, a->count);
}

/* ---- products ---- */

static const struct sp_sum *negative(struct finder *finder, const struct sp_sum *sum)
{
    struct sp_algebra *algebra = finder->algebra;
    const struct sp_rational minus = sp_rational_int(-1);
    struct sp_factored_term *pieces = sp_arena_array(&algebra->arena, sum->count, sizeof *pieces);
    for (size_t i = 0; i < sum->count; i++) {
        pieces[i] = sum->pieces[i];
        pieces[i].term.coefficient.num = -pieces[i].term.coefficient.num;
        pieces[i].value = sp_poly_scale(algebra, pieces[i].value, minus);
    }
    return make_sum(&algebra->arena, sp_poly_scale(algebra, sum->value, minus), pieces, sum->count);
}

/* Equal factors become a power. */
static size_t join_brackets(struct sp_bracket *brackets, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept && sp_poly_equal(brackets[kept - 1].sum->value, brackets[i].sum->value)) brackets[kept - 1].power++;
        else brackets[kept++] = brackets[i];
    return kept;
}

static bool is_number_term(const struct sp_term *term, int64_t number)
{
    return term->count == 0 && term->coefficient.den == 1 && term->coefficient.num == number;
}

static const struct sp_sum *product_of(struct finder *finder, const struct sp_poly *value,
                                       const struct sp_factors *factors, int depth)
{
    struct sp_arena *arena = &finder->algebra->arena;
    struct sp_bracket *brackets = sp_arena_array(arena, factors->count, sizeof *brackets);
    for (size_t i = 0; i < factors->count; i++)
        brackets[i] = (struct sp_bracket){collect_factors(finder, factors->sums[i], depth), 1};
    qsort(brackets, factors->count, sizeof *brackets, compare_brackets);
    struct sp_factored_term *piece = sp_arena_alloc(arena, sizeof *piece);
    *piece = (struct sp_factored_term){factors->monomial, brackets, join_brackets(brackets, factors->count), value};
    if (piece->count == 1 && brackets[0].power == 1) {
        if (is_number_term(&piece->term, 1)) return brackets[0].sum;
        if (is_number_term(&piece->term, -1)) return negative(finder, brackets[0].sum);
    }
    return make_sum(arena, value, piece, 1);
}

/* E*(4*V + 6) rather than 2*E*(2*V + 3): the number goes back into the only bracket. */
static const struct sp_sum *product_with_number_inside(struct finder *finder, const struct sp_poly *value,
                                                       const struct sp_factors *factors, int depth)
{
    struct sp_factors inside = *factors;
    const struct sp_rational number = sp_rational_int(llabs(factors->monomial.coefficient.num));
    inside.monomial.coefficient.num /= number.num;
    inside.sums[0] = sp_poly_scale(finder->algebra, factors->sums[0], number);
    return product_of(finder, value, &inside, depth);
}

/* ---- sums ---- */

static size_t terms_with(const struct sp_poly *a, size_t which)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) count += sp_term_exponent(&a->terms[i], which) > 0;
    return count;
}

/* The terms in which the atom stands above the line, or all others. */
static const struct sp_poly *part(struct sp_algebra *algebra, const struct sp_poly *a, size_t which, bool with)
{
    struct sp_term *terms = sp_arena_array(&algebra->arena, a->count, sizeof *terms);
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        if ((sp_term_exponent(&a->terms[i], which) > 0) == with) terms[count++] = a->terms[i];
    return sp_terms_wrap(algebra, terms, count);
}

static const struct sp_poly *shared_bracket(const struct sp_factored_term *a, const struct sp_factored_term *b)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            if (sp_poly_equal(a->brackets[i].sum->value, b->brackets[k].sum->value)) return a->brackets[i].sum->value;
    return NULL;
}

/* m*S + n*S is (m + n)*S. */
static bool join_two(struct finder *finder, struct sp_factored_term *a, const struct sp_factored_term *b, int depth)
{
    struct sp_algebra *algebra = finder->algebra;
    const struct sp_poly *shared = shared_bracket(a, b), *both = sp_poly_add(algebra, a->value, b->value);
    const struct sp_poly *outside = shared ? sp_poly_divide(algebra, both, shared) : NULL;
    struct sp_factors factors;
    if (!outside || algebra->failed || sp_poly_is_zero(outside)) return false;
    poly_factor(algebra, outside, &factors);
    if (factors.count == SP_MAX_FACTORS) return false;
    factors.sums[factors.count++] = shared;
    const struct sp_sum *sum = product_of(finder, both, &factors, depth);
    if (sum->count != 1) return false;
    *a = sum->pieces[0];
    return true;
}

static size_t join_pieces(struct finder *finder, struct sp_factored_term *pieces, size_t count, int depth)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (join_two(finder, &pieces[i], &pieces[k], depth)) pieces[k--] = pieces[--count];
    return count;
}

static const struct sp_sum *split_at(struct finder *finder, const struct sp_poly *a, size_t which, int depth)
{
    struct sp_arena *arena = &finder->algebra->arena;
    const struct sp_sum *with = find(finder, part(finder->algebra, a, which, true), depth + 1);
    const struct sp_sum *rest = find(finder, part(finder->algebra, a, which, false), depth + 1);
    struct sp_factored_term *pieces = sp_arena_array(arena, with->count + rest->count, sizeof *pieces);
    memcpy(pieces, with->pieces, with->count * sizeof *pieces);
    memcpy(pieces + with->count, rest->pieces, rest->count * sizeof *pieces);
    const size_t count = join_pieces(finder, pieces, with->count + rest->count, depth + 1);
    qsort(pieces, count, sizeof *pieces, compare_pieces);
    return make_sum(arena, a, pieces, count);
}

static size_t most_common_atom(const struct finder *finder, const struct sp_poly *a)
{
    size_t best = finder->atoms[0];
    for (size_t i = 1; i < finder->algebra->atom_count; i++)
        if (terms_with(a, finder->atoms[i]) > terms_with(a, best)) best = finder->atoms[i];
    return best;
}

static const struct sp_sum *cheaper(const struct sp_sum *a, const struct sp_sum *b)
{
    return b->cost < a->cost ? b : a;
}

/* A sum that has no factor. */
static const struct sp_sum *collect_factors(struct finder *finder, const struct sp_poly *a, int depth)
{
    const struct sp_sum *best = sp_sum_expanded(&finder->algebra->arena, a);
    const bool few = a->count <= MANY_TERMS && finder->left > 0;
    const size_t common = most_common_atom(finder, a);
    if (a->count < 3 || depth > MAX_DEPTH) return best;
    for (size_t i = 0; i < finder->algebra->atom_count; i++) {
        const size_t which = finder->atoms[i], count = terms_with(a, which);
        if (count < 2 || count == a->count || (!few && which != common)) continue;
        best = cheaper(best, split_at(finder, a, which, depth));
    }
    return best;
}

static const struct sp_sum *find(struct finder *finder, const struct sp_poly *a, int depth)
{
    const struct sp_sum *plain = sp_sum_expanded(&finder->algebra->arena, a);
    struct sp_factors factors;
    if (finder->left) finder->left--;
    if (a->count < 2 || finder->algebra->failed) return plain;
    poly_factor(finder->algebra, a, &factors);
    const struct sp_sum *product = product_of(finder, a, &factors, depth);
    if (factors.count == 1 && llabs(factors.monomial.coefficient.num) != 1)
        product = cheaper(product, product_with_number_inside(finder, a, &factors, depth));
    return cheaper(product, plain);
}

/* ---- the whole ---- */

struct named {
    const char *name;
    size_t atom;
};

static int compare_atom_names(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static const size_t *atoms_by_name(struct sp_algebra *algebra)
{
    const size_t count = algebra->atom_count;
    struct named *names = sp_arena_array(&algebra->arena, count, sizeof *names);
    size_t *atoms = sp_arena_array(&algebra->arena, count, sizeof *atoms);
    for (size_t i = 0; i < count; i++) names[i] = (struct named){algebra->atoms[i].text, i};
    qsort(names, count, sizeof *names, compare_atom_names);
    for (size_t i = 0; i < count; i++) atoms[i] = names[i].atom;
    return atoms;
}

static bool has_both_signs(const struct sp_sum *sum)
{
    bool positive = false, minus = false;
    for (size_t i = 0; i < sum->count; i++) *(sum->pieces[i].term.coefficient.num < 0 ? &minus : &positive) = true;
    return positive && minus;
}

/* -E*(L - n) is E*(n - L). */
static const struct sp_sum *absorb_sign(struct finder *finder, const struct sp_sum *sum)
{
    struct sp_arena *arena = &finder->algebra->arena;
    if (sum->count != 1 || sum->pieces[0].term.coefficient.num > 0) return sum;
    struct sp_factored_term *piece = sp_arena_alloc(arena, sizeof *piece);
    struct sp_bracket *brackets = sp_arena_array(arena, sum->pieces[0].count, sizeof *brackets);
    *piece = sum->pieces[0];
    for (size_t i = 0; i < piece->count; i++) brackets[i] = piece->brackets[i];
    for (size_t i = 0; i < piece->count; i++) {
        if (brackets[i].power % 2 == 0 || !has_both_signs(brackets[i].sum)) continue;
        brackets[i].sum = negative(finder, brackets[i].sum);
        piece->brackets = brackets;
        piece->term.coefficient.num = -piece->term.coefficient.num;
        return make_sum(arena, sum->value, piece, 1);
    }
    return sum;
}

const struct sp_sum *sp_sum_collected(struct sp_algebra *algebra, const struct sp_poly *a)
{
    struct finder finder = {algebra, atoms_by_name(algebra), MAX_FORMS};
    if (a->count < 2 || a->count > MAX_TERMS) return sp_sum_expanded(&algebra->arena, a);
    return absorb_sign(&finder, find(&finder, a, 0));
}
