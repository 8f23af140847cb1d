/* SPDX-License-Identifier: MIT
 * Whether the metadata of a GGUF file agree with its tensors. The table is predicted with the values of the metadata
 * alone; where that explains less than the inferred values do, each value of the metadata that is to blame is named. */
#include <inttypes.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/names.h"
#include "config/inside.h"
#include "infer/infer.h"
#include "lang/functions.h"

#define TOKENS "tokenizer.ggml.tokens"

/* What the metadata and the tensors have for one hyper-parameter. */
struct contrast {
    const char *name, *key;                /* "num_hidden_layers", "llama.block_count" */
    struct shapeproof_value stated, found; /* `stated`: what the table takes where the file does not have the key */
    bool is_there;                         /* the file has the key */
    bool is_wrong;                         /* its value alone, among the inferred ones, explains less */
};

struct contrasts {
    struct shapeproof_inference *inference;
    struct contrast *items;
    size_t count, wrong;
};

/* The value of a hyper-parameter in a prediction; absent when the table does not read it there. */
static struct shapeproof_value value_under(const struct shapeproof_prediction *prediction, const char *name)
{
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++)
        if (strcmp(shapeproof_prediction_hyperparameter(prediction, i)->name, name) == 0)
            return shapeproof_prediction_hyperparameter(prediction, i)->value;
    return sp_value_absent(name);
}

/* A key of the file with which the metadata explain the tensors, if it has the value that was found for a
 * hyper-parameter without a key: feed_forward_length, where nothing else says how wide a shared expert is. */
static bool find_source(struct shapeproof_inference *inference, struct shapeproof_value found, struct contrast *source)
{
    const struct shapeproof_value root = sp_config_hyper(inference->stated)->root;
    for (size_t i = 0; i < root.count && found.type == SHAPEPROOF_VALUE_INT; i++) {
        *source = (struct contrast){root.members[i].key, .stated = root.members[i].value, .found = found};
        source->is_wrong = true;
        source->key = sp_config_gguf_key(&inference->arena, inference->inventory, source->name, &source->is_there);
        if (source->is_there && source->stated.type == SHAPEPROOF_VALUE_INT &&
            sp_attempt_allows(inference->best, inference->stated, source->name, found))
            return true;
    }
    return false;
}

/* Compares the values of one hyper-parameter; false if they do not differ. */
static bool contrast_value(struct shapeproof_inference *inference, const struct shapeproof_prediction *stated,
                           const struct shapeproof_hyperparameter *hyper, struct contrast *contrast)
{
    struct contrast source;
    *contrast = (struct contrast){.name = hyper->name, .found = hyper->value};
    contrast->key = sp_config_gguf_key(&inference->arena, inference->inventory, hyper->name, &contrast->is_there);
    contrast->stated = contrast->is_there ? sp_value_member(sp_config_hyper(inference->stated)->root, hyper->name)
                                          : value_under(stated, hyper->name);
    if (sp_is_choice_of_table(hyper->name) || sp_values_equal(contrast->stated, contrast->found)) return false;
    if (!contrast->is_there && find_source(inference, contrast->found, &source)) {
        *contrast = source;
        return true;
    }
    if (!contrast->key || !sp_value_is_set(contrast->stated)) return false;
    contrast->is_wrong = !sp_attempt_allows(inference->best, inference->best->config, contrast->name, contrast->stated);
    return true;
}

/* Collects the hyper-parameters for which the metadata and the tensors have different values, each once; either those
 * whose keys the file has, or the others. */
static void contrast_values(struct contrasts *contrasts, const struct shapeproof_prediction *stated, bool are_there)
{
    const struct shapeproof_prediction *found = contrasts->inference->best->prediction;
    const size_t count = shapeproof_prediction_hyperparameter_count(found);
    for (size_t i = 0; i < count; i++) {
        struct contrast *contrast = &contrasts->items[contrasts->count];
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(found, i);
        bool is_there;
        sp_config_gguf_key(&contrasts->inference->arena, contrasts->inference->inventory, hyper->name, &is_there);
        bool is_new = is_there == are_there && contrast_value(contrasts->inference, stated, hyper, contrast);
        for (size_t k = 0; k < contrasts->count && is_new; k++)
            is_new = strcmp(contrasts->items[k].name, contrast->name) != 0;
        if (!is_new) continue;
        contrasts->wrong += contrast->is_there && contrast->is_wrong;
        contrasts->count++;
    }
}

