/* SPDX-License-Identifier: MIT
 * What names say about layer, module and expert; and that the rows of a breakdown add up, for every file that can be
 * read: parameters to those of the checkpoint, bytes to the size of the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <string.h>

#include "breakdown/keys.h"
#include "sample.h"
#include "shapeproof/shapeproof.h"

/* ---- keys ---- */

static const char *or_none(bool has, struct sp_text *value) { return has ? value->data : "-"; }

static void names_have_keys(void **state)
{
    static const struct {
        const char *name, *layer, *module, *expert;
    } cases[] = {
        {"model.layers.3.mlp.experts.7.up_proj.weight", "model.layers.3", "model.layers.{}.mlp.experts.{}.up_proj",
         "experts.7"},
        {"model.layers.31.block_sparse_moe.experts.0.w1.weight", "model.layers.31",
         "model.layers.{}.block_sparse_moe.experts.{}.w1", "experts.0"},
        {"model.layers.3.mlp.experts.down_proj", "model.layers.3", "model.layers.{}.mlp.experts", "experts"},
        {"model.layers.3.mlp.shared_expert.up_proj.weight", "model.layers.3",
         "model.layers.{}.mlp.shared_expert.up_proj", "shared_expert"},
        {"model.layers.3.mlp.shared_expert_gate.weight", "model.layers.3", "model.layers.{}.mlp.shared_expert_gate",
         "-"},
        {"moe.experts.deepspeed_experts.12.w", "moe.experts.deepspeed_experts.12", "moe.experts.deepspeed_experts.{}",
         "deepspeed_experts.12"},
        {"blk.3.ffn_up_exps.weight", "blk.3", "blk.{}.ffn_up_exps", "exps"},
        {"blk.3.ffn_up_shexp.weight", "blk.3", "blk.{}.ffn_up_shexp", "shexp"},
        {"encoder_1.layers.12.weight", "encoder_1.layers.12", "encoder_1.layers.{}", "-"},
        {"layers/conv2d_1/vars/0", "layers/conv2d_1", "layers/conv2d_1/vars", "-"},
        {"layer1.0.conv1.weight", "layer1.0", "layer1.{}.conv1", "-"},
        {"lm_head.weight_1", "-", "lm_head", "-"},
        {"model.norm.weight", "-", "model.norm", "-"},
        {"wte", "-", "-", "-"},
        {"", "-", "-", "-"},
        {"7", "-", "-", "-"},
        {".weight", "-", "", "-"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_text layer = {0}, module = {0}, expert = {0};
        sp_text_puts(&module, "");
        const bool has_layer = sp_put_layer(&layer, cases[i].name), has_expert = sp_put_expert(&expert, cases[i].name),
                   has_module = sp_put_module(&module, cases[i].name, 0);
        assert_string_equal(or_none(has_layer, &layer), cases[i].layer);
        assert_string_equal(or_none(has_module, &module), cases[i].module);
        assert_string_equal(or_none(has_expert, &expert), cases[i].expert);
        sp_text_free(&layer);
        sp_text_free(&module);
        sp_text_free(&expert);
    }
}

static void modules_are_cut_at_a_depth(void **state)
{
    struct sp_text module = {0};
    (void)state;
    assert_true(sp_put_module(&module, "model.layers.3.mlp.up_proj.weight", 3));
    assert_string_equal(module.data, "model.layers.{}");
    sp_text_free(&module);
}

/* ---- sums ---- */

static void add(struct shapeproof_sums *sums, const struct shapeproof_sums *more)
{
    sums->tensors += more->tensors;
    sums->parameters += more->parameters;
    sums->bytes += more->bytes;
}

static void assert_equal_sums(const struct shapeproof_sums *a, const struct shapeproof_sums *b)
{
    assert_int_equal(a->tensors, b->tensors);
    assert_int_equal(a->parameters, b->parameters);
    assert_int_equal(a->bytes, b->bytes);
}

/* Each row with rows below it is their sum, and the total is the sum of the rows of level 0 and the parts. */
static void assert_adds_up(const struct shapeproof_breakdown *breakdown, bool is_b)
{
    struct shapeproof_sums sum = {0}, below = {0};
    const struct shapeproof_breakdown_row *total = shapeproof_breakdown_total(breakdown);
    for (size_t i = shapeproof_breakdown_row_count(breakdown); i-- > 0;) {
        const struct shapeproof_breakdown_row *row = shapeproof_breakdown_row(breakdown, i);
        const struct shapeproof_sums *sums = is_b ? &row->b : &row->a;
        add(row->level ? &below : &sum, sums);
        if (row->level) continue;
        if (below.tensors) assert_equal_sums(sums, &below);
        below = (struct shapeproof_sums){0};
    }
    for (size_t i = 0; i < shapeproof_breakdown_part_count(breakdown); i++) {
        const struct shapeproof_breakdown_part *part = shapeproof_breakdown_part(breakdown, i);
        sum.bytes += (uint64_t)(is_b ? part->b : part->a);
    }
    assert_equal_sums(&sum, is_b ? &total->b : &total->a);
}

static void assert_breakdown_is_right(const struct shapeproof_inventory *inventory,
                                      const struct shapeproof_breakdown_options *options)
{
    struct shapeproof_error error = {0};
    struct shapeproof_breakdown *breakdown = shapeproof_breakdown_new(inventory, options, &error);
    assert_non_null(breakdown);
    assert_adds_up(breakdown, false);
    const struct shapeproof_totals *totals = shapeproof_inventory_totals(inventory);
    const struct shapeproof_breakdown_row *total = shapeproof_breakdown_total(breakdown);
    const uint64_t size = shapeproof_inventory_file_bytes(inventory)->size;
    assert_int_equal(total->a.tensors, totals->tensors);
    assert_int_equal(total->a.parameters, totals->unique_parameters);
    assert_int_equal(total->a.bytes, size ? size : totals->bytes);
    shapeproof_breakdown_free(breakdown);
}

/* Of every file that can be read: by each key, and by pairs of keys with few rows. */
static void rows_add_up_in_every_file(void **state)
{
    static const char *const patterns[] = {"fixtures/*/ok/*", "fixtures/models/*", "fixtures/quantised/*"};
    glob_t found = {0};
    size_t read = 0;
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        assert_int_equal(glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i += sample()) {
        struct shapeproof_error error = {0};
        struct shapeproof_inventory *inventory = shapeproof_inventory_open(found.gl_pathv[i], &error);
        if (!inventory) continue;
        read++;
        for (int key = SHAPEPROOF_BY_LAYER; key <= SHAPEPROOF_BY_EXPERT; key++) {
            if (key == SHAPEPROOF_BY_GROUP) continue;
            const enum shapeproof_by by = (enum shapeproof_by)key;
            const enum shapeproof_by other = by == SHAPEPROOF_BY_DTYPE ? SHAPEPROOF_BY_MODULE : SHAPEPROOF_BY_DTYPE;
            assert_breakdown_is_right(inventory, &(struct shapeproof_breakdown_options){.by = {by}});
            assert_breakdown_is_right(inventory,
                                      &(struct shapeproof_breakdown_options){
                                          .by = {by, other}, .most = 2, .order = SHAPEPROOF_BREAKDOWN_BY_NAME});
        }
        shapeproof_inventory_close(inventory);
    }
    assert_true(read * sample() > 200);
    globfree(&found);
}

/* The parameters of the tensors of the file that count in the group of that name. */
static uint64_t parameters_in_group(const struct shapeproof_check *check, const char *name)
{
    const struct shapeproof_inventory *inventory = shapeproof_check_inventory(check);
    uint64_t parameters = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        const size_t group = shapeproof_stored_group_of(check, i);
        if (tensor->same_as != SHAPEPROOF_NONE || group == SHAPEPROOF_NONE) continue;
        if (strcmp(shapeproof_prediction_group(shapeproof_check_prediction(check), group)->name, name) == 0)
            parameters += tensor->parameters;
    }
    return parameters;
}

