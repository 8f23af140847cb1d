/* SPDX-License-Identifier: MIT
 * A width of 3584 is 28 heads of 128, 14 of 256 or 56 of 64: no shape tells which, and a model with the wrong one loads
 * and computes something else. Of numbers that fit equally well the usual one is told, and the others are named. */
#include "explain/trials/heads.h"

#include <inttypes.h>
#include <string.h>

#include "explain/gather.h"

/* What keys of an object of the configuration are called; the first that it has counts. */
static const char *const widths[] = {"hidden_size", "n_embd", "d_model"};
static const char *const heads_keys[] = {"num_attention_heads", "n_head", "encoder_attention_heads",
                                         "decoder_attention_heads"};
static const char *const pairs_keys[] = {"num_key_value_heads"};
static const char *const size_keys[] = {"head_dim"};

/* Costs, which are added: how much speaks against a choice. They are compared with KEY_CHANGES, the cost of one more
 * key that has to change. The sizes of heads that are tried, and the cost of each: */
static const struct {
    int64_t size;
    int cost;
} usual[] = {{128, 0}, {64, 1}, {96, 2}, {80, 2}, {256, 8}, {32, 8}};
enum { USUAL = sizeof usual / sizeof *usual };
enum { UNUSUAL = 12 };     /* of any other size, and of fewer heads than FEW */
enum { KEY_CHANGES = 3 };  /* of a key that changes */
enum { SIZE_CHANGES = 2 }; /* of a size without a key: it follows from others, and nobody may have meant it */
enum { WIDE = 2048, SMALL = 64, SMALL_IN_WIDE = 3 };      /* of SMALL heads in a model wider than WIDE */
enum { NARROW = 1024, LARGE = 128, LARGE_IN_NARROW = 4 }; /* of LARGE heads in one of NARROW at most */
enum { FEW = 4 };
enum { OTHERS = 2 }; /* other choices that the message names */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A key of the configuration that is a number: as configured, and after the accepted changes. */
struct number {
    const char *key; /* NULL: the configuration has none */
    int64_t before, after;
};

/* What the configuration says of heads. */
struct heads {
    struct shapeproof_check *check;
    const struct sp_variant *best; /* with the accepted changes */
    struct number width;           /* hidden_size */
    struct number count;           /* num_attention_heads */
    struct number pairs;           /* num_key_value_heads: pairs of a key and a value */
    struct number size;            /* head_dim */
};

/* A number of heads that gives the same shapes: 28 heads of 128 with 4 pairs, 14 of 256 with 2. */
struct choice {
    int64_t size, count, pairs; /* `pairs` is 0 without such a key */
};

/* Whether the accepted changes count. */
enum state { BEFORE, AFTER };

/* The first of the keys that is a number above 0 before and after the changes. */
static struct number find_number(const struct heads *heads, const char *const *keys, size_t count)
{
    const struct shapeproof_value before = sp_config_hyper(heads->check->config)->root,
                                  after = sp_config_hyper(heads->best->config)->root;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_value a = sp_value_member(before, keys[i]), b = sp_value_member(after, keys[i]);
        if (a.type == SHAPEPROOF_VALUE_INT && b.type == SHAPEPROOF_VALUE_INT && a.integer > 0 && b.integer > 0)
            return (struct number){keys[i], a.integer, b.integer};
    }
    return (struct number){NULL, 0, 0};
}

static bool is_changed(const struct number *number) { return number->key && number->before != number->after; }

/* The size of a head; 0 when heads do not divide the width. */
static int64_t size_of_head(const struct heads *heads, enum state state)
{
    const bool after = state == AFTER;
    const struct number *width = &heads->width, *count = &heads->count;
    if (heads->size.key) return after ? heads->size.after : heads->size.before;
    const int64_t all = after ? width->after : width->before, of = after ? count->after : count->before;
    return all % of ? 0 : all / of;
}

/* The choice with heads of that size: as many as make the width that all heads have together now, and likewise of
 * pairs. False when these are no whole numbers, or the pairs do not divide the heads. */
static bool choose(const struct heads *heads, int64_t size, struct choice *choice)
{
    const int64_t now = size_of_head(heads, AFTER);
    const int64_t all = heads->size.key ? heads->count.after * now : heads->width.after;
    if (all % size) return false;
    *choice = (struct choice){.size = size, .count = all / size};
    if (!heads->pairs.key) return true;
    if (!now || heads->pairs.after * now % size) return false;
    choice->pairs = heads->pairs.after * now / size;
    return choice->pairs > 0 && choice->count % choice->pairs == 0;
}

