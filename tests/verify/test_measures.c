/* SPDX-License-Identifier: MIT
 * Measures of tables: what is in use of each type of decoder, and what it keeps of earlier tokens, against
 * transformers; and the operations that torch counts; that no built-in table counts all of its experts; and what a
 * table must say so that it is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/tables.h"
#include "shapeproof/shapeproof.h"

/* The value of the expression for a configuration; NULL, with *why in a buffer of its own, when there is none. */
static bool evaluate(struct shapeproof_tables *tables, const char *config_text, const char *expression, int64_t *value,
                     char why[256])
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    char *letters = NULL;
    if (shapeproof_config_load_text(config, "config.json", config_text, strlen(config_text), &error) != SHAPEPROOF_OK)
        fail_msg("%s", error.message);
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, NULL, &error);
    if (!prediction) fail_msg("%s: %s", config_text, error.message);
    struct shapeproof_expressions *expressions =
        shapeproof_expressions_new(tables, shapeproof_prediction_table(prediction),
                                   &(struct shapeproof_claim_lines){"test", &expression, 1}, &letters, &error);
    if (!expressions) fail_msg("%s", error.message);
    struct shapeproof_evaluation *evaluation = shapeproof_evaluate(expressions, config, NULL, &error);
    if (!evaluation) fail_msg("%s: %s", config_text, error.message);
    const struct shapeproof_evaluated *evaluated = shapeproof_evaluation_get(evaluation, 0);
    const bool known = evaluated->text != NULL;
    *value = evaluated->value.numerator;
    snprintf(why, 256, "%s", known ? "" : evaluated->why);
    shapeproof_evaluation_free(evaluation);
    shapeproof_expressions_free(expressions);
    shapeproof_free(letters);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return known;
}

/* ---- against transformers ---- */

static int64_t number_of(const char *line, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(line, quoted);
    if (!at) fail_msg("no %s in: %s", key, line);
    return strtoll(at + strlen(quoted), NULL, 10);
}

/* Checks each line of a file, and that there are as many as wanted. */
static void check_lines(const char *path, void (*check)(struct shapeproof_tables *tables, char *line), size_t wanted)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[8192];
    size_t count = 0;
    for (; fgets(line, sizeof line, file); count++) check(tables, line);
    fclose(file);
    assert_int_equal(count, wanted);
    shapeproof_tables_free(tables);
}

/* A line of fixtures/measures/active.jsonl. */
static void check_model(struct shapeproof_tables *tables, char *line)
{
    const int64_t active = number_of(line, "active"), parameters = number_of(line, "parameters"),
                  buffers = number_of(line, "buffers");
    int64_t value, total;
    char why[256];
    *strstr(line, ", \"parameters\"") = '\0';
    const char *config = strchr(line + 1, '{');
    if (!evaluate(tables, config, "active", &value, why)) fail_msg("%s: %s", config, why);
    evaluate(tables, config, "total", &total, why);
    const int64_t counted = total - parameters; /* of the buffers */
    if ((counted && counted != buffers) || value != active + counted)
        fail_msg("%s: %lld of %lld, transformers has %lld of %lld", config, (long long)value, (long long)total,
                 (long long)active, (long long)parameters);
}

static void test_active_is_what_transformers_uses(void **state)
{
    (void)state;
    check_lines("fixtures/measures/active.jsonl", check_model, 101);
}

/* Writes what a line of fixtures/measures/cache*.jsonl has besides its tokens, as arguments of cache():
 * ", source_tokens=7, images=2". */
static void write_inputs(const char *line, char inputs[64])
{
    static const char *const names[] = {"source_tokens", "images"};
    *inputs = '\0';
    for (size_t i = 0, length = 0; i < sizeof names / sizeof *names; i++) {
        char quoted[32];
        snprintf(quoted, sizeof quoted, "\"%s\": ", names[i]);
        if (!strstr(line, quoted)) continue;
        length += (size_t)snprintf(inputs + length, 64 - length, ", %s=%d", names[i], (int)number_of(line, names[i]));
    }
}

