/* SPDX-License-Identifier: MIT
 * Quantised weights: how, and where the file and its configuration do not agree on which. */
#include <inttypes.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/undescribed.h"
#include "names/components.h"
#include "stored/descriptions.h"
#include "stored/schemes.h"

/* ---- how, in words ---- */

/* Whether the name ends with a dot and the tail. */
static bool has_tail(const char *name, const char *tail)
{
    const size_t all = strlen(name), length = strlen(tail);
    return all > length && name[all - length - 1] == '.' && strcmp(name + all - length, tail) == 0;
}

/* The value of a key that the part looked at; absent when it did not. */
static struct shapeproof_value value_of_setting(const struct shapeproof_check *check, const char *key)
{
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(check->prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(check->prediction, i);
        if (strncmp(hyper->name, "quantization", 12) == 0 || strncmp(hyper->name, "compression", 11) == 0 ||
            strstr(hyper->name, ".quantization_config."))
            if (has_tail(hyper->name, key)) return hyper->value;
    }
    return sp_value_absent(key);
}

static struct shapeproof_value ask_setting(const void *check, const char *key) { return value_of_setting(check, key); }

const char *sp_quantisation_words(struct shapeproof_check *check)
{
    return sp_describe_storage(&check->arena, check->quantisation.method, ask_setting, check);
}

/* How many quantised weights the file has, and in how many tensors they are stored. */
struct tally {
    size_t weights, tensors;
};

/* Counts the predicted quantised weights of which the file has a tensor. */
static struct tally count_packed(const struct shapeproof_check *check)
{
    struct tally tally = {0};
    const char *last = NULL;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        if (!predicted->stands_for || check->match.tensor_of[i] == SHAPEPROOF_NONE) continue;
        tally.tensors++;
        tally.weights += predicted->stands_for != last;
        last = predicted->stands_for;
    }
    return tally;
}

/* "224 weights in 672 tensors". */
static const char *how_many_modules(struct shapeproof_check *check)
{
    const struct tally tally = count_packed(check);
    if (!tally.weights) return "no weight is there under its name";
    return sp_arena_printf(&check->arena, "%s in %s", sp_count_of(&check->arena, tally.weights, "weight"),
                           sp_count_of(&check->arena, tally.tensors, "tensor"));
}

/* "quantization_config in config.json". */
static const char *said_where(struct shapeproof_check *check, const struct sp_quantised *quantised)
{
    const struct sp_hyper *hyper = sp_config_hyper(check->quantisation.base);
    struct shapeproof_provenance from = {.source = SHAPEPROOF_SOURCE_CONFIG, .name = hyper->file};
    for (size_t i = 0; i < hyper->override_count; i++)
        if (strncmp(hyper->overrides[i].path, quantised->path, strlen(quantised->path)) == 0)
            from = hyper->overrides[i].from;
    return sp_arena_printf(&check->arena, "%s %s", quantised->path, sp_said_where(check, from));
}

/* ---- modules that the one quantises and the other does not ---- */

/* One way in which file and configuration disagree about modules. */
struct dispute {
    const struct sp_quantised *quantised;
    const char *where;              /* "quantization_config in config.json" */
    const char *says;               /* the message of each finding */
    enum sp_cause_kind kind;        /* of the cause */
    struct shapeproof_cause *cause; /* NULL as long as there is no finding */
};

/* Adds a finding about a weight, and the cause with the first one. */
static void add_disputed(struct shapeproof_check *check, struct dispute *dispute, const char *name, size_t predicted)
{
    if (!dispute->cause) dispute->cause = sp_blame(check, dispute->kind);
    sp_check_add_finding(check, (struct shapeproof_finding){.kind = SHAPEPROOF_FINDING_QUANTISED,
                                                            .name = name,
                                                            .message = dispute->says,
                                                            .tensor = check->match.tensor_of[predicted],
                                                            .predicted = predicted});
    sp_attribute_finding(check, check->finding_count - 1, dispute->cause);
}

