/* SPDX-License-Identifier: MIT
 * Of each member the header is read, and of a deflated one only as much inflated. An array is called as its member
 * without the ending, as numpy.load does. */
#include "read/numpy/npz.h"

#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/names.h"
#include "read/in_order.h"
#include "read/numpy/header.h"

static const struct sp_format npz_format = {"npz", 0};

enum { STORED = 0, SUFFIX = 4 };

static bool is_array(const struct sp_zip_entry *entry) { return sp_ends_with(entry->name, ".npy"); }

bool sp_npz_is(const struct sp_zip *zip)
{
    for (size_t i = 0; i < sp_zip_count(zip); i++)
        if (is_array(sp_zip_entry(zip, i))) return true;
    return false;
}

struct npz {
    struct sp_zip *zip;
    struct shapeproof_inventory *inventory;
    uint32_t file;
    bool is_over_limit; /* the headers have too many bytes in all */
    struct sp_npy_notes notes;
};

/* The first `length` bytes of the member. Those of an array without elements are the whole member: numpy then compares
 * its CRC. Free with sp_free. */
static char *read_header(struct npz *npz, size_t index, size_t length, struct shapeproof_error *error)
{
    const struct sp_zip_entry *entry = sp_zip_entry(npz->zip, index);
    if (length < entry->size) {
        char *bytes = sp_realloc(NULL, length, 1);
        if (sp_zip_read_head(npz->zip, index, bytes, length, error)) return bytes;
        sp_free(bytes);
        return NULL;
    }
    char *bytes = sp_zip_read(npz->zip, index, length, &length, error);
    if (bytes && entry->damaged)
        sp_inventory_warn(npz->inventory, "numpy refuses it: %s does not match its CRC", entry->name);
    return bytes;
}

/* Adds one array of an .npz archive. The data have a place in the file only if the member is stored without
 * compression. */
static bool index_member(struct npz *npz, size_t index, const char *name, struct shapeproof_error *error)
{
    struct sp_zip *zip = npz->zip;
    struct shapeproof_inventory *inventory = npz->inventory;
    const struct sp_zip_entry *entry = sp_zip_entry(zip, index);
    char fixed[SP_NPY_FIXED];
    struct sp_npy npy;
    uint64_t begin = 0; /* of the member in the file; 0 for one that is deflated, whose data have no place there */
    size_t have = entry->size < sizeof fixed ? (size_t)entry->size : sizeof fixed;
    if (!sp_zip_read_head(zip, index, fixed, have, error)) return false;
    const size_t length = sp_npy_header_size(fixed, have, error);
    if (!length) return false;
    if (length > entry->size) return sp_malformed(error, "ends within its header");
    if (length > sp_inventory_names_left(inventory)) {
        npz->is_over_limit = true;
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "headers of more than %d bytes for each byte of the file, and %d MiB besides, in all",
                       SP_NAMES_BUDGET_FACTOR, SP_NAMES_BUDGET_BASE >> 20);
    }
    sp_inventory_spend_names(inventory, length, error);
    char *bytes = read_header(npz, index, length, error);
    bool ok = bytes && sp_npy_parse(&npy, bytes, length, &inventory->arena, error);
    sp_free(bytes);
    if (ok && entry->method == STORED) ok = sp_zip_data_offset(zip, index, &begin, error);
    if (!ok) return false;
    npy.tensor.name = name;
    if (!sp_npy_add(inventory, &npy, name, npz->file, begin ? begin + length : 0, entry->size - length, error))
        return false;
    sp_npy_note(&npz->notes, &npy);
    if (!begin) sp_zip_claim_member(zip, index, inventory, npz->file, SP_USE_TENSOR);
    return true;
}

/* Each member that is an array becomes a tensor. One that cannot be read is listed as unread, with the reason in `why`,
 * and the loop goes on; only an error that ends the reading makes sp_inventory_unread false. Headers that are too long
 * in all end the reading. The bytes of an unread member are claimed as a whole, for where its data begin is not known;
 * of the others what index_member has left, the headers, is structure. */
bool sp_npz_index(struct sp_zip *zip, uint32_t file_index, struct shapeproof_inventory *inventory,
                  struct shapeproof_error *error)
{
    struct npz npz = {.zip = zip, .inventory = inventory, .file = file_index};
    struct sp_names others = {0}, hidden = {0};
    sp_zip_claim(zip, inventory, file_index);
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const struct sp_zip_entry *entry = sp_zip_entry(zip, i);
        uint64_t begin, end;
        sp_zip_span(zip, i, &begin, &end);
        struct shapeproof_error why = {0};
        if (!is_array(entry)) {
            sp_names_add(&others, entry->name);
            sp_inventory_claim(inventory, file_index, begin, end, SP_USE_STRUCTURE);
            continue;
        }
        const char *name = sp_arena_copy(&inventory->arena, entry->name, strlen(entry->name) - SUFFIX);
        if (sp_zip_find(zip, name) != SIZE_MAX) sp_names_add(&hidden, name);
        const bool ok = index_member(&npz, i, name, &why);
        if (npz.is_over_limit) *error = why;
        if (!ok && (error->status || !sp_inventory_unread(inventory, name, &why, error))) break;
        if (why.status) sp_inventory_claim_storage(inventory, file_index, begin, end, NULL, name, false);
        else sp_inventory_claim(inventory, file_index, begin, end, SP_USE_STRUCTURE);
    }
    if (others.count) sp_inventory_warn(inventory, "members that are no arrays: %s", sp_names_text(&others));
    if (hidden.count)
        sp_inventory_warn(inventory, "numpy.load takes the member of exactly this name, not the array listed: %s",
                          sp_names_text(&hidden));
    sp_names_free(&others);
    sp_names_free(&hidden);
    sp_npy_warn(&npz.notes, inventory);
    inventory->format = &npz_format;
    return !error->status;
}

