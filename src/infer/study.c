/* SPDX-License-Identifier: MIT */
#include "infer/study.h"

#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"

enum {
    MAX_ATTEMPTS = 24,
    MAX_FURTHER = 64,
    MANY_TENSORS = 20000,
    MAX_TURNED = 2,
    MAX_MENDED = 4,
    MAX_STAGED = 3,
    FEW_COMPARED = 25000,
    SOME_COMPARED = 250000,
    MANY_COMPARED = 1000000,
    MAX_CLASSES = 4,
    MAX_EFFORT = 400000,
    LITTLE_EFFORT = 1000,
    MAX_QUESTIONS = 1000000 /* that a whole search may ask: a second or two; large models need up to 600,000 */
};

/* ---- attempts ---- */

static struct sp_attempt *keep_attempt(struct sp_study *study, struct sp_attempt *attempt)
{
    *SP_PUSH(&study->attempts) = attempt;
    return attempt;
}

static struct sp_attempt *attempt_as(struct sp_study *study, const struct sp_look *look, struct sp_fit fit,
                                     const char *name)
{
    struct sp_effort own = {study->effort.trials, study->effort.questions / 2}; /* one attempt leaves half to others */
    const size_t questions = study->effort.questions - own.questions;
    struct sp_attempt *attempt = sp_attempt_new(study->searched.tables, fit, look, name, &own);
    study->effort = (struct sp_effort){own.trials, questions + own.questions};
    attempt->is_stated = study->stated.table && study->stated.table == fit.table;
    return keep_attempt(study, attempt);
}

static struct sp_attempt *attempt_fit(struct sp_study *study, const struct sp_look *look, struct sp_fit fit)
{
    return attempt_as(study, look, fit, NULL);
}

/* The classes of a model that name the same tensors give them other shapes. */
static struct sp_attempt *attempt_classes(struct sp_study *study, const struct sp_look *look, struct sp_fit fit)
{
    struct sp_fit others[MAX_CLASSES];
    struct sp_attempt *best = attempt_fit(study, look, fit);
    if (!best->reshaped) return best;
    const size_t count = sp_fit_equals(study->searched.tables, fit, &look->shapes, others, MAX_CLASSES);
    for (size_t i = 0; i < count && !sp_attempt_explains_all(best); i++) {
        struct sp_attempt *other = attempt_fit(study, look, others[i]);
        if (sp_attempt_is_better(other, best)) best = other;
    }
    return best;
}

/* When one table explains everything, those that see less, or lack more that should be there, are no equals; and after
 * some others none is that could have much more than the `leanest`. */
static bool is_worse_fit(struct sp_fit fit, struct sp_fit best, struct sp_fit leanest, size_t equals)
{
    enum { SOME = 14, LITTLE = 4 };
    return fit.seen < best.seen || fit.missing > best.missing ||
           (equals >= SOME && fit.absent > leanest.absent + LITTLE);
}

/* What is joined, or begins otherwise, is explained without being seen; but hardly half of what another table sees. */
static bool sees_too_little(struct sp_fit fit, const struct sp_attempt *best)
{
    return best && best->prediction && fit.seen * 2 < best->fit.seen;
}

static bool is_settled(const struct sp_attempt *best)
{
    return best && sp_attempt_explains_all(best) && best->table->model_type_count && !best->is_part;
}

/* A table that names the same tensors but no equal may be the one whose matrices were stored the other way round. */
static bool may_fit_turned(struct sp_fit fit, struct sp_fit best)
{
    return fit.seen == best.seen && !fit.missing && !fit.tied == !best.tied;
}

/* One such, with little effort: it only counts when it explains everything. */
static void attempt_another(struct sp_study *study, const struct sp_look *look, struct sp_fit fit)
{
    const size_t left = study->effort.trials;
    study->effort.trials = LITTLE_EFFORT;
    attempt_fit(study, look, fit)->is_second_choice = true;
    study->effort.trials = left;
}

