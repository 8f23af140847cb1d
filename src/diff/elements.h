/* SPDX-License-Identifier: MIT
 * Comparing elements of two dtypes that are in memory, in the same order. */
#ifndef SP_DIFF_ELEMENTS_H
#define SP_DIFF_ELEMENTS_H

#include "base/watch.h"
#include "model/bytes.h"
#include "model/inventory.h"

enum sp_elements {
    SP_ELEMENTS_EQUAL,   /* each of one dtype has the same value in the other */
    SP_ELEMENTS_ROUNDED, /* each of the narrower dtype is the other one, rounded to it, and as finite */
    SP_ELEMENTS_DIFFERENT
};

/* How much of all data is compared, for the watch of the caller. */
struct sp_data_progress {
    const struct shapeproof_watch *watch; /* or NULL */
    uint64_t done, total;                 /* bytes of A */
    size_t element; /* bytes that an element counts which is compared now; 0 of what is compared again */
};

/* Adds the bytes of A that were compared; what is compared twice does not count beyond the total. False with an error
 * when the caller wants the call to end. */
static inline bool sp_data_goes_on(struct sp_data_progress *progress, uint64_t bytes, struct shapeproof_error *error)
{
    progress->done += bytes;
    if (progress->done > progress->total) progress->done = progress->total;
    return sp_goes_on(progress->watch, "bytes", progress->done, progress->total) || sp_fail_cancelled(error);
}

/* Whether values of both dtypes are numbers that can be compared: the same dtype, or two of F16, BF16, F32 and F64. */
bool sp_elements_are_comparable(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b);
/* Why the elements of a tensor cannot be read one after another; NULL if they can. */
const char *sp_elements_obstacle(const struct shapeproof_data *data, const struct shapeproof_inventory *inventory,
                                 size_t tensor);
/* The dtype to which elements may be rounded: the one with fewer bits, or B's; then A's too, if either may be it, as of
 * F16 and BF16. */
enum shapeproof_dtype sp_elements_narrow(enum shapeproof_dtype a, enum shapeproof_dtype b);
bool sp_elements_either_is_narrow(enum shapeproof_dtype a, enum shapeproof_dtype b);

/* Elements of two dtypes that are comparable, in the same order. */
struct sp_element_run {
    enum shapeproof_dtype in_a, in_b;
    enum shapeproof_dtype narrow; /* to which elements may be rounded: that with fewer bits */
    bool is_exact;                /* set at the beginning: no element was found that is only equal when rounded */
};

/* Returns the index of the first element that is neither equal nor rounded, or `count`. A number that becomes infinite
 * by rounding is different. */
size_t sp_elements_run(struct sp_element_run *run, const unsigned char *a, const unsigned char *b, size_t count);

#endif