/* Checks the bytes of a line of fixtures/measures/cache*.jsonl: `form` is an argument of cache(), or empty. */
static void check_form(struct shapeproof_tables *tables, char *line, const char *form)
{
    const int64_t bytes = number_of(line, "bytes");
    int64_t value;
    char why[256], inputs[64], expression[128];
    write_inputs(line, inputs);
    snprintf(expression, sizeof expression, "cache(tokens=%d, batch=%d, dtype=f32%s%s)", (int)number_of(line, "tokens"),
             (int)number_of(line, "batch"), inputs, form);
    *strstr(line, ", \"tokens\"") = '\0';
    const char *config = strchr(line + 1, '{');
    if (!evaluate(tables, config, expression, &value, why)) fail_msg("%s: %s", config, why);
    if (value != bytes) fail_msg("%s: %lld, transformers keeps %lld", config, (long long)value, (long long)bytes);
}

static void check_cache(struct shapeproof_tables *tables, char *line) { check_form(tables, line, ""); }

/* The larger of two ranks keeps half of the cache or more, and each table says what it keeps. */
static void check_cache_of_rank(struct shapeproof_tables *tables, char *line)
{
    const int64_t bytes = number_of(line, "bytes");
    int64_t value;
    char why[256], inputs[64], expression[128];
    write_inputs(line, inputs);
    snprintf(expression, sizeof expression, "cache(tokens=%d, batch=%d, dtype=f32%s, tp=2)",
             (int)number_of(line, "tokens"), (int)number_of(line, "batch"), inputs);
    *strstr(line, ", \"tokens\"") = '\0';
    const char *config = strchr(line + 1, '{');
    if (!evaluate(tables, config, expression, &value, why)) fail_msg("%s: %s", config, why);
    if (value > bytes || 2 * value < bytes) fail_msg("%s: %lld of %lld", config, (long long)value, (long long)bytes);
}

static void check_expanded_cache(struct shapeproof_tables *tables, char *line)
{
    check_form(tables, line, ", form=expanded");
}

static void test_cache_is_what_transformers_keeps(void **state)
{
    (void)state;
    check_lines("fixtures/measures/cache.jsonl", check_cache, 211);
    check_lines("fixtures/measures/cache_expanded.jsonl", check_expanded_cache, 3);
}

static void test_each_cache_is_divided_among_ranks(void **state)
{
    (void)state;
    check_lines("fixtures/measures/cache.jsonl", check_cache_of_rank, 211);
}

/* A line of fixtures/measures/sizes.jsonl: an expression, and what peft or an optimizer has; or of shard.jsonl, and
 * what a rank has. */
static void check_size(struct shapeproof_tables *tables, char *line)
{
    const int64_t wanted = number_of(line, "value");
    char *expression = strstr(line, ", \"expression\": \"");
    int64_t value;
    char why[256];
    *expression = '\0';
    expression += strlen(", \"expression\": \"");
    *strchr(expression, '"') = '\0';
    const char *config = strchr(line + 1, '{');
    if (!evaluate(tables, config, expression, &value, why)) fail_msg("%s: %s: %s", config, expression, why);
    if (value != wanted) fail_msg("%s: %s: %lld, not %lld", config, expression, (long long)value, (long long)wanted);
}

static void test_sizes_are_those_of_peft_and_of_optimizers(void **state)
{
    (void)state;
    check_lines("fixtures/measures/sizes.jsonl", check_size, 64);
}

static void test_shards_are_those_of_transformers_and_megatron(void **state)
{
    (void)state;
    check_lines("fixtures/measures/shard.jsonl", check_size, 518);
}

/* A line of fixtures/measures/flops*.jsonl; images alone have no tokens, and text alone has no images. */
static void check_flops(struct shapeproof_tables *tables, char *line)
{
    static const char *const names[] = {"tokens", "source_tokens", "images", "patches", "sounds"};
    const int64_t flops = number_of(line, "flops"), batch = number_of(line, "batch");
    int64_t value;
    char why[256], expression[128];
    char *end = strstr(line, ", \"tokens\"");
    if (!end) end = strstr(line, ", \"patches\"");
    int length = snprintf(expression, sizeof expression, "flops(batch=%d", (int)batch);
    for (size_t i = 0; end && i < sizeof names / sizeof *names; i++) {
        char key[32];
        snprintf(key, sizeof key, "\"%s\": ", names[i]);
        if (strstr(end, key))
            length += snprintf(expression + length, sizeof expression - (size_t)length, ", %s=%d", names[i],
                               (int)number_of(end, names[i]));
    }
    snprintf(expression + length, sizeof expression - (size_t)length, ")");
    *(end ? end : strstr(line, ", \"batch\"")) = '\0';
    const char *config = strchr(line + 1, '{');
    if (!evaluate(tables, config, expression, &value, why)) fail_msg("%s: %s", config, why);
    if (value != flops) fail_msg("%s: %lld, torch counts %lld", config, (long long)value, (long long)flops);
}