/* value * by / from, if that is a whole number. */
static bool scale_value(struct shapeproof_value value, int64_t by, int64_t from, struct shapeproof_value *scaled)
{
    uint64_t product;
    if (value.type != SHAPEPROOF_VALUE_INT || value.integer < 1 || by < 1 || from < 1) return false;
    if (!sp_mul_u64((uint64_t)value.integer, (uint64_t)by, &product) || product % (uint64_t)from) return false;
    if (product / (uint64_t)from > INT64_MAX) return false;
    *scaled = sp_value_int((int64_t)(product / (uint64_t)from));
    return true;
}

/* Another key that may be to blame: where only the quotient of two values shows, as with heads and heads of keys, the
 * other one may be changed by the inverse factor. With 8 heads, of which 4 fit, and 2 heads of keys: or 4 of these. */
static const char *or_another(struct contrasts *contrasts, const struct contrast *wrong)
{
    struct shapeproof_inference *inference = contrasts->inference;
    const struct shapeproof_value root = sp_config_hyper(inference->stated)->root;
    if (contrasts->wrong != 1 || wrong->stated.type != SHAPEPROOF_VALUE_INT ||
        wrong->found.type != SHAPEPROOF_VALUE_INT)
        return "";
    for (size_t i = 0; i < root.count; i++) {
        bool is_there;
        struct shapeproof_value other;
        const struct shapeproof_value value = root.members[i].value;
        const char *name = root.members[i].key,
                   *key = sp_config_gguf_key(&inference->arena, inference->inventory, name, &is_there);
        if (is_there && strcmp(name, wrong->name) != 0 &&
            scale_value(value, wrong->stated.integer, wrong->found.integer, &other) &&
            sp_attempt_allows(inference->best, inference->stated, name, other))
            return sp_arena_printf(&inference->arena, "; or %s should be %" PRId64 " instead of %" PRId64, key,
                                   other.integer, value.integer);
    }
    return "";
}

/* "tokenizer.ggml.tokens has 30 entries in model.gguf, but the tensors have 32 rows" */
static const char *tokens_said(struct sp_arena *arena, const char *file, const char *tokens, const char *rows)
{
    return sp_arena_printf(arena, "tokenizer.ggml.tokens has %s entries in %s, but the tensors have %s rows", tokens,
                           file, rows);
}

/* "llama.block_count is 3 in model.gguf, but 2 fits the tensors" */
static const char *contrast_said(struct contrasts *contrasts, const struct contrast *contrast)
{
    struct shapeproof_inference *inference = contrasts->inference;
    struct sp_arena *arena = &inference->arena;
    const char *file = sp_base_name(shapeproof_inventory_path(inference->inventory));
    const char *stated = sp_value_words(arena, contrast->stated), *found = sp_value_words(arena, contrast->found);
    if (!contrast->is_there)
        return sp_arena_printf(arena, "%s is absent from %s, which stands for %s, but %s fits the tensors",
                               contrast->key, file, stated, found);
    if (strcmp(contrast->key, TOKENS) == 0) return tokens_said(arena, file, stated, found);
    return sp_arena_printf(arena, "%s is %s in %s, but %s fits the tensors%s%s", contrast->key, stated, file, found,
                           sp_attempt_explains_all(inference->best) ? "" : " better", or_another(contrasts, contrast));
}

/* Whether it is named: a wrong value that the file has; without any, a wrong one that an absent key stands for; and if
 * no value is wrong by itself, each one that is not as inferred, unless the tensors may be to blame. */
static bool is_named(const struct contrasts *contrasts, const struct contrast *contrast, bool any_wrong)
{
    if (contrasts->wrong) return contrast->is_there && contrast->is_wrong;
    if (any_wrong) return contrast->is_wrong;
    return contrast->is_there && sp_attempt_explains_all(contrasts->inference->best);
}

static void name_contradictions(struct contrasts *contrasts)
{
    bool any_wrong = false;
    size_t named = 0;
    for (size_t i = 0; i < contrasts->count; i++) any_wrong = any_wrong || contrasts->items[i].is_wrong;
    for (size_t i = 0; i < contrasts->count; i++) named += is_named(contrasts, &contrasts->items[i], any_wrong);
    const char *brief = named == 1 ? "but 1 value of the metadata contradicts them"
                                   : sp_arena_printf(&contrasts->inference->arena,
                                                     "but %zu values of the metadata contradict them", named);
    for (size_t i = 0; i < contrasts->count; i++) {
        const struct contrast *contrast = &contrasts->items[i];
        if (!is_named(contrasts, contrast, any_wrong)) continue;
        sp_note_metadata(contrasts->inference, contrast_said(contrasts, contrast), brief);
        brief = NULL;
    }
    if (!named && sp_attempt_explains_all(contrasts->inference->best))
        sp_note_metadata(contrasts->inference, "with the values of the metadata the table predicts other tensors",
                         "but the metadata contradict them");
}

