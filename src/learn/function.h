/* SPDX-License-Identifier: MIT
 * A function that is known by its values: of a row's dimension, of a loop's end, of whether there is a tensor. What is
 * asked of it: which expressions equal it everywhere? */
#ifndef SP_LEARN_FUNCTION_H
#define SP_LEARN_FUNCTION_H

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
        struct sp_bank **items;
        size_t count, capacity;
    } banks;
};

/* A bank is good until sp_library_tidy, or sp_library_forget. */
struct sp_bank *sp_library_bank(struct sp_library *library, const struct sp_domain *domain);
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

#endif
