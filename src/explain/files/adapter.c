/* SPDX-License-Identifier: MIT
 * An adapter against the base that the table predicts: of each pair the product must have the shape of a matrix. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "explain/files/adapter_pairs.h"
#include "explain/gather.h"
#include "lang/prediction.h"
#include "load/memory_names.h"
#include "model/format.h"

/* ---- judging ---- */

/* Whether the base keeps the weight as (in, out): Conv1D of Hugging Face's GPT-2 does, and an embedding, (tokens,
 * width), counts as one. */
static bool is_transposed(const struct sp_judged *judged, const struct sp_pair *pair)
{
    const struct shapeproof_value transposed = sp_value_member(judged->adapter.config, "fan_in_fan_out");
    return (transposed.type == SHAPEPROOF_VALUE_BOOL && transposed.boolean) ||
           strncmp(sp_behind_last(pair->module, '.'), "c_", 2) == 0 || strcmp(pair->kind, "lora_embedding_A") == 0;
}

/* Whether the product has the shape of the weights. Where the adapter's module is one of several that are cut from a
 * weight, and the sizes of these are not known, it must have the columns of the weight and fewer rows. */
static bool fits_base(const struct sp_judged *judged, size_t index, struct sp_product product)
{
    uint64_t out, in;
    if (!sp_adapter_found_matrix(&judged->base, &judged->bases[index], &out, &in)) return false;
    if (out == product.out && in == product.in)
        return !sp_adapter_keeps_input_first(&judged->base, judged->bases[index].weights[0]);
    if (judged->bases[index].cuts == SP_CUTS_UNKNOWN) return in == product.in && product.out < out;
    const uint32_t rank =
        shapeproof_prediction_tensor(judged->check->prediction, judged->bases[index].weights[0])->rank;
    return rank == 2 && is_transposed(judged, &judged->adapter.pairs[index]) && out == product.in && in == product.out;
}

/* The rank that adapter_config.json promises to the module: r, or the first key of rank_pattern that means the module.
 * 0 where it cannot be told: without r, of AdaLoRA, which changes ranks, and with a key that is a regular expression.
 */
static uint64_t promised_rank(const struct sp_adapter *adapter, const char *module)
{
    const struct shapeproof_value others = sp_value_member(adapter->config, "rank_pattern");
    const struct shapeproof_value type = sp_value_member(adapter->config, "peft_type");
    struct shapeproof_value rank = sp_value_member(adapter->config, "r");
    if (type.type == SHAPEPROOF_VALUE_STRING && strcmp(type.string, "LORA") != 0)
        return 0; /* AdaLoRA begins with another one */
    for (size_t i = others.type == SHAPEPROOF_VALUE_OBJECT ? others.count : 0; i-- > 0;) {
        if (sp_adapter_is_expression(others.members[i].key)) return 0;
        if (sp_adapter_is_meant(module, others.members[i].key)) rank = others.members[i].value;
    }
    return sp_value_count(rank);
}

/* How a pair fits; fills the found weights of the pair, and notes the rank of one that fits. */
static enum sp_fit judge_pair(struct sp_judged *judged, size_t index)
{
    const struct sp_pair *pair = &judged->adapter.pairs[index];
    const uint64_t promised = promised_rank(&judged->adapter, pair->module);
    struct sp_adapter_found *base = &judged->bases[index];
    struct sp_product product;
    *base = sp_adapter_base_weights(&judged->base, pair->module, pair->ending);
    if (base->foreign) return SP_FIT_FOREIGN;
    if (pair->a == SHAPEPROOF_NONE || pair->b == SHAPEPROOF_NONE) return SP_FIT_LONELY;
    if (!base->count &&
        (sp_pair_is_stacked(&judged->adapter, pair) || sp_adapter_base_holds(&judged->base, pair->module)))
        return SP_FIT_UNTOLD;
    if (!base->count) return SP_FIT_NO_BASE;
    if (!sp_pair_product(&judged->adapter, pair, &product)) return SP_UNFIT;
    if (!fits_base(judged, index, product)) return SP_UNFIT;
    if (promised && promised != product.rank) return SP_FIT_OTHER_RANK;
    if (!base->in_place) return SP_FIT_ELSEWHERE;
    if (!judged->counts[SP_FITS] || product.rank < judged->least) judged->least = product.rank;
    if (product.rank > judged->most) judged->most = product.rank;
    return SP_FITS;
}

