/* SPDX-License-Identifier: MIT
 * ONNX: a ModelProto in the wire format of protocol buffers, whose graph (field 7) has the weights as its initializers
 * (field 5), a TensorProto each: 1 dimensions, 2 type, 8 name, 9 raw data, 14 whether the data lie in another file, 13
 * in which one.
 * Of nodes (field 1 of the graph) those are read that take weights: 1 inputs, 3 name, 4 operator, 5 attributes, 9
 * metadata. The exporters of PyTorch write into the name, or into the metadata, which module a node comes from.
 * What is data is passed over. The fields are walked here, in a few lines (read/proto.c): a generated parser would read
 * all of the weights into memory, and would have to be generated.
 * Not listed: constants of nodes, sparse initializers, initializers of the graphs within nodes.
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */
#include <inttypes.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "read/proto.h"
#include "read/reader.h"

static const struct sp_format onnx_format = {"onnx", 0};

enum {
    MODEL_GRAPH = 7,
    GRAPH_NODE = 1,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11, /* to 16 are outputs, values, annotations, sparse initializers and metadata */
    GRAPH_METADATA = 16,
    MODEL_OPERATORS = 8,
    MODEL_METADATA = 14,
    MODEL_TRAINING = 20,
    MODEL_FUNCTION = 25,
    GRAPH_SPARSE = 15,
    MAX_TOP_FIELDS = 100000,
    MAX_TEXT = 4096
};
enum { DIMS = 1, TYPE = 2, SEGMENT = 3, NAME = 8, RAW = 9, EXTERNAL = 13, LOCATION = 14 };

struct model {
    struct sp_window window;
    struct shapeproof_inventory *inventory;
    struct shapeproof_error why; /* of the window, while a tensor is read */
    struct sp_names places;
    struct sp_map known_places;
    uint64_t external, sparse;
    uint64_t broken;  /* nodes and other messages, not of tensors, with broken fields */
    uint64_t outside; /* tensors whose data would be looked for outside of the folder */
    const char *first_outside, *first_place;
    uint32_t file;
};

struct initializer {
    const char *name;
    const char *place; /* the file with the data, relative to the folder of the model */
    int64_t type;
    uint32_t rank;
    uint64_t shape[SP_MAX_RANK];
    uint64_t raw_begin, raw_end; /* where the data in one piece lie; `raw_end` 0: there are none */
    bool external;               /* the data are in another file */
    bool negative;               /* a dimension is */
    bool deep;                   /* more than SP_MAX_RANK dimensions */
    bool segment;                /* a part of a tensor, which no known writer makes */
};

/* ---- types ---- */

static const struct {
    enum shapeproof_dtype dtype;
    const char *name; /* when there is no such dtype */
} types[] = {
    [1] = {SHAPEPROOF_DTYPE_F32, NULL},
    [2] = {SHAPEPROOF_DTYPE_U8, NULL},
    [3] = {SHAPEPROOF_DTYPE_I8, NULL},
    [4] = {SHAPEPROOF_DTYPE_U16, NULL},
    [5] = {SHAPEPROOF_DTYPE_I16, NULL},
    [6] = {SHAPEPROOF_DTYPE_I32, NULL},
    [7] = {SHAPEPROOF_DTYPE_I64, NULL},
    [8] = {0, "string"},
    [9] = {SHAPEPROOF_DTYPE_BOOL, NULL},
    [10] = {SHAPEPROOF_DTYPE_F16, NULL},
    [11] = {SHAPEPROOF_DTYPE_F64, NULL},
    [12] = {SHAPEPROOF_DTYPE_U32, NULL},
    [13] = {SHAPEPROOF_DTYPE_U64, NULL},
    [14] = {SHAPEPROOF_DTYPE_C64, NULL},
    [15] = {SHAPEPROOF_DTYPE_C128, NULL},
    [16] = {SHAPEPROOF_DTYPE_BF16, NULL},
    [17] = {SHAPEPROOF_DTYPE_F8_E4M3, NULL},
    [18] = {SHAPEPROOF_DTYPE_F8_E4M3FNUZ, NULL},
    [19] = {SHAPEPROOF_DTYPE_F8_E5M2, NULL},
    [20] = {SHAPEPROOF_DTYPE_F8_E5M2FNUZ, NULL},
    [21] = {0, "U4"},
    [22] = {0, "I4"},
    [23] = {SHAPEPROOF_DTYPE_F4, NULL},
    [24] = {SHAPEPROOF_DTYPE_F8_E8M0, NULL},
    [25] = {0, "U2"},
    [26] = {0, "I2"},
    [27] = {SHAPEPROOF_DTYPE_F6_E2M3, NULL},
    [28] = {SHAPEPROOF_DTYPE_F6_E3M2, NULL},
};

