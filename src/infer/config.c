/* SPDX-License-Identifier: MIT
 * What was told in pieces, put together as a configuration. */
#include <stdlib.h>
#include <string.h>

#include "infer/guess/members.h"
#include "infer/infer.h"
#include "lang/functions.h"
#include "load/value_kinds.h"
#include "names/layer_kinds.h"
#include "solve/literals.h"
#include "stored/schemes.h"

static bool is_item_path(const char *path) { return strchr(path, '[') != NULL; }

/* The value of all items that are known, when it is one: that of a list for which one value may stand. Absent when
 * they are several, or none. */
static struct shapeproof_value common_item(struct shapeproof_value list)
{
    struct shapeproof_value common = sp_value_absent("");
    for (size_t i = 0; i < list.count; i++) {
        if (!sp_value_is_set(list.items[i])) continue;
        if (sp_value_is_set(common) && !sp_values_equal(list.items[i], common)) return sp_value_absent("");
        common = list.items[i];
    }
    return common;
}

/* An item whose members were told: the object that they make. */
static struct shapeproof_value object_of_item(struct sp_outline *outline, const char *item)
{
    const struct sp_known *known = &outline->solver.known;
    const size_t length = strlen(item);
    struct shapeproof_value object = {.type = SHAPEPROOF_VALUE_OBJECT};
    struct shapeproof_member *members = sp_arena_array(&outline->solver.arena, known->count, sizeof *members);
    for (size_t i = 0; i < known->count; i++) {
        const struct sp_fact *fact = &known->facts[i];
        if (strncmp(fact->path, item, length) != 0 || fact->path[length] != '.' || !sp_value_is_set(fact->value))
            continue;
        members[object.count++] = (struct shapeproof_member){fact->path + length + 1, fact->value};
    }
    object.members = members;
    return object;
}

/* The first item from `from` on that is known; absent when there is none. */
static struct shapeproof_value next_item(struct shapeproof_value list, size_t from)
{
    for (; from < list.count; from++)
        if (sp_value_is_set(list.items[from])) return list.items[from];
    return sp_value_absent("");
}

/* Of items that nothing is known of, each is as the one before, or else behind; of a list that was only counted, they
 * are counted up. */
static struct shapeproof_value filled(struct sp_outline *outline, struct shapeproof_value list, bool objects)
{
    struct shapeproof_value *items = sp_arena_array(&outline->solver.arena, list.count, sizeof *items);
    bool is_counted = true;
    for (size_t i = 0; i < list.count; i++) {
        items[i] = list.items[i];
        if (objects && items[i].type == SHAPEPROOF_VALUE_UNKNOWN) items[i] = object_of_item(outline, items[i].string);
        is_counted = is_counted && !sp_value_is_set(items[i]);
    }
    for (size_t i = 0; i < list.count; i++) {
        if (sp_value_is_set(items[i])) continue;
        if (is_counted) items[i] = sp_value_int((int64_t)i);
        else items[i] = i ? items[i - 1] : next_item((struct shapeproof_value){.count = list.count, .items = items}, i);
    }
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = list.count, .items = items};
}

static struct shapeproof_value put_values_together(struct sp_outline *outline, const struct sp_fact *fact)
{
    const struct shapeproof_value value = sp_known_value(&outline->solver.known, fact->path);
    if (value.type != SHAPEPROOF_VALUE_LIST) return value;
    const struct shapeproof_value common = fact->scalar ? common_item(value) : sp_value_absent("");
    if (sp_value_is_set(common)) return common;
    return fact->item_count || fact->length != SIZE_MAX ? filled(outline, value, fact->objects) : value;
}

/* ---- as a file ---- */