/* Under other names the table sees no more of the same tensors than it did. */
static bool is_attempted(const struct sp_study *study, const struct sp_look *look, struct sp_fit fit)
{
    for (size_t i = 0; i < study->attempts.count; i++) {
        const struct sp_attempt *attempt = study->attempts.items[i];
        if (attempt->guise == look->guise && attempt->table == fit.table && strcmp(attempt->class, fit.class) == 0 &&
            attempt->fit.seen >= fit.seen && attempt->fit.missing <= fit.missing)
            return true;
    }
    return false;
}

/* Each attempt goes through all tensors of the file, and asks about most of them. */
static bool is_spent(const struct sp_study *study)
{
    if (study->effort.questions / 2 < sp_inventory_count(study->file)) return true;
    if (!study->budget || study->attempts.count * sp_inventory_count(study->file) <= study->budget->most) return false;
    study->budget->spent = true;
    return true;
}

/* The table has every name of the file but those of buffers that loaders compute. */
static bool sees_all_weights(const struct sp_look *look, struct sp_fit fit)
{
    return fit.seen == look->shapes.count || fit.seen + sp_count_computed(look->guise->inventory) >= look->shapes.count;
}

/* Only a whole explanation is asked for within a budget, and none is a table that has every name of the file and lacks
 * weights: nothing is left of which these could be parts. */
static bool cannot_be_whole(const struct sp_study *study, const struct sp_look *look, struct sp_fit fit)
{
    if (!study->budget) return false;
    if (study->budget->as_named) return fit.weights || !sees_all_weights(look, fit);
    return fit.weights && fit.seen == look->shapes.count;
}

/* The best of those for one way to look at the file; NULL when no table fits. */
static struct sp_attempt *attempt_all(struct sp_study *study, const struct sp_look *look)
{
    struct sp_attempt *best = NULL;
    size_t i = 0, equals = 0;
    for (; i < look->count && i < MAX_ATTEMPTS; i++) {
        if ((is_settled(best) && is_worse_fit(look->fits[i], best->fit, look->fits[0], equals)) || is_spent(study))
            break;
        equals += is_settled(best);
        if (sees_too_little(look->fits[i], best)) break;
        if (cannot_be_whole(study, look, look->fits[i]) || is_attempted(study, look, look->fits[i])) continue;
        struct sp_attempt *attempt = attempt_classes(study, look, look->fits[i]);
        if (!best || sp_attempt_is_better(attempt, best)) best = attempt;
    }
    if (i < look->count && is_settled(best) && may_fit_turned(look->fits[i], look->fits[0]))
        attempt_another(study, look, look->fits[i]);
    return best;
}

/* ---- once more ---- */

/* Components whose names begin otherwise were found when names were compared with a prediction: with that knowledge
 * more of them can be asked. */
static struct sp_attempt *attempt_fronts(struct sp_study *study, struct sp_attempt *best)
{
    struct sp_look look;
    struct sp_attempt *again = best;
    if (!best->prediction || !best->naming.front_count || sp_attempt_explains_all(best)) return best;
    const struct sp_tables_searched own = {.tables = study->searched.tables, .only = best->table};
    sp_look_under(&look, study->arena, &own, best->guise, &best->naming);
    if (look.count) again = attempt_classes(study, &look, look.fits[0]);
    sp_look_free(&look);
    return sp_attempt_is_better(again, best) ? again : best;
}

static struct sp_guise *keep_guise(struct sp_study *study, struct sp_guise guise);

/* What is fused in the file says more in parts: whether the parts have biases. */
static struct sp_attempt *attempt_split(struct sp_study *study, struct sp_attempt *best)
{
    struct sp_guise guise;
    struct sp_look look;
    struct sp_attempt *again = best;
    const struct sp_tables_searched own = {.tables = study->searched.tables, .only = best->table};
    if (!best->prediction || !best->joints || !best->unexplained || !sp_guise_split(&guise, best)) return best;
    sp_look_under(&look, study->arena, &own, keep_guise(study, guise), &best->naming);
    if (look.count) again = attempt_classes(study, &look, look.fits[0]);
    sp_look_free(&look);
    return sp_attempt_is_better(again, best) ? again : best;
}