/* Finds weights that are quantised in the file though the configuration lists them among those that are not. */
static void find_exempted(struct shapeproof_check *check, struct dispute *dispute)
{
    const char *last = NULL;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        if (!predicted->stands_for || predicted->stands_for == last) continue;
        if (check->match.tensor_of[i] == SHAPEPROOF_NONE) continue;
        last = predicted->stands_for;
        const char *module = sp_quantised_module(dispute->quantised, &check->arena, predicted->stands_for);
        if (sp_quantised_exempts(dispute->quantised, module) == SP_EXEMPT_LISTED)
            add_disputed(check, dispute, predicted->stands_for, i);
    }
}

/* Whether the parent of the module has experts as well: "model.layers.0.mlp.experts" beside "model.layers.0.mlp.gate".
 * In other models a gate is a matrix like any other. */
static bool is_beside_experts(struct shapeproof_check *check, const char *module)
{
    const size_t parent = sp_last_component(module, strlen(module), ".");
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const char *name = shapeproof_prediction_tensor(check->prediction, i)->name;
        if (strncmp(name, module, parent) == 0 && strncmp(name + parent, "experts", strlen("experts")) == 0)
            return true;
    }
    return false;
}

/* Routers are small and decide much: most methods leave them alone, and loaders build them without a quantiser, vLLM
 * for one; in transformers 5 most are no Linear, which is what quantisers replace. */
static void explain_routers(struct shapeproof_check *check, const struct sp_quantised *quantised)
{
    struct dispute dispute = {quantised, NULL, "is quantised, but loaders expect unquantised routers",
                              SP_CAUSE_QUANTISED_ROUTER, NULL};
    const char *last = NULL;
    bool asked = false, experts = false; /* one answer for all */
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        if (!predicted->stands_for || predicted->stands_for == last || !sp_is_stored(check, i)) continue;
        last = predicted->stands_for;
        const char *module = sp_quantised_module(quantised, &check->arena, last);
        if (!module || !sp_quantised_is_router(module)) continue;
        if (sp_quantised_exempts(quantised, module) != SP_EXEMPT_BY_NATURE) continue;
        if (!asked) experts = is_beside_experts(check, module);
        asked = true;
        if (experts) add_disputed(check, &dispute, last, i);
    }
    if (!dispute.cause) return;
    dispute.cause->message = sp_arena_printf(
        &check->arena, "the routers of experts are quantised, and most loaders expect them unquantised: %s (%s)",
        sp_names_of(check, dispute.cause), sp_count_of(&check->arena, dispute.cause->explains, "weight"));
    dispute.cause->hint =
        sp_arena_printf(&check->arena, "exempt them (%s) and quantise again",
                        quantised->list_key                                    ? quantised->list_key
                        : strcmp(quantised->method, "compressed_tensors") == 0 ? "ignore"
                                                                               : "modules_to_not_convert");
}

/* The patterns of weights that the file has in packed form. */
static void note_packed_kinds(struct shapeproof_check *check, struct sp_map *packed, struct sp_patterns *patterns)
{
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        if (!predicted->stands_for || check->match.tensor_of[i] == SHAPEPROOF_NONE) continue;
        const size_t kind = sp_pattern_of(patterns, predicted->stands_for, NULL);
        sp_map_add(packed, sp_pattern_text(patterns, kind), kind);
    }
}

/* Finds matrices that are stored as they are, although the configuration does not list them; where it has no list,
 * those of which others of the kind are quantised. */
static void find_plain(struct shapeproof_check *check, struct dispute *dispute)
{
    struct sp_map packed = {0};
    struct sp_patterns patterns = {0};
    note_packed_kinds(check, &packed, &patterns);
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        const size_t tensor = check->match.tensor_of[i];
        if (predicted->stands_for || tensor == SHAPEPROOF_NONE || predicted->rank != 2 || predicted->buffer) continue;
        const char *module = sp_quantised_module(dispute->quantised, &check->arena, predicted->name);
        if (!module || sp_quantised_exempts(dispute->quantised, module) != SP_QUANTISED) continue;
        const char *kind = sp_pattern_text(&patterns, sp_pattern_of(&patterns, predicted->name, NULL));
        if (dispute->quantised->list_key || sp_map_get(&packed, kind) != SIZE_MAX)
            add_disputed(check, dispute, shapeproof_inventory_tensor(check->inventory, tensor)->name, i);
    }
    sp_map_free(&packed);
    sp_patterns_free(&patterns);
}

