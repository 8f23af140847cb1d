/* SPDX-License-Identifier: MIT
 * The layouts of Keras 0.3 to 3, and .keras archives. */
#define _GNU_SOURCE
#include "read/hdf5_open.h"

#include "read/build.h"
#include "read/hdf5/keras_zip.h"
#include "read/scratch_fixture.h"

#define FIXTURES "fixtures/keras/"

static bool read_archive(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                         struct shapeproof_error *error)
{
    struct sp_zip *zip = sp_zip_open(file, error);
    if (!zip) return false;
    const bool ok = sp_keras_zip_is(zip) ? sp_keras_zip_index(zip, file, file_index, inventory, error)
                                         : sp_malformed(error, "not a Keras archive");
    sp_zip_close(zip);
    return ok;
}

static bool is_archive(const char *path) { return strstr(path, ".keras") != NULL; }

static index_function *reader_of(const char *path) { return is_archive(path) ? read_archive : sp_reader_hdf5.index; }

#define FITTED_ARCHIVE                                                                                                 \
    "keras-zip\n"                                                                                                      \
    "layers/batch_normalization/vars/0 F32 (3)\n"                                                                      \
    "layers/batch_normalization/vars/1 F32 (3)\n"                                                                      \
    "layers/batch_normalization/vars/2 F32 (3)\n"                                                                      \
    "layers/batch_normalization/vars/3 F32 (3)\n"                                                                      \
    "layers/dense/vars/0 F32 (4,3)\n"                                                                                  \
    "layers/dense/vars/1 F32 (3)\n"                                                                                    \
    "layers/dense_1/vars/0 F32 (3,2)\n"                                                                                \
    "layers/dense_1/vars/1 F32 (2)\n"                                                                                  \
    "optimizer/vars/0 I32 () state\n"                                                                                  \
    "optimizer/vars/1 F32 () state\n"                                                                                  \
    "optimizer/vars/2 F32 (4,3) state\n"                                                                               \
    "optimizer/vars/3 F32 (4,3) state\n"                                                                               \
    "optimizer/vars/4 F32 (3) state\n"                                                                                 \
    "optimizer/vars/5 F32 (3) state\n"                                                                                 \
    "optimizer/vars/6 F32 (3) state\n"                                                                                 \
    "optimizer/vars/7 F32 (3) state\n"                                                                                 \
    "optimizer/vars/8 F32 (3) state\n"                                                                                 \
    "optimizer/vars/9 F32 (3) state\n"                                                                                 \
    "optimizer/vars/10 F32 (3,2) state\n"                                                                              \
    "optimizer/vars/11 F32 (3,2) state\n"                                                                              \
    "optimizer/vars/12 F32 (2) state\n"                                                                                \
    "optimizer/vars/13 F32 (2) state\n"

