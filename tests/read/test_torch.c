/* SPDX-License-Identifier: MIT
 * PyTorch files: every tensor of the fixtures, and the exact words for each broken one. */
#include "torch_helper.h"

#include <stdlib.h>
#include <unistd.h>

#include "read/zip/archive.h"

#define OK "fixtures/torch/ok/"
#define BAD "fixtures/torch/bad/"

enum { MAX_ROWS = 24 };

struct row {
    const char *name, *dtype;
    uint32_t rank;
    uint64_t shape[3];
    uint64_t bytes;
    uint32_t flags;
    const char *same_as;
};

struct expected {
    const char *file, *format;
    size_t count;
    struct row rows[MAX_ROWS];
};

#define VIEW SHAPEPROOF_TENSOR_VIEW
#define STATE SHAPEPROOF_TENSOR_STATE
#define SPARSE SHAPEPROOF_TENSOR_SPARSE

/* What the module of make_torch.py holds, whole or in a legacy stream. `mask` is not persistent, `optional` is None,
 * `constant` is an attribute that no state dict has. */
#define MODULE_ROWS                                                                                                    \
    {"scale", "F32", 0, {0}, 4, 0, NULL}, {"blocks.0.linear.weight", "F32", 2, {2, 3}, 24, 0, NULL},                   \
        {"blocks.0.linear.bias", "F32", 1, {2}, 8, 0, NULL}, {"blocks.0.norm.weight", "F32", 1, {2}, 8, 0, NULL},      \
        {"blocks.0.norm.bias", "F32", 1, {2}, 8, 0, NULL}, {"blocks.0.norm.running_mean", "F32", 1, {2}, 8, 0, NULL},  \
        {"blocks.0.norm.running_var", "F32", 1, {2}, 8, 0, NULL},                                                      \
        {"blocks.0.norm.num_batches_tracked", "I64", 0, {0}, 8, 0, NULL},                                              \
        {"blocks.1.linear.weight", "F32", 2, {2, 3}, 24, 0, NULL},                                                     \
        {"blocks.1.linear.bias", "F32", 1, {2}, 8, 0, NULL}, {"blocks.1.norm.weight", "F32", 1, {2}, 8, 0, NULL},      \
        {"blocks.1.norm.bias", "F32", 1, {2}, 8, 0, NULL}, {"blocks.1.norm.running_mean", "F32", 1, {2}, 8, 0, NULL},  \
        {"blocks.1.norm.running_var", "F32", 1, {2}, 8, 0, NULL},                                                      \
        {"blocks.1.norm.num_batches_tracked", "I64", 0, {0}, 8, 0, NULL},                                              \
        {"head.weight", "F32", 2, {5, 2}, 40, 0, NULL},                                                                \
    {                                                                                                                  \
        "constant", "F32", 1, {3}, 12, STATE, NULL                                                                     \
    }

#define FLAT_ROWS                                                                                                      \
    {"a.weight", "F32", 2, {2, 3}, 24, 0, NULL}, {"a.bias", "F32", 1, {2}, 8, 0, NULL},                                \
    {                                                                                                                  \
        "n", "I64", 0, {0}, 8, 0, NULL                                                                                 \
    }

#define PLAIN_ROWS                                                                                                     \
    {"w", "F32", 2, {2, 3}, 24, 0, NULL}, { "b", "F16", 1, {2}, 4, 0, NULL }

/* Keys that are no plain text: an enumerator, bytes, integers of 100 bits, a tuple, a NUL, a lone surrogate. */
#define KEY_ROWS                                                                                                       \
    {"<key 0>", "F32", 1, {1}, 4, 0, NULL}, {"by", "F32", 1, {2}, 8, 0, NULL}, {"\u00ff", "F32", 1, {3}, 12, 0, NULL}, \
        {"1000000000000000000000000000000", "F32", 1, {4}, 16, 0, NULL},                                               \
        {"-1000000000000000000000000000000", "F32", 1, {5}, 20, 0, NULL}, {"<key 5>", "F32", 1, {6}, 24, 0, NULL},     \
        {"a\xc0\x80"                                                                                                   \
         "b",                                                                                                          \
         "F32",                                                                                                        \
         1,                                                                                                            \
         {7},                                                                                                          \
         28,                                                                                                           \
         0,                                                                                                            \
         NULL},                                                                                                        \
    {                                                                                                                  \
        "c\xed\xb2\x80", "F32", 1, {8}, 32, 0, NULL                                                                    \
    }

