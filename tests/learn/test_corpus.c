/* SPDX-License-Identifier: MIT
 * Built-in tables, learnt again from three of their predictions over configurations of the corpus, and held against the
 * others of the same class. judge.h says how they are judged. */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/value.h"
#include "config/config.h"
#include "corpus.h"
#include "learn/formulas.h"
#include "learn/judge.h"

enum { MOST_CONFIGS = 600, EXAMPLES = 3, MOST_TENSORS = 3000 };
/* How many of a hundred learnt tables have the formula of the built-in one, at least. */
enum { FORMULAS_OF_SERIES = 30, VARIED_OF_SERIES = 50, FORMULAS_OF_CORPUS = 35, VARIED_OF_CORPUS = 74 };
/* Of random configurations three may agree by accident on something else: how many of a hundred, at most. */
enum { ACCIDENTS = 3 };

/* A configuration, and what the built-in table predicts of it. */
struct subject {
    struct shapeproof_config *config;
    struct shapeproof_prediction *prediction;
    char kind[160]; /* its table and class */
    char name[160];
};

static size_t likenesses[LIKENESSES]; /* of the formulas of what was learnt */
static struct shapeproof_tables *tables;
static bool tells_all; /* with any argument: what was learnt, where it is silently wrong */
static struct subject subjects[MOST_CONFIGS];
static size_t subject_count;

static const char *class_of(const struct shapeproof_config *config)
{
    const struct shapeproof_value list = sp_value_at(sp_config_hyper(config)->root, "architectures");
    return list.type == SHAPEPROOF_VALUE_LIST && list.count && list.items[0].type == SHAPEPROOF_VALUE_STRING
               ? list.items[0].string
               : "";
}

static void read_config(void *context, const char *name, struct shapeproof_config *config,
                        struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    struct subject subject = {.config = config};
    (void)context;
    shapeproof_inventory_close(inventory);
    if (subject_count < MOST_CONFIGS) subject.prediction = shapeproof_predict(tables, config, NULL, &error);
    if (!subject.prediction || shapeproof_prediction_count(subject.prediction) > MOST_TENSORS) {
        shapeproof_prediction_free(subject.prediction);
        shapeproof_config_free(config);
        return;
    }
    snprintf(subject.name, sizeof subject.name, "%s", name);
    snprintf(subject.kind, sizeof subject.kind, "%s %s", shapeproof_prediction_table(subject.prediction),
             class_of(config));
    subjects[subject_count++] = subject;
}

/* The tensors that a file would have. */
static struct shapeproof_inventory *inventory_of(const struct shapeproof_prediction *prediction)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = sp_inventory_new("memory");
    sp_inventory_add_file(inventory, "memory");
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(prediction, i);
        if (predicted->optional || predicted->same_as != SHAPEPROOF_NONE) continue;
        struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
        tensor->name = sp_arena_string(&inventory->arena, predicted->name);
        tensor->dtype = predicted->dtype == SHAPEPROOF_DTYPE_UNKNOWN ? SHAPEPROOF_DTYPE_F32 : predicted->dtype;
        tensor->rank = predicted->rank;
        tensor->shape = predicted->shape;
        sp_tensor_measure(tensor);
    }
    if (!sp_inventory_finish(inventory, &error)) die("inventory", error.message);
    return inventory;
}

/* What a file of the prediction would hold. */
static struct facts facts_of(const struct shapeproof_prediction *prediction)
{
    struct facts facts = {0};
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (tensor->optional || tensor->same_as != SHAPEPROOF_NONE) continue;
        *SP_PUSH(&facts) = (struct fact){tensor->name, tensor->rank, tensor->shape};
    }
    return facts;
}

static void judge_subject(const struct shapeproof_learning *learning, const struct subject *subject,
                          const struct shapeproof_learn_example *examples, struct tally *tally)
{
    char first[200];
    struct facts facts = facts_of(subject->prediction);
    const enum verdict verdict = judge_learnt(learning, subject->config, examples, EXAMPLES, &facts, first);
    count_verdict(tally, verdict);
    if (verdict == SILENT) print_message("silent: %s, %s: %s\n", subject->kind, subject->name, first);
    if (verdict == SILENT && tells_all) {
        struct sp_text text = {0};
        sp_value_json(&text, sp_config_hyper(subject->config)->root);
        fprintf(stderr, "%s\n%s\n", shapeproof_learning_text(learning), text.data);
        sp_text_free(&text);
    }
    free(facts.items);
}

/* The learnt table and the built-in one, in the first example. */
static void judge_formula(const struct shapeproof_learning *learning, const struct subject *subject)
{
    static const char *const words[LIKENESSES] = {"same formula", "other keys", "other terms", "no formula"};
    char what[200] = "";
    const enum likeness likeness = compare_formulas(learning, tables, subject->prediction, subject->config, what);
    likenesses[likeness]++;
    if (tells_all && likeness != SAME_FORMULA) print_message("%s: %s: %s\n", words[likeness], subject->kind, what);
}

