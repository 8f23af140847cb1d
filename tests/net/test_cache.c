/* SPDX-License-Identifier: MIT
 * The cache: commands at the same time, what a hub lists and what it tells of versions, and who may look into it. */
#define _GNU_SOURCE
#include "net/place.h"

#include <spawn.h>
#include <sys/wait.h>

enum { PROCESSES = 8, ROUNDS = 6, TENSORS = 700 };

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

static char endpoint[64];

static void use_hub(const char *siblings)
{
    snprintf(here->listing, sizeof here->listing, "{\"sha\":\"" COMMIT "\",\"siblings\":[%s]}", siblings);
    server_origin(here, endpoint, sizeof endpoint);
    options.endpoint = endpoint;
    options.token = NULL;
    empty_cache();
}

/* What a command does: fetches, then reads what is in the sparse cache. */
static bool finds_all(const char *url)
{
    struct shapeproof_remote *remote = shapeproof_remote_fetch(url, &options, &error);
    struct shapeproof_inventory *inventory =
        remote ? shapeproof_inventory_open(shapeproof_remote_path(remote), &error) : NULL;
    const bool all = inventory && shapeproof_inventory_count(inventory) == TENSORS;
    if (!all) fprintf(stderr, "%s: %s\n", url, error.message);
    shapeproof_inventory_close(inventory);
    shapeproof_remote_free(remote);
    return all;
}

/* Starts this program again as a command that fetches `url` into the cache. A mere fork would copy the locks that the
 * threads of the servers hold at that moment, those of a sanitizer among them, and nobody would release them. */
static pid_t start_command(const char *url)
{
    char self[] = "/proc/self/exe";
    char *arguments[] = {self, cache, (char *)url, NULL};
    pid_t process;
    if (posix_spawn(&process, self, NULL, NULL, arguments, environ) != 0) abort();
    return process;
}

/* Each finds all of it, although others fetch the same into the same folder. */
static void test_at_the_same_time(void **state)
{
    (void)state;
    serve_model(here, "same.safetensors", 0, TENSORS, 10);
    serve_text(here, "config.json", "{\"model_type\":\"llama\"}");
    for (int batch = 0; batch < ROUNDS; batch++) {
        int failed = 0;
        empty_cache();
        for (int i = 0; i < PROCESSES; i++) start_command(url_here("ok/same.safetensors"));
        for (int i = 0, status; i < PROCESSES; i++) failed += wait(&status) < 0 || status != 0;
        assert_int_equal(failed, 0);
    }
}

/* A file of the web that changes while another command fetches it: who has read the older one is told. */
static void test_newer_version(void **state)
{
    (void)state;
    struct served *file = serve_model(here, "newer.safetensors", 0, TENSORS, 10);
    empty_cache();
    struct shapeproof_remote *first = shapeproof_remote_fetch(url_here("ok/newer.safetensors"), &options, &error);
    assert_non_null(first);
    assert_true(shapeproof_remote_confirm(first, &error));
    struct shapeproof_remote *again = shapeproof_remote_fetch(url_here("ok/newer.safetensors"), &options, &error);
    assert_non_null(again);
    assert_true(shapeproof_remote_confirm(first, &error)); /* the same version */
    shapeproof_remote_free(again);
    snprintf(file->etag, sizeof file->etag, "\"newer\"");
    struct shapeproof_remote *second = shapeproof_remote_fetch(url_here("ok/newer.safetensors"), &options, &error);
    assert_non_null(second);
    assert_true(shapeproof_remote_confirm(second, &error));
    assert_false(shapeproof_remote_confirm(first, &error));
    assert_non_null(strstr(error.message, "/newer.safetensors: another command fetched a newer version"));
    shapeproof_remote_free(first);
    shapeproof_remote_free(second);
}

/* What is of a commit cannot change, whatever tag the node has that a redirect leads to this time. */
static void test_tags_of_a_commit(void **state)
{
    (void)state;
    struct served *file = serve_model(there, "moving.safetensors", 0, 4000, 10);
    serve_model(here, "moving.safetensors", 0, 4000, 10);
    assert_true(file->head_length > 3 * 120 * 1024);
    use_hub("{\"rfilename\":\"moving.safetensors\"}");
    assert_int_equal(fetch_count("hf://org/name"), 4000);
    assert_in_range(file->asked, 2, 10);
    assert_null(
        shapeproof_remote_fetch(url_here("changing/moving.safetensors"), &options, &error)); /* of the web it can */
    assert_non_null(strstr(error.message, "changed"));
}

/* Messages name the file or folder of the cache and the system call. */
static void test_unusable_cache(void **state)
{
    (void)state;
    struct shapeproof_remote_options unusable = options;
    serve_model(here, "plain.safetensors", 0, TENSORS, 10);
    unusable.cache = "/dev/null/cache";
    assert_null(shapeproof_remote_fetch(url_here("ok/plain.safetensors"), &unusable, &error));
    assert_non_null(strstr(error.message, "the cache, /dev/null/cache/"));
    assert_non_null(strstr(error.message, "/files/: mkdir: Not a directory"));
}

/* With two arguments, the cache and a URL: the command that start_command starts. */
int main(int count, char **arguments)
{
    if (count == 3) {
        snprintf(cache, sizeof cache, "%s", arguments[1]);
        set_options();
        return !finds_all(arguments[2]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_the_same_time),
        cmocka_unit_test(test_newer_version),
        cmocka_unit_test(test_tags_of_a_commit),
        cmocka_unit_test(test_unusable_cache),
    };
    return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
