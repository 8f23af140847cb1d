/* SPDX-License-Identifier: MIT
 * Which tensors are one, as transformers 5 and 4 built their classes with tie_word_embeddings true and false:
 * fixtures/catalogue/ties.txt, of the models of transformers.txt. The tables have to predict the same. */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"
#include "check/recorded.h"
#include "config/config.h"

/* What the tables say otherwise, by the beginning of a line: "RELEASE FLAG NAME". */
static const char *const otherwise[] = {
    /* A head that the flag says is not tied is one of T5 v1.1, which is stored. Transformers 5 would tie it all the
     * same if it were missing, and never writes such a flag. */
    "5 false longt5--LongT5ForC",
    "5 false mt5--MT5ForC",
    "5 false t5--T5ForC",
    "5 false udop--UdopForC",
    "5 false umt5--UMT5ForC",
    /* Renaming back gives its embedding a name that no file has. */
    "5 true hyperclovax_vision_v2--HyperCLOVAXVisionV2ForC",
    /* So does transformers 4 with that of Gemma 3n's language model. */
    "4 true gemma3n_text--Gemma3nForC",
    /* Transformers 4 puts an embedding in the place of a head that is twice as wide. */
    "4 true reformer--Reformer",
};

struct groups {
    struct sp_map places; /* of the names in the catalogue, in `configs` */
    struct {
        char **items;
        size_t count, capacity;
    } configs, names;
    const char *release; /* 5, 4 */
    char version[32];
    size_t compared, wrong;
};

static void read_config(void *context, const char *word, char *rest)
{
    struct groups *groups = context;
    if (strcmp(word, "base") == 0) *SP_PUSH(&groups->names) = strdup(rest);
    if (strcmp(word, "config") == 0 && groups->configs.count < groups->names.count) {
        sp_map_add(&groups->places, groups->names.items[groups->names.count - 1], groups->configs.count);
        *SP_PUSH(&groups->configs) = strdup(rest);
    }
}

/* Sets the flag in the configuration and in each part that has words. */
static void set_flags(struct shapeproof_config *config, struct shapeproof_value part, const char *path, bool tied)
{
    struct sp_text text = {0};
    bool has = !*path;
    for (size_t i = 0; i < part.count; i++) {
        const struct shapeproof_member *member = &part.members[i];
        has |= strcmp(member->key, "tie_word_embeddings") == 0 || strcmp(member->key, "vocab_size") == 0;
        if (member->value.type != SHAPEPROOF_VALUE_OBJECT) continue;
        text.length = 0;
        sp_text_printf(&text, "%s%s%s", path, *path ? "." : "", member->key);
        set_flags(config, member->value, text.data, tied);
    }
    text.length = 0;
    sp_text_printf(&text, "%s%stie_word_embeddings", path, *path ? "." : "");
    if (has) sp_config_set_value(config, text.data, sp_value_bool(tied), "test");
    sp_text_free(&text);
}

/* The tensor that stands for all that are one with it; itself when it is tied to none. */
static size_t stored_as(const struct shapeproof_prediction *prediction, size_t tensor)
{
    for (size_t next; (next = shapeproof_prediction_tensor(prediction, tensor)->same_as) != SHAPEPROOF_NONE;)
        tensor = next;
    return tensor;
}

/* A group of the record, "a=b=c": the tensors of the prediction in it have to be one; each gets the group's number. */
static bool is_group_one(const struct shapeproof_prediction *prediction, char *group, size_t number, size_t *numbers)
{
    size_t one = SHAPEPROOF_NONE;
    for (char *next, *name = group; name; name = next) {
        next = strchr(name, '=');
        if (next) *next++ = '\0';
        const size_t tensor = shapeproof_prediction_find(prediction, name);
        if (tensor == SHAPEPROOF_NONE) continue;
        numbers[tensor] = number;
        if (one != SHAPEPROOF_NONE && stored_as(prediction, tensor) != one) return false;
        one = stored_as(prediction, tensor);
    }
    return true;
}

/* The predicted tie that the record does not have, or one that only the record has; NULL when they agree. */
static const char *disagreement(const struct shapeproof_prediction *prediction, char *ties)
{
    const size_t count = shapeproof_prediction_count(prediction);
    size_t *numbers = calloc(count + 1, sizeof *numbers), number = 0;
    const char *wrong = NULL;
    for (char *next, *group = *ties ? ties : NULL; group; group = next) {
        next = strchr(group, ' ');
        if (next) *next++ = '\0';
        if (!is_group_one(prediction, group, ++number, numbers)) wrong = group;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t other = stored_as(prediction, i);
        const bool optional = shapeproof_prediction_tensor(prediction, i)->optional;
        if (other != i && !optional && (numbers[i] != numbers[other] || !numbers[i]))
            wrong = shapeproof_prediction_tensor(prediction, i)->name;
    }
    free(numbers);
    return wrong;
}

static bool is_said_otherwise(const char *release, bool tied, const char *name)
{
    struct sp_text line = {0};
    bool found = false;
    sp_text_printf(&line, "%s %s %s", release, tied ? "true" : "false", name);
    for (size_t i = 0; i < sizeof otherwise / sizeof *otherwise; i++)
        found |= strncmp(line.data, otherwise[i], strlen(otherwise[i])) == 0;
    sp_text_free(&line);
    return found;
}

static void compare_ties(struct groups *groups, const char *name, bool tied, char *ties)
{
    struct model model;
    struct shapeproof_error error = {0};
    const size_t place = sp_map_get(&groups->places, name);
    if (place == SIZE_MAX || is_said_otherwise(groups->release, tied, name)) return;
    model_open(&model, groups->configs.items[place]);
    set_flags(model.config, sp_config_hyper(model.config)->root, "", tied);
    sp_config_set_value(model.config, "transformers_version", sp_value_string(groups->version), "test");
    struct shapeproof_prediction *prediction = shapeproof_predict(model.tables, model.config, NULL, &error);
    const char *wrong = prediction ? disagreement(prediction, ties) : NULL;
    groups->compared += prediction != NULL;
    groups->wrong += wrong != NULL;
    if (wrong) print_message("transformers %s, %s, %s: %s\n", groups->release, name, tied ? "tied" : "not tied", wrong);
    shapeproof_prediction_free(prediction);
    model_close(&model);
}

static void read_ties(void *context, const char *word, char *rest)
{
    struct groups *groups = context;
    if (strcmp(word, "release") == 0) {
        snprintf(groups->version, sizeof groups->version, "%s", rest);
        groups->release = *rest == '4' ? "4" : "5";
        return;
    }
    char *ties = strchr(rest, '\t');
    if (!ties) die(word, "has no ties");
    *ties++ = '\0';
    compare_ties(groups, word, strcmp(rest, "true") == 0, ties);
}

static void ties_as_transformers(void **state)
{
    struct groups groups = {.release = "5"};
    (void)state;
    read_record("fixtures/catalogue/transformers.txt", read_config, &groups);
    read_record("fixtures/catalogue/ties.txt", read_ties, &groups);
    print_message("%zu compared, %zu wrong\n", groups.compared, groups.wrong);
    for (size_t i = 0; i < groups.configs.count; i++) free(groups.configs.items[i]);
    for (size_t i = 0; i < groups.names.count; i++) free(groups.names.items[i]);
    free(groups.configs.items);
    free(groups.names.items);
    sp_map_free(&groups.places);
    assert_int_equal(groups.wrong, 0);
    assert_true(groups.compared > 1300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ties_as_transformers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
