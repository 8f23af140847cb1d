/* SPDX-License-Identifier: MIT
 * The filters of system calls, for each processor on which the command is built: what a filter allows is asked of its
 * program, which the test runs as the kernel would. So the filter for another processor is tested on this one. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/system/linux.c"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/process/child.h"

enum { MOST_STEPS = 4096, OUT = 7 };

static const struct machine {
    const char *name;
    uint32_t libseccomp, kernel; /* what each of them calls it */
} machines[] = {
    {"x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64},
    {"aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64},
};

static struct sock_filter program[MOST_STEPS];
static size_t program_length;

/* Fills the program with the filter of a child on that processor. */
static void make_program(const struct machine *machine, enum sp_confinement confinement)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    FILE *file = tmpfile();
    assert_true(filter && file);
    if (machine->libseccomp != seccomp_arch_native()) {
        assert_int_equal(seccomp_arch_add(filter, machine->libseccomp), 0);
        assert_int_equal(seccomp_arch_remove(filter, seccomp_arch_native()), 0);
    }
    assert_true(allow_needed(filter));
    assert_true(confinement == SP_CONFINED_TO_READING ? allow_output(filter, OUT) : allow_fetching(filter));
    assert_int_equal(seccomp_export_bpf(filter, fileno(file)), 0);
    seccomp_release(filter);
    assert_int_equal(fseek(file, 0, SEEK_SET), 0);
    program_length = fread(program, sizeof *program, MOST_STEPS, file);
    assert_true(program_length > 0 && program_length < MOST_STEPS);
    fclose(file);
}

/* What the program returns: the part of BPF that libseccomp writes. */
static uint32_t run_program(const struct seccomp_data *call)
{
    uint32_t a = 0, word;
    for (size_t at = 0; at < program_length; at++) {
        const struct sock_filter *step = &program[at];
        switch (step->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_true(step->k + sizeof word <= sizeof *call);
            memcpy(&word, (const char *)call + step->k, sizeof word);
            a = word;
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= step->k;
            break;
        case BPF_JMP | BPF_JA:
            at += step->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += a == step->k ? step->jt : step->jf;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            at += a > step->k ? step->jt : step->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += a >= step->k ? step->jt : step->jf;
            break;
        case BPF_RET | BPF_K:
            return step->k;
        default:
            fail_msg("step %zu: code %x", at, step->code);
        }
    }
    fail_msg("the program does not end");
    return 0;
}

/* Whether the call is allowed on the processor; one that the processor does not have is not. */
static bool allows(const struct machine *machine, const char *name, uint64_t first, uint64_t second, uint64_t third)
{
    const int number = seccomp_syscall_resolve_name_arch(machine->libseccomp, name);
    const struct seccomp_data call = {.nr = number, .arch = machine->kernel, .args = {first, second, third}};
    return number >= 0 && run_program(&call) == SECCOMP_RET_ALLOW;
}

static void a_reader_only_computes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct machine *machine = &machines[i];
        static const char *const needed[] = {
            "read",           "pread64", "lseek", "brk",        "munmap", "mremap", "futex",         "madvise",
            "rt_sigprocmask", "exit",    "close", "exit_group", "getpid", "gettid", "clock_gettime", "sched_yield"};
        static const char *const refused[] = {"execve",
                                              "execveat",
                                              "clone",
                                              "clone3",
                                              "fork",
                                              "vfork",
                                              "ptrace",
                                              "kill",
                                              "socket",
                                              "open",
                                              "openat",
                                              "openat2",
                                              "unlinkat",
                                              "unlink",
                                              "ioctl",
                                              "prctl",
                                              "bpf",
                                              "setrlimit",
                                              "prlimit64",
                                              "sendto",
                                              "mount",
                                              "io_uring_setup",
                                              "process_vm_readv",
                                              "memfd_create",
                                              "dup"};
        make_program(machine, SP_CONFINED_TO_READING);
        for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
            if (!allows(machine, needed[k], 0, 0, 0)) fail_msg("%s: %s is refused", machine->name, needed[k]);
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
            if (allows(machine, refused[k], 0, 0, 0)) fail_msg("%s: %s is allowed", machine->name, refused[k]);
        assert_true(allows(machine, "write", OUT, 0, 0));
        assert_false(allows(machine, "write", OUT + 1, 0, 0));
        assert_false(allows(machine, "write", OUT + (UINT64_C(1) << 32), 0, 0));
        assert_true(allows(machine, "mmap", 0, 4096, PROT_READ | PROT_WRITE));
        assert_false(allows(machine, "mmap", 0, 4096, PROT_READ | PROT_EXEC));
        assert_false(allows(machine, "mprotect", 0, 4096, PROT_EXEC));
        assert_true(allows(machine, "tgkill", (uint64_t)getpid(), 0, 0));
        assert_false(allows(machine, "tgkill", (uint64_t)getppid(), 0, 0));
    }
}

