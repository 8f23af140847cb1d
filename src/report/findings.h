/* SPDX-License-Identifier: MIT
 * What reports of findings have in common. */
#ifndef SP_REPORT_FINDINGS_H
#define SP_REPORT_FINDINGS_H

#include "report/table.h"
#include "shapeproof/check.h"

/* A table of labels and what is said to each, without titles. */
struct sp_table sp_label_table(void);
/* A row of it: returns where what is said is to be appended. */
struct sp_text *sp_labelled(struct sp_table *table, const char *label);
/* Rows for what cannot be read of a checkpoint, and for what unpickling it would call, if there is any of that. */
void sp_put_doubt_rows(struct sp_table *table, const char *of, const struct shapeproof_inventory *inventory);
/* An empty line, and a heading. */
void sp_put_heading(struct sp_text *text, const struct shapeproof_report_options *options, const char *heading);
/* The beginning of a finding's line, or of the hint below it; behind it goes what is said. */
void sp_put_severity(struct sp_text *text, const struct shapeproof_report_options *options,
                     enum shapeproof_severity severity);
void sp_begin_hint(struct sp_text *text);
/* Its end: what was said since `begin` is wrapped. */
void sp_end_item(struct sp_text *text, size_t begin);
/* " (expected: reason)"; nothing for NULL. */
void sp_put_reason(struct sp_text *text, const char *reason);

#endif
