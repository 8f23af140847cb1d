/* SPDX-License-Identifier: MIT
 * The flow of a check, for tests. */
#ifndef SP_EXPLAIN_RUN_H
#define SP_EXPLAIN_RUN_H

#include "check/check.h"
#include "explain/models/asked.h"

/* shapeproof_check_new, but the explainers of each stage run in an order that follows from the seed; 0: in that of the
 * list. It makes no difference, which is for tests to hold. What the file was asked in one of the orders it answers in
 * all of them. */
struct shapeproof_check *sp_check_new_shuffled(const struct shapeproof_inventory *inventory,
                                               const struct shapeproof_tables *tables,
                                               const struct shapeproof_config *config,
                                               const struct shapeproof_check_options *options, uint64_t seed,
                                               struct sp_answer_cache *asked, struct shapeproof_error *error);

#endif
