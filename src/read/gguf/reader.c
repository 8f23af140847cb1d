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
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/names.h"
#include "base/real.h"
#include "base/shard_name.h"
#include "base/utf8.h"
#include "base/value.h"
#include "model/format.h"
#include "model/inventory.h"
#include "read/gguf/stream.h"
#include "read/reader.h"
#include "shapeproof/dtype.h"

/* ---- metadata ---- */

/* The keys and values in the header of a GGUF file, as text: numbers and lists as JSON has them. Of a list that is
 * long, such as the tokens of a vocabulary, only what it is: "32000 strings". */

/* What the reader itself has to know. */
struct sp_gguf_facts {
    uint64_t alignment; /* of the data: a power of two */
    uint64_t pieces;    /* how many files the model is split into; 0 when it does not say */
    uint64_t tensors;   /* in all of them; 0 when it does not say */
    uint64_t piece;     /* which one this is, from 0 */
};

/* Lists up to these are kept: there are some of one number for each layer. */
enum { MAX_ITEMS = 1024, MAX_KEPT_STRINGS = 64, MAX_VALUE = 1 << 20, MAX_PAIRS = 1000 * 1000, MAX_LIST_DEPTH = 8 };

enum kind { UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64, INT64, FLOAT64, KINDS };

static const struct {
    unsigned bytes; /* 0: it has a length of its own */
    const char *noun;
} kinds[KINDS] = {
    [UINT8] = {1, "integers"},  [INT8] = {1, "integers"},  [UINT16] = {2, "integers"}, [INT16] = {2, "integers"},
    [UINT32] = {4, "integers"}, [INT32] = {4, "integers"}, [FLOAT32] = {4, "numbers"}, [BOOL] = {1, "booleans"},
    [STRING] = {0, "strings"},  [ARRAY] = {0, "lists"},    [UINT64] = {8, "integers"}, [INT64] = {8, "integers"},
    [FLOAT64] = {8, "numbers"},
};

struct metadata_reader {
    struct sp_gguf_stream *stream;
    struct shapeproof_inventory *inventory;
    struct sp_gguf_facts *facts;
    struct sp_text key, value, string;
    struct sp_map keys; /* of the file so far, which are in the arena */
    struct sp_arena arena;
    enum kind kind; /* of the value */
    bool integral;  /* it is `number`, an integer that is not negative */
    uint64_t number;
};

/* ---- numbers ---- */

/* Of a float the fewest digits that read back as the same float: 1e-05, not 9.9999997473787516e-06. */
static void put_float(struct sp_text *text, uint32_t bits)
{
    struct sp_real_text digits;
    int precision = 6;
    float number;
    memcpy(&number, &bits, sizeof number);
    do digits = sp_real_text((double)number, precision);
    while (isfinite(number) && sp_real_read_float(digits.text) != number && precision++ < 9);
    sp_text_puts(text, digits.text);
    if (isfinite(number) && !strpbrk(digits.text, ".e")) sp_text_puts(text, ".0");
}

static void put_double(struct sp_text *text, uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    if (isfinite(number)) sp_value_json(text, sp_value_real(number));
    else sp_text_puts(text, sp_real_text(number, 6).text);
}

/* Of two's complement in so many bytes. */
static int64_t signed_of(uint64_t value, unsigned bytes)
{
    const uint64_t sign = UINT64_C(1) << (bytes * 8 - 1);
    return value & sign ? -(int64_t)(sign - 1 - (value & (sign - 1))) - 1 : (int64_t)value;
}

static void put_gguf_number(struct metadata_reader *reader, enum kind kind)
{
    const uint64_t raw = sp_gguf_integer(reader->stream, kinds[kind].bytes);
    struct sp_text *text = &reader->value;
    reader->integral = false;
    if (kind == FLOAT32) put_float(text, (uint32_t)raw);
    else if (kind == FLOAT64) put_double(text, raw);
    else if (kind == BOOL) sp_text_puts(text, raw ? "true" : "false");
    else if (kind == INT8 || kind == INT16 || kind == INT32 || kind == INT64)
        sp_text_printf(text, "%" PRId64, signed_of(raw, kinds[kind].bytes));
    else {
        sp_text_printf(text, "%" PRIu64, raw);
        reader->integral = true;
        reader->number = raw;
    }
}

