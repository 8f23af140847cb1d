/* SPDX-License-Identifier: MIT
 * What Keras means by the groups and attributes of an HDF5 file. See keras.c for the layouts. */
#ifndef SP_READ_HDF5_KERAS_H
#define SP_READ_HDF5_KERAS_H

#include "model/inventory.h"

/* The attribute layer_names or weight_names of one group; borrowed from the arena of the inventory. */
struct sp_h5_names {
    const char *group; /* path, "" for the root */
    const char *attribute;
    const char **names;
    size_t count, capacity;
};

/* One file, decoded: its tensors are those of the inventory from `first` on. */
struct sp_h5_contents {
    struct shapeproof_inventory *inventory;
    size_t first;
    struct sp_h5_names *lists; /* in the order of the walk */
    size_t list_count, list_capacity;
    bool model_attributes; /* model_config or nb_layers is there */
    bool variables;        /* a group "vars" with a name is there */
};

/* Puts the tensors into the order of layer_names and weight_names, warns of names and datasets without each other, and
 * sets the format and the flags that follow from it. */
void sp_h5_understand(struct sp_h5_contents *contents);

#endif
