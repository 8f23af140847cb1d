/* SPDX-License-Identifier: MIT */
#include "prove/symbolic/atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prove/symbolic/operate.h"

enum {
    MAX_INDICES = 64, /* one bit each */
    MAX_ATOM_TEXT = 16 * 1024,
    MAX_TERMS_BOUNDED = 64,    /* of a polynomial whose sign is looked for */
    MAX_BOUND_DEPTH = 12,      /* loops and conditions that are put into it */
    MAX_DEFAULT_CONDITIONS = 6 /* of one default that are put in to find its least value: 2^6 cases */
};

struct sp_atom_info *sp_atom_info(struct sp_symbolic *symbolic, size_t atom)
{
    while (atom >= symbolic->infos.capacity) {
        const size_t old = symbolic->infos.capacity;
        symbolic->infos.capacity = old ? old * 2 : 64;
        symbolic->infos.items =
            sp_realloc(symbolic->infos.items, symbolic->infos.capacity, sizeof *symbolic->infos.items);
        memset(symbolic->infos.items + old, 0, (symbolic->infos.capacity - old) * sizeof *symbolic->infos.items);
    }
    return &symbolic->infos.items[atom];
}

size_t sp_atom_alone(const struct sp_poly *poly)
{
    if (!poly || poly->count != 1 || poly->terms[0].count != 1) return SIZE_MAX;
    const struct sp_term *term = &poly->terms[0];
    const bool plain = term->factors[0].exponent == 1 && term->coefficient.num == 1 && term->coefficient.den == 1;
    return plain ? term->factors[0].atom : SIZE_MAX;
}

static bool is_taken(const struct sp_symbolic *symbolic, const char *text)
{
    return sp_map_get(&symbolic->algebra.names, text) != SIZE_MAX;
}

/* ---- hyper-parameters ---- */

/* The text of a new hyper-parameter: the name that the table gives it, or its key, with quotes behind it if another
 * atom has that text. */
static const char *symbol_text(struct sp_symbolic *symbolic, const char *name, const char *key)
{
    const char *text = name && !is_taken(symbolic, name) ? name : key;
    while (is_taken(symbolic, text)) text = sp_arena_printf(&symbolic->algebra.arena, "%s'", text);
    return text;
}

static bool is_real_fallback(const struct sp_sym *fallback)
{
    return fallback && fallback->kind == SP_SYM_VALUE && fallback->value.type == SHAPEPROOF_VALUE_REAL;
}

/* A condition in a polynomial; SIZE_MAX for none. */
static size_t condition_in(const struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++)
            if (symbolic->algebra.atoms[poly->terms[i].factors[k].atom].is_condition)
                return poly->terms[i].factors[k].atom;
    return SIZE_MAX;
}

/* The least value of a default that has no condition; see least_value. */
static int64_t least_without_conditions(struct sp_symbolic *symbolic, const struct sp_poly *fallback)
{
    struct sp_rational value;
    const size_t other = sp_atom_alone(fallback);
    if (sp_poly_is_constant(fallback, &value))
        return value.num < value.den ? value.num / value.den - (value.num % value.den < 0) : 1;
    if (other != SIZE_MAX && !sp_atom_info(symbolic, other)->origin && sp_atom_info(symbolic, other)->least < 1)
        return sp_atom_info(symbolic, other)->least;
    for (size_t i = 0; i < fallback->count; i++)
        if (fallback->terms[i].count && fallback->terms[i].coefficient.num < 0) return 0;
    return 1;
}

/* The least value that a default has in any case of its conditions: each is put in as 0 and as 1. `depth`: how many
 * were put in before. */
