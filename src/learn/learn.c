/* SPDX-License-Identifier: MIT */
#include "shapeproof/learn.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"
#include "config/config.h"
#include "lang/tables.h"
#include "learn/learning.h"

/* ---- the flow ---- */

static bool is_table_name(const char *name)
{
    if (!*name || sp_is_digit(*name)) return false;
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

static const char *name_of_table(struct shapeproof_learning *learning)
{
    const struct sp_terminal *type = sp_evidence_terminal(&learning->evidence, "_class_name");
    if (!type) type = sp_evidence_terminal(&learning->evidence, "model_type");
    if (!type || type->values[0].type != SHAPEPROOF_VALUE_STRING) return "learnt";
    char *name = sp_arena_string(&learning->arena, type->values[0].string);
    for (char *c = name; *c; c++)
        if (*c == '-' || *c == '.') *c = '_';
    return is_table_name(name) ? name : "learnt";
}

/* A pattern without the marks of places. */
static const char *without_places(struct sp_arena *arena, const char *pattern)
{
    char *plain = sp_arena_string(arena, pattern), *end = plain;
    for (const char *c = pattern; *c; c++)
        if (*c < SP_FIRST_PLACE || *c > SP_LAST_PLACE) *end++ = *c;
    *end = '\0';
    return plain;
}

const char *sp_row_shown(struct sp_arena *arena, const char *pattern)
{
    pattern = without_places(arena, pattern);
    if (*pattern != SP_FRONT_MARK) return sp_pattern_shown(arena, pattern);
    return sp_arena_printf(arena, "{p}%s", sp_pattern_shown(arena, pattern + 1));
}

/* Adds to `rest` what the table does not explain, with the reasons, and to `unexplained` the tensors of rows that are
 * not solved. */
static void list_unexplained_rows(struct shapeproof_learning *learning)
{
    const struct sp_layout *layout = &learning->problem.layout;
    if (learning->evidence.spent > learning->evidence.most)
        *SP_PUSH(&learning->rest) =
            sp_arena_printf(&learning->arena,
                            "the search reached its limit of %llu values: expressions for what follows may exist "
                            "beyond it",
                            (unsigned long long)learning->evidence.most);
    if (*layout->fronts.text && !layout->fronted.term)
        *SP_PUSH(&learning->rest) =
            sp_arena_printf(&learning->arena, "nothing in the configurations determines which names begin with '%s'",
                            layout->fronts.text);
    for (size_t i = 0; i < layout->rows.count; i++) {
        const struct sp_tensor_row *row = &layout->rows.items[i];
        if (row->is_solved || row->is_inner) continue;
        for (size_t k = 0; k < row->places.count; k++)
            sp_map_add(&learning->unexplained, row->places.items[k].tensor->name, i);
        *SP_PUSH(&learning->rest) =
            sp_arena_printf(&learning->arena, "%s: %s", sp_row_shown(&learning->arena, row->pattern),
                            row->why_not ? row->why_not : "the search ended before it");
    }
}

/* How many rows an example has, and how many of these another one has as well. */
static size_t count_common_rows(const struct sp_layout *layout, size_t example, size_t other, size_t *rows)
{
    size_t common = 0;
    *rows = 0;
    for (size_t i = 0; i < layout->rows.count; i++) {
        const bool here = sp_row_is_in(&layout->rows.items[i], example);
        *rows += here;
        common += here && sp_row_is_in(&layout->rows.items[i], other);
    }
    return common;
}

/* Finds examples that share less than a quarter of their names with the first one: a table for such would only say
 * which file is which. */
static void find_strangers(struct shapeproof_learning *learning)
{
    for (size_t e = 1; e < learning->evidence.count; e++) {
        size_t first, here;
        const size_t common = count_common_rows(&learning->problem.layout, 0, e, &first);
        count_common_rows(&learning->problem.layout, e, 0, &here);
        const size_t fewer = first < here ? first : here;
        if (common * 4 >= fewer) continue;
        learning->are_strangers = true;
        *SP_PUSH(&learning->rest) = sp_arena_printf(
            &learning->arena, "%s and %s have %zu of %zu names in common: they are of different architectures",
            shapeproof_inventory_path(learning->evidence.examples[0].inventory),
            shapeproof_inventory_path(learning->evidence.examples[e].inventory), common, fewer);
    }
}

static bool can_learn(size_t count, const struct shapeproof_tables *tables,
                      const struct shapeproof_learn_options *options, struct shapeproof_error *error)
{
    if (options && !sp_options_are_known(options->reserved, error)) return false;
    if (!count) return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "there is nothing to learn from");
    if (options && options->name && !is_table_name(options->name))
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "'%s' cannot be the name of a table",
                       options->name);
    return !options || !options->like || sp_tables_table(tables, options->like, error);
}

