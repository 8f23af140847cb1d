/* SPDX-License-Identifier: MIT
 * One function, one expression: a plain one, a key with a default, or one case beside another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learning.h"
#include "learn/solve.h"
#include "learn/terms/likely.h"

/* Costs and ranks are those of terms (terms.h, term_bank.h). */
enum {
    /* The cost up to which a term is kept, by how many different values are wanted: one value is met by many terms by
     * accident, three hardly. */
    MOST_FOR_ONE = 24,
    MOST_FOR_TWO = 62,
    MOST_FOR_MORE = 96,
    /* By how much an alternative may be dearer and still be reported, likewise; and if its keys go better with the
     * name. */
    SLACK_OF_ONE = 16,
    SLACK_OF_TWO = 11,
    SLACK_OF_MORE = 7,
    SLACK_OF_NEAR = 20,

    /* Keys with a default. */
    PLAIN = 12,    /* if the best term ranks above this, defaults are tried for keys that go with the name */
    DEAR = 24,     /* and above this for all keys */
    EVIDENCE = 10, /* by how much a default may be dearer: a key with the wanted value wherever it is is no accident */

    /* Choices by a condition, and sums of sizes. */
    LONG = 38,             /* these are tried if the best term costs more */
    CASES = 18,            /* a choice may cost so much more than one term */
    MOST_CASES = 12,       /* how many conditions of one rank are tried */
    DEAREST_CASE = 38,     /* the cost of a condition that is tried */
    SHORT_CASE = 90,       /* if a condition of other rows gives a choice up to this cost, no others are tried */
    LARGEST_IN_CASE = 9,   /* a number above this says no more than the file did */
    LEAST_EFFORT = 5000,   /* the effort for one case, in values computed: at least this */
    MOST_EFFORT = 5000000, /* and for all cases together at most this */
    MOST_SIZES = 200,      /* with more sizes sums are not tried */
    FEWEST_SUMS = 3,       /* how many different values a sum of two sizes must have */

    /* What a term ranks higher by, because it was chosen elsewhere. */
    PRIOR = 5,           /* at several places, and 2 more at many */
    MANY = 8,            /* places */
    CHOSEN_CHOICE = 12,  /* a choice by a condition */
    SIZE_OF_WEIGHT = 30, /* the first dimension of the weight beside a bias; half of it for the second */

    /* Conditions within the condition of a module. */
    OUTER = 10,  /* ranks lower by so much */
    OF_DIMS = 24 /* ranks higher by so much if it compares the dimensions of the row */
};

static unsigned most_for_values(const double *values, size_t count)
{
    const size_t distinct = sp_distinct_values(values, count);
    return distinct <= 1 ? MOST_FOR_ONE : distinct == 2 ? MOST_FOR_TWO : MOST_FOR_MORE;
}

/* The keys of an expression, each once. */
enum { MOST_KEYS = 16 };
struct key_set {
    const struct sp_terminal *items[MOST_KEYS];
    size_t count;
};

static void add_to_key_set(void *context, const struct sp_terminal *terminal)
{
    struct key_set *keys = context;
    for (size_t i = 0; i < keys->count; i++)
        if (keys->items[i] == terminal) return;
    if (keys->count < MOST_KEYS) keys->items[keys->count++] = terminal;
}

static bool has_all_keys(const struct key_set *keys, const struct key_set *of)
{
    for (size_t i = 0; i < of->count; i++) {
        size_t k = 0;
        while (k < keys->count && keys->items[k] != of->items[i]) k++;
        if (k == keys->count) return false;
    }
    return true;
}

/* Whether a term contains "sound" in inputs, for any string and any list. */
static bool asks_for_text(const struct sp_search_term *term)
{
    if (!term) return false;
    return (term->op == SP_TERM_CONTAINED && term->text) || asks_for_text(term->a) || asks_for_text(term->b);
}

/* What a term reads from lists, as bits: bit 0 a length, bit 1 a sum, the others an item, by the operator of its place
 * (the first item, the item at an index ...). */
static unsigned facts_of_lists(const struct sp_search_term *term)
{
    if (!term) return 0;
    if (term->op == SP_TERM_ITEM || term->op == SP_TERM_AT) return 1U << (2 + (unsigned)term->a->op % 16);
    const unsigned fact = term->op == SP_TERM_LENGTH ? 1 : term->op == SP_TERM_SUM ? 2 : 0;
    return fact | facts_of_lists(term->a) | facts_of_lists(term->b) | facts_of_lists(term->c);
}

/* Which operators round a number to a whole one in a term, as bits. */
static unsigned roundings_of(const struct sp_search_term *term)
{
    static const enum sp_term_op ops[] = {SP_TERM_INT, SP_TERM_ROUND, SP_TERM_CEIL, SP_TERM_NEAR, SP_TERM_ROUND_UP};
    unsigned bits = 0;
    if (!term) return 0;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) bits |= term->op == ops[i] ? 1U << i : 0;
    return bits | roundings_of(term->a) | roundings_of(term->b) | roundings_of(term->c);
}

/* Whether a term is likely the chosen one in other words, x + 2 - 1 for x + 1: it has the same keys, reads the same
 * from lists and rounds alike. Then it is no alternative. */
static bool is_in_other_words(const struct sp_search_term *term, const struct sp_search_term *chosen)
{
    if (asks_for_text(term) && asks_for_text(chosen)) return false; /* texts of one list are different things */
    struct key_set of_term = {.count = 0}, of_chosen = {.count = 0};
    sp_search_term_terminals(term, add_to_key_set, &of_term);
    sp_search_term_terminals(chosen, add_to_key_set, &of_chosen);
    return of_chosen.count && of_term.count == of_chosen.count && has_all_keys(&of_term, &of_chosen) &&
           facts_of_lists(term) == facts_of_lists(chosen) && roundings_of(term) == roundings_of(chosen);
}

/* The larger of *most and the number that the condition, which may be negated, compares its other side with; that other
 * side is returned: i % 2 of not (i % 2 == 0). NULL for any other term. */
static const struct sp_search_term *side_compared_with_number(const struct sp_search_term *condition, double *most)
{
    while (condition->op == SP_TERM_NOT) condition = condition->a;
    if (condition->op != SP_TERM_EQUAL && condition->op != SP_TERM_LESS && condition->op != SP_TERM_AT_LEAST)
        return NULL;
    const bool is_left = condition->a->op == SP_TERM_NUMBER;
    const struct sp_search_term *number = is_left ? condition->a : condition->b;
    if (number->op != SP_TERM_NUMBER) return NULL;
    if (number->number > *most) *most = number->number;
    return is_left ? condition->b : condition->a;
}

