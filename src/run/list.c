/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* openat, fdopendir, fstatat */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/natural.h"
#include "run/run.h"

/* The deepest files of trainers are logs/version_0/checkpoints/STEP/actor/huggingface/FILE. */
enum { LEVELS = 7, MOST_FILES = 100 * 1000 };
enum { MOST_JSON = 256 << 20, MOST_WORD = 4096 }; /* bytes: trainer_state.json has a line for each logged step */

const char *sp_run_join(struct sp_arena *arena, const char *folder, const char *name)
{
    if (strcmp(folder, ".") == 0 || !*folder) return sp_arena_string(arena, name);
    const size_t length = strlen(folder);
    return sp_arena_printf(arena, "%s%s%s", folder, folder[length - 1] == '/' ? "" : "/", name);
}

/* Hidden files are not of a training, but for the metadata of torch.distributed.checkpoint; nor is a model in the cache
 * of the hub. */
static bool is_skipped(const char *name, unsigned level)
{
    const bool is_cache = level == 0 && (strcmp(name, "snapshots") == 0 || strcmp(name, "blobs") == 0);
    return is_cache || (*name == '.' && strcmp(name, ".metadata") != 0);
}

static bool list_level(struct shapeproof_run *run, int fd, const char *folder, unsigned level,
                       struct shapeproof_error *error);

/* Adds a file, or what is in a folder. A link to a folder is not followed: it may lead back. */
static bool list_entry(struct shapeproof_run *run, int fd, const char *folder, const char *entry, unsigned level,
                       struct shapeproof_error *error)
{
    struct stat info;
    if (is_skipped(entry, level)) return true;
    if (fstatat(fd, entry, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        sp_fault_note("lstat", entry, errno);
        return true;
    }
    const bool is_link = S_ISLNK(info.st_mode);
    if (is_link && !sp_path_stat(fd, entry, &info)) return true;
    const char *name = sp_run_join(&run->arena, folder, entry);
    if (S_ISDIR(info.st_mode)) {
        if (is_link || level == LEVELS) return true;
        const int below = sp_hold_fd(openat(fd, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
        if (below < 0) sp_fault_note("open", entry, errno);
        const bool ok = below < 0 || list_level(run, below, name, level + 1, error);
        if (below >= 0) sp_close(below);
        return ok;
    }
    if (!S_ISREG(info.st_mode)) return true;
    if (run->files.count == MOST_FILES)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%s: more than %d files", run->path,
                       MOST_FILES);
    *SP_PUSH(&run->files) = (struct shapeproof_run_file){.name = name,
                                                         .path = sp_run_join(&run->arena, run->path, name),
                                                         .framework = "",
                                                         .step = SHAPEPROOF_NONE,
                                                         .bytes = (uint64_t)info.st_size,
                                                         .note = ""};
    return true;
}

/* Lists a folder and those below. One that cannot be read is as if it were empty, but for the run itself. */
static bool list_level(struct shapeproof_run *run, int fd, const char *folder, unsigned level,
                       struct shapeproof_error *error)
{
    DIR *stream = sp_folder_stream(fd, ".");
    bool ok = true;
    if (!stream)
        return level ||
               sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: open: %s", run->path, strerror(errno));
    for (const struct dirent *entry; ok && (entry = sp_folder_next(stream, folder));)
        ok = list_entry(run, fd, folder, entry->d_name, level, error);
    sp_folder_end(stream);
    return ok;
}

static int compare_files(const void *left, const void *right)
{
    const struct shapeproof_run_file *a = left, *b = right;
    return sp_compare_natural(a->name, b->name);
}

bool sp_run_list(struct shapeproof_run *run, int folder, struct shapeproof_error *error)
{
    if (!list_level(run, folder, ".", 0, error)) return false;
    if (run->files.count) qsort(run->files.items, run->files.count, sizeof *run->files.items, compare_files);
    return true;
}

/* The text of a file of at most `limit` bytes, to be freed; NULL with an error. */
static char *read_text(const char *path, size_t limit, size_t *length, struct shapeproof_error *error)
{
    struct sp_file file;
    if (!sp_file_open(&file, AT_FDCWD, path, error)) return NULL;
    char *text = sp_file_slurp(&file, limit, error);
    *length = (size_t)file.size;
    sp_file_close(&file);
    return text;
}

bool sp_run_json(struct sp_arena *arena, const char *path, struct shapeproof_value *value,
                 struct shapeproof_error *error)
{
    size_t length;
    char *text = read_text(path, MOST_JSON, &length, error);
    const bool ok = text && sp_value_parse_json(arena, text, length, value, error);
    sp_free(text);
    return ok;
}

const char *sp_run_word(struct shapeproof_run *run, const char *path)
{
    struct shapeproof_error ignored = {0};
    size_t length;
    char *text = read_text(path, MOST_WORD, &length, &ignored);
    const size_t begin = text ? strspn(text, " \t\r\n") : 0, size = text ? strcspn(text + begin, " \t\r\n") : 0;
    const char *word = size ? sp_arena_copy(&run->arena, text + begin, size) : NULL;
    sp_free(text);
    return word;
}
