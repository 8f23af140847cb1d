/* SPDX-License-Identifier: MIT
 * The two forms of one report: text (diff.c) and JSON (diff_json.c). */
#ifndef SP_REPORT_DIFF_H
#define SP_REPORT_DIFF_H

#include "base/text.h"
#include "shapeproof/diff.h"

static inline const char *sp_diff_verdict(const struct shapeproof_diff *diff)
{
    return shapeproof_diff_is_same(diff) ? "same" : "differs";
}
void sp_diff_put_json(const struct shapeproof_diff *diff, struct sp_text *text);

#endif
