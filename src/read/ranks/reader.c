/* SPDX-License-Identifier: MIT
 * The files of ranks, read each by itself and put together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/budget.h"
#include "base/checked.h"
#include "base/fault.h"
#include "base/json_scan.h"
#include "base/names.h"
#include "model/layouts.h"
#include "read/pieces.h"
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

enum rank_kind { TENSOR_RANK, STAGE, EXPERT_RANK };

/* The lowest rank of the kind, below `count`, that no file is of; `count` when there is none. */
static uint32_t absent_rank(const struct sp_ranks *ranks, uint32_t count, enum rank_kind kind)
{
    bool *there = sp_realloc(NULL, (size_t)count + 1, sizeof *there);
    uint32_t rank = 0;
    memset(there, 0, ((size_t)count + 1) * sizeof *there);
    for (size_t i = 0; i < ranks->files.count; i++) {
        const struct sp_rank_file *file = &ranks->files.items[i];
        const uint32_t own = kind == STAGE ? file->stage : kind == EXPERT_RANK ? file->expert : file->tensor;
        if (own < count) there[own] = true;
    }
    while (rank < count && there[rank]) rank++;
    sp_free(there);
    return rank;
}

static bool has_pieces(const struct shapeproof_inventory *own)
{
    for (size_t i = 0; i < own->count; i++)
        if (own->tensors[i].piece) return true;
    return false;
}

/* How many ranks the tensors of files with names of a program's own say that there are: into how many pieces they are
 * cut, at most; and at least one more than the highest number of a file. */
static uint32_t ranks_of_pieces(const struct sp_ranks *ranks)
{
    uint64_t world = 0;
    for (size_t f = 0; f < ranks->files.count; f++) {
        const struct sp_rank_file *file = &ranks->files.items[f];
        if (file->tensor >= world) world = (uint64_t)file->tensor + 1;
        for (size_t i = 0; i < file->own->count; i++) {
            const struct shapeproof_tensor_piece *piece = file->own->tensors[i].piece;
            if (piece && piece->pieces > world) world = piece->pieces;
        }
    }
    if (world < ranks->world) world = ranks->world; /* a name may say more: "rank_0_of_4" */
    return world < UINT32_MAX ? (uint32_t)world : UINT32_MAX;
}

/* How Megatron divides a model with experts. Experts may be cut by fewer ranks than other layers; then the
 * tensor-parallel ranks take turns: with 2 of them, and 2 ranks of whole experts, the first has the first experts, the
 * second the others. */
struct expert_grid {
    uint64_t tensor_ranks, cuts; /* ranks that divide a layer, and an expert */
    uint64_t experts;            /* ranks of experts; 0: not known */
};

/* Whether the tensor-parallel rank has experts of that rank of experts: whether some process r has the numbers tensor =
 * r % tensor_ranks and expert = r / cuts % experts. Such r begin at expert x cuts, and at multiples of experts x cuts
 * behind it: modulo tensor_ranks, at multiples of the greatest common divisor. */
static bool is_in_grid(const struct expert_grid *grid, uint64_t tensor, uint64_t expert)
{
    const uint64_t ranks = grid->tensor_ranks;
    if (!grid->experts || grid->cuts >= ranks) return true;
    uint64_t divisor = ranks, other = grid->experts % ranks * grid->cuts % ranks;
    while (other) {
        const uint64_t rest = divisor % other;
        divisor = other;
        other = rest;
    }
    return (tensor + ranks - expert * grid->cuts % ranks) % divisor < grid->cuts;
}

/* The lowest tensor-parallel rank that should have, and has not, a file among files[begin..end), which are sorted by it
 * and of one rank of experts; tensor_ranks when there is none. */
static uint64_t absent_in(const struct sp_ranks *ranks, size_t begin, size_t end, const struct expert_grid *grid)
{
    const uint32_t expert = ranks->files.items[begin].expert;
    size_t i = begin;
    sp_budget_spend(grid->tensor_ranks);
    for (uint64_t rank = 0; rank < grid->tensor_ranks; rank++) {
        while (i < end && ranks->files.items[i].tensor < rank) i++;
        const bool has = i < end && ranks->files.items[i].tensor == rank;
        if (!has && is_in_grid(grid, rank, expert)) return rank;
    }
    return grid->tensor_ranks;
}