static void test_flops_are_what_torch_counts(void **state)
{
    (void)state;
    check_lines("fixtures/measures/flops.jsonl", check_flops, 248);
    check_lines("fixtures/measures/flops_composites.jsonl", check_flops, 71);
    check_lines("fixtures/measures/flops_images.jsonl", check_flops, 109);
    check_lines("fixtures/measures/flops_sound.jsonl", check_flops, 38);
}

/* ---- the output layer ---- */

/* The output layer is not in [head]; it is in [head]; there is a classifier in its place. */
static const char layers_and_heads[] = "table own\n"
                                       "model_type \"own\"\n"
                                       "measures active\n"
                                       "V = vocab\n"
                                       "H = width\n"
                                       "emb.weight (V, H) lookup\n"
                                       "[layers] for i in 0..1\n"
                                       "l.{i}.w.weight (H, H)\n"
                                       "[out]\n"
                                       "head.weight (V, H)\n"
                                       "table headed extends own\n"
                                       "model_type \"headed\"\n"
                                       "measures active\n"
                                       "[out]\n"
                                       "[head]\n"
                                       "head.* rows(V, H)\n"
                                       "table sorting extends own\n"
                                       "model_type \"sorting\"\n"
                                       "measures active\n"
                                       "[out]\n"
                                       "[head]\n"
                                       "score.weight (classes default 2, H)\n"
                                       "part rows(rows, columns)\n"
                                       "weight (rows, columns)\n";

/* lora(rank=1) adds 16 for each matrix of 8 x 8; Muon keeps one moment of these, and two of everything else. */
static void test_the_output_layer_is_that_of_the_vocabulary(void **state)
{
    static const struct {
        const char *config;
        int64_t adapters, states; /* of rank 1; in bytes */
    } models[] = {
        {"{\"model_type\": \"own\", \"vocab\": 100, \"width\": 8}", 32, 8 * 1600 + 4 * 128},
        {"{\"model_type\": \"headed\", \"vocab\": 100, \"width\": 8}", 32, 8 * 1600 + 4 * 128},
        {"{\"model_type\": \"own\", \"vocab\": 8, \"width\": 8}", 32, 8 * 128 + 4 * 128},
        {"{\"model_type\": \"headed\", \"vocab\": 8, \"width\": 8}", 32, 8 * 128 + 4 * 128},
        {"{\"model_type\": \"sorting\", \"vocab\": 100, \"width\": 8}", 32, 8 * 816 + 4 * 128},
        /* OPT-350m: 24 layers, project_in and project_out */
        {"{\"model_type\": \"opt\", \"architectures\": [\"OPTForCausalLM\"], \"vocab_size\": 50272, \"hidden_size\": "
         "1024, "
         "\"ffn_dim\": 4096, \"num_hidden_layers\": 24, \"num_attention_heads\": 16, \"word_embed_proj_dim\": 512, "
         "\"do_layer_norm_before\": false}",
         3563520 / 8, 8 * 331196416LL - 4 * (301989888 + 2 * 524288)},
        /* The default of ModernBertDecoderConfig: 22 layers and lm_head.dense */
        {"{\"model_type\": \"modernbert-decoder\", \"architectures\": [\"ModernBertDecoderForCausalLM\"]}", 1972224 / 8,
         0},
        /* The norms of heads of Command R+ have two dimensions: 10,880 elements of adapters of rank 4 by peft */
        {"{\"model_type\": \"cohere\", \"architectures\": [\"CohereForCausalLM\"], \"vocab_size\": 128, "
         "\"hidden_size\": 32, \"intermediate_size\": 80, \"num_attention_heads\": 4, \"num_hidden_layers\": 5, "
         "\"num_key_value_heads\": 1, \"use_qk_norm\": true}",
         10880 / 4, 8 * 55688 - 4 * 51200},
    };
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    (void)state;
    if (shapeproof_tables_add_text(tables, "own.shapes", layers_and_heads, strlen(layers_and_heads), &error) !=
        SHAPEPROOF_OK)
        fail_msg("%s", shapeproof_tables_messages(tables));
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        int64_t value;
        char why[256];
        if (!evaluate(tables, models[i].config, "lora(rank=1, targets=all-linear)", &value, why)) fail_msg("%s", why);
        assert_int_equal(value, models[i].adapters);
        if (!models[i].states) continue;
        if (!evaluate(tables, models[i].config, "optimizer(muon, part=states, precision=f32)", &value, why))
            fail_msg("%s", why);
        assert_int_equal(value, models[i].states);
    }
    shapeproof_tables_free(tables);
}

