/* SPDX-License-Identifier: MIT */
#include "explain/files/adapter_modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "load/memory_names.h"
#include "names/components.h"

/* One name more for a weight, or for one of several that are fused. Names of two modules mean neither. */
static void add_name(struct sp_adapter_modules *modules, struct sp_map *map, const char *name,
                     const struct sp_adapter_target *is, size_t part)
{
    const size_t known = sp_map_get(map, name);
    if (known == SIZE_MAX) {
        sp_map_add(map, sp_arena_copy(modules->arena, name, strlen(name)), modules->count);
        SP_GROW(modules->targets, modules->count, modules->capacity);
        modules->targets[modules->count++] = *is;
        return;
    }
    struct sp_adapter_target *target = &modules->targets[known];
    if (target->count != is->count) return;
    if (target->weights[part] == SHAPEPROOF_NONE || target->weights[part] == is->weights[part])
        target->weights[part] = is->weights[part];
    else target->count = 0;
}

/* By the name with dots, and by that with underscores. */
static void add_both(struct sp_adapter_modules *modules, const char *name, const struct sp_adapter_target *is,
                     size_t part)
{
    char *flat = sp_arena_copy(modules->arena, name, strlen(name));
    for (char *at = flat; *at; at++)
        if (*at == '.') *at = '_';
    add_name(modules, &modules->dotted, name, is, part);
    add_name(modules, &modules->flat, flat, is, part);
}

struct adding {
    struct sp_adapter_modules *modules;
    size_t predicted;
};

static void add_original(void *context, const char *name, size_t part, size_t parts)
{
    const struct adding *adding = context;
    struct sp_adapter_target target = {.count = parts, .cuts = 1, .original = true};
    for (size_t i = 0; i < SP_MOST_FUSED; i++) target.weights[i] = i == part ? adding->predicted : SHAPEPROOF_NONE;
    add_both(adding->modules, name, &target, part);
}

static struct sp_adapter_target one_weight(size_t predicted, bool before_peft)
{
    return (struct sp_adapter_target){.weights = {predicted, SHAPEPROOF_NONE, SHAPEPROOF_NONE, SHAPEPROOF_NONE},
                                      .count = 1,
                                      .cuts = 1,
                                      .before_peft = before_peft};
}

/* ---- names in memory ---- */

static void add_in_memory(void *context, const struct sp_memory_name *state)
{
    static const char ending[] = ".weight";
    struct sp_adapter_modules *modules = context;
    const size_t length = strlen(state->name);
    if (state->cuts == 1 && state->row_blocks == 1)
        sp_map_add(&modules->in_memory, sp_arena_copy(modules->arena, state->name, length), state->predicted);
    if (!sp_ends_with(state->name, ending) || state->row_blocks > SP_MOST_FUSED) return;
    struct sp_adapter_target target = {.count = state->row_blocks, .cuts = state->cuts};
    for (size_t i = 0; i < SP_MOST_FUSED; i++)
        target.weights[i] = i == state->row_block ? state->predicted : SHAPEPROOF_NONE;
    add_name(modules, &modules->state, sp_arena_copy(modules->arena, state->name, length - strlen(ending)), &target,
             state->row_block);
}

/* ---- names from before PEFT ---- */

/* The processors of attention had the pairs, and called what they are for alike in all models. */
static void add_before_peft(struct sp_adapter_modules *modules, const char *module, size_t predicted)
{
    static const char *const names[][2] = {{".to_out.0", ".to_out"},
                                           {".q_proj", ".to_q"},
                                           {".k_proj", ".to_k"},
                                           {".v_proj", ".to_v"},
                                           {".out_proj", ".to_out"}};
    const struct sp_adapter_target target = one_weight(predicted, true);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!sp_ends_with(module, names[i][0])) continue;
        const int front = (int)(strlen(module) - strlen(names[i][0]));
        add_name(modules, &modules->dotted, sp_arena_printf(modules->arena, "%.*s%s", front, module, names[i][1]),
                 &target, 0);
    }
}

/* ---- the U-Net of CompVis and Stability AI ---- */

