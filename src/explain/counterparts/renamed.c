/* SPDX-License-Identifier: MIT
 * Tensors that are missing under one name and there under another. */
#include <stdlib.h>

#include "explain/gather.h"
#include "explain/renaming.h"

static bool has_other_name(const struct sp_check *check, const struct sp_finding *finding, const void *others)
{
    return ((const size_t *)others)[finding - check->findings] != SP_NONE;
}

void sp_explain_renamed(struct sp_check *check)
{
    const char *says;
    size_t *others = sp_pair_renamed(check, &says);
    struct sp_cause *cause = sp_gather(check, SP_CAUSE_RENAMED, has_other_name, others);
    if (cause) cause->message = says;
    free(others);
}
