/* SPDX-License-Identifier: MIT */
#include "prove/explanation.h"

#include <stdlib.h>

enum { MOST_LINES = 100 }; /* more than a reader follows by hand; a proof may have 4,000 cases */

void sp_explanation_add(struct sp_explanation *explanation, const char *line)
{
    if (explanation->count == MOST_LINES) {
        explanation->omitted++;
        return;
    }
    SP_GROW(explanation->lines, explanation->count, explanation->capacity);
    explanation->lines[explanation->count++] = line;
}

void sp_explanation_clear(struct sp_explanation *explanation)
{
    if (explanation) explanation->count = explanation->omitted = 0;
}

const char *const *sp_explanation_take(struct sp_explanation *explanation, size_t *count)
{
    const size_t cut = explanation->omitted ? 1 : 0;
    const char **lines = sp_arena_array(explanation->arena, explanation->count + cut, sizeof *lines);
    for (size_t i = 0; i < explanation->count; i++) lines[i] = explanation->lines[i];
    if (cut) lines[explanation->count] = sp_arena_printf(explanation->arena, "and %zu more", explanation->omitted);
    *count = explanation->count + cut;
    sp_free(explanation->lines);
    *explanation = (struct sp_explanation){.arena = explanation->arena};
    return lines;
}
