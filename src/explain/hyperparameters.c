/* SPDX-License-Identifier: MIT
 * Which hyper-parameter, set otherwise, would make findings vanish? Candidates are read off the findings: dimensions
 * that differ, indices beyond the end of a loop or short of it, truth values. A sample tells which are worth it; those
 * are predicted and compared as a whole. Only what was verified in this way becomes a cause. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "explain/bundles.h"
#include "explain/vocabulary.h"
#include "explain/what_if.h"
#include "lang/prediction.h"

enum { MAX_CANDIDATES = 128, MAX_ROUNDS = 6, MAX_TRIALS = 4, MAX_RIVALS = 2 };
/* Guesses, which no finding suggests, may predict that many tensors in all. */
enum { MAX_GUESSED = 20000 };
/* What floating-point numbers hold exactly. */
#define MAX_DIMENSION (UINT64_C(1) << 52)

struct search {
    struct sp_check *check;
    struct sp_bundles bundles;
    struct sp_sample sample;
    struct sp_change candidates[MAX_CANDIDATES];
    size_t count;
    struct sp_variant best; /* with the causes accepted so far */
    const char *settings;   /* of those: " --set n_layer=2" */
};

/* ---- candidates ---- */

static void add_candidate(struct search *search, struct sp_hyperparameter hyper, struct sp_value value)
{
    if (hyper.from.source == SP_SOURCE_TABLE) return; /* the table says so itself */
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->candidates[i].key, hyper.name) == 0 && search->candidates[i].value.type == value.type &&
            search->candidates[i].value.integer == value.integer)
            return;
    if (search->count < MAX_CANDIDATES)
        search->candidates[search->count++] = (struct sp_change){hyper.name, value, hyper.value, hyper.from};
}

/* The value of an integer hyper-parameter; false for any other. */
static bool integer_value(struct sp_hyperparameter hyper, int64_t *value)
{
    *value = hyper.value.integer;
    return hyper.value.type == SP_INT;
}

/* Shapes of quantised weights do not grow with the numbers of the quantisation: the usual ones are tried. */
static void usual_numbers(struct search *search, struct sp_hyperparameter hyper, const char *key)
{
    static const int64_t bits[] = {4, 8, 3, 2, 5, 6}, groups[] = {128, 64, 32, 16, 256, 512, 1024, -1};
    static const struct sp_value blocks[][2] = {{{SP_INT, .integer = 128}, {SP_INT, .integer = 128}},
                                                {{SP_INT, .integer = 64}, {SP_INT, .integer = 64}},
                                                {{SP_INT, .integer = 32}, {SP_INT, .integer = 32}},
                                                {{SP_INT, .integer = 256}, {SP_INT, .integer = 256}},
                                                {{SP_INT, .integer = 1}, {SP_INT, .integer = 128}}};
    const bool is_bits = strcmp(key, ".bits") == 0 || strcmp(key, ".num_bits") == 0;
    const bool is_group = strcmp(key, ".group_size") == 0 || strcmp(key, ".q_group_size") == 0;
    const bool is_block = strcmp(key, ".weight_block_size") == 0 || strcmp(key, ".block_structure") == 0;
    for (size_t i = 0; is_bits && i < sizeof bits / sizeof *bits; i++)
        add_candidate(search, hyper, sp_value_int(bits[i]));
    for (size_t i = 0; is_group && i < sizeof groups / sizeof *groups; i++)
        add_candidate(search, hyper, sp_value_int(groups[i]));
    for (size_t i = 0; is_block && i < sizeof blocks / sizeof *blocks; i++)
        add_candidate(search, hyper, (struct sp_value){SP_LIST, .count = 2, .items = blocks[i]});
    if (is_block) add_candidate(search, hyper, (struct sp_value){.type = SP_NULL});
}

