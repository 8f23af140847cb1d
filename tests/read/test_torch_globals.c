/* SPDX-License-Identifier: MIT
 * Which globals of a pickle are reported: names of torch and NumPy by the thousand, the ways to hide one, bytes within
 * bytes. With an argument, a file of all names that fixtures/torch/make_names.py writes, that file instead. */
#include "torch_helper.h"

#include <stdlib.h>

#include "read/torch/torch.h"

enum { MAX_LINE = 512, MAX_PICKLE = 4096 };

static const char *callables = "fixtures/torch/callables.txt";

/* What is called with no arguments is a pickle; its warnings are counted, and how often `word` is in one. */
static size_t count_warnings(const void *pickle, size_t length, const char *word, size_t *named)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = sp_inventory_new("test");
    struct sp_torch torch = {.inventory = inventory, .key_prefix = ""};
    struct sp_pickle read;
    if (!sp_torch_read_pickle(&torch, &read, "pickle", pickle, length, &error)) fail_msg("%s", error.message);
    const size_t count = shapeproof_inventory_warning_count(inventory);
    *named = 0;
    for (size_t i = 0; i < count; i++) *named += strstr(shapeproof_inventory_warning(inventory, i), word) != NULL;
    sp_torch_free(&torch);
    shapeproof_inventory_close(inventory);
    return count;
}

static bool is_reported(const char *module, const char *name, const char *end)
{
    char pickle[MAX_PICKLE], full[2 * MAX_LINE];
    size_t named;
    const int length = snprintf(pickle, sizeof pickle,
                                "\x80\x04"
                                "c%s\n%s\n%s",
                                module, name, end);
    snprintf(full, sizeof full, "%s.%s", module, name);
    return count_warnings(pickle, (size_t)length, full, &named) > 0 && named > 0;
}

/* Admitted beside what torch admits, and callable: other names of the same things, arrays and scalars of NumPy, what
 * checkpoints in parts and TorchScript have; and _load_from_bytes, as long as nobody calls it. */
static const char *const admitted[] = {
    "numpy.bool",
    "numpy.bool_",
    "numpy.complex128",
    "numpy.complex64",
    "numpy.dtype",
    "numpy.float16",
    "numpy.float32",
    "numpy.float64",
    "numpy.int16",
    "numpy.int32",
    "numpy.int64",
    "numpy.int8",
    "numpy.ndarray",
    "numpy.uint16",
    "numpy.uint32",
    "numpy.uint64",
    "numpy.uint8",
    "numpy._core.multiarray._reconstruct",
    "numpy._core.multiarray.scalar",
    "numpy._core.numeric._frombuffer",
    "numpy.core.multiarray._reconstruct",
    "numpy.core.multiarray.scalar",
    "numpy.core.numeric._frombuffer",
    "numpy.random._mt19937.MT19937",
    "numpy.random._pcg64.PCG64",
    "numpy.random._pickle.__bit_generator_ctor",
    "numpy.random._pickle.__generator_ctor",
    "numpy.random._pickle.__randomstate_ctor",
    "numpy.random.bit_generator.SeedSequence",
    "numpy.random.bit_generator.__pyx_unpickle_SeedSequence",
    "torch.ScriptObject",
    "torch.UntypedStorage",
    "torch._C.ScriptObject",
    "torch._C._nn.gelu",
    "torch._tensor._rebuild_from_type",
    "torch._utils._rebuild_xla_tensor",
    "torch.cuda.sparse.BFloat16Tensor",
    "torch.distributed._shard.checkpoint.metadata.BytesStorageMetadata",
    "torch.distributed._shard.checkpoint.filesystem._StorageInfo",
    "torch.distributed._shard.checkpoint.metadata.ChunkStorageMetadata",
    "torch.distributed._shard.checkpoint.metadata.Metadata",
    "torch.distributed._shard.checkpoint.metadata.MetadataIndex",
    "torch.distributed._shard.checkpoint.metadata.StorageMeta",
    "torch.distributed._shard.checkpoint.metadata.TensorProperties",
    "torch.distributed._shard.checkpoint.metadata.TensorStorageMetadata",
    "torch.distributed._shard.checkpoint.metadata._MEM_FORMAT_ENCODING",
    "torch.distributed._tensor.placement_types.DTensorSpec",
    "torch.distributed._tensor.placement_types.Replicate",
    "torch.distributed._tensor.placement_types.Shard",
    "torch.distributed._tensor.placement_types.TensorMeta",
    "torch.nn.backends.thnn._get_thnn_function_backend",
    "torch.storage._load_from_bytes",
    "torch.distributed._tensor.DTensor",
    "torch.distributed._tensor.api.DTensor",
    "torch.distributed.checkpoint.filesystem._StorageInfo",
    "torch.distributed.checkpoint.metadata.BytesStorageMetadata",
    "torch.distributed.checkpoint.metadata.ChunkStorageMetadata",
    "torch.distributed.checkpoint.metadata.Metadata",
    "torch.distributed.checkpoint.metadata.MetadataIndex",
    "torch.distributed.checkpoint.metadata.StorageMeta",
    "torch.distributed.checkpoint.metadata.TensorProperties",
    "torch.distributed.checkpoint.metadata.TensorStorageMetadata",
    "torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING",
    "torch.jit._pickle.build_boollist",
    "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_intlist",
    "torch.jit._pickle.build_tensor_from_id",
    "torch.jit._pickle.build_tensorlist",
    "torch.jit._pickle.restore_type_tag",
    "torch.nn.functional.gelu",
    "torch.nn.functional.relu",
    "torch.nn.functional.silu",
    "torch.nn.parameter.Buffer",
    "torch.nn.parameter.UninitializedBuffer",
    "torch.nn.parameter.UninitializedParameter",
};

