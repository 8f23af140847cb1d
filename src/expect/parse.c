/* SPDX-License-Identifier: MIT
 * The lines of a file of expected differences:
 *
 *   ID  NAME  [until YYYY-MM-DD]  # reason
 *
 * ID is that of a finding or of a cause, or *; NAME a pattern (name_pattern.h), in which a blank is written "\ ". A
 * line with a mistake is reported and left out, and the next line is read. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/utf8.h"
#include "expect/expect.h"
#include "lang/syntax/source.h"
#include "shapeproof/check.h"
#include "shapeproof/diff.h"
#include "shapeproof/error.h"

/* ---- ids of causes ---- */

/* Read off the one list of each kind. causes.def is data of a module above; nothing but its ids is taken. */

static const char *const ids[] = {
#define ID(name, value, id, severity, meaning) id,
    SHAPEPROOF_FINDINGS(ID) SHAPEPROOF_DIFF_FINDINGS(ID)
#undef ID
#define CAUSE(stage, explainer, name, severity, id, meaning) id,
#define ALSO(stage, explainer)
#include "explain/causes.def"
#undef CAUSE
#undef ALSO
};

enum { IDS = sizeof ids / sizeof *ids };

static bool is_expectable(const char *id)
{
    for (size_t i = 0; i < IDS; i++)
        if (strcmp(ids[i], id) == 0) return true;
    return false;
}

/* The id that is spelt most like it, or NULL. */
static const char *nearest_expectable(const char *id) { return sp_suggest(id, ids, IDS); }

/* ---- parse ---- */

struct parser {
    struct shapeproof_expectations *expectations;
    struct sp_source_text source;
    const char *today;
    struct sp_text *messages;
    size_t at, end; /* what is left of the line */
    size_t mistakes;
};

struct word {
    size_t offset, length;
};