static void quantisation(struct search *search)
{
    const struct sp_prediction *prediction = search->check->prediction;
    for (size_t i = 0; search->check->quantisation.method && i < sp_prediction_hyperparameter_count(prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        const char *key = strrchr(hyper.name, '.');
        if (key) usual_numbers(search, hyper, key);
    }
}

/* A dimension of a tensor that has another size. */
struct question {
    const char *name; /* of the tensor, as predicted */
    uint32_t dimension;
    uint64_t found, expected;
};

static void propose(struct search *search, struct sp_hyperparameter hyper, double value)
{
    if (value >= 0 && value < (double)MAX_DIMENSION) add_candidate(search, hyper, sp_value_int((int64_t)(value + 0.5)));
}

/* What the hyper-parameter would have to be for a dimension that is proportional to it, or inversely so, or that it is
 * a term of. Whatever is rounded away, the trial decides. */
static void solve_for(struct search *search, struct sp_hyperparameter hyper, double found, double expected)
{
    const double value = (double)hyper.value.integer;
    if (expected > 0) propose(search, hyper, value * found / expected);
    propose(search, hyper, value + found - expected);
    if (found > 0) propose(search, hyper, value * expected / found);
}

/* What a hyper-parameter of one more does to the dimension tells what it takes to reach the size that was found. */
static void solve_by_slope(struct search *search, struct sp_hyperparameter hyper, struct question question)
{
    int64_t value;
    uint64_t moved;
    if (!integer_value(hyper, &value) || value == INT64_MAX) return;
    const struct sp_change change = {.key = hyper.name, .value = sp_value_int(value + 1)};
    if (!sp_sample_dimension(&search->sample, &change, question.name, question.dimension, &moved)) return;
    const double slope = (double)moved - (double)question.expected;
    if (slope != 0)
        propose(search, hyper, (double)value + ((double)question.found - (double)question.expected) / slope);
}

static void solve(struct search *search, struct sp_hyperparameter hyper, struct question question)
{
    int64_t value;
    const double found = (double)question.found, expected = (double)question.expected;
    if (!integer_value(hyper, &value) || question.found > MAX_DIMENSION || question.expected > MAX_DIMENSION) return;
    solve_for(search, hyper, found, expected);
    solve_for(search, hyper, sqrt(found), sqrt(expected)); /* (image_size//patch_size)^2 + 1 */
    solve_by_slope(search, hyper, question);
}

static void solve_shape(struct search *search, const struct sp_finding *finding)
{
    struct sp_prediction *prediction = search->check->prediction;
    const struct sp_tensor *tensor = sp_inventory_tensor(search->check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(prediction, finding->predicted);
    for (uint32_t d = 0; d < expected->rank && expected->rank == tensor->rank; d++) {
        if (tensor->shape[d] == expected->shape[d]) continue;
        const struct question question = {expected->name, d, tensor->shape[d], expected->shape[d]};
        const struct sp_keys keys = sp_prediction_depends_on(prediction, finding->predicted, d);
        for (size_t i = 0; i < keys.count; i++)
            solve(search, sp_prediction_hyperparameter(prediction, keys.list[i]), question);
    }
}

/* Findings in the same words ask the same question. */
static void dimensions(struct search *search)
{
    const struct sp_check *check = search->check;
    struct sp_map asked = {0};
    for (size_t i = 0; i < check->finding_count && search->count < MAX_CANDIDATES; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (sp_finding_is_open_as(finding, SP_FINDING_SHAPE) && sp_map_add(&asked, finding->message, i))
            solve_shape(search, finding);
    }
    sp_map_free(&asked);
}

/* An index in the name of an open finding. */
struct place {
    size_t pattern, position, finding;
    uint64_t index;
    bool missing;
};

static bool same_loop(const struct place *a, const struct place *b)
{
    return a->pattern == b->pattern && a->position == b->position && a->missing == b->missing;
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->pattern != b->pattern) return a->pattern < b->pattern ? -1 : 1;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    if (a->missing != b->missing) return a->missing ? -1 : 1;
    if (a->index != b->index) return a->index < b->index ? -1 : 1;
    return a->finding < b->finding ? -1 : a->finding > b->finding;
}

static struct place *list_places(struct sp_check *check, size_t *count)
{
    struct place *places = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        const bool missing = finding->kind == SP_FINDING_MISSING;
        const struct sp_place *name = &check->places[i];
        if (!sp_finding_is_open(finding) || (!missing && finding->kind != SP_FINDING_UNEXPECTED)) continue;
        for (size_t p = 0; p < name->indices.count; p++) {
            SP_GROW(places, *count, capacity);
            places[(*count)++] = (struct place){name->pattern, p, i, name->indices.value[p], missing};
        }
    }
    if (*count) qsort(places, *count, sizeof *places, compare_places);
    return places;
}

