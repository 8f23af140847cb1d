/* SPDX-License-Identifier: MIT */
#include "learn/terms/term_bank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/terms/enumerator.h"
#include "learn/terms/likely.h"

enum {
    MOST_TERMS = 60000,    /* of a bank */
    MOST_VALUES = 4000000, /* of all terms of a bank, at all points */
    MORE_OPERATIONS = 2,   /* so many more than one are undone by take_apart, if nothing was found */
    CHEAP = 26,            /* the cost up to which a term is combined with others */
    KEYLESS = 10,          /* what a term ranks lower that no key gives, or that a number makes of a key */
    DEAR = 18, /* the cost from which on sums and products of two terms are tried although a term was found */
    NEAR = 4   /* from this affinity on a flag is taken to belong to a name: sp_search_term_affinity */
};

struct sp_term_bank {
    struct sp_evidence *evidence;
    struct sp_arena arena; /* of its terms; those that are found are copied */
    struct sp_domain domain;
    struct sp_signature_table numbers, conditions;
    struct sp_enumerator number_stock, condition_stock;
    bool shallow; /* no more than one operator */
};

struct sp_term_bank *sp_term_bank_new(struct sp_evidence *evidence, const struct sp_domain *domain)
{
    struct sp_term_bank *bank = sp_realloc(NULL, 1, sizeof *bank);
    *bank = (struct sp_term_bank){.evidence = evidence, .domain = *domain};
    size_t most = MOST_VALUES / (domain->count + 1);
    if (most > MOST_TERMS) most = MOST_TERMS;
    sp_signatures_init(&bank->numbers, &bank->arena, &bank->domain, most, &evidence->spent);
    sp_signatures_init(&bank->conditions, &bank->arena, &bank->domain, most, &evidence->spent);
    bank->number_stock = (struct sp_enumerator){.evidence = evidence, .signatures = &bank->numbers};
    bank->condition_stock = (struct sp_enumerator){.evidence = evidence, .signatures = &bank->conditions};
    sp_enumerator_numbers(&bank->number_stock);
    return bank;
}

void sp_term_bank_keep_shallow(struct sp_term_bank *bank) { bank->shallow = true; }

void sp_term_bank_free(struct sp_term_bank *bank)
{
    sp_signatures_free(&bank->numbers);
    sp_signatures_free(&bank->conditions);
    sp_free(bank->number_stock.partial.items);
    sp_free(bank->condition_stock.partial.items);
    sp_arena_free(&bank->arena);
    sp_free(bank);
}

const struct sp_domain *sp_term_bank_domain(const struct sp_term_bank *bank) { return &bank->domain; }
size_t sp_term_bank_partial_count(const struct sp_term_bank *bank) { return bank->number_stock.partial.count; }

const struct sp_search_term *sp_term_bank_partial(const struct sp_term_bank *bank, size_t index)
{
    return bank->number_stock.partial.items[index];
}

static bool is_constant_vector(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0]) return false;
    return true;
}

/* ---- one search ---- */

struct search {
    struct sp_term_bank *bank;
    struct sp_signature_table *signatures; /* of the bank: its numbers, or its conditions */
    const char *name;                      /* of what the terms are for */
    unsigned most;                         /* the highest cost of a term */
    struct sp_found *found;                /* the result */
    bool constant;                         /* one value is wanted everywhere */
};

/* A term and what is done to it until it has the wanted values: 2*(x) + 1. */
struct taken {
    enum sp_term_op op;
    double number; /* the other operand */
    const struct taken *outer;
};

static bool is_found_already(const struct sp_found *found, const struct sp_search_term *term)
{
    for (size_t i = 0; i < found->count; i++)
        if (sp_search_terms_equal(found->terms[i], term)) return true;
    return false;
}

