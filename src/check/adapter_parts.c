/* SPDX-License-Identifier: MIT */
#include "check/adapter_parts.h"

#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "base/text.h"
#include "check/adapter.h"
#include "check/adapter_names.h"
#include "names/components.h"

/* The names of PEFT, then those of LyCORIS and ComfyUI. */
static const struct sp_part_kind kinds[] = {
    {"lora_magnitude_vector", "DoRA", SP_PART_OUT_OR_IN, SP_PART_WITH_PAIRS},
    {"lora_E", "AdaLoRA", SP_PART_RANK, SP_PART_WITH_PAIRS},
    {"ranknum", "AdaLoRA", SP_PART_SCALAR, SP_PART_WITH_PAIRS},
    {"lora_B", "LoRA", SP_PART_OUT, SP_PART_WITH_PAIRS}, /* its bias */
    {"ia3_l", "IA3", SP_PART_IA3, SP_PART_ANYWHERE},
    {"hada_w1_a", "LoHa", SP_PART_ROWS, SP_PART_ANYWHERE},
    {"hada_w1_b", "LoHa", SP_PART_COLUMNS, SP_PART_ANYWHERE},
    {"hada_w2_a", "LoHa", SP_PART_ROWS, SP_PART_ANYWHERE},
    {"hada_w2_b", "LoHa", SP_PART_COLUMNS, SP_PART_ANYWHERE},
    {"hada_t1", "LoHa", SP_PART_ANY, SP_PART_ANYWHERE},
    {"hada_t2", "LoHa", SP_PART_ANY, SP_PART_ANYWHERE},
    {"lokr_w1", "LoKr", SP_PART_KRONECKER, SP_PART_ANYWHERE},
    {"lokr_w1_a", "LoKr", SP_PART_KRONECKER, SP_PART_ANYWHERE},
    {"lokr_w1_b", "LoKr", SP_PART_KRONECKER, SP_PART_ANYWHERE},
    {"lokr_w2", "LoKr", SP_PART_KRONECKER, SP_PART_ANYWHERE},
    {"lokr_w2_a", "LoKr", SP_PART_KRONECKER, SP_PART_ANYWHERE},
    {"lokr_w2_b", "LoKr", SP_PART_KRONECKER, SP_PART_ANYWHERE},
    {"lokr_t2", "LoKr", SP_PART_KRONECKER, SP_PART_ANYWHERE},
    {"oft_R", "OFT", SP_PART_ANY, SP_PART_ANYWHERE},
    {"oft_r", "OFT", SP_PART_ANY, SP_PART_ANYWHERE},
    {"boft_R", "BOFT", SP_PART_BLOCKS, SP_PART_ANYWHERE},
    {"boft_s", "BOFT", SP_PART_BOFT, SP_PART_ANYWHERE},
    {"vera_lambda_b", "VeRA", SP_PART_OUT, SP_PART_ANYWHERE},
    {"vera_lambda_d", "VeRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"vera_A", "VeRA", SP_PART_OF_ALL, SP_PART_ANYWHERE},
    {"vera_B", "VeRA", SP_PART_OF_ALL, SP_PART_ANYWHERE},
    {"fourierft_spectrum", "FourierFT", SP_PART_ANY, SP_PART_ANYWHERE},
    {"hra_u", "HRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"c3a_kernel", "C3A", SP_PART_ANY, SP_PART_ANYWHERE},
    {"delora_A", "DeLoRA", SP_PART_COLUMNS, SP_PART_ANYWHERE},
    {"delora_B", "DeLoRA", SP_PART_ROWS, SP_PART_ANYWHERE},
    {"delora_lambda", "DeLoRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"delora_w_norm", "DeLoRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"gralora_A", "GraLoRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"gralora_B", "GraLoRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"miss_block", "MiSS", SP_PART_ANY, SP_PART_ANYWHERE},
    {"bone_block", "Bone", SP_PART_ANY, SP_PART_ANYWHERE},
    {"shira_weight", "SHiRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"shira_indices", "SHiRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"randlora_lambda", "RandLora", SP_PART_ANY, SP_PART_ANYWHERE},
    {"randlora_gamma", "RandLora", SP_PART_ANY, SP_PART_ANYWHERE},
    {"randlora_A", "RandLora", SP_PART_OF_ALL, SP_PART_ANYWHERE},
    {"randlora_B", "RandLora", SP_PART_OF_ALL, SP_PART_ANYWHERE},
    {"vblora_logits_A", "VB-LoRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"vblora_logits_B", "VB-LoRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"vblora_vector_bank", "VB-LoRA", SP_PART_OF_ALL, SP_PART_ANYWHERE},
    {"road_theta", "RoAd", SP_PART_ANY, SP_PART_ANYWHERE},
    {"road_alpha", "RoAd", SP_PART_ANY, SP_PART_ANYWHERE},
    {"osf_svd_params", "OSF", SP_PART_ANY, SP_PART_ANYWHERE},
    {"ln_tuning_layers", "LN tuning", SP_PART_SAME, SP_PART_ANYWHERE},
    {"adaption_prompt", "LLaMA-Adapter", SP_PART_OF_ALL, SP_PART_ANYWHERE},
    {"adaption_gate", "LLaMA-Adapter", SP_PART_OF_ALL, SP_PART_ANYWHERE},
    {"prompt_embeddings", "prompt tuning", SP_PART_PROMPT, SP_PART_ANYWHERE},
    {"prefix_task_cols", "prompt tuning", SP_PART_PROMPT, SP_PART_ANYWHERE},
    {"prefix_task_rows", "prompt tuning", SP_PART_PROMPT, SP_PART_ANYWHERE},
    {"modules_to_save", NULL, SP_PART_SAME, SP_PART_ANYWHERE},
    {"trainable_tokens_delta", "trainable tokens", SP_PART_COLUMNS, SP_PART_ANYWHERE},
    {"trainable_tokens_original", "trainable tokens", SP_PART_COLUMNS, SP_PART_ANYWHERE},
    {"lily_A", "Lily", SP_PART_ANY, SP_PART_ANYWHERE},
    {"lily_B", "Lily", SP_PART_ANY, SP_PART_ANYWHERE},
    {"lily_router", "Lily", SP_PART_ANY, SP_PART_ANYWHERE},
    {"peanut_A", "PEANuT", SP_PART_ANY, SP_PART_ANYWHERE},
    {"peanut_B", "PEANuT", SP_PART_ANY, SP_PART_ANYWHERE},
    {"pvera_lambda_b", "PVeRA", SP_PART_OUT, SP_PART_ANYWHERE},
    {"pvera_lambda_d", "PVeRA", SP_PART_ANY, SP_PART_ANYWHERE},
    {"pvera_A", "PVeRA", SP_PART_OF_ALL, SP_PART_ANYWHERE},
    {"pvera_B", "PVeRA", SP_PART_OF_ALL, SP_PART_ANYWHERE},
    {"dora_scale", "DoRA", SP_PART_OUT_OR_IN, SP_PART_WITH_PAIRS},
    {"magnitude", "DoRA", SP_PART_OUT_OR_IN, SP_PART_WITH_PAIRS}, /* torchtune's */
    {"diff", "whole differences", SP_PART_WEIGHT, SP_PART_ANYWHERE},
    {"diff_b", "whole differences", SP_PART_BIAS, SP_PART_ANYWHERE},
    {"set_weight", "whole weights", SP_PART_WEIGHT, SP_PART_ANYWHERE},
    {"w_norm", "norms", SP_PART_WEIGHT, SP_PART_ANYWHERE},
    {"b_norm", "norms", SP_PART_BIAS, SP_PART_ANYWHERE},
    {"reshape_weight", NULL, SP_PART_ANY, SP_PART_BEHIND_FLAT},
    {"oft_blocks", "OFT", SP_PART_ANY, SP_PART_ANYWHERE},
    {"oft_diag", "OFT", SP_PART_ANY, SP_PART_ANYWHERE},
    {"on_input", "IA3", SP_PART_ANY, SP_PART_BEHIND_FLAT},
    {"weight", "IA3", SP_PART_OUT_OR_IN, SP_PART_BEHIND_FLAT},
    {"a1", "GLoRA", SP_PART_ANY, SP_PART_BEHIND_FLAT},
    {"a2", "GLoRA", SP_PART_ANY, SP_PART_BEHIND_FLAT},
    {"b1", "GLoRA", SP_PART_ANY, SP_PART_BEHIND_FLAT},
    {"b2", "GLoRA", SP_PART_ANY, SP_PART_BEHIND_FLAT},
};

/* The kind of part that the component stands for; NULL for none. */
static const struct sp_part_kind *kind_of_component(const char *component, size_t length)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sp_is_component(component, length, kinds[i].component)) return &kinds[i];
    return NULL;
}