static int64_t least_default(struct sp_symbolic *symbolic, const struct sp_poly *fallback, unsigned depth)
{
    const size_t condition = condition_in(symbolic, fallback);
    if (condition == SIZE_MAX) return least_without_conditions(symbolic, fallback);
    if (depth == MAX_DEFAULT_CONDITIONS) return 0;
    int64_t least = 1;
    for (int64_t truth = 0; truth < 2; truth++) {
        const struct sp_poly *one =
            sp_poly_substitute(&symbolic->algebra, fallback, condition, sp_poly_int(&symbolic->algebra, truth));
        const int64_t its_least = one ? least_default(symbolic, one, depth + 1) : 0;
        if (its_least < least) least = its_least;
    }
    return least;
}

/* Below which value a hyper-parameter never is, by its default:
 *
 *     768, 4*E        1
 *     0, -2           0, -2: a default below 1 makes smaller values usual
 *     0.5             0: a ratio is no size
 *     another key     as for that key
 *     a ? 0 : 8       0: the least that it is in any case */
static int64_t least_value(struct sp_symbolic *symbolic, const struct sp_sym *given, const struct sp_poly *fallback)
{
    if (is_real_fallback(given)) return given->value.real < 0 ? (int64_t)fmax(floor(given->value.real), -1e15) : 0;
    return fallback ? least_default(symbolic, fallback, 0) : 1;
}

/* A default as a polynomial; NULL when it is no number, or depends on the index of a loop. */
static const struct sp_poly *usable_fallback(struct sp_symbolic *symbolic, const struct sp_sym *fallback)
{
    const struct sp_poly *poly;
    if (!fallback || !sp_sym_as_number(symbolic, (struct sp_span){0}, *fallback, &poly)) return NULL;
    return sp_poly_depends(symbolic, poly) ? NULL : poly;
}

/* Whether a hyper-parameter with that default is a whole number: by default 4*n it is, by default 0.5*n it need not be.
 */
static bool is_whole_fallback(struct sp_symbolic *symbolic, const struct sp_sym *fallback, const struct sp_poly *poly)
{
    return !is_real_fallback(fallback) && (!poly || sp_poly_is_whole(symbolic, poly));
}

/* Whether a hyper-parameter with that default has a least value: by default n - 5 it has none, by default 1 - [a],
 * which is never below 0, it has. */
static bool is_bounded_fallback(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    struct sp_rational value;
    bool takes = false;
    for (size_t i = 0; poly && i < poly->count; i++) takes = takes || poly->terms[i].coefficient.num < 0;
    return !takes || sp_poly_is_constant(poly, &value) || sp_poly_never_negative(symbolic, poly);
}

/* Makes a symbol for the key, and its atom: a condition if its default is one, else a number. */
static struct sp_symbol_info *new_symbol(struct sp_symbolic *symbolic, const char *name, const char *key,
                                         uint64_t depends, const struct sp_sym *fallback)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const bool is_condition = fallback && fallback->kind == SP_SYM_CONDITION;
    const struct sp_poly *poly = usable_fallback(symbolic, fallback);
    const char *text = symbol_text(symbolic, name, key);
    const size_t atom = is_condition ? sp_atom_condition(algebra, text) : sp_atom_symbol(algebra, text);
    *sp_atom_info(symbolic, atom) =
        (struct sp_atom_info){.depends = depends,
                              .is_whole = is_whole_fallback(symbolic, fallback, poly),
                              .is_bounded = is_bounded_fallback(symbolic, poly),
                              .is_given = true,
                              .least = is_condition ? 0 : least_value(symbolic, fallback, poly)};
    SP_GROW(symbolic->symbols.items, symbolic->symbols.count, symbolic->symbols.capacity);
    struct sp_symbol_info *info = &symbolic->symbols.items[symbolic->symbols.count];
    *info = (struct sp_symbol_info){.atom = atom, .name = algebra->atoms[atom].text, .key = key, .fallback = poly};
    sp_map_add(&symbolic->symbols.keys, key, symbolic->symbols.count++);
    return info;
}

