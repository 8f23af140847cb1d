/* SPDX-License-Identifier: MIT
 * The formulas of a table for all cases, as a file of claims about it. `prove` proves them, and refutes them once they
 * are changed; so they are a starting point for claims of one's own. Of a table with a tied head:
 *
 *     claims for gpt
 *     claim [embedding] = V*E
 *     claim [head] = -V*E*(tied - 1)                   a flag is 1 where it holds, else 0
 *     claim total = V*E*(2 - tied) + ...
 *
 * A formula that is too long for one line is the sum of definitions, `part_1` and so on. */
#include <assert.h>

#include "base/error.h"
#include "prove/cases.h"
#include "prove/claims.h"
#include "shapeproof/prove.h"

/* Characters of a formula: longer ones are divided, because the language limits the operators of a line. */
enum { LONGEST_FORMULA = 1500, LONGEST_PART = 1000 };

struct claim_writer {
    struct sp_count *count;
    struct sp_text *text;
    size_t parts; /* definitions so far */
};

/* One part of a formula: as many of its terms, from *next on, as a line takes. */
static void put_part(struct claim_writer *writer, const struct sp_poly *formula, size_t *next)
{
    struct sp_algebra *algebra = &writer->count->symbolic.algebra;
    const size_t begin = writer->text->length;
    sp_text_printf(writer->text, "part_%zu = ", ++writer->parts);
    for (bool first = true; *next < formula->count && writer->text->length - begin < LONGEST_PART; first = false) {
        const struct sp_poly term = {&formula->terms[(*next)++], 1};
        if (!first) sp_text_puts(writer->text, " + ");
        sp_poly_put_expanded(writer->text, algebra, &term, SP_NOTATION_TEXT);
    }
    sp_text_puts(writer->text, "\n");
}

/* "claim LEFT = FORMULA", with the definitions of its parts above it if it is long. */
static void put_claim(struct claim_writer *writer, const char *left, const struct sp_poly *formula)
{
    struct sp_text right = {0};
    sp_text_puts(&right, "");
    sp_poly_put_factored(&right, &writer->count->symbolic.algebra, formula, SP_NOTATION_TEXT);
    if (right.length > LONGEST_FORMULA) {
        right.length = 0;
        for (size_t next = 0; next < formula->count;) {
            put_part(writer, formula, &next);
            sp_text_printf(&right, "%spart_%zu", right.length ? " + " : "", writer->parts);
        }
    }
    sp_text_printf(writer->text, "claim %s = %s\n", left, right.data);
    sp_text_free(&right);
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

static void put_claims(struct sp_count *count, const struct sp_poly *const *formulas, struct sp_text *text)
{
    struct claim_writer writer = {.count = count, .text = text};
    struct sp_arena *arena = &count->symbolic.algebra.arena;
    sp_text_printf(text, "claims for %s", count->table->name);
    for (size_t i = 0; i < count->symbolic.premises.count; i++)
        sp_text_printf(text, "%s%s", i ? ", " : " when ", count->symbolic.premises.assumed[i]);
    sp_text_puts(text, "\n\n");
    for (size_t i = 0; i < count->group_count; i++) /* tensors above all headings are a group without a name */
        if (*count->groups[i].name)
            put_claim(&writer, sp_arena_printf(arena, "[%s]", count->groups[i].name), formulas[i]);
    put_claim(&writer, "total", formulas[count->group_count]);
}

bool sp_derive_claims(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                      struct sp_text *text, struct shapeproof_error *error)
{
    const bool counted = sp_count_table(count, tables, table, NULL, SP_SIDES_MAY_DIFFER);
    count->counts_may_be_0 = true; /* as for the claims that prove judges */
    const struct sp_poly **formulas = counted ? general_formulas(count) : NULL;
    if (formulas && !count->symbolic.algebra.failed) {
        put_claims(count, formulas, text);
        return true;
    }
    if (!counted && count->messages.data)
        return sp_fail_lines(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, count->messages.data);
    return sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_LIMIT,
                   "the table '%s' has no formula for all cases: %s", table->name,
                   count->symbolic.algebra.failed ? count->symbolic.algebra.failed : "a part of it has no value");
}

char *shapeproof_derive_claims(const struct shapeproof_tables *tables, const char *table, size_t *length,
                               struct shapeproof_error *error)
{
    sp_error_reset(error);
    assert(tables && table);
    struct sp_count count;
    struct sp_text text = {0};
    const struct sp_unit *unit = sp_tables_table(tables, table, error);
    if (!unit) return NULL;
    sp_derive_claims(&count, tables, unit, &text, error);
    sp_count_free(&count);
    if (length) *length = text.length;
    return text.data; /* handed over */
}