static void set_type(struct shapeproof_tensor *tensor, int64_t type, struct sp_arena *arena)
{
    const bool known = type > 0 && (uint64_t)type < sizeof types / sizeof *types;
    if (known) tensor->dtype = types[type].dtype;
    if (tensor->dtype) tensor->dtype_name = shapeproof_dtype_name(tensor->dtype);
    else if (known) tensor->dtype_name = types[type].name;
    else tensor->dtype_name = sp_arena_printf(arena, "type%" PRId64, type);
}

/* ---- one tensor ---- */

static void take_dimension(struct initializer *tensor, uint64_t size)
{
    if (size > INT64_MAX) tensor->negative = true;
    if (tensor->rank == SP_MAX_RANK) tensor->deep = true;
    else tensor->shape[tensor->rank++] = size;
}

/* Written one by one, or all together. */
static void take_dimensions(struct model *model, const struct sp_proto_field *field, struct initializer *tensor)
{
    struct sp_window *window = &model->window;
    if (field->kind == SP_PROTO_VARINT) take_dimension(tensor, field->value);
    if (field->kind != SP_PROTO_BYTES) return;
    sp_proto_enter(window, field);
    while (window->ok && window->at < field->end && !tensor->deep) take_dimension(tensor, sp_proto_varint(window));
    if (window->ok && window->at > field->end)
        window->ok = sp_malformed(window->error, "a dimension passes the end of the list of dimensions");
    if (window->ok) window->at = field->end;
}

static const char *take_text(struct model *model, const struct sp_proto_field *field, size_t limit)
{
    if (field->kind != SP_PROTO_BYTES) return "";
    sp_proto_enter(&model->window, field);
    return sp_window_text(&model->window, field->end - field->begin, limit, &model->inventory->arena);
}

/* A key and a value about where the data lie; the name of the file is kept. Of several, the last one counts. */
static void take_place(struct model *model, const struct sp_proto_field *field, struct initializer *tensor)
{
    struct sp_window *window = &model->window;
    const char *key = "", *value = "";
    struct sp_proto_field part;
    sp_proto_enter(window, field);
    while (sp_proto_next(window, field->end, &part)) {
        if (sp_proto_is(&part, 1, SP_PROTO_BYTES)) key = take_text(model, &part, MAX_TEXT);
        if (sp_proto_is(&part, 2, SP_PROTO_BYTES)) value = take_text(model, &part, MAX_TEXT);
    }
    if (window->ok && !strcmp(key, "location")) tensor->place = value;
}

/* Whether the name of a file is none within a folder: empty, absolute, or with more ".." than folders before them. A
 * backslash and a drive letter count, too, as they do in Windows. */
static bool leaves_folder(const char *place)
{
    int depth = 0;
    if (!*place || *place == '/' || *place == '\\' || (place[1] == ':' && (place[2] == '/' || place[2] == '\\')))
        return true;
    while (*place && depth >= 0) {
        const size_t length = strcspn(place, "/\\");
        if (length == 2 && !memcmp(place, "..", 2)) depth--;
        else if (length && !(length == 1 && *place == '.')) depth++;
        place += length;
        place += *place != '\0';
    }
    return depth < 0;
}

/* Notes in which file the data of the tensor lie. */
static void note_place(struct model *model, const struct initializer *tensor)
{
    if (!tensor->external) return;
    model->external++;
    if (sp_map_add(&model->known_places, tensor->place, 0)) sp_names_add(&model->places, tensor->place);
    if (!leaves_folder(tensor->place) || model->outside++) return;
    model->first_outside = tensor->name;
    model->first_place = tensor->place;
}

/* float_data, int32_data, string_data, int64_data, double_data and uint64_data: data that are not in one piece. */
static bool is_data_field(uint64_t number) { return (number >= 4 && number <= 7) || number == 10 || number == 11; }

