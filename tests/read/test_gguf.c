/* SPDX-License-Identifier: MIT
 * The GGUF reader: files of the package gguf in both byte orders, each type, pieces, hostile headers with their exact
 * messages, random damage. */
#define _GNU_SOURCE /* mkdtemp, truncate */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/inventory.h"
#include "read/scratch_fixture.h"
#include "sample.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct shapeproof_inventory *must_open(const char *path)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) fail_msg("%s", error.message);
    assert_string_equal(shapeproof_inventory_format(inventory), "gguf");
    return inventory;
}

static struct shapeproof_inventory *open_good(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "fixtures/gguf/ok/%s", name);
    return must_open(path);
}

static void assert_shape(const struct shapeproof_tensor *tensor, const char *name, const char *dtype, const char *shape)
{
    char text[64] = "";
    assert_string_equal(tensor->name, name);
    assert_string_equal(tensor->dtype_name, dtype);
    for (uint32_t i = 0; i < tensor->rank; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), i ? " %d" : "%d", (int)tensor->shape[i]);
    assert_string_equal(text, shape);
}

/* ---- good files ---- */

static const char *metadata_of(const struct shapeproof_inventory *inventory, const char *key)
{
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(inventory); i++)
        if (strcmp(shapeproof_inventory_metadata(inventory, i)->key, key) == 0)
            return shapeproof_inventory_metadata(inventory, i)->value;
    return "absent";
}

static void assert_values(const struct shapeproof_inventory *inventory)
{
    static const char *const values[][2] = {
        {"general.architecture", "fixture"},
        {"v.uint8", "200"},
        {"v.int8", "-128"},
        {"v.uint16", "60000"},
        {"v.int16", "-30000"},
        {"v.uint32", "4000000000"},
        {"v.int32", "-2000000000"},
        {"v.uint64", "18446744073709551615"},
        {"v.int64", "-9223372036854775808"},
        {"v.float32", "1e-05"},
        {"v.float64", "0.1"},
        {"v.bool", "true"},
        {"v.string", "caf\xc3\xa9 \"quoted\""},
        {"v.layers", "[4, 4, 0, 8]"},
        {"v.bools", "[true, false]"},
        {"v.floats", "[0.5, 1.0]"},
        {"v.languages", "[\"en\", \"d\\\"e\"]"},
        {"tokenizer.ggml.tokens", "100 strings"},
        {"tokenizer.ggml.scores", "2000 numbers"},
    };
    assert_int_equal(shapeproof_inventory_metadata_count(inventory), COUNT(values));
    for (size_t i = 0; i < COUNT(values); i++) assert_string_equal(metadata_of(inventory, values[i][0]), values[i][1]);
}

static void test_byte_orders(void **state)
{
    (void)state;
    static const char *const names[] = {"five.gguf", "big_endian.gguf"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct shapeproof_inventory *inventory = open_good(names[i]);
        assert_int_equal(shapeproof_inventory_count(inventory), 5);
        assert_shape(shapeproof_inventory_tensor(inventory, 0), "matrix", "F32", "2 3");
        assert_shape(shapeproof_inventory_tensor(inventory, 1), "half", "F16", "4");
        assert_shape(shapeproof_inventory_tensor(inventory, 2), "cube", "I8", "2 3 4");
        assert_shape(shapeproof_inventory_tensor(inventory, 3), "steps", "I64", "3");
        assert_shape(shapeproof_inventory_tensor(inventory, 4), "double", "F64", "1 5");
        for (size_t t = 0; t < 5; t++) {
            const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, t);
            assert_int_equal(tensor->flags, i ? SHAPEPROOF_TENSOR_BIG_ENDIAN : 0);
            assert_int_equal(tensor->data_end - tensor->data_begin, tensor->bytes);
            assert_int_equal(tensor->data_begin % 32, 0);
        }
        assert_values(inventory);
        assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
        shapeproof_inventory_close(inventory);
    }
}

