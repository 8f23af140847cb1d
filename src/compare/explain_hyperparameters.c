/* SPDX-License-Identifier: MIT
 * Which hyper-parameter, set otherwise, would make findings vanish? Every candidate is tried: predict again with that
 * one change, compare again, count. Only what was verified in this way becomes a cause. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare/check.h"
#include "compare/collapse.h"

enum { MAX_CANDIDATES = 64, MAX_ROUNDS = 6 };

struct candidate {
    const char *key;
    struct sp_value value;
    const char *configured; /* as JSON */
    const char *from;
};

/* A prediction under changed hyper-parameters, matched with the same file. */
struct variant {
    struct sp_config *config;
    struct sp_prediction *prediction;
    struct sp_match match;
    size_t errors;
};

struct search {
    struct sp_check *check;
    struct candidate candidates[MAX_CANDIDATES];
    size_t count;
    struct variant best; /* with the causes accepted so far */
};

/* ---- candidates ---- */

static size_t find_key(const struct sp_prediction *prediction, const char *key)
{
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(prediction); i++)
        if (strcmp(sp_prediction_hyperparameter(prediction, i).name, key) == 0) return i;
    return SP_NONE;
}

static void add_candidate(struct search *search, struct sp_hyperparameter hyper, struct sp_value value)
{
    if (strncmp(hyper.from, "table ", 6) == 0) return; /* the table says so itself */
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->candidates[i].key, hyper.name) == 0 &&
            search->candidates[i].value.integer == value.integer && search->candidates[i].value.type == value.type)
            return;
    if (search->count < MAX_CANDIDATES)
        search->candidates[search->count++] = (struct candidate){hyper.name, value, hyper.value, hyper.from};
}

static void truth_values(struct search *search)
{
    const struct sp_prediction *prediction = search->check->prediction;
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        if (strcmp(hyper.value, "true") == 0) add_candidate(search, hyper, sp_value_bool(false));
        if (strcmp(hyper.value, "false") == 0) add_candidate(search, hyper, sp_value_bool(true));
    }
}

/* A dimension that is one hyper-parameter, and differs. */
static void dimensions(struct search *search)
{
    const struct sp_check *check = search->check;
    for (size_t i = 0; i < check->finding_count && search->count < MAX_CANDIDATES; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (!sp_finding_is_open(finding) || strcmp(finding->id, "shape") != 0) continue;
        const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
        const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
        for (uint32_t d = 0; d < expected->rank && expected->rank == tensor->rank; d++) {
            if (tensor->shape[d] == expected->shape[d] || tensor->shape[d] > INT64_MAX) continue;
            char *name = sp_prediction_dimension(check->prediction, finding->predicted, d);
            const size_t key = find_key(check->prediction, name);
            free(name);
            if (key != SP_NONE)
                add_candidate(search, sp_prediction_hyperparameter(check->prediction, key),
                              sp_value_int((int64_t)tensor->shape[d]));
        }
    }
}

/* One more than the largest index that follows a prefix, in the file and in the prediction. */
struct extent {
    const char *prefix;
    uint64_t found, predicted;
};

struct extents {
    struct sp_arena *arena;
    struct sp_map map;
    struct extent *items;
    size_t count, capacity;
};

static void note_indices(struct extents *extents, const char *name, bool found)
{
    for (size_t i = 0; name[i]; i++) {
        const size_t digits = i == 0 || name[i - 1] == '.' ? strspn(name + i, "0123456789") : 0;
        if (!digits || digits > 9 || (name[i + digits] && name[i + digits] != '.')) continue;
        const char *prefix = sp_arena_copy(extents->arena, name, i);
        size_t place = sp_map_get(&extents->map, prefix);
        if (place == SIZE_MAX) {
            place = extents->count;
            SP_GROW(extents->items, extents->count, extents->capacity);
            extents->items[extents->count++] = (struct extent){.prefix = prefix};
            sp_map_add(&extents->map, prefix, place);
        }
        uint64_t *end = found ? &extents->items[place].found : &extents->items[place].predicted;
        const uint64_t index = strtoull(name + i, NULL, 10) + 1;
        if (index > *end) *end = index;
        return; /* the outermost index counts layers; inner ones are expected to follow it */
    }
}

