/* SPDX-License-Identifier: MIT */
#ifndef SP_CONFIG_QUANTISED_BESIDE_H
#define SP_CONFIG_QUANTISED_BESIDE_H

#include "base/value.h"

/* Some quantisers leave config.json as it is and write a file of their own. What that says of the folder of the
 * configuration at `path`, as quantization_config would say it; absent when there is no such file. `name` is that of
 * the file; static. */
struct shapeproof_value sp_quantised_beside(struct sp_arena *arena, const char *path, const char **name);

#endif
