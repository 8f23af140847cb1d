/* SPDX-License-Identifier: MIT */
#include "stored/suffixes.h"

#include <string.h>

#include "base/chars.h"
#include "config/quantised.h"
#include "lang/syntax/ast.h"
#include "names/components.h"

static void collect_members(struct sp_part_suffixes *members, const struct sp_unit *part, unsigned depth)
{
    for (size_t s = 0; s < part->section_count; s++)
        for (size_t r = 0; r < part->sections[s].row_count; r++) {
            const struct sp_row *row = &part->sections[s].rows[r];
            const char *name = row->name.count == 1 ? row->name.pieces[0].text : NULL;
            if (row->kind == SP_ROW_USE && depth < 4) collect_members(members, row->unit, depth + 1);
            if (row->kind != SP_ROW_TENSOR || row->optional || !name || members->count == SP_MAX_PART_MEMBERS) continue;
            if (strcmp(name, "weight") == 0 || !*name) continue;
            members->name[members->count++] = name;
        }
}

void sp_part_suffixes_of(struct sp_part_suffixes *members, const struct sp_unit *part)
{
    *members = (struct sp_part_suffixes){.count = 0};
    members->stacked = sp_unit_says(part, "stacked");
    collect_members(members, part, 0);
}

bool sp_strip_suffix(struct sp_text *module, const char *name, const char *dot, const char *member)
{
    const size_t length = strlen(name), end = strlen(dot) + strlen(member);
    if (length <= end || strcmp(name + length - strlen(member), member) != 0) return false;
    if (*dot && name[length - end] != '.') return false;
    module->length = 0;
    sp_text_append(module, name, length - end);
    return true;
}

void sp_note_tails(const struct shapeproof_inventory *file, struct sp_map *tails)
{
    for (size_t i = 0; i < shapeproof_inventory_count(file); i++) {
        const char *name = shapeproof_inventory_tensor(file, i)->name;
        sp_map_add(tails, name + sp_last_component(name, strlen(name), "."), i);
    }
}

bool sp_part_shows(const struct sp_unit *part, const struct sp_map *tails)
{
    struct sp_part_suffixes members;
    sp_part_suffixes_of(&members, part);
    for (size_t i = 0; i < members.count; i++) {
        if (members.stacked || sp_map_get(tails, sp_behind_last(members.name[i], '.')) != SIZE_MAX) return true;
    }
    return false;
}

static bool can_pack(enum shapeproof_dtype dtype)
{
    if (dtype == SHAPEPROOF_DTYPE_UNKNOWN || dtype == SHAPEPROOF_DTYPE_I64 || dtype == SHAPEPROOF_DTYPE_BOOL)
        return false; /* positions, masks */
    return !shapeproof_dtype_is_float(dtype) || shapeproof_dtype_bits(dtype) <= 8;
}

bool sp_looks_packed(const struct shapeproof_tensor *tensor) { return tensor->rank && can_pack(tensor->dtype); }

bool sp_any_looks_packed(const struct shapeproof_inventory *inventory)
{
    bool can = false;
    for (int dtype = 0; dtype < SP_DTYPE_COUNT; dtype++)
        can = can || (inventory->dtypes >> dtype & 1 && can_pack((enum shapeproof_dtype)dtype));
    for (size_t i = 0; can && i < shapeproof_inventory_count(inventory); i++)
        if (sp_looks_packed(shapeproof_inventory_tensor(inventory, i))) return true;
    return false;
}