static bool is_admitted(const char *module, const char *name)
{
    char full[2 * MAX_LINE];
    snprintf(full, sizeof full, "%s.%s", module, name);
    for (size_t i = 0; i < sizeof admitted / sizeof *admitted; i++)
        if (!strcmp(full, admitted[i])) return true;
    return false;
}

/* Called, and only looked up: each is reported, and named. */
static void test_callables(void **state)
{
    (void)state;
    char line[MAX_LINE];
    size_t count = 0, missed = 0;
    FILE *list = fopen(callables, "r");
    assert_non_null(list);
    while (fgets(line, sizeof line, list)) {
        char *name = strchr(line, ' ');
        line[strcspn(line, "\n")] = '\0';
        *name++ = '\0';
        count++;
        if (is_admitted(line, name)) continue;
        if (is_reported(line, name, ")R.") && is_reported(line, name, ".")) continue;
        print_message("not reported: %s %s\n", line, name);
        missed++;
    }
    fclose(list);
    assert_in_range(count, 1000, 1000000);
    assert_int_equal(missed, 0);
}

/* What torch itself admits with weights_only=True is not reported. */
static void test_weights_only(void **state)
{
    (void)state;
    char line[MAX_LINE];
    size_t count = 0;
    FILE *list = fopen("fixtures/torch/weights_only.txt", "r");
    assert_non_null(list);
    for (; fgets(line, sizeof line, list); count++) {
        line[strcspn(line, "\n")] = '\0';
        char *name = strrchr(line, '.');
        *name++ = '\0';
        if (is_reported(line, name, ".")) fail_msg("reported: %s.%s", line, name);
    }
    fclose(list);
    assert_in_range(count, 100, 1000);
}

/* ---- the ways to a function ---- */

#define CALL ")R."

struct way {
    const char *pickle, *named; /* `named`: what a warning says, or NULL for no warning */
    size_t warnings;
};

static void assert_ways(const struct way *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t named;
        const size_t warnings =
            count_warnings(list[i].pickle, strlen(list[i].pickle), list[i].named ? list[i].named : "", &named);
        if (warnings != list[i].warnings || (list[i].named && named == 0))
            fail_msg("%zu: %zu warnings, expected %zu with: %s", i, warnings, list[i].warnings,
                     list[i].named ? list[i].named : "");
    }
}

