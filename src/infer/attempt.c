/* SPDX-License-Identifier: MIT
 * One table held against the file: deduce, guess what is left, predict, compare. Only what the comparison with a whole
 * prediction says counts in the end. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "config/quantised.h"
#include "infer/classes.h"
#include "infer/computed.h"
#include "infer/guess/guess.h"
#include "infer/infer.h"
#include "infer/limits.h"
#include "infer/numbers/numbers.h"
#include "infer/search.h"
#include "match/layers.h"
#include "names/wrappers.h"
#include "stored/suffixes.h"

/* ---- what it explains ---- */

static void excuse_computed(struct sp_attempt *attempt)
{
    struct sp_arena *arena = &attempt->outline.solver.arena;
    const size_t count = shapeproof_inventory_count(attempt->match.inventory);
    const size_t predicted = shapeproof_prediction_count(attempt->prediction);
    attempt->is_excused = sp_arena_array(arena, count, sizeof *attempt->is_excused);
    attempt->is_recomputed = sp_arena_array(arena, predicted, sizeof *attempt->is_recomputed);
    sp_find_computed(&attempt->match, attempt->is_excused, attempt->is_recomputed);
    for (size_t i = 0; i < predicted; i++) attempt->recomputed += attempt->is_recomputed[i];
}

/* ---- what is beside the model ---- */

/* The tensor of the view that the rest of a name stands for, which is predicted; SHAPEPROOF_NONE without one. */
static size_t find_original(const struct sp_attempt *attempt, const char *rest)
{
    const size_t predicted = shapeproof_prediction_find(attempt->prediction, rest);
    size_t original = predicted == SHAPEPROOF_NONE ? SHAPEPROOF_NONE : attempt->match.tensor_of[predicted];
    if (original == SHAPEPROOF_NONE) original = shapeproof_inventory_find(attempt->match.inventory, rest);
    if (original == SHAPEPROOF_NONE && *attempt->naming.strip) {
        struct sp_text name = {0};
        sp_text_printf(&name, "%s%s", attempt->naming.strip, rest);
        original = shapeproof_inventory_find(attempt->match.inventory, name.data);
        sp_text_free(&name);
    }
    if (original == SHAPEPROOF_NONE || attempt->match.predicted_of[original] == SHAPEPROOF_NONE) return SHAPEPROOF_NONE;
    return original;
}

/* Whether the tensor is a copy of a predicted one, below a key that names an average. Two towers of one model, which
 * have the same names as well, are none. */
static bool is_average(const struct sp_attempt *attempt, const struct shapeproof_tensor *tensor)
{
    enum { DEEPEST = 4 };
    const char *rest = tensor->name;
    if (!sp_is_average(tensor->name, strcspn(tensor->name, "."))) return false;
    for (int depth = 0; depth < DEEPEST && (rest = strchr(rest, '.')) != NULL; depth++) {
        const size_t original = find_original(attempt, ++rest);
        if (original == SHAPEPROOF_NONE) continue;
        const struct shapeproof_tensor *own = shapeproof_inventory_tensor(attempt->match.inventory, original);
        return sp_same_dims(own->shape, own->rank, tensor->shape, tensor->rank);
    }
    return false;
}

/* Whether the tensor lies outside of the prefix of the model, and is a number, the bytes of a generator of random
 * numbers, or of a loss. */
static bool is_of_trainer(const struct sp_attempt *attempt, const struct shapeproof_tensor *tensor)
{
    const char *strip = attempt->naming.strip;
    if (!*strip || strncmp(tensor->name, strip, strlen(strip)) == 0) return false;
    if (tensor->parameters <= 1 || (tensor->rank == 1 && tensor->dtype == SHAPEPROOF_DTYPE_U8)) return true;
    return strstr(tensor->name, ".loss.") || strstr(tensor->name, ".criterion.");
}

