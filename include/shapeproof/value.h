/* SPDX-License-Identifier: MIT
 * The values of hyper-parameters: what JSON can hold. Immutable and passed by value; what they point to belongs to
 * whoever gave them out. */
#ifndef SHAPEPROOF_VALUE_H
#define SHAPEPROOF_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shapeproof_value_type {
    SHAPEPROOF_VALUE_ABSENT = 0, /* there is none; `string` may name the key that is not there */
    SHAPEPROOF_VALUE_NULL = 1,   /* the key is there and null; `string` names it */
    SHAPEPROOF_VALUE_UNKNOWN =
        2, /* to be found out; `string` names the key. Inside the library only, while it infers */
    SHAPEPROOF_VALUE_BOOL = 3,
    SHAPEPROOF_VALUE_INT = 4,
    SHAPEPROOF_VALUE_REAL = 5,
    SHAPEPROOF_VALUE_STRING = 6,
    SHAPEPROOF_VALUE_LIST = 7,
    SHAPEPROOF_VALUE_OBJECT = 8
};

struct shapeproof_value {
    enum shapeproof_value_type type;
    bool is_whole_real; /* of an integer: a file has it as a real number, 4.0 */
    size_t count;       /* items of a list, members of an object */
    union {
        bool boolean;
        int64_t integer;
        double real;
        const char *string;
        const struct shapeproof_value *items;
        const struct shapeproof_member *members;
    };
};

struct shapeproof_member {
    const char *key;
    struct shapeproof_value value;
};

/* The value as JSON, in one line: 4096, "gelu", [1, 2]; null when there is none. malloc'ed: free with shapeproof_free.
 */
SHAPEPROOF_API char *shapeproof_value_text(struct shapeproof_value value);

#ifdef __cplusplus
}
#endif
#endif
