/* SPDX-License-Identifier: MIT
 * Items of lists, and the built-in functions. */
#include "prove/symbolic/operations.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "lang/functions.h"
#include "prove/symbolic/atoms.h"

/* ---- lists ---- */

static const struct sp_atom_properties nothing_known = {0};
/* The properties of an item of a hyper-parameter that is a list: as those of a hyper-parameter. */
static const struct sp_atom_properties given_item = {
    .is_whole = true, .is_bounded = true, .is_given = true, .least = 1};

/* Finds a number below which a number never is: of 7 it is 7, of 0.25 it is 0, of E it is 1. False where none is seen.
 */
static bool find_least(struct sp_symbolic *symbolic, struct sp_sym number, int64_t *least)
{
    enum { FARTHEST = 1 << 30 };
    struct shapeproof_value value;
    if (!sp_sym_literal(number, &value)) {
        *least = sp_poly_is_at_least(symbolic, number.poly, 1);
        return sp_poly_never_negative(symbolic, number.poly);
    }
    const double known = sp_value_as_real(value);
    *least = (int64_t)floor(fmax(-FARTHEST, fmin(known, FARTHEST)));
    return known >= -FARTHEST;
}

/* The properties that all these numbers have, and so any one of them: of 3, 1 and 2 that it is whole and at least 1; of
 * E and E - 9 that it is whole; of 0.25 and E that it is at least 0. None if one is no number. */
static struct sp_atom_properties any_of(struct sp_symbolic *symbolic, const struct sp_sym *items, size_t count)
{
    struct sp_atom_properties fact = {.is_whole = true, .is_bounded = true, .least = INT64_MAX};
    for (size_t i = 0; i < count; i++) {
        struct shapeproof_value value;
        int64_t least = 0;
        const bool is_known = sp_sym_literal(items[i], &value);
        if (is_known ? !sp_value_is_number(value) : items[i].kind != SP_SYM_NUMBER) return nothing_known;
        fact.is_given = fact.is_given || !is_known;
        fact.is_whole = fact.is_whole && items[i].kind == SP_SYM_NUMBER && sp_poly_is_whole(symbolic, items[i].poly);
        fact.is_bounded = fact.is_bounded && find_least(symbolic, items[i], &least);
        if (least < fact.least) fact.least = least;
    }
    if (!count) return nothing_known;
    if (!fact.is_bounded) fact.least = 0;
    return fact;
}

/* ---- what an item may be ---- */

enum { MAX_VALUES = 4096 };

/* The values of which a number, or a list, is one. */
struct values {
    struct sp_sym *items; /* heap */
    size_t count, capacity;
};

/* Adds the item of a list at the place, or each for a place below 0, which is not known. Of what is no list, or has no
 * such item, nothing: that is a mistake wherever it is the value. */
static void add_items(struct sp_symbolic *symbolic, struct sp_sym list, int64_t place, struct values *values)
{
    const bool is_known = list.kind == SP_SYM_VALUE && list.value.type == SHAPEPROOF_VALUE_LIST;
    const size_t count = is_known ? list.value.count : list.kind == SP_SYM_OPAQUE ? list.count : 0;
    for (size_t i = 0; i < count && values->count <= MAX_VALUES; i++)
        if (place < 0 || (uint64_t)place == i)
            *SP_PUSH(values) = is_known ? sp_sym_of_value(symbolic, list.value.items[i]) : list.items[i];
}

static bool find_items(struct sp_symbolic *symbolic, const struct sp_sym *args, struct values *values);

/* Adds all lists that a value may be: itself where its items are known, else rows of tables, or items of these. Of
 * row(a, [["x", 4, [0]], ["y", 2, [3]]]) it adds both rows, of the item 2 of it [0] and [3]. False for a list that
 * comes about in another way, or is one of too many. */
static bool find_lists(struct sp_symbolic *symbolic, struct sp_sym list, struct values *lists)
{
    const size_t atom = list.kind == SP_SYM_NUMBER ? sp_atom_alone(list.poly) : SIZE_MAX;
    const struct sp_origin *origin = atom == SIZE_MAX ? NULL : sp_atom_info(symbolic, atom)->origin;
    if (list.kind == SP_SYM_VALUE || list.items) {
        *SP_PUSH(lists) = list;
        return true;
    }
    if (!origin) return false;
    if (origin->operation.kind == SP_DO_INDEX) return find_items(symbolic, origin->args, lists);
    if (origin->operation.kind != SP_DO_CALL || strcmp(origin->operation.function->name, "row") != 0) return false;
    for (size_t i = 1; i < origin->count; i++) {
        if (sp_sym_is_numeric(origin->args[i])) return false;
        add_items(symbolic, origin->args[i], -1, lists);
    }
    return lists->count <= MAX_VALUES;
}