/* The choice as a change of the keys that the configuration has, in the arena. */
static const struct sp_change *change_to(const struct heads *heads, const struct choice *choice)
{
    struct sp_change *changes = sp_arena_array(&heads->check->arena, 3, sizeof *changes);
    changes[0] = (struct sp_change){.key = heads->count.key, .value = sp_value_int(choice->count)};
    changes[1] = (struct sp_change){.key = heads->pairs.key, .value = sp_value_int(choice->pairs)};
    changes[2] = (struct sp_change){.key = heads->size.key, .value = sp_value_int(choice->size)};
    if (heads->size.key) changes[1].also = &changes[2];
    changes[0].also = heads->pairs.key ? &changes[1] : heads->size.key ? &changes[2] : NULL;
    return changes;
}

/* Whether the file has no more errors with the choice than with the accepted changes. */
static bool fits(const struct heads *heads, const struct choice *choice)
{
    struct sp_variant variant;
    if (!sp_variant_try(heads->check, heads->best->config, change_to(heads, choice), &variant)) return false;
    const bool good = variant.errors <= heads->best->errors;
    sp_variant_free(&variant);
    return good;
}

/* ---- saying it ---- */

/* The cause that blames the key, or NULL; also for a NULL key. */
static struct shapeproof_cause *cause_about(const struct heads *heads, const char *key)
{
    struct shapeproof_check *check = heads->check;
    for (size_t i = 0; key && i < check->cause_count; i++)
        if (check->causes[i].id == sp_cause_rows[SP_CAUSE_HYPERPARAMETER].id && check->causes[i].hyperparameter &&
            check->causes[i].message && strcmp(check->causes[i].hyperparameter, key) == 0)
            return &check->causes[i];
    return NULL;
}

/* Rewords the cause: it blames that key now, for which the file has that value. */
static void say_value(const struct heads *heads, struct shapeproof_cause *cause, const struct number *number,
                      int64_t value)
{
    struct shapeproof_check *check = heads->check;
    const struct shapeproof_provenance from = sp_hyper_provenance(sp_config_hyper(check->config), number->key);
    cause->hyperparameter = number->key;
    cause->configured = sp_value_int(number->before);
    cause->found = sp_value_int(value);
    cause->message =
        sp_arena_printf(&check->arena, "%s, the file has %" PRId64 " (%s)",
                        sp_said(check, (struct shapeproof_hyperparameter){number->key, cause->configured, from}), value,
                        sp_tensors_of(check, cause));
}

/* "; 28 heads of 128 are usual, 56 of 64 and 14 of 256 fit as well". */
static const char *say_choices(const struct heads *heads, const struct choice *chosen, const struct choice *others,
                               size_t count)
{
    struct sp_text text = {0};
    sp_text_printf(&text, "; %" PRId64 " heads of %" PRId64 "%s", chosen->count, chosen->size,
                   count ? " are usual, " : " are usual");
    for (size_t i = 0; i < count; i++)
        sp_text_printf(&text, "%s%" PRId64 " of %" PRId64, i ? " and " : "", others[i].count, others[i].size);
    if (count) sp_text_puts(&text, count > 1 ? " fit as well" : " fits as well");
    return sp_text_keep(&text, &heads->check->arena);
}

/* Gives all findings of one cause to another one. Without a message, the empty one is taken out later. */
static void give_findings(struct shapeproof_check *check, struct shapeproof_cause *from, struct shapeproof_cause *to)
{
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].cause == (size_t)(from - check->causes)) {
            check->findings[i].cause = (size_t)(to - check->causes);
            from->explains--;
            to->explains++;
        }
    from->message = NULL;
}

static void take_patch_back(struct shapeproof_cause *cause)
{
    cause->patch = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_ABSENT};
}

/* Whether a key that the choice sets is part of the patch: head_dim always, where there is such a key. */
static bool is_to_patch(const struct heads *heads, const struct choice *chosen, const char *key)
{
    if (strcmp(key, heads->count.key) == 0) return chosen->count != heads->count.before;
    if (heads->pairs.key && strcmp(key, heads->pairs.key) == 0) return chosen->pairs != heads->pairs.before;
    return heads->size.key && strcmp(key, heads->size.key) == 0;
}

/* Rewords the causes of the accepted changes for the choice. There may be one each about the count of heads, the pairs
 * and the width. Where the choice leaves the count or the pairs as configured, the cause about it has to blame another
 * key, or to give its findings away:
 *
 *     pairs stay, there is a cause about the count    the findings go to that cause
 *     pairs stay, there is none, the count changes    the cause about pairs blames the count
 *     the count stays, there is a head_dim            the cause about the count blames head_dim
 *     the count stays, there is none                  the findings go to the cause about the width
 *
 * The first that is left, of count, pairs and width, gets the patch for all keys and names the other choices. */
