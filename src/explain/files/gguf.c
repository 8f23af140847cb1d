/* SPDX-License-Identifier: MIT
 * What llama.cpp refuses in a GGUF file though its tensors agree with its metadata: a tokenizer with another number of
 * tokens than the embedding has rows, and tensors of another model beside those of the language model. */
#include <inttypes.h>
#include <string.h>

#include "config/inside.h"
#include "explain/gather.h"
#include "explain/vocabulary.h"
#include "lang/prediction.h"
#include "model/format.h"
#include "names/components.h"
#include "names/prefixes.h"

/* ---- tokens and rows ---- */

/* Whether a tensor has another shape in one dimension alone, which counts tokens and has `rows` in the file. */
static bool is_of_rows(const struct shapeproof_check *check, const struct shapeproof_finding *finding, const void *rows)
{
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE)) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    uint32_t differing = 0, place = 0;
    for (uint32_t d = 0; d < expected->rank && tensor->rank == expected->rank; d++)
        if (tensor->shape[d] != expected->shape[d] && ++differing) place = d;
    if (differing != 1 || tensor->shape[place] != *(const uint64_t *)rows) return false;
    const size_t key = sp_prediction_dimension_key(check->prediction, finding->predicted, place);
    return key != SHAPEPROOF_NONE &&
           sp_is_vocabulary(shapeproof_prediction_hyperparameter(check->prediction, key)->name);
}

/* A cause that explains the tensors with that many rows, which may be none: the metadata may agree with the embedding.
 */
static struct shapeproof_cause *blame_tokens(struct shapeproof_check *check, uint64_t rows)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_TOKEN_ROWS, is_of_rows, &rows);
    return cause ? cause : sp_blame(check, SP_CAUSE_TOKEN_ROWS);
}

/* Blames a list of the tokenizer that should have an entry for each token and has not; an absent list has 0 entries. */
static void compare_list(struct shapeproof_check *check, const char *list, uint64_t entries, uint64_t tokens)
{
    if (!entries || entries == tokens) return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_TOKEN_ROWS);
    cause->message = sp_arena_printf(
        &check->arena, "tokenizer.ggml.tokens has %" PRIu64 " entries, %s has %" PRIu64 ": each token needs one",
        tokens, list, entries);
    cause->hint = "convert the model again with the tokenizer that it was trained with";
}

/* The lists of the tokenizer in a GGUF file have one item for each token, and the embedding one row. Blames the
 * lists, or the embedding, that have another length. */
static void explain_tokens(struct shapeproof_check *check)
{
    static const char embedding[] = "token_embd.weight";
    const struct sp_gguf_tokens list = sp_config_gguf_tokens(check->inventory);
    const size_t place = shapeproof_inventory_find(check->inventory, embedding);
    if (!list.tokens || place == SHAPEPROOF_NONE || shapeproof_inventory_tensor(check->inventory, place)->rank != 2)
        return;
    const uint64_t rows = shapeproof_inventory_tensor(check->inventory, place)->shape[0];
    compare_list(check, "tokenizer.ggml.token_type", list.types, list.tokens);
    compare_list(check, "tokenizer.ggml.scores", list.scores, list.tokens);
    if (rows == list.tokens) return;
    struct shapeproof_cause *cause = blame_tokens(check, rows);
    cause->message = sp_arena_printf(&check->arena,
                                     "the tokenizer in the file has %" PRIu64 " tokens, %s has %" PRIu64
                                     " rows: llama.cpp refuses the file",
                                     list.tokens, embedding, rows);
    cause->hint = rows < list.tokens
                      ? "resize the embedding of the original to its number of tokens (resize_token_embeddings), or "
                        "remove added_tokens.json; then convert it again"
                      : "convert the model again: its converter adds a token for each row that has none";
}

/* ---- another model beside it ---- */

static bool is_of_other_part(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *context)
{
    (void)check;
    (void)context;
    return sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED) && sp_gguf_part(finding->name);
}

/* "a vision tower and a projector (v., mm.)": what the findings of a cause belong to. */
static const char *parts_said(struct shapeproof_check *check, size_t cause)
{
    struct sp_text what = {0}, fronts = {0};
    for (size_t i = 0; i < check->finding_count; i++) {
        const char *name = check->findings[i].name;
        const char *part = check->findings[i].cause == cause ? sp_gguf_part(name) : NULL;
        if (!part || (what.data && strstr(what.data, part))) continue;
        sp_text_printf(&what, "%s%s", what.length ? " and " : "", part);
        sp_text_printf(&fronts, "%s%.*s", fronts.length ? ", " : "", (int)(strchr(name, '.') + 1 - name), name);
    }
    const char *said = sp_arena_printf(&check->arena, "%s (%s)", what.data, fronts.data);
    sp_text_free(&what);
    sp_text_free(&fronts);
    return said;
}