/* ---- what tables say ---- */

/* Whether a text names experts, of which a token uses some only. */
static bool names_experts(const char *text) { return text && strstr(text, "experts") && !strstr(text, "shared"); }

/* Whether a row names experts and says nothing of their share. What stands between the experts and the model, such as a
 * projection to them, is in the group without a number or a dimension for each. */
static bool forgets_share(const struct sp_section *section, const struct sp_row *row)
{
    bool names = false;
    for (size_t i = 0; i < row->name.count; i++) names = names || names_experts(row->name.pieces[i].text);
    for (size_t i = 0; i < row->name.count; i++)
        if (row->name.pieces[i].text &&
            (strstr(row->name.pieces[i].text, "norm") || strstr(row->name.pieces[i].text, "correction")))
            names = false;
    return names && !row->buffer && !row->optional && !row->share.part && !section->share.part;
}

static void test_no_table_forgets_the_share_of_its_experts(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    size_t measured = 0;
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const char *name = shapeproof_tables_info(tables, i)->name;
        const struct sp_unit *unit = sp_tables_unit(tables, name);
        if (!unit || !(unit->measures & SP_MEASURE_ACTIVE)) continue;
        measured++;
        for (size_t s = 0; s < unit->section_count; s++)
            for (size_t r = 0; r < unit->sections[s].row_count; r++)
                if (forgets_share(&unit->sections[s], &unit->sections[s].rows[r]))
                    fail_msg("table %s, group [%s]: a row of experts has no share", name, unit->sections[s].name);
    }
    assert_true(measured > 100);
    shapeproof_tables_free(tables);
}

static bool is_by_ep(const struct sp_expr *expr) { return expr->division && expr->division->axis == SP_AXIS_EP; }

/* Whether a row of experts is not divided among the ranks of experts. */
static bool forgets_ranks(const struct sp_section *section, const struct sp_row *row)
{
    bool is_divided = !row->share.part && !section->share.part;
    for (size_t i = 0; i < section->clause_count; i++) is_divided = is_divided || section->clauses[i].by_ep;
    for (size_t i = 0; i < row->rank; i++) is_divided = is_divided || is_by_ep(row->shape[i]);
    for (size_t i = 0; i < row->arg_count; i++) is_divided = is_divided || is_by_ep(row->args[i].expr);
    return !is_divided;
}

static void test_no_table_forgets_to_divide_its_experts(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const char *name = shapeproof_tables_info(tables, i)->name;
        const struct sp_unit *unit = sp_tables_unit(tables, name);
        for (size_t s = 0; unit && unit->measures & SP_MEASURE_SHARD && s < unit->section_count; s++)
            for (size_t r = 0; r < unit->sections[s].row_count; r++)
                if (forgets_ranks(&unit->sections[s], &unit->sections[s].rows[r]))
                    fail_msg("table %s, group [%s]: experts are not divided", name, unit->sections[s].name);
    }
    shapeproof_tables_free(tables);
}

