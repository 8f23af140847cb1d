/* SPDX-License-Identifier: MIT
 * What solve.c, for one hyper-parameter, and solve_together.c, for several, have in common. */
#ifndef SP_PROVE_SOLVE_H
#define SP_PROVE_SOLVE_H

#include "lang/tables.h"
#include "prove/printed.h"
#include "prove/symbolic/count.h"
#include "shapeproof/prove.h"

/* The numbers of parameters that answer the question. */
struct sp_solve_target {
    struct sp_printed wanted;
    double within;     /* per cent of the total; 0 where it is exact or rounded */
    const char *asked; /* as the user put it: "124439808", "350000000 within 2%", "1.5B" */
    char text[96];     /* what `asked` points to, where it is no figure */
};

/* The numbers at most `within` per cent away from the total. False with an error when that is no percentage, or too
 * large. */
bool sp_solve_target_total(struct sp_solve_target *target, uint64_t total, double within,
                           struct shapeproof_error *error);
/* The numbers that round to the figure, which must outlive the target. False with an error when it is none. */
bool sp_solve_target_figure(struct sp_solve_target *target, const char *figure, struct shapeproof_error *error);

/* The least wanted number where all those up to the most are wanted, negative ones too. */
#define SP_SOLVE_NO_LEAST INT64_MIN

/* What is counted, and must have the wanted value. */
struct sp_solve_question {
    const struct shapeproof_tables *tables;
    const struct sp_unit *table;
    const struct shapeproof_config *config;
    const char *group;            /* whose count is wanted; NULL: the total */
    struct sp_printed wanted;     /* the counts that are wanted, from least, which may be SP_SOLVE_NO_LEAST, to most */
    bool is_active;               /* of the parameters those count that a token uses */
    const struct sp_claim *claim; /* an expression whose value is wanted in place of a count; NULL: there is none */
    const struct sp_unit *unit;   /* where that expression stands */
};

/* What the question is about, of a table that was counted. NULL with a message when that is not known. */
const struct sp_poly *sp_solve_count(const struct sp_solve_question *question, struct sp_count *count);
/* Fails with the reason why what the question is about is not known of that count. */
bool sp_solve_fail(const struct sp_count *count, struct shapeproof_error *error);
/* Says that an option does not go with what `other` names; always false. */
bool sp_solve_refuse(const char *option, const char *other, struct shapeproof_error *error);
/* Whether `measure` is one that can be solved for, or NULL; false with the error. */
bool sp_solve_check_measure(const char *measure, struct shapeproof_error *error);

/* False with an error when the table is known to have no such group, or does not say what a token uses. A table that
 * cannot be counted passes. */
bool sp_solve_check_group(const struct sp_solve_question *question, struct shapeproof_error *error);
bool sp_solve_is_wanted(const struct sp_solve_question *question, struct sp_rational count);
/* The number that is asked about when the table is predicted under `config`, which is limited for that to a size that
 * takes a few hundredths of a second. *tensors, unless `tensors` is NULL, grows by the number of tensors that are
 * predicted; by the limit of that size if there would be more. False with the error when the table cannot be
 * predicted, or that number is not known. */
bool sp_solve_predict(const struct sp_solve_question *question, struct shapeproof_config *config,
                      struct sp_rational *count, size_t *tensors, struct shapeproof_error *error);

/* ---- solve_expression.c ---- */

/* The value of the expression in the count. NULL when it has none. */
const struct sp_poly *sp_solve_expression(const struct sp_solve_question *question, const struct sp_expr *expr,
                                          struct sp_count *count);

/* Whether the expression grows, or stays, where its measures do: it has no operation but sums and products of measures
 * and positive numbers, and quotients by positive numbers. */
bool sp_solve_is_monotone(const struct sp_expr *expr);

/* What is solved for beside the hyper-parameters: a number that the expression gives to its measures. */
struct sp_solve_argument {
    const char *name;  /* "tokens" */
    int64_t value;     /* as the expression gives it first */
    bool is_ambiguous; /* it gives several values */
};
struct sp_solve_arguments {
    struct sp_solve_argument items[7]; /* tokens, batch, source_tokens, images, sounds, patches, rank */
    size_t count;
};
/* Adds the arguments of all measures in the expression. */
void sp_solve_find_arguments(const struct sp_expr *expr, struct sp_solve_arguments *arguments);
/* The value of the question's expression if the argument had another value. `settled` is the count of the table in
 * which it is evaluated, zero before the first call; sp_count_free it after the last one. False when it has none. */
bool sp_solve_count_argument(const struct sp_solve_question *question, struct sp_count *settled, const char *name,
                             int64_t value, struct sp_rational *number);

#endif
