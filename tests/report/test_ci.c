/* SPDX-License-Identifier: MIT
 * SARIF and JUnit: hostile texts, parts and counts. tests/cli/formats.test has whole documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "shapeproof/shapeproof.h"

static const struct shapeproof_report_options sarif = {.format = SHAPEPROOF_REPORT_SARIF},
                                              junit = {.format = SHAPEPROOF_REPORT_JUNIT},
                                              markdown = {.format = SHAPEPROOF_REPORT_MARKDOWN};

/* A checkpoint that could not be read, whose path and message are from outside. */
static char *part_of(const char *path, const char *message, const struct shapeproof_report_options *how)
{
    struct shapeproof_error error = {.status = SHAPEPROOF_ERR_FILE, .kind = SHAPEPROOF_KIND_MALFORMED};
    const struct shapeproof_checked checked = {.path = path, .status = 4, .error = &error};
    strcpy(error.message, message);
    return shapeproof_report_checked(&checked, how, NULL);
}

/* XML 1.0 has no control characters and neither U+FFFE nor U+FFFF, not even as references: they are escaped. */
static void test_junit_escapes(void **state)
{
    char *part = part_of("a<\"&\x01\xff", "]]> \xef\xbf\xbe\xef\xbf\xbf\xef\xac\x81", &junit);
    (void)state;
    assert_non_null(strstr(part, "name=\"a&lt;&quot;&amp;\\x01\\xff\""));
    assert_non_null(strstr(part, "message=\"]]&gt; \\u{fffe}\\u{ffff}\xef\xac\x81\""));
    shapeproof_free(part);
}

/* {0} would stand for an argument of a message. */
static void test_sarif_escapes(void **state)
{
    char *part = part_of("a b:c/\xc3\xa4\"", "h.{0} \" \x01", &sarif);
    (void)state;
    assert_non_null(strstr(part, "{\"text\": \"h.{{0}} \\\" \\u0001\"}"));
    assert_non_null(strstr(part, "\"uri\": \"a%20b%3Ac/%C3%A4%22\""));
    shapeproof_free(part);
}

static void test_sarif_uris(void **state)
{
    static const char *const uris[][2] = {
        {"/m/a.pt", "file:///m/a.pt"},
        {"../a.pt", "../a.pt"},
        {"hf://org/name@main/a b.pt", "hf://org/name@main/a%20b.pt"},
        {"https://host:1/a?b=c", "https://host:1/a?b=c"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        char uri[64];
        char *part = part_of(uris[i][0], "wrong", &sarif);
        snprintf(uri, sizeof uri, "\"uri\": \"%s\"", uris[i][1]);
        assert_non_null(strstr(part, uri));
        shapeproof_free(part);
    }
}

/* Tags in a message are not counted, and rules in a message not listed. */
static void test_counts(void **state)
{
    char *parts[] = {part_of("a", "<testcase <error \"ruleId\": \"io\"", &junit), part_of("b", "wrong", &junit)};
    char *document = shapeproof_report_document((const char *const *)parts, 2, &junit, NULL);
    (void)state;
    assert_non_null(strstr(document, "tests=\"2\" failures=\"0\" errors=\"2\""));
    shapeproof_free(document);
    for (size_t i = 0; i < 2; i++) shapeproof_free(parts[i]);
    parts[0] = part_of("a", "\"ruleId\": \"io\"", &sarif);
    document = shapeproof_report_document((const char *const *)parts, 1, &sarif, NULL);
    assert_non_null(strstr(document, "{\"id\": \"malformed\""));
    assert_null(strstr(document, "{\"id\": \"io\""));
    shapeproof_free(document);
    shapeproof_free(parts[0]);
}

/* Markup from outside is escaped; an empty line stands between two reports, and none for a part that is missing. */
static void test_markdown(void **state)
{
    char *part = part_of("a`b", "*wrong* <b>", &markdown);
    const char *const parts[] = {"", part, "", part};
    char *document = shapeproof_report_document(parts, 4, &markdown, NULL);
    (void)state;
    assert_string_equal(part, "**not checked**: \\*wrong\\* \\<b\\>\n\n`` a`b ``\n");
    assert_int_equal(strlen(document), 2 * strlen(part) + 1);
    shapeproof_free(document);
    shapeproof_free(part);
}

static void test_no_parts(void **state)
{
    char *document = shapeproof_report_document(NULL, 0, &sarif, NULL);
    (void)state;
    assert_non_null(strstr(document, "\"results\": []"));
    shapeproof_free(document);
    document = shapeproof_report_document(NULL, 0, &junit, NULL);
    assert_non_null(strstr(document, "tests=\"0\""));
    shapeproof_free(document);
}

/* Findings come first, and each cause has the id that reports and files of expected differences use. */
static void test_rules(void **state)
{
    size_t prefixes = 0;
    (void)state;
    assert_string_equal(shapeproof_rule(0)->id, "missing");
    for (size_t i = 0; i < shapeproof_rule_count(); i++) {
        assert_true(*shapeproof_rule(i)->meaning);
        prefixes += strcmp(shapeproof_rule(i)->id, "prefix") == 0;
    }
    assert_int_equal(prefixes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_junit_escapes), cmocka_unit_test(test_sarif_escapes), cmocka_unit_test(test_sarif_uris),
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_no_parts),      cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