/* Whether the configuration of the base lies in a folder of that name, as in a pipeline: "unet/config.json". */
static bool lies_in(const struct shapeproof_check *check, const char *folder)
{
    const char *path = check->config->path, *file = sp_base_name(path);
    const size_t length = strlen(folder);
    const size_t before = file > path ? (size_t)(file - path) - 1 : 0;
    return before >= length && strncmp(path + before - length, folder, length) == 0 &&
           (before == length || path[before - length - 1] == '/');
}

/* Pairs for several text encoders: the base is one of these, and pairs for the others become foreign. Which one it is
 * tells the folder of the base, "text_encoder_2/"; or else the first pair for a named encoder that fits. */
static void part_encoders(struct sp_judged *judged)
{
    const struct sp_adapter *adapter = &judged->adapter;
    const char *by_folder = NULL, *by_fit = NULL;
    for (size_t i = 0; i < adapter->count; i++) {
        const struct sp_adapter_front *front = sp_adapter_front(adapter->pairs[i].module);
        if (front->side != SP_SIDE_TEXT_ENCODER || judged->fits[i] == SP_FIT_FOREIGN || !*front->component) continue;
        if (!by_folder && lies_in(judged->check, front->component)) by_folder = front->component;
        if (!by_fit && judged->fits[i] == SP_FITS) by_fit = front->component;
    }
    const char *mine = by_folder ? by_folder : by_fit;
    for (size_t i = 0; mine && i < adapter->count; i++) {
        const struct sp_adapter_front *front = sp_adapter_front(adapter->pairs[i].module);
        if (front->side != SP_SIDE_TEXT_ENCODER || strcmp(front->component, mine) == 0) continue;
        judged->counts[judged->fits[i]]--;
        judged->fits[i] = SP_FIT_FOREIGN;
        judged->counts[SP_FIT_FOREIGN]++;
    }
}

/* Judges all pairs; the adapter was made for another model when more than half of the pairs for this one fail. */
static void judge_pairs(struct sp_judged *judged)
{
    const size_t pairs = judged->adapter.count;
    sp_adapter_base_open(&judged->base, judged->check);
    if (judged->base.scheme) judged->adapter.config = sp_value_absent("adapter_config.json"); /* it is for PEFT */
    judged->fits = sp_realloc(NULL, pairs, sizeof *judged->fits);
    judged->bases = sp_realloc(NULL, pairs, sizeof *judged->bases);
    for (size_t i = 0; i < pairs; i++) {
        judged->fits[i] = judge_pair(judged, i);
        judged->counts[judged->fits[i]]++;
    }
    part_encoders(judged);
    const size_t own = pairs - judged->counts[SP_FIT_FOREIGN];
    const size_t astray = judged->counts[SP_UNFIT] + judged->counts[SP_FIT_NO_BASE];
    judged->another = !judged->base.whole && astray * 2 > own;
}

static void release_adapter(struct sp_judged *judged)
{
    sp_adapter_base_close(&judged->base);
    sp_free(judged->fits);
    sp_free(judged->bases);
}

/* ---- saying it ---- */

/* The modules of the pairs with that fit in one line, and how many they are: by the names of their weights in the
 * model, or, where the model has none for them, by the adapter's names. */
static const char *modules(const struct sp_judged *judged, enum sp_fit fit, size_t *count)
{
    const char **names = sp_realloc(NULL, judged->adapter.count * SP_MOST_FUSED, sizeof *names);
    *count = 0;
    for (size_t i = 0; i < judged->adapter.count; i++) {
        const struct sp_adapter_found *base = &judged->bases[i];
        if (judged->fits[i] != fit) continue;
        for (size_t k = 0; k < base->count; k++)
            names[(*count)++] = shapeproof_prediction_tensor(judged->check->prediction, base->weights[k])->name;
        if (!base->count) names[(*count)++] = judged->adapter.pairs[i].module;
    }
    const char *list = sp_some_names(&judged->check->arena, names, *count);
    sp_free(names);
    return list;
}

/* "rank 8", "ranks 4 to 16": of the pairs that fit. */
static const char *ranks(const struct sp_judged *judged)
{
    struct sp_arena *arena = &judged->check->arena;
    if (judged->least == judged->most) return sp_arena_printf(arena, "rank %" PRIu64, judged->least);
    return sp_arena_printf(arena, "ranks %" PRIu64 " to %" PRIu64, judged->least, judged->most);
}

