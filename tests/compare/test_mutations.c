/* SPDX-License-Identifier: MIT
 * One thing is changed in a checkpoint, or in its configuration: a check must never say that they match, and what it
 * says must name the tensor or the hyper-parameter that was changed. The changes, each at a random place:
 *
 *    1  one tensor is dropped              8  the vocabulary is resized, in the whole file
 *    2  one layer is dropped               9  one number is changed in the configuration
 *    3  one kind is dropped in all layers 10  one truth value is flipped in the configuration
 *    4  one tensor is renamed             11  a stranger is added
 *    5  a component is renamed everywhere 12  the last layer is there twice
 *    6  one matrix is transposed          13  one dtype is changed
 *    7  one dimension of one tensor is resized
 *
 * over the configurations of the fixtures and, where it exists, of a corpus. Some changes leave no trace (a square
 * matrix that is transposed, a number that no shape depends on): the prediction itself says so, and then nothing
 * may be wrong. SHAPEPROOF_SEED=N chooses other places, SHAPEPROOF_MUTATIONS=all makes every change in huge models,
 * too, SHAPEPROOF_MUTATIONS=list prints what was said. */
#define _DEFAULT_SOURCE /* GLOB_BRACE */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>

#include "compare/model.h"

#define CORPUS "../shared/data/architectures"
enum { HUGE = 5000, DEFAULT_SEED = 20 };
#ifdef __SANITIZE_ADDRESS__
enum { STEP = 16 }; /* a sample of the configurations: it is slow there */
#else
enum { STEP = 1 };
#endif

/* One change to one model. */
struct trial {
    struct model *model;
    const struct sp_prediction *truth; /* of the unchanged configuration */
    uint64_t state;                    /* of the random numbers */
    struct sp_map changed;             /* names of the tensors that were changed */
    struct sp_arena arena;
    char key[256], value[64];   /* of the hyper-parameter that was changed, and what it was */
    const char *name, *retyped; /* of the configuration; the tensor whose dtype alone was changed */
};

struct mutation {
    const char *name;
    bool (*alter)(struct trial *); /* false where there is nothing of the kind */
};

struct tally {
    size_t made, traceless, refused, restored, wrong;
};

static const char *asked(const char *variable)
{
    const char *value = getenv(variable);
    return value ? value : "";
}

static bool listing(void) { return strcmp(asked("SHAPEPROOF_MUTATIONS"), "list") == 0; }

/* ---- chance ---- */

static size_t below(struct trial *trial, size_t limit)
{
    trial->state ^= trial->state << 13;
    trial->state ^= trial->state >> 7;
    trial->state ^= trial->state << 17;
    return (size_t)(trial->state >> 11) % limit;
}

static struct part *any_part(struct trial *trial) { return &trial->model->parts[below(trial, trial->model->count)]; }

/* Any of those that are wanted, or NULL. */
static struct part *any_such(struct trial *trial, bool (*wanted)(const struct part *))
{
    const size_t start = below(trial, trial->model->count);
    for (size_t i = 0; i < trial->model->count; i++) {
        struct part *part = &trial->model->parts[(start + i) % trial->model->count];
        if (wanted(part)) return part;
    }
    return NULL;
}

static void note(struct trial *trial, const char *name)
{
    sp_map_add(&trial->changed, sp_arena_string(&trial->arena, name), 0);
}

/* ---- layers ---- */

/* The length of the name up to and with its first index, when something follows: "model.layers.5"; else 0. */
static size_t layer_length(const char *name)
{
    uint64_t index;
    for (size_t i = 0; name[i]; i++) {
        const size_t digits = sp_index_at(name, i, &index);
        if (digits) return name[i + digits] == '.' ? i + digits : 0;
    }
    return 0;
}

static bool has_layer(const struct part *part) { return layer_length(part->name) != 0; }

static bool in_layer(const struct part *part, const char *layer, size_t length)
{
    return strncmp(part->name, layer, length) == 0 && part->name[length] == '.';
}

/* ---- changes to the file ---- */

static void remove_noted(struct trial *trial)
{
    struct model *model = trial->model;
    size_t kept = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (sp_map_get(&trial->changed, model->parts[i].name) != SIZE_MAX) free(model->parts[i].name);
        else model->parts[kept++] = model->parts[i];
    }
    model->count = kept;
}

static bool drop_tensor(struct trial *trial)
{
    note(trial, any_part(trial)->name);
    remove_noted(trial);
    return true;
}

