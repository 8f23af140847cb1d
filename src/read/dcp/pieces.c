/* SPDX-License-Identifier: MIT
 * The bytes of tensors in chunks. Each chunk is an archive of torch.save within a file of a rank, or, in shards of
 * safetensors, a range of bytes; its elements are in row-major order. A range of a tensor is read run by run: a run is
 * what follows one another both in the tensor and in a chunk.
 *
 * Chunks are sorted by their first element, counted along the tensor. `reach` of a chunk is one past the last element
 * of those up to it, so that the first chunk that can have an element is found by a binary search. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/order.h"
#include "model/layouts.h"
#include "read/dcp/dcp.h"
#include "read/dcp/folder.h"
#include "read/reader.h"

enum {
    MOST_CHUNKS = 1 << 14, /* of a tensor whose bytes are read: as many ranks have it; more would make reading slow */
    MOST_OPEN = 64,        /* files of ranks that are open at once */
    MOST_WASTED = 64 << 20 /* bytes of archives that are no pieces: many tensors may name the same one */
};

struct piece {
    const uint64_t *offsets, *sizes;
    uint64_t begin, end;  /* in the file: of the archive, later of the elements themselves */
    uint64_t first, last; /* elements of the tensor, counted along it */
    uint64_t reach;       /* one past `last` of all pieces up to this one */
    uint32_t file;        /* in pieces->files */
};

struct divided {
    struct piece *pieces;
    size_t count, latest; /* the piece that was read last: the next one is likely to follow it */
    bool found;           /* the pieces were looked for */
    const char *obstacle; /* static; or NULL */
};

struct rank_file {
    const char *name;
    struct sp_file file; /* fd -1: not open */
};

struct pieces {
    struct sp_data_source source; /* first */
    struct sp_arena arena;
    const struct shapeproof_inventory *inventory;
    const struct sp_folder *folder;
    struct divided *tensors; /* as many as the inventory has */
    struct rank_file *files;
    size_t file_count;
    uint32_t open[MOST_OPEN]; /* numbers of files that are open, a ring */
    size_t opened;            /* how many were opened so far */
    bool packed;              /* each piece is an archive of torch.save */
    uint64_t wasted;          /* bytes of archives that were read and are no pieces */
};

/* ---- files of ranks ---- */

/* The file, opened if it was not. The one that was opened first is closed if there are too many. */
static struct sp_file *open_rank_file(struct pieces *pieces, uint32_t number, struct shapeproof_error *error)
{
    struct rank_file *wanted = &pieces->files[number];
    if (wanted->file.fd >= 0) return &wanted->file;
    if (!sp_file_open(&wanted->file, pieces->folder->fd, wanted->name, error)) {
        wanted->file.fd = -1;
        sp_folder_blame(pieces->folder, wanted->name, error);
        return NULL;
    }
    uint32_t *slot = &pieces->open[pieces->opened % MOST_OPEN];
    if (pieces->opened++ >= MOST_OPEN) {
        sp_file_close(&pieces->files[*slot].file);
        pieces->files[*slot].file.fd = -1;
    }
    *slot = number;
    return &wanted->file;
}

/* ---- finding the elements of a piece ---- */

static bool is_whole_piece(const struct shapeproof_tensor *found, const struct shapeproof_tensor *tensor,
                           const struct piece *piece)
{
    return found->dtype == tensor->dtype && found->rank == tensor->rank && !found->piece &&
           !(found->flags & (SHAPEPROOF_TENSOR_NO_DATA | SHAPEPROOF_TENSOR_NO_SHAPE | SHAPEPROOF_TENSOR_BIG_ENDIAN)) &&
           (!found->rank || memcmp(found->shape, piece->sizes, found->rank * sizeof *found->shape) == 0);
}

/* Reads the headers of the archive that holds a piece, and finds the range of its elements. NULL, or why they cannot be
 * read. */
