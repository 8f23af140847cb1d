/* SPDX-License-Identifier: MIT
 * A list of modules is all of the file whose names begin alike, up to a number: resblocks.#. Where a table works that
 * number out of keys, {i*K + k}, {before(s) + j}, these are told by no name alone. Of each key that a number or the end
 * of a loop lacks values are tried, one key after the other. They agree with the file when each turn of a loop has its
 * tensor, with the dimensions that it should have, no two turns have the same one, and none is left over. */
#include "infer/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "lang/functions.h"
#include "solve/invert.h"
#include "solve/turns.h"

enum { MAX_CHOICES = 32, MAX_ENDS = 8, MAX_VALUE = 128 };

struct choice {
    const char *key;
    struct sp_want want;
};

/* A loop whose end was not known, and that went as far as the names do. */
struct end {
    const struct sp_loop *loop;
    int64_t last;
};

struct modules {
    struct sp_deduction *deduction;
    size_t *lines;
    size_t count;
    size_t *stamps; /* of each tensor of the file: when a turn had it */
    size_t stamp, tensors, found;
    size_t front;            /* numbers in front of that which tells the modules apart */
    const uint64_t *numbers; /* of a tensor of the list: these are what they are */
    uint64_t most;           /* the highest that tells modules apart */
    size_t *left;            /* tensors that may still be looked at, and values tried */
    size_t steps;            /* tensors that were found, and keys that were lacked */
    const char *lacks;       /* the key that the last pass lacked, or NULL */
    bool open_ended;         /* in that pass, of the line: an end that only the names tell */
    struct choice choices[MAX_CHOICES];
    size_t depth;
    bool is_solved;
    struct choice solution[MAX_CHOICES]; /* the first one */
    size_t solution_depth, common;       /* all solutions begin with so many of its choices */
    struct end ends[MAX_ENDS];           /* of the last pass */
    size_t end_count;
    bool *is_asked; /* of each line: it was one of a list before */
};

/* ---- one pass ---- */

/* Whether a loop was entered, for want of a known end, beyond its first turn: then there may be no such tensor. */
static bool is_beyond_end(const struct modules *modules, struct sp_turns *turns)
{
    if (!modules->open_ended) return false;
    for (const struct sp_loop *loop = turns->line->loop; loop; loop = loop->outer) {
        const struct sp_value last = sp_solver_value(turns->solver, loop->env, loop->clause->last);
        const struct sp_value first = sp_solver_value(turns->solver, loop->env, loop->clause->first);
        if (last.type == SP_UNKNOWN && loop->binding.value.integer > first.integer) return true;
    }
    return false;
}

/* One of the conditions that are not known may be the reason: of a single one that is told. */
static bool is_excused_turn(struct sp_turns *turns)
{
    const struct sp_line_condition *open = NULL;
    size_t count = 0;
    for (const struct sp_line_condition *condition = turns->line->condition; condition; condition = condition->outer)
        if (sp_condition_value(turns->solver, condition).type == SP_UNKNOWN) {
            open = condition;
            count++;
        }
    if (count == 1) return sp_invert_bool(turns->solver, open->env, open->expr, false) != SP_CONTRADICTS;
    return count > 0 || turns->line->optional || turns->line->row->has_tie;
}

static bool agrees_with(struct sp_turns *turns, const struct modules *modules, size_t named)
{
    const struct sp_tensor *tensor = sp_occurrence_tensor(&modules->deduction->occurrences, named);
    const struct sp_line *line = turns->line;
    bool agrees = tensor->rank == line->row->rank;
    for (const struct sp_line_condition *condition = line->condition; condition && agrees; condition = condition->outer)
        agrees = sp_invert_bool(turns->solver, condition->env, condition->expr, true) != SP_CONTRADICTS;
    for (size_t d = 0; d < line->row->rank && agrees; d++) {
        const struct sp_want want = sp_want_value(sp_value_int((int64_t)tensor->shape[d]));
        agrees = sp_shapes_is_flat(modules->deduction->occurrences.shapes, named) ||
                 sp_invert(turns->solver, line->env, line->row->shape[d], &want) != SP_CONTRADICTS;
    }
    return agrees;
}

