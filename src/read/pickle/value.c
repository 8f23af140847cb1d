/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "read/pickle/pickle.h"

bool sp_pickle_is(const struct sp_pickle_value *value, enum sp_pickle_type type)
{
    return value && value->type == type;
}

bool sp_pickle_is_text(const struct sp_pickle_value *value, const char *text)
{
    return sp_pickle_is(value, SP_PICKLE_STR) && value->length == strlen(text) &&
           memcmp(value->as.text, text, value->length) == 0;
}

const char *sp_pickle_name(const struct sp_pickle_value *value)
{
    if (sp_pickle_is(value, SP_PICKLE_OBJECT)) value = value->as.object->callable;
    return sp_pickle_is(value, SP_PICKLE_GLOBAL) ? value->as.global->name : NULL;
}

struct sp_pickle_value *sp_pickle_item(const struct sp_pickle_value *value, size_t index)
{
    const bool sequence = sp_pickle_is(value, SP_PICKLE_TUPLE) || sp_pickle_is(value, SP_PICKLE_LIST);
    return sequence && index < value->length ? value->as.items[index] : NULL;
}

struct sp_pickle_value *sp_pickle_arg(const struct sp_pickle_value *value, size_t index)
{
    return sp_pickle_is(value, SP_PICKLE_OBJECT) ? sp_pickle_item(value->as.object->args, index) : NULL;
}

struct sp_pickle_value *sp_pickle_get(const struct sp_pickle_value *dict, const char *key)
{
    if (!sp_pickle_is(dict, SP_PICKLE_DICT)) return NULL;
    for (size_t i = dict->length; i >= 2; i -= 2)
        if (sp_pickle_is_text(dict->as.items[i - 2], key)) return dict->as.items[i - 1];
    return NULL;
}
