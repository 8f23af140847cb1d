/* SPDX-License-Identifier: MIT
 * Values that are known in part: their kinds, and how they are written. */
#include "base/real.h"
#include "prove/symbolic/operations.h"

#include <math.h>
#include <string.h>

#include "prove/symbolic/atoms.h"

/* ---- kinds ---- */

struct sp_sym sp_sym_of_poly(const struct sp_poly *poly)
{
    return (struct sp_sym){.kind = SP_SYM_NUMBER, .poly = poly};
}

struct sp_sym sp_sym_of_condition(const struct sp_poly *poly)
{
    return (struct sp_sym){.kind = SP_SYM_CONDITION, .poly = poly};
}

struct sp_sym sp_sym_of_truth(struct sp_symbolic *symbolic, bool value)
{
    return sp_sym_of_condition(sp_poly_int(&symbolic->algebra, value));
}

struct sp_sym sp_sym_of_value(struct sp_symbolic *symbolic, struct shapeproof_value value)
{
    if (value.type == SHAPEPROOF_VALUE_INT) return sp_sym_of_poly(sp_poly_int(&symbolic->algebra, value.integer));
    if (value.type == SHAPEPROOF_VALUE_BOOL) return sp_sym_of_truth(symbolic, value.boolean);
    return (struct sp_sym){.kind = SP_SYM_VALUE, .value = value};
}

const struct sp_poly *sp_sym_not(struct sp_symbolic *symbolic, const struct sp_poly *condition)
{
    return sp_poly_sub(&symbolic->algebra, sp_poly_int(&symbolic->algebra, 1), condition);
}

bool sp_sym_is_numeric(struct sp_sym sym) { return sym.kind == SP_SYM_NUMBER || sym.kind == SP_SYM_CONDITION; }

bool sp_sym_is_set(struct sp_sym sym) { return sym.kind != SP_SYM_VALUE || sp_value_is_set(sym.value); }

bool sp_sym_literal(struct sp_sym sym, struct shapeproof_value *value)
{
    struct sp_rational number;
    *value = sym.value;
    if (sym.kind == SP_SYM_VALUE) return sp_value_is_set(sym.value);
    if (!sp_sym_is_numeric(sym) || !sp_poly_is_constant(sym.poly, &number)) return false;
    if (sym.kind == SP_SYM_CONDITION) *value = sp_value_bool(number.num != 0);
    else if (number.den == 1) *value = sp_value_int(number.num);
    else *value = sp_value_real((double)number.num / (double)number.den);
    return true;
}

/* The message for an argument of a measure that is not given. NULL if the key is no such argument. */
static const char *argument_not_given(const char *key)
{
    if (key == sp_flops_names[SP_FLOPS_PATCHES])
        return "the number of patches of an image is not given: flops(..., patches=...)";
    if (key == sp_flops_names[SP_FLOPS_SOURCE_TOKENS]) return "what the encoder reads is not given: source_tokens=...";
    if (key == sp_flops_names[SP_FLOPS_IMAGES]) return "the number of images is not given: images=...";
    return NULL;
}

/* Reports that a value is needed and not set, and notes the first key that is absent. Always false. */
static bool not_set(struct sp_symbolic *symbolic, struct sp_span span, struct shapeproof_value value)
{
    const bool is_absent = value.type == SHAPEPROOF_VALUE_ABSENT;
    const bool heard = symbolic->report.messages != &symbolic->report.unheard, named = value.string && *value.string;
    const char *argument = is_absent ? argument_not_given(value.string) : NULL;
    if (heard && named && is_absent && !symbolic->report.missing) symbolic->report.missing = value.string;
    if (argument) return sp_sym_fail(symbolic, span, "%s", argument);
    return sp_sym_fail(symbolic, span, "the hyper-parameter '%s' is %s", value.string ? value.string : "",
                       value.type == SHAPEPROOF_VALUE_NULL ? "null" : "not set");
}

const char *sp_sym_kind(struct sp_sym sym)
{
    if (sym.kind == SP_SYM_VALUE) return sp_value_kind(sym.value.type);
    if (sym.kind == SP_SYM_OPAQUE) return sym.items ? "a list" : "a string";
    return sym.kind == SP_SYM_CONDITION ? "a truth value" : "an integer";
}