/* Adds all that args[0][args[1]] may be. False as above. */
static bool find_items(struct sp_symbolic *symbolic, const struct sp_sym *args, struct values *values)
{
    struct values lists = {0};
    struct shapeproof_value place;
    const bool is_known = sp_sym_literal(args[1], &place) && place.type == SHAPEPROOF_VALUE_INT;
    const bool found = find_lists(symbolic, args[0], &lists);
    for (size_t i = 0; found && i < lists.count; i++)
        add_items(symbolic, lists.items[i], is_known ? place.integer : -1, values);
    sp_free(lists.items);
    return found && values->count <= MAX_VALUES;
}

/* Whether a number is a hyper-parameter, or is taken from one: a member, an item, one of two keys, a function of it. */
static bool is_from_key(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    const size_t atom = sp_atom_alone(sym.poly);
    const struct sp_origin *origin = atom == SIZE_MAX ? NULL : sp_atom_info(symbolic, atom)->origin;
    if (atom == SIZE_MAX || !origin) return atom != SIZE_MAX;
    const enum sp_operation_kind kind = origin->operation.kind;
    return kind == SP_DO_MEMBER || kind == SP_DO_INDEX || kind == SP_DO_DEFAULT || kind == SP_DO_CHOICE ||
           kind == SP_DO_CALL;
}

/* The properties of the item args[0][args[1]]; of a number, as at(x, i) has it, those of the number. */
static struct sp_atom_properties item_of(struct sp_symbolic *symbolic, const struct sp_sym *args)
{
    struct values values = {0};
    struct sp_atom_properties fact = nothing_known;
    if (find_items(symbolic, args, &values)) fact = any_of(symbolic, values.items, values.count);
    else if (args[0].kind == SP_SYM_NUMBER)
        fact = is_from_key(symbolic, args[0]) ? given_item : any_of(symbolic, args, 1);
    sp_free(values.items);
    return fact;
}

/* An item outside its list, which has no value. The table may still be right, as for c ? 7 : W[4] with a W of four
 * items: where c is false the condition is never evaluated, so that the atom of the item must vanish from the formula
 * in the end, multiplied by 0 (premises.voids). */
static struct sp_sym void_item(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                               const struct sp_sym *args)
{
    const struct sp_sym item =
        sp_atom_computed(symbolic, operation, args, 2, (struct sp_atom_properties){.is_condition = false},
                         sp_arena_printf(&symbolic->algebra.arena, "%s[%s]", sp_sym_words(symbolic, args[0]),
                                         sp_sym_words(symbolic, args[1])));
    const size_t atom = sp_atom_alone(item.poly);
    if (atom != SIZE_MAX) sp_atom_info(symbolic, atom)->is_void = true;
    return item;
}

/* list[index], where the list is a known value, stands in brackets, or is a hyper-parameter, which is a number as far
 * as one can see:
 *
 *     [][i]            absent
 *     [4, 5][1]        5
 *     [4, 5][2]        a mistake; or, with premises.voids, void_item
 *     [4, 5][i]        an atom with the properties that all items have: whole, from 4 up
 *     depths[i]        an atom; the symbol `depths` is noted to be a list */
