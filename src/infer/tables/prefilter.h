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

/* What the ends of a unit's names tell; the same wherever the unit is used, and cached. */
struct sp_prefiltered {
    bool *covered;  /* by pattern of the file: a name of the unit ends as it does */
    size_t rows;    /* under no condition, but for the vague ones */
    size_t found;   /* of these the ones whose end the file has */
    size_t lacking; /* rows under a condition, whose end the file does not have */
    size_t vague;   /* rows whose end depends on an expression, and that the file does not have as it stands */
    struct sp_single *singles;
    size_t single_count, single_capacity;
    bool is_choice;       /* it is nothing but alternatives, which are compared one by one: the backbones of models */
    bool needs_arguments; /* it is a part with parameters, or has a mistake: no table by itself */
    bool busy;            /* its rows are being read, to end a recursion */
    struct sp_ranked *ranked; /* the exact comparison, as a table by itself; NULL: not made yet */
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
/* The cached result for the unit at that place, which is found by name endings first if it is new. */
struct sp_prefiltered *sp_prefilter_unit(struct sp_prefilter *prefilter, size_t place);
/* Estimates by name endings how much of the file a table covers. False when these do not decide: most of them depend on
 * expressions, and the file has at least half of the others. */
bool sp_prefilter_table(struct sp_prefilter *prefilter, size_t place, struct sp_ranked *ranked);

#endif