/* Made of numbers and indices alone, although the configurations are what sizes depend on. */
static bool is_without_keys(const struct sp_search_term *term)
{
    if (!term || term->op == SP_TERM_NUMBER || term->op == SP_TERM_INDEX) return term != NULL;
    if (term->terminal) return false;
    return is_without_keys(term->a) && (!term->b || is_without_keys(term->b)) && (!term->c || is_without_keys(term->c));
}

/* x + 3 or x // 2, where one value is wanted everywhere: any key can be turned into any number so. */
static bool makes_number(const struct search *search, const struct sp_search_term *term)
{
    const bool moves = term->op == SP_TERM_ADD || term->op == SP_TERM_SUBTRACT || term->op == SP_TERM_DIVIDE;
    return search->constant && moves && (term->a->op == SP_TERM_NUMBER || term->b->op == SP_TERM_NUMBER);
}

/* Its rank among what is found: the lower, the likelier. */
static unsigned rank_of_term(const struct search *search, const struct sp_search_term *term)
{
    const bool is_size = search->signatures == &search->bank->numbers;
    const bool is_composed_without_keys = term->a && is_size && is_without_keys(term);
    return SP_FREE + term->cost - sp_search_term_affinity(term, search->name) +
           sp_search_term_strangeness(term, search->name) + (is_composed_without_keys ? KEYLESS : 0) +
           (makes_number(search, term) ? KEYLESS : 0);
}

/* Inserts a term into the list that is sorted by rank, behind those of equal rank, unless it is too dear or in the list
 * already. If the list is full, the last term is dropped: the new one or another. */
static void keep_found(struct search *search, const struct sp_search_term *term)
{
    struct sp_found *found = search->found;
    if (term->cost > search->most || is_found_already(found, term)) return;
    const unsigned rank = rank_of_term(search, term);
    const bool is_full = found->count == SP_MOST_FOUND;
    if (is_full && found->rank[SP_MOST_FOUND - 1] <= rank) return;
    size_t place = is_full ? SP_MOST_FOUND - 1 : found->count++;
    for (; place && found->rank[place - 1] > rank; place--) {
        found->terms[place] = found->terms[place - 1];
        found->rank[place] = found->rank[place - 1];
    }
    found->terms[place] = term;
    found->rank[place] = rank;
}

/* The term with the operations of `taken` around it: x with *2, then +1 outside, gives 2*x + 1. */
static const struct sp_search_term *wrap_term(struct search *search, const struct sp_search_term *term,
                                              const struct taken *taken)
{
    struct sp_arena *arena = &search->bank->arena;
    for (; taken; taken = taken->outer) {
        const struct sp_search_term *number = sp_search_term_number(arena, taken->number);
        const bool first = taken->op == SP_TERM_MULTIPLY;
        term = sp_search_term_binary(arena, taken->op, first ? number : term, first ? term : number);
    }
    return term;
}

/* Keeps the terms of an item of the signature table, with the operations of `taken` around each; NULL: none. */
static void keep_item(struct search *search, size_t item, const struct taken *taken)
{
    const struct sp_signature_item *entry = &search->signatures->items[item];
    keep_found(search, wrap_term(search, entry->term, taken));
    for (size_t i = 0; i < entry->equal_count; i++) keep_found(search, wrap_term(search, entry->equals[i], taken));
}

/* ---- taking the wanted values apart ---- */

/* `rest` such that rest OP number is `wanted` at each point: 5 = 2^2 + 1 is 4 for ADD 1, which is 2 for POWER 2. False
 * when it is not a whole number from 0 on somewhere. */
static bool undo_number(enum sp_term_op op, double number, const double *wanted, size_t count, double *rest)
{
    for (size_t i = 0; i < count; i++) {
        rest[i] = op == SP_TERM_MULTIPLY   ? wanted[i] / number
                  : op == SP_TERM_ADD      ? wanted[i] - number
                  : op == SP_TERM_SUBTRACT ? wanted[i] + number
                                           : round(sqrt(wanted[i]));
        if (rest[i] != floor(rest[i]) || rest[i] < 0) return false;
        if (op == SP_TERM_POWER && rest[i] * rest[i] != wanted[i]) return false;
    }
    return true;
}