static void find_beside(struct sp_attempt *attempt)
{
    const size_t count = shapeproof_inventory_count(attempt->match.inventory);
    attempt->is_beside = sp_arena_array(&attempt->outline.solver.arena, count, sizeof *attempt->is_beside);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(attempt->match.inventory, i);
        if (sp_match_tensor(&attempt->match, i) != SP_UNEXPECTED || tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE)
            continue;
        attempt->is_beside[i] = is_of_trainer(attempt, tensor) || is_average(attempt, tensor);
    }
}

enum sp_difference sp_attempt_tensor(const struct sp_attempt *attempt, size_t tensor)
{
    const size_t seen = sp_seen_as(attempt->view, tensor);
    if (attempt->is_excused[seen] || attempt->is_beside[seen]) return SP_STATE;
    if (sp_attempt_is_joined(attempt, seen)) return SP_SAME;
    const enum sp_difference difference = sp_match_tensor(&attempt->match, seen);
    if (difference != SP_SHAPE || !attempt->view->is_flat || !attempt->view->is_flat[seen]) return difference;
    const size_t predicted = attempt->match.predicted_of[seen];
    const uint64_t elements = shapeproof_inventory_tensor(attempt->match.inventory, seen)->parameters;
    return shapeproof_prediction_tensor(attempt->prediction, predicted)->parameters == elements ? SP_SAME : SP_SHAPE;
}

bool sp_attempt_is_incomplete(const struct sp_attempt *attempt, size_t seen)
{
    const struct sp_infer_view *view = attempt->view;
    if (!view->unpacked || view->is_unpacked[seen] || attempt->match.predicted_of[seen] == SHAPEPROOF_NONE)
        return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(view->inventory, seen);
    return tensor->rank > 1 && sp_looks_packed(tensor) &&
           !shapeproof_prediction_tensor(attempt->prediction, attempt->match.predicted_of[seen])->buffer;
}

/* Tells a file that lacks whole layers, as a piece of a model does, from one with gaps in the layers that it has. A
 * layer is present when the file has at least one of its predicted tensors. Sets
 *
 *     present_layers             the names of the present layers
 *     lacks_layers               whether another layer is predicted
 *     missing_in_present_layers  how many tensors the present layers lack */
static void compare_layers(struct sp_attempt *attempt)
{
    struct sp_levels levels = {0};
    sp_levels_read(&levels, attempt->prediction, SP_LAYERS);
    const struct sp_layers *layers = &levels.at[SP_LAYERS];
    bool *is_present = sp_arena_array(&levels.arena, layers->count, sizeof *is_present);
    for (size_t i = 0; i < shapeproof_prediction_count(attempt->prediction); i++)
        if (layers->of[i] != SHAPEPROOF_NONE &&
            (attempt->match.tensor_of[i] != SHAPEPROOF_NONE || attempt->is_joined[i]))
            is_present[layers->of[i]] = true;
    for (size_t i = 0; i < shapeproof_prediction_count(attempt->prediction); i++)
        attempt->missing_in_present_layers +=
            sp_attempt_lacks(attempt, i) && layers->of[i] != SHAPEPROOF_NONE && is_present[layers->of[i]];
    for (size_t i = 0; i < layers->count; i++) {
        attempt->lacks_layers |= layers->items[i].predicted && !is_present[i];
        if (is_present[i])
            sp_map_add(&attempt->present_layers,
                       sp_arena_copy(&attempt->outline.solver.arena, layers->items[i].name, layers->items[i].length),
                       i);
    }
    sp_levels_free(&levels);
}

/* Counts the tensors of the file that the prediction explains and those that it does not, and the predicted ones that
 * the file lacks. What is excused counts as neither. */
static void count_explained(struct sp_attempt *attempt)
{
    for (size_t i = 0; i < shapeproof_inventory_count(attempt->view->file); i++) {
        const enum sp_difference difference = sp_attempt_tensor(attempt, i);
        if (difference == SP_STATE) continue;
        if (sp_is_error(difference)) attempt->unexplained++;
        else attempt->explained++;
        attempt->reshaped += difference == SP_SHAPE;
    }
    for (size_t i = 0; i < shapeproof_prediction_count(attempt->prediction); i++)
        attempt->missing += sp_attempt_lacks(attempt, i);
    if (attempt->missing) compare_layers(attempt);
}

