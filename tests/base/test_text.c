/* SPDX-License-Identifier: MIT
 * UTF-8, text and what is made printable of it, names in messages, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/names.h"
#include "base/text.h"
#include "base/utf8.h"

/* ---- UTF-8 ---- */

/* Independent of the decoder: the encoding by the definition, for any number below 2^21. */
static size_t encode(uint32_t code, char *out)
{
    if (code < 0x80) return out[0] = (char)code, 1;
    if (code < 0x800) return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

static void test_utf8_every_code_point(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x200000; code++) {
        char bytes[4];
        uint32_t decoded = 0;
        const size_t length = encode(code, bytes);
        const bool legal = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
        const size_t got = sp_utf8_decode(bytes, length, &decoded);
        if (got != (legal ? length : 0) || (legal && decoded != code)) fail_msg("U+%x", (unsigned)code);
        if (length > 1 && sp_utf8_decode(bytes, length - 1, &decoded)) fail_msg("U+%x cut short", (unsigned)code);
    }
}

/* All sequences of two bytes: valid ones are ASCII pairs and c2..df 80..bf. */
static void test_utf8_every_pair(void **state)
{
    (void)state;
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            const char pair[] = {(char)a, (char)b};
            const bool two = a >= 0xc2 && a <= 0xdf && b >= 0x80 && b <= 0xbf;
            const size_t valid = two || (a < 0x80 && b < 0x80) ? 2 : a < 0x80 ? 1 : 0;
            if (sp_utf8_check(pair, 2) != valid) fail_msg("%02x %02x", a, b);
        }
}

/* ASCII is passed over in long steps: something else in each place, in texts of each length. */
static void test_utf8_every_place(void **state)
{
    (void)state;
    for (size_t length = 2; length < 100; length++)
        for (size_t place = 0; place + 2 <= length; place++) {
            char *text = malloc(length); /* of exactly its size, for the sanitizers */
            assert_non_null(text);
            memset(text, 'a', length);
            memcpy(text + place, "\xc3\xa9", 2);
            assert_int_equal(sp_utf8_check(text, length), length);
            text[place + 1] = 'a';
            assert_int_equal(sp_utf8_check(text, length), place);
            free(text);
        }
}

static void test_utf8_overlong(void **state)
{
    (void)state;
    static const char *const bad[] = {"\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x80\x80",
                                      "\xe0\x9f\xbf",
                                      "\xf0\x80\x80\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\x80",
                                      "\xff"};
    uint32_t code;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sp_utf8_decode(bad[i], strlen(bad[i]), &code), 0);
    assert_int_equal(sp_utf8_decode("", 0, &code), 0);
}

/* The check takes eight bytes at a time: a bad byte must be found at every place and alignment. */
static void test_utf8_check_places(void **state)
{
    (void)state;
    char bytes[40];
    for (size_t start = 0; start < 8; start++)
        for (size_t bad = start; bad < sizeof bytes; bad++) {
            memset(bytes, 'a', sizeof bytes);
            bytes[bad] = (char)0x80;
            assert_int_equal(sp_utf8_check(bytes + start, sizeof bytes - start), bad - start);
        }
    assert_int_equal(sp_utf8_check(bytes, 0), 0);
}

/* ---- text ---- */

static void assert_visible(const char *raw, size_t length, const char *expected)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    sp_text_visible(&text, raw, length);
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
}

static void test_visible(void **state)
{
    (void)state;
    assert_visible("caf\xc3\xa9 \xe2\x82\xac", 9, "caf\xc3\xa9 \xe2\x82\xac");
    assert_visible("a\nb\tc\x7f\0d", 8, "a\\x0ab\\x09c\\x7f\\x00d");
    assert_visible("::error::a", 10, "\\x3a:error::a"); /* commands in the log of a runner */
    assert_visible("  ::a", 5, "  \\x3a:a");
    assert_visible(":::a", 4, "\\x3a\\x3a:a");
    assert_visible("a ::b", 5, "a \\x3a:b");
    assert_visible("\xe3\x80\x80::b", 6, "\\u{3000}\\x3a:b");
    assert_visible("std::vector:", 12, "std::vector:");
    assert_visible("a##[b]##VSO[c]##teamcity[d", 26, "a\\x23#[b]\\x23#VSO[c]\\x23#teamcity[d");
    assert_visible("###[a", 5, "#\\x23#[a");
    assert_visible("## a #[", 7, "## a #[");
    assert_int_equal(sp_visible_width("::a"), 6);
    assert_visible("\x1b[31m", 5, "\\x1b[31m");
    assert_visible("\xc2\x80\xc2\x9f\xc2\xa0", 6, "\\x80\\x9f\\xa0");
    assert_visible("\xff\xc3", 2, "\\xff\\xc3");
    assert_visible("\xe2\x80\xae\xe2\x81\xa6", 6, "\\u{202e}\\u{2066}");
    /* U+061C, and what nobody sees: U+00AD, U+200B, U+2060, U+FEFF, U+FE0F, U+E0001, U+E007F. */
    assert_visible("\xd8\x9c", 2, "\\u{61c}");
    assert_visible("a\xc2\xad\xe2\x80\x8b\xe2\x81\xa0z", 10, "a\\xad\\u{200b}\\u{2060}z");
    assert_visible("\xef\xbb\xbf\xef\xb8\x8f", 6, "\\u{feff}\\u{fe0f}");
    assert_visible("\xf3\xa0\x80\x81\xf3\xa0\x81\xbf", 8, "\\u{e0001}\\u{e007f}");
    assert_visible("\xf0\x9f\x98\x80\xe4\xb8\xad", 7, "\xf0\x9f\x98\x80\xe4\xb8\xad"); /* what is seen */
    assert_int_equal(sp_visible_width("caf\xc3\xa9"), 4);
    assert_int_equal(sp_visible_width("\x01"), 4);
}

