/* SPDX-License-Identifier: MIT
 * The pager. A command that writes a text report to a terminal writes it into a file in memory: this file is stdout
 * until the command ends. Messages for the terminal wait, too. At the end the report is shown, through a pager if it is
 * longer than the screen, and the messages follow it. So the pager and a message never write to the terminal at the
 * same time, and a message is still on the screen when the pager is gone.
 *
 * The pager reads the file in memory as its standard input. There is no pipe that could break when the user leaves the
 * pager early, and nothing of a report gets into a command line. */
#define _GNU_SOURCE /* TIOCGWINSZ, F_DUPFD_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process/child.h"
#include "base/system/system.h"
#include "cli/cli.h"

enum { MOST_WORDS = 64 }; /* of a pager's command that is started without a shell */

/* Written when the command begins, and when it ends. */
static struct {
    bool on;
    int report;     /* the file in memory, which stdout is */
    int terminal;   /* where stdout went before */
    FILE *messages; /* NULL: stderr is no terminal, and messages do not wait */
    char *text;     /* what was written to `messages` */
    size_t length;
} held;

int cli_stdout(void) { return held.on ? held.terminal : STDOUT_FILENO; }

FILE *cli_messages(void)
{
    cli_end_step();
    if (held.on && held.messages) return held.messages;
    fflush(stdout);
    return stderr;
}

/* ---- the command of the pager ---- */

/* The command, or NULL if the user wants no pager. The first of SHAPEPROOF_PAGER and PAGER that is set counts. */
static const char *pager_command(void)
{
    const char *term = getenv("TERM"), *command = getenv("SHAPEPROOF_PAGER");
    if (!term || !*term || strcmp(term, "dumb") == 0) return NULL; /* it cannot move the cursor */
    if (!command) command = getenv("PAGER");
    if (!command) command = "less";
    command += strspn(command, " \t");
    return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* Whether the command is more than words between blanks, so that a shell has to read it. */
static bool needs_shell(const char *command)
{
    return command[strcspn(command, "|&;<>()$`\\\"'*?[]{}#~=%!\n")] != '\0';
}

/* Cuts the command into its words, which end with NULL. */
static void split_command(char *command, char *words[MOST_WORDS + 1])
{
    static const char blanks[] = " \t";
    size_t count = 0;
    for (char *word = command + strspn(command, blanks); *word && count < MOST_WORDS;) {
        words[count++] = word;
        word += strcspn(word, blanks);
        if (!*word) break;
        *word++ = '\0';
        word += strspn(word, blanks);
    }
    words[count] = NULL;
}

/* ---- the process of the pager ---- */

/* The signals that the terminal sends to all of its processes. */
static const int from_terminal[] = {SIGINT, SIGQUIT};
enum { SIGNALS = sizeof from_terminal / sizeof *from_terminal };

struct pager {
    const char *command;
    struct sigaction before[SIGNALS]; /* what this process did with the signals */
};

/* In the child: becomes the pager. If that fails, writes errno into `to`, which exec closes otherwise. */
static void become_pager(const void *context, int to)
{
    const struct pager *pager = context;
    char *words[MOST_WORDS + 1], *copy = strdup(pager->command);
    for (size_t i = 0; i < SIGNALS; i++) sigaction(from_terminal[i], &pager->before[i], NULL);
    if (copy && dup2(held.report, STDIN_FILENO) >= 0 && dup2(held.terminal, STDOUT_FILENO) >= 0) {
        setenv("LESS", "FRX", 0); /* end if one screen is enough, show colours, leave the text on the screen */
        setenv("LV", "-c", 0);    /* show colours */
        split_command(copy, words);
        if (needs_shell(pager->command)) execl("/bin/sh", "sh", "-c", pager->command, (char *)NULL);
        else execvp(words[0], words);
    }
    const int why = errno;
    if (write(to, &why, sizeof why) < 0) return; /* nobody is left to tell */
}

/* What a shell ends with if it cannot start a command: found, but not executable; not found. */
static bool is_not_started(int status)
{
    return WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127);
}

