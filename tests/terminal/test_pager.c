/* SPDX-License-Identifier: MIT
 * The pager of the command: when it is used, what it gets, and what is left of it. */
#define _GNU_SOURCE
#include "terminal/terminal.h"

#define GPT2 "fixtures/models/tiny-gpt2"
#define INSPECT "\"$COMMAND\" inspect " GPT2 " " /* 38 lines, at most 80 columns wide */
#define TAGGED "SHAPEPROOF_PAGER='sed s/^/[pager]/' "

static void test_long_report_is_paged(void **state)
{
    (void)state;
    assert_int_equal(run_line(TAGGED INSPECT, 24, 80), 0);
    assert_shows("[pager]transformer.wte.weight");
    assert_int_equal(run_line(TAGGED INSPECT, 38, 80), 0); /* no line is left for the shell */
    assert_shows("[pager]");
    assert_int_equal(run_line(TAGGED INSPECT, 39, 80), 0);
    assert_hides("[pager]");
    assert_shows("\ntransformer.wte.weight");
    assert_int_equal(run_line(TAGGED INSPECT "--totals", 24, 80), 0);
    assert_hides("[pager]");
}

/* A line that is wider than the terminal takes several rows of it. */
static void test_wide_lines_take_rows(void **state)
{
    (void)state;
    assert_int_equal(run_line(TAGGED "\"$COMMAND\" eval gpt2 '1+1' '2+2' '3+3'", 5, 80), 0);
    assert_hides("[pager]");
    assert_int_equal(run_line(TAGGED "\"$COMMAND\" eval gpt2 '1+1' '2+2' '3+3'", 5, 2), 0);
    assert_shows("[pager]");
}

static void test_user_can_decline(void **state)
{
    static const char *const lines[] = {
        TAGGED INSPECT "--no-pager",
        "TERM=dumb " TAGGED INSPECT,
        "TERM= " TAGGED INSPECT,
        "SHAPEPROOF_PAGER= PAGER='sed s/^/[pager]/' " INSPECT,
        "SHAPEPROOF_PAGER=cat PAGER='sed s/^/[pager]/' " INSPECT,
        "PAGER= " INSPECT,
        "PAGER=cat " INSPECT,
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(run_line(lines[i], 24, 80), 0);
        assert_hides("[pager]");
        assert_shows("transformer.wte.weight");
    }
}

/* What programs read is never shown through a pager, wherever it goes. */
static void test_documents_are_not_paged(void **state)
{
    static const char *const lines[] = {
        TAGGED INSPECT "--json", TAGGED INSPECT "--format csv", TAGGED INSPECT "--format html",
        TAGGED INSPECT "| cat",  TAGGED INSPECT "-o /dev/tty",  "echo " GPT2 " | " TAGGED "\"$COMMAND\" check --list -",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(run_line(lines[i], 5, 80), 0);
        assert_hides("[pager]");
        assert_true(terminal.length > 80);
    }
}

static void test_choice_of_pager(void **state)
{
    (void)state;
    run_line("PAGER='sed s/^/[2]/' SHAPEPROOF_PAGER='sed s/^/[1]/' " INSPECT, 24, 80);
    assert_shows("[1]transformer");
    run_line("PAGER='sed s/^/[2]/' " INSPECT, 24, 80);
    assert_shows("[2]transformer");
    run_line("PAGER='  sed   -e  s/^/2/ ' " INSPECT, 24, 80);
    assert_shows("2transformer");
    run_line("PAGER=\"sed 's/^/[2] /' | sed 's/^/[1]/'\" " INSPECT, 24, 80); /* needs a shell */
    assert_shows("[1][2] transformer");
    run_line("PAGER='echo LESS $LESS LV $LV COLUMNS $COLUMNS; exit 3 #' " INSPECT, 24, 80);
    assert_shows("LESS FRX LV -c COLUMNS\r\n");
    run_line("LESS=M LV= PAGER='echo LESS $LESS LV $LV.; true' " INSPECT, 24, 80);
    assert_shows("LESS M LV .");
}

/* Without a pager that can be started the report is printed, and nothing else. */
static void test_missing_pager_is_no_error(void **state)
{
    (void)state;
    assert_int_equal(run_line("PAGER=/nowhere/less " INSPECT, 24, 80), 0);
    assert_shows("transformer.wte.weight");
    assert_hides("nowhere");
    assert_int_equal(run_line("PAGER=/etc/passwd " INSPECT, 24, 80), 0);
    assert_shows("transformer.wte.weight");
    assert_hides("passwd");
    assert_int_equal(run_line("PATH=/nowhere \"$COMMAND\" inspect " GPT2, 24, 80), 0); /* has no less */
    assert_shows("transformer.wte.weight");
    assert_int_equal(run_line("PAGER='/nowhere/less; exit $?' " INSPECT, 24, 80), 0);
    assert_shows("transformer.wte.weight");
}

