/* SPDX-License-Identifier: MIT
 * A range of a tensor is read run by run: a run is what follows one another both in the tensor and in a piece.
 *
 * Pieces are sorted by their first element, counted along the tensor. `reach` of a piece is one past the last element
 * of those up to it, so that the first piece that can have an element is found by a binary search. */
#include "read/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/call.h"
#include "base/order.h"
#include "model/layouts.h"

enum {
    MOST_OPEN = 64,         /* files that are open at once */
    MOST_WASTED = 64 << 20, /* bytes of archives that are no pieces: many tensors may name the same one */
    MOST_AROUND = 64 << 10  /* bytes around the data in the archive of a piece; torch.save writes 1 to 2 KiB */
};

struct piece {
    struct sp_tensor_piece box; /* its range of bytes is that of the archive, later of the elements */
    uint64_t first, last;       /* elements of the tensor, counted along it */
    uint64_t reach;             /* one past `last` of all pieces up to this one */
};

struct divided {
    struct piece *pieces;
    size_t count, latest; /* the piece that was read last: the next one is likely to follow it */
    bool found;           /* the pieces were looked for */
    const char *obstacle; /* static; or NULL */
};

struct piece_file {
    const char *name;
    struct sp_file file; /* fd -1: not open */
};

struct sp_pieces {
    struct sp_data_source source; /* first */
    struct sp_arena arena;
    const struct shapeproof_inventory *inventory;
    const struct sp_folder *folder;
    struct divided *tensors;      /* as many as the inventory has */
    struct sp_data_place *places; /* of these */
    SP_ARRAY(struct piece_file) files;
    uint32_t open[MOST_OPEN]; /* numbers of files that are open, a ring */
    size_t opened;            /* how many were opened so far */
    bool packed;              /* each piece is an archive of torch.save */
    uint64_t wasted;          /* bytes of archives that were read and are no pieces */
};

/* ---- files ---- */

