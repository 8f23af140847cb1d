/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "config/quantised_beside.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/file.h"

enum { MAX_FILE = 4 << 20 };

static const struct {
    const char *name, *method;
    const char *within; /* the key that has it all, or NULL */
    const char *sign;   /* a key without which it is another file of that name */
} files[] = {
    {"hf_quant_config.json", "modelopt", "quantization", "quant_algo"},
    {"quantize_config.json", "gptq", NULL, "bits"},
    {"quant_config.json", "awq", NULL, "w_bit"},
};

static struct shapeproof_value read_json(struct sp_arena *arena, const char *path)
{
    struct shapeproof_value value = sp_value_absent("");
    struct shapeproof_error ignored = {0};
    struct sp_file file;
    if (!sp_file_open(&file, AT_FDCWD, path, &ignored)) return value;
    char *text = sp_file_slurp(&file, MAX_FILE, &ignored);
    if (!text || !sp_value_parse_json(arena, text, (size_t)file.size, &value, &ignored)) value = sp_value_absent("");
    free(text);
    sp_file_close(&file);
    return value;
}

/* The same object with the method that the file is about, if it names none. */
static struct shapeproof_value with_method(struct sp_arena *arena, struct shapeproof_value object, const char *method)
{
    if (sp_value_is_set(sp_value_member(object, "quant_method"))) return object;
    struct shapeproof_member *members = sp_arena_array(arena, object.count + 1, sizeof *members);
    members[0] = (struct shapeproof_member){"quant_method", sp_value_string(method)};
    memcpy(members + 1, object.members, object.count * sizeof *members);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = object.count + 1, .members = members};
}

struct shapeproof_value sp_quantised_beside(struct sp_arena *arena, const char *path, const char **name)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *beside = sp_arena_printf(arena, "%.*s%s", (int)(sp_base_name(path) - path), path, files[i].name);
        struct shapeproof_value object = read_json(arena, beside);
        if (files[i].within) object = sp_value_member(object, files[i].within);
        if (!sp_value_is_set(sp_value_member(object, files[i].sign))) continue;
        *name = files[i].name;
        return with_method(arena, object, files[i].method);
    }
    return sp_value_absent("quantization_config");
}
