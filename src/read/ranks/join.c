/* SPDX-License-Identifier: MIT
 * Tensors of one name, a piece from each tensor-parallel rank, become one by the rule of their layer. Where no rule is
 * known, or the pieces do not fit the rule, they are listed side by side, and a warning says so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/names.h"
#include "read/ranks/numbers.h"
#include "read/ranks/ranks.h"

struct piece {
    size_t file; /* among the ranks' */
    const struct shapeproof_tensor *tensor;
};

/* A tensor of the whole model, and what the files have of it. */
struct whole {
    const char *name;
    struct piece *pieces;
    size_t count, capacity;
};

struct join {
    struct sp_ranks *ranks;
    struct shapeproof_inventory *inventory;
    struct shapeproof_error *error;
    struct sp_arena arena;
    SP_ARRAY(struct whole) wholes;
    struct sp_map names;
    struct sp_rank_numbers layers, experts;
    struct sp_names unknown; /* tensors that no rule knows */
    struct sp_names uneven;  /* those whose pieces do not fit the rule */
    struct sp_names odd;     /* those whose number in the whole is not known */
    size_t *of_rank;         /* the piece of each tensor-parallel rank */
    size_t state;            /* tensors that are no part of the model */
    uint32_t first_file, stages;
};

/* ---- names ---- */

static const struct sp_rank_file *file_of(const struct join *join, size_t file)
{
    return &join->ranks->files.items[file];
}

static bool is_model_tensor(const struct join *join, const struct sp_rank_file *file,
                            const struct shapeproof_tensor *tensor)
{
    const char *front = join->ranks->format == &sp_format_megatron ? "model" : "module.";
    if (tensor->flags & SHAPEPROOF_TENSOR_STATE || sp_ends_with(tensor->name, "_extra_state")) return false;
    if (join->ranks->world) return true;
    return file->layer != SP_NO_LAYER || file->plain || strncmp(tensor->name, front, strlen(front)) == 0;
}

/* "model0.": layers of a pipeline in turns, which are numbered otherwise. */
static bool is_virtual_stage(const char *name)
{
    return strncmp(name, "model", 5) == 0 && name[5] >= '0' && name[5] <= '9';
}

static void note_numbers(struct join *join)
{
    for (size_t f = 0; f < join->ranks->files.count; f++) {
        const struct sp_rank_file *file = file_of(join, f);
        for (size_t i = 0; i < file->own->count; i++) {
            const struct shapeproof_tensor *tensor = &file->own->tensors[i];
            if (!is_model_tensor(join, file, tensor)) continue;
            sp_numbers_note(&join->layers, tensor->name, 0, file->stage);
            sp_numbers_note(&join->experts, tensor->name, file->stage, file->expert);
        }
    }
    sp_numbers_settle(&join->layers);
    sp_numbers_settle(&join->experts);
}

/* The name in the whole model. */
static const char *name_in_whole(struct join *join, const struct sp_rank_file *file,
                                 const struct shapeproof_tensor *tensor, bool *odd)
{
    *odd = is_virtual_stage(tensor->name) && join->stages > 1;
    if (file->layer != SP_NO_LAYER) return sp_arena_printf(&join->arena, "%" PRIu32 ".%s", file->layer, tensor->name);
    if (file->plain) return sp_arena_printf(&join->arena, "module.%s", tensor->name);
    if (*odd) return tensor->name;
    const char *name = sp_numbers_rename(&join->experts, tensor->name, file->stage, file->expert, odd);
    return *odd ? name : sp_numbers_rename(&join->layers, name, 0, file->stage, odd);
}

static void gather_piece(struct join *join, size_t file, const struct shapeproof_tensor *tensor)
{
    bool odd;
    const char *name = name_in_whole(join, file_of(join, file), tensor, &odd);
    if (odd) { /* of each stage by itself */
        sp_names_add(&join->odd, name);
        name = sp_arena_printf(&join->arena, "%s (pipeline rank %" PRIu32 ")", name, file_of(join, file)->stage);
    }
    size_t number = sp_map_get(&join->names, name);
    if (number == SIZE_MAX) {
        number = join->wholes.count;
        *SP_PUSH(&join->wholes) = (struct whole){.name = name};
        sp_map_add(&join->names, name, number);
    }
    struct whole *whole = &join->wholes.items[number];
    SP_GROW(whole->pieces, whole->count, whole->capacity);
    whole->pieces[whole->count++] = (struct piece){file, tensor};
}

