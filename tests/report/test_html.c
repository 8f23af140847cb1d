/* SPDX-License-Identifier: MIT
 * HTML reports: text from outside is escaped, the data is small, what is long is cut. tests/html.sh opens pages in a
 * browser; tests/cli/html.test has their structure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shapeproof/shapeproof.h"

static char *page_of(const struct shapeproof_tensor_description *tensors, size_t count, size_t *length)
{
    const struct shapeproof_report_inspect_options how = {.report = {.format = SHAPEPROOF_REPORT_HTML}};
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("<model>", tensors, count, &error);
    assert_non_null(inventory);
    char *page = shapeproof_report_inspect(inventory, &how, length);
    shapeproof_inventory_close(inventory);
    return page;
}

/* As many tensors of shape (2), whose names `format` makes of the numbers i / 256 and i % 256. */
static char *page_of_many(const char *format, size_t count, size_t *length)
{
    enum { LONGEST = 64 };
    const uint64_t shape[] = {2};
    struct shapeproof_tensor_description *tensors = calloc(count, sizeof *tensors);
    char(*names)[LONGEST] = calloc(count, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], LONGEST, format, i / 256, i % 256);
        tensors[i] = (struct shapeproof_tensor_description){
            .name = names[i], .shape = shape, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32};
    }
    char *page = page_of(tensors, count, length);
    free(tensors);
    free(names);
    return page;
}

static void assert_has(const char *page, const char *part)
{
    if (!strstr(page, part)) fail_msg("there is no %s", part);
}

static void assert_has_not(const char *page, const char *part)
{
    if (strstr(page, part)) fail_msg("there is a %s", part);
}

/* Neither in the content of elements nor in the data. */
static void test_names_are_escaped(void **state)
{
    const struct shapeproof_tensor_description tensors[] = {{.name = "</script><img src=x>&\"'"},
                                                            {.name = "<!--<script>\xe2\x80\xa8\xe2\x80\xae\x01"}};
    size_t length;
    char *page = page_of(tensors, 2, &length);
    (void)state;
    assert_int_equal(strlen(page), length);
    assert_has(page, "<title>inspect &lt;model&gt;</title>");
    assert_has(page, "<code>&lt;/<wbr>script&gt;&lt;img src=x&gt;&amp;&quot;&#39;</code>");
    assert_has(page, "<code>&lt;!--&lt;script&gt;\\u{2028}\\u{202e}\\x01</code>");
    assert_has(page, "[\"\\u003c/script>\\u003cimg src=x>&\\\"'\"]");
    assert_has(page, "[\"\\u003c!--\\u003cscript>\\\\u{2028}\\\\u{202e}\\\\x01\"]");
    assert_has_not(page, "<img");
    assert_has_not(page, "<!--");
    assert_has_not(page, "\xe2\x80\xa8");
    shapeproof_free(page);
}

/* One row for what differs in its indices alone; a number that JavaScript does not have exactly is in no range. */
static void test_indices_are_ranges(void **state)
{
    const struct shapeproof_tensor_description tensors[] = {{.name = "h.0.1.w"},
                                                            {.name = "h.0.0.w"},
                                                            {.name = "h.2.0.w"},
                                                            {.name = "h.0.3.w"},
                                                            {.name = "a.9007199254740991.w"},
                                                            {.name = "a.9007199254740992.w"},
                                                            {.name = "x"}};
    char *page = page_of(tensors, sizeof tensors / sizeof *tensors, NULL);
    (void)state;
    assert_has(page, "[0,\"0.0-1 0.3 2.0\",");
    assert_has(page, "[1,\"9007199254740991 9007199254740992\",");
    assert_has(page, "[2,\"\",");
    assert_has(page, "[\"h.\", \".\", \".w\"]");
    shapeproof_free(page);
}

static void test_tensors_of_a_mixture_are_small(void **state)
{
    size_t length;
    char *page = page_of_many("model.layers.%zu.mlp.experts.%zu.up_proj.weight", 100 * 1000, &length);
    (void)state;
    assert_in_range(length, 1, 100 * 1000);
    assert_has(
        page,
        "<code>model.<wbr>layers.<wbr>{0-389}.<wbr>mlp.<wbr>experts.<wbr>{0-255}.<wbr>up_proj.<wbr>weight</code>");
    shapeproof_free(page);
}

/* Names that do not collapse: the table has the first rows, the data all of them. */
static void test_unlike_names(void **state)
{
    size_t length;
    char *page = page_of_many("a%zua%zub.w", 5000, &length);
    (void)state;
    assert_has(page, "<summary>5,000 tensors in 5,000 rows</summary>");
    assert_has(page, "... and 3,000 more rows. The search finds them.");
    assert_has(page, "[\"a19a135b.w\"]");
    assert_has_not(page, "<code>a19a135b.<wbr>w</code>");
    assert_in_range(length, 1, 1000 * 1000);
    shapeproof_free(page);
}

