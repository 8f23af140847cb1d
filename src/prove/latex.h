/* SPDX-License-Identifier: MIT */
#ifndef SP_PROVE_LATEX_H
#define SP_PROVE_LATEX_H

#include "base/arena.h"

/* A formula in LaTeX's mathematics, for amsmath, MathJax or KaTeX: "E*(H // A)" is
 * "E \left\lfloor \frac{H}{A} \right\rfloor". The text is in the language of claims; what is not is written as a name.
 * In `arena`. */
const char *sp_latex_formula(struct sp_arena *arena, const char *text);

#endif