static void gather_pieces(struct join *join)
{
    for (size_t f = 0; f < join->ranks->files.count; f++) {
        const struct sp_rank_file *file = file_of(join, f);
        for (size_t i = 0; i < file->own->count; i++) {
            if (is_model_tensor(join, file, &file->own->tensors[i])) gather_piece(join, f, &file->own->tensors[i]);
            else join->state++;
        }
    }
}

/* ---- one tensor ---- */

static const uint64_t *copy_shape(struct join *join, const uint64_t *shape, uint32_t rank)
{
    uint64_t *copy = sp_arena_array(&join->inventory->arena, rank, sizeof *copy);
    if (rank) memcpy(copy, shape, rank * sizeof *copy);
    return copy;
}

enum place { WITH_PLACE, WITHOUT_PLACE };

/* Lists a tensor as the piece is. WITH_PLACE when the piece is all of it, so that its bytes in the file are those of
 * the tensor; WITHOUT_PLACE when other files have pieces or copies of it as well. NULL with an error. */
static struct shapeproof_tensor *list_piece(struct join *join, const char *name, const struct piece *piece,
                                            enum place place)
{
    struct sp_arena *arena = &join->inventory->arena;
    const struct shapeproof_tensor *from = piece->tensor;
    struct shapeproof_tensor *tensor = sp_inventory_add(join->inventory, join->error);
    if (!tensor) return NULL;
    *tensor = *from;
    tensor->name = sp_arena_string(arena, name);
    tensor->dtype_name = sp_arena_string(arena, from->dtype_name);
    tensor->shape = copy_shape(join, from->shape, from->rank);
    tensor->stride = from->stride && place == WITH_PLACE ? copy_shape(join, from->stride, from->rank) : NULL;
    tensor->file = join->first_file + (uint32_t)piece->file;
    tensor->flags &= ~(uint32_t)SHAPEPROOF_TENSOR_VIEW;
    tensor->same_as = SHAPEPROOF_NONE;
    if (from->storage) tensor->storage = sp_arena_string(arena, from->storage);
    if (from->piece) tensor->piece = sp_tensor_piece_copy(from->piece, arena);
    if (place == WITH_PLACE) return tensor;
    tensor->data_begin = tensor->data_end = tensor->offset = 0;
    if (from->storage)
        tensor->storage = sp_arena_printf(arena, SP_OF_SEVERAL_RANKS "%s+%" PRIu64, from->storage, from->offset);
    return tensor;
}

#define NO_DIMENSION UINT32_MAX

/* Whether both have the same dtype and shape, but for the dimension `but`, or NO_DIMENSION. */
static bool is_alike(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b, uint32_t but)
{
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (d != but && a->shape[d] != b->shape[d]) return false;
    return true;
}

static bool are_pieces_alike(const struct whole *whole, uint32_t but)
{
    for (size_t i = 1; i < whole->count; i++)
        if (!is_alike(whole->pieces[0].tensor, whole->pieces[i].tensor, but)) return false;
    return true;
}

/* Among how many ranks a tensor is divided. */
static uint32_t count_cuts(const struct join *join, const struct whole *whole)
{
    return strstr(whole->name, join->experts.marker) ? join->ranks->expert_cuts : join->ranks->tensor_ranks;
}

/* What several experts' ranks or both ends of a pipeline have alike counts once for each tensor-parallel rank. False
 * when they have it, and not alike. */
static bool drop_copies(struct join *join, struct whole *whole)
{
    const uint32_t cuts = count_cuts(join, whole);
    size_t kept = 0;
    for (size_t i = 0; i < whole->count; i++) {
        const uint32_t rank = file_of(join, whole->pieces[i].file)->tensor % cuts;
        const size_t same = join->of_rank[rank]; /* of this tensor, if the piece there is of that rank */
        if (same >= kept || file_of(join, whole->pieces[same].file)->tensor % cuts != rank) {
            join->of_rank[rank] = kept;
            whole->pieces[kept++] = whole->pieces[i];
        } else if (!is_alike(whole->pieces[same].tensor, whole->pieces[i].tensor, NO_DIMENSION)) return false;
    }
    whole->count = kept;
    return true;
}

