/* SPDX-License-Identifier: MIT */
#ifndef SP_REPORT_LOADINGS_H
#define SP_REPORT_LOADINGS_H

#include "report/json.h"
#include "report/table.h"
#include "shapeproof/load.h"

/* A row of what is checked for a single loader, below it a table for several. NULL for none. */
void sp_put_loading_row(struct sp_table *table, const struct shapeproof_loadings *loadings);
void sp_put_loading_table(const struct shapeproof_loadings *loadings, struct sp_text *text,
                          const struct shapeproof_report_options *options);
/* "loads": a list, empty for NULL. */
void sp_json_loadings(struct sp_writer *json, const struct shapeproof_loadings *loadings);

#endif
