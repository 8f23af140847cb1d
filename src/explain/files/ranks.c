/* SPDX-License-Identifier: MIT
 * Files that hold a part of each tensor: what one rank of several has in memory.
 *
 * ZeRO stage 3 flattens and divides each parameter; saved without gathering, its place is taken by an empty tensor, or
 * by one of a single element. Tensor parallelism cuts matrices along one dimension into equal slices. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "base/names.h"
#include "check/check.h"
#include "explain/gather.h"
#include "explain/vocabulary.h"
#include "lang/prediction.h"
#include "names/components.h"
#include "names/wrappers.h"

/* ---- flattened parameters ---- */

/* FSDP and ZeRO lay the parameters of a module in one row and give each rank a piece of it. Saved
 * as it is in memory, a rank has of each parameter a flat piece, or nothing; or one flat tensor for a whole module; or,
 * in the state of the optimizer, the row itself. */

static const char gather_hint[] = "gather the ranks before saving (FULL_STATE_DICT of FSDP), or run 'accelerate "
                                  "merge-weights' on what is saved already";

/* ---- a piece of each parameter ---- */

/* Whether a tensor has one dimension where another shape is expected, and no more elements than expected: a flattened
 * matrix, or a piece of one or of a vector. */
static bool is_flat(const struct shapeproof_check *check, const struct shapeproof_finding *finding, const void *context)
{
    (void)context;
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE)) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    return tensor->rank == 1 && !expected->stands_for && tensor->shape[0] <= expected->parameters;
}

/* Whether it is a piece of a matrix: more than the single element that stands for one that is elsewhere, and not all.
 */
static bool is_piece(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                     const void *context)
{
    if (!is_flat(check, finding, context)) return false;
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    const uint64_t elements = shapeproof_inventory_tensor(check->inventory, finding->tensor)->shape[0];
    return expected->rank > 1 && elements > 1 && elements < expected->parameters;
}

/* Whether the file has a piece of a matrix and another flat tensor: a single one is just wrong. */
static bool has_flat_pieces(const struct shapeproof_check *check)
{
    return sp_count_wanted(check, is_piece, NULL) > 0 && sp_count_wanted(check, is_flat, NULL) > 1;
}

static void explain_pieces(struct shapeproof_check *check)
{
    if (!has_flat_pieces(check)) return;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_FLAT_PIECES, is_flat, NULL);
    cause->message =
        sp_arena_printf(&check->arena, "%s %s flattened, in pieces or empty, as one rank of FSDP holds them: %s",
                        sp_tensors_of(check, cause), cause->explains == 1 ? "is" : "are", sp_names_of(check, cause));
    cause->hint = gather_hint;
}

/* ---- one flat tensor for a module ---- */

/* For a flat parameter of FSDP the length of its module's name, with the dot: 15 for "model.layers.0._flat_param" or
 * "model.layers.0.flat_param_0". SIZE_MAX for any other tensor. */
static size_t flat_module(const char *name)
{
    const size_t last = sp_last_component(name, strlen(name), ".");
    const char *own = name + last + (name[last] == '_');
    if (strncmp(own, "flat_param", strlen("flat_param")) != 0) return SIZE_MAX;
    return strspn(own + strlen("flat_param"), "_0123456789") == strlen(own + strlen("flat_param")) ? last : SIZE_MAX;
}

/* Whether the tensor is in one of the modules, whose names end with a dot. */
static bool is_below(const char *tensor, const char *const *modules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(tensor, modules[i], strlen(modules[i])) == 0) return true;
    return false;
}

/* The first `length` characters of the name, without the wrappers that FSDP and DDP put into it. In the arena. */
static const char *bare_module(struct sp_arena *arena, const char *name, size_t length)
{
    struct sp_text bare = {0};
    sp_unwrap(&bare, sp_arena_copy(arena, name, length));
    const char *module = sp_text_keep(&bare, arena);
    while (strncmp(module, "module.", 7) == 0 || strncmp(module, "_fpw_module.", 12) == 0)
        module = sp_behind_component(module, ".");
    return module;
}

