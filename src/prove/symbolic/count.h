/* SPDX-License-Identifier: MIT
 * How many parameters a table has, as polynomials: for each group and in total. The loops of its headings are sums in
 * closed form, its conditions are factors of 0 or 1. */
#ifndef SP_PROVE_SYMBOLIC_COUNT_H
#define SP_PROVE_SYMBOLIC_COUNT_H

#include "prove/symbolic/symbolic.h"

struct sp_group_count {
    const char *name;
    const struct sp_poly *parameters; /* neither optional, nor a buffer, nor tied to another */
};

/* share PART of WHOLE, as a group has it where something is in use. */
struct sp_share_count {
    const char *group;
    const struct sp_poly *part, *whole;
};

/* Which of the parameters are in use, as the rows say by their shares; or which operations a pass takes. */
struct sp_active_count {
    bool is_counted;
    struct sp_row_count *rows; /* of which `parameters` are those in use; or the multiplications */
    size_t row_count;
    struct sp_share_count *shares; /* each once */
    size_t share_count, share_capacity;
    bool has_lookup;    /* an input embedding is among them */
    bool has_attention; /* products of attention are among them */
};

/* What one of several ranks has: shard(...). */
struct sp_shard_count {
    struct sp_sharding sharding;
    int64_t layers;                   /* of pipeline stages, as the next one; 0 without stages */
    unsigned stage;                   /* that of the largest rank, from 0 on */
    const struct sp_poly *replicated; /* on that rank: what tensor parallelism leaves whole; NULL: nothing is divided */
};

/* The tensors of one row of a table, over all its loops. */
struct sp_row_count {
    const char *group;
    const char *name; /* with the placeholders of its template: "transformer.h.{i}.attn.c_proj.weight" */
    size_t prefix;    /* how many bytes of it a placeholder at the beginning gave: "transformer." */
    const struct sp_poly *parameters; /* of all its tensors together */
    const struct sp_poly *tensors;    /* how many count: neither optional, nor buffers, nor tied to another */
    const struct sp_poly *const
        *shape; /* of each tensor: `rank` dimensions; NULL when they do not all have one shape */
    size_t rank;
};

struct sp_count {
    struct sp_symbolic symbolic;
    const struct shapeproof_tables *tables;
    const struct sp_unit *table;
    struct sp_sym_frame *frame; /* of the table itself, in which claims are evaluated */
    struct sp_row_count *rows;
    size_t row_count;
    struct sp_group_count *groups;
    size_t group_count, group_capacity;
    const struct sp_poly *total;
    struct sp_active_count active; /* counted when it is first asked for */
    struct sp_active_count flops;  /* of the last sp_count_flops, the rows aside */
    struct sp_shard_count shard;   /* of the last sp_count_shard, or sp_count_states */
    bool adapts_experts;           /* the last lora(...) counted matrices of which a token uses a share */
    bool has_rows_of_experts;      /* the last optimizer(adafactor) counted the rows of such matrices */
    struct sp_text messages;
    struct sp_map given;  /* keys of lists that are needed in one place and have a default in another: they are given */
    struct sp_arena keys; /* the texts of these keys */
    bool counts_may_be_0; /* in reductions, what is no dimension, divisor or number of iterations is from 0 up */
};

/* The two sides of a hyper-parameter that may be a pair, such as patch_size, where its value is not known. */
enum sp_sides {
    SP_SIDES_MAY_DIFFER, /* at(patch_size, 0) is a symbol of its own, patch_size[0] */
    SP_SIDES_ARE_EQUAL   /* it is one number: at(patch_size, 0) is patch_size itself */
};

/* Counts `table` for all hyper-parameters but those that `settings` (or NULL) fixes. False with the mistakes in
 * count->messages. Free it with sp_count_free in either case. */
bool sp_count_table(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                    const struct sp_hyper *settings, enum sp_sides sides);
/* The same, where lists of numbers count as given also if the table has a default for them. */
bool sp_count_table_of_lists(struct sp_count *count, const struct shapeproof_tables *tables,
                             const struct sp_unit *table, const struct sp_hyper *settings, enum sp_sides sides);
/* Counts it as a prediction would: what `settings` does not give is absent, and has its default. Then everything is a
 * number. */
