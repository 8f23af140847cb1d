/* SPDX-License-Identifier: MIT
 * Candidates are the beginnings of names of the file and of the prediction; a sample of the file's names decides. */
#include "match/naming.h"

#include <string.h>

#include "match/match.h"
#include "names/prefixes.h"
#include "names/spelling.h"
#include "names/wrappers.h"

enum { SAMPLE = 256 };

void sp_naming_apply(const struct sp_naming *naming, const char *name, struct sp_text *text)
{
    const size_t strip = strlen(naming->strip);
    struct sp_text bare = {0}, translated = {0};
    if (naming->drop_wrappers) {
        sp_unwrap(&bare, name);
        name = bare.data;
    }
    if (strncmp(name, naming->strip, strip) == 0) name += strip;
    if (naming->era && sp_era_translate(naming->era, name, &translated)) name = translated.data;
    sp_text_puts(text, naming->add);
    sp_text_puts(text, name);
    sp_text_free(&bare);
    sp_text_free(&translated);
}

/* ---- looking up under a naming ---- */

/* With what the file left out in front. */
static size_t find_added(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const char *add = finder->naming->add;
    if (!*add) return SP_NONE;
    finder->whole.length = 0;
    sp_text_puts(&finder->whole, add);
    sp_text_puts(&finder->whole, name);
    const size_t found = finder->find(finder->context, finder->whole.data);
    if (found != SP_NONE) *renaming |= SP_ADDED;
    return found;
}

const char *sp_finder_plain(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    if (finder->naming->spelt && strchr(name, '/')) {
        sp_arena_free(&finder->spellings);
        name = sp_spell(&finder->spellings, name).text;
        *renaming |= SP_RESPELT;
    }
    if (finder->naming->drop_wrappers && sp_wrapper_in(name)) {
        sp_unwrap(&finder->bare, name);
        name = finder->bare.data;
        *renaming |= SP_UNWRAPPED;
    }
    return name;
}

const char *sp_finder_bare(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const char *strip = finder->naming->strip;
    name = sp_finder_plain(finder, name, renaming);
    if (!*strip || strncmp(name, strip, strlen(strip)) != 0) return name;
    *renaming |= SP_STRIPPED;
    return name + strlen(strip);
}

/* As the front of a component says. */
static size_t find_fronted(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const struct sp_naming *naming = finder->naming;
    size_t found = SP_NONE;
    name = sp_finder_plain(finder, name, renaming);
    for (size_t i = 0; i < naming->front_count && found == SP_NONE; i++) {
        const size_t from = strlen(naming->fronts[i].from);
        if (strncmp(name, naming->fronts[i].from, from) != 0) continue;
        finder->whole.length = 0;
        sp_text_puts(&finder->whole, naming->fronts[i].to);
        sp_text_puts(&finder->whole, name + from);
        found = finder->find(finder->context, finder->whole.data);
        finder->front = i;
    }
    if (found != SP_NONE) *renaming = (*renaming & (SP_UNWRAPPED | SP_RESPELT)) | SP_FRONTED;
    return found;
}

/* As the naming of the whole file says. */
static size_t find_renamed(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const struct sp_era *era = finder->naming->era;
    const char *bare = sp_finder_bare(finder, name, renaming);
    size_t found = bare != name ? finder->find(finder->context, bare) : SP_NONE;
    if (found == SP_NONE) found = find_added(finder, bare, renaming);
    if (found != SP_NONE || !era || !sp_era_translate(era, bare, &finder->translated)) return found;
    *renaming |= SP_TRANSLATED;
    found = finder->find(finder->context, finder->translated.data);
    return found != SP_NONE ? found : find_added(finder, finder->translated.data, renaming);
}

size_t sp_finder_find(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    size_t found = finder->find(finder->context, name);
    *renaming = 0;
    if (found == SP_NONE) found = find_renamed(finder, name, renaming);
    if (found == SP_NONE && finder->naming->front_count) found = find_fronted(finder, name, renaming);
    return found;
}

