/* SPDX-License-Identifier: MIT
 * LaTeX of formulas: converted back it is the text it was made from, for random polynomials; and known formulas look as
 * people write them. */
#include "../math/algebra.h"

#include <stdlib.h>

#include "base/text.h"
#include "prove/latex.h"

/* ---- LaTeX back into plain text ---- */

static void convert(const char **latex, struct sp_text *text);

/* Whether the text is a sum, outside of brackets. */
static bool is_sum(const char *text)
{
    int depth = 0;
    for (; *text; text++) {
        depth += (*text == '(') - (*text == ')');
        if (depth == 0 && (strncmp(text, " + ", 3) == 0 || strncmp(text, " - ", 3) == 0)) return true;
    }
    return false;
}

static void convert_fraction(const char **latex, struct sp_text *text)
{
    struct sp_text above = {0}, below = {0};
    *latex += strlen("\\frac{");
    convert(latex, &above);
    assert_int_equal(strncmp(*latex, "}{", 2), 0);
    *latex += 2;
    convert(latex, &below);
    assert_int_equal(*(*latex)++, '}');
    sp_text_printf(text, is_sum(above.data) ? "(%s)" : "%s", above.data);
    sp_text_printf(text, strchr(below.data, '*') ? "/(%s)" : "/%s", below.data);
    sp_text_free(&above);
    sp_text_free(&below);
}

static void convert_name(const char **latex, struct sp_text *text)
{
    for (*latex += strlen("\\mathrm{"); **latex != '}'; (*latex)++) {
        assert_true(**latex);
        if (**latex == '\\') (*latex)++;
        sp_text_append(text, *latex, 1);
    }
    (*latex)++;
}

/* x_{0} is x_0. */
static void convert_index(const char **latex, struct sp_text *text)
{
    *latex += strlen("_{");
    sp_text_puts(text, "_");
    convert(latex, text);
    assert_int_equal(*(*latex)++, '}');
}

/* Up to the end, or a brace that was not opened here. */
static void convert(const char **latex, struct sp_text *text)
{
    static const char *const same[][2] = {
        {"\\left(", "("}, {"\\right)", ")"}, {" + ", " + "}, {" - ", " - "}, {" ", "*"}};
    while (**latex && **latex != '}') {
        size_t i = 0;
        while (i < 5 && strncmp(*latex, same[i][0], strlen(same[i][0])) != 0) i++;
        if (i < 5) {
            sp_text_puts(text, same[i][1]);
            *latex += strlen(same[i][0]);
        } else if (strncmp(*latex, "\\frac{", 6) == 0) convert_fraction(latex, text);
        else if (strncmp(*latex, "\\mathrm{", 8) == 0) convert_name(latex, text);
        else if (strncmp(*latex, "_{", 2) == 0) convert_index(latex, text);
        else if (strncmp(*latex, "^{", 2) == 0) {
            char *end;
            sp_text_printf(text, "^%ld", strtol(*latex + 2, &end, 10));
            assert_int_equal(*end, '}');
            *latex = end + 1;
        } else sp_text_append(text, (*latex)++, 1);
    }
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)); text += strlen(what)) count++;
    return count;
}

/* Braces that are not \{ or \}. */
static bool is_balanced(const char *latex)
{
    int depth = 0;
    for (const char *c = latex; *c && depth >= 0; c++) {
        if (*c == '\\' && c[1] && strchr("{}\\", c[1])) c++;
        else depth += (*c == '{') - (*c == '}');
    }
    return depth == 0 && count_of(latex, "\\left(") == count_of(latex, "\\right)");
}

/* ---- the law ---- */

static void expect_same_latex(const char *text)
{
    struct sp_arena arena = {0};
    const char *latex = sp_latex_formula(&arena, text);
    struct sp_text back = {0};
    const char *rest = latex;
    convert(&rest, &back);
    if (!is_balanced(latex) || *rest || strcmp(back.data, text) != 0) fail_msg("%s is not %s", latex, text);
    sp_text_free(&back);
    sp_arena_free(&arena);
}

static void test_random_polynomials(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    uint64_t seed = 11;
    for (int round = 0; round < 300; round++) {
        const struct sp_poly *p = random_poly(m, &seed, round % 2 ? small_shape : laurent_shape);
        struct sp_text expanded = {0}, factored = {0};
        sp_poly_put_expanded(&expanded, m, p);
        sp_poly_put_factored(&factored, m, p);
        expect_same_latex(expanded.data);
        expect_same_latex(factored.data);
        sp_text_free(&expanded);
        sp_text_free(&factored);
    }
    sp_algebra_free(m);
}

static void test_known(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"E*(V + P) - 3*E*N", "E \\left(V + P\\right) - 3 E N"},
        {"n_layer^2", "n_{\\mathrm{layer}}^{2}"},
        {"D_v*x_12*ps_0", "D_{v} x_{12} \\mathrm{ps}_{0}"},
        {"n_routed_experts", "\\mathrm{n\\_routed\\_experts}"},
        {"text_config.d_model", "\\mathrm{text\\_config.d\\_model}"},
        {"min(F, L + 1)^2", "\\min\\left(F, L + 1\\right)^{2}"},
        {"int(0.5*E)", "\\mathrm{int}\\left(0.5 E\\right)"},
        {"ceil_div(V, 8)", "\\left\\lceil \\frac{V}{8} \\right\\rceil"},
        {"depths[1] + D_v[0]", "\\mathrm{depths}_{1} + {D_{v}}_{0}"},
        {"(H // A)*(a/b)^2", "\\left\\lfloor \\frac{H}{A} \\right\\rfloor \\left(\\frac{a}{b}\\right)^{2}"},
        {"E*(k % 2)", "E \\left(k \\bmod 2\\right)"},
        {"2*3 + 2*(-3) - (a - b)", "2 \\cdot 3 + 2 \\left(-3\\right) - \\left(a - b\\right)"},
        {"-96*E", "-96 E"},
        {"E*[n > 2] + [not tied]*V", "E \\left[n > 2\\right] + \\left[\\lnot \\mathrm{tied}\\right] V"},
        {"[a == 1 and b != 2 or c in [1, 2]]", "\\left[a = 1 \\land b \\ne 2 \\lor c \\in \\left[1, 2\\right]\\right]"},
        {"9*sum(i in 0..L - 1: d[i] + x_2(i))",
         "9 \\left(\\sum_{i=0}^{L - 1} \\left(d_{i} + x_{2}\\left(i\\right)\\right)\\right)"},
        {"count(i in 0..L - 1: k[i] == \"full\")", "\\sum_{i=0}^{L - 1} \\left[k_{i} = \\mathrm{\"full\"}\\right]"},
        {"tied ? E : 2", "\\begin{cases} E & \\text{if } \\mathrm{tied} \\\\ 2 & \\text{otherwise} \\end{cases}"},
        {"n_inner default 4*E", "n_{\\mathrm{inner}}\\text{ or by default }4 E"},
        /* no expression of the language: a name */
        {"a b_{%", "\\mathrm{a\\ b\\_\\{\\%}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_arena arena = {0};
        assert_string_equal(sp_latex_formula(&arena, cases[i][0]), cases[i][1]);
        sp_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_polynomials), cmocka_unit_test(test_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
