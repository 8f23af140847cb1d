/* SPDX-License-Identifier: MIT
 * GGUF files: their metadata as a configuration, and configurations of the models that they were made of as such of
 * files. gguf.def says which key is which. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "config/choose.h"
#include "config/inside.h"
#include "lang/tables.h"
#include "model/format.h"
#include "shapeproof/inventory.h"

/* The texts are in place: pointers would be relocated at every start. An architecture "" is any. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wc++-compat" /* a text that leaves no room for its NUL */
static const struct {
    char architecture[24], key[48], becomes[40];
    bool own;
} keys[] = {
#define KEY(architecture, key, becomes) {architecture, key, becomes, false},
#define OWN(key, becomes) {"", key, becomes, true},
#include "config/gguf.def"
};

static const struct {
    char architecture[24], name[32], becomes[32];
    bool lacks, own;
} signs[] = {
#define SHOWS(architecture, end, becomes) {architecture, end, becomes, false, false},
#define OWN_SHOWS(architecture, end, becomes) {architecture, end, becomes, false, true},
#define LACKS(architecture, name, becomes) {architecture, name, becomes, true, false},
#include "config/gguf.def"
};
#pragma GCC diagnostic pop

static const struct {
    const char *architecture, *key, *becomes;
} absent[] = {
#define ABSENT(architecture, key, becomes) {architecture, key, becomes},
#include "config/gguf.def"
};

static const char *const nearer[] = {
#define NEARER(architecture) architecture,
#include "config/gguf.def"
};

static const char TOKENS[] = "tokenizer.ggml.tokens";

enum { KEY_COUNT = sizeof keys / sizeof *keys, SIGN_COUNT = sizeof signs / sizeof *signs };

/* In front of what the file, or the configuration of the original, calls its architecture. */
static const char layout[] = "gguf-";

struct adoption {
    struct shapeproof_config *config;
    const struct shapeproof_tables *tables;
    const struct shapeproof_inventory *file;
    const char *architecture; /* "llama" */
    struct shapeproof_member *members;
    size_t count;
};

static void add_gguf_member(struct adoption *adoption, const char *key, struct shapeproof_value value)
{
    for (size_t i = 0; i < adoption->count; i++)
        if (strcmp(adoption->members[i].key, key) == 0) return; /* the first row counts */
    adoption->members[adoption->count++] = (struct shapeproof_member){key, value};
}

/* How many entries a list of the metadata has: the reader keeps short ones, and says of a long one "32000 strings". 0
 * without the list. */
static uint64_t gguf_list_length(const struct shapeproof_inventory *file, const char *key)
{
    struct sp_arena arena = {0};
    struct shapeproof_error error = {0};
    struct shapeproof_value list = {0};
    const char *text = sp_inventory_metadata_value(file, key);
    if (!text) return 0;
    if (*text != '[') return strtoull(text, NULL, 10);
    if (!sp_value_parse_json(&arena, text, strlen(text), &list, &error)) list.count = 0;
    const uint64_t count = list.count;
    sp_arena_free(&arena);
    return count;
}

/* ---- keys ---- */

/* The key in the file: one of the architecture, or one with a beginning of its own. */
static const char *key_in_file(struct adoption *adoption, const char *key)
{
    if (strncmp(key, "tokenizer.", 10) == 0) return key;
    return sp_arena_printf(&adoption->config->arena, "%s.%s", adoption->architecture, key);
}

/* Which hyper-parameters are taken of the file. */
enum taken {
    OF_FILE_ALONE, /* those that no configuration of the model has: the rows that are `own` */
    ALL
};

/* Takes what the metadata of the file says. */
static void take_keys(struct adoption *adoption, enum taken taken)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_value value;
        if (taken == OF_FILE_ALONE && !keys[i].own) continue;
        if (*keys[i].architecture && strcmp(keys[i].architecture, adoption->architecture) != 0) continue;
        const char *text = sp_inventory_metadata_value(adoption->file, key_in_file(adoption, keys[i].key));
        if (text && sp_value_parse_json(&adoption->config->arena, text, strlen(text), &value, &error))
            add_gguf_member(adoption, keys[i].becomes, value);
    }
}