static bool visit_module(struct sp_turns *turns)
{
    struct modules *modules = turns->context;
    const struct sp_shapes *shapes = modules->deduction->occurrences.shapes;
    uint64_t numbers[SP_MAX_INDICES];
    if (!*modules->left) return false;
    --*modules->left;
    if (sp_line_numbers(turns->solver, turns->line, numbers, &turns->open) != SP_HOLDS) return false;
    if (sp_line_is_ruled_out(turns->solver, turns->line)) return true;
    const size_t named =
        sp_shapes_seek(shapes, sp_shapes_find(shapes, turns->line->name), numbers, turns->line->hole_count);
    if (named == SP_NONE) return is_beyond_end(modules, turns) || is_excused_turn(turns);
    if (modules->stamps[named] == modules->stamp || !agrees_with(turns, modules, named)) return false;
    modules->stamps[named] = modules->stamp;
    modules->found++;
    modules->steps++;
    return true;
}

static void note_end(struct modules *modules, const struct sp_loop *loop, int64_t last)
{
    size_t i = 0;
    while (i < modules->end_count && modules->ends[i].loop != loop) i++;
    if (i == MAX_ENDS) return;
    if (i == modules->end_count) modules->ends[modules->end_count++] = (struct end){loop, last};
    else if (last > modules->ends[i].last) modules->ends[i].last = last;
}

/* A loop whose index is in the name goes as far as the names do. */
static struct sp_value end_by_names(struct sp_turns *turns, const struct sp_loop *loop)
{
    struct modules *modules = turns->context;
    const struct sp_shapes *shapes = modules->deduction->occurrences.shapes;
    const size_t pattern = sp_shapes_find(shapes, turns->line->name);
    int64_t last = -1;
    for (size_t i = shapes->first[pattern]; i < shapes->first[pattern + 1]; i++) {
        const int64_t turn = sp_line_turn(turns->line, loop, shapes->named[i].place.indices.value);
        if (turn > last) last = turn;
    }
    modules->open_ended = true;
    if (last >= 0) note_end(modules, loop, last);
    return last < 0 ? turns->open : sp_value_int(last);
}

/* The turns that the numbers in front stand for. */
static void enter_front(const struct modules *modules, const struct sp_line *line)
{
    for (size_t i = 0; i < modules->front; i++)
        if (line->holes[i].loop)
            sp_loop_enter(line->holes[i].loop, sp_line_turn(line, line->holes[i].loop, modules->numbers));
}

/* The line in all its turns. SP_OPEN: when it takes a key, `lacks`. */
static enum sp_answer walk_line(struct modules *modules, size_t place, const char **lacks)
{
    struct sp_deduction *deduction = modules->deduction;
    const struct sp_line *line = &deduction->outline->lines[modules->lines[place]];
    struct sp_turns turns = {.solver = deduction->solver,
                             .line = line,
                             .visit = visit_module,
                             .end = end_by_names,
                             .context = modules,
                             .left = *modules->left};
    modules->open_ended = false;
    enter_front(modules, line);
    const bool all = sp_walk_turns(&turns);
    sp_loop_leave(line->loop);
    *lacks = turns.open.type == SP_UNKNOWN && *turns.open.string ? turns.open.string : NULL;
    if (all) return SP_HOLDS;
    return *lacks ? SP_OPEN : SP_CONTRADICTS;
}

/* All lines from the one at `from` on, in all their turns. SP_OPEN: the one that is now at `from` takes a key, `lacks`;
 * what those behind it find does not count, but that something contradicts does. */
static enum sp_answer pass(struct modules *modules, size_t *from)
{
    enum sp_answer answer = SP_HOLDS;
    modules->stamp++;
    modules->found = 0;
    if (!*from) modules->end_count = 0;
    for (size_t i = *from; i < modules->count; i++) {
        const char *lacks;
        const size_t steps = modules->steps;
        const enum sp_answer own = walk_line(modules, i, &lacks);
        if (own == SP_CONTRADICTS) return own;
        if (answer == SP_OPEN) modules->steps = steps;
        if (own == SP_HOLDS || answer == SP_OPEN) continue;
        answer = own;
        modules->lacks = lacks;
        *from = i;
    }
    return answer;
}