/* The groups of a breakdown store what a verification says that they store. */
static void groups_are_those_of_verify(void **state)
{
    static const char *const paths[] = {"fixtures/models/tiny-gpt2/pytorch_model.bin", "fixtures/models/tiny-llama",
                                        "fixtures/models/odd-gpt2"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_check *check = shapeproof_check_path(paths[i], NULL, &error);
        assert_non_null(check);
        struct shapeproof_tables *tables = shapeproof_tables_new(&error);
        struct shapeproof_verification *verification = shapeproof_verify(check, tables, NULL, &error);
        assert_non_null(verification);
        const struct shapeproof_breakdown_options by = {.by = {SHAPEPROOF_BY_GROUP}, .check = check};
        struct shapeproof_breakdown *breakdown =
            shapeproof_breakdown_new(shapeproof_check_inventory(check), &by, &error);
        for (size_t j = 0; j < shapeproof_breakdown_row_count(breakdown); j++) {
            const struct shapeproof_breakdown_row *row = shapeproof_breakdown_row(breakdown, j);
            uint64_t stored = UINT64_MAX;
            for (size_t k = 0; k < shapeproof_verification_group_count(verification); k++) {
                const struct shapeproof_stored_group *group = shapeproof_verification_group(verification, k);
                if (group->name && strcmp(group->name, row->value) == 0) stored = group->stored;
            }
            assert_int_equal(row->a.parameters, stored);
            assert_int_equal(parameters_in_group(check, row->value), stored);
        }
        shapeproof_breakdown_free(breakdown);
        shapeproof_verification_free(verification);
        shapeproof_tables_free(tables);
        shapeproof_check_free(check);
    }
}

