/* SPDX-License-Identifier: MIT
 * Pickles, gzip, tar, torch.package, torch.export, older TorchScript, archives of several: what is listed, what is
 * wrong. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <zlib.h>

#include "read/listing_tests.h"

#define FIXTURES "fixtures/containers"

static const char *const good[][2] = {
    {"ok/agent.zip", "zip-bundle\n"
                     "policy.pth:scale F32 (2) @2348+8\n"
                     "policy.pth:linear.weight F32 (2,3) @2476+24\n"
                     "policy.pth:linear.bias F32 (2) @2604+8\n"
                     "policy.optimizer.pth:state.0.step F32 () @4927+4 state\n"
                     "policy.optimizer.pth:state.0.exp_avg F32 (2,3) @5055+24 state\n"
                     "policy.optimizer.pth:state.0.exp_avg_sq F32 (2,3) @5183+24 state\n"
                     "policy.optimizer.pth:state.1.step F32 () @5311+4 state\n"
                     "policy.optimizer.pth:state.1.exp_avg F32 (2) @5439+8 state\n"
                     "policy.optimizer.pth:state.1.exp_avg_sq F32 (2) @5567+8 state\n"
                     "format of pytorch_variables.pth = torch-zip\n"
                     "format of policy.pth = torch-zip\n"
                     "format of policy.optimizer.pth = torch-zip\n"},
    {"ok/agent_calls.zip", "zip-bundle\n"
                           "scale F32 (2)\n"
                           "linear.weight F32 (2,3)\n"
                           "linear.bias F32 (2)\n"
                           "format of policy.pth = torch-zip\n"
                           "! 'data': 'policy_class': unpickling it would call posix.system: nothing was executed\n"
                           "! 'data': 'broken' is not read, so that it is not known what unpickling it would run: "
                           "pickle: byte 0: no opcode 0x78\n"
                           "! 'buffer.dat': unpickling it would call __builtin__.eval: nothing was executed\n"},
    {"ok/agent_deflated.zip", "zip-bundle\n"
                              "policy.pth:scale F32 (2)\n"
                              "policy.pth:linear.weight F32 (2,3)\n"
                              "policy.pth:linear.bias F32 (2)\n"
                              "policy.optimizer.pth:state.0.step F32 () state\n"
                              "policy.optimizer.pth:state.0.exp_avg F32 (2,3) state\n"
                              "policy.optimizer.pth:state.0.exp_avg_sq F32 (2,3) state\n"
                              "policy.optimizer.pth:state.1.step F32 () state\n"
                              "policy.optimizer.pth:state.1.exp_avg F32 (2) state\n"
                              "policy.optimizer.pth:state.1.exp_avg_sq F32 (2) state\n"
                              "format of pytorch_variables.pth = torch-zip\n"
                              "format of policy.pth = torch-zip\n"
                              "format of policy.optimizer.pth = torch-zip\n"},
    {"ok/agent_unread.zip", "zip-bundle\n"
                            "scale F32 (2) @1040+8\n"
                            "linear.weight F32 (2,3) @1168+24\n"
                            "linear.bias F32 (2) @1296+8\n"
                            "format of policy.pth = torch-zip\n"
                            "! 'data' is not read, so that it is not known what unpickling it would run: data: "
                            "expected a value at byte 6, found the end\n"},
    {"ok/arrays0.pkl", "pickle\n"
                       "w F32 (2,3)\n"
                       "steps I64 ()\n"
                       "nested.0 F16 (4)\n"
                       "nested.1.flags BOOL (3)\n"
                       "turned F64 (2,3)\n"
                       "foreign I32 (2) big-endian\n"
                       "empty U8 (0,5)\n"},
    {"ok/arrays2.pkl", "pickle\n"
                       "w F32 (2,3)\n"
                       "steps I64 ()\n"
                       "nested.0 F16 (4)\n"
                       "nested.1.flags BOOL (3)\n"
                       "turned F64 (2,3)\n"
                       "foreign I32 (2) big-endian\n"
                       "empty U8 (0,5)\n"},
    {"ok/arrays4.pkl", "pickle\n"
                       "w F32 (2,3) @152+24\n"
                       "steps I64 () @245+8\n"
                       "nested.0 F16 (4) @329+8\n"
                       "nested.1.flags BOOL (3) @413+3\n"
                       "turned F64 (2,3) @493+48\n"
                       "foreign I32 (2) @617+8 big-endian\n"
                       "empty U8 (0,5) @699+0\n"},
    {"ok/arrays5.pkl", "pickle\n"
                       "w F32 (2,3) @66+24\n"
                       "steps I64 () @179+8\n"
                       "nested.0 F16 (4) @255+8\n"
                       "nested.1.flags BOOL (3) @332+3\n"
                       "turned F64 (2,3) @407+48\n"
                       "foreign I32 (2) @528+8 big-endian\n"
                       "empty U8 (0,5) @605+0\n"},
    {"ok/five.safetensors.gz", "safetensors\n"
                               "steps I64 (3)\n"
                               "empty F32 (0,4)\n"
                               "scalar F32 ()\n"
                               "weight F32 (2,3)\n"
                               "half F16 (4)\n"
                               "compression = gzip\n"},
    {"ok/five.tar", "tar\n"
                    "five.safetensors:steps I64 (3) @824+24\n"
                    "five.safetensors:empty F32 (0,4) @848+0\n"
                    "five.safetensors:scalar F32 () @848+4\n"
                    "five.safetensors:weight F32 (2,3) @852+24\n"
                    "five.safetensors:half F16 (4) @876+8\n"
                    "five.pt:weight F32 (2,3) @2560+24\n"
                    "five.pt:half F16 (4) @2688+8\n"
                    "five.pt:steps I64 (3) @2816+24\n"
                    "five.pt:scalar F32 () @2944+4\n"
                    "five.pt:empty F32 (0,4) @3072+0\n"
                    "five.h5:empty F32 (0,4)\n"
                    "five.h5:half F16 (4) @6680+8\n"
                    "five.h5:scalar F32 () @6712+4\n"
                    "five.h5:steps I64 (3) @6688+24\n"
                    "five.h5:weight F32 (2,3) @6656+24\n"
                    "five.gguf:weight F32 (2,3) @10464+24\n"
                    "five.gguf:half F16 (4) @10496+8\n"
                    "five.gguf:steps I64 (3) @10528+24\n"
                    "five.gguf:scalar F32 () @10560+4\n"
                    "five.gguf:empty F32 (0,4) @10592+0\n"
                    "format of five.safetensors = safetensors\n"
                    "format of five.pt = torch-zip\n"
                    "format of five.h5 = hdf5\n"
                    "format of five.gguf = gguf\n"},
    {"ok/calls.nemo", "tar\n"
                      "scale F32 (2) @3008+8\n"
                      "linear.weight F32 (2,3) @3136+24\n"
                      "linear.bias F32 (2) @3264+8\n"
                      "format of model_weights.ckpt = torch-zip\n"
                      "! restoring the model would import or call what 'model_config.yaml' names: 18, the first "
                      "'os.system'\n"},
    {"ok/five.zip", "zip-bundle\n"
                    "five.safetensors:steps I64 (3) @358+24\n"
                    "five.safetensors:empty F32 (0,4) @382+0\n"
                    "five.safetensors:scalar F32 () @382+4\n"
                    "five.safetensors:weight F32 (2,3) @386+24\n"
                    "five.safetensors:half F16 (4) @410+8\n"
                    "five.pt:weight F32 (2,3) @1479+24\n"
                    "five.pt:half F16 (4) @1607+8\n"
                    "five.pt:steps I64 (3) @1735+24\n"
                    "five.pt:scalar F32 () @1863+4\n"
                    "five.pt:empty F32 (0,4) @1991+0\n"
                    "five.h5:empty F32 (0,4)\n"
                    "five.h5:half F16 (4) @5116+8\n"
                    "five.h5:scalar F32 () @5148+4\n"
                    "five.h5:steps I64 (3) @5124+24\n"
                    "five.h5:weight F32 (2,3) @5092+24\n"
                    "five.gguf:weight F32 (2,3) @7947+24\n"
                    "five.gguf:half F16 (4) @7979+8\n"
                    "five.gguf:steps I64 (3) @8011+24\n"
                    "five.gguf:scalar F32 () @8043+4\n"
                    "five.gguf:empty F32 (0,4) @8075+0\n"
                    "format of five.safetensors = safetensors\n"
                    "format of five.pt = torch-zip\n"
                    "format of five.h5 = hdf5\n"
                    "format of five.gguf = gguf\n"},
    {"ok/five_deflated.zip", "zip-bundle\n"
                             "five.safetensors:steps I64 (3)\n"
                             "five.safetensors:empty F32 (0,4)\n"
                             "five.safetensors:scalar F32 ()\n"
                             "five.safetensors:weight F32 (2,3)\n"
                             "five.safetensors:half F16 (4)\n"
                             "five.pt:weight F32 (2,3)\n"
                             "five.pt:half F16 (4)\n"
                             "five.pt:steps I64 (3)\n"
                             "five.pt:scalar F32 ()\n"
                             "five.pt:empty F32 (0,4)\n"
                             "five.h5:empty F32 (0,4)\n"
                             "five.h5:half F16 (4)\n"
                             "five.h5:scalar F32 ()\n"
                             "five.h5:steps I64 (3)\n"
                             "five.h5:weight F32 (2,3)\n"
                             "five.gguf:weight F32 (2,3)\n"
                             "five.gguf:half F16 (4)\n"
                             "five.gguf:steps I64 (3)\n"
                             "five.gguf:scalar F32 ()\n"
                             "five.gguf:empty F32 (0,4)\n"
                             "format of five.safetensors = safetensors\n"
                             "format of five.pt = torch-zip\n"
                             "format of five.h5 = hdf5\n"
                             "format of five.gguf = gguf\n"},
    {"ok/long_gnu.tar", "tar\n"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt:scale F32 (2) @2496+8\n"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt:linear.weight F32 (2,3) @2624+24\n"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt:linear.bias F32 (2) @2752+8\n"
                        "other.pt:x F32 (1) @5312+4\n"
                        "format of "
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt = torch-zip\n"
                        "format of other.pt = torch-zip\n"},
    {"ok/pax_size.tar", "tar\n"
                        "x F32 (1) @2240+4\n"
                        "format of x.pt = torch-zip\n"},
    {"ok/long_pax.tar", "tar\n"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt:scale F32 (2) @2496+8\n"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt:linear.weight F32 (2,3) @2624+24\n"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt:linear.bias F32 (2) @2752+8\n"
                        "other.pt:x F32 (1) @5312+4\n"
                        "format of "
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
                        "a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt = torch-zip\n"
                        "format of other.pt = torch-zip\n"},
    {"ok/long_ustar.tar",
     "tar\n"
     "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
     "a/a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt:scale F32 (2) @1472+8\n"
     "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
     "a/a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt:linear.weight F32 (2,3) @1600+24\n"
     "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
     "a/a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt:linear.bias F32 (2) @1728+8\n"
     "other.pt:x F32 (1) @4288+4\n"
     "format of "
     "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
     "a/a/a/a/a/a/a/a/a/a/a/a/a/a/folder/weights_of_the_model.pt = torch-zip\n"
     "format of other.pt = torch-zip\n"},
    {"ok/members.pkl.gz", "pickle\n"
                          "w F32 (2,3)\n"
                          "compression = gzip\n"},
    {"ok/model.pdparams", "paddle\n"
                          "linear.weight F32 (3,2)\n"
                          "linear.bias F32 (2)\n"},
    {"ok/nothing.pkl", "pickle\n"
                       "! a pickle without a tensor or an array of NumPy in it\n"},
    {"ok/old.pt", "torch-tar\n"
                  "w F32 (2,5) @3637+40\n"
                  "n I64 (3) @3724+24\n"
                  "part F32 (4) @3661+16\n"},
    {"ok/old_gnu.pt", "torch-tar\n"
                      "w F32 (2,5) @3637+40\n"
                      "n I64 (3) @3724+24\n"
                      "part F32 (4) @3637+16\n"},
    {"ok/one.zip", "zip-bundle\n"
                   "steps I64 (3) @404+24\n"
                   "empty F32 (0,4) @428+0\n"
                   "scalar F32 () @428+4\n"
                   "weight F32 (2,3) @432+24\n"
                   "half F16 (4) @456+8\n"
                   "format of inner/five.safetensors = safetensors\n"},
    {"ok/package.pt", "torch-package\n"
                      "models/state.pkl:scale F32 (2) @64+8\n"
                      "models/state.pkl:linear.weight F32 (2,3) @192+24\n"
                      "models/state.pkl:linear.bias F32 (2) @320+8\n"
                      "models/extra.pkl:bias F32 (3) @896+12\n"},
    {"ok/program.pt2", "pt2\n"
                       "linear.weight F32 (2,3)\n"
                       "linear.bias F32 (2)\n"
                       "scale F32 (2)\n"
                       "mask F32 (2,2) state\n"},
    {"ok/program_calls.pt2",
     "pt2\n"
     "linear.weight F32 (2,3)\n"
     "linear.bias F32 (2)\n"
     "scale F32 (2)\n"
     "mask F32 (2,2) state\n"
     "! 'program/data/sample_inputs/model.pt': unpickling it would call posix.system: nothing was executed\n"
     "! 'program/data/constants/opaque_obj_0': unpickling it would call __builtin__.exec: nothing was executed\n"
     "! 'program/data/aotinductor/model/model.so' is of a compiled model: loading it would run machine code\n"
     "! 'program/data/weights/weight_9': unpickling it would call __builtin__.eval: nothing was executed\n"},
    {"ok/program_unread.pt2",
     "pt2\n"
     "linear.weight F32 (2,3)\n"
     "linear.bias F32 (2)\n"
     "scale F32 (2)\n"
     "mask F32 (2,2) state\n"
     "! 'program/data/sample_inputs/model.pt' is not read, so that it is not known what unpickling it would run: it is "
     "compressed\n"
     "! 'program/data/weights/tar.pt' is not read, so that it is not known what unpickling it would run: a tar "
     "archive\n"
     "! 'program/data/weights/zip.pt' is not read, so that it is not known what unpickling it would run: a zip "
     "archive, "
     "but not of torch.save: it has no data.pkl\n"},
    {"ok/programs.pt2", "pt2\n"
                        "encoder:linear.weight F32 (2,3)\n"
                        "encoder:linear.bias F32 (2)\n"
                        "encoder:scale F32 (2)\n"
                        "encoder:mask F32 (2,2) state\n"
                        "decoder:linear.weight F32 (2,3)\n"
                        "decoder:linear.bias F32 (2)\n"
                        "decoder:scale F32 (2)\n"
                        "decoder:mask F32 (2,2) state\n"},
    {"ok/python2.pkl", "pickle\n"
                       "w'A F32 (3)\n"},
    {"ok/own.nemo", "tar\n"
                    "scale F32 (2) @2496+8\n"
                    "linear.weight F32 (2,3) @2624+24\n"
                    "linear.bias F32 (2) @2752+8\n"
                    "format of model_weights.ckpt = torch-zip\n"},
    {"ok/parts.pdparams", "paddle\n"
                          "w@@.0 F32 (4)\n"
                          "w@@.1 F32 (2)\n"
                          "! paddle.load joins arrays that are listed in parts, as 'UnpackBigParamInfor@@' says\n"},
    {"ok/script_old.pt", "torchscript\n"
                         "bias F32 (2)\n"
                         "linear.weight F32 (2,3)\n"},
    {"ok/small_floats.pkl", "pickle\n"
                            "b BF16 (2,2) @166+8\n"
                            "f F8_E4M3 (3) @261+3\n"},
    {"ok/speech.nemo", "tar\n"
                       "scale F32 (2) @2496+8\n"
                       "linear.weight F32 (2,3) @2624+24\n"
                       "linear.bias F32 (2) @2752+8\n"
                       "format of model_weights.ckpt = torch-zip\n"},
    {"ok/speech_compressed.nemo", "tar\n"
                                  "scale F32 (2)\n"
                                  "linear.weight F32 (2,3)\n"
                                  "linear.bias F32 (2)\n"
                                  "format of model_weights.ckpt = torch-zip\n"
                                  "compression = gzip\n"},
    {"ok/state.pt.gz", "pickle\n"
                       "w F32 (2,3)\n"
                       "b F32 (2)\n"
                       "compression = gzip\n"},
    {"ok/tensors.pkl", "pickle\n"
                       "w F32 (2,3) @350+24\n"
                       "b F32 (2) @696+8\n"},
    {"ok/tensors0.pkl", "pickle\n"
                        "a\\u0041\n\u00e9\u20ac\U0001f600 F32 (2,3)\n"
                        "b\xc0\x80 F32 (2)\n"},
    {"ok/tuples.pdparams", "paddle\n"
                           "linear.weight F32 (3,2)\n"
                           "linear.bias F32 (2)\n"},
};

static const char *const broken[][2] = {
    {"bad/array_huge.pkl", "pickle\n"
                           "v F32 (2) @226+8\n"
                           "! tensor 'w' is not read: its size overflows 64 bits\n"},
    {"bad/array_negative.pkl", "pickle\n"
                               "v F32 (2) @213+8\n"
                               "! tensor 'w' is not read: item 1 of its shape is not a non-negative integer\n"},
    {"bad/array_short.pkl", "refused: pickle: FRAME at byte 2: the pickle ends early: 213 bytes wanted, 212 left\n"},
    {"bad/block.pkl.gz", "refused: gzip data broken at byte 11: invalid block type\n"},
    {"bad/broken_inside.zip", "refused: 'a.safetensors': 1 bytes missing: the last tensor 'half' ends at 60 although "
                              "there are only 59 data bytes (truncated download?)\n"},
    {"bad/calls.pkl", "pickle\n"
                      "! unpickling it would call posix.system: nothing was executed\n"
                      "! a pickle without a tensor or an array of NumPy in it\n"},
    {"bad/crc.pkl.gz", "refused: gzip data broken at byte 154: incorrect data check\n"},
    {"bad/cut.pkl", "refused: pickle: FRAME at byte 2: the pickle ends early: 213 bytes wanted, 183 left\n"},
    {"bad/cut.pkl.gz", "refused: gzip data that end early, at byte 149\n"},
    {"bad/deep.zip", "refused: 5 zip end records at the end of the file, at most 4\n"},
    {"bad/empty.gz", "refused: empty file\n"},
    {"bad/head.pkl.gz", "refused: gzip data broken at byte 4: unknown header flags set\n"},
    {"bad/joblib.pkl", "refused: a file of joblib, with the bytes of arrays between the opcodes, which is not read: "
                       "pickle: byte 62: no opcode 0x01\n"},
    {"bad/more.pkl", "pickle\n"
                     "w F32 (2,3) @152+24\n"
                     "v F32 (2) @210+8\n"
                     "! 4 bytes after the end of the pickle\n"},
    {"bad/more.pkl.gz", "pickle\n"
                        "w F32 (2,3)\n"
                        "compression = gzip\n"
                        "! 4 bytes after the gzip data\n"},
    {"bad/not_called.pkl",
     "pickle\n"
     "w F32 (2) @247+8\n"
     "! unpickling it would call torch.storage._load_from_bytes: nothing was executed\n"
     "! bytes that torch.storage._load_from_bytes would unpickle are not read: what they would run is not known\n"
     "! tensor 'a' is not read: the first argument of torch._utils._rebuild_tensor_v2 is not a storage\n"},
    {"bad/escape.pkl", "refused: pickle: UNICODE at byte 5: a string with a broken escape\n"},
    {"bad/escape_cut.pkl", "refused: pickle: STRING at byte 5: a string with a broken escape\n"},
    {"bad/escape_high.pkl", "refused: pickle: UNICODE at byte 5: a string with a broken escape\n"},
    {"bad/old_class.pt", "refused: a storage at byte 3630 without a key, or of an unknown class\n"},
    {"bad/old_many.pt", "refused: storage '11' of 1099511627776 elements at byte 3637 passes the end at 3683\n"},
    {"bad/old_negative.pt",
     "refused: storage '11' of 18446744073709551615 elements at byte 3637 passes the end at 3683\n"},
    {"bad/old_parts.pt", "refused: a tar archive without the members 'storages', 'tensors' and 'pickle'\n"},
    {"bad/old_past.pt", "torch-tar\n"
                        "n F32 (2) @3637+8\n"
                        "! tensor 'w' is not read: it reaches element 11 of storage '11', which has 40 bytes\n"},
    {"bad/old_rank.pt", "refused: 65 dimensions, at most 64\n"},
    {"bad/old_short.pt", "refused: tensors: the pickle ends early at byte 0, without STOP\n"},
    {"bad/old_storage.pt", "torch-tar\n"
                           "n F32 (2) @3637+8\n"
                           "! tensor 'w' is not read: its storage '14' is not there\n"},
    {"bad/old_tensors.pt", "refused: member 'tensors': 100001 of them, at most 100000\n"},
    {"bad/old_twice.pt", "refused: two tensors '1'\n"},
    {"bad/old_view.pt", "refused: storage '11': a view of its elements 6 to 11, but it has 10\n"},
    {"bad/old_view_root.pt", "refused: storage '13' is a view of '99', which is not there\n"},
    {"bad/one_inside.zip", "zip-bundle\n"
                           "a.safetensors:steps I64 (3) @355+24\n"
                           "a.safetensors:empty F32 (0,4) @379+0\n"
                           "a.safetensors:scalar F32 () @379+4\n"
                           "a.safetensors:weight F32 (2,3) @383+24\n"
                           "a.safetensors:half F16 (4) @407+8\n"
                           "format of a.safetensors = safetensors\n"
                           "! member 'b.pt' is not read: zip directory missing: truncated?\n"},
    {"bad/pt2_big.pt2", "pt2\n"
                        "linear.bias F32 (2)\n"
                        "scale F32 (2)\n"
                        "mask F32 (2,2) state\n"
                        "! tensor 'linear.weight' is not read: it reaches element 6000 of storage "
                        "'data/weights/weight_0', which has 24 bytes\n"},
    {"bad/pt2_json.pt2",
     "refused: program/data/weights/model_weights_config.json: expected ',' or '}' at byte 864, found the end\n"},
    {"bad/pt2_record.pt2",
     "pt2\n"
     "linear.bias F32 (2)\n"
     "scale F32 (2)\n"
     "mask F32 (2,2) state\n"
     "! tensor 'linear.weight' is not read: its record 'program/data/weights/weight_0' is not in the archive\n"},
    {"bad/pt2_sizes.pt2", "pt2\n"
                          "linear.bias F32 (2)\n"
                          "scale F32 (2)\n"
                          "mask F32 (2,2) state\n"
                          "! tensor 'linear.weight' is not read: its sizes, strides or offset are no numbers\n"},
    {"bad/package_all.pt", "refused: models/state.pkl: the pickle ends early at byte 368, without STOP\n"},
    {"bad/package_one.pt", "torch-package\n"
                           "models/state.pkl:scale F32 (2) @53+8\n"
                           "models/state.pkl:linear.weight F32 (2,3) @114+24\n"
                           "models/state.pkl:linear.bias F32 (2) @191+8\n"
                           "! 'models/extra.pkl' is not read: models/extra.pkl: the pickle ends early at byte 158, "
                           "without STOP\n"},
    {"bad/prefix.zip", "refused: "
                       "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' (30012 bytes): its name "
                       "has 30013 bytes, in front of the names of "
                       "5000 tensors; at most 32768, and all names together 64 for each byte of the file, and 1 MiB "
                       "besides\n"},
    {"bad/script_attributes.pt", "refused: attributes.pkl: the pickle ends early at byte 3, without STOP\n"},
    {"bad/script_deep.pt", "refused: script/model.json: nested deeper than 127 levels at byte 1060\n"},
    {"bad/script_json.pt", "refused: script/model.json: expected an object at byte 15, found '['\n"},
    {"bad/script_names.pt",
     "refused: names of more than 64 bytes for each byte of the file, and 1 MiB besides, in all\n"},
    {"bad/script_number.pt", "torchscript\n"
                             "linear.weight F32 (2,3)\n"
                             "! tensor 'bias' is not read: there is no tensor with its number\n"},
    {"bad/script_record.pt", "torchscript\n"
                             "linear.weight F32 (2,3)\n"
                             "! tensor 'bias' is not read: its record 'script/tensors/1' is not in the archive\n"},
    {"bad/script_short.pt",
     "torchscript\n"
     "bias F32 (2)\n"
     "! tensor 'linear.weight' is not read: it reaches element 6 of storage 'tensors/0', which has 23 bytes\n"},
    {"bad/script_tensors.pt", "refused: model.json: more than 100000 tensors\n"},
    {"bad/size.pkl.gz", "refused: gzip data broken at byte 158: incorrect length check\n"},
    {"bad/tar_all_broken.nemo", "refused: 'a.ckpt': zip directory missing: truncated?\n"},
    {"bad/tar_cut.nemo", "refused: the tar member at byte 1536 has 2209 bytes, and the file ends at 2000\n"},
    {"bad/tar_cut_header.nemo", "refused: the tar header at byte 1024 is cut\n"},
    {"bad/tar_name.nemo", "refused: tar member at byte 1536: its name is no UTF-8 text\n"},
    {"bad/tar_one_broken.nemo", "tar\n"
                                "a.ckpt:scale F32 (2) @1472+8\n"
                                "a.ckpt:linear.weight F32 (2,3) @1600+24\n"
                                "a.ckpt:linear.bias F32 (2) @1728+8\n"
                                "format of a.ckpt = torch-zip\n"
                                "! member 'b.ckpt' is not read: zip directory missing: truncated?\n"},
    {"bad/tar_other.tar", "refused: this is a tar archive without a checkpoint in it\n"},
    {"bad/tar_pax.tar", "refused: tar header at byte 0: its pax records are broken\n"},
    {"bad/tar_pax_huge.tar", "refused: tar header at byte 0: 2097152 bytes about one member, at most 1048576\n"},
    {"bad/tar_second.nemo", "refused: the tar header at byte 1024 is broken\n"},
    {"bad/tar_size.nemo", "refused: the tar member at byte 1536 has 8589934591 bytes, and the file ends at 10240\n"},
    {"bad/tar_size_binary.nemo", "refused: the tar header at byte 1024 is broken\n"},
    {"bad/layers.safetensors.gz", "refused: gzip data that inflate to more than 1142488 bytes\n"},
    {"bad/tar_size_text.nemo", "refused: the tar header at byte 1024 is broken\n"},
    {"bad/tar_sum.nemo", "refused: this is a tar archive whose first header is broken\n"},
    {"bad/tar_twice.nemo", "refused: ambiguous archive: two members named 'a.pt'\n"},
    {"bad/thrice.gz", "refused: files within files, more than 3 deep\n"},
};

/* 1 GiB and 1 MiB of zeros in 2 KB: no more than the limit is inflated, and zeros take no memory. */
static void bombs_are_bounded(void **state)
{
    unsigned char small[8192];
    const uLong room = 4 << 20;
    unsigned char *bomb = malloc(room);
    uLongf length = room;
    FILE *file = fopen(FIXTURES "/bad/bomb.gz.z", "rb");
    (void)state;
    assert_true(file && bomb);
    const size_t size = fread(small, 1, sizeof small, file);
    fclose(file);
    assert_int_equal(uncompress(bomb, &length, small, size), Z_OK);
    assert_listing(scratch_write(&scratch, "bomb.gz", bomb, length),
                   "refused: gzip data that inflate to more than 1073741824 bytes\n");
    free(bomb);
}

