/* SPDX-License-Identifier: MIT
 * YAML as configurations write it, what is refused of it, and how Sockeye's `config` is told apart. Values are
 * compared as JSON. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/yaml.h"
#include "read/scratch_fixture.h"

static char *parsed(const char *yaml, size_t length)
{
    struct sp_arena arena = {0};
    struct shapeproof_error error = {0};
    struct shapeproof_value value;
    struct sp_text out = {0};
    if (sp_yaml_parse(&arena, yaml, length, &value, NULL, &error)) sp_value_json(&out, value);
    else sp_text_puts(&out, error.message);
    if (error.status) assert_int_equal(error.status, SHAPEPROOF_ERR_TABLE);
    sp_arena_free(&arena);
    return out.data;
}

static void assert_yaml(const char *yaml, const char *expected)
{
    char *text = parsed(yaml, strlen(yaml));
    assert_string_equal(text, expected);
    free(text);
}

/* ---- what it means ---- */

static void scalars(void **state)
{
    (void)state;
    assert_yaml("7", "7");
    assert_yaml("[+7, -7, 0, -0, 12345678901]", "[7, -7, 0, 0, 12345678901]");
    assert_yaml("[1.5, -2., .5, 1.0e+3, 2.5E-1]", "[1.5, -2.0, 0.5, 1000.0, 0.25]");
    assert_yaml("[9223372036854775807, 9223372036854775808]", "[9223372036854775807, 9.223372036854776e+18]");
    assert_yaml("[null, Null, ~, ]", "[null, null, null]");
    assert_yaml("[true, False, YES, no, On, OFF]", "[true, false, true, false, true, false]");
    assert_yaml("a:", "{\"a\": null}");
    assert_yaml("a: ''", "{\"a\": \"\"}");
    assert_yaml("[\"7\", '7', \"null\", 'true']", "[\"7\", \"7\", \"null\", \"true\"]");
    assert_yaml("a: |\n  two\n  lines\n", "{\"a\": \"two\\nlines\\n\"}");
    assert_yaml("caf\xc3\xa9: \"\\u00e9\"", "{\"caf\xc3\xa9\": \"\xc3\xa9\"}");
}

/* What PyYAML takes for text although it looks like a number. */
static void texts_that_look_like_numbers(void **state)
{
    (void)state;
    assert_yaml("[1e3, 1.5e3, 1.18.115, ., '', -, +, 1.5.2, 0x]",
                "[\"1e3\", \"1.5e3\", \"1.18.115\", \".\", \"\", \"-\", \"+\", \"1.5.2\", \"0x\"]");
    assert_yaml("[tRue, nULL, y, n, yes please]", "[\"tRue\", \"nULL\", \"y\", \"n\", \"yes please\"]");
    assert_yaml("[007, 0x10, 1_000, 1:30, 2020-01-01]", "[\"007\", \"0x10\", \"1_000\", \"1:30\", \"2020-01-01\"]");
}

static void collections(void **state)
{
    (void)state;
    assert_yaml("a: 1\nb:\n  c: [1, {d: 2}]\n  e:\n  - f\n  - - g\n",
                "{\"a\": 1, \"b\": {\"c\": [1, {\"d\": 2}], \"e\": [\"f\", [\"g\"]]}}");
    assert_yaml("{}", "{}");
    assert_yaml("[]", "[]");
    assert_yaml("7: a\ntrue: b\n", "{\"7\": \"a\", \"true\": \"b\"}");
    assert_yaml("%YAML 1.1\n---\na: 1\n...\n", "{\"a\": 1}");
    assert_yaml("<<: {a: 1}\nb: 2\n", "{\"<<\": {\"a\": 1}, \"b\": 2}");
}

