/* SPDX-License-Identifier: MIT
 * Hyper-parameters out of JSON, .hpm files and settings. What a configuration holds is compared as JSON. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "config/config.h"
#include "read/scratch_fixture.h"

static void assert_holds(const struct shapeproof_config *config, const char *expected)
{
    struct sp_text json = {0};
    sp_value_json(&json, sp_config_hyper(config)->root);
    assert_string_equal(json.data, expected);
    sp_text_free(&json);
}

static struct shapeproof_value value_of(const struct shapeproof_config *config, const char *key)
{
    return sp_value_member(sp_config_hyper(config)->root, key);
}

static void load_bytes(struct shapeproof_config *config, const char *name, const char *text, size_t length,
                       struct shapeproof_error *error)
{
    *error = (struct shapeproof_error){0};
    const char *path = scratch_write(&scratch, name, text, length);
    const enum shapeproof_status status = shapeproof_config_load(config, path, error);
    assert_int_equal(status, error->status);
}

static struct shapeproof_config *loaded(const char *name, const char *text)
{
    struct shapeproof_error error;
    struct shapeproof_config *config = shapeproof_config_new();
    load_bytes(config, name, text, strlen(text), &error);
    assert_string_equal(error.message, "");
    return config;
}

static void assert_loads(const char *name, const char *text, const char *expected)
{
    struct shapeproof_config *config = loaded(name, text);
    assert_holds(config, expected);
    assert_string_equal(sp_config_hyper(config)->file, name);
    shapeproof_config_free(config);
}

/* `expected` is the message behind the path of the file. */
static void assert_bytes_refused(const char *name, const char *text, size_t length, const char *expected)
{
    struct shapeproof_error error;
    struct shapeproof_config *config = shapeproof_config_new();
    load_bytes(config, name, text, length, &error);
    const char *path = scratch_path(&scratch, name);
    assert_int_equal(error.status, SHAPEPROOF_ERR_TABLE);
    assert_memory_equal(error.message, path, strlen(path));
    assert_string_equal(error.message + strlen(path), expected);
    assert_holds(config, "{}");
    shapeproof_config_free(config);
}

static void assert_refused(const char *name, const char *text, const char *expected)
{
    assert_bytes_refused(name, text, strlen(text), expected);
}

/* ---- JSON ---- */

static void json_values(void **state)
{
    (void)state;
    assert_loads("config.json", "{}", "{}");
    assert_loads("config.json", "{\"a\": null, \"b\": false, \"c\": 0, \"d\": \"\", \"e\": []}",
                 "{\"a\": null, \"b\": false, \"c\": 0, \"d\": \"\", \"e\": []}");
    assert_loads("config.json", "{\"text_config\": {\"n\": {\"m\": [1, [2]]}}}",
                 "{\"text_config\": {\"n\": {\"m\": [1, [2]]}}}");
    assert_loads("config.json", " \n{\"\\u00e4\\n\\\"\" : \"\\ud83d\\ude00\"}\r\n\t",
                 "{\"\xc3\xa4\\n\\\"\": \"\xf0\x9f\x98\x80\"}");
}

static void absent_null_and_false(void **state)
{
    (void)state;
    struct shapeproof_config *config = loaded("config.json", "{\"null\": null, \"false\": false}");
    assert_int_equal(value_of(config, "absent").type, SHAPEPROOF_VALUE_ABSENT);
    assert_int_equal(value_of(config, "null").type, SHAPEPROOF_VALUE_NULL);
    assert_int_equal(value_of(config, "false").type, SHAPEPROOF_VALUE_BOOL);
    assert_int_equal(sp_value_member(value_of(config, "null"), "x").type, SHAPEPROOF_VALUE_ABSENT);
    shapeproof_config_free(config);
}