size_t sp_keep_name(const void *context, const char *name)
{
    const struct sp_name_keeper *keeper = context;
    sp_map_add(keeper->names, sp_arena_string(keeper->arena, name), keeper->tensor);
    return SP_NONE;
}

void sp_finder_free(struct sp_finder *finder)
{
    sp_text_free(&finder->bare);
    sp_text_free(&finder->whole);
    sp_text_free(&finder->translated);
    sp_arena_free(&finder->spellings);
}

static bool is_state(const struct sp_inventory *inventory, size_t tensor)
{
    return sp_inventory_tensor(inventory, tensor)->flags & SP_TENSOR_STATE;
}

/* ---- the search ---- */

struct search {
    const struct sp_match *same;
    const struct sp_inventory *inventory;
    const struct sp_prediction *prediction;
    struct sp_naming best;
    size_t hits, sampled;
};

static size_t find_predicted(const void *prediction, const char *name) { return sp_prediction_find(prediction, name); }

static size_t score(struct search *search, const struct sp_naming *naming)
{
    struct sp_finder finder = {.naming = naming, .find = find_predicted, .context = search->prediction};
    const size_t count = sp_inventory_count(search->inventory);
    size_t hits = 0;
    unsigned renaming;
    search->sampled = 0;
    for (size_t i = 0; i < count; i += sp_stride_for(count, SAMPLE)) {
        if (is_state(search->inventory, i)) continue;
        search->sampled++;
        const size_t found = sp_finder_find(&finder, sp_inventory_tensor(search->inventory, i)->name, &renaming);
        /* What the file has under the predicted name itself is no other tensor renamed. */
        hits += found != SP_NONE && !(renaming && search->same->tensor_of[found] != SP_NONE);
    }
    sp_finder_free(&finder);
    return hits;
}

/* A stranger naming must explain more than a plainer one, which was tried before it; one name proves no era. */
static void consider(struct search *search, struct sp_naming naming)
{
    const size_t hits = score(search, &naming);
    if (hits <= search->hits + (naming.era && !search->best.era)) return;
    search->hits = hits;
    search->best = naming;
}

/* Prefixes that may be it, in the file and in the prediction. */
struct offers {
    struct sp_prefixes strips, adds;
};

static void consider_with(struct search *search, struct sp_naming way, const char *strip, const char *add)
{
    way.strip = strip;
    way.add = add;
    consider(search, way);
}

/* `way` says what is done to the names besides. */
static void try_all(struct search *search, struct sp_naming way, const struct offers *offers)
{
    const struct sp_prefixes *strips = &offers->strips, *adds = &offers->adds;
    consider(search, way);
    for (size_t i = 0; i < strips->count; i++) consider_with(search, way, strips->list[i], "");
    for (size_t i = 0; i < adds->count; i++) consider_with(search, way, "", adds->list[i]);
    for (size_t i = 0; i < strips->count; i++)
        for (size_t k = 0; k < adds->count && sp_is_all_holders(strips->list[i]); k++)
            consider_with(search, way, strips->list[i], adds->list[k]);
}

/* Whether the era has names like those of the file behind that prefix: at least one in eight. */
static bool speaks(const struct search *search, const struct sp_era *era, const char *strip, bool drop)
{
    const size_t count = sp_inventory_count(search->inventory), length = strlen(strip);
    size_t known = 0, seen = 0;
    struct sp_text bare = {0}, translated = {0};
    for (size_t i = 0; i < count; i += sp_stride_for(count, SP_PREFIX_NAMES)) {
        const char *name = sp_inventory_tensor(search->inventory, i)->name;
        if (drop) {
            sp_unwrap(&bare, name);
            name = bare.data;
        }
        seen++;
        known += strncmp(name, strip, length) == 0 && sp_era_translate(era, name + length, &translated);
    }
    sp_text_free(&bare);
    sp_text_free(&translated);
    return known * 8 >= seen;
}

