/* SPDX-License-Identifier: MIT
 * A tar archive: its members, where they lie, and their names. Nothing but headers is read. */
#ifndef SP_READ_TAR_ARCHIVE_H
#define SP_READ_TAR_ARCHIVE_H

#include "base/arena.h"
#include "base/file.h"
#include "model/inventory.h"

enum { SP_TAR_BLOCK = 512, SP_TAR_MAX_MEMBERS = 100 * 1000 };

struct sp_tar_member {
    const char *name; /* UTF-8, no NUL; attacker's text, never used as a path */
    uint64_t begin, size;
};

struct sp_tar {
    struct sp_arena arena;
    SP_ARRAY(struct sp_tar_member) members; /* those that are plain files, in their order */
    uint64_t end;                           /* of the last member, with what fills its last block up */
    uint64_t blank;                         /* where the zeros behind that end, which fill up a record */
    uint64_t beyond;                        /* bytes behind these zeros */
    size_t not_read;                        /* members that are links, devices or pipes */
    const char *first_not_read;
};

/* Walks the headers: those of POSIX, with pax records, and of GNU. A member that passes the end of the file, a header
 * whose sum is wrong, two members of one name, and what programs read in different ways are errors: types of members
 * that are not known, sparse files, names for all members, two names for one. Free it in any case. */
bool sp_tar_read(struct sp_tar *tar, const struct sp_file *file, struct shapeproof_error *error);
/* Claims the headers and what fills up; the data of members are left to the caller. Warns of links, devices and pipes,
 * and of bytes behind the archive. */
void sp_tar_claim(const struct sp_tar *tar, struct shapeproof_inventory *inventory, uint32_t file_index);
void sp_tar_free(struct sp_tar *tar);

/* True when the block is a header: its magic, its sum and its numbers are right. */
bool sp_tar_is_header(const unsigned char *block);
/* True when Python's tarfile takes the block for a header: it asks for no magic, and adds up signed bytes as well. */
bool sp_tar_python_reads(const unsigned char *block);
/* The size in a header; false when it is no number. */
bool sp_tar_member_size(const unsigned char *block, uint64_t *size);

#endif