static const char birds[] = "table bird\n"
                            "model_type \"bird\"\n"
                            "measures active\n"
                            "[embedding]\n"
                            "wte (10, 4) lookup\n"
                            "[wings] for i in 0..n-1\n"
                            "wing.{i} (6, 4) share 1 of 2\n"
                            "[feathers] for i in 0..n-1 for e in 0..E-1 share k of E\n"
                            "feather.{i}.{e}.* plume(4)\n"
                            "[head]\n"
                            "head (10, 4) same as wte\n"
                            "part plume(w)\n"
                            "shaft (w)\n"
                            "barbs (3, w) share 1 of 3\n"
                            "table heron\n"
                            "model_type \"heron\"\n"
                            "measures cache\n"
                            "span = tokens + 1\n"
                            "[wings] for i in 0..1\n"
                            "wing.{i} (6)\n"
                            "[feed] for i in 0..n-1\n"
                            "held = min(span, 4)\n"
                            "fish.{i} (batch, held, 2) state if i > 0\n"
                            "table stork extends heron\n"
                            "model_type \"stork\"\n"
                            "[wings] for i in 0..2\n"
                            "wing.{i} (6)\n"
                            "table ibis extends heron\n"
                            "model_type \"ibis\"\n"
                            "measures cache\n"
                            "[feed]\n"
                            "frog (tokens) state\n"
                            "table egret extends heron\n"
                            "model_type \"egret\"\n"
                            "measures cache\n"
                            "[feed]\n"
                            "table pond\n"
                            "model_type \"pond\"\n"
                            "measures cache\n"
                            "[fish] for i in 0..1\n"
                            "any.{i}.* nest(i) from inner with n = 2 if i > 0\n"
                            "deep.{i}.* heron from inner optional\n"
                            "[surface]\n"
                            "water (tokens, 1 + source_tokens) state if not expanded\n"
                            "part nest(i)\n"
                            "egg.* heron\n"
                            "twig (3)\n"
                            "table lake\n"
                            "model_type \"lake\"\n"
                            "measures cache\n"
                            "only.* stork\n"
                            "table duck extends bird\n"
                            "model_type \"duck\"\n"
                            "E = 5\n"
                            "table goose extends bird\n"
                            "model_type \"goose\"\n"
                            "[beak]\n"
                            "beak (3)\n"
                            "table flock\n"
                            "model_type \"flock\"\n"
                            "measures active\n"
                            "first.* duck\n"
                            "table farm\n"
                            "model_type \"farm\"\n"
                            "measures active\n"
                            "first.* goose\n"
                            "table wren\n"
                            "model_type \"wren\"\n"
                            "measures flops\n"
                            "pairs = causal ? tokens*(tokens + 1)/2 : tokens^2\n"
                            "[embedding]\n"
                            "wte (10, 4) lookup\n"
                            "norm (4)\n"
                            "[wings] for i in 0..1 share 1 of 2\n"
                            "wing.{i} (6, 4)\n"
                            "[nest] times 3\n"
                            "n.* plume(4) times 7\n"
                            "m.* plume(4)\n"
                            "bias (2, 4) times 0\n"
                            "kept (2, 5) buffer\n"
                            "codes (2, 5) times tokens buffer\n"
                            "[head]\n"
                            "head (10, 4) same as wte\n"
                            "[scores] for i in 0..1\n"
                            "scores.{i} (pairs, 5) work\n"
                            "kept.{i} (tokens) state\n"
                            "table tit\n"
                            "model_type \"tit\"\n"
                            "unit image\n"
                            "measures flops\n"
                            "patch (4, 3, 2, 2) times 9\n"
                            "head (5, 4)\n"
                            "table hen\n"
                            "model_type \"hen\"\n"
                            "measures flops\n"
                            "sees.* tit\n"
                            "table owl\n"
                            "model_type \"owl\"\n"
                            "unit token, image\n"
                            "measures flops\n"
                            "head (5, 4)\n"
                            "sees.* tit times 0 - k\n"
                            "table nests\n"
                            "model_type \"nests\"\n"
                            "measures flops\n"
                            "a.* wren\n"
                            "b.* wren share 1 of 2\n"
                            "table raven\n"
                            "model_type \"raven\"\n"
                            "measures shard\n"
                            "pipeline i of n\n"
                            "[nest]\n"
                            "twigs (11 by tp, 4) lookup\n"
                            "[wings] for i in 0..n-1\n"
                            "wing.{i}.* feather(6*4 by tp of 6 \"feathers\", 3)\n"
                            "claw.{i} ((2*4 by tp of 2 replicated \"claws\") + 1, 3)\n"
                            "[chicks] for i in 1..n-1 for e in 0..E-1 by ep\n"
                            "chick.{i}.{e}.* feather(8 by tp, 1)\n"
                            "[eggs] for i in 0..n\n"
                            "egg.{i} (E by ep, 10 by tp)\n"
                            "[roof]\n"
                            "top (11 by tp, 4) same as twigs when tied\n"
                            "crest.* feather(3, 1)\n"
                            "ridge (3) same as crest.shaft\n"
                            "part feather(w, h)\n"
                            "barbs (w, h)\n"
                            "shaft (w)\n"
                            "table crow extends raven\n"
                            "model_type \"crow\"\n"
                            "measures shard\n"
                            "[eggs] for i in [1, 2]\n"
                            "egg.{i} (3)\n"
                            "table hawk\n"
                            "model_type \"hawk\"\n"
                            "measures shard\n"
                            "talon (n by tp of 2 \"heads\")\n"
                            "table rook\n"
                            "model_type \"rook\"\n"
                            "measures shard\n"
                            "one.* raven if n == 5\n"
                            "two.* ibis if n == 4\n";

