/* SPDX-License-Identifier: MIT
 * Formats of inventories that tests make without a reader: as the readers have them. */
#ifndef TEST_FORMATS_H
#define TEST_FORMATS_H

#include <stddef.h>
#include <string.h>

#include "model/format.h"

__attribute__((unused)) static const struct sp_format format_torch_zip = {"torch-zip", SP_BY_TORCH | SP_IN_ORDER};
__attribute__((unused)) static const struct sp_format format_safetensors = {"safetensors", SP_TENSORS_ALONE};
__attribute__((unused)) static const struct sp_format format_gguf = {"gguf", SP_BY_LLAMA_CPP};

__attribute__((unused)) static const struct sp_format format_hdf5 = {"hdf5", 0};
__attribute__((unused)) static const struct sp_format format_keras_hdf5 = {"keras-hdf5", SP_BY_KERAS | SP_IN_ORDER};
__attribute__((unused)) static const struct sp_format format_keras_weights = {"keras-weights",
                                                                              SP_BY_KERAS | SP_NUMBERED};

/* One of these by its name; NULL for any other. */
__attribute__((unused)) static const struct sp_format *format_named(const char *name)
{
    static const struct sp_format *const formats[] = {&format_torch_zip, &format_safetensors, &format_gguf,
                                                      &format_keras_hdf5, &format_keras_weights};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

#endif