/* Notes the default of a known symbol where its key stands once more: it may be the first, or another one. */
static void join_fallback(struct sp_symbolic *symbolic, struct sp_symbol_info *info, const struct sp_sym *fallback)
{
    const struct sp_poly *poly = usable_fallback(symbolic, fallback);
    if (!fallback || !poly) return;
    if (is_real_fallback(fallback)) sp_atom_info(symbolic, info->atom)->is_whole = false;
    if (info->fallback && !sp_poly_equal(info->fallback, poly)) info->is_ambiguous = true;
    if (info->fallback) return;
    info->fallback = poly;
    if (least_value(symbolic, fallback, poly) < sp_atom_info(symbolic, info->atom)->least)
        sp_atom_info(symbolic, info->atom)->least = least_value(symbolic, fallback, poly);
}

struct sp_sym sp_atom_open(struct sp_symbolic *symbolic, const char *name, const char *key, uint64_t depends,
                           const struct sp_sym *fallback)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const size_t known = sp_map_get(&symbolic->symbols.keys, key);
    struct sp_symbol_info *info =
        known == SIZE_MAX ? new_symbol(symbolic, name, key, depends, fallback) : &symbolic->symbols.items[known];
    if (known != SIZE_MAX) join_fallback(symbolic, info, fallback);
    if (name && strcmp(info->name, key) == 0 && sp_atom_rename(algebra, info->atom, name)) info->name = name;
    const struct sp_poly *poly = sp_poly_atom(algebra, info->atom);
    if (algebra->atoms[info->atom].is_condition) return sp_sym_of_condition(poly);
    if (!fallback || fallback->kind != SP_SYM_CONDITION) return sp_sym_of_poly(poly);
    struct sp_sym truth = sp_sym_of_poly(poly); /* read as a number elsewhere: 0 is false */
    if (sp_sym_as_condition(symbolic, (struct sp_span){0}, truth, &poly)) truth = sp_sym_of_condition(poly);
    return truth;
}

/* ---- indices ---- */

/* Whether it is the index of a loop that is being counted. */
static bool is_open_index(const struct sp_symbolic *symbolic, size_t atom)
{
    for (size_t i = 0; i < symbolic->loops.count; i++)
        if (symbolic->loops.items[i].index == atom) return true;
    return false;
}

size_t sp_atom_new_index(struct sp_symbolic *symbolic, const char *name)
{
    for (;; name = sp_arena_printf(&symbolic->algebra.arena, "%s'", name)) {
        const size_t known = sp_map_get(&symbolic->algebra.names, name);
        if (known == SIZE_MAX) break;
        if (sp_atom_info(symbolic, known)->is_index && !is_open_index(symbolic, known)) return known;
    }
    if (symbolic->loops.indices == MAX_INDICES) return SIZE_MAX;
    const size_t atom = sp_atom_symbol(&symbolic->algebra, name);
    *sp_atom_info(symbolic, atom) =
        (struct sp_atom_info){.depends = (uint64_t)1 << symbolic->loops.indices++, .is_index = true, .is_whole = true};
    return atom;
}

/* ---- what is computed ---- */

const struct sp_origin *sp_origin_new(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                                      const struct sp_sym *args, size_t count)
{
    struct sp_arena *arena = &symbolic->algebra.arena;
    struct sp_sym *kept = sp_arena_array(arena, count, sizeof *kept);
    struct sp_origin *origin = sp_arena_alloc(arena, sizeof *origin);
    if (count) memcpy(kept, args, count * sizeof *kept);
    *origin = (struct sp_origin){*operation, kept, count};
    return origin;
}

static struct sp_sym of_kind(bool is_condition, const struct sp_poly *poly)
{
    return is_condition ? sp_sym_of_condition(poly) : sp_sym_of_poly(poly);
}

/* Equal texts are one atom: what is known of it was noted when it was made. The atom depends on the indices on which
 * its arguments depend, a sum not on its own. A text that is too long fails the algebra. */
