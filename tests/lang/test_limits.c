/* SPDX-License-Identifier: MIT
 * No table can crash, hang or fill the memory: what is too deep, too long or too much ends with a message that has the
 * limit in it. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

#include <pthread.h>

#include "lang/eval.h"
#include "lang/syntax/parser.h"

/* head, then `count` times `middle`, then tail. */
static char *repeat(const char *head, const char *middle, size_t count, const char *tail)
{
    struct sp_text text = {0};
    sp_text_puts(&text, head);
    for (size_t i = 0; i < count; i++) sp_text_puts(&text, middle);
    sp_text_puts(&text, tail);
    return text.data;
}

/* `count` repetitions give `expected`, one more the mistake. */
static void assert_limit(const char *head, const char *middle, size_t count, const char *tail, const char *mistake)
{
    char *fits = repeat(head, middle, count, tail), *too_much = repeat(head, middle, count + 1, tail);
    struct run run = predict(fits, "k=0");
    if (!run.prediction) assert_string_equal(run.text, "");
    run_free(&run);
    assert_mistake(too_much, "k=0", mistake);
    free(fits);
    free(too_much);
}

static void nesting_of_expressions(void **state)
{
    (void)state;
    char *close = repeat("1", ")", SP_MAX_EXPR_DEPTH - 1, ")\n");
    char *fits = repeat("table t\nx (", "(", SP_MAX_EXPR_DEPTH - 1, close);
    assert_listing(fits, "", "x (1)\n");
    free(fits);
    char *deeper = repeat("1)", ")", SP_MAX_EXPR_DEPTH - 1, ")\n");
    char *too_deep = repeat("table t\nx (", "(", SP_MAX_EXPR_DEPTH, deeper);
    assert_mistake(too_deep, "", "nested more than 200 deep");
    free(too_deep);
    free(deeper);
    free(close);
    assert_limit("table t\nx (1) if ", "not ", SP_MAX_EXPR_DEPTH - 1, "k\n", "nested more than 200 deep");
    assert_limit("table t\nx (", "true ? 1 : ", SP_MAX_EXPR_DEPTH - 1, "2)\n", "nested more than 200 deep");
}

static void operators(void **state)
{
    (void)state;
    assert_limit("table t\nx (1", "+1", SP_MAX_OPERATORS, ")\n", "more than 500 operators in one line");
    assert_limit("table t\nx (1) if absent(missing", ".a", SP_MAX_OPERATORS, ")\n",
                 "more than 500 operators in one line");
}

static void long_chains(void **state)
{
    (void)state;
    static const char *const middles[] = {".a", "[0]", "+1", "^1", " default 1", " if 1", ", 1", "(", "[", "-", "{"};
    for (size_t i = 0; i < sizeof middles / sizeof *middles; i++) {
        char *row = repeat("table t\nx (a", middles[i], 200000, ")\n");
        char *heading = repeat("table t\n[x] if a", middles[i], 200000, "\nx (1)\n");
        struct run run = predict(row, "");
        if (strcmp(middles[i], ", 1") != 0) assert_null(run.prediction);
        run_free(&run);
        run = predict(heading, "");
        assert_null(run.prediction);
        run_free(&run);
        free(row);
        free(heading);
    }
}

static void many_definitions(void **state)
{
    (void)state;
    struct sp_text table = {0};
    sp_text_puts(&table, "table t\n");
    for (int i = 0; i < 1000; i++) sp_text_printf(&table, "d%d = d%d + 1\n", i, i + 1);
    sp_text_puts(&table, "x (d999)\n");
    assert_listing(table.data, "d1000=1", "x (2)\n");
    sp_text_puts(&table, "y (d0)\n");
    assert_mistake(table.data, "d1000=1", "nested too deep: is it defined through itself?");
    table.length = 0;
    sp_text_puts(&table, "table t\n");
    for (int i = 0; i < 1001; i++) sp_text_printf(&table, "d%d = 1\n", i);
    assert_mistake(table.data, "", "more than 1000 definitions");
    sp_text_free(&table);
}