/* Another table than that of the architecture fits the tensors better. */
static void name_architecture(struct shapeproof_inference *inference)
{
    struct sp_arena *arena = &inference->arena;
    const char *architecture = sp_inventory_metadata_value(inference->inventory, "general.architecture");
    const char *file = sp_base_name(shapeproof_inventory_path(inference->inventory));
    sp_note_metadata(inference,
                     sp_arena_printf(arena, "general.architecture is %s in %s, but %s fits the tensors better than %s",
                                     sp_quote(architecture).text, file, inference->best->table->name,
                                     inference->stated_table->name),
                     "but the architecture in the metadata contradicts them");
}

/* The tokenizer has another number of tokens than the embedding has rows, where another key says how many these are. */
static void name_tokens(struct shapeproof_inference *inference)
{
    struct sp_arena *arena = &inference->arena;
    const uint64_t tokens = sp_config_gguf_tokens(inference->inventory).tokens;
    const struct shapeproof_value rows = value_under(inference->best->prediction, "vocab_size");
    bool is_there;
    const char *key = sp_config_gguf_key(arena, inference->inventory, "vocab_size", &is_there);
    if (!tokens || !is_there || strcmp(key, TOKENS) == 0) return;
    if (rows.type != SHAPEPROOF_VALUE_INT || (uint64_t)rows.integer == tokens) return;
    sp_note_metadata(inference,
                     tokens_said(arena, sp_base_name(shapeproof_inventory_path(inference->inventory)),
                                 sp_arena_printf(arena, "%" PRIu64, tokens), sp_value_words(arena, rows)),
                     "but the tokenizer contradicts them");
}

/* Whether the table can be predicted by the metadata and this value. */
static bool predicts_with(const struct shapeproof_inference *inference, const struct shapeproof_hyperparameter *hyper)
{
    struct shapeproof_config *config = sp_config_variant(inference->stated);
    sp_config_set_value(config, hyper->name, hyper->value, "metadata");
    struct shapeproof_prediction *prediction = sp_attempt_predict_within(inference->best, config);
    const bool predicts = prediction != NULL;
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return predicts;
}

/* The table cannot be predicted by the metadata alone: names the key that they lack, or, if they lack several, says
 * that they do. */
static void name_absent_key(struct shapeproof_inference *inference)
{
    const struct shapeproof_prediction *found = inference->best->prediction;
    struct sp_arena *arena = &inference->arena;
    const char *file = sp_base_name(shapeproof_inventory_path(inference->inventory));
    const char *why = "the table needs several keys that the metadata do not have";
    bool is_found = false;
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(found) && !is_found; i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(found, i);
        bool is_there;
        const char *key = sp_config_gguf_key(arena, inference->inventory, hyper->name, &is_there);
        is_found = key && !is_there && predicts_with(inference, hyper);
        if (is_found)
            why = sp_arena_printf(arena, "%s is absent from %s, but the table needs it; %s fits the tensors", key, file,
                                  sp_value_words(arena, hyper->value));
    }
    sp_note_metadata(inference, why, "but the metadata lack what the table needs");
}

static void name_values(struct shapeproof_inference *inference)
{
    const struct sp_attempt *best = inference->best;
    struct contrasts contrasts = {.inference = inference};
    struct shapeproof_prediction *stated = sp_attempt_predict_within(best, inference->stated);
    name_tokens(inference);
    if (!stated && sp_attempt_explains_all(best)) name_absent_key(inference);
    if (stated && !sp_prediction_does_as_well(stated, best->prediction, best)) {
        contrasts.items = sp_arena_array(
            &inference->arena, shapeproof_prediction_hyperparameter_count(best->prediction), sizeof *contrasts.items);
        contrast_values(&contrasts, stated, true);
        if (!contrasts.wrong) contrast_values(&contrasts, stated, false);
        name_contradictions(&contrasts);
    }
    shapeproof_prediction_free(stated);
}

void sp_compare_metadata(struct shapeproof_inference *inference)
{
    struct shapeproof_error error = {0};
    if (inference->lacks_shards) return;
    if (!sp_config_gguf_agrees(inference->inventory, &error))
        sp_note_metadata(inference, sp_arena_string(&inference->arena, error.message),
                         "but the metadata contradict themselves");
    else if (!inference->stated) return;
    else if (inference->stated_table != inference->best->table) name_architecture(inference);
    else name_values(inference);
}
