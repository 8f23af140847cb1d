/* SPDX-License-Identifier: MIT
 * `shapeproof browse` on a pseudo-terminal, from its first screen to the state that it leaves the terminal in. The test
 * is the terminal: it understands what a VT100 does, as far as ncurses uses it. Skipped without the command, without a
 * pseudo-terminal, and where the description of vt100 is not installed. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pty.h>
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
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <cmocka.h>

enum { LINES = 24, COLUMNS = 80, PATIENCE = 20000 /* milliseconds until a screen has to show something */ };

/* ---- a VT100 ---- */

static struct {
    int master; /* -1: there is none */
    pid_t process;
    struct termios modes; /* before the command began */
    char cells[LINES][COLUMNS + 1];
    int line, column, top, bottom; /* of the cursor; of the lines that scroll */
    char sequence[64];             /* an escape sequence that has begun, without its ESC */
    size_t length;
    bool is_escaped;
    char *all; /* every byte, for what is no part of the screen */
    size_t all_length;
} terminal;

static void clear_cells(int line, int from, int to) { memset(&terminal.cells[line][from], ' ', (size_t)(to - from)); }

static void scroll(bool up)
{
    const int from = terminal.top, to = terminal.bottom;
    if (up) memmove(terminal.cells[from], terminal.cells[from + 1], (size_t)(to - from) * sizeof *terminal.cells);
    else memmove(terminal.cells[from + 1], terminal.cells[from], (size_t)(to - from) * sizeof *terminal.cells);
    clear_cells(up ? to : from, 0, COLUMNS);
}

static int clamp(int value, int most) { return value < 0 ? 0 : value > most ? most : value; }

/* "\033[12;34H" and the like. */
static void obey(char command)
{
    int numbers[4] = {0};
    size_t count = 0;
    for (const char *c = terminal.sequence + 1; *c && count < 4; count++) {
        char *end;
        numbers[count] = (int)strtol(c, &end, 10);
        c = *end == ';' ? end + 1 : "";
    }
    const int n = numbers[0], step = n ? n : 1;
    int *const line = &terminal.line, *const column = &terminal.column;
    switch (command) {
    case 'H':
        *line = clamp(n - 1, LINES - 1);
        *column = clamp(numbers[1] - 1, COLUMNS - 1);
        break;
    case 'A':
        *line = clamp(*line - step, LINES - 1);
        break;
    case 'B':
        *line = clamp(*line + step, LINES - 1);
        break;
    case 'C':
        *column = clamp(*column + step, COLUMNS - 1);
        break;
    case 'D':
        *column = clamp(*column - step, COLUMNS - 1);
        break;
    case 'K':
        clear_cells(*line, n ? 0 : *column, n == 1 ? *column + 1 : COLUMNS);
        break;
    case 'J':
        if (n != 2) clear_cells(*line, *column, COLUMNS);
        for (int i = n == 2 ? 0 : *line + 1; i < LINES; i++) clear_cells(i, 0, COLUMNS);
        break;
    case 'r':
        terminal.top = clamp(n - 1, LINES - 1);
        terminal.bottom = clamp(numbers[1] ? numbers[1] - 1 : LINES - 1, LINES - 1);
        break;
    default:
        break; /* colours and modes */
    }
}

static void take_escaped(char c)
{
    const bool is_long = terminal.length && (terminal.sequence[0] == '[' || strchr("()#", terminal.sequence[0]));
    if (terminal.length + 1 < sizeof terminal.sequence) terminal.sequence[terminal.length++] = c;
    terminal.sequence[terminal.length] = '\0';
    if (!is_long && (c == '[' || strchr("()#", c))) return;
    if (is_long && terminal.sequence[0] == '[' && (c < '@' || c > '~')) return;
    terminal.is_escaped = false;
    if (terminal.sequence[0] == '[') obey(c);
    else if (terminal.sequence[0] == 'M') {
        if (terminal.line == terminal.top) scroll(false);
        else terminal.line = clamp(terminal.line - 1, LINES - 1);
    }
}

