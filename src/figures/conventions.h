/* SPDX-License-Identifier: MIT
 * Publications count by different conventions: with or without embeddings, a tied head once or twice, with buffers.
 * Given the parts of a model, finds the convention under which a printed figure is right. */
#ifndef SP_FIGURES_CONVENTIONS_H
#define SP_FIGURES_CONVENTIONS_H

#include "base/arena.h"
#include "shapeproof/figures.h"

struct shapeproof_inventory;

/* Numbers of elements. `total` counts each tied tensor once, and no buffers. */
struct sp_figure_parts {
    uint64_t total;
    uint64_t tied; /* of tensors that are tied to another */
    uint64_t buffers;
    uint64_t tokens;    /* of the embeddings of tokens; 0 where no name says which they are */
    uint64_t head;      /* of the matrix that gives the tokens, where it is not tied; likewise */
    uint64_t tied_head; /* of that matrix where it is tied; likewise */
    uint64_t positions; /* of the learned embeddings of positions; likewise */
};

struct sp_figure_parts sp_figure_parts_of(const struct shapeproof_prediction *prediction);

struct sp_figure_judgement {
    enum shapeproof_verdict_on_claim verdict;
    uint64_t counted;       /* the number under the convention */
    const char *convention; /* of a proved figure, or "" */
    const char *why;        /* of a refuted figure, or "" */
    bool is_truncated;      /* of a refuted figure: the number is truncated to it */
};

/* Whether the figure is what the number is rounded to, or what it is under another convention, if `parts` has that
 * number as its total (NULL: there are no conventions). Texts are in the arena. UNDECIDED when the figure is no
 * number. */
struct sp_figure_judgement sp_figure_judge(struct sp_arena *arena, const char *figure, uint64_t number,
                                           const struct sp_figure_parts *parts);

#endif
