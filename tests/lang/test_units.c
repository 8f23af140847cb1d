/* SPDX-License-Identifier: MIT
 * How tables and parts work together: arguments, prefixes, sub-configurations, extension, and what is reported about
 * hyper-parameters and dimensions. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

static void parts(void **state)
{
    (void)state;
    static const char part[] = "part pair(n, m = n + 1, wide = false)\n"
                               "w (n, m)\n"
                               "b (n)   if wide\n";
    static const struct {
        const char *use, *expected;
    } uses[] = {
        {"a.* pair(3)", "a.w (3, 4)\n"},
        {"a.* pair(3, 5)", "a.w (3, 5)\n"},
        {"a.* pair(3, 5, true)", "a.w (3, 5)\na.b (3)\n"},
        {"a.* pair(3, wide = true)", "a.w (3, 4)\na.b (3)\n"},
        {"a.* pair(m = 7, n = 2)", "a.w (2, 7)\n"},
        {"a.{1+1}.* pair(3)", "a.2.w (3, 4)\n"},
        {"a* pair(3)", "aw (3, 4)\n"},
        {"* pair(3)", "w (3, 4)\n"},
        {"\"a b.*\" pair(3)", "a b.w (3, 4)\n"},
        {"a.* pair(3) if false", ""},
        {"a.* pair(3) optional", "a.w (3, 4) optional\n"},
        {"a.* pair (3)", "a.w (3, 4)\n"},
        {"a.* pair(not true ? 1 : 2)", "a.w (2, 3)\n"},
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        struct sp_text table = {0};
        sp_text_printf(&table, "%s\ntable t\n%s\n", part, uses[i].use);
        assert_listing(table.data, "", uses[i].expected);
        sp_text_free(&table);
    }
}

static void scopes_of_parts(void **state)
{
    (void)state;
    /* A part sees its parameters, its definitions and the configuration, nothing of who uses it. */
    assert_listing("part p(n)\nm = 2*n\nw (n, m, V)\ntable t\nV = 1\nm = 5\na.* p(m)\nb.* p(1)\n", "V=7",
                   "a.w (5, 10, 7)\nb.w (1, 2, 7)\n");
    assert_mistake("part p(n)\nw (n, m)\ntable t\nm = 5\na.* p(m)\n", "", "the hyper-parameter 'm' is not set");
    assert_listing("part q(n)\nw (n)\npart p(n)\n[x] for i in 0..1\n{i}.* q(n + i)\ntable t\n[all]\na.* p(3)\n", "",
                   "a.0.w (3)\na.1.w (4)\n");
    assert_listing("part p(x, y = x)\nw (y)\ntable t\n[l] for x in 5..5\na.* p(x + 1)\n", "", "a.w (6)\n");
    assert_listing("part p(n)\nold (n) same as new\nnew (n) was older\ntable t\na.* p(3)\n", "",
                   "a.old (3) same as a.new\na.new (3) was a.older\n");
    /* What a parameter was not given is what was absent there. */
    assert_listing("part p(n)\nw (n default 9)\ntable t\na.* p(k)\n", "", "a.w (9)\n");
    assert_mistake("part p(n = m, m = 2)\nw (n)\ntable t\na.* p()\n", "", "the hyper-parameter 'm' is not set");
}

/* What a part makes in one iteration of a loop and in the next is what it makes in two uses. */
static void parts_in_loops(void **state)
{
    (void)state;
    static const char part[] = "part p(n, kind = \"\")\n"
                               "old (n) same as new when n > 1\n"
                               "new (n) I64 was older.{n} was oldest\n"
                               "[x]\nb (2, n) buffer optional if kind == \"b\"\n";
    static const char one[] = "a.%d.old (%d) same as a.%d.new\na.%d.new (%d) I64 was a.%d.older.%d was a.%d.oldest\n";
    struct sp_text table = {0}, expected = {0};
    sp_text_printf(&table, "%stable t\n[l] for i in 8..11\na.{i}.* p(i // 10 + 3)\n", part);
    for (int i = 8; i <= 11; i++) {
        const int n = i / 10 + 3;
        sp_text_printf(&expected, one, i, n, i, i, n, i, n, i);
    }
    assert_listing(table.data, "", expected.data);
    sp_text_free(&table);
    sp_text_free(&expected);
    sp_text_printf(&table, "%stable t\n[l] for kind in kinds\n{kind}.* p(1, kind)   if kind != \"c\"\n", part);
    assert_listing(table.data, "kinds=[\"a\",\"b\",\"c\",\"d\"]",
                   "a.old (1)\na.new (1) I64 was a.older.1 was a.oldest\n"
                   "b.old (1)\nb.new (1) I64 was b.older.1 was b.oldest\nb.b (2, 1) optional buffer\n"
                   "d.old (1)\nd.new (1) I64 was d.older.1 was d.oldest\n");
    sp_text_free(&table);
}