/* ---- strings ---- */

static bool is_gguf_text(const struct sp_text *string)
{
    return sp_utf8_check(string->data, string->length) == string->length && strlen(string->data) == string->length;
}

enum quoting { BARE, QUOTED };

/* Reads a string and appends it to the value: BARE where it is the whole value, QUOTED as JSON has it in a list. One
 * that is long, or no UTF-8 text, is described instead: "70 bytes that are no text". */
static void put_string(struct metadata_reader *reader, enum quoting quoting)
{
    const uint64_t length = sp_gguf_count(reader->stream);
    if (length > MAX_VALUE) {
        sp_gguf_skip(reader->stream, length);
        sp_text_printf(&reader->value, "%" PRIu64 " bytes of text", length);
        return;
    }
    sp_gguf_bytes(reader->stream, length, &reader->string);
    if (!is_gguf_text(&reader->string)) sp_text_printf(&reader->value, "%" PRIu64 " bytes that are no text", length);
    else if (quoting == QUOTED) sp_text_json(&reader->value, reader->string.data);
    else sp_text_append(&reader->value, reader->string.data, reader->string.length);
}

/* ---- lists ---- */

static bool is_known_kind(struct metadata_reader *reader, uint64_t kind)
{
    if (kind < KINDS) return true;
    if (reader->stream->ok)
        sp_malformed(reader->stream->error, "metadata %s: a value of type %" PRIu64 ", which does not exist",
                     sp_quote(reader->key.data).text, kind);
    return reader->stream->ok = false;
}

struct list {
    enum kind kind; /* of its items */
    uint64_t left;  /* items that are still to be read */
};

/* Reads what stands in front of the items of a list. */
static bool open_list(struct metadata_reader *reader, struct list *list)
{
    const uint64_t kind = sp_gguf_integer(reader->stream, 4);
    const uint64_t count = sp_gguf_count(reader->stream);
    if (!is_known_kind(reader, kind)) return false;
    *list = (struct list){(enum kind)kind, count};
    return reader->stream->ok;
}

/* Passes over items without a list among them. Each string takes the bytes of its length at least, so that this ends
 * where the file does. */
static void skip_items(struct metadata_reader *reader, struct list *list)
{
    const unsigned bytes = kinds[list->kind].bytes;
    if (bytes && list->left > UINT64_MAX / bytes)
        reader->stream->ok =
            sp_malformed(reader->stream->error,
                         "a list at byte %" PRIu64 ": %" PRIu64 " items of %u bytes, which is more than any file has",
                         reader->stream->offset, list->left, bytes);
    else if (bytes) sp_gguf_skip(reader->stream, list->left * bytes);
    else
        for (; list->left && reader->stream->ok; list->left--)
            sp_gguf_skip(reader->stream, sp_gguf_count(reader->stream));
    list->left = 0;
}

/* Passes over the items of a list, which may be lists again. A stack takes the place of recursion. False with an error
 * when they are nested too deep, or the file ends; no writer is known that makes lists of lists. */
static bool skip_lists(struct metadata_reader *reader, struct list outer)
{
    struct list stack[MAX_LIST_DEPTH] = {outer};
    for (size_t depth = 1; depth && reader->stream->ok;) {
        struct list *top = &stack[depth - 1];
        if (top->kind != ARRAY) skip_items(reader, top);
        if (!top->left) {
            depth--;
            continue;
        }
        top->left--;
        if (depth == MAX_LIST_DEPTH) {
            sp_fail(reader->stream->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                    "metadata %s: lists are nested deeper than %d levels", sp_quote(reader->key.data).text,
                    MAX_LIST_DEPTH);
            return reader->stream->ok = false;
        }
        if (!open_list(reader, &stack[depth++])) return false;
    }
    return reader->stream->ok;
}

