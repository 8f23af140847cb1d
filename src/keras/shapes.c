/* SPDX-License-Identifier: MIT
 * The shapes of the inputs of each layer, worked out from the first layer to the last as Keras does when it builds a
 * model. A dimension is an expression of the table: a key of the configuration ("dense.units"), or a definition of what
 * is computed from such keys ("_3", with _3 = dense.units*2). Where no rule applies, the number that the configuration
 * recorded when the model was built is taken; where there is none, the dimension is unknown (NULL). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/chars.h"
#include "keras/model.h"

static const struct sp_keras_shape unknown_shape = {0};

/* ---- expressions ---- */

/* Adds a definition to the table that is written: returns its name, "_1" for the first one. */
static const char *define(struct sp_keras_writer *writer, const char *expression)
{
    *SP_PUSH(&writer->definitions) = expression;
    return sp_arena_printf(writer->arena, "_%zu", writer->definitions.count);
}

static const char *number_of(struct sp_arena *arena, int64_t number)
{
    return sp_arena_printf(arena, "%" PRId64, number);
}

/* The path of a key of the layer, "layers.dense.units", if its value is an integer; else NULL. */
static const char *key_path(struct sp_arena *arena, const struct sp_keras_kind *kind, const char *key)
{
    if (sp_value_member(kind->config, key).type != SHAPEPROOF_VALUE_INT) return NULL;
    return sp_arena_printf(arena, "%s.%s", kind->key, key);
}

/* key_path of `key`, or of the name that the key had in Keras 1. */
static const char *either_path(struct sp_arena *arena, const struct sp_keras_kind *kind, const char *key,
                               const char *older)
{
    const char *path = key_path(arena, kind, key);
    return path ? path : key_path(arena, kind, older);
}

const char *sp_keras_item(struct sp_arena *arena, const struct sp_keras_kind *kind, const char *key, size_t index)
{
    const struct shapeproof_value list = sp_value_member(kind->config, key);
    if (list.type == SHAPEPROOF_VALUE_INT) return sp_arena_printf(arena, "%s.%s", kind->key, key);
    if (list.type != SHAPEPROOF_VALUE_LIST || index >= list.count || list.items[index].type != SHAPEPROOF_VALUE_INT)
        return NULL;
    return sp_arena_printf(arena, "%s.%s[%zu]", kind->key, key, index);
}

/* A definition of the product of dimensions; NULL when one of them is not known. */
static const char *product_of_dims(struct sp_keras_writer *writer, const char *const *dims, size_t count)
{
    struct sp_text text = {0};
    if (count == 1) return dims[0];
    for (size_t i = 0; i < count; i++) {
        if (!dims[i]) {
            sp_text_free(&text);
            return NULL;
        }
        sp_text_printf(&text, "%s%s", i ? "*" : "", dims[i]);
    }
    if (!count) sp_text_puts(&text, "1");
    return define(writer, sp_text_keep(&text, writer->arena));
}

/* ---- shapes ---- */

struct sp_keras_shape sp_keras_slice(const struct sp_keras_shape *shape)
{
    struct sp_keras_shape out = *shape;
    for (size_t i = 1; i < out.rank; i++) out.dims[i - 1] = out.dims[i];
    if (out.rank) out.rank--;
    return out;
}

static struct sp_keras_shape vector_shape(const char *width)
{
    return (struct sp_keras_shape){.known = true, .rank = 1, .dims = {width}};
}

/* A shape that the configuration notes, [null, 28, 28], without the batch. */
static struct sp_keras_shape recorded_shape(struct sp_arena *arena, struct shapeproof_value shape)
{
    struct sp_keras_shape out = {0};
    if (shape.type != SHAPEPROOF_VALUE_LIST || !shape.count || shape.count > SP_KERAS_MAX_RANK) return unknown_shape;
    if (shape.items[0].type != SHAPEPROOF_VALUE_INT && shape.items[0].type != SHAPEPROOF_VALUE_NULL)
        return unknown_shape;
    out.known = true;
    out.rank = shape.count - 1;
    for (size_t i = 0; i < out.rank; i++)
        if (shape.items[i + 1].type == SHAPEPROOF_VALUE_INT) out.dims[i] = number_of(arena, shape.items[i + 1].integer);
    return out;
}

/* The shape in the configuration of an input layer, or of the first layer of a sequential model, without the batch:
 * {"batch_shape": [null, 28, 1]} is (in.batch_shape[1], 1). A dimension of 1 is written as such, because the dimensions
 * of other inputs may take its place (merged_shape). Unknown when there is none. */
static struct sp_keras_shape declared_shape(struct sp_arena *arena, const struct sp_keras_kind *kind)
{
    static const struct {
        const char *name;
        size_t batch; /* axes in front */
    } keys[] = {{"batch_shape", 1}, {"batch_input_shape", 1}, {"input_shape", 0}};
    struct sp_keras_shape out = {0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct shapeproof_value list = sp_value_member(kind->config, keys[i].name);
        const size_t batch = keys[i].batch;
        if (list.type != SHAPEPROOF_VALUE_LIST || list.count < batch || list.count - batch > SP_KERAS_MAX_RANK)
            continue;
        out.known = true;
        out.rank = list.count - batch;
        for (size_t k = 0; k < out.rank; k++) {
            const struct shapeproof_value size = list.items[k + batch];
            const bool is_one = size.type == SHAPEPROOF_VALUE_INT && size.integer == 1;
            out.dims[k] = is_one ? "1" : sp_keras_item(arena, kind, keys[i].name, k + batch);
        }
        return out;
    }
    return out;
}

