/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/terminal.h"
#include "cli/cli.h"

#ifdef SP_NO_BROWSE

static int complain_of_build(void)
{
    return cli_usage_error("shapeproof inspect --tree prints the same tree",
                           "browse: this command was built without a browser (make BROWSE=no)");
}

int cli_find_terminal(void) { return complain_of_build(); }
void cli_leave_screen(void) {}

int cli_run_browser(struct sp_browser *browser, bool color)
{
    (void)browser;
    (void)color;
    return complain_of_build();
}

#else

#include "browse/screen.h" /* before <term.h>, whose macros have names of fields */

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* The macros of ncurses that have names of ours. */
#undef columns
#undef lines

/* ---- whatever happens, the terminal is as it was ---- */

/* What the handlers of signals need: it is all made before they are installed. */
static struct {
    struct termios modes;
    bool has_modes;
    bool is_on; /* the full screen may be in use */
    int input;
    char escapes[256]; /* that leave the full screen, and show the cursor */
    size_t length;
} before;

static volatile sig_atomic_t signal_caught;

static int keep_escape(int byte)
{
    if (before.length < sizeof before.escapes) before.escapes[before.length++] = (char)byte;
    return byte;
}

static void note_escape(const char *capability)
{
    const char *escape = tigetstr(capability);
    if (escape && escape != (const char *)-1) tputs(escape, 1, keep_escape);
}

/* Ends the loop, which restores the terminal. */
static void catch_signal(int number) { signal_caught = number; }

/* Of a crash, after which nothing of ncurses may be called. Only functions that a handler may call. */
void cli_leave_screen(void)
{
    if (!before.is_on) return;
    if (write(STDOUT_FILENO, before.escapes, before.length) >= 0 && before.has_modes)
        tcsetattr(before.input, TCSANOW, &before.modes);
    before.is_on = false;
}

static void restore_and_crash(int number)
{
    cli_leave_screen();
    raise(number); /* SA_RESETHAND: as if it had not been handled */
}

static const int endings[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM}, crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

/* Before ncurses installs its own, which it does only where there are none. */
static void install_handlers(int input)
{
    before.input = input;
    before.is_on = true;
    before.has_modes = tcgetattr(input, &before.modes) == 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        sigaction(endings[i], &(struct sigaction){.sa_handler = catch_signal}, NULL); /* no SA_RESTART: reading ends */
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &(struct sigaction){.sa_handler = restore_and_crash, .sa_flags = (int)SA_RESETHAND},
                  NULL);
}

static void remove_handlers(void)
{
    before.is_on = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) signal(endings[i], SIG_DFL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
}

/* ---- the terminal ---- */

int cli_find_terminal(void)
{
    const char *name = getenv("TERM"), *hint = "TERM=xterm shapeproof browse ... may help";
    int error = 0;
    if (!isatty(STDOUT_FILENO))
        return cli_usage_error("shapeproof inspect --tree prints the same tree",
                               "browse: standard output is not a terminal");
    if (setupterm(NULL, STDOUT_FILENO, &error) != OK)
        return cli_usage_error(hint, "browse: the type of the terminal is not known: TERM is '%s'", name ? name : "");
    const char *move = tigetstr("cup");
    const bool can_move = move && move != (const char *)-1;
    if (can_move) {
        note_escape("rmcup");
        note_escape("cnorm");
        note_escape("sgr0");
    }
    del_curterm(cur_term);
    if (!can_move) return cli_usage_error(hint, "browse: a terminal of type '%s' cannot move its cursor", name);
    return CLI_OK;
}

/* Keys come from the terminal also if the checkpoint comes from standard input; NULL without one. */
static FILE *open_input(void) { return isatty(STDIN_FILENO) ? stdin : fopen("/dev/tty", "re"); }

/* As the locale says; where it is not installed, as most are that are not. */
static bool set_locale(void)
{
    if (!setlocale(LC_CTYPE, "")) setlocale(LC_CTYPE, "C.UTF-8");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void set_up_screen(bool color)
{
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25); /* milliseconds that the rest of a key's sequence may take */
    if (!color || start_color() != OK) return;
    use_default_colors();
    init_pair(SP_COLOR_RED, COLOR_RED, -1);
    init_pair(SP_COLOR_GREEN, COLOR_GREEN, -1);
    init_pair(SP_COLOR_YELLOW, COLOR_YELLOW, -1);
}

/* Without colours what would be red or yellow is bold. */
static attr_t attributes_of(unsigned style)
{
    const unsigned color = style & ~(unsigned)SP_STYLE_REVERSE;
    const attr_t reverse = style & SP_STYLE_REVERSE ? A_REVERSE : A_NORMAL;
    if (color == SP_COLOR_NONE) return reverse;
    if (color == SP_COLOR_BOLD) return A_BOLD | reverse;
    if (color == SP_COLOR_DIM) return reverse ? reverse : A_DIM;
    if (has_colors() && COLOR_PAIRS > SP_COLOR_YELLOW) return (attr_t)COLOR_PAIR(color) | reverse;
    return (color == SP_COLOR_GREEN ? A_NORMAL : A_BOLD) | reverse;
}

