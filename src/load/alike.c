/* SPDX-License-Identifier: MIT */
#include "load/alike.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"

/* ---- rules ---- */

/* A number in a word ("fc1") is no index; one after anything else may be. */
static bool has_index(const char *expression)
{
    bool in_word = false;
    for (const char *c = expression; *c; c++) {
        if (*c == '\\' && c[1]) {
            in_word = false;
            c++;
            continue;
        }
        if (sp_is_digit(*c) && !in_word) return true;
        in_word = sp_is_word(*c);
    }
    return false;
}

static bool have_index(const struct sp_scoped_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_index(rules[i].rule->from) || (rules[i].scope && has_index(rules[i].scope))) return true;
    return false;
}

void sp_alike_init(struct sp_alike *alike, const struct sp_renaming_rules *rules)
{
    *alike = (struct sp_alike){.rules = rules};
    alike->ruled_out =
        have_index(rules->renamings, rules->renaming_count) || have_index(rules->conversions, rules->conversion_count);
}

void sp_alike_free(struct sp_alike *alike)
{
    sp_map_free(&alike->known);
    free(alike->kinds.items);
    sp_text_free(&alike->scratch);
    sp_text_free(&alike->result);
}

/* ---- indices ---- */

static bool add_number(struct sp_numbers *numbers, const char *begin, size_t length)
{
    size_t first = 0;
    if (numbers->count == SP_ALIKE_INDICES) return false;
    while (first < numbers->count &&
           !(numbers->items[first].length == length && memcmp(numbers->items[first].begin, begin, length) == 0))
        first++;
    numbers->items[numbers->count].begin = begin;
    numbers->items[numbers->count].length = length;
    numbers->items[numbers->count++].first = first;
    return true;
}

/* False when there are too many. */
static bool find_numbers(const char *name, struct sp_numbers *numbers)
{
    numbers->count = 0;
    for (const char *begin = name; begin; begin = strchr(begin, '.')) {
        begin += *begin == '.';
        const char *end = begin;
        while (sp_is_digit(*end)) end++;
        if (end > begin && (!*end || *end == '.') && !add_number(numbers, begin, (size_t)(end - begin))) return false;
    }
    return true;
}

/* The name with each number made of one digit, `from` the first, then so many more or less. */
static const char *with_digits(struct sp_text *text, const char *name, const struct sp_numbers *numbers, char from,
                               int step)
{
    text->length = 0;
    sp_text_puts(text, name);
    for (size_t i = 0; i < numbers->count; i++)
        memset(text->data + (numbers->items[i].begin - name), from + step * (int)numbers->items[i].first,
               numbers->items[i].length);
    return text->data;
}

/* The name that is like `kind`, a result, with these numbers in place of its digits. */
static const char *with_numbers(struct sp_text *text, const char *kind, const struct sp_numbers *digits,
                                const struct sp_numbers *numbers)
{
    text->length = 0;
    sp_text_puts(text, kind);
    for (size_t i = 0; i < digits->count; i++) {
        const size_t which = (size_t)(*digits->items[i].begin - '1');
        if (which < numbers->count && digits->items[i].length == numbers->items[which].length)
            memcpy(text->data + (digits->items[i].begin - kind), numbers->items[which].begin, digits->items[i].length);
    }
    return text->data;
}

/* ---- names ---- */

/* Renames the one that stands for all, and tries on another one like it that the numbers are all that differs. */
static struct sp_alike_kind rename_kind(struct sp_alike *alike, const char *kind)
{
    struct sp_arena *arena = alike->rules->arena;
    struct sp_numbers numbers, digits;
    find_numbers(kind, &numbers);
    const struct sp_renamed renamed = sp_rename(alike->rules, kind);
    const char *other = sp_arena_string(arena, with_digits(&alike->scratch, kind, &numbers, '9', -1));
    const struct sp_renamed proof = sp_rename(alike->rules, other);
    find_numbers(other, &numbers);
    find_numbers(renamed.name, &digits);
    if (renamed.conversion != proof.conversion || renamed.expression != proof.expression ||
        strcmp(with_numbers(&alike->result, renamed.name, &digits, &numbers), proof.name) != 0)
        return (struct sp_alike_kind){.same = false};
    return (struct sp_alike_kind){renamed, renamed.name == kind, digits};
}

static const struct sp_alike_kind *kind_of(struct sp_alike *alike, const char *name, const struct sp_numbers *numbers)
{
    const char *kind = with_digits(&alike->scratch, name, numbers, '1', 1);
    const size_t known = sp_map_get(&alike->known, kind);
    if (known != SIZE_MAX) return &alike->kinds.items[known];
    kind = sp_arena_string(alike->rules->arena, kind);
    sp_map_add(&alike->known, kind, alike->kinds.count);
    *SP_PUSH(&alike->kinds) = rename_kind(alike, kind);
    return &alike->kinds.items[alike->kinds.count - 1];
}

struct sp_renamed sp_alike_rename(struct sp_alike *alike, const char *name)
{
    struct sp_numbers numbers;
    if (alike->ruled_out || !find_numbers(name, &numbers) || !numbers.count) return sp_rename(alike->rules, name);
    const struct sp_alike_kind *kind = kind_of(alike, name, &numbers);
    struct sp_renamed renamed = kind->renamed;
    if (!renamed.name) return sp_rename(alike->rules, name);
    renamed.name = kind->same ? name : with_numbers(&alike->result, renamed.name, &kind->digits, &numbers);
    return renamed;
}
