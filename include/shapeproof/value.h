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

enum sp_value_type {
    SP_ABSENT,  /* there is none; `string` may name the key that is not there */
    SP_NULL,    /* the key is there and null; `string` names it */
    SP_UNKNOWN, /* to be found out; `string` names the key. Inside the library only, while it infers */
    SP_BOOL,
    SP_INT,
    SP_REAL,
    SP_STRING,
    SP_LIST,
    SP_OBJECT
};

struct sp_value {
    enum sp_value_type type;
    size_t count; /* items of a list, members of an object */
    union {
        bool boolean;
        int64_t integer;
        double real;
        const char *string;
        const struct sp_value *items;
        const struct sp_member *members;
    };
};

struct sp_member {
    const char *key;
    struct sp_value value;
};

/* The value as JSON, in one line: 4096, "gelu", [1, 2]; null when there is none. malloc'ed: free with sp_free. */
SP_API char *sp_value_text(struct sp_value value);

#ifdef __cplusplus
}
#endif
#endif
