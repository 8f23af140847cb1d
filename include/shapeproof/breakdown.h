/* SPDX-License-Identifier: MIT
 * Where the parameters and the bytes of a checkpoint are: sums over its tensors by one key or two, such as layer and
 * dtype. The same of two checkpoints, side by side. */
#ifndef SHAPEPROOF_BREAKDOWN_H
#define SHAPEPROOF_BREAKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/check.h"
#include "shapeproof/diff.h"
#include "shapeproof/inventory.h"
#include "shapeproof/prediction.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the value of a tensor is, of "model.layers.3.mlp.experts.7.up_proj.weight". A tensor may have none. */
enum shapeproof_by {
    SHAPEPROOF_BY_NONE = 0,
    SHAPEPROOF_BY_LAYER = 1,  /* "model.layers.3": the name up to its first index */
    SHAPEPROOF_BY_GROUP = 2,  /* "feed-forward": the group of the table; needs a check or a prediction */
    SHAPEPROOF_BY_MODULE = 3, /* "model.layers.{}.mlp.experts.{}.up_proj": without the last component and the indices */
    SHAPEPROOF_BY_DTYPE = 4,  /* "BF16" */
    SHAPEPROOF_BY_SHARD = 5,  /* "model-00001-of-00002.safetensors": the file that holds it */
    SHAPEPROOF_BY_EXPERT = 6  /* "experts.7"; "experts" of several in one tensor */
};

/* The order of the rows of a level. Of two checkpoints the size is that of the change. */
enum shapeproof_breakdown_order {
    SHAPEPROOF_BREAKDOWN_BY_SIZE = 0, /* most bytes first */
    SHAPEPROOF_BREAKDOWN_BY_NAME = 1, /* numbers by their value: layers.2 before layers.10 */
    SHAPEPROOF_BREAKDOWN_AS_FILE = 2  /* as the first tensor of each stands in the file */
};

struct shapeproof_breakdown_options {
    enum shapeproof_by by[2]; /* the second may be NONE; the first NONE means MODULE */
    enum shapeproof_breakdown_order order;
    const struct shapeproof_check *check; /* for GROUP: of the checkpoint, of two that of A; otherwise NULL */
    size_t most;  /* rows of a level, the rest of which become one, unless it is one already; 0 for all */
    size_t depth; /* MODULE: at most so many components; 0 for all */
    const struct shapeproof_check *check_b; /* for GROUP of two checkpoints: of B; otherwise NULL */
    /* For GROUP in place of a check: the inventory holds tensors of this prediction, under their predicted names. */
    const struct shapeproof_prediction *prediction;
    const struct shapeproof_prediction *prediction_b; /* of B */
    uint64_t reserved[1];                             /* zero: room for later versions */
};

/* Tensors that are the same as an earlier one count as tensors, but add no parameters and no bytes. */
struct shapeproof_sums {
    uint64_t tensors, parameters, bytes;
};

struct shapeproof_breakdown_row {
    const char *value; /* of the key; NULL of tensors that have none, and of rows that stand for others */
    unsigned level;    /* 1 for rows of the second key, which follow the row that they are parts of; otherwise 0 */
    size_t others;     /* the rows that this one stands for; 0: it is a row of its own */
    bool unchanged;    /* of two checkpoints: it stands for the rows that are equal in both */
    struct shapeproof_sums a; /* of the checkpoint; of two, of A */
    struct shapeproof_sums b; /* of B; otherwise zero */
};

/* What the files have besides the tensors. With these parts the bytes of the rows are the size of the files. */
struct shapeproof_breakdown_part {
    /* "unused", "padding", "structure", "unaccounted" as in struct shapeproof_file_bytes; "absent", negative: what
     * tensors have that no file holds; "encoding": what compression saves (negative) or adds, and what overlapping
     * tensors have in common (negative). */
    const char *name;
    int64_t a, b; /* bytes; never both 0 */
};

struct shapeproof_breakdown; /* opaque */

/* Sums up a checkpoint. `options` may be NULL. NULL with SHAPEPROOF_ERR_USAGE when both keys are the same, or a key is
 * GROUP and there is neither a check nor a prediction. The check must be of this inventory; all of them must outlive
 * the breakdown. */
SHAPEPROOF_API struct shapeproof_breakdown *shapeproof_breakdown_new(const struct shapeproof_inventory *inventory,
                                                                     const struct shapeproof_breakdown_options *options,
                                                                     struct shapeproof_error *error);
/* Sums up both checkpoints of a diff. A tensor of B that is called otherwise in A has the name of A. Rows that are
 * equal in both become one. GROUP needs the checks of both checkpoints, whose inventories are those of the diff, or
 * their predictions; each says the groups of its tensors. The diff, the checks and the predictions must outlive the
 * breakdown. */
SHAPEPROOF_API struct shapeproof_breakdown *
shapeproof_breakdown_of_diff(const struct shapeproof_diff *diff, const struct shapeproof_breakdown_options *options,
                             struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_breakdown_free(struct shapeproof_breakdown *breakdown);

/* All borrowed until shapeproof_breakdown_free. */

/* The inventory that was summed up, of two that of A. */
SHAPEPROOF_API const struct shapeproof_inventory *
shapeproof_breakdown_inventory(const struct shapeproof_breakdown *breakdown);
/* The diff that was summed up, or NULL. */
SHAPEPROOF_API const struct shapeproof_diff *shapeproof_breakdown_diff(const struct shapeproof_breakdown *breakdown);
/* The key of a level, 0 or 1; NONE when there is no second. */
SHAPEPROOF_API enum shapeproof_by shapeproof_breakdown_key(const struct shapeproof_breakdown *breakdown,
                                                           unsigned level);
/* The rows in their order. */
SHAPEPROOF_API size_t shapeproof_breakdown_row_count(const struct shapeproof_breakdown *breakdown);
SHAPEPROOF_API const struct shapeproof_breakdown_row *
shapeproof_breakdown_row(const struct shapeproof_breakdown *breakdown, size_t index);
/* The parts of the files that are no tensors. None when the sizes of the files are not known. */
SHAPEPROOF_API size_t shapeproof_breakdown_part_count(const struct shapeproof_breakdown *breakdown);
SHAPEPROOF_API const struct shapeproof_breakdown_part *
shapeproof_breakdown_part(const struct shapeproof_breakdown *breakdown, size_t index);
/* Of all rows of level 0 and all parts. Its `bytes` are the size of the files, when that is known. */
SHAPEPROOF_API const struct shapeproof_breakdown_row *
shapeproof_breakdown_total(const struct shapeproof_breakdown *breakdown);

/* "layer", "group", "module", "dtype", "shard", "expert"; "none". Static. */
SHAPEPROOF_API const char *shapeproof_by_name(enum shapeproof_by key);

#ifdef __cplusplus
}
#endif
#endif
