/* SPDX-License-Identifier: MIT
 * Flattened parameters. FSDP and ZeRO lay the parameters of a module in one row and give each rank a piece of it. Saved
 * as it is in memory, a rank has of each parameter a flat piece, or nothing; or one flat tensor for a whole module; or,
 * in the state of the optimizer, the row itself. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "explain/files/flat.h"
#include "explain/gather.h"
#include "names/components.h"
#include "names/wrappers.h"

static const char gather_hint[] = "gather the ranks before saving: FSDP's FULL_STATE_DICT, or 'accelerate "
                                  "merge-weights' for what is saved already";

/* ---- a piece of each parameter ---- */

/* A flat tensor with no more elements than a matrix has, or with fewer than a vector has. */
static bool is_flat(const struct shapeproof_check *check, const struct shapeproof_finding *finding, const void *context)
{
    (void)context;
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE)) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    return tensor->rank == 1 && !expected->stands_for && tensor->shape[0] <= expected->parameters;
}

/* Of a matrix, neither all of it nor the single element that stands for one that is elsewhere. */
static bool is_piece(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                     const void *context)
{
    if (!is_flat(check, finding, context)) return false;
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    const uint64_t elements = shapeproof_inventory_tensor(check->inventory, finding->tensor)->shape[0];
    return expected->rank > 1 && elements > 1 && elements < expected->parameters;
}

/* One tensor alone is a wrong one. */
bool sp_has_flat_pieces(const struct shapeproof_check *check)
{
    return sp_count_wanted(check, is_piece, NULL) > 0 && sp_count_wanted(check, is_flat, NULL) > 1;
}

static void explain_pieces(struct shapeproof_check *check)
{
    if (!sp_has_flat_pieces(check)) return;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_FLAT_PIECES, is_flat, NULL);
    cause->message =
        sp_arena_printf(&check->arena, "%s %s flattened, in pieces or empty, as one rank of FSDP holds them: %s",
                        sp_tensors_of(check, cause), cause->explains == 1 ? "is" : "are", sp_names_of(check, cause));
    cause->hint = gather_hint;
}

/* ---- one flat tensor for a module ---- */

/* The length of the module's name, with its dot, in front of what holds its parameters; SIZE_MAX for any other tensor.
 */
static size_t flat_module(const char *name)
{
    const size_t last = sp_last_component(name, strlen(name), ".");
    const char *own = name + last + (name[last] == '_');
    if (strncmp(own, "flat_param", strlen("flat_param")) != 0) return SIZE_MAX;
    return strspn(own + strlen("flat_param"), "_0123456789") == strlen(own + strlen("flat_param")) ? last : SIZE_MAX;
}

/* Whether the missing tensor is below one of the modules, of which wrappers and what holds the whole do not count. */
static bool is_below(const char *tensor, const char *const *modules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(tensor, modules[i], strlen(modules[i])) == 0) return true;
    return false;
}

static const char *bare_module(struct sp_arena *arena, const char *name, size_t length)
{
    struct sp_text bare = {0};
    sp_unwrap(&bare, sp_arena_copy(arena, name, length));
    const char *module = sp_text_keep(&bare, arena);
    while (strncmp(module, "module.", 7) == 0 || strncmp(module, "_fpw_module.", 12) == 0)
        module = sp_behind_component(module, ".");
    return module;
}

static void take_below(struct shapeproof_check *check, const char *const *modules, size_t count,
                       const struct shapeproof_cause *cause)
{
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_MISSING) &&
            is_below(check->findings[i].name, modules, count))
            sp_attribute_finding(check, i, cause);
}

static void explain_flat_modules(struct shapeproof_check *check)
{
    const char **modules = sp_realloc(NULL, check->finding_count, sizeof *modules), *first = NULL;
    struct shapeproof_cause *cause = NULL;
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const size_t length =
            sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED) ? flat_module(finding->name) : SIZE_MAX;
        if (length == SIZE_MAX) continue;
        if (!cause) cause = sp_blame(check, SP_CAUSE_FLAT_PIECES);
        if (!first) first = finding->name;
        modules[count++] = bare_module(&check->arena, finding->name, length);
        sp_attribute_finding(check, i, cause);
    }
    if (cause) {
        take_below(check, modules, count, cause);
        cause->message = sp_arena_printf(&check->arena, "%s of FSDP, such as %s, in place of %s",
                                         sp_count_of(&check->arena, count, "flat parameter"), first,
                                         sp_count_of(&check->arena, cause->explains - count, "tensor"));
        cause->hint = gather_hint;
    }
    free(modules);
}

/* ---- the row itself ---- */

static const char *flat_group(const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        if (strstr(name, "fp32_flat_groups") || strstr(name, "single_partition_of_fp32_groups")) return name;
    }
    return NULL;
}

static void explain_flat_groups(struct shapeproof_check *check)
{
    static const enum shapeproof_finding_kind missing = SHAPEPROOF_FINDING_MISSING;
    const char *group = sp_check_matched(check) ? NULL : flat_group(check->inventory);
    struct shapeproof_cause *cause = group ? sp_gather(check, SP_CAUSE_FLAT_PIECES, sp_is_open_kind, &missing) : NULL;
    if (!cause) return;
    cause->message = sp_arena_printf(
        &check->arena, "this is what one rank of ZeRO has of the optimizer, with the parameters in a row: %s", group);
    cause->hint = "run zero_to_fp32.py, which lies beside the ranks' files, and check what it writes";
}

void sp_explain_flat(struct shapeproof_check *check)
{
    if (!sp_check_open(check) || check->config->variables) return; /* Keras saves a model whole */
    explain_pieces(check);
    explain_flat_modules(check);
    explain_flat_groups(check);
}
