/* SPDX-License-Identifier: MIT */
#include "explain/undescribed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/names.h"
#include "explain/gather.h"
#include "names/components.h"

enum { MAX_HEADS = 256 }; /* numbers in a scale of attention's cache, at most */

/* ---- a form that nobody has described ---- */

/* Weights that the file stores in a form which no table describes, with all findings about them:
 *
 *     0  missing      a.q_proj.weight     the weight, by its module "a.q_proj"
 *     1  unexpected   a.q_proj.W_q        stored in its place
 *     2  unexpected   a.q_proj.meta       the same
 *     -> 1 weight in 2 tensors */
struct undescribed {
    struct shapeproof_check *check;
    struct sp_map modules;   /* "a.q_proj" -> the first finding about its weight */
    bool *marks;             /* for each finding whether it is about such a weight */
    size_t weights, tensors; /* how many weights, and in how many tensors of the file */
};

/* Whether a finding without a cause is about a predicted matrix: missing, or there in another shape or dtype. */
static bool is_matrix_finding(const struct shapeproof_check *check, const struct shapeproof_finding *finding)
{
    if (finding->cause != SHAPEPROOF_NONE || finding->predicted == SHAPEPROOF_NONE) return false;
    if (finding->kind != SHAPEPROOF_FINDING_MISSING && finding->kind != SHAPEPROOF_FINDING_SHAPE &&
        finding->kind != SHAPEPROOF_FINDING_DTYPE)
        return false;
    return shapeproof_prediction_tensor(check->prediction, finding->predicted)->rank >= 2;
}

/* The module of the finding's weight, "a.q_proj" of "a.q_proj.weight"; the name itself where it has another end. In the
 * arena. */
static const char *module_of_finding(struct shapeproof_check *check, const struct shapeproof_finding *finding)
{
    const size_t length = strlen(finding->name), tail = strlen(".weight");
    const bool plain = length > tail && strcmp(finding->name + length - tail, ".weight") == 0;
    return sp_arena_copy(&check->arena, finding->name, length - (plain ? tail : 0));
}

static bool is_stray_tensor(const struct shapeproof_finding *finding)
{
    return finding->cause == SHAPEPROOF_NONE && finding->kind == SHAPEPROOF_FINDING_UNEXPECTED;
}

/* The entry in `modules` of the weight that an unexpected tensor is stored with: that of "a.q_proj" for a.q_proj.W_q,
 * of "a.experts.up" for a.experts.up_scale. The longest beginning up to a dot or an underscore counts; SIZE_MAX for
 * none. */
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

/* Marks the findings about weights in an undescribed form, and counts them. A weight is one if unexpected tensors are
 * stored with it, or if it is stored in a dtype of packed numbers. In three passes: the matrices with findings; the
 * unexpected tensors stored with them; then the matrices for which there were any. A weight with several findings
 * counts at the first one. */
static void mark_undescribed(struct undescribed *all)
{
    const struct shapeproof_check *check = all->check;
    bool *has_others = sp_realloc(NULL, check->finding_count, sizeof *has_others); /* for each weight's first finding */
    memset(has_others, 0, check->finding_count * sizeof *has_others);
    for (size_t i = 0; i < check->finding_count; i++)
        if (is_matrix_finding(check, &check->findings[i]))
            sp_map_add(&all->modules, module_of_finding(all->check, &check->findings[i]), i);
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!is_stray_tensor(&check->findings[i])) continue;
        const size_t weight = module_of_name(all, check->findings[i].name);
        if (weight == SIZE_MAX) continue;
        all->marks[i] = has_others[weight] = true;
        all->tensors++;
    }
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!is_matrix_finding(check, finding)) continue;
        const bool is_stored = finding->tensor != SHAPEPROOF_NONE;
        const bool is_packed =
            is_stored && sp_looks_packed(shapeproof_inventory_tensor(check->inventory, finding->tensor));
        const size_t weight = sp_map_get(&all->modules, module_of_finding(all->check, finding));
        if (!is_packed && !has_others[weight]) continue;
        all->marks[i] = true;
        if (weight != i) continue;
        all->weights++;
        all->tensors += is_stored;
    }
    sp_free(has_others);
}

