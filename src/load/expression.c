/* SPDX-License-Identifier: MIT
 * Backtracking: what comes behind a group is handed to it as what is still to be matched. */
#include "load/expression.h"

#include "base/chars.h"

#include <stdint.h>
#include <string.h>

enum { STEPS_AT_MOST = 100000 };

struct search {
    const char *text;
    struct sp_found *found;
    size_t steps;
};

/* What has to match behind a group, up to `end`; then what is behind the group around it. */
struct rest {
    const char *from, *end;
    const struct rest *next;
    bool captures; /* the group ends here, which began at `begin` */
    size_t begin;
    const size_t *stop; /* for looking back: where the text has to end */
};

static bool match_sequence(struct search *search, const char *from, const char *end, size_t place,
                           const struct rest *rest);

/* ---- one character ---- */

/* The length of an atom that stands for one character: "a", "\d", "[0-9]". */
static size_t atom_length(const char *from, const char *end)
{
    if (*from == '\\' && from + 1 < end) return 2;
    if (*from != '[') return 1;
    const char *close = memchr(from + 1, ']', (size_t)(end - from - 1));
    return close ? (size_t)(close - from) + 1 : 1;
}

static bool is_in_set(const char *from, const char *end, char c)
{
    const bool negated = *from == '^';
    bool found = false;
    for (from += negated; from < end; from++) {
        if (from + 2 < end && from[1] == '-') {
            found = found || (c >= from[0] && c <= from[2]);
            from += 2;
        } else found = found || c == *from;
    }
    return found != negated;
}

static bool atom_fits(const char *atom, size_t length, char c)
{
    if (!c) return false;
    if (*atom == '[' && length > 1) return is_in_set(atom + 1, atom + length - 1, c);
    if (*atom == '.') return true;
    if (*atom != '\\' || length < 2) return *atom == c;
    return atom[1] == 'd' ? sp_is_digit(c) : atom[1] == 'w' ? sp_is_word(c) : atom[1] == c;
}

/* Says how often the atom before it may be there. */
static bool is_sign(char c) { return c == '*' || c == '+' || c == '?'; }

/* ---- groups ---- */

/* Where the group that opens at `from` closes, or `end`. */
static const char *group_end(const char *from, const char *end)
{
    size_t depth = 0;
    for (; from < end; from += atom_length(from, end)) {
        if (*from == '(') depth++;
        if (*from == ')' && !--depth) return from;
    }
    return end;
}

/* The end of the first alternative. */
static const char *alternative_end(const char *from, const char *end)
{
    for (; from < end && *from != '|'; from += atom_length(from, end))
        if (*from == '(') {
            from = group_end(from, end);
            if (from == end) return end;
        }
    return from;
}

static bool match_alternatives(struct search *search, const char *from, const char *end, size_t place,
                               const struct rest *rest)
{
    for (;; from++) {
        const char *stop = alternative_end(from, end);
        if (match_sequence(search, from, stop, place, rest)) return true;
        if (stop == end) return false;
        from = stop;
    }
}

static bool match_rest(struct search *search, size_t place, const struct rest *rest)
{
    if (!rest) {
        search->found->all.end = place;
        return true;
    }
    if (rest->stop) return place == *rest->stop;
    const struct sp_span before = search->found->group;
    if (rest->captures && before.begin == before.end) search->found->group = (struct sp_span){rest->begin, place};
    if (match_sequence(search, rest->from, rest->end, place, rest->next)) return true;
    search->found->group = before;
    return false;
}

/* Whether the inside of a (?!...) or (?<!...) is there. */
static bool looks(struct search *search, const char *from, const char *end, size_t place, bool back)
{
    struct sp_found aside = {0};
    struct search other = {search->text, &aside, search->steps};
    bool found = false;
    if (!back) found = match_alternatives(&other, from, end, place, NULL);
    for (size_t begin = 0; back && !found && begin <= place; begin++)
        found = match_alternatives(&other, from, end, begin, &(struct rest){.stop = &place});
    search->steps = other.steps;
    return found;
}

