/* SPDX-License-Identifier: MIT
 * hf://: one listing, shards side by side from another host, and where the token goes. */
#define _GNU_SOURCE
#include "net/place.h"

enum { SHARDS = 100, TENSORS = 50 };

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

static char endpoint[64];

/* Serves a listing of these names, "a b c", and forgets what was served before. */
static void list_files(const char *names)
{
    char copy[32 * 1024];
    size_t at = 0;
    snprintf(copy, sizeof copy, "%s", names);
    char *into = here->listing;
    const size_t room = sizeof here->listing;
    at += (size_t)snprintf(into, room, "{\"id\":\"org/name\",\"sha\":\"" COMMIT "\",\"siblings\":[");
    bool first = true;
    for (char *next = copy, *name; (name = strsep(&next, " ")); first = false)
        at += (size_t)snprintf(into + at, room - at, "%s{\"rfilename\":\"%s\"}", first ? "" : ",", name);
    snprintf(into + at, room - at, "]}");
    server_origin(here, endpoint, sizeof endpoint);
    options.endpoint = endpoint;
    options.token = NULL;
    empty_cache();
}

static void shard_name(char *name, size_t size, int number)
{
    snprintf(name, size, "model-%05d-of-%05d.safetensors", number, SHARDS);
}

/* 100 shards of 5 GB, with an index that is larger than each of their headers. */
static void serve_shards(void)
{
    char name[64], *names = calloc(1, 16 * 1024), *index = calloc(1, 1024 * 1024);
    size_t at = 0;
    assert_true(names && index);
    strcpy(names, "config.json model.safetensors.index.json README.md");
    at += (size_t)sprintf(index, "{\"metadata\":{},\"weight_map\":{");
    for (int i = 0; i < SHARDS; i++) {
        shard_name(name, sizeof name, i + 1);
        strcat(strcat(names, " "), name);
        if (!find_served(there, name)) {
            serve_model(there, name, (size_t)i * TENSORS, TENSORS, 12300);
            serve_model(here, name, (size_t)i * TENSORS, TENSORS, 12300);
        }
        for (int t = 0; t < TENSORS; t++)
            at += (size_t)sprintf(index + at, "%s\"model.layers.%d.weight\":\"%s\"", i || t ? "," : "", i * TENSORS + t,
                                  name);
    }
    strcpy(index + at, "}}");
    if (!find_served(here, "config.json")) {
        serve_text(here, "config.json", "{\"model_type\":\"llama\"}");
        serve_text(here, "model.safetensors.index.json", index);
    }
    list_files(names);
    free(names);
    free(index);
}

/* The promise: two requests and 130 KB a shard, both counted by the servers, everything else included. */
static void test_shards(void **state)
{
    (void)state;
    serve_shards();
    assert_true(find_served(there, "model-00001-of-00100.safetensors")->size > 5000000000);
    const uint64_t bytes = bytes_moved(), requests = here->requests + there->requests;
    assert_int_equal(fetch_count("hf://org/name"), SHARDS * TENSORS);
    const uint64_t moved = bytes_moved() - bytes, asked = here->requests + there->requests - requests;
    print_message("%d shards of %" PRIu64 " bytes: %" PRIu64 " requests, %" PRIu64 " bytes a shard\n", SHARDS,
                  find_served(there, "model-00001-of-00100.safetensors")->size, asked, moved / SHARDS);
    assert_in_range(asked, SHARDS, 2 * SHARDS + 3); /* and the listing, the configuration, the index */
    assert_in_range(moved, 1, SHARDS * 130 * 1000);
    const uint64_t again = here->requests + there->requests;
    assert_int_equal(fetch_count("hf://org/name"), SHARDS * TENSORS);
    assert_int_equal(here->requests + there->requests - again, 1);
    assert_int_equal(fetch_count("hf://org/name@" COMMIT), SHARDS * TENSORS);
    assert_int_equal(fetch_count("hf://org/name@" COMMIT), SHARDS * TENSORS);
    assert_int_equal(here->requests + there->requests - again, 2);
    options.offline = true;
    assert_int_equal(fetch_count("hf://org/name"), SHARDS * TENSORS);
    assert_int_equal(here->requests + there->requests - again, 2);
    options.offline = false;
}

