/* SPDX-License-Identifier: MIT
 * The files of src/models, built into the binary by the Makefile. */
#ifndef SP_CONFIG_PUBLISHED_H
#define SP_CONFIG_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>

struct shapeproof_error;
struct shapeproof_models;
struct sp_arena;

/* Each file as its name, "gpt2.json", a NUL, its text, and a NUL. */
extern const char sp_published_text[];
extern const size_t sp_published_file_count;

/* A figure that a publication prints about a published model. */
struct sp_book_line {
    const struct shapeproof_model *model;
    const char *printed, *of, *source, *at, *note; /* as struct shapeproof_figure has them */
};

struct sp_book_lines {
    struct sp_book_line *items; /* heap */
    size_t count, capacity;
};

/* Reads the book of figures, and behind its lines the number that the authors of each model give. False with an error
 * when the book is malformed, or names a model that is not in the library. Texts are in the arena or those of the
 * models. */
bool sp_book_read(struct sp_arena *arena, const struct shapeproof_models *models, struct sp_book_lines *lines,
                  struct shapeproof_error *error);

#endif