static struct shapeproof_tables *bird_tables(void)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (shapeproof_tables_add_text(tables, "birds.shapes", birds, strlen(birds), &error) != SHAPEPROOF_OK)
        fail_msg("%s", shapeproof_tables_messages(tables));
    return tables;
}

static void expect_number(const char *config, const char *expression, int64_t expected)
{
    struct shapeproof_tables *tables = bird_tables();
    int64_t value;
    char why[256];
    if (!evaluate(tables, config, expression, &value, why)) fail_msg("%s: %s", expression, why);
    assert_int_equal(value, expected);
    shapeproof_tables_free(tables);
}

static void expect_none(const char *config, const char *why)
{
    struct shapeproof_tables *tables = bird_tables();
    int64_t value;
    char reason[256];
    assert_false(evaluate(tables, config, "active", &value, reason));
    assert_string_equal(reason, why);
    shapeproof_tables_free(tables);
}

static void test_shares_multiply(void **state)
{
    (void)state;
    const char *config = "{\"model_type\": \"bird\", \"n\": 3, \"E\": 4, \"k\": 2}";
    /* wte, once; half of 3*24; of 3*4 plumes half, in which 4 and a third of 12 elements are in use */
    expect_number(config, "active", 40 + 36 + 3 * 4 / 2 * (4 + 4));
    expect_number(config, "active([feathers])", 48);
    expect_number(config, "active([head])", 0);
    expect_number("{\"model_type\": \"duck\", \"n\": 1, \"k\": 1}", "active", 40 + 12 + 8);
    expect_number("{\"model_type\": \"flock\", \"n\": 1, \"k\": 1}", "active", 40 + 12 + 8);
}

/* What counts of a wren for n tokens: of two wings a half, of two plumes a third of 3*4, 7 and 3 times, the codes, and
 * the head. */
static int64_t products_of_wren(int64_t n) { return n * 24 + 4 * 10 + n * 10 + n * 40; }

static void test_matrices_multiply_as_often_as_the_table_says(void **state)
{
    (void)state;
    const char *wren = "{\"model_type\": \"wren\"}", *tit = "{\"model_type\": \"tit\"}";
    expect_number(wren, "flops(tokens=6, attention=none)", 2 * products_of_wren(6));
    expect_number(wren, "flops(tokens=6)", 2 * (products_of_wren(6) + 2 * 36 * 5));
    expect_number(wren, "flops(tokens=6, attention=causal)", 2 * (products_of_wren(6) + 2 * 21 * 5));
    expect_number(wren, "flops(tokens=6, batch=3, pass=training)", 2 * 3 * 3 * (products_of_wren(6) + 2 * 36 * 5));
    expect_number(wren, "flops([scores], tokens=6)", 2 * 2 * 36 * 5);
    expect_number(wren, "flops([embedding], tokens=6)", 0);
    expect_number(wren, "flops(tokens=0)", 2 * 40);
    expect_number(tit, "flops(batch=2)", 2 * 2 * (48 * 9 + 20));
    expect_number("{\"model_type\": \"nests\"}", "flops(tokens=6)", 3 * (products_of_wren(6) + 2 * 36 * 5));
    expect_number("{\"model_type\": \"owl\", \"k\": 0}", "flops(tokens=3, images=1)", 2 * 3 * 20);
    expect_number("{\"model_type\": \"owl\", \"k\": -2}", "flops(tokens=3, images=1)",
                  2 * (3 * 20 + 2 * (48 * 9 + 20)));
}