/* Whether each stage of a pipeline, and each rank of experts in it, has a file of each tensor-parallel rank; false with
 * an error that names the first which has not. The files are sorted by stage, rank of experts, tensor-parallel rank. */
static bool has_each_stage_all(const struct sp_ranks *ranks, const struct expert_grid *grid,
                               struct shapeproof_error *error)
{
    for (size_t begin = 0, end; begin < ranks->files.count; begin = end) {
        const struct sp_rank_file *first = &ranks->files.items[begin];
        for (end = begin; end < ranks->files.count && ranks->files.items[end].stage == first->stage &&
                          ranks->files.items[end].expert == first->expert;)
            end++;
        const uint64_t absent = absent_in(ranks, begin, end, grid);
        if (absent >= grid->tensor_ranks) continue;
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO,
                "beside %s, the file of tensor-parallel rank %" PRIu64 " (of %" PRIu64
                " ranks) is missing: without it, the checkpoint is incomplete",
                sp_quote(first->path).text, absent, grid->tensor_ranks);
        sp_hint(error, "fetch it, or name the file of one rank to read that file alone");
        return false;
    }
    return true;
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
    const uint64_t experts = megatron ? said_number(own, "expert_model_parallel_size") : 0;
    const uint32_t absent_expert = absent_rank(ranks, (uint32_t)(experts < files ? experts : files), EXPERT_RANK);
    if (absent_expert < experts) return refuse_absent("expert-parallel ", absent_expert, experts, error);
    const uint64_t cuts = megatron ? said_number(own, "expert_tensor_parallel_size") : 0;
    const struct expert_grid grid = {tensor_ranks, cuts && cuts < tensor_ranks ? cuts : tensor_ranks, experts};
    if (megatron && !has_each_stage_all(ranks, &grid, error)) return false;
    ranks->tensor_ranks = (uint32_t)tensor_ranks;
    ranks->expert_cuts = (uint32_t)grid.cuts;
    const uint64_t groups = said_number(own, "num_query_groups");
    ranks->few_groups = groups && groups < tensor_ranks;
    return true;
}

/* ---- reading ---- */

