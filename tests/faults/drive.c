/* SPDX-License-Identifier: MIT
 * Runs commands again and again; in each run another call of the system fails (inject.c). Prints, for each command and
 * kind of call, how the runs ended:
 *
 *   right   with the same status and output as without a fault;
 *   error   with a documented status, and a message that names the cause: "out of memory", or in one line the call that
 *           failed and the text of errno;
 *   other   anything else: without a word, by a signal, with another cause or another answer;
 *   idle    no call has failed, because the run made fewer calls than the run without a fault.
 *
 * A command must succeed without a fault; otherwise its runs would prove nothing.
 *
 *   drive SHAPEPROOF INJECT.so MOST <COMMANDS
 *
 * INJECT.so is "-" if inject.c is linked into SHAPEPROOF. COMMANDS has the arguments of a command in each line. MOST is
 * how many runs of one command have a call of the same kind fail; they are spread evenly over all calls. With MESSAGES
 * in the environment, each line that names a cause is printed. The exit status is 1 if a run has ended as `other`, or a
 * command does not succeed. */
#define _GNU_SOURCE
#include "plan.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *name;
    int error;
} faults[FAULTS] = {
    [FAULT_MEMORY] = {"memory", ENOMEM}, [FAULT_READ] = {"read", EIO},    [FAULT_STAT] = {"stat", EIO},
    [FAULT_OPEN] = {"open", EMFILE},     [FAULT_FORK] = {"fork", EAGAIN}, [FAULT_PIPE] = {"pipe", ENFILE},
    [FAULT_POLL] = {"poll", EINVAL},     [FAULT_WAIT] = {"wait", ECHILD}, [FAULT_WRITE] = {"write", ENOSPC},
};

/* How messages name a call, if not by its own name. A call with two names is there twice. */
static const struct {
    const char *call, *name;
} names[] = {
    {"faccessat", "access"}, {"fdopendir", "open"},  {"fopen", "open"},  {"fstat64", "fstat"},     {"fstatat", "lstat"},
    {"fstatat", "stat"},     {"mkdirat", "mkdir"},   {"open64", "open"}, {"openat", "open"},       {"openat64", "open"},
    {"opendir", "open"},     {"pipe2", "pipe"},      {"ppoll", "poll"},  {"pread", "read"},        {"pread64", "read"},
    {"pwrite64", "pwrite"},  {"renameat", "rename"}, {"stat64", "stat"}, {"readdir64", "readdir"},
};

enum { MOST_WORDS = 64, MOST_SHOWN = 3, SECONDS = 10, LAST_STATUS = 5 };
enum { STATUS_DIFFERS = 1 }; /* with 0 the only statuses of a command that has done its work */

enum outcome { RIGHT, ERROR, OTHER, IDLE, OUTCOMES };

struct run {
    int status; /* as waitpid has it */
    char *output, *messages;
};

static struct plan *plan;
static int plan_fd;

static void give_up(const char *what)
{
    perror(what);
    exit(2);
}

/* All that the file holds, from its start; free() it. */
static char *text_of(int fd)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    if (!text || pread(fd, text, (size_t)size, 0) != size) give_up("output");
    return text;
}

static int new_file(void)
{
    const int fd = memfd_create("output", MFD_CLOEXEC);
    if (fd < 0) give_up("memfd_create");
    return fd;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

/* Removes the cache of the command, so that each run fetches. */
static void empty_cache(void)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    if (cache) nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Runs the command while the plan holds; SIGALRM ends one that hangs. */
static struct run run_command(char **words, const char *library)
{
    const int output = new_file(), messages = new_file();
    empty_cache();
    const pid_t pid = fork();
    struct run run = {0};
    if (pid < 0) give_up("fork");
    if (pid == 0) {
        char fd[16];
        const int nothing = open("/dev/null", O_RDONLY), kept = dup(plan_fd);
        snprintf(fd, sizeof fd, "%d", kept);
        setenv(PLAN_FD, fd, 1);
        if (strcmp(library, "-") != 0) setenv("LD_PRELOAD", library, 1);
        dup2(nothing, STDIN_FILENO);
        dup2(output, STDOUT_FILENO);
        dup2(messages, STDERR_FILENO);
        alarm(SECONDS);
        execv(words[0], words);
        _exit(127);
    }
    while (waitpid(pid, &run.status, 0) < 0 && errno == EINTR) continue;
    run.output = text_of(output);
    run.messages = text_of(messages);
    close(output);
    close(messages);
    return run;
}

static void free_run(struct run *run)
{
    free(run->output);
    free(run->messages);
}

static struct run run_with_fault(char **words, const char *library, enum fault fault, unsigned at)
{
    plan->fault = (int)fault;
    plan->error = faults[fault].error;
    plan->at = at;
    atomic_store(&plan->calls, 0);
    atomic_store(&plan->fired, 0);
    memset(plan->call, 0, sizeof plan->call);
    return run_command(words, library);
}

/* Whether `word` stands somewhere from `text` to `end`, with no letter or digit beside it. */
static bool has_word(const char *text, const char *end, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; end - at >= (ptrdiff_t)length; at++)
        if (memcmp(at, word, length) == 0 && (at == text || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

/* Whether the text up to `end` names the call that has failed. */
static bool has_call(const char *text, const char *end)
{
    if (has_word(text, end, plan->call)) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].call, plan->call) == 0 && has_word(text, end, names[i].name)) return true;
    return false;
}

/* The line of the text that names the cause: that memory ran out; or the call, and behind it the reason. NULL if there
 * is none. */
