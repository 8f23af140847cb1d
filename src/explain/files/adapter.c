/* SPDX-License-Identifier: MIT
 * An adapter against the base that the table predicts: of each pair the product must have the shape of a matrix. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/order.h"
#include "check/adapter.h"
#include "explain/files/adapter_base.h"
#include "explain/gather.h"
#include "explain/siblings.h"
#include "explain/vocabulary.h"

/* What PEFT puts in front of the names of the model. */
static const char peft_front[] = "base_model.model.";

enum fit { FITS, ELSEWHERE, UNFIT, NO_BASE, UNTOLD, LONELY, OTHER_RANK, FITS_COUNT };

struct judged {
    struct sp_check *check;
    struct sp_adapter adapter;
    struct sp_adapter_base base;
    enum fit *fits; /* for each pair */
    size_t *bases;  /* for each pair: the predicted weight, or SP_NONE */
    size_t counts[FITS_COUNT];
    uint64_t least, most; /* ranks of those that fit */
};

/* ---- judging ---- */

/* Conv1D of Hugging Face's GPT-2 keeps its weight as (in, out), and so does an embedding, (tokens, width). */
static bool is_turned(const struct judged *judged, const struct sp_pair *pair)
{
    const struct sp_value turned = sp_value_member(judged->adapter.config, "fan_in_fan_out");
    const char *dot = strrchr(pair->module, '.'), *last = dot ? dot + 1 : pair->module;
    return (turned.type == SP_BOOL && turned.boolean) || strncmp(last, "c_", 2) == 0 ||
           strcmp(pair->kind, "lora_embedding_A") == 0;
}

static bool fits_base(const struct judged *judged, const struct sp_pair *pair, size_t base, struct sp_product product)
{
    const struct sp_predicted *weight = sp_prediction_tensor(judged->check->prediction, base);
    if (weight->rank < 2 || !weight->shape[0]) return false;
    const uint64_t out = weight->shape[0], in = weight->parameters / out;
    if (out == product.out && in == product.in) return true;
    return weight->rank == 2 && is_turned(judged, pair) && out == product.in && in == product.out;
}

/* Whether a key of rank_pattern means the module: the end of its name, from a component on. */
static bool is_meant(const char *module, const char *key)
{
    const size_t length = strlen(module), tail = strlen(key);
    return length >= tail && strcmp(module + length - tail, key) == 0 &&
           (length == tail || module[length - tail - 1] == '.');
}

/* The rank that adapter_config.json promises to the module, or 0: a pattern that is more than a name tells nothing. */
static uint64_t promised_rank(const struct sp_adapter *adapter, const char *module)
{
    const struct sp_value others = sp_value_member(adapter->config, "rank_pattern");
    const struct sp_value type = sp_value_member(adapter->config, "peft_type");
    struct sp_value rank = sp_value_member(adapter->config, "r");
    if (type.type == SP_STRING && strcmp(type.string, "LORA") != 0) return 0; /* AdaLoRA begins with another one */
    for (size_t i = others.type == SP_OBJECT ? others.count : 0; i-- > 0;) {
        if (strpbrk(others.members[i].key, "*+?[](){}|^$\\")) return 0;
        if (is_meant(module, others.members[i].key)) rank = others.members[i].value;
    }
    return rank.type == SP_INT && rank.integer > 0 ? (uint64_t)rank.integer : 0;
}

/* Whether PEFT finds the module under its name. What MLX and torchtune write has other names in any case. */
static bool is_in_place(const struct judged *judged, size_t index)
{
    const struct sp_pair *pair = &judged->adapter.pairs[index];
    const char *name = sp_prediction_tensor(judged->check->prediction, judged->bases[index])->name;
    const size_t front = strlen(peft_front), length = strlen(pair->module);
    if (judged->base.whole || strcmp(pair->kind, "lora_a") == 0) return true;
    return strncmp(pair->module, peft_front, front) == 0 && strncmp(pair->module + front, name, length - front) == 0 &&
           strcmp(name + length - front, ".weight") == 0;
}