struct shapeproof_prediction *sp_attempt_predict(const struct sp_attempt *attempt, struct shapeproof_config *config)
{
    struct shapeproof_error error = {0};
    return shapeproof_predict(attempt->tables, config,
                              &(struct shapeproof_predict_options){.table = attempt->table->name}, &error);
}

struct shapeproof_prediction *sp_attempt_predict_within(const struct sp_attempt *attempt,
                                                        struct shapeproof_config *config)
{
    const struct sp_scope scope = {.most = 4 * shapeproof_inventory_count(attempt->view->inventory) + 10000};
    sp_config_limit(config, &scope);
    struct shapeproof_prediction *prediction = sp_attempt_predict(attempt, config);
    sp_config_limit(config, NULL);
    return prediction;
}

static void predict_attempt(struct sp_attempt *attempt)
{
    attempt->config = sp_known_config(attempt);
    attempt->prediction = sp_attempt_predict_within(attempt, attempt->config);
}

/* Predicts once more without the guesses, and if that fails as well without lists, so that the defaults of the table
 * stand there: a guess may be of a type that the table cannot compute with, and a list too short. */
static void predict_without_guesses(struct sp_attempt *attempt)
{
    for (enum sp_forget what = SP_FORGET_GUESSES; what <= SP_FORGET_GUESSES_AND_LISTS && !attempt->prediction; what++) {
        if (!sp_known_forget_guesses(&attempt->outline.solver.known, what)) continue;
        shapeproof_config_free(attempt->config);
        predict_attempt(attempt);
    }
}

/* Whether "", which stands for any text that the table does not name, is the value of a key or of an item. */
static bool has_unnamed_text(const struct sp_known *known)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->facts[i].value.type == SHAPEPROOF_VALUE_STRING && !*known->facts[i].value.string) return true;
    return false;
}

/* Predicts what the table gives under what is known, and compares that with the view. Without a prediction, which is
 * NULL then, nothing is counted. */
static void verify(struct sp_attempt *attempt)
{
    const struct shapeproof_inventory *inventory = attempt->view->inventory;
    predict_attempt(attempt);
    if (!attempt->prediction) predict_without_guesses(attempt);
    if (!attempt->prediction) return;
    sp_match_begin(&attempt->match, inventory, attempt->prediction);
    attempt->naming = sp_naming_infer(&attempt->outline.solver.arena, &attempt->match);
    sp_match_rest(&attempt->match, &attempt->naming);
    excuse_computed(attempt);
    find_beside(attempt);
    sp_attempt_join(attempt);
    count_explained(attempt);
    if (!sp_attempt_explains_all(attempt)) return;
    attempt->settings = sp_attempt_settings(attempt);
    attempt->has_unnamed_text = has_unnamed_text(&attempt->outline.solver.known);
}

void sp_attempt_verify_anew(struct sp_attempt *attempt)
{
    if (attempt->prediction) sp_match_free(&attempt->match);
    shapeproof_prediction_free(attempt->prediction);
    shapeproof_config_free(attempt->config);
    sp_map_free(&attempt->present_layers);
    attempt->present_layers = (struct sp_map){0};
    attempt->fused.count = 0;
    attempt->joints = attempt->explained = attempt->unexplained = attempt->reshaped = attempt->missing = 0;
    attempt->recomputed = attempt->missing_in_present_layers = attempt->settings = 0;
    attempt->lacks_layers = attempt->has_unnamed_text = false;
    attempt->joint = NULL;
    verify(attempt);
}

/* ---- trying ---- */

/* A value that is assumed before anything is deduced, of a key that chooses between parts of the table with the same
 * names: norm = "rms" under `use rms_norm if norm == "rms"`. */
struct supposition {
    const char *key;
    struct shapeproof_value value;  /* a text, or absent */
    const struct supposition *next; /* the one that was made before it; NULL for none */
};

