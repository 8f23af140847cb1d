/* SPDX-License-Identifier: MIT
 * Many names in one line: collapsed over their indices, then over one component in which they differ,
 * "layers.{0-31}.self_attn.{q_proj,k_proj}.bias", and of that the first few. */
#include <stdlib.h>
#include <string.h>

#include "names/sides.h"
#include "names/some.h"

enum { SHOWN = 3, LONGEST = 160 };

/* Names that are `head`, one of several components, `tail`. */
struct fold {
    const char *name;          /* the first */
    struct sp_component one;   /* in it, once there are several */
    struct sp_text components; /* "q_proj,k_proj" */
    size_t count;
};

/* The only component in which the names differ; false when they differ in more, or in an index, or have nothing else.
 */
static bool one_difference(const char *a, const char *b, struct sp_component *one)
{
    if (!sp_one_component(a, b, one) || (one->a == a && !a[one->a_length])) return false;
    return !memchr(one->a, '{', one->a_length) && !memchr(one->b, '{', one->b_length);
}

static bool join_component(struct fold *fold, const char *name)
{
    struct sp_component one;
    if (!one_difference(fold->name, name, &one)) return false;
    if (fold->count > 1 && one.a != fold->one.a) return false;
    if (fold->count == 1) sp_text_append(&fold->components, one.a, one.a_length);
    sp_text_puts(&fold->components, ",");
    sp_text_append(&fold->components, one.b, one.b_length);
    fold->one = one;
    fold->count++;
    return true;
}

static void put_fold(struct sp_text *text, const struct fold *fold)
{
    struct sp_text whole = {0};
    size_t cut = LONGEST;
    if (fold->count == 1) sp_text_puts(&whole, fold->name);
    else
        sp_text_printf(&whole, "%.*s{%s}%s", (int)(fold->one.a - fold->name), fold->name, fold->components.data,
                       fold->one.a + fold->one.a_length);
    while (cut < whole.length && cut && ((unsigned char)whole.data[cut] & 0xc0) == 0x80) cut--; /* within a character */
    sp_text_append(text, whole.data, whole.length < cut ? whole.length : cut);
    if (whole.length > cut) sp_text_puts(text, "...");
    sp_text_free(&whole);
}

/* Neighbours that differ in one component are folded into one. */
static size_t fold_names(const struct sp_collapsed *groups, size_t count, struct fold *folds)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (!used || !join_component(&folds[used - 1], groups[i].name))
            folds[used++] = (struct fold){.name = groups[i].name, .count = 1};
    return used;
}

static const char *first_names(struct sp_arena *arena, const struct sp_patterns *known,
                               const struct sp_collapse_input *input, size_t count, size_t few)
{
    struct sp_collapsed *groups;
    struct sp_text text = {0};
    const size_t found = sp_collapse(arena, known, input, count, &groups);
    struct fold *folds = sp_realloc(NULL, found, sizeof *folds);
    const size_t used = fold_names(groups, found, folds);
    for (size_t i = 0; i < used && i < few; i++) {
        if (i) sp_text_puts(&text, ", ");
        put_fold(&text, &folds[i]);
    }
    if (used > few) sp_text_printf(&text, " and %zu more", used - few);
    for (size_t i = 0; i < used; i++) sp_text_free(&folds[i].components);
    free(folds);
    return sp_text_keep(&text, arena);
}

const char *sp_some_inputs(struct sp_arena *arena, const struct sp_patterns *known,
                           const struct sp_collapse_input *input, size_t count)
{
    return first_names(arena, known, input, count, SHOWN);
}

const char *sp_few_names(struct sp_arena *arena, const char *const *names, size_t count, size_t few)
{
    struct sp_collapse_input *input = sp_realloc(NULL, count, sizeof *input);
    for (size_t i = 0; i < count; i++) input[i] = (struct sp_collapse_input){.name = names[i]};
    const char *list = first_names(arena, NULL, input, count, few);
    free(input);
    return list;
}

const char *sp_some_names(struct sp_arena *arena, const char *const *names, size_t count)
{
    return sp_few_names(arena, names, count, SHOWN);
}