/* Writes and proves the table for the layout that is solved: as an extension of `like` if that is given and fits, else
 * by itself, or as an extension of a table that is near. */
static void write_learnt(struct shapeproof_learning *learning, const char *like, struct shapeproof_error *error)
{
    find_strangers(learning);
    list_unexplained_rows(learning);
    sp_learn_ambiguity(learning);
    if (like && !learning->are_strangers && sp_learn_extend(learning, like, error)) return;
    if (!like) sp_learn_find_near(learning);
    sp_learn_letters(learning, like);
    sp_learn_write(learning);
    learning->is_proved = sp_learn_prove(learning, error);
    sp_learn_extend_near(learning, error);
}

static void free_ambiguities(struct shapeproof_learning *learning)
{
    for (size_t i = 0; i < learning->undecided.count; i++) sp_free(learning->undecided.items[i].places.items);
    learning->undecided.count = 0;
}

/* Forgets the letters and what was reported, so that the table can be written again. */
static void start_over(struct shapeproof_learning *learning)
{
    free_ambiguities(learning);
    learning->rest.count = learning->explained = 0;
    learning->are_strangers = false;
    learning->near = NULL;
    learning->known = NULL;
    sp_map_free(&learning->unexplained);
    learning->unexplained = (struct sp_map){0};
    for (size_t i = 0; i < learning->evidence.terminals.count; i++) {
        struct sp_terminal *terminal = learning->evidence.terminals.items[i];
        terminal->letter = terminal->comment = terminal->says = NULL;
        terminal->uses = 0;
    }
}

/* Writes and proves the rows that are solved. */
static void write_again(struct shapeproof_learning *learning, struct shapeproof_error *error)
{
    list_unexplained_rows(learning);
    sp_learn_ambiguity(learning);
    sp_learn_letters(learning, NULL);
    sp_learn_write(learning);
    sp_learn_prove(learning, error);
}

/* Writes what is right of a table with mistakes, so that every command accepts it: without the rows that are wrong, or,
 * if that is not sound either, without any. */
static void write_what_is_right(struct shapeproof_learning *learning, struct shapeproof_error *error)
{
    start_over(learning);
    sp_learn_leave_out_wrong_rows(learning);
    write_again(learning, error);
    if (learning->is_sound) return;
    start_over(learning);
    sp_learn_leave_out_all_rows(learning);
    write_again(learning, error);
}

/* Solves the layout and writes the table; with the tables of configurations within this one if it is proved with them,
 * else without. */
static void learn_table(struct shapeproof_learning *learning, const char *like, struct shapeproof_error *error)
{
    struct sp_layout *layout = &learning->problem.layout;
    sp_solve_layout(&learning->problem);
    if (!like && !*layout->fronts.text) sp_inners_find(&learning->inners, layout, learning->tables, learning->name);
    write_learnt(learning, like, error);
    if (!learning->is_proved && learning->inners.count) {
        sp_inners_forget(&learning->inners, layout);
        start_over(learning);
        write_learnt(learning, like, error);
    }
    if (!learning->is_proved && !learning->is_sound && !learning->are_strangers) write_what_is_right(learning, error);
}

/* One complete run of learning, whether it succeeds or not. */
static struct shapeproof_learning *learn_once(const struct shapeproof_learn_example *examples, size_t count,
                                              const struct shapeproof_tables *tables,
                                              const struct shapeproof_learn_options *options, enum sp_words words,
                                              struct shapeproof_error *error)
{
    struct shapeproof_learning *learning = sp_realloc(NULL, 1, sizeof *learning);
    *learning = (struct shapeproof_learning){.tables = tables};
    learning->evidence = (struct sp_evidence){.arena = &learning->arena, .examples = examples, .count = count};
    learning->evidence.watch = options ? options->watch : NULL;
    learning->evidence.most = options && options->most_values ? options->most_values : SHAPEPROOF_LEARN_MOST_VALUES;
    learning->problem.evidence = &learning->evidence;
    learning->problem.words = words;
    sp_evidence_gather(&learning->evidence);
    if (!learning->evidence.terminals.count) {
        sp_learn_invent(learning);
        sp_evidence_gather(&learning->evidence);
    }
    learning->name = options && options->name ? options->name : name_of_table(learning);
    learn_table(learning, options ? options->like : NULL, error);
    return learning;
}

