/* SPDX-License-Identifier: MIT
 * What single tables say: names, definitions, loops, ties, kinds of tensors, totals. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

static void names(void **state)
{
    (void)state;
    assert_listing("table t\nplain (1)\n", "", "plain (1)\n");
    assert_listing("table t\nh.{2+1}.w (1)\n", "", "h.3.w (1)\n");
    assert_listing("table t\n{a}{b} (1)\n", "a=x b=7", "x7 (1)\n");
    assert_listing("table t\n{a}.{a + \"y\"} (1)\n", "a=x", "x.xy (1)\n");
    assert_listing("table t\n\"with blanks, (and) # signs\" (1)\n", "", "with blanks, (and) # signs (1)\n");
    assert_listing("table t\n\"a {n} b\" (1)\n", "n=3", "a 3 b (1)\n");
    assert_listing("table t\n{\"}\"} (1)\n", "", "} (1)\n");
    assert_listing("table t\nencoder/layer_0/kernel:0 (1)\n", "", "encoder/layer_0/kernel:0 (1)\n");
    assert_listing("table t\nw\xc3\xb6rter.weight (1)\n", "", "w\xc3\xb6rter.weight (1)\n");
    assert_listing("table t\nrequire.weight (1)\npart (2)\n\"table\" (3)\ntable.x (4)\n", "",
                   "require.weight (1)\npart (2)\ntable (3)\ntable.x (4)\n");
    assert_mistake("table t\n\"\" (1)\n", "", "the name of the tensor is empty");
    assert_mistake("table t\n{n} (1)\n", "n=1.5", "a name can hold a string or an integer, not a real number");
    assert_mistake("table t\n{n} (1)\n", "", "the hyper-parameter 'n' is not set");
}

static void shapes(void **state)
{
    (void)state;
    assert_listing("table t\na ()\nb (1, 2*3, n)\nc (4.0 * 2)\n", "n=0", "a ()\nb (1, 6, 0)\nc (8)\n");
    assert_listing("table t\na (1,\n   2, # the second\n   3)\nb (4)\n", "", "a (1, 2, 3)\nb (4)\n");
    assert_mistake("table t\na (n)\n", "n=-1", "the dimension is -1, less than 0");
    assert_mistake("table t\na (n)\n", "n=2.5", "the dimension is 2.5, not a whole number (int() cuts it)");
    assert_mistake("table t\na (n)\n", "n=1e30", "the dimension is 1e+30, which is too large to be exact");
    assert_mistake("table t\na (n)\n", "n=true", "the dimension is a truth value, not a whole number");
    assert_mistake("table t\na (n)\n", "n=null", "the hyper-parameter 'n' is null");
    assert_mistake("table t\na (2^62, 4)\n", "", "the number of elements does not fit in 64 bits");
    assert_mistake("table t\na (2^63 - 1)\n", "", "the result does not fit in 64 bits");
    assert_mistake("table t\na (9223372036854775807)\nb (9223372036854775807)\nc (2)\n", "",
                   "the total does not fit in 64 bits");
}

static void definitions(void **state)
{
    (void)state;
    assert_listing("table t\nb = a + 1\na = n*2\nx (b)\n", "n=3", "x (7)\n"); /* in any order */
    assert_listing("table t\nD = D default 4\nx (D)\n", "", "x (4)\n");
    assert_listing("table t\nD = D default 4\nx (D)\n", "D=9", "x (9)\n");
    assert_listing("table t\nD = 2*D\nx (D)\n", "D=9", "x (18)\n");
    assert_listing("table t\nmin(a) = min(a, 3)\nx (min(7))\n", "", "x (3)\n"); /* the built-in one inside */
    assert_listing("table t\nmin = 2\nx (min, min(5, 9))\n", "", "x (2, 5)\n");
    assert_listing("table t\nf(x) = x + D\nD = 10\nx (f(1))\n", "", "x (11)\n");
    assert_mistake("table t\na = b\nb = a + 1\nx (a)\n", "", "'a' is defined through itself");
    assert_mistake("table t\nf(n) = n*f(n - 1)\nx (f(3))\n", "", "'f' is defined through itself");
    assert_mistake("table t\nf(n) = g(n)\ng(n) = f(n)\nx (f(3))\n", "", "is it defined through itself?");
    assert_mistake("table t\na = 1\na = 2\nx (a)\n", "", "t.shapes:3:1: 'a' is defined twice");
}

