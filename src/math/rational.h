/* SPDX-License-Identifier: MIT
 * Exact fractions of 64-bit integers in lowest terms, with a positive denominator. Every operation returns false when
 * the result does not fit, and leaves *out alone then. */
#ifndef SP_MATH_RATIONAL_H
#define SP_MATH_RATIONAL_H

#include <stdbool.h>
#include <stdint.h>

struct sp_rational {
    int64_t num, den;
};

static inline struct sp_rational sp_rational_int(int64_t value) { return (struct sp_rational){value, 1}; }
static inline bool sp_rational_is_zero(struct sp_rational a) { return a.num == 0; }

bool sp_rational_make(int64_t num, int64_t den, struct sp_rational *out); /* false also when den is 0 */
bool sp_rational_add(struct sp_rational a, struct sp_rational b, struct sp_rational *out);
bool sp_rational_sub(struct sp_rational a, struct sp_rational b, struct sp_rational *out);
bool sp_rational_mul(struct sp_rational a, struct sp_rational b, struct sp_rational *out);
bool sp_rational_div(struct sp_rational a, struct sp_rational b, struct sp_rational *out); /* false also for b = 0 */
bool sp_rational_power(struct sp_rational a, int exponent, struct sp_rational *out);
/* The largest fraction of which both are multiples by integers; that of 0 and b is |b|. */
bool sp_rational_gcd(struct sp_rational a, struct sp_rational b, struct sp_rational *out);
int sp_rational_compare(struct sp_rational a, struct sp_rational b);

#endif
