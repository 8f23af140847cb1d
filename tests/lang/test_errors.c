/* SPDX-License-Identifier: MIT
 * Mistakes in table files: those of tests/lang/errors/ say themselves what is expected of them (see the README there);
 * here stand the exact texts of a dozen, with their carets. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

#include <glob.h>

/* ---- the files ---- */

static char *read_file(const char *path)
{
    struct sp_text text = {0};
    char buffer[4096];
    size_t got;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) sp_text_append(&text, buffer, got);
    fclose(file);
    return text.data;
}

/* The first lines of messages without the name of the file. */
static char *messages_of(const char *text)
{
    struct sp_text lines = {0};
    sp_text_puts(&lines, "");
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, "t.shapes:", 9) != 0) continue;
        sp_text_append(&lines, line + 9, strcspn(line + 9, "\n"));
        sp_text_puts(&lines, "\n");
    }
    return lines.data;
}

/* "#     ^ message" or "#< message": the column that it points at and the message, or NULL. */
static const char *expectation(const char *line, size_t *column)
{
    const size_t blanks = *line == '#' ? strspn(line + 1, " ") : 0;
    *column = blanks + 2;
    if (strncmp(line, "#< ", 3) == 0) return *column = 1, line + 3;
    return *line == '#' && strncmp(line + 1 + blanks, "^ ", 2) == 0 ? line + blanks + 3 : NULL;
}

static char *expected_messages(const char *text)
{
    struct sp_text lines = {0};
    size_t number = 0, above = 0, column;
    sp_text_puts(&lines, "");
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *message = expectation(line, &column);
        number++;
        if (message) sp_text_printf(&lines, "%zu:%zu: %.*s\n", above, column, (int)strcspn(message, "\n"), message);
        else above = number;
    }
    return lines.data;
}

/* Every line of `a` is one of `b`. */
static size_t count_unexpected(const char *file, const char *a, const char *b, const char *what)
{
    size_t count = 0;
    for (const char *line = a; *line; line += strcspn(line, "\n") + 1) {
        const int length = (int)strcspn(line, "\n") + 1; /* with its line break */
        char *one = strndup(line, (size_t)length);
        const char *found = strstr(b, one);
        if (!found || (found != b && found[-1] != '\n')) {
            print_error("%s: %s: %s", file, what, one);
            count++;
        }
        free(one);
    }
    return count;
}

/* The messages of adding the file, or when it has settings, of predicting its last table. */
static char *actual_messages(const char *text)
{
    const bool settings = strncmp(text, "#!! ", 4) == 0;
    char *given = settings ? strndup(text + 4, strcspn(text + 4, "\n")) : strdup("");
    struct run run = predict(text, given);
    assert_null(run.prediction);
    assert_int_equal(settings, *shapeproof_tables_messages(run.tables) == '\0');
    char *actual = messages_of(run.text);
    run_free(&run);
    free(given);
    return actual;
}

static void files(void **state)
{
    (void)state;
    glob_t found = {0};
    size_t wrong = 0;
    assert_int_equal(glob("tests/lang/errors/*.shapes", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 7);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text = read_file(found.gl_pathv[i]);
        char *expected = expected_messages(text), *actual = actual_messages(text);
        assert_true(*expected);
        wrong += count_unexpected(found.gl_pathv[i], expected, actual, "no such message");
        wrong += count_unexpected(found.gl_pathv[i], actual, expected, "not expected");
        free(text);
        free(expected);
        free(actual);
    }
    globfree(&found);
    assert_int_equal(wrong, 0);
}

/* ---- exact texts ---- */

static void assert_message(const char *table, const char *settings, const char *expected)
{
    struct run run = predict(table, settings);
    assert_string_equal(run.text, expected);
    run_free(&run);
}

/* What is shown of a long line ends at a carriage return, and a mistake far behind that moves it no further. */
static void behind_a_carriage_return(void **state)
{
    (void)state;
    char table[1024], expected[512], shown[61] = {0};
    memset(shown, 'x', sizeof shown - 1);
    snprintf(table, sizeof table, "#%0200d%s\r%0300d\001\ntable t\n", 0, shown, 0);
    snprintf(expected, sizeof expected,
             "t.shapes:1:%d: a table file is UTF-8 text without control characters\n"
             "    1 | %s\n"
             "      | %60s^",
             1 + 200 + 60 + 300 + 1, shown, "");
    assert_message(table, "", expected);
}

