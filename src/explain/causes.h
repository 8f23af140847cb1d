/* SPDX-License-Identifier: MIT
 * Which causes there are, and the explainers that find them: causes.def has them as rows, from which follow the
 * prototypes here, the list that runs, the ids of reports and of expectations, and the table in docs/exit-status.md.
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

/* Explainers run in stages; within one their order does not matter. */
enum sp_stage {
    SP_STAGE_NAMES,     /* what the match has looked past, said once; takes no finding that a later stage could want */
    SP_STAGE_STORAGE,   /* how and where the file keeps what it has: ties, buffers, shards, ranks, adapters */
    SP_STAGE_STRUCTURE, /* what is in another form there: joined, divided, twice */
    SP_STAGE_TRIALS,    /* other values of hyper-parameters, for what is still open: it cannot be told by its look */
    SP_STAGE_LEFTOVERS, /* what no value explains: renamed, gone as a whole, transposed */
    SP_STAGE_MEASURES,  /* the file as its own measure, once it is known what its tensors are: dtypes, sizes */
    SP_STAGE_COUNT
};

struct sp_cause_row {
    const char *id;
    enum sp_severity severity; /* the usual one */
    const char *meaning;       /* a line of docs/exit-status.md */
};
extern const struct sp_cause_row sp_cause_rows[SP_CAUSE_COUNT];

/* A cause of that kind with its id and usual severity; the explainer words it. */
struct sp_cause sp_cause_of(enum sp_cause_kind kind);

/* The explainers. Each makes causes of findings that have none, and adds what it has to say besides. */
#define CAUSE(stage, explainer, name, severity, id, meaning) void sp_explain_##explainer(struct sp_check *check);
#define ALSO(stage, explainer) void sp_explain_##explainer(struct sp_check *check);
#include "explain/causes.def"
#undef CAUSE
#undef ALSO

#endif
