/* SPDX-License-Identifier: MIT
 * A file seen under a naming, and the tables whose names it has then. */
#ifndef SP_INFER_LOOK_H
#define SP_INFER_LOOK_H

#include "infer/guise.h"
#include "infer/tables/fit.h"

enum { SP_MAX_FITS = 48 };

/* Among which tables. */
struct sp_tables_searched {
    const struct sp_tables *tables;
    const struct sp_unit *only; /* NULL: all */
    bool as_named;              /* of these only those that may have every name of the file */
};

struct sp_look {
    const struct sp_guise *guise;
    struct sp_naming naming;
    struct sp_shapes shapes;
    struct sp_fit fits[SP_MAX_FITS]; /* best first, each with the class for which it does */
    size_t count;
};

/* Under that naming, as the only table that is searched sees it. */
void sp_look_under(struct sp_look *look, struct sp_arena *arena, const struct sp_tables_searched *searched,
                   const struct sp_guise *guise, const struct sp_naming *naming);
/* Under the naming with which a table sees the most. */
void sp_look_best(struct sp_look *look, struct sp_arena *arena, const struct sp_tables_searched *searched,
                  const struct sp_guise *guise);
/* The same in the names of an era; false when it is in none. */
bool sp_look_translated(struct sp_look *look, struct sp_arena *arena, const struct sp_tables_searched *searched,
                        const struct sp_guise *guise);
/* A table that could make all names of the file, or all but what is in front of them. */
struct sp_further {
    struct sp_fit fit;
    bool otherwise; /* the latter */
};

/* Those that are not among the fits of the look, when something explains the whole file; at most `most`. */
size_t sp_look_further(struct sp_look *look, const struct sp_tables *tables, struct sp_further *further, size_t most);
/* As a table sees it that could make all names of the file but for what is in front of them: under the naming with
 * which it does. False when there is none. */
bool sp_look_for(struct sp_look *look, struct sp_arena *arena, const struct sp_tables *tables,
                 const struct sp_unit *table, const struct sp_guise *guise);
void sp_look_free(struct sp_look *look);

#endif
