/* SPDX-License-Identifier: MIT
 * The constraints that a file gives, propagated again and again until nothing follows. */
#include "infer/deduce.h"
#include "base/chars.h"
#include "base/order.h"
#include "infer/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- posing them ---- */

static bool is_same_constraint(const struct sp_constraint *a, const struct sp_constraint *b)
{
    return a->kind == b->kind && a->line == b->line && a->named == b->named && a->place == b->place &&
           a->condition == b->condition && a->loop == b->loop && a->iteration == b->iteration && a->none == b->none &&
           a->open_ended == b->open_ended;
}

/* The answer to the constraint in the previous round; NULL if it has none. Each round asks its constraints in the same
 * order, but may leave some out or have new ones. */
static const struct sp_answered *earlier_answer(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    const struct sp_answers *earlier = &deduction->earlier;
    for (size_t i = deduction->next; i < earlier->count && i - deduction->next <= SP_ANSWERS_SKIPPED; i++) {
        if (!is_same_constraint(&earlier->items[i].constraint, constraint)) continue;
        deduction->next = i + 1;
        return &earlier->items[i];
    }
    return NULL;
}

/* Whether the answer depends only on the keys that the constraint reads, and not on the tensors of its line. */
static bool depends_on_keys_alone(const struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    if (constraint->kind == SP_CONSTRAINT_MISSING || constraint->kind == SP_CONSTRAINT_REQUIRED) return true;
    return constraint->kind != SP_CONSTRAINT_CLAIMED && !deduction->occurrences.of[constraint->line].iterations;
}

/* sp_propagate; but the answer of the round before is taken if no key has changed that it depends on. */
static enum sp_answer answer_to(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    struct sp_known *known = &deduction->solver->known;
    if (!depends_on_keys_alone(deduction, constraint)) return sp_propagate(deduction, constraint);
    const struct sp_answered *earlier = earlier_answer(deduction, constraint);
    struct sp_answered answered = {.constraint = *constraint, .state = known->states};
    const bool was_spared = known->spared;
    known->spared = false;
    if (earlier && !sp_known_has_changed(known, earlier->asked, earlier->state)) answered = *earlier;
    else {
        known->asked = 0;
        answered.answer = sp_propagate(deduction, constraint);
        answered.asked = known->asked;
    }
    /* That a default was spared is noted in each round: such a constraint is propagated again. */
    if (!known->spared && deduction->answers.count < SP_MOST_ANSWERS) {
        SP_GROW(deduction->answers.items, deduction->answers.count, deduction->answers.capacity);
        deduction->answers.items[deduction->answers.count++] = answered;
    }
    known->spared |= was_spared;
    return answered.answer;
}

/* Makes the answers of the last round the earlier ones; none if they were found in another scope, which may have been
 * undone. */
static void begin_answers(struct sp_deduction *deduction)
{
    const struct sp_answers last = deduction->answers;
    const size_t scope = deduction->solver->known.scope;
    deduction->answers = deduction->earlier;
    deduction->answers.count = 0;
    deduction->earlier = last;
    if (deduction->scope != scope) deduction->earlier.count = 0;
    deduction->scope = scope;
    deduction->next = 0;
}

/* Propagates the constraint, and keeps it among the open ones if it is not decided. Does nothing when the effort is
 * spent. */
static void pose(struct sp_deduction *deduction, struct sp_constraint constraint)
{
    if (!deduction->effort->checks) return;
    --deduction->effort->checks;
    if (deduction->effort->checks % SP_CHECKS_AT_ONCE == 0 &&
        !sp_goes_on(deduction->effort->watch, "questions", SP_MOST_CHECKS - deduction->effort->checks, 0))
        deduction->effort->checks = deduction->effort->trials = 0;
    const enum sp_answer answer = answer_to(deduction, &constraint);
    deduction->contradictions += answer == SP_CONTRADICTS;
    if (answer != SP_OPEN) return;
    SP_GROW(deduction->open, deduction->open_count, deduction->open_capacity);
    deduction->open[deduction->open_count++] = constraint;
}

/* The table is used; a part is when any of its tensors is there. */
static bool is_used(const struct sp_deduction *deduction, const struct sp_placed_requirement *requirement)
{
    if (requirement->env->frame == deduction->solver->frame) return true;
    for (size_t i = requirement->first; i < requirement->end; i++)
        if (deduction->occurrences.of[i].count) return true;
    return false;
}

