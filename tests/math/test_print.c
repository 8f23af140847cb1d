/* SPDX-License-Identifier: MIT
 * What is printed, read again by a parser that knows nothing of polynomials, has the values of the polynomial; and the
 * formulas that people know look as people write them. */
#include "algebra.h"

#include <stdlib.h>

/* ---- a reader of formulas that computes as it reads ---- */

struct reader {
    const char *at;
    const struct sp_algebra *algebra;
    const struct sp_rational *values;
    bool overflow, wrong;
};

static struct sp_rational read_sum(struct reader *reader);

static bool accept(struct reader *reader, const char *text)
{
    if (strncmp(reader->at, text, strlen(text)) != 0) return false;
    reader->at += strlen(text);
    return true;
}

/* The atom with the longest name that stands here. */
static bool read_atom(struct reader *reader, struct sp_rational *value)
{
    size_t longest = 0;
    for (size_t i = 0; i < reader->algebra->atom_count; i++) {
        const char *name = reader->algebra->atoms[i].text;
        if (strlen(name) <= longest || strncmp(reader->at, name, strlen(name)) != 0) continue;
        longest = strlen(name);
        *value = reader->values[i];
    }
    reader->at += longest;
    return longest > 0;
}

static struct sp_rational read_primary(struct reader *reader)
{
    struct sp_rational value = {0, 1};
    const char *before = reader->at;
    if (accept(reader, "(")) { /* around an atom that is an expression, or a sum */
        if (read_atom(reader, &value) && accept(reader, ")")) return value;
        reader->at = before + 1;
        value = read_sum(reader);
        if (!accept(reader, ")")) reader->wrong = true;
    } else if (!read_atom(reader, &value)) {
        char *end;
        value = sp_rational_int(strtoll(reader->at, &end, 10));
        if (end == reader->at) reader->wrong = true;
        reader->at = end;
    }
    return value;
}

static struct sp_rational read_power(struct reader *reader)
{
    struct sp_rational value = read_primary(reader);
    if (accept(reader, "^")) {
        char *end;
        const long exponent = strtol(reader->at, &end, 10);
        if (end == reader->at || exponent < 2) reader->wrong = true;
        reader->at = end;
        if (!sp_rational_power(value, (int)exponent, &value)) reader->overflow = true;
    }
    return value;
}

static struct sp_rational read_product(struct reader *reader)
{
    struct sp_rational value = read_power(reader);
    while (*reader->at == '*' || *reader->at == '/') {
        const bool times = *reader->at++ == '*';
        const struct sp_rational next = read_power(reader);
        if (!(times ? sp_rational_mul : sp_rational_div)(value, next, &value)) reader->overflow = true;
    }
    return value;
}

static struct sp_rational read_sum(struct reader *reader)
{
    struct sp_rational sum = {0, 1};
    bool minus = accept(reader, "-");
    do {
        const struct sp_rational value = read_product(reader);
        if (!(minus ? sp_rational_sub : sp_rational_add)(sum, value, &sum)) reader->overflow = true;
        minus = strncmp(reader->at, " - ", 3) == 0;
    } while (!reader->wrong && (accept(reader, " + ") || accept(reader, " - ")));
    return sum;
}

/* ---- the law ---- */

static void expect_reading(const char *text, const struct sp_algebra *algebra, const struct sp_poly *p, uint64_t *seed)
{
    struct sp_rational at[ATOMS], expected;
    for (int round = 0; round < 4; round++) {
        random_point(seed, at);
        struct reader reader = {.at = text, .algebra = algebra, .values = at};
        const struct sp_rational got = read_sum(&reader);
        if (*reader.at || reader.wrong) fail_msg("not a formula: %s (at \"%s\")", text, reader.at);
        if (reader.overflow || !sp_poly_evaluate(p, at, &expected) || same_number(got, expected)) continue;
        show("polynomial", p);
        fail_msg("printed as %s", text);
    }
}

static void expect_both(struct sp_algebra *m, const struct sp_poly *p, uint64_t *seed)
{
    struct sp_text expanded = {0}, factored = {0};
    sp_poly_put_expanded(&expanded, m, p);
    sp_poly_put_factored(&factored, m, p);
    expect_reading(expanded.data, m, p, seed);
    expect_reading(factored.data, m, p, seed);
    assert_null(m->failed);
    sp_text_free(&expanded);
    sp_text_free(&factored);
}

