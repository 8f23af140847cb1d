/* SPDX-License-Identifier: MIT
 * An embedding and a head, in every combination: what ties them, which of them are stored, how the two compare, and
 * what the file's metadata says. The sentence names the rule that decided. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/told.h"

/* ---- what ties them ---- */

#define SIZES                                                                                                          \
    "\"vocab_size\": 32, \"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "                   \
    "\"num_key_value_heads\": 2, \"head_dim\": 4, \"intermediate_size\": 12"
#define LLAMA "\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], " SIZES
#define GEMMA "\"model_type\": \"gemma\", \"architectures\": [\"GemmaForCausalLM\"], " SIZES
#define VISION                                                                                                         \
    "\"model_type\": \"perception_lm\", \"architectures\": [\"PerceptionLMForConditionalGeneration\"], "               \
    "\"vision_config\": "                                                                                              \
    "{\"model_type\": \"timm_wrapper\", \"architecture\": \"vit_pe_core_tiny_patch16_384\", \"model_args\": "          \
    "{\"embed_dim\": 192, "                                                                                            \
    "\"depth\": 1}}, \"text_config\": {\"model_type\": \"llama\", " SIZES

static const struct rule {
    const char *config;
    bool tied;
    const char *embedding, *head, *key, *says;
    const char *other; /* another key, which says the opposite */
} rules[] = {
    {"{" LLAMA ", \"tie_word_embeddings\": true}", true, "model.embed_tokens.weight", "lm_head.weight",
     "tie_word_embeddings", "tie_word_embeddings is true in config.json", NULL},
    {"{" LLAMA ", \"tie_word_embeddings\": false}", false, "model.embed_tokens.weight", "lm_head.weight",
     "tie_word_embeddings", "tie_word_embeddings is false in config.json", NULL},
    {"{" LLAMA "}", false, "model.embed_tokens.weight", "lm_head.weight", "tie_word_embeddings",
     "tie_word_embeddings is false by default", NULL},
    {"{" GEMMA "}", true, "model.embed_tokens.weight", "lm_head.weight", "tie_word_embeddings",
     "tie_word_embeddings is true by default", NULL},
    {"{" GEMMA ", \"tie_word_embeddings\": false}", false, "model.embed_tokens.weight", "lm_head.weight",
     "tie_word_embeddings", "tie_word_embeddings is false in config.json", NULL},
    {"{" VISION ", \"tie_word_embeddings\": true}}", true, "model.language_model.embed_tokens.weight", "lm_head.weight",
     "text_config.tie_word_embeddings", "text_config.tie_word_embeddings is true in config.json", NULL},
    {"{" VISION ", \"tie_word_embeddings\": true}, \"tie_word_embeddings\": false}", false,
     "model.language_model.embed_tokens.weight", "lm_head.weight", "tie_word_embeddings",
     "tie_word_embeddings is false in config.json", "text_config.tie_word_embeddings"},
    {"{" VISION ", \"tie_word_embeddings\": false}, \"tie_word_embeddings\": true}", true,
     "model.language_model.embed_tokens.weight", "lm_head.weight", "tie_word_embeddings",
     "tie_word_embeddings is true in config.json", "text_config.tie_word_embeddings"},
    {"{" VISION "}, \"tie_word_embeddings\": true}", true, "model.language_model.embed_tokens.weight", "lm_head.weight",
     "tie_word_embeddings", "tie_word_embeddings is true in config.json", NULL},
    {"{" VISION "}}", false, "model.language_model.embed_tokens.weight", "lm_head.weight", "tie_word_embeddings",
     "tie_word_embeddings is false by default", NULL},
};

/* ---- what is stored ---- */

enum stored { BOTH, EMBEDDING, HEAD, NEITHER };
enum relation { COPIES, EQUAL, EQUAL_NAN, APART, RETYPED, ONE_STORAGE, OF_ONE };

/* Of a file: E stands for the embedding's name, H for the head's, R for the rule, K for its key, O for the other key.
 */