static void json_numbers(void **state)
{
    (void)state;
    assert_loads("c.json", "{\"a\": [9007199254740991, -9007199254740991]}",
                 "{\"a\": [9007199254740991, -9007199254740991]}");
    assert_loads("c.json", "{\"a\": [1.0, 4.5, 0.1, 1e3, 1e-6, 2.6666666666666665]}",
                 "{\"a\": [1, 4.5, 0.1, 1000, 1e-06, 2.6666666666666665]}");
    assert_loads("c.json", "{\"limit\": [0.0, Infinity, -Infinity], \"x\": NaN, \"t\": \"NaN, Infinity\"}",
                 "{\"limit\": [0, null, null], \"x\": null, \"t\": \"NaN, Infinity\"}");
    struct shapeproof_config *with_nan = loaded("c.json", "{\"x\": NaN}"); /* not null, which stands for a default */
    assert_int_equal(value_of(with_nan, "x").type, SHAPEPROOF_VALUE_REAL);
    assert_true(isnan(value_of(with_nan, "x").real));
    shapeproof_config_free(with_nan);
    /* From 2^53 on a double may have been rounded: what is written as one is no integer any more, and no dimension. */
    struct shapeproof_config *config = loaded("c.json", "{\"a\": 9007199254740992.0, \"b\": 9007199254740991.0}");
    assert_int_equal(value_of(config, "a").type, SHAPEPROOF_VALUE_REAL);
    assert_int_equal(value_of(config, "b").type, SHAPEPROOF_VALUE_INT);
    shapeproof_config_free(config);
}

/* Digits are exact to the last one, whatever stands around them; beyond 64 bits a number is a real one. */
static void large_whole_numbers(void **state)
{
    (void)state;
    const char *const wanted = "{\"a\": 9007199254740993, \"b\": 9223372036854775807, \"c\": 9.223372036854776e+18}";
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    shapeproof_config_set(config, "a=9007199254740993", &error);
    shapeproof_config_set(config, "b=9223372036854775807", &error);
    shapeproof_config_set(config, "c=9223372036854775808", &error);
    assert_holds(config, wanted);
    shapeproof_config_free(config);
    assert_loads("c.json", wanted, wanted);
    assert_loads("c.yaml", "a: 9007199254740993\nb: 9223372036854775807\nc: 9223372036854775808\n", wanted);
    assert_loads("c.hpm", "a=9007199254740993\nb=9223372036854775807\nc=9223372036854775808\n", wanted);
    assert_loads("c.json",
                 "{\"7\": [-9007199254740993, {\"\\\\\": \"1\", \"\\\"8\": [2]}, -9223372036854775808, 3.0], \"x\": 4}",
                 "{\"7\": [-9007199254740993, {\"\\\\\": \"1\", \"\\\"8\": [2]}, -9223372036854775808, 3], \"x\": 4}");
    assert_loads("c.json", "{\"a\": [Infinity, 9007199254740995, -Infinity, 1e3, NaN, 9007199254740997]}",
                 "{\"a\": [null, 9007199254740995, null, 1000, null, 9007199254740997]}");
}

