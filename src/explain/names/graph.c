/* SPDX-License-Identifier: MIT
 * What the exporters of PyTorch to ONNX make of a model. They store the weight of a matrix product transposed, under a
 * name of their own; equal tensors once; and what does not depend on the input as a constant. The nodes of the graph
 * tell which parameter a tensor is:
 *
 *     node /layers.0/linear1/MatMul (x, onnx::MatMul_53)          it is layers.0.linear1.weight, transposed
 *     node Identity (layers.0.norm.bias) -> layers.1.norm.bias    layers.1.norm.bias is layers.0.norm.bias
 *     node /layers.0/conv/Conv (x, onnx::Conv_7, onnx::Conv_8)    a convolution with the normalisation behind it
 *
 * Constants have no such node: a parameter is one of them if it alone is missing with that shape, that constant is the
 * only one of the shape, and no layer of the graph should have the parameter. diff/graph.c translates the names for a
 * comparison. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "explain/gather.h"
#include "model/graph.h"
#include "model/inventory.h"
#include "model/layouts.h"
#include "model/values.h"

struct graph {
    struct shapeproof_check *check;
    struct sp_finder finder;
    const char *front;    /* what the names of nodes leave out in front: "model.", or "" */
    size_t *missing;      /* of each predicted tensor the finding that it is missing, or SHAPEPROOF_NONE */
    size_t *unexpected;   /* of each tensor of the file the finding that it is unexpected, or SHAPEPROOF_NONE */
    bool *is_weight;      /* of each tensor of the file: it is a weight, bias or statistics of a layer */
    struct sp_map layers; /* the modules that have a layer in the graph */
    bool *taken;          /* of each finding: it is marked in one of the next ones */
    bool *renamed, *shared, *computed, *folded; /* marks of findings, one array for each cause */
    size_t named, norms;                        /* tensors whose parameter was found, and normalisations folded */
    const char *example, *of_it;                /* the first tensor whose parameter was found, and that */
    struct sp_text text;
};

static void mark(struct graph *graph, bool *marks, size_t finding) { marks[finding] = graph->taken[finding] = true; }

static const struct shapeproof_tensor *tensor_of(const struct graph *graph, size_t tensor)
{
    return shapeproof_inventory_tensor(graph->check->inventory, tensor);
}

static const struct shapeproof_predicted *predicted_of(const struct graph *graph, size_t predicted)
{
    return shapeproof_prediction_tensor(graph->check->prediction, predicted);
}

/* The predicted tensor that a parameter of the graph is, or SHAPEPROOF_NONE. */
static size_t find_parameter(struct graph *graph, const char *name)
{
    unsigned renaming;
    const size_t found = sp_finder_find(&graph->finder, name, &renaming);
    if (found != SHAPEPROOF_NONE || !*graph->front) return found;
    graph->text.length = 0;
    sp_text_printf(&graph->text, "%s%s", graph->front, name);
    return sp_finder_find(&graph->finder, graph->text.data, &renaming);
}

/* ---- parameters of nodes ---- */

/* Finds what the names of nodes leave out in front, where a tensor with a name of its own shows it: the node of
 * "model.decoder.fc1.weight" is "/decoder/fc1/Gemm" if the model calls its decoder without the module around it. */
static void find_front(struct graph *graph)
{
    const struct shapeproof_inventory *inventory = graph->check->inventory;
    graph->front = "";
    for (size_t i = 0; i < inventory->uses.count && !*graph->front; i++) {
        const struct sp_tensor_use *use = &inventory->uses.items[i];
        const size_t length = strlen(use->tensor), own = strlen(use->parameter);
        if (length > own && sp_ends_with(use->tensor, use->parameter) && use->tensor[length - own - 1] == '.')
            graph->front = sp_arena_copy(&graph->check->arena, use->tensor, length - own);
    }
}

