/* SPDX-License-Identifier: MIT */
#include "names/prefixes.h"

#include <string.h>

#include "names/components.h"
#include "names/patterns.h"

static void note_prefix(struct sp_prefixes *prefixes, const char *name, size_t length)
{
    for (size_t i = 0; i < prefixes->count; i++)
        if (sp_is_component(name, length, prefixes->list[i])) {
            prefixes->seen[i]++;
            return;
        }
    prefixes->seen[prefixes->count] = 1;
    prefixes->list[prefixes->count++] = sp_arena_copy(prefixes->arena, name, length);
}

void sp_prefixes_offer(struct sp_prefixes *prefixes, const char *name)
{
    size_t components = 0;
    if (prefixes->names == SP_PREFIX_NAMES) return;
    prefixes->names++;
    for (size_t i = 0; name[i] && name[i] != SP_INDEX_MARK && components < SP_PREFIX_COMPONENTS; i++)
        if (name[i] == '.' || name[i] == ':') { /* MXNet writes "arg:" in front */
            note_prefix(prefixes, name, i + 1);
            components++;
        }
}

void sp_prefixes_keep_common(struct sp_prefixes *prefixes)
{
    size_t kept = 0;
    for (size_t i = 0; i < prefixes->count; i++)
        if (prefixes->seen[i] * 8 >= prefixes->names) prefixes->list[kept++] = prefixes->list[i];
    prefixes->count = kept;
}

void sp_prefixes_join(struct sp_prefixes *prefixes, const struct sp_prefixes *more)
{
    for (size_t i = 0; i < more->count && prefixes->count < SP_MAX_PREFIXES; i++)
        note_prefix(prefixes, more->list[i], strlen(more->list[i]));
}

const char *sp_gguf_part(const char *name)
{
    static const struct {
        const char *front, *part;
    } parts[] = {{"v.", "a vision tower"}, {"a.", "an encoder of sounds"}, {"mm.", "a projector"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(name, parts[i].front, strlen(parts[i].front)) == 0) return parts[i].part;
    return NULL;
}