static void repeated_keys(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = loaded("config.json", "{\"a\": 1, \"a\": 2}");
    assert_int_equal(value_of(config, "a").integer, 2); /* as the frameworks' parsers do */
    assert_holds(config, "{\"a\": 2}");                 /* once, as in Python */
    assert_int_equal(shapeproof_config_remark_count(config), 1);
    assert_string_equal(shapeproof_config_remark(config, 0),
                        "the key 'a' is there more than once: the last value counts, as it does for Python");
    shapeproof_config_set(config, "a=3", &error);
    assert_holds(config, "{\"a\": 3}");
    shapeproof_config_free(config);
    assert_loads("c.json", "{\"a\": 1, \"t\": {\"b\": 1, \"c\": 2, \"b\": {\"d\": 3}}, \"a\": [4]}",
                 "{\"a\": [4], \"t\": {\"b\": {\"d\": 3}, \"c\": 2}}");
    /* More keys than are compared one by one. */
    struct sp_text text = {0};
    sp_text_puts(&text, "{");
    for (int i = 0; i < 100; i++) sp_text_printf(&text, "\"k%d\": %d, ", i % 50, i);
    sp_text_puts(&text, "\"x\": 0}");
    config = loaded("c.json", text.data);
    assert_int_equal(value_of(config, "k0").integer, 50);
    assert_int_equal(value_of(config, "k49").integer, 99);
    assert_string_equal(shapeproof_config_remark(config, 0),
                        "the key 'k0' is there more than once, as 49 more are: the last "
                        "value counts, as it does for Python");
    sp_text_free(&text);
    shapeproof_config_free(config);
    /* In YAML; what a merge brings along is no repetition. */
    config = loaded("c.yaml", "a: 99\nt: {b: 1}\na: 64\n");
    assert_holds(config, "{\"a\": 64, \"t\": {\"b\": 1}}");
    assert_int_equal(shapeproof_config_remark_count(config), 1);
    assert_string_equal(shapeproof_config_remark(config, 0),
                        "the key 'a' is there more than once: the last value counts, as it does for Python");
    shapeproof_config_free(config);
    config = loaded("c.yaml", "t: &t {a: 1}\nu: &u {a: 2}\nv: {<<: *t, <<: *u, a: 3}\n");
    assert_int_equal(shapeproof_config_remark_count(config), 0);
    shapeproof_config_free(config);
}

/* The class that fully_shard of PyTorch makes of a model is read as that of the model. */
static void divided_classes(void **state)
{
    (void)state;
    struct shapeproof_config *config = loaded("config.json", "{\"architectures\": [\"FSDPLlamaForCausalLM\"]}");
    assert_holds(config, "{\"architectures\": [\"LlamaForCausalLM\"]}");
    assert_int_equal(shapeproof_config_remark_count(config), 1);
    assert_string_equal(
        shapeproof_config_remark(config, 0),
        "architectures names 'FSDPLlamaForCausalLM': that is what fully_shard of PyTorch calls LlamaForCausalLM");
    shapeproof_config_free(config);
    assert_loads("c.json", "{\"architectures\": [\"FSDPa\"]}", "{\"architectures\": [\"FSDPa\"]}");
    assert_loads("c.json", "{\"architectures\": [\"FSDP\"]}", "{\"architectures\": [\"FSDP\"]}");
}

static void wrong_json(void **state)
{
    (void)state;
    assert_refused("c.json", "", ": line 1, column 1: not JSON");
    assert_refused("c.json", "{\n  \"a\": 1,\n  \"b\": x\n}\n", ": line 3, column 8: not JSON");
    assert_refused("c.json", "{\"a\": 1} 2", ": line 1, column 10: not JSON");
    assert_refused("c.json", "{\"a\": NaN} 2", ": line 1, column 12: not JSON");
    /* A NUL would cut the key or the value, and another key would stand there. */
    assert_refused("c.json", "{\"n\\u0000x\": 1}", ": line 1, column 4: a NUL in a string, which would cut it");
    assert_refused("c.json", "{\"n\": [\"a\\u0000\"]}", ": line 1, column 10: a NUL in a string, which would cut it");
    assert_refused("c.json", "{\"a\": 01}", ": line 1, column 8: not JSON");
    assert_refused("c.json", "{\"a\": +1}", ": line 1, column 7: not JSON");
    assert_refused("c.json", "{\"a\": \"\n\"}", ": line 1, column 8: not JSON");
    /* What json.loads refuses of a str, though not of bytes; configurations are read as text. */
    assert_refused("c.json", "\xef\xbb\xbf{}",
                   ": line 1, column 1: begins with a byte-order mark, which Python refuses");
    assert_refused("c.json", " \xef\xbb\xbf{}", ": line 1, column 2: not JSON");
    /* Python takes it, but no string here can hold it. */
    assert_refused("c.json", "{\"a\": \"\\udc80\"}",
                   ": line 1, column 8: a lone surrogate in a string, which UTF-8 cannot hold");
    assert_refused("c.json", "{\"a\": \"\\ud83d\\u0041\"}",
                   ": line 1, column 8: a lone surrogate in a string, which UTF-8 cannot hold");
    assert_refused("c.json", "{\"a\": \"\\uzzzz\"}", ": line 1, column 8: not JSON");
    assert_refused("c.json", "[1]", ": expected an object of hyper-parameters, found a list");
    assert_refused("c.json", "3", ": expected an object of hyper-parameters, found an integer");
    assert_refused("c.json", "{\"a\": \"\xff\"}", ": line 1, column 8: not JSON");
    assert_refused("c.json", "{\"\xc3\xa4\": \"\xff\"}", ": line 1, column 8: not JSON"); /* characters, not bytes */
    assert_refused("c.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n",
                   ": this is a git-lfs pointer, not the file itself (run 'git lfs pull')");
}