/* Whether the tensor of a node has the shape of the parameter. */
static bool has_shape_of(const struct shapeproof_tensor *tensor, bool transposed,
                         const struct shapeproof_predicted *predicted)
{
    if (!transposed) return sp_same_shape(tensor, predicted);
    return tensor->rank == 2 && predicted->rank == 2 && tensor->shape[0] == predicted->shape[1] &&
           tensor->shape[1] == predicted->shape[0];
}

/* The name of the module that a parameter is of, with the dot behind it. */
static const char *module_of(struct graph *graph, const char *front, const char *parameter)
{
    const char *last = strrchr(parameter, '.');
    return sp_arena_printf(&graph->check->arena, "%s%.*s", front, last ? (int)(last + 1 - parameter) : 0, parameter);
}

/* Marks the findings that a node explains: its tensor is a parameter that the file lacks under its own name, or of
 * which it stores the transpose as well. */
static void read_use(struct graph *graph, const struct sp_tensor_use *use)
{
    const size_t tensor = shapeproof_inventory_find(graph->check->inventory, use->tensor);
    if (tensor == SHAPEPROOF_NONE) return;
    if (use->is_weight) {
        sp_map_add(&graph->layers, module_of(graph, "", use->parameter), 1);
        if (*graph->front) sp_map_add(&graph->layers, module_of(graph, graph->front, use->parameter), 1);
    }
    const size_t predicted = find_parameter(graph, use->parameter);
    if (use->is_weight || (predicted != SHAPEPROOF_NONE && sp_ends_with(use->parameter, ".weight")))
        graph->is_weight[tensor] = true;
    if (predicted == SHAPEPROOF_NONE ||
        !has_shape_of(tensor_of(graph, tensor), use->transposed, predicted_of(graph, predicted)))
        return;
    const size_t missing = graph->missing[predicted], unexpected = graph->unexpected[tensor];
    const bool is_own =
        unexpected != SHAPEPROOF_NONE && !graph->taken[unexpected] && !strchr(use->tensor, '.'); /* a made-up name */
    if (missing != SHAPEPROOF_NONE && graph->taken[missing]) return;
    if (missing != SHAPEPROOF_NONE) mark(graph, is_own ? graph->renamed : graph->shared, missing);
    if (!is_own) return;
    mark(graph, graph->renamed, unexpected);
    if (graph->named++) return;
    graph->example = use->tensor;
    graph->of_it = predicted_of(graph, predicted)->name;
}

/* ---- constants ---- */

/* Whether a constant may be the rows of an embedding: what was looked up, or what was added, for several places. */
static bool is_looked_up(const struct shapeproof_tensor *constant)
{
    const char *name = constant->name;
    return constant->rank >= 2 && (sp_is_of_operator(name, "embedding") || strncmp(name, "onnx::Add_", 10) == 0);
}

/* Whether a matrix has a row for each token, place or kind, by its name. */
static bool is_embedding(const struct shapeproof_predicted *matrix)
{
    return matrix->rank == 2 && (strstr(matrix->name, "emb") || strstr(matrix->name, "pos") ||
                                 sp_ends_with(matrix->name, "wte.weight") || sp_ends_with(matrix->name, "wpe.weight"));
}

/* A tensor that the exporter named after an operator, and that no node uses as a weight. */
static bool is_constant(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                        const void *is_weight)
{
    (void)check;
    return sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED) && sp_is_graph_constant(finding->name) &&
           !((const bool *)is_weight)[finding->tensor];
}

/* What is missing, and which constants there are, of one key. */
struct tally {
    size_t missing, constants;                /* how many */
    size_t missing_finding, constant_finding; /* the last ones */
};

struct tallies {
    struct sp_arena arena;
    struct sp_map keys;
    SP_ARRAY(struct tally) items;
};

static struct tally *tally_of(struct tallies *tallies, const char *key)
{
    if (sp_map_add(&tallies->keys, key, tallies->items.count)) *SP_PUSH(&tallies->items) = (struct tally){0};
    return &tallies->items.items[sp_map_get(&tallies->keys, key)];
}

