/* SPDX-License-Identifier: MIT
 * The built-in tables, for all tests of a program. */
#ifndef TESTS_LANG_TABLES_FIXTURE_H
#define TESTS_LANG_TABLES_FIXTURE_H

#include "shapeproof/table.h"

static struct shapeproof_tables *tables;

static inline int open_tables(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    tables = shapeproof_tables_new(&error);
    return tables == NULL;
}

static inline int close_tables(void **state)
{
    (void)state;
    shapeproof_tables_free(tables);
    return 0;
}

#endif