static const struct expected files[] = {
    {"flat.pt", "torch-zip", 3, {FLAT_ROWS}},
    {"deflated.pt", "torch-zip", 3, {FLAT_ROWS}},
    {"nested.pt",
     "torch-zip",
     3,
     {{"model.a.0", "F32", 1, {1}, 4, 0, NULL},
      {"model.a.1.b", "F32", 1, {2}, 8, 0, NULL},
      {"model.7.0", "F32", 1, {3}, 12, 0, NULL}}},
    {"tied.pt",
     "torch-zip",
     4,
     {{"wte", "F32", 2, {4, 2}, 32, 0, NULL},
      {"h", "F32", 1, {2}, 8, 0, NULL},
      {"head", "F32", 2, {4, 2}, 32, 0, "wte"},
      {"twin", "F32", 2, {4, 2}, 32, 0, "wte"}}},
    {"views.pt",
     "torch-zip",
     4,
     {{"whole", "F32", 1, {10}, 40, 0, NULL},
      {"low", "F32", 1, {4}, 16, VIEW, NULL},
      {"high", "F32", 1, {4}, 16, VIEW, NULL},
      {"shaped", "F32", 2, {2, 5}, 40, VIEW, NULL}}},
    {"module.pt", "torch-zip", 17, {MODULE_ROWS}},
    {"legacy_module.pt", "torch-legacy", 17, {MODULE_ROWS}},
    {"parameter.pt", "torch-zip", 1, {{"", "F32", 2, {2, 2}, 16, 0, NULL}}},
    {"bare.pt", "torch-zip", 1, {{"", "F32", 2, {2, 3}, 24, 0, NULL}}},
    {"list.pt", "torch-zip", 2, {{"0", "F32", 1, {1}, 4, 0, NULL}, {"1", "F32", 1, {2}, 8, 0, NULL}}},
    {"empty.pt", "torch-zip", 0, {{0}}},
    {"protocol4.pt", "torch-zip", 1, {{"w", "F32", 2, {2, 3}, 24, 0, NULL}}},
    {"protocol5.pt", "torch-zip", 1, {{"w", "F32", 2, {2, 3}, 24, 0, NULL}}},
    {"shapes.pt",
     "torch-zip",
     5,
     {{"scalar", "F32", 0, {0}, 4, 0, NULL},
      {"empty", "F32", 2, {0, 3}, 0, 0, NULL},
      {"expanded", "F32", 2, {1000, 2}, 4, SHAPEPROOF_TENSOR_EXPANDED, NULL},
      {"transposed", "F32", 2, {3, 2}, 24, 0, NULL},
      {"slice", "F32", 2, {2, 2}, 16, 0, NULL}}},
    {"dtypes.pt",
     "torch-zip",
     21,
     {{"bool", "BOOL", 1, {3}, 3, 0, NULL},
      {"uint8", "U8", 1, {3}, 3, 0, NULL},
      {"int8", "I8", 1, {3}, 3, 0, NULL},
      {"uint16", "U16", 1, {3}, 6, 0, NULL},
      {"int16", "I16", 1, {3}, 6, 0, NULL},
      {"uint32", "U32", 1, {3}, 12, 0, NULL},
      {"int32", "I32", 1, {3}, 12, 0, NULL},
      {"uint64", "U64", 1, {3}, 24, 0, NULL},
      {"int64", "I64", 1, {3}, 24, 0, NULL},
      {"float16", "F16", 1, {3}, 6, 0, NULL},
      {"bfloat16", "BF16", 1, {3}, 6, 0, NULL},
      {"float32", "F32", 1, {3}, 12, 0, NULL},
      {"float64", "F64", 1, {3}, 24, 0, NULL},
      {"complex32", "C32", 1, {3}, 12, 0, NULL},
      {"complex64", "C64", 1, {3}, 24, 0, NULL},
      {"complex128", "C128", 1, {3}, 48, 0, NULL},
      {"float8_e4m3fn", "F8_E4M3", 1, {3}, 3, 0, NULL},
      {"float8_e5m2", "F8_E5M2", 1, {3}, 3, 0, NULL},
      {"float8_e8m0fnu", "F8_E8M0", 1, {3}, 3, 0, NULL},
      {"float8_e4m3fnuz", "F8_E4M3FNUZ", 1, {3}, 3, 0, NULL},
      {"float8_e5m2fnuz", "F8_E5M2FNUZ", 1, {3}, 3, 0, NULL}}},
    {"quantised.pt", "torch-zip", 2, {{"q", "QI8", 2, {2, 3}, 6, 0, NULL}, {"c", "QU8", 2, {2, 3}, 6, 0, NULL}}},
    /* bytes of the parts: 3 x 2 indices and 3 values; 5 row starts, 4 columns and 4 values */
    {"sparse.pt",
     "torch-zip",
     2,
     {{"coo", "F32", 2, {3, 3}, 60, SPARSE, NULL}, {"csr", "F32", 2, {4, 4}, 88, SPARSE, NULL}}},
    {"nested_jagged.pt", "torch-zip", 1, {{"n", "F32", 1, {9}, 36, 0, NULL}}},
    {"meta.pt",
     "torch-zip",
     2,
     {{"m", "F32", 2, {(uint64_t)1 << 40, 2}, (uint64_t)8 << 40, SHAPEPROOF_TENSOR_NO_DATA, NULL},
      {"w", "F32", 1, {2}, 8, 0, NULL}}},
    {"legacy.pt",
     "torch-legacy",
     4,
     {{"b", "F32", 2, {2, 2}, 16, 0, NULL},
      {"a", "F16", 1, {3}, 6, 0, NULL},
      {"view", "F32", 1, {3}, 12, VIEW, NULL},
      {"whole", "F32", 1, {10}, 40, 0, NULL}}},
    {"object.pt",
     "torch-zip",
     2,
     {{"holder.weight", "F32", 2, {2, 3}, 24, 0, NULL}, {"holder.slot", "F32", 1, {4}, 16, 0, NULL}}},
    {"cycle.pt", "torch-zip", 1, {{"weight", "F32", 1, {2}, 8, 0, NULL}}},
    {"collision.pt", "torch-zip", 2, {{"a.b", "F32", 1, {1}, 4, 0, NULL}, {"a.b (2)", "F32", 1, {2}, 8, 0, NULL}}},
    {"bytes.pt", "torch-zip", 2, {{"outer.inner", "F32", 1, {3}, 12, 0, NULL}, {"w", "F32", 1, {2}, 8, 0, NULL}}},
    {"legacy_protocol1.pt", "torch-legacy", 2, {PLAIN_ROWS}},
    {"legacy_protocol3.pt", "torch-legacy", 2, {PLAIN_ROWS}},
    {"legacy_protocol4.pt", "torch-legacy", 2, {PLAIN_ROWS}},
    {"legacy_protocol5.pt", "torch-legacy", 2, {PLAIN_ROWS}},
    {"keys.pt", "torch-zip", 8, {KEY_ROWS}},
    {"legacy_keys.pt", "torch-legacy", 8, {KEY_ROWS}},
    {"keeper.pt",
     "torch-zip",
     6,
     {{"linear.weight", "F32", 2, {2, 2}, 16, 0, NULL},
      {"linear.bias", "F32", 1, {2}, 8, 0, NULL},
      {"cache.k.0", "F32", 1, {2}, 8, STATE, NULL},
      {"cache.k.1", "F32", 1, {3}, 12, STATE, NULL},
      {"unregistered.0.weight", "F32", 2, {1, 1}, 4, STATE, NULL},
      {"unregistered.0.bias", "F32", 1, {1}, 4, STATE, NULL}}},
    {"compiled.pt",
     "torch-zip",
     2,
     {{"_orig_mod.weight", "F32", 2, {2, 3}, 24, 0, NULL}, {"_orig_mod.bias", "F32", 1, {2}, 8, 0, NULL}}},
    {"traced.pt", "torch-zip", 2, {{"0.weight", "F32", 2, {2, 3}, 24, 0, NULL}, {"0.bias", "F32", 1, {2}, 8, 0, NULL}}},
    {"script.pt",
     "torchscript",
     3,
     {{"steps", "I64", 1, {1}, 8, 0, NULL},
      {"inner.weight", "F32", 2, {3, 4}, 48, 0, NULL},
      {"inner.bias", "F32", 1, {3}, 12, 0, NULL}}},
    {"optimizer_in_list.pt",
     "torch-zip",
     3,
     {{"0.w", "F32", 1, {2}, 8, 0, NULL},
      {"1.state.0.step", "F32", 0, {0}, 4, STATE, NULL},
      {"1.state.0.exp_avg", "F32", 1, {2}, 8, STATE, NULL}}},
};

