/* SPDX-License-Identifier: MIT
 * Milliseconds of a clock that nobody sets. */
#ifndef SP_BASE_CLOCK_H
#define SP_BASE_CLOCK_H

#include <stdint.h>

int64_t sp_clock_ms(void);

#endif
