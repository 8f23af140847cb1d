/* SPDX-License-Identifier: MIT
 * Guesses: a key that nothing decides gets a value by generate and test. Candidate values come in kinds, likely ones
 * first: not set, a text of the table, another text, true or false, the number that makes the dimension, a dimension
 * divided by a usual width, a small number. Each is tried by propagating the open constraints under it (sp_outcome).
 * The first kind with a value that contradicts none of them is taken to be the right one, since values of another type
 * make expressions that cannot be computed. */
#include "infer/guess/guess.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/text.h"
#include "infer/deduce.h"
#include "infer/guess/members.h"
#include "infer/limits.h"
#include "lang/functions.h"
#include "load/loader.h"

/* ---- several keys together ---- */

/* What the open constraints say to a value that is tried. Fewer contradictions are better; of equals more answers; of
 * equals what transformers does not refuse. */
struct sp_outcome {
    size_t contradictions; /* constraints that cannot be met under it; IMPOSSIBLE: the key cannot have the value */
    size_t answered;       /* constraints that are met */
    bool refused;          /* it does not divide trial.multiple */
};

#define IMPOSSIBLE SIZE_MAX
/* A limit of contradictions that is never reached. */
#define NO_LIMIT (IMPOSSIBLE - 1)

/* Propagates the open constraints, in a few rounds since one answer leads to the next. What they tell stays known: the
 * caller undoes it. Stops once there are more contradictions than the limit. */
static struct sp_outcome propagate_unresolved(struct sp_deduction *deduction, size_t limit)
{
    const struct sp_known *known = &deduction->solver->known;
    struct sp_outcome outcome = {.contradictions = 0};
    for (int round = 0; round < SP_MOST_TRIAL_ROUNDS; round++) {
        outcome = (struct sp_outcome){.contradictions = 0};
        const size_t before = known->told;
        for (size_t i = 0; i < deduction->open_count && i < SP_MOST_ASKED_AT_ONCE && outcome.contradictions <= limit;
             i++) {
            const enum sp_answer answer = sp_propagate(deduction, &deduction->open[i]);
            if (deduction->effort->trials) --deduction->effort->trials;
            outcome.contradictions += answer == SP_CONTRADICTS;
            outcome.answered += answer == SP_HOLDS;
        }
        if (known->told == before || outcome.contradictions > limit) break;
    }
    return outcome;
}

/* A snapshot of the values of all facts, by index. On the heap. */
struct known_values {
    struct shapeproof_value *items;
    size_t count;
};

static struct known_values copy_values(const struct sp_known *known)
{
    struct known_values values = {sp_realloc(NULL, known->count, sizeof *values.items), known->count};
    for (size_t i = 0; i < known->count; i++) values.items[i] = known->facts[i].value;
    return values;
}

/* The outcome if the key is as wanted; `then`, unless it is NULL, gets what is known in that case. Everything is
 * undone. */
static struct sp_outcome try_want(struct sp_deduction *deduction, const char *key, struct sp_want want, size_t limit,
                                  struct known_values *then)
{
    struct sp_known *known = &deduction->solver->known;
    struct sp_outcome outcome = {.contradictions = IMPOSSIBLE};
    const struct sp_mark mark = sp_known_mark(known);
    if (sp_known_tell(known, key, &want) == SP_HOLDS) outcome = propagate_unresolved(deduction, limit);
    if (then) *then = copy_values(known);
    sp_known_undo(known, &mark);
    return outcome;
}

/* The outcome if the key has that value. */
static struct sp_outcome try_value(struct sp_deduction *deduction, const char *key, struct shapeproof_value value,
                                   size_t limit)
{
    return try_want(deduction, key, sp_want_value(value), limit, NULL);
}

/* ---- one of two alternatives ---- */

/* sp_propagate, where a condition `a ? x : y` of which nothing is known is taken to be true, as a guess. */
static enum sp_answer propagate_supposing(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    deduction->solver->known.touched = 0;
    deduction->solver->supposes = true;
    const enum sp_answer answer = sp_propagate(deduction, constraint);
    deduction->solver->supposes = false;
    return answer;
}

/* Where no value of one key will do, two may be needed: for layers of two kinds, `near ? swa_heads : heads`, `near` is
 * taken to be true in the first open dimension for which that tells anything. False, and nothing is told, if no such
 * dimension leads to fewer contradictions than the limit. */
