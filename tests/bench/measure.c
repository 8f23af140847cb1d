/* SPDX-License-Identifier: MIT
 * Runs a command RUNS times, its output thrown away, and prints "WALL_MS USER_MS PEAK_KB": the medians of the times
 * by the clock and on the processor outside of the kernel, and the most memory.
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

/* Both times of one run; exits when the command fails, because a failure has no time worth knowing. */
static void run(char **command, double *wall, double *user, long *peak_kb)
{
    struct rusage usage;
    int status;
    const double start = now_ms();
    const pid_t child = fork();
    if (child == 0) become(command);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) exit(1);
    if (usage.ru_maxrss > *peak_kb) *peak_kb = usage.ru_maxrss;
    *wall = now_ms() - start;
    *user = (double)usage.ru_utime.tv_sec * 1e3 + (double)usage.ru_utime.tv_usec / 1e3;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double wall[MAX_RUNS], user[MAX_RUNS];
    long peak_kb = 0;
    const long runs = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    if (runs < 1 || runs > MAX_RUNS) {
        fprintf(stderr, "usage: measure RUNS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    for (long i = 0; i < runs; i++) run(argv + 2, &wall[i], &user[i], &peak_kb);
    qsort(wall, (size_t)runs, sizeof *wall, ascending);
    qsort(user, (size_t)runs, sizeof *user, ascending);
    printf("%.1f %.1f %ld\n", wall[runs / 2], user[runs / 2], peak_kb);
    return 0;
}