static const char *find_elements(struct pieces *pieces, const struct shapeproof_tensor *tensor, struct piece *piece)
{
    static const char *const unknown = "its pieces are not as torch.save writes them";
    struct shapeproof_error ignored = {0};
    const uint64_t length = piece->end - piece->begin;
    if (pieces->wasted > MOST_WASTED) return unknown;
    const struct sp_file *outer = open_rank_file(pieces, piece->file, &ignored);
    if (!outer || piece->end > outer->size) return "a file of its pieces cannot be read";
    struct sp_file file = *outer;
    file.base += piece->begin;
    file.size = length;
    file.nesting++;
    struct shapeproof_inventory *own = sp_inventory_new(file.path);
    struct sp_data_place place = {0};
    struct sp_data_places places = {.inventory = own, .items = &place};
    const uint32_t index = sp_inventory_add_file(own, file.path);
    const struct sp_reader *reader = sp_reader_for(&file, &ignored);
    bool ok = reader && reader->index(&file, index, own, &ignored) && sp_inventory_finish(own, &ignored) &&
              own->count == 1 && is_whole_piece(&own->tensors[0], tensor, piece) && sp_is_row_major(&own->tensors[0]);
    if (ok) place = (struct sp_data_place){.begin = own->tensors[0].data_begin, .end = own->tensors[0].data_end};
    ok = ok && (!reader->locate || reader->locate(&file, index, &places, &ignored));
    ok = ok && !place.source && place.end > place.begin && place.end - place.begin == own->tensors[0].bytes;
    for (size_t i = 0; i < places.sources.count; i++) places.sources.items[i]->close(places.sources.items[i]);
    free(places.sources.items);
    shapeproof_inventory_close(own);
    if (!ok) pieces->wasted += length;
    piece->end = piece->begin + place.end;
    piece->begin += place.begin;
    return ok ? NULL : unknown;
}

static const char *pieces_obstacle(struct sp_data_source *source, size_t tensor)
{
    struct pieces *pieces = (struct pieces *)source;
    struct divided *divided = &pieces->tensors[tensor];
    for (size_t i = 0; pieces->packed && !divided->found && !divided->obstacle && i < divided->count; i++)
        divided->obstacle = find_elements(pieces, &pieces->inventory->tensors[tensor], &divided->pieces[i]);
    divided->found = true;
    return divided->obstacle;
}

/* ---- reading ---- */

/* How many elements from this one on follow one another in the piece, which begin at *within there; 0 when the piece
 * does not have it. */
static uint64_t run_at(const struct shapeproof_tensor *tensor, const struct piece *piece, uint64_t element,
                       uint64_t *within)
{
    uint64_t run = 1, step = 1; /* elements of a run; elements of the piece in one index of this dimension */
    bool is_whole = true;       /* the piece is as long as the tensor in all dimensions behind this one */
    *within = 0;
    for (uint32_t d = tensor->rank; d-- > 0; element /= tensor->shape[d]) {
        const uint64_t at = element % tensor->shape[d];
        if (at < piece->offsets[d] || at - piece->offsets[d] >= piece->sizes[d]) return 0;
        const uint64_t own = at - piece->offsets[d];
        if (is_whole) run = step * piece->sizes[d] - (*within + own * step);
        is_whole = is_whole && piece->sizes[d] == tensor->shape[d];
        *within += own * step;
        step *= piece->sizes[d];
    }
    return run;
}

