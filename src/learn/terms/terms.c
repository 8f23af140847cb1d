/* SPDX-License-Identifier: MIT */
#include "learn/terms/terms.h"

#include <math.h>
#include <string.h>

#include "lang/functions.h"

static const double largest_power = 62;
static const double largest_divisor = 1 << 20;      /* of near_multiple */
static const double too_large = 9007199254740992.0; /* 2^53: from here on not every whole number is one */

/* ---- values ---- */

static double number_of(struct shapeproof_value value)
{
    if (value.type == SHAPEPROOF_VALUE_INT)
        return fabs((double)value.integer) < too_large ? (double)value.integer : NAN;
    return value.type == SHAPEPROOF_VALUE_REAL ? value.real : NAN;
}

/* `otherwise` where the value is absent or null. */
static double truth_of(struct shapeproof_value value, double otherwise)
{
    if (value.type == SHAPEPROOF_VALUE_BOOL) return value.boolean;
    return sp_value_is_set(value) ? NAN : otherwise;
}

static struct shapeproof_value value_of_terminal(const struct sp_search_term *term, const struct sp_point *point)
{
    return term->terminal->values[point->example];
}

static struct shapeproof_value item_of_list(const struct sp_search_term *term, const struct sp_point *point)
{
    const struct shapeproof_value list = value_of_terminal(term, point);
    const double place = sp_search_term_value(term->a, point);
    if (list.type != SHAPEPROOF_VALUE_LIST || !(place >= 0 && place < (double)list.count))
        return sp_value_absent(term->terminal->path);
    return list.items[(size_t)place];
}

/* SP_TERM_IS */
static double is_text(const struct sp_search_term *term, const struct sp_point *point)
{
    const struct shapeproof_value whole = value_of_terminal(term, point);
    const bool is_item = term->a && !(term->number == SP_TERM_STANDS_FOR_ALL && whole.type == SHAPEPROOF_VALUE_STRING);
    const struct shapeproof_value value = is_item ? item_of_list(term, point) : whole;
    if (!sp_value_is_set(value)) return NAN;
    return value.type == SHAPEPROOF_VALUE_STRING && strcmp(value.string, term->text) == 0;
}

/* SP_TERM_CONTAINED */
static double is_contained(const struct sp_search_term *term, const struct sp_point *point)
{
    const struct shapeproof_value list = value_of_terminal(term, point);
    const double wanted = term->a ? sp_search_term_value(term->a, point) : 0;
    if (list.type != SHAPEPROOF_VALUE_LIST) return NAN;
    for (size_t i = 0; i < list.count; i++) {
        const bool is_text = list.items[i].type == SHAPEPROOF_VALUE_STRING;
        if (term->a ? number_of(list.items[i]) == wanted : is_text && strcmp(list.items[i].string, term->text) == 0)
            return 1;
    }
    return 0;
}

/* SP_TERM_IS_LIST, which is written at(x, 0) != x: an empty list has no item 0, so that it is NaN. */
static double is_list(struct shapeproof_value value)
{
    if (!sp_value_is_set(value) || (value.type == SHAPEPROOF_VALUE_LIST && !value.count)) return NAN;
    return value.type == SHAPEPROOF_VALUE_LIST;
}

static double item_or_itself(const struct sp_search_term *term, const struct sp_point *point)
{
    const struct shapeproof_value value = value_of_terminal(term, point);
    return number_of(value.type == SHAPEPROOF_VALUE_LIST ? item_of_list(term, point) : value);
}

static double length_of(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_LIST || value.type == SHAPEPROOF_VALUE_OBJECT ? (double)value.count : NAN;
}

static double sum_of(struct shapeproof_value list)
{
    double sum = list.type == SHAPEPROOF_VALUE_LIST && list.count ? 0 : NAN;
    for (size_t i = 0; list.type == SHAPEPROOF_VALUE_LIST && i < list.count; i++)
        sum += list.items[i].type == SHAPEPROOF_VALUE_INT ? number_of(list.items[i]) : NAN;
    return fabs(sum) < too_large ? sum : NAN;
}

/* Squares and powers of two are most frequent, so that they are computed without pow(). Their operands are whole, and
 * the result is the same. */
static double power_of(double a, double b)
{
    if (!(b >= 0 && b <= largest_power)) return NAN;
    if (b == 2 && a == floor(a)) return a * a;
    if (a == 2 && b == floor(b)) return (double)(UINT64_C(1) << (unsigned)b);
    return pow(a, b);
}