/* A decimal fraction such as 0.05 is the fraction that its digits say, although predictions compute with the
 * floating-point number next to it; one of too many digits has no exact value. */
static const struct sp_poly *real_poly(struct sp_symbolic *symbolic, double real)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational value;
    int64_t den = 1;
    for (int digits = 0; digits <= 9 && fabs(real) < 1e9; digits++, den *= 10) {
        const double num = round(real * (double)den);
        if (num / (double)den == real && fabs(num) < 9e15 && sp_rational_make((int64_t)num, den, &value))
            return sp_poly_rational(algebra, value);
    }
    const size_t atom = sp_atom_symbol(algebra, sp_arena_string(&algebra->arena, sp_real_text(real, 17).text));
    *sp_atom_info(symbolic, atom) = (struct sp_atom_info){.is_bounded = real >= 0, .is_real = true, .real = real};
    return sp_poly_atom(algebra, atom);
}

/* A value that is either of two as a number: an atom that remembers the choice. */
static struct sp_sym choice_number(struct sp_symbolic *symbolic, struct sp_sym either)
{
    const struct sp_operation operation = {.kind = SP_DO_CHOICE};
    const struct sp_sym args[] = {sp_sym_of_condition(either.poly), either.either[0], either.either[1]};
    return sp_atom_computed(symbolic, &operation, args, 3, (struct sp_atom_properties){.is_condition = false},
                            sp_sym_words(symbolic, either));
}

bool sp_sym_as_number(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym sym, const struct sp_poly **out)
{
    *out = sym.poly;
    if (sp_sym_is_numeric(sym)) return true;
    if (sym.kind == SP_SYM_EITHER) *out = choice_number(symbolic, sym).poly;
    else if (sym.kind == SP_SYM_VALUE && sym.value.type == SHAPEPROOF_VALUE_REAL)
        *out = real_poly(symbolic, sym.value.real);
    else if (!sp_sym_is_set(sym)) return not_set(symbolic, span, sym.value);
    else return sp_sym_fail(symbolic, span, "expected a number, found %s", sp_sym_kind(sym));
    return true;
}

struct sp_sym sp_sym_truth(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym number)
{
    const struct sp_operation operation = {.kind = SP_DO_TRUTH, .span = span};
    struct sp_rational value;
    if (sp_poly_is_constant(number.poly, &value)) return sp_sym_of_truth(symbolic, value.num != 0);
    const char *text = sp_arena_printf(&symbolic->algebra.arena, "[%s]", sp_sym_text(symbolic, number.poly));
    return sp_atom_computed(symbolic, &operation, &number, 1, (struct sp_atom_properties){.is_condition = true}, text);
}

/* A number used as a condition says whether it is not 0. */
bool sp_sym_as_condition(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym sym,
                         const struct sp_poly **out)
{
    const struct sp_poly *yes, *no;
    *out = sym.poly;
    if (sym.kind == SP_SYM_CONDITION) return true;
    if (sym.kind == SP_SYM_NUMBER) {
        *out = sp_sym_truth(symbolic, span, sym).poly;
        return true;
    }
    if (!sp_sym_is_set(sym)) return not_set(symbolic, span, sym.value);
    if (sym.kind != SP_SYM_EITHER)
        return sp_sym_fail(symbolic, span, "expected a truth value, found %s", sp_sym_kind(sym));
    if (!sp_sym_as_condition(symbolic, span, sym.either[0], &yes) ||
        !sp_sym_as_condition(symbolic, span, sym.either[1], &no))
        return false;
    *out = sp_sym_combine(symbolic, sym.poly, sp_sym_of_condition(yes), sp_sym_of_condition(no)).poly;
    return true;
}

bool sp_sym_is_text(struct sp_sym sym)
{
    return (sym.kind == SP_SYM_VALUE && sym.value.type == SHAPEPROOF_VALUE_STRING) ||
           (sym.kind == SP_SYM_OPAQUE && !sym.items);
}

void sp_sym_mark_list(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    const size_t atom = sym.kind == SP_SYM_NUMBER ? sp_atom_alone(sym.poly) : SIZE_MAX;
    for (size_t i = 0; i < symbolic->symbols.count; i++)
        if (symbolic->symbols.items[i].atom == atom) symbolic->symbols.items[i].is_list = true;
}