/* An integer of as many digits as Python reads, and one of one more; a real number may have more. */
static void long_integers(void **state)
{
    (void)state;
    static const char *const ends[] = {"1.0}", "1e2}", "}", "1}"}, *const signs[] = {"", "-"};
    for (size_t i = 0; i < 8; i++) {
        struct sp_text text = {0};
        sp_text_printf(&text, "{\"a\": %s", signs[i % 2]);
        for (size_t digit = 0; digit < 4300; digit++) sp_text_puts(&text, "1");
        sp_text_puts(&text, ends[i / 2]);
        if (i < 6) shapeproof_config_free(loaded("c.json", text.data));
        else
            assert_refused("c.json", text.data,
                           ": line 1, column 7: an integer of more than 4300 digits, which Python refuses");
        sp_text_free(&text);
    }
}

static void deep_json(void **state)
{
    (void)state;
    char *deep = calloc(1, 100001);
    memset(deep, '[', 100000);
    struct shapeproof_error error;
    struct shapeproof_config *config = shapeproof_config_new();
    load_bytes(config, "c.json", deep, 100000, &error);
    assert_non_null(strstr(error.message, "line 1, column 1001: nested deeper than 1000 levels"));
    shapeproof_config_free(config);
    free(deep);
}

static void unreadable_files(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    assert_int_equal(shapeproof_config_load(config, "/nowhere/config.json", &error), SHAPEPROOF_ERR_TABLE);
    assert_string_equal(error.message, "/nowhere/config.json: open: No such file or directory");
    error = (struct shapeproof_error){0};
    assert_int_equal(shapeproof_config_load(config, "/tmp", &error), SHAPEPROOF_ERR_TABLE);
    assert_string_equal(error.message, "/tmp: not a regular file");
    shapeproof_config_free(config);
}

/* ---- .hpm ---- */

/* What values hold of each other is bounded for all of them together; time that grows faster than the file would never
 * end. */
static void large_hpm(void **state)
{
    (void)state;
    struct sp_text text = {0}, chain = {0};
    sp_text_puts(&text, "a=0123456789abcdef\n");
    for (int i = 0; i < 20000; i++) sp_text_printf(&text, "a%d=$a\na=$a$a\n", i);
    struct shapeproof_config *config = loaded("m.hpm", text.data);
    assert_true(config->arena.used < (size_t)64 << 20);
    shapeproof_config_free(config);
    sp_text_puts(&chain, "k0=1\n");
    for (int i = 1; i < 50000; i++) sp_text_printf(&chain, "k%d=$k%d\n", i, i - 1);
    config = loaded("m.hpm", chain.data);
    assert_int_equal(value_of(config, "k49999").integer, 1);
    shapeproof_config_free(config);
    text.length = 0;
    while (text.length <= 4 << 20) sp_text_puts(&text, "a=\n");
    struct shapeproof_error error;
    config = shapeproof_config_new();
    assert_int_equal(shapeproof_config_load_text(config, "m.hpm", text.data, text.length, &error),
                     SHAPEPROOF_ERR_TABLE);
    assert_string_equal(error.message, "m.hpm: longer than 4 MB, too long for a configuration");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
    shapeproof_config_free(config);
    sp_text_free(&text);
    sp_text_free(&chain);
}