struct sp_sym sp_atom_computed(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                               const struct sp_sym *args, size_t count, struct sp_atom_properties fact,
                               const char *text)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    if (strlen(text) > MAX_ATOM_TEXT) {
        if (!algebra->failed) algebra->failed = "a formula is too long to be written down";
        return of_kind(fact.is_condition, sp_poly_int(algebra, 0));
    }
    const size_t known = sp_map_get(&algebra->names, text);
    const size_t atom = fact.is_condition ? sp_atom_condition(algebra, text) : sp_atom_symbol(algebra, text);
    if (known == SIZE_MAX) {
        struct sp_atom_info info = {.origin = sp_origin_new(symbolic, operation, args, count),
                                    .is_whole = fact.is_whole || fact.is_condition,
                                    .is_bounded = fact.is_bounded || fact.is_condition,
                                    .is_given = fact.is_given,
                                    .least = fact.least};
        for (size_t i = 0; i < count; i++) info.depends |= sp_sym_depends(symbolic, args[i]);
        if (operation->kind == SP_DO_SUM) info.depends &= ~sp_atom_info(symbolic, operation->index)->depends;
        *sp_atom_info(symbolic, atom) = info;
    }
    return of_kind(fact.is_condition, sp_poly_atom(algebra, atom));
}

/* The symbol of an atom (or of SIZE_MAX, which has none); NULL for none. */
static struct sp_symbol_info *symbol_of_atom(const struct sp_symbolic *symbolic, size_t atom)
{
    for (size_t i = 0; atom != SIZE_MAX && i < symbolic->symbols.count; i++)
        if (symbolic->symbols.items[i].atom == atom) return &symbolic->symbols.items[i];
    return NULL;
}

void sp_atom_name(struct sp_symbolic *symbolic, const char *name, const struct sp_sym *sym)
{
    if (sym->kind != SP_SYM_NUMBER && sym->kind != SP_SYM_CONDITION) return;
    const size_t atom = sp_atom_alone(sym->poly);
    if (atom == SIZE_MAX || sp_atom_info(symbolic, atom)->depends) return;
    struct sp_symbol_info *known = symbol_of_atom(symbolic, atom);
    const char *text = symbolic->algebra.atoms[atom].text;
    if (known && strcmp(known->name, known->key) != 0) return; /* has a name already */
    if (!sp_atom_rename(&symbolic->algebra, atom, name)) return;
    if (known) known->name = name;
    if (known || !sp_atom_info(symbolic, atom)->origin) return;
    SP_GROW(symbolic->symbols.items, symbolic->symbols.count, symbolic->symbols.capacity);
    symbolic->symbols.items[symbolic->symbols.count++] =
        (struct sp_symbol_info){.atom = atom, .name = name, .key = text, .is_computed = true};
}

void sp_atom_default(struct sp_symbolic *symbolic, const struct sp_sym *sym, const struct sp_sym *fallback)
{
    const size_t atom = sym->kind <= SP_SYM_CONDITION ? sp_atom_alone(sym->poly) : SIZE_MAX;
    struct sp_symbol_info *symbol = symbol_of_atom(symbolic, atom);
    if (symbol && !symbol->is_computed && !symbol->fallback) join_fallback(symbolic, symbol, fallback);
}

bool sp_atom_is_text(struct sp_symbolic *symbolic, const struct sp_sym *sym)
{
    const size_t atom = sp_atom_alone(sym->poly);
    struct sp_symbol_info *symbol = symbol_of_atom(symbolic, atom);
    if (!symbol || symbol->is_computed) return false;
    symbol->is_text = true;
    const struct sp_origin *side = sp_atom_info(symbolic, atom)->origin;
    if (side && side->args[0].kind == SP_SYM_NUMBER) sp_atom_is_text(symbolic, &side->args[0]);
    return true;
}