static const char *shape_of(const struct sp_judged *judged, size_t tensor)
{
    return sp_found_shape(&judged->check->arena, shapeproof_inventory_tensor(judged->check->inventory, tensor));
}

/* The rank that adapter_config.json promises to the first pair with another one. There must be such a pair. */
static uint64_t first_promised(const struct sp_judged *judged)
{
    size_t i = 0;
    while (judged->fits[i] != SP_FIT_OTHER_RANK) i++;
    return promised_rank(&judged->adapter, judged->adapter.pairs[i].module);
}

/* "A (8, 4096) and B (4096, 8) for (1024, 4096)", of the first pair that is unfit. There must be one, with a base. */
static const char *first_unfit(const struct sp_judged *judged)
{
    size_t i = 0;
    while (judged->fits[i] != SP_UNFIT) i++;
    const struct sp_pair *pair = &judged->adapter.pairs[i];
    const struct shapeproof_predicted *weight =
        shapeproof_prediction_tensor(judged->check->prediction, judged->bases[i].weights[0]);
    const struct shapeproof_tensor as_tensor = {.shape = weight->shape, .rank = weight->rank};
    return sp_arena_printf(&judged->check->arena, "A %s and B %s for %s%s", shape_of(judged, pair->a),
                           shape_of(judged, pair->b), sp_found_shape(&judged->check->arena, &as_tensor),
                           judged->bases[i].count > 1 ? " and those with it" : "");
}

/* The first pair that fits. There must be one. */
static size_t first_fitting(const struct sp_judged *judged)
{
    size_t i = 0;
    while (judged->fits[i] != SP_FITS) i++;
    return i;
}

/* Whose names the fitting pairs have, by the first of them: "kohya's"; "" for PEFT's own. */
static const char *naming(const struct sp_judged *judged)
{
    const size_t i = first_fitting(judged);
    const struct sp_pair *pair = &judged->adapter.pairs[i];
    const char *front = sp_adapter_front(pair->module + judged->bases[i].outer)->names;
    return *front && judged->bases[i].in_place ? front : pair->ending->names;
}

/* " with kohya's names", " with names of torchtune"; "" for PEFT's own. */
static const char *with_names(const struct sp_judged *judged)
{
    struct sp_arena *arena = &judged->check->arena;
    const char *whose = naming(judged);
    if (judged->base.scheme) return sp_arena_printf(arena, " with names %s", judged->base.scheme->says);
    return *whose ? sp_arena_printf(arena, " with %s names", whose) : "";
}

/* How to load an adapter whose task needs a head that its base does not have; NULL for any other. */
static const char *task_hint(struct shapeproof_check *check)
{
    if (!check->task_head) return NULL;
    const char *labels =
        check->task_labels ? sp_arena_printf(&check->arena, " and num_labels=%" PRIu64, check->task_labels) : "";
    return sp_arena_printf(&check->arena,
                           "load its base with AutoModel%s%s, then the adapter: PeftModel.from_pretrained(base, "
                           "DIRECTORY)",
                           check->task_head, labels);
}

/* Which program loads an adapter with such names; NULL for PEFT, which the usual hint names. A label in the names,
 * which PEFT leaves out when it saves, is said before anything else. */
static const char *loading_hint(const struct sp_judged *judged)
{
    struct sp_arena *arena = &judged->check->arena;
    const char *label = judged->adapter.pairs[0].label, *names = naming(judged);
    if (*label)
        return sp_arena_printf(arena,
                               "the names contain the name of the adapter, %s, which PEFT removes when it "
                               "saves an adapter",
                               sp_quote(label).text);
    if (judged->base.scheme)
        return "load it with the program that wrote it: PEFT looks only for modules with the names of the model";
    if (strcmp(names, "ComfyUI's") == 0)
        return "load it with ComfyUI: diffusers translates such names only for some of its pipelines, and otherwise "
               "ignores them";
    if (*names && judged->adapter.pairs[first_fitting(judged)].mid != SHAPEPROOF_NONE)
        return "load it with ComfyUI, or the program that wrote it: diffusers loads only pairs of two matrices";
    if (strcmp(names, "kohya's") == 0 && sp_has_magnitudes(judged->check->inventory))
        return "load it with the program that wrote it: load_lora_weights of diffusers ignores the magnitudes";
    return *names ? "load it into a pipeline of its base: pipeline.load_lora_weights(FILE)" : task_hint(judged->check);
}