bool sp_sym_item(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                 struct sp_sym *out)
{
    const struct sp_sym list = args[0];
    const bool is_value = list.kind == SP_SYM_VALUE && list.value.type == SHAPEPROOF_VALUE_LIST;
    const size_t count = is_value ? list.value.count : list.count;
    struct shapeproof_value place;
    if (!is_value && !list.items && list.kind != SP_SYM_NUMBER)
        return sp_sym_fail(symbolic, operation->span, "expected a list, found %s", sp_sym_kind(list));
    if (is_value && count == 0) {
        *out = (struct sp_sym){.kind = SP_SYM_VALUE, .value = sp_value_absent("an item of an empty list")};
        return true;
    }
    if ((is_value || list.items) && sp_sym_literal(args[1], &place)) {
        if (place.type != SHAPEPROOF_VALUE_INT)
            return sp_sym_fail(symbolic, operation->span, "an index is an integer, not %s", sp_value_kind(place.type));
        const bool is_void = place.integer < 0 || (uint64_t)place.integer >= count;
        if (is_void && symbolic->premises.voids) {
            *out = void_item(symbolic, operation, args);
            return true;
        }
        if (is_void)
            return sp_sym_fail(symbolic, operation->span, "there is no item %" PRId64 " in a list of %zu",
                               place.integer, count);
        *out = is_value ? sp_sym_of_value(symbolic, list.value.items[place.integer]) : list.items[place.integer];
        return true;
    }
    const struct sp_atom_properties fact = item_of(symbolic, args);
    sp_sym_mark_list(symbolic, list);
    *out =
        sp_atom_computed(symbolic, operation, args, 2, fact,
                         sp_arena_printf(&symbolic->algebra.arena, "%s[%s]",
                                         list.kind == SP_SYM_NUMBER ? sp_sym_operand(symbolic, list, SP_OPERAND_CLOSED)
                                                                    : sp_sym_words(symbolic, list),
                                         sp_sym_words(symbolic, args[1])));
    return true;
}

/* ---- functions ---- */

static bool is_named_function(const struct sp_operation *operation, const char *name)
{
    return strcmp(operation->function->name, name) == 0;
}

/* Whether a <= b may be assumed, because a loop would go backwards otherwise; it is noted then. */
static bool is_assumed(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    if (!symbolic->premises.assumes) return false;
    const size_t atom = sp_atom_alone(sp_sym_less(symbolic, b, a));
    return atom != SIZE_MAX && sp_atom_info(symbolic, atom)->range && sp_atom_assume(symbolic, atom);
}

/* Whether a <= b is seen, or may be assumed. */
static bool is_at_most(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    return sp_poly_never_negative(symbolic, sp_poly_sub(&symbolic->algebra, b, a)) || is_assumed(symbolic, a, b);
}

static int compare_words(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* "min(a, b)", with the arguments in the order of their texts, so that min(b, a) is the same atom. */
static const char *extreme_text(struct sp_symbolic *symbolic, const char *name, const struct sp_sym *args, size_t count)
{
    const char **words = sp_arena_array(&symbolic->algebra.arena, count, sizeof *words);
    struct sp_text text = {0};
    for (size_t i = 0; i < count; i++) words[i] = sp_sym_words(symbolic, args[i]);
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) sp_text_printf(&text, "%s%s", i ? ", " : "", words[i]);
    const char *kept = sp_arena_printf(&symbolic->algebra.arena, "%s(%s)", name, text.data);
    sp_text_free(&text);
    return kept;
}

/* What is known of the smallest, or the largest, of numbers: whether it is whole, and from 0 or from 1 up. The smallest
 * is so if all are, the largest if one is. */
static struct sp_atom_properties extreme_fact(struct sp_symbolic *symbolic, const struct sp_sym *args, size_t count,
                                              bool largest)
{
    struct sp_atom_properties fact = {.is_whole = true, .is_bounded = !largest, .least = 1};
    bool any_from_0 = false, any_from_1 = false;
    for (size_t i = 0; i < count; i++) {
        const bool good = sp_poly_never_negative(symbolic, args[i].poly);
        const bool above = good && sp_poly_is_at_least(symbolic, args[i].poly, 1);
        fact.is_whole = fact.is_whole && sp_poly_is_whole(symbolic, args[i].poly);
        fact.is_bounded = largest ? fact.is_bounded : fact.is_bounded && good;
        any_from_0 = any_from_0 || good;
        any_from_1 = any_from_1 || above;
        if (!above) fact.least = 0;
    }
    if (largest)
        fact = (struct sp_atom_properties){
            .is_whole = fact.is_whole, .is_bounded = any_from_0, .least = any_from_1 ? 1 : 0};
    if (!fact.is_whole) fact.least = 0;
    return fact;
}

/* Whether `a` is never the smallest (or largest) beside `b`, or is so only where they are equal. */
static bool is_beaten(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b, bool largest)
{
    return largest ? is_at_most(symbolic, a, b) : is_at_most(symbolic, b, a);
}

/* min or max of numbers, without those that another one always beats: min(4*E, 8*E, F) is min(4*E, F). The one that is
 * left is the result; several become an atom. */
