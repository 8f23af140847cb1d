/* SPDX-License-Identifier: MIT
 * Reports: what was found, as text for people or as JSON for programs. A report is a pure function of its arguments:
 * the same inventory and options give the same bytes, whatever the locale, the environment or the terminal.
 * Every returned text is NUL-terminated, ends with a newline and belongs to the caller: give it to shapeproof_free.
 * `options` may be NULL; `length`, if it is not NULL, receives the number of bytes without the NUL. A report cannot
 * fail. */
#ifndef SHAPEPROOF_REPORT_H
#define SHAPEPROOF_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/breakdown.h"
#include "shapeproof/card.h"
#include "shapeproof/check.h"
#include "shapeproof/components.h"
#include "shapeproof/diff.h"
#include "shapeproof/evaluate.h"
#include "shapeproof/figures.h"
#include "shapeproof/fit.h"
#include "shapeproof/infer.h"
#include "shapeproof/inventory.h"
#include "shapeproof/learn.h"
#include "shapeproof/load.h"
#include "shapeproof/models.h"
#include "shapeproof/prediction.h"
#include "shapeproof/prove.h"
#include "shapeproof/resume.h"
#include "shapeproof/run.h"
#include "shapeproof/table.h"
#include "shapeproof/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A report that does not have the format is text. */
enum shapeproof_report_format {
    SHAPEPROOF_REPORT_TEXT = 0,
    SHAPEPROOF_REPORT_JSON = 1,
    SHAPEPROOF_REPORT_MARKDOWN = 2, /* of a derivation, a check, components: to be pasted into a page */
    SHAPEPROOF_REPORT_CSV =
        3, /* of an evaluation, an inventory, a check, components, tables, models: RFC 4180 with a heading */
    SHAPEPROOF_REPORT_SARIF = 4, /* of checked checkpoints, claims: see shapeproof_report_checked */
    SHAPEPROOF_REPORT_JUNIT = 5, /* likewise */
    SHAPEPROOF_REPORT_HTML = 6,  /* of an inventory, a check, a diff, a verification: a page that needs no other file */
    SHAPEPROOF_REPORT_HTML_PART =
        7 /* of an inventory, a verification: a part of such a page, for shapeproof_report_document */
};

/* What every report can be told. All zero is text without colour and without a limit of width. */
struct shapeproof_report_options {
    enum shapeproof_report_format format;
    unsigned width; /* text: the columns to fit into as far as nothing need be cut for it; 0 for no limit */
    bool color;     /* text: ANSI escapes */
    /* Text: a line for each finding, tensor or claim. Otherwise findings and tensors that differ in their indices alone
     * share a line, and claims that are as expected are only counted. */
    bool all;
    const struct shapeproof_loadings *loadings;    /* of a check: what loaders make of it; NULL when none was asked */
    const struct shapeproof_tables_filter *filter; /* of tables: which; NULL for all */
    const struct shapeproof_verification *claims;  /* of a check: claims about its checkpoint; NULL for none */
    const struct shapeproof_fit *fit; /* of a check: whether the model fits in a memory; NULL when that was not asked */
};

enum shapeproof_inspect_view {
    SHAPEPROOF_INSPECT_LIST = 0,     /* one line per tensor */
    SHAPEPROOF_INSPECT_TREE = 1,     /* nested by the components of the names, equal siblings folded into one */
    SHAPEPROOF_INSPECT_PREFIXES = 2, /* sub-totals of the prefixes of `depth` components */
    SHAPEPROOF_INSPECT_TOTALS = 3,   /* no tensors, only what follows them */
    SHAPEPROOF_INSPECT_OFFSETS = 4   /* one line per tensor: where its data are in the file */
};

enum shapeproof_inspect_sort {
    SHAPEPROOF_SORT_FILE = 0, /* as the file lists them */
    SHAPEPROOF_SORT_NAME = 1, /* by name, numbers by their value: layers.2 before layers.10 */
    SHAPEPROOF_SORT_SIZE = 2  /* most bytes first */
};

