/* SPDX-License-Identifier: MIT
 * Backtracking: what comes behind a group is handed to it as what is still to be matched. */
#include "names/expression.h"

#include "base/chars.h"

#include <stdint.h>
#include <string.h>

enum { STEPS_AT_MOST = 100000, DEEPEST = 2000 /* calls within each other */, SCANNED = 16 /* characters in a step */ };

struct search {
    const char *text;
    struct sp_expression_match *found;
    size_t steps, depth; /* steps that are left */
};

/* Subtracts steps from those that are left, down to 0, when the search gives up. */
static void spend(struct search *search, size_t steps)
{
    search->steps -= steps < search->steps ? steps : search->steps;
}

/* What has to match once a group has matched: a continuation, made where the group is entered. `from` to `end` is the
 * expression behind the group; `next` is what comes behind the group around it, NULL outside of all groups. */
struct rest {
    const char *from, *end;
    const struct rest *next;
    bool captures;      /* the group is one that is told */
    size_t begin;       /* where in the text the group began */
    const char *again;  /* the group itself, when it has a '*' or '+' behind it; or NULL */
    const size_t *stop; /* of a look-behind alone, which has nothing else: where in the text it must end */
};

static bool match_sequence(struct search *search, const char *from, const char *end, size_t place,
                           const struct rest *rest);

/* ---- one character ---- */

/* Whether a backslash makes this letter a class: \d, \w, \s. */
static bool is_shorthand(char kind) { return kind == 'd' || kind == 'w' || kind == 's'; }

static bool in_class(char kind, char c)
{
    return kind == 'd' ? sp_is_digit(c) : kind == 'w' ? sp_is_word(c) : c == ' ';
}

const char *sp_expression_set_has(const char *at, const char *end, enum sp_set_dialect dialect, char c, bool *has)
{
    const bool negated = at + 1 < end && (at[1] == '^' || (at[1] == '!' && dialect == SP_SET_SHELL));
    *has = negated;
    at += 1 + negated;
    for (bool first = true; at < end && (first || *at != ']'); first = false) {
        const bool escaped = *at == '\\' && at + 1 < end;
        at += escaped;
        const char low = *at++;
        char high = low; /* of a range, a-z */
        const bool shorthand = escaped && dialect == SP_SET_PYTHON && is_shorthand(low);
        if (!shorthand && at + 1 < end && *at == '-' && at[1] != ']') {
            high = at[1];
            at += 2;
        }
        const bool between = (unsigned char)c >= (unsigned char)low && (unsigned char)c <= (unsigned char)high;
        if (shorthand ? in_class(low, c) : between) *has = !negated;
    }
    return at < end ? at + 1 : NULL;
}

/* The length of an atom that stands for one character: "a", "\d", "[0-9]". */
static size_t atom_length(const char *from, const char *end)
{
    bool has;
    if (*from == '\\' && from + 1 < end) return 2;
    if (*from != '[') return 1;
    const char *behind = sp_expression_set_has(from, end, SP_SET_PYTHON, '\0', &has);
    return (size_t)((behind ? behind : end) - from);
}

static bool atom_fits(const char *atom, size_t length, char c)
{
    bool has;
    if (!c) return false;
    if (*atom == '[') return sp_expression_set_has(atom, atom + length, SP_SET_PYTHON, c, &has), has;
    if (*atom == '.') return true;
    if (*atom != '\\' || length < 2) return *atom == c;
    return is_shorthand(atom[1]) ? in_class(atom[1], c) : atom[1] == c;
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

/* The end of the first alternative: its '|' outside of groups, or `end`. */
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
        spend(search, (size_t)(stop - from) / SCANNED);
        if (match_sequence(search, from, stop, place, rest)) return true;
        if (stop == end) return false;
        from = stop;
    }
}

static bool match_group(struct search *search, const char *from, const char *end, size_t place,
                        const struct rest *rest);

/* What was begun ends here in the text: matches what is behind the group, or the group once more. A match that takes no
 * text is not tried again, which would go on for ever. */
static bool match_rest(struct search *search, size_t place, const struct rest *rest)
{
    if (!rest) {
        search->found->all.end = place;
        return true;
    }
    if (rest->stop) return place == *rest->stop;
    const struct sp_text_range before = search->found->group;
    if (rest->captures && before.begin == before.end) search->found->group = (struct sp_text_range){rest->begin, place};
    if (rest->again && place > rest->begin && match_group(search, rest->again, rest->end, place, rest->next))
        return true;
    if (match_sequence(search, rest->from, rest->end, place, rest->next)) return true;
    search->found->group = before;
    return false;
}

enum direction { AHEAD, BACK };

/* Whether the inside of a (?!...) matches from `place` on, or that of a (?<!...) from anywhere up to `place`. */
static bool looks(struct search *search, const char *from, const char *end, size_t place, enum direction direction)
{
    struct sp_expression_match aside = {0};
    struct search other = {search->text, &aside, search->steps, search->depth};
    bool found = false;
    if (direction == AHEAD) found = match_alternatives(&other, from, end, place, NULL);
    for (size_t begin = 0; direction == BACK && !found && begin <= place; begin++)
        found = match_alternatives(&other, from, end, begin, &(struct rest){.stop = &place});
    search->steps = other.steps;
    return found;
}