/* A text is read like a file of that name. Files in the working directory are not beside it. */
static void texts_in_memory(void **state)
{
    static const char json[] = "{\"n\": 3}|", bad[] = "[1]", lines[] = "num_layers=2\n";
    struct shapeproof_error error;
    struct shapeproof_config *config = shapeproof_config_new();
    (void)state;
    assert_int_equal(shapeproof_config_load_text(config, "my config", json, strlen(json) - 1, &error), SHAPEPROOF_OK);
    assert_holds(config, "{\"n\": 3}");
    assert_string_equal(shapeproof_config_path(config), "my config");
    assert_int_equal(shapeproof_config_load_text(config, "my.hpm", lines, strlen(lines), &error), SHAPEPROOF_OK);
    assert_holds(config, "{\"num_layers\": 2}");
    assert_int_equal(shapeproof_config_load_text(config, "my config", bad, strlen(bad), &error), SHAPEPROOF_ERR_TABLE);
    assert_string_equal(error.message, "my config: expected an object of hyper-parameters, found a list");
    shapeproof_config_free(config);
}

static void hpm_values(void **state)
{
    (void)state;
    assert_loads("m.hpm", "", "{}");
    assert_loads("m.hpm", "a=3\nb=text\nc=\"two words\"\nd=\nempty=\"\"\n",
                 "{\"a\": 3, \"b\": \"text\", \"c\": \"two words\", \"d\": \"\", \"empty\": \"\"}");
    assert_loads("m.hpm", "# a comment\n\n  a=3  # behind a value\nb=\"x # y\" # z\r\n",
                 "{\"a\": 3, \"b\": \"x # y\"}");
    assert_loads("m.hpm", "layers=\"2:4\"\npair=1:2\nthree=1:2:3\npath=a:b\ntime=1:x\n",
                 "{\"layers\": [2, 4], \"pair\": [1, 2], \"three\": \"1:2:3\", \"path\": \"a:b\", \"time\": \"1:x\"}");
    assert_loads("m.hpm", "n=-3\nr=0.5\nbig=99999999999999999999\n", "{\"n\": \"-3\", \"r\": \"0.5\", \"big\": 1e+20}");
    assert_loads("m.hpm", "a=2\nb=$a\nc=\"${a}:${a}\"\nd=${nothing}/x\ne=$a$a\n",
                 "{\"a\": 2, \"b\": 2, \"c\": [2, 2], \"d\": \"${nothing}/x\", \"e\": 22}");
    assert_loads("m.hpm-template", "encoder=rnn\n", "{\"model_type\": \"sockeye-rnn\", \"encoder\": \"rnn\"}");
}

static void the_later_line_wins(void **state)
{
    (void)state;
    struct shapeproof_config *config = loaded("m.hpm", "a=1\nb=$a\na=2\nc=$a\n");
    assert_int_equal(value_of(config, "a").integer, 2);
    assert_int_equal(value_of(config, "b").integer, 1);
    assert_int_equal(value_of(config, "c").integer, 2);
    shapeproof_config_free(config);
}

static void shell_commands_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"a=1\nb=`date`\n", "a=1\nb=$(date)\n", "a=1\nb=1; rm x\n",    "a=1\nb=1|cat\n",
                                        "a=1\nb=1&\n",     "a=1\nb=1>out\n",   "a=1\nb=\"`date`\"\n", "a=1\nb=<(x)\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_refused("m.hpm", lines[i], ": line 2: only key=value lines are read, no shell commands");
    assert_refused("m.hpm", "rm -rf x\n", ": line 1: expected key=value");
    assert_refused("m.hpm", "\n\nexport a=1\n", ": line 3: expected key=value");
    assert_refused("m.hpm", "=1\n", ": line 1: expected key=value");
    assert_refused("m.hpm", "a=\"x\n", ": line 1: the value has no closing '\"'");
    assert_refused("m.hpm", "a=x y\n", ": line 1: unexpected text after the value");
    assert_refused("m.hpm", "a=\xff\n", ": expected UTF-8 text");
    assert_bytes_refused("m.hpm", "a=1\n\0b=2\n", 9, ": expected UTF-8 text");
}