void sp_atom_side(struct sp_symbolic *symbolic, const struct sp_sym *args, struct sp_sym side)
{
    const size_t pair = args[0].kind == SP_SYM_NUMBER ? sp_atom_alone(args[0].poly) : SIZE_MAX;
    const struct sp_symbol_info *of = symbol_of_atom(symbolic, pair);
    const size_t atom = sp_atom_alone(side.poly);
    struct shapeproof_value place;
    if (!of || of->is_computed || atom == SIZE_MAX || symbol_of_atom(symbolic, atom)) return;
    if (!sp_sym_literal(args[1], &place) || place.type != SHAPEPROOF_VALUE_INT) return;
    const char *key = sp_arena_printf(&symbolic->algebra.arena, "%s[%lld]", of->key, (long long)place.integer);
    const char *name = sp_atom_rename(&symbolic->algebra, atom, key) ? key : symbolic->algebra.atoms[atom].text;
    if (!sp_map_add(&symbolic->symbols.keys, key, symbolic->symbols.count)) return;
    SP_GROW(symbolic->symbols.items, symbolic->symbols.count, symbolic->symbols.capacity);
    symbolic->symbols.items[symbolic->symbols.count++] =
        (struct sp_symbol_info){.atom = atom, .name = name, .key = key};
}

bool sp_atom_assume(struct sp_symbolic *symbolic, size_t atom)
{
    const char *range = sp_atom_info(symbolic, atom)->range;
    for (size_t i = 0; i < symbolic->premises.count; i++)
        if (strcmp(symbolic->premises.assumed[i], range) == 0) return true;
    SP_GROW(symbolic->premises.assumed, symbolic->premises.count, symbolic->premises.capacity);
    symbolic->premises.assumed[symbolic->premises.count++] = range;
    return true;
}

/* ---- what is known of polynomials ---- */

static bool term_has(const struct sp_term *term, size_t atom)
{
    for (size_t i = 0; i < term->count; i++)
        if (term->factors[i].atom == atom) return true;
    return false;
}

uint64_t sp_poly_depends(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    uint64_t depends = 0;
    for (size_t i = 0; poly && i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++)
            depends |= sp_atom_info(symbolic, poly->terms[i].factors[k].atom)->depends;
    return depends;
}

uint64_t sp_sym_depends(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    if (sym.kind == SP_SYM_VALUE) return 0;
    if (sym.kind == SP_SYM_OPAQUE) return sym.depends;
    uint64_t depends = sp_poly_depends(symbolic, sym.poly);
    for (size_t i = 0; sym.kind == SP_SYM_EITHER && i < 2; i++) depends |= sp_sym_depends(symbolic, sym.either[i]);
    return depends;
}

bool sp_poly_is_whole(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    if (!poly) return false;
    for (size_t i = 0; i < poly->count; i++) {
        if (poly->terms[i].coefficient.den != 1) return false;
        for (size_t k = 0; k < poly->terms[i].count; k++)
            if (poly->terms[i].factors[k].exponent < 0 ||
                !sp_atom_info(symbolic, poly->terms[i].factors[k].atom)->is_whole)
                return false;
    }
    return true;
}

/* Whether a polynomial is seen to be 0 or more, where the first `loops` of the open loops have not been put in yet. The
 * method: indices of loops are replaced by a bound and something from 0 up, each condition with a negative sign by 0
 * and by 1, and every other atom by its least value and something from 0 up. The polynomial is never negative when no
 * sign in it is negative then. `depth`: how often something was put in. */
static bool never_negative(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t loops, unsigned depth);

/* never_negative, with the value in the place of the atom. */
static bool with_value(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t atom,
                       const struct sp_poly *value, size_t loops, unsigned depth)
{
    const struct sp_poly *put = sp_poly_substitute(&symbolic->algebra, poly, atom, value);
    return put && never_negative(symbolic, put, loops, depth + 1);
}

/* An index is its first value and something from 0 up, or its last value less something from 0 up. Indices of outer
 * loops may be in these, so that the innermost loop goes first. */