static const struct {
    const char *path;
    const char *expected;
} readable[] = {
    /* Keras 3, legacy format: layers in the order of the model, not of the alphabet */
    {"ok/fitted.h5", "keras-hdf5\n"
                     "model_weights/hidden/hidden/kernel F32 (4,3)\n"
                     "model_weights/hidden/hidden/bias F32 (3)\n"
                     "model_weights/norm/norm/gamma F32 (3)\n"
                     "model_weights/norm/norm/beta F32 (3)\n"
                     "model_weights/norm/norm/moving_mean F32 (3)\n"
                     "model_weights/norm/norm/moving_variance F32 (3)\n"
                     "model_weights/logits/logits/kernel F32 (3,2)\n"
                     "model_weights/logits/logits/bias F32 (2)\n"
                     "optimizer_weights/adam/iteration I32 () state\n"
                     "optimizer_weights/adam/learning_rate F32 () state\n"
                     "optimizer_weights/adam/hidden_kernel_momentum F32 (4,3) state\n"
                     "optimizer_weights/adam/hidden_kernel_velocity F32 (4,3) state\n"
                     "optimizer_weights/adam/hidden_bias_momentum F32 (3) state\n"
                     "optimizer_weights/adam/hidden_bias_velocity F32 (3) state\n"
                     "optimizer_weights/adam/norm_gamma_momentum F32 (3) state\n"
                     "optimizer_weights/adam/norm_gamma_velocity F32 (3) state\n"
                     "optimizer_weights/adam/norm_beta_momentum F32 (3) state\n"
                     "optimizer_weights/adam/norm_beta_velocity F32 (3) state\n"
                     "optimizer_weights/adam/logits_kernel_momentum F32 (3,2) state\n"
                     "optimizer_weights/adam/logits_kernel_velocity F32 (3,2) state\n"
                     "optimizer_weights/adam/logits_bias_momentum F32 (2) state\n"
                     "optimizer_weights/adam/logits_bias_velocity F32 (2) state\n"},
    {"ok/recurrent.weights.h5", "keras-weights\n"
                                "layers/bidirectional/backward_layer/cell/vars/0 F32 (3,8)\n"
                                "layers/bidirectional/backward_layer/cell/vars/1 F32 (2,8)\n"
                                "layers/bidirectional/backward_layer/cell/vars/2 F32 (8)\n"
                                "layers/bidirectional/forward_layer/cell/vars/0 F32 (3,8)\n"
                                "layers/bidirectional/forward_layer/cell/vars/1 F32 (2,8)\n"
                                "layers/bidirectional/forward_layer/cell/vars/2 F32 (8)\n"
                                "layers/gru/cell/vars/0 F32 (4,6)\n"
                                "layers/gru/cell/vars/1 F32 (2,6)\n"
                                "layers/gru/cell/vars/2 F32 (2,6)\n"},
    {"ok/attention.weights.h5", "keras-weights\n"
                                "layers/layer_normalization/vars/0 F32 (6)\n"
                                "layers/layer_normalization/vars/1 F32 (6)\n"
                                "layers/multi_head_attention/key_dense/vars/0 F32 (6,2,3)\n"
                                "layers/multi_head_attention/key_dense/vars/1 F32 (2,3)\n"
                                "layers/multi_head_attention/output_dense/vars/0 F32 (2,3,6)\n"
                                "layers/multi_head_attention/output_dense/vars/1 F32 (6)\n"
                                "layers/multi_head_attention/query_dense/vars/0 F32 (6,2,3)\n"
                                "layers/multi_head_attention/query_dense/vars/1 F32 (2,3)\n"
                                "layers/multi_head_attention/value_dense/vars/0 F32 (6,2,3)\n"
                                "layers/multi_head_attention/value_dense/vars/1 F32 (2,3)\n"},
    {"ok/shared.weights.h5", "keras-weights\n"
                             "layers/dense/vars/0 F32 (3,2)\n"
                             "layers/dense/vars/1 F32 (2)\n"},
    {"ok/many_variables.weights.h5", "keras-weights\n"
                                     "layers/many/vars/0 BF16 (1)\n"
                                     "layers/many/vars/1 BF16 (2)\n"
                                     "layers/many/vars/2 BF16 (3)\n"
                                     "layers/many/vars/3 BF16 (4)\n"
                                     "layers/many/vars/4 BF16 (5)\n"
                                     "layers/many/vars/5 BF16 (6)\n"
                                     "layers/many/vars/6 BF16 (7)\n"
                                     "layers/many/vars/7 BF16 (8)\n"
                                     "layers/many/vars/8 BF16 (9)\n"
                                     "layers/many/vars/9 BF16 (10)\n"
                                     "layers/many/vars/10 BF16 (11)\n"},
    {"ok/keras03.h5", "keras-hdf5\nlayer_0/param_0 F64 (4,3)\nlayer_0/param_1 F64 (3)\n"},
    {"ok/keras1_model.h5", "keras-hdf5\n"
                           "model_weights/z_dense/z_dense_W:0 F32 (4,3)\n"
                           "model_weights/z_dense/z_dense_b:0 F32 (3)\n"
                           "model_weights/a_dense/a_dense_W:0 F32 (3,2)\n"
                           "model_weights/a_dense/a_dense_b:0 F32 (2)\n"
                           "optimizer_weights/iterations:0 F32 () state\n"
                           "optimizer_weights/Variable:0 F32 (4,3) state\n"},
    {"ok/trained_calls.h5",
     "keras-hdf5\n"
     "model_weights/dense/kernel F32 (2,2)\n"
     "! the configuration names 'own_schedules.Own', which loading the model would import and call; "
     "nothing was executed\n"},
    {"ok/keras2_weights.h5", "keras-hdf5\ndense/dense/kernel:0 F32 (4,3)\ndense/dense/bias:0 F32 (3)\n"},
    {"ok/split_names.h5", "keras-hdf5\nc/c/kernel:0 F32 (2,2)\na/a/kernel:0 F32 (2,2)\nb/b/kernel:0 F32 (2,2)\n"},
    {"ok/string_kinds.h5", "keras-hdf5\n"
                           "model_weights/dense/kernel F32 (2,2)\n"
                           "model_weights/other/kernel F32 (2,2)\n"
                           "model_weights/other/bias F32 (2)\n"},
    {"ok/mismatch.h5", "keras-hdf5\n"
                       "dense/kernel:0 F32 (2,2)\n"
                       "dense/extra:0 F32 (2)\n"
                       "nameless/w F32 (1)\n"
                       "! group '/': the attribute 'keras_version' is not text: not read\n"
                       "! group '/' has the attribute 'layer_names' whole and in parts: the parts are not read\n"
                       "! group '/nameless': the attribute 'weight_names' is not text: not read\n"
                       "! layers of layer_names without a group of weight_names: 1, the first 'gone'\n"
                       "! names of weight_names without a dataset: 3, the first 'dense/../escape:0'\n"
                       "! datasets that no weight_names names: 2, the first 'dense/extra:0'\n"},
    {"ok/fitted.keras", FITTED_ARCHIVE},
    {"ok/deflated.keras", FITTED_ARCHIVE},
    {"ok/no_config.keras", FITTED_ARCHIVE "! no config.json in the archive\n"},
    {"ok/npz.keras", "keras-zip\nlayers/dense/vars/0 F32 (4,3)\nlayers/dense/vars/1 F32 (3)\n"},
    {"ok/npz_deflated.keras", "keras-zip\nlayers/dense/vars/0 F32 (4,3)\nlayers/dense/vars/1 F32 (3)\n"},
    {"ok/npz_mixed.keras", "keras-zip\n"
                           "layers/dense/vars/0 F32 (4,3)\n"
                           "layers/dense_1/vars/0 F32 (3,2)\n"},
    {"ok/npz_objects.keras", "keras-zip\n"
                             "layers/dense/vars/0 F32 (4,3)\n"
                             "layers/dense_1/vars/0 F32 (3,2)\n"},
    {"ok/odd_metadata.keras", FITTED_ARCHIVE "! metadata.json is not read: it is no small JSON object\n"},
};

