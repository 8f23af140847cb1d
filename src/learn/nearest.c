/* SPDX-License-Identifier: MIT
 * Tables that are near to what is learnt: those that the configuration chooses, else those that infer finds for the
 * smallest file. One that has all of it is reported; one that has most of it is extended, where that is shorter. */
#include <stdlib.h>
#include <string.h>

#include "learn/learning.h"
#include "shapeproof/infer.h"
#include "shapeproof/prediction.h"

enum {
    MOST_NEAR = 6,       /* tables that are tried */
    MOST_INFERRED = 4000 /* tensors of a file whose tables are inferred */
};

/* ---- which there are ---- */

struct near_tables {
    const char *items[MOST_NEAR];
    size_t count;
};

static void add_near(struct shapeproof_learning *learning, struct near_tables *near, const char *table)
{
    for (size_t i = 0; i < near->count; i++)
        if (strcmp(near->items[i], table) == 0) return;
    if (near->count < MOST_NEAR) near->items[near->count++] = sp_arena_string(&learning->arena, table);
}

/* Adds the table that serves a configuration, if there is one. */
static void add_served(struct shapeproof_learning *learning, struct near_tables *near,
                       const struct shapeproof_config *config)
{
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(learning->tables, config, NULL, &error);
    if (prediction) add_near(learning, near, shapeproof_prediction_table(prediction));
    shapeproof_prediction_free(prediction);
    sp_error_reset(&error);
}

/* Adds the table of the first example, as every command would choose it, and the one by its class alone, without its
 * model_type. */
static void add_all_served(struct shapeproof_learning *learning, struct near_tables *near)
{
    const struct shapeproof_config *config = learning->evidence.examples[0].config;
    struct shapeproof_config *untyped = shapeproof_config_new();
    add_served(learning, near, config);
    sp_config_set_root(untyped, sp_config_hyper(config)->root);
    sp_config_set_value(untyped, "model_type", (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL}, "the table");
    add_served(learning, near, untyped);
    shapeproof_config_free(untyped);
}

static const struct shapeproof_inventory *smallest_file(const struct shapeproof_learning *learning)
{
    const struct shapeproof_inventory *smallest = learning->evidence.examples[0].inventory;
    for (size_t e = 1; e < learning->evidence.count; e++)
        if (shapeproof_inventory_count(learning->evidence.examples[e].inventory) < shapeproof_inventory_count(smallest))
            smallest = learning->evidence.examples[e].inventory;
    return smallest;
}

static void add_inferred(struct shapeproof_learning *learning, struct near_tables *near)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_inventory *file = smallest_file(learning);
    if (shapeproof_inventory_count(file) > MOST_INFERRED) return;
    struct shapeproof_inference *inference = shapeproof_infer(file, learning->tables, NULL, &error);
    for (size_t i = 0; inference && i < shapeproof_inference_candidate_count(inference); i++)
        add_near(learning, near, shapeproof_inference_candidate(inference, i)->table);
    shapeproof_inference_free(inference);
    sp_error_reset(&error);
}

/* The table that has most tensors of the examples; NULL when none has half of every example. */
static struct sp_base *best_base(struct shapeproof_learning *learning, const struct near_tables *near)
{
    struct sp_base *best = NULL;
    for (size_t i = 0; i < near->count; i++) {
        struct sp_base *base = sp_learn_look_at_base(learning, near->items[i]);
        if (base && base->is_most && (!best || base->tensors > best->tensors)) best = base;
    }
    return best;
}

static struct sp_base *nearest_base(struct shapeproof_learning *learning)
{
    struct near_tables near = {.count = 0};
    add_all_served(learning, &near);
    struct sp_base *best = best_base(learning, &near);
    if (best || near.count) return best;
    add_inferred(learning, &near);
    return best_base(learning, &near);
}

/* ---- with it, or without ---- */

/* Whether an ambiguity is about a row that the base has not. */
static bool is_about_rest(struct shapeproof_learning *learning, const struct sp_ambiguity *ambiguity)
{
    const struct sp_layout *layout = &learning->problem.layout;
    for (size_t r = 0; r < layout->rows.count; r++)
        for (size_t i = 0; i < ambiguity->places.count && !learning->base->rows[r]; i++)
            if (strcmp(ambiguity->places.items[i].row, sp_row_shown(&learning->arena, layout->rows.items[r].pattern)) ==
                0)
                return true;
    return false;
}

/* Who chose the table that is extended. */
enum choice { CHOSEN_BY_USER, FOUND_BY_US };

/* Drops the ambiguities about rows that the base has. If the user chose the base, its rows are right by that; if not,
 * all places that were dropped become one ambiguity: whether the table is an extension of the base at all. */
static void settle_ambiguities(struct shapeproof_learning *learning, enum choice choice)
{
    size_t kept = 0;
    struct sp_ambiguity whole = {
        .told = {.chosen = sp_arena_printf(&learning->arena, "what %s says", learning->base->table),
                 .alternatives = "what is learnt without it",
                 .experiment = "checkpoints that differ in more"}};
    for (size_t i = 0; i < learning->undecided.count; i++) {
        struct sp_ambiguity *ambiguity = &learning->undecided.items[i];
        if (is_about_rest(learning, ambiguity)) {
            learning->undecided.items[kept++] = *ambiguity;
            continue;
        }
        for (size_t k = 0; k < ambiguity->places.count; k++) *SP_PUSH(&whole.places) = ambiguity->places.items[k];
        sp_free(ambiguity->places.items);
    }
    learning->undecided.count = kept;
    whole.told.places = whole.places.count;
    if (choice == FOUND_BY_US && whole.places.count) *SP_PUSH(&learning->undecided) = whole;
    else sp_free(whole.places.items);
    if (choice == CHOSEN_BY_USER && !kept) learning->unvaried = "";
}