/* Most files do not say how many tokens there are: they list them. One without a tokenizer says it by the rows of its
 * embedding alone. */
static void take_vocabulary(struct adoption *adoption)
{
    uint64_t tokens = gguf_list_length(adoption->file, TOKENS);
    const size_t place = shapeproof_inventory_find(adoption->file, "token_embd.weight");
    const struct shapeproof_tensor *embedding =
        place == SHAPEPROOF_NONE ? NULL : shapeproof_inventory_tensor(adoption->file, place);
    if (!tokens && embedding && embedding->rank == 2) tokens = embedding->shape[0];
    if (tokens && tokens <= INT64_MAX) add_gguf_member(adoption, "vocab_size", sp_value_int((int64_t)tokens));
}

/* What is none where the file has no key for it. */
static void take_absent(struct adoption *adoption)
{
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (strcmp(absent[i].architecture, adoption->architecture) == 0 &&
            !sp_inventory_metadata_value(adoption->file, key_in_file(adoption, absent[i].key)))
            add_gguf_member(adoption, absent[i].becomes, sp_value_int(0));
}

/* ---- what no key says, and tensors show ---- */

static size_t count_endings(const struct shapeproof_inventory *file, const char *end, const char *instead)
{
    const size_t length = strlen(end);
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(file); i++) {
        const char *name = shapeproof_inventory_tensor(file, i)->name;
        const size_t own = strlen(name), other = length + strlen(instead);
        count += own >= other && strncmp(name + own - other, end, length) == 0 && sp_ends_with(name, instead);
    }
    return count;
}

/* Whether tensors end so; of biases, whether most weights of that module and of those beside it have one: a lone one is
 * a stray, and where one was lost the others are there. */
static bool has_ending(const struct shapeproof_inventory *file, const char *end)
{
    static const char *const beside[][3] = {{".attn_q", ".attn_k", ".attn_v"}, {".ffn_gate", ".ffn_up", ".ffn_down"}};
    size_t biases = count_endings(file, end, ""), weights = 0;
    if (!biases || !sp_ends_with(end, ".bias")) return biases;
    biases = 0;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        for (size_t k = 0; k < 3 && strncmp(end, beside[i][0], strlen(beside[i][0])) == 0; k++) {
            biases += count_endings(file, beside[i][k], ".bias");
            weights += count_endings(file, beside[i][k], ".weight");
        }
    return !weights || 2 * biases > weights;
}

/* Sets the keys whose value follows from whether a certain tensor is in the file. */
static void take_signs(struct adoption *adoption, enum taken taken)
{
    for (size_t i = 0; i < SIGN_COUNT; i++) {
        if (taken == OF_FILE_ALONE && !signs[i].own) continue;
        if (*signs[i].architecture && strcmp(signs[i].architecture, adoption->architecture) != 0) continue;
        if (signs[i].lacks) {
            const bool there = shapeproof_inventory_find(adoption->file, signs[i].name) != SHAPEPROOF_NONE;
            add_gguf_member(adoption, signs[i].becomes, sp_value_bool(!there));
        } else if (has_ending(adoption->file, signs[i].name))
            add_gguf_member(adoption, signs[i].becomes, sp_value_bool(true));
    }
}

/* ---- configurations ---- */

static const char *layout_type(struct adoption *adoption, struct shapeproof_value model_type)
{
    const char *type = model_type.type == SHAPEPROOF_VALUE_STRING ? model_type.string : "";
    return sp_arena_printf(&adoption->config->arena, "%s%s", layout, type);
}

static bool is_served(const struct shapeproof_tables *tables, const char *model_type)
{
    for (size_t i = 0; i < sp_tables_place_count(tables); i++) {
        const struct sp_entry entry = sp_tables_entry(tables, i);
        if (entry.is_table && sp_is_among(model_type, entry.model_types, entry.model_type_count)) return true;
    }
    return false;
}

/* The part of a configuration that a file of the language model is about: text_config where there is one, else all of
 * it. NULL in `type` when no table has the layout. */
