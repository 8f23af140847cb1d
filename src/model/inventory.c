/* SPDX-License-Identifier: MIT */
#include "model/inventory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/names.h"
#include "base/shard_name.h"
#include "model/keras_code.h"
#include "model/layouts.h"

enum { SUSPECTS_WARNED_OF = 20 };

struct shapeproof_inventory *sp_inventory_new(const char *path)
{
    struct shapeproof_inventory *inventory = sp_realloc(NULL, 1, sizeof *inventory);
    *inventory = (struct shapeproof_inventory){0};
    inventory->path = sp_arena_string(&inventory->arena, path);
    static const struct sp_format unknown = {"", 0};
    inventory->format = &unknown;
    return inventory;
}

void shapeproof_inventory_close(struct shapeproof_inventory *inventory)
{
    if (!inventory) return;
    sp_free(inventory->files);
    sp_free(inventory->tensors);
    sp_free(inventory->metadata);
    sp_free(inventory->warnings);
    sp_free(inventory->promises);
    sp_free(inventory->unread_names.items);
    sp_free(inventory->described.items);
    sp_free(inventory->uses.items);
    sp_free(inventory->suspects.items);
    sp_account_free(&inventory->account);
    sp_map_free(&inventory->names);
    sp_map_free(&inventory->metadata_keys);
    sp_arena_free(&inventory->arena);
    sp_free(inventory);
}

uint32_t sp_inventory_add_file(struct shapeproof_inventory *inventory, const char *name)
{
    SP_GROW(inventory->files, inventory->file_count, inventory->file_capacity);
    inventory->files[inventory->file_count] = sp_arena_string(&inventory->arena, name);
    return (uint32_t)inventory->file_count++;
}

const char *sp_inventory_misnamed(const struct shapeproof_inventory *inventory, struct sp_arena *arena)
{
    const struct sp_format *format = inventory->misnamed_format;
    if (!format) return NULL;
    const bool is_pickle = format->traits & SP_BY_TORCH && !(format->traits & SP_WITH_CODE);
    const struct sp_quoted name = sp_quote(sp_base_name(inventory->files[inventory->misnamed]));
    return sp_arena_printf(arena, is_pickle ? "%s is a pickle (%s), not %s" : "%s is %s, not %s", name.text,
                           format->name, inventory->misnamed_expected);
}

struct shapeproof_tensor *sp_inventory_add(struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    if (inventory->count >= SP_MAX_TENSORS) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d tensors", SP_MAX_TENSORS);
        return NULL;
    }
    SP_GROW(inventory->tensors, inventory->count, inventory->capacity);
    struct shapeproof_tensor *tensor = &inventory->tensors[inventory->count++];
    *tensor = (struct shapeproof_tensor){
        .name = "", .dtype_name = shapeproof_dtype_name(SHAPEPROOF_DTYPE_UNKNOWN), .same_as = SHAPEPROOF_NONE};
    return tensor;
}

void sp_inventory_add_metadata(struct shapeproof_inventory *inventory, const char *key, const char *value)
{
    const size_t known = sp_map_get(&inventory->metadata_keys, key);
    if (known != SIZE_MAX) { /* each shard repeats the metadata of the whole */
        const char *kept = inventory->metadata[known].value;
        if (strcmp(kept, value) != 0)
            sp_inventory_warn(inventory, "metadata %s is %s and then %s: the first is kept", sp_quote(key).text,
                              sp_quote(kept).text, sp_quote(value).text);
        return;
    }
    SP_GROW(inventory->metadata, inventory->metadata_count, inventory->metadata_capacity);
    struct shapeproof_metadata *added = &inventory->metadata[inventory->metadata_count];
    added->key = sp_arena_string(&inventory->arena, key);
    added->value = sp_arena_string(&inventory->arena, value);
    sp_map_add(&inventory->metadata_keys, added->key, inventory->metadata_count++);
}

void sp_inventory_warn(struct shapeproof_inventory *inventory, const char *format, ...)
{
    va_list args;
    if (inventory->warning_count > SP_MAX_WARNINGS) return;
    if (inventory->warning_count == SP_MAX_WARNINGS) format = "further warnings are not listed";
    va_start(args, format);
    const char *message = sp_arena_vprintf(&inventory->arena, format, args);
    va_end(args);
    for (size_t i = 0; i < inventory->warning_count; i++)
        if (strcmp(inventory->warnings[i], message) == 0) return;
    SP_GROW(inventory->warnings, inventory->warning_count, inventory->warning_capacity);
    inventory->warnings[inventory->warning_count++] = message;
}

