/* SPDX-License-Identifier: MIT */
#include "learn/rows/alike.h"

#include <stdlib.h>
#include <string.h>

#include "learn/rows/parts.h"

enum {
    LEAST_SAVED = 4, /* lines, so that rows are written once */
    OWN_LINES = 2,   /* what the loop over the words costs */
    WIDEST = 60      /* characters of all words together */
};

struct alike_search {
    struct sp_arena *arena;
    const struct sp_layout *layout;
    const bool *skipped;
    struct sp_alike_row *rows;
};

static const struct sp_tensor_row *row_at(const struct alike_search *search, size_t row)
{
    return &search->layout->rows.items[row];
}

/* ---- when rows are alike ---- */

static bool are_equal_terms(const struct sp_search_term *a, const struct sp_search_term *b)
{
    return a && b ? sp_search_terms_equal(a, b) : a == b;
}

static bool are_loops_alike(const struct sp_layout *layout, const struct sp_tensor_row *a,
                            const struct sp_tensor_row *b)
{
    if (a->index_count != b->index_count) return false;
    for (size_t i = 0; i < a->index_count; i++) {
        const struct sp_stem *left = &layout->stems.items[a->stems[i]], *right = &layout->stems.items[b->stems[i]];
        const struct sp_terminal *list = left->listed ? left->listed->terminal : NULL;
        if (list != (right->listed ? right->listed->terminal : NULL)) return false;
        if (left->step != right->step || left->offset != right->offset) return false;
        if (!sp_search_terms_equal(left->first.term, right->first.term)) return false;
        if (!sp_search_terms_equal(left->count.term, right->count.term)) return false;
    }
    return true;
}

static bool are_rows_alike(const struct sp_layout *layout, const struct sp_tensor_row *a, const struct sp_tensor_row *b)
{
    if (a->rank != b->rank || !are_equal_terms(a->where.term, b->where.term)) return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (!sp_search_terms_equal(a->dims[d].term, b->dims[d].term)) return false;
    return a->places.items[0].tensor->dtype == b->places.items[0].tensor->dtype && are_loops_alike(layout, a, b);
}

/* Whether a row is written, and not with others yet. */
static bool is_open_row(const struct alike_search *search, size_t index)
{
    const struct sp_tensor_row *row = row_at(search, index);
    return row->is_solved && !row->is_inner && row->tied_to == SHAPEPROOF_NONE && *row->pattern != SP_FRONT_MARK &&
           !search->rows[index].words && !search->rows[index].is_said && !(search->skipped && search->skipped[index]);
}

/* ---- words ---- */

/* Where a word stands in patterns: behind the first `begin` characters, which are those of the pattern of `row`. */
struct position {
    size_t row, begin;
};

static bool is_behind(const struct alike_search *search, struct position at, size_t row)
{
    return strncmp(row_at(search, row)->pattern, row_at(search, at.row)->pattern, at.begin) == 0;
}

/* The length of the component at `begin`, if it is a plain word and not the last one; else 0. */
static size_t length_of_word(const char *pattern, size_t begin)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t length = strspn(pattern + begin, plain);
    return pattern[begin + length] == '.' ? length : 0;
}

static bool has_word(const char *pattern, size_t begin, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(pattern + begin, word, length) == 0 && pattern[begin + length] == '.';
}

/* The row that is called as the first one but for the word; SHAPEPROOF_NONE when there is none like it. */
static size_t twin_of_row(const struct alike_search *search, size_t row, const struct sp_alternating_words *alike,
                          const char *word)
{
    struct sp_text name = {0};
    const struct sp_tensor_row *first = row_at(search, row);
    sp_text_append(&name, first->pattern, alike->begin);
    sp_text_puts(&name, word);
    sp_text_puts(&name, first->pattern + alike->begin + alike->length);
    const size_t there = sp_map_get(&search->layout->row_names, name.data);
    sp_text_free(&name);
    if (there == SIZE_MAX || !is_open_row(search, there)) return SHAPEPROOF_NONE;
    return are_rows_alike(search->layout, first, row_at(search, there)) ? there : SHAPEPROOF_NONE;
}

static size_t count_rows_of_word(const struct alike_search *search, struct position at, const char *word)
{
    size_t count = 0;
    for (size_t r = 0; r < search->layout->rows.count; r++)
        count += is_behind(search, at, r) && has_word(row_at(search, r)->pattern, at.begin, word);
    return count;
}