static struct sp_guise *keep_guise(struct sp_study *study, struct sp_guise guise)
{
    struct sp_guise *kept = sp_arena_alloc(study->arena, sizeof *kept);
    *kept = guise;
    *SP_PUSH(&study->guises) = kept;
    return kept;
}

/* The best of the attempts from `from` on of which that is true, behind those that were `tried`; or NULL. */
static struct sp_attempt *next_best(const struct sp_study *study, size_t from,
                                    bool (*is_one)(const struct sp_attempt *attempt), struct sp_attempt *const *tried,
                                    size_t count)
{
    struct sp_attempt *best = NULL;
    for (size_t i = from; i < study->attempts.count; i++) {
        struct sp_attempt *attempt = study->attempts.items[i];
        bool is_tried = !is_one(attempt);
        for (size_t k = 0; k < count; k++) is_tried = is_tried || tried[k] == attempt;
        if (!is_tried && (!best || sp_attempt_is_better(attempt, best))) best = attempt;
    }
    return best;
}

/* Nothing is wrong but the shapes of matrices. */
static bool may_be_turned(const struct sp_attempt *attempt)
{
    return attempt->prediction && !attempt->is_further && attempt->reshaped &&
           attempt->unexplained == attempt->reshaped && !attempt->missing && !attempt->guise->turned;
}

/* The same with these matrices the other way round; NULL unless that explains everything. */
static struct sp_attempt *attempt_turned(struct sp_study *study, const struct sp_attempt *attempt)
{
    const size_t count = sp_inventory_count(attempt->guise->inventory);
    const struct sp_tables_searched own = {.tables = study->searched.tables, .only = attempt->table};
    bool *turned = sp_arena_array(study->arena, count, sizeof *turned);
    struct sp_guise guise;
    struct sp_look look;
    for (size_t i = 0; i < count; i++) turned[i] = sp_match_tensor(&attempt->match, i) == SP_SHAPE;
    if (!sp_guise_turned(&guise, attempt->guise, turned)) return NULL;
    sp_look_under(&look, study->arena, &own, keep_guise(study, guise), &attempt->naming);
    struct sp_attempt *again = look.count ? attempt_fit(study, &look, look.fits[0]) : NULL;
    sp_look_free(&look);
    return again && sp_attempt_explains_all(again) ? again : NULL;
}

/* What explains the file as it is comes first; the other is worth a word when it takes less to explain as much. */
static void weigh_turned(struct sp_study *study)
{
    if (!study->best || sp_attempt_is_better(study->turned, study->best)) {
        study->best = study->turned;
        study->turned = NULL;
    } else if (sp_attempt_switches(study->turned) >= sp_attempt_switches(study->best)) study->turned = NULL;
}

/* What other programs keep the other way round: linear layers for the convolutions of GPT-2. */
static void study_turned(struct sp_study *study, size_t from)
{
    struct sp_attempt *tried[MAX_TURNED];
    for (size_t i = 0; i < MAX_TURNED && !study->turned; i++) {
        tried[i] = next_best(study, from, may_be_turned, tried, i);
        if (!tried[i]) return;
        study->turned = attempt_turned(study, tried[i]);
    }
    if (study->turned) weigh_turned(study);
}

/* ---- the whole ---- */

/* As that table sees it, for the sake of the list of those that say the same. */
static struct sp_attempt *attempt_further(struct sp_study *study, const struct sp_look *look,
                                          const struct sp_further *further)
{
    struct sp_look other;
    struct sp_attempt *attempt = NULL;
    const struct sp_tables *tables = study->searched.tables;
    if (!further->otherwise) attempt = attempt_fit(study, look, further->fit);
    else if (sp_look_for(&other, study->arena, tables, further->fit.table, look->guise)) {
        attempt = attempt_fit(study, &other, other.fits[0]);
        sp_look_free(&other);
    }
    if (attempt) attempt->is_further = true;
    return attempt;
}