/* The value of an arithmetic operator or a comparison (0 or 1); NaN where the table language would report an error, and
 * for all other operators. */
static double operate_on_numbers(enum sp_term_op op, double a, double b)
{
    switch (op) {
    case SP_TERM_ADD:
        return a + b;
    case SP_TERM_SUBTRACT:
        return a - b;
    case SP_TERM_MULTIPLY:
        return a * b;
    case SP_TERM_DIVIDE:
        return b > 0 ? floor(a / b) : NAN;
    case SP_TERM_REST:
        return b > 0 ? a - b * floor(a / b) : NAN;
    case SP_TERM_POWER:
        return power_of(a, b);
    case SP_TERM_CEIL_DIV:
        return b > 0 && a >= 0 ? ceil(a / b) : NAN;
    case SP_TERM_ROUND_UP:
        return b > 0 && a >= 0 ? b * ceil(a / b) : NAN;
    case SP_TERM_MAX:
        return a > b ? a : b;
    case SP_TERM_CEIL:
        return b > 0 && a >= 0 ? -floor(-a / b) : NAN;
    case SP_TERM_NEAR:
        return b >= 1 && b <= largest_divisor && a >= 0 ? (double)sp_near_multiple(a, (int64_t)b) : NAN;
    case SP_TERM_QUOTIENT:
        return b > 0 && (a != floor(a) || b != floor(b) || fmod(a, b) == 0) ? a / b : NAN;
    case SP_TERM_EQUAL:
        return a == b;
    case SP_TERM_LESS:
        return a < b;
    case SP_TERM_AT_LEAST:
        return a >= b;
    default:
        return NAN;
    }
}

/* NOT, AND, OR and IF: only the operands that the first one leaves to be asked are evaluated. */
static double operate_on_truths(const struct sp_search_term *term, const struct sp_point *point)
{
    const double a = sp_search_term_value(term->a, point);
    if (isnan(a)) return NAN;
    if (term->op == SP_TERM_NOT) return a == 0;
    if (term->op == SP_TERM_IF) return sp_search_term_value(a != 0 ? term->b : term->c, point);
    if (term->op == SP_TERM_AND) return a != 0 ? sp_search_term_value(term->b, point) : 0;
    return a != 0 ? 1 : sp_search_term_value(term->b, point);
}

/* The same for operands that may be NaN; NaN as well where the result is too large to be exact. */
static double operation_value(enum sp_term_op op, double a, double b)
{
    const double result = isnan(a) || isnan(b) ? NAN : operate_on_numbers(op, a, b);
    return fabs(result) < too_large ? result : NAN;
}

bool sp_search_term_values(enum sp_term_op op, struct sp_search_term_side a, struct sp_search_term_side b, size_t count,
                           double *values)
{
    for (size_t i = 0; i < count; i++) {
        const double value =
            operation_value(op, a.values ? a.values[i] : a.term->number, b.values ? b.values[i] : b.term->number);
        if (isnan(value)) return false;
        values[i] = value + 0.0; /* -0.0 becomes 0.0: vectors of values are compared by their bytes */
    }
    return true;
}

/* The operators on numbers, which are evaluated from their operands. */
static double combined_value(const struct sp_search_term *term, const struct sp_point *point)
{
    const double a = sp_search_term_value(term->a, point);
    if (term->op == SP_TERM_INT) return trunc(a);
    if (term->op == SP_TERM_ROUND) return sp_round_to_even(a);
    if (term->op == SP_TERM_DEFAULT) return isnan(a) ? sp_search_term_value(term->b, point) : a;
    return operation_value(term->op, a, sp_search_term_value(term->b, point));
}

double sp_search_term_value(const struct sp_search_term *term, const struct sp_point *point)
{
    switch (term->op) {
    case SP_TERM_NUMBER:
        return term->number;
    case SP_TERM_INDEX:
        return (double)point->index[(size_t)term->number];
    case SP_TERM_KEY:
        if (term->terminal->meaning) return sp_search_term_value(term->terminal->meaning, point);
        return number_of(value_of_terminal(term, point));
    case SP_TERM_TRUTH:
        return truth_of(term->a ? item_of_list(term, point) : value_of_terminal(term, point), term->number);
    case SP_TERM_LENGTH:
        return length_of(value_of_terminal(term, point));
    case SP_TERM_SUM:
        return sum_of(value_of_terminal(term, point));
    case SP_TERM_ITEM:
        return number_of(item_of_list(term, point));
    case SP_TERM_AT:
        return item_or_itself(term, point);
    case SP_TERM_IS_LIST:
        return is_list(value_of_terminal(term, point));
    case SP_TERM_IS:
        return is_text(term, point);
    case SP_TERM_ABSENT:
        return value_of_terminal(term, point).type == SHAPEPROOF_VALUE_ABSENT;
    case SP_TERM_NULL:
        return value_of_terminal(term, point).type == SHAPEPROOF_VALUE_NULL;
    case SP_TERM_CONTAINED:
        return is_contained(term, point);
    case SP_TERM_NOT:
    case SP_TERM_AND:
    case SP_TERM_OR:
    case SP_TERM_IF:
        return operate_on_truths(term, point);
    default:
        return combined_value(term, point);
    }
}

