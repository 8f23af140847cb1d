/* SPDX-License-Identifier: MIT
 * One function, one expression: a plain one, a key with a default, or one case beside another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learning.h"
#include "learn/solve.h"
#include "learn/terms/likely.h"

/* What an expression may cost: three different values are hardly met by accident, one is by many expressions. */
enum {
    MOST_FOR_ONE = 24,
    MOST_FOR_TWO = 62,
    MOST_FOR_MORE = 96,
    SLACK_OF_ONE = 16,
    SLACK_OF_TWO = 11,
    SLACK_OF_MORE = 7,
    SLACK_OF_NEAR = 20,
    MOST_CASES = 12,
    DEAREST_CASE = 38,
    MOST_SIZES = 200,
    FEWEST_SUMS = 3,
    SHORT_CASE = 90,
    LARGEST_IN_CASE = 9,
    CASES = 18, /* two short cases may cost more than a long expression by so much */
    LEAST_EFFORT = 5000,
    MOST_EFFORT = 5000000, /* for cases, in all */
    MOST_KEYS = 16,
    PRIOR = 5, /* how much likelier it is when it is used elsewhere */
    MANY = 8,
    CASE_ELSEWHERE = 12,
    SIBLING = 30, /* when it is that of the weight beside it */
    PLAIN = 12,   /* from here on a default is looked for as well, of keys that go with the name */
    DEAR = 24,    /* and from here on of all */
    OUTER = 10,   /* what a condition within another one costs more than it would alone */
    OF_DIMS = 24, /* and less, when it is about the dimensions of the row */
    LONG = 38,    /* and from here on cases, which may be shorter */
    EVIDENCE = 10 /* a key that is the value wherever it is there is no accident */
};

static unsigned most_for_values(const double *values, size_t count)
{
    const size_t distinct = sp_distinct_values(values, count);
    return distinct <= 1 ? MOST_FOR_ONE : distinct == 2 ? MOST_FOR_TWO : MOST_FOR_MORE;
}

/* The keys of an expression. */
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

/* "sound" in inputs, or anything with that in it. */
static bool asks_for_text(const struct sp_search_term *term)
{
    if (!term) return false;
    return (term->op == SP_TERM_CONTAINED && term->text) || asks_for_text(term->a) || asks_for_text(term->b);
}

/* The length of a list, or the sum, and an item of it are different facts. */
static unsigned facts_of_lists(const struct sp_search_term *term)
{
    if (!term) return 0;
    if (term->op == SP_TERM_ITEM || term->op == SP_TERM_AT) return 1U << (2 + (unsigned)term->a->op % 16);
    const unsigned fact = term->op == SP_TERM_LENGTH ? 1 : term->op == SP_TERM_SUM ? 2 : 0;
    return fact | facts_of_lists(term->a) | facts_of_lists(term->b) | facts_of_lists(term->c);
}

/* How a number that is no whole one becomes one, as bits. */
static unsigned roundings_of(const struct sp_search_term *term)
{
    static const enum sp_term_op ops[] = {SP_TERM_INT, SP_TERM_ROUND, SP_TERM_CEIL, SP_TERM_NEAR, SP_TERM_ROUND_UP};
    unsigned bits = 0;
    if (!term) return 0;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) bits |= term->op == ops[i] ? 1U << i : 0;
    return bits | roundings_of(term->a) | roundings_of(term->b) | roundings_of(term->c);
}

/* Another way to say the same is none to decide: x + 2 - 1 for x + 1. */
static bool is_other_way_to_say(const struct sp_search_term *term, const struct sp_search_term *chosen)
{
    if (asks_for_text(term) && asks_for_text(chosen)) return false; /* texts of one list are different things */
    struct key_set of_term = {.count = 0}, of_chosen = {.count = 0};
    sp_search_term_terminals(term, add_to_key_set, &of_term);
    sp_search_term_terminals(chosen, add_to_key_set, &of_chosen);
    return of_chosen.count && of_term.count == of_chosen.count && has_all_keys(&of_term, &of_chosen) &&
           facts_of_lists(term) == facts_of_lists(chosen) && roundings_of(term) == roundings_of(chosen);
}

