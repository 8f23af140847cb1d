/* SPDX-License-Identifier: MIT
 * Which hyper-parameters the file determines, and the reason that is reported for each. A value is determined if a
 * tensor told it, or if it is one of few, a flag or a text of the table, and every other one in its place predicts
 * other tensors. Numbers are too many to try: one that no tensor told is not determined, even if no other one that was
 * tried will do. Neither is a value that was guessed, or that follows from a guess. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"
#include "infer/infer.h"
#include "infer/limits.h"
#include "lang/functions.h"

/* A text that no table names. */
#define ANOTHER_TEXT "-"

/* What is needed to predict the best attempt again with another value for one key. */
struct recheck {
    struct shapeproof_inference *inference;
    int64_t
        indices[SP_MOST_SEEN_INDICES]; /* that loops visit: it is enough to predict some of the layers and experts */
    struct sp_scope scope;             /* of these indices */
    struct shapeproof_prediction *prediction; /* of the best attempt, within the scope */
    bool *doubtful; /* by number of a supposition (sp_known.supposed): another value could take its place */
    struct shapeproof_value equal_classes[SP_MOST_EQUAL_CLASSES]; /* the first classes that have the same tensors */
    size_t equal_class_count;
};

/* ---- what told it ---- */

/* The evidence for a value if all that shows it is that no other value does: because the search found no other one, or
 * because the prediction was repeated with the others (is_indispensable). */
static const char only[] = "no other value agrees with the file";

/* The evidence for a value in words; empty for a guess. */
static const char *because(const struct recheck *recheck, const struct sp_reason *reason)
{
    struct sp_arena *arena = &recheck->inference->arena;
    struct sp_outline *outline = &recheck->inference->best->outline;
    const char *name = reason->name;
    switch (reason->kind) {
    case SP_REASON_DIMENSION:
        return sp_arena_printf(arena, "%s, dimension %zu", name, reason->dimension);
    case SP_REASON_PRODUCT:
        return sp_arena_printf(arena, "%s, which has so many elements", name);
    case SP_REASON_INDICES:
        return sp_arena_printf(arena, "the numbers in names such as %s", name);
    case SP_REASON_LAST:
        return sp_arena_printf(arena, "%s is the last one that is there", name);
    case SP_REASON_PRESENT:
        return sp_arena_printf(arena, "%s is there", name);
    case SP_REASON_MISSING:
        return sp_arena_printf(arena, "%s is not there", sp_line_shown(outline, &outline->lines[reason->line]));
    case SP_REASON_TIE:
        return sp_arena_printf(arena, "%s shares its storage with another tensor", name);
    case SP_REASON_REQUIRED:
        return "the table covers no other value";
    case SP_REASON_STATED:
        return "the metadata of the file";
    case SP_REASON_ONLY:
        return only;
    case SP_REASON_NONE:
    case SP_REASON_GUESS:
        break;
    }
    return "";
}

/* ---- what if it were another one? ---- */

static void add_other_value(struct shapeproof_value *others, size_t *count, struct shapeproof_value value)
{
    if (*count < SP_MOST_OTHER_VALUES) others[(*count)++] = value;
}

/* The other texts that the table names for the key, and one that it does not name, unless `text` itself is such a one.
 * Returns how many were written to `others`. */
static size_t other_texts(const struct recheck *recheck, const char *key, const char *text,
                          struct shapeproof_value *others)
{
    struct sp_literals texts = {0};
    size_t count = 0;
    sp_literals_about(&texts, recheck->inference->best->table, key);
    for (size_t i = 0; i < texts.count; i++)
        if (strcmp(texts.list[i], text) != 0) add_other_value(others, &count, sp_value_string(texts.list[i]));
    const bool named = *text && (sp_literals_have(&texts, text) || sp_is_release(text));
    sp_literals_free(&texts);
    if (!named) add_other_value(others, &count, sp_value_string(ANOTHER_TEXT)); /* it stands for what has no name */
    return count;
}

/* The first or the last of those that are alike stands for them all. */
static bool stands_for_its_kind(struct shapeproof_value list, size_t place)
{
    bool before = false, behind = false;
    for (size_t i = 0; i < list.count; i++) {
        const bool alike = sp_values_equal(list.items[i], list.items[place]);
        before = before || (alike && i < place);
        behind = behind || (alike && i > place);
    }
    return !before || !behind;
}

