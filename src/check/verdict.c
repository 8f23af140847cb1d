/* SPDX-License-Identifier: MIT
 * The verdict, and its reason in one line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

/* ---- what agrees ---- */

/* Whether an earlier tensor of the file with the same storage is predicted, too. */
static bool is_counted_before(const struct shapeproof_check *check, size_t tensor)
{
    const size_t same = shapeproof_inventory_tensor(check->inventory, tensor)->same_as;
    return same != SHAPEPROOF_NONE && check->match.predicted_of[same] != SHAPEPROOF_NONE;
}

/* "; wte.weight is stored as lm_head.weight" if the file has another tensor of a tie than the first, which may look
 * lost. "" if there is no such tie, or if the texts `said` and `more` name one of the two tensors already. */
static const char *other_of_ties(struct shapeproof_check *check, const char *said, const char *more)
{
    const struct sp_match *match = &check->match;
    size_t first = SHAPEPROOF_NONE, count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        if (predicted->same_as != SHAPEPROOF_NONE || predicted->optional || match->tensor_of[i] != SHAPEPROOF_NONE ||
            sp_match_partner(match, i) == SHAPEPROOF_NONE)
            continue;
        if (!count++) first = i;
    }
    if (!count) return "";
    const char *name = shapeproof_prediction_tensor(check->prediction, first)->name;
    const size_t partner = match->tensor_of[sp_match_partner(match, first)];
    const char *stored = shapeproof_inventory_tensor(check->inventory, partner)->name;
    if (strstr(said, name) || strstr(said, stored) || strstr(more, name) || strstr(more, stored)) return "";
    return sp_arena_printf(&check->arena, "; %s is stored as %s%s", name, stored,
                           count > 1 ? sp_arena_printf(&check->arena, ", and %zu more so", count - 1) : "");
}

/* "all 148 tensors, 124,439,808 elements; 1 expected difference". A tensor that shares the storage of another one
 * is not counted again. */
static const char *matching_summary(struct shapeproof_check *check)
{
    uint64_t elements = 0;
    size_t tensors = 0, expected = 0;
    struct sp_text text = {0};
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        if (check->match.predicted_of[i] == SHAPEPROOF_NONE) continue;
        tensors++;
        if (!is_counted_before(check, i)) elements += tensor->parameters; /* at most the inventory's total */
    }
    for (size_t i = 0; i < check->finding_count; i++) expected += check->findings[i].reason != NULL;
    sp_text_printf(&text, "all %s, ", sp_count_of(&check->arena, tensors, "tensor"));
    sp_text_grouped(&text, elements);
    sp_text_puts(&text, elements == 1 ? " element" : " elements");
    if (check->quantisation.method) {
        sp_text_puts(&text, " for ");
        sp_text_grouped(&text, check->counts.logical);
        sp_text_puts(&text, " parameters");
    }
    if (expected) sp_text_printf(&text, "; %s", sp_count_of(&check->arena, expected, "expected difference"));
    sp_text_puts(&text, other_of_ties(check, "", ""));
    return sp_text_keep(&text, &check->arena);
}

/* ---- in a line ---- */

/* Of more bytes than that, those before a word, where a sentence ends if it can be. */
static const char *shortened(struct sp_arena *arena, const char *text, size_t most)
{
    static const char dots[] = " ...";
    size_t sentence = 0, word = 0;
    if (strlen(text) <= most) return text;
    for (size_t i = 1; i + sizeof dots <= most; i++) {
        if (text[i] == ' ') word = i;
        if (text[i] == ' ' && text[i - 1] == ';') sentence = i;
    }
    return sp_arena_printf(arena, "%.*s%s", (int)(sentence * 2 > most ? sentence : word), text, dots);
}

/* ---- findings without a cause ---- */

struct kind {
    enum shapeproof_finding_kind kind;
    const char *says, *plural;
    size_t count;
    const struct shapeproof_finding *first;
};

static bool open_of_kind(const struct shapeproof_finding *finding, const void *kind)
{
    return sp_finding_is_open_as(finding, *(const enum shapeproof_finding_kind *)kind);
}

