/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "lang/functions.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"

double sp_value_as_real(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_INT ? (double)value.integer : value.real;
}

int sp_values_order(struct shapeproof_value a, struct shapeproof_value b)
{
    const double x = sp_value_as_real(a), y = sp_value_as_real(b);
    if (a.type == SHAPEPROOF_VALUE_INT && b.type == SHAPEPROOF_VALUE_INT)
        return (a.integer > b.integer) - (a.integer < b.integer);
    if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0); /* NaN is equal to itself alone, and the last */
    return (x > y) - (x < y);
}

bool sp_values_equal(struct shapeproof_value a, struct shapeproof_value b)
{
    if (sp_value_is_number(a) && sp_value_is_number(b)) return sp_values_order(a, b) == 0;
    if (a.type != b.type) return false;
    if (a.type == SHAPEPROOF_VALUE_BOOL) return a.boolean == b.boolean;
    if (a.type == SHAPEPROOF_VALUE_STRING) return strcmp(a.string, b.string) == 0;
    if (a.type == SHAPEPROOF_VALUE_NULL) return true; /* as items of lists */
    if (a.type != SHAPEPROOF_VALUE_LIST || a.count != b.count) return false;
    for (size_t i = 0; i < a.count; i++)
        if (!sp_values_equal(a.items[i], b.items[i])) return false;
    return true;
}

double sp_round_to_even(double x)
{
    const double down = floor(x), above = x - down;
    if (above > 0.5) return down + 1;
    if (above < 0.5) return down;
    return floor(down / 2) * 2 < down ? down + 1 : down;
}

const char sp_function_overflowed[] = "the result does not fit in 64 bits";
const char sp_value_not_a_number[] = "a value here is NaN, which is not a number";

bool sp_value_is_nan(struct shapeproof_value value) { return value.type == SHAPEPROOF_VALUE_REAL && isnan(value.real); }

static bool fail_call(const char **problem, const char *text)
{
    *problem = text;
    return false;
}

static bool call_absent(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                        const char **problem)
{
    (void)count, (void)problem;
    *result = sp_value_bool(args[0].type == SHAPEPROOF_VALUE_ABSENT);
    return true;
}

static bool is_null(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                    const char **problem)
{
    (void)count, (void)problem;
    *result = sp_value_bool(args[0].type == SHAPEPROOF_VALUE_NULL);
    return true;
}

static bool length(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                   const char **problem)
{
    (void)count;
    if (args[0].type == SHAPEPROOF_VALUE_STRING) *result = sp_value_int((int64_t)strlen(args[0].string));
    else if (args[0].type == SHAPEPROOF_VALUE_LIST || args[0].type == SHAPEPROOF_VALUE_OBJECT)
        *result = sp_value_int((int64_t)args[0].count);
    else return fail_call(problem, "takes a list, an object or a string");
    return true;
}

enum extreme { SMALLEST, LARGEST };

/* The smallest or largest of numbers, which are the arguments, or the items of a single one. */
static bool find_extreme(enum extreme extreme, const struct shapeproof_value *args, size_t count,
                         struct shapeproof_value *result, const char **problem)
{
    const struct shapeproof_value *items = args;
    if (count == 1 && args[0].type == SHAPEPROOF_VALUE_LIST) {
        items = args[0].items;
        count = args[0].count;
    }
    if (!count) return fail_call(problem, "takes at least one number");
    for (size_t i = 0; i < count; i++) {
        if (!sp_value_is_number(items[i])) return fail_call(problem, "takes numbers");
        if (sp_value_is_nan(items[i])) return fail_call(problem, sp_value_not_a_number); /* the item of a list */
        const int order = i ? sp_values_order(items[i], *result) : 0;
        if (i == 0 || (extreme == LARGEST ? order > 0 : order < 0)) *result = items[i];
    }
    return true;
}

static bool minimum(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                    const char **problem)
{
    return find_extreme(SMALLEST, args, count, result, problem);
}

static bool maximum(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                    const char **problem)
{
    return find_extreme(LARGEST, args, count, result, problem);
}

