/* SPDX-License-Identifier: MIT
 * A file seen under a naming, and the tables whose names it has then. */
#ifndef SP_INFER_LOOK_H
#define SP_INFER_LOOK_H

#include "infer/guise.h"
#include "infer/tables/fit.h"

enum { SP_MAX_FITS = 40 };

/* Among which tables. */
struct sp_tables_searched {
    const struct sp_tables *tables;
    const struct sp_unit *only; /* NULL: all */
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
void sp_look_free(struct sp_look *look);

#endif
