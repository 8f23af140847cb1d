/* SPDX-License-Identifier: MIT
 * The web server of tests/net for `make test-faults`, in a process of its own, whose calls never fail.
 *
 *   serve FILE...
 *
 * prints the URL of its folder, http://127.0.0.1:PORT/ok, in which each FILE has its plain name, and ends with its
 * standard input. */
#define _GNU_SOURCE
#include "../net/server.h"

/* Serves the bytes of a file under its name. */
static void serve_path(struct server *server, const char *path)
{
    enum { MOST = 1 << 20 };
    static char bytes[MOST];
    const char *slash = strrchr(path, '/');
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    assert(length < sizeof bytes);
    fclose(file);
    serve_file(server, slash ? slash + 1 : path, bytes, length, length);
}

int main(int argc, char **argv)
{
    struct server *server = calloc(1, sizeof *server); /* server_stop frees it */
    char origin[64], end;
    assert(server);
    server_start(server);
    for (int i = 1; i < argc; i++) serve_path(server, argv[i]);
    server_origin(server, origin, sizeof origin);
    printf("%s/ok\n", origin);
    fflush(stdout);
    while (read(STDIN_FILENO, &end, 1) > 0) continue;
    server_stop(server);
    return 0;
}
