/* SPDX-License-Identifier: MIT
 * The parent's half. Nothing that the child sends is believed: lengths, ranks and dtypes are checked by wire.c, sizes
 * and offsets here. */
#include "read/hdf5/index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fault.h"
#include "base/system/system.h"
#include "read/hdf5/attributes.h"
#include "read/hdf5/keras.h"
#include "read/hdf5/sandbox.h"
#include "read/hdf5/walk.h"
#include "read/hdf5/wire.h"

enum { MAX_WARNINGS = 10 }; /* of one kind; the rest is counted */

struct decoder {
    struct sp_cursor in;
    const struct sp_h5_source *source;
    struct sp_h5_contents contents;
    struct shapeproof_inventory *inventory;
    struct shapeproof_error *error;
    struct sp_map storages; /* storage identity -> index of its first tensor */
    uint32_t file;
    size_t notes[SP_NOTE_COUNT];
    size_t big_endian;
    const char *first_big_endian;
    bool complete;
};

/* ---- tensors ---- */

static void set_dtype(struct shapeproof_tensor *tensor, const struct sp_wire_tensor *wire)
{
    tensor->dtype = wire->dtype;
    tensor->dtype_name =
        wire->dtype == SHAPEPROOF_DTYPE_UNKNOWN ? wire->dtype_name : shapeproof_dtype_name(wire->dtype);
}

static void set_shape(struct shapeproof_tensor *tensor, const struct sp_wire_tensor *wire, struct sp_arena *arena)
{
    uint64_t *shape = sp_arena_array(arena, wire->rank ? wire->rank : 1, sizeof *shape);
    memcpy(shape, wire->shape, wire->rank * sizeof *shape);
    tensor->shape = shape;
    tensor->rank = wire->rank;
    if (wire->flags & SP_WIRE_NULL_SPACE) tensor->flags |= SHAPEPROOF_TENSOR_NO_SHAPE;
    if (wire->flags & SP_WIRE_UNREAD_SPACE) tensor->flags |= SHAPEPROOF_TENSOR_NO_SHAPE | SHAPEPROOF_TENSOR_NO_DATA;
}

static bool has_enough_data(const struct shapeproof_tensor *tensor, const struct sp_wire_tensor *wire,
                            struct shapeproof_error *error)
{
    return wire->stored >= tensor->bytes ||
           sp_malformed(error, "%" PRIu64 " bytes of data, its shape and type need %" PRIu64, wire->stored,
                        tensor->bytes);
}

/* Sets where the data are. A claim of bytes without a place stands for data that are not contiguous, and data that were
 * inflated have no place in the file. False with an error when they pass the end of the file, or are too few. */
static bool set_place(struct decoder *d, struct shapeproof_tensor *tensor, const struct sp_wire_tensor *wire,
                      struct shapeproof_error *error)
{
    uint64_t end;
    if (wire->flags & SP_WIRE_UNREAD_PLACE) return true;
    if (wire->flags & SP_WIRE_COMPACT && !has_enough_data(tensor, wire, error)) return false;
    if (tensor->parameters && (!wire->stored || wire->flags & SP_WIRE_ABSENT_CHUNKS))
        tensor->flags |= SHAPEPROOF_TENSOR_NO_DATA;
    if (!wire->begin) sp_inventory_claim_scattered(d->inventory, wire->stored, SP_USE_TENSOR);
    if (!wire->begin || !wire->stored) return true;
    if (!sp_add_u64(wire->begin, wire->stored, &end) || end > d->source->size)
        return sp_malformed(error, "%" PRIu64 " bytes at %" PRIu64 ", past the end of the file (%" PRIu64 ")",
                            wire->stored, wire->begin, d->source->size);
    if (!has_enough_data(tensor, wire, error)) return false;
    if (d->source->fd < 0) return true; /* inflated: there is no such range in the file */
    tensor->data_begin = d->source->base - d->source->origin + wire->begin;
    tensor->data_end = d->source->base - d->source->origin + end;
    return true;
}

/* What a storage is called: by the address of its object, which hard links share. */
static const char *storage_of(const struct decoder *d, uint64_t address)
{
    struct sp_arena *arena = &d->inventory->arena;
    if (!d->source->part) return sp_arena_printf(arena, "hdf5:0x%" PRIx64, address);
    return sp_arena_printf(arena, "hdf5:%zu:0x%" PRIx64, d->source->part, address);
}