/* What a row of a list has: the member of an object, the item of a list. */
static struct shapeproof_value item_of_row(struct shapeproof_value row, struct shapeproof_value column)
{
    if (column.type == SHAPEPROOF_VALUE_STRING) return sp_value_member(row, column.string);
    const bool there = row.type == SHAPEPROOF_VALUE_LIST && column.integer >= 0 && (uint64_t)column.integer < row.count;
    return there ? row.items[column.integer] : sp_value_absent("");
}

/* sum(list); sum(list, "key") of that member of each object, sum(list, n) of that item of each list. */
static bool call_sum(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                     const char **problem)
{
    const char *const takes = "takes a list of integers, or a list of objects and a key, or of lists and a place";
    int64_t total = 0;
    if (args[0].type != SHAPEPROOF_VALUE_LIST ||
        (count == 2 && args[1].type != SHAPEPROOF_VALUE_STRING && args[1].type != SHAPEPROOF_VALUE_INT))
        return fail_call(problem, takes);
    for (size_t i = 0; i < args[0].count; i++) {
        const struct shapeproof_value item = count == 2 ? item_of_row(args[0].items[i], args[1]) : args[0].items[i];
        if (item.type != SHAPEPROOF_VALUE_INT) return fail_call(problem, takes);
        if (__builtin_add_overflow(total, item.integer, &total)) return fail_call(problem, sp_function_overflowed);
    }
    *result = sp_value_int(total);
    return true;
}

/* x[i] of a list; what is no list stands for every item ("one value for both sides"). */
static bool call_at(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                    const char **problem)
{
    (void)count;
    if (args[1].type != SHAPEPROOF_VALUE_INT) return fail_call(problem, "the index is an integer");
    if (args[0].type != SHAPEPROOF_VALUE_LIST) return true;
    if (args[1].integer < 0 || (uint64_t)args[1].integer >= args[0].count)
        return fail_call(problem, "the list is too short");
    *result = args[0].items[args[1].integer];
    return true;
}

/* The member whose key is that number, written with zeros in front or without: transformers has layers "05" and "11".
 */
static struct shapeproof_value numbered_member(struct shapeproof_value object, int64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    for (size_t i = 0; i < object.count; i++) {
        const char *key = object.members[i].key;
        while (*key == '0' && key[1]) key++;
        if (strcmp(key, digits) == 0) return object.members[i].value;
    }
    return sp_value_absent("");
}

/* x["key"] of an object; a number is the key that it is written as. */
static bool member(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                   const char **problem)
{
    (void)count;
    if (args[0].type != SHAPEPROOF_VALUE_OBJECT ||
        (args[1].type != SHAPEPROOF_VALUE_STRING && args[1].type != SHAPEPROOF_VALUE_INT))
        return fail_call(problem, "takes an object and a key");
    if (args[1].type == SHAPEPROOF_VALUE_INT) *result = numbered_member(args[0], args[1].integer);
    else *result = sp_value_member(args[0], args[1].string);
    if (result->type == SHAPEPROOF_VALUE_ABSENT) *result = sp_value_absent("");
    return true;
}

/* How often a list has an item; stops at the one of that number, counted from 0, whose place is `at`. */
static int64_t count_items(struct shapeproof_value list, struct shapeproof_value item, int64_t number, int64_t *at)
{
    int64_t seen = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (!sp_values_equal(list.items[i], item)) continue;
        *at = (int64_t)i;
        if (seen++ == number) break;
    }
    return seen;
}

static bool call_count(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                       const char **problem)
{
    (void)count;
    int64_t at;
    if (args[0].type != SHAPEPROOF_VALUE_LIST) return fail_call(problem, "takes a list and an item");
    *result = sp_value_int(count_items(args[0], args[1], -1, &at));
    return true;
}

/* find(list, item), or find(list, item, 2) for the third that is equal. */
static bool call_find(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                      const char **problem)
{
    int64_t at = 0;
    const struct shapeproof_value number = count == 3 ? args[2] : sp_value_int(0);
    if (args[0].type != SHAPEPROOF_VALUE_LIST || number.type != SHAPEPROOF_VALUE_INT || number.integer < 0)
        return fail_call(problem, "takes a list, an item and a number from 0 up");
    const bool found = count_items(args[0], args[1], number.integer, &at) > number.integer;
    *result = found ? sp_value_int(at) : sp_value_absent("");
    return true;
}