static bool is_blank_char(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Appends a message about a word of the line, and counts the mistake. Always false. */
static bool fail_expectation(struct parser *p, struct word where, const char *message)
{
    const struct sp_span span = {&p->source, (uint32_t)where.offset, (uint32_t)(where.length ? where.length : 1)};
    sp_diagnose(p->messages, span, "%s", message);
    p->mistakes++;
    return false;
}

/* The next word of the line, in which "\ " is a blank; empty at its end and in front of the reason. */
static struct word next_word(struct parser *p)
{
    const char *text = p->source.text;
    while (p->at < p->end && is_blank_char(text[p->at])) p->at++;
    struct word word = {p->at, 0};
    if (p->at < p->end && text[p->at] == '#') return word;
    while (p->at < p->end && !is_blank_char(text[p->at])) p->at += text[p->at] == '\\' && p->at + 1 < p->end ? 2 : 1;
    word.length = p->at - word.offset;
    return word;
}

static bool is_word_text(const struct parser *p, struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(p->source.text + word.offset, text, word.length) == 0;
}

static const char *copy_of(struct parser *p, struct word word)
{
    return sp_arena_copy(&p->expectations->arena, p->source.text + word.offset, word.length);
}

/* ---- the parts ---- */

static bool fail_unknown_id(struct parser *p, struct word word, const char *id)
{
    const char *likely = nearest_expectable(id);
    struct sp_arena *arena = &p->expectations->arena;
    return fail_expectation(
        p, word,
        likely ? sp_arena_printf(arena, "there is no finding or cause '%s': did you mean '%s'?", id, likely)
               : sp_arena_printf(arena,
                                 "there is no finding or cause '%s' (docs/causes.md lists those of check, docs/diff.md "
                                 "those of diff)",
                                 id));
}

/* The parts of a line, each false with a message when it is wrong. */

static bool read_id(struct parser *p, struct sp_expectation *expectation)
{
    const struct word word = next_word(p);
    expectation->id = copy_of(p, word);
    if (strcmp(expectation->id, "*") == 0) return true;
    for (size_t i = 0; i < word.length; i++)
        if ((expectation->id[i] < 'a' || expectation->id[i] > 'z') && (i == 0 || expectation->id[i] != '-'))
            return fail_expectation(p, word, "expected the id of a finding or cause, such as 'missing', or '*'");
    return is_expectable(expectation->id) || fail_unknown_id(p, word, expectation->id);
}

static bool read_pattern(struct parser *p, struct sp_expectation *expectation)
{
    struct sp_pattern_mistake mistake;
    const struct word word = next_word(p);
    if (!word.length) return fail_expectation(p, word, "expected a pattern of names, or '*'");
    expectation->name = copy_of(p, word);
    if (sp_name_pattern_parse(&expectation->pattern, expectation->name, word.length, &mistake)) {
        expectation->prefix = sp_name_pattern_prefix(&expectation->pattern);
        expectation->characters = sp_pattern_characters(&expectation->pattern);
        return true;
    }
    return fail_expectation(p, (struct word){word.offset + mistake.offset, 1}, mistake.message);
}

/* Two digits at `text`, or -1. */
static int two_digits(const char *text)
{
    if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9') return -1;
    return (text[0] - '0') * 10 + (text[1] - '0');
}

static bool is_date(const char *text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-') return false;
    const int century = two_digits(text), rest = two_digits(text + 2);
    const int month = two_digits(text + 5), day = two_digits(text + 8);
    if (century < 0 || rest < 0 || month < 1 || month > 12) return false;
    const int year = century * 100 + rest;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day >= 1 && day <= days[month - 1] + (leap && month == 2);
}

/* Reads [until YYYY-MM-DD]; true as well when it is not there. */
static bool read_until(struct parser *p, struct sp_expectation *expectation)
{
    const struct word word = next_word(p);
    if (!word.length) return true;
    if (!is_word_text(p, word, "until"))
        return fail_expectation(p, word, "expected 'until YYYY-MM-DD', or '#' and the reason");
    const struct word date = next_word(p);
    expectation->until = copy_of(p, date);
    if (!is_date(expectation->until)) return fail_expectation(p, date, "expected a day of the calendar, as YYYY-MM-DD");
    expectation->expired = strcmp(p->today, expectation->until) > 0;
    const struct word more = next_word(p);
    return !more.length || fail_expectation(p, more, "expected '#' and the reason");
}

static bool read_reason(struct parser *p, struct sp_expectation *expectation)
{
    const char *text = p->source.text;
    struct word word = {p->at, p->end - p->at};
    if (p->at < p->end) word.offset++, word.length--; /* the '#' */
    while (word.length && is_blank_char(text[word.offset])) word.offset++, word.length--;
    while (word.length && is_blank_char(text[word.offset + word.length - 1])) word.length--;
    if (!word.length)
        return fail_expectation(p, (struct word){p->end, 1}, "expected '#' and the reason for which this is expected");
    expectation->reason = copy_of(p, word);
    return true;
}

/* Reads one line, and adds its expectation unless it has a mistake. */
static void read_line(struct parser *p, size_t number)
{
    struct shapeproof_expectations *expectations = p->expectations;
    struct sp_expectation expectation = {.line = number};
    const size_t begin = p->at;
    if (!next_word(p).length) return; /* empty, or a remark */
    p->at = begin;
    if (!read_id(p, &expectation) || !read_pattern(p, &expectation) || !read_until(p, &expectation) ||
        !read_reason(p, &expectation))
        return;
    SP_GROW(expectations->items, expectations->count, expectations->capacity);
    expectations->items[expectations->count++] = expectation;
}

bool sp_expectations_parse(struct shapeproof_expectations *expectations, const char *text, size_t length,
                           const char *today, struct sp_text *messages)
{
    struct parser p = {.expectations = expectations, .today = today, .messages = messages};
    p.source = (struct sp_source_text){.name = expectations->path, .text = text, .length = length};
    const size_t good = sp_utf8_check(text, length), nul = strlen(text); /* offsets of what is no text */
    if (!is_date(today))
        return fail_expectation(&p, (struct word){0, 1}, "today is no day of the calendar, as YYYY-MM-DD");
    if (good < length || nul < length)
        return fail_expectation(&p, (struct word){good < nul ? good : nul, 1}, "this is no UTF-8 text");
    for (size_t line = 1; p.at < length && p.mistakes < SP_MAX_MESSAGES; line++) {
        const char *end = memchr(text + p.at, '\n', length - p.at);
        p.end = end ? (size_t)(end - text) : length;
        const size_t next = p.end + 1;
        read_line(&p, line);
        p.at = next;
    }
    return !p.mistakes;
}
