/* SPDX-License-Identifier: MIT
 * A pattern is run as it is read. What is kept is the set of places in the name that can be reached, so that nothing is
 * tried twice and nothing goes back, whatever the pattern. */
#include "names/name_pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/chars.h"
#include "names/expression.h"

enum { MAX_DIGITS = 18 /* what surely fits in 64 bits */ };

enum { FEW = 256 /* bytes: the sets of places in most names are that long at most, and need no heap */ };

static const char wildcards[] = "*?[{\\"; /* what does not stand for itself begins with one of these */

enum dialect { NAMES, MODULES };

/* ---- sets of places ---- */

/* A byte for each place in a name, its end included; none is set outside [low, high]. */
struct places {
    unsigned char *reached;
    size_t low, high;
    bool any;
};

struct machine {
    enum dialect dialect;
    const char *pattern, *end; /* what is left of it */
    const char *name;
    size_t length;
    size_t *budget;     /* NULL: the steps of the call */
    struct places next; /* of the step that is being made */
};

static void reach_state(struct places *places, size_t place)
{
    if (!places->any || place < places->low) places->low = place;
    if (!places->any || place > places->high) places->high = place;
    places->any = true;
    places->reached[place] = 1;
}

static void leave_all(struct places *places)
{
    if (places->any) memset(places->reached + places->low, 0, places->high - places->low + 1);
    places->any = false;
}

/* None, in the FEW bytes at `room` or on the heap. */
static struct places new_places(const struct machine *m, unsigned char *room)
{
    struct places places = {.reached = m->length < FEW ? room : sp_realloc(NULL, m->length + 1, 1)};
    memset(places.reached, 0, m->length + 1);
    return places;
}

/* False when nothing is left. */
static bool spend_budget(const struct machine *m, uint64_t work)
{
    if (!m->budget) sp_budget_spend(work);
    else *m->budget -= work < *m->budget ? (size_t)work : *m->budget;
    return !m->budget || *m->budget;
}

/* What was reached in a step takes the place of where it began. */
static void end_step(struct machine *m, struct places *now)
{
    const struct places before = *now;
    *now = m->next;
    m->next = before;
    leave_all(&m->next);
}

/* ---- characters ---- */

/* The end of what stands for one character. */
static const char *end_of_atom(const struct machine *m, const char *atom)
{
    bool has;
    if (m->dialect == MODULES || (*atom != '[' && *atom != '\\')) return atom + 1;
    const char *end = *atom == '[' ? sp_expression_set_has(atom, m->end, SP_SET_SHELL, '\0', &has) : atom + 2;
    return end && end < m->end ? end : m->end;
}

static bool accepts(const struct machine *m, const char *atom, char c)
{
    bool has;
    if (m->dialect == MODULES) return c == *atom;
    if (*atom == '?') return true;
    if (*atom == '[') return sp_expression_set_has(atom, m->end, SP_SET_SHELL, c, &has), has;
    return c == (*atom == '\\' && atom + 1 < m->end ? atom[1] : *atom);
}

/* One character forward from every place. A set is read again for each of them. */
static void step_character(struct machine *m, struct places *now)
{
    const char *atom = m->pattern;
    m->pattern = end_of_atom(m, atom);
    const uint64_t length = (uint64_t)(m->pattern - atom), places = now->high - now->low + 1;
    if (!now->any || !spend_budget(m, places * length)) return;
    for (size_t i = now->low; i <= now->high; i++)
        if (i < m->length && now->reached[i] && accepts(m, atom, m->name[i])) reach_state(&m->next, i + 1);
    end_step(m, now);
}

/* ---- patterns of names ---- */

/* Decimal digits without a leading zero; returns their number, 0 when there are none or too many. */
static size_t read_pattern_number(const char *text, size_t length, uint64_t *number)
{
    size_t digits = 0;
    for (*number = 0; digits < length && sp_is_digit(text[digits]); digits++) {
        if (digits == MAX_DIGITS) return 0;
        *number = *number * 10 + sp_digit(text[digits]);
    }
    return digits > 1 && text[0] == '0' ? 0 : digits;
}

static bool read_range(const char *text, size_t length, uint64_t *first, uint64_t *last)
{
    const size_t digits = read_pattern_number(text, length, first);
    if (!digits || digits + 1 >= length || text[digits] != '-') return false;
    return read_pattern_number(text + digits + 1, length - digits - 1, last) == length - digits - 1;
}

/* Every end of a number in the range that begins here: "1" and "12" for 0 to 99. */
static void reach_numbers(struct machine *m, size_t place, uint64_t first, uint64_t last)
{
    uint64_t number;
    const char *digits = m->name + place;
    for (size_t length = 1; length <= MAX_DIGITS && sp_is_digit(digits[length - 1]); length++)
        if (read_pattern_number(digits, length, &number) == length && number >= first && number <= last)
            reach_state(&m->next, place + length);
}

/* Over one of the texts in braces, or the numbers of a range. */
static void step_alternative(struct machine *m, const struct places *now, const char *text, size_t length, bool only)
{
    uint64_t first = 0, last = UINT64_MAX;
    const bool is_range = (only && !length) || read_range(text, length, &first, &last);
    for (size_t i = now->low; now->any && i <= now->high; i++) {
        spend_budget(m, 1);
        if (!now->reached[i]) continue;
        if (is_range) reach_numbers(m, i, first, last);
        else if (strncmp(m->name + i, text, length) == 0) {
            spend_budget(m, length);
            reach_state(&m->next, i + length);
        }
    }
}

