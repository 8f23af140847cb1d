/* SPDX-License-Identifier: MIT
 * The value of an expression for all hyper-parameters at once. A number becomes a polynomial, a condition a polynomial
 * whose value is 0 or 1. What is neither (a floor, a minimum, an item of a list that is not known) becomes an atom that
 * is equal only to itself, but remembers how it is computed: once its arguments have values, it has one (reduce.h).
 *
 * Every hyper-parameter is taken to be given, and as a whole number from 1 up (from its default up, where that is
 * less). Texts and lists have the value that the table gives by default, unless they are set: a formula is proved for
 * one architecture, not for all names at once. */
#ifndef SP_PROVE_SYMBOLIC_SYMBOLIC_H
#define SP_PROVE_SYMBOLIC_SYMBOLIC_H

#include "base/map.h"
#include "config/config.h"
#include "lang/tables.h"
#include "math/poly.h"

enum sp_sym_kind {
    SP_SYM_NUMBER,    /* poly */
    SP_SYM_CONDITION, /* poly, 0 or 1 */
    SP_SYM_VALUE,     /* a known value that is neither an integer nor a condition; or absent, or null */
    SP_SYM_OPAQUE,    /* a text or a list that is only named: `name`. Of a list in brackets the items are known */
    SP_SYM_EITHER     /* either[0] where the condition `poly` holds, else either[1]; one of them is no number */
};

struct sp_sym {
    enum sp_sym_kind kind;
    const struct sp_poly *poly;
    struct shapeproof_value value;
    const char *name; /* of a number or an object: the key that it is, without a default; or NULL */
    const struct sp_sym *either, *items;
    size_t count;                   /* of the items */
    uint64_t depends;               /* of SP_SYM_OPAQUE: the loop indices in it, as bits */
    const struct sp_origin *origin; /* of SP_SYM_OPAQUE, or NULL */
};

enum sp_operation_kind {
    SP_DO_BINARY,  /* args[0] op args[1] */
    SP_DO_TRUTH,   /* whether args[0] is not 0 */
    SP_DO_CHOICE,  /* args[0] ? args[1] : args[2], as a number */
    SP_DO_CALL,    /* function(args) */
    SP_DO_INDEX,   /* args[0][args[1]] */
    SP_DO_MEMBER,  /* args[0].name */
    SP_DO_DEFAULT, /* args[0], or args[1] where that is not set */
    SP_DO_SUM      /* args[0], summed over `index` from args[1] to args[2] */
};

struct sp_operation {
    enum sp_operation_kind kind;
    enum sp_op op;
    const struct sp_function *function;
    const char *name;
    size_t index;
    struct sp_span span;
};

/* How something was computed. */
struct sp_origin {
    struct sp_operation operation;
    const struct sp_sym *args;
    size_t count;
};

/* What is known of an atom beside its text. */
struct sp_atom_info {
    uint64_t depends;               /* the loop indices in it, as bits; an index depends on itself */
    const struct sp_origin *origin; /* NULL: a hyper-parameter or an index */
    bool is_index;
    bool is_whole;   /* never a fraction */
    bool is_bounded; /* never below `least` */
    bool is_given;   /* it, or the list that it is in, is a hyper-parameter, which may also be 0 */
    bool is_size; /* a dimension, a divisor, or the number of a loop's iterations, is computed from it: it is not 0 */
    bool is_void; /* an item that its list does not have: see premises.voids */
    bool is_real; /* a number that is no fraction of integers: `real` */
    double real;
    int64_t least;
    const struct sp_poly *gap; /* of a comparison whose gap was asked for (sp_atom_comparison), or NULL */
    const char *range; /* a condition that holds where a loop goes backwards: the assumption "F <= L", else NULL */
};

/* A symbol of the formulas: a hyper-parameter, under the name that the table gives it. */
struct sp_symbol_info {
    size_t atom;
    const char *name;               /* "E" */
    const char *key;                /* "n_embd"; of one that is computed, the expression */
    const struct sp_poly *fallback; /* its default in terms of other symbols, or NULL */
    bool is_computed;               /* M = min(F, L): a name for an expression, no hyper-parameter */
    const char *list;               /* its default if that is a list of numbers: "[2, 2, 6, 2]"; else NULL */
    bool is_list, is_text;          /* it is used as a list, or as a text or an object */
    bool was_left_out;              /* of a list or a text: once its default was taken for it */
    bool is_ambiguous;              /* the table has different defaults for it */
    const char *unset_key;          /* of the condition that a hyper-parameter is absent or null: its key, else NULL */
};

struct sp_open_loop {
    size_t index;
    const struct sp_poly *first, *last;
};

