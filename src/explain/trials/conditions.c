/* SPDX-License-Identifier: MIT
 * What is missing although all conditions of its row are met, or there although one is not: what keys would have to be
 * for the conditions to say so. */
#include "explain/trials/conditions.h"

#include <stdlib.h>

#include "base/watch.h"
#include "lang/prediction.h"
#include "solve/literals.h"

bool sp_is_number_key(const struct sp_changeable *key) { return key->unknown.now.type == SHAPEPROOF_VALUE_INT; }

static bool is_flag(const struct sp_changeable *key) { return key->unknown.now.type == SHAPEPROOF_VALUE_BOOL; }

static bool is_no_flag(const struct sp_changeable *key) { return key->unknown.now.type != SHAPEPROOF_VALUE_BOOL; }

void sp_propose_met(struct sp_proposals *proposals, const struct sp_line *line, bool there, sp_key_filter filter)
{
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer) {
        const struct shapeproof_value now = sp_condition_value(&proposals->outline.solver, condition);
        if (sp_value_is_true(now) == there) continue;
        const struct sp_key_list keys = sp_proposal_keys_of(proposals, condition->env, condition->expr);
        for (size_t i = 0; i < keys.count; i++)
            if (filter(&proposals->keys[keys.items[i]]))
                sp_propose_for(proposals, &proposals->keys[keys.items[i]], condition->env, condition->expr,
                               sp_value_bool(there));
        sp_free(keys.items);
    }
}

/* ---- numbers ---- */

/* A line that a finding may be of, with the numbers of the finding's name. */
struct named_line {
    const struct sp_line *line;
    const uint64_t *numbers;
    const struct shapeproof_tensor *tensor; /* of the file; NULL: it is missing */
};

/* Gives the loops of a line the iterations that make the numbers. Those of {at(s) + j} depend on the configuration. */
static void enter_anew(struct sp_proposals *proposals, const struct named_line *named)
{
    bool computed = false;
    for (size_t h = 0; h < named->line->hole_count; h++) computed |= named->line->holes[h].expr != NULL;
    if (!computed) return;
    sp_loop_leave(named->line->loop);
    sp_line_find_iterations(&proposals->outline.solver, named->line, named->numbers);
}

/* Whether the line would be as the file has it, in the iterations that its loops were given: there, or ruled out. That
 * a loop might end earlier is no matter of conditions (lengths.c). */
static bool would_be(struct sp_proposals *proposals, const struct named_line *named, const char *path, int64_t number)
{
    struct sp_solver *solver = &proposals->outline.solver;
    bool good = sp_suppose(solver, path, sp_value_int(number));
    if (good && named->tensor) enter_anew(proposals, named);
    good = good && (named->tensor ? sp_line_is_used(solver, named->line) : !sp_line_is_met(solver, named->line));
    sp_suppose_end(solver);
    if (named->tensor) enter_anew(proposals, named);
    return good;
}

/* Numbers near the configured one with which the line would be there, or not. Turning round leads to the nearest, but
 * of a condition such as `index % step == 0` there are many more, and one finding does not tell which. */
static void propose_near(struct sp_proposals *proposals, const struct sp_changeable *key,
                         const struct named_line *named)
{
    enum { LARGEST = 1 << 16 };
    const int64_t now = key->unknown.now.integer;
    const int64_t near[] = {0, 1, 2, now - 1, now + 1, 2 * now, now / 2};
    if (!sp_is_number_key(key) || now < 0 || now > LARGEST) return;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        if (near[i] >= 0 && near[i] != now && would_be(proposals, named, key->unknown.path, near[i]))
            sp_propose(proposals, key, sp_value_int(near[i]));
}