/* The code point of each UTF-8 text, which is escaped, or not. */
static void assert_escaped(uint32_t code, bool escaped)
{
    char raw[5] = {0}, expected[16];
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length, rest = code; i-- > 0; rest >>= 6)
        raw[i] = (char)(i ? 0x80 | (rest & 0x3f) : lead[length] | rest);
    snprintf(expected, sizeof expected, code < 0x100 ? "\\x%02x" : "\\u{%x}", code);
    assert_visible(raw, length, escaped ? expected : raw);
    snprintf(expected, sizeof expected, "\"\\u%04x\"", code);
    struct sp_text json = {0};
    sp_text_json(&json, raw);
    assert_int_equal(strstr(json.data, raw) == NULL, escaped);
    if (escaped && code < 0x10000) assert_string_equal(json.data, expected);
    sp_text_free(&json);
}

/* Some of each property for which a character is escaped, and their neighbours that are seen. */
static void test_unseen(void **state)
{
    (void)state;
    static const uint32_t unseen[] = {
        0x80,   0xad,    0x34f,   0x115f,   0x1160,  0x17b4,  0x17b5,   0x180b,  0x180e,  0x180f,  0x3164, /* ignorable
                                                                                                            */
        0xfe00, 0xfe0f,  0xffa0,  0xfff0,   0x1bca0, 0x1d173, 0x1d17a,  0xe0000, 0xe0100, 0xe0fff, 0xa0,   0x1680,
        0x2000, 0x200a,  0x2028,  0x2029,   0x202f,  0x205f,  0x3000,                                      /* blanks */
        0x600,  0x605,   0x6dd,   0x70f,    0x890,   0x8e2,   0x110bd,  0x110cd, 0x13430, 0x1343f, 0xfffb, /* Cf */
        0xe000, 0xf8ff,  0xf0000, 0x100000,                                                                /* private */
        0xfdd0, 0xfdef,  0xfffe,  0xffff,   0x1fffe, 0xdffff, 0x10ffff, /* noncharacters */
        0x2800, 0x16fe4, 0x1d159,                                       /* by their names */
    };
    static const uint32_t seen[] = {0xa1,   0xac,   0xae,    0x350,   0x606,   0x61b,   0x1161, 0x1681,
                                    0x17b6, 0x1810, 0x2010,  0x2027,  0x2030,  0x205e,  0x2070, 0x27ff,
                                    0x2801, 0x3001, 0x3165,  0xd7ff,  0xf900,  0xfdcf,  0xfdf0, 0xfe10,
                                    0xff9f, 0xfffd, 0x13440, 0x1d158, 0x1d15a, 0x1d172, 0xdfffd};
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++) assert_escaped(unseen[i], true);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) assert_escaped(seen[i], false);
}

static void test_json(void **state)
{
    (void)state;
    struct sp_text text = {0};
    sp_text_json(&text, "a\"\\/\b\t\n\f\r\x01\x1f\x7f\xc3\xa9\xff");
    assert_string_equal(text.data, "\"a\\\"\\\\/\\b\\t\\n\\f\\r\\u0001\\u001f\\u007f\xc3\xa9\xef\xbf\xbd\"");
    sp_text_free(&text);
    sp_text_json(&text, "\xd8\x9c\xef\xbb\xbf\xf3\xa0\x80\x81"); /* in two halves above U+FFFF */
    assert_string_equal(text.data, "\"\\u061c\\ufeff\\udb40\\udc01\"");
    sp_text_free(&text);
}

/* The text of a file is one line of an error, wherever it gets in; what sp_diagnose made keeps its lines. */
static void test_error_lines(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    sp_malformed(&error, "no '%s'", "x'\nhint: run it\r\xe2\x80\xa8");
    sp_hint(&error, "or %s", "a\nb");
    sp_error_prefix(&error, "c\nd");
    assert_string_equal(error.message, "c\\x0ad: no 'x'\\x0ahint: run it\\x0d\\u{2028}'");
    assert_string_equal(error.hint, "or a\\x0ab");
    sp_error_reset(&error);
    sp_fail_lines(&error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_NONE, "a\tb\nc");
    assert_string_equal(error.message, "a\\x09b\nc");
}