/* Whether each row of the first word has a twin with this word, and no other row has this word. */
static bool is_word_alike(const struct alike_search *search, struct position at,
                          const struct sp_alternating_words *alike, const char *word)
{
    size_t count = 0;
    for (size_t r = 0; r < search->layout->rows.count; r++) {
        if (!is_behind(search, at, r) || !has_word(row_at(search, r)->pattern, at.begin, alike->words[0])) continue;
        if (!is_open_row(search, r) || twin_of_row(search, r, alike, word) == SHAPEPROOF_NONE) return false;
        count++;
    }
    return count == count_rows_of_word(search, at, word);
}

/* Whether no row in front of this one has its word there. */
static bool is_first_of_word(const struct alike_search *search, struct position at, size_t row, const char *word)
{
    for (size_t r = 0; r < row; r++)
        if (is_behind(search, at, r) && has_word(row_at(search, r)->pattern, at.begin, word)) return false;
    return true;
}

static void add_words(const struct alike_search *search, struct position at, struct sp_alternating_words *alike)
{
    size_t width = 0;
    for (size_t r = at.row; r < search->layout->rows.count && alike->count < SP_MOST_ALIKE; r++) {
        const char *pattern = row_at(search, r)->pattern;
        const size_t length = is_behind(search, at, r) ? length_of_word(pattern, at.begin) : 0;
        if (!length) continue;
        const char *word = sp_arena_copy(search->arena, pattern + at.begin, length);
        if (!is_first_of_word(search, at, r, word) || strcmp(word, alike->words[0]) == 0) continue;
        if (width + length > WIDEST || !is_word_alike(search, at, alike, word)) continue;
        alike->words[alike->count++] = word;
        width += length;
    }
}

/* ---- what it saves ---- */

/* How many lines the rows of a word take; 0 when a part has rows of other words as well. */
static size_t count_lines_of_word(const struct alike_search *search, struct position at, const char *word)
{
    size_t lines = 0;
    for (size_t r = 0; r < search->layout->rows.count; r++) {
        if (!is_behind(search, at, r) || !has_word(row_at(search, r)->pattern, at.begin, word)) continue;
        const struct sp_part_found found = sp_find_part(search->layout, r);
        for (size_t i = 0; found.part && i < found.row_count; i++)
            if (!has_word(row_at(search, found.rows[i])->pattern, at.begin, word)) return 0;
        lines += !found.part || found.rows[0] == r;
    }
    return lines;
}

static void keep_words(struct alike_search *search, struct position at, const struct sp_alternating_words *alike)
{
    struct sp_alternating_words *kept = sp_arena_array(search->arena, 1, sizeof *kept);
    *kept = *alike;
    for (size_t r = 0; r < search->layout->rows.count; r++) {
        if (!is_behind(search, at, r) || !has_word(row_at(search, r)->pattern, at.begin, alike->words[0])) continue;
        for (size_t i = 1; i < alike->count; i++)
            search->rows[twin_of_row(search, r, alike, alike->words[i])].is_said = true;
        search->rows[r].words = kept;
    }
}

static void try_position(struct alike_search *search, struct position at)
{
    const char *pattern = row_at(search, at.row)->pattern;
    struct sp_alternating_words alike = {.begin = at.begin, .length = length_of_word(pattern, at.begin)};
    if (!alike.length || !is_open_row(search, at.row)) return;
    alike.words[alike.count++] = sp_arena_copy(search->arena, pattern + at.begin, alike.length);
    if (!is_first_of_word(search, at, at.row, alike.words[0])) return;
    add_words(search, at, &alike);
    if (alike.count < 2) return;
    const size_t lines = count_lines_of_word(search, at, alike.words[0]);
    if (lines * (alike.count - 1) >= LEAST_SAVED + OWN_LINES) keep_words(search, at, &alike);
}

/* Tries the words of the outermost modules first. */
const struct sp_alike_row *sp_find_alike(struct sp_arena *arena, const struct sp_layout *layout, const bool *skipped)
{
    enum { DEEPEST = 8, MOST_ROWS = 600 };
    struct alike_search search = {.arena = arena, .layout = layout, .skipped = skipped};
    search.rows = sp_arena_array(arena, layout->rows.count + 1, sizeof *search.rows);
    for (size_t depth = 0; depth < DEEPEST && layout->rows.count <= MOST_ROWS; depth++)
        for (size_t r = 0; r < layout->rows.count; r++) {
            const char *pattern = layout->rows.items[r].pattern, *at = pattern;
            for (size_t i = 0; i < depth && at; i++) {
                at = strchr(at, '.');
                if (at) at++;
            }
            if (at) try_position(&search, (struct position){r, (size_t)(at - pattern)});
        }
    return search.rows;
}