/* Whether the condition of side_compared_with_number holds where that side has the value. */
static bool holds_where(const struct sp_search_term *condition, double value)
{
    if (condition->op == SP_TERM_NOT) return !holds_where(condition->a, value);
    const double a = condition->a->op == SP_TERM_NUMBER ? condition->a->number : value;
    const double b = condition->b->op == SP_TERM_NUMBER ? condition->b->number : value;
    return condition->op == SP_TERM_EQUAL ? a == b : condition->op == SP_TERM_LESS ? a < b : a >= b;
}

/* Whether two conditions hold for the same values, so that no example can tell them apart: i % 2 == 1 and i % 2 != 0,
 * or i > 0 and i != 0. Both compare one index, length or remainder, a whole number from 0 up, with a number. */
static bool are_equivalent(const struct sp_search_term *a, const struct sp_search_term *b)
{
    const double most_compared = 1024; /* values: more than any model has layers */
    double most = 0;
    const struct sp_search_term *side = side_compared_with_number(a, &most);
    const struct sp_search_term *other = side ? side_compared_with_number(b, &most) : NULL;
    if (!other || !sp_search_terms_equal(side, other)) return false;
    if (side->op == SP_TERM_REST && side->b->op == SP_TERM_NUMBER) most = side->b->number - 1;
    else if (side->op == SP_TERM_INDEX || side->op == SP_TERM_LENGTH) most += 1; /* above both numbers all is alike */
    else return false;
    if (most > most_compared) return false;
    for (double value = 0; value <= most; value++)
        if (holds_where(a, value) != holds_where(b, value)) return false;
    return true;
}

/* 0 and 1: no alternatives to them are reported. */
static bool is_plain_number(const struct sp_search_term *term)
{
    return term->op == SP_TERM_NUMBER && term->number <= 1;
}

/* Gives the term at `from` that rank and moves it up to its place; it is never moved down. Rank 0 puts it first. */
static void raise_found(struct sp_found *found, size_t from, unsigned rank)
{
    const struct sp_search_term *term = found->terms[from];
    size_t place = from;
    for (; place && found->rank[place - 1] > rank; place--) {
        found->terms[place] = found->terms[place - 1];
        found->rank[place] = found->rank[place - 1];
    }
    found->terms[place] = term;
    found->rank[place] = rank;
}

/* Whether a term has the wanted value at each point. */
static bool has_values(const struct sp_search_term *term, const struct sp_reduced *wanted)
{
    for (size_t i = 0; i < wanted->domain.count; i++)
        if (sp_search_term_value(term, &wanted->domain.points[i]) != wanted->values[i]) return false;
    return true;
}

/* The place of a term in the list. If it is not there it is added at the end with that rank, in place of the last one
 * if the list is full. */
static size_t find_or_add(struct sp_found *found, const struct sp_search_term *term, unsigned rank)
{
    for (size_t i = 0; i < found->count; i++)
        if (sp_search_terms_equal(found->terms[i], term)) return i;
    if (found->count < SP_MOST_FOUND) found->count++;
    found->terms[found->count - 1] = term;
    found->rank[found->count - 1] = rank;
    return found->count - 1;
}

unsigned sp_indices_of(const struct sp_search_term *term)
{
    if (!term) return 0;
    if (term->op == SP_TERM_INDEX) return 1U << (unsigned)term->number;
    return sp_indices_of(term->a) | sp_indices_of(term->b) | sp_indices_of(term->c);
}

/* What the wanted values are: a size (or a count of iterations), or truth values. */
enum answer_type { A_SIZE, A_CONDITION };

/* Whether two names have the same parent: "h.0.fwd" and "h.0.back". */
static bool have_one_parent(const char *pattern, const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strncmp(pattern, name, (size_t)(dot + 1 - name)) == 0;
}

/* Whether rows beside this one have that condition: a second direction that is there under a flag. */
static bool is_condition_beside(const struct sp_learn_problem *problem, const struct sp_search_term *condition,
                                const char *name)
{
    for (size_t i = 0; i < problem->priors.count; i++) {
        const struct sp_prior *prior = &problem->priors.items[i];
        if (prior->kind == SP_PRIOR_CONDITION_OF_ROW && have_one_parent(prior->row, name) &&
            sp_search_terms_equal(prior->term, condition))
            return true;
    }
    return false;
}

/* The bonus of a choice, flag ? a : b, for values that are all of one case because the row exists only under the flag:
 * the choice is likelier than the bare case, if another tensor needs it. 0 for any other term. */
static unsigned bonus_of_choice(const struct sp_learn_problem *problem, const struct sp_search_term *choice,
                                const char *name)
{
    if (choice->op != SP_TERM_IF || !is_condition_beside(problem, choice->a, name)) return 0;
    const unsigned least = choice->b->cost < choice->c->cost ? choice->b->cost : choice->c->cost;
    return choice->cost - least + PRIOR;
}

/* Whether `name` is the bias of the module that the weight is in, or of one around it. */
static bool is_bias_beside(const char *name, const char *weight)
{
    const size_t length = strlen(name), bias = strlen("bias");
    return length > bias + 1 && strcmp(name + length - bias - 1, ".bias") == 0 &&
           strncmp(weight, name, length - bias) == 0;
}

/* By how much a term ranks higher because it was chosen elsewhere. */
static unsigned bonus_of_prior(const struct sp_learn_problem *problem, const struct sp_prior *prior, const char *name)
{
    if (prior->kind == SP_PRIOR_CONDITION_OF_ROW) return 0;
    if (prior->kind == SP_PRIOR_SIZE_OF_WEIGHT && !is_bias_beside(name, prior->row)) return 0;
    if (prior->kind == SP_PRIOR_SIZE_OF_WEIGHT) return prior->dimension == 0 ? SIZE_OF_WEIGHT : SIZE_OF_WEIGHT / 2;

    const unsigned of_choice = prior->kind == SP_PRIOR_SIZE ? bonus_of_choice(problem, prior->term, name) : 0;
    if (of_choice) return of_choice;
    if (prior->term->op == SP_TERM_IF) return CHOSEN_CHOICE;
    return prior->uses > MANY ? PRIOR + 2 : prior->uses > 1 ? PRIOR : 0;
}

