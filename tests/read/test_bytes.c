/* SPDX-License-Identifier: MIT
 * Every byte of a file accounted for, in every format. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/listing.h"

/* The size = data of listed tensors + of none + padding + structure + unaccounted; then what no listed tensor uses, and
 * what is in no file. */
static const char *const sums[][2] = {
    {"safetensors/ok/shapes.safetensors", "324 = 28 + 0 + 5 + 291 + 0"},
    {"models/tiny-llama", "10128 = 8096 + 0 + 5 + 2027 + 0"},
    {"torch/ok/flat.pt", "2054 = 40 + 0 + 449 + 1565 + 0"},
    {"torch/ok/deflated.pt", "1292 = 15 + 0 + 0 + 1277 + 0"},
    {"torch/ok/tied.pt", "1869 = 40 + 0 + 385 + 1444 + 0"},
    {"torch/ok/views.pt", "1755 = 40 + 0 + 334 + 1381 + 0"},
    {"torch/ok/shapes.pt", "2510 = 60 + 36 + 468 + 1946 + 0; shapes/data/4 36"},
    {"torch/ok/sparse.pt", "2766 = 180 + 0 + 460 + 2126 + 0"},
    {"torch/ok/module.pt", "8657 = 200 + 32 + 1378 + 7047 + 0; module/data/1 16; module/data/9 16"},
    {"torch/ok/keeper.pt", "4164 = 52 + 16 + 716 + 3380 + 0; keeper/data/0 16"},
    {"torch/ok/quantised.pt", "2481 = 12 + 16 + 505 + 1948 + 0; quantised/data/2 8; quantised/data/3 8"},
    {"torch/ok/script.pt", "3819 = 68 + 0 + 421 + 3330 + 0"},
    {"torch/ok/legacy.pt", "717 = 62 + 0 + 0 + 655 + 0"},
    {"torch/bad/legacy_trailing.pt", "251 = 16 + 0 + 0 + 231 + 4"},
    {"torch/bad/one_broken.pt", "766 = 16 + 0 + 0 + 750 + 0"},
    {"torch/bad/record_long.pt", "499 = 16 + 4 + 0 + 479 + 0; archive/data/0 4"},
    {"containers/ok/arrays5.pkl", "670 = 99 + 0 + 0 + 571 + 0"},
    {"containers/ok/tensors.pkl", "731 = 32 + 0 + 0 + 699 + 0"},
    {"containers/bad/more.pkl", "228 = 32 + 0 + 0 + 192 + 4"},
    {"containers/ok/old.pt", "10240 = 64 + 0 + 7655 + 2521 + 0"},
    {"containers/ok/package.pt", "2716 = 52 + 0 + 413 + 2251 + 0"},
    {"containers/ok/program.pt2", "11443 = 56 + 0 + 476 + 10911 + 0"},
    {"containers/ok/script_old.pt", "1108 = 32 + 0 + 0 + 1076 + 0"},
    {"containers/ok/five.safetensors.gz", "187 = 187 + 0 + 0 + 0 + 0"},
    {"containers/bad/more.pkl.gz", "162 = 158 + 0 + 0 + 0 + 4"},
    {"containers/ok/agent.zip", "7134 = 112 + 0 + 1372 + 5650 + 0"},
    {"containers/ok/agent_deflated.zip", "2871 = 2296 + 0 + 0 + 575 + 0"},
    {"containers/ok/speech.nemo", "10240 = 40 + 0 + 7455 + 2745 + 0"},
    {"containers/ok/one.zip", "609 = 60 + 0 + 5 + 544 + 0"},
    {"hdf5/ok/plain.h5", "4968 = 24 + 0 + 0 + 2704 + 2240"},
    {"hdf5/ok/empty.h5", "800 = 0 + 0 + 0 + 800 + 0"},
    {"hdf5/ok/userblock.h5", "3088 = 16 + 0 + 0 + 1400 + 1672"},
    {"keras/ok/deflated.keras", "3008 = 1839 + 0 + 0 + 1169 + 0"},
    {"gguf/ok/five.gguf", "10144 = 120 + 0 + 80 + 9944 + 0"},
    {"gguf/ok/gap.gguf", "192 = 32 + 0 + 38 + 90 + 32"},
    {"gguf/ok/more.gguf", "164 = 16 + 0 + 23 + 57 + 68"},
    {"gguf/ok/split", "768 = 48 + 0 + 120 + 600 + 0"},
    {"numpy/ok/one.npy", "176 = 48 + 0 + 0 + 128 + 0"},
    {"numpy/ok/v3.npy", "152 = 24 + 0 + 0 + 128 + 0"},
    {"numpy/ok/kinds.npz", "3642 = 546 + 0 + 260 + 2836 + 0"},
    {"numpy/ok/compressed.npz", "714 = 412 + 0 + 40 + 262 + 0"},
    {"numpy/ok/half_broken.npz", "705 = 16 + 162 + 0 + 527 + 0; bad 22; short 140"},
    {"onnx/ok/linear.onnx", "184 = 60 + 0 + 0 + 124 + 0"},
    {"onnx/ok/types.onnx", "932 = 244 + 0 + 0 + 688 + 0"},
    {"flax/ok/chunked.msgpack", "226 = 88 + 0 + 0 + 138 + 0"},
    {"mxnet/ok/v1.params", "149 = 17 + 0 + 0 + 132 + 0"},
    {"mxnet/ok/sparse.params", "424 = 164 + 0 + 0 + 260 + 0"},
    {"tensorflow/ok/names.index", "254 = 0 + 0 + 0 + 254 + 0"},
    {"torch/ok/meta.pt", "1684 = 8 + 0 + 379 + 1297 + 0; absent 8796093022208"},
    {"hdf5/ok/huge.h5", "2060 = 12 + 0 + 0 + 1672 + 376; absent 4611686018427387904"},
    {"gguf/ok/cut_data.gguf", "136 = 24 + 0 + 22 + 90 + 0; absent 120"},
};