/* Explains the parameters that are missing in one of the modules. */
static void take_below(struct shapeproof_check *check, const char *const *modules, size_t count,
                       const struct shapeproof_cause *cause)
{
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_MISSING) &&
            is_below(check->findings[i].name, modules, count))
            sp_attribute_finding(check, i, cause);
}

/* FSDP stores a module's parameters as one flat tensor (_flat_param). Blames these, together with the parameters
 * that are missing below the same module. */
static void explain_flat_modules(struct shapeproof_check *check)
{
    const char **modules = sp_realloc(NULL, check->finding_count, sizeof *modules), *first = NULL;
    struct shapeproof_cause *cause = NULL;
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const size_t length =
            sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED) ? flat_module(finding->name) : SIZE_MAX;
        if (length == SIZE_MAX) continue;
        if (!cause) cause = sp_blame(check, SP_CAUSE_FLAT_PIECES);
        if (!first) first = finding->name;
        modules[count++] = bare_module(&check->arena, finding->name, length);
        sp_attribute_finding(check, i, cause);
    }
    if (cause) {
        take_below(check, modules, count, cause);
        cause->message = sp_arena_printf(&check->arena, "%s of FSDP, such as %s, in place of %s",
                                         sp_count_of(&check->arena, count, "flat parameter"), first,
                                         sp_count_of(&check->arena, cause->explains - count, "tensor"));
        cause->hint = gather_hint;
    }
    sp_free(modules);
}

/* ---- the row itself ---- */

/* The first tensor that is such a row in the state of ZeRO's optimizer; NULL without one. */
static const char *flat_group(const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        if (strstr(name, "fp32_flat_groups") || strstr(name, "single_partition_of_fp32_groups")) return name;
    }
    return NULL;
}

static void explain_flat_groups(struct shapeproof_check *check)
{
    static const enum shapeproof_finding_kind missing = SHAPEPROOF_FINDING_MISSING;
    const char *group = sp_check_matched(check) ? NULL : flat_group(check->inventory);
    struct shapeproof_cause *cause = group ? sp_gather(check, SP_CAUSE_FLAT_PIECES, sp_is_open_kind, &missing) : NULL;
    if (!cause) return;
    cause->message =
        sp_arena_printf(&check->arena,
                        "this is the part of the optimizer of one rank of ZeRO, with the parameters in one flat "
                        "tensor: %s",
                        group);
    cause->hint = "run zero_to_fp32.py, which lies beside the ranks' files, and check what it writes";
}

void sp_explain_flat(struct shapeproof_check *check)
{
    if (!sp_check_open(check) || check->config->variables) return; /* Keras saves a model whole */
    explain_pieces(check);
    explain_flat_modules(check);
    explain_flat_groups(check);
}

/* ---- ranks ---- */

static bool is_open_shape(const struct shapeproof_finding *finding)
{
    return sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE);
}

/* ---- placeholders ---- */

/* Whether a tensor is flat and has `elements`, 0 or 1, where more are expected. */
static bool is_placeholder(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                           const void *elements)
{
    if (!is_open_shape(finding)) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    return tensor->rank == 1 && tensor->shape[0] == *(const uint64_t *)elements &&
           shapeproof_prediction_tensor(check->prediction, finding->predicted)->parameters > 1;
}

static bool has_matrices(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if (shapeproof_inventory_tensor(check->inventory, i)->rank > 1) return true;
    return false;
}

/* One cause for the placeholders with 0 elements, or with 1. An empty tensor always is a placeholder; tensors of one
 * element only if there are two or more and the file has no matrix. */
static void explain_placeholders(struct shapeproof_check *check, uint64_t elements)
{
    if (elements && (sp_count_wanted(check, is_placeholder, &elements) < 2 || has_matrices(check))) return;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_ZERO_PARTITION, is_placeholder, &elements);
    if (!cause) return;
    cause->message =
        sp_arena_printf(&check->arena, "%s %s (%" PRIu64 ")%s, as in a file that one rank of ZeRO stage 3 saved: %s",
                        sp_tensors_of(check, cause), cause->explains == 1 ? "has shape" : "have shape", elements,
                        elements ? "" : " and no data", sp_names_of(check, cause));
    cause->hint = "gather the parameters before saving (stage3_gather_16bit_weights_on_model_save), or "
                  "convert the checkpoint with zero_to_fp32.py";
}

