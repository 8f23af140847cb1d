/* SPDX-License-Identifier: MIT
 * Small tables in which the premise of a rule of the algebra does not hold: a divisor that may be negative, a bound
 * that is a fraction, an item below 0. Each claim would be proved, or refuted, by the rule alone; the remarks give what
 * the table predicts. Beside them the same rules where the premise holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shapeproof/prove.h"

enum { NOT_PROVED = 100, NOT_REFUTED, PROVED_WHERE_SET };

static const struct {
    const char *table, *claim;
    int verdict;
} cases[] = {
    /* a key that is compared with true may be a truth value: 3 with k=true */
    {"w (3) if k == true", "total = 0", NOT_PROVED},
    {"w (3) if k != true", "total = 3", NOT_PROVED},
    /* i % (m-5) with N=4, m=3: the multiples of -2 are 0 and 2 */
    {"[g] for i in 0..N-1 if i % (m-5) == 0\nw.{i} (3)", "total = 3*((N-1)//(m-5) - (-1)//(m-5))", SHAPEPROOF_REFUTED},
    {"[g] for i in 0..N-1 if i % (m+1) == 0\nw.{i} (3)", "total = 3*((N-1)//(m+1) + 1)", SHAPEPROOF_PROVED},
    /* i < N/2 with N=3: 0 and 1 */
    {"r = ratio default 0.5\n[g] for i in 0..N-1 if i < r*N\nw.{i} (4)", "total = 4*min(N, r*N)", SHAPEPROOF_REFUTED},
    {"w (N)", "sum(i in 0..2*N-1: [i == N/2]) = 1", SHAPEPROOF_REFUTED},
    {"w (N)", "sum(i in 0..2*N-1: [i < N/2]) = N/2", SHAPEPROOF_REFUTED},
    {"w (N)", "sum(i in 0..2*N-1: [i < N]) = N", SHAPEPROOF_PROVED},
    /* items below 0, and fractions */
    {"W = [-3, 5]\nw (max(at(W, n), 0))", "total = at(W, n)", NOT_PROVED},
    {"W = [1.5, 2.5]\nw (int(at(W, n)))", "total = at(W, n)", NOT_PROVED},
    {"W = [3, 5]\nw (max(at(W, n), 0))", "total = at(W, n)", SHAPEPROOF_PROVED},
    {"[g] for i in 0..N-1\nw.{i} (max([1, E - 9][i], 1))", "total = sum(i in 0..N-1: [1, E - 9][i])",
     SHAPEPROOF_REFUTED},
    {"[g] for i in 0..N-1\nw.{i} (max([1, E + 9][i], 1))", "total = sum(i in 0..N-1: [1, E + 9][i])",
     SHAPEPROOF_PROVED},
    /* sum(list, key) takes an item of each item */
    {"w (sum([a, b], 1))", "total = a + b", NOT_PROVED},
    {"w (sum([a, b], 1))", "total = a[1] + b[1]", NOT_REFUTED},
    /* one key with two defaults: proved where it is set; 15 when it is not, and A*A is 9 */
    {"A = k default 3\nB = k default 5\nw (A, B)", "total = A*A", PROVED_WHERE_SET},
    {"A = k default 3\nB = k default 5\nw (A, B)", "total = A*B", SHAPEPROOF_PROVED},
    /* a ratio is from 0 up, or from its default: max(-0.5, 0) is 0 */
    {"r = ratio default -0.5\nw (int(8*max(r, 0)))\nv (int(8*r) + 10)", "total = 2*int(8*r) + 10", NOT_PROVED},
    {"r = ratio default 1.5\nw (int(8*max(r, 1)))", "total = int(8*r)", NOT_PROVED},
    /* absent(k) where k = a default b: neither is given */
    {"k = a default b\n[s] if not absent(k)\nw (7)\n[o]\nv (3)", "total = 10", SHAPEPROOF_REFUTED},
    /* what a key is by default may be 0, below 0, or a fraction */
    {"A = a default B\nB = b default 0\nw (A > 0 ? 3 : 4)\nv (A)", "total = 3 + A", NOT_PROVED},
    {"A = a default n - 5\nw (max(A, 0))\nv (n)", "total = A + n", NOT_PROVED},
    {"A = a default 0.5*n\nw (int(A))\nv (n)", "total = A + n", NOT_PROVED},
    {"A = a default 4*n\nw (A > 0 ? 3 : 4)\nv (A)", "total = 3 + A", SHAPEPROOF_PROVED},
    /* a quotient need not be whole in a claim */
    {"w (E, H)", "int((E+1)/(H+1)) = (E+1)/(H+1)", SHAPEPROOF_REFUTED},
    /* the table cannot be predicted where the formulas differ: a dimension below 0, a requirement */
    {"w (n - 5, 3)", "[total >= 0] = 1", NOT_REFUTED},
    {"require n == 4, \"no\"\nw (n)", "total = 4", NOT_REFUTED},
    {"n = k default 2450\nw (n)", "example n = -3: total = -3", NOT_PROVED},
    {"n = k default 2450\nw (n)", "example n = 2.5: total = 2.5", NOT_PROVED},
    {"w (n)", "example n = 3: total = 3", SHAPEPROOF_PROVED},
    /* a division by m - 2 has no value for m = 2 */
    {"w (n, m)", "n % (m-2) = n - (n//(m-2))*(m-2)", SHAPEPROOF_REFUTED},
    {"w (n, m)", "n % (m-2) = n - (n//(m-2))*(m-2) when m != 2", NOT_REFUTED},
    {"z = 0\nw (n)", "approx z = 0 within 1%", SHAPEPROOF_PROVED},
    {"z = 0\nw (n)", "approx z = 1 within 1%", SHAPEPROOF_REFUTED},
    /* conditions on one text exclude each other */
    {"w (3) if k == \"a\"\nv (3) if k == \"b\"", "[k == \"a\"]*[k == \"b\"] = 0", NOT_REFUTED},
    {"w (3) if k == \"a\"\nv (3) if k == \"b\"", "[total <= 3] = 1", NOT_REFUTED},
    {"w (3) if starts_with(k, \"ab\") and not starts_with(k, \"a\")", "total = 0", NOT_REFUTED},
};

