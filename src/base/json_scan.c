/* SPDX-License-Identifier: MIT */
#include "base/json_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/utf8.h"

bool sp_json_ok(const struct sp_json *json) { return json->error->status == SP_OK; }

/* ---- bytes and messages ---- */

static uint64_t place(const struct sp_json *json) { return json->origin + json->offset; }

static bool at_end(const struct sp_json *json) { return json->offset >= json->length; }

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* The byte at the cursor, '\0' at the end. */
static char look(const struct sp_json *json) { return at_end(json) ? '\0' : json->text[json->offset]; }

static bool take(struct sp_json *json, char c)
{
    if (at_end(json) || json->text[json->offset] != c) return false;
    json->offset++;
    return true;
}

static bool expected(struct sp_json *json, const char *expectation)
{
    char found[16];
    const unsigned char byte = (unsigned char)look(json);
    if (at_end(json)) snprintf(found, sizeof found, "the end");
    else if (byte > 0x20 && byte < 0x7f) snprintf(found, sizeof found, "'%c'", (char)byte);
    else snprintf(found, sizeof found, "byte 0x%02x", byte);
    return sp_malformed(json->error, "%s: expected %s at byte %" PRIu64 ", found %s", json->what, expectation,
                        place(json), found);
}

bool sp_json_check(struct sp_json *json)
{
    if (json->length >= 3 && memcmp(json->text, "\xef\xbb\xbf", 3) == 0)
        return sp_malformed(json->error, "%s: begins with a byte-order mark", json->what);
    const size_t valid = sp_utf8_check(json->text, json->length);
    if (valid < json->length)
        return sp_malformed(json->error, "%s: invalid UTF-8 at byte %" PRIu64, json->what, json->origin + valid);
    return true;
}

char sp_json_peek(struct sp_json *json)
{
    if (!sp_json_ok(json)) return '\0';
    while (!at_end(json) && is_space(json->text[json->offset])) json->offset++;
    return look(json);
}

/* ---- strings ---- */

static bool hex4(const char *p, size_t left, uint32_t *value)
{
    if (left < 4) return false;
    *value = 0;
    for (int i = 0; i < 4; i++) {
        const char c = p[i], lower = (char)(c | 0x20);
        if (sp_is_digit(c)) *value = *value << 4 | (uint32_t)(c - '0');
        else if (lower >= 'a' && lower <= 'f') *value = *value << 4 | (uint32_t)(lower - 'a' + 10);
        else return false;
    }
    return true;
}

/* The escape that begins with the backslash at `p`: its length and its code point, or 0 when it is not valid. */
static size_t read_escape(const char *p, size_t left, uint32_t *code)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    uint32_t low;
    if (left < 2) return 0;
    if (p[1] != 'u') {
        const char *letter = p[1] ? strchr(letters, p[1]) : NULL;
        if (letter) *code = (unsigned char)meanings[letter - letters];
        return letter ? 2 : 0;
    }
    if (!hex4(p + 2, left - 2, code)) return 0;
    if (*code < 0xd800 || *code > 0xdfff) return 6;
    if (*code > 0xdbff || left < 12 || p[6] != '\\' || p[7] != 'u' || !hex4(p + 8, left - 8, &low)) return 0;
    if (low < 0xdc00 || low > 0xdfff) return 0;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

static bool pass_escape(struct sp_json *json)
{
    uint32_t code;
    const size_t step = read_escape(json->text + json->offset, json->length - json->offset, &code);
    if (!step) return sp_malformed(json->error, "%s: invalid escape at byte %" PRIu64, json->what, place(json));
    if (!code) return sp_malformed(json->error, "%s: NUL in a string at byte %" PRIu64, json->what, place(json));
    json->offset += step;
    return true;
}

/* Moves past a string and checks it; `escaped` tells whether it must be decoded. */
static bool pass_string(struct sp_json *json, bool *escaped)
{
    const uint64_t start = place(json);
    *escaped = false;
    if (!take(json, '"')) return expected(json, "a string");
    while (!at_end(json)) {
        const unsigned char c = (unsigned char)json->text[json->offset];
        if (c == '\\') {
            *escaped = true;
            if (!pass_escape(json)) return false;
            continue;
        }
        if (c < 0x20)
            return sp_malformed(json->error, "%s: control byte 0x%02x in a string at byte %" PRIu64, json->what, c,
                                place(json));
        json->offset++;
        if (c == '"') return true;
    }
    return sp_malformed(json->error, "%s: the string at byte %" PRIu64 " is not closed", json->what, start);
}

static size_t write_utf8(char *to, uint32_t code)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6) to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(lead[length] | code);
    return length;
}

/* In place: an escape is never shorter than what it stands for. */
static size_t decode(char *text, size_t length)
{
    size_t to = 0;
    for (size_t from = 0; from < length;) {
        uint32_t code;
        if (text[from] != '\\') {
            text[to++] = text[from++];
            continue;
        }
        from += read_escape(text + from, length - from, &code);
        to += write_utf8(text + to, code);
    }
    return to;
}

char *sp_json_string(struct sp_json *json)
{
    bool escaped;
    sp_json_peek(json);
    if (!sp_json_ok(json)) return NULL;
    char *start = json->text + json->offset + 1;
    if (!pass_string(json, &escaped)) return NULL;
    size_t length = (size_t)(json->text + json->offset - 1 - start);
    if (escaped) length = decode(start, length);
    start[length] = '\0'; /* at the closing quote, or before it */
    return start;
}

