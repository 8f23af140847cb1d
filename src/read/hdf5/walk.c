/* SPDX-License-Identifier: MIT
 * Every object once, by its address and never by a path, so that no soft link is ever resolved; over an explicit stack,
 * so that neither deep nesting nor a cycle of hard links matters. H5Ovisit would resolve every path from the root
 * again, which takes minutes for a few thousand nested groups. No dataset is read.
 *
 * A second way to a dataset is a hard link: the same weights under another name. A second way to a group is noted
 * and not descended into: forty groups that each link the next twice have 2^40 paths. */
#define _GNU_SOURCE
#include "read/hdf5/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/map.h"
#include "base/process/child.h"
#include "base/utf8.h"
#include "model/inventory.h"
#include "read/hdf5/attributes.h"
#include "read/hdf5/header.h"
#include "read/hdf5/newer.h"
#include "read/hdf5/source.h"
#include "read/hdf5/types.h"

struct place {
    const char *path; /* "" for the root */
    const char *name; /* its last part */
    uint64_t address;
    unsigned depth;
};

/* What an object was when it was visited first. */
enum seen_as {
    SEEN_GROUP,
    SEEN_DATASET, /* the parent was told of it: further names of it are aliases */
    SEEN_TYPE,    /* a committed datatype, which is no tensor */
    SEEN_UNREAD   /* it could not be read; that was told */
};

struct walk {
    struct sp_wire wire;
    struct sp_h5_source *source;
    hid_t file;
    bool has_base; /* of addresses: then object headers can be read without the library */
    uint64_t base;
    struct sp_arena arena;
    struct sp_map seen; /* address, as text -> enum seen_as */
    struct place *stack;
    size_t count, capacity;
    size_t links;
    struct place here; /* the group whose links are being listed */
    bool has_tree;     /* by which libhdf5 finds a name in that group; otherwise it reads the list */
    bool failed;
    uint64_t structure; /* bytes that hold no data */
};

/* ---- failures ---- */

static bool fail_walk(struct walk *walk, enum shapeproof_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail_walk(struct walk *walk, enum shapeproof_kind kind, const char *format, ...)
{
    char message[768];
    va_list args;
    if (walk->failed) return false;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    walk->failed = true;
    sp_wire_put_failure(&walk->wire, kind, message);
    return false;
}

struct reason {
    char text[512];
    bool no_memory;
};

/* The innermost record of HDF5's error stack says what was found; the outer ones say who called. */
static herr_t innermost(unsigned n, const H5E_error2_t *record, void *into)
{
    struct reason *reason = into;
    if (n == 0) snprintf(reason->text, sizeof reason->text, "%s", record->desc ? record->desc : "");
    if (record->min_num == H5E_NOSPACE || record->min_num == H5E_CANTALLOC) reason->no_memory = true;
    return 0;
}

/* Why HDF5 could not do the last thing that was asked of it; false when that is about more than one object. Without
 * memory the process ends. */
static bool find_reason(struct walk *walk, struct reason *reason)
{
    *reason = (struct reason){.text = ""};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, reason);
    if (!reason->text[0]) snprintf(reason->text, sizeof reason->text, "no reason given");
    if (walk->source->exhausted)
        return fail_walk(walk, SHAPEPROOF_KIND_LIMIT,
                         "HDF5 read more than 8 times the size of the file: its structures contain cycles");
    if (walk->source->why) return fail_walk(walk, SHAPEPROOF_KIND_IO, "%s", strerror(walk->source->why));
    if (reason->no_memory || errno == ENOMEM) _exit(SP_CHILD_NO_MEMORY);
    return true;
}

/* The file itself is of no use. */
static void fail_file(struct walk *walk)
{
    struct reason reason;
    if (find_reason(walk, &reason)) fail_walk(walk, SHAPEPROOF_KIND_MALFORMED, "HDF5: %s", reason.text);
}