/* Fills the unknown dimensions of a shape from the one that Keras recorded; if the ranks differ, the recorded one
 * replaces it, because it is what Keras built. */
static void complete_shape(struct sp_keras_shape *shape, const struct sp_keras_shape *noted)
{
    if (!noted->known) return;
    if (!shape->known || shape->rank != noted->rank) *shape = *noted;
    for (size_t i = 0; i < shape->rank; i++)
        if (!shape->dims[i]) shape->dims[i] = noted->dims[i];
}

const char *sp_keras_dim_at(const struct sp_keras_shape *shape, int64_t axis)
{
    const int64_t index = axis < 0 ? (int64_t)shape->rank + axis : axis - 1;
    return shape->known && index >= 0 && index < (int64_t)shape->rank ? shape->dims[index] : NULL;
}

bool sp_keras_channels_first(struct shapeproof_value config)
{
    const struct shapeproof_value format = sp_value_member(config, "data_format");
    const struct shapeproof_value older = sp_value_member(config, "dim_ordering");
    if (format.type == SHAPEPROOF_VALUE_STRING) return strcmp(format.string, "channels_first") == 0;
    return older.type == SHAPEPROOF_VALUE_STRING && strcmp(older.string, "th") == 0;
}

/* ---- rules ---- */

/* The application of a rule to one call of a layer: its configuration, and the shapes of its inputs. */
struct rule {
    struct sp_keras_writer *writer;
    const struct sp_keras_kind *kind;
    const struct sp_keras_shape *inputs;
    size_t count;
};

static bool flag_of(struct shapeproof_value config, const char *key)
{
    return sp_value_is_true(sp_value_member(config, key));
}

static const char *word_or(struct shapeproof_value config, const char *key, const char *other)
{
    const struct shapeproof_value value = sp_value_member(config, key);
    return value.type == SHAPEPROOF_VALUE_STRING ? value.string : other;
}

static struct sp_keras_shape with_last_axis(const struct rule *rule, const char *width)
{
    struct sp_keras_shape out = *rule->inputs;
    if (out.known && out.rank) out.dims[out.rank - 1] = width;
    return out;
}

static const char *padding_of(const struct rule *rule)
{
    return word_or(rule->kind->config, "padding", word_or(rule->kind->config, "border_mode", "valid"));
}

static const char *window_size(const struct rule *rule, unsigned axis)
{
    static const char *const older[] = {"nb_row", "nb_col"};
    const bool pools = rule->kind->class->rule == SP_KERAS_POOL;
    const char *size = sp_keras_item(rule->writer->arena, rule->kind, pools ? "pool_size" : "kernel_size", axis);
    if (!size && !pools && axis < 2) size = key_path(rule->writer->arena, rule->kind, older[axis]);
    return size ? size : pools ? "2" : NULL;
}

static const char *stride_of(const struct rule *rule, unsigned axis)
{
    const char *stride = sp_keras_item(rule->writer->arena, rule->kind, "strides", axis);
    if (!stride) stride = sp_keras_item(rule->writer->arena, rule->kind, "subsample", axis);
    if (stride) return stride;
    return rule->kind->class->rule == SP_KERAS_POOL ? window_size(rule, axis) : "1";
}

/* The length of an axis after a convolution or pooling slides its window over it: a definition that calls _conv,
 * _reverse or _padded of src/tables/keras. */
static const char *window_output_size(const struct rule *rule, const char *dim, unsigned axis)
{
    struct sp_arena *arena = rule->writer->arena;
    const char *size = window_size(rule, axis), *padding = padding_of(rule);
    const char *dilation = sp_keras_item(arena, rule->kind, "dilation_rate", axis);
    const bool reverse = rule->kind->class->rule == SP_KERAS_REVERSE;
    const bool padded = reverse && sp_value_is_set(sp_value_member(rule->kind->config, "output_padding"));
    const char *more = padded ? sp_keras_item(arena, rule->kind, "output_padding", axis) : NULL;
    if (!dim || !size || (padded && !more)) return NULL;
    return define(rule->writer, sp_arena_printf(arena, "%s(%s, %s, %s, \"%s\", %s%s%s)",
                                                padded    ? "_padded"
                                                : reverse ? "_reverse"
                                                          : "_conv",
                                                dim, size, stride_of(rule, axis), padding, dilation ? dilation : "1",
                                                padded ? ", " : "", padded ? more : ""));
}

/* What becomes of a dimension of an image; `axis` counts those of the image alone. NULL when it is not known. */
typedef const char *change_of_axis(const struct rule *rule, const char *dim, unsigned axis);

/* The input with each axis of the image changed; the channels stay. `lead` is the number of axes in front of the image:
 * 1 for time, else 0. Unknown when the input is, or is no such image. */
static struct sp_keras_shape map_image(const struct rule *rule, size_t lead, change_of_axis *change)
{
    const bool first = sp_keras_channels_first(rule->kind->config);
    struct sp_keras_shape out = *rule->inputs;
    const unsigned axes = rule->kind->class->axes;
    if (!out.known || out.rank != lead + axes + 1) return unknown_shape;
    for (unsigned i = 0; i < axes; i++) out.dims[lead + first + i] = change(rule, out.dims[lead + first + i], i);
    return out;
}