static void take_field(struct model *model, const struct sp_proto_field *field, struct initializer *tensor)
{
    if (field->number == DIMS) take_dimensions(model, field, tensor);
    if (sp_proto_is(field, TYPE, SP_PROTO_VARINT)) tensor->type = sp_proto_int32(field);
    if (sp_proto_is(field, NAME, SP_PROTO_BYTES)) tensor->name = take_text(model, field, SP_MAX_NAME);
    if (sp_proto_is(field, SEGMENT, SP_PROTO_BYTES)) tensor->segment = true;
    if (sp_proto_is(field, EXTERNAL, SP_PROTO_BYTES)) take_place(model, field, tensor);
    if (sp_proto_is(field, LOCATION, SP_PROTO_VARINT) && field->value <= 1) tensor->external = field->value == 1;
    if (is_data_field(field->number) && field->kind == SP_PROTO_BYTES)
        sp_inventory_claim(model->inventory, model->file, field->begin, field->end, SP_USE_TENSOR);
    if (sp_proto_is(field, RAW, SP_PROTO_BYTES)) {
        tensor->raw_begin = field->begin;
        tensor->raw_end = field->end;
    }
}

/* The data in one piece must be as many bytes as shape and type need. */
static bool set_data(struct shapeproof_tensor *tensor, const struct initializer *from, struct shapeproof_error *error)
{
    const uint64_t bytes = from->raw_end - from->raw_begin;
    if (!from->raw_end || !tensor->dtype || from->external) return true;
    if (bytes != tensor->bytes)
        return sp_malformed(error, "%" PRIu64 " bytes of data, shape and type need %" PRIu64, bytes, tensor->bytes);
    if (!bytes) return true;
    tensor->data_begin = from->raw_begin;
    tensor->data_end = from->raw_end;
    return true;
}

/* Elements that are no whole bytes: of an odd number of them, or of one to a byte, the size is not told. */
static bool is_packed_otherwise(struct shapeproof_tensor *tensor, const struct initializer *from)
{
    if (!(shapeproof_dtype_bits(tensor->dtype) % 8)) return false;
    return !sp_tensor_measure(tensor) || (from->raw_end && from->raw_end - from->raw_begin != tensor->bytes);
}

static bool describe_initializer(struct model *model, const struct initializer *from, struct shapeproof_tensor *tensor,
                                 struct shapeproof_error *error)
{
    struct sp_arena *arena = &model->inventory->arena;
    uint64_t *shape = sp_arena_array(arena, from->rank ? from->rank : 1, sizeof *shape);
    memcpy(shape, from->shape, from->rank * sizeof *shape);
    *tensor = (struct shapeproof_tensor){.name = from->name, .file = model->file, .same_as = SHAPEPROOF_NONE};
    tensor->shape = shape;
    tensor->rank = from->rank;
    set_type(tensor, from->type, arena);
    if (from->deep)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d dimensions", SP_MAX_RANK);
    if (from->negative) return sp_malformed(error, "a dimension is negative");
    if (from->segment) return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "a tensor in segments");
    if (is_packed_otherwise(tensor, from)) tensor->dtype = SHAPEPROOF_DTYPE_UNKNOWN;
    if (!sp_tensor_measure(tensor))
        return sp_malformed(error, "the size of its data overflows 64 bits, or fills no whole bytes");
    return set_data(tensor, from, error);
}

/* Reads one initializer (a TensorProto of the graph). A broken one is noted as unread, and reading goes on behind it,
 * since its length is known. False with an error when it is about more than this one. */
static bool take_initializer(struct model *model, const struct sp_proto_field *field, struct shapeproof_error *error)
{
    struct initializer from = {.name = "", .place = ""};
    struct sp_proto_field part;
    struct shapeproof_tensor described;
    struct shapeproof_error why = {0};
    sp_proto_enter(&model->window, field);
    while (sp_proto_next(&model->window, field->end, &part)) {
        take_field(model, &part, &from);
        if (model->window.ok) model->window.at = part.end;
    }
    if (!model->window.ok) { /* which has put the reason into model->why */
        model->window.ok = true;
        model->window.at = field->end;
        const struct shapeproof_error broken = model->why;
        model->why = (struct shapeproof_error){0};
        return sp_inventory_unread(model->inventory, from.name, &broken, error);
    }
    if (!describe_initializer(model, &from, &described, &why))
        return sp_inventory_unread(model->inventory, from.name, &why, error);
    struct shapeproof_tensor *tensor = sp_inventory_add(model->inventory, error);
    if (!tensor) return false;
    *tensor = described;
    note_place(model, &from);
    return true;
}

