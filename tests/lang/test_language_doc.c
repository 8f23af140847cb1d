/* SPDX-License-Identifier: MIT
 * The examples of docs/language.md. A block of type
 *   shapes       is a table file; each text block after it is what it predicts (or the messages),
 *   expressions  has lines "expression => value".
 * A first line "with KEY=VALUE ..." of a text or expressions block gives the hyper-parameters. Blocks of type console
 * are run by tests/docs.sh. There are no blocks of other types but the grammar. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

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

struct block {
    char type[32];
    size_t line; /* of the fence */
    char *text;  /* with its last line break */
};

/* The next fenced block from *at, which is moved past it; false at the end. */
static bool next_block(const char **at, size_t *line, struct block *block)
{
    struct sp_text text = {0};
    bool inside = false;
    for (const char *p = *at; *p; p += strcspn(p, "\n") + 1) {
        const size_t length = strcspn(p, "\n");
        ++*line;
        if (strncmp(p, "```", 3) == 0 && inside) {
            *at = p + length + 1;
            block->text = text.data;
            return true;
        }
        if (inside) sp_text_append(&text, p, length + 1);
        if (strncmp(p, "```", 3) != 0) continue;
        inside = true;
        sp_text_puts(&text, "");
        snprintf(block->type, sizeof block->type, "%.*s", (int)length - 3, p + 3);
        block->line = *line;
    }
    return false;
}

/* The settings of a block, which *rest comes after. */
static char *settings_of(const char *text, const char **rest)
{
    *rest = text;
    if (strncmp(text, "with ", 5) != 0) return strdup("");
    *rest = text + strcspn(text, "\n") + 1;
    return strndup(text + 5, strcspn(text + 5, "\n"));
}

static size_t check_table(const char *table, const struct block *block)
{
    const char *expected;
    char *settings = settings_of(block->text, &expected);
    struct run run = predict(table, settings);
    struct sp_text actual = {0};
    sp_text_puts(&actual, run.text);
    if (!run.prediction) sp_text_puts(&actual, "\n");
    const bool good = strcmp(actual.data, expected) == 0;
    if (!good) print_error("docs/language.md:%zu: the table gives\n%s\n", block->line, actual.data);
    sp_text_free(&actual);
    run_free(&run);
    free(settings);
    return !good;
}

/* "expression    => value" */
static size_t check_expression(const char *line, const char *settings, size_t number)
{
    const char *arrow = strstr(line, " => ");
    assert_non_null(arrow);
    size_t length = (size_t)(arrow - line);
    while (length && line[length - 1] == ' ') length--;
    char *expression = strndup(line, length), *expected = strndup(arrow + 4, strcspn(arrow + 4, "\n"));
    char *value = evaluate(expression, settings);
    const bool good = strcmp(value, expected) == 0;
    if (!good) print_error("docs/language.md:%zu: %s gives %s\n", number, expression, value);
    free(value);
    free(expected);
    free(expression);
    return !good;
}

static size_t check_expressions(const struct block *block)
{
    const char *line;
    char *settings = settings_of(block->text, &line);
    size_t wrong = 0, number = block->line + (line > block->text);
    for (; *line; line += strcspn(line, "\n") + 1) wrong += check_expression(line, settings, ++number);
    free(settings);
    return wrong;
}

/* tests/docs.sh runs the commands, on claims that it saves; the grammar is for people. */
static bool is_for_others(const char *type)
{
    return strcmp(type, "console") == 0 || strcmp(type, "claims") == 0 || strcmp(type, "ebnf") == 0;
}

static void examples(void **state)
{
    (void)state;
    char *document = read_file("docs/language.md"), *table = strdup("");
    const char *at = document;
    size_t line = 0, wrong = 0, shapes = 0, texts = 0;
    for (struct block block; next_block(&at, &line, &block); free(block.text)) {
        if (strcmp(block.type, "shapes") == 0) {
            free(table);
            table = strdup(block.text);
            shapes++;
        } else if (strcmp(block.type, "text") == 0) {
            texts++;
            wrong += check_table(table, &block);
        } else if (strcmp(block.type, "expressions") == 0) {
            wrong += check_expressions(&block);
        } else if (!is_for_others(block.type)) {
            print_error("docs/language.md:%zu: a block of an unknown type '%s'\n", block.line, block.type);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(shapes >= 10 && texts >= shapes);
    free(table);
    free(document);
}

/* The first example is the file that the commands use. */
static void the_first_example_is_the_file(void **state)
{
    (void)state;
    char *document = read_file("docs/language.md"), *file = read_file("docs/examples/small_gpt2.shapes");
    const char *at = document;
    size_t line = 0;
    struct block block;
    assert_true(next_block(&at, &line, &block));
    assert_string_equal(block.text, file);
    free(block.text);
    free(document);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(the_first_example_is_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
