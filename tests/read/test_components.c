/* SPDX-License-Identifier: MIT
 * Directories of several models: which are read off the lists, and what is refused. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "read/scratch_fixture.h"
#include "shapeproof/components.h"

/* ---- material ---- */

static const char *const folders[] = {"unet", "vae", "scheduler", "1_Pooling", "2_Dense"};

static void put_text(const char *file, const char *text) { scratch_write(&scratch, file, text, strlen(text)); }

static int make_folders(void **state)
{
    const int status = make_scratch(state);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) mkdir(scratch_path(&scratch, folders[i]), 0700);
    return status;
}

/* Every file that a test may have made, and the folders. */
static int remove_folders(void **state)
{
    static const char *const files[] = {"config.json", "router_config.json", "model.safetensors", "model.onnx"};
    char name[64];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            snprintf(name, sizeof name, "%s/%s", folders[i], files[k]);
            unlink(scratch_path(&scratch, name));
        }
        rmdir(scratch_path(&scratch, folders[i]));
    }
    return remove_scratch(state);
}

static struct shapeproof_components *must_read(size_t count)
{
    struct shapeproof_error error;
    struct shapeproof_components *components = shapeproof_components_open(scratch.path, &error);
    if (!components) fail_msg("%s", error.message);
    assert_int_equal(shapeproof_component_count(components), count);
    return components;
}

static void assert_no_list(void) { shapeproof_components_free(must_read(0)); }

static void assert_component(const struct shapeproof_components *components, size_t index, const char *name,
                             const char *class, enum shapeproof_component_state state)
{
    const struct shapeproof_component *component = shapeproof_component(components, index);
    assert_string_equal(component->name, name);
    assert_string_equal(component->class_name, class);
    assert_int_equal(component->state, state);
    assert_true((component->note != NULL) == (state != SHAPEPROOF_COMPONENT_MODEL));
}

/* `message` follows "DIRECTORY/FILE: ". */
static void assert_list_refused(const char *file, const char *text, enum shapeproof_kind kind, const char *message)
{
    struct shapeproof_error error;
    char expected[512];
    put_text(file, text);
    struct shapeproof_components *components = shapeproof_components_open(scratch.path, &error);
    if (components) {
        shapeproof_components_free(components);
        fail_msg("accepted, expected: %s", message);
    }
    snprintf(expected, sizeof expected, "%s/%s: %s", scratch.path, file, message);
    assert_string_equal(error.message, expected);
    assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    assert_int_equal(error.kind, kind);
    unlink(scratch_path(&scratch, file));
}

/* ---- the lists ---- */

static void test_pipelines(void **state)
{
    (void)state;
    put_text("model_index.json", "{\"_class_name\": [\"a\", \"b\"], \"unet\": [\"diffusers\", \"UNet2DModel\"], "
                                 "\"vae\": [\"diffusers\", \"AutoencoderKL\"], \"text\": [null, null], "
                                 "\"scheduler\": [\"diffusers\", \"DDIMScheduler\"], \"sizes\": [1, 2], "
                                 "\"1_Pooling\": [\"transformers\", \"CLIPImageProcessorPil\"], "
                                 "\"tokenizer\": [\"transformers\", \"CLIPTokenizer\"], \"safe\": true}");
    put_text("unet/model.safetensors", "");
    put_text("unet/config.json", "{}");
    struct shapeproof_components *components = must_read(5);
    assert_component(components, 0, "unet", "UNet2DModel", SHAPEPROOF_COMPONENT_MODEL);
    assert_component(components, 1, "vae", "AutoencoderKL", SHAPEPROOF_COMPONENT_MISSING);
    assert_component(components, 2, "scheduler", "DDIMScheduler", SHAPEPROOF_COMPONENT_PLAIN);
    assert_component(components, 3, "1_Pooling", "CLIPImageProcessorPil", SHAPEPROOF_COMPONENT_PLAIN);
    assert_component(components, 4, "tokenizer", "CLIPTokenizer", SHAPEPROOF_COMPONENT_MISSING);
    assert_string_equal(shapeproof_component(components, 0)->config, scratch_path(&scratch, "unet/config.json"));
    assert_null(shapeproof_component(components, 1)->config);
    assert_string_equal(shapeproof_component(components, 0)->model_class, "UNet2DModel");
    shapeproof_components_free(components);
}

static void test_modules(void **state)
{
    (void)state;
    put_text("modules.json", "[{\"idx\": 0, \"path\": \"\", \"type\": \"sentence_transformers.models.Transformer\"}, "
                             "{\"path\": \"1_Pooling\", \"type\": \"sentence_transformers.models.Pooling\"}, "
                             "{\"path\": \"2_Dense\", \"type\": \"sentence_transformers.base.modules.dense.Dense\"}, "
                             "{\"path\": \"2_Dense\", \"type\": \"sentence_transformers.models.Dense\"}, "
                             "{\"path\": \"3_Normalize\", \"type\": \"sentence_transformers.models.Normalize\"}, "
                             "{\"path\": \"own\", \"type\": \"own.Layer\"}]");
    put_text("model.safetensors", "");
    put_text("2_Dense/model.safetensors", "");
    struct shapeproof_components *components = must_read(6);
    assert_component(components, 0, ".", "Transformer", SHAPEPROOF_COMPONENT_MODEL);
    assert_component(components, 1, "1_Pooling", "Pooling", SHAPEPROOF_COMPONENT_PLAIN);
    assert_component(components, 2, "2_Dense", "Dense", SHAPEPROOF_COMPONENT_MODEL);
    assert_component(components, 3, "2_Dense", "Dense", SHAPEPROOF_COMPONENT_PLAIN);
    assert_component(components, 4, "3_Normalize", "Normalize", SHAPEPROOF_COMPONENT_PLAIN);
    assert_component(components, 5, "own", "Layer", SHAPEPROOF_COMPONENT_PLAIN);
    assert_string_equal(shapeproof_component(components, 0)->path, scratch.path);
    assert_string_equal(shapeproof_component(components, 2)->model_class, "sentence_transformers.Dense");
    shapeproof_components_free(components);
}