static bool suppose_alternative(struct sp_deduction *deduction, size_t limit)
{
    struct sp_known *known = &deduction->solver->known;
    for (size_t i = 0, tried = 0; i < deduction->open_count && tried < SP_MOST_ALTERNATIVES; i++) {
        const struct sp_constraint constraint = deduction->open[i];
        if (constraint.kind != SP_CONSTRAINT_DIMENSION) continue;
        const size_t told = known->told;
        const struct sp_mark mark = sp_known_mark(known);
        const bool tells = propagate_supposing(deduction, &constraint) == SP_HOLDS && known->told != told;
        const bool is_better = tells && propagate_unresolved(deduction, limit).contradictions < limit;
        tried += tells;
        sp_known_undo(known, &mark);
        if (is_better) return propagate_supposing(deduction, &constraint) == SP_HOLDS;
    }
    return false;
}

/* ---- guess ---- */

/* A key, and its candidate values, one kind after the other. The kind k is values[kind_end[k - 1]] up to
 * values[kind_end[k] - 1]; kind 0 is "not set", and empty for the items of a list. */
struct trial {
    const char *key;
    struct shapeproof_value values[SP_MOST_VALUES];
    size_t count;
    size_t kind_end[10];
    size_t kinds;
    int64_t multiple; /* by transformers the key must divide that: 24, the hidden_size, for num_attention_heads; or 0 */
};

/* ---- trying one value ---- */

static struct shapeproof_value value_then(const struct known_values *then, size_t fact)
{
    return fact < then->count ? then->items[fact] : (struct shapeproof_value){.type = SHAPEPROOF_VALUE_UNKNOWN};
}

/* Whether everything else that becomes known is the same under both values of the key: then one is the default that the
 * other, "not set", stands for. */
static bool lead_to_the_same(struct sp_deduction *deduction, const char *key, struct shapeproof_value a,
                             struct shapeproof_value b)
{
    struct known_values after[2];
    const struct sp_outcome as_a = try_want(deduction, key, sp_want_value(a), NO_LIMIT, &after[0]);
    const struct sp_outcome as_b = try_want(deduction, key, sp_want_value(b), NO_LIMIT, &after[1]);
    const size_t most = after[0].count > after[1].count ? after[0].count : after[1].count;
    bool same = as_a.answered == as_b.answered;
    for (size_t i = 0; i < most && same; i++) {
        const struct shapeproof_value left = value_then(&after[0], i), right = value_then(&after[1], i);
        same = strcmp(deduction->solver->known.facts[i].path, key) == 0 ||
               (left.type == right.type && !sp_value_is_set(left)) || sp_values_equal(left, right);
    }
    sp_free(after[0].items);
    sp_free(after[1].items);
    return same;
}

/* ---- candidates ---- */

static void add_guess_value(struct trial *trial, struct shapeproof_value value)
{
    if (trial->count < SP_MOST_VALUES) trial->values[trial->count++] = value;
}

static void end_kind(struct trial *trial) { trial->kind_end[trial->kinds++] = trial->count; }

/* Small numbers: for a dimension as many as there are heads in the largest model; otherwise, for counts of layers and
 * the like, up to 8, or one more than the highest iteration that an open constraint is about. 1 comes before 0. */
static void add_small_numbers(struct trial *trial, const struct sp_deduction *deduction,
                              const struct sp_constraint *constraint)
{
    int64_t most = constraint->kind == SP_CONSTRAINT_DIMENSION ? SP_LARGEST_SMALL_NUMBER : 8;
    for (size_t i = 0; i < deduction->open_count; i++)
        if (deduction->open[i].iteration >= most && deduction->open[i].iteration < SP_LARGEST_SMALL_NUMBER)
            most = deduction->open[i].iteration + 1;
    add_guess_value(trial, sp_value_int(1));
    for (int64_t number = 0; number <= most; number++)
        if (number != 1) add_guess_value(trial, sp_value_int(number));
}

/* Numbers of heads, most likely first: a dimension by the widths that heads usually have. */
static void add_head_counts(struct trial *trial, uint64_t dimension)
{
    static const int64_t wide[] = {128, 64, 96, 80, 256, 112, 192, 160, 72, 32, 48, 40, 512, 24, 16, 8, 4, 2, 1};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        int64_t width = wide[i];
        if (i < 2 && dimension < 2048) width = wide[1 - i]; /* small models have small heads */
        if (dimension && dimension <= INT64_MAX && (int64_t)dimension % width == 0)
            add_guess_value(trial, sp_value_int((int64_t)dimension / width));
    }
}

int64_t sp_usual_head_count(int64_t width)
{
    struct trial trial = {.count = 0};
    add_head_counts(&trial, (uint64_t)width);
    return trial.count ? trial.values[0].integer : 1;
}

/* The number that transformers requires to be a multiple of the key; 0 when it requires nothing, or the number is not
 * known. */
