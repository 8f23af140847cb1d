/* SPDX-License-Identifier: MIT
 * Expected differences: patterns of names, the file, and what expectations do to a verdict. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "check/model.h"
#include "expect/expect.h"
#include "names/name_pattern.h"

/* ---- patterns ---- */

static bool matches(const char *pattern, const char *name)
{
    struct sp_name_pattern parsed;
    struct sp_pattern_mistake mistake;
    if (!sp_name_pattern_parse(&parsed, pattern, strlen(pattern), &mistake))
        fail_msg("%s: %s", pattern, mistake.message);
    return sp_name_pattern_matches(&parsed, name);
}

static void patterns(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"a.b", "a.b", true},
        {"a.b", "a.bc", false},
        {"a.b", "a.", false},
        {"a.b", "axb", false},
        {"*", "", true},
        {"*", "a.b.c", true},
        {"*.weight", "h.0.weight", true},
        {"*.weight", "h.0.weights", false},
        {"h.*.weight", "h.0.attn.weight", true},
        {"a*b*c", "abbc", true},
        {"a*b*c", "acb", false},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"[ab]x", "bx", true},
        {"[!ab]x", "bx", false},
        {"[^ab]x", "cx", true},
        {"h.[0-4].w", "h.3.w", true},
        {"h.[0-4].w", "h.5.w", false},
        {"[]x]", "]", true},
        {"[a-]", "-", true},
        {"[\\]]", "]", true},
        {"h.{0-4,20-31}.w", "h.4.w", true},
        {"h.{0-4,20-31}.w", "h.25.w", true},
        {"h.{0-4,20-31}.w", "h.5.w", false},
        {"h.{0-4,20-31}.w", "h.04.w", false},
        {"h.{0-4,20-31}.w", "h.2.5.w", false},
        {"h.{0,1}.w", "h.1.w", true},
        {"h.{}.w", "h.12345.w", true},
        {"h.{}.w", "h.x.w", false},
        {"h.{}.w", "h..w", false},
        {"h{0-99}1", "h121", true}, /* 12 and 1 */
        {"{q,k,v}_proj", "k_proj", true},
        {"{q,k,v}_proj", "o_proj", false},
        {"{a,ab}c", "abc", true},
        {"x{,y}", "x", true},
        {"{a-b}", "a-b", true},
        {"a\\*", "a*", true},
        {"a\\*", "ab", false},
        {"\\{0\\}", "{0}", true},
        {"a\\ b", "a b", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (matches(cases[i].pattern, cases[i].name) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_name_pattern pattern = {cases[i].pattern, strlen(cases[i].pattern)};
        if (cases[i].matches) assert_int_equal(sp_pattern_characters(&pattern) & ~sp_name_characters(cases[i].name), 0);
    }
    const struct sp_name_pattern pattern = {"h.{x}*[y]?\\z", strlen("h.{x}*[y]?\\z")};
    assert_int_equal(sp_pattern_characters(&pattern), sp_name_characters("h.z"));
}

/* What a collapsed line of a report stands for is what it matches as a pattern. */
static void as_reports_print_them(void **state)
{
    (void)state;
    for (unsigned layer = 0; layer < 40; layer++) {
        char name[64];
        snprintf(name, sizeof name, "model.layers.%u.self_attn.k_proj.bias", layer);
        assert_int_equal(matches("model.layers.{0-4,7,20-31}.self_attn.{q_proj,k_proj}.bias", name),
                         layer <= 4 || layer == 7 || (layer >= 20 && layer <= 31));
    }
}

/* Stars do not multiply: a matcher that goes back for each of them never ends. */
static void many_stars(void **state)
{
    char pattern[201] = "", name[2001] = "";
    (void)state;
    for (size_t i = 0; i < 100; i++) strcat(pattern, "*a");
    memset(name, 'a', 1999);
    name[1999] = 'b';
    assert_false(matches(pattern, name));
}

