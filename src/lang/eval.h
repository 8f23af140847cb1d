/* SPDX-License-Identifier: MIT
 * The value of an expression under concrete hyper-parameters. */
#ifndef SP_LANG_EVAL_H
#define SP_LANG_EVAL_H

#include "base/map.h"
#include "lang/hyper.h"
#include "lang/names.h"
#include "lang/syntax/ast.h"

/* What one prediction may take. */
enum {
    SP_MAX_EVAL_DEPTH = 1000,
    SP_MAX_TEXT = 64 * 1024, /* bytes of a text or name */
    SP_MAX_MISTAKES = 1000   /* the same one again and again included; SP_MAX_MESSAGES of different ones are reported */
};

/* A hyper-parameter that was looked at, which value it had, and who said so. */
struct sp_reading {
    const char *path; /* "text_config.vocab_size" */
    struct shapeproof_value value;
    struct shapeproof_provenance from; /* nobody: it was not set, or is an object whose members are read one by one */
};

enum { SP_RECENT_READINGS = 64 }; /* places of a cache by the pointer to a key: tables read about as many keys */

/* One prediction under way. */
struct sp_eval {
    struct sp_arena *arena;
    const struct sp_hyper *hyper;
    struct sp_reading *readings;
    size_t recent[SP_RECENT_READINGS]; /* cache of `paths`: the last reading that was found at each place */
    size_t reading_count, reading_capacity;
    struct sp_map paths;       /* index of the reading */
    struct sp_members members; /* of `hyper->root`, once that was looked at */
    struct sp_text path, name; /* scratch */
    struct sp_text *messages;
    size_t mistakes;           /* each time one is made */
    size_t message_count;      /* different ones */
    const char *first_missing; /* the first hyper-parameter that was needed and not set */
    size_t steps, spent;       /* that were taken, and those of them that the budget knows */
    size_t limits;             /* how many of the mistakes are an exceeded limit of steps, memory or tensors */
    size_t overflows;          /* how many of them are a number that does not fit in 64 bits */
    bool stopped;              /* by the limit of steps, memory or mistakes: nothing more is evaluated or reported */
    unsigned depth;
};

/* In place of a value that inference does not know yet: where it comes from. */
struct sp_unevaluated {
    const struct sp_expr *expr; /* NULL: there is a value */
    const struct sp_env *env;
};

/* A hyper-parameter that a table gives to one that it uses: `with key = expr`. */
struct sp_given {
    const char *key;
    struct shapeproof_value value;
    struct shapeproof_provenance from;
    struct sp_unevaluated open; /* of inference alone */
};

/* The configuration that a table reads: the whole one, or a sub-configuration, with values given by `with`. */
struct sp_view {
    struct shapeproof_value object;
    const char *prefix; /* "" or "text_config." */
    const struct sp_given *given;
    size_t given_count;
};

/* The value of a definition in a frame. */
struct sp_cached {
    enum {
        SP_CACHE_EMPTY,
        SP_CACHE_BUSY,  /* it is being evaluated: who asks for it now is a part of it */
        SP_CACHE_DONE,  /* `value` */
        SP_CACHE_FAILED /* after a mistake, which was reported */
    } state;
    struct shapeproof_value value;
};

/* The value of an expression, good while no more is known: `made` is what sp_knowledge.changes was then. */
struct sp_remembered {
    bool is_set;
    size_t made, touched;
    uint64_t asked;
    struct shapeproof_value value;
};

/* The tensor in whose place those of a frame are stored: a quantised weight. */
struct sp_replaced {
    const char *name;     /* "model.layers.0.mlp.up_proj.weight" */
    const uint64_t *lead; /* its dimensions before the last two, which are in front of theirs as well */
    uint32_t lead_rank;
    uint64_t parameters;
    const char *tied_to;      /* the prefix of the tensors that they are the same as, or NULL */
    bool counted;             /* one of them stands for the parameters */
    const struct sp_row *row; /* that the weight is of, in the terms of the frame's caller */
};

