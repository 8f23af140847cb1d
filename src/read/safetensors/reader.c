/* SPDX-License-Identifier: MIT
 * safetensors: 8 bytes of little-endian length N, N bytes of JSON (read/safetensors/header.c), then the data of every
 * tensor, dense and row-major. The tensors must cover the data exactly: no hole, no overlap, nothing left over. Two
 * tensors can therefore not share bytes, and a tied weight is absent from the file.
 * https://github.com/huggingface/safetensors#format
 *
 * Leading and trailing whitespace around the JSON is accepted, alignment is not required: files of both kinds exist. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/json_scan.h"
#include "base/names.h"
#include "base/system/system.h"
#include "model/inventory.h"
#include "read/reader.h"

/* ---- the header ---- */

/* The grammar of the header is fixed, and so it is walked and not built into a tree:
 *
 *     {"__metadata__": {"key": "text", ...},
 *      "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * Stricter than the reference implementation where that lets two programs read different tensors out of one file: a
 * name that appears twice (found once all are known), NUL in a name, and an entry written as an array are refused. */

enum { SP_SAFETENSORS_LENGTH_BYTES = 8 }; /* the header's length, which stands before it */

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

enum { LEVELS_OF_ENTRY = 2 }; /* an unknown field is in an entry, which is in the header */

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

enum field {
    DTYPE,
    SHAPE,
    DATA_OFFSETS,
    FIELDS /* how many there are; a key that is none of them */
};

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

/* Reads the object of one tensor: dtype, shape and data_offsets, each exactly once. Other members are skipped with
 * a warning. */
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

/* The shape of the entry, in the arena. It is shared with the tensor before where both are equal: experts are many, and
 * have one shape. */
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

/* Adds the tensor, and checks that its data_offsets span exactly the bytes that its shape and dtype need. */
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

/* Reads __metadata__: an object of strings, at most once. */
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
    sp_system_give_back(scan->json.text + scan->given_back, scan->json.offset - scan->given_back);
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

/* Appends the tensors that the header declares, in its order and each checked by itself, and its metadata. The byte
 * ranges are still relative to the end of the header, and not yet compared with one another or with the file.
 * `text` is lost. */
static bool safetensors_scan_header(char *text, size_t length, uint32_t file_index,
                                    struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct scan scan = {
        .json = {.what = "header",
                 .text = text,
                 .length = length,
                 .origin = SP_SAFETENSORS_LENGTH_BYTES,
                 .error = error,
                 .numbers = SP_JSON_OF_SERDE,
                 .levels = LEVELS_OF_ENTRY},
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

/* ---- reader ---- */

static const struct sp_format safetensors_format = {"safetensors", SP_TENSORS_ALONE};

enum { LENGTH_BYTES = SP_SAFETENSORS_LENGTH_BYTES, MAX_HEADER = 100 * 1000 * 1000 };

/* ---- recognition ---- */

static uint64_t declared_length(const unsigned char *head)
{
    struct sp_cursor cursor = sp_cursor_of(head, LENGTH_BYTES);
    return sp_cursor_le(&cursor, LENGTH_BYTES);
}

static bool begins_object(const struct sp_probe *probe)
{
    for (size_t i = LENGTH_BYTES; i < probe->head_length; i++)
        if (!memchr(" \n\r\t", probe->head[i], 4)) return probe->head[i] == '{';
    return false;
}

static bool is_named_so(const char *path)
{
    static const char suffix[] = ".safetensors";
    const size_t length = strlen(path), end = sizeof suffix - 1;
    return length >= end && strcmp(path + length - end, suffix) == 0;
}

/* The bits of the length that its limit forces to zero, and the brace. A damaged or shortened file is recognised by
 * its name alone, with the lowest score, so that the message says what is wrong with it. */
static unsigned probe_safetensors(const struct sp_probe *probe)
{
    enum { ZERO_BITS = 64 - 27 /* MAX_HEADER has 27 */, BRACE_BITS = 8 };
    if (probe->head_length > LENGTH_BYTES && begins_object(probe) && declared_length(probe->head) <= MAX_HEADER)
        return ZERO_BITS + BRACE_BITS;
    return probe->file->size > 0 && is_named_so(probe->file->path);
}

/* ---- the header's length ---- */

/* Reads the header: 8 bytes of its length, then that many bytes of JSON. NULL with an error; the caller frees it. */
static char *read_header(const struct sp_file *file, size_t *length, struct shapeproof_error *error)
{
    unsigned char head[LENGTH_BYTES];
    if (file->size < LENGTH_BYTES) {
        sp_malformed(error, "%" PRIu64 " bytes, shorter than the 8-byte header length", file->size);
        return NULL;
    }
    if (!sp_file_read(file, 0, head, sizeof head, error)) return NULL;
    const uint64_t declared = declared_length(head), left = file->size - LENGTH_BYTES;
    if (declared > MAX_HEADER) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                "header length %" PRIu64 " is over the limit of %d bytes", declared, MAX_HEADER);
        return NULL;
    }
    if (declared > left) {
        sp_malformed(error, "ends inside the header: %" PRIu64 " bytes of %" PRIu64 " (truncated download?)", left,
                     declared);
        return NULL;
    }
    *length = (size_t)declared;
    char *text = sp_realloc(NULL, *length + 1, 1);
    if (sp_file_read(file, LENGTH_BYTES, text, *length, error)) return text;
    sp_free(text);
    return NULL;
}