static void extension(void **state)
{
    (void)state;
    struct sp_text table = {0};
    sp_text_puts(&table, "table t0\nx (1)\n");
    for (int i = 1; i <= 16; i++) sp_text_printf(&table, "table t%d extends t%d\n", i, i - 1);
    assert_listing(table.data, "", "x (1)\n");
    table.length = 0;
    for (int i = 100; i >= 1; i--) sp_text_printf(&table, "table t%d extends t%d\n", i, i - 1);
    sp_text_puts(&table, "table t0\nx (1)\n");
    assert_mistake(table.data, "", "extends more than 16 deep");
    sp_text_free(&table);
}

static void parts_within_parts(void **state)
{
    (void)state;
    assert_mistake("part p()\na.* p()\nb.* p()\ntable t\nx.* p()\n", "", "parts used more than 64 deep");
    assert_mistake("table t\nx.* t\n", "", "parts used more than 64 deep");
    assert_mistake("table t\n[a] for i in 0..1000000000\nx.* t\n", "", "parts used more than 64 deep");
}

/* ---- time and memory ---- */

static void steps(void **state)
{
    (void)state;
    static const char limit[] = "the table takes more than 64000000 steps; --limit steps=N allows more";
    assert_mistake("table t\n[a] for i in 0..10^6 for j in 0..10^12\nx.{i}.{j} (1) if i + j < 0\n", "", limit);
    struct sp_text table = {0};
    sp_text_puts(&table, "table t\nf0(x) = x\n");
    for (int i = 1; i <= 60; i++) sp_text_printf(&table, "f%d(x) = f%d(x) + f%d(x)\n", i, i - 1, i - 1);
    sp_text_puts(&table, "x (f60(0))\n");
    assert_mistake(table.data, "", limit);
    sp_text_free(&table);
}

/* What is large in the configuration is not compared, or searched, for nothing. */
static void large_values(void **state)
{
    (void)state;
    static const char limit[] = "the table takes more than 64000000 steps; --limit steps=N allows more";
    struct sp_text list = {0}, object = {0};
    sp_text_puts(&list, "xs=[[0");
    for (int i = 1; i < 100000; i++) sp_text_puts(&list, ",0");
    sp_text_puts(&list, "]]");
    sp_text_puts(&object, "o={\"w\":2");
    for (int i = 0; i < 50000; i++) sp_text_printf(&object, ",\"k%d\":0", i);
    sp_text_puts(&object, "}");
    assert_mistake("table t\n[a] for i in 0..10^6\nx.{i} (1) if xs != xs and i >= 0\n", list.data, limit);
    assert_mistake("table t\n[a] for i in 0..10^6\nx.{i} (1) if xs[0] not in xs and i >= 0\n", list.data, limit);
    assert_mistake("table t\n[a] for i in 0..10^6\nx.{i} (1) if o.w != 2 and i >= 0\n", object.data, limit);
    sp_text_free(&list);
    sp_text_free(&object);
}

/* A mistake in a loop over a billion layers ends it. */
static void mistakes_in_loops(void **state)
{
    (void)state;
    assert_mistake("table t\nN = 1 // 0\n[a] for i in 0..10^9\nx.{i} (N)\n", "", "division by zero");
    assert_mistake("table t\n[a] for i in 0..10^9 for j in 0..10^9\nx.{i} (n)\n", "", "'n' is not set");
    assert_mistake("table t\n[a] for i in 0..10^9 if n > i\nx.{i} (n)\n", "", "'n' is not set");
}

