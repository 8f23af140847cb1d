/* SPDX-License-Identifier: MIT
 * A learnt table against a configuration that it was not learnt from:
 *
 *     right        it predicts what there is
 *     refused      it says that it has seen no such configuration
 *     said         it is wrong, and has named each wrong tensor's choice as undecided, or a key that no example has
 *                  otherwise and this configuration has
 *     strange      it is wrong, has not named that, and the configuration has a key that none of the examples has: of
 *                  such a table knows nothing, and says so in general
 *     silent       it is wrong, and has not said so */
#ifndef TESTS_LEARN_JUDGE_H
#define TESTS_LEARN_JUDGE_H

#include "learn/lessons.h"

enum verdict { RIGHT, REFUSED, SAID, STRANGE, SILENT };

struct tally {
    size_t groups, right, refused, said, strange, silent, not_written;
};

/* A tensor that there is. */
struct fact {
    const char *name;
    uint32_t rank;
    const uint64_t *shape;
};

struct facts {
    struct fact *items;
    size_t count, capacity;
};

/* "{p}h.{}.up.weight" for a name: {} is a number, {p} what it may begin with, a star at the end the rest. */
static inline bool is_of_row(const char *name, const char *row)
{
    if (strncmp(row, "{p}", 3) == 0) {
        const char *dot = strchr(name, '.');
        return is_of_row(name, row + 3) || (dot && is_of_row(dot + 1, row + 3));
    }
    for (; *row; row++) {
        if (*row == '*' && !row[1]) return true;
        if (strncmp(row, "{}", 2) == 0) {
            if (*name < '0' || *name > '9') return false;
            while (*name >= '0' && *name <= '9') name++;
            row++;
        } else if (*name++ != *row) return false;
    }
    return !*name;
}

/* Whether a choice at that dimension of the tensor, or of where it is (-1), is named. */
static inline bool is_named(const struct shapeproof_learning *learning, const char *name, int dimension)
{
    for (size_t i = 0; i < shapeproof_learning_undecided_count(learning); i++)
        for (size_t k = 0; k < shapeproof_learning_undecided(learning, i)->places; k++) {
            const struct shapeproof_undecided_place *place = shapeproof_learning_undecided_place(learning, i, k);
            if (place->dimension == dimension && is_of_row(name, place->row)) return true;
        }
    return false;
}

static inline bool are_dimensions_named(const struct shapeproof_learning *learning, const struct fact *fact,
                                        const struct shapeproof_predicted *learnt)
{
    for (uint32_t d = 0; d < fact->rank && fact->rank == learnt->rank; d++)
        if (fact->shape[d] != learnt->shape[d] && !is_named(learning, fact->name, (int)d)) return false;
    return fact->rank == learnt->rank;
}

/* What was compared. */
struct outcome {
    bool right, named;
    char first[200]; /* what is wrong, rather what is not named */
};

static inline void note_wrong(struct outcome *outcome, bool named, const char *name, const char *what)
{
    if (outcome->right || (!named && outcome->named))
        snprintf(outcome->first, sizeof outcome->first, "%.160s %s", name, what);
    outcome->right = false;
    outcome->named = outcome->named && named;
}

static inline int compare_facts(const void *left, const void *right)
{
    return strcmp(((const struct fact *)left)->name, ((const struct fact *)right)->name);
}

static inline void compare_learnt(const struct shapeproof_learning *learning,
                                  const struct shapeproof_prediction *learnt, struct facts *truth,
                                  struct outcome *outcome)
{
    if (truth->count) qsort(truth->items, truth->count, sizeof *truth->items, compare_facts);
    for (size_t i = 0; i < truth->count; i++) {
        const struct fact *fact = &truth->items[i];
        const size_t there = shapeproof_prediction_find(learnt, fact->name);
        const struct shapeproof_predicted *other =
            there == SHAPEPROOF_NONE ? NULL : shapeproof_prediction_tensor(learnt, there);
        if (!other) note_wrong(outcome, is_named(learning, fact->name, -1), fact->name, "is not predicted");
        else if (other->rank != fact->rank || memcmp(other->shape, fact->shape, fact->rank * sizeof *fact->shape))
            note_wrong(outcome, are_dimensions_named(learning, fact, other), fact->name, "has another shape");
    }
    for (size_t i = 0; i < shapeproof_prediction_count(learnt); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(learnt, i);
        const struct fact wanted = {.name = tensor->name};
        if (tensor->same_as != SHAPEPROOF_NONE || tensor->optional) continue;
        if (!truth->count || !bsearch(&wanted, truth->items, truth->count, sizeof wanted, compare_facts))
            note_wrong(outcome, is_named(learning, tensor->name, -1), tensor->name, "is predicted");
    }
}

