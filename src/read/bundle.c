/* SPDX-License-Identifier: MIT
 * Archives with checkpoints among their members: what stable-baselines3 writes (policy.pth, policy.optimizer.pth), the
 * .nemo files of NeMo (a tar archive with model_weights.ckpt), or what somebody packed. A member that is stored is read
 * where it lies; a deflated one is inflated into memory. */
#include "read/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/names.h"
#include "base/system/system.h"
#include "read/agent.h"
#include "read/nemo.h"
#include "read/nested.h"
#include "read/reader.h"
#include "read/tar/archive.h"
#include "read/unlisted.h"

static const struct sp_format tar_bundle_format = {"tar", 0};
static const struct sp_format zip_bundle_format = {"zip-bundle", 0};

enum {
    MAX_MEMBER = 512 << 20,
    MAX_MEMBERS_MIB = 2048 /* inflated, of all */,
    TAR_BITS = 72 /* its magic and its sum */
};

/* An archive of either kind. */
struct bundle {
    const struct sp_file *file;
    uint32_t file_index;
    struct shapeproof_inventory *inventory;
    struct sp_zip *zip; /* NULL: a tar archive */
    const struct sp_tar *tar;
    bool several;                  /* more than one member has the name of a checkpoint */
    size_t read;                   /* members that were read as checkpoints */
    uint64_t inflated;             /* bytes so far */
    struct shapeproof_error first; /* why the first that cannot be read cannot */
};

/* Whether a member may be a checkpoint. "data", "*.yaml", tokenizers and the like are none. */
static bool is_checkpoint_name(const char *name) { return sp_file_ending_says(name) & SP_IN_ARCHIVES; }

/* "policy.optimizer.pth", "optimizer.bin": state of a trainer, no part of the model. */
static bool is_trainer_member(const char *name)
{
    const char *word = strstr(sp_base_name(name), "optimizer");
    return word && (word == sp_base_name(name) || word[-1] == '.' || word[-1] == '_');
}

static size_t count_members(const struct bundle *b) { return b->zip ? sp_zip_count(b->zip) : b->tar->members.count; }

static const char *name_of_member(const struct bundle *b, size_t index)
{
    return b->zip ? sp_zip_entry(b->zip, index)->name : b->tar->members.items[index].name;
}

/* Whether the member is compressed or encrypted, so that it cannot be read where it lies. */
static bool is_inflated(const struct bundle *b, size_t index)
{
    const struct sp_zip_entry *entry = b->zip ? sp_zip_entry(b->zip, index) : NULL;
    return entry && (entry->method || sp_zip_is_encrypted(entry));
}

/* What is beside the checkpoints. */
static void claim_other_member(const struct bundle *b, size_t index)
{
    if (b->zip) {
        sp_zip_claim_member(b->zip, index, b->inventory, b->file_index, SP_USE_STRUCTURE);
    } else {
        const struct sp_tar_member *member = &b->tar->members.items[index];
        sp_inventory_claim(b->inventory, b->file_index, member->begin, member->begin + member->size, SP_USE_STRUCTURE);
    }
}

/* The bytes of a deflated member as a file. Members may share what is deflated: that of all is limited as well. */
static bool inflate_into_memory(struct bundle *b, size_t index, struct sp_file *inner, struct shapeproof_error *error)
{
    const uint64_t size = sp_zip_entry(b->zip, index)->size;
    size_t length;
    if (b->inflated >> 20 >= MAX_MEMBERS_MIB)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "the members before it inflate to %d MiB and more", MAX_MEMBERS_MIB);
    b->inflated += size < MAX_MEMBER ? size : MAX_MEMBER;
    char *bytes = sp_zip_read(b->zip, index, MAX_MEMBER, &length, error);
    if (!bytes) return false;
    inner->fd = sp_hold_fd(sp_system_unnamed_file("member"));
    inner->size = length;
    inner->in_memory = sp_zeroed(1);
    sp_count_as(inner->in_memory, length);
    const bool ok = inner->fd >= 0 && sp_write_all(inner->fd, bytes, length);
    const int why = errno;
    sp_free(bytes);
    if (ok) return true;
    const char *call = inner->fd < 0 ? "memfd_create" : "write";
    sp_fault_note(call, b->file->path, why);
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "no room for what is inflated: %s: %s", call,
                   strerror(why));
}