static const char *plain_name(const struct sp_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor], strip = strlen(check->naming.strip);
    const char *name = sp_inventory_tensor(check->inventory, tensor)->name;
    if (predicted != SP_NONE) return sp_prediction_tensor(check->prediction, predicted)->name;
    if (strncmp(name, check->naming.strip, strip) == 0) name += strip;
    return name;
}

/* A loop that is longer or shorter in the file: any integer with the value of its predicted length may be its bound. */
static void lengths(struct search *search)
{
    struct sp_check *check = search->check;
    struct extents extents = {.arena = &check->arena};
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++)
        note_indices(&extents, sp_prediction_tensor(check->prediction, i)->name, false);
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++)
        note_indices(&extents, plain_name(check, i), true);
    for (size_t i = 0; i < extents.count; i++) {
        const struct extent *extent = &extents.items[i];
        if (extent->found == extent->predicted || !extent->predicted || !extent->found) continue;
        const char *length = sp_arena_printf(&check->arena, "%" PRIu64, extent->predicted);
        for (size_t k = 0; k < sp_prediction_hyperparameter_count(check->prediction); k++) {
            const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(check->prediction, k);
            if (strcmp(hyper.value, length) == 0) add_candidate(search, hyper, sp_value_int((int64_t)extent->found));
        }
    }
    sp_map_free(&extents.map);
    free(extents.items);
}

/* ---- trying them ---- */

static void variant_free(struct variant *variant)
{
    if (variant->prediction) sp_match_free(&variant->match);
    sp_prediction_free(variant->prediction);
    sp_config_free(variant->config);
    *variant = (struct variant){0};
}

static bool variant_try(const struct sp_check *check, const struct sp_config *base, const struct candidate *candidate,
                        struct variant *variant)
{
    struct sp_error error = {0};
    *variant = (struct variant){.config = sp_config_variant(base)};
    sp_config_set_value(variant->config, candidate->key, candidate->value, "what if");
    variant->prediction = sp_predict(check->tables, check->table_name, variant->config, &error);
    if (!variant->prediction) {
        variant_free(variant);
        return false;
    }
    sp_match_init(&variant->match, check->inventory, variant->prediction, &check->naming);
    variant->errors = sp_match_errors(&variant->match);
    return true;
}

static bool still_there(const struct sp_check *check, const struct sp_finding *finding, const struct variant *variant)
{
    if (finding->tensor != SP_NONE) return sp_is_error(sp_match_tensor(&variant->match, finding->tensor));
    const char *name = sp_prediction_tensor(check->prediction, finding->predicted)->name;
    const size_t predicted = sp_prediction_find(variant->prediction, name);
    return predicted != SP_NONE && sp_match_predicted(&variant->match, predicted) == SP_MISSING;
}

static size_t open_findings(const struct sp_check *check)
{
    size_t open = 0;
    for (size_t i = 0; i < check->finding_count; i++) open += sp_finding_is_open(&check->findings[i]);
    return open;
}

/* The candidate that leaves the fewest errors, when it leaves fewer than there are; SP_NONE otherwise. */
static size_t best_candidate(struct search *search, struct variant *best)
{
    const struct sp_config *base = search->best.config ? search->best.config : search->check->config;
    size_t found = SP_NONE, errors = search->best.config ? search->best.errors : sp_match_errors(&search->check->match);
    for (size_t i = 0; i < search->count; i++) {
        struct variant variant;
        if (!variant_try(search->check, base, &search->candidates[i], &variant)) continue;
        if (variant.errors >= errors) {
            variant_free(&variant);
            continue;
        }
        variant_free(best);
        *best = variant;
        errors = variant.errors;
        found = i;
    }
    return found;
}

/* ---- saying it ---- */

static const char *where(struct sp_check *check, const char *from)
{
    if (strncmp(from, "default", 7) == 0) return "by default";
    if (strcmp(from, "command line") == 0) return "on the command line";
    return sp_arena_printf(&check->arena, "in %s", from);
}

struct wanted {
    size_t cause;
    const char *id;
};

static bool of_cause_and_kind(const struct sp_finding *finding, const void *context)
{
    const struct wanted *wanted = context;
    return finding->cause == wanted->cause && strcmp(finding->id, wanted->id) == 0;
}