/* Learns with words as items of lists; if the table is then not proved, learns once more with words as names, and takes
 * that if it is proved or explains more. */
struct shapeproof_learning *shapeproof_learn(const struct shapeproof_learn_example *examples, size_t count,
                                             const struct shapeproof_tables *tables,
                                             const struct shapeproof_learn_options *options,
                                             struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("learning a table");
    for (size_t i = 0; i < count; i++) {
        SP_BUDGET_REUSE(examples[i].inventory);
        sp_config_reuse(examples[i].config);
        sp_budget_spend(shapeproof_inventory_count(examples[i].inventory));
    }
    sp_error_reset(error);
    if (!can_learn(count, tables, options, error)) return NULL;
    struct shapeproof_learning *learning = learn_once(examples, count, tables, options, SP_WORDS_ARE_ITEMS, error);
    if (!learning->evidence.is_cancelled && !learning->is_proved && learning->problem.layout.listed.count) {
        struct shapeproof_learning *plain = learn_once(examples, count, tables, options, SP_WORDS_ARE_NAMES, error);
        const bool is_better =
            plain->evidence.is_cancelled || plain->is_proved || plain->explained > learning->explained;
        shapeproof_learning_free(is_better ? learning : plain);
        learning = is_better ? plain : learning;
    }
    if (!learning->evidence.is_cancelled) return learning;
    sp_fail_cancelled(error);
    shapeproof_learning_free(learning);
    return NULL;
}

void shapeproof_learning_free(struct shapeproof_learning *learning)
{
    if (!learning) return;
    sp_learn_problem_free(&learning->problem);
    for (size_t i = 0; learning->invented && i < learning->evidence.count; i++)
        shapeproof_config_free(learning->invented[i]);
    sp_evidence_free(&learning->evidence);
    sp_free(learning->rest.items);
    sp_map_free(&learning->unexplained);
    free_ambiguities(learning);
    sp_free(learning->undecided.items);
    sp_free(learning->inners.items);
    sp_arena_free(&learning->arena);
    sp_free(learning);
}

/* ---- what the public header promises ---- */

const char *shapeproof_learning_text(const struct shapeproof_learning *learning) { return learning->text; }
const char *shapeproof_learning_name(const struct shapeproof_learning *learning) { return learning->name; }
const char *shapeproof_learning_base(const struct shapeproof_learning *learning)
{
    return learning->base ? learning->base->table : NULL;
}

const char *shapeproof_learning_known(const struct shapeproof_learning *learning) { return learning->known; }
bool shapeproof_learning_is_proved(const struct shapeproof_learning *learning) { return learning->is_proved; }
size_t shapeproof_learning_examples(const struct shapeproof_learning *learning) { return learning->evidence.count; }
size_t shapeproof_learning_explained(const struct shapeproof_learning *learning) { return learning->explained; }
size_t shapeproof_learning_rest_count(const struct shapeproof_learning *learning) { return learning->rest.count; }
const char *shapeproof_learning_rest(const struct shapeproof_learning *learning, size_t index)
{
    return learning->rest.items[index];
}
size_t shapeproof_learning_undecided_count(const struct shapeproof_learning *learning)
{
    return learning->undecided.count;
}
const char *shapeproof_learning_unvaried(const struct shapeproof_learning *learning) { return learning->unvaried; }

size_t shapeproof_learning_tensors(const struct shapeproof_learning *learning)
{
    size_t count = 0;
    for (size_t e = 0; e < learning->evidence.count; e++) {
        const struct shapeproof_inventory *inventory = learning->evidence.examples[e].inventory;
        for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
            count += !(shapeproof_inventory_tensor(inventory, i)->flags & SHAPEPROOF_TENSOR_STATE);
    }
    return count;
}

const struct shapeproof_undecided *shapeproof_learning_undecided(const struct shapeproof_learning *learning,
                                                                 size_t index)
{
    return &learning->undecided.items[index].told;
}

const struct shapeproof_undecided_place *shapeproof_learning_undecided_place(const struct shapeproof_learning *learning,
                                                                             size_t index, size_t place)
{
    return &learning->undecided.items[index].places.items[place];
}