/* Looks for terms of the bank that a fixed operation turns into the wanted values: 257 is x + 1 for x = 256, and with
 * another operation y^2 + 1 for y = 16. `depth` is how many more operations may be undone, `outer` are those that were
 * undone already. */
static void take_apart(struct search *search, const double *wanted, size_t depth, const struct taken *outer)
{
    static const struct taken ways[] = {{SP_TERM_ADD, 1, NULL},      {SP_TERM_POWER, 2, NULL},
                                        {SP_TERM_MULTIPLY, 2, NULL}, {SP_TERM_MULTIPLY, 3, NULL},
                                        {SP_TERM_MULTIPLY, 4, NULL}, {SP_TERM_SUBTRACT, 1, NULL},
                                        {SP_TERM_ADD, 2, NULL},      {SP_TERM_ADD, 3, NULL}};
    const size_t count = search->bank->domain.count;
    double *rest = sp_realloc(NULL, count + 1, sizeof *rest);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct taken taken = {ways[i].op, ways[i].number, outer};
        if (outer && outer->op == taken.op) continue;
        if (!undo_number(taken.op, taken.number, wanted, count, rest)) continue;
        const size_t item = sp_signatures_look(search->signatures, rest);
        if (item != SIZE_MAX) keep_item(search, item, &taken);
        if (depth) take_apart(search, rest, depth - 1, &taken);
    }
    sp_free(rest);
}

/* What the wanted values leave for the other operand if the item is one operand of the product or the sum. False when
 * that is not a positive whole number somewhere. */
static bool rest_of_item(const struct search *search, size_t item, bool product, const double *wanted, double *rest)
{
    const double *values = sp_signatures_values(search->signatures, item);
    for (size_t i = 0; i < search->bank->domain.count; i++) {
        if (product && values[i] <= 0) return false;
        rest[i] = product ? wanted[i] / values[i] : wanted[i] - values[i];
        if (rest[i] != floor(rest[i]) || rest[i] <= 0) return false;
    }
    return true;
}

/* Halves what is left, for q + 2*k: queries beside keys and values. False when a value is odd; `rest` is then halved in
 * part. */
static bool halve_rest(const struct search *search, double *rest)
{
    for (size_t i = 0; i < search->bank->domain.count; i++) {
        rest[i] /= 2;
        if (rest[i] != floor(rest[i])) return false;
    }
    return true;
}

/* Keeps other*item, other + item or item + 2*other, if there is a term for `other`. */
static void take_item(struct search *search, size_t item, bool product, const double *wanted, double *rest)
{
    struct sp_arena *arena = &search->bank->arena;
    if (!rest_of_item(search, item, product, wanted, rest)) return;
    size_t other = sp_signatures_look(search->signatures, rest);
    const bool halved = other == SIZE_MAX && !product && halve_rest(search, rest);
    if (halved) other = sp_signatures_look(search->signatures, rest);
    if (other == SIZE_MAX) return;
    const struct sp_search_term *left = search->signatures->items[other].term,
                                *term = search->signatures->items[item].term;
    if (halved) left = sp_search_term_binary(arena, SP_TERM_MULTIPLY, sp_search_term_number(arena, 2), left);
    keep_found(search, sp_search_term_binary(arena, product ? SP_TERM_MULTIPLY : SP_TERM_ADD, halved ? term : left,
                                             halved ? left : term));
}

/* Products and sums of two terms. */
static void take_items(struct search *search, const double *wanted)
{
    double *rest = sp_realloc(NULL, search->bank->domain.count + 1, sizeof *rest);
    for (size_t i = 0; i < search->signatures->count; i++) {
        if (search->signatures->items[i].term->cost > CHEAP) continue;
        take_item(search, i, true, wanted, rest);
        take_item(search, i, false, wanted, rest);
    }
    sp_free(rest);
}

