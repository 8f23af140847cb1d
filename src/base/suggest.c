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

/* The candidate nearest to a word among those that were considered. */
struct search {
    const char *word, *best; /* `best` is NULL as long as none is near */
    size_t length, distance; /* of the word; of the best candidate, or the most that one may have */
    bool is_abbreviated;     /* the best candidate begins with the word: no other one is nearer */
};

/* `part` is how many of the letters may be wrong: one of `part`. */
static struct search begin_search(const char *word, size_t part)
{
    const size_t length = strlen(word);
    return (struct search){.word = word, .length = length, .distance = length < 5 ? 1 : (length + 1) / part};
}

/* Compares the word with that spelling of the candidate. */
static void consider(struct search *search, const char *spelling, const char *candidate)
{
    if (search->is_abbreviated || !search->length || search->length > LONGEST || strlen(spelling) > LONGEST) return;
    search->is_abbreviated = search->length >= 2 && strncmp(spelling, search->word, search->length) == 0;
    const size_t edits = search->is_abbreviated ? 0 : typing_distance(search->word, spelling);
    if (!search->is_abbreviated && (edits > search->distance || (edits == search->distance && search->best))) return;
    search->best = candidate;
    search->distance = edits;
}

const char *sp_suggest(const char *word, const char *const *candidates, size_t count)
{
    struct search search = begin_search(word, 3);
    for (size_t i = 0; i < count; i++) consider(&search, candidates[i], candidates[i]);
    return search.best;
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

/* ---- names of tables and models ---- */

/* The part of a name that tells it from others: "Mixtral_8x7B" -> "mixtral8x7b". */
struct plain_name {
    char text[LONGEST + 1];
};

static bool is_passed_over(char c) { return c == '-' || c == '_' || c == '.'; }

static char small_letter(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* False for a name that is too long to be compared. */
static bool make_plain(struct plain_name *plain, const char *name)
{
    size_t end = 0;
    for (; *name; name++) {
        if (is_passed_over(*name)) continue;
        if (end == LONGEST) return false;
        plain->text[end++] = small_letter(*name);
    }
    plain->text[end] = '\0';
    return true;
}

bool sp_is_same_name(const char *a, const char *b)
{
    struct plain_name one, other;
    return make_plain(&one, a) && make_plain(&other, b) && strcmp(one.text, other.text) == 0;
}

/* The first candidate of that plain name; NULL when there is none. */
static const char *same_name(const struct plain_name *plain, const char *const *candidates, size_t count)
{
    struct plain_name other;
    for (size_t i = 0; i < count && plain->text[0]; i++)
        if (make_plain(&other, candidates[i]) && strcmp(plain->text, other.text) == 0) return candidates[i];
    return NULL;
}

/* Reads the name once, and cuts its plain text at the ends of words: "Llama-3.1-8B" at "llama318b", "llama31" and
 * "llama". */
const char *sp_name_begun(const char *name, const char *const *candidates, size_t count)
{
    struct plain_name plain;
    bool ends_word[LONGEST + 1] = {false}; /* that many characters of the plain text do */
    size_t length = 0;
    for (; *name && !(length == LONGEST && !is_passed_over(*name)); name++) {
        if (!is_passed_over(*name)) plain.text[length++] = small_letter(*name);
        else if (*name != '.') ends_word[length] = true;
    }
    ends_word[length] |= !*name;
    const char *found = NULL;
    for (size_t end = length; end && !found; end--) {
        plain.text[end] = '\0';
        if (ends_word[end]) found = same_name(&plain, candidates, count);
    }
    return found;
}

/* Whether the plain text is the beginning of the candidate's, and does not end within a number: "llama2" of
 * "llama-2-7b", but not "opt3" of "opt-30b" or "qwen1" of "qwen1.5-7b". */
static bool abbreviates(const char *plain, const char *candidate)
{
    const char *first = plain;
    for (; *plain; candidate++) {
        if (is_passed_over(*candidate)) continue;
        if (small_letter(*candidate) != *plain) return false;
        plain++;
    }
    if (plain == first || !sp_is_digit(plain[-1])) return true;
    return !sp_is_digit(candidate[*candidate == '.']);
}

/* A name with other digits is another name. */
const char *sp_suggest_name(const char *name, const char *const *candidates, size_t count)
{
    struct plain_name plain, other;
    const bool is_short = make_plain(&plain, name);
    const char *same = is_short ? same_name(&plain, candidates, count) : NULL;
    if (same) return same;
    struct search search = begin_search(is_short ? plain.text : "", 5);
    for (size_t i = 0; i < count && search.length; i++)
        if (make_plain(&other, candidates[i]) &&
            (abbreviates(plain.text, candidates[i]) || have_same_digits(plain.text, other.text)))
            consider(&search, other.text, candidates[i]);
    return search.best ? search.best : sp_name_begun(name, candidates, count);
}

/* ---- words that are most likely one ---- */

/* Fills `letters` with the word without digits, "_" and "-", in small letters; false when nothing is left. */
static bool put_letters(char letters[LONGEST + 1], const char *word)
{
    size_t length = 0;
    for (; *word; word++)
        if (!sp_is_digit(*word) && *word != '_' && *word != '-') letters[length++] = small_letter(*word);
    letters[length] = '\0';
    return length;
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

/* The next word of a key; its end when there is none. */
static const char *next_part(const char *part)
{
    part += strcspn(part, "_.");
    return part + (*part != '\0');
}

static const char *last_part(const char *key)
{
    for (const char *part = key; *part; part = next_part(part)) key = part;
    return key;
}

static bool is_number_of(const char *part) { return strncmp(part, "n_", 2) == 0 || strncmp(part, "num_", 4) == 0; }

/* Whether two keys begin with the same word; "n" and "num" are the same. */
static bool begin_alike(const char *a, const char *b)
{
    const size_t length = part_length(a);
    return (is_number_of(a) && is_number_of(b)) || (part_length(b) == length && memcmp(a, b, length) == 0);
}

/* Whether a key has the word that `part` begins with. */
static bool has_part(const char *key, const char *part)
{
    for (; *key; key = next_part(key))
        if (begin_alike(key, part)) return true;
    return false;
}

/* Of the letters of a key that shares a word of at least four characters with another one, how many per cent may be
 * wrong: half of them, or a third if that word is "size", with which half of all keys end. 0 when they share none. */
static unsigned tolerance(const char *key, const char *meant)
{
    enum { SHORTEST_PART = 4, HALF = 50, THIRD = 34 };
    unsigned percent = 0;
    for (; *key && percent != HALF; key = next_part(key))
        if (part_length(key) >= SHORTEST_PART && has_part(meant, key))
            percent = strncmp(key, "size", 4) == 0 ? THIRD : HALF;
    return percent;
}

/* How a key resembles another one, from the weakest to the strongest. */
enum likeness {
    UNLIKE,
    NEAR,     /* they share a word, and few letters differ: "hidden_dim" and "hidden_size" */
    FIRST,    /* it is the other one's first word: "vocab" and "vocab_size" */
    INCLUDED, /* the other one has all its words and ends alike: "num_heads" and "mamba_num_heads" */
    ABRIDGED, /* they begin alike, too: "num_heads" and "num_attention_heads" */
};

/* The likeness of a key to another one from which it differs in `edits` letters. A plural alone is read as a number:
 * "layers" as "num_layers". */
static enum likeness likeness(const char *key, const char *other, size_t edits)
{
    const char *member = strrchr(other, '.') ? strrchr(other, '.') + 1 : other;
    const size_t length = strlen(key);
    const bool is_one_word = !key[strcspn(key, "_.")], is_plural = is_one_word && part_length(key) < length;
    bool has_all = !is_one_word || is_plural;
    for (const char *part = key; *part && has_all; part = next_part(part)) has_all = has_part(other, part);
    if (has_all && begin_alike(last_part(key), last_part(other)))
        return (is_plural ? is_number_of(member) : begin_alike(key, member)) ? ABRIDGED : INCLUDED;
    if (is_one_word && strncmp(member, key, length) == 0 && member[length] == '_') return FIRST;
    return 100 * edits <= tolerance(key, other) * length ? NEAR : UNLIKE;
}

/* Of candidates that are equally like, the one with the fewest wrong letters. */
const char *sp_suggest_key(const char *key, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    enum likeness most = UNLIKE;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < count && strlen(key) <= LONGEST; i++) {
        if (strlen(candidates[i]) > LONGEST) continue;
        if (is_misspelt(key, candidates[i], 4)) return candidates[i];
        const size_t edits = typing_distance(key, candidates[i]);
        const enum likeness found = likeness(key, candidates[i], edits);
        if (found < most || found == UNLIKE || (found == most && edits >= fewest)) continue;
        most = found;
        fewest = edits;
        best = candidates[i];
    }
    return best;
}