static bool match_group(struct search *search, const char *from, const char *end, size_t place, const struct rest *rest)
{
    const char *close = group_end(from, end), *inside = from + 1;
    const char *behind = close < end ? close + 1 : end;
    const bool back = strncmp(inside, "?<!", 3) == 0;
    if (back || strncmp(inside, "?!", 2) == 0)
        return !looks(search, inside + 2 + back, close, place, back) &&
               match_sequence(search, behind, end, place, rest);
    const bool captures = strncmp(inside, "?:", 2) != 0;
    return match_alternatives(
        search, inside + 2 * !captures, close, place,
        &(struct rest){.from = behind, .end = end, .next = rest, .captures = captures, .begin = place});
}

/* ---- sequences ---- */

/* As many as there are, then fewer. */
static bool match_repeated(struct search *search, const char *from, size_t length, const char *end, size_t place,
                           const struct rest *rest)
{
    const char sign = from[length];
    const size_t least = sign == '+', most = sign == '?' ? 1 : SIZE_MAX;
    size_t count = 0;
    while (count < most && atom_fits(from, length, search->text[place + count])) count++;
    for (size_t left = count + 1; left-- > least;)
        if (match_sequence(search, from + length + 1, end, place + left, rest)) return true;
    return false;
}

static bool match_sequence(struct search *search, const char *from, const char *end, size_t place,
                           const struct rest *rest)
{
    for (;;) {
        if (++search->steps > STEPS_AT_MOST) return false;
        if (from == end) return match_rest(search, place, rest);
        if (*from == '(') return match_group(search, from, end, place, rest);
        if (*from == '^' || *from == '$') {
            if (*from == '^' ? place != 0 : search->text[place] != '\0') return false;
            from++;
            continue;
        }
        const size_t length = atom_length(from, end);
        if (from + length < end && is_sign(from[length])) return match_repeated(search, from, length, end, place, rest);
        if (!atom_fits(from, length, search->text[place])) return false;
        from += length;
        place++;
    }
}

/* ---- where to begin ---- */

/* The character that an atom stands for, and no other; 0 when it is none. */
static char literal_of(const char *atom, size_t length)
{
    if (length == 2) return atom[1] == 'd' || atom[1] == 'w' ? '\0' : atom[1];
    return length == 1 && !strchr("^$.", *atom) ? *atom : '\0';
}

/* What every match begins with; 0 when there is no such character. */
static char first_of_match(const char *from, const char *end)
{
    if (from == end || *from == '(' || alternative_end(from, end) != end) return '\0';
    const size_t length = atom_length(from, end);
    return from + length < end && is_sign(from[length]) ? '\0' : literal_of(from, length);
}

bool sp_expression_search(const char *expression, size_t length, const char *text, struct sp_found *found)
{
    struct search search = {.text = text, .found = found};
    const char *end = expression + length;
    const char first = first_of_match(expression, end);
    for (size_t place = 0;; place++) {
        if (first) {
            const char *next = strchr(text + place, first);
            if (!next) return false;
            place = (size_t)(next - text);
        }
        *found = (struct sp_found){.all = {place, place}};
        if (match_alternatives(&search, expression, end, place, NULL)) return true;
        if (!text[place] || search.steps > STEPS_AT_MOST) return false;
    }
}

/* ---- literals ---- */

static void keep_longer(char *literal, size_t size, const char *run, size_t length)
{
    if (length > size - 1) length = size - 1;
    if (length <= strlen(literal)) return;
    memcpy(literal, run, length);
    literal[length] = '\0';
}

/* What is inside a group, or may be absent, is left out. */
void sp_expression_literal(const char *expression, size_t length, char *literal, size_t size)
{
    char run[64];
    size_t count = 0;
    const char *end = expression + length, *next;
    *literal = '\0';
    if (alternative_end(expression, end) != end) return;
    for (const char *from = expression; from < end; from = next) {
        const char *close = *from == '(' ? group_end(from, end) : NULL;
        const size_t atom = close ? 0 : atom_length(from, end);
        next = close ? close + (close < end) : from + atom;
        const bool repeated = next < end && is_sign(*next);
        const char c = close || repeated ? '\0' : literal_of(from, atom);
        if (repeated) next++;
        if (c && count < sizeof run) run[count++] = c;
        if (c && count < sizeof run) continue;
        keep_longer(literal, size, run, count);
        count = 0;
    }
    keep_longer(literal, size, run, count);
}