/* HDF5 says so of what is newer than itself. */
static bool is_about_version(const struct reason *reason) { return strstr(reason->text, "version") != NULL; }

static void say_too_new(char *text, size_t size, const struct reason *reason)
{
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    snprintf(text, size, "too new for libhdf5 %u.%u.%u (%.300s)", major, minor, release, reason->text);
}

/* After the library could not read an object. A dataset that is too new for the library is read without it: then the
 * parent is told of it, and the result is true. Otherwise the parent is told that it is unread. */
static bool hdf5_failed(struct walk *walk, const struct place *place)
{
    struct sp_wire_tensor tensor = {.path = place->path, .dtype_name = "", .address = place->address};
    struct sp_h5_type type = {.dtype = SHAPEPROOF_DTYPE_UNKNOWN};
    struct reason reason;
    char text[512];
    if (walk->failed || !find_reason(walk, &reason)) return false;
    const bool newer = is_about_version(&reason);
    if (newer) say_too_new(text, sizeof text, &reason);
    else snprintf(text, sizeof text, "HDF5: %.400s", reason.text);
    if (newer && sp_h5_read_newer(walk->source, walk->file, place->address, &tensor, &type)) {
        sp_wire_put_tensor(&walk->wire, &tensor);
        sp_wire_put_note(&walk->wire, SP_NOTE_NEWER, place->path, text);
        if (type.custom) sp_wire_put_note(&walk->wire, SP_NOTE_CUSTOM, place->path, type.name);
        return true;
    }
    if (*place->path) sp_wire_put_unread(&walk->wire, SHAPEPROOF_KIND_MALFORMED, place->path, text);
    else fail_walk(walk, SHAPEPROOF_KIND_MALFORMED, "'/': HDF5: %s", reason.text);
    return false;
}

/* ---- links ---- */

/* The path of a link of the group. NULL, and the walk has failed, when there are too many bytes of paths. */
static char *path_of_link(struct walk *walk, const char *name)
{
    const char *parent = walk->here.path;
    const size_t above = strlen(parent), length = strlen(name);
    if (above + length + 1 > SP_MAX_NAME) {
        fail_walk(walk, SHAPEPROOF_KIND_LIMIT, "a path of more than %d bytes in '%.200s'", SP_MAX_NAME, parent);
        return NULL;
    }
    if (above + length + 1 > walk->source->names_left) {
        fail_walk(walk, SHAPEPROOF_KIND_LIMIT,
                  "paths of more than %d bytes for each byte of the file, and %d MiB besides, in all",
                  SP_NAMES_BUDGET_FACTOR, SP_NAMES_BUDGET_BASE >> 20);
        return NULL;
    }
    walk->source->names_left -= above + length + 1;
    char *path = sp_arena_alloc(&walk->arena, above + length + 2);
    snprintf(path, above + length + 2, "%s%s%s", parent, above ? "/" : "", name);
    return path;
}

/* Puts the object that a hard link leads to on the stack, with its path. False when the walk has failed. */
static bool push_object(struct walk *walk, const char *name, uint64_t address)
{
    const char *path = path_of_link(walk, name);
    if (!path) return false;
    if (sp_utf8_check(name, strlen(name)) != strlen(name)) sp_wire_put_note(&walk->wire, SP_NOTE_NOT_UTF8, path, "");
    SP_GROW(walk->stack, walk->count, walk->capacity);
    walk->stack[walk->count++] =
        (struct place){path, path + strlen(path) - strlen(name), address, walk->here.depth + 1};
    return true;
}

/* Tells the parent of a link that is not followed because of an error. False when the walk has failed. */
static bool put_unread_link(struct walk *walk, const char *name, const char *why)
{
    const char *path = path_of_link(walk, name);
    if (!path) return false;
    sp_wire_put_unread(&walk->wire, SHAPEPROOF_KIND_MALFORMED, path, why);
    return true;
}