/* A key that was the same in all examples has another value here. */
static inline bool has_unvaried_key(const struct shapeproof_learning *learning, const struct shapeproof_config *config,
                                    const struct shapeproof_config *example)
{
    bool differs = false;
    char *list = strdup(shapeproof_learning_unvaried(learning)), *rest = list;
    for (char *word; !differs && (word = strtok_r(rest, ", ", &rest)) != NULL;) {
        char *here = shapeproof_value_text(sp_value_at(sp_config_hyper(config)->root, word));
        char *there = shapeproof_value_text(sp_value_at(sp_config_hyper(example)->root, word));
        differs = strcmp(here, there) != 0;
        free(here);
        free(there);
    }
    free(list);
    return differs;
}

/* It says something that none of the examples says, not even as null. */
static inline bool has_new_key(struct shapeproof_value value, const struct shapeproof_learn_example *examples,
                               size_t count, const char *prefix)
{
    bool is_new = false;
    for (size_t i = 0; i < value.count && value.type == SHAPEPROOF_VALUE_OBJECT && !is_new; i++) {
        char path[300];
        size_t e = 0;
        snprintf(path, sizeof path, "%.140s%.140s", prefix, value.members[i].key);
        while (e < count &&
               sp_value_at(sp_config_hyper(examples[e].config)->root, path).type == SHAPEPROOF_VALUE_ABSENT)
            e++;
        is_new = e == count && value.members[i].value.type != SHAPEPROOF_VALUE_NULL;
        snprintf(path, sizeof path, "%.140s%.140s.", prefix, value.members[i].key);
        if (!is_new && value.members[i].value.type == SHAPEPROOF_VALUE_OBJECT && !strstr(path, "label"))
            is_new = has_new_key(value.members[i].value, examples, count, path);
    }
    return is_new;
}

/* `first` is what is wrong, rather something that is not named. */
static inline enum verdict judge_learnt(const struct shapeproof_learning *learning,
                                        const struct shapeproof_config *config,
                                        const struct shapeproof_learn_example *examples, size_t count,
                                        struct facts *truth, char first[200])
{
    struct shapeproof_error error = {0};
    struct outcome outcome = {.right = true, .named = true};
    struct shapeproof_tables *with = shapeproof_tables_new(&error);
    const char *text = shapeproof_learning_text(learning);
    if (shapeproof_tables_add_text(with, "learnt.shapes", text, strlen(text), &error) != SHAPEPROOF_OK)
        die("learnt", error.message);
    struct shapeproof_prediction *learnt = shapeproof_predict(
        with, config, &(struct shapeproof_predict_options){.table = shapeproof_learning_name(learning)}, &error);
    const bool refused = !learnt;
    if (learnt) compare_learnt(learning, learnt, truth, &outcome);
    else snprintf(outcome.first, sizeof outcome.first, "%.199s", error.message);
    shapeproof_prediction_free(learnt);
    shapeproof_tables_free(with);
    memcpy(first, outcome.first, sizeof outcome.first);
    if (refused) return REFUSED;
    if (outcome.right) return RIGHT;
    if (outcome.named || has_unvaried_key(learning, config, examples[0].config)) return SAID;
    return has_new_key(sp_config_hyper(config)->root, examples, count, "") ? STRANGE : SILENT;
}

static inline void count_verdict(struct tally *tally, enum verdict verdict)
{
    tally->right += verdict == RIGHT;
    tally->refused += verdict == REFUSED;
    tally->said += verdict == SAID;
    tally->strange += verdict == STRANGE;
    tally->silent += verdict == SILENT;
}

static inline void tell_tally(const struct tally *tally)
{
    print_message("%zu kinds: %zu right, %zu refused, %zu said, %zu strange, %zu silent, %zu not written\n",
                  tally->groups, tally->right, tally->refused, tally->said, tally->strange, tally->silent,
                  tally->not_written);
}

#endif
