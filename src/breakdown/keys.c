/* SPDX-License-Identifier: MIT */
#include "breakdown/keys.h"

#include <stdint.h>
#include <string.h>

#include "base/chars.h"
#include "names/components.h"
#include "names/patterns.h"

static const char separators[] = "./";

/* Whether the component is a number. */
static bool is_number(const char *text, size_t length)
{
    size_t digits = 0;
    while (digits < length && sp_is_digit(text[digits])) digits++;
    return length && digits == length;
}

/* Where the last component of the name begins. */
static size_t last_component(const char *name) { return sp_last_component(name, strlen(name), separators); }

/* The end of the first component that is a number and not the last one; 0 without one. */
static size_t end_of_number(const char *name)
{
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, separators);)
        if (*part.rest && is_number(part.text, part.length)) return (size_t)(part.text - name) + part.length;
    return 0;
}

/* The end of the first component that has a number between underscores, as conv2d_1 has, and is not the last one. */
static size_t end_of_numbered(const char *name)
{
    const size_t last = last_component(name);
    uint64_t number;
    for (size_t i = 0; i < last; i++)
        if (sp_is_digit(name[i]) && sp_index_at(name, i, &number)) return i + strcspn(name + i, separators);
    return 0;
}

/* Numbers that are components come first: in encoder_1.layers.3.weight the layer is 3. */
bool sp_put_layer(struct sp_text *value, const char *name)
{
    const size_t number = end_of_number(name), end = number ? number : end_of_numbered(name);
    sp_text_append(value, name, end);
    return end > 0;
}

static bool ends_with(const char *text, size_t length, const char *ending)
{
    const size_t size = strlen(ending);
    return length >= size && memcmp(text + length - size, ending, size) == 0;
}

/* Whether a component stands for experts: experts, shared_expert, deepspeed_experts. Not shared_expert_gate, which is
 * no expert. In GGUF files the component also says which matrix it is; what stands for experts is its ending. */
static const char *experts_in(const char *text, size_t length)
{
    static const char *const endings[] = {"_exps", "_shexp"};
    if (ends_with(text, length, "expert") || ends_with(text, length, "experts")) return text;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(text, length, endings[i])) return text + length - strlen(endings[i]) + 1;
    return NULL;
}

/* The last such component, with the number behind it if there is one. */
bool sp_put_expert(struct sp_text *value, const char *name)
{
    const char *begin = NULL, *end = NULL;
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, separators);) {
        const char *found = experts_in(part.text, part.length);
        if (found) begin = found;
        else if (!end || part.text != end + 1 || !is_number(part.text, part.length)) continue;
        end = part.text + part.length;
    }
    if (begin) sp_text_append(value, begin, (size_t)(end - begin));
    return begin != NULL;
}

bool sp_put_module(struct sp_text *value, const char *name, size_t depth)
{
    const size_t last = last_component(name);
    size_t count = 0;
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, separators);) {
        if ((size_t)(part.text - name) >= last || (depth && count == depth)) break;
        if (count++) sp_text_append(value, part.text - 1, 1);
        if (is_number(part.text, part.length)) sp_text_puts(value, "{}");
        else sp_text_append(value, part.text, part.length);
    }
    return count > 0;
}