/* 0 and 1 are what they are. */
static bool is_plain_number(const struct sp_search_term *term)
{
    return term->op == SP_TERM_NUMBER && term->number <= 1;
}

/* Moves it to where its cost puts it. */
static void place_found(struct sp_found *found, size_t from, unsigned cost)
{
    const struct sp_search_term *term = found->terms[from];
    size_t place = from;
    for (; place && found->rank[place - 1] > cost; place--) {
        found->terms[place] = found->terms[place - 1];
        found->rank[place] = found->rank[place - 1];
    }
    found->terms[place] = term;
    found->rank[place] = cost;
}

static bool has_values(const struct sp_search_term *term, const struct sp_reduced *wanted)
{
    for (size_t i = 0; i < wanted->domain.count; i++)
        if (sp_search_term_value(term, &wanted->domain.points[i]) != wanted->values[i]) return false;
    return true;
}

static size_t find_among(struct sp_found *found, const struct sp_search_term *term, unsigned cost)
{
    for (size_t i = 0; i < found->count; i++)
        if (sp_search_terms_equal(found->terms[i], term)) return i;
    if (found->count < SP_MOST_FOUND) found->count++;
    found->terms[found->count - 1] = term;
    found->rank[found->count - 1] = cost;
    return found->count - 1;
}

unsigned sp_indices_of(const struct sp_search_term *term)
{
    if (!term) return 0;
    if (term->op == SP_TERM_INDEX) return 1U << (unsigned)term->number;
    return sp_indices_of(term->a) | sp_indices_of(term->b) | sp_indices_of(term->c);
}

/* A bias is as long as its weight is wide; what was chosen at several places is likelier here, too. */
static unsigned bonus_of_prior(const struct sp_prior *prior, const char *name)
{
    const size_t length = strlen(name);
    if (length > 5 && prior->weight && strcmp(name + length - 5, ".bias") == 0 &&
        strncmp(prior->weight, name, length - 4) == 0)
        return prior->uses ? SIBLING : SIBLING / 2;
    if (prior->weight) return 0;
    if (prior->term->op == SP_TERM_IF) return CASE_ELSEWHERE;
    return prior->uses > MANY ? PRIOR + 2 : prior->uses > 1 ? PRIOR : 0;
}

static bool have_one_parent(const char *pattern, const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strncmp(pattern, name, (size_t)(dot + 1 - name)) == 0;
}

/* The condition of rows beside this one: a second direction that is there under a flag. */
static bool is_condition_beside(const struct sp_learn_problem *problem, const struct sp_search_term *condition,
                                const char *name)
{
    for (size_t i = 0; i < problem->priors.count; i++) {
        const struct sp_prior *prior = &problem->priors.items[i];
        if (prior->is_condition && prior->weight && have_one_parent(prior->weight, name) &&
            sp_search_terms_equal(prior->term, condition))
            return true;
    }
    return false;
}

/* Two cases of which these values have met one only: what another tensor needs both for is likelier than the one. */
static unsigned bonus_of_cases(const struct sp_learn_problem *problem, const struct sp_prior *prior, const char *name)
{
    const struct sp_search_term *cases = prior->term;
    if (prior->weight || prior->is_condition || cases->op != SP_TERM_IF) return 0;
    if (!is_condition_beside(problem, cases->a, name)) return 0;
    const unsigned least = cases->b->cost < cases->c->cost ? cases->b->cost : cases->c->cost;
    return cases->cost - least + PRIOR;
}

static void prefer_priors(const struct sp_learn_problem *problem, const struct sp_reduced *wanted, const char *name,
                          bool of_condition, struct sp_found *found)
{
    for (size_t i = 0; i < problem->priors.count; i++) {
        const struct sp_prior *prior = &problem->priors.items[i];
        const unsigned of_cases = bonus_of_cases(problem, prior, name);
        const unsigned bonus = prior->is_condition && prior->weight ? 0
                               : of_cases                           ? of_cases
                                                                    : bonus_of_prior(prior, name);
        if (prior->is_condition != of_condition || (prior->weight && !bonus)) continue;
        if (sp_indices_of(prior->term) & ~wanted->domain.indices) continue;
        if (!has_values(prior->term, wanted)) continue;
        const unsigned cost = SP_FREE + prior->term->cost - sp_search_term_affinity(prior->term, name) +
                              sp_search_term_strangeness(prior->term, name);
        const size_t place = find_among(found, prior->term, cost);
        place_found(found, place, found->rank[place] > bonus ? found->rank[place] - bonus : 0);
    }
}

