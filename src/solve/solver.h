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
    /* An object: what holds where nothing was told. NULL: nothing is known but what was told. Of it is not known: */
    const struct shapeproof_value *configured;
    const char *open;                         /* this key, NULL for none */
    bool flags_open;                          /* all that are true or false */
    struct sp_map places;                     /* of what is configured what was looked up so far, by its path: */
    SP_ARRAY(struct shapeproof_value) values; /* an index of these */
    struct sp_lookups *lookups;               /* where lookups are noted; or NULL */
    bool supposes; /* of two alternatives of which nothing is known the first one is taken: a guess */
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
/* Whether what the table requires is met, as far as that is known. */
bool sp_solver_is_covered(struct sp_solver *solver);
/* Tells that `architectures` is that class alone, and of which type the model is, when the table covers the class under
 * that one only. False when it covers it under none. */
bool sp_solver_tell_class(struct sp_solver *solver, const char *class);
void sp_solver_free(struct sp_solver *solver);
/* Forgets what was told, and of what is configured leaves that key open; NULL for none. */
void sp_solver_open(struct sp_solver *solver, const char *key);
/* To be called when `configured` is another, or what it points to, or `flags_open`: what was worked out before may not
 * hold any more. */
void sp_solver_ask_anew(struct sp_solver *solver);
/* From now on the keys that evaluations look up are noted there; NULL for no longer. An expression depends on no other
 * key: with that one open, or otherwise, the evaluation would look up the same keys, and come to the same value. */
void sp_solver_note_lookups(struct sp_solver *solver, struct sp_lookups *lookups);
/* The value under what is known; SHAPEPROOF_VALUE_UNKNOWN, with the key that it lacks. False when there can be none. */
bool sp_solver_eval(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                    struct shapeproof_value *value);
/* The same, worked out once for all that is known: the expression depends on no index. */
bool sp_solver_remember(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                        struct sp_remembered *remembered, struct shapeproof_value *value);
/* The same; one that cannot be computed contradicts everything, and is absent. */
struct shapeproof_value sp_solver_value(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr);
/* What sp_literals_about has of the table, collected once. */
const struct sp_literals *sp_solver_texts(struct sp_solver *solver, const char *path);
/* The path of a key of the configuration that the environment's table reads: "text_config.hidden_size". */
const char *sp_solver_path(struct sp_solver *solver, const struct sp_env *env, const char *key);
/* The path of the key that an expression is, through definitions and parameters; NULL when it is none. */
const char *sp_solver_key(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr);

#endif
