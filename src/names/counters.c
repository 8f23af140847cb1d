/* SPDX-License-Identifier: MIT
 * Keras numbers the layers of a class for as long as a program runs: conv3d, conv3d_1, conv3d_2. The next model of the
 * same program begins where that one ended, conv3d_3, and one that is loaded beside another may have conv3d_1_1. So
 * conv3d_1 of one file need not be conv3d_1 of another: where the numbers of a class are a run of the same length in
 * both and begin elsewhere, the layers are taken in their order, if their variables agree. */
#include "names/counters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/order.h"
#include "names/collapse.h"

/* One variable of one layer: "layers/", "conv3d", 1, "/vars/0". */
struct part {
    size_t class; /* the number of what is in front of the counter */
    uint64_t counter;
    const char *rest; /* without the layer's name, which Keras 2 has twice */
    const struct sp_variable *variable;
};

struct side {
    const struct sp_variable *variables;
    size_t total;
    struct part *parts; /* sorted */
    size_t count;
};

struct reader {
    struct sp_counted *counted;
    struct sp_kinds classes;
    struct sp_text scratch;
    struct side a, b;
};

/* ---- reading names ---- */

/* Where the component of the layer is in a name: behind the last "layers/", or in front, below "model_weights/". */
static bool find_layer(const char *name, size_t *begin, size_t *end)
{
    static const char holder[] = "layers/", old_holder[] = "model_weights/";
    *begin = strncmp(name, old_holder, strlen(old_holder)) == 0 ? strlen(old_holder) : 0;
    for (const char *p = name; (p = strstr(p, holder)) != NULL; p++)
        if (p == name || p[-1] == '/') *begin = (size_t)(p - name) + strlen(holder);
    *end = *begin + strcspn(name + *begin, "/");
    return *end > *begin && name[*end];
}

size_t sp_layer_length(const char *name)
{
    size_t begin, end;
    return find_layer(name, &begin, &end) ? end : 0;
}

/* The length of the component without its counter, which is 0 where there is none. */
static size_t class_length(const char *component, size_t length, uint64_t *counter)
{
    size_t at = length;
    *counter = 0;
    while (at && sp_is_digit(component[at - 1])) at--;
    if (at < 2 || at == length || component[at - 1] != '_' || component[at] == '0' || length - at > 9) return length;
    *counter = strtoull(component + at, NULL, 10);
    return at - 1;
}

/* "/conv3d_1/kernel:0" behind the layer conv3d_1 is "/kernel:0". */
static const char *without_layer(const char *rest, const char *layer, size_t length)
{
    const bool again = strncmp(rest + 1, layer, length) == 0 && rest[1 + length] && strchr("/_", rest[1 + length]);
    return again ? rest + 1 + length : rest;
}

/* Takes a name apart: by its counter, or by an ending that all layers of its side have. */
static bool read_counter_part(struct reader *reader, const char *name, const char *ending, struct part *part)
{
    size_t begin, end;
    if (!find_layer(name, &begin, &end)) return false;
    size_t length = end - begin;
    part->rest = without_layer(name + end, name + begin, length);
    part->counter = 0;
    if (!ending) length = class_length(name + begin, length, &part->counter);
    else {
        const size_t tail = strlen(ending);
        if (length <= tail || strncmp(name + end - tail, ending, tail) != 0) return false;
        length -= tail;
    }
    reader->scratch.length = 0;
    sp_text_append(&reader->scratch, name, begin + length);
    part->class = sp_kind_of(&reader->classes, &reader->scratch);
    return true;
}

static int compare_counter_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->class != b->class) return sp_order(a->class, b->class);
    if (a->counter != b->counter) return sp_order(a->counter, b->counter);
    const int order = strcmp(a->rest, b->rest);
    return order ? order : a->variable < b->variable ? -1 : a->variable > b->variable;
}

/* False when a variable has no layer, or none with that ending. */
static bool read_side(struct reader *reader, struct side *side, const char *ending)
{
    side->count = 0;
    for (size_t i = 0; i < side->total; i++) {
        struct part part = {.variable = &side->variables[i]};
        if (read_counter_part(reader, part.variable->name, ending, &part)) side->parts[side->count++] = part;
    }
    if (side->count) qsort(side->parts, side->count, sizeof *side->parts, compare_counter_parts);
    return side->count && side->count == side->total;
}

/* ---- pairing ---- */

static bool same_variable(const struct part *a, const struct part *b)
{
    return strcmp(a->rest, b->rest) == 0 &&
           sp_same_dims(a->variable->shape, a->variable->rank, b->variable->shape, b->variable->rank);
}