/* Whether all is known, and each tensor that of a turn. */
static bool is_whole(struct modules *modules)
{
    size_t from = 0;
    return pass(modules, &from) == SP_HOLDS && modules->found == modules->tensors;
}

/* ---- trying ---- */

static void search(struct modules *modules, size_t from);

/* The item of a list is told as one of it. */
static enum sp_answer tell_choice(struct sp_known *known, const struct choice *choice)
{
    const char *bracket = strrchr(choice->key, '[');
    struct sp_want want = choice->want;
    if (!bracket || bracket[strlen(bracket) - 1] != ']' || want.kind != SP_WANT_VALUE)
        return sp_known_tell(known, choice->key, &want);
    want.kind = SP_WANT_ITEM;
    want.index = strtoul(bracket + 1, NULL, 10);
    return sp_known_tell(known, sp_arena_copy(known->arena, choice->key, (size_t)(bracket - choice->key)), &want);
}

/* Whether all choices up to that one are those of the first solution. */
static bool is_in_solution(const struct modules *modules, size_t last)
{
    for (size_t i = 0; i <= last; i++) {
        const struct choice *own = &modules->choices[i], *first = &modules->solution[i];
        if (i >= modules->depth || strcmp(own->key, first->key) != 0 || own->want.kind != first->want.kind ||
            !sp_values_equal(own->want.value, first->want.value))
            return false;
    }
    return true;
}

/* Whether another solution that begins as it has begun could tell nothing new. */
static bool is_idle(const struct modules *modules)
{
    return modules->is_solved && (!modules->common || is_in_solution(modules, modules->common - 1));
}

/* Whether that leads anywhere: to a tensor, or to another key. */
static bool try_choice(struct modules *modules, size_t from, const char *key, struct sp_want want)
{
    struct sp_known *known = &modules->deduction->solver->known;
    const size_t before = modules->steps;
    if (is_idle(modules) || !*modules->left) return false;
    struct sp_kept kept = sp_known_keep(known);
    --*modules->left;
    modules->choices[modules->depth] = (struct choice){key, want};
    if (tell_choice(known, &modules->choices[modules->depth]) == SP_HOLDS) {
        modules->depth++;
        search(modules, from);
        modules->depth--;
    }
    sp_known_restore(known, &kept);
    return modules->steps != before;
}

/* How long a list is, and how many there are of something: it is one of the two. An item that were none would not be
 * in a list. */
static void try_counts(struct modules *modules, size_t from, const char *key, bool is_item)
{
    const int64_t most = modules->most < MAX_VALUE ? (int64_t)modules->most + 1 : MAX_VALUE;
    bool is_list = true, is_number = true;
    for (int64_t i = 1; i <= most && is_list; i++) {
        const bool leads = try_choice(modules, from, key, (struct sp_want){SP_WANT_LENGTH, .value = sp_value_int(i)});
        if (i > 1) continue;
        const bool counts = try_choice(modules, from, key, sp_want_value(sp_value_int(1)));
        is_list = leads || !counts;
        is_number = counts || !leads;
    }
    for (int64_t i = 2; i <= most && is_number; i++) try_choice(modules, from, key, sp_want_value(sp_value_int(i)));
    if (!is_item) try_choice(modules, from, key, sp_want_value(sp_value_int(0)));
}

/* Or whether it is so; which of the texts it is; that it is not set. */
static void try_choices(struct modules *modules, size_t from, const char *key)
{
    const bool is_item = key[strlen(key) - 1] == ']';
    struct sp_literals texts = {0};
    if (!sp_is_class_key(key)) try_counts(modules, from, key, is_item);
    for (int i = 0; i < 2; i++) try_choice(modules, from, key, sp_want_value(sp_value_bool(i == 0)));
    sp_literals_about(&texts, modules->deduction->solver->table, key);
    for (size_t i = 0; i < texts.count; i++)
        try_choice(modules, from, key, sp_want_value(sp_value_string(texts.list[i])));
    sp_literals_free(&texts);
    if (!modules->is_solved && !is_item)
        try_choice(modules, from, key, sp_want_value((struct sp_value){.type = SP_ABSENT, .string = key}));
}