static const char *line_of_cause(const char *text, enum fault fault)
{
    const char *why = strerror(faults[fault].error);
    while (*text) {
        const char *end = text + strcspn(text, "\n"), *reason = strstr(text, why),
                   *memory = strstr(text, "out of memory");
        if (fault == FAULT_MEMORY && memory && memory < end) return text;
        if (reason && reason < end && (fault == FAULT_MEMORY || has_call(text, reason))) return text;
        text = end + (*end == '\n');
    }
    return NULL;
}

/* The line of a message or, with --list, of the output that names the cause. */
static const char *cause_of(const struct run *run, enum fault fault)
{
    const char *line = line_of_cause(run->messages, fault);
    return line ? line : line_of_cause(run->output, fault);
}

static enum outcome outcome_of(const struct run *run, const struct run *sound, enum fault fault)
{
    if (!atomic_load(&plan->fired)) return IDLE;
    if (run->status == sound->status && strcmp(run->output, sound->output) == 0 &&
        strcmp(run->messages, sound->messages) == 0)
        return RIGHT;
    const int status = WIFEXITED(run->status) ? WEXITSTATUS(run->status) : -1;
    return status >= 1 && status <= LAST_STATUS && cause_of(run, fault) ? ERROR : OTHER;
}

/* Says how a run ended that should not have. */
static void show_other(char **words, enum fault fault, unsigned at, const struct run *run)
{
    printf("    %s %u, %s:", faults[fault].name, at, plan->call);
    for (char **word = words + 1; *word; word++) printf(" %s", *word);
    if (WIFSIGNALED(run->status)) printf(": ended by signal %d", WTERMSIG(run->status));
    else printf(": status %d", WEXITSTATUS(run->status));
    printf(", %s\n", *run->messages ? "with the message" : "without a message");
    for (const char *line = run->messages; *line;) {
        const size_t length = strcspn(line, "\n");
        printf("        %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* Whether the command succeeds while no call fails; otherwise says how it ends. */
static bool succeeds(char **words, const char *library)
{
    struct run run = run_with_fault(words, library, FAULT_MEMORY, 0);
    const bool ok = WIFEXITED(run.status) && WEXITSTATUS(run.status) <= STATUS_DIFFERS;
    if (!ok) printf("    fails without a fault: %s\n", run.messages);
    free_run(&run);
    return ok;
}

/* Lets each call of that kind fail in turn, at most `most` of them; how many runs ended in which way. */
static void try_fault(char **words, const char *library, enum fault fault, unsigned most, unsigned counts[OUTCOMES])
{
    struct run sound = run_with_fault(words, library, fault, 0);
    const unsigned calls = atomic_load(&plan->calls), runs = calls < most ? calls : most;
    for (unsigned i = 0; i < runs; i++) {
        const unsigned at = 1 + (unsigned)((unsigned long long)i * calls / runs);
        struct run run = run_with_fault(words, library, fault, at);
        const enum outcome outcome = outcome_of(&run, &sound, fault);
        if (outcome == OTHER && counts[OTHER] < MOST_SHOWN) show_other(words, fault, at, &run);
        if (outcome == ERROR && getenv("MESSAGES")) {
            const char *line = cause_of(&run, fault);
            printf("    message %s: %.*s\n", plan->call, (int)strcspn(line, "\n"), line);
        }
        counts[outcome]++;
        free_run(&run);
    }
    free_run(&sound);
}

int main(int argc, char **argv)
{
    char line[1024];
    unsigned totals[FAULTS][OUTCOMES] = {0}, others = 0, passed = 0, broken = 0;
    if (argc != 4) {
        fputs("usage: drive SHAPEPROOF INJECT.so MOST <COMMANDS\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    plan_fd = memfd_create("plan", MFD_CLOEXEC);
    if (plan_fd < 0 || ftruncate(plan_fd, sizeof *plan) != 0) give_up("plan");
    plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, plan_fd, 0);
    if (plan == MAP_FAILED) give_up("mmap");
    while (fgets(line, sizeof line, stdin)) {
        char *words[MOST_WORDS + 1] = {argv[1]};
        size_t count = 1;
        if (*line == '#' || *line == '\n') continue;
        line[strcspn(line, "\n")] = '\0';
        printf("%s\n   ", line);
        char shown[sizeof line];
        memcpy(shown, line, sizeof line);
        for (char *word = strtok(line, " "); word && count < MOST_WORDS; word = strtok(NULL, " "))
            words[count++] = word;
        printf("\n");
        if (!succeeds(words, argv[2])) {
            broken++;
            continue;
        }
        for (int fault = 0; fault < FAULTS; fault++) {
            unsigned counts[OUTCOMES] = {0};
            try_fault(words, argv[2], (enum fault)fault, (unsigned)atoi(argv[3]), counts);
            for (int i = 0; i < OUTCOMES; i++) totals[fault][i] += counts[i];
            if (counts[RIGHT] + counts[ERROR] + counts[OTHER] + counts[IDLE])
                printf("    %-8s right %3u  error %3u  other %3u  idle %3u\n", faults[fault].name, counts[RIGHT],
                       counts[ERROR], counts[OTHER], counts[IDLE]);
        }
    }
    puts("\nall commands\n  call      right   error   other    idle");
    for (int fault = 0; fault < FAULTS; fault++) {
        printf("  %-8s %6u  %6u  %6u  %6u\n", faults[fault].name, totals[fault][RIGHT], totals[fault][ERROR],
               totals[fault][OTHER], totals[fault][IDLE]);
        passed += totals[fault][RIGHT] + totals[fault][ERROR];
        others += totals[fault][OTHER];
    }
    if (broken) printf("%u commands fail without a fault\n", broken);
    printf("%u passed, %u failed\n", passed, others + broken);
    return others + broken != 0;
}
