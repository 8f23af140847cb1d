/* SPDX-License-Identifier: MIT */
#include "figures/conventions.h"

#include <inttypes.h>
#include <string.h>

#include "model/embedding.h"
#include "prove/printed.h"

struct sp_figure_parts sp_figure_parts_of(const struct shapeproof_prediction *prediction)
{
    const struct shapeproof_predicted_totals *totals = shapeproof_prediction_totals(prediction);
    struct sp_figure_parts parts = {.total = totals->unique_parameters,
                                    .tied = totals->parameters - totals->unique_parameters,
                                    .buffers = totals->buffers};
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (tensor->rank != 2 || tensor->optional || tensor->buffer) continue;
        if (tensor->same_as != SHAPEPROOF_NONE) {
            if (sp_is_vocabulary_head(tensor->name)) parts.tied_head += tensor->parameters;
        } else if (sp_is_token_embedding(tensor->name)) parts.tokens += tensor->parameters;
        else if (sp_is_vocabulary_head(tensor->name)) parts.head += tensor->parameters;
        else if (sp_is_position_embedding(tensor->name)) parts.positions += tensor->parameters;
    }
    return parts;
}

/* ---- judging ---- */

/* What one step of the last digit is worth. */
static uint64_t unit_of(struct sp_printed printed) { return (uint64_t)(printed.most - printed.least) + 1; }

static bool is_printed_so(struct sp_printed printed, uint64_t number)
{
    return number <= INT64_MAX && (int64_t)number >= printed.least && (int64_t)number <= printed.most;
}

/* The step to which the number was rounded if the zeros at the end of the figure are no digits: "110M" and "70B" may be
 * rounded to tens of the unit, "1100M" to hundreds. At least two digits are left, or one where there is one zero. 0
 * when the figure is not the number so rounded. */
static uint64_t rounded_to(const char *figure, struct sp_printed printed, uint64_t number)
{
    const uint64_t unit = unit_of(printed), value = (uint64_t)printed.least + unit / 2;
    if (unit == 1 || value == 0 || strchr(figure, '.')) return 0;
    for (uint64_t step = 10; value / unit % step == 0; step *= 10) {
        const uint64_t half = step / 2 * unit;
        if (step > 10 && value / unit / step < 10) return 0;
        if (number + half >= value && number < value + half) return step * unit;
    }
    return 0;
}

static bool is_truncated(struct sp_printed printed, uint64_t number)
{
    const uint64_t unit = unit_of(printed), value = (uint64_t)printed.least + unit / 2;
    return unit > 1 && number >= value && number - value < unit;
}

/* Finds the convention under which the figure is right; false when there is none. */
static bool find_convention(struct sp_printed printed, const struct sp_figure_parts *parts,
                            struct sp_figure_judgement *judgement)
{
    const uint64_t total = parts->total, tokens = parts->tokens, head = parts->head, positions = parts->positions;
    const struct {
        bool is_different; /* from the total */
        uint64_t counted;
        const char *name;
    } conventions[] = {
        {parts->tied_head, total + parts->tied_head, "with the tied head counted on its own"},
        {parts->tied, total + parts->tied, "with each tied tensor counted on its own"},
        {parts->buffers, total + parts->buffers, "with buffers"},
        {tokens, total - tokens, "without the token embedding"},
        {tokens && head, total - tokens - head, "without the token embedding and the head"},
        {positions, total - positions, "without the position embedding"},
        {tokens && positions, total - tokens - positions, "without the embeddings of tokens and positions"},
        {tokens && head && positions, total - tokens - head - positions, "without embeddings and head"},
    };
    for (size_t i = 0; i < sizeof conventions / sizeof *conventions; i++) {
        if (!conventions[i].is_different || !is_printed_so(printed, conventions[i].counted)) continue;
        judgement->verdict = SHAPEPROOF_PROVED;
        judgement->counted = conventions[i].counted;
        judgement->convention = conventions[i].name;
        return true;
    }
    return false;
}

/* "4.4% too large"; "2498560 too large" where that is less than 0.1%; "55 times too large". */
static const char *describe_error(struct sp_arena *arena, struct sp_printed printed, uint64_t number)
{
    const uint64_t value = (uint64_t)printed.least + unit_of(printed) / 2;
    const char *direction = value < number ? "small" : "large";
    const uint64_t difference = value < number ? number - value : value - number;
    if (number && value / number >= 10) return sp_arena_printf(arena, "%" PRIu64 " times too large", value / number);
    const uint64_t thousandths = number ? (uint64_t)((double)difference / (double)number * 1000 + 0.5) : 0;
    if (!thousandths) return sp_arena_printf(arena, "%" PRIu64 " too %s", difference, direction);
    return sp_arena_printf(arena, "%" PRIu64 ".%" PRIu64 "%% too %s", thousandths / 10, thousandths % 10, direction);
}

/* A figure that a known convention gives is right. A short one may be truncated just as well, which is said. */
struct sp_figure_judgement sp_figure_judge(struct sp_arena *arena, const char *figure, uint64_t number,
                                           const struct sp_figure_parts *parts)
{
    struct sp_figure_judgement judgement = {SHAPEPROOF_UNDECIDED, number, "", "", false};
    struct sp_printed printed;
    if (!sp_printed_read(figure, &printed)) return judgement;
    const bool truncated = is_truncated(printed, number);
    const uint64_t step = rounded_to(figure, printed, number);
    judgement.verdict = SHAPEPROOF_PROVED;
    if (is_printed_so(printed, number)) return judgement;
    if (step) {
        judgement.convention = sp_arena_printf(arena, "rounded to %s", sp_printed_like(arena, figure, step));
        return judgement;
    }
    if (parts && find_convention(printed, parts, &judgement)) {
        if (truncated) judgement.convention = sp_arena_printf(arena, "%s, or truncated", judgement.convention);
        return judgement;
    }
    judgement.verdict = SHAPEPROOF_REFUTED;
    judgement.is_truncated = truncated;
    judgement.why = truncated ? "truncated instead of rounded" : describe_error(arena, printed, number);
    return judgement;
}
