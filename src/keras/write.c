/* SPDX-License-Identifier: MIT
 * The source of the table: a group for each layer of the model, in it a line for each layer within, which uses the
 * part of its class. */
#include <stdlib.h>

#include "base/chars.h"
#include "keras/model.h"

/* ---- lines ---- */

/* Where a layer stands in the file. */
struct place {
    struct sp_keras_writer *writer;
    const char *prefix; /* "layers/dense_1/" */
    const char *top;    /* the name of the layer of the whole model that it is in */
    const char *nested; /* the name of the layer, where that is in a model within the model; or NULL */
};

/* The place of what the file has under that name within a layer. */
static struct place place_within(const struct place *place, const char *name)
{
    struct place inner = *place;
    inner.prefix = sp_arena_printf(place->writer->arena, "%s%s/", place->prefix, name);
    return inner;
}

/* The beginning of a line. What a name of the language cannot have becomes "_". */
static void put_line_prefix(struct sp_keras_writer *writer, const char *prefix)
{
    char *plain = sp_arena_string(writer->arena, prefix);
    bool quoted = false;
    for (char *c = plain; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == '"' || *c == '{' || *c == '}' || *c == '*') *c = '_';
        quoted = quoted || !(sp_is_word(*c) || *c == '/' || *c == '.' || *c == '-');
    }
    sp_text_printf(&writer->lines, "%s%s*%s ", quoted ? "\"" : "", plain, quoted ? "\"" : "");
}

/* A line that uses a part with the configuration of the layer. */
static void put_use(const struct place *place, const struct sp_keras_kind *kind, const char *part,
                    const char *arguments)
{
    struct sp_keras_writer *writer = place->writer;
    const char *objects = writer->objects ? "objects = true" : "";
    put_line_prefix(writer, place->prefix);
    sp_text_printf(&writer->lines, "%s from %s", part, kind->key);
    if (*arguments || *objects)
        sp_text_printf(&writer->lines, " with %s%s%s", arguments, *arguments && *objects ? ", " : "", objects);
    sp_text_puts(&writer->lines, "\n");
}

/* Notes that the weights of a layer are not predicted, and why. */
static void leave_out(const struct place *place, const struct sp_keras_kind *kind, const char *why)
{
    struct sp_keras_writer *writer = place->writer;
    struct sp_unpredicted layer = {.layer = *kind->name ? kind->name : kind->class_name,
                                   .class_name = kind->class_name,
                                   .why = why,
                                   .front = place->prefix,
                                   .has_weights = kind->class && kind->class->takes != SP_KERAS_TAKES_DATA};
    if (!writer->objects) {
        layer.front = sp_arena_printf(writer->arena, "%s%s/", writer->variables->front, place->top);
        if (place->nested) layer.within = sp_arena_printf(writer->arena, "%s/", place->nested);
    }
    *SP_PUSH(&writer->variables->unpredicted) = layer;
}

/* A model of a class of somebody's own, whose layers are listed, may have weights besides. */
static void leave_out_others(struct sp_keras_writer *writer, const struct sp_keras_kind *kind, const char *prefix,
                             const char *top)
{
    static const char *const of_keras[] = {"Sequential", "Functional", "Model"};
    if (SP_IS_AMONG(kind->class_name, of_keras)) return;
    const struct place place = {writer, prefix, top ? top : "top_level_model_weights", NULL};
    leave_out(&place, kind, "it has weights besides those of its layers");
    struct sp_unpredicted *others = &writer->variables->unpredicted.items[writer->variables->unpredicted.count - 1];
    others->is_model = others->is_quiet = true;
    if (writer->objects) others->except = sp_arena_printf(writer->arena, "%s%s/", prefix, writer->variables->list);
}

static const char unknown_input[] = "the shape of what it is given cannot be told";

/* A size; where names alone are wanted, one that is not known is 1. */
static const char *size_or_1(const struct sp_keras_writer *writer, const char *size)
{
    return size || !writer->names_alone ? size : "1";
}

