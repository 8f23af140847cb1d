/* SPDX-License-Identifier: MIT
 * The names that occur in pickles of PyTorch, from torch 0.1 to 2.x, and what each stands for. */
#include <string.h>

#include "base/text.h"
#include "read/torch/torch.h"

enum { NAMED_UNKNOWNS = 3 };

struct row {
    const char *name;
    enum sp_torch_role role;
};

static const struct row roles[] = {
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
    {"torch.storage._load_from_bytes", SP_TORCH_LOAD_FROM_BYTES},
    {"numpy.core.multiarray._reconstruct", SP_TORCH_ARRAY},
    {"numpy._core.multiarray._reconstruct", SP_TORCH_ARRAY},
    {"numpy.core.numeric._frombuffer", SP_TORCH_ARRAY_BUFFER},
    {"numpy._core.numeric._frombuffer", SP_TORCH_ARRAY_BUFFER},
    {"torch.nn.parameter.Parameter", SP_TORCH_PARAMETER},
    {"torch.nn.parameter.Buffer", SP_TORCH_PARAMETER},
    {"torch.Size", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.restore_type_tag", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.build_intlist", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.build_tensorlist", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.build_doublelist", SP_TORCH_TRANSPARENT},
    {"torch.jit._pickle.build_boollist", SP_TORCH_TRANSPARENT},
    {"torch.ScriptObject", SP_TORCH_SCRIPT_OBJECT},
    {"torch._C.ScriptObject", SP_TORCH_SCRIPT_OBJECT},
    {"torch._dynamo.eval_frame.OptimizedModule", SP_TORCH_COMPILED},
    {"builtins.list", SP_TORCH_TRANSPARENT},
    {"builtins.tuple", SP_TORCH_TRANSPARENT},
    {"builtins.set", SP_TORCH_TRANSPARENT},
    {"builtins.frozenset", SP_TORCH_TRANSPARENT},
    {"__builtin__.list", SP_TORCH_TRANSPARENT},
    {"__builtin__.tuple", SP_TORCH_TRANSPARENT},
    {"__builtin__.set", SP_TORCH_TRANSPARENT},
    {"__builtin__.frozenset", SP_TORCH_TRANSPARENT},
    {"collections.OrderedDict", SP_TORCH_MAPPING},
    {"collections.Counter", SP_TORCH_KNOWN},
    {"collections.defaultdict", SP_TORCH_KNOWN},
    {"argparse.Namespace", SP_TORCH_KNOWN},
    {"_codecs.encode", SP_TORCH_KNOWN},
    {"copyreg._reconstructor", SP_TORCH_KNOWN},
    {"copy_reg._reconstructor", SP_TORCH_KNOWN},
    {"builtins.bytearray", SP_TORCH_KNOWN},
    {"builtins.bytes", SP_TORCH_KNOWN},
    {"builtins.complex", SP_TORCH_KNOWN},
    {"builtins.dict", SP_TORCH_KNOWN},
    {"builtins.object", SP_TORCH_KNOWN},
    {"__builtin__.bytearray", SP_TORCH_KNOWN},
    {"__builtin__.bytes", SP_TORCH_KNOWN},
    {"__builtin__.complex", SP_TORCH_KNOWN},
    {"__builtin__.dict", SP_TORCH_KNOWN},
    {"__builtin__.object", SP_TORCH_KNOWN},
    {"pathlib.PosixPath", SP_TORCH_KNOWN},
    {"pathlib.WindowsPath", SP_TORCH_KNOWN},
    {"pathlib._local.PosixPath", SP_TORCH_KNOWN},
    {"pathlib._local.WindowsPath", SP_TORCH_KNOWN},
    {"numpy.dtype", SP_TORCH_KNOWN},
    {"numpy.ndarray", SP_TORCH_KNOWN},
    {"torch.load", SP_TORCH_DANGEROUS},
    {"torch.serialization.load", SP_TORCH_DANGEROUS},
    {"torch.jit.load", SP_TORCH_DANGEROUS},
    {"operator.attrgetter", SP_TORCH_DANGEROUS},
    {"operator.methodcaller", SP_TORCH_DANGEROUS},
    {"types.CodeType", SP_TORCH_DANGEROUS},
    {"types.FunctionType", SP_TORCH_DANGEROUS},
    {"numpy.testing._private.utils.runstring", SP_TORCH_DANGEROUS},
};