/* Reads a list and appends it to the value: "[1, 2]", or, when it is long or has lists in it, "32000 strings". */
static void put_gguf_list(struct metadata_reader *reader)
{
    struct list list;
    if (!open_list(reader, &list)) return;
    if (list.kind == ARRAY)
        sp_inventory_warn(reader->inventory, "llama.cpp refuses it: metadata %s is a list of lists",
                          sp_quote(reader->key.data).text);
    if (list.kind == ARRAY || list.left > (list.kind == STRING ? MAX_KEPT_STRINGS : MAX_ITEMS)) {
        sp_text_printf(&reader->value, "%" PRIu64 " %s", list.left, kinds[list.kind].noun);
        skip_lists(reader, list);
        return;
    }
    sp_text_puts(&reader->value, "[");
    for (uint64_t i = 0; i < list.left && reader->stream->ok; i++) {
        if (i) sp_text_puts(&reader->value, ", ");
        if (list.kind == STRING) put_string(reader, QUOTED);
        else put_gguf_number(reader, list.kind);
    }
    sp_text_puts(&reader->value, "]");
    reader->integral = false;
}

/* ---- pairs ---- */

static bool read_key(struct metadata_reader *reader)
{
    const uint64_t at = reader->stream->offset, length = sp_gguf_count(reader->stream);
    if (!reader->stream->ok) return false;
    if (length > SP_MAX_NAME) {
        sp_malformed(reader->stream->error, "metadata at byte %" PRIu64 ": a key of %" PRIu64 " bytes", at, length);
        return reader->stream->ok = false;
    }
    sp_gguf_bytes(reader->stream, length, &reader->key);
    if (reader->stream->ok && !is_gguf_text(&reader->key)) {
        sp_malformed(reader->stream->error, "metadata at byte %" PRIu64 ": the key is not UTF-8 without NUL", at);
        return reader->stream->ok = false;
    }
    return reader->stream->ok;
}

/* Warns of a key that is empty, or comes again in the file, also with the same value: gguf-py reads both. */
static void check_key(struct metadata_reader *reader)
{
    const char *key = reader->key.data;
    if (!reader->key.length)
        sp_inventory_warn(reader->inventory, "llama.cpp refuses it: a key of the metadata is empty");
    if (sp_map_get(&reader->keys, key) == SIZE_MAX) sp_map_add(&reader->keys, sp_arena_string(&reader->arena, key), 0);
    else
        sp_inventory_warn(reader->inventory, "llama.cpp refuses it: the metadata have the key %s more than once",
                          sp_quote(key).text);
}

static bool read_pair(struct metadata_reader *reader)
{
    if (!read_key(reader)) return false;
    check_key(reader);
    const uint64_t kind = sp_gguf_integer(reader->stream, 4);
    if (!is_known_kind(reader, kind)) return false;
    reader->value.length = 0;
    reader->kind = (enum kind)kind;
    reader->integral = false;
    if (kind == STRING) put_string(reader, BARE);
    else if (kind == ARRAY) put_gguf_list(reader);
    else put_gguf_number(reader, (enum kind)kind);
    return reader->stream->ok;
}

static bool note_alignment(struct metadata_reader *reader)
{
    const uint64_t alignment = reader->number;
    if (!reader->integral || !alignment || alignment & (alignment - 1) || alignment > UINT32_MAX) {
        sp_malformed(reader->stream->error, "metadata 'general.alignment' is %s, not an integer that is a power of two",
                     reader->value.data);
        return reader->stream->ok = false;
    }
    if (reader->kind != UINT32) { /* gguf-py and llama.cpp refuse others */
        sp_malformed(reader->stream->error, "metadata 'general.alignment' is an integer of %u bits, not of 32",
                     kinds[reader->kind].bytes * 8);
        return reader->stream->ok = false;
    }
    reader->facts->alignment = alignment;
    return true;
}

