/* SPDX-License-Identifier: MIT
 * The texts that a table mentions: what a hyper-parameter that is a text could be. */
#ifndef SP_INFER_LITERALS_H
#define SP_INFER_LITERALS_H

#include "infer/outline.h"

struct sp_literals {
    const char **list;
    size_t count, capacity;
    const char *fallback; /* of sp_literals_about: what stands for the key where it is not set, or NULL */
};

/* The texts that have to do with a key, in the table and in the tables and parts that it uses: those in expressions
 * that mention it, or a definition that does. They live as long as the tables. */
void sp_literals_about(struct sp_literals *literals, const struct sp_unit *table, const char *path);
/* The texts of the table's own definitions and requirements alone. */
void sp_literals_define(struct sp_literals *literals, const struct sp_unit *table);
void sp_literals_free(struct sp_literals *literals);

/* The classes that the table covers, the plainest first; "" when it does not depend on the class. In the arena. */
const char **sp_classes_of(struct sp_arena *arena, const struct sp_unit *table, size_t *count);

/* "1.13.0" */
bool sp_is_release(const char *text);

#endif