static void note_link(struct walk *walk, hid_t group, const char *name, const H5L_info_t *info)
{
    char value[1024] = "", target[1100] = "", path[1024];
    const char *file = "", *object = "";
    unsigned flags;
    snprintf(path, sizeof path, "%s%s%s", walk->here.path, *walk->here.path ? "/" : "", name);
    const bool have =
        info->u.val_size < sizeof value && H5Lget_val(group, name, value, sizeof value - 1, H5P_DEFAULT) >= 0;
    if (info->type == H5L_TYPE_SOFT) {
        sp_wire_put_note(&walk->wire, SP_NOTE_SOFT_LINK, path, have ? value : "");
    } else if (info->type == H5L_TYPE_EXTERNAL) {
        if (have && H5Lunpack_elink_val(value, info->u.val_size, &flags, &file, &object) >= 0)
            snprintf(target, sizeof target, "%s in file '%s'", object, file);
        sp_wire_put_note(&walk->wire, SP_NOTE_EXTERNAL_LINK, path, target);
    } else {
        snprintf(target, sizeof target, "class %d", (int)info->type);
        sp_wire_put_note(&walk->wire, SP_NOTE_USER_LINK, path, target);
    }
}

/* Takes a hard link. Programs look its name up in the tree of the group. Where the keys of the tree are wrong, a list
 * of all names finds others. */
static bool take_hard_link(struct walk *walk, hid_t group, const char *name, uint64_t address)
{
    const htri_t found = walk->has_tree ? H5Lexists(group, name, H5P_DEFAULT) : 1;
    struct reason reason;
    char text[512];
    if (found > 0) return push_object(walk, name, address);
    if (found == 0) return put_unread_link(walk, name, "the list of its group has its name, and a search for it fails");
    if (!find_reason(walk, &reason)) return false;
    snprintf(text, sizeof text, "HDF5: %.400s", reason.text);
    return put_unread_link(walk, name, text);
}

static bool accept_link(struct walk *walk, hid_t group, const char *name, const H5L_info_t *info)
{
    if (++walk->links > SP_H5_MAX_OBJECTS)
        return fail_walk(walk, SHAPEPROOF_KIND_LIMIT, "more than %d links", SP_H5_MAX_OBJECTS);
    if (!*name || strchr(name, '/') || !strcmp(name, "."))
        return fail_walk(walk, SHAPEPROOF_KIND_MALFORMED, "group '/%.200s' has a link of the impossible name '%.200s'",
                         walk->here.path, name);
    if (info->type == H5L_TYPE_HARD) return take_hard_link(walk, group, name, info->u.address);
    note_link(walk, group, name, info);
    return true;
}

/* H5Literate's callback. */
static herr_t on_link(hid_t group, const char *name, const H5L_info_t *info, void *walk)
{
    return accept_link(walk, group, name, info) ? 0 : -1;
}

static bool is_keras_number(const char *name)
{
    return *name && strlen(name) < 18 && !name[strspn(name, "0123456789")];
}

/* Backwards, since the last one is popped first; numbers by value: Keras 3 calls its variables 0, 1, ..., 10. */
static int compare_link_names(const void *left, const void *right)
{
    const char *a = ((const struct place *)left)->name, *b = ((const struct place *)right)->name;
    if (is_keras_number(a) && is_keras_number(b)) {
        const long long x = atoll(a), y = atoll(b);
        if (x != y) return x < y ? 1 : -1;
    }
    return strcmp(b, a);
}

/* ---- objects ---- */

/* "vars", of a layer in the weights of Keras 3, or of the model itself. */
static bool is_group_of_variables(const char *path)
{
    const size_t length = strlen(path);
    return length >= 4 && !strcmp(path + length - 4, "vars") && (length == 4 || path[length - 5] == '/');
}

