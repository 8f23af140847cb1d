/* SPDX-License-Identifier: MIT
 * The bytes of tensors: the same out of every format, and a reason where they cannot be had. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/scratch.h"
#include "shapeproof/data.h"

struct open_file {
    struct shapeproof_inventory *inventory;
    struct shapeproof_data *data;
    struct shapeproof_error error;
};

static void open_both(struct open_file *file, const char *path)
{
    file->inventory = shapeproof_inventory_open(path, &file->error);
    if (!file->inventory) fail_msg("%s", file->error.message);
    file->data = shapeproof_data_open(file->inventory, &file->error);
    if (!file->data) fail_msg("%s", file->error.message);
}

static void close_both(struct open_file *file)
{
    shapeproof_data_close(file->data);
    shapeproof_inventory_close(file->inventory);
}

static size_t find(const struct open_file *file, const char *name)
{
    const size_t tensor = shapeproof_inventory_find(file->inventory, name);
    if (tensor == SHAPEPROOF_NONE) fail_msg("no tensor %s", name);
    return tensor;
}

static void expect_bytes(struct open_file *file, const char *name, const void *bytes, size_t length)
{
    unsigned char found[256];
    const size_t tensor = find(file, name);
    const char *obstacle = shapeproof_data_obstacle(file->data, tensor);
    if (obstacle) fail_msg("%s: %s", name, obstacle);
    assert_int_equal(shapeproof_inventory_tensor(file->inventory, tensor)->bytes, length);
    assert_true(shapeproof_data_read(file->data, tensor, 0, found, length, &file->error));
    assert_memory_equal(found, bytes, length);
}

static const char *obstacle_of(struct open_file *file, const char *name)
{
    const char *obstacle = shapeproof_data_obstacle(file->data, find(file, name));
    return obstacle ? obstacle : "none";
}

static void the_same_in_each_format(void **state)
{
    static const char *const paths[] = {"fixtures/cross/five.safetensors", "fixtures/cross/five.pt",
                                        "fixtures/cross/five.h5", "fixtures/cross/five.gguf"};
    static const float weight[] = {0, 1, 2, 3, 4, 5}, scalar = 1.5f;
    static const uint16_t half[] = {0x3c00, 0x3c00, 0x3c00, 0x3c00};
    static const int64_t steps[] = {0, 1, 2};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct open_file file = {0};
        open_both(&file, paths[i]);
        expect_bytes(&file, "weight", weight, sizeof weight);
        expect_bytes(&file, "half", half, sizeof half);
        expect_bytes(&file, "steps", steps, sizeof steps);
        expect_bytes(&file, "scalar", &scalar, sizeof scalar);
        expect_bytes(&file, "empty", "", 0);
        close_both(&file);
    }
}

/* Reading begins anywhere and ends with the tensor. */
static void parts(void **state)
{
    struct open_file file = {0};
    float two[2];
    (void)state;
    open_both(&file, "fixtures/cross/five.pt");
    const size_t weight = find(&file, "weight");
    assert_true(shapeproof_data_read(file.data, weight, 16, two, sizeof two, &file.error));
    assert_true(two[0] == 4 && two[1] == 5);
    assert_false(shapeproof_data_read(file.data, weight, 20, two, sizeof two, &file.error));
    assert_int_equal(file.error.status, SHAPEPROOF_ERR_USAGE);
    assert_string_equal(file.error.message, "no bytes [20, +8) of tensor 'weight' can be read");
    assert_false(shapeproof_data_read(file.data, weight, UINT64_MAX, two, 1, &file.error));
    close_both(&file);
}

/* In a directory, through an index, and from a file behind a user block or inside an archive. */
static void wherever_it_lies(void **state)
{
    static const char *const paths[] = {"fixtures/models/tiny-gpt2", "fixtures/models/tiny-gpt2/model.safetensors",
                                        "fixtures/models/tiny-gpt2/pytorch_model.bin",
                                        "fixtures/models/tiny-gpt2-sharded",
                                        "fixtures/models/tiny-gpt2-sharded/model.safetensors.index.json"};
    unsigned char first[64], bytes[64];
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct open_file file = {0};
        open_both(&file, paths[i]);
        const size_t bias = find(&file, "transformer.ln_f.bias");
        assert_true(shapeproof_data_read(file.data, bias, 0, i ? bytes : first, sizeof bytes, &file.error));
        if (i) assert_memory_equal(bytes, first, sizeof bytes);
        close_both(&file);
    }
}

/* Compressed, in chunks, in the header of an object, and in pieces that ranks have written. */
static void stored_in_other_ways(void **state)
{
    static const char *const paths[] = {"fixtures/cross/stored/whole.safetensors",
                                        "fixtures/cross/stored/deflated.npz",
                                        "fixtures/cross/stored/chunked.h5",
                                        "fixtures/cross/stored/fsdp",
                                        "fixtures/cross/stored/dcp",
                                        "fixtures/cross/stored/shards"};
    float block[35], columns[12];
    uint16_t cube[48], found[48];
    (void)state;
    for (size_t i = 0; i < 35; i++) block[i] = (float)i;
    for (size_t i = 0; i < 12; i++) columns[i] = (float)i;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct open_file file = {0};
        open_both(&file, paths[i]);
        expect_bytes(&file, "columns", columns, sizeof columns);
        expect_bytes(&file, "block", block, sizeof block);
        const size_t number = find(&file, "cube");
        assert_null(shapeproof_data_obstacle(file.data, number));
        assert_false(shapeproof_data_in_order(file.data, number));
        assert_true(shapeproof_data_read(file.data, number, 0, i ? found : cube, sizeof cube, &file.error));
        if (i) assert_memory_equal(found, cube, sizeof cube);
        for (size_t length = 1; length < 40; length += 3) { /* backwards, and within elements */
            unsigned char *bytes = malloc(length);          /* sanitizers see one byte too many */
            assert_true(shapeproof_data_read(file.data, number, 41 - length, bytes, length, &file.error));
            assert_memory_equal(bytes, (unsigned char *)cube + 41 - length, length);
            free(bytes);
        }
        close_both(&file);
    }
}