static void put_value(struct sp_text *text, struct shapeproof_value value, size_t indent)
{
    if (value.type != SHAPEPROOF_VALUE_OBJECT) {
        sp_value_json(text, value);
        return;
    }
    sp_text_puts(text, "{");
    for (size_t i = 0; i < value.count; i++) {
        sp_text_puts(text, i ? ",\n" : "\n");
        sp_text_pad(text, indent + 2);
        sp_text_json(text, value.members[i].key);
        sp_text_puts(text, ": ");
        put_value(text, value.members[i].value, indent + 2);
    }
    sp_text_puts(text, "\n");
    sp_text_pad(text, indent);
    sp_text_puts(text, "}");
}

/* The keys of which the file does not decide the value. */
static void find_undetermined(struct shapeproof_inference *inference)
{
    bool is_only = true;
    for (size_t i = 1; i < inference->candidate_count; i++) is_only = is_only && !inference->candidates[i].same;
    const struct sp_unit *table = inference->best->table;
    const char *which = sp_unit_is_by_class(table) ? sp_unit_class_key(table) : "model_type";
    if (!is_only) *SP_PUSH(&inference->undetermined) = which;
    for (size_t i = 0; i < inference->inferred_count; i++) {
        const struct shapeproof_inferred *inferred = &inference->inferred[i];
        if (!inferred->determined && sp_value_is_set(inferred->value) &&
            (is_only || strcmp(inferred->name, which) != 0))
            *SP_PUSH(&inference->undetermined) = inferred->name;
    }
}

/* The configuration, and those in a key of their own; the object itself when there are none. */
static struct shapeproof_value with_undetermined(struct shapeproof_inference *inference, struct shapeproof_value root)
{
    const size_t count = inference->undetermined.count;
    struct shapeproof_value *names = sp_arena_array(&inference->arena, count, sizeof *names);
    struct shapeproof_member *members = sp_arena_array(&inference->arena, root.count + 1, sizeof *members);
    if (!count) return root;
    for (size_t i = 0; i < count; i++) names[i] = sp_value_string(inference->undetermined.items[i]);
    memcpy(members, root.members, root.count * sizeof *members);
    members[root.count] = (struct shapeproof_member){"shapeproof_undetermined",
                                                     {.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = names}};
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = root.count + 1, .members = members};
}

/* How the file is quantised belongs to its configuration. */
static void add_quantisation(struct shapeproof_inference *inference)
{
    const struct sp_unpacked *unpacked = inference->best->view->unpacked;
    struct shapeproof_member *setting = sp_arena_alloc(&inference->arena, sizeof *setting), list;
    if (!unpacked) return;
    *setting = sp_scheme_setting(unpacked->form);
    sp_config_set_value(inference->best->config, setting->key, setting->value, "inferred");
    if (!sp_infer_exemptions(inference, &list)) return;
    const struct shapeproof_value whole = sp_value_with(&inference->arena, setting->value, list.key, list.value);
    sp_config_set_value(inference->best->config, setting->key, whole, "inferred");
}

/* Each value as the type that the object names takes it, mlp_ratio 4.0 and not 4; those of its parts likewise. */
static struct shapeproof_value as_taken(struct sp_arena *arena, struct shapeproof_value object)
{
    const struct shapeproof_value type = sp_value_member(object, "model_type");
    struct shapeproof_member *members = sp_arena_array(arena, object.count, sizeof *members);
    for (size_t i = 0; i < object.count; i++) {
        const struct shapeproof_member *member = &object.members[i];
        members[i] = *member;
        if (member->value.type == SHAPEPROOF_VALUE_OBJECT) members[i].value = as_taken(arena, member->value);
        else if (type.type == SHAPEPROOF_VALUE_STRING)
            members[i].value = sp_value_as_taken(arena, type.string, member->key, member->value);
    }
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = object.count, .members = members};
}

void sp_write_config(struct shapeproof_inference *inference)
{
    struct sp_text text = {0};
    add_quantisation(inference);
    find_undetermined(inference);
    const struct shapeproof_value root = as_taken(&inference->arena, sp_config_hyper(inference->best->config)->root);
    put_value(&text, with_undetermined(inference, root), 0);
    sp_text_puts(&text, "\n");
    inference->config = sp_text_keep(&text, &inference->arena);
}