/* What is there although a number is 0: its dimensions may be that number. */
static void propose_dimensions(struct sp_proposals *proposals, const struct sp_line *line,
                               const struct shapeproof_tensor *tensor)
{
    for (uint32_t d = 0; d < tensor->rank && tensor->rank == line->row->rank; d++) {
        if (tensor->shape[d] > INT64_MAX) continue;
        const struct sp_key_list keys = sp_proposal_keys_of(proposals, line->env, line->row->shape[d]);
        for (size_t i = 0; i < keys.count; i++)
            sp_propose_for(proposals, &proposals->keys[keys.items[i]], line->env, line->row->shape[d],
                           sp_value_int((int64_t)tensor->shape[d]));
        sp_free(keys.items);
    }
}

static void propose_numbers(struct sp_proposals *proposals, const struct named_line *named)
{
    const struct sp_line *line = named->line;
    const bool there = named->tensor != NULL;
    sp_proposal_keys_note(proposals);
    const bool is_used = sp_line_is_used(&proposals->outline.solver, line);
    if (!there) sp_line_is_met(&proposals->outline.solver, line);
    const struct sp_key_list keys = sp_proposal_keys(proposals);
    for (size_t k = 0; k < keys.count && is_used != there; k++)
        propose_near(proposals, &proposals->keys[keys.items[k]], named);
    sp_free(keys.items);
    if (is_used != there && there) propose_dimensions(proposals, line, named->tensor);
}

/* ---- texts that a flag follows from ---- */

/* Whether of these keys a flag decides that nobody has set. */
static bool rests_on_default(struct sp_proposals *proposals, const struct sp_key_list *keys,
                             const struct sp_line_condition *condition)
{
    for (size_t i = 0; i < keys->count; i++) {
        const struct sp_changeable *key = &proposals->keys[keys->items[i]];
        if (is_flag(key) && key->hyper.from.source == SHAPEPROOF_SOURCE_DEFAULT &&
            sp_key_matters(&proposals->outline.solver, &key->unknown, condition->env, condition->expr))
            return true;
    }
    return false;
}

static bool would_be_met(struct sp_proposals *proposals, const struct sp_line_condition *condition, const char *path,
                         const char *text)
{
    struct sp_solver *solver = &proposals->outline.solver;
    const bool met =
        sp_suppose(solver, path, sp_value_string(text)) && sp_value_is_true(sp_condition_value(solver, condition));
    sp_suppose_end(solver);
    return met;
}

/* What the table mentions of a text, the first of it that would do. */
static void propose_text(struct sp_proposals *proposals, const struct sp_changeable *key,
                         const struct sp_line_condition *condition, bool there)
{
    struct sp_literals literals = {0};
    sp_literals_about(&literals, proposals->check->prediction->table, key->unknown.path);
    sp_literals_add(&literals, sp_value_string(SP_OTHER_TEXT)); /* where it must only be none of these */
    for (size_t i = 0; i < literals.count; i++) {
        if (would_be_met(proposals, condition, key->unknown.path, literals.list[i]) != there) continue;
        sp_propose(proposals, key, sp_value_string(literals.list[i]));
        break;
    }
    sp_literals_free(&literals);
}

/* `is_gated_act default starts_with(feed_forward_proj, "gated")`: the text is what people write. */
static void propose_texts(struct sp_proposals *proposals, const struct sp_line *line, bool there)
{
    struct sp_solver *solver = &proposals->outline.solver;
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer) {
        if (sp_value_is_true(sp_condition_value(solver, condition)) == there) continue;
        const struct sp_key_list keys = sp_proposal_keys_of(proposals, condition->env, condition->expr);
        const bool rests = rests_on_default(proposals, &keys, condition);
        for (size_t i = 0; i < keys.count && rests; i++) {
            const struct sp_changeable *key = &proposals->keys[keys.items[i]];
            if (key->unknown.now.type == SHAPEPROOF_VALUE_STRING &&
                sp_key_matters(solver, &key->unknown, condition->env, condition->expr))
                propose_text(proposals, key, condition, there);
        }
        sp_free(keys.items);
    }
}

/* ---- findings ---- */

static void propose_flags(struct sp_proposals *proposals, const struct named_line *named)
{
    propose_texts(proposals, named->line, named->tensor != NULL);
    sp_propose_met(proposals, named->line, named->tensor != NULL, is_flag);
}