/* ---- two checkpoints ---- */

static void both_sides_of_a_diff_add_up(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *a = shapeproof_inventory_open("fixtures/models/tiny-gpt2/pytorch_model.bin", &error);
    struct shapeproof_inventory *b = shapeproof_inventory_open("fixtures/models/odd-gpt2", &error);
    struct shapeproof_diff *diff = shapeproof_diff_new(a, b, NULL, &error);
    const struct shapeproof_breakdown_options by = {.by = {SHAPEPROOF_BY_MODULE, SHAPEPROOF_BY_DTYPE}, .most = 1};
    struct shapeproof_breakdown *breakdown = shapeproof_breakdown_of_diff(diff, &by, &error);
    (void)state;
    assert_non_null(breakdown);
    assert_adds_up(breakdown, false);
    assert_adds_up(breakdown, true);
    assert_string_equal(shapeproof_breakdown_row(breakdown, 0)->value, "lm_head");
    bool has_unchanged = false;
    for (size_t i = 0; i < shapeproof_breakdown_row_count(breakdown); i++)
        has_unchanged = has_unchanged || shapeproof_breakdown_row(breakdown, i)->unchanged;
    assert_true(has_unchanged);
    shapeproof_breakdown_free(breakdown);
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(a);
    shapeproof_inventory_close(b);
}