/* The steps that a pattern takes for a name. */
static uint64_t steps_of(const char *pattern, const char *name)
{
    struct sp_budget budget = sp_budget_new();
    sp_budget_use(&budget);
    matches(pattern, name);
    sp_budget_use(NULL);
    return budget.steps;
}

/* A product of both lengths counts as one, and characters without a wildcard only as far as the name has them. */
static void steps_of_patterns(void **state)
{
    char name[1001];
    (void)state;
    memset(name, 'a', 1000);
    name[1000] = '\0';
    assert_in_range(steps_of("abcd", name), 1, 4);
    assert_in_range(steps_of("*a", name), 1000, 4000);
    assert_in_range(steps_of("*a*a*a*a*b", name), 9000, 20000);
    assert_in_range(steps_of("*[bcdefghij]", name), 10000, 20000);
    assert_in_range(steps_of("*{b,c,d,e,f,g,h,i,j,k}", name), 10000, 20000);
}

static void wrong_patterns(void **state)
{
    static const struct {
        const char *pattern;
        size_t offset;
        const char *message;
    } cases[] = {
        {"a.{0-4", 2, "this '{' is not closed"},  {"a.[0-4", 2, "this '[' is not closed"},
        {"a[]", 1, "this '[' is not closed"},     {"a.{0,5-2}", 5, "the range ends before it begins"},
        {"ab\\", 2, "nothing follows this '\\'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_name_pattern parsed;
        struct sp_pattern_mistake mistake = {0};
        assert_false(sp_name_pattern_parse(&parsed, cases[i].pattern, strlen(cases[i].pattern), &mistake));
        assert_string_equal(mistake.message, cases[i].message);
        assert_int_equal(mistake.offset, cases[i].offset);
    }
}

/* ---- the file ---- */

static struct shapeproof_expectations *load(struct scratch *scratch, const char *text, const char *today,
                                            struct shapeproof_error *error)
{
    return shapeproof_expectations_load(scratch_write(scratch, "expect", text, strlen(text)), today, error);
}

/* The first line of the message behind the path. */
static void expect_mistake(const char *text, const char *expected)
{
    struct scratch scratch;
    struct shapeproof_error error;
    scratch_make(&scratch);
    struct shapeproof_expectations *expectations = load(&scratch, text, "2026-06-30", &error);
    if (expectations) fail_msg("accepted: %s", text);
    assert_int_equal(error.status, SHAPEPROOF_ERR_TABLE);
    const char *place = strstr(error.message, "/expect");
    char *end = strchr(error.message, '\n');
    assert_non_null(place);
    if (end) *end = '\0';
    assert_string_equal(place + strlen("/expect"), expected);
    scratch_remove(&scratch);
}

static void mistakes(void **state)
{
    (void)state;
    expect_mistake("removed", ":1:8: expected a pattern of names, or '*'");
    expect_mistake("removed  # why", ":1:10: expected a pattern of names, or '*'");
    expect_mistake("# remark\n\nremoved x", ":3:10: expected '#' and the reason for which this is expected");
    expect_mistake("removed x #  \n", ":1:14: expected '#' and the reason for which this is expected");
    expect_mistake("Removed x # y", ":1:1: expected the id of a finding or cause, such as 'missing', or '*'");
    expect_mistake("mising x # y", ":1:1: there is no finding or cause 'mising': did you mean 'missing'?");
    expect_mistake(
        "zebra x # y",
        ":1:1: there is no finding or cause 'zebra' (docs/causes.md lists those of check, docs/diff.md those of diff)");
    expect_mistake("removed x y # z", ":1:11: expected 'until YYYY-MM-DD', or '#' and the reason");
    expect_mistake("removed x until # z", ":1:17: expected a day of the calendar, as YYYY-MM-DD");
    expect_mistake("removed x until 2026-02-29 # z", ":1:17: expected a day of the calendar, as YYYY-MM-DD");
    expect_mistake("removed x until 2026-13-01 # z", ":1:17: expected a day of the calendar, as YYYY-MM-DD");
    expect_mistake("removed x until 2026-1-01 # z", ":1:17: expected a day of the calendar, as YYYY-MM-DD");
    expect_mistake("removed x until 2028-02-29 y # z", ":1:28: expected '#' and the reason");
    expect_mistake("removed {x # z", ":1:9: this '{' is not closed");
    expect_mistake("removed \xff # z", ":1:9: this is no UTF-8 text");
}

static void not_a_file(void **state)
{
    struct shapeproof_error error;
    (void)state;
    assert_null(shapeproof_expectations_load("/nonexistent", "2026-06-30", &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_TABLE);
    assert_string_equal(error.message, "/nonexistent: open: No such file or directory");
}

/* ---- findings ---- */

/* Of several that cover a finding, the first in the file gives the reason, and all of them are fulfilled. */
static void first_reason(void **state)
{
    static const char lines[] = "missing a.b # 1\n"
                                "missing a.* # 2\n"
                                "missing a.b.c until 2020-01-01 # 3\n"
                                "missing * # 4\n"
                                "* a.b.c # 5\n"
                                "missing \\a.b.c # 6\n"
                                "missing a.b.cd # 7\n"
                                "unexpected \u00e9* # 8\n"
                                "missing a.b # 9\n";
    static const struct {
        const char *id, *cause, *name, *other, *reason, *fulfilled;
    } cases[] = {
        {"missing", NULL, "a.b.c", NULL, "2", "011111000"},
        {"missing", NULL, "a.b.c", "a.b", "1", "111111001"},
        {"missing", NULL, "a.bc", NULL, "2", "010100000"},
        {"missing", NULL, "a.b.cd", "a.b.c", "2", "011111100"},
        {"missing", NULL, "a", NULL, "4", "000100000"},
        {"missing", NULL, "", NULL, "4", "000100000"},
        {"unexpected", NULL, "a.b.c", NULL, "5", "000010000"},
        {"unexpected", NULL, "a.b.cd", NULL, NULL, "000000000"},
        {"unexpected", NULL, "\u00e9.x", NULL, "8", "000000010"},
        {"unexpected", "missing", "a.b", NULL, "1", "110100001"},
    };
    struct scratch scratch;
    struct shapeproof_error error;
    (void)state;
    scratch_make(&scratch);
    struct shapeproof_expectations *expectations = load(&scratch, lines, "2026-06-30", &error);
    if (!expectations) fail_msg("%s", error.message);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_expecting expecting = {.expectations = expectations};
        char fulfilled[sizeof "123456789"] = "";
        const char *reason = sp_expected(&expecting, cases[i].id, cases[i].cause, cases[i].name, cases[i].other);
        for (size_t k = 0; k < expectations->count; k++) fulfilled[k] = expecting.fulfilled[k] ? '1' : '0';
        assert_string_equal(fulfilled, cases[i].fulfilled);
        assert_string_equal(reason ? reason : "none", cases[i].reason ? cases[i].reason : "none");
        sp_free(expecting.fulfilled);
    }
    shapeproof_expectations_free(expectations);
    scratch_remove(&scratch);
}

/* ---- what they do to a check ---- */

#define GPT2 "{\"model_type\": \"gpt2\", \"n_layer\": 3, \"n_embd\": 8, \"vocab_size\": 32, \"n_positions\": 16}"

/* The verdict and its reason, of a file without its last layer under these expectations. */
static void expect_verdict(const char *lines, const char *today, const char *expected)
{
    struct model model;
    struct shapeproof_error error;
    char found[512];
    model_open(&model, GPT2);
    model_predict(&model, 0);
    model_drop(&model, "*.h.2.*");
    struct shapeproof_expectations *expectations = load(&model.scratch, lines, today, &error);
    if (!expectations) fail_msg("%s", error.message);
    model.options.expectations = expectations;
    model_check(&model);
    snprintf(found, sizeof found, "%s: %s", shapeproof_verdict_name(shapeproof_check_verdict(model.check)),
             shapeproof_check_summary(model.check));
    const char *path = strstr(found, "(/"), *behind = path ? strstr(path, "expect:") : NULL;
    if (behind) memmove(found + (path + 1 - found), behind, strlen(behind) + 1);
    assert_string_equal(found, expected);
    shapeproof_expectations_free(expectations);
    model_close(&model);
}

static void verdicts(void **state)
{
    static const char all[] = "match: all 28 tensors, 2,144 elements; 12 expected differences";
    (void)state;
    expect_verdict("missing transformer.h.2.* # cut off", "2026-06-30", all);
    expect_verdict("* *.h.{2}.* # cut off\n", "2026-06-30", all);
    expect_verdict("hyperparameter * # cut off", "2026-06-30", all); /* by the cause that explains them */
    expect_verdict("missing *.ln_* # one\nmissing *.attn.* # two\nmissing *.mlp.* # three", "2026-06-30", all);
    expect_verdict("missing *.h.2.* # cut off\nmissing *.h.2.attn.* # fulfilled as well", "2026-06-30", all);
}

static void some_are_left(void **state)
{
    (void)state;
    expect_verdict("missing *.ln_* # one", "2026-06-30",
                   "differs: n_layer is 3 in config.json, the file has 2 (12 tensors)");
}

static void unused_and_expired(void **state)
{
    (void)state;
    expect_verdict("missing *.h.2.* # cut off\nunexpected x.* # gone", "2026-06-30",
                   "differs: unexpected x.* is expected and was not found (expect:2: gone)");
    expect_verdict("missing *.h.2.* until 2026-06-30 # cut off", "2026-06-30",
                   "match: all 28 tensors, 2,144 elements; 12 expected differences");
    expect_verdict(
        "missing *.h.2.* until 2026-06-29 # cut off", "2026-06-30",
        "differs: n_layer is 3 in config.json, the file has 2 (12 tensors); 1 finding without a known cause");
    expect_verdict("missing *.h.2.* until 2020-01-01 # before\nmissing *.h.2.* # still", "2026-06-30",
                   "differs: missing *.h.2.* was expected until 2020-01-01 (expect:1: before)");
}

/* A cause that has no findings is expected by its id alone. */
static void a_prefix(void **state)
{
    struct model model;
    struct shapeproof_error error;
    (void)state;
    model_open(&model, GPT2);
    model_predict(&model, 0);
    model_prefix(&model, "module.");
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_EXPLAINED);
    struct shapeproof_expectations *expectations =
        load(&model.scratch, "prefix * # trained in parallel", "2026-06-30", &error);
    model.options.expectations = expectations;
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->message,
                        "every name in the file begins with 'module.' (expected: trained in parallel)");
    shapeproof_expectations_free(expectations);
    model_close(&model);
}

