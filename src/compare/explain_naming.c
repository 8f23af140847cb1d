/* SPDX-License-Identifier: MIT
 * Causes that concern names alone: wrapper prefixes, base prefixes, names of older versions, trainer state. */
#include "compare/check.h"

#include <stdlib.h>
#include <string.h>

#include "compare/collapse.h"

static size_t count_if(const struct sp_check *check, bool (*wanted)(const struct sp_check *, size_t))
{
    size_t count = 0;
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++) count += wanted(check, i);
    return count;
}

static bool begins_with_strip(const struct sp_check *check, size_t i)
{
    return strncmp(sp_inventory_tensor(check->inventory, i)->name, check->naming.strip, strlen(check->naming.strip)) ==
           0;
}

/* Matched only because something was put in front of its name. */
static bool lacks_prefix(const struct sp_check *check, size_t i)
{
    const size_t predicted = check->match.predicted_of[i];
    if (predicted == SP_NONE || check->match.old_name[i]) return false;
    const char *name = sp_inventory_tensor(check->inventory, i)->name;
    const char *wanted = sp_prediction_tensor(check->prediction, predicted)->name;
    return strlen(wanted) > strlen(name)
               ? true
               : strcmp(wanted, name) != 0 && strncmp(wanted, check->naming.add, strlen(check->naming.add)) == 0;
}

static bool matched_by_old_name(const struct sp_check *check, size_t i) { return check->match.old_name[i]; }

static void prefix_cause(struct sp_check *check, const char *id, const char *message, size_t explains)
{
    if (explains)
        sp_check_add_cause(
            check,
            (struct sp_cause){.id = id, .severity = SP_SEVERITY_WARNING, .message = message, .explains = explains});
}

static void old_names(struct sp_check *check)
{
    const size_t count = count_if(check, matched_by_old_name), total = sp_inventory_count(check->inventory);
    struct sp_collapse_input *input = sp_realloc(NULL, total, sizeof *input);
    struct sp_collapsed *groups;
    size_t used = 0;
    for (size_t i = 0; i < total; i++)
        if (check->match.old_name[i])
            input[used++] = (struct sp_collapse_input){sp_inventory_tensor(check->inventory, i)->name, 0};
    sp_collapse(&check->arena, input, used, &groups);
    if (used)
        prefix_cause(
            check, "old-names",
            sp_arena_printf(&check->arena, "%s a name of an older version: %s%s",
                            count == 1 ? "1 tensor has" : sp_arena_printf(&check->arena, "%zu tensors have", count),
                            groups[0].name, groups[0].count < count ? ", ..." : ""),
            count);
    free(input);
}

/* What stands in front of the predicted name in the file's name, when all of the latter ends with the former. */
static const char *front_of(struct sp_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    if (predicted == SP_NONE || check->match.old_name[tensor]) return NULL;
    const char *name = sp_inventory_tensor(check->inventory, tensor)->name;
    const char *wanted = sp_prediction_tensor(check->prediction, predicted)->name;
    const size_t length = strlen(name), tail = strlen(wanted);
    if (tail >= length || strcmp(name + length - tail, wanted) != 0) return NULL;
    return sp_arena_copy(&check->arena, name, length - tail);
}

/* "module._orig_mod." when every name that has a meaning begins with it; NULL when they differ in that. */
static const char *common_front(struct sp_check *check)
{
    const char *front = NULL;
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++) {
        const char *own = check->match.predicted_of[i] == SP_NONE ? front : front_of(check, i);
        if (!own) return NULL;
        if (front && strcmp(front, own) != 0) return NULL;
        front = own;
    }
    return front;
}

static void wrapper_cause(struct sp_check *check)
{
    const char *front = common_front(check);
    const size_t total = sp_inventory_count(check->inventory);
    const char *message = "components of a training wrapper stand in the names of the file";
    if (front) message = sp_arena_printf(&check->arena, "every name in the file begins with '%s'", front);
    prefix_cause(check, "wrapper", message, total);
}

static void strip_cause(struct sp_check *check)
{
    const size_t with = count_if(check, begins_with_strip), total = sp_inventory_count(check->inventory);
    const char *who = with == total ? "every name in the file begins"
                                    : sp_arena_printf(&check->arena, "%zu of %zu names in the file begin", with, total);
    prefix_cause(check, "prefix", sp_arena_printf(&check->arena, "%s with '%s'", who, check->naming.strip), with);
}

void sp_explain_naming(struct sp_check *check)
{
    if (check->naming.drop_wrappers) wrapper_cause(check);
    else if (*check->naming.strip) strip_cause(check);
    if (*check->naming.add) {
        const size_t without = count_if(check, lacks_prefix);
        prefix_cause(check, "base-prefix",
                     sp_arena_printf(&check->arena, "the file leaves out '%s' in front of %s", check->naming.add,
                                     sp_count_of(&check->arena, without, "name")),
                     without);
    }
    old_names(check);
}

void sp_explain_state(struct sp_check *check)
{
    size_t cause = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (strcmp(check->findings[i].id, "state") != 0) continue;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(check, (struct sp_cause){.id = "state", .severity = SP_SEVERITY_NOTE});
        sp_check_explain(check, i, cause);
    }
    if (cause != SP_NONE)
        check->causes[cause].message =
            sp_arena_printf(&check->arena, "%s of optimizer or trainer state beside the model",
                            sp_count_of(&check->arena, check->causes[cause].explains, "tensor"));
}