/* One use of a table or part. Lives as long as the prediction, so that findings can name dimensions. */
struct sp_frame {
    const struct sp_unit *unit;
    const struct sp_view *view;
    struct sp_expr *const *param_exprs; /* as the caller wrote them, or NULL for a fallback */
    const struct sp_frame *caller;      /* in whose terms param_exprs are written */
    const struct sp_row *used_by;       /* the row of the caller's unit that uses this one; NULL without a caller */
    const char *group;                  /* NULL: the section's own name */
    bool optional;                      /* every tensor is, because the use is */
    struct sp_replaced *replaced;       /* NULL: the tensors stand for themselves */
    struct sp_usage **usages;           /* of each section, by its rows; NULL: none yet */
    /* Only while the unit is expanded: there can be a frame for each expert of each layer. */
    const struct shapeproof_value *params; /* values, in the order of unit->params; NULL: worked out each time */
    struct sp_cached *cache;               /* of unit->definitions; NULL: worked out each time */
    const char *prefix;                    /* in front of every name */
    const struct sp_env *user_env;         /* in which param_exprs have their values; NULL: not used by another unit */
    /* Only of inference, where the frame stays and what is known changes: of unit->definitions; NULL where they may
     * depend on the index of a loop. */
    struct sp_remembered *remembered;
};

/* The index of a loop. */
struct sp_binding {
    struct shapeproof_value value;
    const struct sp_binding *outer;
    size_t number; /* the loop in its section, from 0; what is outer has a smaller one */
};

/* What names in an expression refer to. For `q.{i} (twice(D))`, in a part that is used with E = 2*n, this is
 *
 *     env   section [attention]   loops  i = 3   args  none
 *       |
 *     frame  unit attention   params E = 1536   cache D = 96   view
 *       |                      user_env ........ of the row that uses the part: there 2*n has its value
 *     view   object, prefix "text_config."
 *
 * and in the body of twice(x) an env of the same frame, with args x = 96. */
struct sp_env {
    const struct sp_frame *frame;
    const struct sp_section *section; /* whose rows are looked at, or NULL */
    const struct sp_binding *loops;   /* of the section, as far as they are entered, the innermost first */
    const struct shapeproof_value
        *args;         /* of the function in whose body the expression stands; NULL: they are not known */
    const char *group; /* of the tensors of the section */
};

/* Frees what the evaluation made outside of its arena, but for the messages. */
void sp_eval_free(struct sp_eval *eval);
/* False after a mistake, which was reported at its place. The result may be absent or null. */
bool sp_eval(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
             struct shapeproof_value *value);
/* As sp_eval, in inference: it is worked out once for all that is known. */
bool sp_eval_remembered(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                        struct sp_remembered *remembered, struct shapeproof_value *value);
/* As sp_eval, and the value must be set, or of that kind. `what` is for the message: "the dimension". */
bool sp_eval_set(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                 struct shapeproof_value *value);
/* As sp_eval_set, and an unknown value is good as well. */
bool sp_eval_known(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                   struct shapeproof_value *value);
bool sp_eval_bool(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, bool *value);
bool sp_eval_int(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, const char *what,
                 int64_t *value);
/* The name that a template makes, behind the frame's prefix. Borrowed until the next call; NULL after a mistake. */
const struct sp_text *sp_eval_template(struct sp_eval *eval, const struct sp_env *env, const struct sp_template *name);
/* The limits of steps and memory are looked at once in so many steps. */
enum { SP_LOOK_EVERY = 256 };
/* sp_eval_spend where the limits are to be looked at, or nothing more is evaluated. */
bool sp_eval_spend_looking(struct sp_eval *eval, struct sp_span span, size_t steps);
/* Counts the steps towards the budget (base/budget.h): what takes time in proportion to a size is counted as a fraction
 * of that size. False when a limit is reached (steps or memory), which was reported. Inline, because every expression
 * that is evaluated comes here. */