/* The trainer's keys in front of the first pair that fits, "state_dict.model"; "" without any. */
static const char *outer_key(const struct sp_judged *judged)
{
    const size_t i = first_fitting(judged);
    const size_t length = judged->bases[i].outer;
    return length ? sp_arena_copy(&judged->check->arena, judged->adapter.pairs[i].module, length - 1) : "";
}

/* "a LoRA adapter of rank 8 that fits 32 matrices of the model: ...". */
static void say_fitting(const struct sp_judged *judged, const char *names, size_t count, struct shapeproof_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    const char *matrices = count == 1 ? "1 matrix" : sp_arena_printf(arena, "%zu matrices", count);
    const char *what =
        sp_arena_printf(arena, "a %s adapter of %s%s", sp_has_magnitudes(judged->check->inventory) ? "DoRA" : "LoRA",
                        ranks(judged), with_names(judged));
    const char *outer = outer_key(judged);
    if (*outer) what = sp_arena_printf(arena, "%s, under the outer key %s,", what, sp_quote(outer).text);
    if (judged->base.whole) {
        cause->message = sp_arena_printf(arena,
                                         "%s is stored beside the weights of the model, not merged into %s: "
                                         "%s",
                                         what, matrices, names);
        cause->hint = judged->base.scheme ? "not merged: merge it with the program that trained it, and save the model "
                                            "that it returns"
                                          : sp_adapter_merge_hint;
        return;
    }
    cause->message = sp_arena_printf(arena, "%s that fits %s of the model: %s", what, matrices, names);
    cause->hint = *outer ? "the file is the checkpoint of a trainer: for PEFT or diffusers, save what is under that "
                           "key as a file of its own"
                         : loading_hint(judged);
}

/* What two names begin with that end alike: "unet." and "base_model.model.unet." of names that are the same behind. */
struct fronts {
    const char *is, *should;         /* the adapter's name, and the one that a loader looks for */
    size_t is_length, should_length; /* of the fronts */
};

static bool begins_component(const char *name, size_t place) { return !place || name[place - 1] == '.'; }

/* Compares the names from their ends, and back to the next component that begins in both. `front`, which loaders look
 * for, always counts as a front. */
static struct fronts different_fronts(const char *is, const char *should, const char *front)
{
    const size_t peft = strlen(front), least = strncmp(is, front, peft) == 0 ? peft : 0;
    struct fronts fronts = {is, should, strlen(is), strlen(should)};
    size_t *a = &fronts.is_length, *b = &fronts.should_length;
    while (*a > least && *b > peft && is[*a - 1] == should[*b - 1]) --*a, --*b;
    while (is[*a] && !(begins_component(is, *a) && begins_component(should, *b))) ++*a, ++*b;
    return fronts;
}

/* Whether the model has a language model among others: versions of transformers put that in different places. */
static bool is_composed(const struct shapeproof_check *check)
{
    static const char *const parts[] = {"text_config", "vision_config", "audio_config", "thinker_config"};
    const struct shapeproof_value root = sp_config_hyper(check->config)->root;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (sp_value_is_set(sp_value_member(root, parts[i]))) return true;
    return false;
}

/* Why a loader may find the modules under their names all the same; NULL when no loader does. */
static const char *excuse_elsewhere(const struct sp_judged *judged)
{
    const struct shapeproof_value task = sp_value_member(judged->adapter.config, "task_type");
    if (is_composed(judged->check))
        return "versions of transformers name these modules differently: load the adapter with the version that it "
               "was made with";
    if (task.type == SHAPEPROOF_VALUE_STRING && strcmp(task.string, "FEATURE_EXTRACTION") == 0)
        return "the adapter was made for the model without its head: load this model (AutoModel), and the adapter "
               "onto it";
    return NULL;
}