/* The first piece that can have the element. */
static size_t first_piece(const struct divided *divided, uint64_t element)
{
    size_t low = 0, high = divided->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (divided->pieces[middle].reach <= element) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The piece that has the element, and its run there. NULL when none has it, which complete pieces do not allow. */
static const struct piece *piece_at(const struct shapeproof_tensor *tensor, struct divided *divided, uint64_t element,
                                    uint64_t *run, uint64_t *within)
{
    for (size_t next = 0; next < 2 && divided->latest + next < divided->count; next++) {
        const struct piece *piece = &divided->pieces[divided->latest + next];
        *run = run_at(tensor, piece, element, within);
        if (*run) {
            divided->latest += next;
            return piece;
        }
    }
    for (size_t i = first_piece(divided, element); i < divided->count && divided->pieces[i].first <= element; i++)
        if ((*run = run_at(tensor, &divided->pieces[i], element, within))) {
            divided->latest = i;
            return &divided->pieces[i];
        }
    return NULL;
}

/* Reads the bytes of whole elements. */
static bool read_elements(struct pieces *pieces, size_t number, uint64_t first, unsigned char *into, uint64_t count,
                          struct shapeproof_error *error)
{
    const struct shapeproof_tensor *tensor = &pieces->inventory->tensors[number];
    const size_t size = shapeproof_dtype_bits(tensor->dtype) / 8;
    for (uint64_t done = 0, run, within; done < count; done += run) {
        const struct piece *piece = piece_at(tensor, &pieces->tensors[number], first + done, &run, &within);
        if (!piece) return sp_malformed(error, "no piece has element %zu", (size_t)(first + done));
        if (run > count - done) run = count - done;
        const struct sp_file *file = open_rank_file(pieces, piece->file, error);
        if (!file) return false;
        if (!sp_file_read(file, piece->begin + within * size, into + done * size, (size_t)run * size, error))
            return sp_folder_blame(pieces->folder, pieces->files[piece->file].name, error);
    }
    return true;
}

/* Bytes may begin or end within an element, which is read into a buffer of its own then. */
static bool read_pieces(struct sp_data_source *source, size_t tensor, uint64_t offset, void *into, size_t length,
                        struct shapeproof_error *error)
{
    enum { MOST_BYTES = 16 }; /* of an element */
    struct pieces *pieces = (struct pieces *)source;
    const size_t size = shapeproof_dtype_bits(pieces->inventory->tensors[tensor].dtype) / 8;
    unsigned char *to = into, element[MOST_BYTES];
    while (length) {
        const size_t skip = offset % size;
        const size_t part =
            skip || length < size ? (length < size - skip ? length : size - skip) : length - length % size;
        if (part >= size) {
            if (!read_elements(pieces, tensor, offset / size, to, part / size, error)) return false;
        } else {
            if (!read_elements(pieces, tensor, offset / size, element, 1, error)) return false;
            memcpy(to, element + skip, part);
        }
        offset += part;
        to += part;
        length -= part;
    }
    return true;
}

static void close_pieces(struct sp_data_source *source)
{
    struct pieces *pieces = (struct pieces *)source;
    for (size_t i = 0; i < pieces->file_count; i++)
        if (pieces->files[i].file.fd >= 0) sp_file_close(&pieces->files[i].file);
    sp_arena_free(&pieces->arena);
    free(pieces);
}

/* ---- the pieces of all tensors ---- */

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    return sp_order(a->first, b->first);
}

/* Counts elements along a tensor whose size is known not to overflow. */
static uint64_t element_at(const struct sp_dcp_tensor *tensor, const uint64_t *index)
{
    uint64_t element = 0;
    for (uint32_t d = 0; d < tensor->rank; d++) element = element * tensor->size[d] + index[d];
    return element;
}

static uint64_t *copy_sizes(struct sp_arena *arena, const uint64_t *sizes, uint32_t rank)
{
    uint64_t *copy = sp_arena_array(arena, rank, sizeof *copy);
    if (rank) memcpy(copy, sizes, rank * sizeof *copy);
    return copy;
}

