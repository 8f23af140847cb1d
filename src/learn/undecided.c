/* SPDX-License-Identifier: MIT
 * What the examples cannot tell apart. Every expression that was chosen among equals is a choice; the same choice at
 * many places is one, and an experiment decides them all. */
#include <stdlib.h>
#include <string.h>

#include "learn/learning.h"
#include "learn/numbers.h"

enum { MOST_UNVARIED = 400 };

static const char *const index_names[] = {"i", "j", "k", "l", "m", "n", "o", "p"};

static const char *words_of_term(struct sp_arena *arena, const struct sp_phrase *term)
{
    struct sp_text text = {0};
    sp_phrase_write(&text, term, index_names, false);
    return sp_text_keep(&text, arena);
}

static const char *list_alternatives(struct sp_arena *arena, const struct sp_answer *answer)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < answer->other_count; i++) {
        if (i) sp_text_puts(&text, ", ");
        sp_phrase_write(&text, answer->others[i], index_names, false);
    }
    return sp_text_keep(&text, arena);
}

static struct sp_undecided *find_choice(struct sp_learning *learning, const char *chosen, const char *alternatives)
{
    for (size_t i = 0; i < learning->undecided.count; i++) {
        struct sp_undecided *known = &learning->undecided.items[i];
        if (strcmp(known->chosen, chosen) == 0 && strcmp(known->alternatives, alternatives) == 0) return known;
    }
    return NULL;
}

static bool is_condition(const struct sp_phrase *term)
{
    switch (term->op) {
    case SP_PHRASE_TRUTH:
    case SP_PHRASE_IS:
    case SP_PHRASE_ABSENT:
    case SP_PHRASE_NULL:
    case SP_PHRASE_CONTAINED:
        return true;
    default:
        return term->op >= SP_PHRASE_EQUAL;
    }
}

static const char *experiment_for(struct sp_arena *arena, const char *chosen, const struct sp_answer *answer)
{
    if (!answer->other_count && answer->short_loop) return "a checkpoint whose loop has more turns";
    if (!answer->other_count && answer->term->op != SP_PHRASE_NUMBER)
        return "any other checkpoint: it is a long expression";
    if (!answer->other_count) return sp_arena_printf(arena, "a checkpoint in which it is not %s", chosen);
    const char *other = words_of_term(arena, answer->others[0]);
    if (is_condition(answer->term))
        return sp_arena_printf(arena, "a checkpoint in which one of '%s' and '%s' holds, and not the other", chosen,
                               other);
    const bool number = answer->term->op == SP_PHRASE_NUMBER;
    return sp_arena_printf(arena, "a checkpoint whose %s is not %s", number ? other : chosen, number ? chosen : other);
}

/* A number that all examples share is a choice as well, unless it is one that sizes are made of; and so is an
 * expression so long that it may be an accident, or one of a loop that has hardly any turns. */
static bool is_choice(const struct sp_answer *answer)
{
    return answer->other_count || answer->short_loop || answer->term->cost > SP_DOUBTFUL ||
           (answer->term->op == SP_PHRASE_NUMBER && answer->term->number > 1);
}

static void count_choice(struct sp_learning *learning, struct sp_undecided choice)
{
    struct sp_undecided *known = find_choice(learning, choice.chosen, choice.alternatives);
    if (known) known->places++;
    else *SP_PUSH(&learning->undecided) = choice;
}

/* The 4 of hidden_size // 4 may be keys that no example has otherwise. */
static void add_number(struct sp_learning *learning, const struct sp_answer *answer)
{
    struct sp_arena *arena = &learning->arena;
    const struct sp_phrase *as = NULL, *number = NULL;
    if (answer->term->op != SP_PHRASE_NUMBER)
        number = sp_number_that_may_be_key(&learning->evidence, answer->term, &as);
    if (!number) return;
    const char *keys = words_of_term(arena, as), *digits = words_of_term(arena, number);
    count_choice(learning, (struct sp_undecided){
                               sp_arena_printf(arena, "the %s of %s", digits, words_of_term(arena, answer->term)), keys,
                               sp_arena_printf(arena, "a checkpoint whose %s is not %s", keys, digits), 1});
}