static int64_t find_multiple(const struct sp_deduction *deduction, const char *key)
{
    const struct sp_unit *table = deduction->solver->table;
    size_t length;
    if (!table->model_type_count) return 0;
    const struct sp_loaded loaded = sp_loader_class(&sp_loader_transformers, table->model_types[0], "");
    const char *name = sp_loader_multiple_of(&loaded, key, &length);
    if (!name) return 0;
    const struct shapeproof_value multiple =
        sp_known_value(&deduction->solver->known, sp_arena_copy(deduction->solver->known.arena, name, length));
    return multiple.type == SHAPEPROOF_VALUE_INT && multiple.integer > 0 ? multiple.integer : 0;
}

static bool is_refused(const struct trial *trial, struct shapeproof_value value)
{
    return trial->multiple && value.type == SHAPEPROOF_VALUE_INT && value.integer > 0 &&
           trial->multiple % value.integer;
}

/* Numbers of heads that transformers accepts, many heads first, each of an even width, which rotary embeddings need: of
 * the dimension 40 where the multiple is 24, 4 and 2. */
static void add_accepted_counts(struct trial *trial, uint64_t dimension)
{
    for (int64_t count = SP_LARGEST_SMALL_NUMBER; trial->multiple && count > 0; count--)
        if (dimension && dimension % (2 * (uint64_t)count) == 0 && trial->multiple % count == 0)
            add_guess_value(trial, sp_value_int(count));
}

/* A release before all that the table compares with; NULL when it compares with none. */
static const char *first_release(struct sp_arena *arena, const struct sp_literals *texts)
{
    enum { MAJOR = 1000000 };
    const struct sp_function *release = sp_function_find("release");
    int64_t lowest = INT64_MAX;
    for (size_t i = 0; i < texts->count; i++) {
        const struct shapeproof_value text = sp_value_string(texts->list[i]);
        const char *problem;
        struct shapeproof_value number;
        if (sp_is_release(text.string) && release->apply(&text, 1, &number, &problem) && number.integer < lowest)
            lowest = number.integer;
    }
    if (lowest == INT64_MAX || lowest == 0) return NULL;
    return sp_arena_printf(arena, "%" PRId64 ".0.0", (lowest - 1) / MAJOR);
}

/* Two kinds: the texts that the table has for the key, and the empty one, which stands for any other. Instead of the
 * latter a release that is before all others is among the former. */
static void add_texts(struct trial *trial, const struct sp_deduction *deduction)
{
    struct sp_literals texts = {0};
    sp_literals_about(&texts, deduction->solver->table, trial->key);
    const char *first = first_release(deduction->solver->known.arena, &texts);
    for (size_t i = 0; i < texts.count; i++)
        if (!sp_literals_have(&deduction->outline->left_out, texts.list[i]))
            add_guess_value(trial, sp_value_string(texts.list[i]));
    if (first) add_guess_value(trial, sp_value_string(first));
    end_kind(trial);
    if (texts.count && !first) add_guess_value(trial, sp_value_string(""));
    end_kind(trial);
    sp_literals_free(&texts);
}

/* For the item of a list: the value of another item, or the item's default, in `item`. The candidates are of the same
 * type then. False when there is no such value, or it is a text, which says nothing of other texts. */
static bool find_likeness(struct sp_deduction *deduction, const char *key, struct shapeproof_value *item)
{
    if (!sp_is_item_key(key)) return false;
    *item = sp_known_item_beside(&deduction->solver->known, key);
    return (sp_value_is_set(*item) || sp_default_of(deduction, key, item)) && item->type != SHAPEPROOF_VALUE_STRING;
}

/* The number that makes the dimension. */
static void add_bisected(struct trial *trial, struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    int64_t solution;
    if (sp_constraint_bisect(deduction, constraint, trial->key, &solution))
        add_guess_value(trial, sp_value_int(solution));
}

/* Candidates of the type of another item, as one kind: the one that answers the most is chosen. */
static void add_likeness(struct trial *trial, struct sp_deduction *deduction, const struct sp_constraint *constraint,
                         struct shapeproof_value item)
{
    struct shapeproof_value by_default;
    add_guess_value(trial, item);
    if (sp_default_of(deduction, trial->key, &by_default) && by_default.type == item.type)
        add_guess_value(trial, by_default);
    if (item.type == SHAPEPROOF_VALUE_BOOL) add_guess_value(trial, sp_value_bool(!item.boolean));
    if (item.type == SHAPEPROOF_VALUE_LIST)
        add_guess_value(trial, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST});
    if (item.type == SHAPEPROOF_VALUE_INT) {
        add_bisected(trial, deduction, constraint);
        add_small_numbers(trial, deduction, constraint);
    }
    end_kind(trial);
}

/* Adds the candidates for a key that the constraint lacks: the kinds that the head of this file lists. For the item of
 * a list of which another item is known, only values of that one's type. */