static const struct outcome {
    enum stored stored;
    enum relation relation;
    bool alias; /* the metadata names the absent one, and the other in its place */
    bool tied;
    const char *line, *cause; /* NULL: "match: ...", no cause */
    const char *message;      /* of that cause, when it is not in the line */
} outcomes[] = {
    {BOTH, COPIES, false, true, "explained: H is stored although it is tied to E (R); nothing else differs",
     "tied-copy", NULL},
    {BOTH, EQUAL, false, true, NULL, "tied-copy", "H is stored once more, byte for byte the same as E (R)"},
    {BOTH, EQUAL_NAN, false, true, NULL, "tied-copy", "H is stored once more, byte for byte the same as E (R)"},
    {BOTH, APART, false, true,
     "differs: H differs from E from element 0 on although the two are tied (R): transformers 5 keeps both, "
     "transformers 4 does not",
     "tied-apart", NULL},
    {BOTH, RETYPED, false, true, "differs: H has dtype BF16 where all others have F32", "tied-copy",
     "H is stored although it is tied to E (R)"},
    {BOTH, ONE_STORAGE, false, true, NULL, "tied", "H shares the storage of E, as it should (R)"},
    {BOTH, COPIES, false, false, NULL, NULL, NULL},
    {BOTH, EQUAL, false, false, NULL, "untied-copy", "H is byte for byte the same as E, though not tied to it (R)"},
    {BOTH, EQUAL_NAN, false, false, NULL, "untied-copy", "H is byte for byte the same as E, though not tied to it (R)"},
    {BOTH, APART, false, false, NULL, NULL, NULL},
    {BOTH, ONE_STORAGE, false, false, "explained: H shares the storage of E although R; nothing else differs", "shared",
     NULL},
    {EMBEDDING, OF_ONE, false, true, NULL, NULL, NULL},
    {EMBEDDING, OF_ONE, true, true, NULL, NULL, NULL},
    {HEAD, OF_ONE, false, true, NULL, NULL, NULL},
    {HEAD, OF_ONE, true, true, NULL, NULL, NULL},
    {NEITHER, OF_ONE, false, true, "differs: E is missing", NULL, NULL},
    {NEITHER, OF_ONE, false, false, "differs: 2 tensors are missing: E, H", NULL, NULL},
    {EMBEDDING, OF_ONE, false, false, "differs: R, but the file lacks H: it is tied to E, or lost", "hyperparameter",
     NULL},
    {EMBEDDING, OF_ONE, true, false, "differs: R, but the file lacks H: the file's metadata says that it is E",
     "hyperparameter", NULL},
    {HEAD, OF_ONE, false, false, "differs: R, but the file lacks E: it is tied to H, or lost", "hyperparameter", NULL},
    {HEAD, OF_ONE, true, false, "differs: R, but the file lacks E: the file's metadata says that it is H",
     "hyperparameter", NULL},
};

/* ---- putting them together ---- */

static void expand(struct sp_text *text, const char *pattern, const struct rule *rule)
{
    sp_text_puts(text, "");
    for (const char *p = pattern; *p; p++) {
        const bool alone = (p == pattern || p[-1] == ' ' || p[-1] == '(') && !(p[1] >= 'a' && p[1] <= 'z');
        if (*p == 'E' && alone) sp_text_puts(text, rule->embedding);
        else if (*p == 'H' && alone) sp_text_puts(text, rule->head);
        else if (*p == 'R' && alone) sp_text_puts(text, rule->says);
        else sp_text_append(text, p, 1);
    }
}

/* Another key that says otherwise is said before the guess. */
static const char *line_of(const struct outcome *outcome, const struct rule *rule, struct sp_text *text)
{
    const char *guess;
    expand(text, outcome->line, rule);
    if (rule->other && (guess = strstr(text->data, ": it is tied to ")) != NULL) {
        text->length = (size_t)(guess - text->data);
        sp_text_printf(text, ": it is tied, as %s says", rule->other);
    }
    return text->data;
}

static void store(struct model *model, const struct outcome *outcome, const struct rule *rule, char *metadata)
{
    model_predict(model, WITH_TIED);
    if (outcome->stored == EMBEDDING || outcome->stored == NEITHER) model_drop(model, rule->head);
    if (outcome->stored == HEAD || outcome->stored == NEITHER) model_drop(model, rule->embedding);
    model->options.data = outcome->relation != COPIES && outcome->relation != ONE_STORAGE;
    if (outcome->relation == EQUAL_NAN) {
        model_fill(model, rule->head, 0xff);
        model_fill(model, rule->embedding, 0xff);
    }
    if (outcome->relation == APART) model_fill(model, rule->head, 1);
    if (outcome->relation == RETYPED) model_retype(model, rule->head, SHAPEPROOF_DTYPE_BF16);
    if (outcome->relation == ONE_STORAGE) {
        model_share(model, rule->head, "0");
        model_share(model, rule->embedding, "0");
    }
    if (!outcome->alias) return;
    const bool head = outcome->stored == HEAD;
    sprintf(metadata, "\"format\":\"pt\",\"%s\":\"%s\"", head ? rule->embedding : rule->head,
            head ? rule->head : rule->embedding);
    model->metadata = metadata;
}