/* Passes over a message of which nothing is used here, and counts it if its fields are broken: the library parses the
 * whole file, or refuses it. Messages within it are not looked at. */
static void check_message(struct model *model, const struct sp_proto_field *field)
{
    struct sp_window *window = &model->window;
    struct sp_proto_field part;
    if (field->kind != SP_PROTO_BYTES || !window->ok) return;
    sp_proto_enter(window, field);
    while (sp_proto_next(window, field->end, &part)) continue;
    model->broken += !window->ok;
    window->ok = true;
    window->at = field->end;
    model->why = (struct shapeproof_error){0};
}

/* ---- nodes ---- */

enum {
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OPERATOR = 4,
    NODE_ATTRIBUTE = 5,
    NODE_METADATA = 9,
    MAX_INPUTS = 5
};

struct node {
    const char *inputs[MAX_INPUTS], *name, *type, *scopes, *output;
    size_t input_count;
    bool transposes; /* transB of Gemm */
};

/* What the inputs of an operator are to the module that it comes from; "" for no parameter. */
static const struct {
    const char *type, *parameters[MAX_INPUTS];
    bool multiplies; /* by the transpose of the weight */
    bool is_layer;   /* these inputs are never anything else */
} operators[] = {
    {"MatMul", {"weight", "weight", "", "", ""}, true, true},
    {"Gemm", {"", "weight", "bias", "", ""}, true, true},
    {"Add", {"bias", "bias", "", "", ""}, false, false},
    {"Conv", {"", "weight", "bias", "", ""}, false, true},
    {"ConvTranspose", {"", "weight", "bias", "", ""}, false, true},
    {"LayerNormalization", {"", "weight", "bias", "", ""}, false, true},
    {"InstanceNormalization", {"", "weight", "bias", "", ""}, false, true},
    {"BatchNormalization", {"", "weight", "bias", "running_mean", "running_var"}, false, true},
    {"LSTM", {"", "weight_ih", "weight_hh", "bias", ""}, false, true},
    {"GRU", {"", "weight_ih", "weight_hh", "bias", ""}, false, true},
    {"RNN", {"", "weight_ih", "weight_hh", "bias", ""}, false, true},
    {"Gather", {"weight", "", "", "", ""}, false, false},
};

/* Whether the component of a node's name is a Sequential whose member comes next: "layer" of "layer/layer.0", which is
 * "layer.0" in names of parameters. */
static bool is_sequence(const char *component)
{
    const size_t length = strcspn(component, "/");
    const char *next = component[length] ? component + length + 1 : "";
    return strncmp(next, component, length) == 0 && next[length] == '.' && sp_is_digit(next[length + 1]);
}

/* The module that a node comes from: "layers.0.linear1" of the name "/layers.0/linear1/MatMul", or of the scopes "['',
 * 'layers.0', 'layers.0.linear1', 'linear_1']", whose last one is the operator. NULL when neither says it. */
static const char *module_of(struct model *model, const struct node *node)
{
    struct sp_text text = {0};
    const char *end = *node->scopes ? strrchr(node->scopes, ',') : *node->name == '/' ? strrchr(node->name, '/') : NULL;
    if (end && *node->scopes) {
        const char *begin;
        for (begin = end; begin > node->scopes && begin[-1] != ' ' && begin[-1] != '[';) begin--;
        if (end - begin > 2 && *begin == '\'' && end[-1] == '\'')
            sp_text_append(&text, begin + 1, (size_t)(end - begin) - 2);
    } else if (end)
        for (const char *at = node->name + 1; at < end; at++) {
            while (at[-1] == '/' && is_sequence(at)) at += strcspn(at, "/") + 1;
            sp_text_append(&text, *at == '/' ? "." : at, 1);
        }
    if (text.length) return sp_text_keep(&text, &model->inventory->arena);
    sp_text_free(&text);
    return NULL;
}

/* Whether the node is one into which the exporter has folded the normalisation that its scopes name. */
static bool is_folded(const struct node *node)
{
    return strncmp(node->type, "Conv", 4) == 0 && strstr(node->scopes, "batch_norm");
}

/* Notes of each input which parameter it is. An Identity gives a parameter the name that it would have had, were it not
 * equal to another one. Most inputs are no initializers but the outputs of other nodes: whoever looks for a tensor of
 * that name finds none. */
