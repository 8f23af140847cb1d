/* SPDX-License-Identifier: MIT
 * From a layout to a solved one: every loop has its end, every row its dimensions and its condition. What cannot be
 * solved may change the layout (a number that is no index after all) or the language (a symbol for a key with a
 * default); then it begins again. */
#ifndef SP_LEARN_SOLVE_H
#define SP_LEARN_SOLVE_H
#include "learn/rows/layout.h"

struct sp_learn_function {
    struct sp_point *points;
    double *values; /* parallel to the points */
    size_t count, capacity;
    size_t index_count;
    const char *name; /* what it is about, for likelihood */
};

void sp_function_add(struct sp_learn_function *function, const struct sp_point *point, double value);
void sp_function_free(struct sp_learn_function *function);

/* Banks for the domains that were asked so far. */
struct sp_library {
    struct sp_evidence *evidence;
    struct {
        struct sp_term_bank **items;
        size_t count, capacity;
    } banks;
};

/* A bank is good until sp_library_tidy, or sp_library_forget. */
struct sp_term_bank *sp_library_bank(struct sp_library *library, const struct sp_domain *domain);
/* Forgets all when there are many. */
void sp_library_tidy(struct sp_library *library);
void sp_library_forget(struct sp_library *library);

/* The function over the fewest indices that it depends on, and at most so many points: what is claimed of it is proved
 * in the end. free() the points and the values. */
struct sp_reduced {
    struct sp_domain domain;
    double *values;
};
struct sp_reduced sp_function_reduce(const struct sp_learn_function *function);
void sp_reduced_free(struct sp_reduced *reduced);

/* How many different values it has: the more, the less is an accident. */
size_t sp_distinct_values(const double *values, size_t count);

/* An expression of the first round, and at how many places it was chosen. */
struct sp_prior {
    const struct sp_search_term *term;
    const char *weight; /* the row of a weight whose first dimension it is, or the second; or NULL. Of a condition: a
                           row that is in what has the condition */
    size_t uses;        /* of a weight: 1 for its first dimension */
    bool is_condition;
};

struct sp_learn_problem {
    struct sp_evidence *evidence;
    struct sp_layout layout;
    struct sp_library library;
    struct {
        struct sp_prior *items;
        size_t count, capacity;
    } priors;
    struct {
        const struct sp_search_term **items;
        size_t count, capacity;
    } sizes; /* of the first round: what is put side by side is a sum of two */
    struct {
        struct sp_map keys; /* what was asked, so far as expressions are the same */
        struct sp_answer *items;
        size_t count, capacity;
    } answers;
    struct {
        struct sp_default {
            const struct sp_terminal *symbol;
            struct sp_answer answer; /* what it stands for where its key is absent */
        } * items;
        size_t count, capacity;
    } defaults;
    bool no_words;  /* what lists of the configuration say is no index in names */
    size_t effort;  /* spent on cases so far */
    bool respelled; /* rows have other indices from the next round on */
    bool again;     /* a decision was taken back */
};

/* Of a size. A symbol may be made on the way; then `again` is set. */
struct sp_answer sp_solve_function(struct sp_learn_problem *problem, const struct sp_learn_function *function);
/* Which indices it asks, as bits. */
unsigned sp_indices_of(const struct sp_search_term *term);
/* After a new symbol, or when something has become likelier. */
void sp_forget_answers(struct sp_learn_problem *problem);
/* Of a truth value, 0 or 1; of a row whose dimensions are known, or NULL. */
struct sp_answer sp_solve_condition(struct sp_learn_problem *problem, const struct sp_learn_function *function,
                                    const struct sp_tensor_row *row);
/* Whether, and under which condition, rows share their storage. */
void sp_solve_ties(struct sp_learn_problem *problem);

/* All of it, from the names on. */
void sp_solve_layout(struct sp_learn_problem *problem);
void sp_learn_problem_free(struct sp_learn_problem *problem);

#endif