static bool send_attributes(struct walk *walk, hid_t group)
{
    const char *path = walk->here.path;
    struct sp_wire *wire = &walk->wire;
    H5O_info_t info;
    if (H5Oget_info2(group, &info, H5O_INFO_NUM_ATTRS) < 0) return false;
    if (!info.num_attrs) return true;
    if (!*path || !strcmp(path, "model_weights"))
        if (!sp_h5_send_text(wire, group, path, "keras_version") || !sp_h5_send_text(wire, group, path, "backend") ||
            !sp_h5_send_text(wire, group, path, "model_config") ||
            !sp_h5_send_text(wire, group, path, "training_config") ||
            !sp_h5_send_integer(wire, group, path, "nb_layers"))
            return false;
    if (is_group_of_variables(path) && !sp_h5_send_text(wire, group, path, "name")) return false;
    return sp_h5_send_names(wire, group, path, "layer_names") && sp_h5_send_names(wire, group, path, "weight_names");
}

/* Puts the members of a group on the stack (on_link). False when HDF5 fails. */
static bool read_links(struct walk *walk, hid_t group)
{
    enum { LARGE_GROUP = 1000 };
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0) return false;
    const bool large = info.nlinks > LARGE_GROUP;
    walk->has_tree = info.storage_type != H5G_STORAGE_TYPE_COMPACT;
    if (large && !sp_h5_source_cache(walk->file, SP_H5_LARGE_CACHE)) return false;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, on_link, walk) < 0) return false;
    return !large || sp_h5_source_cache(walk->file, SP_H5_SMALL_CACHE);
}

static bool visit_group(struct walk *walk, hid_t group, const struct place *place)
{
    const size_t bottom = walk->count;
    walk->here = *place;
    if (place->depth > SP_H5_MAX_DEPTH)
        return fail_walk(walk, SHAPEPROOF_KIND_LIMIT, "groups nested more than %d deep", SP_H5_MAX_DEPTH);
    if (!send_attributes(walk, group) || !read_links(walk, group)) return hdf5_failed(walk, place);
    if (walk->count > bottom)
        qsort(walk->stack + bottom, walk->count - bottom, sizeof *walk->stack, compare_link_names);
    return true;
}

/* Sets *elsewhere to whether the data lies in other files: then even H5Dget_space may open them. `begin` is the address
 * of the data in this file; a dataset that has one lies here, and its properties, which cost time, are not asked for.
 * Sets the flag of a compact dataset. False when HDF5 fails. */
static bool read_layout(hid_t dataset, haddr_t begin, struct sp_wire_tensor *tensor, enum sp_wire_note *why,
                        bool *elsewhere)
{
    *elsewhere = false;
    if (begin != HADDR_UNDEF) return true;
    const hid_t properties = H5Dget_create_plist(dataset);
    if (properties < 0) return false;
    const H5D_layout_t layout = H5Pget_layout(properties);
    const int files = layout == H5D_CONTIGUOUS ? H5Pget_external_count(properties) : 0;
    if (layout < 0 || files < 0) return false; /* nothing is closed on failure: that would clear the reason */
    if (layout == H5D_COMPACT) tensor->flags |= SP_WIRE_COMPACT;
    *why = layout == H5D_VIRTUAL ? SP_NOTE_VIRTUAL : SP_NOTE_EXTERNAL_DATA;
    *elsewhere = layout == H5D_VIRTUAL || files > 0;
    return H5Pclose(properties) >= 0;
}

static bool read_type(hid_t dataset, struct sp_wire_tensor *tensor, struct sp_h5_type *type)
{
    char meaning[32] = "";
    const hid_t id = H5Dget_type(dataset);
    if (id < 0) return false;
    if (H5Tget_class(id) == H5T_OPAQUE && !sp_h5_short_text(dataset, "dtype", meaning, sizeof meaning)) return false;
    *type = sp_h5_type_of(id, meaning);
    tensor->dtype = type->dtype;
    tensor->dtype_name = type->name;
    if (type->big_endian) tensor->flags |= SP_WIRE_BIG_ENDIAN;
    return H5Tclose(id) >= 0;
}