static void test_random(void **state)
{
    (void)state;
    static const struct shape shapes[] = {{8, 0, 3, 12, 1, ATOMS}, {8, 0, 2, 6, 6, ATOMS}, {6, -2, 2, 6, 2, ATOMS},
                                          {20, 0, 2, 9, 1, 3},     {5, 0, 5, 30, 6, 1},    {30, 0, 2, 3, 1, ATOMS}};
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct sp_algebra algebra = new_algebra();
        uint64_t random = seed;
        expect_both(&algebra, random_poly(&algebra, &random, shapes[seed % 6]), &random);
        sp_algebra_free(&algebra);
    }
}

/* Products of sums, on which factors are found. */
static void test_random_products(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {3, 0, 1, 4, 2, 4}, {3, 0, 2, 4, 1, ATOMS}, {3, -1, 1, 3, 1, 3}, {2, 0, 1, 9, 3, 1}};
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        uint64_t random = seed;
        const struct sp_poly *p = sp_poly_int(m, 1);
        for (int64_t left = random_between(&random, 1, 4); left; left--)
            p = sp_poly_mul(m, p, random_poly(m, &random, shapes[seed % 4]));
        if (seed % 3 == 0) p = sp_poly_add(m, p, random_poly(m, &random, shapes[seed % 4]));
        expect_both(m, p, &random);
        sp_algebra_free(m);
    }
}

static void test_largest_numbers(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        uint64_t random = seed;
        const struct shape shape = {6, 0, 3, INT64_MAX >> seed % 32, INT64_MAX >> seed * 7 % 63, 3};
        const struct sp_poly *p = random_poly(m, &random, shape);
        if (!m->failed) expect_both(m, p, &random);
        sp_algebra_free(m);
    }
}

/* ---- formulas that people know ---- */

/* A formula with + - * / ^ and brackets, where names are atoms; those beginning with `is_` are conditions. */
struct source {
    struct sp_algebra *m;
    const char *at;
};

static const struct sp_poly *sum_in(struct source *source);

static void skip_spaces(struct source *source) { source->at += strspn(source->at, " "); }

static const struct sp_poly *primary_in(struct source *source)
{
    struct sp_algebra *m = source->m;
    skip_spaces(source);
    char name[64];
    const size_t length = strcspn(source->at, " +-*/^():");
    assert_true(length < sizeof name);
    if (*source->at == '(') {
        source->at++;
        const struct sp_poly *inside = sum_in(source);
        assert_int_equal(*source->at++, ')');
        return inside;
    }
    memcpy(name, source->at, length);
    name[length] = '\0';
    source->at += length;
    if (name[0] >= '0' && name[0] <= '9') return sp_poly_int(m, strtoll(name, NULL, 10));
    return sp_poly_atom(m, strncmp(name, "is_", 3) ? sp_atom_symbol(m, name) : sp_atom_condition(m, name));
}

static const struct sp_poly *product_in(struct source *source)
{
    const struct sp_poly *product = sp_poly_int(source->m, 1);
    char sign = '*';
    do {
        const struct sp_poly *next = primary_in(source);
        skip_spaces(source);
        if (*source->at == '^') {
            char *end;
            next = sp_poly_power(source->m, next, (int)strtol(source->at + 1, &end, 10));
            source->at = end;
            skip_spaces(source);
        }
        product = sign == '*' ? sp_poly_mul(source->m, product, next) : sp_poly_divide(source->m, product, next);
        sign = *source->at;
    } while ((sign == '*' || sign == '/') && source->at++);
    return product;
}

static const struct sp_poly *sum_in(struct source *source)
{
    const struct sp_poly *sum = sp_poly_int(source->m, 0);
    char sign = '+';
    skip_spaces(source);
    if (*source->at == '-') sign = *source->at++;
    do {
        const struct sp_poly *next = product_in(source);
        sum = sign == '+' ? sp_poly_add(source->m, sum, next) : sp_poly_sub(source->m, sum, next);
        sign = *source->at;
    } while ((sign == '+' || sign == '-') && source->at++);
    return sum;
}