/* skip(text, n): the text without its first n bytes. */
static bool call_skip(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                      const char **problem)
{
    (void)count;
    if (args[0].type != SHAPEPROOF_VALUE_STRING || args[1].type != SHAPEPROOF_VALUE_INT)
        return fail_call(problem, "takes a string and an integer");
    if (args[1].integer < 0 || (uint64_t)args[1].integer > strlen(args[0].string))
        return fail_call(problem, "the string is too short");
    *result = sp_value_string(args[0].string + args[1].integer);
    return true;
}

/* Towards zero, as the frameworks' int() does. */
static bool truncate_number(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                            const char **problem)
{
    (void)count;
    if (!sp_value_is_number(args[0])) return fail_call(problem, "takes a number");
    *result = args[0];
    if (args[0].type == SHAPEPROOF_VALUE_INT) return true;
    if (!(fabs(args[0].real) < 9007199254740992.0)) return fail_call(problem, "the number is too large to be exact");
    *result = sp_value_int((int64_t)args[0].real);
    return true;
}

/* To the nearest integer, a half to the even one, as Python's round() does: 0.5 -> 0, 1.5 -> 2, 2.5 -> 2. */
static bool round_number(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                         const char **problem)
{
    if (args[0].type != SHAPEPROOF_VALUE_REAL) return truncate_number(args, count, result, problem);
    const struct shapeproof_value nearest = sp_value_real(sp_round_to_even(args[0].real));
    return truncate_number(&nearest, count, result, problem);
}

static bool two_integers(const struct shapeproof_value *args, const char **problem)
{
    if (args[0].type == SHAPEPROOF_VALUE_INT && args[1].type == SHAPEPROOF_VALUE_INT && args[0].integer >= 0 &&
        args[1].integer > 0)
        return true;
    return fail_call(problem, "takes an integer from 0 up and a divisor from 1 up");
}

static bool ceil_div(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                     const char **problem)
{
    (void)count;
    if (!two_integers(args, problem)) return false;
    *result = sp_value_int(args[0].integer / args[1].integer + (args[0].integer % args[1].integer != 0));
    return true;
}

static bool call_round_up(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                          const char **problem)
{
    if (!ceil_div(args, count, result, problem)) return false;
    if (__builtin_mul_overflow(result->integer, args[1].integer, &result->integer))
        return fail_call(problem, sp_function_overflowed);
    return true;
}

enum affix { PREFIX, SUFFIX };

/* The end of the prefix, if the text begins with it; NULL otherwise. Looks at no more than the text is long. */
static const char *end_of_prefix(const char *text, const char *prefix)
{
    while (*prefix && *prefix == *text) prefix++, text++;
    return *prefix ? NULL : prefix;
}

/* `length` is that of the text. */
static bool has_affix(enum affix kind, const char *text, size_t length, const char *affix)
{
    if (kind == PREFIX) return end_of_prefix(text, affix);
    const size_t tail = strnlen(affix, length + 1);
    return tail <= length && memcmp(text + length - tail, affix, tail) == 0;
}

/* Whether the text args[0] begins or ends with args[1], or with one of a list of texts. */
static bool find_affix(enum affix kind, const struct shapeproof_value *args, struct shapeproof_value *result,
                       const char **problem)
{
    const bool several = args[1].type == SHAPEPROOF_VALUE_LIST;
    const struct shapeproof_value *affixes = several ? args[1].items : &args[1];
    const size_t count = several ? args[1].count : 1;
    bool found = false;
    if (args[0].type != SHAPEPROOF_VALUE_STRING)
        return fail_call(problem, "takes a string and a string or a list of strings");
    const size_t length = strlen(args[0].string);
    for (size_t i = 0; i < count; i++) {
        if (affixes[i].type != SHAPEPROOF_VALUE_STRING)
            return fail_call(problem, "takes a string and a string or a list of strings");
        found = found || has_affix(kind, args[0].string, length, affixes[i].string);
    }
    *result = sp_value_bool(found);
    return true;
}