/* Tells the parent that a dataset is unread because it is larger than its maximum: newer releases of HDF5 refuse it. */
static bool is_too_large(struct walk *walk, const char *path, const hsize_t *shape, const hsize_t *most, int rank)
{
    char text[128];
    for (int i = 0; i < rank; i++) {
        if (most[i] == H5S_UNLIMITED || shape[i] <= most[i]) continue;
        snprintf(text, sizeof text, "its dimension %d is %" PRIu64 ", and at most %" PRIu64 " by its own maximum", i,
                 (uint64_t)shape[i], (uint64_t)most[i]);
        sp_wire_put_unread(&walk->wire, SHAPEPROOF_KIND_MALFORMED, path, text);
        return true;
    }
    return false;
}

static bool read_space(struct walk *walk, hid_t dataset, haddr_t begin, struct sp_wire_tensor *tensor, bool *too_large)
{
    hsize_t shape[SP_WIRE_MAX_RANK], most[SP_WIRE_MAX_RANK];
    const hid_t space = H5Dget_space(dataset);
    if (space < 0) return false;
    const int rank = H5Sget_simple_extent_ndims(space);
    if (H5Sget_simple_extent_type(space) == H5S_NULL) tensor->flags |= SP_WIRE_NULL_SPACE;
    if (rank < 0 || rank > SP_WIRE_MAX_RANK || H5Sget_simple_extent_dims(space, shape, most) != rank) return false;
    *too_large = is_too_large(walk, tensor->path, shape, most, rank);
    for (int i = 0; i < rank; i++) tensor->shape[i] = shape[i];
    tensor->rank = (uint32_t)rank;
    tensor->begin = begin == HADDR_UNDEF ? 0 : begin;
    tensor->stored = H5Dget_storage_size(dataset);
    return H5Sclose(space) >= 0;
}

static bool is_empty(const struct sp_wire_tensor *tensor)
{
    bool empty = tensor->flags & SP_WIRE_NULL_SPACE;
    for (uint32_t i = 0; i < tensor->rank; i++) empty = empty || tensor->shape[i] == 0;
    return empty;
}

/* How many chunks of the dataset the file has; `compressed`: filters have changed their sizes. False when HDF5 fails,
 * or the library is too old to say. */
static bool count_stored_chunks(hid_t dataset, uint64_t stored, uint64_t chunk_bytes, bool compressed, uint64_t *count)
{
    if (!compressed) {
        *count = stored / chunk_bytes;
        return true;
    }
#if H5_VERSION_GE(1, 10, 5)
    const hid_t space = H5Dget_space(dataset);
    hsize_t chunks = 0;
    const bool ok = space >= 0 && H5Dget_num_chunks(dataset, space, &chunks) >= 0;
    *count = chunks;
    return space >= 0 && H5Sclose(space) >= 0 && ok;
#else
    return false;
#endif
}

/* Tells the parent of a dataset in chunks of which some, but not all, were never written: libhdf5 makes up their
 * elements. Says nothing if HDF5 fails. */
static void note_absent_chunks(struct walk *walk, hid_t dataset, struct sp_wire_tensor *tensor)
{
    hsize_t chunk[SP_WIRE_MAX_RANK];
    const int rank = (int)tensor->rank;
    uint64_t count = 1, bytes = 0, there = 0;
    char text[128];
    const hid_t properties = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    bool known = properties >= 0 && type >= 0 && H5Pget_layout(properties) == H5D_CHUNKED &&
                 H5Pget_chunk(properties, rank, chunk) == rank;
    if (known) bytes = H5Tget_size(type);
    for (int i = 0; i < rank && known; i++)
        known = chunk[i] && sp_mul_u64(count, (tensor->shape[i] + chunk[i] - 1) / chunk[i], &count) &&
                sp_mul_u64(bytes, chunk[i], &bytes);
    known =
        known && bytes && count_stored_chunks(dataset, tensor->stored, bytes, H5Pget_nfilters(properties) != 0, &there);
    if (properties >= 0) H5Pclose(properties);
    if (type >= 0) H5Tclose(type);
    if (!known || there >= count) return;
    tensor->flags |= SP_WIRE_ABSENT_CHUNKS;
    snprintf(text, sizeof text, "%" PRIu64 " of its %" PRIu64 " chunks, of %" PRIu64 " bytes each", count - there,
             count, bytes);
    sp_wire_put_note(&walk->wire, SP_NOTE_ABSENT_CHUNKS, tensor->path, text);
}

