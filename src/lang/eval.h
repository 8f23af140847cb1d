/* SPDX-License-Identifier: MIT
 * The value of an expression under concrete hyper-parameters. */
#ifndef SP_LANG_EVAL_H
#define SP_LANG_EVAL_H

#include "base/map.h"
#include "lang/ast.h"
#include "lang/hyper.h"

enum { SP_MAX_EVAL_DEPTH = 2000, SP_MAX_MESSAGES = 20 };

/* Which hyper-parameter had which value, and who said so. */
struct sp_reading {
    const char *path; /* "text_config.vocab_size" */
    struct sp_value value;
    const char *from;
};

/* One prediction under way. */
struct sp_eval {
    struct sp_arena *arena;
    const struct sp_hyper *hyper;
    struct sp_reading *readings;
    size_t reading_count, reading_capacity;
    struct sp_map read_paths;
    struct sp_text *messages;
    struct sp_text scratch; /* of sp_eval_template; freed by the owner */
    size_t mistakes;
    const char *first_missing; /* the first hyper-parameter that was needed and not set */
    unsigned depth;
};

/* The configuration that a table reads: the whole one, or a sub-configuration, with values given by `with`. */
struct sp_view {
    struct sp_value object;
    const char *prefix;             /* "" or "text_config." */
    const struct sp_reading *given; /* path is the bare key */
    size_t given_count;
};

struct sp_cached {
    enum { SP_CACHE_EMPTY, SP_CACHE_BUSY, SP_CACHE_DONE } state;
    struct sp_value value;
};

/* One use of a table or part. Lives as long as the prediction, so that findings can name dimensions. */
struct sp_frame {
    const struct sp_unit *unit;
    const struct sp_view *view;
    const struct sp_value *params;      /* values, in the order of unit->params */
    struct sp_expr *const *param_exprs; /* as the caller wrote them, or NULL for a fallback */
    const struct sp_frame *caller;      /* in whose terms param_exprs are written */
    const struct sp_section *caller_section;
    struct sp_cached *cache; /* of unit->definitions */
    const char *prefix;      /* in front of every name */
    const char *group;       /* NULL: the section's own name */
    bool optional;           /* every tensor is, because the use is */
};

/* A loop index or a parameter of a defined function. */
struct sp_binding {
    const char *name;
    struct sp_value value;
    const struct sp_binding *outer;
};

struct sp_env {
    const struct sp_frame *frame;
    const struct sp_section *section;     /* whose local definitions are visible, or NULL */
    const struct sp_binding *bindings;    /* innermost first */
    const struct sp_definition *defining; /* its own name means the hyper-parameter, not itself */
};

/* False after a mistake, which was reported at its place. The result may be absent or null. */
bool sp_eval(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value);
/* As sp_eval, and the value must be set and of that kind. `what` is for the message: "a dimension". */
bool sp_eval_set(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, const char *what,
                 struct sp_value *value);
bool sp_eval_bool(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, bool *value);
bool sp_eval_int(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, const char *what,
                 int64_t *value);
/* The name that a template makes, behind the frame's prefix. */
const char *sp_eval_template(struct sp_eval *eval, const struct sp_env *env, const struct sp_template *name);
/* Reports a mistake (each once); always false. */
bool sp_eval_fail(struct sp_eval *eval, struct sp_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- finding what a name means; also used to describe dimensions ---- */

enum sp_meaning_kind { SP_MEANS_BINDING, SP_MEANS_DEFINITION, SP_MEANS_PARAM, SP_MEANS_KEY };

struct sp_meaning {
    enum sp_meaning_kind kind;
    const struct sp_binding *binding;
    const struct sp_definition *definition;
    bool local;   /* a definition of the section, not of the unit */
    size_t index; /* of the parameter, or of the unit's definition */
};

struct sp_meaning sp_meaning_of(const struct sp_env *env, const char *name);
/* The hyper-parameter of a view; absent (naming the key) when it is not there. Not recorded as read. */
struct sp_value sp_view_get(const struct sp_view *view, const char *key);

#endif
