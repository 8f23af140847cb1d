/* SPDX-License-Identifier: MIT */
#ifndef SP_CONFIG_YAML_H
#define SP_CONFIG_YAML_H

#include "base/value.h"

/* The one document of a YAML text, copied into the arena (see yaml.c for what is read and what is refused). A mapping
 * with a tag of its own, `!ModelConfig`, gets it as its member "yaml_tag", without the '!'. A key that a mapping has
 * twice has its last value, as in PyYAML, and is counted in `repeats`, which may be NULL. Errors have status
 * SHAPEPROOF_ERR_TABLE and name line and column. */
bool sp_yaml_parse(struct sp_arena *arena, const char *text, size_t length, struct shapeproof_value *root,
                   struct sp_value_repeats *repeats, struct shapeproof_error *error);

#endif