bool sp_count_settled(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                      const struct sp_hyper *settings);
/* The same with the keys `open` left open, the only symbols. `open` must outlive the count. */
bool sp_count_settled_but(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                          const struct sp_hyper *settings, const char *const *open, size_t open_count,
                          enum sp_sides sides);
void sp_count_free(struct sp_count *count);
/* Whether the formulas of a count take so much memory that it is freed, and counted anew, before the next evaluation:
 * the memory of a formula is only given back with the whole count. */
bool sp_count_is_large(const struct sp_count *count);
/* Counts a large count anew, under the same settings and with the messages that it has. False with a message if that
 * fails; then the count has no numbers. */
bool sp_count_give_back(struct sp_count *count);
/* The parameters of a group; of all for NULL or "total". NULL when there is no such group. */
const struct sp_poly *sp_count_group(void *count, const char *name);
/* Of them those that are in use. NULL with a message when that is not known. */
const struct sp_poly *sp_count_active(struct sp_count *count, const char *group);
/* One of the tensors of a row, as a measure is asked about it. */
struct sp_measured_tensor {
    const char *name; /* with the placeholders of its template */
    const char *group;
    const struct sp_poly *const *shape;
    const char *const *sources; /* of each dimension: sp_sym_source */
    size_t rank;
    bool is_lookup;  /* an embedding */
    bool is_added;   /* `times 0` stands behind it: no token is multiplied by it, as by a bias */
    bool is_shared;  /* `share` says that a token uses only some of these tensors, as of experts */
    bool is_certain; /* it is there under all settings that are open */
    struct sp_span span;
};
/* What is counted of a tensor in place of its elements. NULL after a message when that is not known. */
struct sp_row_measure {
    bool counts_tied_layers; /* a linear layer counts also if its matrix is that of another tensor */
    const struct sp_poly *(*of)(void *context, struct sp_symbolic *symbolic, const struct sp_measured_tensor *tensor);
    void *context;
};
/* The sum of a measure over all tensors that count as parameters. NULL with a message when it is not known. */
const struct sp_poly *sp_count_measure(struct sp_count *count, const struct sp_row_measure *measure);
struct sp_values;
/* What is done with a condition of a measure, `measures flops if CONDITION`, whose truth depends on hyper-parameters.
 */
struct sp_open_formula {
    /* The condition stands in `env`. */
    void (*assume)(void *context, const struct sp_sym_env *env, const struct sp_expr *condition);
    void *context;
};
/* The elements of all states, also of the tables that this one uses, on the largest of `tp` ranks of tensor
 * parallelism, where these arguments of cache(...) are given. What is divided is in count->shard. NULL with a message
 * when that is not known, and where a condition of the measure does not follow from the values that are known (NULL: of
 * none), unless `open` assumes it. */
const struct sp_poly *sp_count_states(struct sp_count *count, const struct sp_values *known, unsigned tp,
                                      const struct sp_sym_given *given, size_t given_count,
                                      const struct sp_open_formula *open);
/* The same for the bytes of activations, where these arguments of activations(...) are given. */
const struct sp_poly *sp_count_activations(struct sp_count *count, const struct sp_values *known,
                                           const struct sp_sym_given *given, size_t given_count,
                                           const struct sp_open_formula *open);
/* How a cache keeps latent keys and values: as they are, or as the keys and values of all heads. */
enum sp_cache_form { SP_CACHE_LATENT_FORM, SP_CACHE_EXPANDED_FORM };
/* A cache of `batch` sequences of `tokens` tokens on the largest of `tp` ranks. */
struct sp_cache_asked {
    const struct sp_poly *tokens, *batch;
    const struct sp_poly *source_tokens, *images; /* of each sequence; NULL: not given */
    enum sp_cache_form form;
    unsigned tp;
    const struct sp_open_formula *open; /* NULL: no condition is assumed */
};
/* The elements of such a cache, as sp_count_states. */
const struct sp_poly *sp_count_cache(struct sp_count *count, const struct sp_cache_asked *asked);
/* The parameters of the rank with most of them, of as many as shard(...) has. NULL with a message when that is not
 * known. */
const struct sp_poly *sp_count_shard(struct sp_count *count, const struct sp_expr *expr);
/* The operations of a pass, two for each multiplication and addition. NULL with a message when that is not known; of
 * conditions as for activations. */
const struct sp_poly *sp_count_flops(struct sp_count *count, const struct sp_values *known,
                                     const struct sp_flops *asked, const struct sp_open_formula *open);

#endif