/* A tensor of B that is renamed counts in the row of its name in A. */
static void renamed_tensors_are_compared(void **state)
{
    const uint64_t shape[] = {4, 8};
    const struct shapeproof_tensor_description in_a[] = {
        {.name = "h.0.up.weight", .shape = shape, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "h.1.up.weight", .shape = shape, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32}};
    const struct shapeproof_tensor_description in_b[] = {
        {.name = "model.h.0.up.weight", .shape = shape, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "model.h.1.up.weight", .shape = shape, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F16}};
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *a = shapeproof_inventory_describe("a", in_a, 2, &error);
    struct shapeproof_inventory *b = shapeproof_inventory_describe("b", in_b, 2, &error);
    struct shapeproof_diff *diff = shapeproof_diff_new(a, b, NULL, &error);
    const struct shapeproof_breakdown_options by = {.by = {SHAPEPROOF_BY_LAYER}};
    struct shapeproof_breakdown *breakdown = shapeproof_breakdown_of_diff(diff, &by, &error);
    (void)state;
    assert_int_equal(shapeproof_breakdown_row_count(breakdown), 2);
    const struct shapeproof_breakdown_row *changed = shapeproof_breakdown_row(breakdown, 0),
                                          *rest = shapeproof_breakdown_row(breakdown, 1);
    assert_string_equal(changed->value, "h.1");
    assert_int_equal(changed->a.bytes, 128);
    assert_int_equal(changed->b.bytes, 64);
    assert_true(rest->unchanged);
    assert_int_equal(rest->others, 1);
    shapeproof_breakdown_free(breakdown);
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(a);
    shapeproof_inventory_close(b);
}

/* The parameters of the row of that group on one side; 0 when there is no such row. */
static uint64_t parameters_of_row(const struct shapeproof_breakdown *breakdown, const char *group, bool is_b)
{
    for (size_t i = 0; i < shapeproof_breakdown_row_count(breakdown); i++) {
        const struct shapeproof_breakdown_row *row = shapeproof_breakdown_row(breakdown, i);
        if (row->value && strcmp(row->value, group) == 0) return is_b ? row->b.parameters : row->a.parameters;
    }
    return 0;
}

/* Of two checkpoints, each side of a group is what its own check says: the output projection that is tied in A and a
 * matrix of its own in B is new. */
