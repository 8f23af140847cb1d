/* SPDX-License-Identifier: MIT
 * The text of a polynomial. How the sums and products of its factored form are nested is decided in form.c. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "math/form.h"

/* Of SP_MAX_WORK, what looking for a factored form may take: on top of it all, since the text is written last. */
enum { SEARCH_WORK = SP_MAX_WORK / 8 };

struct printer {
    struct sp_text *text;
    const struct sp_algebra *algebra;
};

static void put_sum(const struct printer *printer, const struct sp_sum *sum);

/* ---- atoms ---- */

/* Names, and calls such as min(F, L), stand for themselves; a == b needs brackets. */
static bool is_compound(const char *name)
{
    int depth = 0;
    for (; *name; name++) {
        if (strchr("([{", *name)) depth++;
        else if (strchr(")]}", *name)) depth--;
        else if (depth == 0 && strchr(" +-*/^<>=!&|?:", *name)) return true;
    }
    return false;
}

static void put_power(const struct printer *printer, int exponent)
{
    if (exponent > 1) sp_text_printf(printer->text, "^%d", exponent);
}

static void put_atom(const struct printer *printer, size_t which, int exponent)
{
    const char *name = printer->algebra->atoms[which].text;
    sp_text_printf(printer->text, is_compound(name) ? "(%s)" : "%s", name);
    put_power(printer, exponent);
}

/* ---- products ---- */

static void put_times(const struct printer *printer, size_t *count)
{
    if ((*count)++) sp_text_puts(printer->text, "*");
}

/* The number, unless it is 1, and the atoms of that side of the fraction line; *count is how many were put. */
static void put_factors(const struct printer *printer, const struct sp_term *term, int side, size_t *count)
{
    const int64_t number = side > 0 ? llabs(term->coefficient.num) : term->coefficient.den;
    if (number != 1) {
        put_times(printer, count);
        sp_text_printf(printer->text, "%" PRId64, number);
    }
    for (size_t i = 0; i < term->count; i++) {
        const int exponent = side * term->factors[i].exponent;
        if (exponent < 0) continue;
        put_times(printer, count);
        put_atom(printer, term->factors[i].atom, exponent);
    }
}

static void put_brackets(const struct printer *printer, const struct sp_factored_term *piece, size_t *count)
{
    for (size_t i = 0; i < piece->count; i++) {
        put_times(printer, count);
        sp_text_puts(printer->text, "(");
        put_sum(printer, piece->brackets[i].sum);
        sp_text_puts(printer->text, ")");
        put_power(printer, piece->brackets[i].power);
    }
}

static size_t factors_below(const struct sp_term *term)
{
    size_t count = term->coefficient.den != 1;
    for (size_t i = 0; i < term->count; i++) count += term->factors[i].exponent < 0;
    return count;
}

/* Without its sign. */
static void put_piece(const struct printer *printer, const struct sp_factored_term *piece)
{
    const size_t below = factors_below(&piece->term);
    size_t count = 0;
    put_factors(printer, &piece->term, 1, &count);
    put_brackets(printer, piece, &count);
    if (count == 0) sp_text_puts(printer->text, "1");
    if (!below) return;
    sp_text_puts(printer->text, below > 1 ? "/(" : "/");
    count = 0;
    put_factors(printer, &piece->term, -1, &count);
    sp_text_puts(printer->text, below > 1 ? ")" : "");
}

static void put_sum(const struct printer *printer, const struct sp_sum *sum)
{
    if (!sum->count) sp_text_puts(printer->text, "0");
    for (size_t i = 0; i < sum->count; i++) {
        const bool negative = sum->pieces[i].term.coefficient.num < 0;
        if (i) sp_text_puts(printer->text, negative ? " - " : " + ");
        else if (negative) sp_text_puts(printer->text, "-");
        put_piece(printer, &sum->pieces[i]);
    }
}

void sp_poly_put_expanded(struct sp_text *text, const struct sp_algebra *algebra, const struct sp_poly *a)
{
    const struct printer printer = {text, algebra};
    struct sp_arena arena = {0};
    if (!a) return sp_text_puts(text, "undefined");
    put_sum(&printer, sp_sum_expanded(&arena, a));
    sp_arena_free(&arena);
}

/* The search computes in a scratch algebra of the same atoms. It may fail there, and then every term is for itself. */
void sp_poly_put_factored(struct sp_text *text, struct sp_algebra *algebra, const struct sp_poly *a)
{
    const struct printer printer = {text, algebra};
    struct sp_algebra scratch = {
        .atoms = algebra->atoms, .atom_count = algebra->atom_count, .work = SP_MAX_WORK - SEARCH_WORK};
    if (!a) return sp_text_puts(text, "undefined");
    const struct sp_sum *sum = sp_sum_collected(&scratch, a);
    if (scratch.failed) sum = sp_sum_expanded(&scratch.arena, a);
    put_sum(&printer, sum);
    sp_arena_free(&scratch.arena);
}