/* Where a member lies as it is, its tensors have the places, and the bytes, that they have in the file alone. */
static void assert_same_data(const char *archive, const char *member)
{
    struct shapeproof_error error;
    char path[256];
    snprintf(path, sizeof path, "fixtures/cross/%s", member);
    struct shapeproof_inventory *outer = shapeproof_inventory_open(archive, &error),
                                *inner = shapeproof_inventory_open(path, &error);
    assert_true(outer && inner);
    struct shapeproof_data *all = shapeproof_data_open(outer, &error), *alone = shapeproof_data_open(inner, &error);
    assert_true(all && alone);
    for (size_t i = 0; i < shapeproof_inventory_count(inner); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inner, i);
        unsigned char expected[64], found[64];
        snprintf(path, sizeof path, "%s:%s", member, tensor->name);
        const size_t there = shapeproof_inventory_find(outer, path);
        assert_true(there != SHAPEPROOF_NONE && tensor->bytes <= sizeof found);
        if (!shapeproof_inventory_tensor(outer, there)->data_end || shapeproof_data_obstacle(all, there)) continue;
        assert_true(shapeproof_data_read(all, there, 0, found, tensor->bytes, &error));
        assert_true(shapeproof_data_read(alone, i, 0, expected, tensor->bytes, &error));
        assert_memory_equal(found, expected, tensor->bytes);
    }
    shapeproof_data_close(all);
    shapeproof_data_close(alone);
    shapeproof_inventory_close(outer);
    shapeproof_inventory_close(inner);
}