/* What to do to the names so that the loader finds them. */
static const char *elsewhere_hint(const struct sp_judged *judged, struct fronts fronts)
{
    struct sp_arena *arena = &judged->check->arena;
    if (!judged->base.diffusers)
        return "rename them: loaders look only for those of the model, and otherwise run the base alone, without an "
               "error";
    const int length = (int)fronts.is_length;
    if (fronts.is_length > fronts.should_length && strncmp(fronts.is, fronts.should, fronts.should_length) == 0)
        return sp_arena_printf(arena, "strip '%.*s' behind '%.*s' from the names", length - (int)fronts.should_length,
                               fronts.is + fronts.should_length, (int)fronts.should_length, fronts.should);
    return sp_arena_printf(arena, "let the names begin with '%.*s'%s: load_lora_weights loads no others",
                           (int)fronts.should_length, fronts.should,
                           length ? sp_arena_printf(arena, " in place of '%.*s'", length, fronts.is) : "");
}

/* What the module's name in the adapter begins with, and what the loader looks for in its place. */
static struct fronts fronts_elsewhere(const struct sp_judged *judged, size_t pair)
{
    const struct sp_adapter_base *base = &judged->base;
    const char *module = judged->adapter.pairs[pair].module;
    if (judged->bases[pair].behind_front)
        return (struct fronts){module, base->front, strlen(sp_adapter_front(module)->text), strlen(base->front)};
    const char *name = shapeproof_prediction_tensor(judged->check->prediction, judged->bases[pair].weights[0])->name;
    const int length = (int)(strlen(name) - strlen(".weight"));
    const char *should = sp_arena_printf(&judged->check->arena, "%s%.*s", base->front, length, name);
    return different_fronts(module, should, base->front);
}

/* The pairs fit, but loaders do not find their modules by these names. Says what the names begin with and should begin
 * with, by the first such pair:
 *
 *     transformers    "the adapter's names begin with 'model.' where those of the model begin with
 *                     'base_model.model.model.': it has no effect on 32 modules"; a warning, and "it may have no
 *                     effect", where some loader may take these names (excuse_elsewhere)
 *     diffusers       "the adapter's names have no prefix where diffusers looks for 'unet.': it does not find 4
 * modules" original names  "the adapter has the original names of modules behind 'transformer.', where diffusers ..."
 */
static void say_elsewhere(const struct sp_judged *judged, struct shapeproof_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    const bool is_diffusers = judged->base.diffusers;
    size_t first = 0;
    while (judged->fits[first] != SP_FIT_ELSEWHERE) first++;
    const struct fronts fronts = fronts_elsewhere(judged, first);
    const int is_length = (int)fronts.is_length, should_length = (int)fronts.should_length;
    const char *excuse = is_diffusers ? NULL : excuse_elsewhere(judged);
    const char *count = sp_count_of(arena, judged->counts[SP_FIT_ELSEWHERE], "module");
    if (judged->bases[first].original) {
        cause->message = sp_arena_printf(arena,
                                         "after '%.*s', the adapter has the original names of modules; diffusers "
                                         "looks for its own names, and does not find %s",
                                         is_length, fronts.is, count);
        cause->hint = "let the names begin with 'diffusion_model.', as ComfyUI has them, and load it there";
        return;
    }
    const char *begins = is_length
                             ? sp_arena_printf(arena, "the adapter's names begin with '%.*s'", is_length, fronts.is)
                             : "the adapter's names have no prefix";
    if (is_diffusers)
        cause->message = sp_arena_printf(arena, "%s, but diffusers looks for '%.*s' and does not find %s", begins,
                                         should_length, fronts.should, count);
    else
        cause->message = sp_arena_printf(arena,
                                         "%s, but those of the model begin with '%.*s': the adapter %s no "
                                         "effect on %s",
                                         begins, should_length, fronts.should, excuse ? "may have" : "has", count);
    if (excuse) cause->severity = SHAPEPROOF_SEVERITY_WARNING;
    cause->hint = excuse ? excuse : elsewhere_hint(judged, fronts);
}

/* ---- made for another model ---- */

/* A dimension of the model, and what the adapter has in its place. */
struct measure {
    char *words; /* "cross_attention_dim" */
    uint64_t here, there;
    bool twice; /* pairs differ in what they have there: it tells nothing */
};
enum { MEASURES = 8 }; /* dimensions that are compared; others are left out */

/* Whether a dimension reads well in a sentence: "hidden_size" or "4*hidden_size", but no number and no long formula. */
static bool is_plain(const char *words)
{
    enum { LONGEST = 40 };
    return !sp_is_digit(*words) && strlen(words) <= LONGEST && !strpbrk(words, "?<>([");
}

/* What a dimension of a weight is called: "hidden_size", or "3*hidden_size" if that is short enough. Of a longer
 * formula the one key in it that has its value; "" when none or several have it. Free with free. */
