/* SPDX-License-Identifier: MIT
 * Trees of Flax: arrays whole and in chunks, optimizers, broken ones, random damage. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/listing_tests.h"

#define FIXTURES "fixtures/flax"

static const char *const good[][2] = {
    {"ok/chunked.msgpack", "flax-msgpack\n"
                           "params.big F32 (5,4)\n"
                           "params.small F32 (2) @218+8\n"},
    {"ok/half_broken.msgpack", "flax-msgpack\n"
                               "params.good F32 (2,2) @31+16\n"
                               "params.later F32 (3) @262+12\n"
                               "! tensor 'params.short' is not read: 7 bytes of data, shape and type need 16\n"
                               "! tensor 'params.odd' is not read: an array is a list of shape, type and bytes\n"
                               "! tensor 'params.gap' is not read: 64 bytes of data, shape and type need 80\n"},
    {"ok/lists.msgpack", "flax-msgpack\n"
                         "layers.0 F32 (2) @25+8\n"
                         "layers.1.w F32 (3) @52+12\n"
                         "! extensions that are no arrays, and not listed: 1\n"},
    {"ok/state.msgpack", "flax-msgpack\n"
                         "params.Dense_0.kernel F32 (4,3) @48+48\n"
                         "params.Dense_0.bias BF16 (3) @118+6\n"
                         "opt_state.0.mu.Dense_0.kernel F32 (4,3) @181+48 state\n"
                         "opt_state.0.count I32 () @248+4 state\n"},
    {"ok/types.msgpack", "flax-msgpack\n"
                         "float16 F16 (2,2) @26+8\n"
                         "float64 F64 (2,2) @59+32\n"
                         "int8 I8 (2,2) @110+4\n"
                         "int16 I16 (2,2) @135+8\n"
                         "int64 I64 (2,2) @164+32\n"
                         "uint8 U8 (2,2) @216+4\n"
                         "uint16 U16 (2,2) @243+8\n"
                         "uint32 U32 (2,2) @274+16\n"
                         "uint64 U64 (2,2) @313+32\n"
                         "bool BOOL (2,2) @364+4\n"
                         "complex64 C64 (2,2) @397+32\n"
                         "complex128 C128 (2,2) @460+64\n"
                         "float8_e4m3fn F8_E4M3 (2,2) @561+4\n"
                         "int4 int4 (2,2)\n"},
};

static const char *const refused[][2] = {
    {"bad/all_broken.msgpack",
     "refused: no tensor can be read (1 broken; the first: 3 bytes of data, shape and type need 16)\n"},
    {"bad/count.msgpack", "refused: not a checkpoint in any format that is read here\n"},
    {"bad/deep.msgpack", "refused: maps nested more than 256 deep\n"},
    {"bad/key.msgpack", "refused: a key that is not a string, before byte 10\n"},
    {"bad/long_names.msgpack",
     "refused: names of more than 64 bytes for each byte of the file, and 1 MiB besides, in all\n"},
    {"bad/root_is_no_map.msgpack", "refused: not a checkpoint in any format that is read here\n"},
    {"bad/short.msgpack", "refused: the value at byte 164 has 62 bytes, 55 bytes follow\n"},
    {"bad/twice.msgpack", "refused: tensor name 'a.b' appears twice\n"},
};

static const char *const damaged[] = {
    FIXTURES "/ok/state.msgpack",
    FIXTURES "/ok/chunked.msgpack",
    FIXTURES "/ok/lists.msgpack",
    FIXTURES "/ok/half_broken.msgpack",
};

int main(void) { return RUN_LISTING_TESTS(FIXTURES, good, refused, damaged); }
