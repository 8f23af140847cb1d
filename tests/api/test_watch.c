/* SPDX-License-Identifier: MIT
 * The watch over long calls: it hears of each step and each thing that was tried, and may end the call at any of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shapeproof/shapeproof.h"

#define GPT2 "fixtures/models/tiny-gpt2"
#define LLAMA "fixtures/models/tiny-llama"

/* Counts what it is told; ends the call when it was asked `most` times. */
struct told {
    size_t asked, most, lines;
    const char *wanted; /* a line that holds this */
    bool is_there;
};

static bool count_progress(void *context, const char *step, uint64_t done, uint64_t total)
{
    struct told *told = context;
    assert_true(*step);
    assert_true(!total || done <= total);
    return ++told->asked < told->most;
}

static void count_line(void *context, const char *line)
{
    struct told *told = context;
    told->lines++;
    assert_null(strchr(line, '\n'));
    if (told->wanted && strstr(line, told->wanted)) told->is_there = true;
}

/* One call with a watch: true when it came to an end by itself. */
typedef bool (*watched_call)(const struct shapeproof_watch *watch, struct shapeproof_error *error);

static bool call_infer(const struct shapeproof_watch *watch, struct shapeproof_error *error)
{
    struct shapeproof_tables *tables = shapeproof_tables_new(error);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(GPT2, error);
    struct shapeproof_inference *inference =
        shapeproof_infer(inventory, tables, &(struct shapeproof_infer_options){.watch = watch}, error);
    const bool ended = inference != NULL;
    shapeproof_inference_free(inference);
    shapeproof_inventory_close(inventory);
    shapeproof_tables_free(tables);
    return ended;
}

static bool call_check(const struct shapeproof_watch *watch, struct shapeproof_error *error)
{
    static const char *const settings[] = {"num_hidden_layers=3", "num_attention_heads=8", NULL};
    struct shapeproof_check *check = shapeproof_check_path(
        LLAMA, &(struct shapeproof_check_path_options){.settings = settings, .check = {.watch = watch}}, error);
    const bool ended = check != NULL;
    shapeproof_check_free(check);
    return ended;
}

static bool call_learn(const struct shapeproof_watch *watch, struct shapeproof_error *error)
{
    struct shapeproof_tables *tables = shapeproof_tables_new(error);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(GPT2, error);
    struct shapeproof_config *config = shapeproof_config_new();
    assert_int_equal(shapeproof_config_load(config, GPT2 "/config.json", error), SHAPEPROOF_OK);
    const struct shapeproof_learn_example example = {inventory, config};
    struct shapeproof_learning *learning =
        shapeproof_learn(&example, 1, tables, &(struct shapeproof_learn_options){.watch = watch}, error);
    const bool ended = learning != NULL;
    shapeproof_learning_free(learning);
    shapeproof_config_free(config);
    shapeproof_inventory_close(inventory);
    shapeproof_tables_free(tables);
    return ended;
}

static bool diff_data(const char *path_a, const char *path_b, const struct shapeproof_watch *watch,
                      struct shapeproof_error *error)
{
    struct shapeproof_inventory *a = shapeproof_inventory_open(path_a, error),
                                *b = shapeproof_inventory_open(path_b, error);
    struct shapeproof_diff *diff =
        shapeproof_diff_new(a, b, &(struct shapeproof_diff_options){.data = true, .watch = watch}, error);
    const bool ended = diff != NULL;
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(b);
    shapeproof_inventory_close(a);
    return ended;
}

static bool call_diff(const struct shapeproof_watch *watch, struct shapeproof_error *error)
{
    return diff_data(GPT2 "/model.safetensors", GPT2 "/pytorch_model.bin", watch, error);
}

/* Parts of fused tensors, and the search for what explains others. */
static bool call_diff_of_parts(const struct shapeproof_watch *watch, struct shapeproof_error *error)
{
    return diff_data("fixtures/names/mixtral/disk.safetensors", "fixtures/names/mixtral/memory.safetensors", watch,
                     error);
}

static bool call_diff_of_others(const struct shapeproof_watch *watch, struct shapeproof_error *error)
{
    return diff_data("fixtures/gguf/models/quantised/model.safetensors", "fixtures/gguf/models/quantised/late.gguf",
                     watch, error);
}

static bool call_prove(const struct shapeproof_watch *watch, struct shapeproof_error *error)
{
    struct shapeproof_tables *tables = shapeproof_tables_new(error);
    struct shapeproof_proofs *proofs =
        shapeproof_prove(tables, &(struct shapeproof_prove_options){.watch = watch}, error);
    const bool ended = proofs != NULL;
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
    return ended;
}

/* At the first question, at a few in the middle, and at the last. */
static void assert_ends_anywhere(watched_call call)
{
    struct shapeproof_error error;
    struct told told = {.most = SIZE_MAX};
    const struct shapeproof_watch watch = {.progress = count_progress, .context = &told};
    assert_true(call(&watch, &error));
    const size_t asked = told.asked;
    assert_true(asked > 2);
    for (size_t most = 1; most <= asked; most += most < 4 ? 1 : asked / 5 + 1) {
        told = (struct told){.most = most};
        assert_false(call(&watch, &error));
        assert_int_equal(error.status, SHAPEPROOF_ERR_CANCELLED);
        assert_string_equal(error.message, "the caller ended the call");
        assert_true(told.asked <= most + 2); /* nothing of any length follows */
    }
    told = (struct told){.most = asked + 1};
    assert_true(call(&watch, &error));
}

static void test_calls_end_when_the_watch_says_so(void **state)
{
    (void)state;
    assert_ends_anywhere(call_infer);
    assert_ends_anywhere(call_check);
    assert_ends_anywhere(call_learn);
    assert_ends_anywhere(call_diff);
    assert_ends_anywhere(call_diff_of_parts);
    assert_ends_anywhere(call_diff_of_others);
    assert_ends_anywhere(call_prove);
}

static void assert_traced(watched_call call, const char *wanted)
{
    struct shapeproof_error error;
    struct told told = {.wanted = wanted};
    const struct shapeproof_watch watch = {.trace = count_line, .context = &told};
    assert_true(call(&watch, &error));
    if (!told.is_there) fail_msg("none of %zu lines has '%s'", told.lines, wanted);
}

static void test_what_is_tried_is_told(void **state)
{
    (void)state;
    assert_traced(call_infer, "tried gpt2 GPT2LMHeadModel: 28 tensors explained");
    assert_traced(call_infer, "nanogpt: no configuration names it: 1 against 0");
    assert_traced(call_check, "trial num_hidden_layers=2: explains 7 findings");
    assert_traced(call_check, "hyperparameters found hyperparameter: num_attention_heads is 8");
    assert_traced(call_learn, "n_embd (");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_end_when_the_watch_says_so),
        cmocka_unit_test(test_what_is_tried_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
