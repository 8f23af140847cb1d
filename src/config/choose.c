/* SPDX-License-Identifier: MIT
 * Which table serves a configuration. A guess is never made: no table is an error of its own (SHAPEPROOF_ERR_UNKNOWN).
 */
#include "config/choose.h"

#include <string.h>

#include "base/chars.h"
#include "config/config.h"
#include "lang/prediction.h"
#include "lang/tables.h"

/* The place of the table that serves a model type, or SIZE_MAX. A table that lists the class wins over one that serves
 * all classes; a table that lists other classes alone does not serve this one. */
static size_t by_model_type(const struct shapeproof_tables *tables, const char *model_type, const char *class)
{
    size_t found = SIZE_MAX;
    for (size_t i = sp_tables_place_count(tables); i-- > 0;) {
        const struct sp_entry entry = sp_tables_entry(tables, i);
        if (!entry.is_table || !sp_is_among(model_type, entry.model_types, entry.model_type_count)) continue;
        if (sp_tables_place(tables, entry.name) != i) continue;
        if (entry.architecture_count && sp_is_among(class, entry.architectures, entry.architecture_count)) return i;
        if (!entry.architecture_count && found == SIZE_MAX) found = i;
    }
    return found;
}

/* Whether two names are the same but for hyphens and underscores: "xlm-roberta" and "xlm_roberta". */
static bool differ_in_hyphens(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_'))) return false;
    return !*a && !*b;
}

/* The model_type of a table that is the given one but for hyphens and underscores, which is the name of the model's
 * package in transformers; or NULL. */
static const char *model_type_of_package(const struct shapeproof_tables *tables, const char *package)
{
    for (size_t i = 0; i < sp_tables_place_count(tables); i++) {
        const struct sp_entry entry = sp_tables_entry(tables, i);
        for (size_t k = 0; entry.is_table && k < entry.model_type_count; k++)
            if (strcmp(package, entry.model_types[k]) != 0 && differ_in_hyphens(package, entry.model_types[k]))
                return entry.model_types[k];
    }
    return NULL;
}

/* What can follow the model's own name in the name of a class: in "GPTNeoXForCausalLM" no model is called "GPTNeo". */
static bool is_class_ending(const char *text)
{
    static const char *const endings[] = {"For", "Model", "LM", "With", "DoubleHeads", "Encoder", "Decoder", "MT"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strncmp(text, endings[i], strlen(endings[i])) == 0) return true;
    return false;
}

/* How many characters a class name begins with that are those of a model_type: "xlm-roberta" 10 of "XLMRobertaModel".
 */
static size_t type_length(const char *model_type, const char *class)
{
    size_t length = 0;
    for (; *model_type; model_type++) {
        char c = class[length];
        if (*model_type == '-' || *model_type == '_') continue;
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != *model_type) return 0;
        length++;
    }
    return length;
}

/* The same where the class name goes on as class names do; otherwise 0: "gpt-neo" is no prefix of "GPTNeoXModel". */
static size_t class_prefix(const char *model_type, const char *class)
{
    const size_t length = type_length(model_type, class);
    return length && is_class_ending(class + length) ? length : 0;
}

/* "Llama" for "llama", "OpenaiGpt" for "openai-gpt". A name that is no class has no table. */
static const char *class_stem(struct sp_arena *arena, const char *model_type)
{
    char *stem = sp_arena_copy(arena, model_type, strlen(model_type)), *end = stem;
    bool begins = true;
    for (; *model_type; model_type++) {
        const bool is_joint = *model_type == '-' || *model_type == '_';
        if (!is_joint)
            *end++ = (char)(begins && *model_type >= 'a' && *model_type <= 'z' ? *model_type - 'a' + 'A' : *model_type);
        begins = is_joint;
    }
    *end = '\0';
    return stem;
}

const char *sp_class_with_head(struct sp_arena *arena, const struct sp_hyper *hyper, const char *head)
{
    static const char tail[] = "_text"; /* Gemma3ForCausalLM, but Gemma3TextForSequenceClassification */
    const struct shapeproof_value type = sp_value_member(hyper->root, "model_type");
    const char *class = sp_first_class(hyper);
    if (type.type != SHAPEPROOF_VALUE_STRING) return NULL;
    if (!*class) return sp_arena_printf(arena, "%s%s", class_stem(arena, type.string), head);
    size_t length = class_prefix(type.string, class);
    if (length) return sp_arena_printf(arena, "%.*s%s", (int)length, class, head);
    if (!sp_ends_with(type.string, tail)) return NULL;
    length = class_prefix(sp_arena_copy(arena, type.string, strlen(type.string) - strlen(tail)), class);
    return length ? sp_arena_printf(arena, "%.*sText%s", (int)length, class, head) : NULL;
}

