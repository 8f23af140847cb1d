/* SPDX-License-Identifier: MIT
 * The bytes as names of tensors on ranks, a byte of ranks in front of each: numbers of the whole, and rules. */
#include "fuzz.h"

#include "read/ranks/numbers.h"
#include "read/ranks/ranks.h"

/* The next line as a name, of at least the byte of its ranks. NULL behind the last. */
static char *next_name(const unsigned char **data, size_t *size, uint32_t *level, uint32_t *rank)
{
    if (!*size) return NULL;
    const unsigned char *end = memchr(*data, '\n', *size);
    const size_t length = end ? (size_t)(end - *data) : *size;
    char *name = calloc(1, length + 1);
    if (!name) abort();
    *level = length ? **data & 15 : 0;
    *rank = length ? **data >> 4 : 0;
    if (length) memcpy(name, *data + 1, length - 1);
    *data += length + (end != NULL);
    *size -= length + (end != NULL);
    return name;
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct sp_rank_numbers numbers = {.marker = ".layers."};
    const unsigned char *rest = data;
    size_t left = size;
    uint32_t level, rank;
    for (char *name; (name = next_name(&rest, &left, &level, &rank)); free(name))
        sp_numbers_note(&numbers, name, level, rank);
    sp_numbers_settle(&numbers);
    for (char *name; (name = next_name(&data, &size, &level, &rank)); free(name)) {
        bool odd = false;
        const char *whole = sp_numbers_rename(&numbers, name, level, rank, &odd);
        if (sp_rank_cut(whole) != sp_rank_cut(name)) abort(); /* what is renumbered is divided as before */
    }
    sp_numbers_free(&numbers);
}
