/* SPDX-License-Identifier: MIT
 * Single rules of what learnt tables say: shares that are rounded up, cases by a list, what a tie implies. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/lessons.h"

/* Two thirds of the inner width, rounded up to what the configuration says: where each example has another multiple. */
static void a_share_is_rounded_up(void **state)
{
    static const struct {
        const char *config;
        uint64_t width, inner;
    } made[] = {{"{\"width\": 20, \"inner\": 776, \"multiple_of\": 32}", 20, 544},
                {"{\"width\": 12, \"inner\": 4640, \"multiple_of\": 64}", 12, 3136},
                {"{\"width\": 36, \"inner\": 1032, \"multiple_of\": 16}", 36, 688},
                {"{\"width\": 52, \"inner\": 2345, \"multiple_of\": 48}", 52, 1584}};
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        lesson_begin(&problem, made[i].config);
        lesson_add(&problem, "mlp.up.weight", SHAPE(made[i].inner, made[i].width));
        lesson_add(&problem, "mlp.down.weight", SHAPE(made[i].width, made[i].inner));
    }
    assert_learns(&problem);
    assert_says(&problem, "mlp.up.weight     (round_up(2*I // 3, M), W)");
    assert_says(&problem, "mlp.down.weight   (W, round_up(2*I // 3, M))");
    lesson_close(&problem);
}

/* A real number is cut before it is rounded. */
static void a_product_is_rounded_up(void **state)
{
    static const struct {
        const char *config;
        uint64_t width, inner;
    } made[] = {{"{\"width\": 171, \"factor\": 2.667, \"round_up_to_multiple_of\": 3}", 171, 456},
                {"{\"width\": 342, \"factor\": 2.667, \"round_up_to_multiple_of\": 8}", 342, 912},
                {"{\"width\": 768, \"factor\": 1.33, \"round_up_to_multiple_of\": 5}", 768, 1025}};
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        lesson_begin(&problem, made[i].config);
        lesson_add(&problem, "up.weight", SHAPE(made[i].inner, made[i].width));
    }
    assert_learns(&problem);
    assert_says(&problem, "round_up(int(W*F), R)");
    lesson_close(&problem);
}

/* As Python's round() does it, a half to the even number: 25*0.5 is 12. */
static void a_product_is_rounded(void **state)
{
    static const struct {
        const char *config;
        uint64_t width, inner;
    } made[] = {{"{\"width\": 32, \"factor\": 0.33}", 32, 11},
                {"{\"width\": 48, \"factor\": 0.67}", 48, 32},
                {"{\"width\": 25, \"factor\": 0.5}", 25, 12},
                {"{\"width\": 24, \"factor\": 2.19}", 24, 53}};
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        lesson_begin(&problem, made[i].config);
        lesson_add(&problem, "up.weight", SHAPE(made[i].inner, made[i].width));
    }
    assert_learns(&problem);
    assert_says(&problem, "(round(W*F), W)");
    lesson_close(&problem);
}

static void add_layers_of_kinds(struct problem *problem, const char *config, const char *kinds, const uint64_t *widths)
{
    lesson_begin(problem, config);
    for (size_t i = 0; kinds[i]; i++) {
        const bool near = kinds[i] == 'n';
        lesson_addf(problem, SHAPE(near ? widths[1] : widths[2], widths[0]), "layers.%zu.keys.weight", i);
    }
}

/* What a list says of the layer is a likelier case than any number that the index may be compared with. */
static void a_case_asks_the_list(void **state)
{
    struct problem problem = {0};
    (void)state;
    add_layers_of_kinds(&problem,
                        "{\"width\": 10, \"heads\": 3, \"near_heads\": 2, \"head\": 4, \"near_head\": 6, \"a\": 1, "
                        "\"b\": 2, \"c\": 3, \"d\": 5, \"kinds\": [\"near\", \"far\", \"near\", \"near\"]}",
                        "nfnn", (const uint64_t[]){10, 12, 12});
    add_layers_of_kinds(&problem,
                        "{\"width\": 14, \"heads\": 5, \"near_heads\": 2, \"head\": 8, \"near_head\": 3, \"a\": 1, "
                        "\"b\": 2, \"c\": 3, \"d\": 5, \"kinds\": [\"far\", \"far\", \"near\"]}",
                        "ffn", (const uint64_t[]){14, 6, 40});
    add_layers_of_kinds(&problem,
                        "{\"width\": 18, \"heads\": 7, \"near_heads\": 4, \"head\": 9, \"near_head\": 11, \"a\": 1, "
                        "\"b\": 2, \"c\": 3, \"d\": 5, \"kinds\": [\"near\", \"near\", \"far\", \"near\", \"far\"]}",
                        "nnfnf", (const uint64_t[]){18, 44, 63});
    assert_learns(&problem);
    assert_says(&problem, "kinds[i] == \"");
    lesson_close(&problem);
}

/* A head that is there where nothing is tied has the shape of what it would be tied to: the one that there is says no
 * more of it than that. */
