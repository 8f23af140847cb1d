/* SPDX-License-Identifier: MIT
 * Polynomials as a person would write them. A factored form is a small tree of sums and products, found by taking out
 * what all terms share, then trying each atom in turn: p = x*A + B, which is A*(x + B/A) when A divides B. Of the forms
 * found, the shortest is printed. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "math/poly.h"

enum { MAX_DEPTH = 8, MANY_TERMS = 16 };

/* ---- a single term ---- */

static void put_atom(struct sp_text *text, const struct sp_algebra *algebra, struct sp_factor factor,
                     enum sp_notation notation)
{
    const char *name = algebra->atoms[factor.atom].text;
    const int exponent = abs(factor.exponent);
    if (notation == SP_NOTATION_LATEX && (strlen(name) > 1)) {
        sp_text_puts(text, "\\mathrm{");
        for (; *name; name++) sp_text_printf(text, strchr("_%#&$", *name) ? "\\%c" : "%c", *name);
        sp_text_puts(text, "}");
    } else sp_text_puts(text, name);
    if (exponent > 1) sp_text_printf(text, notation == SP_NOTATION_LATEX ? "^{%d}" : "^%d", exponent);
}

static const char *times(enum sp_notation notation) { return notation == SP_NOTATION_LATEX ? " " : "*"; }

/* The factors with positive (or, below the line, negative) exponents; returns how many there were. */
static size_t put_factors(struct sp_text *text, const struct sp_algebra *algebra, const struct sp_term *term, int sign,
                          bool first, enum sp_notation notation)
{
    size_t count = 0;
    for (size_t i = 0; i < term->count; i++) {
        if ((term->factors[i].exponent > 0) != (sign > 0)) continue;
        if (!first || count) sp_text_puts(text, times(notation));
        put_atom(text, algebra, term->factors[i], notation);
        count++;
    }
    return count;
}

static bool has_denominator(const struct sp_term *term)
{
    for (size_t i = 0; i < term->count; i++)
        if (term->factors[i].exponent < 0) return true;
    return false;
}

/* The term without its sign. */
static void put_term(struct sp_text *text, const struct sp_algebra *algebra, const struct sp_term *term,
                     enum sp_notation notation)
{
    const struct sp_rational c = term->coefficient;
    const int64_t num = c.num < 0 ? -c.num : c.num;
    const bool fraction = c.den != 1 || has_denominator(term);
    if (fraction && notation == SP_NOTATION_LATEX) sp_text_puts(text, "\\frac{");
    const size_t begin = text->length;
    if (num != 1) sp_text_printf(text, "%" PRId64, num);
    put_factors(text, algebra, term, 1, num == 1, notation);
    if (text->length == begin) sp_text_puts(text, "1");
    if (!fraction) return;
    if (notation == SP_NOTATION_LATEX) sp_text_puts(text, "}{");
    struct sp_text below = {0};
    if (c.den != 1) sp_text_printf(&below, "%" PRId64, c.den);
    const size_t count = put_factors(&below, algebra, term, -1, c.den == 1, notation) + (c.den != 1);
    if (notation == SP_NOTATION_LATEX) sp_text_printf(text, "%s}", below.data);
    else sp_text_printf(text, count > 1 ? "/(%s)" : "/%s", below.data);
    sp_text_free(&below);
}

static void put_sign(struct sp_text *text, bool negative, bool first)
{
    if (first) sp_text_puts(text, negative ? "-" : "");
    else sp_text_puts(text, negative ? " - " : " + ");
}

void sp_poly_put_expanded(struct sp_text *text, const struct sp_algebra *algebra, const struct sp_poly *a,
                          enum sp_notation notation)
{
    if (!a->count) sp_text_puts(text, "0");
    for (size_t i = 0; i < a->count; i++) {
        put_sign(text, a->terms[i].coefficient.num < 0, i == 0);
        put_term(text, algebra, &a->terms[i], notation);
    }
}

/* ---- what all terms share ---- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* The numeric content, with the sign of the first term, times the monomial that divides every term. */
static const struct sp_poly *shared_factor(struct sp_algebra *algebra, const struct sp_poly *a)
{
    struct sp_rational content = {0, 1};
    for (size_t i = 0; i < a->count; i++) {
        const struct sp_rational c = a->terms[i].coefficient;
        content.num = gcd(content.num, c.num);
        const int64_t step = c.den / gcd(content.den, c.den);
        if (__builtin_mul_overflow(content.den, step, &content.den)) content.den = 1;
    }
    if (a->terms[0].coefficient.num < 0) content.num = -content.num;
    const struct sp_poly *shared = sp_poly_rational(algebra, content);
    for (size_t which = 0; which < algebra->atom_count; which++) {
        const int low = sp_poly_low_degree(a, which);
        if (low > 0) shared = sp_poly_mul(algebra, shared, sp_poly_power(algebra, sp_poly_atom(algebra, which), low));
    }
    return shared;
}

/* ---- forms ---- */

struct form {
    const char *text;  /* in the notation asked for */
    const char *plain; /* in plain text: what is compared, so that all notations choose the same form */
    bool is_sum;       /* needs brackets as a factor */
};

struct printer {
    struct sp_algebra *algebra;
    enum sp_notation notation;
};

static struct form best_form(const struct printer *printer, const struct sp_poly *a, int depth);

static const char *keep(const struct printer *printer, struct sp_text *text)
{
    const char *kept = sp_arena_copy(&printer->algebra->arena, text->data, text->length);
    sp_text_free(text);
    return kept;
}

static struct form expanded(const struct printer *printer, const struct sp_poly *a)
{
    struct sp_text text = {0}, plain = {0};
    sp_poly_put_expanded(&text, printer->algebra, a, printer->notation);
    sp_poly_put_expanded(&plain, printer->algebra, a, SP_NOTATION_TEXT);
    return (struct form){keep(printer, &text), keep(printer, &plain), a->count > 1};
}

