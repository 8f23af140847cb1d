/* SPDX-License-Identifier: MIT
 * Distributed checkpoints: folders of one rank and of two, chunks that leave gaps, files that are not there, damage. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/listing_tests.h"

#define FIXTURES "fixtures/dcp"

static const char *const good[][2] = {
    {"ok/absent", "dcp\n"
                  "a F32 (4)\n"
                  "b F32 (4) dataless\n"
                  "c F32 (4)\n"
                  "dcp.files = 2\n"
                  "dcp.chunks = 3\n"
                  "! files of its data are not there (1): '__1_0.distcp'\n"},
    {"ok/app", "dcp\n"
               "app.model.weight F32 (2,2)\n"
               "app.optim.state.weight.exp_avg F32 (2,2) state\n"
               "dcp.files = 1\n"
               "dcp.chunks = 2\n"},
    {"ok/apart", "dcp\n"
                 "rows F32 (4,2)\n"
                 "columns F32 (2,6)\n"
                 "both F32 (3)\n"
                 "dcp.files = 2\n"
                 "dcp.chunks = 6\n"},
    {"ok/before_2", "dcp\n"
                    "a F32 (2,3)\n"
                    "dcp.files = 1\n"
                    "dcp.chunks = 1\n"
                    "dcp.objects = 'b'\n"},
    {"ok/calls", "dcp\n"
                 "a F32 (2)\n"
                 "dcp.files = 1\n"
                 "dcp.chunks = 1\n"
                 "! unpickling it would call posix.system: nothing was executed\n"},
    {"ok/cut", "dcp\n"
               "a F32 (4)\n"
               "b F32 (4)\n"
               "c F32 (4) dataless\n"
               "dcp.files = 1\n"
               "dcp.chunks = 3\n"
               "! files of its data are shorter than it says (1): '__0_0.distcp'\n"},
    {"ok/gaps", "dcp\ngap F32 (4,4) dataless\nnone F32 (2) dataless\ngood F32 (2,2)\noverlap F32 (4,4)\ntwice F32 "
                "() dataless\ncorner F32 (4,4) dataless\ndcp.files = 1\ndcp.chunks = 9\n! tensor 'gap': its chunks "
                "cover 8 of 16 elements\n! tensor 'none': its chunks cover 0 of 2 elements\n! tensor 'overlap': its "
                "chunks at (0, 0) and (2, 0) overlap\n! tensor 'twice': its chunks at () and () overlap\n! tensor "
                "'corner': its chunks at (0, 0) and (1, 3) overlap\n! tensor 'corner': its chunks cover at most 15 "
                "of 16 elements\n! tensors with a chunk for which the metadata name no file (1): 'twice'\n"},
    {"ok/grid", "dcp\n"
                "a F32 (4,4)\n"
                "dcp.files = 1\n"
                "dcp.chunks = 4\n"},
    {"ok/half_broken", "dcp\n"
                       "good F32 (2)\n"
                       "dcp.files = 1\n"
                       "dcp.chunks = 3\n"
                       "! tensor 'outside' is not read: chunk 0 is [2, 5) of dimension 0, which has 4\n"
                       "! tensor 'flat' is not read: chunk 0 has 1 offsets and 1 sizes, the tensor 2 dimensions\n"
                       "! tensor 'huge' is not read: its size overflows 64 bits\n"
                       "! tensor 'no_type' is not read: its properties name no dtype\n"},
    {"ok/megatron", "dcp\n"
                    "decoder.layers.self_attention.linear_qkv.weight F32 (2,24,8)\n"
                    "decoder.layers.self_attention.linear_qkv.bias F32 (2,24)\n"
                    "embedding.word_embeddings.weight F32 (16,8)\n"
                    "optimizer.state.exp_avg.embedding.word_embeddings.weight F32 (16,8) state\n"
                    "sharded_backend = torch_dist\n"
                    "dcp.files = 1\n"
                    "dcp.chunks = 8\n"
                    "dcp.extra_states = 2\n"
                    "dcp.objects = 'rng_state/shard_0_1'\n"},
    {"ok/no_place", "dcp\na F32 (4)\nb F32 (4) dataless\nc F32 (4) dataless\ndcp.files = 1\ndcp.chunks = 3\n! "
                    "tensors with a chunk for which the metadata name no file (1): 'b'\n! tensors with a chunk in "
                    "fewer bytes than it needs (1): 'c'\n"},
    {"ok/object_calls", "dcp\n"
                        "a F32 (2)\n"
                        "dcp.files = 1\n"
                        "dcp.chunks = 1\n"
                        "dcp.objects = 'step', 'lr'\n"
                        "! object 'step': unpickling it would call posix.system: nothing was executed\n"},
    {"ok/one_list", "dcp\n"
                    "a F32 (4)\n"
                    "b F32 (4)\n"
                    "more F32 (5) dataless\n"
                    "dcp.files = 1\n"
                    "dcp.chunks = 5\n"
                    "! tensor 'less' is not read: chunk 0 is [0, 4) of dimension 0, which has 3\n"
                    "! tensor 'flat' is not read: chunk 0 has 1 offsets and 1 sizes, the tensor 2 dimensions\n"
                    "! tensor 'more': its chunks cover 4 of 5 elements\n"},
    {"ok/one_text", "dcp\n"
                    "b F32 (2)\n"
                    "__0_0.distcp F32 (2)\n"
                    "dcp.files = 1\n"
                    "dcp.chunks = 2\n"},
    {"ok/plain", "dcp\n"
                 "model.weight F32 (4,3)\n"
                 "model.bias BF16 (3)\n"
                 "model.scale F32 ()\n"
                 "model.none F32 (0,4)\n"
                 "optimizer.state.weight.exp_avg F32 (4,3) state\n"
                 "f8 F8_E4M3 (2,2)\n"
                 "dcp.files = 1\n"
                 "dcp.chunks = 6\n"
                 "dcp.objects = 'optimizer.param_groups.0.lr', 'step'\n"},
    {"ok/shards", "dcp\n"
                  "columns F32 (2,6)\n"
                  "rows F32 (4,2)\n"
                  "uneven F32 (5)\n"
                  "both F32 (3)\n"
                  "dcp.files = 2\n"
                  "dcp.chunks = 7\n"},
    {"ok/shards_gap", "dcp\nboth F32 (3)\ncolumns F32 (2,6) dataless\nrows F32 (4,2) dataless\nuneven F32 (5) "
                      "dataless\ndcp.files = 1\ndcp.chunks = 4\n! shards of 1 of the ranks 1 to 2 are missing\n! "
                      "tensor 'columns': its chunks cover 6 of 12 elements\n! tensor 'rows': its chunks cover 4 of "
                      "8 elements\n! tensor 'uneven': its chunks cover 2 of 5 elements\n"},
    {"ok/two_ranks", "dcp\n"
                     "rows F32 (4,2)\n"
                     "columns F32 (2,6)\n"
                     "uneven F32 (5)\n"
                     "one F32 (1,2)\n"
                     "optim.state.rows.exp_avg F32 (4,2) state\n"
                     "both F32 (3)\n"
                     "dcp.files = 2\n"
                     "dcp.chunks = 11\n"},
};

static const char *const refused[][2] = {
    {"bad/cut_short", "refused: fixtures/dcp/bad/cut_short/.metadata: pickle: FRAME at byte 2: the pickle ends early: "
                      "717 bytes wanted, 189 left\n"},
    {"bad/negative", "refused: fixtures/dcp/bad/negative/.metadata: no tensor can be read (1 broken; the first: "
                     "item 0 of a size is not a non-negative integer)\n"},
    {"bad/no_list",
     "refused: fixtures/dcp/bad/no_list/.metadata: a pickle without a dictionary 'state_dict_metadata'\n"},
    {"bad/no_type", "refused: fixtures/dcp/bad/no_type/.metadata: no tensor can be read (1 broken; the first: its "
                    "properties name no dtype)\n"},
    {"bad/outside", "refused: fixtures/dcp/bad/outside/.metadata: no tensor can be read (1 broken; the first: "
                    "chunk 0 is [2, 5) of dimension 0, which has 4)\n"},
    {"bad/unfinished", "refused: this is a distributed checkpoint of PyTorch (*.distcp) without its '.metadata', which "
                       "has the names of the tensors\n"},
    {"bad/unsafe", "refused: fixtures/dcp/bad/unsafe/.metadata: unsafe file name '../a': not a plain file name\n"},
    {"bad/zarr", "refused: a distributed checkpoint of Megatron with the backend 'zarr', which is not read\n"},
};

/* The same model as one file and as a distributed checkpoint. */
static void a_model_is_the_same(void **state)
{
    struct shapeproof_error error;
    (void)state;
    struct shapeproof_inventory *one = shapeproof_inventory_open("fixtures/models/tiny-gpt2", &error);
    struct shapeproof_inventory *many = shapeproof_inventory_open(FIXTURES "/models/tiny-gpt2", &error);
    assert_non_null(one);
    assert_non_null(many);
    assert_int_equal(shapeproof_inventory_count(one), shapeproof_inventory_count(many));
    for (size_t i = 0; i < shapeproof_inventory_count(one); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(one, i);
        char name[256];
        snprintf(name, sizeof name, "model.%s", tensor->name);
        const size_t found = shapeproof_inventory_find(many, name);
        assert_true(found != SHAPEPROOF_NONE);
        const struct shapeproof_tensor *other = shapeproof_inventory_tensor(many, found);
        assert_int_equal(tensor->dtype, other->dtype);
        assert_int_equal(tensor->rank, other->rank);
        for (uint32_t d = 0; d < tensor->rank; d++) assert_int_equal(tensor->shape[d], other->shape[d]);
    }
    shapeproof_inventory_close(one);
    shapeproof_inventory_close(many);
}

static void damage_is_survived(void **state)
{
    static const char *const files[] = {
        FIXTURES "/ok/plain/.metadata",       FIXTURES "/ok/two_ranks/.metadata", FIXTURES "/ok/gaps/.metadata",
        FIXTURES "/ok/half_broken/.metadata", FIXTURES "/ok/before_2/.metadata",  FIXTURES "/ok/megatron/.metadata",
    };
    (void)state;
    ASSERT_SURVIVE_DAMAGE(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_there_is_is_listed),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(a_model_is_the_same),
        cmocka_unit_test(damage_is_survived),
    };
    listing_tests =
        &(struct listing_tests){FIXTURES, good, refused, NULL, LISTING_COUNT(good), LISTING_COUNT(refused), 0};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