/* "[a, b]"; NULL when one is not known. */
static const char *list_of(const struct sp_keras_writer *writer, const struct sp_keras_shape *shape)
{
    struct sp_text text = {0};
    bool known = shape->known;
    sp_text_puts(&text, "[");
    for (size_t i = 0; i < shape->rank && known; i++) {
        const char *size = size_or_1(writer, shape->dims[i]);
        known = size != NULL;
        if (known) sp_text_printf(&text, "%s%s", i ? ", " : "", size);
    }
    sp_text_puts(&text, "]");
    const char *list = sp_text_keep(&text, writer->arena);
    return known ? list : NULL;
}

/* ---- what parts are told ---- */

/* A layer to be written, and the shapes of what it is given. */
struct layer_use {
    struct place place;
    const struct sp_keras_kind *kind;
    const struct sp_keras_shape *inputs;
    size_t count;
};

static void put_layer(const struct layer_use *use);
static void put_model(struct sp_keras_writer *writer, struct sp_keras_model *model, const char *prefix,
                      const char *top);

/* How Keras quantised the layer. */
struct quantised {
    const char *mode; /* "", "int8", ... */
    int64_t bits;     /* of a value, where the mode does not tell; or 0 */
    int64_t block;    /* of how many inputs a scale is; 0: of all */
};

/* Whether `path` is that of a layer: "model/block/dense" of the layer `dense`. */
static bool is_path_of(const char *path, const char *name)
{
    const size_t length = strlen(path), own = strlen(name);
    return length >= own && strcmp(path + length - own, name) == 0 && (length == own || path[length - own - 1] == '/');
}

/* The policy of a layer within a map of them: under its path, or else the common one. */
static struct shapeproof_value policy_of(struct shapeproof_value dtype, const char *name)
{
    const struct shapeproof_value map = sp_value_member(sp_value_member(dtype, "config"), "policy_map");
    if (map.type != SHAPEPROOF_VALUE_OBJECT) return dtype;
    for (size_t i = 0; i < map.count; i++)
        if (is_path_of(map.members[i].key, name)) return map.members[i].value;
    return sp_value_member(sp_value_member(dtype, "config"), "default_policy");
}

/* A dtype policy: {"config": {"mode": "int4/128"}}, "gptq/4/128" with the bits in front, or in a word
 * "int8_from_float32". */
static struct quantised quantised_how(struct sp_arena *arena, struct shapeproof_value dtype)
{
    const struct shapeproof_value mode = sp_value_member(sp_value_member(dtype, "config"), "mode");
    const char *word = mode.type == SHAPEPROOF_VALUE_STRING    ? mode.string
                       : dtype.type == SHAPEPROOF_VALUE_STRING ? dtype.string
                                                               : "";
    const char *from = strstr(word, "_from_");
    if (mode.type != SHAPEPROOF_VALUE_STRING && !from) return (struct quantised){.mode = ""};
    const size_t length = from ? (size_t)(from - word) : strlen(word), name = strcspn(word, "/_");
    struct quantised how = {.mode = sp_arena_copy(arena, word, name < length ? name : length)};
    const char *last = name < length && word[name] == '/' ? word + name + 1 : NULL;
    const char *second = last ? memchr(last, '/', (size_t)(word + length - last)) : NULL;
    if (second) how.bits = strtol(last, NULL, 10), last = second + 1;
    if (last) how.block = strtol(last, NULL, 10);
    return how;
}

/* What a part is told of it; NULL when there is no such layout. */
static const char *quantised_words(struct sp_arena *arena, const struct quantised *how)
{
    const long long group = (long long)(how->block > 0 ? how->block : 0);
    if (strcmp(how->mode, "float8") == 0) return "mode = \"float8\"";
    if (strcmp(how->mode, "int8") == 0) return "mode = \"int8\"";
    if (strcmp(how->mode, "int4") == 0) return sp_arena_printf(arena, "mode = \"int4\", group = %lld", group);
    if (strcmp(how->mode, "gptq") != 0 && strcmp(how->mode, "awq") != 0) return NULL;
    const long long bits = how->bits > 0 && how->bits <= 8 ? (long long)how->bits : 4;
    return sp_arena_printf(arena, "mode = \"%s\", bits = %lld, group = %lld", how->mode, bits, group);
}

