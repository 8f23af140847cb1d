/* SPDX-License-Identifier: MIT
 * A head with another number of labels than id2label lists. That is an object, and no number of it can be changed:
 * num_labels, which tables read where there is no list, stands for its length. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "explain/trials/proposals.h"
#include "lang/prediction.h"

/* The list that the first dimension is the length of, "text_config.id2label"; NULL when it is of none. */
static const char *find_label_list(const struct shapeproof_check *check, struct sp_arena *arena, size_t predicted)
{
    char *words = shapeproof_prediction_dimension(check->prediction, predicted, 0);
    const char *begin = strstr(words, "len("), *end = begin ? strchr(begin, ')') : NULL;
    const char *path = end ? sp_arena_copy(arena, begin + 4, (size_t)(end - begin - 4)) : "";
    sp_free(words);
    return sp_ends_with(path, "id2label") ? path : NULL;
}

/* One label more is one more in the dimension: it is their number, or that and a constant. */
static void propose_label_count(struct sp_proposals *proposals, const char *path, int64_t more)
{
    const struct sp_hyper *hyper = sp_config_hyper(proposals->check->config);
    const struct shapeproof_value labels = sp_value_at(hyper->root, path);
    const int front = (int)(strlen(path) - strlen("id2label")), count = (int)labels.count;
    if (labels.type != SHAPEPROOF_VALUE_OBJECT || !count || count + more < 1) return;
    sp_propose_change(proposals, (struct sp_change){
                                     .key = sp_arena_printf(&proposals->check->arena, "%.*snum_labels", front, path),
                                     .value = sp_value_int(count + more),
                                     .configured = sp_value_int(count),
                                     .from = sp_hyper_provenance(hyper, path),
                                     .instead_of = path,
                                 });
}

void sp_propose_labels(struct sp_proposals *proposals)
{
    const struct shapeproof_check *check = proposals->check;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE)) continue;
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
        const struct shapeproof_predicted *expected =
            shapeproof_prediction_tensor(check->prediction, finding->predicted);
        if (!expected->rank || tensor->rank != expected->rank || tensor->shape[0] == expected->shape[0]) continue;
        const char *path = find_label_list(check, &proposals->check->arena, finding->predicted);
        if (path && tensor->shape[0] < INT32_MAX && expected->shape[0] < INT32_MAX)
            propose_label_count(proposals, path, (int64_t)tensor->shape[0] - (int64_t)expected->shape[0]);
    }
}