static void add_candidates(struct trial *trial, struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    struct shapeproof_value item;
    if (!sp_is_item_key(trial->key))
        add_guess_value(trial, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_ABSENT, .string = trial->key});
    end_kind(trial);
    if (find_likeness(deduction, trial->key, &item)) {
        add_likeness(trial, deduction, constraint, item);
        return;
    }
    add_texts(trial, deduction);
    add_guess_value(trial, sp_value_bool(true));
    add_guess_value(trial, sp_value_bool(false));
    end_kind(trial);
    add_bisected(trial, deduction, constraint);
    end_kind(trial);
    if (constraint->kind == SP_CONSTRAINT_DIMENSION) {
        const struct shapeproof_tensor *tensor = sp_occurrence_tensor(&deduction->occurrences, constraint->named);
        for (uint32_t d = 0; d < tensor->rank; d++) add_head_counts(trial, tensor->shape[d]);
        for (uint32_t d = 0; d < tensor->rank; d++) add_accepted_counts(trial, tensor->shape[d]);
        end_kind(trial);
    }
    add_small_numbers(trial, deduction, constraint);
    end_kind(trial);
}

/* ---- choosing ---- */

/* The value that is chosen for a key. */
struct choice {
    const char *key; /* NULL: none was possible */
    struct shapeproof_value value;
    struct sp_outcome outcome; /* of the value */
    bool is_alone;             /* no other value of its kind is free of contradictions: it is no guess */
    bool is_proven; /* moreover constraints are met by it, and it does not stand for several values, as "" and
                       lists do: it is told as SP_REASON_ONLY */
    int64_t others[SP_MOST_OTHER_NUMBERS]; /* the first other numbers that do as well */
    size_t other_count;
};

static bool is_better_guess(struct sp_outcome a, struct sp_outcome b)
{
    if (a.contradictions != b.contradictions) return a.contradictions < b.contradictions;
    if (a.answered != b.answered) return a.answered > b.answered;
    return !a.refused && b.refused;
}

/* For a key that may be left unset: how many values contradict nothing, in the first kind that has any; at most 2. A
 * single one that leads to the same as no value is the default, and does not count. */
static size_t count_others(struct sp_deduction *deduction, const struct trial *trial)
{
    const struct shapeproof_value absent = trial->values[0];
    size_t equals = 0, last = 0;
    for (size_t kind = 1; kind < trial->kinds && !equals; kind++)
        for (size_t i = trial->kind_end[kind - 1]; i < trial->kind_end[kind] && equals < 2; i++) {
            if (try_value(deduction, trial->key, trial->values[i], 0).contradictions) continue;
            equals++;
            last = i;
        }
    return equals == 1 && lead_to_the_same(deduction, trial->key, absent, trial->values[last]) ? 0 : equals;
}

/* Whether it is a number that meets no constraint and contradicts none. After some of these in a row, larger numbers
 * are not tried. */
static bool is_idle_guess(struct sp_outcome outcome, struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_INT && !outcome.answered && !outcome.contradictions;
}

/* Whether it is the empty text, which stands for every text that the table does not name. */
static bool stands_for_others(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_STRING && !*value.string;
}

/* Notes a number that does as well as the chosen one; each once. */
static void note_other(struct choice *choice, struct shapeproof_value value)
{
    if (value.type != SHAPEPROOF_VALUE_INT || choice->value.type != SHAPEPROOF_VALUE_INT ||
        choice->other_count == SP_MOST_OTHER_NUMBERS)
        return;
    bool is_new = value.integer != choice->value.integer;
    for (size_t i = 0; i < choice->other_count; i++) is_new = is_new && choice->others[i] != value.integer;
    if (is_new) choice->others[choice->other_count++] = value.integer;
}

/* "56, 14 and 7"; NULL when there are none. */
static const char *say_others(struct sp_arena *arena, const struct choice *choice)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < choice->other_count; i++)
        sp_text_printf(&text, "%s%" PRId64, !i ? "" : i + 1 < choice->other_count ? ", " : " and ", choice->others[i]);
    return choice->other_count ? sp_text_keep(&text, arena) : NULL;
}

/* Tries the candidates kind by kind, and stops at the first kind whose best value contradicts nothing, and meets a
 * constraint or is the only one of its kind that would do. Otherwise a value of a later kind replaces the best one so
 * far only if its outcome is better; so "not set", which meets nothing, stays when no value meets anything. */