/* Reads a tensor from the child's answer and adds it. One that cannot be used is noted as unread. */
static bool take_tensor(struct decoder *d)
{
    struct sp_wire_tensor wire;
    struct sp_arena *arena = &d->inventory->arena;
    if (!sp_wire_get_tensor(&d->in, arena, &wire)) return false;
    if (!sp_inventory_spend_names(d->inventory, strlen(wire.path), d->error)) return false;
    struct shapeproof_tensor *tensor = sp_inventory_add(d->inventory, d->error);
    if (!tensor) return false;
    tensor->name = wire.path;
    tensor->file = d->file;
    tensor->storage = storage_of(d, wire.address);
    set_dtype(tensor, &wire);
    set_shape(tensor, &wire, arena);
    if (wire.flags & SP_WIRE_BIG_ENDIAN) tensor->flags |= SHAPEPROOF_TENSOR_BIG_ENDIAN;
    struct shapeproof_error why = {0};
    const bool measured =
        sp_tensor_measure(tensor) || sp_malformed(&why, "the product of its dimensions overflows 64 bits");
    if (!measured || !set_place(d, tensor, &wire, &why)) {
        d->inventory->count--; /* and it gets no storage, so that hard links to it are unread as well */
        return sp_inventory_unread(d->inventory, wire.path, &why, d->error);
    }
    sp_map_add(&d->storages, tensor->storage, d->inventory->count - 1);
    if (wire.flags & SP_WIRE_BIG_ENDIAN && !d->big_endian++) d->first_big_endian = tensor->name;
    return true;
}

/* What the child says that it could not read. */
static bool take_unread(struct decoder *d)
{
    const uint64_t kind = sp_cursor_le(&d->in, 1);
    const char *path = sp_wire_get_string(&d->in, &d->inventory->arena, SP_MAX_NAME);
    const char *message = sp_wire_get_string(&d->in, &d->inventory->arena, 4096);
    if (kind != SHAPEPROOF_KIND_MALFORMED && kind != SHAPEPROOF_KIND_LIMIT) return false;
    struct shapeproof_error why = {0};
    sp_fail(&why, SHAPEPROOF_ERR_FILE, (enum shapeproof_kind)kind, "%s", message);
    return sp_inventory_unread(d->inventory, path, &why, d->error);
}

/* A hard link: the same dataset under another name, hence the same storage. */
static bool take_alias(struct decoder *d)
{
    const char *path = sp_wire_get_string(&d->in, &d->inventory->arena, SP_MAX_NAME);
    const size_t first = sp_map_get(&d->storages, storage_of(d, sp_cursor_le(&d->in, 8)));
    if (!d->in.ok) return false;
    if (first == SIZE_MAX) {
        struct shapeproof_error why = {0};
        sp_malformed(&why, "a hard link to a dataset that is not read");
        return sp_inventory_unread(d->inventory, path, &why, d->error);
    }
    if (!sp_inventory_spend_names(d->inventory, strlen(path), d->error)) return false;
    struct shapeproof_tensor *tensor = sp_inventory_add(d->inventory, d->error);
    if (!tensor) return false;
    *tensor = d->inventory->tensors[first];
    tensor->name = path;
    return true;
}

/* ---- attributes ---- */

/* Reads a list of names (the attribute layer_names or weight_names of a group). Long lists come in several records. */
static bool take_names(struct decoder *d)
{
    struct sp_h5_contents *contents = &d->contents;
    struct sp_arena *arena = &d->inventory->arena;
    const char *group = sp_wire_get_string(&d->in, arena, SP_MAX_NAME);
    const char *attribute = sp_wire_get_string(&d->in, arena, 64);
    const uint64_t count = sp_cursor_le(&d->in, 4);
    struct sp_h5_names *last = contents->list_count ? &contents->lists[contents->list_count - 1] : NULL;
    if (!d->in.ok || count > SP_H5_MAX_STRINGS) return false;
    if (!last || strcmp(last->group, group) || strcmp(last->attribute, attribute)) {
        SP_GROW(contents->lists, contents->list_count, contents->list_capacity);
        last = &contents->lists[contents->list_count++];
        *last = (struct sp_h5_names){.group = group, .attribute = attribute};
    }
    for (uint64_t i = 0; i < count && d->in.ok; i++) {
        SP_GROW(last->names, last->count, last->capacity);
        last->names[last->count++] = sp_wire_get_string(&d->in, arena, SP_H5_MAX_ATTRIBUTE);
    }
    return d->in.ok;
}

