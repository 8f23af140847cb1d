/* SPDX-License-Identifier: MIT
 * The order of names for people: numbers by their value, so that layers.2 comes before layers.10. */
#ifndef SP_BASE_NATURAL_H
#define SP_BASE_NATURAL_H

/* As strcmp; 0 only for equal strings. */
int sp_compare_natural(const char *a, const char *b);

#endif
