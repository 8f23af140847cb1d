/* SPDX-License-Identifier: MIT
 * The table of sums on terminals of all widths: no line is longer, and what is left out comes back with more room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "report/common.h"
#include "shapeproof/shapeproof.h"

enum { NARROWEST = 60, WIDEST = 200 };

/* The report of a breakdown for a terminal of that width; free it. */
static char *report_of(const struct shapeproof_breakdown *breakdown, unsigned width, bool exact, bool unicode)
{
    const struct shapeproof_report_breakdown_options how = {
        .report = {.width = width}, .exact = exact, .unicode = unicode};
    return shapeproof_report_breakdown(breakdown, &how, NULL);
}

static void assert_lines_fit(const char *report, unsigned width)
{
    for (const char *line = report; *line; line += strcspn(line, "\n") + 1) {
        const size_t columns = sp_text_columns(line, strcspn(line, "\n"));
        if (columns > width) fail_msg("%zu columns in a line for %u:\n%s", columns, width, report);
    }
}

static struct shapeproof_breakdown *sum_up(const struct shapeproof_inventory *inventory, enum shapeproof_by first,
                                           enum shapeproof_by second)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_breakdown_options by = {.by = {first, second}};
    struct shapeproof_breakdown *breakdown = shapeproof_breakdown_new(inventory, &by, &error);
    assert_non_null(breakdown);
    return breakdown;
}

static void tables_fit_every_width(void **state)
{
    static const char *const paths[] = {"fixtures/models/tiny-gpt2-sharded", "fixtures/models/tiny-llama",
                                        "fixtures/models/tiny-bert", "fixtures/quantised/gemma",
                                        "fixtures/numpy/ok/compressed.npz"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_inventory *inventory = shapeproof_inventory_open(paths[i], &error);
        struct shapeproof_breakdown *made[] = {sum_up(inventory, SHAPEPROOF_BY_MODULE, SHAPEPROOF_BY_DTYPE),
                                               sum_up(inventory, SHAPEPROOF_BY_SHARD, SHAPEPROOF_BY_LAYER)};
        for (size_t j = 0; j < 2; j++) {
            for (unsigned width = NARROWEST; width <= WIDEST; width++) {
                char *report = report_of(made[j], width, width % 2, true);
                assert_lines_fit(report, width);
                shapeproof_free(report);
            }
            shapeproof_breakdown_free(made[j]);
        }
        shapeproof_inventory_close(inventory);
    }
}

static void changes_fit_every_width(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *a = shapeproof_inventory_open("fixtures/models/tiny-gpt2", &error);
    struct shapeproof_inventory *b = shapeproof_inventory_open("fixtures/models/tiny-bert", &error);
    struct shapeproof_diff *diff = shapeproof_diff_new(a, b, NULL, &error);
    struct shapeproof_breakdown *breakdown = shapeproof_breakdown_of_diff(diff, NULL, &error);
    (void)state;
    for (unsigned width = NARROWEST; width <= WIDEST; width++) {
        char *report = report_of(breakdown, width, false, true);
        /* the first line is the verdict of diff, which is a sentence */
        assert_lines_fit(strchr(report, '\n') + 1, width);
        shapeproof_free(report);
    }
    shapeproof_breakdown_free(breakdown);
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(a);
    shapeproof_inventory_close(b);
}

/* The three rows of tiny-gpt2 by layer are of 13,120, 13,120 and 5,248 bytes. */
static void columns_and_bars_follow_the_width(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_open("fixtures/models/tiny-gpt2", &error);
    struct shapeproof_breakdown *breakdown = sum_up(inventory, SHAPEPROOF_BY_LAYER, SHAPEPROOF_BY_NONE);
    static const struct {
        unsigned width;
        bool unicode;
        const char *titles, *row;
    } cases[] = {
        {0, true, "layer            tensors  parameters       %     bytes       %\n",
         "[no layer]             4       1.3 K   16.7%   5.1 KiB   15.4%\n"},
        {60, true, "layer            parameters       %     bytes       %\n",
         "[no layer]            1.3 K   16.7%   5.1 KiB   15.4%\n"},
        {74, false, "layer            tensors  parameters       %     bytes       %\n",
         "[no layer]             4       1.3 K   16.7%   5.1 KiB   15.4%  ####\n"},
        {74, true, "layer            tensors  parameters       %     bytes       %\n",
         "[no layer]             4       1.3 K   16.7%   5.1 KiB   15.4%  \u2588\u2588\u2588\u2588\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *report = report_of(breakdown, cases[i].width, false, cases[i].unicode);
        if (!strstr(report, cases[i].titles) || !strstr(report, cases[i].row))
            fail_msg("for %u columns:\n%s", cases[i].width, report);
        shapeproof_free(report);
    }
    shapeproof_breakdown_free(breakdown);
    shapeproof_inventory_close(inventory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_fit_every_width),
        cmocka_unit_test(changes_fit_every_width),
        cmocka_unit_test(columns_and_bars_follow_the_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
