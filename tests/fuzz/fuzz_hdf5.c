/* SPDX-License-Identifier: MIT
 * The bytes as an HDF5 file, or as a file that contains one. libhdf5 runs in a process of its own for each input. This
 * process is forked from a small one in which libhdf5 is ready: to fork libFuzzer's takes longer than the input itself,
 * and so does opening libhdf5. The process is not confined: tests/read/test_sandbox.c is for that. Where it does not
 * end well, the input runs again as in the library. fuzz_hdf5_wire.c is for what the process sends. */
#define FUZZ_MEMORY_FLOOR FUZZ_MEMORY_INFLATED
#include "fuzz.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "mutate_hdf5.h"
#include "read/hdf5/sandbox.h"

static bool run_nearby(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error);

#define sp_sandbox_run run_nearby
#include "read/hdf5/index.c"
#undef sp_sandbox_run

/* Of the sanitizers; absent in other builds. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

/* The process in which libhdf5 is ready. It takes a source, and gives the status of the process that has walked it. */
static struct {
    int input, results; /* files in memory, shared with it */
    int give, take;     /* pipes to it, and from it */
} server;

/* The limits of the sandbox. */
static void limit_child(void)
{
    const uint64_t output = (uint64_t)SP_SANDBOX_OUTPUT_MIB << 20;
    const uint64_t memory = sp_system_address_space() + ((uint64_t)SP_SANDBOX_MEMORY_MIB << 20);
    sp_child_limit(RLIMIT_CPU, SP_SANDBOX_CPU_SECONDS, SP_SANDBOX_CPU_SECONDS + 1);
    sp_child_limit(RLIMIT_FSIZE, output, output);
    sp_child_limit(RLIMIT_AS, memory, memory);
}

/* Serves until the pipe is closed. */
static void serve(int take, int give)
{
    const int keep[] = {take, give, server.input, server.results};
    struct sp_h5_source source;
    int status;
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(NULL); /* libFuzzer's, which writes the input */
    sp_call_forget();
    sp_child_isolate(keep, sizeof keep / sizeof *keep);
    if (!sp_h5_prepare(&source)) _exit(1);
    while (read(take, &source, sizeof source) == sizeof source) {
        const pid_t pid = fork();
        if (pid == 0) {
            limit_child();
            sp_h5_walk(&source, server.results);
            _exit(0);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid) status = -1;
        if (write(give, &status, sizeof status) != sizeof status) break;
    }
    _exit(0);
}

static void start_server(int input)
{
    int asked[2], answered[2];
    server.input = input;
    server.results = memfd_create("results", MFD_CLOEXEC);
    fuzz_must(server.results >= 0 && pipe(asked) == 0 && pipe(answered) == 0);
    signal(SIGPIPE, SIG_IGN); /* a write to a server that has ended fails, and that is told */
    const pid_t pid = fork();
    fuzz_must(pid >= 0);
    if (pid == 0) serve(asked[0], answered[1]);
    close(asked[0]);
    close(answered[1]);
    server.give = asked[1];
    server.take = answered[0];
}

/* The status of the process that has walked the source. */
static int walk_nearby(const struct sp_h5_source *source)
{
    int status;
    ssize_t got;
    fuzz_must(write(server.give, source, sizeof *source) == sizeof *source);
    do got = read(server.take, &status, sizeof status);
    while (got < 0 && errno == EINTR); /* by a timer of libFuzzer */
    fuzz_must(got == sizeof status);
    return status;
}

static bool is_same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* In place of sp_sandbox_run. What was inflated, into memory or a file of its own, only this process has. */
static bool run_nearby(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error)
{
    struct sp_h5_source source = *(const struct sp_h5_source *)job->context;
    if (!is_same_file(source.fd, server.input)) return sp_sandbox_run(job, bytes, length, error);
    source.fd = server.input;
    fuzz_must(!ftruncate(server.results, 0) && !lseek(server.results, 0, SEEK_SET));
    if (walk_nearby(&source) != 0) return sp_sandbox_run(job, bytes, length, error);
    *length = (size_t)lseek(server.results, 0, SEEK_END);
    *bytes = sp_realloc(NULL, *length ? *length : 1, 1);
    fuzz_must(pread(server.results, *bytes, *length, 0) == (ssize_t)*length);
    return true;
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    if (!server.give) start_server(fuzz_file(data, size));
    if (fuzz_is_hdf5(data, size)) shapeproof_inventory_close(fuzz_open(data, size));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    uint64_t state = seed;
    return hdf5_mutate(data, size, most, &state);
}