/* Whether the item was rounded down: larger values may do as well. */
static bool is_rounded_item(const struct recheck *recheck, const char *key, size_t place)
{
    const char *path = sp_arena_printf(&recheck->inference->arena, "%s[%zu]", key, place);
    const struct sp_fact *item = sp_known_fact(&recheck->inference->best->outline.solver.known, path);
    return item && item->reason.rounded && item->value.type == SHAPEPROOF_VALUE_INT && item->value.integer < INT64_MAX;
}

/* At most three decimals, as people write numbers: of several reals that round to one size such a one is likely. */
static bool is_plain(double real) { return real * 1000 == round(real * 1000); }

/* Other factors in place of a real number: twice and half, a tenth more and less, and the reciprocal, since a factor
 * below 1 may also be one above it. One with more decimals than people write is changed by a millionth as well, because
 * it was computed from a rounded size. Returns how many were written to `others`. */
static size_t other_reals(double real, struct shapeproof_value *others)
{
    size_t count = 0;
    add_other_value(others, &count, sp_value_real(real * 2));
    add_other_value(others, &count, sp_value_real(real / 2));
    add_other_value(others, &count, sp_value_real(real + 0.1));
    if (real > 0.1) add_other_value(others, &count, sp_value_real(real - 0.1));
    if (real != 0 && real != 1) add_other_value(others, &count, sp_value_real(1 / real));
    if (!is_plain(real)) add_other_value(others, &count, sp_value_real(real * (1 + 1e-6)));
    return count;
}

/* Whether a tensor told the item of a list, by something else than trying. */
static bool is_told_item(const struct recheck *recheck, const char *key, size_t place)
{
    const char *path = sp_arena_printf(&recheck->inference->arena, "%s[%zu]", key, place);
    const struct sp_fact *item = sp_known_fact(&recheck->inference->best->outline.solver.known, path);
    return item && item->reason.kind != SP_REASON_NONE && item->reason.kind < SP_REASON_ONLY;
}

/* Other values for one item of a list; returns how many were written to `others`. An integer that a tensor told is only
 * changed if it was rounded, any other item only if it is the first or last of its like. */
static size_t other_items(const struct recheck *recheck, const char *key, struct shapeproof_value list, size_t place,
                          struct shapeproof_value *others)
{
    const struct shapeproof_value item = list.items[place];
    size_t count = 0;
    if (item.type == SHAPEPROOF_VALUE_INT && is_rounded_item(recheck, key, place))
        add_other_value(others, &count, sp_value_int(item.integer + 1));
    if (!stands_for_its_kind(list, place)) return count;
    if (item.type == SHAPEPROOF_VALUE_INT && !count && !is_told_item(recheck, key, place)) {
        if (item.integer < INT64_MAX) add_other_value(others, &count, sp_value_int(item.integer + 1));
        if (item.integer > 0) add_other_value(others, &count, sp_value_int(item.integer - 1));
    }
    if (item.type == SHAPEPROOF_VALUE_INT) return count;
    if (item.type == SHAPEPROOF_VALUE_STRING) return other_texts(recheck, key, item.string, others);
    return item.type == SHAPEPROOF_VALUE_REAL ? other_reals(item.real, others) : 0;
}

/* Adds the list with its first item one more and its second one less: [2, 4] -> [3, 3]. Where only the sum of the items
 * shows in a shape, that predicts the same. */
static void add_moved(const struct recheck *recheck, struct shapeproof_value list, struct shapeproof_value *others,
                      size_t *count)
{
    struct sp_arena *arena = &recheck->inference->arena;
    if (list.count < 2 || list.items[0].type != SHAPEPROOF_VALUE_INT || list.items[1].type != SHAPEPROOF_VALUE_INT ||
        list.items[1].integer < 2)
        return;
    const struct shapeproof_value more = sp_value_int(list.items[0].integer + 1),
                                  less = sp_value_int(list.items[1].integer - 1);
    const struct shapeproof_value moved = sp_value_list_with(arena, list, list.count, 0, more);
    add_other_value(others, count, sp_value_list_with(arena, moved, list.count, 1, less));
}

/* Other lists: with one item less, with one more, and with other values for single items. The longer one is left out if
 * the list is `closed`: its length is told, so that no item can follow. Returns how many were written to `others`. */