/* The input after a window has slid over it, with other channels. */
static struct sp_keras_shape convolved(const struct rule *rule, size_t lead, const char *channels)
{
    const bool first = sp_keras_channels_first(rule->kind->config);
    struct sp_keras_shape out = map_image(rule, lead, window_output_size);
    if (out.known) out.dims[first ? lead : out.rank - 1] = channels;
    return out;
}

static const char *filters_of(const struct rule *rule)
{
    return either_path(rule->writer->arena, rule->kind, "filters", "nb_filter");
}

static struct sp_keras_shape convolution_shape(const struct rule *rule) { return convolved(rule, 0, filters_of(rule)); }

static struct sp_keras_shape depthwise_shape(const struct rule *rule)
{
    const bool first = sp_keras_channels_first(rule->kind->config);
    const char *dims[2] = {sp_keras_dim_at(rule->inputs, first ? 1 : -1),
                           key_path(rule->writer->arena, rule->kind, "depth_multiplier")};
    return convolved(rule, 0, product_of_dims(rule->writer, dims, dims[1] ? 2 : 1));
}

static struct sp_keras_shape conv_recurrent_shape(const struct rule *rule)
{
    struct sp_keras_shape out = convolved(rule, 1, filters_of(rule));
    return out.known && !flag_of(rule->kind->config, "return_sequences") ? sp_keras_slice(&out) : out;
}

static const char *upsampled_size(const struct rule *rule, const char *dim, unsigned axis)
{
    struct sp_arena *arena = rule->writer->arena;
    const char *size = sp_keras_item(arena, rule->kind, "size", axis);
    if (!dim || !size) return NULL;
    return define(rule->writer, sp_arena_printf(arena, "%s*%s", dim, size));
}

/* An axis after ZeroPadding or Cropping, whose configuration is 1, [1, 2] or [[1, 1], [2, 2]]. */
static const char *padded_or_cropped_size(const struct rule *rule, const char *dim, unsigned axis)
{
    const bool pads = rule->kind->class->rule == SP_KERAS_PAD;
    const struct shapeproof_value ends = sp_value_member(rule->kind->config, pads ? "padding" : "cropping");
    struct shapeproof_value pair = ends.type == SHAPEPROOF_VALUE_LIST && axis < ends.count ? ends.items[axis] : ends;
    if (rule->kind->class->axes == 1 && ends.type == SHAPEPROOF_VALUE_LIST) pair = ends;
    int64_t sum;
    if (pair.type == SHAPEPROOF_VALUE_INT && pair.integer >= 0 && pair.integer < INT32_MAX) sum = 2 * pair.integer;
    else if (pair.type == SHAPEPROOF_VALUE_LIST && pair.count == 2 && pair.items[0].type == SHAPEPROOF_VALUE_INT &&
             pair.items[1].type == SHAPEPROOF_VALUE_INT && pair.items[0].integer >= 0 &&
             pair.items[0].integer < INT32_MAX && pair.items[1].integer >= 0 && pair.items[1].integer < INT32_MAX)
        sum = pair.items[0].integer + pair.items[1].integer;
    else return NULL;
    if (!dim) return NULL;
    return define(rule->writer, sp_arena_printf(rule->writer->arena, "%s %c %" PRId64, dim, pads ? '+' : '-', sum));
}

static struct sp_keras_shape global_pool_shape(const struct rule *rule)
{
    const bool first = sp_keras_channels_first(rule->kind->config);
    if (!rule->inputs->known || rule->inputs->rank != rule->kind->class->axes + 1u) return unknown_shape;
    if (!flag_of(rule->kind->config, "keepdims"))
        return vector_shape(first ? rule->inputs->dims[0] : rule->inputs->dims[rule->inputs->rank - 1]);
    struct sp_keras_shape out = *rule->inputs;
    for (unsigned i = 0; i < rule->kind->class->axes; i++) out.dims[first + i] = "1";
    return out;
}

static struct sp_keras_shape flattened_shape(const struct rule *rule)
{
    if (!rule->inputs->known) return unknown_shape;
    return vector_shape(product_of_dims(rule->writer, rule->inputs->dims, rule->inputs->rank));
}

/* The output of Reshape: target_shape, in which one dimension may be -1, the number of all input elements divided by
 * the other dimensions: (28, 28) with [-1, 7] becomes (28*28 // 7, 7). That dimension is not known when the input is
 * not. */
static struct sp_keras_shape reshaped_shape(const struct rule *rule)
{
    struct sp_arena *arena = rule->writer->arena;
    const struct shapeproof_value target = sp_value_member(rule->kind->config, "target_shape");
    struct sp_keras_shape out = {.known = true, .rank = target.count};
    const char *others[SP_KERAS_MAX_RANK];
    size_t open = SIZE_MAX, other_count = 0;
    if (target.type != SHAPEPROOF_VALUE_LIST || target.count > SP_KERAS_MAX_RANK) return unknown_shape;
    for (size_t i = 0; i < target.count; i++) {
        if (target.items[i].type != SHAPEPROOF_VALUE_INT) return unknown_shape;
        if (target.items[i].integer < 0) open = i;
        else others[other_count++] = out.dims[i] = sp_keras_item(arena, rule->kind, "target_shape", i);
    }
    if (open == SIZE_MAX) return out;
    const char *all =
        rule->inputs->known ? product_of_dims(rule->writer, rule->inputs->dims, rule->inputs->rank) : NULL;
    const char *rest = all ? product_of_dims(rule->writer, others, other_count) : NULL;
    if (rest) out.dims[open] = define(rule->writer, sp_arena_printf(arena, "%s // %s", all, rest));
    return out;
}