/* ---- slices ---- */

enum {
    MAX_RANKS = 1024,
    PADDING = 128 /* rows for each rank: vocabularies are padded to a multiple of this at most, before they are cut */
};

/* How a tensor was cut. */
struct slice {
    uint32_t dimension; /* along which */
    uint64_t ranks;     /* into how many equal parts */
};

/* Whether the slices together, `whole`, are the expected dimension with padding, which only vocabularies have: fewer
 * than PADDING rows for each rank, and no more than 1/32 of all. */
static bool is_padded(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                      struct slice slice, uint64_t whole)
{
    const uint64_t expected =
        shapeproof_prediction_tensor(check->prediction, finding->predicted)->shape[slice.dimension];
    if (whole < expected || whole - expected >= PADDING * slice.ranks || whole - expected > expected / 32) return false;
    const struct sp_keys keys = sp_prediction_dimension_keys(check->prediction, finding->predicted, slice.dimension);
    for (size_t i = 0; i < keys.count; i++)
        if (sp_is_vocabulary(shapeproof_prediction_hyperparameter(check->prediction, keys.list[i])->name)) return true;
    return false;
}

/* How a tensor of another shape may have been cut; false when more than one dimension differs, or the file's one is not
 * an equal part of the expected one. */
static bool slice_of(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                     struct slice *slice)
{
    if (!is_open_shape(finding)) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    uint32_t differing = 0;
    for (uint32_t d = 0; d < expected->rank && tensor->rank == expected->rank; d++)
        if (tensor->shape[d] != expected->shape[d] && ++differing) slice->dimension = d;
    if (differing != 1 || !tensor->shape[slice->dimension]) return false;
    const uint64_t part = tensor->shape[slice->dimension], whole = expected->shape[slice->dimension];
    slice->ranks = whole / part + (whole % part != 0);
    if (slice->ranks < 2 || slice->ranks > MAX_RANKS) return false;
    return part * slice->ranks == whole || is_padded(check, finding, *slice, part * slice->ranks);
}

/* Whether the tensor of the finding was cut into that many parts. */
static bool is_cut(const struct shapeproof_check *check, const struct shapeproof_finding *finding, const void *ranks)
{
    struct slice slice;
    return slice_of(check, finding, &slice) && slice.ranks == *(const uint64_t *)ranks;
}

/* Into how many parts most tensors were cut; 0 when none was. */
static uint64_t most_common_ranks(const struct shapeproof_check *check)
{
    size_t counts[MAX_RANKS + 1] = {0};
    uint64_t best = 0;
    struct slice slice;
    for (size_t i = 0; i < check->finding_count; i++)
        if (slice_of(check, &check->findings[i], &slice) && ++counts[slice.ranks] > counts[best]) best = slice.ranks;
    return best;
}

/* Drops the keys that are not among `others`, and returns how many remain. */
static size_t keep_common_keys(size_t *keys, size_t count, struct sp_keys others)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (sp_keys_contain(others, keys[i])) keys[kept++] = keys[i];
    return kept;
}

/* Whether one hyper-parameter is in every dimension that was cut: if it is wrong, that explains the same more simply.
 */
static bool has_one_factor(const struct shapeproof_check *check, uint64_t ranks)
{
    size_t *common = NULL, count = 0; /* the keys that all dimensions so far have */
    bool is_any_cut = false;
    struct sp_map asked = {0}; /* messages: findings in the same words are about the same keys */
    struct slice slice;
    for (size_t i = 0; i < check->finding_count && (count || !is_any_cut); i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!slice_of(check, finding, &slice) || slice.ranks != ranks || !sp_map_add(&asked, finding->message, i))
            continue;
        const struct sp_keys keys =
            sp_prediction_dimension_keys(check->prediction, finding->predicted, slice.dimension);
        if (!is_any_cut) {
            is_any_cut = true;
            common = sp_realloc(NULL, keys.count, sizeof *common);
            for (; count < keys.count; count++) common[count] = keys.list[count];
        } else count = keep_common_keys(common, count, keys);
    }
    sp_map_free(&asked);
    sp_free(common);
    return count || !is_any_cut;
}

