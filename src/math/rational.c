/* SPDX-License-Identifier: MIT
 * Intermediate results have 128 bits: no product of two 64-bit numbers overflows there, nor a sum of two products with
 * denominators, which are below 2^63. */
#include "math/rational.h"

__extension__ typedef __int128 wide;

static wide gcd(wide a, wide b)
{
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b) {
        const wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool reduce(wide num, wide den, struct sp_rational *out)
{
    if (den == 0) return false;
    const wide common = gcd(num, den);
    num /= common;
    den /= common;
    if (den < 0) {
        num = -num;
        den = -den;
    }
    if (num > INT64_MAX || num < -INT64_MAX || den > INT64_MAX) return false;
    *out = (struct sp_rational){(int64_t)num, (int64_t)den};
    return true;
}

bool sp_rational_make(int64_t num, int64_t den, struct sp_rational *out) { return reduce(num, den, out); }

/* Nearly all numbers are integers, for which there is nothing to reduce. */
static bool whole(wide value, struct sp_rational *out)
{
    if (value > INT64_MAX || value < -INT64_MAX) return false;
    *out = (struct sp_rational){(int64_t)value, 1};
    return true;
}

bool sp_rational_add(struct sp_rational a, struct sp_rational b, struct sp_rational *out)
{
    if (a.den == 1 && b.den == 1) return whole((wide)a.num + b.num, out);
    return reduce((wide)a.num * b.den + (wide)b.num * a.den, (wide)a.den * b.den, out);
}

bool sp_rational_sub(struct sp_rational a, struct sp_rational b, struct sp_rational *out)
{
    return reduce((wide)a.num * b.den - (wide)b.num * a.den, (wide)a.den * b.den, out);
}

bool sp_rational_mul(struct sp_rational a, struct sp_rational b, struct sp_rational *out)
{
    if (a.den == 1 && b.den == 1) return whole((wide)a.num * b.num, out);
    return reduce((wide)a.num * b.num, (wide)a.den * b.den, out);
}

bool sp_rational_div(struct sp_rational a, struct sp_rational b, struct sp_rational *out)
{
    return reduce((wide)a.num * b.den, (wide)a.den * b.num, out);
}

bool sp_rational_power(struct sp_rational a, int exponent, struct sp_rational *out)
{
    struct sp_rational power = {1, 1};
    unsigned left = exponent < 0 ? 0 - (unsigned)exponent : (unsigned)exponent;
    if (exponent < 0 && !sp_rational_div(power, a, &a)) return false;
    for (; left; left /= 2) {
        if (left % 2 && !sp_rational_mul(power, a, &power)) return false;
        if (left > 1 && !sp_rational_mul(a, a, &a)) return false;
    }
    *out = power;
    return true;
}

bool sp_rational_gcd(struct sp_rational a, struct sp_rational b, struct sp_rational *out)
{
    return reduce(gcd(a.num, b.num), a.den / gcd(a.den, b.den) * b.den, out);
}

int sp_rational_compare(struct sp_rational a, struct sp_rational b)
{
    const wide left = (wide)a.num * b.den, right = (wide)b.num * a.den;
    return (left > right) - (left < right);
}
