/* SPDX-License-Identifier: MIT */
#include "explain/gather.h"

#include <stdlib.h>

#include "model/layouts.h"

static size_t number_of_finding(const struct shapeproof_check *check, const struct shapeproof_finding *finding)
{
    return (size_t)(finding - check->findings);
}

static size_t number_of_cause(const struct shapeproof_check *check, const struct shapeproof_cause *cause)
{
    return (size_t)(cause - check->causes);
}

bool sp_is_marked(const struct shapeproof_check *check, const struct shapeproof_finding *finding, const void *marks)
{
    return ((const bool *)marks)[number_of_finding(check, finding)];
}

bool sp_is_open_kind(const struct shapeproof_check *check, const struct shapeproof_finding *finding, const void *kind)
{
    (void)check;
    return sp_finding_is_open_as(finding, *(const enum shapeproof_finding_kind *)kind);
}

bool sp_has_transposed_shape(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *unused)
{
    (void)unused;
    if (finding->kind != SHAPEPROOF_FINDING_SHAPE) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    return tensor->rank == expected->rank && sp_is_transposed(tensor->shape, expected->shape, tensor->rank);
}

size_t sp_count_wanted(const struct shapeproof_check *check, sp_wanted *wanted, const void *context)
{
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count; i++)
        count += check->findings[i].cause == SHAPEPROOF_NONE && wanted(check, &check->findings[i], context);
    return count;
}

struct shapeproof_cause *sp_gather(struct shapeproof_check *check, enum sp_cause_kind kind, sp_wanted *wanted,
                                   const void *context)
{
    struct shapeproof_cause *cause = NULL;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (check->findings[i].cause != SHAPEPROOF_NONE || !wanted(check, &check->findings[i], context)) continue;
        if (!cause) cause = sp_blame(check, kind);
        sp_attribute_finding(check, i, cause);
    }
    return cause;
}

struct shapeproof_cause *sp_blame(struct shapeproof_check *check, enum sp_cause_kind kind)
{
    return sp_check_add_cause(check, sp_cause_of(kind));
}

void sp_attribute_finding(struct shapeproof_check *check, size_t finding, const struct shapeproof_cause *cause)
{
    sp_check_explain(check, finding, number_of_cause(check, cause));
}

const char *sp_names_of(struct shapeproof_check *check, const struct shapeproof_cause *cause)
{
    const size_t place = number_of_cause(check, cause);
    return sp_check_names(check, sp_explained_by, &place);
}

const char *sp_tensors_of(struct shapeproof_check *check, const struct shapeproof_cause *cause)
{
    return sp_count_of(&check->arena, cause->explains, "tensor");
}

void sp_cause_set_message(struct shapeproof_check *check, struct shapeproof_cause *cause, const char *says)
{
    cause->message =
        sp_arena_printf(&check->arena, "%s: %s (%s)", says, sp_names_of(check, cause), sp_tensors_of(check, cause));
}

const struct shapeproof_finding *sp_first_of(const struct shapeproof_check *check, const struct shapeproof_cause *cause)
{
    const size_t place = number_of_cause(check, cause);
    size_t first = 0;
    while (check->findings[first].cause != place) first++;
    return &check->findings[first];
}

struct of_kind {
    size_t cause;
    enum shapeproof_finding_kind kind;
};

static bool of_cause_and_kind(const struct shapeproof_finding *finding, const void *context)
{
    const struct of_kind *of = context;
    return finding->cause == of->cause && finding->kind == of->kind;
}

const char *sp_cause_file_summary(struct shapeproof_check *check, size_t cause)
{
    static const struct {
        enum shapeproof_finding_kind kind;
        const char *verb;
    } kinds[] = {{SHAPEPROOF_FINDING_UNEXPECTED, "has"},
                 {SHAPEPROOF_FINDING_MISSING, "lacks"},
                 {SHAPEPROOF_FINDING_SHAPE, "has another shape of"}};
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct of_kind of = {cause, kinds[i].kind};
        const char *names = sp_check_names(check, of_cause_and_kind, &of);
        if (*names) sp_text_printf(&text, "%s%s %s", text.length ? " and " : "", kinds[i].verb, names);
    }
    return sp_text_keep(&text, &check->arena);
}

bool sp_is_of_transformers_5(const struct shapeproof_check *check)
{
    const struct shapeproof_value said = sp_value_member(sp_config_hyper(check->config)->root, "transformers_version");
    return said.type == SHAPEPROOF_VALUE_STRING && strtol(said.string, NULL, 10) >= 5;
}