static int by_count(const void *left, const void *right)
{
    const struct kind *a = left, *b = right;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return a->kind < b->kind ? -1 : a->kind > b->kind;
}

/* "3 tensors are missing: a.{0-2}.b"; a single one is said in its own words. */
static void put_open_kind(struct shapeproof_check *check, struct sp_text *text, const struct kind *kind)
{
    if (kind->count == 1) sp_text_printf(text, "%s %s", kind->first->name, kind->first->message);
    else
        sp_text_printf(text, "%zu tensors %s: %s", kind->count, kind->plural,
                       sp_check_names(check, open_of_kind, &kind->kind));
}

/* The findings without a cause in words: the kind that is most frequent with names, the others with their numbers. "3
 * tensors are missing: a.{0-2}.b; 1 has another shape". */
static const char *open_summary(struct shapeproof_check *check)
{
    struct kind kinds[] = {
        {SHAPEPROOF_FINDING_MISSING, "is missing", "are missing", 0, NULL},
        {SHAPEPROOF_FINDING_UNEXPECTED, "is unexpected", "are unexpected", 0, NULL},
        {SHAPEPROOF_FINDING_SHAPE, "has another shape", "have another shape", 0, NULL},
        {SHAPEPROOF_FINDING_DTYPE, "has another dtype", "have another dtype", 0, NULL},
        {SHAPEPROOF_FINDING_UNUSED, "is expected and was not found", "are expected and were not found", 0, NULL},
        {SHAPEPROOF_FINDING_EXPIRED, "was expected until a day that is past", "were expected until a day that is past",
         0, NULL},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct sp_text text = {0};
    for (size_t i = 0; i < check->finding_count; i++)
        for (size_t k = 0; k < KINDS; k++)
            if (open_of_kind(&check->findings[i], &kinds[k].kind) && !kinds[k].count++)
                kinds[k].first = &check->findings[i];
    qsort(kinds, KINDS, sizeof *kinds, by_count);
    put_open_kind(check, &text, &kinds[0]);
    for (size_t k = 1; k < KINDS && kinds[k].count; k++) {
        if (kinds[k].count == 1 && kinds[0].count == 1)
            sp_text_printf(&text, "; %s %s", kinds[k].first->name, kinds[k].first->message);
        else sp_text_printf(&text, "; %zu %s", kinds[k].count, kinds[k].count == 1 ? kinds[k].says : kinds[k].plural);
    }
    return sp_text_keep(&text, &check->arena);
}

/* ---- causes ---- */

/* No difference that is harmless, and none that is known to do harm. */
static bool is_untold(const struct shapeproof_cause *cause)
{
    return cause->untold && cause->severity != SHAPEPROOF_SEVERITY_NOTE;
}

struct ranked {
    const struct shapeproof_cause *cause;
    size_t place; /* before sorting */
};

static int by_weight(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->cause->severity != b->cause->severity) return a->cause->severity > b->cause->severity ? -1 : 1;
    if (is_untold(a->cause) != is_untold(b->cause)) return is_untold(a->cause) ? -1 : 1;
    if (a->cause->explains != b->cause->explains) return a->cause->explains > b->cause->explains ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

void sp_check_order_causes(struct shapeproof_check *check, const size_t *order, size_t count)
{
    struct shapeproof_cause *causes = sp_realloc(NULL, count, sizeof *causes);
    size_t *place = sp_realloc(NULL, check->cause_count, sizeof *place);
    for (size_t i = 0; i < count; i++) {
        causes[i] = check->causes[order[i]];
        place[order[i]] = i;
    }
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].cause != SHAPEPROOF_NONE) check->findings[i].cause = place[check->findings[i].cause];
    sp_free(check->causes);
    sp_free(place);
    check->causes = causes;
    check->cause_count = check->cause_capacity = count;
}