static char *measure_words(const struct sp_judged *judged, size_t weight, uint32_t dimension)
{
    struct shapeproof_prediction *prediction = judged->check->prediction;
    const uint64_t here = shapeproof_prediction_tensor(prediction, weight)->shape[dimension];
    char *words = shapeproof_prediction_dimension(prediction, weight, dimension);
    if (is_plain(words) && sp_prediction_dimension_keys(prediction, weight, dimension).count) return words;
    sp_free(words);
    const struct sp_keys keys = sp_prediction_depends_on(prediction, weight, dimension);
    const char *equal = "";
    size_t count = 0;
    for (size_t i = 0; i < keys.count; i++) {
        const struct shapeproof_hyperparameter *key = shapeproof_prediction_hyperparameter(prediction, keys.list[i]);
        if (key->value.type != SHAPEPROOF_VALUE_INT || key->value.integer < 0 || (uint64_t)key->value.integer != here)
            continue;
        equal = key->name;
        count++;
    }
    struct sp_text text = {0};
    sp_text_puts(&text, count == 1 ? equal : "");
    return text.data;
}

/* Notes that a dimension of a weight is `there` in the adapter's base, if that differs from the prediction. */
static void note_measure(const struct sp_judged *judged, struct measure measures[MEASURES], size_t weight,
                         uint32_t dimension, uint64_t there)
{
    const struct shapeproof_prediction *prediction = judged->check->prediction;
    const uint64_t here = shapeproof_prediction_tensor(prediction, weight)->shape[dimension];
    char *words = measure_words(judged, weight, dimension);
    size_t i = 0;
    while (i < MEASURES && measures[i].words && strcmp(measures[i].words, words) != 0) i++;
    if (i < MEASURES && !measures[i].words && here != there && there && *words) {
        measures[i] = (struct measure){words, here, there, false};
        return;
    }
    if (i < MEASURES && measures[i].words && measures[i].there != there) measures[i].twice = true;
    sp_free(words);
}

/* "cross_attention_dim is 24 there and 64 here": there is the base of the adapter, as the sizes of its pairs show it,
 * here the prediction. Of up to two dimensions that every pair agrees about; "" of none. The input of a convolution is
 * that of the pair divided by the size of the kernel; rows of a matrix that was cut into several are not compared. */
static const char *differing_measures(const struct sp_judged *judged)
{
    struct measure measures[MEASURES] = {{NULL, 0, 0, false}};
    struct sp_text text = {0};
    for (size_t i = 0; i < judged->adapter.count; i++) {
        const struct sp_adapter_found *base = &judged->bases[i];
        struct sp_product product;
        if (judged->fits[i] != SP_UNFIT || base->count != 1) continue;
        if (!sp_pair_product(&judged->adapter, &judged->adapter.pairs[i], &product)) continue;
        const struct shapeproof_predicted *weight =
            shapeproof_prediction_tensor(judged->check->prediction, base->weights[0]);
        if (weight->rank < 2 || !weight->shape[0] || !weight->shape[1] ||
            is_transposed(judged, &judged->adapter.pairs[i]))
            continue;
        const uint64_t kernel =
            weight->parameters / weight->shape[0] / weight->shape[1]; /* of (out, in, height, width) */
        if (base->cuts <= 1) note_measure(judged, measures, base->weights[0], 0, product.out);
        if (kernel && product.in % kernel == 0)
            note_measure(judged, measures, base->weights[0], 1, product.in / kernel);
    }
    size_t said = 0;
    for (size_t i = 0; i < MEASURES && measures[i].words; i++) {
        if (!measures[i].twice && said < 2)
            sp_text_printf(&text, "%s%s is %" PRIu64 " in the adapter and %" PRIu64 " in the model", said++ ? ", " : "",
                           measures[i].words, measures[i].there, measures[i].here);
        sp_free(measures[i].words);
    }
    return sp_text_keep(&text, &judged->check->arena);
}

/* The adapter was trained with another model: the sizes that differ, and the number of pairs for modules that this
 * model lacks, and of those that do not fit.
 *
 *     "hidden_size is 4096 there and 2048 here; 32 pairs do not fit: model.layers.{0-15}.self_attn.q_proj.weight"
 *     "2 pairs are for modules that are not here, 30 have another size: ..., such as A (8, 64) and B (64, 8) for ..."
 */
