/* SPDX-License-Identifier: MIT
 * Lists and texts of which it was told what is in them, and what is not. */
#ifndef SP_INFER_MEMBERS_H
#define SP_INFER_MEMBERS_H

#include "solve/solver.h"

/* Takes them to have nothing else in them. False when there are none that are not closed yet. */
bool sp_members_close(struct sp_solver *solver);

#endif
