/* SPDX-License-Identifier: MIT
 * A list of modules is all tensors of the file whose names begin alike, up to a number: resblocks.#. Where a table
 * computes that number from keys, {i*K + k}, {before(s) + j}, no single name tells these keys. They are found by
 * backtracking: values are tried for each key that a number or the end of a loop lacks, one key after the other. The
 * values agree with the file when each iteration of a loop has its tensor, with the dimensions that it should have, no
 * two iterations have the same one, and no tensor of the list is left over. */
#include "infer/numbers/numbers.h"

#include <stdlib.h>

#include "infer/limits.h"
#include "infer/numbers/modules.h"

/* Whether a line makes names of the list. `begin`, of that length: the pattern up to the number that tells its modules
 * apart; before it the line must be able to have the list's numbers (modules->numbers). */
static bool is_of_list(const struct sp_modules *modules, const struct sp_line *line, const char *begin, size_t length)
{
    if (line->hole_count <= modules->front || line->old_of != SP_NO_LINE || strncmp(line->name, begin, length) != 0)
        return false;
    for (size_t i = 0; i < modules->front; i++) {
        const struct sp_hole *hole = &line->holes[i];
        if (hole->expr || (hole->loop ? sp_line_iteration(line, hole->loop, modules->numbers) < 0
                                      : hole->constant != modules->numbers[i]))
            return false;
    }
    return true;
}

/* Whether the name of the tensor has the numbers of the list before the one that tells the modules apart. */
static bool has_front_numbers(const struct sp_modules *modules, const struct sp_named *named)
{
    return memcmp(named->place.indices.value, modules->numbers, modules->front * sizeof *modules->numbers) == 0;
}

/* Adds a line to the list, with the tensors that have its names and were not counted for a line before. */
static void add_modules(struct sp_modules *modules, size_t line)
{
    const struct sp_shapes *shapes = modules->deduction->occurrences.shapes;
    const size_t pattern = sp_shapes_find(shapes, modules->deduction->outline->lines[line].name);
    modules->lines[modules->count++] = line;
    for (size_t i = shapes->first[pattern]; i < shapes->first[pattern + 1]; i++) {
        const struct sp_named *named = &shapes->named[i];
        if (!has_front_numbers(modules, named) || modules->stamps[i] == modules->stamp) continue;
        modules->stamps[i] = modules->stamp;
        modules->is_asked[line] = true;
        modules->tensors++;
        const uint64_t number = named->place.indices.value[modules->front];
        if (number > modules->most) modules->most = number;
    }
}

/* The length of the pattern up to and with its number'th index: of "a.#.b.#" and 1, 7. */
static size_t length_to_number(const char *name, size_t number)
{
    size_t length = 0;
    for (;; length++)
        if (name[length] == SP_INDEX_MARK && !number--) return length + 1;
}

/* Takes the price of collecting a list from the steps that are left: it looks at that many tensors. */
static void spend_on_list(struct sp_modules *modules, size_t tensors)
{
    const size_t steps = 1 + tensors / SP_TENSORS_OF_A_STEP;
    *modules->left -= steps < *modules->left ? steps : *modules->left;
}

/* Gathers the list of modules that a tensor belongs to: all tensors whose names are alike up to the unknown number of
 * the line. For visual.resblocks.3.weight these are visual.resblocks.0 to 8. */
static void collect_list(struct sp_modules *modules, size_t line, size_t named)
{
    const struct sp_deduction *deduction = modules->deduction;
    const struct sp_line *lines = deduction->outline->lines;
    modules->numbers = deduction->occurrences.shapes->named[named].place.indices.value;
    modules->count = modules->tensors = modules->most = 0;
    modules->is_solved = false;
    modules->stamp++;
    const size_t length = length_to_number(lines[line].name, modules->front);
    for (size_t i = 0; i < deduction->outline->count; i++)
        if (deduction->occurrences.of[i].count && is_of_list(modules, &lines[i], lines[line].name, length))
            add_modules(modules, i);
}

/* Solves the keys that an unknown number in the names of a list depends on, for the list of the tensor `named`, which
 * is of that line: of "resblocks.{i*K + k}" with modules 0 to 8, K = 3. Returns whether anything became known. */