static struct sp_keras_shape permuted_shape(const struct rule *rule)
{
    const struct shapeproof_value order = sp_value_member(rule->kind->config, "dims");
    struct sp_keras_shape out = *rule->inputs;
    if (!out.known || order.type != SHAPEPROOF_VALUE_LIST || order.count != out.rank) return unknown_shape;
    for (size_t i = 0; i < out.rank; i++) {
        if (order.items[i].type != SHAPEPROOF_VALUE_INT || order.items[i].integer < 1) return unknown_shape;
        out.dims[i] = sp_keras_dim_at(rule->inputs, order.items[i].integer);
    }
    return out;
}

static struct sp_keras_shape repeated_shape(const struct rule *rule)
{
    if (!rule->inputs->known || rule->inputs->rank != 1) return unknown_shape;
    return (struct sp_keras_shape){
        .known = true, .rank = 2, .dims = {key_path(rule->writer->arena, rule->kind, "n"), rule->inputs->dims[0]}};
}

/* The first input with the sum of all along the axis that the configuration has under `key`. That dimension is not
 * known when it is not of all inputs, or when their ranks differ; the shape is unknown when the first input is. */
static struct sp_keras_shape concatenated_shape(const struct rule *rule, const char *key)
{
    const struct shapeproof_value axis = sp_value_member(rule->kind->config, key);
    const int64_t at = axis.type == SHAPEPROOF_VALUE_INT ? axis.integer : -1;
    struct sp_keras_shape out = rule->inputs[0];
    struct sp_text sum = {0};
    bool known = true;
    for (size_t i = 0; i < rule->count && known; i++) {
        const char *dim = sp_keras_dim_at(&rule->inputs[i], at);
        known = dim && rule->inputs[i].rank == out.rank;
        if (known) sp_text_printf(&sum, "%s%s", i ? " + " : "", dim);
    }
    const int64_t index = at < 0 ? (int64_t)out.rank + at : at - 1;
    const bool has_axis = out.known && index >= 0 && index < (int64_t)out.rank;
    if (has_axis) out.dims[index] = known ? define(rule->writer, sp_text_keep(&sum, rule->writer->arena)) : NULL;
    sp_text_free(&sum);
    return has_axis ? out : unknown_shape;
}

/* Add, Multiply and the like: the inputs are broadcast, so that a dimension of 1 takes that of another input. */
static struct sp_keras_shape merged_shape(const struct rule *rule)
{
    const char *mode = word_or(rule->kind->config, "mode", ""); /* of Keras 1 */
    if (strcmp(mode, "concat") == 0) return concatenated_shape(rule, "concat_axis");
    if (strcmp(mode, "dot") == 0 || strcmp(mode, "cos") == 0) return unknown_shape;
    struct sp_keras_shape out = rule->inputs[0];
    for (size_t i = 1; i < rule->count; i++) {
        const struct sp_keras_shape *other = &rule->inputs[i];
        if (!out.known || !other->known || out.rank != other->rank) return unknown_shape;
        for (size_t k = 0; k < out.rank; k++)
            if (!out.dims[k] || strcmp(out.dims[k], "1") == 0) out.dims[k] = other->dims[k];
    }
    return out;
}

/* A function of TensorFlow in a graph of Keras 2 (TFOpLambda). The elementwise ones broadcast; the others are
 * unknown. */
static struct sp_keras_shape operation_shape(const struct rule *rule)
{
    static const char *const one_by_one[] = {
        "__operators__.add", "math.abs",     "math.add",      "math.divide",   "math.exp",
        "math.log",          "math.maximum", "math.minimum",  "math.multiply", "math.negative",
        "math.pow",          "math.sigmoid", "math.softplus", "math.sqrt",     "math.square",
        "math.subtract",     "math.tanh",    "math.truediv",  "nn.elu",        "nn.gelu",
        "nn.leaky_relu",     "nn.relu",      "nn.relu6",      "nn.selu",       "nn.sigmoid",
        "nn.silu",           "nn.softmax",   "nn.tanh",       "cast",          "clip_by_value",
        "identity",          "stop_gradient"};
    return SP_IS_AMONG(word_or(rule->kind->config, "function", ""), one_by_one) ? merged_shape(rule) : unknown_shape;
}

/* Lambda: the output_shape of the configuration, without the batch axis. */
static struct sp_keras_shape configured_output_shape(const struct rule *rule)
{
    const struct shapeproof_value shape = sp_value_member(rule->kind->config, "output_shape");
    struct sp_keras_shape out = {.known = true, .rank = shape.count};
    if (shape.type != SHAPEPROOF_VALUE_LIST || !shape.count || shape.count > SP_KERAS_MAX_RANK) return unknown_shape;
    for (size_t i = 0; i < out.rank; i++) {
        if (shape.items[i].type != SHAPEPROOF_VALUE_INT && shape.items[i].type != SHAPEPROOF_VALUE_NULL)
            return unknown_shape;
        out.dims[i] = sp_keras_item(rule->writer->arena, rule->kind, "output_shape", i);
    }
    return out;
}