/* The dimensions of a shape that are not 1: "8 32 " of (1, 8, 32). */
static const char *key_of_shape(struct sp_arena *arena, const uint64_t *shape, uint32_t rank)
{
    struct sp_text text = {0};
    for (uint32_t d = 0; d < rank; d++)
        if (shape[d] != 1) sp_text_printf(&text, "%" PRIu64 " ", shape[d]);
    return text.length ? sp_text_keep(&text, arena) : "";
}

/* Marks each missing parameter and each constant that are the only ones of a key: of their shape, or (`rows`) of the
 * length of their rows, where an embedding was looked up for the positions of the example alone. */
static void pair_constants(struct graph *graph, bool rows)
{
    struct tallies tallies = {.arena = {0}};
    const struct shapeproof_check *check = graph->check;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (graph->taken[i]) continue;
        if (sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_MISSING)) {
            const struct shapeproof_predicted *tensor = predicted_of(graph, finding->predicted);
            if (rows ? !is_embedding(tensor) : !tensor->rank) continue;
            if (sp_map_get(&graph->layers, module_of(graph, "", tensor->name)) != SIZE_MAX) continue;
            const uint32_t from = rows ? 1 : 0;
            struct tally *tally =
                tally_of(&tallies, key_of_shape(&tallies.arena, tensor->shape + from, tensor->rank - from));
            tally->missing++;
            tally->missing_finding = i;
        } else if (is_constant(check, finding, graph->is_weight)) {
            const struct shapeproof_tensor *tensor = tensor_of(graph, finding->tensor);
            if (!tensor->rank || !sp_is_float(tensor->dtype)) continue;
            if (rows && !is_looked_up(tensor)) continue;
            const uint32_t from = rows ? tensor->rank - 1 : 0;
            struct tally *tally =
                tally_of(&tallies, key_of_shape(&tallies.arena, tensor->shape + from, tensor->rank - from));
            tally->constants++;
            tally->constant_finding = i;
        }
    }
    for (size_t i = 0; i < tallies.items.count; i++) {
        const struct tally *tally = &tallies.items.items[i];
        if (tally->missing != 1 || tally->constants != 1) continue;
        mark(graph, graph->computed, tally->missing_finding);
        mark(graph, graph->computed, tally->constant_finding);
    }
    sp_free(tallies.items.items);
    sp_map_free(&tallies.keys);
    sp_arena_free(&tallies.arena);
}

/* ---- normalisations ---- */

/* The finding that the parameter of a module is missing, or SHAPEPROOF_NONE. */
static size_t missing_of(struct graph *graph, const char *module, size_t length, const char *parameter)
{
    graph->text.length = 0;
    sp_text_printf(&graph->text, "%.*s%s", (int)length, module, parameter);
    const size_t predicted = shapeproof_prediction_find(graph->check->prediction, graph->text.data);
    return predicted == SHAPEPROOF_NONE ? SHAPEPROOF_NONE : graph->missing[predicted];
}

/* Marks what is missing of a normalisation, if all of it is. */
static void mark_normalisation(struct graph *graph, const char *mean)
{
    static const char *const parameters[] = {"running_mean", "running_var", "weight", "bias", "num_batches_tracked"};
    enum { NEEDED = 4, ALL = sizeof parameters / sizeof *parameters };
    const size_t length = strlen(mean) - strlen(parameters[0]);
    size_t findings[ALL];
    for (size_t i = 0; i < ALL; i++) {
        findings[i] = missing_of(graph, mean, length, parameters[i]);
        if (i < NEEDED && (findings[i] == SHAPEPROOF_NONE || graph->taken[findings[i]])) return;
    }
    for (size_t i = 0; i < ALL; i++)
        if (findings[i] != SHAPEPROOF_NONE) mark(graph, graph->folded, findings[i]);
    graph->norms++;
}

