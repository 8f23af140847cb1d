/* SPDX-License-Identifier: MIT */
#include "check/adapter_parts.h"

#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "check/adapter_names.h"
#include "names/components.h"

/* The names of PEFT, then those of LyCORIS and ComfyUI. */
static const struct sp_part_kind kinds[] = {
    {"lora_magnitude_vector", "DoRA", SP_PART_OUT_OR_IN, true, false},
    {"lora_E", "AdaLoRA", SP_PART_ANY, true, false},
    {"ranknum", "AdaLoRA", SP_PART_ANY, true, false},
    {"lora_B", "LoRA", SP_PART_OUT, true, false}, /* its bias */
    {"ia3_l", "IA3", SP_PART_OUT_OR_IN, false, false},
    {"hada_w1_a", "LoHa", SP_PART_ROWS, false, false},
    {"hada_w1_b", "LoHa", SP_PART_COLUMNS, false, false},
    {"hada_w2_a", "LoHa", SP_PART_ROWS, false, false},
    {"hada_w2_b", "LoHa", SP_PART_COLUMNS, false, false},
    {"hada_t1", "LoHa", SP_PART_ANY, false, false},
    {"hada_t2", "LoHa", SP_PART_ANY, false, false},
    {"lokr_w1", "LoKr", SP_PART_KRONECKER, false, false},
    {"lokr_w1_a", "LoKr", SP_PART_KRONECKER, false, false},
    {"lokr_w1_b", "LoKr", SP_PART_KRONECKER, false, false},
    {"lokr_w2", "LoKr", SP_PART_KRONECKER, false, false},
    {"lokr_w2_a", "LoKr", SP_PART_KRONECKER, false, false},
    {"lokr_w2_b", "LoKr", SP_PART_KRONECKER, false, false},
    {"lokr_t2", "LoKr", SP_PART_KRONECKER, false, false},
    {"oft_R", "OFT", SP_PART_ANY, false, false},
    {"oft_r", "OFT", SP_PART_ANY, false, false},
    {"boft_R", "BOFT", SP_PART_ANY, false, false},
    {"boft_s", "BOFT", SP_PART_OUT, false, false},
    {"vera_lambda_b", "VeRA", SP_PART_OUT, false, false},
    {"vera_lambda_d", "VeRA", SP_PART_ANY, false, false},
    {"vera_A", "VeRA", SP_PART_OF_ALL, false, false},
    {"vera_B", "VeRA", SP_PART_OF_ALL, false, false},
    {"fourierft_spectrum", "FourierFT", SP_PART_ANY, false, false},
    {"hra_u", "HRA", SP_PART_ANY, false, false},
    {"c3a_kernel", "C3A", SP_PART_ANY, false, false},
    {"delora_A", "DeLoRA", SP_PART_COLUMNS, false, false},
    {"delora_B", "DeLoRA", SP_PART_ROWS, false, false},
    {"delora_lambda", "DeLoRA", SP_PART_ANY, false, false},
    {"delora_w_norm", "DeLoRA", SP_PART_ANY, false, false},
    {"gralora_A", "GraLoRA", SP_PART_ANY, false, false},
    {"gralora_B", "GraLoRA", SP_PART_ANY, false, false},
    {"miss_block", "MiSS", SP_PART_ANY, false, false},
    {"bone_block", "Bone", SP_PART_ANY, false, false},
    {"shira_weight", "SHiRA", SP_PART_ANY, false, false},
    {"shira_indices", "SHiRA", SP_PART_ANY, false, false},
    {"randlora_lambda", "RandLora", SP_PART_ANY, false, false},
    {"randlora_gamma", "RandLora", SP_PART_ANY, false, false},
    {"randlora_A", "RandLora", SP_PART_OF_ALL, false, false},
    {"randlora_B", "RandLora", SP_PART_OF_ALL, false, false},
    {"vblora_logits_A", "VB-LoRA", SP_PART_ANY, false, false},
    {"vblora_logits_B", "VB-LoRA", SP_PART_ANY, false, false},
    {"vblora_vector_bank", "VB-LoRA", SP_PART_OF_ALL, false, false},
    {"road_theta", "RoAd", SP_PART_ANY, false, false},
    {"road_alpha", "RoAd", SP_PART_ANY, false, false},
    {"osf_svd_params", "OSF", SP_PART_ANY, false, false},
    {"ln_tuning_layers", "LN tuning", SP_PART_SAME, false, false},
    {"adaption_prompt", "LLaMA-Adapter", SP_PART_OF_ALL, false, false},
    {"adaption_gate", "LLaMA-Adapter", SP_PART_OF_ALL, false, false},
    {"prompt_embeddings", "prompt tuning", SP_PART_PROMPT, false, false},
    {"prefix_task_cols", "prompt tuning", SP_PART_OF_ALL, false, false},
    {"prefix_task_rows", "prompt tuning", SP_PART_OF_ALL, false, false},
    {"modules_to_save", NULL, SP_PART_SAME, false, false},
    {"trainable_tokens_delta", "trainable tokens", SP_PART_COLUMNS, false, false},
    {"trainable_tokens_original", "trainable tokens", SP_PART_COLUMNS, false, false},
    {"lily_A", "Lily", SP_PART_ANY, false, false},
    {"lily_B", "Lily", SP_PART_ANY, false, false},
    {"lily_router", "Lily", SP_PART_ANY, false, false},
    {"peanut_A", "PEANuT", SP_PART_ANY, false, false},
    {"peanut_B", "PEANuT", SP_PART_ANY, false, false},
    {"pvera_lambda_b", "PVeRA", SP_PART_OUT, false, false},
    {"pvera_lambda_d", "PVeRA", SP_PART_ANY, false, false},
    {"pvera_A", "PVeRA", SP_PART_OF_ALL, false, false},
    {"pvera_B", "PVeRA", SP_PART_OF_ALL, false, false},
    {"dora_scale", "DoRA", SP_PART_OUT_OR_IN, true, false},
    {"diff", "whole differences", SP_PART_WEIGHT, false, false},
    {"diff_b", "whole differences", SP_PART_BIAS, false, false},
    {"set_weight", "whole weights", SP_PART_WEIGHT, false, false},
    {"w_norm", "norms", SP_PART_WEIGHT, false, false},
    {"b_norm", "norms", SP_PART_BIAS, false, false},
    {"reshape_weight", NULL, SP_PART_ANY, false, true},
    {"oft_blocks", "OFT", SP_PART_ANY, false, false},
    {"oft_diag", "OFT", SP_PART_ANY, false, false},
    {"on_input", "IA3", SP_PART_ANY, false, true},
    {"weight", "IA3", SP_PART_OUT_OR_IN, false, true},
    {"a1", "GLoRA", SP_PART_ANY, false, true},
    {"a2", "GLoRA", SP_PART_ANY, false, true},
    {"b1", "GLoRA", SP_PART_ANY, false, true},
    {"b2", "GLoRA", SP_PART_ANY, false, true},
};