static void pose_required(struct sp_deduction *deduction)
{
    for (size_t i = 0; i < deduction->outline->requirement_count; i++)
        if (is_used(deduction, &deduction->outline->requirements[i]))
            pose(deduction, (struct sp_constraint){.kind = SP_CONSTRAINT_REQUIRED, .place = i});
}

/* A number such as {L + 1}: told by a name that no other tensor of the pattern has. */
static void pose_number(struct sp_deduction *deduction, size_t line)
{
    const struct sp_occurrence *occurrence = &deduction->occurrences.of[line];
    if (occurrence->count == 1)
        pose(deduction, (struct sp_constraint){.kind = SP_CONSTRAINT_NUMBER,
                                               .line = line,
                                               .named = occurrence->named[0],
                                               .place = occurrence->unknown});
}

/* Lines under the same condition say the same of it: only the first one is asked. */
static bool is_asked_by(size_t *asked, const struct sp_line_condition *condition, size_t line)
{
    if (asked[condition->number] == SHAPEPROOF_NONE) asked[condition->number] = line;
    return asked[condition->number] == line;
}

static void pose_tensor(struct sp_deduction *deduction, size_t line, size_t named)
{
    const struct sp_line *of = &deduction->outline->lines[line];
    const bool is_flat = sp_shapes_is_flat(deduction->occurrences.shapes, named);
    if (is_flat) pose(deduction, (struct sp_constraint){.kind = SP_CONSTRAINT_PRODUCT, .line = line, .named = named});
    for (size_t d = 0; d < of->row->rank && !is_flat; d++)
        pose(deduction,
             (struct sp_constraint){.kind = SP_CONSTRAINT_DIMENSION, .line = line, .named = named, .place = d});
    for (const struct sp_line_condition *condition = of->condition;
         condition && !deduction->occurrences.of[line].is_contested; condition = condition->outer)
        if (is_asked_by(deduction->present, condition, line))
            pose(deduction, (struct sp_constraint){
                                .kind = SP_CONSTRAINT_PRESENT, .line = line, .named = named, .condition = condition});
}

static bool same_shape(const struct sp_deduction *deduction, size_t a, size_t b)
{
    const struct shapeproof_tensor *left = sp_occurrence_tensor(&deduction->occurrences, a);
    const struct shapeproof_tensor *right = sp_occurrence_tensor(&deduction->occurrences, b);
    return sp_same_dims(left->shape, left->rank, right->shape, right->rank);
}

/* One tensor speaks for all of its line, unless it depends on an index: then the first of each iteration of the
 * outermost loop, and each whose shape is another than that of the one before. */
static void pose_present(struct sp_deduction *deduction, size_t line)
{
    const struct sp_occurrence *occurrence = &deduction->occurrences.of[line];
    const struct sp_loop *loop = sp_line_outermost(occurrence->line);
    int64_t iteration = -1;
    for (size_t i = 0; i < occurrence->count && (i == 0 || occurrence->indexed); i++) {
        const size_t named = occurrence->named[i];
        const int64_t own = loop ? sp_occurrence_iteration(&deduction->occurrences, occurrence, loop, named) : -1;
        if (i && own == iteration && same_shape(deduction, named, occurrence->named[i - 1])) continue;
        iteration = own;
        pose_tensor(deduction, line, named);
    }
    if (occurrence->line->row->tie_condition && !occurrence->is_contested)
        pose(deduction,
             (struct sp_constraint){.kind = SP_CONSTRAINT_TIED, .line = line, .named = occurrence->named[0]});
}

/* Of the tensors that several lines may have the first of each iteration of the outermost loop; for the line that comes
 * first among them. */
