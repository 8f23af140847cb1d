/* SPDX-License-Identifier: MIT
 * Expected differences: which findings a file of them names. */
#ifndef SP_EXPECT_EXPECT_H
#define SP_EXPECT_EXPECT_H

#include "base/arena.h"
#include "base/text.h"
#include "names/name_pattern.h"
#include "shapeproof/expect.h"

struct sp_expectation {
    const char *id;   /* of a finding, or of the cause that explains it; "*" for any */
    const char *name; /* the pattern as it was written */
    struct sp_name_pattern pattern;
    size_t prefix;       /* the length of its beginning without wildcards */
    uint64_t characters; /* that every name has which it matches: sp_pattern_characters */
    const char *reason;
    const char *until; /* "YYYY-MM-DD", the last day; or NULL */
    bool expired;
    size_t line;
};

struct shapeproof_expectations {
    struct sp_arena arena;
    const char *path;
    size_t bytes;                 /* of the file: they are input of each call that uses the expectations */
    struct sp_expectation *items; /* heap */
    size_t count, capacity;
    struct sp_expectation **sorted; /* those of `items`, by the characters before the first wildcard; heap */
};

/* Reads the lines; false when there were mistakes, which are appended to `messages`. */
bool sp_expectations_parse(struct shapeproof_expectations *expectations, const char *text, size_t length,
                           const char *today, struct sp_text *messages);

/* One use of the expectations, for the findings of one check. Begin with `expectations` set and the rest zero; end with
 * sp_expecting_end. */
struct sp_expecting {
    const struct shapeproof_expectations *expectations;
    bool *fulfilled; /* for each expectation: it covers some finding. Heap; NULL until the first finding */
};

/* The reason for which a finding is expected; NULL when it is not, or not any more. Marks all expectations that cover
 * it as fulfilled. `id` is that of the finding, `cause` that of the cause which explains it, or NULL; `other` is a
 * second name of the tensor, or NULL. */
const char *sp_expected(struct sp_expecting *expecting, const char *id, const char *cause, const char *name,
                        const char *other);

/* An expectation that no finding fulfils, or that is past its day, fulfilled or not: it becomes a finding of its own.
 */
struct sp_left_over {
    bool expired;        /* past its day; false: not fulfilled */
    const char *name;    /* "missing lm_head.*", in the arena */
    const char *message; /* "is expected and was not found (...)", in the arena */
};

/* Calls `add` for each of these, in the order of the file, and ends the use. */
void sp_expecting_end(struct sp_expecting *expecting, struct sp_arena *arena,
                      void (*add)(void *context, struct sp_left_over left), void *context);

#endif
