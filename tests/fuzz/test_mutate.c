/* SPDX-License-Identifier: MIT
 * The mutators of the fuzz targets, with a mutation of libFuzzer that changes nothing. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static size_t blocks; /* that the mutators hold */

static void *count_block(void *block)
{
    assert_non_null(block);
    blocks++;
    return block;
}

static void uncount_block(void *block)
{
    if (block) blocks--;
    free(block);
}

#define malloc(size) count_block(malloc(size))
#define free(block) uncount_block(block)
#include "fuzz/mutate_folder.h"
#include "fuzz/mutate_gguf.h"
#include "fuzz/mutate_hdf5.h"
#include "fuzz/mutate_json.h"
#include "fuzz/mutate_zip.h"
#undef malloc
#undef free

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    (void)data;
    (void)most;
    return size;
}

JSON_MUTATOR(JSON_TEXT(1))

enum { SEEDS = 300, ROOM = 512 };

/* A text that is not JSON consists of whole lines of it afterwards; only the other one is mutated as JSON. */
static void texts_are_mutated_as_what_they_are(void **state)
{
    (void)state;
    static const char input[] = "table {a: 1}\nx, [b, c]\n\"y\", 2\n====\n{\"a\": [1, 2]}";
    size_t tables = 0, configurations = 0;
    for (unsigned int seed = 0; seed < SEEDS; seed++) {
        char data[ROOM] = "";
        memcpy(data, input, sizeof input);
        data[LLVMFuzzerCustomMutator((uint8_t *)data, sizeof input - 1, ROOM - 1, seed)] = '\0';
        char *config = strstr(data, "====\n");
        if (!config) continue; /* the first text may lose nothing but its lines, so the separator is in place */
        configurations += strcmp(config, strstr(input, "====\n")) != 0;
        *config = '\0';
        tables += strncmp(data, input, strlen(data)) != 0 || data[strlen(data) - 1] != '\n';
        for (char *rest = data, *line; (line = strsep(&rest, "\n")) && rest;)
            assert_true(strcmp(line, "table {a: 1}") == 0 || strcmp(line, "x, [b, c]") == 0 ||
                        strcmp(line, "\"y\", 2") == 0);
    }
    assert_true(tables > SEEDS / 20 && configurations > SEEDS / 20);
    assert_int_equal(blocks, 0);
}

/* The counts in the header follow the entries. */
static void counts_of_gguf_follow(void **state)
{
    (void)state;
    static const char key[] = "\1\0\0\0\0\0\0\0k\0\0\0\0\7"; /* "k", an 8-bit integer */
    size_t changed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint8_t data[ROOM] = "GGUF\3";
        data[16] = 2;
        for (size_t i = 0; i < 2; i++) memcpy(data + GGUF_HEADER + i * (sizeof key - 1), key, sizeof key - 1);
        uint64_t random = seed;
        const size_t size = gguf_mutate(data, GGUF_HEADER + 2 * (sizeof key - 1), ROOM, &random);
        assert_int_equal(size, GGUF_HEADER + data[16] * (sizeof key - 1));
        changed += data[16] != 2;
    }
    assert_true(changed > SEEDS / 20);
    assert_int_equal(blocks, 0);
}

/* The checksums of superblock and object headers are those of libhdf5, and follow what is changed. No byte moves. */
static void checksums_of_hdf5_follow(void **state)
{
    (void)state;
    enum { MOST = 1 << 16 };
    static uint8_t file[MOST], data[MOST];
    static struct mutate_spans spans;
    FILE *stream = fopen("fixtures/hdf5/ok/newer.h5", "rb");
    assert_non_null(stream);
    const size_t size = fread(file, 1, sizeof file, stream);
    fclose(stream);
    memcpy(data, file, size);
    hdf5_divide(data, size, &spans);
    assert_true(spans.count >= 15);
    hdf5_check(data, size, &spans);
    assert_memory_equal(data, file, size);
    size_t changed = 0, checked = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t random = seed;
        memcpy(data, file, size);
        assert_int_equal(hdf5_mutate(data, size, sizeof data, &random), size);
        changed += memcmp(data, file, size) != 0;
        hdf5_divide(data, size, &spans);
        for (size_t i = 0; i < spans.count; i++) {
            const uint8_t *block = data + spans.items[i].begin;
            const size_t length = hdf5_checked_length(block, size - spans.items[i].begin, spans.items[i].kind);
            checked += length && hdf5_number(block + length, 4) == hdf5_checksum(block, length);
        }
    }
    assert_true(changed > SEEDS / 2);
    assert_true(checked > SEEDS * 13);
    assert_int_equal(blocks, 0);
}

/* Whichever mutation is chosen, all members are freed. */
static void members_of_zip_are_freed(void **state)
{
    (void)state;
    struct zip_member member = {.name = "a.pkl", .name_length = 5, .size = 4};
    uint8_t pickle[] = "}.}.";
    member.data = pickle;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint8_t data[ROOM];
        uint64_t random = seed;
        const size_t size = zip_write(data, ROOM, &member, 1);
        assert_true(size > 0);
        zip_mutate(data, size, ROOM, &random);
        assert_int_equal(blocks, 0);
    }
}

/* Texts of a folder are removed, doubled and renamed as wholes; the content of one does not run into another. */
static void folders_stay_folders(void **state)
{
    (void)state;
    static const char input[] = "a1.json\n{\"x\": [1, 2]}\n====\nb/c.txt\nhello";
    size_t removed = 0, added = 0, renamed = 0, changed = 0;
    for (unsigned int seed = 0; seed < SEEDS; seed++) {
        char data[ROOM] = "";
        size_t texts = 0;
        memcpy(data, input, sizeof input);
        data[folder_mutate((uint8_t *)data, sizeof input - 1, ROOM - 1, seed)] = '\0';
        for (char *at = data, *stop; (stop = strstr(at, "\n====\n")); at = stop + strlen("\n====\n"), texts++) {
            *stop = '\0';
            char *content = strchr(at, '\n');
            assert_non_null(content);
            *content++ = '\0';
            assert_true(strcmp(at, "a1.json") == 0 || strcmp(at, "a2.json") == 0 || strcmp(at, "b/c.txt") == 0);
            const bool is_json = strcmp(content, "hello") != 0;
            assert_false(is_json && strstr(content, "hello"));
            renamed += strcmp(at, "a2.json") == 0;
            changed += is_json && strcmp(content, "{\"x\": [1, 2]}") != 0;
        }
        removed += texts < 2;
        added += texts > 2;
    }
    assert_true(removed && added && renamed && changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_mutated_as_what_they_are),
        cmocka_unit_test(counts_of_gguf_follow),
        cmocka_unit_test(checksums_of_hdf5_follow),
        cmocka_unit_test(members_of_zip_are_freed),
        cmocka_unit_test(folders_stay_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
