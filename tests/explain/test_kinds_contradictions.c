/* SPDX-License-Identifier: MIT
 * Configurations that contradict themselves: two names for the model, one vocabulary of two sizes. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

static const char llama[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 100, "
    "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
    "\"intermediate_size\": 96, \"tie_word_embeddings\": false}";
static const char sockeye[] = "{\"model_type\": \"sockeye-3\", \"vocab_size_src\": 24, \"vocab_size_trg\": 24, "
                              "\"transformer_model_size\": 8, \"num_layers\": 1, \"weight_tying_type\": \"src_trg\"}";

/* ---- model_type and architectures ---- */

static void the_class_is_right(void **state)
{
    BEGIN(llama);
    model_set(&model, "model_type=bert");
    SAYS("differs: config.json has model_type bert and the class LlamaForCausalLM, which is a class of llama: the file "
         "is "
         "llama",
         "two-models", 0);
    END;
}

static void the_type_is_right(void **state)
{
    BEGIN(llama);
    model_set(&model, "architectures=[\"GPT2LMHeadModel\"]");
    SAYS("differs: config.json has model_type llama and the class GPT2LMHeadModel, which is a class of gpt2: the file "
         "is "
         "llama",
         "two-models", 0);
    model_drop(&model, "model.norm.weight");
    SAYS("differs: config.json has model_type llama and the class GPT2LMHeadModel, which is a class of gpt2: the file "
         "is "
         "nearer to llama; 1 finding without a known cause",
         "two-models", 1);
    END;
}

static void both_are_as_good(void **state)
{
    BEGIN(llama);
    model_set(&model, "model_type=mistral");
    model_set(&model, "num_key_value_heads=4");
    SAYS("differs: config.json has model_type mistral and the class LlamaForCausalLM, which is a class of llama: the "
         "file "
         "agrees with both",
         "two-models", 0);
    END;
}

/* A class of a model that no table has is unknown, as before. */
static void an_unknown_class_is_no_second_model(void **state)
{
    struct shapeproof_error error = {0};
    BEGIN(llama);
    model_set(&model, "architectures=[\"SomethingForCausalLM\"]");
    struct shapeproof_inventory *inventory = model_in_memory(&model);
    assert_null(shapeproof_check_new(inventory, model.tables, model.config, NULL, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_UNKNOWN);
    shapeproof_inventory_close(inventory);
    END;
}

/* Who names the table does not mean the class. */
static void a_class_left_out(void **state)
{
    BEGIN(llama);
    model_set(&model, "architectures=[\"SomethingForCausalLM\"]");
    model.options.table = "llama";
    SAYS("match: all 21 tensors, 82,752 elements", "class-left-out", 0);
    END;
}

/* ---- a tie of two sizes ---- */

static void one_of_two_tied_sizes_is_wrong(void **state)
{
    BEGIN(sockeye);
    model_set(&model, "vocab_size_trg=27");
    SAYS("differs: vocab_size_trg is 27 on the command line, the file has 24 (3 tensors)", "hyperparameter buffers", 0);
    END;
}

/* The file has both sizes: then they cannot be tied. */
static void tied_and_of_two_sizes(void **state)
{
    BEGIN(sockeye);
    model_predict(&model, WITH_TIED);
    model_set(&model, "vocab_size_trg=27");
    model_resize(&model, "embedding_target*", 24, 27);
    model_resize(&model, "output_layer*", 24, 27);
    SAYS("differs: the configuration ties tensors of different sizes: embedding_target.embedding.weight 27 "
         "(vocab_size_trg), embedding_source.embedding.weight 24 (vocab_size_src)",
         "odd-tie buffers", 0);
    END;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_class_is_right),    cmocka_unit_test(the_type_is_right),
        cmocka_unit_test(both_are_as_good),      cmocka_unit_test(an_unknown_class_is_no_second_model),
        cmocka_unit_test(a_class_left_out),      cmocka_unit_test(one_of_two_tied_sizes_is_wrong),
        cmocka_unit_test(tied_and_of_two_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
