/* SPDX-License-Identifier: MIT */
#include "match/pieces.h"

struct adder {
    struct sp_joints *joints;
    struct sp_joint_piece piece;
    bool whole;
};

static size_t add_name(const void *context, const char *name)
{
    const struct adder *adder = context;
    if (adder->whole) sp_joints_add_whole(adder->joints, name, adder->piece, SP_JOINT_OTHER_SIDE);
    else sp_joints_add_part(adder->joints, name, adder->piece, SP_JOINT_OTHER_SIDE);
    return SHAPEPROOF_NONE;
}

void sp_joints_add_stored(struct sp_joints *joints, const struct sp_naming *naming,
                          const struct shapeproof_tensor *tensor, size_t item, bool whole)
{
    const struct adder adder = {joints, {item, tensor->shape, tensor->rank}, whole};
    struct sp_finder finder = {.naming = naming, .find = add_name, .context = &adder};
    unsigned renaming;
    if (!(tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE)) sp_finder_find(&finder, tensor->name, &renaming);
    sp_finder_free(&finder);
}
