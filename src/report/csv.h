/* SPDX-License-Identifier: MIT
 * Comma-separated values as in RFC 4180: lines end with CR LF, a field with a comma, a quote or a line break is quoted.
 *
 *     struct sp_csv csv = {.text = &text};
 *     sp_csv_field(&csv, "name");
 *     sp_csv_number(&csv, 12);
 *     sp_csv_end_row(&csv); */
#ifndef SP_REPORT_CSV_H
#define SP_REPORT_CSV_H

#include "report/common.h"

struct sp_csv {
    struct sp_text *text;
    bool filled;  /* the row has a field */
    size_t begin; /* of the row in the text; only if it is filled */
};

/* A field, made printable; NULL is an empty one. */
void sp_csv_field(struct sp_csv *csv, const char *field);
void sp_csv_number(struct sp_csv *csv, uint64_t number);
void sp_csv_end_row(struct sp_csv *csv);
/* A row of titles; `titles` ends with NULL. */
void sp_csv_heading(struct sp_csv *csv, const char *const *titles);

#endif
