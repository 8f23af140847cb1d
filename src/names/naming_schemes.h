/* SPDX-License-Identifier: MIT
 * The names that other programs, or other years, give to the same tensors: Meta's own Llama, timm, Whisper as
 * OpenAI wrote it. A list of patterns for each; naming_schemes.def holds them, and gguf.def those of llama.cpp. */
#ifndef SP_NAMES_NAMING_SCHEMES_H
#define SP_NAMES_NAMING_SCHEMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* `from` in the file is `to` in the prediction, but for a base in front of it: "{}" is an index, the same in both; a
 * "*" at the end is the rest of the name; "*." in front of both is one component more, or none. `whole` has the tensor
 * in one with others of its kind, or is "". The texts are in place: pointers would be relocated at every start. */
struct sp_scheme_row {
    char from[80], to[80], whole[56];
};

struct sp_naming_scheme {
    const char *says;  /* "of Meta's own Llama" */
    const char *table; /* whose names they are translated to, first of all; or NULL */
    const char *hint;  /* what to do, when names are not all; or NULL */
    const struct sp_scheme_row *rows;
    const char *from_first, *to_first; /* of each row the first character of the pattern, behind "*." */
    size_t count;
};

size_t sp_naming_scheme_count(void);
const struct sp_naming_scheme *sp_naming_scheme(size_t index);
/* Puts the name of the prediction into `text`, by the first row from `*row` on that fits, and sets `*row` to the one
 * behind it: a name may have several, of which the other side has one. False when the scheme has no such name any more.
 */
bool sp_naming_scheme_translate(const struct sp_naming_scheme *scheme, const char *name, size_t *row,
                                struct sp_text *text);
/* Whether a row of the scheme makes such a name. */
bool sp_naming_scheme_makes(const struct sp_naming_scheme *scheme, const char *name);
/* The name of the whole that the row before `row` is about; false when it is about none. */
bool sp_naming_scheme_whole(const struct sp_naming_scheme *scheme, const char *name, size_t row, struct sp_text *text);

#endif