/* ---- making them ---- */

static unsigned cost_of_number(double number)
{
    if (number == 0) return 1;
    if (number == 1 || number == 2) return 2;
    if (number == 3 || number == 4) return 6;
    return 14;
}

/* The cost of an operator alone: the less usual in tables, the higher. Keys, numbers and operands come on top. */
static unsigned cost_of_operator(enum sp_term_op op)
{
    switch (op) {
    case SP_TERM_NUMBER:
    case SP_TERM_INDEX:
    case SP_TERM_KEY:
        return 0;
    case SP_TERM_MULTIPLY:
    case SP_TERM_ITEM:
    case SP_TERM_AT:
    case SP_TERM_NOT:
        return 2;
    case SP_TERM_CEIL:     /* mostly -(-a // 1), where the 1 makes it as dear as int(a) */
    case SP_TERM_CEIL_DIV: /* by 16, of a rank that is a sixteenth of a width; by 2, of the larger half */
        return 3;
    case SP_TERM_ADD:
    case SP_TERM_DIVIDE:
    case SP_TERM_QUOTIENT:
    case SP_TERM_DEFAULT:
        return 4;
    case SP_TERM_TRUTH:
    case SP_TERM_SUBTRACT:
    case SP_TERM_INT:
    case SP_TERM_ROUND:
    case SP_TERM_REST:
        return 5;
    case SP_TERM_NEAR:
    case SP_TERM_LENGTH:
    case SP_TERM_POWER:
    case SP_TERM_SUM:
        return 6;
    case SP_TERM_EQUAL:
    case SP_TERM_LESS:
    case SP_TERM_AT_LEAST:
        return 9;
    default:
        return 7;
    }
}

/* width + inner: keys are multiplied more often than they are added. */
static bool is_sum_of_keys(const struct sp_search_term *term)
{
    const bool sum = term->op == SP_TERM_ADD || term->op == SP_TERM_SUBTRACT;
    return sum && term->a->op != SP_TERM_NUMBER && term->b->op != SP_TERM_NUMBER;
}

/* width + 2: 1 is added often, larger numbers are not. */
static bool adds_number(const struct sp_search_term *term)
{
    const bool sum = term->op == SP_TERM_ADD || term->op == SP_TERM_SUBTRACT;
    return sum && term->b->op == SP_TERM_NUMBER && term->b->number > 1;
}

/* list[len(list) - 1 - i]: counting from the end is one idiom, however long it is. */
static bool is_from_end(const struct sp_search_term *term)
{
    return term->op == SP_TERM_ITEM && term->a->op == SP_TERM_SUBTRACT && term->a->b->op == SP_TERM_INDEX;
}

/* width*(inner // 16): 30 // 16 is 1 and 41 // 16 is 2, so that a share can turn one size into many others. */
static bool multiplies_share(const struct sp_search_term *term)
{
    if (term->op != SP_TERM_MULTIPLY) return false;
    const struct sp_search_term *const operands[] = {term->a, term->b};
    for (size_t i = 0; i < 2; i++)
        if ((operands[i]->op == SP_TERM_DIVIDE || operands[i]->op == SP_TERM_CEIL_DIV) &&
            operands[i]->b->op == SP_TERM_NUMBER)
            return true;
    return false;
}

/* The key or the length that counts the stages in 2^stages, 2^(stages - 1) or 2^(stages - 1 - i): doubling with each
 * stage is one idiom. NULL for any other term. */
static const struct sp_search_term *count_of_doublings(const struct sp_search_term *term)
{
    if (term->op != SP_TERM_POWER || term->a->op != SP_TERM_NUMBER || term->a->number != 2) return NULL;
    const struct sp_search_term *count = term->b;
    while (count->op == SP_TERM_SUBTRACT && (count->b->op == SP_TERM_NUMBER || count->b->op == SP_TERM_INDEX))
        count = count->a;
    return count->op == SP_TERM_KEY || count->op == SP_TERM_LENGTH ? count : NULL;
}