/* What an attempt is made of. */
struct trial {
    const struct shapeproof_tables *tables;
    const struct sp_unit *table;
    const char *class;                            /* "" when the table does not depend on it */
    bool is_part;                                 /* the table is a part of other models */
    const struct sp_candidate_tables *candidates; /* with the view, and its names under a naming */
    const char *name;                             /* of the model, such as "resnet50"; or NULL */
    const struct sp_stated *stated;               /* what the file says of the table's hyper-parameters; or NULL */
    bool by_stages;                               /* sp_deduce_by_stages */
    size_t *left;                                 /* how many more suppositions may be tried out */
    struct sp_effort *effort;
};

static struct sp_attempt *try_under(const struct trial *trial, const struct supposition *suppositions);

/* Either may be NULL. The worse one is freed. */
static struct sp_attempt *better_of(struct sp_attempt *a, struct sp_attempt *b)
{
    struct sp_attempt *worse = a && b && sp_attempt_is_better(b, a) ? a : b;
    struct sp_attempt *better = worse == a ? b : a;
    if (a && b) sp_attempt_free(worse);
    return better ? better : worse;
}

static bool is_surely_there(struct sp_deduction *deduction, const struct sp_line *line)
{
    if (line->optional || line->row->has_tie || line->old_of != SP_NO_LINE) return false;
    return sp_line_is_decided(deduction->solver, line);
}

/* How well the names fit under a value of the key: the lines that the file has, less those that it should have and
 * lacks. */
static int64_t names_under(struct sp_deduction *deduction, const char *key, struct shapeproof_value value)
{
    const struct sp_want want = sp_want_value(value);
    const struct sp_mark mark = sp_known_mark(&deduction->solver->known);
    int64_t names = 0;
    sp_known_tell(&deduction->solver->known, key, &want);
    for (size_t i = 0; i < deduction->outline->count; i++) {
        const struct sp_line *line = &deduction->outline->lines[i];
        if (sp_line_is_ruled_out(deduction->solver, line)) continue;
        if (deduction->occurrences.of[i].count) names++;
        else if (is_surely_there(deduction, line)) names--;
    }
    sp_known_undo(&deduction->solver->known, &mark);
    return names;
}

/* Keeps the values under which the names fit best, in place, and returns how many: of several such values the shapes
 * decide later. */
static size_t keep_likeliest(struct sp_deduction *deduction, const char *key, struct shapeproof_value *texts,
                             size_t count)
{
    int64_t names[SP_MOST_TEXTS], most = INT64_MIN;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        names[i] = names_under(deduction, key, texts[i]);
        if (names[i] > most) most = names[i];
    }
    for (size_t i = 0; i < count; i++)
        if (names[i] == most) texts[kept++] = texts[i];
    return kept;
}

/* Makes an attempt with each value that the key may have as one more supposition, until one explains everything.
 * Returns the best one; NULL when there was none to make: no text is known for the key, or the budget is spent. */
static struct sp_attempt *try_values(const struct trial *trial, struct sp_deduction *deduction, const char *key,
                                     const struct supposition *suppositions)
{
    struct shapeproof_value texts[SP_MOST_TEXTS];
    const size_t text_count =
        keep_likeliest(deduction, key, texts, sp_guess_texts(deduction, key, texts, SP_MOST_TEXTS));
    struct sp_attempt *best = NULL;
    if (text_count == 1 && texts[0].type == SHAPEPROOF_VALUE_ABSENT)
        return NULL; /* no text fits: the value is of another type */
    for (size_t i = 0;
         i < text_count && *trial->left && trial->effort->trials && !(best && sp_attempt_explains_all(best)); i++) {
        --*trial->left;
        const struct supposition supposition = {key, texts[i], suppositions};
        best = better_of(best, try_under(trial, &supposition));
    }
    return best;
}

/* try_values for the first key that it can be done with, of those that decide which line has a contested tensor. NULL
 * when there is none. */
