/* SPDX-License-Identifier: MIT
 * "Did you mean": the nearest candidate by edit distance, with two neighbours swapped as one edit. */
#include "cli/cli.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* One row per character of `a`; the last three are kept. */
static size_t typing_distance(const char *a, const char *b)
{
    const size_t rows = strlen(a), columns = strlen(b);
    size_t two_above[LONGEST + 1] = {0}, above[LONGEST + 1], row[LONGEST + 1];
    for (size_t j = 0; j <= columns; j++) above[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
        memcpy(two_above, above, sizeof above);
        memcpy(above, row, sizeof row);
    }
    return above[columns];
}

const char *cli_suggest(const char *word, const char *const *candidates, size_t count)
{
    const size_t length = strlen(word);
    const char *best = NULL;
    size_t best_distance = length / 3 + 1; /* a third of it may be wrong */
    if (!length || length > LONGEST) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strlen(candidates[i]) > LONGEST) continue;
        if (length >= 2 && strncmp(candidates[i], word, length) == 0) return candidates[i]; /* an abbreviation */
        const size_t edits = typing_distance(word, candidates[i]);
        if (edits < best_distance || (edits == best_distance && !best)) {
            best = candidates[i];
            best_distance = edits;
        }
    }
    return best;
}
