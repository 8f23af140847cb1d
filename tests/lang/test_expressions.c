/* SPDX-License-Identifier: MIT
 * Expressions: each line is an expression, settings, and its value as JSON, "absent", "null" or a message. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

struct line {
    const char *expression, *expected, *settings;
};

static void check(const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *value = evaluate(lines[i].expression, lines[i].settings ? lines[i].settings : "");
        if (!value || strcmp(value, lines[i].expected) != 0)
            fail_msg("%s gives %s, expected %s", lines[i].expression, value ? value : "nothing", lines[i].expected);
        free(value);
    }
}
#define CHECK(lines) check((lines), sizeof(lines) / sizeof *(lines))

static void precedence(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"1 + 2*3", "7", NULL},
        {"(1 + 2)*3", "9", NULL},
        {"10 - 3 - 2", "5", NULL},
        {"100 / 10 / 2", "5", NULL},
        {"7 // 2 * 2", "6", NULL},
        {"2 ^ 3 ^ 2", "512", NULL},
        {"-2 ^ 2", "-4", NULL},
        {"(-2) ^ 2", "4", NULL},
        {"2 ^ -1 + 0", "the exponent is negative", NULL},
        {"- -3", "3", NULL},
        {"2 * -3", "-6", NULL},
        {"1 + 1 == 2", "true", NULL},
        {"not 1 == 2", "true", NULL},
        {"not false and false", "false", NULL},
        {"not (false and false)", "true", NULL},
        {"true or false and false", "true", NULL},
        {"(true or false) and false", "false", NULL},
        {"1 < 2 and 2 < 3 or false", "true", NULL},
        {"nothing default 1 + 1", "2", NULL},
        {"nothing default false or true", "true", NULL},
        {"nothing default other default 3", "3", NULL},
        {"nothing default true ? 1 : 2", "1", NULL},
        {"true ? 1 : false ? 2 : 3", "1", NULL},
        {"false ? 1 : false ? 2 : 3", "3", NULL},
        {"false ? 1 : true ? 2 : 3", "2", NULL},
        {"1 in [1, 2] and 3 not in [1, 2]", "true", NULL},
        {"2 * f(1, 2)", "24", NULL},
        {"-[1, 2][1]", "-2", NULL},
        {"2 ^ [1, 3][1]", "8", NULL},
    };
    CHECK(lines);
}

static void whole_numbers(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"12 / 4", "3", NULL},
        {"12 / 5", "12 is not divisible by 5 ('//' rounds down)", NULL},
        {"-12 / 5", "-12 is not divisible by 5 ('//' rounds down)", NULL},
        {"-12 / 4", "-3", NULL},
        {"7 // 2", "3", NULL},
        {"-7 // 2", "-4", NULL},
        {"7 // -2", "-4", NULL},
        {"-7 // -2", "3", NULL},
        {"-8 // 2", "-4", NULL},
        {"7 % 3", "1", NULL},
        {"-7 % 3", "2", NULL},
        {"7 % -3", "-2", NULL},
        {"-7 % -3", "-1", NULL},
        {"6 % 3", "0", NULL},
        {"1 / 0", "division by zero", NULL},
        {"1 // 0", "division by zero", NULL},
        {"1 % 0", "division by zero", NULL},
        {"0 ^ 0", "1", NULL},
        {"(-1) ^ 9223372036854775807", "-1", NULL},
        {"1 ^ 9223372036854775807", "1", NULL},
        {"0 ^ 9223372036854775807", "0", NULL},
        {"2 ^ 62", "4611686018427387904", NULL},
        {"2 ^ 63", "the result does not fit in 64 bits", NULL},
        {"9223372036854775807 + 1", "the result does not fit in 64 bits", NULL},
        {"-9223372036854775807 - 1", "-9223372036854775808", NULL},
        {"(-9223372036854775807 - 1) % (-1)", "0", NULL},
        {"-9223372036854775807 - 2", "the result does not fit in 64 bits", NULL},
        {"(-9223372036854775807 - 1) // -1", "the result does not fit in 64 bits", NULL},
        {"-(-9223372036854775807 - 1)", "the result does not fit in 64 bits", NULL},
        {"4294967296 * 4294967296", "the result does not fit in 64 bits", NULL},
        {"9223372036854775808", "the number does not fit in 64 bits", NULL},
        {"9007199254740993 > 9007199254740992", "true", NULL},
        {"9007199254740993 == 9007199254740992", "false", NULL},
    };
    CHECK(lines);
}

static void real_numbers(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"1.5 + 1", "2.5", NULL},
        {"0.1", "0.1", NULL},
        {"0.1 + 0.2", "0.30000000000000004", NULL},
        {"4.0 * 768", "3072.0", NULL},
        {"7.0 / 2", "3.5", NULL},
        {"7.0 // 2", "3.0", NULL},
        {"-7.0 // 2", "-4.0", NULL},
        {"-7.0 % 2", "1.0", NULL},
        {"2.0 ^ 0.5 > 1.41", "true", NULL},
        {"1 / 0.0", "division by zero", NULL},
        {"10.0 ^ 400", "the result is not a finite number", NULL},
        {"1 == 1.0", "true", NULL},
        {"1 < 1.5", "true", NULL},
        {"int(2.9)", "2", NULL},
        {"int(-2.9)", "-2", NULL},
        {"int(768 * 2.6667)", "2048", NULL},
        {"int(5)", "5", NULL},
        {"int(10.0 ^ 300)", "int: the number is too large to be exact", NULL},
        {"round(0.5)", "0", NULL},
        {"round(1.5)", "2", NULL},
        {"round(2.5)", "2", NULL},
        {"round(-1.5)", "-2", NULL},
        {"round(2.51)", "3", NULL},
        {"round(-2.2)", "-2", NULL},
        {"round(7)", "7", NULL},
        {"round(10.0 ^ 300)", "round: the number is too large to be exact", NULL},
        {"int(\"5\")", "int: takes a number", NULL},
        {"0.1234567890123456", "a real number may have 15 digits", NULL},
    };
    CHECK(lines);
}

static void texts_and_truth(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"\"a\" + \"b\"", "\"ab\"", NULL},
        {"\"a\" < \"b\"", "true", NULL},
        {"\"a\" == \"a\"", "true", NULL},
        {"\"a\" == 1", "false", NULL},
        {"\"a\" != 1", "true", NULL},
        {"\"a\" + 1", "cannot compute with a string and an integer", NULL},
        {"\"a\" < 1", "cannot compare a string with an integer", NULL},
        {"true == 1", "false", NULL},
        {"true + 1", "cannot compute with a truth value and an integer", NULL},
        {"true < false", "cannot compare a truth value with a truth value", NULL},
        {"1 and 0", "false", NULL},
        {"not 0", "true", NULL},
        {"not \"a\"", "expected a truth value, found a string", NULL},
        {"1.0 or true", "expected a truth value, found a real number", NULL},
        {"true or 1 / 0 == 1", "true", NULL},
        {"false and 1 / 0 == 1", "false", NULL},
        {"-\"a\"", "cannot negate a string", NULL},
        {"1 < 2 < 3", "comparisons do not chain: join two with 'and'", NULL},
        {"1 == 2 == false", "comparisons do not chain: join two with 'and'", NULL},
        {"(1 == 2) == false", "true", NULL},
        {"\"x\" ? 1 : 2", "expected a truth value, found a string", NULL},
    };
    CHECK(lines);
}

static void lists_and_objects(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"[1, 2, 3]", "[1, 2, 3]", NULL},
        {"[]", "[]", NULL},
        {"[1, [2, \"x\"]]", "[1, [2, \"x\"]]", NULL},
        {"[1, 2] == [1, 2]", "true", NULL},
        {"[1, 2] == [1, 2.0]", "true", NULL},
        {"[1, 2] == [1]", "false", NULL},
        {"a == b", "true", "a=[1,null] b=[1,null]"},
        {"depths[1]", "6", "depths=[2,6]"},
        {"depths[2]", "there is no item 2 in depths, a list of 2 (the first is item 0)", "depths=[2,6]"},
        {"depths[-1]", "there is no item -1 in depths, a list of 2 (the first is item 0)", "depths=[2,6]"},
        {"depths[\"a\"]", "an index is an integer, not a string", "depths=[2,6]"},
        {"depths[0]", "expected a list, found an integer", "depths=3"},
        {"depths[nothing]", "absent", "depths=[2,6]"},
        {"grid[1][0]", "3", "grid=[[1,2],[3,4]]"},
        {"2 in depths", "true", "depths=[2,6]"},
        {"2 not in depths", "false", "depths=[2,6]"},
        {"2 in 3", "'in' needs a list, not an integer", NULL},
        {"\"n\" in \"drn\"", "true", NULL},
        {"\"n\" not in \"drn\"", "false", NULL},
        {"\"rd\" in \"drn\"", "false", NULL},
        {"\"\" in \"\"", "true", NULL},
        {"2 in \"123\"", "'in' needs a list, not a string", NULL},
        {"rope.type", "\"yarn\"", "rope.type=yarn"},
        {"rope.inner.factor", "4", "rope.inner.factor=4"},
        {"rope.other", "absent", "rope.type=yarn"},
        {"rope.other default 5", "5", "rope.type=yarn"},
        {"rope.type", "absent", ""},
        {"rope.type", "null", "rope=null"},
        {"rope.type", "expected an object, found an integer", "rope=3"},
        {"len(id2label)", "2", "id2label={\"0\":\"a\",\"1\":\"b\"}"},
        {"items[0].size", "7", "items=[{\"size\":7}]"},
        {"[nothing]", "the hyper-parameter 'nothing' is not set", NULL},
    };
    CHECK(lines);
}

static void functions(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"at([4, 5], 1)", "5", NULL},
        {"at(7, 1)", "7", NULL},
        {"at([4, 5], 2)", "at: the list is too short", NULL},
        {"at([4, 5], 1.0)", "at: the index is an integer", NULL},
        {"len([1, 2])", "2", NULL},
        {"len(\"abc\")", "3", NULL},
        {"len(3)", "len: takes a list, an object or a string", NULL},
        {"min(3, 1, 2)", "1", NULL},
        {"max(3, 1, 2)", "3", NULL},
        {"max([3, 9, 2])", "9", NULL},
        {"min([])", "min: takes at least one number", NULL},
        {"max(1, \"a\")", "max: takes numbers", NULL},
        {"max(9007199254740992, 9007199254740993)", "9007199254740993", NULL},
        {"min(9007199254740993, 9007199254740992)", "9007199254740992", NULL},
        {"max(1, 1.5)", "1.5", NULL},
        {"sum([1, 2, 3])", "6", NULL},
        {"sum([])", "0", NULL},
        {"sum(3)", "sum: takes a list of integers, or a list of objects and a key, or of lists and a place", NULL},
        {"sum(layers, \"width\")", "7", "layers=[{\"width\":3},{\"width\":4,\"depth\":9}]"},
        {"sum(layers, \"depth\")",
         "sum: takes a list of integers, or a list of objects and a key, or of lists and a place",
         "layers=[{\"width\":3},{\"width\":4,\"depth\":9}]"},
        {"sum([1, 2], \"width\")",
         "sum: takes a list of integers, or a list of objects and a key, or of lists and a place", NULL},
        {"sum([], \"width\")", "0", NULL},
        {"sum([1], 1)", "sum: takes a list of integers, or a list of objects and a key, or of lists and a place", NULL},
        {"sum(nothing, \"width\")", "absent", NULL},
        {"release(\"1.18.2\")", "1018002", NULL},
        {"release(\"2\")", "2000000", NULL},
        {"release(\"1.9\") < release(\"1.18\")", "true", NULL},
        {"release(\"3.0.0-rc1\") == release(\"3.0.0.1\")", "true", NULL},
        {"release(\"1..2\")", "1000002", NULL},
        {"release(\"v1\")", "release: takes a version as a string, such as \"1.18.2\"", NULL},
        {"release(\"1.1000\")", "release: takes a version as a string, such as \"1.18.2\"", NULL},
        {"release(1.18)", "release: takes a version as a string, such as \"1.18.2\"", NULL},
        {"row(\"ab\", [[\"a\", 1], [\"ab\", 2], [\"abc\", 3]])[1]", "2", NULL},
        {"row(\"ab\", [[\"a\", 1]], [[\"ab\", 2]])", "[\"ab\", 2]", NULL},
        {"row(\"x\", [[\"\", 4], [\"y\", 5]])[1]", "4", NULL},
        {"row(\"x\", [[\"y\", 5]])", "row: there is no row for the string", NULL},
        {"row(\"x\", [5])", "row: a row is a list that begins with a string", NULL},
        {"row(\"x\", 5)", "row: takes a string and lists of rows", NULL},
        {"row(nothing, [[\"y\", 5]])", "absent", NULL},
        {"after(\"a/b/c\", \"/\")", "\"b/c\"", NULL},
        {"after(\"abc\", \"/\")", "\"abc\"", NULL},
        {"after(1, \"/\")", "after: takes two strings", NULL},
        {"until(\"a/b/c\", \"/\")", "\"a\"", NULL},
        {"until(\"/b\", \"/\")", "\"\"", NULL},
        {"until(\"abc\", \"/\")", "\"abc\"", NULL},
        {"until(\"abc\", \"/\") == \"abc\"", "true", NULL},
        {"until(\"a\", 1)", "until: takes two strings", NULL},
        {"stray([], [])", "stray: takes an object and lists of keys", NULL},
        {"stray(nothing, [\"a\"])", "absent", NULL},
        {"primes(0, 0, 1)", "2", NULL},
        {"primes(0, 0, 10)", "129", NULL},
        {"primes(0, 0, 4096)", "74950547", NULL},
        {"primes(62, 2, 1)", "73", NULL},
        {"primes(2147483629, 0, 2)", "4294967276", NULL},
        {"primes(20000000, 16, 3)", "60000677", NULL},
        {"primes(3, 0, 0)", "0", NULL},
        {"primes(2147483648, 0, 1)", "primes: takes numbers below 2^31, and up to 4096 primes", NULL},
        {"primes(2, 0, -1)", "primes: takes whole numbers from 0 up", NULL},
        {"near_multiple(3, 8)", "8", NULL},
        {"near_multiple(12, 8)", "16", NULL},
        {"near_multiple(11.9, 8)", "16", NULL},
        {"near_multiple(19.2, 8)", "24", NULL},
        {"near_multiple(18, 8)", "24", NULL},
        {"near_multiple(100, 8)", "104", NULL},
        {"near_multiple(1, 0)", "near_multiple: takes a number and a divisor from 1 up", NULL},
        {"number_after(\"a_b_12_3\", \"_\", 0)", "12", NULL},
        {"number_after(\"a_b\", \"_\", 7)", "7", NULL},
        {"number_after(\"a\", \"\", 7)", "number_after: takes two strings and the value when there is no such number",
         NULL},
        {"number_after(\"a99999999999999999999\", \"a\", 7)", "number_after: the result does not fit in 64 bits", NULL},
        {"sum([9223372036854775807, 1])", "sum: the result does not fit in 64 bits", NULL},
        {"ceil_div(7, 2)", "4", NULL},
        {"ceil_div(8, 2)", "4", NULL},
        {"ceil_div(0, 2)", "0", NULL},
        {"ceil_div(-1, 2)", "ceil_div: takes an integer from 0 up and a divisor from 1 up", NULL},
        {"ceil_div(1, 0)", "ceil_div: takes an integer from 0 up and a divisor from 1 up", NULL},
        {"round_up(50257, 128)", "50304", NULL},
        {"round_up(128, 128)", "128", NULL},
        {"round_up(9223372036854775807, 2)", "round_up: the result does not fit in 64 bits", NULL},
        {"starts_with(\"GPT2Model\", \"GPT2\")", "true", NULL},
        {"starts_with(\"GPT\", \"GPT2\")", "false", NULL},
        {"ends_with(\"GPT2Model\", \"Model\")", "true", NULL},
        {"ends_with(\"del\", \"Model\")", "false", NULL},
        {"ends_with(\"GPT2Model\", [\"Head\", \"Model\"])", "true", NULL},
        {"starts_with(\"GPT2Model\", [])", "false", NULL},
        {"ends_with(\"GPT2Model\", [1])", "ends_with: takes a string and a string or a list of strings", NULL},
        {"ends_with(1, \"Model\")", "ends_with: takes a string and a string or a list of strings", NULL},
        {"f(1, 2)", "12", NULL},
        {"f(square(2), 1)", "41", NULL},
        {"f(1)", "'f' takes 2 arguments, not 1", NULL},
        {"len()", "'len' takes 1 argument, not 0", NULL},
        {"min()", "'min' takes 1 to 16 arguments, not 0", NULL},
        {"none(1)", "there is no function 'none'", NULL},
        {"f", "'f' needs its arguments", NULL},
        {"len", "absent", NULL}, /* the name of a function may be that of a key */
    };
    CHECK(lines);
}

