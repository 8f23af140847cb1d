/* SPDX-License-Identifier: MIT
 * The two forms of one report: text (diff.c) and JSON (diff_json.c). */
#ifndef SP_REPORT_DIFF_H
#define SP_REPORT_DIFF_H

#include "base/text.h"
#include "shapeproof/diff.h"

static inline const char *sp_diff_verdict(const struct sp_diff *diff)
{
    return sp_diff_is_same(diff) ? "same" : "differs";
}
void sp_diff_put_json(const struct sp_diff *diff, struct sp_text *text);

#endif