const char *sp_keras_width(struct sp_keras_writer *writer, const struct sp_keras_kind *kind)
{
    const char *width = either_path(writer->arena, kind, "units", "output_dim");
    const struct shapeproof_value cell = sp_value_member(kind->config, "cell"),
                                  cells = sp_value_member(kind->config, "cells");
    if (width) return width;
    if (cell.type == SHAPEPROOF_VALUE_OBJECT) {
        const struct sp_keras_kind inner = sp_keras_within(writer->arena, kind, "cell");
        return sp_keras_width(writer, &inner);
    }
    if (cells.type != SHAPEPROOF_VALUE_LIST || !cells.count) return NULL;
    const char *path = sp_arena_printf(writer->arena, "%s.cells[%zu]", kind->key, cells.count - 1);
    const struct sp_keras_kind last = sp_keras_kind(writer->arena, cells.items[cells.count - 1], path);
    return last.class ? sp_keras_width(writer, &last) : NULL;
}

/* (units), or (time, units) with return_sequences. */
static struct sp_keras_shape recurrent_shape(const struct rule *rule)
{
    const char *width = sp_keras_width(rule->writer, rule->kind);
    if (!flag_of(rule->kind->config, "return_sequences")) return vector_shape(width);
    return (struct sp_keras_shape){.known = true, .rank = 2, .dims = {sp_keras_dim_at(rule->inputs, 1), width}};
}

static struct sp_keras_shape wrapped_shape(const struct rule *rule)
{
    const struct sp_keras_kind inner = sp_keras_within(rule->writer->arena, rule->kind, "layer");
    return sp_keras_output(rule->writer, &inner, rule->inputs, rule->count);
}

static struct sp_keras_shape bidirectional_shape(const struct rule *rule)
{
    const struct sp_keras_kind inner = sp_keras_within(rule->writer->arena, rule->kind, "layer");
    struct sp_keras_shape out = sp_keras_output(rule->writer, &inner, rule->inputs, rule->count);
    const bool joins = strcmp(word_or(rule->kind->config, "merge_mode", ""), "concat") == 0;
    if (!out.known || !out.rank || !out.dims[out.rank - 1] || !joins) return out;
    const char *width = sp_arena_printf(rule->writer->arena, "2*%s", out.dims[out.rank - 1]);
    out.dims[out.rank - 1] = define(rule->writer, width);
    return out;
}

/* The output of the wrapped layer for one step, with the time axis in front of it. */
static struct sp_keras_shape time_distributed_shape(const struct rule *rule)
{
    const struct sp_keras_kind inner = sp_keras_within(rule->writer->arena, rule->kind, "layer");
    if (!rule->inputs->known || !rule->inputs->rank) return unknown_shape;
    const struct sp_keras_shape slice = sp_keras_slice(rule->inputs);
    const struct sp_keras_shape made = sp_keras_output(rule->writer, &inner, &slice, 1);
    struct sp_keras_shape out = {.known = made.known, .rank = made.rank + 1, .dims = {rule->inputs->dims[0]}};
    if (!made.known || out.rank > SP_KERAS_MAX_RANK) return unknown_shape;
    for (size_t i = 0; i < made.rank; i++) out.dims[i + 1] = made.dims[i];
    return out;
}

/* The input's shape and an axis of output_dim behind it. */
static struct sp_keras_shape embedding_shape(const struct rule *rule)
{
    struct sp_keras_shape out = *rule->inputs;
    if (!out.known || out.rank >= SP_KERAS_MAX_RANK) return unknown_shape;
    out.dims[out.rank++] = key_path(rule->writer->arena, rule->kind, "output_dim");
    return out;
}

/* The query's shape, whose last axis becomes output_shape if the configuration has one. */
static struct sp_keras_shape multi_head_attention_shape(const struct rule *rule)
{
    const struct shapeproof_value shape = sp_value_member(rule->kind->config, "output_shape");
    const size_t count = shape.type == SHAPEPROOF_VALUE_LIST ? shape.count : shape.type == SHAPEPROOF_VALUE_INT;
    struct sp_keras_shape out = *rule->inputs;
    if (!count || !out.known || !out.rank || out.rank + count > SP_KERAS_MAX_RANK) return out;
    out.rank--;
    for (size_t i = 0; i < count; i++)
        out.dims[out.rank++] = sp_keras_item(rule->writer->arena, rule->kind, "output_shape", i);
    return out;
}

/* Attention and AdditiveAttention: the shape of the query (input 0) with the width of the value (input 1). */
static struct sp_keras_shape attention_shape(const struct rule *rule)
{
    return rule->count > 1 ? with_last_axis(rule, sp_keras_dim_at(&rule->inputs[1], -1)) : unknown_shape;
}

/* ---- resizing, categories, text and sound ---- */

/* AdaptivePooling: output_size, a list or one number for all axes. */
static const char *output_size_of(const struct rule *rule, const char *dim, unsigned axis)
{
    (void)dim;
    return sp_keras_item(rule->writer->arena, rule->kind, "output_size", axis);
}

/* Resizing and crops: the height (axis 0) or the width of the configuration. */
static const char *image_side(const struct rule *rule, const char *dim, unsigned axis)
{
    (void)dim;
    return key_path(rule->writer->arena, rule->kind, axis ? "width" : "height");
}

/* The number of categories that a preprocessing layer distinguishes: its tokens or bins, or the words of its
 * vocabulary and the indices for words outside it. */