/* Whole modules and packages: "name." and everything below it. The harmless exceptions of builtins stand above. */
static const struct row packages[] = {
    {"builtins.", SP_TORCH_DANGEROUS},
    {"__builtin__.", SP_TORCH_DANGEROUS},
    {"os.", SP_TORCH_DANGEROUS},
    {"posix.", SP_TORCH_DANGEROUS},
    {"nt.", SP_TORCH_DANGEROUS},
    {"subprocess.", SP_TORCH_DANGEROUS},
    {"sys.", SP_TORCH_DANGEROUS},
    {"commands.", SP_TORCH_DANGEROUS},
    {"runpy.", SP_TORCH_DANGEROUS},
    {"importlib.", SP_TORCH_DANGEROUS},
    {"imp.", SP_TORCH_DANGEROUS},
    {"socket.", SP_TORCH_DANGEROUS},
    {"shutil.", SP_TORCH_DANGEROUS},
    {"ctypes.", SP_TORCH_DANGEROUS},
    {"pty.", SP_TORCH_DANGEROUS},
    {"webbrowser.", SP_TORCH_DANGEROUS},
    {"code.", SP_TORCH_DANGEROUS},
    {"codeop.", SP_TORCH_DANGEROUS},
    {"pickle.", SP_TORCH_DANGEROUS},
    {"_pickle.", SP_TORCH_DANGEROUS},
    {"marshal.", SP_TORCH_DANGEROUS},
    {"dill.", SP_TORCH_DANGEROUS},
    {"cloudpickle.", SP_TORCH_DANGEROUS},
    {"asyncio.", SP_TORCH_DANGEROUS},
    {"multiprocessing.", SP_TORCH_DANGEROUS},
    {"timeit.", SP_TORCH_DANGEROUS},
    {"cProfile.", SP_TORCH_DANGEROUS},
    {"profile.", SP_TORCH_DANGEROUS},
    {"pdb.", SP_TORCH_DANGEROUS},
    {"bdb.", SP_TORCH_DANGEROUS},
    {"trace.", SP_TORCH_DANGEROUS},
    {"pip.", SP_TORCH_DANGEROUS},
    {"ensurepip.", SP_TORCH_DANGEROUS},
    {"venv.", SP_TORCH_DANGEROUS},
    {"urllib.", SP_TORCH_DANGEROUS},
    {"http.", SP_TORCH_DANGEROUS},
    {"requests.", SP_TORCH_DANGEROUS},
    {"ftplib.", SP_TORCH_DANGEROUS},
    {"smtplib.", SP_TORCH_DANGEROUS},
    {"telnetlib.", SP_TORCH_DANGEROUS},
    {"torch.hub.", SP_TORCH_DANGEROUS},
    {"torch.utils.cpp_extension.", SP_TORCH_DANGEROUS},
    {"__torch__.", SP_TORCH_KNOWN},
    {"torch.", SP_TORCH_KNOWN},
    {"megatron.core.dist_checkpointing.", SP_TORCH_KNOWN},
    {"numpy.", SP_TORCH_KNOWN},
};

/* ---- element types ---- */

struct storage_row {
    const char *name;
    enum sp_dtype dtype;
    unsigned element_size; /* of the storage, where several quantised values share a byte */
};

static const struct storage_row storage_classes[] = {
    {"Double", SP_DTYPE_F64, 8},
    {"Float", SP_DTYPE_F32, 4},
    {"Half", SP_DTYPE_F16, 2},
    {"BFloat16", SP_DTYPE_BF16, 2},
    {"Long", SP_DTYPE_I64, 8},
    {"Int", SP_DTYPE_I32, 4},
    {"Short", SP_DTYPE_I16, 2},
    {"Char", SP_DTYPE_I8, 1},
    {"Byte", SP_DTYPE_U8, 1},
    {"Bool", SP_DTYPE_BOOL, 1},
    {"ComplexHalf", SP_DTYPE_C32, 4},
    {"ComplexFloat", SP_DTYPE_C64, 8},
    {"ComplexDouble", SP_DTYPE_C128, 16},
    {"QInt8", SP_DTYPE_QI8, 1},
    {"QUInt8", SP_DTYPE_QU8, 1},
    {"QInt32", SP_DTYPE_QI32, 4},
    {"QUInt4x2", SP_DTYPE_QU4X2, 1},
    {"QUInt2x4", SP_DTYPE_QU2X4, 1},
    {"Float8_e5m2", SP_DTYPE_F8_E5M2, 1},
    {"Float8_e4m3fn", SP_DTYPE_F8_E4M3, 1},
};

static const struct {
    const char *name;
    enum sp_dtype dtype;
} dtypes[] = {
    {"bool", SP_DTYPE_BOOL},
    {"uint8", SP_DTYPE_U8},
    {"int8", SP_DTYPE_I8},
    {"uint16", SP_DTYPE_U16},
    {"int16", SP_DTYPE_I16},
    {"uint32", SP_DTYPE_U32},
    {"int32", SP_DTYPE_I32},
    {"uint64", SP_DTYPE_U64},
    {"int64", SP_DTYPE_I64},
    {"float16", SP_DTYPE_F16},
    {"bfloat16", SP_DTYPE_BF16},
    {"float32", SP_DTYPE_F32},
    {"float64", SP_DTYPE_F64},
    {"complex32", SP_DTYPE_C32},
    {"complex64", SP_DTYPE_C64},
    {"complex128", SP_DTYPE_C128},
    {"float8_e4m3fn", SP_DTYPE_F8_E4M3},
    {"float8_e5m2", SP_DTYPE_F8_E5M2},
    {"float8_e8m0fnu", SP_DTYPE_F8_E8M0},
    {"float8_e4m3fnuz", SP_DTYPE_F8_E4M3FNUZ},
    {"float8_e5m2fnuz", SP_DTYPE_F8_E5M2FNUZ},
    {"qint8", SP_DTYPE_QI8},
    {"quint8", SP_DTYPE_QU8},
    {"qint32", SP_DTYPE_QI32},
    {"quint4x2", SP_DTYPE_QU4X2},
    {"quint2x4", SP_DTYPE_QU2X4},
};