/* ---- as a configuration ---- */

/* What a model's name says by itself need not be said beside it, nor what was only assumed of what it says: the table
 * may refuse it. */
static bool is_said(const struct shapeproof_prediction *by_name, const struct sp_fact *fact,
                    struct shapeproof_value value)
{
    if (sp_is_class_key(fact->path)) return false;                     /* that is the name */
    if (by_name && value.type == SHAPEPROOF_VALUE_OBJECT) return true; /* its members speak for themselves */
    for (size_t i = 0; by_name && i < shapeproof_prediction_hyperparameter_count(by_name); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(by_name, i);
        if (strcmp(hyper->name, fact->path) != 0) continue;
        return fact->reason.kind == SP_REASON_GUESS || sp_values_equal(hyper->value, value);
    }
    return false;
}

/* The table as a whole is named by one of its classes, unless the model has a name. */
static void name_table(struct shapeproof_config *config, const struct sp_attempt *attempt)
{
    const struct sp_unit *table = attempt->table;
    const char *key = "shapeproof_table", *name = table->name;
    if (table->model_type_count) {
        key = "model_type";
        name = table->model_types[0];
    } else if (sp_unit_is_by_class(table)) {
        key = sp_unit_class_key(table);
        name = attempt->name ? attempt->name : table->architectures[0];
    }
    sp_config_set_value(config, key, sp_value_string(name), "inferred");
}

/* The first kind of layer in the list `key` that the table does not name; NULL when there is none. If `mellum` names
 * only "sparse": mlp_layer_types -> "dense". */
static const char *unnamed_kind(struct sp_attempt *attempt, const char *key)
{
    const char *kinds = sp_layer_kinds(key), *found = NULL;
    struct sp_literals named = {0};
    if (kinds) sp_literals_about(&named, attempt->table, key);
    for (; kinds && *kinds && !found; kinds += strspn(kinds, " ")) {
        const size_t length = strcspn(kinds, " ");
        const char *kind = sp_arena_copy(&attempt->outline.solver.arena, kinds, length);
        if (!sp_literals_have(&named, kind)) found = kind;
        kinds += length;
    }
    sp_literals_free(&named);
    return found;
}

/* The value with a kind of layer in place of "", which stands for any text that the table does not name:
 * mlp_layer_types = ["sparse", "", "sparse"] -> ["sparse", "dense", "sparse"]. */
static struct shapeproof_value with_kinds(struct sp_attempt *attempt, const char *key, struct shapeproof_value value)
{
    struct sp_arena *arena = &attempt->outline.solver.arena;
    const char *kind = NULL;
    if (value.type != SHAPEPROOF_VALUE_LIST) return value;
    for (size_t i = 0; i < value.count; i++) {
        if (value.items[i].type != SHAPEPROOF_VALUE_STRING || *value.items[i].string) continue;
        if (!kind && !(kind = unnamed_kind(attempt, key))) return value;
        value = sp_value_list_with(arena, value, value.count, i, sp_value_string(kind));
    }
    return value;
}

struct shapeproof_config *sp_known_config(struct sp_attempt *attempt)
{
    struct sp_outline *outline = &attempt->outline;
    struct shapeproof_config *config = shapeproof_config_new();
    while (sp_known_close_lists(&outline->solver.known)) continue;
    sp_members_close(&outline->solver);
    name_table(config, attempt);
    for (size_t i = 0; i < outline->solver.known.count; i++) {
        const struct sp_fact *fact = &outline->solver.known.facts[i];
        if (is_item_path(fact->path)) continue;
        const struct shapeproof_value value = with_kinds(attempt, fact->path, put_values_together(outline, fact));
        if (is_said(attempt->by_name, fact, value)) continue;
        if (sp_value_is_set(value) || value.type == SHAPEPROOF_VALUE_NULL)
            sp_config_set_value(config, fact->path, value, "inferred");
    }
    return config;
}