static void choose_best_guess(struct sp_deduction *deduction, const struct trial *trial, struct choice *best)
{
    for (size_t kind = 0, i = 0; kind < trial->kinds; kind++) {
        size_t equals = 0, idle = 0; /* values of this kind without contradictions; idle ones in a row */
        bool is_best_of_kind = false;
        for (; i < trial->kind_end[kind] && idle < SP_MOST_IDLE_VALUES; i++) {
            const size_t limit = best->key ? best->outcome.contradictions : NO_LIMIT;
            struct sp_outcome outcome = try_value(deduction, trial->key, trial->values[i], limit);
            outcome.refused = is_refused(trial, trial->values[i]);
            equals += outcome.contradictions == 0;
            idle = is_idle_guess(outcome, trial->values[i]) ? idle + 1 : 0;
            if (is_best_of_kind && !outcome.contradictions && outcome.answered == best->outcome.answered &&
                outcome.refused == best->outcome.refused)
                note_other(best, trial->values[i]);
            if (best->key && !is_better_guess(outcome, best->outcome)) continue;
            *best = (struct choice){.key = trial->key, .value = trial->values[i], .outcome = outcome};
            is_best_of_kind = true;
        }
        i = trial->kind_end[kind];
        if (!is_best_of_kind || best->outcome.contradictions) continue;
        /* "Not set" is a kind of one value, which competes with those of the later kinds. */
        const size_t others = kind ? equals - 1 : count_others(deduction, trial);
        best->is_alone = !others;
        if (!best->outcome.answered && others) continue;
        best->is_proven = best->outcome.answered && !others && !stands_for_others(best->value) &&
                          best->value.type != SHAPEPROOF_VALUE_LIST;
        return;
    }
}

/* The last guess that the constraints about a key depend on. */
static size_t guess_behind(struct sp_deduction *deduction, const char *key)
{
    struct sp_known *known = &deduction->solver->known;
    size_t last = 0;
    for (size_t i = 0; known->guesses && i < deduction->open_count; i++) {
        known->touched = 0;
        const char *lacks = sp_constraint_lacks(deduction, &deduction->open[i]);
        if (lacks && strcmp(lacks, key) == 0 && known->touched > last) last = known->touched;
    }
    return last;
}

/* Tells the chosen value. It counts as a guess if other values would do, so that what follows from it is known to. */
static void accept_guess(struct sp_deduction *deduction, const struct choice *choice)
{
    struct sp_known *known = &deduction->solver->known;
    const struct sp_want want = sp_want_value(choice->value);
    const bool is_guess = !choice->is_proven && !choice->is_alone;
    known->reason = (struct sp_reason){.kind = choice->is_proven ? SP_REASON_ONLY : SP_REASON_GUESS,
                                       .name = "",
                                       .rounded = choice->is_proven && choice->value.type == SHAPEPROOF_VALUE_INT};
    if (is_guess) {
        sp_known_guess(known, choice->key);
        known->others[known->guesses] = say_others(known->arena, choice);
    } else known->touched = guess_behind(deduction, choice->key);
    sp_known_tell(known, choice->key, &want);
}

size_t sp_guess_texts(struct sp_deduction *deduction, const char *key, struct shapeproof_value *texts, size_t most)
{
    struct trial trial = {.key = key};
    size_t count = 0;
    add_guess_value(&trial, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_ABSENT, .string = key});
    add_texts(&trial, deduction);
    for (size_t i = 0; i < trial.count && count < most; i++)
        if (!try_value(deduction, key, trial.values[i], 0).contradictions) texts[count++] = trial.values[i];
    return count;
}

/* Keys without a value, each with a constraint that cannot be evaluated for want of it. */
struct lacking {
    const char *keys[SP_MOST_LACKING_KEYS];
    const struct sp_constraint *constraints[SP_MOST_LACKING_KEYS];
    size_t count;
};

/* The keys that the undecided constraints lack, in the order of the table's rows. */
static struct lacking find_lacking_keys(struct sp_deduction *deduction)
{
    struct lacking lacking = {.count = 0};
    for (size_t i = 0; i < deduction->open_count && lacking.count < SP_MOST_LACKING_KEYS; i++) {
        const char *key = sp_constraint_lacks(deduction, &deduction->open[i]);
        if (!key || sp_is_among(key, lacking.keys, lacking.count)) continue;
        lacking.keys[lacking.count] = key;
        lacking.constraints[lacking.count++] = &deduction->open[i];
    }
    return lacking;
}

/* The best value for a key that the constraint lacks. */
static struct choice choose_for(struct sp_deduction *deduction, const char *key, const struct sp_constraint *constraint)
{
    struct trial trial = {.key = key, .multiple = find_multiple(deduction, key)};
    struct choice choice = {.key = NULL};
    add_candidates(&trial, deduction, constraint);
    choose_best_guess(deduction, &trial, &choice);
    return choice;
}

/* Whether the choice contradicts nothing, and meets a constraint or has no equal. */
static bool is_settled(const struct choice *choice)
{
    return choice->key && choice->outcome.contradictions == 0 && (choice->outcome.answered || choice->is_alone);
}

/* The key that the constraint lacks once `key` has a value: of `width + more`, where width is the key, `more`. Or NULL.
 */