/* ---- data ---- */

struct deflated;

struct array_stream {
    struct sp_stream stream; /* first */
    const struct deflated *arrays;
    struct sp_zip_stream *open;
};

/* The arrays of an archive that are deflated. */
struct deflated {
    struct sp_zip *zip;
    struct sp_arena arena;
    size_t *members; /* of each tensor of the inventory: its member */
    struct array_stream streams[SP_STREAMS];
};

/* Opens the member and passes over its header. */
static bool begin_array(struct sp_stream *stream, size_t tensor, const char **obstacle, struct shapeproof_error *error)
{
    (void)obstacle;
    struct array_stream *array = (struct array_stream *)stream;
    struct sp_zip *zip = array->arrays->zip;
    char fixed[SP_NPY_FIXED];
    const size_t index = array->arrays->members[tensor];
    const struct sp_zip_entry *entry = sp_zip_entry(zip, index);
    const size_t have = entry->size < sizeof fixed ? (size_t)entry->size : sizeof fixed;
    if (!sp_zip_read_head(zip, index, fixed, have, error)) return false;
    const size_t length = sp_npy_header_size(fixed, have, error);
    if (!length) return false;
    array->open = sp_zip_stream_open(zip, index, error);
    if (!array->open) return false;
    char *header = sp_realloc(NULL, length, 1);
    const bool ok = sp_zip_stream_read(array->open, header, length, error);
    sp_free(header);
    return ok;
}

static bool next_of_array(struct sp_stream *stream, void *into, size_t length, struct shapeproof_error *error)
{
    return sp_zip_stream_read(((struct array_stream *)stream)->open, into, length, error);
}

static void end_array(struct sp_stream *stream)
{
    struct array_stream *array = (struct array_stream *)stream;
    sp_zip_stream_close(array->open);
    array->open = NULL;
}

static void keep_array(struct sp_stream *stream)
{
    struct array_stream *array = (struct array_stream *)stream;
    sp_keep(array, array, sizeof *array);
    sp_zip_stream_keep(array->open);
}

static void close_deflated(void *owner)
{
    struct deflated *deflated = owner;
    sp_zip_close(deflated->zip);
    sp_arena_free(&deflated->arena);
    sp_free(deflated);
}

/* Whether the tensor is an array of the archive without a place in the file; *member is its member. */
static bool find_deflated(const struct sp_zip *zip, const struct shapeproof_tensor *tensor, struct sp_text *name,
                          size_t *member)
{
    name->length = 0;
    sp_text_printf(name, "%s.npy", tensor->name);
    *member = tensor->data_end ? SIZE_MAX : sp_zip_find(zip, name->data);
    return *member != SIZE_MAX && sp_zip_entry(zip, *member)->method != STORED;
}

void sp_npz_locate(struct sp_zip *zip, uint32_t file_index, struct sp_data_places *places)
{
    const struct shapeproof_inventory *inventory = places->inventory;
    struct deflated *deflated = sp_realloc(NULL, 1, sizeof *deflated);
    struct sp_text name = {0};
    struct sp_stream *streams[SP_STREAMS];
    *deflated = (struct deflated){.zip = zip};
    for (size_t i = 0; i < SP_STREAMS; i++) {
        deflated->streams[i] =
            (struct array_stream){{begin_array, next_of_array, end_array, keep_array}, deflated, NULL};
        streams[i] = &deflated->streams[i].stream;
    }
    deflated->members = sp_arena_array(&deflated->arena, inventory->count, sizeof *deflated->members);
    bool *is_own = sp_arena_array(&deflated->arena, inventory->count, sizeof *is_own);
    for (size_t i = 0; i < inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        if (tensor->file != file_index || !find_deflated(zip, tensor, &name, &deflated->members[i])) continue;
        is_own[i] = sp_zip_can_stream(sp_zip_entry(zip, deflated->members[i]));
        if (!is_own[i]) places->items[i].obstacle = "compressed to more than 2 GiB";
    }
    sp_text_free(&name);
    sp_in_order_add(places, streams, is_own, deflated, close_deflated);
}
