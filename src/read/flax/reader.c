/* SPDX-License-Identifier: MIT
 * What flax.serialization.to_bytes writes (flax_model.msgpack): a tree of maps in MessagePack, whose leaves are arrays,
 * as extensions of type 1 (type 3: scalars of NumPy) around a list of shape, type and bytes. An array of more than a
 * gigabyte is a map: {"__msgpack_chunked_array__": true, "shape": {"0": 4, ...}, "chunks": {"0": array, ...}}. Flax
 * finds its members by their keys, in any order, and looks for such maps in maps alone, not in lists.
 * Bytes of arrays are passed over. Names are the keys on the way to an array, joined by dots.
 * https://github.com/msgpack/msgpack/blob/master/spec.md */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/map.h"
#include "base/names.h"
#include "base/text.h"
#include "base/utf8.h"
#include "read/reader.h"
#include "read/window.h"

static const struct sp_format flax_msgpack_format = {"flax-msgpack", 0};

#define CHUNKED_KEY "__msgpack_chunked_array__"

enum { EXT_ARRAY = 1, EXT_SCALAR = 3, MAX_DEPTH = 256, MAX_WORD = 64 };

enum kind { NOTHING, INTEGER, TEXT, BYTES, LIST, MAP, EXTENSION };

/* A value but for what is in it: a count of items, or a length of bytes, which follow. */
struct value {
    enum kind kind;
    uint64_t count; /* items of a list, pairs of a map, bytes, the integer itself */
    unsigned ext;   /* type of an extension */
    bool negative;
};

/* A map or a list that the walk is in. */
struct level {
    uint64_t left;  /* items that are still to be read */
    uint64_t index; /* of the next item of a list */
    size_t name;    /* length of the path to it */
    bool map;
    bool listed;           /* it is a list, or within one */
    struct sp_map keys;    /* that a map has had so far */
    struct sp_arena names; /* of those keys */
};

struct array {
    uint32_t rank;
    uint64_t shape[SP_MAX_RANK];
    char dtype[MAX_WORD];
    uint64_t begin, end; /* of its bytes */
};

struct tree {
    struct sp_window window;
    struct shapeproof_inventory *inventory;
    struct shapeproof_error why; /* of the window */
    struct sp_text path;
    struct level levels[MAX_DEPTH];
    unsigned depth;
    uint64_t others; /* extensions of other types */
    uint32_t file;
};

/* ---- one value ---- */

static uint64_t big_endian(struct sp_window *window, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value = value << 8 | sp_window_le(window, 1);
    return value;
}

static struct value take_extension(struct sp_window *window, uint64_t length)
{
    return (struct value){.kind = EXTENSION, .count = length, .ext = (unsigned)sp_window_le(window, 1)};
}

static struct value sized(enum kind kind, uint64_t count) { return (struct value){.kind = kind, .count = count}; }

/* The rest of a value whose first byte is from 0xc0 to 0xdf. Its length or number follows in 1, 2, 4 or 8 bytes: the
 * first byte says in how many. */
static struct value take_long_value(struct sp_window *window, unsigned byte)
{
    switch (byte) {
    case 0xc4: /* bin 8, 16, 32 */
    case 0xc5:
    case 0xc6:
        return sized(BYTES, big_endian(window, 1U << (byte - 0xc4)));
    case 0xc7: /* ext 8, 16, 32 */
    case 0xc8:
    case 0xc9:
        return take_extension(window, big_endian(window, 1U << (byte - 0xc7)));
    case 0xca: /* float 32, 64 */
    case 0xcb:
        sp_window_skip(window, byte == 0xca ? 4 : 8);
        return sized(NOTHING, 0);
    case 0xcc: /* uint 8, 16, 32, 64 */
    case 0xcd:
    case 0xce:
    case 0xcf:
        return sized(INTEGER, big_endian(window, 1U << (byte - 0xcc)));
    case 0xd0: /* int 8, 16, 32, 64 */
    case 0xd1:
    case 0xd2:
    case 0xd3:
        sp_window_skip(window, 1U << (byte - 0xd0));
        return (struct value){.kind = INTEGER, .negative = true}; /* signed: a shape is never written so */
    case 0xd9:                                                    /* str 8, 16, 32 */
    case 0xda:
    case 0xdb:
        return sized(TEXT, big_endian(window, 1U << (byte - 0xd9)));
    case 0xdc: /* array 16, 32 */
    case 0xdd:
        return sized(LIST, big_endian(window, byte == 0xdc ? 2 : 4));
    case 0xde: /* map 16, 32 */
    case 0xdf:
        return sized(MAP, big_endian(window, byte == 0xde ? 2 : 4));
    default: /* nil, false, true; 0xd4 to 0xd8 are extensions of 1, 2, 4, 8, 16 bytes */
        return byte >= 0xd4 ? take_extension(window, UINT64_C(1) << (byte - 0xd4)) : sized(NOTHING, 0);
    }
}

