/* SPDX-License-Identifier: MIT
 * Checkpoints in a file for each rank: pieces joined by rules, layers of a pipeline renumbered, what ZeRO has divided.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LISTING_WITHOUT_PLACES /* the other tests of readers have them; here lines are shared by many files */
#include "read/listing_tests.h"
#include "read/ranks/ranks.h"

#define FIXTURES "fixtures/ranks"

/* The tensors of a layer: what is in front of their names, the dtype, and what is behind their shapes. */
/* clang-format off */
#define LAYER(at, type, behind) \
    at "input_layernorm.weight" type "(8)" behind \
    LAYER_INSIDE(at, type, behind) \
    at "mlp.dense_4h_to_h.bias" type "(8)" behind
#define LAYER_INSIDE(at, type, behind) \
    at "input_layernorm.bias" type "(8)" behind \
    at "self_attention.query_key_value.weight" type "(24,8)" behind \
    at "self_attention.query_key_value.bias" type "(24)" behind \
    at "self_attention.dense.weight" type "(8,8)" behind \
    at "self_attention.dense.bias" type "(8)" behind \
    at "post_attention_layernorm.weight" type "(8)" behind \
    at "post_attention_layernorm.bias" type "(8)" behind \
    at "mlp.dense_h_to_4h.weight" type "(32,8)" behind \
    at "mlp.dense_h_to_4h.bias" type "(32)" behind \
    at "mlp.dense_4h_to_h.weight" type "(8,32)" behind
/* What stage 3 of ZeRO leaves, with its optimizer or without. */
#define STAGE_3 \
    "module.wte.weight BF16 (32,8) dataless\n" \
    LAYER("module.h.0.", " BF16 ", " dataless\n") \
    "module.lm_head.weight BF16 (32,8) dataless tied\n" \
    "module.frozen.weight F32 (5,7) dataless\n" \
    "module.one F32 (1)\n" \
    "module.h.0.mask F32 (4,4)\n" \
    "mp_world_size = 1\n" \
    "dp_world_size = 2\n"
/* What rank 0 of 2 has. */
#define PIECES \
    "rows F32 (6,8) piece (3,8) 96 B, 0 of 2, Shard(0)\n" \
    "columns F32 (6,8) piece (6,4) 96 B, 0 of 2, Shard(1)\n" \
    "whole F32 (6,8)\n" \
    "uneven F32 (5) piece (3) 12 B, 0 of 2, Shard(0)\n" \
    "summand F32 (2,3) piece (2,3) 24 B 2, Partial(sum)\n" \
    "parameter F32 (6,8) piece (3,8) 96 B, 0 of 2, Shard(0) tied\n" \
    "tied F32 (6,8) piece (3,8) 96 B, 0 of 2, Shard(0) tied\n" \
    "plain F32 (3)\n"