/* Adds the priors that have the wanted values to what was found, and raises them by their bonus. */
static void prefer_priors(const struct sp_learn_problem *problem, const struct sp_reduced *wanted, const char *name,
                          enum answer_type type, struct sp_found *found)
{
    for (size_t i = 0; i < problem->priors.count; i++) {
        const struct sp_prior *prior = &problem->priors.items[i];
        if (prior->kind == SP_PRIOR_CONDITION_OF_ROW) continue; /* for join_conditions_of_module */
        if ((prior->kind == SP_PRIOR_CONDITION) != (type == A_CONDITION)) continue;
        const unsigned bonus = bonus_of_prior(problem, prior, name);
        if (prior->kind == SP_PRIOR_SIZE_OF_WEIGHT && !bonus) continue;
        if (sp_indices_of(prior->term) & ~wanted->domain.indices) continue;
        if (!has_values(prior->term, wanted)) continue;
        const unsigned rank = SP_FREE + prior->term->cost - sp_search_term_affinity(prior->term, name) +
                              sp_search_term_strangeness(prior->term, name);
        const size_t place = find_or_add(found, prior->term, rank);
        raise_found(found, place, found->rank[place] > bonus ? found->rank[place] - bonus : 0);
    }
}

/* By how much an alternative may be dearer and still be reported: the fewer different values there were, the more. */
static unsigned slack_of_values(const struct sp_reduced *reduced)
{
    const size_t distinct = sp_distinct_values(reduced->values, reduced->domain.count);
    return distinct <= 1 ? SLACK_OF_ONE : distinct == 2 ? SLACK_OF_TWO : SLACK_OF_MORE;
}

/* x*y // y, y*x // y and x // y*y. */
static bool takes_back(const struct sp_search_term *term)
{
    const struct sp_search_term *inner = term->op == SP_TERM_DIVIDE || term->op == SP_TERM_MULTIPLY ? term->a : NULL;
    if (!inner || inner->op != (term->op == SP_TERM_DIVIDE ? SP_TERM_MULTIPLY : SP_TERM_DIVIDE)) return false;
    return sp_search_terms_equal(inner->b, term->b) ||
           (inner->op == SP_TERM_MULTIPLY && sp_search_terms_equal(inner->a, term->b));
}

/* 2*(16*x), x*x, x - 1 + 1, x*y // y: nobody would write it so. */
static bool is_clumsy(const struct sp_search_term *term)
{
    if (takes_back(term)) return true;
    if (term->op == SP_TERM_ADD && term->a->op == SP_TERM_SUBTRACT && term->b->op == SP_TERM_NUMBER) return true;
    if (term->op != SP_TERM_MULTIPLY) return false;
    const bool twice =
        term->a->op == SP_TERM_NUMBER && term->b->op == SP_TERM_MULTIPLY && term->b->a->op == SP_TERM_NUMBER;
    return twice || sp_search_terms_equal(term->a, term->b);
}

/* Whether a term is reported as an alternative to the chosen one: it is not much dearer, or its keys go better with the
 * name, as heads and their width do with a projection. */
static bool is_worth_telling(const struct sp_search_term *term, const struct sp_search_term *chosen, const char *name,
                             unsigned slack)
{
    if (is_in_other_words(term, chosen) || are_equivalent(term, chosen) || is_clumsy(term)) return false;
    if (term->cost <= chosen->cost + slack) return true;
    return term->cost <= chosen->cost + SLACK_OF_NEAR &&
           sp_search_term_affinity(term, name) > sp_search_term_affinity(chosen, name);
}

/* The first of what was found, with alternatives. */
static struct sp_answer best_of_found(const struct sp_found *found, const char *name, unsigned slack)
{
    struct sp_answer answer = {.term = found->count ? found->terms[0] : NULL};
    if (!answer.term || is_plain_number(answer.term)) return answer;
    for (size_t i = 1; i < found->count && answer.other_count < SP_MOST_ALTERNATIVES; i++) {
        bool is_new = is_worth_telling(found->terms[i], answer.term, name, slack);
        for (size_t k = 0; k < answer.other_count && is_new; k++)
            is_new = !are_equivalent(found->terms[i], answer.others[k]);
        if (is_new) answer.others[answer.other_count++] = found->terms[i];
    }
    return answer;
}

bool sp_is_accident(const struct sp_answer *answer)
{
    static const unsigned most[] = {LONG, 12, 17, 30};
    return answer->term->cost >
           (answer->distinct < sizeof most / sizeof *most ? most[answer->distinct] : (unsigned)LONG);
}

/* ---- a key with a default ---- */

/* factor * (key default otherwise), for a key that is absent or null in some examples. */
struct attempt {
    const struct sp_search_term *factor; /* or NULL */
    const struct sp_search_term *key, *otherwise;
    struct sp_found found; /* what `otherwise` was chosen from */
    unsigned cost;         /* of all three */
};

/* The rank of the first term as a cost: without SP_FREE, and 0 if a bonus outweighs the cost. */
static unsigned cost_of_best(const struct sp_found *found)
{
    return found->rank[0] > SP_FREE ? found->rank[0] - SP_FREE : 0;
}

/* The values that a default must have: those of wanted / factor at the points where the key has no value. False when
 * the key has another value where it has one, when a quotient is not whole, or when the key has a value everywhere.
 * `rest` is to be freed in any case. */
static bool rest_for_key(const struct sp_reduced *reduced, const struct sp_search_term *factor,
                         const struct sp_search_term *key, struct sp_reduced *rest)
{
    *rest = (struct sp_reduced){.domain.indices = reduced->domain.indices};
    rest->domain.points = sp_realloc(NULL, reduced->domain.count + 1, sizeof *rest->domain.points);
    rest->values = sp_realloc(NULL, reduced->domain.count + 1, sizeof *rest->values);
    for (size_t i = 0; i < reduced->domain.count; i++) {
        const struct sp_point *point = &reduced->domain.points[i];
        const double by = factor ? sp_search_term_value(factor, point) : 1, is = sp_search_term_value(key, point);
        const double needed = reduced->values[i] / by;
        if (!(by > 0) || needed != floor(needed) || (!isnan(is) && is != needed)) return false;
        if (!isnan(is)) continue;
        rest->domain.points[rest->domain.count] = *point;
        rest->values[rest->domain.count++] = needed + 0.0;
    }
    return rest->domain.count > 0;
}

