/* SPDX-License-Identifier: MIT
 * Figures as publications print them: "1.5B", "124M", "65000". */
#ifndef SP_PROVE_PRINTED_H
#define SP_PROVE_PRINTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* The whole numbers that are printed so when they are rounded, halves up, to the last digit that the figure has. */
struct sp_printed {
    int64_t least, most;
};

/* False when the text is no such figure, or too large. K, M, B and T stand for thousands, millions and so on. */
bool sp_printed_read(const char *text, struct sp_printed *printed);
/* The number as a figure with the suffix and the decimals of another, "1.24B" like "1.23B"; without them where nothing
 * of it would be left, "7872" like "1B". In the arena. `figure` is one that sp_printed_read can read. */
const char *sp_printed_like(struct sp_arena *arena, const char *figure, uint64_t number);

#endif
