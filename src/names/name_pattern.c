/* SPDX-License-Identifier: MIT
 * A pattern is run as it is read. What is kept is the set of places in the name that can be reached, so that nothing is
 * tried twice and nothing goes back, whatever the pattern. */
#include "names/name_pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/chars.h"

enum { MAX_DIGITS = 18 /* what surely fits in 64 bits */, MAX_NESTING = 16 /* what is deeper ends the pattern */ };

enum dialect { NAMES, MODULES, REGEX };

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
    size_t *budget;     /* NULL: as much as it takes */
    struct places next; /* of the step that is being made */
    unsigned nesting;
};

static void reach_state(struct places *places, size_t place)
{
    if (!places->any || place < places->low) places->low = place;
    if (!places->any || place > places->high) places->high = place;
    places->any = true;
    places->reached[place] = 1;
}

/* False when all were there already. */
static bool reach_all(struct places *places, const struct places *more)
{
    bool grew = false;
    for (size_t i = more->low; more->any && i <= more->high; i++) {
        if (!more->reached[i] || places->reached[i]) continue;
        reach_state(places, i);
        grew = true;
    }
    return grew;
}

static void leave_all(struct places *places)
{
    if (places->any) memset(places->reached + places->low, 0, places->high - places->low + 1);
    places->any = false;
}

/* Those of `from`, which may be NULL, on the heap. */
static struct places copy_places(const struct machine *m, const struct places *from)
{
    struct places places = {.reached = sp_realloc(NULL, m->length + 1, 1)};
    memset(places.reached, 0, m->length + 1);
    if (from) reach_all(&places, from);
    return places;
}