static const char *second_key(struct sp_deduction *deduction, const char *key, const struct sp_constraint *constraint)
{
    struct sp_known *known = &deduction->solver->known;
    const struct sp_want one = sp_want_value(sp_value_int(1));
    const struct sp_mark mark = sp_known_mark(known);
    const char *second = NULL;
    if (sp_known_tell(known, key, &one) == SP_HOLDS) second = sp_constraint_lacks(deduction, constraint);
    sp_known_undo(known, &mark);
    return second;
}

/* Whether anything is answered, and nothing contradicted, when the key is not set. */
static bool default_answers(struct sp_deduction *deduction, const char *key)
{
    if (sp_is_item_key(key)) return false;
    const struct sp_outcome outcome =
        try_value(deduction, key, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_ABSENT, .string = key}, 0);
    return outcome.answered && !outcome.contradictions;
}

/* "num_attention_heads", "text_config.num_key_value_heads", "n_head". */
static bool counts_heads(const char *key)
{
    const char *name = sp_behind_last(key, '.');
    return sp_ends_with(name, "heads") || sp_ends_with(name, "n_head");
}

/* Replaces a choice that has equals by the default of another key, if that meets a constraint: of `width * shared` the
 * default of `shared`, 1, is likelier than one of the widths that divide the product. But the default number of heads
 * for keys and values does not replace heads of a usual width: 512 = heads * width is not 32 heads of 16. */
static struct choice prefer_default(struct sp_deduction *deduction, const struct lacking *lacking, size_t place,
                                    struct choice choice)
{
    if (choice.value.type == SHAPEPROOF_VALUE_ABSENT || choice.is_proven || choice.is_alone) return choice;
    const char *keys[SP_MOST_LACKING_KEYS + 1] = {second_key(deduction, choice.key, lacking->constraints[place])};
    size_t count = 1;
    for (size_t i = place + 1; i < lacking->count; i++) keys[count++] = lacking->keys[i];
    for (size_t i = 0; i < count; i++) {
        if (!keys[i] || !default_answers(deduction, keys[i])) continue;
        if (counts_heads(choice.key) && counts_heads(keys[i])) continue;
        struct choice own = choose_for(deduction, keys[i], lacking->constraints[place + i]);
        if (!is_settled(&own) || own.value.type != SHAPEPROOF_VALUE_ABSENT) continue;
        own.is_proven = own.is_alone = false; /* under another value of the first key this one would be another */
        return own;
    }
    return choice;
}

/* The first key with a choice that is settled; otherwise that of the keys which are lacked after these; otherwise the
 * choice with the best outcome. Its key is NULL when no key has a possible value. */
static struct choice choose_key(struct sp_deduction *deduction, const struct lacking *lacking)
{
    struct choice best = {.key = NULL};
    for (size_t i = 0; i < lacking->count; i++) {
        const struct choice own = choose_for(deduction, lacking->keys[i], lacking->constraints[i]);
        if (is_settled(&own)) return prefer_default(deduction, lacking, i, own);
        if (own.key && (!best.key || is_better_guess(own.outcome, best.outcome))) best = own;
    }
    for (size_t i = 0; i < lacking->count; i++) {
        const char *second = second_key(deduction, lacking->keys[i], lacking->constraints[i]);
        if (!second || sp_is_among(second, lacking->keys, lacking->count)) continue;
        const struct choice own = choose_for(deduction, second, lacking->constraints[i]);
        if (is_settled(&own)) return own;
    }
    return best;
}

/* How many iterations the outermost loop around the constraint's line has; 0 when that is not known, there is no loop,
 * or it is too long to be a list. */
static size_t iterations_around(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    const struct sp_loop *loop = constraint->kind == SP_CONSTRAINT_REQUIRED
                                     ? NULL
                                     : sp_line_outermost(&deduction->outline->lines[constraint->line]);
    if (!loop) return 0;
    const struct shapeproof_value last = sp_solver_value(deduction->solver, loop->env, loop->clause->last);
    return last.type == SHAPEPROOF_VALUE_INT && last.integer >= 0 && last.integer < SP_MOST_LOOP_LENGTH
               ? (size_t)last.integer + 1
               : 0;
}

/* Gives the first key that has a default in the table this value, if it leads to fewer contradictions than the limit;
 * the table may require that the key is set. False when there is no such key. */
static bool take_default(struct sp_deduction *deduction, const struct lacking *lacking, size_t limit)
{
    for (size_t i = 0; i < lacking->count; i++) {
        struct choice choice = {.key = lacking->keys[i]};
        if (!sp_default_of(deduction, choice.key, &choice.value)) continue;
        choice.outcome = try_value(deduction, choice.key, choice.value, limit);
        if (choice.outcome.contradictions >= limit) continue;
        accept_guess(deduction, &choice);
        return true;
    }
    return false;
}