/* It numbers the resnets of all levels and what halves or doubles the size in one sequence:
 *
 *     down_blocks.1.attentions.0.proj_in -> input_blocks.4.1.proj_in
 */
enum { MOST_LEVELS = 16 };
struct levels {
    size_t resnets[MOST_LEVELS];
    bool attentions[MOST_LEVELS], resampled[MOST_LEVELS];
};

static bool read_index(const char **text, size_t most, size_t *index)
{
    char *end;
    if (**text < '0' || **text > '9') return false;
    *index = strtoul(*text, &end, 10);
    *text = *end == '.' ? end + 1 : end;
    return *index < most;
}

/* "down_blocks.1.resnets.0.conv1": the level, which list of modules, which of them, and the rest. */
struct block {
    size_t level, item;
    char list; /* 'r', 'a' or 's': resnets, attentions, samplers */
    const char *rest;
};

static bool read_block(const char *module, const char *front, struct block *block)
{
    if (strncmp(module, front, strlen(front)) != 0) return false;
    module += strlen(front);
    if (*front == 'm') block->level = 0;
    else if (!read_index(&module, MOST_LEVELS, &block->level)) return false;
    const char *list = module;
    module = sp_behind_component(module, ".");
    block->list = strncmp(list, "resnets.", 8) == 0       ? 'r'
                  : strncmp(list, "attentions.", 11) == 0 ? 'a'
                  : strstr(list, "samplers.")             ? 's'
                                                          : '\0';
    if (!module || !block->list || !read_index(&module, 1000, &block->item)) return false;
    block->rest = module;
    return true;
}

static void count_level(struct levels *levels, const struct block *block)
{
    size_t *resnets = &levels->resnets[block->level];
    if (block->list == 'r' && *resnets <= block->item) *resnets = block->item + 1;
    levels->attentions[block->level] |= block->list == 'a';
    levels->resampled[block->level] |= block->list == 's';
}

/* How what is in a resnet is called. */
static const char *original_rest(const struct block *block, bool down)
{
    static const char *const names[][2] = {{"conv1", "in_layers.2"},          {"conv2", "out_layers.3"},
                                           {"norm1", "in_layers.0"},          {"norm2", "out_layers.0"},
                                           {"time_emb_proj", "emb_layers.1"}, {"conv_shortcut", "skip_connection"}};
    if (block->list == 's') return down ? "op" : "conv";
    for (size_t i = 0; block->list == 'r' && i < sizeof names / sizeof *names; i++)
        if (strcmp(block->rest, names[i][0]) == 0) return names[i][1];
    return block->rest;
}

/* Adds a module of a U-Net under its original name, which adapters of ComfyUI and A1111 use:
 * down_blocks.1.resnets.0.conv1 is input_blocks.4.0.in_layers.2. The original numbers every residual block and
 * every resampling of all levels in one list; `levels` says how many each level has. */
static void add_unet_module(struct sp_adapter_modules *modules, const struct levels levels[2], const char *module,
                            size_t predicted)
{
    static const char *const others[][2] = {{"conv_in", "input_blocks.0.0"},
                                            {"conv_out", "out.2"},
                                            {"conv_norm_out", "out.0"},
                                            {"time_embedding.linear_1", "time_embed.0"},
                                            {"time_embedding.linear_2", "time_embed.2"},
                                            {"add_embedding.linear_1", "label_emb.0.0"},
                                            {"add_embedding.linear_2", "label_emb.0.2"}};
    struct sp_adapter_target target = one_weight(predicted, false);
    struct block block;
    const char *name = NULL;
    target.original = true;
    const bool down = read_block(module, "down_blocks.", &block);
    if (down || read_block(module, "up_blocks.", &block)) {
        const struct levels *of = &levels[!down];
        size_t number = down; /* conv_in is the first of the inputs */
        for (size_t i = 0; i < block.level; i++) number += of->resnets[i] + (down && of->resampled[i]);
        const bool resampled = block.list == 's';
        number += !resampled ? block.item : down ? of->resnets[block.level] : of->resnets[block.level] - 1;
        const size_t place = block.list == 'a' ? 1 : resampled && !down ? 1 + of->attentions[block.level] : 0;
        name = sp_arena_printf(modules->arena, "%s_blocks.%zu.%zu.%s", down ? "input" : "output", number, place,
                               original_rest(&block, down));
    } else if (read_block(module, "mid_block.", &block) && block.list != 's')
        name = sp_arena_printf(modules->arena, "middle_block.%zu.%s", block.list == 'a' ? 1 : 2 * block.item,
                               original_rest(&block, false));
    for (size_t i = 0; !name && i < sizeof others / sizeof *others; i++)
        if (strcmp(module, others[i][0]) == 0) name = others[i][1];
    if (name) add_both(modules, name, &target, 0);
}