static struct sp_attempt *try_suppositions(const struct trial *trial, struct sp_deduction *deduction,
                                           const struct supposition *suppositions)
{
    struct sp_key_names tried = {.count = 0};
    struct sp_attempt *best = NULL;
    for (const char *key; !best && (key = sp_contest_lacks(deduction, &tried)) != NULL; *SP_PUSH(&tried) = key)
        best = try_values(trial, deduction, key, suppositions);
    sp_free(tried.items);
    return best;
}

static size_t count_suppositions(const struct supposition *suppositions)
{
    size_t count = 0;
    for (; suppositions; suppositions = suppositions->next) count++;
    return count;
}

/* Makes the suppositions known, as the first guesses. */
static void tell_suppositions(struct sp_known *known, const struct supposition *suppositions)
{
    known->reason = (struct sp_reason){.kind = SP_REASON_GUESS, .name = ""};
    for (; suppositions; suppositions = suppositions->next) {
        struct shapeproof_value value = suppositions->value;
        value.string =
            sp_arena_string(known->arena, value.string); /* the texts are those of an attempt that is freed first */
        const struct sp_want want = sp_want_value(value);
        const char *key = sp_arena_string(known->arena, suppositions->key);
        sp_known_guess(known, key);
        sp_known_tell(known, key, &want);
    }
    known->supposed = known->guesses;
}

/* Deduces and guesses in turn, until neither tells anything new. By stages the numbers in names are solved first,
 * before contested tensors tell anything. */
static void infer(struct sp_deduction *deduction)
{
    for (int i = 0; i < SP_MOST_GUESS_ROUNDS && deduction->by_stages && sp_tell_by_numbers(deduction); i++)
        sp_deduce(deduction, SP_CONTESTED_UNKNOWN);
    sp_deduce(deduction, SP_CONTESTED_FIRST);
    for (int i = 0; i < SP_MOST_GUESS_ROUNDS && (sp_tell_by_numbers(deduction) || sp_guess(deduction)); i++)
        sp_deduce(deduction, SP_CONTESTED_FIRST);
    sp_guess_rest(deduction);
}

/* Whether the file has no tensor of a loop, although the table has loops. A line whose number is an expression
 * (blocks.{first + i}) may have no occurrence as long as that is unknown, and explain tensors in the end: these are
 * more than the lines outside of loops have. */
static bool is_without_layers(const struct sp_deduction *deduction, size_t explained)
{
    bool has_layers = false;
    size_t outside = 0;
    for (size_t i = 0; i < deduction->outline->count; i++) {
        const struct sp_line *line = &deduction->outline->lines[i];
        const size_t count = deduction->occurrences.of[i].count;
        if (line->loop && count) return false;
        has_layers = has_layers || (line->loop && !line->optional);
        if (!line->loop) outside += count;
    }
    return has_layers && explained <= outside;
}

/* Forgets every value that was inferred, so that the name of the model alone decides. */
static void keep_name_alone(struct sp_attempt *attempt)
{
    sp_known_clear(&attempt->outline.solver.known);
    sp_attempt_verify_anew(attempt);
}

/* How far an attempt is from explaining everything; SIZE_MAX without a prediction. */
static size_t count_wrong(const struct sp_attempt *attempt)
{
    return attempt->prediction ? attempt->unexplained + attempt->missing : SIZE_MAX;
}

/* Infers the sizes a second time, and keeps them if fewer tensors are wrong then. In the first pass it was not known
 * which of several lines has a tensor, and the wrong line may have given a size to a key. Suppositions stay, because
 * they are texts. */
static void infer_sizes_anew(struct sp_attempt *attempt, struct sp_deduction *deduction)
{
    struct sp_known *known = &attempt->outline.solver.known;
    const struct sp_mark mark = sp_known_mark(known);
    const size_t before = count_wrong(attempt);
    sp_known_forget_dimensions(known);
    infer(deduction);
    sp_attempt_verify_anew(attempt);
    if (count_wrong(attempt) < before) {
        sp_known_commit(known, &mark);
        return;
    }
    sp_known_undo(known, &mark);
    sp_attempt_verify_anew(attempt);
}

