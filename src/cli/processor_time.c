/* SPDX-License-Identifier: MIT
 * A limit of processor time that the system sets (ulimit -t) ends the command with a message and a status. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"

static pid_t command; /* the process that was started; others are its children */

/* A child ends by the signal, which tells the command what happened. */
static void end_without_time(int number)
{
    static const char message[] = "shapeproof: out of processor time: the limit of the system (ulimit -t)\n";
    if (getpid() != command) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    cli_remove_temporary_files();
    const ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(CLI_FILE);
}

/* The system sends a signal at the soft limit, and kills the process at the hard one. `ulimit -t` sets both to one
 * number; then the soft limit becomes a second less. A hard limit of one second leaves no time for a signal. */
void cli_expect_processor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    if (limit.rlim_cur == limit.rlim_max && limit.rlim_max > 1) {
        limit.rlim_cur--;
        setrlimit(RLIMIT_CPU, &limit);
    }
    command = getpid();
    signal(SIGXCPU, end_without_time);
}
