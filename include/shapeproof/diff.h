/* SPDX-License-Identifier: MIT
 * Comparing two checkpoints, A and B, of whatever formats: what is in one alone, what changed, what is only called
 * otherwise. */
#ifndef SHAPEPROOF_DIFF_H
#define SHAPEPROOF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/check.h"
#include "shapeproof/expect.h"
#include "shapeproof/inventory.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sp_diff_options {
    /* Findings that one knows of become notes; each expectation that is expired, or that nothing fulfilled, becomes a
     * finding. Must outlive the diff. NULL for none. */
    const struct sp_expectations *expectations;
    bool data; /* compare the data too, of two dtypes and orders of elements as far as these can be compared */
    /* What the tensors of A and of B are called besides their own names, for each a name or NULL: those of which this
     * is the same are the same tensor, and no difference. NULL for none. */
    const char *const *names_a, *const *names_b;
    uint64_t reserved[2]; /* zero: room for later versions */
};

/* One of the two checkpoints. */
enum sp_diff_side { SP_DIFF_A, SP_DIFF_B };

/* X(NAME, id, severity, meaning): the kinds of findings, in the order in which a summary says them. */
/* clang-format off */
#define SP_DIFF_FINDINGS(X) \
    X(REMOVED, "removed", ERROR, "in A alone") \
    X(ADDED, "added", ERROR, "in B alone") \
    X(QUANTISED, "quantised", ERROR, "a weight here, what a quantiser makes of it there; data are not compared") \
    X(JOINED, "joined", ERROR, "one tensor here, several there, shape by shape; data are not compared") \
    X(SHAPE, "shape", ERROR, "in both, of another shape") \
    X(TRANSPOSED, "transposed", ERROR, "in both, with its dimensions in the other order") \
    X(DTYPE, "dtype", ERROR, "in both, of another dtype") \
    X(TIED, "tied", ERROR, "one storage in one file, two tensors in the other") \
    X(DATA, "data", ERROR, "the bytes differ; `detail` says where first") \
    X(NOT_COMPARED, "not-compared", ERROR, "`--data` could not compare them; the message says why") \
    X(RENAMED, "renamed", ERROR, "in both, under two names") \
    X(UNUSED, "unused", ERROR, "an expectation that no finding fulfils") \
    X(EXPIRED, "expired", ERROR, "an expectation that is past its last day") \
    X(STORED_ONCE, "stored-once", NOTE, "tied in one file; the other keeps one of the names") \
    X(STATE, "state", NOTE, "of an optimizer or trainer, in one file alone")
/* clang-format on */

enum sp_diff_finding_kind {
#define SP_DIFF_FINDING_ENUM(name, id, severity, meaning) SP_DIFF_FINDING_##name,
    SP_DIFF_FINDINGS(SP_DIFF_FINDING_ENUM)
#undef SP_DIFF_FINDING_ENUM
        SP_DIFF_FINDING_COUNT
};

struct sp_diff_finding {
    const char *id;            /* of its kind: "not-compared" */
    enum sp_severity severity; /* an error makes the two differ */
    const char *name;          /* in A; in B when A has none */
    const char *other;         /* in B, when it is called otherwise there; else NULL */
    const char *message;       /* a whole sentence without its subject: "is in A alone: (64, 16) F32" */
    const char *detail;        /* what differs from tensor to tensor: "first at element 3 of 768"; or NULL */
    const char *reason;        /* why it was expected; or NULL */
    size_t a, b;               /* indices in the inventories, or SP_NONE */
    enum sp_diff_finding_kind kind;
};

/* Findings that differ in nothing but the indices in their names. */
struct sp_diff_group {
    const char *name;
    size_t count;
    const struct sp_diff_finding *first; /* stands for all of them */
};

/* How names of A become names of B; "*" stands for what stays: "module.*" and "*", "*kernel" and "*weight". */
struct sp_diff_mapping {
    const char *from, *to;
    bool transposed; /* the dimensions are in the order of the other framework */
    size_t tensors;
};

struct sp_diff_totals {
    bool data;                                         /* whether bytes were asked for */
    size_t both;                                       /* tensors of A that have a counterpart in B */
    size_t data_compared, data_different, data_unread; /* of these; all 0 unless data were asked for */
    uint64_t data_bytes;                               /* compared, of A alone */
};

struct sp_diff; /* opaque */

/* Compares. `options` may be NULL. NULL with an error only when data are asked for and cannot be read. The inventories
 * must outlive the diff. Deterministic. */
SP_API struct sp_diff *sp_diff_new(const struct sp_inventory *a, const struct sp_inventory *b,
                                   const struct sp_diff_options *options, struct sp_error *error);
SP_API void sp_diff_free(struct sp_diff *diff);

/* All borrowed until sp_diff_free. */

/* Whether no finding is an error. */
SP_API bool sp_diff_is_same(const struct sp_diff *diff);
/* The reason in one line: "all 28 tensors, 7,872 elements", "2 tensors removed, 1 of another shape". */
SP_API const char *sp_diff_summary(const struct sp_diff *diff);
SP_API struct sp_diff_totals sp_diff_totals(const struct sp_diff *diff);
/* What the numbers of compared tensors do not say: how many are the same in another dtype or order, and how many were
 * not compared, by the reason. NULL when that is nothing, and when data were not asked for. */
SP_API const char *sp_diff_data_note(const struct sp_diff *diff);
/* As it was given to sp_diff_new. */
SP_API const struct sp_inventory *sp_diff_inventory(const struct sp_diff *diff, enum sp_diff_side side);
/* The tensor of the other checkpoint that this tensor of `side` is, under whatever name, or SP_NONE. */
SP_API size_t sp_diff_counterpart(const struct sp_diff *diff, enum sp_diff_side side, size_t tensor);
/* Whether the other checkpoint has nothing of a tensor of `side`: no counterpart, nor one of a tensor that is the same.
 * What is whole in one and in parts in the other is alone in both. */
SP_API bool sp_diff_is_alone(const struct sp_diff *diff, enum sp_diff_side side, size_t tensor);
/* Whether this tensor of A has a counterpart with the dimensions in the order of the other framework, as its name tells
 * ("kernel", "weight"): no difference, but the bytes are in another order. */
SP_API bool sp_diff_is_converted(const struct sp_diff *diff, size_t tensor);
/* The translations that are behind the names that are called otherwise. */
SP_API size_t sp_diff_mapping_count(const struct sp_diff *diff);
SP_API struct sp_diff_mapping sp_diff_mapping(const struct sp_diff *diff, size_t index);
/* What is tied or in parts first, then A in its order, then what B has alone, then bytes, then expectations that are
 * left over. */
SP_API size_t sp_diff_finding_count(const struct sp_diff *diff);
SP_API const struct sp_diff_finding *sp_diff_finding(const struct sp_diff *diff, size_t index);
/* Errors first, of these other data. Nothing with a different message is merged. */
SP_API size_t sp_diff_group_count(const struct sp_diff *diff);
SP_API struct sp_diff_group sp_diff_group(const struct sp_diff *diff, size_t index);

#ifdef __cplusplus
}
#endif
#endif
