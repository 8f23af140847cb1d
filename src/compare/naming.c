/* SPDX-License-Identifier: MIT
 * Candidates are the beginnings of names of the file and of the prediction; a sample of the file's names decides. */
#include "compare/naming.h"

#include <string.h>

enum { SAMPLE = 256, OFFERS = 32, MAX_COMPONENTS = 4, MAX_PREFIXES = OFFERS * MAX_COMPONENTS };

/* Modules that frameworks wrap around others; each is a component of its own, anywhere in the name. */
static const char *const wrappers[] = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"};

/* What programs put in front of a whole model. Only these may be taken away while something else is put there:
 * any other replacement is a renaming, not a prefix. */
static const char *const holders[] = {"module", "model", "state_dict", "model_state_dict", "net", "network"};

static const char *among(const char *const *list, size_t count, const char *component, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && memcmp(list[i], component, length) == 0) return list[i];
    return NULL;
}

#define AMONG(list, component, length) among(list, sizeof(list) / sizeof *(list), component, length)

bool sp_is_wrapper(const char *component, size_t length) { return AMONG(wrappers, component, length) != NULL; }

const char *sp_wrapper_in(const char *name)
{
    for (const char *wrapper; *name; name += *name == '.') {
        const size_t length = strcspn(name, ".");
        if (*name == '_' && (wrapper = AMONG(wrappers, name, length)) != NULL) return wrapper;
        name += length;
    }
    return NULL;
}

/* Puts the name without its wrapper components into `text`. */
static void unwrap(struct sp_text *text, const char *name)
{
    text->length = 0;
    sp_text_puts(text, "");
    while (*name) {
        const size_t length = strcspn(name, "."), step = length + (name[length] == '.');
        if (!AMONG(wrappers, name, length)) sp_text_append(text, name, step);
        name += step;
    }
}

static bool only_holders(const char *prefix)
{
    for (size_t length; *prefix; prefix += length + 1) {
        length = strcspn(prefix, ".");
        if (!AMONG(holders, prefix, length)) return false;
    }
    return true;
}