static bool has_metadata(const struct shapeproof_inventory *inventory, const char *key)
{
    for (size_t i = 0; i < inventory->metadata_count; i++)
        if (!strcmp(inventory->metadata[i].key, key)) return true;
    return false;
}

static bool take_attribute(struct decoder *d)
{
    struct sp_arena *arena = &d->inventory->arena;
    sp_wire_get_string(&d->in, arena, SP_MAX_NAME);
    const char *name = sp_wire_get_string(&d->in, arena, 64);
    const char *value = sp_wire_get_string(&d->in, arena, SP_H5_MAX_JSON);
    if (!d->in.ok) return false;
    if (!strcmp(name, "name")) { /* of a group of variables: no more is asked of it than that it is there */
        d->contents.variables = true;
        return true;
    }
    if (!strcmp(name, "model_config") || !strcmp(name, "nb_layers")) d->contents.model_attributes = true;
    if (!strcmp(name, "model_config") || !strcmp(name, "training_config"))
        sp_inventory_judge_keras(d->inventory, value, strlen(value));
    if (!has_metadata(d->inventory, name)) sp_inventory_add_metadata(d->inventory, name, value); /* the root's wins */
    return true;
}

/* ---- what is not listed ---- */

static const struct {
    const char *one;  /* path, target */
    const char *many; /* for the rest: count */
} notes[SP_NOTE_COUNT] = {
    [SP_NOTE_SOFT_LINK] = {"'%s' is a soft link to '%s': not followed", "soft links"},
    [SP_NOTE_EXTERNAL_LINK] = {"'%s' is an external link to %s: not followed", "external links"},
    [SP_NOTE_USER_LINK] = {"'%s' is a user-defined link (%s): not followed", "user-defined links"},
    [SP_NOTE_GROUP_ALIAS] = {"'%s' is a hard link to a group that is listed under another name%s",
                             "hard links to groups"},
    [SP_NOTE_VIRTUAL] = {"'%s' is a virtual dataset: the files that hold its data are not opened%s",
                         "virtual datasets"},
    [SP_NOTE_EXTERNAL_DATA] = {"'%s' keeps its data in external files: they are not opened%s",
                               "datasets with external data"},
    [SP_NOTE_TOO_LONG] = {"group '/%s': the attribute %s is over the limit: not read", "attributes over the limit"},
    [SP_NOTE_NOT_TEXT] = {"group '/%s': the attribute '%s' is not text: not read", "attributes that are not text"},
    [SP_NOTE_NEWER] = {"'%s' is %s: only its shape and type are read", "datasets that are too new for libhdf5"},
    [SP_NOTE_BOTH_FORMS] = {"group '/%s' has the attribute '%s' whole and in parts: the parts are not read",
                            "attributes both whole and in parts"},
    [SP_NOTE_CUSTOM] = {"'%s' has the type %s, whose sign, exponent or mantissa are not those of a known dtype",
                        "datasets of custom floats"},
    [SP_NOTE_NOT_UTF8] = {"the name '%s' is not UTF-8%s", "names that are not UTF-8"},
    [SP_NOTE_REFUSED] = {"HDF5 2.0 refuses '/%s': %s", "objects that HDF5 2.0 refuses"},
    [SP_NOTE_ABSENT_CHUNKS] = {"'%s' is not complete: %s, were never written, and read as a fill value",
                               "datasets with chunks that were never written"},
};

static bool take_wire_note(struct decoder *d)
{
    struct sp_arena *arena = &d->inventory->arena;
    const uint64_t note = sp_cursor_le(&d->in, 1);
    const char *path = sp_wire_get_string(&d->in, arena, SP_MAX_NAME);
    const char *target = sp_wire_get_string(&d->in, arena, SP_MAX_NAME);
    if (!d->in.ok || note >= SP_NOTE_COUNT) return false;
    if (d->notes[note]++ < MAX_WARNINGS) sp_inventory_warn(d->inventory, notes[note].one, path, target);
    return true;
}

