/* SPDX-License-Identifier: MIT
 * The index of a checkpoint of TensorFlow 1 (V2 format) and 2, NAME.index: a sorted table, as LevelDB lays it out, from
 * the name of a tensor to a BundleEntryProto (1 type, 2 shape, 3 shard, 4 offset, 5 size). Data lie in files beside it,
 * NAME.data-00000-of-00001, which are not looked at.
 *
 * The table ends in 48 bytes: where the index of blocks lies, zeros, a magic number. A block is entries, of which each
 * leaves out what its key has in common with the one before, then the places of some of them and their number (32
 * bits); behind it are a byte that says how it is compressed, and a checksum. TensorFlow compresses none. A tensor in
 * parts has an entry of its own for each of them, with a key that begins with NUL: those are not listed.
 *
 * TensorFlow finds a tensor by bisection: its block by the keys of the index of blocks, of which each is not before the
 * last key of its block, and before the first one of the next; its entry by the restart points, where entries leave out
 * nothing. An entry that is out of order is in the file and never found, so all of this is checked. The first entry,
 * with an empty key, is a BundleHeaderProto: 1 shards, 2 whether the data are big-endian. */
#include <inttypes.h>
#include <string.h>

#include "base/budget.h"
#include "base/checked.h"
#include "base/names.h"
#include "base/text.h"
#include "read/proto.h"
#include "read/reader.h"

static const struct sp_format tf_checkpoint_format = {"tf-checkpoint", 0};

enum { FOOTER = 48, TRAILER = 5, MAX_KEY = SP_MAX_NAME };

static const unsigned char magic[8] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};

struct block {
    uint64_t begin, size;
};

struct table {
    const struct sp_file *file;
    struct shapeproof_inventory *inventory;
    struct shapeproof_error *error;
    uint64_t parts;          /* entries of parts of tensors, which are not listed */
    uint64_t last_end;       /* of the block that was read last: blocks follow one another */
    struct sp_text last_key; /* of that block in the index of blocks */
    uint32_t index;
    bool begun;  /* a block was read */
    bool headed; /* the entry about the whole checkpoint was read */
    bool big_endian;
    uint64_t bad_sums; /* blocks whose checksum is wrong */
};

/* One walk over the entries of a block. */
struct walk {
    struct sp_window window, places; /* entries and restart points */
    struct sp_text key, own;         /* of the last entry, and what it does not have in common with the one before */
    uint64_t begin, end;             /* of the entries */
    uint64_t restart;                /* where the next restart point is in the block; UINT64_MAX: there is none */
};

/* ---- blocks ---- */

/* Where a block lies: its begin and its size, as two varints. */
static bool take_handle(struct sp_window *window, struct block *block)
{
    block->begin = sp_proto_varint(window);
    block->size = sp_proto_varint(window);
    return window->ok;
}

/* The masked CRC-32C of bytes [begin, end) of the file, as tables have it. */
static bool sum_bytes(struct table *table, uint64_t begin, uint64_t end, uint32_t *sum)
{
    enum { POLYNOMIAL = 0x82f63b78U, MASK = 0xa282ead8U, PIECE = 1024 /* bytes */ };
    unsigned char piece[PIECE];
    uint32_t crc = UINT32_MAX;
    while (begin < end) {
        const size_t count = end - begin < PIECE ? (size_t)(end - begin) : PIECE;
        if (!sp_file_read(table->file, begin, piece, count, table->error)) return false;
        for (size_t i = 0; i < count; i++) {
            crc ^= piece[i];
            for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        }
        sp_budget_spend(count);
        begin += count;
    }
    crc = ~crc;
    *sum = (crc >> 15 | crc << 17) + MASK;
    return true;
}

/* The next restart point. */
static void take_restart(struct walk *walk)
{
    walk->restart = sp_window_left(&walk->places) ? sp_window_le(&walk->places, 4) : UINT64_MAX;
}

/* Opens a block of the table, so that the walk stands before its first entry. A block ends with the list of its restart
 * points and their number, then come its kind (compressed or not) and a checksum. */
