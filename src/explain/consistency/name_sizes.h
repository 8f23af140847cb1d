/* SPDX-License-Identifier: MIT
 * Sizes that a name declares: "7B" in "Llama-2-7b-hf". */
#ifndef SP_EXPLAIN_CONSISTENCY_NAME_SIZES_H
#define SP_EXPLAIN_CONSISTENCY_NAME_SIZES_H

#include <stddef.h>
#include <stdint.h>

struct sp_name_size {
    uint64_t parameters;
    const char *text; /* where it stands in the name */
    size_t length;
};

enum { SP_NAME_SIZES = 8 };

/* The sizes in a name, and how many there are; some of them may be readings of one place: "2_7b" is 2.7 or 7 billion.
 * Active parameters ("A3B", "17B-16E"), numbers of tokens and of pictures are left out. */
size_t sp_sizes_in_name(const char *name, size_t length, struct sp_name_size sizes[SP_NAME_SIZES]);

#endif