/* What is fixed before the table is counted. */
struct sp_sym_fixed {
    const struct sp_hyper *settings; /* what the user fixed, or NULL */
    uint64_t settings_read;          /* which members of it were looked at, as bits; those from 64 on are not told */
    const struct sp_map *given;      /* keys of lists and texts that are not left out where they have a default */
    bool is_settled;                 /* what is not set is absent, so that the defaults hold */
    const char *const *open;         /* the keys that are open although the rest is settled */
    size_t open_count;
    /* What a name of a claim is worth that the settled table does not have: one that a part gave to a key. Or NULL. */
    bool (*named)(void *context, const char *name, struct sp_rational *value);
    void *context;
    /* What a claim about a checkpoint alone asks of its tensors: dim(wte.weight, 0), where the index is 0, or -1 for
     * functions without one. False with *why. NULL elsewhere. */
    bool (*tensors)(void *context, const struct sp_expr *expr, int64_t index, int64_t *value, const char **why);
    bool scalars;     /* SP_SIDES_ARE_EQUAL: a hyper-parameter stands for both sides of a pair, at(x, 0) is x */
    bool opens_lists; /* a list of numbers is a symbol also if it has a default */
};

/* What is known of the atoms, by their number in the algebra. */
struct sp_atom_infos {
    struct sp_atom_info *items; /* heap */
    size_t capacity;
};

struct sp_sym_symbols {
    struct sp_symbol_info *items; /* heap */
    size_t count, capacity;
    struct sp_map keys;     /* the index of a symbol by its key */
    struct sp_map own_keys; /* the keys that a definition of the table, or a branch of one, begins with */
};

/* The defaults that the settled table gave to keys which are not set. */
struct sp_taken_defaults {
    struct sp_taken_default {
        const char *key;
        struct sp_sym sym;
        bool is_ambiguous; /* the table has different defaults for it */
    } * items;             /* heap */
    size_t count, capacity;
    struct sp_map keys; /* the index of a default by its key */
};

struct sp_open_loops {
    struct sp_open_loop items[64]; /* the innermost last */
    size_t count;
    size_t indices; /* that there were so far */
};

struct sp_sym_report {
    struct sp_text *messages;
    struct sp_text unheard; /* messages of a look ahead, which nobody reads */
    size_t mistakes;
    const char *missing; /* the first hyper-parameter that was needed and is absent, or NULL */
    bool unknown;        /* the table is right, and the configuration names one that there is not */
};

/* What is assumed for as long as a reduction runs. */
struct sp_sym_premises {
    bool sizes;   /* symbols without a value are from 1 up */
    bool counts;  /* but for those that are no size (is_size), and only count something: these are from 0 up */
    bool assumes; /* no loop goes backwards; what that assumes is kept in `assumed` */
    bool voids;   /* an item that a list does not have is an atom, and no mistake: it must vanish from the formula */
    const char **assumed; /* heap; the assumptions, "F <= L"; they stay when the reduction ends */
    size_t count, capacity;
};

/* A number of pieces among which a dimension is divided, as it was met while a shard was counted. */
struct sp_partition_count {
    const struct sp_partition *division; /* NULL: a loop over experts */
    const struct sp_poly *pieces;
    unsigned ranks;
    bool is_whole; /* in a group that tensor parallelism leaves whole */
};

/* What one of several ranks has of the tensors, as long as that is counted. */
struct sp_sharding {
    struct sp_parallelism ranks;
    bool in_experts;                      /* what is counted belongs to experts: etp divides it in place of tp */
    bool is_whole;                        /* it is in a group that tensor parallelism leaves whole */
    bool in_vision;                       /* it is in the group [vision]: by convention, that of an image encoder */
    bool divides_vision;                  /* something in that group was divided */
    bool skips_experts;                   /* what belongs to experts does not count */
    bool is_undivided;                    /* the count failed at a state of which the table says no division */
    struct sp_partition_count *divisions; /* heap; each once */
    size_t count, capacity;
};

/* Where an expression of a claim has no value: where a divisor is 0, or an argument of ceil_div or round_up is too
 * small. */
struct sp_gap {
    const struct sp_poly *poly;  /* no constant */
    int64_t most;                /* there is no value where the polynomial is that; and, of a function, below it */
    const char *function;        /* "ceil_div"; NULL of a divisor */
    const struct sp_poly *shown; /* in messages: `poly` with the index of a sum where `poly` has one of its ends */
    bool is_in_sum;
};

/* Those of a claim, as they were met while it was evaluated. */
struct sp_divisors {
    struct sp_gap *items; /* heap */
    size_t count, capacity;
};

