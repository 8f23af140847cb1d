/* SPDX-License-Identifier: MIT
 * Suggestions by the optimal string alignment distance: insertions, deletions, replacements and swaps of two neighbours
 * count one each. */
#include "base/suggest.h"

#include <stdint.h>
#include <string.h>

#include "base/chars.h"

enum { LONGEST = 40 }; /* of a word that is compared */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* The optimal string alignment distance of two words of at most LONGEST characters: "weihgt" and "weight" have 1. By
 * dynamic programming: row i has the distances of the first i characters of `a` from each beginning of `b`; three rows
 * are kept. */
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

const char *sp_suggest(const char *word, const char *const *candidates, size_t count)
{
    const size_t length = strlen(word);
    const char *best = NULL;
    size_t best_distance = length < 5 ? 1 : (length + 1) / 3; /* a third of the word may be wrong */
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

/* ---- words that are most likely one ---- */

/* Fills `letters` with the word without digits, "_" and "-", in small letters; false when nothing is left. */
static bool put_letters(char letters[LONGEST + 1], const char *word)
{
    size_t length = 0;
    for (; *word; word++)
        if (!sp_is_digit(*word) && *word != '_' && *word != '-')
            letters[length++] = *word >= 'A' && *word <= 'Z' ? (char)(*word - 'A' + 'a') : *word;
    letters[length] = '\0';
    return length;
}

/* Whether two words have the same digits in the same order: "layer_12" and "layers12". */
static bool have_same_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a && !sp_is_digit(*a)) a++;
        while (*b && !sp_is_digit(*b)) b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

/* sp_is_misspelt, with letters changed only in words of at least `shortest` characters. */
static bool is_misspelt(const char *word, const char *meant, size_t shortest)
{
    enum { LONG = 14 };
    char one[LONGEST + 1], other[LONGEST + 1];
    const size_t length = strlen(word), size = strlen(meant), shorter = least(length, size);
    if (length > LONGEST || size > LONGEST) return false;
    if (!have_same_digits(word, meant) || !put_letters(one, word) || !put_letters(other, meant)) return false;
    if (strcmp(one, other) == 0) return strcmp(word, meant) != 0;
    return shorter >= shortest && typing_distance(word, meant) <= (shorter >= LONG ? 2u : 1u);
}

bool sp_is_misspelt(const char *word, const char *meant) { return is_misspelt(word, meant, 6); }

/* ---- keys of configurations ---- */

/* The length of the word that a piece of a key begins with, without the "s" of a plural: 5 of "layers.x". */
static size_t part_length(const char *part)
{
    const size_t length = strcspn(part, "_.");
    return length > 1 && part[length - 1] == 's' ? length - 1 : length;
}

/* Whether a key has that word. */
static bool has_part(const char *key, const char *part, size_t length)
{
    for (; *key; key += strcspn(key, "_."), key += *key != '\0')
        if (part_length(key) == length && memcmp(key, part, length) == 0) return true;
    return false;
}

/* The last word of a key, "heads" of "num_attention_heads". */
static const char *last_word(const char *key)
{
    for (const char *word = key; *word; word += strcspn(word, "_."), word += *word != '\0') key = word;
    return key;
}

/* Of the letters of a key that shares a word of at least four characters with another one, how many per cent may be
 * wrong: half of them, or a third if that word is "size", with which half of all keys end. Any number may
 * be wrong if the key has two words or more, and the other key has all of them and the same last one: "num_heads" and
 * "num_attention_heads". 0 when they share none. */
static unsigned tolerance(const char *a, const char *b)
{
    enum { SHORTEST_PART = 4, ANY = 100 * LONGEST, HALF = 50, THIRD = 34 };
    unsigned percent = 0, words = 0;
    bool has_all = true;
    const char *last = a, *last_of_b = last_word(b);
    for (; *a; a += strcspn(a, "_."), a += *a != '\0') {
        const bool is_shared = has_part(b, a, part_length(a));
        words++;
        last = a;
        has_all = has_all && is_shared;
        if (part_length(a) < SHORTEST_PART || !is_shared || percent == HALF) continue;
        percent = strncmp(a, "size", 4) == 0 ? THIRD : HALF;
    }
    const bool is_shorter = has_all && words > 1 && has_part(last_of_b, last, part_length(last));
    return percent && is_shorter ? ANY : percent;
}

const char *sp_suggest_key(const char *key, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    size_t least_distance = SIZE_MAX;
    for (size_t i = 0; i < count && strlen(key) <= LONGEST; i++) {
        if (strlen(candidates[i]) > LONGEST) continue;
        if (is_misspelt(key, candidates[i], 4)) return candidates[i];
        const unsigned percent = tolerance(key, candidates[i]);
        const size_t distance = percent ? typing_distance(key, candidates[i]) : SIZE_MAX;
        if (distance >= least_distance || 100 * distance > percent * strlen(key)) continue;
        least_distance = distance;
        best = candidates[i];
    }
    return best;
}