static bool symbolic_extreme(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                             const struct sp_sym *args, size_t count, struct sp_sym *out)
{
    const bool largest = is_named_function(operation, "max");
    struct sp_sym *left = sp_arena_array(&symbolic->algebra.arena, count, sizeof *left);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sp_poly *poly;
        bool beaten = false;
        if (!sp_sym_as_number(symbolic, operation->span, args[i], &poly)) return false;
        for (size_t k = 0; k < kept && !beaten; k++) beaten = is_beaten(symbolic, poly, left[k].poly, largest);
        for (size_t k = 0; k < kept && !beaten;) {
            if (is_beaten(symbolic, left[k].poly, poly, largest)) left[k] = left[--kept];
            else k++;
        }
        if (!beaten) left[kept++] = sp_sym_of_poly(poly);
    }
    if (kept == 1) *out = left[0];
    else
        *out = sp_atom_computed(symbolic, operation, left, kept, extreme_fact(symbolic, left, kept, largest),
                                extreme_text(symbolic, operation->function->name, left, kept));
    return true;
}

/* The sum of a list in brackets; NULL, after a message, when an item is no number. */
static const struct sp_poly *sum_of_items(struct sp_symbolic *symbolic, const struct sp_sym *items, size_t count)
{
    const struct sp_poly *sum = sp_poly_int(&symbolic->algebra, 0);
    for (size_t i = 0; i < count; i++) {
        const struct sp_poly *item;
        if (!sp_sym_as_number(symbolic, (struct sp_span){0}, items[i], &item)) return NULL;
        sum = sp_poly_add(&symbolic->algebra, sum, item);
    }
    return sum;
}

const struct sp_poly *sp_sym_least_of(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    const struct sp_operation operation = {.kind = SP_DO_CALL, .function = sp_function_find("min")};
    const struct sp_sym args[] = {sp_sym_of_poly(a), sp_sym_of_poly(b)};
    struct sp_sym least = args[0];
    symbolic_extreme(symbolic, &operation, args, 2, &least);
    return least.poly;
}

/* Whether what the function gives may be a text, a list, or whatever is there. */
static bool gives_anything(const struct sp_operation *operation)
{
    static const char *const names[] = {"member", "row", "after", "until", "skip", "stray"};
    return SP_IS_AMONG(operation->function->name, names);
}

static bool takes_text(const struct sp_operation *operation)
{
    static const char *const names[] = {"starts_with", "ends_with", "release", "row",
                                        "after",       "until",     "skip",    "number_after"};
    return SP_IS_AMONG(operation->function->name, names);
}

static bool counts_items(const struct sp_operation *operation)
{
    static const char *const names[] = {"len", "sum", "count", "find"};
    return SP_IS_AMONG(operation->function->name, names);
}

/* What is known of the result of a function without its value:
 *
 *     member, row, after, ...         nothing
 *     near_multiple                   whole, from 1 up
 *     number_after(text, mark, n)     as n
 *     starts_with, ends_with          a condition
 *     at(list, i)                     as an item of the list
 *     len, sum, count, find, release  whole, from 0 up
 *     ceil_div, round_up              whole; from 1 up if their argument is, else as below
 *     int, round and all others       whole; from 0 up if their argument is */
static struct sp_atom_properties call_fact(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                                           const struct sp_sym *args)
{
    const bool is_number = args[0].kind == SP_SYM_NUMBER;
    if (gives_anything(operation)) return nothing_known;
    if (is_named_function(operation, "near_multiple"))
        return (struct sp_atom_properties){.is_whole = true, .is_bounded = true, .least = 1};
    if (is_named_function(operation, "number_after")) {
        const bool whole = args[2].kind == SP_SYM_NUMBER && sp_poly_is_whole(symbolic, args[2].poly);
        return (struct sp_atom_properties){.is_whole = whole,
                                           .is_bounded = whole && sp_poly_never_negative(symbolic, args[2].poly)};
    }
    struct sp_atom_properties fact = {.is_condition = is_named_function(operation, "starts_with") ||
                                                      is_named_function(operation, "ends_with")};
    fact.is_whole = true;
    if (is_named_function(operation, "at")) return item_of(symbolic, args);
    if (counts_items(operation) || is_named_function(operation, "release")) fact.is_bounded = true;
    else if (is_number) fact.is_bounded = sp_poly_never_negative(symbolic, args[0].poly);
    const bool rounds_up = is_named_function(operation, "ceil_div") || is_named_function(operation, "round_up");
    if (is_number && rounds_up && fact.is_bounded && sp_poly_is_whole(symbolic, args[0].poly) &&
        sp_poly_is_at_least(symbolic, args[0].poly, 1))
        fact.least = 1;
    return fact;
}