static bool drop_layer(struct trial *trial)
{
    const struct part *of = any_such(trial, has_layer);
    if (!of) return false;
    for (size_t i = 0; i < trial->model->count; i++)
        if (in_layer(&trial->model->parts[i], of->name, layer_length(of->name)))
            note(trial, trial->model->parts[i].name);
    remove_noted(trial);
    return true;
}

static bool drop_kind(struct trial *trial)
{
    struct sp_patterns patterns = {0};
    const struct part *of = any_such(trial, has_layer);
    if (!of) return false;
    const size_t kind = sp_pattern_of(&patterns, of->name, NULL);
    for (size_t i = 0; i < trial->model->count; i++)
        if (sp_pattern_of(&patterns, trial->model->parts[i].name, NULL) == kind)
            note(trial, trial->model->parts[i].name);
    remove_noted(trial);
    sp_patterns_free(&patterns);
    return true;
}

static void rename_part(struct trial *trial, struct part *part, const char *from, const char *to)
{
    note(trial, part->name);
    replace_in(part, from, to);
}

static bool rename_tensor(struct trial *trial)
{
    struct part *part = any_part(trial);
    char from[256], to[512];
    const char *dot = strrchr(part->name, '.');
    snprintf(from, sizeof from, "%s", dot ? dot : part->name);
    snprintf(to, sizeof to, "%s_of_old", from);
    rename_part(trial, part, from, to);
    return true;
}

static bool is_word(const char *component, size_t length)
{
    return length && (component[0] < '0' || component[0] > '9');
}

/* Any component of the name that is no index, as ".component."; the name is thought to be within dots. */
static bool any_component(struct trial *trial, const char *name, char *out, size_t size)
{
    size_t count = 0;
    for (const char *p = name; *p; p += p[strcspn(p, ".")] ? strcspn(p, ".") + 1 : strcspn(p, ".")) {
        const size_t length = strcspn(p, ".");
        if (is_word(p, length) && below(trial, ++count) == 0) snprintf(out, size, "%.*s", (int)length, p);
    }
    return count > 0;
}

/* Where the component stands in the name, or NULL. */
static const char *find_component(const char *name, const char *component)
{
    const size_t length = strlen(component);
    for (const char *p = name; (p = strstr(p, component)) != NULL; p++)
        if ((p == name || p[-1] == '.') && (p[length] == '.' || !p[length])) return p;
    return NULL;
}

static bool rename_component(struct trial *trial)
{
    char component[256];
    if (!any_component(trial, any_part(trial)->name, component, sizeof component)) return false;
    snprintf(trial->key, sizeof trial->key, "the_%.200s", component);
    for (size_t i = 0; i < trial->model->count; i++) {
        struct part *part = &trial->model->parts[i];
        const char *place = find_component(part->name, component);
        struct sp_text name = {0};
        if (!place) continue;
        note(trial, part->name);
        sp_text_printf(&name, "%.*sthe_%s", (int)(place - part->name), part->name, place);
        free(part->name);
        part->name = name.data;
    }
    return true;
}

static bool is_matrix(const struct part *part) { return part->rank == 2; }

static bool transpose(struct trial *trial)
{
    struct part *part = any_such(trial, is_matrix);
    if (!part) return false;
    const uint64_t rows = part->shape[0];
    note(trial, part->name);
    part->shape[0] = part->shape[1];
    part->shape[1] = rows;
    return true;
}

static bool has_dimension(const struct part *part) { return part->rank > 0; }

static bool resize_dimension(struct trial *trial)
{
    struct part *part = any_such(trial, has_dimension);
    if (!part) return false;
    note(trial, part->name);
    part->shape[below(trial, part->rank)] += 1 + below(trial, 3);
    return true;
}

static bool add_stranger(struct trial *trial)
{
    char name[64];
    snprintf(name, sizeof name, "stranger.%zu.weight", below(trial, 1000000));
    model_add_shape(trial->model, name, SHAPE(1 + below(trial, 3), 2));
    note(trial, name);
    return true;
}

static bool duplicate_last_layer(struct trial *trial)
{
    struct model *model = trial->model;
    const struct part *of = any_such(trial, has_layer);
    char layer[512];
    uint64_t last = 0, index;
    if (!of) return false;
    size_t length = layer_length(of->name), digits = length;
    while (digits && of->name[digits - 1] >= '0' && of->name[digits - 1] <= '9') digits--;
    for (size_t i = 0; i < model->count; i++)
        if (strncmp(model->parts[i].name, of->name, digits) == 0 && sp_index_at(model->parts[i].name, digits, &index) &&
            index > last)
            last = index;
    length = (size_t)snprintf(layer, sizeof layer, "%.*s%" PRIu64, (int)digits, of->name, last);
    for (size_t i = 0, count = model->count; i < count; i++) {
        struct sp_text name = {0};
        const struct part part = model->parts[i];
        if (!in_layer(&part, layer, length)) continue;
        sp_text_printf(&name, "%.*s%" PRIu64 "%s", (int)digits, layer, last + 1, part.name + length);
        model_add_shape(model, name.data, part.rank, part.shape)->dtype = part.dtype;
        note(trial, name.data);
        sp_text_free(&name);
    }
    return true;
}