/* Whether the module is one that makes queries, alone or with keys and values. */
static bool makes_queries(const char *name)
{
    static const char *const modules[] = {"q_proj", "query", "wq",      "q_lin",  "qkv_proj",
                                          "qkv",    "Wqkv",  "qkv_lin", "c_attn", "query_key_value",
                                          "wqkv",   "q",     "att_proj"};
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");)
        for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
            if (sp_is_component(part.text, part.length, modules[i])) return true;
    return false;
}

/* Whether the queries of a layer are as predicted: ranks divide these always, whereas keys and values may have too few
 * heads for that. */
static bool are_queries_whole(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        if (tensor->rank == 2 && sp_match_predicted(&check->match, i) == SP_SAME && makes_queries(tensor->name))
            return true;
    }
    return false;
}

/* Whether the cut tensors are matrices of two or more modules of a layer. A shorter table of tokens, positions or
 * types, or two of them, is one that somebody made so: ranks divide the matrices of layers. */
static bool are_layers_cut(const struct shapeproof_check *check, uint64_t ranks)
{
    size_t first = SHAPEPROOF_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const struct sp_place *place = &check->places[i];
        if (!is_cut(check, finding, &ranks) || !place->indices.count) continue;
        if (shapeproof_inventory_tensor(check->inventory, finding->tensor)->rank < 2 || place->pattern == first)
            continue;
        if (first != SHAPEPROOF_NONE) return true;
        first = place->pattern;
    }
    return false;
}

/* One cause for a rank of tensor parallelism: at least 7/8 of the tensors of another shape are cut into the same number
 * of parts, more than one hyper-parameter would have to be divided by it, and matrices of layers are cut, the queries
 * among them. */
static void explain_slices(struct shapeproof_check *check)
{
    static const enum shapeproof_finding_kind shape = SHAPEPROOF_FINDING_SHAPE;
    const uint64_t ranks = most_common_ranks(check);
    const size_t shapes = sp_count_wanted(check, sp_is_open_kind, &shape), cut = sp_count_wanted(check, is_cut, &ranks);
    if (!cut || cut < shapes - shapes / 8 || has_one_factor(check, ranks)) return;
    if (!are_layers_cut(check, ranks) || are_queries_whole(check)) return;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_TENSOR_PARALLEL, is_cut, &ranks);
    cause->message = sp_arena_printf(
        &check->arena, "this is one of %" PRIu64 " tensor-parallel ranks: it holds 1/%" PRIu64 " of %s (%s)", ranks,
        ranks, sp_names_of(check, cause), sp_tensors_of(check, cause));
    cause->hint =
        sp_arena_printf(&check->arena, "gather the %" PRIu64 " ranks into one checkpoint before loading it", ranks);
}

/* Parameters of ZeRO stage 3 whose shapes this file has, and whose data is in files of the optimizer beside it. */
static void explain_divided(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    if (!inventory->divided) return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ZERO_PARTITION);
    const char *lack = inventory->broken_optimizer ? sp_arena_printf(&check->arena, ", of which %s cannot be read",
                                                                     sp_quote(inventory->broken_optimizer).text)
                       : inventory->gatherable     ? ""
                                                   : ", some of which are missing";
    if (!*lack) cause->severity = SHAPEPROOF_SEVERITY_WARNING;
    cause->message =
        sp_arena_printf(&check->arena,
                        "ZeRO stage 3 has divided %s among the ranks: this file has the shapes, and files of the "
                        "optimizer have the data%s",
                        sp_count_of(&check->arena, inventory->divided, "tensor"), lack);
    cause->hint = "gather the parameters before saving (stage3_gather_16bit_weights_on_model_save), or "
                  "convert the checkpoint with zero_to_fp32.py";
}

void sp_explain_ranks(struct shapeproof_check *check)
{
    explain_divided(check);
    if (check->config->variables) return; /* Keras saves a model whole */
    if (!has_flat_pieces(check)) {
        explain_placeholders(check, 0);
        explain_placeholders(check, 1);
    }
    explain_slices(check);
}