static const char *category_count(const struct rule *rule)
{
    struct sp_arena *arena = rule->writer->arena;
    const struct shapeproof_value borders = sp_value_member(rule->kind->config, "bin_boundaries");
    const struct shapeproof_value words = sp_value_member(rule->kind->config, "vocabulary");
    const struct shapeproof_value others = sp_value_member(rule->kind->config, "num_oov_indices");
    const bool pads = flag_of(rule->kind->config, "pad_to_max_tokens");
    if (borders.type == SHAPEPROOF_VALUE_LIST) return number_of(arena, (int64_t)borders.count + 1);
    const char *count = either_path(arena, rule->kind, "num_tokens", "num_bins");
    if (!count) count = either_path(arena, rule->kind, pads ? "max_tokens" : "vocabulary_size", "vocabulary_size");
    if (count) return count;
    if (words.type != SHAPEPROOF_VALUE_LIST || others.type != SHAPEPROOF_VALUE_INT || others.integer < 0 ||
        others.integer > INT32_MAX)
        return NULL;
    return number_of(arena, (int64_t)words.count + others.integer);
}

/* CategoryEncoding, Discretization, Hashing and the lookups. output_mode "int": an index for each input, the same
 * shape. "one_hot": an axis of the categories is added, in place of a last axis of 1. "multi_hot" and "count": the last
 * axis becomes that of the categories. */
static struct sp_keras_shape category_shape(const struct rule *rule)
{
    const char *mode = word_or(rule->kind->config, "output_mode", "int"), *kinds = category_count(rule);
    struct sp_keras_shape out = *rule->inputs;
    const char *last = sp_keras_dim_at(rule->inputs, -1);
    if (strcmp(mode, "int") == 0) return out;
    if (!out.known || !kinds) return unknown_shape;
    if (!out.rank) return vector_shape(kinds);
    if (strcmp(mode, "one_hot") != 0 || (last && strcmp(last, "1") == 0)) return with_last_axis(rule, kinds);
    if (!last || out.rank == SP_KERAS_MAX_RANK) return unknown_shape;
    out.dims[out.rank++] = kinds;
    return out;
}

/* A text becomes the indices of its words, output_sequence_length of them, or one number for each category. */
static struct sp_keras_shape text_vectorization_shape(const struct rule *rule)
{
    const bool numbers = strcmp(word_or(rule->kind->config, "output_mode", "int"), "int") == 0;
    return vector_shape(numbers ? key_path(rule->writer->arena, rule->kind, "output_sequence_length")
                                : category_count(rule));
}

/* Dot: the axes of both inputs without the two that are summed over, those of the first input first. */
static struct sp_keras_shape dot_shape(const struct rule *rule)
{
    const struct shapeproof_value axes = sp_value_member(rule->kind->config, "axes");
    struct sp_keras_shape out = {.known = true};
    if (rule->count != 2) return unknown_shape;
    for (size_t i = 0; i < 2; i++) {
        const struct shapeproof_value axis =
            axes.type == SHAPEPROOF_VALUE_LIST && i < axes.count ? axes.items[i] : axes;
        const struct sp_keras_shape *input = &rule->inputs[i];
        if (axis.type != SHAPEPROOF_VALUE_INT || !input->known) return unknown_shape;
        const int64_t left_out = axis.integer < 0 ? (int64_t)input->rank + axis.integer : axis.integer - 1;
        for (size_t k = 0; k < input->rank; k++)
            if ((int64_t)k != left_out) {
                if (out.rank == SP_KERAS_MAX_RANK) return unknown_shape;
                out.dims[out.rank++] = input->dims[k];
            }
    }
    return out.rank ? out : vector_shape("1");
}

/* (mel bins, time steps), where samples of sound become one step for each sequence_stride. */
static struct sp_keras_shape mel_spectrogram_shape(const struct rule *rule)
{
    struct sp_arena *arena = rule->writer->arena;
    const char *bins = key_path(arena, rule->kind, "num_mel_bins");
    const char *step = key_path(arena, rule->kind, "sequence_stride");
    const char *time = rule->inputs->known && rule->inputs->rank == 1 ? rule->inputs->dims[0] : NULL;
    if (!bins || !step) return unknown_shape;
    if (time) time = define(rule->writer, sp_arena_printf(arena, "(%s + %s + 1) // %s", time, step, step));
    return (struct sp_keras_shape){.known = true, .rank = 2, .dims = {bins, time}};
}

/* Pipeline: the layers of its list, each applied to the output of the one before. */
static struct sp_keras_shape pipeline_shape(const struct rule *rule)
{
    struct sp_arena *arena = rule->writer->arena;
    const struct shapeproof_value layers = sp_value_member(rule->kind->config, "layers");
    struct sp_keras_shape shape = *rule->inputs;
    for (size_t i = 0; layers.type == SHAPEPROOF_VALUE_LIST && i < layers.count && shape.known; i++) {
        const struct sp_keras_kind inner =
            sp_keras_kind(arena, layers.items[i], sp_arena_printf(arena, "%s.layers[%zu]", rule->kind->key, i));
        const struct sp_keras_shape before = shape;
        if (inner.class && inner.class->rule == SP_KERAS_PIPELINE) return unknown_shape;
        shape = sp_keras_output(rule->writer, &inner, &before, 1);
    }
    return shape;
}

/* ---- the output of a layer ---- */

static struct sp_keras_shape model_output(struct sp_keras_writer *writer, struct sp_keras_model *model, size_t tensor,
                                          unsigned depth);

/* The shape that a layer gives for these inputs; unknown where its configuration does not tell. Each class of layers
 * has a rule for that, `shape` in classes.def. */