static size_t other_lists(const struct recheck *recheck, const char *key, struct shapeproof_value list, bool closed,
                          struct shapeproof_value *others)
{
    struct sp_arena *arena = &recheck->inference->arena;
    struct shapeproof_value items[SP_MOST_OTHER_VALUES];
    size_t count = 0, changed = 0;
    add_other_value(others, &count, sp_value_list_with(arena, list, list.count - 1, SIZE_MAX, list.items[0]));
    if (!closed)
        add_other_value(others, &count,
                        sp_value_list_with(arena, list, list.count + 1, list.count, list.items[list.count - 1]));
    add_moved(recheck, list, others, &count);
    for (size_t i = 0; i < list.count && changed < SP_MOST_ITEMS_CHANGED; i++) {
        const size_t named = other_items(recheck, key, list, i, items);
        for (size_t k = 0; k < named && count < SP_MOST_OTHER_VALUES / 2; k++)
            add_other_value(others, &count, sp_value_list_with(arena, list, list.count, i, items[k]));
        changed += named > 0;
    }
    return count;
}

/* Other integers in place of n: its neighbours, larger ones first, and 2n, with which quotients that round come out
 * differently. The second and third neighbours leave remainders by 2 and 3 as they are. Returns how many were written
 * to `others`. */
static size_t other_integers(int64_t n, struct shapeproof_value *others)
{
    enum { FURTHEST = 3 };
    size_t count = 0;
    for (int64_t by = 1; by <= FURTHEST; by++) {
        if (n <= INT64_MAX - by) add_other_value(others, &count, sp_value_int(n + by));
        if (n >= by) add_other_value(others, &count, sp_value_int(n - by));
    }
    if (n > FURTHEST && n < INT64_MAX / 2) add_other_value(others, &count, sp_value_int(2 * n));
    return count;
}

/* Values of the same type to try in place of this one; returns how many were written to `others`. For a flag the
 * opposite, for an empty list [0]. `closed`: see other_lists. */
static size_t other_values(const struct recheck *recheck, const char *key, struct shapeproof_value value, bool closed,
                           struct shapeproof_value *others)
{
    static const struct shapeproof_value zero = {.type = SHAPEPROOF_VALUE_INT};
    const struct shapeproof_value one_zero = {.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = &zero};
    size_t count = 0;
    switch (value.type) {
    case SHAPEPROOF_VALUE_BOOL:
        add_other_value(others, &count, sp_value_bool(!value.boolean));
        break;
    case SHAPEPROOF_VALUE_INT:
        return other_integers(value.integer, others);
    case SHAPEPROOF_VALUE_REAL:
        return other_reals(value.real, others);
    case SHAPEPROOF_VALUE_STRING:
        return other_texts(recheck, key, value.string, others);
    case SHAPEPROOF_VALUE_LIST:
        if (value.count) return other_lists(recheck, key, value, closed, others);
        add_other_value(others, &count, one_zero);
        break;
    default:
        break;
    }
    return count;
}

/* What the table predicts under another configuration, for the indices of the scope alone; NULL when that fails. */
static struct shapeproof_prediction *predict_in_scope(const struct recheck *recheck, struct shapeproof_config *config)
{
    const struct sp_attempt *best = recheck->inference->best;
    sp_config_limit(config, &recheck->scope);
    struct shapeproof_prediction *prediction = sp_attempt_predict(best, config);
    sp_config_limit(config, NULL);
    return prediction;
}

/* The configuration with that value for the key, and, unless `class` is NULL, with that class as well. */
static struct shapeproof_config *config_with(const struct recheck *recheck, const char *key,
                                             struct shapeproof_value value, const struct shapeproof_value *class)
{
    struct shapeproof_config *config = sp_config_variant(recheck->inference->best->config);
    sp_config_set_value(config, key, value, "recheck");
    if (class) sp_config_set_value(config, sp_unit_class_key(recheck->inference->best->table), *class, "recheck");
    return config;
}

/* Whether the prediction would explain less of the file with these (config_with). */
static bool would_differ(const struct recheck *recheck, const char *key, struct shapeproof_value value,
                         const struct shapeproof_value *class)
{
    struct shapeproof_config *config = config_with(recheck, key, value, class);
    struct shapeproof_prediction *prediction = predict_in_scope(recheck, config);
    const bool differs = !sp_prediction_does_as_well(prediction, recheck->prediction, recheck->inference->best);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return differs;
}

