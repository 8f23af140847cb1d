/* SPDX-License-Identifier: MIT
 * The functions of the table language. */
#ifndef SP_LANG_FUNCTIONS_H
#define SP_LANG_FUNCTIONS_H

#include "base/arena.h"
#include "base/value.h"

struct sp_function {
    const char *name;
    size_t min_args, max_args;
    bool sees_absent; /* absent(x) and null(x); for all others an absent argument makes an absent result */
    /* The result, or false with *problem naming what is wrong with the arguments. */
    bool (*apply)(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                  const char **problem);
    /* sp_function_cost; NULL: none. */
    uint64_t (*cost)(const struct shapeproof_value *args, size_t count);
};

/* The *problem of a result that does not fit in 64 bits; compared by its address. */
extern const char sp_function_overflowed[];
/* The mistake of an expression with the value NaN, which only a key can give it. */
extern const char sp_value_not_a_number[];
bool sp_value_is_nan(struct shapeproof_value value);
/* NULL when there is none of that name. */
const struct sp_function *sp_function_find(const char *name);
/* The steps (base/budget.h) that a call with these arguments takes at most, besides that of its expression. The caller
 * spends them before sp_function_apply. */
uint64_t sp_function_cost(const struct sp_function *function, const struct shapeproof_value *args, size_t count);
/* As `apply`; `*result` must be args[0] at the call, which a function that gives it back leaves as it is. A text that
 * the function makes is in the arena. */
bool sp_function_apply(const struct sp_function *function, struct sp_arena *arena, const struct shapeproof_value *args,
                       size_t count, struct shapeproof_value *result, const char **problem);
/* Whether both are the same value: numbers compare across integer and real. */
bool sp_values_equal(struct shapeproof_value a, struct shapeproof_value b);
/* Of two numbers: less than 0, 0 or more, as strcmp. Exact for integers. */
int sp_values_order(struct shapeproof_value a, struct shapeproof_value b);
/* The nearest whole number; of two that are as near the even one. */
double sp_round_to_even(double x);
/* The multiple of the divisor that is nearest to x, from the divisor up; the next one if that is less than 0.9*x. The
 * divisor is from 1 to 2^20, and |x| below 2^53. */
int64_t sp_near_multiple(double x, int64_t divisor);
/* The steps that comparing the value with another one takes at most. */
uint64_t sp_value_comparison_cost(struct shapeproof_value value);
/* The same for searching a list for an item, or a string for another one. */
uint64_t sp_value_search_cost(struct shapeproof_value list, struct shapeproof_value item);
double sp_value_as_real(struct shapeproof_value value);
static inline bool sp_value_is_number(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_INT || value.type == SHAPEPROOF_VALUE_REAL;
}

#endif