/* Makes factor * (key default otherwise) the best attempt if it has the wanted values and costs less. `factor` is NULL
 * for none. */
static void try_default(struct sp_learn_problem *problem, const struct sp_reduced *reduced,
                        const struct sp_search_term *factor, const struct sp_search_term *key, const char *name,
                        struct attempt *best)
{
    struct sp_reduced rest;
    struct sp_found found = {.count = 0};
    if (rest_for_key(reduced, factor, key, &rest))
        sp_term_bank_find(sp_library_bank(&problem->library, &rest.domain), rest.values, key->terminal->path,
                          MOST_FOR_ONE, &found);
    sp_reduced_free(&rest);
    if (!found.count) return;
    const unsigned near = sp_search_term_affinity(key, name);
    const unsigned cost =
        key->cost + found.rank[0] - SP_FREE + (factor ? factor->cost + 2 : 0) + 4 - (near < 8 ? near : 8);
    if (best->key && best->cost <= cost) return;
    *best = (struct attempt){factor, key, found.terms[0], found, cost};
}

/* Tries a default of the key with each factor: the usual keys, 2, 3 and 4. */
static void try_factors(struct sp_learn_problem *problem, const struct sp_reduced *reduced,
                        const struct sp_search_term *key, const char *name, struct attempt *best)
{
    struct sp_evidence *evidence = problem->evidence;
    for (size_t i = 0; i < evidence->terminals.count; i++) {
        const struct sp_terminal *terminal = evidence->terminals.items[i];
        if (terminal == key->terminal || terminal->cost > 12) continue;
        try_default(problem, reduced, sp_search_term_terminal(evidence->arena, SP_TERM_KEY, terminal), key, name, best);
    }
    for (double number = 2; number <= 4; number++)
        try_default(problem, reduced, sp_search_term_number(evidence->arena, number), key, name, best);
}

/* Makes a symbol of a key with its default, so that other rows can use it, and answers with that. */
static struct sp_answer answer_with_symbol(struct sp_learn_problem *problem, const struct attempt *best)
{
    struct sp_arena *arena = problem->evidence->arena;
    const struct sp_search_term *key = sp_search_term_copy(arena, best->key);
    const struct sp_search_term *meaning = sp_search_term_binary(arena, SP_TERM_DEFAULT, key, best->otherwise);
    const struct sp_terminal *symbol = sp_evidence_symbol(problem->evidence, best->key->terminal, meaning);
    const struct sp_search_term *term = sp_search_term_terminal(arena, SP_TERM_KEY, symbol);
    *SP_PUSH(&problem->defaults) =
        (struct sp_default){symbol, best_of_found(&best->found, best->key->terminal->path, SLACK_OF_ONE)};
    problem->again = true;
    if (best->factor) term = sp_search_term_binary(arena, SP_TERM_MULTIPLY, best->factor, term);
    return (struct sp_answer){.term = term};
}

/* Whether there is a symbol for the key already. */
static bool has_default(const struct sp_learn_problem *problem, const struct sp_search_term *key)
{
    for (size_t i = 0; i < problem->evidence->terminals.count; i++) {
        const struct sp_terminal *terminal = problem->evidence->terminals.items[i];
        if (terminal->meaning && strcmp(terminal->path, key->terminal->path) == 0) return true;
    }
    return false;
}

/* Whether a default for the key is worth trying. If a usual term has the wanted values as well (`limit` is its cost),
 * only keys that go with the name are. */
static bool may_have_default(const struct sp_learn_problem *problem, const struct sp_search_term *key, const char *name,
                             unsigned limit)
{
    return !has_default(problem, key) && (limit > DEAR || sp_search_term_affinity(key, name) > 0);
}

/* The cheapest answer that is a key with a default; no term if there is none up to the cost `limit` and EVIDENCE. */
static struct sp_answer answer_by_default(struct sp_learn_problem *problem, struct sp_term_bank *bank,
                                          const struct sp_reduced *reduced, const char *name, unsigned limit)
{
    struct attempt best = {.key = NULL};
    for (size_t i = 0; i < sp_term_bank_partial_count(bank); i++) {
        const struct sp_search_term *key = sp_term_bank_partial(bank, i);
        if (!may_have_default(problem, key, name, limit)) continue;
        try_default(problem, reduced, NULL, key, name, &best);
        try_factors(problem, reduced, key, name, &best);
    }
    if (!best.key || best.cost > limit + EVIDENCE) return (struct sp_answer){.term = NULL};
    return answer_with_symbol(problem, &best);
}

/* ---- one case beside another ---- */

/* The function at the points where the condition holds, or does not. `part` is to be freed. */
static void part_of_case(const struct sp_reduced *reduced, const struct sp_search_term *condition, bool holds,
                         struct sp_reduced *part)
{
    *part = (struct sp_reduced){.domain.indices = reduced->domain.indices};
    part->domain.points = sp_realloc(NULL, reduced->domain.count + 1, sizeof *part->domain.points);
    part->values = sp_realloc(NULL, reduced->domain.count + 1, sizeof *part->values);
    for (size_t i = 0; i < reduced->domain.count; i++) {
        if ((sp_search_term_value(condition, &reduced->domain.points[i]) != 0) != holds) continue;
        part->domain.points[part->domain.count] = reduced->domain.points[i];
        part->values[part->domain.count++] = reduced->values[i];
    }
}

/* The cheapest choice by a condition that has the wanted values, or NULL. One of its two cases may be a choice again,
 * and so on, nested `depth` deep. */
static const struct sp_search_term *cases_of(struct sp_learn_problem *problem, struct sp_term_bank *bank,
                                             const struct sp_reduced *reduced, const char *name, size_t depth);

/* A large number, which as a case says no more than the file did. */
static bool is_learnt_by_heart(const struct sp_search_term *term)
{
    return term->op == SP_TERM_NUMBER && term->number > (double)LARGEST_IN_CASE;
}

/* The first term that is no such number, if it ranks hardly lower than the first one; else NULL. */
static const struct sp_search_term *first_not_by_heart(const struct sp_found *found)
{
    size_t first = 0;
    while (first < found->count && is_learnt_by_heart(found->terms[first])) first++;
    return first < found->count && found->rank[first] <= found->rank[0] + CASES ? found->terms[first] : NULL;
}