void sp_sym_mark_text(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    const size_t atom = sym.kind == SP_SYM_NUMBER ? sp_atom_alone(sym.poly) : SIZE_MAX;
    for (size_t i = 0; i < symbolic->symbols.count; i++)
        if (symbolic->symbols.items[i].atom == atom) symbolic->symbols.items[i].is_text = true;
}

bool sp_poly_is_at_least(struct sp_symbolic *symbolic, const struct sp_poly *poly, int64_t above)
{
    return sp_poly_never_negative(symbolic,
                                  sp_poly_sub(&symbolic->algebra, poly, sp_poly_int(&symbolic->algebra, above)));
}

/* ---- words ---- */

const char *sp_sym_text(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    struct sp_text text = {0};
    sp_poly_put_expanded(&text, &symbolic->algebra, poly);
    return sp_text_keep(&text, &symbolic->algebra.arena);
}

const char *sp_sym_words(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    struct sp_text text = {0};
    if (sym.kind == SP_SYM_OPAQUE) return sym.name;
    if (sym.kind == SP_SYM_EITHER)
        return sp_arena_printf(&symbolic->algebra.arena, "(%s ? %s : %s)", sp_sym_text(symbolic, sym.poly),
                               sp_sym_words(symbolic, sym.either[0]), sp_sym_words(symbolic, sym.either[1]));
    if (sym.kind != SP_SYM_VALUE) return sp_sym_text(symbolic, sym.poly);
    sp_value_json(&text, sym.value);
    return sp_text_keep(&text, &symbolic->algebra.arena);
}

const char *sp_sym_compared_words(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    struct sp_rational value;
    if (sym.kind == SP_SYM_CONDITION && sp_poly_is_constant(sym.poly, &value)) return value.num ? "true" : "false";
    return sp_sym_words(symbolic, sym);
}

/* Whether it is written as one word: a name, a call, or digits. */
static bool is_tight(struct sp_sym sym)
{
    struct sp_rational number;
    if (!sp_sym_is_numeric(sym) || sp_atom_alone(sym.poly) != SIZE_MAX) return true;
    return sp_poly_is_constant(sym.poly, &number) && number.den == 1 && number.num >= 0;
}

/* Whether it is written as a product: no sum, and without a sign. */
static bool is_product(struct sp_sym sym)
{
    return !sp_sym_is_numeric(sym) ||
           (sym.poly->count <= 1 && (!sym.poly->count || sym.poly->terms[0].coefficient.num > 0));
}

const char *sp_sym_operand(struct sp_symbolic *symbolic, struct sp_sym sym, enum sp_operand_place place)
{
    const char *text = sp_sym_words(symbolic, sym);
    const bool plain = is_tight(sym) || (place == SP_OPERAND_OF_PRODUCT && is_product(sym));
    return plain ? text : sp_arena_printf(&symbolic->algebra.arena, "(%s)", text);
}

/* ---- lists ---- */

/* A list whose items are all known is a known value; but not one with a fraction in it, 1/3, which a value would round.
 * Any other list is opaque: it has its items, and the text "[a, 3]" as its name. */
struct sp_sym sp_sym_of_items(struct sp_symbolic *symbolic, const struct sp_sym *items, size_t count)
{
    struct sp_arena *arena = &symbolic->algebra.arena;
    struct shapeproof_value *values = sp_arena_array(arena, count, sizeof *values);
    struct sp_sym list = {.kind = SP_SYM_OPAQUE, .items = items, .count = count};
    struct sp_text text = {0};
    bool known = true;
    sp_text_puts(&text, "[");
    for (size_t i = 0; i < count; i++) {
        struct sp_rational number;
        const bool exact =
            !sp_sym_is_numeric(items[i]) || !sp_poly_is_constant(items[i].poly, &number) || number.den == 1;
        known = known && exact && sp_sym_literal(items[i], &values[i]);
        list.depends |= sp_sym_depends(symbolic, items[i]);
        sp_text_printf(&text, "%s%s", i ? ", " : "", sp_sym_words(symbolic, items[i]));
    }
    sp_text_puts(&text, "]");
    list.name = sp_text_keep(&text, arena);
    const struct shapeproof_value value = {.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = values};
    return known ? (struct sp_sym){.kind = SP_SYM_VALUE, .value = value} : list;
}