static void groups_of_parts_in_loops(void **state)
{
    (void)state;
    struct run run =
        predict("part p(n)\nx (n)\n[inside]\ny (n)\npart q(n)\na.* p(n)\n[iterations] for i in 0..1\nb.{i} (n)\n"
                "table sub\n[s]\ns (5)\ntable t\n[mine] for i in 1..3\n{i}.* p(3)\n"
                "[other] for i in 4..6\n{i}.* q(i)\n{i}.s.* sub\n",
                "");
    char *text = groups(run.prediction);
    assert_string_equal(text, "[mine] 18\n[other] 60\n[other: s] 15\n");
    assert_int_equal(shapeproof_prediction_count(run.prediction), 6 + 15);
    free(text);
    text = shapeproof_prediction_dimension(run.prediction, shapeproof_prediction_find(run.prediction, "6.a.y"), 0);
    assert_string_equal(text, "i");
    free(text);
    run_free(&run);
}

/* The same mistakes are found, and as many. */
static void mistakes_of_parts_in_loops(void **state)
{
    (void)state;
    static const char part[] = "part p(n)\nx (n)\ny (n) same as x\nz (10 // n)\n";
    struct sp_text table = {0};
    sp_text_printf(&table, "%stable t\n[l] for i in 0..4\na.{i // 2}.* p(3)\n", part);
    struct run run = predict(table.data, "");
    assert_non_null(strstr(run.text, "t.shapes:2:1: the tensor 'a.0.x' is predicted twice"));
    assert_non_null(strstr(run.text, "t.shapes:3:1: the tensor 'a.0.y' is predicted twice"));
    assert_non_null(strstr(run.text, "t.shapes:4:1: the tensor 'a.0.z' is predicted twice"));
    assert_null(strstr(run.text, "'a.1.x'")); /* the loop ended */
    run_free(&run);
    sp_text_free(&table);
    sp_text_printf(&table, "%stable t\n[l] for i in 0..4\na.{i}.* p(3 - i)\n", part);
    assert_mistake(table.data, "", "t.shapes:4:4: division by zero");
    sp_text_free(&table);
    assert_mistake("part p()\n\"\" (1)\ntable t\n[l] for s in texts\n{s}* p()\n", "texts=[\"a\",\"\"]",
                   "t.shapes:2:1: the name of the tensor is empty");
}

static void groups_of_parts(void **state)
{
    (void)state;
    struct run run = predict("part p(n)\nx (n)\n[inside]\ny (n)\n"
                             "table sub\n[layers]\nl (3)\n"
                             "table t\n[mine]\na.* p(3)\n[text]\nt.* sub\n",
                             "");
    char *text = groups(run.prediction);
    assert_string_equal(text, "[mine] 6\n[text: layers] 3\n");
    free(text);
    run_free(&run);
    /* Before the first heading a part keeps its own, and may so share them with others. */
    run = predict("part p(n)\nx (n)\n[inside]\ny (n)\npart q()\nr.* p(5)\n[inside]\nz (2)\n"
                  "table t\na.* p(3)\nb.* q()\n[inside]\nw (1)\n",
                  "");
    text = groups(run.prediction);
    assert_string_equal(text, "[] 8\n[inside] 11\n");
    free(text);
    run_free(&run);
}

static void sub_tables(void **state)
{
    (void)state;
    static const char table[] = "table inner\n"
                                "w (n default 4)\n"
                                "v (m)   if m default false\n"
                                "table t\n"
                                "a.* inner\n"
                                "b.* inner from sub\n"
                                "c.* inner from sub with n = n + 1, m = 2\n"
                                "d.* inner from none\n"
                                "e.* inner with n = 8 if n == 5\n";
    assert_listing(table, "n=5 sub.n=6", "a.w (5)\nb.w (6)\nc.w (6)\nc.v (2)\nd.w (4)\ne.w (8)\n");
    assert_listing(table, "n=5 sub=null", "a.w (5)\nb.w (4)\nc.w (6)\nc.v (2)\nd.w (4)\ne.w (8)\n");
    assert_mistake(table, "n=5 sub=3", "expected a sub-configuration, found an integer");
    /* 'from' starts afresh: what 'with' gave outside does not reach into it. */
    assert_listing("table a\nx (n default 1)\ny.* b\ntable b\nx (n default 2)\nz.* c from s\ntable c\nx (n default 3)\n"
                   "table t\na.* a with n = 9\n",
                   "", "a.x (9)\na.y.x (9)\na.y.z.x (3)\n");
    assert_listing("table c\nx (n)\ntable b\nb.* c from inner\ntable t\na.* b from outer\n", "outer.inner.n=7",
                   "a.b.x (7)\n");
    assert_mistake("table c\nx (n)\ntable b\nb.* c from inner\ntable t\na.* b from outer\n", "",
                   "the hyper-parameter 'outer.inner.n' is not set");
    assert_listing("table c\nx (n)\ntable t\nsub = new_key default old_key\na.* c from sub\n", "old_key.n=7",
                   "a.x (7)\n");
    assert_listing("table c(k = 2)\nx (n, k)\ntable t\na.* c(k = 3)\nb.* c\n", "n=1", "a.x (1, 3)\nb.x (1, 2)\n");
    assert_mistake("table t(k)\nx (k)\n", "", "the table needs the argument 'k'");
}

