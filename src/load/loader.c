/* SPDX-License-Identifier: MIT */
#include "load/loader.h"

#include <string.h>

#include "base/chars.h"
#include "load/renaming.h"

const char *sp_loader_rules(const struct sp_loader *loader, const char *identifier, size_t length)
{
    for (const char *row = NULL; (row = sp_row(loader->rows, row));)
        if (*row == '=' && strncmp(row + 1, identifier, length) == 0 && !row[1 + length]) return row + length + 2;
    return NULL;
}

bool sp_next_rule(const char **rules, struct sp_rule *rule)
{
    if (!*rules || **rules == '\n') return false;
    rule->from = sp_row_text(rules);
    rule->to = sp_row_text(rules);
    rule->how = sp_row_text(rules);
    return true;
}

/* Of the row: the order is that of LOADED_BY. */
static struct sp_loaded loaded_of(const char *row)
{
    struct sp_loaded loaded = {.model_type = NULL};
    const char **const fields[] = {&loaded.model_type,     &loaded.class,   &loaded.base,     &loaded.ties,
                                   &loaded.spared,         &loaded.ignored, &loaded.mappings, &loaded.computed,
                                   &loaded.all_or_nothing, &loaded.unread,  &loaded.needed,   &loaded.defaults};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) *fields[i] = sp_row_text(&row);
    return loaded;
}

bool sp_loader_next_class(const struct sp_loader *loader, const char **row, struct sp_loaded *loaded)
{
    while ((*row = sp_row(loader->rows, *row)) && **row == '=') continue;
    if (*row) *loaded = loaded_of(*row);
    return *row;
}

struct sp_loaded sp_loader_class(const struct sp_loader *loader, const char *model_type, const char *class)
{
    if (loader->ending && !sp_ends_with(class, loader->ending)) return (struct sp_loaded){0};
    for (const char *row = NULL; (row = sp_row(loader->rows, row));) {
        const char *name = row;
        if (strcmp(sp_row_text(&name), model_type) != 0) continue;
        if (!*name || strcmp(name, class) == 0) return loaded_of(row);
    }
    return (struct sp_loaded){0};
}

bool sp_loader_next_multiple(const char **words, struct sp_multiple *multiple)
{
    const char *word;
    for (size_t size; *words && (size = sp_word(words, &word));) {
        const char *sign = memchr(word, '%', size);
        if (!sign) continue;
        *multiple = (struct sp_multiple){word, (size_t)(sign - word), sign + 1, (size_t)(word + size - sign - 1)};
        return true;
    }
    return false;
}

const char *sp_loader_multiple_of(const struct sp_loaded *loaded, const char *key, size_t *length)
{
    const char *words = loaded->needed;
    const size_t wanted = strlen(key);
    for (struct sp_multiple found; sp_loader_next_multiple(&words, &found);) {
        if (found.divisor_length != wanted || memcmp(found.divisor, key, wanted) != 0) continue;
        *length = found.length;
        return found.key;
    }
    return NULL;
}
