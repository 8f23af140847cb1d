/* SPDX-License-Identifier: MIT
 * The value of an expression for all hyper-parameters at once. A number becomes a polynomial, a condition a polynomial
 * whose value is 0 or 1. What is neither (a floor, a list that is not known) becomes an opaque atom, equal only to
 * itself. Names of classes and lists have the value that the table gives by default, unless they are set: a formula is
 * proved for one architecture, not for all names at once. */
#ifndef SP_PROVE_SYMBOLIC_H
#define SP_PROVE_SYMBOLIC_H

#include "config/config.h"
#include "lang/tables.h"
#include "math/poly.h"

enum sp_sym_kind {
    SP_SYM_NUMBER,    /* poly */
    SP_SYM_CONDITION, /* poly, 0 or 1 */
    SP_SYM_VALUE,     /* a text, a list, an object whose value is known */
    SP_SYM_OPAQUE,    /* a text, a list, an object that is only named: `name` */
    SP_SYM_EITHER     /* either[0] where the condition `poly` holds, else either[1]; one of them is no number */
};

struct sp_sym {
    enum sp_sym_kind kind;
    const struct sp_poly *poly;
    struct sp_value value;
    const char *name;
    const struct sp_sym *either;
};

/* A symbol of the formulas: a hyper-parameter, under the name that the table gives it. */
struct sp_symbol_info {
    size_t atom;
    const char *name;               /* "E" */
    const char *key;                /* "n_embd" */
    const struct sp_poly *fallback; /* its default in terms of other symbols, or NULL */
};

/* A condition that compares two numbers: it is decided as soon as these have values. */
struct sp_comparison {
    size_t atom;
    const struct sp_poly *gap;
    bool equality; /* holds when the gap is 0; otherwise when it is above 0 */
};

struct sp_symbolic {
    struct sp_algebra algebra;
    const struct sp_unit *root;      /* the table that is counted */
    const struct sp_hyper *settings; /* what the user fixed, or NULL */
    uint64_t settings_read;          /* which members of it were looked at, as bits; those from 64 on are not told */
    struct sp_comparison *comparisons;
    size_t comparison_count, comparison_capacity;
    struct sp_symbol_info *symbols;
    size_t symbol_count, symbol_capacity;
    uint64_t *depends; /* for each atom: the loop indices that are in it, as bits */
    size_t depends_capacity;
    struct sp_text *messages;
    size_t mistakes;
    bool scalars;          /* a hyper-parameter that is no list stands for both sides of a pair: at(x, 0) is x */
    unsigned depth, loops; /* open loops */
};

struct sp_sym_given {
    const char *key;
    struct sp_sym sym;
};

/* One use of a table or part; compare struct sp_frame. */
struct sp_sym_frame {
    const struct sp_unit *unit;
    const char *path;                 /* "" or "text_config.": in front of keys */
    const struct sp_sym_given *given; /* by `with` */
    size_t given_count;
    const struct sp_sym *params;
    struct sp_sym *cache; /* of unit->definitions */
    char *cached;         /* 0 no, 1 under way, 2 done */
    const char *group;    /* NULL: the section's own name */
    const char *prefix;   /* in front of every name */
};

struct sp_sym_binding {
    const char *name;
    struct sp_sym sym;
    const struct sp_sym_binding *outer;
};

struct sp_sym_env {
    struct sp_sym_frame *frame;
    const struct sp_section *section;
    const struct sp_sym_binding *bindings;
    const struct sp_definition *defining;
    struct sp_sym_frame *outer; /* where names that the frame does not define are looked up: claims about a table */
    const struct sp_poly *(*group)(void *context, const char *name); /* [name] in a claim; NULL elsewhere */
    void *context;
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

struct sp_sym sp_sym_of_poly(const struct sp_poly *poly);
struct sp_sym sp_sym_of_value(struct sp_symbolic *symbolic, struct sp_value value);
/* An atom with that text which stands for something that depends on these loop indices. */
const struct sp_poly *sp_sym_opaque(struct sp_symbolic *symbolic, bool condition, uint64_t depends, const char *text);
/* Which loop indices a polynomial depends on. */
uint64_t sp_sym_depends(const struct sp_symbolic *symbolic, const struct sp_poly *poly);
/* Canonical text, in the arena. */
const char *sp_sym_text(struct sp_symbolic *symbolic, const struct sp_poly *poly);
/* The symbol of that name (or key), or NULL. */
const struct sp_symbol_info *sp_sym_symbol(const struct sp_symbolic *symbolic, const char *name);

#endif
