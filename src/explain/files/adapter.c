/* SPDX-License-Identifier: MIT
 * An adapter against the base that the table predicts: of each pair the product must have the shape of a matrix. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "check/adapter.h"
#include "explain/gather.h"

enum fit { FITS, UNFIT, NO_BASE, LONELY, OTHER_RANK, FITS_COUNT };

struct judged {
    struct sp_check *check;
    struct sp_adapter adapter;
    size_t *finding_of; /* for each tensor of the file: the finding that it is unexpected, or SP_NONE */
    enum fit *fits;     /* for each pair */
    size_t *bases;      /* for each pair: the predicted weight, or SP_NONE */
    size_t counts[FITS_COUNT];
    uint64_t least, most; /* ranks of those that fit */
};

/* ---- judging ---- */

/* The weight of the module in the prediction, with up to a few components taken off in front; or SP_NONE. */
static size_t base_of(const struct sp_check *check, const char *module)
{
    enum { DEEPEST = 5 };
    struct sp_text name = {0};
    size_t found = SP_NONE;
    const char *rest = module;
    for (int depth = 0; rest && depth < DEEPEST && found == SP_NONE; depth++) {
        name.length = 0;
        sp_text_printf(&name, "%s.weight", rest);
        found = sp_prediction_find(check->prediction, name.data);
        rest = strchr(rest, '.');
        if (rest) rest++;
    }
    sp_text_free(&name);
    return found;
}

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
    if (weight->rank != 2) return false;
    if (weight->shape[0] == product.out && weight->shape[1] == product.in) return true;
    return is_turned(judged, pair) && weight->shape[0] == product.in && weight->shape[1] == product.out;
}

/* The rank that adapter_config.json promises to all, or 0. */
static uint64_t promised_rank(const struct sp_adapter *adapter)
{
    const struct sp_value rank = sp_value_member(adapter->config, "r");
    const struct sp_value others = sp_value_member(adapter->config, "rank_pattern");
    if (rank.type != SP_INT || rank.integer <= 0 || (others.type == SP_OBJECT && others.count)) return 0;
    return (uint64_t)rank.integer;
}

static enum fit judge_pair(struct judged *judged, size_t index)
{
    const struct sp_pair *pair = &judged->adapter.pairs[index];
    const uint64_t promised = promised_rank(&judged->adapter);
    struct sp_product product;
    judged->bases[index] = base_of(judged->check, pair->module);
    if (pair->a == SP_NONE || pair->b == SP_NONE) return LONELY;
    if (judged->bases[index] == SP_NONE) return NO_BASE;
    if (!sp_pair_product(&judged->adapter, pair, &product)) return UNFIT;
    if (!fits_base(judged, pair, judged->bases[index], product)) return UNFIT;
    if (promised && promised != product.rank) return OTHER_RANK;
    if (!judged->counts[FITS] || product.rank < judged->least) judged->least = product.rank;
    if (product.rank > judged->most) judged->most = product.rank;
    return FITS;
}

static void judge_pairs(struct judged *judged, struct sp_check *check)
{
    const size_t tensors = sp_inventory_count(check->inventory), pairs = judged->adapter.count;
    judged->check = check;
    judged->finding_of = sp_realloc(NULL, tensors, sizeof *judged->finding_of);
    judged->fits = sp_realloc(NULL, pairs, sizeof *judged->fits);
    judged->bases = sp_realloc(NULL, pairs, sizeof *judged->bases);
    for (size_t i = 0; i < tensors; i++) judged->finding_of[i] = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SP_FINDING_UNEXPECTED))
            judged->finding_of[check->findings[i].tensor] = i;
    for (size_t i = 0; i < pairs; i++) {
        judged->fits[i] = judge_pair(judged, i);
        judged->counts[judged->fits[i]]++;
    }
}

