/* SPDX-License-Identifier: MIT
 * Causes that concern names alone: wrappers, prefixes, names of older versions, trainer state. The match has already
 * looked past them; here they are counted and said once. */
#include <stdlib.h>
#include <string.h>

#include "compare/check.h"
#include "compare/collapse.h"

static const char *name_of(const struct sp_check *check, size_t tensor)
{
    return sp_inventory_tensor(check->inventory, tensor)->name;
}

/* How many matched names had that done to them. */
static size_t count_renamed(const struct sp_check *check, unsigned renaming)
{
    size_t count = 0;
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++)
        count += check->match.predicted_of[i] != SP_NONE && (check->match.renaming[i] & renaming);
    return count;
}

static void warn(struct sp_check *check, const char *id, size_t explains, const char *message)
{
    sp_check_add_cause(
        check, (struct sp_cause){.id = id, .severity = SP_SEVERITY_WARNING, .message = message, .explains = explains});
}

/* Whether every name in the file begins with it. */
static bool is_everywhere(const struct sp_check *check, const char *prefix, size_t length)
{
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++)
        if (strncmp(name_of(check, i), prefix, length) != 0) return false;
    return true;
}

/* "every name in the file begins" / "12 of 148 names in the file begin". */
static const char *who_begins(struct sp_check *check, const char *prefix, size_t length, size_t count)
{
    if (is_everywhere(check, prefix, length)) return "every name in the file begins";
    return sp_arena_printf(&check->arena, "%zu of %zu names in the file begin", count,
                           sp_inventory_count(check->inventory));
}

/* The length of what stands in front of the predicted name in the file's name; 0 when the one does not end with the
 * other. */
static size_t front_length(const struct sp_check *check, size_t tensor)
{
    const char *name = name_of(check, tensor);
    const char *wanted = sp_prediction_tensor(check->prediction, check->match.predicted_of[tensor])->name;
    const size_t length = strlen(name), tail = strlen(wanted);
    return tail < length && strcmp(name + length - tail, wanted) == 0 ? length - tail : 0;
}

/* Wrappers and a prefix that make one beginning of all names, "module._orig_mod.", are said as one. */
static bool say_one_front(struct sp_check *check, size_t count)
{
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++) {
        if (check->match.predicted_of[i] == SP_NONE || !(check->match.renaming[i] & SP_UNWRAPPED)) continue;
        const size_t length = front_length(check, i);
        if (!length || !is_everywhere(check, name_of(check, i), length)) return false;
        const char *front = sp_arena_copy(&check->arena, name_of(check, i), length);
        warn(check, "wrapper", count, sp_arena_printf(&check->arena, "every name in the file begins with '%s'", front));
        return true;
    }
    return false;
}

static void say_wrappers(struct sp_check *check)
{
    const size_t count = count_renamed(check, SP_UNWRAPPED);
    if (!count || say_one_front(check, count)) return;
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++) {
        const char *wrapper = sp_wrapper_in(name_of(check, i));
        if (!wrapper) continue;
        warn(check, "wrapper", count,
             sp_arena_printf(&check->arena, "the wrapper '%s' stands in %zu of %zu names in the file", wrapper, count,
                             sp_inventory_count(check->inventory)));
        return;
    }
}

void sp_explain_naming(struct sp_check *check)
{
    const char *strip = check->naming.strip, *add = check->naming.add;
    const size_t stripped = count_renamed(check, SP_STRIPPED), added = count_renamed(check, SP_ADDED);
    const size_t before = check->cause_count;
    say_wrappers(check);
    const bool said = check->cause_count > before && strstr(check->causes[before].message, strip);
    if (stripped && !said)
        warn(check, "prefix", stripped,
             sp_arena_printf(&check->arena, "%s with '%s'", who_begins(check, strip, strlen(strip), stripped), strip));
    if (added)
        warn(check, "base-prefix", added,
             sp_arena_printf(&check->arena, "the file leaves out '%s' in front of %s", add,
                             sp_count_of(&check->arena, added, "name")));
}

void sp_explain_old_names(struct sp_check *check)
{
    const size_t total = sp_inventory_count(check->inventory);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < total; i++)
        if (check->match.renaming[i] & SP_OLD_NAME) names[count++] = name_of(check, i);
    if (count)
        warn(check, "old-names", count,
             sp_arena_printf(&check->arena, "%s of an older version: %s",
                             count == 1 ? "1 tensor has a name"
                                        : sp_arena_printf(&check->arena, "%zu tensors have names", count),
                             sp_some_names(check, names, count)));
    free(names);
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