static void add_choice(void *context, const struct sp_answer *answer)
{
    struct sp_learning *learning = context;
    add_number(learning, answer);
    if (!is_choice(answer)) return;
    const char *chosen = words_of_term(&learning->arena, answer->term);
    count_choice(learning, (struct sp_undecided){chosen, list_alternatives(&learning->arena, answer),
                                                 experiment_for(&learning->arena, chosen, answer), 1});
}

/* What decides most first; then by their words. */
static int compare_choices(const void *left, const void *right)
{
    const struct sp_undecided *a = left, *b = right;
    if (a->places != b->places) return a->places < b->places ? 1 : -1;
    const int order = strcmp(a->chosen, b->chosen);
    return order ? order : strcmp(a->alternatives, b->alternatives);
}

/* Keys that could say something of a size or a condition, and are the same in all examples. */
static bool is_unvaried(const struct sp_learning *learning, const struct sp_leaf *leaf)
{
    const enum sp_value_type type = leaf->values[0].type;
    const bool could = type == SP_BOOL || type == SP_INT || type == SP_STRING || type == SP_LIST || type == SP_NULL;
    return could && !leaf->meaning && leaf->cost < 20 && sp_leaf_is_constant(leaf, learning->evidence.count);
}

static bool has_any_word(const char *path, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(path, words[i])) return true;
    return false;
}

/* A model without a head has nothing that its embedding could be tied to. */
static bool has_head(const struct sp_learning *learning)
{
    static const char *const words[] = {"head", "decoder", "predictions", "embed_out", "output"};
    const struct sp_layout *layout = &learning->lesson.layout;
    for (size_t i = 0; i < layout->rows.count; i++)
        if (!layout->rows.items[i].index_count &&
            has_any_word(layout->rows.items[i].pattern, words, sizeof words / sizeof *words))
            return true;
    return false;
}

bool sp_is_unseen_flag(const struct sp_learning *learning, const struct sp_leaf *leaf)
{
    static const char *const words[] = {"bias",  "gate", "use_",  "with_",    "add_",     "has_",
                                        "share", "pool", "_norm", "absolute", "relative", "cross_att"};
    static const char *const others[] = {"use_cache", "scale_",    "summary", "use_return",
                                         "use_mems",  "normalize", "topk"};
    if (leaf->meaning || leaf->values[0].type != SP_BOOL) return false;
    if (!sp_leaf_is_constant(leaf, learning->evidence.count)) return false;
    if (has_any_word(leaf->path, others, sizeof others / sizeof *others)) return false;
    if (strstr(leaf->path, "tie_")) return has_head(learning);
    return has_any_word(leaf->path, words, sizeof words / sizeof *words);
}

static const char *list_unvaried(struct sp_learning *learning)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < learning->evidence.leaves.count && i < MOST_UNVARIED; i++) {
        const struct sp_leaf *leaf = learning->evidence.leaves.items[i];
        if (!is_unvaried(learning, leaf)) continue;
        if (text.length) sp_text_puts(&text, ", ");
        sp_text_puts(&text, leaf->path);
    }
    return sp_text_keep(&text, &learning->arena);
}

void sp_learn_doubt(struct sp_learning *learning)
{
    sp_layout_answers(&learning->lesson.layout, add_choice, learning);
    for (size_t i = 0; i < learning->lesson.defaults.count; i++)
        add_choice(learning, &learning->lesson.defaults.items[i]);
    if (learning->undecided.count)
        qsort(learning->undecided.items, learning->undecided.count, sizeof *learning->undecided.items, compare_choices);
    learning->unvaried = list_unvaried(learning);
}