/* One half of a function: where the condition holds, or where it does not. */
struct half {
    const struct sp_reduced *reduced;
    const struct sp_search_term *condition;
    bool holds;
    bool known; /* the condition is that of other rows: longer expressions are worth looking for */
};

/* The term for one half, which may be a choice nested `depth` deep. NULL when there is none, or when the condition is
 * the same at all points. */
static const struct sp_search_term *term_of_case(struct sp_learn_problem *problem, struct half half, const char *name,
                                                 size_t depth)
{
    struct sp_reduced part;
    struct sp_found found = {.count = 0};
    const struct sp_search_term *term = NULL;
    part_of_case(half.reduced, half.condition, half.holds, &part);
    if (part.domain.count && part.domain.count < half.reduced->domain.count) {
        struct sp_term_bank *bank = sp_term_bank_new(problem->evidence, &part.domain);
        if (!half.known) sp_term_bank_keep_shallow(bank);
        sp_term_bank_find(bank, part.values, name, most_for_values(part.values, part.domain.count), &found);
        prefer_priors(problem, &part, name, A_SIZE, &found);
        term = first_not_by_heart(&found);
        term = term ? term : depth ? cases_of(problem, bank, &part, name, depth - 1) : NULL;
        sp_term_bank_free(bank);
    }
    sp_reduced_free(&part);
    return term;
}

static bool asks_index(const struct sp_search_term *term) { return sp_indices_of(term) != 0; }

/* The choice `condition ? yes : no` with the wanted values, or NULL. If one half has a plain term, the other may be a
 * choice again, nested `depth` deep. i >= n ? yes : no is written i < n ? no : yes, in the order of the iterations. */
static const struct sp_search_term *try_case(struct sp_learn_problem *problem, struct half half, const char *name,
                                             size_t depth)
{
    struct half other = half;
    half.holds = true;
    other.holds = false;
    const struct sp_search_term *yes = term_of_case(problem, half, name, 0);
    if (!yes && half.known) return NULL;
    const struct sp_search_term *no = term_of_case(problem, other, name, yes ? depth : 0);
    if (!yes && no) yes = term_of_case(problem, half, name, depth);
    if (!yes || !no) return NULL;
    struct sp_arena *arena = problem->evidence->arena;
    const struct sp_search_term *condition = sp_search_term_copy(arena, half.condition);
    if (condition->op != SP_TERM_AT_LEAST) return sp_search_term_choice(arena, condition, yes, no);
    condition = sp_search_term_binary(arena, SP_TERM_LESS, condition->a, condition->b);
    return sp_search_term_choice(arena, condition, no, yes);
}

/* An estimate of the values that are computed for one condition, for which two banks are made. */
static size_t effort_of_case(const struct sp_learn_problem *problem, const struct sp_reduced *reduced)
{
    const size_t terminals = problem->evidence->terminals.count;
    return LEAST_EFFORT + terminals * terminals * reduced->domain.count / 4;
}

/* i == 0, i >= depth, i + 1 == len(widths): the first iteration of a loop and the last one, which begin and end with
 * what is in front of it and behind it. */
static bool is_end_of_loop(const struct sp_search_term *condition)
{
    if (condition->op != SP_TERM_EQUAL && condition->op != SP_TERM_AT_LEAST) return false;
    if (!asks_index(condition->a) || condition->a->op == SP_TERM_REST) return false;
    return condition->b->terminal || (condition->b->op == SP_TERM_NUMBER && condition->b->number <= 1);
}

/* How likely a choice depends on the condition: 0 what a list has at the index, and the ends of loops; 1 what goes with
 * the name; 2 all else, which may be an accident. */
static unsigned rank_of_case(const struct sp_search_term *condition, const char *name)
{
    if (asks_index(condition) && (condition->terminal || is_end_of_loop(condition))) return 0;
    return sp_search_term_affinity(condition, name) ? 1 : 2;
}

/* A search for the cheapest choice, over the conditions of the bank that read an index, or those that do not. */
struct case_search {
    struct sp_learn_problem *problem;
    struct sp_term_bank *bank;
    const struct sp_reduced *reduced; /* the wanted values */
    const char *name;
    size_t depth; /* how deep choices may be nested */
    size_t tried; /* conditions of this rank */
    bool on_index;
    unsigned rank;                     /* of the conditions that are tried now: rank_of_case */
    const struct sp_search_term *best; /* so far, or NULL */
};

/* Tries one condition, unless it is of another rank or too many were tried. */

static void search_case(struct case_search *search, const struct sp_search_term *condition)
{
    struct sp_learn_problem *problem = search->problem;
    if (condition->op == SP_TERM_NOT || condition->cost > DEAREST_CASE) return;
    if (asks_index(condition) != search->on_index || rank_of_case(condition, search->name) != search->rank) return;
    if (search->tried >= MOST_CASES || problem->effort > MOST_EFFORT) return;
    if (search->on_index && search->rank && !sp_term_bank_says_half(search->bank, condition, search->reduced->values))
        return;
    problem->effort += effort_of_case(problem, search->reduced);
    const struct sp_search_term *term = try_case(
        problem, (struct half){.reduced = search->reduced, .condition = condition}, search->name, search->depth);
    search->tried++;
    if (term && (!search->best || term->cost < search->best->cost)) search->best = term;
}

/* The cheapest choice by the first MOST_CASES conditions of each rank, or NULL. */
static const struct sp_search_term *best_case(struct case_search search)
{
    for (; search.rank <= 2; search.rank++) {
        search.tried = 0;
        for (size_t i = 0; i < sp_term_bank_condition_count(search.bank); i++)
            search_case(&search, sp_term_bank_condition(search.bank, i));
    }
    return search.best;
}

/* The cheapest choice by a condition that other rows have, or NULL: a matrix around the first block of a stage exists
 * where the block changes the width; in layers of another kind other rows exist, and these have another width. */
static const struct sp_search_term *case_by_prior(struct sp_learn_problem *problem, const struct sp_reduced *reduced,
                                                  const char *name)
{
    const struct sp_search_term *best = NULL;
    for (size_t i = 0; i < problem->priors.count; i++) {
        const struct sp_prior *prior = &problem->priors.items[i];
        if (prior->kind != SP_PRIOR_CONDITION || prior->term->op == SP_TERM_NOT) continue;
        if (sp_indices_of(prior->term) & ~reduced->domain.indices || problem->effort > MOST_EFFORT) continue;
        const bool on_index = asks_index(prior->term);
        if (!on_index && prior->term->op != SP_TERM_AND && prior->term->op != SP_TERM_OR)
            continue; /* others are tried anyway */
        problem->effort += effort_of_case(problem, reduced);
        const struct half half = {.reduced = reduced, .condition = prior->term, .known = on_index};
        const struct sp_search_term *term = try_case(problem, half, name, 0);
        if (term && (!best || term->cost < best->cost)) best = term;
    }
    return best;
}