/* Marks a tensor that is the bias of a convolution that has none in the model. `weight` is the name of its weight. */
static void mark_added_bias(struct graph *graph, size_t tensor, const char *weight)
{
    const size_t predicted = find_parameter(graph, weight), finding = graph->unexpected[tensor];
    const struct shapeproof_tensor *bias = tensor_of(graph, tensor);
    enum { LEAST = 3 }; /* dimensions of the kernel of a convolution */
    if (predicted == SHAPEPROOF_NONE || finding == SHAPEPROOF_NONE || graph->taken[finding]) return;
    const struct shapeproof_predicted *kernel = predicted_of(graph, predicted);
    if (kernel->rank >= LEAST && bias->rank == 1 && bias->shape[0] == kernel->shape[0])
        mark(graph, graph->folded, finding);
}

/* Whether a node uses a tensor as the bias of a layer. */
static bool is_bias(const struct sp_tensor_use *use) { return use->is_weight && sp_ends_with(use->parameter, ".bias"); }

/* How many biases the layers of the file have: a node uses them, or they have the name that a folding gives. */
static size_t count_biases(const struct shapeproof_inventory *inventory)
{
    size_t biases = 0;
    for (size_t i = 0; i < inventory->uses.count; i++)
        biases += is_bias(&inventory->uses.items[i]) &&
                  shapeproof_inventory_find(inventory, inventory->uses.items[i].tensor) != SHAPEPROOF_NONE;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        biases += sp_ends_with(shapeproof_inventory_tensor(inventory, i)->name, ".weight_bias");
    return biases;
}

/* How many normalisations the file lacks statistics of. */
static size_t count_lost_norms(const struct graph *graph)
{
    size_t norms = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(graph->check->prediction); i++)
        norms += graph->missing[i] != SHAPEPROOF_NONE && sp_ends_with(predicted_of(graph, i)->name, ".running_mean");
    return norms;
}

/* Marks the normalisations that were folded into the convolutions before them, which have biases by that. Not if the
 * graph has a node of a normalisation: then it has such by themselves. Nor if there are fewer biases than that: then
 * the normalisations are lost. */
static void find_folded(struct graph *graph)
{
    const struct shapeproof_inventory *inventory = graph->check->inventory;
    for (size_t i = 0; i < inventory->uses.count; i++)
        if (sp_ends_with(inventory->uses.items[i].parameter, ".running_mean")) return;
    if (count_biases(inventory) < count_lost_norms(graph)) return;
    for (size_t i = 0; i < shapeproof_prediction_count(graph->check->prediction); i++)
        if (graph->missing[i] != SHAPEPROOF_NONE && sp_ends_with(predicted_of(graph, i)->name, ".running_mean"))
            mark_normalisation(graph, predicted_of(graph, i)->name);
    if (!graph->norms) return;
    for (size_t i = 0; i < inventory->uses.count; i++) {
        const struct sp_tensor_use *use = &inventory->uses.items[i];
        const size_t tensor = shapeproof_inventory_find(inventory, use->tensor), length = strlen(use->parameter);
        if (tensor == SHAPEPROOF_NONE || !sp_ends_with(use->parameter, ".bias")) continue;
        struct sp_text weight = {0};
        sp_text_printf(&weight, "%.*sweight", (int)(length - strlen("bias")), use->parameter);
        mark_added_bias(graph, tensor, weight.data);
        sp_text_free(&weight);
    }
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const char *name = tensor_of(graph, i)->name;
        if (graph->unexpected[i] == SHAPEPROOF_NONE || !sp_ends_with(name, ".weight_bias")) continue;
        struct sp_text weight = {0};
        sp_text_append(&weight, name, strlen(name) - strlen("_bias"));
        mark_added_bias(graph, i, weight.data);
        sp_text_free(&weight);
    }
}

/* ---- causes ---- */

