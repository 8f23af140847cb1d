/* SPDX-License-Identifier: MIT
 * Code in configurations of Keras: what is reported, and what is Keras' own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/keras_code.h"

static const struct {
    const char *json, *found; /* the names that are reported, one a line */
} configs[] = {
    {"{\"class_name\": \"Dense\", \"module\": \"keras.layers\", \"config\": {\"name\": \"d\"}}", ""},
    {"{\"class_name\": \"Lambda\", \"config\": {\"name\": \"l\", \"function\": [\"4wEA\", null, null]}}",
     "keras.layers.Lambda\n"},
    {"{\"class_name\": \"TorchModuleWrapper\", \"module\": \"keras.layers\", \"config\": {\"name\": \"t\", \"module\": "
     "\"UEsDBA==\"}}",
     "keras.layers.TorchModuleWrapper\n"},
    {"{\"class_name\": \"TFSMLayer\", \"module\": \"keras.layers\", \"config\": {\"filepath\": \"/tmp/x\"}}",
     "keras.layers.TFSMLayer\n"},
    /* Within wrappers, models within models, and under the name of a package. */
    {"{\"class_name\": \"Sequential\", \"config\": [{\"class_name\": \"TimeDistributed\", \"config\": {\"layer\": "
     "{\"class_name\": \"Lambda\", \"config\": {}}}}]}",
     "keras.layers.Lambda\n"},
    {"{\"class_name\": \"Functional\", \"config\": {\"layers\": [{\"class_name\": \"Functional\", \"config\": "
     "{\"layers\": [{\"class_name\": \"Package>Lambda\", \"config\": {}}]}}]}}",
     "keras.layers.Lambda\n"},
    /* A function of its own in a layer that is Keras'. */
    {"{\"class_name\": \"Dense\", \"config\": {\"activation\": {\"class_name\": \"__lambda__\", \"config\": "
     "{\"code\": \"4wEA\"}}}}",
     "__lambda__\n"},
    /* Names in modules. */
    {"{\"class_name\": \"Dense\", \"config\": {\"activation\": {\"module\": \"os\", \"class_name\": \"function\", "
     "\"config\": \"system\", \"registered_name\": \"function\"}}}",
     "os.system\n"},
    {"{\"module\": \"subprocess\", \"class_name\": \"Popen\", \"config\": {}}", "subprocess.Popen\n"},
    {"{\"module\": \"kerasy.layers\", \"class_name\": \"Dense\", \"config\": {}}", "kerasy.layers.Dense\n"},
    {"{\"module\": \"builtins\", \"class_name\": \"function\", \"config\": \"relu\"}", ""},
    {"{\"module\": \"builtins\", \"class_name\": \"function\", \"config\": \"exec\"}", "builtins.exec\n"},
    {"{\"module\": \"__main__\", \"class_name\": \"Own\", \"config\": {}}", ""},
    {"{\"module\": \"keras.src.models.functional\", \"class_name\": \"Functional\", \"config\": {}}", ""},
    /* Functions of Keras, of models and others. */
    {"{\"module\": \"keras.activations\", \"class_name\": \"function\", \"config\": \"gelu\"}", ""},
    {"{\"module\": \"keras.src.ops.nn\", \"class_name\": \"function\", \"config\": \"relu\"}", ""},
    {"{\"module\": \"keras_hub.src.utils.keras_utils\", \"class_name\": \"function\", \"config\": "
     "\"gelu_approximate\"}",
     ""},
    {"{\"module\": \"tensorflow.nn\", \"class_name\": \"function\", \"config\": \"relu\"}", ""},
    {"{\"module\": \"keras.utils\", \"class_name\": \"function\", \"config\": \"get_file\"}", "keras.utils.get_file\n"},
    {"{\"module\": \"keras.config\", \"class_name\": \"function\", \"config\": \"enable_unsafe_deserialization\"}",
     "keras.config.enable_unsafe_deserialization\n"},
    {"{\"module\": \"keras.src.saving.saving_api\", \"class_name\": \"function\", \"config\": \"load_model\"}",
     "keras.src.saving.saving_api.load_model\n"},
    {"{\"module\": \"tensorflow.python.ops.io_ops\", \"class_name\": \"function\", \"config\": \"read_file\"}",
     "tensorflow.python.ops.io_ops.read_file\n"},
    {"{\"module\": \"keras_hub.src.utils.preset_utils\", \"class_name\": \"function\", \"config\": \"get_file\"}",
     "keras_hub.src.utils.preset_utils.get_file\n"},
    /* Functions of TensorFlow by their name. */
    {"{\"class_name\": \"TFOpLambda\", \"config\": {\"function\": \"math.add\"}}", ""},
    {"{\"class_name\": \"TFOpLambda\", \"config\": {\"function\": \"io.write_file\"}}", "tf.io.write_file\n"},
    {"{\"class_name\": \"TFOpLambda\", \"config\": {\"function\": \"py_function\"}}", "tf.py_function\n"},
    {"[1, null, {\"Lambda\": \"Lambda\"}, {\"class_name\": 1}]", ""},
};

static void note(void *to, const char *name, const char *where)
{
    struct sp_text *found = to;
    assert_true(*where);
    sp_text_printf(found, "%s\n", name);
}

static void test_configs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct sp_arena arena = {0};
        struct shapeproof_error error = {0};
        struct shapeproof_value root;
        struct sp_text found = {0};
        sp_text_puts(&found, "");
        assert_true(sp_value_parse_json(&arena, configs[i].json, strlen(configs[i].json), &root, &error));
        sp_keras_code_each(root, note, &found);
        assert_string_equal(found.data, configs[i].found);
        sp_text_free(&found);
        sp_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_configs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
