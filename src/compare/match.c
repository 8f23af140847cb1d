/* SPDX-License-Identifier: MIT */
#include "compare/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"

enum { SAMPLE = 256, MAX_PREFIXES = 24 };

/* Modules that frameworks wrap around others; each is a component of its own in the name. */
static const char *const wrappers[] = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"};

/* ---- the naming of the whole file ---- */

static bool is_wrapper(const char *component, size_t length)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (strlen(wrappers[i]) == length && memcmp(wrappers[i], component, length) == 0) return true;
    return false;
}

/* The name without wrapper components. */
static void unwrap(struct sp_text *text, const char *name)
{
    text->length = 0;
    sp_text_puts(text, "");
    while (*name) {
        const size_t length = strcspn(name, "."), step = length + (name[length] == '.');
        if (!is_wrapper(name, length)) sp_text_append(text, name, step);
        name += step;
    }
}

/* The predicted tensor that the name stands for under the naming, or SP_NONE. `text` is scratch. */
static size_t lookup(const struct sp_prediction *prediction, const struct sp_naming *naming, const char *name,
                     struct sp_text *text)
{
    const size_t strip = strlen(naming->strip);
    size_t found = naming->drop_wrappers ? SP_NONE : sp_prediction_find(prediction, name);
    if (found != SP_NONE || (!naming->drop_wrappers && !strip && !*naming->add)) return found;
    struct sp_text plain = {0};
    if (naming->drop_wrappers) unwrap(&plain, name);
    const char *bare = naming->drop_wrappers ? plain.data : name;
    if (strip && strncmp(bare, naming->strip, strip) == 0) bare += strip;
    found = sp_prediction_find(prediction, bare);
    if (found == SP_NONE && *naming->add) {
        text->length = 0;
        sp_text_printf(text, "%s%s", naming->add, bare);
        found = sp_prediction_find(prediction, text->data);
    }
    sp_text_free(&plain);
    return found;
}

struct prefixes {
    const char *list[MAX_PREFIXES];
    size_t count;
};

static void add_prefix(struct sp_arena *arena, struct prefixes *prefixes, const char *name, size_t length)
{
    for (size_t i = 0; i < prefixes->count; i++)
        if (strlen(prefixes->list[i]) == length && memcmp(prefixes->list[i], name, length) == 0) return;
    if (prefixes->count < MAX_PREFIXES) prefixes->list[prefixes->count++] = sp_arena_copy(arena, name, length);
}

/* "a.b.c.weight" offers "a." and "a.b.", up to four components. */
static void offer_prefixes(struct sp_arena *arena, struct prefixes *prefixes, const char *name)
{
    size_t components = 0;
    for (size_t i = 0; name[i] && components < 4; i++)
        if (name[i] == '.') {
            add_prefix(arena, prefixes, name, i + 1);
            components++;
        }
}

static size_t stride_for(size_t count) { return count / SAMPLE + 1; }

static size_t score(const struct sp_inventory *inventory, const struct sp_prediction *prediction,
                    const struct sp_naming *naming)
{
    struct sp_text text = {0};
    size_t hits = 0;
    const size_t count = sp_inventory_count(inventory);
    for (size_t i = 0; i < count; i += stride_for(count))
        hits += lookup(prediction, naming, sp_inventory_tensor(inventory, i)->name, &text) != SP_NONE;
    sp_text_free(&text);
    return hits;
}

struct search {
    const struct sp_inventory *inventory;
    const struct sp_prediction *prediction;
    struct sp_naming best;
    size_t hits;
};

/* A stranger naming must explain more than a plainer one, which was tried before it. */
static void consider(struct search *search, struct sp_naming naming)
{
    const size_t hits = score(search->inventory, search->prediction, &naming);
    if (hits <= search->hits) return;
    search->hits = hits;
    search->best = naming;
}