static bool through_loop(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t loops, unsigned depth)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_open_loop *loop = &symbolic->loops.items[loops - 1];
    const struct sp_poly *index = sp_poly_atom(algebra, loop->index);
    if (!sp_poly_uses(poly, loop->index)) return never_negative(symbolic, poly, loops - 1, depth);
    return with_value(symbolic, poly, loop->index, sp_poly_add(algebra, loop->first, index), loops - 1, depth) ||
           with_value(symbolic, poly, loop->index, sp_poly_sub(algebra, loop->last, index), loops - 1, depth);
}

/* A condition in a term with a negative sign; SIZE_MAX for none. */
static size_t negative_condition(const struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; poly->terms[i].coefficient.num < 0 && k < poly->terms[i].count; k++)
            if (symbolic->algebra.atoms[poly->terms[i].factors[k].atom].is_condition)
                return poly->terms[i].factors[k].atom;
    return SIZE_MAX;
}

/* Below which value a bounded atom never falls, under the premises: a hyper-parameter that only counts something may be
 * 0 with premises.counts, any hyper-parameter without premises.sizes. */
static int64_t lowest(const struct sp_symbolic *symbolic, const struct sp_atom_info *info)
{
    if (symbolic->premises.counts && info->is_given && !info->is_size && info->least > 0) return 0;
    return symbolic->premises.sizes || info->least < 0 || !info->is_given ? info->least : 0;
}

/* The polynomial with x + least in the place of each atom that has a least value, so that x is from 0 up. An atom below
 * a fraction line stays as it is. */
static const struct sp_poly *shifted(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *result = poly;
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; result && k < poly->terms[i].count; k++) {
            const size_t atom = poly->terms[i].factors[k].atom;
            const struct sp_atom_info info = *sp_atom_info(symbolic, atom);
            const int64_t least = info.is_bounded ? lowest(symbolic, &info) : 0;
            bool done = !least || sp_poly_low_degree(poly, atom) < 0;
            for (size_t t = 0; t < i; t++) done = done || term_has(&poly->terms[t], atom);
            if (done) continue;
            const struct sp_poly *sum = sp_poly_add(algebra, sp_poly_atom(algebra, atom), sp_poly_int(algebra, least));
            result = sp_poly_substitute(algebra, result, atom, sum);
        }
    return result;
}

/* Whether no term of a shifted polynomial can be negative: its sign is not, and each factor is from 0 up or a square.
 */
static bool has_good_signs(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    for (size_t i = 0; i < poly->count; i++) {
        if (poly->terms[i].coefficient.num < 0) return false;
        for (size_t k = 0; k < poly->terms[i].count; k++) {
            const struct sp_factor factor = poly->terms[i].factors[k];
            const struct sp_atom_info *info = sp_atom_info(symbolic, factor.atom);
            const bool index = info->is_index && is_open_index(symbolic, factor.atom); /* by now what is left of it */
            const bool is_shifted = sp_poly_low_degree(poly, factor.atom) >= 0;
            const bool bounded = info->is_bounded && (is_shifted || lowest(symbolic, info) >= 0);
            if (!index && !bounded && factor.exponent % 2) return false;
        }
    }
    return true;
}

static bool never_negative(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t loops, unsigned depth)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational value;
    if (!poly || algebra->failed || depth > MAX_BOUND_DEPTH || poly->count > MAX_TERMS_BOUNDED) return false;
    if (sp_poly_is_constant(poly, &value)) return value.num >= 0;
    if (loops) return through_loop(symbolic, poly, loops, depth);
    const size_t condition = negative_condition(symbolic, poly);
    if (condition != SIZE_MAX)
        return with_value(symbolic, poly, condition, sp_poly_int(algebra, 0), 0, depth) &&
               with_value(symbolic, poly, condition, sp_poly_int(algebra, 1), 0, depth);
    const struct sp_poly *all = shifted(symbolic, poly);
    return all && !algebra->failed && has_good_signs(symbolic, all);
}

