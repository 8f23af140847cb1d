/* SPDX-License-Identifier: MIT
 * The book of figures: numbers that publications print about the published models of models.h, such as "117M" in a
 * paper, each compared with what the table of the model predicts. */
#ifndef SHAPEPROOF_FIGURES_H
#define SHAPEPROOF_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/models.h"
#include "shapeproof/prove.h"
#include "shapeproof/table.h"
#include "shapeproof/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A printed figure and the verdict on it. */
struct shapeproof_figure {
    const char *model;   /* the name of the published model */
    const char *printed; /* "117M" */
    const char *of;      /* what it counts, an expression such as "[embedding]"; "total" if the source says no more */
    const char *source;  /* the publication */
    const char *at;      /* the place in it, or "" */
    const char *note;    /* a remark on a wrong figure, or "" */
    /* SHAPEPROOF_PROVED: the number is printed so when it is rounded, perhaps by the named convention.
     * SHAPEPROOF_REFUTED: by no known convention. SHAPEPROOF_UNDECIDED: there is no number; `why` says the reason. */
    enum shapeproof_verdict_on_claim verdict;
    uint64_t total;         /* the predicted number: of `of`, ties counted once, without buffers */
    uint64_t counted;       /* the number by the convention; `total` where there is none */
    const char *convention; /* under which a proved figure is right: "tied tensors counted twice"; or "" */
    const char *why;        /* of a refuted figure: "truncated instead of rounded", "6.1% too small"; or "" */
    const char *right;      /* of a refuted figure: how the number is printed with as many digits, "124M"; or "" */
};

struct shapeproof_figures; /* opaque */

struct shapeproof_figures_options {
    const char *model;                    /* the name of one published model; NULL for all */
    const struct shapeproof_watch *watch; /* for progress, and the end before its time; NULL: none */
    uint64_t reserved[4];                 /* zero: room for later versions */
};

/* Judges the figures. `options` may be NULL. Expressions of figures are added to `tables`; tables and models must
 * outlive the figures. NULL with an error when the book is malformed, or when the watch ends the call. */
SHAPEPROOF_API struct shapeproof_figures *shapeproof_figures_new(struct shapeproof_tables *tables,
                                                                 const struct shapeproof_models *models,
                                                                 const struct shapeproof_figures_options *options,
                                                                 struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_figures_free(struct shapeproof_figures *figures);
/* In the order of the book: source after source. The last source is the library of models itself. */
SHAPEPROOF_API size_t shapeproof_figures_count(const struct shapeproof_figures *figures);
/* Borrowed until shapeproof_figures_free. */
SHAPEPROOF_API const struct shapeproof_figure *shapeproof_figures_get(const struct shapeproof_figures *figures,
                                                                      size_t index);

#ifdef __cplusplus
}
#endif
#endif
