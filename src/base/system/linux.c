/* SPDX-License-Identifier: MIT
 * See system.h. Calls that glibc 2.17 has no function for are made with syscall(2).
 *
 * A child is confined by a seccomp filter: system calls that are not listed fail with EPERM, so that a library sees a
 * refusal and can say what it wanted. A child that fetches needs sockets, and it opens the certificates and the
 * configuration of the resolver. Landlock limits it to such files of the system. A kernel without Landlock (before
 * 5.13) leaves it all that the user may read. */
#define _GNU_SOURCE
#include "base/system/system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/memfd.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/system/signals.h"

const bool sp_system_confines = true;
const char sp_system_sandbox[] = "seccomp, rlimits";

/* ---- system calls of a confined child ---- */

/* Whatever their arguments: memory, locks, reading what is already open, dying. */
static const int harmless[] = {
    SCMP_SYS(read),          SCMP_SYS(pread64),      SCMP_SYS(lseek),   SCMP_SYS(fstat),      SCMP_SYS(brk),
    SCMP_SYS(munmap),        SCMP_SYS(mremap),       SCMP_SYS(madvise), SCMP_SYS(futex),      SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(sigaltstack),   SCMP_SYS(rt_sigreturn), SCMP_SYS(getpid),  SCMP_SYS(gettid),     SCMP_SYS(sched_yield),
    SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(exit),    SCMP_SYS(exit_group), SCMP_SYS(close),
};

/* Of a child that fetches: sockets that are open, waiting, looking at files, threads. */
static const int for_fetching[] = {
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(time),
    SCMP_SYS(getrandom),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(eventfd2),
    SCMP_SYS(pipe2),
    SCMP_SYS(pipe),
    SCMP_SYS(socketpair),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(recvmmsg),
    SCMP_SYS(shutdown),
    SCMP_SYS(fcntl),
    SCMP_SYS(ioctl),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
};

static bool allow_calls(scmp_filter_ctx filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) != 0) return false;
    return true;
}

/* Memory that is never executed, and signals to itself, which abort() sends. */
static bool allow_needed(scmp_filter_ctx filter)
{
    return allow_calls(filter, harmless, sizeof harmless / sizeof *harmless) &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                            SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) ==
               0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) ==
               0;
}

static bool allow_output(scmp_filter_ctx filter, int out)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)out, 0)) ==
           0;
}

static bool allow_sockets(scmp_filter_ctx filter)
{
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof families / sizeof *families; i++)
        ok = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
                              SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i], 0)) == 0;
    return ok;
}

/* Threads of this process for the resolver, never a process. The flags of clone3 are in memory, where a filter cannot
 * see them: as if the kernel had none. */
static bool allow_threads(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM)) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

/* Files may be opened to read, but not to write: the flags, the third argument of openat and the second of open, must
 * have no bit of WRITES. */
static bool allow_files(scmp_filter_ctx filter)
{
    enum { WRITES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, WRITES, 0)) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, WRITES, 0)) == 0;
}

static bool allow_fetching(scmp_filter_ctx filter)
{
    return allow_calls(filter, for_fetching, sizeof for_fetching / sizeof *for_fetching) && allow_sockets(filter) &&
           allow_threads(filter) && allow_files(filter);
}

/* ---- files of a confined child ---- */

enum {
    READS = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    ALL = READS | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
          LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
          LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
          LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM
};

/* Adds to the Landlock ruleset `rules` that what the path leads to may be read: a file, or a folder with all below it.
 * The descriptor follows symbolic links, so that the rule is about their target. False when the rule is refused. */
static bool allow_path(int rules, const char *path)
{
    struct landlock_path_beneath_attr below = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
                                               .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat info;
    if (below.parent_fd < 0) return true; /* not on this machine */
    if (fstat(below.parent_fd, &info) == 0 && S_ISDIR(info.st_mode)) below.allowed_access = READS;
    const bool ok = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0;
    close(below.parent_fd);
    return ok;
}

/* What a resolver and TLS look at. Not all of /run, where secrets of users and containers are, but the file there that
 * systems make their list of name servers a link to. True as well where the kernel, or the container, offers no such
 * thing. */
static bool limit_files(void)
{
    static const char *const paths[] = {"/etc", "/usr", "/lib", "/lib64", "/etc/resolv.conf"};
    const struct landlock_ruleset_attr handled = {.handled_access_fs = ALL};
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (rules < 0) return true;
    bool ok = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    for (size_t i = 0; ok && i < sizeof paths / sizeof *paths; i++) ok = allow_path(rules, paths[i]);
    ok = ok && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return ok;
}

