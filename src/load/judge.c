/* SPDX-License-Identifier: MIT */
#include "load/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "config/config.h"
#include "load/class.h"
#include "load/taking.h"
#include "model/bytes.h"
#include "model/inventory.h"
#include "model/layouts.h"
#include "names/collapse.h"
#include "names/components.h"

static bool reads_format(const struct sp_loader *loader, const struct shapeproof_inventory *inventory)
{
    for (const char *const *format = loader->formats; *format; format++)
        if (strcmp(*format, shapeproof_inventory_format(inventory)) == 0) return true;
    return false;
}

/* What is wrong with a file that is not what its name says, for a loader that chooses its reader by the name; or NULL.
 */
static const char *misnamed_file(struct sp_arena *arena, const struct sp_loader *loader,
                                 const struct shapeproof_inventory *inventory)
{
    return *loader->files || loader->beginning ? sp_inventory_misnamed(inventory, arena) : NULL;
}

bool sp_load_is_meant(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    return sp_value_member(sp_config_hyper(subject->config)->root, sp_class_key(loader)).type ==
               SHAPEPROOF_VALUE_STRING &&
           (subject->inventory->misnamed_format || reads_format(loader, subject->inventory)) &&
           sp_class_loaded(loader, subject).model_type;
}

/* ---- what would help ---- */

/* Whether the file is taken whole once names lose that prefix, and less is ignored. Changes `state`. */
static bool helps_to_strip(struct sp_state_dict *state, const struct sp_load_subject *subject, const char *prefix,
                           const struct sp_taking *before)
{
    struct sp_taking after = sp_load_take(state, subject->inventory, prefix);
    const bool helps = !after.fresh && !after.reshaped && !after.failed && !after.stray && !after.broken &&
                       after.ignored.count < before->ignored.count;
    sp_taking_free(&after);
    return helps;
}

/* `outer` is the length of the key at the top of the file that leads to the names, or 0. */
static const char *remedy_words(struct sp_arena *arena, const char *prefix, size_t outer)
{
    if (!outer) return sp_arena_printf(arena, "strip '%s'", prefix);
    const char *inner = prefix + outer + 1, *key = sp_arena_copy(arena, prefix, outer);
    if (!*inner) return sp_arena_printf(arena, "save what its key '%s' holds by itself", key);
    return sp_arena_printf(arena, "save what its key '%s' holds by itself, without '%s'", key, inner);
}

/* "strip 'module.'": the prefix, one to three components of an ignored name, without which the loader takes the whole
 * file; NULL when there is none. `state` is that of the last attempt afterwards. */
static const char *find_remedy(struct sp_arena *arena, struct sp_state_dict *state,
                               const struct sp_load_subject *subject, const struct sp_taking *taking)
{
    if (!taking->ignored.count || !taking->fresh) return NULL;
    const char *name = shapeproof_inventory_tensor(subject->inventory, taking->ignored.items[0])->name;
    struct sp_component_walk part = {.rest = name};
    for (int i = 0; i < 3 && sp_component_next(&part, ".") && *part.rest; i++) {
        const char *prefix = sp_arena_copy(arena, name, (size_t)(part.rest - name));
        if (helps_to_strip(state, subject, prefix, taking)) return remedy_words(arena, prefix, taking->outer);
    }
    return NULL;
}

/* ---- tied tensors that differ ---- */

/* Tensors of the file that a loader replaces by the ones that they are tied to. */
struct overruled {
    const char **names; /* in the arena */
    const char *winner; /* what the first of them is replaced by */
    size_t count;
};

/* Whether some byte of two tensors of the file is known to differ. */
static bool is_apart(const struct sp_load_subject *subject, size_t a, size_t b)
{
    const struct shapeproof_tensor *one = shapeproof_inventory_tensor(subject->inventory, a),
                                   *other = shapeproof_inventory_tensor(subject->inventory, b);
    struct shapeproof_error error = {0};
    uint64_t at = 0;
    if (one->dtype != other->dtype || (one->flags ^ other->flags) & SHAPEPROOF_TENSOR_BIG_ENDIAN) return false;
    if (!sp_tensor_same_shape(one, other) || !sp_tensor_same_order(one, other)) return false;
    if (shapeproof_data_obstacle(subject->data, a) || shapeproof_data_obstacle(subject->data, b)) return false;
    return sp_bytes_compare((struct sp_bytes_of){subject->data, a}, (struct sp_bytes_of){subject->data, b}, one->bytes,
                            &at, &error) &&
           at < one->bytes;
}