static void say_exempted(struct shapeproof_check *check, const struct dispute *dispute)
{
    struct shapeproof_cause *cause = dispute->cause;
    if (!cause) return;
    const char *key = dispute->quantised->list_key;
    cause->message = sp_arena_printf(&check->arena, "the file quantises weights that %s exempts%s: %s (%s)",
                                     dispute->where, key ? sp_arena_printf(&check->arena, " in %s", key) : "",
                                     sp_names_of(check, cause), sp_count_of(&check->arena, cause->explains, "weight"));
    if (key)
        cause->hint = sp_arena_printf(&check->arena, "take %s out of %s", cause->explains == 1 ? "it" : "them", key);
}

static void say_plain(struct shapeproof_check *check, const struct dispute *dispute)
{
    struct shapeproof_cause *cause = dispute->cause;
    if (!cause) return;
    cause->message =
        sp_arena_printf(&check->arena, "%s quantises weights that the file does not: %s (%s)", dispute->where,
                        sp_names_of(check, cause), sp_count_of(&check->arena, cause->explains, "weight"));
    if (dispute->quantised->list_key)
        cause->hint = sp_arena_printf(&check->arena, "add %s to %s", cause->explains == 1 ? "it" : "them",
                                      dispute->quantised->list_key);
}

static void explain_disputes(struct shapeproof_check *check, const struct sp_quantised *quantised, const char *where)
{
    struct dispute exempted = {quantised, where, "is quantised, although the configuration exempts it",
                               SP_CAUSE_QUANTISED_MODULE, NULL};
    struct dispute plain = {quantised, where, "is not quantised, although the configuration does not exempt it",
                            SP_CAUSE_QUANTISED_MODULE, NULL};
    if (sp_value_is_set(sp_value_member(quantised->object, "dynamic"))) return; /* rules of GPTQModel */
    find_exempted(check, &exempted);
    say_exempted(check, &exempted);
    find_plain(check, &plain);
    say_plain(check, &plain);
}

/* ---- modules of another width ---- */

/* The number of bits of a packed module. MLX configures one for all modules, and others by their names beside it:
 * {"bits": 4, "group_size": 64, "lm_head": {"bits": 8, "group_size": 64}}. */
struct width {
    const char *module;
    bool own; /* the module has an entry of its own */
    int64_t configured, found;
};

/* The width of the packed matrix that an open finding about a shape is about. MLX packs a row of `columns` elements
 * into columns * bits / 32 words: from the predicted words and the configured bits follow the columns, and from these
 * and the words of the file its bits. For 4 bits and (1024, 128) predicted, columns are 1024, and (1024, 256) in the
 * file has 8 bits. False for any other finding, and when no whole number of bits gives the shape. */
static bool find_width(struct shapeproof_check *check, const struct sp_quantised *quantised,
                       const struct shapeproof_finding *finding, struct width *width)
{
    enum { WORD = 32, MOST = 8 };
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE)) return false;
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    if (!expected->stands_for || expected->rank != 2 || tensor->rank != 2 || tensor->shape[0] != expected->shape[0])
        return false;
    const size_t length = sp_last_component(expected->stands_for, strlen(expected->stands_for), ".");
    if (length < 2 || strcmp(expected->stands_for + length, "weight") != 0) return false;
    width->module = sp_arena_copy(&check->arena, expected->stands_for, length - 1);
    const struct shapeproof_value own = sp_value_member(quantised->object, width->module);
    const struct shapeproof_value bits =
        sp_value_member(own.type == SHAPEPROOF_VALUE_OBJECT ? own : quantised->object, "bits");
    width->own = own.type == SHAPEPROOF_VALUE_OBJECT && bits.type == SHAPEPROOF_VALUE_INT;
    if (bits.type != SHAPEPROOF_VALUE_INT || bits.integer < 1 || bits.integer > MOST) return false;
    const uint64_t columns = expected->shape[1] * WORD / (uint64_t)bits.integer;
    if (!columns || expected->shape[1] > UINT32_MAX || tensor->shape[1] > UINT32_MAX) return false;
    width->configured = bits.integer;
    width->found = (int64_t)(tensor->shape[1] * WORD / columns);
    return tensor->shape[1] * WORD % columns == 0 && width->found > 1 && width->found <= MOST;
}