/* The same of an integer. Between two of them an index beyond the scope may decide: then all of it is predicted. */
static bool would_differ_at_all(const struct recheck *recheck, const char *key, struct shapeproof_value value)
{
    const struct sp_attempt *best = recheck->inference->best;
    if (would_differ(recheck, key, value, NULL)) return true;
    if (value.type != SHAPEPROOF_VALUE_INT) return false;
    struct shapeproof_config *config = config_with(recheck, key, value, NULL);
    struct shapeproof_prediction *prediction = sp_attempt_predict_within(best, config);
    const bool differs = !sp_prediction_does_as_well(prediction, best->prediction, best);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return differs;
}

/* The other classes that the table covers, as values of the key that names the class. In a config.json of transformers
 * that is `architectures`, a list of one text; in a table by class (sp_unit_is_by_class) it is a text, `value`. Returns
 * how many were written to `others`. */
static size_t other_classes(const struct recheck *recheck, struct shapeproof_value value,
                            struct shapeproof_value *others)
{
    struct sp_arena *arena = &recheck->inference->arena;
    const struct sp_attempt *best = recheck->inference->best;
    const char *own = value.type == SHAPEPROOF_VALUE_STRING ? value.string : best->class;
    const bool is_list = !sp_unit_is_by_class(best->table);
    size_t total = best->table->architecture_count, count = 0;
    const char *const *classes =
        is_list ? sp_classes_of(best->tables, best->table, &total) : (const char *const *)best->table->architectures;
    for (size_t i = 0; i < total; i++) {
        struct shapeproof_value *item = sp_arena_alloc(arena, sizeof *item);
        *item = sp_value_string(classes[i]);
        if (strcmp(classes[i], own) == 0) continue;
        add_other_value(others, &count,
                        is_list ? (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = item}
                                : *item);
    }
    return count;
}

/* Whether another class has the same tensors once a flag is changed as well, one on which no tensor depends under the
 * class itself: where a head is stored under LlavaModel alone, and tied under LlavaForConditionalGeneration. */
static bool is_equal_with_flag(const struct recheck *recheck, const struct shapeproof_value *classes, size_t count)
{
    const struct shapeproof_prediction *prediction = recheck->inference->best->prediction;
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *flag = shapeproof_prediction_hyperparameter(prediction, i);
        if (flag->value.type != SHAPEPROOF_VALUE_BOOL) continue;
        const struct shapeproof_value other = sp_value_bool(!flag->value.boolean);
        if (would_differ(recheck, flag->name, other, NULL)) continue;
        for (size_t k = 0; k < count; k++)
            if (!would_differ(recheck, flag->name, other, &classes[k])) return true;
    }
    return false;
}

/* How much of a value was told; all false when nothing was. */
struct telling {
    bool gaps;    /* of a list: some items were told and others not */
    bool partial; /* gaps; or only some members, `"all" in lhuc`, were told of a list or a text */
    bool whole;   /* every part of it was told, by something else than a guess */
    bool closed;  /* tensors told it, and so how long it is: not that no other value agrees with the file */
};

/* Whether every other value of the key that is tried predicts other tensors: then the value is determined. False as
 * well where no other value is known to try, and nothing told this one. */
static bool is_indispensable(const struct recheck *recheck, const char *key, struct shapeproof_value value,
                             struct telling telling)
{
    struct shapeproof_value others[SP_MOST_OTHER_VALUES];
    if (value.type == SHAPEPROOF_VALUE_LIST && (telling.gaps || (!value.count && !telling.closed))) return false;
    const bool named = strcmp(key, "architecture") == 0; /* a text like others: the table lists what it may be */
    size_t count = sp_is_class_key(key) && !named ? other_classes(recheck, value, others)
                                                  : other_values(recheck, key, value, telling.closed, others);
    if (telling.partial && value.type == SHAPEPROOF_VALUE_STRING && *value.string) /* the rest may be anything */
        add_other_value(others, &count, sp_value_string(""));
    bool differs = count > 0 || telling.whole || sp_is_class_key(key);
    for (size_t i = 1; sp_is_class_key(key) && i < recheck->inference->candidate_count; i++)
        if (recheck->inference->candidates[i].same) return false; /* another table, with other classes, does as well */
    for (size_t i = 0; i < count && differs; i++) differs = would_differ_at_all(recheck, key, others[i]);
    if (differs && sp_is_class_key(key) && !named) differs = !is_equal_with_flag(recheck, others, count);
    for (size_t i = 0; i < recheck->equal_class_count && differs && value.type == SHAPEPROOF_VALUE_BOOL; i++)
        differs = would_differ(recheck, key, others[0], &recheck->equal_classes[i]);
    return differs;
}