static void tell_likenesses(size_t per_cent)
{
    print_message("%zu have the formula of the built-in table, %zu other keys, %zu other terms, %zu none to compare\n",
                  likenesses[SAME_FORMULA], likenesses[OTHER_KEYS], likenesses[OTHER_TERMS], likenesses[NO_FORMULA]);
    size_t all = 0;
    for (size_t i = 0; i < LIKENESSES; i++) all += likenesses[i];
    assert_true(100 * likenesses[SAME_FORMULA] >= per_cent * all);
    memset(likenesses, 0, sizeof likenesses);
}

/* Learns from the first three of a kind, and judges the others. */
static void judge_kind(const size_t *members, size_t count, struct tally *tally)
{
    struct shapeproof_learn_example examples[EXAMPLES];
    struct shapeproof_error error = {0};
    tally->groups++;
    for (size_t i = 0; i < EXAMPLES; i++) {
        const struct subject *from = &subjects[members[i]];
        examples[i] = (struct shapeproof_learn_example){inventory_of(from->prediction), from->config};
    }
    struct shapeproof_learning *learning =
        shapeproof_learn(examples, EXAMPLES, tables, &(struct shapeproof_learn_options){.name = "learnt_here"}, &error);
    assert_non_null(learning);
    if (!shapeproof_learning_is_proved(learning)) {
        tally->not_written++;
        print_message("not written: %s: %s\n", subjects[members[0]].kind, shapeproof_learning_rest(learning, 0));
    }
    if (shapeproof_learning_is_proved(learning)) judge_formula(learning, &subjects[members[0]]);
    for (size_t i = EXAMPLES; shapeproof_learning_is_proved(learning) && i < count; i++)
        judge_subject(learning, &subjects[members[i]], examples, tally);
    shapeproof_learning_free(learning);
    for (size_t i = 0; i < EXAMPLES; i++)
        shapeproof_inventory_close((struct shapeproof_inventory *)examples[i].inventory);
}

static size_t members_of_kind(size_t first, size_t *members)
{
    size_t count = 0;
    for (size_t i = 0; i < first; i++)
        if (strcmp(subjects[i].kind, subjects[first].kind) == 0) return 0; /* seen already */
    for (size_t i = first; i < subject_count; i++)
        if (strcmp(subjects[i].kind, subjects[first].kind) == 0) members[count++] = i;
    return count;
}

/* ---- configurations that nobody has published ---- */

enum { VARIANTS = 5, TRIES = 30, SMALL = 400, MOST_VARIED = 2000 };

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245U + 12345U;
    return *seed >> 16 & 0x7fff;
}

/* Sizes are multiplied, so that what is divided stays divisible as often as not; now and then a flag is turned. */
static void vary_key(struct shapeproof_config *config, struct shapeproof_hyperparameter hyper, unsigned *seed)
{
    static const int64_t factors[] = {1, 2, 3, 5};
    if (hyper.value.type == SHAPEPROOF_VALUE_INT && hyper.value.integer > 0 && hyper.value.integer < MOST_VARIED)
        sp_config_set_value(config, hyper.name, sp_value_int(hyper.value.integer * factors[next_random(seed) % 4]),
                            "test");
    if (hyper.value.type == SHAPEPROOF_VALUE_BOOL && next_random(seed) % 3 == 0)
        sp_config_set_value(config, hyper.name, sp_value_bool(!hyper.value.boolean), "test");
}

/* Heads that do not divide the width: no framework makes such a model. */
static bool is_divided(const struct shapeproof_config *config)
{
    const struct shapeproof_value root = sp_config_hyper(config)->root;
    const struct shapeproof_value width = sp_value_member(root, "hidden_size"),
                                  heads = sp_value_member(root, "num_attention_heads");
    return width.type != SHAPEPROOF_VALUE_INT || heads.type != SHAPEPROOF_VALUE_INT || !heads.integer ||
           width.integer % heads.integer == 0;
}

/* Another configuration that the table takes; the first of a family is the one that was published. */
static bool vary_subject(const struct subject *published, unsigned *seed, struct subject *varied)
{
    struct shapeproof_error error = {0};
    *varied = (struct subject){.config = sp_config_variant(published->config)};
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(published->prediction); i++)
        vary_key(varied->config, *shapeproof_prediction_hyperparameter(published->prediction, i), seed);
    if (is_divided(varied->config)) varied->prediction = shapeproof_predict(tables, varied->config, NULL, &error);
    if (varied->prediction && shapeproof_prediction_count(varied->prediction) < MOST_VARIED &&
        strcmp(shapeproof_prediction_table(varied->prediction), shapeproof_prediction_table(published->prediction)) ==
            0) {
        memcpy(varied->kind, published->kind, sizeof varied->kind);
        return true;
    }
    shapeproof_prediction_free(varied->prediction);
    shapeproof_config_free(varied->config);
    return false;
}

