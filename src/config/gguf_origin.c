/* SPDX-License-Identifier: MIT
 * Compares each key of the metadata of a GGUF file with what the configuration gives it. gguf_origin.def has the values
 * as text, and says how such a text reads; evaluate_value computes it. */
#include "config/gguf_origin.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "model/format.h"

static const struct row {
    const char *architectures, *key, *value;
} rows[] = {
#define SAYS(architectures, key, value) {architectures, key, value},
#include "config/gguf_origin.def"
};

static const struct row absents[] = {
#define ABSENT(architectures, key, value) {architectures, key, value},
#include "config/gguf_origin.def"
};

static const struct named {
    const char *name, *value;
} nameds[] = {
#define NAMED(name, value) {name, value},
#include "config/gguf_origin.def"
};

static const struct code {
    const char *key, *text, *code;
} codes[] = {
#define CODE(key, text, code) {key, text, code},
#include "config/gguf_origin.def"
};

static const char *const with_frequencies[] = {
#define FREQUENCIES(architectures) architectures,
#include "config/gguf_origin.def"
};

static const struct class
{
    const char *class, *architecture;
} classes[] = {
#define CLASS(class, architecture) {class, architecture},
#include "config/gguf_classes.def"
};

enum {
    ROW_COUNT = sizeof rows / sizeof *rows,
    ABSENT_COUNT = sizeof absents / sizeof *absents,
    NAMED_COUNT = sizeof nameds / sizeof *nameds,
    CODE_COUNT = sizeof codes / sizeof *codes,
    CLASS_COUNT = sizeof classes / sizeof *classes,
};

static const char REFUSED[] = "refused"; /* llama.cpp does not load a file without the key */

struct origin {
    struct sp_arena *arena;
    const struct shapeproof_config *config;
    const struct shapeproof_inventory *file;
    const char *architecture;               /* "llama" */
    struct shapeproof_value root, language; /* of the configuration: all of it, and the part of the language model */
    struct sp_text used;                    /* the keys that the value under evaluation was computed from, "a and b" */
    size_t counted;                         /* the tensor whose rows it was computed from, or SHAPEPROOF_NONE */
    struct sp_gguf_differences found;
};

/* Whether a list of words that are separated by blanks has the word. */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = list; *p; p += strspn(p, " ")) {
        const size_t own = strcspn(p, " ");
        if (own == length && memcmp(p, word, length) == 0) return true;
        p += own;
    }
    return false;
}

/* ---- what the file and the configuration say ---- */

static const char *full_key(struct origin *origin, const char *key)
{
    return sp_arena_printf(origin->arena, "%s.%s", origin->architecture, key);
}

/* The value of a key of the file; a text that is not JSON is a string. */
static struct shapeproof_value stored_value(struct origin *origin, const char *key)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value value;
    const char *text = sp_inventory_metadata_value(origin->file, full_key(origin, key));
    if (!text) return sp_value_absent(key);
    if (sp_value_parse_json(origin->arena, text, strlen(text), &value, &error)) return value;
    return sp_value_string(text);
}

/* The part of the configuration of a model for text and images that is about text; the converter reads it first. */
static struct shapeproof_value language_part(struct shapeproof_value root)
{
    static const char *const parts[] = {"text_config",     "llm_config", "lm_config", "thinker_config.text_config",
                                        "language_config", "lfm"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct shapeproof_value part = sp_value_at(root, parts[i]);
        if (part.type == SHAPEPROOF_VALUE_OBJECT) return part;
    }
    return sp_value_absent("text_config");
}

/* What an object has at a dotted path, where a number is the place in a list. */
static struct shapeproof_value value_at(struct origin *origin, struct shapeproof_value object, const char *path)
{
    const size_t length = strcspn(path, ".");
    struct shapeproof_value value = sp_value_absent(path);
    if (object.type == SHAPEPROOF_VALUE_OBJECT)
        value = sp_value_member(object, sp_arena_copy(origin->arena, path, length));
    else if (object.type == SHAPEPROOF_VALUE_LIST && sp_is_digit(*path) && sp_digit(*path) < object.count)
        value = object.items[sp_digit(*path)];
    return path[length] && sp_value_is_set(value) ? value_at(origin, value, path + length + 1) : value;
}