static void warn_of_unlisted(struct decoder *d)
{
    for (size_t i = 0; i < SP_NOTE_COUNT; i++)
        if (d->notes[i] > MAX_WARNINGS)
            sp_inventory_warn(d->inventory, "and %zu more %s", d->notes[i] - MAX_WARNINGS, notes[i].many);
    if (d->big_endian)
        sp_inventory_warn(d->inventory, "big-endian datasets: %zu, the first '%s'", d->big_endian, d->first_big_endian);
}

static bool take_failure(struct decoder *d)
{
    const uint64_t kind = sp_cursor_le(&d->in, 1);
    const char *message = sp_wire_get_string(&d->in, &d->inventory->arena, 4096);
    if (!d->in.ok || !*message) return false;
    if (kind == SHAPEPROOF_KIND_IO) {
        sp_fault_note_reason("read", d->inventory->path, message);
        return sp_fail(d->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "read: %s", message);
    }
    if (kind != SHAPEPROOF_KIND_MALFORMED && kind != SHAPEPROOF_KIND_LIMIT) return false;
    return sp_fail(d->error, SHAPEPROOF_ERR_FILE, (enum shapeproof_kind)kind, "%s", message);
}

/* ---- the stream ---- */

/* Reads one record of the child's answer by its kind. False when it cannot be read, or is a failure, or when something
 * follows the end. */
static bool take_record(struct decoder *d)
{
    switch (sp_cursor_le(&d->in, 1)) {
    case SP_WIRE_TENSOR:
        return take_tensor(d);
    case SP_WIRE_ALIAS:
        return take_alias(d);
    case SP_WIRE_NOTE:
        return take_wire_note(d);
    case SP_WIRE_NAMES:
        return take_names(d);
    case SP_WIRE_ATTRIBUTE:
        return take_attribute(d);
    case SP_WIRE_UNREAD:
        return take_unread(d);
    case SP_WIRE_FAILURE:
        return take_failure(d);
    case SP_WIRE_STRUCTURE:
        sp_inventory_claim_scattered(d->inventory, sp_cursor_le(&d->in, 8), SP_USE_STRUCTURE);
        return d->in.ok;
    case SP_WIRE_END:
        d->complete = true;
        return sp_cursor_left(&d->in) == 0;
    default:
        return false;
    }
}

static bool decode_wire(struct decoder *d)
{
    while (!d->complete && sp_cursor_left(&d->in))
        if (!take_record(d))
            return sp_fail(d->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                           "the HDF5 library failed on this file: it is corrupt or malicious");
    if (!d->complete)
        return sp_fail(d->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                       "the HDF5 library ended early on this file");
    warn_of_unlisted(d);
    sp_h5_understand(&d->contents);
    return true;
}

static void decoder_free(struct decoder *d)
{
    for (size_t i = 0; i < d->contents.list_count; i++) sp_free(d->contents.lists[i].names);
    sp_free(d->contents.lists);
    sp_map_free(&d->storages);
}

bool sp_h5_index(struct sp_h5_source *source, uint32_t file_index, struct shapeproof_inventory *inventory,
                 struct shapeproof_error *error)
{
    const struct sp_sandbox_job job = {"the HDF5 library", source->fd, source, sp_h5_prepare, sp_h5_walk};
    char *bytes;
    size_t length;
    source->names_left = sp_inventory_names_left(inventory);
    if (!sp_sandbox_run(&job, &bytes, &length, error)) return false;
    if (!sp_system_confines)
        sp_inventory_warn(inventory, "the HDF5 library read it without a sandbox: a portable build has only limits of "
                                     "memory, time and open files");
    struct decoder d = {.in = sp_cursor_of(bytes, length),
                        .source = source,
                        .contents = {.inventory = inventory, .first = inventory->count},
                        .inventory = inventory,
                        .error = error,
                        .file = file_index};
    const bool ok = decode_wire(&d);
    decoder_free(&d);
    sp_free(bytes);
    return ok;
}