static const char *const good[][2] = {
    {"ok/experts",
     "megatron\n"
     "model.embedding.word_embeddings.weight F32 (32,8)\n"
     "model.decoder.layers.0.mlp.router.weight F32 (4,8)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.0.linear_fc1.weight F32 (32,8)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.0.linear_fc2.weight F32 (8,32)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.1.linear_fc1.weight F32 (32,8)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.1.linear_fc2.weight F32 (8,32)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.2.linear_fc1.weight F32 (32,8)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.2.linear_fc2.weight F32 (8,32)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.3.linear_fc1.weight F32 (32,8)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.3.linear_fc2.weight F32 (8,32)\n"
     "tensor_model_parallel_size = 1\n"
     "pipeline_model_parallel_size = 1\n"},
    {"ok/whole_experts",
     "megatron\n"
     "model.embedding.word_embeddings.weight F32 (32,8)\n"
     "model.decoder.layers.0.self_attention.linear_proj.weight F32 (8,8)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.0.linear_fc1.weight F32 (32,8)\n"
     "model.decoder.layers.0.mlp.experts.local_experts.1.linear_fc1.weight F32 (32,8)\n"
     "tensor_model_parallel_size = 2\n"
     "pipeline_model_parallel_size = 1\n"
     "expert_model_parallel_size = 2\n"
     "expert_tensor_parallel_size = 1\n"},
    {"ok/fsdp",
     "fsdp\n"
     "hybrid F32 (6,8)\n"
     "both F32 (6,8)\n"
     "whole F32 (6,8)\n"
     "plain F32 (3)\n"},
    {"ok/pieces/alone.pt",
     "torch-zip\n"
     "rows F32 (6,8)\n"},
    {"ok/pieces/dtensor.pt",
     "torch-zip\n"
     PIECES},
    {"ok/pieces/older.pt",
     "torch-zip\n"
     "rows F32 (6,8) piece (3,8) 96 B, 1 of 2, Shard(0)\n"},
    {"ok/layers",
     "deepspeed\n"
     "0.word_embeddings.weight F32 (32,8)\n"
     LAYER("2.", " F32 ", "\n")
     LAYER("3.", " F32 ", "\n")},
    {"ok/mixed",
     "fsdp\n"
     "rows (model_world_size_3_rank_0.pt) F32 (6,2) piece (2,2) 16 B, 0 of 3, Shard(0)\n"
     "rows (model_world_size_3_rank_1.pt) F32 (6,2) piece (3,2) 24 B, 1 of 2, Shard(0)\n"
     "rows (model_world_size_3_rank_2.pt) F32 (6,2) piece (2,2) 16 B, 2 of 3, Shard(0)\n"
     "! pieces that do not fit together, listed one after the other (1): 'rows'\n"},
    {"ok/no_rule",
     "megatron\n"
     "model.language_model.encoder.layers.0.input_layernorm.weight (mp_rank_00/model_optim_rng.pt) F32 (8)\n"
     "model.language_model.encoder.layers.0.input_layernorm.weight (mp_rank_01/model_optim_rng.pt) F32 (9)\n"
     LAYER_INSIDE("model.language_model.encoder.layers.0.", " F32 ", "\n")
     "model.language_model.encoder.layers.0.mlp.dense_4h_to_h.bias F32 (8)\n"
     "model.language_model.encoder.layers.1.input_layernorm.weight F32 (8)\n"
     LAYER_INSIDE("model.language_model.encoder.layers.1.", " F32 ", "\n")
     "model.language_model.encoder.layers.1.mlp.dense_4h_to_h.bias (mp_rank_00/model_optim_rng.pt) F32 "
     "(8)\nmodel.language_model.encoder.final_layernorm.weight F32 "
     "(8)\nmodel.language_model.encoder.final_layernorm.bias F32 "
     "(8)\nmodel.language_model.encoder.layers.0.mixer.A_log (mp_rank_00/model_optim_rng.pt) F32 "
     "(4)\nmodel.language_model.encoder.layers.0.mixer.A_log (mp_rank_01/model_optim_rng.pt) F32 "
     "(4)\nmodel.language_model.embedding.word_embeddings.weight F32 "
     "(32,8)\nmodel.language_model.embedding.position_embeddings.weight F32 (16,8)\ntensor_model_parallel_size = "
     "2\npipeline_model_parallel_size = 1\n! tensors that the ranks divided by no known rule, and whose parts are "
     "listed one after the other (1): 'model.language_model.encoder.layers.0.mixer.A_log'\n! pieces that do not fit "
     "together, listed one after the other (2): 'model.language_model.encoder.layers.0.input_layernorm.weight', "
     "'model.language_model.encoder.layers.1.mlp.dense_4h_to_h.bias'\n"},
    {"ok/pieced.pt",
     "torch-zip\nmodule.a F32 (0)\nmodule.mask F32 (2)\n! empty tensors with a shape in 'param_shapes' (1), as "
     "stage 3 of ZeRO leaves them: nothing else shows that DeepSpeed wrote the file, so they are listed as empty\n"},
    {"ok/renamed.pt",
     "torch-zip\n"
     "module.a F32 (3,2) dataless\n"
     "module.mask F32 (2)\n"
     "dp_world_size = 2\n"},
    {"ok/stage_3",
     "deepspeed\n"
     STAGE_3
     "optimizer_files = 2\n"},
    {"ok/stage_3_no_optimizer",
     "deepspeed\n"
     STAGE_3
     "optimizer_files = 1\n"
     "! files of the optimizer, which have the data, are not there for all ranks: 1\n"},
    {"ok/tensor_2",
     "megatron\n"
     LAYER("model.language_model.encoder.layers.0.", " F32 ", "\n")
     LAYER("model.language_model.encoder.layers.1.", " F32 ", "\n")
     "model.language_model.encoder.final_layernorm.weight F32 (8)\n"
     "model.language_model.encoder.final_layernorm.bias F32 (8)\n"
     "model.language_model.embedding.word_embeddings.weight F32 (32,8)\n"
     "model.language_model.embedding.position_embeddings.weight F32 (16,8)\n"
     "trainer_tensors = 2\n"
     "tensor_model_parallel_size = 2\n"
     "pipeline_model_parallel_size = 1\n"},
    {"ok/virtual",
     "megatron\n"
     LAYER("model0.language_model.encoder.layers.0.", " (pipeline rank 0) F32 ", "\n")
     "model0.language_model.embedding.word_embeddings.weight (pipeline rank 0) F32 (32,8)\n"
     "model0.language_model.embedding.position_embeddings.weight (pipeline rank 0) F32 (16,8)\n"
     LAYER("model0.language_model.encoder.layers.0.", " (pipeline rank 1) F32 ", "\n")
     "model0.language_model.encoder.final_layernorm.weight (pipeline rank 1) F32 "
     "(8)\nmodel0.language_model.encoder.final_layernorm.bias (pipeline rank 1) F32 "
     "(8)\nmodel0.word_embeddings_for_head.weight (pipeline rank 1) F32 (32,8)\ntensor_model_parallel_size = "
     "1\npipeline_model_parallel_size = 2\n! tensors of layers whose numbers in the whole model are not known, "
     "listed for each rank (29): 'model0.language_model.encoder.layers.0.input_layernorm.weight', "
     "'model0.language_model.encoder.layers.0.input_layernorm.bias', "
     "'model0.language_model.encoder.layers.0.self_attention.query_key_value.weight' and 26 more\n"},
};
/* clang-format on */

