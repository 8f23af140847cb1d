/* SPDX-License-Identifier: MIT */
#include "learn/terms/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "lang/functions.h"

enum {
    DEEPEST = 4,          /* objects in one another */
    MOST_TERMINALS = 600, /* the others are left out */
    LONGEST_PATH = 160,
    ORDINARY = 10, /* the cost of a key, and one more inside an object */
    UNLIKELY = 22  /* and that of one on which hardly a size depends */
};

/* ---- which keys are worth a look ---- */

static bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* Can it be written as a name of the table language? */
static bool is_writable_key(const char *key)
{
    static const char *const reserved[] = {"and", "as",  "buffer", "default",  "false", "for", "from", "if",    "in",
                                           "not", "or",  "same",   "optional", "true",  "was", "with", "table", "part",
                                           "len", "max", "min",    "sum",      "at",    "int", "round"};
    if (!is_name_character(*key) || SP_IS_AMONG(key, reserved)) return false;
    for (const char *c = key; *c; c++)
        if (!is_name_character(*c) && !sp_is_digit(*c)) return false;
    return true;
}

/* Objects that say how a model is run, saved or quantised. */
static bool is_beside_the_model(const char *key)
{
    static const char *const words[] = {"quantization_config",  "label2id",     "task_specific_params",
                                        "transformers_version", "auto_map",     "generation_config",
                                        "torch_dtype",          "dtype",        "_name_or_path",
                                        "_commit_hash",         "rope_scaling", "rope_parameters"};
    return SP_IS_AMONG(key, words);
}

/* Numbers that no size depends on, as a rule: which token, how much noise. */
static unsigned cost_of_key(const char *path)
{
    static const char *const unlikely[] = {
        "_token_id", "dropout",      "_eps",    "epsilon", "rope",  "init",     "drop",           "token_i",
        "_id",       "temperature",  "penalty", "beam",    "_loss", "scale_",   "use_cache",      "summary_",
        "output_",   "seed",         "max_len", "min_len", "_coef", "momentum", "pretraining_tp", "_std",
        "mask_time", "mask_feature", "_prob",   "_index"};
    const char *key = sp_behind_last(path, '.');
    return SP_HAS_ANY(key, unlikely) ? UNLIKELY : ORDINARY + (key != path);
}

/* ---- gathering ---- */

struct sp_terminal *sp_evidence_terminal(const struct sp_evidence *evidence, const char *path)
{
    for (size_t i = 0; i < evidence->terminals.count; i++)
        if (strcmp(evidence->terminals.items[i]->path, path) == 0) return evidence->terminals.items[i];
    return NULL;
}

static struct shapeproof_value root_of_example(const struct shapeproof_learn_example *example)
{
    return example->config ? sp_config_hyper(example->config)->root : sp_value_absent("");
}

/* The value at a path; null if an object on the way to it is null, as in the table language. */
static struct shapeproof_value value_at_path(struct sp_arena *arena, struct shapeproof_value root, const char *path)
{
    const struct shapeproof_value value = sp_value_at(root, path);
    for (const char *dot = strchr(path, '.'); value.type == SHAPEPROOF_VALUE_ABSENT && dot;
         dot = strchr(dot + 1, '.')) {
        const struct shapeproof_value outer = sp_value_at(root, sp_arena_copy(arena, path, (size_t)(dot - path)));
        if (outer.type == SHAPEPROOF_VALUE_NULL) return outer;
    }
    return value;
}

static const struct shapeproof_value *values_at_path(const struct sp_evidence *evidence, const char *path)
{
    struct shapeproof_value *values = sp_arena_array(evidence->arena, evidence->count, sizeof *values);
    for (size_t i = 0; i < evidence->count; i++)
        values[i] = value_at_path(evidence->arena, root_of_example(&evidence->examples[i]), path);
    return values;
}

static struct sp_terminal *add_terminal(struct sp_evidence *evidence, struct sp_terminal terminal)
{
    struct sp_terminal *made = sp_arena_alloc(evidence->arena, sizeof *made);
    *made = terminal;
    *SP_PUSH(&evidence->terminals) = made;
    return made;
}

static void gather_object(struct sp_evidence *evidence, struct shapeproof_value object, const char *prefix,
                          size_t depth);