/* Shows the report through the pager, and waits until the user leaves it. False if the pager cannot be started. */
static bool run_pager(const char *command)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct pager pager = {.command = command};
    struct shapeproof_error error = {0};
    struct sp_child child;
    int why = 0;
    for (size_t i = 0; i < SIGNALS; i++) sigaction(from_terminal[i], &ignore, &pager.before[i]);
    lseek(held.report, 0, SEEK_SET);
    bool is_started = sp_child_start(&child, become_pager, &pager, &error);
    if (is_started) {
        is_started = read(child.from, &why, sizeof why) == 0;
        sp_child_reap(&child, 0);
        close(child.from);
        if (needs_shell(command) && !child.lost && is_not_started(child.status)) is_started = false;
    }
    for (size_t i = 0; i < SIGNALS; i++) sigaction(from_terminal[i], &pager.before[i], NULL);
    return is_started;
}

/* ---- the report ---- */

/* Reads the next bytes of the report; 0 at its end. */
static size_t read_report(char *bytes, size_t size, off_t at)
{
    ssize_t got;
    do got = pread(held.report, bytes, size, at);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

/* How far a report was laid out on a screen. */
struct layout {
    size_t rows, column;
    bool is_escape; /* in the sequence that sets a colour: ESC [ ... m */
};

/* Every character but those of an escape sequence takes one column: a wide one takes two, but then the report is only a
 * little longer than the screen. */
static void lay_out(struct layout *layout, char c, size_t columns)
{
    if (layout->is_escape) {
        layout->is_escape = c != 'm';
    } else if (c == '\033') {
        layout->is_escape = true;
    } else if (c == '\n') {
        layout->rows++;
        layout->column = 0;
    } else if (((unsigned char)c & 0xC0) != 0x80) { /* not a further byte of a UTF-8 character */
        if (columns && layout->column == columns) {
            layout->rows++;
            layout->column = 0;
        }
        layout->column++;
    }
}

/* Whether the report does not fit on the screen above the line where the shell asks for the next command. */
static bool is_longer_than_screen(void)
{
    char bytes[BUFSIZ];
    struct winsize size = {0};
    struct layout layout = {0};
    off_t at = 0;
    if (ioctl(held.terminal, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return false;
    for (size_t got; (got = read_report(bytes, sizeof bytes, at)) > 0; at += (off_t)got) {
        for (size_t i = 0; i < got; i++) lay_out(&layout, bytes[i], size.ws_col);
        if (layout.rows + (layout.column > 0) >= size.ws_row) return true;
    }
    return false;
}

static void print_report(void)
{
    char bytes[BUFSIZ];
    off_t at = 0;
    for (size_t got; (got = read_report(bytes, sizeof bytes, at)) > 0; at += (off_t)got) fwrite(bytes, 1, got, stdout);
    fflush(stdout); /* the stream notes a failure */
}

void cli_hold_output(const struct cli_args *args)
{
    const bool is_report = cli_has_option(args, "no-pager") && !cli_flag(args, "no-pager") &&
                           cli_format(args) == SHAPEPROOF_REPORT_TEXT &&
                           !(cli_has_option(args, "output") && cli_value(args, "output", NULL)) &&
                           !(cli_has_option(args, "list") && cli_value(args, "list", NULL));
    if (!is_report || !isatty(STDOUT_FILENO) || !pager_command()) return;
    held.report = sp_system_unnamed_file("report");
    held.terminal = held.report < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    held.on = held.terminal >= 0 && fflush(stdout) == 0 && dup2(held.report, STDOUT_FILENO) >= 0;
    if (held.on && isatty(STDERR_FILENO)) held.messages = open_memstream(&held.text, &held.length);
    if (held.on) return;
    if (held.report >= 0) close(held.report); /* without a pager then */
    if (held.terminal >= 0) close(held.terminal);
}

void cli_show_output(void)
{
    cli_end_step();
    if (!held.on) return;
    fflush(stdout);
    dup2(held.terminal, STDOUT_FILENO);
    if (!cli_is_foreground(held.terminal) || /* where the terminal would stop a pager */
        !is_longer_than_screen() || !run_pager(pager_command()))
        print_report();
    held.on = false;
    close(held.report);
    close(held.terminal);
    if (!held.messages) return;
    fclose(held.messages);
    fwrite(held.text, 1, held.length, stderr);
    free(held.text);
    held.messages = NULL;
}