static void check_row(const struct shapeproof_inventory *inventory, size_t index, const struct row *row)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, index);
    assert_string_equal(tensor->name, row->name);
    assert_string_equal(tensor->dtype_name, row->dtype);
    assert_int_equal(tensor->rank, row->rank);
    for (uint32_t i = 0; i < row->rank; i++) assert_int_equal(tensor->shape[i], row->shape[i]);
    assert_int_equal(tensor->bytes, row->bytes);
    assert_int_equal(tensor->flags, row->flags);
    if (!row->same_as) assert_int_equal(tensor->same_as, SHAPEPROOF_NONE);
    else assert_string_equal(shapeproof_inventory_tensor(inventory, tensor->same_as)->name, row->same_as);
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[256];
        struct shapeproof_error error = {0};
        snprintf(path, sizeof path, OK "%s", files[i].file);
        struct shapeproof_inventory *inventory = index_path(path, &error);
        assert_string_equal(error.message, "");
        assert_string_equal(shapeproof_inventory_format(inventory), files[i].format);
        assert_int_equal(shapeproof_inventory_count(inventory), files[i].count);
        for (size_t k = 0; k < files[i].count; k++) check_row(inventory, k, &files[i].rows[k]);
        shapeproof_inventory_close(inventory);
    }
}

