/* SPDX-License-Identifier: MIT
 * Of the messages of the object header, the dataspace and the datatype are wanted.
 *
 * Versions 4 and 5 of a datatype are laid out as version 3, but for references and for complex numbers. So the version
 * is set to 3 in each part, and the library reads the rest. */
#include "read/hdf5/newer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/process/child.h"
#include "read/hdf5/header.h"

enum { SPACE = 1, TYPE = 3, LAYOUT = 8 };
enum { MAX_PARTS_DEPTH = 16, ENCODED_HEAD = 2 };
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

/* The messages that are wanted. */
struct found {
    bool layout; /* there is one: it is a dataset */
    bool shared; /* one is somewhere else */
    struct sp_cursor space, type;
};

static void take_wanted(void *context, const struct sp_h5_message *message)
{
    struct found *found = context;
    if (message->type == SPACE) found->space = message->data;
    if (message->type == TYPE) found->type = message->data;
    if (message->type == LAYOUT) found->layout = true;
    if ((message->type == SPACE || message->type == TYPE) && message->flags & SP_H5_SHARED) found->shared = true;
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
    if (!encoded) _exit(SP_CHILD_NO_MEMORY);
    encoded[0] = TYPE;
    memcpy(encoded + ENCODED_HEAD, in.data, in.length);
    struct sp_cursor walk = sp_cursor_of(encoded + ENCODED_HEAD, in.length);
    errno = 0;
    const hid_t id = lower_version(encoded + ENCODED_HEAD, &walk, 0) ? H5Tdecode(encoded) : -1;
    if (id < 0 && errno == ENOMEM) _exit(SP_CHILD_NO_MEMORY); /* it says nothing about the type */
    if (id >= 0) *type = sp_h5_type_of(id, "");
    if (id >= 0) H5Tclose(id);
    free(encoded);
    return id >= 0;
}

/* ---- the dataset ---- */

bool sp_h5_read_newer(struct sp_h5_source *source, hid_t file, uint64_t address, struct sp_wire_tensor *tensor,
                      struct sp_h5_type *type)
{
    struct found found = {.layout = false};
    struct sp_h5_header header = {.source = source, .take = take_wanted, .context = &found};
    const bool ok = sp_h5_header_base(file, &header.base) && sp_h5_header_read(&header, address) &&
                    header.version == 2 && found.layout && !found.shared && found.space.data && found.type.data &&
                    read_dataspace(found.space, tensor) && read_datatype(found.type, type);
    sp_h5_header_free(&header);
    if (!ok) return false;
    tensor->dtype = type->dtype;
    tensor->dtype_name = type->name;
    tensor->flags |= SP_WIRE_UNREAD_PLACE | (type->big_endian ? SP_WIRE_BIG_ENDIAN : 0U);
    return true;
}
