/* SPDX-License-Identifier: MIT
 * What names are taken apart by. Of ASCII, whatever the locale. */
#ifndef SP_BASE_CHARS_H
#define SP_BASE_CHARS_H

#include <stdbool.h>
#include <string.h>

/* What a digit counts; 10 or more for anything else. */
static inline unsigned sp_digit(char c) { return (unsigned char)(c - '0'); }

static inline bool sp_is_digit(char c) { return sp_digit(c) < 10; }

/* As \w has it. */
static inline bool sp_is_word(char c)
{
    return sp_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Is the text of `length` bytes that literal? */
#define SP_IS(text, length, literal)                                                                                   \
    ((length) == sizeof(literal) - 1 && memcmp((text), (literal), sizeof(literal) - 1) == 0)

static inline bool sp_begins_with(const char *text, const char *head) { return strncmp(text, head, strlen(head)) == 0; }

static inline bool sp_ends_with(const char *text, const char *tail)
{
    const size_t length = strlen(text), size = strlen(tail);
    return length >= size && strcmp(text + length - size, tail) == 0;
}

/* Whether the text is one of those in the list. */
static inline bool sp_is_among(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, list[i]) == 0) return true;
    return false;
}

/* The same of an array whose size the compiler knows. */
#define SP_IS_AMONG(text, list) sp_is_among((text), (list), sizeof(list) / sizeof *(list))

/* Whether the text begins with one of those in the list. */
static inline bool sp_begins_with_any(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sp_begins_with(text, list[i])) return true;
    return false;
}

/* The same of an array whose size the compiler knows. */
#define SP_BEGINS_WITH_ANY(text, list) sp_begins_with_any((text), (list), sizeof(list) / sizeof *(list))

/* Whether one of the list is somewhere in the text. */
static inline bool sp_has_any(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, list[i])) return true;
    return false;
}

#define SP_HAS_ANY(text, list) sp_has_any((text), (list), sizeof(list) / sizeof *(list))

/* What is behind the last one; all of the text where there is none. */
static inline const char *sp_behind_last(const char *text, char separator)
{
    const char *last = strrchr(text, separator);
    return last ? last + 1 : text;
}

/* The last component of a path. */
static inline const char *sp_base_name(const char *path) { return sp_behind_last(path, '/'); }

#endif
