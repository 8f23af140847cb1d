/* SPDX-License-Identifier: MIT
 * Layers with other numbers than predicted: from 1, of one part alone, and by a table of one's own that counts wrong.
 */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

static const char llama[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 100, "
    "\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 4, "
    "\"intermediate_size\": 96, \"tie_word_embeddings\": false}";
static const char t5[] = "{\"model_type\": \"t5\", \"architectures\": [\"T5Model\"], \"vocab_size\": 100, "
                         "\"d_model\": 64, \"d_ff\": 96, \"num_layers\": 3}";
static const char moe[] = "{\"model_type\": \"olmoe\", \"architectures\": [\"OlmoeForCausalLM\"], \"vocab_size\": 100, "
                          "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
                          "\"intermediate_size\": 96, \"num_experts\": 4, \"tie_word_embeddings\": false}";

/* Every index behind `front`, which may stand anywhere in a name, becomes what `numbers` has for it. */
static void number_as(struct model *model, const char *front, const char *const *numbers)
{
    for (size_t i = 0; i < model->count; i++) {
        char *place = strstr(model->parts[i].name, front), *rest, name[256];
        if (!place) continue;
        const int before = (int)(place + strlen(front) - model->parts[i].name);
        const unsigned long index = strtoul(model->parts[i].name + before, &rest, 10);
        snprintf(name, sizeof name, "%.*s%s%s", before, model->parts[i].name, numbers[index], rest);
        free(model->parts[i].name);
        model->parts[i].name = strdup(name);
    }
}

static void count_from_one(struct model *model, const char *front)
{
    static const char *const numbers[] = {"1", "2", "3", "4"};
    number_as(model, front, numbers);
}

static void layers_from_one(void **state)
{
    BEGIN(llama);
    count_from_one(&model, "layers.");
    SAYS("differs: model.layers is numbered from 1 in the file, 1 to 4 for 0 to 3", "numbered", 0);
    model_prefix(&model, "module.");
    SAYS("differs: model.layers is numbered from 1 in the file, 1 to 4 for 0 to 3", "numbered prefix", 0);
    END;
}

/* The first block has a tensor more, which shows that it is the first. */
static void two_stacks_from_one(void **state)
{
    BEGIN(t5);
    count_from_one(&model, "block.");
    SAYS("differs: {encoder,decoder}.block are numbered from 1 in the file, 1 to 3 for 0 to 2", "numbered", 0);
    END;
}

static void experts_from_one(void **state)
{
    BEGIN(moe);
    count_from_one(&model, "experts.");
    SAYS("differs: model.layers.{0,1}.mlp.experts are numbered from 1 in the file, 1 to 4 for 0 to 3", "numbered", 0);
    END;
}

/* One layer lost at one end, and one too many at the other: nothing tells that they are the same ones. */
static void another_shape_is_no_numbering(void **state)
{
    BEGIN(llama);
    count_from_one(&model, "layers.");
    model_resize(&model, "model.layers.4.mlp.*", 96, 128);
    model_check(&model);
    assert_null(model_cause(&model, "numbered"));
    END;
}

/* ---- what pruning leaves ---- */

/* Two layers were taken out, and the others keep their numbers: no number of layers is the file's. */
static void pruned_and_not_renumbered(void **state)
{
    static const char *const numbers[] = {"0", "1", "4", "5"};
    BEGIN(llama);
    number_as(&model, "layers.", numbers);
    SAYS("differs: model.layers is not renumbered in the file: 0, 1, 4 and 5 for 0 to 3", "numbered", 0);
    model_set(&model, "num_hidden_layers=5");
    SAYS("differs: model.layers is not renumbered in the file: 4 layers, 0, 1, 4 and 5 for 0 to 4", "numbered", 0);
    model_set(&model, "num_hidden_layers=2");
    SAYS("differs: model.layers is not renumbered in the file: 4 layers, 0, 1, 4 and 5 for 0 to 1", "numbered", 0);
    model_set(&model, "num_hidden_layers=6");
    SAYS("differs: model.layers.{2,3} are missing altogether (18 tensors)", "layers-missing", 0);
    model_set(&model, "num_hidden_layers=8");
    SAYS("differs: model.layers.{2,3,6,7} are missing altogether (36 tensors)", "layers-missing", 0);
    END;
}

static void the_last_layers_of_more(void **state)
{
    static const char *const numbers[] = {"4", "5", "6", "7"};
    BEGIN(llama);
    number_as(&model, "layers.", numbers);
    SAYS("differs: model.layers is numbered from 4 in the file, 4 to 7 for 0 to 3", "numbered", 0);
    END;
}

/* Each layer keeps other experts. */
static void experts_not_renumbered(void **state)
{
    static const char *const first[] = {"0", "1", "4", "5"}, *const second[] = {"2", "3", "6", "7"};
    BEGIN(moe);
    number_as(&model, "layers.0.mlp.experts.", first);
    number_as(&model, "layers.1.mlp.experts.", second);
    SAYS("differs: model.layers.{0,1}.mlp.experts are not renumbered in the file: 0, 1, 4 and 5 for 0 to 3 in "
         "model.layers.0.mlp.experts, others elsewhere",
         "numbered", 0);
    END;
}

/* ---- groups ---- */

/* With the number of the group in front; a layer's own goes on, or begins anew in each group. */
static void layers_in_groups(void **state)
{
    static const char *const on[] = {"0.0", "0.1", "1.2", "1.3"}, *const anew[] = {"0.0", "0.1", "1.0", "1.1"};
    BEGIN(llama);
    number_as(&model, "layers.", on);
    SAYS("differs: model.layers is numbered in groups in the file, GROUP.NUMBER for NUMBER: 0.0 to 1.3 for 0 to 3",
         "numbered", 0);
    model_set(&model, "num_hidden_layers=6");
    SAYS("differs: model.layers is numbered in groups in the file, GROUP.NUMBER for NUMBER: 4 layers, 0.0 to 1.3 for 0 "
         "to 5",
         "numbered", 0);
    model_set(&model, "num_hidden_layers=4");
    model_predict(&model, 0);
    number_as(&model, "layers.", anew);
    SAYS("differs: model.layers is numbered in groups in the file, GROUP.NUMBER for NUMBER: 0.0 to 1.1 for 0 to 3",
         "numbered", 0);
    END;
}

/* A tensor that is lost as well stays one that is missing. */
static void groups_and_one_lost(void **state)
{
    static const char *const numbers[] = {"0.0", "0.1", "1.2", "1.3"};
    BEGIN(llama);
    number_as(&model, "layers.", numbers);
    model_drop(&model, "*.layers.1.2.mlp.up_proj.weight");
    SAYS("differs: model.layers is numbered in groups in the file, GROUP.NUMBER for NUMBER: 0.0 to 1.3 for 0 to 3; 1 "
         "finding without a known cause",
         "numbered", 1);
    END;
}

/* Where they do not pair, there are not 0 layers either. */
static void groups_of_another_width(void **state)
{
    static const char *const numbers[] = {"0.0", "0.1", "1.2", "1.3"};
    BEGIN(llama);
    number_as(&model, "layers.", numbers);
    model_resize(&model, "model.layers.1.*.mlp.*", 96, 128);
    model_check(&model);
    assert_null(model_cause(&model, "hyperparameter"));
    END;
}

/* All of a student and of its teacher, whose layers are in groups. */
static void groups_twice(void **state)
{
    static const char *const numbers[] = {"0.0", "0.1", "1.2", "1.3"};
    BEGIN(llama);
    number_as(&model, "layers.", numbers);
    model_prefix(&model, "student.");
    model_copy(&model, "*", "student.", "teacher.");
    SAYS("differs: model.layers is numbered in groups in the file, GROUP.NUMBER for NUMBER: 0.0 to 1.3 for 0 to 3",
         "numbered copy prefix", 0);
    END;
}

/* Below a module of another name: no number of layers is 0. */
static void layers_elsewhere(void **state)
{
    BEGIN(llama);
    for (int i = 0; i < 4; i++) {
        char from[32], to[48];
        snprintf(from, sizeof from, "layers.%d.", i);
        snprintf(to, sizeof to, "layers.%d.block.x.", i);
        model_rename(&model, "*", from, to);
    }
    model_check(&model);
    assert_null(model_cause(&model, "hyperparameter"));
    END;
}

/* ---- a table of one's own ---- */

#define MINE(loop)                                                                                                     \
    "table mine\nN = layers\n[all] for i in " loop "   # iterations\nlayer.{i}.weight (4, 4)\nlayer.{i}.bias (4)\n"

static void own_table(const char *table, const char *setting, const char *line, const char *ids)
{
    struct shapeproof_error error = {0};
    struct model model;
    model_open(&model, "{\"layers\": 3}");
    for (unsigned i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer.%u.weight", i);
        model_add_shape(&model, name, SHAPE(4, 4));
        snprintf(name, sizeof name, "layer.%u.bias", i);
        model_add_shape(&model, name, SHAPE(4));
    }
    assert_int_equal(shapeproof_tables_add_text(model.tables, "mine.shapes", table, strlen(table), &error),
                     SHAPEPROOF_OK);
    model.options.table = "mine";
    if (setting) model_set(&model, setting);
    SAYS(line, ids, 0);
    model_close(&model);
}

static void a_iteration_too_many(void **state)
{
    (void)state;
    own_table(MINE("0..N"), NULL,
              "differs: a loop of the table may be wrong (mine.shapes:3: [all] for i in 0..N): it makes layer.0 to 3, "
              "the file has "
              "0 to 2, as the hyper-parameter 'layers' says (2 tensors)",
              "own-loop");
    own_table("table mine\nN = layers\n[all] for i in 0..N\nlayer.{i}.* linear(4, 4)\n", NULL,
              "differs: a loop of the table may be wrong (mine.shapes:3: [all] for i in 0..N): it makes layer.0 to 3, "
              "the file has "
              "0 to 2, as the hyper-parameter 'layers' says (2 tensors)",
              "own-loop");
    own_table(MINE("1..N-1"), NULL,
              "differs: a loop of the table may be wrong (mine.shapes:3: [all] for i in 1..N-1): it makes layer.1 to "
              "2, the file "
              "has 0 to 2, as the hyper-parameter 'layers' says (2 tensors)",
              "own-loop");
    own_table(MINE("1..N"), NULL,
              "differs: layer is numbered from 0 in the file, 0 to 2 for 1 to 3; or the table is wrong, mine.shapes:3: "
              "[all] for i in 1..N",
              "numbered");
}

/* The loop is right, and the configuration is not. */
static void another_number_of_layers(void **state)
{
    (void)state;
    own_table(MINE("0..N-1"), "layers=2", "differs: layers is 2 on the command line, the file has 3 (2 tensors)",
              "hyperparameter");
}

#define ZAMBA2                                                                                                         \
    "{\"model_type\": \"zamba2\", \"architectures\": [\"Zamba2ForCausalLM\"], \"hidden_size\": 16, "                   \
    "\"intermediate_size\": 24, \"num_hidden_layers\": 6, \"num_attention_heads\": 2, \"num_key_value_heads\": 2, "    \
    "\"n_mamba_heads\": 4, \"mamba_d_state\": 4, \"adapter_rank\": 3, \"vocab_size\": 30, \"num_mem_blocks\": 2, "     \
    "\"hybrid_layer_ids\": [1, 3, 5], \"layers_block_type\": [\"mamba\", \"hybrid\", \"mamba\", \"hybrid\", "          \
    "\"mamba\", "                                                                                                      \
    "\"hybrid\"]}"

/* The table skips numbers: of two blocks that take turns, the first has the adapters 0 and 2. The list has three
 * entries by chance, and keeps them. */
static void gaps_of_the_table(void **state)
{
    BEGIN(ZAMBA2);
    model_set(&model, "num_mem_blocks=3");
    SAYS("differs: num_mem_blocks is 3 on the command line, the file has 2 (12 tensors)", "hyperparameter", 0);
    assert_hints_hold(model.check);
    model_set(&model, "num_mem_blocks=2");
    model_set(&model, "hybrid_layer_ids=[1,3]");
    SAYS("differs: 2 tensors are unexpected: "
         "model.layers.1.shared_transformer.feed_forward.gate_up_proj_adapter_list.2.{0,1}.weight",
         "", 2);
    END;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_from_one),
        cmocka_unit_test(two_stacks_from_one),
        cmocka_unit_test(experts_from_one),
        cmocka_unit_test(another_shape_is_no_numbering),
        cmocka_unit_test(pruned_and_not_renumbered),
        cmocka_unit_test(the_last_layers_of_more),
        cmocka_unit_test(experts_not_renumbered),
        cmocka_unit_test(layers_in_groups),
        cmocka_unit_test(groups_and_one_lost),
        cmocka_unit_test(groups_of_another_width),
        cmocka_unit_test(groups_twice),
        cmocka_unit_test(layers_elsewhere),
        cmocka_unit_test(a_iteration_too_many),
        cmocka_unit_test(another_number_of_layers),
        cmocka_unit_test(gaps_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
