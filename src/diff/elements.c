/* SPDX-License-Identifier: MIT
 * SP_VALUES elements are compared at once, and one by one only if these are not plainly equal. */
#include "diff/elements.h"

#include <math.h>
#include <string.h>

#include "model/layouts.h"
#include "model/values.h"

bool sp_elements_are_comparable(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    return (a->dtype == b->dtype && shapeproof_dtype_bits(a->dtype) && shapeproof_dtype_bits(a->dtype) % 8 == 0) ||
           (sp_is_float(a->dtype) && sp_is_float(b->dtype));
}

const char *sp_elements_obstacle(const struct shapeproof_data *data, const struct shapeproof_inventory *inventory,
                                 size_t tensor)
{
    const struct shapeproof_tensor *in = shapeproof_inventory_tensor(inventory, tensor);
    const char *why = shapeproof_data_obstacle(data, tensor);
    if (why) return why;
    if (shapeproof_data_in_order(data, tensor)) return "it is compressed";
    if (in->flags & SHAPEPROOF_TENSOR_BIG_ENDIAN) return "its numbers are big-endian";
    return sp_is_row_major(in) ? NULL : "its elements are not stored row by row";
}

enum shapeproof_dtype sp_elements_narrow(enum shapeproof_dtype a, enum shapeproof_dtype b)
{
    return shapeproof_dtype_bits(a) < shapeproof_dtype_bits(b) ? a : b;
}

bool sp_elements_either_is_narrow(enum shapeproof_dtype a, enum shapeproof_dtype b)
{
    return a != b && shapeproof_dtype_bits(a) == shapeproof_dtype_bits(b);
}

/* ---- a run of elements ---- */

/* Whether two numbers are equal when they are rounded, and as finite. */
static bool is_rounded(enum shapeproof_dtype narrow, double a, double b)
{
    return !isfinite(a) == !isfinite(b) && sp_is_same_value(sp_rounded_to(narrow, a), sp_rounded_to(narrow, b));
}

/* Compares elements of two dtypes one by one, up to the first that differs. */
static size_t compare_each(struct sp_element_run *run, const unsigned char *a, const unsigned char *b, size_t count)
{
    const size_t size_a = shapeproof_dtype_bits(run->in_a) / 8, size_b = shapeproof_dtype_bits(run->in_b) / 8;
    for (size_t i = 0; i < count; i++) {
        const double in_one = sp_value_of(run->in_a, a + i * size_a), in_other = sp_value_of(run->in_b, b + i * size_b);
        if (sp_is_same_value(in_one, in_other)) continue;
        if (!is_rounded(run->narrow, in_one, in_other)) return i;
        run->is_exact = false;
    }
    return count;
}

/* Whether SP_VALUES elements of two dtypes are plainly equal; when some were not, whether they are plainly rounded.
 * False does not mean that they differ. */
static bool are_plainly_same(const struct sp_element_run *run, const unsigned char *a, const unsigned char *b)
{
    const bool a_is_narrow = run->narrow == run->in_a;
    const enum shapeproof_dtype dtype = a_is_narrow ? run->in_b : run->in_a;
    const unsigned char *narrow = a_is_narrow ? a : b;
    float wide[SP_VALUES];
    if (dtype == SHAPEPROOF_DTYPE_F64 || !sp_values_widen(dtype, a_is_narrow ? b : a, wide)) return false;
    return run->is_exact ? sp_values_are_equal(run->narrow, narrow, wide)
                         : sp_values_are_rounded(run->narrow, narrow, wide);
}

static size_t first_other(const unsigned char *a, const unsigned char *b, size_t size, size_t count)
{
    size_t i = 0;
    if (memcmp(a, b, count * size) == 0) return count;
    while (memcmp(a + i * size, b + i * size, size) == 0) i++;
    return i;
}

size_t sp_elements_run(struct sp_element_run *run, const unsigned char *a, const unsigned char *b, size_t count)
{
    const size_t size_a = shapeproof_dtype_bits(run->in_a) / 8, size_b = shapeproof_dtype_bits(run->in_b) / 8;
    if (run->in_a == run->in_b) return first_other(a, b, size_a, count);
    for (size_t done = 0, part; done < count; done += part, a += part * size_a, b += part * size_b) {
        part = count - done < SP_VALUES ? count - done : SP_VALUES;
        if (part == SP_VALUES && are_plainly_same(run, a, b)) continue;
        const size_t same = compare_each(run, a, b, part);
        if (same < part) return done + same;
    }
    return count;
}