/* Of each group of tied tensors, by the one that stands for it, the one of the file whose values all of them get: one
 * that the loader prefers, or else the one that the others are tied to, or else the first. SIZE_MAX: none is there. */
static size_t *list_winners(const struct sp_state_dict *state)
{
    size_t *winners = sp_realloc(NULL, state->count, sizeof *winners);
    for (size_t i = 0; i < state->count; i++) winners[i] = SIZE_MAX;
    for (size_t i = 0; i < state->count; i++) {
        const size_t group = sp_state_dict_tie(state, i);
        if (state->items[i].tensor == SIZE_MAX) continue;
        if (winners[group] == SIZE_MAX || i == group || sp_is_preferred(state, state->items[i].name))
            if (winners[group] == SIZE_MAX || !sp_is_preferred(state, state->items[winners[group]].name))
                winners[group] = i;
    }
    return winners;
}

/* Needs the data of the file: without it, tied tensors are taken to be equal. */
static struct overruled list_overruled(struct sp_arena *arena, const struct sp_state_dict *state,
                                       const struct sp_load_subject *subject)
{
    struct overruled overruled = {0};
    if (!state->loader->ties_over || !subject->data || state->untied) return overruled;
    size_t *winners = list_winners(state);
    overruled.names = sp_arena_array(arena, state->count, sizeof *overruled.names);
    for (size_t i = 0; i < state->count; i++) {
        const size_t winner = winners[sp_state_dict_tie(state, i)], tensor = state->items[i].tensor;
        if (tensor == SIZE_MAX || winner == i) continue;
        if (!is_apart(subject, tensor, state->items[winner].tensor)) continue;
        if (!overruled.count)
            overruled.winner = shapeproof_inventory_tensor(subject->inventory, state->items[winner].tensor)->name;
        overruled.names[overruled.count++] = shapeproof_inventory_tensor(subject->inventory, tensor)->name;
    }
    sp_free(winners);
    return overruled;
}

/* ---- sentences ---- */

enum { FEW = 4 }; /* tensors that are all named; of more a check says which they are */

/* What can be wrong with an entry of the state dict. */
enum fault { NEWLY_INITIALISED, RESHAPED };

/* The first few of the entries with that fault. */
static const char *names_with(enum fault fault, struct sp_arena *arena, const struct sp_state_dict *state, size_t few)
{
    const char **names = sp_realloc(NULL, state->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < state->count; i++) {
        const struct sp_state_entry *entry = &state->items[i];
        if (fault == RESHAPED ? entry->reshaped : sp_is_newly_initialised(state, entry)) names[count++] = entry->name;
    }
    const char *text = sp_few_names(arena, names, count, few);
    sp_free(names);
    return text;
}

/* ", 2 of another shape (a.{weight,bias})", of more than a few the number. */
static void put_complaint(struct sp_text *text, enum fault fault, size_t count, struct sp_arena *arena,
                          const struct sp_state_dict *state)
{
    if (!count) return;
    sp_text_printf(text, ", %zu %s", count, fault == RESHAPED ? "of another shape" : "missing");
    if (count <= FEW) sp_text_printf(text, " (%s)", names_with(fault, arena, state, FEW));
}

/* "2 of another shape (a, b), 1 missing (c), 3 unexpected" */
static const char *complaints(struct sp_arena *arena, const struct sp_state_dict *state, const struct sp_taking *taking)
{
    struct sp_text text = {0};
    if (taking->failed) sp_text_printf(&text, ", %zu that cannot be put together", taking->failed);
    put_complaint(&text, RESHAPED, taking->reshaped, arena, state);
    put_complaint(&text, NEWLY_INITIALISED, taking->fresh, arena, state);
    if (taking->ignored.count) sp_text_printf(&text, ", %zu unexpected", taking->ignored.count);
    const char *kept = sp_text_keep(&text, arena);
    return *kept ? kept + 2 : kept;
}

/* "transformers 4 puts model.embed_tokens.weight in the place of lm_head.weight, which is lost" */
static const char *overruled_words(struct sp_arena *arena, const struct shapeproof_loading *loading,
                                   const struct overruled *overruled)
{
    if (overruled->count == 1)
        return sp_arena_printf(arena, "%s puts %s in the place of %s, which is lost", loading->name, overruled->winner,
                               overruled->names[0]);
    return sp_arena_printf(arena, "%s loses the values of %zu tensors that it ties to others: %s", loading->name,
                           overruled->count, sp_few_names(arena, overruled->names, overruled->count, FEW));
}

