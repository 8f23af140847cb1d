/* SPDX-License-Identifier: MIT
 * What frameworks call the same thing: spellings, wrappers, prefixes, the names of other years. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "names/naming_schemes.h"
#include "names/prefixes.h"
#include "names/spelling.h"
#include "names/wrappers.h"

/* ---- one spelling ---- */

static void test_spellings(void **state)
{
    static const struct {
        const char *name, *text, *leaf;
        unsigned habits;
    } cases[] = {
        {"layers.0.mlp.weight", "layers.0.mlp.weight", "weight", 0},
        {"dense/kernel:0", "dense.weight", "kernel", SP_HABIT_SLASHES | SP_HABIT_COLON},
        {"model_weights/dense/dense/kernel:0", "model_weights.dense.weight", "kernel",
         SP_HABIT_SLASHES | SP_HABIT_COLON | SP_HABIT_TWICE},
        {"layers/dense/vars/0", "layers.dense.weight", "vars/0", SP_HABIT_SLASHES},
        {"layers/bn/vars/3", "layers.bn.running_var", "vars/3", SP_HABIT_SLASHES},
        {"layers/dense/vars/4", "layers.dense.vars/4", "vars/4", SP_HABIT_SLASHES}, /* no common name */
        {"layers/dense/vars/12", "layers.dense.vars.12", "12", SP_HABIT_SLASHES},
        {"mlp.mlp.weight", "mlp.mlp.weight", "weight", 0}, /* twice on purpose: nothing else of Keras */
        {"_orig_mod.net.b", "net.bias", "b", SP_HABIT_WRAPPER},
        {"bn/gamma", "bn.weight", "gamma", SP_HABIT_SLASHES},
        {"tf/layer_._0/w", "tf.layer.0.w", "w", SP_HABIT_SLASHES},
        {"vit/layer_._0/attention/attention/kernel", "vit.layer.0.attention.attention.weight", "kernel",
         SP_HABIT_SLASHES},
        {"bert/encoder/layer_12/dense/kernel", "bert.encoder.layer.12.dense.weight", "kernel", SP_HABIT_SLASHES},
        {"net/layer_1/kernel", "net.layer_1.weight", "kernel", SP_HABIT_SLASHES}, /* called so */
        {"bert/mlm___cls/predictions/bias", "bert.cls.predictions.bias", "bias", SP_HABIT_SLASHES},
        {"bert/___cls/bias", "bert.___cls.bias", "bias", SP_HABIT_SLASHES}, /* nothing in front of the mark */
        {"kernel", "weight", "kernel", 0},
        {":0", ":0", ":0", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_arena arena = {0};
        const struct sp_spelling spelling = sp_spell(&arena, cases[i].name);
        assert_string_equal(spelling.text, cases[i].text);
        assert_string_equal(spelling.leaf, cases[i].leaf);
        assert_int_equal(spelling.habits, cases[i].habits);
        sp_arena_free(&arena);
    }
}

/* ---- wrappers ---- */

static void assert_unwraps(const char *name, const char *wrapper, const char *bare)
{
    struct sp_text text = {0};
    const char *found = sp_wrapper_in(name);
    if (wrapper) assert_string_equal(found, wrapper);
    else assert_null(found);
    sp_unwrap(&text, name);
    assert_string_equal(text.data, bare);
    sp_text_free(&text);
}

static void test_wrappers(void **state)
{
    (void)state;
    assert_unwraps("_orig_mod.a.b", "_orig_mod", "a.b");
    assert_unwraps("a._fsdp_wrapped_module.b", "_fsdp_wrapped_module", "a.b");
    assert_unwraps("a._checkpoint_wrapped_module._orig_mod.b", "_checkpoint_wrapped_module", "a.b");
    assert_unwraps("a._orig_mod", "_orig_mod", "a.");
    assert_unwraps("a._orig_mods.b", NULL, "a._orig_mods.b");
    assert_unwraps("a.my_orig_mod.b", NULL, "a.my_orig_mod.b");
    assert_unwraps("", NULL, "");
    assert_true(sp_is_all_holders("module.model."));
    assert_true(sp_is_all_holders(""));
    assert_false(sp_is_all_holders("module.encoder."));
    assert_false(sp_is_all_holders("models."));
}

/* ---- prefixes ---- */

static bool has_prefix(const struct sp_prefixes *prefixes, const char *prefix)
{
    for (size_t i = 0; i < prefixes->count; i++)
        if (strcmp(prefixes->list[i], prefix) == 0) return true;
    return false;
}

static void test_prefixes(void **state)
{
    struct sp_arena arena = {0};
    struct sp_prefixes prefixes = {.arena = &arena}, others = {.arena = &arena};
    (void)state;
    for (int i = 0; i < 40; i++) /* of which 32 are looked at */
        sp_prefixes_offer(&prefixes, sp_arena_printf(&arena, "module.layers.%d.a.b.c.weight", i));
    assert_int_equal(prefixes.names, SP_PREFIX_NAMES);
    assert_true(has_prefix(&prefixes, "module.layers.7."));
    assert_true(has_prefix(&prefixes, "module.layers.7.a."));
    assert_false(has_prefix(&prefixes, "module.layers.7.a.b.")); /* four components at most */
    assert_false(has_prefix(&prefixes, "module.layers.35."));
    sp_prefixes_keep_common(&prefixes);
    assert_int_equal(prefixes.count, 2);
    assert_string_equal(prefixes.list[0], "module.");
    assert_string_equal(prefixes.list[1], "module.layers.");
    sp_prefixes_offer(&others, "arg:model.w");
    sp_prefixes_offer(&others, "model.layers.\xff.w"); /* a pattern */
    sp_prefixes_join(&prefixes, &others);
    sp_prefixes_join(&prefixes, &others);
    assert_int_equal(prefixes.count, 6);
    assert_true(has_prefix(&prefixes, "arg:"));
    assert_true(has_prefix(&prefixes, "arg:model."));
    assert_true(has_prefix(&prefixes, "model.layers."));
    sp_arena_free(&arena);
}

/* ---- schemes ---- */

/* What the first scheme that knows the name calls it; NULL when none does. In the arena. */
static const char *translated(struct sp_arena *arena, const char *name, const char *says)
{
    for (size_t i = 0; i < sp_naming_scheme_count(); i++) {
        struct sp_text text = {0};
        size_t row = 0;
        if (strcmp(sp_naming_scheme(i)->says, says) != 0) continue;
        if (!sp_naming_scheme_translate(sp_naming_scheme(i), name, &row, &text)) return NULL;
        return sp_text_keep(&text, arena);
    }
    fail_msg("there is no era %s", says);
    return NULL;
}

static void test_schemes(void **state)
{
    static const char meta[] = "of Meta's own Llama", timm[] = "of timm";
    struct sp_arena arena = {0};
    (void)state;
    assert_string_equal(translated(&arena, "layers.12.attention.wq.weight", meta), "layers.12.self_attn.q_proj.weight");
    assert_string_equal(translated(&arena, "layers.3.feed_forward.experts.7.w1.weight", meta),
                        "layers.3.block_sparse_moe.experts.7.w1.weight");
    assert_string_equal(translated(&arena, "output.weight", meta), "lm_head.weight");
    assert_null(translated(&arena, "layers.x.attention.wq.weight", meta)); /* no index */
    assert_null(translated(&arena, "layers.01.attention.wq.weight", meta));
    assert_null(translated(&arena, "model.output.weight", meta)); /* a whole name, from its beginning */
    assert_string_equal(translated(&arena, "cls_token", timm), "embeddings.cls_token");
    assert_null(translated(&arena, "cls_token.weight", timm));
    assert_string_equal(translated(&arena, "base.layers.1.mlp.gate.weight", "of transformers 5"),
                        "base.layers.1.block_sparse_moe.gate.weight");
    assert_string_equal(translated(&arena, "layers.1.mlp.gate.weight", "of transformers 5"),
                        "layers.1.block_sparse_moe.gate.weight");
    assert_null(translated(&arena, "one.two.layers.1.mlp.gate.weight", "of transformers 5"));
    sp_arena_free(&arena);
}

/* A name that the row is about: 3 for an index, x for the rest. */
static const char *name_of_row(struct sp_arena *arena, const char *pattern)
{
    struct sp_text text = {0};
    if (strncmp(pattern, "*.", 2) == 0) pattern += 2;
    for (; *pattern; pattern++) {
        if (strncmp(pattern, "{}", 2) == 0) {
            sp_text_puts(&text, "3");
            pattern++;
        } else sp_text_append(&text, *pattern == '*' ? "x" : pattern, 1);
    }
    return sp_text_keep(&text, arena);
}

/* A name may have several rows, one behind the other: each is reached by its own name. */
static void test_every_row_can_be_reached(void **state)
{
    struct sp_arena arena = {0};
    (void)state;
    for (size_t e = 0; e < sp_naming_scheme_count(); e++)
        for (size_t i = 0; i < sp_naming_scheme(e)->count; i++) {
            const char *name = name_of_row(&arena, sp_naming_scheme(e)->rows[i].from);
            struct sp_text text = {0};
            size_t row = 0;
            while (row <= i && sp_naming_scheme_translate(sp_naming_scheme(e), name, &row, &text)) text.length = 0;
            if (row != i + 1) fail_msg("%s is not reached by %s", sp_naming_scheme(e)->rows[i].from, name);
            sp_text_free(&text);
        }
    sp_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spellings), cmocka_unit_test(test_wrappers),
                                       cmocka_unit_test(test_prefixes), cmocka_unit_test(test_schemes),
                                       cmocka_unit_test(test_every_row_can_be_reached)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
