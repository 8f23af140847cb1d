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
    {"ok/chunks_broken.msgpack",
     "flax-msgpack\n"
     "params.good F32 (2) @30+8\n"
     "! tensor 'params.types' is not read: its chunks are of several types\n"
     "! tensor 'params.flat' is not read: a chunk has 2 dimensions, one is expected\n"
     "! tensor 'params.scalar' is not read: a chunk is no array\n"
     "! tensor 'params.none' is not read: its chunks are no map of '0', '1', ... to arrays\n"
     "! tensor 'params.gap' is not read: its chunks are no map of '0', '1', ... to arrays\n"
     "! tensor 'params.padded' is not read: the shape of its chunks is no map of '0', '1', ... to sizes\n"
     "! tensor 'params.negative' is not read: the shape of its chunks is no map of '0', '1', ... to sizes\n"
     "! tensor 'params.extents' is not read: the shape of its chunks is no map of '0', '1', ... to sizes\n"
     "! tensor 'params.again' is not read: its chunks are no map of '0', '1', ... to arrays\n"
     "! tensor 'params.deep' is not read: 65 dimensions, at most 64\n"},
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
    {"ok/order.msgpack", "flax-msgpack\n"
                         "params.late F32 (1,4)\n"
                         "params.list.0.chunks.0 F32 (2) @175+8\n"
                         "params.shape.kernel F32 (2) @213+8\n"
                         "params.shape.shape F32 (2) @243+8\n"
                         "params.shape.chunks F32 (2) @274+8\n"},
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
    {"ok/words.msgpack", "flax-msgpack\n"
                         "f4 F32 (2) @14+8\n"
                         "<f4 F32 (2) @38+8\n"
                         "d F64 (2) @58+16\n"
                         "? BOOL (2) @86+2\n"
                         "int I64 (2) @104+16\n"
                         "long I64 (2) @138+16\n"
                         ">f4 F32 (2) @170+8 big-endian\n"
                         ">i1 I8 (2) @194+2\n"
                         "<int <int (2)\n"
                         "f4,f4 f4,f4 (2)\n"
                         "bool8 bool8 (2)\n"},
};

static const char *const refused[][2] = {
    {"bad/all_broken.msgpack",
     "refused: no tensor can be read (1 broken; the first: 3 bytes of data, shape and type need 16)\n"},
    {"bad/chunks_and_more.msgpack",
     "refused: the array in chunks 'params.w' has other members than shape and chunks, or lacks them\n"},
    {"bad/count.msgpack", "refused: not a checkpoint in any format that is read here\n"},
    {"bad/deep.msgpack", "refused: maps nested more than 256 deep\n"},
    {"bad/integer_key.msgpack", "refused: a key that is not a string, before byte 10\n"},
    {"bad/key.msgpack", "refused: a key that is not a string, before byte 10\n"},
    {"bad/key_no_utf8.msgpack", "refused: a key that is not UTF-8, before byte 11\n"},
    {"bad/key_twice.msgpack", "refused: a map has the key 'params.w' twice\n"},
    {"bad/long_names.msgpack",
     "refused: names of more than 64 bytes for each byte of the file, and 1 MiB besides, in all\n"},
    {"bad/map_twice.msgpack", "refused: a map has the key 'params' twice\n"},
    {"bad/root_is_no_map.msgpack", "refused: not a checkpoint in any format that is read here\n"},
    {"bad/short.msgpack", "refused: the value at byte 164 has 62 bytes, 55 bytes follow\n"},
    {"bad/text_no_utf8.msgpack", "refused: a string that is not UTF-8, before byte 43\n"},
    {"bad/twice.msgpack", "refused: tensor name 'a.b' appears twice\n"},
};

static const char *const damaged[] = {
    FIXTURES "/ok/state.msgpack",       FIXTURES "/ok/chunked.msgpack", FIXTURES "/ok/lists.msgpack",
    FIXTURES "/ok/half_broken.msgpack", FIXTURES "/ok/order.msgpack",
};

int main(void) { return RUN_LISTING_TESTS(FIXTURES, good, refused, damaged); }