static void test_token(void **state)
{
    (void)state;
    serve_shards();
    options.token = "hf_secret";
    const uint64_t before = here->tokens, requests = here->requests;
    assert_int_equal(fetch_count("hf://org/name"), SHARDS * TENSORS);
    assert_int_equal(here->tokens - before, here->requests - requests);
    assert_int_equal(there->tokens, 0);
    char url[200];
    empty_cache();
    snprintf(url, sizeof url, "http://127.0.0.1:%d/ok/model-00001-of-00100.safetensors", there->port);
    assert_int_equal(fetch_count(url), TENSORS);
    assert_int_equal(there->tokens, 0);
    options.token = "two\r\nlines";
    assert_null(shapeproof_remote_fetch("hf://org/name", &options, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    assert_null(strstr(error.message, "two"));
}

static void test_gated(void **state)
{
    (void)state;
    serve_shards();
    assert_string_equal(fetch_message("hf://gated/name"),
                        "HTTP status 401, not without a token that may read it (GatedRepo)");
    assert_non_null(strstr(error.hint, "HF_TOKEN"));
    options.token = "hf_wrong";
    fetch_message("hf://gated/name");
    assert_null(strstr(error.message, "hf_wrong"));
    options.token = "hf_secret";
    assert_int_equal(fetch_count("hf://gated/name"), SHARDS * TENSORS);
    options.token = NULL;
    assert_string_equal(fetch_message("hf://absent/name@v2"), "HTTP status 404, it is not there (RepoNotFound)");
}

/* One file; components of a pipeline; names that lead elsewhere. */
static void test_paths(void **state)
{
    (void)state;
    serve_shards();
    assert_int_equal(fetch_count("hf://org/name/model-00007-of-00100.safetensors"), TENSORS);
    assert_non_null(strstr(here->last, "/resolve/" COMMIT "/model-00007-of-00100.safetensors"));
    assert_null(shapeproof_remote_fetch("hf://org/name/other.safetensors", &options, &error));
    assert_string_equal(error.message,
                        "hf://org/name/other.safetensors: it is not among the 103 files of this revision");
    serve_text(here, "model_index.json", "{\"_class_name\":\"P\",\"unet\":[\"diffusers\",\"U\"]}");
    serve_model(there, "unet/model.safetensors", 0, 9, 2);
    serve_model(here, "unet/model.safetensors", 0, 9, 2);
    list_files("model_index.json unet/model.safetensors ../../evil.bin /etc/evil.bin a/../b.bin");
    struct shapeproof_remote *remote = shapeproof_remote_fetch("hf://org/pipeline", &options, &error);
    if (!remote) fail_msg("%s", error.message);
    struct shapeproof_components *components = shapeproof_components_open(shapeproof_remote_path(remote), &error);
    assert_int_equal(shapeproof_component_count(components), 1);
    struct shapeproof_inventory *inventory =
        shapeproof_inventory_open(shapeproof_component(components, 0)->path, &error);
    assert_int_equal(shapeproof_inventory_count(inventory), 9);
    shapeproof_inventory_close(inventory);
    shapeproof_components_free(components);
    shapeproof_remote_free(remote);
    assert_int_equal(fetch_count("hf://org/pipeline/unet"), 9);
}

static void test_distributed(void **state)
{
    (void)state;
    list_files(".metadata __0_0.distcp __1_0.distcp");
    fetch_message("hf://org/name");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_UNRECOGNISED);
    assert_string_equal(error.hint,
                        "a distributed checkpoint (*.distcp) is read where it is on this machine: download it");
    list_files("config.json");
    fetch_message("hf://org/name");
    assert_null(strstr(error.hint, "distcp"));
}

/* As it is often written. */
static void test_endpoint_with_slash(void **state)
{
    char slash[80];
    (void)state;
    serve_shards();
    snprintf(slash, sizeof slash, "%s/", endpoint);
    options.endpoint = slash;
    assert_int_equal(fetch_count("hf://org/name/model-00007-of-00100.safetensors"), TENSORS);
    assert_null(strstr(here->last, "//org"));
    options.endpoint = endpoint;
}

static void test_hostile_listing(void **state)
{
    static const char *const listings[] = {
        "",
        "[]",
        "{}",
        "{\"sha\":\"../../../etc\"}",
        "{\"sha\":1}",
        "{\"sha\":\"" COMMIT "\",\"siblings\":{}}",
        "{\"sha\":\"" COMMIT "\",\"siblings\":[{\"rfilename\":7}]}",
        "{\"sha\":\"" COMMIT "\"} x",
        "{\"sha\":\"" COMMIT "\",\"siblings\":[]}",
    };
    (void)state;
    list_files("");
    for (size_t i = 0; i < sizeof listings / sizeof *listings; i++) {
        strcpy(here->listing, listings[i]);
        empty_cache();
        fetch_message("hf://org/name");
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards),          cmocka_unit_test(test_token),
        cmocka_unit_test(test_gated),           cmocka_unit_test(test_paths),
        cmocka_unit_test(test_distributed),     cmocka_unit_test(test_endpoint_with_slash),
        cmocka_unit_test(test_hostile_listing),
    };
    return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