/* The call as an atom, "len(depths)", with what is known of its value. */
static struct sp_sym unknown_call(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                                  const struct sp_sym *args, size_t count)
{
    const struct sp_atom_properties fact = call_fact(symbolic, operation, args);
    struct sp_text text = {0};
    if (takes_text(operation)) sp_sym_mark_text(symbolic, args[0]);
    sp_text_printf(&text, "%s%s(", fact.is_condition ? "[" : "", operation->function->name);
    for (size_t i = 0; i < count; i++) sp_text_printf(&text, "%s%s", i ? ", " : "", sp_sym_words(symbolic, args[i]));
    sp_text_puts(&text, fact.is_condition ? ")]" : ")");
    const char *atom = sp_text_keep(&text, &symbolic->algebra.arena);
    return sp_atom_computed(symbolic, operation, args, count, fact, atom);
}

/* The result of a call where it is seen although not all arguments are known:
 *
 *     min(a, b), max([a, b])     symbolic_extreme
 *     sum([a, b])                a + b
 *     int(n), round(n)           n, if it is whole
 *     ceil_div(n, 1)             n, if it is whole and never negative
 *     at([a, b], 1)              b
 *     at(n, 1)                   n, where both sides of a pair are equal
 *     len([a, b])                2
 *
 * False for any other call, and after a mistake, which was reported. */
static bool call_known(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                       size_t count, struct sp_sym *out)
{
    const bool is_extreme = is_named_function(operation, "min") || is_named_function(operation, "max");
    const struct sp_sym first = args[0];
    const bool is_list = first.kind == SP_SYM_OPAQUE && first.items;
    if (is_extreme && count > 1) return symbolic_extreme(symbolic, operation, args, count, out);
    if (is_extreme && is_list && first.count)
        return symbolic_extreme(symbolic, operation, first.items, first.count, out);
    if (is_named_function(operation, "sum") && is_list && count == 1) {
        const struct sp_poly *sum = sum_of_items(symbolic, first.items, first.count);
        if (sum) *out = sp_sym_of_poly(sum);
        return sum != NULL;
    }
    *out = first;
    if (is_named_function(operation, "int") || is_named_function(operation, "round"))
        return first.kind == SP_SYM_NUMBER && sp_poly_is_whole(symbolic, first.poly);
    struct shapeproof_value divisor;
    if (is_named_function(operation, "ceil_div") && sp_sym_literal(args[1], &divisor))
        return divisor.type == SHAPEPROOF_VALUE_INT && divisor.integer == 1 && first.kind == SP_SYM_NUMBER &&
               sp_poly_is_whole(symbolic, first.poly) && sp_poly_never_negative(symbolic, first.poly);
    if (is_named_function(operation, "at") && is_list) return sp_sym_item(symbolic, operation, args, out);
    if (is_named_function(operation, "at") && symbolic->fixed.scalars && first.kind == SP_SYM_NUMBER) return true;
    if (is_named_function(operation, "len") && is_list) {
        *out = sp_sym_of_poly(sp_poly_int(&symbolic->algebra, (int64_t)first.count));
        return true;
    }
    return false;
}

static bool takes_list(const struct sp_operation *operation)
{
    return counts_items(operation) || is_named_function(operation, "min") || is_named_function(operation, "max");
}

/* Notes where ceil_div(n, k) and round_up(n, k) have no value: where n is negative, and where k is 0. */
static void note_gaps(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                      size_t count)
{
    if (symbolic->is_counting || count != 2) return;
    if (!is_named_function(operation, "ceil_div") && !is_named_function(operation, "round_up")) return;
    for (size_t i = 0; i < count; i++)
        if (args[i].kind == SP_SYM_NUMBER)
            sp_sym_note_gap(symbolic, args[i].poly, i ? 0 : -1, operation->function->name);
}

/* Computes a function of the table language: as a prediction does where all arguments are known, else as call_known
 * sees it, else as an atom, of which the first argument is noted to be a list or a text where the function takes one.
 */