/* ---- sums of three ---- */

enum { MOST_SUMMANDS = 250, MOST_SUMMED_POINTS = 24, POPULAR = 7 /* the cost up to which a key is popular */ };

struct relation {
    const char *name;
    bool all;
};

static void relate_terminal(void *context, const struct sp_terminal *terminal)
{
    struct relation *relation = context;
    const struct sp_search_term key = {.op = SP_TERM_KEY, .terminal = terminal};
    relation->all = relation->all && (terminal->cost <= POPULAR || sp_search_term_affinity(&key, relation->name) > 0);
}

/* Whether each of its keys either is popular (cheap) or goes with the name. */
static bool is_related(const struct sp_search_term *term, const char *name)
{
    struct relation relation = {name, true};
    sp_search_term_terminals(term, relate_terminal, &relation);
    return relation.all && !is_without_keys(term);
}

static size_t list_summands(const struct search *search, size_t *list)
{
    size_t count = 0;
    for (size_t i = 0; i < search->signatures->count && count < MOST_SUMMANDS; i++)
        if (search->signatures->items[i].term->cost <= CHEAP &&
            is_related(search->signatures->items[i].term, search->name))
            list[count++] = i;
    return count;
}

static void take_two(struct search *search, size_t first, size_t second, const double *wanted, double *rest)
{
    const double *a = sp_signatures_values(search->signatures, first),
                 *b = sp_signatures_values(search->signatures, second);
    for (size_t i = 0; i < search->bank->domain.count; i++) {
        rest[i] = wanted[i] - a[i] - b[i];
        if (rest[i] != floor(rest[i]) || rest[i] <= 0) return;
    }
    const size_t other = sp_signatures_look(search->signatures, rest);
    if (other == SIZE_MAX || !is_related(search->signatures->items[other].term, search->name)) return;
    struct sp_arena *arena = &search->bank->arena;
    const struct sp_search_term *sum = sp_search_term_binary(arena, SP_TERM_ADD, search->signatures->items[first].term,
                                                             search->signatures->items[second].term);
    keep_found(search, sp_search_term_binary(arena, SP_TERM_ADD, sum, search->signatures->items[other].term));
}

/* Sums of three terms, for what goes into one projection: a gate and a value, states, heads. */
static void take_pairs(struct search *search, const double *wanted)
{
    size_t list[MOST_SUMMANDS];
    if (search->bank->domain.count > MOST_SUMMED_POINTS || is_constant_vector(wanted, search->bank->domain.count))
        return;
    double *rest = sp_realloc(NULL, search->bank->domain.count + 1, sizeof *rest);
    const size_t count = list_summands(search, list);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i; k < count; k++) take_two(search, list[i], list[k], wanted, rest);
    sp_free(rest);
}

/* ---- shares, rounded up ---- */

/* What a width is multiplied by before it is rounded, times / by: an inner width with a gate is 2/3 as wide. */
struct share {
    double times, by;
};

static const struct share shares[] = {{1, 1}, {2, 3}, {8, 3}, {4, 3}, {3, 2}, {3, 4}};

static double value_of_share(struct share share, double value) { return floor(share.times * value / share.by); }

static const struct sp_search_term *term_of_share(struct sp_arena *arena, struct share share,
                                                  const struct sp_search_term *term)
{
    if (share.times > 1)
        term = sp_search_term_binary(arena, SP_TERM_MULTIPLY, sp_search_term_number(arena, share.times), term);
    return share.by > 1 ? sp_search_term_binary(arena, SP_TERM_DIVIDE, term, sp_search_term_number(arena, share.by))
                        : term;
}

