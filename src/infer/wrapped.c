/* SPDX-License-Identifier: MIT
 * A table may be nothing but another one, which the model's name chooses, with more in front of its names: such as that
 * of timm's models within transformers. What is explained under its name with all of that taken away is the whole. */
#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"
#include "infer/infer.h"

/* What was told of the inner model is told of the same key; how many classes it tells apart has another one. */
static const char *key_in_wrapper(const char *inner)
{
    const bool counts_classes = strcmp(inner, "num_classes") == 0 || strcmp(inner, "model_args.num_classes") == 0;
    return counts_classes ? "num_labels" : inner;
}

/* Without classes there is no number of them. */
static bool is_told(const struct sp_fact *fact)
{
    const bool is_none = fact->value.type == SHAPEPROOF_VALUE_INT && !fact->value.integer;
    return sp_value_is_set(fact->value) && fact->value.type != SHAPEPROOF_VALUE_LIST &&
           fact->value.type != SHAPEPROOF_VALUE_OBJECT && !is_none;
}

static void tell_as_inner(struct sp_known *known, const struct sp_fact *fact)
{
    const char *key = sp_arena_string(known->arena, key_in_wrapper(fact->path));
    struct shapeproof_value value = fact->value;
    if (value.type == SHAPEPROOF_VALUE_STRING) value.string = sp_arena_string(known->arena, value.string);
    const struct sp_want want = sp_want_value(value);
    known->reason = fact->reason;
    known->reason.name = fact->reason.name ? sp_arena_string(known->arena, fact->reason.name) : "";
    known->touched = 0;
    if (fact->guess) sp_known_guess(known, key);
    sp_known_tell(known, key, &want);
}

struct sp_attempt *sp_attempt_wrapped(const struct sp_attempt *inner, const struct sp_unit *wrapper, const char *class)
{
    struct sp_attempt *attempt = sp_realloc(NULL, 1, sizeof *attempt);
    *attempt = (struct sp_attempt){.tables = inner->tables,
                                   .table = wrapper,
                                   .class = class,
                                   .fit = {.table = wrapper, .class = class},
                                   .view = inner->view};
    sp_outline_init(&attempt->outline, wrapper, class, NULL);
    for (size_t i = 0; i < inner->outline.solver.known.count; i++)
        if (is_told(&inner->outline.solver.known.facts[i]))
            tell_as_inner(&attempt->outline.solver.known, &inner->outline.solver.known.facts[i]);
    if (inner->name) attempt->by_name = sp_predict_named(attempt, inner->name);
    sp_attempt_verify_anew(attempt);
    return attempt;
}
