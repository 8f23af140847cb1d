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

/* Explainers run in stages. Within one their order does not matter: none takes what another one would, or says so by a
 * condition of its own. */
enum sp_stage {
    SP_STAGE_NAMES,       /* what the match has looked past in names, said once */
    SP_STAGE_STORAGE,     /* what is as it may be: ties, buffers, the state of a trainer. No later stage wants it */
    SP_STAGE_FILES,       /* what is elsewhere: in other shards or ranks, in the base of an adapter */
    SP_STAGE_TIES,        /* what is tied though it is not said to be, of what no other file would have */
    SP_STAGE_STRUCTURE,   /* what is in another form there: as another tensor, joined, divided, twice */
    SP_STAGE_TRIALS,      /* what another value of a hyper-parameter explains; how a file looks is known by now */
    SP_STAGE_ALIGNMENT,   /* what no value explains, and is there all the same: under another name, with other rows */
    SP_STAGE_UNMATCHED,   /* what is really gone, or there for nothing */
    SP_STAGE_MODELS,      /* what is still open: whether the file is another model as a whole */
    SP_STAGE_CONSISTENCY, /* the file as its own measure, once all is known of its tensors: dtypes, sizes */
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
