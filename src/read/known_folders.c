/* SPDX-License-Identifier: MIT
 * A cached model: "models--x--y" with refs/main, the name of a commit, snapshots/COMMIT/, links into blobs/. */
#define _GNU_SOURCE /* O_DIRECTORY, faccessat, strverscmp */
#include "read/known_folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chars.h"
#include "base/names.h"
#include "base/text.h"
#include "read/directory.h"

enum { MAX_COMMIT = 128, MOST_SNAPSHOTS = 1000 };

static bool is_there(const struct sp_folder *folder, const char *name)
{
    return faccessat(folder->fd, name, F_OK, 0) == 0;
}

/* ---- the cache of the hub ---- */

/* What refs/main says: letters and digits; NULL when it is anything else. */
static const char *commit_of_main(const struct sp_folder *folder, struct sp_arena *arena)
{
    struct sp_file file;
    struct shapeproof_error ignored = {0};
    char text[MAX_COMMIT + 1] = "";
    if (!sp_file_open(&file, folder->fd, "refs/main", &ignored)) return NULL;
    const bool ok = file.size <= MAX_COMMIT && sp_file_read(&file, 0, text, (size_t)file.size, &ignored);
    sp_file_close(&file);
    const size_t length = ok ? strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") : 0;
    return length ? sp_arena_copy(arena, text, length) : NULL;
}

const char *sp_hub_snapshot(const struct sp_folder *folder, struct sp_arena *arena)
{
    const char *commit = is_there(folder, "snapshots") ? commit_of_main(folder, arena) : NULL;
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
    const int fd = openat(folder->fd, "snapshots", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream && fd >= 0) close(fd);
    for (const struct dirent *entry; stream && count < MOST_SNAPSHOTS && (entry = readdir(stream));)
        if (entry->d_name[0] != '.') names[count++] = sp_arena_printf(arena, "snapshots/%s", entry->d_name);
    if (stream) closedir(stream);
    if (count) qsort(names, count, sizeof *names, compare_snapshots);
    return count;
}

/* Without a refs/main that leads to a snapshot: which there are. */
static void fail_cached(const struct sp_folder *folder, struct sp_arena *arena, struct shapeproof_error *error)
{
    const char **names = sp_realloc(NULL, MOST_SNAPSHOTS, sizeof *names);
    const size_t count = list_snapshots(folder, arena, names);
    const char *commit = commit_of_main(folder, arena);
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
        sp_hint(error, "ask about %s, such as %s", count > 1 ? "one of them" : "it",
                sp_quote(sp_folder_join(folder, names[0], arena)).text);
    sp_names_free(&list);
    free(names);
}

/* ---- a training ---- */

/* The first word of a small file, of letters, digits and "_-."; NULL when it is anything else. */
static const char *word_in_file(const struct sp_folder *folder, const char *name, struct sp_arena *arena)
{
    struct sp_file file;
    struct shapeproof_error ignored = {0};
    char text[MAX_COMMIT + 1] = "";
    if (!sp_file_open(&file, folder->fd, name, &ignored)) return NULL;
    const bool ok = file.size <= MAX_COMMIT && sp_file_read(&file, 0, text, (size_t)file.size, &ignored);
    sp_file_close(&file);
    const size_t length = ok ? strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.") : 0;
    return length && text[0] != '.' && !text[length + strspn(text + length, " \r\n")]
               ? sp_arena_copy(arena, text, length)
               : NULL;
}

static bool has_checkpoint(const struct sp_folder *folder)
{
    bool found = false;
    size_t entries = 0;
    const int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream && fd >= 0) close(fd);
    for (const struct dirent *entry; stream && !found && entries < MOST_SNAPSHOTS && (entry = readdir(stream));
         entries++)
        found = sp_may_be_checkpoint(entry->d_name) || sp_ends_with(entry->d_name, ".distcp");
    if (stream) closedir(stream);
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
     "its weights alone: ask about 'variables/variables.index' in it"},
    {"_CHECKPOINT_METADATA", "a checkpoint of orbax, which is not read",
     "restore it in Python, and save the parameters with flax.serialization.to_bytes or safetensors.flax"},
    {"manifest.ocdbt", "a store of tensorstore (OCDBT), as orbax writes it, which is not read",
     "restore it in Python, and save the parameters with flax.serialization.to_bytes or safetensors.flax"},
    {".zarray", "an array of Zarr, which is not read", "open it in Python, and save it with numpy.save"},
    {".zgroup", "a group of Zarr, which is not read", "open it in Python, and save it with numpy.savez"},
    {"zarr.json", "a group or an array of Zarr 3, which is not read",
     "open it in Python, and save it with numpy.savez or numpy.save"},
    {"Manifest.json", "a package of CoreML (.mlpackage), which is not read",
     "ask about the checkpoint that it was converted from"},
};

bool sp_folder_is_known(const struct sp_folder *folder, struct shapeproof_error *error)
{
    struct sp_arena arena = {0};
    const bool cached = is_there(folder, "snapshots") && (is_there(folder, "blobs") || is_there(folder, "refs"));
    const char *snapshot = cached ? sp_hub_snapshot(folder, &arena) : NULL;
    bool known = cached;
    if (snapshot) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                "a model in the cache of the Hugging Face hub, which is in %s", sp_quote(snapshot).text);
        sp_hint(error, "ask about %s", sp_quote(sp_folder_join(folder, snapshot, &arena)).text);
    } else if (cached) {
        fail_cached(folder, &arena, error);
    }
    const char *step = known ? NULL : last_step(folder, &arena);
    if (step) {
        known = true;
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED, "a training, whose last checkpoint is %s",
                sp_quote(step).text);
        sp_hint(error, "ask about %s", sp_quote(sp_folder_join(folder, step, &arena)).text);
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
    struct sp_arena arena = {0};
    struct sp_folder folder;
    struct sp_text text = {0};
    if (!sp_folder_open(&folder, path)) return NULL;
    const char *snapshot = is_there(&folder, "blobs") ? sp_hub_snapshot(&folder, &arena) : NULL;
    if (!snapshot) snapshot = last_step(&folder, &arena);
    if (snapshot) sp_text_puts(&text, sp_folder_join(&folder, snapshot, &arena));
    sp_folder_close(&folder);
    sp_arena_free(&arena);
    return text.data;
}
