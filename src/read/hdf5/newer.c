/* SPDX-License-Identifier: MIT
 * An object header of version 2:
 *   "OHDR" version flags [times: 16] [attribute limits: 4] size of what follows, messages, checksum
 * A message is its type (8 bits), size (16), flags (8), [order: 16], data; one of type 16 leads on, to "OCHK",
 * messages, checksum. Wanted are those of the types 1, the dataspace, and 3, the datatype.
 *
 * Versions 4 and 5 of a datatype are laid out as version 3, but for references and for complex numbers. So the version
 * is set to 3 in each part, and the library reads the rest. */
#include "read/hdf5/newer.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

enum { SPACE = 1, TYPE = 3, LAYOUT = 8, CONTINUATION = 16, SHARED = 2 };
enum { MAX_CHUNK = 1 << 20, MAX_CHUNKS = 64, MAX_PARTS_DEPTH = 16, ENCODED_HEAD = 2 };
enum {
    FIXED = 0,
    FLOAT = 1,
    TIME = 2,
    STRING = 3,
    BITS = 4,
    OPAQUE = 5,
    COMPOUND = 6,
    ENUM = 8,
    VLEN = 9,
    ARRAY = 10,
    COMPLEX = 11
};

struct header {
    struct sp_h5_source *source;
    uint64_t base; /* of the addresses in the file */
    unsigned chunks;
    bool ordered; /* messages have their order of creation */
    bool layout;  /* there is one: it is a dataset */
    unsigned char *chunk[MAX_CHUNKS];
    struct sp_cursor space, type;
};

/* ---- the messages ---- */

static unsigned char *load_chunk(struct header *header, uint64_t address, uint64_t length)
{
    if (header->chunks == MAX_CHUNKS || length > MAX_CHUNK || address > UINT64_MAX - header->base) return NULL;
    unsigned char *bytes = malloc((size_t)length + 1);
    if (!bytes) return NULL;
    header->chunk[header->chunks++] = bytes;
    return sp_h5_source_read(header->source, header->base + address, bytes, (size_t)length) ? bytes : NULL;
}

static bool read_messages(struct header *header, struct sp_cursor in);

static bool follow_continuation(struct header *header, struct sp_cursor data)
{
    const uint64_t address = sp_cursor_le(&data, 8), length = sp_cursor_le(&data, 8);
    if (!data.ok || length < 8) return false;
    const unsigned char *bytes = load_chunk(header, address, length);
    if (!bytes || memcmp(bytes, "OCHK", 4) != 0) return false;
    return read_messages(header, sp_cursor_of(bytes + 4, (size_t)length - 8));
}

/* As deep as there are chunks, of which there is a limit. */
static bool read_messages(struct header *header, struct sp_cursor in)
{
    const size_t head = header->ordered ? 6 : 4;
    while (sp_cursor_left(&in) >= head) {
        const uint64_t type = sp_cursor_le(&in, 1), size = sp_cursor_le(&in, 2), flags = sp_cursor_le(&in, 1);
        if (header->ordered) sp_cursor_le(&in, 2);
        const unsigned char *data = sp_cursor_take(&in, size);
        if (!data) return false;
        const struct sp_cursor message = sp_cursor_of(data, (size_t)size);
        if ((type == SPACE || type == TYPE) && flags & SHARED) return false; /* it is somewhere else */
        if (type == SPACE) header->space = message;
        if (type == TYPE) header->type = message;
        if (type == LAYOUT) header->layout = true;
        if (type == CONTINUATION && !follow_continuation(header, message)) return false;
    }
    return true;
}