static struct shapeproof_value configured_value(struct origin *origin, const char *path)
{
    const struct shapeproof_config *config = origin->config;
    for (size_t i = config->setting_count; i-- > 0;)
        if (strcmp(config->settings[i].path, path) == 0) return config->settings[i].value;
    const struct shapeproof_value inner = value_at(origin, origin->language, path);
    return sp_value_is_set(inner) ? inner : value_at(origin, origin->root, path);
}

/* ---- values of gguf_origin.def ---- */

static struct shapeproof_value evaluate_value(struct origin *origin, const char *text);

static bool is_number(struct shapeproof_value value, double *number)
{
    if (value.type == SHAPEPROOF_VALUE_BOOL) *number = value.boolean;
    else if (value.type == SHAPEPROOF_VALUE_INT) *number = (double)value.integer;
    else if (value.type == SHAPEPROOF_VALUE_REAL) *number = value.real;
    else return false;
    return true;
}

static struct shapeproof_value whole_or_real(double number)
{
    const double most = 9007199254740992.0; /* 2^53: larger ones may have been rounded */
    return floor(number) == number && fabs(number) < most ? sp_value_int((int64_t)number) : sp_value_real(number);
}

static bool is_text(struct shapeproof_value value, const char *text)
{
    return value.type == SHAPEPROOF_VALUE_STRING && strcmp(value.string, text) == 0;
}

/* For each entry of the list, whether it is that text. */
static struct shapeproof_value compare_entries(struct origin *origin, struct shapeproof_value list, const char *text)
{
    struct shapeproof_value *items = sp_arena_array(origin->arena, list.count, sizeof *items);
    for (size_t i = 0; i < list.count; i++) items[i] = sp_value_bool(is_text(list.items[i], text));
    return (struct shapeproof_value){SHAPEPROOF_VALUE_LIST, .count = list.count, .items = items};
}

static int64_t count_front(struct shapeproof_value list, const char *text)
{
    size_t count = 0;
    while (count < list.count && is_text(list.items[count], text)) count++;
    return (int64_t)count;
}

/* A key of the configuration, which is noted as used: "hidden_size", "#list", "list=text", "list^text". */
static struct shapeproof_value evaluate_key(struct origin *origin, const char *operand)
{
    const char *path = operand + (*operand == '#');
    const size_t length = strcspn(path, "=^");
    const char *key = sp_arena_copy(origin->arena, path, length);
    const char *text = path[length] ? path + length + 1 : "";
    const struct shapeproof_value value = configured_value(origin, key);
    if (!sp_value_is_set(value)) return value;
    sp_text_printf(&origin->used, "%s%s", origin->used.length ? " and " : "", key);
    if (*operand != '#' && !path[length]) return value;
    if (value.type != SHAPEPROOF_VALUE_LIST) return sp_value_absent(key);
    if (*operand == '#') return sp_value_int((int64_t)value.count);
    return path[length] == '=' ? compare_entries(origin, value, text) : sp_value_int(count_front(value, text));
}

/* The number of rows of a tensor of the file; absent if the file has no such matrix. */
static struct shapeproof_value count_rows(struct origin *origin, const char *name)
{
    const size_t index = shapeproof_inventory_find(origin->file, name);
    const struct shapeproof_tensor *tensor =
        index == SHAPEPROOF_NONE ? NULL : shapeproof_inventory_tensor(origin->file, index);
    const bool is_matrix = tensor && tensor->rank == 2 && tensor->shape[0] <= INT64_MAX;
    origin->counted = index;
    return is_matrix ? sp_value_int((int64_t)tensor->shape[0]) : sp_value_absent(name);
}