static const struct sp_search_term *cheaper_of(const struct sp_search_term *a, const struct sp_search_term *b)
{
    if (!a || !b) return a ? a : b;
    return a->cost <= b->cost ? a : b;
}

static const struct sp_search_term *cases_of(struct sp_learn_problem *problem, struct sp_term_bank *bank,
                                             const struct sp_reduced *reduced, const char *name, size_t depth)
{
    const struct sp_search_term *known = depth ? NULL : case_by_prior(problem, reduced, name);
    if (known && known->cost <= SHORT_CASE) return known;
    struct case_search search = {.problem = problem, .reduced = reduced, .name = name, .depth = depth, .bank = bank};
    const struct sp_search_term *otherwise = best_case(search);
    search.on_index = true;
    const struct sp_search_term *on_index = reduced->domain.indices ? best_case(search) : NULL;
    return cheaper_of(known, cheaper_of(on_index, otherwise));
}

/* A choice, without nested ones if there is one; no term if there is none. */
static struct sp_answer answer_by_cases(struct sp_learn_problem *problem, struct sp_term_bank *bank,
                                        const struct sp_reduced *reduced, const char *name, bool nested)
{
    const struct sp_search_term *plain = cases_of(problem, bank, reduced, name, 0);
    return (struct sp_answer){.term = plain || !nested ? plain : cases_of(problem, bank, reduced, name, 1)};
}

/* Takes a long expression or a choice of short ones, whichever is likelier, and reports the other as the alternative.
 */
static struct sp_answer rather_by_cases(struct sp_answer answer, struct sp_answer cases)
{
    if (!cases.term || !answer.term) return answer.term ? answer : cases;
    const bool rather = cases.term->cost < answer.term->cost + CASES;
    struct sp_answer both = {.term = rather ? cases.term : answer.term, .other_count = 1};
    both.others[0] = rather ? answer.term : cases.term;
    return both;
}

/* ---- side by side ---- */

/* The values of each size at each point, NaN for a size that reads an index which the domain has not. sp_free them. */
static double *values_of_sizes(const struct sp_learn_problem *problem, const struct sp_domain *domain)
{
    double *values = sp_realloc(NULL, problem->sizes.count * domain->count + 1, sizeof *values);
    for (size_t i = 0; i < problem->sizes.count; i++) {
        const bool fits = !(sp_indices_of(problem->sizes.items[i]) & ~domain->indices);
        for (size_t k = 0; k < domain->count; k++)
            values[i * domain->count + k] =
                fits ? sp_search_term_value(problem->sizes.items[i], &domain->points[k]) : (double)NAN;
    }
    return values;
}

static bool make_sum(const double *a, const double *b, const struct sp_reduced *wanted)
{
    for (size_t k = 0; k < wanted->domain.count; k++)
        if (a[k] + b[k] != wanted->values[k]) return false;
    return true;
}

static const struct sp_search_term *term_of_sum(struct sp_arena *arena, const struct sp_search_term *a,
                                                const struct sp_search_term *b)
{
    return a == b ? sp_search_term_binary(arena, SP_TERM_MULTIPLY, sp_search_term_number(arena, 2), a)
                  : sp_search_term_binary(arena, SP_TERM_ADD, a, b);
}

/* The cheapest sum of the sizes of two other tensors, or NULL: the output of a skip connection is concatenated to that
 * of the layer before. */
static const struct sp_search_term *sum_of_sizes(struct sp_learn_problem *problem, const struct sp_reduced *reduced)
{
    const size_t sizes = problem->sizes.count, points = reduced->domain.count;
    const struct sp_search_term *best = NULL;
    if (sizes > MOST_SIZES || sp_distinct_values(reduced->values, points) < FEWEST_SUMS) return NULL;
    double *values = values_of_sizes(problem, &reduced->domain);
    for (size_t a = 0; a < sizes; a++) {
        size_t b = a;
        while (b < sizes && !make_sum(values + a * points, values + b * points, reduced)) b++;
        if (b == sizes) continue;
        best =
            cheaper_of(best, term_of_sum(problem->evidence->arena, problem->sizes.items[a], problem->sizes.items[b]));
    }
    sp_free(values);
    return best;
}

/* ---- all of it ---- */

/* Whether a term is likely an accident: there are two different values, and its keys do not go with the name. Models of
 * 2 layers and 2 classes and of 1 layer and 1 class are an example, where the head has as many rows as there are
 * layers.
 */
static bool is_stranger(const struct sp_search_term *term, const struct sp_reduced *reduced, const char *name)
{
    return sp_distinct_values(reduced->values, reduced->domain.count) == 2 && !sp_search_term_affinity(term, name);
}

/* False when nothing more is to be looked for: the limit is reached, or the caller wants the search to end. */
static bool may_look_for_more(struct sp_evidence *evidence)
{
    evidence->is_cancelled |= !sp_goes_on(evidence->watch, "expressions", ++evidence->asked, 0);
    if (evidence->is_cancelled) evidence->most = 0;
    return evidence->spent <= evidence->most;
}

/* "mlp.up.weight: n_inner (3), 4*n_embd (9)": what was found with its cost, the cheapest first. */
static void trace_found(const struct sp_learn_problem *problem, const char *name, const struct sp_found *found)
{
    if (!sp_is_traced(problem->evidence->watch)) return;
    struct sp_text text = {0};
    for (size_t i = 0; i < found->count; i++) {
        sp_text_puts(&text, i ? ", " : "");
        sp_search_term_write(&text, found->terms[i], SP_KEYS_BY_PATH);
        sp_text_printf(&text, " (%u)", found->rank[i] > SP_FREE ? found->rank[i] - SP_FREE : 0);
    }
    const char *shown = sp_row_shown(problem->evidence->arena, name);
    sp_trace(problem->evidence->watch, "%s: %s", shown, text.length ? text.data : "nothing of one expression");
    sp_text_free(&text);
}