/* Lists each piece as a tensor of its own, "name (path of the file)", and notes the name in `list`. */
static bool list_side_by_side(struct join *join, const struct whole *whole, struct sp_names *list)
{
    sp_names_add(list, whole->name);
    for (size_t i = 0; i < whole->count; i++) {
        const struct sp_rank_file *file = file_of(join, whole->pieces[i].file);
        const char *name = sp_arena_printf(&join->arena, "%s (%s)", whole->name, file->path);
        if (!list_piece(join, name, &whole->pieces[i], WITH_PLACE)) return false;
    }
    return true;
}

/* Notes a piece of the tensor that was listed last, from which its data can be read. */
static void note_piece(struct join *join, const struct piece *piece, uint32_t dimension)
{
    *SP_PUSH(&join->ranks->pieces) = (struct sp_rank_piece){join->inventory->tensors[join->inventory->count - 1].name,
                                                            piece->file, piece->tensor, dimension};
}

/* Lists the pieces as one tensor, whose size in the dimension is their sum. */
static bool list_joined(struct join *join, const struct whole *whole, uint32_t dimension)
{
    uint64_t sum = 0;
    join->inventory->misfits += !are_pieces_alike(whole, NO_DIMENSION); /* ranks divide evenly */
    for (size_t i = 0; i < whole->count; i++)
        if (!sp_add_u64(sum, whole->pieces[i].tensor->shape[dimension], &sum)) sum = UINT64_MAX;
    struct shapeproof_tensor *tensor = list_piece(join, whole->name, &whole->pieces[0], WITHOUT_PLACE);
    if (!tensor) return false;
    uint64_t *shape = sp_arena_array(&join->inventory->arena, tensor->rank, sizeof *shape);
    memcpy(shape, tensor->shape, tensor->rank * sizeof *shape);
    shape[dimension] = sum;
    tensor->shape = shape;
    for (uint32_t rank = 0; rank < count_cuts(join, whole) && !sp_may_be_interleaved(whole->name); rank++)
        note_piece(join, &whole->pieces[join->of_rank[rank]], dimension);
    return sp_tensor_measure(tensor) ||
           sp_malformed(join->error, "tensor %s: its size overflows 64 bits", sp_quote(whole->name).text);
}

/* Whether a DTensor has been divided along its first dimension, each piece into one run of bytes, and not otherwise. */
static bool is_cut_in_rows(const struct shapeproof_tensor_piece *piece)
{
    const char *placement = piece->placement ? piece->placement : "";
    size_t shards = 0;
    for (; *placement; placement += strspn(placement, ", ")) {
        const size_t length = strcspn(placement, ",");
        const bool is_shard = length == strlen("Shard(0)") && strncmp(placement, "Shard(0)", length) == 0;
        if (!is_shard && (length != strlen("Replicate()") || strncmp(placement, "Replicate()", length) != 0))
            return false;
        shards += is_shard;
        placement += length;
    }
    return shards == 1 && piece->row_major;
}

/* Notes the pieces of a DTensor in the order of their numbers, if all are there. */
static void note_rows(struct join *join, const struct whole *whole)
{
    const uint64_t count = whole->pieces[0].tensor->piece->pieces;
    if (!count || count > whole->count) return;
    const struct piece **sorted = sp_arena_array(&join->arena, (size_t)count, sizeof *sorted);
    for (size_t i = 0; i < whole->count; i++) {
        const struct shapeproof_tensor_piece *piece = whole->pieces[i].tensor->piece;
        if (piece->index >= count || piece->pieces != count || !is_cut_in_rows(piece)) return;
        sorted[piece->index] = &whole->pieces[i];
    }
    for (uint64_t i = 0; i < count; i++)
        if (!sorted[i]) return;
    for (uint64_t i = 0; i < count; i++) note_piece(join, sorted[i], 0);
}

/* The first rank's tensor that is whole, if the others are whole too, or empty pieces: of a tensor of one row, the
 * first of two ranks has all. NULL for any other tensor. */
