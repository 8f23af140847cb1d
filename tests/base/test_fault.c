/* SPDX-License-Identifier: MIT
 * A call of the system that failed decides the end of a public function, whatever was concluded. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fault.h"

static void test_fault_decides(void **state)
{
    (void)state;
    struct shapeproof_error error;
    sp_fault_begin(&error);
    assert_true(sp_fault_note("pread", "model.pt", EIO));
    assert_true(sp_fault_note("open", "other.pt", EMFILE)); /* the first counts */
    sp_malformed(&error, "not a zip archive");
    assert_false(sp_fault_end(&error));
    assert_string_equal(error.message, "model.pt: pread: Input/output error");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_IO);
    sp_fault_begin(&error);
    sp_fault_note("readdir", "", EIO); /* the folder in which the process is */
    assert_false(sp_fault_end(&error));
    assert_string_equal(error.message, ".: readdir: Input/output error");
    sp_fault_begin(&error); /* nothing is left of it */
    assert_true(sp_fault_end(&error));
    assert_int_equal(error.status, SHAPEPROOF_OK);
}

static void test_context_is_kept(void **state)
{
    (void)state;
    struct shapeproof_error error;
    sp_fault_begin(&error);
    sp_fault_note("pread", "x", EIO);
    sp_fail(&error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "shard 2: read at byte 8: %s", strerror(EIO));
    assert_false(sp_fault_end(&error));
    assert_string_equal(error.message, "shard 2: read at byte 8: Input/output error");
}

/* What fails in a function that another one calls fails that one, too. */
static void test_nesting(void **state)
{
    (void)state;
    struct shapeproof_error outer, inner;
    sp_fault_begin(&outer);
    sp_fault_begin(&inner);
    sp_fault_note("stat", "x", ESTALE);
    assert_false(sp_fault_end(&inner));
    assert_false(sp_fault_end(&outer));
    assert_string_equal(inner.message, outer.message);
}

static void test_paths_are_no_faults(void **state)
{
    (void)state;
    static const int reasons[] = {ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG, EISDIR};
    struct shapeproof_error error;
    sp_fault_begin(&error);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) assert_false(sp_fault_note("open", "x", reasons[i]));
    assert_false(sp_path_exists(AT_FDCWD, "no-such-file-here"));
    assert_false(sp_path_is_file(AT_FDCWD, "."));
    assert_true(sp_path_is_folder(AT_FDCWD, "."));
    assert_false(sp_path_may_be_file(AT_FDCWD, "no-such-file-here"));
    assert_null(sp_folder_stream(AT_FDCWD, "no-such-folder-here"));
    assert_true(sp_fault_end(&error));
}

static void end_with_7(void) { _exit(7); }

static void test_memory_handler(void **state)
{
    (void)state;
    int status;
#ifdef __SANITIZE_ADDRESS__ /* it ends the process itself */
    skip();
#endif
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sp_memory_handler = end_with_7;
        free(sp_realloc(NULL, SIZE_MAX / 2, 1));
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fault_decides),  cmocka_unit_test(test_context_is_kept),
        cmocka_unit_test(test_nesting),        cmocka_unit_test(test_paths_are_no_faults),
        cmocka_unit_test(test_memory_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