/* An attention is quantised as its projections are; NULL when they differ. */
static const char *projections_said(struct sp_arena *arena, const struct sp_keras_kind *kind)
{
    static const char *const projections[] = {"query", "key", "value", "attention_output"};
    const struct shapeproof_value dtype = sp_value_member(kind->config, "dtype");
    const char *said = NULL;
    for (size_t i = 0; i < sizeof projections / sizeof *projections; i++) {
        const char *path = sp_arena_printf(arena, "%s/%s", kind->name, projections[i]);
        const struct quantised how = quantised_how(arena, policy_of(dtype, path));
        const char *words = *how.mode ? quantised_words(arena, &how) : "";
        if (!words || (said && strcmp(said, words) != 0)) return NULL;
        said = words;
    }
    return said;
}

/* What is told of how a layer is quantised; NULL when that is not known. */
static const char *quantised_said(struct sp_arena *arena, const struct sp_keras_kind *kind)
{
    static const char *const matrices[] = {"Dense", "EinsumDense", "Embedding", "ReversibleEmbedding"};
    if (!kind->class->part) return "";
    if (kind->class->takes == SP_KERAS_TAKES_ATTENTION) return projections_said(arena, kind);
    if (!SP_IS_AMONG(kind->class->name, matrices)) return "";
    const struct quantised how = quantised_how(arena, policy_of(sp_value_member(kind->config, "dtype"), kind->name));
    return *how.mode ? quantised_words(arena, &how) : "";
}

/* The line of a layer that is told the width of its input. */
static void put_use_of_inputs(const struct layer_use *use, const char *inputs, const char *mode)
{
    struct sp_arena *arena = use->place.writer->arena;
    const char *groups = sp_keras_item(arena, use->kind, "groups", 0); /* a size that can be divided by them */
    inputs = size_or_1(use->place.writer, inputs || !use->place.writer->names_alone ? inputs : groups);
    if (!inputs) leave_out(&use->place, use->kind, unknown_input);
    else
        put_use(&use->place, use->kind, use->kind->class->part,
                sp_arena_printf(arena, "inputs = %s%s%s", inputs, *mode ? ", " : "", mode));
}

/* The line of a layer that is told a list of dimensions. */
static void put_use_of_dims(const struct layer_use *use, const struct sp_keras_shape *dims)
{
    const char *list = list_of(use->place.writer, dims);
    if (!list) leave_out(&use->place, use->kind, unknown_input);
    else
        put_use(&use->place, use->kind, use->kind->class->part,
                sp_arena_printf(use->place.writer->arena, "d = %s", list));
}

/* The dimensions at `axis`: a number or a list of them. */
static struct sp_keras_shape dims_at_axes(const struct layer_use *use)
{
    const struct shapeproof_value axis = sp_value_member(use->kind->config, "axis");
    struct sp_keras_shape dims = {.known = true};
    if (axis.type == SHAPEPROOF_VALUE_NULL) return dims;
    if (axis.type != SHAPEPROOF_VALUE_LIST) {
        dims.dims[dims.rank++] = sp_keras_dim_at(use->inputs, axis.type == SHAPEPROOF_VALUE_INT ? axis.integer : -1);
        return dims;
    }
    if (axis.count > SP_KERAS_MAX_RANK) return (struct sp_keras_shape){0};
    for (size_t i = 0; i < axis.count; i++)
        dims.dims[dims.rank++] =
            axis.items[i].type == SHAPEPROOF_VALUE_INT ? sp_keras_dim_at(use->inputs, axis.items[i].integer) : NULL;
    return dims;
}

/* A slope for each, but along the axes that share one. */
static struct sp_keras_shape slopes(const struct layer_use *use)
{
    const struct shapeproof_value shared = sp_value_member(use->kind->config, "shared_axes");
    struct sp_keras_shape dims = *use->inputs;
    for (size_t i = 0; shared.type == SHAPEPROOF_VALUE_LIST && i < shared.count; i++) {
        const int64_t axis = shared.items[i].type == SHAPEPROOF_VALUE_INT ? shared.items[i].integer : 0;
        if (axis >= 1 && axis <= (int64_t)dims.rank) dims.dims[axis - 1] = "1";
    }
    return dims;
}

