/* SPDX-License-Identifier: MIT
 * A file as it would be if another program had written it: quantised matrices as they were before, the kernels of
 * TensorFlow under the names and in the order of PyTorch. What is inferred is inferred of that.
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
    const struct shapeproof_inventory *file;
    const struct shapeproof_inventory *inventory; /* what is looked at */
    struct shapeproof_inventory *own;             /* the same, unless it is the file's own */
    size_t *seen_as;                              /* for each tensor of the file one of the inventory; NULL: the same */
    bool is_respelt;                              /* from the names of TensorFlow */
    bool *is_transposed;                /* for each of these: the other way round than in the file; NULL: none is */
    size_t transposed;                  /* how many are */
    bool *is_part;                      /* of a tensor that is one in the file; NULL: none is */
    const char *fused;                  /* the first: "attn.qkv = query + key + value" */
    const struct sp_unpacked *unpacked; /* how the file is quantised, or NULL; then for each of these: */
    bool *is_unpacked;                  /* it is a matrix that was quantised */
    bool *is_flat;                      /* and of its shape only the product shows */
};

/* The file as it is. */
void sp_infer_view_plain(struct sp_infer_view *view, const struct shapeproof_inventory *file);
/* With the names that PyTorch would have, and kernels the other way round; false when no name is of TensorFlow, or
 * several would be one. */
bool sp_infer_view_respelt(struct sp_infer_view *view, const struct shapeproof_inventory *file);
/* With the matrices that were quantised. */
bool sp_infer_view_unpacked(struct sp_infer_view *view, const struct shapeproof_inventory *file,
                            const struct sp_unpacked *unpacked);
/* With those tensors of the view `base`, as its indices, the other way round. */
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