static bool open_block(struct table *table, struct walk *walk, const struct block *block)
{
    struct sp_window *window = &walk->window;
    uint64_t end;
    *walk = (struct walk){.begin = block->begin};
    if (!sp_add_u64(block->begin, block->size, &end) || end > table->file->size - FOOTER ||
        table->file->size - FOOTER - end < TRAILER || block->size < 4)
        return sp_malformed(table->error, "a block of %" PRIu64 " bytes at %" PRIu64 " passes the end of the table",
                            block->size, block->begin);
    sp_window_open(window, table->file, end - 4, UINT64_MAX, table->error);
    window->what = "the table";
    const uint64_t places = sp_window_le(window, 4), kind = sp_window_le(window, 1), stored = sp_window_le(window, 4);
    uint32_t sum;
    if (!window->ok || !sum_bytes(table, block->begin, end + 1, &sum)) return false;
    table->bad_sums += sum != stored;
    if (kind)
        return sp_fail(table->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                       "a compressed block (kind %" PRIu64 ")", kind);
    if (places > (block->size - 4) / 4)
        return sp_malformed(table->error, "a block of %" PRIu64 " bytes with %" PRIu64 " places", block->size, places);
    walk->end = end - 4 - 4 * places;
    sp_window_open(&walk->places, table->file, walk->end, end - 4, table->error);
    sp_window_open(window, table->file, block->begin, walk->end, table->error);
    window->what = "a block";
    if (!places) return sp_malformed(table->error, "a block without restart points");
    take_restart(walk);
    return walk->places.ok;
}

static void close_block(struct walk *walk)
{
    sp_text_free(&walk->key);
    sp_text_free(&walk->own);
}

/* Whether key `a` comes before key `b`, by their bytes. */
static bool is_before(const char *a, size_t a_length, const char *b, size_t b_length)
{
    const size_t common = a_length < b_length ? a_length : b_length;
    const int order = common ? memcmp(a, b, common) : 0;
    sp_budget_spend(common / 16 + 1);
    return order ? order < 0 : a_length < b_length;
}

static bool fail_order(struct table *table, const struct sp_text *key)
{
    struct sp_text shown = {0};
    sp_text_visible(&shown, key->data ? key->data : "", key->length);
    sp_malformed(table->error, "the key %s is out of order", sp_quote(shown.data ? shown.data : "").text);
    sp_text_free(&shown);
    return false;
}

static bool fail_restart(struct table *table, struct walk *walk)
{
    walk->window.ok = sp_malformed(table->error,
                                   "a restart point at byte %" PRIu64 " of the block at byte %" PRIu64
                                   " is no entry with a whole key",
                                   walk->restart, walk->begin);
    return false;
}

/* Restart points are at the first entry, and at others in their order. */
static bool check_restart(struct table *table, struct walk *walk, uint64_t place, uint64_t shared)
{
    if (place < walk->restart && place) return true;
    if (place != walk->restart || shared) return fail_restart(table, walk);
    take_restart(walk);
    return walk->places.ok;
}

/* The next key, and where its value begins and ends; the window stands behind it. */
static bool next_entry(struct table *table, struct walk *walk, struct block *value)
{
    struct sp_window *window = &walk->window;
    const uint64_t place = window->at - walk->begin;
    if (!window->ok) return false;
    if (window->at >= walk->end) return place && walk->restart != UINT64_MAX ? fail_restart(table, walk) : false;
    const uint64_t shared = sp_proto_varint(window), own = sp_proto_varint(window), size = sp_proto_varint(window);
    if (!window->ok) return false;
    if (shared > walk->key.length || own > MAX_KEY || shared + own > MAX_KEY) {
        window->ok =
            sp_malformed(table->error, "a key has %" PRIu64 " bytes, and %" PRIu64 " of the one before, which has %zu",
                         own, shared, walk->key.length);
        return false;
    }
    if (!check_restart(table, walk, place, shared)) return window->ok = false;
    walk->own.length = 0;
    sp_text_reserve(&walk->own, (size_t)own);
    sp_window_take(window, walk->own.data, (size_t)own);
    walk->own.length = (size_t)own;
    const char *tail = walk->key.data ? walk->key.data + shared : "";
    const bool later = !place || is_before(tail, walk->key.length - (size_t)shared, walk->own.data, walk->own.length);
    walk->key.length = (size_t)shared;
    sp_text_append(&walk->key, walk->own.data, walk->own.length);
    if (window->ok && !later) window->ok = fail_order(table, &walk->key);
    *value = (struct block){window->at, size};
    return sp_window_skip(window, size);
}

