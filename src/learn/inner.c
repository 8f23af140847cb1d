/* SPDX-License-Identifier: MIT */
#include "learn/inner.h"

#include <stdio.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "base/order.h"
#include "config/config.h"
#include "shapeproof/prediction.h"

enum { FEWEST_TENSORS = 8 }; /* of a prediction: smaller ones may match by accident */

/* ---- the predictions of one inner configuration ---- */

struct trial {
    const struct sp_layout *layout;
    const struct shapeproof_tables *tables;
    const struct sp_terminal *terminal;         /* the key of the inner configuration */
    const char *class;                          /* that it is tried with; NULL: as the configuration has it */
    struct shapeproof_config **configs;         /* one for each example */
    struct shapeproof_prediction **predictions; /* likewise */
};

static size_t count_examples(const struct trial *trial) { return trial->layout->evidence->count; }

static void close_trial(struct trial *trial)
{
    for (size_t e = 0; e < count_examples(trial); e++) {
        shapeproof_prediction_free(trial->predictions[e]);
        shapeproof_config_free(trial->configs[e]);
        trial->predictions[e] = NULL;
        trial->configs[e] = NULL;
    }
}

/* Predicts the inner configuration of each example. False when some example has no table for it, too few tensors, or
 * another table than the first one. close_trial ends it in both cases. */
static bool open_trial(struct trial *trial)
{
    struct sp_arena *arena = trial->layout->evidence->arena;
    struct shapeproof_error error = {0};
    struct shapeproof_value *classes = sp_arena_array(arena, 1, sizeof *classes);
    trial->configs = sp_arena_array(arena, count_examples(trial), sizeof(struct shapeproof_config *));
    trial->predictions = sp_arena_array(arena, count_examples(trial), sizeof(struct shapeproof_prediction *));
    for (size_t e = 0; e < count_examples(trial); e++) {
        trial->configs[e] = shapeproof_config_new();
        sp_config_set_root(trial->configs[e], trial->terminal->values[e]);
        if (trial->class) {
            *classes = sp_value_string(trial->class);
            sp_config_set_value(trial->configs[e], "architectures",
                                (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = classes},
                                "the table");
        }
        trial->predictions[e] = shapeproof_predict(trial->tables, trial->configs[e], NULL, &error);
        sp_error_reset(&error);
        if (!trial->predictions[e] || shapeproof_prediction_count(trial->predictions[e]) < FEWEST_TENSORS) return false;
        if (strcmp(shapeproof_prediction_table(trial->predictions[e]),
                   shapeproof_prediction_table(trial->predictions[0])) != 0)
            return false;
    }
    return true;
}

/* ---- where it stands in the files ---- */

/* Whether a predicted tensor is in the file behind the prefix with its shape, or may be left out. */
static bool is_inner_tensor_there(const struct shapeproof_inventory *inventory, const char *prefix,
                                  const struct shapeproof_predicted *predicted)
{
    char name[512];
    const int length = snprintf(name, sizeof name, "%s%s", prefix, predicted->name);
    if (length < 0 || (size_t)length >= sizeof name) return false;
    const size_t there = shapeproof_inventory_find(inventory, name);
    if (there == SHAPEPROOF_NONE) return predicted->optional || predicted->same_as != SHAPEPROOF_NONE;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, there);
    return sp_same_dims(tensor->shape, tensor->rank, predicted->shape, predicted->rank);
}

/* Whether some example has a predicted tensor behind the prefix. A tied tensor that no example has may be one that the
 * outer model lacks, even where nothing is tied. */
static bool is_in_any_example(const struct trial *trial, const char *prefix,
                              const struct shapeproof_predicted *predicted)
{
    char name[512];
    const int length = snprintf(name, sizeof name, "%s%s", prefix, predicted->name);
    for (size_t e = 0; e < count_examples(trial) && length > 0 && (size_t)length < sizeof name; e++)
        if (shapeproof_inventory_find(trial->layout->evidence->examples[e].inventory, name) != SHAPEPROOF_NONE)
            return true;
    return false;
}

/* Whether everything that is predicted is in each example behind the prefix. */
static bool is_trial_there(const struct trial *trial, const char *prefix)
{
    for (size_t e = 0; e < count_examples(trial); e++)
        for (size_t i = 0; i < shapeproof_prediction_count(trial->predictions[e]); i++) {
            const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(trial->predictions[e], i);
            const struct shapeproof_inventory *inventory = trial->layout->evidence->examples[e].inventory;
            if (!is_inner_tensor_there(inventory, prefix, predicted)) return false;
            if (predicted->same_as != SHAPEPROOF_NONE && !is_in_any_example(trial, prefix, predicted)) return false;
        }
    return true;
}

/* The prefix behind which all predicted tensors are in each file, searched for by the first predicted name; NULL when
 * there is none. A prefix ends with a dot and is not empty. */
static const char *find_prefix(const struct trial *trial)
{
    const struct shapeproof_inventory *inventory = trial->layout->evidence->examples[0].inventory;
    const char *first = shapeproof_prediction_tensor(trial->predictions[0], 0)->name;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        if (!sp_ends_with(name, first)) continue;
        const size_t length = strlen(name) - strlen(first);
        if (!length || name[length - 1] != '.') continue;
        const char *prefix = sp_arena_copy(trial->layout->evidence->arena, name, length);
        if (is_trial_there(trial, prefix)) return prefix;
    }
    return NULL;
}

/* Whether each tensor of a row is predicted behind the prefix. */
static bool is_row_of_trial(const struct trial *trial, const char *prefix, const struct sp_tensor_row *row)
{
    const size_t length = strlen(prefix);
    for (size_t i = 0; i < row->places.count; i++) {
        const struct sp_row_tensor *place = &row->places.items[i];
        if (strncmp(place->tensor->name, prefix, length) != 0) return false;
        if (shapeproof_prediction_find(trial->predictions[place->point.example], place->tensor->name + length) ==
            SHAPEPROOF_NONE)
            return false;
    }
    return true;
}