static struct shapeproof_value evaluate_operand(struct origin *origin, const char *operand)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value value;
    if (sp_value_parse_json(origin->arena, operand, strlen(operand), &value, &error)) return value;
    if (*operand == '\'') return sp_value_string(operand + 1);
    if (*operand == '@') return stored_value(origin, operand + 1);
    if (*operand == '&') return count_rows(origin, operand + 1);
    if (*operand != '$') return evaluate_key(origin, operand);
    for (size_t i = 0; i < NAMED_COUNT; i++)
        if (strcmp(nameds[i].name, operand + 1) == 0) return evaluate_value(origin, nameds[i].value);
    return sp_value_absent(operand);
}

static struct shapeproof_value calculate(char operation, struct shapeproof_value left, struct shapeproof_value right)
{
    double a, b;
    if (!is_number(left, &a) || !is_number(right, &b) || (operation == '/' && b == 0)) return sp_value_absent("");
    return whole_or_real(operation == '+' ? a + b : operation == '-' ? a - b : operation == '*' ? a * b : a / b);
}

static const char *encode_text(const char *key, const char *text);

/* "[yarn] a*b+c" of that length: the value of the chain; absent where an operand is, or the condition does not hold. */
static struct shapeproof_value evaluate_alternative(struct origin *origin, const char *text, size_t length)
{
    const char *p = sp_arena_copy(origin->arena, text, length);
    if (*p == '[') {
        const size_t size = strcspn(++p, "]");
        const struct shapeproof_value type = evaluate_operand(origin, "$rope_type");
        const char *code = type.type == SHAPEPROOF_VALUE_STRING ? encode_text("rope.scaling.type", type.string) : "";
        sp_text_free(&origin->used);
        if (strlen(code) != size || memcmp(code, p, size) != 0) return sp_value_absent("");
        p += size + 1 + strspn(p + size + 1, " ");
    }
    struct shapeproof_value value = {0};
    char operation = '\0';
    for (;;) {
        const size_t size = strcspn(p, "*/+-");
        const struct shapeproof_value operand = evaluate_operand(origin, sp_arena_copy(origin->arena, p, size));
        value = operation ? calculate(operation, value, operand) : operand;
        if (!sp_value_is_set(value) || !p[size]) return value;
        operation = p[size];
        p += size + 1;
    }
}

/* The first alternative whose keys are all set; origin->used then has these keys. Absent without one. */
static struct shapeproof_value evaluate_value(struct origin *origin, const char *text)
{
    const char *before = sp_arena_string(origin->arena, origin->used.data ? origin->used.data : "");
    for (const char *p = text; *p; p += strspn(p, ", ")) {
        const size_t length = strcspn(p, ",");
        const struct shapeproof_value value = evaluate_alternative(origin, p, length);
        if (sp_value_is_set(value)) return value;
        sp_text_free(&origin->used);
        sp_text_puts(&origin->used, before);
        p += length;
    }
    return sp_value_absent(text);
}

/* ---- comparing ---- */

/* What stands in the file for a text of the configuration. */
static const char *encode_text(const char *key, const char *text)
{
    for (size_t i = 0; i < CODE_COUNT; i++)
        if (strcmp(codes[i].key, key) == 0 && (!*codes[i].text || strcmp(codes[i].text, text) == 0))
            return codes[i].code;
    return text;
}

static struct shapeproof_value encode_value(struct origin *origin, const char *key, struct shapeproof_value value)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value code;
    if (value.type != SHAPEPROOF_VALUE_STRING) return value;
    const char *text = encode_text(key, value.string);
    return sp_value_parse_json(origin->arena, text, strlen(text), &code, &error) ? code : sp_value_string(text);
}

/* Whether two single values are equal. Files have real numbers as 32-bit floats, and whole ones where the converter has
 * cut off the fraction. */