/* Whether that share of the item is what is wanted; with a unit, once it is rounded up to it. */
static bool is_share(const struct search *search, size_t item, struct share share, const double *unit,
                     const double *wanted)
{
    const double *values = sp_signatures_values(search->signatures, item);
    for (size_t i = 0; i < search->bank->domain.count; i++) {
        const double value = value_of_share(share, values[i]), by = unit ? unit[i] : 1;
        if (values[i] != floor(values[i]) || values[i] < 0 || by * ceil(value / by) != wanted[i]) return false;
    }
    return true;
}

/* Keeps the shares of terms that are wanted, rounded up to the term at `unit`, or down if `unit` is SIZE_MAX. Of terms
 * with operators only the whole (shares[0]) is tried, and that only with a unit. */
static void take_shares(struct search *search, size_t unit, const double *wanted)
{
    struct sp_arena *arena = &search->bank->arena;
    const struct sp_search_term *by = unit == SIZE_MAX ? NULL : search->signatures->items[unit].term;
    for (size_t i = 0; i < search->signatures->count; i++)
        for (size_t k = by ? 0 : 1; k < sizeof shares / sizeof *shares; k++) {
            if (k && i >= search->bank->number_stock.simple) break;
            const double *units = by ? sp_signatures_values(search->signatures, unit) : NULL;
            if (i == unit || !is_share(search, i, shares[k], units, wanted)) continue;
            const struct sp_search_term *term = term_of_share(arena, shares[k], search->signatures->items[i].term);
            keep_found(search, by ? sp_search_term_binary(arena, SP_TERM_ROUND_UP, term, by) : term);
        }
}

static void take_all_shares(struct search *search, const double *wanted)
{
    if (is_constant_vector(wanted, search->bank->domain.count)) return;
    take_shares(search, SIZE_MAX, wanted);
    for (size_t i = 0; i < search->bank->number_stock.simple; i++)
        if (sp_is_unit(search->signatures->items[i].term)) take_shares(search, i, wanted);
}

/* ---- keys of equal values inside a larger term ---- */

/* The key that is nearest to the name among those that have the same values as this one and cost no more. */
static const struct sp_search_term *nearest_equal(struct search *search, const struct sp_search_term *term)
{
    double *values = sp_realloc(NULL, search->bank->domain.count + 1, sizeof *values);
    for (size_t i = 0; i < search->bank->domain.count; i++)
        values[i] = sp_search_term_value(term, &search->bank->domain.points[i]) + 0.0;
    const size_t item = sp_signatures_look(search->signatures, values);
    const struct sp_search_term *nearest = term;
    unsigned most = sp_search_term_affinity(term, search->name);
    sp_free(values);
    for (size_t i = 0; item != SIZE_MAX && i < search->signatures->items[item].equal_count; i++) {
        const struct sp_search_term *other = search->signatures->items[item].equals[i];
        const unsigned affinity = sp_search_term_affinity(other, search->name);
        if (other->op != SP_TERM_KEY || other->cost > nearest->cost || affinity <= most) continue;
        nearest = other;
        most = affinity;
    }
    return nearest;
}

/* The term with each key replaced by the nearest equal one. */
static const struct sp_search_term *refine_term(struct search *search, const struct sp_search_term *term)
{
    if (!term) return NULL;
    if (term->op == SP_TERM_KEY) return nearest_equal(search, term);
    if (!term->a || term->terminal) return term;
    const struct sp_search_term *a = refine_term(search, term->a), *b = refine_term(search, term->b);
    if (a == term->a && b == term->b) return term;
    return sp_search_term_with_operands(&search->bank->arena, term, a, b, term->c);
}

static void refine_found(struct search *search)
{
    const struct sp_search_term *first = search->found->count ? search->found->terms[0] : NULL;
    if (!first || first->op == SP_TERM_KEY) return;
    const struct sp_search_term *refined = refine_term(search, first);
    if (refined != first) keep_found(search, refined);
}

/* Whether a term reads one thing from the configuration or the name: a key, an index, or the length, the sum or an item
 * of a list. */
