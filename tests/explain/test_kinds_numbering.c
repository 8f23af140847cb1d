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

/* Every index behind `front`, which may stand anywhere in a name, is one higher. */
static void count_from_one(struct model *model, const char *front)
{
    for (size_t i = 0; i < model->count; i++) {
        char *place = strstr(model->parts[i].name, front), *rest, name[256];
        if (!place) continue;
        const int before = (int)(place + strlen(front) - model->parts[i].name);
        const unsigned long index = strtoul(model->parts[i].name + before, &rest, 10);
        snprintf(name, sizeof name, "%.*s%lu%s", before, model->parts[i].name, index + 1, rest);
        free(model->parts[i].name);
        model->parts[i].name = strdup(name);
    }
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

/* ---- a table of one's own ---- */

#define MINE(loop)                                                                                                     \
    "table mine\nN = layers\n[all] for i in " loop "   # turns\nlayer.{i}.weight (4, 4)\nlayer.{i}.bias (4)\n"

static void own_table(const char *table, const char *setting, const char *line, const char *ids)
{
    struct sp_error error = {0};
    struct model model;
    model_open(&model, "{\"layers\": 3}");
    for (unsigned i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer.%u.weight", i);
        model_add_shape(&model, name, SHAPE(4, 4));
        snprintf(name, sizeof name, "layer.%u.bias", i);
        model_add_shape(&model, name, SHAPE(4));
    }
    assert_int_equal(sp_tables_add_text(model.tables, "mine.shapes", table, strlen(table), &error), SP_OK);
    model.options.table = "mine";
    if (setting) model_set(&model, setting);
    SAYS(line, ids, 0);
    model_close(&model);
}

static void a_turn_too_many(void **state)
{
    (void)state;
    own_table(
        MINE("0..N"), NULL,
        "differs: the table may be wrong, mine.shapes:3: [all] for i in 0..N: it makes layer.0 to 3, the file has "
        "0 to 2, as many as layers says (2 tensors)",
        "own-loop");
    own_table(MINE("1..N-1"), NULL,
              "differs: the table may be wrong, mine.shapes:3: [all] for i in 1..N-1: it makes layer.1 to 2, the file "
              "has 0 to 2, as many as layers says (2 tensors)",
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_from_one),  cmocka_unit_test(two_stacks_from_one),
        cmocka_unit_test(experts_from_one), cmocka_unit_test(another_shape_is_no_numbering),
        cmocka_unit_test(a_turn_too_many),  cmocka_unit_test(another_number_of_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