static const char parent[] = "table base\n"
                             "model_type \"base\"\n"
                             "n = size default 2\n"
                             "twice = 2*n\n"
                             "require n > 0, \"too small\"\n"
                             "[one]\na (n)\n"
                             "[two]\nb (twice)\n"
                             "[three]\nc (n)\n";

static void assert_extension(const char *child, const char *settings, const char *expected)
{
    struct sp_text table = {0};
    sp_text_printf(&table, "%s%s", parent, child);
    assert_listing(table.data, settings, expected);
    sp_text_free(&table);
}

static void extension(void **state)
{
    (void)state;
    assert_extension("table t extends base\n", "", "a (2)\nb (4)\nc (2)\n");
    assert_extension("table t extends base\nn = 5\n", "", "a (5)\nb (10)\nc (5)\n");
    assert_extension("table t extends base\n[two]\nother (n)\n", "", "a (2)\nother (2)\nc (2)\n");
    assert_extension("table t extends base\n[two]\n", "", "a (2)\nc (2)\n");
    assert_extension("table t extends base\n[four]\nd (twice)\n", "", "a (2)\nb (4)\nc (2)\nd (4)\n");
    assert_extension("table t extends base\nm = 3\n[one] for i in 1..m\na.{i} (1)\n", "",
                     "a.1 (1)\na.2 (1)\na.3 (1)\nb (4)\nc (2)\n");
    assert_extension("table mid extends base\nn = 3\ntable t extends mid\n[three]\n", "", "a (3)\nb (6)\n");
    assert_extension("table t extends later\ntable later extends base\nn = 7\ntable t2 extends t\n", "",
                     "a (7)\nb (14)\nc (7)\n");
    assert_listing("table t extends base2\ntable base2(k = 3)\nx (k)\ntable u extends base2\n", "", "x (3)\n");
    struct sp_text table = {0};
    sp_text_printf(&table, "%stable t extends base\nn = size\n", parent);
    assert_mistake(table.data, "size=0", "too small");
    sp_text_free(&table);
}

static void a_users_table_extends_the_one_it_hides(void **state)
{
    (void)state;
    struct run run = predict("table gpt2 extends gpt2\n[mine]\nextra (E)\n", "n_layer=0 n_embd=4");
    assert_non_null(strstr(run.text, "transformer.wte.weight (50257, 4)\n"));
    assert_non_null(strstr(run.text, "extra (4)\n"));
    struct shapeproof_error error = {0};
    static const char again[] = "table gpt2 extends gpt2\n[mine]\nmore (E)\n";
    assert_int_equal(shapeproof_tables_add_text(run.tables, "u.shapes", again, strlen(again), &error), SHAPEPROOF_OK);
    struct shapeproof_prediction *second =
        shapeproof_predict(run.tables, run.config, &(struct shapeproof_predict_options){.table = "gpt2"}, &error);
    assert_int_equal(shapeproof_prediction_find(second, "extra"), SHAPEPROOF_NONE);
    assert_int_not_equal(shapeproof_prediction_find(second, "more"), SHAPEPROOF_NONE);
    shapeproof_prediction_free(second);
    run_free(&run);
}

/* The parts that an inherited row uses are those that its own file meant. */
static void a_users_part_does_not_reach_into_built_in_tables(void **state)
{
    (void)state;
    struct run run = predict("part norm(width)\nmine (width)\ntable t extends gpt2\n[new]\nn.* norm(3)\n", "n_layer=0");
    assert_non_null(strstr(run.text, "transformer.ln_f.weight (768)\n"));
    assert_non_null(strstr(run.text, "n.mine (3)\n"));
    run_free(&run);
}