/* The line of an EinsumDense, whose part is told all shapes that the equation gives. */
static void put_einsum(const struct layer_use *use, const char *mode)
{
    const struct sp_keras_writer *writer = use->place.writer;
    struct sp_arena *arena = writer->arena;
    const struct sp_keras_einsum einsum = sp_keras_einsum(arena, use->kind, use->inputs);
    const char *kernel = list_of(writer, &einsum.kernel), *bias = list_of(writer, &einsum.bias);
    const char *scale = list_of(writer, &einsum.scale), *rows = list_of(writer, &einsum.rows);
    const char *columns = list_of(writer, &einsum.columns);
    if (!kernel || !bias || !scale || !rows || !columns || einsum.kernel.rank > 5 || einsum.bias.rank > 4 ||
        einsum.scale.rank > 5)
        leave_out(&use->place, use->kind, unknown_input);
    else
        put_use(&use->place, use->kind, use->kind->class->part,
                sp_arena_printf(arena, "d = %s, b = %s, s = %s, rows = %s, columns = %s%s%s", kernel, bias, scale, rows,
                                columns, *mode ? ", " : "", mode));
}

/* The dimensions of what a MultiHeadAttention makes for each query: those that it is told, or the width of a query. */
static const char *made_of_query(struct sp_keras_writer *writer, const struct sp_keras_kind *kind, const char *query)
{
    struct sp_arena *arena = writer->arena;
    const struct shapeproof_value shape = sp_value_member(kind->config, "output_shape");
    struct sp_keras_shape made = {.known = true};
    if (shape.type != SHAPEPROOF_VALUE_LIST && shape.type != SHAPEPROOF_VALUE_INT)
        return sp_arena_printf(arena, "[%s]", query);
    const size_t count = shape.type == SHAPEPROOF_VALUE_LIST ? shape.count : 1;
    if (!count || count > 2) return NULL;
    while (made.rank < count) {
        made.dims[made.rank] = sp_keras_item(arena, kind, "output_shape", made.rank);
        made.rank++;
    }
    return list_of(writer, &made);
}

/* Writes the line of an attention, with the widths of its inputs: query, value and key, where the key is the value if
 * only two are given. Left out when one width is not known. `mode` is as for put_known. */
static void put_attention(const struct layer_use *use, const char *mode)
{
    static const char *const names[] = {"query", "value", "key"};
    struct sp_keras_writer *writer = use->place.writer;
    struct sp_arena *arena = writer->arena;
    struct sp_text arguments = {0};
    const char *query = size_or_1(writer, use->count ? sp_keras_dim_at(use->inputs, -1) : NULL);
    bool known = query != NULL;
    for (size_t i = 0; i < 3 && known; i++) {
        const bool has_no_key = i == 2 && use->count < 3;
        const size_t input = has_no_key ? 1 : i;
        const char *dim = size_or_1(writer, input < use->count ? sp_keras_dim_at(&use->inputs[input], -1) : NULL);
        known = dim != NULL;
        if (known) sp_text_printf(&arguments, "%s%s = %s", i ? ", " : "", names[i], dim);
    }
    const char *made = known ? made_of_query(writer, use->kind, query) : NULL;
    if (made) /* so there are two inputs at least */
        sp_text_printf(&arguments, ", out = %s, query_axes = %zu, value_axes = %zu%s%s%s", made, use->inputs[0].rank,
                       use->inputs[1].rank, writer->variables->hidden ? ", hidden = true" : "", *mode ? ", " : "",
                       mode);
    const char *words = sp_text_keep(&arguments, arena);
    if (made) put_use(&use->place, use->kind, use->kind->class->part, words);
    else leave_out(&use->place, use->kind, unknown_input);
}