/* The head of the next value; what is in it follows. On failure the window is not ok, and the value is NOTHING. */
static struct value take_value(struct sp_window *window)
{
    const uint64_t at = window->at;
    const unsigned byte = (unsigned)sp_window_le(window, 1);
    struct value value;
    if (byte < 0x80) value = sized(INTEGER, byte);
    else if (byte < 0x90) value = sized(MAP, byte & 15);
    else if (byte < 0xa0) value = sized(LIST, byte & 15);
    else if (byte < 0xc0) value = sized(TEXT, byte & 31);
    else if (byte >= 0xe0) value = (struct value){.kind = INTEGER, .negative = true};
    else value = take_long_value(window, byte);
    const uint64_t least = value.kind == MAP ? 2 : value.kind >= TEXT ? 1 : 0; /* bytes of an item */
    if (window->ok && least && value.count > sp_window_left(window) / least)
        window->ok = sp_malformed(
            window->error, "the value at byte %" PRIu64 " has %" PRIu64 " %s, %" PRIu64 " bytes follow", at,
            value.count, value.kind == MAP || value.kind == LIST ? "items" : "bytes", sp_window_left(window));
    return window->ok ? value : sized(NOTHING, 0);
}

/* ---- one array ---- */

static bool take_extents(struct tree *tree, struct array *array, uint64_t count, struct shapeproof_error *error)
{
    if (count > SP_MAX_RANK)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%" PRIu64 " dimensions, at most %d", count,
                       SP_MAX_RANK);
    for (uint64_t i = 0; i < count; i++) {
        const struct value extent = take_value(&tree->window);
        if (extent.kind != INTEGER || extent.negative) return sp_malformed(error, "a dimension is no number");
        array->shape[array->rank++] = extent.count;
    }
    return tree->window.ok;
}

/* The list within an extension, which ends at byte `end`. */
static bool take_array(struct tree *tree, uint64_t end, struct array *array, struct shapeproof_error *error)
{
    struct sp_window *window = &tree->window;
    const struct value list = take_value(window), shape = take_value(window);
    *array = (struct array){.rank = 0};
    if (list.kind != LIST || list.count != 3 || shape.kind != LIST)
        return sp_malformed(error, "an array is a list of shape, type and bytes");
    if (!take_extents(tree, array, shape.count, error)) return false;
    const struct value dtype = take_value(window);
    if (dtype.kind != TEXT || dtype.count >= MAX_WORD) return sp_malformed(error, "the type of an array is no word");
    sp_window_take(window, array->dtype, (size_t)dtype.count);
    const struct value bytes = take_value(window);
    if ((bytes.kind != BYTES && bytes.kind != TEXT) || !window->ok || bytes.count != end - window->at)
        return sp_malformed(error, "the bytes of an array do not end with it");
    array->begin = window->at;
    array->end = end;
    return true;
}