/* A loop that makes too many tensors is refused after its first iteration; only then the message names the key. */
static void long_loops(void **state)
{
    (void)state;
    static const char *const tables[] = {
        "table t\n[a] for i in 0..n-1\nx.{i} (1)\n",
        "part p(w)\na (w)\nb (w)\n[c] if false\nc (w)\ntable t\n[a] for i in 0..n-1\nx.{i}.* p(2)\n",
        "table t\n[a] for j in 0..3 for i in 0..n-1\nx.{i}.{j} (1) if j > 5\ny.{i}.{j} (2)\n",
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_mistake(tables[i], "n=10000000", "with n = 10000000, the table has more than 4000000 tensors");
        struct run run = predict(tables[i], "n=10000000");
        assert_int_equal(run.error.kind, SHAPEPROOF_KIND_LIMIT);
        run_free(&run);
    }
    assert_mistake("table t\n[a] for j in 0..1 for i in 0..ns[j]-1\nx.{j}.{i} (1)\n", "ns=[1,10000000]",
                   "with an item of ns = 10000000, the table has more than 4000000 tensors");
    assert_mistake("table t\n[a] for i in 1..n\nx.{i} (1)\n", "n=10000000", "more than 4000000 tensors, the limit");
    assert_listing("table t\n[a] for i in 0..n-1\nx.{i} (1) if i == 9\n", "n=100000", "x.9 (1)\n");
    /* Conditions that do not read the index hold in all iterations or in none; others are not known. */
    assert_mistake("table t\n[a] for i in 0..n-1 if on\nx.{i} (1)\n", "n=10000000 on=true",
                   "with n = 10000000, the table has more than 4000000 tensors");
    assert_mistake("table t\n[a] for i in 0..n-1\nx.{i} (1) if on\ny.{i} (1) if on\nz.{i} (1) if not on\n",
                   "n=1000000 on=true",
                   "with n = 1000000, the table has more tensors than 256 MiB of memory have room "
                   "for; --limit memory=SIZE allows more");
    assert_mistake("table t\n[a] for i in 0..n-1 if i < 9\nx.{i} (1)\n", "n=1000000000",
                   "with n = 1000000000, the table takes more than 64000000 steps; --limit steps=N allows more");
    assert_listing("table t\n[a] for i in 0..n-1 if i < 1\nx.{i} (1)\n", "n=1000000", "x.0 (1)\n");
}

/* Predicts a built-in table. Keys that are needed and not set become 8. NULL with the error. */
static struct shapeproof_prediction *predict_table(struct shapeproof_tables *tables, struct shapeproof_config *config,
                                                   const char *table, struct shapeproof_error *error)
{
    static const char need[] = "the hyper-parameter '";
    const struct shapeproof_predict_options options = {.table = table};
    struct shapeproof_prediction *prediction;
    for (int i = 0; !(prediction = shapeproof_predict(tables, config, &options, error)) && i < 40; i++) {
        struct shapeproof_error ignored;
        char setting[200] = "";
        const char *key = strstr(error->message, need);
        if (!key || !strstr(key, "' is not set")) break;
        key += strlen(need);
        snprintf(setting, sizeof setting, "%.*s=8", (int)strcspn(key, "'"), key);
        if (shapeproof_config_set(config, setting, &ignored) != SHAPEPROOF_OK) break;
    }
    return prediction;
}

/* Of a sample of the built-in tables each integer is 10^9: what is then too long is refused before it takes memory. */
static void large_hyperparameters(void **state)
{
    enum { EVERY = 45, MEMORY = 48 << 20 };
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    const size_t table_count = shapeproof_tables_count(tables);
    size_t tried = 0;
    (void)state;
    shapeproof_set_limits(&(struct shapeproof_limits){.memory = MEMORY}, &error);
    for (size_t t = 0; t < table_count; t += EVERY) {
        const char *table = shapeproof_tables_info(tables, t)->name;
        struct shapeproof_config *config = shapeproof_config_new();
        struct shapeproof_prediction *base = predict_table(tables, config, table, &error);
        for (size_t i = 0; base && i < shapeproof_prediction_hyperparameter_count(base); i++) {
            const struct shapeproof_hyperparameter *key = shapeproof_prediction_hyperparameter(base, i);
            struct shapeproof_config *changed = shapeproof_config_new();
            if (key->value.type == SHAPEPROOF_VALUE_INT) {
                char setting[200];
                snprintf(setting, sizeof setting, "%s=1000000000", key->name);
                assert_int_equal(shapeproof_config_set(changed, setting, &error), SHAPEPROOF_OK);
                shapeproof_prediction_free(predict_table(tables, changed, table, &error));
                if (strstr(error.message, " of memory")) fail_msg("%s with %s: %s", table, setting, error.message);
                tried++;
            }
            shapeproof_config_free(changed);
        }
        shapeproof_prediction_free(base);
        shapeproof_config_free(config);
    }
    assert_true(tried > 50);
    shapeproof_set_limits(NULL, &error);
    shapeproof_tables_free(tables);
}