static void members_have_their_data(void **state)
{
    static const char *const members[] = {"five.safetensors", "five.h5", "five.gguf", "five.pt"};
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        assert_same_data(FIXTURES "/ok/five.zip", members[i]);
        assert_same_data(FIXTURES "/ok/five.tar", members[i]);
        assert_same_data(FIXTURES "/ok/five_deflated.zip", members[i]);
    }
}

static void damage_is_survived(void **state)
{
    static const char *const files[] = {
        FIXTURES "/ok/arrays0.pkl",   FIXTURES "/ok/arrays5.pkl", FIXTURES "/ok/tensors.pkl",
        FIXTURES "/ok/state.pt.gz",   FIXTURES "/ok/old.pt",      FIXTURES "/ok/speech.nemo",
        FIXTURES "/ok/long_pax.tar",  FIXTURES "/ok/agent.zip",   FIXTURES "/ok/package.pt",
        FIXTURES "/ok/script_old.pt", FIXTURES "/ok/program.pt2", FIXTURES "/ok/tuples.pdparams",
    };
    (void)state;
    ASSERT_SURVIVE_DAMAGE(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_there_is_is_listed), cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(bombs_are_bounded),       cmocka_unit_test(members_have_their_data),
        cmocka_unit_test(damage_is_survived),
    };
    listing_tests =
        &(struct listing_tests){FIXTURES, good, broken, NULL, LISTING_COUNT(good), LISTING_COUNT(broken), 0};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