static const struct {
    const char *path;
    enum shapeproof_kind kind;
    const char *message;
} unreadable[] = {
    {"bad/npz.keras", SHAPEPROOF_KIND_UNRECOGNISED, "'model.weights.npz': this is text, not a checkpoint: 'x'"},
    {"bad/npz_deflated_objects.keras", SHAPEPROOF_KIND_REFUSED,
     "no tensor can be read (2 broken; the first: the weights of a layer in a pickle that is deflated)"},
    {"bad/npz_no_array.keras", SHAPEPROOF_KIND_MALFORMED,
     "no tensor can be read (2 broken; the first: byte 20 of its header: a string is expected)"},
    {"bad/no_weights.keras", SHAPEPROOF_KIND_MALFORMED, "a Keras archive without model.weights.h5"},
    {"bad/not_hdf5.keras", SHAPEPROOF_KIND_MALFORMED, "model.weights.h5: HDF5: file signature not found"},
};

static void test_readable(void **state)
{
    (void)state;
    char path[256];
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) {
        snprintf(path, sizeof path, FIXTURES "%s", readable[i].path);
        expect_text(reader_of(path), path, readable[i].expected);
    }
}

static void test_unreadable(void **state)
{
    (void)state;
    char path[256];
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        snprintf(path, sizeof path, FIXTURES "%s", unreadable[i].path);
        expect_error(reader_of(path), path, unreadable[i].kind, unreadable[i].message);
    }
}