static void pose_claims(struct sp_deduction *deduction, size_t line)
{
    const struct sp_occurrence *occurrence = &deduction->occurrences.of[line];
    const struct sp_line_condition *condition = occurrence->line->condition;
    const struct sp_loop *loop = sp_line_outermost(occurrence->line);
    int64_t iteration = -1;
    if (!occurrence->is_contested || !condition || !is_asked_by(deduction->claimed, condition, line)) return;
    for (size_t i = 0; i < occurrence->count && (i == 0 || occurrence->indexed); i++) {
        const size_t named = occurrence->named[i];
        const int64_t own = loop ? sp_occurrence_iteration(&deduction->occurrences, occurrence, loop, named) : -1;
        if ((i && own == iteration) || deduction->occurrences.owners[named] != line) continue;
        iteration = own;
        pose(deduction, (struct sp_constraint){.kind = SP_CONSTRAINT_CLAIMED, .line = line, .named = named});
    }
}

/* ---- loops ---- */

/* The iterations of a loop that the tensors of a line tell of, for one iteration of the loops around it. */
struct span {
    struct sp_loop *loop;
    int64_t outer[SP_MOST_OUTER_LOOPS];
    int64_t first, last;
    size_t line, named;
    bool open_ended;
};

struct spans {
    struct span *list;
    size_t count, capacity;
};

static bool is_literal_number(const struct sp_expr *expr, int64_t *number)
{
    *number = expr->kind == SP_EXPR_LITERAL && expr->value.type == SHAPEPROOF_VALUE_INT ? expr->value.integer : 0;
    return expr->kind == SP_EXPR_LITERAL && expr->value.type == SHAPEPROOF_VALUE_INT;
}

/* for j in 0..repeats[i]-2: of one of them there is nothing. */
static bool is_empty_for_one(const struct sp_loop *loop)
{
    const struct sp_expr *last = loop->clause->last;
    int64_t first, less;
    return is_literal_number(loop->clause->first, &first) && last->kind == SP_EXPR_BINARY && last->op == SP_OP_SUB &&
           is_literal_number(last->args[1], &less) && less > 1 - first;
}

/* Whether its tensors are there in each iteration: then the last one of them is the last iteration. */
static bool tells_of(const struct sp_line *line, const struct sp_loop *loop)
{
    for (const struct sp_loop *inner = line->loop; inner && inner != loop; inner = inner->outer)
        if (is_empty_for_one(inner) && sp_depends_on(inner->env, inner->clause->last, loop)) return false;
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer)
        if (sp_condition_is_about(condition, loop)) return false;
    return true;
}

static void widen(struct span *span, const struct span *by)
{
    if (by->first < span->first) span->first = by->first;
    if (by->last <= span->last) return;
    span->last = by->last;
    if (!by->open_ended) return;
    span->line = by->line; /* it is the last one that tells */
    span->named = by->named;
}

static void add_iteration(struct spans *spans, struct span iteration)
{
    struct span *last = spans->count ? &spans->list[spans->count - 1] : NULL;
    if (last && last->loop == iteration.loop && last->line == iteration.line &&
        memcmp(last->outer, iteration.outer, sizeof iteration.outer) == 0) {
        widen(last, &iteration);
        return;
    }
    SP_GROW(spans->list, spans->count, spans->capacity);
    spans->list[spans->count++] = iteration;
}

static void collect_spans(struct sp_deduction *deduction, struct spans *spans, size_t line, struct sp_loop *loop,
                          bool open_ended)
{
    const struct sp_occurrences *occurrences = &deduction->occurrences;
    const struct sp_occurrence *occurrence = &occurrences->of[line];
    for (size_t i = 0; i < occurrence->count; i++) {
        const size_t named = occurrence->named[i];
        const int64_t own = sp_occurrence_iteration(occurrences, occurrence, loop, named);
        struct span iteration = {loop, {0}, own, own, line, named, open_ended};
        size_t depth = 0;
        for (struct sp_loop *outer = loop->outer; outer && depth < SP_MOST_OUTER_LOOPS; outer = outer->outer)
            iteration.outer[depth++] = sp_occurrence_iteration(occurrences, occurrence, outer, named);
        if (own >= 0) add_iteration(spans, iteration);
    }
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->loop != b->loop) return a->loop->number < b->loop->number ? -1 : 1;
    for (size_t i = SP_MOST_OUTER_LOOPS; i-- > 0;)
        if (a->outer[i] != b->outer[i]) return a->outer[i] < b->outer[i] ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool same_iterations(const struct span *a, const struct span *b)
{
    return a->loop == b->loop && memcmp(a->outer, b->outer, sizeof a->outer) == 0;
}

