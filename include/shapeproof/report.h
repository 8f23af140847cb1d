/* SPDX-License-Identifier: MIT
 * Reports: what was found, as text for people or as JSON for programs. A report is a pure function of its arguments:
 * the same inventory and options give the same bytes, whatever the locale, the environment or the terminal.
 * Every returned text is NUL-terminated, ends with a newline and belongs to the caller: give it to sp_free. `options`
 * may be NULL; `length`, if it is not NULL, receives the number of bytes without the NUL. A report cannot fail. */
#ifndef SHAPEPROOF_REPORT_H
#define SHAPEPROOF_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/check.h"
#include "shapeproof/components.h"
#include "shapeproof/diff.h"
#include "shapeproof/infer.h"
#include "shapeproof/inventory.h"
#include "shapeproof/learn.h"
#include "shapeproof/load.h"
#include "shapeproof/prediction.h"
#include "shapeproof/prove.h"
#include "shapeproof/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sp_report_format { SP_REPORT_TEXT = 0, SP_REPORT_JSON };

/* What every report can be told. All zero is text without colour and without a limit of width. */
struct sp_report_options {
    enum sp_report_format format;
    unsigned width; /* text: the columns to fit into as far as nothing need be cut for it; 0 for no limit */
    bool color;     /* text: ANSI escapes */
    /* Text: a line for each finding, tensor or claim. Otherwise findings and tensors that differ in their indices alone
     * share a line, and claims that are as expected are only counted. */
    bool all;
    const struct sp_loadings *loadings;    /* of a check: what loaders make of it; NULL when none was asked */
    const struct sp_tables_filter *filter; /* of tables: which; NULL for all */
    uint64_t reserved[2];                  /* zero: room for later versions */
};

enum sp_inspect_view {
    SP_INSPECT_LIST = 0, /* one line per tensor */
    SP_INSPECT_TREE,     /* nested by the components of the names, equal siblings folded into one */
    SP_INSPECT_PREFIXES, /* sub-totals of the prefixes of `depth` components */
    SP_INSPECT_TOTALS    /* no tensors, only what follows them */
};

enum sp_inspect_sort {
    SP_SORT_FILE = 0, /* as the file lists them */
    SP_SORT_NAME,     /* by name, numbers by their value: layers.2 before layers.10 */
    SP_SORT_SIZE      /* most bytes first */
};

struct sp_report_inspect_options {
    struct sp_report_options report;
    enum sp_inspect_view view; /* text only: JSON always lists the tensors */
    enum sp_inspect_sort sort;
    const char *filter; /* a shell pattern (`*`, `?`, `[...]`) that a name must match as a whole, or NULL */
    unsigned depth;     /* TREE: levels to unfold, 0 for all; PREFIXES: components of a prefix, 0 counts as 1 */
    /* Where whole lines go as soon as there are some, so that the text of a million tensors need not fit into memory;
     * what is left is returned. NULL: all is returned. */
    void (*sink)(void *to, const char *bytes, size_t length);
    void *to;                                   /* for the sink */
    const struct sp_quantised_model *quantised; /* NULL where weights are stored as they are */
    uint64_t reserved[1];                       /* zero: room for later versions */
};

/* What a checkpoint holds. With a filter the tensors and totals are those of the matching tensors; JSON keeps "totals"
 * for the whole checkpoint and adds "selected". Warnings are part of the JSON alone: a program that prints the text
 * shows them by itself. */
SP_API char *sp_report_inspect(const struct sp_inventory *inventory, const struct sp_report_inspect_options *options,
                               size_t *length);

struct sp_report_predict_options {
    struct sp_report_options report;
    const struct sp_derivation *forms; /* of sp_derive_prediction: formulas beside the sub-totals; NULL for none */
    uint64_t reserved[4];              /* zero: room for later versions */
};

/* What a checkpoint should hold. */
SP_API char *sp_report_predict(const struct sp_prediction *prediction, const struct sp_report_predict_options *options,
                               size_t *length);

/* The verdict first, then causes, then findings. */
SP_API char *sp_report_check(const struct sp_check *check, const struct sp_report_options *options, size_t *length);

/* What came of a component: a check, and what loaders make of it if they were asked; or why there is none. */
struct sp_component_result {
    const struct sp_check *check;       /* NULL when there is none */
    const struct sp_loadings *loadings; /* NULL when none were asked */
    const struct sp_error *error;       /* of a model that could not be checked; else NULL */
};

/* The worst verdict first, then a line for each component, then the reports of those that differ, or that a loader does
 * not take whole; with `options->all` of all. `results` are as many as components, in their order. */
SP_API char *sp_report_components(const struct sp_components *components, const struct sp_component_result *results,
                                  const struct sp_report_options *options, size_t *length);
/* What the components hold, a line for each and the sum, as text. `totals` are as many as components, all zero for what
 * was not read. */
SP_API char *sp_report_component_totals(const struct sp_components *components, const struct sp_totals *totals,
                                        const struct sp_report_options *options, size_t *length);

/* The verdict first, then how names were translated, then findings. */
SP_API char *sp_report_diff(const struct sp_diff *diff, const struct sp_report_options *options, size_t *length);

/* The verdict on each claim. */
SP_API char *sp_report_prove(const struct sp_proofs *proofs, const struct sp_report_options *options, size_t *length);

struct sp_report_derive_options {
    struct sp_report_options report;
    bool expanded;        /* text: every term for itself; else collected and factored. JSON has both */
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* The closed forms of a table. */
SP_API char *sp_report_derive(const struct sp_derivation *derivation, const struct sp_report_derive_options *options,
                              size_t *length);

/* What would give the total. */
SP_API char *sp_report_solve(const struct sp_solutions *solutions, const struct sp_report_options *options,
                             size_t *length);

/* Table and hyper-parameters, what the file does not determine, what is not explained. */
SP_API char *sp_report_infer(const struct sp_inference *inference, const struct sp_report_options *options,
                             size_t *length);

/* How much of the examples a learnt table explains, what is left, what they do not decide. JSON holds it, too. */
SP_API char *sp_report_learn(const struct sp_learning *learning, const struct sp_report_options *options,
                             size_t *length);

/* The tables of a set, one line each. `options` and `length` may be NULL. */
SP_API char *sp_report_tables(const struct sp_tables *tables, const struct sp_report_options *options, size_t *length);

/* `text` as every report shows a text that comes from outside: control characters, bidirectional controls and invalid
 * UTF-8 as escapes. Unlike a report it gets no newline. */
SP_API char *sp_report_visible(const char *text);

/* Frees what this library returned as the caller's own. NULL is allowed. */
SP_API void sp_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif
