/* SPDX-License-Identifier: MIT
 * Read off the one list of each kind. causes.def is data of a module above; nothing but its ids is taken. */
#include "expect/ids.h"

#include <string.h>

#include "base/suggest.h"
#include "shapeproof/check.h"
#include "shapeproof/diff.h"
#include "shapeproof/error.h"

static const char *const ids[] = {
#define ID(name, value, id, severity, meaning) id,
    SHAPEPROOF_FINDINGS(ID) SHAPEPROOF_DIFF_FINDINGS(ID)
#undef ID
#define CAUSE(stage, explainer, name, severity, id, meaning) id,
#define ALSO(stage, explainer)
#include "explain/causes.def"
#undef CAUSE
#undef ALSO
};

enum { IDS = sizeof ids / sizeof *ids };

bool sp_is_expectable(const char *id)
{
    for (size_t i = 0; i < IDS; i++)
        if (strcmp(ids[i], id) == 0) return true;
    return false;
}

const char *sp_nearest_expectable(const char *id) { return sp_suggest(id, ids, IDS); }
