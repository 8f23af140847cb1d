/* SPDX-License-Identifier: MIT
 * Values of keys, one key after the other, as long as nothing contradicts. */
#include <stdlib.h>

#include "infer/limits.h"
#include "infer/numbers/modules.h"
#include "lang/functions.h"

enum sp_answer sp_choice_tell(struct sp_known *known, const struct sp_choice *choice)
{
    const char *bracket = strrchr(choice->key, '[');
    struct sp_want want = choice->want;
    if (!sp_is_item_key(choice->key) || want.kind != SP_WANT_VALUE) return sp_known_tell(known, choice->key, &want);
    want.kind = SP_WANT_ITEM;
    want.index = strtoul(bracket + 1, NULL, 10);
    return sp_known_tell(known, sp_arena_copy(known->arena, choice->key, (size_t)(bracket - choice->key)), &want);
}

/* Whether all choices up to that one are those of the first solution. */
static bool is_in_solution(const struct sp_modules *modules, size_t last)
{
    for (size_t i = 0; i <= last; i++) {
        const struct sp_choice *own = &modules->choices[i], *first = &modules->solution[i];
        if (i >= modules->depth || strcmp(own->key, first->key) != 0 || own->want.kind != first->want.kind ||
            !sp_values_equal(own->want.value, first->want.value))
            return false;
    }
    return true;
}

/* Whether another solution that begins as it has begun could tell nothing new. */
static bool is_idle(const struct sp_modules *modules)
{
    const bool is_enough = modules->deduction->by_stages || !modules->common;
    return modules->is_solved && (is_enough || is_in_solution(modules, modules->common - 1));
}

/* Searches on with that value, and undoes it. Whether it led to anything: to a tensor, or to another key. */
static bool try_choice(struct sp_modules *modules, size_t from, const char *key, struct sp_want want)
{
    struct sp_known *known = &modules->deduction->solver->known;
    const size_t before = modules->steps;
    if (is_idle(modules) || !*modules->left) return false;
    const struct sp_mark mark = sp_known_mark(known);
    --*modules->left;
    modules->choices[modules->depth] = (struct sp_choice){key, want};
    if (sp_choice_tell(known, &modules->choices[modules->depth]) == SP_HOLDS) {
        modules->depth++;
        sp_modules_search(modules, from);
        modules->depth--;
    }
    sp_known_undo(known, &mark);
    return modules->steps != before;
}

/* Tries the key as a list of each length, and as each number: whichever of the two leads to anything with 1 is the type
 * of the key. 0 is not tried for the item of a list, which would not be in it. */
static void try_counts(struct sp_modules *modules, size_t from, const char *key, bool of_list)
{
    const int64_t most = modules->most < SP_LARGEST_SMALL_NUMBER ? (int64_t)modules->most + 1 : SP_LARGEST_SMALL_NUMBER;
    bool is_list = true, is_number = true;
    for (int64_t i = 1; i <= most && is_list; i++) {
        const bool leads = try_choice(modules, from, key, (struct sp_want){SP_WANT_LENGTH, .value = sp_value_int(i)});
        if (i > 1) continue;
        const bool counts = try_choice(modules, from, key, sp_want_value(sp_value_int(1)));
        is_list = leads || !counts;
        is_number = counts || !leads;
    }
    for (int64_t i = 2; i <= most && is_number; i++) try_choice(modules, from, key, sp_want_value(sp_value_int(i)));
    if (!of_list) try_choice(modules, from, key, sp_want_value(sp_value_int(0)));
}

/* Tries counts, flags, texts of the table and, if nothing solved the list, "not set". */
static void try_choices(struct sp_modules *modules, size_t from, const char *key)
{
    const bool of_list = sp_is_item_key(key);
    struct sp_literals texts = {0};
    if (!sp_is_class_key(key)) try_counts(modules, from, key, of_list);
    for (int i = 0; i < 2; i++) try_choice(modules, from, key, sp_want_value(sp_value_bool(i == 0)));
    sp_literals_about(&texts, modules->deduction->solver->table, key);
    for (size_t i = 0; i < texts.count; i++)
        try_choice(modules, from, key, sp_want_value(sp_value_string(texts.list[i])));
    sp_literals_free(&texts);
    if (!modules->is_solved && !of_list)
        try_choice(modules, from, key,
                   sp_want_value((struct shapeproof_value){.type = SHAPEPROOF_VALUE_ABSENT, .string = key}));
}

void sp_modules_search(struct sp_modules *modules, size_t from)
{
    const enum sp_answer answer = sp_modules_pass(modules, &from);
    const char *last = modules->depth ? modules->choices[modules->depth - 1].key : ""; /* lacked in vain */
    if (answer == SP_OPEN && modules->depth < SP_MOST_CHOICES && strcmp(last, modules->lacks) != 0) {
        modules->steps++;
        try_choices(modules, from, modules->lacks);
    }
    if (answer != SP_HOLDS || !sp_modules_are_whole(modules)) return;
    if (modules->is_solved) {
        while (modules->common && !is_in_solution(modules, modules->common - 1)) modules->common--;
        return;
    }
    modules->is_solved = true;
    modules->common = modules->solution_depth = modules->depth;
    memcpy(modules->solution, modules->choices, sizeof modules->choices);
}
