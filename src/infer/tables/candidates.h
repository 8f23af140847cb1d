/* SPDX-License-Identifier: MIT
 * A file seen under a naming, and the tables whose names it has then. */
#ifndef SP_INFER_CANDIDATES_H
#define SP_INFER_CANDIDATES_H

#include "infer/limits.h"
#include "infer/occurrences.h"
#include "infer/view.h"

struct sp_fit {
    const struct sp_unit *table;
    const char *class; /* "" when the table does not depend on it */
    size_t seen;       /* tensors of the file */
    size_t missing;    /* names that the file does not have and should */
    size_t weights;    /* of these the ones of no buffers, which loaders may compute */
    size_t absent;     /* names that the file does not have, and may do without */
    size_t tied;       /* names that may be those of tensors which are there under others */
};

/* The classes of the fit's table that have its names just as well, whatever else they may have, in `fits`; returns how
 * many, at most `most`. */
size_t sp_fit_equal_classes(const struct shapeproof_tables *tables, struct sp_fit fit, const struct sp_shapes *shapes,
                            struct sp_fit *fits, size_t most);

/* Among which tables. */
struct sp_tables_searched {
    const struct shapeproof_tables *tables;
    const struct sp_unit *only; /* NULL: all */
    bool as_named;              /* of these only those that may have every name of the file */
};

struct sp_candidate_tables {
    const struct sp_infer_view *view;
    struct sp_naming naming;
    struct sp_shapes shapes;
    struct sp_fit fits[SP_MOST_FITS]; /* best first, each with the class for which it does */
    size_t count;
};

/* Under that naming, as the only table that is searched sees it. */
void sp_candidate_tables_under(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                               const struct sp_tables_searched *searched, const struct sp_infer_view *view,
                               const struct sp_naming *naming);
/* Under the naming with which a table sees the most. */
void sp_candidate_tables_best(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                              const struct sp_tables_searched *searched, const struct sp_infer_view *view);
/* The same in the names of a scheme; false when it is in none. */
bool sp_candidate_tables_translated(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                                    const struct sp_tables_searched *searched, const struct sp_infer_view *view);
/* A table that could make all names of the file, or all but what is in front of them. */
struct sp_further {
    struct sp_fit fit;
    bool otherwise; /* the latter */
};

/* Those that are not among the fits of the candidates, when something explains the whole file; at most `most`. */
size_t sp_candidate_tables_further(struct sp_candidate_tables *candidates, const struct shapeproof_tables *tables,
                                   struct sp_further *further, size_t most);
/* As a table sees it that could make all names of the file but for what is in front of them: under the naming with
 * which it does. False when there is none. */
bool sp_candidate_tables_for(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                             const struct shapeproof_tables *tables, const struct sp_unit *table,
                             const struct sp_infer_view *view);
void sp_candidate_tables_free(struct sp_candidate_tables *candidates);

#endif