/* The first of those files that cannot be read, as one that was cut short; a warning says why. NULL when all can. */
static const char *find_broken_file(const struct sp_ranks_beside *beside, const struct sp_folder *folder,
                                    struct shapeproof_inventory *inventory)
{
    const char *broken = NULL;
    for (size_t i = 0; i < beside->count; i++) {
        const char *name = beside->items[i];
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
    /* Stage 3 of ZeRO has the data of the model in the files of the optimizer. */
    if (inventory->divided) inventory->broken_optimizer = find_broken_file(&ranks->optimizers, folder, inventory);
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

/* Warns of files beside those of FSDP's model that are not there, or cannot be read: training cannot go on without
 * them. Of a kind of which there are none nothing is said: it may not have been saved. */
static void check_ranks_beside(const struct sp_ranks *ranks, const struct sp_ranks_beside *beside, const char *what,
                               const struct sp_folder *folder, struct shapeproof_inventory *inventory)
{
    const uint32_t world = beside->world ? beside->world : ranks->world;
    if (!beside->count) return;
    if (beside->count < world)
        sp_inventory_warn(inventory, "files of %s are there for %zu of %" PRIu32 " ranks: %s", what, beside->count,
                          world, "training cannot be resumed from this checkpoint");
    if (beside->world && beside->world != ranks->world)
        sp_inventory_warn(inventory, "%s was saved by %" PRIu32 " ranks, the model by %" PRIu32, what, beside->world,
                          ranks->world);
    if (find_broken_file(beside, folder, inventory))
        sp_inventory_warn(inventory, "training cannot be resumed from this checkpoint");
}

/* ---- what verl says of the ranks ---- */

enum { MAX_FSDP_CONFIG = 64 * 1024 }; /* bytes; verl writes two numbers */

/* The value of "world_size"; 0 without one. */
static uint64_t scan_world_size(struct sp_json *json)
{
    const char *key;
    uint64_t ranks = 0;
    size_t ignored;
    if (!sp_json_check(json) || !sp_json_open(json, '{')) return 0;
    for (bool first = true; (key = sp_json_member(json, &first));) {
        const bool ok =
            strcmp(key, "world_size") == 0 ? sp_json_u64(json, &ranks) : sp_json_skip(json, &ignored) != NULL;
        if (!ok) return 0;
    }
    return sp_json_ok(json) ? ranks : 0;
}

/* Reads the number of ranks in the `fsdp_config.json` of verl, {"FSDP_version": 2, "world_size": 8}. Its merger reads
 * the files of that many ranks. Warns if the file is there and does not say it. */
static void read_world_size(const struct sp_folder *folder, struct shapeproof_inventory *inventory)
{
    static const char name[] = "fsdp_config.json";
    struct sp_file file;
    struct shapeproof_error ignored = {0};
    struct sp_json json = {.what = name, .error = &ignored};
    struct stat status;
    if (!sp_path_stat(folder->fd, name, &status)) return;
    if (sp_file_open(&file, folder->fd, name, &ignored)) {
        json.text = sp_file_slurp(&file, MAX_FSDP_CONFIG, &ignored);
        json.length = (size_t)file.size;
        if (json.text) inventory->said_ranks = scan_world_size(&json);
        sp_free(json.text);
        sp_file_close(&file);
    }
    inventory->ranks_unsaid = !inventory->said_ranks;
    if (inventory->ranks_unsaid) sp_inventory_warn(inventory, "%s says no positive number as world_size", name);
}

/* Says that files of a training with another number of ranks are not read. */
static void note_unused(const struct sp_ranks *ranks, struct shapeproof_inventory *inventory)
{
    struct sp_names names = {0};
    for (size_t i = 0; i < ranks->unused.count; i++) sp_names_add(&names, ranks->unused.items[i]);
    if (names.count)
        inventory->beside =
            sp_arena_printf(&inventory->arena, "%s (of another number of ranks)", sp_names_text(&names));
    sp_names_free(&names);
}

bool sp_ranks_are_pieces(const struct sp_ranks *ranks, const struct sp_folder *folder)
{
    bool found = false;
    for (size_t i = 0; i < ranks->files.count && !found; i++) {
        struct shapeproof_error ignored = {0};
        struct shapeproof_inventory *own = sp_inventory_new(ranks->files.items[i].path);
        found = sp_folder_read(folder, ranks->files.items[i].path, own, &ignored) && has_pieces(own);
        shapeproof_inventory_close(own);
    }
    return found;
}

/* *are_ranks is false when the names alone promised ranks, and no tensor is a piece. */
static bool put_together(struct sp_ranks *ranks, const struct sp_folder *folder, bool *are_ranks,
                         struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    if (ranks->numbered && !sp_ranks_are_pieces(ranks, folder)) {
        *are_ranks = false;
        return true;
    }
    if (!read_files(ranks, folder, error)) return false;
    if (ranks->numbered) ranks->world = ranks_of_pieces(ranks);
    inventory->format = ranks->format;
    inventory->of_ranks = true;
    tell_experts(ranks);
    if (all_are_there(ranks, error) && sp_ranks_join(ranks, inventory, error)) {
        for (size_t i = 0; i < ranks->files.count; i++)
            sp_inventory_adopt_remarks(inventory, ranks->files.items[i].own);
        describe_ranks(ranks, folder, inventory);
        if (ranks->format == &sp_format_fsdp) {
            check_ranks_beside(ranks, &ranks->optimizers, "the optimizer", folder, inventory);
            check_ranks_beside(ranks, &ranks->extra_states, "the extra state", folder, inventory);
            note_unused(ranks, inventory);
            inventory->named_by_verl = !ranks->numbered;
            if (inventory->named_by_verl) read_world_size(folder, inventory);
        }
        if (sp_inventory_finish(inventory, error)) return true;
    }
    sp_error_prefix(error, folder->path);
    return false;
}

void sp_ranks_free(struct sp_ranks *ranks)
{
    for (size_t i = 0; i < ranks->files.count; i++) shapeproof_inventory_close(ranks->files.items[i].own);
    sp_free(ranks->files.items);
    sp_free(ranks->optimizers.items);
    sp_free(ranks->extra_states.items);
    sp_free(ranks->unused.items);
    sp_free(ranks->pieces.items);
    sp_arena_free(&ranks->arena);
}

bool sp_ranks_read(const struct sp_folder *folder, bool *are_ranks, struct shapeproof_inventory *inventory,
                   struct shapeproof_error *error)
{
    struct sp_ranks ranks = {0};
    bool ok = sp_ranks_list(&ranks, folder, error);
    if (!ok) sp_error_prefix(error, folder->path);
    *are_ranks = !ok || ranks.files.count;
    if (ok && ranks.files.count) ok = put_together(&ranks, folder, are_ranks, inventory, error);
    sp_ranks_free(&ranks);
    return ok;
}

bool sp_ranks_join_folders(const struct sp_folder *folder)
{
    struct sp_ranks ranks = {0};
    struct shapeproof_error ignored = {0};
    const bool joined = sp_ranks_list(&ranks, folder, &ignored) && ranks.numbered &&
                        strchr(ranks.files.items[0].path, '/') && sp_ranks_are_pieces(&ranks, folder);
    sp_ranks_free(&ranks);
    return joined;
}

/* ---- data ---- */

/* Where the tensors of one file lie. NULL when that cannot be told; sp_free it. */
static struct sp_data_place *places_in_file(const struct sp_folder *folder, const struct sp_rank_file *rank_file)
{
    const struct shapeproof_inventory *own = rank_file->own;
    struct shapeproof_error ignored = {0};
    struct sp_file file;
    if (!sp_file_open(&file, folder->fd, rank_file->path, &ignored)) return NULL;
    struct sp_data_places places = {.inventory = own};
    places.items = sp_realloc(NULL, own->count, sizeof *places.items);
    for (size_t i = 0; i < own->count; i++)
        places.items[i] = (struct sp_data_place){.begin = own->tensors[i].data_begin, .end = own->tensors[i].data_end};
    const struct sp_reader *reader = sp_reader_for(&file, &ignored);
    const bool ok = reader && (!reader->locate || reader->locate(&file, 0, &places, &ignored));
    for (size_t i = 0; i < places.sources.count; i++) places.sources.items[i]->close(places.sources.items[i]);
    sp_free(places.sources.items);
    sp_file_close(&file);
    if (ok) return places.items;
    sp_free(places.items);
    return NULL;
}

/* The shape of a piece, which is NULL when its elements are not one run of bytes at this place. */
static const uint64_t *shape_of_piece(const struct shapeproof_tensor *own, const struct sp_data_place *place)
{
    const uint32_t bad = SHAPEPROOF_TENSOR_NO_DATA | SHAPEPROOF_TENSOR_NO_SHAPE | SHAPEPROOF_TENSOR_BIG_ENDIAN |
                         SHAPEPROOF_TENSOR_EXPANDED;
    const uint64_t bytes = own->piece ? own->piece->bytes : own->bytes;
    if (own->flags & bad || !place || place->source || place->end - place->begin != bytes) return NULL;
    if (own->piece) return own->piece->rank == own->rank && own->piece->row_major ? own->piece->shape : NULL;
    return sp_is_row_major(own) ? own->shape : NULL;
}

/* Sets the pieces of a tensor of the inventory, unless they do not make it up. */
static void set_rank_pieces(struct sp_pieces *pieces, const struct shapeproof_inventory *inventory,
                            const struct sp_rank_piece *parts, size_t count, struct sp_data_place *const *places,
                            const struct sp_ranks *ranks)
{
    const size_t number = shapeproof_inventory_find(inventory, parts[0].name);
    if (number == SHAPEPROOF_NONE) return; /* the files are other ones now */
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, number);
    const uint32_t dimension = parts[0].dimension;
    const unsigned bits = shapeproof_dtype_bits(tensor->dtype);
    struct sp_arena arena = {0};
    if (!bits || bits % 8 || !tensor->parameters || count > SP_MOST_PIECES) return;
    struct sp_tensor_piece *boxes = sp_arena_array(&arena, count, sizeof *boxes);
    size_t boxed = 0;
    uint64_t end = 0;
    bool fits = true;
    for (size_t i = 0; i < count && fits; i++) {
        const struct shapeproof_tensor *own = parts[i].own;
        const struct sp_data_place *all = places[parts[i].file];
        const struct sp_data_place *place = all ? &all[own - ranks->files.items[parts[i].file].own->tensors] : NULL;
        const uint64_t *shape =
            own->rank == tensor->rank && own->dtype == tensor->dtype ? shape_of_piece(own, place) : NULL;
        fits = shape != NULL;
        for (uint32_t d = 0; d < tensor->rank && fits; d++) fits = d == dimension || shape[d] == tensor->shape[d];
        if (!fits || (tensor->rank && !shape[dimension])) continue;
        uint64_t *offsets = sp_arena_array(&arena, tensor->rank, sizeof *offsets);
        if (tensor->rank) offsets[dimension] = end;
        boxes[boxed++] = (struct sp_tensor_piece){offsets, shape, place->begin, place->end, (uint32_t)parts[i].file};
        fits = sp_add_u64(end, tensor->rank ? shape[dimension] : 1, &end);
    }
    if (fits && end == (tensor->rank ? tensor->shape[dimension] : 1)) sp_pieces_set(pieces, number, boxes, boxed);
    sp_arena_free(&arena);
}

static void list_rank_pieces(const struct sp_ranks *ranks, const struct sp_folder *folder,
                             struct sp_data_places *places)
{
    struct sp_pieces *pieces = sp_pieces_new(places, folder, false);
    struct sp_data_place **own = sp_realloc(NULL, ranks->files.count, sizeof *own);
    for (size_t i = 0; i < ranks->files.count; i++) {
        sp_pieces_add_file(pieces, ranks->files.items[i].path);
        own[i] = places_in_file(folder, &ranks->files.items[i]);
    }
    for (size_t i = 0, end; i < ranks->pieces.count; i = end) {
        const struct sp_rank_piece *first = &ranks->pieces.items[i];
        for (end = i + 1; end < ranks->pieces.count && ranks->pieces.items[end].name == first->name;) end++;
        set_rank_pieces(pieces, places->inventory, first, end - i, own, ranks);
    }
    for (size_t i = 0; i < ranks->files.count; i++) sp_free(own[i]);
    sp_free(own);
    for (size_t i = 0; i < places->inventory->count; i++) {
        struct sp_data_place *place = &places->items[i];
        const char *storage = places->inventory->tensors[i].storage;
        if (!place->source && !place->end && storage &&
            strncmp(storage, SP_OF_SEVERAL_RANKS, strlen(SP_OF_SEVERAL_RANKS)) == 0)
            place->obstacle = "in pieces of ranks that cannot be put together";
    }
}

bool sp_ranks_locate(const struct sp_folder *folder, struct sp_data_places *places, struct shapeproof_error *error)
{
    struct sp_ranks ranks = {0};
    struct shapeproof_inventory *again = sp_inventory_new(folder->path); /* which takes the warnings */
    bool are_ranks = true, ok = sp_ranks_list(&ranks, folder, error);
    if (ok && ranks.files.count) ok = put_together(&ranks, folder, &are_ranks, again, error);
    if (ok && are_ranks && ranks.files.count) list_rank_pieces(&ranks, folder, places);
    sp_ranks_free(&ranks);
    shapeproof_inventory_close(again);
    return ok;
}