static bool note_facts(struct metadata_reader *reader)
{
    const char *key = reader->key.data;
    if (strcmp(key, "general.alignment") == 0) return note_alignment(reader);
    if (strncmp(key, "split.", 6) != 0 || !reader->value.data) return true;
    const uint64_t number = strtoull(reader->value.data, NULL, 10); /* of any of the kinds of integers */
    if (strcmp(key, "split.no") == 0) reader->facts->piece = number;
    if (strcmp(key, "split.count") == 0) reader->facts->pieces = number;
    if (strcmp(key, "split.tensors.count") == 0) reader->facts->tensors = number;
    return true;
}

/* Each piece of a model has a number of its own; all else is the same in those that repeat it. */
static bool keep_pair(struct metadata_reader *reader)
{
    const bool own = reader->inventory->file_count > 1 && strcmp(reader->key.data, "split.no") == 0;
    if (!note_facts(reader)) return false;
    if (!own)
        sp_inventory_add_metadata(reader->inventory, reader->key.data, reader->value.length ? reader->value.data : "");
    return true;
}

/* Reads `count` pairs into the inventory. */
static bool gguf_read_metadata(struct sp_gguf_stream *stream, uint64_t count, struct shapeproof_inventory *inventory,
                               struct sp_gguf_facts *facts)
{
    struct metadata_reader reader = {.stream = stream, .inventory = inventory, .facts = facts};
    if (count > MAX_PAIRS)
        return sp_fail(stream->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "%" PRIu64 " metadata pairs are over the limit of %d", count, MAX_PAIRS);
    for (uint64_t i = 0; i < count && stream->ok; i++)
        if (read_pair(&reader)) stream->ok = keep_pair(&reader);
    sp_text_free(&reader.key);
    sp_text_free(&reader.value);
    sp_text_free(&reader.string);
    sp_map_free(&reader.keys);
    sp_arena_free(&reader.arena);
    return stream->ok;
}

/* ---- tensor entries ---- */

/* The tensors of a GGUF file: what the header says of each, and whether their data lie where it says. */

/* ---- tensor types ---- */

/* The element types of ggml. Most are blocks: 32 or 256 elements of a row, packed with their scales. */

struct ggml_type {
    uint32_t number;
    const char *name;
    enum shapeproof_dtype dtype; /* SHAPEPROOF_DTYPE_UNKNOWN of blocks: no element has a size of its own */
    uint32_t elements;           /* in a block; 1 of a plain type */
    uint32_t bytes;              /* of a block */
    bool removed;                /* files of it exist, and ggml reads them no longer */
};

/* clang-format off */
#define PLAIN(number, name, bytes) {number, #name, SHAPEPROOF_DTYPE_##name, 1, bytes, false}
#define BLOCK(number, name, elements, bytes) {number, #name, SHAPEPROOF_DTYPE_UNKNOWN, elements, bytes, false}
#define REMOVED(number, name, elements, bytes) {number, #name, SHAPEPROOF_DTYPE_UNKNOWN, elements, bytes, true}
/* clang-format on */