/* A layer with a kernel for each place: the lengths of what comes in and of what goes out. */
static void put_places(const struct layer_use *use)
{
    struct sp_keras_writer *writer = use->place.writer;
    const bool first = sp_keras_channels_first(use->kind->config);
    const struct sp_keras_shape out = sp_keras_output(writer, use->kind, use->inputs, 1);
    struct sp_keras_shape from = {.known = out.known && use->inputs->known}, to = from;
    for (size_t i = 0; i < use->kind->class->axes && from.known; i++) {
        from.dims[from.rank++] = use->inputs->dims[first + i];
        to.dims[to.rank++] = out.dims[first + i];
    }
    const char *n = list_of(writer, &from), *o = list_of(writer, &to);
    const char *inputs = sp_keras_dim_at(use->inputs, first ? 1 : -1);
    if (n && o && inputs)
        put_use(&use->place, use->kind, use->kind->class->part,
                sp_arena_printf(writer->arena, "inputs = %s, n = %s, o = %s", inputs, n, o));
    else leave_out(&use->place, use->kind, unknown_input);
}

/* ---- layers within layers ---- */

/* Writes a layer within another: `attribute` is its name where the file has names of objects, `name` elsewhere. */
static void put_within(const struct layer_use *use, const struct sp_keras_kind *kind, const char *attribute,
                       const char *name, const struct sp_keras_shape *input)
{
    const struct place place = place_within(&use->place, use->place.writer->objects ? attribute : name);
    const struct layer_use inner = {place, kind, input, 1};
    put_layer(&inner);
}

/* Writes a recurrent layer such as LSTM, whose weights belong to its cell. Keras 1 saved the same layers without
 * `units` and with a tensor for each gate: these have tables of their own. */
static void put_built_in_cell(const struct layer_use *use)
{
    static const char *const of_keras1[][2] = {
        {"LSTM", "keras_lstm1"}, {"GRU", "keras_gru1"}, {"SimpleRNN", "keras_simple_rnn1"}};
    struct sp_arena *arena = use->place.writer->arena;
    const bool first = sp_keras_channels_first(use->kind->config);
    const bool is_convolutional = use->kind->class->axes > 0;
    const int64_t channels =
        is_convolutional && first ? 2 : -1; /* behind the batch and the steps of time, or the last */
    const char *inputs = size_or_1(use->place.writer, sp_keras_dim_at(use->inputs, channels));
    const char *cell = use->place.writer->objects ? "cell" : use->kind->class->cell;
    if (!inputs) {
        leave_out(&use->place, use->kind, unknown_input);
        return;
    }
    const char *arguments = sp_arena_printf(arena, "inputs = %s", inputs);
    const struct place inner = place_within(&use->place, cell);
    if (is_convolutional || sp_value_is_set(sp_value_member(use->kind->config, "units"))) {
        put_use(&inner, use->kind, use->kind->class->part, arguments);
        return;
    }
    for (size_t i = 0; i < sizeof of_keras1 / sizeof *of_keras1; i++)
        if (strcmp(of_keras1[i][0], use->kind->class->name) == 0)
            put_use(&use->place, use->kind, of_keras1[i][1], arguments);
}

/* The counter that makes names unique: dense, dense_1. */
static const char *counted_name(struct sp_arena *arena, struct sp_map *counts, const char *name)
{
    const size_t known = sp_map_get(counts, name);
    sp_map_set(counts, name, known == SIZE_MAX ? 1 : known + 1);
    return known == SIZE_MAX ? name : sp_arena_printf(arena, "%s_%zu", name, known);
}

/* Cells one behind the other: each is given what the one before makes. */
static void put_stacked_cells(const struct layer_use *use)
{
    struct sp_arena *arena = use->place.writer->arena;
    const struct shapeproof_value cells = sp_value_member(use->kind->config, "cells");
    const struct place place = use->place.writer->objects ? place_within(&use->place, "cells") : use->place;
    struct sp_keras_shape input = {.known = true, .rank = 1, .dims = {sp_keras_dim_at(use->inputs, -1)}};
    struct sp_map counts = {0};
    for (size_t i = 0; cells.type == SHAPEPROOF_VALUE_LIST && i < cells.count; i++) {
        const struct sp_keras_kind kind =
            sp_keras_kind(arena, cells.items[i], sp_arena_printf(arena, "%s.cells[%zu]", use->kind->key, i));
        const char *snake = counted_name(arena, &counts, sp_keras_snake(arena, kind.class_name));
        const struct layer_use within = {place, use->kind, &input, 1};
        put_within(&within, &kind, snake, kind.name, &input);
        input.dims[0] = kind.class ? sp_keras_width(use->place.writer, &kind) : NULL;
    }
    sp_map_free(&counts);
}