static bool tell_by_list(struct sp_modules *modules, size_t line, size_t named)
{
    struct sp_deduction *deduction = modules->deduction;
    collect_list(modules, line, named);
    sp_stages_read(&modules->stages, deduction, modules->lines, modules->count, modules->numbers, modules->front,
                   modules->most);
    modules->guesses = deduction->solver->known.guesses;
    struct sp_known *known = &deduction->solver->known;
    const struct sp_mark mark = sp_known_mark(known);
    const size_t before = known->told;
    known->reason = sp_modules_reason(modules, named);
    known->touched = 0; /* nothing that is asked for from here on follows from a guess yet */
    sp_modules_search(modules, 0);
    const bool needed_no_choice = modules->is_solved && !modules->solution_depth;
    if (needed_no_choice) { /* what the walk of the loops made known follows, and stays */
        const bool ended = sp_modules_tell_ends(modules, named);
        sp_known_commit(known, &mark);
        return ended || known->told != before;
    }
    sp_known_undo(known, &mark);
    if (!modules->is_solved) return false;
    /* Of the values that the search chose, and that were undone with it, tells those that all solutions share. */
    return deduction->by_stages ? sp_modules_tell_staged(modules, named) : sp_modules_tell(modules, named);
}

/* Whether the file has tensors of a line in a loop whose name has a number without a value. */
static bool has_unknown_number(const struct sp_occurrence *occurrence)
{
    return occurrence->unknown != SIZE_MAX && occurrence->count && occurrence->line->loop;
}

/* The first hole of the name whose expression has no value yet; the count of holes when all have one. */
static size_t first_unknown(struct sp_solver *solver, const struct sp_line *line)
{
    for (size_t i = 0; i < line->hole_count; i++) {
        const struct sp_hole *hole = &line->holes[i];
        if (hole->expr && sp_solver_value(solver, hole->env, hole->expr).type == SHAPEPROOF_VALUE_UNKNOWN) return i;
    }
    return line->hole_count;
}

/* Solves the lists that a line's tensors are of, one for each combination of the numbers in front, until one tells
 * something. */
static bool tell_by_line(struct sp_modules *modules, size_t line)
{
    const struct sp_occurrence *occurrence = &modules->deduction->occurrences.of[line];
    modules->front = first_unknown(modules->deduction->solver, occurrence->line);
    bool told = false;
    const bool is_open = modules->front < occurrence->line->hole_count;
    for (size_t i = 0; i < occurrence->count && is_open && *modules->left && !told; i++) {
        const struct sp_named *named = &modules->deduction->occurrences.shapes->named[occurrence->named[i]];
        if (i && has_front_numbers(modules, named)) continue; /* of the same list */
        spend_on_list(modules, occurrence->count);
        told = tell_by_list(modules, line, occurrence->named[i]);
        sp_stages_free(&modules->stages);
    }
    return told;
}

static bool tell_by_lines(struct sp_modules *modules)
{
    const struct sp_deduction *deduction = modules->deduction;
    const size_t lines = deduction->outline->count, tensors = deduction->occurrences.shapes->count;
    bool told = false;
    modules->lines = sp_realloc(NULL, lines, sizeof *modules->lines);
    modules->is_asked = sp_realloc(NULL, lines, sizeof *modules->is_asked);
    modules->stamps = sp_realloc(NULL, tensors, sizeof *modules->stamps);
    memset(modules->is_asked, 0, lines * sizeof *modules->is_asked);
    memset(modules->stamps, 0, tensors * sizeof *modules->stamps);
    for (size_t i = 0; i < lines && *modules->left && !told; i++)
        told = has_unknown_number(&deduction->occurrences.of[i]) && !modules->is_asked[i] && tell_by_line(modules, i);
    sp_free(modules->lines);
    sp_free(modules->is_asked);
    sp_free(modules->stamps);
    return told;
}

bool sp_tell_by_numbers(struct sp_deduction *deduction)
{
    struct sp_modules modules = {.deduction = deduction, .left = &deduction->modules_left};
    for (size_t i = 0; i < deduction->outline->count && *modules.left; i++)
        if (has_unknown_number(&deduction->occurrences.of[i])) return tell_by_lines(&modules);
    return false;
}

bool sp_has_stages(const struct sp_deduction *deduction)
{
    for (size_t i = 0; i < deduction->outline->count; i++) {
        const struct sp_line *line = &deduction->outline->lines[i];
        for (size_t k = 0; k < line->hole_count && deduction->occurrences.of[i].count; k++) {
            const struct sp_loop *loop = sp_stage_loop(line, k);
            if (loop && loop->outer) return true;
        }
    }
    return false;
}
