/* SPDX-License-Identifier: MIT
 * How much of a file the names of a table or part could be, by the last two components of each, which need no
 * expression. Of hundreds of tables it leaves the few that are worth laying out, and of the alternatives of a
 * composite ("whatever language model the configuration names") those that the file can have. It reads the index of
 * tables (index.h), and parses none. */
#ifndef SP_INFER_PREFILTER_H
#define SP_INFER_PREFILTER_H

#include "base/arena.h"
#include "base/map.h"
#include "infer/tables/index.h"
#include "names/patterns.h"
#include "solve/outline.h"

/* The patterns of a file by their ends: "layers.#.mlp.up_proj.weight", "mlp.up_proj.weight", "up_proj.weight", ... */
struct sp_ends {
    struct sp_map map; /* end -> the first pattern that has it, as an index of `list` */
    struct sp_listed_pattern *list;
    size_t count, capacity;
};

/* Marks of the first `count` patterns those that end as the name does; false when none of all does. */
bool sp_ends_cover(const struct sp_ends *ends, const char *name, bool *covered, size_t count);

/* A name of one component, whose end depends on the use. */
struct sp_single {
    const char *name;
    bool optional;
};

/* Of a unit, wherever it is used: found once, it stays. */
struct sp_prefiltered {
    bool *covered;      /* by pattern: one of its names could be that */
    size_t rows, found; /* under no condition; and of these, whose ends the file has */
    size_t lacking;     /* rows that depend on something, and that the file does not have */
    size_t vague;       /* rows beside these whose ends cannot be told without expressions */
    struct sp_single *singles;
    size_t single_count, single_capacity;
    bool needs_arguments;
    bool busy;                /* its rows are being looked at */
    struct sp_ranked *ranked; /* what it is to the file exactly, as a table by itself; NULL: not found yet */
};

struct sp_ranked;

struct sp_prefilter {
    struct sp_use_filter filter; /* leaves out of tables that are alternatives those that the file does not have */
    struct sp_arena arena;
    struct sp_ends ends;
    size_t patterns; /* that are counted: the first ones, when a file has very many */
    const struct shapeproof_tables *tables;
    struct sp_prefiltered **prefiltered; /* by place; NULL: not looked at yet */
    struct sp_table_index own;           /* of the units that are not built in */
    struct sp_indexed_unit *others;      /* these, from their first place on; NULL: not indexed yet */
};

/* Of the tables of that set, which has to live as long. */
struct sp_prefilter *sp_prefilter_new(const struct shapeproof_tables *tables, const struct sp_patterns *patterns);
void sp_prefilter_free(struct sp_prefilter *prefilter);
/* What was found out about the unit at that place so far: by name endings at least. */
struct sp_prefiltered *sp_prefilter_unit(struct sp_prefilter *prefilter, size_t place);
/* How much of the file a table could be, by name endings: false when most of its names have none without an expression.
 */
bool sp_prefilter_table(struct sp_prefilter *prefilter, size_t place, struct sp_ranked *ranked);

#endif