/* How many items the key has if it is a list: as many as lists of the same configuration, or as the loop around the
 * constraint has iterations; 0 when neither is known. */
static size_t likely_length(struct sp_deduction *deduction, const char *key, const struct sp_constraint *constraint)
{
    const size_t beside = sp_known_length_beside(&deduction->solver->known, key);
    return beside ? beside : iterations_around(deduction, constraint);
}

/* Sets the length of lists of which some items are told and others lacked: one item for each iteration. True when that
 * changed anything. */
static bool close_by_iterations(struct sp_deduction *deduction)
{
    struct sp_known *known = &deduction->solver->known;
    if (!sp_known_has_open_lists(known)) return false;
    const struct lacking lacking = find_lacking_keys(deduction);
    bool any = false;
    for (size_t i = 0; i < lacking.count; i++)
        any |= sp_known_close_list(known, lacking.keys[i], iterations_around(deduction, lacking.constraints[i]));
    return any;
}

/* Makes the first lacking key that will do a list of the likely length, so that its items are lacked next, one by one;
 * it must lead to fewer contradictions than the limit. Items of lists and classes are no lists. False when no key will
 * do. */
static bool open_list(struct sp_deduction *deduction, const struct lacking *lacking, size_t limit)
{
    struct sp_known *known = &deduction->solver->known;
    for (size_t i = 0; i < lacking->count; i++) {
        const size_t length = likely_length(deduction, lacking->keys[i], lacking->constraints[i]);
        const struct sp_want want = {.kind = SP_WANT_LENGTH, .value = sp_value_int((int64_t)length)};
        if (!length || sp_is_item_key(lacking->keys[i]) || sp_is_class_key(lacking->keys[i]) ||
            try_want(deduction, lacking->keys[i], want, limit, NULL).contradictions >= limit)
            continue;
        known->reason = (struct sp_reason){.kind = SP_REASON_GUESS, .name = ""};
        known->touched = 0;
        return sp_known_tell(known, lacking->keys[i], &want) == SP_HOLDS;
    }
    return false;
}

/* Whether it was told of the key what is in it, or what is not: `i in key`. */
static bool has_told_members(struct sp_deduction *deduction, const char *key)
{
    const struct sp_fact *fact = sp_known_fact(&deduction->solver->known, key);
    return fact && fact->members;
}

/* The key that decides, beside the members of lists, a condition such as `i not in dense and (i + 1) % every == 0`, if
 * no value of it does so once the lists have no further members: with experts in the layers 1 and 2 of 3 and `dense`
 * empty, no `every` leaves out layer 0. NULL when there is no such key. Everything is undone. */
static const char *find_key_beside_members(struct sp_deduction *deduction, const struct lacking *lacking, size_t *place)
{
    struct sp_known *known = &deduction->solver->known;
    const struct sp_mark mark = sp_known_mark(known);
    const char *found = NULL;
    const bool is_closed = sp_members_close(deduction->solver);
    for (size_t i = 0; i < lacking->count && is_closed && !found; i++) {
        if (!has_told_members(deduction, lacking->keys[i])) continue;
        const char *key = sp_constraint_lacks(deduction, lacking->constraints[i]);
        if (!key || !choose_for(deduction, key, lacking->constraints[i]).outcome.contradictions) continue;
        found = key;
        *place = i;
    }
    sp_known_undo(known, &mark);
    return found;
}

/* Takes lists of which only members are told to have no others. If some conditions cannot be met then, the key beside
 * the list is guessed first, and the conditions tell further members: with `every` 1, `dense` has 0. False when there
 * is no such list. */
static bool decide_members(struct sp_deduction *deduction, const struct lacking *lacking)
{
    size_t place = 0;
    const char *key = find_key_beside_members(deduction, lacking, &place);
    const struct choice choice =
        key ? choose_for(deduction, key, lacking->constraints[place]) : (struct choice){.key = NULL};
    if (!is_settled(&choice)) return sp_members_close(deduction->solver);
    accept_guess(deduction, &choice);
    return true;
}

/* What is done where the best value of every key contradicts something, or no key has a value to try. True when that
 * decided something, so that the deduction can go on. */
static bool decide_otherwise(struct sp_deduction *deduction, const struct lacking *lacking, const struct choice *best)
{
    const size_t contradictions = best->outcome.contradictions;
    if (best->key && suppose_alternative(deduction, contradictions)) return true;
    if (decide_members(deduction, lacking)) return true;
    if (!best->key) return false;
    return take_default(deduction, lacking, contradictions) || open_list(deduction, lacking, contradictions);
}

