/* SPDX-License-Identifier: MIT
 * The tables of the types of models that most people use have the measures that fixtures/measures/types.txt names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shapeproof/shapeproof.h"

/* Whether there is a table of this name with the measure. */
static bool has_measure(const struct shapeproof_tables *tables, const char *name, const char *measure)
{
    const struct shapeproof_tables_filter filter = {.measure = measure};
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++)
        if (strcmp(shapeproof_tables_info(tables, i)->name, name) == 0)
            return shapeproof_tables_fits(tables, i, &filter);
    return false;
}

/* A line is the name of a table and its measures: "bert flops shard". */
static void test_tables_have_their_measures(void **state)
{
    (void)state;
    enum { TABLES = 274 };
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    FILE *file = fopen("fixtures/measures/types.txt", "r");
    char line[256];
    size_t count = 0;
    assert_non_null(tables);
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const char *table = strtok(line, " \n");
        if (!table || *table == '#') continue;
        for (const char *measure; (measure = strtok(NULL, " \n"));)
            if (!has_measure(tables, table, measure)) fail_msg("the table %s has no %s", table, measure);
        count++;
    }
    fclose(file);
    shapeproof_tables_free(tables);
    assert_int_equal(count, TABLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables_have_their_measures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
