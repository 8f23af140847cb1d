/* SPDX-License-Identifier: MIT
 * Claims: those of the built-in tables are all as expected, and each error has its correction; verdicts that must not
 * be too bold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shapeproof/prove.h"

static struct shapeproof_tables *new_tables(void)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (!tables) fail_msg("%s", error.message);
    return tables;
}

/* Whether a claim of that text and table is proved. */
static bool is_proved(const struct shapeproof_proofs *proofs, const struct shapeproof_proof *erratum)
{
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        if (strcmp(proof->claim, erratum->correction) == 0 && strcmp(proof->table, erratum->table) == 0 &&
            strcmp(proof->file, erratum->file) == 0)
            return proof->verdict == SHAPEPROOF_PROVED;
    }
    return false;
}

static void built_in(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = new_tables();
    struct shapeproof_proofs *proofs = shapeproof_prove(tables, NULL, &error);
    size_t errata = 0;
    assert_non_null(proofs);
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        const enum shapeproof_verdict_on_claim wanted =
            proof->erratum ? SHAPEPROOF_REFUTED : SHAPEPROOF_PROVED; /* none is only tested */
        if (proof->verdict != wanted || !proof->as_expected)
            fail_msg("%s:%zu: %s", proof->file, proof->line, shapeproof_verdict_on_claim_name(proof->verdict));
        if (!*proof->source) fail_msg("%s:%zu: it has no source", proof->file, proof->line);
        if (proof->erratum && (!proof->difference || !proof->correction || !is_proved(proofs, proof)))
            fail_msg("%s:%zu: an erratum needs its correction in the line below", proof->file, proof->line);
        errata += proof->erratum;
    }
    assert_true(errata >= 52);
    assert_true(shapeproof_proofs_count(proofs) >= 211);
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
}

/* ---- single claims about a table of the test ---- */

/* The verdict on the first claim of `text`, a table `t` and claims about it. */
static struct shapeproof_proof judge(const char *text, struct shapeproof_tables **tables,
                                     struct shapeproof_proofs **proofs)
{
    struct shapeproof_error error = {0};
    const char *const name = "t";
    *tables = new_tables();
    if (shapeproof_tables_add_text(*tables, "t.shapes", text, strlen(text), &error) != SHAPEPROOF_OK)
        fail_msg("%s", error.message);
    *proofs = shapeproof_prove(*tables, &(struct shapeproof_prove_options){.tables = &name, .table_count = 1}, &error);
    if (!*proofs) fail_msg("%s", error.message);
    return *shapeproof_proofs_get(*proofs, 0);
}

static void expect(const char *text, enum shapeproof_verdict_on_claim verdict, const char *words)
{
    struct shapeproof_tables *tables;
    struct shapeproof_proofs *proofs;
    const struct shapeproof_proof proof = judge(text, &tables, &proofs);
    const char *said = proof.counterexample ? proof.counterexample : proof.difference ? proof.difference : "";
    if (proof.verdict != verdict || (words && strcmp(said, words) != 0))
        fail_msg("%s\nis %s: %s", text, shapeproof_verdict_on_claim_name(proof.verdict), said);
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
}

/* Undecided, with a reason that has these words in it. */
static void expect_reason(const char *text, const char *words)
{
    struct shapeproof_tables *tables;
    struct shapeproof_proofs *proofs;
    const struct shapeproof_proof proof = judge(text, &tables, &proofs);
    if (proof.verdict != SHAPEPROOF_UNDECIDED || !strstr(proof.difference, words))
        fail_msg("%s\nis %s: %s", text, shapeproof_verdict_on_claim_name(proof.verdict), proof.difference);
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
}