/* 2^(i - 1): what the stage before was multiplied by. */
static bool is_doubling_before(const struct sp_search_term *term)
{
    return term->op == SP_TERM_POWER && term->b->op == SP_TERM_SUBTRACT && term->b->a->op == SP_TERM_INDEX &&
           term->b->b->op == SP_TERM_NUMBER;
}

/* image_size // patch_size, which is often squared: the division is free, so that the square is not too dear. */
static bool is_count_of_patches(const struct sp_search_term *term)
{
    return term->op == SP_TERM_DIVIDE && term->b->op == SP_TERM_KEY && strstr(term->b->terminal->path, "patch");
}

/* width*i: the widths of stages usually stand in a list, and are no multiples of the index. */
static bool is_multiple_of_index(const struct sp_search_term *term)
{
    if (term->op != SP_TERM_MULTIPLY) return false;
    return (term->a->op == SP_TERM_INDEX && term->b->op != SP_TERM_NUMBER) ||
           (term->b->op == SP_TERM_INDEX && term->a->op != SP_TERM_NUMBER);
}

/* (width // 2)^2 */
static bool is_square_of_share(const struct sp_search_term *term)
{
    return term->op == SP_TERM_POWER && term->a->op == SP_TERM_DIVIDE && term->a->b->op == SP_TERM_NUMBER;
}

/* n*(n + 1) // 2, n*(n - 1) // 2: the number of pairs is one idiom. */
static bool is_count_of_pairs(const struct sp_search_term *term)
{
    if (term->op != SP_TERM_DIVIDE || term->b->op != SP_TERM_NUMBER || term->b->number != 2) return false;
    if (term->a->op != SP_TERM_MULTIPLY) return false;
    const struct sp_search_term *other = term->a->b;
    const bool beside = other->op == SP_TERM_ADD || other->op == SP_TERM_SUBTRACT;
    return beside && other->b->op == SP_TERM_NUMBER && other->b->number == 1 &&
           sp_search_terms_equal(other->a, term->a->a);
}

/* list[i - 1]: the item before this one is as likely as list[i]. */
static bool is_item_before(const struct sp_search_term *term)
{
    return term->op == SP_TERM_ITEM && term->a->op == SP_TERM_SUBTRACT && term->a->a->op == SP_TERM_INDEX &&
           term->a->b->op == SP_TERM_NUMBER && term->a->b->number == 1;
}

/* widths[taken[i]], widths[taken[i] - 1]: a place that another list gives is one idiom. */
static bool is_item_at_place(const struct sp_search_term *term)
{
    if (term->op != SP_TERM_ITEM) return false;
    const struct sp_search_term *place = term->a->op == SP_TERM_SUBTRACT ? term->a->a : term->a;
    return place->op == SP_TERM_ITEM;
}

/* both_ways ? 2 : 1 */
static bool is_twice_by_flag(const struct sp_search_term *term)
{
    return term->op == SP_TERM_IF && term->a->op == SP_TERM_TRUTH && term->b->op == SP_TERM_NUMBER &&
           term->b->number == 2 && term->c->op == SP_TERM_NUMBER && term->c->number == 1;
}

/* conditional ? inputs + conditions : inputs, which is one idiom. */
static bool is_sum_by_flag(const struct sp_search_term *term)
{
    return term->op == SP_TERM_IF && term->a->op == SP_TERM_TRUTH && term->b->op == SP_TERM_ADD &&
           term->b->b->op == SP_TERM_KEY && term->c->op == SP_TERM_KEY && sp_search_terms_equal(term->b->a, term->c);
}

/* list[len(list) - 1] */
static bool is_last_item(const struct sp_search_term *term)
{
    return term->op == SP_TERM_ITEM && term->a->op == SP_TERM_SUBTRACT && term->a->a->op == SP_TERM_LENGTH &&
           term->a->a->terminal == term->terminal && term->a->b->op == SP_TERM_NUMBER && term->a->b->number == 1;
}

/* The key or the length that is compared with a number above 1: spatial_dims == 3, len(channels) > 2, or the opposite.
 * NULL for any other term. Such a number may be an accident of the examples, unlike 0 and 1, which switch something. */