/* One cause for each pair of configured and found widths that differ. Nothing is said if more than half of the weights
 * differ from the width of all: then that one is wrong, which a trial of "bits" finds. What a cause explains is no open
 * finding, so that find_width passes over it in later iterations. */
static void explain_widths(struct shapeproof_check *check, const struct sp_quantised *quantised, const char *where)
{
    struct width width;
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count; i++)
        count += find_width(check, quantised, &check->findings[i], &width) && !width.own;
    if (count * 2 > count_packed(check).weights) return;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!find_width(check, quantised, &check->findings[i], &width)) continue;
        const int64_t configured = width.configured, found = width.found;
        const struct shapeproof_value group = sp_value_member(quantised->object, "group_size");
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_QUANTISED_MODULE);
        struct width other;
        for (size_t k = i; k < check->finding_count; k++) /* all that differ in the same way */
            if (find_width(check, quantised, &check->findings[k], &other) && other.configured == configured &&
                other.found == found)
                sp_attribute_finding(check, k, cause);
        cause->message = sp_arena_printf(
            &check->arena, "%s says %" PRId64 " bits, but the file has %" PRId64 " bits in %s (%s)", where, configured,
            found, sp_names_of(check, cause), sp_count_of(&check->arena, cause->explains, "weight"));
        cause->hint =
            width.own ? sp_arena_printf(&check->arena, "set the bits of %s to %" PRId64 " there", width.module, found)
                      : sp_arena_printf(&check->arena,
                                        "give each weight an entry of its own there, \"%s\": {\"group_size\": %s, "
                                        "\"bits\": %" PRId64 "}",
                                        width.module, sp_value_words(&check->arena, group), found);
    }
}

/* ---- the whole ---- */

/* Adds what is said about the quantisation of the file as a whole. */
static void add_cause(struct shapeproof_check *check, enum shapeproof_severity severity, const char *message,
                      const char *hint)
{
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_QUANTISED);
    cause->severity = severity;
    cause->message = message;
    cause->hint = hint;
    cause->explains = check->quantisation.vanished;
}

/* The text "\"quantization_config\": {...}" that the configuration needs for this file. */
static const char *as_setting(struct shapeproof_check *check)
{
    const struct shapeproof_member setting =
        sp_scheme_setting(sp_value_member(sp_config_hyper(check->config)->root, "quantization_config"));
    struct sp_text text = {0};
    sp_text_printf(&text, "\"%s\": ", setting.key);
    sp_value_json(&text, setting.value);
    return sp_text_keep(&text, &check->arena);
}

/* An error: the tensors are quantised and the configuration does not say so. Loaders read the configuration alone: they
 * take codes for weights where they have the name of one, ignore the scales, and initialise what has another name. */
static void say_recognised(struct shapeproof_check *check)
{
    const char *config = sp_config_hyper(check->quantisation.base)->file;
    add_cause(check, SHAPEPROOF_SEVERITY_ERROR,
              sp_arena_printf(&check->arena, "quantised: %s, although %s has no quantization_config: %s",
                              sp_quantisation_words(check), *config ? config : "the configuration",
                              how_many_modules(check)),
              sp_arena_printf(&check->arena,
                              "loaders need %s: without it they read codes as weights, or find no "
                              "weights",
                              as_setting(check)));
}

/* The file is quantised in another way than the configuration says: by another method, or by the same with settings of
 * another kind. An error. If no part of a table describes the configured method, a warning and the verdict unknown:
 * whether that method reads these tensors is not known. */
