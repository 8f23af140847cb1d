/* SPDX-License-Identifier: MIT
 * https://: what comes of good servers, of poor ones and of hostile ones. */
#define _GNU_SOURCE
#include "net/place.h"
#include "net/transfer.h"

#include <signal.h>

enum { TENSORS = 300 }; /* a header of 40 KB */

#define LARGE "large.safetensors"

static void serve_large(void)
{
    if (!find_served(here, LARGE)) serve_model(here, LARGE, 0, TENSORS, 2048);
    if (!find_served(there, LARGE)) serve_model(there, LARGE, 0, TENSORS, 2048);
    find_served(here, LARGE)->asked = 0;
    empty_cache();
}

/* A file of 5 GB takes one request and less than 130 KB, and a second look at it no bytes of the file. */
static void test_one_request(void **state)
{
    (void)state;
    serve_large();
    assert_true(find_served(here, LARGE)->size > 5000000000);
    const uint64_t before = bytes_moved();
    assert_int_equal(fetch_count(url_here("ok/" LARGE)), TENSORS);
    assert_int_equal(find_served(here, LARGE)->asked, 1);
    assert_in_range(bytes_moved() - before, 1, 130 * 1000);
    const uint64_t between = bytes_moved(), conditional = here->conditional;
    assert_int_equal(fetch_count(url_here("ok/" LARGE)), TENSORS);
    assert_int_equal(here->conditional - conditional, 1);
    assert_in_range(bytes_moved() - between, 1, 2000);
}

/* A header that is longer than the first range takes one more. */
static void test_long_header(void **state)
{
    (void)state;
    empty_cache();
    serve_model(here, "long.safetensors", 0, 5000, 1);
    assert_int_equal(fetch_count(url_here("ok/long.safetensors")), 5000);
    assert_int_equal(find_served(here, "long.safetensors")->asked, 2);
}

/* A file of another version takes the place of the old one. */
static void test_new_version(void **state)
{
    (void)state;
    empty_cache();
    struct served *file = serve_model(here, "new.safetensors", 0, 3, 1);
    assert_int_equal(fetch_count(url_here("ok/new.safetensors")), 3);
    struct served *later = serve_model(here, "later", 0, 7, 1);
    char *head = file->head;
    file->head = later->head, file->head_length = later->head_length, file->size = later->size;
    later->head = head;
    strcpy(file->etag, "\"another\"");
    assert_int_equal(fetch_count(url_here("ok/new.safetensors")), 7);
}

static void test_offline(void **state)
{
    (void)state;
    serve_large();
    options.offline = true;
    assert_string_equal(fetch_message(url_here("ok/" LARGE)), "not in the cache, and --offline fetches nothing");
    options.offline = false;
    fetch_count(url_here("ok/" LARGE));
    const uint64_t requests = here->requests;
    options.offline = true;
    assert_int_equal(fetch_count(url_here("ok/" LARGE)), TENSORS);
    options.offline = false;
    assert_int_equal(here->requests, requests);
}

/* What was there stays as it is named in messages; the data are not there. */
static void test_no_data(void **state)
{
    (void)state;
    serve_large();
    struct shapeproof_remote *remote = shapeproof_remote_fetch(url_here("ok/" LARGE), &options, &error);
    assert_non_null(remote);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(shapeproof_remote_path(remote), &error);
    assert_non_null(inventory);
    assert_null(shapeproof_data_open(inventory, &error));
    assert_non_null(strstr(error.message, "only its headers were fetched, and not the data"));
    shapeproof_inventory_close(inventory);
    shapeproof_remote_free(remote);
}

static const char refused[] = "the answer of the server is not used: ";