static enum fit judge_pair(struct judged *judged, size_t index)
{
    const struct sp_pair *pair = &judged->adapter.pairs[index];
    const uint64_t promised = promised_rank(&judged->adapter, pair->module);
    struct sp_product product;
    judged->bases[index] = sp_adapter_base_find(&judged->base, pair->module, "weight");
    if (pair->a == SP_NONE || pair->b == SP_NONE) return LONELY;
    if (judged->bases[index] == SP_NONE) return sp_adapter_base_holds(&judged->base, pair->module) ? UNTOLD : NO_BASE;
    if (!sp_pair_product(&judged->adapter, pair, &product)) return UNFIT;
    if (!fits_base(judged, pair, judged->bases[index], product)) return UNFIT;
    if (promised && promised != product.rank) return OTHER_RANK;
    if (!is_in_place(judged, index)) return ELSEWHERE;
    if (!judged->counts[FITS] || product.rank < judged->least) judged->least = product.rank;
    if (product.rank > judged->most) judged->most = product.rank;
    return FITS;
}

static void judge_pairs(struct judged *judged)
{
    const size_t pairs = judged->adapter.count;
    sp_adapter_base_open(&judged->base, judged->check);
    judged->fits = sp_realloc(NULL, pairs, sizeof *judged->fits);
    judged->bases = sp_realloc(NULL, pairs, sizeof *judged->bases);
    for (size_t i = 0; i < pairs; i++) {
        judged->fits[i] = judge_pair(judged, i);
        judged->counts[judged->fits[i]]++;
    }
}

static void release_adapter(struct judged *judged)
{
    sp_adapter_base_close(&judged->base);
    free(judged->fits);
    free(judged->bases);
}

/* ---- saying it ---- */

/* The modules of the pairs that are so; by their names in the model where they are known. */
static const char *modules(const struct judged *judged, enum fit fit)
{
    const char **names = sp_realloc(NULL, judged->adapter.count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < judged->adapter.count; i++) {
        if (judged->fits[i] != fit) continue;
        names[count++] = judged->bases[i] == SP_NONE
                             ? judged->adapter.pairs[i].module
                             : sp_prediction_tensor(judged->check->prediction, judged->bases[i])->name;
    }
    const char *list = sp_some_names(&judged->check->arena, names, count);
    free(names);
    return list;
}

static const char *ranks(const struct judged *judged)
{
    struct sp_arena *arena = &judged->check->arena;
    if (judged->least == judged->most) return sp_arena_printf(arena, "rank %" PRIu64, judged->least);
    return sp_arena_printf(arena, "ranks %" PRIu64 " to %" PRIu64, judged->least, judged->most);
}

static const char *shape_of(const struct judged *judged, size_t tensor)
{
    return sp_found_shape(&judged->check->arena, sp_inventory_tensor(judged->check->inventory, tensor));
}

/* The rank that the first of those with another one should have. */
static uint64_t first_promised(const struct judged *judged)
{
    size_t i = 0;
    while (judged->fits[i] != OTHER_RANK) i++;
    return promised_rank(&judged->adapter, judged->adapter.pairs[i].module);
}

/* "; the first: A (8, 4096) and B (4096, 8) for (1024, 4096)". */
static const char *first_unfit(const struct judged *judged)
{
    size_t i = 0;
    while (judged->fits[i] != UNFIT) i++;
    const struct sp_pair *pair = &judged->adapter.pairs[i];
    const struct sp_predicted *weight = sp_prediction_tensor(judged->check->prediction, judged->bases[i]);
    const struct sp_tensor as_tensor = {.shape = weight->shape, .rank = weight->rank};
    return sp_arena_printf(&judged->check->arena, "A %s and B %s for %s", shape_of(judged, pair->a),
                           shape_of(judged, pair->b), sp_found_shape(&judged->check->arena, &as_tensor));
}

/* "a LoRA adapter of rank 8 that fits 32 matrices of the model: ...". */
static void say_fitting(const struct judged *judged, const char *names, struct sp_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    const size_t count = judged->counts[FITS];
    const char *label = judged->adapter.pairs[0].label;
    const char *matrices = count == 1 ? "1 matrix" : sp_arena_printf(arena, "%zu matrices", count);
    const char *what = sp_arena_printf(arena, "a %s adapter of %s",
                                       sp_has_magnitudes(judged->check->inventory) ? "DoRA" : "LoRA", ranks(judged));
    if (judged->base.whole) {
        cause->message = sp_arena_printf(arena, "%s lies beside the weights of the model, not merged into %s: %s", what,
                                         matrices, names);
        cause->hint = sp_adapter_merge_hint;
        return;
    }
    cause->message = sp_arena_printf(arena, "%s that fits %s of the model: %s", what, matrices, names);
    if (*label)
        cause->hint = sp_arena_printf(
            arena, "its names carry the adapter's own, %s, which PEFT leaves out when it saves", sp_quote(label).text);
}