/* Sets the dtype by the word that Flax writes, such as 'bfloat16'. An unknown word stays as the name of the type. */
static void set_flax_type(struct shapeproof_tensor *tensor, const char *word, struct sp_arena *arena)
{
    static const struct {
        const char *word;
        enum shapeproof_dtype dtype;
    } words[] = {
        {"float32", SHAPEPROOF_DTYPE_F32},
        {"float16", SHAPEPROOF_DTYPE_F16},
        {"bfloat16", SHAPEPROOF_DTYPE_BF16},
        {"float64", SHAPEPROOF_DTYPE_F64},
        {"int8", SHAPEPROOF_DTYPE_I8},
        {"int16", SHAPEPROOF_DTYPE_I16},
        {"int32", SHAPEPROOF_DTYPE_I32},
        {"int64", SHAPEPROOF_DTYPE_I64},
        {"uint8", SHAPEPROOF_DTYPE_U8},
        {"uint16", SHAPEPROOF_DTYPE_U16},
        {"uint32", SHAPEPROOF_DTYPE_U32},
        {"uint64", SHAPEPROOF_DTYPE_U64},
        {"bool", SHAPEPROOF_DTYPE_BOOL},
        {"complex64", SHAPEPROOF_DTYPE_C64},
        {"complex128", SHAPEPROOF_DTYPE_C128},
        {"float8_e4m3fn", SHAPEPROOF_DTYPE_F8_E4M3},
        {"float8_e5m2", SHAPEPROOF_DTYPE_F8_E5M2},
        {"float8_e4m3fnuz", SHAPEPROOF_DTYPE_F8_E4M3FNUZ},
        {"float8_e5m2fnuz", SHAPEPROOF_DTYPE_F8_E5M2FNUZ},
        {"float8_e8m0fnu", SHAPEPROOF_DTYPE_F8_E8M0},
    };
    /* Other words of NumPy for them, on a machine with a long integer of 64 bits, with a blank on each side. A code may
     * have the byte order before it. */
    static const struct {
        const char *codes, *names;
        enum shapeproof_dtype dtype;
    } synonyms[] = {
        {" e f2 ", " half ", SHAPEPROOF_DTYPE_F16},
        {" f f4 ", " single ", SHAPEPROOF_DTYPE_F32},
        {" d f8 ", " double float ", SHAPEPROOF_DTYPE_F64},
        {" b i1 ", " byte ", SHAPEPROOF_DTYPE_I8},
        {" h i2 ", " short ", SHAPEPROOF_DTYPE_I16},
        {" i i4 ", " intc ", SHAPEPROOF_DTYPE_I32},
        {" l q p n i8 ", " int int_ intp long longlong ", SHAPEPROOF_DTYPE_I64},
        {" B u1 ", " ubyte ", SHAPEPROOF_DTYPE_U8},
        {" H u2 ", " ushort ", SHAPEPROOF_DTYPE_U16},
        {" I u4 ", " uintc ", SHAPEPROOF_DTYPE_U32},
        {" L Q P N u8 ", " uint uintp ulong ulonglong ", SHAPEPROOF_DTYPE_U64},
        {" ? b1 ", " bool_ ", SHAPEPROOF_DTYPE_BOOL},
        {" F c8 ", " csingle ", SHAPEPROOF_DTYPE_C64},
        {" D c16 ", " cdouble complex ", SHAPEPROOF_DTYPE_C128},
    };
    char spaced[MAX_WORD + 3];
    const bool ordered = *word && strchr("<>=|", *word);
    snprintf(spaced, sizeof spaced, " %s ", word + ordered);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i].word)) tensor->dtype = words[i].dtype;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms && !strchr(word, ' '); i++)
        if (strstr(synonyms[i].codes, spaced) || (!ordered && strstr(synonyms[i].names, spaced)))
            tensor->dtype = synonyms[i].dtype;
    if (*word == '>' && shapeproof_dtype_bits(tensor->dtype) > 8) tensor->flags |= SHAPEPROOF_TENSOR_BIG_ENDIAN;
    const char *name = sp_printable_name(word, strlen(word), arena);
    tensor->dtype_name = tensor->dtype ? shapeproof_dtype_name(tensor->dtype) : name;
}

/* Fills in the tensor that the array is, which has `bytes` of data in all. An array in chunks has no one place in the
 * file: its `end` is 0. False with an error when the array is broken. */