/* RNN has a cell, or a list of them; a StackedRNNCells is such a list. */
static void put_rnn(const struct layer_use *use)
{
    if (sp_value_member(use->kind->config, "cells").type == SHAPEPROOF_VALUE_LIST) {
        put_stacked_cells(use);
        return;
    }
    const struct sp_keras_kind cell = sp_keras_within(use->place.writer->arena, use->kind, "cell");
    const char *last = sp_keras_dim_at(use->inputs, -1);
    const struct sp_keras_shape input = {.known = true, .rank = 1, .dims = {last}};
    put_within(use, &cell, "cell", cell.name, &input);
}

/* A layer forwards, and once more backwards. Of one within another, at whatever depth, there would be four, eight, ...:
 * Keras builds none. */
static void put_both_ways(const struct layer_use *use)
{
    struct sp_arena *arena = use->place.writer->arena;
    if (use->place.writer->is_both_ways) {
        leave_out(&use->place, use->kind, "Keras builds no Bidirectional within another");
        return;
    }
    use->place.writer->is_both_ways = true;
    const struct sp_keras_kind forward = sp_keras_within(use->place.writer->arena, use->kind, "layer");
    const bool own = sp_value_member(use->kind->config, "backward_layer").type == SHAPEPROOF_VALUE_OBJECT;
    const struct sp_keras_kind backward =
        own ? sp_keras_within(use->place.writer->arena, use->kind, "backward_layer") : forward;
    const char *name = strncmp(forward.name, "forward_", 8) == 0 ? forward.name + 8 : forward.name;
    put_within(use, &forward, "forward_layer", sp_arena_printf(arena, "forward_%s", name), use->inputs);
    put_within(use, &backward, "backward_layer", sp_arena_printf(arena, "backward_%s", name), use->inputs);
    use->place.writer->is_both_ways = false;
}

/* The layer that TimeDistributed applies to each step of time. */
static void put_in_time(const struct layer_use *use)
{
    const struct sp_keras_kind inner = sp_keras_within(use->place.writer->arena, use->kind, "layer");
    const struct sp_keras_shape slice = sp_keras_slice(use->inputs);
    put_within(use, &inner, "layer", inner.name, &slice);
}

/* A kernel that slides: its sizes, then the channels that come in and those that go out, or the other way round. */
static struct sp_keras_shape sliding_kernel(struct sp_arena *arena, const struct sp_keras_kind *kind,
                                            const char *channels)
{
    const enum sp_keras_rule rule = kind->class->rule;
    const char *grouped = channels ? sp_arena_printf(arena, "%s / (%s.groups default 1)", channels, kind->key) : NULL;
    const char *made = rule == SP_KERAS_DEPTHWISE ? "depth_multiplier" : "filters";
    struct sp_keras_shape out = {.known = true};
    for (unsigned i = 0; i < kind->class->axes; i++)
        out.dims[out.rank++] = sp_keras_item(arena, kind, "kernel_size", i);
    out.dims[out.rank] = rule == SP_KERAS_CONV ? grouped : channels;
    out.dims[out.rank + 1] = sp_arena_printf(arena, "%s.%s", kind->key, made);
    if (rule == SP_KERAS_REVERSE) {
        out.dims[out.rank] = out.dims[out.rank + 1];
        out.dims[out.rank + 1] = channels;
    }
    out.rank += 2;
    return out;
}

/* The shape of the kernel of the layer within SpectralNormalization; unknown for a layer without one. */
static struct sp_keras_shape kernel_of(const struct layer_use *use, const struct sp_keras_kind *kind)
{
    struct sp_arena *arena = use->place.writer->arena;
    const struct sp_keras_shape none = {0};
    if (!kind->class) return none;
    switch (kind->class->rule) {
    case SP_KERAS_UNITS:
        return (struct sp_keras_shape){
            .known = true,
            .rank = 2,
            .dims = {sp_keras_dim_at(use->inputs, -1), sp_arena_printf(arena, "%s.units", kind->key)}};
    case SP_KERAS_EMBEDDING:
        return (struct sp_keras_shape){.known = true,
                                       .rank = 2,
                                       .dims = {sp_arena_printf(arena, "%s.input_dim", kind->key),
                                                sp_arena_printf(arena, "%s.output_dim", kind->key)}};
    case SP_KERAS_EINSUM:
        return sp_keras_einsum(arena, kind, use->inputs).kernel;
    case SP_KERAS_CONV:
    case SP_KERAS_REVERSE:
    case SP_KERAS_DEPTHWISE:
        return sliding_kernel(arena, kind,
                              sp_keras_dim_at(use->inputs, sp_keras_channels_first(kind->config) ? 1 : -1));
    default:
        return none;
    }
}

