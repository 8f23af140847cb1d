/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_DIRECTORY, O_CLOEXEC, faccessat */
#include "read/subfolders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/fault.h"
#include "base/names.h"
#include "base/natural.h"
#include "base/step_name.h"
#include "base/text.h"
#include "read/directory.h"
#include "read/folder.h"

/* ---- folders with a known layout ---- */

/* Directories without a checkpoint of their own that are known by what lies in them: a model in the cache of the
 * Hugging Face hub, whose files are in a snapshot, and what other frameworks save as a folder. */

enum { MAX_WORD = 128, MOST_SNAPSHOTS = 1000 };

static bool is_there(const struct sp_folder *folder, const char *name) { return sp_path_exists(folder->fd, name); }

/* ---- the cache of the hub ---- */

/* The first word of a small file, of letters, digits and "_-."; NULL when it is anything else. */
static const char *word_in_file(const struct sp_folder *folder, const char *name, struct sp_arena *arena)
{
    struct sp_file file;
    struct shapeproof_error ignored = {0};
    char text[MAX_WORD + 1] = "";
    if (!sp_file_open(&file, folder->fd, name, &ignored)) return NULL;
    const bool ok = file.size <= MAX_WORD && sp_file_read(&file, 0, text, (size_t)file.size, &ignored);
    sp_file_close(&file);
    const size_t length = ok ? strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.") : 0;
    return length && text[0] != '.' && !text[length + strspn(text + length, " \r\n")]
               ? sp_arena_copy(arena, text, length)
               : NULL;
}

/* The snapshot that `refs/main` of a cached model names and that is there, "snapshots/1f2e"; NULL when there is none.
 */
static const char *hub_snapshot(const struct sp_folder *folder, struct sp_arena *arena)
{
    const char *commit = is_there(folder, "snapshots") ? word_in_file(folder, "refs/main", arena) : NULL;
    const char *snapshot = commit ? sp_arena_printf(arena, "snapshots/%s", commit) : NULL;
    return snapshot && is_there(folder, snapshot) ? snapshot : NULL;
}

static int compare_snapshots(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static size_t list_snapshots(const struct sp_folder *folder, struct sp_arena *arena, const char **names)
{
    size_t count = 0;
    DIR *stream = sp_folder_stream(folder->fd, "snapshots");
    for (const struct dirent *entry;
         stream && count < MOST_SNAPSHOTS && (entry = sp_folder_next(stream, folder->path));)
        if (entry->d_name[0] != '.') names[count++] = sp_arena_printf(arena, "snapshots/%s", entry->d_name);
    sp_folder_end(stream);
    if (count) qsort(names, count, sizeof *names, compare_snapshots);
    return count;
}

/* The error for a cached model without a refs/main that leads to a snapshot: it names the snapshots that there are. */
static void fail_cached(const struct sp_folder *folder, struct sp_arena *arena, struct shapeproof_error *error)
{
    const char **names = sp_realloc(NULL, MOST_SNAPSHOTS, sizeof *names);
    const size_t count = list_snapshots(folder, arena, names);
    const char *commit = word_in_file(folder, "refs/main", arena);
    struct sp_names list = {0};
    for (size_t i = 0; i < count; i++) sp_names_add(&list, names[i]);
    if (!count)
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                "a model in the cache of the Hugging Face hub, of which no snapshot was downloaded");
    else
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                "a model in the cache of the Hugging Face hub, %s: it has %s",
                commit ? "whose refs/main names a snapshot that was not downloaded" : "without refs/main",
                sp_names_text(&list));
    if (count)
        sp_hint(error, "read %s, such as %s", count > 1 ? "one of them" : "it",
                sp_quote(sp_folder_join(folder, names[0], arena)).text);
    sp_names_free(&list);
    sp_free(names);
}

/* ---- a training ---- */

/* Whether one of the first names in the folder may be that of a checkpoint. */
static bool has_checkpoint(const struct sp_folder *folder)
{
    bool found = false;
    size_t entries = 0;
    DIR *stream = sp_folder_stream(folder->fd, ".");
    for (const struct dirent *entry;
         stream && !found && entries < MOST_SNAPSHOTS && (entry = sp_folder_next(stream, folder->path)); entries++)
        found = sp_may_be_checkpoint(entry->d_name) || sp_ends_with(entry->d_name, ".distcp");
    sp_folder_end(stream);
    return found;
}

/* The folder of the last step, as DeepSpeed (`latest`) and Megatron (`latest_checkpointed_iteration.txt`, a number or
 * "release") note it, or that of the only model in a step of accelerate; NULL when it is not there, or there is a
 * checkpoint beside the note. */
static const char *last_step(const struct sp_folder *folder, struct sp_arena *arena)
{
    static const char fsdp[] = "pytorch_model_fsdp_0";
    const char *step = word_in_file(folder, "latest", arena);
    if (!step && (step = word_in_file(folder, "latest_checkpointed_iteration.txt", arena)) &&
        !step[strspn(step, "0123456789")])
        step = sp_arena_printf(arena, "iter_%07lu", strtoul(step, NULL, 10));
    if (!step && is_there(folder, fsdp) && !is_there(folder, "pytorch_model_fsdp_1")) step = fsdp;
    return step && is_there(folder, step) && !has_checkpoint(folder) ? step : NULL;
}