enum { UNREAD_NAMED = 10 };

void sp_inventory_allow_names(struct shapeproof_inventory *inventory, uint64_t file_size)
{
    inventory->named_bytes = sp_add_saturated(inventory->named_bytes, file_size);
}

uint64_t sp_inventory_names_left(const struct shapeproof_inventory *inventory)
{
    uint64_t most;
    if (!sp_mul_u64(inventory->named_bytes, SP_NAMES_BUDGET_FACTOR, &most)) most = UINT64_MAX;
    most = sp_add_saturated(most, SP_NAMES_BUDGET_BASE);
    return most > inventory->name_bytes ? most - inventory->name_bytes : 0;
}

bool sp_inventory_spend_names(struct shapeproof_inventory *inventory, uint64_t bytes, struct shapeproof_error *error)
{
    if (bytes > sp_inventory_names_left(inventory))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "names of more than %d bytes for each byte of the file, and %d MiB besides, in all",
                       SP_NAMES_BUDGET_FACTOR, SP_NAMES_BUDGET_BASE >> 20);
    inventory->name_bytes += bytes;
    return true;
}

bool sp_inventory_unread(struct shapeproof_inventory *inventory, const char *name, const struct shapeproof_error *why,
                         struct shapeproof_error *error)
{
    if (why->kind == SHAPEPROOF_KIND_IO || inventory->count >= SP_MAX_TENSORS)
        return sp_fail(error, why->status, why->kind, "%s", why->message);
    if (!sp_inventory_spend_names(inventory, strlen(name), error)) return false;
    if (!inventory->unread++) inventory->first_unread = *why;
    *SP_PUSH(&inventory->unread_names) = sp_arena_string(&inventory->arena, name);
    if (inventory->unread <= UNREAD_NAMED)
        sp_inventory_warn(inventory, "tensor %s is not read: %s", sp_quote(name).text, why->message);
    return true;
}

/* Adds a warning with the number of tensors that are not read, if not each of them has one. False, with an error, when
 * no tensor could be read. */
static bool judge_unread(struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const struct shapeproof_error *why = &inventory->first_unread;
    if (inventory->unread && !inventory->count)
        return sp_fail(error, why->status, why->kind, "no tensor can be read (%zu broken; the first: %s)",
                       inventory->unread, why->message);
    if (inventory->unread > UNREAD_NAMED)
        sp_inventory_warn(inventory, "tensors that are not read: %zu, of which the first %d are named",
                          inventory->unread, UNREAD_NAMED);
    return true;
}

/* Notes what a checkpoint reaches for; true when it is new. */
static bool note_suspect(struct shapeproof_inventory *inventory, const char *name, bool called, bool in_a_model)
{
    if (inventory->suspects.count >= SP_MAX_SUSPECTS) return false;
    for (size_t i = 0; i < inventory->suspects.count; i++) {
        struct shapeproof_suspect *known = &inventory->suspects.items[i];
        if (strcmp(known->name, name) != 0) continue;
        known->called = known->called || called;
        return false;
    }
    *SP_PUSH(&inventory->suspects) =
        (struct shapeproof_suspect){sp_arena_string(&inventory->arena, name), called, in_a_model};
    return true;
}

static void adopt_suspects(struct shapeproof_inventory *inventory, const struct shapeproof_inventory *part)
{
    for (size_t i = 0; i < part->suspects.count; i++)
        note_suspect(inventory, part->suspects.items[i].name, part->suspects.items[i].called,
                     part->suspects.items[i].in_a_model);
}

void sp_inventory_adopt_code(struct shapeproof_inventory *inventory, const struct shapeproof_inventory *part,
                             const char *what)
{
    for (size_t i = 0; i < part->warning_count; i++) sp_inventory_warn(inventory, "%s: %s", what, part->warnings[i]);
    adopt_suspects(inventory, part);
}

void sp_inventory_adopt_remarks(struct shapeproof_inventory *inventory, const struct shapeproof_inventory *part)
{
    for (size_t i = 0; i < part->warning_count; i++) sp_inventory_warn(inventory, "%s", part->warnings[i]);
    adopt_suspects(inventory, part);
    if (part->damaged && !inventory->damaged) inventory->damaged = sp_arena_string(&inventory->arena, part->damaged);
    inventory->compressed += part->compressed;
    if (part->unread && !inventory->unread) inventory->first_unread = part->first_unread;
    inventory->unread += part->unread;
    for (size_t i = 0; i < part->unread_names.count; i++)
        *SP_PUSH(&inventory->unread_names) = sp_arena_string(&inventory->arena, part->unread_names.items[i]);
}