/* Writes as much of a text as fits into the cells: of some characters each takes two, others take none. */
static void put_text(const char *text, size_t cells)
{
    mbstate_t state = {0};
    size_t used = 0;
    while (*text) {
        wchar_t character = L'?';
        size_t length = mbrtowc(&character, text, strlen(text), &state);
        if (length == (size_t)-1 || length == (size_t)-2) {
            memset(&state, 0, sizeof state);
            length = 1;
            character = L'?';
        }
        int width = wcwidth(character);
        if (width < 0) {
            character = L'?';
            width = 1;
        }
        if ((used += (size_t)width) > cells) return;
        addnwstr(&character, 1);
        text += length;
    }
}

static void show(const struct sp_browse_frame *frame)
{
    erase();
    for (size_t i = 0; i < frame->spans.count; i++) {
        const struct sp_browse_span *span = &frame->spans.items[i];
        attrset((int)attributes_of(span->style));
        move((int)span->line, (int)span->column);
        put_text(frame->text.data + span->begin, span->columns);
    }
    attrset(A_NORMAL);
    curs_set(frame->has_cursor);
    if (frame->has_cursor) move((int)frame->lines - 1, (int)frame->cursor_column);
    refresh();
}

/* The key of the browser; 0 for one that it does not know. */
static uint32_t key_of(wint_t code, bool is_special)
{
    static const struct {
        wint_t code;
        uint32_t key;
    } special[] = {{KEY_UP, SP_KEY_UP},
                   {KEY_DOWN, SP_KEY_DOWN},
                   {KEY_LEFT, SP_KEY_LEFT},
                   {KEY_RIGHT, SP_KEY_RIGHT},
                   {KEY_PPAGE, SP_KEY_PAGE_UP},
                   {KEY_NPAGE, SP_KEY_PAGE_DOWN},
                   {KEY_HOME, SP_KEY_HOME},
                   {KEY_END, SP_KEY_END},
                   {KEY_ENTER, SP_KEY_ENTER},
                   {KEY_DC, 0},
                   {KEY_BACKSPACE, SP_KEY_BACKSPACE}};
    if (!is_special) return code == '\r' ? SP_KEY_ENTER : code == '\b' ? SP_KEY_BACKSPACE : (uint32_t)code;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (special[i].code == code) return special[i].key;
    return 0;
}

/* Waits until there is a key, or a signal, which come in only here: one that came between a look at `signal_caught` and
 * the wait would be seen only after the next key. False when the terminal is gone. */
static bool wait_for_input(int input, const sigset_t *let_in)
{
    struct pollfd wait_for = {.fd = input, .events = POLLIN};
    int bytes = 0;
    if (ppoll(&wait_for, 1, NULL, let_in) <= 0) return errno == EINTR;
    return wait_for.revents & POLLIN && ioctl(input, FIONREAD, &bytes) == 0 && bytes > 0; /* 0 is the end of a file */
}

/* Draws, and takes keys, until the user has enough, a signal ends it, or the terminal is gone. */
static void run_loop(struct sp_browser *browser, int input, bool unicode)
{
    enum { REDRAW = 'L' - '@' }; /* Ctrl-L */
    struct sp_browse_frame frame = {.unicode = unicode};
    sigset_t held_back, let_in;
    bool is_drawn = false;
    sigemptyset(&held_back);
    sigaddset(&held_back, SIGWINCH); /* the handler of ncurses notes it, and get_wch says KEY_RESIZE */
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) sigaddset(&held_back, endings[i]);
    sigprocmask(SIG_BLOCK, &held_back, &let_in);
    while (!browser->is_done && !signal_caught) {
        wint_t code = 0;
        if (!is_drawn) {
            frame.columns = (size_t)COLS;
            frame.lines = (size_t)LINES;
            sp_browser_draw(browser, &frame);
            show(&frame);
        }
        const int got = get_wch(&code); /* which does not wait, but for the rest of a key's sequence */
        is_drawn = got == ERR;
        if (got == ERR && !wait_for_input(input, &let_in)) break;
        if (got == ERR || (got == KEY_CODE_YES && code == KEY_RESIZE)) continue;
        if (got == OK && code == REDRAW) clearok(curscr, TRUE);
        else sp_browser_press(browser, key_of(code, got == KEY_CODE_YES));
    }
    sigprocmask(SIG_SETMASK, &let_in, NULL);
    sp_browse_frame_free(&frame);
}

int cli_run_browser(struct sp_browser *browser, bool color)
{
    FILE *input = open_input();
    if (!input) return cli_usage_error(NULL, "browse: there is no terminal that keys could come from");
    const bool unicode = set_locale();
    fflush(stdout);
    install_handlers(fileno(input));
    SCREEN *screen = newterm(NULL, stdout, input);
    if (screen) {
        set_up_screen(color);
        run_loop(browser, fileno(input), unicode);
        curs_set(1);
        endwin();
        delscreen(screen);
    }
    remove_handlers();
    if (input != stdin) fclose(input);
    if (signal_caught) raise(signal_caught);
    return screen ? CLI_OK : cli_complain(CLI_FILE, NULL, "browse: the terminal cannot be set up");
}

#endif
