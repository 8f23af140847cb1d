/* SPDX-License-Identifier: MIT
 * Which relation makes two tensors equal whose elements are not the same one by one: the rows of queries and keys in
 * the order for rotary positions, a transposed matrix, a norm with 1 added, the data of another layer. In a conversion
 * to GGUF some relations must hold, because llama.cpp computes with them; there the lack of one is the fault. */
#ifndef SP_DIFF_RELATIONS_H
#define SP_DIFF_RELATIONS_H

#include "diff/diff.h"
#include "diff/views.h"

/* In what form two tensors are the same that are not so as they are stored. */
enum sp_relation_form {
    SP_FORM_STORED,     /* none: they are the same as they are stored, or different */
    SP_FORM_PERMUTED,   /* rows for rotary positions */
    SP_FORM_TRANSPOSED, /* a square matrix */
    SP_FORM_HEADS,      /* queries, keys and values of all heads, each together */
    SP_FORM_PLUS_ONE,   /* norms */
    SP_FORM_MINUS_EXP,  /* -exp(A_log) */
};

struct sp_judgement {
    bool same;                  /* as they should be */
    enum sp_relation_form form; /* of tensors that are the same */
    const char *message;        /* what is wrong with others, if a relation says it; else NULL */
};

struct sp_relations;

/* The progress must stay until the relations are freed; comparisons here only ask whether to go on. */
struct sp_relations *sp_relations_new(struct shapeproof_diff *diff, const struct shapeproof_data *a,
                                      const struct shapeproof_data *b, struct sp_data_progress *progress);
void sp_relations_free(struct sp_relations *relations);

/* The pair of a tensor of A and its counterpart, with their elements in the order in which both have them. */
struct sp_view_pair sp_relations_stored(const struct sp_relations *relations, size_t a);
/* Fills in the pair of a tensor of A and its counterpart if their elements can be paired although their shapes differ:
 * matrices that are transposed, kernels of Keras, other dimensions of the same elements. Otherwise false, also when
 * they have no elements. */
bool sp_relations_reshaped(const struct sp_relations *relations, size_t a, struct sp_view_pair *pair);
/* Judges a tensor of A and its counterpart, whose elements are the same as `pair` has them or not; `pair` is NULL for
 * tensors of one shape as they are stored. Compares them in other forms where one is expected or could explain the
 * difference. False with an error when a file cannot be read, or when the caller wants the call to end. */
bool sp_relations_judge(struct sp_relations *relations, size_t a, const struct sp_view_pair *pair, bool same,
                        struct sp_judgement *judgement, struct shapeproof_error *error);
/* In which order llama.cpp expects the rows of queries and keys. */
enum sp_row_order {
    SP_ROWS_ANY,    /* the architecture is not known */
    SP_ROWS_STORED, /* as the original has them */
    SP_ROWS_PAIRED, /* row 2 r + s of a head is row s d/2 + r of the d rows of the original */
    SP_ROWS_OTHER   /* another order of elements than these, or other values, also of tensors that are neither */
};

/* The number of heads of a tensor of A and its counterpart that are queries or keys in a conversion to GGUF, and the
 * order of rows that is expected; 0 of other tensors, and where the rows cannot be paired or are not whole blocks, as
 * those of a vector. */
uint64_t sp_relations_heads(const struct sp_relations *relations, size_t a, enum sp_row_order *expected);
/* Notes that the tensor judged last has a finding, which has other data without a relation. That of big-endian tensors
 * stays as it is: of these only the bytes are compared. */
void sp_relations_unexplained(struct sp_relations *relations);
/* The number of heads of a tensor of queries or keys in a conversion to GGUF whose rows may be in the order for rotary
 * positions there; 0 of others. `name` is that of the GGUF file. */
uint64_t sp_relations_part_heads(const struct sp_relations *relations, const char *name);
/* Whether A is the GGUF file of a conversion, so that B has the original. */
bool sp_relations_reversed(const struct sp_relations *relations);
/* A part of a tensor and what it should be; `pair.a` is of the original, `name` that of the part, `a` the tensor of A.
 * `finding` is that they have other data, SHAPEPROOF_NONE when they have not. */
void sp_relations_add_part(struct sp_relations *relations, const struct sp_view_pair *pair, const char *name, size_t a,
                           size_t finding);
/* Once all tensors are judged: looks for the data of the unexplained ones in other tensors of the same shape, and
 * writes into their findings where these are, or how much they differ. False with an error when a file cannot be read.
 */
bool sp_relations_explain(struct sp_relations *relations, struct shapeproof_error *error);

#endif
