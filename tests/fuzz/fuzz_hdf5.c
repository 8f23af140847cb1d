/* SPDX-License-Identifier: MIT
 * The bytes as an HDF5 file, or as a file that contains one. In the library, libhdf5 reads each file in a new process.
 * To fork libFuzzer's process takes longer than reading the input, and so does opening libhdf5. Here a server, in which
 * libhdf5 is open, forks a worker, which reads up to WORKER_INPUTS inputs, one after another. If libhdf5 crashes, exits
 * or needs too much time, the input counts as refused, and the server forks a new worker. A fault in code of this
 * project is a finding. What code the worker executes is added to the counters of libFuzzer. The worker is not
 * confined: tests/read/test_sandbox.c is for that. fuzz_hdf5_wire.c is for what the process sends. */
#define FUZZ_MEMORY_FLOOR FUZZ_MEMORY_INFLATED
#include "fuzz.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "mutate_hdf5.h"
#include "read/hdf5/sandbox.h"

static bool run_nearby(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error);

#define sp_sandbox_run run_nearby
#include "read/hdf5/index.c"
#undef sp_sandbox_run

/* Of the sanitizers; absent in other builds. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));
__attribute__((weak)) int __asan_report_present(void);
__attribute__((weak)) void *__asan_get_report_pc(void);
/* To symbolize the report of each crash of libhdf5, which nobody reads, takes most of the time. To read the report of a
 * finding, set ASAN_OPTIONS=symbolize=1. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) { return "symbolize=0"; }

/* Begin and end of the counters of libFuzzer, and of a table that has for each of them an address in the code, and
 * flags. The compiler cannot refer to these names in C where it declares them itself. */
#ifdef FUZZ_TIMED
__asm__(
    ".pushsection .data.rel, \"aw\"\n"
    ".hidden fuzz_coverage\n"
    ".balign 8\n"
    "fuzz_coverage: .quad __start___sancov_cntrs, __stop___sancov_cntrs, __start___sancov_pcs, __stop___sancov_pcs\n"
    ".popsection");
extern __attribute__((visibility("hidden"))) const struct {
    uint8_t *counters, *counters_end;
    const uintptr_t *places, *places_end;
} fuzz_coverage;
#else
static const struct {
    uint8_t *counters, *counters_end;
    const uintptr_t *places, *places_end;
} fuzz_coverage;
#endif

/* Of processor time, for an input in the worker, which takes a millisecond. libhdf5 loops for ever on one input in 300:
 * a limit of 250 gives these most of the time. */
enum { WORKER_MILLISECONDS = 50 };

enum {
    WORKER_INPUTS = 1000, /* objects that libhdf5 does not release add up in a worker */
    /* What a worker ends with. Anything else is a failure on the input, 0 as well: libhdf5 has ended the process. */
    WORKER_DONE = 66,  /* every input that was read is answered */
    WORKER_FAULT = 67, /* a fault in code of this project */
    WORKER_ENDED = 68  /* the pipe is closed */
};

/* The process in which libhdf5 is open. Its worker takes a source and answers with 0 when it has walked the source;
 * otherwise the server answers with the status with which the worker has ended. */
static struct {
    int input, results; /* files in memory, shared with it */
    int give, take;     /* pipes to it, and from it */
    /* In memory shared with it: whether the worker has answered, and how often it came to each place of the code. */
    uint8_t *answered, *counters;
} server;

static size_t counter_count(void) { return (size_t)(fuzz_coverage.counters_end - fuzz_coverage.counters); }

/* ---- the worker ---- */

/* The code of this project: from the first to the last place that is counted for libFuzzer. The table has pairs of an
 * address and flags. */
static bool is_own_code(uintptr_t pc)
{
    uintptr_t first = UINTPTR_MAX, last = 0;
    for (const uintptr_t *at = fuzz_coverage.places; at < fuzz_coverage.places_end; at += 2) {
        if (*at < first) first = *at;
        if (*at > last) last = *at;
    }
    return pc >= first && pc <= last;
}

/* A sanitizer has found something. UndefinedBehaviorSanitizer has no reports about libhdf5. */
static void end_by_report(void)
{
    const bool is_address = __asan_report_present && __asan_report_present();
    if (!is_address || is_own_code((uintptr_t)__asan_get_report_pc())) _exit(WORKER_FAULT);
}

/* A signal of a fault. That of abort does not tell whose fault it is: the checks of buffers in libhdf5 call it, too. */
static void end_by_signal(int number, siginfo_t *info, void *context)
{
    bool is_own = false;
    (void)info, (void)context;
#ifdef REG_RIP
    is_own = is_own_code((uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]);
#endif
    if (is_own) _exit(WORKER_FAULT);
    raise(number); /* SA_RESETHAND: as if it had not been handled */
}

static void watch_faults(void)
{
    static char stack[64 * 1024]; /* bytes: libhdf5 can use up the other one */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    const struct sigaction action = {.sa_sigaction = end_by_signal,
                                     .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_SIGINFO)};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigaction(faults[i], &action, NULL);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(end_by_report);
}

