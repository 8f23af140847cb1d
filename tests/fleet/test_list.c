/* SPDX-License-Identifier: MIT
 * Lists of checkpoints, out of files and pipes. */
#define _GNU_SOURCE
#include "fleet/list.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system/system.h"
#include "read/scratch.h"

/* Reads the text as a list out of a file, or as if it came out of a pipe, and appends its paths to `found`, a path a
 * line, or the message and the hint. */
static void read_text(const char *text, size_t length, bool as_pipe, struct sp_text *found)
{
    struct sp_list list;
    struct scratch scratch;
    struct shapeproof_error error = {0};
    char command[4200];
    scratch_make(&scratch);
    const char *path = scratch_write(&scratch, "list", text, length);
    snprintf(command, sizeof command, "cat '%s'", path);
    FILE *pipe = as_pipe ? popen(command, "r") : NULL;
    const int from = as_pipe ? fileno(pipe) : open(path, O_RDONLY),
              store = as_pipe ? sp_system_unnamed_file("list") : -1;
    found->length = 0;
    if (sp_list_read(&list, from, store, "list", &error)) {
        sp_text_printf(found, "%zu again\n", list.repeated);
        for (size_t i = list.count; i-- > 0;) { /* in any order */
            const char *listed = sp_list_path(&list, i, &error);
            if (!listed) fail_msg("%s", error.message);
            sp_text_printf(found, "%s\n", listed);
        }
    } else sp_text_printf(found, "%s\n%s\n", error.message, error.hint);
    sp_list_free(&list);
    if (as_pipe) pclose(pipe);
    else close(from);
    if (store >= 0) close(store);
    scratch_remove(&scratch);
}

static void expect_list(const char *text, size_t length, const char *expected)
{
    struct sp_text found = {0};
    for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
        read_text(text, length, as_pipe, &found);
        assert_string_equal(found.data, expected);
    }
    sp_text_free(&found);
}

static void lines(void **state)
{
    static const char mixed[] = "\xef\xbb\xbf"
                                "a b\r\n\r\n \t\n# c\nb\r\na b\nb";
    (void)state;
    expect_list("", 0, "0 again\n");
    expect_list("a", 1, "0 again\na\n");
    expect_list("a\nb", 3, "0 again\nb\na\n");
    expect_list(mixed, strlen(mixed), "2 again\nb\na b\n");
    expect_list("a\nb\0c\n", 6,
                "list: a NUL byte is no part of a path\na list has a path a line, as find writes it without -print0\n");
}

/* Lines that lie in two pieces, comments of any length, and a path of the most bytes. */
static void long_lines(void **state)
{
    struct sp_text text = {0}, expected = {0};
    char path[4098];
    (void)state;
    memset(path, 'p', sizeof path);
    path[4096] = '\0';
    sp_text_puts(&text, "#");
    for (size_t i = 0; i < 20; i++) sp_text_puts(&text, path);
    sp_text_printf(&text, "\n%s\nx\n%s\n", path, path);
    sp_text_printf(&expected, "1 again\nx\n%s\n", path);
    expect_list(text.data, text.length, expected.data);
    path[4096] = 'p';
    path[4097] = '\0';
    sp_text_printf(&text, "%s\n", path);
    expect_list(text.data, text.length,
                "list:5: the line has more than 4096 bytes, the limit of a path\na list has a path a line\n");
    sp_text_free(&text);
    sp_text_free(&expected);
}

static void many_lines(void **state)
{
    enum { MANY = 5000 };
    struct sp_text text = {0}, expected = {0};
    (void)state;
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < MANY; i++) sp_text_printf(&text, "runs/%08u/model.safetensors\n", i);
    sp_text_printf(&expected, "%u again\n", MANY);
    for (unsigned i = MANY; i-- > 0;) sp_text_printf(&expected, "runs/%08u/model.safetensors\n", i);
    expect_list(text.data, text.length, expected.data);
    sp_text_free(&text);
    sp_text_free(&expected);
}

static bool is_b(const void *context, const char *path) { return strcmp(path, context) == 0; }

/* Some paths are left out, and a list that was written to meanwhile is not read. */
static void later(void **state)
{
    struct sp_list list;
    struct scratch scratch;
    struct shapeproof_error error = {0};
    size_t count;
    (void)state;
    scratch_make(&scratch);
    const int file = open(scratch_write(&scratch, "list", "head\na\nb\nc\n", 11), O_RDWR);
    assert_int_equal(lseek(file, 5, SEEK_SET), 5); /* what was read of it before is no part of the list */
    assert_true(sp_list_read(&list, file, -1, "list", &error));
    assert_true(sp_list_leave_out(&list, is_b, "b", &count, &error));
    assert_int_equal(count, 1);
    assert_int_equal(list.count, 2);
    assert_string_equal(sp_list_path(&list, 1, &error), "c");
    assert_int_equal(pwrite(file, "x", 1, 9), 1);
    assert_string_equal(sp_list_path(&list, 1, &error), "c");
    assert_string_equal(sp_list_path(&list, 0, &error), "a");
    assert_null(sp_list_path(&list, 1, &error));
    assert_string_equal(error.message, "list: the list has changed since it was read");
    sp_list_free(&list);
    close(file);
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(many_lines),
        cmocka_unit_test(later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
