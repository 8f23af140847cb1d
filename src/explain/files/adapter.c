/* SPDX-License-Identifier: MIT
 * An adapter against the base that the table predicts: of each pair the product must have the shape of a matrix. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "explain/files/adapter_pairs.h"
#include "explain/gather.h"

/* What PEFT puts in front of the names of the model. */
static const char peft_front[] = "base_model.model.";

/* ---- judging ---- */

/* Conv1D of Hugging Face's GPT-2 keeps its weight as (in, out), and so does an embedding, (tokens, width). */
static bool is_turned(const struct sp_judged *judged, const struct sp_pair *pair)
{
    const struct sp_value turned = sp_value_member(judged->adapter.config, "fan_in_fan_out");
    return (turned.type == SP_BOOL && turned.boolean) || strncmp(sp_behind_last(pair->module, '.'), "c_", 2) == 0 ||
           strcmp(pair->kind, "lora_embedding_A") == 0;
}

static bool fits_base(const struct sp_judged *judged, const struct sp_pair *pair, size_t base,
                      struct sp_product product)
{
    const struct sp_predicted *weight = sp_prediction_tensor(judged->check->prediction, base);
    if (weight->rank < 2 || !weight->shape[0]) return false;
    const uint64_t out = weight->shape[0], in = weight->parameters / out;
    if (out == product.out && in == product.in) return true;
    return weight->rank == 2 && is_turned(judged, pair) && out == product.in && in == product.out;
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
        if (sp_adapter_is_meant(module, others.members[i].key)) rank = others.members[i].value;
    }
    return rank.type == SP_INT && rank.integer > 0 ? (uint64_t)rank.integer : 0;
}

/* Whether PEFT finds the module under its name. What MLX and torchtune write has other names in any case. */
static bool is_in_place(const struct sp_judged *judged, size_t index)
{
    const struct sp_pair *pair = &judged->adapter.pairs[index];
    const char *name = sp_prediction_tensor(judged->check->prediction, judged->bases[index])->name;
    const size_t front = strlen(peft_front), length = strlen(pair->module);
    if (judged->base.whole || strcmp(pair->kind, "lora_a") == 0) return true;
    return strncmp(pair->module, peft_front, front) == 0 && strncmp(pair->module + front, name, length - front) == 0 &&
           strcmp(name + length - front, ".weight") == 0;
}

static enum sp_fit judge_pair(struct sp_judged *judged, size_t index)
{
    const struct sp_pair *pair = &judged->adapter.pairs[index];
    const uint64_t promised = promised_rank(&judged->adapter, pair->module);
    struct sp_product product;
    judged->bases[index] = sp_adapter_base_find(&judged->base, pair->module, "weight");
    if (pair->a == SP_NONE || pair->b == SP_NONE) return SP_FIT_LONELY;
    if (judged->bases[index] == SP_NONE)
        return sp_adapter_base_holds(&judged->base, pair->module) ? SP_FIT_UNTOLD : SP_FIT_NO_BASE;
    if (!sp_pair_product(&judged->adapter, pair, &product)) return SP_UNFIT;
    if (!fits_base(judged, pair, judged->bases[index], product)) return SP_UNFIT;
    if (promised && promised != product.rank) return SP_FIT_OTHER_RANK;
    if (!is_in_place(judged, index)) return SP_FIT_ELSEWHERE;
    if (!judged->counts[SP_FITS] || product.rank < judged->least) judged->least = product.rank;
    if (product.rank > judged->most) judged->most = product.rank;
    return SP_FITS;
}

static void judge_pairs(struct sp_judged *judged)
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

static void release_adapter(struct sp_judged *judged)
{
    sp_adapter_base_close(&judged->base);
    free(judged->fits);
    free(judged->bases);
}

/* ---- saying it ---- */

/* The modules of the pairs that are so; by their names in the model where they are known. */
static const char *modules(const struct sp_judged *judged, enum sp_fit fit)
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

