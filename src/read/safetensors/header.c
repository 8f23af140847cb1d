/* SPDX-License-Identifier: MIT
 * The grammar of the header is fixed, and so it is walked and not built into a tree:
 *
 *     {"__metadata__": {"key": "text", ...},
 *      "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * Stricter than the reference implementation where that lets two programs read different tensors out of one file: a
 * name that appears twice (found once all are known), NUL in a name, and an entry written as an array are refused. */
#include "read/safetensors/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/json_scan.h"
#include "base/names.h"

enum { MAX_METADATA = 1000 * 1000 }; /* entries */
enum { GIVE_BACK = 1 << 20 };        /* so many bytes of the text at once */

struct scan {
    struct sp_json json;
    struct shapeproof_inventory *inventory;
    struct shapeproof_error *error;
    uint32_t file;
    bool has_metadata;
    size_t given_back; /* so much of the text */
    uint64_t unknown_fields;
    struct sp_quoted first_unknown, first_unknown_tensor;
    uint64_t shape[SP_MAX_RANK]; /* of the entry at hand: too large to be cleared for each */
};

struct entry {
    enum shapeproof_dtype dtype;
    size_t rank;
    uint64_t range[2];
};

/* ---- the fields of an entry ---- */

static bool in_format(enum shapeproof_dtype dtype)
{
    switch (dtype) {
    case SHAPEPROOF_DTYPE_UNKNOWN:
    case SHAPEPROOF_DTYPE_C32:
    case SHAPEPROOF_DTYPE_C128:
    case SHAPEPROOF_DTYPE_QI8:
    case SHAPEPROOF_DTYPE_QU8:
    case SHAPEPROOF_DTYPE_QI32:
    case SHAPEPROOF_DTYPE_QU4X2:
    case SHAPEPROOF_DTYPE_QU2X4:
        return false;
    default:
        return true;
    }
}

static bool scan_dtype(struct scan *scan, struct entry *entry)
{
    const char *name = sp_json_string(&scan->json);
    if (!name) return false;
    entry->dtype = shapeproof_dtype_from_name(name, scan->json.string_length);
    return in_format(entry->dtype) || sp_malformed(scan->error, "unknown dtype %s", sp_quote(name).text);
}

static bool scan_shape(struct scan *scan, struct entry *entry)
{
    if (!sp_json_u64s(&scan->json, scan->shape, SP_MAX_RANK, &entry->rank)) return false;
    return entry->rank <= SP_MAX_RANK ||
           sp_fail(scan->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d dimensions", SP_MAX_RANK);
}

static bool scan_range(struct scan *scan, struct entry *entry)
{
    size_t count;
    if (!sp_json_u64s(&scan->json, entry->range, 2, &count)) return false;
    if (count > 2) return sp_malformed(scan->error, "data_offsets has more than two items");
    return count == 2 || sp_malformed(scan->error, "data_offsets has %zu items, expected [begin, end]", count);
}

static bool skip_unknown(struct scan *scan, const char *field, const char *tensor)
{
    size_t length;
    if (!scan->unknown_fields++) {
        scan->first_unknown = sp_quote(field);
        scan->first_unknown_tensor = sp_quote(tensor);
    }
    return sp_json_skip(&scan->json, &length) != NULL;
}

/* ---- an entry ---- */

enum field { DTYPE, SHAPE, DATA_OFFSETS, FIELDS };

static enum field which_field(const char *key, size_t length)
{
    if (SP_IS(key, length, "dtype")) return DTYPE;
    if (SP_IS(key, length, "shape")) return SHAPE;
    return SP_IS(key, length, "data_offsets") ? DATA_OFFSETS : FIELDS;
}

static bool scan_field(struct scan *scan, enum field field, struct entry *entry)
{
    if (field == DTYPE) return scan_dtype(scan, entry);
    return field == SHAPE ? scan_shape(scan, entry) : scan_range(scan, entry);
}

static bool scan_fields(struct scan *scan, const char *tensor, struct entry *entry)
{
    static const char *const names[FIELDS] = {"dtype", "shape", "data_offsets"};
    bool seen[FIELDS] = {false};
    const char *key;
    if (!sp_json_open(&scan->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&scan->json, &first));) {
        const enum field field = which_field(key, scan->json.string_length);
        if (field == FIELDS) {
            if (!skip_unknown(scan, key, tensor)) return false;
            continue;
        }
        if (seen[field]) return sp_malformed(scan->error, "'%s' appears twice", key);
        seen[field] = true;
        if (!scan_field(scan, field, entry)) return false;
    }
    if (!sp_json_ok(&scan->json)) return false;
    for (size_t i = 0; i < FIELDS; i++)
        if (!seen[i]) return sp_malformed(scan->error, "'%s' is missing", names[i]);
    return true;
}

static bool refuse_measure(const struct shapeproof_tensor *tensor, struct shapeproof_error *error)
{
    uint64_t elements = 1, bits;
    bool fits = true;
    for (uint32_t i = 0; i < tensor->rank; i++) fits = fits && sp_mul_u64(elements, tensor->shape[i], &elements);
    if (!fits || !sp_mul_u64(elements, shapeproof_dtype_bits(tensor->dtype), &bits))
        return sp_malformed(error, "the shape overflows 64 bits");
    return sp_malformed(error, "%" PRIu64 " elements of %s (%u bits each) do not fill whole bytes", elements,
                        tensor->dtype_name, shapeproof_dtype_bits(tensor->dtype));
}

