/* SPDX-License-Identifier: MIT */
#include "base/json_scan.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/real.h"
#include "base/utf8.h"
#include "base/word.h"

bool sp_json_ok(const struct sp_json *json) { return json->error->status == SHAPEPROOF_OK; }

/* ---- bytes and messages ---- */

static uint64_t json_place(const struct sp_json *json) { return json->origin + json->offset; }

static bool at_json_end(const struct sp_json *json) { return json->offset >= json->length; }

static bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* The byte at the cursor, '\0' at the end. */
static char look(const struct sp_json *json) { return at_json_end(json) ? '\0' : json->text[json->offset]; }

static bool take_char(struct sp_json *json, char c)
{
    if (at_json_end(json) || json->text[json->offset] != c) return false;
    json->offset++;
    return true;
}

static bool expected(struct sp_json *json, const char *expectation)
{
    char found[16];
    const unsigned char byte = (unsigned char)look(json);
    if (at_json_end(json)) snprintf(found, sizeof found, "the end");
    else if (byte > 0x20 && byte < 0x7f) snprintf(found, sizeof found, "'%c'", (char)byte);
    else snprintf(found, sizeof found, "byte 0x%02x", byte);
    return sp_malformed(json->error, "%s: expected %s at byte %" PRIu64 ", found %s", json->what, expectation,
                        json_place(json), found);
}

/* Moves past whitespace, and returns the byte there, '\0' at the end. */
static inline char pass_space(struct sp_json *json)
{
    for (size_t offset = json->offset; offset < json->length; offset++) {
        const char c = json->text[offset];
        json->offset = offset;
        if (!is_json_space(c)) return c;
    }
    json->offset = json->length;
    return '\0';
}

