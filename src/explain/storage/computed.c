/* SPDX-License-Identifier: MIT
 * Buffers that every loader can compute, and that come and go with the version that wrote the file. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/renaming.h"
#include "match/present_modules.h"
#include "model/computed.h"

static bool is_stray(const struct shapeproof_check *check, const struct shapeproof_finding *finding)
{
    if (finding->kind != SHAPEPROOF_FINDING_UNEXPECTED) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    return !(tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) &&
           sp_is_computed(finding->name, tensor->shape, tensor->rank, tensor->dtype);
}

/* What an older version did not store yet. */
static bool is_absent_buffer(const struct shapeproof_check *check, const struct shapeproof_finding *finding)
{
    if (finding->kind != SHAPEPROOF_FINDING_MISSING) return false;
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    return tensor->buffer && sp_is_computed(tensor->name, tensor->shape, tensor->rank, tensor->dtype);
}

/* Of a module that is not there at all, or that nobody expects, the buffers are no matter of their own; nor is one that
 * is there under another name. */
static void find_excused(struct shapeproof_check *check, bool *excused)
{
    struct sp_present_modules present = {0};
    for (size_t i = 0; i < check->finding_count; i++)
        if (excused[i]) sp_present_modules_add(&present, check->findings[i].name);
    sp_present_modules_read(&present, &check->match);
    size_t *renamed = sp_pair_renamed(check, NULL);
    for (size_t i = 0; i < check->finding_count; i++)
        excused[i] =
            excused[i] && renamed[i] == SHAPEPROOF_NONE && sp_module_is_present(&present, check->findings[i].name);
    sp_free(renamed);
    sp_present_modules_free(&present);
}

struct wanted {
    const bool *excused;
    enum shapeproof_finding_kind kind;
};

static bool is_excused_as(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                          const void *context)
{
    const struct wanted *wanted = context;
    return finding->kind == wanted->kind && sp_is_marked(check, finding, wanted->excused);
}

static void excuse(struct shapeproof_check *check, enum sp_cause_kind kind, enum shapeproof_finding_kind of,
                   const char *says, const bool *excused)
{
    struct shapeproof_cause *cause = sp_gather(check, kind, is_excused_as, &(struct wanted){excused, of});
    if (cause) sp_cause_set_message(check, cause, says);
}

void sp_explain_computed(struct shapeproof_check *check)
{
    bool *excused = sp_realloc(NULL, check->finding_count, sizeof *excused), any = false;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        excused[i] = sp_finding_is_open(finding) && (is_stray(check, finding) || is_absent_buffer(check, finding));
        any = any || excused[i];
    }
    if (any) {
        find_excused(check, excused);
        excuse(check, SP_CAUSE_STRAY_BUFFERS, SHAPEPROOF_FINDING_UNEXPECTED,
               "the file also has buffers that loaders compute anew", excused);
        excuse(check, SP_CAUSE_ABSENT_BUFFERS, SHAPEPROOF_FINDING_MISSING,
               "the file lacks buffers that loaders compute anew", excused);
    }
    sp_free(excused);
}