/* The layer within, and the vector that SpectralNormalization has beside its kernel. */
static void put_spectral(const struct layer_use *use)
{
    const struct sp_keras_kind inner = sp_keras_within(use->place.writer->arena, use->kind, "layer");
    const struct sp_keras_shape kernel = kernel_of(use, &inner);
    put_within(use, &inner, "layer", inner.name, use->inputs);
    put_use_of_dims(use, &kernel);
}

/* ---- one layer ---- */

/* Writes the line of a layer whose class is known, by what its weights depend on (SP_KERAS_TAKES_* of model.h). `mode`
 * are the arguments of its part that a quantisation adds, "mode = \"int4\", group = 128", or "": of classes that Keras
 * does not quantise it is ignored. */
static void put_known(const struct layer_use *use, const char *mode)
{
    const bool first = sp_keras_channels_first(use->kind->config);
    struct sp_keras_shape dims;
    switch (use->kind->class->takes) {
    case SP_KERAS_TAKES_NOTHING:
        put_use(&use->place, use->kind, use->kind->class->part, mode);
        break;
    case SP_KERAS_TAKES_INPUTS:
        put_use_of_inputs(use, sp_keras_dim_at(use->inputs, -1), mode);
        break;
    case SP_KERAS_TAKES_CHANNELS:
        put_use_of_inputs(use, sp_keras_dim_at(use->inputs, first ? 1 : -1), mode);
        break;
    case SP_KERAS_TAKES_AXIS:
        dims = dims_at_axes(use);
        put_use_of_inputs(use, dims.rank == 1 ? dims.dims[0] : NULL, "");
        break;
    case SP_KERAS_TAKES_AXES:
    case SP_KERAS_TAKES_KEPT_AXES:
        dims = dims_at_axes(use);
        put_use_of_dims(use, &dims);
        break;
    case SP_KERAS_TAKES_SLOPES:
        dims = slopes(use);
        put_use_of_dims(use, &dims);
        break;
    case SP_KERAS_TAKES_EINSUM:
        put_einsum(use, mode);
        break;
    case SP_KERAS_TAKES_ATTENTION:
        put_attention(use, mode);
        break;
    case SP_KERAS_TAKES_CELL:
        put_built_in_cell(use);
        break;
    case SP_KERAS_TAKES_CELLS:
        put_rnn(use);
        break;
    case SP_KERAS_TAKES_BOTH:
        put_both_ways(use);
        break;
    case SP_KERAS_TAKES_LAYER:
        put_in_time(use);
        break;
    case SP_KERAS_TAKES_SPECTRAL:
        put_spectral(use);
        break;
    case SP_KERAS_TAKES_PLACES:
        put_places(use);
        break;
    case SP_KERAS_TAKES_DATA:
        if (sp_value_is_set(sp_value_member(use->kind->config, "num_bins")) &&
            !sp_value_is_set(sp_value_member(use->kind->config, "bin_boundaries")))
            leave_out(&use->place, use->kind, "what it has depends on the data that it was adapted to");
        break;
    case SP_KERAS_TAKES_MODEL:
        put_model(use->place.writer, use->kind->wrapped, use->place.prefix, use->place.top);
        break;
    }
}

