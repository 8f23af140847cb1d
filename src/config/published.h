/* SPDX-License-Identifier: MIT
 * The files of src/models, built into the binary by the Makefile. */
#ifndef SP_CONFIG_PUBLISHED_H
#define SP_CONFIG_PUBLISHED_H

#include <stddef.h>

/* Each file as its name, "gpt2.json", a NUL, its text, and a NUL. */
extern const char sp_published_text[];
extern const size_t sp_published_file_count;

#endif