/* The dimensions are those of the elements; the bytes are those of the blocks. */
static void test_blocks(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = open_good("blocks.gguf");
    uint64_t end = 0;
    assert_int_equal(shapeproof_inventory_count(inventory), 27);
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        assert_string_equal(tensor->dtype_name, tensor->name);
        assert_int_equal(tensor->dtype, SHAPEPROOF_DTYPE_UNKNOWN);
        assert_int_equal(tensor->shape[0], 2);
        assert_int_equal(tensor->parameters, 2 * tensor->shape[1]);
        assert_true(!i || (tensor->data_begin >= end && tensor->data_begin < end + 32));
        end = tensor->data_end;
    }
    assert_int_equal(shapeproof_inventory_totals(inventory)->bytes, 4146);
    assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
    shapeproof_inventory_close(inventory);
}

static void test_versions(void **state)
{
    (void)state;
    static const char *const names[] = {"version1.gguf", "version2.gguf",
                                        "nested.gguf"}; /* lists in lists: a warning */
    for (size_t i = 0; i < COUNT(names); i++) {
        struct shapeproof_inventory *inventory = open_good(names[i]);
        assert_int_equal(shapeproof_inventory_count(inventory), 1);
        assert_shape(shapeproof_inventory_tensor(inventory, 0), "a", "F32", "2 3");
        assert_string_equal(metadata_of(inventory, "k"), i == 2 ? "1 lists" : "v");
        assert_int_equal(shapeproof_inventory_warning_count(inventory), i == 2);
        shapeproof_inventory_close(inventory);
    }
    struct shapeproof_inventory *nothing = open_good("nothing.gguf");
    assert_int_equal(shapeproof_inventory_count(nothing), 0);
    shapeproof_inventory_close(nothing);
}

/* What is odd is told, and the tensors are listed all the same. */
static void test_warnings(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t tensors;
        const char *warning;
    } cases[] = {
        {"cut_data.gguf", 2,
         "120 bytes are missing at the end: 1 of 2 tensors lie beyond it, in whole or in part (truncated download?)"},
        {"gap.gguf", 2, "data bytes [16, 64) before tensor 'b' belong to no tensor"},
        {"more.gguf", 1, "84 bytes after the last tensor"},
        {"unknown_type.gguf", 2,
         "tensor 'a' is of type 99 of ggml, which this version does not know: its size in "
         "bytes is unknown"},
        {"removed_type.gguf", 1, "tensor 'a' is of type Q4_0_4_4, which ggml has removed: quantise the model again"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct shapeproof_inventory *inventory = open_good(cases[i].name);
        assert_int_equal(shapeproof_inventory_count(inventory), cases[i].tensors);
        assert_int_equal(shapeproof_inventory_warning_count(inventory), 1);
        assert_string_equal(shapeproof_inventory_warning(inventory, 0), cases[i].warning);
        if (!i) assert_int_equal(shapeproof_inventory_tensor(inventory, 0)->flags, 0);
        if (!i) assert_int_equal(shapeproof_inventory_tensor(inventory, 1)->flags, SHAPEPROOF_TENSOR_NO_DATA);
        shapeproof_inventory_close(inventory);
    }
}

