/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "lang/tables.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/suggest.h"
#include "lang/syntax/parser.h"

enum { MAX_TABLE_FILE = 1 << 20 };

/* What of the set changes is restored when the call fails. The text of messages ends with a NUL. */
static void keep_tables(struct shapeproof_tables *tables)
{
    sp_keep(tables, tables, sizeof *tables);
    if (tables->messages.data) sp_keep(tables->messages.data, tables->messages.data + tables->messages.length, 1);
    if (tables->remarks.data) sp_keep(tables->remarks.data, tables->remarks.data + tables->remarks.length, 1);
}

/* ---- built-in units ---- */

struct sp_unit *sp_tables_parse_builtin(struct shapeproof_tables *tables, size_t index)
{
    const struct sp_builtin_unit *unit = &sp_builtin_units[index];
    if (tables->parsed[index]) return tables->parsed[index];
    keep_tables(tables);
    sp_keep(tables, &tables->parsed[index], sizeof *tables->parsed);
    struct sp_unit *parsed = sp_parse_unit(&tables->sources[unit->file], unit->begin, unit->end, &tables->arena,
                                           &tables->symbols, &tables->messages);
    if (parsed) *SP_PUSH(&tables->builtin) = tables->parsed[index] = parsed;
    return parsed;
}

/* Drops the `const` of a set to keep what is made on demand: parsed units and lists. Nobody who looks at the set can
 * tell whether that was done already. */
static struct shapeproof_tables *behind_the_scenes(const struct shapeproof_tables *tables)
{
    return (struct shapeproof_tables *)tables;
}

/* Forgets that a built-in unit was parsed, after a mistake: whoever asks for it next gets the message again. */
static void forget_builtin(struct shapeproof_tables *tables, const struct sp_unit *unit)
{
    for (size_t i = 0; i < sp_builtin_unit_count; i++)
        if (tables->parsed[i] == unit) tables->parsed[i] = NULL;
}

static const struct sp_unit *builtin_unit(const struct shapeproof_tables *constant, size_t index)
{
    struct shapeproof_tables *tables = behind_the_scenes(constant);
    const size_t first = tables->builtin.count;
    if (tables->parsed[index]) return tables->parsed[index];
    if (sp_tables_parse_builtin(tables, index) && sp_link(tables, &tables->builtin, first))
        return tables->parsed[index];
    while (tables->builtin.count > first) forget_builtin(tables, tables->builtin.items[--tables->builtin.count]);
    return NULL;
}

/* ---- places ---- */

size_t sp_tables_place_count(const struct shapeproof_tables *tables)
{
    return sp_builtin_unit_count + tables->own.count;
}

/* What is known of a built-in unit without parsing it; `words` begins with its name and its title. */
static struct sp_entry builtin_entry(const struct shapeproof_tables *tables, size_t index)
{
    const struct sp_builtin_unit *unit = &sp_builtin_units[index];
    const char *const *words = tables->words + unit->words;
    return (struct sp_entry){.name = words[0],
                             .title = words[1],
                             .about = unit->is_claims ? words[0] + strlen("claims for ") : NULL,
                             .model_types = words + 2,
                             .model_type_count = unit->model_types,
                             .architectures = words + 2 + unit->model_types,
                             .architecture_count = unit->architectures,
                             .is_table = unit->is_table,
                             .has_claims = unit->has_claims,
                             .file = tables->sources[unit->file].name};
}

struct sp_entry sp_tables_entry(const struct shapeproof_tables *tables, size_t place)
{
    if (place < sp_builtin_unit_count) return builtin_entry(tables, place);
    const struct sp_unit *unit = tables->own.items[place - sp_builtin_unit_count];
    return (struct sp_entry){.name = unit->name,
                             .title = unit->title,
                             .about = unit->about,
                             .model_types = unit->model_types,
                             .model_type_count = unit->model_type_count,
                             .architectures = unit->architectures,
                             .architecture_count = unit->architecture_count,
                             .is_table = unit->is_table,
                             .has_claims = unit->claim_count > 0,
                             .file = unit->span.source->name};
}

const struct sp_unit *sp_tables_at(const struct shapeproof_tables *tables, size_t place)
{
    if (place < sp_builtin_unit_count) return builtin_unit(tables, place);
    return tables->own.items[place - sp_builtin_unit_count];
}

size_t sp_tables_place(const struct shapeproof_tables *tables, const char *name)
{
    const char *symbol = sp_symbol_find(&tables->symbols, name);
    for (size_t i = tables->own.count; symbol && i-- > 0;)
        if (tables->own.items[i]->name == symbol) return sp_builtin_unit_count + i;
    return sp_map_get(&tables->names, name);
}