/* ---- all of them ---- */

/* "layers.0.mlp.fc1" of "layers.0.mlp.fc1.weight"; NULL for what is no weight. In the arena. */
static const char *module_of(struct sp_arena *arena, const struct shapeproof_predicted *tensor)
{
    const size_t length = strlen(tensor->name), tail = strlen(".weight");
    return sp_ends_with(tensor->name, ".weight") ? sp_arena_copy(arena, tensor->name, length - tail) : NULL;
}

static void read_levels(const struct shapeproof_prediction *prediction, struct levels levels[2])
{
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const char *name = shapeproof_prediction_tensor(prediction, i)->name;
        struct block block;
        if (read_block(name, "down_blocks.", &block)) count_level(&levels[0], &block);
        else if (read_block(name, "up_blocks.", &block)) count_level(&levels[1], &block);
    }
}

void sp_adapter_modules_open(struct sp_adapter_modules *modules, const struct shapeproof_check *check,
                             struct sp_arena *arena, bool diffusers)
{
    const struct shapeproof_prediction *prediction = check->prediction;
    static const char clip[] = "text_model."; /* which releases of transformers have in front or leave out */
    struct levels levels[2] = {0};
    *modules = (struct sp_adapter_modules){.arena = arena};
    if (diffusers) read_levels(prediction, levels);
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const char *module = module_of(arena, shapeproof_prediction_tensor(prediction, i));
        const struct sp_adapter_target target = one_weight(i, false);
        struct adding adding = {modules, i};
        if (!module) continue;
        add_both(modules, module, &target, 0);
        add_before_peft(modules, module, i);
        if (diffusers) {
            sp_adapter_originals(module, add_original, &adding);
            add_unet_module(modules, levels, module, i);
        } else {
            const size_t length = strlen(clip);
            const char *other =
                strncmp(module, clip, length) == 0 ? module + length : sp_arena_printf(arena, "%s%s", clip, module);
            const struct sp_adapter_target former = one_weight(i, true);
            add_both(modules, other, &former, 0);
            add_before_peft(modules, other, i);
        }
    }
    if (!diffusers) {
        const struct sp_load_subject subject = {.inventory = check->inventory,
                                                .tables = check->tables,
                                                .config = check->quantisation.base,
                                                .table = check->table_name};
        sp_memory_names(&subject, prediction, add_in_memory, modules);
    }
}

void sp_adapter_modules_close(struct sp_adapter_modules *modules)
{
    sp_map_free(&modules->in_memory);
    sp_map_free(&modules->state);
    sp_map_free(&modules->dotted);
    sp_map_free(&modules->flat);
    free(modules->targets);
}

static const struct sp_adapter_target *find_whole(const struct sp_adapter_modules *modules, const struct sp_map *map,
                                                  const char *name)
{
    const size_t known = sp_map_get(map, name);
    if (known == SIZE_MAX || !modules->targets[known].count) return NULL;
    const struct sp_adapter_target *target = &modules->targets[known];
    for (size_t i = 0; i < target->count; i++)
        if (target->weights[i] == SHAPEPROOF_NONE) return NULL;
    return target;
}

const struct sp_adapter_target *sp_adapter_modules_find(const struct sp_adapter_modules *modules, const char *name,
                                                        bool flat)
{
    const struct sp_adapter_target *target = flat ? NULL : find_whole(modules, &modules->state, name);
    return target ? target : find_whole(modules, flat ? &modules->flat : &modules->dotted, name);
}
