/* SPDX-License-Identifier: MIT */
#include "read/gguf/metadata.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/utf8.h"
#include "base/value.h"

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
    bool integral; /* the value is `number`, an integer that is not negative */
    uint64_t number;
};

/* ---- numbers ---- */

/* Of a float the fewest digits that read back as the same float: 1e-05, not 9.9999997473787516e-06. */
static void put_float(struct sp_text *text, uint32_t bits)
{
    char digits[32];
    int precision = 6;
    float number;
    memcpy(&number, &bits, sizeof number);
    do snprintf(digits, sizeof digits, "%.*g", precision, (double)number);
    while (isfinite(number) && strtof(digits, NULL) != number && precision++ < 9);
    sp_text_puts(text, digits);
    if (isfinite(number) && !strpbrk(digits, ".e")) sp_text_puts(text, ".0");
}

static void put_double(struct sp_text *text, uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    if (isfinite(number)) sp_value_json(text, sp_value_real(number));
    else sp_text_printf(text, "%g", number);
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

/* A string that stands alone is its value as it is; in a list it has quotes. */
static void put_string(struct metadata_reader *reader, bool quoted)
{
    const uint64_t length = sp_gguf_count(reader->stream);
    if (length > MAX_VALUE) {
        sp_gguf_skip(reader->stream, length);
        sp_text_printf(&reader->value, "%" PRIu64 " bytes of text", length);
        return;
    }
    sp_gguf_bytes(reader->stream, length, &reader->string);
    if (!is_gguf_text(&reader->string)) sp_text_printf(&reader->value, "%" PRIu64 " bytes that are no text", length);
    else if (quoted) sp_text_json(&reader->value, reader->string.data);
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
    enum kind kind;
    uint64_t left;
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
    if (bytes) sp_gguf_skip(reader->stream, list->left > UINT64_MAX / bytes ? UINT64_MAX : list->left * bytes);
    else
        for (; list->left && reader->stream->ok; list->left--)
            sp_gguf_skip(reader->stream, sp_gguf_count(reader->stream));
    list->left = 0;
}

/* Lists of lists are passed over with a stack: no writer is known that makes them. */
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

static void put_gguf_list(struct metadata_reader *reader)
{
    struct list list;
    if (!open_list(reader, &list)) return;
    if (list.kind == ARRAY || list.left > (list.kind == STRING ? MAX_KEPT_STRINGS : MAX_ITEMS)) {
        sp_text_printf(&reader->value, "%" PRIu64 " %s", list.left, kinds[list.kind].noun);
        skip_lists(reader, list);
        return;
    }
    sp_text_puts(&reader->value, "[");
    for (uint64_t i = 0; i < list.left && reader->stream->ok; i++) {
        if (i) sp_text_puts(&reader->value, ", ");
        if (list.kind == STRING) put_string(reader, true);
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

static bool read_pair(struct metadata_reader *reader)
{
    if (!read_key(reader)) return false;
    const uint64_t kind = sp_gguf_integer(reader->stream, 4);
    if (!is_known_kind(reader, kind)) return false;
    reader->value.length = 0;
    reader->integral = false;
    if (kind == STRING) put_string(reader, false);
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

bool sp_gguf_read_metadata(struct sp_gguf_stream *stream, uint64_t count, struct shapeproof_inventory *inventory,
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
    return stream->ok;
}
