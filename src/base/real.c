/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "base/real.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#if __has_include(<xlocale.h>)
#include <xlocale.h> /* macOS has here what POSIX has in locale.h */
#endif

/* The thread's locale is C between enter and leave. If there is no memory for a locale, that of the host stays. */
struct c_locale {
    locale_t own, before;
};

static struct c_locale enter_c_locale(void)
{
    const locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return (struct c_locale){own, uselocale(own)};
}

static void leave_c_locale(struct c_locale c)
{
    uselocale(c.before);
    if (c.own) freelocale(c.own);
}

double sp_real_read(const char *text, char **end)
{
    const struct c_locale c = enter_c_locale();
    const double value = strtod(text, end);
    leave_c_locale(c);
    return value;
}

float sp_real_read_float(const char *text)
{
    const struct c_locale c = enter_c_locale();
    const float value = strtof(text, NULL);
    leave_c_locale(c);
    return value;
}

struct sp_real_text sp_real_text(double value, int digits)
{
    struct sp_real_text out;
    const struct c_locale c = enter_c_locale();
    snprintf(out.text, sizeof out.text, "%.*g", digits, value);
    leave_c_locale(c);
    return out;
}
