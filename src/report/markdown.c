/* SPDX-License-Identifier: MIT */
#include "report/markdown.h"

#include <string.h>

void sp_markdown_text(struct sp_text *text, const char *string)
{
    static const char markup[] = "\\`*_[]<>|#&~$!";
    struct sp_text visible = {0};
    sp_put_visible(&visible, string);
    for (const char *c = visible.data; c && *c; c++) {
        if (strchr(markup, *c)) sp_text_puts(text, "\\");
        sp_text_append(text, c, 1);
    }
    sp_text_free(&visible);
}

/* The longest run of backticks. */
static size_t longest_run(const char *string)
{
    size_t longest = 0;
    for (; *string; string += *string != '\0') {
        const size_t run = strspn(string, "`");
        if (run > longest) longest = run;
        string += run;
    }
    return longest;
}

/* With `bar` for each "|". */
static void put_code(struct sp_text *text, const char *string, const char *bar)
{
    struct sp_text visible = {0};
    sp_text_puts(&visible, "");
    sp_put_visible(&visible, *string ? string : " ");
    const size_t fence = longest_run(visible.data) + 1;
    const char *space = fence > 1 ? " " : ""; /* a backtick at an end is part of the text */
    for (size_t i = 0; i < fence; i++) sp_text_puts(text, "`");
    sp_text_puts(text, space);
    for (const char *c = visible.data; *c; c++) {
        if (*c == '|') sp_text_puts(text, bar);
        else sp_text_append(text, c, 1);
    }
    sp_text_puts(text, space);
    for (size_t i = 0; i < fence; i++) sp_text_puts(text, "`");
    sp_text_free(&visible);
}

void sp_markdown_code(struct sp_text *text, const char *string) { put_code(text, string, "|"); }
void sp_markdown_cell_code(struct sp_text *text, const char *string) { put_code(text, string, "\\|"); }

void sp_markdown_cell(struct sp_text *text, const char *string)
{
    sp_text_puts(text, " ");
    sp_markdown_text(text, string);
    sp_text_puts(text, " |");
}

void sp_markdown_code_cell(struct sp_text *text, const char *string)
{
    sp_text_puts(text, " ");
    sp_markdown_cell_code(text, string);
    sp_text_puts(text, " |");
}

/* ---- what text reports consist of ---- */

/* Takes what was appended since `begin`: its words, with one blank between two, whose markup is escaped. Behind them
 * stands `end`. */
static void retake(struct sp_text *text, size_t begin, const char *front, const char *end)
{
    struct sp_text lines = {0}, words = {0};
    if (text->length == begin) return;
    sp_text_append(&lines, text->data + begin, text->length - begin);
    for (const char *word = lines.data; *(word += strspn(word, " \n"));) {
        const size_t length = strcspn(word, " \n");
        if (words.length) sp_text_puts(&words, " ");
        sp_text_append(&words, word, length);
        word += length;
    }
    text->length = begin;
    sp_text_puts(text, front);
    if (words.length) sp_markdown_text(text, words.data);
    sp_text_puts(text, end);
    sp_text_free(&lines);
    sp_text_free(&words);
}

void sp_markdown_line(struct sp_text *text, size_t begin) { retake(text, begin, "", "\n"); }
void sp_markdown_paragraph(struct sp_text *text, size_t begin) { retake(text, begin, "", "\n\n"); }
void sp_markdown_item(struct sp_text *text, size_t begin) { retake(text, begin, "- ", "\n"); }

void sp_markdown_heading(struct sp_text *text, const char *heading)
{
    sp_text_puts(text, "**");
    sp_markdown_text(text, heading);
    sp_text_puts(text, "**\n\n");
}