static void test_strides_and_storages(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = index_path(OK "shapes.pt", &error);
    assert_non_null(inventory);
    const struct shapeproof_tensor *transposed = shapeproof_inventory_tensor(inventory, 3),
                                   *slice = shapeproof_inventory_tensor(inventory, 4);
    assert_int_equal(transposed->stride[0], 1);
    assert_int_equal(transposed->stride[1], 3);
    assert_int_equal(slice->stride[0], 4);
    assert_int_equal(slice->stride[1], 2);
    assert_int_equal(slice->offset, 4);
    assert_string_equal(slice->storage, "4");
    shapeproof_inventory_close(inventory);
}

/* In a legacy stream the place of each storage is known. */
static void test_places(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = index_path(OK "legacy.pt", &error);
    assert_non_null(inventory);
    const struct shapeproof_tensor *view = shapeproof_inventory_tensor(inventory, 2),
                                   *whole = shapeproof_inventory_tensor(inventory, 3);
    assert_int_equal(whole->data_end - whole->data_begin, 40);
    assert_int_equal(view->data_begin - whole->data_begin, 8);
    assert_int_equal(view->data_end - view->data_begin, 12);
    assert_string_equal(view->storage, whole->storage);
    shapeproof_inventory_close(inventory);
}

static void test_compressed_storages(void **state)
{
    static const struct {
        const char *file;
        size_t compressed;
    } cases[] = {{OK "flat.pt", 0}, {OK "deflated.pt", 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_inventory *inventory = index_path(cases[i].file, &error);
        assert_non_null(inventory);
        assert_int_equal(inventory->compressed, cases[i].compressed);
        shapeproof_inventory_close(inventory);
    }
}

/* A convolution that is packed for its kernels: two tensors and a bias without names, which a warning tells instead. */
static void test_packed_for_kernels(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = index_path(OK "packed.pt", &error);
    assert_string_equal(error.message, "");
    assert_int_equal(shapeproof_inventory_count(inventory), 2);
    assert_string_equal(shapeproof_inventory_tensor(inventory, 0)->name, "norm.weight");
    assert_string_equal(shapeproof_inventory_tensor(inventory, 1)->name, "norm.bias");
    assert_string_equal(shapeproof_inventory_warning(inventory, shapeproof_inventory_warning_count(inventory) - 1),
                        "tensors that are packed for a library have no names in a state dict, and are not listed: "
                        "'conv.1.0', 'conv.1.1', 'conv.2.0'");
    shapeproof_inventory_close(inventory);
}

/* Adam keeps three tensors per parameter: all of them, and nothing of the model, are state. */
static void test_optimizer(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = index_path(OK "optimizer.pt", &error);
    assert_non_null(inventory);
    assert_int_equal(shapeproof_inventory_count(inventory), 16 + 3 * 10);
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        const bool of_model = !strncmp(tensor->name, "model.", 6);
        assert_true(of_model || !strncmp(tensor->name, "optimizer.state.", 16));
        assert_int_equal(tensor->flags, of_model ? 0 : STATE);
    }
    assert_true(shapeproof_inventory_find(inventory, "optimizer.state.9.exp_avg_sq") != SHAPEPROOF_NONE);
    shapeproof_inventory_close(inventory);
}