/* Decides one value that the file does not tell, by the first of these that can:
 *
 *     1. a list of which some items are known gets its length;
 *     2. the key and the value with the fewest contradictions are chosen; but if it is a head count that explains
 *        nothing, a row with two alternatives is decided first, which tells more;
 *     3. if that choice contradicts something: one of two alternatives, a default, or a list in place of one value.
 *
 * Returns false when nothing is left to decide or no value is possible. */
bool sp_guess(struct sp_deduction *deduction)
{
    if (close_by_iterations(deduction) || sp_known_close_lists(&deduction->solver->known)) return true;
    if (!deduction->effort->trials) return sp_members_close(deduction->solver);
    const struct lacking lacking = find_lacking_keys(deduction);
    const struct choice best = choose_key(deduction, &lacking);
    const bool contradicts = best.outcome.contradictions > 0;
    if (best.key && counts_heads(best.key) && !best.outcome.answered && !contradicts &&
        suppose_alternative(deduction, 1))
        return true;
    if (!best.key || contradicts) {
        if (decide_otherwise(deduction, &lacking, &best)) return true;
        if (!best.key || best.outcome.contradictions == IMPOSSIBLE) return false;
    }
    accept_guess(deduction, &best);
    return true;
}

/* ---- the rest ---- */

/* Gives the key a value on which nothing depends: it is no guess that others follow from. */
static void assume_guess(struct sp_deduction *deduction, const char *key, struct shapeproof_value value)
{
    const struct choice choice = {.key = key, .value = value, .is_alone = true};
    accept_guess(deduction, &choice);
}

/* A value for a key of which nothing is known: most often it counts heads, so the width of the model, which is that of
 * the first matrix in the table, by the usual width of heads; 1 when the file has no matrix. */
static struct shapeproof_value plausible(const struct sp_deduction *deduction)
{
    struct trial trial = {.count = 0};
    for (size_t i = 0; i < deduction->outline->count && !trial.count; i++) {
        const struct sp_occurrence *occurrence = &deduction->occurrences.of[i];
        const struct shapeproof_tensor *tensor =
            occurrence->count ? sp_occurrence_tensor(&deduction->occurrences, occurrence->named[0]) : NULL;
        if (tensor && tensor->rank == 2) add_head_counts(&trial, tensor->shape[1]);
    }
    return trial.count ? trial.values[0] : sp_value_int(1);
}

/* Gives one key that the expression lacks a value: absent, if the expression can be computed under that and no further
 * requirement of the table is unmet; otherwise its default in the table, or a plausible number. Returns false when
 * the expression lacks no key, so that the caller can repeat it until all keys are set. */
static bool guess_for(struct sp_deduction *deduction, const struct sp_env *env, const struct sp_expr *expr)
{
    struct sp_known *known = &deduction->solver->known;
    struct shapeproof_value value;
    if (!sp_solver_eval(deduction->solver, env, expr, &value) || value.type != SHAPEPROOF_VALUE_UNKNOWN ||
        !*value.string)
        return false;
    const char *key = value.string;
    const size_t unmet = sp_count_unmet(deduction);
    const struct sp_mark mark = sp_known_mark(known);
    assume_guess(deduction, key, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_ABSENT, .string = key});
    const bool has_default = sp_solver_eval(deduction->solver, env, expr, &value) &&
                             (sp_value_is_set(value) || value.type == SHAPEPROOF_VALUE_UNKNOWN);
    if (has_default && sp_count_unmet(deduction) <= unmet) {
        sp_known_commit(known, &mark);
        return true;
    }
    sp_known_undo(known, &mark);
    assume_guess(deduction, key, sp_default_of(deduction, key, &value) ? value : plausible(deduction));
    return true;
}

/* Whether the loops around a line have any iteration, as far as their bounds are known. */
static bool has_iterations(struct sp_deduction *deduction, const struct sp_line *line)
{
    for (const struct sp_loop *loop = line->loop; loop; loop = loop->outer) {
        struct shapeproof_value first, last;
        if (sp_solver_eval(deduction->solver, loop->env, loop->clause->first, &first) &&
            sp_solver_eval(deduction->solver, loop->env, loop->clause->last, &last) &&
            first.type == SHAPEPROOF_VALUE_INT && last.type == SHAPEPROOF_VALUE_INT && last.integer < first.integer)
            return false;
    }
    return true;
}

void sp_guess_rest(struct sp_deduction *deduction)
{
    for (size_t i = 0; i < deduction->outline->count; i++) {
        const struct sp_line *line = &deduction->outline->lines[i];
        if (!has_iterations(deduction, line) || sp_line_is_ruled_out(deduction->solver, line)) continue;
        for (size_t d = 0; d < line->row->rank; d++)
            for (int k = 0; k < SP_MOST_GUESSES_OF_DIMENSION && guess_for(deduction, line->env, line->row->shape[d]);
                 k++)
                continue;
    }
}
