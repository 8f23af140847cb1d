/* SPDX-License-Identifier: MIT
 * Metadata of a GGUF file that contradict each other, whatever the tensors are: llama.cpp asserts these rules when it
 * loads the file (llama-model.cpp, load_hparams; llama-vocab.cpp for tokens). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "config/inside.h"
#include "explain/gather.h"
#include "model/inventory.h"

struct metadata {
    struct shapeproof_check *check;
    const char *architecture;
};

static const char *key_of(const struct metadata *metadata, const char *key)
{
    return sp_arena_printf(&metadata->check->arena, "%s.%s", metadata->architecture, key);
}

static struct shapeproof_value value_of(const struct metadata *metadata, const char *key)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value value;
    const char *text = sp_inventory_metadata_value(metadata->check->inventory, key_of(metadata, key));
    if (!text || !sp_value_parse_json(&metadata->check->arena, text, strlen(text), &value, &error))
        return sp_value_absent(key);
    return value;
}

/* The number of the layer in a value: that of all layers, or one of a list; `other` without. */
static int64_t number_in(const struct shapeproof_value *value, size_t layer, int64_t other)
{
    if (value->type == SHAPEPROOF_VALUE_INT) return value->integer;
    if (value->type != SHAPEPROOF_VALUE_LIST || layer >= value->count) return other;
    return value->items[layer].type == SHAPEPROOF_VALUE_INT ? value->items[layer].integer : other;
}

/* The number of a key, or the largest of its list; `other` without. */
static int64_t number_of(const struct metadata *metadata, const char *key, int64_t other)
{
    const struct shapeproof_value value = value_of(metadata, key);
    int64_t largest = INT64_MIN;
    if (value.type != SHAPEPROOF_VALUE_LIST || !value.count) return number_in(&value, 0, other);
    for (size_t i = 0; i < value.count; i++) {
        if (value.items[i].type != SHAPEPROOF_VALUE_INT) return other;
        if (value.items[i].integer > largest) largest = value.items[i].integer;
    }
    return largest;
}

/* A cause with that message, unless an earlier cause is about the key. The message is in the arena. */
static struct shapeproof_cause *blame_key(const struct metadata *metadata, const char *key, const char *message)
{
    struct shapeproof_check *check = metadata->check;
    for (size_t i = 0; i < check->cause_count; i++)
        if (check->causes[i].message && strstr(check->causes[i].message, key_of(metadata, key))) return NULL;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_METADATA_LIMITS);
    cause->message = message;
    cause->hint = "convert the model again, or correct the value in the file (gguf_set_metadata of llama.cpp)";
    return cause;
}

static void compare_experts(const struct metadata *metadata)
{
    struct sp_arena *arena = &metadata->check->arena;
    const int64_t experts = number_of(metadata, "expert_count", 0);
    const int64_t used = number_of(metadata, "expert_used_count", 0);
    const int64_t groups = number_of(metadata, "expert_group_count", 0);
    const int64_t used_groups = number_of(metadata, "expert_group_used_count", 0);
    const char *count = key_of(metadata, "expert_count"), *group_count = key_of(metadata, "expert_group_count");
    if (used > experts)
        blame_key(metadata, "expert_used_count",
                  sp_arena_printf(arena, "%s is %" PRId64 ", %s is %" PRId64 ": llama.cpp refuses the file",
                                  key_of(metadata, "expert_used_count"), used, count, experts));
    if (groups > 1 && (groups >= experts || experts % groups))
        blame_key(metadata, "expert_group_count",
                  sp_arena_printf(arena, "%s is %" PRId64 ", which %s %" PRId64 " is no multiple of", group_count,
                                  groups, count, experts));
    if (groups > 1 && used_groups >= groups)
        blame_key(metadata, "expert_group_used_count",
                  sp_arena_printf(arena, "%s is %" PRId64 ", not less than %s, which is %" PRId64,
                                  key_of(metadata, "expert_group_used_count"), used_groups, group_count, groups));
}

/* Lists that have an entry for each layer; those for multi-token prediction, which are last, may lack. */
static void compare_lists(const struct metadata *metadata)
{
    static const char *const lists[] = {
        "feed_forward_length",        "expert_feed_forward_length", "expert_used_count",
        "attention.head_count",       "attention.head_count_kv",    "attention.sliding_window_pattern",
        "attention.recurrent_layers", "attention.rope_pattern",     "attention.indexer.types",
        "attention.compress_ratios",  "swiglu_clamp_exp",           "swiglu_clamp_shexp"};
    const int64_t layers = number_of(metadata, "block_count", -1);
    const int64_t further = number_of(metadata, "nextn_predict_layers", 0);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && layers >= 0; i++) {
        const struct shapeproof_value list = value_of(metadata, lists[i]);
        const int64_t count = (int64_t)list.count;
        if (list.type != SHAPEPROOF_VALUE_LIST || count == layers || layers - count == further) continue;
        blame_key(metadata, lists[i],
                  sp_arena_printf(&metadata->check->arena, "%s has %" PRId64 " entries, %s is %" PRId64,
                                  key_of(metadata, lists[i]), count, key_of(metadata, "block_count"), layers));
    }
}

/* Whether the layer has one of these tensors. */
static bool layer_has(const struct metadata *metadata, size_t layer, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = sp_arena_printf(&metadata->check->arena, "blk.%zu.%s.weight", layer, names[i]);
        if (shapeproof_inventory_find(metadata->check->inventory, name) != SHAPEPROOF_NONE) return true;
    }
    return false;
}

