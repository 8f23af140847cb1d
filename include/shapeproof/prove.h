/* SPDX-License-Identifier: MIT
 * Proving formulas: what a publication claims of a table, for all hyper-parameters. Claims stand in table files, or in
 * files of their own; docs/language.md describes them. */
#ifndef SHAPEPROOF_PROVE_H
#define SHAPEPROOF_PROVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/config.h"
#include "shapeproof/prediction.h"
#include "shapeproof/table.h"
#include "shapeproof/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shapeproof_verdict_on_claim {
    SHAPEPROOF_PROVED =
        0, /* an identity: both sides are the same polynomial, in every case; or an example that is right */
    SHAPEPROOF_REFUTED = 1,  /* there are hyper-parameters for which it is wrong */
    SHAPEPROOF_TESTED = 2,   /* holds at every point tried, and cannot be decided for all */
    SHAPEPROOF_UNDECIDED = 3 /* the claim cannot be evaluated; `difference` says why */
};

/* Claims as a command line gives them. */
struct shapeproof_claim_lines {
    const char *name;         /* stands for a file, in messages and in shapeproof_prove_options */
    const char *const *items; /* each a line of a file of claims: "claim total = V*E", where `claim` may be left out, or
                                 a definition, "d = n_embd" */
    size_t count;
};

/* Adds claims about the table of that name; for "checkpoint" claims about a checkpoint alone, which need no table
 * (shapeproof_verify_alone). A letter that neither the lines nor the table define gets the meaning that
 * it usually has in publications, if the table has just one hyper-parameter for it: d is the width, L the number of
 * layers. *letters then says which were taken for what, "d = E, L = N" (free it with shapeproof_free), else it is NULL.
 * SHAPEPROOF_ERR_USAGE when there is no such table, SHAPEPROOF_ERR_TABLE as shapeproof_tables_add_text. */
SHAPEPROOF_API enum shapeproof_status shapeproof_tables_add_claims(struct shapeproof_tables *tables, const char *table,
                                                                   const struct shapeproof_claim_lines *lines,
                                                                   char **letters, struct shapeproof_error *error);

struct shapeproof_proof {
    const char *table;
    const char *claim;  /* as it is written, without its source */
    const char *given;  /* what holds for all claims below the same `claims for` line, or "" */
    const char *source; /* the publication and the place in it, or "" */
    const char *file;
    size_t line;
    enum shapeproof_verdict_on_claim verdict;
    bool erratum;           /* marked as known to be wrong */
    bool as_expected;       /* proved; refuted for an erratum; with allow_tested also what was tested */
    const char *correction; /* of an erratum: the claim that stands below it, or NULL */
    const char *difference; /* "short by N*E^2: h.{i}.attn.c_proj.weight": by what is above 0 at the example; "differs
                               by ...", table less claim, where there is none. Or NULL */
    const char *counterexample; /* "E = 1, tied = false, the others 1: 13, claimed 12": hyper-parameters for which the
                                   table can be predicted, and what it and the claim give there. Of a claim that divides
                                   by zero: the hyper-parameters alone. Or NULL */
    const char *cases;          /* "in 2 cases", "holds when tied", or NULL */
    size_t points;              /* at how many points the sides agreed, for SHAPEPROOF_TESTED; they differed at none */
    size_t untried;             /* points besides: the table cannot be predicted there, or a side has no value; for
                                   SHAPEPROOF_TESTED */
    const char *const *steps;   /* with `explain`: the proof in lines, "if tied, both sides: V*E"; else NULL */
    size_t step_count;
    const char *letters; /* what the names that the table gives to hyper-parameters mean, of those in `difference`,
                            `counterexample` and `cases`: "E = n_embd, N = n_layer"; NULL for none */
};

struct shapeproof_proofs; /* opaque */