void sp_inventory_suspect_global(struct shapeproof_inventory *inventory, const char *name, bool called)
{
    const size_t number = inventory->suspects.count;
    if (!note_suspect(inventory, name, called, false)) return;
    if (number == SUSPECTS_WARNED_OF) sp_inventory_warn(inventory, "more calls like these follow");
    else if (number < SUSPECTS_WARNED_OF && called)
        sp_inventory_warn(inventory, "unpickling it would call %s: nothing was executed", name);
    else if (number < SUSPECTS_WARNED_OF) sp_inventory_warn(inventory, "refers to %s: nothing was executed", name);
}

static void suspect_model(void *to, const char *name, const char *where)
{
    struct shapeproof_inventory *inventory = to;
    note_suspect(inventory, name, true, true);
    sp_inventory_warn(inventory, "%s; nothing was executed", where);
}

void sp_inventory_judge_keras(struct shapeproof_inventory *inventory, const char *json, size_t length)
{
    struct sp_arena arena = {0};
    struct shapeproof_value root;
    struct shapeproof_error error = {0};
    if (sp_value_parse_json(&arena, json, length, &root, &error)) sp_keras_code_each(root, suspect_model, inventory);
    else sp_inventory_warn(inventory, "the configuration of the model is not read: %s", error.message);
    sp_arena_free(&arena);
}

void sp_inventory_promise(struct shapeproof_inventory *inventory, const char *tensor, const char *shard,
                          bool unreadable)
{
    SP_GROW(inventory->promises, inventory->promise_count, inventory->promise_capacity);
    struct sp_promise *promise = &inventory->promises[inventory->promise_count];
    const char *last = inventory->promise_count ? promise[-1].shard : "";
    promise->tensor = tensor ? sp_arena_string(&inventory->arena, tensor) : NULL;
    promise->shard = strcmp(last, shard) == 0 ? last : sp_arena_string(&inventory->arena, shard);
    promise->unreadable = unreadable;
    inventory->promise_count++;
}

bool sp_tensor_measure(struct shapeproof_tensor *tensor)
{
    uint64_t elements = 1, bytes = 0;
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) elements = 0;
    for (uint32_t i = 0; i < tensor->rank; i++)
        if (!sp_mul_u64(elements, tensor->shape[i], &elements)) return false;
    const uint64_t bits = shapeproof_dtype_bits(tensor->dtype), rest = elements % 8 * bits;
    if (rest % 8 || !sp_mul_u64(elements / 8, bits, &bytes) || !sp_add_u64(bytes, rest / 8, &bytes)) return false;
    tensor->parameters = elements;
    tensor->bytes = bytes;
    return true;
}

/* ---- ties: tensors sorted by storage and place in it, then one sweep ---- */

static int compare_dimensions(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i]) return a->shape[i] < b->shape[i] ? -1 : 1;
    return 0;
}

/* How many elements lie between two neighbours of a dimension; 0 where it has one alone. */
static uint64_t step_of(const struct shapeproof_tensor *tensor, uint32_t dimension)
{
    uint64_t step = 1;
    if (tensor->shape[dimension] == 1) return 0;
    if (tensor->stride) return tensor->stride[dimension];
    for (uint32_t i = tensor->rank; --i > dimension;) step *= tensor->shape[i]; /* at most `parameters` */
    return step;
}

/* Of two tensors of one shape: by the order that their elements have in the storage, row-major before all others. */
static int compare_orders(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    const bool plain = sp_is_row_major(a);
    if (plain != sp_is_row_major(b)) return plain ? -1 : 1;
    for (uint32_t i = 0; i < a->rank && !plain; i++)
        if (step_of(a, i) != step_of(b, i)) return step_of(a, i) < step_of(b, i) ? -1 : 1;
    return 0;
}

