/* SPDX-License-Identifier: MIT */
#include "check/ties.h"

#include <stdio.h>
#include <string.h>

#include "base/chars.h"
#include "base/order.h"
#include "config/config.h"
#include "lang/prediction.h"
#include "model/bytes.h"
#include "model/inventory.h"
#include "model/layouts.h"

/* ---- rules ---- */

/* The class decides which rule there is, and is none. */
static bool is_class_key(const struct shapeproof_check *check, size_t key)
{
    return sp_is_class_key(shapeproof_prediction_hyperparameter(check->prediction, key)->name);
}

const struct sp_condition *sp_tie_condition(struct shapeproof_check *check, size_t predicted)
{
    const struct sp_condition *condition = sp_prediction_tie_condition(check->prediction, predicted);
    for (size_t i = 0; condition && i < condition->keys.count; i++)
        if (!is_class_key(check, condition->keys.list[i])) return condition;
    return NULL;
}

const struct sp_condition *sp_tie_condition_between(struct shapeproof_check *check, size_t predicted)
{
    const struct sp_condition *condition = sp_tie_condition(check, predicted);
    const size_t partner = sp_match_partner(&check->match, predicted);
    return condition || partner == SHAPEPROOF_NONE ? condition : sp_tie_condition(check, partner);
}

const char *sp_tie_said(struct shapeproof_check *check, const struct sp_condition *condition,
                        struct shapeproof_cause *cause)
{
    const char *said = NULL;
    for (size_t i = 0; i < condition->keys.count; i++) {
        if (is_class_key(check, condition->keys.list[i])) continue;
        const struct shapeproof_hyperparameter hyper =
            *shapeproof_prediction_hyperparameter(check->prediction, condition->keys.list[i]);
        const char *one = sp_said(check, hyper);
        said = said ? sp_arena_printf(&check->arena, "%s, %s", said, one) : one;
        if (!cause || condition->key == SHAPEPROOF_NONE) continue;
        cause->hyperparameter = hyper.name;
        cause->configured = hyper.value;
    }
    return said;
}

/* "transformers 4": the release by whose rules the configuration is read. */
static const char *release_of(struct shapeproof_check *check)
{
    const struct shapeproof_value said = sp_value_member(sp_config_hyper(check->config)->root, "transformers_version");
    const bool known = said.type == SHAPEPROOF_VALUE_STRING && sp_is_digit(*said.string);
    return sp_arena_printf(&check->arena, "transformers %.*s", known ? (int)strcspn(said.string, ".") : 1,
                           known ? said.string : "5");
}

const char *sp_tie_rule(struct shapeproof_check *check, const struct sp_condition *condition,
                        struct shapeproof_cause *cause)
{
    if (!condition) return " (always tied)";
    if (condition->key != SHAPEPROOF_NONE) {
        const struct shapeproof_hyperparameter *hyper =
            shapeproof_prediction_hyperparameter(check->prediction, condition->key);
        if (sp_value_is_bool(hyper->value, false))
            return sp_arena_printf(&check->arena, " (%s ties them whatever %s says)", release_of(check), hyper->name);
    }
    return sp_arena_printf(&check->arena, " (%s)", sp_tie_said(check, condition, cause));
}

size_t sp_tie_switch(struct shapeproof_check *check, const struct sp_condition *condition)
{
    size_t only = SHAPEPROOF_NONE;
    for (size_t i = 0; condition && i < condition->keys.count; i++) {
        const size_t key = condition->keys.list[i];
        if (!sp_value_is_bool(shapeproof_prediction_hyperparameter(check->prediction, key)->value, true)) continue;
        if (only != SHAPEPROOF_NONE) return SHAPEPROOF_NONE;
        only = key;
    }
    return only;
}

/* The part of the configuration that a key is in, with its dot, when it is the whole or the text part; or NULL. */
static const char *part_of_config(const char *key)
{
    static const char *const parts[] = {"text_config.", "llm_config.", "language_config."};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(key, parts[i], strlen(parts[i])) == 0) return parts[i];
    return strchr(key, '.') ? NULL : "";
}

static bool says(const struct shapeproof_check *check, const char *part, const char *leaf, bool value)
{
    struct shapeproof_value object = sp_config_hyper(check->config)->root;
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(part, "."), part);
    if (*part) object = sp_value_member(object, name);
    const struct shapeproof_value found =
        object.type == SHAPEPROOF_VALUE_OBJECT ? sp_value_member(object, leaf) : sp_value_absent(leaf);
    return found.type == SHAPEPROOF_VALUE_BOOL && found.boolean == value;
}

