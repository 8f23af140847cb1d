/* SPDX-License-Identifier: MIT
 * A type that libhdf5 cannot describe any further (it returns a failure) comes out as its class alone. */
#include "read/hdf5/types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/process/child.h"

static struct sp_h5_type known(enum shapeproof_dtype dtype, hid_t type)
{
    return (struct sp_h5_type){.dtype = dtype,
                               .big_endian = H5Tget_size(type) > 1 && H5Tget_order(type) == H5T_ORDER_BE};
}

enum { NO_SIZE = 0 };

/* A type without a dtype: "opaque16" for 16 bits, or with NO_SIZE the name alone. */
static struct sp_h5_type other_type(const char *name, size_t bits)
{
    struct sp_h5_type result = {.dtype = SHAPEPROOF_DTYPE_UNKNOWN};
    if (bits) snprintf(result.name, sizeof result.name, "%s%zu", name, bits);
    else snprintf(result.name, sizeof result.name, "%s", name);
    return result;
}

static struct sp_h5_type custom_float(size_t bits)
{
    struct sp_h5_type result = other_type("custom float", bits);
    result.custom = true;
    return result;
}

static struct sp_h5_type integer(hid_t type)
{
    static const enum shapeproof_dtype plain[9][2] = {[1] = {SHAPEPROOF_DTYPE_U8, SHAPEPROOF_DTYPE_I8},
                                                      [2] = {SHAPEPROOF_DTYPE_U16, SHAPEPROOF_DTYPE_I16},
                                                      [4] = {SHAPEPROOF_DTYPE_U32, SHAPEPROOF_DTYPE_I32},
                                                      [8] = {SHAPEPROOF_DTYPE_U64, SHAPEPROOF_DTYPE_I64}};
    const size_t size = H5Tget_size(type), bits = H5Tget_precision(type);
    const int offset = H5Tget_offset(type); /* of the lowest bit; negative when HDF5 fails */
    const bool is_signed = H5Tget_sign(type) == H5T_SGN_2, is_plain = size <= 8 && bits == 8 * size && plain[size][0];
    struct sp_h5_type result = is_plain ? known(plain[size][is_signed], type)
                                        : other_type(is_signed ? "int" : "uint", bits); /* or with padding bits */
    result.beyond = offset >= 0 && ((size_t)offset > 8 * size || bits > 8 * size - (size_t)offset);
    return result;
}

/* A float has a dtype only if it is stored as that dtype is: the sign is the highest bit, the exponent with its bias is
 * below it, then the mantissa with an implied leading 1. HDF5 describes any other float, too; it is called "custom
 * float32" where it has 32 bits. */
static struct sp_h5_type floating(hid_t type)
{
    static const struct {
        enum shapeproof_dtype dtype;
        size_t bits, exponent_bits, bias;
    } formats[] = {
        {SHAPEPROOF_DTYPE_F64, 64, 11, 1023}, {SHAPEPROOF_DTYPE_F32, 32, 8, 127},  {SHAPEPROOF_DTYPE_F16, 16, 5, 15},
        {SHAPEPROOF_DTYPE_BF16, 16, 8, 127},  {SHAPEPROOF_DTYPE_F8_E4M3, 8, 4, 7}, {SHAPEPROOF_DTYPE_F8_E5M2, 8, 5, 15},
    };
    size_t sign, exponent, exponent_bits = 0, mantissa, mantissa_bits = 0;
    const size_t size = H5Tget_size(type), bits = H5Tget_precision(type);
    const H5T_order_t order = H5Tget_order(type);
    if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0 || bits != 8 * size ||
        (size > 1 && order != H5T_ORDER_LE && order != H5T_ORDER_BE) || H5Tget_norm(type) != H5T_NORM_IMPLIED)
        return custom_float(bits);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (bits == formats[i].bits && exponent_bits == formats[i].exponent_bits && sign == bits - 1 &&
            exponent == sign - exponent_bits && mantissa == 0 && mantissa_bits == exponent &&
            H5Tget_ebias(type) == formats[i].bias)
            return known(formats[i].dtype, type);
    return custom_float(bits);
}