static void say_names(struct graph *graph)
{
    struct sp_arena *arena = &graph->check->arena;
    struct shapeproof_cause *cause = sp_gather(graph->check, SP_CAUSE_GRAPH_NAMES, sp_is_marked, graph->renamed);
    if (!cause) return;
    cause->message = sp_arena_printf(arena, "%s %s a name that the exporter to ONNX made up, such as %s for %s",
                                     sp_count_of(arena, graph->named, "weight"), graph->named == 1 ? "has" : "have",
                                     graph->example, graph->of_it);
    cause->hint =
        "runtimes of ONNX need no other names; to load the weights elsewhere, save the state_dict of the model";
}

static void say_shared(struct graph *graph)
{
    struct shapeproof_cause *cause = sp_gather(graph->check, SP_CAUSE_GRAPH_SHARED, sp_is_marked, graph->shared);
    if (cause)
        sp_cause_set_message(graph->check, cause, "the exporter to ONNX stored equal tensors once, and left out");
}

static void say_computed(struct graph *graph)
{
    struct shapeproof_cause *cause = sp_gather(graph->check, SP_CAUSE_GRAPH_COMPUTED, sp_is_marked, graph->computed);
    if (!cause) return;
    cause->message =
        sp_arena_printf(&graph->check->arena, "the exporter to ONNX stored what it computed from parameters: %s",
                        sp_cause_file_summary(graph->check, graph->check->cause_count - 1));
    cause->hint = "export the model with dynamic shapes, if it is to take longer inputs than the example";
}

static void say_folded(struct graph *graph)
{
    struct sp_arena *arena = &graph->check->arena;
    struct shapeproof_cause *cause = sp_gather(graph->check, SP_CAUSE_GRAPH_FOLDED, sp_is_marked, graph->folded);
    if (!cause) return;
    const bool one = graph->norms == 1;
    cause->message = sp_arena_printf(arena, "the exporter to ONNX folded %s into the %s before %s",
                                     sp_count_of(arena, graph->norms, "normalisation"),
                                     one ? "convolution" : "convolutions", one ? "it" : "them");
    cause->hint = "runtimes of ONNX compute the same; to load the weights elsewhere, save the state_dict of the model";
}

void sp_explain_graph(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    const size_t tensors = shapeproof_inventory_count(inventory), findings = check->finding_count;
    if (!sp_is_torch_export(inventory) || !sp_check_open(check)) return;
    struct graph graph = {.check = check,
                          .finder = sp_predicted_finder(&check->naming, check->prediction),
                          .missing = sp_check_missing(check),
                          .unexpected = sp_realloc(NULL, tensors, sizeof *graph.unexpected),
                          .is_weight = sp_arena_array(&check->arena, tensors, sizeof *graph.is_weight),
                          .taken = sp_arena_array(&check->arena, findings, sizeof *graph.taken),
                          .renamed = sp_arena_array(&check->arena, findings, sizeof *graph.renamed),
                          .shared = sp_arena_array(&check->arena, findings, sizeof *graph.shared),
                          .computed = sp_arena_array(&check->arena, findings, sizeof *graph.computed),
                          .folded = sp_arena_array(&check->arena, findings, sizeof *graph.folded)};
    for (size_t i = 0; i < tensors; i++) graph.unexpected[i] = SHAPEPROOF_NONE;
    for (size_t i = 0; i < findings; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_UNEXPECTED))
            graph.unexpected[check->findings[i].tensor] = i;
    find_front(&graph);
    for (size_t i = 0; i < inventory->uses.count; i++) read_use(&graph, &inventory->uses.items[i]);
    find_folded(&graph);
    pair_constants(&graph, false);
    pair_constants(&graph, true);
    say_names(&graph);
    say_shared(&graph);
    say_computed(&graph);
    say_folded(&graph);
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_GRAPH_CONSTANTS, is_constant, graph.is_weight);
    if (cause) sp_cause_set_message(check, cause, "the file also has constants that the exporter to ONNX computed");
    sp_finder_free(&graph.finder);
    sp_map_free(&graph.layers);
    sp_text_free(&graph.text);
    sp_free(graph.missing);
    sp_free(graph.unexpected);
}
