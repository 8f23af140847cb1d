/* SPDX-License-Identifier: MIT
 * What a checkpoint says besides its tensors, at the top of its pickle, as a JSON object:
 *
 *   {"model": a state dict, "model_args": {"n_layer": 2}, "args": argparse.Namespace(model="resnet18"), "epoch": 3}
 *   ->  {"model_args": {"n_layer": 2}, "args": {"__class__": "argparse.Namespace", "model": "resnet18"}, "epoch": 3}
 *
 * An object is its state, with the name of its class; one of OmegaConf is what it holds. Tensors, functions and keys
 * that are neither text nor integers are left out, and so is what would then be empty. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "base/value.h"
#include "read/torch/torch.h"

enum {
    MOST_TEXT = 1 << 20,      /* bytes of JSON for a file: the arguments of Megatron, the longest known, have 20 KB */
    MOST_VALUES = 200 * 1000, /* members and items looked at; some lead to no text */
    MOST_LARGE = 4,           /* members at the top that exceed these; what is behind the last one is not looked at */
    MOST_LEVELS = 16,         /* in one another: OmegaConf has two for each of its own */
    MOST_STRING = 4096
};

struct settings {
    struct sp_text text, word; /* the JSON; the string that is being put */
    size_t values;
};

static bool put_setting(struct settings *settings, const struct sp_pickle_value *value, unsigned level);

static bool is_over(const struct settings *settings)
{
    return settings->text.length > MOST_TEXT || settings->values > MOST_VALUES;
}

/* Text that JSON can hold, with its quotes; longer or other text is left out. */
static bool put_string(struct settings *settings, const char *text, size_t length)
{
    if (length > MOST_STRING) return false;
    if (sp_utf8_check(text, length) < length || memchr(text, 0, length)) {
        settings->values += length / 64; /* bytes that take as long as a value: a file can refer to them without end */
        return false;
    }
    settings->word.length = 0;
    sp_text_append(&settings->word, text, length);
    sp_text_puts(&settings->word, "");
    sp_value_json(&settings->text, sp_value_string(settings->word.data));
    return true;
}

/* Puts a key and its value, behind a comma if it is not the first; or nothing, when one of the two is left out. It
 * counts in any case. */
static bool put_member(struct settings *settings, const struct sp_pickle_value *key,
                       const struct sp_pickle_value *value, bool first, unsigned level)
{
    const size_t before = settings->text.length;
    settings->values++;
    if (!first) sp_text_puts(&settings->text, ", ");
    bool put = false;
    if (sp_pickle_is(key, SP_PICKLE_STR)) put = put_string(settings, key->as.text, key->length);
    else if (sp_pickle_is(key, SP_PICKLE_INT)) {
        sp_text_printf(&settings->text, "\"%" PRId64 "\"", key->as.integer);
        put = true;
    }
    if (put) sp_text_puts(&settings->text, ": ");
    if (put && put_setting(settings, value, level)) return true;
    settings->text.length = before;
    return false;
}

/* A dict, of an object with the name of its class in front. */
static bool put_pairs(struct settings *settings, const struct sp_pickle_value *dict, const char *class, unsigned level)
{
    const size_t before = settings->text.length;
    bool first = true;
    sp_text_puts(&settings->text, "{");
    if (class) sp_text_puts(&settings->text, "\"__class__\": ");
    if (class && put_string(settings, class, strlen(class))) first = false;
    else settings->text.length = before + 1;
    const size_t empty = settings->text.length;
    for (uint32_t i = 0; i + 1 < dict->length && !is_over(settings); i += 2)
        if (put_member(settings, dict->as.items[i], dict->as.items[i + 1], first, level)) first = false;
    const bool put = settings->text.length > empty;
    if (put) sp_text_puts(&settings->text, "}");
    else settings->text.length = before;
    return put;
}

/* A list keeps its length: what is left out is null. */
static bool put_items(struct settings *settings, const struct sp_pickle_value *list, unsigned level)
{
    const size_t before = settings->text.length;
    bool put = !list->length;
    sp_text_puts(&settings->text, "[");
    for (uint32_t i = 0; i < list->length && !is_over(settings); i++) {
        settings->values++;
        if (i) sp_text_puts(&settings->text, ", ");
        if (put_setting(settings, list->as.items[i], level)) put = true;
        else sp_text_puts(&settings->text, "null");
    }
    sp_text_puts(&settings->text, "]");
    if (!put) settings->text.length = before;
    return put;
}