/* False when nothing is left. */
static bool spend_budget(const struct machine *m, size_t work)
{
    if (m->budget) *m->budget -= work < *m->budget ? work : *m->budget;
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

static bool is_shorthand(char kind) { return kind == 'd' || kind == 'w' || kind == 's'; }

/* Of a regular expression, "\d" and the like. */
static bool in_class(char kind, char c)
{
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return kind == 's' ? c == ' ' : sp_is_digit(c) || (kind == 'w' && letter);
}

static char char_at(const struct machine *m, const char *place) { return place < m->end ? *place : '\0'; }

/* Whether the set that begins with the '[' at `at` has the character. Returns what is behind its ']', or NULL. */
static const char *look_in_set(const struct machine *m, const char *at, char c, bool *has)
{
    const bool negated = char_at(m, at + 1) == '^' || (char_at(m, at + 1) == '!' && m->dialect == NAMES);
    *has = negated;
    at += 1 + negated;
    for (bool first = true; at < m->end && (first || *at != ']'); first = false) {
        const bool escaped = *at == '\\' && at + 1 < m->end;
        at += escaped;
        const char low = *at++;
        char high = low;
        const bool shorthand = escaped && m->dialect == REGEX && is_shorthand(low);
        if (!shorthand && char_at(m, at) == '-' && at + 1 < m->end && at[1] != ']') {
            high = at[1];
            at += 2;
        }
        const bool between = (unsigned char)c >= (unsigned char)low && (unsigned char)c <= (unsigned char)high;
        if (shorthand ? in_class(low, c) : between) *has = !negated;
    }
    return at < m->end ? at + 1 : NULL;
}

/* The end of what stands for one character. */
static const char *end_of_atom(const struct machine *m, const char *atom)
{
    bool has;
    if (m->dialect == MODULES || (*atom != '[' && *atom != '\\')) return atom + 1;
    const char *end = *atom == '[' ? look_in_set(m, atom, '\0', &has) : atom + 2;
    return end && end < m->end ? end : m->end;
}

static bool accepts(const struct machine *m, const char *atom, char c)
{
    bool has;
    if (m->dialect == MODULES) return c == *atom;
    if (*atom == (m->dialect == REGEX ? '.' : '?')) return true;
    if (*atom == '[') return look_in_set(m, atom, c, &has), has;
    if (*atom != '\\' || atom + 1 == m->end) return c == *atom;
    return m->dialect == REGEX && is_shorthand(atom[1]) ? in_class(atom[1], c) : c == atom[1];
}

/* One character forward from every place. */
static void step_character(struct machine *m, struct places *now)
{
    const char *atom = m->pattern;
    m->pattern = end_of_atom(m, atom);
    if (!now->any || !spend_budget(m, now->high - now->low + 1)) return;
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
        if (!now->reached[i]) continue;
        if (is_range) reach_numbers(m, i, first, last);
        else if (strncmp(m->name + i, text, length) == 0) reach_state(&m->next, i + length);
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

/* ---- regular expressions ---- */

static void run_branches(struct machine *m, struct places *now);

static void run_atom(struct machine *m, struct places *now)
{
    const char kind = *m->pattern;
    if (kind == '(') {
        m->pattern += strncmp(m->pattern, "(?:", 3) == 0 ? 3 : 1;
        run_branches(m, now);
        m->pattern += char_at(m, m->pattern) == ')';
    } else if (kind == '^' || kind == '$') {
        const size_t place = kind == '^' ? 0 : m->length;
        if (now->any && now->reached[place]) reach_state(&m->next, place);
        end_step(m, now);
        m->pattern++;
    } else step_character(m, now);
}

/* An atom and how often. */
static void run_item(struct machine *m, struct places *now)
{
    const char *start = m->pattern;
    struct places before = copy_places(m, now);
    run_atom(m, now);
    const char *behind = m->pattern, often = char_at(m, behind);
    if (often == '*' || often == '+') {
        struct places from = copy_places(m, now);
        do {
            m->pattern = start;
            run_atom(m, &from);
        } while (reach_all(now, &from) && *m->budget);
        free(from.reached);
    }
    if (often == '*' || often == '?') reach_all(now, &before);
    m->pattern = behind + (often == '*' || often == '+' || often == '?');
    free(before.reached);
}

static void run_branches(struct machine *m, struct places *now)
{
    struct places before = copy_places(m, now), all = copy_places(m, NULL);
    if (++m->nesting > MAX_NESTING) m->pattern = m->end;
    do {
        leave_all(now);
        reach_all(now, &before);
        m->pattern += char_at(m, m->pattern) == '|';
        while (m->pattern < m->end && *m->pattern != '|' && *m->pattern != ')') run_item(m, now);
        reach_all(&all, now);
    } while (char_at(m, m->pattern) == '|');
    leave_all(now);
    reach_all(now, &all);
    m->nesting--;
    free(before.reached);
    free(all.reached);
}

static void run_regex(struct machine *m, struct places *now)
{
    while (m->pattern < m->end && *m->budget) {
        run_branches(m, now);
        m->pattern += char_at(m, m->pattern) == ')'; /* one too many */
    }
}

/* ---- whole patterns ---- */

static bool is_end(const struct machine *m, size_t place)
{
    if (m->dialect == REGEX || place == m->length) return true;
    return m->dialect == MODULES && m->name[place] == '.';
}

static bool run_machine(struct machine *m)
{
    size_t plain = 0; /* most names differ before the first that is no character of itself */
    bool matches = false;
    m->length = strlen(m->name);
    for (; m->dialect != REGEX && m->pattern < m->end && !strchr("*?[{\\", *m->pattern); m->pattern++)
        if (!spend_budget(m, 1) || m->name[plain++] != *m->pattern) return false;
    struct places now = copy_places(m, NULL);
    m->next = copy_places(m, NULL);
    reach_state(&now, plain);
    (m->dialect == REGEX ? run_regex : run_glob)(m, &now);
    for (size_t i = now.low; now.any && i <= now.high && !matches; i++) matches = now.reached[i] && is_end(m, i);
    free(now.reached);
    free(m->next.reached);
    return matches && spend_budget(m, 0);
}

bool sp_name_pattern_matches(const struct sp_name_pattern *pattern, const char *name)
{
    return run_machine(&(struct machine){
        .dialect = NAMES, .pattern = pattern->text, .end = pattern->text + pattern->length, .name = name});
}

bool sp_module_matches(const char *pattern, const char *module, size_t *budget)
{
    struct machine m = {.dialect = MODULES, .pattern = pattern, .name = module, .budget = budget};
    if (strncmp(pattern, "re:", 3) == 0) {
        m.dialect = REGEX;
        m.pattern += 3;
    }
    m.end = m.pattern + strlen(m.pattern);
    return *budget && run_machine(&m);
}

/* ---- mistakes ---- */

/* What is wrong at `at`, or NULL: then it is where the next part of the pattern begins. */
static const char *read_pattern_part(const struct machine *m, const char **at)
{
    const char *const part = *at;
    uint64_t first, last;
    bool has;
    if (*part == '[' && !look_in_set(m, part, '\0', &has)) return "this '[' is not closed";
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
