/* SPDX-License-Identifier: MIT
 * What makes an expression likely: what its idioms cost, how near its keys are to a name, and which keys there are. A
 * cost is that of the keys, which is 10 each, and what is added to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "learn/terms/evidence.h"
#include "learn/terms/likely.h"
#include "learn/terms/terms.h"

/* ---- idioms ---- */

static struct sp_arena arena;
static const struct sp_terminal width_key = {.path = "width", .cost = 10}, inner_key = {.path = "inner", .cost = 10},
                                flag_key = {.path = "gated", .cost = 10}, widths_key = {.path = "widths", .cost = 10},
                                taken_key = {.path = "taken", .cost = 10};

typedef const struct sp_search_term *term;

static term key(const struct sp_terminal *terminal) { return sp_search_term_terminal(&arena, SP_TERM_KEY, terminal); }
static term length(void) { return sp_search_term_terminal(&arena, SP_TERM_LENGTH, &widths_key); }
static term flag(void) { return sp_search_term_terminal(&arena, SP_TERM_TRUTH, &flag_key); }
static term number(double value) { return sp_search_term_number(&arena, value); }
static term layer(void) { return sp_search_term_index(&arena, 0); }
static term two(enum sp_term_op op, term a, term b) { return sp_search_term_binary(&arena, op, a, b); }
static term either(term a, term b) { return sp_search_term_choice(&arena, flag(), a, b); }

static term item(const struct sp_terminal *list, term place)
{
    return sp_search_term_new(&arena, (struct sp_search_term){.op = SP_TERM_ITEM, .terminal = list, .a = place});
}

static void assert_cost(term made, const char *words, unsigned cost)
{
    struct sp_text text = {0};
    sp_search_term_write(&text, made, SP_KEYS_BY_PATH);
    assert_string_equal(text.data, words);
    if (made->cost != cost) fail_msg("%s costs %u, expected %u", words, made->cost, cost);
    sp_text_free(&text);
}

/* Comparisons with numbers: of a length more often than of a key. */
static void comparisons(void **state)
{
    (void)state;
    assert_cost(two(SP_TERM_LESS, number(2), length()), "len(widths) > 2", 10 + 9 + 6 + 2 + 8);
    assert_cost(two(SP_TERM_EQUAL, key(&width_key), number(2)), "width == 2", 10 + 9 + 2 + 22);
    sp_arena_free(&arena);
}

/* Which item of a list: the place is one idea, however long it is. */
static void places_in_lists(void **state)
{
    (void)state;
    const term last = two(SP_TERM_SUBTRACT, length(), number(1));
    assert_cost(item(&widths_key, layer()), "widths[i]", 10 + 2 + 6);
    assert_cost(item(&widths_key, two(SP_TERM_SUBTRACT, last, layer())), "widths[len(widths) - 1 - i]", 10 + 2 + 14);
    assert_cost(item(&widths_key, last), "widths[len(widths) - 1]", 10 + 2 + 8);
    assert_cost(item(&widths_key, two(SP_TERM_SUBTRACT, layer(), number(1))), "widths[i - 1]", 10 + 2 + 8);
    assert_cost(item(&widths_key, item(&taken_key, layer())), "widths[taken[i]]", 10 + 2 + 16);
    sp_arena_free(&arena);
}

static void flags(void **state)
{
    (void)state;
    const term width = key(&width_key), inner = key(&inner_key);
    assert_cost(either(number(2), number(1)), "gated default false ? 2 : 1", 10 + 4);
    assert_cost(either(two(SP_TERM_ADD, width, inner), width), "gated default false ? width + inner : width",
                3 * 10 + 4);
    sp_arena_free(&arena);
}

/* Shares, which make any size of any other; pairs, squares and powers. */
static void arithmetic(void **state)
{
    (void)state;
    const term width = key(&width_key), inner = key(&inner_key);
    const term half = two(SP_TERM_DIVIDE, width, number(2));
    const term pairs = two(SP_TERM_MULTIPLY, width, two(SP_TERM_ADD, width, number(1)));
    assert_cost(two(SP_TERM_MULTIPLY, inner, half), "inner*(width // 2)", 2 * 10 + 2 + 4 + 2 + 14);
    assert_cost(two(SP_TERM_DIVIDE, pairs, number(2)), "width*(width + 1) // 2", 10 + 8);
    assert_cost(two(SP_TERM_POWER, half, number(2)), "(width // 2)^2", 10 + 6 + 4 + 2 + 2 + 5);
    assert_cost(two(SP_TERM_MULTIPLY, width, layer()), "width*i", 10 + 2 + 6 + 16);
    sp_arena_free(&arena);
}

static void doublings(void **state)
{
    (void)state;
    const term width = key(&width_key), before = two(SP_TERM_SUBTRACT, layer(), number(1));
    assert_cost(two(SP_TERM_POWER, number(2), width), "2^width", 10 + 3);
    assert_cost(two(SP_TERM_POWER, number(2), two(SP_TERM_SUBTRACT, width, layer())), "2^(width - i)", 10 + 3 + 1 + 6);
    assert_cost(two(SP_TERM_POWER, number(2), before), "2^(i - 1)", 6 + 2 + 5 + 6 + 2 - 5);
    sp_arena_free(&arena);
}

/* ---- names ---- */

static void assert_affinity(const char *path, const char *name, unsigned affinity)
{
    const struct sp_terminal terminal = {.path = path, .cost = 10};
    const unsigned found = sp_search_term_affinity(key(&terminal), name);
    if (found != affinity) fail_msg("%s and %s: %u, expected %u", path, name, found, affinity);
    sp_arena_free(&arena);
}