static bool is_fact(const struct sp_search_term *term)
{
    return term->op == SP_TERM_KEY || term->op == SP_TERM_LENGTH || term->op == SP_TERM_SUM ||
           term->op == SP_TERM_ITEM || term->op == SP_TERM_AT || term->op == SP_TERM_INDEX;
}

/* The term with that fact in place of the other, everywhere. */
static const struct sp_search_term *exchange_fact(struct sp_arena *arena, const struct sp_search_term *term,
                                                  const struct sp_search_term *fact, const struct sp_search_term *by)
{
    if (!term) return NULL;
    if (is_fact(term)) return sp_search_terms_equal(term, fact) ? by : term;
    if (!term->a || term->terminal) return term;
    const struct sp_search_term *a = exchange_fact(arena, term->a, fact, by),
                                *b = exchange_fact(arena, term->b, fact, by);
    const struct sp_search_term *c = exchange_fact(arena, term->c, fact, by);
    return a == term->a && b == term->b && c == term->c ? term : sp_search_term_with_operands(arena, term, a, b, c);
}

/* Keeps, for each other fact that has the values of this one, the term with it in place of this one. */
static void vary_fact_of_found(struct search *search, const struct sp_search_term *first,
                               const struct sp_search_term *fact)
{
    double *values = sp_realloc(NULL, search->bank->domain.count + 1, sizeof *values);
    for (size_t i = 0; i < search->bank->domain.count; i++)
        values[i] = sp_search_term_value(fact, &search->bank->domain.points[i]) + 0.0;
    const size_t item = sp_signatures_look(search->signatures, values);
    sp_free(values);
    if (item == SIZE_MAX) return;
    const struct sp_signature_item *entry = &search->signatures->items[item];
    for (size_t i = 0; i <= entry->equal_count; i++) {
        const struct sp_search_term *other = i ? entry->equals[i - 1] : entry->term;
        if (is_fact(other) && !sp_search_terms_equal(other, fact))
            keep_found(search, exchange_fact(&search->bank->arena, first, fact, other));
    }
}

static void vary_facts_of_found(struct search *search, const struct sp_search_term *first,
                                const struct sp_search_term *term)
{
    if (!term) return;
    if (is_fact(term)) {
        vary_fact_of_found(search, first, term);
        return;
    }
    vary_facts_of_found(search, first, term->a);
    vary_facts_of_found(search, first, term->b);
    vary_facts_of_found(search, first, term->c);
}

/* Taking the values apart finds one term with operators: those that equal keys make of it are kept as well. */
static void vary_found(struct search *search)
{
    const struct sp_search_term *first = search->found->count ? search->found->terms[0] : NULL;
    if (first && first->a && !first->terminal) vary_facts_of_found(search, first, first);
}

/* Copies the terms into the arena of the evidence, so that they outlive the bank. */
static void copy_found(struct search *search)
{
    for (size_t i = 0; i < search->found->count; i++)
        search->found->terms[i] = sp_search_term_copy(search->bank->evidence->arena, search->found->terms[i]);
}

/* ---- numbers ---- */

/* A number that no key gives: likely when it is small, so that it does not have its usual cost. */
static void keep_number(struct search *search, double number)
{
    struct sp_search_term term = *sp_search_term_number(&search->bank->arena, number);
    term.cost = number <= 1 ? 2 : number <= 3 ? 5 : number <= 4 ? 8 : 24;
    struct sp_search_term *kept = sp_arena_alloc(&search->bank->arena, sizeof *kept);
    *kept = term;
    keep_found(search, kept);
}

