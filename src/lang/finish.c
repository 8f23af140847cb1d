/* SPDX-License-Identifier: MIT
 * What can only be done when all tensors are known: ties, totals, what was read of the configuration. */
#include "lang/expander.h"

#include <string.h>

#include "base/checked.h"
#include "lang/words.h"

enum { MAX_TIE_DEPTH = 16 };

/* Whether a tensor can be the same as the target: of equal shape, or, with `same rows as`, its first rows. */
static bool tie_fits(const struct shapeproof_predicted *tensor, const struct shapeproof_predicted *target)
{
    if (tensor->rank != target->rank) return false;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        const bool rows = tensor->rows_only && i == 0;
        if (rows ? tensor->shape[i] > target->shape[i] : tensor->shape[i] != target->shape[i]) return false;
    }
    return true;
}

/* Whether the chain of ties from a tensor ends at one that is not tied: in a circle no tensor would be stored. */
static bool ties_end(const struct shapeproof_prediction *out, size_t tensor)
{
    for (unsigned depth = 0; depth < MAX_TIE_DEPTH; depth++) {
        tensor = out->tensors[tensor].same_as;
        if (tensor == SHAPEPROOF_NONE) return true;
    }
    return false;
}

static void check_tie_chains(struct sp_expander *x)
{
    for (size_t i = 0; i < x->tie_count && !x->eval.mistakes; i++)
        if (!ties_end(x->out, x->ties[i].tensor))
            sp_eval_fail(&x->eval, x->ties[i].span, "the ties of '%s' are circular, or more than %d deep",
                         x->out->tensors[x->ties[i].tensor].name, MAX_TIE_DEPTH);
}

/* Finds the tensor that each tied one is the same as, once all are known: `same_as`. A tie to no tensor, to itself or
 * to one of another shape is a mistake. With `loose` tensors of different shapes are noted as odd ties and stay untied;
 * in a scope a tie to a tensor outside of it is left out. */
static void resolve_ties(struct sp_expander *x)
{
    struct shapeproof_prediction *out = x->out;
    for (size_t i = 0; i < x->tie_count; i++) {
        const struct sp_pending_tie *tied = &x->ties[i];
        if (tied->tensor >= out->count) continue; /* its row failed */
        const size_t target = sp_map_get(&out->names, tied->target);
        if (target == SIZE_MAX && x->eval.hyper->scope) continue; /* outside of it */
        if (target == SIZE_MAX)
            sp_eval_fail(&x->eval, tied->span, "this table has no tensor '%s' to be the same as", tied->target);
        else if (target == tied->tensor) sp_eval_fail(&x->eval, tied->span, "a tensor cannot be the same as itself");
        else if (!tie_fits(&out->tensors[tied->tensor], &out->tensors[target])) {
            if (x->eval.hyper->loose) {
                SP_GROW(out->odd_ties, out->odd_tie_count, out->odd_tie_capacity);
                out->odd_ties[out->odd_tie_count++] = (struct sp_odd_tie){tied->tensor, target};
            } else {
                sp_eval_fail(&x->eval, tied->span, "'%s' and '%s' have different shapes",
                             out->tensors[tied->tensor].name, tied->target);
            }
        } else out->tensors[tied->tensor].same_as = target;
    }
}

/* The totals of the prediction and of its groups, without optional tensors; tied ones count in `parameters` alone.
 * False when a sum does not fit in 64 bits. */
static bool sum_up(struct shapeproof_prediction *out)
{
    struct shapeproof_predicted_totals *totals = &out->totals;
    for (size_t i = 0; i < out->count; i++) {
        const struct shapeproof_predicted *tensor = &out->tensors[i];
        if (tensor->optional) continue;
        totals->tensors++;
        if (tensor->buffer) {
            if (!sp_add_u64(totals->buffers, tensor->parameters, &totals->buffers)) return false;
            continue;
        }
        if (!sp_add_u64(totals->parameters, tensor->logical, &totals->parameters)) return false;
        if (tensor->same_as != SHAPEPROOF_NONE) continue;
        totals->unique_parameters += tensor->logical; /* at most the sum above */
        out->groups[tensor->group].parameters += tensor->logical;
    }
    return true;
}

