/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* All that are open, for the handler of signals. */
static struct cli_file *open_files;
/* The process that made them: the processes of --list leave them alone. */
static pid_t owner;

void cli_remove_temporary_files(void)
{
    for (const struct cli_file *file = open_files; file && getpid() == owner; file = file->next)
        if (file->temporary) unlink(file->temporary);
}

/* Ends by the signal as without this handler. */
static void end_by_signal(int number)
{
    cli_remove_temporary_files();
    signal(number, SIG_DFL);
    raise(number);
}

/* Signals that are ignored, as under nohup, stay so. */
static void handle_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct sigaction action = {.sa_handler = end_by_signal}, before;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

/* The path with symbolic links resolved; of a file that does not exist yet, those of its folder. As it is when the
 * folder does not exist either. */
static char *resolve(const char *path)
{
    char *resolved = realpath(path, NULL);
    if (resolved) return resolved;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = strndup(slash ? path : ".", slash ? (size_t)(name - path) : 1);
    char *real = folder ? realpath(folder, NULL) : NULL;
    if ((real ? asprintf(&resolved, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name)
              : asprintf(&resolved, "%s", path)) < 0)
        cli_out_of_memory();
    free(folder);
    free(real);
    return resolved;
}

/* Makes "DIR/.NAME.XXXXXX" with the permissions that FILE has, or that a new file gets. -1 with errno set. */
static int open_temporary(struct cli_file *file, const struct stat *existing)
{
    const char *slash = strrchr(file->path, '/');
    const int folder = slash ? (int)(slash + 1 - file->path) : 0;
    if (asprintf(&file->temporary, "%.*s.%s.XXXXXX", folder, file->path, file->path + folder) < 0) cli_out_of_memory();
    const int fd = mkostemp(file->temporary, O_CLOEXEC);
    if (fd < 0) {
        free(file->temporary);
        file->temporary = NULL;
        return -1;
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, existing ? existing->st_mode & 0777 : 0666 & ~mask); /* else it is readable for its owner alone */
    return fd;
}

/* Whether an existing file is a folder that stands in for a closed standard stream (fill_closed_streams). */
static bool is_closed_stream(const struct stat *existing)
{
    struct stat stream;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (S_ISDIR(existing->st_mode) && fstat(fd, &stream) == 0 && stream.st_dev == existing->st_dev &&
            stream.st_ino == existing->st_ino)
            return true;
    return false;
}

int cli_open_file(struct cli_file *file, const char *path, int *status)
{
    struct stat existing;
    const bool exists = stat(path, &existing) == 0, is_direct = exists && !S_ISREG(existing.st_mode);
    file->name = path;
    file->path = resolve(path);
    for (const struct cli_file *other = open_files; other && !is_direct; other = other->next)
        if (strcmp(other->path, file->path) == 0) {
            *status = cli_usage_error(NULL, "two reports cannot go to one file: %s", path);
            return -1;
        }
    const int fd =
        is_direct ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : open_temporary(file, exists ? &existing : NULL);
    if (fd < 0) {
        if (is_direct && is_closed_stream(&existing)) errno = EBADF;
        *status = cli_complain(CLI_FILE, NULL, "%s: %s: %s", path, is_direct ? "open" : "mkostemp", strerror(errno));
        return -1;
    }
    if (!open_files) handle_signals();
    owner = getpid();
    file->next = open_files;
    open_files = file;
    return fd;
}

bool cli_finish_file(struct cli_file *file, bool keep_old)
{
    bool done = true;
    if (file->temporary && !keep_old) done = rename(file->temporary, file->path) == 0;
    const int why = errno;
    if (file->temporary && (keep_old || !done)) unlink(file->temporary);
    free(file->temporary);
    file->temporary = NULL;
    errno = why;
    return done;
}