size_t sp_tables_place_of(const struct shapeproof_tables *tables, const struct sp_unit *unit)
{
    const size_t builtin = sp_map_get(&tables->names, unit->name);
    if (builtin != SIZE_MAX && tables->parsed[builtin] == unit) return builtin;
    for (size_t i = tables->own.count; i-- > 0;)
        if (tables->own.items[i] == unit) return sp_builtin_unit_count + i;
    return SIZE_MAX;
}

void sp_tables_keep_classes(const struct shapeproof_tables *constant, const struct sp_unit *constant_unit,
                            const char *const *classes, size_t count)
{
    struct shapeproof_tables *tables = behind_the_scenes(constant);
    struct sp_unit *unit = (struct sp_unit *)constant_unit;
    sp_keep(tables, unit, sizeof *unit);
    unit->classes = sp_arena_array(&tables->arena, count, sizeof *unit->classes);
    unit->class_count = count;
    for (size_t i = 0; i < count; i++) unit->classes[i] = sp_arena_string(&tables->arena, classes[i]);
}

const struct sp_unit *sp_tables_unit(const struct shapeproof_tables *tables, const char *name)
{
    const size_t place = sp_tables_place(tables, name);
    return place == SIZE_MAX ? NULL : sp_tables_at(tables, place);
}

struct listed_table {
    const char *name;
    size_t place;
};

static int table_by_name(const void *a, const void *b)
{
    return strcmp(((const struct listed_table *)a)->name, ((const struct listed_table *)b)->name);
}

/* Makes `list`: the places of the tables that no later one of the same name hides, by name. */
static void make_list(struct shapeproof_tables *tables)
{
    const size_t places = sp_tables_place_count(tables);
    keep_tables(tables);
    struct listed_table *listed = sp_realloc(NULL, places + 1, sizeof *listed);
    size_t count = 0;
    for (size_t i = 0; i < places; i++) {
        const struct sp_entry entry = sp_tables_entry(tables, i);
        if (entry.is_table && sp_tables_place(tables, entry.name) == i)
            listed[count++] = (struct listed_table){entry.name, i};
    }
    qsort(listed, count, sizeof *listed, table_by_name);
    tables->list = sp_realloc(NULL, count + 1, sizeof *tables->list);
    for (size_t i = 0; i < count; i++) tables->list[i] = listed[i].place;
    tables->list_count = count;
    tables->infos = sp_realloc(NULL, count + 1, sizeof *tables->infos);
    for (size_t i = 0; i < count; i++) tables->infos[i] = NULL;
    sp_free(listed);
}

/* "resnet50.a1_in1k" is the architecture "resnet50": the tag says where its weights are from. A whole name, such as
 * "sentence_transformers.Dense", is one as well. */
static bool is_architecture(const char *class, const struct sp_entry *entry)
{
    const size_t length = strcspn(class, ".");
    if (sp_is_among(class, entry->architectures, entry->architecture_count)) return true;
    for (size_t i = 0; i < entry->architecture_count; i++)
        if (strncmp(class, entry->architectures[i], length) == 0 && !entry->architectures[i][length]) return true;
    return false;
}

size_t sp_tables_of_class(const struct shapeproof_tables *tables, const char *class)
{
    for (size_t i = 0; i < sp_tables_place_count(tables) && *class; i++) {
        const struct sp_entry entry = sp_tables_entry(tables, i);
        if (!entry.is_table || entry.model_type_count) continue;
        if (is_architecture(class, &entry) && sp_tables_place(tables, entry.name) == i) return i;
    }
    return SIZE_MAX;
}

const size_t *sp_tables_list(const struct shapeproof_tables *tables, size_t *count)
{
    if (!tables->list) make_list(behind_the_scenes(tables));
    *count = tables->list_count;
    return tables->list;
}

/* ---- tables ---- */

/* The name of a table that is most like this one, or NULL. */
static const char *table_like(const struct shapeproof_tables *tables, const char *name)
{
    size_t count;
    const size_t *list = sp_tables_list(tables, &count);
    const char **names = sp_realloc(NULL, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = sp_tables_entry(tables, list[i]).name;
    const char *likely = sp_suggest_name(name, names, count);
    sp_free(names);
    return likely;
}

const struct sp_unit *sp_tables_table(const struct shapeproof_tables *tables, const char *name,
                                      struct shapeproof_error *error)
{
    const size_t place = sp_tables_place(tables, name);
    if (place != SIZE_MAX && sp_tables_entry(tables, place).is_table) {
        const struct sp_unit *unit = sp_tables_at(tables, place);
        if (!unit) sp_diagnoses_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, tables->messages.data);
        return unit;
    }
    const char *likely = table_like(tables, name);
    sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "there is no table '%s'", name);
    if (sp_ends_with(name, ".json") || sp_ends_with(name, ".shapes") || strchr(name, '/'))
        sp_hint(error, "a configuration is given with --config, a table file with --table");
    else if (likely) sp_hint(error, "did you mean '%s'?", likely);
    else sp_hint(error, "'shapeproof tables' lists them");
    return NULL;
}