/* All lines of a loop together tell where it begins and ends. */
static void pose_spans(struct sp_deduction *deduction, struct spans *spans)
{
    if (spans->count) qsort(spans->list, spans->count, sizeof *spans->list, compare_spans);
    for (size_t i = 0, next; i < spans->count; i = next) {
        struct span all = spans->list[i];
        for (next = i + 1; next < spans->count && same_iterations(&all, &spans->list[next]); next++)
            widen(&all, &spans->list[next]);
        struct sp_constraint constraint = {.line = all.line, .named = all.named, .loop = all.loop};
        constraint.kind = SP_CONSTRAINT_FIRST;
        constraint.iteration = all.first;
        if (!all.open_ended) pose(deduction, constraint);
        constraint.kind = SP_CONSTRAINT_LAST;
        constraint.iteration = all.last;
        constraint.open_ended = all.open_ended;
        pose(deduction, constraint);
    }
}

/* Collects the spans of loops from the lines that have a tensor in every iteration. With open_ended from the other
 * lines, for the loops that are not `told`: their last tensor need not be in the last iteration. */
static void collect_loops(struct sp_deduction *deduction, struct spans *spans, bool *told, bool open_ended)
{
    for (size_t i = 0; i < deduction->outline->count; i++) {
        const struct sp_occurrence *occurrence = &deduction->occurrences.of[i];
        if (!sp_occurrence_is_owner(&deduction->occurrences, i) || occurrence->unknown != SIZE_MAX) continue;
        for (struct sp_loop *loop = occurrence->line->loop; loop; loop = loop->outer)
            if (tells_of(occurrence->line, loop) != open_ended && !(open_ended && told[loop->number]))
                collect_spans(deduction, spans, i, loop, open_ended);
    }
    for (size_t i = 0; i < spans->count; i++) told[spans->list[i].loop->number] = true;
}

/* Poses where the loops begin and end. Only once contested tensors go to the first line (SP_CONTESTED_FIRST), as a last
 * resort, a loop ends with its last tensor although there may be iterations without any. */
static void pose_loops(struct sp_deduction *deduction)
{
    struct spans spans = {0};
    bool *told = sp_realloc(NULL, deduction->outline->loop_count, sizeof *told);
    for (size_t i = 0; i < deduction->outline->loop_count; i++) told[i] = false;
    collect_loops(deduction, &spans, told, false);
    if (deduction->occurrences.first_owns) collect_loops(deduction, &spans, told, true);
    pose_spans(deduction, &spans);
    sp_free(spans.list);
    sp_free(told);
}

/* ---- what is missing ---- */

static bool is_line_there(const struct sp_deduction *deduction, size_t line)
{
    if (deduction->occurrences.of[line].count) return true;
    for (size_t i = line + 1; i < deduction->outline->count && deduction->outline->lines[i].old_of == line; i++)
        if (deduction->occurrences.of[i].count) return true;
    return false;
}

static int64_t iteration_of(const struct sp_deduction *deduction, const struct sp_occurrence *occurrence,
                            const struct sp_loop *loop, size_t place)
{
    return sp_occurrence_iteration(&deduction->occurrences, occurrence, loop, occurrence->named[place]);
}

/* Poses SP_CONSTRAINT_MISSING for each iteration of the line's outermost loop in which the file has no tensor: of
 * "h.{i}.b for i in 0..3" with h.0.b and h.3.b, for 1 and 2. Returns false when a bound of the loop is unknown, so that
 * the caller has to ask about the line as a whole; true otherwise, even if the loop is too long to ask. */
