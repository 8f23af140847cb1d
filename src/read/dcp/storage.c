/* SPDX-License-Identifier: MIT
 * Where chunks lie: storage_data maps MetadataIndex(fqn, offset, index) to _StorageInfo(relative_path, offset, length),
 * `index` being a hint at the number of the chunk. Of a file the size must be right, and the first bytes of a few
 * chunks.
 *
 * Names of files are a stranger's text: only a plain file name is followed, within the folder of the pickle. */
#define _GNU_SOURCE /* fstatat */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/fault.h"
#include "base/names.h"
#include "read/dcp/dcp.h"
#include "read/index.h"

enum { MAX_FILES = 200 * 1000, MAX_FILE_NAME = 255 };

static const uint64_t NOT_THERE = UINT64_MAX;

/* ---- files by their names ---- */

static bool copy_file_name(const struct sp_pickle_value *value, char name[MAX_FILE_NAME + 1])
{
    if (!sp_pickle_is(value, SP_PICKLE_STR) || !value->length || value->length > MAX_FILE_NAME ||
        memchr(value->as.text, 0, value->length))
        return false;
    memcpy(name, value->as.text, value->length);
    name[value->length] = '\0';
    return true;
}

/* The number of the file that the text names. It is added on first sight, and the text keeps the number as its tag.
 * False with an error for a name that is not a plain file name. */
