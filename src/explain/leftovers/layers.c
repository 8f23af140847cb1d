/* SPDX-License-Identifier: MIT
 * Whole layers that are missing, then what layers consist of, such as experts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/gone_layers.h"
#include "explain/leftovers/unrelated.h"
#include "names/components.h"

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

/* Into how many ranks the experts were divided: in every layer the same ones in a row are there, one part of several
 * equal ones. 0 when it does not look so. */
static uint64_t expert_ranks(const struct sp_gone *gone)
{
    enum { MOST = 1024 };
    size_t all[MOST] = {0}, lost[MOST] = {0};
    uint64_t index, experts = 0, kept = 0, first = MOST, last = 0;
    for (size_t i = 0; i < gone->layers->count; i++) {
        const struct sp_layer *layer = &gone->layers->items[i];
        const size_t at = sp_last_component(layer->name, layer->length, ".");
        if (!strstr(layer->name, "expert") || !sp_index_at(layer->name, at, &index) || index >= MOST) continue;
        all[index]++;
        lost[index] += sp_is_gone(gone, i);
        if (index >= experts) experts = index + 1;
    }
    for (index = 0; index < experts; index++) {
        if (lost[index] && lost[index] != all[index]) return 0;
        if (lost[index]) continue;
        if (first == MOST) first = index;
        last = index;
        kept++;
    }
    return kept > 1 && last + 1 - first == kept && experts % kept == 0 && first % kept == 0 ? experts / kept : 0;
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
    const uint64_t ranks = cause && experts ? expert_ranks(&gone) : 0;
    if (ranks)
        cause->hint = sp_arena_printf(&check->arena,
                                      "the others are what one of %" PRIu64 " ranks of expert parallelism has: gather "
                                      "the ranks into one checkpoint",
                                      ranks);
    sp_gone_free(&gone);
}

void sp_explain_layers(struct sp_check *check)
{
    if (sp_is_unrelated(check)) return; /* then all of them are gone, which is no news */
    for (int level = 0; level < SP_LAYER_LEVELS && sp_check_open(check); level++) explain_level(check, level);
}
