/* SPDX-License-Identifier: MIT */
#include "explain/own_table.h"

#include "lang/prediction.h"

bool sp_is_own_table(const struct sp_prediction *prediction) { return prediction->table->span.source->own; }

const struct sp_section *sp_own_section(const struct sp_unit *unit, const struct sp_row *row)
{
    for (size_t i = 0; i < unit->section_count; i++) {
        const struct sp_section *section = &unit->sections[i];
        if (row < section->rows || row >= section->rows + section->row_count) continue;
        return section->span.source && section->span.source->own ? section : NULL;
    }
    return NULL;
}

const char *sp_own_heading(struct sp_check *check, const struct sp_section *section)
{
    const struct sp_source_text *source = section->span.source;
    const char *line = source->text + section->span.offset, *end = line + strcspn(line, "#\r\n");
    while (line > source->text && line[-1] != '\n') line--;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t')) end--;
    return sp_arena_printf(&check->arena, "%s:%zu: %.*s", source->name, sp_span_position(section->span).line,
                           (int)(end - line), line);
}