static void a_file_with_mistakes_leaves_nothing_behind(void **state)
{
    (void)state;
    struct run run = predict("table t\nx (1)\n", "");
    struct shapeproof_error error = {0};
    static const char wrong[] = "table gpt2\na.* nowhere(3)\ntable t\nb.* nowhere(2)\n";
    const size_t count = shapeproof_tables_count(run.tables);
    assert_int_equal(shapeproof_tables_add_text(run.tables, "w.shapes", wrong, strlen(wrong), &error),
                     SHAPEPROOF_ERR_TABLE);
    assert_int_equal(shapeproof_tables_count(run.tables), count);
    error = (struct shapeproof_error){0};
    struct shapeproof_prediction *again =
        shapeproof_predict(run.tables, run.config, &(struct shapeproof_predict_options){.table = "t"}, &error);
    assert_int_equal(shapeproof_prediction_find(again, "x"), 0);
    shapeproof_prediction_free(again);
    run_free(&run);
}

static void the_list_of_tables(void **state)
{
    (void)state;
    struct run run = predict("# The first line.\n# The second.\ntable aaa\nmodel_type \"m1\", \"m2\"\nx (1)\n", "");
    const struct shapeproof_table_info first = *shapeproof_tables_info(run.tables, 0);
    assert_string_equal(first.name, "aaa");
    assert_string_equal(first.title, "The first line.");
    assert_string_equal(first.file, "t.shapes");
    assert_int_equal(first.line, 3);
    assert_int_equal(first.model_type_count, 2);
    assert_string_equal(first.model_types[1], "m2");
    for (size_t i = 1; i < shapeproof_tables_count(run.tables); i++)
        assert_true(
            strcmp(shapeproof_tables_info(run.tables, i - 1)->name, shapeproof_tables_info(run.tables, i)->name) < 0);
    assert_null(shapeproof_tables_info(run.tables, shapeproof_tables_count(run.tables)));
    run_free(&run);
}

/* ---- what is reported about hyper-parameters ---- */

static void provenance(void **state)
{
    (void)state;
    static const char table[] = "table inner\n"
                                "x (width default 3, given)\n"
                                "table t\n"
                                "V = vocab_size\n"
                                "K = heads_kv default A\n"
                                "A = heads\n"
                                "P = positions default max_positions default 16\n"
                                "L = len(labels) default num_labels default 2\n"
                                "unset = nothing default false\n"
                                "a (V, K, A, P, L)\n"
                                "b (rope.dim)   if not unset\n"
                                "s.* inner from sub with given = V\n";
    struct run run = predict(table, "vocab_size=7 heads=4 max_positions=8 rope.dim=5 other=1 heads_kv=null sub.more=2");
    assert_string_equal(run.text, "a (7, 4, 4, 8, 2)\nb (5)\ns.x (3, 7)\n");
    char *text = hyperparameters(run.prediction);
    assert_string_equal(text, "vocab_size = 7, command line\n"
                              "heads_kv = 4, default (t.shapes:5)\n"
                              "heads = 4, command line\n"
                              "max_positions = 8, command line\n"
                              "num_labels = 2, default (t.shapes:8)\n"
                              "nothing = false, default (t.shapes:9)\n"
                              "rope.dim = 5, command line\n"
                              "sub.width = 3, default (t.shapes:2)\n"
                              "sub.given = 7, table t\n");
    assert_int_equal(shapeproof_prediction_unused_count(run.prediction), 2);
    assert_string_equal(shapeproof_prediction_unused(run.prediction, 0), "other");
    assert_string_equal(shapeproof_prediction_unused(run.prediction, 1), "sub.more");
    free(text);
    run_free(&run);
}

/* One side of a pair stands for the hyper-parameter that holds both. */
static void provenance_of_pairs(void **state)
{
    (void)state;
    static const char table[] = "table t\na (at(layers, 0) default deep.layers default 6, at(layers, 1) default 6)\n"
                                "b (at(widths, 0) default deep.width default 6)\n";
    struct run run = predict(table, "layers=[2,3] deep.width=5");
    char *text = hyperparameters(run.prediction);
    assert_string_equal(run.text, "a (2, 3)\nb (5)\n");
    assert_string_equal(text, "layers = [2, 3], command line\ndeep.width = 5, command line\n");
    free(text);
    run_free(&run);
    run = predict(table, "");
    text = hyperparameters(run.prediction);
    assert_string_equal(text, "layers = 6, default (t.shapes:2)\nwidths = 6, default (t.shapes:3)\n");
    free(text);
    run_free(&run);
    const char *missing = "table t\na (at(layers, 0) default deep.layers)\n";
    assert_mistake(missing, "", "the hyper-parameter 'layers' is not set");
    assert_mistake(missing, "deep.layers=null", "the hyper-parameter 'deep.layers' is null");
}