static void a_fetcher_reads_files_and_opens_sockets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct machine *machine = &machines[i];
        static const char *const refused[] = {"execve", "execveat", "fork",  "vfork",  "ptrace",   "kill",   "listen",
                                              "accept", "accept4",  "mount", "unlink", "unlinkat", "openat2"};
        make_program(machine, SP_CONFINED_TO_FETCHING);
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
            if (allows(machine, refused[k], 0, 0, 0)) fail_msg("%s: %s is allowed", machine->name, refused[k]);
        assert_true(allows(machine, "write", 2, 0, 0));
        assert_true(allows(machine, "ppoll", 0, 0, 0));
        assert_true(allows(machine, "openat", 0, 0, O_RDONLY | O_CLOEXEC));
        assert_false(allows(machine, "openat", 0, 0, O_WRONLY));
        assert_false(allows(machine, "openat", 0, 0, O_RDWR | O_CREAT));
        assert_true(allows(machine, "socket", AF_INET, SOCK_STREAM, 0));
        assert_false(allows(machine, "socket", AF_PACKET, SOCK_RAW, 0));
        assert_true(allows(machine, "clone", CLONE_THREAD | CLONE_VM | CLONE_FS, 0, 0));
        assert_false(allows(machine, "clone", 17, 0, 0)); /* SIGCHLD: a process */
    }
}

/* A call with the numbers of another processor: on x86_64 that would be one of 32 bits. */
static void calls_of_another_processor_are_not_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        make_program(&machines[i], SP_CONFINED_TO_READING);
        for (int number = 0; number < 512; number++) {
            const struct seccomp_data call = {.nr = number, .arch = AUDIT_ARCH_I386};
            assert_int_not_equal(run_program(&call), SECCOMP_RET_ALLOW);
        }
    }
}

/* ---- without memory: libseccomp calls these, where they can be replaced (tests/api/test_memory.c) ---- */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#define EXPORTED __attribute__((visibility("default"))) /* so that libseccomp calls it */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static unsigned allocations, failing; /* how many there were; which one fails, from 1 */

static bool is_to_fail(void)
{
    if (++allocations != failing) return false;
    errno = ENOMEM;
    return true;
}

EXPORTED void *malloc(size_t size) { return is_to_fail() ? NULL : __libc_malloc(size); }
EXPORTED void *calloc(size_t count, size_t size) { return is_to_fail() ? NULL : __libc_calloc(count, size); }
EXPORTED void *realloc(void *memory, size_t size) { return is_to_fail() ? NULL : __libc_realloc(memory, size); }

struct made {
    unsigned allocations;
    size_t bytes;
};

/* In a child: makes a filter while one allocation fails. */
static void send_made(const void *context, int out)
{
    struct sp_filter filter;
    /* Those of cmocka would end the child as a test that failed. libseccomp 2.6 frees twice, or reads what it did not
     * get. */
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    failing = *(const unsigned *)context;
    allocations = 0;
    sp_child_make_filter(&filter, SP_CONFINED_TO_READING, OUT);
    const struct made made = {allocations, filter.bytes};
    if (write(out, &made, sizeof made) != (ssize_t)sizeof made) _exit(1);
}

/* The status of that child, as waitpid has it; `made` is for status 0. */
static int make_without(unsigned allocation, struct made *made)
{
    struct sp_child child;
    struct shapeproof_error error;
    assert_true(sp_child_start(&child, send_made, &allocation, &error));
    const ssize_t got = read(child.from, made, sizeof *made);
    while (!child.reaped) sp_child_reap(&child, 0);
    sp_child_finish(&child, false);
    if (child.status == 0) assert_int_equal(got, sizeof *made);
    return child.status;
}

/* The filter has all its rules, or there is none: libseccomp may crash or loop, but the child ends in either case. */
static void a_filter_is_never_made_in_part(void **state)
{
    enum { TRIALS = 12 }; /* one that loops takes a quarter of a second */
    struct made whole, made;
    (void)state;
    assert_int_equal(make_without(0, &whole), 0);
    assert_true(whole.allocations > TRIALS);
    for (unsigned i = 0; i < TRIALS; i++) {
        const unsigned allocation = 1 + i * whole.allocations / TRIALS;
        const int status = make_without(allocation, &made);
        if (WIFEXITED(status) && WEXITSTATUS(status) == SP_CHILD_NO_MEMORY) continue;
        if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGABRT)) continue;
        if (status != 0 || made.bytes != whole.bytes) fail_msg("allocation %u: status %x", allocation, status);
    }
}

#else
static void a_filter_is_never_made_in_part(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_only_computes),
        cmocka_unit_test(a_fetcher_reads_files_and_opens_sockets),
        cmocka_unit_test(calls_of_another_processor_are_not_allowed),
        cmocka_unit_test(a_filter_is_never_made_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
