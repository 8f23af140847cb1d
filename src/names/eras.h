/* SPDX-License-Identifier: MIT
 * The names that other programs, or other years, give to the same tensors: Meta's own Llama, timm, Whisper as
 * OpenAI wrote it. A list of patterns for each; eras.def holds them, and gguf.def those of llama.cpp. */
#ifndef SP_NAMES_ERAS_H
#define SP_NAMES_ERAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* `from` in the file is `to` in the prediction, but for a base in front of it: "{}" is an index, the same in both; a
 * "*" at the end is the rest of the name; "*." in front of both is one component more, or none. `whole` has the tensor
 * in one with others of its kind, or is "". The texts are in place: pointers would be relocated at every start. */
struct sp_era_row {
    char from[80], to[80], whole[56];
};

struct sp_era {
    const char *says;  /* "of Meta's own Llama" */
    const char *table; /* whose names they are translated to, first of all; or NULL */
    const char *hint;  /* what to do, when names are not all; or NULL */
    const struct sp_era_row *rows;
    size_t count;
};

size_t sp_era_count(void);
const struct sp_era *sp_era(size_t index);
/* Puts the name of the prediction into `text`, by the first row from `*row` on that fits, and sets `*row` to the one
 * behind it: a name may have several, of which the other side has one. False when the era has no such name any more. */
bool sp_era_translate(const struct sp_era *era, const char *name, size_t *row, struct sp_text *text);
/* The name of the whole that the row before `row` is about; false when it is about none. */
bool sp_era_whole(const struct sp_era *era, const char *name, size_t row, struct sp_text *text);

#endif