/* ---- broken and hostile ---- */

#define V2 "torch._utils._rebuild_tensor_v2"

static const struct refusal refusals[] = {
    {"storage_missing.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': storage record missing: no 'archive/data/7' in the archive"},
    {"storage_path.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': storage record missing: no 'archive/data/../../etc/passwd' in the archive"},
    {"storage_short.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': storage record 'archive/data/0' has 16 bytes, but 5 x F32 need 20"},
    {"storage_count_negative.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': storage '0': its count is not a non-negative integer"},
    {"storage_count_float.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': storage '0': its count is not a non-negative integer"},
    {"storage_count_overflow.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': storage '0': 4611686018427387904 elements overflow 64 bits"},
    {"storage_id_short.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': a storage id of 3 items, expected 5"},
    {"storage_id_long.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': a storage id of 7 items, expected 5"},
    {"storage_id_text.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': the first argument of " V2 " is not a storage"},
    {"storage_none.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': the first argument of " V2 " is not a storage"},
    {"storage_class_text.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': storage '0': its class is not a name"},
    {"rank_mismatch.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': 2 dimensions and 1 strides"},
    {"rank_limit.pt", SHAPEPROOF_KIND_LIMIT, "tensor 'x': 65 dimensions, at most 64"},
    {"dimension_negative.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': item 0 of its shape is not a non-negative integer"},
    {"dimension_big.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': item 0 of its shape is not a non-negative integer"},
    {"dimension_bool.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': item 0 of its shape is not a non-negative integer"},
    {"stride_negative.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': item 0 of its stride is not a non-negative integer"},
    {"offset_negative.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': its storage offset is not a non-negative integer"},
    {"past_storage.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': it reaches element 5 of storage '0', which has 16 bytes"},
    {"stride_past_storage.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': it reaches element 5 of storage '0', which has 16 bytes"},
    {"product_overflow.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': its size overflows 64 bits"},
    {"size_text.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': its shape is not a tuple"},
    {"few_arguments.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': " V2 " with 1 arguments, at least 6 expected"},
    {"many_arguments.pt", SHAPEPROOF_KIND_MALFORMED, "tensor 'x': " V2 " with 8 arguments, at most 7 expected"},
    {"v3_without_dtype.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': torch._utils._rebuild_tensor_v3 with 6 arguments, at least 7 expected"},
    {"sparse_without_parts.pt", SHAPEPROOF_KIND_MALFORMED,
     "tensor 'x': torch._utils._rebuild_sparse_tensor without indices and values"},
    {"streams_nested.pt", SHAPEPROOF_KIND_LIMIT, "object 'x': streams nested deeper than 2, or too many of them"},
    {"lists_deep.pt", SHAPEPROOF_KIND_LIMIT, "objects nested deeper than 512"},
    {"names_amplified.pt", SHAPEPROOF_KIND_LIMIT,
     "names of more than 64 bytes for each byte of the file, and 1 MiB besides, in all"},
    {"legacy_protocol.pt", SHAPEPROOF_KIND_MALFORMED, "the protocol version is not 1001"},
    {"legacy_keys_missing.pt", SHAPEPROOF_KIND_MALFORMED, "storage '11' is not in the list of storage keys"},
    {"legacy_keys_unknown.pt", SHAPEPROOF_KIND_MALFORMED, "storage key '12' does not occur in the object"},
    {"legacy_keys_twice.pt", SHAPEPROOF_KIND_MALFORMED, "storage key '11' is listed twice"},
    {"legacy_keys_type.pt", SHAPEPROOF_KIND_MALFORMED, "the storage keys are not a list"},
    {"legacy_count.pt", SHAPEPROOF_KIND_MALFORMED, "storage '11' at byte 223 has 5 elements, its id says 4"},
    {"legacy_count_negative.pt", SHAPEPROOF_KIND_MALFORMED, "storage '11' at byte 223 has -1 elements, its id says 4"},
    {"legacy_cut.pt", SHAPEPROOF_KIND_MALFORMED, "storage '11' of 16 bytes at byte 231 passes the end at 246"},
    {"legacy_cut_count.pt", SHAPEPROOF_KIND_MALFORMED, "ends at byte 228, before the storages are complete"},
    {"legacy_view.pt", SHAPEPROOF_KIND_MALFORMED, "storage '11': a view of its elements 3 to 5, but it has 4"},
};

