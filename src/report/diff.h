/* SPDX-License-Identifier: MIT */
#ifndef SP_REPORT_DIFF_H
#define SP_REPORT_DIFF_H

#include "base/text.h"
#include "shapeproof/report.h"

/* What was compared, and how names were translated: two tables. */
void sp_put_compared_sides(const struct shapeproof_diff *diff, struct sp_text *text,
                           const struct shapeproof_report_options *options);

/* The findings as comma-separated values. */
void sp_csv_diff(struct sp_text *text, const struct shapeproof_diff *diff);
/* The verdict, both sides, how names were translated, and the errors and warnings. */
void sp_markdown_diff(struct sp_text *text, const struct shapeproof_diff *diff);

#endif