static void test_grouped(void **state)
{
    (void)state;
    static const struct {
        uint64_t number;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1,000"},
                 {124439808, "124,439,808"},
                 {UINT64_MAX, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_text text = {0};
        sp_text_grouped(&text, cases[i].number);
        assert_string_equal(text.data, cases[i].text);
        sp_text_free(&text);
    }
}

static void test_keep(void **state)
{
    (void)state;
    struct sp_arena arena = {0};
    struct sp_text text = {0};
    const char *nothing = sp_text_keep(&text, &arena);
    sp_text_append(&text, "one\0two", 7);
    const char *kept = sp_text_keep(&text, &arena);
    assert_null(text.data);
    assert_int_equal(text.length, 0);
    sp_text_puts(&text, "another");
    assert_memory_equal(kept, "one\0two", 8);
    assert_string_equal(nothing, "");
    sp_text_free(&text);
    sp_arena_free(&arena);
}

/* ---- names in messages ---- */

static void test_quote(void **state)
{
    (void)state;
    char name[1000], expected[1010];
    assert_string_equal(sp_quote("").text, "''");
    assert_string_equal(sp_quote("a.weight").text, "'a.weight'");
    assert_string_equal(sp_quote("a\nb").text, "'a\\x0ab'");
    memset(name, 'x', sizeof name);
    name[160] = '\0';
    snprintf(expected, sizeof expected, "'%s'", name);
    assert_string_equal(sp_quote(name).text, expected);
    name[160] = 'x';
    name[161] = '\0';
    assert_string_equal(sp_quote(name).text + 161, "...' (161 bytes)");
    memcpy(name + 159, "\xc3\xa9", 3); /* straddles the cut */
    assert_string_equal(sp_quote(name).text + 160, "...' (161 bytes)");
    memset(name, 1, 100); /* printable it is four times as long */
    name[100] = '\0';
    assert_string_equal(sp_quote(name).text + 161, "...' (100 bytes)");
}

static void test_names(void **state)
{
    (void)state;
    struct sp_names names = {0};
    assert_string_equal(sp_names_text(&names), "");
    sp_names_add(&names, "a");
    assert_string_equal(sp_names_text(&names), "'a'");
    for (int i = 0; i < 2; i++) sp_names_add(&names, "b");
    assert_string_equal(sp_names_text(&names), "'a', 'b', 'b'");
    for (int i = 0; i < 7; i++) sp_names_add(&names, "c");
    assert_string_equal(sp_names_text(&names), "'a', 'b', 'b' and 7 more");
    sp_names_free(&names);
}

/* ---- errors ---- */

static void test_first_error_stays(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    assert_false(sp_fail(&error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "number %d", 1));
    assert_false(sp_malformed(&error, "number %d", 2));
    assert_false(sp_fail(&error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_IO, "number %d", 3));
    assert_string_equal(error.message, "number 1");
    assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    assert_string_equal(shapeproof_kind_name(error.kind), "limit");
    sp_hint(&error, "first");
    sp_hint(&error, "second");
    assert_string_equal(error.hint, "first");
    sp_error_prefix(&error, "dir/\x1b"
                            "file");
    assert_string_equal(error.message, "dir/\\x1b"
                                       "file: number 1");
}

/* Whatever the length, a long message ends with "..." after a whole character. */
static void test_error_cut(void **state)
{
    (void)state;
    char long_text[2000];
    for (size_t shift = 0; shift < 4; shift++) {
        struct shapeproof_error error = {0};
        size_t length = shift;
        memset(long_text, 'a', shift);
        for (; length + 4 < sizeof long_text; length += 4) memcpy(long_text + length, "\xf0\x9f\x98\x80", 4);
        long_text[length] = '\0';
        sp_malformed(&error, "%s", long_text);
        const size_t kept = strlen(error.message);
        assert_true(kept < sizeof error.message && kept >= sizeof error.message - 8);
        assert_string_equal(error.message + kept - 3, "...");
        assert_int_equal(sp_utf8_check(error.message, kept), kept);
        sp_error_prefix(&error, "path");
        assert_memory_equal(error.message, "path: ", 6);
        assert_int_equal(sp_utf8_check(error.message, strlen(error.message)), strlen(error.message));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8_every_code_point),
        cmocka_unit_test(test_utf8_every_pair),
        cmocka_unit_test(test_utf8_every_place),
        cmocka_unit_test(test_utf8_overlong),
        cmocka_unit_test(test_utf8_check_places),
        cmocka_unit_test(test_error_lines),
        cmocka_unit_test(test_visible),
        cmocka_unit_test(test_unseen),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_quote),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_first_error_stays),
        cmocka_unit_test(test_error_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