static bool read_object_header(struct header *header, uint64_t address)
{
    enum { TIMES = 1 << 5, LIMITS = 1 << 4, ORDERED = 1 << 2, LONGEST_HEAD = 34 };
    const unsigned char *bytes = load_chunk(header, address, LONGEST_HEAD);
    if (!bytes || memcmp(bytes, "OHDR\2", 5) != 0) return false;
    struct sp_cursor in = sp_cursor_of(bytes + 5, LONGEST_HEAD - 5);
    const uint64_t flags = sp_cursor_le(&in, 1);
    sp_cursor_take(&in, (flags & TIMES ? 16 : 0) + (flags & LIMITS ? 4 : 0));
    const uint64_t size = sp_cursor_le(&in, 1U << (flags & 3));
    header->ordered = flags & ORDERED;
    const uint64_t begin = address + 5 + in.offset;
    if (!in.ok || begin < address || size > MAX_CHUNK) return false;
    bytes = load_chunk(header, begin, size);
    return bytes && read_messages(header, sp_cursor_of(bytes, (size_t)size)) && header->layout && header->space.data &&
           header->type.data;
}

/* ---- the dataspace ---- */

static bool read_dataspace(struct sp_cursor in, struct sp_wire_tensor *tensor)
{
    const uint64_t version = sp_cursor_le(&in, 1), rank = sp_cursor_le(&in, 1);
    sp_cursor_le(&in, 1); /* flags: whether there are maximal dimensions behind */
    const uint64_t kind = sp_cursor_le(&in, 1);
    if (version == 1) sp_cursor_take(&in, 4);
    if (version < 1 || version > 2 || rank > SP_WIRE_MAX_RANK) return false;
    if (version == 2 && kind == 2) tensor->flags |= SP_WIRE_NULL_SPACE;
    for (uint64_t i = 0; i < rank; i++) tensor->shape[i] = sp_cursor_le(&in, 8);
    tensor->rank = (uint32_t)rank;
    return in.ok;
}

/* ---- the datatype ---- */

/* Bytes behind the 8 that all classes have, of those without parts; SIZE_MAX for the others. */
static size_t properties_of(unsigned class_of)
{
    static const size_t sizes[] = {[FIXED] = 4, [FLOAT] = 12, [TIME] = 2, [STRING] = 0, [BITS] = 4};
    return class_of <= BITS ? sizes[class_of] : SIZE_MAX;
}

static bool lower_version(unsigned char *bytes, struct sp_cursor *in, unsigned depth);

static void skip_name(struct sp_cursor *in)
{
    while (in->ok && sp_cursor_le(in, 1)) continue;
}

static bool lower_members(unsigned char *bytes, struct sp_cursor *in, uint64_t count, uint64_t size, unsigned depth)
{
    unsigned offset = 1; /* bytes of the place of a member */
    while (offset < 4 && size >> 8 * offset) offset++;
    for (uint64_t i = 0; i < count && in->ok; i++) {
        skip_name(in);
        sp_cursor_take(in, offset);
        if (!lower_version(bytes, in, depth + 1)) return false;
    }
    return in->ok;
}

static bool lower_enum(unsigned char *bytes, struct sp_cursor *in, uint64_t count, uint64_t size, unsigned depth)
{
    if (!lower_version(bytes, in, depth + 1)) return false;
    for (uint64_t i = 0; i < count && in->ok; i++) skip_name(in);
    sp_cursor_take(in, count * size); /* 16 and 32 bits */
    return in->ok;
}

/* Moves past one datatype in `bytes`, and sets its version and those of its parts to 3. It is laid out as
 *   class (4 bits) and version (4), bits whose meaning depends on the class (24), size of an element (32), properties
 * with the parts among the properties. False when it cannot be lowered, is broken, or is nested too deep. */