static void test_refusals(void **state)
{
    (void)state;
    assert_refusals(BAD, refusals, sizeof refusals / sizeof *refusals);
}

static void test_long_names(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    assert_null(index_path(BAD "keys_long.pt", &error));
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
    assert_non_null(strstr(error.message, "kkk...' is longer than 65536 bytes"));
}

/* Suspicious, and readable all the same: one tensor each (or as many as said) and one warning. */
static const struct {
    const char *file;
    size_t tensors;
    const char *warning; /* NULL for none */
} suspicious[] = {
    {"calls_system.pt", 1, "unpickling it would call posix.system: nothing was executed"},
    {"storage_twice.pt", 2, "storage '0' is declared twice, as 4 x F32 and 4 x I32"},
    {"trailing.pt", 1, "data.pkl: 4 bytes after its end"},
    {"legacy_trailing.pt", 1, "4 bytes after the last storage"},
    {"version_none.pt", 1, "the archive has no version record"},
    {"version_99.pt", 1, "container version 99, newer than the known ones (1 to 10)"},
    {"outside.pt", 1, "torch refuses it: the member, 'other/data', is not in the folder 'archive/'"},
    {"byteorder.pt", 1, "torch refuses it: byteorder is 'ittle', 'little' or 'big' is expected"},
    {"alignment.pt", 1, "torch refuses it: .storage_alignment is '64x', a number is expected"},
    {"alignment_nul.pt", 1, "torch refuses it: .storage_alignment is '6', a number is expected"},
    {"id_latin1.pt", 1, "torch refuses it: .data/serialization_id is '\\xe9', UTF-8 is expected"},
    {"record_long.pt", 1, NULL},
    {"unknown_storage.pt", 1, "refers to torch.OddStorage: nothing was executed"},
    {"key_nul.pt", 1, NULL},
    {"storage_key_number.pt", 1, NULL},
    {"one_huge.pt", 2, NULL},
    {"laughs_barren.pt", 0, NULL},
    {"laughs.pt", 64, "more than 64 paths lead to one container: not all of them are listed"},
};

static void test_suspicious(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof suspicious / sizeof *suspicious; i++) {
        char path[256];
        struct shapeproof_error error = {0};
        snprintf(path, sizeof path, BAD "%s", suspicious[i].file);
        struct shapeproof_inventory *inventory = index_path(path, &error);
        assert_string_equal(error.message, "");
        assert_int_equal(shapeproof_inventory_count(inventory), suspicious[i].tensors);
        assert_int_equal(shapeproof_inventory_warning_count(inventory), suspicious[i].warning ? 1 : 0);
        if (suspicious[i].warning)
            assert_string_equal(shapeproof_inventory_warning(inventory, 0), suspicious[i].warning);
        shapeproof_inventory_close(inventory);
    }
}

/* One broken tensor is told from the others, and counted. */
static const struct {
    const char *file;
    size_t tensors;
    const char *warning; /* what it begins with */
} broken[] = {
    {"one_broken.pt", 2, "tensor 'broken' is not read: item 0 of its shape is not a non-negative integer"},
    {"one_record_missing.pt", 1,
     "tensor 'lost' is not read: storage record missing: no 'archive/data/7' in the archive"},
    {"one_name_long.pt", 1, "tensor 'kkkk"},
};

