/* SPDX-License-Identifier: MIT
 * The arguments of a model that its program has saved beside the tensors, as a configuration that a table reads.
 * programs.def says which key is which. Objects that are configurations already are found wherever they are:
 *
 *   {"model_args": {"n_layer": 2, ...}}                     ->  {"shapeproof_table": "nanogpt", "n_layer": 2, ...}
 *   {"hyper_parameters": {"config": a LlamaConfig}}         ->  {"model_type": "llama", "hidden_size": 16, ...} */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "config/inside.h"

struct program {
    const char *id, *place, *table;
};

static const struct program programs[] = {
#define PROGRAM(id, place, table) {id, place, table},
#include "config/programs.def"
};

static const struct {
    const char *id, *key;
} signs[] = {
#define SIGN(id, key) {id, key},
#include "config/programs.def"
};

static const struct {
    const char *id, *key;
} others[] = {
#define OTHER(id, key) {id, key},
#include "config/programs.def"
};

static const struct {
    const char *id, *part;
} strangers[] = {
#define STRANGER(id, part) {id, part},
#include "config/programs.def"
};

static const struct {
    const char *id, *key, *becomes;
} takes[] = {
#define TAKE(id, key, becomes) {id, key, becomes},
#include "config/programs.def"
};

static const struct {
    const char *id, *part, *becomes;
} told[] = {
#define NAMES_SAY(id, part, becomes) {id, part, becomes},
#include "config/programs.def"
};

/* The programs that write a file of their arguments. */
static const char *const files[] = {
#define FILE_OF(id) id,
#include "config/programs.def"
};

enum {
    PROGRAM_COUNT = sizeof programs / sizeof *programs,
    SIGN_COUNT = sizeof signs / sizeof *signs,
    OTHER_COUNT = sizeof others / sizeof *others,
    STRANGER_COUNT = sizeof strangers / sizeof *strangers,
    TAKE_COUNT = sizeof takes / sizeof *takes,
    TOLD_COUNT = sizeof told / sizeof *told,
    FILE_COUNT = sizeof files / sizeof *files,
    MOST_LEVELS = 3 /* from the top of a checkpoint to a configuration: hyper_parameters.model.config */
};

/* ---- arguments of a program ---- */

/* What the arguments have at a dotted path, which may end with the place of an item: "input_size[0]". */
static struct shapeproof_value argument(struct sp_arena *arena, struct shapeproof_value arguments, const char *key)
{
    const char *bracket = strchr(key, '[');
    if (!bracket) return sp_value_at(arguments, key);
    const struct shapeproof_value list = sp_value_at(arguments, sp_arena_copy(arena, key, (size_t)(bracket - key)));
    const size_t place = strtoul(bracket + 1, NULL, 10);
    return list.type == SHAPEPROOF_VALUE_LIST && place < list.count ? list.items[place] : sp_value_absent(key);
}

/* `top` is the checkpoint; of a file beside one there is none, and its signs are not asked for. */
static bool has_signs(struct sp_arena *arena, const char *id, struct shapeproof_value arguments,
                      const struct shapeproof_value *top)
{
    for (size_t i = 0; i < SIGN_COUNT; i++) {
        if (strcmp(signs[i].id, id) != 0) continue;
        const bool of_top = *signs[i].key == '/';
        if (of_top && top && !sp_value_is_set(sp_value_member(*top, signs[i].key + 1))) return false;
        if (!of_top && !sp_value_is_set(argument(arena, arguments, signs[i].key))) return false;
    }
    return true;
}

/* Whether the key is in a row of the program. */
static bool is_known_key(const char *id, const char *key)
{
    for (size_t i = 0; i < TAKE_COUNT; i++)
        if (strcmp(takes[i].id, id) == 0 && strcmp(takes[i].key, key) == 0) return true;
    for (size_t i = 0; i < OTHER_COUNT; i++)
        if (strcmp(others[i].id, id) == 0 && strcmp(others[i].key, key) == 0) return true;
    return false;
}

static bool is_of_fork(const char *id, struct shapeproof_value arguments)
{
    bool lists_all = false;
    for (size_t i = 0; i < OTHER_COUNT; i++) lists_all = lists_all || strcmp(others[i].id, id) == 0;
    for (size_t i = 0; lists_all && i < arguments.count; i++)
        if (!is_known_key(id, arguments.members[i].key)) return true;
    return false;
}

/* Whether the name of a tensor has the part. */
static bool has_name_with(const struct shapeproof_inventory *inventory, const char *part)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        if (strstr(shapeproof_inventory_tensor(inventory, i)->name, part)) return true;
    return false;
}

static bool has_stranger(const char *id, const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < STRANGER_COUNT; i++)
        if (strcmp(strangers[i].id, id) == 0 && has_name_with(inventory, strangers[i].part)) return true;
    return false;
}

/* `inventory` is NULL for a file beside a checkpoint, whose names then say nothing. */
static struct shapeproof_value configuration_of(struct sp_arena *arena, const struct program *program,
                                                struct shapeproof_value arguments,
                                                const struct shapeproof_inventory *inventory)
{
    struct shapeproof_value root = {.type = SHAPEPROOF_VALUE_OBJECT};
    if (*program->table) root = sp_value_with(arena, root, "shapeproof_table", sp_value_string(program->table));
    for (size_t i = 0; i < TAKE_COUNT; i++) {
        if (strcmp(takes[i].id, program->id) != 0) continue;
        const struct shapeproof_value value = argument(arena, arguments, takes[i].key);
        if (sp_value_is_set(value)) root = sp_value_with(arena, root, takes[i].becomes, value);
    }
    for (size_t i = 0; inventory && i < TOLD_COUNT; i++) {
        if (strcmp(told[i].id, program->id) != 0 || sp_value_is_set(sp_value_at(root, told[i].becomes))) continue;
        const struct shapeproof_value value = sp_value_bool(has_name_with(inventory, told[i].part));
        root = sp_value_with(arena, root, told[i].becomes, value);
    }
    return root;
}