static int compare_storage_places(const void *left, const void *right)
{
    const struct shapeproof_tensor *a = *(const struct shapeproof_tensor *const *)left;
    const struct shapeproof_tensor *b = *(const struct shapeproof_tensor *const *)right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    const int storage = strcmp(a->storage, b->storage);
    if (storage) return storage;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    if (a->parameters != b->parameters) return a->parameters > b->parameters ? -1 : 1; /* the whole before its part */
    const int shape = compare_dimensions(a, b);
    if (shape) return shape;
    const int order = compare_orders(a, b);
    if (order) return order;
    return a < b ? -1 : a > b; /* the first in file order comes first */
}

const struct shapeproof_tensor_piece *sp_tensor_piece_copy(const struct shapeproof_tensor_piece *piece,
                                                           struct sp_arena *arena)
{
    struct shapeproof_tensor_piece *copy = sp_arena_alloc(arena, sizeof *copy);
    uint64_t *shape = sp_arena_array(arena, piece->rank, sizeof *shape);
    *copy = *piece;
    if (piece->rank) memcpy(shape, piece->shape, piece->rank * sizeof *shape);
    copy->shape = shape;
    if (piece->placement) copy->placement = sp_arena_string(arena, piece->placement);
    return copy;
}

uint64_t sp_tensor_reach(const struct shapeproof_tensor *tensor)
{
    uint64_t last = tensor->offset, step;
    if (!tensor->parameters) return tensor->offset;
    if (tensor->piece) {
        const uint64_t bits = shapeproof_dtype_bits(tensor->dtype);
        return sp_add_u64(last, bits ? tensor->piece->bytes / bits * 8 : 0, &last) ? last : UINT64_MAX;
    }
    if (!tensor->stride) return sp_add_u64(last, tensor->parameters, &last) ? last : UINT64_MAX;
    for (uint32_t i = 0; i < tensor->rank; i++)
        if (!sp_mul_u64(tensor->shape[i] - 1, tensor->stride[i], &step) || !sp_add_u64(last, step, &last))
            return UINT64_MAX;
    return last == UINT64_MAX ? last : last + 1;
}

/* Marks a tensor that has place, shape and order of the one before as the same as that, and one that begins within the
 * reach of another as a view. `shared` is sorted by storage and place; `first` is the first tensor of the inventory. */
static void mark_ties(struct shapeproof_tensor **shared, size_t count, const struct shapeproof_tensor *first)
{
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        struct shapeproof_tensor *tensor = shared[i], *before = i ? shared[i - 1] : NULL;
        const bool same_storage =
            before && before->file == tensor->file && strcmp(before->storage, tensor->storage) == 0;
        if (!same_storage) end = 0;
        if (same_storage && before->offset == tensor->offset && compare_dimensions(before, tensor) == 0 &&
            compare_orders(before, tensor) == 0)
            tensor->same_as = before->same_as != SHAPEPROOF_NONE ? before->same_as : (size_t)(before - first);
        else if (same_storage && tensor->parameters && tensor->offset < end) tensor->flags |= SHAPEPROOF_TENSOR_VIEW;
        const uint64_t now = sp_tensor_reach(tensor);
        if (now > end) end = now;
    }
}

static void find_ties(struct shapeproof_inventory *inventory)
{
    struct shapeproof_tensor **shared = sp_realloc(NULL, inventory->count + 1, sizeof *shared);
    size_t count = 0;
    for (size_t i = 0; i < inventory->count; i++)
        if (inventory->tensors[i].storage && inventory->tensors[i].parameters) shared[count++] = &inventory->tensors[i];
    qsort(shared, count, sizeof *shared, compare_storage_places);
    mark_ties(shared, count, inventory->tensors);
    sp_free(shared);
}

/* Sums parameters and bytes, those of ties once; false, with an error, when a sum overflows. */
static bool sum_totals(struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct shapeproof_totals *totals = &inventory->totals;
    *totals = (struct shapeproof_totals){.tensors = inventory->count};
    for (size_t i = 0; i < inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        const bool first = tensor->same_as == SHAPEPROOF_NONE;
        inventory->dtypes |= UINT64_C(1) << tensor->dtype;
        if (!sp_add_u64(totals->parameters, tensor->parameters, &totals->parameters) ||
            !sp_add_u64(totals->unique_parameters, first ? tensor->parameters : 0, &totals->unique_parameters))
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "the total number of parameters overflows 64 bits");
        if (!sp_add_u64(totals->bytes, first ? tensor->bytes : 0, &totals->bytes))
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "the total number of bytes overflows 64 bits");
    }
    return true;
}