static void absent_and_null(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"k", "absent", ""},
        {"k", "null", "k=null"},
        {"k", "false", "k=false"},
        {"k", "0", "k=0"},
        {"k", "\"\"", "k="},
        {"k + 1", "absent", ""},
        {"1 + k", "null", "k=null"},
        {"-k", "absent", ""},
        {"not k", "absent", ""},
        {"k == 1", "absent", ""},
        {"k < 1", "null", "k=null"},
        {"k and true", "absent", ""},
        {"k or true", "absent", ""},
        {"true or k", "true", ""},
        {"false or k", "absent", ""},
        {"k ? 1 : 2", "absent", ""},
        {"k[0]", "absent", ""},
        {"len(k)", "null", "k=null"},
        {"f(k, 1)", "absent", ""},
        {"k default 4", "4", ""},
        {"k default 4", "4", "k=null"},
        {"k default true", "false", "k=false"},
        {"k default 4", "0", "k=0"},
        {"k + 1 default 4", "4", ""},
        {"k default l", "absent", ""},
        {"k default l default 3", "3", "k=null"},
        {"absent(k)", "true", ""},
        {"absent(k)", "false", "k=null"},
        {"null(k)", "true", "k=null"},
        {"null(k)", "false", ""},
        {"absent(k + 1)", "true", ""},
        {"null(k) ? 1 : 8", "1", "k=null"},
        {"null(k) ? 1 : 8", "8", ""},
    };
    CHECK(lines);
}

static void spelling(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"1 +", "expected an expression", NULL},
        {"1 2", "expected ',' or ')'", NULL},
        {"a b", "expected ',' or ')'", NULL},
        {"3x", "a number cannot be followed by a letter", NULL},
        {"1 $ 2", "this character has no meaning here", NULL},
        {"\"abc", "the string has no closing '\"' on its line", NULL},
        {"true ? 1", "expected ':' between the two values of a choice", NULL},
        {"x not 3", "expected 'in' after 'not'", NULL},
        {"if", "expected a name, and this is a word of the language", NULL},
        {"a.if", "expected the name of a key, and this is a word of the language", NULL},
        {"x[1", "expected ']'", NULL},
        {"(1,\n 2)", "expected ')'", NULL},
        {"[1,\n 2, # two\n 3]", "[1, 2, 3]", NULL},
        {"[1, 2,]", "[1, 2]", NULL},
    };
    CHECK(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence),      cmocka_unit_test(whole_numbers),     cmocka_unit_test(real_numbers),
        cmocka_unit_test(texts_and_truth), cmocka_unit_test(lists_and_objects), cmocka_unit_test(functions),
        cmocka_unit_test(absent_and_null), cmocka_unit_test(spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
