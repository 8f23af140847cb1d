/* SPDX-License-Identifier: MIT
 * Which hyper-parameters the file determines. What a tensor told is determined; of what was guessed, and of defaults,
 * that is determined without which the prediction would be another one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"

static const char *because(struct sp_arena *arena, const struct sp_fact *fact)
{
    const struct sp_clue *clue = &fact->clue;
    switch (clue->kind) {
    case SP_CLUE_DIMENSION:
        return sp_arena_printf(arena, "%s, dimension %zu", clue->name, clue->dimension);
    case SP_CLUE_INDICES:
        return sp_arena_printf(arena, "the numbering of %s", clue->name);
    case SP_CLUE_PRESENT:
        return sp_arena_printf(arena, "%s is there", clue->name);
    case SP_CLUE_MISSING:
        return sp_arena_printf(arena, "%s is not there", clue->name);
    case SP_CLUE_TIE:
        return sp_arena_printf(arena, "%s", clue->name);
    case SP_CLUE_REQUIRED:
        return "the table covers no other value";
    case SP_CLUE_ONLY:
        return "no other value agrees with the file";
    default:
        return "";
    }
}

static void add(struct sp_inference *inference, struct sp_hyperparameter hyper)
{
    struct sp_arena *arena = &inference->arena;
    const struct sp_fact *fact = sp_known_fact(&inference->best->outline.known, hyper.name);
    struct sp_inferred inferred = {.name = hyper.name, .value = hyper.value, .because = ""};
    if (fact && fact->clue.kind != SP_CLUE_NONE && fact->clue.kind != SP_CLUE_GUESS && !fact->guess) {
        inferred.determined = true;
        inferred.because = because(arena, fact);
    }
    inference->inferred[inference->inferred_count++] = inferred;
}

void sp_determine(struct sp_inference *inference)
{
    const struct sp_prediction *prediction = inference->best->prediction;
    const size_t count = sp_prediction_hyperparameter_count(prediction);
    inference->inferred = sp_arena_array(&inference->arena, count, sizeof *inference->inferred);
    for (size_t i = 0; i < count; i++) add(inference, sp_prediction_hyperparameter(prediction, i));
}
