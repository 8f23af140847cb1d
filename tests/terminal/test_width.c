/* SPDX-License-Identifier: MIT
 * Text on terminals of different widths: no line is wider, unless a word alone is, and no word is broken or lost. */
#define _GNU_SOURCE
#include "terminal/terminal.h"

#define MODELS "fixtures/models/"

enum { BLANKS_AT_MOST = 40 }; /* in front of a word that is too long for a line */

static const char *const commands[] = {
    "inspect " MODELS "tiny-gpt2",
    "inspect --tree " MODELS "tiny-gpt2",
    "inspect --offsets " MODELS "tiny-gpt2-sharded",
    "check " MODELS "odd-gpt2 --all",
    "check " MODELS "odd-gpt2 --color=always",
    "check " MODELS "tiny-llama --set num_hidden_layers=3",
    "diff " MODELS "tiny-gpt2 " MODELS "odd-gpt2",
    "diff fixtures/cross/pair.h5 fixtures/cross/pair.pt",
    "infer " MODELS "tiny-gpt2",
    "predict gpt2 --formulas",
    "derive deepseek_v3",
    "prove --checkpoint " MODELS "odd-gpt2 --claim 'total = 12*L*d^2 + V*d'",
    "eval gpt2 'shard(tp=2, dtype=bf16)'",
    "fit llama-3-8b --memory 24GiB --tokens 8k",
    "solve gpt2 --total 124439808 --set vocab_size=50000",
    "models gpt",
    "check fixtures/models", /* an error and a hint */
    "predict meta-llama/Llama-3.1-8B",
    "inspect fixtures/torch/bad/calls_system.pt", /* a warning */
};

/* The columns of a line, without its colours. */
static size_t columns_of(const char *line, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\033') {
            while (i < length && line[i] != 'm') i++;
            continue;
        }
        const unsigned char byte = (unsigned char)line[i];
        const bool is_ideogram = byte >= 0xe3 && byte <= 0xe9; /* the first byte of U+3000 to U+9FFF */
        const bool is_mark = byte == 0xcc;                     /* of U+0300 to U+033F */
        columns += (byte & 0xc0) == 0x80 || is_mark ? 0 : is_ideogram ? 2 : 1;
    }
    return columns;
}

/* Each line is narrow enough, or has nothing at which it could break: blanks in brackets keep a shape together. */
static void assert_narrow(size_t width)
{
    for (const char *line = terminal.shown, *next; *line; line = next) {
        const size_t length = strcspn(line, "\r\n");
        next = line + length + strspn(line + length, "\r\n");
        if (columns_of(line, length) <= width) continue;
        const size_t blanks = strspn(line, " ");
        const char *second = memchr(line + blanks, ' ', length - blanks);
        if (second && !memchr(line, '(', length) && blanks < BLANKS_AT_MOST)
            fail_msg("wider than %zu: %.*s", width, (int)length, line);
    }
}

/* The words that the terminal was sent, without colours, one blank between them; to be freed. */
static char *copy_words(void)
{
    char *words = malloc(terminal.length + 1);
    size_t length = 0;
    assert_non_null(words);
    for (const char *c = terminal.shown; *c; c++) {
        if (*c == '\033') {
            c = strchrnul(c, 'm');
            continue;
        }
        const bool is_blank = strchr(" \r\n", *c);
        if (!is_blank) words[length++] = *c;
        else if (length && words[length - 1] != ' ') words[length++] = ' ';
    }
    words[length] = '\0';
    return words;
}

static void test_every_width(void **state)
{
    static const unsigned short widths[] = {60, 100, 200};
    char line[512];
    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(line, sizeof line, "{ \"$COMMAND\" %s 2>&1; } | cat", commands[i]);
        run_line(line, 50, 80);
        char *whole = copy_words();
        snprintf(line, sizeof line, "SHAPEPROOF_PAGER=cat \"$COMMAND\" %s", commands[i]);
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
            run_line(line, 50, widths[k]);
            assert_narrow(widths[k]);
            char *words = copy_words();
            assert_string_equal(words, whole);
            free(words);
        }
        free(whole);
    }
}

static void test_terminal_without_utf8(void **state)
{
    (void)state;
    run_line("LC_ALL=C \"$COMMAND\" tables encodec --kind audio", 50, 80);
    assert_shows("D\\u{e9}fossez");
    run_line(
        "f=$(mktemp); printf 'table caf\u00e9\\nx = nosuch(1) # \u00e9\\n' > $f; LC_ALL=C \"$COMMAND\" predict gpt2 "
        "--table $f; rm $f",
        50, 80);
    assert_shows("x = nosuch(1) # \\u{e9}");
    run_line("\"$COMMAND\" tables encodec --kind audio", 50, 80);
    assert_shows("D\u00e9fossez");
}

/* Ideograms have two columns, and accents by themselves none. */
static void test_wide_characters(void **state)
{
    static const char *const words[] = {"\u8a00\u8a9e", "e\u0301e\u0301e\u0301e\u0301"};
    char line[512];
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(line, sizeof line, "w=%s; \"$COMMAND\" inspect \"/n/$w $w $w $w $w $w $w $w\"", words[i]);
        run_line(line, 50, 40);
        assert_narrow(40);
    }
    size_t rows = 0;
    for (const char *c = terminal.shown; *c; c++) rows += *c == '\n';
    assert_int_equal(rows, 3); /* 73 columns and a word that does not fit: as without accents */
}

/* The numbers of a row whose first cell is wide do not begin where rows do. */
static void test_wide_row(void **state)
{
    (void)state;
    run_line("SHAPEPROOF_PAGER=cat \"$COMMAND\" predict gpt2", 50, 40);
    assert_shows("\n    x 12");
    assert_null(strstr(terminal.shown, "\nx 12"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_width), cmocka_unit_test(test_wide_characters),
                                       cmocka_unit_test(test_wide_row), cmocka_unit_test(test_terminal_without_utf8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