static bool starts_with(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                        const char **problem)
{
    (void)count;
    return find_affix(PREFIX, args, result, problem);
}

static bool text_ends_with(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                           const char **problem)
{
    (void)count;
    return find_affix(SUFFIX, args, result, problem);
}

/* row(text, rows, ...): the row with the longest prefix of the text. A row is a list whose first item is a text:
 * row("resnet50", [["resnet", 1], ["resnet50", 2]]) is ["resnet50", 2]. A mistake when no row begins the text. */
static bool call_row(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                     const char **problem)
{
    size_t longest = 0;
    bool found = false;
    if (args[0].type != SHAPEPROOF_VALUE_STRING) return fail_call(problem, "takes a string and lists of rows");
    for (size_t i = 1; i < count; i++) {
        if (args[i].type != SHAPEPROOF_VALUE_LIST) return fail_call(problem, "takes a string and lists of rows");
        for (size_t k = 0; k < args[i].count; k++) {
            const struct shapeproof_value row = args[i].items[k];
            if (row.type != SHAPEPROOF_VALUE_LIST || !row.count || row.items[0].type != SHAPEPROOF_VALUE_STRING)
                return fail_call(problem, "a row is a list that begins with a string");
            const char *end = end_of_prefix(args[0].string, row.items[0].string);
            if (!end || (found && (size_t)(end - row.items[0].string) <= longest)) continue;
            found = true;
            longest = (size_t)(end - row.items[0].string);
            *result = row;
        }
    }
    return found || fail_call(problem, "there is no row for the string");
}

/* number_after("vit_base_patch16_224", "patch", 14) is 16: the digits behind the first "patch" that has some; 14 when
 * none has. */
static bool number_after(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                         const char **problem)
{
    (void)count;
    if (args[0].type != SHAPEPROOF_VALUE_STRING || args[1].type != SHAPEPROOF_VALUE_STRING || !*args[1].string)
        return fail_call(problem, "takes two strings and the value when there is no such number");
    *result = args[2];
    for (const char *at = args[0].string; (at = strstr(at, args[1].string)); at++) {
        const char *digits = at + strlen(args[1].string);
        const size_t length = strspn(digits, "0123456789");
        if (!length) continue;
        int64_t number = 0;
        for (size_t i = 0; i < length; i++)
            if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, digits[i] - '0', &number))
                return fail_call(problem, sp_function_overflowed);
        *result = sp_value_int(number);
        return true;
    }
    return true;
}

/* after(text, mark): what follows the first `mark` in the text; the whole text when it has none. */
static bool text_after(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                       const char **problem)
{
    (void)count;
    if (args[0].type != SHAPEPROOF_VALUE_STRING || args[1].type != SHAPEPROOF_VALUE_STRING)
        return fail_call(problem, "takes two strings");
    const char *at = strstr(args[0].string, args[1].string);
    *result = at ? sp_value_string(at + strlen(args[1].string)) : args[0];
    return true;
}

/* until(text, mark): what stands in front of the first `mark` in the text; the whole text when it has none. The result
 * is no copy: its `count` is the number of bytes, which sp_function_apply copies. */
static bool text_until(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                       const char **problem)
{
    (void)count;
    if (args[0].type != SHAPEPROOF_VALUE_STRING || args[1].type != SHAPEPROOF_VALUE_STRING)
        return fail_call(problem, "takes two strings");
    const char *at = strstr(args[0].string, args[1].string);
    *result = args[0];
    result->count = at ? (size_t)(at - args[0].string) : strlen(args[0].string);
    return true;
}

static bool is_in_lists(const char *key, const struct shapeproof_value *lists, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < lists[i].count; k++)
            if (lists[i].items[k].type == SHAPEPROOF_VALUE_STRING && strcmp(lists[i].items[k].string, key) == 0)
                return true;
    return false;
}

/* stray(object, keys, ...): the first key of the object that is in none of the lists, and whose value is not null;
 * absent when there is none. */