/* Servers that end in bytes, and how often they were asked. */
static void test_poor_servers(void **state)
{
    static const struct {
        const char *mode;
        int asked;
    } cases[] = {
        {"whole", 1},   {"status-429", 2}, {"status-503", 3}, {"cut-first", 2},
        {"no-etag", 1}, {"elsewhere", 1},  {"cut", 5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases - 1; i++) {
        char path[100];
        serve_large();
        snprintf(path, sizeof path, "%s/" LARGE, cases[i].mode);
        if (fetch_count(url_here(path)) != TENSORS) fail_msg("%s", path);
        if (find_served(here, LARGE)->asked != cases[i].asked)
            fail_msg("%s: %d", path, find_served(here, LARGE)->asked);
    }
}

/* And those that end in an error. */
static void test_hostile_servers(void **state)
{
    static const struct {
        const char *mode, *message;
        bool is_refused;
    } cases[] = {
        {"status-401", "HTTP status 401, not without a token that may read it", false},
        {"status-403", "HTTP status 403, forbidden (GatedRepo)", false},
        {"status-404", "it is not there (HTTP status 404)", false},
        {"status-416", "HTTP status 416, no such range", false},
        {"status-418", "HTTP status 418", false},
        {"status-430", "HTTP status 429, the server asks for fewer requests; it asks to come again in 3600 s", false},
        {"status-504", "HTTP status 504, the last of 5 times", false},
        {"loop", "more than 5 redirects", false},
        {"to-ftp", "redirected to what is not followed: ftp:// is not fetched: https:// and hf:// are", false},
        {"to-file", "redirected to what is not followed: file:// is not fetched: https:// and hf:// are", false},
        {"to-plain", "redirected to what is not followed: http:// is not fetched: https:// and hf:// are", false},
        {"shifted", "it is another range than was asked for", true},
        {"more", "it is more than was asked for", true},
        {"says-less", "its Content-Length and its Content-Range differ", true},
        {"gzip", "it is compressed (Content-Encoding), which was not asked for", true},
        {"two-lengths", "it has two different lengths", true},
        {"odd-range", "its Content-Range makes no sense", true},
        {"whole-no-length", "the server tells no lengths and knows no ranges", false},
        {"two-ranges", "it has two Content-Ranges", true},
        {"large-head", "its headers have more than 64 KiB", true},
        {"close", "no answer (Server returned nothing (no headers, no data)), the last of 5 times", false},
        {"drip", "less than 1024 bytes came in 300 ms, the last of 5 times", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[100], expected[300];
        serve_large();
        snprintf(path, sizeof path, "%s/" LARGE, cases[i].mode);
        snprintf(expected, sizeof expected, "%s%s", cases[i].is_refused ? refused : "", cases[i].message);
        options.stall_ms = strcmp(cases[i].mode, "drip") == 0 ? SHORT_STALL_MS : PATIENT_STALL_MS;
        const char *message = fetch_message(url_here(path));
        if (strcmp(message, expected) != 0) fail_msg("%s: '%s' in place of '%s'", cases[i].mode, message, expected);
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    }
    options.stall_ms = PATIENT_STALL_MS;
    serve_large();
    fetch_message(url_here("no-http/" LARGE));
    serve_text(here, "short.safetensors", "short");
    assert_non_null(strstr(fetch_message(url_here("endless/short.safetensors")), "it is longer than it says"));
}

/* An attempt that breaks off again and again still gets on, and what came of one that failed is kept for the next. */
static void test_resume(void **state)
{
    (void)state;
    serve_large();
    assert_non_null(strstr(fetch_message(url_here("cut/" LARGE)), "the connection broke at 25000 of 122880 bytes"));
    assert_int_equal(find_served(here, LARGE)->asked, 5);
    serve_large();
    assert_non_null(strstr(fetch_message(url_here("cut-five/" LARGE)), "the connection broke at 25000 of"));
    const uint64_t before = here->sent;
    assert_int_equal(fetch_count(url_here("cut-five/" LARGE)), TENSORS);
    assert_non_null(strstr(here->last, "Range: bytes=25000-"));
    assert_true(here->sent - before > 10000);
}

/* Between two ranges of one file. */
static void test_change_between(void **state)
{
    (void)state;
    empty_cache();
    serve_model(here, "changing.safetensors", 0, 5000, 1000);
    const char *message = fetch_message(url_here("changing/changing.safetensors"));
    assert_string_equal(message, "the answer of the server is not used: the file was changed since its beginning was "
                                 "read");
}

/* The same from a server that tells no version: what came is held against what comes in the end. */
static void test_change_without_version(void **state)
{
    (void)state;
    static const char *const modes[] = {"replaced", "weak-replaced"}, *const still[] = {"no-etag", "weak"};
    for (size_t i = 0; i < 2; i++) {
        char name[64], path[128], told[256];
        empty_cache();
        snprintf(name, sizeof name, "%s.safetensors", modes[i]);
        snprintf(path, sizeof path, "%s/%s", modes[i], name);
        struct served *file = serve_model(here, name, 0, 5000, 1000);
        snprintf(told, sizeof told, "%s", fetch_message(url_here(path)));
        assert_string_equal(told, "the file was changed while it was fetched");
        /* From then on it stays as it is: three requests, of which the last brings what the others brought. */
        snprintf(path, sizeof path, "%s/%s", still[i], name);
        empty_cache();
        file->asked = 0;
        assert_int_equal(fetch_count(url_here(path)), 5000);
        assert_int_equal(file->asked, 3);
    }
    /* One range is one version. */
    struct served *small = serve_model(here, "small.safetensors", 0, 3, 1000);
    assert_int_equal(fetch_count(url_here("no-etag/small.safetensors")), 3);
    assert_int_equal(small->asked, 1);
}

static void test_names(void **state)
{
    static const struct {
        const char *url, *message;
    } cases[] = {
        {"ftp://example.org/a", "ftp:// is not fetched: https:// and hf:// are"},
        {"file:///etc/passwd", "file:// is not fetched: https:// and hf:// are"},
        {"http://example.org/a", "http:// is not fetched: https:// and hf:// are"},
        {"http://127.0.0.1.example.org/a", "http:// is not fetched: https:// and hf:// are"},
        {"http://127.0.0.2/a", "http:// is not fetched: https:// and hf:// are"},
        {"s3://bucket/key", "s3:// is not fetched by itself"},
        {"https://user:secret@example.org/a", "'(a URL)': a URL with a user or a password in it"},
        {"https://example.org\\@127.0.0.1/a", "'(a URL)': a URL with a user or a password in it"},
        {"https://exa mple.org/a?signature", "'https://exa mple.org/a': not a plain URL"},
        {"https:///a", "'https:///a': not a plain URL"},
        {"https://example.org:99999/a", "'https://example.org:99999/a': not a plain URL"},
        {"https://example.org/%2e%2e", "'https://example.org/%2e%2e': the name of the file is not plain"},
        {"hf://", "'hf://': expected hf://ORG/NAME[@REVISION][/PATH]"},
        {"hf://../x", "'hf://../x': expected hf://ORG/NAME[@REVISION][/PATH]"},
        {"hf://a/b@", "'hf://a/b@': expected hf://ORG/NAME[@REVISION][/PATH]"},
        {"hf://a/b/../c", "'hf://a/b/../c': expected hf://ORG/NAME[@REVISION][/PATH]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(shapeproof_remote_fetch(cases[i].url, &options, &error));
        if (strcmp(error.message, cases[i].message) != 0) fail_msg("%s: %s", cases[i].url, error.message);
        assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    }
    assert_true(shapeproof_is_remote("hf://a"));
    assert_false(shapeproof_is_remote("a/b://c"));
    assert_false(shapeproof_is_remote("://c"));
    assert_false(shapeproof_is_remote("model.safetensors"));
}

/* A proxy sees where to, and nothing else; what it says is no file, and it is not asked for this machine itself. */
static void test_proxy(void **state)
{
    char proxy[64], url[] = "https://example.invalid/ok/" LARGE;
    (void)state;
    empty_cache();
    server_origin(there, proxy, sizeof proxy);
    setenv("https_proxy", proxy, 1);
    setenv("http_proxy", proxy, 1);
    options.endpoint = "https://example.invalid";
    options.token = "hf_secret";
    assert_non_null(strstr(fetch_message(url), "no answer"));
    assert_int_equal(there->tunnels, 2);
    assert_int_equal(there->tokens, 0);
    options.endpoint = options.token = NULL;
    serve_large();
    const size_t count = fetch_count(url_here("ok/" LARGE));
    unsetenv("https_proxy");
    unsetenv("http_proxy");
    assert_int_equal(count, TENSORS);
    assert_int_equal(there->tunnels, 2);
}

/* What a child leaves that a server took over. */
static void test_unsound_answers(void **state)
{
    static struct sp_net_response answer;
    struct sp_transfer transfer = {.room = 100, .begin = 10, .answer = &answer};
    (void)state;
    const struct sp_net_response good = {.outcome = SP_GOT, .begin = 10, .length = 90, .total = 100, .etag = "\"a\""};
    answer = good;
    assert_true(sp_answer_is_sound(&transfer));
#define UNSOUND(change)                                                                                                \
    do {                                                                                                               \
        answer = good;                                                                                                 \
        change;                                                                                                        \
        assert_false(sp_answer_is_sound(&transfer));                                                                   \
    } while (0)
    UNSOUND(answer.begin = 0);
    UNSOUND(answer.length = 101);
    UNSOUND(answer.length = UINT64_MAX);
    UNSOUND(answer.total = UINT64_MAX);
    UNSOUND(answer.total = 9);
    UNSOUND(answer.outcome = SP_NOT_MODIFIED);
    UNSOUND(answer.outcome = 77);
    UNSOUND(answer.outcome = SP_UNANSWERED);
    UNSOUND((answer.outcome = SP_NO_ANSWER, answer.kind = 1000));
    UNSOUND((answer.outcome = SP_NO_ANSWER, strcpy(answer.why, "\033[2J")));
    UNSOUND(strcpy(answer.etag, "\"a\"\nhas 0 90"));
    UNSOUND(strcpy(answer.etag, "\"a\"\r\nX: y"));
    UNSOUND(memset(answer.url, 'a', sizeof answer.url));
#undef UNSOUND
}

/* A server that speaks no TLS, or has no certificate that is trusted, is none. */
static void test_no_tls(void **state)
{
    char url[100];
    (void)state;
    empty_cache();
    snprintf(url, sizeof url, "https://127.0.0.1:%d/ok/" LARGE, here->port);
    options.stall_ms = SHORT_STALL_MS;
    const char *message = fetch_message(url);
    options.stall_ms = PATIENT_STALL_MS;
    if (strstr(message, "SSL CA cert")) skip(); /* the machine has no certificate to trust */
    assert_string_equal(message, "less than 1024 bytes came in 300 ms, the last of 5 times");
}

/* One that signed its own, by the tool of OpenSSL where there is one. */
static void test_certificate(void **state)
{
    char script[1024], line[64] = "";
    (void)state;
    empty_cache();
    snprintf(
        script, sizeof script,
        "cd %s && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost "
        ">log 2>&1 || exit; openssl s_server -accept 127.0.0.1:0 -key key.pem -cert cert.pem -WWW 2>&1 & echo $!",
        cache);
    FILE *stream = popen(script, "r");
    assert_non_null(stream);
    const long pid = fgets(line, sizeof line, stream) ? strtol(line, NULL, 10) : 0;
    int port = 0;
    while (pid && !port && fgets(line, sizeof line, stream)) sscanf(line, "ACCEPT 127.0.0.1:%d", &port);
    char url[100];
    snprintf(url, sizeof url, "https://localhost:%d/a.safetensors", port);
    if (port) assert_non_null(strstr(fetch_message(url), "no answer: SSL peer certificate"));
    if (pid) kill((pid_t)pid, SIGTERM);
    pclose(stream);
    if (!port) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_request),     cmocka_unit_test(test_long_header),
        cmocka_unit_test(test_new_version),     cmocka_unit_test(test_offline),
        cmocka_unit_test(test_no_data),         cmocka_unit_test(test_poor_servers),
        cmocka_unit_test(test_hostile_servers), cmocka_unit_test(test_resume),
        cmocka_unit_test(test_change_between),  cmocka_unit_test(test_change_without_version),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_proxy),
        cmocka_unit_test(test_unsound_answers), cmocka_unit_test(test_no_tls),
        cmocka_unit_test(test_certificate),
    };
    return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