/* The status is that of the report, however the pager ends, and however much of it was read. */
static void test_status_is_of_the_report(void **state)
{
    (void)state;
#define CHECK "\"$COMMAND\" check " GPT2 " --set vocab_size=66 --all"
    assert_int_equal(run_line(CHECK " --no-pager", 5, 80), 1);
    assert_int_equal(run_line("PAGER='head -n 1' " CHECK, 5, 80), 1);
    assert_int_equal(run_line("PAGER='true' " CHECK, 5, 80), 1);
    assert_hides("vocab_size");
    assert_int_equal(run_line("PAGER='exit 9 #' " CHECK, 5, 80), 1);
    assert_int_equal(run_line("PAGER='kill -9 $$ #' " CHECK, 5, 80), 1);
    assert_int_equal(run_line("PAGER='false' " INSPECT, 24, 80), 0);
    assert_int_equal(run_line("PAGER='head -n 1' \"$COMMAND\" tables llama; echo status $?", 24, 80), 0);
    assert_shows("status 0\r\n");
    assert_hides("roken pipe");
}

/* Messages are shown whole, after the pager, in their order. */
static void test_messages_follow_the_report(void **state)
{
    (void)state;
    assert_int_equal(run_line(TAGGED "\"$COMMAND\" inspect /nowhere/a " GPT2 " /nowhere/b", 24, 80), 4);
    const char *end = strstr(terminal.shown, "format = pt\r\n"), *a = strstr(terminal.shown, "/nowhere/a"),
               *b = strstr(terminal.shown, "/nowhere/b");
    assert_true(end && a && b && end < a && a < b);
    assert_hides("[pager]shapeproof");
    assert_shows("\033[1;31mshapeproof:\033[0m /nowhere/a"); /* coloured as on the terminal */
    assert_int_equal(
        run_line(TAGGED "\"$COMMAND\" inspect /nowhere/a " GPT2 " 2>&1 >/dev/null | sed s/^/[piped]/", 24, 80), 0);
    assert_shows("[piped]shapeproof: /nowhere/a");
    assert_int_equal(run_line("f=$(mktemp); " TAGGED "\"$COMMAND\" inspect /nowhere/a " GPT2
                              " 2>$f; sed 's/^/[kept]/' $f; rm $f",
                              24, 80),
                     0);
    assert_shows("[pager]transformer");
    assert_shows("[kept]shapeproof: /nowhere/a");
}

/* At any width the pager gets what the terminal would have got: laid out for this width, with colours. */
static void test_pager_gets_the_same_report(void **state)
{
    static char direct[MOST_SHOWN];
    size_t before = SIZE_MAX;
    (void)state;
    for (unsigned short columns = 60; columns <= 200; columns += 35) {
        run_line("CI=1 \"$COMMAND\" tables --no-pager", 24, columns);
        memcpy(direct, terminal.shown, terminal.length + 1);
        run_line("CI=1 PAGER='cat -u' \"$COMMAND\" tables", 24, columns);
        assert_string_equal(terminal.shown, direct);
        assert_shows("\033[");
        size_t lines = 0;
        for (const char *at = direct; (at = strchr(at, '\n')); at++) lines++;
        assert_true(lines < before); /* a wider terminal needs fewer lines */
        before = lines;
    }
}

/* ---- less ---- */

static bool has_less(void) { return system("command -v less >/dev/null 2>&1") == 0; }

static void test_less(void **state)
{
    (void)state;
    if (!has_less()) skip();
    begin_line("\"$COMMAND\" inspect " GPT2 " /nowhere/b; echo status $?", 24, 80);
    await_text("\n:"); /* its prompt, below the first page */
    assert_hides("transformer.wte.weight");
    assert_hides("nowhere/b");
    assert_shows("\033[2mshape\033[0m"); /* as a colour, not as ESC[2m */
    press(" ");
    await_text("transformer.wte.weight");
    press("q");
    assert_int_equal(end_line(), 0);
    assert_shows("status 4\r\n");
    assert_shows("/nowhere/b");
}

static void test_less_is_left_early(void **state)
{
    (void)state;
    if (!has_less()) skip();
    begin_line("\"$COMMAND\" tables; echo status $?", 24, 80); /* more than a pipe holds */
    await_text("\n:");
    press("q");
    assert_int_equal(end_line(), 0);
    assert_shows("status 0\r\n");
    assert_hides("roken pipe");
    assert_hides("shapeproof:");
}

/* Ctrl-C goes to both processes: it is for the pager, which goes on, and must not be left behind alone. */
static void test_interrupt_is_for_the_pager(void **state)
{
    (void)state;
    if (!has_less()) skip();
    begin_line("trap : INT; " INSPECT "; echo status $?", 24, 80);
    await_text("\n:");
    press("\003");
    for (int i = 0; i < 50 && !strstr(terminal.shown, "transformer.wte.weight"); i++) {
        press(" "); /* again and again: less drops what it reads while it sees to the interrupt */
        for (int k = 0; k < 5; k++) read_terminal(50);
    }
    await_text("transformer.wte.weight");
    press("q");
    assert_int_equal(end_line(), 0);
    assert_shows("status 0\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_report_is_paged),
        cmocka_unit_test(test_wide_lines_take_rows),
        cmocka_unit_test(test_user_can_decline),
        cmocka_unit_test(test_documents_are_not_paged),
        cmocka_unit_test(test_choice_of_pager),
        cmocka_unit_test(test_missing_pager_is_no_error),
        cmocka_unit_test(test_status_is_of_the_report),
        cmocka_unit_test(test_messages_follow_the_report),
        cmocka_unit_test(test_pager_gets_the_same_report),
        cmocka_unit_test(test_less),
        cmocka_unit_test(test_less_is_left_early),
        cmocka_unit_test(test_interrupt_is_for_the_pager),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