static const struct sp_part_kind *kind_of_component(const char *component, size_t length)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sp_is_component(component, length, kinds[i].component)) return &kinds[i];
    return NULL;
}

/* "default.weight" is a label and the rest; "weight" and "bias" have no label in front. */
static void read_part_rest(struct sp_arena *arena, const char *rest, struct sp_part *part)
{
    const size_t first = strcspn(rest, ".");
    const bool none = !*rest || sp_is_component(rest, first, "weight") || sp_is_component(rest, first, "bias");
    part->label = none ? "" : sp_arena_copy(arena, rest, first);
    part->rest = none ? rest : rest[first] ? rest + first + 1 : "";
}

const char *sp_parts_describe(struct sp_arena *arena, const struct shapeproof_inventory *inventory)
{
    struct sp_map known = {0};
    const char **modules = sp_arena_array(arena, shapeproof_inventory_count(inventory), sizeof *modules);
    const char *method = NULL, *text = NULL;
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        struct sp_part part;
        if (!sp_part_read(arena, shapeproof_inventory_tensor(inventory, i)->name, &part) || !part.kind->method)
            continue;
        if (!method) method = part.kind->method;
        if (!sp_part_is_of_all(part.kind) && sp_map_add(&known, part.module, i)) modules[count++] = part.module;
    }
    if (method) text = sp_arena_printf(arena, "an adapter (%s)", method);
    if (count) text = sp_arena_printf(arena, "%s for %s", text, sp_adapter_modules_in_words(arena, modules, count, ""));
    sp_map_free(&known);
    return text;
}

bool sp_part_read(struct sp_arena *arena, const char *name, struct sp_part *part)
{
    for (struct sp_component_walk piece = {.rest = name}; sp_component_next(&piece, ".");) {
        part->kind = kind_of_component(piece.text, piece.length);
        const size_t front = (size_t)(piece.text - name);
        if (!part->kind) continue;
        if ((part->kind->rule == SP_PART_WEIGHT || part->kind->rule == SP_PART_BIAS) && *piece.rest) continue;
        if (part->kind->flat && !(sp_adapter_front(name)->flat && front && strcspn(name, ".") == front - 1)) continue;
        read_part_rest(arena, piece.rest, part);
        part->module = front ? sp_arena_copy(arena, name, front - 1) : "";
        const bool bias = strcmp(part->rest, "bias") == 0;
        return (front || sp_part_is_of_all(part->kind)) && (strcmp(part->kind->component, "lora_B") != 0 || bias);
    }
    return false;
}
