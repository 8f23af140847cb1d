/* SPDX-License-Identifier: MIT */
#include "explain/causes.h"

const struct sp_cause_row sp_cause_rows[SP_CAUSE_COUNT] = {
#define CAUSE(stage, explainer, name, severity, id, meaning) {id, SHAPEPROOF_SEVERITY_##severity, meaning},
#define ALSO(stage, explainer)
#include "explain/causes.def"
#undef CAUSE
#undef ALSO
};

struct shapeproof_cause sp_cause_of(enum sp_cause_kind kind)
{
    return (struct shapeproof_cause){.id = sp_cause_rows[kind].id, .severity = sp_cause_rows[kind].severity};
}