/* Looks for terms with the wanted values, from the likely to the unlikely:
 *
 *  1. the number itself, if all wanted values are the same
 *  2. a term of the bank
 *  3. a term of the bank within fixed operations, 2*(x) + 1 (take_apart): within one if something was found, unless all
 *     wanted values are the same; within up to three if nothing was found
 *  4. sums and products of two terms (take_items), if nothing was found, or only something unlikely
 *  5. if there is still nothing, the bank grows by one operator for good, and 2 to 4 are tried again, 3 within up to
 * two operations; then shares, rounded up (take_all_shares), and sums of three terms (take_pairs)
 *
 * Then terms that read better take the place of equal ones (refine_found), and other terms with the same values are
 * added (vary_found). */
void sp_term_bank_find(struct sp_term_bank *bank, const double *wanted, const char *name, unsigned most,
                       struct sp_found *found)
{
    const bool constant = is_constant_vector(wanted, bank->domain.count);
    struct search search = {bank, &bank->numbers, name, most, found, constant};
    *found = (struct sp_found){.count = 0};
    if (constant) keep_number(&search, wanted[0]);
    const size_t item = sp_signatures_look(&bank->numbers, wanted);
    if (item != SIZE_MAX) keep_item(&search, item, NULL);
    if (!found->count || !constant) take_apart(&search, wanted, found->count ? 0 : MORE_OPERATIONS, NULL);
    if (!found->count || (!constant && found->terms[0]->cost > DEAR)) take_items(&search, wanted);
    if (!found->count && !bank->shallow) {
        sp_enumerator_deeper(&bank->number_stock);
        const size_t item_of_grown = sp_signatures_look(&bank->numbers, wanted);
        if (item_of_grown != SIZE_MAX) keep_item(&search, item_of_grown, NULL);
        if (!found->count) take_apart(&search, wanted, 1, NULL);
        if (!found->count) take_items(&search, wanted);
        if (!found->count) take_all_shares(&search, wanted);
        if (!found->count) take_pairs(&search, wanted);
    }
    refine_found(&search);
    vary_found(&search);
    copy_found(&search);
}

/* ---- half of a function ---- */

/* Whether the values are the wanted ones at the points where `holds` is `half`. */
static bool has_values_of_half(const double *values, const double *wanted, const bool *holds, size_t count, bool half)
{
    for (size_t i = 0; i < count; i++)
        if (holds[i] == half && values[i] != wanted[i]) return false;
    return true;
}

/* Whether one number or one term of the bank has the wanted values at the points where `holds` is `half`. False when
 * there are none. */
static bool is_half_said(const struct sp_term_bank *bank, const double *wanted, const bool *holds, bool half)
{
    const size_t count = bank->domain.count;
    double first = NAN;
    size_t differing = 0;
    for (size_t i = 0; i < count; i++) {
        if (holds[i] != half) continue;
        if (isnan(first)) first = wanted[i];
        differing += wanted[i] != first;
    }
    if (isnan(first) || !differing) return !isnan(first);
    for (size_t i = 0; i < bank->numbers.count; i++)
        if (has_values_of_half(sp_signatures_values(&bank->numbers, i), wanted, holds, count, half)) return true;
    return false;
}

bool sp_term_bank_says_half(const struct sp_term_bank *bank, const struct sp_search_term *condition,
                            const double *wanted)
{
    bool *holds = sp_realloc(NULL, bank->domain.count + 1, sizeof *holds);
    for (size_t i = 0; i < bank->domain.count; i++)
        holds[i] = sp_search_term_value(condition, &bank->domain.points[i]) != 0;
    const bool says = is_half_said(bank, wanted, holds, true) || is_half_said(bank, wanted, holds, false);
    sp_free(holds);
    return says;
}

/* ---- conditions ---- */

static void enumerate_bank_conditions(struct sp_term_bank *bank)
{
    if (!bank->condition_stock.simple) sp_enumerator_conditions(&bank->condition_stock);
}

size_t sp_term_bank_condition_count(struct sp_term_bank *bank)
{
    enumerate_bank_conditions(bank);
    return bank->condition_stock.simple;
}