static bool is_equal(struct shapeproof_value stored, struct shapeproof_value wanted)
{
    const double precision = 1e-6; /* relative; a 32-bit float is exact to 6e-8 */
    double a, b;
    if (stored.type == SHAPEPROOF_VALUE_STRING && wanted.type == SHAPEPROOF_VALUE_STRING)
        return strcmp(stored.string, wanted.string) == 0;
    if (!is_number(stored, &a) || !is_number(wanted, &b)) return false;
    return a == b || fabs(a - b) <= precision * fabs(b) ||
           (stored.type == SHAPEPROOF_VALUE_INT && (double)stored.integer == floor(b + precision));
}

/* Whether a key has a list with 0 for layers without attention or feed-forward network: the tensors show these. */
static bool may_be_zero(const char *key)
{
    return strncmp(key, "attention.head_count", strlen("attention.head_count")) == 0 ||
           strcmp(key, "feed_forward_length") == 0;
}

enum { EVERYWHERE = -1 };

/* Whether the values differ; in lists, at the entry *place, which is EVERYWHERE for single values. Lists are compared
 * as far as both reach; a configuration that has a list where the file has one value is not compared. */
static bool differs(const char *key, struct shapeproof_value stored, struct shapeproof_value wanted, int64_t *place)
{
    *place = EVERYWHERE;
    if (stored.type != SHAPEPROOF_VALUE_LIST)
        return wanted.type != SHAPEPROOF_VALUE_LIST && wanted.type != SHAPEPROOF_VALUE_OBJECT &&
               !is_equal(stored, wanted);
    for (size_t i = 0; i < stored.count; i++) {
        if (wanted.type == SHAPEPROOF_VALUE_LIST && i >= wanted.count) return false;
        const struct shapeproof_value entry = wanted.type == SHAPEPROOF_VALUE_LIST ? wanted.items[i] : wanted;
        double number;
        if (is_equal(stored.items[i], entry)) continue;
        if (wanted.type != SHAPEPROOF_VALUE_LIST && may_be_zero(key) && is_number(stored.items[i], &number) &&
            number == 0)
            continue;
        *place = (int64_t)i;
        return true;
    }
    return false;
}

/* Whether no row but the first that differs agrees: in a list each entry may be right by another row. */
static bool is_right_by_another(struct origin *origin, const struct row *const *mine, size_t count,
                                struct shapeproof_value stored, int64_t place)
{
    for (size_t i = 1; i < count; i++) {
        const struct shapeproof_value wanted =
            encode_value(origin, mine[i]->key, evaluate_value(origin, mine[i]->value));
        struct shapeproof_value one = stored;
        int64_t other;
        if (place != EVERYWHERE) one = stored.items[place];
        sp_text_free(&origin->used);
        if (sp_value_is_set(wanted) && wanted.type != SHAPEPROOF_VALUE_LIST &&
            !differs(mine[i]->key, one, wanted, &other))
            return true;
        if (wanted.type == SHAPEPROOF_VALUE_LIST && !differs(mine[i]->key, stored, wanted, &other)) return true;
    }
    return false;
}

static struct sp_gguf_difference *add_difference(struct origin *origin)
{
    struct sp_gguf_difference *difference = &origin->found.items[origin->found.count++];
    *difference = (struct sp_gguf_difference){.tensor = SHAPEPROOF_NONE};
    return difference;
}

/* "config.json's a and b give 16", or "llama.cpp's converter writes 16" where no key says it. */
static const char *wanted_said(struct origin *origin, const char *used, struct shapeproof_value wanted)
{
    const char *file = sp_config_hyper(origin->config)->file;
    const char *value = sp_value_words(origin->arena, wanted);
    if (!*used) return sp_arena_printf(origin->arena, "llama.cpp's converter writes %s", value);
    return sp_arena_printf(origin->arena, "%s's %s %s %s", *file ? file : "the configuration", used,
                           strstr(used, " and ") ? "give" : "gives", value);
}

