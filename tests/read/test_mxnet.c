/* SPDX-License-Identifier: MIT
 * The .params files of MXNet: each version of an array, hostile lengths, random damage. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/listing.h"

#define OK "fixtures/mxnet/ok/"

static void every_version_is_read(void **state)
{
    (void)state;
    assert_listing(OK "v0.params", "mxnet-params\na F32 (2,3) @48+24\nb F64 (4) @92+32\nnone ? () shapeless dataless\n"
                                   "! arrays that were saved before they had a shape: 1\n");
    assert_listing(OK "v1.params", "mxnet-params\narg:w F16 (2,3) @60+12\naux:moving_mean U8 (5) @100+5\n");
    assert_listing(OK "np_shape.params", "mxnet-params\nscalar F32 () @48+4\nempty F32 (0,3)\n"
                                         "none ? () shapeless dataless\nlater ? () shapeless dataless\n"
                                         "! arrays that were saved before they had a shape: 2\n");
    assert_listing(OK "empty.params", "mxnet-params\n");
    assert_listing(OK "unnamed.params", "mxnet-params\n0 F32 (2,3) @64+24\n1 I64 (4) @120+32\n");
}

static void every_type_and_storage_is_read(void **state)
{
    (void)state;
    assert_listing(OK "dtypes.params", "mxnet-params\nt0 F32 (2,2) @64+16\nt1 F64 (2,2) @120+32\nt2 F16 (2,2) @192+8\n"
                                       "t3 U8 (2,2) @240+4\nt4 I32 (2,2) @284+16\nt5 I8 (2,2) @340+4\n"
                                       "t6 I64 (2,2) @384+32\nt7 BOOL (2,2) @456+4\nt8 I16 (2,2) @500+8\n"
                                       "t9 U16 (2,2) @548+8\nt10 U32 (2,2) @596+16\nt11 U64 (2,2) @652+32\n"
                                       "t12 BF16 (2,2) @724+8\n");
    assert_listing(OK "sparse.params", "mxnet-params\nrows F32 (10,4)\ncsr F64 (6,5)\ndense F32 (3) @368+12\n"
                                       "! sparse arrays, of which a part is stored: 2\n");
}

static void what_is_wrong_is_said(void **state)
{
    static const char *const cases[][2] = {
        {"short.params", "refused: ends within array 1 of 2: 24 more bytes are needed at byte 64, there are 6\n"},
        {"names_short.params",
         "refused: ends within the names of the arrays: 1 more bytes are needed at byte 161, there are 0\n"},
        {"names_few.params", "refused: the list has 2 arrays, but the number of names is 1\n"},
        {"many.params", "refused: 1152921504606846976 arrays are declared, 64 bytes follow\n"},
        {"rank.params", "refused: array 1 of 1: 65 dimensions, at most 64\n"},
        {"negative.params", "refused: array 1 of 1: dimension -7\n"},
        {"overflow.params", "refused: array 1 of 1: the product of its dimensions overflows 64 bits\n"},
        {"type.params", "refused: array 1 of 1: type 99 is not known\n"},
        {"storage.params", "refused: array 1 of 1: storage type 7 is not known\n"},
        {"nul.params", "refused: the names of the arrays: a NUL in a name\n"},
        {"twice.params", "refused: tensor name 'a' appears twice\n"},
    };
    (void)state;
    ASSERT_LISTINGS("fixtures/mxnet/bad", cases);
}

static void damage_is_survived(void **state)
{
    (void)state;
    assert_survives_damage(OK "v0.params", 300);
    assert_survives_damage(OK "sparse.params", 300);
    assert_survives_damage(OK "np_shape.params", 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_read),
        cmocka_unit_test(every_type_and_storage_is_read),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(damage_is_survived),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
