/* SPDX-License-Identifier: MIT
 * A file that is another model of the family: its class, or several values at once, are told when nothing stays open
 * with them, and only then. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

#define BERT(class)                                                                                                    \
    "{\"model_type\": \"bert\", \"architectures\": [\"" class "\"], \"num_hidden_layers\": 1, \"vocab_size\": 100, "   \
                                                              "\"hidden_size\": 48, \"num_attention_heads\": 4, "      \
                                                              "\"intermediate_size\": 96}"

/* A file made with one configuration, less what is dropped, checked against another. */
static void check_made(const char *made, const char *dropped, const char *asked, const char *line, const char *ids,
                       size_t open)
{
    struct model model, other;
    model_open(&model, made);
    model_predict(&model, 0);
    if (dropped) model_drop(&model, dropped);
    model_write(&model, "model.safetensors");
    model_open(&other, asked);
    model_check_path(&other, scratch_path(&model.scratch, "model.safetensors"));
    assert_told(&other, line, ids, open);
    model_close(&other);
    model_close(&model);
}

static void another_class(void **state)
{
    (void)state;
    check_made(BERT("BertForMaskedLM"), NULL, BERT("BertForSequenceClassification"),
               "differs: the weights are of BertForMaskedLM, where config.json promises BertForSequenceClassification",
               "another-model", 0);
}

/* Neither class explains what lacks a part of a layer: no class is claimed. */
static void another_class_with_a_loss(void **state)
{
    (void)state;
    check_made(BERT("BertForMaskedLM"), "bert.encoder.layer.0.output.dense.weight",
               BERT("BertForSequenceClassification"),
               "differs: 5 tensors are missing: bert.encoder.layer.0.output.dense.weight, "
               "bert.pooler.dense.{weight,bias}, classifier.{weight,bias}; 5 are unexpected",
               "", 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_class),
        cmocka_unit_test(another_class_with_a_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
