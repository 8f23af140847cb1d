/* SPDX-License-Identifier: MIT
 * The search told to the caller's watch: each step, each attempt with its values, and at the end what every attempt
 * loses by. */
#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"
#include "infer/search.h"
#include "names/naming_schemes.h"

void sp_trace_step(struct sp_infer_search *search, enum sp_step_level level, const char *what)
{
    search->untold_steps[level] = what;
    for (size_t inner = level + 1; inner < SP_STEP_LEVELS; inner++) search->untold_steps[inner] = NULL;
}

/* The headings of what follows, each once. */
static void trace_heading(struct sp_infer_search *search)
{
    static const char *const names[SP_STEP_LEVELS] = {
        [SP_LEVEL_FILE] = "file", [SP_LEVEL_VIEW] = "view", [SP_LEVEL_CANDIDATES] = "candidates"};
    for (size_t level = 0; level < SP_STEP_LEVELS; level++) {
        if (search->untold_steps[level]) sp_trace(search->watch, "%s: %s", names[level], search->untold_steps[level]);
        search->untold_steps[level] = NULL;
    }
}

/* "without 'model.'", "as it is": what is done to the names of the view. */
static const char *describe_naming(struct sp_arena *arena, const struct sp_naming *naming)
{
    struct sp_text text = {0};
    if (naming->scheme) sp_text_printf(&text, "translated from those %s, ", naming->scheme->says);
    if (*naming->strip) sp_text_printf(&text, "without '%s', ", naming->strip);
    if (*naming->add) sp_text_printf(&text, "with '%s' in front, ", naming->add);
    if (naming->drop_wrappers) sp_text_puts(&text, "without wrappers, ");
    if (!text.length) sp_text_puts(&text, "as they are, ");
    text.data[text.length -= strlen(", ")] = '\0';
    return sp_text_keep(&text, arena);
}

void sp_trace_candidates(struct sp_infer_search *search, const struct sp_candidate_tables *candidates)
{
    if (!sp_is_traced(search->watch)) return;
    trace_heading(search);
    const char *names = describe_naming(search->arena, &candidates->naming);
    sp_trace(search->watch, "  names %s: %zu candidate tables", names, candidates->count);
    for (size_t i = 0; i < candidates->count; i++) {
        const struct sp_fit *fit = &candidates->fits[i];
        sp_trace(search->watch, "    %s%s%s has the names of %zu of %zu tensors, and %zu that the file lacks",
                 fit->table->name, *fit->class ? " " : "", fit->class, fit->seen, candidates->shapes.count,
                 fit->missing);
    }
}

/* "n_embd=32 n_head=4? ...": a question mark behind what was guessed. */
static const char *describe_values(struct sp_arena *arena, const struct sp_known *known)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < known->used.count; i++) {
        const struct sp_fact *fact = &known->facts[known->used.items[i]];
        if (!sp_value_is_set(fact->value) || sp_is_item_key(fact->path)) continue;
        sp_text_printf(&text, " %s=", fact->path);
        sp_value_json(&text, fact->value);
        if (fact->guess) sp_text_puts(&text, "?");
    }
    return sp_text_keep(&text, arena);
}

static void trace_result_of(struct sp_infer_search *search, const char *verb, const struct sp_attempt *attempt)
{
    if (!sp_is_traced(search->watch)) return;
    trace_heading(search);
    if (!attempt->prediction) {
        sp_trace(search->watch, "  %s %s %s: no prediction with%s", verb, attempt->table->name, attempt->class,
                 describe_values(search->arena, &attempt->outline.solver.known));
        return;
    }
    sp_trace(search->watch, "  %s %s%s%s: %zu tensors explained, %zu unexplained (%zu of another shape), %zu missing",
             verb, attempt->table->name, *attempt->class ? " " : "", attempt->class, attempt->explained,
             attempt->unexplained, attempt->reshaped, attempt->missing);
    sp_trace(search->watch, "   %s", describe_values(search->arena, &attempt->outline.solver.known));
}

void sp_trace_attempt(struct sp_infer_search *search, const struct sp_attempt *attempt)
{
    trace_result_of(search, "tried", attempt);
}

