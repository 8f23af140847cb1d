/* SPDX-License-Identifier: MIT */
#include "prove/words.h"

#include <string.h>

#include "prove/symbolic/atoms.h"
#include "prove/symbolic/operate.h"

/* Where the bracket that opens at the beginning is closed. */
static size_t closing_bracket(const char *text)
{
    size_t depth = 0, at = 0;
    for (; text[at]; at++) {
        depth += text[at] == '(' || text[at] == '[';
        if ((text[at] == ')' || text[at] == ']') && --depth == 0) break;
    }
    return at;
}

const char *sp_formula_words(struct sp_symbolic *symbolic, const char *text)
{
    const size_t length = strlen(text);
    if ((*text != '(' && *text != '[') || closing_bracket(text) + 1 != length) return text;
    return sp_arena_copy(&symbolic->algebra.arena, text + 1, length - 2);
}

/* Of the condition absent(key): "key is not given", or "key is given"; of null(key): "key is null" or "is not null". */
static const char *unset_words(struct sp_symbolic *symbolic, const struct sp_symbol_info *symbol, bool holds)
{
    const bool null = strncmp(symbol->key, "null(", 5) == 0;
    const char *word = null ? (holds ? "is null" : "is not null") : holds ? "is not given" : "is given";
    return sp_arena_printf(&symbolic->algebra.arena, "%s %s", symbol->unset_key, word);
}

/* Of the condition 0 < x: "x > 0" where it holds, else "x <= 0", or "x == 0" for an x that is never below 0. */
static const char *sign_words(struct sp_symbolic *symbolic, const struct sp_poly *poly, bool holds)
{
    const bool bounded = sp_poly_never_negative(symbolic, poly);
    return sp_arena_printf(&symbolic->algebra.arena, "%s %s 0", sp_sym_text(symbolic, poly),
                           holds     ? ">"
                           : bounded ? "=="
                                     : "<=");
}

static bool is_constant_side(struct sp_sym sym)
{
    struct sp_rational value;
    return sym.kind == SP_SYM_NUMBER && sp_poly_is_constant(sym.poly, &value);
}

/* Of the conditions a == b, a in b and a < b. A constant stands on the right: "b > 2" for 2 < b, "a >= 2" for not a
 * < 2.
 */
static const char *comparison_words(struct sp_symbolic *symbolic, const struct sp_origin *origin, bool holds)
{
    struct sp_arena *arena = &symbolic->algebra.arena;
    const struct sp_sym left = origin->args[0], right = origin->args[1];
    const char *a = sp_sym_compared_words(symbolic, left), *b = sp_sym_compared_words(symbolic, right);
    if (origin->operation.op == SP_OP_EQ) return sp_arena_printf(arena, "%s %s %s", a, holds ? "==" : "!=", b);
    if (origin->operation.op == SP_OP_IN) return sp_arena_printf(arena, "%s %s %s", a, holds ? "in" : "not in", b);
    if (left.kind == SP_SYM_NUMBER && right.kind == SP_SYM_NUMBER && sp_poly_is_zero(left.poly))
        return sign_words(symbolic, right.poly, holds);
    if (is_constant_side(left) && holds) return sp_arena_printf(arena, "%s > %s", b, a);
    if (is_constant_side(right) && !holds) return sp_arena_printf(arena, "%s >= %s", a, b);
    return holds ? sp_arena_printf(arena, "%s < %s", a, b) : sp_arena_printf(arena, "%s <= %s", b, a);
}

/* The symbol of the table that is the condition; NULL for a condition without one, such as a comparison. */
static const struct sp_symbol_info *symbol_of(const struct sp_symbolic *symbolic, size_t condition)
{
    for (size_t i = 0; i < symbolic->symbols.count; i++)
        if (symbolic->symbols.items[i].atom == condition) return &symbolic->symbols.items[i];
    return NULL;
}

const char *sp_condition_words(struct sp_symbolic *symbolic, size_t condition, bool holds)
{
    const char *text = symbolic->algebra.atoms[condition].text;
    const struct sp_symbol_info *symbol = symbol_of(symbolic, condition);
    if (symbol && symbol->unset_key) return unset_words(symbolic, symbol, holds);
    if (symbol) return holds ? text : sp_arena_printf(&symbolic->algebra.arena, "not %s", text); /* by its name */
    const struct sp_origin *origin = sp_atom_info(symbolic, condition)->origin;
    if (origin && origin->operation.kind == SP_DO_BINARY) return comparison_words(symbolic, origin, holds);
    const char *plain = sp_formula_words(symbolic, text);
    return holds ? plain : sp_arena_printf(&symbolic->algebra.arena, "not %s", plain);
}

const char *sp_condition_by_key(struct sp_symbolic *symbolic, size_t condition, bool holds)
{
    const struct sp_symbol_info *symbol = symbol_of(symbolic, condition);
    if (!symbol || symbol->unset_key || symbol->is_computed) return sp_condition_words(symbolic, condition, holds);
    return sp_arena_printf(&symbolic->algebra.arena, "%s = %s", symbol->key, holds ? "true" : "false");
}