static bool is_expected(int wanted, const struct shapeproof_proof *proof)
{
    const enum shapeproof_verdict_on_claim verdict = proof->verdict;
    const bool is_where_set =
        proof->cases && strstr(proof->cases, "is set; where it is not, the table has different defaults");
    if (wanted == PROVED_WHERE_SET) return verdict == SHAPEPROOF_PROVED && is_where_set;
    if (wanted == SHAPEPROOF_PROVED) return verdict == SHAPEPROOF_PROVED && !is_where_set;
    if (wanted == NOT_PROVED) return verdict != SHAPEPROOF_PROVED;
    if (wanted == NOT_REFUTED) return verdict != SHAPEPROOF_REFUTED;
    return (int)verdict == wanted;
}

static void no_rule_is_used_without_its_premise(void **state)
{
    static const char *const file = "t.shapes";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct shapeproof_error error = {0};
        struct shapeproof_tables *tables = shapeproof_tables_new(&error);
        const bool is_plain = strncmp(cases[i].claim, "example", 7) != 0 && strncmp(cases[i].claim, "approx", 6) != 0;
        const int length = snprintf(text, sizeof text, "table t\n%s\nclaims for t\n%s%s\n", cases[i].table,
                                    is_plain ? "claim " : "", cases[i].claim);
        if (shapeproof_tables_add_text(tables, file, text, (size_t)length, &error) != SHAPEPROOF_OK)
            fail_msg("%s\n%s", shapeproof_tables_messages(tables), text);
        const struct shapeproof_prove_options what = {.files = &file, .file_count = 1};
        struct shapeproof_proofs *proofs = shapeproof_prove(tables, &what, &error);
        assert_int_equal(shapeproof_proofs_count(proofs), 1);
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, 0);
        if (!is_expected(cases[i].verdict, proof))
            fail_msg("%s: %s", text, shapeproof_verdict_on_claim_name(proof->verdict));
        shapeproof_proofs_free(proofs);
        shapeproof_tables_free(tables);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_rule_is_used_without_its_premise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