/* Hands what was read of the configuration to the prediction: all keys as `asked`, those that are set as `hypers`. */
static void keep_readings(struct sp_expander *x)
{
    struct shapeproof_prediction *out = x->out;
    out->hypers = sp_arena_array(&out->arena, x->eval.reading_count, sizeof *out->hypers);
    out->asked = sp_arena_array(&out->arena, x->eval.reading_count, sizeof *out->asked);
    for (size_t i = 0; i < x->eval.reading_count; i++) {
        const struct sp_reading *reading = &x->eval.readings[i];
        out->asked[out->asked_count++] = reading->path;
        sp_map_set(&x->eval.paths, reading->path, reading->from.source ? out->hyper_count : SHAPEPROOF_NONE);
        if (!reading->from.source) continue;
        out->hypers[out->hyper_count++] =
            (struct shapeproof_hyperparameter){reading->path, reading->value, reading->from};
    }
    out->hyper_names = x->eval.paths;
    x->eval.paths = (struct sp_map){0};
}

/* Others than the table read it. */
static bool is_for_others(const struct sp_hyper *hyper, const char *path)
{
    for (size_t i = 0; i < hyper->other_key_count; i++)
        if (strcmp(hyper->other_keys[i], path) == 0) return true;
    return false;
}

static bool was_looked_at(const struct sp_expander *x, const char *setting)
{
    for (size_t i = 0; i < x->eval.reading_count; i++)
        if (sp_path_within(x->eval.readings[i].path, setting)) return true;
    return is_for_others(x->eval.hyper, setting);
}

/* Whether a measure may read the setting, though no tensor depends on it. One in an object, text_config.layers, only if
 * something else in that object was read. */
static bool may_be_measured_by(const struct sp_expander *x, const char *setting)
{
    const char *dot = strrchr(setting, '.');
    const size_t object = dot ? (size_t)(dot + 1 - setting) : 0;
    bool is_object_read = !object;
    for (size_t i = 0; i < x->eval.reading_count && !is_object_read; i++)
        is_object_read = strncmp(x->eval.readings[i].path, setting, object) == 0;
    return is_object_read && sp_unit_is_measured_by(x->out->table, x->eval.hyper->root, setting);
}

static void find_unused(struct sp_expander *x)
{
    const struct sp_hyper *hyper = x->eval.hyper;
    x->out->unused = sp_arena_array(&x->out->arena, hyper->override_count, sizeof *x->out->unused);
    for (size_t i = 0; i < hyper->override_count; i++)
        if (!was_looked_at(x, hyper->overrides[i].path) && !may_be_measured_by(x, hyper->overrides[i].path))
            x->out->unused[x->out->unused_count++] = hyper->overrides[i].path;
}

/* LIMIT or OVERFLOW if the configuration has no mistake but its size: `solve` takes such a value for one that is too
 * large to try. */
static enum shapeproof_kind kind_of_mistakes(const struct sp_eval *eval)
{
    if (eval->limits + eval->overflows < eval->mistakes) return SHAPEPROOF_KIND_NONE;
    return eval->overflows ? SHAPEPROOF_KIND_OVERFLOW : SHAPEPROOF_KIND_LIMIT;
}

/* The key of the configuration that is most likely meant to be the one at this path, which is not set; or NULL. */
static const char *misspelt_for(const struct sp_expander *x, const char *path)
{
    const char *dot = strrchr(path, '.');
    const struct shapeproof_value root = x->eval.hyper->root;
    const struct shapeproof_value object =
        dot ? sp_value_at(root, sp_arena_copy(&x->out->arena, path, (size_t)(dot - path))) : root;
    return sp_unit_misspelt(x->out->table, object, dot ? dot + 1 : path);
}

static void report_mistakes(struct sp_expander *x, struct shapeproof_error *error)
{
    const char *missing = x->eval.first_missing;
    const char *likely = missing ? misspelt_for(x, missing) : NULL;
    sp_diagnoses_fail(error, x->unsupported ? SHAPEPROOF_ERR_UNKNOWN : SHAPEPROOF_ERR_TABLE, kind_of_mistakes(&x->eval),
                      x->eval.messages->data);
    if (likely)
        sp_hint(error, "%s has '%s': is '%s' meant?", *x->eval.hyper->file ? x->eval.hyper->file : "the configuration",
                likely, missing);
    if (missing) sp_hint(error, "give it in config.json, or with --set %s=VALUE", missing);
    if (x->unsupported)
        sp_hint(error, "'shapeproof tables' lists the tables; name one that comes near with --table, or write one");
}

void sp_expander_finish(struct sp_expander *x, struct shapeproof_error *error)
{
    const struct sp_span span = x->out->table->span;
    if (!x->eval.mistakes) resolve_ties(x);
    if (!x->eval.mistakes) check_tie_chains(x);
    if (!x->eval.mistakes && !sum_up(x->out)) sp_eval_overflow(&x->eval, span, "the total does not fit in 64 bits");
    keep_readings(x);
    find_unused(x);
    if (x->eval.mistakes) report_mistakes(x, error);
}
