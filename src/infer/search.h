/* SPDX-License-Identifier: MIT
 * All that is tried on a file: as it is, and in the views that its names and shapes suggest; of each the tables that
 * fit; and once more what comes out wrong in a way that can be undone. */
#ifndef SP_INFER_SEARCH_H
#define SP_INFER_SEARCH_H

#include "infer/infer.h"

/* What the file says of itself; all zero when it says nothing that a table is for. */
struct sp_stated {
    const struct sp_unit *table;
    struct shapeproof_config *config;
};

enum { SP_STEP_LEVELS = 3 };

struct sp_infer_search {
    struct sp_arena *arena;
    const struct shapeproof_inventory *file;
    struct sp_tables_searched searched;
    SP_ARRAY(struct sp_infer_view *) views; /* in the arena */
    SP_ARRAY(struct sp_attempt *) attempts;
    struct sp_attempt *best;       /* or NULL */
    struct sp_attempt *transposed; /* another that explains everything, with matrices the other way round; or NULL */
    struct sp_stated stated;
    struct sp_effort effort;
    struct sp_infer_budget *budget; /* NULL: all is tried */
    const struct shapeproof_watch *watch;
    /* Of the steps under way, that of the file, the view and the candidates, those that were not told yet; or NULL. */
    const char *untold_steps[SP_STEP_LEVELS];
    bool is_cancelled; /* the watch wants the search to end */
};

void sp_infer_search_file(struct sp_infer_search *search);

/* ---- trace.c: what is tried, told to the search's watch ---- */

/* A step begins, at a level from 0. It is told when something of it is. */
void sp_trace_step(struct sp_infer_search *search, size_t level, const char *what);
void sp_trace_candidates(struct sp_infer_search *search, const struct sp_candidate_tables *candidates);
void sp_trace_attempt(struct sp_infer_search *search, const struct sp_attempt *attempt);
void sp_trace_repaired(struct sp_infer_search *search, const struct sp_attempt *attempt);
/* All attempts, best first, and what each loses by. */
void sp_trace_result(struct sp_infer_search *search);

/* ---- stated.c ---- */

/* Finds what the file says of itself. Returns false when there is no table for that, or another one is asked for. */
bool sp_stated_find(struct sp_stated *stated, struct sp_infer_search *search);
/* Tells the hyper-parameters that the file states, except those that its tensors decide. */
void sp_stated_tell(const struct sp_stated *stated, struct sp_solver *solver);
void sp_stated_free(struct sp_stated *stated);

#endif
