/* SPDX-License-Identifier: MIT
 * Runs: the names of files and steps, and what a folder with them is. */
#define _GNU_SOURCE /* setrlimit */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/step_name.h"
#include "shapeproof/run.h"

static void test_patterns(void **state)
{
    (void)state;
    assert_true(sp_file_pattern_matches("a*c", "abbc"));
    assert_true(sp_file_pattern_matches("a*c", "ac"));
    assert_false(sp_file_pattern_matches("a*c", "acb"));
    assert_false(sp_file_pattern_matches("a*c", "a/c"));
    assert_true(sp_file_pattern_matches("a-#", "a-120"));
    assert_false(sp_file_pattern_matches("a-#", "a-"));
    assert_false(sp_file_pattern_matches("a-#", "a-12b"));
    assert_true(sp_file_pattern_matches("*#*", "ab3"));
    assert_true(sp_file_pattern_matches("a##-#", "a120-1"));
    assert_false(sp_file_pattern_matches("a##-#", "a1-1"));
}

static void test_step_names(void **state)
{
    static const struct {
        const char *name;
        bool is_file;
        const char *framework; /* NULL: it is no step */
        uint64_t number;
    } names[] = {
        {"checkpoint-500", false, "transformers", 500},
        {"checkpoint_7", false, "accelerate", 7},
        {"global_step5", false, "DeepSpeed", 5},
        {"global_step_10", false, "verl", 10},
        {"iter_0000010", false, "Megatron", 10},
        {"step-3", false, "torchtitan", 3},
        {"epoch=3-step=12.ckpt", true, "Lightning", 12},
        {"last.ckpt", true, "Lightning", SP_NO_STEP},
        {"checkpoint-4.pth.tar", true, "timm", 4},
        {"model_0000999.pth", true, "detectron2", 999},
        {"model_1000999.pth", true, "detectron2", 1000999},
        {"model_05.pth", true, NULL, 0},
        {"03-0.52.keras", true, "Keras", 3},
        {"resnet50_epoch_8.pt", true, "", 8},
        {"checkpoint", false, NULL, 0},
        {"model.safetensors", true, NULL, 0},
        {"checkpoint-500", true, "", 500},
        {"checkpoint_rank1.pt", true, NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sp_step_name step;
        const bool is = sp_step_name_read(names[i].name, names[i].is_file, &step);
        if (is != (names[i].framework != NULL)) fail_msg("%s: %d", names[i].name, is);
        if (!is) continue;
        assert_string_equal(step.framework, names[i].framework);
        assert_int_equal(step.number, names[i].number);
    }
}

static void test_rank_folders(void **state)
{
    static const struct {
        const char *name;
        bool is;
        uint32_t rank;
    } names[] = {
        {"rank_0", true, 0},        {"rank-3", true, 3},   {"rank12", true, 12},          {"rank", false, 0},
        {"rank_", false, 0},        {"rank_1b", false, 0}, {"rank_9999999999", false, 0}, {"mp_rank_0", false, 0},
        {"rank__1", false, 0},      {"rank_-1", false, 0}, {"rank_999999", true, 999999}, {"rank_1000000", false, 0},
        {"rank_20251129", false, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t rank = 0;
        if (sp_rank_folder_read(names[i].name, &rank) != names[i].is) fail_msg("%s", names[i].name);
        if (names[i].is) assert_int_equal(rank, names[i].rank);
    }
}

/* One name of each kind for each framework; what no row knows is a model if a reader knows its ending. */
static void test_kinds(void **state)
{
    static const struct {
        const char *name, *kind;
    } names[] = {
        {"checkpoint-4/model.safetensors", "model"},
        {"pytorch_model-00001-of-00002.bin", "model"},
        {"model.safetensors.index.json", "model"},
        {"mp_rank_00/model_optim_rng.pt", "model"},
        {"step-1/.metadata", "model"},
        {"state.pt", "model"},
        {"adapter_model.safetensors", "adapter"},
        {"model_ema.pt", "average"},
        {"optimizer.pt", "optimizer"},
        {"optimizer_0/__0_0.distcp", "optimizer"},
        {"zero_pp_rank_0_mp_rank_00_optim_states.pt", "optimizer"},
        {"actor/optim_world_size_2_rank_1.pt", "optimizer"},
        {"scheduler.bin", "scheduler"},
        {"scaler.pt", "loss scaler"},
        {"rng_state_3.pth", "random state"},
        {"random_states_0.pkl", "random state"},
        {"trainer_state.json", "trainer state"},
        {"extra_state_world_size_2_rank_0.pt", "trainer state"},
        {"latest", "trainer state"},
        {"tokenizer.json", "tokenizer"},
        {"config.json", "configuration"},
        {"training_args.bin", "configuration"},
        {"events.out.tfevents.1700000000.host.1.0", "log"},
        {"README.md", "other"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *framework = NULL;
        const char *kind = shapeproof_run_kind_name(shapeproof_run_kind_of(names[i].name, &framework));
        if (strcmp(kind, names[i].kind) != 0) fail_msg("%s: %s", names[i].name, kind);
        assert_non_null(framework);
    }
}

static void test_folders_that_are_no_run(void **state)
{
    static const char *const paths[] = {"fixtures/runs/transformers/checkpoint-2", "fixtures/models/tiny-gpt2-sharded",
                                        "fixtures/models/tiny-gpt2/model.safetensors", "no-such-folder"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct shapeproof_error error;
        struct shapeproof_run *run = shapeproof_run_open(paths[i], &error);
        assert_non_null(run);
        assert_int_equal(shapeproof_run_step_count(run), 0);
        shapeproof_run_close(run);
    }
}

static void test_a_step_has_files_and_a_model(void **state)
{
    struct shapeproof_error error;
    struct shapeproof_run *run = shapeproof_run_open("fixtures/runs/transformers/checkpoint-2", &error);
    (void)state;
    assert_int_equal(shapeproof_run_model_count(run), 1);
    assert_string_equal(shapeproof_run_model(run, 0)->name, ".");
    assert_true(shapeproof_run_examine(run, &error));
    for (size_t i = 0; i < shapeproof_run_file_count(run); i++) {
        const struct shapeproof_run_file *file = shapeproof_run_file(run, i);
        if (file->kind != SHAPEPROOF_RUN_MODEL) assert_int_equal(file->state, SHAPEPROOF_RUN_WHOLE);
    }
    shapeproof_run_close(run);
}

/* If no file can be opened, the files are not broken: the call fails, and names the reason. */
static void test_too_many_open_files(void **state)
{
    struct shapeproof_error error;
    struct shapeproof_run *run = shapeproof_run_open("fixtures/runs/transformers/checkpoint-2", &error);
    struct rlimit before;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}), 0);
    const bool examined = shapeproof_run_examine(run, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(examined);
    assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    assert_int_equal(error.kind, SHAPEPROOF_KIND_IO);
    assert_non_null(strstr(error.message, strerror(EMFILE)));
    shapeproof_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_step_names),
        cmocka_unit_test(test_rank_folders),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_folders_that_are_no_run),
        cmocka_unit_test(test_a_step_has_files_and_a_model),
        cmocka_unit_test(test_too_many_open_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