static void try_eras(struct search *search, struct sp_naming way, const struct offers *offers)
{
    const struct sp_prefixes *strips = &offers->strips, *adds = &offers->adds;
    for (size_t e = 0; e < sp_era_count(); e++)
        for (size_t i = 0; i <= strips->count; i++) {
            const char *strip = i ? strips->list[i - 1] : "";
            way.era = sp_era(e);
            if (!speaks(search, way.era, strip, way.drop_wrappers)) continue;
            consider_with(search, way, strip, "");
            for (size_t k = 0; k < adds->count && sp_is_all_holders(strip); k++)
                consider_with(search, way, strip, adds->list[k]);
        }
}

static bool has_slashes(const struct sp_inventory *inventory)
{
    for (size_t i = 0; i < sp_inventory_count(inventory); i++)
        if (strchr(sp_inventory_tensor(inventory, i)->name, '/')) return true;
    return false;
}

static bool has_wrappers(const struct sp_inventory *inventory)
{
    for (size_t i = 0; i < sp_inventory_count(inventory); i++)
        if (sp_wrapper_in(sp_inventory_tensor(inventory, i)->name)) return true;
    return false;
}

static void make_offers(const struct search *search, struct sp_arena *arena, bool spelt, struct offers *offers)
{
    const struct sp_naming plain = {.strip = "", .add = "", .drop_wrappers = true, .spelt = spelt};
    const size_t count = sp_inventory_count(search->inventory), predicted = sp_prediction_count(search->prediction);
    struct sp_finder finder = {.naming = &plain};
    unsigned renaming = 0;
    *offers = (struct offers){.strips = {.arena = arena}, .adds = {.arena = arena}};
    for (size_t i = 0; i < count; i += sp_stride_for(count, SP_PREFIX_NAMES)) {
        if (is_state(search->inventory, i)) continue;
        const char *name = sp_inventory_tensor(search->inventory, i)->name;
        sp_prefixes_offer(&offers->strips, sp_finder_plain(&finder, name, &renaming));
    }
    for (size_t i = 0; i < predicted; i += sp_stride_for(predicted, SP_PREFIX_NAMES))
        sp_prefixes_offer(&offers->adds, sp_prediction_tensor(search->prediction, i)->name);
    sp_prefixes_keep_common(&offers->strips);
    sp_prefixes_keep_common(&offers->adds);
    sp_finder_free(&finder);
}

/* One naming for the file as a whole. */
static struct sp_naming infer_whole(struct sp_arena *arena, const struct sp_match *same)
{
    const struct sp_naming plain = {.strip = "", .add = ""};
    const struct sp_inventory *inventory = same->inventory;
    struct search search = {.same = same, .inventory = inventory, .prediction = same->prediction, .best = plain};
    struct offers offers;
    search.hits = score(&search, &plain);
    if (search.hits * 10 >= search.sampled * 9) return plain;
    make_offers(&search, arena, false, &offers);
    const int last = has_wrappers(inventory) ? 1 : 0;
    for (int drop = 0; drop <= last; drop++) {
        const struct sp_naming way = {.strip = "", .add = "", .drop_wrappers = drop};
        try_all(&search, way, &offers);
        try_eras(&search, way, &offers);
    }
    if (!has_slashes(inventory)) return search.best;
    make_offers(&search, arena, true, &offers);
    try_all(&search, (struct sp_naming){.strip = "", .add = "", .spelt = true}, &offers);
    return search.best;
}

struct sp_naming sp_naming_infer(struct sp_arena *arena, const struct sp_match *same)
{
    struct sp_naming naming = {.strip = "", .add = ""};
    if (!sp_inventory_count(same->inventory) || !sp_prediction_count(same->prediction)) return naming;
    naming = infer_whole(arena, same);
    sp_fronts_infer(arena, same, &naming);
    return naming;
}