/* "V E N: formula": the names before the colon are known first, in that order. */
static const struct sp_poly *formula(struct sp_algebra *m, const char *text)
{
    struct source source = {m, text};
    const char *colon = strchr(text, ':');
    while (colon && source.at < colon) {
        primary_in(&source);
        skip_spaces(&source);
    }
    if (colon) source.at = colon + 1;
    const struct sp_poly *p = sum_in(&source);
    assert_int_equal(*source.at, '\0');
    assert_null(m->failed);
    return p;
}

static const struct {
    const char *formula, *expanded, *factored;
} known[] = {
    {"0", "0", "0"},
    {"7/3", "7/3", "7/3"},
    {"-1", "-1", "-1"},
    {"E", "E", "E"},
    {"-12*N*d", "-12*N*d", "-12*N*d"},
    {"d^2/h", "d^2/h", "d^2/h"},
    {"1/(2*d*h)", "1/(2*d*h)", "1/(2*d*h)"},
    /* blocks */
    {"4*d^2 + 4*d", "4*d^2 + 4*d", "4*d*(d + 1)"},
    {"8*d^2 + 5*d", "8*d^2 + 5*d", "d*(8*d + 5)"},
    {"3*L*d^2 + 4*L*d", "3*L*d^2 + 4*L*d", "L*d*(3*d + 4)"},
    {"E H: E*H + H + H*E + E", "2*E*H + E + H", "2*E*H + E + H"},
    {"d k n: 2*d^2 + 2*d*k*d/n", "2*d^2*k/n + 2*d^2", "2*d^2*(k/n + 1)"},
    {"d f E: E*(3*d*f) + d*E", "3*d*f*E + d*E", "d*E*(3*f + 1)"},
    /* whole models */
    {"V E N P: V*E + P*E + N*(12*E^2 + 13*E) + 2*E", "12*E^2*N + V*E + 13*E*N + E*P + 2*E",
     "E*(V + P + N*(12*E + 13) + 2)"},
    {"d Vs Vt l: d*(Vs + 2*Vt) + Vt + l*(28*d^2 + 32*d)", "28*d^2*l + d*Vs + 2*d*Vt + 32*d*l + Vt",
     "Vt + d*(Vs + 2*Vt + l*(28*d + 32))"},
    {"V d N h dk dv f: V*d + N*(3*(2*d*h*dk + 2*d*h*dv) + 2*(2*d*f + f + d) + 10*d)",
     "6*d*N*h*dk + 6*d*N*h*dv + 4*d*N*f + V*d + 12*d*N + 2*N*f", "V*d + 2*N*(f + d*(2*f + 3*h*(dk + dv) + 6))"},
    {"h te tn: 4*h*(te + 2*tn*(h + 1))", "8*h^2*tn + 4*h*te + 8*h*tn", "4*h*(te + 2*tn*(h + 1))"},
    {"h tn: 2*tn*h*(h + 1)", "2*h^2*tn + 2*h*tn", "2*h*tn*(h + 1)"},
    {"V E is_tied: V*E + V*E*(1 - is_tied)", "2*V*E - V*E*is_tied", "V*E*(2 - is_tied)"},
    {"V E H is_tied: (1 - is_tied)*(V*E + H)", "V*E - V*E*is_tied - H*is_tied + H", "(1 - is_tied)*(V*E + H)"},
    /* sums over layers */
    {"(E^2 + E)/2", "E^2/2 + E/2", "E*(E + 1)/2"},
    {"N^3/3 - N^2/2 + N/6", "N^3/3 - N^2/2 + N/6", "N*(N - 1)*(2*N - 1)/6"},
    {"N^4/4 + N^3/2 + N^2/4", "N^4/4 + N^3/2 + N^2/4", "N^2*(N + 1)^2/4"},
    {"N d: d*N*(N + 1)/2 + d*N", "N^2*d/2 + 3*N*d/2", "N*d*(N + 3)/2"},
    /* differences between what is claimed and what is so */
    {"h se te: 4*h*(te - se)", "4*h*te - 4*h*se", "4*h*(te - se)"},
    {"L n E: (n - L)*E", "n*E - L*E", "E*(n - L)"},
    {"L n E: (L - n)*E", "L*E - n*E", "E*(L - n)"},
    {"2*V*d + V + 12*N*d", "2*V*d + 12*d*N + V", "V + 2*d*(V + 6*N)"},
    {"L d V V0 n: L*d^2 + (V - V0)*d + n*d + 2*d", "L*d^2 + d*V - d*V0 + d*n + 2*d", "d*(L*d + V - V0 + n + 2)"},
    {"L d V V0 n: 3*L*d^2 - 3*L*d + (V - V0)*d + n*d + 2*d", "3*L*d^2 - 3*L*d + d*V - d*V0 + d*n + 2*d",
     "d*(V - V0 + n + 3*L*(d - 1) + 2)"},
    /* products */
    {"a b c d e: (a + b)*(c + d) + e", "a*c + a*d + b*c + b*d + e", "e + (a + b)*(c + d)"},
    {"-(N - 1)*(2*N - 1)", "3*N - 2*N^2 - 1", "(1 - N)*(2*N - 1)"},
    {"6*x*(x + 1)^3*(y - 2)", "6*x^4*y - 12*x^4 + 18*x^3*y - 36*x^3 + 18*x^2*y - 36*x^2 + 6*x*y - 12*x",
     "6*x*(x + 1)^3*(y - 2)"},
};