/* The answer for a list of values, from the likely to the unlikely:
 *
 *     4*n_embd                             a term over the keys
 *     n_inner default 4*n_embd             a key with a default, if the best term ranks low, or may be an accident
 *     n_embd + n_skip                      the sum of two other sizes, if there is no term or it is long
 *     i < n_dense ? n_inner : n_expert     a choice, if there is no such sum; the long term is then the alternative */
static struct sp_answer solve_reduced(struct sp_learn_problem *problem, const struct sp_reduced *reduced,
                                      const char *name)
{
    if (!may_look_for_more(problem->evidence)) return (struct sp_answer){.term = NULL};
    struct sp_term_bank *bank = sp_library_bank(&problem->library, &reduced->domain);
    const unsigned most = most_for_values(reduced->values, reduced->domain.count);
    struct sp_found found;
    sp_term_bank_find(bank, reduced->values, name, most, &found);
    prefer_priors(problem, reduced, name, A_SIZE, &found);
    trace_found(problem, name, &found);
    struct sp_answer answer = best_of_found(&found, name, slack_of_values(reduced));
    const bool is_doubtful = !answer.term || found.rank[0] > SP_FREE + PLAIN || is_stranger(answer.term, reduced, name);
    if (is_doubtful) {
        const unsigned limit = answer.term ? cost_of_best(&found) : most;
        const struct sp_answer by_default = answer_by_default(problem, bank, reduced, name, limit);
        if (by_default.term) answer = by_default;
    }
    const bool is_long = !answer.term || (answer.term->cost > LONG && answer.term->op != SP_TERM_IF);
    const struct sp_search_term *sum = is_long ? sum_of_sizes(problem, reduced) : NULL;
    if (sum) answer = (struct sp_answer){.term = sum};
    else if (is_long) answer = rather_by_cases(answer, answer_by_cases(problem, bank, reduced, name, !answer.term));
    answer.distinct = sp_distinct_values(reduced->values, reduced->domain.count);
    return answer;
}

/* ---- what was asked before ---- */

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211U;
    return hash;
}

/* The key of a function in the cache of answers. */
static const char *key_of_question(struct sp_arena *arena, const struct sp_reduced *reduced, const char *name)
{
    const uint64_t basis = 1469598103934665603U;
    const uint64_t points =
        mix_bytes(basis, reduced->domain.points, reduced->domain.count * sizeof *reduced->domain.points);
    const uint64_t values = mix_bytes(basis, reduced->values, reduced->domain.count * sizeof *reduced->values);
    return sp_arena_printf(arena, "%llx %llx %s", (unsigned long long)points, (unsigned long long)values, name);
}

/* ---- short loops ---- */

/* Which indices a term computes with, as bits. An index that only selects an item of a list does not count: the
 * configuration gives that item. */
static unsigned indices_computed_with(const struct sp_search_term *term)
{
    if (!term || term->op == SP_TERM_ITEM || term->op == SP_TERM_AT) return 0;
    if (term->op == SP_TERM_INDEX) return 1U << (unsigned)term->number;
    return indices_computed_with(term->a) | indices_computed_with(term->b) | indices_computed_with(term->c);
}

/* Whether the values of an index span three numbers or more. */
static bool has_three_values(const struct sp_domain *domain, size_t index)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < domain->count; i++) {
        const uint64_t value = domain->points[i].index[index];
        if (value < low) low = value;
        if (value > high) high = value;
    }
    return high > low + 1;
}

/* Marks an answer that depends on an index with two values or one: of two iterations i + 1 and 2^i are the same, and so
 * is much else. */
static struct sp_answer with_mark_of_short_loops(struct sp_answer answer, const struct sp_domain *domain)
{
    const unsigned asked = indices_computed_with(answer.term);
    for (size_t k = 0; k < SP_MAX_INDICES; k++)
        if (asked >> k & 1 && !has_three_values(domain, k)) answer.short_loop = true;
    return answer;
}

/* The rounds ask the same again and again. */
struct sp_answer sp_solve_function(struct sp_learn_problem *problem, const struct sp_learn_function *function)
{
    sp_library_tidy(&problem->library);
    struct sp_reduced reduced = sp_function_reduce(function);
    const char *key = key_of_question(problem->evidence->arena, &reduced, function->name);
    const size_t known = sp_map_get(&problem->answers.keys, key);
    struct sp_answer answer = {.term = NULL};
    if (known != SIZE_MAX) answer = problem->answers.items[known];
    else {
        answer = with_mark_of_short_loops(solve_reduced(problem, &reduced, function->name), &reduced.domain);
        sp_map_add(&problem->answers.keys, key, problem->answers.count);
        *SP_PUSH(&problem->answers) = answer;
    }
    sp_reduced_free(&reduced);
    return answer;
}

void sp_forget_answers(struct sp_learn_problem *problem)
{
    sp_library_forget(&problem->library);
    sp_map_free(&problem->answers.keys);
    problem->answers.keys = (struct sp_map){0};
    problem->answers.count = 0;
}

/* ---- conditions ---- */

/* What a condition is for. */
struct condition_asked {
    const char *name;                /* of the row or the loop */
    const struct sp_tensor_row *row; /* with its dimensions; NULL for a loop */
};

static bool is_joined(const struct sp_search_term *term) { return term->op == SP_TERM_AND || term->op == SP_TERM_OR; }

/* The length of the module around that of a tensor: "h.{}." of "h.{}.mlp.weight", all but the last two components. 0 if
 * there are no more. */
static size_t length_of_module(const char *name)
{
    size_t length = strlen(name), dots = 0;
    while (length && !(name[length - 1] == '.' && ++dots == 2)) length--;
    return length;
}

/* Whether a row is in the module around that of the tensor. */
static bool is_in_module_of(const char *pattern, const char *name)
{
    const size_t length = length_of_module(name);
    return length && strncmp(pattern, name, length) == 0;
}

/* A condition joined by `and` or `or` that another row of the module has, and that has the wanted values here as well;
 * NULL if there is none. Rows of one module rather share a long condition than have two equal ones. */
static const struct sp_search_term *condition_beside(const struct sp_learn_problem *problem,
                                                     const struct sp_reduced *wanted, const char *name)
{
    for (size_t i = 0; i < problem->layout.rows.count; i++) {
        const struct sp_tensor_row *row = &problem->layout.rows.items[i];
        if (!row->is_solved || !row->where.term || !is_joined(row->where.term)) continue;
        if (!is_in_module_of(row->pattern, name) || sp_indices_of(row->where.term) & ~wanted->domain.indices) continue;
        if (has_values(row->where.term, wanted)) return row->where.term;
    }
    return NULL;
}