static void test_broken_among_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char path[256];
        struct shapeproof_error error = {0};
        snprintf(path, sizeof path, BAD "%s", broken[i].file);
        struct shapeproof_inventory *inventory = index_path(path, &error);
        assert_string_equal(error.message, "");
        assert_int_equal(shapeproof_inventory_count(inventory), broken[i].tensors);
        assert_int_equal(shapeproof_inventory_warning_count(inventory), 1);
        assert_int_equal(
            strncmp(shapeproof_inventory_warning(inventory, 0), broken[i].warning, strlen(broken[i].warning)), 0);
        assert_int_equal(inventory->unread, 1);
        shapeproof_inventory_close(inventory);
    }
}

static void test_unknown_storage_class(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = index_path(BAD "unknown_storage.pt", &error);
    assert_non_null(inventory);
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, 0);
    assert_int_equal(tensor->dtype, SHAPEPROOF_DTYPE_UNKNOWN);
    assert_string_equal(tensor->dtype_name, "OddStorage");
    assert_int_equal(tensor->parameters, 4);
    assert_int_equal(tensor->bytes, 0);
    shapeproof_inventory_close(inventory);
}

/* ---- random damage, to data.pkl alone: nothing else of the archive hides it ---- */

static void damage_pickle(const char *path, const char *record, int rounds, uint64_t *seed)
{
    static unsigned char good[1 << 15], bad[1 << 15];
    struct sp_file file;
    struct shapeproof_error error = {0};
    uint64_t offset;
    FILE *scratch = tmpfile();
    assert_non_null(scratch);
    assert_true(sp_file_open(&file, AT_FDCWD, path, &error));
    assert_in_range(file.size, 1, sizeof good);
    assert_true(sp_file_read(&file, 0, good, (size_t)file.size, &error));
    struct sp_zip *zip = sp_zip_open(&file, &error);
    assert_non_null(zip);
    const size_t index = sp_zip_find(zip, record);
    assert_true(sp_zip_data_offset(zip, index, &offset, &error));
    const size_t length = (size_t)sp_zip_entry(zip, index)->size;
    for (int round = 0; round < rounds; round++) {
        struct shapeproof_error why = {0};
        memcpy(bad, good, (size_t)file.size);
        damage(bad + offset, length, seed);
        assert_int_equal(pwrite(fileno(scratch), bad, (size_t)file.size, 0), file.size);
        const struct sp_file damaged = {.fd = fileno(scratch), .size = file.size, .path = "scratch"};
        struct shapeproof_inventory *inventory = index_open_file(&damaged, &why);
        assert_true(inventory || why.message[0]);
        shapeproof_inventory_close(inventory);
    }
    sp_zip_close(zip);
    sp_file_close(&file);
    fclose(scratch);
}

static void test_random_damage(void **state)
{
    (void)state;
    uint64_t seed = 3;
    damage_pickle(OK "nested.pt", "nested/data.pkl", 600, &seed);
    damage_pickle(OK "module.pt", "module/data.pkl", 300, &seed);
    damage_pickle(OK "sparse.pt", "sparse/data.pkl", 300, &seed);
    damage_pickle(OK "quantised.pt", "quantised/data.pkl", 300, &seed);
    damage_pickle(OK "bytes.pt", "bytes/data.pkl", 300, &seed);
    damage_pickle(OK "script.pt", "script/data.pkl", 200, &seed);
}