/* How many names of one prediction the other lacks. */
static size_t count_lacking_names(const struct shapeproof_prediction *of, const struct shapeproof_prediction *in)
{
    struct sp_map names = {0};
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(in); i++)
        sp_map_add(&names, shapeproof_prediction_tensor(in, i)->name, i);
    for (size_t i = 0; i < shapeproof_prediction_count(of); i++)
        count += sp_map_get(&names, shapeproof_prediction_tensor(of, i)->name) == SIZE_MAX;
    sp_map_free(&names);
    return count;
}

/* What it has, or lacks, beside the one of those that is nearest to it. */
static size_t distance_from(const size_t *chosen, size_t count, size_t subject)
{
    size_t nearest = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_prediction *a = subjects[chosen[i]].prediction, *b = subjects[subject].prediction;
        const size_t distance = count_lacking_names(a, b) + count_lacking_names(b, a);
        if (distance < nearest) nearest = distance;
    }
    return nearest;
}

/* Those that differ most come first: they are learnt from. */
static void put_different_first(size_t *members, size_t count)
{
    for (size_t place = 1; place < EXAMPLES; place++) {
        size_t farthest = place;
        for (size_t i = place + 1; i < count; i++)
            if (distance_from(members, place, members[i]) > distance_from(members, place, members[farthest]))
                farthest = i;
        const size_t chosen = members[farthest];
        members[farthest] = members[place];
        members[place] = chosen;
    }
}

static void judge_varied(const struct subject *published, struct tally *tally)
{
    unsigned seed = 7;
    size_t members[VARIANTS], count = 0;
    const size_t before = subject_count;
    for (size_t i = 0; i < TRIES && count < VARIANTS && subject_count < MOST_CONFIGS; i++)
        if (vary_subject(published, &seed, &subjects[subject_count])) members[count++] = subject_count++;
    put_different_first(members, count);
    if (count > EXAMPLES) judge_kind(members, count, tally);
    for (; subject_count > before; subject_count--) {
        shapeproof_prediction_free(subjects[subject_count - 1].prediction);
        shapeproof_config_free(subjects[subject_count - 1].config);
    }
}

static void close_corpus(void)
{
    for (; subject_count; subject_count--) {
        shapeproof_prediction_free(subjects[subject_count - 1].prediction);
        shapeproof_config_free(subjects[subject_count - 1].config);
    }
    shapeproof_tables_free(tables);
}

static void open_tables(void)
{
    struct shapeproof_error error = {0};
    tables = shapeproof_tables_new(&error);
    assert_non_null(tables);
}

static void learn_from_varied(size_t per_cent)
{
    struct tally tally = {0};
    size_t members[MOST_CONFIGS];
    const size_t published = subject_count;
    for (size_t i = 0; i < published; i++)
        if (members_of_kind(i, members) && shapeproof_prediction_count(subjects[i].prediction) < SMALL)
            judge_varied(&subjects[i], &tally);
    close_corpus();
    tell_tally(&tally);
    tell_likenesses(per_cent);
    assert_true(tally.right > 0);
    assert_true(100 * tally.silent <= ACCIDENTS * (tally.right + tally.said + tally.strange + tally.silent));
}

static void learn_again(size_t per_cent)
{
    struct tally tally = {0};
    size_t members[MOST_CONFIGS];
    for (size_t i = 0; i < subject_count; i++) {
        const size_t count = members_of_kind(i, members);
        if (count > EXAMPLES) judge_kind(members, count, &tally);
    }
    close_corpus();
    tell_tally(&tally);
    tell_likenesses(per_cent);
    assert_int_equal(tally.silent, 0);
    assert_true(tally.right > 0);
}

/* Without a corpus nothing is left to do. */
static void skip_empty(void)
{
    if (subject_count) return;
    close_corpus();
    skip();
}

static void series_is_learnt_again(void **state)
{
    (void)state;
    open_tables();
    corpus_read_record(SERIES, read_config, NULL);
    learn_again(FORMULAS_OF_SERIES);
}

static void series_varied(void **state)
{
    (void)state;
    open_tables();
    corpus_read_record(SERIES, read_config, NULL);
    learn_from_varied(VARIED_OF_SERIES);
}

static void corpus_is_learnt_again(void **state)
{
    (void)state;
    open_tables();
    corpus_read_folder("architectures/real", read_config, NULL);
    corpus_read_folder("architectures/synthetic", read_config, NULL);
    skip_empty();
    learn_again(FORMULAS_OF_CORPUS);
}

static void corpus_varied(void **state)
{
    (void)state;
    open_tables();
    corpus_read_folder("architectures/synthetic", read_config, NULL);
    skip_empty();
    learn_from_varied(VARIED_OF_CORPUS);
}

int main(int argc, char **argv)
{
    (void)argv;
    tells_all = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_is_learnt_again),
        cmocka_unit_test(series_varied),
        cmocka_unit_test(corpus_is_learnt_again),
        cmocka_unit_test(corpus_varied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
