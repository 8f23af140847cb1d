/* SPDX-License-Identifier: MIT
 * A file as it would be if another program had written it: quantised matrices as they were before, weights without
 * their parametrisation, the kernels of TensorFlow under the names and in the order of PyTorch. What is inferred is
 * inferred of that.
 *
 *     file                        seen_as    inventory
 *     0 q_proj.qweight  (512, 8)     0       0 q_proj.weight  (8, 4096)
 *     1 q_proj.scales   (32, 8)      0       1 norm.weight    (4096)
 *     2 norm.weight     (4096)       1 */
#ifndef SP_INFER_VIEW_H
#define SP_INFER_VIEW_H

#include <stdbool.h>

#include "model/inventory.h"
#include "stored/unpack.h"

struct sp_infer_view {
    const struct shapeproof_inventory *file;      /* as it is */
    const struct shapeproof_inventory *inventory; /* as it is seen: the file's own, or `own` */
    struct shapeproof_inventory *own;             /* NULL for the plain view */
    size_t *seen_as;                              /* for each tensor of the file one of the inventory; NULL: the same */
    bool is_respelt;                              /* names of TensorFlow are seen as those of PyTorch */

    /* ---- for each tensor of the inventory; NULL: of none ---- */

    bool *is_transposed; /* it is transposed in the file */
    bool *is_part;       /* it is a part of a tensor that is fused in the file */
    bool *is_unpacked;   /* it is a matrix that is quantised in the file */
    bool *is_computed;   /* it is a weight that is stored under a parametrisation in the file */
    bool *is_flat;       /* and the file shows only its element count: its shape is given as (elements, 1) */

    size_t transposed;                  /* how many are is_transposed */
    const char *fused;                  /* what the first parts are of: "attn.qkv = query + key + value"; or NULL */
    const char *parametrised;           /* under which: "weight norm", if any are is_computed; or NULL */
    const struct sp_unpacked *unpacked; /* how the file is quantised, if any are is_unpacked; or NULL */
};

/* ---- the views; those that return false make none ---- */

/* The file as it is. */
void sp_infer_view_plain(struct sp_infer_view *view, const struct shapeproof_inventory *file);
/* With the names that PyTorch would have, and kernels transposed. False when no name is of TensorFlow, or two would
 * become the same. */
bool sp_infer_view_respelt(struct sp_infer_view *view, const struct shapeproof_inventory *file);
/* With one matrix in place of the tensors of each quantised module: the picture at the head of this file. False when
 * that is no inventory, because the file has a tensor with the name of such a matrix already. */
bool sp_infer_view_unpacked(struct sp_infer_view *view, const struct shapeproof_inventory *file,
                            const struct sp_unpacked *unpacked);
/* With a weight in place of the tensors that it is computed from. False when the file has no such weights. */
bool sp_infer_view_unparametrised(struct sp_infer_view *view, const struct shapeproof_inventory *file);
/* As in the view `base`, but with some of its matrices transposed: `transposed` has a flag for each tensor of its
 * inventory. False when that is no inventory. */
bool sp_infer_view_transposed(struct sp_infer_view *view, const struct sp_infer_view *base, const bool *transposed);
void sp_infer_view_free(struct sp_infer_view *view);

/* ---- making one ---- */

/* Begins an empty one. */
void sp_infer_view_begin(struct sp_infer_view *view, const struct shapeproof_inventory *file);
/* Adds a tensor as it is in the file but for its name and shape, which live as long as the file or in own->arena; the
 * tensor of the file is seen as that. False past the limits of an inventory. */
bool sp_infer_view_add(struct sp_infer_view *view, size_t tensor, const char *name, const uint64_t *shape,
                       uint32_t rank);
/* Once all are added; false, and then it is freed, when it is no inventory. */
bool sp_infer_view_end(struct sp_infer_view *view);

static inline size_t sp_seen_as(const struct sp_infer_view *view, size_t tensor)
{
    return view->seen_as ? view->seen_as[tensor] : tensor;
}

#endif
