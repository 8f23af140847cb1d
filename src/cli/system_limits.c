/* SPDX-License-Identifier: MIT
 * Limits of the system that end the command with a message and a status: of processor time (ulimit -t), and of the
 * stack (ulimit -s). */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"

static pid_t command; /* the process that was started; others are its children */

#define MESSAGE "out of processor time: the limit of the system (ulimit -t)"

/* Ends early if it fails: there is no other place to report that. */
static void write_text(int fd, const char *text, size_t length)
{
    ssize_t written;
    for (size_t done = 0; done < length && (written = write(fd, text + done, length - done)) > 0;)
        done += (size_t)written;
}

/* The document of --json as shapeproof_report_error writes it, which needs memory and so is not for a handler. */
static void write_document(void)
{
    static const char document[] =
        "{\n  \"schema\": \"shapeproof.error/1\",\n  \"status\": 4,\n  \"code\": \"limit\",\n"
        "  \"message\": \"" MESSAGE "\"\n}\n";
    static const char line[] = "{\"schema\": \"shapeproof.error/1\", \"status\": 4, \"code\": \"limit\", "
                               "\"message\": \"" MESSAGE "\"}\n";
    bool is_folded;
    if (!cli_can_begin_json(&is_folded)) return;
    write_text(STDOUT_FILENO, is_folded ? line : document, is_folded ? sizeof line - 1 : sizeof document - 1);
}

/* A child ends by the signal, which tells the command what happened. */
static void end_without_time(int number)
{
    static const char message[] = "shapeproof: " MESSAGE "\n";
    if (getpid() != command) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    cli_remove_temporary_files();
    write_text(STDERR_FILENO, message, sizeof message - 1);
    write_document();
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

/* What a table of 1,000 nested definitions takes, with room for what the system itself puts there. */
enum { STACK_MIB = 2 };

/* The soft limit becomes what the command may need. A hard limit that is lower would end it by a signal, at a place
 * that depends on the input. */
bool cli_expect_stack_limit(void)
{
    static const rlim_t need = (rlim_t)STACK_MIB << 20;
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= need) return true;
    const bool is_low = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need;
    limit.rlim_cur = need;
    if (!is_low && setrlimit(RLIMIT_STACK, &limit) == 0) return true;
    cli_complain(CLI_FILE, NULL, "the stack has less than %d MiB: the limit of the system (ulimit -s)", STACK_MIB);
    return false;
}