static void take_byte(char c)
{
    if (terminal.is_escaped) take_escaped(c);
    else if (c == '\033') {
        terminal.is_escaped = true;
        terminal.length = 0;
    } else if (c == '\r') terminal.column = 0;
    else if (c == '\b') terminal.column = clamp(terminal.column - 1, COLUMNS - 1);
    else if (c == '\t') terminal.column = clamp((terminal.column / 8 + 1) * 8, COLUMNS - 1);
    else if (c == '\n') {
        if (terminal.line == terminal.bottom) scroll(true);
        else terminal.line = clamp(terminal.line + 1, LINES - 1);
    } else if ((unsigned char)c >= ' ') {
        if (terminal.column == COLUMNS) { /* the glitch of this terminal: it wraps with the next character */
            terminal.column = 0;
            if (terminal.line == terminal.bottom) scroll(true);
            else terminal.line++;
        }
        terminal.cells[terminal.line][terminal.column++] = c;
    }
}

/* ---- the command on it ---- */

static const char *command_path(void)
{
    const char *given = getenv("SHAPEPROOF");
    return given ? given : "build/release/shapeproof";
}

/* Reads what there is, for so long at most; false when there is nothing more. */
static bool read_some(int milliseconds)
{
    char bytes[4096];
    struct pollfd wait_for = {.fd = terminal.master, .events = POLLIN};
    if (poll(&wait_for, 1, milliseconds) <= 0) return false;
    const ssize_t got = read(terminal.master, bytes, sizeof bytes);
    if (got <= 0) return false;
    terminal.all = realloc(terminal.all, terminal.all_length + (size_t)got + 1);
    assert_non_null(terminal.all);
    memcpy(terminal.all + terminal.all_length, bytes, (size_t)got);
    terminal.all_length += (size_t)got;
    terminal.all[terminal.all_length] = '\0';
    for (ssize_t i = 0; i < got; i++) take_byte(bytes[i]);
    return true;
}

/* Reads until the line of the screen contains the text. */
static void expect(int line, const char *text)
{
    while (!strstr(terminal.cells[line], text))
        if (!read_some(PATIENCE)) fail_msg("line %d is \"%s\", without \"%s\"", line, terminal.cells[line], text);
}