/* Of tensor-parallel ranks: by columns, by rows, and what each of them has. */
static void of_tensor_ranks(void **state)
{
    struct open_file file = {0};
    float row[7], columns[12], turned[12];
    (void)state;
    for (size_t i = 0; i < 7; i++) row[i] = (float)i;
    for (size_t i = 0; i < 12; i++) columns[i] = (float)i;
    for (size_t i = 0; i < 12; i++) turned[i] = columns[i % 2 * 6 + i / 2];
    open_both(&file, "fixtures/cross/stored/megatron");
    expect_bytes(&file, "model.decoder.layers.0.self_attention.linear_proj.weight", columns, sizeof columns);
    expect_bytes(&file, "model.embedding.word_embeddings.weight", turned, sizeof turned);
    expect_bytes(&file, "model.decoder.final_layernorm.weight", row, sizeof row);
    assert_string_equal(obstacle_of(&file, "model.decoder.layers.0.mlp.linear_fc1.weight"),
                        "in pieces of ranks that cannot be put together");
    close_both(&file);
}

/* Copies a small file with one byte changed. */
static void copy_damaged(struct scratch *scratch, const char *from, const char *to, size_t at)
{
    static unsigned char bytes[16 << 10];
    FILE *file = fopen(from, "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    assert_true(at < length);
    bytes[at] ^= 0xff;
    scratch_write(scratch, to, bytes, length);
}

/* What is compressed cannot be read when it is damaged. */
static void damaged(void **state)
{
    static const struct {
        const char *from, *to;
        size_t at; /* of a byte that is changed */
    } cases[] = {{"fixtures/cross/stored/deflated.npz", "a.npz", 210},
                 {"fixtures/cross/stored/chunked.h5", "a.h5", 4025}};
    struct scratch scratch;
    (void)state;
    scratch_make(&scratch);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct open_file file = {0};
        unsigned char bytes[140];
        copy_damaged(&scratch, cases[i].from, cases[i].to, cases[i].at);
        open_both(&file, scratch_path(&scratch, cases[i].to));
        const size_t block = find(&file, "block");
        assert_null(shapeproof_data_obstacle(file.data, block));
        assert_false(shapeproof_data_read(file.data, block, 0, bytes, sizeof bytes, &file.error));
        assert_int_equal(file.error.status, SHAPEPROOF_ERR_FILE);
        assert_non_null(strstr(file.error.message, "block"));
        close_both(&file);
    }
    scratch_remove(&scratch);
}

static void obstacles(void **state)
{
    static const struct {
        const char *path, *tensor, *obstacle;
    } cases[] = {
        {"fixtures/keras/ok/deflated.keras", "layers/dense/vars/0", "without a place of its own in the file"},
        {"fixtures/torch/ok/deflated.pt", "a.weight", "compressed in the archive"},
        {"fixtures/torch/ok/meta.pt", "m", "the file holds no bytes for it"},
        {"fixtures/torch/ok/shapes.pt", "expanded", "not contiguous"},
        {"fixtures/cross/stored/lzf.h5", "block", "stored in HDF5 with a filter that libhdf5 does not have"},
        {"fixtures/hdf5/ok/newer.h5", "chunked", "stored in a way that libhdf5 cannot open"},
        {"fixtures/dcp/ok/grid", "a", "its pieces are not as torch.save writes them"},
        {"fixtures/dcp/ok/gaps", "gap", "the file holds no bytes for it"},
        {"fixtures/dcp/ok/gaps", "overlap", "its pieces overlap"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct open_file file = {0};
        open_both(&file, cases[i].path);
        assert_string_equal(obstacle_of(&file, cases[i].tensor), cases[i].obstacle);
        close_both(&file);
    }
}

/* A file that is cut short after it was opened is an error, not a crash. */
static void cut_short(void **state)
{
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[64],\"data_offsets\":[0,64]}}";
    struct scratch scratch;
    struct open_file file = {0};
    unsigned char bytes[64];
    (void)state;
    scratch_make(&scratch);
    scratch_safetensors(&scratch, "a.safetensors", header, sizeof header - 1, 64);
    const char *path = scratch_path(&scratch, "a.safetensors");
    open_both(&file, path);
    assert_true(shapeproof_data_read(file.data, 0, 0, bytes, sizeof bytes, &file.error));
    assert_int_equal(truncate(path, 8 + sizeof header - 1 + 10), 0);
    assert_false(shapeproof_data_read(file.data, 0, 0, bytes, sizeof bytes, &file.error));
    assert_int_equal(file.error.status, SHAPEPROOF_ERR_FILE);
    assert_non_null(strstr(file.error.message, "a.safetensors: ends at byte"));
    close_both(&file);
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_in_each_format),
        cmocka_unit_test(parts),
        cmocka_unit_test(wherever_it_lies),
        cmocka_unit_test(stored_in_other_ways),
        cmocka_unit_test(of_tensor_ranks),
        cmocka_unit_test(damaged),
        cmocka_unit_test(obstacles),
        cmocka_unit_test(cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
