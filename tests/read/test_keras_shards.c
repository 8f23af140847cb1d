/* SPDX-License-Identifier: MIT
 * Weights of Keras 3 in shards, in a folder and in an archive, and of layers that have none. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/listing.h"

static const char *const good[][2] = {
    {"ok/sharded", "keras-weights\n"
                   "layers/dense/vars/0 F32 (3,2) @10136+24\n"
                   "layers/dense/vars/1 F32 (2) @10160+8\n"
                   "layers/dense_1/vars/0 F32 (2,2) @10168+16\n"
                   "layers/dense_1/vars/1 F32 (2) @10136+8\n"
                   "layers/dense_2/vars/0 F32 (2,1) @10144+8\n"
                   "layers/dense_2/vars/1 F32 (1) @10152+4\n"
                   "index.total_size = 68.0\n"},
    {"ok/sharded/model.weights.json", "keras-weights\n"
                                      "layers/dense/vars/0 F32 (3,2) @10136+24\n"
                                      "layers/dense/vars/1 F32 (2) @10160+8\n"
                                      "layers/dense_1/vars/0 F32 (2,2) @10168+16\n"
                                      "layers/dense_1/vars/1 F32 (2) @10136+8\n"
                                      "layers/dense_2/vars/0 F32 (2,1) @10144+8\n"
                                      "layers/dense_2/vars/1 F32 (1) @10152+4\n"
                                      "index.total_size = 68.0\n"},
    {"ok/sharded_gap",
     "keras-weights\nlayers/dense/vars/0 F32 (3,2) @10136+24\nlayers/dense/vars/1 F32 (2) "
     "@10160+8\nindex.total_size = 68.0\n! shard 'model_00001.weights.h5' cannot be read (open: No such file or "
     "directory): the index places 2 groups in it\n! groups that are missing in a shard, although the index lists a "
     "part of them there (1): 'layers/dense_1/vars'\n"},
    {"ok/sharded.keras", "keras-zip\n"
                         "layers/dense/vars/0 F32 (3,2) @10574+24\n"
                         "layers/dense/vars/1 F32 (2) @10598+8\n"
                         "layers/dense_1/vars/0 F32 (2,2) @10606+16\n"
                         "layers/dense_1/vars/1 F32 (2) @24282+8\n"
                         "layers/dense_2/vars/0 F32 (2,1) @24290+8\n"
                         "layers/dense_2/vars/1 F32 (1) @24298+4\n"
                         "keras_version = 3.15.1\n"
                         "model_config = {}\n"},
    {"ok/lookup.weights.h5", "keras-weights\n"},
};

static void what_there_is_is_listed(void **state)
{
    (void)state;
    ASSERT_LISTINGS("fixtures/keras", good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_there_is_is_listed)};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
