/* SPDX-License-Identifier: MIT */
#include "learn/phrases/phrases.h"

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

static double truth_of(struct shapeproof_value value, double otherwise)
{
    if (value.type == SHAPEPROOF_VALUE_BOOL) return value.boolean;
    return sp_value_is_set(value) ? NAN : otherwise;
}

static struct shapeproof_value value_of_leaf(const struct sp_phrase *term, const struct sp_point *point)
{
    return term->leaf->values[point->example];
}

static struct shapeproof_value item_of_list(const struct sp_phrase *term, const struct sp_point *point)
{
    const struct shapeproof_value list = value_of_leaf(term, point);
    const double place = sp_phrase_value(term->a, point);
    if (list.type != SHAPEPROOF_VALUE_LIST || !(place >= 0 && place < (double)list.count))
        return sp_value_absent(term->leaf->path);
    return list.items[(size_t)place];
}

static double is_text(const struct sp_phrase *term, const struct sp_point *point)
{
    const struct shapeproof_value whole = value_of_leaf(term, point);
    const bool is_item =
        term->a && !(term->number == SP_PHRASE_STANDS_FOR_ALL && whole.type == SHAPEPROOF_VALUE_STRING);
    const struct shapeproof_value value = is_item ? item_of_list(term, point) : whole;
    if (!sp_value_is_set(value)) return NAN;
    return value.type == SHAPEPROOF_VALUE_STRING && strcmp(value.string, term->text) == 0;
}

static double is_contained(const struct sp_phrase *term, const struct sp_point *point)
{
    const struct shapeproof_value list = value_of_leaf(term, point);
    const double wanted = term->a ? sp_phrase_value(term->a, point) : 0;
    if (list.type != SHAPEPROOF_VALUE_LIST) return NAN;
    for (size_t i = 0; i < list.count; i++) {
        const bool is_text = list.items[i].type == SHAPEPROOF_VALUE_STRING;
        if (term->a ? number_of(list.items[i]) == wanted : is_text && strcmp(list.items[i].string, term->text) == 0)
            return 1;
    }
    return 0;
}

/* at(x, 0) != x: what a list of no items says of it is nothing. */
static double is_list(struct shapeproof_value value)
{
    if (!sp_value_is_set(value) || (value.type == SHAPEPROOF_VALUE_LIST && !value.count)) return NAN;
    return value.type == SHAPEPROOF_VALUE_LIST;
}