static void tags(void **state)
{
    (void)state;
    assert_yaml("!ModelConfig\na: !EmbeddingConfig\n  b: 1\n",
                "{\"yaml_tag\": \"ModelConfig\", \"a\": {\"yaml_tag\": \"EmbeddingConfig\", \"b\": 1}}");
    assert_yaml("!Empty {}", "{\"yaml_tag\": \"Empty\"}");
    assert_yaml("- !!python/tuple\n  - 10\n  - 20\n", "[[10, 20]]");
    assert_yaml("!!python/object:os.system {a: 1}", "{\"a\": 1}");
    assert_yaml("!!python/object/apply:os.system [ls]", "[\"ls\"]");
    assert_yaml("[!!str 7, !!int 7, !!float 7.5, !!null '', !!bool no, !odd 7]", "[\"7\", 7, 7.5, null, false, \"7\"]");
    assert_yaml("[!!int \"7\", ! 7]", "[7, \"7\"]");
    assert_yaml("! {a: 1}", "{\"a\": 1}");
    assert_yaml("!A\nyaml_tag: own\n", "{\"yaml_tag\": \"A\", \"yaml_tag\": \"own\"}"); /* the last one is taken */
}

static void aliases(void **state)
{
    (void)state;
    assert_yaml("- &a [1, 2]\n- *a\n- *a\n", "[[1, 2], [1, 2], [1, 2]]");
    assert_yaml("a: &x 7\nb: *x\n", "{\"a\": 7, \"b\": 7}");
    assert_yaml("a: &x !T {c: 1}\nb: *x\n",
                "{\"a\": {\"yaml_tag\": \"T\", \"c\": 1}, \"b\": {\"yaml_tag\": \"T\", \"c\": 1}}");
    assert_yaml("- &x 1\n- &x 2\n- *x\n", "[1, 2, 2]");
}

/* ---- what is refused ---- */

static void refused(void **state)
{
    (void)state;
    assert_yaml("", "line 1, column 1: there is no document");
    assert_yaml("# nothing\n", "line 2, column 1: there is no document");
    assert_yaml("a: 1\n---\nb: 2\n", "line 2, column 1: a second document begins: there may be one only");
    assert_yaml("a: *b\n", "line 1, column 4: no finished value has the anchor &b");
    assert_yaml("- &a\n  - 1\n  - *a\n", "line 3, column 5: no finished value has the anchor &a");
    assert_yaml("x: 1\n? [a, b]\n: 1\n", "line 2, column 3: a key must be a string or a number");
    assert_yaml("&k a: 1\n*k : 2\n", "line 2, column 1: no finished value has the anchor &k"); /* nor has a key */
    assert_yaml("a: \"x\\0y\"\n", "line 1, column 4: a string with a NUL character in it");
    assert_yaml("a: [1, 2\nb: 3\n", "line 2, column 2: not YAML: did not find expected ',' or ']'");
    assert_yaml("a: 1\n b: 2\n", "line 2, column 3: not YAML: mapping values are not allowed in this context");
    assert_yaml("a: 'open\n", "line 2, column 1: not YAML: found unexpected end of stream");
    assert_yaml("a: @\n", "line 1, column 4: not YAML: found character that cannot start any token");
    assert_yaml("a: !no{tag 1\n", "line 1, column 7: not YAML: did not find expected whitespace or line break");
}

/* Columns count characters, where the bytes themselves are wrong as well. */
static void wrong_bytes(void **state)
{
    (void)state;
    assert_yaml("a: 1\n\xc3\xa9: \xff\n", "line 2, column 4: not YAML: invalid leading UTF-8 octet");
    assert_yaml("a: \x01\n", "line 1, column 4: not YAML: control characters are not allowed");
    assert_yaml("a: b\xc3", "line 1, column 5: not YAML: incomplete UTF-8 octet sequence");
    char *text = parsed("a: \0b\n", 7);
    assert_string_equal(text, "line 1, column 4: not YAML: control characters are not allowed");
    free(text);
}

static char *repeated(const char *unit, size_t count)
{
    const size_t length = strlen(unit);
    char *text = malloc(length * count + 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) memcpy(text + i * length, unit, length);
    text[length * count] = '\0';
    return text;
}

static void depth(void **state)
{
    (void)state;
    for (size_t levels = 64; levels <= 65; levels++) {
        char *open = repeated("[", levels), *close = repeated("]", levels);
        char yaml[200], expected[200];
        snprintf(yaml, sizeof yaml, "%s%s", open, close);
        snprintf(expected, sizeof expected, "line 1, column 65: nested more than 64 deep");
        assert_yaml(yaml, levels == 64 ? yaml : expected);
        free(open);
        free(close);
    }
}