/* A condition that compares sizes: a counter-example must fulfil it, and what `when` fixes decides it. */
static void comparisons(void **state)
{
    (void)state;
#define TABLE "table t\na = a default h\n[all]\nw (a, h) if a != h\n"
    expect(TABLE "claim [all] = 0 when a = h\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [all] = a*h when a != h\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [all] = a*h when a = 2*h\n", SHAPEPROOF_PROVED, NULL); /* a = h only for 0, which is no size */
    expect(TABLE "claim [all] = 0\n", SHAPEPROOF_REFUTED, "h = 2, a = 1: 2, claimed 0");
    expect(TABLE "claim [all] = a*h\n", SHAPEPROOF_REFUTED, "h = 1, a = 1: 0, claimed 1");
    expect(TABLE "example h = 3: [all] = 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "example h = 3, a = 4: [all] = 12\n", SHAPEPROOF_PROVED, NULL);
#undef TABLE
#define TABLE "table t\n[all]\nw (n) if n > 2\n"
    expect(TABLE "claim [all] = n\n", SHAPEPROOF_REFUTED, "n = 1: 0, claimed 1");
    expect(TABLE "claim [all] = 0\n", SHAPEPROOF_REFUTED, "n = 3: 3, claimed 0");
    expect(TABLE "example n = 2: [all] = 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "example n = 3: [all] = 3\n", SHAPEPROOF_PROVED, NULL);
#undef TABLE
}

static void flags(void **state)
{
    (void)state;
#define TABLE "table t\nb = b default true\nc = c default false\n[all]\nw (n) if b\nx (n) if c\n"
    expect(TABLE "claim [all] = n\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [all] = n when defaults\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [all] = 2*n when c, defaults\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [all] = 0 when defaults, not b\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [all] = n when b\n", SHAPEPROOF_REFUTED, "n = 1, c = true: 2, claimed 1");
#undef TABLE
}

/* Names with dots, in claims, in `when` and in examples. */
static void dotted_names(void **state)
{
    (void)state;
#define TABLE "table t\nE = text.width\n[all]\nw (E, text.heads)\nv (other.size) if text.tied default true\n"
    expect(TABLE "claim [all] = text.width*text.heads when not text.tied\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [all] = text.width*text.heads + other.size when text.tied\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [all] = 4*E^2 when not text.tied, text.heads = 4*text.width\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [all] = 4*E^2 when not text.tied, text.heads = 2*text.width\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "example text.width = 2, text.heads = 3, other.size = 5: [all] = 11\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "example text.width = 2, text.heads = 3, other.size = 5: [all] = 10\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [all] = text.widths\n", SHAPEPROOF_UNDECIDED, NULL);
    expect(TABLE "claim [all] = txt.width\n", SHAPEPROOF_UNDECIDED, NULL);
    expect(TABLE "claim [all] = E.width\n", SHAPEPROOF_UNDECIDED, NULL);
    expect(TABLE "claims for t when text.heads = 3, not text.tied\nc = text\nclaim total = 3*c.width\n",
           SHAPEPROOF_PROVED, NULL);
#undef TABLE
}

/* Two equations for one name both hold; what the claim itself says replaces what the line above it says. */
static void equations(void **state)
{
    (void)state;
#define TABLE "table t\n[all]\nw (d, h, k)\nv (m)\n"
    expect(TABLE "claim total = h^2*k*m + 2*m when d = h*k, d = h*m\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = h^2*k^2 + m when d = h*k, d = h*m\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim total = h^2*k*m + k when d = h*k, d = h*m\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim total = h^2*k^2 + m when d = h*k\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim total = h^2*k^2 + k when d = h*k\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = 6*k + m when d = 2, h = d + 1, h = 3\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim total = 0 when d = 2, d = 3\n", SHAPEPROOF_UNDECIDED,
           "'when' contradicts itself: it gives 'd' two values");
    expect(TABLE "claim total = 0 when d = 2, h = d + 1, h = 4\n", SHAPEPROOF_UNDECIDED,
           "'when' contradicts itself: it gives 'h' two values");
    expect(TABLE "claim total = 4*h^2*k + m when d = 4*h\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim total = h^2*k + m when d == h\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claims for t when d = 2\nclaim total = 3*h*k + m when d = 3\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claims for t when d = 4*h\nclaim total = 2*h^2*k + m when d = 2*h\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claims for t when d = 4*h\nclaim total = 16*k + m when d = 8\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claims for t when d = 2\nw = 2*h\nclaim total = 4*k + m when w = 4\n", SHAPEPROOF_PROVED, NULL);
#undef TABLE
}

/* What `when` says is solved for a number that the configuration gives, and that stands there as it is: not for a flag,
 * not for the name of a minimum, not for what is below a fraction line as well. */
static void equations_without_solution(void **state)
{
    (void)state;
#define TABLE                                                                                                          \
    "table t\nb = b default true\nF = first default 2\nM = min(F, L)\nQ = F*F\nS = n*n\nD = d + 1/d\n"                 \
    "[all]\nw (n) if b\nv (M, d, h)\nu (Q, S)\n"
    expect(TABLE "claim total = n + d*h*M + Q*S when b\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim total = n + d*h*M + Q*S when S = 1 + (b ? 1 : 0)\n", SHAPEPROOF_UNDECIDED,
           "'when' cannot be solved: n^2 - b - 1 = 0");
    expect(TABLE "claim total = n + d*h*Q + Q*S when b, Q = M\n", SHAPEPROOF_UNDECIDED,
           "'when' cannot be solved: F^2 - M = 0");
    expect(TABLE "claim total = n + 2*h^3*M + Q*S when b, D = 2*h^2\n", SHAPEPROOF_UNDECIDED,
           "'when' cannot be solved: d - 2*h^2 + 1/d = 0");
#undef TABLE
}

static void numbers(void **state)
{
    (void)state;
#define TABLE "table t\n[all]\nw (n, n)\n"
    expect(TABLE "example n = 8123: total rounds to \"66M\"\n", SHAPEPROOF_PROVED, NULL); /* 65983129 */
    expect(TABLE "example n = 8124: total rounds to \"66M\"\n", SHAPEPROOF_PROVED, NULL); /* 65999376 */
    expect(TABLE "example n = 8155: total rounds to \"66M\"\n", SHAPEPROOF_REFUTED, "66504025, printed as 66M");
    expect(TABLE "example n = 5: total = 26\n", SHAPEPROOF_REFUTED, "25, claimed 26");
    expect(TABLE "example n = 5: m = 26\n", SHAPEPROOF_UNDECIDED, NULL);
    expect(TABLE "approx total = 100 within 1% when n = 10\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "approx total = 102 within 1% when n = 10\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim 1/2*total = n^2/2\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim total = n\n", SHAPEPROOF_REFUTED, "n = 2: 4, claimed 2");
#undef TABLE
}

/* What is false at few points: where a condition holds, where a remainder is a certain one, beyond a limit, at 0. */
static void false_at_few_points(void **state)
{
    (void)state;
#define TABLE "table t\nL = layers\n[all] for i in 0..L-1\nw.{i} (n, m)\n"
    expect(TABLE "claim n // 2 + n // 2 = n\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim n // 8 + 1 = ceil_div(n, 8)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim round_up(n, 8) - n = 8 - n % 8\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = L*n*m + (n == 2*m + 37 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = L*n*m + (n == 1000003 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = L*n*m + (n % 997 == 996 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = L*n*m + (n // 997 == 5 and m == 12345 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = L*n*m + (n > 77777 and m > 88888 and L == 3 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = L*n*m + (n % 437 == 0 and m == 52 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = L*n*m + max(n - 100000, 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = L*n*m + (n % 64 == 63 and m % 48 == 47 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim min(n, 4096) = n\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim max(n, 1) = n\n", SHAPEPROOF_PROVED, NULL);
#undef TABLE
#define TABLE "table t\nF = first default 3\nL = layers\n[all] for i in F..L-1\nw.{i} (n)\nv.{i} (n) if i < F\n"
    expect(TABLE "claim max(F, 1) = F\n", SHAPEPROOF_REFUTED, NULL); /* it may be 0 */
    expect(TABLE "claim F/F = 1 + (F == 0 ? 1 : 0)\n", SHAPEPROOF_TESTED, NULL);
    expect(TABLE "claim max(L, 1) = L\n", SHAPEPROOF_PROVED, NULL);
#undef TABLE
#define TABLE "table t\nE = experts default (absent(inner) ? 8 : 0)\n[g]\nw (E, m) if E > 0\n[h]\nv (m) if E == 0\n"
    /* the size E is 0 by default where inner is given */
    expect(TABLE "claim [g] = E*m\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [h] = 0\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [h] = 0 when E > 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim max(E, 1) = E\n", SHAPEPROOF_REFUTED, NULL);
#undef TABLE
}

/* Identities of floors, remainders, minima and conditions, which are proved by cases; and what only looks like one. */
static void proved_by_cases(void **state)
{
    (void)state;
#define TABLE "table t\nF = first default 2\nL = layers\n[g]\nw (n, m, k)\n[h] for i in F..L-1\nv.{i} (n)\n"
    expect(TABLE "claim ceil_div(n, 2) + n // 2 = n\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim ceil_div(n, 2) + n // 2 = n + (n == 3 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim n // 3 * 3 + n % 3 = n\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim (n - n % k)/k = n // k\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim n // 2 // 3 = n // 6\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim n // 2 // 3 = n // 5\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim (n*n + n) % 2 = 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim (n^3 - n) % 6 = 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim (n^3 - m) % 6 = 0\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim round_up(n, 8) - n = (8 - n % 8) % 8\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim (n + 15) // 16 = ceil_div(n, 16)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim (n % k == 0 ? n // k * k : n) = n\n", SHAPEPROOF_PROVED, NULL);
    /* a remainder is not 0 for being at least 0, nor one of a negative divisor for being at most 0 */
    expect(TABLE "claim (n % k)*[n >= k*(n // k)] = 0\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim (n - k*(n // k))*[n >= k*(n // k)] = 0\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim (n + k*(n // (0-k)))*[0 >= n + k*(n // (0-k))] = 0\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim (n - k*(n // k))*[n <= k*(n // k)] = 0\n", SHAPEPROOF_PROVED, NULL);
    /* fractions are compared exactly: these differ by 5e-19 */
    expect(TABLE "claim [(10^9+7)/(10^9+9) == (10^9+6)/(10^9+8)] = 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [(10^9+7)/(10^9+9) != (10^9+6)/(10^9+8)] = 1\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [(2^60+1)/2^60 in [1, 2]] = 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [n/3 == n/3] = 1 when n = 1\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim max((10^9+7)/(10^9+9), (10^9+6)/(10^9+8)) = (10^9+7)/(10^9+9)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim min(1/3, 1/7) = 1/7\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim min(n, m) + max(n, m) = n + m\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim min(n, m)*max(n, m) = n*m\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim (n < m ? n : m) = min(n, m)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim (n < m ? m : n) = min(n, m)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim n//2*2 + n%2 + min(n, m) = n + m - max(m - n, 0)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim min(n % k, m // 3) + max(n % k, m // 3) = n % k + m // 3\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim min(n % k, m // 3)*max(n % k, m // 3) = n % k*(m // 3)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [h] = n*max(L - F, 0)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [h] = n*(L - F)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [h] = n*(L - F) when F <= L\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [h] = n*(L - min(F, L)) when F <= L\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [h] = n*L when F == 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim max(k, n) = k when n*[m < 3] + n <= k\n", SHAPEPROOF_PROVED, NULL); /* no list in a condition */
    expect(TABLE "claim max(k, n) = k when n*[m < 3] <= k\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = sum([[g], [h]])\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [g] = sum([n, m])*k\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [g]/k = sum([n*m])\n", SHAPEPROOF_UNDECIDED, NULL); /* a bracket is a group or a condition */
    expect(TABLE "claim max(n - m, 0) = (n - m)*[m < n]\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim max(n - m, 0) = (n - m)*[m < n] + 1\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [n in [1, 2]] = [n == 1] + [n == 2]\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim sum(i in 1..n: i) = n*(n + 1)/2\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim sum(i in 1..n: sum(j in 1..i: 2)) = n*(n + 1)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim sum(i in 1..n: i) = n*(n - 1)/2\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim count(i in 1..n: i < 3) = min(n, 2)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim count(i in 1..n: k*[1 < i] == k) = n - 1\n", SHAPEPROOF_PROVED, NULL); /* k is no 0 */
    expect(TABLE "claim count(i in 1..n: [1 < i]*[i < 3]) = [1 < n]\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim count(i in 1..n: 1 - [1 < i]) = 1\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim count(i in 0..n - 1: (3 < i ? i - 4 : 3 - i) < 0) = 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim count(i in 0..n - 1: (3 < i ? i - 5 : 3 - i) < 0) = 0\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim count(i in 0..n - 1: (3 < i ? i - 4 : 2 - i) < 0) = 0\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim count(i in 0..n - 1: (i <= m ? m - i : i - m) < 0) = 0\n", SHAPEPROOF_PROVED, NULL);
#define BEHIND_FIRST "claim sum(i in 1..n: [1 < i]*((k*[1 < i] + m - m*[1 < i]) // 3)) = "
    expect(TABLE BEHIND_FIRST "(n - 1)*(k // 3)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE BEHIND_FIRST "n*(k // 3)\n", SHAPEPROOF_REFUTED, NULL);
#undef BEHIND_FIRST
    expect_reason(TABLE "claim count(i in 1..n: 5)/5 = n\n", "count needs a condition");
    expect_reason(TABLE "claim count(i in 1..n: 3*[1 < i])/3 = n - 1\n", "count needs a condition");
    expect(TABLE "claim [k*[m < n] < k] = 1 - [m < n]\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [x] = 1\n", SHAPEPROOF_UNDECIDED, NULL);
    expect(TABLE "claim i = 1\n", SHAPEPROOF_UNDECIDED, NULL); /* an index is known in its sum alone */
#undef TABLE
}

/* An item of a row is 0 where one of the rows has 0 there. */
static void items_of_rows(void **state)
{
    (void)state;
#define TABLE                                                                                                          \
    "table t\nw = row(name, [[\"\", 4, 0], [\"b\", 2, 3]])\nx (n, w[2] > 0 ? w[2] : n)\ny (w[1] > 1 ? n : 1)\n"
    expect(TABLE "claim total = n*w[2] + n\n", SHAPEPROOF_UNDECIDED, NULL); /* n^2 + n where w[2] is 0 */
    expect(TABLE "claim total = n*w[2] + n^2*[w[2] == 0] + n\n", SHAPEPROOF_PROVED, NULL);
#undef TABLE
}

/* Rows by their names: without optional ones, buffers and tied tensors, in the case that is claimed. */
static void rows_by_name(void **state)
{
    (void)state;
#define TABLE                                                                                                          \
    "table t\np = bare default true ? \"\" : \"model.\"\nN = layers default 2\n"                                       \
    "[a] for i in 0..N-1\n{p}h.{i}.q.weight (n, m)\n{p}h.{i}.q.bias (m) if biased default true\n"                      \
    "{p}h.{i}.mask (n, n) buffer\n{p}h.{i}.kv.{i % 2}.w (n, i + 1)\n"                                                  \
    "[b]\n{p}wte.weight (V, n)\nhead.weight (V, n) same as {p}wte.weight when tied default true\n"
    expect(TABLE "claim elements(h.{i}.q.weight) = N*n*m\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim elements(h.{layer}.q.{weight,bias}) = N*m*(n + 1) when biased\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim elements(h.{layer}.q.*) = N*m*(n + 1)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim elements(*) = total\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim elements(h.*) = [a]\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim elements(h.{i}.kv.{k}.w) = n*N*(N + 1)/2\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim count(h.{i}.q.weight) = N\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim count(h.{i}.q.bias) = N*[biased]\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim count(head.weight) = [not tied]\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim count(*) = 3*N + 1 when biased, tied\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim count(*) = 4*N + 1 when biased, tied\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim count([n, m, 1], 1) = 1 when n = 2, m = 3\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim dim(wte.weight, 0) = V\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim dim(wte.weight, 1) = V\n", SHAPEPROOF_REFUTED, NULL);
    expect_reason(TABLE "claim dim(wte.weight, 2) = V\n", "no such dimension");
    expect_reason(TABLE "claim dim(h.{i}.q.*, 0) = n\n", "differ in that dimension");
    expect_reason(TABLE "claim dim(h.{i}.kv.{k}.w, 1) = n\n", "differ in shape");
    expect_reason(TABLE "claim elements(h.0.q.weight) = n*m\n", "no such row");
    expect_reason(TABLE "claim elements(h.{i}.mask) = N*n^2\n", "no such row");
    expect_reason(TABLE "claim elements(q.weight) = N*n*m\n", "no such row");
#undef TABLE
}

/* What a claim says where it divides by zero by default, and at points at which the table cannot be predicted. */
static void where_there_is_no_value(void **state)
{
    (void)state;
#define TABLE "table t\nN = layers default 0\nM = more default 2\n[a] for i in 0..N-1\nw.{i} (n)\n"
    expect(TABLE "claim N/N = 1\n", SHAPEPROOF_REFUTED, "has no value by default: it divides by zero");
    expect(TABLE "claim [a]/N = n\n", SHAPEPROOF_REFUTED, "has no value by default: it divides by zero");
    expect(TABLE "claim [a]/N = n when N = 3\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim M/M = 1\n", SHAPEPROOF_PROVED, NULL);
#undef TABLE
/* a number that may be below 0, as it is by default, makes a quotient negative */
#define TABLE "table t\nK = shift default -2\n[a]\nw (n)\nv (n) if K < 0\n"
    expect(TABLE "claim max(n/K, 0) = n/K\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [n/K < 0] = 0\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim max(n/K^2, 0) = n/K^2 when K < 0\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim max(n/K^2, 0) = n/K^2\n", SHAPEPROOF_REFUTED, "K = 0, the others 1");
#undef TABLE
#define TABLE "table t\nrequire n % 4 == 0, \"must be divisible\"\n[a]\nw (n, m / 2)\nv (m)\n"
    expect(TABLE "example n = 5, m = 4: [a] = 14\n", SHAPEPROOF_UNDECIDED,
           "the table cannot be predicted for these values");
    expect(TABLE "example n = 8, m = 5: [a] = 25\n", SHAPEPROOF_UNDECIDED,
           "the table cannot be predicted for these values");
    expect(TABLE "example n = 8, m = 6: [a] = 30\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim n // 4 * 4 = n\n", SHAPEPROOF_TESTED, NULL); /* as the table requires */
#undef TABLE
#define TABLE "table t\nkind = mode\nrequire kind == \"x\", \"other\"\n[a]\nw (n, kind == \"x\" ? 1 : 2)\n"
    expect(TABLE "claim n // 2 + n // 2 = n\n", SHAPEPROOF_REFUTED, NULL);
#undef TABLE
}

/* A claim that divides by zero at some point has no value there, although both sides are one polynomial elsewhere. A
 * size is never 0, `when` may exclude the point, and a choice may not take the side that divides. */
static void poles(void **state)
{
    (void)state;
#define TABLE "table t\nN = layers default 2\n[a] for i in 0..N-1\nw.{i} (n, m)\nv.{i} (n) if biased default true\n"
    expect(TABLE "claim [a]/(N - 1) = N*n*(m + [biased])/(N - 1)\n", SHAPEPROOF_REFUTED, "N = 1, the others 1");
    expect(TABLE "claim [a]/(N - 1) = N*n*(m + [biased])/(N - 1) when N > 1\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [a]/(N - 1) = N*n*(m + [biased])/(N - 1) when N = 2*m\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [a]*(N - 1)/(N - 1) = [a]\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [a] + 0/(n - m) = [a]\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [a] + 0/(N^2 - 49) = [a]\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [a] + n // (m - 3) - n // (m - 3) = [a]\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [a]/biased*biased = [a]\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [a]/N = n*(m + [biased])\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [a]/(N + n) = [a]/(n + N)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [a] + (N > 1 ? 0/(N - 1) : 0) = [a]\n", SHAPEPROOF_PROVED, NULL);
#undef TABLE
}

/* A claim may use the names that a part gives to keys. */
static void names_of_parts(void **state)
{
    (void)state;
#define TABLE "part p(n)\nR = rank default 4\nG = n // R\nw (n, R, G)\ntable t\nN = width\n[a]\nx.* p(N)\n"
    expect(TABLE "claim [a] = N*R*(N // R) + (N == 12 and R == 3 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [a] = N*R*(N // R)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [a] = N*(N - N % R)\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [a] = N*N\n", SHAPEPROOF_REFUTED, NULL);
#undef TABLE
}

/* Keys that are lists, texts or objects are not given numbers. */
static void keys_of_other_kinds(void **state)
{
    (void)state;
#define TABLE                                                                                                          \
    "table t\nkind = kind default \"a\"\nD = depths default [2, 3]\nw = text.width\n[all] for d in D\n"                \
    "w.{d} (d, n, w)\n[list] for s in sizes\nx.{s} (s)\n[kind]\ny (kind == \"b\" ? 1 : 2, n)\n"
    expect(TABLE "claim n // 2 + n // 2 = n\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim total = 1\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [all] = 5*n*w\n", SHAPEPROOF_PROVED, NULL);
    expect(TABLE "claim [list] = 1\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim [list] = sum(sizes) + (n == 300 ? 1 : 0)\n", SHAPEPROOF_REFUTED, NULL);
    expect(TABLE "claim D[0] = 2\n", SHAPEPROOF_PROVED, NULL);
    expect_reason(TABLE "claim D[2] = 2\n", "there is no item 2 in a list of 2");
    expect_reason(TABLE "claim depths[0] = 2\n", "did you mean 'D'?");
    expect_reason(TABLE "claim dephts[0] = 2\n", "did you mean 'depths'?");
    expect_reason(TABLE "claim D[nope] = 2\n", "'nope' is neither defined nor a hyper-parameter");
    expect_reason(TABLE "claim sizes[nope] = sizes[nope]\n", "'nope' is neither defined nor a hyper-parameter");
    expect_reason(TABLE "claim nope[0] = nope[0]\n", "'nope' is neither defined nor a hyper-parameter");
#undef TABLE
}

/* A wrong claim about a table of the test, and what is said of it. */
static void refute(const char *claim, const char *difference, const char *counterexample)
{
    static const char table[] = "table t\nE = width\nN = layers\nV = words\n[words]\nw (V, E)\n"
                                "[layers] for i in 0..N-1\nh.{i}.w (E, 4*E)\nh.{i}.b (4*E)\n"
                                "[halves] for i in 0..N-1 if i % 2 == 0\ng.{i} (E)\n";
    char text[512];
    struct shapeproof_tables *tables;
    struct shapeproof_proofs *proofs;
    snprintf(text, sizeof text, "%s%s\n", table, claim);
    const struct shapeproof_proof proof = judge(text, &tables, &proofs);
    const char *gap = proof.difference ? proof.difference : "", *at = proof.counterexample ? proof.counterexample : "";
    if (proof.verdict != SHAPEPROOF_REFUTED || proof.as_expected || strcmp(gap, difference) != 0 ||
        strcmp(at, counterexample) != 0)
        fail_msg("%s is %s: %s; %s", claim, shapeproof_verdict_on_claim_name(proof.verdict), gap, at);
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
}

/* A wrong claim of each kind is refuted, also where it holds at the point that its author looked at. */
static void wrong_on_purpose(void **state)
{
    (void)state;
    refute("claim total = V*E + 4*N*E^2 + 4*N*E", "short by E*((N - 1) // 2) + E: [halves]",
           "E = 1, N = 1, V = 1: 10, claimed 9");
    refute("claim [words] = V*E + E", "too large by E", "E = 1, the others 1: 1, claimed 2");
    refute("claim [layers] = 4*N*E^2", "short by 4*E*N: h.{i}.b", "E = 1, N = 1, the others 1: 8, claimed 4");
    refute("claim [layers] = N*(3*E^2 + 12)", "short by N*(E - 2)*(E + 6)",
           "E = 3, N = 1, the others 1: 48, claimed 39");
    refute("claim [layers] = N*(4*E^2 + 4) when E = 2", "short by 4*N", "N = 1, the others 1: 24, claimed 20");
    refute("claim [layers]/N = 4*E^2 + 4", "short by 4*E - 4", "E = 2, the others 1: 24, claimed 20");
    refute("claim total - [words] - [halves] = 4*N*E^2", "short by 4*E*N: h.{i}.b",
           "E = 1, N = 1, the others 1: 8, claimed 4");
    refute("claim [halves] = E*(N + 1)/2", "too large by E*(N - 2*((N - 1) // 2) - 1)/2",
           "E = 1, N = 2, the others 1: 1, claimed 3/2");
    refute("approx total = V*E within 1% when V = 1000, E = 8, N = 1", "8000 for 8296: 3.57 % off", "");
    refute("approx [layers] = 4*N*E^2 within 7% when E = 12, N = 4", "2304 for 2496: 7.69 % off", "");
    refute("example E = 4, V = 10, N = 1: total = 125", "124, claimed 125", "");
    refute("example E = 4, V = 10, N = 1: [words] = 41", "40, claimed 41", "");
    refute("example E = 4, V = 10, N = 3: total - [words] = 4", "248, claimed 4", "");
    refute("example E = 1000, V = 10, N = 1: total rounds to \"4.1M\"", "4015000, printed as 4.1M", "");
}

/* Those of a file of their own, about a table that is built in. */
static void wrong_in_a_file(void **state)
{
    (void)state;
    static const char text[] = "claims for gpt2 when defaults\nclaim total = E*(V + P) + N*(4*E^2 + 2*E*H + 9*E + H)\n"
                               "claim [final norm] = 2*E\nexample E = 768: [final norm] = 768\n"
                               "approx total = 12*N*E^2 within 20% when E = 768\n";
    const enum shapeproof_verdict_on_claim verdicts[] = {SHAPEPROOF_REFUTED, SHAPEPROOF_PROVED, SHAPEPROOF_REFUTED,
                                                         SHAPEPROOF_REFUTED};
    const char *const name = "gpt2";
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = new_tables();
    size_t found = 0;
    assert_int_equal(shapeproof_tables_add_text(tables, "paper.shapes", text, strlen(text), &error), SHAPEPROOF_OK);
    struct shapeproof_proofs *proofs =
        shapeproof_prove(tables, &(struct shapeproof_prove_options){.tables = &name, .table_count = 1}, &error);
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        if (strcmp(proof->file, "paper.shapes") != 0) continue;
        assert_int_equal(proof->verdict, verdicts[found++]);
        if (proof->line == 2) assert_string_equal(proof->difference, "short by 2*E: [final norm]");
    }
    assert_int_equal(found, 4);
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
}

/* Claims that take more than the algebra may: a verdict, or that it is undecided, soon and in little memory. */
static void hostile(void **state)
{
    (void)state;
    static const char *const ends[] = {"", " + min(a, b)", "*[g]", " when a = 2*b", " + total//3", "/(a + b)"};
    char text[256];
    for (int power = 21; power <= 42; power += 7)
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            struct shapeproof_tables *tables;
            struct shapeproof_proofs *proofs;
            snprintf(text, sizeof text, "table t\n[g]\nw (a,b,c,d)\nv (a) if flag\nclaim total = (a+b+c+d)^%d%s\n",
                     power, ends[i]);
            const struct shapeproof_proof proof = judge(text, &tables, &proofs);
            if (proof.verdict != SHAPEPROOF_REFUTED && (proof.verdict != SHAPEPROOF_UNDECIDED || proof.counterexample))
                fail_msg("%s\n%s", text, shapeproof_verdict_on_claim_name(proof.verdict));
            assert_true(strlen(proof.difference) < 16384);
            shapeproof_proofs_free(proofs);
            shapeproof_tables_free(tables);
        }
    expect("table t\nw (a,b,c,d)\nclaim total = (a+b+c+d)^30\n", SHAPEPROOF_REFUTED,
           "a = 1, b = 1, c = 1, d = 1: 1, claimed 1152921504606846976");
}

/* All claims have the same steps: when they are spent, the rest is undecided, also what is soon proved. */
static void too_many_claims(void **state)
{
    (void)state;
    enum { CLAIMS = 16 };
    static char text[1024];
    char *end = text;
    struct shapeproof_tables *tables;
    struct shapeproof_proofs *proofs;
    end += sprintf(end, "table t\n[g]\nw (a,b,c,d)\n");
    for (int i = 0; i < CLAIMS; i++) end += sprintf(end, "claim total = (a+b+c+d)^30\n");
    sprintf(end, "claim total = a*b*c*d\n");
    assert_int_equal(judge(text, &tables, &proofs).verdict, SHAPEPROOF_REFUTED);
    assert_int_equal(shapeproof_proofs_count(proofs), CLAIMS + 1);
    for (size_t i = 0; i <= CLAIMS; i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        if (i < 2) assert_int_equal(proof->verdict, SHAPEPROOF_REFUTED);
        if (i < CLAIMS / 2) continue;
        assert_int_equal(proof->verdict, SHAPEPROOF_UNDECIDED);
        assert_string_equal(proof->difference,
                            "not tried, since the claims before it take more than 16223744 steps, the limit for all of "
                            "them; --limit steps=N allows N/4");
        assert_false(proof->as_expected);
    }
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
}

/* The correction of an erratum is the claim in the line below it, or below the errata there. */
static void corrections(void **state)
{
    (void)state;
    struct shapeproof_tables *tables;
    struct shapeproof_proofs *proofs;
    judge("table t\n[all]\nw (n)\nerratum total = 2\nerratum total = 3\nclaim total = n\n"
          "erratum total = 4\n\nclaim total = n\nerratum total = 5\n",
          &tables, &proofs);
    assert_string_equal(shapeproof_proofs_get(proofs, 0)->correction, "claim total = n");
    assert_string_equal(shapeproof_proofs_get(proofs, 1)->correction, "claim total = n");
    assert_null(shapeproof_proofs_get(proofs, 2)->correction);
    assert_null(shapeproof_proofs_get(proofs, 3)->correction);
    assert_null(shapeproof_proofs_get(proofs, 5)->correction);
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_in),
                                       cmocka_unit_test(comparisons),
                                       cmocka_unit_test(flags),
                                       cmocka_unit_test(numbers),
                                       cmocka_unit_test(wrong_on_purpose),
                                       cmocka_unit_test(wrong_in_a_file),
                                       cmocka_unit_test(corrections),
                                       cmocka_unit_test(hostile),
                                       cmocka_unit_test(too_many_claims),
                                       cmocka_unit_test(dotted_names),
                                       cmocka_unit_test(equations),
                                       cmocka_unit_test(equations_without_solution),
                                       cmocka_unit_test(false_at_few_points),
                                       cmocka_unit_test(keys_of_other_kinds),
                                       cmocka_unit_test(proved_by_cases),
                                       cmocka_unit_test(names_of_parts),
                                       cmocka_unit_test(items_of_rows),
                                       cmocka_unit_test(rows_by_name),
                                       cmocka_unit_test(where_there_is_no_value),
                                       cmocka_unit_test(poles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