/* Attributes the findings about weights in an undescribed form to the cause with that index, and returns what is said
 * of them: ": 224 weights are stored in 672 tensors, which are not compared"; "" when there are none. */
static const char *take_undescribed(struct shapeproof_check *check, size_t cause)
{
    struct undescribed all = {.check = check, .marks = sp_realloc(NULL, check->finding_count + 1, sizeof *all.marks)};
    memset(all.marks, 0, check->finding_count * sizeof *all.marks);
    mark_undescribed(&all);
    for (size_t i = 0; i < check->finding_count; i++)
        if (all.marks[i]) sp_attribute_finding(check, i, &check->causes[cause]);
    sp_map_free(&all.modules);
    sp_free(all.marks);
    if (!all.weights) return "";
    return sp_arena_printf(&check->arena, ": %s stored in %s, which %s not compared",
                           all.weights == 1 ? "1 weight is"
                                            : sp_arena_printf(&check->arena, "%zu weights are", all.weights),
                           sp_count_of(&check->arena, all.tensors, "tensor"), all.tensors == 1 ? "is" : "are");
}

/* Whether a predicted matrix is in the file in a dtype of packed numbers, such as F8_E4M3: it may hold codes. */
static bool has_packed_matrix(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        if (check->match.predicted_of[i] != SHAPEPROOF_NONE && tensor->rank >= 2 && sp_looks_packed(tensor))
            return true;
    }
    return false;
}

/* A warning, and an unknown verdict (untold), where no part of a table describes the method, or the method is a form of
 * one for which there is "no table", and the file has packed numbers or other tensors in place of weights: these cannot
 * be judged, and the rest is compared. An error where the part fails for another reason: then the configuration is
 * wrong. */
void sp_say_undescribed(struct shapeproof_check *check, const struct sp_quantised *quantised, const char *where)
{
    const char *failure = check->quantisation.failure;
    const bool unknown = !failure || strncmp(failure, "no table", strlen("no table")) == 0;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_QUANTISED);
    const size_t index = (size_t)(cause - check->causes);
    const char *taken = take_undescribed(check, index);
    cause = &check->causes[index];
    cause->severity = unknown ? SHAPEPROOF_SEVERITY_WARNING : SHAPEPROOF_SEVERITY_ERROR;
    cause->untold = unknown && (*taken || has_packed_matrix(check));
    if (failure)
        cause->message = sp_arena_printf(&check->arena, "%s says %s, for which nothing can be predicted: %s%s", where,
                                         quantised->method, failure, taken);
    else if (*taken)
        cause->message = sp_arena_printf(&check->arena, "%s says %s, which no part of a table describes%s", where,
                                         quantised->method, taken);
    else
        cause->message = sp_arena_printf(&check->arena,
                                         "%s says %s, which no part of a table describes: the weights are compared "
                                         "as if they were not quantised",
                                         where, quantised->method);
    if (!failure)
        cause->hint = sp_arena_printf(
            &check->arena, "describe it as 'part quantised_%s(o, i)' and give it with --table FILE", quantised->method);
}

/* ---- a form that no configuration names ---- */

/* Tensors of integers or bytes that stand in place of weights, all called alike: "ternary_weight". */
struct own_storage {
    struct shapeproof_check *check;
    size_t *missing;  /* for each predicted tensor the open finding that it is missing, or SHAPEPROOF_NONE */
    const char *tail; /* "ternary_weight", that of the first one */
    const struct shapeproof_tensor *first;
    size_t weights; /* how many of these tensors there are */
    uint64_t pack;  /* weights in an element, the same for all; 0 where that varies */
};

/* The predicted weight of rank 2 or more that is missing and that the tensor belongs to, "fc.weight" of
 * "fc.ternary_weight" or "fc.weight.packed", "experts.up" of "experts.up_packed"; SHAPEPROOF_NONE without one. */
