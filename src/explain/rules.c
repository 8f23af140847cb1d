/* SPDX-License-Identifier: MIT
 * All that a check can report, for programs: read off the lists of findings and of causes. */
#include "explain/causes.h"

static const struct shapeproof_rule rules[] = {
#define FINDING(name, value, id, severity, meaning) {id, SHAPEPROOF_SEVERITY_##severity, meaning},
    SHAPEPROOF_FINDINGS(FINDING)
#undef FINDING
#define CAUSE(stage, explainer, name, severity, id, meaning) {id, SHAPEPROOF_SEVERITY_##severity, meaning},
#define ALSO(stage, explainer)
#include "explain/causes.def"
#undef CAUSE
#undef ALSO
};

size_t shapeproof_rule_count(void) { return sizeof rules / sizeof *rules; }

const struct shapeproof_rule *shapeproof_rule(size_t index) { return &rules[index]; }