static bool visit_dataset(struct walk *walk, hid_t dataset, const struct place *place)
{
    struct sp_wire_tensor tensor = {.path = place->path, .dtype_name = "", .address = place->address};
    struct sp_h5_type type;
    enum sp_wire_note why;
    bool elsewhere, too_large = false;
    const haddr_t begin = H5Dget_offset(dataset);
    if (!read_layout(dataset, begin, &tensor, &why, &elsewhere) || !read_type(dataset, &tensor, &type))
        return hdf5_failed(walk, place);
    if (elsewhere) {
        tensor.flags |= SP_WIRE_UNREAD_SPACE;
        sp_wire_put_note(&walk->wire, why, place->path, "");
    } else if (!read_space(walk, dataset, begin, &tensor, &too_large)) {
        return hdf5_failed(walk, place);
    }
    if (too_large) return false;
    if (begin == HADDR_UNDEF && !elsewhere && tensor.stored && !is_empty(&tensor))
        note_absent_chunks(walk, dataset, &tensor);
    if (type.custom) sp_wire_put_note(&walk->wire, SP_NOTE_CUSTOM, place->path, type.name);
    if (type.beyond)
        sp_wire_put_note(&walk->wire, SP_NOTE_REFUSED, place->path, "its integers have bits outside of their bytes");
    if (begin != HADDR_UNDEF && !elsewhere && is_empty(&tensor))
        sp_wire_put_note(&walk->wire, SP_NOTE_REFUSED, place->path, "it has no elements, and a place for their data");
    sp_wire_put_tensor(&walk->wire, &tensor);
    return true;
}

static void visit_again(struct walk *walk, const struct place *place, size_t seen_as)
{
    if (seen_as == SEEN_DATASET) sp_wire_put_alias(&walk->wire, place->path, place->address);
    if (seen_as == SEEN_GROUP) sp_wire_put_note(&walk->wire, SP_NOTE_GROUP_ALIAS, place->path, "");
}

/* Its header, and of a group the trees and heaps that hold its links. Those of a dataset are many where it is in
 * chunks, and are not read. What a group says of itself is no reason to fail. */
static void add_structure(struct walk *walk, hid_t object, H5I_type_t type)
{
    H5O_info_t info;
    const unsigned fields = type == H5I_GROUP ? H5O_INFO_HDR | H5O_INFO_META_SIZE : H5O_INFO_HDR;
    if (H5Oget_info2(object, &info, fields) < 0) return;
    walk->structure += info.hdr.space.total;
    if (type == H5I_GROUP)
        walk->structure += info.meta_size.obj.index_size + info.meta_size.obj.heap_size +
                           info.meta_size.attr.index_size + info.meta_size.attr.heap_size;
}

static void add_superblock(struct walk *walk)
{
    H5F_info2_t info;
    if (H5Fget_info2(walk->file, &info) < 0) return;
    walk->structure += info.super.super_size + info.super.super_ext_size + info.sohm.hdr_size +
                       info.sohm.msgs_info.index_size + info.sohm.msgs_info.heap_size;
}

/* What libhdf5 1.10 reads and HDF5 2.0 refuses is listed, with a warning. */
static void note_refusal(struct walk *walk, const struct place *place)
{
    const char *why = walk->has_base ? sp_h5_header_refusal(walk->source, walk->base, place->address) : NULL;
    if (why) sp_wire_put_note(&walk->wire, SP_NOTE_REFUSED, place->path, why);
}

