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

/* The length of what was taken away in front of the name; 0 when it was taken from elsewhere too, or nothing was. */
static size_t front_length(struct sp_finder *finder, const char *name)
{
    unsigned renaming = 0;
    const char *bare = sp_finder_bare(finder, name, &renaming);
    const size_t length = strlen(name), tail = strlen(bare);
    return tail < length && strcmp(name + length - tail, bare) == 0 ? length - tail : 0;
}

/* What stands in front of every predicted name in the same way, "module._orig_mod.", is said as one. Returns its
 * length, or 0 when the names differ in what was taken away. */
static size_t common_front(const struct sp_check *check)
{
    struct sp_finder finder = {.naming = &check->naming};
    size_t front = 0;
    bool common = true;
    for (size_t i = 0; i < sp_inventory_count(check->inventory) && common; i++) {
        if (check->match.predicted_of[i] == SP_NONE) continue;
        const size_t length = front_length(&finder, name_of(check, i));
        common = length && (!front || length == front);
        front = length;
    }
    sp_finder_free(&finder);
    return common && is_everywhere(check, name_of(check, 0), front) ? front : 0;
}

/* "the wrapper '_orig_mod' stands", "the wrappers '_orig_mod', '_fsdp_wrapped_module' stand". */
static const char *which_wrappers(struct sp_check *check)
{
    enum { MOST = 8 };
    const char *seen[MOST], *list = "";
    size_t count = 0;
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++) {
        const char *wrapper = sp_wrapper_in(name_of(check, i));
        bool known = !wrapper || count == MOST;
        for (size_t k = 0; k < count; k++) known = known || seen[k] == wrapper;
        if (known) continue;
        list = sp_arena_printf(&check->arena, "%s%s'%s'", list, count ? ", " : "", wrapper);
        seen[count++] = wrapper;
    }
    return sp_arena_printf(&check->arena, count > 1 ? "the wrappers %s stand" : "the wrapper %s stands", list);
}

/* True when that says all that was taken away. */
static bool say_wrappers(struct sp_check *check)
{
    const size_t count = count_renamed(check, SP_UNWRAPPED), front = count ? common_front(check) : 0;
    if (!count) return false;
    if (front)
        warn(check, "wrapper", count,
             sp_arena_printf(&check->arena, "every name in the file begins with '%s'",
                             sp_arena_copy(&check->arena, name_of(check, 0), front)));
    else
        warn(check, "wrapper", count,
             sp_arena_printf(&check->arena, "%s in %zu of %zu names in the file", which_wrappers(check), count,
                             sp_inventory_count(check->inventory)));
    return front;
}

static void warn_of_era(struct sp_check *check)
{
    const size_t count = count_renamed(check, SP_TRANSLATED), total = sp_inventory_count(check->inventory);
    for (size_t i = 0; i < total; i++) {
        const size_t predicted = check->match.predicted_of[i];
        if (predicted == SP_NONE || !(check->match.renaming[i] & SP_TRANSLATED)) continue;
        const char *message = sp_arena_printf(
            &check->arena, "names %s: %s for %s (%s)", check->naming.era->says, name_of(check, i),
            sp_prediction_tensor(check->prediction, predicted)->name, sp_count_of(&check->arena, count, "tensor"));
        sp_check_add_cause(check, (struct sp_cause){.id = "other-names",
                                                    .severity = SP_SEVERITY_WARNING,
                                                    .message = message,
                                                    .hint = check->naming.era->hint,
                                                    .explains = count});
        return;
    }
}

void sp_explain_naming(struct sp_check *check)
{
    const char *strip = check->naming.strip, *add = check->naming.add;
    const size_t stripped = count_renamed(check, SP_STRIPPED), added = count_renamed(check, SP_ADDED);
    if (!say_wrappers(check) && stripped)
        warn(check, "prefix", stripped,
             sp_arena_printf(&check->arena, "%s with '%s'", who_begins(check, strip, strlen(strip), stripped), strip));
    if (check->naming.era) warn_of_era(check);
    else if (added)
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
                             sp_some_names(&check->arena, names, count)));
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
