/* SPDX-License-Identifier: MIT
 * What the files of this folder share; everybody else includes archive.h. */
#ifndef SP_READ_ZIP_DIRECTORY_H
#define SP_READ_ZIP_DIRECTORY_H

#include "base/cursor.h"
#include "base/map.h"
#include "read/zip/archive.h"

enum {
    SP_ZIP_LOCAL_SIZE = 30, /* the fixed part of a local header */
    SP_ZIP_CENTRAL_SIZE = 46,
    SP_ZIP_END_SIZE = 22,
    SP_ZIP_MAX_COMMENT = 65535,
    SP_ZIP_MAX_ENTRIES = 1000 * 1000,
    SP_ZIP_MAX_DIRECTORY = 256 << 20,
    SP_ZIP_STORED = 0,
    SP_ZIP_DEFLATED = 8,
    /* flags: */
    SP_ZIP_ENCRYPTED = 1,
    SP_ZIP_PATCHED = 1 << 5,
    SP_ZIP_STRONGLY_ENCRYPTED = 1 << 6,
    SP_ZIP_MASKED = 1 << 13 /* the local header, by the encryption of the directory */
};

struct sp_zip {
    const struct sp_file *file;
    struct sp_arena arena;
    struct sp_zip_entry *entries;
    size_t count;
    uint64_t directory_offset; /* members must end before it */
    uint64_t *next;            /* of each member: where the next one begins, or the directory */
    uint64_t end;              /* of the end record and its comment */
    struct sp_map names;       /* exact name -> index */
    bool lacks_volume;         /* see sp_zip_lacks_volume */
};

/* Fills entries, count, directory_offset and names from the end of the file (directory.c). */
bool sp_zip_scan(struct sp_zip *zip, struct shapeproof_error *error);

/* Replaces each of the sizes that is all ones by its 64-bit value in the zip64 field, which has them in this order. A
 * size stays as it is if there is no such field; false if the field is too short. */
bool sp_zip_apply_wide(struct sp_cursor extra, uint64_t *const *sizes, size_t count);
/* Whether an extra field has at most one zip64 field; false with the error. */
bool sp_zip_check_wide(struct sp_cursor extra, const char *name, struct shapeproof_error *error);
/* Whether each Unicode Path field (0x7075) that readers use has the name of the member. False with an error. */
bool sp_zip_check_path(struct sp_cursor extra, const char *name, struct shapeproof_error *error);

#endif