static bool change_dtype(struct trial *trial)
{
    struct part *part = any_part(trial);
    note(trial, part->name);
    part->dtype = part->dtype == SP_DTYPE_F64 ? SP_DTYPE_F32 : SP_DTYPE_F64; /* F32 among BF16 is common */
    trial->retyped = part->name;
    return true;
}

/* ---- changes to the configuration ---- */

static bool is_integer(const char *json, int64_t *value)
{
    char *end;
    *value = strtoll(json, &end, 10);
    return end != json && !*end;
}

static bool is_number(struct sp_hyperparameter hyper)
{
    int64_t value;
    return is_integer(hyper.value, &value);
}

static bool is_truth_value(struct sp_hyperparameter hyper)
{
    return strcmp(hyper.value, "true") == 0 || strcmp(hyper.value, "false") == 0;
}

static bool is_vocabulary(struct sp_hyperparameter hyper)
{
    return is_number(hyper) && strstr(hyper.name, "vocab_size") != NULL;
}

/* Any hyper-parameter of the kind that is for the configuration to say; false when there is none. */
static bool any_hyperparameter(struct trial *trial, bool (*wanted)(struct sp_hyperparameter))
{
    const size_t count = sp_prediction_hyperparameter_count(trial->truth), start = count ? below(trial, count) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(trial->truth, (start + i) % count);
        if (!wanted(hyper) || strncmp(hyper.from, "table ", 6) == 0) continue;
        snprintf(trial->key, sizeof trial->key, "%s", hyper.name);
        snprintf(trial->value, sizeof trial->value, "%s", hyper.value);
        return true;
    }
    return false;
}

static void set(struct trial *trial, const char *value)
{
    char setting[512];
    snprintf(setting, sizeof setting, "%s=%s", trial->key, value);
    model_set(trial->model, setting);
}

static bool change_number(struct trial *trial)
{
    char other[64];
    int64_t value;
    if (!any_hyperparameter(trial, is_number)) return false;
    is_integer(trial->value, &value);
    const int64_t others[] = {value + 1, value > 1 ? value - 1 : value + 2, value ? 2 * value : 3};
    snprintf(other, sizeof other, "%" PRId64, others[below(trial, 3)]);
    set(trial, other);
    return true;
}

static bool flip(struct trial *trial)
{
    if (!any_hyperparameter(trial, is_truth_value)) return false;
    set(trial, strcmp(trial->value, "true") == 0 ? "false" : "true");
    return true;
}

static bool is_possible(const struct model *model)
{
    struct sp_error error = {0};
    struct sp_prediction *prediction = sp_predict_stored(model->tables, NULL, model->config, &error);
    sp_prediction_free(prediction);
    return prediction != NULL;
}

/* The file is of a larger vocabulary, its configuration is not. */
static bool resize_vocabulary(struct trial *trial)
{
    char larger[64];
    int64_t value;
    if (!any_hyperparameter(trial, is_vocabulary)) return false;
    is_integer(trial->value, &value);
    snprintf(larger, sizeof larger, "%" PRId64, value + 1 + (int64_t)below(trial, 100));
    struct sp_config *config = trial->model->config;
    trial->model->config = sp_config_variant(config);
    set(trial, larger);
    const bool possible = is_possible(trial->model);
    if (possible) model_predict(trial->model, AS_STORED);
    sp_config_free(trial->model->config);
    trial->model->config = config;
    snprintf(trial->value, sizeof trial->value, "%s", larger);
    return possible;
}

static const struct mutation mutations[] = {
    {"one tensor dropped", drop_tensor},
    {"one layer dropped", drop_layer},
    {"one kind dropped in all layers", drop_kind},
    {"one tensor renamed", rename_tensor},
    {"a component renamed everywhere", rename_component},
    {"one matrix transposed", transpose},
    {"one dimension resized", resize_dimension},
    {"the vocabulary resized", resize_vocabulary},
    {"one number of the configuration changed", change_number},
    {"one truth value flipped", flip},
    {"a stranger added", add_stranger},
    {"the last layer there twice", duplicate_last_layer},
    {"one dtype changed", change_dtype},
};
enum { MUTATIONS = sizeof mutations / sizeof *mutations };