/* Matches the group ( ... ) at `from` and all that follows it, from `place` in the text. The inside of a look-ahead
 * (?!...) or look-behind (?<!...) takes no text and must not match. With * or + the group may match again after itself;
 * with * or ? it may be left out. */
static bool match_group(struct search *search, const char *from, const char *end, size_t place, const struct rest *rest)
{
    const char *close = group_end(from, end), *inside = from + 1;
    const char *behind = close < end ? close + 1 : end;
    const bool is_look_behind = strncmp(inside, "?<!", 3) == 0, is_look_ahead = strncmp(inside, "?!", 2) == 0;
    spend(search, (size_t)(close - from) / SCANNED);
    if (is_look_behind && looks(search, inside + 3, close, place, BACK)) return false;
    if (is_look_ahead && looks(search, inside + 2, close, place, AHEAD)) return false;
    if (is_look_behind || is_look_ahead) return match_sequence(search, behind, end, place, rest);
    const bool captures = strncmp(inside, "?:", 2) != 0;
    const char sign = behind < end && is_sign(*behind) ? *behind++ : '\0';
    const struct rest own = {.from = behind,
                             .end = end,
                             .next = rest,
                             .captures = captures,
                             .begin = place,
                             .again = sign == '*' || sign == '+' ? from : NULL};
    if (match_alternatives(search, captures ? inside : inside + 2, close, place, &own)) return true;
    return (sign == '*' || sign == '?') && match_sequence(search, behind, end, place, rest);
}

/* ---- sequences ---- */

/* Matches a repeated atom and what follows: greedily, as many as there are, then fewer. */
static bool match_repeated(struct search *search, const char *from, size_t length, const char *end, size_t place,
                           const struct rest *rest)
{
    const char sign = from[length];
    const size_t least = sign == '+', most = sign == '?' ? 1 : SIZE_MAX;
    size_t count = 0;
    while (count < most && atom_fits(from, length, search->text[place + count])) count++;
    spend(search, count / SCANNED);
    for (size_t left = count + 1; left-- > least;)
        if (match_sequence(search, from + length + 1, end, place + left, rest)) return true;
    return false;
}

/* Matches the expression `from` to `end` from `place` in the text on, then the rest. */
static bool match_here(struct search *search, const char *from, const char *end, size_t place, const struct rest *rest)
{
    for (; search->steps; spend(search, 1)) {
        if (from == end) return match_rest(search, place, rest);
        if (*from == '(') return match_group(search, from, end, place, rest);
        if (*from == '^' || *from == '$' || *from == ')') {
            if (*from == '^' ? place != 0 : *from == '$' && search->text[place] != '\0') return false;
            from++; /* a ')' is one too many */
            continue;
        }
        const size_t length = atom_length(from, end);
        if (from + length < end && is_sign(from[length])) return match_repeated(search, from, length, end, place, rest);
        if (!atom_fits(from, length, search->text[place])) return false;
        from += length;
        place++;
    }
    return false;
}

static bool match_sequence(struct search *search, const char *from, const char *end, size_t place,
                           const struct rest *rest)
{
    if (++search->depth > DEEPEST) search->steps = 0;
    spend(search, 1);
    const bool matches = match_here(search, from, end, place, rest);
    search->depth--;
    return matches;
}

/* ---- where to begin ---- */

/* The character that an atom stands for, and no other; 0 when it is none. */
static char literal_of(const char *atom, size_t length)
{
    if (length == 2) return is_shorthand(atom[1]) ? '\0' : atom[1];
    return length == 1 && !strchr("^$.)", *atom) ? *atom : '\0';
}

/* What every match begins with; 0 when there is no such character. */
static char first_of_match(const char *from, const char *end)
{
    if (from == end || *from == '(' || alternative_end(from, end) != end) return '\0';
    const size_t length = atom_length(from, end);
    return from + length < end && is_sign(from[length]) ? '\0' : literal_of(from, length);
}

bool sp_expression_search(const char *expression, size_t length, const char *text, struct sp_expression_match *found)
{
    struct search search = {.text = text, .found = found, .steps = STEPS_AT_MOST};
    const char *end = expression + length;
    const char first = first_of_match(expression, end);
    for (size_t place = 0;; place++) {
        if (first) {
            const char *next = strchr(text + place, first);
            if (!next) return false;
            place = (size_t)(next - text);
        }
        *found = (struct sp_expression_match){.all = {place, place}};
        if (match_alternatives(&search, expression, end, place, NULL)) return true;
        if (!text[place] || !search.steps) return false;
    }
}

bool sp_expression_begins(const char *expression, const char *text, size_t *budget)
{
    struct sp_expression_match found = {0};
    struct search search = {.text = text, .found = &found, .steps = *budget};
    const bool matches = match_alternatives(&search, expression, expression + strlen(expression), 0, NULL);
    *budget = search.steps;
    return matches && search.steps;
}

/* ---- literals ---- */

/* Takes the run in place of `literal` if it is longer. */
static void keep_longer(char *literal, size_t size, const char *run, size_t length)
{
    if (length > size - 1) length = size - 1;
    if (length <= strlen(literal)) return;
    memcpy(literal, run, length);
    literal[length] = '\0';
}

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
        if (c) run[count++] = c;
        if (c && count < sizeof run) continue;
        keep_longer(literal, size, run, count); /* the run ends, or is as long as a run may be */
        count = 0;
    }
    keep_longer(literal, size, run, count);
}