static bool describe_array(struct tree *tree, const struct array *array, uint64_t bytes,
                           struct shapeproof_tensor *tensor, struct shapeproof_error *error)
{
    struct sp_arena *arena = &tree->inventory->arena;
    uint64_t *shape = sp_arena_array(arena, array->rank ? array->rank : 1, sizeof *shape);
    memcpy(shape, array->shape, array->rank * sizeof *shape);
    *tensor =
        (struct shapeproof_tensor){.file = tree->file, .rank = array->rank, .shape = shape, .same_as = SHAPEPROOF_NONE};
    tensor->name = sp_printable_name(tree->path.data ? tree->path.data : "", tree->path.length, arena);
    if (!tensor->name) return sp_malformed(error, "a NUL in its name");
    set_flax_type(tensor, array->dtype, arena);
    if (!strncmp(tensor->name, "opt_state.", 10)) tensor->flags |= SHAPEPROOF_TENSOR_STATE;
    if (!sp_tensor_measure(tensor)) return sp_malformed(error, "the product of its dimensions overflows 64 bits");
    if (tensor->dtype && tensor->bytes != bytes)
        return sp_malformed(error, "%" PRIu64 " bytes of data, shape and type need %" PRIu64, bytes, tensor->bytes);
    if (array->end && tensor->bytes) {
        tensor->data_begin = array->begin;
        tensor->data_end = array->end;
    }
    return true;
}

static bool add_array(struct tree *tree, const struct array *array, uint64_t bytes, struct shapeproof_error *error)
{
    struct shapeproof_error why = {0};
    struct shapeproof_tensor described;
    if (!sp_inventory_spend_names(tree->inventory, tree->path.length, error)) return false;
    if (!describe_array(tree, array, bytes, &described, &why))
        return sp_inventory_unread(tree->inventory, tree->path.data ? tree->path.data : "", &why, error);
    struct shapeproof_tensor *tensor = sp_inventory_add(tree->inventory, error);
    if (tensor) *tensor = described;
    return tensor != NULL;
}

/* ---- arrays in chunks ---- */

enum member { MARK, EXTENTS, CHUNKS, MEMBERS };
static const char *const members[] = {CHUNKED_KEY, "shape", "chunks"};

/* Passes over `count` values and what is in them. */
static bool skip_values(struct sp_window *window, uint64_t count)
{
    while (count && window->ok) {
        if (count > sp_window_left(window)) return sp_window_skip(window, count); /* which fails: each has a byte */
        const struct value value = take_value(window);
        sp_budget_spend(1);
        count--;
        if (value.kind == MAP || value.kind == LIST) count += value.kind == MAP ? 2 * value.count : value.count;
        else if (value.kind != INTEGER) sp_window_skip(window, value.count);
    }
    return window->ok;
}

/* The member of an array in chunks whose key comes next; MEMBERS if the key is of none of them. */
static unsigned take_member(struct sp_window *window)
{
    char key[sizeof CHUNKED_KEY] = "";
    const struct value value = take_value(window);
    unsigned member = 0;
    if (value.kind != TEXT || value.count >= sizeof key) return MEMBERS;
    sp_window_take(window, key, (size_t)value.count);
    while (member < MEMBERS && (value.count != strlen(members[member]) || strcmp(key, members[member]))) member++;
    return member;
}

/* Whether the map whose keys come next is an array in chunks: its keys are the three of one. */
static bool is_chunked(struct tree *tree, const struct value *map)
{
    struct sp_window *window = &tree->window;
    const uint64_t at = window->at;
    unsigned seen = 0;
    bool ok = map->count == MEMBERS;
    for (unsigned i = 0; ok && i < MEMBERS; i++) {
        const unsigned member = take_member(window);
        ok = member < MEMBERS && skip_values(window, 1);
        seen |= 1U << member;
    }
    window->ok = true; /* a fault is found again when the map is read */
    window->at = at;
    tree->why = (struct shapeproof_error){0};
    return ok && seen == (1U << MEMBERS) - 1;
}

/* The key of an item of a tuple of `count` items, as Flax writes tuples: {"0": ..., "1": ...}. False if it is none. */
static bool take_index(struct sp_window *window, uint64_t count, uint64_t *index)
{
    enum { MOST_DIGITS = 9 };
    char digits[MOST_DIGITS + 1] = "";
    const struct value key = take_value(window);
    *index = 0;
    if (key.kind != TEXT || !key.count || key.count > MOST_DIGITS) return false;
    sp_window_take(window, digits, (size_t)key.count);
    for (uint64_t i = 0; i < key.count; i++) {
        if (!sp_is_digit(digits[i]) || (*digits == '0' && key.count > 1)) return false;
        *index = *index * 10 + (uint64_t)(digits[i] - '0');
    }
    return window->ok && *index < count;
}

