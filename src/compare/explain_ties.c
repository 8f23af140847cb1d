/* SPDX-License-Identifier: MIT
 * Tied tensors that are stored all the same, and tensors that share a storage although nothing ties them. */
#include <stdlib.h>
#include <string.h>

#include "compare/check.h"
#include "lang/prediction.h"

/* ---- tied, and stored all the same ---- */

/* The hyper-parameter, or expression, that ties the tensor; NULL when it is always tied. */
static const char *tie_condition(struct sp_check *check, size_t predicted)
{
    const struct sp_origin *origin = &check->prediction->origins[predicted];
    const struct sp_env env = {.frame = origin->frame, .section = origin->section};
    struct sp_text text = {0};
    if (!origin->row->tie_condition) return NULL;
    sp_describe(&text, &env, origin->row->tie_condition);
    const char *kept = sp_arena_copy(&check->arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

/* A cause gathers all tensors that are tied to one partner in one way. */
struct tie {
    size_t partner, cause;
    bool shared;
    const char *condition;
};

static bool same_tie(const struct tie *a, const struct tie *b)
{
    if (a->partner != b->partner || a->shared != b->shared || !a->condition != !b->condition) return false;
    return !a->condition || strcmp(a->condition, b->condition) == 0;
}

/* "tie_word_embeddings is true by default"; the cause gets the hyper-parameter when it is one. */
static const char *said(struct sp_check *check, const char *condition, struct sp_cause *cause)
{
    const size_t key = sp_find_hyperparameter(check->prediction, condition);
    if (key == SP_NONE) return condition;
    const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(check->prediction, key);
    cause->hyperparameter = hyper.name;
    cause->configured = hyper.value;
    return sp_arena_printf(&check->arena, "%s is %s %s", hyper.name, hyper.value, sp_said_where(check, hyper.from));
}

static const char *why_tied(struct sp_check *check, const char *condition, struct sp_cause *cause)
{
    return condition ? sp_arena_printf(&check->arena, " (%s)", said(check, condition, cause)) : "";
}

static void describe_tie(struct sp_check *check, const struct tie *tie)
{
    struct sp_cause *cause = &check->causes[tie->cause];
    const bool one = cause->explains == 1;
    const char *names = sp_check_names(check, sp_explained_by, &tie->cause);
    const char *partner = sp_inventory_tensor(check->inventory, check->match.tensor_of[tie->partner])->name;
    const char *why = why_tied(check, tie->condition, cause);
    if (tie->shared)
        cause->message = sp_arena_printf(&check->arena, "%s %s the storage of %s, as %s should%s", names,
                                         one ? "shares" : "share", partner, one ? "it" : "they", why);
    else
        cause->message = sp_arena_printf(&check->arena, "%s %s stored although %s tied to %s%s", names,
                                         one ? "is" : "are", one ? "it is" : "they are", partner, why);
}

/* The tie that the finding belongs to: a known one, or a new one with its cause. */
static size_t tie_of(struct sp_check *check, const struct sp_finding *finding, struct tie **ties, size_t *count,
                     size_t *capacity)
{
    const size_t partner = sp_match_partner(&check->match, finding->predicted);
    struct tie tie = {.partner = partner,
                      .shared = sp_match_shares(&check->match, finding->predicted, partner),
                      .condition = tie_condition(check, finding->predicted)};
    for (size_t i = *count; i-- > 0 && *count - i <= 8;) /* the last few: what is alike stands together */
        if (same_tie(&(*ties)[i], &tie)) return i;
    tie.cause =
        sp_check_add_cause(check, (struct sp_cause){.id = tie.shared ? "tied" : "tied-copy",
                                                    .severity = tie.shared ? SP_SEVERITY_NOTE : SP_SEVERITY_WARNING});
    SP_GROW(*ties, *count, *capacity);
    (*ties)[*count] = tie;
    return (*count)++;
}

void sp_explain_ties(struct sp_check *check)
{
    struct tie *ties = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (strcmp(check->findings[i].id, "tied-present") != 0) continue;
        const size_t tie = tie_of(check, &check->findings[i], &ties, &count, &capacity);
        sp_check_explain(check, i, ties[tie].cause);
    }
    for (size_t i = 0; i < count; i++) describe_tie(check, &ties[i]);
    free(ties);
}

/* ---- not tied, and of one storage all the same ---- */

/* Buffers may be shared: they are not trained. */
static bool is_parameter(const struct sp_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    return predicted != SP_NONE && !sp_prediction_tensor(check->prediction, predicted)->buffer;
}

static bool is_tied(const struct sp_check *check, size_t tensor)
{
    return sp_match_partner(&check->match, check->match.predicted_of[tensor]) != SP_NONE;
}

/* "although tie_word_embeddings is false in config.json", when that would have tied one of the two. */
static const char *why_not(struct sp_check *check, size_t tensor, size_t alike, struct sp_cause *cause)
{
    const char *condition = tie_condition(check, check->match.predicted_of[tensor]);
    if (!condition) condition = tie_condition(check, check->match.predicted_of[alike]);
    if (!condition) return "nothing ties them";
    if (sp_find_hyperparameter(check->prediction, condition) != SP_NONE) return said(check, condition, cause);
    return sp_arena_printf(&check->arena, "it is not so that %s", condition);
}

void sp_explain_sharing(struct sp_check *check)
{
    const size_t total = sp_inventory_count(check->inventory);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    struct sp_cause cause = {.id = "shared", .severity = SP_SEVERITY_WARNING};
    for (size_t i = 0; i < total; i++) {
        const size_t alike = sp_inventory_tensor(check->inventory, i)->same_as;
        if (alike == SP_NONE || !is_parameter(check, i) || !is_parameter(check, alike)) continue;
        if (is_tied(check, i) || is_tied(check, alike)) continue;
        names[cause.explains++] = sp_inventory_tensor(check->inventory, i)->name;
        if (cause.explains == 1)
            cause.message =
                sp_arena_printf(&check->arena, "%s shares the storage of %s although %s", names[0],
                                sp_inventory_tensor(check->inventory, alike)->name, why_not(check, i, alike, &cause));
    }
    if (cause.explains > 1)
        cause.message = sp_arena_printf(&check->arena, "%s share their storage with others although nothing ties them",
                                        sp_some_names(&check->arena, names, cause.explains));
    if (cause.explains) sp_check_add_cause(check, cause);
    free(names);
}
