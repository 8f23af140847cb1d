/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "check/quantised.h"
#include "lang/syntax/ast.h"
#include "model/inventory.h"

enum { MAX_MEMBERS = 32 };

/* The names that only a quantised weight has, behind the module: "qweight", "scales". */
struct members {
    const char *name[MAX_MEMBERS];
    size_t count;
    bool stacked; /* "_blocks" follows the module without a dot */
};

static void collect_members(struct members *members, const struct sp_unit *part, unsigned depth)
{
    for (size_t s = 0; s < part->section_count; s++)
        for (size_t r = 0; r < part->sections[s].row_count; r++) {
            const struct sp_row *row = &part->sections[s].rows[r];
            const char *name = row->name.count == 1 ? row->name.pieces[0].text : NULL;
            if (row->kind == SP_ROW_USE && depth < 4) collect_members(members, row->unit, depth + 1);
            if (row->kind != SP_ROW_TENSOR || row->optional || !name || members->count == MAX_MEMBERS) continue;
            if (strcmp(name, "weight") == 0) continue;
            members->name[members->count++] = name;
            if (*name == '_') members->stacked = true;
        }
}

bool sp_part_shows(const struct sp_unit *part, const struct sp_map *tails)
{
    struct members members = {.count = 0};
    collect_members(&members, part, 0);
    for (size_t i = 0; i < members.count; i++) {
        const char *dot = strrchr(members.name[i], '.');
        if (members.stacked || sp_map_get(tails, dot ? dot + 1 : members.name[i]) != SIZE_MAX) return true;
    }
    return false;
}

/* One tensor of the file under one of the names that it may stand for. */
struct reading {
    struct sp_file_storage *storage;
    const struct members *members;
    const struct sp_tensor *tensor;
};

static bool strip_tail(struct sp_text *module, const char *name, const char *dot, const char *tail)
{
    const size_t length = strlen(name), end = strlen(dot) + strlen(tail);
    if (length <= end || strcmp(name + length - strlen(tail), tail) != 0) return false;
    if (*dot && name[length - end] != '.') return false;
    module->length = 0;
    sp_text_append(module, name, length - end);
    return true;
}

static void note_storage(struct sp_file_storage *storage, const struct sp_text *module, enum sp_stored stored)
{
    const size_t known = sp_map_get(&storage->modules, module->data);
    if (known == SP_STORED_PACKED || known == (size_t)stored) return;
    storage->packed += stored == SP_STORED_PACKED;
    sp_map_set(&storage->modules, sp_arena_copy(&storage->arena, module->data, module->length), stored);
}

static bool can_pack(enum sp_dtype dtype)
{
    if (dtype == SP_DTYPE_UNKNOWN || dtype == SP_DTYPE_I64 || dtype == SP_DTYPE_BOOL)
        return false; /* positions, masks */
    return !sp_dtype_is_float(dtype) || sp_dtype_bits(dtype) <= 8;
}

bool sp_looks_packed(const struct sp_tensor *tensor) { return tensor->rank && can_pack(tensor->dtype); }

bool sp_any_looks_packed(const struct sp_inventory *inventory)
{
    bool can = false;
    for (int dtype = 0; dtype < SP_DTYPE_COUNT; dtype++)
        can = can || (inventory->dtypes >> dtype & 1 && can_pack((enum sp_dtype)dtype));
    for (size_t i = 0; can && i < sp_inventory_count(inventory); i++)
        if (sp_looks_packed(sp_inventory_tensor(inventory, i))) return true;
    return false;
}

static void note_text(struct sp_file_storage *storage, const struct sp_tensor *tensor, const char *name)
{
    const char *place = strstr(name, ".weight.quant_state.");
    if (!place) return;
    sp_map_set(&storage->text_bytes, sp_arena_copy(&storage->arena, name, (size_t)(place - name)),
               (size_t)tensor->parameters);
}

static size_t read_name(const void *context, const char *name)
{
    const struct reading *reading = context;
    const struct members *members = reading->members;
    struct sp_text module = {0};
    bool member = false;
    for (size_t i = 0; i < members->count && !member; i++) {
        member = strip_tail(&module, name, members->stacked ? "" : ".", members->name[i]);
        if (member) note_storage(reading->storage, &module, SP_STORED_PACKED);
    }
    if (!member && members->stacked) {
        sp_text_puts(&module, name);
        note_storage(reading->storage, &module, SP_STORED_PLAIN);
    } else if (!member && strip_tail(&module, name, ".", "weight")) {
        note_storage(reading->storage, &module, sp_looks_packed(reading->tensor) ? SP_STORED_PACKED : SP_STORED_PLAIN);
    }
    note_text(reading->storage, reading->tensor, name);
    sp_text_free(&module);
    return SP_NONE;
}

static enum sp_stored ask_storage(const struct sp_storage *storage, const char *module)
{
    const size_t known = sp_map_get(&((const struct sp_file_storage *)storage)->modules, module);
    return known == SIZE_MAX ? SP_STORED_NOWHERE : (enum sp_stored)known;
}

static uint64_t text_bytes(const struct sp_storage *storage, const char *module)
{
    const size_t known = sp_map_get(&((const struct sp_file_storage *)storage)->text_bytes, module);
    return known == SIZE_MAX ? 0 : known;
}

void sp_file_storage_read(struct sp_file_storage *storage, const struct sp_unit *part,
                          const struct sp_inventory *inventory, const struct sp_naming *naming)
{
    struct members members = {.count = 0};
    *storage = (struct sp_file_storage){.storage = {ask_storage, text_bytes}};
    collect_members(&members, part, 0);
    struct reading reading = {storage, &members, NULL};
    struct sp_finder finder = {.naming = naming, .find = read_name, .context = &reading};
    for (size_t i = 0; i < sp_inventory_count(inventory); i++) {
        unsigned renaming;
        reading.tensor = sp_inventory_tensor(inventory, i);
        if (!(reading.tensor->flags & SP_TENSOR_STATE)) sp_finder_find(&finder, reading.tensor->name, &renaming);
    }
    sp_finder_free(&finder);
}

void sp_file_storage_free(struct sp_file_storage *storage)
{
    sp_map_free(&storage->modules);
    sp_map_free(&storage->text_bytes);
    sp_arena_free(&storage->arena);
}