static const struct sp_search_term *compared_with_number(const struct sp_search_term *term)
{
    if (term->op == SP_TERM_NOT) return compared_with_number(term->a);
    if (term->op == SP_TERM_LESS)
        return term->a->op == SP_TERM_NUMBER && term->a->number > 1 && term->b->terminal ? term->b : NULL;
    if (term->op != SP_TERM_EQUAL) return NULL;
    return term->b->op == SP_TERM_NUMBER && term->b->number > 1 && term->a->terminal ? term->a : NULL;
}

bool sp_search_term_compares_with_number(const struct sp_search_term *term)
{
    return compared_with_number(term) != NULL;
}

/* The cost of the first operand; instead of it, a fixed cost for idioms of places in a list. */
static unsigned cost_of_first_operand(const struct sp_search_term *term)
{
    enum {
        FROM_END = 14, /* list[len(list) - 1 - i] */
        LAST = 8,      /* list[len(list) - 1] */
        BEFORE = 8,    /* list[i - 1] */
        AT_PLACE = 16  /* widths[taken[i]], and one more for widths[taken[i] - 1] */
    };
    if (is_from_end(term)) return FROM_END;
    if (is_last_item(term)) return LAST;
    if (is_item_before(term)) return BEFORE;
    if (is_item_at_place(term)) return AT_PLACE + (term->a->op == SP_TERM_SUBTRACT);
    return term->a->cost;
}

/* The cost of a term: its operator, its operands and its key; more for what is rarely right although it is short, less
 * for idioms. Of terms with the same values the cheapest is taken. tests/learn/test_costs.c has examples. */
static unsigned cost_of_term(const struct sp_search_term *term)
{
    /* Of idioms, instead of the cost of the operators in them. */
    enum {
        OF_PAIRS = 8,   /* n*(n + 1) // 2 */
        BY_FLAG = 4,    /* flag ? 2 : 1, flag ? a + b : a */
        DOUBLING = 3,   /* 2^stages, and one more for 2^(stages - 1) */
        COUNTS_DOWN = 6 /* in addition, for 2^(stages - i) */
    };
    /* What is added. */
    enum {
        AN_INDEX = 6,
        FIXED_PLACE = 4,        /* list[0], at(list, 0) */
        SUM_OF_KEYS = 6,        /* width + inner */
        WITH_ADDEND = 4,        /* width + 2, and the same again for inner*(width + 2) */
        LARGER_HALF = 4,        /* ceil_div(width, 2) */
        OF_SHARE = 14,          /* width*(inner // 16) */
        OF_SQUARE = 5,          /* (width // 2)^2 */
        OF_INDEX = 16,          /* width*i */
        LENGTH_WITH_NUMBER = 8, /* len(channels) > 2 */
        KEY_WITH_NUMBER = 22    /* spatial_dims == 3 */
    };
    /* What is taken off: 2^(i - 1) is hardly less likely than 2^i. */
    enum { LESS_BEFORE = 5 };
    const struct sp_search_term *stages = count_of_doublings(term);
    if (is_count_of_pairs(term)) return OF_PAIRS + term->a->a->cost;
    if (is_twice_by_flag(term)) return BY_FLAG + term->a->terminal->cost;
    if (is_sum_by_flag(term)) return BY_FLAG + term->a->terminal->cost + term->b->b->cost + term->c->cost;
    if (stages) {
        const bool counts_down = term->b->b && term->b->b->op == SP_TERM_INDEX;
        return DOUBLING + stages->terminal->cost + (term->b != stages) + (counts_down ? COUNTS_DOWN : 0U);
    }

    unsigned cost = is_count_of_patches(term) ? 0 : cost_of_operator(term->op);
    if (term->terminal) cost += term->terminal->cost;
    if (term->a) cost += cost_of_first_operand(term);
    if (term->b) cost += term->b->cost;
    if (term->c) cost += term->c->cost;

    if (term->op == SP_TERM_NUMBER) cost += cost_of_number(term->number);
    if (term->op == SP_TERM_INDEX) cost += AN_INDEX;
    if ((term->op == SP_TERM_ITEM || term->op == SP_TERM_AT) && term->a->op == SP_TERM_NUMBER) cost += FIXED_PLACE;
    if (is_sum_of_keys(term)) cost += SUM_OF_KEYS;
    if (adds_number(term)) cost += WITH_ADDEND;
    if (term->op == SP_TERM_MULTIPLY && adds_number(term->b)) cost += WITH_ADDEND;
    if (term->op == SP_TERM_CEIL_DIV && term->b->op == SP_TERM_NUMBER && term->b->number == 2) cost += LARGER_HALF;
    if (multiplies_share(term)) cost += OF_SHARE;
    if (is_square_of_share(term)) cost += OF_SQUARE;
    if (is_multiple_of_index(term)) cost += OF_INDEX;
    const struct sp_search_term *compared = term->op == SP_TERM_NOT ? NULL : compared_with_number(term);
    if (compared) cost += compared->op == SP_TERM_LENGTH ? LENGTH_WITH_NUMBER : KEY_WITH_NUMBER;
    if (is_doubling_before(term)) cost -= LESS_BEFORE;
    return cost;
}