/* A word that both have is worth more than one that goes with the name; two are as much as there can be. */
static void words_of_names(void **state)
{
    (void)state;
    assert_affinity("mlp_size", "layers.{}.mlp.weight", 4);
    assert_affinity("vocab_size", "wte.weight", 3);
    assert_affinity("mlp_fold", "mlp.fold.weight", 8);
    assert_affinity("mlp_fold_gate", "mlp.fold.gate.weight", 8);
    assert_affinity("id2label", "classifier.weight", 14);
}

/* A word of three letters is looked for anywhere, a shorter one as a component; a very long one by what it begins with.
 */
static void short_and_long_words(void **state)
{
    (void)state;
    assert_affinity("mlp", "premlpost.weight", 4);
    assert_affinity("qk", "preqkost.weight", 0);
    assert_affinity("qk", "layer.qk.weight", 4);
    assert_affinity("abcdefghijklmnopqrstuvwxyzabcdefgh", "abcdefghijklmnopqrstuvwxyzabcde", 4);
    assert_affinity("abcdefghijklmnopqrstuvwxyzabcdefgh", "abcdefghijklmnopqrstuvwxyzabcd", 0);
}

static void words_of_other_things(void **state)
{
    const struct sp_terminal positions = {.path = "max_position_embeddings", .cost = 10};
    (void)state;
    assert_int_equal(sp_search_term_strangeness(key(&positions), "layers.{}.mlp.weight"), 6);
    assert_int_equal(sp_search_term_strangeness(key(&positions), "wpe.weight"), 0);
    sp_arena_free(&arena);
}

/* ---- keys ---- */

struct gathered {
    struct sp_arena arena;
    struct shapeproof_config *config;
    struct shapeproof_learn_example example;
    struct sp_evidence evidence;
};

static void gather(struct gathered *gathered, const char *json)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value root;
    *gathered = (struct gathered){.config = shapeproof_config_new()};
    if (!sp_value_parse_json(&gathered->arena, json, strlen(json), &root, &error)) fail_msg("%s", error.message);
    sp_config_set_root(gathered->config, root);
    gathered->example.config = gathered->config;
    gathered->evidence = (struct sp_evidence){.arena = &gathered->arena, .examples = &gathered->example, .count = 1};
    sp_evidence_gather(&gathered->evidence);
}

static bool has_key(const struct gathered *gathered, const char *path)
{
    return sp_evidence_terminal(&gathered->evidence, path) != NULL;
}

static void gathered_close(struct gathered *gathered)
{
    sp_evidence_free(&gathered->evidence);
    shapeproof_config_free(gathered->config);
    sp_arena_free(&gathered->arena);
}

static void costs_of_keys(void **state)
{
    struct gathered gathered;
    (void)state;
    gather(&gathered, "{\"width\": 4, \"bos_token_id\": 1, \"text\": {\"width\": 6}}");
    assert_int_equal(sp_evidence_terminal(&gathered.evidence, "width")->cost, 10);
    assert_int_equal(sp_evidence_terminal(&gathered.evidence, "text.width")->cost, 11);
    assert_int_equal(sp_evidence_terminal(&gathered.evidence, "bos_token_id")->cost, 22);
    gathered_close(&gathered);
}

static void keys_within_keys(void **state)
{
    struct gathered gathered;
    (void)state;
    gather(&gathered, "{\"a\": {\"b\": {\"c\": {\"d\": {\"e\": {\"f\": 1}}}}}}");
    assert_true(has_key(&gathered, "a.b.c.d.e"));
    assert_false(has_key(&gathered, "a.b.c.d.e.f"));
    gathered_close(&gathered);
}

static void long_keys(void **state)
{
    struct sp_text text = {0};
    struct gathered gathered;
    (void)state;
    sp_text_printf(&text, "{\"%.*s\": 1, \"%.*s\": 2}", 160,
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                   161,
                   "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
                   "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
    gather(&gathered, text.data);
    assert_int_equal(gathered.evidence.terminals.count, 1);
    gathered_close(&gathered);
    sp_text_free(&text);
}

/* The first ones of a configuration that says very much. */
static void many_keys(void **state)
{
    struct sp_text text = {0};
    struct gathered gathered;
    (void)state;
    for (unsigned i = 0; i < 601; i++) sp_text_printf(&text, "%s\"k%u\": 1", i ? ", " : "{", i);
    sp_text_puts(&text, "}");
    gather(&gathered, text.data);
    assert_int_equal(gathered.evidence.terminals.count, 600);
    gathered_close(&gathered);
    sp_text_free(&text);
}

/* The columns of rows in a list, and of what the members that a list names have. */
static void columns(void **state)
{
    struct gathered gathered;
    (void)state;
    gather(&gathered, "{\"rows\": [[1, 2, 3, 4, 5, 6, 7, 8, 9]], \"names\": [\"one\"], "
                      "\"sizes\": {\"one\": [1, 2, 3, 4, 5]}}");
    assert_true(has_key(&gathered, "rows[7]"));
    assert_false(has_key(&gathered, "rows[8]"));
    assert_true(has_key(&gathered, "member(sizes, names)[3]"));
    assert_false(has_key(&gathered, "member(sizes, names)[4]"));
    gathered_close(&gathered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons),
        cmocka_unit_test(places_in_lists),
        cmocka_unit_test(flags),
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(doublings),
        cmocka_unit_test(words_of_names),
        cmocka_unit_test(short_and_long_words),
        cmocka_unit_test(words_of_other_things),
        cmocka_unit_test(costs_of_keys),
        cmocka_unit_test(keys_within_keys),
        cmocka_unit_test(long_keys),
        cmocka_unit_test(many_keys),
        cmocka_unit_test(columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