/* To the next value or sign, unless an error sticks. */
static inline bool advance(struct sp_json *json)
{
    if (!sp_json_ok(json)) return false;
    pass_space(json);
    return true;
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

char sp_json_peek(struct sp_json *json) { return sp_json_ok(json) ? pass_space(json) : '\0'; }

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

bool sp_json_is_surrogate(const char *text, size_t left)
{
    uint32_t code;
    return left >= 6 && text[0] == '\\' && text[1] == 'u' && hex4(text + 2, left - 2, &code) && code >= 0xd800 &&
           code <= 0xdfff;
}

/* The escape that begins with the backslash at `p`: its length and its code point, or 0 when it is not valid. */
static size_t read_escape(const char *p, size_t left, uint32_t *code)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    uint32_t low;
    if (left < 2) return 0;
    if (p[1] != 'u') {
        const char *letter = strchr(letters, p[1]); /* a NUL stands for itself, as \u0000 does */
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
    if (!step) return sp_malformed(json->error, "%s: invalid escape at byte %" PRIu64, json->what, json_place(json));
    if (!code) return sp_malformed(json->error, "%s: NUL in a string at byte %" PRIu64, json->what, json_place(json));
    json->offset += step;
    return true;
}

/* How many bytes at `p` stand for themselves in a string. */
static inline size_t plain_length(const char *p, size_t left)
{
    size_t i = 0;
    for (; left - i >= SP_WORD; i += SP_WORD) {
        const uint64_t other = sp_word_escaped(sp_word_at(p + i));
        if (other) return i + sp_word_first(other);
    }
    while (i < left && p[i] != '"' && p[i] != '\\' && (unsigned char)p[i] >= 0x20) i++;
    return i;
}

static inline void pass_plain(struct sp_json *json)
{
    json->offset += plain_length(json->text + json->offset, json->length - json->offset);
}

static bool refuse_string(struct sp_json *json, size_t start)
{
    if (at_json_end(json))
        return sp_malformed(json->error, "%s: the string at byte %" PRIu64 " is not closed", json->what,
                            json->origin + start);
    return sp_malformed(json->error, "%s: control byte 0x%02x in a string at byte %" PRIu64, json->what,
                        (unsigned char)look(json), json_place(json));
}

/* The rest of a string from its first escape on, if it has one. */
static bool pass_escaped(struct sp_json *json, size_t start, bool *escaped)
{
    for (; look(json) == '\\'; pass_plain(json)) {
        *escaped = true;
        if (!pass_escape(json)) return false;
    }
    return take_char(json, '"') || refuse_string(json, start);
}

/* Moves past a string and checks it; `escaped` tells whether it must be decoded. */
static inline bool pass_string(struct sp_json *json, bool *escaped)
{
    const size_t start = json->offset;
    *escaped = false;
    if (!take_char(json, '"')) return expected(json, "a string");
    pass_plain(json);
    return take_char(json, '"') || pass_escaped(json, start, escaped);
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
static size_t decode_escapes(char *text, size_t length)
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

/* The string that begins at the cursor. */
static char *take_string(struct sp_json *json)
{
    bool escaped;
    const size_t start = json->offset + 1;
    if (!pass_string(json, &escaped)) return NULL;
    char *text = json->text + start;
    json->string_length = json->offset - 1 - start;
    if (escaped) json->string_length = decode_escapes(text, json->string_length);
    text[json->string_length] = '\0'; /* at the closing quote, or before it */
    return text;
}

char *sp_json_string(struct sp_json *json) { return advance(json) ? take_string(json) : NULL; }

/* ---- objects and arrays ---- */

bool sp_json_open(struct sp_json *json, char bracket)
{
    if (!advance(json)) return false;
    return take_char(json, bracket) || expected(json, bracket == '{' ? "an object" : "an array");
}

/* True when a further element follows; false once `closer` is taken, or with an error. */
static inline bool next_element(struct sp_json *json, char closer, bool *first)
{
    const bool begins = *first;
    *first = false;
    if (!sp_json_ok(json)) return false;
    const char c = pass_space(json);
    if (c == closer) json->offset++;
    if (begins || c == closer) return c != closer;
    if (c != ',') return expected(json, closer == '}' ? "',' or '}'" : "',' or ']'");
    json->offset++;
    return pass_space(json) != closer || expected(json, closer == '}' ? "a member" : "an item");
}

static inline bool take_colon(struct sp_json *json)
{
    if (pass_space(json) != ':') return expected(json, "':'");
    json->offset++;
    return true;
}

char *sp_json_member(struct sp_json *json, bool *first)
{
    if (!next_element(json, '}', first)) return NULL;
    char *key = take_string(json);
    return key && take_colon(json) ? key : NULL;
}

bool sp_json_item(struct sp_json *json, bool *first) { return next_element(json, ']', first); }

/* ---- numbers and other values ---- */

static inline bool ends_number(const struct sp_json *json)
{
    const char c = look(json);
    return c == ',' || c == ']' || c == '}' || c == '\0' || is_json_space(c);
}

/* What stands where a number should, for a message. */
static bool not_an_integer(struct sp_json *json, size_t start, const char *expectation)
{
    size_t length = 0;
    while (start + length < json->length && length < 40 && !strchr(",]} \n\r\t", json->text[start + length])) length++;
    return sp_malformed(json->error, "%s: expected %s at byte %" PRIu64 ", found '%.*s'", json->what, expectation,
                        json->origin + start, (int)length, json->text + start);
}

enum { ALWAYS_FIT = 19 }; /* so many digits are below 2^64 whatever they are */

/* What begins with `digits` digits at `start` and may be no integer, or one of 2^64 or more. */
static bool take_unusual_u64(struct sp_json *json, size_t start, size_t digits, uint64_t *value)
{
    const char *text = json->text + start;
    uint64_t sum = 0;
    if (!digits || !ends_number(json) || (digits > 1 && *text == '0'))
        return not_an_integer(json, start, "a non-negative integer");
    for (size_t i = 0; i < digits; i++)
        if (!sp_mul_u64(sum, 10, &sum) || !sp_add_u64(sum, sp_digit(text[i]), &sum))
            return not_an_integer(json, start, "an integer below 2^64");
    *value = sum;
    return true;
}

/* A number of digits alone, at the cursor. */
static inline bool take_u64(struct sp_json *json, uint64_t *value)
{
    const size_t start = json->offset;
    const char *const text = json->text + start, *const end = json->text + json->length, *p = text;
    uint64_t sum = 0;
    for (unsigned digit; p < end && (digit = sp_digit(*p)) < 10; p++) sum = sum * 10 + digit;
    const size_t digits = (size_t)(p - text);
    json->offset += digits;
    if (!digits || digits > ALWAYS_FIT || *text == '0' || !ends_number(json))
        return take_unusual_u64(json, start, digits, value);
    *value = sum;
    return true;
}

bool sp_json_u64(struct sp_json *json, uint64_t *value) { return advance(json) && take_u64(json, value); }

bool sp_json_u64s(struct sp_json *json, uint64_t *values, size_t room, size_t *count)
{
    *count = 0;
    if (!sp_json_open(json, '[')) return false;
    for (bool first = true; next_element(json, ']', &first);) {
        if ((*count)++ == room) return true;
        if (!take_u64(json, &values[*count - 1])) return false;
    }
    return sp_json_ok(json);
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

static bool pass_number_text(struct sp_json *json)
{
    take_char(json, '-');
    if (!take_char(json, '0') && !pass_digits(json)) return false;
    if (take_char(json, '.') && !pass_digits(json)) return false;
    if (!take_char(json, 'e') && !take_char(json, 'E')) return true;
    if (!take_char(json, '+')) take_char(json, '-');
    return pass_digits(json);
}

bool sp_json_is_long_integer(const char *text, size_t left)
{
    const size_t sign = left && *text == '-';
    size_t end = sign;
    while (end < left && sp_is_digit(text[end])) end++;
    return end - sign > SP_PYTHON_DIGITS && (end == left || !strchr(".eE", text[end]));
}

/* Whether a number is larger than every double: it has 309 digits or an exponent then. */
static bool is_beyond_doubles(const char *text, size_t length)
{
    if (length < 309 && !memchr(text, 'e', length) && !memchr(text, 'E', length)) return false;
    return isinf(sp_real_read(text, NULL));
}

/* Moves past a number that the reader of the file takes; it stays at one that the reader refuses. */
static bool pass_number(struct sp_json *json)
{
    const size_t start = json->offset;
    if (!pass_number_text(json)) return false;
    if (json->numbers == SP_JSON_ALL_NUMBERS) return true;
    const size_t length = json->offset - start;
    json->offset = start;
    if (json->numbers == SP_JSON_OF_PYTHON && sp_json_is_long_integer(json->text + start, length))
        return sp_malformed(json->error, "%s: an integer of more than %d digits at byte %" PRIu64, json->what,
                            SP_PYTHON_DIGITS, json_place(json));
    if (json->numbers == SP_JSON_OF_SERDE && is_beyond_doubles(json->text + start, length))
        return sp_malformed(json->error, "%s: a number that is larger than every double at byte %" PRIu64, json->what,
                            json_place(json));
    json->offset = start + length;
    return true;
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

static bool next_json_value(struct sp_json *json, struct level *level)
{
    bool escaped;
    if (!level->object) return next_element(json, ']', &level->first);
    return next_element(json, '}', &level->first) && pass_string(json, &escaped) && take_colon(json);
}

static bool pass_value(struct sp_json *json)
{
    struct level levels[SP_JSON_DEPTH];
    size_t depth = 0;
    assert(json->levels < SP_JSON_DEPTH);
    do {
        const char c = sp_json_peek(json);
        if (c == '{' || c == '[') {
            if (depth == SP_JSON_DEPTH - json->levels)
                return sp_malformed(json->error, "%s: nested deeper than %d levels at byte %" PRIu64, json->what,
                                    SP_JSON_DEPTH, json_place(json));
            levels[depth++] = (struct level){c == '{', true};
            json->offset++;
        } else if (!pass_scalar(json)) return false;
        while (depth && !next_json_value(json, &levels[depth - 1])) depth--;
    } while (depth);
    return sp_json_ok(json);
}

const char *sp_json_skip(struct sp_json *json, size_t *length)
{
    if (!advance(json)) return NULL;
    const size_t start = json->offset;
    if (!pass_value(json)) return NULL;
    *length = json->offset - start;
    return json->text + start;
}

bool sp_json_end(struct sp_json *json)
{
    if (!advance(json)) return false;
    return at_json_end(json) || expected(json, "nothing more");
}
