/* SPDX-License-Identifier: MIT */
#include "explain/undescribed.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "explain/gather.h"

enum { MAX_HEADS = 256 };

/* ---- a form that nobody has described ---- */

/* The weights of which the file has something else, by the name that this begins with: "a.q_proj" of a.q_proj.weight.
 */
struct undescribed {
    struct sp_check *check;
    struct sp_map modules; /* -> whether something else is there */
    bool *marks;           /* findings that are about them */
    size_t weights, tensors;
};

static bool is_matrix_finding(const struct sp_check *check, const struct sp_finding *finding)
{
    if (finding->cause != SP_NONE || finding->predicted == SP_NONE) return false;
    if (finding->kind != SP_FINDING_MISSING && finding->kind != SP_FINDING_SHAPE && finding->kind != SP_FINDING_DTYPE)
        return false;
    return sp_prediction_tensor(check->prediction, finding->predicted)->rank >= 2;
}

/* In the arena. */
static const char *module_of_finding(struct sp_check *check, const struct sp_finding *finding)
{
    const size_t length = strlen(finding->name), tail = strlen(".weight");
    const bool plain = length > tail && strcmp(finding->name + length - tail, ".weight") == 0;
    return sp_arena_copy(&check->arena, finding->name, length - (plain ? tail : 0));
}

static bool is_stray_tensor(const struct sp_finding *finding)
{
    return finding->cause == SP_NONE && finding->kind == SP_FINDING_UNEXPECTED;
}

/* The weight that an unexpected tensor is stored with, if any: "a.q_proj" of a.q_proj.W_q, "a.experts.up" of
 * a.experts.up_scale. */
static size_t module_of_name(const struct undescribed *all, const char *name)
{
    struct sp_text beginning = {0};
    size_t found = SIZE_MAX;
    for (size_t length = strlen(name); length && found == SIZE_MAX; length--) {
        if (name[length] != '.' && name[length] != '_') continue;
        beginning.length = 0;
        sp_text_append(&beginning, name, length);
        found = sp_map_get(&all->modules, beginning.data);
    }
    sp_text_free(&beginning);
    return found;
}

static void mark_undescribed(struct undescribed *all)
{
    const struct sp_check *check = all->check;
    bool *seen = sp_realloc(NULL, check->finding_count, sizeof *seen);
    memset(seen, 0, check->finding_count * sizeof *seen);
    for (size_t i = 0; i < check->finding_count; i++)
        if (is_matrix_finding(check, &check->findings[i]))
            sp_map_add(&all->modules, module_of_finding(all->check, &check->findings[i]), i);
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!is_stray_tensor(&check->findings[i])) continue;
        const size_t module = module_of_name(all, check->findings[i].name);
        if (module == SIZE_MAX) continue;
        all->marks[i] = seen[module] = true;
        all->tensors++;
    }
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (!is_matrix_finding(check, finding)) continue;
        const bool odd =
            finding->tensor != SP_NONE && sp_looks_packed(sp_inventory_tensor(check->inventory, finding->tensor));
        const size_t module = sp_map_get(&all->modules, module_of_finding(all->check, finding));
        if (!odd && !seen[module]) continue;
        all->marks[i] = true;
        all->weights += module == i;
        all->tensors += finding->tensor != SP_NONE && module == i;
    }
    free(seen);
}

/* ": 224 weights are there in another form, as 672 tensors, which are not compared"; "" when there is none. */
static const char *take_undescribed(struct sp_check *check, size_t cause)
{
    struct undescribed all = {.check = check, .marks = sp_realloc(NULL, check->finding_count + 1, sizeof *all.marks)};
    memset(all.marks, 0, check->finding_count * sizeof *all.marks);
    mark_undescribed(&all);
    for (size_t i = 0; i < check->finding_count; i++)
        if (all.marks[i]) sp_take(check, i, &check->causes[cause]);
    sp_map_free(&all.modules);
    free(all.marks);
    if (!all.weights) return "";
    return sp_arena_printf(&check->arena, ": %s stored in %s, which %s not compared",
                           all.weights == 1 ? "1 weight is"
                                            : sp_arena_printf(&check->arena, "%zu weights are", all.weights),
                           sp_count_of(&check->arena, all.tensors, "tensor"), all.tensors == 1 ? "is" : "are");
}

/* What the file has in a form that is not known cannot be told right or wrong; the rest is compared. */
void sp_say_undescribed(struct sp_check *check, const struct sp_quantised *quantised, const char *where)
{
    const char *failure = check->quantisation.failure;
    const bool unknown = !failure || strncmp(failure, "no table", 8) == 0;
    struct sp_cause *cause = sp_blame(check, SP_CAUSE_QUANTISED);
    const size_t index = (size_t)(cause - check->causes);
    const char *taken = take_undescribed(check, index);
    cause = &check->causes[index];
    cause->severity = unknown ? SP_SEVERITY_WARNING : SP_SEVERITY_ERROR;
    cause->untold = unknown && *taken;
    if (failure)
        cause->message = sp_arena_printf(&check->arena, "%s says %s, of which nothing can be predicted: %s%s", where,
                                         quantised->method, failure, taken);
    else if (*taken)
        cause->message = sp_arena_printf(&check->arena, "%s says %s, which no part of a table describes%s", where,
                                         quantised->method, taken);
    else
        cause->message = sp_arena_printf(&check->arena,
                                         "%s says %s, which no part of a table describes: its weights are compared as "
                                         "if they were not quantised",
                                         where, quantised->method);
    if (!failure)
        cause->hint = sp_arena_printf(
            &check->arena, "describe it as 'part quantised_%s(o, i)' and give it with --table FILE", quantised->method);
}

/* ---- scales of what attention keeps ---- */

static bool says_cache(const struct sp_quantised *quantised)
{
    static const char *const paths[] = {"kv_cache_scheme", "kv_cache_quant_algo", "export.kv_cache_group"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (sp_value_is_set(sp_value_at(quantised->object, paths[i]))) return true;
    return false;
}

/* One number, or one for each head, which is not as many as a matrix has. */
static bool is_cache_scale(const struct sp_check *check, const struct sp_finding *finding)
{
    static const char *const tails[] = {".k_scale",      ".v_scale",        ".q_scale",       ".k_zero_point",
                                        ".v_zero_point", ".k_global_scale", ".v_global_scale"};
    const struct sp_tensor *tensor;
    if (finding->kind != SP_FINDING_UNEXPECTED || finding->cause != SP_NONE || finding->tensor == SP_NONE) return false;
    tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (sp_ends_with(finding->name, tails[i])) return tensor->parameters <= MAX_HEADS;
    return false;
}

void sp_take_cache_scales(struct sp_check *check, const struct sp_quantised *quantised)
{
    struct sp_cause *cause = NULL;
    if (!says_cache(quantised)) return;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!is_cache_scale(check, &check->findings[i])) continue;
        if (!cause) cause = sp_blame(check, SP_CAUSE_QUANTISED);
        check->findings[i].severity = SP_SEVERITY_NOTE;
        sp_take(check, i, cause);
    }
    if (!cause) return;
    cause->severity = SP_SEVERITY_NOTE;
    sp_say(check, cause, "scales of the cache of keys and values");
}