static bool stray_key(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                      const char **problem)
{
    bool takes = args[0].type == SHAPEPROOF_VALUE_OBJECT;
    for (size_t i = 1; i < count; i++) takes = takes && args[i].type == SHAPEPROOF_VALUE_LIST;
    if (!takes) return fail_call(problem, "takes an object and lists of keys");
    *result = sp_value_absent("");
    for (size_t i = 0; i < args[0].count; i++) {
        const struct shapeproof_member *member = &args[0].members[i];
        if (member->value.type == SHAPEPROOF_VALUE_NULL || is_in_lists(member->key, args + 1, count - 1)) continue;
        *result = sp_value_string(member->key);
        return true;
    }
    return true;
}

/* The frameworks' mobile networks round the widths of their layers in this way after scaling them. */
int64_t sp_near_multiple(double x, int64_t divisor)
{
    int64_t multiple = (int64_t)floor((double)(int64_t)(x + (double)divisor / 2) / (double)divisor) * divisor;
    if (multiple < divisor) multiple = divisor;
    return (double)multiple < 0.9 * x ? multiple + divisor : multiple;
}

static bool near_multiple(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                          const char **problem)
{
    (void)count;
    if (!sp_value_is_number(args[0]) || args[1].type != SHAPEPROOF_VALUE_INT || args[1].integer < 1 ||
        args[1].integer > 1 << 20)
        return fail_call(problem, "takes a number and a divisor from 1 up");
    const double x = sp_value_as_real(args[0]);
    if (!(fabs(x) < 9007199254740992.0)) return fail_call(problem, "the number is too large to be exact");
    *result = sp_value_int(sp_near_multiple(x, args[1].integer));
    return true;
}

static uint64_t power_of(uint64_t base, uint64_t exponent, uint64_t modulus)
{
    uint64_t power = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) power = power * base % modulus;
        base = base * base % modulus;
    }
    return power;
}

/* One round of the Miller-Rabin test of an odd number: false when `base` proves that it is composite. */
static bool may_be_prime(uint64_t number, uint64_t base)
{
    uint64_t odd = number - 1;
    int twos = 0;
    for (; odd % 2 == 0; odd /= 2) twos++;
    uint64_t power = power_of(base, odd, number);
    if (power == 1) return true;
    for (int i = 1; i < twos && power != number - 1; i++) power = power * power % number;
    return power == number - 1;
}

/* 2, 7 and 61 are witnesses enough below 2^32 (Jaeschke 1993, "On strong pseudoprimes to several bases"). */
static bool is_prime(uint64_t number)
{
    static const uint64_t bases[] = {2, 7, 61};
    if (number < 2) return false;
    for (size_t i = 0; i < 3; i++)
        if (number % bases[i] == 0) return number == bases[i];
    for (size_t i = 0; i < 3; i++)
        if (!may_be_prime(number, bases[i])) return false;
    return true;
}

/* primes(n, skipped, count): the sum of `count` primes from n up, after the first `skipped` ones: primes(10, 1, 2) is
 * 13 + 17. Tables of hashed words have a prime number of rows for each hash. */
static bool sum_primes(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                       const char **problem)
{
    enum { MOST = 4096 };
    for (size_t i = 0; i < count; i++)
        if (args[i].type != SHAPEPROOF_VALUE_INT || args[i].integer < 0)
            return fail_call(problem, "takes whole numbers from 0 up");
    if (args[0].integer > INT32_MAX || args[1].integer > MOST || args[2].integer > MOST)
        return fail_call(problem, "takes numbers below 2^31, and up to 4096 primes");
    const int64_t last = args[1].integer + args[2].integer;
    int64_t sum = 0;
    for (int64_t number = args[0].integer, primes = 0; primes < last; number++) {
        if (!is_prime((uint64_t)number)) continue;
        if (primes++ >= args[1].integer) sum += number;
    }
    *result = sp_value_int(sum);
    return true;
}