static void say_another(const struct sp_judged *judged, struct shapeproof_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    const size_t unfit = judged->counts[SP_UNFIT], astray = judged->counts[SP_FIT_NO_BASE];
    const char *measures = differing_measures(judged);
    struct sp_text text = {0};
    size_t count;
    if (*measures) sp_text_printf(&text, "%s; ", measures);
    if (astray)
        sp_text_printf(&text, "%s for modules that the model does not have%s",
                       sp_arena_printf(arena, astray == 1 ? "%s is" : "%s are", sp_count_of(arena, astray, "pair")),
                       unfit ? ", " : "");
    if (unfit && astray) sp_text_printf(&text, "%zu %s another size", unfit, unfit == 1 ? "has" : "have");
    else if (unfit)
        sp_text_printf(&text, "%s %s not fit", sp_count_of(arena, unfit, "pair"), unfit == 1 ? "does" : "do");
    sp_text_printf(&text, ": %s", modules(judged, astray ? SP_FIT_NO_BASE : SP_UNFIT, &count));
    if (unfit && !*measures) sp_text_printf(&text, ", such as %s", first_unfit(judged));
    cause->message = sp_arena_printf(arena, "the adapter was made for another model: %s", sp_text_keep(&text, arena));
    cause->hint = judged->base.peft ? "load it onto its own base, base_model_name_or_path in adapter_config.json"
                                    : "give --config FILE of the model that it was trained with";
}

/* "not for this model, but for others of a pipeline: 2 modules of a text encoder". */
static void say_foreign(const struct sp_judged *judged, struct shapeproof_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    const struct sp_adapter *adapter = &judged->adapter;
    const char **names = sp_arena_array(arena, adapter->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < adapter->count; i++)
        if (judged->fits[i] == SP_FIT_FOREIGN) names[count++] = adapter->pairs[i].module;
    sp_adapter_say_foreign(judged->check, cause, names, count, count == adapter->count);
}

/* The message, and the hint, for all pairs of the adapter with that fit. */
static void describe_adapter(const struct sp_judged *judged, enum sp_fit fit, struct shapeproof_cause *cause)
{
    struct sp_arena *arena = &judged->check->arena;
    size_t count;
    const char *names = modules(judged, fit, &count);
    const char *pairs = sp_count_of(arena, judged->counts[fit], "pair");
    const bool one = judged->counts[fit] == 1;
    switch (fit) {
    case SP_FITS:
        say_fitting(judged, names, count, cause);
        break;
    case SP_FIT_FOREIGN:
        say_foreign(judged, cause);
        break;
    case SP_FIT_ELSEWHERE:
        say_elsewhere(judged, cause);
        break;
    case SP_UNFIT:
        cause->message = sp_arena_printf(arena, "%s of the adapter %s not fit the model: %s, such as %s", pairs,
                                         one ? "does" : "do", names, first_unfit(judged));
        break;
    case SP_FIT_NO_BASE:
        cause->message =
            sp_arena_printf(arena, "the adapter is for modules that the model does not have: %s (%s)", names, pairs);
        break;
    case SP_FIT_UNTOLD:
        cause->message = sp_arena_printf(
            arena,
            "%s of the adapter %s for several weights at once, and their shapes do not determine whether it "
            "fits: %s",
            pairs, one ? "is" : "are", names);
        if (judged->adapter.pairs[0].ending->taken == SP_TAKEN_ANYWHERE)
            cause->hint = "load it with the program that wrote it";
        break;
    case SP_FIT_LONELY:
        cause->message =
            sp_arena_printf(arena, "the adapter has only one of the two matrices for %s (%s)", names, pairs);
        break;
    case SP_FIT_OTHER_RANK:
        cause->message = sp_arena_printf(arena,
                                         "adapter_config.json says r = %" PRIu64 ", but %s of the adapter %s another "
                                         "rank: %s",
                                         first_promised(judged), pairs, one ? "has" : "have", names);
        break;
    case SP_FIT_COUNT:
        break;
    }
}

/* ---- causes ---- */

/* Explains the finding that a tensor of the adapter is unexpected, if it is one; a fitting tensor becomes a note. */
static void explain_tensor(const struct sp_judged *judged, size_t tensor, const struct shapeproof_cause *cause,
                           bool fits)
{
    if (tensor == SHAPEPROOF_NONE || judged->base.finding_of[tensor] == SHAPEPROOF_NONE) return;
    sp_attribute_finding(judged->check, judged->base.finding_of[tensor], cause);
    if (fits) sp_adapter_tensor_fits(&judged->base, tensor);
}