/* Whether the tensor with the index before it is in the file and expected there: then a loop ends here. */
static bool follows_a_match(struct sp_check *check, const struct place *place)
{
    struct sp_text name = {0};
    struct sp_indices indices = check->places[place->finding].indices;
    const struct sp_match *match = &check->match;
    if (!indices.value[place->position]--) return false;
    sp_pattern_fill(&name, sp_pattern_text(&check->patterns, place->pattern), &indices);
    const size_t other = place->missing ? sp_prediction_find(check->prediction, name.data)
                                        : sp_inventory_find(check->inventory, name.data);
    sp_text_free(&name);
    return other != SP_NONE && (place->missing ? match->tensor_of[other] : match->predicted_of[other]) != SP_NONE;
}

/* A loop that is shorter or longer in the file than predicted: any integer that has the predicted length. */
static void resize_loop(struct search *search, uint64_t predicted, uint64_t found)
{
    const struct sp_prediction *prediction = search->check->prediction;
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        int64_t value;
        if (!integer_value(hyper, &value)) continue;
        if (value == (int64_t)predicted) add_candidate(search, hyper, sp_value_int((int64_t)found));
        /* A number of further layers, or of those at the end that lack something, and so far there are none. */
        if (value == 0) add_candidate(search, hyper, sp_value_int(llabs((int64_t)found - (int64_t)predicted)));
    }
}

/* When the last indices of a loop, a..b, are all missing, it may end at a; when they are unexpected, behind b. */
static void lengths(struct search *search)
{
    size_t count;
    struct place *places = list_places(search->check, &count);
    for (size_t from = 0, to; from < count; from = to) {
        size_t first = from; /* of the last run of indices */
        for (to = from + 1; to < count && same_loop(&places[from], &places[to]); to++)
            if (places[to].index > places[to - 1].index + 1) first = to;
        const uint64_t begin = places[first].index, end = places[to - 1].index + 1;
        if (!follows_a_match(search->check, &places[first])) continue;
        if (places[from].missing) resize_loop(search, end, begin);
        else resize_loop(search, begin, end);
    }
    free(places);
}

static void truth_values(struct search *search)
{
    const struct sp_prediction *prediction = search->check->prediction;
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        if (hyper.value.type == SP_BOOL) add_candidate(search, hyper, sp_value_bool(!hyper.value.boolean));
    }
}

/* ---- guesses ---- */

static bool is_structural(const struct sp_finding *finding)
{
    return sp_finding_is_open(finding) && finding->kind != SP_FINDING_SHAPE;
}

/* A number that is 0, so that something is not predicted: the dimensions of what is there, or how often it is there. */
static void guess_from_nothing(struct search *search, struct sp_hyperparameter hyper)
{
    const struct sp_check *check = search->check;
    size_t asked = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (!is_structural(finding) || finding->tensor == SP_NONE || check->places[i].pattern == asked) continue;
        asked = check->places[i].pattern;
        const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
        for (uint32_t d = 0; d < tensor->rank && d < 2; d++) propose(search, hyper, (double)tensor->shape[d]);
    }
}

/* Near values, for numbers that decide which tensors there are in ways that no finding tells: every n-th layer has
 * experts, more than one expert makes a router. */
static void guess_near(struct search *search, struct sp_hyperparameter hyper, int64_t value)
{
    const int64_t near[] = {0, 1, 2, value - 1, value + 1, 2 * value, value / 2};
    /* Of none at all layers that are missing are no sign. */
    for (size_t i = search->bundles.has_layers; i < sizeof near / sizeof *near; i++)
        if (near[i] >= 0 && near[i] != value) add_candidate(search, hyper, sp_value_int(near[i]));
}