/* "1.18.2" as 1018002, so that versions compare. What follows three numbers ("-rc1") is left out. */
static bool call_release(const struct shapeproof_value *args, size_t count, struct shapeproof_value *result,
                         const char **problem)
{
    (void)count;
    const char *text = args[0].type == SHAPEPROOF_VALUE_STRING ? args[0].string : "";
    int64_t number = 0;
    for (int part = 0; part < 3; part++) {
        int64_t one = 0;
        const size_t digits = strspn(text, "0123456789");
        if (digits > 3 || (!digits && !part))
            return fail_call(problem, "takes a version as a string, such as \"1.18.2\"");
        for (size_t i = 0; i < digits; i++) one = one * 10 + (*text++ - '0');
        text += *text == '.';
        number = number * 1000 + one;
    }
    *result = sp_value_int(number);
    return true;
}

/* ---- costs: the steps of a call, each of some 10 ns ---- */

enum {
    ITEMS = 2,      /* of a list that are looked at in a step */
    COMPARED = 64,  /* bytes of strings that are compared or measured in a step */
    SEARCHED = 16,  /* bytes of a string that are searched for another one in a step */
    LEAST_BITS = 17 /* of the numbers that primes() tests: it may have to look at all below 2^17 */
};

static uint64_t length_of(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_STRING ? strlen(value.string) : 0;
}

static uint64_t items_of(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_LIST || value.type == SHAPEPROOF_VALUE_OBJECT ? value.count : 0;
}

uint64_t sp_value_comparison_cost(struct shapeproof_value value)
{
    uint64_t steps = length_of(value) / COMPARED;
    if (value.type != SHAPEPROOF_VALUE_LIST) return steps;
    steps += value.count / ITEMS;
    for (size_t i = 0; i < value.count; i++) steps += sp_value_comparison_cost(value.items[i]);
    return steps;
}

/* Of `times` looks at an item that take so many steps more. */
static uint64_t cost_of_looks(uint64_t times, uint64_t steps)
{
    uint64_t product;
    return __builtin_mul_overflow(times, steps, &product) ? UINT64_MAX : sp_add_saturated(product, times / ITEMS);
}

/* One look at each item, or at the string. */
static uint64_t cost_of_items(const struct shapeproof_value *args, size_t count)
{
    (void)count;
    return items_of(args[0]) / ITEMS + length_of(args[0]) / COMPARED;
}

uint64_t sp_value_search_cost(struct shapeproof_value list, struct shapeproof_value item)
{
    if (list.type != SHAPEPROOF_VALUE_STRING) return cost_of_looks(items_of(list), sp_value_comparison_cost(item));
    return (length_of(list) + length_of(item)) / SEARCHED;
}

/* Each item of the list is compared with the second argument. */
static uint64_t cost_of_search(const struct shapeproof_value *args, size_t count)
{
    (void)count;
    return sp_value_search_cost(args[0], args[1]);
}

/* The key is searched for among all members; a number skips the zeros that keys begin with. */
static uint64_t cost_of_member(const struct shapeproof_value *args, size_t count)
{
    (void)count;
    uint64_t steps = cost_of_looks(items_of(args[0]), 1 + length_of(args[1]) / COMPARED);
    if (args[0].type != SHAPEPROOF_VALUE_OBJECT || args[1].type != SHAPEPROOF_VALUE_INT) return steps;
    for (size_t i = 0; i < args[0].count; i++)
        steps = sp_add_saturated(steps, strspn(args[0].members[i].key, "0") / SEARCHED);
    return steps;
}

/* The key is searched for among all members of each item. */
static uint64_t cost_of_sum(const struct shapeproof_value *args, size_t count)
{
    uint64_t steps = items_of(args[0]) / ITEMS;
    if (count < 2 || args[0].type != SHAPEPROOF_VALUE_LIST) return steps;
    for (size_t i = 0; i < args[0].count; i++)
        steps = sp_add_saturated(steps, cost_of_looks(items_of(args[0].items[i]), 1 + length_of(args[1]) / COMPARED));
    return steps;
}

static uint64_t cost_of_strings(const struct shapeproof_value *args, size_t count)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < count; i++) steps += length_of(args[i]) / SEARCHED;
    return steps;
}

