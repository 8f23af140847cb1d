/* SPDX-License-Identifier: MIT */
#include "read/hdf5/header.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/child.h"

enum { CONTINUATION = 16, MAX_CHUNK = 1 << 20 };

/* ---- the messages ---- */

static unsigned char *load_chunk(struct sp_h5_header *header, uint64_t address, uint64_t length)
{
    if (header->chunks == SP_H5_MAX_CHUNKS || length > MAX_CHUNK || address > UINT64_MAX - header->base) return NULL;
    unsigned char *bytes = malloc((size_t)length + 1);
    if (!bytes) _exit(SP_CHILD_NO_MEMORY);
    header->chunk[header->chunks++] = bytes;
    return sp_h5_source_read(header->source, header->base + address, bytes, (size_t)length) ? bytes : NULL;
}

static bool read_messages(struct sp_h5_header *header, struct sp_cursor in, uint64_t *count);

static bool follow_continuation(struct sp_h5_header *header, struct sp_cursor data)
{
    enum { SIGNATURE = 4, CHECKSUM = 4 };
    uint64_t count = 0;
    const uint64_t address = sp_cursor_le(&data, 8), length = sp_cursor_le(&data, 8);
    if (!data.ok || length < SIGNATURE + CHECKSUM) return false;
    const unsigned char *bytes = load_chunk(header, address, length);
    if (!bytes) return false;
    if (header->version == 1) return read_messages(header, sp_cursor_of(bytes, (size_t)length), &count);
    if (memcmp(bytes, "OCHK", SIGNATURE) != 0) return false;
    return read_messages(header, sp_cursor_of(bytes + SIGNATURE, (size_t)length - SIGNATURE - CHECKSUM), &count);
}

static bool take_message(struct sp_h5_header *header, struct sp_cursor *in)
{
    const bool first_version = header->version == 1;
    struct sp_h5_message message = {.type = (unsigned)sp_cursor_le(in, first_version ? 2 : 1)};
    const uint64_t size = sp_cursor_le(in, 2);
    message.flags = (unsigned)sp_cursor_le(in, 1);
    if (first_version) sp_cursor_take(in, 3);
    if (header->ordered) sp_cursor_take(in, 2);
    const unsigned char *data = sp_cursor_take(in, size);
    if (!data) return false;
    message.data = sp_cursor_of(data, (size_t)size);
    header->take(header->context, &message);
    return message.type != CONTINUATION || follow_continuation(header, message.data);
}

/* The recursion is as deep as there are chunks, of which there is a limit. */
static bool read_messages(struct sp_h5_header *header, struct sp_cursor in, uint64_t *count)
{
    const size_t head = header->version == 1 ? 8 : header->ordered ? 6 : 4;
    for (; sp_cursor_left(&in) >= head; ++*count)
        if (!take_message(header, &in)) return false;
    return true;
}

/* Reads the prefix from the bytes at the beginning of the header, and moves past it. Returns the size of the first
 * chunk; in->ok is false when it is no header of a known version. */
static uint64_t read_prefix(struct sp_h5_header *header, struct sp_cursor *in)
{
    enum { TIMES = 1 << 5, LIMITS = 1 << 4, ORDERED = 1 << 2 };
    uint64_t size;
    if (sp_cursor_left(in) && in->data[0] == 1) {
        header->version = 1;
        sp_cursor_take(in, 2);
        header->declared = sp_cursor_le(in, 2);
        sp_cursor_take(in, 4);
        size = sp_cursor_le(in, 4);
        sp_cursor_take(in, 4);
        return size;
    }
    const unsigned char *head = sp_cursor_take(in, 5);
    if (!head || memcmp(head, "OHDR\2", 5) != 0) in->ok = false;
    header->version = 2;
    const uint64_t flags = sp_cursor_le(in, 1);
    sp_cursor_take(in, (flags & TIMES ? 16 : 0) + (flags & LIMITS ? 4 : 0));
    header->ordered = flags & ORDERED;
    return sp_cursor_le(in, 1U << (flags & 3));
}