/* Where another key says the opposite: the tensor that a loader which goes by it makes up or overwrites, or NULL. */
static const char *disputed(const struct outcome *outcome, const struct rule *rule)
{
    if (!rule->other) return NULL;
    if (rule->tied) return outcome->stored == EMBEDDING ? rule->head : outcome->stored == HEAD ? rule->embedding : NULL;
    return outcome->stored == BOTH && (outcome->relation == COPIES || outcome->relation == APART) ? rule->head : NULL;
}

static void check_dispute(const struct model *model, const struct rule *rule, const char *tensor)
{
    struct sp_text line = {0};
    sp_text_printf(&line, "explained: %s, but %s is %s: a loader that reads the latter %s %s; nothing else differs",
                   rule->says, rule->other, rule->tied ? "false" : "true", rule->tied ? "initialises" : "overwrites",
                   tensor);
    assert_told(model, line.data, "tie-flags", 0);
    sp_text_free(&line);
}

static void check_cause(const struct model *model, const struct outcome *outcome, const struct rule *rule)
{
    size_t causes = 0;
    if (disputed(outcome, rule)) return;
    for (size_t i = 0; i < shapeproof_check_cause_count(model->check); i++)
        causes += strcmp(shapeproof_check_cause(model->check, i)->id, "dtype") != 0; /* which another test looks at */
    assert_int_equal(causes, outcome->cause != NULL);
    if (!outcome->cause) return;
    const struct shapeproof_cause *cause = model_cause(model, outcome->cause);
    assert_non_null(cause);
    assert_string_equal(cause->hyperparameter, rule->key);
    assert_true(sp_value_is_bool(cause->configured, rule->tied));
    if (!outcome->message) return;
    struct sp_text text = {0};
    expand(&text, outcome->message, rule);
    assert_string_equal(cause->message, text.data);
    sp_text_free(&text);
}

/* The one that is absent is a note with the rule in it. */
static void check_absent(const struct model *model, const struct outcome *outcome, const struct rule *rule)
{
    if (!rule->tied || (outcome->stored != HEAD && outcome->stored != EMBEDDING)) return;
    const bool head = outcome->stored == HEAD;
    struct sp_text text = {0};
    expand(&text, head ? "is not stored: it is the same as H (R)" : "is not stored: it is the same as E (R)", rule);
    assert_int_equal(model_findings(model, "tied-absent"), 1);
    assert_string_equal(shapeproof_check_finding(model->check, 0)->name, head ? rule->embedding : rule->head);
    assert_string_equal(shapeproof_check_finding(model->check, 0)->message, text.data);
    sp_text_free(&text);
}

static void every_combination(void **state)
{
    size_t tried = 0;
    (void)state;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (size_t o = 0; o < sizeof outcomes / sizeof *outcomes; o++) {
            const struct outcome *outcome = &outcomes[o];
            struct model model;
            struct sp_text wanted = {0};
            char metadata[200];
            if (outcome->tied != rules[r].tied) continue;
            model_open(&model, rules[r].config);
            store(&model, outcome, &rules[r], metadata);
            const char *line = outcome->relation == ONE_STORAGE ? model_check_memory(&model) : model_check(&model);
            if (disputed(outcome, &rules[r])) check_dispute(&model, &rules[r], disputed(outcome, &rules[r]));
            else if (!outcome->line) assert_memory_equal(line, "match: all ", 11);
            else assert_string_equal(line, line_of(outcome, &rules[r], &wanted));
            check_cause(&model, outcome, &rules[r]);
            check_absent(&model, outcome, &rules[r]);
            sp_text_free(&wanted);
            model_close(&model);
            tried++;
        }
    assert_int_equal(tried, 5 * 11 + 5 * 10);
}

/* ---- hints ---- */