static const struct piece *find_whole(const struct whole *whole)
{
    const struct piece *found = NULL;
    for (size_t i = 0; i < whole->count; i++) {
        const struct shapeproof_tensor_piece *piece = whole->pieces[i].tensor->piece;
        if (piece && piece->bytes) return NULL;
        if (!piece && !found) found = &whole->pieces[i];
    }
    return found && are_pieces_alike(whole, NO_DIMENSION) ? found : NULL;
}

/* Whether both are divided in the same way, as far as they say. */
static bool has_same_placement(const struct shapeproof_tensor_piece *a, const struct shapeproof_tensor_piece *b)
{
    return a->placement == b->placement || (a->placement && b->placement && strcmp(a->placement, b->placement) == 0);
}

/* Lists a tensor of FSDP. Each rank's tensor has the shape of the whole and says which piece of it is there. The bytes
 * of the tensor are those of the different pieces together; ranks may have the same one. A tensor that is whole in
 * every rank, or in one beside empty pieces, is listed once. Where a rank has none, or they are not alike, or different
 * pieces have more bytes than the tensor, they are listed side by side. Pieces that do not say which they are, as
 * summands of Partial, or of which one lacks although the others have enough bytes, are counted as `unplaced`. */
static bool list_sharded(struct join *join, struct whole *whole)
{
    const struct shapeproof_tensor *first = whole->pieces[0].tensor;
    struct sp_map seen = {0};
    uint64_t bytes = 0, different = 0;
    bool alike = whole->count == join->ranks->world, placed = true;
    const struct piece *complete = alike ? find_whole(whole) : NULL;
    if (complete) return list_piece(join, whole->name, complete, WITH_PLACE) != NULL;
    for (size_t i = 0; i < whole->count && alike; i++) {
        const struct shapeproof_tensor *tensor = whole->pieces[i].tensor;
        const struct shapeproof_tensor_piece *piece = tensor->piece;
        alike = is_alike(first, tensor, NO_DIMENSION) && piece && piece->pieces == first->piece->pieces &&
                has_same_placement(first->piece, piece);
        const bool again = alike && piece->index != SHAPEPROOF_NONE &&
                           !sp_map_add(&seen, sp_arena_printf(&join->arena, "%" PRIu64, piece->index), i);
        if (alike && piece->pieces == join->ranks->world && piece->index != SHAPEPROOF_NONE &&
            piece->index != file_of(join, whole->pieces[i].file)->tensor)
            join->ranks->files.items[whole->pieces[i].file].misplaced = true;
        if (alike && !again && !sp_add_u64(bytes, piece->bytes, &bytes)) bytes = UINT64_MAX;
        placed = placed && alike && (piece->index != SHAPEPROOF_NONE || !piece->bytes);
        different += alike && !again && piece->index != SHAPEPROOF_NONE;
    }
    sp_map_free(&seen);
    if (!alike || (placed && bytes > first->bytes)) return list_side_by_side(join, whole, &join->uneven);
    struct shapeproof_tensor *tensor = list_piece(join, whole->name, &whole->pieces[0], WITHOUT_PLACE);
    if (!tensor) return false;
    struct shapeproof_tensor_piece *pieces = sp_arena_alloc(&join->inventory->arena, sizeof *pieces);
    *pieces = *tensor->piece;
    pieces->bytes = bytes;
    tensor->piece = bytes < tensor->bytes ? pieces : NULL; /* together they may be the whole */
    if (!tensor->piece) note_rows(join, whole);
    placed = placed && (!first->piece->pieces || different == first->piece->pieces);
    join->inventory->unplaced += !tensor->piece && !placed;
    join->inventory->joined++;
    return true;
}

static enum sp_cut cut_of(const struct join *join, const struct whole *whole)
{
    const struct shapeproof_tensor *tensor = whole->pieces[0].tensor;
    const enum sp_cut cut = sp_rank_cut(tensor->name);
    if (join->ranks->few_groups && sp_is_grouped_cut(tensor->name)) return SP_CUT_UNKNOWN;
    return (cut == SP_CUT_COLUMNS && !tensor->rank) || (cut == SP_CUT_ROWS && tensor->rank < 2) ? SP_CUT_UNKNOWN : cut;
}