static void local_definitions(void **state)
{
    (void)state;
    static const char table[] = "table t\n"
                                "w = 1\n"
                                "[a] for i in 0..1\n"
                                "w = 10*i\n"
                                "v = w + 1\n"
                                "a.{i} (w, v)\n"
                                "[b]\n"
                                "b (w)\n";
    assert_listing(table, "", "a.0 (0, 1)\na.1 (10, 11)\nb (1)\n");
    assert_listing("table t\nw = 5\n[a]\nw = 2*w\na (w)\n", "", "a (10)\n"); /* the table's one inside */
    /* What a local definition means does not depend on who asks for it. */
    assert_listing("table t\n[a] for i in 1..1\nf(x) = x + y\ny = 10*x\na (f(1))\n", "x=2", "a (21)\n");
    assert_mistake("table t\n[a]\np = q\nq = p\na (p)\n", "", "is it defined through itself?");
    assert_mistake("table t\n[a]\np = 1\np = 2\na (p)\n", "", "'p' is defined twice");
}

static void loops(void **state)
{
    (void)state;
    assert_listing("table t\n[a] for i in 1..3\nx.{i} (i)\n", "", "x.1 (1)\nx.2 (2)\nx.3 (3)\n");
    assert_listing("table t\n[a] for i in 0..n-1\nx.{i} (i)\n", "n=0", "");
    assert_listing("table t\n[a] for i in -1..1\nx.{i} (1)\n", "", "x.-1 (1)\nx.0 (1)\nx.1 (1)\n");
    assert_listing("table t\n[a] for d in depths\nx.{d} (d)\n", "depths=[2,6]", "x.2 (2)\nx.6 (6)\n");
    assert_listing("table t\n[a] for d in depths\nx.{d} (d)\n", "depths=[]", "");
    assert_listing("table t\n[a] for n in [\"q\", \"k\"]\n{n}_proj (4)\n", "", "q_proj (4)\nk_proj (4)\n");
    assert_listing("table t\n[a] for s in 0..1 for b in 0..depths[s]-1\nx.{s}.{b} (s, b)\n", "depths=[1,2]",
                   "x.0.0 (0, 0)\nx.1.0 (1, 0)\nx.1.1 (1, 1)\n");
    assert_listing("table t\n[a] for i in 0..5 if i % 2 == 1 for j in 0..i-1 if j < 1\nx.{i}.{j} (1)\n", "",
                   "x.1.0 (1)\nx.3.0 (1)\nx.5.0 (1)\n");
    assert_listing("table t\n[a] if false for i in 0..nothing\nx (1)\n", "", "");
    assert_listing("table t\n[a] for i in 0..3\nx.{i} (1) if i not in skipped\n", "skipped=[1,2]",
                   "x.0 (1)\nx.3 (1)\n");
    assert_listing("table t\n[a] for i in 9223372036854775806..9223372036854775807\nx.{i} (1)\n", "",
                   "x.9223372036854775806 (1)\nx.9223372036854775807 (1)\n");
    assert_mistake("table t\n[a] for i in 3\nx (1)\n", "", "expected a list or first..last, found an integer");
    assert_mistake("table t\n[a] for i in 0..n\nx (1)\n", "", "the hyper-parameter 'n' is not set");
    assert_mistake("table t\n[a] for i in 0..1\nx (1)\n", "", "the tensor 'x' is predicted twice");
}

static void kinds(void **state)
{
    (void)state;
    assert_listing(
        "table t\na (1) optional\nb (1) buffer\nc (1) I64 optional buffer\nd (1) BF16\ne (1) I8 or U8 optional\n", "",
        "a (1) optional\nb (1) buffer\nc (1) I64 optional buffer\nd (1) BF16\ne (1) optional\n");
    assert_listing("table t\nnew.w (1) was old.w was \"older w\"\n[a] for i in 0..0\nn.{i} (1) was o.{i}\n", "",
                   "new.w (1) was old.w was older w\nn.0 (1) was o.0\n");
    assert_listing("table t\na (1) if yes\nb (1) if not yes\nc (1) optional if yes buffer\n", "yes=true",
                   "a (1)\nc (1) optional buffer\n");
    assert_mistake("table t\na (1) if yes\n", "", "the hyper-parameter 'yes' is not set");
    assert_mistake("table t\na (1) if yes\n", "yes=maybe", "expected a truth value, found a string");
}