/* Writes what a layer has of weights, or leaves it out with the reason. */
static void put_layer(const struct layer_use *use)
{
    const struct sp_keras_class *class = use->kind->class;
    if (!class || (class->takes == SP_KERAS_TAKES_MODEL && !use->kind->wrapped)) {
        const bool namesake = use->kind->is_foreign && sp_keras_class(use->kind->class_name);
        leave_out(&use->place, use->kind,
                  namesake ? "this is a custom class, not Keras's own" : "there is no table for that class");
        return;
    }
    if (strcmp(class->name, "Merge") == 0 && sp_value_member(use->kind->config, "layers").count) {
        leave_out(&use->place, use->kind, "the models within it are not looked into");
        return;
    }
    const char *mode = quantised_said(use->place.writer->arena, use->kind);
    if (!class->part && class->takes == SP_KERAS_TAKES_NOTHING) return;
    if (mode) put_known(use, mode);
    else leave_out(&use->place, use->kind, "how it is quantised is not known");
}

/* ---- models ---- */

/* Which argument of the first call has that role in an attention, by its keyword or its place among those without one;
 * SIZE_MAX when none has. */
static size_t attended_input(const struct sp_keras_layer *layer, const char *word, size_t place)
{
    const struct sp_keras_node *call = layer->nodes;
    for (size_t i = 0, position = 0; i < call->count; i++) {
        if (call->refs[i].word && strcmp(call->refs[i].word, word) == 0) return i;
        if (!call->refs[i].word && position++ == place) return i;
    }
    return SIZE_MAX;
}

/* The shapes of query, value and key that an attention is given, in this order; how many of them there are. */
static size_t gather_attended(struct sp_keras_writer *writer, struct sp_keras_layer *layer,
                              struct sp_keras_shape inputs[3])
{
    static const char *const words[] = {"query", "value", "key"};
    size_t count = 0;
    for (size_t i = 0; i < 3 && layer->node_count; i++) {
        const size_t input = attended_input(layer, words[i], i);
        if (input == SIZE_MAX) break;
        inputs[count++] = sp_keras_input(writer, layer, 0, input, 0);
    }
    return count;
}

/* Writes a layer of a model, by its first call. */
static void put_layer_of_model(const struct place *place, struct sp_keras_layer *layer)
{
    struct sp_keras_shape inputs[3];
    size_t count = 1;
    const struct sp_keras_class *class = layer->kind.class;
    if (class && class->takes == SP_KERAS_TAKES_ATTENTION) count = gather_attended(place->writer, layer, inputs);
    else inputs[0] = sp_keras_input(place->writer, layer, 0, 0, 0);
    const struct layer_use use = {*place, &layer->kind, inputs, count};
    put_layer(&use);
}

/* Writes the layers of a model, whose names begin with `prefix` in the file. `top` is the layer of the whole model that
 * it is within; NULL when it is the whole model: then each layer has a section of its own. A section without a line, of
 * a layer without weights, is taken back. */
static void put_model(struct sp_keras_writer *writer, struct sp_keras_model *model, const char *prefix, const char *top)
{
    struct sp_map counts = {0};
    for (size_t i = 0; i < model->count; i++) {
        struct sp_keras_layer *layer = &model->layers[i];
        if (layer->is_operation) continue;
        const char *snake = counted_name(writer->arena, &counts, sp_keras_snake(writer->arena, layer->kind.class_name));
        const char *name = writer->objects ? sp_arena_printf(writer->arena, "%s/%s", writer->variables->list, snake)
                                           : layer->kind.name;
        const struct place place = {.writer = writer,
                                    .prefix = sp_arena_printf(writer->arena, "%s%s/", prefix, name),
                                    .top = top ? top : layer->kind.name,
                                    .nested = top ? layer->kind.name : NULL};
        const size_t before = writer->lines.length;
        if (!top) sp_text_printf(&writer->lines, "[%s]\n", layer->kind.key);
        const size_t heading = writer->lines.length;
        if (layer->inner) {
            put_model(writer, layer->inner, place.prefix, place.top);
            leave_out_others(writer, &layer->kind, place.prefix, place.top);
        } else put_layer_of_model(&place, layer);
        if (writer->lines.length == heading) writer->lines.length = before;
    }
    sp_map_free(&counts);
}

void sp_keras_write(struct sp_keras_writer *writer, struct sp_keras_model *model, const struct sp_keras_kind *kind)
{
    put_model(writer, model, "", NULL);
    leave_out_others(writer, kind, "", NULL);
}