/* An object is a terminal as well: its length may count (id2label). */
static void gather_member(struct sp_evidence *evidence, const struct shapeproof_member *member, const char *prefix,
                          size_t depth)
{
    const char *path = sp_arena_printf(evidence->arena, "%s%s", prefix, member->key);
    if (!is_writable_key(member->key) || is_beside_the_model(member->key)) return;
    if (strlen(path) > LONGEST_PATH || evidence->terminals.count >= MOST_TERMINALS) return;
    if (!sp_evidence_terminal(evidence, path))
        add_terminal(evidence, (struct sp_terminal){
                                   .path = path, .values = values_at_path(evidence, path), .cost = cost_of_key(path)});
    if (member->value.type == SHAPEPROOF_VALUE_OBJECT && depth < DEEPEST)
        gather_object(evidence, member->value, sp_arena_printf(evidence->arena, "%s.", path), depth + 1);
}

static void gather_object(struct sp_evidence *evidence, struct shapeproof_value object, const char *prefix,
                          size_t depth)
{
    for (size_t i = 0; object.type == SHAPEPROOF_VALUE_OBJECT && i < object.count; i++)
        gather_member(evidence, &object.members[i], prefix, depth);
}

/* ---- lists of rows ---- */

enum { MOST_COLUMNS = 8 };

/* The columns of a list of rows: those of [[12, 4], [7, 3]] are [12, 7] and [4, 3]; rows may be objects. This is the
 * item of one row. */
static struct shapeproof_value item_of_column(struct shapeproof_value row, const struct sp_terminal *column)
{
    if (row.type == SHAPEPROOF_VALUE_OBJECT) return sp_value_member(row, column->column + 1);
    const size_t place = (size_t)(column->column[1] - '0');
    return row.type == SHAPEPROOF_VALUE_LIST && place < row.count ? row.items[place] : sp_value_absent(column->path);
}

/* The list of what each row has in a column; absent if there is no list. */
static struct shapeproof_value list_of_column(struct sp_arena *arena, struct shapeproof_value list,
                                              const struct sp_terminal *column)
{
    if (list.type != SHAPEPROOF_VALUE_LIST) return sp_value_absent(column->path);
    struct shapeproof_value *items = sp_arena_array(arena, list.count + 1, sizeof *items);
    for (size_t i = 0; i < list.count; i++) items[i] = item_of_column(list.items[i], column);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .items = items, .count = list.count};
}

static void add_column(struct sp_evidence *evidence, const struct sp_terminal *list, const char *suffix)
{
    const char *path = sp_arena_printf(evidence->arena, "%s%s", list->path, suffix);
    if (sp_evidence_terminal(evidence, path) || evidence->terminals.count >= MOST_TERMINALS) return;
    struct sp_terminal column = {
        .path = path, .list = list->path, .column = suffix, .cost = cost_of_key(list->path) + 1};
    struct shapeproof_value *values = sp_arena_array(evidence->arena, evidence->count, sizeof *values);
    for (size_t e = 0; e < evidence->count; e++) values[e] = list_of_column(evidence->arena, list->values[e], &column);
    column.values = values;
    add_terminal(evidence, column);
}

static void add_columns_of_row(struct sp_evidence *evidence, const struct sp_terminal *list,
                               struct shapeproof_value row)
{
    for (size_t i = 0; row.type == SHAPEPROOF_VALUE_LIST && i < row.count && i < MOST_COLUMNS; i++)
        add_column(evidence, list, sp_arena_printf(evidence->arena, "[%zu]", i));
    for (size_t i = 0; row.type == SHAPEPROOF_VALUE_OBJECT && i < row.count; i++)
        if (is_writable_key(row.members[i].key))
            add_column(evidence, list, sp_arena_printf(evidence->arena, ".%s", row.members[i].key));
}

/* Adds a terminal for each column of a list, if there are any. */
static void gather_columns(struct sp_evidence *evidence, const struct sp_terminal *terminal)
{
    for (size_t e = 0; e < evidence->count; e++)
        for (size_t i = 0; terminal->values[e].type == SHAPEPROOF_VALUE_LIST && i < terminal->values[e].count; i++)
            add_columns_of_row(evidence, terminal, terminal->values[e].items[i]);
}

/* ---- objects by name ---- */

/* Whether each item of the list is a text, and a member of the object, in every example. */
static bool are_members(const struct sp_evidence *evidence, const struct sp_terminal *list,
                        const struct sp_terminal *object)
{
    size_t items = 0;
    for (size_t e = 0; e < evidence->count; e++) {
        const struct shapeproof_value names = list->values[e];
        if (names.type != SHAPEPROOF_VALUE_LIST || object->values[e].type != SHAPEPROOF_VALUE_OBJECT) return false;
        for (size_t i = 0; i < names.count; i++, items++)
            if (names.items[i].type != SHAPEPROOF_VALUE_STRING ||
                !sp_value_is_set(sp_value_member(object->values[e], names.items[i].string)))
                return false;
    }
    return items > 0;
}

