/* SPDX-License-Identifier: MIT */
#include "report/csv.h"

#include <string.h>

static void begin_field(struct sp_csv *csv)
{
    if (csv->filled) sp_text_puts(csv->text, ",");
    else csv->begin = csv->text->length;
    csv->filled = true;
}

void sp_csv_field(struct sp_csv *csv, const char *field)
{
    struct sp_text visible = {0};
    sp_put_visible(&visible, field ? field : "");
    begin_field(csv);
    if (visible.length) {
        const bool quoted = strpbrk(visible.data, ",\"\r\n") != NULL;
        if (quoted) sp_text_puts(csv->text, "\"");
        for (const char *c = visible.data; *c; c++) {
            if (*c == '"') sp_text_puts(csv->text, "\"");
            sp_text_append(csv->text, c, 1);
        }
        if (quoted) sp_text_puts(csv->text, "\"");
    }
    sp_text_free(&visible);
}

void sp_csv_number(struct sp_csv *csv, uint64_t number)
{
    begin_field(csv);
    sp_text_number(csv->text, number);
}

void sp_csv_end_row(struct sp_csv *csv)
{
    /* a line with nothing in it is no row */
    if (csv->filled && csv->text->length == csv->begin) sp_text_puts(csv->text, "\"\"");
    sp_text_puts(csv->text, "\r\n");
    csv->filled = false;
}

void sp_csv_heading(struct sp_csv *csv, const char *const *titles)
{
    for (; *titles; titles++) sp_csv_field(csv, *titles);
    sp_csv_end_row(csv);
}