/* ---- whether a change leaves a trace ---- */

static const struct part *part_named(const struct model *model, const struct sp_map *places, const char *name)
{
    const size_t place = sp_map_get(places, name);
    return place == SIZE_MAX ? NULL : &model->parts[place];
}

static bool has_shape(const struct part *part, const struct sp_predicted *expected)
{
    return part->rank == expected->rank && memcmp(part->shape, expected->shape, part->rank * sizeof *part->shape) == 0;
}

/* Whether the file is, name by name and shape by shape, what the prediction asks for: by the simplest comparison. */
static bool is_as_predicted(const struct model *model, const struct sp_prediction *prediction)
{
    struct sp_map places = {0};
    bool same = true;
    size_t seen = 0;
    for (size_t i = 0; i < model->count; i++) sp_map_add(&places, model->parts[i].name, i);
    for (size_t i = 0; i < sp_prediction_count(prediction) && same; i++) {
        const struct sp_predicted *expected = sp_prediction_tensor(prediction, i);
        const struct part *part = part_named(model, &places, expected->name);
        if (part) same = has_shape(part, expected) && expected->same_as == SP_NONE;
        else same = expected->optional || expected->same_as != SP_NONE;
        seen += part != NULL;
    }
    sp_map_free(&places);
    return same && seen == model->count;
}

/* The table says no dtype of a buffer, nor of the scale of a quantised weight, and nothing else could. */
static bool may_have_any_dtype(const struct sp_prediction *prediction, const char *name)
{
    const size_t place = sp_prediction_find(prediction, name);
    if (place == SP_NONE) return false;
    const struct sp_predicted *expected = sp_prediction_tensor(prediction, place);
    return (expected->buffer || expected->stands_for) && expected->dtype == SP_DTYPE_UNKNOWN;
}

static bool is_traceless(const struct trial *trial, const struct sp_prediction *prediction)
{
    if (!is_as_predicted(trial->model, prediction)) return false;
    return !trial->retyped || may_have_any_dtype(sp_check_prediction(trial->model->check), trial->retyped);
}

/* ---- what is said of it ---- */

/* Whether any finding or cause names what was changed. */
static bool is_named(const struct trial *trial)
{
    const struct sp_check *check = trial->model->check;
    for (size_t i = 0; i < sp_check_finding_count(check); i++) {
        const struct sp_finding *finding = sp_check_finding(check, i);
        if (sp_map_get(&trial->changed, finding->name) != SIZE_MAX) return true;
        if (*trial->key && strstr(finding->message, trial->key)) return true;
    }
    for (size_t i = 0; i < sp_check_cause_count(check); i++)
        if (*trial->key && strstr(sp_check_cause(check, i)->message, trial->key)) return true;
    return false;
}

/* Whether a hyper-parameter that was changed is said to have the value that it had. */
static bool is_restored(const struct trial *trial)
{
    const struct sp_check *check = trial->model->check;
    for (size_t i = 0; i < sp_check_cause_count(check); i++) {
        const struct sp_cause *cause = sp_check_cause(check, i);
        if (cause->hyperparameter && strcmp(cause->hyperparameter, trial->key) == 0 && cause->found &&
            strcmp(cause->found, trial->value) == 0)
            return true;
    }
    return false;
}

static void judge(struct trial *trial, const char *what, struct tally *tally)
{
    struct sp_error error = {0};
    struct model *model = trial->model;
    struct sp_prediction *prediction = sp_predict_stored(model->tables, NULL, model->config, &error);
    tally->made++;
    if (!prediction) {
        tally->refused++;
        if (listing()) print_message("    %s (%s): %s\n", what, trial->key, error.message);
        return;
    }
    model_check_memory(model);
    const bool traceless = is_traceless(trial, prediction);
    sp_prediction_free(prediction);
    const enum sp_verdict verdict = sp_check_verdict(model->check);
    const bool good = traceless ? verdict != SP_VERDICT_DIFFERS : verdict != SP_VERDICT_MATCH && is_named(trial);
    if (listing())
        print_message("    %s (%s)%s: %s\n", what, trial->key, traceless ? " without trace" : "", model->first_line);
    tally->traceless += traceless;
    tally->wrong += !good;
    if (!good) print_error("%s: %s %s: %s\n", trial->name, what, trial->key, model->first_line);
    tally->restored += !traceless && *trial->key && is_restored(trial);
}

