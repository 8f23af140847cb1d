/* SPDX-License-Identifier: MIT */
#include "stored/descriptions.h"

#include <string.h>

enum { LONGEST = 60 }; /* of a value in a message */

/* How the value of a key is printed: between two texts. A flag that is true prints them alone. */
struct phrase {
    const char *key, *before, *behind;
};

/* [128, 128] as "128 x 128". */
static void put_sizes(struct sp_text *text, struct shapeproof_value list)
{
    for (size_t i = 0; i < list.count; i++) {
        if (i) sp_text_puts(text, " x ");
        sp_value_json(text, list.items[i]);
    }
}

/* The value as JSON without quotes, cut after LONGEST bytes. */
static void put_cut(struct sp_text *text, struct shapeproof_value value)
{
    struct sp_text json = {0};
    sp_value_json(&json, value);
    const size_t quote = value.type == SHAPEPROOF_VALUE_STRING, length = json.length - 2 * quote;
    sp_text_append(text, json.data + quote, length < LONGEST ? length : LONGEST);
    sp_text_free(&json);
}

/* ", groups of 128"; nothing for a value that is not set, false, or -1, which stands for "no groups". */
static void put_phrase(struct sp_text *text, struct shapeproof_value value, const struct phrase *phrase)
{
    const bool is_no_groups = value.type == SHAPEPROOF_VALUE_INT && value.integer == -1;
    if (!sp_value_is_set(value) || is_no_groups || sp_value_is_bool(value, false)) return;
    sp_text_printf(text, ", %s", phrase->before);
    if (value.type == SHAPEPROOF_VALUE_LIST) put_sizes(text, value);
    else if (value.type != SHAPEPROOF_VALUE_BOOL) put_cut(text, value);
    sp_text_puts(text, phrase->behind);
}

const char *sp_describe_storage(struct sp_arena *arena, const char *method,
                                struct shapeproof_value (*ask)(const void *context, const char *key),
                                const void *context)
{
    static const struct phrase phrases[] = {{"quant_algo", "", ""},
                                            {"format", "", ""},
                                            {"bits", "", " bits"},
                                            {"w_bit", "", " bits"},
                                            {"num_bits", "", " bits"},
                                            {"nbits", "", " bits"},
                                            {"load_in_4bit", "4 bits", ""},
                                            {"load_in_8bit", "8 bits", ""},
                                            {"bnb_4bit_quant_type", "", ""},
                                            {"weights", "", ""},
                                            {"group_size", "groups of ", ""},
                                            {"q_group_size", "groups of ", ""},
                                            {"weight_block_size", "blocks of ", ""},
                                            {"block_structure", "blocks of ", ""}};
    struct sp_text text = {0};
    sp_text_puts(&text, method);
    for (char *c = text.data; *c; c++) /* "compressed_tensors" is printed as its library is called */
        if (*c == '_') *c = '-';
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        put_phrase(&text, ask(context, phrases[i].key), &phrases[i]);
    return sp_text_keep(&text, arena);
}

/* The value of a key in the form. If it is not set there, and the form has `config_groups` as that of
 * compressed-tensors has, the value in the `weights` of the first group; the context is the form. */
static struct shapeproof_value ask_form(const void *context, const char *key)
{
    const struct shapeproof_value form = *(const struct shapeproof_value *)context;
    const struct shapeproof_value groups = sp_value_member(form, "config_groups");
    struct shapeproof_value value = sp_value_member(form, key);
    if (groups.type != SHAPEPROOF_VALUE_OBJECT || sp_value_is_set(value)) return value;
    const struct shapeproof_value weights = sp_value_member(groups.members[0].value, "weights");
    return strcmp(key, "weights") == 0 ? sp_value_absent(key) : sp_value_member(weights, key);
}

const char *sp_describe_scheme(struct sp_arena *arena, struct shapeproof_value form)
{
    const struct shapeproof_value method = sp_value_member(form, "quant_method");
    return sp_describe_storage(arena, method.type == SHAPEPROOF_VALUE_STRING ? method.string : "", ask_form, &form);
}
