/* SPDX-License-Identifier: MIT
 * A configuration that names two models, of which the file is one: loaders that go by the other name fail. */
#include "explain/gather.h"

static void say_left_out(struct shapeproof_check *check, const char *class)
{
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_CLASS_LEFT_OUT);
    cause->message = sp_arena_printf(
        &check->arena,
        "the table %s does not list the class %s: the file is compared with the usual class of the table",
        shapeproof_prediction_table(check->prediction), class);
}

void sp_explain_two_models(struct shapeproof_check *check)
{
    const struct sp_contradiction *found = &check->contradiction;
    if (found->left_out) say_left_out(check, found->left_out);
    if (!found->two.class) return;
    const char *file =
        *shapeproof_config_path(check->config) ? sp_config_hyper(check->config)->file : "the configuration";
    const char *fits =
        found->as_good ? found->errors ? "agrees with neither" : "agrees with both"
        : found->errors
            ? sp_arena_printf(&check->arena, "is nearer to %s",
                              found->by_class ? found->two.class_type : found->two.model_type)
            : sp_arena_printf(&check->arena, "is %s", found->by_class ? found->two.class_type : found->two.model_type);
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_TWO_MODELS);
    cause->message =
        sp_arena_printf(&check->arena, "%s has model_type %s and the class %s, which is a class of %s: the file %s",
                        file, found->two.model_type, found->two.class, found->two.class_type, fits);
    cause->hint = "some loaders use model_type, others the class: let both name the same model";
}
