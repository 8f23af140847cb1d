/* SPDX-License-Identifier: MIT */
#ifndef SP_REPORT_DIFF_H
#define SP_REPORT_DIFF_H

#include "base/text.h"
#include "shapeproof/report.h"

/* What was compared, and how names were translated: two tables. */
void sp_put_compared_sides(const struct shapeproof_diff *diff, struct sp_text *text,
                           const struct shapeproof_report_options *options);

#endif