static double item_or_itself(const struct sp_phrase *term, const struct sp_point *point)
{
    const struct shapeproof_value value = value_of_leaf(term, point);
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

/* Squares and what doubles, which are asked most, are as exact as pow has them: their operands are whole. */
static double power_of(double a, double b)
{
    if (!(b >= 0 && b <= largest_power)) return NAN;
    if (b == 2 && a == floor(a)) return a * a;
    if (a == 2 && b == floor(b)) return (double)(UINT64_C(1) << (unsigned)b);
    return pow(a, b);
}

static double operate_on_numbers(enum sp_phrase_op op, double a, double b)
{
    switch (op) {
    case SP_PHRASE_ADD:
        return a + b;
    case SP_PHRASE_SUBTRACT:
        return a - b;
    case SP_PHRASE_MULTIPLY:
        return a * b;
    case SP_PHRASE_DIVIDE:
        return b > 0 ? floor(a / b) : NAN;
    case SP_PHRASE_REST:
        return b > 0 ? a - b * floor(a / b) : NAN;
    case SP_PHRASE_POWER:
        return power_of(a, b);
    case SP_PHRASE_CEIL_DIV:
        return b > 0 && a >= 0 ? ceil(a / b) : NAN;
    case SP_PHRASE_ROUND_UP:
        return b > 0 && a >= 0 ? b * ceil(a / b) : NAN;
    case SP_PHRASE_MAX:
        return a > b ? a : b;
    case SP_PHRASE_CEIL:
        return b > 0 && a >= 0 ? -floor(-a / b) : NAN;
    case SP_PHRASE_NEAR:
        return b >= 1 && b <= largest_divisor && a >= 0 ? (double)sp_near_multiple(a, (int64_t)b) : NAN;
    case SP_PHRASE_QUOTIENT:
        return b > 0 && (a != floor(a) || b != floor(b) || fmod(a, b) == 0) ? a / b : NAN;
    case SP_PHRASE_EQUAL:
        return a == b;
    case SP_PHRASE_LESS:
        return a < b;
    case SP_PHRASE_AT_LEAST:
        return a >= b;
    default:
        return NAN;
    }
}

static double operate_on_truths(const struct sp_phrase *term, const struct sp_point *point)
{
    const double a = sp_phrase_value(term->a, point);
    if (isnan(a)) return NAN;
    if (term->op == SP_PHRASE_NOT) return a == 0;
    if (term->op == SP_PHRASE_IF) return sp_phrase_value(a != 0 ? term->b : term->c, point);
    if (term->op == SP_PHRASE_AND) return a != 0 ? sp_phrase_value(term->b, point) : 0;
    return a != 0 ? 1 : sp_phrase_value(term->b, point);
}

static double operation_value(enum sp_phrase_op op, double a, double b)
{
    const double result = isnan(a) || isnan(b) ? NAN : operate_on_numbers(op, a, b);
    return fabs(result) < too_large ? result : NAN;
}

bool sp_phrase_values(enum sp_phrase_op op, struct sp_phrase_side a, struct sp_phrase_side b, size_t count,
                      double *values)
{
    for (size_t i = 0; i < count; i++) {
        const double value =
            operation_value(op, a.values ? a.values[i] : a.term->number, b.values ? b.values[i] : b.term->number);
        if (isnan(value)) return false;
        values[i] = value + 0.0;
    }
    return true;
}

static double combined_value(const struct sp_phrase *term, const struct sp_point *point)
{
    const double a = sp_phrase_value(term->a, point);
    if (term->op == SP_PHRASE_INT) return trunc(a);
    if (term->op == SP_PHRASE_ROUND) return sp_round_to_even(a);
    if (term->op == SP_PHRASE_DEFAULT) return isnan(a) ? sp_phrase_value(term->b, point) : a;
    return operation_value(term->op, a, sp_phrase_value(term->b, point));
}

double sp_phrase_value(const struct sp_phrase *term, const struct sp_point *point)
{
    switch (term->op) {
    case SP_PHRASE_NUMBER:
        return term->number;
    case SP_PHRASE_INDEX:
        return (double)point->index[(size_t)term->number];
    case SP_PHRASE_KEY:
        if (term->leaf->meaning) return sp_phrase_value(term->leaf->meaning, point);
        return number_of(value_of_leaf(term, point));
    case SP_PHRASE_TRUTH:
        return truth_of(term->a ? item_of_list(term, point) : value_of_leaf(term, point), term->number);
    case SP_PHRASE_LENGTH:
        return length_of(value_of_leaf(term, point));
    case SP_PHRASE_SUM:
        return sum_of(value_of_leaf(term, point));
    case SP_PHRASE_ITEM:
        return number_of(item_of_list(term, point));
    case SP_PHRASE_AT:
        return item_or_itself(term, point);
    case SP_PHRASE_IS_LIST:
        return is_list(value_of_leaf(term, point));
    case SP_PHRASE_IS:
        return is_text(term, point);
    case SP_PHRASE_ABSENT:
        return value_of_leaf(term, point).type == SHAPEPROOF_VALUE_ABSENT;
    case SP_PHRASE_NULL:
        return value_of_leaf(term, point).type == SHAPEPROOF_VALUE_NULL;
    case SP_PHRASE_CONTAINED:
        return is_contained(term, point);
    case SP_PHRASE_NOT:
    case SP_PHRASE_AND:
    case SP_PHRASE_OR:
    case SP_PHRASE_IF:
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

static unsigned cost_of_operator(enum sp_phrase_op op)
{
    switch (op) {
    case SP_PHRASE_NUMBER:
    case SP_PHRASE_INDEX:
    case SP_PHRASE_KEY:
        return 0;
    case SP_PHRASE_MULTIPLY:
    case SP_PHRASE_ITEM:
    case SP_PHRASE_AT:
    case SP_PHRASE_NOT:
        return 2;
    case SP_PHRASE_CEIL: /* with the number 1 behind it as dear as int() */
    case SP_PHRASE_CEIL_DIV:
        return 3; /* which is asked where a rank is a sixteenth, and rounded up, or what is left of a half */
    case SP_PHRASE_ADD:
    case SP_PHRASE_DIVIDE:
    case SP_PHRASE_QUOTIENT:
    case SP_PHRASE_DEFAULT:
        return 4;
    case SP_PHRASE_TRUTH:
    case SP_PHRASE_SUBTRACT:
    case SP_PHRASE_INT:
    case SP_PHRASE_ROUND:
    case SP_PHRASE_REST:
        return 5;
    case SP_PHRASE_NEAR:
    case SP_PHRASE_LENGTH:
    case SP_PHRASE_POWER:
    case SP_PHRASE_SUM:
        return 6;
    case SP_PHRASE_EQUAL:
    case SP_PHRASE_LESS:
    case SP_PHRASE_AT_LEAST:
        return 9;
    default:
        return 7;
    }
}

/* Keys are multiplied more often than they are added. */
static bool is_sum_of_keys(const struct sp_phrase *term)
{
    const bool sum = term->op == SP_PHRASE_ADD || term->op == SP_PHRASE_SUBTRACT;
    return sum && term->a->op != SP_PHRASE_NUMBER && term->b->op != SP_PHRASE_NUMBER;
}

/* 1 is added often, larger numbers are not. */
static bool adds_number(const struct sp_phrase *term)
{
    const bool sum = term->op == SP_PHRASE_ADD || term->op == SP_PHRASE_SUBTRACT;
    return sum && term->b->op == SP_PHRASE_NUMBER && term->b->number > 1;
}

/* list[len(list) - 1 - i]: a place that is counted from the end is one idea. */
static bool is_from_end(const struct sp_phrase *term)
{
    return term->op == SP_PHRASE_ITEM && term->a->op == SP_PHRASE_SUBTRACT && term->a->b->op == SP_PHRASE_INDEX;
}

/* 30 // 16 is 1, and 41 // 16 is 2: with that any two sizes are made of one. */
static bool multiplies_share(const struct sp_phrase *term)
{
    if (term->op != SP_PHRASE_MULTIPLY) return false;
    const struct sp_phrase *const operands[] = {term->a, term->b};
    for (size_t i = 0; i < 2; i++)
        if ((operands[i]->op == SP_PHRASE_DIVIDE || operands[i]->op == SP_PHRASE_CEIL_DIV) &&
            operands[i]->b->op == SP_PHRASE_NUMBER)
            return true;
    return false;
}

/* 2^stages, 2^(stages - 1), 2^(stages - 1 - i): what doubles with each stage is one idea. */
static const struct sp_phrase *count_of_doublings(const struct sp_phrase *term)
{
    if (term->op != SP_PHRASE_POWER || term->a->op != SP_PHRASE_NUMBER || term->a->number != 2) return NULL;
    const struct sp_phrase *count = term->b;
    while (count->op == SP_PHRASE_SUBTRACT && (count->b->op == SP_PHRASE_NUMBER || count->b->op == SP_PHRASE_INDEX))
        count = count->a;
    return count->op == SP_PHRASE_KEY || count->op == SP_PHRASE_LENGTH ? count : NULL;
}

/* 2^(i - 1): what the stage before was multiplied by. */
static bool is_doubling_before(const struct sp_phrase *term)
{
    return term->op == SP_PHRASE_POWER && term->b->op == SP_PHRASE_SUBTRACT && term->b->a->op == SP_PHRASE_INDEX &&
           term->b->b->op == SP_PHRASE_NUMBER;
}

/* image_size // patch_size, which is squared as often as not. */
static bool is_count_of_patches(const struct sp_phrase *term)
{
    return term->op == SP_PHRASE_DIVIDE && term->b->op == SP_PHRASE_KEY && strstr(term->b->leaf->path, "patch");
}

/* width*i: a stage is rather so wide as a list says. */
static bool is_multiple_of_index(const struct sp_phrase *term)
{
    if (term->op != SP_PHRASE_MULTIPLY) return false;
    return (term->a->op == SP_PHRASE_INDEX && term->b->op != SP_PHRASE_NUMBER) ||
           (term->b->op == SP_PHRASE_INDEX && term->a->op != SP_PHRASE_NUMBER);
}

/* (width // 2)^2 */
static bool is_square_of_share(const struct sp_phrase *term)
{
    return term->op == SP_PHRASE_POWER && term->a->op == SP_PHRASE_DIVIDE && term->a->b->op == SP_PHRASE_NUMBER;
}

/* n*(n + 1) // 2, n*(n - 1) // 2: how many pairs there are is one idea. */
static bool is_count_of_pairs(const struct sp_phrase *term)
{
    if (term->op != SP_PHRASE_DIVIDE || term->b->op != SP_PHRASE_NUMBER || term->b->number != 2) return false;
    if (term->a->op != SP_PHRASE_MULTIPLY) return false;
    const struct sp_phrase *other = term->a->b;
    const bool beside = other->op == SP_PHRASE_ADD || other->op == SP_PHRASE_SUBTRACT;
    return beside && other->b->op == SP_PHRASE_NUMBER && other->b->number == 1 &&
           sp_phrases_equal(other->a, term->a->a);
}

/* list[i - 1]: the one before is as likely as that which stands there. */
static bool is_item_before(const struct sp_phrase *term)
{
    return term->op == SP_PHRASE_ITEM && term->a->op == SP_PHRASE_SUBTRACT && term->a->a->op == SP_PHRASE_INDEX &&
           term->a->b->op == SP_PHRASE_NUMBER && term->a->b->number == 1;
}

/* widths[taken[i]], widths[taken[i] - 1]: a place that another list says is one idea. */
static bool is_item_at_place(const struct sp_phrase *term)
{
    if (term->op != SP_PHRASE_ITEM) return false;
    const struct sp_phrase *place = term->a->op == SP_PHRASE_SUBTRACT ? term->a->a : term->a;
    return place->op == SP_PHRASE_ITEM;
}

/* both_ways ? 2 : 1 */
static bool is_twice_by_flag(const struct sp_phrase *term)
{
    return term->op == SP_PHRASE_IF && term->a->op == SP_PHRASE_TRUTH && term->b->op == SP_PHRASE_NUMBER &&
           term->b->number == 2 && term->c->op == SP_PHRASE_NUMBER && term->c->number == 1;
}

/* conditional ? inputs + conditions : inputs, which is one idea. */
static bool is_sum_by_flag(const struct sp_phrase *term)
{
    return term->op == SP_PHRASE_IF && term->a->op == SP_PHRASE_TRUTH && term->b->op == SP_PHRASE_ADD &&
           term->b->b->op == SP_PHRASE_KEY && term->c->op == SP_PHRASE_KEY && sp_phrases_equal(term->b->a, term->c);
}

/* list[len(list) - 1] */
static bool is_last_item(const struct sp_phrase *term)
{
    return term->op == SP_PHRASE_ITEM && term->a->op == SP_PHRASE_SUBTRACT && term->a->a->op == SP_PHRASE_LENGTH &&
           term->a->a->leaf == term->leaf && term->a->b->op == SP_PHRASE_NUMBER && term->a->b->number == 1;
}

/* spatial_dims == 3, len(channels) > 2: a number that only some examples have is no flag. */
static const struct sp_phrase *compared_with_number(const struct sp_phrase *term)
{
    if (term->op == SP_PHRASE_NOT) return compared_with_number(term->a);
    if (term->op == SP_PHRASE_LESS)
        return term->a->op == SP_PHRASE_NUMBER && term->a->number > 1 && term->b->leaf ? term->b : NULL;
    if (term->op != SP_PHRASE_EQUAL) return NULL;
    return term->b->op == SP_PHRASE_NUMBER && term->b->number > 1 && term->a->leaf ? term->a : NULL;
}

bool sp_phrase_compares_with_number(const struct sp_phrase *term) { return compared_with_number(term) != NULL; }

static unsigned cost_of_term(const struct sp_phrase *term)
{
    enum {
        LENGTH_WITH_NUMBER = 8,
        KEY_WITH_NUMBER = 22,
        FROM_END = 14,
        LAST = 8,
        BEFORE = 8,
        AT_PLACE = 16,
        BY_FLAG = 4,
        OF_SHARE = 14,
        OF_PAIRS = 8,
        OF_SQUARE = 5,
        LESS_BEFORE = 5,
        OF_INDEX = 16,
        DOUBLING = 3,
        COUNTS_DOWN = 6
    };
    unsigned cost = cost_of_operator(term->op);
    const struct sp_phrase *stages = count_of_doublings(term);
    if (is_count_of_pairs(term)) return OF_PAIRS + term->a->a->cost;
    if (is_twice_by_flag(term)) return BY_FLAG + term->a->leaf->cost;
    if (is_sum_by_flag(term)) return BY_FLAG + term->a->leaf->cost + term->b->b->cost + term->c->cost;
    const bool counts_down = stages && term->b->b && term->b->b->op == SP_PHRASE_INDEX;
    if (stages) return DOUBLING + stages->leaf->cost + (term->b != stages) + (counts_down ? COUNTS_DOWN : 0U);
    if (is_count_of_patches(term)) cost -= cost_of_operator(term->op);
    if (term->leaf) cost += term->leaf->cost;
    if (term->op == SP_PHRASE_NUMBER) cost += cost_of_number(term->number);
    if (term->op == SP_PHRASE_INDEX) cost += 6;
    if ((term->op == SP_PHRASE_ITEM || term->op == SP_PHRASE_AT) && term->a->op == SP_PHRASE_NUMBER) cost += 4;
    if (term->a)
        cost += is_from_end(term)        ? FROM_END
                : is_last_item(term)     ? LAST
                : is_item_before(term)   ? BEFORE
                : is_item_at_place(term) ? AT_PLACE + (term->a->op == SP_PHRASE_SUBTRACT)
                                         : term->a->cost;
    if (term->b) cost += term->b->cost;
    if (term->c) cost += term->c->cost;
    if (is_sum_of_keys(term)) cost += 6;
    if (multiplies_share(term)) cost += OF_SHARE;
    if (term->op == SP_PHRASE_CEIL_DIV && term->b->op == SP_PHRASE_NUMBER && term->b->number == 2) cost += 4;
    if (adds_number(term)) cost += 4;
    const struct sp_phrase *compared = term->op == SP_PHRASE_NOT ? NULL : compared_with_number(term);
    if (compared) cost += compared->op == SP_PHRASE_LENGTH ? LENGTH_WITH_NUMBER : KEY_WITH_NUMBER;
    if (is_doubling_before(term)) cost -= LESS_BEFORE;
    if (is_square_of_share(term)) cost += OF_SQUARE;
    if (is_multiple_of_index(term)) cost += OF_INDEX;
    if (term->op == SP_PHRASE_MULTIPLY && adds_number(term->b)) cost += 4;
    return cost;
}

const struct sp_phrase *sp_phrase_about(struct sp_arena *arena, struct sp_phrase term)
{
    struct sp_phrase *made = sp_arena_alloc(arena, sizeof *made);
    *made = term;
    made->cost = cost_of_term(made);
    return made;
}

const struct sp_phrase *sp_phrase_number(struct sp_arena *arena, double number)
{
    return sp_phrase_about(arena, (struct sp_phrase){.op = SP_PHRASE_NUMBER, .number = number});
}

const struct sp_phrase *sp_phrase_index(struct sp_arena *arena, size_t index)
{
    return sp_phrase_about(arena, (struct sp_phrase){.op = SP_PHRASE_INDEX, .number = (double)index});
}

const struct sp_phrase *sp_phrase_leaf(struct sp_arena *arena, enum sp_phrase_op op, const struct sp_leaf *leaf)
{
    return sp_phrase_about(arena, (struct sp_phrase){.op = op, .leaf = leaf});
}

const struct sp_phrase *sp_phrase_of(struct sp_arena *arena, enum sp_phrase_op op, const struct sp_phrase *a,
                                     const struct sp_phrase *b, const struct sp_phrase *c)
{
    return sp_phrase_about(arena, (struct sp_phrase){.op = op, .a = a, .b = b, .c = c});
}

const struct sp_phrase *sp_phrase_copy(struct sp_arena *arena, const struct sp_phrase *term)
{
    if (!term) return NULL;
    struct sp_phrase *copy = sp_arena_alloc(arena, sizeof *copy);
    *copy = *term;
    copy->a = sp_phrase_copy(arena, term->a);
    copy->b = sp_phrase_copy(arena, term->b);
    copy->c = sp_phrase_copy(arena, term->c);
    return copy;
}

static bool same_operand(const struct sp_phrase *a, const struct sp_phrase *b)
{
    return a && b ? sp_phrases_equal(a, b) : a == b;
}

bool sp_phrases_equal(const struct sp_phrase *a, const struct sp_phrase *b)
{
    if (a == b) return true;
    if (a->op != b->op || a->leaf != b->leaf) return false;
    if (a->number != b->number && !(isnan(a->number) && isnan(b->number))) return false;
    if ((a->text || b->text) && (!a->text || !b->text || strcmp(a->text, b->text) != 0)) return false;
    return same_operand(a->a, b->a) && same_operand(a->b, b->b) && same_operand(a->c, b->c);
}

void sp_phrase_leaves(const struct sp_phrase *term, void (*visit)(void *context, const struct sp_leaf *leaf),
                      void *context)
{
    if (!term) return;
    if (term->leaf) visit(context, term->leaf);
    if (term->leaf && term->leaf->meaning) sp_phrase_leaves(term->leaf->meaning, visit, context);
    sp_phrase_leaves(term->a, visit, context);
    sp_phrase_leaves(term->b, visit, context);
    sp_phrase_leaves(term->c, visit, context);
}