/* Finds the first classes that predict the same tensors as the best attempt's. Flags are tried under these as well,
 * since a flag may matter under one of them alone. */
static void find_equal_classes(struct recheck *recheck)
{
    const struct sp_attempt *best = recheck->inference->best;
    struct shapeproof_value others[SP_MOST_OTHER_VALUES];
    if (!*best->class) return;
    const size_t count = other_classes(recheck, sp_value_absent(""), others);
    for (size_t i = 0; i < count && recheck->equal_class_count < SP_MOST_EQUAL_CLASSES; i++)
        if (!would_differ(recheck, sp_unit_class_key(best->table), others[i], NULL))
            recheck->equal_classes[recheck->equal_class_count++] = others[i];
}

/* Inserts the index into recheck->indices, in order and once; leaves out those that are too high or too many. */
static void see_index(struct recheck *recheck, size_t *count, int64_t index)
{
    size_t place = *count;
    if (index < 0 || index > SP_HIGHEST_SEEN_INDEX || *count == SP_MOST_SEEN_INDICES) return;
    while (place && recheck->indices[place - 1] > index) place--;
    if (place && recheck->indices[place - 1] == index) return;
    memmove(&recheck->indices[place + 1], &recheck->indices[place], (*count - place) * sizeof *recheck->indices);
    recheck->indices[place] = index;
    ++*count;
}

/* Chooses the indices of loops that are predicted when other values are tried: the first ones; and for each number n
 * among the hyper-parameters, which may count layers or experts, n - 1 and n. */
static void choose_scope_indices(struct recheck *recheck)
{
    const struct shapeproof_prediction *prediction = recheck->inference->best->prediction;
    size_t count = 0;
    for (int64_t i = 0; i < SP_FIRST_SEEN_INDICES; i++) see_index(recheck, &count, i);
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_value value = shapeproof_prediction_hyperparameter(prediction, i)->value;
        if (value.type != SHAPEPROOF_VALUE_INT && value.type != SHAPEPROOF_VALUE_LIST) continue;
        const int64_t behind = value.type == SHAPEPROOF_VALUE_INT ? value.integer : (int64_t)value.count;
        see_index(recheck, &count, behind - 1);
        see_index(recheck, &count, behind);
    }
    recheck->scope = (struct sp_scope){recheck->indices, count, 100000};
}

/* ---- the verdict on each ---- */

/* Whether only the length of a list was told, and no item. */
static bool is_counted(const struct sp_fact *fact) { return !fact->item_count && fact->length != SIZE_MAX; }

/* Whether a list has items that nothing told. They are set to the value of a neighbour. */
static bool has_gaps(const struct recheck *recheck, const struct sp_fact *fact)
{
    bool gaps = fact->item_count && fact->length != SIZE_MAX && fact->length > fact->item_count;
    for (size_t i = 0; i < fact->item_count && !gaps; i++) {
        const char *path = sp_arena_printf(&recheck->inference->arena, "%s[%zu]", fact->path, i);
        const struct sp_fact *item = sp_known_fact(&recheck->inference->best->outline.solver.known, path);
        gaps = !item || item->reason.kind == SP_REASON_NONE;
    }
    return gaps;
}

/* Whether only members were told of a list, or of one of its items: it may have others. */
static bool has_members(const struct recheck *recheck, const struct sp_fact *fact)
{
    bool members = fact->members != NULL;
    for (size_t i = 0; i < fact->item_count && !members; i++) {
        const char *path = sp_arena_printf(&recheck->inference->arena, "%s[%zu]", fact->path, i);
        const struct sp_fact *item = sp_known_fact(&recheck->inference->best->outline.solver.known, path);
        members = item && item->members;
    }
    return members;
}

/* How much of a value was told; `fact` NULL: nothing. */
static struct telling telling_of(const struct recheck *recheck, const struct sp_fact *fact)
{
    if (!fact) return (struct telling){.partial = false};
    const bool gaps = !fact->objects && has_gaps(recheck, fact), members = has_members(recheck, fact);
    return (struct telling){.gaps = gaps,
                            .partial = gaps || members,
                            .whole = !gaps && !members && fact->reason.kind != SP_REASON_NONE &&
                                     fact->reason.kind != SP_REASON_GUESS,
                            .closed = fact->reason.kind != SP_REASON_ONLY && fact->reason.kind != SP_REASON_REQUIRED};
}