static enum shapeproof_kind kind_of(const char *table, const char *settings)
{
    struct run run = predict(table, settings);
    const enum shapeproof_kind kind = run.error.kind;
    assert_null(run.prediction);
    run_free(&run);
    return kind;
}

/* A configuration is only too large if it has no mistake, whether that is before or after the loop that is too long: a
 * negative dimension is wrong at every size. */
static void mistakes_and_limits(void **state)
{
    (void)state;
    static const char *const tables[] = {
        "table t\n[a]\nx (9 - n)\n[b] for i in 0..n-1\ny.{i} (1)\n",
        "table t\n[b] for i in 0..n-1\ny.{i} (1)\n[a]\nx (9 - n)\n",
    };
    assert_int_equal(kind_of("table t\n[b] for i in 0..n-1\ny.{i} (1)\n[a] for i in 0..n-1\nx.{i} (1)\n", "n=5000000"),
                     SHAPEPROOF_KIND_LIMIT);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_int_equal(kind_of(tables[i], "n=5000000"), SHAPEPROOF_KIND_NONE);
        assert_mistake(tables[i], "n=5000000", "the dimension is -4999991, less than 0");
        assert_mistake(tables[i], "n=5000000", "more than 4000000 tensors");
    }
}

/* The same for a number that does not fit in 64 bits. */
static void overflows(void **state)
{
    static const char *const tables[] = {
        "table t\n[a]\nx (n, n)\n",
        "table t\n[a]\nx (n*n)\n",
        "table t\n[a]\nx (n)\ny (n)\nz (n)\n",
        "table t\n[a]\nx (round_up(n, 2*n - 3))\n",
        "table t\n[a]\nx (-(0-n-n))\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_int_equal(kind_of(tables[i], "n=9000000000000000000"), SHAPEPROOF_KIND_OVERFLOW);
    assert_int_equal(kind_of("table t\n[a]\nx (n*n)\ny (9 - n)\n", "n=9000000000000000000"), SHAPEPROOF_KIND_NONE);
    assert_string_equal(shapeproof_kind_name(SHAPEPROOF_KIND_OVERFLOW), "overflow");
}

/* Groups whose loops do not tell how many tensors they make are expanded up to the limit. Each loop after that has one
 * iteration, which finds its mistakes; without one, the limit is reported once. */
static void tensors(void **state)
{
    (void)state;
    static const char table[] = "table t\n[z] for i in 1..n for j in 0..0\nz.{i} ()\n"
                                "[a] for i in 1..n if i > 0\nx.{i} (7 - w)\n";
    static const char limit[] = "more than 5 tensors, the limit";
    for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
        struct run run = predict(table, is_wrong ? "n=10 w=8" : "n=10 w=7");
        const struct shapeproof_predict_options options = {.table = "t", .most_tensors = 5};
        assert_null(shapeproof_predict(run.tables, run.config, &options, &run.error));
        assert_int_equal(run.error.kind, is_wrong ? SHAPEPROOF_KIND_NONE : SHAPEPROOF_KIND_LIMIT);
        const char *at = strstr(run.error.message, limit);
        assert_non_null(at);
        assert_null(strstr(at + 1, limit));
        assert_int_equal(strstr(at, "x.{i}") != NULL, is_wrong);
        assert_int_equal(strstr(at, "the dimension is -1, less than 0") != NULL, is_wrong);
        run_free(&run);
    }
}

static void texts(void **state)
{
    (void)state;
    struct sp_text table = {0};
    sp_text_puts(&table, "table t\ns0 = \"0123456789abcdef\"\n");
    for (int i = 1; i <= 60; i++) sp_text_printf(&table, "s%d = s%d + s%d\n", i, i - 1, i - 1);
    sp_text_puts(&table, "x (len(s12))\n");
    assert_listing(table.data, "", "x (65536)\n");
    sp_text_puts(&table, "y (len(s60))\n");
    assert_mistake(table.data, "", "the string is longer than 65536 bytes");
    sp_text_puts(&table, "[z]\n{s12}z (1)\n");
    assert_mistake(table.data, "", "the name is longer than 65536 bytes");
    sp_text_free(&table);
}