static bool pose_missing_iterations(struct sp_deduction *deduction, size_t line, struct sp_loop *loop)
{
    const struct sp_occurrence *occurrence = &deduction->occurrences.of[line];
    const struct shapeproof_value first = sp_solver_value(deduction->solver, loop->env, loop->clause->first);
    const struct shapeproof_value last = sp_solver_value(deduction->solver, loop->env, loop->clause->last);
    size_t next = 0;
    if (first.type != SHAPEPROOF_VALUE_INT || last.type != SHAPEPROOF_VALUE_INT) return false;
    if (last.integer - first.integer > SP_MOST_ITERATIONS) return true;
    for (int64_t iteration = first.integer; iteration <= last.integer; iteration++) {
        /* Tensors are in the order of the numbers in their names, which is that of the iterations, unless the numbers
         * are computed by expressions: then all tensors are looked through for each iteration. */
        if (occurrence->iterations) {
            next = 0;
            while (next < occurrence->count && iteration_of(deduction, occurrence, loop, next) != iteration) next++;
        } else
            while (next < occurrence->count && iteration_of(deduction, occurrence, loop, next) < iteration) next++;
        if (next < occurrence->count && iteration_of(deduction, occurrence, loop, next) == iteration) continue;
        pose(deduction,
             (struct sp_constraint){.kind = SP_CONSTRAINT_MISSING, .line = line, .loop = loop, .iteration = iteration});
    }
    return true;
}

/* Whether it is not a matter of the name: the tensor is not there under any. */
static bool is_none_there(const struct sp_deduction *deduction, size_t line)
{
    const struct sp_line *lines = deduction->outline->lines;
    if (lines[line].alternative == SP_NO_LINE) return false;
    for (size_t i = lines[line].alternative; i != line; i = lines[i].alternative)
        if (is_line_there(deduction, i)) return false;
    return true;
}

/* What is stored as another tensor has its shape. */
static void pose_tied(struct sp_deduction *deduction, size_t line)
{
    const struct sp_line *of = &deduction->outline->lines[line];
    const struct sp_shapes *shapes = deduction->occurrences.shapes;
    const size_t pattern = of->tie && !of->loop ? sp_shapes_find(shapes, of->tie) : SHAPEPROOF_NONE;
    if (pattern == SHAPEPROOF_NONE || shapes->first[pattern + 1] - shapes->first[pattern] != 1) return;
    if (!sp_line_is_decided(deduction->solver, of) || sp_line_is_ruled_out(deduction->solver, of)) return;
    const struct shapeproof_value tied = of->row->tie_condition
                                             ? sp_solver_value(deduction->solver, of->env, of->row->tie_condition)
                                             : sp_value_bool(true);
    const size_t named = shapes->first[pattern];
    if (tied.type != SHAPEPROOF_VALUE_BOOL || !tied.boolean || sp_shapes_is_flat(shapes, named) ||
        sp_occurrence_tensor(&deduction->occurrences, named)->rank != of->row->rank)
        return;
    for (size_t d = 0; d < of->row->rank; d++)
        pose(deduction,
             (struct sp_constraint){.kind = SP_CONSTRAINT_DIMENSION, .line = line, .named = named, .place = d});
}

/* Poses that tensors of a line are missing, in single iterations or in all. Optional lines and older names may always
 * be absent; and of the lines under one condition the first is enough, since it asks the same of that. */
static void pose_missing(struct sp_deduction *deduction, size_t line)
{
    const struct sp_occurrence *occurrence = &deduction->occurrences.of[line];
    struct sp_loop *loop = sp_line_outermost(occurrence->line);
    const struct sp_line_condition *condition = occurrence->line->condition;
    if (occurrence->line->optional || occurrence->line->old_of != SP_NO_LINE) return;
    if (occurrence->count && (!occurrence->indexed || occurrence->unknown != SIZE_MAX)) return;
    if (condition && !occurrence->line->row->has_tie && !(occurrence->is_contested && occurrence->count) &&
        !is_asked_by(deduction->missing, condition, line))
        return;
    if (occurrence->indexed && loop && pose_missing_iterations(deduction, line, loop)) return;
    if (!is_line_there(deduction, line))
        pose(deduction, (struct sp_constraint){
                            .kind = SP_CONSTRAINT_MISSING, .line = line, .none = is_none_there(deduction, line)});
    if (!occurrence->count) pose_tied(deduction, line);
}

/* ---- the whole ---- */

