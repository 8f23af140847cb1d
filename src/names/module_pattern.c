/* SPDX-License-Identifier: MIT
 * Regular expressions are run on the set of places that can be reached, so that nothing is tried twice. */
#include "names/module_pattern.h"

#include <stdint.h>
#include <string.h>

enum { MAX_MODULE = 511, MAX_NESTING = 16 };

/* ---- '*' for anything ---- */

/* Whether what is left of a name at its end, or at the end of a component. */
static bool at_boundary(const char *rest) { return !*rest || *rest == '.'; }

/* Subtracts; false when nothing is left. */
static bool spend(size_t *budget, size_t work)
{
    *budget -= work < *budget ? work : *budget;
    return *budget > 0;
}

static bool glob_matches(const char *pattern, const char *module, size_t *budget)
{
    const char *star = NULL, *resume = NULL;
    while (*pattern || !at_boundary(module)) {
        if (!spend(budget, 1)) return false;
        if (*pattern == '*') {
            star = ++pattern;
            resume = module;
        } else if (*pattern && *pattern == *module) {
            pattern++;
            module++;
        } else if (star && *resume) {
            pattern = star;
            module = ++resume;
        } else return false;
    }
    return true;
}

/* ---- regular expressions ---- */

struct places {
    bool at[MAX_MODULE + 1];
};

struct matcher {
    const char *pattern; /* what is left of it */
    const char *module;
    size_t length;
    size_t *budget;
    unsigned nesting;
};

static void alternatives(struct matcher *m, struct places *places);

static bool in_class(char kind, char c)
{
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (kind == 'd') return digit;
    return kind == 'w' ? digit || letter : kind == 's' ? c == ' ' : c == kind;
}

/* Whether the set that begins at `set`, behind its '[', has the character. */
static bool in_set(const char *set, const char *end, char c)
{
    const bool negated = *set == '^';
    bool found = false;
    for (set += negated; set < end; set++) {
        if (*set == '\\' && set + 1 < end) found = in_class(*++set, c) || found;
        else if (set + 2 < end && set[1] == '-') {
            found = (c >= set[0] && c <= set[2]) || found;
            set += 2;
        } else found = *set == c || found;
    }
    return found != negated;
}

static bool accepts(const char *atom, const char *end, char c)
{
    if (*atom == '.') return true;
    if (*atom == '[') return in_set(atom + 1, end - 1, c);
    return *atom == '\\' ? in_class(atom[1], c) : *atom == c;
}

/* One character forward from every place. */
static void step(struct matcher *m, const char *atom, const char *end, struct places *places)
{
    struct places next = {{false}};
    spend(m->budget, m->length + 1);
    for (size_t i = 0; i < m->length; i++) next.at[i + 1] = places->at[i] && accepts(atom, end, m->module[i]);
    *places = next;
}

static const char *end_of_set(const char *set)
{
    const char *end = set + 1 + (set[1] == '^');
    for (end += *end == ']'; *end && *end != ']'; end++)
        if (*end == '\\' && end[1]) end++;
    return end + (*end == ']');
}

static void atom(struct matcher *m, struct places *places)
{
    const char *start = m->pattern;
    if (*start == '(') {
        m->pattern += strncmp(start, "(?:", 3) == 0 ? 3 : 1;
        alternatives(m, places);
        m->pattern += *m->pattern == ')';
    } else if (*start == '^' || *start == '$') {
        for (size_t i = 0; i <= m->length; i++) places->at[i] &= i == (*start == '^' ? 0 : m->length);
        m->pattern++;
    } else {
        m->pattern = *start == '[' ? end_of_set(start) : start + (*start == '\\' && start[1] ? 2 : 1);
        step(m, start, m->pattern, places);
    }
}

static bool merge(const struct matcher *m, struct places *all, const struct places *more)
{
    bool grew = false;
    for (size_t i = 0; i <= m->length; i++) {
        grew = grew || (more->at[i] && !all->at[i]);
        all->at[i] = all->at[i] || more->at[i];
    }
    return grew;
}

/* An atom and how often. */
static void item(struct matcher *m, struct places *places)
{
    const char *start = m->pattern;
    const struct places before = *places;
    struct places reached;
    atom(m, places);
    const char *behind = m->pattern, often = *behind;
    if (often != '*' && often != '+' && often != '?') return;
    reached = *places;
    while (often != '?' && *m->budget) {
        m->pattern = start;
        atom(m, &reached);
        if (!merge(m, places, &reached)) break;
    }
    if (often != '+') merge(m, places, &before);
    m->pattern = behind + 1;
}

static void alternatives(struct matcher *m, struct places *places)
{
    const struct places before = *places;
    struct places all = {{false}};
    if (++m->nesting > MAX_NESTING) m->pattern += strlen(m->pattern);
    do {
        *places = before;
        m->pattern += *m->pattern == '|';
        while (*m->pattern && *m->pattern != '|' && *m->pattern != ')') item(m, places);
        merge(m, &all, places);
    } while (*m->pattern == '|');
    *places = all;
    m->nesting--;
}

static bool regex_matches(const char *pattern, const char *module, size_t *budget)
{
    struct matcher m = {.pattern = pattern, .module = module, .length = strlen(module), .budget = budget};
    struct places places = {{true}};
    if (m.length > MAX_MODULE || strlen(pattern) > MAX_MODULE) return false;
    while (*m.pattern && *budget) {
        alternatives(&m, &places);
        m.pattern += *m.pattern == ')'; /* one too many */
    }
    for (size_t i = 0; i <= m.length && *budget; i++)
        if (places.at[i]) return true;
    return false;
}

bool sp_module_matches(const char *pattern, const char *module, size_t *budget)
{
    if (strncmp(pattern, "re:", 3) == 0) return regex_matches(pattern + 3, module, budget);
    return glob_matches(pattern, module, budget);
}
