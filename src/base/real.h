/* SPDX-License-Identifier: MIT
 * Real numbers as text, with a point in every locale: strtod and printf would take the comma of the host's locale, so
 * that 2.5 is read as 2, and 0.5 written as 0,5. */
#ifndef SP_BASE_REAL_H
#define SP_BASE_REAL_H

/* As strtod and strtof in the C locale. */
double sp_real_read(const char *text, char **end);
float sp_real_read_float(const char *text);

struct sp_real_text {
    char text[48];
};
/* As printf("%.*g") in the C locale, with at most 17 digits. */
struct sp_real_text sp_real_text(double value, int digits);

#endif