/* How much dearer another one may be and still be told: the fewer values there were, the more. */
static unsigned slack_of_values(const struct sp_reduced *reduced)
{
    const size_t distinct = sp_distinct_values(reduced->values, reduced->domain.count);
    return distinct <= 1 ? SLACK_OF_ONE : distinct == 2 ? SLACK_OF_TWO : SLACK_OF_MORE;
}

/* x*y // y, and x // y*y. */
static bool takes_back(const struct sp_search_term *term)
{
    const struct sp_search_term *inner = term->op == SP_TERM_DIVIDE || term->op == SP_TERM_MULTIPLY ? term->a : NULL;
    if (!inner || inner->op != (term->op == SP_TERM_DIVIDE ? SP_TERM_MULTIPLY : SP_TERM_DIVIDE)) return false;
    return sp_search_terms_equal(inner->b, term->b) ||
           (inner->op == SP_TERM_MULTIPLY && sp_search_terms_equal(inner->a, term->b));
}

/* 2*(16*x), x*x, x - 1 + 1: there is a shorter way. */
static bool is_clumsy(const struct sp_search_term *term)
{
    if (takes_back(term)) return true;
    if (term->op == SP_TERM_ADD && term->a->op == SP_TERM_SUBTRACT && term->b->op == SP_TERM_NUMBER) return true;
    if (term->op != SP_TERM_MULTIPLY) return false;
    const bool twice =
        term->a->op == SP_TERM_NUMBER && term->b->op == SP_TERM_MULTIPLY && term->b->a->op == SP_TERM_NUMBER;
    return twice || sp_search_terms_equal(term->a, term->b);
}

/* Much dearer ones are told where their keys are nearer to the name: heads and their width, of a projection. */
static bool is_worth_telling(const struct sp_search_term *term, const struct sp_search_term *chosen, const char *name,
                             unsigned slack)
{
    if (is_other_way_to_say(term, chosen) || is_clumsy(term)) return false;
    if (term->cost <= chosen->cost + slack) return true;
    return term->cost <= chosen->cost + SLACK_OF_NEAR &&
           sp_search_term_affinity(term, name) > sp_search_term_affinity(chosen, name);
}

static struct sp_answer best_of_found(const struct sp_found *found, const char *name, unsigned slack)
{
    struct sp_answer answer = {.term = found->count ? found->terms[0] : NULL};
    if (!answer.term || is_plain_number(answer.term)) return answer;
    for (size_t i = 1; i < found->count && answer.other_count < SP_MOST_ALTERNATIVES; i++)
        if (is_worth_telling(found->terms[i], answer.term, name, slack))
            answer.others[answer.other_count++] = found->terms[i];
    return answer;
}

bool sp_is_accident(const struct sp_answer *answer)
{
    static const unsigned most[] = {LONG, 12, 17, 30};
    return answer->term->cost >
           (answer->distinct < sizeof most / sizeof *most ? most[answer->distinct] : (unsigned)LONG);
}

/* ---- a key with a default ---- */

/* A factor, and a key that is absent somewhere and the rest of the value elsewhere. */
struct attempt {
    const struct sp_search_term *factor, *key, *otherwise;
    struct sp_found found; /* for `otherwise` */
    unsigned cost;
};

/* The cost of the likeliest of the terms; 0 where what speaks for it, such as a bias beside its weight, outweighs it.
 */
static unsigned cost_of_best(const struct sp_found *found)
{
    return found->rank[0] > SP_FREE ? found->rank[0] - SP_FREE : 0;
}

/* What the key would have to be where it is not; false when it is something else where it is. */
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

