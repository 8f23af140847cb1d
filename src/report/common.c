/* SPDX-License-Identifier: MIT */
#include "report/common.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "shapeproof/report.h"

void sp_color_begin(struct sp_text *text, bool on, enum sp_color color)
{
    static const char *const escapes[] = {"", "\33[1m", "\33[2m", "\33[31m", "\33[32m", "\33[33m"};
    if (on) sp_text_puts(text, escapes[color]);
}

void sp_color_end(struct sp_text *text, bool on, enum sp_color color)
{
    if (on && color != SP_COLOR_NONE) sp_text_puts(text, "\33[0m");
}

void sp_color_puts(struct sp_text *text, bool on, enum sp_color color, const char *string)
{
    sp_color_begin(text, on, color);
    sp_text_puts(text, string);
    sp_color_end(text, on, color);
}

void sp_put_visible(struct sp_text *text, const char *string) { sp_text_visible(text, string, strlen(string)); }

size_t sp_text_columns(const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; i++) columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* The bytes from `begin` on that take that many columns. */
static size_t bytes_of_columns(const struct sp_text *text, size_t begin, size_t columns)
{
    size_t i = begin;
    for (size_t seen = 0; i < text->length; i++)
        if (((unsigned char)text->data[i] & 0xc0) != 0x80 && seen++ == columns) break;
    return i - begin;
}

void sp_cut_at_word(struct sp_text *text, size_t begin, size_t columns)
{
    static const char dots[] = " ...";
    if (sp_text_columns(text->data + begin, text->length - begin) <= columns) return;
    size_t end = begin + bytes_of_columns(text, begin, columns > strlen(dots) ? columns - strlen(dots) : 0);
    while (end > begin && text->data[end] != ' ') end--;
    text->length = end;
    sp_text_puts(text, dots);
}

void sp_put_cut(struct sp_text *text, const char *string, size_t columns)
{
    const size_t length = strlen(string);
    /* No escape is shorter than the byte it stands for, so no more than 4 bytes per column can be shown. */
    const size_t enough = length / 4 > columns ? columns * 4 + 4 : length;
    struct sp_text whole = {0};
    sp_text_visible(&whole, string, enough);
    if (sp_text_columns(whole.data ? whole.data : "", whole.length) <= columns) {
        sp_text_append(text, whole.data ? whole.data : "", whole.length);
    } else {
        sp_text_append(text, whole.data, bytes_of_columns(&whole, 0, columns));
        sp_text_puts(text, "... (");
        sp_put_count(text, length, "byte", "bytes");
        sp_text_puts(text, ")");
    }
    sp_text_free(&whole);
}

void sp_put_value(struct sp_text *text, struct shapeproof_value value, size_t columns)
{
    char *json = shapeproof_value_text(value);
    sp_put_cut(text, json, columns);
    sp_free(json);
}

void sp_put_provenance(struct sp_text *text, struct shapeproof_provenance from)
{
    char *words = shapeproof_provenance_text(from);
    sp_put_visible(text, words);
    sp_free(words);
}

void sp_put_shape(struct sp_text *text, const uint64_t *shape, size_t rank)
{
    sp_text_puts(text, "(");
    for (size_t i = 0; i < rank; i++) {
        if (i) sp_text_puts(text, ", ");
        sp_text_number(text, shape[i]);
    }
    sp_text_puts(text, ")");
}

/* The number in the largest unit in which it is 1 or more, with one decimal; in the first unit without. The point does
 * not depend on the locale of the caller, as that of printf does. */
static void put_scaled(struct sp_text *text, uint64_t number, double step, const char *const *units, size_t unit_count)
{
    double size = (double)number;
    size_t unit = 0;
    /* 1023.95 would be rounded to 1024.0 */
    for (; size >= (unit ? step - 0.05 : step) && unit + 1 < unit_count; unit++) size /= step;
    const uint64_t tenths = (uint64_t)(size * 10 + 0.5);
    sp_text_number(text, unit ? tenths / 10 : number);
    if (unit) sp_text_puts(text, ".");
    if (unit) sp_text_number(text, tenths % 10);
    sp_text_puts(text, units[unit]);
}

void sp_put_bytes(struct sp_text *text, uint64_t bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    put_scaled(text, bytes, 1024, units, sizeof units / sizeof *units);
}

void sp_put_short(struct sp_text *text, uint64_t number)
{
    static const char *const units[] = {"", " K", " M", " B", " T"};
    put_scaled(text, number, 1000, units, sizeof units / sizeof *units);
}

void sp_put_operations(struct sp_text *text, uint64_t number)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
    put_scaled(text, number, 1000, units, sizeof units / sizeof *units);
}

void sp_put_fraction(struct sp_text *text, struct shapeproof_fraction value)
{
    if (value.numerator < 0) sp_text_puts(text, "-");
    sp_text_grouped(text, value.numerator < 0 ? 0 - (uint64_t)value.numerator : (uint64_t)value.numerator);
    if (value.denominator != 1) sp_text_printf(text, "/%" PRId64, value.denominator);
}

void sp_put_percent(struct sp_text *text, int64_t part, int64_t whole, const char *plus)
{
    if (whole <= 0) return;
    const double share = (double)(part < 0 ? 0 - (uint64_t)part : (uint64_t)part) / (double)whole;
    const uint64_t tenths = share < 10 ? (uint64_t)(share * 1000 + 0.5) : 10000;
    if (tenths == 10000) {
        sp_text_puts(text, part < 0 ? "<-999%" : ">999%");
        return;
    }
    sp_text_puts(text, part < 0 ? "-" : part > 0 ? plus : "");
    if (part && !tenths) sp_text_puts(text, "<0.1%");
    else sp_text_printf(text, "%" PRIu64 ".%" PRIu64 "%%", tenths / 10, tenths % 10);
}

void sp_put_count(struct sp_text *text, uint64_t count, const char *singular, const char *plural)
{
    sp_text_grouped(text, count);
    sp_text_printf(text, " %s", count == 1 ? singular : plural);
}

void sp_put_bar(struct sp_text *text, uint64_t part, uint64_t whole, size_t columns, bool unicode)
{
    static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
    const size_t units = unicode ? 8 : 1;
    const size_t filled = whole ? (size_t)((double)part / (double)whole * (double)(columns * units) + 0.5) : 0;
    for (size_t i = 0; i < filled / units; i++) sp_text_puts(text, unicode ? "\u2588" : "#");
    sp_text_puts(text, eighths[filled % units]);
}

char *sp_text_take(struct sp_text *text, size_t *length)
{
    sp_text_append(text, "", 0); /* so that even an empty report is a string */
    char *data = text->data;
    if (length) *length = text->length;
    *text = (struct sp_text){0};
    return data;
}

char *shapeproof_report_visible(const char *string)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    struct sp_text text = {0};
    sp_put_visible(&text, string);
    return sp_text_take(&text, NULL);
}

void shapeproof_free(void *memory) { sp_free(memory); }
