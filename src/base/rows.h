/* SPDX-License-Identifier: MIT
 * Constant rows of texts as one text: each of them ends with a NUL, and each row with a line feed. Arrays of pointers
 * would have to be relocated at every start of the command, whether it needs them or not. */
#ifndef SP_BASE_ROWS_H
#define SP_BASE_ROWS_H

#include <stddef.h>
#include <string.h>

struct sp_rows {
    const char *text;
    size_t size;
};

/* Of an array of characters that is initialised by a literal. */
#define SP_ROWS(array)                                                                                                 \
    {                                                                                                                  \
        array, sizeof array - 1                                                                                        \
    }

/* The row behind `row`, with NULL the first one; NULL when there is none. */
static inline const char *sp_row(struct sp_rows rows, const char *row)
{
    const char *const end = rows.text + rows.size;
    row = row ? (const char *)memchr(row, '\n', (size_t)(end - row)) + 1 : rows.text;
    return row < end ? row : NULL;
}

/* The next text of a row, and `row` is behind it then. */
static inline const char *sp_row_text(const char **row)
{
    const char *text = *row;
    *row += strlen(text) + 1;
    return text;
}

#endif