static bool begins_with(const char *text, const char *prefix) { return !strncmp(text, prefix, strlen(prefix)); }

/* "torch.cuda.FloatStorage" with the suffix "Storage" -> its row. */
static const struct storage_row *storage_row(const char *name, const char *suffix)
{
    const char *dot = strrchr(name, '.');
    const size_t length = strlen(dot + 1), tail = strlen(suffix);
    if (!begins_with(name, "torch.") || length < tail || strcmp(dot + 1 + length - tail, suffix)) return NULL;
    for (size_t i = 0; i < sizeof storage_classes / sizeof *storage_classes; i++)
        if (strlen(storage_classes[i].name) == length - tail &&
            !memcmp(storage_classes[i].name, dot + 1, length - tail))
            return &storage_classes[i];
    return NULL;
}

/* ---- roles ---- */

static enum sp_torch_role find_role(const char *name)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (!strcmp(name, roles[i].name)) return roles[i].role;
    if (storage_row(name, "Tensor")) return SP_TORCH_OLD_TENSOR;
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (begins_with(name, packages[i].name)) return packages[i].role;
    return SP_TORCH_UNKNOWN;
}

enum sp_torch_role sp_torch_role(const struct sp_pickle_value *value)
{
    if (sp_pickle_is(value, SP_PICKLE_OBJECT)) value = value->as.object->callable;
    if (!sp_pickle_is(value, SP_PICKLE_GLOBAL)) return SP_TORCH_UNKNOWN;
    struct sp_pickle_value *global = (struct sp_pickle_value *)value; /* the tag remembers the answer */
    if (!global->tag) global->tag = (uint32_t)find_role(global->as.global->name) + 1;
    return (enum sp_torch_role)(global->tag - 1);
}

bool sp_torch_dtype_word(const char *word, enum sp_dtype *dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (!strcmp(word, dtypes[i].name)) {
            *dtype = dtypes[i].dtype;
            return true;
        }
    return false;
}

bool sp_torch_dtype(const struct sp_pickle_value *value, enum sp_dtype *dtype, const char **name)
{
    const char *full = sp_pickle_is(value, SP_PICKLE_GLOBAL) ? sp_pickle_name(value) : NULL;
    if (!full || !begins_with(full, "torch.") || strchr(full + 6, '.')) return false;
    *dtype = SP_DTYPE_UNKNOWN;
    *name = sp_torch_dtype_word(full + 6, dtype) ? sp_dtype_name(*dtype) : full + 6;
    return true;
}

bool sp_torch_storage_class(const struct sp_pickle_value *value, enum sp_dtype *dtype, unsigned *element_size,
                            bool *untyped)
{
    const char *name = sp_pickle_is(value, SP_PICKLE_GLOBAL) ? sp_pickle_name(value) : NULL;
    if (!name) return false;
    const struct storage_row *row = storage_row(name, "Storage");
    const char *last = strrchr(name, '.') + 1;
    *untyped = !strcmp(last, "UntypedStorage") || !strcmp(last, "_UntypedStorage");
    *dtype = row ? row->dtype : SP_DTYPE_UNKNOWN;
    *element_size = row ? row->element_size : *untyped;
    return true;
}

/* ---- warnings ---- */

void sp_torch_warn_globals(const struct sp_pickle *pickle, struct sp_inventory *inventory)
{
    struct sp_text names = {0};
    size_t unknowns = 0;
    for (size_t i = 0; i < pickle->global_count; i++) {
        const struct sp_pickle_global *global = pickle->globals[i]->as.global;
        const enum sp_torch_role role = sp_torch_role(pickle->globals[i]);
        if (role == SP_TORCH_DANGEROUS) sp_inventory_suspect_global(inventory, global->name, global->called);
        if (role != SP_TORCH_UNKNOWN || !global->called) continue;
        if (unknowns++ < NAMED_UNKNOWNS) sp_text_printf(&names, "%s%s", unknowns > 1 ? ", " : "", global->name);
    }
    if (unknowns > NAMED_UNKNOWNS) sp_text_printf(&names, " and %zu more", unknowns - NAMED_UNKNOWNS);
    if (unknowns) sp_inventory_warn(inventory, "objects of other classes, read as plain data: %s", names.data);
    sp_text_free(&names);
}
