/* SPDX-License-Identifier: MIT
 * What an equation of EinsumDense says of the kernel, the bias and the output: "abc,cde->abde", a letter for each axis,
 * the batch first; or "...c,cd->...d", where the points stand for all axes before. */
#include "keras/model.h"

/* The three sides of an equation, without points: "01c", "cd", "01d". */
struct equation {
    const char *input, *kernel, *output;
    bool elided; /* the input began with "..." */
};

/* One side of an equation, in which "..." is replaced by a digit for each axis that it stands for: "...c" with two
 * becomes "01c". */
static const char *side_of(struct sp_arena *arena, const char *text, size_t length, size_t elided)
{
    const char *side = sp_arena_copy(arena, text, length);
    if (strncmp(side, "...", 3) != 0) return side;
    return sp_arena_printf(arena, "%.*s%s", (int)elided, "01234567", side + 3);
}

/* False for what is no equation of an input and a kernel, and where "..." stands for axes that are not known. */
static bool read_equation(struct sp_arena *arena, const char *text, const struct sp_keras_shape *input,
                          struct equation *equation)
{
    const char *comma = strchr(text, ','), *arrow = comma ? strstr(comma, "->") : NULL;
    if (!arrow || strchr(text, ' ') || strpbrk(text, "0123456789")) return false;
    const size_t letters = (size_t)(comma - text), axes = input->rank + 1;
    size_t elided = 0;
    equation->elided = strncmp(text, "...", 3) == 0;
    if (equation->elided) {
        if (!input->known || letters < 4 || letters - 3 > axes || axes - (letters - 3) > SP_KERAS_MAX_RANK)
            return false;
        elided = axes - (letters - 3);
    }
    equation->input = side_of(arena, text, letters, elided);
    equation->kernel = sp_arena_copy(arena, comma + 1, (size_t)(arrow - comma - 1));
    equation->output = side_of(arena, arrow + 2, strlen(arrow + 2), elided);
    return !strchr(equation->input, '.') && !strchr(equation->kernel, '.') && !strchr(equation->output, '.');
}

/* The dimension of an output axis from output_shape, which has neither the batch axis nor those that "..." stands
 * for: of "...c,cd->...d" it is [d]. NULL when it has no such item. */
static const char *output_item(struct sp_arena *arena, const struct sp_keras_kind *kind,
                               const struct equation *equation, char letter)
{
    const struct shapeproof_value shape = sp_value_member(kind->config, "output_shape");
    const size_t count = shape.type == SHAPEPROOF_VALUE_LIST ? shape.count : 1, rank = strlen(equation->output);
    const size_t behind = (size_t)(strchr(equation->output, letter) - equation->output) + 1;
    if (rank - behind >= count || (!equation->elided && count + 1 != rank)) return NULL;
    return sp_keras_item(arena, kind, "output_shape", count - 1 - (rank - behind));
}

/* The dimension of the axis with that letter: from output_shape if the letter is in the output, else from the input;
 * NULL when neither tells. */
static const char *letter_dim(struct sp_arena *arena, const struct sp_keras_kind *kind,
                              const struct sp_keras_shape *input, const struct equation *equation, char letter)
{
    const char *in = strchr(equation->input, letter);
    const char *dim = strchr(equation->output, letter) ? output_item(arena, kind, equation, letter) : NULL;
    if (dim || !in || strlen(equation->input) != input->rank + 1) return dim;
    return sp_keras_dim_at(input, in - equation->input);
}

static void add_dim(struct sp_keras_shape *shape, const char *dim)
{
    shape->known = true;
    if (shape->rank < SP_KERAS_MAX_RANK) shape->dims[shape->rank++] = dim;
}

/* Splits the axes of the kernel into those that are summed over (rows) and those of the output (columns). The scale of
 * a quantized kernel has the axes of the output. */
static void split_kernel(struct sp_keras_einsum *einsum, const struct equation *equation)
{
    einsum->rows.known = einsum->columns.known = true;
    for (size_t i = 0; i < einsum->kernel.rank; i++)
        add_dim(strchr(equation->output, equation->kernel[i]) ? &einsum->columns : &einsum->rows,
                einsum->kernel.dims[i]);
    for (const char *letter = equation->output; *letter; letter++) {
        const char *in_kernel = strchr(equation->kernel, *letter);
        add_dim(&einsum->scale, in_kernel ? einsum->kernel.dims[in_kernel - equation->kernel] : "1");
    }
}

/* The shapes of the kernel, the bias and the output of EinsumDense from its equation: of "abc,cd->abd" each letter is a
 * dimension, so the kernel is (c, d) and the output, without the batch, (b, d). The bias has that of each letter of
 * `bias_axes`, and 1 for other letters behind the first of these: with "d" it is (d), with "b" (b, 1). All shapes are
 * unknown when the equation cannot be read. */
struct sp_keras_einsum sp_keras_einsum(struct sp_arena *arena, const struct sp_keras_kind *kind,
                                       const struct sp_keras_shape *input)
{
    struct sp_keras_einsum out = {0};
    struct equation equation;
    const struct shapeproof_value text = sp_value_member(kind->config, "equation");
    const struct shapeproof_value bias_axes = sp_value_member(kind->config, "bias_axes");
    const char *axes = bias_axes.type == SHAPEPROOF_VALUE_STRING ? bias_axes.string : "";
    if (text.type != SHAPEPROOF_VALUE_STRING || !read_equation(arena, text.string, input, &equation)) return out;
    const size_t kernel_rank = strlen(equation.kernel), output_rank = strlen(equation.output);
    if (kernel_rank > SP_KERAS_MAX_RANK || !output_rank || output_rank > SP_KERAS_MAX_RANK) return out;
    out.kernel.known = out.output.known = out.bias.known = true;
    for (size_t i = 0; i < kernel_rank; i++)
        add_dim(&out.kernel, letter_dim(arena, kind, input, &equation, equation.kernel[i]));
    for (size_t i = 1; i < output_rank; i++)
        add_dim(&out.output, letter_dim(arena, kind, input, &equation, equation.output[i]));
    split_kernel(&out, &equation);
    for (size_t i = strcspn(equation.output, axes); *axes && i < output_rank; i++) {
        const bool is_axis = strchr(axes, equation.output[i]) != NULL;
        add_dim(&out.bias, is_axis ? letter_dim(arena, kind, input, &equation, equation.output[i]) : "1");
    }
    return out;
}
