/* SPDX-License-Identifier: MIT */
#include "explain/vocabulary.h"

#include <inttypes.h>
#include <string.h>

#include "config/tokenizer.h"

bool sp_is_vocabulary(const char *words) { return strstr(words, "vocab") && !strstr(words, "type_vocab"); }

/* The multiple that `from` was rounded up to, the usual ones first; 0 when it is none. */
static uint64_t padding(uint64_t from, uint64_t to)
{
    static const uint64_t multiples[] = {64, 128, 256, 512, 1024, 2048, 4096, 8, 16, 32};
    for (size_t i = 0; i < sizeof multiples / sizeof *multiples; i++)
        if (to > from && from && to % multiples[i] == 0 && to - from < multiples[i]) return multiples[i];
    return 0;
}

/* "a multiple of 256 to 1024: 128 for each of 2 to 8 tensor-parallel ranks": which power of two it was cannot be told
 * when `to` is a multiple of several. */
static const char *multiple_words(struct shapeproof_check *check, uint64_t multiple, uint64_t to)
{
    enum { EACH = 128, MOST = 64 * EACH };
    uint64_t largest = multiple;
    while (largest < MOST && to % (2 * largest) == 0) largest *= 2;
    if (multiple <= EACH) return sp_arena_printf(&check->arena, "a multiple of %" PRIu64, multiple);
    if (largest == multiple)
        return sp_arena_printf(&check->arena,
                               "a multiple of %" PRIu64 ": %d for each of %" PRIu64 " tensor-parallel ranks", multiple,
                               EACH, multiple / EACH);
    return sp_arena_printf(&check->arena,
                           "a multiple of %" PRIu64 " to %" PRIu64 ": %d for each of %" PRIu64 " to %" PRIu64
                           " tensor-parallel ranks",
                           multiple, largest, EACH, multiple / EACH, largest / EACH);
}

uint64_t sp_vocabulary_ranks(uint64_t configured, uint64_t found)
{
    enum { FEWEST = 4, MOST = 64 }; /* half of a vocabulary is as well one that somebody made so */
    for (uint64_t ranks = FEWEST; ranks <= MOST && found && found <= UINT64_MAX / ranks; ranks *= 2) {
        const uint64_t whole = found * ranks;
        if (whole == configured) return ranks;
        if (padding(configured, whole) && whole - configured <= configured / 32) return ranks;
    }
    return 0;
}

/* With the help of the tokenizer beside the configuration. */
static const char *tokenizer_change(struct shapeproof_check *check, uint64_t found)
{
    const struct sp_tokenizer tokenizer = sp_tokenizer_beside(&check->arena, check->config);
    if (!tokenizer.size) return "";
    if (tokenizer.size == found)
        return sp_arena_printf(&check->arena, " (as many as there are tokens in %s)", tokenizer.file);
    const uint64_t multiple = padding(tokenizer.size, found);
    if (!multiple) return "";
    return sp_arena_printf(&check->arena, " (the %" PRIu64 " tokens of %s, rounded up to %s)", tokenizer.size,
                           tokenizer.file, multiple_words(check, multiple, found));
}

const char *sp_vocabulary_change(struct shapeproof_check *check, uint64_t configured, uint64_t found)
{
    const char *told = tokenizer_change(check, found);
    const uint64_t up = padding(configured, found), down = padding(found, configured);
    if (*told) return told;
    if (up) return sp_arena_printf(&check->arena, " (rounded up to %s)", multiple_words(check, up, found));
    if (down)
        return sp_arena_printf(&check->arena, " (%" PRIu64 " is this number rounded up to %s)", configured,
                               sp_arena_printf(&check->arena, "a multiple of %" PRIu64, down));
    return "";
}