bool sp_sym_call(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                 size_t count, struct sp_sym *out)
{
    struct shapeproof_value *values = sp_arena_array(&symbolic->algebra.arena, count, sizeof *values), result;
    const char *problem = NULL;
    bool known = true, are_numbers = count > 1;
    for (size_t i = 0; i < count; i++) {
        known = sp_sym_literal(args[i], &values[i]) && known;
        are_numbers = are_numbers && args[i].kind == SP_SYM_NUMBER;
    }
    /* exactly: as literals, fractions would be rounded */
    if (are_numbers && (is_named_function(operation, "min") || is_named_function(operation, "max")))
        return symbolic_extreme(symbolic, operation, args, count, out);
    result = values[0];
    if (known && !sp_sym_spend(symbolic, operation->span,
                               sp_size_saturated(sp_function_cost(operation->function, values, count))))
        return false;
    if (known && sp_function_apply(operation->function, &symbolic->algebra.arena, values, count, &result, &problem)) {
        *out = sp_sym_of_value(symbolic, result);
        return true;
    }
    if (known) return sp_sym_fail(symbolic, operation->span, "%s: %s", operation->function->name, problem);
    const size_t mistakes_before = symbolic->report.mistakes;
    note_gaps(symbolic, operation, args, count);
    if (call_known(symbolic, operation, args, count, out)) return true;
    if (symbolic->report.mistakes > mistakes_before) return false;
    if (takes_list(operation)) sp_sym_mark_list(symbolic, args[0]);
    if (is_named_function(operation, "member")) sp_sym_mark_text(symbolic, args[0]);
    *out = unknown_call(symbolic, operation, args, count);
    if (is_named_function(operation, "at")) sp_atom_side(symbolic, args, *out);
    return true;
}

/* ---- members, and what stands in the place of one that is not there ---- */

bool sp_sym_member_of(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                      struct sp_sym *out)
{
    const struct sp_sym object = args[0];
    if (object.kind == SP_SYM_VALUE && object.value.type == SHAPEPROOF_VALUE_OBJECT) {
        *out = sp_sym_of_value(symbolic, sp_value_member(object.value, operation->name));
        return true;
    }
    if (object.kind != SP_SYM_NUMBER || sp_atom_alone(object.poly) == SIZE_MAX)
        return sp_sym_fail(symbolic, operation->span, "expected an object, found %s", sp_sym_kind(object));
    /* Of an item of a list it is given as the item is; else it may not be there. */
    const bool is_item = sp_sym_depends(symbolic, object) != 0;
    const struct sp_atom_properties fact = {
        .is_whole = is_item, .is_bounded = is_item, .is_given = is_item, .least = is_item};
    *out = sp_atom_computed(
        symbolic, operation, args, 1, fact,
        sp_arena_printf(&symbolic->algebra.arena, "%s.%s", sp_sym_words(symbolic, object), operation->name));
    return true;
}

/* Looks among all atoms on which it depends for a member of an object, or the place of an item (find). */
bool sp_sym_may_be_unset(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    bool found = false;
    if (!sp_sym_is_numeric(sym)) return false;
    char *seen = sp_realloc(NULL, symbolic->algebra.atom_count, 1);
    memset(seen, 0, symbolic->algebra.atom_count);
    sp_poly_reach(symbolic, sym.poly, seen);
    for (size_t i = 0; i < symbolic->algebra.atom_count && !found; i++) {
        const struct sp_origin *origin = seen[i] ? sp_atom_info(symbolic, i)->origin : NULL;
        found = origin && (origin->operation.kind == SP_DO_MEMBER ||
                           (origin->operation.kind == SP_DO_CALL && (is_named_function(&origin->operation, "member") ||
                                                                     is_named_function(&origin->operation, "find"))));
    }
    sp_free(seen);
    return found;
}

/* a default b: `a` if it is set, or b if it is not; where that is not known an atom, or a condition of its own. */
bool sp_sym_default(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                    struct sp_sym *out)
{
    *out = sp_sym_is_set(args[0]) ? args[0] : args[1];
    if (!sp_sym_is_set(args[0]) || !sp_sym_may_be_unset(symbolic, args[0])) return true;
    const bool is_condition = args[0].kind == SP_SYM_CONDITION && args[1].kind == SP_SYM_CONDITION;
    *out =
        sp_atom_computed(symbolic, operation, args, 2, (struct sp_atom_properties){.is_condition = is_condition},
                         sp_arena_printf(&symbolic->algebra.arena, is_condition ? "[%s default %s]" : "(%s default %s)",
                                         sp_sym_words(symbolic, args[0]), sp_sym_words(symbolic, args[1])));
    return true;
}
