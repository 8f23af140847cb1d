/* SPDX-License-Identifier: MIT
 * The arrays of NumPy, alone and in archives: headers of every version and kind, broken ones, random damage. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/listing_tests.h"

#define FIXTURES "fixtures/numpy"

static const char *const good[][2] = {
    {"ok/brain.npz",
     "npz\n"
     "weight BF16 (2,3) @188+12\n"
     "small void1 (2) @387+2\n"
     "! arrays of two bytes without a type: 1, the first 'weight'; called BF16, since NumPy stores bfloat16 so\n"},
    {"ok/compressed.npz", "npz\n"
                          "layers/dense/kernel F32 (200,300)\n"
                          "layers/dense/bias F32 (300)\n"},
    {"ok/fortran.npy", "npy\n"
                       " F64 (3,4) @128+96 big-endian\n"
                       "! big-endian arrays: 1, the first ''\n"},
    {"ok/half_broken.npz", "npz\n"
                           "good F32 (2,2) @166+16\n"
                           "! tensor 'bad' is not read: byte 20 of its header: a string is expected\n"
                           "! tensor 'short' is not read: 12 bytes of data, its header says 16\n"
                           "! members that are no arrays: 'readme.txt'\n"},
    {"ok/kinds.npz", "npz\n"
                     "f2 F16 (2,3) @184+12\n"
                     "f4 F32 (2,3) @380+24\n"
                     "f8 F64 (2,3) @588+48\n"
                     "i1 I8 (2,3) @820+6\n"
                     "i8 I64 (2,3) @1010+48\n"
                     "u2 U16 (2,3) @1242+12 big-endian\n"
                     "b1 BOOL (2,3) @1438+6\n"
                     "c8 C64 (2,3) @1628+48\n"
                     "c16 C128 (2,3) @1861+96\n"
                     "S5 bytes5 (2,3) @2141+30\n"
                     "U3 string (2,3) @2355+72\n"
                     "M8 datetime (2,3)\n"
                     "long float128 (2,3) @2845+96\n"
                     "! big-endian arrays: 1, the first 'u2'\n"},
    {"ok/nothing_in_it.npz", "npz\n"
                             "empty F32 (0,4)\n"},
    {"ok/objects.npz", "npz\n"
                       "w F32 (2,2) @183+16\n"
                       "names object (2)\n"
                       "! arrays of Python objects: 1, the first 'names'; their pickles are not read\n"},
    {"ok/odd_types.npz", "npz\n"
                         "0 f3 (2,2)\n"
                         "1 M8[parsec] (2,2)\n"
                         "2 compound (2,2) @430+32\n"
                         "3 compound (2,2) @574+32\n"
                         "4 object (2,2)\n"
                         "! arrays of types that NumPy does not know: 3, the first '0'\n"
                         "! arrays of Python objects: 1, the first '4'; their pickles are not read\n"},
    {"ok/one.npy", "npy\n"
                   " F32 (3,4) @128+48\n"},
    {"ok/python2.npy", "npy\n"
                       " F32 (2,3) @80+24\n"},
    {"ok/scalar.npy", "npy\n"
                      " I64 () @128+8\n"},
    {"ok/v2.npy", "npy\n"
                  " U8 (2,0)\n"},
    {"ok/v3.npy", "npy\n"
                  " compound (2) @128+24\n"},
};

static const char *const refused[][2] = {
    {"bad/all_broken.npz",
     "refused: no tensor can be read (2 broken; the first: byte 20 of its header: a string is expected)\n"},
    {"bad/behind.npy", "refused: byte 71 of its header: nothing but blanks behind the dictionary is expected\n"},
    {"bad/bytes.npy", "refused: byte 20 of its header: a string is expected\n"},
    {"bad/dimension.npy", "refused: a dimension in its header overflows 64 bits\n"},
    {"bad/field.npy", "refused: byte 26 of its header: a comma is expected\n"},
    {"bad/fields_short.npy", "refused: 31 bytes of data, its header says 32\n"},
    {"bad/header_short.npy", "refused: ends within its header: 50 bytes of 128\n"},
    {"bad/headers_long.npz",
     "refused: headers of more than 64 bytes for each byte of the file, and 1 MiB besides, in all\n"},
    {"bad/lacks.npy", "refused: byte 43 of its header: each of 'descr', 'fortran_order' and 'shape' is expected\n"},
    {"bad/latin1.npy", "refused: byte 25 of its header: UTF-8 is expected\n"},
    {"bad/length.npy", "refused: a header of 2147483648 bytes, at most 1048564\n"},
    {"bad/long.npy", "refused: byte 64 of its header: a comma is expected\n"},
    {"bad/magic_only.npy", "refused: ends within the header of a NumPy array\n"},
    {"bad/minor.npy", "refused: version 1.7 of a NumPy array is not known\n"},
    {"bad/negative.npy", "refused: byte 61 of its header: a dimension is expected\n"},
    {"bad/nesting.npy", "refused: byte 410 of its header: less nesting is expected\n"},
    {"bad/no_dictionary.npy", "refused: byte 10 of its header: a dictionary is expected\n"},
    {"bad/nul.npy", "refused: byte 24 of its header: NUL\n"},
    {"bad/number.npy", "refused: byte 62 of its header: a comma is expected\n"},
    {"bad/overflow.npy", "refused: the product of its dimensions overflows 64 bits\n"},
    {"bad/rank.npy", "refused: more than 64 dimensions\n"},
    {"bad/short.npy", "refused: 12 bytes of data, its header says 16\n"},
    {"bad/size.npy", "refused: the size of its data overflows 64 bits\n"},
    {"bad/string.npy", "refused: byte 24 of its header: the end of a string is expected\n"},
    {"bad/twice.npy",
     "refused: byte 75 of its header: each of 'descr', 'fortran_order' and 'shape' once is expected\n"},
    {"bad/version.npy", "refused: version 9.0 of a NumPy array is not known\n"},
    {"bad/zeros.npy", "refused: byte 61 of its header: a dimension without leading zeros is expected\n"},
};

static const char *const damaged[] = {
    FIXTURES "/ok/kinds.npz", FIXTURES "/ok/compressed.npz",  FIXTURES "/ok/fortran.npy",
    FIXTURES "/ok/v3.npy",    FIXTURES "/ok/half_broken.npz",
};

int main(void) { return RUN_LISTING_TESTS(FIXTURES, good, refused, damaged); }
