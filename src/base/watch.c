/* SPDX-License-Identifier: MIT */
#include "base/watch.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/call.h"
#include "base/error.h"
#include "base/text.h"

void sp_trace(const struct shapeproof_watch *watch, const char *format, ...)
{
    char line[1024]; /* bytes; a longer line is cut */
    struct sp_text visible = {0};
    va_list args;
    if (!sp_is_traced(watch)) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    sp_text_visible(&visible, line, strlen(line));
    struct sp_call *paused = sp_call_pause();
    watch->trace(watch->context, visible.data ? visible.data : "");
    sp_call_resume(paused);
    sp_text_free(&visible);
}

bool sp_goes_on(const struct shapeproof_watch *watch, const char *step, uint64_t done, uint64_t total)
{
    if (!watch || !watch->progress) return true;
    struct sp_call *paused = sp_call_pause();
    const bool goes_on = watch->progress(watch->context, step, done, total);
    sp_call_resume(paused);
    return goes_on;
}

bool sp_fail_cancelled(struct shapeproof_error *error)
{
    return sp_fail(error, SHAPEPROOF_ERR_CANCELLED, SHAPEPROOF_KIND_NONE, "the caller ended the call");
}