static bool find_file(struct sp_dcp *dcp, struct sp_pickle_value *value, size_t *number)
{
    char name[MAX_FILE_NAME + 1];
    if (value && value->type == SP_PICKLE_STR && value->tag & SP_DCP_FILE_TAG) {
        *number = value->tag - SP_DCP_FILE_TAG;
        return true;
    }
    if (!copy_file_name(value, name))
        return sp_malformed(dcp->error, "storage_data: a file name that is not a short string");
    *number = sp_map_get(&dcp->file_names, name);
    if (*number == SIZE_MAX) {
        if (!sp_is_plain_name(name))
            return sp_fail(dcp->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                           "unsafe file name %s: not a plain file name", sp_quote(name).text);
        if (dcp->files.count == MAX_FILES)
            return sp_fail(dcp->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d files", MAX_FILES);
        *number = dcp->files.count;
        struct sp_dcp_file file = {.name = sp_arena_string(&dcp->arena, name), .size = NOT_THERE};
        *SP_PUSH(&dcp->files) = file;
        sp_map_add(&dcp->file_names, file.name, *number);
    }
    value->tag = SP_DCP_FILE_TAG + (uint32_t)*number;
    return true;
}

/* ---- the chunk that an entry is about ---- */

static bool has_offsets(const struct sp_dcp_chunk *chunk, const uint64_t *offsets, uint32_t rank)
{
    return !rank || memcmp(chunk->offsets, offsets, rank * sizeof *offsets) == 0;
}

/* By the hint, or else by a search. NULL when the tensor has no such chunk. */
static struct sp_dcp_chunk *find_chunk(struct sp_dcp *dcp, struct sp_dcp_tensor *tensor,
                                       const struct sp_pickle_value *hint, const uint64_t *offsets, uint32_t rank)
{
    if (rank != tensor->rank) return NULL;
    if (sp_pickle_is(hint, SP_PICKLE_INT) && hint->as.integer >= 0 &&
        (uint64_t)hint->as.integer < tensor->chunk_count && tensor->chunks[hint->as.integer].source == dcp->sources &&
        has_offsets(&tensor->chunks[hint->as.integer], offsets, rank))
        return &tensor->chunks[hint->as.integer];
    struct sp_dcp_chunk *found = sp_dcp_chunk_at(dcp, tensor, offsets, 0);
    while (found && found->source != dcp->sources)
        found = sp_dcp_chunk_at(dcp, tensor, offsets, (size_t)(found - tensor->chunks) + 1);
    return found;
}

/* ---- one entry ---- */

struct place {
    size_t file;
    uint64_t offset, length;
    bool transformed; /* compressed: fewer bytes than the elements need are no mistake */
};

static bool is_byte_count(const struct sp_pickle_value *value)
{
    return sp_pickle_is(value, SP_PICKLE_INT) && value->as.integer >= 0;
}

static bool read_place(struct sp_dcp *dcp, const struct sp_pickle_value *info, struct place *place)
{
    const struct sp_pickle_value *offset = sp_dcp_attribute(info, "offset"), *length = sp_dcp_attribute(info, "length");
    if (!find_file(dcp, sp_dcp_attribute(info, "relative_path"), &place->file)) return false;
    if (!is_byte_count(offset) || !is_byte_count(length))
        return sp_malformed(dcp->error, "storage_data: an offset or a length that is no non-negative integer");
    place->offset = (uint64_t)offset->as.integer;
    place->length = (uint64_t)length->as.integer;
    const struct sp_pickle_value *transforms = sp_dcp_attribute(info, "transform_descriptors");
    place->transformed = transforms && !sp_pickle_is(transforms, SP_PICKLE_NONE);
    struct sp_dcp_file *file = &dcp->files.items[place->file];
    const uint64_t end = place->offset + place->length; /* both below 2^63 */
    if (end > file->end) file->end = end;
    if (!place->offset && !place->transformed) file->front = end;
    file->chunks++;
    return true;
}

static bool place_chunk(struct sp_dcp *dcp, struct sp_dcp_tensor *tensor, const struct sp_pickle_value *index,
                        const struct place *place)
{
    static const uint64_t origin[SP_MAX_RANK];
    const struct sp_pickle_value *at = sp_dcp_attribute(index, "offset");
    const uint64_t *offsets = origin;
    uint32_t rank = tensor->rank;
    uint64_t bytes;
    if (at && at->type != SP_PICKLE_NONE && !sp_dcp_sizes(dcp, at, "an offset in storage_data", &offsets, &rank))
        return false;
    struct sp_dcp_chunk *chunk = find_chunk(dcp, tensor, sp_dcp_attribute(index, "index"), offsets, rank);
    if (!chunk) return true;
    chunk->placed = true;
    chunk->file = (uint32_t)place->file;
    chunk->begin = place->offset;
    chunk->end = place->offset + place->length;
    chunk->transformed = place->transformed;
    const unsigned bits = shapeproof_dtype_bits(tensor->dtype);
    chunk->cramped = !place->transformed && sp_mul_u64(chunk->elements, bits / 8, &bytes) && place->length < bytes;
    return true;
}

/* Notes where an object lies, if the entry is about one. */
static void place_object(struct sp_dcp *dcp, const struct sp_pickle_value *key, const struct place *place)
{
    const char *name = sp_dcp_object_name(dcp, key);
    if (name)
        *SP_PUSH(&dcp->placed) = (struct sp_dcp_object){.name = name,
                                                        .file = (uint32_t)place->file,
                                                        .begin = place->offset,
                                                        .length = place->length,
                                                        .transformed = place->transformed};
}

bool sp_dcp_places(struct sp_dcp *dcp, const struct sp_pickle_value *places)
{
    struct place place;
    if (sp_pickle_is(places, SP_PICKLE_OBJECT)) places = places->as.object->pairs; /* a subclass of dict */
    if (!sp_pickle_is(places, SP_PICKLE_DICT)) return true; /* of another planner: what it has is its own affair */
    dcp->has_places = true;
    for (uint32_t i = 0; i + 1 < places->length; i += 2) {
        const struct sp_pickle_value *index = places->as.items[i];
        if (!read_place(dcp, places->as.items[i + 1], &place)) return false;
        const size_t number = sp_dcp_find(dcp, sp_dcp_attribute(index, "fqn"));
        if (dcp->object_names.count) place_object(dcp, sp_dcp_attribute(index, "fqn"), &place);
        if (number != SHAPEPROOF_NONE && !place_chunk(dcp, &dcp->tensors.items[number], index, &place)) return false;
        if (dcp->arena.used > SP_PICKLE_MAX_MEMORY)
            return sp_fail(dcp->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "storage_data needs more than %d bytes", SP_PICKLE_MAX_MEMORY);
    }
    return true;
}

/* ---- whether the files are what they must be ---- */

static void look_for_files(struct sp_dcp *dcp, struct sp_names *absent, struct sp_names *cut)
{
    struct stat status;
    for (size_t i = 0; i < dcp->files.count; i++) {
        struct sp_dcp_file *file = &dcp->files.items[i];
        if (sp_path_stat(dcp->folder->fd, file->name, &status) && S_ISREG(status.st_mode))
            file->size = (uint64_t)status.st_size;
        if (file->size == NOT_THERE) sp_names_add(absent, file->name);
        else if (file->size < file->end) sp_names_add(cut, file->name);
    }
}

/* torch.save writes each chunk as a zip archive. How many beginnings are looked at in a file, and in all files: a file
 * of another save has other lengths, so that a few suffice, and a file system of a cluster takes a millisecond each. */
enum { SIGNATURE = 4, MAX_LOOKS_IN_FILE = 16, MAX_LOOKS = 2000 };

static bool begins_archive(struct sp_file *file, uint64_t offset)
{
    struct shapeproof_error ignored = {0};
    char bytes[SIGNATURE];
    return sp_file_read(file, offset, bytes, sizeof bytes, &ignored) && memcmp(bytes, "PK\3\4", sizeof bytes) == 0;
}

/* Compares the front of a file with the place where a chunk behind it begins. An archive at the front alone: the chunk
 * begins elsewhere, the file is of another save. One at the chunk alone, and a chunk begins at the front too: the front
 * was overwritten. Neither: the file was written in another form, and nothing is known of its chunks. */
static void look_at_chunk(const struct sp_dcp *dcp, const struct sp_dcp_chunk *chunk, struct sp_dcp_file *file)
{
    struct sp_file opened;
    struct shapeproof_error ignored = {0};
    if (!sp_folder_open_file(dcp->folder, file->name, &opened, &ignored)) return;
    const bool at_front = begins_archive(&opened, 0), at_chunk = begins_archive(&opened, chunk->begin);
    sp_file_close(&opened);
    file->foreign = at_front && !at_chunk;
    file->overwritten = !at_front && at_chunk && file->front;
}

/* Notes the names of files in which chunks do not begin where the metadata say: those of another save. Marks those that
 * were overwritten at the front. */
static void look_at_chunks(struct sp_dcp *dcp, struct sp_names *foreign)
{
    unsigned looks = 0;
    for (size_t i = 0; i < dcp->tensors.count; i++) {
        for (size_t k = 0; k < dcp->tensors.items[i].chunk_count && looks < MAX_LOOKS; k++) {
            const struct sp_dcp_chunk *chunk = &dcp->tensors.items[i].chunks[k];
            struct sp_dcp_file *file = chunk->placed ? &dcp->files.items[chunk->file] : NULL;
            if (!file || !chunk->begin || file->size == NOT_THERE || file->size < chunk->end) continue;
            if (!sp_ends_with(file->name, ".distcp") || file->foreign || file->overwritten ||
                file->looked == MAX_LOOKS_IN_FILE)
                continue;
            looks++;
            file->looked++;
            look_at_chunk(dcp, chunk, file);
            if (file->foreign) sp_names_add(foreign, file->name);
        }
    }
}

/* How many bytes must be zero at the front of a file, or all of a shorter one. An archive, a compressed chunk, and a
 * file of safetensors all begin otherwise. */
enum { FRONT = 64 };

static bool begins_with_zeros(const struct sp_dcp *dcp, const struct sp_dcp_file *file)
{
    static const char zeros[FRONT];
    char front[FRONT];
    const size_t length = file->size < FRONT ? (size_t)file->size : FRONT;
    struct sp_file opened;
    struct shapeproof_error ignored = {0};
    if (!sp_folder_open_file(dcp->folder, file->name, &opened, &ignored)) return false;
    const bool are_zeros = sp_file_read(&opened, 0, front, length, &ignored) && memcmp(front, zeros, length) == 0;
    sp_file_close(&opened);
    return are_zeros;
}

/* Whether the first archive of the file is broken, as if a smaller file had been written over it. What is no archive
 * is not known to be broken. */
static bool begins_with_broken_archive(const struct sp_dcp *dcp, const struct sp_dcp_file *file)
{
    struct sp_file opened;
    struct shapeproof_error why = {0};
    if (!file->front || file->front > file->size) return false;
    if (!sp_folder_open_file(dcp->folder, file->name, &opened, &why)) return false;
    bool is_broken = false;
    if (begins_archive(&opened, 0)) {
        struct sp_file front = opened;
        front.size = file->front;
        front.nesting++;
        struct shapeproof_inventory *own = sp_inventory_new(front.path);
        const uint32_t index = sp_inventory_add_file(own, front.path);
        sp_inventory_set_size(own, front.size);
        const struct sp_reader *reader = sp_reader_for(&front, &why);
        is_broken = (!reader || !reader->index(&front, index, own, &why)) && why.kind == SHAPEPROOF_KIND_MALFORMED;
        shapeproof_inventory_close(own);
    }
    sp_file_close(&opened);
    return is_broken;
}

/* Notes the names of files that have data and do not begin as they were written, among the first MAX_LOOKS files. */
static void look_at_fronts(struct sp_dcp *dcp, struct sp_names *overwritten)
{
    for (size_t i = 0; i < dcp->files.count && i < MAX_LOOKS; i++) {
        struct sp_dcp_file *file = &dcp->files.items[i];
        if (file->size == NOT_THERE || !file->size || !file->end || !sp_ends_with(file->name, ".distcp")) continue;
        if (file->foreign) continue;
        file->overwritten = file->overwritten || begins_with_zeros(dcp, file) || begins_with_broken_archive(dcp, file);
        if (file->overwritten) sp_names_add(overwritten, file->name);
    }
}

/* Whether the data of a chunk are not all there. When the search for chunks was cut short at its limit, one without a
 * file may still have one, and does not count. */
static bool lacks_data(const struct sp_dcp *dcp, const struct sp_dcp_chunk *chunk)
{
    if (!chunk->elements) return false;
    if (!chunk->placed) return dcp->has_places && dcp->steps < SP_DCP_MAX_SEARCH;
    if (chunk->cramped) return true;
    const struct sp_dcp_file *file = &dcp->files.items[chunk->file];
    return dcp->folder && (file->size == NOT_THERE || file->size < chunk->end || file->foreign || file->overwritten);
}

/* Marks the tensors whose data are not complete and returns how many there are. Also collects the names of those with a
 * chunk that no file was named for (unplaced), or that has fewer bytes than its elements need (cramped). */
static size_t mark_tensors(struct sp_dcp *dcp, struct sp_names *unplaced, struct sp_names *cramped)
{
    size_t lacking = 0;
    for (size_t i = 0; i < dcp->tensors.count; i++) {
        struct sp_dcp_tensor *tensor = &dcp->tensors.items[i];
        bool nowhere = false, tight = false;
        tensor->lacking = tensor->gaps;
        for (size_t k = 0; k < tensor->chunk_count; k++) {
            const struct sp_dcp_chunk *chunk = &tensor->chunks[k];
            if (!lacks_data(dcp, chunk)) continue;
            tensor->lacking = true;
            nowhere = nowhere || !chunk->placed;
            tight = tight || chunk->cramped;
        }
        if (nowhere) sp_names_add(unplaced, tensor->name);
        if (tight) sp_names_add(cramped, tensor->name);
        lacking += tensor->lacking;
    }
    return lacking;
}

static void warn_of_files(struct shapeproof_inventory *inventory, const char *what, struct sp_names *names)
{
    if (names->count) sp_inventory_warn(inventory, "%s (%zu): %s", what, names->count, sp_names_text(names));
    sp_names_free(names);
}

/* For whoever checks the whole: what is the matter, in one line. */
static void note_lack(struct sp_dcp *dcp, size_t lacking, const struct sp_names *absent, const struct sp_names *cut,
                      const struct sp_names *foreign, const struct sp_names *overwritten, bool misplaced)
{
    struct shapeproof_inventory *inventory = dcp->inventory;
    struct sp_arena *arena = &inventory->arena;
    const size_t files = dcp->files.count;
    if (!lacking) return;
    inventory->lacking = lacking;
    if (absent->count)
        inventory->lack =
            sp_arena_printf(arena, "files that it names are not there (%zu of %zu)", absent->count, files);
    else if (cut->count)
        inventory->lack = sp_arena_printf(arena, "files are shorter than it says (%zu of %zu)", cut->count, files);
    else if (foreign->count)
        inventory->lack = sp_arena_printf(arena, "files are of another save (%zu of %zu)", foreign->count, files);
    else if (overwritten->count)
        inventory->lack =
            sp_arena_printf(arena, "files were overwritten at the front (%zu of %zu)", overwritten->count, files);
    else if (misplaced) inventory->lack = "its list of places does not fit its list of chunks";
    else inventory->lack = "there are tensors that its chunks do not cover";
}

void sp_dcp_check_files(struct sp_dcp *dcp)
{
    struct sp_names absent = {0}, cut = {0}, foreign = {0}, overwritten = {0}, unplaced = {0}, cramped = {0};
    if (dcp->folder) look_for_files(dcp, &absent, &cut);
    if (dcp->folder && !dcp->folder->far) {
        look_at_chunks(dcp, &foreign);
        look_at_fronts(dcp, &overwritten);
    }
    const size_t lacking = mark_tensors(dcp, &unplaced, &cramped);
    note_lack(dcp, lacking, &absent, &cut, &foreign, &overwritten, unplaced.count || cramped.count);
    warn_of_files(dcp->inventory, "files of its data are not there", &absent);
    warn_of_files(dcp->inventory, "files of its data are shorter than it says", &cut);
    warn_of_files(dcp->inventory,
                  "files in which tensors begin elsewhere than it says, so that they are of another save", &foreign);
    warn_of_files(dcp->inventory,
                  "files of its data that begin with zeros, a broken archive or none: something has overwritten them",
                  &overwritten);
    warn_of_files(dcp->inventory, "tensors with a chunk for which the metadata name no file", &unplaced);
    warn_of_files(dcp->inventory, "tensors with a chunk in fewer bytes than it needs", &cramped);
}