static const char *ranks(const struct sp_judged *judged)
{
    struct sp_arena *arena = &judged->check->arena;
    if (judged->least == judged->most) return sp_arena_printf(arena, "rank %" PRIu64, judged->least);
    return sp_arena_printf(arena, "ranks %" PRIu64 " to %" PRIu64, judged->least, judged->most);
}

static const char *shape_of(const struct sp_judged *judged, size_t tensor)
{
    return sp_found_shape(&judged->check->arena, sp_inventory_tensor(judged->check->inventory, tensor));
}

/* The rank that the first of those with another one should have. */
static uint64_t first_promised(const struct sp_judged *judged)
{
    size_t i = 0;
    while (judged->fits[i] != SP_FIT_OTHER_RANK) i++;
    return promised_rank(&judged->adapter, judged->adapter.pairs[i].module);
}

/* "; the first: A (8, 4096) and B (4096, 8) for (1024, 4096)". */
static const char *first_unfit(const struct sp_judged *judged)
{
    size_t i = 0;
    while (judged->fits[i] != SP_UNFIT) i++;
    const struct sp_pair *pair = &judged->adapter.pairs[i];
    const struct sp_predicted *weight = sp_prediction_tensor(judged->check->prediction, judged->bases[i]);
    const struct sp_tensor as_tensor = {.shape = weight->shape, .rank = weight->rank};
    return sp_arena_printf(&judged->check->arena, "A %s and B %s for %s", shape_of(judged, pair->a),
                           shape_of(judged, pair->b), sp_found_shape(&judged->check->arena, &as_tensor));
}