/* The file of expectations is input of a call that uses them, once. */
static void file_is_input(void **state)
{
    static const char text[] = "missing a.* # known\n";
    struct scratch scratch;
    struct shapeproof_error error;
    (void)state;
    scratch_make(&scratch);
    struct shapeproof_expectations *expectations = load(&scratch, text, "2026-06-30", &error);
    if (!expectations) fail_msg("%s", error.message);
    struct sp_budget budget = sp_budget_new();
    struct sp_expecting expecting = {.expectations = expectations};
    sp_budget_use(&budget);
    sp_expected(&expecting, "missing", NULL, "a.b", NULL);
    sp_expected(&expecting, "missing", NULL, "a.c", NULL);
    assert_int_equal(sp_budget_input(), sizeof text - 1);
    sp_budget_use(NULL);
    sp_free(expecting.fulfilled);
    shapeproof_expectations_free(expectations);
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),           cmocka_unit_test(as_reports_print_them),
        cmocka_unit_test(many_stars),         cmocka_unit_test(wrong_patterns),
        cmocka_unit_test(mistakes),           cmocka_unit_test(not_a_file),
        cmocka_unit_test(verdicts),           cmocka_unit_test(some_are_left),
        cmocka_unit_test(unused_and_expired), cmocka_unit_test(a_prefix),
        cmocka_unit_test(steps_of_patterns),  cmocka_unit_test(first_reason),
        cmocka_unit_test(file_is_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
