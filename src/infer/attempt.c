/* SPDX-License-Identifier: MIT
 * One table held against the file: deduce, guess what is left, predict, compare. Only what the comparison with a whole
 * prediction says counts in the end. */
#include <stdlib.h>
#include <string.h>

#include "infer/guess.h"
#include "infer/infer.h"

enum { MAX_GUESSES = 40 };

static void infer(struct sp_attempt *attempt, const struct sp_shapes *shapes)
{
    struct sp_literals literals = {0};
    struct sp_deduction deduction;
    sp_outline_init(&attempt->outline, attempt->table, attempt->class);
    sp_literals_collect(&literals, attempt->table);
    sp_deduction_init(&deduction, &attempt->outline, shapes);
    sp_deduce(&deduction);
    for (int i = 0; i < MAX_GUESSES && sp_guess(&deduction, &literals); i++) sp_deduce(&deduction);
    sp_deduction_free(&deduction);
    sp_literals_free(&literals);
}

static void count(struct sp_attempt *attempt, const struct sp_inventory *inventory)
{
    const struct sp_match *match = &attempt->match;
    for (size_t i = 0; i < sp_inventory_count(inventory); i++) {
        const enum sp_difference difference = sp_match_tensor(match, i);
        if (difference == SP_STATE) continue;
        if (sp_is_error(difference)) attempt->unexplained++;
        else attempt->explained++;
    }
    for (size_t i = 0; i < sp_prediction_count(attempt->prediction); i++)
        attempt->missing += sp_match_predicted(match, i) == SP_MISSING;
}

static void verify(struct sp_attempt *attempt, const struct sp_inventory *inventory)
{
    struct sp_error error = {0};
    const struct sp_scope scope = {.most = 4 * sp_inventory_count(inventory) + 10000};
    sp_config_limit(attempt->config, &scope);
    attempt->prediction = sp_predict(attempt->tables, attempt->table->name, attempt->config, &error);
    sp_config_limit(attempt->config, NULL);
    if (!attempt->prediction) return;
    attempt->naming = sp_naming_infer(&attempt->outline.arena, inventory, attempt->prediction);
    sp_match_init(&attempt->match, inventory, attempt->prediction, &attempt->naming);
    count(attempt, inventory);
}

void sp_attempt_init(struct sp_attempt *attempt, const struct sp_tables *tables, const struct sp_unit *table,
                     const char *class, const struct sp_shapes *shapes)
{
    *attempt = (struct sp_attempt){.tables = tables, .table = table, .class = class};
    infer(attempt, shapes);
    attempt->config = sp_settle(&attempt->outline);
    verify(attempt, shapes->inventory);
}

void sp_attempt_free(struct sp_attempt *attempt)
{
    if (attempt->prediction) sp_match_free(&attempt->match);
    sp_prediction_free(attempt->prediction);
    sp_config_free(attempt->config);
    sp_outline_free(&attempt->outline);
    *attempt = (struct sp_attempt){0};
}

/* ---- comparing ---- */

static size_t errors(const struct sp_attempt *attempt) { return attempt->unexplained + attempt->missing; }

bool sp_attempt_is_better(const struct sp_attempt *a, const struct sp_attempt *b)
{
    if (!a->prediction || !b->prediction) return a->prediction && !b->prediction;
    if (errors(a) != errors(b)) return errors(a) < errors(b);
    if (!a->table->model_type_count != !b->table->model_type_count) return a->table->model_type_count > 0;
    return a->outline.known.guess < b->outline.known.guess;
}

static bool same_tensor(const struct sp_predicted *a, const struct sp_predicted *b)
{
    return a->rank == b->rank && a->optional == b->optional && a->buffer == b->buffer &&
           (a->same_as == SP_NONE) == (b->same_as == SP_NONE) &&
           (!a->rank || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

bool sp_attempt_is_same(const struct sp_attempt *a, const struct sp_attempt *b)
{
    if (!a->prediction || !b->prediction) return false;
    if (sp_prediction_count(a->prediction) != sp_prediction_count(b->prediction)) return false;
    for (size_t i = 0; i < sp_prediction_count(a->prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(a->prediction, i);
        const size_t other = sp_prediction_find(b->prediction, tensor->name);
        if (other == SP_NONE || !same_tensor(tensor, sp_prediction_tensor(b->prediction, other))) return false;
    }
    return true;
}