/* Takes over the chunks of a tensor that have elements, sorted. */
static void add_pieces(struct pieces *pieces, const struct sp_dcp_tensor *tensor, struct divided *divided)
{
    uint64_t reach = 0;
    divided->pieces = sp_arena_array(&pieces->arena, tensor->chunk_count, sizeof *divided->pieces);
    for (size_t i = 0; i < tensor->chunk_count; i++) {
        const struct sp_dcp_chunk *chunk = &tensor->chunks[i];
        struct piece *piece = &divided->pieces[divided->count];
        if (!chunk->elements) continue;
        uint64_t *sizes = copy_sizes(&pieces->arena, chunk->sizes, tensor->rank);
        uint64_t *last = copy_sizes(&pieces->arena, chunk->offsets, tensor->rank);
        for (uint32_t d = 0; d < tensor->rank; d++) last[d] += sizes[d] - 1;
        *piece = (struct piece){.offsets = copy_sizes(&pieces->arena, chunk->offsets, tensor->rank),
                                .sizes = sizes,
                                .begin = chunk->begin,
                                .end = chunk->end,
                                .first = element_at(tensor, chunk->offsets),
                                .last = element_at(tensor, last),
                                .file = chunk->file};
        divided->count++;
    }
    qsort(divided->pieces, divided->count, sizeof *divided->pieces, compare_pieces);
    for (size_t i = 0; i < divided->count; i++) {
        if (divided->pieces[i].last >= reach) reach = divided->pieces[i].last + 1;
        divided->pieces[i].reach = reach;
    }
}

/* Why the pieces of a tensor cannot be put together; NULL when they can. */
static const char *why_apart(const struct sp_dcp_tensor *tensor, const struct shapeproof_tensor *listed)
{
    const unsigned bits = shapeproof_dtype_bits(tensor->dtype);
    if (!bits || bits % 8) return "in pieces of a dtype whose elements are not whole bytes";
    if (tensor->dtype != listed->dtype || tensor->rank != listed->rank ||
        (tensor->rank && memcmp(tensor->size, listed->shape, tensor->rank * sizeof *tensor->size) != 0))
        return "divided in another shape than its own";
    if (tensor->chunk_count > MOST_CHUNKS) return "in more than 16,384 pieces";
    if (tensor->lacking) return "the file holds no bytes for it";
    if (tensor->overlapping) return "its pieces overlap";
    for (size_t i = 0; i < tensor->chunk_count; i++) {
        if (tensor->chunks[i].elements && !tensor->chunks[i].placed) return "the places of its pieces are not known";
        if (tensor->chunks[i].transformed) return "its pieces are compressed";
    }
    return NULL;
}

void sp_dcp_list_pieces(const struct sp_dcp *dcp, const struct sp_folder *folder, bool packed,
                        struct sp_data_places *places)
{
    const struct shapeproof_inventory *inventory = places->inventory;
    struct pieces *pieces = sp_realloc(NULL, 1, sizeof *pieces);
    *pieces = (struct pieces){.source = {pieces_obstacle, read_pieces, close_pieces},
                              .inventory = inventory,
                              .folder = folder,
                              .file_count = dcp->files.count,
                              .packed = packed};
    pieces->tensors = sp_arena_array(&pieces->arena, inventory->count, sizeof *pieces->tensors);
    pieces->files = sp_arena_array(&pieces->arena, dcp->files.count, sizeof *pieces->files);
    for (size_t i = 0; i < dcp->files.count; i++)
        pieces->files[i] = (struct rank_file){sp_arena_string(&pieces->arena, dcp->files.items[i].name), {.fd = -1}};
    for (size_t i = 0; i < dcp->tensors.count; i++) {
        const struct sp_dcp_tensor *tensor = &dcp->tensors.items[i];
        const size_t number = shapeproof_inventory_find(inventory, tensor->name);
        if (number == SHAPEPROOF_NONE) continue;
        struct divided *divided = &pieces->tensors[number];
        places->items[number] = (struct sp_data_place){.source = &pieces->source};
        divided->obstacle = why_apart(tensor, &inventory->tensors[number]);
        if (!divided->obstacle) add_pieces(pieces, tensor, divided);
    }
    *SP_PUSH(&places->sources) = &pieces->source;
}
