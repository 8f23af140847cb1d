/* SPDX-License-Identifier: MIT
 * How dimensions and experts are divided among ranks: what `by` says in a table. */
#ifndef SP_PROVE_SYMBOLIC_SHARD_H
#define SP_PROVE_SYMBOLIC_SHARD_H

#include "prove/symbolic/count.h"

/* Puts the part that the rank with the largest part has in the place of *out, the value of a dimension that is divided:
 * with 8 ranks, of K*D by tp of K it is D*ceil(K/8). False after a mistake, which was reported. */
bool sp_shard_dimension(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *dimension,
                        struct sp_sym *out);
/* Of so many experts those of the rank with most of them. */
const struct sp_poly *sp_shard_experts(struct sp_symbolic *symbolic, struct sp_span span,
                                       const struct sp_poly *experts);
/* Whether the row has a dimension or an argument that is divided among the ranks of experts. */
bool sp_shard_is_of_experts(const struct sp_row *row);

/* Keeps how many pieces were divided, for the words about it. */
void sp_shard_note(struct sp_sharding *sharding, struct sp_partition_count seen);

/* How many of `layers` the stage at `index` has of `stages`: where they cannot be equal, the first stages have one
 * more. */
int64_t sp_shard_layers(int64_t layers, unsigned stages, unsigned index);
/* What the ranks of the last sp_count_shard do not divide evenly, nor replicate so, in the arena: "14 query heads are
 * not divisible among 8 ranks"; NULL if there is no such thing. */
const char *sp_shard_uneven(const struct sp_count *count, struct sp_arena *arena);
/* The value of cache(...) with tp, of which sp_count_states was the last count: what is replicated, and what does not
 * divide. */
void sp_put_cache_convention(struct sp_text *text, const struct sp_count *count);
/* The value of shard(...), of which sp_count_shard was the last count: how it is divided, what is replicated, and what
 * does not divide: "4 key-value heads are replicated twice on 8 ranks". */
void sp_put_shard_convention(struct sp_text *text, const struct sp_count *count, const struct sp_sizing *sizing);

#endif