static void report_difference(struct origin *origin, const char *key, struct shapeproof_value stored, bool is_there,
                              struct shapeproof_value wanted, int64_t place)
{
    struct sp_gguf_difference *difference = add_difference(origin);
    const char *used = sp_text_keep(&origin->used, origin->arena);
    const char *name = full_key(origin, key);
    if (place != EVERYWHERE) {
        stored = stored.items[place];
        if (wanted.type == SHAPEPROOF_VALUE_LIST) wanted = wanted.items[place];
        name = sp_arena_printf(origin->arena, "%s[%" PRId64 "]", name, place);
    }
    const char *value = sp_value_words(origin->arena, stored), *said = wanted_said(origin, used, wanted);
    difference->key = full_key(origin, key);
    difference->source = used;
    difference->wanted = wanted;
    difference->tensor = origin->counted;
    if (is_there) difference->message = sp_arena_printf(origin->arena, "%s is %s, %s", name, value, said);
    else if (is_text(stored, REFUSED))
        difference->message =
            sp_arena_printf(origin->arena, "%s is absent: llama.cpp refuses the file; %s", name, said);
    else
        difference->message =
            sp_arena_printf(origin->arena, "%s is absent, so llama.cpp uses %s, but %s", name, value, said);
    if (is_there && place == EVERYWHERE)
        difference->hint = sp_arena_printf(origin->arena,
                                           "set %s to %s in the file (gguf_set_metadata of llama.cpp), or convert the "
                                           "model again",
                                           name, sp_value_words(origin->arena, wanted));
}

/* The rows of a key: those of the architecture, or else those of all. Returns how many. */
enum { MOST_ROWS = 8 };

static size_t rows_among(const struct origin *origin, const struct row *table, size_t count, const char *key,
                         const struct row **mine)
{
    size_t own = 0, common = 0;
    for (size_t i = 0; i < count && own < MOST_ROWS; i++)
        if (strcmp(table[i].key, key) == 0 && has_word(table[i].architectures, origin->architecture))
            mine[own++] = &table[i];
    if (own) return own;
    for (size_t i = 0; i < count && common < MOST_ROWS; i++)
        if (strcmp(table[i].key, key) == 0 && !*table[i].architectures) mine[common++] = &table[i];
    return common;
}

static size_t rows_of(const struct origin *origin, const char *key, const struct row **mine)
{
    return rows_among(origin, rows, ROW_COUNT, key, mine);
}

/* What the file has for the key, or what llama.cpp takes in its place; absent where that is not known. */
static struct shapeproof_value stored_or_default(struct origin *origin, const char *key, bool *is_there)
{
    const struct shapeproof_value stored = stored_value(origin, key);
    const struct row *mine[MOST_ROWS];
    *is_there = sp_value_is_set(stored);
    if (*is_there || !rows_among(origin, absents, ABSENT_COUNT, key, mine)) return stored;
    return evaluate_value(origin, mine[0]->value);
}

/* llama.cpp scales by 1 where a type of scaling is named without a factor, or with 1: that is no scaling. */
static struct shapeproof_value without_idle_scaling(struct origin *origin, const char *key,
                                                    struct shapeproof_value stored)
{
    const struct shapeproof_value factor = stored_value(origin, "rope.scaling.factor");
    double number = 1;
    if (strcmp(key, "rope.scaling.type") != 0 || !is_text(stored, "linear")) return stored;
    return !is_number(factor, &number) || number == 1 || number == 0 ? sp_value_string("none") : stored;
}

static void compare_key(struct origin *origin, const char *key)
{
    const struct row *mine[MOST_ROWS];
    bool is_there;
    int64_t place;
    const size_t count = rows_of(origin, key, mine);
    struct shapeproof_value stored = stored_or_default(origin, key, &is_there);
    if (!sp_value_is_set(stored)) return;
    stored = without_idle_scaling(origin, key, stored);
    sp_text_free(&origin->used);
    origin->counted = SHAPEPROOF_NONE;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_value wanted = encode_value(origin, key, evaluate_value(origin, mine[i]->value));
        const bool is_set = sp_value_is_set(wanted);
        const char *used = sp_text_keep(&origin->used, origin->arena);
        if (!is_set) continue;
        if (!differs(key, stored, wanted, &place) || is_right_by_another(origin, mine + i, count - i, stored, place))
            return;
        sp_text_puts(&origin->used, used);
        report_difference(origin, key, stored, is_there, wanted, place);
        return;
    }
}