/* One cause for tensors of another model than the language model, such as a vision tower. */
static void explain_other_part(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_OTHER_PART, is_of_other_part, NULL);
    if (!cause) return;
    cause->message = sp_arena_printf(
        &check->arena,
        "%s of %s are in the file of the language model: llama.cpp expects them in a file of their own (mmproj)",
        sp_tensors_of(check, cause), parts_said(check, (size_t)(cause - check->causes)));
    cause->hint = "convert the model to two files, the second with --mmproj; Ollama writes and reads both in one "
                  "file";
}

/* ---- layers with attention and without ---- */

/* The layer of "blk.3.attn_k.weight", 3, and what follows it, "attn_k.weight"; SIZE_MAX for a tensor of no block. */
static size_t block_of(const char *name, const char **rest)
{
    uint64_t layer;
    const size_t digits = strncmp(name, "blk.", 4) == 0 ? sp_index_at(name, 4, &layer) : 0;
    if (!digits || name[4 + digits] != '.') return SIZE_MAX;
    *rest = name + 4 + digits + 1;
    return (size_t)layer;
}

/* Whether the finding shows that the list of heads is wrong: the keys of a layer are in the file where the list says 0
 * heads, or missing where it says more. `*layer` is that layer. */
static bool is_against_list(const struct shapeproof_finding *finding, struct shapeproof_value heads, size_t *layer)
{
    const char *rest;
    const bool there = finding->kind == SHAPEPROOF_FINDING_UNEXPECTED;
    if (!sp_finding_is_open(finding) || (!there && finding->kind != SHAPEPROOF_FINDING_MISSING)) return false;
    *layer = block_of(finding->name, &rest);
    if (*layer >= heads.count || strcmp(rest, "attn_k.weight") != 0) return false;
    return heads.items[*layer].type == SHAPEPROOF_VALUE_INT && (heads.items[*layer].integer > 0) != there;
}

/* Layers whose entry in the list is wrong, the context of is_of_wrong_layer. */
struct layers {
    const bool *wrong; /* for each layer */
    size_t count;
};

static bool is_of_wrong_layer(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                              const void *context)
{
    const struct layers *layers = context;
    const char *rest;
    const size_t layer = block_of(finding->name, &rest);
    (void)check;
    return sp_finding_is_open(finding) && layer < layers->count && layers->wrong[layer];
}

/* In some models num_key_value_heads is a list with a number for each layer, 0 for a layer without attention: "the file
 * has attention in layer 3, 7, no attention in layer 2, 6". Blames the list for all that is missing or unexpected in
 * layers whose entry is wrong. */
static void explain_head_list(struct shapeproof_check *check)
{
    const size_t place = sp_find_hyperparameter(check->prediction, "num_key_value_heads");
    if (place == SHAPEPROOF_NONE || !sp_config_is_of_gguf(check->config, check->inventory)) return;
    const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(check->prediction, place);
    const size_t count = hyper.value.type == SHAPEPROOF_VALUE_LIST ? hyper.value.count : 0;
    bool *wrong = sp_arena_array(&check->arena, count, sizeof *wrong); /* for each layer */
    struct sp_text with = {0}, without = {0}; /* wrong layers that have attention in the file, and that have none */
    size_t layer;
    for (size_t i = 0; i < check->finding_count && count; i++) {
        if (!is_against_list(&check->findings[i], hyper.value, &layer) || wrong[layer]) continue;
        wrong[layer] = true;
    }
    for (size_t i = 0; i < count; i++) {
        const bool has_attention = wrong[i] && hyper.value.items[i].integer <= 0; /* where the list says none */
        struct sp_text *text = has_attention ? &with : &without;
        if (wrong[i]) sp_text_printf(text, "%s%zu", text->length ? ", " : "", i);
    }
    if (with.length || without.length) {
        struct shapeproof_cause *cause =
            sp_gather(check, SP_CAUSE_HYPERPARAMETER, is_of_wrong_layer, &(struct layers){wrong, count});
        const char *said = sp_said(check, hyper);
        if (with.length && without.length)
            cause->message =
                sp_arena_printf(&check->arena, "%s, the file has attention in layer %.60s, no attention in layer %.60s",
                                said, with.data, without.data);
        else
            cause->message = sp_arena_printf(&check->arena, "%s, the file has %sattention in layer %.60s", said,
                                             with.length ? "" : "no ", with.length ? with.data : without.data);
        cause->hint = "convert the model again: in that list, each layer with attention needs its number of heads, "
                      "and each other layer a 0";
        cause->hyperparameter = hyper.name;
        cause->configured = hyper.value;
    }
    sp_text_free(&with);
    sp_text_free(&without);
}

void sp_explain_gguf(struct shapeproof_check *check)
{
    if (!sp_format_has(check->inventory, SP_BY_LLAMA_CPP)) return;
    explain_tokens(check);
    explain_other_part(check);
    explain_head_list(check);
}