static void guess(struct search *search)
{
    enum { LARGEST = 1 << 16 };
    const struct sp_prediction *prediction = search->check->prediction;
    search->count = 0;
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        int64_t value;
        if (!integer_value(hyper, &value) || value < 0 || value > LARGEST) continue;
        guess_near(search, hyper, value);
        if (value == 0) guess_from_nothing(search, hyper);
    }
    const size_t affordable = MAX_GUESSED / (sp_prediction_count(search->sample.base) + 1);
    if (search->count > affordable) search->count = affordable;
}

/* ---- trying them ---- */

/* A candidate that was predicted and compared. */
struct trial {
    size_t candidate;
    struct sp_variant variant;
    bool *vanishes;                         /* which findings do */
    size_t errors;                          /* that it leaves, with what is lacking of optional wholes */
    size_t vanished, brought;               /* findings that it takes away, and missing tensors that it brings */
    size_t rivals[MAX_RIVALS], rival_count; /* other candidates that explain the same */
};

/* With the causes accepted so far. */
static const struct sp_match *match_so_far(const struct search *search)
{
    return search->best.config ? &search->best.match : &search->check->match;
}

static void free_trial(struct trial *trial)
{
    free(trial->vanishes);
    sp_variant_free(&trial->variant);
}

/* Whether a tensor that is as it should be would no longer be. */
static bool contradicts(const struct sp_match *before, const struct sp_match *after)
{
    for (size_t i = 0; i < sp_inventory_count(after->inventory); i++)
        if (sp_is_error(sp_match_tensor(after, i)) && !sp_is_error(sp_match_tensor(before, i))) return true;
    return false;
}

/* Whether the tensor is one of a whole that may be absent, such as a layer for multi-token prediction. */
static bool is_spare_part(const struct sp_predicted *tensor)
{
    return tensor->optional && !tensor->buffer && !tensor->stands_for;
}