static void settings_that_were_looked_at(void **state)
{
    (void)state;
    /* Null, an object as a whole, and what chooses the table count as looked at. */
    struct run run =
        predict("table t\nq = quantization\na (n default 3, q.bits, len(names))\n",
                "n=null quantization={\"bits\":4} names={\"0\":\"x\"} model_type=t architectures=[\"T\"] version=1");
    assert_string_equal(run.text, "a (3, 4, 1)\n");
    assert_int_equal(shapeproof_prediction_unused_count(run.prediction), 0);
    char *text = hyperparameters(run.prediction);
    assert_string_equal(text, "n = 3, default (t.shapes:3)\nquantization.bits = 4, command line\n");
    free(text);
    run_free(&run);
}

static void dimensions(void **state)
{
    (void)state;
    static const char table[] = "part linear(outputs, inputs)\nweight (outputs, inputs)\n"
                                "part attention(H, A, D)\nq.* linear(A*D, H)\n"
                                "table sub\nw (n)\n"
                                "table t\n"
                                "V = vocab_size\n"
                                "E = n_embd default hidden_size default 8\n"
                                "A = num_heads\n"
                                "D = head_dim default E // A\n"
                                "[all] for i in 0..0\n"
                                "w = 2*E\n"
                                "e (V, 3*E, (V + 1)*E, w + i)\n"
                                "c (-V + V, wide ? V : E, 2*(wide ? V : E))\n"
                                "l (depths[i], max(V, 2), rope.dim)\n"
                                "a.* attention(E, A, D)\n"
                                "s.* sub from text_config\n";
    static const struct {
        const char *tensor;
        uint32_t dimension;
        const char *text;
    } expected[] = {
        {"e", 0, "vocab_size"},
        {"e", 1, "3*hidden_size"},
        {"e", 2, "(vocab_size + 1)*hidden_size"},
        {"e", 3, "(2*hidden_size) + i"},
        {"c", 0, "-vocab_size + vocab_size"},
        {"c", 1, "wide ? vocab_size : hidden_size"},
        {"c", 2, "2*(wide ? vocab_size : hidden_size)"},
        {"l", 0, "depths[i]"},
        {"l", 1, "max(vocab_size, 2)"},
        {"l", 2, "rope.dim"},
        {"a.q.weight", 0, "num_heads*head_dim"},
        {"a.q.weight", 1, "hidden_size"},
        {"s.w", 0, "text_config.n"},
        {"s.w", 1, ""},
    };
    struct run run =
        predict(table, "vocab_size=10 hidden_size=4 num_heads=2 wide=false depths=[3] rope.dim=2 text_config.n=6");
    assert_non_null(run.prediction);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const size_t tensor = shapeproof_prediction_find(run.prediction, expected[i].tensor);
        assert_int_not_equal(tensor, SHAPEPROOF_NONE);
        char *text = shapeproof_prediction_dimension(run.prediction, tensor, expected[i].dimension);
        assert_string_equal(text, expected[i].text);
        free(text);
    }
    run_free(&run);
}

static void hint_names_the_missing_hyperparameter(void **state)
{
    (void)state;
    struct run run = predict("table s\nx (n)\ntable t\ns.* s from text_config\n", "");
    assert_int_equal(run.error.status, SHAPEPROOF_ERR_TABLE);
    assert_string_equal(run.error.hint, "give it in config.json, or with --set text_config.n=VALUE");
    run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(scopes_of_parts),
        cmocka_unit_test(parts_in_loops),
        cmocka_unit_test(groups_of_parts_in_loops),
        cmocka_unit_test(mistakes_of_parts_in_loops),
        cmocka_unit_test(groups_of_parts),
        cmocka_unit_test(sub_tables),
        cmocka_unit_test(extension),
        cmocka_unit_test(a_users_table_extends_the_one_it_hides),
        cmocka_unit_test(a_users_part_does_not_reach_into_built_in_tables),
        cmocka_unit_test(a_file_with_mistakes_leaves_nothing_behind),
        cmocka_unit_test(the_list_of_tables),
        cmocka_unit_test(provenance),
        cmocka_unit_test(provenance_of_pairs),
        cmocka_unit_test(settings_that_were_looked_at),
        cmocka_unit_test(dimensions),
        cmocka_unit_test(hint_names_the_missing_hyperparameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