/* Whether infer_sizes_anew may help: shapes are most of what is wrong, and several lines make names of the file. */
static bool are_sizes_doubtful(const struct sp_attempt *attempt, const struct sp_deduction *deduction)
{
    if (!attempt->reshaped || attempt->reshaped * 2 < count_wrong(attempt)) return false;
    for (size_t i = 0; i < deduction->outline->count; i++)
        if (deduction->has_namesake[i] && deduction->occurrences.of[i].count) return true;
    return false;
}

/* One attempt, by backtracking over suppositions. Deduces what the tensors of the file imply under those that are given
 * (NULL: none). If a key that decides between parts with the same names is still unknown, the attempts with each of its
 * values as one supposition more take the place of this one: the best of them is returned. Otherwise guesses what is
 * not known, predicts and compares. The caller frees the attempt. */
static struct sp_attempt *try_under(const struct trial *trial, const struct supposition *suppositions)
{
    struct sp_attempt *attempt = sp_realloc(NULL, 1, sizeof *attempt), *best_supposed = NULL;
    struct sp_deduction deduction;
    /* The shapes decide by stages which modules are alike, and no tensor whose line is uncertain may tell before. */
    const enum sp_contest contest = trial->by_stages ? SP_CONTESTED_UNKNOWN : SP_CONTESTED_REQUIRED;
    *attempt = (struct sp_attempt){.tables = trial->tables,
                                   .table = trial->table,
                                   .class = trial->class,
                                   .name = trial->name,
                                   .view = trial->candidates->view,
                                   .is_part = trial->is_part};
    sp_outline_init(&attempt->outline, trial->table, trial->class, &trial->candidates->shapes.prefilter->filter);
    tell_suppositions(&attempt->outline.solver.known, suppositions);
    sp_deduction_init(&deduction, &attempt->outline, &trial->candidates->shapes, trial->effort);
    if (trial->by_stages) sp_deduce_by_stages(&deduction);
    sp_deduce(&deduction, contest);
    if (trial->stated) {
        sp_stated_tell(trial->stated, &attempt->outline.solver);
        sp_deduce(&deduction, SP_CONTESTED_REQUIRED);
    }
    if (count_suppositions(suppositions) < SP_MOST_SUPPOSITIONS)
        best_supposed = try_suppositions(trial, &deduction, suppositions);
    if (!best_supposed) {
        infer(&deduction);
        if (trial->name) attempt->by_name = sp_predict_named(attempt, trial->name);
        verify(attempt);
        if (are_sizes_doubtful(attempt, &deduction)) infer_sizes_anew(attempt, &deduction);
        if (trial->name && !sp_attempt_explains_all(attempt)) keep_name_alone(attempt);
        attempt->has_stages = !trial->by_stages && sp_has_stages(&deduction);
        attempt->without_layers = is_without_layers(&deduction, attempt->explained);
    }
    sp_deduction_free(&deduction);
    if (!best_supposed) return attempt;
    sp_attempt_free(attempt);
    return best_supposed;
}

/* Whether the prediction (NULL: no) agrees with all of the view. */
static bool predicts_all(struct sp_attempt *attempt, struct shapeproof_prediction *prediction)
{
    struct sp_match match;
    if (!prediction) return false;
    sp_match_begin(&match, attempt->view->inventory, prediction);
    const struct sp_naming naming = sp_naming_infer(&attempt->outline.solver.arena, &match);
    sp_match_rest(&match, &naming);
    const bool agrees = !sp_match_errors(&match);
    sp_match_free(&match);
    return agrees;
}

/* If the table has all names of the file, and its defaults alone predict the file, forgets every value that was
 * inferred.
 */
