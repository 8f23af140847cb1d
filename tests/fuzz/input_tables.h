/* SPDX-License-Identifier: MIT
 * The tables of the input. shapeproof_tables_count and shapeproof_tables_info find them, too, but sort the names of all
 * built-in tables after each change, which takes longer than all else. */
#ifndef TESTS_FUZZ_INPUT_TABLES_H
#define TESTS_FUZZ_INPUT_TABLES_H

#include "fuzz.h"

#include "lang/builtin.h"
#include "lang/tables.h"

/* Sets *place, which is 0 at first, to the next table that is not built in and has not been replaced by another of its
 * name. Returns the name of the table, or NULL after the last one. */
static inline const char *next_input_table(const struct shapeproof_tables *tables, size_t *place)
{
    if (*place < sp_builtin_unit_count) *place = sp_builtin_unit_count - 1;
    while (++*place < sp_tables_place_count(tables)) {
        const struct sp_entry entry = sp_tables_entry(tables, *place);
        if (entry.is_table && sp_tables_place(tables, entry.name) == *place) return entry.name;
    }
    return NULL;
}

/* Parses a built-in table or part, so that no input that extends it need do so. */
static inline void parse_builtin(const struct shapeproof_tables *tables, const char *name)
{
    const size_t place = sp_tables_place(tables, name);
    fuzz_must(place != SIZE_MAX && sp_tables_at(tables, place) != NULL);
}

#endif