/* ---- one tensor ---- */

static const struct {
    enum shapeproof_dtype dtype;
    const char *name;
} types[] = {
    [1] = {SHAPEPROOF_DTYPE_F32, NULL},
    [2] = {SHAPEPROOF_DTYPE_F64, NULL},
    [3] = {SHAPEPROOF_DTYPE_I32, NULL},
    [4] = {SHAPEPROOF_DTYPE_U8, NULL},
    [5] = {SHAPEPROOF_DTYPE_I16, NULL},
    [6] = {SHAPEPROOF_DTYPE_I8, NULL},
    [7] = {0, "string"},
    [8] = {SHAPEPROOF_DTYPE_C64, NULL},
    [9] = {SHAPEPROOF_DTYPE_I64, NULL},
    [10] = {SHAPEPROOF_DTYPE_BOOL, NULL},
    [11] = {SHAPEPROOF_DTYPE_QI8, NULL},
    [12] = {SHAPEPROOF_DTYPE_QU8, NULL},
    [13] = {SHAPEPROOF_DTYPE_QI32, NULL},
    [14] = {SHAPEPROOF_DTYPE_BF16, NULL},
    [15] = {0, "qint16"},
    [16] = {0, "quint16"},
    [17] = {SHAPEPROOF_DTYPE_U16, NULL},
    [18] = {SHAPEPROOF_DTYPE_C128, NULL},
    [19] = {SHAPEPROOF_DTYPE_F16, NULL},
    [20] = {0, "resource"},
    [21] = {0, "variant"},
    [22] = {SHAPEPROOF_DTYPE_U32, NULL},
    [23] = {SHAPEPROOF_DTYPE_U64, NULL},
    [24] = {SHAPEPROOF_DTYPE_F8_E5M2, NULL},
    [25] = {SHAPEPROOF_DTYPE_F8_E4M3, NULL},
    [26] = {SHAPEPROOF_DTYPE_F8_E4M3FNUZ, NULL},
    [27] = {0, "float8_e4m3b11fnuz"},
    [28] = {SHAPEPROOF_DTYPE_F8_E5M2FNUZ, NULL},
    [29] = {0, "I4"},
    [30] = {0, "U4"},
};

struct entry {
    int64_t type;
    uint64_t size;
    uint32_t rank;
    uint64_t shape[SP_MAX_RANK];
    bool deep, unknown, negative, parts;
};

/* A TensorShapeProto: 2 dimensions, of each 1 the size; 3 that even their number is not known. */
static void take_entry_shape(struct sp_window *window, const struct sp_proto_field *field, struct entry *entry)
{
    struct sp_proto_field part, extent;
    sp_proto_enter(window, field);
    while (sp_proto_next(window, field->end, &part)) {
        if (sp_proto_is(&part, 3, SP_PROTO_VARINT)) entry->unknown = part.value != 0;
        if (!sp_proto_is(&part, 2, SP_PROTO_BYTES)) continue;
        uint64_t size = 0;
        sp_proto_enter(window, &part);
        while (sp_proto_next(window, part.end, &extent))
            if (sp_proto_is(&extent, 1, SP_PROTO_VARINT)) size = extent.value;
        if (size > INT64_MAX) entry->negative = true;
        if (entry->rank == SP_MAX_RANK) entry->deep = true;
        else entry->shape[entry->rank++] = size;
    }
}

