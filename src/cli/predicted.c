/* SPDX-License-Identifier: MIT */
#include "cli/predicted.h"

#include <stdlib.h>

/* The tensor whose storage a tensor has: the end of the chain of its ties. */
static const struct shapeproof_predicted *storage_of(const struct shapeproof_prediction *prediction, size_t index)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, index);
    while (tensor->same_as != SHAPEPROOF_NONE) tensor = shapeproof_prediction_tensor(prediction, tensor->same_as);
    return tensor;
}

struct shapeproof_inventory *cli_inventory_of_prediction(const struct shapeproof_prediction *prediction,
                                                         enum shapeproof_dtype dtype, const char *name,
                                                         struct shapeproof_error *error)
{
    const size_t count = shapeproof_prediction_count(prediction);
    struct shapeproof_tensor_description *tensors = calloc(count + 1, sizeof *tensors);
    size_t described = 0;
    if (!tensors) cli_out_of_memory();
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (tensor->optional || tensor->buffer || tensor->rows_only) continue;
        tensors[described++] = (struct shapeproof_tensor_description){
            .name = tensor->name,
            .shape = tensor->shape,
            .rank = tensor->rank,
            .dtype = tensor->dtype == SHAPEPROOF_DTYPE_UNKNOWN ? dtype : tensor->dtype,
            .storage = storage_of(prediction, i)->name,
        };
    }
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe(name, tensors, described, error);
    free(tensors);
    return inventory;
}
