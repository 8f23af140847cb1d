/* SPDX-License-Identifier: MIT
 * Causes that can be read off the names and shapes of the findings: whole layers missing, tensors renamed, biases that
 * no table line predicts, transposed matrices. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare/check.h"
#include "compare/collapse.h"

static bool is_open(const struct sp_finding *finding, const char *id)
{
    return sp_finding_is_open(finding) && strcmp(finding->id, id) == 0;
}

/* ---- layers: all that is predicted under "model.layers.5." is missing ---- */

struct layer {
    const char *name; /* "model.layers.5" */
    size_t predicted, missing, cause;
};

struct layers {
    struct sp_map map;
    struct layer *items;
    size_t count, capacity;
};

/* The name up to its first index; NULL without one. */
static const char *layer_of(struct sp_arena *arena, const char *name)
{
    for (size_t i = 0; name[i]; i++) {
        const size_t digits = i == 0 || name[i - 1] == '.' ? strspn(name + i, "0123456789") : 0;
        if (digits && name[i + digits] == '.') return sp_arena_copy(arena, name, i + digits);
    }
    return NULL;
}

static struct layer *layer_for(struct sp_arena *arena, struct layers *layers, const char *name)
{
    const char *layer = layer_of(arena, name);
    if (!layer) return NULL;
    size_t place = sp_map_get(&layers->map, layer);
    if (place == SIZE_MAX) {
        place = layers->count;
        SP_GROW(layers->items, layers->count, layers->capacity);
        layers->items[layers->count++] = (struct layer){.name = layer, .cause = SP_NONE};
        sp_map_add(&layers->map, layer, place);
    }
    return &layers->items[place];
}

static void name_layers(struct sp_check *check, const struct layers *layers, size_t cause)
{
    struct sp_collapse_input *input = sp_realloc(NULL, layers->count, sizeof *input);
    struct sp_collapsed *groups;
    struct sp_text text = {0};
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++)
        if (layers->items[i].cause == cause) input[count++] = (struct sp_collapse_input){layers->items[i].name, 0};
    const size_t found = sp_collapse(&check->arena, input, count, &groups);
    for (size_t i = 0; i < found; i++) sp_text_printf(&text, "%s%s", i ? ", " : "", groups[i].name);
    check->causes[cause].message =
        sp_arena_printf(&check->arena, "%s %s missing altogether (%s)", text.data, count == 1 ? "is" : "are",
                        sp_count_of(&check->arena, check->causes[cause].explains, "tensor"));
    sp_text_free(&text);
    free(input);
}

void sp_explain_layers(struct sp_check *check)
{
    struct layers layers = {0};
    size_t cause = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        struct layer *layer =
            is_open(&check->findings[i], "missing") ? layer_for(&check->arena, &layers, check->findings[i].name) : NULL;
        if (layer) layer->missing++;
    }
    for (size_t i = 0; layers.count && i < sp_prediction_count(check->prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(check->prediction, i);
        struct layer *layer = tensor->optional ? NULL : layer_for(&check->arena, &layers, tensor->name);
        if (layer) layer->predicted++;
    }
    for (size_t i = 0; i < check->finding_count; i++) {
        struct layer *layer =
            is_open(&check->findings[i], "missing") ? layer_for(&check->arena, &layers, check->findings[i].name) : NULL;
        if (!layer || layer->missing != layer->predicted || layer->predicted < 2) continue;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(check, (struct sp_cause){.id = "layers-missing", .severity = SP_SEVERITY_ERROR});
        layer->cause = cause;
        sp_check_explain(check, i, cause);
    }
    if (cause != SP_NONE) name_layers(check, &layers, cause);
    sp_map_free(&layers.map);
    free(layers.items);
}

/* ---- renames: what is missing under one pattern is unexpected under another, index by index, shape by shape ---- */

enum { MAX_PATTERNS = 256 };

struct pattern {
    const char *text;
    const char *content; /* every member's indices and shape, in order: equal contents are the same tensors */
    size_t first, count; /* of the findings */
    bool used;
};

struct patterns {
    struct pattern items[MAX_PATTERNS];
    size_t count;
};

static void collect_patterns(struct sp_check *check, const char *id, struct patterns *patterns)
{
    struct sp_map known = {0};
    struct sp_text contents[MAX_PATTERNS] = {{0}};
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (!is_open(finding, id)) continue;
        const char *text = sp_name_pattern(&check->arena, finding->name);
        size_t place = sp_map_get(&known, text);
        if (place == SIZE_MAX) {
            if (patterns->count == MAX_PATTERNS) break;
            place = patterns->count++;
            patterns->items[place] = (struct pattern){.text = text, .first = i};
            sp_map_add(&known, text, place);
        }
        patterns->items[place].count++;
        for (const char *p = finding->name; *p; p++) /* the digits, in order, tell the members apart */
            if ((*p >= '0' && *p <= '9') || *p == '.') sp_text_append(&contents[place], p, 1);
        sp_text_printf(&contents[place], "%s;", finding->expected ? finding->expected : finding->found);
    }
    for (size_t i = 0; i < patterns->count; i++) {
        patterns->items[i].content = sp_arena_copy(&check->arena, contents[i].data, contents[i].length);
        sp_text_free(&contents[i]);
    }
    sp_map_free(&known);
}

/* Letters in common at both ends; 0 when not even one whole component is. */
static size_t similarity(const char *a, const char *b)
{
    size_t front = 0, back = 0, lengths[2] = {strlen(a), strlen(b)};
    while (a[front] && a[front] == b[front]) front++;
    while (back < lengths[0] - front && back < lengths[1] - front &&
           a[lengths[0] - 1 - back] == b[lengths[1] - 1 - back])
        back++;
    const bool component = memchr(a, '.', front) || memchr(a + lengths[0] - back, '.', back);
    return component ? front + back : 0;
}

