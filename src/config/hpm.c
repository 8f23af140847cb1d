/* SPDX-License-Identifier: MIT
 * .hpm files, as nparam and sockeye-recipes write them: shell fragments of key=value lines. Here they are only read:
 *   key=value   key="value"   # comment   $name and ${name} of earlier keys   "source:target" pairs
 * A pair becomes a list of two, a number an integer. A later line wins. Anything else of the shell is a mistake. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/real.h"
#include "config/config.h"
#include "config/sockeye.h"

/* Bytes: of a recipe, which takes up to 30 times as much memory; to which $name may make one value, and all of them
 * together. */
enum { MAX_RECIPE = 4 << 20, MAX_VALUE = 1 << 16, MAX_VALUES = 16 << 20 };

struct hpm {
    struct sp_arena *arena;
    struct shapeproof_error *error;
    struct shapeproof_member *members; /* heap, texts only */
    size_t count, capacity;
    struct sp_map latest; /* by key: the last line that gives it */
    size_t line, bytes;
};

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool wrong_hpm(struct hpm *hpm, const char *what)
{
    return sp_fail(hpm->error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, "line %zu: %s", hpm->line, what);
}

/* The value of a key on the last of the lines so far that gives it, or NULL. */
static const char *earlier(const struct hpm *hpm, const char *name)
{
    const size_t line = sp_map_get(&hpm->latest, name);
    return line == SIZE_MAX ? NULL : hpm->members[line].value.string;
}

/* $name or ${name} at *p; an unknown one stays as it is written, since paths are of no interest here, and so does one
 * whose value is too long to be anything else. */
static void expand(struct hpm *hpm, const char **p, const char *end, struct sp_text *into)
{
    const char *start = *p, *name = *p + 1;
    const bool braces = name < end && *name == '{';
    name += braces;
    const char *stop = name;
    while (stop < end && is_name_char(*stop)) stop++;
    struct sp_text key = {0};
    sp_text_append(&key, name, (size_t)(stop - name));
    const char *value = earlier(hpm, key.data);
    sp_text_free(&key);
    if (braces && stop < end && *stop == '}') *p = stop + 1;
    else *p = stop;
    const size_t length = value ? into->length + strlen(value) : 0;
    if (value && length <= MAX_VALUE && hpm->bytes + length <= MAX_VALUES) sp_text_puts(into, value);
    else sp_text_append(into, start, (size_t)(*p - start));
}

/* A whole number that does not fit is a real one, as in JSON. */
static struct shapeproof_value number_or_text(struct sp_arena *arena, const char *text, size_t length)
{
    int64_t number = 0;
    bool digits = length > 0, fits = true;
    for (size_t i = 0; i < length && digits; i++) {
        digits = text[i] >= '0' && text[i] <= '9';
        fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, text[i] - '0', &number);
    }
    if (!digits) return sp_value_string(sp_arena_copy(arena, text, length));
    return fits ? sp_value_int(number) : sp_value_real(sp_real_read(text, NULL));
}

/* "512" as a number, "512:512" as a list of two, all else as a text. */
static struct shapeproof_value typed(struct sp_arena *arena, const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon || strchr(colon + 1, ':')) return number_or_text(arena, text, strlen(text));
    struct shapeproof_value *pair = sp_arena_array(arena, 2, sizeof *pair);
    pair[0] = number_or_text(arena, text, (size_t)(colon - text));
    pair[1] = number_or_text(arena, colon + 1, strlen(colon + 1));
    if (pair[0].type != SHAPEPROOF_VALUE_INT || pair[1].type != SHAPEPROOF_VALUE_INT) return sp_value_string(text);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 2, .items = pair};
}

/* The value from `p` to `end` of its line, without quotes, with the values of earlier keys in place of $name. False
 * after a mistake. */
static bool value_text(struct hpm *hpm, const char *p, const char *end, struct sp_text *into)
{
    const bool quoted = p < end && *p == '"';
    sp_text_puts(into, "");
    for (p += quoted; p < end;) {
        if (quoted ? *p == '"' : *p == ' ' || *p == '\t' || *p == '\r' || *p == '#') break;
        if (strchr("`;|&<>(", *p)) return wrong_hpm(hpm, "only key=value lines are read, no shell commands");
        if (*p == '$') expand(hpm, &p, end, into);
        else sp_text_append(into, p++, 1);
    }
    if (quoted && (p == end || *p++ != '"')) return wrong_hpm(hpm, "the value has no closing '\"'");
    while (p < end && strchr(" \t\r", *p)) p++;
    return p == end || *p == '#' ? true : wrong_hpm(hpm, "unexpected text after the value");
}

/* Reads key=value; a blank line or a comment is nothing. False after a mistake. */
static bool one_line(struct hpm *hpm, const char *p, const char *end)
{
    struct sp_text value = {0};
    while (p < end && strchr(" \t\r", *p)) p++;
    if (p == end || *p == '#') return true;
    const char *name = p;
    while (p < end && is_name_char(*p)) p++;
    if (p == name || p == end || *p != '=') return wrong_hpm(hpm, "expected key=value");
    const char *key = sp_arena_copy(hpm->arena, name, (size_t)(p - name));
    const bool good = value_text(hpm, p + 1, end, &value);
    if (good) {
        SP_GROW(hpm->members, hpm->count, hpm->capacity);
        sp_map_set(&hpm->latest, key, hpm->count);
        hpm->bytes += value.length;
        hpm->members[hpm->count++] = (struct shapeproof_member){key, sp_value_string(sp_text_keep(&value, hpm->arena))};
    } else sp_text_free(&value);
    return good;
}

/* Appends the model_type that the encoder and decoder of the recipe mean, if it has them; the new count of members. */
static size_t add_model_type(struct hpm *hpm, struct shapeproof_member *members, size_t count)
{
    const char *encoder = earlier(hpm, "encoder"), *decoder = earlier(hpm, "decoder");
    if (encoder) {
        const char *type = sp_sockeye_model_type(hpm->arena, encoder, decoder ? decoder : encoder);
        members[count++] = (struct shapeproof_member){"model_type", sp_value_string(type)};
    }
    return count;
}

bool sp_hpm_parse(struct sp_arena *arena, const char *text, struct shapeproof_value *root,
                  struct shapeproof_error *error)
{
    struct hpm hpm = {.arena = arena, .error = error};
    bool good = true;
    if (strlen(text) > MAX_RECIPE)
        return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_LIMIT,
                       "longer than 4 MB, too long for a configuration");
    while (*text && good) {
        const char *end = text + strcspn(text, "\n");
        hpm.line++;
        good = one_line(&hpm, text, end);
        text = *end ? end + 1 : end;
    }
    if (good) {
        struct shapeproof_member *members = sp_arena_array(arena, hpm.count + 1, sizeof *members); /* 1: model_type */
        size_t count = add_model_type(&hpm, members, 0);
        for (size_t i = 0; i < hpm.count; i++)
            members[count++] =
                (struct shapeproof_member){hpm.members[i].key, typed(arena, hpm.members[i].value.string)};
        *root = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = count, .members = members};
    }
    sp_map_free(&hpm.latest);
    sp_free(hpm.members);
    return good;
}
