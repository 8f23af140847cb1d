/* SPDX-License-Identifier: MIT
 * Candidates are the beginnings of names of the file and of the prediction; a sample of the file's names decides. */
#include "match/search.h"

#include <string.h>

#include "base/chars.h"
#include "model/format.h"
#include "names/prefixes.h"
#include "names/spelling.h"
#include "names/wrappers.h"

enum { SAMPLE = 256 }; /* names of the file by which namings are compared */

static bool is_trainer_state(const struct shapeproof_inventory *inventory, size_t tensor)
{
    return shapeproof_inventory_tensor(inventory, tensor)->flags & SHAPEPROOF_TENSOR_STATE;
}

/* ---- any search ---- */

void sp_naming_offer(struct sp_prefixes *strips, const struct shapeproof_inventory *inventory, enum sp_name_style style)
{
    const struct sp_naming plain = {
        .strip = "", .add = "", .drop_wrappers = true, .tensorflow_names = style == SP_NAMES_OF_TENSORFLOW};
    const size_t count = shapeproof_inventory_count(inventory);
    const bool gguf = sp_format_has(inventory, SP_BY_LLAMA_CPP);
    struct sp_finder finder = {.naming = &plain};
    unsigned renaming = 0;
    for (size_t i = 0; i < count; i += sp_stride_for(count, SP_PREFIX_NAMES)) {
        if (is_trainer_state(inventory, i)) continue;
        if (gguf && sp_gguf_part(shapeproof_inventory_tensor(inventory, i)->name))
            continue; /* another model beside it */
        sp_prefixes_offer(strips, sp_finder_plain(&finder, shapeproof_inventory_tensor(inventory, i)->name, &renaming));
    }
    sp_prefixes_keep_common(strips);
    sp_finder_free(&finder);
}

/* Keeps a naming whose score is higher than that of the best one so far, and so the simpler of two equals, which is
 * tried first. A scheme must lead by two names: one name may look like it by chance. Names of an average count half: it
 * is the model only where the file has no other, even if that one lacks some tensors. */
static void consider_naming(struct sp_naming_search *search, struct sp_naming naming, const char *strip,
                            const char *add)
{
    naming.strip = strip;
    naming.add = add;
    size_t hits = search->score(search->context, &naming);
    if (sp_is_of_average(strip)) hits -= hits / 2;
    if (hits <= search->hits + (naming.scheme && !search->best.scheme)) return;
    search->hits = hits;
    search->best = naming;
}

/* Tries every prefix to add, where `strip` is removed: only if `strip` is made of words such as "module." that wrap a
 * whole model, for any other one would rename a part into another. */
static void consider_adds(struct sp_naming_search *search, struct sp_naming naming, const char *strip)
{
    for (size_t i = 0; i < search->adds.count && sp_is_all_holders(strip); i++)
        consider_naming(search, naming, strip, search->adds.list[i]);
}

void sp_naming_try(struct sp_naming_search *search, struct sp_naming naming)
{
    const struct sp_prefixes *strips = &search->strips;
    consider_naming(search, naming, "", "");
    for (size_t i = 0; i < strips->count; i++) consider_naming(search, naming, strips->list[i], "");
    consider_adds(search, naming, "");
    for (size_t i = 0; i < strips->count; i++) consider_adds(search, naming, strips->list[i]);
}

/* ---- against a prediction ---- */

/* How many of a sample of the file's names are predicted; `context` is the match. */
static size_t count_predicted(const void *context, const struct sp_naming *naming)
{
    const struct sp_match *match = context;
    struct sp_finder finder = sp_predicted_finder(naming, match->prediction);
    const size_t count = shapeproof_inventory_count(match->inventory);
    size_t hits = 0;
    unsigned renaming;
    for (size_t i = 0; i < count; i += sp_stride_for(count, SAMPLE)) {
        if (is_trainer_state(match->inventory, i)) continue;
        const size_t found = sp_finder_find(&finder, shapeproof_inventory_tensor(match->inventory, i)->name, &renaming);
        /* What the file has under the predicted name itself is no other tensor renamed. */
        hits += found != SHAPEPROOF_NONE && !(renaming && match->tensor_of[found] != SHAPEPROOF_NONE);
    }
    sp_finder_free(&finder);
    return hits;
}

/* How many names count_predicted looks at. */
static size_t count_sampled(const struct shapeproof_inventory *inventory)
{
    const size_t count = shapeproof_inventory_count(inventory);
    size_t sampled = 0;
    for (size_t i = 0; i < count; i += sp_stride_for(count, SAMPLE)) sampled += !is_trainer_state(inventory, i);
    return sampled;
}

/* The share of the sampled names that the scheme can translate once `strip` is removed, and wrappers before that if
 * drop_wrappers: 8 for all of them, 0 for less than one in eight, which may be by chance. Also 0 when more names are
 * such as the scheme makes: then the file has these names already, and what looks like the scheme means something else.
 *
 *     layers.0.attn.q_proj, layers.0.mlp.w1, ...         names of torchtune
 *     layers.0.self_attn.q_proj, layers.0.mlp.w1, ...    not: torchtune's scheme makes self_attn of attn
 *
 * A name of which the scheme only removes the first components does not count: decoder.layers.0.input_layernorm is
 * a name of Megatron, and of every model that is called "decoder". */
