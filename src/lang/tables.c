/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "lang/tables.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "lang/builtin.h"
#include "lang/parser.h"

enum { MAX_TABLE_FILE = 16 << 20 };

const struct sp_unit *sp_tables_unit(const struct sp_tables *tables, const char *name)
{
    for (size_t i = tables->count; i-- > 0;)
        if (strcmp(tables->units[i]->name, name) == 0) return tables->units[i];
    return NULL;
}

/* Parses without linking, so that files can name each other in any order. */
static bool parse(struct sp_tables *tables, const char *name, const char *text, size_t length)
{
    struct sp_source *source = sp_arena_alloc(&tables->arena, sizeof *source);
    source->name = sp_arena_string(&tables->arena, name);
    source->text = sp_arena_copy(&tables->arena, text, length);
    source->length = length;
    return sp_parse(source, &tables->arena, &tables->symbols, &tables->units, &tables->count, &tables->capacity,
                    &tables->messages);
}

static enum sp_status mistakes(const struct sp_tables *tables, struct sp_error *error)
{
    sp_fail(error, SP_ERR_TABLE, SP_KIND_MALFORMED, "%s", tables->messages.data);
    return SP_ERR_TABLE;
}

enum sp_status sp_tables_add_text(struct sp_tables *tables, const char *name, const char *text, size_t length,
                                  struct sp_error *error)
{
    const size_t first = tables->count;
    const bool parsed = parse(tables, name, text, length);
    const bool linked = sp_link(tables, first);
    return parsed && linked ? SP_OK : mistakes(tables, error);
}

enum sp_status sp_tables_add_file(struct sp_tables *tables, const char *path, struct sp_error *error)
{
    struct sp_file file;
    if (!sp_file_open(&file, AT_FDCWD, path, error)) {
        sp_error_prefix(error, path);
        return error->status;
    }
    char *text = sp_file_slurp(&file, MAX_TABLE_FILE, error);
    enum sp_status status = error->status;
    if (text) status = sp_tables_add_text(tables, path, text, (size_t)file.size, error);
    else sp_error_prefix(error, path);
    free(text);
    sp_file_close(&file);
    return status;
}

struct sp_tables *sp_tables_new(struct sp_error *error)
{
    struct sp_tables *tables = sp_realloc(NULL, 1, sizeof *tables);
    bool good = true;
    *tables = (struct sp_tables){0};
    for (size_t i = 0; i < sp_builtin_file_count; i++) {
        const struct sp_builtin_file *file = &sp_builtin_files[i];
        good = parse(tables, file->name, file->text, file->length) && good;
    }
    if (sp_link(tables, 0) && good) return tables;
    mistakes(tables, error);
    sp_tables_free(tables);
    return NULL;
}

const char *sp_tables_messages(const struct sp_tables *tables)
{
    return tables->messages.data ? tables->messages.data : "";
}

void sp_tables_free(struct sp_tables *tables)
{
    if (!tables) return;
    free(tables->units);
    sp_text_free(&tables->messages);
    sp_symbols_free(&tables->symbols);
    sp_arena_free(&tables->arena);
    free(tables);
}

/* ---- the list of tables, by name ---- */

/* The table after `previous` in order of names; NULL at the end. */
static const struct sp_unit *next_table(const struct sp_tables *tables, const char *previous)
{
    const struct sp_unit *best = NULL;
    for (size_t i = 0; i < tables->count; i++) {
        const struct sp_unit *unit = tables->units[i];
        if (!unit->is_table || sp_tables_unit(tables, unit->name) != unit) continue;
        if (previous && strcmp(unit->name, previous) <= 0) continue;
        if (!best || strcmp(unit->name, best->name) < 0) best = unit;
    }
    return best;
}

size_t sp_tables_count(const struct sp_tables *tables)
{
    size_t count = 0;
    for (size_t i = 0; i < tables->count; i++)
        count += tables->units[i]->is_table && sp_tables_unit(tables, tables->units[i]->name) == tables->units[i];
    return count;
}

/* Where the text of a unit ends: at the comment of the next one, or with the file. */
static size_t end_of(const struct sp_tables *tables, const struct sp_unit *unit)
{
    size_t end = unit->span.source->length;
    for (size_t i = 0; i < tables->count; i++) {
        const struct sp_unit *other = tables->units[i];
        if (other->span.source == unit->span.source && other->begin > unit->begin && other->begin < end)
            end = other->begin;
    }
    return end;
}

struct sp_table_info sp_tables_info(const struct sp_tables *tables, size_t index)
{
    const struct sp_unit *unit = next_table(tables, NULL);
    while (index-- && unit) unit = next_table(tables, unit->name);
    if (!unit) return (struct sp_table_info){0};
    return (struct sp_table_info){.name = unit->name,
                                  .title = unit->title,
                                  .file = unit->span.source->name,
                                  .line = sp_span_position(unit->span).line,
                                  .model_types = unit->model_types,
                                  .model_type_count = unit->model_type_count,
                                  .source = unit->span.source->text + unit->begin,
                                  .source_length = end_of(tables, unit) - unit->begin};
}