/* Explains the tensors of the pairs with that fit. A pair that fits, may fit or is for another model is no error. */
static void explain_tensors(const struct sp_judged *judged, enum sp_fit fit, const struct shapeproof_cause *cause)
{
    const bool fits = fit == SP_FITS || fit == SP_FIT_UNTOLD || fit == SP_FIT_FOREIGN;
    for (size_t i = 0; i < judged->adapter.count; i++) {
        const struct sp_pair *pair = &judged->adapter.pairs[i];
        const size_t tensors[] = {pair->a, pair->b, pair->mid, pair->alpha};
        for (size_t k = 0; judged->fits[i] == fit && k < sizeof tensors / sizeof *tensors; k++)
            explain_tensor(judged, tensors[k], cause, fits);
    }
}

/* One cause of that kind for the pairs with that fit. */
static void explain_pairs(struct sp_judged *judged, enum sp_fit fit, enum sp_cause_kind kind)
{
    if (!judged->counts[fit]) return;
    struct shapeproof_cause *cause =
        sp_blame(judged->check, fit == SP_FITS && judged->base.whole ? SP_CAUSE_ADAPTER_UNMERGED : kind);
    explain_tensors(judged, fit, cause);
    describe_adapter(judged, fit, cause);
    if (fit == SP_FITS && sp_format_has(judged->check->inventory, SP_BY_LLAMA_CPP))
        cause->hint = "load it with its base: llama.cpp takes it by --lora";
}

/* One cause for all pairs of the model: that some fit it is chance. */
static void explain_another(const struct sp_judged *judged)
{
    struct shapeproof_cause *cause =
        sp_blame(judged->check, judged->counts[SP_UNFIT] ? SP_CAUSE_ADAPTER_SHAPE : SP_CAUSE_ADAPTER_MODULE);
    for (enum sp_fit fit = SP_FITS; fit < SP_FIT_COUNT; fit++)
        if (fit != SP_FIT_FOREIGN) explain_tensors(judged, fit, cause);
    say_another(judged, cause);
}

/* One cause for each way in which pairs fit, or do not. If the adapter was made for another model, one cause has all
 * pairs but those for other models of the pipeline. In a file without the weights of the model, the first cause also
 * explains that these are missing. */
void sp_explain_adapter(struct shapeproof_check *check)
{
    static const enum sp_cause_kind kinds[SP_FIT_COUNT] = {[SP_FITS] = SP_CAUSE_ADAPTER,
                                                           [SP_FIT_ELSEWHERE] = SP_CAUSE_ADAPTER_PREFIX,
                                                           [SP_UNFIT] = SP_CAUSE_ADAPTER_SHAPE,
                                                           [SP_FIT_NO_BASE] = SP_CAUSE_ADAPTER_MODULE,
                                                           [SP_FIT_UNTOLD] = SP_CAUSE_ADAPTER,
                                                           [SP_FIT_LONELY] = SP_CAUSE_ADAPTER_PAIR,
                                                           [SP_FIT_OTHER_RANK] = SP_CAUSE_ADAPTER_RANK,
                                                           [SP_FIT_FOREIGN] = SP_CAUSE_ADAPTER_COMPONENT};
    static const enum shapeproof_finding_kind unexpected = SHAPEPROOF_FINDING_UNEXPECTED;
    struct sp_judged judged = {.check = check};
    if (!sp_count_wanted(check, sp_is_open_kind, &unexpected)) return;
    if (sp_adapter_read(&judged.adapter, &check->arena, check->inventory)) {
        judge_pairs(&judged);
        const size_t first = check->cause_count; /* there will be one: the adapter has pairs */
        if (judged.another) explain_another(&judged);
        for (enum sp_fit fit = SP_FITS; fit < SP_FIT_COUNT; fit++)
            if (!judged.another || fit == SP_FIT_FOREIGN) explain_pairs(&judged, fit, kinds[fit]);
        if (!judged.base.whole) sp_adapter_take_absent(check, &check->causes[first]);
        sp_adapter_hold_to_promises(&judged);
        release_adapter(&judged);
    }
    sp_adapter_free(&judged.adapter);
}
