/* SPDX-License-Identifier: MIT
 * Whether two tables have one formula: their totals under a configuration, multiplied out, with keys in place of
 * letters, as sets of products. */
#ifndef TESTS_LEARN_FORMULAS_H
#define TESTS_LEARN_FORMULAS_H

#include "base/text.h"
#include "learn/lessons.h"
#include "shapeproof/prove.h"

enum likeness { SAME_FORMULA, OTHER_KEYS, OTHER_TERMS, NO_FORMULA, LIKENESSES };

struct products {
    char **items;
    size_t count, capacity;
};

static inline bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static inline bool continues_word(char c) { return begins_word(c) || (c >= '0' && c <= '9') || c == '.'; }

/* The text with each letter by its key; what is computed by its formula. */
static inline void put_by_keys(struct sp_text *out, const char *text, const struct shapeproof_derivation *derivation,
                               size_t depth)
{
    while (*text) {
        if (!begins_word(*text)) {
            if (*text != ' ') sp_text_append(out, text, 1);
            text++;
            continue;
        }
        size_t length = 0, s = 0;
        while (continues_word(text[length])) length++;
        const size_t count = shapeproof_derivation_symbol_count(derivation);
        for (; s < count; s++) {
            const char *name = shapeproof_derivation_symbol(derivation, s)->name;
            if (strlen(name) == length && strncmp(name, text, length) == 0) break;
        }
        const struct shapeproof_symbol symbol =
            s < count ? *shapeproof_derivation_symbol(derivation, s) : (struct shapeproof_symbol){.key = ""};
        if (s < count && *symbol.key) sp_text_puts(out, symbol.key);
        else if (s < count && *symbol.formula && depth) {
            sp_text_puts(out, "(");
            put_by_keys(out, symbol.formula, derivation, depth - 1);
            sp_text_puts(out, ")");
        } else sp_text_append(out, text, length);
        text += length;
    }
}

static inline int compare_products(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Where the next of these characters is, outside of brackets; the end of the text if none is. */
static inline size_t next_outside(const char *text, const char *characters)
{
    size_t depth = 0, i = 0;
    for (; text[i]; i++) {
        if (!depth && i && strchr(characters, text[i])) break;
        depth += strchr("([", text[i]) != NULL;
        depth -= strchr(")]", text[i]) && depth;
    }
    return i;
}

/* Its factors in order. */
static inline char *sorted_product(const char *product, size_t length)
{
    char *copy = strndup(product, length);
    struct products factors = {0};
    struct sp_text sorted = {0};
    const char *at = copy;
    sp_text_puts(&sorted, *at == '-' ? "-" : "");
    if (*at == '-' || *at == '+') at++;
    while (*at) {
        const size_t next = next_outside(at, "*");
        *SP_PUSH(&factors) = strndup(at, next);
        at += next + (at[next] == '*');
    }
    qsort(factors.items, factors.count, sizeof *factors.items, compare_products);
    for (size_t i = 0; i < factors.count; i++) {
        sp_text_printf(&sorted, i ? "*%s" : "%s", factors.items[i]);
        free(factors.items[i]);
    }
    free(factors.items);
    free(copy);
    return sorted.data;
}

static inline struct products products_of(const struct shapeproof_derivation *derivation)
{
    const char *total = "";
    struct products products = {0};
    struct sp_text text = {0};
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derivation); i++)
        if (!*shapeproof_derivation_formula(derivation, i)->when)
            total = shapeproof_derivation_formula(derivation, i)->expanded;
    put_by_keys(&text, total, derivation, 3);
    for (const char *at = text.data ? text.data : ""; *at;) {
        const size_t next = next_outside(at, "+-");
        *SP_PUSH(&products) = sorted_product(at, next);
        at += next;
    }
    if (products.count) qsort(products.items, products.count, sizeof *products.items, compare_products);
    sp_text_free(&text);
    return products;
}

static inline void free_products(struct products *products)
{
    for (size_t i = 0; i < products->count; i++) free(products->items[i]);
    free(products->items);
}

static inline bool is_in_products(const struct products *products, const char *product)
{
    for (size_t i = 0; i < products->count; i++)
        if (strcmp(products->items[i], product) == 0) return true;
    return false;
}

/* Every key of one is a key of the other. */
static inline bool has_keys_of(const struct shapeproof_derivation *derivation, const struct shapeproof_derivation *of)
{
    for (size_t i = 0; i < shapeproof_derivation_symbol_count(of); i++) {
        const char *key = shapeproof_derivation_symbol(of, i)->key;
        size_t k = 0;
        while (k < shapeproof_derivation_symbol_count(derivation) &&
               strcmp(shapeproof_derivation_symbol(derivation, k)->key, key) != 0)
            k++;
        if (*key && k == shapeproof_derivation_symbol_count(derivation)) return false;
    }
    return true;
}

/* `what` is the first product that the learnt one does not have. */
static inline enum likeness compare_derivations(const struct shapeproof_derivation *truth,
                                                const struct shapeproof_derivation *learnt, char what[200])
{
    struct products wanted = products_of(truth), there = products_of(learnt);
    bool same = wanted.count && wanted.count == there.count;
    snprintf(what, 200, "%s", "");
    for (size_t i = 0; i < wanted.count; i++) {
        if (is_in_products(&there, wanted.items[i])) continue;
        if (!*what) snprintf(what, 200, "%.190s", wanted.items[i]);
        same = false;
    }
    const bool none = !wanted.count || !there.count;
    free_products(&wanted);
    free_products(&there);
    if (same || none) return none ? NO_FORMULA : SAME_FORMULA;
    return has_keys_of(truth, learnt) && has_keys_of(learnt, truth) ? OTHER_TERMS : OTHER_KEYS;
}

static inline enum likeness compare_formulas(const struct shapeproof_learning *learning,
                                             const struct shapeproof_tables *tables,
                                             const struct shapeproof_prediction *prediction,
                                             const struct shapeproof_config *config, char what[200])
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *with = shapeproof_tables_new(&error);
    const char *text = shapeproof_learning_text(learning);
    if (shapeproof_tables_add_text(with, "learnt.shapes", text, strlen(text), &error) != SHAPEPROOF_OK)
        die("learnt", error.message);
    struct shapeproof_prediction *own = shapeproof_predict(
        with, config, &(struct shapeproof_predict_options){.table = shapeproof_learning_name(learning)}, &error);
    struct shapeproof_derivation *truth = shapeproof_derive_prediction(tables, prediction, config, &error);
    struct shapeproof_derivation *learnt = own ? shapeproof_derive_prediction(with, own, config, &error) : NULL;
    const enum likeness likeness = truth && learnt ? compare_derivations(truth, learnt, what) : NO_FORMULA;
    shapeproof_derivation_free(truth);
    shapeproof_derivation_free(learnt);
    shapeproof_prediction_free(own);
    shapeproof_tables_free(with);
    return likeness;
}

#endif
