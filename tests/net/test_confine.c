/* SPDX-License-Identifier: MIT
 * What the child that fetches cannot do, tried by one. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/confine.h"

static char secret[64];
static bool has_landlock; /* asked before: later the filter forbids to ask */

static bool is_refused(long result) { return result < 0 && (errno == EPERM || errno == EACCES); }

static bool cannot_write(void) { return is_refused(open("/dev/null", O_WRONLY)); }
static bool cannot_create(void) { return is_refused(open("/tmp/shapeproof-confined", O_WRONLY | O_CREAT, 0600)); }
static bool cannot_remove(void) { return is_refused(unlink(secret)); }
static bool cannot_run(void) { return is_refused(execl("/bin/true", "true", (char *)NULL)); }
static bool cannot_fork(void) { return is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }
static bool cannot_kill(void) { return is_refused(syscall(SYS_kill, getppid(), 0)); }
static bool cannot_trace(void) { return is_refused(ptrace(PTRACE_ATTACH, getppid(), 0, 0)); }
static bool cannot_listen(void) { return is_refused(syscall(SYS_listen, 0, 1)); }
static bool cannot_send_raw(void) { return is_refused(socket(AF_PACKET, SOCK_RAW, 0)); }
static bool can_connect(void) { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }
static bool can_read_system(void) { return open("/etc/passwd", O_RDONLY) >= 0; }
static bool can_read_servers(void)
{
    return access("/etc/resolv.conf", F_OK) || open("/etc/resolv.conf", O_RDONLY) >= 0;
}
static bool can_compute(void) { return malloc(1 << 20) != NULL; }

/* Where the kernel has Landlock. */
static bool cannot_read_user(void) { return open(secret, O_RDONLY) < 0 || !has_landlock; }

/* What the system has there for its user: keys, tickets, and secrets of a container. */
static bool cannot_read_run(void) { return open("/run", O_RDONLY | O_DIRECTORY) < 0 || !has_landlock; }

static bool keeps_no_descriptor(void) { return read(0, &(char){0}, 1) < 0 && errno == EBADF; }

static const struct {
    const char *name;
    bool (*holds)(void);
} trials[] = {
#define TRIAL(name)                                                                                                    \
    {                                                                                                                  \
#name, name                                                                                                    \
    }
    TRIAL(keeps_no_descriptor), TRIAL(cannot_write),     TRIAL(cannot_create),   TRIAL(cannot_remove),
    TRIAL(cannot_run),          TRIAL(cannot_fork),      TRIAL(cannot_kill),     TRIAL(cannot_trace),
    TRIAL(cannot_listen),       TRIAL(cannot_send_raw),  TRIAL(can_connect),     TRIAL(can_read_system),
    TRIAL(can_compute),         TRIAL(cannot_read_user), TRIAL(cannot_read_run), TRIAL(can_read_servers),
};

/* Its status is that of the trial: 0, it holds. */
static int try_confined(size_t trial)
{
    int ends[2], status = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        sp_confine_begin(ends[1]);
        if (!sp_confine_finish()) _exit(2);
        _exit(trials[trial].holds() ? 0 : 1);
    }
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_confinement(void **state)
{
    (void)state;
    snprintf(secret, sizeof secret, "/tmp/shapeproof-secret-XXXXXX");
    has_landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
    const int fd = mkstemp(secret);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const int status = try_confined(i);
        if (status != 0) fail_msg("%s: %d", trials[i].name, status);
    }
    assert_int_equal(unlink(secret), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_confinement)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