static size_t missing_weight_of(const struct own_storage *own, struct sp_finder *finder, const char *name)
{
    struct sp_arena *arena = &own->check->arena;
    const size_t tail = sp_last_component(name, strlen(name), ".");
    const char *line = strrchr(name + tail, '_');
    const char *candidates[] = {sp_arena_printf(arena, "%.*sweight", (int)tail, name),
                                sp_arena_printf(arena, "%.*s", (int)(tail ? tail - 1 : 0), name),
                                sp_arena_printf(arena, "%.*s", line ? (int)(line - name) : 0, name)};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        unsigned renaming = 0;
        const size_t found = *candidates[i] ? sp_finder_find(finder, candidates[i], &renaming) : SHAPEPROOF_NONE;
        if (found == SHAPEPROOF_NONE || own->missing[found] == SHAPEPROOF_NONE) continue;
        if (shapeproof_prediction_tensor(own->check->prediction, found)->rank >= 2) return found;
    }
    return SHAPEPROOF_NONE;
}

/* Whether the tensor may hold the weight: it has at least one bit for each element of the weight, and no more elements.
 */
static bool can_hold(const struct shapeproof_tensor *tensor, const struct shapeproof_predicted *weight)
{
    uint64_t bits;
    return tensor->parameters <= weight->parameters &&
           sp_mul_u64(tensor->parameters, shapeproof_dtype_bits(tensor->dtype), &bits) && bits >= weight->parameters;
}

/* Counts the tensors that stand for a weight and are called as the first of them. */
static void count_own_storage(struct own_storage *own, struct sp_finder *finder)
{
    const struct shapeproof_check *check = own->check;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED)) continue;
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
        const char *tail = tensor->name + sp_last_component(tensor->name, strlen(tensor->name), ".");
        if (!sp_looks_packed(tensor) || (own->tail && strcmp(own->tail, tail) != 0)) continue;
        const size_t weight = missing_weight_of(own, finder, tensor->name);
        if (weight == SHAPEPROOF_NONE || !can_hold(tensor, shapeproof_prediction_tensor(check->prediction, weight)))
            continue;
        const uint64_t elements = shapeproof_prediction_tensor(check->prediction, weight)->parameters;
        const uint64_t pack =
            tensor->parameters && elements % tensor->parameters == 0 ? elements / tensor->parameters : 0;
        if (!own->weights++) own->pack = pack, own->tail = tail, own->first = tensor;
        else if (own->pack != pack) own->pack = 0;
    }
}

/* How many elements the tensors have beside the weights: "a quarter of the elements" for a pack of 4. */
static const char *share_of_elements(struct shapeproof_check *check, uint64_t pack)
{
    static const char *const words[] = {"fewer elements", "as many elements", "half of the elements",
                                        "a third of the elements", "a quarter of the elements"};
    if (pack < sizeof words / sizeof *words) return words[pack];
    return sp_arena_printf(&check->arena, "one element for %" PRIu64, pack);
}

static bool is_missing_of(const struct shapeproof_finding *finding, const void *cause)
{
    return finding->kind == SHAPEPROOF_FINDING_MISSING && finding->cause == *(const size_t *)cause;
}

/* Attributes the missing weights that the file has something in place of to the cause, with all unexpected tensors that
 * belong to them; and words it: "24 weights are quantised in a way of their own: in their place stand 'ternary_weight'
 * (U8, a quarter of the elements) and 'scale': layers.{0-11}.fc.weight". */