/* ---- configurations ---- */

/* Whether the class is the main one of its package, which has its name but for case and '_': "Qwen2_5_VLConfig" of
 * "qwen2_5_vl", and not CLIPTextConfig of "clip". */
static bool is_main_class(const char *package, size_t length, const char *name)
{
    for (size_t i = 0; i < length; i++) {
        if (package[i] == '_') continue;
        name += strspn(name, "_");
        const char lower = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        if (lower != package[i]) return false;
        name++;
    }
    return strcmp(name + strspn(name, "_"), "Config") == 0;
}

/* The model_type that a class of transformers has, "xlm_roberta" of
 * "transformers.models.xlm_roberta.configuration_xlm_roberta.XLMRobertaConfig"; NULL for any other class. In the arena.
 */
static const char *type_of_class(struct sp_arena *arena, struct shapeproof_value class)
{
    static const char package[] = "transformers.models.";
    if (class.type != SHAPEPROOF_VALUE_STRING || strncmp(class.string, package, sizeof package - 1) != 0) return NULL;
    const char *type = class.string + sizeof package - 1;
    const size_t length = strcspn(type, ".");
    return is_main_class(type, length, sp_behind_last(type, '.')) ? sp_arena_copy(arena, type, length) : NULL;
}

/* Whether it is a configuration of transformers or diffusers: other programs have keys of the same names, but not
 * together with the release. */
static bool is_configuration(struct shapeproof_value object)
{
    const bool of_transformers = sp_value_is_set(sp_value_member(object, "model_type")) &&
                                 (sp_value_is_set(sp_value_member(object, "transformers_version")) ||
                                  sp_value_is_set(sp_value_member(object, "architectures")));
    return of_transformers || (sp_value_is_set(sp_value_member(object, "_class_name")) &&
                               sp_value_is_set(sp_value_member(object, "_diffusers_version")));
}

/* Looks for the first configuration in an object and the objects in it. Sets where it is, a dotted path: each level
 * puts its key in front of what it found. */
static bool find_configuration(struct sp_arena *arena, struct shapeproof_value object, unsigned level,
                               struct sp_program_config *found)
{
    for (size_t i = 0; object.type == SHAPEPROOF_VALUE_OBJECT && i < object.count && level < MOST_LEVELS; i++) {
        const struct shapeproof_value value = object.members[i].value;
        const char *type = type_of_class(arena, sp_value_member(value, "__class__"));
        const char *key = object.members[i].key;
        if (value.type != SHAPEPROOF_VALUE_OBJECT) continue;
        if (type || is_configuration(value)) {
            found->place = key;
            found->root = value;
            if (type && !sp_value_is_set(sp_value_member(value, "model_type")))
                found->root = sp_value_with(arena, value, "model_type", sp_value_string(type));
            return true;
        }
        if (find_configuration(arena, value, level + 1, found)) {
            found->place = sp_arena_printf(arena, "%s.%s", key, found->place);
            return true;
        }
    }
    return false;
}

/* ---- where they are ---- */

static bool find_in_settings(struct sp_arena *arena, struct shapeproof_value settings,
                             const struct shapeproof_inventory *inventory, struct sp_program_config *found)
{
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        const struct shapeproof_value arguments = sp_value_at(settings, programs[i].place);
        if (arguments.type != SHAPEPROOF_VALUE_OBJECT || !has_signs(arena, programs[i].id, arguments, &settings) ||
            is_of_fork(programs[i].id, arguments) || has_stranger(programs[i].id, inventory))
            continue;
        found->place = programs[i].place;
        found->root = configuration_of(arena, &programs[i], arguments, inventory);
        return true;
    }
    return find_configuration(arena, settings, 0, found);
}

bool sp_config_of_program(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                          struct sp_program_config *found)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value settings;
    const char *text = shapeproof_inventory_settings(inventory);
    return text && sp_value_parse_json(arena, text, strlen(text), &settings, &error) &&
           find_in_settings(arena, settings, inventory, found);
}

/* Whether the file names its architecture in a key of its own, which no program's arguments have. */
static bool names_architecture(struct shapeproof_value root)
{
    static const char *const keys[] = {"model_type", "architectures", "architecture", "_class_name",
                                       "shapeproof_table"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_value_is_set(sp_value_member(root, keys[i]))) return true;
    return false;
}

bool sp_config_is_of_program(struct sp_arena *arena, const char *id, struct shapeproof_value root)
{
    return !names_architecture(root) && has_signs(arena, id, root, NULL);
}

bool sp_config_text_is_of_program(const char *text, const char *id)
{
    for (size_t i = 0; i < SIGN_COUNT; i++) {
        if (strcmp(signs[i].id, id) != 0) continue;
        const char *last = strrchr(signs[i].key, '.');
        if (!strstr(text, last ? last + 1 : signs[i].key)) return false;
    }
    return true;
}

struct shapeproof_value sp_config_of_program_file(struct sp_arena *arena, struct shapeproof_value root)
{
    for (size_t i = 0; i < FILE_COUNT; i++)
        for (size_t k = 0; k < PROGRAM_COUNT; k++)
            if (strcmp(files[i], programs[k].id) == 0 && sp_config_is_of_program(arena, files[i], root))
                return configuration_of(arena, &programs[k], root, NULL);
    return root;
}