static bool take_chunked_shape(struct sp_window *window, struct array *array, struct shapeproof_error *error)
{
    bool seen[SP_MAX_RANK] = {false};
    const struct value map = take_value(window);
    if (map.kind == MAP && map.count > SP_MAX_RANK)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%" PRIu64 " dimensions, at most %d",
                       map.count, SP_MAX_RANK);
    for (uint64_t i = 0, index; map.kind == MAP && i < map.count; i++) {
        const bool is_index = take_index(window, map.count, &index) && !seen[index];
        const struct value extent = is_index ? take_value(window) : sized(NOTHING, 0);
        if (extent.kind != INTEGER || extent.negative)
            return sp_malformed(error, "the shape of its chunks is no map of '0', '1', ... to sizes");
        seen[index] = true;
        array->shape[index] = extent.count;
    }
    array->rank = (uint32_t)map.count;
    return map.kind == MAP || sp_malformed(error, "the shape of its chunks is no map of '0', '1', ... to sizes");
}

/* One chunk: an array of one dimension, of the type of the others. */
static bool take_chunk(struct tree *tree, struct array *array, uint64_t *bytes, struct shapeproof_error *error)
{
    struct array chunk;
    const struct value value = take_value(&tree->window);
    const uint64_t end = tree->window.at + value.count;
    if (value.kind != EXTENSION || value.ext != EXT_ARRAY) return sp_malformed(error, "a chunk is no array");
    if (!take_array(tree, end, &chunk, error)) return false;
    if (chunk.rank != 1) return sp_malformed(error, "a chunk has %u dimensions, one is expected", chunk.rank);
    if (*array->dtype && strcmp(array->dtype, chunk.dtype) != 0)
        return sp_malformed(error, "its chunks are of several types");
    memcpy(array->dtype, chunk.dtype, sizeof array->dtype);
    sp_inventory_claim(tree->inventory, tree->file, chunk.begin, chunk.end, SP_USE_TENSOR);
    tree->window.at = end;
    return sp_add_u64(*bytes, chunk.end - chunk.begin, bytes);
}

static bool take_chunks(struct tree *tree, struct array *array, uint64_t *bytes, struct shapeproof_error *error)
{
    const struct value map = take_value(&tree->window);
    const size_t count = map.kind == MAP && map.count <= SIZE_MAX ? (size_t)map.count : 0;
    bool *seen = sp_realloc(NULL, count ? count : 1, sizeof *seen), ok = count > 0;
    memset(seen, 0, count * sizeof *seen);
    for (size_t i = 0; ok && i < count; i++) {
        uint64_t index;
        ok = take_index(&tree->window, count, &index) && !seen[index];
        if (!ok) break;
        seen[index] = true;
        if (take_chunk(tree, array, bytes, error)) continue;
        sp_free(seen);
        return false;
    }
    sp_free(seen);
    return ok || sp_malformed(error, "its chunks are no map of '0', '1', ... to arrays");
}

/* The array in chunks whose map has just begun. A broken one is noted as unread, and reading goes on behind it. */
static bool take_chunked(struct tree *tree, struct shapeproof_error *error)
{
    struct sp_window *window = &tree->window;
    const uint64_t at = window->at;
    struct array array = {.rank = 0};
    struct shapeproof_error why = {0};
    uint64_t bytes = 0;
    bool good = true;
    for (unsigned i = 0; good && i < MEMBERS; i++) {
        const unsigned member = take_member(window);
        good = member == EXTENTS  ? take_chunked_shape(window, &array, &why)
               : member == CHUNKS ? take_chunks(tree, &array, &bytes, &why)
                                  : skip_values(window, 1);
    }
    window->ok = true;
    window->at = at;
    tree->why = (struct shapeproof_error){0};
    if (!skip_values(window, (uint64_t)2 * MEMBERS)) return false;
    if (good) return add_array(tree, &array, bytes, error);
    return sp_inventory_unread(tree->inventory, tree->path.data ? tree->path.data : "", &why, error);
}

