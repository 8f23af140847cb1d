/* SPDX-License-Identifier: MIT
 * One table, and what is known of its hyper-parameters: expressions of the table are evaluated under that, and
 * inverted (invert.h), which makes more known.
 *
 *   known: n_head = 12          n_embd/n_head  is  unknown, for want of n_embd
 *   tell:  n_embd/n_head = 64   ->  known: n_head = 12, n_embd = 768
 */
#ifndef SP_SOLVE_SOLVER_H
#define SP_SOLVE_SOLVER_H

#include "lang/eval.h"
#include "solve/known.h"
#include "solve/literals.h"

/* The paths of keys, in the order in which an evaluation looked them up, and as often. */
struct sp_lookups {
    const char **items;
    size_t count, capacity;
};

struct sp_solver {
    struct sp_arena arena;
    const struct sp_unit *table;
    const struct sp_frame *frame; /* of the table itself, in which its definitions and requirements have their values */
    struct sp_known known;
    /* A configuration, an object whose values hold in place of what is known; NULL: only what is known holds. Open keys
     * are exceptions, which have only what is known: */
    const struct shapeproof_value *configured;
    const char *open;                         /* this key is; NULL: none is */
    bool flags_open;                          /* all keys with true or false are */
    struct sp_members members;                /* of `configured` */
    struct sp_text component;                 /* scratch: the first one of a path */
    struct sp_map places;                     /* cache: path -> index of `values` */
    SP_ARRAY(struct shapeproof_value) values; /* looked up in `configured` */
    struct sp_lookups *lookups;               /* where lookups are noted; or NULL */
    bool supposes; /* sp_invert takes the first of two alternatives of which nothing is known, as a guess */
    struct sp_eval eval;
    struct sp_text messages; /* of the evaluator; nobody reads them */
    struct sp_hyper hyper;
    struct sp_knowledge knowledge;
    unsigned depth;                       /* of the expressions that are being inverted */
    struct sp_map texts_of;               /* the keys whose texts were collected, */
    SP_ARRAY(struct sp_literals *) texts; /* and these */
};

/* Begins with nothing known. The solver must stay where it is. */
void sp_solver_init(struct sp_solver *solver, const struct sp_unit *table);
/* Whether no requirement of the table is known to be unmet. */
bool sp_solver_is_covered(struct sp_solver *solver);
/* Tells that the class key is that class alone, and the model_type, if the table covers the class under just one. False
 * when it covers the class under none. */
bool sp_solver_tell_class(struct sp_solver *solver, const char *class);
void sp_solver_free(struct sp_solver *solver);
/* Forgets what was told, and makes that key of the configuration open, and no other; NULL: none. */
void sp_solver_open(struct sp_solver *solver, const char *key);
/* Drops what is cached. To be called when `configured`, what it points to, or `flags_open` has changed. */
void sp_solver_ask_anew(struct sp_solver *solver);
/* From now on the keys that evaluations look up are noted there; NULL ends that. The value of an expression depends on
 * no other keys. */
void sp_solver_note_lookups(struct sp_solver *solver, struct sp_lookups *lookups);
/* The value of an expression under what is known; SHAPEPROOF_VALUE_UNKNOWN, with the key that it lacks as its string,
 * or
 * "" if it lacks the index of a loop. False when it has no value, because of a division by zero and the like. */
bool sp_solver_eval(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                    struct shapeproof_value *value);
/* The same for an expression that depends on no index, cached until more is known. */
bool sp_solver_remember(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                        struct sp_remembered *remembered, struct shapeproof_value *value);
/* The same as sp_solver_eval; an expression that has no value is SHAPEPROOF_VALUE_ABSENT, which contradicts everything.
 */
struct shapeproof_value sp_solver_value(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr);
/* sp_literals_about for the table, cached. */
const struct sp_literals *sp_solver_texts(struct sp_solver *solver, const char *path);
/* The path of a key from the root of the configuration: "text_config.hidden_size" for hidden_size, in the environment
 * of a table that reads text_config. */
const char *sp_solver_path(struct sp_solver *solver, const struct sp_env *env, const char *key);
/* The path of the key that an expression is, through definitions and parameters; NULL when it is none. */
const char *sp_solver_key(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr);

#endif