static const char *const refused[][2] = {
    {"bad/no_deepspeed_rank",
     "refused: the file of tensor-parallel rank 1 (of 2 ranks) is missing: without it, the checkpoint is "
     "incomplete\n"},
    {"bad/no_fsdp_rank", "refused: the file of FSDP rank 0 (of 2 ranks) is missing: without it, the checkpoint is "
                         "incomplete\n"},
    {"bad/no_last_rank",
     "refused: the file of tensor-parallel rank 1 (of 2 ranks) is missing: without it, the checkpoint is "
     "incomplete\n"},
    {"bad/no_rank", "refused: the file of tensor-parallel rank 0 (of 2 ranks) is missing: without it, the "
                    "checkpoint is incomplete\n"},
    {"bad/no_stage", "refused: the file of pipeline rank 1 (of 2 ranks) is missing: without it, the checkpoint is "
                     "incomplete\n"},
};

static void assert_same_tensors(const char *left, const char *right, size_t count)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *one = shapeproof_inventory_open(left, &error),
                                *other = shapeproof_inventory_open(right, &error);
    assert_non_null(one);
    assert_non_null(other);
    assert_int_equal(shapeproof_inventory_count(one), count);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(one, i);
        const size_t found = shapeproof_inventory_find(other, tensor->name);
        if (found == SHAPEPROOF_NONE) fail_msg("%s: no %s", right, tensor->name);
        const struct shapeproof_tensor *same = shapeproof_inventory_tensor(other, found);
        assert_int_equal(tensor->rank, same->rank);
        for (uint32_t d = 0; d < tensor->rank; d++) assert_int_equal(tensor->shape[d], same->shape[d]);
    }
    shapeproof_inventory_close(one);
    shapeproof_inventory_close(other);
}

/* However a model is divided, it is the same. */
static void divisions_are_the_same(void **state)
{
    (void)state;
    assert_same_tensors(FIXTURES "/ok/tensor_2", FIXTURES "/ok/pipeline_2", 28);
    assert_same_tensors(FIXTURES "/ok/pipeline_2", FIXTURES "/ok/global_numbers", 29);
    assert_same_tensors(FIXTURES "/ok/stage_2", FIXTURES "/ok/deepspeed_tensor_2", 13);
}