static const struct way ways[] = {
    /* A dotted attribute is never harmless, even where it leads to what is. */
    {"\x80\x04"
     "ctorch.serialization\nos.system\n" CALL,
     "would call torch.serialization.os.system", 1},
    {"\x80\x04"
     "ctorch\n_utils._rebuild_tensor_v2\n" CALL,
     "would call torch._utils._rebuild_tensor_v2", 1},
    {"\x80\x04"
     "ctorch._utils\n_rebuild_tensor_v2\n0ctorch\n_utils._rebuild_tensor_v2\n.",
     "torch._utils._rebuild_tensor_v2", 1},
    {"\x80\x04"
     "ccollections\nOrderedDict.fromkeys\n" CALL,
     "would call collections.OrderedDict.fromkeys", 1},
    {"\x80\x04\x8c\x05torch\x8c\tos.system\x93" CALL, "would call torch.os.system", 1},
    /* As a class in old opcodes, and by whoever calls its argument. */
    {"(iposix\nsystem\n.", "would call posix.system", 1},
    {"(cposix\nsystem\no.", "would call posix.system", 1},
    {"ccollections\ndefaultdict\n(cposix\nsystem\ntR.", "refers to posix.system", 1},
    {"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch.utils.collect_env\nrun\nN(tNtR.",
     "refers to torch.utils.collect_env.run", 1},
    /* Left on the way, so that no object has it. */
    {"ctorch.hub\nload\n)R0N.", "would call torch.hub.load", 1},
    /* Names that only resemble harmless ones. */
    {"ctorch.utils\nFloatStorage\n.", "torch.utils.FloatStorage", 1},
    {"ctorch._utils\n_rebuild_tensor_v22\n.", "torch._utils._rebuild_tensor_v22", 1},
    {"ctorch._utils\n_rebuild_tensor_v2 \n.", "torch._utils._rebuild_tensor_v2 ", 1},
    {"cTorch._utils\n_rebuild_tensor_v2\n.", "Torch._utils._rebuild_tensor_v2", 1},
    {"ctorch\nint9\n.", "torch.int9", 1},
    {"cnumpy.core.multiarray\nfromfile\n.", "numpy.core.multiarray.fromfile", 1},
    {"cmegatron.core.dist_checkpointing\nload\n.", "megatron.core.dist_checkpointing.load", 1},
    /* Classes of other packages together, and what runs code beside them by itself. */
    {"(c__main__\nNet\nctorch.nn.modules.linear\nLinear\nt.", "__main__.Net, torch.nn.modules.linear.Linear", 1},
    {"(ctorch.nn.modules.linear\nLinear\nctorch.nn.modules.conv\nConv1d\nctorch.nn.modules.conv\nConv2d\n"
     "cevil.pack\nRun\nt.",
     "evil.pack.Run, torch.nn.modules.linear.Linear", 1},
    {"csubprocess\nPopen\n" CALL, "would call subprocess.Popen", 1},
    {"cevil.pack\nrun\n" CALL, "would call evil.pack.run", 1},
    /* Bytes that are no old stream, a function that is handed on, and one that is named and nothing else. */
    {"ctorch.storage\n_load_from_bytes\n(U\x04PK\x03\x04tR.", "would call torch.storage._load_from_bytes", 2},
    {"ctorch.storage\n_load_from_bytes\n(U\x04PK\x03\x04tR0N.", "would call torch.storage._load_from_bytes", 2},
    {"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch.storage\n_load_from_bytes\nN(U\x04PK\x03\x04tNtR.",
     "would call torch.storage._load_from_bytes", 3},
    {"ctorch.storage\n_load_from_bytes\n0N.", NULL, 0},
    {"ccollections\nOrderedDict\n)R.", NULL, 0},
};

static void test_ways(void **state)
{
    (void)state;
    assert_ways(ways, sizeof ways / sizeof *ways);
}