/* b=$a$a, c=$b$b, ... 2^60 times the first: the expansion stays within bounds. */
static void expansion_is_bounded(void **state)
{
    (void)state;
    struct sp_text text = {0};
    sp_text_puts(&text, "k0=xxxxxxxxxxxxxxxx\n");
    for (int i = 1; i <= 60; i++) sp_text_printf(&text, "k%d=$k%d$k%d\n", i, i - 1, i - 1);
    struct shapeproof_config *config = loaded("m.hpm", text.data);
    assert_true(strlen(value_of(config, "k60").string) < 1 << 18);
    shapeproof_config_free(config);
    sp_text_free(&text);
}

/* ---- settings ---- */

static void assert_set(const char *setting, const char *expected)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = loaded("config.json", "{\"a\": 1, \"t\": {\"x\": 1, \"y\": 2}, \"n\": null}");
    assert_int_equal(shapeproof_config_set(config, setting, &error), SHAPEPROOF_OK);
    assert_holds(config, expected);
    shapeproof_config_free(config);
}

static void settings(void **state)
{
    (void)state;
    assert_set("b=3", "{\"a\": 1, \"t\": {\"x\": 1, \"y\": 2}, \"n\": null, \"b\": 3}");
    assert_set("a=[1,2]", "{\"t\": {\"x\": 1, \"y\": 2}, \"n\": null, \"a\": [1, 2]}");
    assert_set("a=true", "{\"t\": {\"x\": 1, \"y\": 2}, \"n\": null, \"a\": true}");
    assert_set("a=null", "{\"t\": {\"x\": 1, \"y\": 2}, \"n\": null, \"a\": null}");
    assert_set("a=some text", "{\"t\": {\"x\": 1, \"y\": 2}, \"n\": null, \"a\": \"some text\"}");
    assert_set("a=\"3\"", "{\"t\": {\"x\": 1, \"y\": 2}, \"n\": null, \"a\": \"3\"}");
    assert_set("a=", "{\"t\": {\"x\": 1, \"y\": 2}, \"n\": null, \"a\": \"\"}");
    assert_set("a=b=c", "{\"t\": {\"x\": 1, \"y\": 2}, \"n\": null, \"a\": \"b=c\"}");
    assert_set("t.x=5", "{\"a\": 1, \"n\": null, \"t\": {\"y\": 2, \"x\": 5}}");
    assert_set("n.x.y=5", "{\"a\": 1, \"t\": {\"x\": 1, \"y\": 2}, \"n\": {\"x\": {\"y\": 5}}}");
    assert_set("a.x=5", "{\"t\": {\"x\": 1, \"y\": 2}, \"n\": null, \"a\": {\"x\": 5}}");
}

static void wrong_settings(void **state)
{
    (void)state;
    static const char *const wrong[] = {"a", "=3", "", ".a=1", "a.=1", "a..b=1"};
    struct shapeproof_config *config = shapeproof_config_new();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct shapeproof_error error = {0};
        assert_int_equal(shapeproof_config_set(config, wrong[i], &error), SHAPEPROOF_ERR_USAGE);
        assert_non_null(strstr(error.message, "expected"));
    }
    assert_holds(config, "{}");
    shapeproof_config_free(config);
}

