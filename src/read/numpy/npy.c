/* SPDX-License-Identifier: MIT
 * A file of one array, as numpy.save writes it (header.h). The tensor has no name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "read/numpy/header.h"
#include "read/reader.h"

static const struct sp_format npy_format = {"npy", 0};

static unsigned probe_npy(const struct sp_probe *probe)
{
    return probe->head_length >= 8 && !memcmp(probe->head, "\x93NUMPY", 6) ? 48 : 0;
}

static char *read_npy_header(const struct sp_file *file, size_t *length, struct shapeproof_error *error)
{
    char fixed[SP_NPY_FIXED] = {0};
    const size_t have = file->size < sizeof fixed ? (size_t)file->size : sizeof fixed;
    if (!sp_file_read(file, 0, fixed, have, error) || !(*length = sp_npy_header_size(fixed, have, error))) return NULL;
    if (*length > file->size) {
        sp_malformed(error, "ends within its header: %" PRIu64 " bytes of %zu", file->size, *length);
        return NULL;
    }
    char *bytes = sp_realloc(NULL, *length, 1);
    if (sp_file_read(file, 0, bytes, *length, error)) return bytes;
    sp_free(bytes);
    return NULL;
}

static bool index_npy(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                      struct shapeproof_error *error)
{
    struct sp_npy npy;
    struct sp_npy_notes notes = {0};
    size_t length;
    char *bytes = read_npy_header(file, &length, error);
    const bool ok = bytes && sp_npy_parse(&npy, bytes, length, &inventory->arena, error) &&
                    sp_npy_add(inventory, &npy, "", file_index, length, file->size - length, error);
    sp_free(bytes);
    if (!ok) return false;
    sp_inventory_claim(inventory, file_index, 0, length, SP_USE_STRUCTURE);
    sp_npy_note(&notes, &npy);
    sp_npy_warn(&notes, inventory);
    inventory->format = &npy_format;
    return true;
}

const struct sp_reader sp_reader_npy = {.name = "npy", .probe = probe_npy, .index = index_npy};
