/* SPDX-License-Identifier: MIT
 * Finds numbers of parameters in a README. */
#ifndef SP_FIGURES_README_H
#define SP_FIGURES_README_H

#include "figures/conventions.h"
#include "shapeproof/card.h"

struct sp_readme_statements {
    struct shapeproof_statement *items; /* heap */
    size_t count, capacity;
};

/* Appends the statements of the text, judged by the parts of the model; `predicted`: they are those of a prediction,
 * not what a file has. Texts are in the arena. Takes time in proportion to the length. */
void sp_read_statements(struct sp_arena *arena, const char *readme, size_t length, const struct sp_figure_parts *parts,
                        bool predicted, struct sp_readme_statements *statements);

#endif