/* What is wrong, of a loader that goes on all the same. */
static const char *shortcoming(struct sp_arena *arena, const struct sp_loader *loader,
                               const struct shapeproof_loading *loading, const char *names,
                               const struct overruled *overruled)
{
    if (!loading->fresh && overruled->count) return overruled_words(arena, loading, overruled);
    if (loading->fresh)
        return sp_arena_printf(arena, "%s leaves %zu of %zu tensors %s: %s", loading->name, loading->fresh,
                               loading->expected, loader->leaves_empty ? "without values" : "newly initialised",
                               loading->remedy ? loading->remedy : names);
    return sp_arena_printf(arena, "%s drops %s of the file, and newly initialises none", loading->name,
                           sp_count_of(arena, loading->lost, "tensor"));
}

static const char *success(struct sp_arena *arena, const struct shapeproof_loading *loading)
{
    if (!loading->ignored) return sp_arena_printf(arena, "%s loads it: nothing new", loading->name);
    return sp_arena_printf(arena, "%s loads it: nothing new, %zu ignored", loading->name, loading->ignored);
}

/* ---- the answer ---- */

struct shapeproof_loading sp_loading_of(const struct sp_loader *loader)
{
    return (struct shapeproof_loading){.loader = loader->id, .name = loader->name};
}

struct shapeproof_loading sp_loading_open(struct sp_arena *arena, struct shapeproof_loading loading, const char *why)
{
    loading.answer = SHAPEPROOF_LOADING_UNKNOWN;
    loading.message = sp_arena_printf(arena, "it is not known whether %s loads the file: %s", loading.name, why);
    return loading;
}

struct shapeproof_loading sp_loading_refused(struct sp_arena *arena, struct shapeproof_loading loading, const char *why)
{
    loading.answer = SHAPEPROOF_LOADING_REFUSED;
    loading.message = sp_arena_printf(arena, "%s refuses it: %s", loading.name, why);
    return loading;
}

/* Of what is ignored, what the model may have needed. */
static size_t count_lost(const struct sp_load_subject *subject, const struct sp_taking *taking)
{
    size_t lost = 0;
    for (size_t i = 0; i < taking->ignored.count; i++)
        lost += !subject->spare || !subject->spare[taking->ignored.items[i]];
    return lost;
}

static const char *stray_words(struct sp_arena *arena, const struct sp_state_dict *state,
                               const struct sp_taking *taking)
{
    return sp_arena_printf(arena, "%s is there, and no name begins with %s", taking->stray, state->loaded->base);
}

static const char *broken_words(struct sp_arena *arena, const struct sp_taking *taking)
{
    return sp_arena_printf(arena, "it cannot initialise what is missing beside %s", taking->broken);
}

/* "model.norm.weight is sparse", "2 tensors are sparse" */
static const char *sparse_words(struct sp_arena *arena, const struct sp_load_subject *subject,
                                const struct sp_taking *taking)
{
    if (taking->sparse > 1) return sp_arena_printf(arena, "%zu tensors are sparse", taking->sparse);
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(subject->inventory, taking->first_sparse);
    return sp_arena_printf(arena, "%s is sparse", tensor->name);
}

/* The verdict on what the loader did with the file: refused, loaded in part (tensors newly initialised or lost), or
 * loaded as a whole, with the message for it. `loading` has the name of the loader so far. */