/* ---- objects and arrays ---- */

bool sp_json_open(struct sp_json *json, char bracket)
{
    sp_json_peek(json);
    if (!sp_json_ok(json)) return false;
    return take(json, bracket) || expected(json, bracket == '{' ? "an object" : "an array");
}

/* True when a further element follows; false once `closer` is taken, or with an error. */
static bool next_element(struct sp_json *json, char closer, bool *first)
{
    const bool begins = *first;
    *first = false;
    sp_json_peek(json);
    if (!sp_json_ok(json) || take(json, closer)) return false;
    if (!begins && !take(json, ',')) return expected(json, closer == '}' ? "',' or '}'" : "',' or ']'");
    if (sp_json_peek(json) == closer && !begins) return expected(json, closer == '}' ? "a member" : "an item");
    return true;
}

static bool take_colon(struct sp_json *json)
{
    sp_json_peek(json);
    return take(json, ':') || expected(json, "':'");
}

char *sp_json_member(struct sp_json *json, bool *first)
{
    if (!next_element(json, '}', first)) return NULL;
    char *key = sp_json_string(json);
    return key && take_colon(json) ? key : NULL;
}

bool sp_json_item(struct sp_json *json, bool *first) { return next_element(json, ']', first); }

/* ---- numbers and other values ---- */

/* What stands where a number should, for a message. */
static bool not_an_integer(struct sp_json *json, size_t start, const char *expectation)
{
    size_t length = 0;
    while (start + length < json->length && length < 40 && !strchr(",]} \n\r\t", json->text[start + length])) length++;
    return sp_malformed(json->error, "%s: expected %s at byte %" PRIu64 ", found '%.*s'", json->what, expectation,
                        json->origin + start, (int)length, json->text + start);
}

bool sp_json_u64(struct sp_json *json, uint64_t *value)
{
    sp_json_peek(json);
    if (!sp_json_ok(json)) return false;
    const size_t start = json->offset;
    uint64_t sum = 0;
    bool fits = true;
    while (sp_is_digit(look(json))) {
        const uint64_t digit = (uint64_t)(json->text[json->offset++] - '0');
        fits = fits && sp_mul_u64(sum, 10, &sum) && sp_add_u64(sum, digit, &sum);
    }
    const size_t digits = json->offset - start;
    const bool ends = at_end(json) || strchr(",]} \n\r\t", look(json));
    if (!digits || !ends || (digits > 1 && json->text[start] == '0'))
        return not_an_integer(json, start, "a non-negative integer");
    if (!fits) return not_an_integer(json, start, "an integer below 2^64");
    *value = sum;
    return true;
}

static bool take_word(struct sp_json *json, const char *word)
{
    const size_t length = strlen(word);
    if (json->length - json->offset < length || memcmp(json->text + json->offset, word, length) != 0) return false;
    json->offset += length;
    return true;
}

bool sp_json_null(struct sp_json *json) { return sp_json_peek(json) == 'n' && take_word(json, "null"); }

static bool pass_digits(struct sp_json *json)
{
    if (!sp_is_digit(look(json))) return expected(json, "a digit");
    while (sp_is_digit(look(json))) json->offset++;
    return true;
}

static bool pass_number(struct sp_json *json)
{
    take(json, '-');
    if (!take(json, '0') && !pass_digits(json)) return false;
    if (take(json, '.') && !pass_digits(json)) return false;
    if (!take(json, 'e') && !take(json, 'E')) return true;
    if (!take(json, '+')) take(json, '-');
    return pass_digits(json);
}

static bool pass_scalar(struct sp_json *json)
{
    bool escaped;
    const char c = sp_json_peek(json);
    if (!sp_json_ok(json)) return false;
    if (c == '"') return pass_string(json, &escaped);
    if (c == '-' || sp_is_digit(c)) return pass_number(json);
    if (take_word(json, "true") || take_word(json, "false") || take_word(json, "null")) return true;
    return expected(json, "a value");
}

struct level {
    bool object, first;
};

static bool next_value(struct sp_json *json, struct level *level)
{
    bool escaped;
    if (!level->object) return next_element(json, ']', &level->first);
    return next_element(json, '}', &level->first) && pass_string(json, &escaped) && take_colon(json);
}

static bool pass_value(struct sp_json *json)
{
    struct level levels[SP_JSON_DEPTH];
    size_t depth = 0;
    do {
        const char c = sp_json_peek(json);
        if (c == '{' || c == '[') {
            if (depth == SP_JSON_DEPTH)
                return sp_malformed(json->error, "%s: nested deeper than %d levels at byte %" PRIu64, json->what,
                                    SP_JSON_DEPTH, place(json));
            levels[depth++] = (struct level){c == '{', true};
            json->offset++;
        } else if (!pass_scalar(json)) return false;
        while (depth && !next_value(json, &levels[depth - 1])) depth--;
    } while (depth);
    return sp_json_ok(json);
}

const char *sp_json_skip(struct sp_json *json, size_t *length)
{
    sp_json_peek(json);
    const size_t start = json->offset;
    if (!pass_value(json)) return NULL;
    *length = json->offset - start;
    return json->text + start;
}

bool sp_json_end(struct sp_json *json)
{
    sp_json_peek(json);
    if (!sp_json_ok(json)) return false;
    return at_end(json) || expected(json, "nothing more");
}
