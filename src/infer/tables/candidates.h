/* SPDX-License-Identifier: MIT
 * A file seen under a naming, and the tables whose names it has then. */
#ifndef SP_INFER_CANDIDATES_H
#define SP_INFER_CANDIDATES_H

#include "infer/limits.h"
#include "infer/occurrences.h"
#include "infer/view.h"

/* How well the names that a table makes fit those of the file, before any value is inferred. The last four count lines
 * of the table without a tensor in the file; optional lines and older names are not among them. */
struct sp_fit {
    const struct sp_unit *table;
    const char *class; /* "" when the table does not depend on it */
    size_t seen;       /* tensors of the file that have a name of the table */
    size_t missing; /* lines that the file should have: their conditions are known to be met, and if they are in a loop
                       another line of the loop has a tensor */
    size_t weights; /* the missing lines that are no buffers, which loaders may compute */
    size_t absent;  /* lines that the file may do without: their conditions or their loops are not known */
    size_t tied;    /* lines that may be tied to another tensor, which is stored in their place */
};

/* Writes the fits of the other classes of the table that see at least as many tensors and miss no more lines to `fits`;
 * returns how many, at most `most`. */
size_t sp_fit_equal_classes(const struct shapeproof_tables *tables, struct sp_fit fit, const struct sp_shapes *shapes,
                            struct sp_fit *fits, size_t most);

/* The tables among which candidates are searched. */
struct sp_tables_searched {
    const struct shapeproof_tables *tables;
    const struct sp_unit *only; /* this one alone; NULL: all */
    bool as_named;              /* only tables that may have every name of the file */
};

struct sp_candidate_tables {
    const struct sp_infer_view *view;
    struct sp_naming naming;
    struct sp_shapes shapes;
    struct sp_fit fits[SP_MOST_FITS]; /* best first, each with the class for which it does */
    size_t count;
};

/* Under that naming, with searched->only, which must not be NULL, as the only candidate. */
void sp_candidate_tables_under(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                               const struct sp_tables_searched *searched, const struct sp_infer_view *view,
                               const struct sp_naming *naming);
/* Under the naming with which a table sees the most tensors: the plain one, or with a prefix stripped or added. */
void sp_candidate_tables_best(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                              const struct sp_tables_searched *searched, const struct sp_infer_view *view);
/* The same, with the names translated by a naming scheme (names/naming_schemes.h). False when no scheme has names of
 * the file. */
bool sp_candidate_tables_translated(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                                    const struct sp_tables_searched *searched, const struct sp_infer_view *view);
/* A table beside the candidates whose names, whatever prefix they have, include all of the file's. */
struct sp_further {
    struct sp_fit fit;
    bool has_other_prefix; /* the names only agree once a prefix is stripped or added */
};

/* Writes the tables that are not among the fits of the candidates to `further`; returns how many, at most `most`. */
size_t sp_candidate_tables_further(struct sp_candidate_tables *candidates, const struct shapeproof_tables *tables,
                                   struct sp_further *further, size_t most);
/* Under the naming with which that table has all names of the file, and misses none. False, and nothing to free, when
 * there is no such naming. */
bool sp_candidate_tables_for(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                             const struct shapeproof_tables *tables, const struct sp_unit *table,
                             const struct sp_infer_view *view);
void sp_candidate_tables_free(struct sp_candidate_tables *candidates);

#endif
