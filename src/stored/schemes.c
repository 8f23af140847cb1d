/* SPDX-License-Identifier: MIT */
#include "stored/schemes.h"

#include <assert.h>
#include <string.h>

#include "config/quantised.h"

/* quantization_config of methods; BITS and GROUP stand for numbers to be tried. */
static const char *const forms[] = {
    "{\"quant_method\":\"gptq\",\"bits\":BITS,\"group_size\":GROUP}",
    "{\"quant_method\":\"awq\",\"bits\":BITS,\"group_size\":GROUP}",
    "{\"quant_method\":\"mlx\",\"bits\":BITS,\"group_size\":GROUP}",
    "{\"quant_method\":\"mlx\",\"mode\":\"mxfp4\"}",
    "{\"quant_method\":\"mlx\",\"mode\":\"nvfp4\"}",
    "{\"quant_method\":\"mlx\",\"mode\":\"mxfp8\"}",
    "{\"quant_method\":\"mxfp4\"}",
    "{\"quant_method\":\"fp8\",\"weight_block_size\":[128,128]}",
    "{\"quant_method\":\"fp8\"}",
    "{\"quant_method\":\"fp8\",\"activation_scheme\":\"static\"}",
    "{\"quant_method\":\"fbgemm_fp8\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8\"}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":BITS,\"strategy\":\"group\",\"group_size\":GROUP}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":BITS,\"strategy\":\"group\",\"group_size\":GROUP,\"symmetric\":false}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":BITS,\"strategy\":\"channel\"}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"float-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":8,\"strategy\":\"channel\"}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"float-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":8,\"strategy\":\"tensor\"},\"input_activations\":{\"dynamic\":false}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"int-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":8,\"strategy\":\"channel\"}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"nvfp4-pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":4,\"strategy\":\"tensor_group\",\"group_size\":16}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"mxfp4-pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":4,\"strategy\":\"group\",\"group_size\":32}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"mxfp6-pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":6,\"strategy\":\"group\",\"group_size\":32}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"dense\",\"sparsity_config\":"
    "{\"format\":\"sparse-24-bitmask\"}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"float-quantized\",\"sparsity_config\":"
    "{\"format\":\"sparse-24-bitmask\"},\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":8,\"strategy\":\"channel\"}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"mxfp8-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":8,\"strategy\":\"group\",\"group_size\":32}}}}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"nf4\","
    "\"bnb_4bit_use_double_quant\":false}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"nf4\","
    "\"bnb_4bit_use_double_quant\":true}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"fp4\","
    "\"bnb_4bit_use_double_quant\":false}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"fp4\","
    "\"bnb_4bit_use_double_quant\":true}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_8bit\":true}",
    "{\"quant_method\":\"quanto\",\"weights\":\"int8\"}",
    "{\"quant_method\":\"quanto\",\"weights\":\"float8\"}",
    "{\"quant_method\":\"quanto\",\"weights\":\"int4\"}",
    "{\"quant_method\":\"quanto\",\"weights\":\"int2\"}",
    "{\"quant_method\":\"bitnet\"}",
    "{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":GROUP,\"version\":\"gemv\"}",
    "{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":GROUP,\"version\":\"gemv_fast\"}",
    "{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":GROUP,\"version\":\"marlin\"}",
    "{\"quant_method\":\"gptq\",\"bits\":BITS,\"group_size\":GROUP,\"checkpoint_format\":\"marlin\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8_PER_CHANNEL_PER_TOKEN\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8_PB_WO\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"MXFP8\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"MXFP4\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"W8A16\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"W4A16_AWQ\",\"group_size\":GROUP}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"W4A8_AWQ\",\"group_size\":GROUP}",
    "{\"quant_method\":\"mxfp8\"}",
    "{\"quant_method\":\"hqq\",\"quant_config\":{\"weight_quant_params\":{\"nbits\":BITS,\"group_size\":GROUP,\"axis\":"
    "1}}}",
    "{\"quant_method\":\"hqq\",\"quant_config\":{\"weight_quant_params\":{\"nbits\":BITS,\"group_size\":GROUP,\"axis\":"
    "0}}}",
    "{\"quant_method\":\"aqlm\",\"nbits_per_codebook\":16,\"num_codebooks\":1,\"in_group_size\":8}",
    "{\"quant_method\":\"aqlm\",\"nbits_per_codebook\":8,\"num_codebooks\":2,\"in_group_size\":8}",
    "{\"quant_method\":\"aqlm\",\"nbits_per_codebook\":8,\"num_codebooks\":1,\"in_group_size\":8}",
    "{\"quant_method\":\"eetq\"}",
    "{\"quant_method\":\"higgs\",\"bits\":BITS,\"group_size\":GROUP}",
    "{\"quant_method\":\"spqr\",\"bits\":3}",
    "{\"quant_method\":\"metal\",\"bits\":BITS,\"group_size\":GROUP}",
    "{\"quant_method\":\"gemma\",\"num_bits\":BITS}",
    "{\"quant_method\":\"torchao\",\"quant_type\":{\"default\":{\"_type\":\"Int8WeightOnlyConfig\",\"_data\":{}}}}",
    "{\"quant_method\":\"torchao\",\"quant_type\":{\"default\":{\"_type\":\"Float8WeightOnlyConfig\",\"_data\":{}}}}",
    "{\"quant_method\":\"torchao\",\"quant_type\":{\"default\":{\"_type\":\"Int4WeightOnlyConfig\",\"_data\":{\"group_"
    "size\":GROUP}}}}",
    "{\"quant_method\":\"torchao\",\"quant_type\":{\"default\":{\"_type\":\"Int4WeightOnlyConfig\",\"_data\":{\"group_"
    "size\":GROUP,\"int4_packing_format\":{\"_data\":\"TILE_PACKED_TO_4D\"}}}}}",
    "{\"quant_method\":\"torchao\",\"quant_type\":{\"default\":{\"_type\":\"Int8DynamicActivationIntxWeightConfig\",\"_"
    "data\":{\"weight_granularity\":{\"_data\":{\"group_size\":GROUP}}}}}}",
    "{\"quant_method\":\"fp_quant\",\"forward_dtype\":\"nvfp4\"}",
    "{\"quant_method\":\"fp_quant\",\"forward_dtype\":\"mxfp4\"}",
    "{\"quant_method\":\"exl3\"}",
    "{\"quant_method\":\"exl2\"}",
};