/* The worst first, of those that are as bad what cannot be told, and then the one that explains the most. */
static void sort_causes(struct shapeproof_check *check)
{
    const size_t count = check->cause_count;
    struct ranked *ranked = sp_realloc(NULL, count, sizeof *ranked);
    size_t *order = sp_realloc(NULL, count, sizeof *order);
    for (size_t i = 0; i < count; i++) ranked[i] = (struct ranked){&check->causes[i], i};
    if (count) qsort(ranked, count, sizeof *ranked, by_weight);
    for (size_t i = 0; i < count; i++) order[i] = ranked[i].place;
    sp_check_order_causes(check, order, count);
    sp_free(order);
    sp_free(ranked);
}

/* Whether the file would match without it: it is more than a note, or explains what would be an error. */
static bool decides(const struct shapeproof_check *check, size_t cause)
{
    if (check->causes[cause].severity != SHAPEPROOF_SEVERITY_NOTE) return true;
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].cause == cause && check->findings[i].severity == SHAPEPROOF_SEVERITY_ERROR) return true;
    return false;
}

/* Those behind the worst that are as bad: another one in its words, or, without the room for them, by its key. */
static const char *others_said(struct shapeproof_check *check, size_t worst, size_t room)
{
    size_t others = 0, other = worst;
    for (size_t i = worst + 1; i < check->cause_count; i++) {
        if (check->causes[i].severity != check->causes[worst].severity || !decides(check, i)) continue;
        if (!others++) other = i;
    }
    const struct shapeproof_cause *second = &check->causes[other];
    if (!others) return "";
    if (others == 1 && strlen(check->causes[worst].message) + strlen(second->message) < room)
        return sp_arena_printf(&check->arena, "; %s", second->message);
    const char *key = others == 1 && second->hyperparameter ? sp_key_said(check, second->hyperparameter) : "";
    return sp_arena_printf(&check->arena, "; and %s%s%s%s", sp_count_of(&check->arena, others, "other cause"),
                           *key ? " (" : "", key, *key ? ")" : "");
}

/* The worst cause in its words, others that are as bad, and the number of findings that none explains. */
static const char *cause_summary(struct shapeproof_check *check, size_t worst, size_t open, size_t room)
{
    const char *first = check->causes[worst].message, *rest = "";
    if (open)
        rest =
            sp_arena_printf(&check->arena, "; %s without a known cause", sp_count_of(&check->arena, open, "finding"));
    const char *more = others_said(check, worst, room - strlen(rest));
    if (check->verdict != SHAPEPROOF_VERDICT_DIFFERS && !open) {
        rest = sp_arena_printf(&check->arena, "%s%s", other_of_ties(check, first, more),
                               *more ? "" : "; nothing else differs");
        if (strlen(first) + strlen(more) + strlen(rest) > room) rest = "";
    }
    return sp_arena_printf(&check->arena, "%s%s%s", shortened(&check->arena, first, room - strlen(more) - strlen(rest)),
                           more, rest);
}

static const char *say_verdict(struct shapeproof_check *check, size_t worst, size_t open, size_t room)
{
    if (check->verdict == SHAPEPROOF_VERDICT_MATCH) return matching_summary(check);
    const bool wrong = worst < check->cause_count && check->causes[worst].severity == SHAPEPROOF_SEVERITY_ERROR;
    if (wrong || !open) return cause_summary(check, worst, open, room);
    return shortened(&check->arena, open_summary(check), room);
}

void sp_decide(struct shapeproof_check *check)
{
    enum { ROOM_IN_A_LINE = 148, ALL_ROOM = 1 << 30 };
    const size_t open = sp_check_open(check);
    size_t worst = 0;
    sort_causes(check);
    while (worst < check->cause_count && !decides(check, worst)) worst++;
    const bool any = worst < check->cause_count;
    const bool wrong = any && check->causes[worst].severity == SHAPEPROOF_SEVERITY_ERROR;
    check->verdict = open || wrong                      ? SHAPEPROOF_VERDICT_DIFFERS
                     : !any                             ? SHAPEPROOF_VERDICT_MATCH
                     : is_untold(&check->causes[worst]) ? SHAPEPROOF_VERDICT_UNKNOWN
                                                        : SHAPEPROOF_VERDICT_EXPLAINED;
    check->summary = say_verdict(check, worst, open, ALL_ROOM);
    check->headline = say_verdict(check, worst, open, ROOM_IN_A_LINE);
}