static void release_adapter(struct judged *judged)
{
    free(judged->finding_of);
    free(judged->fits);
    free(judged->bases);
    sp_adapter_free(&judged->adapter);
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

static void describe_adapter(const struct judged *judged, enum fit fit, struct sp_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    const char *names = modules(judged, fit), *label = judged->adapter.pairs[0].label;
    const char *pairs = sp_count_of(arena, judged->counts[fit], fit == FITS ? "matrix" : "pair");
    if (fit == FITS && judged->counts[FITS] != 1) pairs = sp_arena_printf(arena, "%zu matrices", judged->counts[FITS]);
    if (fit == FITS)
        cause->message =
            sp_arena_printf(arena, "a LoRA adapter of %s that fits %s of the model: %s", ranks(judged), pairs, names);
    else if (fit == UNFIT)
        cause->message = sp_arena_printf(arena, "%s of the adapter %s not fit the model: %s, such as %s", pairs,
                                         judged->counts[fit] == 1 ? "does" : "do", names, first_unfit(judged));
    else if (fit == NO_BASE)
        cause->message =
            sp_arena_printf(arena, "the adapter is for what the model does not have: %s (%s)", names, pairs);
    else if (fit == LONELY)
        cause->message = sp_arena_printf(arena, "the adapter has one matrix of two for %s (%s)", names, pairs);
    else
        cause->message =
            sp_arena_printf(arena, "adapter_config.json says r = %" PRIu64 ", %s of the adapter %s another rank: %s",
                            promised_rank(&judged->adapter), pairs, judged->counts[fit] == 1 ? "has" : "have", names);
    if (fit == FITS && *label)
        cause->hint = sp_arena_printf(
            arena, "its names carry the adapter's own, %s, which PEFT leaves out when it saves", sp_quote(label).text);
}

/* ---- causes ---- */

/* What is as it should be in an adapter is no error. */
static void lower_to_note(struct sp_finding *finding, const char *message)
{
    finding->severity = SP_SEVERITY_NOTE;
    finding->message = message;
}

static void explain_tensor(const struct judged *judged, size_t tensor, const struct sp_cause *cause, bool fits)
{
    if (tensor == SP_NONE || judged->finding_of[tensor] == SP_NONE) return;
    sp_take(judged->check, judged->finding_of[tensor], cause);
    if (fits) lower_to_note(&judged->check->findings[judged->finding_of[tensor]], "is part of the adapter");
}

static void explain_pairs(struct judged *judged, enum fit fit, enum sp_cause_kind kind)
{
    if (!judged->counts[fit]) return;
    struct sp_cause *cause = sp_blame(judged->check, kind);
    for (size_t i = 0; i < judged->adapter.count; i++) {
        if (judged->fits[i] != fit) continue;
        explain_tensor(judged, judged->adapter.pairs[i].a, cause, fit == FITS);
        explain_tensor(judged, judged->adapter.pairs[i].b, cause, fit == FITS);
    }
    describe_adapter(judged, fit, cause);
}

/* The model itself is not in such a file, apart from what was trained as a whole: a head, an embedding. */
static void explain_absent_base(struct sp_check *check, const struct sp_cause *cause)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        struct sp_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, SP_FINDING_MISSING)) continue;
        sp_take(check, i, cause);
        lower_to_note(finding, "is not stored: the base has it");
    }
}

static bool is_targeted(const struct judged *judged, const char *target)
{
    for (size_t i = 0; i < judged->adapter.count; i++) {
        const char *module = judged->adapter.pairs[i].module;
        const size_t length = strlen(module), tail = strlen(target);
        if (length >= tail && strcmp(module + length - tail, target) == 0 &&
            (length == tail || module[length - tail - 1] == '.'))
            return true;
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

void sp_explain_adapter(struct sp_check *check)
{
    static const enum sp_cause_kind kinds[FITS_COUNT] = {[FITS] = SP_CAUSE_ADAPTER,
                                                         [UNFIT] = SP_CAUSE_ADAPTER_SHAPE,
                                                         [NO_BASE] = SP_CAUSE_ADAPTER_MODULE,
                                                         [LONELY] = SP_CAUSE_ADAPTER_PAIR,
                                                         [OTHER_RANK] = SP_CAUSE_ADAPTER_RANK};
    static const enum sp_finding_kind unexpected = SP_FINDING_UNEXPECTED;
    struct judged judged = {.check = check};
    if (!sp_count_wanted(check, sp_is_open_kind, &unexpected)) return;
    if (!sp_adapter_read(&judged.adapter, &check->arena, check->inventory)) {
        sp_adapter_free(&judged.adapter);
        return;
    }
    judge_pairs(&judged, check);
    const size_t first = check->cause_count;
    for (enum fit fit = FITS; fit < FITS_COUNT; fit++) explain_pairs(&judged, fit, kinds[fit]);
    if (sp_check_matched(check) <= judged.adapter.count) explain_absent_base(check, &check->causes[first]);
    explain_targets(&judged);
    release_adapter(&judged);
}