/* "a LoRA adapter of rank 8 that fits 32 matrices of the model: ...". */
static void say_fitting(const struct sp_judged *judged, const char *names, struct sp_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    const size_t count = judged->counts[SP_FITS];
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

/* Whether the model has a language model among others: versions of transformers put that in different places. */
static bool is_composed(const struct sp_check *check)
{
    static const char *const parts[] = {"text_config", "vision_config", "audio_config", "thinker_config"};
    const struct sp_value root = sp_config_hyper(check->config)->root;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (sp_value_is_set(sp_value_member(root, parts[i]))) return true;
    return false;
}

/* Why a loader may find the modules all the same; NULL when none does. */
static const char *excuse_elsewhere(const struct sp_judged *judged)
{
    const struct sp_value task = sp_value_member(judged->adapter.config, "task_type");
    if (is_composed(judged->check))
        return "versions of transformers name these modules differently: load it with the one that it was made with";
    if (task.type == SP_STRING && strcmp(task.string, "FEATURE_EXTRACTION") == 0)
        return "it was made for the model without its head: load that (AutoModel) and put the adapter on it";
    return NULL;
}

static void say_elsewhere(const struct sp_judged *judged, struct sp_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    size_t i = 0;
    while (judged->fits[i] != SP_FIT_ELSEWHERE) i++;
    const char *name = sp_prediction_tensor(judged->check->prediction, judged->bases[i])->name;
    const int length = (int)(strlen(name) - strlen(".weight"));
    const char *should = sp_arena_printf(arena, "%s%.*s", peft_front, length, name);
    const struct fronts fronts = different_fronts(judged->adapter.pairs[i].module, should);
    cause->hint = excuse_elsewhere(judged);
    cause->message = sp_arena_printf(
        arena,
        "the adapter's names begin with '%.*s' where those of the model begin with '%.*s': it %s no effect on %s",
        (int)fronts.is_length, fronts.is, (int)fronts.should_length, should, cause->hint ? "may have" : "has",
        sp_count_of(arena, judged->counts[SP_FIT_ELSEWHERE], "module"));
    if (cause->hint) cause->severity = SP_SEVERITY_WARNING;
    else cause->hint = "rename them: loaders look for no other names, and run the base alone without an error";
}

static void describe_adapter(const struct sp_judged *judged, enum sp_fit fit, struct sp_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    const char *names = modules(judged, fit);
    const char *pairs = sp_count_of(arena, judged->counts[fit], "pair");
    const bool one = judged->counts[fit] == 1;
    if (fit == SP_FITS) say_fitting(judged, names, cause);
    else if (fit == SP_FIT_ELSEWHERE) say_elsewhere(judged, cause);
    else if (fit == SP_UNFIT)
        cause->message = sp_arena_printf(arena, "%s of the adapter %s not fit the model: %s, such as %s", pairs,
                                         one ? "does" : "do", names, first_unfit(judged));
    else if (fit == SP_FIT_NO_BASE)
        cause->message =
            sp_arena_printf(arena, "the adapter is for what the model does not have: %s (%s)", names, pairs);
    else if (fit == SP_FIT_UNTOLD)
        cause->message = sp_arena_printf(
            arena, "%s of the adapter %s for several weights at once, whose shapes do not tell whether it fits: %s",
            pairs, one ? "is" : "are", names);
    else if (fit == SP_FIT_LONELY)
        cause->message = sp_arena_printf(arena, "the adapter has one matrix of two for %s (%s)", names, pairs);
    else
        cause->message =
            sp_arena_printf(arena, "adapter_config.json says r = %" PRIu64 ", %s of the adapter %s another rank: %s",
                            first_promised(judged), pairs, one ? "has" : "have", names);
}

/* ---- causes ---- */

static void explain_tensor(const struct sp_judged *judged, size_t tensor, const struct sp_cause *cause, bool fits)
{
    if (tensor == SP_NONE || judged->base.finding_of[tensor] == SP_NONE) return;
    sp_take(judged->check, judged->base.finding_of[tensor], cause);
    if (fits) sp_adapter_tensor_fits(&judged->base, tensor);
}

static void explain_pairs(struct sp_judged *judged, enum sp_fit fit, enum sp_cause_kind kind)
{
    if (!judged->counts[fit]) return;
    const bool fits = fit == SP_FITS || fit == SP_FIT_UNTOLD;
    struct sp_cause *cause =
        sp_blame(judged->check, fit == SP_FITS && judged->base.whole ? SP_CAUSE_ADAPTER_UNMERGED : kind);
    for (size_t i = 0; i < judged->adapter.count; i++) {
        if (judged->fits[i] != fit) continue;
        explain_tensor(judged, judged->adapter.pairs[i].a, cause, fits);
        explain_tensor(judged, judged->adapter.pairs[i].b, cause, fits);
    }
    describe_adapter(judged, fit, cause);
    if (fit == SP_FITS && strcmp(sp_inventory_format(judged->check->inventory), "gguf") == 0)
        cause->hint = "load it with its base: llama.cpp takes it by --lora";
}

void sp_explain_adapter(struct sp_check *check)
{
    static const enum sp_cause_kind kinds[SP_FIT_COUNT] = {[SP_FITS] = SP_CAUSE_ADAPTER,
                                                           [SP_FIT_ELSEWHERE] = SP_CAUSE_ADAPTER_PREFIX,
                                                           [SP_UNFIT] = SP_CAUSE_ADAPTER_SHAPE,
                                                           [SP_FIT_NO_BASE] = SP_CAUSE_ADAPTER_MODULE,
                                                           [SP_FIT_UNTOLD] = SP_CAUSE_ADAPTER,
                                                           [SP_FIT_LONELY] = SP_CAUSE_ADAPTER_PAIR,
                                                           [SP_FIT_OTHER_RANK] = SP_CAUSE_ADAPTER_RANK};
    static const enum sp_finding_kind unexpected = SP_FINDING_UNEXPECTED;
    struct sp_judged judged = {.check = check};
    if (!sp_count_wanted(check, sp_is_open_kind, &unexpected)) return;
    if (sp_adapter_read(&judged.adapter, &check->arena, check->inventory)) {
        judge_pairs(&judged);
        const size_t first = check->cause_count;
        for (enum sp_fit fit = SP_FITS; fit < SP_FIT_COUNT; fit++) explain_pairs(&judged, fit, kinds[fit]);
        if (!judged.base.whole) sp_adapter_take_absent(check, &check->causes[first]);
        sp_adapter_hold_to_promises(&judged);
        release_adapter(&judged);
    }
    sp_adapter_free(&judged.adapter);
}