/* What two names begin with, up to where they are the same as far as their ends. */
struct fronts {
    const char *is, *should;
    size_t is_length, should_length;
};

static bool begins_component(const char *name, size_t place) { return !place || name[place - 1] == '.'; }

static struct fronts different_fronts(const char *is, const char *should)
{
    const size_t peft = strlen(peft_front), least = strncmp(is, peft_front, peft) == 0 ? peft : 0;
    struct fronts fronts = {is, should, strlen(is), strlen(should)};
    size_t *a = &fronts.is_length, *b = &fronts.should_length;
    while (*a > least && *b > peft && is[*a - 1] == should[*b - 1]) --*a, --*b;
    while (is[*a] && !(begins_component(is, *a) && begins_component(should, *b))) ++*a, ++*b;
    return fronts;
}

/* Why a loader may find what this one does not. */
static const char *excuse_elsewhere(const struct judged *judged, const char *is, const char *name)
{
    const struct sp_value task = sp_value_member(judged->adapter.config, "task_type");
    if (strstr(is, "language_model.") && strstr(name, "language_model."))
        return "versions of transformers name these modules in another order: load it with the one that it was made "
               "with";
    if (task.type == SP_STRING && strcmp(task.string, "FEATURE_EXTRACTION") == 0)
        return "it was made for the model without its head: load that (AutoModel) and put the adapter on it";
    return NULL;
}

static void say_elsewhere(const struct judged *judged, struct sp_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    size_t i = 0;
    while (judged->fits[i] != ELSEWHERE) i++;
    const char *name = sp_prediction_tensor(judged->check->prediction, judged->bases[i])->name;
    const int length = (int)(strlen(name) - strlen(".weight"));
    const char *should = sp_arena_printf(arena, "%s%.*s", peft_front, length, name);
    const struct fronts fronts = different_fronts(judged->adapter.pairs[i].module, should);
    cause->message =
        sp_arena_printf(arena,
                        "the adapter's names begin with '%.*s' where those of the model begin with '%.*s': it has no "
                        "effect on %s",
                        (int)fronts.is_length, fronts.is, (int)fronts.should_length, should,
                        sp_count_of(arena, judged->counts[ELSEWHERE], "module"));
    cause->hint = excuse_elsewhere(judged, fronts.is, name);
    if (cause->hint) cause->severity = SP_SEVERITY_WARNING;
    else cause->hint = "rename them: loaders look for no other names, and run the base alone without an error";
}

static void describe_adapter(const struct judged *judged, enum fit fit, struct sp_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    const char *names = modules(judged, fit);
    const char *pairs = sp_count_of(arena, judged->counts[fit], "pair");
    const bool one = judged->counts[fit] == 1;
    if (fit == FITS) say_fitting(judged, names, cause);
    else if (fit == ELSEWHERE) say_elsewhere(judged, cause);
    else if (fit == UNFIT)
        cause->message = sp_arena_printf(arena, "%s of the adapter %s not fit the model: %s, such as %s", pairs,
                                         one ? "does" : "do", names, first_unfit(judged));
    else if (fit == NO_BASE)
        cause->message =
            sp_arena_printf(arena, "the adapter is for what the model does not have: %s (%s)", names, pairs);
    else if (fit == UNTOLD)
        cause->message = sp_arena_printf(
            arena, "%s of the adapter %s for several weights at once, whose shapes do not tell whether it fits: %s",
            pairs, one ? "is" : "are", names);
    else if (fit == LONELY)
        cause->message = sp_arena_printf(arena, "the adapter has one matrix of two for %s (%s)", names, pairs);
    else
        cause->message =
            sp_arena_printf(arena, "adapter_config.json says r = %" PRIu64 ", %s of the adapter %s another rank: %s",
                            first_promised(judged), pairs, one ? "has" : "have", names);
}