/* Each affix, or the first string of each row, is compared with the string, which it can be as long as. */
static uint64_t cost_of_affixes(const struct shapeproof_value *args, size_t count)
{
    uint64_t steps = length_of(args[0]) / COMPARED;
    for (size_t i = 1; i < count; i++)
        steps = sp_add_saturated(steps, cost_of_looks(1 + items_of(args[i]), 2 + length_of(args[0]) / SEARCHED));
    return steps;
}

/* After each occurrence of the mark, the search for the next one begins again. */
static uint64_t cost_of_number(const struct shapeproof_value *args, size_t count)
{
    (void)count;
    return cost_of_looks(1 + length_of(args[0]) / 4, 1 + length_of(args[1]) / COMPARED);
}

/* Each key is compared with all items of the lists. */
static uint64_t cost_of_stray(const struct shapeproof_value *args, size_t count)
{
    uint64_t items = 1;
    for (size_t i = 1; i < count; i++) items += items_of(args[i]);
    return cost_of_looks(items_of(args[0]), 1 + items / 4);
}

/* Around n, one number of log(n) is prime, and to test one takes a multiplication for each of its bits. */
static uint64_t cost_of_primes(const struct shapeproof_value *args, size_t count)
{
    uint64_t bits = LEAST_BITS;
    (void)count;
    if (args[0].type != SHAPEPROOF_VALUE_INT || args[1].type != SHAPEPROOF_VALUE_INT || args[1].integer < 0 ||
        args[2].type != SHAPEPROOF_VALUE_INT || args[2].integer < 0)
        return 0;
    while (bits < 31 && args[0].integer >> bits) bits++;
    return cost_of_looks((uint64_t)args[1].integer + (uint64_t)args[2].integer, bits * bits / 2);
}

/* Name, fewest and most arguments, whether it sees an absent one, what it does and costs (functions.h). Each has one
 * argument at least. */
static const struct sp_function functions[] = {
    {"at", 2, 2, false, call_at, NULL},
    {"count", 2, 2, false, call_count, cost_of_search},
    {"find", 2, 3, false, call_find, cost_of_search},
    {"skip", 2, 2, false, call_skip, cost_of_strings},
    {"member", 2, 2, false, member, cost_of_member},
    {"absent", 1, 1, true, call_absent, NULL},
    {"null", 1, 1, true, is_null, NULL},
    {"len", 1, 1, false, length, cost_of_items},
    {"min", 1, 16, false, minimum, cost_of_items},
    {"max", 1, 16, false, maximum, cost_of_items},
    {"sum", 1, 2, false, call_sum, cost_of_sum},
    {"int", 1, 1, false, truncate_number, NULL},
    {"round", 1, 1, false, round_number, NULL},
    {"ceil_div", 2, 2, false, ceil_div, NULL},
    {"round_up", 2, 2, false, call_round_up, NULL},
    {"starts_with", 2, 2, false, starts_with, cost_of_affixes},
    {"ends_with", 2, 2, false, text_ends_with, cost_of_affixes},
    {"release", 1, 1, false, call_release, cost_of_strings},
    {"row", 2, 16, false, call_row, cost_of_affixes},
    {"after", 2, 2, false, text_after, cost_of_strings},
    {"until", 2, 2, false, text_until, cost_of_strings},
    {"stray", 2, 16, false, stray_key, cost_of_stray},
    {"near_multiple", 2, 2, false, near_multiple, NULL},
    {"number_after", 3, 3, false, number_after, cost_of_number},
    {"primes", 3, 3, false, sum_primes, cost_of_primes},
};

const struct sp_function *sp_function_find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0) return &functions[i];
    return NULL;
}

uint64_t sp_function_cost(const struct sp_function *function, const struct shapeproof_value *args, size_t count)
{
    return function->cost ? function->cost(args, count) : 0;
}

bool sp_function_apply(const struct sp_function *function, struct sp_arena *arena, const struct shapeproof_value *args,
                       size_t count, struct shapeproof_value *result, const char **problem)
{
    if (!function->apply(args, count, result, problem)) return false;
    if (function->apply == text_until) {
        result->string = sp_arena_copy(arena, result->string, result->count);
        result->count = 0;
    }
    return true;
}
