/* SPDX-License-Identifier: MIT
 * Configurations, and which expressions over them have given values. */
#ifndef TESTS_LEARN_ASKING_H
#define TESTS_LEARN_ASKING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "learn/terms/term_bank.h"

enum { MOST_ASKED = 40 };

/* One point for each configuration; or, where indices are asked, several. */
struct asking {
    struct sp_arena arena;
    struct shapeproof_learn_example examples[MOST_ASKED];
    struct sp_evidence evidence;
    struct sp_point points[MOST_ASKED];
    struct sp_term_bank *bank;
};

static inline void asking_example(struct asking *asking, const char *json)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value root;
    assert_true(asking->evidence.count < MOST_ASKED);
    if (!sp_value_parse_json(&asking->arena, json, strlen(json), &root, &error))
        fail_msg("%s: %s", json, error.message);
    struct shapeproof_config *config = shapeproof_config_new();
    sp_config_set_root(config, root);
    asking->examples[asking->evidence.count++].config = config;
}

/* The keys of all examples. */
static inline void asking_gather(struct asking *asking)
{
    asking->evidence.arena = &asking->arena;
    asking->evidence.examples = asking->examples;
    sp_evidence_gather(&asking->evidence);
}

/* The bank, once there are all examples. With `indices`, each point has another index, from 0 on. */
static inline void asking_begin(struct asking *asking, bool indices)
{
    const struct sp_domain domain = {asking->points, asking->evidence.count, indices};
    if (!asking->evidence.terminals.count) asking_gather(asking);
    for (size_t i = 0; i < asking->evidence.count; i++)
        asking->points[i] = (struct sp_point){.example = i, .index = {indices ? i : 0}};
    asking->bank = sp_term_bank_new(&asking->evidence, &domain);
}

static inline void asking_end(struct asking *asking)
{
    if (asking->bank) sp_term_bank_free(asking->bank);
    for (size_t i = 0; i < asking->evidence.count; i++)
        shapeproof_config_free((struct shapeproof_config *)asking->examples[i].config);
    sp_evidence_free(&asking->evidence);
    sp_arena_free(&asking->arena);
}

/* Whether the expression is among those that were found. */
static inline bool is_among_found(const struct sp_found *found, const char *words)
{
    bool among = false;
    for (size_t i = 0; i < found->count && !among; i++) {
        struct sp_text text = {0};
        sp_search_term_write(&text, found->terms[i], SP_KEYS_BY_PATH);
        among = strcmp(text.data, words) == 0;
        sp_text_free(&text);
    }
    return among;
}

#endif