static void carets(void **state)
{
    (void)state;
    assert_message("table t\nE = 3 * \nx (E)\n", "",
                   "t.shapes:2:9: expected an expression\n"
                   "    2 | E = 3 * \n"
                   "      |         ^");
    assert_message("table t\nx (n, 3 / 2)\n", "n=1",
                   "t.shapes:2:7: 3 is not divisible by 2 ('//' rounds down)\n"
                   "    2 | x (n, 3 / 2)\n"
                   "      |       ^~~~~");
    assert_message("table t\n\t\tx\t(n, width)\t# tabs\n", "n=1",
                   "t.shapes:2:9: the hyper-parameter 'width' is not set\n"
                   "    2 |   x (n, width) # tabs\n"
                   "      |         ^~~~~");
    assert_message("table t\n\"\xc3\xa4 \xe6\xa8\xa1\" (m)\n", "",
                   "t.shapes:2:8: the hyper-parameter 'm' is not set\n"
                   "    2 | \"\xc3\xa4 \xe6\xa8\xa1\" (m)\n"
                   "      |        ^");
    assert_message("table t\r\nx (1) if 3 >\r\n", "",
                   "t.shapes:2:13: expected an expression\n"
                   "    2 | x (1) if 3 >\n"
                   "      |             ^");
    assert_message("table t\nx (1", "",
                   "t.shapes:2:3: this bracket is never closed: expected ')'\n"
                   "    2 | x (1\n"
                   "      |   ^");
    assert_message("table t\nx (max(1,\n  \"a\"))\n", "",
                   "t.shapes:2:4: max: takes numbers\n"
                   "    2 | x (max(1,\n"
                   "      |    ^~~~~~");
    assert_message("table t\nx\x1b[31m (1)\n", "",
                   "t.shapes:2:2: a table file is UTF-8 text without control characters\n"
                   "    2 | x\\x1b[31m (1)\n"
                   "      |  ^~~~");
    assert_message("table t\n\xe2\x80\xaex (1) zz\n", "", /* a right-to-left override */
                   "t.shapes:2:8: expected 'if', 'same as', 'optional', 'buffer', 'lookup', 'state', 'work', "
                   "'activation', 'share', 'times', 'was' or a dtype after the shape\n"
                   "    2 | \\u{202e}x (1) zz\n"
                   "      |               ^~");
}

