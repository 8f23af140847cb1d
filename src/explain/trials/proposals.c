/* SPDX-License-Identifier: MIT */
#include "explain/trials/proposals.h"

#include <string.h>

void sp_propose(struct sp_proposals *proposals, struct sp_hyperparameter hyper, struct sp_value value)
{
    if (hyper.from.source == SP_SOURCE_TABLE) return; /* the table says so itself */
    for (size_t i = 0; i < proposals->count; i++)
        if (strcmp(proposals->items[i].key, hyper.name) == 0 && proposals->items[i].value.type == value.type &&
            proposals->items[i].value.integer == value.integer)
            return;
    if (proposals->count < SP_MOST_PROPOSALS)
        proposals->items[proposals->count++] = (struct sp_change){hyper.name, value, hyper.value, hyper.from};
}

void sp_propose_number(struct sp_proposals *proposals, struct sp_hyperparameter hyper, double value)
{
    if (value >= 0 && value < (double)SP_MOST_DIMENSION)
        sp_propose(proposals, hyper, sp_value_int((int64_t)(value + 0.5)));
}

bool sp_integer_value(struct sp_hyperparameter hyper, int64_t *value)
{
    *value = hyper.value.integer;
    return hyper.value.type == SP_INT;
}

/* Shapes of quantised weights do not grow with the numbers of the quantisation: the usual ones are tried. */
static void usual_numbers(struct sp_proposals *proposals, struct sp_hyperparameter hyper, const char *key)
{
    static const int64_t bits[] = {4, 8, 3, 2, 5, 6}, groups[] = {128, 64, 32, 16, 256, 512, 1024, -1};
    static const struct sp_value blocks[][2] = {{{SP_INT, .integer = 128}, {SP_INT, .integer = 128}},
                                                {{SP_INT, .integer = 64}, {SP_INT, .integer = 64}},
                                                {{SP_INT, .integer = 32}, {SP_INT, .integer = 32}},
                                                {{SP_INT, .integer = 256}, {SP_INT, .integer = 256}},
                                                {{SP_INT, .integer = 1}, {SP_INT, .integer = 128}}};
    const bool is_bits = strcmp(key, ".bits") == 0 || strcmp(key, ".num_bits") == 0;
    const bool is_group = strcmp(key, ".group_size") == 0 || strcmp(key, ".q_group_size") == 0;
    const bool is_block = strcmp(key, ".weight_block_size") == 0 || strcmp(key, ".block_structure") == 0;
    for (size_t i = 0; is_bits && i < sizeof bits / sizeof *bits; i++)
        sp_propose(proposals, hyper, sp_value_int(bits[i]));
    for (size_t i = 0; is_group && i < sizeof groups / sizeof *groups; i++)
        sp_propose(proposals, hyper, sp_value_int(groups[i]));
    for (size_t i = 0; is_block && i < sizeof blocks / sizeof *blocks; i++)
        sp_propose(proposals, hyper, (struct sp_value){SP_LIST, .count = 2, .items = blocks[i]});
    if (is_block) sp_propose(proposals, hyper, (struct sp_value){.type = SP_NULL});
}

void sp_propose_quantisations(struct sp_proposals *proposals, const struct sp_check *check)
{
    const struct sp_prediction *prediction = check->prediction;
    for (size_t i = 0; check->quantisation.method && i < sp_prediction_hyperparameter_count(prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        const char *key = strrchr(hyper.name, '.');
        if (key) usual_numbers(proposals, hyper, key);
    }
}

void sp_propose_flags(struct sp_proposals *proposals, const struct sp_check *check)
{
    const struct sp_prediction *prediction = check->prediction;
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        if (hyper.value.type == SP_BOOL) sp_propose(proposals, hyper, sp_value_bool(!hyper.value.boolean));
    }
}
