/* SPDX-License-Identifier: MIT
 * What src/base/system promises, whichever of its files is compiled. test_system_posix.c runs the same with posix.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process/child.h"
#include "base/system/signals.h"
#include "base/system/system.h"
#include "shapeproof/shapeproof.h"

static void test_pipe(void **state)
{
    (void)state;
    int ends[2];
    char got = 0;
    assert_int_equal(sp_system_pipe(ends), 0);
    for (int i = 0; i < 2; i++) assert_true(fcntl(ends[i], F_GETFD) & FD_CLOEXEC);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(read(ends[0], &got, 1), 1);
    assert_int_equal(got, 'x');
    close(ends[0]);
    close(ends[1]);
}

static void test_unnamed_file(void **state)
{
    (void)state;
    struct stat info;
    const int fd = sp_system_unnamed_file("test");
    assert_true(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fstat(fd, &info) == 0 && S_ISREG(info.st_mode));
    assert_int_equal(info.st_size, 0);
    assert_int_equal(info.st_nlink, 0);
    assert_int_equal(pwrite(fd, "text", 4, 1 << 20), 4);
    char got[4];
    assert_int_equal(pread(fd, got, 4, 1 << 20), 4);
    assert_memory_equal(got, "text", 4);
    close(fd);
}

static void test_memory(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    struct rlimit before, after;
    getrlimit(RLIMIT_AS, &before);
    const uint64_t used = sp_system_address_space();
    getrlimit(RLIMIT_AS, &after);
    assert_true(before.rlim_cur == after.rlim_cur && before.rlim_max == after.rlim_max);
    assert_true(used > SIZE);
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memory[0] = memory[SIZE - 1] = 'x';
    sp_system_give_back(memory + 1, SIZE - 2); /* the first and the last page are not whole, and stay */
    assert_true(memory[0] == 'x' && memory[SIZE - 1] == 'x');
    munmap(memory, SIZE);
    assert_true(sp_system_processors() >= 1);
    assert_true(sp_system_random() != 0);
}

static void test_close_range(void **state)
{
    (void)state;
    int fds[3];
    for (int i = 0; i < 3; i++) fds[i] = fcntl(0, F_DUPFD, 200);
    sp_system_close_range((unsigned)fds[1], (unsigned)fds[2]);
    assert_true(fcntl(fds[0], F_GETFD) >= 0);
    assert_true(fcntl(fds[1], F_GETFD) < 0 && fcntl(fds[2], F_GETFD) < 0);
    close(fds[0]);
    sp_system_close_range(2, 1); /* none */
    assert_true(fcntl(2, F_GETFD) >= 0);
}

static void test_signals(void **state)
{
    (void)state;
    struct sp_signals signals = {.numbers = {SIGUSR1, SIGUSR2}, .count = 2};
    sigset_t set, before;
    int ends[2], number = -1;
    struct pollfd polled[2];
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, &before);
    assert_true(sp_signals_open(&signals));
    assert_int_equal(sp_system_pipe(ends), 0);

    polled[0] = (struct pollfd){.fd = ends[0], .events = POLLIN}; /* nothing comes */
    const int64_t began = sp_clock_ms();
    assert_int_equal(sp_signals_poll(&signals, polled, 1, 250, &number), 0);
    assert_in_range(sp_clock_ms() - began, 249, 5000);
    assert_int_equal(number, 0);

    assert_int_equal(write(ends[1], "x", 1), 1); /* a byte */
    assert_true(sp_signals_poll(&signals, polled, 1, -1, &number) > 0);
    assert_true(polled[0].revents & POLLIN);
    assert_int_equal(number, 0);

    raise(SIGUSR2); /* a signal beside it, then one alone */
    assert_true(sp_signals_poll(&signals, polled, 1, -1, &number) > 0);
    assert_int_equal(number, SIGUSR2);
    assert_int_equal(read(ends[0], &(char){0}, 1), 1);
    raise(SIGUSR1);
    sp_signals_poll(&signals, polled, 1, -1, &number);
    assert_int_equal(number, SIGUSR1);
    assert_int_equal(sp_signals_poll(&signals, polled, 1, 0, &number), 0); /* it was taken */
    assert_int_equal(number, 0);

    sp_signals_close(&signals);
    close(ends[0]);
    close(ends[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* In a child: whether it may still open a file once it is confined to reading. */
static void run_confined(const void *context, int out)
{
    (void)context;
    struct sp_filter filter;
    sp_child_make_filter(&filter, SP_CONFINED_TO_READING, out);
    if (!sp_system_confine(&filter)) _exit(SP_CHILD_UNCONFINED);
    const char *said = open("/dev/null", O_RDONLY) < 0 && errno == EPERM ? "refused" : "opened";
    if (write(out, said, 7) < 0 && said[0] == 'o') _exit(1);
}

static void test_confine(void **state)
{
    (void)state;
    struct sp_child child;
    struct shapeproof_error error;
    char said[8] = "";
    assert_true(sp_child_start(&child, run_confined, NULL, &error));
    while (read(child.from, said + strlen(said), sizeof said - 1 - strlen(said)) > 0) continue;
    sp_child_finish(&child, false);
    assert_string_equal(said, sp_system_confines ? "refused" : "opened");
    assert_int_equal(shapeproof_is_portable(), !sp_system_confines);
}

/* A file that the HDF5 library reads: without a sandbox, a warning says so. */
static void test_hdf5(void **state)
{
    (void)state;
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open("fixtures/cross/pair.h5", &error);
    if (!inventory) fail_msg("%s", error.message);
    assert_int_equal(shapeproof_inventory_count(inventory), 10);
    assert_int_equal(shapeproof_inventory_warning_count(inventory), sp_system_confines ? 0 : 1);
    if (!sp_system_confines) assert_non_null(strstr(shapeproof_inventory_warning(inventory, 0), "without a sandbox"));
    shapeproof_inventory_close(inventory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipe),        cmocka_unit_test(test_unnamed_file), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_close_range), cmocka_unit_test(test_signals),      cmocka_unit_test(test_confine),
        cmocka_unit_test(test_hdf5),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