/* The limits of the sandbox that hold for all inputs of a worker together. */
static void limit_worker(void)
{
    const uint64_t output = (uint64_t)SP_SANDBOX_OUTPUT_MIB << 20;
    const uint64_t memory = sp_system_address_space() + ((uint64_t)SP_SANDBOX_MEMORY_MIB << 20);
    sp_child_limit(RLIMIT_FSIZE, output, output);
    sp_child_limit(RLIMIT_AS, memory, memory);
}

/* Limits the processor time of what follows: SIGPROF ends the worker. 0: no limit. */
static void limit_time(int milliseconds)
{
    const struct itimerval time = {.it_value = {.tv_usec = milliseconds * 1000}};
    fuzz_must(setitimer(ITIMER_PROF, &time, NULL) == 0);
}

/* Closes the file, and with it all objects that libhdf5 has opened in it. False if that fails. */
static bool close_file(void)
{
    hid_t file;
    const ssize_t count = H5Fget_obj_ids(H5F_OBJ_ALL, H5F_OBJ_FILE, 1, &file);
    return count == 0 || (count == 1 && H5Fclose(file) >= 0 && H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
}

/* Walks the source, and releases the memory of the walk as that of a call that has failed (fuzz_undone). Sets *done,
 * unless the call itself has failed. */
static void walk_source(struct sp_h5_source *source, bool *done)
{
    SP_CALL(NULL, );
    sp_h5_walk(source, server.results);
    *done = true;
    sp_call_unwind();
}

/* Answers, and only then closes the file: libhdf5 may crash on that. */
static void work(int take, int give)
{
    struct sp_h5_source source;
    const int well = 0;
    watch_faults();
    limit_worker();
    H5set_free_list_limits(-1, -1, -1, -1, -1, -1); /* libhdf5 keeps what it frees: the cache of a file has 0.5 MB */
    for (int i = 0; i < WORKER_INPUTS; i++) {
        bool done = false;
        if (read(take, &source, sizeof source) != sizeof source) _exit(WORKER_ENDED);
        *server.answered = false;
        limit_time(WORKER_MILLISECONDS);
        errno = 0; /* as in the library: ENOMEM then is of this walk */
        if (counter_count()) memset(fuzz_coverage.counters, 0, counter_count());
        walk_source(&source, &done);
        if (counter_count()) memcpy(server.counters, fuzz_coverage.counters, counter_count());
        if (!done) _exit(0);
        limit_time(0);
        *server.answered = true;
        if (write(give, &well, sizeof well) != sizeof well) _exit(WORKER_ENDED);
        limit_time(WORKER_MILLISECONDS);
        if (!close_file()) break;
    }
    _exit(WORKER_DONE);
}

/* ---- the server ---- */

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
    for (;;) {
        *server.answered = true; /* there is no input yet */
        const pid_t pid = fork();
        if (pid == 0) work(take, give);
        if (pid < 0 || waitpid(pid, &status, 0) != pid) break;
        if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_ENDED) break;
        if (*server.answered) continue;
        if (!status) status = -1;
        if (write(give, &status, sizeof status) != sizeof status) break;
    }
    _exit(0);
}

/* ---- libFuzzer's process ---- */

/* Adds what the worker counted to the counters of libFuzzer. Most counters are 0. */
static void add_counters(void)
{
    const size_t count = counter_count();
    for (size_t i = 0; i < count; i++) {
        uint64_t next = 1;
        if (count - i >= sizeof next) memcpy(&next, server.counters + i, sizeof next);
        if (!next) i += sizeof next - 1;
        else if (server.counters[i]) {
            const unsigned sum = (unsigned)fuzz_coverage.counters[i] + server.counters[i];
            fuzz_coverage.counters[i] = sum > UINT8_MAX ? UINT8_MAX : (uint8_t)sum;
        }
    }
}

static void start_server(int input)
{
    int asked[2], answered[2];
    server.answered = mmap(NULL, 1 + counter_count(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fuzz_must(server.answered != MAP_FAILED);
    server.counters = server.answered + 1;
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

/* Whether the worker has walked the source. After a fault in code of this project the source is walked in this process,
 * where the sanitizers report the fault. */
static bool walk_nearby(const struct sp_h5_source *source)
{
    struct sp_h5_source again = *source;
    int status;
    ssize_t got;
    fuzz_must(write(server.give, source, sizeof *source) == sizeof *source);
    do got = read(server.take, &status, sizeof status);
    while (got < 0 && errno == EINTR); /* by a timer of libFuzzer */
    fuzz_must(got == sizeof status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_FAULT) {
        if (sp_h5_prepare(&again)) sp_h5_walk(&again, server.results);
        abort();
    }
    if (status == 0) add_counters();
    return status == 0;
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
    if (!walk_nearby(&source))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED, "the worker has ended");
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
