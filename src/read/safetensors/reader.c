/* SPDX-License-Identifier: MIT
 * safetensors: 8 bytes of little-endian length N, N bytes of JSON (read/safetensors/header.c), then the data of every
 * tensor, dense and row-major. The tensors must cover the data exactly: no hole, no overlap, nothing left over. Two
 * tensors can therefore not share bytes, and a tied weight is absent from the file.
 * https://github.com/huggingface/safetensors#format
 *
 * Leading and trailing whitespace around the JSON is accepted, alignment is not required: files of both kinds exist. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/names.h"
#include "read/reader.h"
#include "read/safetensors/header.h"

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
    unsigned bits = 0;
    if (probe->head_length > LENGTH_BYTES && begins_object(probe) && declared_length(probe->head) <= MAX_HEADER)
        bits = 37 + 8;
    return bits ? bits : probe->file->size > 0 && is_named_so(probe->file->path);
}

/* ---- the header's length ---- */

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
    free(text);
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
                        "%" PRIu64 " bytes missing: the last tensor %s ends at %" PRIu64 " of %" PRIu64
                        " data bytes (truncated download?)",
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

static bool index_safetensors(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                              struct shapeproof_error *error)
{
    const size_t first = inventory->count;
    size_t length;
    char *text = read_header(file, &length, error);
    if (!text) return false;
    const bool ok = sp_safetensors_scan_header(text, length, file_index, inventory, error);
    size_t blanks = 0;
    while (blanks < length && text[length - 1 - blanks] == ' ') blanks++;
    free(text);
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