void sp_tables_reuse(const struct shapeproof_tables *tables) { sp_budget_reuse(tables, "", tables->input); }

/* ---- the user's files ---- */

enum shapeproof_status sp_tables_add_source(struct shapeproof_tables *tables, struct sp_source_text given,
                                            struct shapeproof_error *error)
{
    const size_t first = tables->own.count, earlier = tables->messages.length, remarks = tables->remarks.length;
    keep_tables(tables);
    struct sp_source_text *source = sp_arena_alloc(&tables->arena, sizeof *source);
    *source = given;
    tables->input = sp_add_saturated(tables->input, given.length);
    source->name = sp_arena_string(&tables->arena, given.name);
    source->text = sp_arena_copy(&tables->arena, given.text, given.length);
    sp_source_count_lines(source, &tables->arena);
    if (given.origin_count)
        source->origins = memcpy(sp_arena_alloc(&tables->arena, given.origin_count * sizeof *given.origins),
                                 given.origins, given.origin_count * sizeof *given.origins);
    const bool parsed = sp_parse(source, &tables->arena, &tables->symbols, &tables->own.items, &tables->own.count,
                                 &tables->own.capacity, &tables->messages);
    source->has_mistakes = !parsed;
    sp_free(tables->list); /* it is made again when somebody asks for it */
    sp_free(tables->infos);
    tables->list = NULL;
    tables->infos = NULL;
    if (sp_link(tables, &tables->own, first) && parsed) return SHAPEPROOF_OK;
    tables->own.count = first; /* a file with a mistake adds nothing; nothing refers to its units, linked earlier */
    tables->remarks.length = remarks;
    if (tables->remarks.data) tables->remarks.data[remarks] = '\0';
    const char *messages = tables->messages.data + earlier + (earlier > 0); /* without the line break between them */
    sp_diagnoses_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, messages);
    if (sp_diagnoses_count(messages) >= SP_MAX_MESSAGES)
        sp_text_puts(&tables->messages, "\nthere may be more mistakes");
    return SHAPEPROOF_ERR_TABLE;
}

enum shapeproof_status shapeproof_tables_add_text(struct shapeproof_tables *tables, const char *name, const char *text,
                                                  size_t length, struct shapeproof_error *error)
{
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("reading the tables");
    sp_error_reset(error);
    sp_budget_given(length);
    return sp_tables_add_source(
        tables, (struct sp_source_text){.name = name, .text = text, .length = length, .own = true}, error);
}

enum shapeproof_status shapeproof_tables_add_file(struct shapeproof_tables *tables, const char *path,
                                                  struct shapeproof_error *error)
{
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("reading the tables");
    sp_error_reset(error);
    struct sp_file file;
    if (!sp_file_open(&file, AT_FDCWD, path, error)) {
        sp_error_prefix(error, path);
        return error->status;
    }
    char *text = sp_file_slurp(&file, MAX_TABLE_FILE, error);
    enum shapeproof_status status = error->status;
    if (text)
        status = sp_tables_add_source(
            tables, (struct sp_source_text){.name = path, .text = text, .length = (size_t)file.size, .own = true},
            error);
    else sp_error_prefix(error, path);
    sp_free(text);
    sp_file_close(&file);
    return status;
}

struct shapeproof_tables *shapeproof_tables_new(struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("reading the tables");
    sp_error_reset(error);
    struct shapeproof_tables *tables = sp_realloc(NULL, 1, sizeof *tables);
    *tables = (struct shapeproof_tables){0};
    tables->parsed = sp_arena_array(&tables->arena, sp_builtin_unit_count, sizeof(struct sp_unit *));
    tables->sources = sp_arena_array(&tables->arena, sp_builtin_file_count, sizeof *tables->sources);
    for (size_t i = 0; i < sp_builtin_file_count; i++) {
        const struct sp_builtin_file *file = &sp_builtin_files[i];
        tables->sources[i] = (struct sp_source_text){
            .name = sp_builtin_word(file->words), .text = sp_builtin_text + file->text, .length = file->length};
    }
    tables->words = sp_arena_array(&tables->arena, sp_builtin_word_count, sizeof *tables->words);
    for (size_t i = 0; i < sp_builtin_word_count; i++) tables->words[i] = sp_builtin_word(i);
    sp_map_reserve(&tables->names, sp_builtin_unit_count);
    for (size_t i = 0; i < sp_builtin_unit_count; i++)
        if (!sp_builtin_units[i].is_claims) sp_map_add(&tables->names, sp_builtin_word(sp_builtin_units[i].words), i);
    return tables;
}