/* An alias brings the height of its value along. */
static void depth_through_aliases(void **state)
{
    (void)state;
    char yaml[4096] = "- &a0 [x]\n";
    for (int i = 1; i <= 70; i++)
        snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "- &a%d [*a%d]\n", i, i - 1);
    char *text = parsed(yaml, strlen(yaml));
    assert_string_equal(text, "line 64, column 9: nested more than 64 deep");
    free(text);
}

/* Ten of ten of ten ...: ten million values out of 400 bytes. */
static void billion_laughs(void **state)
{
    (void)state;
    char yaml[1024] = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i <= 8; i++) {
        snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "%s*a%d", k ? "," : "", i - 1);
        strcat(yaml, "]\n");
    }
    char *text = parsed(yaml, strlen(yaml));
    assert_string_equal(text, "line 6, column 38: more than 1000000 values, aliases counted each time");
    free(text);
}

static void too_long(void **state)
{
    (void)state;
    char *yaml = repeated("#", (4 << 20) + 1);
    char *text = parsed(yaml, (4 << 20) + 1);
    assert_string_equal(text, "longer than 4 MB, too long for a configuration");
    free(text);
    text = parsed(yaml, 4 << 20);
    assert_string_equal(text, "line 2, column 1: there is no document");
    free(text);
    free(yaml);
}

static void directives(void **state)
{
    (void)state;
    char yaml[1024] = "";
    for (int i = 0; i < 16; i++) snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "%%TAG !t%d! x%d\n", i, i);
    strcat(yaml, "---\na: 1\n");
    assert_yaml(yaml, "{\"a\": 1}");
    strcat(yaml, "b: 'x\n%'\n");
    assert_yaml(yaml, "more than 16 lines begin with '%'");
}

/* ---- files, and Sockeye's own ---- */

static char *member(const char *path, const char *key)
{
    struct shapeproof_error error = {0};
    struct sp_text json = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    if (shapeproof_config_load(config, path, &error) == SHAPEPROOF_OK)
        sp_value_json(&json, sp_value_member(sp_config_hyper(config)->root, key));
    else sp_text_puts(&json, error.message);
    shapeproof_config_free(config);
    return json.data;
}

static void assert_member(const char *path, const char *key, const char *expected)
{
    char *json = member(path, key);
    assert_string_equal(json, expected);
    free(json);
}

static const char *write_text(const char *name, const char *text)
{
    return scratch_write(&scratch, name, text, strlen(text));
}

static void told_apart(void **state)
{
    (void)state;
    assert_member(write_text("a.yaml", "a: 7\n"), "a", "7");
    assert_member(write_text("a.yml", "a: 7\n"), "a", "7");
    assert_member(write_text("config", "a: 7\n"), "a", "7");
    assert_member(write_text("config", " {\"a\": 1e3}"), "a", "1000"); /* JSON: YAML would take it for a text */
    char *json = member(write_text("config.json", "a: 7\n"), "a");
    assert_non_null(strstr(json, "config.json: line 1, column 1: not JSON"));
    free(json);
    json = member(write_text("b.yaml", "- 7\n"), "a");
    assert_non_null(strstr(json, "b.yaml: expected an object of hyper-parameters, found a list"));
    free(json);
}

#define MODEL(encoder, decoder) "!ModelConfig\nconfig_encoder: !" encoder " {}\nconfig_decoder: !" decoder " {}\n"
#define SELF MODEL("TransformerConfig", "TransformerConfig")

static void assert_model_type(const char *yaml, const char *version, const char *expected)
{
    if (version) write_text("version", version);
    assert_member(write_text("config", yaml), "model_type", expected);
    if (version) unlink(scratch_path(&scratch, "version"));
}

static void versions(void **state)
{
    (void)state;
    assert_model_type(SELF, "3.1.34", "\"sockeye-3\"");
    assert_model_type(SELF, "2.3.24\n", "\"sockeye-2\"");
    assert_model_type(SELF, "1.18.115", "\"sockeye-transformer\"");
    assert_model_type(SELF "model_type: own\n", "3.1.34", "\"own\"");
    assert_model_type(SELF, NULL, "\"sockeye-3\"");
    assert_model_type(SELF, "not a version", "\"sockeye-3\"");
    assert_model_type(SELF, "", "\"sockeye-3\"");
    assert_model_type(SELF "intgemm_custom_lib: /lib/x.so\n", NULL, "\"sockeye-2\"");
    assert_model_type(SELF "intgemm_custom_lib: /lib/x.so\n", "3.0.0", "\"sockeye-3\"");
    assert_model_type(SELF "config_loss: {}\n", NULL, "\"sockeye-transformer\"");
    assert_model_type("!ModelConfig\na: 1\n", "3.1.34", "null");
    assert_model_type("config_encoder: {}\n", "3.1.34", "null");
}