static size_t eighths_translated(const struct shapeproof_inventory *inventory, const struct sp_naming_scheme *scheme,
                                 const char *strip, bool drop_wrappers)
{
    const size_t count = shapeproof_inventory_count(inventory), length = strlen(strip);
    size_t translated_count = 0, made_count = 0, sampled = 0;
    struct sp_text bare = {0}, translated = {0};
    for (size_t i = 0; i < count; i += sp_stride_for(count, SP_PREFIX_NAMES)) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        if (is_trainer_state(inventory, i)) continue;
        if (drop_wrappers) {
            sp_unwrap(&bare, name);
            name = bare.data;
        }
        sampled++;
        size_t row = 0; /* of the scheme, from which it looks */
        if (strncmp(name, strip, length) != 0) continue;
        if (sp_naming_scheme_translate(scheme, name + length, &row, &translated))
            translated_count += !sp_ends_with(name + length, translated.data);
        else made_count += sp_naming_scheme_makes(scheme, name + length);
    }
    sp_text_free(&bare);
    sp_text_free(&translated);
    return made_count <= translated_count && sampled ? translated_count * 8 / sampled : 0;
}

/* Scores every scheme that translates at least one name in eight, behind each prefix. */
static void try_schemes(struct sp_naming_search *search, struct sp_naming naming,
                        const struct shapeproof_inventory *inventory)
{
    const struct sp_prefixes *strips = &search->strips;
    for (size_t e = 0; e < sp_naming_scheme_count(); e++)
        for (size_t i = 0; i <= strips->count; i++) {
            const char *strip = i ? strips->list[i - 1] : "";
            naming.scheme = sp_naming_scheme(e);
            if (!eighths_translated(inventory, naming.scheme, strip, naming.drop_wrappers)) continue;
            consider_naming(search, naming, strip, "");
            consider_adds(search, naming, strip);
        }
}

struct sp_naming sp_naming_of_scheme(const struct sp_naming_scheme *scheme, const struct sp_prefixes *strips,
                                     bool drop_wrappers, const struct shapeproof_inventory *inventory)
{
    struct sp_naming best = {.strip = "", .add = "", .drop_wrappers = drop_wrappers};
    size_t most = 0;
    for (size_t i = 0; i <= strips->count; i++) {
        const char *strip = i ? strips->list[i - 1] : "";
        const size_t eighths = eighths_translated(inventory, scheme, strip, drop_wrappers);
        if (eighths <= most) continue;
        most = eighths;
        best.scheme = scheme;
        best.strip = strip;
    }
    return best;
}

static bool has_slashes(const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        if (strchr(shapeproof_inventory_tensor(inventory, i)->name, '/')) return true;
    return false;
}

bool sp_has_wrappers(const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        if (sp_wrapper_in(shapeproof_inventory_tensor(inventory, i)->name)) return true;
    return false;
}

static void offer_predicted(struct sp_prefixes *adds, const struct shapeproof_prediction *prediction)
{
    const size_t count = shapeproof_prediction_count(prediction);
    for (size_t i = 0; i < count; i += sp_stride_for(count, SP_PREFIX_NAMES))
        sp_prefixes_offer(adds, shapeproof_prediction_tensor(prediction, i)->name);
    sp_prefixes_keep_common(adds);
}

/* The naming (a prefix removed, a prefix added, a scheme) under which most of the sampled names of the file are
 * predicted: an exhaustive search. It ends at once with the plain naming if 9 of 10 names are predicted as they are.
 * Files of a compiled model have wrappers such as _orig_mod in their names, which may belong to the prediction, so that
 * namings with and without them are tried. Names with slashes are also tried in the spelling of PyTorch. */
static struct sp_naming search_naming(struct sp_arena *arena, const struct sp_match *match)
{
    const struct sp_naming plain = {.strip = "", .add = ""};
    const struct shapeproof_inventory *inventory = match->inventory;
    struct sp_naming_search search = {.strips = {.arena = arena},
                                      .adds = {.arena = arena},
                                      .score = count_predicted,
                                      .context = match,
                                      .best = plain};
    search.hits = count_predicted(match, &plain);
    if (search.hits * 10 >= count_sampled(inventory) * 9) return plain;
    sp_naming_offer(&search.strips, inventory, SP_NAMES_AS_STORED);
    offer_predicted(&search.adds, match->prediction);
    const int ways = sp_has_wrappers(inventory) ? 2 : 1; /* to treat wrappers */
    for (int way = 0; way < ways; way++) {
        const struct sp_naming naming = {.drop_wrappers = way == 1};
        sp_naming_try(&search, naming);
        try_schemes(&search, naming, inventory);
    }
    if (!has_slashes(inventory)) return search.best;
    search.strips = (struct sp_prefixes){.arena = arena};
    sp_naming_offer(&search.strips, inventory, SP_NAMES_OF_TENSORFLOW);
    sp_naming_try(&search, (struct sp_naming){.tensorflow_names = true});
    return search.best;
}

struct sp_naming sp_naming_infer(struct sp_arena *arena, const struct sp_match *match)
{
    struct sp_naming naming = {.strip = "", .add = ""};
    if (!shapeproof_inventory_count(match->inventory) || !shapeproof_prediction_count(match->prediction)) return naming;
    naming = search_naming(arena, match);
    sp_prefix_rules_infer(arena, match, &naming);
    return naming;
}
