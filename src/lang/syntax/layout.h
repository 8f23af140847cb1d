/* SPDX-License-Identifier: MIT
 * The layout of table files: docs/language.md describes it. */
#ifndef SP_LANG_SYNTAX_LAYOUT_H
#define SP_LANG_SYNTAX_LAYOUT_H

#include "lang/syntax/statements.h"

/* Appends the statements as the house writes them; `arena` is for what is in between. */
void sp_layout(const struct sp_statements *statements, struct sp_arena *arena, struct sp_text *out);

#endif
