/* SPDX-License-Identifier: MIT
 * Progress: one line on a terminal, which says what the command is doing and how far it is, once the command has run
 * for a second. The line is rewritten in place, and is gone before anything else is written to the terminal.
 *
 * A timer writes the line for the first time, because a step may report nothing for a long time, for example while a
 * compressed file is inflated. After that, the reports of the steps rewrite the line. */
#define _GNU_SOURCE /* TIOCGWINSZ, vasprintf */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
    FIRST_SECONDS = 1,   /* until the line appears: what is done by then needs no line */
    PAUSE_MS = 100,      /* between two lines: more are not read */
    USUAL_COLUMNS = 80,  /* of a terminal that does not know its width */
    MOST_BYTES = 1 << 10 /* of a line */
};

static const char back[] = "\r\033[K"; /* to the beginning of the line, which is erased */

static struct {
    bool on;
    volatile sig_atomic_t is_due;   /* the command has run for FIRST_SECONDS */
    volatile sig_atomic_t is_shown; /* a line is on the terminal */
    int64_t shown;                  /* when it was written, in ms */
    char step[MOST_BYTES];          /* what is under way, behind `back`; "" for nothing. SIGALRM is blocked while it is
                                       written */
} progress;

/* ---- the line ---- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool cli_is_foreground(int terminal)
{
    const pid_t group = tcgetpgrp(terminal);
    return group < 0 || group == getpgrp();
}

/* Copies the text behind `back`, and cuts it where the terminal ends: a longer line could not be erased. */
static void fit_line(char line[MOST_BYTES], const char *text)
{
    struct winsize size = {0};
    size_t length = sizeof back - 1, column = 0;
    const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const size_t columns = is_known ? size.ws_col : USUAL_COLUMNS;
    memcpy(line, back, length);
    for (; *text && length + 1 < MOST_BYTES; text++) {
        if (((unsigned char)*text & 0xC0) != 0x80 && ++column >= columns) break; /* a character begins */
        line[length++] = *text;
    }
    line[length] = '\0';
}

/* Also called by the handler of a signal. */
static void write_line(const char *line, size_t length)
{
    if (write(STDERR_FILENO, line, length) < 0) return; /* nobody is there to read it */
    progress.is_shown = length >= sizeof back;
}

/* After a second: shows the step that is under way, if there is one. */
static void show_step(int number)
{
    (void)number;
    progress.is_due = 1;
    if (progress.step[0] && cli_is_foreground(STDERR_FILENO)) write_line(progress.step, strlen(progress.step));
}

/* Sets what is under way; NULL for nothing. */
static void set_step(const char *text)
{
    sigset_t alarm_signal, before;
    sigemptyset(&alarm_signal);
    sigaddset(&alarm_signal, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm_signal, &before);
    if (text) fit_line(progress.step, text);
    else progress.step[0] = '\0';
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Whether it is time for another line. */
static bool is_time(void)
{
    return progress.is_due && now_ms() - progress.shown >= PAUSE_MS && cli_is_foreground(STDERR_FILENO);
}

static void erase_line(void)
{
    if (progress.is_shown) write_line(back, sizeof back - 1);
}

/* ---- what the commands tell ---- */

void cli_allow_progress(const struct cli_args *args)
{
    const struct sigaction on_alarm = {.sa_handler = show_step, .sa_flags = SA_RESTART};
    const char *term = getenv("TERM"), *ci = getenv("CI");
    const bool is_wanted = cli_has_option(args, "no-progress") && !cli_flag(args, "no-progress") &&
                           !(cli_has_option(args, "trace") && cli_flag(args, "trace"));
    const bool can_rewrite = term && *term && strcmp(term, "dumb") != 0;
    if (!is_wanted || !can_rewrite || (ci && *ci) || !isatty(STDERR_FILENO)) return;
    progress.on = sigaction(SIGALRM, &on_alarm, NULL) == 0;
    alarm(FIRST_SECONDS);
}

void cli_stop_progress(void) { progress.on = false; }

void cli_begin_step(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    if (!progress.on) return;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) cli_out_of_memory();
    va_end(args);
    size_t length = strlen(text);
    char *said = cli_restore_operands(text, &length);
    char *visible = shapeproof_report_visible(said ? said : text);
    set_step(visible);
    if (is_time()) {
        write_line(progress.step, strlen(progress.step));
        progress.shown = now_ms();
    }
    shapeproof_free(visible);
    free(said);
    free(text);
}

void cli_tell_step(const char *format, ...)
{
    char detail[256], text[MOST_BYTES + sizeof detail], line[MOST_BYTES];
    va_list args;
    if (!progress.on || !progress.step[0] || !is_time()) return;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s: %s", progress.step + sizeof back - 1, detail);
    fit_line(line, text);
    write_line(line, strlen(line));
    progress.shown = now_ms();
}

void cli_end_step(void)
{
    if (!progress.on) return;
    set_step(NULL);
    erase_line();
}

/* ---- what the library tells ---- */

/* Thousands and more with commas: "1,234". */
static const char *grouped(char text[32], uint64_t number)
{
    char digits[24];
    const int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0) text[length++] = ',';
        text[length++] = digits[i];
    }
    text[length] = '\0';
    return text;
}

/* "12.5 of 30.4 GiB". */
static void tell_bytes(uint64_t done, uint64_t total)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
    size_t unit = 0;
    while (unit < 2 && (double)(total ? total : done) >= units[unit + 1].bytes) unit++;
    if (total)
        cli_tell_step("%.1f of %.1f %s", (double)done / units[unit].bytes, (double)total / units[unit].bytes,
                      units[unit].name);
    else cli_tell_step("%.1f %s", (double)done / units[unit].bytes, units[unit].name);
}

void cli_tell_amount(const char *unit, uint64_t done, uint64_t total)
{
    char of_done[32], of_total[32];
    if (!progress.on || !is_time()) return;
    if (done == 1 && !total) return; /* the unit is a plural, and the first of many tells nothing */
    if (strcmp(unit, "bytes") == 0) tell_bytes(done, total);
    else if (total) cli_tell_step("%s of %s %s", grouped(of_done, done), grouped(of_total, total), unit);
    else cli_tell_step("%s %s", grouped(of_done, done), unit);
}