void sp_trace_repaired(struct sp_infer_search *search, const struct sp_attempt *attempt)
{
    trace_result_of(search, "changed", attempt);
}

/* What each field of a score counts. */
static const char *const fields[SP_SCORE_FIELDS] = {
    [SP_SCORE_UNPREDICTED] = "its values give no prediction",
    [SP_SCORE_INCOMPLETE] = "a tensor is unexplained or missing, and the metadata do not decide for the table",
    [SP_SCORE_UNSTATED] = "the metadata do not name it",
    [SP_SCORE_WRONG] = "tensors unexplained, or missing in layers that are there",
    [SP_SCORE_UNEXPLAINED] = "tensors unexplained",
    [SP_SCORE_LACKS_LAYERS] = "whole layers are missing",
    [SP_SCORE_MISSING] = "tensors missing",
    [SP_SCORE_EXPLAINED] = "fewer tensors explained",
    [SP_SCORE_RECOMPUTED] = "computed buffers that are not there",
    [SP_SCORE_JOINTS] = "fused tensors",
    [SP_SCORE_NO_MODEL_TYPE] = "no configuration names it",
    [SP_SCORE_PART] = "it is a part of other models",
    [SP_SCORE_TRANSPOSED] = "matrices transposed",
    [SP_SCORE_UNNAMED] = "it is no model with a name",
    [SP_SCORE_UNNAMED_TEXT] = "a value is a text that it does not name",
    [SP_SCORE_RARE] = "it is rare, and the sizes are not its defaults",
    [SP_SCORE_SETTINGS] = "values that are not the defaults",
    [SP_SCORE_DEPTH] = "tables that it extends",
    [SP_SCORE_GUESSES] = "values guessed",
};

/* The first field in which it is worse than the best; the number of tables that extend it decides before the guesses.
 */
static void trace_loser(const struct sp_infer_search *search, const struct sp_attempt *attempt)
{
    const struct sp_score best = sp_attempt_score(search->best), other = sp_attempt_score(attempt);
    const char *space = *attempt->class ? " " : "";
    unsigned field = 0;
    while (field < SP_SCORE_FIELDS && best.of[field] == other.of[field]) field++;
    if (field >= SP_SCORE_GUESSES && attempt->table != search->best->table && search->best->prediction)
        sp_trace(search->watch, "  %s%s%s: tables that extend it: %zu against %zu", attempt->table->name, space,
                 attempt->class, sp_count_heirs(attempt->tables, attempt->table),
                 sp_count_heirs(search->best->tables, search->best->table));
    else if (field == SP_SCORE_FIELDS)
        sp_trace(search->watch, "  %s%s%s: the same score, tried later", attempt->table->name, space, attempt->class);
    else if (field == SP_SCORE_EXPLAINED)
        sp_trace(search->watch, "  %s%s%s: %s: %zu against %zu", attempt->table->name, space, attempt->class,
                 fields[field], attempt->explained, search->best->explained);
    else
        sp_trace(search->watch, "  %s%s%s: %s: %zu against %zu", attempt->table->name, space, attempt->class,
                 fields[field], (size_t)other.of[field], (size_t)best.of[field]);
}

static int compare_attempts(const void *left, const void *right)
{
    const struct sp_attempt *const *a = left, *const *b = right;
    return sp_attempt_compare(*a, *b);
}

void sp_trace_result(struct sp_infer_search *search)
{
    if (!sp_is_traced(search->watch)) return;
    if (!search->best) {
        sp_trace(search->watch, "result: no table has the names of the file");
        return;
    }
    const size_t count = search->attempts.count;
    struct sp_attempt **sorted = sp_arena_array(search->arena, count, sizeof *sorted);
    memcpy(sorted, search->attempts.items, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_attempts);
    sp_trace(search->watch, "result: the best of %zu attempts is %s %s; the others lose by", count,
             search->best->table->name, search->best->class);
    for (size_t i = 0; i < count; i++)
        if (sorted[i] != search->best) trace_loser(search, sorted[i]);
}