static void search(struct modules *modules, size_t from)
{
    const enum sp_answer answer = pass(modules, &from);
    const char *last = modules->depth ? modules->choices[modules->depth - 1].key : ""; /* lacked in vain */
    if (answer == SP_OPEN && modules->depth < MAX_CHOICES && strcmp(last, modules->lacks) != 0) {
        modules->steps++;
        try_choices(modules, from, modules->lacks);
    }
    if (answer != SP_HOLDS || !is_whole(modules)) return;
    if (modules->is_solved) {
        while (modules->common && !is_in_solution(modules, modules->common - 1)) modules->common--;
        return;
    }
    modules->is_solved = true;
    modules->common = modules->solution_depth = modules->depth;
    memcpy(modules->solution, modules->choices, sizeof modules->choices);
}

static struct sp_reason reason_of(const struct modules *modules, size_t named)
{
    return (struct sp_reason){.kind = SP_REASON_INDICES,
                              .name = sp_occurrence_tensor(&modules->deduction->occurrences, named)->name};
}

static void tell_as(struct modules *modules, const struct choice *choice, size_t named, bool is_guess)
{
    struct sp_known *known = &modules->deduction->solver->known;
    known->touched = 0;
    if (is_guess) {
        known->reason = (struct sp_reason){.kind = SP_REASON_GUESS, .name = ""};
        sp_known_guess(known, choice->key);
    } else {
        known->reason = reason_of(modules, named);
        known->reason.rounded = choice->want.value.type == SP_INT;
    }
    tell_choice(known, choice);
}

/* Of the choices from `first` on and before `end`. */
static bool tell_choices(struct modules *modules, size_t first, size_t end, bool lengths, size_t named, bool is_guess)
{
    const struct sp_known *known = &modules->deduction->solver->known;
    const size_t before = known->told;
    for (size_t i = first; i < end; i++)
        if (lengths || modules->solution[i].want.kind == SP_WANT_VALUE)
            tell_as(modules, &modules->solution[i], named, is_guess);
    return known->told != before;
}

/* What all solutions begin with; when that is nothing new, the rest of the first one is a guess. How long lists are
 * follows from their items, as long as there is anything else to tell. */
static bool tell_solution(struct modules *modules, size_t named)
{
    const size_t certain = *modules->left ? modules->common : 0, all = modules->solution_depth;
    return tell_choices(modules, 0, certain, false, named, false) ||
           tell_choices(modules, certain, all, !*modules->left, named, true) ||
           tell_choices(modules, 0, certain, true, named, false);
}

/* Where nothing else is lacked: what went as far as the names do ends there. */
static bool tell_ends(struct modules *modules, size_t named)
{
    struct sp_solver *solver = modules->deduction->solver;
    const size_t before = solver->known.told;
    for (size_t i = 0; i < modules->end_count && !modules->solution_depth; i++) {
        const struct sp_want want = sp_want_value(sp_value_int(modules->ends[i].last));
        solver->known.reason = (struct sp_reason){
            .kind = SP_REASON_LAST, .name = sp_occurrence_tensor(&modules->deduction->occurrences, named)->name};
        solver->known.touched = 0;
        sp_invert(solver, modules->ends[i].loop->env, modules->ends[i].loop->clause->last, &want);
    }
    return solver->known.told != before;
}

/* ---- the lists of a file ---- */

/* Whether a line is one of the list of the tensor. `begin`: the pattern up to the number that tells its modules apart.
 */
static bool is_of_list(const struct modules *modules, const struct sp_line *line, const char *begin, size_t length)
{
    if (line->hole_count <= modules->front || line->old_of != SIZE_MAX || strncmp(line->name, begin, length) != 0)
        return false;
    for (size_t i = 0; i < modules->front; i++) {
        const struct sp_hole *hole = &line->holes[i];
        if (hole->expr ||
            (hole->loop ? sp_line_turn(line, hole->loop, modules->numbers) < 0 : hole->constant != modules->numbers[i]))
            return false;
    }
    return true;
}

static bool is_in_front(const struct modules *modules, const struct sp_named *named)
{
    return memcmp(named->place.indices.value, modules->numbers, modules->front * sizeof *modules->numbers) == 0;
}