static void groups_of_a_diff_are_those_of_each_check(void **state)
{
    static const char *const groups[] = {"embedding", "attention", "feed-forward", "final norm", "head"};
    struct shapeproof_error error = {0};
    struct shapeproof_check *a = shapeproof_check_path("fixtures/models/tiny-gpt2/pytorch_model.bin", NULL, &error),
                            *b = shapeproof_check_path("fixtures/models/odd-gpt2", NULL, &error);
    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    struct shapeproof_diff *diff =
        shapeproof_diff_new(shapeproof_check_inventory(a), shapeproof_check_inventory(b), NULL, &error);
    struct shapeproof_breakdown_options by = {.by = {SHAPEPROOF_BY_GROUP}, .check = a};
    assert_null(shapeproof_breakdown_of_diff(diff, &by, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    assert_string_equal(error.message, "groups need a check or a prediction of each checkpoint");
    by.check_b = b;
    struct shapeproof_breakdown *breakdown = shapeproof_breakdown_of_diff(diff, &by, &error);
    assert_non_null(breakdown);
    assert_adds_up(breakdown, false);
    assert_adds_up(breakdown, true);
    assert_string_equal(shapeproof_breakdown_row(breakdown, 0)->value, "head");
    assert_int_equal(shapeproof_breakdown_row(breakdown, 0)->a.parameters, 0);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const uint64_t changed_a = parameters_of_row(breakdown, groups[i], false),
                       changed_b = parameters_of_row(breakdown, groups[i], true);
        if (changed_a == changed_b) continue; /* without a row of its own */
        assert_int_equal(changed_a, parameters_in_group(a, groups[i]));
        assert_int_equal(changed_b, parameters_in_group(b, groups[i]));
    }
    shapeproof_breakdown_free(breakdown);
    shapeproof_diff_free(diff);
    shapeproof_check_free(a);
    shapeproof_check_free(b);
}

/* Of tensors under their predicted names, a prediction has the same groups as a check. */
static void groups_are_those_of_a_prediction(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_check *check = shapeproof_check_path("fixtures/models/tiny-llama", NULL, &error);
    (void)state;
    assert_non_null(check);
    const struct shapeproof_inventory *inventory = shapeproof_check_inventory(check);
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(check);
    const struct shapeproof_breakdown_options by_check = {.by = {SHAPEPROOF_BY_GROUP}, .check = check},
                                              by_name = {.by = {SHAPEPROOF_BY_GROUP}, .prediction = prediction};
    struct shapeproof_breakdown *a = shapeproof_breakdown_new(inventory, &by_check, &error),
                                *b = shapeproof_breakdown_new(inventory, &by_name, &error);
    assert_int_equal(shapeproof_breakdown_row_count(a), shapeproof_breakdown_row_count(b));
    for (size_t i = 0; i < shapeproof_breakdown_row_count(a); i++) {
        const struct shapeproof_breakdown_row *row = shapeproof_breakdown_row(a, i);
        assert_int_equal(parameters_of_row(b, row->value, false), row->a.parameters);
    }
    shapeproof_breakdown_free(b);
    shapeproof_breakdown_free(a);
    shapeproof_check_free(check);
}

/* A tied head counts in the group of its matrix; a tensor that is not predicted has no group. */
static void predicted_ties_have_one_group(void **state)
{
    static const uint64_t matrix[] = {64, 16};
    const struct shapeproof_tensor_description tensors[] = {
        {.name = "transformer.wte.weight", .shape = matrix, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32, .storage = "wte"},
        {.name = "lm_head.weight", .shape = matrix, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32, .storage = "wte"},
        {.name = "other", .shape = matrix, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32}};
    struct shapeproof_error error = {0};
    struct shapeproof_check *check = shapeproof_check_path("fixtures/models/odd-gpt2", NULL, &error);
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("few", tensors, 3, &error);
    (void)state;
    assert_non_null(check);
    const struct shapeproof_breakdown_options by = {.by = {SHAPEPROOF_BY_GROUP},
                                                    .prediction = shapeproof_check_prediction(check)};
    struct shapeproof_breakdown *breakdown = shapeproof_breakdown_new(inventory, &by, &error);
    assert_int_equal(shapeproof_breakdown_row_count(breakdown), 2);
    assert_string_equal(shapeproof_breakdown_row(breakdown, 0)->value, "embedding");
    assert_int_equal(shapeproof_breakdown_row(breakdown, 0)->a.tensors, 2);
    assert_null(shapeproof_breakdown_row(breakdown, 1)->value);
    shapeproof_breakdown_free(breakdown);
    shapeproof_inventory_close(inventory);
    shapeproof_check_free(check);
}

static void wrong_keys_are_refused(void **state)
{
    static const struct {
        enum shapeproof_by by[2];
        const char *message;
    } cases[] = {{{SHAPEPROOF_BY_DTYPE, SHAPEPROOF_BY_DTYPE}, "'dtype' is given twice"},
                 {{SHAPEPROOF_BY_GROUP, SHAPEPROOF_BY_NONE}, "groups need a check or a prediction"}};
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("none", NULL, 0, &error);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct shapeproof_breakdown_options by = {.by = {cases[i].by[0], cases[i].by[1]}};
        assert_null(shapeproof_breakdown_new(inventory, &by, &error));
        assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
        assert_string_equal(error.message, cases[i].message);
    }
    assert_breakdown_is_right(inventory, NULL);
    shapeproof_inventory_close(inventory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_keys),
        cmocka_unit_test(modules_are_cut_at_a_depth),
        cmocka_unit_test(rows_add_up_in_every_file),
        cmocka_unit_test(groups_are_those_of_verify),
        cmocka_unit_test(both_sides_of_a_diff_add_up),
        cmocka_unit_test(renamed_tensors_are_compared),
        cmocka_unit_test(groups_of_a_diff_are_those_of_each_check),
        cmocka_unit_test(groups_are_those_of_a_prediction),
        cmocka_unit_test(predicted_ties_have_one_group),
        cmocka_unit_test(wrong_keys_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