struct shapeproof_report_inspect_options {
    struct shapeproof_report_options report;
    enum shapeproof_inspect_view view; /* text only: JSON always lists the tensors */
    enum shapeproof_inspect_sort sort;
    const char *filter; /* a shell pattern (`*`, `?`, `[...]`) that a name must match as a whole, or NULL */
    unsigned depth;     /* TREE: levels to unfold, 0 for all; PREFIXES: components of a prefix, 0 counts as 1 */
    /* Where whole lines go as soon as there are some, so that the text of a million tensors need not fit into memory;
     * what is left is returned. NULL: all is returned. */
    void (*sink)(void *to, const char *bytes, size_t length);
    void *to;                                           /* for the sink */
    const struct shapeproof_quantised_model *quantised; /* NULL where weights are stored as they are */
    bool no_heading; /* CSV: without titles, to stand below the rows of another checkpoint */
};

/* What a checkpoint holds. With a filter the tensors and totals are those of the matching tensors; JSON keeps "totals"
 * for the whole checkpoint and adds "selected". Warnings are part of the JSON alone: a program that prints the text
 * shows them by itself. */
SHAPEPROOF_API char *shapeproof_report_inspect(const struct shapeproof_inventory *inventory,
                                               const struct shapeproof_report_inspect_options *options, size_t *length);

