/* SPDX-License-Identifier: MIT
 * Archives of torch.package. Below one folder P:
 *   P/.data/extern_modules, python_version, version
 *   P/.data/K.storage     the bytes of storage K
 *   P/any/name.pkl        an object; its persistent ids are ('storage', class, K, location, count), K a number
 * Source code may lie beside them: it is not looked at. A tensor is named after its pickle: "any/name.pkl:weight". */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "model/format.h"
#include "read/torch/torch.h"
#include "read/torch/zip.h"

static const struct sp_format torch_package_format = {"torch-package", SP_BY_TORCH | SP_IN_ORDER};

enum { MAX_PACKAGED = 256 << 20, MAX_PACKAGED_NAMES = 1 << 30 /* and shapes, of all pickles */ };

static const char MARK[] = "/.data/extern_modules";

size_t sp_torch_package_prefix(const struct sp_zip *zip, const char **path)
{
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        *path = sp_zip_entry(zip, i)->name;
        if (sp_ends_with(*path, MARK)) return strlen(*path) - strlen(MARK) + 1;
    }
    return 0;
}

static bool index_packaged(struct sp_torch *torch, size_t record, size_t prefix, struct shapeproof_error *error)
{
    const struct sp_zip_entry *entry = sp_zip_entry(torch->zip, record);
    const char *name = entry->name + prefix;
    struct sp_pickle pickle;
    size_t length;
    if (torch->inventory->arena.used > MAX_PACKAGED_NAMES)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "names and shapes of more than %d bytes",
                       MAX_PACKAGED_NAMES);
    char *bytes = sp_zip_read(torch->zip, record, MAX_PACKAGED, &length, error);
    if (!bytes) return false;
    torch->name_prefix = sp_arena_printf(&torch->arena, "%s:", name);
    const bool ok =
        sp_torch_read_pickle(torch, &pickle, name, bytes, length, error) && sp_torch_walk(torch, pickle.root, error);
    sp_free(bytes);
    return ok;
}

/* One pickle that is broken is a warning, as long as there are tensors in another. */
static bool index_all_packaged(struct sp_torch *torch, const char *folder, size_t prefix,
                               struct shapeproof_error *error)
{
    struct shapeproof_error first = {0};
    for (size_t i = 0; i < sp_zip_count(torch->zip); i++) {
        const char *name = sp_zip_entry(torch->zip, i)->name;
        struct shapeproof_error why = {0};
        if (strncmp(name, folder, prefix) || !sp_ends_with(name, ".pkl") || !strncmp(name + prefix, ".data/", 6))
            continue;
        if (index_packaged(torch, i, prefix, &why)) continue;
        if (!first.status) first = why;
        sp_inventory_warn(torch->inventory, "%s is not read: %s", sp_quote(name + prefix).text, why.message);
    }
    if (!first.status || torch->inventory->count) return true;
    *error = first;
    return false;
}

bool sp_torch_package_index(struct sp_zip *zip, uint32_t file_index, struct shapeproof_inventory *inventory,
                            struct shapeproof_error *error)
{
    struct sp_torch torch = {.inventory = inventory, .file = file_index, .key_prefix = "", .zip = zip};
    const char *path = NULL;
    const size_t prefix = sp_torch_package_prefix(zip, &path);
    torch.folder = sp_arena_printf(&torch.arena, "%.*s.data/", (int)prefix, path);
    torch.suffix = ".storage";
    torch.locate = sp_torch_zip_locate_storage;
    inventory->format = &torch_package_format;
    const bool ok = index_all_packaged(&torch, path, prefix, error);
    if (ok) sp_torch_zip_claim(&torch);
    sp_torch_free(&torch);
    return ok;
}