/* ---- the tree ---- */

static struct level *top_of(struct tree *tree) { return tree->depth ? &tree->levels[tree->depth - 1] : NULL; }

/* An extension: adds the array in it. A broken one is noted as unread, and reading goes on behind it, since its length
 * is known. */
static bool take_leaf(struct tree *tree, const struct value *value, struct shapeproof_error *error)
{
    const uint64_t end = tree->window.at + value->count;
    struct array array;
    struct shapeproof_error why = {0};
    if (value->ext != EXT_ARRAY && value->ext != EXT_SCALAR) {
        tree->others++;
        return sp_window_skip(&tree->window, value->count);
    }
    const bool good = take_array(tree, end, &array, &why);
    tree->window.ok = true; /* also after a failure within the array */
    tree->why = (struct shapeproof_error){0};
    tree->window.at = end;
    if (!good) return sp_inventory_unread(tree->inventory, tree->path.data ? tree->path.data : "", &why, error);
    return add_array(tree, &array, array.end - array.begin, error);
}

static bool push_level(struct tree *tree, const struct value *value, struct shapeproof_error *error)
{
    const struct level *top = top_of(tree);
    const bool map = value->kind == MAP, listed = !map || (top && top->listed);
    if (tree->depth == MAX_DEPTH)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "maps nested more than %d deep", MAX_DEPTH);
    if (map && !listed && is_chunked(tree, value)) return take_chunked(tree, error);
    tree->levels[tree->depth++] =
        (struct level){.left = value->count, .name = tree->path.length, .map = map, .listed = listed};
    return true;
}

static void cut_path(struct tree *tree, size_t length)
{
    tree->path.length = length;
    if (tree->path.data) tree->path.data[length] = '\0';
}

/* The key of a map, which ends the path: it must be UTF-8, and another one than those before it. In Python, the last
 * one of equal keys has the value. */
static bool check_key(struct tree *tree, struct level *top, size_t length, struct shapeproof_error *error)
{
    const char *key = tree->path.data + (tree->path.length - length);
    struct sp_text kept = {0};
    if (sp_utf8_check(key, length) < length)
        return sp_malformed(error, "a key that is not UTF-8, before byte %" PRIu64, tree->window.at);
    if (!top->listed && length == strlen(CHUNKED_KEY) && !memcmp(key, CHUNKED_KEY, length)) {
        cut_path(tree, top->name);
        return sp_malformed(error, "the array in chunks %s has other members than shape and chunks, or lacks them",
                            sp_quote(tree->path.data).text);
    }
    for (size_t i = 0; i < length; i++) sp_text_append(&kept, key[i] ? key + i : "\xc0\x80", key[i] ? 1 : 2);
    if (sp_map_add(&top->keys, sp_text_keep(&kept, &top->names), 0)) return true;
    return sp_malformed(error, "a map has the key %s twice", sp_quote(tree->path.data).text);
}

/* The key of the next value becomes the end of the path. */
static bool take_key(struct tree *tree, struct level *top, struct shapeproof_error *error)
{
    struct sp_window *window = &tree->window;
    cut_path(tree, top->name);
    if (top->name) sp_text_puts(&tree->path, ".");
    if (!top->map) {
        sp_text_printf(&tree->path, "%" PRIu64, top->index++);
        return true;
    }
    const struct value key = take_value(window);
    if (key.kind != TEXT)
        return window->ok && sp_malformed(error, "a key that is not a string, before byte %" PRIu64, window->at);
    if (key.count > SP_MAX_NAME - tree->path.length || tree->path.length > SP_MAX_NAME)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "a name of more than %d bytes", SP_MAX_NAME);
    sp_text_reserve(&tree->path, (size_t)key.count);
    sp_window_take(window, tree->path.data + tree->path.length, (size_t)key.count);
    cut_path(tree, tree->path.length + (size_t)key.count);
    return window->ok && check_key(tree, top, (size_t)key.count, error);
}