static bool has_wrappers(const struct sp_inventory *inventory)
{
    for (size_t i = 0; i < sp_inventory_count(inventory); i++)
        for (size_t k = 0; k < sizeof wrappers / sizeof *wrappers; k++)
            if (strstr(sp_inventory_tensor(inventory, i)->name, wrappers[k])) return true;
    return false;
}

static void try_prefixes(struct search *search, bool drop, const struct prefixes *strips, const struct prefixes *adds)
{
    consider(search, (struct sp_naming){"", "", drop});
    for (size_t i = 0; i < strips->count; i++) consider(search, (struct sp_naming){strips->list[i], "", drop});
    for (size_t i = 0; i < adds->count; i++) consider(search, (struct sp_naming){"", adds->list[i], drop});
    for (size_t i = 0; i < strips->count; i++)
        for (size_t k = 0; k < adds->count; k++)
            consider(search, (struct sp_naming){strips->list[i], adds->list[k], drop});
}

struct sp_naming sp_naming_infer(struct sp_arena *arena, const struct sp_inventory *inventory,
                                 const struct sp_prediction *prediction)
{
    const struct sp_naming plain = {"", "", false};
    const size_t count = sp_inventory_count(inventory), predicted = sp_prediction_count(prediction);
    const size_t sampled = count ? (count - 1) / stride_for(count) + 1 : 0;
    struct search search = {inventory, prediction, plain, score(inventory, prediction, &plain)};
    struct prefixes strips = {0}, adds = {0};
    struct sp_text text = {0};
    if (search.hits * 10 >= sampled * 9 || !predicted) return plain;
    const bool wrapped = has_wrappers(inventory);
    for (size_t i = 0; i < count; i += count / 16 + 1) {
        const char *name = sp_inventory_tensor(inventory, i)->name;
        if (wrapped) unwrap(&text, name);
        offer_prefixes(arena, &strips, wrapped ? text.data : name);
    }
    for (size_t i = 0; i < predicted; i += predicted / 16 + 1)
        offer_prefixes(arena, &adds, sp_prediction_tensor(prediction, i)->name);
    if (wrapped) try_prefixes(&search, true, &strips, &adds);
    else try_prefixes(&search, false, &strips, &adds);
    sp_text_free(&text);
    return search.best;
}

/* ---- tensor by tensor ---- */