const struct sp_search_term *sp_search_term_new(struct sp_arena *arena, struct sp_search_term term)
{
    struct sp_search_term *made = sp_arena_alloc(arena, sizeof *made);
    *made = term;
    made->cost = cost_of_term(made);
    return made;
}

const struct sp_search_term *sp_search_term_number(struct sp_arena *arena, double number)
{
    return sp_search_term_new(arena, (struct sp_search_term){.op = SP_TERM_NUMBER, .number = number});
}

const struct sp_search_term *sp_search_term_index(struct sp_arena *arena, size_t index)
{
    return sp_search_term_new(arena, (struct sp_search_term){.op = SP_TERM_INDEX, .number = (double)index});
}

const struct sp_search_term *sp_search_term_terminal(struct sp_arena *arena, enum sp_term_op op,
                                                     const struct sp_terminal *terminal)
{
    return sp_search_term_new(arena, (struct sp_search_term){.op = op, .terminal = terminal});
}

const struct sp_search_term *sp_search_term_unary(struct sp_arena *arena, enum sp_term_op op,
                                                  const struct sp_search_term *a)
{
    return sp_search_term_new(arena, (struct sp_search_term){.op = op, .a = a});
}

const struct sp_search_term *sp_search_term_binary(struct sp_arena *arena, enum sp_term_op op,
                                                   const struct sp_search_term *a, const struct sp_search_term *b)
{
    return sp_search_term_new(arena, (struct sp_search_term){.op = op, .a = a, .b = b});
}

const struct sp_search_term *sp_search_term_choice(struct sp_arena *arena, const struct sp_search_term *condition,
                                                   const struct sp_search_term *yes, const struct sp_search_term *no)
{
    return sp_search_term_new(arena, (struct sp_search_term){.op = SP_TERM_IF, .a = condition, .b = yes, .c = no});
}

const struct sp_search_term *sp_search_term_with_operands(struct sp_arena *arena, const struct sp_search_term *term,
                                                          const struct sp_search_term *a,
                                                          const struct sp_search_term *b,
                                                          const struct sp_search_term *c)
{
    return sp_search_term_new(arena, (struct sp_search_term){.op = term->op, .a = a, .b = b, .c = c});
}

const struct sp_search_term *sp_search_term_copy(struct sp_arena *arena, const struct sp_search_term *term)
{
    if (!term) return NULL;
    struct sp_search_term *copy = sp_arena_alloc(arena, sizeof *copy);
    *copy = *term;
    copy->a = sp_search_term_copy(arena, term->a);
    copy->b = sp_search_term_copy(arena, term->b);
    copy->c = sp_search_term_copy(arena, term->c);
    return copy;
}

static bool same_operand(const struct sp_search_term *a, const struct sp_search_term *b)
{
    return a && b ? sp_search_terms_equal(a, b) : a == b;
}

bool sp_search_terms_equal(const struct sp_search_term *a, const struct sp_search_term *b)
{
    if (a == b) return true;
    if (a->op != b->op || a->terminal != b->terminal) return false;
    if (a->number != b->number && !(isnan(a->number) && isnan(b->number))) return false;
    if ((a->text || b->text) && (!a->text || !b->text || strcmp(a->text, b->text) != 0)) return false;
    return same_operand(a->a, b->a) && same_operand(a->b, b->b) && same_operand(a->c, b->c);
}

void sp_search_term_terminals(const struct sp_search_term *term,
                              void (*visit)(void *context, const struct sp_terminal *terminal), void *context)
{
    if (!term) return;
    if (term->terminal) visit(context, term->terminal);
    if (term->terminal && term->terminal->meaning) sp_search_term_terminals(term->terminal->meaning, visit, context);
    sp_search_term_terminals(term->a, visit, context);
    sp_search_term_terminals(term->b, visit, context);
    sp_search_term_terminals(term->c, visit, context);
}