/* ---- causes ---- */

static void explain_tensor(const struct judged *judged, size_t tensor, const struct sp_cause *cause, bool fits)
{
    if (tensor == SP_NONE || judged->base.finding_of[tensor] == SP_NONE) return;
    sp_take(judged->check, judged->base.finding_of[tensor], cause);
    if (fits) sp_adapter_tensor_fits(&judged->base, tensor);
}

static void explain_pairs(struct judged *judged, enum fit fit, enum sp_cause_kind kind)
{
    if (!judged->counts[fit]) return;
    const bool fits = fit == FITS || fit == UNTOLD;
    struct sp_cause *cause =
        sp_blame(judged->check, fit == FITS && judged->base.whole ? SP_CAUSE_ADAPTER_UNMERGED : kind);
    for (size_t i = 0; i < judged->adapter.count; i++) {
        if (judged->fits[i] != fit) continue;
        explain_tensor(judged, judged->adapter.pairs[i].a, cause, fits);
        explain_tensor(judged, judged->adapter.pairs[i].b, cause, fits);
    }
    describe_adapter(judged, fit, cause);
}

static bool is_targeted(const struct judged *judged, const char *target)
{
    for (size_t i = 0; i < judged->adapter.count; i++) {
        const char *module = judged->adapter.pairs[i].module;
        if (is_meant(module, target)) return true;
    }
    return false;
}

/* Modules that were to be adapted and are not. A single text is a regular expression: it tells nothing here. */
static void explain_targets(struct judged *judged)
{
    enum { MOST = 64 };
    const struct sp_value targets = sp_value_member(judged->adapter.config, "target_modules");
    struct sp_names absent = {0};
    for (size_t i = 0; targets.type == SP_LIST && i < targets.count && i < MOST; i++)
        if (targets.items[i].type == SP_STRING && !is_targeted(judged, targets.items[i].string))
            sp_names_add(&absent, targets.items[i].string);
    if (absent.count) {
        struct sp_cause *cause = sp_blame(judged->check, SP_CAUSE_ADAPTER_TARGET);
        cause->explains = absent.count;
        cause->message = sp_arena_printf(
            &judged->check->arena, "adapter_config.json has %s among its target_modules, the adapter nothing for it",
            sp_names_text(&absent));
    }
    sp_names_free(&absent);
}

/* Layers without a pair where others have one. adapter_config.json may say that it is to be so; where it lists the
 * modules and no layers, it says that it is not. */
static void explain_lacking(struct judged *judged)
{
    struct sp_check *check = judged->check;
    const struct sp_value config = judged->adapter.config;
    const size_t total = sp_prediction_count(check->prediction);
    struct sp_siblings siblings = {.count = 0};
    struct sp_map adapted = {0};
    if (sp_value_is_set(sp_value_member(config, "layers_to_transform"))) return;
    if (sp_value_is_set(sp_value_member(config, "exclude_modules"))) return;
    for (size_t i = 0; i < judged->adapter.count; i++)
        if (judged->bases[i] != SP_NONE)
            sp_map_add(&adapted, sp_prediction_tensor(check->prediction, judged->bases[i])->name, i);
    for (size_t i = 0; i < total; i++) {
        const struct sp_predicted *weight = sp_prediction_tensor(check->prediction, i);
        if (weight->rank >= 2 && !weight->optional)
            sp_siblings_add(&siblings, weight->name, weight->name, sp_map_get(&adapted, weight->name) != SIZE_MAX);
    }
    const size_t count = sp_siblings_lacking(&siblings);
    if (count) {
        struct sp_cause *cause = sp_blame(check, SP_CAUSE_ADAPTER_TARGET);
        if (sp_value_member(config, "target_modules").type == SP_LIST) cause->severity = SP_SEVERITY_ERROR;
        cause->explains = count;
        cause->message = sp_arena_printf(
            &check->arena, "the adapter has nothing for %s whose siblings in other layers it changes: %s",
            count == 1 ? "1 matrix" : sp_arena_printf(&check->arena, "%zu matrices", count),
            sp_siblings_names(&siblings, &check->arena));
    }
    sp_map_free(&adapted);
    sp_siblings_free(&siblings);
}

