/* SPDX-License-Identifier: MIT
 * Models of ONNX: initializers of every type, in this file and elsewhere, broken ones, random damage. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/listing_tests.h"

#define FIXTURES "fixtures/onnx"

static const char *const good[][2] = {
    {"ok/broken_parts.onnx", "onnx\n"
                             "w F32 (2) @19+8\n"
                             "! onnx refuses it: nodes or other messages with broken fields: 5\n"},
    {"ok/external.onnx", "onnx\n"
                         "big.weight F32 (64,64)\n"
                         "small.bias F32 (2) @144+8\n"
                         "producer_name = pytorch\n"
                         "producer_version = 2.8\n"
                         "external_data = 'external.onnx.data'\n"},
    {"ok/half_broken.onnx", "onnx\n"
                            "good F32 (2,2) @56+16\n"
                            "later F32 (3) @156+12\n"
                            "producer_name = pytorch\n"
                            "producer_version = 2.8\n"
                            "! tensor 'short' is not read: 7 bytes of data, shape and type need 16\n"
                            "! tensor 'negative' is not read: a dimension is negative\n"},
    {"ok/linear.onnx", "onnx\n"
                       "fc.weight F32 (4,3) @61+48\n"
                       "fc.bias F32 (3) @126+12\n"
                       "producer_name = pytorch\n"
                       "producer_version = 2.8\n"},
    {"ok/no_weights.onnx", "onnx\n"
                           "producer_name = pytorch\n"
                           "producer_version = 2.8\n"},
    {"ok/outside_above.onnx", "onnx\n"
                              "w F32 (2)\n"
                              "v F32 (2)\n"
                              "external_data = 'sub/../../data.bin', 'data.bin'\n"
                              "! tensors with data at no place within the folder of the model: 1, the first 'w' at "
                              "'sub/../../data.bin'; onnx refuses them\n"},
    {"ok/outside_absolute.onnx", "onnx\n"
                                 "w F32 (2)\n"
                                 "v F32 (2)\n"
                                 "external_data = '/etc/passwd', 'data.bin'\n"
                                 "! tensors with data at no place within the folder of the model: 1, the first 'w' at "
                                 "'/etc/passwd'; onnx refuses them\n"},
    {"ok/outside_drive.onnx", "onnx\n"
                              "w F32 (2)\n"
                              "v F32 (2)\n"
                              "external_data = 'C:\\data.bin', 'data.bin'\n"
                              "! tensors with data at no place within the folder of the model: 1, the first 'w' at "
                              "'C:\\data.bin'; onnx refuses them\n"},
    {"ok/outside_nowhere.onnx", "onnx\n"
                                "w F32 (2)\n"
                                "v F32 (2)\n"
                                "external_data = '', 'data.bin'\n"
                                "! tensors with data at no place within the folder of the model: 1, the first 'w' at "
                                "''; onnx refuses them\n"},
    {"ok/places.onnx", "onnx\n"
                       "here F32 (2)\n"
                       "below F32 (2)\n"
                       "type F32 (2)\n"
                       "within F32 (2)\n"
                       "external_data = './sub/../data.bin', 'sub/a/../../data.bin'\n"},
    {"ok/sparse.onnx", "onnx\n"
                       "fc.weight F32 (4,3) @61+48\n"
                       "fc.bias F32 (3) @126+12\n"
                       "producer_name = pytorch\n"
                       "producer_version = 2.8\n"
                       "! sparse initializers, which are not listed: 1\n"},
    {"ok/types.onnx", "onnx\n"
                      "float F32 (2,2)\n"
                      "uint8 U8 (2,2)\n"
                      "int8 I8 (2,2)\n"
                      "uint16 U16 (2,2)\n"
                      "int16 I16 (2,2)\n"
                      "int32 I32 (2,2)\n"
                      "int64 I64 (2,2)\n"
                      "string string (2,2)\n"
                      "bool BOOL (2,2)\n"
                      "float16 F16 (2,2)\n"
                      "double F64 (2,2)\n"
                      "uint32 U32 (2,2)\n"
                      "uint64 U64 (2,2)\n"
                      "complex64 C64 (2,2)\n"
                      "complex128 C128 (2,2)\n"
                      "bfloat16 BF16 (2,2)\n"
                      "float8e4m3fn F8_E4M3 (2,2)\n"
                      "float8e4m3fnuz F8_E4M3FNUZ (2,2)\n"
                      "float8e5m2 F8_E5M2 (2,2)\n"
                      "float8e5m2fnuz F8_E5M2FNUZ (2,2)\n"
                      "uint4 U4 (2,2)\n"
                      "int4 I4 (2,2)\n"
                      "float4e2m1 F4 (2,2)\n"
                      "float8e8m0 F8_E8M0 (2,2)\n"
                      "uint2 U2 (2,2)\n"
                      "int2 I2 (2,2)\n"
                      "float6e2m3 F6_E2M3 (2,2)\n"
                      "float6e3m2 F6_E3M2 (2,2)\n"
                      "raw_bfloat16 BF16 (2,2) @839+8\n"
                      "scalar I64 () @861+8\n"
                      "empty F32 (0,4)\n"
                      "producer_name = pytorch\n"
                      "producer_version = 2.8\n"},
    {"ok/wire.onnx", "onnx\n"
                     "name_is_no_integer F32 (2) @33+8\n"
                     "type F32 (2) @61+8\n"
                     "negative type-1 (2)\n"
                     "no_segment F32 (2) @124+8\n"
                     "after F32 (2) @187+8\n"
                     "long_tag F32 (2) @251+8\n"
                     "packed F32 (2,1) @275+8\n"},
};

static const char *const refused[][2] = {
    {"bad/group_ends.onnx", "refused: the model: the field at byte 2 ends a group that has not begun\n"},
    {"bad/group_of_another.onnx", "refused: the model: the field at byte 2 is a group that ends as another one\n"},
    {"bad/group_without_end.onnx", "refused: the model: the field at byte 2 is a group without an end\n"},
    {"bad/groups_deep.onnx", "refused: the model: the field at byte 2 has groups nested more than 100 deep\n"},
    {"bad/no_graph.onnx", "refused: a model without a graph\n"},
    {"bad/overflow.onnx", "refused: no tensor can be read (1 broken; the first: the size of its data overflows 64 "
                          "bits, or fills no whole bytes)\n"},
    {"bad/overrun.onnx", "refused: no tensor can be read (1 broken; the first: a dimension passes the end of the list "
                         "of dimensions)\n"},
    {"bad/rank.onnx", "refused: no tensor can be read (1 broken; the first: more than 64 dimensions)\n"},
    {"bad/short.onnx", "refused: the model: the field at byte 16 passes the end of its message\n"},
    {"bad/tag_of_33_bits.onnx", "refused: the model: the field at byte 2 has a number of more than 29 bits\n"},
    {"bad/tag_of_6_bytes.onnx", "refused: the model: a tag or a length of more than five bytes\n"},
    {"bad/varint.onnx", "refused: the model: an integer of more than 64 bits\n"},
};

static const char *const damaged[] = {
    FIXTURES "/ok/linear.onnx",
    FIXTURES "/ok/types.onnx",
    FIXTURES "/ok/external.onnx",
    FIXTURES "/ok/half_broken.onnx",
};

int main(void) { return RUN_LISTING_TESTS(FIXTURES, good, refused, damaged); }
