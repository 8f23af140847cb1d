/* SPDX-License-Identifier: MIT
 * Arena, map, cursor, checked arithmetic and file. */
#define _GNU_SOURCE /* mkstemp, ftruncate */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "base/arena.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/map.h"

/* ---- arena ---- */

static void test_arena(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 15, 16, 17, 4095, 4096, 5000, 3 << 20, 1};
    struct sp_arena arena = {0};
    char *parts[sizeof sizes / sizeof *sizes * 20];
    size_t count = 0;
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char *part = sp_arena_alloc(&arena, sizes[i]);
            assert_int_equal((uintptr_t)part % _Alignof(max_align_t), 0);
            for (size_t k = 0; k < sizes[i]; k += 97) assert_int_equal(part[k], 0);
            memset(part, (int)(count & 0x7f), sizes[i]);
            parts[count++] = part;
        }
    for (size_t i = 0; i < count; i++) { /* nobody wrote over anybody */
        const size_t size = sizes[i % (sizeof sizes / sizeof *sizes)];
        if (!size) continue;
        assert_int_equal(parts[i][0], i & 0x7f);
        assert_int_equal(parts[i][size - 1], i & 0x7f);
    }
    assert_true(arena.used >= 20 * (3U << 20));
    sp_arena_free(&arena);
    assert_int_equal(arena.used, 0);
    assert_null(arena.blocks);
    sp_arena_free(&arena);
}

#ifdef __SANITIZE_ADDRESS__
/* AddressSanitizer knows the end of each allocation of an arena. */
static void test_ends_in_an_arena(void **state)
{
    (void)state;
    struct sp_arena arena = {0};
    for (size_t size = 1; size < 10000; size += 1 + size / 2) {
        const char *bytes = sp_arena_alloc(&arena, size), *text = sp_arena_copy(&arena, "", 0);
        assert_false(__asan_address_is_poisoned(bytes + size - 1));
        assert_true(__asan_address_is_poisoned(bytes + size));
        assert_false(__asan_address_is_poisoned(text));
        assert_true(__asan_address_is_poisoned(text + 1));
    }
    sp_arena_free(&arena);
}
#endif

static void test_arena_strings(void **state)
{
    (void)state;
    struct sp_arena arena = {0};
    assert_string_equal(sp_arena_copy(&arena, "abcdef", 3), "abc");
    assert_string_equal(sp_arena_copy(&arena, NULL, 0), "");
    assert_string_equal(sp_arena_string(&arena, "text"), "text");
    assert_string_equal(sp_arena_printf(&arena, "%s-%05d", "model", 7), "model-00007");
    uint64_t *array = sp_arena_array(&arena, 3, sizeof *array);
    assert_int_equal(array[2], 0);
    sp_arena_free(&arena);
}

/* Strings lie close to one another; what follows them is aligned all the same, and zero. */
static void test_arena_mixture(void **state)
{
    (void)state;
    struct sp_arena arena = {0};
    char text[40];
    const char *strings[2000];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < 2000; i++) {
        strings[i] = sp_arena_copy(&arena, text, i % sizeof text);
        if (i % 3) continue;
        uint64_t *array = sp_arena_array(&arena, 4, sizeof *array);
        assert_int_equal((uintptr_t)array % _Alignof(uint64_t), 0);
        for (size_t k = 0; k < 4; k++) assert_int_equal(array[k], 0);
        memset(array, 0xff, 4 * sizeof *array);
    }
    for (size_t i = 0; i < 2000; i++) assert_int_equal(strlen(strings[i]), i % sizeof text);
    sp_arena_free(&arena);
}

static void test_grow(void **state)
{
    (void)state;
    size_t *items = NULL, count = 0, capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        SP_GROW(items, count, capacity);
        items[count++] = i;
    }
    for (size_t i = 0; i < 1000; i++) assert_int_equal(items[i], i);
    assert_int_equal(capacity, 1024);
    free(items);
}

/* ---- map ---- */

/* Items stay what they were while the array moves, whatever their size. */
static void test_push(void **state)
{
    struct {
        SP_ARRAY(uint64_t) numbers;
        SP_ARRAY(struct { char text[24]; }) texts;
    } all = {.numbers = {.items = NULL}};
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        *SP_PUSH(&all.numbers) = i * i;
        snprintf(SP_PUSH(&all.texts)->text, sizeof all.texts.items->text, "item %zu", i);
        assert_int_equal(all.numbers.count, i + 1);
        assert_true(all.numbers.capacity >= all.numbers.count);
    }
    for (size_t i = 0; i < 1000; i++) {
        char text[24];
        snprintf(text, sizeof text, "item %zu", i);
        assert_int_equal(all.numbers.items[i], i * i);
        assert_string_equal(all.texts.items[i].text, text);
    }
    free(all.numbers.items);
    free(all.texts.items);
}