static struct shapeproof_value language_model(struct adoption *adoption, struct shapeproof_value root,
                                              const char **type)
{
    const struct shapeproof_value inner = sp_value_member(root, "text_config");
    *type = layout_type(adoption, sp_value_string(adoption->architecture));
    if (SP_IS_AMONG(adoption->architecture, nearer)) return root;
    *type = layout_type(adoption, sp_value_member(inner, "model_type"));
    if (is_served(adoption->tables, *type)) return inner;
    *type = layout_type(adoption, sp_value_member(root, "model_type"));
    if (!is_served(adoption->tables, *type)) *type = NULL;
    return root;
}

/* What a configuration says of files that the converter reads, and not of those that it writes. */
static bool is_of_original(const char *key)
{
    static const char *const of_original[] = {"model_type", "architectures", "quantization_config", "torch_dtype",
                                              "dtype"};
    return sp_is_among(key, of_original, sizeof of_original / sizeof *of_original);
}

/* "gguf-qwen2", as reports and hints have it, is a model_type like any other; the class beside it is the original's. */
struct shapeproof_value sp_config_of_gguf(struct sp_arena *arena, struct shapeproof_value root)
{
    const struct shapeproof_value type = sp_value_member(root, "model_type");
    if (type.type != SHAPEPROOF_VALUE_STRING || strncmp(type.string, layout, sizeof layout - 1) != 0) return root;
    struct shapeproof_member *members = sp_arena_array(arena, root.count, sizeof *members);
    struct shapeproof_value own = {SHAPEPROOF_VALUE_OBJECT, .members = members};
    for (size_t i = 0; i < root.count; i++) {
        const char *key = root.members[i].key;
        if (strcmp(key, "model_type") == 0 || !is_of_original(key)) members[own.count++] = root.members[i];
    }
    return own;
}

static void adopt_root(struct adoption *adoption)
{
    const struct shapeproof_value root = {SHAPEPROOF_VALUE_OBJECT, .count = adoption->count,
                                          .members = adoption->members};
    sp_config_set_root(adoption->config, root);
}

static bool has_file(const struct shapeproof_config *config) { return *config->path != '\0'; }

/* What the file alone knows; that it is half of a model, for example. */
static void take_own(struct adoption *adoption)
{
    add_gguf_member(adoption, "gguf_architecture", sp_value_string(adoption->architecture));
    take_keys(adoption, OF_FILE_ALONE);
    take_signs(adoption, OF_FILE_ALONE);
}

/* What the whole of a model says goes before what its part for language says: it is the whole that was saved. */
static void prefer_outer(struct adoption *adoption, const char *key)
{
    const struct shapeproof_value outer = sp_value_member(adoption->config->file_root, key);
    for (size_t i = 0; i < adoption->count && outer.type != SHAPEPROOF_VALUE_ABSENT; i++)
        if (strcmp(adoption->members[i].key, key) == 0) adoption->members[i].value = outer;
}

/* The configuration of the model that the file was made of, with what only the file tells. */
static void adopt_configuration(struct adoption *adoption)
{
    const char *type;
    const struct shapeproof_value root = language_model(adoption, adoption->config->file_root, &type);
    adoption->config->original = adoption->config->file_root;
    if (!type) return;
    adoption->members =
        sp_arena_array(&adoption->config->arena, root.count + KEY_COUNT + SIGN_COUNT + 2, sizeof *adoption->members);
    add_gguf_member(adoption, "model_type", sp_value_string(type));
    for (size_t i = 0; i < root.count; i++)
        if (!is_of_original(root.members[i].key)) adoption->members[adoption->count++] = root.members[i];
    prefer_outer(adoption, "tie_word_embeddings");
    take_own(adoption);
    adopt_root(adoption);
}

/* All projectors are of one architecture, and differ by their kind: "clip-gemma3". */
static const char *architecture_and_kind(struct adoption *adoption)
{
    const char *kind = sp_inventory_metadata_value(adoption->file, "clip.projector_type");
    if (!kind || strcmp(adoption->architecture, "clip") != 0) return adoption->architecture;
    return sp_arena_printf(&adoption->config->arena, "clip-%s", kind);
}