static const char *listed(struct sp_check *check, size_t cause, const char *id, const char *verb)
{
    const struct wanted wanted = {cause, id};
    const char *names = sp_check_names(check, of_cause_and_kind, &wanted, 3);
    return *names ? sp_arena_printf(&check->arena, "%s %s", verb, names) : "";
}

static const char *padding(struct sp_check *check, const char *key, int64_t from, int64_t to)
{
    static const int64_t multiples[] = {64, 128, 256, 512, 1024, 8, 16, 32};
    if (!strstr(key, "vocab") || from <= 0 || to <= from) return "";
    for (size_t i = 0; i < sizeof multiples / sizeof *multiples; i++)
        if (to % multiples[i] == 0 && to - from < multiples[i])
            return sp_arena_printf(&check->arena, " (rounded up to a multiple of %" PRId64 ")", multiples[i]);
    return "";
}

/* What the changed prediction lacks that the configured one did not ask for. */
static const char *side_effect(struct sp_check *check, const struct variant *variant)
{
    size_t count = 0;
    const char *first = NULL;
    for (size_t i = 0; i < sp_prediction_count(variant->prediction); i++) {
        const char *name = sp_prediction_tensor(variant->prediction, i)->name;
        if (sp_match_predicted(&variant->match, i) != SP_MISSING ||
            sp_prediction_find(check->prediction, name) != SP_NONE)
            continue;
        if (!count++) first = sp_name_pattern(&check->arena, name);
    }
    if (!count) return "";
    return sp_arena_printf(&check->arena, "; yet %s (%s) is not there", first,
                           sp_count_of(&check->arena, count, "tensor"));
}

static void describe(struct sp_check *check, size_t index, const struct candidate *candidate,
                     const struct variant *variant)
{
    struct sp_cause *cause = &check->causes[index];
    const char *says = sp_arena_printf(&check->arena, "%s is %s %s", candidate->key, candidate->configured,
                                       where(check, candidate->from));
    const char *effect = side_effect(check, variant);
    if (candidate->value.type == SP_INT) {
        cause->message = sp_arena_printf(
            &check->arena, "%s, the file has %s%s (%s)%s", says, cause->found,
            padding(check, candidate->key, strtoll(candidate->configured, NULL, 10), candidate->value.integer),
            sp_count_of(&check->arena, cause->explains, "tensor"), effect);
    } else {
        const char *has = listed(check, index, "unexpected", "has"), *lacks = listed(check, index, "missing", "lacks");
        cause->message = sp_arena_printf(&check->arena, "%s, but the file %s%s%s%s", says, has,
                                         *has && *lacks ? " and " : "", lacks, effect);
    }
    cause->hint = sp_arena_printf(&check->arena, "with --set %s=%s %s", candidate->key, cause->found,
                                  cause->explains == 1
                                      ? "this finding vanishes"
                                      : sp_arena_printf(&check->arena, "these %zu findings vanish", cause->explains));
}

static void accept(struct search *search, const struct candidate *candidate, const struct variant *variant)
{
    struct sp_check *check = search->check;
    struct sp_text value = {0};
    sp_value_json(&value, candidate->value);
    const size_t cause =
        sp_check_add_cause(check, (struct sp_cause){.id = "hyperparameter",
                                                    .severity = SP_SEVERITY_ERROR,
                                                    .hyperparameter = candidate->key,
                                                    .configured = candidate->configured,
                                                    .found = sp_arena_copy(&check->arena, value.data, value.length)});
    sp_text_free(&value);
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open(&check->findings[i]) && !still_there(check, &check->findings[i], variant))
            sp_check_explain(check, i, cause);
    describe(check, cause, candidate, variant);
}

void sp_explain_hyperparameters(struct sp_check *check)
{
    struct search search = {.check = check};
    if (!open_findings(check)) return;
    dimensions(&search);
    lengths(&search);
    truth_values(&search);
    for (int round = 0; round < MAX_ROUNDS && open_findings(check); round++) {
        struct variant better = {0};
        const size_t found = best_candidate(&search, &better);
        if (found == SP_NONE) break;
        accept(&search, &search.candidates[found], &better);
        variant_free(&search.best);
        search.best = better;
    }
    variant_free(&search.best);
}