static void tell(const struct heads *heads, const struct choice *chosen, const struct choice *others, size_t count)
{
    struct shapeproof_check *check = heads->check;
    struct shapeproof_cause *of_count = cause_about(heads, heads->count.key),
                            *of_pairs = cause_about(heads, heads->pairs.key),
                            *of_width = cause_about(heads, heads->width.key);
    const bool count_changes = chosen->count != heads->count.before,
               pairs_change = heads->pairs.key && chosen->pairs != heads->pairs.before;
    if (of_pairs && of_count && !pairs_change) {
        give_findings(check, of_pairs, of_count);
        of_pairs = NULL;
    }
    if (of_count && count_changes) say_value(heads, of_count, &heads->count, chosen->count);
    else if (of_count) {
        take_patch_back(of_count);
        if (heads->size.key) say_value(heads, of_count, &heads->size, chosen->size);
        else if (of_width) give_findings(check, of_count, of_width);
        if (!heads->size.key) of_count = NULL;
    }
    if (of_pairs && pairs_change) say_value(heads, of_pairs, &heads->pairs, chosen->pairs);
    else if (of_pairs && !of_count && count_changes) {
        say_value(heads, of_pairs, &heads->count, chosen->count);
        take_patch_back(of_pairs);
        of_count = of_pairs;
    }
    struct shapeproof_cause *first = of_count ? of_count : of_pairs ? of_pairs : of_width;
    if (!first) return;
    if (of_pairs && of_pairs != first) take_patch_back(of_pairs);
    for (const struct sp_change *change = change_to(heads, chosen); change; change = change->also)
        if (is_to_patch(heads, chosen, change->key))
            first->patch = sp_value_with(&check->arena, first->patch, change->key, change->value);
    first->message = sp_arena_printf(&check->arena, "%s%s", first->message, say_choices(heads, chosen, others, count));
}

/* ---- the whole ---- */

/* The cost of a choice: how much speaks against it. A usual size costs nothing if head_dim has it already. */
static int cost_of_choice(const struct heads *heads, const struct choice *choice)
{
    const int64_t before = size_of_head(heads, BEFORE);
    int cost = UNUSUAL;
    for (size_t i = 0; i < USUAL; i++)
        if (usual[i].size == choice->size) cost = heads->size.key && choice->size == before ? 0 : usual[i].cost;
    if (choice->size == SMALL && choice->size * choice->count > WIDE) cost += SMALL_IN_WIDE;
    if (choice->size == LARGE && choice->size * choice->count <= NARROW) cost += LARGE_IN_NARROW;
    if (choice->count < FEW) cost += UNUSUAL;
    if (choice->count != heads->count.before) cost += KEY_CHANGES;
    if (heads->pairs.key && choice->pairs != heads->pairs.before) cost += KEY_CHANGES;
    if (before && choice->size != before) cost += heads->size.key ? KEY_CHANGES : SIZE_CHANGES;
    return cost;
}

/* Whether choice `a` costs less than `b`; with equal costs, whether it has as many heads as configured and `b` has not,
 * or else whether its heads have the configured size. */
static bool is_better_choice(const struct heads *heads, const struct choice *a, const struct choice *b)
{
    const int cost_a = cost_of_choice(heads, a), cost_b = cost_of_choice(heads, b);
    if (cost_a != cost_b) return cost_a < cost_b;
    if ((a->count == heads->count.before) != (b->count == heads->count.before)) return a->count == heads->count.before;
    return a->size == size_of_head(heads, BEFORE);
}

/* Lists the choices that fit, the best first, by insertion sort; returns how many. The accepted changes themselves are
 * one, if their heads have a size. */
static size_t list_choices(const struct heads *heads, struct choice choices[USUAL + 1])
{
    const int64_t after = size_of_head(heads, AFTER);
    size_t count = 0;
    for (size_t i = 0; i <= USUAL; i++) {
        const int64_t size = i ? usual[i - 1].size : after;
        struct choice choice;
        if (!size || (i && size == after) || !choose(heads, size, &choice)) continue;
        if (size != after && !fits(heads, &choice)) continue;
        size_t place = count++;
        for (; place && is_better_choice(heads, &choice, &choices[place - 1]); place--)
            choices[place] = choices[place - 1];
        choices[place] = choice;
    }
    return count;
}

/* Rewords the causes if another choice is better than the accepted changes. */
static void settle(const struct heads *heads)
{
    struct choice choices[USUAL + 1];
    const size_t count = list_choices(heads, choices), others = count ? count - 1 : 0;
    if (count && choices[0].size != size_of_head(heads, AFTER))
        tell(heads, &choices[0], &choices[1], others < OTHERS ? others : OTHERS);
}

void sp_settle_heads(struct shapeproof_check *check, const struct sp_variant *best)
{
    struct heads heads = {.check = check, .best = best};
    heads.width = find_number(&heads, widths, COUNT(widths));
    heads.pairs = find_number(&heads, pairs_keys, COUNT(pairs_keys));
    heads.size = find_number(&heads, size_keys, COUNT(size_keys));
    for (size_t i = 0; heads.width.key && i < COUNT(heads_keys); i++) {
        heads.count = find_number(&heads, &heads_keys[i], 1);
        if (!heads.count.key) continue;
        if (is_changed(&heads.width) || is_changed(&heads.count) || is_changed(&heads.pairs) || is_changed(&heads.size))
            settle(&heads);
    }
}