/* A loader of state dicts needs a dictionary with texts as keys. */
static void test_what_is_at_the_top(void **state)
{
    static const struct {
        const char *file;
        bool unkeyed, numbered;
    } expected[] = {
        {OK "flat.pt", false, false},  {OK "nested.pt", false, false},       {OK "list.pt", true, false},
        {OK "keys.pt", false, true},   {OK "legacy_keys.pt", false, true},   {OK "parameter.pt", true, false},
        {OK "module.pt", true, false}, {OK "legacy_module.pt", true, false}, {OK "bare.pt", true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_inventory *inventory = shapeproof_inventory_open(expected[i].file, &error);
        assert_non_null(inventory);
        if (inventory->unkeyed != expected[i].unkeyed || inventory->numbered != expected[i].numbered)
            fail_msg("%s: unkeyed %d, numbered %d", expected[i].file, inventory->unkeyed, inventory->numbered);
        shapeproof_inventory_close(inventory);
    }
}

/* A stream whose third pickle has a text around the fields of a tar header: torch.load takes it for a tar archive, if
 * the sum is right. */
static void test_tar_header(void **state)
{
    (void)state;
    static const char begin[] = "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.B\xe6\x01\0";
    static const char end[] = "0}.}.].", *const sums[] = {"007000\0 ", NULL, "\x80\0\0\0\0\0\0"};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        char bytes[512 + sizeof end] = {0}, digits[9];
        unsigned sum = 8 * ' ';
        FILE *scratch = tmpfile();
        struct shapeproof_error error = {0};
        assert_non_null(scratch);
        memcpy(bytes, begin, sizeof begin);
        memcpy(bytes + 512, end, sizeof end);
        for (size_t at = 0; at < 512; at++) sum += (unsigned char)bytes[at];
        snprintf(digits, sizeof digits, "%06o", sum);
        memcpy(bytes + 148, sums[i] ? sums[i] : digits, 8);
        if (i == 2) bytes[154] = (char)(sum >> 8);
        if (i == 2) bytes[155] = (char)sum;
        assert_int_equal(pwrite(fileno(scratch), bytes, sizeof bytes - 1, 0), sizeof bytes - 1);
        const struct sp_file file = {.fd = fileno(scratch), .size = sizeof bytes - 1, .path = "scratch"};
        struct shapeproof_inventory *inventory = index_open_file(&file, &error);
        if (!inventory) fail_msg("%s", error.message);
        assert_int_equal(shapeproof_inventory_warning_count(inventory), i > 0);
        if (i) assert_non_null(strstr(shapeproof_inventory_warning(inventory, 0), "torch.load takes it for a tar"));
        shapeproof_inventory_close(inventory);
        fclose(scratch);
    }
}

/* A storage of no elements, at locations that torch 2.13 knows, and at others. */
static void test_locations(void **state)
{
    (void)state;
    static const struct {
        const char *location, *warning;
    } locations[] = {{"Vcpu\n", NULL},
                     {"Vmeta\n", NULL},
                     {"Vcuda\n", NULL},
                     {"Vcuda:12\n", NULL},
                     {"Vmps:0\n", NULL},
                     {"Vprivateuseone:0\n", NULL},
                     {"Vxpu\n", NULL},
                     {"Vmtia:1\n", NULL},
                     {"N", "its location is no text"},
                     {"I1\n", "its location is no text"},
                     {"Vbogus\n", "it knows no location 'bogus'"},
                     {"V\n", "it knows no location ''"},
                     {"Vcpu:0\n", "it knows no location 'cpu:0'"},
                     {"VcudaX\n", "it knows no location 'cudaX'"},
                     {"Vcuda:\n", "it knows no location 'cuda:'"},
                     {"Vnpu:0\n", "it knows no location 'npu:0'"}};
    for (size_t i = 0; i < sizeof locations / sizeof *locations; i++) {
        char bytes[256];
        FILE *scratch = tmpfile();
        struct shapeproof_error error = {0};
        assert_non_null(scratch);
        const int length = snprintf(bytes, sizeof bytes,
                                    "L119547037146038801333356L\n.I1001\n.}.}Va\n(Vstorage\nctorch\nFloatStorage\nV0\n"
                                    "%sI0\nNtQs.](V0\ne.%c%c%c%c%c%c%c%c",
                                    locations[i].location, 0, 0, 0, 0, 0, 0, 0, 0);
        assert_int_equal(pwrite(fileno(scratch), bytes, (size_t)length, 0), length);
        const struct sp_file file = {.fd = fileno(scratch), .size = (uint64_t)length, .path = "scratch"};
        struct shapeproof_inventory *inventory = index_open_file(&file, &error);
        if (!inventory) fail_msg("%s", error.message);
        assert_int_equal(shapeproof_inventory_warning_count(inventory), locations[i].warning != NULL);
        if (locations[i].warning)
            assert_non_null(strstr(shapeproof_inventory_warning(inventory, 0), locations[i].warning));
        shapeproof_inventory_close(inventory);
        fclose(scratch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_strides_and_storages),
        cmocka_unit_test(test_compressed_storages),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_packed_for_kernels),
        cmocka_unit_test(test_optimizer),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_suspicious),
        cmocka_unit_test(test_tar_header),
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_unknown_storage_class),
        cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_broken_among_others),
        cmocka_unit_test(test_what_is_at_the_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