/* The message is about the key: it points at where the table reads it, however far that is from where it is needed. */
static void place_of_a_missing_key(void **state)
{
    (void)state;
    static const struct {
        const char *table, *expected;
    } cases[] = {
        {"part p(n, m = 2*n)\nw (1, m)\ntable t\nV = vocab\n[a] for i in 1..2\na.{i}.* p(i + V)\n", "t.shapes:4:5: "},
        {"table t\nf(x) = 2*x\ny = f(vocab)\na (y)\n", "t.shapes:3:7: "},
        {"table t\na (false ? nothing : 1 + vocab)\n", "t.shapes:2:26: "},
        {"table t\na (true ? 1 + vocab : nothing)\n", "t.shapes:2:15: "},
        {"table t\na (1) if false or vocab\n", "t.shapes:2:19: "},
        {"table t\na (max(1, vocab.size))\n", "t.shapes:2:11: "},
        {"table t\n[x] for i in 0..0\nlocal = i + vocab\na ([7][0] + local)\n", "t.shapes:3:13: "},
        {"table s\na (vocab)\ntable t\nb.* s from sub\n", "t.shapes:2:4: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = predict(cases[i].table, "");
        assert_null(run.prediction);
        if (strncmp(run.text, cases[i].expected, strlen(cases[i].expected)) != 0)
            fail_msg("%s\nexpected at %s", run.text, cases[i].expected);
        assert_non_null(strstr(run.text, "vocab"));
        run_free(&run);
    }
}

static void several_in_one_run(void **state)
{
    (void)state;
    assert_message("table t\na = (1\nb (1 2)\nc.* nowhere\n", "",
                   "t.shapes:2:5: this bracket is never closed: expected ')'\n"
                   "    2 | a = (1\n"
                   "      |     ^\n"
                   "t.shapes:3:6: expected ',' or ')'\n"
                   "    3 | b (1 2)\n"
                   "      |      ^\n"
                   "t.shapes:4:5: there is no part or table 'nowhere'\n"
                   "    4 | c.* nowhere\n"
                   "      |     ^~~~~~~");
}

/* Of a long line the part around the mistake is shown. */
static void long_lines(void **state)
{
    (void)state;
    struct sp_text table = {0};
    sp_text_puts(&table, "table t\nx (");
    for (int i = 0; i < 300; i++) sp_text_puts(&table, i < 299 ? "1, " : "oops");
    for (int i = 0; i < 300; i++) sp_text_puts(&table, ", 1");
    sp_text_puts(&table, ")\n");
    struct run run = predict(table.data, "");
    const char *line = strchr(run.text, '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_true(caret - line < 180);
    assert_string_equal(caret + strspn(caret, " |"), "^~~~");
    assert_memory_equal(line + (strcspn(caret, "^")), "oops", 4);
    run_free(&run);
    sp_text_free(&table);
}

/* The error object has whole messages, as many as fit, and says how many do not. */
static void more_than_the_error_holds(void **state)
{
    (void)state;
    struct sp_text table = {0};
    sp_text_puts(&table, "table t\n");
    for (int i = 0; i < 15; i++) sp_text_printf(&table, "x%d (missing_%d)\n", i, i);
    struct run run = predict(table.data, "");
    const char *end = run.text + strlen(run.text);
    assert_string_equal(end - 10, "and 6 more");
    run_free(&run);
    sp_text_free(&table);
}

/* "table t" and lines with the same mistake. */
static struct shapeproof_tables *add_wrong_lines(const char *line, size_t count, struct shapeproof_error *error)
{
    struct sp_text table = {0};
    sp_text_puts(&table, "table t\n");
    for (size_t i = 0; i < count; i++) sp_text_printf(&table, "x%zu %s\n", i, line);
    struct shapeproof_tables *tables = shapeproof_tables_new(error);
    assert_int_not_equal(shapeproof_tables_add_text(tables, "t.shapes", table.data, table.length, error),
                         SHAPEPROOF_OK);
    sp_text_free(&table);
    return tables;
}

/* However many mistakes a table has, as many messages are made: that of a line takes the time to count the lines before
 * it. */
static void more_mistakes_than_messages(void **state)
{
    static const char *const wrong[] = {"(1 2)" /* parsed */, "nowhere" /* linked */};
    struct shapeproof_error error = {0};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct shapeproof_tables *some = add_wrong_lines(wrong[i], 99, &error);
        assert_null(strstr(error.message, "at least"));
        struct shapeproof_tables *many = add_wrong_lines(wrong[i], 10000, &error);
        assert_non_null(strstr(error.message, "\nand at least "));
        assert_non_null(strstr(shapeproof_tables_messages(many), "\nthere may be more mistakes"));
        assert_true(strlen(shapeproof_tables_messages(many)) < 2 * strlen(shapeproof_tables_messages(some)));
        shapeproof_tables_free(some);
        shapeproof_tables_free(many);
    }
}

/* A mistake that 150 tables inherit is one, and hides no other. */
static void inherited_mistakes(void **state)
{
    struct sp_text table = {0};
    struct shapeproof_error error = {0};
    (void)state;
    sp_text_puts(&table, "table base\nx = nosuch(1)\n[g]\na (x)\n");
    for (size_t i = 0; i < 150; i++) sp_text_printf(&table, "table t%zu extends base\n[h]\nb (1)\n", i);
    sp_text_puts(&table, "table last\ny = other(1)\n[g]\nb (y)\n");
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    assert_int_not_equal(shapeproof_tables_add_text(tables, "t.shapes", table.data, table.length, &error),
                         SHAPEPROOF_OK);
    const char *messages = shapeproof_tables_messages(tables), *first = strstr(messages, "'nosuch'");
    assert_non_null(first);
    assert_null(strstr(first + 1, "'nosuch'"));
    assert_non_null(strstr(messages, "there is no function 'other'"));
    assert_null(strstr(messages, "there may be more"));
    shapeproof_tables_free(tables);
    sp_text_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carets),
        cmocka_unit_test(behind_a_carriage_return),
        cmocka_unit_test(place_of_a_missing_key),
        cmocka_unit_test(several_in_one_run),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(more_than_the_error_holds),
        cmocka_unit_test(inherited_mistakes),
        cmocka_unit_test(files),
        cmocka_unit_test(more_mistakes_than_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
