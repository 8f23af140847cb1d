/* SPDX-License-Identifier: MIT
 * One claim being judged: shared by the files that read it, decide it and describe what is wrong with it. */
#ifndef SP_PROVE_TRIAL_H
#define SP_PROVE_TRIAL_H

#include "prove/explanation.h"
#include "prove/symbolic/reduce.h"
#include "shapeproof/prove.h"

enum sp_premise_kind {
    SP_PREMISE_VALUE,   /* it has that value */
    SP_PREMISE_DEFAULT, /* it has the table's default: H = 4*E */
    SP_PREMISE_QUOTIENT /* its default is a quotient, H // A, and H is the product: H = A*D */
};

/* What is assumed of one hyper-parameter besides what a claim says. */
struct sp_premise {
    enum sp_premise_kind kind;
    const char *key;
    int64_t value; /* of SP_PREMISE_VALUE: of a flag 0 or 1 */
};

/* The number of parameters of each group, such as what a file stores or what is predicted. */
struct sp_group_sums {
    const struct sp_group_sum {
        const char *name;
        int64_t parameters;
    } * items;
    size_t count;
    int64_t total; /* with what is in no group of the table */
    int64_t bytes; /* of what a checkpoint stores: stored(bytes) */
    /* Changes *value, what elements(NAME), count(NAME) or dim(NAME, index) is for the rows of the table, to what it is
     * here; false with *why. NULL where it is the same. */
    bool (*rows)(const void *context, const struct sp_expr *expr, int64_t index, int64_t *value, const char **why);
    const void *context;
};

struct sp_trial {
    struct sp_arena *arena; /* of what the proof says; outlives the count */
    struct sp_count *count;
    const struct sp_unit *unit; /* where the claim stands */
    const struct sp_claim *claim;
    const char *uncounted;                    /* why the table cannot be counted without settings, or NULL: it can be */
    const struct shapeproof_config *settings; /* the texts and lists of `when`, under which the table is counted */
    struct sp_values when;                    /* the numbers and conditions of `when` */
    bool is_contradictory;                    /* the item of `when` that was read last contradicts those before it */
    bool *replaced; /* by index in claim->when: an item of `claims for ... when` that the claim itself replaces */
    const struct sp_premise *premises; /* what is assumed beside `when` */
    size_t premise_count;
    const struct sp_group_sums *sums;   /* that [group] and `total` stand for; NULL: those of the table */
    const struct sp_group_sums *stored; /* what a checkpoint stores; NULL: there is none */
    const struct sp_poly *left, *right; /* the sides, under `when` */
    const struct sp_poly *error;        /* right - left: what the claim says too much */
    bool asks_rows;   /* it is about rows, elements(NAME): that a row is as large as the difference says nothing */
    bool asks_active; /* it is about what is in use */
    bool looks_ahead; /* measures are counted for their symbols alone: open conditions of formulas do not matter */
    struct sp_divisors *divisors;       /* what the sides divide by is added to it; NULL: nobody asks for it */
    int failed_replays;                 /* of points that were no counter-example where the table is counted */
    struct sp_explanation *explanation; /* the steps of the proof are added to it; NULL: nobody asks for them */
    struct shapeproof_proof proof;
};

/* trial.c: reading. Each is false after it made the proof undecided, with the reason. */
bool sp_trial_undecided(struct sp_trial *trial, const char *why);
/* The texts and lists of `when`, by key; nothing for a claim that gives none. */
bool sp_trial_read_settings(struct sp_trial *trial, struct shapeproof_config *into);
/* Whether the table, counted under the settings, is about them: it reads each, and its requirements hold. */
bool sp_trial_check_settings(struct sp_trial *trial);
bool sp_trial_read_when(struct sp_trial *trial);
/* What the line `claims for ... when` says, without what the claim itself gives another value. */
const char *sp_trial_given(const struct sp_trial *trial);
bool sp_trial_read_sides(struct sp_trial *trial);
/* The key behind a name: itself, or that of the definition "cell = rnn_cell_type default ..."; NULL when the definition
 * computes something. */
const char *sp_trial_key_of_name(const struct sp_trial *trial, const char *name);
/* The sum of a group, or of "total"; a group of the table that is not among the sums is empty. NULL when the table has
 * no such group. */
