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
#include "shapeproof/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_diff_options {
    /* Findings that one knows of become notes; each expectation that is expired, or that nothing fulfilled, becomes a
     * finding. Must outlive the diff. NULL for none. */
    const struct shapeproof_expectations *expectations;
    bool data; /* compare the data too, of two dtypes and orders of elements as far as these can be compared */
    /* What the tensors of A and of B are called besides their own names, for each a name or NULL: those of which this
     * is the same are the same tensor, and no difference. NULL for none. */
    const char *const *names_a, *const *names_b;
    const struct shapeproof_watch *watch; /* for progress, and the end before its time, where data are compared; NULL */
    uint64_t reserved[1];                 /* zero: room for later versions */
};

/* One of the two checkpoints. */
enum shapeproof_diff_side { SHAPEPROOF_DIFF_A = 0, SHAPEPROOF_DIFF_B = 1 };

/* X(NAME, id, severity, meaning): the kinds of findings, in the order in which a summary says them. The severity may be
 * less: of what is expected; of what every conversion does, when one of the files is GGUF and the other is not; and of
 * what other names bring with them, when one of the files has the names of another known program. */
/* clang-format off */
#define SHAPEPROOF_DIFF_FINDINGS(X) \
    X(REMOVED, 0, "removed", ERROR, "only in A") \
    X(ADDED, 1, "added", ERROR, "only in B") \
    X(QUANTISED, 2, "quantised", ERROR, "quantised in one file, but not in the other") \
    X(JOINED, 3, "joined", ERROR, "one tensor in one file, several parts of it in the other") \
    X(SHAPE, 4, "shape", ERROR, "in both, with different shapes") \
    X(TRANSPOSED, 5, "transposed", ERROR, "in both, with its dimensions in opposite order") \
    X(DTYPE, 6, "dtype", ERROR, "in both, with different dtypes") \
    X(TIED, 7, "tied", ERROR, "tied to another tensor in one file, separate from it in the other") \
    X(DATA, 8, "data", ERROR, "the bytes differ; `detail` gives the first difference") \
    X(NOT_COMPARED, 9, "not-compared", ERROR, "`--data` could not compare the bytes; the message says why") \
    X(RENAMED, 10, "renamed", ERROR, "in both, with different names") \
    X(UNUSED, 11, "unused", ERROR, \
      "an entry in the file of expected differences (`--expect`) that matches no finding") \
    X(EXPIRED, 12, "expired", ERROR, \
      "an entry in the file of expected differences (`--expect`) whose last day is over") \
    X(STORED_ONCE, 13, "stored-once", NOTE, "tied in one file; the other has only one of the two names") \
    X(STATE, 14, "state", NOTE, "part of the state of an optimizer or trainer, only in one file") \
    X(METADATA, 15, "metadata", ERROR, \
      "a key of the metadata of two GGUF files, with different values or only in one") \
    X(PARAMETRISED, 16, "parametrised", ERROR, \
      "stored under a parametrisation (weight norm, spectral norm, a mask of pruning) in one file only")
/* clang-format on */

enum shapeproof_diff_finding_kind {
#define SHAPEPROOF_DIFF_FINDING_ENUM(name, value, id, severity, meaning) SHAPEPROOF_DIFF_FINDING_##name = (value),
    SHAPEPROOF_DIFF_FINDINGS(SHAPEPROOF_DIFF_FINDING_ENUM)
#undef SHAPEPROOF_DIFF_FINDING_ENUM
};

struct shapeproof_diff_finding {
    const char *id;                    /* of its kind: "not-compared" */
    enum shapeproof_severity severity; /* an error makes the two differ */
    const char *name;                  /* in A; in B when A has none; of METADATA the key */
    const char *other;                 /* in B, when it is called otherwise there; else NULL */
    const char *message;               /* a whole sentence without its subject: "is in A alone: (64, 16) F32" */
    const char *detail;                /* what differs from tensor to tensor: "first at element 3 of 768"; or NULL */
    const char *reason;                /* why it was expected; or NULL */
    size_t a, b;                       /* indices in the inventories, or SHAPEPROOF_NONE */
    enum shapeproof_diff_finding_kind kind;
};

/* Findings that differ in nothing but the indices in their names. */
struct shapeproof_diff_group {
    const char *name;
    size_t count;
    const struct shapeproof_diff_finding *first; /* stands for all of them */
};

