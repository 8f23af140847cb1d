/* SPDX-License-Identifier: MIT
 * Prints the index of the built-in tables (infer/tables/index.h) as C, with the code that would index them when they
 * are searched. It is linked with the library when shapeproof is built, and with an empty index in place of its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "infer/classes.h"
#include "infer/tables/index.h"

const char sp_builtin_index_text[] = "";
const struct sp_indexed_row sp_builtin_index_rows[] = {{0}};
const struct sp_indexed_unit sp_builtin_index_units[] = {{0}};
const size_t sp_builtin_index_count = 0;

/* Bytes that are not printable as an octal escape of three digits, which no digit behind it can lengthen. */
static void put_text(struct sp_text *out, const struct sp_text *text)
{
    sp_text_puts(out, "const char sp_builtin_index_text[] =");
    for (size_t i = 0; i < text->length; i++) {
        const unsigned char byte = (unsigned char)text->data[i];
        if (i == 0 || text->data[i - 1] == '\0') sp_text_puts(out, i ? "\"\n    \"" : "\n    \"");
        if (byte < ' ' || byte > '~' || byte == '"' || byte == '\\' || byte == '?')
            sp_text_printf(out, "\\%03o", (unsigned)byte);
        else sp_text_append(out, text->data + i, 1);
    }
    sp_text_puts(out, "\";\n\n");
}

static void put_rows(struct sp_text *out, const struct sp_table_index *index)
{
    sp_text_puts(out, "const struct sp_indexed_row sp_builtin_index_rows[] = {\n");
    for (size_t i = 0; i < index->rows.count; i++) {
        const struct sp_indexed_row *row = &index->rows.items[i];
        sp_text_printf(out, "    {%" PRIu32 ", %u, %u},\n", row->name, (unsigned)row->unit, (unsigned)row->flags);
    }
    sp_text_puts(out, "    {0}};\n\n");
}

static void put_units(struct sp_text *out, const struct sp_indexed_unit *units, size_t count)
{
    sp_text_puts(out, "const struct sp_indexed_unit sp_builtin_index_units[] = {\n");
    for (size_t i = 0; i < count; i++)
        sp_text_printf(out, "    {%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %d, %d, %d},\n", units[i].first,
                       units[i].count, units[i].classes, units[i].parent, units[i].class_count,
                       units[i].needs_arguments, units[i].chooses);
    sp_text_printf(out, "    {0}};\n\nconst size_t sp_builtin_index_count = %zu;\n", count);
}

/* The unit at a place and its classes; false after a mistake in a table. */
static bool add_unit(struct sp_table_index *index, const struct shapeproof_tables *tables, size_t place,
                     struct sp_indexed_unit *indexed)
{
    const struct sp_unit *unit = sp_tables_at(tables, place);
    size_t count;
    if (!unit) return false;
    *indexed = sp_table_index_add(index, tables, unit);
    const char *const *classes = unit->is_table ? sp_classes_of(tables, unit, &count) : NULL;
    if (classes) sp_table_index_add_classes(index, indexed, classes, count);
    return true;
}

/* Fails, with the messages, when a built-in table has a mistake. */
int main(void)
{
    struct shapeproof_error error;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    const size_t count = sp_builtin_unit_count;
    struct sp_table_index index = {0};
    struct sp_indexed_unit *units = sp_realloc(NULL, count + 1, sizeof *units);
    struct sp_text out = {0};
    bool good = true;
    for (size_t i = 0; i < count; i++) good &= add_unit(&index, tables, i, &units[i]);
    sp_text_puts(&out, "/* Made by src/tables/make_index.c. */\n#include \"infer/tables/index.h\"\n\n");
    put_text(&out, &index.text);
    put_rows(&out, &index);
    put_units(&out, units, count);
    if (!good) fputs(shapeproof_tables_messages(tables), stderr);
    good &= fwrite(out.data, 1, out.length, stdout) == out.length && !fclose(stdout);
    sp_text_free(&out);
    free(units);
    sp_table_index_free(&index);
    shapeproof_tables_free(tables);
    return !good;
}