/* A setting wins over the file, whichever came first; the later of two settings wins. */
static void who_wins(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    shapeproof_config_set(config, "a=5", &error);
    shapeproof_config_set(config, "a=6", &error);
    load_bytes(config, "config.json", "{\"a\": 1, \"b\": 2}", 16, &error);
    assert_holds(config, "{\"b\": 2, \"a\": 6}");
    load_bytes(config, "other.json", "{\"c\": 3}", 8, &error); /* replaces the first file */
    assert_holds(config, "{\"c\": 3, \"a\": 6}");
    struct shapeproof_config *variant = sp_config_variant(config);
    shapeproof_config_set(variant, "a=7", &error);
    assert_holds(variant, "{\"c\": 3, \"a\": 7}");
    assert_holds(config, "{\"c\": 3, \"a\": 6}");
    shapeproof_config_free(variant);
    shapeproof_config_free(config);
}

/* A setting takes the memory of the members of one object, also in a variant, and not that of each earlier setting. */
static void many_settings(void **state)
{
    enum { KEYS = 2000, SETTINGS = 100 };
    const size_t most = 2 * (size_t)SETTINGS * (KEYS + SETTINGS) * sizeof(struct shapeproof_member);
    struct shapeproof_error error = {0};
    struct sp_text text = {0};
    char setting[32];
    (void)state;
    for (int i = 0; i < KEYS; i++) sp_text_printf(&text, "%s\"k%d\": %d", i ? ", " : "{", i, i);
    sp_text_puts(&text, "}");
    struct shapeproof_config *config = loaded("config.json", text.data);
    const size_t before = config->arena.used;
    for (int i = 0; i < SETTINGS; i++) {
        snprintf(setting, sizeof setting, "%c%d=x", i % 2 ? 'k' : 'n', i);
        assert_int_equal(shapeproof_config_set(config, setting, &error), SHAPEPROOF_OK);
    }
    assert_true(config->arena.used - before < most);
    struct shapeproof_config *variant = sp_config_variant(config);
    assert_true(variant->arena.used < most);
    assert_string_equal(value_of(variant, "k99").string, "x");
    assert_string_equal(value_of(variant, "n98").string, "x");
    assert_int_equal(value_of(variant, "k98").integer, 98);
    shapeproof_config_free(variant);
    shapeproof_config_free(config);
    sp_text_free(&text);
}

static void beside_a_checkpoint(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    scratch_empty(&scratch);
    assert_null(shapeproof_config_beside(scratch_write(&scratch, "model.safetensors", "", 0), &error));
    assert_null(shapeproof_config_beside(scratch.path, &error));
    scratch_write(&scratch, "config.json", "{}", 2);
    char *path = shapeproof_config_beside(scratch_path(&scratch, "model.safetensors"), &error);
    assert_string_equal(path, scratch_path(&scratch, "config.json"));
    free(path);
    path = shapeproof_config_beside(scratch.path, &error);
    assert_string_equal(path, scratch_path(&scratch, "config.json"));
    free(path);
    assert_null(shapeproof_config_beside("no-such-file-here", &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_values),          cmocka_unit_test(absent_null_and_false),
        cmocka_unit_test(json_numbers),         cmocka_unit_test(large_whole_numbers),
        cmocka_unit_test(repeated_keys),        cmocka_unit_test(divided_classes),
        cmocka_unit_test(wrong_json),           cmocka_unit_test(long_integers),
        cmocka_unit_test(wrong_json),           cmocka_unit_test(deep_json),
        cmocka_unit_test(unreadable_files),     cmocka_unit_test(texts_in_memory),
        cmocka_unit_test(hpm_values),           cmocka_unit_test(large_hpm),
        cmocka_unit_test(the_later_line_wins),  cmocka_unit_test(shell_commands_are_refused),
        cmocka_unit_test(expansion_is_bounded), cmocka_unit_test(settings),
        cmocka_unit_test(wrong_settings),       cmocka_unit_test(who_wins),
        cmocka_unit_test(many_settings),        cmocka_unit_test(beside_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