/* What gguf-py reads and llama.cpp refuses. */
static void test_llama_refuses(void **state)
{
    (void)state;
    static const char *const warnings[] = {
        "llama.cpp refuses it: the metadata have the key 'k' more than once",
        "llama.cpp refuses it: a key of the metadata is empty",
        "llama.cpp refuses it: metadata 'l' is a list of lists",
        "llama.cpp refuses it, unless it is built for longer names: the name of tensor "
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' has 64 bytes, at most 63",
        "llama.cpp refuses it: tensor 'b' has 5 dimensions, at most 4",
        "llama.cpp refuses it: the data of tensor 'b' lie before those of "
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', which is in front of it in the header"};
    struct shapeproof_inventory *inventory = open_good("refused.gguf");
    assert_int_equal(shapeproof_inventory_warning_count(inventory), COUNT(warnings));
    for (size_t i = 0; i < COUNT(warnings); i++)
        assert_string_equal(shapeproof_inventory_warning(inventory, i), warnings[i]);
    shapeproof_inventory_close(inventory);
}

/* ---- pieces ---- */

static void test_pieces(void **state)
{
    (void)state;
    static const char *const names[] = {"split", "split/model-00001-of-00003.gguf"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct shapeproof_inventory *inventory = open_good(names[i]);
        assert_int_equal(shapeproof_inventory_file_count(inventory), 3);
        assert_int_equal(shapeproof_inventory_count(inventory), 3);
        assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
        assert_string_equal(metadata_of(inventory, "split.no"), "0");
        shapeproof_inventory_close(inventory);
    }
    struct shapeproof_inventory *second = open_good("split/model-00002-of-00003.gguf");
    assert_int_equal(shapeproof_inventory_count(second), 1);
    shapeproof_inventory_close(second);
}

static void copy_piece(const char *from, const char *name)
{
    char path[128], bytes[1024];
    snprintf(path, sizeof path, "fixtures/gguf/ok/split/%s", from);
    const int fd = open(path, O_RDONLY);
    const ssize_t length = read(fd, bytes, sizeof bytes);
    assert_true(length > 0);
    close(fd);
    scratch_write(&scratch, name, bytes, (size_t)length);
}

static void test_missing_pieces(void **state)
{
    (void)state;
    copy_piece("model-00001-of-00003.gguf", "model-00001-of-00003.gguf");
    copy_piece("model-00003-of-00003.gguf", "model-00003-of-00003.gguf");
    for (int folder = 0; folder < 2; folder++) {
        struct shapeproof_inventory *inventory =
            must_open(folder ? scratch.path : scratch_path(&scratch, "model-00001-of-00003.gguf"));
        assert_int_equal(shapeproof_inventory_count(inventory), 2);
        assert_int_equal(shapeproof_inventory_warning_count(inventory), 1);
        assert_string_equal(shapeproof_inventory_warning(inventory, 0),
                            "1 of 3 shards are absent: 'model-00002-of-00003.gguf'");
        shapeproof_inventory_close(inventory);
    }
    copy_piece("model-00002-of-00003.gguf", "renamed.gguf");
    struct shapeproof_inventory *renamed = must_open(scratch_path(&scratch, "renamed.gguf"));
    assert_int_equal(shapeproof_inventory_warning_count(renamed), 1);
    assert_string_equal(shapeproof_inventory_warning(renamed, 0), "this is piece 2 of 3 of a split model");
    shapeproof_inventory_close(renamed);
    scratch_empty(&scratch);
}

/* ---- hostile files ---- */

static const struct {
    const char *name, *message;
} refused[] = {
    {"version4.gguf", "version 4 of GGUF, of which 1 to 3 are read here"},
    {"magic_alone.gguf", "5 bytes, fewer than the magic number and version of a GGUF file"},
    {"no_tensor.gguf", "64 bytes after the header of a GGUF file that declares no tensor"},
    {"cut_header.gguf", "1 tensors are declared, and 0 bytes are left of the file (truncated download?)"},
    {"counts.gguf",
     "4611686018427387904 tensors are declared, and 72 bytes are left of the file (truncated download?)"},
    {"pairs.gguf", "4611686018427387904 metadata pairs are over the limit of 1000000"},
    {"long_string.gguf",
     "ends inside the header: at byte 45, only 83 of 9223372036854775808 bytes are left (truncated download?)"},
    {"long_list.gguf", "a list at byte 49: 4611686018427387904 items of 8 bytes, which is more than any file has"},
    {"long_key.gguf", "metadata at byte 24: a key of 70000 bytes"},
    {"kind.gguf", "metadata 'k': a value of type 13, which does not exist"},
    {"list_kind.gguf", "metadata 'k': a value of type 77, which does not exist"},
    {"deep.gguf", "metadata 'k': lists are nested deeper than 8 levels"},
    {"alignment.gguf", "metadata 'general.alignment' is 24, not an integer that is a power of two"},
    {"alignment_text.gguf", "metadata 'general.alignment' is 32, not an integer that is a power of two"},
    {"twice.gguf", "tensor name 'a' appears twice"},
    {"overlap.gguf", "tensor 'a': bytes [0, 64) overlap 'b' [32, 48)"},
    {"alignment_wide.gguf", "metadata 'general.alignment' is an integer of 64 bits, not of 32"},
    {"unaligned.gguf", "tensor 'a': its offset 8 is not a multiple of the alignment, 32"},
    {"rows.gguf", "tensor 'a': rows of 100 elements are not whole blocks of Q4_0, which have 32"},
    {"shape.gguf", "tensor 'a': the shape overflows 64 bits"},
    {"bytes.gguf", "tensor 'a': the shape overflows 64 bits"},
    {"far.gguf", "tensor 'a': its data would end beyond 64 bits"},
    {"rank.gguf", "tensor 'a': 65 dimensions, more than 64"},
    {"nul.gguf", "tensor at byte 24: the name is not UTF-8 without NUL"},
    {"not_text.gguf", "tensor at byte 24: the name is not UTF-8 without NUL"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        char path[128];
        struct shapeproof_error error;
        snprintf(path, sizeof path, "fixtures/gguf/bad/%s", refused[i].name);
        if (shapeproof_inventory_open(path, &error)) fail_msg("%s: accepted", path);
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
        assert_memory_equal(error.message, path, strlen(path));
        assert_string_equal(error.message + strlen(path) + 2, refused[i].message);
    }
}

/* A file that is nothing but empty strings ends at the limit for headers, however long it is. */
static void test_endless_header(void **state)
{
    (void)state;
    static const char head[] = "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0k\x9\0\0\0\x8\0\0\0"
                               "\0\0\0\0\0\0\0\x40";
    struct shapeproof_error error;
    const char *path = scratch_write(&scratch, "a.gguf", head, sizeof head - 1);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_null(shapeproof_inventory_open(path, &error));
    assert_non_null(strstr(error.message, "the header is over the limit of 268435456 bytes"));
}

/* ---- random damage ---- */

static size_t slurp(const char *path, unsigned char *bytes, size_t most)
{
    const int fd = open(path, O_RDONLY);
    const ssize_t length = read(fd, bytes, most);
    assert_true(fd >= 0 && length > 0);
    close(fd);
    return (size_t)length;
}

static void test_damage(void **state)
{
    (void)state;
    static const char *const paths[] = {"fixtures/gguf/ok/five.gguf", "fixtures/gguf/ok/big_endian.gguf",
                                        "fixtures/gguf/ok/version1.gguf", "fixtures/gguf/ok/blocks.gguf",
                                        "fixtures/gguf/ok/nested.gguf"};
    unsigned char good[12288], bytes[12288];
    uint32_t random = 1;
    for (size_t round = 0; round < 5000 / sample(); round++) {
        size_t length = slurp(paths[round % COUNT(paths)], good, sizeof good);
        memcpy(bytes, good, length);
        for (int i = 0; i < 3; i++) {
            random = random * 1664525 + 1013904223;
            bytes[(random >> 8) % (i ? 200 < length ? 200 : length : length)] = (unsigned char)(random >> 24);
        }
        if (round % 7 == 0) length = (random >> 8) % length + 1;
        struct shapeproof_error error = {0};
        struct shapeproof_inventory *inventory =
            shapeproof_inventory_open(scratch_write(&scratch, "damaged.gguf", bytes, length), &error);
        if (!inventory) assert_true(error.status == SHAPEPROOF_ERR_FILE && error.message[0]);
        shapeproof_inventory_close(inventory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_orders),    cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_versions),       cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_llama_refuses),  cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_missing_pieces), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_endless_header), cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