/* How names of A become names of B; "*" stands for what stays: "module.*" and "*", "*kernel" and "*weight". */
struct shapeproof_diff_mapping {
    const char *from, *to;
    bool transposed; /* the dimensions are in the order of the other framework */
    size_t tensors;
};

struct shapeproof_diff_totals {
    bool data;                                         /* whether bytes were asked for */
    size_t both;                                       /* tensors of A that have a counterpart in B */
    size_t data_compared, data_different, data_unread; /* of A, also fused ones; all 0 unless data were asked for;
                                                        * data_unread: not compared, for any reason */
    uint64_t data_bytes;                               /* compared, of A alone */
};

struct shapeproof_diff; /* opaque */

/* Compares. `options` may be NULL. NULL with an error only when data are asked for and cannot be read. The inventories
 * must outlive the diff. Deterministic. */
SHAPEPROOF_API struct shapeproof_diff *shapeproof_diff_new(const struct shapeproof_inventory *a,
                                                           const struct shapeproof_inventory *b,
                                                           const struct shapeproof_diff_options *options,
                                                           struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_diff_free(struct shapeproof_diff *diff);

/* All borrowed until shapeproof_diff_free. */

/* Whether no finding is an error. */
SHAPEPROOF_API bool shapeproof_diff_is_same(const struct shapeproof_diff *diff);
/* The reason in one line: "all 28 tensors, 7,872 elements", "2 tensors removed, 1 of another shape". */
SHAPEPROOF_API const char *shapeproof_diff_summary(const struct shapeproof_diff *diff);
SHAPEPROOF_API const struct shapeproof_diff_totals *shapeproof_diff_totals(const struct shapeproof_diff *diff);
/* What the numbers of compared tensors do not say: how many are the same in another dtype or order, and how many were
 * not compared, by the reason. NULL when that is nothing, and when data were not asked for. */
SHAPEPROOF_API const char *shapeproof_diff_data_note(const struct shapeproof_diff *diff);
/* As it was given to shapeproof_diff_new. */
SHAPEPROOF_API const struct shapeproof_inventory *shapeproof_diff_inventory(const struct shapeproof_diff *diff,
                                                                            enum shapeproof_diff_side side);
/* The tensor of the other checkpoint that this tensor of `side` is, under whatever name, or SHAPEPROOF_NONE. */
SHAPEPROOF_API size_t shapeproof_diff_counterpart(const struct shapeproof_diff *diff, enum shapeproof_diff_side side,
                                                  size_t tensor);
/* Whether the other checkpoint has nothing of a tensor of `side`: no counterpart, nor one of a tensor that is the same.
 * What is whole in one and in parts in the other is alone in both. */
SHAPEPROOF_API bool shapeproof_diff_is_alone(const struct shapeproof_diff *diff, enum shapeproof_diff_side side,
                                             size_t tensor);
/* Whether this tensor of A has a counterpart with the dimensions in the order of the other framework, as its name tells
 * ("kernel", "weight"): no difference, but the bytes are in another order. */
SHAPEPROOF_API bool shapeproof_diff_is_converted(const struct shapeproof_diff *diff, size_t tensor);
/* The translations that are behind the names that are called otherwise. */
SHAPEPROOF_API size_t shapeproof_diff_mapping_count(const struct shapeproof_diff *diff);
SHAPEPROOF_API const struct shapeproof_diff_mapping *shapeproof_diff_mapping(const struct shapeproof_diff *diff,
                                                                             size_t index);
/* What is tied or in parts first, then A in its order, then what B has alone, then bytes, then expectations that are
 * left over. */
SHAPEPROOF_API size_t shapeproof_diff_finding_count(const struct shapeproof_diff *diff);
SHAPEPROOF_API const struct shapeproof_diff_finding *shapeproof_diff_finding(const struct shapeproof_diff *diff,
                                                                             size_t index);
/* Errors first, of these other data. Nothing with a different message is merged. */
SHAPEPROOF_API size_t shapeproof_diff_group_count(const struct shapeproof_diff *diff);
SHAPEPROOF_API const struct shapeproof_diff_group *shapeproof_diff_group(const struct shapeproof_diff *diff,
                                                                         size_t index);

#ifdef __cplusplus
}
#endif
#endif
