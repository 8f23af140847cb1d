/* SPDX-License-Identifier: MIT
 * Archives of torch.package. Below one folder P:
 *   P/.data/extern_modules, python_version, version
 *   P/.data/K.storage     the bytes of storage K
 *   P/any/name.pkl        an object, as a rule with this ending; its persistent ids are ('storage', class, K, location,
 * count), K a number P/any/module.py       source code A tensor is named after its pickle: "any/name.pkl:weight".
 * Source code is not read, but unpickling imports modules of the archive before those that are installed, and imports
 * the folder of the pickle: which files that would run is a warning, whatever the name of the module is. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "model/format.h"
#include "read/torch/torch.h"
#include "read/torch/zip.h"

static const struct sp_format torch_package_format = {"torch-package", SP_BY_TORCH | SP_IN_ORDER};

enum {
    MAX_PACKAGED = 256 << 20,
    MAX_PACKAGED_NAMES = 1 << 30 /* and shapes, of all pickles */,
    NAMED_FILES = 3 /* in one warning */,
    MAX_TRIED = 1 << 20 /* bytes of a member that are tried as a pickle, of any other name than .pkl */
};

/* The source code of an archive, and how much of it the pickles that were read would run. */
struct sources {
    struct sp_arena arena;
    struct sp_map modules; /* "any/module" -> its number in `files` */
    SP_ARRAY(const char *) files;
    bool *run; /* of each file */
    size_t run_count;
    struct sp_text named; /* the first that would run */
};

static const char MARK[] = "/.data/extern_modules";

size_t sp_torch_package_prefix(const struct sp_zip *zip, const char **path)
{
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        *path = sp_zip_entry(zip, i)->name;
        if (sp_ends_with(*path, MARK)) return strlen(*path) - strlen(MARK) + 1;
    }
    return 0;
}

/* ---- source code ---- */

/* Lists the modules of the archive: "a/b.py" and "a/b/__init__.py" are the module a.b. */
static void list_sources(struct sources *sources, const struct sp_zip *zip, const char *folder, size_t prefix)
{
    static const char *const endings[] = {"/__init__.py", ".py"};
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const char *name = sp_zip_entry(zip, i)->name;
        if (strncmp(name, folder, prefix)) continue;
        name += prefix;
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
            if (!sp_ends_with(name, endings[k])) continue;
            const char *module = sp_arena_copy(&sources->arena, name, strlen(name) - strlen(endings[k]));
            if (sp_map_add(&sources->modules, module, sources->files.count)) *SP_PUSH(&sources->files) = name;
            break;
        }
    }
    sources->run = sp_arena_array(&sources->arena, sources->files.count, sizeof *sources->run);
}

/* Notes the files that importing the module runs: its own, and those of the packages around it. `path` is the module
 * with slashes, and is changed and restored. */
static void note_import(struct sources *sources, char *path)
{
    for (char *at = path;; at++) {
        if (*at && *at != '/') continue;
        const char end = *at;
        *at = '\0';
        const size_t file = sp_map_get(&sources->modules, path);
        *at = end;
        if (file != SIZE_MAX && !sources->run[file]) {
            sources->run[file] = true;
            if (sources->run_count++ < NAMED_FILES)
                sp_text_printf(&sources->named, "%s%s", sources->named.length ? ", " : "",
                               sp_quote(sources->files.items[file]).text);
        }
        if (!end) return;
    }
}

/* The same of the module of a global, also under the name that Python 3 gives a module of Python 2. */
static void note_global(struct sources *sources, const char *name)
{
    static const char *const renamed[][2] = {{"__builtin__.", "builtins"}, {"copy_reg.", "copyreg"}};
    char *path = sp_arena_string(&sources->arena, name);
    for (char *at = path; *at; at++)
        if (*at == '.') *at = '/';
    note_import(sources, path);
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strncmp(name, renamed[i][0], strlen(renamed[i][0])))
            note_import(sources, sp_arena_string(&sources->arena, renamed[i][1]));
}

/* Unpickling runs the file of each module that the pickle names, and those of the folders that it lies in. */
static void note_sources(struct sources *sources, const struct sp_pickle *pickle, const char *name)
{
    if (!sources->files.count) return;
    note_import(sources, sp_arena_copy(&sources->arena, name, (size_t)(sp_base_name(name) - name)));
    for (size_t i = 0; i < pickle->global_count; i++) note_global(sources, sp_pickle_name(pickle->globals[i]));
}

static void warn_of_sources(const struct sources *sources, struct shapeproof_inventory *inventory)
{
    if (!sources->run_count) return;
    struct sp_text more = {0};
    if (sources->run_count > NAMED_FILES) sp_text_printf(&more, " and %zu more", sources->run_count - NAMED_FILES);
    sp_inventory_warn(inventory, "unpickling it would run source code of the archive: %s%s", sources->named.data,
                      more.length ? more.data : "");
    sp_text_free(&more);
}

static void free_sources(struct sources *sources)
{
    sp_map_free(&sources->modules);
    sp_free(sources->files.items);
    sp_text_free(&sources->named);
    sp_arena_free(&sources->arena);
}

/* ---- pickles ---- */

static bool index_packaged(struct sp_torch *torch, struct sources *sources, size_t record, size_t prefix,
                           struct shapeproof_error *error)
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
    bool ok = sp_torch_read_pickle(torch, &pickle, name, bytes, length, error);
    if (ok) note_sources(sources, &pickle, name);
    ok = ok && sp_torch_walk(torch, pickle.root, error);
    sp_free(bytes);
    return ok;
}

/* Whether a member is a pickle: load_pickle takes any name. Its first bytes are a whole pickle, or one that calls
 * something before it breaks off, or a long one of protocol 2 or later; text is none of these. */
static bool is_pickle(struct sp_zip *zip, size_t index)
{
    const uint64_t size = sp_zip_entry(zip, index)->size;
    const size_t length = size < MAX_TRIED ? (size_t)size : MAX_TRIED;
    struct shapeproof_error ignored = {0};
    struct sp_arena arena = {0};
    struct sp_pickle pickle;
    bool is = false;
    if (!length) return false;
    char *bytes = sp_realloc(NULL, length, 1);
    if (sp_zip_read_head(zip, index, bytes, length, &ignored)) {
        is = sp_pickle_read(&pickle, &arena, "", bytes, length, &ignored) || pickle.call_count ||
             (pickle.truncated && length < size && (unsigned char)bytes[0] == 0x80);
    }
    sp_free(bytes);
    sp_arena_free(&arena);
    return is;
}

/* One pickle that is broken is a warning, as long as there are tensors in another. */
static bool index_all_packaged(struct sp_torch *torch, struct sources *sources, const char *folder, size_t prefix,
                               struct shapeproof_error *error)
{
    struct shapeproof_error first = {0};
    for (size_t i = 0; i < sp_zip_count(torch->zip); i++) {
        const char *name = sp_zip_entry(torch->zip, i)->name;
        struct shapeproof_error why = {0};
        if (strncmp(name, folder, prefix) || !strncmp(name + prefix, ".data/", 6)) continue;
        if (!sp_ends_with(name, ".pkl") && !is_pickle(torch->zip, i)) continue;
        if (index_packaged(torch, sources, i, prefix, &why)) continue;
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
    struct sources sources = {.run = NULL};
    list_sources(&sources, zip, path, prefix);
    const bool ok = index_all_packaged(&torch, &sources, path, prefix, error);
    warn_of_sources(&sources, inventory);
    free_sources(&sources);
    if (ok) sp_torch_zip_claim(&torch);
    sp_torch_free(&torch);
    return ok;
}