/* ---- what other frameworks save as a folder ---- */

static const struct {
    const char *file, *what, *hint;
} kinds[] = {
    {"saved_model.pb", "a SavedModel of TensorFlow, which is not read",
     "read 'variables/variables.index' in it, which has the weights"},
    {"_CHECKPOINT_METADATA", "a checkpoint of orbax, which is not read",
     "restore it in Python, and save the parameters with flax.serialization.to_bytes or safetensors.flax"},
    {"manifest.ocdbt", "a store of tensorstore (OCDBT), as orbax writes it, which is not read",
     "restore it in Python, and save the parameters with flax.serialization.to_bytes or safetensors.flax"},
    {".zarray", "an array of Zarr, which is not read", "open it in Python, and save it with numpy.save"},
    {".zgroup", "a group of Zarr, which is not read", "open it in Python, and save it with numpy.savez"},
    {"zarr.json", "a group or an array of Zarr 3, which is not read",
     "open it in Python, and save it with numpy.savez or numpy.save"},
    {"Manifest.json", "a package of CoreML (.mlpackage), which is not read",
     "read the checkpoint that it was converted from"},
};

/* Whether the directory is a cached model, a training with steps, or one of `kinds`; the first of these that it is.
 * Then the error says so, and names what to read in it. */
static bool folder_is_known(const struct sp_folder *folder, struct shapeproof_error *error)
{
    struct sp_arena arena = {0};
    const bool cached = is_there(folder, "snapshots") && (is_there(folder, "blobs") || is_there(folder, "refs"));
    const char *snapshot = cached ? hub_snapshot(folder, &arena) : NULL;
    bool known = cached;
    if (snapshot) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                "a model in the cache of the Hugging Face hub, which is in %s", sp_quote(snapshot).text);
        sp_hint(error, "read %s", sp_quote(sp_folder_join(folder, snapshot, &arena)).text);
    } else if (cached) {
        fail_cached(folder, &arena, error);
    }
    const char *step = known ? NULL : last_step(folder, &arena);
    if (step) {
        known = true;
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED, "a training, whose last checkpoint is %s",
                sp_quote(step).text);
        sp_hint(error, "read %s", sp_quote(sp_folder_join(folder, step, &arena)).text);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !known; i++) {
        if (!is_there(folder, kinds[i].file)) continue;
        known = true;
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED, "this is %s", kinds[i].what);
        sp_hint(error, "%s", kinds[i].hint);
    }
    sp_arena_free(&arena);
    return known;
}

char *shapeproof_checkpoint_path(const char *path)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("reading it");
    struct sp_arena arena = {0};
    struct sp_folder folder;
    struct sp_text text = {0};
    if (!sp_folder_open(&folder, path)) return NULL;
    const char *snapshot = is_there(&folder, "blobs") ? hub_snapshot(&folder, &arena) : NULL;
    if (!snapshot) snapshot = last_step(&folder, &arena);
    if (snapshot) sp_text_puts(&text, sp_folder_join(&folder, snapshot, &arena));
    sp_folder_close(&folder);
    sp_arena_free(&arena);
    return text.data;
}

/* ---- subfolders ---- */

/* A folder of a cache has its checkpoint two levels down, snapshots/COMMIT; further down nobody meant it. */
enum { LEVELS = 2, MOST_ENTRIES = 2000, SHOWN = 12 };

/* Where the last number of a name begins, and its length. */
static size_t last_number(const char *name, size_t *digits)
{
    size_t end = strlen(name);
    while (end && !sp_is_digit(name[end - 1])) end--;
    size_t begin = end;
    while (begin && sp_is_digit(name[begin - 1])) begin--;
    *digits = end - begin;
    return begin;
}

bool sp_are_steps(const char *const *names, size_t count)
{
    size_t digits, others;
    if (count < 2) return false;
    const size_t stem = last_number(names[0], &digits);
    if (!stem || !digits) return false;
    for (size_t i = 1; i < count; i++)
        if (last_number(names[i], &others) != stem || !others || strncmp(names[i], names[0], stem) != 0 ||
            strcmp(names[i] + stem + others, names[0] + stem + digits) != 0)
            return false;
    return true;
}

struct search {
    struct sp_arena arena;
    SP_ARRAY(const char *) found; /* folders, by their paths below the directory */
    size_t entries;               /* looked at so far */
};

/* Numbers by their values: checkpoint-500 before checkpoint-1000. */
static int compare_paths(const void *left, const void *right)
{
    return sp_compare_natural(*(const char *const *)left, *(const char *const *)right);
}