static void what_to_do(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, rules[0].config);
    model_predict(&model, WITH_TIED);
    model_check(&model);
    assert_string_equal(model_cause(&model, "tied-copy")->hint, "--data tells whether the two are equal");
    model_fill(&model, "lm_head.weight", 7);
    model.options.data = true;
    model_check(&model);
    assert_string_equal(model_cause(&model, "tied-apart")->hint, "set tie_word_embeddings to false to keep both");
    assert_true(sp_value_is_bool(model_cause(&model, "tied-apart")->found, false));
    model_retype(&model, "lm_head.weight", SHAPEPROOF_DTYPE_F16);
    model_check(&model);
    assert_string_equal(model_cause(&model, "tied-copy")->hint,
                        "their data are not compared: one is F16, the other F32");
    model_close(&model);
}

/* ---- one byte, at the end ---- */

static void the_last_byte(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, rules[0].config);
    model_predict(&model, WITH_TIED);
    model.options.data = true;
    model_write(&model, "model.safetensors");
    const char *path = scratch_path(&model.scratch, "model.safetensors");
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, -1, SEEK_END); /* of the head, which comes last */
    fputc(1, file);
    fclose(file);
    assert_string_equal(
        model_check_path(&model, path),
        "differs: lm_head.weight differs from model.embed_tokens.weight from element 255 on although the two are "
        "tied (tie_word_embeddings is true in config.json): transformers 5 keeps both, transformers 4 does not");
    model_close(&model);
}

/* ---- other shapes ---- */

/* Checks the data of a model in which one tensor has another number of rows, or of columns. */
static void check_resized(struct model *model, const struct rule *rule, const char *name, uint64_t from, uint64_t to)
{
    model_open(model, rule->config);
    model_predict(model, WITH_TIED);
    model_resize(model, name, from, to);
    model->options.data = true;
    assert_memory_equal(model_check(model), "differs: ", 9);
}

/* Either of the two may hold fewer bytes than the other. */
static void untied_of_other_shapes(void **state)
{
    static const struct {
        const char *name;
        uint64_t from, to;
    } cases[] = {{"model.embed_tokens.weight", 32, 30},
                 {"model.embed_tokens.weight", 32, 0},
                 {"model.embed_tokens.weight", 8, 4},
                 {"lm_head.weight", 32, 40},
                 {"lm_head.weight", 8, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model model;
        check_resized(&model, &rules[1], cases[i].name, cases[i].from, cases[i].to);
        assert_null(model_cause(&model, "untied-copy"));
        model_close(&model);
    }
}

static void tied_of_other_shapes(void **state)
{
    struct model model;
    (void)state;
    check_resized(&model, &rules[0], "model.embed_tokens.weight", 32, 30);
    assert_string_equal(model_cause(&model, "tied-copy")->hint,
                        "their data are not compared: the shapes are (32, 8) and (30, 8)");
    model_close(&model);
}

/* The first rows of the embedding are all that a shorter head has. */
static void untied_first_rows(void **state)
{
    struct model model;
    (void)state;
    check_resized(&model, &rules[1], "lm_head.weight", 32, 30);
    assert_string_equal(model_cause(&model, "untied-copy")->message,
                        "lm_head.weight is byte for byte the same as the first rows of model.embed_tokens.weight, "
                        "though not tied to it (tie_word_embeddings is false in config.json)");
    model_close(&model);
}

static void a_file_that_was_cut_short(void **state)
{
    struct model model;
    struct shapeproof_error error = {0};
    (void)state;
    model_open(&model, rules[0].config);
    model_predict(&model, WITH_TIED);
    model_write(&model, "model.safetensors");
    const char *path = scratch_path(&model.scratch, "model.safetensors");
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    assert_non_null(inventory);
    assert_int_equal(truncate(path, 2000), 0);
    assert_null(shapeproof_check_new(inventory, model.tables, model.config,
                                     &(struct shapeproof_check_options){.data = true}, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    shapeproof_inventory_close(inventory);
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination),
        cmocka_unit_test(what_to_do),
        cmocka_unit_test(the_last_byte),
        cmocka_unit_test(untied_of_other_shapes),
        cmocka_unit_test(tied_of_other_shapes),
        cmocka_unit_test(untied_first_rows),
        cmocka_unit_test(a_file_that_was_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