static void try_defaults(struct sp_attempt *attempt)
{
    struct sp_known *known = &attempt->outline.solver.known;
    if (!sp_attempt_sees_all_names(attempt)) return;
    const struct sp_mark mark = sp_known_mark(known);
    sp_known_clear(known);
    sp_solver_tell_class(&attempt->outline.solver, attempt->class);
    struct shapeproof_config *config = sp_known_config(attempt);
    struct shapeproof_prediction *prediction = sp_attempt_predict_within(attempt, config);
    const bool agrees = predicts_all(attempt, prediction);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    if (!agrees) {
        sp_known_undo(known, &mark);
        return;
    }
    sp_known_commit(known, &mark);
    sp_attempt_verify_anew(attempt);
}

/* The attempt of the fit's table and class; the name of the model, if there is one, is the first supposition. */
static struct sp_attempt *try_fit(struct trial trial, struct sp_fit fit)
{
    size_t left = SP_MOST_SUPPOSED;
    const struct supposition named = {"architecture", sp_value_string(trial.name), NULL};
    trial.table = fit.table;
    trial.class = fit.class;
    trial.is_part = sp_is_part(trial.tables, fit.table);
    trial.left = &left;
    struct sp_attempt *attempt = try_under(&trial, trial.name ? &named : NULL);
    attempt->fit = fit;
    return attempt;
}

struct sp_attempt *sp_attempt_new(const struct shapeproof_tables *tables, struct sp_fit fit,
                                  const struct sp_candidate_tables *candidates, const char *name,
                                  struct sp_effort *effort)
{
    struct sp_attempt *attempt =
        try_fit((struct trial){.tables = tables, .candidates = candidates, .name = name, .effort = effort}, fit);
    if (!sp_attempt_explains_all(attempt)) try_defaults(attempt);
    return attempt;
}

/* Forgets what was inferred from tensors, and keeps the values that the file states alone, if fewer tensors are wrong
 * then. A size that depends on several keys may have been given to the wrong one. */
static void try_stated_alone(struct sp_attempt *attempt, const struct sp_stated *stated)
{
    struct sp_known *known = &attempt->outline.solver.known;
    const size_t before = count_wrong(attempt);
    const struct sp_mark mark = sp_known_mark(known);
    sp_known_clear(known);
    sp_solver_tell_class(&attempt->outline.solver, attempt->class);
    sp_stated_tell(stated, &attempt->outline.solver);
    sp_attempt_verify_anew(attempt);
    if (count_wrong(attempt) < before) {
        sp_known_commit(known, &mark);
        return;
    }
    sp_known_undo(known, &mark);
    sp_attempt_verify_anew(attempt);
}

struct sp_attempt *sp_attempt_as_stated(const struct shapeproof_tables *tables, struct sp_fit fit,
                                        const struct sp_candidate_tables *candidates, const struct sp_stated *stated,
                                        struct sp_effort *effort)
{
    struct sp_attempt *attempt =
        try_fit((struct trial){.tables = tables, .candidates = candidates, .stated = stated, .effort = effort}, fit);
    if (!sp_attempt_explains_all(attempt)) try_stated_alone(attempt, stated);
    return attempt;
}

struct sp_attempt *sp_attempt_by_stages(const struct shapeproof_tables *tables, struct sp_fit fit,
                                        const struct sp_candidate_tables *candidates, struct sp_effort *effort)
{
    return try_fit((struct trial){.tables = tables, .candidates = candidates, .by_stages = true, .effort = effort},
                   fit);
}

void sp_attempt_free(struct sp_attempt *attempt)
{
    if (!attempt) return;
    if (attempt->prediction) sp_match_free(&attempt->match);
    shapeproof_prediction_free(attempt->prediction);
    shapeproof_prediction_free(attempt->by_name);
    sp_map_free(&attempt->present_layers);
    sp_free(attempt->fused.items);
    shapeproof_config_free(attempt->config);
    sp_outline_free(&attempt->outline);
    sp_free(attempt);
}

/* ---- comparing ---- */

bool sp_attempt_explains_all(const struct sp_attempt *attempt)
{
    return attempt->prediction && !attempt->unexplained && !attempt->missing;
}

/* Whether the metadata name the table, and no tensor contradicts it: the table explains each, and the file lacks
 * nothing in its layers. The table llama explains all of a file without token_embd.weight, which the metadata call
 * llama; so does the table gemma, whose embedding is tied to the head, and lacks nothing. */