/* The tensors of the list under the names of a line, but for those that another one has as well. */
static void add_modules(struct modules *modules, size_t line)
{
    const struct sp_shapes *shapes = modules->deduction->occurrences.shapes;
    const size_t pattern = sp_shapes_find(shapes, modules->deduction->outline->lines[line].name);
    modules->lines[modules->count++] = line;
    modules->is_asked[line] = true;
    for (size_t i = shapes->first[pattern]; i < shapes->first[pattern + 1]; i++) {
        const struct sp_named *named = &shapes->named[i];
        if (!is_in_front(modules, named) || modules->stamps[i] == modules->stamp) continue;
        modules->stamps[i] = modules->stamp;
        modules->tensors++;
        const uint64_t number = named->place.indices.value[modules->front];
        if (number > modules->most) modules->most = number;
    }
}

static size_t length_to_number(const char *name, size_t number)
{
    size_t length = 0;
    for (;; length++)
        if (name[length] == SP_INDEX_MARK && !number--) return length + 1;
}

/* The list of which the tensor is, by the number that is not known of the line. */
static bool tell_by_list(struct modules *modules, size_t line, size_t named)
{
    struct sp_deduction *deduction = modules->deduction;
    const struct sp_line *lines = deduction->outline->lines;
    modules->numbers = deduction->occurrences.shapes->named[named].place.indices.value;
    modules->count = modules->tensors = modules->most = 0;
    modules->is_solved = false;
    modules->stamp++;
    const size_t length = length_to_number(lines[line].name, modules->front);
    for (size_t i = 0; i < deduction->outline->count; i++)
        if (deduction->occurrences.of[i].count && is_of_list(modules, &lines[i], lines[line].name, length))
            add_modules(modules, i);
    struct sp_known *known = &deduction->solver->known;
    struct sp_kept kept = sp_known_keep(known);
    const size_t before = known->told;
    known->reason = reason_of(modules, named);
    known->touched = 0;
    search(modules, 0);
    if (modules->is_solved && !modules->solution_depth) { /* what the turns told on the way is so */
        const bool ended = tell_ends(modules, named);
        free(kept.facts);
        return ended || known->told != before;
    }
    sp_known_restore(known, &kept);
    return modules->is_solved && tell_solution(modules, named);
}

static bool is_worked_out(const struct sp_occurrence *occurrence)
{
    return occurrence->unknown != SIZE_MAX && occurrence->count && occurrence->line->loop;
}

/* The first number that is worked out of what is not known; as many as there are when each is. */
static size_t first_unknown(struct sp_solver *solver, const struct sp_line *line)
{
    for (size_t i = 0; i < line->hole_count; i++) {
        const struct sp_hole *hole = &line->holes[i];
        if (hole->expr && sp_solver_value(solver, hole->env, hole->expr).type == SP_UNKNOWN) return i;
    }
    return line->hole_count;
}

/* One list for each beginning of their names, numbers and all. */
static bool tell_by_line(struct modules *modules, size_t line)
{
    const struct sp_occurrence *occurrence = &modules->deduction->occurrences.of[line];
    modules->front = first_unknown(modules->deduction->solver, occurrence->line);
    for (size_t i = 0; i < occurrence->count && modules->front < occurrence->line->hole_count; i++) {
        const struct sp_named *named = &modules->deduction->occurrences.shapes->named[occurrence->named[i]];
        if (i && is_in_front(modules, named)) continue;
        if (tell_by_list(modules, line, occurrence->named[i])) return true;
    }
    return false;
}

static bool tell_by_lines(struct modules *modules)
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
        told = is_worked_out(&deduction->occurrences.of[i]) && !modules->is_asked[i] && tell_by_line(modules, i);
    free(modules->lines);
    free(modules->is_asked);
    free(modules->stamps);
    return told;
}

bool sp_tell_by_numbers(struct sp_deduction *deduction)
{
    struct modules modules = {.deduction = deduction, .left = &deduction->modules_left};
    for (size_t i = 0; i < deduction->outline->count && *modules.left; i++)
        if (is_worked_out(&deduction->occurrences.of[i])) return tell_by_lines(&modules);
    return false;
}
