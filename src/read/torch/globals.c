/* SPDX-License-Identifier: MIT
 * The names that occur in pickles of PyTorch, from torch 0.1 to 2.x: what each stands for, and which of them are
 * harmless.
 *
 * A name is harmless only if it is listed here, module and name exactly: what it names neither runs what the file says,
 * nor opens, imports or unpickles anything else, whatever its arguments are. A function that calls one of its arguments
 * (_rebuild_from_type_v2, defaultdict) is listed as well, because that argument is a name of the file, too, and judged
 * as such whether or not the file calls it itself. The list is torch's own for weights_only=True, and what saved
 * checkpoints have besides. Every other name is reported. */
#include <string.h>

#include "base/chars.h"
#include "base/dtype_word.h"
#include "base/text.h"
#include "read/torch/torch.h"

enum { NAMED_UNKNOWNS = 3 };

#define LOAD_FROM_BYTES "torch.storage._load_from_bytes"

struct row {
    const char *name;
    enum sp_torch_role role;
};

/* Harmless, each with what it does. */
static const struct row harmless[] = {
    /* Tensors from storages, shapes and numbers: on torch's own list, or their forms of other releases and devices. */
    {"torch._utils._rebuild_tensor", SP_TORCH_TENSOR},
    {"torch._utils._rebuild_tensor_v2", SP_TORCH_TENSOR},
    {"torch._utils._rebuild_tensor_v3", SP_TORCH_TENSOR_V3},
    {"torch._utils._rebuild_qtensor", SP_TORCH_TENSOR},
    {"torch._utils._rebuild_parameter", SP_TORCH_PARAMETER},
    {"torch._utils._rebuild_parameter_with_state", SP_TORCH_PARAMETER},
    {"torch._utils._rebuild_nested_tensor", SP_TORCH_PARAMETER}, /* its first argument is the buffer */
    {"torch._utils._rebuild_device_tensor_from_cpu_tensor", SP_TORCH_PARAMETER},
    {"torch._utils._rebuild_meta_tensor_no_storage", SP_TORCH_META},
    {"torch._utils._rebuild_wrapper_subclass", SP_TORCH_WRAPPER},
    {"torch._utils._rebuild_sparse_tensor", SP_TORCH_SPARSE},
    {"torch._utils._rebuild_sparse_csr_tensor", SP_TORCH_SPARSE},
    {"torch._utils._rebuild_device_tensor_from_numpy", SP_TORCH_FROM_NUMPY},
    {"torch._utils._rebuild_xla_tensor", SP_TORCH_FROM_NUMPY},
    {"torch._tensor._rebuild_from_type_v2", SP_TORCH_FROM_TYPE},
    {"torch._tensor._rebuild_from_type", SP_TORCH_FROM_TYPE},
    {"torch.tensor._rebuild_from_type", SP_TORCH_FROM_TYPE},
    {"torch.nested._internal.nested_tensor.NestedTensor", SP_TORCH_KNOWN},
    {"torch.nested._internal.nested_tensor._rebuild_njt", SP_TORCH_KNOWN},
    {"torch.distributed._serialization._Entry", SP_TORCH_KNOWN}, /* a record: where a storage is in a stream */
    {"torch._dynamo.decorators._DimRange", SP_TORCH_KNOWN},      /* a record of such a tensor */
    {"torch.Tensor", SP_TORCH_KNOWN},
    {"torch.nn.parameter.Parameter", SP_TORCH_PARAMETER},
    {"torch.nn.parameter.Buffer", SP_TORCH_PARAMETER},
    {"torch.nn.parameter.UninitializedParameter", SP_TORCH_KNOWN}, /* an empty one of a lazy module */
    {"torch.nn.parameter.UninitializedBuffer", SP_TORCH_KNOWN},
    /* Numbers, enumerators and bytes in memory. */
    {"torch.Size", SP_TORCH_TRANSPARENT},
    {"torch.device", SP_TORCH_KNOWN},
    {"torch.serialization._get_layout", SP_TORCH_KNOWN}, /* a word to the layout of that name, from a table */
    {"torch.storage.TypedStorage", SP_TORCH_KNOWN},
    {"torch.storage.UntypedStorage", SP_TORCH_KNOWN},
    {"torch.storage._UntypedStorage", SP_TORCH_KNOWN},
    {"torch.UntypedStorage", SP_TORCH_KNOWN},
    {"torch.per_tensor_affine", SP_TORCH_KNOWN},
    {"torch.per_tensor_symmetric", SP_TORCH_KNOWN},
    {"torch.per_channel_affine", SP_TORCH_KNOWN},
    {"torch.per_channel_symmetric", SP_TORCH_KNOWN},
    {"torch.per_channel_affine_float_qparams", SP_TORCH_KNOWN},
    {"torch.contiguous_format", SP_TORCH_KNOWN},
    {"torch.preserve_format", SP_TORCH_KNOWN},
    {"torch.channels_last", SP_TORCH_KNOWN},
    {"torch.channels_last_3d", SP_TORCH_KNOWN},
    {"_io.BytesIO", SP_TORCH_KNOWN},
    /* Unpickles its argument, which is judged in turn: see judge_nested. */
    {LOAD_FROM_BYTES, SP_TORCH_LOAD_FROM_BYTES},
    /* Functions of tensors alone, which modules keep as attributes. */
    {"torch.nn.functional.relu", SP_TORCH_FUNCTION},
    {"torch.nn.functional.gelu", SP_TORCH_FUNCTION},
    {"torch.nn.functional.silu", SP_TORCH_FUNCTION},
    {"torch._C._nn.gelu", SP_TORCH_FUNCTION},
    {"torch.nn.backends.thnn._get_thnn_function_backend", SP_TORCH_KNOWN}, /* before 1.2: a table of functions */
    /* What TorchScript writes: its C++ reader makes the values, and Python's functions of these names do the same. */
    {"torch.jit._pickle.restore_type_tag", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.build_intlist", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.build_tensorlist", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.build_doublelist", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.build_boollist", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.build_tensor_from_id", SP_TORCH_KNOWN},
    {"torch.ScriptObject", SP_TORCH_SCRIPT_OBJECT},
    {"torch._C.ScriptObject", SP_TORCH_SCRIPT_OBJECT},
    /* How a tensor is divided among processes: plain records, which torch.distributed registers with torch's list. */
    {"torch.distributed.tensor.DTensor", SP_TORCH_KNOWN},
    {"torch.distributed.tensor._dtensor_spec.DTensorSpec", SP_TORCH_KNOWN},
    {"torch.distributed.tensor._dtensor_spec.ShardOrderEntry", SP_TORCH_KNOWN},
    {"torch.distributed.tensor._dtensor_spec.TensorMeta", SP_TORCH_KNOWN},
    {"torch.distributed.tensor.placement_types.Partial", SP_TORCH_KNOWN},
    {"torch.distributed.tensor.placement_types.Replicate", SP_TORCH_KNOWN},
    {"torch.distributed.tensor.placement_types.Shard", SP_TORCH_KNOWN},
    {"torch.distributed.tensor.placement_types._StridedShard", SP_TORCH_KNOWN},
    {"torch.distributed.device_mesh.DeviceMesh", SP_TORCH_KNOWN},
    {"torch.distributed._mesh_layout._FlatLayout", SP_TORCH_KNOWN},
    {"torch.distributed._mesh_layout._MeshLayout", SP_TORCH_KNOWN},
    /* The same before 2.5. */
    {"torch.distributed._tensor.DTensor", SP_TORCH_KNOWN},
    {"torch.distributed._tensor.api.DTensor", SP_TORCH_KNOWN},
    {"torch.distributed._tensor.placement_types.DTensorSpec", SP_TORCH_KNOWN},
    {"torch.distributed._tensor.placement_types.TensorMeta", SP_TORCH_KNOWN},
    {"torch.distributed._tensor.placement_types._Partial", SP_TORCH_KNOWN},
    {"torch.distributed._tensor.placement_types.Replicate", SP_TORCH_KNOWN},
    {"torch.distributed._tensor.placement_types.Shard", SP_TORCH_KNOWN},
    {"torch.distributed._device_mesh.DeviceMesh", SP_TORCH_KNOWN},
    /* The records and enumerators of the .metadata of a distributed checkpoint. */
    {"torch.distributed.checkpoint.metadata.BytesStorageMetadata", SP_TORCH_KNOWN},
    {"torch.distributed.checkpoint.metadata.ChunkStorageMetadata", SP_TORCH_KNOWN},
    {"torch.distributed.checkpoint.metadata.Metadata", SP_TORCH_KNOWN},
    {"torch.distributed.checkpoint.metadata.MetadataIndex", SP_TORCH_KNOWN},
    {"torch.distributed.checkpoint.metadata.StorageMeta", SP_TORCH_KNOWN},
    {"torch.distributed.checkpoint.metadata.TensorProperties", SP_TORCH_KNOWN},
    {"torch.distributed.checkpoint.metadata.TensorStorageMetadata", SP_TORCH_KNOWN},
    {"torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING", SP_TORCH_KNOWN},
    {"torch.distributed.checkpoint.filesystem._StorageInfo", SP_TORCH_KNOWN},
    {"torch.distributed._shard.checkpoint.metadata.BytesStorageMetadata", SP_TORCH_KNOWN},
    {"torch.distributed._shard.checkpoint.metadata.ChunkStorageMetadata", SP_TORCH_KNOWN},
    {"torch.distributed._shard.checkpoint.metadata.Metadata", SP_TORCH_KNOWN},
    {"torch.distributed._shard.checkpoint.metadata.MetadataIndex", SP_TORCH_KNOWN},
    {"torch.distributed._shard.checkpoint.metadata.StorageMeta", SP_TORCH_KNOWN},
    {"torch.distributed._shard.checkpoint.metadata.TensorProperties", SP_TORCH_KNOWN},
    {"torch.distributed._shard.checkpoint.metadata.TensorStorageMetadata", SP_TORCH_KNOWN},
    {"torch.distributed._shard.checkpoint.metadata._MEM_FORMAT_ENCODING", SP_TORCH_KNOWN},
    {"torch.distributed._shard.checkpoint.filesystem._StorageInfo", SP_TORCH_KNOWN},
    {"megatron.core.dist_checkpointing.strategies.torch.MCoreMetadata", SP_TORCH_KNOWN},
    /* DeepSpeed: what is in the files of its optimizers. Each keeps its arguments or its state, and does nothing else.
     */
    {"deepspeed.runtime.fp16.loss_scaler.LossScaler", SP_TORCH_KNOWN},
    {"deepspeed.runtime.fp16.loss_scaler.DynamicLossScaler", SP_TORCH_KNOWN},
    {"deepspeed.runtime.zero.config.ZeroStageEnum", SP_TORCH_KNOWN},
    {"deepspeed.utils.tensor_fragment.fragment_address", SP_TORCH_KNOWN},
    /* Quantised tensors of torchao, which it registers with torch's list. */
    {"torchao.quantization.Float8Tensor", SP_TORCH_KNOWN},
    {"torchao.quantization.Int4Tensor", SP_TORCH_KNOWN},
    {"torchao.quantization.Int8Tensor", SP_TORCH_KNOWN},
    {"torchao.quantization.IntxUnpackedToInt8Tensor", SP_TORCH_KNOWN},
    {"torchao.quantization.quantize_.common.kernel_preference.KernelPreference", SP_TORCH_KNOWN},
    {"torchao.optim.subclass_8bit.OptimState8bit", SP_TORCH_KNOWN},
    {"torchao.optim.subclass_4bit.OptimState4bit", SP_TORCH_KNOWN},
    {"torchao.optim.subclass_fp8.OptimStateFp8", SP_TORCH_KNOWN},
    /* NumPy: arrays, scalars, and the states of its random generators, made from bytes and numbers. */
    {"numpy.core.multiarray._reconstruct", SP_TORCH_ARRAY},
    {"numpy._core.multiarray._reconstruct", SP_TORCH_ARRAY},
    {"numpy.core.numeric._frombuffer", SP_TORCH_ARRAY_BUFFER},
    {"numpy._core.numeric._frombuffer", SP_TORCH_ARRAY_BUFFER},
    {"numpy.core.multiarray.scalar", SP_TORCH_KNOWN},
    {"numpy._core.multiarray.scalar", SP_TORCH_KNOWN},
    {"numpy.dtype", SP_TORCH_KNOWN},
    {"numpy.ndarray", SP_TORCH_KNOWN},
    {"numpy.bool_", SP_TORCH_KNOWN},
    {"numpy.bool", SP_TORCH_KNOWN},
    {"numpy.int8", SP_TORCH_KNOWN},
    {"numpy.int16", SP_TORCH_KNOWN},
    {"numpy.int32", SP_TORCH_KNOWN},
    {"numpy.int64", SP_TORCH_KNOWN},
    {"numpy.uint8", SP_TORCH_KNOWN},
    {"numpy.uint16", SP_TORCH_KNOWN},
    {"numpy.uint32", SP_TORCH_KNOWN},
    {"numpy.uint64", SP_TORCH_KNOWN},
    {"numpy.float16", SP_TORCH_KNOWN},
    {"numpy.float32", SP_TORCH_KNOWN},
    {"numpy.float64", SP_TORCH_KNOWN},
    {"numpy.complex64", SP_TORCH_KNOWN},
    {"numpy.complex128", SP_TORCH_KNOWN},
    {"numpy.random._pickle.__bit_generator_ctor", SP_TORCH_KNOWN},
    {"numpy.random._pickle.__generator_ctor", SP_TORCH_KNOWN},
    {"numpy.random._pickle.__randomstate_ctor", SP_TORCH_KNOWN},
    {"numpy.random._mt19937.MT19937", SP_TORCH_KNOWN},
    {"numpy.random._pcg64.PCG64", SP_TORCH_KNOWN},
    {"numpy.random.bit_generator.SeedSequence", SP_TORCH_KNOWN},
    {"numpy.random.bit_generator.__pyx_unpickle_SeedSequence", SP_TORCH_KNOWN},
    {"ml_dtypes.bfloat16", SP_TORCH_KNOWN},
    {"ml_dtypes.float8_e3m4", SP_TORCH_KNOWN},
    {"ml_dtypes.float8_e4m3", SP_TORCH_KNOWN},
    {"ml_dtypes.float8_e4m3b11fnuz", SP_TORCH_KNOWN},
    {"ml_dtypes.float8_e4m3fn", SP_TORCH_KNOWN},
    {"ml_dtypes.float8_e4m3fnuz", SP_TORCH_KNOWN},
    {"ml_dtypes.float8_e5m2", SP_TORCH_KNOWN},
    {"ml_dtypes.float8_e5m2fnuz", SP_TORCH_KNOWN},
    {"ml_dtypes.float8_e8m0fnu", SP_TORCH_KNOWN},
    {"ml_dtypes.float4_e2m1fn", SP_TORCH_KNOWN},
    {"ml_dtypes.float6_e2m3fn", SP_TORCH_KNOWN},
    {"ml_dtypes.float6_e3m2fn", SP_TORCH_KNOWN},
    {"ml_dtypes.int2", SP_TORCH_KNOWN},
    {"ml_dtypes.int4", SP_TORCH_KNOWN},
    {"ml_dtypes.uint2", SP_TORCH_KNOWN},
    {"ml_dtypes.uint4", SP_TORCH_KNOWN},
    /* Python's own containers, numbers and texts, under the name of Python 3 and of Python 2. */
    {"builtins.list", SP_TORCH_TRANSPARENT},
    {"builtins.tuple", SP_TORCH_TRANSPARENT},
    {"builtins.set", SP_TORCH_TRANSPARENT},
    {"builtins.frozenset", SP_TORCH_TRANSPARENT},
    {"builtins.bool", SP_TORCH_KNOWN},
    {"builtins.int", SP_TORCH_KNOWN},
    {"builtins.float", SP_TORCH_KNOWN},
    {"builtins.complex", SP_TORCH_KNOWN},
    {"builtins.str", SP_TORCH_KNOWN},
    {"builtins.bytes", SP_TORCH_KNOWN},
    {"builtins.bytearray", SP_TORCH_KNOWN},
    {"builtins.dict", SP_TORCH_MAPPING},
    {"builtins.object", SP_TORCH_KNOWN},
    {"builtins.range", SP_TORCH_KNOWN},
    {"builtins.slice", SP_TORCH_KNOWN},
    {"__builtin__.list", SP_TORCH_TRANSPARENT},
    {"__builtin__.tuple", SP_TORCH_TRANSPARENT},
    {"__builtin__.set", SP_TORCH_TRANSPARENT},
    {"__builtin__.frozenset", SP_TORCH_TRANSPARENT},
    {"__builtin__.bool", SP_TORCH_KNOWN},
    {"__builtin__.int", SP_TORCH_KNOWN},
    {"__builtin__.long", SP_TORCH_KNOWN},
    {"__builtin__.float", SP_TORCH_KNOWN},
    {"__builtin__.complex", SP_TORCH_KNOWN},
    {"__builtin__.str", SP_TORCH_KNOWN},
    {"__builtin__.unicode", SP_TORCH_KNOWN},
    {"__builtin__.bytes", SP_TORCH_KNOWN},
    {"__builtin__.bytearray", SP_TORCH_KNOWN},
    {"__builtin__.dict", SP_TORCH_MAPPING},
    {"__builtin__.object", SP_TORCH_KNOWN},
    {"__builtin__.xrange", SP_TORCH_KNOWN},
    {"__builtin__.slice", SP_TORCH_KNOWN},
    {"collections.OrderedDict", SP_TORCH_MAPPING},
    {"collections.Counter", SP_TORCH_MAPPING},
    {"collections.defaultdict", SP_TORCH_MAPPING}, /* calls its argument without any: a name as well */
    {"collections.deque", SP_TORCH_KNOWN},
    {"argparse.Namespace", SP_TORCH_KNOWN},
    {"types.SimpleNamespace", SP_TORCH_KNOWN},
    {"_codecs.encode", SP_TORCH_KNOWN},                 /* what protocol 2 has for bytes; on torch's own list */
    {"copyreg._reconstructor", SP_TORCH_RECONSTRUCTOR}, /* makes an instance of a class, which is a name as well */
    {"copy_reg._reconstructor", SP_TORCH_RECONSTRUCTOR},
    {"pathlib.PosixPath", SP_TORCH_KNOWN}, /* the path, not what is there */
    {"pathlib.WindowsPath", SP_TORCH_KNOWN},
    {"pathlib._local.PosixPath", SP_TORCH_KNOWN},
    {"pathlib._local.WindowsPath", SP_TORCH_KNOWN},
    {"datetime.date", SP_TORCH_KNOWN},
    {"datetime.datetime", SP_TORCH_KNOWN},
    {"datetime.timedelta", SP_TORCH_KNOWN},
    {"datetime.timezone", SP_TORCH_KNOWN},
};

/* Classes that are read, and whose own code runs when they are unpickled: they are reported as others are. */
static const struct row read_and_reported[] = {
    {"torch._dynamo.eval_frame.OptimizedModule", SP_TORCH_COMPILED},
};

/* Where a class may run what its arguments say: modules and packages, "name." and everything below it. A class of any
 * other package is reported as a class; a function, an attribute of an attribute, and what is below one of these, as
 * what runs code. */
static const char *const dangerous[] = {
    "torch.",
    "numpy.",
    "builtins.",
    "__builtin__.",
    "os.",
    "posix.",
    "nt.",
    "subprocess.",
    "sys.",
    "commands.",
    "runpy.",
    "importlib.",
    "imp.",
    "socket.",
    "ssl.",
    "shutil.",
    "ctypes.",
    "_ctypes.",
    "pty.",
    "webbrowser.",
    "code.",
    "codeop.",
    "pickle.",
    "_pickle.",
    "marshal.",
    "dill.",
    "cloudpickle.",
    "joblib.",
    "asyncio.",
    "multiprocessing.",
    "concurrent.",
    "threading.",
    "timeit.",
    "cProfile.",
    "profile.",
    "pdb.",
    "bdb.",
    "trace.",
    "pip.",
    "ensurepip.",
    "venv.",
    "urllib.",
    "urllib2.",
    "http.",
    "httplib.",
    "requests.",
    "aiohttp.",
    "ftplib.",
    "smtplib.",
    "telnetlib.",
    "imaplib.",
    "poplib.",
    "socketserver.",
    "xmlrpc.",
    "operator.",
    "_operator.",
    "functools.",
    "itertools.",
    "types.",
    "inspect.",
    "logging.",
    "_io.",
    "io.",
    "tempfile.",
    "zipimport.",
    "pkgutil.",
    "distutils.",
    "setuptools.",
    "pydoc.",
    "doctest.",
    "unittest.",
    "test.",
    "idlelib.",
    "lib2to3.",
    "uuid.",
    "signal.",
    "gc.",
    "atexit.",
    "_posixsubprocess.",
    "_osx_support.",
    "_aix_support.",
    "_pyrepl.",
    "sqlite3.",
    "shelve.",
};

/* Of torch, where the classes of models and optimizers are, which people pickle whole. */
static const char *const models[] = {"torch.nn.", "torch.optim.", "torch.ao.nn.", "torch.quantization.",
                                     "torch._dynamo."};

/* ---- element types ---- */

struct storage_row {
    const char *name;
    enum shapeproof_dtype dtype;
    unsigned element_size; /* of the storage, where several quantised values share a byte */
};

static const struct storage_row storage_classes[] = {
    {"Double", SHAPEPROOF_DTYPE_F64, 8},
    {"Float", SHAPEPROOF_DTYPE_F32, 4},
    {"Half", SHAPEPROOF_DTYPE_F16, 2},
    {"BFloat16", SHAPEPROOF_DTYPE_BF16, 2},
    {"Long", SHAPEPROOF_DTYPE_I64, 8},
    {"Int", SHAPEPROOF_DTYPE_I32, 4},
    {"Short", SHAPEPROOF_DTYPE_I16, 2},
    {"Char", SHAPEPROOF_DTYPE_I8, 1},
    {"Byte", SHAPEPROOF_DTYPE_U8, 1},
    {"Bool", SHAPEPROOF_DTYPE_BOOL, 1},
    {"ComplexFloat", SHAPEPROOF_DTYPE_C64, 8},
    {"ComplexDouble", SHAPEPROOF_DTYPE_C128, 16},
    {"QInt8", SHAPEPROOF_DTYPE_QI8, 1},
    {"QUInt8", SHAPEPROOF_DTYPE_QU8, 1},
    {"QInt32", SHAPEPROOF_DTYPE_QI32, 4},
    {"QUInt4x2", SHAPEPROOF_DTYPE_QU4X2, 1},
    {"QUInt2x4", SHAPEPROOF_DTYPE_QU2X4, 1},
    {"Float8_e5m2", SHAPEPROOF_DTYPE_F8_E5M2, 1},
    {"Float8_e4m3fn", SHAPEPROOF_DTYPE_F8_E4M3, 1},
};

/* "torch.cuda.FloatStorage" with the suffix "Storage" -> its row: of the modules that have such classes. */
static const struct storage_row *storage_row(const char *name, const char *suffix)
{
    static const char *const modules[] = {"torch", "torch.cuda", "torch.sparse", "torch.cuda.sparse"};
    const char *dot = strrchr(name, '.');
    const size_t length = strlen(dot + 1), tail = strlen(suffix);
    bool known = false;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        known = known || (strlen(modules[i]) == (size_t)(dot - name) && sp_begins_with(name, modules[i]));
    if (!known || length < tail || strcmp(dot + 1 + length - tail, suffix)) return NULL;
    for (size_t i = 0; i < sizeof storage_classes / sizeof *storage_classes; i++)
        if (strlen(storage_classes[i].name) == length - tail &&
            !memcmp(storage_classes[i].name, dot + 1, length - tail))
            return &storage_classes[i];
    return NULL;
}

/* ---- roles ---- */

/* torch.float8_e4m3fn, and dtypes without a common name: torch.bits8, torch.int4, torch.uint3. */
static bool is_dtype_name(const char *name)
{
    static const char *const others[] = {"bits8", "bits16", "bits1x8", "bits2x4", "bits4x2", "float4_e2m1fn_x2"};
    enum shapeproof_dtype dtype;
    if (!sp_begins_with(name, "torch.")) return false;
    const char *word = name + strlen("torch.");
    if (sp_torch_dtype_word(word, &dtype) || SP_IS_AMONG(word, others)) return true;
    word += *word == 'u';
    return sp_begins_with(word, "int") && word[3] >= '1' && word[3] <= '7' && !word[4];
}

static enum sp_torch_role find_role(const char *name)
{
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (!strcmp(name, harmless[i].name)) return harmless[i].role;
    for (size_t i = 0; i < sizeof read_and_reported / sizeof *read_and_reported; i++)
        if (!strcmp(name, read_and_reported[i].name)) return read_and_reported[i].role;
    if (storage_row(name, "Tensor")) return SP_TORCH_OLD_TENSOR;
    if (storage_row(name, "Storage") || is_dtype_name(name)) return SP_TORCH_KNOWN;
    /* A class of TorchScript, which its C++ reader makes of the code in the archive; Python has no such module. */
    return sp_begins_with(name, "__torch__.") ? SP_TORCH_KNOWN : SP_TORCH_UNKNOWN;
}

const char *sp_torch_python_name(const char *name)
{
    static const char *const modules[] = {"builtins.", "__builtin__."};
    return SP_BEGINS_WITH_ANY(name, modules) ? strchr(name, '.') + 1 : NULL;
}

enum sp_torch_role sp_torch_role(const struct sp_pickle_value *value)
{
    if (sp_pickle_is(value, SP_PICKLE_OBJECT)) value = value->as.object->callable;
    if (!sp_pickle_is(value, SP_PICKLE_GLOBAL)) return SP_TORCH_UNKNOWN;
    struct sp_pickle_value *global = (struct sp_pickle_value *)value; /* the tag remembers the answer */
    if (!global->tag) global->tag = (uint32_t)find_role(global->as.global->name) + 1;
    return (enum sp_torch_role)(global->tag - 1);
}

bool sp_torch_dtype(const struct sp_pickle_value *value, enum shapeproof_dtype *dtype, const char **name)
{
    const char *full = sp_pickle_is(value, SP_PICKLE_GLOBAL) ? sp_pickle_name(value) : NULL;
    if (!full || !sp_begins_with(full, "torch.") || strchr(full + 6, '.')) return false;
    *dtype = SHAPEPROOF_DTYPE_UNKNOWN;
    *name = sp_torch_dtype_word(full + 6, dtype) ? shapeproof_dtype_name(*dtype) : full + 6;
    return true;
}

bool sp_torch_storage_class(const struct sp_pickle_value *value, enum shapeproof_dtype *dtype, unsigned *element_size,
                            bool *untyped)
{
    const char *name = sp_pickle_is(value, SP_PICKLE_GLOBAL) ? sp_pickle_name(value) : NULL;
    if (!name) return false;
    const struct storage_row *row = storage_row(name, "Storage");
    const char *last = strrchr(name, '.') + 1;
    *untyped = !strcmp(last, "UntypedStorage") || !strcmp(last, "_UntypedStorage");
    *dtype = row ? row->dtype : SHAPEPROOF_DTYPE_UNKNOWN;
    *element_size = row ? row->element_size : *untyped;
    return true;
}

/* ---- warnings ---- */

bool sp_torch_is_harmless(const struct sp_pickle_value *global)
{
    const enum sp_torch_role role = sp_torch_role(global);
    return role != SP_TORCH_UNKNOWN && role != SP_TORCH_COMPILED && !global->as.global->dotted;
}

/* Whether a name that is not listed is that of a class of somebody's package: by its capital, as far as that tells. */
static bool is_class_of_a_package(const struct sp_pickle_global *global)
{
    const char *last = strrchr(global->name, '.') + 1;
    last += strspn(last, "_");
    if (global->dotted || *last < 'A' || *last > 'Z') return false;
    return !SP_BEGINS_WITH_ANY(global->name, dangerous) || SP_BEGINS_WITH_ANY(global->name, models);
}

/* Names the classes that are no part of torch first: the others are known to whoever has torch. */
static void warn_of_classes(const struct sp_pickle *pickle, struct shapeproof_inventory *inventory)
{
    struct sp_text names = {0};
    size_t count = 0;
    for (int torchs = 0; torchs < 2; torchs++)
        for (size_t i = 0; i < pickle->global_count; i++) {
            const struct sp_pickle_global *global = pickle->globals[i]->as.global;
            if (sp_torch_is_harmless(pickle->globals[i]) || !is_class_of_a_package(global) ||
                sp_begins_with(global->name, "torch.") != torchs)
                continue;
            if (count++ < NAMED_UNKNOWNS) sp_text_printf(&names, "%s%s", count > 1 ? ", " : "", global->name);
        }
    if (count > NAMED_UNKNOWNS) sp_text_printf(&names, " and %zu more", count - NAMED_UNKNOWNS);
    if (count)
        sp_inventory_warn(
            inventory, "objects of other classes, read as plain data; unpickling would run their code: %s", names.data);
    sp_text_free(&names);
}

/* Whether the first argument of a call has no other use: whoever shares it may change it. */
static bool has_argument_alone(const struct sp_pickle_value *call)
{
    const struct sp_pickle_value *argument = sp_pickle_arg(call, 0);
    return argument && argument->uses < 2 && call->as.object->args->uses < 2;
}

/* What _load_from_bytes is given is a checkpoint of its own: an old stream is read, and judged as this one. Bytes that
 * are something else or have another use, or a function that is handed on to whoever may call it, are not, and
 * reported. */
static void judge_nested(struct sp_torch *torch, const struct sp_pickle *pickle)
{
    bool unread = false;
    for (size_t i = 0; i < pickle->global_count; i++)
        unread = unread ||
                 (pickle->globals[i]->as.global->held && sp_torch_role(pickle->globals[i]) == SP_TORCH_LOAD_FROM_BYTES);
    for (size_t i = 0; i < pickle->call_count && !unread; i++) {
        struct shapeproof_error why = {0};
        unread = sp_torch_role(pickle->calls[i]) == SP_TORCH_LOAD_FROM_BYTES &&
                 !(has_argument_alone(pickle->calls[i]) && sp_torch_load_from_bytes(torch, pickle->calls[i], &why));
    }
    if (!unread) return;
    sp_inventory_suspect_global(torch->inventory, LOAD_FROM_BYTES, true);
    sp_inventory_warn(torch->inventory, "bytes that " LOAD_FROM_BYTES " would unpickle are not read: what they would "
                                        "run is not known");
}

void sp_torch_judge(struct sp_torch *torch, const struct sp_pickle *pickle, const char *name)
{
    if (pickle->odd_text && !sp_format_has(torch->inventory, SP_WITH_CODE))
        sp_inventory_warn(torch->inventory, "Python refuses it: %s has a text that is not UTF-8", name);
    for (size_t i = 0; i < pickle->global_count; i++) {
        const struct sp_pickle_global *global = pickle->globals[i]->as.global;
        if (!sp_torch_is_harmless(pickle->globals[i]) && !is_class_of_a_package(global))
            sp_inventory_suspect_global(torch->inventory, global->name, global->called);
    }
    warn_of_classes(pickle, torch->inventory);
    sp_torch_judge_changes(torch, pickle);
    judge_nested(torch, pickle);
}

bool sp_torch_read_pickle(struct sp_torch *torch, struct sp_pickle *pickle, const char *name, const void *data,
                          size_t length, struct shapeproof_error *error)
{
    if (!sp_pickle_read(pickle, &torch->arena, name, data, length, error)) return false;
    sp_torch_judge(torch, pickle, name);
    return true;
}
