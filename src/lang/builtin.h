/* SPDX-License-Identifier: MIT
 * The table files of src/tables, built into the binary by the Makefile. */
#ifndef SP_LANG_BUILTIN_H
#define SP_LANG_BUILTIN_H

#include <stddef.h>

struct sp_builtin_file {
    const char *name; /* "gpt2.shapes" */
    const char *text; /* NUL-terminated */
    size_t length;
};

extern const struct sp_builtin_file sp_builtin_files[];
extern const size_t sp_builtin_file_count;

#endif