/* The names in a directory, sorted; none when it cannot be read. */
static size_t list_entries(struct search *search, int fd, const char *path, const char ***names)
{
    SP_ARRAY(const char *) list = {0};
    DIR *stream = sp_folder_stream(fd, ".");
    for (const struct dirent *entry;
         stream && (entry = sp_folder_next(stream, path)) && search->entries < MOST_ENTRIES;) {
        search->entries++;
        if (entry->d_name[0] != '.') *SP_PUSH(&list) = sp_arena_string(&search->arena, entry->d_name);
    }
    sp_folder_end(stream);
    if (list.count) qsort(list.items, list.count, sizeof *list.items, compare_paths);
    *names = list.items;
    return list.count;
}

static void search_level(struct search *search, int fd, const char *path, int level);

/* Of a distributed checkpoint, or the folder of a rank. */
static bool is_part(const char *name) { return sp_ends_with(name, ".distcp") || strncmp(name, "mp_rank_", 8) == 0; }

/* Looks into one entry of a folder, if it is a folder. */
static void search_entry(struct search *search, int fd, const char *path, const char *name, int level)
{
    if (strncmp(name, "optim", strlen("optim")) == 0) return; /* the folder of an optimizer beside that of the model */
    const int below = sp_hold_fd(openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
    if (below < 0) {
        sp_fault_note("open", name, errno);
        return;
    }
    const char *own = *path ? sp_arena_printf(&search->arena, "%s/%s", path, name) : name;
    search_level(search, below, own,
                 level + (strcmp(name, "snapshots") != 0)); /* of a cached model: no level of its own */
    sp_close(below);
}

/* Notes the folder when it has a checkpoint; otherwise looks into those in it, down to LEVELS. `level` is 0 for the
 * directory that the search begins in, which is not noted itself. */
static void search_level(struct search *search, int fd, const char *path, int level)
{
    const char **names;
    const size_t count = list_entries(search, fd, path, &names);
    bool found = false;
    for (size_t i = 0; i < count && level && !found; i++) found = sp_may_be_checkpoint(names[i]) || is_part(names[i]);
    if (found) *SP_PUSH(&search->found) = path;
    for (size_t i = 0; i < count && level < LEVELS && !found; i++) search_entry(search, fd, path, names[i], level);
    sp_free(names);
}

static const char *list_found(struct search *search)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < search->found.count && i < SHOWN; i++)
        sp_text_printf(&text, "%s%s", i ? ", " : "", sp_quote(search->found.items[i]).text);
    if (search->found.count > SHOWN) sp_text_printf(&text, " and %zu more", search->found.count - SHOWN);
    return sp_text_keep(&text, &search->arena);
}

static bool is_pipeline(const struct sp_folder *folder)
{
    return faccessat(folder->fd, "model_index.json", R_OK, 0) == 0 ||
           faccessat(folder->fd, "modular_model_index.json", R_OK, 0) == 0;
}

/* The error for a directory without a checkpoint: whether it is a pipeline, and which folders below it have one. */
static void fail_empty(const struct sp_folder *folder, struct search *search, struct shapeproof_error *error)
{
    const bool pipeline = is_pipeline(folder), any = search->found.count;
    const char *list = any ? list_found(search) : "";
    if (pipeline)
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                any ? "a diffusers pipeline: its components are checkpoints of their own: %s"
                    : "a diffusers pipeline (model_index.json), but no component is in this directory%s",
                list);
    else
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                any ? "no checkpoint in this directory itself; there are checkpoints in %s"
                    : "no checkpoint in this directory%s",
                list);
    if (!any) return;
    uint32_t rank;
    if (sp_rank_folder_read(search->found.items[0], &rank)) {
        sp_hint(error,
                "these folders of ranks do not hold one file of pieces (DTensor, ShardedTensor) each, so they are not "
                "joined: read one of them by itself, such as %s",
                sp_quote(sp_folder_join(folder, search->found.items[0], &search->arena)).text);
        return;
    }
    if (search->found.count > 1 && sp_are_steps(search->found.items, search->found.count)) {
        const char *last = search->found.items[search->found.count - 1];
        sp_hint(error, "read one of these steps of a training, such as the last: %s",
                sp_quote(sp_folder_join(folder, last, &search->arena)).text);
        return;
    }
    const char *first = sp_folder_join(folder, search->found.items[0], &search->arena);
    sp_hint(error, "read %s by itself, such as %s", search->found.count > 1 ? "each" : "it", sp_quote(first).text);
}

const char *sp_folder_checkpoints_below(const struct sp_folder *folder, struct sp_arena *arena)
{
    struct search search = {.entries = 0};
    search_level(&search, folder->fd, "", 0);
    const char *names = search.found.count ? sp_arena_string(arena, list_found(&search)) : NULL;
    sp_free(search.found.items);
    sp_arena_free(&search.arena);
    return names;
}

bool sp_folder_refuse_empty(const struct sp_folder *folder, struct shapeproof_error *error)
{
    struct search search = {.entries = 0};
    if (folder_is_known(folder, error)) {
        sp_error_prefix(error, folder->path);
        return false;
    }
    search_level(&search, folder->fd, "", 0);
    fail_empty(folder, &search, error);
    sp_free(search.found.items);
    sp_arena_free(&search.arena);
    sp_error_prefix(error, folder->path);
    return false;
}