/* The groups with a spare part that the file has, and that was none before. */
static bool *find_new_wholes(const struct sp_match *before, const struct sp_match *after)
{
    const size_t groups = sp_prediction_group_count(after->prediction);
    bool *new = sp_realloc(NULL, groups, sizeof *new);
    memset(new, 0, groups * sizeof *new);
    for (size_t i = 0; i < sp_prediction_count(after->prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(after->prediction, i);
        if (sp_match_predicted(after, i) != SP_OPTIONAL || !is_spare_part(tensor)) continue;
        const size_t known = sp_prediction_find(before->prediction, tensor->name);
        if (known == SP_NONE || sp_match_predicted(before, known) != SP_OPTIONAL) new[tensor->group] = true;
    }
    return new;
}

/* What is newly missing. */
static size_t count_brought(const struct sp_match *before, const struct sp_match *after)
{
    size_t brought = 0;
    for (size_t i = 0; i < sp_prediction_count(after->prediction); i++)
        brought += sp_match_predicted(after, i) == SP_MISSING &&
                   sp_prediction_find(before->prediction, sp_prediction_tensor(after->prediction, i)->name) == SP_NONE;
    return brought;
}

/* What is left out of a whole of which the file, newly, has other parts. */
static size_t count_lacking(const struct sp_match *before, const struct sp_match *after)
{
    bool *new = find_new_wholes(before, after);
    size_t lacking = 0;
    for (size_t i = 0; i < sp_prediction_count(after->prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(after->prediction, i);
        lacking += new[tensor->group] && is_spare_part(tensor) && sp_match_predicted(after, i) == SP_LEFT_OUT;
    }
    free(new);
    return lacking;
}

static void find_vanishing(const struct search *search, struct trial *trial)
{
    const struct sp_check *check = search->check;
    trial->vanishes = sp_realloc(NULL, check->finding_count, sizeof *trial->vanishes);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        trial->vanishes[i] = sp_finding_is_open(finding) && !sp_variant_has(check, &trial->variant, finding);
    }
    trial->vanished = sp_bundles_hold(&search->bundles, check, trial->vanishes);
}

/* What it takes away must be much more than what it brings: a flag that would replace tensors that are missing by
 * others that are missing, too, explains nothing. */
static bool is_worth_it(const struct trial *trial) { return trial->vanished && trial->brought * 3 <= trial->vanished; }

static bool try(const struct search *search, const struct sp_config *base, size_t candidate, size_t errors,
                struct trial *trial)
{
    *trial = (struct trial){.candidate = candidate};
    if (!sp_variant_try(search->check, base, &search->candidates[candidate], &trial->variant)) return false;
    const struct sp_match *before = match_so_far(search), *after = &trial->variant.match;
    const size_t lacking = trial->variant.errors < errors ? count_lacking(before, after) : 0;
    trial->errors = trial->variant.errors + lacking;
    if (trial->errors < errors && !contradicts(before, after)) {
        find_vanishing(search, trial);
        trial->brought = count_brought(before, after) + lacking;
        if (is_worth_it(trial)) return true;
    }
    free_trial(trial);
    return false;
}

/* Whether two candidates give the same dimensions. Of what is missing or unexpected there is but one reading. */
static bool are_rivals(const struct search *search, const struct trial *a, const struct trial *b)
{
    const struct sp_check *check = search->check;
    if (a->errors != b->errors || memcmp(a->vanishes, b->vanishes, check->finding_count) != 0) return false;
    for (size_t i = 0; i < check->finding_count; i++)
        if (a->vanishes[i] && check->findings[i].kind != SP_FINDING_SHAPE) return false;
    return strcmp(search->candidates[a->candidate].key, search->candidates[b->candidate].key) != 0;
}

/* Keeps the better one; of two that do the same the first, which remembers the other. */
static void compete(const struct search *search, struct trial *best, struct trial *trial)
{
    if (!best->vanishes || trial->errors < best->errors) {
        free_trial(best);
        *best = *trial;
        return;
    }
    if (best->rival_count < MAX_RIVALS && are_rivals(search, best, trial))
        best->rivals[best->rival_count++] = trial->candidate;
    free_trial(trial);
}

/* The highest gain; among equals one that the configuration has rather than a default. */
static size_t most_promising(const struct search *search, const int64_t *gains)
{
    size_t best = SP_NONE;
    int64_t most = 0;
    for (size_t i = 0; i < search->count; i++) {
        const int64_t promise = 2 * gains[i] + (search->candidates[i].from.source != SP_SOURCE_DEFAULT);
        if (gains[i] <= 0 || promise <= most) continue;
        most = promise;
        best = i;
    }
    return best;
}

/* Of the most promising candidates the one that leaves the fewest errors, and fewer than there are. */
static struct trial best_candidate(struct search *search)
{
    const struct sp_config *base = search->best.config ? search->best.config : search->check->config;
    const size_t errors = sp_match_errors(match_so_far(search));
    struct trial best = {0}, trial;
    int64_t gains[MAX_CANDIDATES] = {0}, top = 0;
    for (size_t i = 0; i < search->count; i++) gains[i] = sp_sample_gain(&search->sample, base, &search->candidates[i]);
    for (int tried = 0; tried < MAX_TRIALS; tried++) {
        const size_t i = most_promising(search, gains);
        if (i == SP_NONE || (best.vanishes && gains[i] < top / 2)) break;
        top = gains[i] > top ? gains[i] : top;
        gains[i] = 0;
        if (try(search, base, i, errors, &trial)) compete(search, &best, &trial);
    }
    return best;
}

/* ---- saying it ---- */

struct wanted {
    size_t cause;
    enum sp_finding_kind kind;
};

static bool of_cause_and_kind(const struct sp_finding *finding, const void *context)
{
    const struct wanted *wanted = context;
    return finding->cause == wanted->cause && finding->kind == wanted->kind;
}

/* "has a.bias, b.bias and lacks c.weight". */
static const char *what_file_does(struct sp_check *check, size_t cause)
{
    static const struct {
        enum sp_finding_kind kind;
        const char *verb;
    } kinds[] = {
        {SP_FINDING_UNEXPECTED, "has"}, {SP_FINDING_MISSING, "lacks"}, {SP_FINDING_SHAPE, "has another shape of"}};
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct wanted wanted = {cause, kinds[i].kind};
        const char *names = sp_check_names(check, of_cause_and_kind, &wanted);
        if (*names) sp_text_printf(&text, "%s%s %s", text.length ? " and " : "", kinds[i].verb, names);
    }
    return sp_text_keep(&text, &check->arena);
}

