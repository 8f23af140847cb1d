/* SPDX-License-Identifier: MIT
 * The JSON scanner: what it accepts, what it refuses, escapes and integers at their boundaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_scan.h"
#include "base/utf8.h"

struct fixture {
    struct shapeproof_error error;
    struct sp_json json;
};

/* Scans a copy in a block of exactly its size, so that the sanitizers see a byte too many. free(json.text). */
static void begin_bytes(struct fixture *fixture, const char *text, size_t length)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    fixture->error = (struct shapeproof_error){0};
    fixture->json = (struct sp_json){.what = "text", .text = copy, .length = length, .error = &fixture->error};
}

static void begin(struct fixture *fixture, const char *text) { begin_bytes(fixture, text, strlen(text)); }

static bool is_json(const char *text)
{
    struct fixture fixture;
    size_t length = 0;
    begin(&fixture, text);
    const bool ok = sp_json_check(&fixture.json) && sp_json_skip(&fixture.json, &length) && sp_json_end(&fixture.json);
    assert_int_equal(ok, sp_json_ok(&fixture.json));
    free(fixture.json.text);
    return ok;
}

static void test_grammar(void **state)
{
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "1.5e-3",
                                       "1E+9",
                                       "0e0",
                                       "true",
                                       " false ",
                                       "null",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       "[[],{}]",
                                       "{\"a\":[1,{\"b\":null}],\"c\":\"\\\\\"}",
                                       "[ 1 , 2 ]",
                                       "{ \"a\" : 1 }"};
    static const char *const bad[] = {"",
                                      " ",
                                      "01",
                                      "+1",
                                      ".5",
                                      "1.",
                                      "1e",
                                      "-",
                                      "1e+",
                                      "NaN",
                                      "TRUE",
                                      "nul",
                                      "'a'",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[",
                                      "]",
                                      "[1}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{1:2}",
                                      "{,}",
                                      "{\"a\":1 \"b\":2}",
                                      "\"",
                                      "\"\\",
                                      "\"\\u12\"",
                                      "/**/1",
                                      "1 1",
                                      "\v1",
                                      "\xef\xbb\xbf[]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!is_json(good[i])) fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (is_json(bad[i])) fail_msg("accepted: %s", bad[i]);
}

/* What a string literal stands for, or false. */
static bool decodes_to(const char *literal, const char *expected)
{
    struct fixture fixture;
    begin(&fixture, literal);
    const char *text = sp_json_string(&fixture.json);
    const bool same = text && strcmp(text, expected) == 0 && sp_json_end(&fixture.json);
    free(fixture.json.text);
    return same;
}

static bool is_code_point(const char *literal, uint32_t code)
{
    struct fixture fixture;
    uint32_t decoded = 0;
    begin(&fixture, literal);
    const char *text = sp_json_string(&fixture.json);
    const bool same = text && sp_utf8_decode(text, strlen(text), &decoded) == strlen(text) && decoded == code;
    free(fixture.json.text);
    return same;
}

static void test_every_escape(void **state)
{
    (void)state;
    char literal[32];
    for (uint32_t unit = 0; unit <= 0xffff; unit++) {
        const bool legal = unit && !(unit >= 0xd800 && unit <= 0xdfff);
        snprintf(literal, sizeof literal, unit & 1 ? "\"\\u%04x\"" : "\"\\u%04X\"", (unsigned)unit);
        if (is_code_point(literal, unit) != legal) fail_msg("%s", literal);
    }
    for (uint32_t code = 0x10000; code <= 0x10ffff; code += code % 0x400 < 2 || code % 0x400 > 0x3fd ? 1 : 0x3fb) {
        const unsigned high = (unsigned)(0xd800 + ((code - 0x10000) >> 10)), low = (unsigned)(0xdc00 + (code & 0x3ff));
        snprintf(literal, sizeof literal, "\"\\u%04x\\u%04x\"", high, low);
        if (!is_code_point(literal, code)) fail_msg("%s", literal);
    }
    for (int c = 1; c < 128; c++) {
        snprintf(literal, sizeof literal, "\"\\%c\"", c);
        if (c != 'u' && is_json(literal) != (strchr("\"\\/bfnrt", c) != NULL)) fail_msg("%s", literal);
    }
}

static void test_strings(void **state)
{
    (void)state;
    assert_true(decodes_to("\"a\\u00e9b\"", "a\xc3\xa9"
                                            "b"));
    assert_true(decodes_to("  \"\\\"\\\\\\/\\b\\f\\n\\r\\t\" ", "\"\\/\b\f\n\r\t"));
    assert_false(is_json("\"\\ud800\""));
    assert_false(is_json("\"\\ud800x\\udc00\""));
    assert_false(is_json("\"\\ud800\\ud800\""));
    assert_false(is_json("\"\\ud800\\ue000\""));
    assert_false(is_json("\"\\ud83d\\u00e9\""));
    assert_false(is_json("\"\\u00g0\""));
}

/* A NUL is no character of a string, however it is written: what C takes for the end would hide the rest. */
static void test_no_nul(void **state)
{
    (void)state;
    static const struct {
        char text[10];
        size_t length;
    } strings[] = {{"\"\\u0000a\"", 9}, {"\"\\\0a\"", 5}, {"\"\\\0\"", 4}, {"\"\\\0", 3}};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        struct fixture fixture;
        begin_bytes(&fixture, strings[i].text, strings[i].length);
        assert_null(sp_json_string(&fixture.json));
        assert_string_equal(fixture.error.message, "text: NUL in a string at byte 1");
        free(fixture.json.text);
    }
}