/* Visits an object of the file once; further paths to it (hard links) are noted as other names of the same. */
static bool visit_object(struct walk *walk, const struct place *place)
{
    char key[24];
    snprintf(key, sizeof key, "%" PRIx64, place->address);
    const size_t before = sp_map_get(&walk->seen, key);
    if (before != SIZE_MAX) {
        visit_again(walk, place, before);
        return true;
    }
    const hid_t object = H5Oopen_by_addr(walk->file, place->address);
    const H5I_type_t type = object < 0 ? H5I_BADID : H5Iget_type(object);
    const char *address = sp_arena_string(&walk->arena, key);
    enum seen_as seen = SEEN_TYPE;
    bool ok = true;
    if (type == H5I_GROUP) {
        seen = SEEN_GROUP;
        sp_map_add(&walk->seen, address, seen); /* before its members: it may be one of them */
        ok = visit_group(walk, object, place);
    } else if (type == H5I_DATASET) {
        seen = SEEN_DATASET;
        ok = visit_dataset(walk, object, place);
    } else if (object < 0) {
        seen = SEEN_DATASET; /* which is all that can be read without the library */
        ok = hdf5_failed(walk, place);
    }
    if (object >= 0 && ok) {
        add_structure(walk, object, type);
        note_refusal(walk, place);
    }
    if (type != H5I_GROUP) sp_map_add(&walk->seen, address, ok ? seen : SEEN_UNREAD);
    if (object >= 0) H5Oclose(object);
    return ok;
}

/* ---- the job ---- */

/* An external link leads nowhere, and its value can still be shown. */
static hid_t traverse_nowhere(const char *name, hid_t group, const void *value, size_t size, hid_t lapl, hid_t dxpl)
{
    (void)name, (void)group, (void)value, (void)size, (void)lapl, (void)dxpl;
    return -1;
}

static ssize_t show_value(const char *name, const void *value, size_t size, void *into, size_t room)
{
    (void)name;
    if (into && room) memcpy(into, value, size < room ? size : room);
    return (ssize_t)size;
}

bool sp_h5_prepare(void *source)
{
    static char no_plugins[] = "HDF5_PLUGIN_PRELOAD=::";
    extern char **environ;
    static char *environment[] = {no_plugins, NULL};
    static const H5L_class_t external = {.version = H5L_LINK_CLASS_T_VERS,
                                         .id = H5L_TYPE_EXTERNAL,
                                         .comment = "external, not followed",
                                         .trav_func = traverse_nowhere,
                                         .query_func = show_value};
    (void)source;
    environ = environment; /* libhdf5 takes plug-in paths, file prefixes and debug output from it */
    if (H5dont_atexit() >= 0 && H5open() >= 0 && H5PLset_loading_state(0) >= 0 &&
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0 && H5Lregister(&external) >= 0)
        return true;
    errno = ENOMEM; /* nothing of this touches a file: only memory can be missing, which libhdf5 does not always say */
    return false;
}

void sp_h5_walk(void *source, int out)
{
    struct walk walk = {.wire.fd = out, .source = source};
    H5O_info_t root;
    walk.file = sp_h5_source_open(source);
    if (walk.file < 0 || H5Oget_info2(walk.file, &root, H5O_INFO_BASIC) < 0) {
        fail_file(&walk);
        return;
    }
    walk.has_base = sp_h5_header_base(walk.file, &walk.base);
    SP_GROW(walk.stack, walk.count, walk.capacity);
    walk.stack[walk.count++] = (struct place){"", "", root.addr, 0};
    while (walk.count && !walk.failed) {
        const struct place next = walk.stack[--walk.count];
        visit_object(&walk, &next);
    }
    if (walk.source->why) fail_walk(&walk, SHAPEPROOF_KIND_IO, "%s", strerror(walk.source->why));
    if (walk.failed) return;
    add_superblock(&walk);
    sp_wire_put_structure(&walk.wire, walk.structure);
    sp_wire_put_end(&walk.wire);
}