static inline bool sp_eval_spend(struct sp_eval *eval, struct sp_span span, size_t steps)
{
    if (eval->stopped || steps >= SP_LOOK_EVERY - eval->steps % SP_LOOK_EVERY)
        return sp_eval_spend_looking(eval, span, steps);
    eval->steps += steps;
    return true;
}
/* Spends the steps that the budget of the call does not know yet. */
void sp_eval_settle(struct sp_eval *eval);
/* Reports that a limit of steps, memory or tensors is exceeded; always false. */
bool sp_eval_exceed(struct sp_eval *eval, struct sp_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports that a number does not fit in 64 bits; always false. */
bool sp_eval_overflow(struct sp_eval *eval, struct sp_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reads a key of the configuration; what was read is listed. */
bool sp_eval_key(struct sp_eval *eval, const struct sp_view *view, const char *key, struct shapeproof_value *value);
/* The dotted path of the hyper-parameter that an expression means, "text_config.vocab_size"; NULL when it means none,
 * as a sum does. Of `a default b` it is that of the one that is set, or of the first. The expression was evaluated
 * before, without a mistake. */
const char *sp_eval_path(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr);
/* "layers[2].width" for a member of an item of a list that is not known as a whole; NULL for anything else. */
const char *sp_eval_item_path(struct sp_arena *arena, struct shapeproof_value item, const char *name);
/* Reports a mistake (each once); always false. */
bool sp_eval_fail(struct sp_eval *eval, struct sp_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- operate.c: operators, of values that are set; false after a mistake, which was reported ---- */

bool sp_operate(struct sp_eval *eval, const struct sp_expr *expr, struct shapeproof_value a, struct shapeproof_value b,
                struct shapeproof_value *value);
bool sp_negate(struct sp_eval *eval, const struct sp_expr *expr, struct shapeproof_value *value);
/* Python writes 0 and 1 for truth values often enough. */
bool sp_truth(struct sp_eval *eval, const struct sp_expr *expr, struct shapeproof_value value, bool *result);
/* The arithmetic of real numbers: one of + - * / // % ^. */
double sp_calculate(enum sp_op op, double a, double b);

/* ---- finding what a name means; also used to describe dimensions ---- */

/* Of a name or a call. A loop that is not entered hides nothing. Most names have only their unit to look to. */
struct sp_meaning sp_meaning_by_place(const struct sp_env *env, const struct sp_expr *expr);
static inline struct sp_meaning sp_meaning_of(const struct sp_env *env, const struct sp_expr *expr)
{
    if (expr->reach == SP_REACH_UNIT && expr->slot) return env->frame->unit->names[expr->slot].meaning;
    return sp_meaning_by_place(env, expr);
}
/* The loop of that number, or NULL. */
const struct sp_binding *sp_loop_numbered(const struct sp_binding *loops, size_t number);
/* Around the loops `outer` one more. */
static inline struct sp_binding sp_loop_within(const struct sp_binding *outer, struct shapeproof_value value)
{
    return (struct sp_binding){value, outer, outer ? outer->number + 1 : 0};
}
/* In which the expression of a definition has its value: that of a section sees the loops around it. */
struct sp_env sp_definition_env(const struct sp_env *env, struct sp_meaning meaning);
/* What the definition or parameter that a name means is in turn: an expression, and its own environment. False for a
 * key, an index, a function, and a parameter that nobody gave. */
bool sp_meaning_open(struct sp_env *env, const struct sp_expr **expr);
/* Whether a dotted path is that of a setting, or a member of it. */
bool sp_path_within(const char *path, const char *setting);
/* The value that a `with` gives to a key, or NULL. */
const struct sp_given *sp_view_given(const struct sp_view *view, const char *key);
/* The hyper-parameter of a view; absent (naming the key) when it is not there. Not recorded as read. */
struct shapeproof_value sp_view_get(const struct sp_view *view, const char *key);

#endif