/* In these architectures a layer without heads of keys has a state in place of attention, and other tensors. */
static void compare_attention(const struct metadata *metadata)
{
    static const char *const hybrids[] = {"jamba",      "granitehybrid",  "lfm2",  "lfm2moe",
                                          "nemotron_h", "nemotron_h_moe", "plamo2"};
    static const char *const attention[] = {"attn_k", "attn_qkv"};
    static const char *const state[] = {"ssm_in", "ssm_conv1d", "shortconv.conv"};
    const struct shapeproof_value keys = value_of(metadata, "attention.head_count_kv");
    const size_t layers = SP_IS_AMONG(metadata->architecture, hybrids) ? keys.count : 0;
    for (size_t i = 0; i < layers; i++) {
        const int64_t heads = number_in(&keys, i, -1);
        const bool attends = layer_has(metadata, i, attention, sizeof attention / sizeof *attention);
        const bool has_state = layer_has(metadata, i, state, sizeof state / sizeof *state);
        if (heads < 0 || attends == has_state || attends == (heads > 0)) continue;
        blame_key(metadata, "attention.head_count_kv",
                  sp_arena_printf(&metadata->check->arena,
                                  "%s[%zu] is %" PRId64 ", but layer %zu has %sattention: "
                                  "llama.cpp refuses the file",
                                  key_of(metadata, "attention.head_count_kv"), i, heads, i, attends ? "" : "no "));
        return;
    }
}

/* Each head of keys is shared by as many heads of queries. */
static void compare_heads(const struct metadata *metadata)
{
    const struct shapeproof_value queries = value_of(metadata, "attention.head_count");
    const struct shapeproof_value keys = value_of(metadata, "attention.head_count_kv");
    const int64_t layers = number_of(metadata, "block_count", 0);
    /* Without lists all layers are as the first, however many there are. */
    const size_t longest = queries.count > keys.count ? queries.count : keys.count, count = longest ? longest : 1;
    for (size_t i = 0; i < count && (int64_t)i < layers; i++) {
        const int64_t heads = number_in(&queries, i, 0);
        const int64_t shared = number_in(&keys, i, heads);
        if (shared <= 0 || heads % shared == 0) continue;
        blame_key(metadata, "attention.head_count",
                  sp_arena_printf(&metadata->check->arena, "%s is %" PRId64 ", no multiple of %s, which is %" PRId64,
                                  key_of(metadata, "attention.head_count"), heads,
                                  key_of(metadata, "attention.head_count_kv"), shared));
        return;
    }
}

/* The rotary embedding turns a part of each head; all of it in some architectures. */
static void compare_rotary(const struct metadata *metadata)
{
    static const char *const whole[] = {"llama", "deci", "falcon", "llama-embed"};
    const int64_t heads = number_of(metadata, "attention.head_count", 0);
    const int64_t width = number_of(metadata, "embedding_length", 0);
    const int64_t head = number_of(metadata, "attention.key_length", heads > 0 ? width / heads : 0);
    const int64_t rotary = number_of(metadata, "rope.dimension_count", head);
    const bool is_whole = SP_IS_AMONG(metadata->architecture, whole);
    if (head <= 0 || heads <= 0 || rotary == head || (rotary < head && !is_whole)) return;
    blame_key(metadata, "rope.dimension_count",
              sp_arena_printf(&metadata->check->arena, "%s is %" PRId64 ", but a head has %" PRId64 " dimensions%s",
                              key_of(metadata, "rope.dimension_count"), rotary, head,
                              is_whole ? ": llama.cpp refuses the file" : ""));
}

/* llama.cpp takes a default where the number of a special token, such as that of the end, is none of a token. */
static void compare_tokens(const struct metadata *metadata)
{
    static const char front[] = "tokenizer.ggml.", end[] = "_token_id";
    const uint64_t none = UINT32_MAX; /* -1, which converters write where there is no such token */
    struct shapeproof_check *check = metadata->check;
    const uint64_t tokens = sp_config_gguf_tokens(check->inventory).tokens;
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(check->inventory) && tokens; i++) {
        const struct shapeproof_metadata *pair = shapeproof_inventory_metadata(check->inventory, i);
        if (strncmp(pair->key, front, sizeof front - 1) != 0 || !sp_ends_with(pair->key, end)) continue;
        if (!sp_is_digit(*pair->value)) continue;
        const uint64_t token = strtoull(pair->value, NULL, 10);
        if (token < tokens || token == none) continue;
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_METADATA_LIMITS);
        cause->severity = SHAPEPROOF_SEVERITY_WARNING;
        cause->message = sp_arena_printf(&check->arena, "%s is %s, but there are %" PRIu64 " tokens", pair->key,
                                         pair->value, tokens);
        cause->hint = "correct the value in the file (gguf_set_metadata of llama.cpp), or convert the model again";
    }
}

void sp_explain_metadata_limits(struct shapeproof_check *check)
{
    const struct metadata metadata = {check, sp_inventory_metadata_value(check->inventory, "general.architecture")};
    if (!sp_config_gguf_names_model(check->inventory)) return;
    compare_experts(&metadata);
    compare_lists(&metadata);
    compare_attention(&metadata);
    compare_heads(&metadata);
    compare_rotary(&metadata);
    compare_tokens(&metadata);
}
