/* SPDX-License-Identifier: MIT */
#include "explain/files/adapter_modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "load/memory_names.h"
#include "names/components.h"

/* Adds a name to one of the maps, for the target `is`. Of several fused weights each is added by itself, `part` being
 * its place: the name is known then, and its weight joins the others. A name that means two modules gets the count 0.
 */
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

/* Adds a name with dots, and the same with underscores. */
static void add_both(struct sp_adapter_modules *modules, const char *name, const struct sp_adapter_target *is,
                     size_t part)
{
    char *flat = sp_arena_copy(modules->arena, name, strlen(name));
    for (char *at = flat; *at; at++)
        if (*at == '.') *at = '_';
    add_name(modules, &modules->dotted, name, is, part);
    add_name(modules, &modules->flat, flat, is, part);
}

/* The context of add_original. */
struct adding {
    struct sp_adapter_modules *modules;
    size_t predicted; /* the weight whose module has the name */
};

static void add_original(void *context, const char *name, size_t part, size_t parts)
{
    const struct adding *adding = context;
    struct sp_adapter_target target = {.count = parts, .cuts = 1, .original = true};
    for (size_t i = 0; i < SP_MOST_FUSED; i++) target.weights[i] = i == part ? adding->predicted : SHAPEPROOF_NONE;
    add_both(adding->modules, name, &target, part);
}

/* The target that is one weight as a whole. */
static struct sp_adapter_target one_weight(size_t predicted)
{
    return (struct sp_adapter_target){
        .weights = {predicted, SHAPEPROOF_NONE, SHAPEPROOF_NONE, SHAPEPROOF_NONE}, .count = 1, .cuts = 1};
}

static struct sp_adapter_target one_weight_before_peft(size_t predicted)
{
    struct sp_adapter_target target = one_weight(predicted);
    target.before_peft = true;
    return target;
}

/* ---- names in memory ---- */

/* Adds a name that a module of transformers has in memory. */
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

/* Adds the name of a projection of attention from before PEFT: the pairs were in processors then, which had the same
 * four names in all models, "attn1.to_out" for "attn1.to_out.0". */
static void add_before_peft(struct sp_adapter_modules *modules, const char *module, size_t predicted)
{
    static const char *const names[][2] = {{".to_out.0", ".to_out"},
                                           {".q_proj", ".to_q"},
                                           {".k_proj", ".to_k"},
                                           {".v_proj", ".to_v"},
                                           {".out_proj", ".to_out"}};
    const struct sp_adapter_target target = one_weight_before_peft(predicted);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!sp_ends_with(module, names[i][0])) continue;
        const int front = (int)(strlen(module) - strlen(names[i][0]));
        add_name(modules, &modules->dotted, sp_arena_printf(modules->arena, "%.*s%s", front, module, names[i][1]),
                 &target, 0);
    }
}

/* ---- the U-Net of CompVis and Stability AI ---- */

/* The original U-Net has one list of blocks for each direction. A residual block with its attention is one of the list,
 * and what halves the size (down) is one; what doubles it (up) is the last module of the block before it. The first of
 * the inputs is conv_in. Of diffusers' U-Net with two resnets in each down block and three in each up block:
 *
 *     down_blocks.1.resnets.0.conv1          input_blocks.4.0.in_layers.2       4 = conv_in + 2 resnets + 1 halving
 *     down_blocks.1.attentions.0.proj_in     input_blocks.4.1.proj_in           the attention of the same block
 *     down_blocks.0.downsamplers.0.conv      input_blocks.3.0.op
 *     up_blocks.0.upsamplers.0.conv          output_blocks.2.1.conv             behind the resnet; .2. behind attention
 *     mid_block.resnets.1.conv1              middle_block.2.in_layers.2         resnet, attention, resnet */
enum { MOST_LEVELS = 16 };

/* What each level has, of one direction. */
struct levels {
    size_t resnets[MOST_LEVELS];
    bool attentions[MOST_LEVELS], resampled[MOST_LEVELS];
};

/* Reads an index below `most` and moves behind it and its dot; false when there is none. */
static bool read_index(const char **text, size_t most, size_t *index)
{
    char *end;
    if (**text < '0' || **text > '9') return false;
    *index = strtoul(*text, &end, 10);
    *text = *end == '.' ? end + 1 : end;
    return *index < most;
}

enum block_list { RESNETS, ATTENTIONS, SAMPLERS, NO_LIST };

/* "down_blocks.1.resnets.0.conv1" taken apart. */
struct block {
    size_t level; /* 1; 0 in mid_block */
    enum block_list list;
    size_t item;      /* 0: which of the list */
    const char *rest; /* "conv1" */
};

/* Takes the name of a module behind `front`, "down_blocks.", "up_blocks." or "mid_block.", apart; false for any other
 * module. */
static bool read_block(const char *module, const char *front, struct block *block)
{
    if (strncmp(module, front, strlen(front)) != 0) return false;
    module += strlen(front);
    if (*front == 'm') block->level = 0;
    else if (!read_index(&module, MOST_LEVELS, &block->level)) return false;
    const char *list = module;
    module = sp_behind_component(module, ".");
    block->list = strncmp(list, "resnets.", 8) == 0       ? RESNETS
                  : strncmp(list, "attentions.", 11) == 0 ? ATTENTIONS
                  : strstr(list, "samplers.")             ? SAMPLERS
                                                          : NO_LIST;
    if (!module || block->list == NO_LIST || !read_index(&module, 1000, &block->item)) return false;
    block->rest = module;
    return true;
}

