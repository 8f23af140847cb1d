/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "lang/tables.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "lang/builtin.h"
#include "lang/syntax/parser.h"

enum { MAX_TABLE_FILE = 1 << 20 };

const struct sp_unit *sp_tables_unit(const struct sp_tables *tables, const char *name)
{
    const char *symbol = sp_symbol_find(&tables->symbols, name);
    for (size_t i = tables->count; symbol && i-- > 0;)
        if (tables->units[i]->name == symbol) return tables->units[i];
    return NULL;
}

/* The name that is most like it. */
static const char *table_like(const struct sp_tables *tables, const char *name)
{
    const char **names = sp_realloc(NULL, tables->list_count, sizeof *names);
    for (size_t i = 0; i < tables->list_count; i++) names[i] = tables->list[i]->name;
    const char *likely = sp_suggest(name, names, tables->list_count);
    free(names);
    return likely;
}

const struct sp_unit *sp_tables_table(const struct sp_tables *tables, const char *name, struct sp_error *error)
{
    const struct sp_unit *unit = sp_tables_unit(tables, name);
    if (unit && unit->is_table) return unit;
    const char *likely = table_like(tables, name);
    sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "there is no table '%s'", name);
    if (likely) sp_hint(error, "did you mean '%s'?", likely);
    else sp_hint(error, "'shapeproof tables' lists them");
    return NULL;
}

/* Parses without linking, so that files can name each other in any order. The name and the text are kept. */
static bool parse_table_text(struct sp_tables *tables, const char *name, const char *text, size_t length, bool own)
{
    struct sp_source_text *source = sp_arena_alloc(&tables->arena, sizeof *source);
    *source = (struct sp_source_text){name, text, length, own};
    return sp_parse(source, &tables->arena, &tables->symbols, &tables->units, &tables->count, &tables->capacity,
                    &tables->messages);
}

static int table_by_name(const void *a, const void *b)
{
    return strcmp((*(struct sp_unit *const *)a)->name, (*(struct sp_unit *const *)b)->name);
}

/* The tables in force, in order of their names. */
static void make_list(struct sp_tables *tables)
{
    tables->list = sp_realloc(tables->list, tables->count, sizeof *tables->list);
    tables->list_count = 0;
    for (size_t i = 0; i < tables->count; i++) {
        struct sp_unit *unit = tables->units[i];
        if (unit->is_table && sp_tables_unit(tables, unit->name) == unit) tables->list[tables->list_count++] = unit;
    }
    qsort(tables->list, tables->list_count, sizeof *tables->list, table_by_name);
}

enum sp_status sp_tables_add_text(struct sp_tables *tables, const char *name, const char *text, size_t length,
                                  struct sp_error *error)
{
    sp_error_reset(error);
    const size_t first = tables->count, said = tables->messages.length;
    const bool parsed = parse_table_text(tables, sp_arena_string(&tables->arena, name),
                                         sp_arena_copy(&tables->arena, text, length), length, true);
    if (sp_link(tables, first) && parsed) {
        make_list(tables);
        return SP_OK;
    }
    tables->count = first; /* nothing refers to them: what came before is linked already */
    sp_diagnoses_fail(error, SP_ERR_TABLE, SP_KIND_MALFORMED, tables->messages.data + said + (said > 0));
    return SP_ERR_TABLE;
}

enum sp_status sp_tables_add_file(struct sp_tables *tables, const char *path, struct sp_error *error)
{
    sp_error_reset(error);
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
    sp_error_reset(error);
    struct sp_tables *tables = sp_realloc(NULL, 1, sizeof *tables);
    bool good = true;
    *tables = (struct sp_tables){0};
    for (size_t i = 0; i < sp_builtin_file_count; i++) {
        const struct sp_builtin_file *file = &sp_builtin_files[i];
        good = parse_table_text(tables, file->name, file->text, file->length, false) && good;
    }
    if (sp_link(tables, 0) && good) {
        make_list(tables);
        return tables;
    }
    sp_diagnoses_fail(error, SP_ERR_TABLE, SP_KIND_MALFORMED, tables->messages.data);
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
    free(tables->list);
    sp_text_free(&tables->messages);
    sp_symbols_free(&tables->symbols);
    sp_arena_free(&tables->arena);
    free(tables);
}

size_t sp_tables_count(const struct sp_tables *tables) { return tables->list_count; }

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
    if (index >= tables->list_count) return (struct sp_table_info){0};
    const struct sp_unit *unit = tables->list[index];
    return (struct sp_table_info){.name = unit->name,
                                  .title = unit->title,
                                  .file = unit->span.source->name,
                                  .line = sp_span_position(unit->span).line,
                                  .model_types = unit->model_types,
                                  .model_type_count = unit->model_type_count,
                                  .source = unit->span.source->text + unit->begin,
                                  .source_length = end_of(tables, unit) - unit->begin};
}
