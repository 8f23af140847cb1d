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

static const struct {
    const char *pickle, *named; /* `named`: what a warning says, or NULL for no warning */
    size_t warnings;
} ways[] = {
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
     "would call torch.storage._load_from_bytes", 2},
    {"ctorch.storage\n_load_from_bytes\n0N.", NULL, 0},
    {"ccollections\nOrderedDict\n)R.", NULL, 0},
};

static void test_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        size_t named;
        assert_int_equal(
            count_warnings(ways[i].pickle, strlen(ways[i].pickle), ways[i].named ? ways[i].named : "", &named),
            ways[i].warnings);
        if (ways[i].named && named == 0) fail_msg("not named: %s", ways[i].named);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callables),
        cmocka_unit_test(test_weights_only),
        cmocka_unit_test(test_ways),
    };
    if (count > 1) callables = arguments[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