static void build_old_names(struct sp_map *map, const struct sp_prediction *prediction)
{
    for (size_t i = 0; i < sp_prediction_count(prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(prediction, i);
        for (size_t k = 0; k < tensor->old_name_count; k++) sp_map_add(map, tensor->old_names[k], i);
    }
}

/* As lookup(), among the old names. */
static size_t lookup_old(const struct sp_map *olds, const struct sp_naming *naming, const char *name,
                         struct sp_text *text)
{
    const size_t strip = strlen(naming->strip);
    size_t found = olds->count ? sp_map_get(olds, name) : SP_NONE;
    if (found != SP_NONE || !olds->count) return found;
    if (naming->drop_wrappers) unwrap(text, name);
    const char *bare = naming->drop_wrappers ? text->data : name;
    if (strip && strncmp(bare, naming->strip, strip) == 0) bare += strip;
    found = sp_map_get(olds, bare);
    if (found != SP_NONE || !*naming->add) return found;
    struct sp_text whole = {0};
    sp_text_printf(&whole, "%s%s", naming->add, bare);
    found = sp_map_get(olds, whole.data);
    sp_text_free(&whole);
    return found;
}

/* The first tensor of the chain of ties that this one belongs to. */
static size_t tie_root(const struct sp_prediction *prediction, size_t predicted)
{
    for (size_t steps = 0; steps < 64; steps++) {
        const size_t next = sp_prediction_tensor(prediction, predicted)->same_as;
        if (next == SP_NONE) break;
        predicted = next;
    }
    return predicted;
}

static void pair(struct sp_match *match, size_t tensor, size_t predicted, bool old)
{
    if (predicted == SP_NONE || match->tensor_of[predicted] != SP_NONE) return;
    match->predicted_of[tensor] = predicted;
    match->tensor_of[predicted] = tensor;
    match->tie_present[tie_root(match->prediction, predicted)]++;
    match->old_name[tensor] = old;
}

void sp_match_init(struct sp_match *match, const struct sp_inventory *inventory, const struct sp_prediction *prediction,
                   const struct sp_naming *naming)
{
    const size_t tensors = sp_inventory_count(inventory), predicted = sp_prediction_count(prediction);
    struct sp_text text = {0};
    struct sp_map olds = {0};
    *match = (struct sp_match){inventory,
                               prediction,
                               sp_realloc(NULL, tensors, sizeof(size_t)),
                               sp_realloc(NULL, predicted, sizeof(size_t)),
                               sp_realloc(NULL, tensors, sizeof(bool)),
                               sp_realloc(NULL, predicted, sizeof(size_t))};
    for (size_t i = 0; i < tensors; i++) match->predicted_of[i] = SP_NONE;
    for (size_t i = 0; i < predicted; i++) match->tensor_of[i] = SP_NONE;
    memset(match->old_name, 0, tensors * sizeof(bool));
    memset(match->tie_present, 0, predicted * sizeof(size_t));
    for (size_t i = 0; i < tensors; i++)
        pair(match, i, lookup(prediction, naming, sp_inventory_tensor(inventory, i)->name, &text), false);
    build_old_names(&olds, prediction);
    for (size_t i = 0; i < tensors; i++)
        if (match->predicted_of[i] == SP_NONE)
            pair(match, i, lookup_old(&olds, naming, sp_inventory_tensor(inventory, i)->name, &text), true);
    sp_map_free(&olds);
    sp_text_free(&text);
}

void sp_match_free(struct sp_match *match)
{
    free(match->predicted_of);
    free(match->tensor_of);
    free(match->old_name);
    free(match->tie_present);
    *match = (struct sp_match){0};
}

bool sp_same_shape(const struct sp_tensor *tensor, const struct sp_predicted *predicted)
{
    if (tensor->rank != predicted->rank || (tensor->flags & SP_TENSOR_NO_SHAPE)) return false;
    return !tensor->rank || memcmp(tensor->shape, predicted->shape, tensor->rank * sizeof *tensor->shape) == 0;
}

enum sp_difference sp_match_predicted(const struct sp_match *match, size_t predicted)
{
    const struct sp_predicted *tensor = sp_prediction_tensor(match->prediction, predicted);
    const size_t found = match->tensor_of[predicted];
    if (found == SP_NONE) {
        if (tensor->optional) return SP_OPTIONAL;
        if (match->tie_present[tie_root(match->prediction, predicted)]) return SP_TIED_ABSENT;
        return tensor->same_as == SP_NONE ? SP_MISSING
                                          : SP_TIED_ABSENT; /* of a whole absent tie, the root is missing */
    }
    if (!sp_same_shape(sp_inventory_tensor(match->inventory, found), tensor)) return SP_SHAPE;
    return tensor->same_as == SP_NONE || match->tensor_of[tensor->same_as] == SP_NONE ? SP_SAME : SP_TIED_PRESENT;
}

enum sp_difference sp_match_tensor(const struct sp_match *match, size_t tensor)
{
    if (match->predicted_of[tensor] != SP_NONE) return sp_match_predicted(match, match->predicted_of[tensor]);
    return sp_inventory_tensor(match->inventory, tensor)->flags & SP_TENSOR_STATE ? SP_STATE : SP_UNEXPECTED;
}

size_t sp_match_errors(const struct sp_match *match)
{
    size_t errors = 0;
    for (size_t i = 0; i < sp_prediction_count(match->prediction); i++)
        errors += sp_is_error(sp_match_predicted(match, i));
    for (size_t i = 0; i < sp_inventory_count(match->inventory); i++)
        errors += match->predicted_of[i] == SP_NONE && sp_match_tensor(match, i) == SP_UNEXPECTED;
    return errors;
}