/* Nothing is left over, and of the names nothing was taken away: they are those of a whole without what is in front. */
static bool is_whole_of(const struct sp_attempt *attempt)
{
    return sp_attempt_explains_all(attempt) && !*attempt->naming.strip;
}

/* What a table explains as its names are, others may explain as well that were not among the likeliest; and of a part
 * of models those whose names begin otherwise, as they do in a whole: the best of these comes before the part when it
 * is there as a whole. */
static struct sp_attempt *attempt_all_further(struct sp_study *study, struct sp_look *look, struct sp_attempt *best)
{
    const bool is_part = best->is_part;
    struct sp_further further[MAX_FURTHER];
    const size_t tensors = sp_inventory_count(study->file), left = study->effort.trials;
    const size_t count = sp_look_further(look, study->searched.tables, further, MAX_FURTHER);
    for (size_t i = 0; i < count && i * tensors < MANY_TENSORS; i++) {
        study->effort.trials = LITTLE_EFFORT;
        if (!is_part && further[i].otherwise) continue;
        struct sp_attempt *attempt = attempt_further(study, look, &further[i]);
        if (is_part && attempt && is_whole_of(attempt) && sp_attempt_is_better(attempt, best)) best = attempt;
    }
    study->effort.trials = left;
    return best;
}

/* Tensors are where the table has them; only not all, or not all of those that it has. Or all names are, as far as
 * these tell. */
static bool may_be_mended(const struct sp_attempt *attempt)
{
    const size_t there = attempt->explained + attempt->reshaped;
    if (attempt->joints || attempt->is_further || attempt->is_second_choice || sp_attempt_explains_all(attempt))
        return false;
    if (sp_attempt_sees_all_names(attempt)) return true;
    return attempt->prediction && there > attempt->unexplained - attempt->reshaped && attempt->missing < there;
}

/* Where nothing explains the file those that come near are mended. After one that then does, others may take as much.
 */
static void mend_nearest(struct sp_study *study, size_t left)
{
    struct sp_attempt *tried[MAX_MENDED];
    if (!study->best || sp_attempt_explains_all(study->best) || study->budget) return;
    for (size_t i = 0; i < MAX_MENDED && (tried[i] = next_best(study, 0, may_be_mended, tried, i)) != NULL; i++) {
        const size_t before = left;
        sp_attempt_mend(tried[i], &left);
        if (sp_attempt_explains_all(tried[i]) && before - left < left) left = before - left;
        if (sp_attempt_is_better(tried[i], study->best)) study->best = tried[i];
    }
}

static bool may_be_staged(const struct sp_attempt *attempt)
{
    return attempt->has_stages && !attempt->is_further && !attempt->is_second_choice &&
           !sp_attempt_explains_all(attempt);
}

static struct sp_attempt *attempt_staged(struct sp_study *study, const struct sp_attempt *attempt)
{
    const struct sp_tables_searched own = {.tables = study->searched.tables, .only = attempt->table};
    struct sp_attempt *again = NULL;
    struct sp_look look;
    if (attempt->prediction) sp_look_under(&look, study->arena, &own, attempt->guise, &attempt->naming);
    else sp_look_best(&look, study->arena, &own, attempt->guise);
    study->effort.trials = MAX_EFFORT;
    if (look.count) again = keep_attempt(study, sp_attempt_by_stages(own.tables, look.fits[0], &look, &study->effort));
    sp_look_free(&look);
    return again;
}

/* Where nothing explains the file, those that come near and have modules of which only shapes tell the stages once
 * more, by these. */
static void study_stages(struct sp_study *study)
{
    struct sp_attempt *tried[MAX_STAGED];
    if (!study->best || study->budget) return;
    for (size_t i = 0; i < MAX_STAGED && !sp_attempt_explains_all(study->best); i++) {
        tried[i] = next_best(study, 0, may_be_staged, tried, i);
        if (!tried[i]) return;
        struct sp_attempt *again = attempt_staged(study, tried[i]);
        if (again && sp_attempt_is_better(again, study->best)) study->best = again;
    }
}

