/* SPDX-License-Identifier: MIT */
#include "names/naming_schemes.h"

#include <string.h>

#include "names/components.h"
#include "names/patterns.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wc++-compat" /* a text that leaves no room for its NUL */
#define IS(from, to) {from, to, ""},
#define PART(from, to, whole) {from, to, whole},
#define SCHEME(name, says, table, hint, rows) static const struct sp_scheme_row name##_rows[] = {rows};
#include "names/naming_schemes.def"
#undef SCHEME

static const struct sp_scheme_row gguf_rows[] = {
#include "names/gguf.def"
};
#undef IS
#undef PART
#pragma GCC diagnostic pop

/* The first characters of all patterns of a scheme, as a string: FIRST("*.h.{}") and FIRST("h.{}") are 'h'. */
#define FIRST(pattern) (pattern[0] == '*' && pattern[1] == '.' ? (pattern "  ")[2] : pattern[0])
#define IS(from, to) FIRST(from),
#define PART(from, to, whole) FIRST(from),
#define SCHEME(name, says, table, hint, rows) static const char name##_from[] = {rows '\0'};
#include "names/naming_schemes.def"
#undef SCHEME

static const char gguf_from[] = {
#include "names/gguf.def"
    '\0'};
#undef IS
#undef PART

#define IS(from, to) FIRST(to),
#define PART(from, to, whole) FIRST(to),
#define SCHEME(name, says, table, hint, rows) static const char name##_to[] = {rows '\0'};
#include "names/naming_schemes.def"
#undef SCHEME

static const char gguf_to[] = {
#include "names/gguf.def"
    '\0'};

static const struct sp_naming_scheme schemes[] = {
#define SCHEME(name, says, table, hint, rows)                                                                          \
    {says, table, hint, name##_rows, name##_from, name##_to, sizeof name##_rows / sizeof *name##_rows},
#include "names/naming_schemes.def"
#undef SCHEME
    {"of llama.cpp", NULL, NULL, gguf_rows, gguf_from, gguf_to, sizeof gguf_rows / sizeof *gguf_rows},
};

size_t sp_naming_scheme_count(void) { return sizeof schemes / sizeof *schemes; }
const struct sp_naming_scheme *sp_naming_scheme(size_t index) { return &schemes[index]; }

/* Names are compared with hundreds of rows, so the characters of a pattern are compared here and not by strncmp. */
static bool is_hole(const char *pattern) { return pattern[0] == '{' && pattern[1] == '}'; }
static bool has_any_front(const char *pattern) { return pattern[0] == '*' && pattern[1] == '.'; }

/* Matches a name with a pattern: "{}" is an index, which is noted, and a "*" at the end is all the rest, which is
 * returned: "weight" of "h.3.weight" for "h.{}.*", "" for a pattern without a star. NULL when the name does not fit. */
static const char *match_row(const char *pattern, const char *name, struct sp_indices *indices)
{
    const char *const begin = name;
    indices->count = 0;
    while (*pattern) {
        if (*pattern == '*' && !pattern[1]) return name;
        if (is_hole(pattern) && indices->count < SP_MAX_INDICES) {
            const size_t digits = sp_index_at(begin, (size_t)(name - begin), &indices->value[indices->count]);
            if (!digits) return NULL;
            indices->count++;
            name += digits;
            pattern += 2;
        } else if (*pattern++ != *name++) return NULL;
    }
    return *name ? NULL : name;
}

/* Appends the name that a pattern, the indices and the rest make. */
static void fill_row(struct sp_text *text, const char *pattern, const struct sp_indices *indices, const char *rest)
{
    size_t next = 0;
    while (*pattern) {
        if (is_hole(pattern) && next < indices->count) {
            sp_text_number(text, indices->value[next++]);
            pattern += 2;
        } else if (*pattern == '*' && !pattern[1]) {
            sp_text_puts(text, rest);
            pattern++;
        } else sp_text_append(text, pattern++, 1);
    }
}

/* Puts the name that `to`, a pattern of the row, makes of a name that fits row->from into `text`; false when it does
 * not fit. `behind` is the name behind its first component; NULL if it has one only. */
static bool translate_by_row(const struct sp_scheme_row *row, const char *to, const char *name, const char *behind,
                             struct sp_text *text)
{
    struct sp_indices indices;
    const size_t any = has_any_front(row->from) ? 2 : 0; /* a component in front may be there, and stays */
    const char *inner = name, *rest = match_row(row->from + any, name, &indices);
    if (!rest && any && behind) rest = match_row(row->from + any, inner = behind, &indices);
    if (!rest) return false;
    text->length = 0;
    sp_text_append(text, name, (size_t)(inner - name));
    fill_row(text, to + any, &indices, rest);
    return true;
}

/* Returns the next row, from `row` on, whose pattern may fit a name that begins with `head`, or with `second` behind
 * its first component; if no row does, the number of rows. `first` has the first character of each pattern, by which
 * most rows are left out. */
static size_t next_row(const char *first, size_t row, char head, char second)
{
    const char fitting[] = {'{', '*', head, second, '\0'};
    return row + strcspn(first + row, fitting);
}

bool sp_naming_scheme_translate(const struct sp_naming_scheme *scheme, const char *name, size_t *row,
                                struct sp_text *text)
{
    const char *behind = sp_behind_component(name, ".");
    while ((*row = next_row(scheme->from_first, *row, name[0], behind ? behind[0] : '\0')) < scheme->count) {
        const struct sp_scheme_row *next = &scheme->rows[(*row)++];
        if (translate_by_row(next, next->to, name, behind, text)) return true;
    }
    return false;
}

bool sp_naming_scheme_makes(const struct sp_naming_scheme *scheme, const char *name)
{
    struct sp_indices indices;
    for (size_t i = 0; (i = next_row(scheme->to_first, i, name[0], '\0')) < scheme->count; i++) {
        const char *to = scheme->rows[i].to + (has_any_front(scheme->rows[i].to) ? 2 : 0);
        if (!(to[0] == '*' && !to[1]) && match_row(to, name, &indices)) return true;
    }
    return false;
}

bool sp_naming_scheme_whole(const struct sp_naming_scheme *scheme, const char *name, size_t row, struct sp_text *text)
{
    const struct sp_scheme_row *last = &scheme->rows[row - 1];
    return *last->whole && translate_by_row(last, last->whole, name, sp_behind_component(name, "."), text);
}
