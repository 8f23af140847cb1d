/* SPDX-License-Identifier: MIT
 * Which causes there are, and the explainers that find them: causes.def has them as rows, from which follow the
 * prototypes here, the list that runs, the ids of reports and of expectations, and the table in docs/causes.md.
 * How an explainer makes a cause of findings: gather.h. */
#ifndef SP_EXPLAIN_CAUSES_H
#define SP_EXPLAIN_CAUSES_H

#include "check/check.h"

enum sp_cause_kind {
#define CAUSE(stage, explainer, name, severity, id, meaning) SP_CAUSE_##name,
#define ALSO(stage, explainer)
#include "explain/causes.def"
#undef CAUSE
#undef ALSO
    SP_CAUSE_COUNT
};

/* Explainers run in stages, in this order. Within a stage their order does not matter: no two explainers take the same
 * finding. */
enum sp_stage {
    SP_STAGE_NAMES,       /* differences in names that matching has resolved: a prefix, another naming scheme */
    SP_STAGE_STORAGE,     /* tensors that may rightly be absent, extra or stored twice: ties, buffers, trainer state */
    SP_STAGE_FILES,       /* tensors that are in another file: another shard or rank, the base of an adapter */
    SP_STAGE_TIES,        /* ties that the configuration does not declare, of tensors that are in no other file */
    SP_STAGE_STRUCTURE,   /* tensors in another form: as another tensor, fused, split, copied */
    SP_STAGE_TRIALS,      /* findings that another value of a hyper-parameter removes; the form of the file is known */
    SP_STAGE_ALIGNMENT,   /* tensors that no value explains, but that are there: under another name, of other rows */
    SP_STAGE_UNMATCHED,   /* tensors that are really missing, or really unexpected */
    SP_STAGE_MODELS,      /* all findings that are left: whether the whole file is another model */
    SP_STAGE_CONSISTENCY, /* the tensors of the file compared with each other: dtypes, sizes */
    SP_STAGE_COUNT
};

struct sp_cause_row {
    const char *id;
    enum shapeproof_severity severity; /* the usual one */
    const char *meaning;               /* a line of docs/causes.md */
};
extern const struct sp_cause_row sp_cause_rows[SP_CAUSE_COUNT];

/* A cause of that kind with its id and usual severity; the explainer words it. */
struct shapeproof_cause sp_cause_of(enum sp_cause_kind kind);

/* The explainers. Each makes causes of findings that have none, and adds what it has to say besides. */
#define CAUSE(stage, explainer, name, severity, id, meaning)                                                           \
    void sp_explain_##explainer(struct shapeproof_check *check);
#define ALSO(stage, explainer) void sp_explain_##explainer(struct shapeproof_check *check);
#include "explain/causes.def"
#undef CAUSE
#undef ALSO

#endif