/* ---- confinement ---- */

/* Writes the program of the rules into a file in memory, and maps that. False with errno. When libseccomp 2.5 gets no
 * memory, it leaves out rules and still succeeds; only errno, which malloc sets, tells. */
static bool export_program(struct sp_filter *filter, scmp_filter_ctx rules)
{
    const int file = sp_system_unnamed_file("filter");
    if (file < 0) return false;
    filter->program = MAP_FAILED;
    if (seccomp_export_bpf(rules, file) == 0 && errno != ENOMEM) {
        const off_t end = lseek(file, 0, SEEK_END);
        if (end > 0 && end % (off_t)sizeof(struct sock_filter) == 0) {
            filter->bytes = (size_t)end;
            filter->program = mmap(NULL, filter->bytes, PROT_READ, MAP_PRIVATE, file, 0);
        } else errno = EIO; /* it was not written whole */
    }
    const int why = errno;
    close(file);
    errno = why;
    return filter->program != MAP_FAILED;
}

bool sp_system_make_filter(struct sp_filter *filter, enum sp_confinement confinement, int out)
{
    *filter = (struct sp_filter){.confinement = confinement};
    errno = 0;
    scmp_filter_ctx rules = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    const bool complete = rules && allow_needed(rules) &&
                          (confinement == SP_CONFINED_TO_READING ? allow_output(rules, out) : allow_fetching(rules));
    if (errno != ENOMEM) errno = 0; /* what libseccomp tried of the kernel may have failed */
    const bool made = complete && export_program(filter, rules);
    const int why = errno;
    if (rules) seccomp_release(rules);
    errno = why;
    return made;
}

bool sp_system_confine(const struct sp_filter *filter)
{
    const struct sock_fprog program = {.len = (unsigned short)(filter->bytes / sizeof(struct sock_filter)),
                                       .filter = filter->program};
    if (filter->confinement == SP_CONFINED_TO_FETCHING && !limit_files()) return false;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* ---- what a child uses ---- */

uint64_t sp_system_address_space(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (!statm) return 0;
    if (fscanf(statm, "%lu", &pages) != 1) pages = 0;
    fclose(statm);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t sp_system_seconds_used(pid_t child)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
    return (uint64_t)used.tv_sec;
}

/* ---- processes ---- */

int sp_system_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

void sp_system_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

/* RLIMIT_CORE does not hold for a core_pattern that is a pipe. */
void sp_system_forbid_dumps(void) { prctl(PR_SET_DUMPABLE, 0); }

void sp_system_close_range(unsigned first, unsigned last)
{
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
    const long limit = sysconf(_SC_OPEN_MAX); /* a kernel before 5.9 */
    for (unsigned fd = first; fd <= last && fd < (unsigned long)limit; fd++) close((int)fd);
}

unsigned sp_system_processors(void)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : (unsigned)count;
}

bool sp_signals_open(struct sp_signals *signals)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < signals->count; i++) sigaddset(&set, signals->numbers[i]);
    signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return signals->fd >= 0;
}

void sp_signals_close(const struct sp_signals *signals) { close(signals->fd); }

int sp_signals_poll(struct sp_signals *signals, struct pollfd *polled, nfds_t count, int milliseconds, int *number)
{
    struct signalfd_siginfo info;
    polled[count] = (struct pollfd){.fd = signals->fd, .events = POLLIN};
    const int events = poll(polled, count + 1, milliseconds);
    const bool has_come =
        events > 0 && polled[count].revents && read(signals->fd, &info, sizeof info) == (ssize_t)sizeof info;
    *number = has_come ? (int)info.ssi_signo : 0;
    return events;
}

/* ---- memory ---- */

int sp_system_unnamed_file(const char *name) { return (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC); }

void sp_system_give_back(void *memory, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)memory + page - 1) / page * page,
                    end = ((uintptr_t)memory + size) / page * page;
    if (begin < end) madvise((void *)begin, end - begin, MADV_DONTNEED); /* it is no harm when that fails */
}

/* Of what the kernel gives each process that is random. Without a system call: there are many small maps. */
uint64_t sp_system_random(void)
{
    const void *secret = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    uint64_t bits = (uint64_t)time(NULL);
    if (secret) memcpy(&bits, secret, sizeof bits);
    return bits;
}
