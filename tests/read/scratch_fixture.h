/* SPDX-License-Identifier: MIT
 * A scratch directory for each test, or for all tests of a program. */
#ifndef TESTS_READ_SCRATCH_FIXTURE_H
#define TESTS_READ_SCRATCH_FIXTURE_H

#include "read/scratch.h"

static struct scratch scratch;

static inline int make_scratch(void **state)
{
    (void)state;
    scratch_make(&scratch);
    return 0;
}

static inline int remove_scratch(void **state)
{
    (void)state;
    scratch_remove(&scratch);
    return 0;
}

#endif