const struct sp_poly *sp_trial_sum_of_group(const struct sp_trial *trial, const struct sp_group_sums *sums,
                                            const char *name);
/* The same of what [group] and `total` stand for in the claim: trial->sums, or the table. */
const struct sp_poly *sp_trial_group(const struct sp_trial *trial, const char *name);
/* Where the expressions of the claim are evaluated; its context is the trial. */
struct sp_sym_env sp_trial_env(struct sp_trial *trial);
/* A premise as an equation, *symbol = *value, where the value is in terms of other symbols. False when the count has no
 * such symbol, or none with such a default. */
bool sp_premise_put(struct sp_count *count, const struct sp_premise *premise, const struct sp_symbol_info **symbol,
                    const struct sp_poly **value);
/* Whether what the claim gives in `when`, but for `defaults`, is so where the table is counted with all settled. *why
 * says what is not. */
bool sp_trial_applies(struct sp_trial *trial, const char **why);
/* Whether the claim is about the defaults of all flags: the word `defaults` in `when`. */
bool sp_claim_takes_defaults(const struct sp_claim *claim);
/* Whether `when` gives a text or a list, so that the claim is about another count of the table. */
bool sp_claim_has_settings(const struct sp_claim *claim);
/* Solves gap = 0 for a hyper-parameter in which it is linear: *atom has the *value, in terms of others. False when
 * there is no such hyper-parameter. */
bool sp_trial_solve(struct sp_trial *trial, const struct sp_poly *gap, size_t *atom, const struct sp_poly **value);

/* split.c: proves the claim by cases, X = 2*q and X = 2*q + 1; false when that is no proof. */
bool sp_trial_prove_by_splitting(struct sp_trial *trial);

/* difference.c */
const char *sp_rational_text(struct sp_arena *arena, struct sp_rational value);
/* "short by V*E: [head]", "too large by 2*E": by how much the claim is wrong, whose error has that sign at the
 * counter-example. With the sign 0, "differs by", it is the amount that the claim lacks. */
const char *sp_trial_describe(struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *error,
                              int sign);
/* Refutes the claim in the case of those values, in which its sides differ by `error`, with a counter-example that was
 * replayed: hyper-parameters for which the table can be predicted. False when none was found. */
bool sp_trial_refute(struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *error);

/* replay.c: both sides of the claim where the table is given these values, and has its defaults for all else. False
 * when that is no point at which both have a value. */
bool sp_trial_sides_at(const struct sp_trial *trial, const struct sp_values *values, struct sp_rational *left,
                       struct sp_rational *right);
/* Why the sides of the claim have no value at the point: "it divides by zero", or an argument of ceil_div or round_up
 * is too small. NULL where they have one, or lack it for another reason. Static. */
const char *sp_trial_gap_at(const struct sp_trial *trial, const struct sp_values *values);
/* Whether a table of these values can be predicted: it covers them, and every dimension is a whole number. */
bool sp_trial_is_possible(const struct sp_trial *trial, const struct sp_values *values);
/* "E = 3, tied = false, the others 1": all that must be given, beside what `when` says, for these values; "" for
 * nothing. If the values are of all numbers, a number is named when it is among the first `varied` values and one of
 * the polynomials depends on it; the others are one size. If not, every number is named. */
const char *sp_trial_point_words(struct sp_trial *trial, const struct sp_values *values, size_t varied,
                                 const struct sp_poly *const *polys, size_t count);
/* "13, claimed 12" */
const char *sp_trial_sides_words(struct sp_trial *trial, struct sp_rational truth, struct sp_rational claimed);

/* points.c: the values of both sides when the claim's values and the table's defaults are put in; false, and undecided,
 * when they do not decide them, or the table cannot be predicted so. */
bool sp_trial_numbers(struct sp_trial *trial, struct sp_rational *left, struct sp_rational *right);
/* Refutes a proved claim that divides by zero where all is as by default: it says nothing there. */
void sp_trial_check_at_defaults(struct sp_trial *trial);
/* Refutes a proved or tested claim that divides by zero at some point which `when` allows: [a]/(N - 1) = ... at N = 1.
 */
void sp_trial_check_poles(struct sp_trial *trial);
/* Judges a claim that no polynomial decides by trying points: it is refuted, tested, or undecided if none can be tried.
 */
void sp_trial_try_points(struct sp_trial *trial);

#endif