const char *sp_tie_contradiction(struct shapeproof_check *check, const struct sp_condition *condition, bool tied)
{
    static const char *const parts[] = {"", "text_config.", "llm_config.", "language_config."};
    const char *key = shapeproof_prediction_hyperparameter(check->prediction, condition->key)->name;
    const char *own = part_of_config(key), *leaf = own ? key + strlen(own) : key;
    for (size_t i = 0; own && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(own, parts[i]) != 0 && says(check, parts[i], leaf, !tied))
            return sp_arena_printf(&check->arena, "%s%s", parts[i], leaf);
    return NULL;
}

/* ---- data ---- */

/* The first elements in the file are the first rows, that is. */
static bool begins_alike(const struct shapeproof_tensor *tensor, const struct shapeproof_tensor *whole)
{
    if (sp_tensor_same_shape(tensor, whole)) return sp_tensor_same_order(tensor, whole);
    return sp_is_row_major(tensor) && sp_is_row_major(whole);
}

/* Whether the tensor has the shape of the whole, or that of its first rows, and so no byte that the whole lacks. */
static bool fits_first_rows(const struct shapeproof_tensor *tensor, const struct shapeproof_tensor *whole)
{
    if (tensor->bytes > whole->bytes) return false;
    if (sp_tensor_same_shape(tensor, whole)) return true;
    return tensor->rank && whole->rank && tensor->shape[0] <= whole->shape[0] &&
           sp_same_dims(tensor->shape + 1, tensor->rank - 1, whole->shape + 1, whole->rank - 1);
}

/* Why it cannot be compared, or NULL. */
static const char *obstacle_to_likeness(struct shapeproof_check *check, size_t tensor, size_t whole)
{
    const struct shapeproof_tensor *a = shapeproof_inventory_tensor(check->inventory, tensor);
    const struct shapeproof_tensor *b = shapeproof_inventory_tensor(check->inventory, whole);
    if (a->dtype != b->dtype)
        return sp_arena_printf(&check->arena, "one is %s, the other %s", a->dtype_name, b->dtype_name);
    if (!fits_first_rows(a, b))
        return sp_arena_printf(&check->arena, "the shapes are %s and %s", sp_found_shape(&check->arena, a),
                               sp_found_shape(&check->arena, b));
    if (!check->data) return NULL;
    const char *why = shapeproof_data_obstacle(check->data, tensor);
    if (!why) why = shapeproof_data_obstacle(check->data, whole);
    if (why) return why;
    if (!a->dtype) return "the size of its elements is not known";
    if ((a->flags ^ b->flags) & SHAPEPROOF_TENSOR_BIG_ENDIAN) return "the bytes have another order";
    return begins_alike(a, b) ? NULL : "the elements have another order";
}

struct sp_likeness sp_tie_likeness(struct shapeproof_check *check, size_t tensor, size_t whole)
{
    const struct shapeproof_tensor *part = shapeproof_inventory_tensor(check->inventory, tensor);
    const char *why = obstacle_to_likeness(check, tensor, whole);
    const bool failed = check->data && check->data_error->status != SHAPEPROOF_OK;
    uint64_t at = 0;
    if (why) return (struct sp_likeness){.equality = SP_DATA_INCOMPARABLE, .why = why};
    if (!check->data || failed) return (struct sp_likeness){.equality = SP_DATA_UNREAD};
    if (!sp_bytes_compare((struct sp_bytes_of){check->data, tensor}, (struct sp_bytes_of){check->data, whole},
                          part->bytes, &at, check->data_error))
        return (struct sp_likeness){.equality = SP_DATA_UNREAD};
    if (at == part->bytes) return (struct sp_likeness){.equality = SP_DATA_EQUAL};
    return (struct sp_likeness){.equality = SP_DATA_UNEQUAL, .element = at * 8 / shapeproof_dtype_bits(part->dtype)};
}

/* ---- metadata ---- */

/* The name as the file would have it. */
static const char *name_in_file(const struct shapeproof_check *check, const char *predicted, struct sp_text *text)
{
    const size_t left_out = strlen(check->naming.add);
    if (left_out && strncmp(predicted, check->naming.add, left_out) == 0) predicted += left_out;
    sp_text_puts(text, check->naming.strip);
    sp_text_puts(text, predicted);
    return text->data;
}

size_t sp_tie_alias(const struct shapeproof_check *check, size_t predicted)
{
    struct sp_text text = {0};
    const char *name = shapeproof_prediction_tensor(check->prediction, predicted)->name;
    const char *kept = sp_inventory_metadata_value(check->inventory, name);
    if (!kept) kept = sp_inventory_metadata_value(check->inventory, name_in_file(check, name, &text));
    sp_text_free(&text);
    return kept ? shapeproof_inventory_find(check->inventory, kept) : SHAPEPROOF_NONE;
}