struct shapeproof_report_breakdown_options {
    struct shapeproof_report_options report; /* `width`: when there is room, text has bars, too */
    bool exact;      /* text, Markdown: all digits, in place of 124.4 M and 474.7 MiB; JSON and CSV always have them */
    bool unicode;    /* text: bars of block characters, in place of "#" */
    bool no_heading; /* CSV: without titles, to stand below the rows of another checkpoint */
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* Where the parameters and the bytes are. */
SHAPEPROOF_API char *shapeproof_report_breakdown(const struct shapeproof_breakdown *breakdown,
                                                 const struct shapeproof_report_breakdown_options *options,
                                                 size_t *length);

struct shapeproof_report_predict_options {
    struct shapeproof_report_options report;
    const struct shapeproof_derivation
        *forms; /* of shapeproof_derive_prediction: formulas beside the sub-totals; NULL for none */
    const struct shapeproof_predicted_size *size; /* to be reported; NULL: the bytes are, when every dtype is known */
    uint64_t reserved[3];                         /* zero: room for later versions */
};

/* What a checkpoint should hold. */
SHAPEPROOF_API char *shapeproof_report_predict(const struct shapeproof_prediction *prediction,
                                               const struct shapeproof_report_predict_options *options, size_t *length);

/* The verdict first, then causes, then findings. */
SHAPEPROOF_API char *shapeproof_report_check(const struct shapeproof_check *check,
                                             const struct shapeproof_report_options *options, size_t *length);

/* What came of a checkpoint that was to be checked. */
struct shapeproof_checked {
    const char *path;                             /* as the user named it */
    int status;                                   /* the exit status of `shapeproof check` for it */
    const struct shapeproof_check *check;         /* NULL when there is none: `error` says why */
    const struct shapeproof_loadings *loadings;   /* NULL when none were asked */
    const struct shapeproof_verification *claims; /* NULL when there are none */
    const struct shapeproof_error *error;         /* NULL when there is a check */
    const struct shapeproof_fit *fit;             /* NULL when it was not asked whether the model fits in a memory */
    const char *command;                          /* that was to be run: "prove"; NULL is "check" */
};

/* Documents about one checkpoint or many. `options->format` is one of four:
 *
 * SARIF 2.1.0 (OASIS). A result is a finding; a cause; a loader that does not load the checkpoint whole; a claim that
 * does not hold; a warning; or the reason for which a checkpoint could not be checked. The level is the severity, but
 * not above that of the cause that explains the finding. Expected findings are suppressed, with their reason.
 *
 * JUnit XML (the schema of Jenkins). A checkpoint is a test case: it passes with status 0, fails with status 1, and is
 * an error otherwise. The text of a failure is the report of the check.
 *
 * HTML. A page with a table of all checkpoints, and the report of each. Parts about checkpoints that were not checked
 * are those of SHAPEPROOF_REPORT_HTML_PART. The page has less than 2 MB: it says what it leaves out.
 *
 * Markdown. The reports of the checks, or the reason for which a checkpoint could not be checked, with an empty line
 * between two.
 *
 * shapeproof_report_checked makes the part of one checkpoint, which may be "". Parts can be made by different
 * processes. shapeproof_report_document makes the document of the parts, in their order. */
SHAPEPROOF_API char *shapeproof_report_checked(const struct shapeproof_checked *checked,
                                               const struct shapeproof_report_options *options, size_t *length);
SHAPEPROOF_API char *shapeproof_report_document(const char *const *parts, size_t count,
                                                const struct shapeproof_report_options *options, size_t *length);

/* Why a command ended without its report, as JSON: the schema shapeproof.error/1. Of `failed` the `status`, which is
 * the exit status of the command, the `error` and the `path` are used; the path is NULL if the error is about no file.
 */
SHAPEPROOF_API char *shapeproof_report_error(const struct shapeproof_checked *failed, size_t *length);

/* What came of a component: a check, and what loaders make of it if they were asked; or why there is none. */
struct shapeproof_component_result {
    const struct shapeproof_check *check;       /* NULL when there is none */
    const struct shapeproof_loadings *loadings; /* NULL when none were asked */
    const struct shapeproof_error *error;       /* of a model that could not be checked; else NULL */
};

/* The worst verdict first, then a line for each component, then the reports of those that differ, or that a loader does
 * not take whole; with `options->all` of all. `results` are as many as components, in their order. */
SHAPEPROOF_API char *shapeproof_report_components(const struct shapeproof_components *components,
                                                  const struct shapeproof_component_result *results,
                                                  const struct shapeproof_report_options *options, size_t *length);
/* What came of a model of a run. */
struct shapeproof_run_result {
    int status;           /* the exit status of `shapeproof check` for it */
    const char *verdict;  /* "match", "explained", "differs", "unknown", or "unreadable" */
    const char *reason;   /* one sentence: that of the verdict, or the error */
    const char *report;   /* its report as text, for those that differ; or NULL */
    const char *document; /* its line in a list of JSON, as `shapeproof check --list` writes it; or NULL */
};

/* The worst verdict first, with the last and the best step, then a table of the steps and their files, then the reports
 * of the models that differ; with `options->all` of all. `results` are as many as models, in their order. */
SHAPEPROOF_API char *shapeproof_report_run(const struct shapeproof_run *run,
                                           const struct shapeproof_run_result *results,
                                           const struct shapeproof_report_options *options, size_t *length);

/* Whether training can go on: the verdict, then a line for each statement, what is wrong first. Text or JSON. */
SHAPEPROOF_API char *shapeproof_report_resume(const struct shapeproof_resume *resume,
                                              const struct shapeproof_report_options *options, size_t *length);

/* What the components hold, a line for each and the sum, as text. `totals` are as many as components, all zero for what
 * was not read. */
SHAPEPROOF_API char *shapeproof_report_component_totals(const struct shapeproof_components *components,
                                                        const struct shapeproof_totals *totals,
                                                        const struct shapeproof_report_options *options,
                                                        size_t *length);

/* The verdict first, then how names were translated, then findings. */
SHAPEPROOF_API char *shapeproof_report_diff(const struct shapeproof_diff *diff,
                                            const struct shapeproof_report_options *options, size_t *length);

/* The verdict on each claim. As SARIF or JUnit it is a part for shapeproof_report_document, with a result for each
 * claim that is not as it should be, or a test case for each claim. */
SHAPEPROOF_API char *shapeproof_report_prove(const struct shapeproof_proofs *proofs,
                                             const struct shapeproof_report_options *options, size_t *length);
struct shapeproof_report_card_options {
    struct shapeproof_report_options report;
    const char *path;                          /* of the checkpoint, or NULL */
    const char *table;                         /* the name of the table of the prediction, or NULL */
    const struct shapeproof_evaluated *active; /* the value of `active`, of which a mixture has a row; or NULL */
    uint64_t reserved[1];                      /* zero: room for later versions */
};

/* The numbers for a model card; in text and JSON, also the statements of the README. */
SHAPEPROOF_API char *shapeproof_report_card(const struct shapeproof_card *card,
                                            const struct shapeproof_report_card_options *options, size_t *length);
/* The same, and behind it the verdicts on printed figures; `figures` may be NULL. With `all`, text lists them source
 * after source. */
SHAPEPROOF_API char *shapeproof_report_book(const struct shapeproof_proofs *proofs,
                                            const struct shapeproof_figures *figures,
                                            const struct shapeproof_report_options *options, size_t *length);

struct shapeproof_report_verify_options {
    struct shapeproof_report_options report; /* `all`: also the claims that are about other hyper-parameters */
    const char *path;                        /* of the checkpoint, as the user has it */
    const char *letters; /* what was taken for letters of claims (shapeproof_tables_add_claims), or NULL */
    const struct shapeproof_inference *inference; /* that the hyper-parameters are from, or NULL */
    bool groups;                                  /* the groups alone, without claims */
    uint64_t reserved[4];                         /* zero: room for later versions */
};

/* What the file stores of each group of its table, and for each claim the three numbers and what they differ by. As
 * SARIF or JUnit it is a part for shapeproof_report_document, with the claims alone. */
SHAPEPROOF_API char *shapeproof_report_verify(const struct shapeproof_verification *verification,
                                              const struct shapeproof_report_verify_options *options, size_t *length);

struct shapeproof_report_derive_options {
    struct shapeproof_report_options report;
    bool expanded; /* text: every term for itself; else collected and factored. JSON has both */
    bool latex;    /* Markdown: the formulas are in LaTeX (SHAPEPROOF_FORMULA_LATEX), and stand between dollars */
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* The closed forms of a table. */
SHAPEPROOF_API char *shapeproof_report_derive(const struct shapeproof_derivation *derivation,
                                              const struct shapeproof_report_derive_options *options, size_t *length);

/* The expressions at one configuration, or at one value of a hyper-parameter, or for one model, after the other. */
struct shapeproof_evaluated_point {
    const char *value;                              /* of options->varied, or NULL */
    const struct shapeproof_evaluation *evaluation; /* NULL: the table cannot be predicted there */
    const char *why;                                /* then the reason; else NULL */
};

struct shapeproof_report_evaluate_options {
    struct shapeproof_report_options report;
    const char *table;    /* its name; NULL to leave it out */
    const char *letters;  /* JSON: what was taken for letters (shapeproof_expressions_new), or NULL */
    const char *varied;   /* what the points vary: a hyper-parameter, or "model"; NULL: there is one point */
    bool side_by_side;    /* of two points: a line for each expression, with both values (JSON as without it) */
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* The values of the expressions. Text: a line for each expression, or with options->varied for each point, with what
 * each measure counts below them. Two points with side_by_side may have different expressions. */
SHAPEPROOF_API char *shapeproof_report_evaluate(const struct shapeproof_evaluated_point *points, size_t count,
                                                const struct shapeproof_report_evaluate_options *options,
                                                size_t *length);

/* Whether a model fits in a memory. */
SHAPEPROOF_API char *shapeproof_report_fit(const struct shapeproof_fit *fit,
                                           const struct shapeproof_report_options *options, size_t *length);

/* What would give the total. */
SHAPEPROOF_API char *shapeproof_report_solve(const struct shapeproof_solutions *solutions,
                                             const struct shapeproof_report_options *options, size_t *length);

/* The combinations of several hyper-parameters that give it. The text lists the best 20. */
SHAPEPROOF_API char *shapeproof_report_solve_together(const struct shapeproof_combinations *combinations,
                                                      const struct shapeproof_report_options *options, size_t *length);

/* Table and hyper-parameters, what the file does not determine, what is not explained. */
SHAPEPROOF_API char *shapeproof_report_infer(const struct shapeproof_inference *inference,
                                             const struct shapeproof_report_options *options, size_t *length);

/* How much of the examples a learnt table explains, what is left, what they do not decide. JSON holds it, too. */
SHAPEPROOF_API char *shapeproof_report_learn(const struct shapeproof_learning *learning,
                                             const struct shapeproof_report_options *options, size_t *length);

/* The tables of a set, one line each. `options` and `length` may be NULL. */
SHAPEPROOF_API char *shapeproof_report_tables(const struct shapeproof_tables *tables,
                                              const struct shapeproof_report_options *options, size_t *length);

/* The published models that have `filter` in their names or type (NULL: all), one line each; with `one` all that is
 * known of that model. `filter`, `one`, `options` and `length` may be NULL. */
SHAPEPROOF_API char *shapeproof_report_models(const struct shapeproof_models *models, const char *filter,
                                              const struct shapeproof_model *one,
                                              const struct shapeproof_report_options *options, size_t *length);

/* `text` as every report shows a text that comes from outside: control characters, bidirectional controls and invalid
 * UTF-8 as escapes. Unlike a report it gets no newline. */
SHAPEPROOF_API char *shapeproof_report_visible(const char *text);

/* Frees what this library returned as the caller's own. NULL is allowed. */
SHAPEPROOF_API void shapeproof_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif
