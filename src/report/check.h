/* SPDX-License-Identifier: MIT */
#ifndef SP_REPORT_CHECK_H
#define SP_REPORT_CHECK_H

#include "report/table.h"
#include "shapeproof/check.h"

/* check_findings.c: what follows what was compared. Without options->all the report as a whole, of which `text` is the
 * beginning, has no more than SP_MOST_LINES lines. */
void sp_put_causes_and_findings(const struct sp_check *check, struct sp_text *text,
                                const struct sp_report_options *options);

#endif
