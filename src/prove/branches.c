/* SPDX-License-Identifier: MIT */
#include "prove/branches.h"

#include <string.h>

#include "lang/functions.h"
#include "prove/symbolic/atoms.h"

enum { MAX_REMAINDERS = 1024, MAX_DIVIDEND = 1 << 22 };

static bool is_whole_number(const struct sp_poly *poly, int64_t *number)
{
    struct sp_rational value;
    if (!sp_poly_is_constant(poly, &value) || value.den != 1) return false;
    *number = value.num;
    return true;
}

/* slope*x + offset, from 0 up. */
static bool open_linear(struct sp_branches *branches, const struct sp_poly *poly)
{
    struct sp_algebra *algebra = branches->algebra;
    const struct sp_poly *at_0 = sp_poly_substitute(algebra, poly, branches->unknown, sp_poly_int(algebra, 0));
    const struct sp_poly *rest = at_0 ? sp_poly_sub(algebra, poly, at_0) : NULL;
    if (!rest || !is_whole_number(at_0, &branches->offset) || rest->count != 1 || rest->terms[0].count != 1)
        return false;
    const struct sp_term *term = &rest->terms[0];
    branches->slope = term->coefficient.num;
    return term->coefficient.den == 1 && term->factors[0].atom == branches->unknown && term->factors[0].exponent == 1 &&
           branches->slope > 0 && branches->slope < INT32_MAX && branches->offset >= 0 && branches->offset < INT32_MAX;
}

static bool open_floor(struct sp_branches *branches, const struct sp_origin *origin)
{
    const struct sp_sym above = origin->args[0], below = origin->args[1];
    if (above.kind != SP_SYM_NUMBER || below.kind != SP_SYM_NUMBER) return false;
    if (is_whole_number(below.poly, &branches->divisor))
        return branches->divisor > 0 && branches->divisor <= MAX_REMAINDERS && open_linear(branches, above.poly);
    branches->next = 1;
    return sp_atom_alone(below.poly) == branches->unknown && is_whole_number(above.poly, &branches->offset) &&
           branches->offset >= 0 && branches->offset <= MAX_DIVIDEND;
}

static bool open_choice(struct sp_branches *branches, const struct sp_origin *origin)
{
    const char *name = origin->operation.function->name;
    if (strcmp(name, "min") != 0 && strcmp(name, "max") != 0) return false;
    for (size_t i = 0; i < origin->count; i++)
        if (origin->args[i].kind != SP_SYM_NUMBER) return false;
    branches->choice = origin;
    return origin->count > 1;
}

bool sp_branches_open(struct sp_symbolic *symbolic, size_t atom, size_t unknown, struct sp_branches *branches)
{
    const struct sp_origin *origin = sp_atom_info(symbolic, atom)->origin;
    *branches = (struct sp_branches){.algebra = &symbolic->algebra, .unknown = unknown};
    if (!origin) return false;
    if (origin->operation.kind == SP_DO_CALL) return open_choice(branches, origin);
    return origin->operation.kind == SP_DO_BINARY && origin->operation.op == SP_OP_FLOOR &&
           open_floor(branches, origin);
}

static bool next_choice(struct sp_branches *branches, struct sp_branch *out)
{
    if ((size_t)branches->next == branches->choice->count) return false;
    *out = (struct sp_branch){.value = branches->choice->args[branches->next++].poly};
    return true;
}

/* x = remainder, divisor further, ...: (slope*x + offset - what is cut off) / divisor */
static bool next_remainder(struct sp_branches *branches, struct sp_branch *out)
{
    struct sp_algebra *algebra = branches->algebra;
    struct sp_rational share;
    if (branches->next == branches->divisor) return false;
    const int64_t cut = (branches->slope * branches->next++ + branches->offset) % branches->divisor;
    const struct sp_poly *x = sp_poly_atom(algebra, branches->unknown);
    const struct sp_poly *above = sp_poly_add(algebra, sp_poly_scale(algebra, x, sp_rational_int(branches->slope)),
                                              sp_poly_int(algebra, branches->offset - cut));
    if (!sp_rational_make(1, branches->divisor, &share)) return false;
    *out = (struct sp_branch){.value = sp_poly_scale(algebra, above, share)};
    return true;
}

static bool next_value(struct sp_branches *branches, struct sp_branch *out)
{
    if (branches->next < 1) return false;
    const int64_t first = branches->next, value = branches->offset / first;
    *out = (struct sp_branch){.value = sp_poly_int(branches->algebra, value),
                              .first = first,
                              .last = value ? branches->offset / value : INT64_MAX};
    branches->next = value ? out->last + 1 : -1;
    return true;
}

bool sp_branches_next(struct sp_branches *branches, struct sp_branch *out)
{
    if (branches->choice) return next_choice(branches, out);
    return branches->slope ? next_remainder(branches, out) : next_value(branches, out);
}