static bool take_entry(struct table *table, const struct block *value, struct entry *entry,
                       struct shapeproof_error *why)
{
    struct sp_window window;
    struct sp_proto_field field;
    *entry = (struct entry){.type = 0};
    sp_window_open(&window, table->file, value->begin, value->begin + value->size, why);
    window.what = "its entry";
    while (sp_proto_next(&window, window.end, &field)) {
        if (sp_proto_is(&field, 1, SP_PROTO_VARINT)) entry->type = sp_proto_int32(&field);
        if (sp_proto_is(&field, 2, SP_PROTO_BYTES)) take_entry_shape(&window, &field, entry);
        if (sp_proto_is(&field, 5, SP_PROTO_VARINT)) entry->size = field.value;
        if (sp_proto_is(&field, 7, SP_PROTO_BYTES)) entry->parts = true;
    }
    if (!window.ok) return false;
    if (entry->deep)
        return sp_fail(why, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d dimensions", SP_MAX_RANK);
    return !(entry->unknown || entry->negative) || sp_malformed(why, "its shape is not known");
}

static bool describe_entry(struct table *table, const char *name, const struct entry *entry,
                           struct shapeproof_tensor *tensor, struct shapeproof_error *why)
{
    struct sp_arena *arena = &table->inventory->arena;
    const bool known = entry->type > 0 && (uint64_t)entry->type < sizeof types / sizeof *types;
    uint64_t *shape = sp_arena_array(arena, entry->rank ? entry->rank : 1, sizeof *shape);
    memcpy(shape, entry->shape, entry->rank * sizeof *shape);
    *tensor = (struct shapeproof_tensor){.name = name, .file = table->index, .rank = entry->rank, .shape = shape};
    tensor->same_as = SHAPEPROOF_NONE;
    tensor->dtype = known ? types[entry->type].dtype : SHAPEPROOF_DTYPE_UNKNOWN;
    tensor->dtype_name = tensor->dtype ? shapeproof_dtype_name(tensor->dtype)
                         : known       ? types[entry->type].name
                                       : sp_arena_printf(arena, "type%" PRId64, entry->type);
    if (strstr(name, ".OPTIMIZER_SLOT/") || !strncmp(name, "optimizer/", 10)) tensor->flags |= SHAPEPROOF_TENSOR_STATE;
    if (table->big_endian && shapeproof_dtype_bits(tensor->dtype) > 8) tensor->flags |= SHAPEPROOF_TENSOR_BIG_ENDIAN;
    if (!sp_tensor_measure(tensor)) return sp_malformed(why, "the product of its dimensions overflows 64 bits");
    if (tensor->dtype && !entry->parts && entry->size != tensor->bytes)
        return sp_malformed(why, "%" PRIu64 " bytes of data, shape and type need %" PRIu64, entry->size, tensor->bytes);
    return true;
}

/* The entry about the whole checkpoint. */
static bool take_bundle_header(struct table *table, const struct block *value)
{
    struct sp_window window;
    struct sp_proto_field field;
    sp_window_open(&window, table->file, value->begin, value->begin + value->size, table->error);
    window.what = "the first entry";
    while (sp_proto_next(&window, window.end, &field))
        if (sp_proto_is(&field, 2, SP_PROTO_VARINT)) table->big_endian = sp_proto_int32(&field) == 1;
    table->headed = true;
    return window.ok;
}

static bool add_entry(struct table *table, const struct sp_text *key, const struct block *value)
{
    struct shapeproof_error why = {0};
    struct entry entry;
    struct shapeproof_tensor described;
    if (!key->length) return take_bundle_header(table, value);
    if (!table->headed) return sp_malformed(table->error, "there is no entry about the whole checkpoint");
    if (!key->data[0]) {
        table->parts++;
        return true;
    }
    if (!sp_inventory_spend_names(table->inventory, key->length, table->error))
        return false; /* keys share beginnings */
    const char *name = sp_printable_name(key->data, key->length, &table->inventory->arena);
    if (!name) return sp_malformed(table->error, "a NUL in a name");
    if (!take_entry(table, value, &entry, &why) || !describe_entry(table, name, &entry, &described, &why))
        return sp_inventory_unread(table->inventory, name, &why, table->error);
    struct shapeproof_tensor *tensor = sp_inventory_add(table->inventory, table->error);
    if (tensor) *tensor = described;
    return tensor != NULL;
}

/* ---- the table ---- */

enum { BLOCK_TRAILER = 5 }; /* how it is compressed, and its sum */

static void claim_block(const struct table *table, const struct block *block)
{
    sp_inventory_claim(table->inventory, table->index, block->begin, block->begin + block->size + BLOCK_TRAILER,
                       SP_USE_STRUCTURE);
}

/* The entries of a block, which has the key in the index of blocks. */
static bool take_block(struct table *table, const struct block *block, const struct sp_text *key)
{
    struct walk walk;
    struct block value;
    bool begun = false;
    bool ok = open_block(table, &walk, block);
    if (ok && block->begin < table->last_end) ok = sp_malformed(table->error, "blocks that do not follow one another");
    claim_block(table, block);
    table->last_end = block->begin + block->size;
    while (ok && next_entry(table, &walk, &value)) {
        const struct sp_text *last = &table->last_key;
        const bool first = table->begun && !begun;
        begun = true;
        ok = (!first || is_before(last->data, last->length, walk.key.data, walk.key.length) ||
              fail_order(table, &walk.key)) &&
             add_entry(table, &walk.key, &value);
    }
    ok = ok && walk.window.ok;
    if (ok && is_before(key->data, key->length, walk.key.data, walk.key.length)) ok = fail_order(table, &walk.key);
    close_block(&walk);
    return ok;
}

static bool take_blocks(struct table *table, const struct block *index)
{
    struct walk walk;
    struct block value, block;
    bool ok = open_block(table, &walk, index);
    claim_block(table, index);
    while (ok && next_entry(table, &walk, &value)) {
        struct sp_window window;
        sp_window_open(&window, table->file, value.begin, value.begin + value.size, table->error);
        window.what = "the place of a block";
        ok = take_handle(&window, &block) && take_block(table, &block, &walk.key);
        table->last_key.length = 0;
        sp_text_append(&table->last_key, walk.key.data, walk.key.length);
        sp_budget_spend(walk.key.length / 16 + 1);
        table->begun = true;
    }
    ok = ok && walk.window.ok;
    close_block(&walk);
    return ok && (table->headed || sp_malformed(table->error, "there is no entry about the whole checkpoint"));
}

static unsigned probe_tensorflow(const struct sp_probe *probe)
{
    unsigned char found[sizeof magic];
    struct shapeproof_error ignored = {0};
    const uint64_t size = probe->file->size;
    if (!probe->deep || size < FOOTER || !sp_file_read(probe->file, size - sizeof found, found, sizeof found, &ignored))
        return 0;
    return memcmp(found, magic, sizeof magic) ? 0 : 8 * sizeof magic;
}

static bool index_tensorflow(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                             struct shapeproof_error *error)
{
    struct table table = {.file = file, .inventory = inventory, .error = error, .index = file_index};
    struct sp_window window;
    struct block meta, index;
    sp_window_open(&window, file, file->size - FOOTER, UINT64_MAX, error);
    window.what = "the end of the table";
    const bool ok = take_handle(&window, &meta) && take_handle(&window, &index) && take_blocks(&table, &index);
    sp_text_free(&table.last_key);
    if (!ok) return false;
    if (table.bad_sums)
        sp_inventory_warn(inventory, "TensorFlow refuses it: blocks with a wrong checksum: %" PRIu64, table.bad_sums);
    claim_block(&table, &meta);
    sp_inventory_claim(inventory, file_index, file->size - FOOTER, file->size, SP_USE_STRUCTURE);
    inventory->format = &tf_checkpoint_format;
    return true;
}

static const struct sp_file_ending endings[] = {{".index", SP_IF_ALONE}, {NULL, 0}};

const struct sp_reader sp_reader_tensorflow = {
    .name = "tensorflow", .endings = endings, .probe = probe_tensorflow, .index = index_tensorflow};