/* Counts a module in its level. */
static void count_level(struct levels *levels, const struct block *block)
{
    size_t *resnets = &levels->resnets[block->level];
    if (block->list == RESNETS && *resnets <= block->item) *resnets = block->item + 1;
    levels->attentions[block->level] |= block->list == ATTENTIONS;
    levels->resampled[block->level] |= block->list == SAMPLERS;
}

enum direction { DOWN, UP };

/* What the original calls the last components of a module: "in_layers.2" for "conv1" of a resnet, "op" for what halves
 * the size. Modules of attention have the same names in both. */
static const char *original_rest(const struct block *block, enum direction direction)
{
    static const char *const names[][2] = {{"conv1", "in_layers.2"},          {"conv2", "out_layers.3"},
                                           {"norm1", "in_layers.0"},          {"norm2", "out_layers.0"},
                                           {"time_emb_proj", "emb_layers.1"}, {"conv_shortcut", "skip_connection"}};
    if (block->list == SAMPLERS) return direction == DOWN ? "op" : "conv";
    for (size_t i = 0; block->list == RESNETS && i < sizeof names / sizeof *names; i++)
        if (strcmp(block->rest, names[i][0]) == 0) return names[i][1];
    return block->rest;
}

/* "input_blocks.4.0.in_layers.2" of a block of one direction, whose levels are given. In the arena. */
static const char *original_block(struct sp_arena *arena, const struct levels *levels, const struct block *block,
                                  enum direction direction)
{
    const bool is_down = direction == DOWN, is_sampler = block->list == SAMPLERS;
    const size_t resnets = levels->resnets[block->level];
    size_t number = is_down ? 1 : 0; /* conv_in is the first of the inputs */
    for (size_t i = 0; i < block->level; i++) number += levels->resnets[i] + (is_down && levels->resampled[i]);
    if (!is_sampler) number += block->item;
    else number += is_down ? resnets : resnets - 1; /* one more block, or in the last one */
    size_t place = 0; /* in that block: the resnet, its attention, what doubles the size */
    if (block->list == ATTENTIONS) place = 1;
    else if (is_sampler && !is_down) place = 1 + levels->attentions[block->level];
    return sp_arena_printf(arena, "%s_blocks.%zu.%zu.%s", is_down ? "input" : "output", number, place,
                           original_rest(block, direction));
}

/* Adds a module of a U-Net under its original name, which adapters of ComfyUI and A1111 use. `levels` are those of both
 * directions. Other modules are left out. */
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
    struct sp_adapter_target target = one_weight(predicted);
    struct block block;
    const char *name = NULL;
    target.original = true;
    if (read_block(module, "down_blocks.", &block)) name = original_block(modules->arena, &levels[DOWN], &block, DOWN);
    else if (read_block(module, "up_blocks.", &block)) name = original_block(modules->arena, &levels[UP], &block, UP);
    else if (read_block(module, "mid_block.", &block) && block.list != SAMPLERS)
        name = sp_arena_printf(modules->arena, "middle_block.%zu.%s", block.list == ATTENTIONS ? 1 : 2 * block.item,
                               original_rest(&block, UP));
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

/* Counts what the levels of both directions have. */
static void read_levels(const struct shapeproof_prediction *prediction, struct levels levels[2])
{
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const char *name = shapeproof_prediction_tensor(prediction, i)->name;
        struct block block;
        if (read_block(name, "down_blocks.", &block)) count_level(&levels[DOWN], &block);
        else if (read_block(name, "up_blocks.", &block)) count_level(&levels[UP], &block);
    }
}

/* Adds the names that a module of diffusers has besides: the original ones. */
static void add_names_of_diffusers(struct sp_adapter_modules *modules, const struct levels levels[2],
                                   const char *module, size_t predicted)
{
    struct adding adding = {modules, predicted};
    sp_adapter_originals(module, add_original, &adding);
    add_unet_module(modules, levels, module, predicted);
}

/* Adds the name of a module with "text_model." in front, or without it: of CLIP some releases of transformers have
 * that, and others leave it out. Every model of transformers gets the other name; of the others no adapter has it. */
static void add_name_of_clip(struct sp_adapter_modules *modules, const char *module, size_t predicted)
{
    static const char front[] = "text_model.";
    const size_t length = strlen(front);
    const char *other =
        strncmp(module, front, length) == 0 ? module + length : sp_arena_printf(modules->arena, "%s%s", front, module);
    const struct sp_adapter_target former = one_weight_before_peft(predicted);
    add_both(modules, other, &former, 0);
    add_before_peft(modules, other, predicted);
}

void sp_adapter_modules_open(struct sp_adapter_modules *modules, const struct shapeproof_check *check,
                             struct sp_arena *arena, bool diffusers)
{
    const struct shapeproof_prediction *prediction = check->prediction;
    struct levels levels[2] = {0};
    *modules = (struct sp_adapter_modules){.arena = arena};
    if (diffusers) read_levels(prediction, levels);
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const char *module = module_of(arena, shapeproof_prediction_tensor(prediction, i));
        const struct sp_adapter_target target = one_weight(i);
        if (!module) continue;
        add_both(modules, module, &target, 0);
        add_before_peft(modules, module, i);
        if (diffusers) add_names_of_diffusers(modules, levels, module, i);
        else add_name_of_clip(modules, module, i);
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
    sp_free(modules->targets);
}

/* The target of the name in the map, if all of its weights are known; or NULL. */
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