static const char *how_changed(struct sp_check *check, const struct sp_change *change)
{
    const bool integer = change->configured.type == SP_INT && change->value.type == SP_INT;
    const int64_t from = change->configured.integer, to = change->value.integer;
    if (!sp_is_vocabulary(change->key) || !integer || from <= 0 || to <= 0) return "";
    return sp_vocabulary_change(check, (uint64_t)from, (uint64_t)to);
}

/* What the changed prediction lacks that the configured one did not ask for. */
static const char *side_effect(struct sp_check *check, const struct sp_variant *variant)
{
    const size_t total = sp_prediction_count(variant->prediction);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < total; i++) {
        const char *name = sp_prediction_tensor(variant->prediction, i)->name;
        if (sp_match_predicted(&variant->match, i) == SP_MISSING &&
            sp_prediction_find(check->prediction, name) == SP_NONE)
            names[count++] = name;
    }
    const char *effect =
        !count ? "" : sp_arena_printf(&check->arena, "; yet it lacks %s", sp_some_names(&check->arena, names, count));
    free(names);
    return effect;
}

/* What was tried had the earlier settings as well: whether the findings vanish without those, too. */
static bool holds_alone(const struct search *search, size_t cause, const struct sp_change *change)
{
    const struct sp_check *check = search->check;
    struct sp_variant alone;
    bool holds = true;
    if (!*search->settings) return true;
    if (!sp_variant_try(check, check->config, change, &alone)) return false;
    for (size_t i = 0; i < check->finding_count && holds; i++)
        holds = check->findings[i].cause != cause || !sp_variant_has(check, &alone, &check->findings[i]);
    sp_variant_free(&alone);
    return holds;
}

static const char *words(const struct search *search, struct sp_value value)
{
    return sp_value_words(&search->check->arena, value);
}

/* "; or num_attention_heads is not 32 but 16", for changes that explain the same. */
static const char *rivals(const struct search *search, const struct trial *trial)
{
    const char *says = "";
    for (size_t i = 0; i < trial->rival_count; i++) {
        const struct sp_change *change = &search->candidates[trial->rivals[i]];
        says = sp_arena_printf(&search->check->arena, "%s; or %s is not %s but %s", says, change->key,
                               words(search, change->configured), words(search, change->value));
    }
    return says;
}

/* " --set n_layer=2", as a shell wants it. */
static const char *setting(struct sp_check *check, const char *key, const char *value)
{
    const char *quote = strpbrk(value, " []{}\"'$`\\*?;&|<>()") ? "'" : "";
    return sp_arena_printf(&check->arena, " --set %s%s=%s%s", quote, key, value, quote);
}

static bool has_word_bias(const char *key)
{
    const char *place = strstr(key, "bias");
    return place && (place == key || place[-1] == '_') && (!place[4] || place[4] == '_');
}

/* "; config.json has bias=true, which the table does not read": the flag may be spelt as another family spells it. */
static const char *other_spelling(struct sp_check *check, const struct sp_change *change)
{
    const struct sp_hyper *hyper = sp_config_hyper(check->config);
    if (change->value.type != SP_BOOL || !has_word_bias(change->key)) return "";
    for (size_t i = 0; i < hyper->root.count; i++) {
        const struct sp_member *member = &hyper->root.members[i];
        if (member->value.type != SP_BOOL || member->value.boolean != change->value.boolean) continue;
        if (!has_word_bias(member->key) || sp_find_hyperparameter(check->prediction, member->key) != SP_NONE) continue;
        return sp_arena_printf(&check->arena, "; %s has %s=%s, which the table %s does not read",
                               *hyper->file ? hyper->file : "the configuration", member->key,
                               member->value.boolean ? "true" : "false", sp_prediction_table(check->prediction));
    }
    return "";
}