/* Experts are many, and have one shape. */
static const uint64_t *keep_shape(struct scan *scan, size_t rank)
{
    const struct shapeproof_inventory *inventory = scan->inventory;
    const struct shapeproof_tensor *before = inventory->count > 1 ? &inventory->tensors[inventory->count - 2] : NULL;
    if (before && before->rank == rank && rank && !memcmp(before->shape, scan->shape, rank * sizeof *scan->shape))
        return before->shape;
    uint64_t *shape = sp_arena_array(&scan->inventory->arena, rank, sizeof *shape);
    if (rank) memcpy(shape, scan->shape, rank * sizeof *shape);
    return shape;
}

static bool add_tensor(struct scan *scan, const char *name, size_t length, const struct entry *entry)
{
    struct sp_arena *arena = &scan->inventory->arena;
    struct shapeproof_tensor *tensor = sp_inventory_add(scan->inventory, scan->error);
    if (!tensor) return false;
    tensor->name = sp_arena_copy(arena, name, length);
    tensor->dtype = entry->dtype;
    tensor->dtype_name = shapeproof_dtype_name(entry->dtype);
    tensor->shape = keep_shape(scan, entry->rank);
    tensor->rank = (uint32_t)entry->rank;
    tensor->file = scan->file;
    tensor->data_begin = entry->range[0];
    tensor->data_end = entry->range[1];
    if (!sp_tensor_measure(tensor)) return refuse_measure(tensor, scan->error);
    if (tensor->data_begin > tensor->data_end || tensor->data_end - tensor->data_begin != tensor->bytes)
        return sp_malformed(
            scan->error,
            "%" PRIu64 " elements of %s need %" PRIu64 " bytes, data_offsets are [%" PRIu64 ", %" PRIu64 ")",
            tensor->parameters, tensor->dtype_name, tensor->bytes, tensor->data_begin, tensor->data_end);
    return true;
}

static bool scan_entry(struct scan *scan, const char *key)
{
    const size_t length = scan->json.string_length;
    struct entry entry = {0};
    if (scan_fields(scan, key, &entry) && add_tensor(scan, key, length, &entry)) return true;
    struct sp_quoted tensor = sp_quote(key);
    char prefix[sizeof tensor.text + 8];
    snprintf(prefix, sizeof prefix, "tensor %s", tensor.text);
    sp_error_prefix(scan->error, prefix);
    return false;
}

/* ---- the whole header ---- */

static bool scan_metadata(struct scan *scan)
{
    const char *key;
    size_t count = 0;
    if (scan->has_metadata) return sp_malformed(scan->error, "header: '__metadata__' appears twice");
    scan->has_metadata = true;
    if (sp_json_null(&scan->json)) return true; /* MLX writes it so */
    if (!sp_json_open(&scan->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&scan->json, &first));) {
        if (count++ == MAX_METADATA)
            return sp_fail(scan->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "__metadata__: more than %d entries", MAX_METADATA);
        if (sp_json_peek(&scan->json) != '"')
            return sp_malformed(scan->error, "__metadata__: the value of %s is not a string", sp_quote(key).text);
        const char *value = sp_json_string(&scan->json);
        if (!value) return false;
        sp_inventory_add_metadata(scan->inventory, key, value);
    }
    return sp_json_ok(&scan->json);
}

/* What was read has become tensors, which need as much memory again. */
static void give_back_text(struct scan *scan)
{
    if (scan->json.offset - scan->given_back < GIVE_BACK) return;
    sp_give_back(scan->json.text + scan->given_back, scan->json.offset - scan->given_back);
    scan->given_back = scan->json.offset;
}

static bool scan_tensor_members(struct scan *scan)
{
    const char *key;
    if (!sp_json_check(&scan->json) || !sp_json_open(&scan->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&scan->json, &first));) {
        if (scan->json.string_length > SP_MAX_NAME)
            return sp_fail(scan->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "tensor name %s is longer than %d bytes", sp_quote(key).text, SP_MAX_NAME);
        if (!(SP_IS(key, scan->json.string_length, "__metadata__") ? scan_metadata(scan) : scan_entry(scan, key)))
            return false;
        give_back_text(scan);
    }
    return sp_json_end(&scan->json);
}

bool sp_safetensors_scan_header(char *text, size_t length, uint32_t file_index, struct shapeproof_inventory *inventory,
                                struct shapeproof_error *error)
{
    struct scan scan = {
        .json =
            {.what = "header", .text = text, .length = length, .origin = SP_SAFETENSORS_LENGTH_BYTES, .error = error},
        .inventory = inventory,
        .error = error,
        .file = file_index,
    };
    const bool ok = scan_tensor_members(&scan);
    if (scan.unknown_fields)
        sp_inventory_warn(inventory, "unknown field %s in tensor %s ignored (%" PRIu64 " such fields)",
                          scan.first_unknown.text, scan.first_unknown_tensor.text, scan.unknown_fields);
    return ok;
}
