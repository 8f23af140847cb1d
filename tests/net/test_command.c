/* SPDX-License-Identifier: MIT
 * The command, given URLs: what it takes from the environment, what it prints, how it ends. */
#define _GNU_SOURCE
#include "net/place.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#define MODEL "fixtures/models/tiny-gpt2/"

static char output[64 * 1024];

static const char *command(void)
{
    const char *named = getenv("SHAPEPROOF");
    return named ? named : "build/release/shapeproof";
}

/* Runs it with the words, "a b c"; stdout and stderr, which is `terminal` if that is not -1, come into `output`. */
static int run_with(const char *words, int terminal, int reading)
{
    char copy[1024], *argv[32] = {"shapeproof"};
    int ends[2] = {reading, terminal}, status, count = 1;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *next = copy; next && count < 31;) argv[count++] = strsep(&next, " ");
    if (terminal < 0) assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        execv(command(), argv);
        _exit(127);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], output + length, sizeof output - 1 - length)) > 0;) length += (size_t)got;
    output[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(const char *words) { return run_with(words, -1, -1); }

/* "COMMAND URL-of-path". */
static int run_here(const char *words, const char *path)
{
    char line[1024];
    snprintf(line, sizeof line, "%s %s", words, url_here(path));
    return run(line);
}

static void serve_fixture(const char *name)
{
    char path[200];
    static char bytes[1 << 20];
    snprintf(path, sizeof path, MODEL "%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    serve_file(here, name, bytes, length, length);
}

static int start_command(void **state)
{
    char endpoint[64];
    start_servers(state);
    serve_fixture("config.json");
    serve_fixture("model.safetensors");
    here->elsewhere[0] = '\0'; /* the hub serves all by itself */
    snprintf(here->listing, sizeof here->listing,
             "{\"sha\":\"0123456789abcdef0123456789abcdef01234567\",\"siblings\":["
             "{\"rfilename\":\"config.json\"},"
             "{\"rfilename\":\"model.safetensors\"}]}");
    server_origin(here, endpoint, sizeof endpoint);
    setenv("HF_ENDPOINT", endpoint, 1);
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("HOME", cache, 1);
    /* CI: no progress is shown where it is set */
    static const char *const others[] = {"HF_TOKEN", "HF_TOKEN_PATH", "HF_HOME", "HF_HUB_OFFLINE", "CI"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) unsetenv(others[i]);
    return 0;
}

static void assert_says(const char *text)
{
    if (!strstr(output, text)) fail_msg("no '%s' in: %s", text, output);
}

static void test_check(void **state)
{
    (void)state;
    empty_cache();
    assert_int_equal(run("check hf://org/name"), 0);
    assert_says("match: all 28 tensors, 7,872 elements\n\ncheckpoint  hf://org/name (safetensors)\n");
    assert_null(strstr(output, cache));
    assert_int_equal(run("check --offline hf://org/name"), 0);
    assert_int_equal(run("check hf://org/name --set vocab_size=66"), 1);
    assert_int_equal(run("diff hf://org/name " MODEL "model.safetensors"), 0);
    assert_int_equal(run("infer hf://org/name@v1"), 0);
    assert_int_equal(run("inspect --json hf://org/name@v1/model.safetensors"), 0);
    assert_says("\"file\": \"hf://org/name@v1/model.safetensors\"");
    assert_int_equal(run_here("check", "ok/model.safetensors"), 0);
    assert_says(url_here("ok/model.safetensors"));
}

static void test_refusals(void **state)
{
    (void)state;
    empty_cache();
    assert_int_equal(run("check --offline hf://org/name"), 4);
    assert_string_equal(output, "shapeproof: hf://org/name/: not in the cache, and --offline fetches nothing\n");
    setenv("HF_HUB_OFFLINE", "1", 1);
    assert_int_equal(run("check hf://org/name"), 4);
    unsetenv("HF_HUB_OFFLINE");
    assert_int_equal(run("check s3://bucket/key"), 2);
    assert_says("hint: sign an address, and name that: aws s3 presign s3://BUCKET/KEY\n");
    assert_int_equal(run("check http://example.org/a"), 2);
    assert_int_equal(run_here("inspect", "status-403/model.safetensors?Signature=secret"), 4);
    assert_null(strstr(output, "secret"));
    assert_int_equal(run("check --data hf://org/name"), 4);
    assert_says("hf://org/name/model.safetensors: only its headers were fetched, and not the data\n");
}

/* A table that is learned says which checkpoints it is of: by their URLs, wherever it goes. */
static void test_learned_comment(void **state)
{
    char line[200], words[900], text[20000] = "";
    (void)state;
    empty_cache();
    serve_model(here, "other.safetensors", 0, 4, 10);
    snprintf(words, sizeof words, "learn --partial fixtures/models/tiny-gpt2 %s", url_here("ok/other.safetensors"));
    assert_int_equal(run(words), 1);
    assert_says(url_here("ok/other.safetensors"));
    assert_null(strstr(output, "/dev/fd"));
    snprintf(line, sizeof line, "%s/mine.shapes", cache);
    strcat(strcat(words, " -o "), line);
    assert_int_equal(run(words), 1);
    assert_null(strstr(output, "/dev/fd"));
    FILE *file = fopen(line, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(text, url_here("ok/other.safetensors")));
    assert_null(strstr(text, "/dev/fd"));
}

/* From the environment, from its file; and nowhere else afterwards. */
static void test_token(void **state)
{
    char path[128], line[256];
    (void)state;
    empty_cache();
    assert_int_equal(run("check hf://gated/name"), 4);
    assert_says("hint: it may be private or gated, or not exist: set HF_TOKEN to a token that may read it\n");
    setenv("HF_TOKEN", "hf_secret", 1);
    assert_int_equal(run("check hf://gated/name"), 0);
    assert_null(strstr(output, "hf_secret"));
    setenv("HF_TOKEN", "hf_wrong", 1);
    assert_int_equal(run("check hf://gated/name"), 4);
    assert_null(strstr(output, "hf_wrong"));
    unsetenv("HF_TOKEN");
    snprintf(path, sizeof path, "%s/huggingface", cache);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/token");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("hf_secret\n", file);
    fclose(file);
    assert_int_equal(run("check hf://gated/name"), 0);
    assert_int_equal(remove(path), 0);
    snprintf(line, sizeof line, "%s", cache);
    char *const grep[] = {"grep", "-rq", "hf_", line, NULL};
    const pid_t pid = fork();
    if (pid == 0) execvp("grep", grep), _exit(2);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 1); /* there is none */
}

/* Of a list the run has a line, and none of its processes. */
static void assert_no_line_of_one(void)
{
    char line[200];
    const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    empty_cache();
    snprintf(line, sizeof line, "%s/list", cache);
    FILE *file = fopen(line, "w");
    assert_non_null(file);
    fputs("hf://org/name\n", file);
    fclose(file);
    snprintf(line, sizeof line, "check --list %s/list", cache);
    run_with(line, terminal, master);
    assert_says("1 checkpoint: 1 match");
    assert_null(strstr(output, "fetching headers"));
}

/* On a terminal a line shows after a second how far it has come, and is gone in the end. */
static void test_progress(void **state)
{
    (void)state;
    const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
        skip();
        return;
    }
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) skip();
    empty_cache();
    setenv("TERM", "xterm", 1);
    char line[1024];
    snprintf(line, sizeof line, "check --color=never --no-pager %s", url_here("late/model.safetensors"));
    run_with(line, terminal, master);
    assert_says("\r\033[Kfetching headers: 0 of ");
    assert_says("\r\033[Kmatch: all 28 tensors");
    assert_no_line_of_one();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check), cmocka_unit_test(test_refusals), cmocka_unit_test(test_learned_comment),
        cmocka_unit_test(test_token), cmocka_unit_test(test_progress),
    };
    return cmocka_run_group_tests(tests, start_command, stop_servers);
}