static void note_uses(struct model *model, const struct node *node)
{
    const char *module = NULL;
    if (strcmp(node->type, "Identity") == 0 && node->input_count == 1 && *node->inputs[0] && *node->output)
        *SP_PUSH(&model->inventory->uses) = (struct sp_tensor_use){node->inputs[0], node->output, false, false};
    if (is_folded(node)) return;
    for (size_t op = 0; op < sizeof operators / sizeof *operators; op++) {
        if (strcmp(node->type, operators[op].type) != 0) continue;
        if (!(module = module_of(model, node))) return;
        for (size_t i = 0; i < node->input_count; i++) {
            const char *parameter = operators[op].parameters[i];
            if (!*parameter || !*node->inputs[i]) continue;
            *SP_PUSH(&model->inventory->uses) = (struct sp_tensor_use){
                node->inputs[i], sp_arena_printf(&model->inventory->arena, "%s.%s", module, parameter),
                operators[op].multiplies && !node->transposes && strcmp(parameter, "weight") == 0,
                operators[op].is_layer};
        }
    }
}

/* A key and a value: the scopes of the node, as torch.export has them. */
static void take_metadata(struct model *model, const struct sp_proto_field *field, struct node *node)
{
    const char *key = "", *value = "";
    struct sp_proto_field part;
    sp_proto_enter(&model->window, field);
    while (sp_proto_next(&model->window, field->end, &part)) {
        if (sp_proto_is(&part, 1, SP_PROTO_BYTES)) key = take_text(model, &part, MAX_TEXT);
        if (sp_proto_is(&part, 2, SP_PROTO_BYTES) && strcmp(key, "pkg.torch.onnx.name_scopes") == 0)
            value = take_text(model, &part, MAX_TEXT);
        if (model->window.ok) model->window.at = part.end;
    }
    if (*value) node->scopes = value;
}

/* Whether the attribute is transB with the value 1: field 1 is its name, 3 its value. */
static bool is_transposition(struct model *model, const struct sp_proto_field *field)
{
    bool named = false, set = false;
    struct sp_proto_field part;
    sp_proto_enter(&model->window, field);
    while (sp_proto_next(&model->window, field->end, &part)) {
        if (sp_proto_is(&part, 1, SP_PROTO_BYTES)) named = strcmp(take_text(model, &part, MAX_TEXT), "transB") == 0;
        if (part.number == 3 && part.kind == SP_PROTO_VARINT) set = part.value == 1;
        if (model->window.ok) model->window.at = part.end;
    }
    return named && set;
}

/* Reads one node. A node that cannot be read names no module, since no tensor depends on it. */
static void take_node(struct model *model, const struct sp_proto_field *field)
{
    struct sp_window *window = &model->window;
    struct node node = {.name = "", .type = "", .scopes = "", .output = ""};
    struct sp_proto_field part;
    sp_proto_enter(window, field);
    while (sp_proto_next(window, field->end, &part)) {
        if (part.kind != SP_PROTO_BYTES) continue;
        if (part.number == NODE_INPUT && node.input_count < MAX_INPUTS)
            node.inputs[node.input_count++] = take_text(model, &part, SP_MAX_NAME);
        if (part.number == NODE_OUTPUT && !*node.output) node.output = take_text(model, &part, SP_MAX_NAME);
        if (part.number == NODE_NAME) node.name = take_text(model, &part, SP_MAX_NAME);
        if (part.number == NODE_OPERATOR) node.type = take_text(model, &part, MAX_TEXT);
        if (part.number == NODE_ATTRIBUTE && strcmp(node.type, "Gemm") == 0)
            node.transposes = node.transposes || is_transposition(model, &part);
        if (part.number == NODE_METADATA) take_metadata(model, &part, &node);
        if (window->ok) window->at = part.end;
    }
    if (window->ok) {
        note_uses(model, &node);
        return;
    }
    window->ok = true;
    check_message(model, field);
}

/* ---- the model ---- */