/* Passes over a string, which must be UTF-8. */
static bool take_text(struct sp_window *window, uint64_t length, struct shapeproof_error *error)
{
    enum { PIECE = 1024, MOST_LEFT = 3 }; /* bytes of a code point that the next piece may end */
    char piece[PIECE];
    while (length && window->ok) {
        const size_t count = length < PIECE ? (size_t)length : PIECE;
        if (!sp_window_take(window, piece, count)) return false;
        const size_t valid = sp_utf8_check(piece, count), left = count - valid;
        if (left > MOST_LEFT || (left && count == length))
            return sp_malformed(error, "a string that is not UTF-8, before byte %" PRIu64, window->at);
        window->at -= left;
        length -= valid;
    }
    return window->ok;
}

/* Takes one value of the msgpack tree: opens a map or a list, reads an array (an extension), or skips a scalar. */
static bool take_node(struct tree *tree, struct shapeproof_error *error)
{
    const struct value value = take_value(&tree->window);
    switch (value.kind) {
    case MAP:
    case LIST:
        return push_level(tree, &value, error);
    case EXTENSION:
        return take_leaf(tree, &value, error);
    case TEXT:
        return take_text(&tree->window, value.count, error);
    case BYTES:
        return sp_window_skip(&tree->window, value.count);
    default:
        return tree->window.ok;
    }
}

static void leave_level(struct tree *tree)
{
    struct level *top = top_of(tree);
    cut_path(tree, top->name);
    sp_map_free(&top->keys);
    sp_arena_free(&top->names);
    tree->depth--;
}

static bool take_tree(struct tree *tree, struct shapeproof_error *error)
{
    bool ok = take_node(tree, error);
    while (ok && tree->depth) {
        struct level *top = top_of(tree);
        if (!top->left) {
            leave_level(tree);
            continue;
        }
        top->left--;
        ok = take_key(tree, top, error) && take_node(tree, error);
    }
    while (tree->depth) leave_level(tree);
    if (!ok && tree->why.status) sp_fail(error, tree->why.status, tree->why.kind, "%s", tree->why.message);
    return ok;
}

/* A map whose first key is a text, and whose first value is a map or an array. */
static unsigned probe_flax(const struct sp_probe *probe)
{
    struct shapeproof_error ignored = {0};
    struct sp_window window;
    char key[64];
    sp_window_open(&window, probe->file, 0, UINT64_MAX, &ignored);
    const struct value map = take_value(&window), first = take_value(&window);
    if (!probe->deep || map.kind != MAP || !map.count || first.kind != TEXT || first.count >= sizeof key) return 0;
    sp_window_take(&window, key, (size_t)first.count);
    for (size_t i = 0; i < first.count; i++)
        if (key[i] < ' ' || key[i] > '~') return 0;
    const struct value value = take_value(&window);
    const bool array = value.kind == EXTENSION && (value.ext == EXT_ARRAY || value.ext == EXT_SCALAR);
    if (!window.ok) return 0;
    return array || value.kind == MAP ? 16 : sp_ends_with(probe->file->path, ".msgpack");
}

static bool index_flax(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error)
{
    struct tree *tree = sp_realloc(NULL, 1, sizeof *tree);
    *tree = (struct tree){.inventory = inventory, .file = file_index};
    sp_window_open(&tree->window, file, 0, UINT64_MAX, &tree->why);
    tree->window.what = "the tree";
    const bool ok = take_tree(tree, error);
    if (ok && tree->others)
        sp_inventory_warn(inventory, "extensions that are no arrays, and not listed: %" PRIu64, tree->others);
    if (ok && sp_window_left(&tree->window))
        sp_inventory_warn(inventory, "%" PRIu64 " bytes after the tree", sp_window_left(&tree->window));
    if (ok) sp_inventory_claim(inventory, file_index, 0, tree->window.at, SP_USE_STRUCTURE);
    sp_text_free(&tree->path);
    sp_free(tree);
    if (ok) inventory->format = &flax_msgpack_format;
    return ok;
}

static const struct sp_file_ending endings[] = {{".msgpack", SP_IF_ALONE | SP_IN_ARCHIVES}, {NULL, 0}};

const struct sp_reader sp_reader_flax = {.name = "flax", .endings = endings, .probe = probe_flax, .index = index_flax};
