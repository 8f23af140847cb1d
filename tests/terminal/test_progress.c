/* SPDX-License-Identifier: MIT
 * The line that shows how far a command is: when it appears, what it says, and that nothing is left of it. */
#define _GNU_SOURCE
#include "terminal/terminal.h"

#include <time.h>

#define FILE_OF_GPT2 "fixtures/models/tiny-gpt2/model.safetensors"
/* Takes two seconds, most of which the command waits for its input. */
#define SLOWLY "(sleep 2; cat " FILE_OF_GPT2 ") | "
#define LINE "\r\033[K"
/* Takes longer than a second on any machine of today: each of the 41 values is a prediction of so many layers. */
#define LONG "\"$COMMAND\" eval gpt2 total --for n_layer=8000..8040 --no-pager"

/* How often the text was shown. */
static size_t count_of(const char *text)
{
    size_t count = 0;
    for (const char *at = terminal.shown; (at = strstr(at, text)); at += strlen(text)) count++;
    return count;
}

static void test_line_appears_and_vanishes(void **state)
{
    (void)state;
    begin_line(SLOWLY "\"$COMMAND\" inspect --totals -", 24, 80);
    await_text(LINE "reading standard input");
    assert_hides("tensors");
    assert_int_equal(end_line(), 0);
    const char *last = strstr(terminal.shown, "safetensors"), *erased = NULL;
    assert_non_null(last);
    for (const char *at = terminal.shown; (at = strstr(at, LINE)) && at < last; at++) erased = at;
    assert_true(erased && strncmp(erased, LINE "\033[1m-\033[0m: ", strlen(LINE "\033[1m-\033[0m: ")) == 0);
}

static void test_quick_command_has_no_line(void **state)
{
    (void)state;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_int_equal(run_line("\"$COMMAND\" inspect --totals " FILE_OF_GPT2, 24, 80), 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (end.tv_sec - begin.tv_sec < 1) assert_hides(LINE); /* even on a machine with other things to do */
}

/* It is rewritten at most ten times a second, with numbers that grow. */
static void test_amounts(void **state)
{
    (void)state;
    assert_int_equal(run_line(LONG, 24, 80), 0);
    assert_shows(LINE "evaluating: ");
    assert_shows(" of 41 values" LINE);
    assert_true(count_of("evaluating: ") <= 41);
}

/* No line is wider than the terminal: it could not be erased. The name has 300 characters of two bytes each. The check,
 * of eight checkpoints against predictions of 11,000 layers, takes seconds, or minutes under AddressSanitizer: it is
 * interrupted as soon as it has shown a line. */
static void test_line_fits(void **state)
{
    static const unsigned short widths[] = {60, 200};
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        size_t columns = 0, column = 0;
        begin_line("stty -echo; trap : INT; d=$(mktemp -d); n=$(printf '%0100d' 0 | sed 's/0/\303\251/g'); mkdir -p "
                   "$d/$n/$n/$n; "
                   "for i in 1 2 3 4 5 6 7 8; do cp -r $PWD/fixtures/models/tiny-gpt2 $d/$n/$n/$n/checkpoint-$i; done; "
                   "cd $d; \"$COMMAND\" check $n/$n/$n --table gpt2 --set n_layer=11000 -o /dev/null; cd /; rm -r $d",
                   24, widths[i]);
        await_text(LINE "checking \303\251");
        press("\003");
        assert_int_equal(end_line(), 0);
        for (const char *at = terminal.shown; *at; at++) {
            if (*at == '\r' || *at == '\n') column = 0;
            else if (*at == '\033') at += strcspn(at, "mK");
            else if (((unsigned char)*at & 0xC0) != 0x80) column++;
            columns = column > columns ? column : columns;
        }
        assert_int_equal(columns, widths[i] - 1);
    }
}

static void test_narrow_terminal_cuts_the_line(void **state)
{
    (void)state;
    run_line(SLOWLY "\"$COMMAND\" inspect --totals -", 24, 15);
    assert_shows(LINE "reading standa" LINE);
}

static void test_nobody_wants_it(void **state)
{
    static const char *const lines[] = {
        SLOWLY "\"$COMMAND\" inspect --totals --no-progress -",
        SLOWLY "TERM=dumb \"$COMMAND\" inspect --totals -",
        SLOWLY "TERM= \"$COMMAND\" inspect --totals -",
        SLOWLY "CI=true \"$COMMAND\" inspect --totals -",
        SLOWLY "\"$COMMAND\" infer --trace -",
        "f=$(mktemp); " SLOWLY "\"$COMMAND\" inspect --totals - 2>$f; cat $f; rm $f",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(run_line(lines[i], 24, 80), 0);
        assert_hides(LINE);
        assert_hides("reading standard input");
    }
}

/* An error stands in a line of its own, and what is written to a pipe has nothing of the line. */
static void test_other_output_is_clean(void **state)
{
    (void)state;
    assert_int_equal(run_line("(sleep 2; echo junk) | \"$COMMAND\" inspect -", 24, 80), 4);
    assert_shows("reading standard input");
    assert_shows(LINE "\033[1;31mshapeproof:\033[0m ");
    assert_int_equal(run_line(SLOWLY "\"$COMMAND\" inspect --json - | sed s/^/[piped]/", 24, 80), 0);
    assert_shows(LINE "[piped]{\r\n");
    assert_int_equal(run_line(SLOWLY "PAGER='sed s/^/[pager]/' \"$COMMAND\" inspect -", 24, 80), 0);
    assert_shows(LINE "[pager]\033[1m-\033[0m: ");
}

static void test_list(void **state)
{
    (void)state;
    /* each check compares the file with a prediction of so many layers */
    assert_int_equal(
        run_line("for i in / // /// //// ///// ////// /////// ////////; do echo fixtures/models${i}tiny-gpt2; "
                 "done | \"$COMMAND\" check --list - --jobs 1 --table gpt2 --set n_layer=8000 >/dev/null",
                 24, 80),
        1);
    assert_shows(" of 8, ");
    assert_shows(LINE "8 checkpoints: 8 differs\r\n");
    assert_hides("checking");
}

int main(void)
{
    terminal.wants_progress = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_appears_and_vanishes),
        cmocka_unit_test(test_quick_command_has_no_line),
        cmocka_unit_test(test_amounts),
        cmocka_unit_test(test_line_fits),
        cmocka_unit_test(test_narrow_terminal_cuts_the_line),
        cmocka_unit_test(test_nobody_wants_it),
        cmocka_unit_test(test_other_output_is_clean),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
