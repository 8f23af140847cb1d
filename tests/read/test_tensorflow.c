/* SPDX-License-Identifier: MIT
 * Indexes of TensorFlow checkpoints: names, types, parts, broken entries, blocks that lie, random damage. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/listing_tests.h"

#define FIXTURES "fixtures/tensorflow"

static const char *const good[][2] = {
    {"ok/blocks.index", "tf-checkpoint\n"
                        "a F32 (2)\n"
                        "b F32 (3)\n"},
    {"ok/checksum.index", "tf-checkpoint\n"
                          "_CHECKPOHNTABLE_OBJECT_GRAPH string ()\n"
                          "layer/bias/.ATTRIBUTES/VARIABLE_VALUE F32 (3)\n"
                          "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE F32 (4,3)\n"
                          "layer/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE F32 (4,3) state\n"
                          "optimizer/iter/.ATTRIBUTES/VARIABLE_VALUE I64 () state\n"
                          "! TensorFlow refuses it: blocks with a wrong checksum: 1\n"},
    {"ok/empty.index", "tf-checkpoint\n"},
    {"ok/half_broken.index",
     "tf-checkpoint\n"
     "a F32 (2,2)\n"
     "e F32 (3)\n"
     "! tensor 'b' is not read: 7 bytes of data, shape and type need 16\n"
     "! tensor 'c' is not read: the product of its dimensions overflows 64 bits\n"
     "! tensor 'd' is not read: ends within its entry: 1 more bytes are needed at byte 101, there are 0\n"},
    {"ok/names.index", "tf-checkpoint\n"
                       "bert/embeddings/word_embeddings F32 (16,8)\n"
                       "half BF16 (3)\n"
                       "part F32 (10,4)\n"},
    {"ok/object.index", "tf-checkpoint\n"
                        "_CHECKPOINTABLE_OBJECT_GRAPH string ()\n"
                        "layer/bias/.ATTRIBUTES/VARIABLE_VALUE F32 (3)\n"
                        "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE F32 (4,3)\n"
                        "layer/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE F32 (4,3) state\n"
                        "optimizer/iter/.ATTRIBUTES/VARIABLE_VALUE I64 () state\n"},
    {"ok/types.index", "tf-checkpoint\n"
                       "type01 F32 (2,2)\n"
                       "type02 F64 (2,2)\n"
                       "type03 I32 (2,2)\n"
                       "type04 U8 (2,2)\n"
                       "type05 I16 (2,2)\n"
                       "type06 I8 (2,2)\n"
                       "type07 string (2,2)\n"
                       "type08 C64 (2,2)\n"
                       "type09 I64 (2,2)\n"
                       "type10 BOOL (2,2)\n"
                       "type11 QI8 (2,2)\n"
                       "type12 QU8 (2,2)\n"
                       "type13 QI32 (2,2)\n"
                       "type14 BF16 (2,2)\n"
                       "type15 qint16 (2,2)\n"
                       "type16 quint16 (2,2)\n"
                       "type17 U16 (2,2)\n"
                       "type18 C128 (2,2)\n"
                       "type19 F16 (2,2)\n"
                       "type20 resource (2,2)\n"
                       "type21 variant (2,2)\n"
                       "type22 U32 (2,2)\n"
                       "type23 U64 (2,2)\n"
                       "type24 F8_E5M2 (2,2)\n"
                       "type25 F8_E4M3 (2,2)\n"
                       "type26 F8_E4M3FNUZ (2,2)\n"
                       "type27 float8_e4m3b11fnuz (2,2)\n"
                       "type28 F8_E5M2FNUZ (2,2)\n"
                       "type29 I4 (2,2)\n"
                       "type30 U4 (2,2)\n"},
    {"ok/wire.index", "tf-checkpoint\n"
                      "size F32 (2) big-endian\n"
                      "slices F32 (2) big-endian\n"
                      "type F32 (2) big-endian\n"
                      "uint8 U8 (8)\n"},
};

static const char *const refused[][2] = {
    {"bad/compressed.index", "refused: a compressed block (kind 1)\n"},
    {"bad/cut_in_front.index", "refused: a block of 55 bytes at 345 passes the end of the table\n"},
    {"bad/key_before.index", "refused: the key 'b' is out of order\n"},
    {"bad/key_of_block.index", "refused: the key 'b' is out of order\n"},
    {"bad/long_names.index",
     "refused: names of more than 64 bytes for each byte of the file, and 1 MiB besides, in all\n"},
    {"bad/no_header.index", "refused: there is no entry about the whole checkpoint\n"},
    {"bad/one_block_twice.index", "refused: blocks that do not follow one another\n"},
    {"bad/order.index", "refused: the key 'a' is out of order\n"},
    {"bad/order_of_blocks.index", "refused: the key 'a' is out of order\n"},
    {"bad/restart_behind.index",
     "refused: a restart point at byte 1048576 of the block at byte 0 is no entry with a whole key\n"},
    {"bad/restart_inside.index",
     "refused: a restart point at byte 10 of the block at byte 0 is no entry with a whole key\n"},
    {"bad/restart_late.index",
     "refused: a restart point at byte 9 of the block at byte 0 is no entry with a whole key\n"},
    {"bad/restart_none.index", "refused: a block without restart points\n"},
    {"bad/restart_shared.index",
     "refused: a restart point at byte 30 of the block at byte 0 is no entry with a whole key\n"},
    {"bad/shared.index", "refused: a key has 1 bytes, and 5 of the one before, which has 0\n"},
    {"bad/twice.index", "refused: the key 'a' is out of order\n"},
};

static const char *const damaged[] = {
    FIXTURES "/ok/object.index",      FIXTURES "/ok/names.index",  FIXTURES "/ok/types.index",
    FIXTURES "/ok/half_broken.index", FIXTURES "/ok/blocks.index",
};

int main(void) { return RUN_LISTING_TESTS(FIXTURES, good, refused, damaged); }