/* The member as a file: a range of the archive, or in memory of its own, to be closed. */
static bool open_bundled(struct bundle *b, size_t index, struct sp_file *inner, struct shapeproof_error *error)
{
    *inner = (struct sp_file){.fd = b->file->fd, .path = name_of_member(b, index), .source = b->file->source};
    uint64_t begin = 0;
    if (!b->zip) {
        begin = b->tar->members.items[index].begin;
        inner->size = b->tar->members.items[index].size;
    } else {
        const struct sp_zip_entry *entry = sp_zip_entry(b->zip, index);
        if (is_inflated(b, index)) {
            *inner = (struct sp_file){.fd = -1, .path = inner->path};
            return inflate_into_memory(b, index, inner, error);
        }
        if (!sp_zip_data_offset(b->zip, index, &begin, error)) return false;
        inner->size = entry->compressed_size;
    }
    inner->base = b->file->base + begin;
    return true;
}

/* Reads one member as a checkpoint; its tensors get its name as a prefix where there are several. */
static bool index_bundled(struct bundle *b, size_t index, struct shapeproof_error *error)
{
    const char *name = name_of_member(b, index);
    const char *prefix = b->several ? sp_arena_printf(&b->inventory->arena, "%s:", name) : "";
    const size_t first = b->inventory->count;
    struct sp_file inner;
    bool ok = open_bundled(b, index, &inner, error);
    ok = ok && sp_nested_index(b->file, &inner, prefix, b->file_index, b->inventory, error);
    if (inner.fd != b->file->fd) sp_file_close(&inner);
    for (size_t i = first; ok && i < b->inventory->count && is_trainer_member(name); i++)
        b->inventory->tensors[i].flags |= SHAPEPROOF_TENSOR_STATE;
    return ok;
}

/* The same, but a member that cannot be read is a warning, and the first reason is kept. */
static void try_bundled(struct bundle *b, size_t index)
{
    const char *name = name_of_member(b, index);
    const size_t before = b->inventory->count;
    struct shapeproof_error why = {0};
    if (index_bundled(b, index, &why)) {
        b->read++;
        if (is_inflated(b, index)) sp_zip_claim_member(b->zip, index, b->inventory, b->file_index, SP_USE_TENSOR);
        sp_inventory_add_metadata(b->inventory, sp_arena_printf(&b->inventory->arena, "format of %s", name),
                                  b->inventory->format->name);
        return;
    }
    b->inventory->count = before;
    sp_inventory_warn(b->inventory, "member %s is not read: %s", sp_quote(name).text, why.message);
    if (b->first.status) return;
    b->first = why;
    sp_error_prefix(&b->first, sp_quote(name).text);
}

/* Judges the configuration of a model of NeMo. */
static void judge_settings(struct bundle *b, size_t index)
{
    struct sp_file inner = {.fd = -1};
    struct shapeproof_error why = {0};
    const char *what = sp_arena_string(&b->inventory->arena, sp_quote(name_of_member(b, index)).text);
    if (open_bundled(b, index, &inner, &why)) sp_nemo_judge(&inner, what, b->inventory);
    else sp_inventory_warn(b->inventory, "member %s is not read: %s", what, why.message);
    if (inner.fd != b->file->fd) sp_file_close(&inner);
}

/* The first bytes of a member, at most `most`; returns how many, or 0 if they cannot be read. */
static size_t read_member_head(const struct bundle *b, size_t index, char *head, size_t most)
{
    struct shapeproof_error ignored = {0};
    const uint64_t size = b->zip ? sp_zip_entry(b->zip, index)->size : b->tar->members.items[index].size;
    const size_t length = size < most ? (size_t)size : most;
    const bool ok = b->zip ? sp_zip_read_head(b->zip, index, head, length, &ignored)
                           : sp_file_read(b->file, b->tar->members.items[index].begin, head, length, &ignored);
    return ok ? length : 0;
}

/* Whether a program that loads the member would unpickle it, or something in it, by its first bytes. */
static bool may_member_run(const struct bundle *b, size_t index)
{
    char *head = sp_realloc(NULL, SP_UNLISTED_HEAD, 1);
    const bool may = sp_unlisted_may_run(head, read_member_head(b, index, head, SP_UNLISTED_HEAD));
    sp_free(head);
    return may;
}

