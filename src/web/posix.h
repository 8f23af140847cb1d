/* SPDX-License-Identifier: MIT
 * What POSIX and Linux declare and the C library for WASI does not. The build of WebAssembly includes it before each
 * source. wasi.c defines the functions: those that need a second process fail with ENOSYS. */
#ifndef SP_WEB_POSIX_H
#define SP_WEB_POSIX_H

typedef struct {
    int si_signo;
} siginfo_t;

struct winsize {
    unsigned short ws_col;
};
enum { TIOCGWINSZ = 0 };

int dup(int fd); /* of a folder alone */
int dup2(int from, int to);
int mkostemp(char *pattern, int flags); /* below /tmp, which is memory of the page */

#endif