/* A table, or one claim about it, while it becomes formulas. An example, from the text to the polynomial:
 *
 *     table t
 *     E = n_embd                         symbols.items[0]: key "n_embd", name "E", atom 0
 *     H = n_inner default 4*E            symbols.items[1]: key "n_inner", name "H", atom 1, fallback 4*E
 *     [mlp] for i in 0..N-1              atom 3 is the index i, in loops.items while the group is counted
 *     up.{i} (E, min(H, 8*E))            atom 4, "min(8*E, H)": infos.items[4].origin says min of H and 8*E
 *
 * `N`, a key without a definition, is symbols.items[2], atom 2. One iteration of the loop has the polynomial E*min(8*E,
 * H), a product of the atoms 0 and 4. It does not depend on i, so that the group is N*E*min(8*E, H).
 *
 * A claim `[mlp] = 4*N*E^2 when H = 4*E` puts 4*E in the place of atom 1. What was computed from it is computed again
 * by its origin: min(4*E, 8*E) is 4*E, because 8*E - 4*E is never negative. Both sides are then the same polynomial. */
struct sp_symbolic {
    struct sp_algebra algebra;  /* atoms and polynomials; all else lives in its arena too */
    const struct sp_unit *root; /* the table that is counted */
    struct sp_sym_fixed fixed;
    struct sp_atom_infos infos;
    struct sp_sym_symbols symbols;
    struct sp_taken_defaults defaults; /* empty where the table is not settled */
    struct sp_open_loops loops;
    struct sp_sym_report report;
    struct sp_sym_premises premises;
    struct sp_sharding *sharding; /* NULL: dimensions are whole, as in a file */
    struct sp_divisors *divisors; /* where those of a claim are collected; NULL: they are not */
    bool took_list;               /* the default of a list of numbers was taken for a key that is open */
    bool is_counting; /* the table is evaluated, and not a claim: its divisors are sizes, its quotients are whole */
    size_t steps;     /* of evaluation, towards a limit */
    unsigned depth;   /* of expressions and definitions within one another */
};

/* A value that `with` gives to a key of a part: with (hidden_size = E). */
struct sp_sym_given {
    const char *key;
    struct sp_sym sym;
    bool *is_read; /* set when an expression reads it; NULL: nobody asks */
};

/* Whether the value of a definition is in the cache of its frame. */
enum sp_sym_cache {
    SP_SYM_CACHE_EMPTY,
    SP_SYM_CACHE_BUSY, /* it is being evaluated: met again, it is defined through itself */
    SP_SYM_CACHE_FULL
};

/* One use of a table or part; compare struct sp_frame. */
struct sp_sym_frame {
    const struct sp_unit *unit;
    struct shapeproof_value object;   /* the settings that it reads */
    const char *path;                 /* "" or "text_config.": in front of keys */
    uint64_t depends;                 /* of the path, when it is that of an item of a list */
    const struct sp_sym_given *given; /* by `with` */
    size_t given_count;
    const struct sp_sym *params;
    const char *const *param_sources; /* beside it: sp_sym_source of each argument; NULL: not known */
    struct sp_sym *cache;             /* of unit->definitions: their values */
    char *cached;                     /* beside it: enum sp_sym_cache */
    const char *group;                /* NULL: the section's own name */
    const char *prefix;               /* in front of every name */
    size_t prefix_length;             /* of it, what a placeholder at its beginning gave */
};

/* The index of sum(i in first..last: body). */
struct sp_sym_bound {
    const char *name;
    struct sp_sym sym;
    const struct sp_sym_bound *outer;
};

/* A value for a hyper-parameter: total(vocab_size = 128000). */
struct sp_sym_setting {
    const char *key; /* or the name that the table gives it */
    struct shapeproof_value value;
};

/* The index of a loop; compare struct sp_binding. */
struct sp_sym_binding {
    struct sp_sym sym;
    const struct sp_sym_binding *outer;
    size_t number;
};

/* The names of the arguments of flops(...), by enum sp_flops_argument. */
extern const char *const sp_flops_names[SP_FLOPS_ARGUMENTS];
/* Which operations are asked for: flops(...). */
struct sp_flops {
    const char *group; /* NULL: of all */
    /* The sequences, images or sounds; the tokens, images and sounds of each sequence; the patches of each image; what
     * an encoder reads for each sequence. NULL: not given. */
    const struct sp_poly *numbers[SP_FLOPS_ARGUMENTS];
    unsigned how;            /* enum sp_flops_bits */
    bool has_every_argument; /* for a formula: it is no mistake when no row reads `patches` or `source_tokens` */
};

