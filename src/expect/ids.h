/* SPDX-License-Identifier: MIT
 * What can be expected: the ids of findings, of a check or a diff, and of causes. */
#ifndef SP_EXPECT_IDS_H
#define SP_EXPECT_IDS_H

#include <stdbool.h>
#include <stddef.h>

bool sp_is_expectable(const char *id);

/* The id that is spelt most like it, or NULL. */
const char *sp_nearest_expectable(const char *id);

#endif
