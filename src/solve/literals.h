/* SPDX-License-Identifier: MIT
 * The texts that a table mentions: what a hyper-parameter that is a text could be. */
#ifndef SP_SOLVE_LITERALS_H
#define SP_SOLVE_LITERALS_H

#include "lang/syntax/ast.h"

struct sp_literals {
    const char **list; /* each text once */
    size_t count, capacity;
    const char *fallback; /* of sp_literals_about: "gelu" of `key default "gelu"`; or NULL */
};

/* Collects the texts that the value of a key may be: those in expressions that mention the key, or a definition that
 * does, in the table and in the tables and parts that it uses. Of `norm == "rms" ? ... : ...` for norm that is "rms".
 * Not the texts of starts_with, where another text begins so: "Cross" beside "CrossAttnDownBlock2D". If the key is
 * given to an inner table as its class, only the names of that one's classes. They live as long as the tables. */
void sp_literals_about(struct sp_literals *literals, const struct sp_unit *table, const char *path);
/* The texts of the table's own definitions and requirements alone. */
void sp_literals_define(struct sp_literals *literals, const struct sp_unit *table);
/* The texts in an expression; NULL has none. */
void sp_literals_in(struct sp_literals *literals, const struct sp_expr *expr);
bool sp_literals_have(const struct sp_literals *literals, const char *text);
/* The text, or the texts in the list. */
void sp_literals_add(struct sp_literals *literals, struct shapeproof_value value);
void sp_literals_free(struct sp_literals *literals);

/* "1.13.0" */
bool sp_is_release(const char *text);

#endif
