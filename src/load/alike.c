/* SPDX-License-Identifier: MIT */
#include "load/alike.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"

/* ---- rules ---- */

/* A number in a word ("fc1") is no index; one after anything else may be. */
static bool rule_has_index(const char *expression)
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
        if (rule_has_index(rules[i].rule.from) || (rules[i].scope && rule_has_index(rules[i].scope))) return true;
    return false;
}

void sp_alike_init(struct sp_alike *alike, const struct sp_renaming_rules *rules)
{
    *alike = (struct sp_alike){.rules = rules, .last = SIZE_MAX};
    alike->ruled_out = have_index(rules->renamings.items, rules->renamings.count) ||
                       have_index(rules->conversions.items, rules->conversions.count);
}

void sp_alike_free(struct sp_alike *alike)
{
    sp_map_free(&alike->known);
    free(alike->kinds.items);
    sp_text_free(&alike->scratch);
}

/* ---- indices ---- */

static bool add_component_number(struct sp_name_numbers *numbers, const char *begin, size_t length)
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
static bool find_numbers(const char *name, struct sp_name_numbers *numbers)
{
    numbers->count = 0;
    for (const char *begin = name; begin; begin = strchr(begin, '.')) {
        begin += *begin == '.';
        const char *end = begin;
        while (sp_is_digit(*end)) end++;
        if (end > begin && (!*end || *end == '.') && !add_component_number(numbers, begin, (size_t)(end - begin)))
            return false;
    }
    return true;
}

/* The name with each number made of one digit, `from` the first, then so many more or less. */
static const char *with_digits(struct sp_text *text, const char *name, const struct sp_name_numbers *numbers, char from,
                               int step)
{
    text->length = 0;
    sp_text_puts(text, name);
    for (size_t i = 0; i < numbers->count; i++)
        memset(text->data + (numbers->items[i].begin - name), from + step * (int)numbers->items[i].first,
               numbers->items[i].length);
    return text->data;
}

/* ---- kinds ---- */

/* What a name of the kind becomes. */
static const char *with_numbers(struct sp_alike_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->digits.count; i++) {
        const char *digit = kind->digits.items[i].begin;
        const size_t which = (size_t)(*digit - '1'), length = kind->digits.items[i].length;
        if (which >= kind->numbers.count || length != kind->numbers.items[which].length) continue;
        const char *number = name + (kind->numbers.items[which].begin - kind->name);
        char *place = kind->result + (digit - kind->renamed.name);
        for (size_t k = 0; k < length; k++)
            if (place[k] != number[k]) {
                place[k] = number[k];
                kind->note = SIZE_MAX;
            }
    }
    return kind->result;
}

static bool has_pair(const struct sp_name_numbers *numbers)
{
    for (size_t i = 1; i < numbers->count; i++)
        for (size_t k = 0; k < i; k++)
            if (numbers->items[i].length == numbers->items[k].length) return true;
    return false;
}

/* Renames the one that stands for all, and tries on another one like it that the numbers are all that differs. */
static struct sp_alike_kind rename_kind(struct sp_alike *alike, const char *name)
{
    struct sp_arena *arena = alike->rules->arena;
    struct sp_alike_kind kind = {.name = name, .length = strlen(name), .next = SIZE_MAX, .note = SIZE_MAX};
    find_numbers(name, &kind.numbers);
    kind.front = (size_t)(kind.numbers.items[kind.numbers.count - 1].begin - name);
    kind.end = kind.front + kind.numbers.items[kind.numbers.count - 1].length;
    kind.last = sp_arena_string(arena, name);
    kind.paired = has_pair(&kind.numbers);
    kind.renamed = sp_rename(alike->rules, name);
    kind.same = kind.renamed.name == name;
    kind.result = sp_arena_string(arena, kind.renamed.name);
    find_numbers(kind.renamed.name, &kind.digits);
    for (size_t i = 0; i < kind.digits.count; i++)
        kind.follows_last |= *kind.digits.items[i].begin == (char)('0' + kind.numbers.count);
    const char *other = with_digits(&alike->scratch, name, &kind.numbers, '9', -1);
    const struct sp_renamed proof = sp_rename(alike->rules, other);
    kind.known = kind.renamed.conversion == proof.conversion && kind.renamed.expression == proof.expression &&
                 strcmp(with_numbers(&kind, other), proof.name) == 0;
    return kind;
}

/* Whether the same numbers of the name are equal as in the kind. */
static bool are_paired_alike(const struct sp_alike_kind *kind, const char *name)
{
    struct sp_name_numbers numbers = {.count = 0};
    for (size_t i = 0; i < kind->numbers.count; i++) {
        add_component_number(&numbers, name + (kind->numbers.items[i].begin - kind->name),
                             kind->numbers.items[i].length);
        if (numbers.items[i].first != kind->numbers.items[i].first) return false;
    }
    return true;
}

/* Whether the name is the one that was looked up last, but for the last number: the next expert, or the next layer. */
static bool is_next_of_kind(const struct sp_alike_kind *kind, const char *name)
{
    if (strlen(name) != kind->length || memcmp(name, kind->last, kind->front) != 0) return false;
    for (size_t i = kind->front; i < kind->end; i++)
        if (!sp_is_digit(name[i])) return false;
    if (memcmp(name + kind->end, kind->last + kind->end, kind->length - kind->end) != 0) return false;
    return !kind->paired || are_paired_alike(kind, name);
}

static size_t find_kind(struct sp_alike *alike, const char *name, const struct sp_name_numbers *numbers)
{
    const char *kind = with_digits(&alike->scratch, name, numbers, '1', 1);
    const size_t known = sp_map_get(&alike->known, kind);
    if (known != SIZE_MAX) return known;
    kind = sp_arena_string(alike->rules->arena, kind);
    sp_map_add(&alike->known, kind, alike->kinds.count);
    *SP_PUSH(&alike->kinds) = rename_kind(alike, kind);
    return alike->kinds.count - 1;
}

/* NULL when it has no number, or too many. Names come in the same order again and again, expert by expert: so the kind
 * that came next the last time is tried before any is looked up. */
static struct sp_alike_kind *kind_of_name(struct sp_alike *alike, const char *name)
{
    struct sp_alike_kind *kinds = alike->kinds.items;
    struct sp_name_numbers numbers;
    const size_t last = alike->last, likely = last == SIZE_MAX ? SIZE_MAX : kinds[last].next;
    if (likely != SIZE_MAX && is_next_of_kind(&kinds[likely], name)) {
        if (kinds[likely].follows_last) with_numbers(&kinds[likely], name);
        return &kinds[alike->last = likely];
    }
    if (!find_numbers(name, &numbers) || !numbers.count) return NULL;
    alike->last = find_kind(alike, name, &numbers);
    if (last != SIZE_MAX) alike->kinds.items[last].next = alike->last;
    struct sp_alike_kind *kind = &alike->kinds.items[alike->last];
    memcpy(kind->last, name, kind->length);
    with_numbers(kind, name);
    return kind;
}

struct sp_renamed sp_alike_rename(struct sp_alike *alike, const char *name, size_t **note)
{
    struct sp_alike_kind *kind = alike->ruled_out ? NULL : kind_of_name(alike, name);
    alike->unused = SIZE_MAX;
    if (note) *note = kind && !kind->same ? &kind->note : &alike->unused;
    if (!kind || !kind->known) return sp_rename(alike->rules, name);
    struct sp_renamed renamed = kind->renamed;
    renamed.name = kind->same ? name : kind->result;
    return renamed;
}