/* The file of one rank by itself. */
static void one_rank_is_read_alone(void **state)
{
    struct shapeproof_error error;
    (void)state;
    struct shapeproof_inventory *own =
        shapeproof_inventory_open(FIXTURES "/ok/stage_3/zero_pp_rank_1_mp_rank_00_model_states.pt", &error);
    assert_non_null(own);
    assert_string_equal(shapeproof_inventory_format(own), "torch-zip");
    const struct shapeproof_tensor *tensor =
        shapeproof_inventory_tensor(own, shapeproof_inventory_find(own, "module.wte.weight"));
    assert_int_equal(tensor->rank, 2);
    assert_int_equal(tensor->shape[0], 32);
    assert_true(tensor->flags & SHAPEPROOF_TENSOR_NO_DATA);
    shapeproof_inventory_close(own);
}

/* What the file has of a tensor that was divided, where the older stream says where its storages are. */
static void piece_is_placed(void **state)
{
    struct shapeproof_error error;
    (void)state;
    struct shapeproof_inventory *own = shapeproof_inventory_open(FIXTURES "/ok/pieces/legacy.pt", &error);
    assert_non_null(own);
    const struct shapeproof_tensor *tensor =
        shapeproof_inventory_tensor(own, shapeproof_inventory_find(own, "columns"));
    assert_int_equal(tensor->bytes, 192);
    assert_int_equal(tensor->data_end - tensor->data_begin, 96);
    assert_int_equal(tensor->piece->bytes, 96);
    assert_int_equal(tensor->piece->shape[1], 4);
    assert_int_equal(shapeproof_inventory_file_bytes(own)->absent, 3 * 96 - 96 + 8); /* rows, columns, uneven */
    shapeproof_inventory_close(own);
    assert_non_null(own = shapeproof_inventory_open(FIXTURES "/ok/pieces/sharded.pt", &error));
    tensor = shapeproof_inventory_tensor(own, shapeproof_inventory_find(own, "sharded"));
    assert_int_equal(tensor->piece->shape[0], 3);
    assert_int_equal(tensor->piece->pieces, 2);
    assert_null(shapeproof_inventory_tensor(own, shapeproof_inventory_find(own, "plain"))->piece);
    shapeproof_inventory_close(own);
}

static void world_is_chosen(void **state)
{
    static const struct {
        struct sp_rank_of ranks[6];
        size_t count;
        uint32_t world;
    } cases[] = {
        {.count = 0, .world = 0},
        {{{2, 0}, {2, 1}}, 2, 2},
        {{{4, 3}, {2, 1}, {4, 0}, {2, 0}}, 4, 2},                 /* of 4 ranks two are missing */
        {{{4, 3}, {2, 1}}, 2, 4},                                 /* neither is whole */
        {{{2, 0}, {2, 0}, {1, 0}}, 3, 1},                         /* rank 0 twice is one rank */
        {{{3, 1}, {2, 0}, {3, 0}, {2, 1}, {3, 2}, {9, 8}}, 6, 3}, /* two are whole */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_rank_of ranks[6];
        memcpy(ranks, cases[i].ranks, sizeof ranks);
        assert_int_equal(sp_choose_world(ranks, cases[i].count), cases[i].world);
    }
}

static void damage_is_survived(void **state)
{
    static const char *const files[] = {
        FIXTURES "/ok/stage_3/zero_pp_rank_0_mp_rank_00_model_states.pt",
        FIXTURES "/ok/tensor_2/mp_rank_00/model_optim_rng.pt",
        FIXTURES "/ok/pieces/dtensor.pt",
        FIXTURES "/ok/pieces/legacy.pt",
        FIXTURES "/ok/pieces/sharded.pt",
    };
    (void)state;
    ASSERT_SURVIVE_DAMAGE(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_there_is_is_listed), cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(divisions_are_the_same),  cmocka_unit_test(one_rank_is_read_alone),
        cmocka_unit_test(piece_is_placed),         cmocka_unit_test(world_is_chosen),
        cmocka_unit_test(damage_is_survived),
    };
    listing_tests =
        &(struct listing_tests){FIXTURES, good, refused, NULL, LISTING_COUNT(good), LISTING_COUNT(refused), 0};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