static void pose_all(struct sp_deduction *deduction)
{
    deduction->open_count = deduction->contradictions = 0;
    begin_answers(deduction);
    for (size_t i = 0; i < deduction->outline->condition_count; i++)
        deduction->present[i] = deduction->claimed[i] = deduction->missing[i] = SHAPEPROOF_NONE;
    pose_required(deduction);
    for (size_t i = 0; i < deduction->outline->count; i++)
        if (deduction->occurrences.of[i].unknown != SIZE_MAX) pose_number(deduction, i);
    pose_loops(deduction);
    for (size_t i = 0; i < deduction->outline->count; i++) {
        const struct sp_occurrence *occurrence = &deduction->occurrences.of[i];
        if (sp_occurrence_is_owner(&deduction->occurrences, i) && occurrence->unknown == SIZE_MAX)
            pose_present(deduction, i);
    }
    for (size_t i = 0; i < deduction->outline->count; i++) pose_claims(deduction, i);
    for (size_t i = 0; i < deduction->outline->count; i++) pose_missing(deduction, i);
}

void sp_deduce(struct sp_deduction *deduction, enum sp_contest most)
{
    struct sp_known *known = &deduction->solver->known;
    enum sp_contest contest = most < SP_CONTESTED_BY_ALL ? most : SP_CONTESTED_BY_ALL;
    sp_known_spare_defaults(known, true);
    for (int round = 0; round < SP_MOST_ROUNDS; round++) {
        const size_t before = known->told;
        known->spared = false;
        sp_occurrences_renew(&deduction->occurrences, contest);
        pose_all(deduction);
        if (known->told != before) continue;
        if (known->spared) sp_known_spare_defaults(known, false);
        else if (contest == most) break;
        else contest++;
    }
    sp_known_spare_defaults(known, false);
}

const char *sp_contest_lacks(struct sp_deduction *deduction, const struct sp_key_names *besides)
{
    for (size_t i = 0; i < deduction->outline->count; i++) {
        const struct sp_occurrence *occurrence = &deduction->occurrences.of[i];
        if (!occurrence->is_contested || !occurrence->count) continue;
        for (const struct sp_line_condition *condition = occurrence->line->condition; condition;
             condition = condition->outer) {
            const struct shapeproof_value value = sp_condition_value(deduction->solver, condition);
            if (value.type == SHAPEPROOF_VALUE_UNKNOWN && *value.string &&
                !sp_is_among(value.string, besides->items, besides->count))
                return value.string;
        }
    }
    return NULL;
}

/* Of each line the next one of the same name. */
static void link_namesakes(struct sp_deduction *deduction)
{
    struct sp_map first = {0};
    const struct sp_outline *outline = deduction->outline;
    deduction->namesake = sp_realloc(NULL, outline->count, sizeof *deduction->namesake);
    deduction->has_namesake = sp_realloc(NULL, outline->count, sizeof *deduction->has_namesake);
    for (size_t i = outline->count; i-- > 0;) {
        const size_t next = deduction->namesake[i] = sp_map_get(&first, outline->lines[i].name);
        deduction->has_namesake[i] = next != SIZE_MAX;
        if (next != SIZE_MAX) deduction->has_namesake[next] = true;
        sp_map_set(&first, outline->lines[i].name, i);
    }
    sp_map_free(&first);
}

void sp_deduction_init(struct sp_deduction *deduction, struct sp_outline *outline, const struct sp_shapes *shapes,
                       struct sp_effort *effort)
{
    const size_t conditions = outline->condition_count;
    *deduction = (struct sp_deduction){
        .outline = outline, .solver = &outline->solver, .effort = effort, .modules_left = SP_MOST_MODULE_STEPS};
    deduction->present = sp_realloc(NULL, conditions, sizeof *deduction->present);
    deduction->claimed = sp_realloc(NULL, conditions, sizeof *deduction->claimed);
    deduction->missing = sp_realloc(NULL, conditions, sizeof *deduction->missing);
    link_namesakes(deduction);
    sp_occurrences_init(&deduction->occurrences, outline, shapes);
}

void sp_deduce_by_stages(struct sp_deduction *deduction)
{
    deduction->by_stages = true;
    deduction->modules_left = SP_MOST_STAGED_STEPS;
}

void sp_deduction_free(struct sp_deduction *deduction)
{
    sp_occurrences_free(&deduction->occurrences);
    sp_free(deduction->open);
    sp_free(deduction->answers.items);
    sp_free(deduction->earlier.items);
    sp_free(deduction->present);
    sp_free(deduction->claimed);
    sp_free(deduction->namesake);
    sp_free(deduction->has_namesake);
    sp_free(deduction->missing);
    *deduction = (struct sp_deduction){0};
}