static void kinds(void **state)
{
    (void)state;
    assert_model_type(MODEL("RecurrentEncoderConfig", "RecurrentDecoderConfig"), "1.18.1", "\"sockeye-rnn\"");
    assert_model_type(MODEL("ConvolutionalEncoderConfig", "ConvolutionalDecoderConfig"), "1.9.0", "\"sockeye-cnn\"");
    assert_model_type(MODEL("TransformerConfig", "RecurrentDecoderConfig"), "1.9.0", "\"sockeye-mixed\"");
    assert_model_type(MODEL("EmptyEncoderConfig", "RecurrentDecoderConfig"), "1.18.72", "\"sockeye-mixed\"");
    assert_member(write_text("a.hpm", "encoder=\"rnn-with-conv-embed\"\ndecoder=rnn\n"), "model_type",
                  "\"sockeye-rnn\"");
    assert_member(write_text("a.hpm", "encoder=transformer\ndecoder=rnn\n"), "model_type", "\"sockeye-mixed\"");
    assert_member(write_text("a.hpm", "encoder=cnn\n"), "model_type", "\"sockeye-cnn\"");
}

/* The version beside one configuration says nothing of the next one, and less than the command line. */
static void version_of_one_file(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    write_text("version", "1.12.2");
    shapeproof_config_load(config, write_text("config", SELF), &error);
    const struct sp_hyper *hyper = sp_config_hyper(config);
    assert_string_equal(sp_value_member(hyper->root, "version").string, "1.12.2");
    assert_string_equal(hyper->overrides[0].from.name, "the file version beside it");
    shapeproof_config_set(config, "version=1.17.0", &error);
    assert_string_equal(sp_value_member(sp_config_hyper(config)->root, "version").string, "1.17.0");
    shapeproof_config_load(config, write_text("other.yaml", "a: 1\n"), &error);
    hyper = sp_config_hyper(config);
    assert_int_equal(hyper->override_count, 1);
    assert_int_equal(hyper->overrides[0].from.source, SHAPEPROOF_SOURCE_SETTING);
    unlink(scratch_path(&scratch, "version"));
    shapeproof_config_free(config);
}

static void beside(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    char *path = shapeproof_config_beside("fixtures/sockeye/ok/sockeye3/params.best", &error);
    assert_string_equal(path, "fixtures/sockeye/ok/sockeye3/config");
    free(path);
    path = shapeproof_config_beside("fixtures/sockeye/ok/sockeye3", &error);
    assert_string_equal(path, "fixtures/sockeye/ok/sockeye3/config");
    free(path);
    path = shapeproof_config_beside("fixtures/models/tiny-gpt2/model.safetensors", &error);
    assert_string_equal(path, "fixtures/models/tiny-gpt2/config.json");
    free(path);
    write_text("config", "a: 1\n");
    write_text("config.json", "{}");
    path = shapeproof_config_beside(scratch_path(&scratch, "params.best"), &error);
    assert_non_null(strstr(path, "/config.json"));
    free(path);
    assert_null(shapeproof_config_beside("fixtures/sockeye/make_sockeye.py", &error));
    assert_null(shapeproof_config_beside("src/params.best", &error)); /* src/config is a directory */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars),
        cmocka_unit_test(texts_that_look_like_numbers),
        cmocka_unit_test(collections),
        cmocka_unit_test(tags),
        cmocka_unit_test(aliases),
        cmocka_unit_test(refused),
        cmocka_unit_test(wrong_bytes),
        cmocka_unit_test(depth),
        cmocka_unit_test(depth_through_aliases),
        cmocka_unit_test(billion_laughs),
        cmocka_unit_test(too_long),
        cmocka_unit_test(directives),
        cmocka_unit_test_setup_teardown(told_apart, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(versions, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(kinds, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(version_of_one_file, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(beside, make_scratch, remove_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
