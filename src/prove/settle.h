/* SPDX-License-Identifier: MIT
 * Values for the symbols of a table out of a configuration, and configurations that leave symbols open. */
#ifndef SP_PROVE_SETTLE_H
#define SP_PROVE_SETTLE_H

#include "prove/symbolic/reduce.h"

/* A value for every symbol of `count` that has one: from the configuration, or from `settled`, the same table counted
 * under it, for those that are computed from keys; else its default. Free with sp_values_free. */
struct sp_values sp_settle(struct sp_count *count, struct sp_count *settled, const struct sp_hyper *hyper);

/* Which values of a configuration are taken out of it, so that the formulas of a count under it have symbols for them.
 */
enum sp_open {
    SP_OPEN_ALL_BUT_TEXTS,
    SP_OPEN_NUMBERS_AND_FLAGS, /* texts and lists stay */
    SP_OPEN_NUMBERS,           /* texts, lists and flags stay */
    SP_OPEN_FLAGS              /* all else stays */
};

/* A configuration without the values that are to be open. Those that stay are shared with `config`. */
struct shapeproof_config *sp_config_open(const struct shapeproof_config *config, enum sp_open open);

#endif
