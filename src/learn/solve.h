/* SPDX-License-Identifier: MIT
 * From a layout to a solved one: every loop has its end, every row its dimensions and its condition. What cannot be
 * solved may change the layout (a number that is no index after all) or the language (a symbol for a key with a
 * default); then it begins again. */
#ifndef SP_LEARN_SOLVE_H
#define SP_LEARN_SOLVE_H
#include "learn/rows/layout.h"

/* What a term has to be at which points: the size of one dimension, the end of a loop, or (as 0 and 1) whether a tensor
 * is there. */
struct sp_learn_function {
    struct sp_point *points;
    double *values; /* parallel to the points */
    size_t count, capacity;
    size_t index_count; /* how many indices of the points are used: those of the name */
    const char *name;   /* the pattern of the row or the loop: terms whose keys go with it are likelier */
};

void sp_function_add(struct sp_learn_function *function, const struct sp_point *point, double value);
void sp_function_free(struct sp_learn_function *function);

/* A cache of term banks, one for each domain that was asked for. */
struct sp_library {
    struct sp_evidence *evidence;
    struct {
        struct sp_term_bank **items;
        size_t count, capacity;
    } banks;
};

/* The bank for a domain, made if there is none. It lives until sp_library_tidy or sp_library_forget. */
struct sp_term_bank *sp_library_bank(struct sp_library *library, const struct sp_domain *domain);
/* Empties the cache if it has become large. */
void sp_library_tidy(struct sp_library *library);
void sp_library_forget(struct sp_library *library);

/* The function over the fewest indices that decide its values, with each point once and at most 400 points, evenly
 * chosen: the finished table is proved with all of them. End with sp_reduced_free. */
struct sp_reduced {
    struct sp_domain domain;
    double *values;
};
struct sp_reduced sp_function_reduce(const struct sp_learn_function *function);
void sp_reduced_free(struct sp_reduced *reduced);

/* How many different values there are, counted up to 8: the more, the less likely a term has them by accident. */
size_t sp_distinct_values(const double *values, size_t count);

/* A term that was chosen somewhere and is therefore likelier elsewhere. */
struct sp_prior {
    enum sp_prior_kind {
        SP_PRIOR_SIZE,            /* a size or a count of iterations, in the first round */
        SP_PRIOR_SIZE_OF_WEIGHT,  /* a dimension of a weight that is solved, for the bias beside it */
        SP_PRIOR_CONDITION,       /* the condition of some rows in the first round, or its opposite */
        SP_PRIOR_CONDITION_OF_ROW /* the condition of this row in the first round, for rows of the same module */
    } kind;
    const struct sp_search_term *term;
    const char *row;    /* its pattern, for the kinds that are about one row; else NULL */
    uint32_t dimension; /* of SIZE_OF_WEIGHT: 0 or 1 */
    size_t uses;        /* of SIZE and CONDITION: at how many places it was chosen */
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
    } sizes; /* of the first round: tensors that are put side by side have the sum of two */
    struct {
        struct sp_map keys; /* a hash of the points and the values, and the name -> the index of the answer */
        struct sp_answer *items;
        size_t count, capacity;
    } answers; /* a cache: the rounds ask the same again and again */
    struct {
        struct sp_default {
            const struct sp_terminal *symbol;
            struct sp_answer answer; /* what it stands for where its key is absent */
        } * items;
        size_t count, capacity;
    } defaults;
    enum sp_words words; /* what words in names are that a list has as well */
    size_t effort;       /* values computed for choices by cases so far, as an estimate */
    uint64_t absent;     /* iterations of rows where no tensor is, so far in this round, beyond those expected */
    bool respelled;      /* this round changed which numbers are indices in some rows: another round follows */
    bool again;          /* a decision was taken back: the round ends at once, and another one follows */
};

/* The likeliest term for a size or a count, with alternatives; no term if there is none. If a key with a default is
 * needed for it, a symbol is made, and `again` is set. */
struct sp_answer sp_solve_function(struct sp_learn_problem *problem, const struct sp_learn_function *function);
/* Which indices a term reads: bit 0 for i, bit 1 for j ... */
unsigned sp_indices_of(const struct sp_search_term *term);
/* Empties the caches of answers and banks: after a new symbol, or when something has become likelier. */
void sp_forget_answers(struct sp_learn_problem *problem);
/* The likeliest condition for a function of 0 and 1, with alternatives; no term if there is none. `row` is the row that
 * it is for, whose dimensions are solved, or NULL for a loop. */
struct sp_answer sp_solve_condition(struct sp_learn_problem *problem, const struct sp_learn_function *function,
                                    const struct sp_tensor_row *row);
/* Finds the rows that share their storage with another row, and under which condition: fills tied_to and tied_when. */
void sp_solve_ties(struct sp_learn_problem *problem);

/* Makes rows of the names and solves them, in two rounds: what the first one chose is likelier in the second. */
void sp_solve_layout(struct sp_learn_problem *problem);
void sp_learn_problem_free(struct sp_learn_problem *problem);

#endif