/* Each member has a name. The library gives none only without memory, which says nothing about the type: then the
 * process ends. */
static bool has_member(hid_t type, unsigned index, const char *wanted)
{
    char *name = H5Tget_member_name(type, index);
    if (!name) _exit(SP_CHILD_NO_MEMORY);
    const bool same = strcmp(name, wanted) == 0;
    H5free_memory(name);
    return same;
}

/* NumPy's booleans, as h5py writes them: an enumeration of FALSE and TRUE over one byte. */
static struct sp_h5_type enumeration(hid_t type)
{
    if (H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 && has_member(type, 0, "FALSE") &&
        has_member(type, 1, "TRUE"))
        return known(SHAPEPROOF_DTYPE_BOOL, type);
    errno = 0;
    const hid_t base = H5Tget_super(type);
    if (base < 0 && errno == ENOMEM) _exit(SP_CHILD_NO_MEMORY);
    if (base < 0) return other_type("enum", NO_SIZE);
    const struct sp_h5_type result = integer(base);
    H5Tclose(base);
    return result;
}

/* Complex numbers, as h5py writes them: two equal floats named r and i. */
static struct sp_h5_type compound(hid_t type)
{
    struct sp_h5_type result = other_type("compound", NO_SIZE);
    if (H5Tget_nmembers(type) != 2 || !has_member(type, 0, "r") || !has_member(type, 1, "i")) return result;
    const hid_t real = H5Tget_member_type(type, 0), imaginary = H5Tget_member_type(type, 1);
    if (real >= 0 && imaginary >= 0 && H5Tget_class(real) == H5T_FLOAT && H5Tequal(real, imaginary) > 0 &&
        H5Tget_size(type) == 2 * H5Tget_size(real)) {
        const struct sp_h5_type part = floating(real);
        result.custom = part.custom;
        if (part.dtype == SHAPEPROOF_DTYPE_F16) result = known(SHAPEPROOF_DTYPE_C32, real);
        if (part.dtype == SHAPEPROOF_DTYPE_F32) result = known(SHAPEPROOF_DTYPE_C64, real);
        if (part.dtype == SHAPEPROOF_DTYPE_F64) result = known(SHAPEPROOF_DTYPE_C128, real);
    }
    if (real >= 0) H5Tclose(real);
    if (imaginary >= 0) H5Tclose(imaginary);
    return result;
}

/* HDF5 had no bfloat16: Keras 3 writes two opaque bytes and says what they are in an attribute. */
static struct sp_h5_type opaque(hid_t type, const char *meaning)
{
    const size_t size = H5Tget_size(type);
    if (size == 2 && strcmp(meaning, "bfloat16") == 0) return (struct sp_h5_type){.dtype = SHAPEPROOF_DTYPE_BF16};
    if (size == 1 && strcmp(meaning, "float8_e4m3fn") == 0)
        return (struct sp_h5_type){.dtype = SHAPEPROOF_DTYPE_F8_E4M3};
    if (size == 1 && strcmp(meaning, "float8_e5m2") == 0) return (struct sp_h5_type){.dtype = SHAPEPROOF_DTYPE_F8_E5M2};
    return other_type("opaque", 8 * size);
}

struct sp_h5_type sp_h5_type_of(hid_t type, const char *meaning)
{
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        return integer(type);
    case H5T_FLOAT:
        return floating(type);
    case H5T_ENUM:
        return enumeration(type);
    case H5T_COMPOUND:
        return compound(type);
    case H5T_OPAQUE:
        return opaque(type, meaning);
    case H5T_BITFIELD:
        return other_type("bitfield", 8 * H5Tget_size(type));
    case H5T_STRING:
        return other_type("string", NO_SIZE);
    case H5T_VLEN:
        return other_type("vlen", NO_SIZE);
    case H5T_REFERENCE:
        return other_type("reference", NO_SIZE);
    case H5T_ARRAY:
        return other_type("array", NO_SIZE);
    case H5T_TIME:
        return other_type("time", NO_SIZE);
    default:
        return other_type("unknown", NO_SIZE);
    }
}