static struct shapeproof_loading judge_taking(struct sp_arena *arena, struct sp_state_dict *state,
                                              const struct sp_load_subject *subject, const struct sp_taking *taking,
                                              struct shapeproof_loading loading)
{
    const bool is_too_strict = state->loader->strict && (taking->fresh || taking->ignored.count);
    /* all that is read of `state` comes before find_remedy, which lets the loader take the file again under other names
     */
    const char *names = names_with(NEWLY_INITIALISED, arena, state, taking->fresh <= FEW ? FEW : 1);
    const char *wrong = complaints(arena, state, taking);
    const struct overruled overruled = list_overruled(arena, state, subject);
    loading.expected = state->count;
    loading.fresh = taking->fresh;
    loading.ignored = taking->ignored.count + subject->inventory->plain_keys + overruled.count;
    loading.reshaped = taking->reshaped;
    loading.lost = count_lost(subject, taking) + overruled.count;
    loading.remedy = find_remedy(arena, state, subject, taking);
    if (taking->stray) return sp_loading_refused(arena, loading, stray_words(arena, state, taking));
    if (taking->broken) return sp_loading_refused(arena, loading, broken_words(arena, taking));
    if (taking->sparse)
        return state->loader->refuses_sparse ? sp_loading_refused(arena, loading, sparse_words(arena, subject, taking))
                                             : sp_loading_open(arena, loading, sparse_words(arena, subject, taking));
    if (is_too_strict || taking->reshaped || taking->failed)
        return sp_loading_refused(arena, loading, loading.remedy ? loading.remedy : wrong);
    loading.answer = loading.fresh || loading.lost ? SHAPEPROOF_LOADING_IN_PART : SHAPEPROOF_LOADING_WHOLE;
    loading.message = loading.answer == SHAPEPROOF_LOADING_WHOLE
                          ? success(arena, &loading)
                          : shortcoming(arena, state->loader, &loading, names, &overruled);
    return loading;
}

/* Predicts the model that the loader builds for the class, lets it take the file's tensors, and judges the result.
 * If the loaded class cannot be predicted, the one that the configuration names is tried. */
static struct shapeproof_loading judge_class(struct sp_arena *arena, const struct sp_loader *loader,
                                             const struct sp_loaded *loaded, const struct sp_load_subject *subject,
                                             struct shapeproof_loading loading)
{
    struct sp_state_dict state;
    struct sp_class_model model = sp_class_predict(arena, loader, loaded, subject);
    struct sp_loaded named = {.model_type = NULL};
    if (!model.prediction) named = sp_class_named(loader, subject);
    if (named.model_type) {
        loaded = &named;
        model = sp_class_predict(arena, loader, loaded, subject);
    }
    if (!model.prediction) return sp_loading_open(arena, loading, "its model cannot be predicted");
    sp_state_dict_build(&state, loader, loaded, model.prediction);
    state.match = subject->match;
    state.scales = subject->scales;
    state.untied = model.untied;
    if (model.alone) sp_state_dict_untie(&state, model.alone);
    struct sp_taking taking = sp_load_take(&state, subject->inventory, NULL);
    loading = taking.unknown ? sp_loading_open(arena, loading, taking.unknown)
                             : judge_taking(arena, &state, subject, &taking, loading);
    sp_taking_free(&taking);
    sp_state_dict_free(&state);
    sp_class_free(&model);
    return loading;
}

static bool is_own_quantisation(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    return loader->quantisation && subject->quantisation && strcmp(loader->quantisation, subject->quantisation) == 0;
}

/* Whether the configuration names the dtype of the weights. */
static bool has_dtype(const struct shapeproof_config *config)
{
    const struct shapeproof_value root = sp_config_hyper(config)->root;
    return sp_value_member(root, "dtype").type == SHAPEPROOF_VALUE_STRING ||
           sp_value_member(root, "torch_dtype").type == SHAPEPROOF_VALUE_STRING;
}

/* The dtype that the configuration names, if torch makes no model of it; or NULL. */
static const char *unknown_dtype(const struct shapeproof_config *config)
{
    static const char *const known[] = {"float32", "float", "float16", "half", "bfloat16", "float64", "double"};
    const struct shapeproof_value root = sp_config_hyper(config)->root, said = sp_value_member(root, "dtype");
    const struct shapeproof_value dtype =
        said.type == SHAPEPROOF_VALUE_STRING ? said : sp_value_member(root, "torch_dtype");
    return dtype.type != SHAPEPROOF_VALUE_STRING || SP_IS_AMONG(dtype.string, known) ? NULL : dtype.string;
}

/* A loading of a file that has not the data of all of its tensors: frameworks cannot copy a tensor without data, and
 * take a piece of one as it is. Fills in the answer and returns true; false for a file that has them all. */
static bool judge_absent_data(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                              struct shapeproof_loading *loading)
{
    size_t pieces = 0, absent = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        if (tensor->flags & (SHAPEPROOF_TENSOR_STATE | SHAPEPROOF_TENSOR_NO_SHAPE)) continue;
        pieces += tensor->piece != NULL;
        absent += tensor->flags & SHAPEPROOF_TENSOR_NO_DATA && tensor->bytes;
    }
    if (absent) {
        const char *count = sp_count_of(arena, absent, "tensor");
        *loading = sp_loading_refused(arena, *loading, sp_arena_printf(arena, "the file has no data for %s", count));
    } else if (pieces) {
        loading->answer = SHAPEPROOF_LOADING_IN_PART;
        loading->message =
            sp_arena_printf(arena, "%s gets only a piece of %s", loading->name, sp_count_of(arena, pieces, "tensor"));
    }
    return absent || pieces;
}

