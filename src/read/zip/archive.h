/* SPDX-License-Identifier: MIT
 * A zip archive as a checkpoint container: its directory is walked and checked by us before libzip sees a byte, and
 * libzip is then used to read (and inflate) the few small members that are needed. */
#ifndef SP_READ_ZIP_ARCHIVE_H
#define SP_READ_ZIP_ARCHIVE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/file.h"
#include "model/inventory.h"

struct sp_zip_entry {
    const char *name;         /* UTF-8, no NUL; attacker's text, never used as a path */
    uint64_t size;            /* uncompressed, as the central directory declares it */
    uint64_t compressed_size; /* stored bytes */
    uint64_t header_offset;   /* of the local header */
    uint32_t crc;
    uint16_t method; /* 0 stored, 8 deflated */
    uint16_t flags;
    bool damaged; /* set by sp_zip_read when the bytes do not match the CRC: torch never checks. 0 stands for none */
};

struct sp_zip; /* opaque */

/* Opens the archive in `file` (which stays the caller's and must outlive it). NULL with an error. */
struct sp_zip *sp_zip_open(const struct sp_file *file, struct shapeproof_error *error);
void sp_zip_close(struct sp_zip *zip);

/* Whether the bytes are fetched from elsewhere when they are read. */
bool sp_zip_is_far(const struct sp_zip *zip);
size_t sp_zip_count(const struct sp_zip *zip);
/* Whether a number of a volume is all ones and no record of zip64 has it, or there are no volumes: torch refuses that,
 * others do not look. */
bool sp_zip_lacks_volume(const struct sp_zip *zip);
/* In central-directory order; borrowed until sp_zip_close. */
const struct sp_zip_entry *sp_zip_entry(const struct sp_zip *zip, size_t index);
/* Exact name; SIZE_MAX when absent. */
size_t sp_zip_find(const struct sp_zip *zip, const char *name);

/* Whether the bytes of the member are encrypted: they then say nothing about its content. */
bool sp_zip_is_encrypted(const struct sp_zip_entry *entry);
/* Whether the data of the member can be read: not encrypted, no patch, stored or deflated. False with an error. */
bool sp_zip_check_method(const struct sp_zip_entry *entry, struct shapeproof_error *error);
/* The whole member, at most `limit` bytes, NUL-terminated (not counted), never more than it declares. sp_free it. */
char *sp_zip_read(struct sp_zip *zip, size_t index, uint64_t limit, size_t *length, struct shapeproof_error *error);
/* The first `count` bytes of the member, of a deflated one without inflating more: its CRC is not looked at. `count` is
 * at most what it declares. */
bool sp_zip_read_head(struct sp_zip *zip, size_t index, void *into, size_t count, struct shapeproof_error *error);
/* The bytes of a member from the first on, inflated as they are asked for. */
struct sp_zip_stream;

/* Whether a member can be read so: it is stored or deflated, and not longer than 2 GiB in the file. */
bool sp_zip_can_stream(const struct sp_zip_entry *entry);
/* Of a member that can be read so. NULL with an error. Free with sp_zip_stream_close. */
struct sp_zip_stream *sp_zip_stream_open(struct sp_zip *zip, size_t index, struct shapeproof_error *error);
/* The next bytes; with the last one of the member the CRC is compared, unless it is 0. */
bool sp_zip_stream_read(struct sp_zip_stream *stream, void *into, size_t length, struct shapeproof_error *error);
void sp_zip_stream_close(struct sp_zip_stream *stream);
/* Keeps what reading changes (base/call.h), but for the position; NULL: nothing. */
void sp_zip_stream_keep(struct sp_zip_stream *stream);
/* Where the bytes of a member lie, by the directory alone: right in front of what comes next. Good for sums; where to
 * read is what sp_zip_data_offset says. */
void sp_zip_span(const struct sp_zip *zip, size_t index, uint64_t *begin, uint64_t *end);
/* Claims the headers and the directory, and as padding what fills up between a header and its data. The data of members
 * are left to the caller. */
void sp_zip_claim(const struct sp_zip *zip, struct shapeproof_inventory *inventory, uint32_t file_index);
/* Claims the data of a member. */
void sp_zip_claim_member(const struct sp_zip *zip, size_t index, struct shapeproof_inventory *inventory,
                         uint32_t file_index, enum sp_use use);
/* Where the bytes of a stored (method 0) member begin in the file; an error when the local header there is none, or one
 * of another member. */
bool sp_zip_data_offset(struct sp_zip *zip, size_t index, uint64_t *offset, struct shapeproof_error *error);

#endif
