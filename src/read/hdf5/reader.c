/* SPDX-License-Identifier: MIT
 * HDF5, the container of Keras 1 and 2 (.h5, .hdf5) and of the weights of Keras 3 (.weights.h5).
 *
 * Read through libhdf5, which is known to crash on crafted files and is therefore only ever called in a child process
 * that can do nothing but read this one file (sandbox.h). What is read: groups, datasets' types and shapes, the
 * attributes of Keras, and data when they are asked for (data.h); a file is never searched for others (external links,
 * external data, virtual datasets). Not read: what needs a filter of a plug-in, files that their writer has not closed,
 * families of files. */
#include "read/reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/cursor.h"
#include "read/hdf5/data.h"
#include "read/hdf5/index.h"

enum { SUPERBLOCK_FLAGS_AT = 11, OPEN_FOR_WRITING = 1, OPEN_FOR_SWMR = 4 };

static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* Offset of the HDF5 signature in the file: 0, 512, 1024, 2048, ...; UINT64_MAX when there is none. */
static uint64_t h5_signature(const struct sp_file *file)
{
    unsigned char found[sizeof signature];
    struct shapeproof_error ignored = {0};
    for (uint64_t at = 0; at + sizeof signature <= file->size; at = at ? at * 2 : 512) {
        if (at > INT64_MAX / 2 || !sp_file_read(file, at, found, sizeof found, &ignored)) break;
        if (!memcmp(found, signature, sizeof found)) return at;
    }
    return UINT64_MAX;
}

/* A signature behind a user block may be there by chance, or because a zip archive happens to store an HDF5 file at
 * byte 512: it counts for less than any magic number at the beginning. */
static unsigned probe_hdf5(const struct sp_probe *probe)
{
    if (probe->head_length >= sizeof signature && !memcmp(probe->head, signature, sizeof signature))
        return 8 * sizeof signature;
    if (!probe->deep) return 0; /* behind a user block of any size: in other files there is tensor data */
    return h5_signature(probe->file) == UINT64_MAX ? 0 : sizeof signature;
}

/* The mark that version 3 superblocks carry while they are written; libhdf5 refuses it in other words. */
static bool check_closed(const struct sp_file *file, uint64_t at, struct shapeproof_error *error)
{
    unsigned char head[SUPERBLOCK_FLAGS_AT + 1];
    if (at + sizeof head > file->size)
        return sp_malformed(error, "the file ends within the HDF5 superblock at byte %zu", (size_t)at);
    if (!sp_file_read(file, at, head, sizeof head, error)) return false;
    if (head[8] < 3 || !(head[SUPERBLOCK_FLAGS_AT] & (OPEN_FOR_WRITING | OPEN_FOR_SWMR))) return true;
    sp_malformed(error, "still marked open for writing by its writer, which did not close it (superblock byte %d)",
                 SUPERBLOCK_FLAGS_AT);
    sp_hint(error, "run 'h5clear -s' on a copy to remove the mark");
    return false;
}

/* Warns of a superblock that libhdf5 1.10 accepts and HDF5 2.0 refuses. Before version 2, the superblock has flags of
 * 32 bits, of which the upper 24 are 0. It also contains the address where the HDF5 file begins. If that address is
 * wrong, HDF5 moves the end of the file by the difference. It may be 0 behind a user block that was added later. */
static bool warn_of_superblock(const struct sp_file *file, uint64_t at, struct shapeproof_inventory *inventory,
                               struct shapeproof_error *error)
{
    enum { VERSION_AT = 8, FLAGS_AT = 20, BASE_BYTES = 8, LONGEST = 36 };
    static const size_t base_at[] = {24, 28, 12, 12};       /* by version */
    static const size_t address_size_at[] = {13, 13, 9, 9}; /* by version */
    unsigned char head[LONGEST];
    if (at + sizeof head > file->size) return true; /* libhdf5 says so */
    if (!sp_file_read(file, at, head, sizeof head, error)) return false;
    const unsigned version = head[VERSION_AT];
    if (version < 2 && (head[FLAGS_AT + 1] || head[FLAGS_AT + 2] || head[FLAGS_AT + 3]))
        sp_inventory_warn(inventory, "HDF5 2.0 refuses it: bits above the 8 flags of the superblock are set");
    if (version > 3 || head[address_size_at[version]] != BASE_BYTES) return true;
    struct sp_cursor in = sp_cursor_of(head + base_at[version], BASE_BYTES);
    const uint64_t base = sp_cursor_le(&in, BASE_BYTES);
    if (base && base != at)
        sp_inventory_warn(inventory, "HDF5 begins at byte %" PRIu64 ", and at byte %" PRIu64 " by its superblock", at,
                          base);
    return true;
}

static struct sp_h5_source source_in(const struct sp_file *file)
{
    return (struct sp_h5_source){.fd = file->fd, .base = file->base, .origin = file->base, .size = file->size};
}

static bool index_hdf5(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error)
{
    const uint64_t at = h5_signature(file);
    if (at == UINT64_MAX) return sp_malformed(error, "no HDF5 signature");
    if (!check_closed(file, at, error) || !warn_of_superblock(file, at, inventory, error)) return false;
    if (at) sp_inventory_warn(inventory, "HDF5 begins at byte %zu: the user block before it is not read", (size_t)at);
    if (!sp_file_need(file, 0, file->size, error)) return false; /* the child has the descriptor alone */
    struct sp_h5_source source = source_in(file);
    return sp_h5_index(&source, file_index, inventory, error);
}

/* What lies in one piece has its place already. */
static bool locate_hdf5_tensor(const struct sp_file *file, uint32_t file_index, struct sp_data_places *places,
                               struct shapeproof_error *error)
{
    const struct sp_h5_source source = source_in(file);
    (void)error;
    sp_h5_locate(&source, file_index, places);
    return true;
}

static const struct sp_file_ending endings[] = {
    {".h5", SP_IN_DIRECTORIES | SP_IN_ARCHIVES}, {".hdf5", SP_IN_DIRECTORIES | SP_IN_ARCHIVES}, {NULL, 0}};

const struct sp_reader sp_reader_hdf5 = {
    .name = "hdf5", .endings = endings, .probe = probe_hdf5, .index = index_hdf5, .locate = locate_hdf5_tensor};