static void a_head_is_as_its_embedding(void **state)
{
    static const struct {
        const char *config;
        uint64_t symbols, width;
        bool head;
    } made[] = {
        {"{\"projection_dim\": 12, \"hidden\": 8, \"vocab_size\": 50, \"tie_word_embeddings\": true}", 50, 8, false},
        {"{\"projection_dim\": 10, \"hidden\": 10, \"vocab_size\": 61, \"tie_word_embeddings\": false}", 61, 10, true},
        {"{\"projection_dim\": 6, \"hidden\": 14, \"vocab_size\": 77, \"tie_word_embeddings\": true}", 77, 14, false}};
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        lesson_begin(&problem, made[i].config);
        lesson_add(&problem, "embed_tokens.weight", SHAPE(made[i].symbols, made[i].width));
        if (made[i].head) lesson_add(&problem, "lm_head.weight", SHAPE(made[i].symbols, made[i].width));
    }
    assert_learns(&problem);
    assert_says(&problem, "lm_head.weight        (V, H)   same as embed_tokens.weight when tie_word_embeddings");
    lesson_close(&problem);
}

/* "head" is an output layer, which a tie decides, though a count of heads would do as well. */
static void a_head_is_no_head_of_attention(void **state)
{
    static const struct {
        const char *config;
        uint64_t symbols, width;
        bool head;
    } made[] = {
        {"{\"hidden\": 8, \"vocab_size\": 50, \"num_kv_heads\": 2, \"tie_word_embeddings\": false}", 50, 8, true},
        {"{\"hidden\": 10, \"vocab_size\": 61, \"num_kv_heads\": 3, \"tie_word_embeddings\": false}", 61, 10, true},
        {"{\"hidden\": 14, \"vocab_size\": 77, \"num_kv_heads\": 1, \"tie_word_embeddings\": true}", 77, 14, false}};
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        lesson_begin(&problem, made[i].config);
        lesson_add(&problem, "emb.weight", SHAPE(made[i].symbols, made[i].width));
        if (made[i].head) lesson_add(&problem, "head.weight", SHAPE(made[i].symbols, made[i].width));
    }
    assert_learns(&problem);
    assert_says(&problem, "head.weight   (V, H)   same as emb.weight when tie_word_embeddings");
    lesson_close(&problem);
}

/* An adapter, which a flag adds, with a projection where two widths differ: in one example alone, and there one flag
 * or another would do. */
static void a_projection_is_where_widths_differ(void **state)
{
    static const struct {
        const char *config;
        uint64_t from, to;
        bool adapter;
    } made[] = {{"{\"hidden_size\": 8, \"output_size\": 12, \"add_adapter\": false, \"one\": true, \"two\": false}", 8,
                 12, false},
                {"{\"hidden_size\": 16, \"output_size\": 16, \"add_adapter\": true, \"one\": false, \"two\": false}",
                 16, 16, true},
                {"{\"hidden_size\": 10, \"output_size\": 14, \"add_adapter\": true, \"one\": true, \"two\": true}", 10,
                 14, true},
                {"{\"hidden_size\": 22, \"output_size\": 22, \"add_adapter\": true, \"one\": true, \"two\": false}", 22,
                 22, true},
                {"{\"hidden_size\": 22, \"output_size\": 9, \"add_adapter\": false, \"one\": false, \"two\": true}", 22,
                 9, false}};
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        lesson_begin(&problem, made[i].config);
        lesson_add(&problem, "encoder.norm.weight", SHAPE(made[i].from));
        if (made[i].adapter && made[i].from != made[i].to) {
            lesson_add(&problem, "adapter.proj.bias", SHAPE(made[i].to));
            lesson_add(&problem, "adapter.proj.weight", SHAPE(made[i].to, made[i].from));
        }
        if (made[i].adapter) lesson_add(&problem, "adapter.conv.weight", SHAPE(made[i].to, made[i].to));
    }
    assert_learns(&problem);
    assert_says(&problem, "adapter.proj.*        linear(O, H)   if add_adapter and H != O");
    lesson_close(&problem);
}

/* Where every example says how wide a head is, nothing is asked of the width of the model. */
static void a_width_need_not_be_heads(void **state)
{
    static const char *const configs[] = {
        "{\"hidden_size\": 16, \"num_attention_heads\": 4, \"head_dim\": 6}",
        "{\"hidden_size\": 24, \"num_attention_heads\": 3, \"head_dim\": 10}",
        "{\"hidden_size\": 40, \"num_attention_heads\": 5, \"head_dim\": 4}",
    };
    static const uint64_t shapes[][2] = {{24, 16}, {30, 24}, {20, 40}};
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        lesson_begin(&problem, configs[i]);
        lesson_add(&problem, "q_proj.weight", 2, shapes[i]);
    }
    assert_learns(&problem);
    assert_null(strstr(shapeproof_learning_text(problem.learning), "whole"));
    lesson_close(&problem);
}

/* A width of heads that no size needs, that an example leaves out, or that is one of another part of the model, leaves
 * the heads to divide the width of the model. */