void sp_naming_apply(const struct sp_naming *naming, const char *name, struct sp_text *text)
{
    const size_t strip = strlen(naming->strip);
    struct sp_text bare = {0}, translated = {0};
    if (naming->drop_wrappers) {
        unwrap(&bare, name);
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

const char *sp_finder_bare(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const struct sp_naming *naming = finder->naming;
    const size_t strip = strlen(naming->strip);
    if (naming->drop_wrappers && sp_wrapper_in(name)) {
        unwrap(&finder->bare, name);
        name = finder->bare.data;
        *renaming |= SP_UNWRAPPED;
    }
    if (!strip || strncmp(name, naming->strip, strip) != 0) return name;
    *renaming |= SP_STRIPPED;
    return name + strip;
}

size_t sp_finder_find(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const struct sp_era *era = finder->naming->era;
    size_t found = finder->find(finder->context, name);
    *renaming = 0;
    if (found != SP_NONE) return found;
    const char *bare = sp_finder_bare(finder, name, renaming);
    if (bare != name) found = finder->find(finder->context, bare);
    if (found == SP_NONE) found = find_added(finder, bare, renaming);
    if (found != SP_NONE || !era || !sp_era_translate(era, bare, &finder->translated)) return found;
    *renaming |= SP_TRANSLATED;
    found = finder->find(finder->context, finder->translated.data);
    return found != SP_NONE ? found : find_added(finder, finder->translated.data, renaming);
}

void sp_finder_free(struct sp_finder *finder)
{
    sp_text_free(&finder->bare);
    sp_text_free(&finder->whole);
    sp_text_free(&finder->translated);
}

bool sp_has_exact_name(const struct sp_inventory *inventory, const struct sp_prediction *prediction, size_t predicted)
{
    if (predicted == SP_NONE) return false;
    return sp_inventory_find(inventory, sp_prediction_tensor(prediction, predicted)->name) != SP_NONE;
}

/* ---- prefixes that may be it ---- */

struct prefixes {
    struct sp_arena *arena;
    const char *list[MAX_PREFIXES];
    size_t seen[MAX_PREFIXES]; /* how many of the sampled names begin with it */
    size_t count, names;
};

static void note_prefix(struct prefixes *prefixes, const char *name, size_t length)
{
    for (size_t i = 0; i < prefixes->count; i++)
        if (strlen(prefixes->list[i]) == length && memcmp(prefixes->list[i], name, length) == 0) {
            prefixes->seen[i]++;
            return;
        }
    prefixes->seen[prefixes->count] = 1;
    prefixes->list[prefixes->count++] = sp_arena_copy(prefixes->arena, name, length);
}

/* "a.b.c.weight" offers "a.", "a.b." and "a.b.c.", at most four of them. */
static void offer_prefixes(struct prefixes *prefixes, const char *name)
{
    size_t components = 0;
    if (prefixes->names == OFFERS) return;
    prefixes->names++;
    for (size_t i = 0; name[i] && components < MAX_COMPONENTS; i++)
        if (name[i] == '.' || name[i] == ':') { /* MXNet writes "arg:" in front */
            note_prefix(prefixes, name, i + 1);
            components++;
        }
}

/* A prefix of few names is no prefix of the whole: "layers.17." goes, "module.layers." stays. */
static void keep_common(struct prefixes *prefixes)
{
    size_t kept = 0;
    for (size_t i = 0; i < prefixes->count; i++)
        if (prefixes->seen[i] * 8 >= prefixes->names) prefixes->list[kept++] = prefixes->list[i];
    prefixes->count = kept;
}

static size_t stride_for(size_t count, size_t sample) { return (count + sample - 1) / sample; }

static bool is_state(const struct sp_inventory *inventory, size_t tensor)
{
    return sp_inventory_tensor(inventory, tensor)->flags & SP_TENSOR_STATE;
}

/* ---- the search ---- */

struct search {
    const struct sp_inventory *inventory;
    const struct sp_prediction *prediction;
    struct sp_naming best;
    size_t hits, sampled;
};

static size_t find_predicted(const void *prediction, const char *name) { return sp_prediction_find(prediction, name); }

static size_t score(struct search *search, const struct sp_naming *naming)
{
    struct sp_finder finder = {naming, find_predicted, search->prediction, {0}, {0}, {0}};
    const size_t count = sp_inventory_count(search->inventory);
    size_t hits = 0;
    unsigned renaming;
    search->sampled = 0;
    for (size_t i = 0; i < count; i += stride_for(count, SAMPLE)) {
        if (is_state(search->inventory, i)) continue;
        search->sampled++;
        const size_t found = sp_finder_find(&finder, sp_inventory_tensor(search->inventory, i)->name, &renaming);
        hits += found != SP_NONE && !(renaming && sp_has_exact_name(search->inventory, search->prediction, found));
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

static void try_all(struct search *search, bool drop, const struct prefixes *strips, const struct prefixes *adds)
{
    consider(search, (struct sp_naming){"", "", drop, NULL});
    for (size_t i = 0; i < strips->count; i++) consider(search, (struct sp_naming){strips->list[i], "", drop, NULL});
    for (size_t i = 0; i < adds->count; i++) consider(search, (struct sp_naming){"", adds->list[i], drop, NULL});
    for (size_t i = 0; i < strips->count; i++)
        for (size_t k = 0; k < adds->count && only_holders(strips->list[i]); k++)
            consider(search, (struct sp_naming){strips->list[i], adds->list[k], drop, NULL});
}

/* Whether the era has names like those of the file behind that prefix: at least one in eight. */
static bool speaks(const struct search *search, const struct sp_era *era, const char *strip, bool drop)
{
    const size_t count = sp_inventory_count(search->inventory), length = strlen(strip);
    size_t known = 0, seen = 0;
    struct sp_text bare = {0}, translated = {0};
    for (size_t i = 0; i < count; i += stride_for(count, OFFERS)) {
        const char *name = sp_inventory_tensor(search->inventory, i)->name;
        if (drop) {
            unwrap(&bare, name);
            name = bare.data;
        }
        seen++;
        known += strncmp(name, strip, length) == 0 && sp_era_translate(era, name + length, &translated);
    }
    sp_text_free(&bare);
    sp_text_free(&translated);
    return known * 8 >= seen;
}

static void try_eras(struct search *search, bool drop, const struct prefixes *strips, const struct prefixes *adds)
{
    for (size_t e = 0; e < sp_era_count(); e++)
        for (size_t i = 0; i <= strips->count; i++) {
            const char *strip = i ? strips->list[i - 1] : "";
            if (!speaks(search, sp_era(e), strip, drop)) continue;
            for (size_t k = 0; k <= adds->count; k++)
                consider(search, (struct sp_naming){strip, k ? adds->list[k - 1] : "", drop, sp_era(e)});
        }
}

static bool has_wrappers(const struct sp_inventory *inventory)
{
    for (size_t i = 0; i < sp_inventory_count(inventory); i++)
        if (sp_wrapper_in(sp_inventory_tensor(inventory, i)->name)) return true;
    return false;
}

struct sp_naming sp_naming_infer(struct sp_arena *arena, const struct sp_inventory *inventory,
                                 const struct sp_prediction *prediction)
{
    const struct sp_naming plain = {"", "", false, NULL};
    const size_t count = sp_inventory_count(inventory), predicted = sp_prediction_count(prediction);
    struct search search = {.inventory = inventory, .prediction = prediction, .best = plain};
    struct prefixes strips = {.arena = arena}, adds = {.arena = arena};
    struct sp_text bare = {0};
    if (!count || !predicted) return plain;
    search.hits = score(&search, &plain);
    if (search.hits * 10 >= search.sampled * 9) return plain;
    for (size_t i = 0; i < count; i += stride_for(count, OFFERS)) {
        if (is_state(inventory, i)) continue;
        unwrap(&bare, sp_inventory_tensor(inventory, i)->name);
        offer_prefixes(&strips, bare.data);
    }
    for (size_t i = 0; i < predicted; i += stride_for(predicted, OFFERS))
        offer_prefixes(&adds, sp_prediction_tensor(prediction, i)->name);
    keep_common(&strips);
    keep_common(&adds);
    const int last = has_wrappers(inventory) ? 1 : 0;
    for (int drop = 0; drop <= last; drop++) {
        try_all(&search, drop, &strips, &adds);
        try_eras(&search, drop, &strips, &adds);
    }
    sp_text_free(&bare);
    return search.best;
}
