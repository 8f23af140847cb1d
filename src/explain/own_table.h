/* SPDX-License-Identifier: MIT
 * A table that the user has written is a suspect too. */
#ifndef SP_EXPLAIN_OWN_TABLE_H
#define SP_EXPLAIN_OWN_TABLE_H

#include "check/check.h"

struct sp_row;
struct sp_section;
struct sp_unit;

bool sp_is_own_table(const struct sp_prediction *prediction);
/* The section that a row of the unit is in; NULL when the table is built in. */
const struct sp_section *sp_own_section(const struct sp_unit *unit, const struct sp_row *row);
/* Its heading and where it is: "mine.shapes:8: [layers] for i in 0..N". In the arena of the check. */
const char *sp_own_heading(struct sp_check *check, const struct sp_section *section);

#endif
