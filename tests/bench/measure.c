/* SPDX-License-Identifier: MIT
 * Runs a command RUNS times, its output thrown away, and prints "MEDIAN_MS PEAK_KB".
 *
 *   measure RUNS COMMAND [ARGUMENT...] */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 1000 };

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void become(char **command)
{
    const int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

/* Wall time of one run; exits when the command fails, because a failure has no time worth knowing. */
static double run(char **command, long *peak_kb)
{
    struct rusage usage;
    int status;
    const double start = now_ms();
    const pid_t child = fork();
    if (child == 0) become(command);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) exit(1);
    if (usage.ru_maxrss > *peak_kb) *peak_kb = usage.ru_maxrss;
    return now_ms() - start;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double times[MAX_RUNS];
    long peak_kb = 0;
    const long runs = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    if (runs < 1 || runs > MAX_RUNS) {
        fprintf(stderr, "usage: measure RUNS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    for (long i = 0; i < runs; i++) times[i] = run(argv + 2, &peak_kb);
    qsort(times, (size_t)runs, sizeof *times, ascending);
    printf("%.1f %ld\n", times[runs / 2], peak_kb);
    return 0;
}