/* Whether a number was told, or items that it stands for; and not only that the key is not set. */
static bool is_number_told(const struct sp_fact *fact)
{
    return sp_value_is_number(fact->value) || (fact->value.type == SHAPEPROOF_VALUE_UNKNOWN && fact->item_count);
}

/* Whether the number is a dimension of a fused tensor, or half of it (sp_known_settle_exactly). Trying others would not
 * tell: the parts of such a tensor are not there. */
static bool is_of_fused(const struct sp_fact *fact)
{
    return fact && fact->reason.kind == SP_REASON_ONLY && !fact->reason.rounded &&
           fact->value.type == SHAPEPROOF_VALUE_INT;
}

/* Whether the evidence for a value agrees with no other one: an integer that one dimension gives, exactly, in a file
 * that is explained as a whole. A text may be any but some, the end of a list may not show, a real number is rounded,
 * and loops that are too long or too short may look alike. */
static bool is_beyond_doubt(const struct recheck *recheck, const struct shapeproof_inferred *inferred,
                            const struct sp_fact *fact)
{
    if (!sp_attempt_explains_all(recheck->inference->best) || inferred->value.type != SHAPEPROOF_VALUE_INT || !fact)
        return false;
    const bool is_exact = fact->reason.kind == SP_REASON_DIMENSION && !fact->reason.rounded && is_number_told(fact);
    return is_exact || is_of_fused(fact);
}

/* Whether it is shown that other values will not do, if none will that is tried. Of flags, texts and classes all are
 * tried. Of numbers and lists only some are: for these something must have told the value, not only that it is not set,
 * nor a bound of it. Without some shards nothing is shown by what is not there. */
static bool is_shown(const struct recheck *recheck, const struct shapeproof_inferred *inferred,
                     const struct sp_fact *fact)
{
    const enum shapeproof_value_type type = inferred->value.type;
    const bool is_list = type == SHAPEPROOF_VALUE_LIST || type == SHAPEPROOF_VALUE_OBJECT;
    const bool is_tried = !fact || fact->reason.kind == SP_REASON_NONE || fact->reason.kind >= SP_REASON_ONLY;
    const bool by_absence = is_tried || fact->reason.kind == SP_REASON_MISSING;
    if (recheck->inference->lacks_shards && by_absence) return false;
    if (sp_is_class_key(inferred->name) || (!sp_value_is_number(inferred->value) && !is_list)) return true;
    if (is_tried && !is_of_fused(fact)) return false;
    if (type == SHAPEPROOF_VALUE_INT && fact->reason.bound && inferred->value.integer) return false;
    return is_list || is_number_told(fact);
}

/* Whether the value counts layers in a file that has only a piece of a model: the model may have more. */
static bool is_count_of_piece(const struct recheck *recheck, const struct sp_fact *fact)
{
    return fact->reason.kind == SP_REASON_INDICES &&
           (recheck->inference->lacks_shards || sp_attempt_is_piece(recheck->inference->best));
}

/* Whether the value is a release, "4.38.0". Tables only compare releases with a bound, so that others do as well. */
static bool is_release_text(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_STRING && *value.string && !value.string[strspn(value.string, "0123456789.")];
}

static void set_determined(struct shapeproof_inferred *inferred, const char *why)
{
    inferred->determined = true;
    inferred->because = why;
}

static void set_undetermined(struct shapeproof_inferred *inferred, const char *why)
{
    inferred->determined = false;
    inferred->because = why;
}

/* Whether any other value of the key that is tried predicts other tensors. */
static bool is_depended_on(const struct recheck *recheck, const char *key, struct shapeproof_value value)
{
    struct shapeproof_value others[SP_MOST_OTHER_VALUES];
    const size_t count = other_values(recheck, key, value, false, others);
    bool differs = false;
    for (size_t i = 0; i < count && !differs; i++) differs = would_differ(recheck, key, others[i], NULL);
    return differs;
}

/* The words for a value in whose place another one predicts the same tensors. `fact`: what told it, or NULL; `reason`:
 * the same in words, or "". */