static void mark_rows(const struct trial *trial, const char *prefix, struct sp_layout *layout, struct sp_inners *inners)
{
    struct sp_inner inner = {
        .key = trial->terminal->path,
        .table = sp_arena_string(layout->evidence->arena, shapeproof_prediction_table(trial->predictions[0])),
        .class = trial->class,
        .prefix = prefix,
        .first_row = SHAPEPROOF_NONE};
    for (size_t r = 0; r < layout->rows.count; r++) {
        struct sp_tensor_row *row = &layout->rows.items[r];
        if (row->is_inner || !is_row_of_trial(trial, prefix, row)) continue;
        if (!inner.rows++) inner.first_row = r;
        row->is_inner = true;
    }
    if (inner.rows) *SP_PUSH(inners) = inner;
}

/* ---- which there may be ---- */

/* What the class names of a table begin with, as its text says: family = "Llama" -> "Llama". NULL when it does not. */
static const char *family_of_table(struct sp_arena *arena, const struct shapeproof_table_info *info)
{
    static const char word[] = "\nfamily";
    const char *end = info->source + info->source_length;
    for (const char *at = info->source; at + sizeof word < end; at++) {
        if (strncmp(at, word, sizeof word - 1) != 0) continue;
        at += sizeof word - 1;
        while (at < end && (*at == ' ' || *at == '=')) at++;
        if (at >= end || *at != '"') return NULL;
        const char *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
        return quote ? sp_arena_copy(arena, at + 1, (size_t)(quote - at - 1)) : NULL;
    }
    return NULL;
}

static const char *family_of_type(struct sp_arena *arena, const struct shapeproof_tables *tables, const char *table)
{
    for (size_t i = shapeproof_tables_count(tables); i-- > 0;) {
        const struct shapeproof_table_info info = *shapeproof_tables_info(tables, i);
        if (strcmp(info.name, table) == 0) return family_of_table(arena, &info);
    }
    return NULL;
}

/* Tries an inner configuration with a class (NULL: its own); if a table predicts it in all examples, marks its rows. */
static bool try_inner(struct sp_inners *inners, struct sp_layout *layout, const struct shapeproof_tables *tables,
                      const struct sp_terminal *terminal, const char *class)
{
    struct trial trial = {.layout = layout, .tables = tables, .terminal = terminal, .class = class};
    const bool opened = open_trial(&trial);
    const char *prefix = opened ? find_prefix(&trial) : NULL;
    if (prefix) mark_rows(&trial, prefix, layout, inners);
    close_trial(&trial);
    return prefix != NULL;
}

/* The table for the inner configuration of the first example; NULL when there is none, or it is the one called `name`.
 */
static const char *table_of_terminal(const struct sp_layout *layout, const struct shapeproof_tables *tables,
                                     const struct sp_terminal *terminal, const char *name)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    sp_config_set_root(config, terminal->values[0]);
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, NULL, &error);
    const char *table =
        prediction ? sp_arena_string(layout->evidence->arena, shapeproof_prediction_table(prediction)) : NULL;
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return table && strcmp(table, name) != 0 ? table : NULL;
}

/* Whether a key of the outermost level is an object with a model_type, the same in every example. */
static bool has_own_type(const struct sp_layout *layout, const struct sp_terminal *terminal)
{
    const char *first = NULL;
    for (size_t e = 0; e < layout->evidence->count; e++) {
        const struct shapeproof_value type = sp_value_member(terminal->values[e], "model_type");
        if (terminal->values[e].type != SHAPEPROOF_VALUE_OBJECT || type.type != SHAPEPROOF_VALUE_STRING) return false;
        if (first && strcmp(first, type.string) != 0) return false;
        first = type.string;
    }
    return first != NULL && !strchr(terminal->path, '.');
}

/* Tries an inner configuration with its own class, then with the usual classes of its table's family. */
static void find_inner(struct sp_inners *inners, struct sp_layout *layout, const struct shapeproof_tables *tables,
                       const struct sp_terminal *terminal, const char *name)
{
    static const char *const endings[] = {"Model", "TextModel", "VisionModel", "ForCausalLM"};
    struct sp_arena *arena = layout->evidence->arena;
    const char *table = table_of_terminal(layout, tables, terminal, name);
    const char *family = table ? family_of_type(arena, tables, table) : NULL;
    if (!table || try_inner(inners, layout, tables, terminal, NULL)) return;
    for (size_t i = 0; family && i < sizeof endings / sizeof *endings; i++)
        if (try_inner(inners, layout, tables, terminal, sp_arena_printf(arena, "%s%s", family, endings[i]))) return;
}

void sp_inners_find(struct sp_inners *inners, struct sp_layout *layout, const struct shapeproof_tables *tables,
                    const char *name)
{
    const struct sp_terminals *terminals = &layout->evidence->terminals;
    for (size_t i = 0; i < terminals->count; i++)
        if (has_own_type(layout, terminals->items[i])) find_inner(inners, layout, tables, terminals->items[i], name);
}

void sp_inners_forget(struct sp_inners *inners, struct sp_layout *layout)
{
    for (size_t r = 0; r < layout->rows.count; r++) layout->rows.items[r].is_inner = false;
    inners->count = 0;
}

bool sp_inners_read(const struct sp_inners *inners, const char *path)
{
    for (size_t i = 0; i < inners->count; i++) {
        const size_t length = strlen(inners->items[i].key);
        if (strncmp(path, inners->items[i].key, length) == 0 && path[length] == '.') return true;
    }
    return false;
}