/* Whether one of the tables builds on the other. */
static bool are_relatives(const struct sp_unit *a, const struct sp_unit *b)
{
    const struct sp_unit *up = a, *other = b;
    while (up && up != b) up = up->parent;
    while (other && other != a) other = other->parent;
    return up || other;
}

/* What a table explains one that builds on it, or on which it builds, may explain as well, with values that only trying
 * tells: then nothing tells the two apart. */
static void mend_relatives(struct sp_study *study)
{
    size_t left = FEW_COMPARED;
    if (!study->best || !sp_attempt_explains_all(study->best) || study->budget) return;
    for (size_t i = 0; i < study->attempts.count; i++) {
        struct sp_attempt *attempt = study->attempts.items[i];
        if (!sp_attempt_sees_all_names(attempt) || !may_be_mended(attempt) ||
            !are_relatives(attempt->table, study->best->table))
            continue;
        sp_attempt_mend(attempt, &left);
        if (sp_attempt_is_better(attempt, study->best)) study->best = attempt;
    }
}

/* Of the attempts from `from` on each once more, under the name of a model that comes nearest. */
static struct sp_attempt *attempt_named(struct sp_study *study, const struct sp_look *look, struct sp_attempt *best,
                                        size_t from)
{
    const size_t count = study->attempts.count;
    size_t left = MANY_COMPARED;
    for (size_t i = from; i < count; i++) {
        struct sp_attempt *plain = study->attempts.items[i];
        if (sp_attempt_explains_all(best) && !sp_attempt_explains_all(plain)) continue;
        const char *name = sp_nearest_name(plain, &look->naming, &left);
        if (!name) continue;
        struct sp_attempt *named = attempt_as(study, look, plain->fit, name);
        if (sp_attempt_is_better(named, best)) best = named;
    }
    return best;
}

/* The classes of a table that chooses another one by its name. */
static struct sp_attempt *attempt_wrapper(struct sp_study *study, const struct sp_attempt *inner,
                                          const struct sp_unit *wrapper)
{
    size_t count;
    const char *const *classes = sp_classes_of(study->searched.tables, wrapper, &count);
    for (size_t i = 0; i < count; i++) {
        struct sp_attempt *attempt = keep_attempt(study, sp_attempt_wrapped(inner, wrapper, classes[i]));
        if (sp_attempt_explains_all(attempt) && !*attempt->naming.strip && !*attempt->naming.add) return attempt;
        attempt->is_second_choice = true;
    }
    return NULL;
}

/* A model with a name, from whose names something had to be taken away, may be within a wrapper. */
static struct sp_attempt *attempt_wrappers(struct sp_study *study, struct sp_attempt *best)
{
    size_t count;
    const size_t *list = sp_tables_list(study->searched.tables, &count);
    if (!sp_attempt_explains_all(best) || !sp_stands_for_settings(best->table) || !*best->naming.strip ||
        study->searched.only)
        return best;
    for (size_t i = 0; i < count; i++) {
        const struct sp_unit *table = sp_tables_at(study->searched.tables, list[i]);
        if (!table || !sp_unit_chooses(table)) continue;
        struct sp_attempt *wrapped = attempt_wrapper(study, best, table);
        if (wrapped) return wrapped;
    }
    return best;
}

/* What is left over may be fused tensors of what is missing, and the only ones that show a size. */
static bool may_be_fused(const struct sp_attempt *attempt)
{
    return attempt->prediction && !attempt->joints && attempt->missing && attempt->unexplained && !attempt->reshaped &&
           attempt->explained > attempt->unexplained && !attempt->is_further && !attempt->is_second_choice;
}

/* Where nothing explains the file, those from `from` on whose sizes fused tensors may tell. */
static struct sp_attempt *size_fused(struct sp_study *study, struct sp_attempt *best, size_t from)
{
    size_t left = SOME_COMPARED;
    for (size_t i = from; i < study->attempts.count && !sp_attempt_explains_all(best); i++) {
        struct sp_attempt *attempt = study->attempts.items[i];
        if (!may_be_fused(attempt)) continue;
        sp_attempt_size_fused(attempt, &left);
        if (sp_attempt_is_better(attempt, best)) best = attempt;
    }
    return best;
}