/* ---- what is changed after it was made ---- */

#define FROMBUFFER "cnumpy._core.numeric\n_frombuffer\n"
#define RELU "ctorch.nn.functional\nrelu\n"
#define TAGGED_RELU "ctorch.jit._pickle\nrestore_type_tag\n(" RELU "VAny\ntR"
#define ATTRIBUTE "(dVa\nI1\nsb."
#define NAMESPACE "cargparse\nNamespace\n)R"
#define DTYPE(word) "cnumpy\ndtype\n(V" word "\nI00\nI01\ntR"
#define RECONSTRUCTOR "ccopyreg\n_reconstructor\n"
/* (version, byte order, subarray, names, fields, size, alignment, flags) */
#define STATE(order, size, alignment, flags) "(I3\nV" order "\nNNNI" size "\nI" alignment "\nI" flags "\ntb"
#define STRUCT(offset, size, flags)                                                                                    \
    DTYPE("V12")                                                                                                       \
    "(I3\nV|\nN(Va\nVb\nt(dVa\n(" DTYPE("f4") STATE("<", "-1", "-1", "0") "I0\ntsVb\n(" DTYPE("O8")                    \
        STATE("|", "-1", "-1", "63") "I" offset "\ntsI" size "\nI1\nI" flags "\ntb"
#define SUBARRAY(size, flags)                                                                                          \
    DTYPE("V24")                                                                                                       \
    "(I3\nV|\n(" DTYPE("f4") "(I2\nI3\nttNNI" size "\nI4\nI" flags "\ntb"

/* Of a None: its magic number, protocol, writing system, object and keys. */
#define OLD_STREAM                                                                                                     \
    "U\x2b"                                                                                                            \
    "L119547037146038801333356L\n.I1001\n.(d.N.(l."