struct shapeproof_prove_options {
    const char *const *tables; /* the names of the tables whose claims are judged */
    size_t table_count;        /* 0 for all tables */
    const char *const *files;  /* where the claims stand that are judged: names under which files were added */
    size_t file_count;         /* 0 for all files */
    uint64_t allow_tested;     /* 1: a claim that was only tested is as expected */
    uint64_t explain;          /* 1: proofs have `steps` */
    const struct shapeproof_watch *watch; /* for progress, and the end before its time; NULL: none */
    uint64_t reserved[1];                 /* zero: room for later versions */
};

/* Sets the hyper-parameters of a counter-example as it is printed, "E = 1, N = 1, tied, the others 1": names are those
 * of the table or of its keys, `the others` are all numbers that have no value. What a claim gives in `when` is not
 * part of its counter-example. SHAPEPROOF_ERR_USAGE when an item cannot be read. */
SHAPEPROOF_API enum shapeproof_status shapeproof_config_set_point(struct shapeproof_config *config,
                                                                  const struct shapeproof_tables *tables,
                                                                  const char *table, const char *text,
                                                                  struct shapeproof_error *error);
/* Judges claims about tables. `options` may be NULL. NULL with an error when a name is not a table, or the watch ends
 * the call. Claims about a table that cannot be counted are undecided. `tables` must outlive the proofs. */
