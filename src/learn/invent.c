/* SPDX-License-Identifier: MIT
 * Examples without any configuration: their sizes become hyper-parameters, called by where they occur first.
 *
 *     wte.weight (64, 16)       wte_rows = 64, wte_columns = 16
 *     h.0.up.weight (40, 16)    up_rows = 40; 16 is wte_columns already
 *     h.1.up.weight (40, 16)    h_count = 2 */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "learn/learning.h"

enum {
    LONGEST_NAME = 60,
    SMALLEST = 5 /* a size below this, such as that of a kernel, gets no key */
};

struct inventor {
    struct shapeproof_learning *learning;
    struct sp_map taken;   /* names of keys */
    struct sp_map vectors; /* values that have a key, one for each example: "64 96 " */
};

static bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || sp_is_digit(c); }

/* The last component of the first `length` characters of a text, without characters that no key may have: "h.{}.up" ->
 * "up". "size" if it would be empty or begin with a digit. */
static const char *word_at_end(struct sp_arena *arena, const char *text, size_t length)
{
    char word[LONGEST_NAME];
    size_t begin, size = 0;
    while (length && strchr("._/", text[length - 1])) length--;
    for (begin = length; begin && text[begin - 1] != '.' && text[begin - 1] != '/'; begin--) {
    }
    for (; begin < length && size + 1 < sizeof word; begin++)
        if (is_name_character(text[begin]) || (text[begin] == '_' && size)) word[size++] = text[begin];
    word[size] = '\0';
    return size && !sp_is_digit(word[0]) ? sp_arena_string(arena, word) : "size";
}

/* Gives the values, one for each example, a key of that name, or of that name and a number if it is taken. Values that
 * have a key already get no other one. */
static void invent_key(struct inventor *inventor, const char *name, const int64_t *values)
{
    struct shapeproof_learning *learning = inventor->learning;
    struct sp_text vector = {0};
    for (size_t e = 0; e < learning->evidence.count; e++) sp_text_printf(&vector, "%lld ", (long long)values[e]);
    const bool is_new = sp_map_add(&inventor->vectors, sp_text_keep(&vector, &learning->arena), 0);
    if (!is_new) return;
    const char *free_name = name;
    for (size_t i = 2; sp_map_get(&inventor->taken, free_name) != SIZE_MAX; i++)
        free_name = sp_arena_printf(&learning->arena, "%s_%zu", name, i);
    sp_map_add(&inventor->taken, free_name, 0);
    for (size_t e = 0; e < learning->evidence.count; e++)
        sp_config_set_value(learning->invented[e], free_name, sp_value_int(values[e]), "the file");
}

/* Fills `values` with a dimension of a row in each example. False when it depends on an index, when it is too small, or
 * when an example lacks the row. */
static bool values_of_dimension(const struct shapeproof_learning *learning, const struct sp_tensor_row *row,
                                uint32_t dimension, int64_t *values)
{
    memset(values, 0, learning->evidence.count * sizeof *values);
    for (size_t i = 0; i < row->places.count; i++) {
        const struct shapeproof_tensor *tensor = row->places.items[i].tensor;
        int64_t *value = &values[row->places.items[i].point.example];
        if (dimension >= tensor->rank || tensor->shape[dimension] < SMALLEST) return false;
        if (*value && *value != (int64_t)tensor->shape[dimension]) return false;
        *value = (int64_t)tensor->shape[dimension];
    }
    for (size_t e = 0; e < learning->evidence.count; e++)
        if (!values[e]) return false;
    return true;
}

/* Gives the dimensions of a row keys: "up_rows", "up_columns", or "ln_size" for a vector. */
static void invent_sizes(struct inventor *inventor, const struct sp_tensor_row *row, int64_t *values)
{
    static const char *const ends[] = {"rows", "columns", "depth", "height"};
    const char *dot = strrchr(row->pattern, '.');
    const size_t length = dot ? (size_t)(dot - row->pattern) : strlen(row->pattern);
    const char *word = word_at_end(&inventor->learning->arena, row->pattern, length);
    const uint32_t rank = row->places.items[0].tensor->rank;
    for (uint32_t d = 0; d < rank && d < sizeof ends / sizeof *ends; d++)
        if (values_of_dimension(inventor->learning, row, d, values))
            invent_key(inventor,
                       sp_arena_printf(&inventor->learning->arena, "%s_%s", word, rank > 1 ? ends[d] : "size"), values);
}

/* Gives the number of iterations of a loop a key, "h_count". The loop has no outer one. */
static void invent_count(struct inventor *inventor, const struct sp_layout *layout, size_t stem, int64_t *values)
{
    struct sp_stem_value *list;
    const size_t count = sp_stem_values(layout, stem, &list);
    memset(values, 0, inventor->learning->evidence.count * sizeof *values);
    for (size_t i = 0; i < count; i++) values[list[i].outer.example]++;
    sp_free(list);
    const char *text = layout->stems.items[stem].text;
    invent_key(inventor,
               sp_arena_printf(&inventor->learning->arena, "%s_count",
                               word_at_end(&inventor->learning->arena, text, strlen(text))),
               values);
}

static void invent_from_layout(struct inventor *inventor, const struct sp_layout *layout)
{
    int64_t *values = sp_arena_array(&inventor->learning->arena, inventor->learning->evidence.count, sizeof *values);
    for (size_t i = 0; i < layout->stems.count; i++)
        if (!layout->stems.items[i].depth) invent_count(inventor, layout, i, values);
    sp_map_free(&inventor->vectors); /* a size that happens to be equal to a count gets a key of its own */
    inventor->vectors = (struct sp_map){0};
    for (size_t i = 0; i < layout->rows.count; i++) invent_sizes(inventor, &layout->rows.items[i], values);
}

/* The layout is made of the names alone, for the keys, and dropped: learning makes another one with them. */
void sp_learn_invent(struct shapeproof_learning *learning)
{
    struct inventor inventor = {.learning = learning};
    struct sp_layout layout;
    const size_t count = learning->evidence.count;
    struct shapeproof_learn_example *examples = sp_arena_array(&learning->arena, count, sizeof *examples);
    learning->invented = sp_arena_array(&learning->arena, count, sizeof *learning->invented);
    for (size_t e = 0; e < count; e++) {
        learning->invented[e] = shapeproof_config_new();
        examples[e] =
            (struct shapeproof_learn_example){learning->evidence.examples[e].inventory, learning->invented[e]};
    }
    sp_layout_begin(&layout, &learning->evidence, SP_WORDS_ARE_NAMES);
    sp_layout_make(&layout);
    invent_from_layout(&inventor, &layout);
    sp_layout_free(&layout);
    sp_map_free(&inventor.taken);
    sp_map_free(&inventor.vectors);
    learning->evidence.examples = examples;
}