static const char *why_not_needed(const struct recheck *recheck, const struct shapeproof_inferred *inferred,
                                  const struct sp_fact *fact, const char *reason)
{
    struct sp_arena *arena = &recheck->inference->arena;
    const struct shapeproof_value value = inferred->value;
    const bool is_integer = value.type == SHAPEPROOF_VALUE_INT && value.integer < INT64_MAX;
    if (fact && fact->reason.rounded &&
        (!is_integer || !would_differ(recheck, inferred->name, sp_value_int(value.integer + 1), NULL)))
        return "it is rounded down: larger values would do as well";
    if (sp_is_class_key(inferred->name)) return "other classes have the same tensors";
    const bool is_default = !fact || fact->value.type == SHAPEPROOF_VALUE_ABSENT;
    if (!*reason && !is_depended_on(recheck, inferred->name, value)) return SP_WITHOUT_EFFECT;
    if (!*reason || fact->reason.kind == SP_REASON_ONLY)
        return is_default ? "other values would do as well, this one is the default" : "other values would do as well";
    if (value.type == SHAPEPROOF_VALUE_BOOL || value.type == SHAPEPROOF_VALUE_INT)
        return sp_arena_printf(arena, "%s, but other values may do as well", reason);
    return sp_arena_printf(arena, "%s, which determines a part of it", reason);
}

/* Judges a value by whether another one would predict other tensors; `fact` and `reason` as above. */
static void judge_needed(const struct recheck *recheck, struct shapeproof_inferred *inferred,
                         const struct sp_fact *fact, const char *reason)
{
    const struct telling telling = telling_of(recheck, fact);
    const bool certain = !telling.partial && is_beyond_doubt(recheck, inferred, fact);
    const bool needed = certain || is_indispensable(recheck, inferred->name, inferred->value, telling);
    if (!needed) set_undetermined(inferred, why_not_needed(recheck, inferred, fact, reason));
    else if (is_shown(recheck, inferred, fact)) set_determined(inferred, *reason ? reason : only);
    else if (*reason && fact->reason.kind != SP_REASON_ONLY)
        set_undetermined(inferred,
                         sp_arena_printf(&recheck->inference->arena, "%s, but other values may do as well", reason));
    else set_undetermined(inferred, "no other value that was tried agrees with the file");
}

/* Whether the value is a model_type that follows from the class (sp_solver_tell_class). */
static bool is_told_by_class(const struct sp_fact *fact, const struct shapeproof_inferred *inferred)
{
    return fact && fact->reason.kind == SP_REASON_NONE && fact->value.type == SHAPEPROOF_VALUE_STRING &&
           strcmp(inferred->name, "model_type") == 0;
}

/* The words for a value that was guessed. */
static const char *why_guessed(const struct recheck *recheck, const struct sp_fact *fact)
{
    const struct sp_known *known = &recheck->inference->best->outline.solver.known;
    const bool is_own = fact->guess && strcmp(known->guessed[fact->guess], fact->path) == 0;
    if (is_own && known->others[fact->guess] && fact->value.type == SHAPEPROOF_VALUE_INT)
        return sp_arena_printf(&recheck->inference->arena, "%s would do as well, this one is usual",
                               known->others[fact->guess]);
    if (sp_value_is_set(fact->value)) return "other values would do as well, this one is usual";
    if (fact->item_count) return "other values may do as well"; /* a list, item by item */
    return "other values would do as well, this one is the default";
}

/* Whether a value is determined, and why. In order: releases and types that the file cannot tell apart; values that
 * were guessed; values that follow from a guess; loops that end with the last tensor that is there; values that the
 * metadata state; lists of which only the length is told; layers of a piece of a model; all others are tried against
 * other values (judge_needed). */
static void judge_inferred(const struct recheck *recheck, struct shapeproof_inferred *inferred)
{
    struct sp_arena *arena = &recheck->inference->arena;
    const struct sp_known *known = &recheck->inference->best->outline.solver.known;
    const struct sp_fact *fact = sp_known_fact(known, inferred->name);
    const bool told = fact && fact->reason.kind != SP_REASON_NONE;
    const bool guessed = told && fact->reason.kind == SP_REASON_GUESS;
    /* From a guess, or from a supposition that another value could replace. One that no other value can replace is as
     * good as told. */
    const bool follows = told && fact->guess && (fact->guess > known->supposed || recheck->doubtful[fact->guess]);
    const char *reason = told ? because(recheck, &fact->reason) : "";
    if (is_release_text(inferred->value)) set_undetermined(inferred, "other releases would do as well");
    else if (is_told_by_class(fact, inferred)) set_undetermined(inferred, "other classes have the same tensors");
    else if (guessed && follows) set_undetermined(inferred, why_guessed(recheck, fact));
    else if (follows && strcmp(known->guessed[fact->guess], inferred->name) == 0)
        set_undetermined(inferred, sp_arena_printf(arena, "%s, but other values may do as well", reason));
    else if (follows)
        set_undetermined(inferred, sp_arena_printf(arena, "%s, if %s is right", reason, known->guessed[fact->guess]));
    else if (told && fact->reason.kind == SP_REASON_LAST) set_undetermined(inferred, reason);
    else if (told && fact->reason.kind == SP_REASON_STATED) set_determined(inferred, reason);
    else if (told && is_counted(fact))
        set_undetermined(inferred, *reason ? sp_arena_printf(arena, "%s, which only count the items", reason)
                                           : "other values may do as well");
    else if (told && is_count_of_piece(recheck, fact))
        set_undetermined(inferred, sp_arena_printf(arena, "%s, of which there may be more", reason));
    else judge_needed(recheck, inferred, told ? fact : NULL, reason);
}