/* A string is looked at eight bytes at a time: each byte in each place of it, before further ones and at the end. */
static void expect_byte(size_t before, unsigned char byte, size_t after)
{
    char literal[64], content[48];
    struct fixture fixture;
    memset(content, 'a', before + 1 + after);
    content[before] = (char)byte;
    content[before + 1 + after] = '\0';
    snprintf(literal, sizeof literal, "\"%s\"", content);
    begin(&fixture, literal);
    const char *text = sp_json_string(&fixture.json);
    if (byte == '"') content[before] = '\0';
    const bool legal = byte >= 0x20 && byte != '\\'; /* no escape is written with 'a', nor with the closing quote */
    if (legal ? !text || strcmp(text, content) != 0 || fixture.json.string_length != strlen(content) : text != NULL)
        fail_msg("byte 0x%02x after %zu and before %zu others", byte, before, after);
    free(fixture.json.text);
}

static void test_every_byte_in_every_place(void **state)
{
    (void)state;
    for (size_t before = 0; before < 20; before++)
        for (size_t after = 0; after < 20; after++)
            for (unsigned byte = 1; byte < 256; byte++) expect_byte(before, (unsigned char)byte, after);
}

static bool reads_u64(const char *text, uint64_t expected)
{
    struct fixture fixture;
    uint64_t value = 0;
    begin(&fixture, text);
    const bool same = sp_json_u64(&fixture.json, &value) && value == expected && sp_json_end(&fixture.json);
    free(fixture.json.text);
    return same;
}

static void test_integers(void **state)
{
    (void)state;
    assert_true(reads_u64("0", 0));
    assert_true(reads_u64(" 10 ", 10));
    assert_true(reads_u64("9007199254740993", 9007199254740993));
    assert_true(reads_u64("18446744073709551615", UINT64_MAX));
    static const char *const bad[] = {"18446744073709551616",
                                      "99999999999999999999",
                                      "99999999999999999999999999",
                                      "-0",
                                      "-1",
                                      "00",
                                      "01",
                                      "1.0",
                                      "1e0",
                                      "1e",
                                      "0x1",
                                      "\"1\"",
                                      "",
                                      "null",
                                      "1a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (uint64_t wrong = 0; wrong < 2; wrong++)
            if (reads_u64(bad[i], wrong)) fail_msg("accepted: %s", bad[i]);
}

static bool reads_u64s(const char *text, size_t expected)
{
    struct fixture fixture;
    uint64_t values[3] = {0};
    size_t count = 0;
    begin(&fixture, text);
    const bool ok = sp_json_u64s(&fixture.json, values, 2, &count) && count == expected;
    assert_int_equal(values[2], 0);
    for (size_t i = 0; ok && i < count && i < 2; i++) assert_int_equal(values[i], i + 7);
    const bool end = ok && count <= 2 && sp_json_end(&fixture.json);
    free(fixture.json.text);
    return ok && end == (count <= 2);
}

static void test_arrays_of_integers(void **state)
{
    (void)state;
    assert_true(reads_u64s("[]", 0));
    assert_true(reads_u64s(" [ 7 ] ", 1));
    assert_true(reads_u64s("[7,8]", 2));
    assert_true(reads_u64s("[7 ,\n8 , 9]", 3)); /* more than there is room for */
    assert_true(reads_u64s("[7,8,null", 3));
    static const char *const bad[] = {"", "7", "[", "[7", "[7,", "[7,]", "[,7]", "[7 8]", "[7}", "[-7]", "[7,8.0]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (size_t count = 0; count <= 3; count++)
            if (reads_u64s(bad[i], count)) fail_msg("accepted: %s", bad[i]);
}

/* Depth SP_JSON_DEPTH passes, one more does not. */
static void test_depth(void **state)
{
    (void)state;
    char text[2 * SP_JSON_DEPTH + 3];
    for (size_t depth = SP_JSON_DEPTH; depth <= SP_JSON_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = '\0';
        assert_int_equal(is_json(text), depth == SP_JSON_DEPTH);
    }
}

static void test_failure_sticks(void **state)
{
    (void)state;
    struct fixture fixture;
    size_t length;
    uint64_t value;
    bool first = true;
    begin(&fixture, "{\"a\":1}");
    assert_false(sp_json_open(&fixture.json, '['));
    assert_string_equal(fixture.error.message, "text: expected an array at byte 0, found '{'");
    assert_false(sp_json_open(&fixture.json, '{'));
    assert_null(sp_json_member(&fixture.json, &first));
    assert_null(sp_json_string(&fixture.json));
    assert_false(sp_json_u64(&fixture.json, &value));
    assert_null(sp_json_skip(&fixture.json, &length));
    assert_false(sp_json_end(&fixture.json));
    assert_int_equal(sp_json_peek(&fixture.json), '\0');
    assert_int_equal(fixture.json.offset, 0);
    free(fixture.json.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_every_escape),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_no_nul),
        cmocka_unit_test(test_every_byte_in_every_place),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_arrays_of_integers),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_failure_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