/* Judges a member that is no checkpoint: the settings of an agent, or what its first bytes say. */
static void judge_other_member(struct bundle *b, size_t index)
{
    const char *name = name_of_member(b, index);
    struct sp_file inner = {.fd = -1, .path = name};
    struct shapeproof_error why = {0};
    if (strcmp(sp_base_name(name), "model_config.yaml") == 0) {
        judge_settings(b, index);
        return;
    }
    if (b->zip && strcmp(name, "data") == 0) {
        sp_agent_judge(b->zip, index, b->inventory);
        return;
    }
    if (!may_member_run(b, index)) return;
    const char *what = sp_arena_string(&b->inventory->arena, sp_quote(name).text);
    if (open_bundled(b, index, &inner, &why)) {
        inner.nesting = b->file->nesting;
        if (!inner.inflated_from) inner.inflated_from = b->file->inflated_from;
        sp_unlisted_judge(&inner, what, b->inventory);
    } else sp_inventory_warn(b->inventory, "member %s is not read: %s", what, why.message);
    if (inner.fd != b->file->fd) sp_file_close(&inner);
}

static bool index_bundle(struct bundle *b, const struct sp_format *format, struct shapeproof_error *error)
{
    size_t candidates = 0;
    for (size_t i = 0; i < count_members(b); i++) candidates += is_checkpoint_name(name_of_member(b, i));
    b->several = candidates > 1;
    if (b->zip) sp_zip_claim(b->zip, b->inventory, b->file_index);
    else sp_tar_claim(b->tar, b->inventory, b->file_index);
    for (size_t i = 0; !b->zip && i < count_members(b); i++)
        if (!strcmp(name_of_member(b, i), "storages"))
            sp_inventory_warn(b->inventory, "torch.load reads this tar archive in another way: it would unpickle the "
                                            "member 'storages', which is not read");
    for (size_t i = 0; i < count_members(b); i++)
        if (is_checkpoint_name(name_of_member(b, i))) try_bundled(b, i);
        else {
            claim_other_member(b, i);
            judge_other_member(b, i);
        }
    b->inventory->format = format;
    if (b->read) return true;
    if (b->first.status) *error = b->first;
    else
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                "this is a tar archive without a checkpoint in it");
    return false;
}

/* ---- zip ---- */

bool sp_bundle_is(const struct sp_zip *zip)
{
    for (size_t i = 0; i < sp_zip_count(zip); i++)
        if (is_checkpoint_name(sp_zip_entry(zip, i)->name)) return true;
    return false;
}

bool sp_bundle_index(struct sp_zip *zip, const struct sp_file *file, uint32_t file_index,
                     struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct bundle bundle = {.file = file, .file_index = file_index, .inventory = inventory, .zip = zip};
    return index_bundle(&bundle, &zip_bundle_format, error);
}

void sp_bundle_judge(struct sp_zip *zip, const struct sp_file *file, struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < sp_zip_count(zip); i++) sp_bundle_judge_member(zip, i, file, inventory);
}

void sp_bundle_judge_member(struct sp_zip *zip, size_t index, const struct sp_file *file,
                            struct shapeproof_inventory *inventory)
{
    struct bundle bundle = {.file = file, .inventory = inventory, .zip = zip};
    judge_other_member(&bundle, index);
}

bool sp_bundle_index_member(struct sp_zip *zip, size_t index, const struct sp_file *file, uint32_t file_index,
                            struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct bundle bundle = {.file = file, .file_index = file_index, .inventory = inventory, .zip = zip};
    if (!index_bundled(&bundle, index, error)) {
        sp_error_prefix(error, sp_quote(name_of_member(&bundle, index)).text);
        return false;
    }
    if (is_inflated(&bundle, index)) sp_zip_claim_member(zip, index, inventory, file_index, SP_USE_TENSOR);
    return true;
}

/* ---- tar ---- */

static unsigned probe_bundle(const struct sp_probe *probe)
{
    return probe->head_length >= SP_TAR_BLOCK && sp_tar_is_header(probe->head) ? TAR_BITS : 0;
}

static bool index_tar_bundle(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                             struct shapeproof_error *error)
{
    struct sp_tar tar;
    struct bundle bundle = {.file = file, .file_index = file_index, .inventory = inventory, .tar = &tar};
    const bool ok = sp_tar_read(&tar, file, error) && index_bundle(&bundle, &tar_bundle_format, error);
    sp_tar_free(&tar);
    return ok;
}

const struct sp_reader sp_reader_tar = {.name = "tar", .probe = probe_bundle, .index = index_tar_bundle};