static bool agree(const struct part *a, const struct part *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i].class != b[i].class || a[i].counter - a->counter != b[i].counter - b->counter) return false;
        if (!same_variable(&a[i], &b[i])) return false;
    }
    return true;
}

static void add_shift(struct reader *reader, const struct part *a, const struct part *b, size_t count, const char *from,
                      const char *to)
{
    struct sp_counted *counted = reader->counted;
    SP_GROW(counted->shifts, counted->shift_count, counted->shift_capacity);
    counted->shifts[counted->shift_count++] = (struct sp_shift){from, to, counted->pair_count, count};
    for (size_t i = 0; i < count; i++) {
        SP_GROW(counted->pairs, counted->pair_count, counted->pair_capacity);
        counted->pairs[counted->pair_count++] = (struct sp_counted_pair){a[i].variable->item, b[i].variable->item};
    }
}

static size_t run_of_layers(const struct side *side, size_t from)
{
    size_t to = from;
    while (to < side->count && side->parts[to].class == side->parts[from].class) to++;
    return to - from;
}

/* The counters have no gap, and there are several; of a class with one layer alone they tell little. */
static bool is_run(const struct part *parts, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (parts[i].counter > parts[i - 1].counter + 1) return false;
    return parts[count - 1].counter > parts->counter;
}

static void add_class(struct reader *reader, const struct part *a, const struct part *b, size_t count)
{
    struct sp_arena *arena = reader->counted->arena;
    const char *name = a->variable->name;
    size_t begin, end;
    uint64_t counter;
    find_layer(name, &begin, &end);
    const char *class = sp_arena_copy(arena, name + begin, class_length(name + begin, end - begin, &counter));
    const int64_t shift = (int64_t)b->counter - (int64_t)a->counter;
    add_shift(reader, a, b, count, sp_arena_printf(arena, "%s_{n}", class),
              sp_arena_printf(arena, "%s_{n%+" PRId64 "}", class, shift));
}

enum layers_of_class { SEVERAL_LAYERS, ONE_LAYER };

/* Pairs the classes with so many layers whose counters have moved. */
static void pair_shifted(struct reader *reader, enum layers_of_class layers)
{
    const struct side *a = &reader->a, *b = &reader->b;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const size_t in_a = run_of_layers(a, i), in_b = run_of_layers(b, k);
        const struct part *from = &a->parts[i], *to = &b->parts[k];
        const bool is_several = from[in_a - 1].counter > from->counter;
        const bool is_wanted = layers == SEVERAL_LAYERS ? is_several && is_run(from, in_a) : !is_several;
        if (from->class == to->class && from->counter != to->counter && in_a == in_b && is_wanted &&
            agree(from, to, in_a))
            add_class(reader, from, to, in_a);
        const size_t class_a = from->class, class_b = to->class;
        if (class_a <= class_b) i += in_a;
        if (class_a >= class_b) k += in_b;
    }
}

/* Every layer of B has the same ending behind its name in A, and there are several. */
static bool pair_ended(struct reader *reader, const char *ending)
{
    struct side *a = &reader->a, *b = &reader->b;
    if (!read_side(reader, a, "") || !read_side(reader, b, ending)) return false;
    if (a->count != b->count || run_of_layers(a, 0) == a->count || !agree(a->parts, b->parts, a->count)) return false;
    add_shift(reader, a->parts, b->parts, a->count, "x", sp_arena_printf(reader->counted->arena, "x%s", ending));
    return true;
}

void sp_count_layers(struct sp_counted *counted, const struct sp_variable *a, size_t a_count,
                     const struct sp_variable *b, size_t b_count)
{
    struct reader reader = {.counted = counted,
                            .a = {a, a_count, sp_realloc(NULL, a_count, sizeof *reader.a.parts), 0},
                            .b = {b, b_count, sp_realloc(NULL, b_count, sizeof *reader.b.parts), 0}};
    if (!pair_ended(&reader, "_1") && !pair_ended(&reader, "_2")) {
        read_side(&reader, &reader.a, NULL);
        read_side(&reader, &reader.b, NULL);
        pair_shifted(&reader, SEVERAL_LAYERS);
        if (counted->shift_count) pair_shifted(&reader, ONE_LAYER); /* little evidence by itself */
    }
    sp_free(reader.a.parts);
    sp_free(reader.b.parts);
    sp_kinds_free(&reader.classes);
    sp_text_free(&reader.scratch);
}

void sp_counted_free(struct sp_counted *counted)
{
    sp_free(counted->shifts);
    sp_free(counted->pairs);
}