/* The file, opened if it was not. The one that was opened first is closed if there are too many. */
static struct sp_file *open_piece_file(struct sp_pieces *pieces, uint32_t number, struct shapeproof_error *error)
{
    struct piece_file *wanted = &pieces->files.items[number];
    if (wanted->file.fd >= 0) return &wanted->file;
    if (!sp_file_open(&wanted->file, pieces->folder->fd, wanted->name, error)) {
        wanted->file.fd = -1;
        sp_folder_blame(pieces->folder, wanted->name, error);
        return NULL;
    }
    uint32_t *slot = &pieces->open[pieces->opened % MOST_OPEN];
    if (pieces->opened++ >= MOST_OPEN) {
        sp_file_close(&pieces->files.items[*slot].file);
        pieces->files.items[*slot].file.fd = -1;
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
           (!found->rank || memcmp(found->shape, piece->box.sizes, found->rank * sizeof *found->shape) == 0);
}

/* Reads the headers of the archive that holds a piece, and finds the range of its elements. NULL, or why they cannot be
 * read. */
static const char *find_elements(struct sp_pieces *pieces, const struct shapeproof_tensor *tensor, struct piece *piece)
{
    static const char *const unknown = "its pieces are not as torch.save writes them";
    struct shapeproof_error ignored = {0};
    const uint64_t length = piece->box.end - piece->box.begin;
    if (pieces->wasted > MOST_WASTED) return unknown;
    const struct sp_file *outer = open_piece_file(pieces, piece->box.file, &ignored);
    if (!outer || piece->box.end > outer->size) return "a file of its pieces cannot be read";
    struct sp_file file = *outer;
    file.base += piece->box.begin;
    file.size = length;
    file.nesting++;
    struct shapeproof_inventory *own = sp_inventory_new(file.path);
    struct sp_data_place place = {0};
    struct sp_data_places places = {.inventory = own, .items = &place};
    const uint32_t index = sp_inventory_add_file(own, file.path);
    sp_inventory_set_size(own, file.size);
    const struct sp_reader *reader = sp_reader_for(&file, &ignored);
    bool ok = reader && reader->index(&file, index, own, &ignored) && sp_inventory_finish(own, &ignored) &&
              own->count == 1 && is_whole_piece(&own->tensors[0], tensor, piece) && sp_is_row_major(&own->tensors[0]);
    if (ok) place = (struct sp_data_place){.begin = own->tensors[0].data_begin, .end = own->tensors[0].data_end};
    ok = ok && (!reader->locate || reader->locate(&file, index, &places, &ignored));
    ok = ok && !place.source && place.end > place.begin && place.end - place.begin == own->tensors[0].bytes;
    for (size_t i = 0; i < places.sources.count; i++) places.sources.items[i]->close(places.sources.items[i]);
    sp_free(places.sources.items);
    shapeproof_inventory_close(own);
    const uint64_t around = ok ? length - (place.end - place.begin) : length;
    if (around > MOST_AROUND) pieces->wasted += around;
    piece->box.end = piece->box.begin + place.end;
    piece->box.begin += place.begin;
    return ok ? NULL : unknown;
}

static const char *pieces_obstacle(struct sp_data_source *source, size_t tensor)
{
    struct sp_pieces *pieces = (struct sp_pieces *)source;
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
        if (at < piece->box.offsets[d] || at - piece->box.offsets[d] >= piece->box.sizes[d]) return 0;
        const uint64_t own = at - piece->box.offsets[d];
        if (is_whole) run = step * piece->box.sizes[d] - (*within + own * step);
        is_whole = is_whole && piece->box.sizes[d] == tensor->shape[d];
        *within += own * step;
        step *= piece->box.sizes[d];
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
static bool read_elements(struct sp_pieces *pieces, size_t number, uint64_t first, unsigned char *into, uint64_t count,
                          struct shapeproof_error *error)
{
    const struct shapeproof_tensor *tensor = &pieces->inventory->tensors[number];
    const size_t size = shapeproof_dtype_bits(tensor->dtype) / 8;
    for (uint64_t done = 0, run, within; done < count; done += run) {
        const struct piece *piece = piece_at(tensor, &pieces->tensors[number], first + done, &run, &within);
        if (!piece) return sp_malformed(error, "no piece has element %zu", (size_t)(first + done));
        if (run > count - done) run = count - done;
        const struct sp_file *file = open_piece_file(pieces, piece->box.file, error);
        if (!file) return false;
        if (!sp_file_read(file, piece->box.begin + within * size, into + done * size, (size_t)run * size, error))
            return sp_folder_blame(pieces->folder, pieces->files.items[piece->box.file].name, error);
    }
    return true;
}

/* Bytes may begin or end within an element, which is read into a buffer of its own then. */
static bool read_pieces(struct sp_data_source *source, size_t tensor, uint64_t offset, void *into, size_t length,
                        struct shapeproof_error *error)
{
    enum { MOST_BYTES = 16 }; /* of an element */
    struct sp_pieces *pieces = (struct sp_pieces *)source;
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

static void keep_pieces(struct sp_data_source *source, size_t tensor)
{
    struct sp_pieces *pieces = (struct sp_pieces *)source;
    sp_keep(pieces, pieces, sizeof *pieces);
    sp_keep(pieces, pieces->files.items, pieces->files.count * sizeof *pieces->files.items);
    struct divided *divided = &pieces->tensors[tensor];
    sp_keep(pieces, divided, sizeof *divided);
    sp_keep(pieces, divided->pieces, divided->count * sizeof *divided->pieces);
}

static void close_pieces(struct sp_data_source *source)
{
    struct sp_pieces *pieces = (struct sp_pieces *)source;
    for (size_t i = 0; i < pieces->files.count; i++)
        if (pieces->files.items[i].file.fd >= 0) sp_file_close(&pieces->files.items[i].file);
    sp_free(pieces->files.items);
    sp_arena_free(&pieces->arena);
    sp_free(pieces);
}

/* ---- making them ---- */

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    return sp_order(a->first, b->first);
}

/* Counts elements along a tensor whose size is known not to overflow. */
static uint64_t element_at(const struct shapeproof_tensor *tensor, const uint64_t *index)
{
    uint64_t element = 0;
    for (uint32_t d = 0; d < tensor->rank; d++) element = element * tensor->shape[d] + index[d];
    return element;
}

static uint64_t *copy_sizes(struct sp_arena *arena, const uint64_t *sizes, uint32_t rank)
{
    uint64_t *copy = sp_arena_array(arena, rank, sizeof *copy);
    if (rank) memcpy(copy, sizes, rank * sizeof *copy);
    return copy;
}

struct sp_pieces *sp_pieces_new(struct sp_data_places *places, const struct sp_folder *folder, bool packed)
{
    struct sp_pieces *pieces = sp_realloc(NULL, 1, sizeof *pieces);
    *pieces = (struct sp_pieces){.source = {pieces_obstacle, read_pieces, close_pieces, keep_pieces, NULL},
                                 .inventory = places->inventory,
                                 .folder = folder,
                                 .packed = packed};
    pieces->tensors = sp_arena_array(&pieces->arena, places->inventory->count, sizeof *pieces->tensors);
    pieces->places = places->items;
    *SP_PUSH(&places->sources) = &pieces->source;
    return pieces;
}

void sp_pieces_add_file(struct sp_pieces *pieces, const char *name)
{
    *SP_PUSH(&pieces->files) = (struct piece_file){sp_arena_string(&pieces->arena, name), {.fd = -1}};
}

void sp_pieces_refuse(struct sp_pieces *pieces, size_t tensor, const char *obstacle)
{
    pieces->places[tensor] = (struct sp_data_place){.source = &pieces->source};
    pieces->tensors[tensor].obstacle = obstacle;
}

void sp_pieces_set(struct sp_pieces *pieces, size_t number, const struct sp_tensor_piece *boxes, size_t count)
{
    const struct shapeproof_tensor *tensor = &pieces->inventory->tensors[number];
    struct divided *divided = &pieces->tensors[number];
    struct sp_arena *arena = &pieces->arena;
    uint64_t reach = 0;
    pieces->places[number] = (struct sp_data_place){.source = &pieces->source};
    divided->count = count;
    divided->pieces = sp_arena_array(arena, count, sizeof *divided->pieces);
    for (size_t i = 0; i < count; i++) {
        struct piece *piece = &divided->pieces[i];
        uint64_t *last = copy_sizes(arena, boxes[i].offsets, tensor->rank);
        for (uint32_t d = 0; d < tensor->rank; d++) last[d] += boxes[i].sizes[d] - 1;
        *piece = (struct piece){
            .box = boxes[i], .first = element_at(tensor, boxes[i].offsets), .last = element_at(tensor, last)};
        piece->box.offsets = copy_sizes(arena, boxes[i].offsets, tensor->rank);
        piece->box.sizes = copy_sizes(arena, boxes[i].sizes, tensor->rank);
    }
    qsort(divided->pieces, count, sizeof *divided->pieces, compare_pieces);
    for (size_t i = 0; i < count; i++) {
        if (divided->pieces[i].last >= reach) reach = divided->pieces[i].last + 1;
        divided->pieces[i].reach = reach;
    }
}