/* Fails with an error about the tensor, whose name another one has. */
static bool refuse_duplicate(const struct shapeproof_inventory *inventory, size_t index, struct shapeproof_error *error)
{
    const struct shapeproof_tensor *tensor = &inventory->tensors[index];
    const struct shapeproof_tensor *first = &inventory->tensors[sp_map_get(&inventory->names, tensor->name)];
    if (first->file == tensor->file)
        return sp_malformed(error, "tensor name %s appears twice", sp_quote(tensor->name).text);
    return sp_malformed(error, "tensor %s is in two files: %s and %s", sp_quote(tensor->name).text,
                        sp_quote(inventory->files[first->file]).text, sp_quote(inventory->files[tensor->file]).text);
}

bool sp_inventory_finish(struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    if (!judge_unread(inventory, error)) return false;
    sp_map_reserve(&inventory->names, inventory->count);
    for (size_t i = 0; i < inventory->count; i++)
        if (!sp_map_add(&inventory->names, inventory->tensors[i].name, i)) return refuse_duplicate(inventory, i, error);
    find_ties(inventory);
    return sum_totals(inventory, error);
}

/* ---- what the public header promises ---- */

const char *shapeproof_inventory_path(const struct shapeproof_inventory *inventory) { return inventory->path; }

uint64_t shapeproof_inventory_bytes_read(const struct shapeproof_inventory *inventory) { return inventory->bytes_read; }
bool sp_format_has(const struct shapeproof_inventory *inventory, enum sp_format_trait trait)
{
    return inventory->format->traits & trait;
}

const char *shapeproof_inventory_format(const struct shapeproof_inventory *inventory)
{
    return inventory->format->name;
}
size_t shapeproof_inventory_count(const struct shapeproof_inventory *inventory) { return inventory->count; }

const struct shapeproof_tensor *shapeproof_inventory_tensor(const struct shapeproof_inventory *inventory, size_t index)
{
    return &inventory->tensors[index];
}

size_t shapeproof_inventory_find(const struct shapeproof_inventory *inventory, const char *name)
{
    return sp_map_get(&inventory->names, name);
}

const struct shapeproof_totals *shapeproof_inventory_totals(const struct shapeproof_inventory *inventory)
{
    return &inventory->totals;
}
size_t shapeproof_inventory_file_count(const struct shapeproof_inventory *inventory) { return inventory->file_count; }
const char *shapeproof_inventory_file(const struct shapeproof_inventory *inventory, size_t index)
{
    return inventory->files[index];
}
const char *shapeproof_inventory_beside(const struct shapeproof_inventory *inventory) { return inventory->beside; }
bool sp_inventory_is_shard(const struct shapeproof_inventory *inventory, struct sp_shard_name *shard)
{
    return inventory->file_count == 1 && sp_shard_name_read(sp_base_name(inventory->path), shard) && shard->of > 1;
}

bool sp_inventory_is_part(const struct shapeproof_inventory *inventory)
{
    struct sp_shard_name shard;
    return inventory->promise_count || inventory->shard_absent || inventory->unread ||
           sp_inventory_is_shard(inventory, &shard);
}

const char *sp_inventory_metadata_value(const struct shapeproof_inventory *inventory, const char *key)
{
    const size_t found = sp_map_get(&inventory->metadata_keys, key);
    return found == SIZE_MAX ? NULL : inventory->metadata[found].value;
}

size_t shapeproof_inventory_metadata_count(const struct shapeproof_inventory *inventory)
{
    return inventory->metadata_count;
}

const struct shapeproof_metadata *shapeproof_inventory_metadata(const struct shapeproof_inventory *inventory,
                                                                size_t index)
{
    return &inventory->metadata[index];
}

const char *shapeproof_inventory_settings(const struct shapeproof_inventory *inventory) { return inventory->settings; }
size_t shapeproof_inventory_unread_count(const struct shapeproof_inventory *inventory) { return inventory->unread; }
size_t shapeproof_inventory_warning_count(const struct shapeproof_inventory *inventory)
{
    return inventory->warning_count;
}

const char *shapeproof_inventory_warning(const struct shapeproof_inventory *inventory, size_t index)
{
    return inventory->warnings[index];
}

size_t shapeproof_inventory_suspect_count(const struct shapeproof_inventory *inventory)
{
    return inventory->suspects.count;
}

const struct shapeproof_suspect *shapeproof_inventory_suspect(const struct shapeproof_inventory *inventory,
                                                              size_t index)
{
    return &inventory->suspects.items[index];
}
