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

#ifdef __cplusplus
extern "C" {
#endif

enum sp_verdict_on_claim {
    SP_PROVED,   /* an identity: both sides are the same polynomial, in every case; or an example that is right */
    SP_REFUTED,  /* there are hyper-parameters for which it is wrong */
    SP_TESTED,   /* holds at every point tried, and cannot be decided for all */
    SP_UNDECIDED /* the claim cannot be evaluated; `difference` says why */
};

struct sp_proof {
    const char *table;
    const char *claim;  /* as it is written, without its source */
    const char *given;  /* what holds for all claims below the same `claims for` line, or "" */
    const char *source; /* the publication and the place in it, or "" */
    const char *file;
    size_t line;
    enum sp_verdict_on_claim verdict;
    bool erratum;           /* marked as known to be wrong */
    bool as_expected;       /* proved; refuted for an erratum; with allow_tested also what was tested */
    const char *correction; /* of an erratum: the claim that stands below it, or NULL */
    const char *difference; /* "short by N*E^2: h.{i}.attn.c_proj.weight": by what is above 0 at the example; "differs
                               by ...", table less claim, where there is none. Or NULL */
    const char *counterexample; /* "E = 1, tied = false, the others 1: 13, claimed 12": hyper-parameters for which the
                                   table can be predicted, and what it and the claim give there; or NULL */
    const char *cases;          /* "in 2 cases", "holds when tied", or NULL */
    size_t points;              /* at how many points the sides agreed, for SP_TESTED; they differed at none */
    size_t untried; /* points besides: the table cannot be predicted there, or a side has no value; for SP_TESTED */
};

struct sp_proofs; /* opaque */

struct sp_prove_options {
    const char *const *tables; /* the names of the tables whose claims are judged */
    size_t table_count;        /* 0 for all tables */
    const char *const *files;  /* where the claims stand that are judged: names under which files were added */
    size_t file_count;         /* 0 for all files */
    uint64_t allow_tested;     /* 1: a claim that was only tested is as expected */
    uint64_t reserved[3];      /* zero: room for later versions */
};

/* Judges claims about tables. `options` may be NULL. NULL with an error when a name is not a table. Claims about a
 * table that cannot be counted are undecided. `tables` must outlive the proofs. */
SP_API struct sp_proofs *sp_prove(const struct sp_tables *tables, const struct sp_prove_options *options,
                                  struct sp_error *error);
SP_API void sp_proofs_free(struct sp_proofs *proofs);
SP_API size_t sp_proofs_count(const struct sp_proofs *proofs);
/* Borrowed until sp_proofs_free. */
SP_API const struct sp_proof *sp_proofs_get(const struct sp_proofs *proofs, size_t index);
SP_API const char *sp_verdict_on_claim_name(enum sp_verdict_on_claim verdict); /* "proved", "refuted", ... */

enum sp_notation_of_formula { SP_FORMULA_TEXT = 0, SP_FORMULA_LATEX };

struct sp_formula {
    const char *group;    /* "" and the name "total" for the whole */
    const char *when;     /* "" for the case of the defaults, else the one condition that differs: "not tied" */
    const char *text;     /* collected and factored: "E*(V + P)" */
    const char *expanded; /* "V*E + P*E" */
};

struct sp_symbol {
    const char *name;     /* as it stands in the formulas: "E" */
    const char *key;      /* the hyper-parameter: "n_embd"; "" for what is computed */
    const char *fallback; /* its default in terms of the others, or "" */
    const char *formula;  /* of what is computed, and is no polynomial: "H // A"; else "" */
};

struct sp_derivation; /* opaque */

struct sp_derive_options {
    const char *table; /* the name of the table; NULL: the one that the configuration chooses (see sp_predict) */
    enum sp_notation_of_formula notation;
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* The closed forms of a table: of each group and of the total, for the defaults of its conditions, and what each
 * condition changes. `config` holds hyper-parameters that are fixed; it may be NULL, and so may `options`, but one of
 * them must say which table: else SP_ERR_USAGE. NULL with an error. */
SP_API struct sp_derivation *sp_derive(const struct sp_tables *tables, const struct sp_config *config,
                                       const struct sp_derive_options *options, struct sp_error *error);
/* The closed forms of the groups of a prediction and of its total: numbers are symbols, while texts, lists and flags
 * are as `config` has them, from which the prediction was made. Only formulas that give the numbers of the prediction
 * are there. NULL with an error. */
SP_API struct sp_derivation *sp_derive_prediction(const struct sp_tables *tables,
                                                  const struct sp_prediction *prediction,
                                                  const struct sp_config *config, struct sp_error *error);
SP_API void sp_derivation_free(struct sp_derivation *derivation);

/* All borrowed until sp_derivation_free. */

/* The name of the table. */
SP_API const char *sp_derivation_table(const struct sp_derivation *derivation);
/* The groups that have parameters, then the total, each for the defaults; then what each condition changes in it. */
SP_API size_t sp_derivation_formula_count(const struct sp_derivation *derivation);
SP_API struct sp_formula sp_derivation_formula(const struct sp_derivation *derivation, size_t index);
/* What the formulas take for granted: that no loop of the table goes backwards, "F <= L", and how those conditions are
 * that change something only together. */
SP_API size_t sp_derivation_assumption_count(const struct sp_derivation *derivation);
SP_API const char *sp_derivation_assumption(const struct sp_derivation *derivation, size_t index);
/* The symbols in the formulas. */
SP_API size_t sp_derivation_symbol_count(const struct sp_derivation *derivation);
SP_API struct sp_symbol sp_derivation_symbol(const struct sp_derivation *derivation, size_t index);

struct sp_solution {
    const char *name;           /* as in the formulas: "f" */
    const char *key;            /* the hyper-parameter */
    struct sp_value configured; /* the number or the flag that it is now, if it is one */
    int64_t value;              /* the one that gives the total; of a flag 0 or 1 */
    int64_t last;               /* for a rounded total: all from `value` to this one do; INT64_MAX is without end */
    int plausibility;           /* higher is more usual: powers of two and multiples of 64 first */
};

struct sp_solutions; /* opaque */

struct sp_solve_options {
    const char *table;    /* the name of the table; NULL: the one that the configuration chooses (see sp_predict) */
    const char *group;    /* the group whose parameters are counted; NULL for all */
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* Every hyper-parameter that, changed alone, gives exactly `total` parameters, most plausible first. `options` may be
 * NULL. NULL with an error. */
SP_API struct sp_solutions *sp_solve(const struct sp_tables *tables, const struct sp_config *config, uint64_t total,
                                     const struct sp_solve_options *options, struct sp_error *error);
/* Likewise for a total as it is printed, "65M" or "1.5B": the values for which it rounds to that figure. */
SP_API struct sp_solutions *sp_solve_rounded(const struct sp_tables *tables, const struct sp_config *config,
                                             const char *figure, const struct sp_solve_options *options,
                                             struct sp_error *error);
SP_API void sp_solutions_free(struct sp_solutions *solutions);

/* All borrowed until sp_solutions_free. */

/* The total that was asked for, as text, and whether it is a rounded one. */
SP_API const char *sp_solutions_asked(const struct sp_solutions *solutions);
SP_API bool sp_solutions_rounded(const struct sp_solutions *solutions);
/* The name of the table. */
SP_API const char *sp_solutions_table(const struct sp_solutions *solutions);
/* Whether the hyper-parameters give that total as they are. */
SP_API bool sp_solutions_as_given(const struct sp_solutions *solutions);
/* One for each hyper-parameter that can give it. */
SP_API size_t sp_solutions_count(const struct sp_solutions *solutions);
SP_API struct sp_solution sp_solutions_get(const struct sp_solutions *solutions, size_t index);
/* Hyper-parameters of which not all values could be tried, since the count is no polynomial in them and does not grow
 * with them; none of the values that were tried gives the total. */
SP_API size_t sp_solutions_skipped_count(const struct sp_solutions *solutions);
SP_API const char *sp_solutions_skipped(const struct sp_solutions *solutions, size_t index);

#ifdef __cplusplus
}
#endif
#endif