/* Without a configuration: the hyper-parameters that the metadata and the tensors of the file tell. */
static void adopt_metadata(struct adoption *adoption)
{
    struct shapeproof_config *config = adoption->config;
    adoption->members = sp_arena_array(&config->arena, KEY_COUNT + SIGN_COUNT + sizeof absent / sizeof *absent + 3,
                                       sizeof *adoption->members);
    add_gguf_member(adoption, "model_type",
                    sp_value_string(layout_type(adoption, sp_value_string(architecture_and_kind(adoption)))));
    take_own(adoption);
    take_keys(adoption, ALL);
    take_vocabulary(adoption);
    take_absent(adoption);
    take_signs(adoption, ALL);
    config->path = sp_arena_string(&config->arena, shapeproof_inventory_path(adoption->file));
    adopt_root(adoption);
}

/* An adapter names the architecture of its base, and nothing else of it. */
bool sp_config_gguf_names_model(const struct shapeproof_inventory *inventory)
{
    const char *type = sp_inventory_metadata_value(inventory, "general.type");
    return sp_format_has(inventory, SP_BY_LLAMA_CPP) &&
           sp_inventory_metadata_value(inventory, "general.architecture") && !(type && strcmp(type, "adapter") == 0);
}

/* A list with an entry for each layer that has fewer entries than there are layers: the tables read past its end. Those
 * for multi-token prediction, which are last, may lack. Returns false with an error for such a list. */
static bool has_whole_lists(const struct shapeproof_inventory *inventory, const char *architecture,
                            struct shapeproof_error *error)
{
    static const char *const lists[] = {"attention.head_count", "attention.head_count_kv", "feed_forward_length",
                                        "attention.sliding_window_pattern"};
    struct sp_arena arena = {0};
    bool whole = true;
    const char *count = sp_inventory_metadata_value(inventory, sp_arena_printf(&arena, "%s.block_count", architecture));
    const char *more =
        sp_inventory_metadata_value(inventory, sp_arena_printf(&arena, "%s.nextn_predict_layers", architecture));
    const uint64_t layers = count ? strtoull(count, NULL, 10) : 0, further = more ? strtoull(more, NULL, 10) : 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && whole; i++) {
        const char *key = sp_arena_printf(&arena, "%s.%s", architecture, lists[i]),
                   *text = sp_inventory_metadata_value(inventory, key);
        const uint64_t entries = text && *text == '[' ? gguf_list_length(inventory, key) : layers;
        if (entries >= layers || layers - entries <= further) continue;
        sp_hint(error, "convert the model again: llama.cpp refuses the file");
        whole = sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED,
                        "%s has %" PRIu64 " entries, and %s.block_count is %" PRIu64 ": each layer needs one", key,
                        entries, architecture, layers);
    }
    sp_arena_free(&arena);
    return whole;
}

bool sp_config_gguf_agrees(const struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    static const char count[] = ".block_count";
    const char *architecture =
        sp_config_gguf_names_model(inventory) ? sp_inventory_metadata_value(inventory, "general.architecture") : NULL;
    const char *other = NULL;
    const size_t length = architecture ? strlen(architecture) : 0;
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(inventory) && architecture; i++) {
        const char *key = shapeproof_inventory_metadata(inventory, i)->key;
        if (strncmp(key, architecture, length) == 0 && key[length] == '.')
            return has_whole_lists(inventory, architecture, error);
        if (!other && sp_ends_with(key, count)) other = key;
    }
    if (!other) return true;
    const int own = (int)(strlen(other) - (sizeof count - 1));
    sp_hint(error, "set general.architecture to what the file is of, or convert the model again");
    return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED,
                   "general.architecture is %s, and the keys are those of '%.*s': there is %s, and no %s%s",
                   sp_quote(architecture).text, own, other, other, architecture, count);
}

