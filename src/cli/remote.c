/* SPDX-License-Identifier: MIT
 * Checkpoints that are elsewhere: what the environment says about the hub and the cache, how far a fetch has
 * come, and the URL in place of the path of a sparse cache wherever something is printed. */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

enum { MAX_TOKEN = 4096 };

/* Paths that stand for operands, and what they are called: written when a checkpoint was fetched or copied from
 * standard input, read when something is printed. */
struct alias {
    char *path, *name;
};
static struct alias *aliases;
static size_t alias_count;

/* ---- the environment ---- */

/* NULL in place of "". */
static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static char *join_texts(const char *first, const char *second)
{
    char *joined = NULL;
    if (asprintf(&joined, "%s%s", first, second) < 0) cli_out_of_memory();
    return joined;
}

/* $XDG_CACHE_HOME/shapeproof, which is ~/.cache/shapeproof by default; NULL without a home. */
static char *cache_folder(void)
{
    const char *cache = environment("XDG_CACHE_HOME"), *home = environment("HOME");
    if (cache && cache[0] == '/') return join_texts(cache, "/shapeproof");
    return home ? join_texts(home, "/.cache/shapeproof") : NULL;
}

/* Where huggingface-cli login keeps it. */
static char *token_path(void)
{
    const char *path = environment("HF_TOKEN_PATH"), *hub = environment("HF_HOME");
    const char *cache = environment("XDG_CACHE_HOME"), *home = environment("HOME");
    if (path) return join_texts(path, "");
    if (hub) return join_texts(hub, "/token");
    if (cache) return join_texts(cache, "/huggingface/token");
    return home ? join_texts(home, "/.cache/huggingface/token") : NULL;
}

char *cli_hub_cache(void)
{
    const char *path = environment("HF_HUB_CACHE"), *hub = environment("HF_HOME");
    const char *cache = environment("XDG_CACHE_HOME"), *home = environment("HOME");
    if (path) return join_texts(path, "");
    if (hub) return join_texts(hub, "/hub");
    if (cache) return join_texts(cache, "/huggingface/hub");
    return home ? join_texts(home, "/.cache/huggingface/hub") : NULL;
}

static char *read_token(const char *path)
{
    struct stat info;
    char *token = calloc(1, MAX_TOKEN);
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    ssize_t got = -1;
    if (!token) cli_out_of_memory();
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) got = read(fd, token, MAX_TOKEN - 1);
    if (fd >= 0) close(fd);
    if (got > 0) token[strcspn(token, "\r\n")] = '\0';
    else token[0] = '\0';
    return token;
}

/* HF_TOKEN, or what is in the file. */
static char *find_token(void)
{
    const char *given = environment("HF_TOKEN");
    if (given) return join_texts(given, "");
    char *path = token_path(), *token = read_token(path);
    free(path);
    return token;
}

/* Whether a variable is set to anything but "0". */
static bool is_environment_set(const char *name)
{
    const char *value = environment(name);
    return value && strcmp(value, "0") != 0;
}

/* ---- progress ---- */

static void show_fetched(void *context, const struct shapeproof_progress *progress)
{
    (void)context;
    cli_tell_step("%zu of %zu files, %.1f MiB", progress->files_done, progress->files,
                  (double)progress->bytes / 0x1p20);
}

/* ---- names ---- */

void cli_path_stands_for(const char *path, const char *name)
{
    aliases = realloc(aliases, (alias_count + 1) * sizeof *aliases);
    if (!aliases) cli_out_of_memory();
    aliases[alias_count++] = (struct alias){join_texts(path, ""), join_texts(name, "")};
}

static void name_cache(const struct shapeproof_remote *remote)
{
    char *name = join_texts(shapeproof_remote_name(remote), "");
    name[strlen(name) - 1] = '\0'; /* the slash */
    cli_path_stands_for(shapeproof_remote_folder(remote), name);
    free(name);
}

static bool is_of_name(char c) { return isalnum((unsigned char)c) || c == '-' || c == '_'; }

/* Whether the text goes on with a longer name, as "/dev/fd/3.safetensors" does behind "/dev/fd/3"; not at the end of a
 * sentence. */
static bool name_goes_on(const char *text) { return is_of_name(*text) || (*text == '.' && is_of_name(text[1])); }

/* The alias whose path stands at the beginning of the text, as a whole name and not as the beginning of a longer one;
 * or NULL. */
static const struct alias *alias_at(const char *text)
{
    for (size_t i = 0; i < alias_count; i++) {
        const size_t length = strlen(aliases[i].path);
        if (strncmp(text, aliases[i].path, length) == 0 && !name_goes_on(text + length)) return &aliases[i];
    }
    return NULL;
}

char *cli_restore_operands(const char *text, size_t *length)
{
    static const char scheme[] = "file://"; /* in front of a path in SARIF */
    char *said = NULL;
    size_t size = 0;
    bool any = false, in_path = false; /* whether the byte before belongs to a path, as in "/tmp/dev/fd/3" */
    if (!alias_count) return NULL;
    FILE *stream = open_memstream(&said, &size);
    if (!stream) cli_out_of_memory();
    for (const char *end = text + *length; text < end;) {
        const bool is_uri = strncmp(text, scheme, strlen(scheme)) == 0 && alias_at(text + strlen(scheme));
        if (is_uri) text += strlen(scheme);
        const struct alias *alias = *text == '/' && (is_uri || !in_path) ? alias_at(text) : NULL;
        if (!alias) {
            const bool is_escape = *text == '\\' && end - text > 1; /* "\n" in JSON, whose letter is of no path */
            if (is_escape) fputc(*text++, stream);
            const bool is_color = *text == '\033';
            while (is_color && text < end && !isalpha((unsigned char)*text)) fputc(*text++, stream);
            in_path = !is_escape && !is_color && (is_of_name(*text) || *text == '.' || *text == '/');
            if (text < end) fputc(*text++, stream);
            continue;
        }
        any = in_path = true;
        fputs(alias->name, stream);
        text += strlen(alias->path);
    }
    fclose(stream);
    if (any) *length = size;
    else free(said);
    return any ? said : NULL;
}

/* ---- all together ---- */

/* Frees a secret after overwriting it by writes that no compiler leaves out. explicit_bzero is not in glibc 2.17. */
static void forget(char *secret)
{
    for (volatile char *c = secret; *c; c++) *c = 0;
    free(secret);
}

struct shapeproof_remote *cli_fetch(const struct cli_args *args, const char *url, int *status)
{
    struct shapeproof_error error = {0};
    char *cache = cache_folder(), *token = find_token();
    const bool is_offline =
        is_environment_set("HF_HUB_OFFLINE") || (cli_has_option(args, "offline") && cli_flag(args, "offline"));
    const struct shapeproof_remote_options options = {
        .cache = cache,
        .endpoint = environment("HF_ENDPOINT"),
        .token = token,
        .offline = is_offline,
        .progress = show_fetched,
    };
    cli_begin_step("fetching headers");
    struct shapeproof_remote *remote = shapeproof_remote_fetch(url, &options, &error);
    cli_end_step();
    if (remote) name_cache(remote);
    else *status = cli_error(&error);
    forget(token);
    free(cache);
    return remote;
}

void cli_free_remotes(struct cli_args *args)
{
    for (size_t i = 0; i < args->remote_count; i++) shapeproof_remote_free(args->remotes[i]);
    free(args->remotes);
    for (size_t i = 0; i < alias_count; i++) {
        free(aliases[i].path);
        free(aliases[i].name);
    }
    free(aliases);
    aliases = NULL;
    alias_count = 0;
}