static bool take_graph(struct model *model, const struct sp_proto_field *graph, struct shapeproof_error *error)
{
    struct sp_window *window = &model->window;
    struct sp_proto_field field;
    sp_proto_enter(window, graph);
    while (sp_proto_next(window, graph->end, &field)) {
        model->sparse += sp_proto_is(&field, GRAPH_SPARSE, SP_PROTO_BYTES);
        if (sp_proto_is(&field, GRAPH_NODE, SP_PROTO_BYTES)) take_node(model, &field);
        if (field.number >= GRAPH_INPUT && field.number <= GRAPH_METADATA) check_message(model, &field);
        if (!sp_proto_is(&field, GRAPH_INITIALIZER, SP_PROTO_BYTES)) continue;
        if (!take_initializer(model, &field, error)) return false;
        window->at = field.end;
    }
    return window->ok || sp_fail(error, model->why.status, model->why.kind, "%s", model->why.message);
}

static void add_text(struct model *model, const struct sp_proto_field *field, const char *key)
{
    const char *text = take_text(model, field, MAX_TEXT);
    if (model->window.ok && *text) sp_inventory_add_metadata(model->inventory, key, text);
}

static bool take_model(struct model *model, struct shapeproof_error *error)
{
    static const char *const texts[] = {[2] = "producer_name", [3] = "producer_version"};
    struct sp_window *window = &model->window;
    struct sp_proto_field field;
    bool found = false;
    while (sp_proto_next(window, window->end, &field)) {
        if (field.number == 2 || field.number == 3) add_text(model, &field, texts[field.number]);
        if (sp_proto_is(&field, MODEL_GRAPH, SP_PROTO_BYTES)) {
            found = true;
            if (!take_graph(model, &field, error)) return false;
        }
        if (field.number == MODEL_OPERATORS || field.number == MODEL_METADATA || field.number == MODEL_TRAINING ||
            field.number == MODEL_FUNCTION)
            check_message(model, &field);
        if (window->ok) window->at = field.end;
    }
    if (!window->ok) return sp_fail(error, model->why.status, model->why.kind, "%s", model->why.message);
    return found || sp_malformed(error, "a model without a graph");
}

/* The whole outermost message is walked, field by field: there is no magic number. */
static unsigned probe_onnx(const struct sp_probe *probe)
{
    struct shapeproof_error ignored = {0};
    struct sp_window window;
    struct sp_proto_field field;
    bool graph = false, version = false;
    unsigned count = 0;
    const unsigned named = sp_ends_with(probe->file->path, ".onnx");
    if (probe->head_length < 4 || (probe->head[0] != 0x08 && probe->head[0] != 0x12 && probe->head[0] != 0x3a))
        return named;
    sp_window_open(&window, probe->file, 0, UINT64_MAX, &ignored);
    while (sp_proto_next(&window, window.end, &field) && count++ < MAX_TOP_FIELDS) {
        if (field.number > 32) return named;
        version = version || (field.number == 1 && field.kind == SP_PROTO_VARINT && field.value < 100);
        graph = graph || (field.number == MODEL_GRAPH && field.kind == SP_PROTO_BYTES);
    }
    return window.ok && window.at == window.end && graph && version ? 24 : named;
}

static bool index_onnx(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error)
{
    struct model model = {.inventory = inventory, .file = file_index};
    sp_window_open(&model.window, file, 0, UINT64_MAX, &model.why);
    model.window.what = "the model";
    const bool ok = take_model(&model, error);
    if (ok && model.external)
        sp_inventory_add_metadata(inventory, "external_data", model.places.count ? sp_names_text(&model.places) : "?");
    if (ok && model.broken)
        sp_inventory_warn(inventory, "onnx refuses it: nodes or other messages with broken fields: %" PRIu64,
                          model.broken);
    if (ok && model.outside)
        sp_inventory_warn(inventory,
                          "tensors with data at no place within the folder of the model: %" PRIu64
                          ", the first %s at %s; onnx refuses them",
                          model.outside, sp_quote(model.first_outside).text, sp_quote(model.first_place).text);
    if (ok && model.sparse)
        sp_inventory_warn(inventory, "sparse initializers, which are not listed: %" PRIu64, model.sparse);
    sp_names_free(&model.places);
    sp_map_free(&model.known_places);
    if (ok) sp_inventory_claim(inventory, file_index, 0, file->size, SP_USE_STRUCTURE); /* walked to its end */
    if (ok) inventory->format = &onnx_format;
    return ok;
}

static const struct sp_file_ending endings[] = {{".onnx", SP_IF_ALONE | SP_IN_ARCHIVES}, {NULL, 0}};

const struct sp_reader sp_reader_onnx = {.name = "onnx", .endings = endings, .probe = probe_onnx, .index = index_onnx};