static void describe(const struct search *search, size_t index, const struct sp_change *change,
                     const struct trial *trial)
{
    struct sp_check *check = search->check;
    struct sp_cause *cause = &check->causes[index];
    const char *says = sp_said(check, (struct sp_hyperparameter){change->key, change->configured, change->from});
    const char *found = words(search, change->value);
    const char *effect =
        sp_arena_printf(&check->arena, "%s%s", side_effect(check, &trial->variant), rivals(search, trial));
    if (change->value.type != SP_BOOL)
        cause->message =
            sp_arena_printf(&check->arena, "%s, the file has %s%s (%s%s)%s", says, found, how_changed(check, change),
                            sp_count_of(&check->arena, cause->explains, "tensor"),
                            cause->severity == SP_SEVERITY_WARNING ? ", which loaders leave out" : "", effect);
    else
        cause->message = sp_arena_printf(&check->arena, "%s, but the file %s%s%s", says, what_file_does(check, index),
                                         effect, other_spelling(check, change));
    cause->hint = sp_arena_printf(&check->arena, "with%s%s %s", setting(check, change->key, found),
                                  holds_alone(search, index, change) ? "" : search->settings,
                                  sp_what_vanishes(&check->arena, cause));
}

/* Whether the model may as well lack all that the cause explains: then nothing is wrong with the weights. */
static bool is_spare(const struct sp_check *check, size_t cause, const struct sp_variant *variant)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (finding->cause != cause) continue;
        if (finding->tensor == SP_NONE || sp_match_tensor(&variant->match, finding->tensor) != SP_OPTIONAL)
            return false;
    }
    return true;
}

static void accept(struct search *search, const struct trial *trial)
{
    struct sp_check *check = search->check;
    const struct sp_change *change = &search->candidates[trial->candidate];
    const size_t cause = sp_check_add_cause(check, (struct sp_cause){.id = "hyperparameter",
                                                                     .severity = SP_SEVERITY_ERROR,
                                                                     .hyperparameter = change->key,
                                                                     .configured = change->configured,
                                                                     .found = change->value});
    for (size_t i = 0; i < check->finding_count; i++)
        if (trial->vanishes[i]) sp_check_explain(check, i, cause);
    if (is_spare(check, cause, &trial->variant)) check->causes[cause].severity = SP_SEVERITY_WARNING;
    describe(search, cause, change, trial);
    search->settings = sp_arena_printf(&check->arena, "%s%s", search->settings,
                                       setting(check, change->key, words(search, change->value)));
}

/* Accepts the best candidate again and again, until none explains anything. */
static void run(struct search *search)
{
    for (int round = 0; round < MAX_ROUNDS && sp_check_open(search->check); round++) {
        struct trial better = best_candidate(search);
        if (!better.vanishes) break;
        accept(search, &better);
        free(better.vanishes);
        sp_variant_free(&search->best);
        search->best = better.variant;
        sp_sample_rebase(&search->sample, search->best.config);
    }
}

/* A single tensor of another shape is hardly the doing of a hyper-parameter, nor is a file that is mostly something
 * else. */
static bool is_worth_guessing(const struct search *search)
{
    const struct sp_check *check = search->check;
    size_t structural = 0, matched = 0;
    for (size_t i = 0; i < check->finding_count; i++) structural += is_structural(&check->findings[i]);
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++)
        matched += check->match.predicted_of[i] != SP_NONE;
    return search->sample.base && matched && matched * 3 >= sp_inventory_count(check->inventory) &&
           (structural || sp_check_open(check) > 1);
}

void sp_explain_hyperparameters(struct sp_check *check)
{
    struct search search = {.check = check, .settings = ""};
    if (!sp_check_open(check)) return;
    sp_bundles_init(&search.bundles, check);
    sp_sample_init(&search.sample, check);
    quantisation(&search);
    dimensions(&search);
    lengths(&search);
    truth_values(&search);
    run(&search);
    if (is_worth_guessing(&search)) {
        guess(&search);
        run(&search);
    }
    sp_sample_free(&search.sample);
    sp_variant_free(&search.best);
    sp_bundles_free(&search.bundles);
}