/* ---- all of them ---- */

static uint64_t seed_of(const char *name, size_t mutation)
{
    const char *chosen = asked("SHAPEPROOF_SEED");
    uint64_t seed = *chosen ? strtoull(chosen, NULL, 10) : DEFAULT_SEED;
    seed = seed * 31 + mutation;
    for (; *name; name++) seed = (seed ^ (unsigned char)*name) * 0x100000001b3u;
    return seed | 1;
}

static void try_mutation(struct model *model, const struct sp_prediction *truth, const char *name, size_t index,
                         struct tally *tally)
{
    struct trial trial = {.model = model, .truth = truth, .name = name, .state = seed_of(name, index)};
    struct sp_config *config = model->config;
    for (int i = 0; i < 8; i++) below(&trial, 2); /* seeds that are alike go apart */
    model_predict(model, AS_STORED);
    model->config = sp_config_variant(config);
    if (mutations[index].alter(&trial)) judge(&trial, mutations[index].name, &tally[index]);
    model_close_check(model);
    sp_config_free(model->config);
    model->config = config;
    sp_map_free(&trial.changed);
    sp_arena_free(&trial.arena);
}

/* In huge models two changes, which others than in the next one. */
static bool is_wanted(const struct sp_prediction *truth, const char *name, size_t mutation)
{
    if (sp_prediction_count(truth) < HUGE || strcmp(asked("SHAPEPROOF_MUTATIONS"), "all") == 0) return true;
    return (seed_of(name, 0) / 2 + mutation) % MUTATIONS < 2;
}

/* Whether it matches; all that may be said is that a name promises another size. */
static bool is_flawless(const struct sp_check *check)
{
    for (size_t i = 0; i < sp_check_finding_count(check); i++)
        if (sp_check_finding(check, i)->severity != SP_SEVERITY_NOTE) return false;
    for (size_t i = 0; i < sp_check_cause_count(check); i++)
        if (sp_check_cause(check, i)->severity != SP_SEVERITY_NOTE && sp_check_cause(check, i)->explains) return false;
    return true;
}

static void try_config(struct sp_tables *tables, const char *path, struct tally *tally)
{
    struct sp_error error = {0};
    struct model model = {.tables = tables, .config = sp_config_new()};
    scratch_make(&model.scratch);
    struct sp_prediction *truth =
        sp_config_load(model.config, path, &error) ? NULL : sp_predict_stored(tables, NULL, model.config, &error);
    if (truth) {
        model_predict(&model, AS_STORED);
        const char *line = model_check(&model);
        if (listing()) print_message("%s\n    %s\n", path, line);
        if (!is_flawless(model.check)) print_error("%s: %s\n", path, line);
        assert_true(is_flawless(model.check));
        for (size_t i = 0; i < MUTATIONS; i++)
            if (is_wanted(truth, path, i)) try_mutation(&model, truth, path, i, tally);
    }
    sp_prediction_free(truth);
    model.tables = NULL; /* for the next one */
    model_close(&model);
}

static bool try_all(const char *pattern, size_t step, struct tally *tally)
{
    struct sp_error error = {0};
    glob_t paths;
    if (glob(pattern, GLOB_BRACE, NULL, &paths) != 0) return false;
    struct sp_tables *tables = sp_tables_new(&error);
    for (size_t i = 0; i < paths.gl_pathc; i += step) try_config(tables, paths.gl_pathv[i], tally);
    sp_tables_free(tables);
    globfree(&paths);
    return true;
}

static void assert_all(const char *pattern, size_t step)
{
    struct tally tally[MUTATIONS] = {{0}};
    size_t wrong = 0;
    if (!try_all(pattern, step, tally)) skip();
    for (size_t i = 0; i < MUTATIONS; i++) {
        print_message("%-40s %4zu made, %4zu without trace, %4zu refused, %4zu undone by a cause, %zu wrong\n",
                      mutations[i].name, tally[i].made, tally[i].traceless, tally[i].refused, tally[i].restored,
                      tally[i].wrong);
        assert_true(tally[i].made > tally[i].traceless + tally[i].refused);
        wrong += tally[i].wrong;
    }
    assert_int_equal(wrong, 0);
}

static void fixtures(void **state)
{
    (void)state;
    assert_all("fixtures/{models/*/config,config/*}.json", 1);
}

static void corpus(void **state)
{
    (void)state;
    assert_all(CORPUS "/{real,synthetic}/*.json", STEP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fixtures), cmocka_unit_test(corpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