/* Keys of one value each, which it may be multiplied by. */
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

/* Whether there is a symbol for it already, with a default. */
static bool has_default(const struct sp_learn_problem *problem, const struct sp_search_term *key)
{
    for (size_t i = 0; i < problem->evidence->terminals.count; i++) {
        const struct sp_terminal *terminal = problem->evidence->terminals.items[i];
        if (terminal->meaning && strcmp(terminal->path, key->terminal->path) == 0) return true;
    }
    return false;
}

/* Where something else is the value as well, a key of another part of the model does not make it ambiguous. */
static bool may_have_default(const struct sp_learn_problem *problem, const struct sp_search_term *key, const char *name,
                             unsigned limit)
{
    return !has_default(problem, key) && (limit > DEAR || sp_search_term_affinity(key, name) > 0);
}

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

static const struct sp_search_term *cases_of(struct sp_learn_problem *problem, struct sp_term_bank *bank,
                                             const struct sp_reduced *reduced, const char *name, size_t depth);

/* A large number for one case says no more than the file did. */
static bool is_learnt_by_heart(const struct sp_search_term *term)
{
    return term->op == SP_TERM_NUMBER && term->number > (double)LARGEST_IN_CASE;
}

/* The likeliest one that is no such number, if it is hardly less likely than that. */
static const struct sp_search_term *not_by_heart(const struct sp_found *found)
{
    size_t first = 0;
    while (first < found->count && is_learnt_by_heart(found->terms[first])) first++;
    return first < found->count && found->rank[first] <= found->rank[0] + CASES ? found->terms[first] : NULL;
}

/* One half of a function: where the condition holds, or where it does not. */
struct half {
    const struct sp_reduced *reduced;
    const struct sp_search_term *condition;
    bool holds, known; /* the condition is that of other rows: longer expressions are worth looking for */
};

/* NULL when nothing says that case. */
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
        prefer_priors(problem, &part, name, false, &found);
        term = not_by_heart(&found);
        term = term ? term : depth ? cases_of(problem, bank, &part, name, depth - 1) : NULL;
        sp_term_bank_free(bank);
    }
    sp_reduced_free(&part);
    return term;
}

static bool asks_index(const struct sp_search_term *term) { return sp_indices_of(term) != 0; }

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
    condition =
        sp_search_term_binary(arena, SP_TERM_LESS, condition->a, condition->b); /* in the order of the iterations */
    return sp_search_term_choice(arena, condition, no, yes);
}

/* Two banks are made for it. */
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

/* How likely it is that a case depends on it: what a list has there says so itself, any number may be an accident. */
static unsigned rank_of_case(const struct sp_search_term *condition, const char *name)
{
    if (asks_index(condition) && (condition->terminal || is_end_of_loop(condition))) return 0;
    return sp_search_term_affinity(condition, name) ? 1 : 2;
}

/* Conditions of one rank, on indices or on the configuration alone, a number of each. */
struct case_search {
    struct sp_learn_problem *problem;
    struct sp_term_bank *bank;
    const struct sp_reduced *reduced;
    const char *name;
    size_t depth, tried;
    bool on_index;
    unsigned rank;
    const struct sp_search_term *best;
};

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

/* The cheapest of the first conditions of each rank. */
static const struct sp_search_term *best_case(struct case_search search)
{
    for (; search.rank <= 2; search.rank++) {
        search.tried = 0;
        for (size_t i = 0; i < sp_term_bank_condition_count(search.bank); i++)
            search_case(&search, sp_term_bank_condition(search.bank, i));
    }
    return search.best;
}

/* The condition of another row: a matrix around the first block of a stage is there where the block changes the width;
 * a layer of another kind has other rows, and others have another width there. */