const struct sp_search_term *sp_term_bank_condition(struct sp_term_bank *bank, size_t index)
{
    return bank->conditions.items[index].term;
}

/* Whether `a` and `b`, or `a` or `b`, is true exactly where it is wanted. */
static bool is_joined_as_wanted(const double *wanted, const double *a, const double *b, size_t count,
                                enum sp_term_op join)
{
    for (size_t i = 0; i < count; i++) {
        const bool joined = join == SP_TERM_AND ? a[i] != 0 && b[i] != 0 : a[i] != 0 || b[i] != 0;
        if (joined != (wanted[i] != 0)) return false;
    }
    return true;
}

/* Whether a condition could be one side of the wanted one: of an `and` if it holds wherever that is to hold, of an `or`
 * if it holds nowhere else. */
static bool is_side(const double *wanted, const double *values, size_t count, enum sp_term_op join)
{
    for (size_t i = 0; i < count; i++)
        if (join == SP_TERM_AND ? wanted[i] != 0 && values[i] == 0 : wanted[i] == 0 && values[i] != 0) return false;
    return true;
}

/* Keeps pairs of conditions that are what is wanted, joined by SP_TERM_AND or SP_TERM_OR. */
static void find_condition_pairs(struct search *search, const double *wanted, enum sp_term_op join)
{
    const struct sp_signature_table *signatures = search->signatures;
    const size_t count = search->bank->domain.count, simple = search->bank->condition_stock.simple;
    for (size_t i = 0; i < simple; i++) {
        if (!is_side(wanted, sp_signatures_values(signatures, i), count, join)) continue;
        for (size_t k = i + 1; k < simple; k++)
            if (is_joined_as_wanted(wanted, sp_signatures_values(signatures, i), sp_signatures_values(signatures, k),
                                    count, join))
                keep_found(search, sp_search_term_binary(&search->bank->arena, join, signatures->items[i].term,
                                                         signatures->items[k].term));
    }
}

/* Joins the condition that was found with another one that the examples cannot tell apart from it: one that was true
 * whenever the first was. Kept only for flags whose name goes with that of the tensor. */
static void find_nearer_pairs(struct search *search, const double *wanted, enum sp_term_op join)
{
    const struct sp_signature_table *signatures = search->signatures;
    const size_t count = search->bank->domain.count, simple = search->bank->condition_stock.simple;
    const struct sp_search_term *first = search->found->terms[0];
    for (size_t k = 0; k < simple; k++) {
        const struct sp_search_term *other = signatures->items[k].term;
        if (other->op != SP_TERM_TRUTH || sp_search_term_affinity(other, search->name) < NEAR) continue;
        if (sp_signatures_look(signatures, wanted) == k ||
            !is_side(wanted, sp_signatures_values(signatures, k), count, join))
            continue;
        if (is_constant_vector(sp_signatures_values(signatures, k), count)) continue;
        keep_found(search, sp_search_term_binary(&search->bank->arena, join, first, other));
    }
}

void sp_term_bank_find_condition(struct sp_term_bank *bank, const double *wanted, const char *name,
                                 struct sp_found *found)
{
    enum { ANY_COST = 200 }; /* more than a condition costs */
    struct search search = {bank, &bank->conditions, name, ANY_COST, found, false};
    *found = (struct sp_found){.count = 0};
    enumerate_bank_conditions(bank);
    const size_t item = sp_signatures_look(&bank->conditions, wanted);
    if (item != SIZE_MAX) keep_item(&search, item, NULL);
    if (!found->count || sp_search_term_compares_with_number(found->terms[0])) {
        find_condition_pairs(&search, wanted, SP_TERM_AND);
        find_condition_pairs(&search, wanted, SP_TERM_OR);
    } else {
        find_nearer_pairs(&search, wanted, SP_TERM_AND);
        find_nearer_pairs(&search, wanted, SP_TERM_OR);
    }
    copy_found(&search);
}
