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

static struct {
    char *path;      /* FILE, with symbolic links resolved; NULL without --output */
    char *temporary; /* NULL where FILE is written directly, or the output was discarded */
    pid_t owner;     /* the process that made it: the processes of --list leave it alone */
} output;

/* Removes the temporary file, and ends by the signal as without this handler. */
static void end_by_signal(int number)
{
    if (output.temporary && getpid() == output.owner) unlink(output.temporary);
    signal(number, SIG_DFL);
    raise(number);
}

/* Signals that are ignored, as under nohup, stay so. */
static void handle_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
    struct sigaction action = {.sa_handler = end_by_signal}, before;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

/* Makes "DIR/.NAME.XXXXXX" with the permissions that FILE has, or that a new file gets. -1 with errno set. */
static int open_temporary(const struct stat *existing)
{
    const char *slash = strrchr(output.path, '/');
    const int folder = slash ? (int)(slash + 1 - output.path) : 0;
    if (asprintf(&output.temporary, "%.*s.%s.XXXXXX", folder, output.path, output.path + folder) < 0) abort();
    const int fd = mkostemp(output.temporary, O_CLOEXEC);
    if (fd < 0) {
        free(output.temporary);
        output.temporary = NULL;
        return -1;
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, existing ? existing->st_mode & 0777 : 0666 & ~mask); /* else it is readable for its owner alone */
    return fd;
}

bool cli_redirect_output(const char *path)
{
    struct stat file;
    const bool exists = stat(path, &file) == 0;
    output.path = realpath(path, NULL);
    if (!output.path && !(output.path = strdup(path))) abort();
    output.owner = getpid();
    const bool is_direct = exists && !S_ISREG(file.st_mode);
    const int fd = is_direct ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : open_temporary(exists ? &file : NULL);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        cli_complain(CLI_FILE, NULL, "%s: cannot write: %s", path, strerror(errno));
        cli_discard_output();
        return false;
    }
    close(fd);
    handle_signals();
    return true;
}

void cli_discard_output(void)
{
    if (output.temporary) unlink(output.temporary);
    free(output.temporary);
    output.temporary = NULL;
}

const char *cli_output_path(void) { return output.path; }

bool cli_finish_output(bool is_written)
{
    struct stat file;
    bool done = is_written;
    if (output.temporary && is_written && stat(output.temporary, &file) == 0 && file.st_size > 0)
        done = rename(output.temporary, output.path) == 0;
    else if (output.temporary) unlink(output.temporary);
    const int why = errno;
    if (output.temporary && !done) unlink(output.temporary);
    free(output.temporary);
    free(output.path);
    output.temporary = output.path = NULL;
    errno = why;
    return done;
}
