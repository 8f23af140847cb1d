/* SPDX-License-Identifier: MIT
 * See confine.h. System calls that are not listed fail with EPERM. What cannot be taken away: libcurl needs sockets,
 * and it reads the certificates and the configuration of the resolver, so files may be opened to read. Which ones,
 * Landlock decides: those of the system, none of the user's. A kernel without it (before 5.13) leaves all that the user
 * may read.
 */
#define _GNU_SOURCE
#include "net/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <netdb.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process/child.h"

enum { CPU_SECONDS = 120, DESCRIPTORS = 256 };

void sp_confine_begin(int keep)
{
    sp_child_isolate(&keep, 1);
    signal(SIGPIPE, SIG_IGN);
}

/* Besides what every child needs: sockets that are open, waiting, looking at files, threads. */
static const int calls[] = {
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

static bool allow_more(void *filter) { return allow_sockets(filter) && allow_threads(filter) && allow_files(filter); }

/* ---- files ---- */

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
    struct landlock_path_beneath_attr below = {.allowed_access = READS, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat info;
    if (below.parent_fd < 0) return true; /* not on this machine */
    if (fstat(below.parent_fd, &info) == 0 && !S_ISDIR(info.st_mode))
        below.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
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

/* The resolver loads code for what /etc/nsswitch.conf names when it is first asked; later nothing can be loaded. */
static void warm_resolver(void)
{
    struct addrinfo *found = NULL;
    if (getaddrinfo("localhost", "443", &(struct addrinfo){.ai_socktype = SOCK_STREAM}, &found) == 0)
        freeaddrinfo(found);
}

bool sp_confine_finish(void)
{
    warm_resolver();
    return sp_child_limit(RLIMIT_CORE, 0, 0) && sp_child_limit(RLIMIT_FSIZE, 0, 0) &&
           sp_child_limit(RLIMIT_CPU, CPU_SECONDS, CPU_SECONDS) &&
           sp_child_limit(RLIMIT_NOFILE, DESCRIPTORS, DESCRIPTORS) && limit_files() &&
           sp_child_confine(&(struct sp_system_calls){calls, sizeof calls / sizeof *calls, -1, allow_more});
}