/* Lists one tensor of the whole by the rule of its layer, or its pieces side by side. False with an error. */
static bool list_whole(struct join *join, struct whole *whole)
{
    if (join->ranks->world) return list_sharded(join, whole);
    const bool once = drop_copies(join, whole);
    if (once && whole->count == 1 && count_cuts(join, whole) == 1)
        return list_piece(join, whole->name, &whole->pieces[0], WITH_PLACE) != NULL;
    if (!once || whole->count != count_cuts(join, whole)) return list_side_by_side(join, whole, &join->uneven);
    const enum sp_cut cut = cut_of(join, whole);
    if (cut == SP_CUT_UNKNOWN) return list_side_by_side(join, whole, &join->unknown);
    const uint32_t dimension = cut == SP_CUT_NOT ? NO_DIMENSION : cut == SP_CUT_ROWS ? 1 : 0;
    if (!are_pieces_alike(whole, dimension)) return list_side_by_side(join, whole, &join->uneven);
    if (cut == SP_CUT_NOT) {
        if (!list_piece(join, whole->name, &whole->pieces[0], WITHOUT_PLACE)) return false;
        note_piece(join, &whole->pieces[0], 0);
        return true;
    }
    return list_joined(join, whole, dimension);
}

/* ---- all of them ---- */

static void warn_of_listed(struct shapeproof_inventory *inventory, const char *what, struct sp_names *names)
{
    if (names->count) sp_inventory_warn(inventory, "%s (%zu): %s", what, names->count, sp_names_text(names));
    sp_names_free(names);
}

/* Files whose pieces are those of another rank: renamed, or copied over. */
static void warn_of_misplaced(const struct join *join)
{
    struct sp_names names = {0};
    for (size_t i = 0; i < join->ranks->files.count; i++)
        if (join->ranks->files.items[i].misplaced) sp_names_add(&names, join->ranks->files.items[i].path);
    if (names.count) join->inventory->misplaced = sp_arena_string(&join->inventory->arena, sp_names_text(&names));
    warn_of_listed(join->inventory, "files with the pieces of another rank than their names say", &names);
}

/* Each rank has its own part of the optimizer's state, and what is whose cannot be told. */
static void note_state(struct join *join)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", join->state);
    if (join->state) sp_inventory_add_metadata(join->inventory, "trainer_tensors", text);
}

static void warn_of_pieces(struct join *join)
{
    join->inventory->misfits += join->uneven.count;
    warn_of_listed(join->inventory,
                   "tensors that the ranks divided by no known rule, and whose parts are listed "
                   "one after the other",
                   &join->unknown);
    warn_of_listed(join->inventory, "pieces that do not fit together, listed one after the other", &join->uneven);
    warn_of_listed(join->inventory,
                   "tensors of layers whose numbers in the whole model are not known, listed for "
                   "each rank",
                   &join->odd);
    warn_of_misplaced(join);
    note_state(join);
}

static uint32_t count_stages(const struct sp_ranks *ranks)
{
    uint32_t stages = 0;
    for (size_t i = 0; i < ranks->files.count; i++)
        if (ranks->files.items[i].stage >= stages) stages = ranks->files.items[i].stage + 1;
    return stages;
}

bool sp_ranks_join(struct sp_ranks *ranks, struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct join join = {.ranks = ranks, .inventory = inventory, .error = error};
    bool ok = true;
    join.layers.marker = ".layers.";
    join.experts.marker = ".local_experts.";
    join.stages = count_stages(ranks);
    join.of_rank = sp_arena_array(&join.arena, ranks->tensor_ranks, sizeof *join.of_rank);
    join.first_file = (uint32_t)inventory->file_count;
    for (size_t i = 0; i < ranks->files.count; i++) sp_inventory_add_file(inventory, ranks->files.items[i].path);
    note_numbers(&join);
    gather_pieces(&join);
    for (size_t i = 0; i < join.wholes.count && ok; i++) ok = list_whole(&join, &join.wholes.items[i]);
    warn_of_pieces(&join);
    for (size_t i = 0; i < join.wholes.count; i++) sp_free(join.wholes.items[i].pieces);
    sp_free(join.wholes.items);
    sp_map_free(&join.names);
    sp_numbers_free(&join.layers);
    sp_numbers_free(&join.experts);
    sp_arena_free(&join.arena);
    return ok;
}