static void test_routers(void **state)
{
    (void)state;
    put_text("modules.json", "[{\"path\": \"2_Dense\", \"type\": \"sentence_transformers.models.Router\"}]");
    put_text("2_Dense/router_config.json", "{\"structure\": {\"a\": [\"x\"]}, \"types\": {\"x\": \"own.Layer\", "
                                           "\"y\": \"sentence_transformers.models.Dense\"}}");
    struct shapeproof_components *components = must_read(3);
    assert_component(components, 0, "2_Dense", "Router", SHAPEPROOF_COMPONENT_PLAIN);
    assert_component(components, 1, "2_Dense/x", "Layer", SHAPEPROOF_COMPONENT_PLAIN);
    assert_component(components, 2, "2_Dense/y", "Dense", SHAPEPROOF_COMPONENT_MISSING);
    shapeproof_components_free(components);
}

/* Weights in a format that is not read are not missing. */
static void test_other_formats(void **state)
{
    (void)state;
    put_text("model_index.json", "{\"unet\": [\"diffusers\", \"OnnxRuntimeModel\"]}");
    put_text("unet/model.onnx", "");
    struct shapeproof_components *components = must_read(1);
    assert_component(components, 0, "unet", "OnnxRuntimeModel", SHAPEPROOF_COMPONENT_MODEL);
    shapeproof_components_free(components);
}

static void test_single_checkpoints(void **state)
{
    (void)state;
    assert_no_list();
    put_text("modules.json", "{\"modules\": [1, 2]}");
    assert_no_list();
    put_text("modules.json", "[]");
    assert_no_list();
    put_text("modules.json", "[{\"path\": \"\", \"type\": \"sentence_transformers.models.Transformer\"}, "
                             "{\"path\": \"1_Pooling\", \"type\": \"sentence_transformers.models.Pooling\"}]");
    assert_no_list();
    put_text("model.safetensors", "");
    assert_no_list();
    put_text("model_index.json", "{\"_class_name\": \"Pipeline\", \"scheduler\": [\"diffusers\", \"DDIMScheduler\"]}");
    assert_no_list();
}

/* ---- what is refused ---- */

static void test_unsafe_paths(void **state)
{
    static const char *const paths[] = {"..", "../x", "/etc", "a/../..", "a//b", "./a", "a/", "c:x", "a\\\\b"};
    char text[256], message[256];
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *shown = strcmp(paths[i], "a\\\\b") == 0 ? "a\\b" : paths[i];
        snprintf(message, sizeof message, "unsafe folder '%s': not below this directory", shown);
        snprintf(text, sizeof text, "[{\"path\": \"%s\", \"type\": \"x.Y\"}]", paths[i]);
        assert_list_refused("modules.json", text, SHAPEPROOF_KIND_REFUSED, message);
        snprintf(text, sizeof text, "{\"%s\": [\"diffusers\", \"Y\"]}", paths[i]);
        assert_list_refused("model_index.json", text, SHAPEPROOF_KIND_REFUSED, message);
    }
}

static void test_malformed_lists(void **state)
{
    (void)state;
    assert_list_refused("modules.json", "[{\"path\": \"a\"}]", SHAPEPROOF_KIND_MALFORMED, "a module without a type");
    assert_list_refused("modules.json", "[3]", SHAPEPROOF_KIND_MALFORMED,
                        "list of components: expected an object at byte 1, found '3'");
    assert_list_refused("model_index.json", "[]", SHAPEPROOF_KIND_MALFORMED,
                        "list of components: expected an object at byte 0, found '['");
    assert_list_refused("model_index.json", "{\"unet\": [\"diffusers\"", SHAPEPROOF_KIND_MALFORMED,
                        "list of components: expected ',' or ']' at byte 21, found the end");
}

static void test_too_many(void **state)
{
    char text[16384] = "{";
    size_t length = 1;
    (void)state;
    for (int i = 0; i < 101; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s\"c%d\": [\"diffusers\", \"Model\"]",
                                   i ? ", " : "", i);
    snprintf(text + length, sizeof text - length, "}");
    assert_list_refused("model_index.json", text, SHAPEPROOF_KIND_LIMIT, "more than 100 components");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pipelines, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(test_modules, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(test_routers, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(test_other_formats, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(test_single_checkpoints, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(test_unsafe_paths, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(test_malformed_lists, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(test_too_many, make_folders, remove_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
