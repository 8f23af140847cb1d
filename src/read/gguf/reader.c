/* SPDX-License-Identifier: MIT
 * GGUF, the files of llama.cpp and of all that is built on ggml:
 *
 *     "GGUF", the version (1 to 3), the number of tensors, the number of metadata pairs
 *     pairs: a key, a type, a value; values are numbers, strings and lists of either
 *     tensors: a name, the dimensions from the innermost to the outermost, a type, an offset into the data
 *     the data, padded to the alignment, as is each tensor in it
 *
 * Counts and lengths have 32 bits in version 1 and 64 since. The byte order is that of the machine that wrote the file,
 * and shows in the version. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 *
 * Data may be missing at the end: with a warning, since the header alone is passed around as well. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/cursor.h"
#include "base/shard_name.h"
#include "model/format.h"
#include "read/gguf/layout.h"
#include "read/gguf/metadata.h"
#include "read/reader.h"

static const struct sp_format gguf_format = {"gguf", SP_BY_LLAMA_CPP};

enum { MAGIC_BYTES = 4, VERSION_BYTES = 4, MAX_VERSION = 3, ALIGNMENT = 32 };

/* The version when it is one that is known, in either byte order; else 0. */
static unsigned version_of(const unsigned char *head, bool *big_endian)
{
    const unsigned char *bytes = head + MAGIC_BYTES;
    *big_endian = !bytes[0] && bytes[3];
    const unsigned version = *big_endian ? bytes[3] : bytes[0];
    return !bytes[1] && !bytes[2] && !bytes[*big_endian ? 0 : 3] && version <= MAX_VERSION ? version : 0;
}

static unsigned probe_gguf(const struct sp_probe *probe)
{
    bool big_endian;
    if (probe->head_length < MAGIC_BYTES || memcmp(probe->head, "GGUF", MAGIC_BYTES) != 0)
        return probe->file->size > 0 && sp_ends_with(probe->file->path, ".gguf");
    return probe->head_length >= MAGIC_BYTES + VERSION_BYTES && version_of(probe->head, &big_endian) ? 64 : 32;
}

static bool refuse_version(const unsigned char *head, struct shapeproof_error *error)
{
    struct sp_cursor cursor = sp_cursor_of(head + MAGIC_BYTES, VERSION_BYTES);
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                   "version %" PRIu64 " of GGUF, of which 1 to %d are read here", sp_cursor_le(&cursor, VERSION_BYTES),
                   MAX_VERSION);
}

/* Reads what stands in front of the metadata. */
static bool open_stream(struct sp_gguf_stream *stream, struct shapeproof_error *error)
{
    unsigned char head[MAGIC_BYTES + VERSION_BYTES];
    if (stream->file->size < sizeof head)
        return sp_malformed(error, "%" PRIu64 " bytes of a GGUF file, fewer than its magic number and version have",
                            stream->file->size);
    if (!sp_file_read(stream->file, 0, head, sizeof head, error)) return false;
    if (memcmp(head, "GGUF", MAGIC_BYTES) != 0)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                       "does not begin with 'GGUF', as its name has it");
    const unsigned version = version_of(head, &stream->big_endian);
    if (!version) return refuse_version(head, error);
    stream->word = version == 1 ? 4 : 8;
    stream->offset = sizeof head;
    return true;
}

static uint64_t after_padding(uint64_t offset, uint64_t alignment)
{
    return (offset + alignment - 1) & ~(alignment - 1); /* neither is near 64 bits */
}

/* What a split model says of all its pieces together is held against them with the last one. A piece shows in its name
 * what it is, unless it was renamed. */
static void compare_gguf_pieces(const struct sp_file *file, const struct sp_gguf_facts *facts,
                                struct shapeproof_inventory *inventory)
{
    struct sp_shard_name shard;
    if (facts->pieces < 2) return;
    if (!sp_shard_name_read(sp_base_name(file->path), &shard))
        sp_inventory_warn(inventory, "this is piece %" PRIu64 " of %" PRIu64 " of a split model", facts->piece + 1,
                          facts->pieces);
    else if (facts->tensors && inventory->file_count == facts->pieces && inventory->count != facts->tensors)
        sp_inventory_warn(inventory, "split.tensors.count is %" PRIu64 ", the %" PRIu64 " pieces have %zu tensors",
                          facts->tensors, facts->pieces, inventory->count);
}

static bool read_gguf_header(struct sp_gguf_stream *stream, uint32_t file_index, struct shapeproof_inventory *inventory,
                             struct shapeproof_error *error)
{
    struct sp_gguf_facts facts = {.alignment = ALIGNMENT};
    const size_t first = inventory->count;
    const uint64_t tensors = sp_gguf_count(stream), pairs = sp_gguf_count(stream);
    if (!stream->ok || !sp_gguf_read_metadata(stream, pairs, inventory, &facts) ||
        !sp_gguf_read_tensors(stream, tensors, file_index, inventory))
        return false;
    const uint64_t data = after_padding(stream->offset, facts.alignment);
    if (!sp_gguf_place_tensors(stream->file, data, facts.alignment, first, inventory, error)) return false;
    sp_inventory_claim(inventory, file_index, 0, stream->offset, SP_USE_STRUCTURE);
    sp_inventory_claim(inventory, file_index, stream->offset, data, SP_USE_PADDING);
    compare_gguf_pieces(stream->file, &facts, inventory);
    return true;
}

static bool index_gguf(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error)
{
    struct sp_gguf_stream stream = {.file = file, .ok = true, .error = error};
    if (!open_stream(&stream, error)) return false;
    stream.buffer = sp_realloc(NULL, SP_GGUF_BUFFER, 1);
    const bool ok = read_gguf_header(&stream, file_index, inventory, error);
    free(stream.buffer);
    if (ok) inventory->format = &gguf_format;
    return ok;
}

static const struct sp_file_ending endings[] = {{".gguf", SP_IN_DIRECTORIES | SP_IN_ARCHIVES | SP_IN_PIECES},
                                                {NULL, 0}};

const struct sp_reader sp_reader_gguf = {.name = "gguf", .endings = endings, .probe = probe_gguf, .index = index_gguf};