static bool is_uncontradicted(const struct sp_attempt *attempt)
{
    return attempt->is_stated && attempt->explained && !attempt->unexplained && !attempt->missing_in_present_layers;
}

struct sp_score sp_attempt_score(const struct sp_attempt *attempt)
{
    if (!attempt->prediction) return (struct sp_score){.of = {[SP_SCORE_UNPREDICTED] = 1}};
    return (struct sp_score){
        .of = {[SP_SCORE_INCOMPLETE] = !sp_attempt_explains_all(attempt) && !is_uncontradicted(attempt),
               [SP_SCORE_UNSTATED] = !attempt->is_stated || attempt->explained <= attempt->unexplained,
               [SP_SCORE_WRONG] = attempt->unexplained + attempt->missing_in_present_layers,
               [SP_SCORE_UNEXPLAINED] = attempt->unexplained,
               [SP_SCORE_LACKS_LAYERS] = attempt->lacks_layers,
               [SP_SCORE_MISSING] = attempt->lacks_layers ? 0 : attempt->missing,
               [SP_SCORE_EXPLAINED] = SIZE_MAX - attempt->explained,
               [SP_SCORE_RECOMPUTED] = attempt->recomputed,
               [SP_SCORE_JOINTS] = attempt->joints,
               [SP_SCORE_NO_MODEL_TYPE] = !attempt->table->model_type_count,
               [SP_SCORE_PART] = attempt->is_part,
               [SP_SCORE_TRANSPOSED] = attempt->view->transposed > 0,
               [SP_SCORE_UNNAMED] = attempt->name == NULL,
               [SP_SCORE_UNNAMED_TEXT] = attempt->has_unnamed_text,
               [SP_SCORE_RARE] = attempt->settings && sp_unit_says(attempt->table, "rare"),
               [SP_SCORE_SETTINGS] = attempt->settings,
               [SP_SCORE_DEPTH] = sp_unit_depth(attempt->table),
               [SP_SCORE_GUESSES] = attempt->outline.solver.known.guesses},
    };
}

/* Compares the fields from `from` up to `end`: below 0 when a is better, 0 when they are equal. */
static int score_compare(const struct sp_score *a, const struct sp_score *b, enum sp_score_field from,
                         enum sp_score_field end)
{
    for (unsigned field = from; field < end; field++)
        if (a->of[field] != b->of[field]) return sp_order(a->of[field], b->of[field]);
    return 0;
}

int sp_attempt_compare(const struct sp_attempt *a, const struct sp_attempt *b)
{
    const struct sp_score of_a = sp_attempt_score(a), of_b = sp_attempt_score(b);
    int order = score_compare(&of_a, &of_b, SP_SCORE_UNPREDICTED, SP_SCORE_GUESSES);
    if (!order && a->prediction && a->table != b->table) /* what others build on is best known */
        order = sp_order(sp_count_heirs(b->tables, b->table), sp_count_heirs(a->tables, a->table));
    return order ? order : score_compare(&of_a, &of_b, SP_SCORE_GUESSES, SP_SCORE_FIELDS);
}

bool sp_attempt_is_better(const struct sp_attempt *a, const struct sp_attempt *b)
{
    return sp_attempt_compare(a, b) < 0;
}

static bool matters_as_set(const struct sp_attempt *attempt, const char *key)
{
    struct shapeproof_config *config = sp_config_variant(attempt->config);
    sp_config_set_value(config, key, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL}, "default");
    struct shapeproof_prediction *prediction = sp_attempt_predict(attempt, config);
    const bool differs = !sp_predictions_agree(prediction, attempt->prediction, attempt);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return differs;
}

size_t sp_attempt_switches(const struct sp_attempt *attempt)
{
    size_t switches = 0;
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(attempt->prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(attempt->prediction, i);
        switches += hyper->value.type == SHAPEPROOF_VALUE_BOOL && matters_as_set(attempt, hyper->name);
    }
    return switches;
}