static void a_width_is_divided_by_heads(void **state)
{
    static const struct {
        const char *configs[3];
        uint64_t shapes[3][2], picture[3];
    } cases[] = {
        {{"{\"hidden_size\": 16, \"num_attention_heads\": 4, \"head_dim\": 6}",
          "{\"hidden_size\": 24, \"num_attention_heads\": 3, \"head_dim\": 10}",
          "{\"hidden_size\": 40, \"num_attention_heads\": 5, \"head_dim\": 4}"},
         {{16, 16}, {24, 24}, {40, 40}},
         {0}},
        {{"{\"hidden_size\": 16, \"num_attention_heads\": 4, \"head_dim\": 6}",
          "{\"hidden_size\": 24, \"num_attention_heads\": 3, \"head_dim\": 10}",
          "{\"hidden_size\": 40, \"num_attention_heads\": 5}"},
         {{24, 16}, {30, 24}, {40, 40}},
         {0}},
        {{"{\"hidden_size\": 16, \"num_attention_heads\": 4, \"vision\": {\"head_dim\": 7}}",
          "{\"hidden_size\": 24, \"num_attention_heads\": 3, \"vision\": {\"head_dim\": 11}}",
          "{\"hidden_size\": 40, \"num_attention_heads\": 5, \"vision\": {\"head_dim\": 9}}"},
         {{16, 16}, {24, 24}, {40, 40}},
         {7, 11, 9}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem problem = {0};
        for (size_t e = 0; e < 3; e++) {
            lesson_begin(&problem, cases[i].configs[e]);
            lesson_add(&problem, "q_proj.weight", 2, cases[i].shapes[e]);
            if (cases[i].picture[e]) lesson_add(&problem, "vision.norm.weight", 1, &cases[i].picture[e]);
        }
        assert_learns(&problem);
        assert_says(&problem, "require whole, \"in every example the heads divide the width\"\n");
        lesson_close(&problem);
    }
}

static void add_stages(struct problem *problem, const char *config, const uint64_t *widths, size_t stages,
                       uint64_t classes)
{
    lesson_begin(problem, config);
    for (size_t s = 0; s < stages; s++)
        for (size_t b = 0; b < 2; b++) {
            lesson_addf(problem, SHAPE(widths[s], 1, 7, 7), "stages.%zu.layers.%zu.dwconv.weight", s, b);
        }
    lesson_add(problem, "head.1.weight", SHAPE(classes, widths[stages - 1]));
}

/* Each stage has two blocks in all examples: the list of depths says so all the same. A kernel is a number rather than
 * something and three, and the 1 of a head is no loop. */
static void a_list_has_the_iterations(void **state)
{
    struct problem problem = {0};
    (void)state;
    add_stages(&problem, "{\"widths\": [10, 14, 26, 30], \"depths\": [2, 2, 2, 2], \"num_stages\": 4, \"classes\": 9}",
               (const uint64_t[]){10, 14, 26, 30}, 4, 9);
    add_stages(&problem, "{\"widths\": [8, 12, 22, 34], \"depths\": [2, 2, 2, 2], \"num_stages\": 4, \"classes\": 5}",
               (const uint64_t[]){8, 12, 22, 34}, 4, 5);
    assert_learns(&problem);
    assert_says(&problem, "for i in 0..S-1 for j in 0..depths[i]-1");
    assert_says(&problem, "(widths[i], 1, 7, 7)");
    assert_says(&problem, "head.1.weight                         (C, widths[len(widths) - 1])");
    lesson_close(&problem);
}

/* What `check` chooses a table by: the type and the classes, or what timm calls it. */
static void the_head_says_what_is_served(void **state)
{
    static const char *const heads[][3] = {
        {"{\"model_type\": \"mine\", \"architectures\": [\"MineModel\"], \"width\": 6}",
         "{\"model_type\": \"mine\", \"architectures\": [\"MineForTags\"], \"width\": 9}",
         "model_type \"mine\"\narchitectures \"MineModel\", \"MineForTags\"\n"},
        {"{\"architectures\": [\"MineModel\"], \"width\": 6}", "{\"architectures\": [\"MineModel\"], \"width\": 9}",
         "architectures \"MineModel\"\n"},
        {"{\"architecture\": \"mine50\", \"width\": 6}", "{\"architecture\": \"mine101\", \"width\": 9}",
         "architectures \"mine50\", \"mine101\"\n"},
        {"{\"model_type\": \"mine\", \"width\": 6}", "{\"model_type\": \"mine\", \"width\": 9}",
         "model_type \"mine\"\n\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct problem problem = {0};
        for (size_t k = 0; k < 2; k++) {
            lesson_begin(&problem, heads[i][k]);
            lesson_add(&problem, "weight", SHAPE(k ? 9 : 6));
        }
        assert_learns(&problem);
        assert_says(&problem, heads[i][2]);
        lesson_close(&problem);
    }
}

/* What a table predicts for the inner configuration, behind a prefix. */
static void add_inner(struct problem *problem, const char *config, const char *prefix)
{
    struct model inner;
    model_open(&inner, config);
    model_predict(&inner, 0);
    for (size_t i = 0; i < inner.count; i++) {
        char name[200];
        snprintf(name, sizeof name, "%s%s", prefix, inner.parts[i].name);
        lesson_add(problem, name, inner.parts[i].rank, inner.parts[i].shape);
    }
    model_close(&inner);
}

#define SEER "\"model_type\": \"seer\", \"bridge\": true, "
#define WORDS "\"model_type\": \"llama\", \"num_attention_heads\": 2, \"num_hidden_layers\": 2, "
#define SMALL WORDS "\"vocab_size\": 40, \"hidden_size\": 8, \"intermediate_size\": 20}"
#define LARGE WORDS "\"vocab_size\": 50, \"hidden_size\": 12, \"intermediate_size\": 34, \"mlp_bias\": true}"
#define ODD WORDS "\"vocab_size\": 60, \"hidden_size\": 16, \"intermediate_size\": 31}"
#define BASE "{\"architectures\": [\"LlamaModel\"], "

/* A configuration within the configuration, of a model that a table knows: the table is used, and nothing is doubted
 * of what it says. */
static void an_inner_model_is_its_table(void **state)
{
    struct problem problem = {0};
    (void)state;
    lesson_begin(&problem, "{" SEER "\"width\": 5, \"text_config\": {" SMALL "}");
    lesson_add(&problem, "bridge.weight", SHAPE(8, 5));
    add_inner(&problem, BASE SMALL, "language_model.");
    lesson_begin(&problem, "{" SEER "\"width\": 7, \"text_config\": {" LARGE "}");
    lesson_add(&problem, "bridge.weight", SHAPE(12, 7));
    add_inner(&problem, BASE LARGE, "language_model.");
    assert_learns(&problem);
    assert_says(&problem, "[text]\nlanguage_model.*   llama from text_config with architectures = [\"LlamaModel\"]\n");
    assert_null(strstr(shapeproof_learning_text(problem.learning), "language_model.layers"));
    lesson_close(&problem);
}

/* A head that is tied in every example: whether there is one where it is not, these do not say. */
static void a_head_that_none_has_is_not_taken(void **state)
{
    struct problem problem = {0};
    (void)state;
    lesson_begin(&problem, "{" SEER "\"width\": 5, \"text_config\": {\"tie_word_embeddings\": true, " SMALL "}");
    add_inner(&problem, BASE SMALL, "words.model.");
    lesson_begin(&problem, "{" SEER "\"width\": 7, \"text_config\": {\"tie_word_embeddings\": true, " LARGE "}");
    add_inner(&problem, BASE LARGE, "words.model.");
    assert_learns(&problem);
    assert_says(&problem, "words.model.*   llama from text_config with architectures = [\"LlamaModel\"]");
    lesson_close(&problem);
}

/* One tensor of it has another shape: then it is no such model, and its rows are its own. */
static void an_inner_model_that_differs_is_its_own(void **state)
{
    struct problem problem = {0};
    (void)state;
    lesson_begin(&problem, "{" SEER "\"width\": 5, \"text_config\": {" SMALL "}");
    add_inner(&problem, BASE SMALL, "language_model.");
    lesson_begin(&problem, "{" SEER "\"width\": 7, \"text_config\": {" ODD "}");
    add_inner(&problem, BASE SMALL, "language_model.");
    lesson_learn(&problem);
    assert_null(strstr(shapeproof_learning_text(problem.learning), "from text_config"));
    lesson_close(&problem);
}

/* ---- lists and numbers ---- */

/* What the text predicts for each example, whatever it leaves out. */
static void assert_expands(const struct problem *problem)
{
    struct shapeproof_error error = {0};
    const char *text = shapeproof_learning_text(problem->learning);
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (shapeproof_tables_add_text(tables, "learnt.shapes", text, strlen(text), &error) != SHAPEPROOF_OK)
        fail_msg("%s\n%s", error.message, text);
    for (size_t e = 0; e < problem->count; e++) {
        struct shapeproof_prediction *prediction = shapeproof_predict(
            tables, problem->models[e]->config, &(struct shapeproof_predict_options){.table = "learnt_here"}, &error);
        if (!prediction) fail_msg("%s\n%s", error.message, text);
        for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
            const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
            const size_t there = shapeproof_inventory_find(problem->examples[e].inventory, tensor->name);
            if (there == SHAPEPROOF_NONE) fail_msg("%s is in no example\n%s", tensor->name, text);
        }
        shapeproof_prediction_free(prediction);
    }
    shapeproof_tables_free(tables);
}

static void add_blocks(struct problem *problem, uint64_t width, const uint64_t *depths, size_t stages)
{
    for (uint64_t s = 0; s < stages; s++)
        for (uint64_t i = 0; i < depths[s]; i++)
            lesson_addf(problem, 2, (const uint64_t[]){width << s, width}, "stage.%d.%d.w", (int)s, (int)i);
    lesson_add(problem, "head.weight", 2, (const uint64_t[]){10, width});
}

/* A transformer that counts its blocks, and a network of stages that lists them. */
static void a_list_may_be_a_number_elsewhere(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    const uint64_t blocks[] = {5, 3};
    lesson_begin(&problem, "{\"depth\": [2, 3], \"dim\": 8}");
    add_blocks(&problem, 8, (const uint64_t[]){2, 3}, 2);
    lesson_begin(&problem, "{\"depth\": [1, 4, 2], \"dim\": 16}");
    add_blocks(&problem, 16, (const uint64_t[]){1, 4, 2}, 3);
    for (size_t k = 0; k < 2; k++) {
        const uint64_t width = k ? 20 : 12;
        lesson_beginf(&problem, "{\"depth\": %d, \"dim\": %d}", (int)blocks[k], (int)width);
        for (uint64_t i = 0; i < blocks[k]; i++)
            lesson_addf(&problem, 2, (const uint64_t[]){width, width}, "blocks.%d.w", (int)i);
        add_blocks(&problem, width, NULL, 0);
    }
    assert_learns(&problem);
    assert_says(&problem, "if at(L, 0) == L for i in 0..L-1");
    assert_says(&problem, "if at(L, 0) != L for i in 0..len(L)-1 for j in 0..L[i]-1");
    assert_expands(&problem);
    lesson_close(&problem);
}

/* One number of heads for all stages, or one for each. */
static void a_number_stands_for_every_item(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    static const char *const configs[] = {"{\"widths\": [32, 64], \"heads\": [2, 4]}",
                                          "{\"widths\": [24, 48, 96], \"heads\": 3}",
                                          "{\"widths\": [40, 80, 160], \"heads\": [1, 5, 9]}"};
    static const uint64_t widths[][3] = {{32, 64}, {24, 48, 96}, {40, 80, 160}},
                          heads[][3] = {{2, 4}, {3, 3, 3}, {1, 5, 9}};
    for (size_t e = 0; e < 3; e++) {
        lesson_begin(&problem, configs[e]);
        for (size_t s = 0; s < 3 && widths[e][s]; s++)
            lesson_addf(&problem, 2, (const uint64_t[]){16 * heads[e][s], widths[e][s]}, "stages.%zu.query.weight", s);
    }
    assert_learns(&problem);
    assert_says(&problem, "(16*at(H, i), widths[i])");
    lesson_close(&problem);
}

/* The list of a part that only some models have. */
static void a_loop_is_begun_where_its_list_is(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    static const char *const configs[] = {"{\"width\": 8, \"vision\": {\"channels\": [4, 6]}}", "{\"width\": 12}",
                                          "{\"width\": 10, \"vision\": {\"channels\": [5, 7, 9]}}",
                                          "{\"width\": 14, \"vision\": null}"};
    static const uint64_t channels[][4] = {{3, 4, 6}, {0}, {3, 5, 7, 9}, {0}}, widths[] = {8, 12, 10, 14};
    for (size_t e = 0; e < 4; e++) {
        lesson_begin(&problem, configs[e]);
        for (size_t i = 1; i < 4 && channels[e][i]; i++)
            lesson_addf(&problem, 2, (const uint64_t[]){channels[e][i], channels[e][i - 1]}, "vision.%zu.weight",
                        i - 1);
        lesson_add(&problem, "out.weight", 2, (const uint64_t[]){widths[e], widths[e]});
    }
    assert_learns(&problem);
    assert_expands(&problem);
    lesson_close(&problem);
}

/* Names that no table can write. */
static void what_cannot_be_written_is_left_out(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    for (uint64_t e = 0; e < 3; e++) {
        const uint64_t width = 8 + 3 * e;
        lesson_beginf(&problem, "{\"width\": %d, \"layers\": %d}", (int)width, (int)(2 + e));
        for (uint64_t i = 0; i < 2 + e; i++) {
            lesson_addf(&problem, 1, &width, "odd{%d}.w", (int)i);
            lesson_addf(&problem, 1, &width, "even.%d.w", (int)i);
        }
        lesson_add(&problem, "star*", 1, &width);
    }
    lesson_learn(&problem);
    assert_false(shapeproof_learning_is_proved(problem.learning));
    assert_int_equal(shapeproof_learning_rest_count(problem.learning), 2);
    assert_says(&problem, "even.{i}.w");
    assert_expands(&problem);
    lesson_close(&problem);
}

/* ---- what is undecided ---- */

/* Every second layer has experts, and two of three heads are tied. That i % 2 is 1 and that it is not 0 are one
 * condition, and so are i > 0 and i != 0; the flag of the tie has an effect. */
static void equivalents_are_no_alternatives(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    for (uint64_t e = 0; e < 3; e++) {
        const uint64_t width = 8 + 3 * e, words = 50 + 11 * e;
        lesson_beginf(&problem, "{\"width\": %d, \"vocab_size\": %d, \"layers\": %d, \"tie_word_embeddings\": %s}",
                      (int)width, (int)words, (int)(4 + e), e == 1 ? "false" : "true");
        lesson_add(&problem, "emb.weight", SHAPE(words, width));
        if (e == 1) lesson_add(&problem, "head.weight", SHAPE(words, width));
        for (uint64_t i = 0; i < 4 + e; i++) {
            lesson_addf(&problem, SHAPE(width, width), "b.%d.q.weight", (int)i);
            if (i % 2) lesson_addf(&problem, SHAPE(width, 2 * width), "b.%d.router.weight", (int)i);
            if (i) lesson_addf(&problem, SHAPE(width, 3 * width), "b.%d.mix.weight", (int)i);
        }
    }
    assert_learns(&problem);
    assert_says(&problem, "when tie_word_embeddings");
    assert_null(strstr(shapeproof_learning_unvaried(problem.learning), "tie_word_embeddings"));
    for (size_t i = 0; i < shapeproof_learning_undecided_count(problem.learning); i++) {
        const char *other = shapeproof_learning_undecided(problem.learning, i)->alternatives;
        if (strstr(other, "i % 2") || strstr(other, "i != 0") || strstr(other, "i > 0")) fail_msg("%s", other);
    }
    lesson_close(&problem);
}

/* ---- conditions that hold by accident ---- */

/* Whether the row's condition is said to be undecided, with that expression chosen. */
static bool is_undecided(const struct problem *problem, const char *row, const char *chosen)
{
    for (size_t i = 0; i < shapeproof_learning_undecided_count(problem->learning); i++) {
        const struct shapeproof_undecided *undecided = shapeproof_learning_undecided(problem->learning, i);
        if (strcmp(undecided->chosen, chosen) != 0) continue;
        for (size_t k = 0; k < undecided->places; k++) {
            const struct shapeproof_undecided_place *place =
                shapeproof_learning_undecided_place(problem->learning, i, k);
            if (place->dimension < 0 && strcmp(place->row, row) == 0) return true;
        }
    }
    return false;
}

static const char *const levels[] = {
    "{\"out\": 2, \"res_units\": 2, \"width\": 8, \"channels\": [8, 9, 11]}",
    "{\"out\": 4, \"res_units\": 2, \"width\": 11, \"channels\": [12, 14, 15, 13]}",
    "{\"out\": 5, \"res_units\": 2, \"width\": 13, \"channels\": [16, 19]}",
};

/* A module that is there for one of three examples, where two keys agree: that they do may be an accident. */
static void numbers_agree_by_accident(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    static const uint64_t widths[] = {8, 11, 13}, outs[] = {2, 4, 5};
    for (size_t e = 0; e < 3; e++) {
        lesson_begin(&problem, levels[e]);
        lesson_add(&problem, "out.weight", 2, (const uint64_t[]){outs[e], widths[e]});
        if (e == 0) lesson_add(&problem, "residual.unit.weight", 2, (const uint64_t[]){outs[e], 1});
    }
    assert_learns(&problem);
    assert_true(is_undecided(&problem, "residual.unit.weight", "out == res_units"));
    lesson_close(&problem);
}

/* What is there from so many channels on; the number itself no example decides. */
static void a_list_is_long_enough(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    static const uint64_t widths[] = {8, 11, 13};
    for (size_t e = 0; e < 3; e++) {
        lesson_begin(&problem, levels[e]);
        lesson_add(&problem, "first.weight", 2, (const uint64_t[]){widths[e], 4});
        if (e < 2) lesson_add(&problem, "channels.deep.weight", 2, (const uint64_t[]){widths[e], widths[e]});
    }
    assert_learns(&problem);
    assert_says(&problem, "if len(channels) > 2");
    assert_true(is_undecided(&problem, "channels.deep.weight", "len(channels) > 2"));
    lesson_close(&problem);
}

/* ---- what becomes of a fraction ---- */

/* Widths of 10, 14, 24 and 33 times 1.25, 2.2, 0.4 and 1.7: 12.5, 30.8, 9.6, 56.1. */
static void learn_fractions(struct problem *problem, const uint64_t *inner)
{
    static const char *const configs[] = {
        "{\"width\": 10, \"factor\": 1.25, \"multiple\": 5}", "{\"width\": 14, \"factor\": 2.2, \"multiple\": 7}",
        "{\"width\": 24, \"factor\": 0.4, \"multiple\": 3}", "{\"width\": 33, \"factor\": 1.7, \"multiple\": 9}"};
    static const uint64_t widths[] = {10, 14, 24, 33};
    *problem = (struct problem){.count = 0};
    for (size_t e = 0; e < 4; e++) {
        lesson_begin(problem, configs[e]);
        lesson_add(problem, "up.weight", SHAPE(inner[e], widths[e]));
    }
    assert_learns(problem);
}

static void a_fraction_becomes_a_width(void **state)
{
    (void)state;
    static const struct {
        uint64_t inner[4];
        const char *says;
    } made[] = {{{12, 30, 9, 56}, "(int(W*F), W)"},
                {{12, 31, 10, 56}, "(round(W*F), W)"},
                {{13, 31, 10, 57}, "(-(-W*F // 1), W)"},
                {{16, 32, 16, 56}, "(near_multiple(W*F, 8), W)"},
                {{15, 35, 9, 63}, "(round_up(int(W*F), M), W)"},
                {{8, 24, 8, 56}, "(8*(int(W*F) // 8), W)"},
                {{8, 6, 60, 19}, "(W // F, W)"}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        struct problem problem;
        learn_fractions(&problem, made[i].inner);
        assert_says(&problem, made[i].says);
        lesson_close(&problem);
    }
}

/* Where no example has told the roundings apart, the others are named. */
static void roundings_are_undecided(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    static const char *const configs[] = {"{\"width\": 10, \"factor\": 2.5}", "{\"width\": 20, \"factor\": 1.5}",
                                          "{\"width\": 8, \"factor\": 0.5}"};
    static const uint64_t widths[] = {10, 20, 8}, inner[] = {25, 30, 4};
    for (size_t e = 0; e < 3; e++) {
        lesson_begin(&problem, configs[e]);
        lesson_add(&problem, "up.weight", SHAPE(inner[e], widths[e]));
    }
    assert_learns(&problem);
    assert_says(&problem, "width*factor or int(width*factor), round(width*factor), -(-width*factor // 1)");
    lesson_close(&problem);
}

/* A number that is part of a size, and that a key has in all examples, may be that key. */
static void a_number_may_be_a_key(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    static const char *const configs[] = {"{\"width\": 22, \"parts\": 4}", "{\"width\": 35, \"parts\": 4}",
                                          "{\"width\": 49, \"parts\": 4}"};
    static const uint64_t widths[] = {22, 35, 49};
    for (size_t e = 0; e < 3; e++) {
        lesson_begin(&problem, configs[e]);
        lesson_add(&problem, "up.weight", SHAPE(widths[e] / 4, widths[e]));
    }
    assert_learns(&problem);
    assert_says(&problem, "the 4 of width // 4 or parts: equal in all examples that have these tensors:\n#     in "
                          "up.weight\n");
    lesson_close(&problem);
}

/* ---- parameters and buffers ---- */

/* Of tensors of one dtype no file says which are buffers: names do, or it is said that nobody knows. */
static void a_buffer_is_known_or_said(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    for (uint64_t e = 0; e < 3; e++) {
        const uint64_t width = 8 + 3 * e, length = 30 + 7 * e * e;
        lesson_beginf(&problem, "{\"width\": %d, \"length\": %d}", (int)width, (int)length);
        static const char *const norm[] = {"weight", "bias", "running_mean", "running_var"};
        for (size_t i = 0; i < 4; i++) {
            lesson_addf(&problem, 1, &width, "frozen.%s", norm[i]);
            lesson_addf(&problem, 1, &width, "norm.%s", norm[i]);
        }
        lesson_add(&problem, "norm.num_batches_tracked", 0, NULL);
        lesson_add(&problem, "angles", 1, &width);
        lesson_add(&problem, "linear.weight", 2, (const uint64_t[]){width, width});
        lesson_add(&problem, "attention.bias", 4, (const uint64_t[]){1, 1, length, length});
    }
    assert_learns(&problem);
    assert_says(&problem, "a parameter or a buffer: no file says which it is\n#     in ");
    static const char *const rows[] = {"frozen.weight", "frozen.bias", "angles", "attention.bias"};
    size_t said = 0;
    for (size_t i = 0; i < shapeproof_learning_undecided_count(problem.learning); i++)
        for (size_t k = 0; k < shapeproof_learning_undecided(problem.learning, i)->places; k++) {
            const struct shapeproof_undecided_place *place =
                shapeproof_learning_undecided_place(problem.learning, i, k);
            if (place->dimension != -2) continue;
            assert_string_equal(place->row, rows[said++]);
        }
    assert_int_equal(said, 4);
    lesson_close(&problem);
}

/* ---- sizes that a list says ---- */

/* Of loops that begin at 1, of two layers for each item, and of the last but one. */
static void sizes_are_items_of_a_list(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    static const char *const configs[] = {"{\"sizes\": [16, 32, 64], \"inputs\": 5}",
                                          "{\"sizes\": [8, 24], \"inputs\": 6}",
                                          "{\"sizes\": [12, 20, 36, 44], \"inputs\": 7}"};
    static const uint64_t sizes[][4] = {{16, 32, 64}, {8, 24}, {12, 20, 36, 44}}, counts[] = {3, 2, 4};
    for (uint64_t e = 0; e < 3; e++) {
        uint64_t before = 5 + e, below = 5 + e;
        lesson_begin(&problem, configs[e]);
        for (uint64_t i = 0; i < counts[e]; i++) {
            lesson_addf(&problem, 2, (const uint64_t[]){sizes[e][i], before}, "layer%d.weight", (int)i + 1);
            lesson_addf(&problem, 1, &sizes[e][i], i ? "x_%d" : "x", (int)i);
            for (uint64_t k = 2 * i; k < 2 * i + 2; k++) {
                lesson_addf(&problem, 2, (const uint64_t[]){below, sizes[e][i]}, k ? "conv_%d.kernel" : "conv.kernel",
                            (int)k);
                below = sizes[e][i];
            }
            before = sizes[e][i];
        }
        lesson_add(&problem, "up.kernel", 2, (const uint64_t[]){sizes[e][counts[e] - 1], sizes[e][counts[e] - 2]});
    }
    assert_learns(&problem);
    assert_says(&problem, "(sizes[i - 1], i == 1 ? I : sizes[i - 2])");
    assert_says(&problem, "(sizes[(i - 1) // 2], sizes[i // 2])");
    assert_says(&problem, "(sizes[len(sizes) - 1], sizes[len(sizes) - 2])");
    assert_says(&problem, "(sizes[0])");
    assert_says(&problem, "(sizes[i])");
    lesson_close(&problem);
}

/* "full" for all layers, or a word for each. */
static void a_word_stands_for_every_item(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    static const char *const configs[] = {"{\"layers\": 3, \"width\": 8, \"kinds\": [\"full\", \"conv\", \"full\"]}",
                                          "{\"layers\": 2, \"width\": 12, \"kinds\": \"full\"}",
                                          "{\"layers\": 4, \"width\": 10, \"kinds\": \"conv\"}"};
    static const char *const kinds[] = {"fcf", "ff", "cccc"};
    static const uint64_t widths[] = {8, 12, 10};
    for (size_t e = 0; e < 3; e++) {
        lesson_begin(&problem, configs[e]);
        for (size_t i = 0; kinds[e][i]; i++)
            lesson_addf(&problem, 2, (const uint64_t[]){widths[e], widths[e]},
                        kinds[e][i] == 'f' ? "layers.%zu.attention.weight" : "layers.%zu.conv.weight", i);
    }
    assert_learns(&problem);
    assert_says(&problem, "if at(kinds, i) == \"full\"");
    lesson_close(&problem);
}

/* Features, and how many values each has, and how wide its embedding is. */
static void an_object_says_it_by_name(void **state)
{
    (void)state;
    struct problem problem = {.count = 0};
    static const struct {
        const char *config, *names[3];
        uint64_t width, sizes[3][2];
    } made[] = {{"{\"features\": [\"user\", \"item\"], \"width\": 8, \"rows\": {\"item\": 50, \"user\": 100}, "
                 "\"tables\": {\"user\": [101, 3], \"item\": [51, 5]}}",
                 {"user", "item"},
                 8,
                 {{100, 3}, {50, 5}}},
                {"{\"features\": [\"city\", \"day\", \"shop\"], \"width\": 6, \"rows\": {\"city\": 30, \"day\": 7, "
                 "\"shop\": 12}, \"tables\": {\"city\": [31, 4], \"day\": [8, 2], \"shop\": [13, 9]}}",
                 {"city", "day", "shop"},
                 6,
                 {{30, 4}, {7, 2}, {12, 9}}},
                {"{\"features\": [\"age\"], \"width\": 10, \"rows\": {\"age\": 11}, \"tables\": {\"age\": [12, 13]}}",
                 {"age"},
                 10,
                 {{11, 13}}}};
    for (size_t e = 0; e < 3; e++) {
        lesson_begin(&problem, made[e].config);
        for (size_t i = 0; i < 3 && made[e].names[i]; i++) {
            lesson_addf(&problem, 2, (const uint64_t[]){made[e].sizes[i][0], made[e].width}, "rows.%s.weight",
                        made[e].names[i]);
            lesson_addf(&problem, 2, (const uint64_t[]){made[e].sizes[i][0] + 1, made[e].sizes[i][1]},
                        "tables.%s.weight", made[e].names[i]);
        }
    }
    assert_learns(&problem);
    assert_says(&problem, "(member(rows, features[i]), W)");
    assert_says(&problem, "(member(tables, features[i])[0], member(tables, features[i])[1])");
    lesson_close(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_is_rounded_up),
        cmocka_unit_test(a_product_is_rounded_up),
        cmocka_unit_test(a_product_is_rounded),
        cmocka_unit_test(a_case_asks_the_list),
        cmocka_unit_test(a_head_is_as_its_embedding),
        cmocka_unit_test(a_head_is_no_head_of_attention),
        cmocka_unit_test(a_projection_is_where_widths_differ),
        cmocka_unit_test(a_width_need_not_be_heads),
        cmocka_unit_test(a_width_is_divided_by_heads),
        cmocka_unit_test(a_list_has_the_iterations),
        cmocka_unit_test(the_head_says_what_is_served),
        cmocka_unit_test(an_inner_model_is_its_table),
        cmocka_unit_test(a_head_that_none_has_is_not_taken),
        cmocka_unit_test(an_inner_model_that_differs_is_its_own),
        cmocka_unit_test(a_list_may_be_a_number_elsewhere),
        cmocka_unit_test(a_number_stands_for_every_item),
        cmocka_unit_test(a_loop_is_begun_where_its_list_is),
        cmocka_unit_test(what_cannot_be_written_is_left_out),
        cmocka_unit_test(equivalents_are_no_alternatives),
        cmocka_unit_test(numbers_agree_by_accident),
        cmocka_unit_test(a_list_is_long_enough),
        cmocka_unit_test(a_fraction_becomes_a_width),
        cmocka_unit_test(roundings_are_undecided),
        cmocka_unit_test(a_number_may_be_a_key),
        cmocka_unit_test(a_buffer_is_known_or_said),
        cmocka_unit_test(sizes_are_items_of_a_list),
        cmocka_unit_test(a_word_stands_for_every_item),
        cmocka_unit_test(an_object_says_it_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