/* The members that the names say, in their order: {"user": 100, "item": 50} and ["item", "user"] give [50, 100]. An
 * item of that is written member(sizes, names[i]). */
static struct shapeproof_value members_of_names(struct sp_arena *arena, struct shapeproof_value object,
                                                struct shapeproof_value names)
{
    struct shapeproof_value *items = sp_arena_array(arena, names.count + 1, sizeof *items);
    for (size_t i = 0; i < names.count; i++) items[i] = sp_value_member(object, names.items[i].string);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .items = items, .count = names.count};
}

/* Whether an item of the list is itself a list, in some example. */
static bool has_list(const struct sp_terminal *terminal, size_t examples)
{
    for (size_t e = 0; e < examples; e++)
        for (size_t i = 0; i < terminal->values[e].count; i++)
            if (terminal->values[e].items[i].type == SHAPEPROOF_VALUE_LIST) return true;
    return false;
}

/* Adds a terminal for the members of `object` that the items of `list` name, and, if these are lists, one for each of
 * their first four columns:
 *
 *     {"names": ["item", "user"], "sizes": {"user": [100, 2], "item": [50, 3]}}
 *
 *     member(sizes, names)       [[50, 3], [100, 2]]
 *     member(sizes, names)[0]    [50, 100]
 *     member(sizes, names)[1]    [3, 2] */
static void add_members(struct sp_evidence *evidence, const struct sp_terminal *list, const struct sp_terminal *object)
{
    enum { MOST_MEMBER_COLUMNS = 4 };
    struct sp_arena *arena = evidence->arena;
    const char *path = sp_arena_printf(arena, "member(%s, %s)", object->path, list->path);
    const bool is_full = evidence->terminals.count + MOST_MEMBER_COLUMNS >= MOST_TERMINALS;
    if (is_full || sp_evidence_terminal(evidence, path)) return;
    struct sp_terminal members = {
        .path = path, .list = list->path, .column = "", .object = object->path, .cost = cost_of_key(object->path) + 1};
    struct shapeproof_value *values = sp_arena_array(arena, evidence->count, sizeof *values);
    for (size_t e = 0; e < evidence->count; e++)
        values[e] = members_of_names(arena, object->values[e], list->values[e]);
    members.values = values;
    const struct sp_terminal *whole = add_terminal(evidence, members);
    if (!has_list(whole, evidence->count)) return;
    for (size_t k = 0; k < MOST_MEMBER_COLUMNS; k++) {
        struct sp_terminal column = members;
        column.column = sp_arena_printf(arena, "[%zu]", k);
        column.path = sp_arena_printf(arena, "%s%s", path, column.column);
        values = sp_arena_array(arena, evidence->count, sizeof *values);
        for (size_t e = 0; e < evidence->count; e++) values[e] = list_of_column(arena, whole->values[e], &column);
        column.values = values;
        add_terminal(evidence, column);
    }
}

static void gather_members(struct sp_evidence *evidence)
{
    const size_t count = evidence->terminals.count;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (are_members(evidence, evidence->terminals.items[i], evidence->terminals.items[k]))
                add_members(evidence, evidence->terminals.items[i], evidence->terminals.items[k]);
}

void sp_evidence_gather(struct sp_evidence *evidence)
{
    for (size_t i = 0; i < evidence->count; i++)
        gather_object(evidence, root_of_example(&evidence->examples[i]), "", 0);
    for (size_t i = evidence->terminals.count; i-- > 0;) gather_columns(evidence, evidence->terminals.items[i]);
    gather_members(evidence);
}

struct sp_terminal *sp_evidence_symbol(struct sp_evidence *evidence, const struct sp_terminal *key,
                                       const struct sp_search_term *meaning)
{
    struct sp_terminal symbol = *key;
    symbol.meaning = meaning;
    symbol.cost = key->cost;
    symbol.uses = 0;
    return add_terminal(evidence, symbol);
}

void sp_evidence_free(struct sp_evidence *evidence) { sp_free(evidence->terminals.items); }

/* ---- what differs ---- */

static bool same_values_as_text(struct shapeproof_value a, struct shapeproof_value b)
{
    struct sp_text left = {0}, right = {0};
    sp_value_json(&left, a);
    sp_value_json(&right, b);
    const bool same = strcmp(left.data, right.data) == 0;
    sp_text_free(&left);
    sp_text_free(&right);
    return same;
}

bool sp_terminal_is_constant(const struct sp_terminal *terminal, size_t examples)
{
    for (size_t i = 1; i < examples; i++)
        if (terminal->values[i].type != terminal->values[0].type ||
            !same_values_as_text(terminal->values[i], terminal->values[0]))
            return false;
    return true;
}
