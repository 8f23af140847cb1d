/* SPDX-License-Identifier: MIT
 * The formulas of a table for all cases, as a file of claims about it. `prove` proves them, and refutes them once they
 * are changed; so they are a starting point for claims of one's own. Of a table with a tied head:
 *
 *     claims for gpt
 *     claim [embedding] = V*E
 *     claim [head] = -V*E*(tied - 1)                   a flag is 1 where it holds, else 0
 *     claim total = V*E*(2 - tied) + ...
 *
 * What repeats in long formulas has a name there too, and so have hyper-parameters with long names (shorten.h):
 *
 *     x_1 = image_size // patch_size
 *
 * A formula that is still too long for one line is the sum of definitions, `part_1` and so on. */
#include <assert.h>

#include "base/call.h"
#include "base/error.h"
#include "prove/cases.h"
#include "prove/claims.h"
#include "prove/shorten.h"
#include "shapeproof/prove.h"

/* Characters of a formula: longer ones are divided, because the language limits the operators of a line. */
enum { LONGEST_FORMULA = 1500, LONGEST_PART = 1000 };

struct claim_writer {
    struct sp_count *count;
    struct sp_text *text;
    struct sp_shortening shortening;
    size_t parts; /* definitions part_1, part_2, ... so far */
};

static const char *factored_text(struct sp_count *count, const struct sp_poly *formula)
{
    struct sp_text text = {0};
    sp_poly_put_factored(&text, &count->symbolic.algebra, formula);
    return sp_text_keep(&text, &count->symbolic.algebra.arena);
}

/* One part of a formula: as many of its terms, from *next on, as a line takes. */
static void put_part(struct claim_writer *writer, const struct sp_poly *formula, size_t *next)
{
    struct sp_algebra *algebra = &writer->count->symbolic.algebra;
    struct sp_text part = {0};
    for (bool first = true; *next < formula->count && part.length < LONGEST_PART; first = false) {
        const struct sp_poly term = {&formula->terms[(*next)++], 1};
        struct sp_text text = {0};
        sp_poly_put_expanded(&text, algebra, &term);
        sp_text_printf(&part, "%s%s", first ? "" : " + ", sp_shorten_text(&writer->shortening, text.data));
        sp_text_free(&text);
    }
    sp_text_printf(writer->text, "part_%zu = %s\n", ++writer->parts, part.data);
    sp_text_free(&part);
}

/* "claim LEFT = FORMULA", with the definitions of its parts above it if it is long. */
static void put_claim(struct claim_writer *writer, const char *left, const struct sp_poly *formula,
                      const char *factored)
{
    const char *right = sp_shorten_text(&writer->shortening, factored);
    struct sp_text sum = {0};
    if (strlen(right) > LONGEST_FORMULA) {
        for (size_t next = 0; next < formula->count;) {
            put_part(writer, formula, &next);
            sp_text_printf(&sum, "%spart_%zu", sum.length ? " + " : "", writer->parts);
        }
        right = sum.data;
    }
    sp_text_printf(writer->text, "claim %s = %s\n", left, right);
    sp_text_free(&sum);
}

/* The formulas of the groups, then that of the total; NULL where one has no value. */
static const struct sp_poly **general_formulas(struct sp_count *count)
{
    const struct sp_poly **formulas =
        sp_arena_array(&count->symbolic.algebra.arena, count->group_count + 1, sizeof *formulas);
    for (size_t i = 0; i <= count->group_count; i++) {
        const struct sp_poly *whole = i < count->group_count ? count->groups[i].parameters : count->total;
        formulas[i] = sp_case_general(count, whole);
        if (!formulas[i]) return NULL;
    }
    return formulas;
}

/* Chooses the names of what repeats in the formulas, and writes what they mean. */
static void put_names(struct claim_writer *writer, const char *const *formulas, size_t formula_count,
                      enum sp_key_names keys)
{
    struct sp_shortening *shortening = &writer->shortening;
    const struct sp_sym_symbols *symbols = &writer->count->symbolic.symbols;
    sp_shorten_reserve_table(shortening, writer->count->table);
    for (size_t i = 0; i < symbols->count; i++) {
        const struct sp_symbol_info *symbol = &symbols->items[i];
        if (keys == SP_KEYS_SHORT && strcmp(symbol->name, symbol->key) == 0) sp_shorten_key(shortening, symbol->name);
        else sp_shorten_reserve(shortening, symbol->name);
    }
    for (size_t i = 0; i < formula_count; i++) sp_shorten_add(shortening, formulas[i]);
    sp_shorten_choose(shortening);
    for (size_t i = 0; i < shortening->names.count; i++)
        sp_text_printf(writer->text, "%s = %s\n", shortening->names.items[i].name, shortening->names.items[i].meaning);
    if (shortening->names.count) sp_text_puts(writer->text, "\n");
}

/* `formulas` as general_formulas returns them. */
static void put_claims(struct sp_count *count, const struct sp_poly *const *formulas, enum sp_key_names keys,
                       struct sp_text *text)
{
    struct claim_writer writer = {.count = count, .text = text};
    struct sp_arena *arena = &count->symbolic.algebra.arena;
    const char **factored = sp_arena_array(arena, count->group_count + 1, sizeof *factored);
    for (size_t i = 0; i <= count->group_count; i++) factored[i] = factored_text(count, formulas[i]);
    sp_text_printf(text, "claims for %s", count->table->name);
    for (size_t i = 0; i < count->symbolic.premises.count; i++)
        sp_text_printf(text, "%s%s", i ? ", " : " when ", count->symbolic.premises.assumed[i]);
    sp_text_puts(text, "\n\n");
    put_names(&writer, factored, count->group_count + 1, keys);
    for (size_t i = 0; i < count->group_count; i++) /* tensors above all headings are a group without a name */
        if (*count->groups[i].name)
            put_claim(&writer, sp_arena_printf(arena, "[%s]", count->groups[i].name), formulas[i], factored[i]);
    put_claim(&writer, "total", formulas[count->group_count], factored[count->group_count]);
    sp_shorten_free(&writer.shortening);
}

bool sp_derive_claims(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                      enum sp_key_names keys, struct sp_text *text, struct shapeproof_error *error)
{
    const bool counted = sp_count_table(count, tables, table, NULL, SP_SIDES_MAY_DIFFER);
    count->counts_may_be_0 = true; /* as for the claims that prove judges */
    const struct sp_poly **formulas = counted ? general_formulas(count) : NULL;
    if (formulas && !count->symbolic.algebra.failed) {
        put_claims(count, formulas, keys, text);
        return true;
    }
    if (!counted && count->messages.data)
        return sp_fail_lines(error, SHAPEPROOF_ERR_UNKNOWN, sp_sym_failure(&count->symbolic), count->messages.data);
    return sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_LIMIT,
                   "the table '%s' has no formula for all cases: %s", table->name,
                   count->symbolic.algebra.failed ? count->symbolic.algebra.failed : "a part of it has no value");
}

char *shapeproof_derive_claims(const struct shapeproof_tables *tables, const char *table, size_t *length,
                               struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("deriving the formulas");
    sp_error_reset(error);
    assert(tables && table);
    struct sp_count count;
    struct sp_text text = {0};
    const struct sp_unit *unit = sp_tables_table(tables, table, error);
    if (!unit) return NULL;
    sp_derive_claims(&count, tables, unit, SP_KEYS_SHORT, &text, error);
    sp_count_free(&count);
    if (length) *length = text.length;
    return text.data; /* handed over */
}