static void take_own_storage(struct own_storage *own, struct sp_finder *finder, struct shapeproof_cause *cause)
{
    struct shapeproof_check *check = own->check;
    const size_t index = (size_t)(cause - check->causes);
    struct sp_names others = {0}; /* the ends of other names than own->tail */
    struct sp_map tails = {0};    /* which of these were added */
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_UNEXPECTED)) continue;
        const char *name = check->findings[i].name, *tail = name + sp_last_component(name, strlen(name), ".");
        const size_t weight = missing_weight_of(own, finder, name);
        if (weight == SHAPEPROOF_NONE) continue;
        sp_attribute_finding(check, i, cause);
        if (check->findings[own->missing[weight]].cause == SHAPEPROOF_NONE)
            sp_attribute_finding(check, own->missing[weight], cause);
        if (strcmp(tail, own->tail) != 0 && sp_map_add(&tails, tail, i)) sp_names_add(&others, tail);
    }
    cause->message = sp_arena_printf(
        &check->arena, "%s quantised in an unknown way: in their place, the file has '%s' (%s, %s)%s: %s",
        own->weights == 1 ? "1 weight is" : sp_arena_printf(&check->arena, "%zu weights are", own->weights), own->tail,
        own->first->dtype_name, share_of_elements(check, own->pack),
        others.count ? sp_arena_printf(&check->arena, " and %s", sp_names_text(&others)) : "",
        sp_check_names(check, is_missing_of, &index));
    sp_names_free(&others);
    sp_map_free(&tails);
}

void sp_explain_own_storage(struct shapeproof_check *check)
{
    enum { FEWEST = 2 }; /* weights: a single one may have a name of integers by chance */
    struct own_storage own = {.check = check};
    struct sp_finder finder = sp_predicted_finder(&check->naming, check->prediction);
    if (sp_check_open_both(check) && sp_any_looks_packed(check->inventory)) {
        own.missing = sp_check_missing(check);
        count_own_storage(&own, &finder);
        if (own.weights >= FEWEST) {
            struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_QUANTISED);
            cause->severity = SHAPEPROOF_SEVERITY_ERROR;
            take_own_storage(&own, &finder, cause);
            cause->hint = "load it with the program that wrote it: other loaders leave these weights newly initialised";
        }
        sp_free(own.missing);
    }
    sp_finder_free(&finder);
}

/* ---- scales of what attention keeps ---- */

static bool says_cache(const struct sp_quantised *quantised)
{
    static const char *const paths[] = {"kv_cache_scheme", "kv_cache_quant_algo", "export.kv_cache_group"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (sp_value_is_set(sp_value_at(quantised->object, paths[i]))) return true;
    return false;
}

/* Whether the finding is that a scale of keys, values or queries is unexpected, and has no cause: one number, or one
 * for each head, which is fewer than a matrix has, in a dtype of scales or of zero points. */
static bool is_cache_scale(const struct shapeproof_check *check, const struct shapeproof_finding *finding)
{
    static const char *const tails[] = {".k_scale",      ".v_scale",        ".q_scale",       ".k_zero_point",
                                        ".v_zero_point", ".k_global_scale", ".v_global_scale"};
    const struct shapeproof_tensor *tensor;
    if (finding->kind != SHAPEPROOF_FINDING_UNEXPECTED || finding->cause != SHAPEPROOF_NONE ||
        finding->tensor == SHAPEPROOF_NONE)
        return false;
    tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (sp_ends_with(finding->name, tails[i]))
            return tensor->parameters <= MAX_HEADS &&
                   (shapeproof_dtype_is_float(tensor->dtype) || tensor->dtype == SHAPEPROOF_DTYPE_I8);
    return false;
}

void sp_take_cache_scales(struct shapeproof_check *check, const struct sp_quantised *quantised)
{
    struct shapeproof_cause *cause = NULL;
    if (!says_cache(quantised)) return;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!is_cache_scale(check, &check->findings[i])) continue;
        if (!cause) cause = sp_blame(check, SP_CAUSE_QUANTISED);
        check->findings[i].severity = SHAPEPROOF_SEVERITY_NOTE;
        sp_attribute_finding(check, i, cause);
    }
    if (!cause) return;
    cause->severity = SHAPEPROOF_SEVERITY_NOTE;
    sp_cause_set_message(check, cause, "scales of the cache of keys and values");
}