struct sp_keras_shape sp_keras_output(struct sp_keras_writer *writer, const struct sp_keras_kind *kind,
                                      const struct sp_keras_shape *inputs, size_t count)
{
    const struct rule rule = {writer, kind, inputs, count};
    if (!kind->class || !count) return unknown_shape;
    switch (kind->class->rule) {
    case SP_KERAS_INPUT:
        return declared_shape(writer->arena, kind);
    case SP_KERAS_UNCHANGED:
        return inputs[0];
    case SP_KERAS_UNITS:
        return with_last_axis(&rule, sp_keras_width(writer, kind));
    case SP_KERAS_EINSUM:
        return sp_keras_einsum(writer->arena, kind, inputs).output;
    case SP_KERAS_EMBEDDING:
        return embedding_shape(&rule);
    case SP_KERAS_CONV:
    case SP_KERAS_REVERSE:
        return convolution_shape(&rule);
    case SP_KERAS_DEPTHWISE:
        return depthwise_shape(&rule);
    case SP_KERAS_RECURRENT:
        return recurrent_shape(&rule);
    case SP_KERAS_CONV_RECURRENT:
        return conv_recurrent_shape(&rule);
    case SP_KERAS_BIDIRECTIONAL:
        return bidirectional_shape(&rule);
    case SP_KERAS_TIME_DISTRIBUTED:
        return time_distributed_shape(&rule);
    case SP_KERAS_WRAPPED:
        return wrapped_shape(&rule);
    case SP_KERAS_MULTI_HEAD_ATTENTION:
        return multi_head_attention_shape(&rule);
    case SP_KERAS_ATTENTION:
        return attention_shape(&rule);
    case SP_KERAS_FLATTEN:
        return flattened_shape(&rule);
    case SP_KERAS_RESHAPE:
        return reshaped_shape(&rule);
    case SP_KERAS_PERMUTE:
        return permuted_shape(&rule);
    case SP_KERAS_REPEAT:
        return repeated_shape(&rule);
    case SP_KERAS_POOL:
        return map_image(&rule, 0, window_output_size);
    case SP_KERAS_GLOBAL_POOL:
        return global_pool_shape(&rule);
    case SP_KERAS_UPSAMPLE:
        return map_image(&rule, 0, upsampled_size);
    case SP_KERAS_PAD:
    case SP_KERAS_CROP:
        return map_image(&rule, 0, padded_or_cropped_size);
    case SP_KERAS_MERGE:
        return merged_shape(&rule);
    case SP_KERAS_OPERATION:
        return operation_shape(&rule);
    case SP_KERAS_OUTPUT_SHAPE:
        return configured_output_shape(&rule);
    case SP_KERAS_CONCATENATE:
        return concatenated_shape(&rule, "axis");
    case SP_KERAS_OUTPUT_SIZE:
        return map_image(&rule, 0, output_size_of);
    case SP_KERAS_IMAGE_SIZE:
        return map_image(&rule, 0, image_side);
    case SP_KERAS_CATEGORY:
        return category_shape(&rule);
    case SP_KERAS_TEXT:
        return text_vectorization_shape(&rule);
    case SP_KERAS_DOT:
        return dot_shape(&rule);
    case SP_KERAS_MEL_SPECTROGRAM:
        return mel_spectrogram_shape(&rule);
    case SP_KERAS_PIPELINE:
        return pipeline_shape(&rule);
    case SP_KERAS_MODEL:
        return kind->wrapped ? model_output(writer, kind->wrapped, 0, 0) : unknown_shape; /* its first output */
    case SP_KERAS_OTHER:
        return unknown_shape;
    }
    return unknown_shape;
}

/* ---- the graph ---- */

/* The shape of tensor number `tensor` that call number `node` of a layer makes. `depth` counts the calls on the way
 * from the layer that was asked about first: beyond SP_KERAS_MAX_DEPTH, and in a circle of calls, the shape is unknown.
 */
static struct sp_keras_shape call_output(struct sp_keras_writer *writer, struct sp_keras_layer *layer, size_t node,
                                         size_t tensor, unsigned depth);

/* Which call makes output number `tensor` of a model, ["dense", 0, 0]: `outputs` is one call, a list of them, or an
 * object of them, whose order is that of its keys. */
static struct shapeproof_value output_of(struct shapeproof_value outputs, size_t tensor)
{
    if (outputs.type == SHAPEPROOF_VALUE_LIST && outputs.count && outputs.items[0].type == SHAPEPROOF_VALUE_LIST)
        return tensor < outputs.count ? outputs.items[tensor] : outputs.items[0];
    if (outputs.type != SHAPEPROOF_VALUE_OBJECT) return outputs;
    for (size_t i = 0; i < outputs.count; i++) {
        size_t before = 0;
        for (size_t k = 0; k < outputs.count; k++) before += strcmp(outputs.members[k].key, outputs.members[i].key) < 0;
        if (before == tensor) return outputs.members[i].value;
    }
    return sp_value_absent("");
}

/* Output number `tensor` of a nested model: that of its last layer if it is sequential, else of the call that its
 * configuration lists as an output. */
