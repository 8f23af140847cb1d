/* SPDX-License-Identifier: MIT
 * Everything that is tried on a file: the file as it is, and the views that its names and shapes suggest; for each the
 * tables that fit; and then again attempts that came out wrong in a way that can be undone. */
#ifndef SP_INFER_SEARCH_H
#define SP_INFER_SEARCH_H

#include "infer/infer.h"

/* What the metadata of the file say; all zero when there is no table for that. */
struct sp_stated {
    const struct sp_unit *table;
    struct shapeproof_config *config;
};

/* What a step of the search works on. */
enum sp_step_level {
    SP_LEVEL_FILE,
    SP_LEVEL_VIEW,       /* one view of the file */
    SP_LEVEL_CANDIDATES, /* the candidate tables of a view, under one naming */
    SP_STEP_LEVELS
};

struct sp_infer_search {
    struct sp_arena *arena;
    const struct shapeproof_inventory *file;
    struct sp_tables_searched searched;
    SP_ARRAY(struct sp_infer_view *) views; /* in the arena */
    SP_ARRAY(struct sp_attempt *) attempts;
    struct sp_attempt *best;       /* or NULL */
    struct sp_attempt *transposed; /* another that explains everything, with matrices transposed; or NULL */
    struct sp_stated stated;
    struct sp_effort effort;
    struct sp_infer_budget *budget; /* NULL: all is tried */
    const struct shapeproof_watch *watch;
    /* For each level the step under way, for the trace; NULL once that has printed it. */
    const char *untold_steps[SP_STEP_LEVELS];
    bool is_cancelled; /* the watch wants the search to end */
};

void sp_infer_search_file(struct sp_infer_search *search);

/* ---- trace.c: what is tried, told to the search's watch ---- */

/* A step begins. It is printed before the first line that belongs to it, and not at all when there is none. */
void sp_trace_step(struct sp_infer_search *search, enum sp_step_level level, const char *what);
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
