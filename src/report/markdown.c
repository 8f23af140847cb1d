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