/* Each part uses the one before it twice: 2^60 uses. */
static void uses(void **state)
{
    (void)state;
    struct sp_text table = {0};
    sp_text_puts(&table, "part p0(n)\n[none] if false\nx (1)\n");
    for (int i = 1; i <= 60; i++) sp_text_printf(&table, "part p%d(n)\na.* p%d(n)\nb.* p%d(n)\n", i, i - 1, i - 1);
    sp_text_puts(&table, "table t\nx.* p60(0)\n");
    assert_mistake(table.data, "", "the table takes almost all of 256 MiB of memory; --limit memory=SIZE allows more");
    sp_text_free(&table);
}

static void memory(void **state)
{
    (void)state;
    struct sp_text table = {0};
    sp_text_puts(&table, "table t\ns0 = \"0123456789abcdef\"\n");
    for (int i = 1; i <= 11; i++) sp_text_printf(&table, "s%d = s%d + s%d\n", i, i - 1, i - 1);
    sp_text_puts(&table, "[z] for i in 0..10^6\n{s11}{i} (1)\n");
    assert_mistake(table.data, "", "the table takes almost all of 256 MiB of memory; --limit memory=SIZE allows more");
    sp_text_free(&table);
}

/* ---- the stack: a thread of an application may have little of it ---- */

#ifdef __SANITIZE_ADDRESS__
enum { STACK = 8 << 20 }; /* sanitizers make frames larger */
#else
enum { STACK = 1 << 20 };
#endif

static void *deepest(void *unused)
{
    (void)unused;
    struct sp_text table = {0};
    sp_text_puts(&table, "table t\nf(a) = g(a)\ng(a) = max(f(a), 1, 2) + 1\nx (f(1))\n");
    assert_mistake(table.data, "", "nested too deep: is it defined through itself?");
    table.length = 0;
    sp_text_puts(&table,
                 "part p(n)\n[a] for a in 1..1 for b in 1..1 for c in 1..1 for d in 1..1 for e in 1..1 for f in "
                 "1..1 for g in 1..1 for h in 1..1\nx.* p(n)\ntable t\nx.* p(1)\n");
    assert_mistake(table.data, "", "parts used more than 64 deep");
    sp_text_free(&table);
    return NULL;
}

static void stack(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, deepest, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

/* ---- a large table ---- */

/* DeepSeek-V3 with the scales of its published 8-bit file: 58 layers of 256 experts. Predicted again, it is the same.
 */
static void a_large_table_again(void **state)
{
    (void)state;
    static const char table[] = "table t extends deepseek_v3\n"
                                "[scales] for i in F..L-1 for e in 0..E-1 for n in [\"gate\", \"up\", \"down\"]\n"
                                "{p}layers.{i}.mlp.experts.{e}.{n}_proj.weight_scale_inv "
                                "(ceil_div(n == \"down\" ? H : M, 128), ceil_div(n == \"down\" ? M : H, 128))\n";
    static const char settings[] = "vocab_size=129280 hidden_size=7168 num_hidden_layers=61 intermediate_size=18432 "
                                   "num_attention_heads=128 num_nextn_predict_layers=1";
    struct run run = predict(table, settings);
    assert_non_null(run.prediction);
    assert_true(shapeproof_prediction_count(run.prediction) > 90000);
    struct shapeproof_prediction *again =
        shapeproof_predict(run.tables, run.config, &(struct shapeproof_predict_options){.table = "t"}, &run.error);
    assert_int_equal(shapeproof_prediction_count(again), shapeproof_prediction_count(run.prediction));
    shapeproof_prediction_free(again);
    run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_of_expressions),
        cmocka_unit_test(operators),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(many_definitions),
        cmocka_unit_test(extension),
        cmocka_unit_test(parts_within_parts),
        cmocka_unit_test(steps),
        cmocka_unit_test(large_values),
        cmocka_unit_test(mistakes_in_loops),
        cmocka_unit_test(long_loops),
        cmocka_unit_test(large_hyperparameters),
        cmocka_unit_test(mistakes_and_limits),
        cmocka_unit_test(overflows),
        cmocka_unit_test(tensors),
        cmocka_unit_test(texts),
        cmocka_unit_test(uses),
        cmocka_unit_test(memory),
        cmocka_unit_test(stack),
        cmocka_unit_test(a_large_table_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