/* ---- coverage of the data ---- */

static int compare_ranges(const void *left, const void *right)
{
    const struct shapeproof_tensor *a = left, *b = right;
    if (a->data_begin != b->data_begin) return a->data_begin < b->data_begin ? -1 : 1;
    if (a->data_end != b->data_end) return a->data_end < b->data_end ? -1 : 1;
    return strcmp(a->name, b->name); /* empty tensors at one place */
}

static bool refuse_gap(const struct shapeproof_tensor *before, const struct shapeproof_tensor *tensor,
                       struct shapeproof_error *error)
{
    const uint64_t expected = before ? before->data_end : 0;
    if (before && strcmp(before->name, tensor->name) == 0)
        return sp_malformed(error, "tensor name %s appears twice", sp_quote(tensor->name).text);
    if (tensor->data_begin < expected)
        return sp_malformed(error, "tensor %s: bytes [%" PRIu64 ", %" PRIu64 ") overlap %s [%" PRIu64 ", %" PRIu64 ")",
                            sp_quote(before->name).text, before->data_begin, before->data_end,
                            sp_quote(tensor->name).text, tensor->data_begin, tensor->data_end);
    return sp_malformed(error, "data bytes [%" PRIu64 ", %" PRIu64 ") before tensor %s belong to no tensor", expected,
                        tensor->data_begin, sp_quote(tensor->name).text);
}

static bool refuse_end(const struct shapeproof_tensor *last, uint64_t end, uint64_t size,
                       struct shapeproof_error *error)
{
    if (!last) return sp_malformed(error, "%" PRIu64 " bytes after the header, which declares no tensor", size);
    if (end < size)
        return sp_malformed(
            error, "%" PRIu64 " bytes after the last tensor %s (it ends at %" PRIu64 " of %" PRIu64 " data bytes)",
            size - end, sp_quote(last->name).text, end, size);
    return sp_malformed(error,
                        "%" PRIu64 " bytes missing: the last tensor %s ends at %" PRIu64
                        " although there are only %" PRIu64 " data bytes (truncated download?)",
                        end - size, sp_quote(last->name).text, end, size);
}

/* The first tensor that does not follow the one before it, or `count`; `end` is where the last that does ends. */
static size_t find_gap(const struct shapeproof_tensor *tensors, size_t count, uint64_t *end)
{
    size_t i = 0;
    *end = 0;
    for (; i < count && tensors[i].data_begin == *end; i++) {
        if (i && compare_ranges(&tensors[i - 1], &tensors[i]) > 0) break;
        *end = tensors[i].data_end;
    }
    return i;
}

/* Checks that the tensors follow one another through all `size` bytes of data, and sorts them by place; most writers
 * leave them in that order. */
static bool check_coverage(struct shapeproof_tensor *tensors, size_t count, uint64_t size,
                           struct shapeproof_error *error)
{
    uint64_t end;
    size_t gap = find_gap(tensors, count, &end);
    if (gap < count) {
        qsort(tensors, count, sizeof *tensors, compare_ranges);
        gap = find_gap(tensors, count, &end);
    }
    if (gap < count) return refuse_gap(gap ? &tensors[gap - 1] : NULL, &tensors[gap], error);
    return end == size || refuse_end(count ? &tensors[count - 1] : NULL, end, size, error);
}

/* Reads the header, checks that the tensors cover the data without gaps or overlaps, and makes the offsets relative
 * to the file. Spaces at the end of the header are padding. */
static bool index_safetensors(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                              struct shapeproof_error *error)
{
    const size_t first = inventory->count;
    size_t length;
    char *text = read_header(file, &length, error);
    if (!text) return false;
    const bool ok = safetensors_scan_header(text, length, file_index, inventory, error);
    size_t blanks = 0;
    while (blanks < length && text[length - 1 - blanks] == ' ') blanks++;
    sp_free(text);
    if (!ok) return false;
    struct shapeproof_tensor *tensors =
        inventory->tensors ? inventory->tensors + first : NULL; /* a header may declare none */
    const size_t count = inventory->count - first;
    const uint64_t data = LENGTH_BYTES + (uint64_t)length;
    if (!check_coverage(tensors, count, file->size - data, error)) return false;
    for (size_t i = 0; i < count; i++) {
        tensors[i].data_begin += data;
        tensors[i].data_end += data;
    }
    sp_inventory_claim(inventory, file_index, 0, data - blanks, SP_USE_STRUCTURE);
    sp_inventory_claim(inventory, file_index, data - blanks, data, SP_USE_PADDING);
    inventory->format = &safetensors_format;
    return true;
}

static const struct sp_file_ending endings[] = {{".safetensors", SP_IN_DIRECTORIES | SP_IN_ARCHIVES}, {NULL, 0}};

const struct sp_reader sp_reader_safetensors = {
    .name = "safetensors", .endings = endings, .probe = probe_safetensors, .index = index_safetensors};
