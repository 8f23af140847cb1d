/* SPDX-License-Identifier: MIT
 * Expected findings of a check: they are notes, and so are the causes that explain nothing else. */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "expect/expect.h"

/* As the table calls it, when that is another name. */
static const char *other_name(const struct shapeproof_check *check, const struct shapeproof_finding *finding)
{
    if (finding->predicted == SHAPEPROOF_NONE) return NULL;
    const char *name = shapeproof_prediction_tensor(check->prediction, finding->predicted)->name;
    return strcmp(name, finding->name) != 0 ? name : NULL;
}

static void expect_check_findings(struct shapeproof_check *check, struct sp_expecting *expecting)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        struct shapeproof_finding *finding = &check->findings[i];
        const char *cause = finding->cause == SHAPEPROOF_NONE ? NULL : check->causes[finding->cause].id;
        finding->reason = sp_expected(expecting, finding->id, cause, finding->name, other_name(check, finding));
        if (finding->reason) finding->severity = SHAPEPROOF_SEVERITY_NOTE;
    }
}

static void excuse_cause(struct shapeproof_cause *cause)
{
    cause->severity = SHAPEPROOF_SEVERITY_NOTE;
    cause->expected = true;
    cause->hint = NULL;
    cause->patch = (struct shapeproof_value){0};
}

/* A cause that has no findings, such as a prefix, is expected by its id and "*". */
static void expect_cause(struct shapeproof_check *check, struct sp_expecting *expecting, struct shapeproof_cause *cause)
{
    const char *reason = sp_expected(expecting, cause->id, NULL, "", NULL);
    if (!reason) return;
    excuse_cause(cause);
    cause->message = sp_arena_printf(&check->arena, "%s (expected: %s)", cause->message, reason);
}

/* A cause whose findings are expected, all of them, is no fault. */
static void excuse_causes(struct shapeproof_check *check, struct sp_expecting *expecting)
{
    size_t *expected = sp_realloc(NULL, check->cause_count, sizeof *expected);
    size_t *others = sp_realloc(NULL, check->cause_count, sizeof *others);
    for (size_t i = 0; i < check->cause_count; i++) expected[i] = others[i] = 0;
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].cause != SHAPEPROOF_NONE)
            (check->findings[i].reason ? expected : others)[check->findings[i].cause]++;
    for (size_t i = 0; i < check->cause_count; i++) {
        if (!expected[i] && !others[i]) expect_cause(check, expecting, &check->causes[i]);
        if (expected[i] && !others[i]) excuse_cause(&check->causes[i]);
    }
    sp_free(expected);
    sp_free(others);
}

static void add_unmet_to_check(void *check, struct sp_left_over left)
{
    sp_check_add_finding(check, (struct shapeproof_finding){.kind = left.expired ? SHAPEPROOF_FINDING_EXPIRED
                                                                                 : SHAPEPROOF_FINDING_UNUSED,
                                                            .name = left.name,
                                                            .message = left.message,
                                                            .tensor = SHAPEPROOF_NONE,
                                                            .predicted = SHAPEPROOF_NONE});
}

void sp_check_expect(struct shapeproof_check *check, const struct shapeproof_expectations *expectations)
{
    struct sp_expecting expecting = {.expectations = expectations};
    expect_check_findings(check, &expecting);
    excuse_causes(check, &expecting);
    sp_expecting_end(&expecting, &check->arena, add_unmet_to_check, check);
    sp_decide(check);
    sp_group_findings(check);
}