static void say_other(struct shapeproof_check *check, const struct sp_quantised *quantised)
{
    const char *where = said_where(check, quantised);
    const bool same = strcmp(quantised->method, check->quantisation.method) == 0;
    if (!quantised->part) {
        add_cause(check, SHAPEPROOF_SEVERITY_WARNING,
                  sp_arena_printf(&check->arena,
                                  "%s says %s, which no part of a table describes; the tensors of the file are "
                                  "those of %s: %s",
                                  where, quantised->method, sp_quantisation_words(check), how_many_modules(check)),
                  NULL);
        check->causes[check->cause_count - 1].untold = true;
        return;
    }
    add_cause(check, SHAPEPROOF_SEVERITY_ERROR,
              same ? sp_arena_printf(&check->arena, "%s does not say how the file is quantised: %s: %s", where,
                                     sp_quantisation_words(check), how_many_modules(check))
                   : sp_arena_printf(&check->arena, "%s says %s, but the file is quantised with %s: %s", where,
                                     quantised->method, sp_quantisation_words(check), how_many_modules(check)),
              sp_arena_printf(&check->arena, "the file needs %s", as_setting(check)));
}

/* ---- what the configuration says ---- */

/* How many weights are of classes that keep their data in other tensors, such as Int8Tensor of torchao: the file lists
 * their outer dtype and shape, which quantisation does not change. */
static size_t count_wrapped(const struct shapeproof_check *check)
{
    size_t count = 0;
    for (size_t i = 0; check->inventory->wrapped && i < shapeproof_inventory_count(check->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        count += check->match.predicted_of[i] != SHAPEPROOF_NONE && tensor->rank >= 2 && !tensor->storage &&
                 !tensor->piece && !(tensor->flags & SHAPEPROOF_TENSOR_NO_DATA);
    }
    return count;
}

/* The verdict is unknown: such weights may be quantised in any way. */
static void say_wrapped(struct shapeproof_check *check, const struct sp_quantised *quantised, const char *where,
                        size_t weights)
{
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_QUANTISED);
    cause->severity = SHAPEPROOF_SEVERITY_WARNING;
    cause->untold = true;
    cause->message = sp_arena_printf(&check->arena,
                                     "%s says %s; %s of a class that keeps its data in other tensors: whether and how "
                                     "it is quantised is not compared",
                                     where, quantised->method,
                                     weights == 1 ? "1 weight is"
                                                  : sp_arena_printf(&check->arena, "each of %zu weights is", weights));
}

/* The configuration names a method, and the file has no weight that is quantised so; or nobody has described it. */
static void say_none(struct shapeproof_check *check, const struct sp_quantised *quantised, const char *where)
{
    const size_t wrapped = count_wrapped(check);
    if (check->quantisation.failure || !quantised->part) sp_say_undescribed(check, quantised, where);
    else if (wrapped) say_wrapped(check, quantised, where, wrapped);
    else
        add_cause(check, SHAPEPROOF_SEVERITY_ERROR,
                  sp_arena_printf(&check->arena, "%s says %s, but no weight of the file is quantised", where,
                                  quantised->method),
                  sp_arena_printf(&check->arena, "take %s out of the configuration", quantised->path));
}

/* Whether the file has a quantised weight, if only under a name that is not predicted. */
static bool is_any_packed(const struct shapeproof_check *check)
{
    const struct sp_quantisation *quantisation = &check->quantisation;
    return quantisation->method && (count_packed(check).weights || quantisation->file->packed);
}

static void say_configured(struct shapeproof_check *check, const struct sp_quantised *quantised)
{
    const struct sp_quantisation *quantisation = &check->quantisation;
    const char *where = said_where(check, quantised);
    if (quantisation->recognised) say_other(check, quantised);
    else if (!is_any_packed(check)) say_none(check, quantised, where);
    else {
        add_cause(check, SHAPEPROOF_SEVERITY_NOTE,
                  sp_arena_printf(&check->arena, "quantised: %s (%s): %s", sp_quantisation_words(check), where,
                                  how_many_modules(check)),
                  NULL);
        sp_take_cache_scales(check, quantised);
        explain_disputes(check, quantised, where);
        explain_routers(check, quantised);
        if (strcmp(quantised->method, "mlx") == 0) explain_widths(check, quantised, where);
    }
}

void sp_explain_quantised(struct shapeproof_check *check)
{
    struct sp_quantised quantised;
    if (check->quantisation.elsewhere) return;
    if (sp_quantised_open(&quantised, check->tables, sp_config_hyper(check->quantisation.base), NULL))
        say_configured(check, &quantised);
    else if (check->quantisation.recognised) say_recognised(check);
    sp_quantised_close(&quantised);
    sp_explain_own_storage(check);
}
