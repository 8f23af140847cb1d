/* SPDX-License-Identifier: MIT */
#include "learn/numbers.h"

#include "learn/phrases/phrases.h"

enum { UNLIKELY = 20, LEAST_OF_KEY = 4, LEAST_OF_TWO = 3 };

/* The number that it is in all examples, and which therefore cannot be told from that number; 0 for anything else. */
static double constant_of_leaf(const struct sp_evidence *evidence, const struct sp_leaf *leaf)
{
    if (leaf->meaning || leaf->cost >= UNLIKELY || !sp_leaf_is_constant(leaf, evidence->count)) return 0;
    return leaf->values[0].type == SHAPEPROOF_VALUE_INT && leaf->values[0].integer > 1 ? (double)leaf->values[0].integer
                                                                                       : 0;
}

static const struct sp_phrase *key_of_leaf(struct sp_evidence *evidence, const struct sp_leaf *leaf)
{
    return sp_phrase_leaf(evidence->arena, SP_PHRASE_KEY, leaf);
}

static const struct sp_phrase *one_key(struct sp_evidence *evidence, double number)
{
    for (size_t i = 0; i < evidence->leaves.count && number >= (double)LEAST_OF_KEY; i++)
        if (constant_of_leaf(evidence, evidence->leaves.items[i]) == number)
            return key_of_leaf(evidence, evidence->leaves.items[i]);
    return NULL;
}

static const struct sp_phrase *two_keys(struct sp_evidence *evidence, const struct sp_leaf *a, double number)
{
    const double first = constant_of_leaf(evidence, a);
    for (size_t i = 0; i < evidence->leaves.count && first > 0; i++) {
        const struct sp_leaf *b = evidence->leaves.items[i];
        const double second = b == a ? 0 : constant_of_leaf(evidence, b);
        const bool product = second > 0 && first * second == number;
        if (!product && !(second > 0 && first == number * second)) continue;
        return sp_phrase_of(evidence->arena, product ? SP_PHRASE_MULTIPLY : SP_PHRASE_DIVIDE, key_of_leaf(evidence, a),
                            key_of_leaf(evidence, b), NULL);
    }
    return NULL;
}

static const struct sp_phrase *keys_of_number(struct sp_evidence *evidence, double number)
{
    const struct sp_phrase *found = one_key(evidence, number);
    for (size_t i = 0; !found && i < evidence->leaves.count && number >= (double)LEAST_OF_TWO; i++)
        found = two_keys(evidence, evidence->leaves.items[i], number);
    return found;
}

const struct sp_phrase *sp_number_that_may_be_key(struct sp_evidence *evidence, const struct sp_phrase *term,
                                                  const struct sp_phrase **as)
{
    if (!term) return NULL;
    if (term->op == SP_PHRASE_NUMBER) {
        *as = keys_of_number(evidence, term->number);
        return *as ? term : NULL;
    }
    const struct sp_phrase *found = sp_number_that_may_be_key(evidence, term->a, as);
    if (!found) found = sp_number_that_may_be_key(evidence, term->b, as);
    return found ? found : sp_number_that_may_be_key(evidence, term->c, as);
}