const char *shapeproof_tables_messages(const struct shapeproof_tables *tables)
{
    return tables->messages.data ? tables->messages.data : "";
}

const char *shapeproof_tables_remarks(const struct shapeproof_tables *tables)
{
    return tables->remarks.data ? tables->remarks.data : "";
}

void shapeproof_tables_free(struct shapeproof_tables *tables)
{
    if (!tables) return;
    sp_free(tables->own.items);
    sp_free(tables->builtin.items);
    sp_free(tables->list);
    sp_free(tables->infos);
    sp_map_free(&tables->names);
    sp_text_free(&tables->messages);
    sp_text_free(&tables->remarks);
    sp_symbols_free(&tables->symbols);
    sp_arena_free(&tables->arena);
    sp_free(tables);
}

/* ---- what a caller sees of them ---- */

size_t shapeproof_tables_count(const struct shapeproof_tables *tables)
{
    SP_CALL(NULL, 0);
    SP_SPENDS("reading the tables");
    size_t count;
    sp_tables_list(tables, &count);
    return count;
}

/* Where the text of a unit ends: at the comment of the next one, or with the file. */
static size_t end_of(const struct shapeproof_tables *tables, const struct sp_unit *unit)
{
    size_t end = unit->span.source->length;
    for (size_t i = 0; i < tables->own.count; i++) {
        const struct sp_unit *other = tables->own.items[i];
        if (other->span.source == unit->span.source && other->begin > unit->begin && other->begin < end)
            end = other->begin;
    }
    return end;
}

/* What the public header tells of a table: its name, title, model types, file, line and source. All of it is known of a
 * built-in table without parsing it. */
static struct shapeproof_table_info info_of_place(const struct shapeproof_tables *tables, size_t place)
{
    const struct sp_entry entry = sp_tables_entry(tables, place);
    struct shapeproof_table_info info = {.name = entry.name,
                                         .title = entry.title,
                                         .model_types = entry.model_types,
                                         .model_type_count = entry.model_type_count};
    if (place < sp_builtin_unit_count) {
        const struct sp_builtin_unit *unit = &sp_builtin_units[place];
        const struct sp_source_text *source = &tables->sources[unit->file];
        info.file = source->name;
        info.line = unit->line;
        info.source = source->text + unit->begin;
        info.source_length = unit->end - unit->begin;
    } else {
        const struct sp_unit *unit = sp_tables_at(tables, place);
        info.file = unit->span.source->name;
        info.line = sp_span_line(unit->span);
        info.source = unit->span.source->text + unit->begin;
        info.source_length = end_of(tables, unit) - unit->begin;
    }
    return info;
}

bool shapeproof_tables_next_part(const struct shapeproof_tables *constant, size_t *position,
                                 struct shapeproof_table_info *part)
{
    SP_CALL(NULL, false);
    SP_SPENDS("reading the tables");
    struct shapeproof_tables *tables = behind_the_scenes(constant);
    while (*position < sp_tables_place_count(tables)) {
        const size_t place = (*position)++;
        const struct sp_entry entry = sp_tables_entry(tables, place);
        if (entry.is_table || entry.about || sp_tables_place(tables, entry.name) != place) continue;
        *part = info_of_place(tables, place);
        return true;
    }
    return false;
}

const struct shapeproof_table_info *shapeproof_tables_info(const struct shapeproof_tables *constant, size_t index)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("reading the tables");
    struct shapeproof_tables *tables = behind_the_scenes(constant);
    size_t count;
    const size_t *list = sp_tables_list(tables, &count);
    if (index >= count) return NULL;
    if (!tables->infos[index]) {
        sp_keep(tables->infos, &tables->infos[index], sizeof *tables->infos);
        struct shapeproof_table_info *info = sp_arena_alloc(&tables->arena, sizeof *info);
        *info = info_of_place(tables, list[index]);
        tables->infos[index] = info;
    }
    return tables->infos[index];
}

const char *shapeproof_tables_kind(const struct shapeproof_tables *tables, size_t index)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("reading the tables");
    size_t count;
    const size_t *list = sp_tables_list(tables, &count);
    if (index >= count) return "";
    if (list[index] >= sp_builtin_unit_count) return "own";
    return sp_builtin_word(sp_builtin_files[sp_builtin_units[list[index]].file].words + 1);
}