static bool is_plain_naming(const struct sp_naming *naming)
{
    return !naming->era && !*naming->strip && !*naming->add && !naming->drop_wrappers;
}

static void study_look(struct sp_study *study, struct sp_look *look)
{
    const size_t from = study->attempts.count;
    struct sp_attempt *best = attempt_all(study, look);
    if (best && sp_attempt_explains_all(best) && !study->budget && !study->searched.only && !look->guise->turned &&
        is_plain_naming(&look->naming))
        best = attempt_all_further(study, look, best);
    if (best && !study->budget) best = attempt_wrappers(study, attempt_named(study, look, best, from));
    if (best) best = attempt_fronts(study, best);
    if (best) best = attempt_split(study, best);
    if (best && !study->budget) best = size_fused(study, best, from);
    if (best && (!study->best || sp_attempt_is_better(best, study->best))) study->best = best;
}

/* What takes no joining; a simpler explanation may still be found of what does. */
static bool is_studied(const struct sp_study *study)
{
    return study->best && sp_attempt_explains_all(study->best) && !study->best->joints && !study->best->is_part;
}

/* As its names are, and, unless that is enough, as those of another program. */
static void study_guise(struct sp_study *study, struct sp_guise guise)
{
    struct sp_look look;
    const size_t from = study->attempts.count;
    const struct sp_guise *kept = keep_guise(study, guise);
    sp_look_best(&look, study->arena, &study->searched, kept);
    study_look(study, &look);
    sp_look_free(&look);
    mend_nearest(study, SOME_COMPARED); /* other names, and the same values, are farther */
    mend_relatives(study);
    if (!is_studied(study) && sp_look_translated(&look, study->arena, &study->searched, kept)) {
        study_look(study, &look);
        sp_look_free(&look);
    }
    study_turned(study, from);
}

/* As it was before it was quantised; where several numbers of bits and groups would do, each, until one explains it
 * all.
 */
static void study_unpacked(struct sp_study *study)
{
    enum { FEW = 3 };
    struct sp_unpacked *unpacked = sp_arena_array(study->arena, FEW, sizeof *unpacked);
    const size_t count = sp_unpack(study->arena, study->searched.tables, study->file, unpacked, FEW);
    struct sp_guise guise;
    for (size_t i = 0; i < count && !is_studied(study); i++)
        if (sp_guise_unpacked(&guise, study->file, &unpacked[i])) study_guise(study, guise);
}

/* The table that the metadata name, with the hyper-parameters that they give. Returns whether it explains all. */
static bool study_stated(struct sp_study *study)
{
    struct sp_guise guise;
    struct sp_look look;
    if (study->budget || !sp_stated_find(&study->stated, study)) return false;
    const struct sp_tables_searched own = {.tables = study->searched.tables, .only = study->stated.table};
    sp_guise_plain(&guise, study->file);
    sp_look_best(&look, study->arena, &own, keep_guise(study, guise));
    if (look.count) {
        study->best =
            keep_attempt(study, sp_attempt_as_stated(own.tables, look.fits[0], &look, &study->stated, &study->effort));
        study->best->is_stated = true;
    }
    sp_look_free(&look);
    return is_studied(study);
}

void sp_study_file(struct sp_study *study)
{
    struct sp_guise guise;
    study->effort = (struct sp_effort){MAX_EFFORT, MAX_QUESTIONS};
    if (study_stated(study)) return;
    study_unpacked(study);
    if (is_studied(study)) return;
    if (sp_guise_respelt(&guise, study->file)) study_guise(study, guise);
    if (is_studied(study)) return;
    sp_guise_plain(&guise, study->file);
    study_guise(study, guise);
    study_stages(study);
    mend_nearest(study, MANY_COMPARED);
}
