/* SPDX-License-Identifier: MIT
 * The files of ranks, read each by itself and put together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "read/ranks/folder.h"
#include "read/ranks/ranks.h"

/* ---- what the files say of themselves ---- */

/* A number that a file says, or 0. */
static uint64_t said_number(const struct shapeproof_inventory *own, const char *key)
{
    const char *value = sp_inventory_metadata_value(own, key);
    return value ? strtoull(value, NULL, 10) : 0;
}

/* The second number in "mp_rank_00_001" is that of a stage, or of experts when there is a single stage, which only the
 * arguments in the file say. Then it is moved to where it belongs. */
static void tell_experts(struct sp_ranks *ranks)
{
    const struct shapeproof_inventory *own = ranks->files.items[0].own;
    if (said_number(own, "pipeline_model_parallel_size") != 1) return;
    for (size_t i = 0; i < ranks->files.count; i++) {
        struct sp_rank_file *file = &ranks->files.items[i];
        if (!file->stage || file->expert) continue;
        file->expert = file->stage;
        file->stage = 0;
    }
}

static bool refuse_absent(const char *what, uint32_t rank, uint64_t of, struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO,
            "the file of %srank %" PRIu32 " (of %" PRIu64 " ranks) is missing: without it, the checkpoint is "
            "incomplete",
            what, rank, of);
    sp_hint(error, "fetch it, or name the file of one rank to read that file alone");
    return false;
}

enum rank_kind { TENSOR_RANK, STAGE };

/* The lowest rank of the kind, below `count`, that no file is of; `count` when there is none. */
static uint32_t absent_rank(const struct sp_ranks *ranks, uint32_t count, enum rank_kind kind)
{
    bool *there = sp_realloc(NULL, (size_t)count + 1, sizeof *there);
    uint32_t rank = 0;
    memset(there, 0, ((size_t)count + 1) * sizeof *there);
    for (size_t i = 0; i < ranks->files.count; i++) {
        const uint32_t own = kind == STAGE ? ranks->files.items[i].stage : ranks->files.items[i].tensor;
        if (own < count) there[own] = true;
    }
    while (rank < count && there[rank]) rank++;
    free(there);
    return rank;
}

/* How many ranks the tensors of files with names of a program's own say that there are: into how many pieces they are
 * cut, at most; and at least one more than the highest number of a file. 0 when no tensor is a piece. */
static uint32_t ranks_of_pieces(const struct sp_ranks *ranks)
{
    uint64_t world = 0;
    bool any = false;
    for (size_t f = 0; f < ranks->files.count; f++) {
        const struct sp_rank_file *file = &ranks->files.items[f];
        if (file->tensor >= world) world = (uint64_t)file->tensor + 1;
        for (size_t i = 0; i < file->own->count; i++) {
            const struct shapeproof_tensor_piece *piece = file->own->tensors[i].piece;
            any = any || piece;
            if (piece && piece->pieces > world) world = piece->pieces;
        }
    }
    if (world < ranks->world) world = ranks->world; /* a name may say more: "rank_0_of_4" */
    return !any ? 0 : world < UINT32_MAX ? (uint32_t)world : UINT32_MAX;
}

/* Whether the files of all ranks are there. How many tensor-parallel ranks and stages there should be is what the first
 * file says, or the highest number of a file if that is larger. False with an error that names the first absent one.
 * Sets ranks->tensor_ranks and few_groups. */
static bool all_are_there(struct sp_ranks *ranks, struct shapeproof_error *error)
{
    const struct shapeproof_inventory *own = ranks->files.items[0].own;
    const bool megatron = ranks->format == &sp_format_megatron;
    const char *divided = ranks->numbered ? "" : ranks->world ? "FSDP " : "tensor-parallel ";
    const size_t files = ranks->files.count;
    uint64_t tensor_ranks = said_number(own, megatron ? "tensor_model_parallel_size" : "mp_world_size");
    uint64_t stages = megatron ? said_number(own, "pipeline_model_parallel_size") : 1;
    if (ranks->files.items[0].layer != SP_NO_LAYER) tensor_ranks = 0; /* a file of a layer has another count */
    if (ranks->world) tensor_ranks = ranks->world;
    for (size_t i = 0; i < files; i++) {
        if (ranks->files.items[i].tensor >= tensor_ranks) tensor_ranks = ranks->files.items[i].tensor + 1;
        if (ranks->files.items[i].stage >= stages) stages = ranks->files.items[i].stage + 1;
    }
    /* A file may say any number of ranks. With more ranks than files, one of the first `files` + 1 is absent. */
    if (tensor_ranks > files)
        return refuse_absent(divided, absent_rank(ranks, (uint32_t)files, TENSOR_RANK), tensor_ranks, error);
    if (stages > files) return refuse_absent("pipeline ", absent_rank(ranks, (uint32_t)files, STAGE), stages, error);
    const uint32_t absent_tensor = absent_rank(ranks, (uint32_t)tensor_ranks, TENSOR_RANK),
                   absent_stage = absent_rank(ranks, (uint32_t)stages, STAGE);
    if (absent_tensor < tensor_ranks) return refuse_absent(divided, absent_tensor, tensor_ranks, error);
    if (absent_stage < stages) return refuse_absent("pipeline ", absent_stage, stages, error);
    ranks->tensor_ranks = (uint32_t)tensor_ranks;
    const uint64_t groups = said_number(own, "num_query_groups");
    ranks->few_groups = groups && groups < tensor_ranks;
    return true;
}

/* ---- reading ---- */

/* The first file of the optimizer that cannot be read, as one that was cut short; a warning says why. NULL when all
 * can. Stage 3 of ZeRO has the data of the model in them. */