/* Files of 2019 have no model_type; their class name begins with it. The longest one that any table serves, or NULL:
 * "xlm-roberta" for "XLMRobertaModel". */
static const char *model_type_of_class(const struct shapeproof_tables *tables, const char *class)
{
    const char *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < sp_tables_place_count(tables); i++) {
        const struct sp_entry entry = sp_tables_entry(tables, i);
        for (size_t k = 0; k < entry.model_type_count; k++) {
            const size_t length = class_prefix(entry.model_types[k], class);
            if (length <= longest) continue;
            longest = length;
            best = entry.model_types[k];
        }
    }
    return best;
}

static const char *text_or_empty(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_STRING ? value.string : "";
}

const char *sp_first_class(const struct sp_hyper *hyper)
{
    const struct shapeproof_value classes = sp_value_member(hyper->root, "architectures");
    return classes.type == SHAPEPROOF_VALUE_LIST && classes.count ? text_or_empty(classes.items[0])
                                                                  : text_or_empty(classes);
}

/* The class that the model is made by, from the key that diffusers has for it, or the name that timm makes it by; ""
 * when there is neither. Where there is one, it alone decides. */
static const char *made_class(const struct sp_hyper *hyper)
{
    const char *class = text_or_empty(sp_value_member(hyper->root, "_class_name"));
    if (*class || *text_or_empty(sp_value_member(hyper->root, "model_type"))) return class;
    return text_or_empty(sp_value_member(hyper->root, "architecture"));
}

/* Configurations that 'infer' wrote for a table that no model_type leads to name it themselves. */
static const char *named_table(const struct sp_hyper *hyper)
{
    const char *name = text_or_empty(sp_value_member(hyper->root, "shapeproof_table"));
    return *name ? name : NULL;
}

const struct sp_unit *sp_choose_table(const struct shapeproof_tables *tables, const char *name,
                                      const struct sp_hyper *hyper, struct shapeproof_error *error)
{
    if (!name) name = named_table(hyper);
    if (name) return sp_tables_table(tables, name, error);
    const char *class = sp_first_class(hyper), *model_type = text_or_empty(sp_value_member(hyper->root, "model_type"));
    const char *made = made_class(hyper);
    const bool is_name_of_timm = *made >= 'a'; /* "resnet50"; the classes of diffusers begin with a capital letter */
    size_t place = sp_tables_of_class(tables, made);
    if (!*model_type && *class) model_type = model_type_of_class(tables, class);
    if (place == SIZE_MAX && model_type && *model_type) place = by_model_type(tables, model_type, class);
    if (place == SIZE_MAX) place = sp_tables_of_class(tables, class);
    if (place != SIZE_MAX) return sp_tables_table(tables, sp_tables_entry(tables, place).name, error);
    if (*made)
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "no table for the %s '%s'",
                is_name_of_timm ? "architecture" : "class", made);
    else if (model_type && strncmp(model_type, "gguf-", 5) == 0)
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "no table for GGUF files of the architecture '%s'",
                model_type + 5);
    else if (model_type && *model_type) {
        const char *meant = model_type_of_package(tables, model_type);
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "no table for model_type '%s'%s%s%s%s%s%s",
                model_type, *class ? " (" : "", class, *class ? ")" : "", meant ? ", but one for '" : "",
                meant ? meant : "", meant ? "'" : "");
    } else if (*class)
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "no table for the architecture '%s'", class);
    else
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE,
                "the configuration names neither model_type nor architectures");
    sp_hint(error,
            "'shapeproof tables' lists the tables, for --table NAME; 'shapeproof learn CHECKPOINT...' writes one from "
            "checkpoints and their config.json, for --table FILE");
    return NULL;
}

bool sp_chooses_two(const struct shapeproof_tables *tables, const struct sp_hyper *hyper, struct sp_two_models *two)
{
    two->class = sp_first_class(hyper);
    two->model_type = text_or_empty(sp_value_member(hyper->root, "model_type"));
    two->class_type = model_type_of_class(tables, two->class);
    if (named_table(hyper) || !*two->class || !two->class_type) return false;
    if (type_length(two->model_type, two->class)) return false; /* a class of it that is not known */
    const size_t one = by_model_type(tables, two->model_type, two->class);
    return one != SIZE_MAX && one != by_model_type(tables, two->class_type, two->class);
}
