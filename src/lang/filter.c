/* SPDX-License-Identifier: MIT
 * Which tables somebody wants to see. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <string.h>

#include "base/call.h"
#include "lang/tables.h"

static bool text_fits(const char *text, const char *wanted)
{
    if (wanted[strcspn(wanted, "*?[")]) return fnmatch(wanted, text, FNM_CASEFOLD) == 0;
    return strcasestr(text, wanted) != NULL;
}

static bool any_fits(const struct shapeproof_table_info *info, const char *kind, const char *wanted)
{
    for (size_t i = 0; i < info->model_type_count; i++)
        if (text_fits(info->model_types[i], wanted)) return true;
    return text_fits(info->name, wanted) || text_fits(kind, wanted);
}

/* Whether the table has the measure of this name. */
static bool has_measure(const struct shapeproof_tables *tables, const char *table, const char *name)
{
    const struct sp_unit *unit = sp_tables_unit(tables, table);
    const struct sp_measure_word *word = sp_measure_words;
    while (word->name && strcmp(word->name, name) != 0) word++;
    return unit && word->name && (unit->measures & word->measure);
}

bool shapeproof_tables_fits(const struct shapeproof_tables *tables, size_t index,
                            const struct shapeproof_tables_filter *filter)
{
    SP_CALL(NULL, false);
    SP_SPENDS("reading the tables");
    const struct shapeproof_table_info info = *shapeproof_tables_info(tables, index);
    const char *kind = shapeproof_tables_kind(tables, index);
    if (!info.name) return false;
    if (!filter) return true;
    if (filter->kind && strcmp(filter->kind, kind) != 0) return false;
    if (filter->text && !any_fits(&info, kind, filter->text)) return false;
    return !filter->measure || has_measure(tables, info.name, filter->measure);
}