/* By number. Those that were removed are older than the format, or layouts of Q4_0 and IQ4_NL for single processors. */
static const struct ggml_type types[] = {
    PLAIN(0, F32, 4),
    PLAIN(1, F16, 2),
    BLOCK(2, Q4_0, 32, 18),
    BLOCK(3, Q4_1, 32, 20),
    REMOVED(4, Q4_2, 16, 10),
    REMOVED(5, Q4_3, 16, 12),
    BLOCK(6, Q5_0, 32, 22),
    BLOCK(7, Q5_1, 32, 24),
    BLOCK(8, Q8_0, 32, 34),
    BLOCK(9, Q8_1, 32, 40),
    BLOCK(10, Q2_K, 256, 84),
    BLOCK(11, Q3_K, 256, 110),
    BLOCK(12, Q4_K, 256, 144),
    BLOCK(13, Q5_K, 256, 176),
    BLOCK(14, Q6_K, 256, 210),
    BLOCK(15, Q8_K, 256, 292),
    BLOCK(16, IQ2_XXS, 256, 66),
    BLOCK(17, IQ2_XS, 256, 74),
    BLOCK(18, IQ3_XXS, 256, 98),
    BLOCK(19, IQ1_S, 256, 50),
    BLOCK(20, IQ4_NL, 32, 18),
    BLOCK(21, IQ3_S, 256, 110),
    BLOCK(22, IQ2_S, 256, 82),
    BLOCK(23, IQ4_XS, 256, 136),
    PLAIN(24, I8, 1),
    PLAIN(25, I16, 2),
    PLAIN(26, I32, 4),
    PLAIN(27, I64, 8),
    PLAIN(28, F64, 8),
    BLOCK(29, IQ1_M, 256, 56),
    PLAIN(30, BF16, 2),
    REMOVED(31, Q4_0_4_4, 32, 18),
    REMOVED(32, Q4_0_4_8, 32, 18),
    REMOVED(33, Q4_0_8_8, 32, 18),
    BLOCK(34, TQ1_0, 256, 54),
    BLOCK(35, TQ2_0, 256, 66),
    REMOVED(36, IQ4_NL_4_4, 32, 18),
    REMOVED(37, IQ4_NL_4_8, 32, 18),
    REMOVED(38, IQ4_NL_8_8, 32, 18),
    BLOCK(39, MXFP4, 32, 17),
    BLOCK(40, NVFP4, 64, 36),
    BLOCK(41, Q1_0, 128, 18),
    BLOCK(42, Q2_0, 64, 18),
};

/* NULL for a number that is not known. */
static const struct ggml_type *ggml_type(uint32_t number)
{
    return number < sizeof types / sizeof *types ? &types[number] : NULL; /* every number up to the last has a row */
}

/* ---- what the header says of a tensor ---- */

static bool read_gguf_name(struct sp_gguf_stream *stream, struct sp_text *name)
{
    const uint64_t at = stream->offset, length = sp_gguf_count(stream);
    if (!stream->ok) return false;
    if (length > SP_MAX_NAME)
        return sp_malformed(stream->error, "tensor at byte %" PRIu64 ": a name of %" PRIu64 " bytes", at, length);
    sp_gguf_bytes(stream, length, name);
    if (!stream->ok) return false;
    if (sp_utf8_check(name->data, name->length) < name->length || strlen(name->data) < name->length)
        return sp_malformed(stream->error, "tensor at byte %" PRIu64 ": the name is not UTF-8 without NUL", at);
    return true;
}

/* The file has the innermost dimension first. */
static bool read_gguf_shape(struct sp_gguf_stream *stream, struct shapeproof_inventory *inventory,
                            struct shapeproof_tensor *tensor)
{
    const uint64_t rank = sp_gguf_integer(stream, 4);
    if (!stream->ok) return false;
    if (rank > SP_MAX_RANK)
        return sp_fail(stream->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "tensor %s: %" PRIu64 " dimensions, more than %d", sp_quote(tensor->name).text, rank,
                       SP_MAX_RANK);
    uint64_t *shape = sp_arena_array(&inventory->arena, (size_t)rank, sizeof *shape);
    for (size_t i = (size_t)rank; i-- > 0;) shape[i] = sp_gguf_count(stream);
    tensor->shape = shape;
    tensor->rank = (uint32_t)rank;
    return stream->ok;
}

static bool measure_blocks(struct shapeproof_tensor *tensor, const struct ggml_type *type,
                           struct shapeproof_error *error)
{
    const uint64_t row = tensor->rank ? tensor->shape[tensor->rank - 1] : 1;
    if (row % type->elements)
        return sp_malformed(error, "tensor %s: rows of %" PRIu64 " elements are not whole blocks of %s, which have %u",
                            sp_quote(tensor->name).text, row, type->name, (unsigned)type->elements);
    if (!sp_mul_u64(tensor->parameters / type->elements, type->bytes, &tensor->bytes))
        return sp_malformed(error, "tensor %s: the shape overflows 64 bits", sp_quote(tensor->name).text);
    return true;
}

