/* SPDX-License-Identifier: MIT */
#include "explain/own_table.h"

#include "lang/prediction.h"

bool sp_is_own_table(const struct shapeproof_prediction *prediction) { return prediction->table->span.source->own; }

static const struct sp_section *section_of_row(const struct sp_unit *unit, const struct sp_row *row)
{
    for (size_t i = 0; i < unit->section_count; i++)
        if (row >= unit->sections[i].rows && row < unit->sections[i].rows + unit->sections[i].row_count)
            return &unit->sections[i];
    return NULL;
}

/* The first row that is the user's, of that of the tensor, that which uses the part it is in, and so on; its frame and
 * its section become those of `env`. NULL when all are built in. */
static const struct sp_row *find_own_row(const struct sp_row_origin *origin, struct sp_env *env)
{
    const struct sp_row *row = origin->row;
    for (const struct sp_frame *frame = origin->frame; frame && row; row = frame->used_by, frame = frame->caller) {
        if (!frame->unit->span.source->own) continue;
        *env = (struct sp_env){.frame = frame, .section = section_of_row(frame->unit, row)};
        return row;
    }
    return NULL;
}

struct sp_env sp_own_section(const struct sp_row_origin *origin)
{
    struct sp_env env = {0};
    find_own_row(origin, &env);
    if (env.section && !env.section->span.source) env.section = NULL; /* the rows before the first heading */
    return env;
}

const struct sp_row *sp_own_row(const struct sp_row_origin *origin)
{
    struct sp_env env;
    return find_own_row(origin, &env);
}

const char *sp_own_heading(struct shapeproof_check *check, const struct sp_section *section)
{
    const struct sp_source_text *source = section->span.source;
    const char *line = source->text + section->span.offset, *end = line + strcspn(line, "#\r\n");
    while (line > source->text && line[-1] != '\n') line--;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t')) end--;
    return sp_arena_printf(&check->arena, "%s:%zu: %.*s", source->name, sp_span_line(section->span), (int)(end - line),
                           line);
}