/* Whether the key only chooses between names, tables or classes, and no sizes follow from it. */
static bool is_choice_of_names(const char *key, struct shapeproof_value value)
{
    return is_release_text(value) || sp_is_choice_of_table(key);
}

/* Finds the suppositions that another value could replace. Of these no following value is determined. */
static void find_doubtful(struct recheck *recheck)
{
    const struct sp_known *known = &recheck->inference->best->outline.solver.known;
    const struct shapeproof_prediction *prediction = recheck->inference->best->prediction;
    recheck->doubtful = sp_arena_array(&recheck->inference->arena, known->supposed + 1, sizeof *recheck->doubtful);
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction) && known->supposed; i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        for (size_t k = known->supposed; k; k--)
            if (strcmp(hyper->name, known->guessed[k]) == 0 && !is_choice_of_names(hyper->name, hyper->value))
                recheck->doubtful[k] =
                    !is_indispensable(recheck, hyper->name, hyper->value, (struct telling){.partial = false});
    }
}

/* Whether the table itself gives the value, to a table that it uses: then the file need not determine it. */
static bool is_given_by_table(struct shapeproof_hyperparameter hyper)
{
    return hyper.from.source == SHAPEPROOF_SOURCE_TABLE;
}

/* A value of `architectures`: ["BertForMaskedLM"]. */
static struct shapeproof_value list_of_class(struct sp_arena *arena, const char *class)
{
    struct shapeproof_value *item = sp_arena_alloc(arena, sizeof *item);
    *item = sp_value_string(class);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = item};
}

/* Whether the class predicts the same tensors as the best attempt's. `context`: a recheck. */
static bool is_equal_class(const void *context, const char *class)
{
    const struct recheck *recheck = context;
    return !would_differ(recheck, "architectures", list_of_class(&recheck->inference->arena, class), NULL);
}

/* Replaces the class by the one that transformers has today, if the table knows several names of it. */
static void choose_class_of_today(const struct recheck *recheck)
{
    struct sp_attempt *best = recheck->inference->best;
    if (!*best->class || sp_unit_is_by_class(best->table)) return;
    const char *class = sp_class_today(best->tables, best->table, best->class, is_equal_class, recheck);
    if (strcmp(class, best->class) == 0) return;
    best->class = class;
    sp_config_set_value(best->config, "architectures", list_of_class(&recheck->inference->arena, class), "inferred");
}

void sp_determine(struct shapeproof_inference *inference)
{
    const struct shapeproof_prediction *prediction = inference->best->prediction;
    const size_t count = shapeproof_prediction_hyperparameter_count(prediction);
    struct recheck recheck = {.inference = inference};
    inference->inferred = sp_arena_array(&inference->arena, count, sizeof *inference->inferred);
    choose_scope_indices(&recheck);
    recheck.prediction = predict_in_scope(&recheck, inference->best->config);
    choose_class_of_today(&recheck);
    find_equal_classes(&recheck);
    find_doubtful(&recheck);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(prediction, i);
        if (is_given_by_table(hyper)) continue;
        struct shapeproof_inferred *inferred = &inference->inferred[inference->inferred_count++];
        *inferred = (struct shapeproof_inferred){.name = hyper.name, .value = hyper.value};
        if (strcmp(hyper.name, "architectures") == 0 && hyper.value.type == SHAPEPROOF_VALUE_LIST &&
            *inference->best->class)
            inferred->value = list_of_class(&inference->arena, inference->best->class);
        judge_inferred(&recheck, inferred);
    }
    shapeproof_prediction_free(recheck.prediction);
}
