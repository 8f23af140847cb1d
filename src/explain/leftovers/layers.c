/* SPDX-License-Identifier: MIT
 * Whole layers that are missing, then what layers consist of, such as experts. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/gone_layers.h"
#include "explain/leftovers/unrelated.h"

static void describe_gone(struct sp_check *check, const struct sp_gone *gone, struct sp_cause *cause)
{
    const char **names = sp_realloc(NULL, gone->layers->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < gone->layers->count; i++)
        if (sp_is_gone(gone, i)) names[count++] = gone->layers->items[i].name;
    cause->message =
        sp_arena_printf(&check->arena, "%s %s missing altogether (%s)", sp_some_names(&check->arena, names, count),
                        count == 1 ? "is" : "are", sp_tensors_of(check, cause));
    free(names);
}

static bool are_experts(const struct sp_gone *gone)
{
    for (size_t i = 0; i < gone->layers->count; i++)
        if (sp_is_gone(gone, i) && !strstr(gone->layers->items[i].name, "expert")) return false;
    return true;
}

static bool is_of_gone_layer(const struct sp_check *check, const struct sp_finding *finding, const void *gone)
{
    (void)check;
    return sp_is_gone(gone, sp_gone_layer_of(gone, finding));
}

static void explain_level(struct sp_check *check, int level)
{
    struct sp_gone gone = sp_gone_layers(check, level);
    if (!gone.layers) return;
    const bool experts = level == SP_LAYER_PARTS && are_experts(&gone);
    struct sp_cause *cause =
        sp_gather(check, experts ? SP_CAUSE_EXPERTS_MISSING : SP_CAUSE_LAYERS_MISSING, is_of_gone_layer, &gone);
    if (cause) describe_gone(check, &gone, cause);
    sp_gone_free(&gone);
}

void sp_explain_layers(struct sp_check *check)
{
    if (sp_is_unrelated(check)) return; /* then all of them are gone, which is no news */
    for (int level = 0; level < SP_LAYER_LEVELS && sp_check_open(check); level++) explain_level(check, level);
}
