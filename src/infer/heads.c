/* SPDX-License-Identifier: MIT
 * Numbers of heads on which no tensor of the file depends. transformers needs them all the same: where the
 * configuration has none it takes the default of the class, which may not divide the width of the model. Each gets a
 * usual number:
 *
 *     hidden_size 20, and bert's condition "hidden_size%num_attention_heads"   ->   num_attention_heads 5
 *     hidden_size 70, and vit in release 5 of transformers                     ->   num_attention_heads 35 */
#include <string.h>

#include "base/chars.h"
#include "infer/guess/guess.h"
#include "infer/infer.h"
#include "lang/functions.h"
#include "load/loader.h"

/* The hyper-parameter of the prediction; NULL when the prediction did not read it. */
static const struct shapeproof_hyperparameter *find_read(const struct shapeproof_prediction *prediction,
                                                         const char *key)
{
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        if (strcmp(hyper->name, key) == 0) return hyper;
    }
    return NULL;
}

/* The number of heads for that width: the default of the class if the width is its default too, otherwise a usual one.
 */
static int64_t head_count(struct sp_attempt *attempt, const char *width_key, int64_t width, const char *key)
{
    struct sp_solver *solver = &attempt->outline.solver;
    struct shapeproof_value usual_width, heads;
    const bool is_usual =
        sp_default_in_table(solver, width_key, &usual_width) && sp_values_equal(usual_width, sp_value_int(width)) &&
        sp_default_in_table(solver, key, &heads) && sp_value_count(heads) && width % heads.integer == 0;
    return is_usual ? heads.integer : sp_usual_head_count(width);
}

/* The entry of the report for the key, a new one unless there is one. */
static struct shapeproof_inferred *entry_for(struct shapeproof_inference *inference, const char *key)
{
    const size_t count = inference->inferred_count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(inference->inferred[i].name, key) == 0) return &inference->inferred[i];
    struct shapeproof_inferred *inferred = sp_arena_array(&inference->arena, count + 1, sizeof *inferred);
    if (count) memcpy(inferred, inference->inferred, count * sizeof *inferred);
    inferred[count] = (struct shapeproof_inferred){.name = key};
    inference->inferred = inferred;
    inference->inferred_count = count + 1;
    return &inferred[count];
}

/* Puts a number of heads into the configuration, and among the values that are not determined, if the configuration has
 * none: the table did not read it, or its default does not divide the width. */
static void add_head_count(struct shapeproof_inference *inference, const char *width_key, const char *key)
{
    struct sp_attempt *best = inference->best;
    const struct shapeproof_hyperparameter *width = find_read(best->prediction, width_key),
                                           *read = find_read(best->prediction, key);
    if (!width || !sp_value_count(width->value)) return;
    if (read && (read->from.source != SHAPEPROOF_SOURCE_DEFAULT || !sp_value_count(read->value) ||
                 width->value.integer % read->value.integer == 0))
        return;
    const int64_t count = head_count(best, width_key, width->value.integer, key);
    if (!sp_attempt_allows(best, best->config, key, sp_value_int(count))) return;
    struct shapeproof_inferred *entry = entry_for(inference, key);
    *entry = (struct shapeproof_inferred){.name = key, .value = sp_value_int(count), .because = SP_WITHOUT_EFFECT};
    sp_config_set_value(best->config, key, sp_value_int(count), "inferred");
}

/* Those that the class refuses unless they divide a width. */
static void add_divisors(struct shapeproof_inference *inference, const char *needed)
{
    for (struct sp_multiple condition; sp_loader_next_multiple(&needed, &condition);)
        add_head_count(inference, sp_arena_copy(&inference->arena, condition.key, condition.length),
                       sp_arena_copy(&inference->arena, condition.divisor, condition.divisor_length));
}

/* "decoder_num_attention_heads" -> "decoder_hidden_size"; NULL for any other key. */
static const char *width_of_heads(struct sp_arena *arena, const char *key)
{
    static const char heads[] = "num_attention_heads";
    if (!sp_ends_with(key, heads)) return NULL;
    return sp_arena_printf(arena, "%.*shidden_size", (int)(strlen(key) - strlen(heads)), key);
}

/* Those that only the current release of transformers reads, and that must fit the tensors there. */
static void add_of_release(struct shapeproof_inference *inference)
{
    struct sp_attempt *best = inference->best;
    struct shapeproof_config *config = sp_config_variant(best->config);
    sp_config_set_value(config, "transformers_version", sp_value_string(sp_loader_transformers.version), "recheck");
    struct shapeproof_prediction *prediction = sp_attempt_predict_within(best, config);
    for (size_t i = 0; prediction && i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const char *key =
            sp_arena_printf(&inference->arena, "%s", shapeproof_prediction_hyperparameter(prediction, i)->name);
        const char *width_key = width_of_heads(&inference->arena, key);
        if (width_key && !find_read(best->prediction, key)) add_head_count(inference, width_key, key);
    }
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
}

void sp_add_head_counts(struct shapeproof_inference *inference)
{
    const struct sp_attempt *best = inference->best;
    if (!best->table->model_type_count) return;
    const struct sp_loaded loaded = sp_loader_class(&sp_loader_transformers, best->table->model_types[0], best->class);
    if (!loaded.model_type) return;
    add_divisors(inference, loaded.needed);
    if (find_read(best->prediction, "transformers_version")) add_of_release(inference);
}