static void type(const char *keys)
{
    assert_int_equal(write(terminal.master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* Whether the command has a browser; make BROWSE=no makes one that has none. */
static bool has_browser(void)
{
    char command[1024], line[256] = "";
    snprintf(command, sizeof command, "'%s' browse none 2>&1", command_path());
    FILE *output = popen(command, "r");
    const bool is_read = output && fgets(line, sizeof line, output);
    if (output) pclose(output);
    return is_read && !strstr(line, "built without a browser");
}

/* Whether something is there to be tried. */
static bool is_possible(void)
{
    int master, slave;
    if (access(command_path(), X_OK) != 0 || !has_browser() || openpty(&master, &slave, NULL, NULL, NULL) != 0)
        return false;
    close(master);
    close(slave);
    for (size_t i = 0; i < 3; i++) {
        static const char *const folders[] = {"/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo"};
        char path[64];
        snprintf(path, sizeof path, "%s/v/vt100", folders[i]);
        if (access(path, R_OK) == 0) return true;
    }
    return false;
}

/* Begins the command in a terminal of that type. */
static void begin(const char *type_of_terminal, const char *locale)
{
    struct winsize size = {.ws_row = LINES, .ws_col = COLUMNS};
    terminal.line = terminal.column = terminal.top = 0;
    terminal.bottom = LINES - 1;
    terminal.is_escaped = false;
    terminal.all_length = 0;
    for (int i = 0; i < LINES; i++) clear_cells(i, 0, COLUMNS);
    int slave;
    assert_int_equal(openpty(&terminal.master, &slave, NULL, NULL, &size), 0);
    tcgetattr(slave, &terminal.modes);
    terminal.process = fork();
    assert_true(terminal.process >= 0);
    if (terminal.process == 0) {
        close(terminal.master);
        login_tty(slave);
        setenv("TERM", type_of_terminal, 1);
        setenv("LC_ALL", locale, 1);
        unsetenv("COLUMNS");
        unsetenv("LINES");
        execl(command_path(), "shapeproof", "browse", "fixtures/models/tiny-llama", "--set", "num_hidden_layers=3",
              (char *)NULL);
        _exit(127);
    }
    close(slave);
}

/* Waits for the end, and checks that the terminal is as it was; returns the status of waitpid. */
static int end(void)
{
    int status = 0;
    struct termios modes;
    while (waitpid(terminal.process, &status, WNOHANG) == 0) read_some(50);
    const char *name = ptsname(terminal.master);
    FILE *slave = name ? fopen(name, "re") : NULL; /* what is set there outlives the process */
    while (read_some(0)) continue;
    if (slave && tcgetattr(fileno(slave), &modes) == 0) {
        assert_int_equal(modes.c_lflag & (ICANON | ECHO | ISIG), terminal.modes.c_lflag & (ICANON | ECHO | ISIG));
        assert_int_equal(modes.c_iflag, terminal.modes.c_iflag);
        assert_int_equal(modes.c_oflag, terminal.modes.c_oflag);
    }
    if (slave) fclose(slave);
    close(terminal.master);
    return status;
}

/* ---- tests ---- */

static void keys_do_what_the_help_says(void **state)
{
    (void)state;
    if (!is_possible()) skip();
    begin("vt100", "C");
    expect(0, "fixtures/models/tiny-llama: safetensors");
    expect(1, "differs: num_hidden_layers is 3 on the command line, the file has 2 (9 tensors)");
    expect(3, "E + model ");
    expect(23, "21 tensors, 2,024 parameters, 7.9 KiB  |  9 errors");
    type("\033OC"); /* right, as keys are in this mode */
    expect(3, "E - model ");
    expect(4, "E   + layers ");
    type("/q_proj\r");
    expect(23, "line 1 of 2 with 'q_proj'");
    expect(17, "model.layers.{0-1}.self_attn.q_proj.weight");
    type("f");
    expect(17, "model.layers.2.mlp.down_proj.weight");
    expect(18, "predicted");
    type("?");
    expect(1, "up, down, k, j");
    type("\033"); /* alone, it is Escape */
    expect(1, "differs:");
    type("c");
    expect(4, "causes");
    type("q");
    expect(17, "model.layers.2.mlp.down_proj.weight");
    type("\014"); /* Ctrl-L: all is drawn again */
    expect(0, "fixtures/models/tiny-llama: safetensors");
    type("q");
    assert_int_equal(end(), 0);
}

static void the_screen_follows_the_window(void **state)
{
    (void)state;
    if (!is_possible()) skip();
    begin("vt100", "C");
    expect(23, "21 tensors");
    assert_int_equal(ioctl(terminal.master, TIOCSWINSZ, &(struct winsize){.ws_row = 12, .ws_col = 60}), 0);
    expect(11, "21 tensors, 2,024 parameters");
    assert_int_equal(ioctl(terminal.master, TIOCSWINSZ, &(struct winsize){.ws_row = 4, .ws_col = 60}), 0);
    expect(0, "needs 40 x 8");
    assert_int_equal(ioctl(terminal.master, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = 80}), 0);
    expect(23, "21 tensors");
    type("q");
    assert_int_equal(end(), 0);
}

/* Of xterm, which has a second screen to come back from. */
static void a_signal_leaves_the_terminal_as_it_was(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGABRT};
    if (!is_possible()) skip();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        begin("xterm", "C.UTF-8");
        while (!terminal.all_length || !strstr(terminal.all, "9 errors")) assert_true(read_some(PATIENCE));
        assert_non_null(strstr(terminal.all, "\033[?1049h"));
        assert_null(strstr(terminal.all, "\033[?1049l"));
        assert_non_null(strstr(terminal.all, "\u25b8 model")); /* in UTF-8 */
        kill(terminal.process, signals[i]);
        const int status = end();
        assert_true(WIFSIGNALED(status) || WIFEXITED(status)); /* sanitizers turn crashes into exits */
        if (WIFSIGNALED(status)) assert_int_equal(WTERMSIG(status), signals[i]);
        assert_non_null(strstr(terminal.all, "\033[?1049l"));
    }
}

static void a_terminal_that_cannot_is_refused(void **state)
{
    (void)state;
    if (!is_possible()) skip();
    begin("no-such-terminal", "C");
    int status = end();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    assert_non_null(strstr(terminal.all, "the type of the terminal is not known")); /* the line is broken behind it */
    assert_non_null(strstr(terminal.all, "'no-such-terminal'"));
    begin("dumb", "C");
    status = end();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    assert_non_null(strstr(terminal.all, "a terminal of type 'dumb' cannot move its cursor"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_do_what_the_help_says),
        cmocka_unit_test(the_screen_follows_the_window),
        cmocka_unit_test(a_signal_leaves_the_terminal_as_it_was),
        cmocka_unit_test(a_terminal_that_cannot_is_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(terminal.all);
    return failed;
}