/* Two members that differ in case, or a compression that nobody uses: the archive or its weights are refused. */
static void test_odd_archives(void **state)
{
    static const char *const paths[] = {FIXTURES "bad/two_weights.keras", FIXTURES "bad/bzip2.keras"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct shapeproof_error error;
        assert_null(open_with(read_archive, paths[i], &error));
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    }
}

static void expect_metadata(const char *path, const char *key, const char *beginning)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = open_with(reader_of(path), path, &error);
    assert_non_null(inventory);
    const char *value = metadata_of(inventory, key);
    if (!value || strncmp(value, beginning, strlen(beginning)))
        fail_msg("%s: %s: expected %s, found %s", path, key, beginning, value ? value : "nothing");
    shapeproof_inventory_close(inventory);
}

static void test_metadata(void **state)
{
    (void)state;
    expect_metadata(FIXTURES "ok/fitted.h5", "keras_version", "3.");
    expect_metadata(FIXTURES "ok/fitted.h5", "backend", "");
    expect_metadata(FIXTURES "ok/fitted.h5", "model_config", "{\"class_name\": \"Functional\"");
    expect_metadata(FIXTURES "ok/fitted.h5", "training_config", "{\"loss\": \"mse\"");
    expect_metadata(FIXTURES "ok/fitted.h5", "layers", "4");
    expect_metadata(FIXTURES "ok/keras1_model.h5", "keras_version", "1.2.2");
    expect_metadata(FIXTURES "ok/keras03.h5", "nb_layers", "1");
    expect_metadata(FIXTURES "ok/split_names.h5", "layers", "3");
    expect_metadata(FIXTURES "ok/string_kinds.h5", "model_config", "{\"name\": \"caf\303\251\"}");
    expect_metadata(FIXTURES "ok/fitted.keras", "keras_version", "3.");
    expect_metadata(FIXTURES "ok/fitted.keras", "date_saved", "20");
    expect_metadata(FIXTURES "ok/fitted.keras", "model_config", "{\"module\"");
}

/* Keras reads these members as bytes, in which json.loads skips a byte-order mark. */
static void test_byte_order_marks(void **state)
{
    (void)state;
    static const char config[] = "\xef\xbb\xbf{\"module\": 1}", metadata[] = "\xef\xbb\xbf{\"keras_version\": \"3.9\"}";
    static char weights[1 << 16];
    FILE *file = fopen(FIXTURES "ok/lookup.weights.h5", "rb");
    assert_non_null(file);
    const size_t length = fread(weights, 1, sizeof weights, file);
    assert_true(length < sizeof weights);
    fclose(file);
    const struct zipped members[] = {{.name = "metadata.json", .bytes = metadata, .length = sizeof metadata - 1},
                                     {.name = "config.json", .bytes = config, .length = sizeof config - 1},
                                     {.name = "model.weights.h5", .bytes = weights, .length = length}};
    struct sp_text archive = {0};
    put_zip(&archive, members, 3);
    const char *path = scratch_write(&scratch, "a.keras", archive.data, archive.length);
    expect_metadata(path, "keras_version", "3.9");
    expect_metadata(path, "model_config", "{\"module\"");
    sp_text_free(&archive);
}

/* A stored member is read where it lies, so that its ranges are those of the archive; an inflated one has none. */
static void test_places_in_archives(void **state)
{
    (void)state;
    struct shapeproof_error error;
    struct shapeproof_inventory *stored = open_with(read_archive, FIXTURES "ok/fitted.keras", &error);
    assert_non_null(stored);
    const struct shapeproof_tensor *tensor = &stored->tensors[4];
    assert_int_equal(tensor->data_end - tensor->data_begin, tensor->bytes);
    assert_true(tensor->data_begin > 0);
    shapeproof_inventory_close(stored);
    struct shapeproof_inventory *deflated = open_with(read_archive, FIXTURES "ok/deflated.keras", &error);
    assert_non_null(deflated);
    assert_int_equal(deflated->tensors[4].data_end, 0);
    shapeproof_inventory_close(deflated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readable),           cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_odd_archives),       cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_places_in_archives), cmocka_unit_test(test_byte_order_marks),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