static void test_flops_that_are_not_known(void **state)
{
    (void)state;
    static const struct {
        const char *type, *expression, *why;
    } cases[] = {{"ibis", "flops(tokens=1)",
                  "the table 'ibis' does not say how often its weights multiply: it has no line 'measures flops'"},
                 {"wren", "flops()", "the table 'wren' is about sequences of tokens: flops(tokens=...)"},
                 {"tit", "flops(tokens=2)", "the table 'tit' is about images: flops(batch=...)"},
                 {"wren", "flops(tokens=-1)", "'tokens' must be a whole number, 0 or more"},
                 {"wren", "flops([sky], tokens=1)", "the table has no group [sky]"},
                 {"hen", "flops(tokens=2)", "the table 'tit' is about images, and what uses it about tokens"},
                 {"owl", "flops(tokens=3, images=1)", "a table multiplies less than 0 times"}};
    struct shapeproof_tables *tables = bird_tables();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value;
        char why[256], config[64];
        snprintf(config, sizeof config, "{\"model_type\": \"%s\", \"k\": 1}", cases[i].type);
        assert_false(evaluate(tables, config, cases[i].expression, &value, why));
        assert_string_equal(why, cases[i].why);
    }
    shapeproof_tables_free(tables);
}

static void test_a_rank_has_its_part_of_what_is_divided(void **state)
{
    (void)state;
    const char *raven = "{\"model_type\": \"raven\", \"n\": 5, \"E\": 6, \"tied\": true}";
    /* twigs; wings and claws of 5 layers; the experts of 4, the eggs of 6, and the crest */
    expect_number(raven, "total", 44 + 5 * (24 * 4 + 9 * 3) + 4 * 6 * 16 + 6 * 60 + 6);
    expect_number(raven, "shard(tp=1) - total", 0);
    expect_number(raven, "shard(tp=2)", 24 + 5 * (12 * 4 + 5 * 3) + 4 * 6 * 8 + 6 * 30 + 6);
    /* 6 feathers of 4 ranks: 2 on the first; each of 2 claws is on two ranks */
    expect_number(raven, "shard(tp=4, dtype=int8)", 12 + 5 * (8 * 4 + 5 * 3) + 4 * 6 * 4 + 6 * 18 + 6);
    expect_number(raven, "shard(ep=4)", 44 + 5 * (24 * 4 + 9 * 3) + 4 * 2 * 16 + 6 * 20 + 6);
    expect_number(raven, "shard(tp=2, ep=6, etp=4)", 24 + 5 * (12 * 4 + 5 * 3) + 4 * 4 + 6 * 3 + 6);
    expect_number(raven, "shard(tp=2, whole=[nest, chicks])", 44 + 5 * (12 * 4 + 5 * 3) + 4 * 6 * 16 + 6 * 30 + 6);
    /* 3 and 2 layers; the first stage has no experts in layer 0; the last one has the egg behind the last layer, twigs
     * of its own, and of the crest no copy for the ridge */
    expect_number(raven, "shard(pp=2)", 44 + 3 * (24 * 4 + 9 * 3) + 2 * 6 * 16 + 3 * 60);
    expect_number(raven, "shard(pp=5)", 44 + 24 * 4 + 9 * 3 + 6 * 16 + 2 * 60 + 6);
    expect_number("{\"model_type\": \"rook\", \"n\": 5, \"E\": 6, \"tied\": true}", "shard(tp=2)",
                  24 + 5 * (12 * 4 + 5 * 3) + 4 * 6 * 8 + 6 * 30 + 6);
}

static void test_shards_that_are_not_known(void **state)
{
    (void)state;
    static const struct {
        const char *type, *n, *expression, *why;
    } cases[] = {{"ibis", "5", "shard(tp=2)",
                  "the table 'ibis' does not say how ranks divide its tensors: it has no line 'measures shard'"},
                 {"rook", "4", "shard(tp=2)",
                  "the table 'ibis' does not say how ranks divide its tensors: it has no line 'measures shard'"},
                 {"rook", "5", "shard(pp=2)",
                  "the table 'rook' does not say which layers pipeline stages divide: it has no line 'pipeline'"},
                 {"raven", "5", "shard(tp=2, whole=[wings, sky])", "the table has no group [sky]"},
                 {"raven", "5", "shard(pp=6)", "5 layers are fewer than 6 stages"},
                 {"hawk", "7", "shard(tp=2)", "the dimension is no multiple of the number of its heads"},
                 {"crow", "5", "shard(pp=2)", "which of these layers a stage has is not known"}};
    struct shapeproof_tables *tables = bird_tables();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value;
        char why[256], config[96];
        snprintf(config, sizeof config, "{\"model_type\": \"%s\", \"n\": %s, \"E\": 6, \"tied\": true}", cases[i].type,
                 cases[i].n);
        assert_false(evaluate(tables, config, cases[i].expression, &value, why));
        assert_string_equal(why, cases[i].why);
    }
    shapeproof_tables_free(tables);
}

