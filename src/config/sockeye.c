/* SPDX-License-Identifier: MIT
 * A Sockeye model is a folder with the files `config` (YAML since 1.2), `version` and `params.best`. The configurations
 * of Sockeye 2 and 3 are all but the same, yet their parameters have other names: the file `version` decides. Without
 * it: only Sockeye 1 keeps the loss in its configuration, and only Sockeye 2 the path of a library for integers. */
#define _POSIX_C_SOURCE 200809L
#include "config/sockeye.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/file.h"

static const char *text_member(struct shapeproof_value object, const char *key)
{
    const struct shapeproof_value value = sp_value_member(object, key);
    return value.type == SHAPEPROOF_VALUE_STRING ? value.string : "";
}

bool sp_sockeye_is_config(struct shapeproof_value root)
{
    return strcmp(text_member(root, "yaml_tag"), "ModelConfig") == 0 &&
           sp_value_member(root, "config_encoder").type == SHAPEPROOF_VALUE_OBJECT;
}

/* ---- which model ---- */

static const char *kind_of(const char *name)
{
    static const char *const kinds[][2] = {
        {"rnn", "rnn"},
        {"rnn-with-conv-embed", "rnn"},
        {"RecurrentEncoderConfig", "rnn"},
        {"RecurrentDecoderConfig", "rnn"},
        {"transformer", "transformer"},
        {"transformer-with-conv-embed", "transformer"},
        {"TransformerConfig", "transformer"},
        {"cnn", "cnn"},
        {"ConvolutionalEncoderConfig", "cnn"},
        {"ConvolutionalDecoderConfig", "cnn"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i][0], name) == 0) return kinds[i][1];
    return name;
}

const char *sp_sockeye_model_type(struct sp_arena *arena, const char *encoder, const char *decoder)
{
    const bool mixed = strcmp(kind_of(encoder), kind_of(decoder)) != 0;
    return sp_arena_printf(arena, "sockeye-%s", mixed ? "mixed" : kind_of(encoder));
}

static char major_of(struct shapeproof_value root, const char *version)
{
    if (version) return *version;
    if (sp_value_member(root, "config_loss").type != SHAPEPROOF_VALUE_ABSENT) return '1';
    return sp_value_member(root, "intgemm_custom_lib").type != SHAPEPROOF_VALUE_ABSENT ? '2' : '3';
}

struct shapeproof_value sp_sockeye_with_model_type(struct sp_arena *arena, struct shapeproof_value root,
                                                   const char *version)
{
    const char *encoder = text_member(sp_value_member(root, "config_encoder"), "yaml_tag");
    const char *decoder = text_member(sp_value_member(root, "config_decoder"), "yaml_tag");
    const char major = major_of(root, version);
    const char *type =
        major == '1' ? sp_sockeye_model_type(arena, encoder, decoder) : sp_arena_printf(arena, "sockeye-%c", major);
    struct shapeproof_member *members = sp_arena_array(arena, root.count + 1, sizeof *members);
    members[0] = (struct shapeproof_member){"model_type", sp_value_string(type)};
    memcpy(members + 1, root.members, root.count * sizeof *members);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = root.count + 1, .members = members};
}

/* ---- the file `version` ---- */

const char *sp_sockeye_version(struct sp_arena *arena, const char *path)
{
    const char *beside = sp_arena_printf(arena, "%.*sversion", (int)(sp_base_name(path) - path), path);
    struct sp_file file;
    struct shapeproof_error ignored = {0};
    if (!sp_file_open(&file, AT_FDCWD, beside, &ignored)) return NULL;
    char *text = sp_file_slurp(&file, 64, &ignored);
    sp_file_close(&file);
    const size_t length = text ? strspn(text, "0123456789.abcdefghijklmnopqrstuvwxyz+-") : 0;
    const bool good = length && *text >= '0' && *text <= '9';
    const char *version = good ? sp_arena_copy(arena, text, length) : NULL;
    sp_free(text);
    return version;
}
