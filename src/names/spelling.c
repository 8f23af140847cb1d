/* SPDX-License-Identifier: MIT */
#include "names/spelling.h"

#include <stdbool.h>
#include <string.h>

#include "base/chars.h"
#include "base/text.h"
#include "names/components.h"
#include "names/wrappers.h"

/* The last component: what frameworks call the same thing, and what PyTorch calls it. Keras 3 numbers the variables of
 * a layer; these are the numbers in most layers, and shapes tell the others. */
static const struct {
    const char *leaf, *common;
} leaves[] = {
    {"kernel", "weight"},
    {"gamma", "weight"},
    {"scale", "weight"},
    {"embeddings", "weight"},
    {"embedding", "weight"},
    {"W", "weight"},
    {"beta", "bias"},
    {"b", "bias"},
    {"moving_mean", "running_mean"},
    {"moving_variance", "running_var"},
    {"vars/0", "weight"},
    {"vars/1", "bias"},
    {"vars/2", "running_mean"},
    {"vars/3", "running_var"},
};

static const char *common_leaf(const char *leaf)
{
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        if (strcmp(leaves[i].leaf, leaf) == 0) return leaves[i].common;
    return leaf;
}

/* Where the last component begins; "vars/0" counts as one. */
static size_t leaf_at(const char *name, size_t length)
{
    const size_t at = sp_last_component(name, length, "./");
    const bool is_number = length - at == 1 && sp_is_digit(name[at]);
    const bool below_vars = at >= 5 && strncmp(name + at - 5, "vars/", 5) == 0;
    return is_number && below_vars && (at == 5 || name[at - 6] == '/') ? at - 5 : at;
}

/* "mlm___cls" is what transformers calls "cls" in TensorFlow, where no two layers may share a name. */
static void drop_mark(struct sp_component_walk *part)
{
    for (size_t i = 1; i + 3 < part->length; i++) {
        if (strncmp(part->text + i, "___", 3) != 0) continue;
        part->text += i + 3;
        part->length -= i + 3;
        return;
    }
}

/* "encoder/layer_0", as BERT was first written, where PyTorch has a list of layers. */
static bool is_numbered_layer(struct sp_component_walk before, struct sp_component_walk part)
{
    const size_t word = strlen("layer_");
    bool is_number = part.length > word && strncmp(part.text, "layer_", word) == 0;
    for (size_t i = word; i < part.length; i++) is_number = is_number && sp_is_digit(part.text[i]);
    return is_number && before.text && SP_IS(before.text, before.length, "encoder");
}

/* "layer_0" as "layer.0." if it is numbered. */
static void put_component(struct sp_text *text, struct sp_component_walk part, bool numbered)
{
    const size_t word = numbered ? strlen("layer") : part.length;
    sp_text_append(text, part.text, word);
    sp_text_puts(text, ".");
    if (!numbered) return;
    sp_text_append(text, part.text + word + 1, part.length - word - 1);
    sp_text_puts(text, ".");
}

/* Appends the components of name[0..length), without wrappers and each with a '.' behind it; returns the habits that
 * were met. In a name with slashes, as TensorFlow has them, a component that stands twice in succession counts once,
 * "dense/dense", unless the name is `marked` (without_marks): there transformers has meant both. */
static unsigned put_components(struct sp_text *text, const char *name, size_t length, bool slashes, bool marked)
{
    const char *separators = slashes ? "./" : ".";
    struct sp_component_walk before = {.text = NULL};
    unsigned habits = 0;
    for (struct sp_component_walk part = {.rest = name};
         part.rest < name + length && sp_component_next(&part, separators);) {
        if (slashes) drop_mark(&part);
        const bool again =
            before.text && part.length == before.length && memcmp(part.text, before.text, part.length) == 0;
        if (sp_is_wrapper(part.text, part.length)) {
            habits |= SP_HABIT_WRAPPER;
            continue;
        }
        const bool numbered = slashes && is_numbered_layer(before, part);
        before = part;
        if (again && slashes && !marked) {
            habits |= SP_HABIT_TWICE;
            continue;
        }
        put_component(text, part, numbered);
    }
    return habits;
}

/* "layer_._0" for "layer.0", as transformers wrote it in TensorFlow; the name itself when it has no such mark. */
static const char *without_marks(struct sp_arena *arena, const char *name)
{
    const char *mark = strstr(name, "_._");
    if (!mark) return name;
    char *plain = sp_arena_string(arena, name), *to = plain + (mark - name);
    for (const char *from = mark; *from;) {
        const bool is_mark = strncmp(from, "_._", 3) == 0;
        *to++ = is_mark ? '.' : *from;
        from += is_mark ? 3 : 1;
    }
    *to = '\0';
    return plain;
}

struct sp_spelling sp_spell(struct sp_arena *arena, const char *name)
{
    const char *given = name;
    name = without_marks(arena, given);
    const bool marked = name != given;
    const bool slashes = strchr(name, '/') != NULL;
    struct sp_spelling spelling = {.habits = slashes ? SP_HABIT_SLASHES : 0};
    struct sp_text text = {0};
    size_t length = strlen(name);
    if (length > 2 && strcmp(name + length - 2, ":0") == 0) {
        spelling.habits |= SP_HABIT_COLON;
        length -= 2;
    }
    const size_t leaf = leaf_at(name, length);
    spelling.habits |= put_components(&text, name, leaf, slashes, marked);
    spelling.leaf = sp_arena_copy(arena, name + leaf, length - leaf);
    sp_text_puts(&text, common_leaf(spelling.leaf));
    spelling.text = sp_text_keep(&text, arena);
    return spelling;
}
