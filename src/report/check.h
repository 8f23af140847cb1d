/* SPDX-License-Identifier: MIT */
#ifndef SP_REPORT_CHECK_H
#define SP_REPORT_CHECK_H

#include "base/json_write.h"
#include "report/csv.h"
#include "report/table.h"
#include "shapeproof/check.h"

/* check.c: the members of the JSON object of a check, into one that is open; and its text. */
void sp_json_check_members(struct sp_writer *json, const struct shapeproof_check *check,
                           const struct shapeproof_loadings *loadings);
void sp_put_check(const struct shapeproof_check *check, struct sp_text *text,
                  const struct shapeproof_report_options *options);
/* The first line, which begins with the verdict and a colon, into an empty text. */
void sp_put_headline(const struct shapeproof_check *check, const struct shapeproof_loadings *loadings,
                     struct sp_text *line);
/* What was compared, what loaders make of it, and the counts: three tables. */
void sp_put_compared(const struct shapeproof_check *check, struct sp_text *text,
                     const struct shapeproof_report_options *options);
/* Green, yellow, red. */
enum sp_color sp_verdict_color(enum shapeproof_verdict verdict);

/* check_findings.c: what follows what was compared. Without options->all the report as a whole, of which `text` is the
 * beginning, has no more than SP_MOST_LINES lines. */
void sp_put_causes_and_findings(const struct shapeproof_check *check, struct sp_text *text,
                                const struct shapeproof_report_options *options);

/* Behind the message of a finding, which does not have it: ": (768)" of a tensor that is on one side alone. */
void sp_put_sole_shape(struct sp_text *text, const struct shapeproof_finding *finding);

/* check_rows.c: the rows of a check, with the path of the checkpoint; its report as Markdown. */
void sp_csv_check_heading(struct sp_csv *csv);
void sp_csv_check(struct sp_csv *csv, const struct shapeproof_check *check);
void sp_markdown_check(struct sp_text *text, const struct shapeproof_check *check,
                       const struct shapeproof_report_options *options);

#endif