static void put_operand(struct sp_text *text, const char *operand, bool is_sum, enum sp_notation notation)
{
    const bool latex = notation == SP_NOTATION_LATEX;
    if (is_sum) sp_text_puts(text, latex ? "\\left(" : "(");
    sp_text_puts(text, operand);
    if (is_sum) sp_text_puts(text, latex ? "\\right)" : ")");
}

/* a*b, with brackets around sums; "-b" for a = -1. */
static const char *multiply(const struct printer *printer, const char *a, bool a_sum, const char *b, bool b_sum,
                            enum sp_notation notation)
{
    struct sp_text text = {0};
    if (strcmp(a, "-1") == 0) sp_text_puts(&text, "-");
    else {
        put_operand(&text, a, a_sum, notation);
        sp_text_puts(&text, times(notation));
    }
    put_operand(&text, b, b_sum, notation);
    return keep(printer, &text);
}

/* Simple factors before sums: n*(a + b). */
static struct form product(const struct printer *printer, const struct sp_poly *a, const struct sp_poly *b, int depth)
{
    struct form left = best_form(printer, a, depth), right = best_form(printer, b, depth);
    if (left.is_sum && !right.is_sum) {
        const struct form swap = left;
        left = right;
        right = swap;
    }
    return (struct form){multiply(printer, left.text, left.is_sum, right.text, right.is_sum, printer->notation),
                         multiply(printer, left.plain, left.is_sum, right.plain, right.is_sum, SP_NOTATION_TEXT),
                         false};
}

static const char *add_texts(const struct printer *printer, const char *a, const char *b)
{
    const bool negative = b[0] == '-';
    return sp_arena_printf(&printer->algebra->arena, "%s %s %s", a, negative ? "-" : "+", b + negative);
}

static struct form sum_of(const struct printer *printer, struct form a, struct form b)
{
    return (struct form){add_texts(printer, a.text, b.text), add_texts(printer, a.plain, b.plain), true};
}

static bool is_one(const struct sp_poly *a)
{
    struct sp_rational value;
    return sp_poly_is_constant(a, &value) && value.num == 1 && value.den == 1;
}

static size_t terms_with(const struct sp_poly *a, size_t which)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < a->terms[i].count; k++)
            count += a->terms[i].factors[k].atom == which && a->terms[i].factors[k].exponent > 0;
    return count;
}

/* The part of `a` in which the atom stands with a positive exponent. */
static const struct sp_poly *part_with(struct sp_algebra *algebra, const struct sp_poly *a, size_t which)
{
    const struct sp_poly *part = sp_poly_int(algebra, 0), *x = sp_poly_atom(algebra, which);
    for (int e = sp_poly_degree(a, which); e > 0; e--)
        part =
            sp_poly_add(algebra, part,
                        sp_poly_mul(algebra, sp_poly_coefficient(algebra, a, which, e), sp_poly_power(algebra, x, e)));
    return part;
}

/* x*A + B, or A*(x + B/A) when that is possible. */
static struct form collected(const struct printer *printer, const struct sp_poly *a, size_t which, int depth)
{
    struct sp_algebra *algebra = printer->algebra;
    const struct sp_poly *with = part_with(algebra, a, which), *rest = sp_poly_sub(algebra, a, with);
    const struct sp_poly *shared = shared_factor(algebra, with), *inner = sp_poly_divide(algebra, with, shared);
    if (inner->count > 1 && rest->count) {
        const struct sp_poly *quotient = sp_poly_divide(algebra, rest, inner);
        if (quotient) return product(printer, sp_poly_add(algebra, shared, quotient), inner, depth + 1);
    }
    if (!rest->count) return best_form(printer, with, depth + 1);
    return sum_of(printer, best_form(printer, with, depth + 1), best_form(printer, rest, depth + 1));
}

/* Of two forms of the same length the one found later is more collected. */
static void consider(struct form *best, struct form form)
{
    if (strlen(form.plain) <= strlen(best->plain)) *best = form;
}

/* With many terms only the atom that most of them share is tried. */
static struct form best_collection(const struct printer *printer, const struct sp_poly *a, int depth)
{
    struct form best = expanded(printer, a);
    const size_t atoms = printer->algebra->atom_count;
    size_t most = 0, common = 0;
    for (size_t which = 0; which < atoms; which++)
        if (terms_with(a, which) > most) most = terms_with(a, common = which);
    if (most < 2) return best;
    if (a->count > MANY_TERMS || depth > 3) {
        consider(&best, collected(printer, a, common, depth));
        return best;
    }
    for (size_t which = 0; which < atoms; which++)
        if (terms_with(a, which) > 1 && terms_with(a, which) < a->count)
            consider(&best, collected(printer, a, which, depth));
    return best;
}

static struct form best_form(const struct printer *printer, const struct sp_poly *a, int depth)
{
    if (a->count < 2 || depth > MAX_DEPTH || printer->algebra->failed) return expanded(printer, a);
    const struct sp_poly *shared = shared_factor(printer->algebra, a);
    if (is_one(shared)) return best_collection(printer, a, depth);
    const struct sp_poly *inner = sp_poly_divide(printer->algebra, a, shared);
    struct form whole = best_collection(printer, a, depth);
    consider(&whole, product(printer, shared, inner, depth + 1));
    return whole;
}

void sp_poly_put_factored(struct sp_text *text, struct sp_algebra *algebra, const struct sp_poly *a,
                          enum sp_notation notation)
{
    const struct printer printer = {algebra, notation};
    sp_text_puts(text, best_form(&printer, a, 0).text);
}