/* ---- all keys ---- */

/* The class that the configuration names, of the whole model: converters choose by it. */
static const char *class_of(const struct origin *origin)
{
    const struct shapeproof_value list = sp_value_member(origin->root, "architectures");
    const bool is_named =
        list.type == SHAPEPROOF_VALUE_LIST && list.count > 0 && list.items[0].type == SHAPEPROOF_VALUE_STRING;
    return is_named ? list.items[0].string : "";
}

/* Whether the converter writes that architecture for the class, as far as is known; otherwise reports it. */
static bool is_of_class(struct origin *origin)
{
    const char *class = class_of(origin), *file = sp_config_hyper(origin->config)->file;
    const char *expected = NULL;
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (strcmp(classes[i].class, class) != 0) continue;
        if (strcmp(classes[i].architecture, origin->architecture) == 0) return true;
        if (!expected) expected = classes[i].architecture;
    }
    if (!expected) return true;
    struct sp_gguf_difference *difference = add_difference(origin);
    difference->key = "general.architecture";
    difference->source = "architectures";
    difference->wanted = sp_value_string(expected);
    difference->message =
        sp_arena_printf(origin->arena, "general.architecture is %s, %s's architectures gives %s (of %s)",
                        sp_quote(origin->architecture).text, *file ? file : "the configuration", expected, class);
    return false;
}

/* Under the rope type llama3 llama.cpp divides the frequencies by a tensor that the converter computes. */
static void compare_frequencies(struct origin *origin)
{
    static const char name[] = "rope_freqs.weight";
    const struct shapeproof_value type = evaluate_operand(origin, "$rope_type");
    const char *used = sp_text_keep(&origin->used, origin->arena);
    const bool is_there = shapeproof_inventory_find(origin->file, name) != SHAPEPROOF_NONE;
    if (!has_word(with_frequencies[0], origin->architecture) || type.type != SHAPEPROOF_VALUE_STRING) return;
    if (is_text(type, "llama3") == is_there) return;
    if (is_there && !is_text(type, "default") && !is_text(type, "none")) return; /* another type may need it */
    const char *file = sp_config_hyper(origin->config)->file;
    struct sp_gguf_difference *difference = add_difference(origin);
    difference->key = name;
    difference->source = used;
    difference->wanted = type;
    difference->message = sp_arena_printf(
        origin->arena, "%s is %s, %s's %s is %s: llama.cpp %s", name, is_there ? "in the file" : "not in the file",
        *file ? file : "the configuration", *used ? used : "rope_type", sp_value_words(origin->arena, type),
        is_there ? "scales the rotary embedding by it" : "does not scale the rotary embedding without it");
}

struct sp_gguf_differences sp_config_gguf_differences(struct sp_arena *arena, const struct shapeproof_config *config,
                                                      const struct shapeproof_inventory *file)
{
    const char *architecture = sp_inventory_metadata_value(file, "general.architecture");
    struct origin origin = {.arena = arena, .config = config, .file = file, .architecture = architecture};
    const struct row *mine[MOST_ROWS];
    if (!architecture || rows_of(&origin, "*", mine)) return origin.found;
    origin.root = sp_value_is_set(config->original) ? config->original : config->file_root;
    origin.language = language_part(origin.root);
    origin.found.items = sp_arena_array(arena, ROW_COUNT + 2, sizeof *origin.found.items);
    if (!is_of_class(&origin)) return origin.found;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++) is_first = strcmp(rows[k].key, rows[i].key) != 0;
        if (is_first) compare_key(&origin, rows[i].key);
    }
    compare_frequencies(&origin);
    sp_text_free(&origin.used);
    return origin.found;
}