size_t sp_scheme_count(void) { return sizeof forms / sizeof *forms; }

static bool fill_form(struct sp_arena *arena, const char *form, int bits, int group, struct shapeproof_value *value)
{
    struct sp_text json = {0};
    struct shapeproof_error error = {0};
    for (const char *c = form; *c;) {
        if (strncmp(c, "BITS", 4) == 0) sp_text_printf(&json, "%d", bits), c += 4;
        else if (strncmp(c, "GROUP", 5) == 0) sp_text_printf(&json, "%d", group), c += 5;
        else sp_text_append(&json, c++, 1);
    }
    const bool good = sp_value_parse_json(arena, json.data, json.length, value, &error);
    sp_text_free(&json);
    assert(good);
    return good;
}

const struct sp_unit *sp_scheme_part(const struct shapeproof_tables *tables, size_t method)
{
    struct sp_arena scratch = {0};
    struct sp_quantised quantised;
    struct shapeproof_value form;
    const bool good = fill_form(&scratch, forms[method], 4, 128, &form);
    const struct shapeproof_member member = {"quantization_config", form};
    const struct sp_hyper hyper = {.root = {.type = SHAPEPROOF_VALUE_OBJECT, .count = good, .members = &member}};
    sp_quantised_open(&quantised, tables, &hyper, NULL);
    sp_quantised_close(&quantised);
    sp_arena_free(&scratch);
    return quantised.part;
}

void sp_scheme_visit_all(struct sp_arena *arena, size_t method,
                         void (*take)(void *context, struct shapeproof_value form), void *context)
{
    static const int bits[] = {4, 8, 3, 2, 5, 6}, groups[] = {128, 64, 32, 16, 256, 512, 1024, -1};
    const char *form = forms[method];
    const size_t bit_count = strstr(form, "BITS") ? sizeof bits / sizeof *bits : 1;
    const size_t group_count = strstr(form, "GROUP") ? sizeof groups / sizeof *groups : 1;
    for (size_t b = 0; b < bit_count; b++)
        for (size_t g = 0; g < group_count; g++) {
            struct shapeproof_value value;
            if (fill_form(arena, form, bits[b], groups[g], &value)) take(context, value);
        }
}

struct shapeproof_member sp_scheme_setting(struct shapeproof_value form)
{
    const struct shapeproof_value method = sp_value_member(form, "quant_method");
    const bool mlx = method.type == SHAPEPROOF_VALUE_STRING && strcmp(method.string, "mlx") == 0;
    const struct shapeproof_value keys = {SHAPEPROOF_VALUE_OBJECT, .count = form.count - mlx,
                                          .members = form.members + mlx};
    return (struct shapeproof_member){mlx ? "quantization" : "quantization_config", keys};
}
