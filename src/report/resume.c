/* SPDX-License-Identifier: MIT
 * Whether training can go on: the verdict, and a line for each statement. */
#include <string.h>

#include "base/call.h"
#include "base/json_write.h"
#include "report/common.h"
#include "report/table.h"
#include "shapeproof/report.h"

static const char *const answers[] = {
    [SHAPEPROOF_RESUME_RIGHT] = "right", [SHAPEPROOF_RESUME_UNTOLD] = "unknown", [SHAPEPROOF_RESUME_WRONG] = "wrong"};
static const char *const verdicts[] = {[SHAPEPROOF_RESUME_RIGHT] = "can go on",
                                       [SHAPEPROOF_RESUME_UNTOLD] = "unknown",
                                       [SHAPEPROOF_RESUME_WRONG] = "cannot go on"};
static const enum sp_color colors[] = {[SHAPEPROOF_RESUME_RIGHT] = SP_COLOR_GREEN,
                                       [SHAPEPROOF_RESUME_UNTOLD] = SP_COLOR_YELLOW,
                                       [SHAPEPROOF_RESUME_WRONG] = SP_COLOR_RED};

/* ---- JSON: shapeproof.resume/1 ---- */

static void json_resume(const struct shapeproof_resume *resume, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.resume/1");
    sp_write_key_string(&json, "verdict", verdicts[shapeproof_resume_answer(resume)]);
    sp_write_key_string(&json, "file", shapeproof_resume_path(resume));
    sp_write_key_string(&json, "layout", shapeproof_resume_layout(resume));
    sp_write_key_open(&json, "statements", '[');
    for (size_t i = 0; i < shapeproof_resume_count(resume); i++) {
        const struct shapeproof_resume_statement *one = shapeproof_resume_statement(resume, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "answer", answers[one->answer]);
        sp_write_key_string(&json, "subject", one->subject);
        sp_write_key_optional(&json, "file", one->file);
        sp_write_key_string(&json, "text", one->text);
        sp_write_key_optional(&json, "expected", one->expected);
        sp_write_key_optional(&json, "found", one->found);
        if (one->answer == SHAPEPROOF_RESUME_UNTOLD) sp_write_key_bool(&json, "essential", one->is_essential);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_close(&json);
}

/* ---- text ---- */

/* "optimizer.pt: its moments: expected (64, 16), found (66, 16)". */
static void put_statement(struct sp_text *cell, const struct shapeproof_resume_statement *one)
{
    if (one->file) {
        sp_put_visible(cell, one->file);
        sp_text_puts(cell, ": ");
    }
    sp_put_visible(cell, one->text);
    if (!one->expected) return;
    sp_text_puts(cell, ": expected ");
    sp_put_visible(cell, one->expected);
    sp_text_puts(cell, ", found ");
    sp_put_visible(cell, one->found);
}

/* The first line: the verdict, and the statements that decide it. */
static void put_resume_verdict(const struct shapeproof_resume *resume, struct sp_text *text, bool color)
{
    const enum shapeproof_resume_answer verdict = shapeproof_resume_answer(resume);
    const size_t count = shapeproof_resume_count(resume);
    size_t deciding = 0;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_resume_statement *one = shapeproof_resume_statement(resume, i);
        deciding += one->answer == verdict && (verdict != SHAPEPROOF_RESUME_UNTOLD || one->is_essential);
    }
    sp_color_puts(text, color, colors[verdict], verdicts[verdict]);
    if (verdict == SHAPEPROOF_RESUME_RIGHT && deciding == count)
        sp_text_printf(text, ": all %zu statements are right", count);
    else if (verdict == SHAPEPROOF_RESUME_RIGHT)
        sp_text_printf(text, ": %zu of %zu statements are right, and none is wrong", deciding, count);
    else if (verdict == SHAPEPROOF_RESUME_WRONG)
        sp_text_printf(text, ": %zu of %zu statements %s wrong", deciding, count, deciding == 1 ? "is" : "are");
    else sp_text_printf(text, ": nothing is wrong, but %zu of %zu statements cannot be told", deciding, count);
    sp_text_puts(text, "\n\n");
}

/* What is wrong first. */
static void put_statements(const struct shapeproof_resume *resume, struct sp_text *text,
                           const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{"answer", SP_LEFT}, {"subject", SP_LEFT}, {"", SP_LEFT}};
    static const enum shapeproof_resume_answer order[] = {SHAPEPROOF_RESUME_WRONG, SHAPEPROOF_RESUME_UNTOLD,
                                                          SHAPEPROOF_RESUME_RIGHT};
    struct sp_table table = {.columns = columns, .column_count = 3};
    for (size_t turn = 0; turn < sizeof order / sizeof *order; turn++)
        for (size_t i = 0; i < shapeproof_resume_count(resume); i++) {
            const struct shapeproof_resume_statement *one = shapeproof_resume_statement(resume, i);
            if (one->answer != order[turn]) continue;
            sp_text_puts(sp_table_cell(&table), answers[one->answer]);
            sp_table_color(&table, colors[one->answer]);
            sp_text_puts(sp_table_cell(&table), one->subject);
            put_statement(sp_table_cell(&table), one);
        }
    sp_table_render(&table, text, options);
}

char *shapeproof_report_resume(const struct shapeproof_resume *resume, const struct shapeproof_report_options *options,
                               size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) json_resume(resume, &text);
    else {
        put_resume_verdict(resume, &text, options->color);
        sp_put_visible(&text, shapeproof_resume_path(resume));
        sp_text_printf(&text, " (%s)\n\n", shapeproof_resume_layout(resume));
        put_statements(resume, &text, options);
    }
    return sp_text_take(&text, length);
}
