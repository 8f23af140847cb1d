/* SPDX-License-Identifier: MIT
 * The command at a pseudo-terminal: a shell runs a line there, keys are pressed, and what the terminal is sent is kept.
 * A test that takes longer than WAIT_SECONDS for one thing fails. */
#ifndef TESTS_TERMINAL_H
#define TESTS_TERMINAL_H

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { WAIT_SECONDS = 120, MOST_SHOWN = 1 << 20 };

static struct {
    pid_t shell;
    int master;
    char shown[MOST_SHOWN]; /* what the terminal was sent, NUL-terminated */
    size_t length;
    bool wants_progress; /* otherwise no command shows its progress, however slow the machine is */
} terminal;

/* In the child: makes the terminal its own, with a new environment, and becomes the shell. */
static inline void be_shell(int slave, const char *line)
{
    const char *command = getenv("SHAPEPROOF");
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    for (int fd = 0; fd <= 2; fd++) dup2(slave, fd);
    setenv("COMMAND", command ? command : "build/release/shapeproof", 1);
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    static const char *const others[] = {"PAGER", "SHAPEPROOF_PAGER", "LESS", "LESSOPEN", "LV", "COLUMNS",
                                         "LINES", "NO_COLOR",         "CI"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) unsetenv(others[i]);
    if (!terminal.wants_progress) setenv("CI", "true", 1);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

/* Begins a line of the shell, in which "$COMMAND" is the command, at a terminal of that size. Skips the test where the
 * system gives no pseudo-terminal, as in a root without /dev/pts. */
static inline void begin_line(const char *line, unsigned short rows, unsigned short columns)
{
    const struct winsize size = {.ws_row = rows, .ws_col = columns};
    terminal.length = 0;
    terminal.master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal.master < 0 || grantpt(terminal.master) != 0 || unlockpt(terminal.master) != 0) skip();
    const int slave = open(ptsname(terminal.master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0) skip();
    assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
    terminal.shell = fork();
    assert_true(terminal.shell >= 0);
    if (terminal.shell == 0) be_shell(slave, line);
    close(slave);
}

/* Whether a wait of WAIT_SECONDS that began then is over. Reads are not counted: a long report takes one a line. */
static inline bool is_late(time_t began) { return time(NULL) - began > WAIT_SECONDS; }

/* Reads what the terminal is sent within that time; false at its end, when no process has the terminal any longer. */
static inline bool read_terminal(int milliseconds)
{
    struct pollfd polled = {.fd = terminal.master, .events = POLLIN};
    if (poll(&polled, 1, milliseconds) <= 0) return true;
    /* gcc 14 would otherwise suppose that the length may be more */
    const size_t room = terminal.length < sizeof terminal.shown ? sizeof terminal.shown - 1 - terminal.length : 0;
    const ssize_t got = read(terminal.master, terminal.shown + terminal.length, room);
    terminal.length += got > 0 ? (size_t)got : 0;
    terminal.shown[terminal.length] = '\0';
    return got > 0;
}

/* Waits until the terminal was sent the text. */
static inline void await_text(const char *text)
{
    for (const time_t began = time(NULL); !is_late(began);) {
        terminal.shown[terminal.length] = '\0';
        if (strstr(terminal.shown, text)) return;
        if (!read_terminal(100)) break;
    }
    fail_msg("no '%s' in: %s", text, terminal.shown);
}

static inline void press(const char *keys)
{
    assert_int_equal(write(terminal.master, keys, strlen(keys)), strlen(keys));
}

/* Waits for the end of the line; its exit status. */
static inline int end_line(void)
{
    int status = 0;
    bool is_open = true;
    for (const time_t began = time(NULL); is_open && !is_late(began);) is_open = read_terminal(100);
    if (is_open) kill(-terminal.shell, SIGKILL);
    close(terminal.master);
    assert_int_equal(waitpid(terminal.shell, &status, 0), terminal.shell);
    if (is_open) fail_msg("does not end: %s", terminal.shown);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Runs a line at a terminal where nobody presses a key; its exit status. */
static inline int run_line(const char *line, unsigned short rows, unsigned short columns)
{
    begin_line(line, rows, columns);
    return end_line();
}

static inline void assert_shows(const char *text)
{
    if (!strstr(terminal.shown, text)) fail_msg("no '%s' in: %s", text, terminal.shown);
}

static inline void assert_hides(const char *text)
{
    if (strstr(terminal.shown, text)) fail_msg("'%s' in: %s", text, terminal.shown);
}

#endif