static const struct way changes[] = {
    {FROMBUFFER "(U\x04"
                "abcd" DTYPE("u1") "(I4\ntVC\ntRI0\nI7\ns.",
     "would set items of what numpy._core.numeric._frombuffer returns", 1},
    {"cbuiltins\nbytearray\n)R(I1\nI2\ne.", "would set items of what builtins.bytearray returns", 1},
    {"ctorch\nTensor\n)RI0\nI7\ns.", "would set items of what torch.Tensor returns", 1},
    {TAGGED_RELU ")RVa\nI1\ns.", "would set items of what another object returns", 1},
    {"ccollections\nOrderedDict\n)RVa\nI1\ns.", NULL, 0},
    {"ccollections\ndefaultdict\n(cbuiltins\nlist\ntRVa\nI1\ns.", NULL, 0},
    {"cbuiltins\nset\n)R(I1\nI2\ne.", NULL, 0},
    /* A function that is returned as it is, by itself and through objects that stand for classes and tensors. */
    {TAGGED_RELU ATTRIBUTE, "would set attributes of what torch.jit._pickle.restore_type_tag returns", 1},
    {TAGGED_RELU ")R" ATTRIBUTE, "would set attributes of what another object returns", 1},
    {"cnumpy._core.multiarray\nscalar\n(" DTYPE("O8") RELU "tR" ATTRIBUTE, "would set attributes of what numpy", 1},
    {RECONSTRUCTOR "(" RELU NAMESPACE "NtR.", "would let copyreg._reconstructor return something other", 1},
    {RECONSTRUCTOR "(" RELU "cbuiltins\nobject\nNtR" ATTRIBUTE, "would let copyreg._reconstructor return", 2},
    {RECONSTRUCTOR "(cnumpy\ndtype\ncbuiltins\nobject\nNtR.", "would let copyreg._reconstructor return", 1},
    {RECONSTRUCTOR "(cargparse\nNamespace\ncbuiltins\nobject\nNtR" ATTRIBUTE, NULL, 0},
    {"(" RECONSTRUCTOR "t.", "would let copyreg._reconstructor return", 1},
    {"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch.jit._pickle\nrestore_type_tag\nctorch\nTensor\n(" NAMESPACE
     "Vx\nt(dtR.",
     "would let torch._tensor._rebuild_from_type_v2 set attributes", 1},
    {"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\nctorch\nTensor\n(t(dtR.", NULL, 0},
    {NAMESPACE ATTRIBUTE, NULL, 0},
    {"cbuiltins\ngetattr\n)R)R" ATTRIBUTE, "would call builtins.getattr", 1},
    /* Classes that torch looks for the source of: of modules, which are reported for their names, and others. */
    {"(Vmodule\n" RELU "Va.py\nVpass\ntQ.", "would look for the source of torch.nn.functional.relu", 1},
    {"(" RELU "Va.py\nVpass\ntQ.", "would look for the source of torch.nn.functional.relu", 1},
    {"(Vmodule\nctorch.nn.modules.linear\nLinear\nVa.py\nVpass\ntQ)R" ATTRIBUTE, "torch.nn.modules.linear.Linear", 1},
    /* Bytes that are unpickled, and have another use. */
    {"U\x04PK\x03\x04q\x01"
     "0"
     "ctorch.storage\n_load_from_bytes\n(h\x01tR0h\x01\x85.",
     "_load_from_bytes", 2},
    {"ctorch.storage\n_load_from_bytes\n(c_codecs\nencode\n(" OLD_STREAM "Vlatin1\ntRtR.", NULL, 0},
    {"ctorch.storage\n_load_from_bytes\n(c_codecs\nencode\n(" OLD_STREAM "Vcp437\ntRtR.", "_load_from_bytes", 2},
    {"ctorch.storage\n_load_from_bytes\n(c_codecs\nencode\n(" OLD_STREAM "Vlatin1\nVignore\ntRtR.", "_load_from_bytes",
     2},
    /* Types of NumPy. */
    {"cnumpy\nndarray\n((I1\nt" DTYPE("O8") "U\x08"
                                            "AAAAAAAA"
                                            "tR.",
     "would call numpy.ndarray with a buffer", 1},
    {DTYPE("O8") STATE("|", "-1", "-1", "63") ".", NULL, 0},
    {DTYPE("O8") STATE("|", "-1", "-1", "0") ".", "a state that does not fit its type", 1},
    {DTYPE("u8") STATE("<", "-1", "-1", "63") ".", "a state that does not fit its type", 1},
    {DTYPE("f4") STATE("<", "-1", "-1", "0") ".", NULL, 0},
    {DTYPE("f4") STATE("<", "-1", "-1", "0") STATE("<", "-1", "-1", "0") ".", "a state that does not fit its type", 1},
    {DTYPE("U5") STATE("<", "20", "4", "8") ".", NULL, 0},
    {DTYPE("U5") STATE("<", "21", "4", "8") ".", "a state that does not fit its type", 1},
    {DTYPE("S5") STATE("|", "5", "0", "0") ".", "a state that does not fit its type", 1},
    {"cnumpy\ndtype\n(cml_dtypes\nbfloat16\nI00\nI01\ntR" STATE("<", "2", "2", "112") ".", NULL, 0},
    {"cnumpy\ndtype\n(cml_dtypes\nbfloat16\nI00\nI01\ntR" STATE("<", "1", "1", "112") ".", "does not fit its type", 1},
    {STRUCT("4", "12", "27") ".", NULL, 0},
    {STRUCT("4", "12", "16") ".", "does not fit its type", 1},
    {STRUCT("5", "12", "27") ".", "does not fit its type", 1},
    {STRUCT("-8", "12", "27") ".", "does not fit its type", 1},
    {SUBARRAY("24", "0") ".", NULL, 0},
    {SUBARRAY("20", "0") ".", "does not fit its type", 1},
    {SUBARRAY("24", "63") ".", "does not fit its type", 1},
};

static void test_changes(void **state)
{
    (void)state;
    assert_ways(changes, sizeof changes / sizeof *changes);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callables),
        cmocka_unit_test(test_weights_only),
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_changes),
    };
    if (count > 1) callables = arguments[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
