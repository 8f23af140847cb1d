/* SPDX-License-Identifier: MIT
 * What flax.serialization.to_bytes writes (flax_model.msgpack): a tree of maps in MessagePack, whose leaves are arrays,
 * as extensions of type 1 (type 3: scalars of NumPy) around a list of shape, type and bytes. An array of more than a
 * gigabyte is a map: {"__msgpack_chunked_array__": true, "shape": {"0": 4, ...}, "chunks": {"0": array, ...}}.
 * Bytes of arrays are passed over. Names are the keys on the way to an array, joined by dots.
 * https://github.com/msgpack/msgpack/blob/master/spec.md */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/text.h"
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

/* What a map or a list is to an array in chunks. */
enum role {
    PLAIN,   /* nothing */
    CHUNKED, /* the array itself: the map with CHUNKED_KEY */
    SHAPE,   /* its member "shape" */
    CHUNKS   /* its member "chunks" */
};

/* A map or a list that the walk is in. */
struct level {
    uint64_t left;  /* items that are still to be read */
    uint64_t index; /* of the next item of a list */
    size_t name;    /* length of the path to it */
    bool map;
    enum role role;
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
    struct array chunked; /* that is being put together */
    uint64_t chunk_bytes;
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
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i].word)) tensor->dtype = words[i].dtype;
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

/* ---- the tree ---- */

static struct level *top_of(struct tree *tree) { return tree->depth ? &tree->levels[tree->depth - 1] : NULL; }

/* An extension: adds the array in it, or, as a chunk, its bytes to those of the array in chunks. A broken one is noted
 * as unread, and reading goes on behind it, since its length is known. */
static bool take_leaf(struct tree *tree, const struct value *value, struct shapeproof_error *error)
{
    struct level *top = top_of(tree);
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
    if (!top || top->role != CHUNKS) return add_array(tree, &array, array.end - array.begin, error);
    memcpy(tree->chunked.dtype, array.dtype, sizeof array.dtype);
    sp_inventory_claim(tree->inventory, tree->file, array.begin, array.end, SP_USE_TENSOR);
    return sp_add_u64(tree->chunk_bytes, array.end - array.begin, &tree->chunk_bytes);
}

static bool push_level(struct tree *tree, const struct value *value, enum role role, struct shapeproof_error *error)
{
    if (tree->depth == MAX_DEPTH)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "maps nested more than %d deep", MAX_DEPTH);
    tree->levels[tree->depth++] =
        (struct level){.left = value->count, .name = tree->path.length, .map = value->kind == MAP, .role = role};
    return true;
}

static void cut_path(struct tree *tree, size_t length)
{
    tree->path.length = length;
    if (tree->path.data) tree->path.data[length] = '\0';
}

/* The key of the next value becomes the end of the path. */
static bool take_key(struct tree *tree, struct level *top, struct shapeproof_error *error)
{
    struct sp_window *window = &tree->window;
    cut_path(tree, top->name);
    if (top->name) sp_text_puts(&tree->path, ".");
    const struct value key = top->map ? take_value(window) : sized(INTEGER, top->index++);
    if (key.kind == INTEGER && !key.negative) {
        sp_text_printf(&tree->path, "%" PRIu64, key.count);
        return window->ok;
    }
    if (key.kind != TEXT)
        return window->ok && sp_malformed(error, "a key that is not a string, before byte %" PRIu64, window->at);
    if (key.count > SP_MAX_NAME - tree->path.length || tree->path.length > SP_MAX_NAME)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "a name of more than %d bytes", SP_MAX_NAME);
    sp_text_reserve(&tree->path, (size_t)key.count);
    sp_window_take(window, tree->path.data + tree->path.length, (size_t)key.count);
    cut_path(tree, tree->path.length + (size_t)key.count);
    return window->ok;
}

static bool is_key(const struct tree *tree, const struct level *top, const char *key)
{
    const size_t dot = top->name ? 1 : 0;
    return tree->path.data && !strcmp(tree->path.data + top->name + dot, key);
}

/* What a map or a list is within an array in chunks. */
static enum role role_of(const struct tree *tree, const struct level *top)
{
    if (!top || top->role != CHUNKED) return PLAIN;
    return is_key(tree, top, "shape") ? SHAPE : is_key(tree, top, "chunks") ? CHUNKS : PLAIN;
}

static void note_integer(struct tree *tree, const struct level *top, const struct value *value)
{
    struct array *chunked = &tree->chunked;
    if (!top || top->role != SHAPE || value->negative || chunked->rank == SP_MAX_RANK) return;
    chunked->shape[chunked->rank++] = value->count;
}

/* Takes one value of the msgpack tree: opens a map or a list, reads an array (an extension), or skips a scalar. A
 * map with the key __msgpack_chunked_array__ is one array in chunks. */
static bool take_node(struct tree *tree, struct shapeproof_error *error)
{
    struct level *top = top_of(tree);
    const struct value value = take_value(&tree->window);
    if (top && top->map && is_key(tree, top, CHUNKED_KEY)) {
        top->role = CHUNKED;
        tree->chunked = (struct array){.rank = 0};
        tree->chunk_bytes = 0;
    }
    switch (value.kind) {
    case MAP:
    case LIST:
        return push_level(tree, &value, role_of(tree, top), error);
    case EXTENSION:
        return take_leaf(tree, &value, error);
    case TEXT:
    case BYTES:
        return sp_window_skip(&tree->window, value.count);
    case INTEGER:
        note_integer(tree, top, &value);
        return tree->window.ok;
    default:
        return tree->window.ok;
    }
}

static bool leave_level(struct tree *tree, struct shapeproof_error *error)
{
    const struct level *top = top_of(tree);
    cut_path(tree, top->name);
    tree->depth--;
    return top->role != CHUNKED || add_array(tree, &tree->chunked, tree->chunk_bytes, error);
}

static bool take_tree(struct tree *tree, struct shapeproof_error *error)
{
    bool ok = take_node(tree, error);
    while (ok && tree->depth) {
        struct level *top = top_of(tree);
        if (!top->left) {
            ok = leave_level(tree, error);
            continue;
        }
        top->left--;
        ok = take_key(tree, top, error) && take_node(tree, error);
    }
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