static bool lower_version(unsigned char *bytes, struct sp_cursor *in, unsigned depth)
{
    const size_t at = in->offset;
    const uint64_t head = sp_cursor_le(in, 1), bits = sp_cursor_le(in, 3), size = sp_cursor_le(in, 4);
    const unsigned class_of = head & 15, version = (unsigned)head >> 4;
    const bool was_laid_out_otherwise = class_of == COMPOUND || class_of == ENUM || class_of == ARRAY; /* before 3 */
    if (!in->ok || depth > MAX_PARTS_DEPTH || (was_laid_out_otherwise && version < 3)) return false;
    if (version > 3) bytes[at] = (unsigned char)(class_of | 3 << 4);
    switch (class_of) {
    case OPAQUE: /* the length of a tag, and the tag */
        return sp_cursor_take(in, bits & 255) != NULL || !(bits & 255);
    case COMPOUND: /* so many members */
        return lower_members(bytes, in, bits & 0xffff, size, depth);
    case ENUM:
        return lower_enum(bytes, in, bits & 0xffff, size, depth);
    case ARRAY: /* the rank, the dimensions, the type of an element */
        sp_cursor_take(in, 4 * sp_cursor_le(in, 1));
        return lower_version(bytes, in, depth + 1);
    case VLEN:
        return lower_version(bytes, in, depth + 1);
    default:
        return properties_of(class_of) != SIZE_MAX && sp_cursor_take(in, properties_of(class_of)) != NULL;
    }
}

/* Two floats each: a class that only HDF5 2.0 knows. */
static struct sp_h5_type complex_type(struct sp_cursor in)
{
    struct sp_h5_type result = {.name = "complex"};
    sp_cursor_take(&in, 4);
    const uint64_t size = sp_cursor_le(&in, 4), head = sp_cursor_le(&in, 1), bits = sp_cursor_le(&in, 3);
    if (!in.ok || (head & 15) != FLOAT || sp_cursor_le(&in, 4) * 2 != size) return result;
    result.dtype = size == 4    ? SHAPEPROOF_DTYPE_C32
                   : size == 8  ? SHAPEPROOF_DTYPE_C64
                   : size == 16 ? SHAPEPROOF_DTYPE_C128
                                : SHAPEPROOF_DTYPE_UNKNOWN;
    result.big_endian = bits & 1;
    return result;
}

/* The library takes a datatype out of memory behind two bytes; what it might read beyond its end are zeros. */
static bool read_datatype(struct sp_cursor in, struct sp_h5_type *type)
{
    enum { BEYOND = 4096 };
    if (in.length && (in.data[0] & 15) == COMPLEX) {
        *type = complex_type(in);
        return true;
    }
    unsigned char *encoded = calloc(1, in.length + ENCODED_HEAD + BEYOND);
    if (!encoded) return false;
    encoded[0] = TYPE;
    memcpy(encoded + ENCODED_HEAD, in.data, in.length);
    struct sp_cursor walk = sp_cursor_of(encoded + ENCODED_HEAD, in.length);
    const hid_t id = lower_version(encoded + ENCODED_HEAD, &walk, 0) ? H5Tdecode(encoded) : -1;
    if (id >= 0) *type = sp_h5_type_of(id, "");
    if (id >= 0) H5Tclose(id);
    free(encoded);
    return id >= 0;
}

/* ---- the dataset ---- */

/* Where addresses count from, and that they and lengths have the usual 8 bytes. */
static bool read_base(hid_t file, uint64_t *base)
{
    size_t address = 0, length = 0;
    hsize_t block = 0;
    const hid_t properties = H5Fget_create_plist(file);
    const bool ok = properties >= 0 && H5Pget_sizes(properties, &address, &length) >= 0 &&
                    H5Pget_userblock(properties, &block) >= 0;
    if (properties >= 0) H5Pclose(properties);
    *base = block;
    return ok && address == 8 && length == 8;
}

bool sp_h5_read_newer(struct sp_h5_source *source, hid_t file, uint64_t address, struct sp_wire_tensor *tensor,
                      struct sp_h5_type *type)
{
    struct header header = {.source = source};
    const bool ok = read_base(file, &header.base) && read_object_header(&header, address) &&
                    read_dataspace(header.space, tensor) && read_datatype(header.type, type);
    for (unsigned i = 0; i < header.chunks; i++) free(header.chunk[i]);
    if (!ok) return false;
    tensor->dtype = type->dtype;
    tensor->dtype_name = type->name;
    tensor->flags |= SP_WIRE_UNREAD_PLACE | (type->big_endian ? SP_WIRE_BIG_ENDIAN : 0U);
    return true;
}