static bool set_type(struct shapeproof_tensor *tensor, uint32_t number, struct shapeproof_inventory *inventory,
                     struct shapeproof_error *error)
{
    const struct ggml_type *type = ggml_type(number);
    tensor->dtype = type ? type->dtype : SHAPEPROOF_DTYPE_UNKNOWN;
    if (!sp_tensor_measure(tensor))
        return sp_malformed(error, "tensor %s: the shape overflows 64 bits", sp_quote(tensor->name).text);
    if (!type) {
        tensor->dtype_name = sp_arena_printf(&inventory->arena, "type %u", (unsigned)number);
        sp_inventory_warn(inventory,
                          "tensor %s is of type %u of ggml, which this version does not know: its size "
                          "in bytes is unknown",
                          sp_quote(tensor->name).text, (unsigned)number);
        return true;
    }
    tensor->dtype_name = type->name;
    if (type->removed)
        sp_inventory_warn(inventory, "tensor %s is of type %s, which ggml has removed: quantise the model again",
                          sp_quote(tensor->name).text, type->name);
    return type->dtype != SHAPEPROOF_DTYPE_UNKNOWN || measure_blocks(tensor, type, error);
}

/* Warns of the first tensor from `first` on that llama.cpp does not take, of each reason: a name or a rank beyond the
 * limits of ggml, or a place in the data before that of the tensor in front of it in the header. gguf-py reads them. */
static void warn_of_refused(size_t first, struct shapeproof_inventory *inventory)
{
    enum { MAX_GGML_NAME = 63 /* bytes: GGML_MAX_NAME without the NUL */, MAX_GGML_RANK = 4 };
    const struct shapeproof_tensor *named = NULL, *ranked = NULL, *placed = NULL;
    for (size_t i = inventory->count; i-- > first;) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        if (strlen(tensor->name) > MAX_GGML_NAME) named = tensor;
        if (tensor->rank > MAX_GGML_RANK) ranked = tensor;
        if (i > first && tensor->data_begin < tensor[-1].data_begin) placed = tensor;
    }
    if (named)
        sp_inventory_warn(inventory,
                          "llama.cpp refuses it, unless it is built for longer names: the name of tensor %s has %zu "
                          "bytes, at most %d",
                          sp_quote(named->name).text, strlen(named->name), MAX_GGML_NAME);
    if (ranked)
        sp_inventory_warn(inventory, "llama.cpp refuses it: tensor %s has %" PRIu32 " dimensions, at most %d",
                          sp_quote(ranked->name).text, ranked->rank, MAX_GGML_RANK);
    if (placed)
        sp_inventory_warn(inventory,
                          "llama.cpp refuses it: the data of tensor %s lie before those of %s, which is in front of it "
                          "in the header",
                          sp_quote(placed->name).text, sp_quote(placed[-1].name).text);
}

static bool read_tensor(struct sp_gguf_stream *stream, struct sp_text *name, uint32_t file_index,
                        struct shapeproof_inventory *inventory)
{
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, stream->error);
    if (!tensor || !read_gguf_name(stream, name)) return false;
    tensor->name = sp_arena_copy(&inventory->arena, name->data, name->length);
    tensor->file = file_index;
    tensor->flags = stream->big_endian ? SHAPEPROOF_TENSOR_BIG_ENDIAN : 0;
    if (!read_gguf_shape(stream, inventory, tensor)) return false;
    const uint32_t type = (uint32_t)sp_gguf_integer(stream, 4);
    tensor->data_begin = sp_gguf_integer(stream, 8);
    if (!stream->ok || !set_type(tensor, type, inventory, stream->error)) return false;
    if (!sp_add_u64(tensor->data_begin, tensor->bytes, &tensor->data_end))
        return sp_malformed(stream->error, "tensor %s: its data would end beyond 64 bits", sp_quote(tensor->name).text);
    return true;
}

