/* SPDX-License-Identifier: MIT */
#include "check/adapter_parts.h"

#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "names/components.h"

/* The names of PEFT. */
static const struct sp_part_kind kinds[] = {
    {"lora_magnitude_vector", "DoRA", SP_PART_OUT_OR_IN, true},
    {"lora_E", "AdaLoRA", SP_PART_ANY, true},
    {"ranknum", "AdaLoRA", SP_PART_ANY, true},
    {"lora_B", "LoRA", SP_PART_OUT, true}, /* its bias */
    {"ia3_l", "IA3", SP_PART_OUT_OR_IN, false},
    {"hada_w1_a", "LoHa", SP_PART_ROWS, false},
    {"hada_w1_b", "LoHa", SP_PART_COLUMNS, false},
    {"hada_w2_a", "LoHa", SP_PART_ROWS, false},
    {"hada_w2_b", "LoHa", SP_PART_COLUMNS, false},
    {"hada_t1", "LoHa", SP_PART_ANY, false},
    {"hada_t2", "LoHa", SP_PART_ANY, false},
    {"lokr_w1", "LoKr", SP_PART_ANY, false},
    {"lokr_w1_a", "LoKr", SP_PART_ANY, false},
    {"lokr_w1_b", "LoKr", SP_PART_ANY, false},
    {"lokr_w2", "LoKr", SP_PART_ANY, false},
    {"lokr_w2_a", "LoKr", SP_PART_ANY, false},
    {"lokr_w2_b", "LoKr", SP_PART_ANY, false},
    {"lokr_t2", "LoKr", SP_PART_ANY, false},
    {"oft_R", "OFT", SP_PART_ANY, false},
    {"oft_r", "OFT", SP_PART_ANY, false},
    {"boft_R", "BOFT", SP_PART_ANY, false},
    {"boft_s", "BOFT", SP_PART_OUT, false},
    {"vera_lambda_b", "VeRA", SP_PART_OUT, false},
    {"vera_lambda_d", "VeRA", SP_PART_ANY, false},
    {"vera_A", "VeRA", SP_PART_OF_ALL, false},
    {"vera_B", "VeRA", SP_PART_OF_ALL, false},
    {"fourierft_spectrum", "FourierFT", SP_PART_ANY, false},
    {"hra_u", "HRA", SP_PART_ANY, false},
    {"c3a_kernel", "C3A", SP_PART_ANY, false},
    {"delora_A", "DeLoRA", SP_PART_COLUMNS, false},
    {"delora_B", "DeLoRA", SP_PART_ROWS, false},
    {"delora_lambda", "DeLoRA", SP_PART_ANY, false},
    {"delora_w_norm", "DeLoRA", SP_PART_ANY, false},
    {"gralora_A", "GraLoRA", SP_PART_ANY, false},
    {"gralora_B", "GraLoRA", SP_PART_ANY, false},
    {"miss_block", "MiSS", SP_PART_ANY, false},
    {"bone_block", "Bone", SP_PART_ANY, false},
    {"shira_weight", "SHiRA", SP_PART_ANY, false},
    {"shira_indices", "SHiRA", SP_PART_ANY, false},
    {"randlora_lambda", "RandLora", SP_PART_ANY, false},
    {"randlora_gamma", "RandLora", SP_PART_ANY, false},
    {"randlora_A", "RandLora", SP_PART_OF_ALL, false},
    {"randlora_B", "RandLora", SP_PART_OF_ALL, false},
    {"vblora_logits_A", "VB-LoRA", SP_PART_ANY, false},
    {"vblora_logits_B", "VB-LoRA", SP_PART_ANY, false},
    {"vblora_vector_bank", "VB-LoRA", SP_PART_OF_ALL, false},
    {"road_theta", "RoAd", SP_PART_ANY, false},
    {"road_alpha", "RoAd", SP_PART_ANY, false},
    {"osf_svd_params", "OSF", SP_PART_ANY, false},
    {"ln_tuning_layers", "LN tuning", SP_PART_SAME, false},
    {"adaption_prompt", "LLaMA-Adapter", SP_PART_OF_ALL, false},
    {"adaption_gate", "LLaMA-Adapter", SP_PART_OF_ALL, false},
    {"prompt_embeddings", "prompt tuning", SP_PART_PROMPT, false},
    {"prefix_task_cols", "prompt tuning", SP_PART_OF_ALL, false},
    {"prefix_task_rows", "prompt tuning", SP_PART_OF_ALL, false},
    {"modules_to_save", NULL, SP_PART_SAME, false},
    {"trainable_tokens_delta", "trainable tokens", SP_PART_COLUMNS, false},
    {"trainable_tokens_original", "trainable tokens", SP_PART_COLUMNS, false},
    {"lily_A", "Lily", SP_PART_ANY, false},
    {"lily_B", "Lily", SP_PART_ANY, false},
    {"lily_router", "Lily", SP_PART_ANY, false},
    {"peanut_A", "PEANuT", SP_PART_ANY, false},
    {"peanut_B", "PEANuT", SP_PART_ANY, false},
    {"pvera_lambda_b", "PVeRA", SP_PART_OUT, false},
    {"pvera_lambda_d", "PVeRA", SP_PART_ANY, false},
    {"pvera_A", "PVeRA", SP_PART_OF_ALL, false},
    {"pvera_B", "PVeRA", SP_PART_OF_ALL, false},
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

const char *sp_parts_describe(struct sp_arena *arena, const struct sp_inventory *inventory)
{
    struct sp_map modules = {0};
    const char *method = NULL, *text = NULL;
    for (size_t i = 0; i < sp_inventory_count(inventory); i++) {
        struct sp_part part;
        if (!sp_part_read(arena, sp_inventory_tensor(inventory, i)->name, &part) || !part.kind->method) continue;
        if (!method) method = part.kind->method;
        if (!sp_part_is_of_all(part.kind)) sp_map_add(&modules, part.module, i);
    }
    if (method) text = sp_arena_printf(arena, "an adapter (%s)", method);
    if (modules.count) text = sp_arena_printf(arena, "%s for %s", text, sp_count_of(arena, modules.count, "module"));
    sp_map_free(&modules);
    return text;
}

bool sp_part_read(struct sp_arena *arena, const char *name, struct sp_part *part)
{
    for (struct sp_components piece = {.rest = name}; sp_component_next(&piece, ".");) {
        part->kind = kind_of_component(piece.text, piece.length);
        if (!part->kind) continue;
        const size_t front = (size_t)(piece.text - name);
        read_part_rest(arena, piece.rest, part);
        part->module = front ? sp_arena_copy(arena, name, front - 1) : "";
        const bool bias = strcmp(part->rest, "bias") == 0;
        return (front || sp_part_is_of_all(part->kind)) && (strcmp(part->kind->component, "lora_B") != 0 || bias);
    }
    return false;
}