bool sp_h5_header_read(struct sp_h5_header *header, uint64_t address)
{
    enum { USUAL = 272 }; /* bytes of a header of version 1 without attributes: one call of the system is enough */
    const uint64_t end = header->source->size;
    if (header->base > end || address > end - header->base) return false;
    const uint64_t left = end - header->base - address, length = left < USUAL ? left : USUAL;
    const unsigned char *bytes = load_chunk(header, address, length);
    if (!bytes) return false;
    struct sp_cursor in = sp_cursor_of(bytes, (size_t)length);
    const uint64_t size = read_prefix(header, &in);
    if (!in.ok) return false;
    bytes = size <= sp_cursor_left(&in) ? bytes + in.offset : load_chunk(header, address + in.offset, size);
    return bytes && read_messages(header, sp_cursor_of(bytes, (size_t)size), &header->in_first);
}

void sp_h5_header_free(struct sp_h5_header *header)
{
    for (unsigned i = 0; i < header->chunks; i++) free(header->chunk[i]);
}

bool sp_h5_header_base(hid_t file, uint64_t *base)
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

/* ---- what HDF5 2.0 refuses ---- */

/* Whether HDF5 lets the data of messages of a type be somewhere else: dataspaces, datatypes, both kinds of fill values,
 * filters and attributes. */
static bool is_sharable(unsigned type)
{
    enum { SPACE = 1, TYPE = 3, OLD_FILL = 4, FILL = 5, FILTERS = 11, ATTRIBUTE = 12 };
    return type == SPACE || type == TYPE || type == OLD_FILL || type == FILL || type == FILTERS || type == ATTRIBUTE;
}

/* Type 9 has no meaning, and HDF5 2.0 knows none above 24: it looks at no flag of these. */
static bool is_known(unsigned type)
{
    enum { NO_TYPE = 9, LAST_TYPE = 24 };
    return type <= LAST_TYPE && type != NO_TYPE;
}

struct refusal {
    bool is_flagged;        /* a message is flagged as shared that cannot be */
    uint64_t type_bytes;    /* of an element, by the datatype; 0: not known */
    uint64_t element_bytes; /* of an element, by the layout in chunks; 0: not known, or not in chunks */
};

/* A datatype: class and version (8 bits), bits of the class (24), bytes of an element (32). */
static uint64_t bytes_of_type(struct sp_cursor in)
{
    sp_cursor_take(&in, 4);
    return sp_cursor_le(&in, 4);
}

/* A layout of version 3: version (8), class (8), and for chunks the number of dimensions (8), an address (64), and each
 * dimension (32). The last dimension is the bytes of an element. Other versions and classes: 0. */
static uint64_t bytes_in_chunk(struct sp_cursor in)
{
    enum { VERSION = 3, CHUNKED = 2, MAX_DIMENSIONS = 33 };
    const uint64_t version = sp_cursor_le(&in, 1), class_of = sp_cursor_le(&in, 1), dimensions = sp_cursor_le(&in, 1);
    if (version != VERSION || class_of != CHUNKED || !dimensions || dimensions > MAX_DIMENSIONS) return 0;
    sp_cursor_take(&in, 8 + 4 * (dimensions - 1));
    return sp_cursor_le(&in, 4);
}

static void look_for_refusal(void *found, const struct sp_h5_message *message)
{
    enum { TYPE = 3, LAYOUT = 8 };
    struct refusal *refusal = found;
    if (message->flags & SP_H5_SHARED) {
        if (is_known(message->type) && !is_sharable(message->type)) refusal->is_flagged = true;
    } else if (message->type == TYPE) refusal->type_bytes = bytes_of_type(message->data);
    else if (message->type == LAYOUT) refusal->element_bytes = bytes_in_chunk(message->data);
}

const char *sp_h5_header_refusal(struct sp_h5_source *source, uint64_t base, uint64_t address)
{
    struct refusal found = {.is_flagged = false};
    struct sp_h5_header header = {.source = source, .base = base, .take = look_for_refusal, .context = &found};
    const bool is_read = sp_h5_header_read(&header, address);
    const bool is_miscounted = header.version == 1 && header.in_first > header.declared;
    sp_h5_header_free(&header);
    if (found.is_flagged) return "its object header has a message that is flagged as shared, and cannot be";
    if (!is_read) return NULL;
    if (is_miscounted) return "its object header has more messages than it says";
    if (found.type_bytes && found.element_bytes && found.type_bytes != found.element_bytes)
        return "the elements in its chunks have another size than its type";
    return NULL;
}