static void test_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct sp_algebra algebra = {0};
        struct sp_text expanded = {0}, factored = {0};
        const struct sp_poly *p = formula(&algebra, known[i].formula);
        sp_poly_put_expanded(&expanded, &algebra, p);
        sp_poly_put_factored(&factored, &algebra, p);
        assert_string_equal(expanded.data, known[i].expanded);
        assert_string_equal(factored.data, known[i].factored);
        expect_equal(&algebra, "what was printed, read", formula(&algebra, factored.data), p);
        sp_text_free(&expanded);
        sp_text_free(&factored);
        sp_algebra_free(&algebra);
    }
}

/* ---- names ---- */

static void test_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"E", "E^2"},
        {"n_layer", "n_layer^2"},
        {"min(F, L + 1)", "min(F, L + 1)^2"},
        {"depths[s]", "depths[s]^2"},
        {"a/b", "(a/b)^2"},
        {"k % 2", "(k % 2)^2"},
        {"t[i] == \"{\"", "(t[i] == \"{\")^2"},
        {"a\\b", "a\\b^2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_algebra algebra = {0};
        struct sp_text text = {0};
        const struct sp_poly *x = sp_poly_atom(&algebra, sp_atom_symbol(&algebra, cases[i][0]));
        sp_poly_put_factored(&text, &algebra, sp_poly_power(&algebra, x, 2));
        assert_string_equal(text.data, cases[i][1]);
        sp_text_free(&text);
        sp_algebra_free(&algebra);
    }
}

/* Terms are in the order in which the names came to be known; how they are grouped does not depend on it. */
static void test_order_of_names(void **state)
{
    (void)state;
    static const char *const orders[] = {"V E N P", "P N E V", "E V P N", "N V E P"};
    static const char *const formulas[] = {"V*E + P*E + N*(12*E^2 + 13*E) + 2*E", "2*V*E + V + 12*N*E - P",
                                           "(V - P)*(N + 1) + 3*E*(V - P)", "N*(N - 1)*E/2 + P*N + E*P"};
    for (size_t f = 0; f < 4; f++) {
        size_t length = 0;
        for (size_t i = 0; i < 4; i++) {
            char source[128];
            struct sp_algebra algebra = {0};
            struct sp_text text = {0};
            snprintf(source, sizeof source, "%s: %s", orders[i], formulas[f]);
            sp_poly_put_factored(&text, &algebra, formula(&algebra, source));
            if (i && text.length != length) fail_msg("%s for %s", text.data, source);
            length = text.length;
            sp_text_free(&text);
            sp_algebra_free(&algebra);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_random_products), cmocka_unit_test(test_largest_numbers),
        cmocka_unit_test(test_known),  cmocka_unit_test(test_names),           cmocka_unit_test(test_order_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