static void put_sum(struct sp_text *text, const char *path)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) fail_msg("%s", error.message);
    const struct shapeproof_file_bytes *bytes = shapeproof_inventory_file_bytes(inventory);
    assert_int_equal(bytes->size,
                     bytes->tensors + bytes->unused + bytes->padding + bytes->structure + bytes->unaccounted);
    sp_text_printf(text, "%" PRIu64 " = %" PRIu64 " + %" PRIu64 " + %" PRIu64 " + %" PRIu64 " + %" PRIu64, bytes->size,
                   bytes->tensors, bytes->unused, bytes->padding, bytes->structure, bytes->unaccounted);
    for (size_t i = 0; i < shapeproof_inventory_unused_count(inventory); i++) {
        const struct shapeproof_unused *unused = shapeproof_inventory_unused(inventory, i);
        sp_text_printf(text, "; %s %" PRIu64, unused->storage, unused->bytes);
    }
    if (bytes->absent) sp_text_printf(text, "; absent %" PRIu64, bytes->absent);
    shapeproof_inventory_close(inventory);
}

static void each_byte_is_for_something(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        char path[256];
        struct sp_text text = {0};
        snprintf(path, sizeof path, "fixtures/%s", sums[i][0]);
        put_sum(&text, path);
        if (strcmp(text.data, sums[i][1]) != 0) fail_msg("%s: %s, not %s", path, text.data, sums[i][1]);
        sp_text_free(&text);
    }
}

/* Bytes that somebody put in front of an archive, between its members or behind it are nobody's. */
static void hidden_bytes_show(void **state)
{
    static const char hidden[5000] = "hidden";
    unsigned char bytes[8192];
    struct sp_text text = {0};
    FILE *file = fopen("fixtures/torch/ok/legacy.pt", "rb");
    (void)state;
    assert_non_null(file);
    const size_t size = fread(bytes, 1, 3000, file);
    fclose(file);
    memcpy(bytes + size, hidden, sizeof hidden);
    put_sum(&text, scratch_write(&scratch, "hidden.pt", bytes, size + sizeof hidden));
    assert_string_equal(text.data, "5717 = 62 + 0 + 0 + 655 + 5000");
    sp_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_is_for_something),
        cmocka_unit_test(hidden_bytes_show),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
