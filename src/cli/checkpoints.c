/* SPDX-License-Identifier: MIT
 * Operands that are checkpoints. Standard input goes into a file without a name, in $TMPDIR or /tmp, which is gone when
 * the command ends: readers go to and fro in a file, and a pipe cannot. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/near.h"
#include "fleet/pool.h"

enum { STEP = 1 << 16, LIMIT_GIB = 64 };

/* The folder for temporary files. */
static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

int cli_open_unnamed(void)
{
    char path[512];
    const int length = snprintf(path, sizeof path, "%s/shapeproof-XXXXXX", temporary_folder());
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        const ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) bytes += put, length -= (size_t)put;
    }
    return true;
}

/* How the copy of standard input ended. */
enum copied { COPIED, TOO_LONG, NOT_READ, NOT_WRITTEN };

/* Copies standard input. After NOT_READ and NOT_WRITTEN, errno has the reason. */
static enum copied copy_input(int to)
{
    static char bytes[STEP]; /* too large for a small stack */
    cli_begin_step("reading standard input");
    for (uint64_t total = 0;;) {
        cli_tell_amount("bytes", total, 0);
        const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
        if (got == 0) return COPIED;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return NOT_READ;
        if (!write_all(to, bytes, (size_t)got)) return NOT_WRITTEN;
        total += (uint64_t)got;
        if (total > (uint64_t)LIMIT_GIB << 30) return TOO_LONG;
    }
}

/* Says that the temporary file cannot be made or written, and where it is. */
static void complain_of_copy(const char *call, int why)
{
    cli_complain(CLI_FILE, NULL, "the temporary file for standard input: %s in %s: %s; TMPDIR can name another folder",
                 call, temporary_folder(), strerror(why));
}

/* The path of the copy, which stays good as long as the command runs; complains otherwise. */
static char *spool_input(void)
{
    char *path = NULL;
    const int fd = cli_open_unnamed();
    if (fd < 0) {
        complain_of_copy("mkostemp", errno);
        return NULL;
    }
    const enum copied copied = copy_input(fd);
    const int why = errno;
    if (copied == TOO_LONG) cli_complain(CLI_FILE, NULL, "standard input has more than %d GiB", LIMIT_GIB);
    else if (copied == NOT_READ) cli_complain(CLI_FILE, NULL, "standard input: read: %s", strerror(why));
    else if (copied == NOT_WRITTEN) complain_of_copy("write", why);
    else if (asprintf(&path, "/dev/fd/%d", fd) < 0) cli_out_of_memory();
    if (path) cli_path_stands_for(path, "-");
    return path;
}

static void own_path(struct cli_args *args, size_t operand, char *path)
{
    args->owned = realloc(args->owned, (args->owned_count + 1) * sizeof *args->owned);
    if (!args->owned) cli_out_of_memory();
    args->owned[args->owned_count++] = path;
    args->operands[operand] = path;
}

/* The remote is kept until the command ends. */
static int fetch_operand(struct cli_args *args, size_t operand)
{
    int status = CLI_OK;
    struct shapeproof_remote *remote = cli_fetch(args, args->operands[operand], &status);
    if (!remote) return status;
    args->remotes = realloc(args->remotes, (args->remote_count + 1) * sizeof *args->remotes);
    if (!args->remotes) cli_out_of_memory();
    args->remotes[args->remote_count++] = remote;
    args->operands[operand] = shapeproof_remote_path(remote);
    return CLI_OK;
}

/* Whether each model in the folder is checked: it has steps, or adapters in folders beside an adapter of its own, as
 * PEFT saves several. */
static bool has_several_models(const struct shapeproof_run *run)
{
    size_t adapters = 0;
    bool has_own = false;
    for (size_t i = 0; i < shapeproof_run_model_count(run); i++) {
        const struct shapeproof_run_model *model = shapeproof_run_model(run, i);
        if (model->kind != SHAPEPROOF_RUN_ADAPTER) continue;
        has_own = has_own || strcmp(model->name, ".") == 0;
        adapters++;
    }
    return shapeproof_run_step_count(run) || (has_own && adapters > 1);
}

/* Opens the run in the folder, for a command that goes through its steps. Returns CLI_OK, or complains of a folder that
 * cannot be listed and returns the exit status. A folder that is no run, or is too large for one, is left to the
 * readers; so are all in a page, where no process can check a model. */
static int open_run(struct cli_args *args, const char *path)
{
    struct shapeproof_error error = {0};
    if (!args->command->runs || !sp_pool_has_processes) return CLI_OK;
    args->run = shapeproof_run_open(path, &error);
    if (args->run && has_several_models(args->run)) return CLI_OK;
    shapeproof_run_close(args->run);
    args->run = NULL;
    return error.kind == SHAPEPROOF_KIND_IO ? cli_path_error(path, &error) : CLI_OK;
}

static int find_checkpoints(struct cli_args *args)
{
    bool taken = false;
    for (size_t i = 0; args->command->checkpoints && i < args->operand_count; i++) {
        if (shapeproof_is_remote(args->operands[i])) {
            int status = fetch_operand(args, i);
            if (status == CLI_OK) status = open_run(args, args->operands[i]);
            if (status != CLI_OK) return status;
            continue;
        }
        const bool resumes = cli_flag_alone(args, "resume"), input = strcmp(args->operands[i], "-") == 0;
        if (input && taken) return cli_usage_error(NULL, "%s: standard input is asked for twice", args->command->name);
        const int opened = resumes ? CLI_OK : open_run(args, args->operands[i]);
        if (opened != CLI_OK) return opened;
        const bool as_given = resumes || args->run;
        char *path = input ? spool_input() : as_given ? NULL : shapeproof_checkpoint_path(args->operands[i]);
        if (input && !path) return CLI_FILE;
        if (path) {
            own_path(args, i, path);
            const int status = open_run(args, path); /* the path may lead to another folder */
            if (status != CLI_OK) return status;
        }
        taken = taken || input;
    }
    return CLI_OK;
}

int cli_run_found(struct cli_args *args, int (*run)(const struct cli_args *))
{
    struct shapeproof_error error = {0};
    int status = find_checkpoints(args);
    if (status != CLI_OK) return status;
    status = run(args);
    for (size_t i = 0; i < args->remote_count; i++)
        if (!shapeproof_remote_confirm(args->remotes[i], &error)) {
            cli_discard_outputs();
            return cli_error(&error);
        }
    return status;
}
