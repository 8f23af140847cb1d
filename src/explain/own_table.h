/* SPDX-License-Identifier: MIT
 * A table that the user has written is a suspect too. */
#ifndef SP_EXPLAIN_OWN_TABLE_H
#define SP_EXPLAIN_OWN_TABLE_H

#include "check/check.h"
#include "lang/eval.h"
#include "lang/prediction.h"

struct sp_section;

bool sp_is_own_table(const struct shapeproof_prediction *prediction);
/* The section of the user's table that a tensor comes from, and the frame it is expanded in: that of its row, or of the
 * row that uses a part, `mlp.* linear(4*E, E)`, when the part is built in. The section is NULL when there is none. */
struct sp_env sp_own_section(const struct sp_row_origin *origin);
/* Likewise the row; NULL when there is none. */
const struct sp_row *sp_own_row(const struct sp_row_origin *origin);
/* The heading of a section and where it is: "mine.shapes:8: [layers] for i in 0..N". In the arena of the check. */
const char *sp_own_heading(struct shapeproof_check *check, const struct sp_section *section);

#endif