bool sp_poly_never_negative(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    return never_negative(symbolic, poly, symbolic->loops.count, 0);
}

bool sp_atom_comparison(struct sp_symbolic *symbolic, size_t atom, const struct sp_poly **gap, bool *equality)
{
    struct sp_atom_info *info = sp_atom_info(symbolic, atom);
    const struct sp_origin *origin = info->origin;
    if (!origin || origin->operation.kind != SP_DO_BINARY) return false;
    const struct sp_sym *args = origin->args;
    *equality = origin->operation.op == SP_OP_EQ;
    if (!*equality && origin->operation.op != SP_OP_LT) return false;
    if (args[0].kind != SP_SYM_NUMBER || args[1].kind != SP_SYM_NUMBER) return false;
    *gap = info->gap ? info->gap : sp_poly_sub(&symbolic->algebra, args[1].poly, args[0].poly);
    if (!symbolic->algebra.failed) info->gap = *gap;
    return true;
}

bool sp_poly_is_linear(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t index, int *sign,
                       const struct sp_poly **rest)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational slope;
    if (sp_poly_degree(poly, index) != 1 || sp_poly_low_degree(poly, index) < 0) return false;
    const struct sp_poly *by = sp_poly_coefficient(algebra, poly, index, 1);
    if (!sp_poly_is_constant(by, &slope) || slope.den != 1 || (slope.num != 1 && slope.num != -1)) return false;
    *sign = (int)slope.num;
    *rest = sp_poly_coefficient(algebra, poly, index, 0);
    return !(sp_poly_depends(symbolic, *rest) & sp_atom_info(symbolic, index)->depends);
}

/* sp_poly_reach for a symbolic value. */
static void reach_atoms(struct sp_symbolic *symbolic, struct sp_sym sym, char *seen)
{
    for (size_t i = 0; sym.kind == SP_SYM_OPAQUE && i < sym.count; i++) reach_atoms(symbolic, sym.items[i], seen);
    for (size_t i = 0; sym.kind == SP_SYM_OPAQUE && sym.origin && i < sym.origin->count; i++)
        reach_atoms(symbolic, sym.origin->args[i], seen);
    for (size_t i = 0; sym.kind == SP_SYM_EITHER && i < 2; i++) reach_atoms(symbolic, sym.either[i], seen);
    if (sym.kind != SP_SYM_VALUE && sym.kind != SP_SYM_OPAQUE) sp_poly_reach(symbolic, sym.poly, seen);
}

void sp_poly_reach(struct sp_symbolic *symbolic, const struct sp_poly *poly, char *seen)
{
    for (size_t i = 0; poly && i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++) {
            const size_t atom = poly->terms[i].factors[k].atom;
            if (seen[atom]) continue;
            seen[atom] = 1;
            const struct sp_origin *origin = sp_atom_info(symbolic, atom)->origin;
            for (size_t a = 0; origin && a < origin->count; a++) reach_atoms(symbolic, origin->args[a], seen);
        }
}

void sp_poly_mark_sizes(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    const size_t atoms = symbolic->algebra.atom_count;
    bool all = true;
    for (size_t i = 0; poly && i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++)
            all = all && sp_atom_info(symbolic, poly->terms[i].factors[k].atom)->is_size;
    if (!poly || all) return;
    char *seen = sp_realloc(NULL, atoms, 1);
    memset(seen, 0, atoms);
    sp_poly_reach(symbolic, poly, seen);
    for (size_t i = 0; i < atoms; i++)
        if (seen[i]) sp_atom_info(symbolic, i)->is_size = true;
    sp_free(seen);
}

bool sp_poly_involves(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t which)
{
    char *seen = sp_realloc(NULL, symbolic->algebra.atom_count, 1);
    memset(seen, 0, symbolic->algebra.atom_count);
    sp_poly_reach(symbolic, poly, seen);
    const bool involved = seen[which];
    sp_free(seen);
    return involved;
}