/* How many lines are not blank and no comments. */
static size_t count_lines_of_table(const char *text)
{
    size_t lines = 0;
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, "\n");
        lines += length > 0 && *at != '#';
        at += length + (at[length] == '\n');
    }
    return lines;
}

/* The table as it is without a base, to go back to. */
struct fallback {
    const char *text;
    bool is_proved, is_sound;
    size_t explained;
    struct sp_map unexplained;
    SP_ARRAY(const char *) rest;
    const char **letters; /* of the terminals */
};

static struct fallback remember(struct shapeproof_learning *learning)
{
    const struct sp_terminals *terminals = &learning->evidence.terminals;
    struct fallback fallback = {.text = learning->text,
                                .is_proved = learning->is_proved,
                                .is_sound = learning->is_sound,
                                .explained = learning->explained,
                                .unexplained = learning->unexplained};
    for (size_t i = 0; i < learning->rest.count; i++) *SP_PUSH(&fallback.rest) = learning->rest.items[i];
    fallback.letters = sp_arena_array(&learning->arena, terminals->count + 1, sizeof *fallback.letters);
    for (size_t i = 0; i < terminals->count; i++) fallback.letters[i] = terminals->items[i]->letter;
    return fallback;
}

static void go_back(struct shapeproof_learning *learning, struct fallback *fallback)
{
    const struct sp_terminals *terminals = &learning->evidence.terminals;
    learning->base = NULL;
    learning->text = fallback->text;
    learning->is_proved = fallback->is_proved;
    learning->is_sound = fallback->is_sound;
    learning->unexplained = fallback->unexplained;
    fallback->unexplained = (struct sp_map){0};
    learning->rest.count = 0;
    for (size_t i = 0; i < fallback->rest.count; i++) *SP_PUSH(&learning->rest) = fallback->rest.items[i];
    learning->explained = fallback->explained;
    for (size_t i = 0; i < terminals->count; i++) terminals->items[i]->letter = fallback->letters[i];
}

/* Writes the learnt table as an extension of the base, if every tensor of every example is then explained; of a base
 * that the user did not choose, only if the text is also a third shorter, or the table was not proved without it. A row
 * that could not be learnt may be one that the base has, so that no tensor is excused from the proof. False when the
 * base is not kept: then the table is as it was. */
static bool extend_base(struct shapeproof_learning *learning, struct sp_base *base, enum choice choice,
                        struct shapeproof_error *error)
{
    struct fallback fallback = remember(learning);
    learning->base = base;
    learning->rest.count = learning->explained = 0;
    learning->unexplained = (struct sp_map){0};
    sp_learn_letters_of_base(learning);
    sp_learn_write(learning);
    learning->is_proved = sp_learn_prove(learning, error);
    const bool is_better = choice == CHOSEN_BY_USER || !fallback.is_proved ||
                           3 * count_lines_of_table(learning->text) <= 2 * count_lines_of_table(fallback.text);
    const bool kept = learning->is_proved && is_better;
    if (!kept) go_back(learning, &fallback);
    sp_map_free(&fallback.unexplained);
    sp_free(fallback.rest.items);
    if (!kept) return false;
    settle_ambiguities(learning, choice);
    sp_learn_write(learning);
    return true;
}

bool sp_learn_extend(struct shapeproof_learning *learning, const char *like, struct shapeproof_error *error)
{
    struct sp_base *base = sp_learn_look_at_base(learning, like);
    return base && extend_base(learning, base, CHOSEN_BY_USER, error);
}

void sp_learn_find_near(struct shapeproof_learning *learning)
{
    if (learning->invented || learning->are_strangers || !learning->evidence.examples[0].config) return;
    learning->near = nearest_base(learning);
    if (learning->near && learning->near->is_whole) learning->known = learning->near->table;
}

size_t sp_learn_place_of_table(const struct shapeproof_tables *tables, const char *name)
{
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++)
        if (strcmp(shapeproof_tables_info(tables, i)->name, name) == 0) return i;
    return SIZE_MAX;
}

/* Whether a table is one of the user's with the name of the learnt one: likely an earlier result, which will be
 * replaced. */
static bool is_predecessor(const struct shapeproof_learning *learning, const char *table)
{
    const size_t place = sp_learn_place_of_table(learning->tables, table);
    return strcmp(table, learning->name) == 0 && place != SIZE_MAX &&
           strcmp(shapeproof_tables_kind(learning->tables, place), "own") == 0;
}

void sp_learn_extend_near(struct shapeproof_learning *learning, struct shapeproof_error *error)
{
    if (learning->near && !learning->known && !learning->inners.count &&
        !is_predecessor(learning, learning->near->table))
        extend_base(learning, learning->near, FOUND_BY_US, error);
}