static const struct sp_search_term *case_by_prior(struct sp_learn_problem *problem, const struct sp_reduced *reduced,
                                                  const char *name)
{
    const struct sp_search_term *best = NULL;
    for (size_t i = 0; i < problem->priors.count; i++) {
        const struct sp_prior *prior = &problem->priors.items[i];
        if (!prior->is_condition || prior->weight || prior->term->op == SP_TERM_NOT) continue;
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

static struct sp_answer answer_by_cases(struct sp_learn_problem *problem, struct sp_term_bank *bank,
                                        const struct sp_reduced *reduced, const char *name, bool nested)
{
    const struct sp_search_term *plain = cases_of(problem, bank, reduced, name, 0);
    return (struct sp_answer){.term = plain || !nested ? plain : cases_of(problem, bank, reduced, name, 1)};
}

/* Of a long expression and two short cases. */
static struct sp_answer rather_by_cases(struct sp_answer answer, struct sp_answer cases)
{
    if (!cases.term || !answer.term) return answer.term ? answer : cases;
    const bool rather = cases.term->cost < answer.term->cost + CASES;
    struct sp_answer both = {.term = rather ? cases.term : answer.term, .other_count = 1};
    both.others[0] = rather ? answer.term : cases.term;
    return both;
}

/* ---- side by side ---- */

/* The values of each size at each point; of one that asks another index, NaN. */
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

/* What two other tensors are wide, together: a skip connection is put beside what comes from below. */
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
    free(values);
    return best;
}

/* ---- all of it ---- */

/* Nothing but a few values speaks for it: 2 and 1 layers, for a head of 2 and 1 classes. */
static bool is_stranger(const struct sp_search_term *term, const struct sp_reduced *reduced, const char *name)
{
    return sp_distinct_values(reduced->values, reduced->domain.count) == 2 && !sp_search_term_affinity(term, name);
}

/* False when nothing more is to be looked for: the limit is reached, or the caller wants the search to end. */
static bool may_look_for_more(struct sp_evidence *evidence)
{
    evidence->is_cancelled |= !sp_goes_on(evidence->watch, "expressions", ++evidence->asked);
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

/* Finds the term for a list of values, cheapest first: a term over the keys; the default of a key, when the term is
 * dear or uses a key without a likely relation to the name; a sum of sizes or a choice by cases, when it is long. */
static struct sp_answer solve_reduced(struct sp_learn_problem *problem, const struct sp_reduced *reduced,
                                      const char *name)
{
    if (!may_look_for_more(problem->evidence)) return (struct sp_answer){.term = NULL};
    struct sp_term_bank *bank = sp_library_bank(&problem->library, &reduced->domain);
    const unsigned most = most_for_values(reduced->values, reduced->domain.count);
    struct sp_found found;
    sp_term_bank_find(bank, reduced->values, name, most, &found);
    prefer_priors(problem, reduced, name, false, &found);
    trace_found(problem, name, &found);
    struct sp_answer answer = best_of_found(&found, name, slack_of_values(reduced));
    if (!answer.term || found.rank[0] > SP_FREE + PLAIN || is_stranger(answer.term, reduced, name)) {
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

static const char *key_of_question(struct sp_arena *arena, const struct sp_reduced *reduced, const char *name)
{
    const uint64_t basis = 1469598103934665603U;
    const uint64_t points =
        mix_bytes(basis, reduced->domain.points, reduced->domain.count * sizeof *reduced->domain.points);
    const uint64_t values = mix_bytes(basis, reduced->values, reduced->domain.count * sizeof *reduced->values);
    return sp_arena_printf(arena, "%llx %llx %s", (unsigned long long)points, (unsigned long long)values, name);
}

/* ---- short loops ---- */

/* What a list has there, the configuration says. */
static unsigned indices_asked(const struct sp_search_term *term)
{
    if (!term || term->op == SP_TERM_ITEM || term->op == SP_TERM_AT) return 0;
    if (term->op == SP_TERM_INDEX) return 1U << (unsigned)term->number;
    return indices_asked(term->a) | indices_asked(term->b) | indices_asked(term->c);
}

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

/* i == 0 and 2^i say the same of two iterations, and so does much else. */
static struct sp_answer with_ambiguity(struct sp_answer answer, const struct sp_domain *domain)
{
    const unsigned asked = indices_asked(answer.term);
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
        answer = with_ambiguity(solve_reduced(problem, &reduced, function->name), &reduced.domain);
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

/* What is asked: the name, and, of a row whose dimensions are known, the row. */
struct condition_asked {
    const char *name;
    const struct sp_tensor_row *row;
};

static bool is_joined(const struct sp_search_term *term) { return term->op == SP_TERM_AND || term->op == SP_TERM_OR; }

/* How much of a name is the module around its own: all but the last two components. */
static size_t length_of_module(const char *name)
{
    size_t length = strlen(name), dots = 0;
    while (length && !(name[length - 1] == '.' && ++dots == 2)) length--;
    return length;
}

static bool is_in_module_of(const char *pattern, const char *name)
{
    const size_t length = length_of_module(name);
    return length && strncmp(pattern, name, length) == 0;
}

/* What another row of the module has for a condition, that is here wherever it is there: of what is not plain the same
 * is said once. */
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

/* Whether it compares two keys that are dimensions of the row: a matrix between two widths is there where they differ.
 */
static bool compares_dims(const struct sp_search_term *condition, const struct sp_tensor_row *row)
{
    if (condition->op == SP_TERM_NOT) condition = condition->a;
    if (condition->op != SP_TERM_EQUAL || !row || row->rank < 2) return false;
    return (sp_search_terms_equal(condition->a, row->dims[0].term) &&
            sp_search_terms_equal(condition->b, row->dims[1].term)) ||
           (sp_search_terms_equal(condition->a, row->dims[1].term) &&
            sp_search_terms_equal(condition->b, row->dims[0].term));
}

/* The same for whatever its two widths are: a shortcut is there where channels[i - 1] is not channels[i]. */
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
        find_among(found, differ, SP_FREE + differ->cost);
}

/* Of the row, and of those beside it: what it goes around has the widths at every iteration. */
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

/* Within what is there under a condition: what holds beside it. */
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
        const unsigned cost = within.rank[i] + OUTER - (compares_dims(within.terms[i], asked->row) ? OF_DIMS : 0);
        const size_t place = find_among(found, term, cost);
        place_found(found, place, cost);
    }
    sp_reduced_free(&part);
}

/* The conditions of what is in the module, which hold for all of it. */
static void join_conditions_of_module(struct sp_learn_problem *problem, const struct sp_reduced *wanted,
                                      const struct condition_asked *asked, struct sp_found *found)
{
    const struct sp_search_term *last = NULL;
    for (size_t i = 0; i < problem->priors.count; i++) {
        const struct sp_prior *prior = &problem->priors.items[i];
        if (!prior->is_condition || !prior->weight || !is_in_module_of(prior->weight, asked->name)) continue;
        if (sp_indices_of(prior->term) & ~wanted->domain.indices) continue;
        if (last && sp_search_terms_equal(last, prior->term)) continue;
        last = prior->term;
        if (problem->effort > MOST_EFFORT) return;
        problem->effort += effort_of_case(problem, wanted);
        join_condition(problem, wanted, prior->term, asked, found);
    }
}

struct sp_answer sp_solve_condition(struct sp_learn_problem *problem, const struct sp_learn_function *function,
                                    const struct sp_tensor_row *row)
{
    if (!may_look_for_more(problem->evidence)) return (struct sp_answer){.term = NULL};
    const struct condition_asked asked = {function->name, row};
    struct sp_reduced reduced = sp_function_reduce(function);
    struct sp_found found;
    sp_term_bank_find_condition(sp_library_bank(&problem->library, &reduced.domain), reduced.values, function->name,
                                &found);
    prefer_priors(problem, &reduced, function->name, true, &found);
    if (!found.count) find_differing_widths(problem, &reduced, &asked, &found);
    if (!found.count || is_joined(found.terms[0])) {
        const struct sp_search_term *beside = condition_beside(problem, &reduced, function->name);
        if (beside) place_found(&found, find_among(&found, beside, SP_FREE), 0);
        else join_conditions_of_module(problem, &reduced, &asked, &found);
    }
    trace_found(problem, function->name, &found);
    const struct sp_answer answer =
        with_ambiguity(best_of_found(&found, function->name, SLACK_OF_TWO), &reduced.domain);
    sp_reduced_free(&reduced);
    return answer;
}