/* Whether a condition compares the first two dimensions of the row, as that of a matrix between two widths, which
 * exists where they differ. False if the row is NULL. */
static bool compares_dims(const struct sp_search_term *condition, const struct sp_tensor_row *row)
{
    if (condition->op == SP_TERM_NOT) condition = condition->a;
    if (condition->op != SP_TERM_EQUAL || !row || row->rank < 2) return false;
    return (sp_search_terms_equal(condition->a, row->dims[0].term) &&
            sp_search_terms_equal(condition->b, row->dims[1].term)) ||
           (sp_search_terms_equal(condition->a, row->dims[1].term) &&
            sp_search_terms_equal(condition->b, row->dims[0].term));
}

/* Adds the condition that the two dimensions of a row differ, if it has the wanted values: a shortcut exists where
 * channels[i - 1] is not channels[i]. */
static void find_differing_dims(struct sp_learn_problem *problem, const struct sp_reduced *wanted,
                                const struct sp_tensor_row *row, struct sp_found *found)
{
    struct sp_arena *arena = problem->evidence->arena;
    if (row->rank < 2 || !row->dims[0].term || !row->dims[1].term) return;
    const struct sp_search_term *out = row->dims[0].term, *in = row->dims[1].term;
    if ((sp_indices_of(out) | sp_indices_of(in)) & ~wanted->domain.indices) return;
    const struct sp_search_term *same = sp_search_term_binary(arena, SP_TERM_EQUAL, in, out);
    const struct sp_search_term *differ = sp_search_term_unary(arena, SP_TERM_NOT, same);
    if (!sp_search_terms_equal(in, out) && has_values(differ, wanted))
        find_or_add(found, differ, SP_FREE + differ->cost);
}

/* The same for the dimensions of the row itself, else of the first row of its module that gives a condition: the block
 * that a shortcut goes around has both widths at every iteration. */
static void find_differing_widths(struct sp_learn_problem *problem, const struct sp_reduced *wanted,
                                  const struct condition_asked *asked, struct sp_found *found)
{
    if (asked->row) find_differing_dims(problem, wanted, asked->row, found);
    for (size_t i = 0; asked->row && i < problem->layout.rows.count && !found->count; i++) {
        const struct sp_tensor_row *row = &problem->layout.rows.items[i];
        if (row->is_solved && is_in_module_of(row->pattern, asked->name))
            find_differing_dims(problem, wanted, row, found);
    }
}

/* Adds conditions `outer and inner` that have the wanted values: `inner` is searched for among the points where
 * `outer`, the condition of another row of the module, holds. Nothing if that is everywhere or nowhere. */
static void join_condition(struct sp_learn_problem *problem, const struct sp_reduced *wanted,
                           const struct sp_search_term *outer, const struct condition_asked *asked,
                           struct sp_found *found)
{
    struct sp_reduced part;
    struct sp_found within = {.count = 0};
    struct sp_arena *arena = problem->evidence->arena;
    part_of_case(wanted, outer, true, &part);
    if (part.domain.count && part.domain.count < wanted->domain.count) {
        struct sp_term_bank *bank = sp_term_bank_new(problem->evidence, &part.domain);
        sp_term_bank_keep_shallow(bank);
        sp_term_bank_find_condition(bank, part.values, asked->name, &within);
        sp_term_bank_free(bank);
    }
    for (size_t i = 0; i < within.count; i++) {
        const struct sp_search_term *term = sp_search_term_binary(arena, SP_TERM_AND, outer, within.terms[i]);
        if (is_joined(within.terms[i]) || !has_values(term, wanted)) continue;
        const unsigned rank = within.rank[i] + OUTER - (compares_dims(within.terms[i], asked->row) ? OF_DIMS : 0);
        raise_found(found, find_or_add(found, term, rank), rank);
    }
    sp_reduced_free(&part);
}

/* The same with the condition of each row of the module as `outer`. */
static void join_conditions_of_module(struct sp_learn_problem *problem, const struct sp_reduced *wanted,
                                      const struct condition_asked *asked, struct sp_found *found)
{
    const struct sp_search_term *last = NULL;
    for (size_t i = 0; i < problem->priors.count; i++) {
        const struct sp_prior *prior = &problem->priors.items[i];
        if (prior->kind != SP_PRIOR_CONDITION_OF_ROW || !is_in_module_of(prior->row, asked->name)) continue;
        if (sp_indices_of(prior->term) & ~wanted->domain.indices) continue;
        if (last && sp_search_terms_equal(last, prior->term)) continue;
        last = prior->term;
        if (problem->effort > MOST_EFFORT) return;
        problem->effort += effort_of_case(problem, wanted);
        join_condition(problem, wanted, prior->term, asked, found);
    }
}

/* In this order: a condition of the bank or of other rows; where two widths differ, if nothing was found; if still
 * nothing was found, or only conditions joined by `and` or `or`: the joined condition of another row of the module,
 * else one within a condition of the module. */
struct sp_answer sp_solve_condition(struct sp_learn_problem *problem, const struct sp_learn_function *function,
                                    const struct sp_tensor_row *row)
{
    if (!may_look_for_more(problem->evidence)) return (struct sp_answer){.term = NULL};
    const struct condition_asked asked = {function->name, row};
    struct sp_reduced reduced = sp_function_reduce(function);
    struct sp_found found;
    sp_term_bank_find_condition(sp_library_bank(&problem->library, &reduced.domain), reduced.values, function->name,
                                &found);
    prefer_priors(problem, &reduced, function->name, A_CONDITION, &found);
    if (!found.count) find_differing_widths(problem, &reduced, &asked, &found);
    if (!found.count || is_joined(found.terms[0])) {
        const struct sp_search_term *beside = condition_beside(problem, &reduced, function->name);
        if (beside) raise_found(&found, find_or_add(&found, beside, SP_FREE), 0);
        else join_conditions_of_module(problem, &reduced, &asked, &found);
    }
    trace_found(problem, function->name, &found);
    const struct sp_answer answer =
        with_mark_of_short_loops(best_of_found(&found, function->name, SLACK_OF_TWO), &reduced.domain);
    sp_reduced_free(&reduced);
    return answer;
}
