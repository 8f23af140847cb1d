/* SPDX-License-Identifier: MIT
 * What the command has in the build of WebAssembly instead of src/net, src/read/hdf5, src/base/system,
 * src/fleet/pool.c and output_file.c, system_limits.c and pager.c of src/cli, and the functions that posix.h declares.
 * WebAssembly has neither processes nor sockets: the page itself fetches remote files, and reads no HDF5. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/system/system.h"
#include "cli/cli.h"
#include "fleet/pool.h"
#include "read/hdf5/keras_zip.h"
#include "read/reader.h"
#include "shapeproof/remote.h"

/* ---- functions of POSIX ---- */

int dup(int fd) { return openat(fd, ".", O_RDONLY | O_DIRECTORY); }

/* Replaces the XXXXXX at the end by a number: no other process can make a file of the same name meanwhile. */
int mkostemp(char *pattern, int flags)
{
    static unsigned count;
    snprintf(pattern + strlen(pattern) - 6, 7, "%06u", count++ % 1000000);
    return open(pattern, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    (void)pid, (void)status, (void)options;
    errno = ENOSYS;
    return -1;
}

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions) { return actions ? 0 : EINVAL; }
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions) { return actions ? 0 : EINVAL; }
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int from, int to)
{
    (void)from, (void)to;
    return actions ? 0 : EINVAL;
}

int posix_spawnp(pid_t *pid, const char *program, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    (void)pid, (void)program, (void)actions, (void)attributes, (void)arguments, (void)environment;
    return ENOSYS;
}

int flock(int fd, int operation)
{
    (void)fd, (void)operation;
    errno = ENOSYS;
    return -1;
}

int dup2(int from, int to)
{
    (void)from, (void)to;
    errno = ENOSYS;
    return -1;
}

FILE *tmpfile(void)
{
    errno = ENOSYS;
    return NULL;
}

/* ---- system.h ---- */

const bool sp_system_confines = false;
const char sp_system_sandbox[] = "WebAssembly";

int sp_system_unnamed_file(const char *name)
{
    char path[] = "/tmp/shapeproof-XXXXXX";
    const int fd = mkostemp(path, 0);
    if (fd >= 0) unlink(path);
    return name ? fd : -1;
}

void sp_system_give_back(void *memory, size_t size) { (void)memory, (void)size; }

/* Each map asks for it, so the page is asked only once. */
uint64_t sp_system_random(void)
{
    static uint64_t bits;
    if (!bits && getentropy(&bits, sizeof bits) != 0) bits = 1;
    return bits;
}

unsigned sp_system_processors(void) { return 1; }

/* ---- HDF5 ---- */

static const unsigned char hdf5_signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

static bool refuse_hdf5(struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "HDF5 cannot be read in a browser");
    sp_hint(error, "use the command, which has libhdf5");
    return false;
}

/* As that of src/read/hdf5/reader.c: the signature is at byte 0, or behind a user block of 512, 1024, ... bytes. */
static unsigned probe_hdf5(const struct sp_probe *probe)
{
    unsigned char found[sizeof hdf5_signature];
    struct shapeproof_error ignored = {0};
    const size_t size = sizeof found;
    if (probe->head_length >= size && memcmp(probe->head, hdf5_signature, size) == 0) return 8 * sizeof found;
    for (uint64_t at = 512; probe->deep && at + size <= probe->file->size; at *= 2)
        if (sp_file_read(probe->file, at, found, size, &ignored) && memcmp(found, hdf5_signature, size) == 0)
            return sizeof found;
    return 0;
}

static bool index_hdf5(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error)
{
    (void)file, (void)file_index, (void)inventory;
    return refuse_hdf5(error);
}

static const struct sp_file_ending hdf5_endings[] = {
    {".h5", SP_IN_DIRECTORIES | SP_IN_ARCHIVES}, {".hdf5", SP_IN_DIRECTORIES | SP_IN_ARCHIVES}, {NULL, 0}};

const struct sp_reader sp_reader_hdf5 = {
    .name = "hdf5", .endings = hdf5_endings, .probe = probe_hdf5, .index = index_hdf5};

bool sp_keras_zip_is(const struct sp_zip *zip)
{
    return sp_zip_find(zip, "config.json") != SIZE_MAX && sp_zip_find(zip, "metadata.json") != SIZE_MAX;
}

bool sp_keras_zip_index(struct sp_zip *zip, const struct sp_file *file, uint32_t file_index,
                        struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    (void)zip, (void)file, (void)file_index, (void)inventory;
    return refuse_hdf5(error);
}

/* ---- remote checkpoints ---- */

bool shapeproof_is_remote(const char *text)
{
    (void)text;
    return false;
}

struct shapeproof_remote *shapeproof_remote_fetch(const char *url, const struct shapeproof_remote_options *options,
                                                  struct shapeproof_error *error)
{
    (void)url, (void)options;
    sp_error_reset(error);
    sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "this build fetches nothing");
    return NULL;
}

const char *shapeproof_remote_path(const struct shapeproof_remote *remote) { return remote ? "" : NULL; }
const char *shapeproof_remote_folder(const struct shapeproof_remote *remote) { return remote ? "" : NULL; }
const char *shapeproof_remote_name(const struct shapeproof_remote *remote) { return remote ? "" : NULL; }

bool shapeproof_remote_confirm(const struct shapeproof_remote *remote, struct shapeproof_error *error)
{
    (void)remote;
    sp_error_reset(error);
    return true;
}

void shapeproof_remote_free(struct shapeproof_remote *remote) { (void)remote; }

/* ---- --list, --output, a terminal ---- */

const bool sp_pool_has_processes = false;

unsigned sp_pool_processors(void) { return 1; }

bool sp_pool_run(struct sp_pool *pool, struct shapeproof_error *error)
{
    (void)pool;
    return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "this build cannot start processes");
}

int cli_open_file(struct cli_file *file, const char *path, int *status)
{
    (void)file;
    *status = cli_complain(CLI_USAGE, NULL, "%s: this build writes no files", path);
    return -1;
}

bool cli_finish_file(struct cli_file *file, bool keep_old)
{
    (void)file, (void)keep_old;
    return true;
}

void cli_expect_processor_limit(void) {}
bool cli_expect_stack_limit(void) { return true; }
int cli_stdout(void) { return STDOUT_FILENO; }
FILE *cli_messages(void) { return stderr; }
void cli_hold_output(const struct cli_args *args) { (void)args; }
void cli_show_output(void) {}

/* Progress needs a terminal: the page says itself that a command runs. */
bool cli_is_foreground(int terminal) { return terminal < 0; }
void cli_allow_progress(const struct cli_args *args) { (void)args; }
void cli_stop_progress(void) {}
void cli_begin_step(const char *format, ...) { (void)format; }
void cli_tell_step(const char *format, ...) { (void)format; }
void cli_tell_amount(const char *unit, uint64_t done, uint64_t total) { (void)unit, (void)done, (void)total; }
void cli_end_step(void) {}