static void test_states_are_kept_beside_the_tensors(void **state)
{
    (void)state;
    const char *config = "{\"model_type\": \"heron\", \"n\": 3}";
    expect_number(config, "total", 12);
    expect_number(config, "cache(tokens=2, dtype=bf16)", 2 * 3 * 2 * 2);
    expect_number(config, "cache(tokens=9, batch=5, dtype=f32)", 2 * 5 * 4 * 2 * 4);
    expect_number("{\"model_type\": \"ibis\", \"n\": 3}", "cache(tokens=9, dtype=int8)", 9);
    expect_number("{\"model_type\": \"egret\", \"n\": 3}", "cache(tokens=9, dtype=int8)", 0);
}

static void test_states_of_the_tables_that_one_uses_are_its_own(void **state)
{
    (void)state;
    const char *config = "{\"model_type\": \"pond\", \"inner\": {\"n\": 5}}";
    /* of one heron in a nest, with n = 2, a fish of min(9 + 1, 4) * 2; optional herons have none */
    expect_number(config, "cache(tokens=9, source_tokens=2, dtype=int8)", 8 + 9 * 3);
    expect_number(config, "cache(tokens=9, dtype=int8, form=expanded)", 8);
    expect_number(config, "cache(tokens=9, dtype=int8, batch=2, form=latent, source_tokens=0)", 16 + 9);
}

static void test_what_is_not_said_is_not_known(void **state)
{
    (void)state;
    expect_none("{\"model_type\": \"goose\", \"n\": 3, \"E\": 4, \"k\": 2}",
                "the table 'goose' does not say how much of it a token uses: it has no line 'measures active'");
    struct shapeproof_tables *tables = bird_tables();
    int64_t value;
    char why[256];
    assert_false(evaluate(tables, "{\"model_type\": \"stork\", \"n\": 3}", "cache(tokens=1, dtype=f32)", &value, why));
    assert_string_equal(why, "the table 'stork' does not say what is kept of earlier tokens: it has no line 'measures "
                             "cache'");
    shapeproof_tables_free(tables);
    tables = bird_tables();
    assert_false(evaluate(tables, "{\"model_type\": \"lake\", \"n\": 3}", "cache(tokens=1, dtype=f32)", &value, why));
    assert_string_equal(why, "the table 'stork' does not say what is kept of earlier tokens: it has no line 'measures "
                             "cache'");
    shapeproof_tables_free(tables);
    expect_none("{\"model_type\": \"farm\", \"n\": 3, \"E\": 4, \"k\": 2}",
                "the table 'goose' does not say how much of it a token uses: it has no line 'measures active'");
    expect_none("{\"model_type\": \"bird\", \"n\": 3, \"E\": 4}", "the hyper-parameter 'k' is not set");
    expect_none("{\"model_type\": \"bird\", \"n\": 3, \"E\": 4, \"k\": 5}",
                "more is in use of [feathers] than there is: 5 of 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_active_is_what_transformers_uses),
        cmocka_unit_test(test_the_output_layer_is_that_of_the_vocabulary),
        cmocka_unit_test(test_no_table_forgets_the_share_of_its_experts),
        cmocka_unit_test(test_cache_is_what_transformers_keeps),
        cmocka_unit_test(test_each_cache_is_divided_among_ranks),
        cmocka_unit_test(test_sizes_are_those_of_peft_and_of_optimizers),
        cmocka_unit_test(test_shards_are_those_of_transformers_and_megatron),
        cmocka_unit_test(test_flops_are_what_torch_counts),
        cmocka_unit_test(test_matrices_multiply_as_often_as_the_table_says),
        cmocka_unit_test(test_flops_that_are_not_known),
        cmocka_unit_test(test_a_rank_has_its_part_of_what_is_divided),
        cmocka_unit_test(test_shards_that_are_not_known),
        cmocka_unit_test(test_no_table_forgets_to_divide_its_experts),
        cmocka_unit_test(test_shares_multiply),
        cmocka_unit_test(test_states_are_kept_beside_the_tensors),
        cmocka_unit_test(test_states_of_the_tables_that_one_uses_are_its_own),
        cmocka_unit_test(test_what_is_not_said_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