/* Where an expression stands, which decides what the names in it mean. */
struct sp_sym_env {
    struct sp_sym_frame *frame;
    const struct sp_section *section;
    const struct sp_sym_binding *loops; /* the section's indices, innermost first */
    const struct sp_sym *args;          /* of the function in whose body the expression stands */
    bool is_outer;                      /* the expression is one of a claim, and the frame is that of its table */
    struct sp_sym_frame *outer; /* where names that the frame does not define are looked up: claims about a table */
    /* In a claim (elsewhere NULL) what [name] is; what it is with other settings for the table, [name](key = value);
     * and what a checkpoint stores of it. Each returns NULL when there is no such group, `varied` with the reason in
     * *why. */
    const struct sp_poly *(*group)(void *context, const char *name);
    const struct sp_poly *(*varied)(void *context, const char *name, const struct sp_sym_setting *settings,
                                    size_t count, const char **why);
    const struct sp_poly *(*stored)(void *context, const char *name);
    /* In a claim about a table how many of the parameters of a group of it, or of all for NULL, are in use. NULL after
     * a message. */
    const struct sp_poly *(*active)(void *context, const char *group);
    /* How many elements the states have on the largest of `tp` ranks of tensor parallelism, and how many bytes the
     * activations, where these arguments are given. NULL after a message. */
    const struct sp_poly *(*states)(void *context, unsigned tp, const struct sp_sym_given *given, size_t count);
    const struct sp_poly *(*activations)(void *context, const struct sp_sym_given *given, size_t count);
    /* What bytes(...), lora(...) or optimizer(...) is, where `number` is the value of args[0], or NULL without one.
     * NULL after a message. */
    const struct sp_poly *(*sizing)(void *context, const struct sp_expr *expr, const struct sp_poly *number);
    /* How many operations a pass takes. NULL after a message. */
    const struct sp_poly *(*flops)(void *context, const struct sp_flops *asked);
    /* In a claim about a table what elements(NAME), count(NAME) and dim(NAME, index) are; NULL with *why. */
    const struct sp_poly *(*rows)(void *context, const struct sp_expr *expr, int64_t index, const char **why);
    void *context;
    const struct sp_sym_bound *bound; /* indices of sums around the expression, innermost first */
};

void sp_symbolic_free(struct sp_symbolic *symbolic);
/* False after a mistake, which was reported. */
bool sp_sym_eval(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                 struct sp_sym *out);
bool sp_sym_number(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                   const struct sp_poly **out);
bool sp_sym_condition(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const struct sp_poly **out);
bool sp_sym_fail(struct sp_symbolic *symbolic, struct sp_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The kind of the error about a table that cannot be counted: OVERFLOW if a coefficient does not fit in 64 bits. */
enum shapeproof_kind sp_sym_failure(const struct sp_symbolic *symbolic);
/* Between these two calls mistakes are not reported, and do not count: a look ahead may fail. There must be no look
 * ahead within another one. */
struct sp_sym_heard {
    struct sp_text *messages;
    size_t mistakes;
};
struct sp_sym_heard sp_sym_begin_look_ahead(struct sp_symbolic *symbolic);
void sp_sym_end_look_ahead(struct sp_symbolic *symbolic, struct sp_sym_heard heard);
/* Counts steps of the evaluation. False when there were too many, which was reported, or the algebra has failed. */
bool sp_sym_spend(struct sp_symbolic *symbolic, struct sp_span span, size_t steps);
/* The keys that the definitions of a table or part, or branches of them, begin with: each is a hyper-parameter of its
 * own. */
void sp_sym_note_keys(struct sp_symbolic *symbolic, const struct sp_sym_env *env);
/* The hyper-parameters of the table that its definitions name, so that each has that name wherever it is used. */
void sp_sym_name_symbols(struct sp_symbolic *symbolic, const struct sp_sym_env *env);
/* What `from` names: a sub-configuration, and the path in front of its keys. */
bool sp_sym_open_view(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *from,
                      struct sp_sym_frame *frame);

struct sp_sym sp_sym_of_poly(const struct sp_poly *poly);
struct sp_sym sp_sym_of_value(struct sp_symbolic *symbolic, struct shapeproof_value value);
/* `active` in a claim, where the group is NULL, or active([group]). */
bool sp_sym_active(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                   const char *group, struct sp_sym *out);
/* Canonical text, in the arena. */
const char *sp_sym_text(struct sp_symbolic *symbolic, const struct sp_poly *poly);
/* The symbol of that name (or key), or NULL. */
const struct sp_symbol_info *sp_sym_symbol(const struct sp_symbolic *symbolic, const char *name);

#endif