/* The class of an object; the older protocols hand it to a function of copyreg. */
static const char *class_of(const struct sp_pickle_value *object)
{
    const bool is_remade = sp_torch_role(object) == SP_TORCH_RECONSTRUCTOR;
    return sp_pickle_name(is_remade ? sp_pickle_arg(object, 0) : object);
}

/* An object is what its state says, the first half of a state (attributes, slots); an OrderedDict what was set. */
static bool put_object(struct settings *settings, const struct sp_pickle_value *object, unsigned level)
{
    const struct sp_pickle_value *state = object->as.object->state;
    if (sp_torch_role(object) >= SP_TORCH_TENSOR) return false;
    if (sp_torch_role(object) == SP_TORCH_TRANSPARENT) return put_setting(settings, sp_pickle_arg(object, 0), level);
    if (sp_pickle_is(state, SP_PICKLE_TUPLE)) state = sp_pickle_item(state, 0);
    const struct sp_pickle_value *held = sp_pickle_get(state, "_content"), *node = sp_pickle_get(state, "_val");
    if (held && sp_pickle_get(state, "_metadata")) return put_setting(settings, held, level);
    if (node && sp_pickle_get(state, "_metadata")) return put_setting(settings, node, level);
    if (object->as.object->pairs) return put_pairs(settings, object->as.object->pairs, NULL, level);
    return sp_pickle_is(state, SP_PICKLE_DICT) && put_pairs(settings, state, class_of(object), level);
}

/* Puts a value as JSON, and returns whether it did. */
static bool put_setting(struct settings *settings, const struct sp_pickle_value *value, unsigned level)
{
    const char *name;
    if (!value || level >= MOST_LEVELS || is_over(settings)) return false;
    switch (value->type) {
    case SP_PICKLE_NONE:
        sp_text_puts(&settings->text, "null");
        return true;
    case SP_PICKLE_BOOL:
        sp_value_json(&settings->text, sp_value_bool(value->as.integer));
        return true;
    case SP_PICKLE_INT:
        sp_value_json(&settings->text, sp_value_int(value->as.integer));
        return true;
    case SP_PICKLE_FLOAT:
        sp_value_json(&settings->text, sp_value_real(value->as.real));
        return true;
    case SP_PICKLE_STR:
        return put_string(settings, value->as.text, value->length);
    case SP_PICKLE_GLOBAL: /* a dtype, which configurations name without its module: torch.bfloat16 */
        name = sp_pickle_name(value);
        return strncmp(name, "torch.", 6) == 0 && put_string(settings, name + 6, strlen(name + 6));
    case SP_PICKLE_LIST:
    case SP_PICKLE_TUPLE:
        return put_items(settings, value, level + 1);
    case SP_PICKLE_DICT:
        return put_pairs(settings, value, NULL, level + 1);
    case SP_PICKLE_OBJECT:
        return put_object(settings, value, level + 1);
    default:
        return false;
    }
}

/* What a training keeps to go on is as long as the model, and says nothing of it. */
static bool is_wanted(const struct sp_pickle_value *key)
{
    return sp_pickle_is(key, SP_PICKLE_STR) &&
           (!sp_torch_is_state_key(key) || sp_pickle_is_text(key, "hyper_parameters"));
}

/* Puts a member of the top, or nothing when it would be too much with those before it; returns whether it did. */
static bool put_top_member(struct settings *settings, const struct sp_pickle_value *key,
                           const struct sp_pickle_value *value, bool first, unsigned *large)
{
    const size_t length = settings->text.length, values = settings->values;
    const bool put = put_member(settings, key, value, first, 0);
    if (!is_over(settings)) return put;
    settings->text.length = length;
    settings->values = values;
    ++*large;
    return false;
}

void sp_torch_note_settings(struct sp_torch *torch, const struct sp_pickle_value *root)
{
    struct settings settings = {.values = 0};
    const struct sp_pickle_value *pairs = root;
    bool first = true;
    unsigned large = 0;
    if (torch->count_only || torch->inventory->settings) return;
    if (sp_pickle_is(root, SP_PICKLE_OBJECT)) pairs = root->as.object->pairs;
    if (!sp_pickle_is(pairs, SP_PICKLE_DICT)) return;
    sp_text_puts(&settings.text, "{");
    for (uint32_t i = 0; i + 1 < pairs->length && large < MOST_LARGE; i += 2)
        if (is_wanted(pairs->as.items[i]) &&
            put_top_member(&settings, pairs->as.items[i], pairs->as.items[i + 1], first, &large))
            first = false;
    sp_text_puts(&settings.text, "}");
    if (!first) torch->inventory->settings = sp_text_keep(&settings.text, &torch->inventory->arena);
    else sp_text_free(&settings.text);
    sp_text_free(&settings.word);
}