static const char *broken_optimizer(const struct sp_ranks *ranks, const struct sp_folder *folder,
                                    struct shapeproof_inventory *inventory)
{
    const char *broken = NULL;
    for (size_t i = 0; i < ranks->optimizers.count; i++) {
        const char *name = ranks->optimizers.items[i];
        struct shapeproof_error error = {0};
        struct shapeproof_inventory *own = sp_inventory_new(name);
        if (!sp_folder_read(folder, name, own, &error)) {
            sp_inventory_warn(inventory, "%s", error.message);
            if (!broken) broken = sp_arena_string(&inventory->arena, name);
        }
        shapeproof_inventory_close(own);
    }
    return broken;
}

/* Adds the metadata of the first rank, and whether the optimizer's files, which hold the data of sharded
 * parameters, are complete. */
static void describe_ranks(const struct sp_ranks *ranks, const struct sp_folder *folder,
                           struct shapeproof_inventory *inventory)
{
    const struct shapeproof_inventory *own = ranks->files.items[0].own;
    const uint64_t data_ranks = said_number(own, "dp_world_size"); /* 0: the file does not say */
    const size_t optimizers = ranks->optimizer_files, models = ranks->zero_files;
    char text[32];
    for (size_t i = 0; i < own->metadata_count; i++)
        sp_inventory_add_metadata(inventory, own->metadata[i].key, own->metadata[i].value);
    if (optimizers) {
        snprintf(text, sizeof text, "%zu", optimizers);
        sp_inventory_add_metadata(inventory, "optimizer_files", text);
    }
    if (ranks->universal) sp_inventory_add_metadata(inventory, "universal", "zero");
    if (own->settings) inventory->settings = sp_arena_string(&inventory->arena, own->settings);
    inventory->divided = own->divided;
    inventory->gatherable = ranks->universal || (models && optimizers >= models && optimizers >= data_ranks);
    if (inventory->divided) inventory->broken_optimizer = broken_optimizer(ranks, folder, inventory);
    if (models && models < data_ranks)
        sp_inventory_warn(inventory,
                          "files of the model (zero_pp_rank_*_model_states.pt) are there for %zu of %" PRIu64 " ranks",
                          models, data_ranks);
    if (inventory->divided && !inventory->gatherable)
        sp_inventory_warn(inventory, "files of the optimizer, which have the data, are not there for all ranks: %zu",
                          optimizers);
}

static bool read_files(struct sp_ranks *ranks, const struct sp_folder *folder, struct shapeproof_error *error)
{
    size_t tensors = 0;
    for (size_t i = 0; i < ranks->files.count; i++) {
        struct sp_rank_file *file = &ranks->files.items[i];
        file->own = sp_inventory_new(file->path);
        if (!sp_folder_read(folder, file->path, file->own, error)) return false;
        tensors += file->own->count;
        if (tensors > SP_MAX_TENSORS)
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d tensors in all ranks",
                           SP_MAX_TENSORS);
    }
    return true;
}

/* Warns of files of FSDP's optimizer that are not there, or cannot be read: training cannot go on without them. */
static void check_optimizer_ranks(const struct sp_ranks *ranks, const struct sp_folder *folder,
                                  struct shapeproof_inventory *inventory)
{
    const uint32_t world = ranks->optimizer_world ? ranks->optimizer_world : ranks->world;
    if (!ranks->optimizers.count) return;
    if (ranks->optimizers.count < world)
        sp_inventory_warn(inventory, "files of the optimizer are there for %zu of %" PRIu32 " ranks: %s",
                          ranks->optimizers.count, world, "training cannot be resumed from this checkpoint");
    if (ranks->optimizer_world && ranks->optimizer_world != ranks->world)
        sp_inventory_warn(inventory, "the optimizer was saved by %" PRIu32 " ranks, the model by %" PRIu32,
                          ranks->optimizer_world, ranks->world);
    if (broken_optimizer(ranks, folder, inventory))
        sp_inventory_warn(inventory, "training cannot be resumed from this checkpoint");
}

/* *are_ranks is false when the names alone promised ranks, and no tensor is a piece. */
static bool put_together(struct sp_ranks *ranks, const struct sp_folder *folder, bool *are_ranks,
                         struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    if (!read_files(ranks, folder, error)) return false;
    if (ranks->numbered && !(ranks->world = ranks_of_pieces(ranks))) {
        *are_ranks = false;
        return true;
    }
    inventory->format = ranks->format;
    tell_experts(ranks);
    if (all_are_there(ranks, error) && sp_ranks_join(ranks, inventory, error)) {
        for (size_t i = 0; i < ranks->files.count; i++)
            sp_inventory_adopt_remarks(inventory, ranks->files.items[i].own);
        describe_ranks(ranks, folder, inventory);
        if (ranks->format == &sp_format_fsdp) check_optimizer_ranks(ranks, folder, inventory);
        if (sp_inventory_finish(inventory, error)) return true;
    }
    sp_error_prefix(error, folder->path);
    return false;
}

bool sp_ranks_read(const struct sp_folder *folder, bool *are_ranks, struct shapeproof_inventory *inventory,
                   struct shapeproof_error *error)
{
    struct sp_ranks ranks = {0};
    bool ok = sp_ranks_list(&ranks, folder, error);
    if (!ok) sp_error_prefix(error, folder->path);
    *are_ranks = !ok || ranks.files.count;
    if (ok && ranks.files.count) ok = put_together(&ranks, folder, are_ranks, inventory, error);
    for (size_t i = 0; i < ranks.files.count; i++) shapeproof_inventory_close(ranks.files.items[i].own);
    free(ranks.files.items);
    free(ranks.optimizers.items);
    sp_arena_free(&ranks.arena);
    return ok;
}