/* Why a loader does not get a state dict out of a pickle; NULL when it does, or when the file is none. It is read with
 * weights_only=True, which knows torch's own names alone. */
static const char *pickle_obstacle(struct sp_arena *arena, const struct shapeproof_inventory *inventory)
{
    if (shapeproof_inventory_suspect_count(inventory) && !sp_format_has(inventory, SP_TENSORS_ALONE))
        return sp_arena_printf(arena, "the file names %s, which is not loaded with weights_only=True",
                               shapeproof_inventory_suspect(inventory, 0)->name);
    if (inventory->unkeyed) return "what the file holds is no dictionary";
    return inventory->numbered ? "a key at the top of the file is not a string" : NULL;
}

/* A loader that finds no GPU unpacks the weights: the model is the one of full precision. A weight without a scale is
 * taken as it is stored. */
static struct shapeproof_loading load_unpacked(struct sp_arena *arena, const struct sp_loader *loader,
                                               const struct sp_load_subject *packed)
{
    struct sp_load_subject subject = *packed;
    subject.config = packed->unpacked;
    subject.prediction = NULL;
    subject.match = NULL;
    subject.quantised = false;
    struct shapeproof_loading loading = sp_load(arena, loader, &subject);
    if (packed->unscaled && loading.answer == SHAPEPROOF_LOADING_WHOLE)
        loading.message = sp_arena_printf(
            arena, "%s loads it on a CPU, with %s unscaled; on a GPU, it newly initialises the missing scales",
            loading.name, sp_count_of(arena, packed->unscaled, "weight"));
    return loading;
}

struct shapeproof_loading sp_load(struct sp_arena *arena, const struct sp_loader *loader,
                                  const struct sp_load_subject *subject)
{
    struct shapeproof_loading loading = sp_loading_of(loader);
    const struct sp_loaded loaded = sp_class_loaded(loader, subject);
    const char *misnamed = misnamed_file(arena, loader, subject->inventory);
    if (misnamed) return sp_loading_refused(arena, loading, misnamed);
    if (!reads_format(loader, subject->inventory))
        return sp_loading_refused(
            arena, loading,
            sp_arena_printf(arena, "it does not read %s", shapeproof_inventory_format(subject->inventory)));
    if (!loaded.model_type)
        return sp_loading_open(arena, loading,
                               sp_arena_printf(arena, "%s has no class for this configuration", loader->name));
    const char *obstacle = pickle_obstacle(arena, subject->inventory);
    if (obstacle) return sp_loading_refused(arena, loading, obstacle);
    if (judge_absent_data(arena, subject->inventory, &loading)) return loading;
    if (loader->maps_archives && subject->inventory->compressed) {
        loading.answer = SHAPEPROOF_LOADING_IN_PART;
        loading.message = sp_arena_printf(arena, "%s reads wrong numbers: it does not inflate %s of the archive",
                                          loading.name, sp_count_of(arena, subject->inventory->compressed, "storage"));
        return loading;
    }
    if (subject->quantised && subject->unpacked && loader->unpacks &&
        strcmp(loader->unpacks, subject->quantisation) == 0)
        return load_unpacked(arena, loader, subject);
    if (subject->quantised && !is_own_quantisation(loader, subject))
        return sp_loading_open(arena, loading, "the weights are quantised");
    if (loader->infers_dtype && subject->inventory->headed && !has_dtype(subject->config))
        return sp_loading_refused(arena, loading,
                                  "the configuration has no dtype, and the first value in the file is no tensor");
    const char *dtype = loader->infers_dtype ? unknown_dtype(subject->config) : NULL;
    if (dtype)
        return sp_loading_refused(arena, loading,
                                  sp_arena_printf(arena, "it makes no model of the dtype %s", sp_quote(dtype).text));
    const char *objection = sp_class_objection(arena, loader, &loaded, subject->config, subject->prediction);
    if (*objection) return sp_loading_refused(arena, loading, objection);
    return judge_class(arena, loader, &loaded, subject, loading);
}