static void ties(void **state)
{
    (void)state;
    static const char table[] = "table t\n"
                                "e (V, 4)\n"
                                "h (V, 4)   if head same as e when tied\n"
                                "c (2, 4)   same rows as e\n";
    assert_listing(table, "V=5 head=true tied=true", "e (5, 4)\nh (5, 4) same as e\nc (2, 4) same rows as e\n");
    assert_listing(table, "V=5 head=true tied=false", "e (5, 4)\nh (5, 4)\nc (2, 4) same rows as e\n");
    assert_listing(table, "V=5 head=false", "e (5, 4)\nc (2, 4) same rows as e\n");
    assert_mistake(table, "V=1 head=true tied=true", "'c' and 'e' have different shapes");
    static const char always[] = "table t\ne (3)\nh (3) if head same as e always\nc (3) same as e always optional\n";
    assert_listing(always, "head=true", "e (3)\nh (3) same as e\nc (3) optional same as e\n");
    assert_listing(always, "head=false", "e (3)\nc (3) optional same as e\n");
    assert_mistake("table t\ne (3)\nh (3) same as e when maybe\n", "maybe=yes",
                   "expected a truth value, found a string");
    assert_listing("table t\na (1) same as b\nb (1)\n", "", "a (1) same as b\nb (1)\n");
    assert_mistake("table t\na (2) same as b\nb (1)\n", "", "'a' and 'b' have different shapes");
    assert_mistake("table t\na (1) same as b\nb (1, 1)\n", "", "'a' and 'b' have different shapes");
    assert_mistake("table t\na (1) same as b\n", "", "this table has no tensor 'b' to be the same as");
    assert_mistake("table t\na (1) same as a\n", "", "a tensor cannot be the same as itself");
    assert_mistake("table t\na (1) same as b\nb (1) same as a\n", "", "the ties of 'a' are circular");
    assert_listing("table t\n[a] for i in 0..1\nx.{i} (1) same as x.0 when i > 0\n", "",
                   "x.0 (1)\nx.1 (1) same as x.0\n");
}

static void totals(void **state)
{
    (void)state;
    static const char table[] = "table t\n"
                                "[one]\na (2, 3)\nb (6) same as c\n"
                                "[two]\nc (6)\nd (5) buffer\ne (7) optional\n"
                                "[one]\nf (10)\n";
    struct run run = predict(table, "");
    const struct shapeproof_predicted_totals *totals = shapeproof_prediction_totals(run.prediction);
    assert_int_equal(totals->tensors, 5);
    assert_int_equal(totals->parameters, 6 + 6 + 6 + 10);
    assert_int_equal(totals->unique_parameters, 6 + 6 + 10);
    assert_int_equal(totals->buffers, 5);
    char *text = groups(run.prediction);
    assert_string_equal(text, "[one] 16\n[two] 6\n");
    assert_int_equal(shapeproof_prediction_find(run.prediction, "c"), 2);
    assert_int_equal(shapeproof_prediction_find(run.prediction, "z"), SHAPEPROOF_NONE);
    free(text);
    run_free(&run);
}

static void requirements(void **state)
{
    (void)state;
    static const char table[] = "table t\nrequire kind != \"odd\", \"no table for the kind \" + kind\nx (1)\n";
    assert_listing(table, "kind=plain", "x (1)\n");
    struct run run = predict(table, "kind=odd");
    assert_null(run.prediction);
    assert_int_equal(run.error.status, SHAPEPROOF_ERR_UNKNOWN);
    assert_string_equal(run.text, "t.shapes:2:1: no table for the kind odd\n"
                                  "    2 | require kind != \"odd\", \"no table for the kind \" + kind\n"
                                  "      | ^~~~~~~");
    run_free(&run);
    assert_mistake(table, "", "the hyper-parameter 'kind' is not set");
}

static void spelling_of_files(void **state)
{
    (void)state;
    assert_listing("\xef\xbb\xbf# with a mark\r\ntable t\r\n[a] for i in 0..1\r\nx.{i} (1)  # blanks\r\n\r\n", "",
                   "x.0 (1)\nx.1 (1)\n");
    assert_listing("table t\nx (1)", "", "x (1)\n"); /* no line end */
    assert_listing("table t\n\tx\t(1)\toptional\n", "", "x (1) optional\n");
    assert_listing("table t\n[  padded  ]\nx (1)\n", "", "x (1)\n");
    assert_mistake("table t\nx\x01 (1)\n", "", "t.shapes:2:2: a table file is UTF-8 text without control characters");
    assert_mistake("table t\nx\xff (1)\n", "", "t.shapes:2:2: a table file is UTF-8 text without control characters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),        cmocka_unit_test(shapes),
        cmocka_unit_test(definitions),  cmocka_unit_test(local_definitions),
        cmocka_unit_test(loops),        cmocka_unit_test(kinds),
        cmocka_unit_test(ties),         cmocka_unit_test(totals),
        cmocka_unit_test(requirements), cmocka_unit_test(spelling_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