static struct sp_keras_shape model_output(struct sp_keras_writer *writer, struct sp_keras_model *model, size_t tensor,
                                          unsigned depth)
{
    if (model->is_sequential)
        return model->count ? call_output(writer, &model->layers[model->count - 1], 0, 0, depth) : unknown_shape;
    const struct shapeproof_value output = output_of(model->outputs, tensor);
    if (output.type != SHAPEPROOF_VALUE_LIST || output.count < 3 || output.items[0].type != SHAPEPROOF_VALUE_STRING ||
        output.items[1].type != SHAPEPROOF_VALUE_INT || output.items[2].type != SHAPEPROOF_VALUE_INT)
        return unknown_shape;
    const size_t index = sp_map_get(&model->names, output.items[0].string);
    if (index == SIZE_MAX) return unknown_shape;
    return call_output(writer, &model->layers[index], (size_t)output.items[1].integer, (size_t)output.items[2].integer,
                       depth);
}

/* The second output of a layer. A recurrent one with return_state returns its state; a Bidirectional without merge_mode
 * returns the backward direction. Unknown for others. */
static struct sp_keras_shape second_output(struct sp_keras_writer *writer, const struct sp_keras_kind *kind,
                                           const struct sp_keras_shape *output)
{
    struct sp_keras_shape state = *output;
    if (!kind->class || !output->known) return unknown_shape;
    if (kind->class->rule == SP_KERAS_BIDIRECTIONAL) {
        const struct sp_keras_kind inner = sp_keras_within(writer->arena, kind, "layer");
        const bool merged = sp_value_is_set(sp_value_member(kind->config, "merge_mode"));
        if (merged) return second_output(writer, &inner, output);
        return flag_of(inner.config, "return_state") ? unknown_shape : *output;
    }
    if (kind->class->rule == SP_KERAS_RECURRENT) return vector_shape(key_path(writer->arena, kind, "units"));
    if (kind->class->rule != SP_KERAS_CONV_RECURRENT) return unknown_shape;
    return flag_of(kind->config, "return_sequences") ? sp_keras_slice(&state) : state;
}

/* Computes the output shapes of a call from those of its inputs, and keeps them in the node. */
static void compute_outputs(struct sp_keras_writer *writer, struct sp_keras_layer *layer, size_t node, unsigned depth)
{
    struct sp_keras_node *call = &layer->nodes[node];
    struct sp_keras_shape inputs[16];
    const size_t count = call->count ? call->count : 1;
    for (size_t i = 0; i < count && i < 16; i++) inputs[i] = sp_keras_input(writer, layer, node, i, depth);
    if (layer->is_operation || count > 16) return;
    call->output = sp_keras_output(writer, &layer->kind, inputs, count);
    if (call->reverse && layer->kind.class && layer->kind.class->rule == SP_KERAS_EMBEDDING)
        call->output = with_last_axis(&(struct rule){writer, &layer->kind, inputs, count},
                                      key_path(writer->arena, &layer->kind, "input_dim"));
    call->second = second_output(writer, &layer->kind, &call->output);
}

static struct sp_keras_shape call_output(struct sp_keras_writer *writer, struct sp_keras_layer *layer, size_t node,
                                         size_t tensor, unsigned depth)
{
    if (depth > SP_KERAS_MAX_DEPTH) return unknown_shape;
    if (layer->inner) return model_output(writer, layer->inner, tensor, depth + 1);
    if (!layer->node_count) return sp_keras_output(writer, &layer->kind, &unknown_shape, 1); /* an input */
    if (node >= layer->node_count) node = layer->node_count - 1;
    struct sp_keras_node *call = &layer->nodes[node];
    if (call->busy) return unknown_shape;
    if (!call->done) {
        call->busy = true;
        compute_outputs(writer, layer, node, depth + 1);
        call->busy = false;
        call->done = true;
    }
    return tensor ? call->second : call->output;
}

/* The input shape of the first layer of a sequential model: declared by the layer, or by the first layer of a nested
 * model in its place, or the input of the layer around the model; else as recorded when the model was built. */
static struct sp_keras_shape model_input(struct sp_keras_writer *writer, struct sp_keras_layer *layer, unsigned depth)
{
    struct sp_keras_model *model = layer->owner;
    struct sp_keras_shape out = declared_shape(writer->arena, &layer->kind);
    const struct sp_keras_shape noted = recorded_shape(writer->arena, model->built);
    if (!out.known && layer->inner && layer->inner->count) /* a model whose own input is said within it */
        out = declared_shape(writer->arena, &layer->inner->layers[0].kind);
    if (!out.known && model->outer) out = sp_keras_input(writer, model->outer, 0, 0, depth + 1);
    complete_shape(&out, &noted);
    return out;
}

struct sp_keras_shape sp_keras_input(struct sp_keras_writer *writer, struct sp_keras_layer *layer, size_t node,
                                     size_t number, unsigned depth)
{
    struct sp_keras_shape out = {0}, noted;
    if (depth > SP_KERAS_MAX_DEPTH) return out;
    const struct sp_keras_node *call = node < layer->node_count ? &layer->nodes[node] : NULL;
    if (call && number < call->count) {
        const struct sp_keras_ref *ref = &call->refs[number];
        if (ref->layer) out = call_output(writer, ref->layer, ref->node, ref->tensor, depth + 1);
        noted = recorded_shape(writer->arena, ref->recorded);
        complete_shape(&out, &noted);
    } else if (!number && layer->owner && layer->owner->is_sequential && layer == layer->owner->layers) {
        out = model_input(writer, layer, depth + 1);
    }
    if (number || node) return out; /* what a layer was built with is the first tensor of its first call */
    noted = recorded_shape(writer->arena, sp_value_member(layer->build, "input_shape"));
    complete_shape(&out, &noted);
    return out;
}