/* Divides what is behind the component: "default.weight" into the label and the rest; "weight" and "bias" have no label
 * in front. */
static void read_part_rest(struct sp_arena *arena, const char *rest, struct sp_part *part)
{
    const size_t first = strcspn(rest, ".");
    const bool none = !*rest || sp_is_component(rest, first, "weight") || sp_is_component(rest, first, "bias");
    part->label = none ? "" : sp_arena_copy(arena, rest, first);
    part->rest = none ? rest : rest[first] ? rest + first + 1 : "";
}

/* Of prompts, which several methods store by one name, peft_type names the method. */
const char *sp_part_method(const struct sp_part_kind *kind, struct shapeproof_value config)
{
    static const struct {
        const char *type, *method;
    } prompts[] = {
        {"PREFIX_TUNING", "prefix tuning"},
        {"P_TUNING", "P-tuning"},
        {"CPT", "CPT"},
        {"CARTRIDGE", "cartridge"},
        {"MULTITASK_PROMPT_TUNING", "multitask prompt tuning"},
    };
    const struct shapeproof_value type = sp_value_member(config, "peft_type");
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++)
        if (kind->rule == SP_PART_PROMPT && type.type == SHAPEPROOF_VALUE_STRING &&
            strcmp(type.string, prompts[i].type) == 0)
            return prompts[i].method;
    return kind->method;
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
        if (part.kind->where == SP_PART_WITH_PAIRS) continue;
        if (!method) method = sp_part_method(part.kind, sp_adapter_config(arena, inventory));
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
        const bool is_last_only = part->kind->rule == SP_PART_WEIGHT || part->kind->rule == SP_PART_BIAS;
        if (is_last_only && *piece.rest) continue;
        const bool is_behind_flat =
            sp_adapter_front(name)->form == SP_FRONT_FLAT && front && strcspn(name, ".") == front - 1;
        if (part->kind->where == SP_PART_BEHIND_FLAT && !is_behind_flat) continue;
        read_part_rest(arena, piece.rest, part);
        part->module = front ? sp_arena_copy(arena, name, front - 1) : "";
        /* The matrix lora_B belongs to a pair (adapter.c), its bias is a part. */
        if (strcmp(part->kind->component, "lora_B") == 0 && strcmp(part->rest, "bias") != 0) return false;
        return front || sp_part_is_of_all(part->kind);
    }
    return false;
}

bool sp_part_may_be_integers(const struct sp_part_kind *kind)
{
    static const char *const integers[] = {"ranknum", "shira_indices", "reshape_weight", "on_input", "modules_to_save"};
    return SP_IS_AMONG(kind->component, integers);
}