static struct pattern *counterpart(struct patterns *missing, const struct pattern *stranger)
{
    struct pattern *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < missing->count; i++) {
        struct pattern *candidate = &missing->items[i];
        if (candidate->used || candidate->count != stranger->count ||
            strcmp(candidate->content, stranger->content) != 0)
            continue;
        const size_t alike = similarity(candidate->text, stranger->text);
        if (alike <= most) continue;
        most = alike;
        best = candidate;
    }
    return best;
}

static void explain_pattern(struct sp_check *check, const char *id, const struct pattern *pattern, size_t cause)
{
    for (size_t i = pattern->first; i < check->finding_count; i++)
        if (is_open(&check->findings[i], id) &&
            strcmp(sp_name_pattern(&check->arena, check->findings[i].name), pattern->text) == 0)
            sp_check_explain(check, i, cause);
}

static const char *whole_name(struct sp_check *check, const struct pattern *pattern)
{
    return pattern->count == 1 ? check->findings[pattern->first].name : pattern->text;
}

void sp_explain_renamed(struct sp_check *check)
{
    struct patterns *missing = sp_realloc(NULL, 2, sizeof *missing), *strangers = missing + 1;
    struct sp_text text = {0};
    size_t cause = SP_NONE, pairs = 0;
    missing->count = strangers->count = 0;
    collect_patterns(check, "missing", missing);
    collect_patterns(check, "unexpected", strangers);
    for (size_t i = 0; i < strangers->count; i++) {
        struct pattern *match = counterpart(missing, &strangers->items[i]);
        if (!match) continue;
        match->used = true;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(check, (struct sp_cause){.id = "renamed", .severity = SP_SEVERITY_ERROR});
        if (pairs++ < 3)
            sp_text_printf(&text, "%s%s is called %s in the file", pairs > 1 ? ", " : "", whole_name(check, match),
                           whole_name(check, &strangers->items[i]));
        explain_pattern(check, "missing", match, cause);
        explain_pattern(check, "unexpected", &strangers->items[i], cause);
    }
    if (pairs > 3) sp_text_printf(&text, " and %zu more", pairs - 3);
    if (cause != SP_NONE) check->causes[cause].message = sp_arena_printf(&check->arena, "renamed: %s", text.data);
    sp_text_free(&text);
    free(missing);
}

/* ---- causes that gather all open findings of one look ---- */

static void gather(struct sp_check *check, const char *id, bool (*wanted)(struct sp_check *, const struct sp_finding *),
                   const char *format)
{
    size_t cause = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!sp_finding_is_open(&check->findings[i]) || !wanted(check, &check->findings[i])) continue;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(check, (struct sp_cause){.id = id, .severity = SP_SEVERITY_ERROR});
        sp_check_explain(check, i, cause);
    }
    if (cause == SP_NONE) return;
    const char *names = sp_check_names(check, sp_explained_by, &cause, 3);
    const char *count = sp_count_of(&check->arena, check->causes[cause].explains, "tensor");
    check->causes[cause].message = sp_arena_printf(&check->arena, "%s%s (%s)", format, names, count);
}

static const char *weight_beside(struct sp_check *check, const char *name)
{
    const size_t length = strlen(name);
    if (length < 5 || strcmp(name + length - 5, ".bias") != 0) return NULL;
    return sp_arena_printf(&check->arena, "%.*s.weight", (int)(length - 5), name);
}

static bool is_stray_bias(struct sp_check *check, const struct sp_finding *finding)
{
    const char *weight = strcmp(finding->id, "unexpected") == 0 ? weight_beside(check, finding->name) : NULL;
    const size_t tensor = weight ? sp_inventory_find(check->inventory, weight) : SP_NONE;
    return tensor != SP_NONE && check->match.predicted_of[tensor] != SP_NONE;
}

static bool is_lost_bias(struct sp_check *check, const struct sp_finding *finding)
{
    const char *weight = strcmp(finding->id, "missing") == 0 ? weight_beside(check, finding->name) : NULL;
    const size_t predicted = weight ? sp_prediction_find(check->prediction, weight) : SP_NONE;
    return predicted != SP_NONE && check->match.tensor_of[predicted] != SP_NONE;
}

void sp_explain_biases(struct sp_check *check)
{
    gather(check, "bias", is_stray_bias, "the file has biases that the table does not know: ");
    gather(check, "bias", is_lost_bias, "the file lacks biases: ");
}

static bool is_transposed(struct sp_check *check, const struct sp_finding *finding)
{
    if (strcmp(finding->id, "shape") != 0) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
    return tensor->rank == 2 && expected->rank == 2 && tensor->shape[0] == expected->shape[1] &&
           tensor->shape[1] == expected->shape[0];
}

void sp_explain_transposed(struct sp_check *check)
{
    gather(check, "transposed", is_transposed, "stored transposed: ");
    const struct sp_cause *last = check->cause_count ? &check->causes[check->cause_count - 1] : NULL;
    for (size_t i = 0; last && strcmp(last->id, "transposed") == 0 && last->explains == 1 && i < check->finding_count;
         i++)
        if (check->findings[i].cause == check->cause_count - 1)
            check->causes[check->cause_count - 1].message = sp_arena_printf(
                &check->arena, "%s is stored transposed: %s", check->findings[i].name, check->findings[i].message);
}