static void propose_others(struct sp_proposals *proposals, const struct named_line *named)
{
    sp_propose_met(proposals, named->line, named->tensor != NULL, is_no_flag);
    propose_numbers(proposals, named);
}

/* Bytes of values that suppositions may leave in the solver's arena. Each supposition evaluates the definitions of the
 * table anew: in a table with lists of blocks, as that of EfficientNet, this may be 100 KB, for thousands of them. The
 * memory limit of a small file is 256 MiB. */
enum { MOST_SUPPOSED = 96 << 20 };

/* One finding speaks for all whose names are the same but for an index: the first of them, and the last. Stops when
 * suppositions have used MOST_SUPPOSED, and says so in the trace. The findings behind keep no cause then, unless
 * another explainer finds one, and a finding without a cause never makes the verdict better. */
static void each_line(struct sp_proposals *proposals,
                      void (*visit)(struct sp_proposals *, const struct named_line *named))
{
    const struct sp_named_index *indices = proposals->indices;
    const struct shapeproof_check *check = proposals->check;
    for (size_t i = 0; i < proposals->index_count && !indices[i].in_word; i++) {
        if (proposals->outline.solver.arena.used > MOST_SUPPOSED) {
            sp_trace(check->watch, "  conditions: %zu of %zu names were not looked at: %d MiB of values are used",
                     proposals->index_count - i, proposals->index_count, MOST_SUPPOSED >> 20);
            break;
        }
        const bool first = i == 0 || !sp_same_loop(&indices[i - 1], &indices[i]);
        const bool last = i + 1 == proposals->index_count || !sp_same_loop(&indices[i], &indices[i + 1]);
        const struct shapeproof_finding *finding = &check->findings[indices[i].finding];
        const struct sp_line *lines[SP_MOST_LINES];
        struct sp_indices own;
        struct named_line named = {.numbers = own.value};
        const size_t count = first || last ? sp_proposal_lines(proposals, finding, &own, lines) : 0;
        if (finding->tensor != SHAPEPROOF_NONE)
            named.tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
        for (size_t k = 0; k < count; k++) {
            named.line = lines[k];
            sp_line_find_iterations(&proposals->outline.solver, lines[k], own.value);
            visit(proposals, &named);
            sp_loop_leave(lines[k]->loop);
        }
    }
}

/* A tensor of another rank is what another line of that name has, one whose condition is not met. */
static void propose_rank(struct sp_proposals *proposals, const struct shapeproof_finding *finding)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(proposals->check->inventory, finding->tensor);
    const struct sp_line *lines[SP_MOST_LINES];
    struct sp_indices indices;
    if (tensor->rank == shapeproof_prediction_tensor(proposals->check->prediction, finding->predicted)->rank) return;
    const size_t count = sp_proposal_lines(proposals, finding, &indices, lines);
    for (size_t i = 0; i < count; i++) {
        if (lines[i]->row->rank != tensor->rank) continue;
        sp_line_find_iterations(&proposals->outline.solver, lines[i], indices.value);
        sp_propose_met(proposals, lines[i], true, is_flag);
        sp_loop_leave(lines[i]->loop);
    }
}

/* Findings in the same words ask the same question. */
static void propose_ranks(struct sp_proposals *proposals)
{
    const struct shapeproof_check *check = proposals->check;
    struct sp_map asked = {0};
    for (size_t i = 0; i < check->finding_count && proposals->count < SP_MOST_PROPOSALS; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_SHAPE) &&
            sp_map_add(&asked, check->findings[i].message, i))
            propose_rank(proposals, &check->findings[i]);
    sp_map_free(&asked);
}

void sp_propose_flags(struct sp_proposals *proposals)
{
    each_line(proposals, propose_flags);
    propose_ranks(proposals);
}

void sp_propose_conditions(struct sp_proposals *proposals) { each_line(proposals, propose_others); }