/* The end of the alternative that begins at `text`: a ',' or the '}'; NULL when there is none. */
static const char *end_of_alternative(const char *text, const char *end)
{
    while (text < end && *text != ',' && *text != '}') text++;
    return text < end ? text : NULL;
}

static void step_alternatives(struct machine *m, struct places *now)
{
    const bool only = m->pattern[1] == '}'; /* "{}" */
    do {
        const char *text = m->pattern + 1;
        m->pattern = end_of_alternative(text, m->end);
        step_alternative(m, now, text, (size_t)(m->pattern - text), only);
    } while (*m->pattern == ',');
    m->pattern++;
    end_step(m, now);
}

/* "*" */
static void step_anywhere(struct machine *m, struct places *now)
{
    m->pattern++;
    if (!now->any || !spend_budget(m, m->length - now->low + 1)) return;
    for (size_t i = now->low; i <= m->length; i++) reach_state(now, i);
}

static void run_glob(struct machine *m, struct places *now)
{
    while (m->pattern < m->end && now->any) {
        if (*m->pattern == '*') step_anywhere(m, now);
        else if (*m->pattern == '{' && m->dialect == NAMES) step_alternatives(m, now);
        else step_character(m, now);
    }
}

/* ---- whole patterns ---- */

static bool is_end(const struct machine *m, size_t place)
{
    return place == m->length || (m->dialect == MODULES && m->name[place] == '.');
}

static bool run_machine(struct machine *m)
{
    unsigned char room[FEW], next_room[FEW];
    size_t plain = 0; /* most names differ before the first that is no character of itself */
    bool matches = false;
    bool differs = false;
    for (; m->pattern < m->end && !strchr(wildcards, *m->pattern) && !differs; m->pattern++)
        differs = m->name[plain++] != *m->pattern;
    if (!spend_budget(m, plain) || differs) return false;
    m->length = plain + strlen(m->name + plain);
    struct places now = new_places(m, room);
    m->next = new_places(m, next_room);
    reach_state(&now, plain);
    run_glob(m, &now);
    for (size_t i = now.low; now.any && i <= now.high && !matches; i++) matches = now.reached[i] && is_end(m, i);
    if (m->length >= FEW) {
        sp_free(now.reached);
        sp_free(m->next.reached);
    }
    return matches && spend_budget(m, 0);
}

size_t sp_name_pattern_prefix(const struct sp_name_pattern *pattern)
{
    size_t length = 0;
    while (length < pattern->length && !strchr(wildcards, pattern->text[length])) length++;
    return length;
}

static uint64_t character_bit(char c) { return UINT64_C(1) << ((unsigned char)c % 64); }

uint64_t sp_name_characters(const char *name)
{
    uint64_t characters = 0;
    for (; *name; name++) characters |= character_bit(*name);
    return characters;
}

uint64_t sp_pattern_characters(const struct sp_name_pattern *pattern)
{
    const struct machine m = {.dialect = NAMES, .end = pattern->text + pattern->length};
    uint64_t characters = 0;
    for (const char *at = pattern->text; at < m.end;) {
        if (*at == '{') at = (const char *)memchr(at, '}', (size_t)(m.end - at)) + 1;
        else {
            if (*at == '\\') characters |= character_bit(at[1]);
            else if (!strchr(wildcards, *at)) characters |= character_bit(*at);
            at = end_of_atom(&m, at);
        }
    }
    return characters;
}

bool sp_name_pattern_matches(const struct sp_name_pattern *pattern, const char *name)
{
    return run_machine(&(struct machine){
        .dialect = NAMES, .pattern = pattern->text, .end = pattern->text + pattern->length, .name = name});
}

bool sp_module_matches(const char *pattern, const char *module, size_t *budget)
{
    struct machine m = {.dialect = MODULES, .pattern = pattern, .name = module, .budget = budget};
    m.end = pattern + strlen(pattern);
    const bool is_regular = strncmp(pattern, "re:", 3) == 0;
    const bool matches = *budget && (is_regular ? sp_expression_begins(pattern + 3, module, budget) : run_machine(&m));
    if (!*budget) sp_budget_exceed_part("matching patterns of modules");
    return matches;
}

/* ---- mistakes ---- */

/* What is wrong at `at`, or NULL: then it is where the next part of the pattern begins. */
static const char *read_pattern_part(const struct machine *m, const char **at)
{
    const char *const part = *at;
    uint64_t first, last;
    bool has;
    if (*part == '[' && !sp_expression_set_has(part, m->end, SP_SET_SHELL, '\0', &has)) return "this '[' is not closed";
    if (*part == '\\' && part + 1 == m->end) return "nothing follows this '\\'";
    if (*part == '{' && !memchr(part, '}', (size_t)(m->end - part))) return "this '{' is not closed";
    if (*part != '{') {
        *at = end_of_atom(m, part);
        return NULL;
    }
    do {
        const char *end = end_of_alternative(++*at, m->end);
        const bool is_range = read_range(*at, (size_t)(end - *at), &first, &last);
        if (is_range && last < first) return "the range ends before it begins";
        *at = end;
    } while (**at == ',');
    ++*at;
    return NULL;
}

bool sp_name_pattern_parse(struct sp_name_pattern *pattern, const char *text, size_t length,
                           struct sp_pattern_mistake *mistake)
{
    const struct machine m = {.dialect = NAMES, .end = text + length};
    const char *at = text, *message = NULL;
    *pattern = (struct sp_name_pattern){text, length};
    while (at < m.end && !message) message = read_pattern_part(&m, &at);
    if (message) *mistake = (struct sp_pattern_mistake){(size_t)(at - text), message};
    return !message;
}