/* A part of a page: the report of so many tensors with unlike names. */
static char *part_of_many(size_t count)
{
    const struct shapeproof_report_inspect_options how = {.report = {.format = SHAPEPROOF_REPORT_HTML_PART}};
    const uint64_t shape[] = {2};
    struct shapeproof_error error = {0};
    struct shapeproof_tensor_description *tensors = calloc(count, sizeof *tensors);
    char(*names)[64] = calloc(count, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "a%zub%zu.w", i, i);
        tensors[i] = (struct shapeproof_tensor_description){
            .name = names[i], .shape = shape, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32};
    }
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("<model>\x1e\x1f", tensors, count, &error);
    char *part = shapeproof_report_inspect(inventory, &how, NULL);
    shapeproof_inventory_close(inventory);
    free(tensors);
    free(names);
    return part;
}

/* As many pages as there are models would be too large: one that fails comes first, and what is left out is said. */
static void test_several_models(void **state)
{
    enum { MANY = 200 };
    const struct shapeproof_report_options how = {.format = SHAPEPROOF_REPORT_HTML};
    const struct shapeproof_error error = {.status = SHAPEPROOF_ERR_FILE,
                                           .kind = SHAPEPROOF_KIND_MALFORMED,
                                           .message = "<x>: is cut\nin two",
                                           .hint = "<hint>"};
    char *large = part_of_many(400),
         *failed = shapeproof_report_checked(&(struct shapeproof_checked){.path = "<x>", .status = 4, .error = &error},
                                             &how, NULL);
    const char *parts[MANY];
    size_t length;
    (void)state;
    for (size_t i = 0; i < MANY; i++) parts[i] = i == MANY - 1 ? failed : large;
    char *page = shapeproof_report_document(parts, MANY, &how, &length);
    assert_in_range(length, 1500 * 1000, 2000 * 1000);
    assert_has(page, "<h1>200 models</h1>");
    assert_has(page, "<p>malformed: 1</p>");
    assert_has(page, "<a href=\"#model-1\">&lt;model&gt;\\x1e\\x1f</a>");
    assert_has(page, "<a href=\"#model-200\">&lt;x&gt;</a></th><td class=\"error\">malformed</td>");
    assert_has(page, "<article class=\"model\" id=\"model-200\">\n<h2>&lt;x&gt;</h2>");
    assert_has(page, "<b>malformed</b> &lt;x&gt;: is cut</p>");
    assert_has(page, "<p class=\"hint\">&lt;hint&gt;</p>");
    assert_has(page, "<p>To keep the page small, it leaves out the ");
    assert_has(page, "<h3>Modules</h3>");
    assert_has_not(page, "\x1e");
    assert_has_not(page, "\x1f");
    assert_has_not(page, "<x>");
    shapeproof_free(page);
    shapeproof_free(large);
    shapeproof_free(failed);
}

/* More models than a table has rows for; and none. */
static void test_many_models(void **state)
{
    enum { MANY = 3000 };
    const struct shapeproof_report_options how = {.format = SHAPEPROOF_REPORT_HTML};
    char *small = part_of_many(1);
    const char **parts = calloc(MANY, sizeof *parts);
    size_t length;
    (void)state;
    for (size_t i = 0; i < MANY; i++) parts[i] = small;
    char *page = shapeproof_report_document(parts, MANY, &how, &length);
    assert_in_range(length, 1500 * 1000, 2000 * 1000);
    assert_has(page, "<h1>3,000 models</h1>");
    assert_has(page, " more models. <code>--format json</code> has all of them.");
    assert_has(page, "<tfoot><tr><th scope=\"row\">together</th><td class=\"number\">3,000</td>");
    shapeproof_free(page);
    page = shapeproof_report_document(NULL, 0, &how, NULL);
    assert_has(page, "<h1>0 models</h1>");
    shapeproof_free(page);
    shapeproof_free(small);
    free(parts);
}

static void test_nothing(void **state)
{
    char *page = page_of(NULL, 0, NULL);
    (void)state;
    assert_has(page, "0 tensors in 0 rows");
    assert_has(page, "</html>\n");
    shapeproof_free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_escaped),
        cmocka_unit_test(test_indices_are_ranges),
        cmocka_unit_test(test_tensors_of_a_mixture_are_small),
        cmocka_unit_test(test_unlike_names),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_several_models),
        cmocka_unit_test(test_many_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
