/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_DIRECTORY, O_CLOEXEC */
#include "read/subfolders.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chars.h"
#include "base/names.h"
#include "read/directory.h"
#include "read/known_folders.h"

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
    return strverscmp(*(const char *const *)left, *(const char *const *)right);
}

/* The names in a directory, sorted; none when it cannot be read. */
static size_t list_entries(struct search *search, int fd, const char ***names)
{
    SP_ARRAY(const char *) list = {0};
    const int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = own >= 0 ? fdopendir(own) : NULL;
    if (!stream && own >= 0) close(own);
    for (const struct dirent *entry; stream && (entry = readdir(stream)) && search->entries < MOST_ENTRIES;) {
        search->entries++;
        if (entry->d_name[0] != '.') *SP_PUSH(&list) = sp_arena_string(&search->arena, entry->d_name);
    }
    if (stream) closedir(stream);
    if (list.count) qsort(list.items, list.count, sizeof *list.items, compare_paths);
    *names = list.items;
    return list.count;
}

static void search_level(struct search *search, int fd, const char *path, int level);

/* Of a distributed checkpoint, or the folder of a rank. */
static bool is_part(const char *name) { return sp_ends_with(name, ".distcp") || strncmp(name, "mp_rank_", 8) == 0; }

/* A folder with a checkpoint counts as a whole; of any other those below it may. */
static void search_entry(struct search *search, int fd, const char *path, const char *name, int level)
{
    if (strncmp(name, "optimizer_", strlen("optimizer_")) == 0) return; /* as accelerate saves it beside the model */
    const int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (below < 0) return;
    const char *own = *path ? sp_arena_printf(&search->arena, "%s/%s", path, name) : name;
    search_level(search, below, own,
                 level + (strcmp(name, "snapshots") != 0)); /* of a cached model: no level of its own */
    close(below);
}

static void search_level(struct search *search, int fd, const char *path, int level)
{
    const char **names;
    const size_t count = list_entries(search, fd, &names);
    bool found = false;
    for (size_t i = 0; i < count && level && !found; i++) found = sp_may_be_checkpoint(names[i]) || is_part(names[i]);
    if (found) *SP_PUSH(&search->found) = path;
    for (size_t i = 0; i < count && level < LEVELS && !found; i++) search_entry(search, fd, path, names[i], level);
    free(names);
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

/* What the directory is, and what there is below it. */
static void fail_empty(const struct sp_folder *folder, struct search *search, struct shapeproof_error *error)
{
    const bool pipeline = is_pipeline(folder), any = search->found.count;
    const char *list = any ? list_found(search) : "";
    if (pipeline)
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                any ? "a diffusers pipeline: its components are checkpoints of their own: %s"
                    : "a diffusers pipeline (model_index.json), of which no component is here%s",
                list);
    else
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                any ? "no checkpoint in this directory itself, but in %s" : "no checkpoint in this directory%s", list);
    if (!any) return;
    if (search->found.count > 1 && sp_are_steps(search->found.items, search->found.count)) {
        const char *last = search->found.items[search->found.count - 1];
        sp_hint(error, "ask about one of these steps of a training, such as the last: %s",
                sp_quote(sp_folder_join(folder, last, &search->arena)).text);
        return;
    }
    const char *first = sp_folder_join(folder, search->found.items[0], &search->arena);
    sp_hint(error, "ask about %s by itself, such as %s", search->found.count > 1 ? "each" : "it", sp_quote(first).text);
}

const char *sp_folder_checkpoints_below(const struct sp_folder *folder, struct sp_arena *arena)
{
    struct search search = {.entries = 0};
    search_level(&search, folder->fd, "", 0);
    const char *names = search.found.count ? sp_arena_string(arena, list_found(&search)) : NULL;
    free(search.found.items);
    sp_arena_free(&search.arena);
    return names;
}

bool sp_folder_refuse_empty(const struct sp_folder *folder, struct shapeproof_error *error)
{
    struct search search = {.entries = 0};
    if (sp_folder_is_known(folder, error)) {
        sp_error_prefix(error, folder->path);
        return false;
    }
    search_level(&search, folder->fd, "", 0);
    fail_empty(folder, &search, error);
    free(search.found.items);
    sp_arena_free(&search.arena);
    sp_error_prefix(error, folder->path);
    return false;
}
