/* SPDX-License-Identifier: MIT
 * Premises out of a configuration. All that it says of flags, and each number that is what the table would take by
 * default, is assumed at once; if that proves the claim, every premise that can be left out is (greedy elimination). A
 * claim total = 12*N*E^2 + ... about gpt2, of a file with n_embd 16, n_inner 64 and a tied head:
 *
 *     assumed   H = 4*E, tied          proved
 *     without   H = 4*E                refuted: H = 4*E is needed
 *     without   tied                   proved: it is not */
#include <stdlib.h>
#include <string.h>

#include "prove/claims.h"
#include "prove/settle.h"
#include "prove/words.h"

struct premises {
    struct sp_premise *items; /* heap */
    size_t count, capacity;
};

/* The truth of a flag of the table under the configuration, or of absent(KEY) or null(KEY). False when it is not known.
 */
static bool configured_truth(struct sp_count *count, const struct sp_hyper *hyper, const struct sp_values *values,
                             const struct sp_symbol_info *symbol, struct sp_rational *truth)
{
    if (symbol->unset_key) {
        const struct shapeproof_value value = sp_value_at(hyper->root, symbol->unset_key);
        const bool is_null = symbol->key[0] == 'n'; /* null(KEY), else absent(KEY) */
        *truth = sp_rational_int(value.type == (is_null ? SHAPEPROOF_VALUE_NULL : SHAPEPROOF_VALUE_ABSENT));
        return true;
    }
    const struct sp_poly *value = sp_reduce(count, sp_poly_atom(&count->symbolic.algebra, symbol->atom), values);
    return value && sp_poly_is_constant(value, truth);
}

/* Whether the equation that a premise stands for is true of the values. */
static bool is_so(struct sp_count *count, const struct sp_values *values, const struct sp_premise *premise)
{
    const struct sp_symbol_info *symbol;
    const struct sp_poly *said;
    if (!sp_premise_put(count, premise, &symbol, &said)) return false;
    const struct sp_poly *here = sp_reduce(count, sp_poly_atom(&count->symbolic.algebra, symbol->atom), values);
    const struct sp_poly *usual = sp_reduce(count, said, values);
    return here && usual && sp_poly_equal(here, usual);
}

/* All premises that are true of the configuration: the truth of each flag, and of each number that it is the table's
 * default. Where the default is a quotient without a remainder, D = H // A, the premise is H = A*D, which says more and
 * has polynomials on both sides. */
static struct premises find_premises(struct sp_count *count, const struct sp_hyper *hyper,
                                     const struct sp_values *values)
{
    struct premises premises = {0};
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info symbol = count->symbolic.symbols.items[i];
        struct sp_rational truth;
        if (symbol.is_computed || symbol.is_list || symbol.is_text) continue;
        if (count->symbolic.algebra.atoms[symbol.atom].is_condition) {
            if (configured_truth(count, hyper, values, &symbol, &truth))
                *SP_PUSH(&premises) = (struct sp_premise){SP_PREMISE_VALUE, symbol.key, truth.num != 0};
            continue;
        }
        const struct sp_premise by_quotient = {.kind = SP_PREMISE_QUOTIENT, .key = symbol.key};
        const struct sp_premise by_default = {.kind = SP_PREMISE_DEFAULT, .key = symbol.key};
        if (is_so(count, values, &by_quotient)) *SP_PUSH(&premises) = by_quotient;
        else if (is_so(count, values, &by_default)) *SP_PUSH(&premises) = by_default;
    }
    return premises;
}

/* Removes, from the last to the first, each premise without which the claim is still proved (greedy elimination). */
static void drop_needless(struct sp_count *count, const struct shapeproof_config *settings,
                          struct sp_located_claim located, struct premises *premises)
{
    for (size_t i = premises->count; i-- > 0;) {
        struct sp_premise *place = &premises->items[i];
        const struct sp_premise tried = *place;
        const size_t behind = premises->count - i - 1;
        memmove(place, place + 1, behind * sizeof tried);
        if (sp_claim_is_proved(count, settings, located, premises->items, premises->count - 1)) {
            premises->count--;
            continue;
        }
        memmove(place + 1, place, behind * sizeof tried);
        *place = tried;
    }
}

/* "H = 4*E", "tie_word_embeddings = true" */
static void put_premise(struct sp_text *text, struct sp_count *count, const struct sp_premise *premise)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    const struct sp_symbol_info *symbol;
    const struct sp_poly *value;
    if (!sp_premise_put(count, premise, &symbol, &value)) return;
    if (text->length) sp_text_puts(text, ", ");
    if (premise->kind == SP_PREMISE_VALUE)
        sp_text_puts(text, sp_condition_by_key(symbolic, symbol->atom, premise->value != 0));
    else sp_text_printf(text, "%s = %s", symbol->name, sp_sym_text(symbolic, value));
}

/* Which strings and lists of the configuration the settings are. */
enum settings { SETTINGS_OF_CLASS, SETTINGS_OF_ALL };

/* The premises that prove the claim about the table counted under `settings`, in words, of which each is needed. NULL
 * when they do not prove it. */
static const char *premises_under(struct sp_configured *configured, const struct shapeproof_config *config,
                                  const struct shapeproof_config *settings, enum settings which,
                                  struct sp_located_claim located, struct sp_arena *arena)
{
    struct sp_count count;
    const struct sp_unit *table = configured->general->table;
    const char *words = NULL;
    if (sp_count_table(&count, configured->general->tables, table, sp_config_hyper(settings), SP_SIDES_MAY_DIFFER)) {
        struct sp_values values = sp_settle(&count, &configured->settled, sp_config_hyper(config));
        struct premises premises = find_premises(&count, sp_config_hyper(config), &values);
        if (sp_claim_is_proved(&count, settings, located, premises.items, premises.count)) {
            struct sp_text text = {0};
            sp_text_puts(&text, "");
            drop_needless(&count, settings, located, &premises);
            for (size_t i = 0; i < premises.count; i++) put_premise(&text, &count, &premises.items[i]);
            if (which == SETTINGS_OF_ALL)
                sp_text_puts(&text, text.length ? ", and with the strings and lists that are configured"
                                                : "the strings and lists are as configured");
            words = sp_text_keep(&text, arena);
        }
        sp_free(premises.items);
        sp_values_free(&values);
    }
    sp_count_free(&count);
    return words;
}

/* The configuration with its class alone, the value of `architectures`. Free it. */
static struct shapeproof_config *class_of(const struct shapeproof_config *config)
{
    static const char key[] = "architectures";
    struct shapeproof_config *class = shapeproof_config_new();
    const struct shapeproof_value value = sp_value_at(sp_config_hyper(config)->root, key);
    if (sp_value_is_set(value)) sp_config_set_value(class, key, value, "class");
    return class;
}

/* Tries the class of the configuration for all hyper-parameters first, then with the strings and lists of the
 * configuration. */
const char *sp_claim_premises(struct sp_configured *configured, const struct shapeproof_config *config,
                              struct sp_located_claim located, struct sp_arena *arena)
{
    struct shapeproof_config *class = class_of(config);
    const char *words = sp_claim_has_settings(located.claim)
                            ? NULL
                            : premises_under(configured, config, class, SETTINGS_OF_CLASS, located, arena);
    shapeproof_config_free(class);
    if (words) return words;
    struct shapeproof_config *settings = sp_config_open(config, SP_OPEN_NUMBERS_AND_FLAGS);
    if (sp_config_hyper(settings)->root.count)
        words = premises_under(configured, config, settings, SETTINGS_OF_ALL, located, arena);
    shapeproof_config_free(settings);
    return words;
}
