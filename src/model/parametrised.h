/* SPDX-License-Identifier: MIT
 * Weights that a file stores under a parametrisation of PyTorch, or in one of its quantised modules: in place of the
 * weight those tensors that it is computed from.
 *
 *     torch.nn.utils.weight_norm                    weight_g, weight_v
 *     torch.nn.utils.spectral_norm                  weight_orig, weight_u, weight_v
 *     torch.nn.utils.prune                          weight_orig, weight_mask
 *     torch.nn.utils.parametrizations.weight_norm   parametrizations.weight.original0 (g), original1 (v)
 *     ....spectral_norm                             parametrizations.weight.original, and below .weight.0: _u, _v
 *     any other, such as ....orthogonal             parametrizations.weight.original, and below .weight.0: base
 *     torch.ao.quantization.quantize_dynamic        _packed_params._packed_params.0, scale, zero_point; .1 is the bias
 */
#ifndef SP_MODEL_PARAMETRISED_H
#define SP_MODEL_PARAMETRISED_H

#include "model/inventory.h"

enum { SP_MOST_PARAMETRISED_PARTS = 8 };

/* How the weight follows from its parts, in the order of sp_parametrised.parts. */
enum sp_parametrisation {
    SP_PARAMETRISED_OTHERWISE, /* by what the file does not say */
    SP_PARAMETRISED_NORM,      /* g, v: g v / |v|, with a norm for each index of the dimension that g has */
    SP_PARAMETRISED_SPECTRAL,  /* w, u, v: w / (u' w v), as a matrix of one of its dimensions against all others */
    SP_PARAMETRISED_MASK,      /* w, mask: w mask */
    SP_PARAMETRISED_IN_NAME    /* a part is the weight */
};

/* A weight, and the tensors of the file that are stored in its place. */
struct sp_parametrised {
    const char *weight; /* the name that it would have: "lm_head.weight" */
    const char *how;    /* "weight norm", "pruning" ... ; of a group that is not whole what it would be */
    enum sp_parametrisation kind;
    size_t parts[SP_MOST_PARAMETRISED_PARTS]; /* tensors of the file, that of the weight's own values first or last */
    size_t count;                             /* of these */
    size_t like;       /* the part with the shape of the weight; SHAPEPROOF_NONE if it is absent */
    bool is_quantised; /* by PyTorch, which packs the matrix for a library */
    bool is_whole;     /* all parts are there, and their shapes agree */
    const char *lack;  /* of one that is not whole: the part that is absent, "weight_g"; NULL if shapes do not agree */
};

/* Finds the weights of a file that are stored so, in the order of their first parts. All in the arena. Tensors that may
 * have their names for another reason ("weight_v" alone, of a kind of which no whole weight is there) are none. */
size_t sp_parametrised_find(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                            struct sp_parametrised **found);

/* The names of the parts within the module: "weight_g and weight_v", "parametrizations.weight.original and 2 others".
 * In the arena or the inventory. */
const char *sp_parametrised_list_parts(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                                       const struct sp_parametrised *stored);
/* The name that a part has under torch.nn.utils.parametrizations, in the arena: "proj.weight_g" is
 * "proj.parametrizations.weight.original0". `part` is an index of stored->parts. NULL when the parts are not all there,
 * or have no other name. */
const char *sp_parametrised_part_name(struct sp_arena *arena, const struct sp_parametrised *stored, size_t part);

#endif