static void test_map(void **state)
{
    (void)state;
    enum { KEYS = 100000 };
    struct sp_map map = {0};
    struct sp_arena arena = {0};
    assert_int_equal(sp_map_get(&map, "x"), SIZE_MAX);
    for (size_t i = 0; i < KEYS; i++) {
        const char *key = sp_arena_printf(&arena, "model.layers.%zu.weight", i);
        assert_true(sp_map_add(&map, key, i));
        assert_false(sp_map_add(&map, key, i + 1));
    }
    assert_int_equal(map.count, KEYS);
    for (size_t i = 0; i < KEYS; i++) {
        char key[64];
        snprintf(key, sizeof key, "model.layers.%zu.weight", i);
        assert_int_equal(sp_map_get(&map, key), i);
        snprintf(key, sizeof key, "model.layers.%zu.weigh", i); /* a prefix is not equal */
        assert_int_equal(sp_map_get(&map, key), SIZE_MAX);
    }
    sp_map_set(&map, "model.layers.3.weight", 33);
    sp_map_set(&map, "new", 44);
    assert_int_equal(sp_map_get(&map, "model.layers.3.weight"), 33);
    assert_int_equal(sp_map_get(&map, "new"), 44);
    assert_int_equal(map.count, KEYS + 1);
    assert_true(sp_map_add(&map, "", 5));
    assert_int_equal(sp_map_get(&map, ""), 5);
    sp_map_free(&map);
    assert_int_equal(sp_map_get(&map, "new"), SIZE_MAX);
    sp_arena_free(&arena);
}

/* ---- cursor and arithmetic ---- */

static void test_cursor(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 0xff};
    struct sp_cursor cursor = sp_cursor_of(bytes, sizeof bytes);
    assert_int_equal(sp_cursor_le(&cursor, 1), 1);
    assert_int_equal(sp_cursor_le(&cursor, 2), 0x0302);
    assert_int_equal(sp_cursor_left(&cursor), 6);
    assert_ptr_equal(sp_cursor_take(&cursor, 0), bytes + 3);
    assert_int_equal(sp_cursor_le(&cursor, 6), 0xff0807060504);
    assert_true(cursor.ok);
    assert_non_null(sp_cursor_take(&cursor, 0));
    cursor = sp_cursor_of(bytes, sizeof bytes);
    assert_int_equal(sp_cursor_le(&cursor, 8), 0x0807060504030201);
    assert_int_equal(sp_cursor_le(&cursor, 2), 0); /* one is left */
    assert_false(cursor.ok);
    assert_int_equal(cursor.offset, 8);
    assert_int_equal(sp_cursor_le(&cursor, 1), 0); /* failure sticks */
    assert_null(sp_cursor_take(&cursor, 0));
    cursor = sp_cursor_of(bytes, sizeof bytes);
    assert_null(sp_cursor_take(&cursor, UINT64_MAX));
}

static void test_checked(void **state)
{
    (void)state;
    uint64_t out = 7;
    assert_true(sp_add_u64(UINT64_MAX - 1, 1, &out));
    assert_int_equal(out, UINT64_MAX);
    out = 7;
    assert_false(sp_add_u64(UINT64_MAX, 1, &out));
    assert_false(sp_mul_u64(1ULL << 32, 1ULL << 32, &out));
    assert_int_equal(out, 7);
    assert_true(sp_mul_u64(UINT32_MAX, 1ULL << 32, &out));
    assert_int_equal(out, 0xffffffff00000000);
    assert_true(sp_mul_u64(UINT64_MAX, 0, &out));
    assert_int_equal(out, 0);
}

/* ---- file ---- */

static void test_file(void **state)
{
    (void)state;
    char path[] = "/tmp/shapeproof-test-XXXXXX", into[8] = "";
    struct shapeproof_error error = {0};
    struct sp_file file;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    assert_true(sp_file_open(&file, AT_FDCWD, path, &error));
    assert_int_equal(file.size, 10);
    assert_true(sp_file_read(&file, 7, into, 3, &error));
    assert_string_equal(into, "789");
    char *whole = sp_file_slurp(&file, 10, &error);
    assert_string_equal(whole, "0123456789");
    free(whole);
    assert_null(sp_file_slurp(&file, 9, &error));
    assert_string_equal(error.message, "10 bytes, more than the limit of 9");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
    error = (struct shapeproof_error){0};
    assert_int_equal(ftruncate(fd, 8), 0); /* it shrinks while it is read */
    assert_false(sp_file_read(&file, 7, into, 3, &error));
    assert_string_equal(error.message, "ends at byte 8, expected 3 bytes at 7");
    error = (struct shapeproof_error){0};
    assert_false(sp_file_read(&file, UINT64_MAX, into, 1, &error));
    assert_int_equal(error.kind, SHAPEPROOF_KIND_MALFORMED);
    sp_file_close(&file);
    sp_file_close(&file);
    close(fd);
    unlink(path);
}

static void test_not_a_file(void **state)
{
    (void)state;
    static const char *const paths[][2] = {
        {"/tmp", "not a regular file"},
        {"/dev/null", "not a regular file"},
        {"/nonexistent", "open: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct shapeproof_error error = {0};
        struct sp_file file;
        assert_false(sp_file_open(&file, AT_FDCWD, paths[i][0], &error));
        assert_string_equal(error.message, paths[i][1]);
        assert_int_equal(error.kind, SHAPEPROOF_KIND_IO);
        sp_file_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),
#ifdef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_ends_in_an_arena),
#endif
        cmocka_unit_test(test_arena_strings),
        cmocka_unit_test(test_arena_mixture),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_push),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_cursor),
        cmocka_unit_test(test_checked),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_not_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