void sp_config_take_gguf(struct shapeproof_config *config, const struct shapeproof_inventory *inventory)
{
    struct adoption adoption = {.config = config, .file = inventory};
    adoption.architecture =
        sp_arena_string(&config->arena, sp_inventory_metadata_value(inventory, "general.architecture"));
    adopt_metadata(&adoption);
}

bool sp_config_adopt(struct shapeproof_config *config, const struct shapeproof_tables *tables,
                     const struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct adoption adoption = {.config = config, .tables = tables, .file = inventory};
    if (!sp_format_has(inventory, SP_BY_LLAMA_CPP)) return true;
    const char *architecture = sp_inventory_metadata_value(inventory, "general.architecture");
    adoption.architecture = architecture ? sp_arena_string(&config->arena, architecture) : "";
    const bool projects = strcmp(adoption.architecture, "clip") == 0; /* what a configuration says is not of that */
    if (has_file(config) && !projects) adopt_configuration(&adoption);
    else if (sp_config_gguf_names_model(inventory)) {
        if (!sp_config_gguf_agrees(inventory, error)) return false;
        sp_config_take_gguf(config, inventory);
    }
    return true;
}

/* ---- the way back: which key of the file a hyper-parameter is ---- */

bool sp_config_is_of_gguf(const struct shapeproof_config *config, const struct shapeproof_inventory *inventory)
{
    return has_file(config) && sp_format_has(inventory, SP_BY_LLAMA_CPP) &&
           strcmp(config->path, shapeproof_inventory_path(inventory)) == 0;
}

const char *sp_config_gguf_key(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                               const char *becomes, bool *there)
{
    const char *architecture = sp_inventory_metadata_value(inventory, "general.architecture"), *first = NULL;
    *there = false;
    for (size_t i = 0; i < KEY_COUNT && architecture && !*there; i++) {
        if (strcmp(keys[i].becomes, becomes) != 0) continue;
        if (*keys[i].architecture && strcmp(keys[i].architecture, architecture) != 0) continue;
        const bool whole = strncmp(keys[i].key, "tokenizer.", 10) == 0;
        const char *key = whole ? keys[i].key : sp_arena_printf(arena, "%s.%s", architecture, keys[i].key);
        *there = sp_inventory_metadata_value(inventory, key) != NULL;
        if (*there || !first) first = key;
    }
    if (*there || strcmp(becomes, "vocab_size") != 0 || !sp_inventory_metadata_value(inventory, TOKENS)) return first;
    *there = true;
    return TOKENS;
}

const char *sp_config_gguf_own_key(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                                   const char *becomes)
{
    const char *architecture = sp_inventory_metadata_value(inventory, "general.architecture");
    for (size_t i = 0; i < KEY_COUNT && architecture; i++) {
        if (!keys[i].own || strcmp(keys[i].becomes, becomes) != 0) continue;
        const char *key = sp_arena_printf(arena, "%s.%s", architecture, keys[i].key);
        if (sp_inventory_metadata_value(inventory, key)) return key;
    }
    return NULL;
}

bool sp_config_gguf_shows(const struct shapeproof_inventory *inventory, const char *becomes)
{
    const char *architecture = sp_inventory_metadata_value(inventory, "general.architecture");
    for (size_t i = 0; i < SIGN_COUNT && architecture; i++)
        if (strcmp(signs[i].becomes, becomes) == 0 &&
            (!*signs[i].architecture || strcmp(signs[i].architecture, architecture) == 0))
            return true;
    return false;
}

struct sp_gguf_tokens sp_config_gguf_tokens(const struct shapeproof_inventory *inventory)
{
    const char *model = sp_inventory_metadata_value(inventory, "tokenizer.ggml.model");
    struct sp_gguf_tokens tokens = {0};
    if (!sp_format_has(inventory, SP_BY_LLAMA_CPP)) return tokens;
    if (model && (strcmp(model, "none") == 0 || strcmp(model, "no_vocab") == 0)) return tokens;
    tokens.tokens = gguf_list_length(inventory, TOKENS);
    tokens.types = gguf_list_length(inventory, "tokenizer.ggml.token_type");
    tokens.scores = gguf_list_length(inventory, "tokenizer.ggml.scores");
    return tokens;
}