/* Appends `count` tensors; data_begin and data_end count from the beginning of the data. */
static bool gguf_read_tensors(struct sp_gguf_stream *stream, uint64_t count, uint32_t file_index,
                              struct shapeproof_inventory *inventory)
{
    struct sp_text name = {0};
    const uint64_t least = stream->word + 4 + 4 + 8; /* without a name and without dimensions */
    bool ok = true;
    if (count > sp_gguf_left(stream) / least)
        return sp_malformed(stream->error,
                            "%" PRIu64 " tensors are declared, and %" PRIu64
                            " bytes are left of the file (truncated download?)",
                            count, sp_gguf_left(stream));
    const size_t first = inventory->count;
    for (uint64_t i = 0; i < count && ok; i++) ok = read_tensor(stream, &name, file_index, inventory);
    sp_text_free(&name);
    if (ok) warn_of_refused(first, inventory);
    return ok;
}

/* ---- where the data lie ---- */

static int compare_places(const void *left, const void *right)
{
    const struct shapeproof_tensor *a = *(const struct shapeproof_tensor *const *)left,
                                   *b = *(const struct shapeproof_tensor *const *)right;
    if (a->data_begin != b->data_begin) return a->data_begin < b->data_begin ? -1 : 1;
    if (a->data_end != b->data_end) return a->data_end < b->data_end ? -1 : 1;
    return a < b ? -1 : a > b;
}

static uint64_t padded(uint64_t end, uint64_t alignment)
{
    const uint64_t over = end & (alignment - 1);
    uint64_t to;
    return over && sp_add_u64(end, alignment - over, &to) ? to : end;
}

/* Whether the tensor has elements and the size of its data is not known: its type is unknown here. */
static bool is_unmeasured(const struct shapeproof_tensor *tensor) { return !tensor->bytes && tensor->parameters; }

/* Checks one tensor against the one that lies before it, or NULL: ggml has them one after the other, each padded. False
 * with an error when it is not aligned, or the two overlap; a gap between them is a warning. */
static bool check_place(const struct shapeproof_tensor *before, const struct shapeproof_tensor *tensor,
                        uint64_t alignment, struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const char *name = sp_arena_string(&inventory->arena, sp_quote(tensor->name).text);
    const uint64_t end = before ? before->data_end : 0;
    if (tensor->data_begin & (alignment - 1))
        return sp_malformed(error, "tensor %s: its offset %" PRIu64 " is not a multiple of the alignment, %" PRIu64,
                            name, tensor->data_begin, alignment);
    if (before && tensor->data_begin < end)
        return sp_malformed(error, "tensor %s: bytes [%" PRIu64 ", %" PRIu64 ") overlap %s [%" PRIu64 ", %" PRIu64 ")",
                            sp_quote(before->name).text, before->data_begin, end, name, tensor->data_begin,
                            tensor->data_end);
    if (tensor->data_begin > padded(end, alignment) && !(before && is_unmeasured(before)))
        sp_inventory_warn(inventory, "data bytes [%" PRIu64 ", %" PRIu64 ") before tensor %s belong to no tensor", end,
                          tensor->data_begin, name);
    return true;
}

/* The end of the data: what is missing is said once, and each tensor that reaches beyond has no data. */
static void check_data_end(const struct sp_file *file, uint64_t data, const struct shapeproof_tensor *last,
                           uint64_t alignment, size_t first, struct shapeproof_inventory *inventory)
{
    const uint64_t end = last ? last->data_end : 0, there = file->size > data ? file->size - data : 0;
    size_t cut = 0;
    for (size_t i = first; i < inventory->count; i++) {
        struct shapeproof_tensor *tensor = &inventory->tensors[i];
        if (tensor->data_end <= there) continue;
        tensor->flags |= SHAPEPROOF_TENSOR_NO_DATA;
        cut++;
    }
    if (cut)
        sp_inventory_warn(inventory,
                          "%" PRIu64 " bytes are missing at the end: %zu of %zu tensors lie beyond it, in whole or in "
                          "part (truncated download?)",
                          end - there, cut, inventory->count - first);
    else if (last && there > padded(end, alignment) && !is_unmeasured(last))
        sp_inventory_warn(inventory, "%" PRIu64 " bytes after the last tensor", there - end);
}