SHAPEPROOF_API struct shapeproof_proofs *shapeproof_prove(const struct shapeproof_tables *tables,
                                                          const struct shapeproof_prove_options *options,
                                                          struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_proofs_free(struct shapeproof_proofs *proofs);
SHAPEPROOF_API size_t shapeproof_proofs_count(const struct shapeproof_proofs *proofs);
/* Borrowed until shapeproof_proofs_free. */
SHAPEPROOF_API const struct shapeproof_proof *shapeproof_proofs_get(const struct shapeproof_proofs *proofs,
                                                                    size_t index);
SHAPEPROOF_API const char *
shapeproof_verdict_on_claim_name(enum shapeproof_verdict_on_claim verdict); /* "proved", "refuted", ... */

enum shapeproof_formula_notation { SHAPEPROOF_FORMULA_TEXT = 0, SHAPEPROOF_FORMULA_LATEX = 1 };

struct shapeproof_formula {
    const char *group;    /* "total" for the whole */
    const char *when;     /* "" for the case of the defaults, else the one condition that differs: "not tied" */
    const char *text;     /* collected and factored: "E*(V + P)"; under a condition what it adds, or takes away */
    const char *expanded; /* the same as a sum: "V*E + P*E" */
    bool is_measure;      /* `group` is no group but the name of a measure of the whole: "active" */
};

struct shapeproof_symbol {
    const char *name;     /* as it stands in the formulas: "E" */
    const char *key;      /* the hyper-parameter: "n_embd"; "" for what is computed */
    const char *fallback; /* its default in terms of the others, or "" */
    const char *formula;  /* of what is computed, and is no polynomial: "H // A"; else "" */
};

struct shapeproof_part {
    const char *name;    /* of a part that stands in the formulas several times: "x_1"; in sums over i also "x_1(i)" */
    const char *formula; /* "image_size // patch_size"; it may use the names of the parts before it */
};

struct shapeproof_derivation; /* opaque */

struct shapeproof_derive_options {
    const char
        *table; /* the name of the table; NULL: the one that the configuration chooses (see shapeproof_predict) */
    enum shapeproof_formula_notation notation;
    /* The formula of a measure alone; NULL: those of the parameters. "active": the parameters that a token uses.
     * "cache": the bytes that are kept of the tokens of one sequence, with two for an element. "flops": the operations
     * of a forward pass over one sequence or image. "activations": the bytes that training keeps for the backward pass
     * of one sequence, where the assumptions of the published formula hold. The formula is for the lists that the
     * table has by default, or for all lists of numbers, with sums over their items, if that is shorter. */
    const char *measure;
    uint64_t reserved[3]; /* zero: room for later versions */
};

/* The closed forms of a table: of each group and of the total, for the defaults of its conditions, and what each
 * condition changes. `config` holds hyper-parameters that are fixed; it may be NULL, and so may `options`, but one of
 * them must say which table: else SHAPEPROOF_ERR_USAGE. NULL with an error. */
SHAPEPROOF_API struct shapeproof_derivation *shapeproof_derive(const struct shapeproof_tables *tables,
                                                               const struct shapeproof_config *config,
                                                               const struct shapeproof_derive_options *options,
                                                               struct shapeproof_error *error);
/* The closed forms of the groups of a prediction and of its total: numbers are symbols, while texts, lists and flags
 * are as `config` has them, from which the prediction was made. Only formulas that give the numbers of the prediction
 * are there. NULL with an error. */
SHAPEPROOF_API struct shapeproof_derivation *
shapeproof_derive_prediction(const struct shapeproof_tables *tables, const struct shapeproof_prediction *prediction,
                             const struct shapeproof_config *config, struct shapeproof_error *error);
/* The formulas of the groups of a table and of its total for all cases, as a file of claims about it, which
 * shapeproof_tables_add_text reads: a flag in a formula is 1 where it holds and 0 elsewhere, [CONDITION] likewise. What
 * the formulas take for granted stands in the line `claims for TABLE when ...`. The text ends with a newline and is the
 * caller's (shapeproof_free); `length`, if it is not NULL, receives its bytes. NULL with an error when there is no such
 * table (SHAPEPROOF_ERR_USAGE), or no formula for all cases (SHAPEPROOF_ERR_UNKNOWN). */
SHAPEPROOF_API char *shapeproof_derive_claims(const struct shapeproof_tables *tables, const char *table, size_t *length,
                                              struct shapeproof_error *error);
/* The same formulas as a Python function of the hyper-parameters, which returns the numbers by group; run as a program
 * it compares them with what the table predicts at its defaults. SHAPEPROOF_ERR_UNKNOWN also where a formula needs what
 * is not written in Python. */
SHAPEPROOF_API char *shapeproof_derive_python(const struct shapeproof_tables *tables, const char *table, size_t *length,
                                              struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_derivation_free(struct shapeproof_derivation *derivation);

/* All borrowed until shapeproof_derivation_free. */

/* The name of the table. */
SHAPEPROOF_API const char *shapeproof_derivation_table(const struct shapeproof_derivation *derivation);
/* The groups that have parameters, then the total, each for the defaults; then what each condition changes in it. */
SHAPEPROOF_API size_t shapeproof_derivation_formula_count(const struct shapeproof_derivation *derivation);
SHAPEPROOF_API const struct shapeproof_formula *
shapeproof_derivation_formula(const struct shapeproof_derivation *derivation, size_t index);
/* What the formulas take for granted: that no loop of the table goes backwards, "F <= L", and how those conditions are
 * that change something only together. */
SHAPEPROOF_API size_t shapeproof_derivation_assumption_count(const struct shapeproof_derivation *derivation);
SHAPEPROOF_API const char *shapeproof_derivation_assumption(const struct shapeproof_derivation *derivation,
                                                            size_t index);
/* The parts that have a name, because they stand in long formulas several times; none where every formula has at most
 * 100 characters. In the notation of the formulas. */
SHAPEPROOF_API size_t shapeproof_derivation_part_count(const struct shapeproof_derivation *derivation);
SHAPEPROOF_API const struct shapeproof_part *shapeproof_derivation_part(const struct shapeproof_derivation *derivation,
                                                                        size_t index);
/* The symbols in the formulas. In formulas of more than 100 characters a hyper-parameter with a long name, such as
 * text_config.hidden_size, has a short one, t_hs. */
SHAPEPROOF_API size_t shapeproof_derivation_symbol_count(const struct shapeproof_derivation *derivation);
SHAPEPROOF_API const struct shapeproof_symbol *
shapeproof_derivation_symbol(const struct shapeproof_derivation *derivation, size_t index);

struct shapeproof_solution {
    const char *name;                   /* as in the formulas: "f" */
    const char *key;                    /* the hyper-parameter */
    struct shapeproof_value configured; /* the number or the flag that it is now, if it is one */
    int64_t value;                      /* the one that gives the total; of a flag 0 or 1 */
    int64_t last;     /* for a rounded total: all from `value` to this one do; INT64_MAX is without end */
    int plausibility; /* higher is more usual: powers of two and multiples of 64 first */
};

struct shapeproof_solutions; /* opaque */

struct shapeproof_expressions; /* see evaluate.h */

struct shapeproof_solve_options {
    const char
        *table; /* the name of the table; NULL: the one that the configuration chooses (see shapeproof_predict) */
    const char *group;   /* the group whose parameters are counted; NULL for all */
    double within;       /* of shapeproof_solve: how far from the total an answer may be, in per cent of it */
    const char *measure; /* "active": of the parameters those that a token uses; NULL: all */
    /* Its only expression has the wanted value, such as cache(tokens = 8192, dtype = bf16); NULL: the number of
     * parameters has it. It goes without `group` and `measure`, and is about the chosen table. The numbers `tokens`,
     * `batch`, `source_tokens` and `rank` in it are solved for, too. */
    const struct shapeproof_expressions *expressions;
    uint64_t at_most;     /* of shapeproof_solve: 1: all numbers up to `total` are wanted */
    uint64_t reserved[2]; /* zero: room for later versions */
};

/* Every hyper-parameter that, changed alone, gives `total` parameters (exactly, within options->within, or at most that
 * many), most plausible first. `options` may be NULL. NULL with an error, also if options exclude each other. */
SHAPEPROOF_API struct shapeproof_solutions *shapeproof_solve(const struct shapeproof_tables *tables,
                                                             const struct shapeproof_config *config, uint64_t total,
                                                             const struct shapeproof_solve_options *options,
                                                             struct shapeproof_error *error);
/* Likewise for a total as it is printed, "65M" or "1.5B": the values for which it rounds to that figure. `within` and
 * `at_most` are refused. */
SHAPEPROOF_API struct shapeproof_solutions *shapeproof_solve_rounded(const struct shapeproof_tables *tables,
                                                                     const struct shapeproof_config *config,
                                                                     const char *figure,
                                                                     const struct shapeproof_solve_options *options,
                                                                     struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_solutions_free(struct shapeproof_solutions *solutions);

/* All borrowed until shapeproof_solutions_free. */

/* The total that was asked for, as text, and whether several totals are meant: a rounded one, or one within some per
 * cent. */
SHAPEPROOF_API const char *shapeproof_solutions_asked(const struct shapeproof_solutions *solutions);
SHAPEPROOF_API bool shapeproof_solutions_rounded(const struct shapeproof_solutions *solutions);
/* How far from the total an answer may be, in per cent of it; 0 for a total that is exact, or rounded. */
SHAPEPROOF_API double shapeproof_solutions_within(const struct shapeproof_solutions *solutions);
/* Whether all numbers up to the total are wanted. */
SHAPEPROOF_API bool shapeproof_solutions_at_most(const struct shapeproof_solutions *solutions);
/* The expression whose value is wanted; NULL: it is the number of parameters. */
SHAPEPROOF_API const char *shapeproof_solutions_expression(const struct shapeproof_solutions *solutions);
/* The name of the table. */
SHAPEPROOF_API const char *shapeproof_solutions_table(const struct shapeproof_solutions *solutions);
/* Whether the hyper-parameters give that total as they are. */
SHAPEPROOF_API bool shapeproof_solutions_as_given(const struct shapeproof_solutions *solutions);
/* One for each hyper-parameter that can give it. */
SHAPEPROOF_API size_t shapeproof_solutions_count(const struct shapeproof_solutions *solutions);
SHAPEPROOF_API const struct shapeproof_solution *shapeproof_solutions_get(const struct shapeproof_solutions *solutions,
                                                                          size_t index);
/* Hyper-parameters of which not all values could be tried, since the count is no polynomial in them and does not grow
 * with them, or a limit was reached. None of the values that were tried gives the total, or the end of a range of such
 * values is not known. */
SHAPEPROOF_API size_t shapeproof_solutions_skipped_count(const struct shapeproof_solutions *solutions);
SHAPEPROOF_API const char *shapeproof_solutions_skipped(const struct shapeproof_solutions *solutions, size_t index);

/* Which values of several hyper-parameters give a total together, while ratios between hyper-parameters are kept. */

struct shapeproof_ratio {
    const char *of, *to; /* n_embd and n_head: n_embd / n_head stays what it is */
};

struct shapeproof_solve_together_options {
    const char
        *table; /* the name of the table; NULL: the one that the configuration chooses (see shapeproof_predict) */
    const char *group;       /* the group whose parameters are counted; NULL for all */
    double within;           /* of shapeproof_solve_together: how far from the total an answer may be, in per cent */
    const char *const *free; /* the 1 to 3 hyper-parameters that change, by key or by the table's name for them */
    size_t free_count;
    const struct shapeproof_ratio *keep; /* at most 8; one side of each is free, or follows from another ratio */
    size_t keep_count;
    uint64_t every; /* 1: every integer is tried; 0: what is a multiple of 64 stays one, and other numbers are at most
                       256, or such a multiple */
    const char *measure;  /* "active": of the parameters those that a token uses; NULL: all */
    uint64_t reserved[3]; /* zero: room for later versions */
};

struct shapeproof_solved_key {
    const char *name;                   /* as in the formulas: "E" */
    const char *key;                    /* the hyper-parameter: "n_embd" */
    struct shapeproof_value configured; /* the number that it is now, or SHAPEPROOF_VALUE_ABSENT */
    bool is_kept;                       /* it follows another one by a ratio */
};

struct shapeproof_combination {
    const int64_t *values; /* one for each key */
    uint64_t parameters;   /* the number that they give */
};

struct shapeproof_combinations; /* opaque */

/* The combinations that give `total` parameters (exactly, or within options->within). Each free hyper-parameter is
 * tried from a 32nd of its present value to 32 times it. First come round numbers (powers of two, multiples of 128,
 * below 128 multiples of 4) that change all keys by nearly the same factor; among equals the nearest. NULL with an
 * error. */
SHAPEPROOF_API struct shapeproof_combinations *
shapeproof_solve_together(const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                          uint64_t total, const struct shapeproof_solve_together_options *options,
                          struct shapeproof_error *error);
/* Likewise for a total as it is printed, "65M" or "1.5B". `within` is refused. */
SHAPEPROOF_API struct shapeproof_combinations *
shapeproof_solve_together_rounded(const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                                  const char *figure, const struct shapeproof_solve_together_options *options,
                                  struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_combinations_free(struct shapeproof_combinations *combinations);

/* All borrowed until shapeproof_combinations_free. */

/* As of shapeproof_solutions. */
SHAPEPROOF_API const char *shapeproof_combinations_asked(const struct shapeproof_combinations *combinations);
SHAPEPROOF_API bool shapeproof_combinations_rounded(const struct shapeproof_combinations *combinations);
SHAPEPROOF_API double shapeproof_combinations_within(const struct shapeproof_combinations *combinations);
SHAPEPROOF_API const char *shapeproof_combinations_table(const struct shapeproof_combinations *combinations);
/* What changes: the free hyper-parameters as they were given, then those that follow by a ratio. */
SHAPEPROOF_API size_t shapeproof_combinations_key_count(const struct shapeproof_combinations *combinations);
SHAPEPROOF_API const struct shapeproof_solved_key *
shapeproof_combinations_key(const struct shapeproof_combinations *combinations, size_t index);
/* The best first; at most 256. */
SHAPEPROOF_API size_t shapeproof_combinations_count(const struct shapeproof_combinations *combinations);
SHAPEPROOF_API const struct shapeproof_combination *
shapeproof_combinations_get(const struct shapeproof_combinations *combinations, size_t index);
/* Whether there may be more: the limit of answers, or that of the values that are tried, was reached. */
SHAPEPROOF_API bool shapeproof_combinations_is_cut(const struct shapeproof_combinations *combinations);

#ifdef __cplusplus
}
#endif
#endif
