/* SPDX-License-Identifier: MIT */
#include "names/layer_kinds.h"

#include <stddef.h>
#include <string.h>

#include "base/chars.h"

const char *sp_layer_kinds(const char *path)
{
    const char *key = sp_behind_last(path, '.');
    if (strcmp(key, "mlp_layer_types") == 0) return "sparse dense";
    if (strcmp(key, "layer_types") != 0) return NULL;
    return "full_attention sliding_attention chunked_attention window_attention indexed_attention "
           "compressed_sparse_attention heavily_compressed_attention minimax_m3_sparse conv moe hybrid hybrid_sliding "
           "reference_sliding_attention linear_attention mamba attention deepseek_sparse_attention "
           "qwen_sparse_attention mlp";
}