/* Makes the places count from the beginning of the file. */
static bool shift_places(uint64_t data, size_t first, struct shapeproof_inventory *inventory,
                         struct shapeproof_error *error)
{
    for (size_t i = first; i < inventory->count; i++) {
        struct shapeproof_tensor *tensor = &inventory->tensors[i];
        if (!sp_add_u64(tensor->data_end, data, &tensor->data_end))
            return sp_malformed(error, "tensor %s: its data would end beyond 64 bits", sp_quote(tensor->name).text);
        tensor->data_begin += data;
        if (is_unmeasured(tensor)) tensor->data_begin = tensor->data_end = 0;
    }
    return true;
}

/* Behind each tensor, to the next multiple of the alignment. */
static bool claim_gguf_padding(uint64_t alignment, uint64_t data, size_t first, struct shapeproof_inventory *inventory)
{
    for (size_t i = first; i < inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        const uint64_t end = tensor->data_end;
        if (end) sp_inventory_claim(inventory, tensor->file, end, data + padded(end - data, alignment), SP_USE_PADDING);
    }
    return true;
}

/* Checks the places of the tensors from `first` on against each other and against the size of the file, and makes them
 * count from its beginning. `data` is where the data begin. */
static bool gguf_place_tensors(const struct sp_file *file, uint64_t data, uint64_t alignment, size_t first,
                               struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const size_t count = inventory->count - first;
    const struct shapeproof_tensor **sorted = sp_realloc(NULL, count + 1, sizeof *sorted), *last = NULL;
    bool ok = true;
    for (size_t i = 0; i < count; i++) sorted[i] = &inventory->tensors[first + i];
    qsort(sorted, count, sizeof *sorted, compare_places);
    for (size_t i = 0; i < count && ok; i++) {
        ok = check_place(last, sorted[i], alignment, inventory, error);
        last = sorted[i];
    }
    sp_free(sorted);
    if (!ok) return false;
    if (!count && file->size > data && file->size - data > alignment) /* up to that it may be padding */
        return sp_malformed(error, "%" PRIu64 " bytes after the header of a GGUF file that declares no tensor",
                            file->size - data);
    check_data_end(file, data, last, alignment, first, inventory);
    return shift_places(data, first, inventory, error) && claim_gguf_padding(alignment, data, first, inventory);
}

/* ---- reader ---- */

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
        return sp_malformed(error, "%" PRIu64 " bytes, fewer than the magic number and version of a GGUF file",
                            stream->file->size);
    if (!sp_file_read(stream->file, 0, head, sizeof head, error)) return false;
    if (memcmp(head, "GGUF", MAGIC_BYTES) != 0)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                       "does not begin with 'GGUF', although its name says that it is a GGUF file");
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
        sp_inventory_warn(inventory,
                          "split.tensors.count is %" PRIu64 ", but the %" PRIu64 " pieces have %zu "
                          "tensors",
                          facts->tensors, facts->pieces, inventory->count);
}

static bool read_gguf_header(struct sp_gguf_stream *stream, uint32_t file_index, struct shapeproof_inventory *inventory,
                             struct shapeproof_error *error)
{
    struct sp_gguf_facts facts = {.alignment = ALIGNMENT};
    const size_t first = inventory->count;
    const uint64_t tensors = sp_gguf_count(stream), pairs = sp_gguf_count(stream);
    if (!stream->ok || !gguf_read_metadata(stream, pairs, inventory, &facts) ||
        !gguf_read_tensors(stream, tensors, file_index, inventory))
        return false;
    const uint64_t data = after_padding(stream->offset, facts.alignment);
    if (!gguf_place_tensors(stream->file, data, facts.alignment, first, inventory, error)) return false;
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
    sp_free(stream.buffer);
    if (ok) inventory->format = &gguf_format;
    return ok;
}

static const struct sp_file_ending endings[] = {{".gguf", SP_IN_DIRECTORIES | SP_IN_ARCHIVES | SP_IN_PIECES},
                                                {NULL, 0}};

const struct sp_reader sp_reader_gguf = {.name = "gguf", .endings = endings, .probe = probe_gguf, .index = index_gguf};