/* A tensor of the adapter that has another number of tokens than the base: the first dimension alone differs. */
static bool has_other_tokens(const struct sp_check *check, const struct sp_finding *finding, const void *rows)
{
    if (!sp_finding_is_open_as(finding, SP_FINDING_SHAPE)) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
    if (!tensor->rank || tensor->rank != expected->rank || tensor->shape[0] == expected->shape[0]) return false;
    if (!sp_same_dims(tensor->shape + 1, tensor->rank - 1, expected->shape + 1, expected->rank - 1)) return false;
    if (*(const uint64_t *)rows && *(const uint64_t *)rows != tensor->shape[0]) return false;
    char *words = sp_prediction_dimension(check->prediction, finding->predicted, 0);
    const bool is = sp_is_vocabulary(words);
    free(words);
    return is;
}

/* Tokens were added for the training, and with the adapter the embedding and the head were saved that have them. */
static void explain_added_tokens(struct sp_check *check)
{
    uint64_t rows = 0;
    size_t first = 0;
    while (first < check->finding_count &&
           (check->findings[first].cause != SP_NONE || !has_other_tokens(check, &check->findings[first], &rows)))
        first++;
    if (first == check->finding_count) return;
    const struct sp_finding *finding = &check->findings[first];
    const uint64_t base = sp_prediction_tensor(check->prediction, finding->predicted)->shape[0];
    rows = sp_inventory_tensor(check->inventory, finding->tensor)->shape[0];
    struct sp_cause *cause = sp_gather(check, SP_CAUSE_ADAPTER_SHAPE, has_other_tokens, &rows);
    cause->message = sp_arena_printf(
        &check->arena, "the adapter was trained with %" PRIu64 " tokens, the base has %" PRIu64 ": %s (%s)", rows, base,
        sp_names_of(check, cause), sp_tensors_of(check, cause));
    cause->hint = sp_arena_printf(
        &check->arena, "call resize_token_embeddings(%" PRIu64 ") on the base before the adapter is loaded", rows);
}

/* use_dora in adapter_config.json, and magnitudes in the file: both, or none. */
static void explain_magnitudes(const struct judged *judged)
{
    const struct sp_value config = judged->adapter.config;
    const bool magnitudes = sp_has_magnitudes(judged->check->inventory);
    if (config.type != SP_OBJECT || magnitudes == sp_value_is_true(sp_value_member(config, "use_dora"))) return;
    struct sp_cause *cause = sp_blame(judged->check, SP_CAUSE_ADAPTER_PART);
    cause->explains = 1;
    cause->message = magnitudes ? "the adapter has magnitudes, as DoRA has, which adapter_config.json does not say: "
                                  "loaders leave them out"
                                : "adapter_config.json says use_dora, the adapter has no magnitudes "
                                  "(lora_magnitude_vector): loaders make up their own";
}

void sp_explain_adapter(struct sp_check *check)
{
    static const enum sp_cause_kind kinds[FITS_COUNT] = {
        [FITS] = SP_CAUSE_ADAPTER,           [ELSEWHERE] = SP_CAUSE_ADAPTER_PREFIX, [UNFIT] = SP_CAUSE_ADAPTER_SHAPE,
        [NO_BASE] = SP_CAUSE_ADAPTER_MODULE, [UNTOLD] = SP_CAUSE_ADAPTER,           [LONELY] = SP_CAUSE_ADAPTER_PAIR,
        [OTHER_RANK] = SP_CAUSE_ADAPTER_RANK};
    static const enum sp_finding_kind unexpected = SP_FINDING_UNEXPECTED;
    struct judged judged = {.check = check};
    if (!sp_count_wanted(check, sp_is_open_kind, &unexpected)) return;
    if (sp_adapter_read(&judged.adapter, &check->arena, check->inventory)) {
        judge_pairs(&judged);
        const size_t first = check->cause_count;
        for (enum fit fit = FITS; fit < FITS_COUNT; fit++) explain_pairs(&judged, fit, kinds[fit]);
        if (!judged.base.whole) sp_adapter_take_absent(check, &check->causes[first]);
        explain_targets(&judged);
        explain_lacking(&judged);
        explain_magnitudes(&judged);
        if (!judged.base.whole) explain_added_tokens(check);
        release_adapter(&judged);
    }
    sp_adapter_free(&judged.adapter);
}
