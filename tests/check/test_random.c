/* SPDX-License-Identifier: MIT
 * Models that are altered at random: whatever was done, what a check says of it is true. The findings are those of a
 * naive comparison; groups and causes account for each of them; a setting that a hint recommends does what it says. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifndef ORDERS
#define ORDERS 2 /* there are hundreds of checks */
#endif
#include "check/hints.h"
#include "check/model.h"
#include "sample.h"

static const char *const configs[] = {
    "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 50, \"n_embd\": 6, "
    "\"n_layer\": 4, \"n_positions\": 20}",
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 40, \"hidden_size\": 8, "
    "\"num_hidden_layers\": 5, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 12}",
    "{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], \"vocab_size\": 40, "
    "\"hidden_size\": 8, \"num_hidden_layers\": 3, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
    "\"intermediate_size\": 12, \"num_local_experts\": 5}",
    "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], \"vocab_size\": 50, \"hidden_size\": 8, "
    "\"num_hidden_layers\": 3, \"num_attention_heads\": 2, \"intermediate_size\": 12, "
    "\"max_position_embeddings\": 20}"};

static unsigned below(unsigned limit) { return (unsigned)rand() % limit; }
static struct part *any_part(struct model *model) { return &model->parts[below((unsigned)model->count)]; }

static void drop_at(struct model *model, size_t place)
{
    free(model->parts[place].name);
    model->parts[place] = model->parts[--model->count];
}

/* Removes all whose name begins as that of some tensor, up to a random place. */
static void drop_alike(struct model *model)
{
    char beginning[256];
    snprintf(beginning, sizeof beginning, "%s", any_part(model)->name);
    beginning[2 + below((unsigned)strlen(beginning))] = '\0';
    for (size_t i = model->count; i-- > 0 && model->count > 2;)
        if (strncmp(model->parts[i].name, beginning, strlen(beginning)) == 0) drop_at(model, i);
}

static void alter(struct model *model)
{
    char name[64];
    struct part *part = any_part(model);
    const uint64_t size = part->rank ? part->shape[0] : 1;
    switch (below(8)) {
    case 0:
        drop_at(model, (size_t)(part - model->parts));
        break;
    case 1:
        drop_alike(model);
        break;
    case 2:
        replace_in(part, "e", "ee");
        break;
    case 3:
        for (size_t i = 0; i < model->count; i++) replace_in(&model->parts[i], "attn", "attention");
        break;
    case 4:
        model_transpose(model, part->name);
        break;
    case 5:
        model_resize(model, below(2) ? "*" : part->name, size, size + 1 + below(3));
        break;
    case 6:
        part->dtype = SHAPEPROOF_DTYPE_F16;
        break;
    default:
        snprintf(name, sizeof name, "stranger.%u.weight", below(1000000));
        model_add_shape(model, name, SHAPE(1 + below(3), 2));
        break;
    }
}

/* Missing, unexpected and misshapen tensors, by the simplest comparison of names. */
static size_t naive_errors(const struct model *model)
{
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(model->check);
    size_t errors = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(prediction, i);
        const size_t found = shapeproof_inventory_find(model->inventory, expected->name);
        if (found != SHAPEPROOF_NONE)
            errors += !sp_same_shape(shapeproof_inventory_tensor(model->inventory, found), expected);
        else errors += !expected->optional && expected->same_as == SHAPEPROOF_NONE;
    }
    for (size_t i = 0; i < shapeproof_inventory_count(model->inventory); i++)
        errors += shapeproof_prediction_find(prediction, shapeproof_inventory_tensor(model->inventory, i)->name) ==
                  SHAPEPROOF_NONE;
    return errors;
}

static size_t count_errors(const struct shapeproof_check *check)
{
    size_t errors = 0;
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        errors += finding->severity == SHAPEPROOF_SEVERITY_ERROR && strcmp(finding->id, "dtype") != 0;
    }
    return errors;
}

static void assert_sums(const struct shapeproof_check *check)
{
    size_t grouped = 0, open = 0;
    for (size_t i = 0; i < shapeproof_check_group_count(check); i++) grouped += shapeproof_check_group(check, i)->count;
    assert_int_equal(grouped, shapeproof_check_finding_count(check));
    for (size_t c = 0; c < shapeproof_check_cause_count(check); c++) {
        const struct shapeproof_cause *cause = shapeproof_check_cause(check, c);
        size_t explained = 0;
        for (size_t i = 0; i < shapeproof_check_finding_count(check); i++)
            explained += shapeproof_check_finding(check, i)->cause == c;
        assert_true(cause->explains > 0);
        assert_non_null(cause->message);
        if (cause->severity == SHAPEPROOF_SEVERITY_ERROR) assert_int_equal(explained, cause->explains);
    }
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++)
        open += sp_finding_is_open(shapeproof_check_finding(check, i));
    assert_int_equal(shapeproof_check_verdict(check) == SHAPEPROOF_VERDICT_DIFFERS,
                     open || (shapeproof_check_cause_count(check) &&
                              shapeproof_check_cause(check, 0)->severity == SHAPEPROOF_SEVERITY_ERROR));
}

static void what_is_said_is_true(void **state)
{
    const unsigned rounds = sample() > 1 ? 60 : 300;
    size_t hints = 0;
    (void)state;
    for (unsigned round = 0; round < rounds; round++) {
        const char *config = configs[round % (sizeof configs / sizeof *configs)];
        struct model model;
        srand(round);
        model_open(&model, config);
        model_predict(&model, 0);
        for (unsigned i = below(4); i > 0; i--) alter(&model);
        model_check_memory(&model);
        const size_t errors = naive_errors(&model);
        if (errors != count_errors(model.check)) print_error("round %u: %s\n", round, model.first_line);
        assert_int_equal(count_errors(model.check), errors);
        assert_sums(model.check);
        for (size_t i = 0; i < shapeproof_check_cause_count(model.check); i++) {
            if (strcmp(shapeproof_check_cause(model.check, i)->id, "hyperparameter") != 0) continue;
            assert_hint_holds(model.check, i);
            hints++;
        }
        model_close(&model);
    }
    print_message("%zu hints in %u rounds\n", hints, rounds);
    assert_true(hints * 16 > rounds); /* or the test tests nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
