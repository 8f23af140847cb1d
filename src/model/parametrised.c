/* SPDX-License-Identifier: MIT */
#include "model/parametrised.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "base/text.h"

/* ---- kinds ---- */

/* Where the names of the parts stand. */
enum place {
    BEHIND_NAME,  /* behind the weight's own name: "weight_g" */
    BELOW_MARKER, /* below "parametrizations.weight." */
    IN_MODULE     /* below the module of the weight: "_packed_params._packed_params.0" */
};

enum shapes {
    NORM_OF_ROWS,     /* a part has the shape of the weight with all dimensions but one being 1, or no dimensions */
    SAME_SHAPE,       /* all parts have one shape */
    SINGULAR_VECTORS, /* two vectors, as long as the sides of the weight taken as a matrix */
    WITHIN_SIDES,     /* other parts have no dimension that the weight does not have */
    SCALARS,          /* other parts have no dimensions */
    ANY_SHAPES
};

/* What a quantised linear layer of PyTorch stores: the matrix and the bias, packed for a library, and the scale and the
 * zero point of its output. In the pickle of a whole module these two are numbers, and no tensors. */
#define PACKED_MATRIX "_packed_params._packed_params.0"
#define PACKED_BIAS "_packed_params._packed_params.1"
#define PACKED_EMBEDDING "_packed_params._packed_weight"
static const char packed[] = "PyTorch's quantisation";

/* The parts of a kind. The weight has the shape of parts[like]. */
static const struct kind {
    const char *how;
    const char *parts[3];
    size_t count, like;
    enum place place;
    enum shapes shapes;
    enum sp_parametrisation kind;
} kinds[] = {
    {"weight norm", {"_g", "_v"}, 2, 1, BEHIND_NAME, NORM_OF_ROWS, SP_PARAMETRISED_NORM},
    {"spectral norm", {"_orig", "_u", "_v"}, 3, 0, BEHIND_NAME, SINGULAR_VECTORS, SP_PARAMETRISED_SPECTRAL},
    {"a mask of pruning", {"_orig", "_mask"}, 2, 0, BEHIND_NAME, SAME_SHAPE, SP_PARAMETRISED_MASK},
    {"weight norm", {"original0", "original1"}, 2, 1, BELOW_MARKER, NORM_OF_ROWS, SP_PARAMETRISED_NORM},
    {"spectral norm", {"original", "0._u", "0._v"}, 3, 0, BELOW_MARKER, SINGULAR_VECTORS, SP_PARAMETRISED_SPECTRAL},
    {"a parametrisation", {"original", "0.base"}, 2, 0, BELOW_MARKER, WITHIN_SIDES, SP_PARAMETRISED_OTHERWISE},
    {"a parametrisation", {"original"}, 1, 0, BELOW_MARKER, ANY_SHAPES, SP_PARAMETRISED_OTHERWISE},
    {packed, {PACKED_MATRIX, "scale", "zero_point"}, 3, 0, IN_MODULE, SCALARS, SP_PARAMETRISED_OTHERWISE},
    {packed, {PACKED_MATRIX}, 1, 0, IN_MODULE, ANY_SHAPES, SP_PARAMETRISED_OTHERWISE},
    {packed, {PACKED_BIAS}, 1, 0, IN_MODULE, ANY_SHAPES, SP_PARAMETRISED_IN_NAME},
    {packed, {PACKED_EMBEDDING}, 1, 0, IN_MODULE, ANY_SHAPES, SP_PARAMETRISED_OTHERWISE},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- names ---- */

/* A name taken apart:
 *
 *     "proj.parametrizations.weight.0._u"      "proj.weight", "0._u" (BELOW_MARKER)
 *     "proj.weight_g"                          "proj.weight", "_g" (BEHIND_NAME)
 *     "proj._packed_params._packed_params.1"   "proj.bias", "_packed_params._packed_params.1" (IN_MODULE) */
struct parted {
    struct sp_text weight;
    const char *part;
    enum place place;
};

/* An end of names, with its length: each of the names of a checkpoint is held against all of them. */
struct end {
    const char *text;
    size_t length;
};
#define END(text)                                                                                                      \
    {                                                                                                                  \
        (text), sizeof(text) - 1                                                                                       \
    }

static bool has_end(const char *name, size_t length, const struct end *end)
{
    return length >= end->length && name[length - 1] == end->text[end->length - 1] &&
           memcmp(name + length - end->length, end->text, end->length) == 0;
}

static const char *find_marker(const char *name)
{
    static const char marker[] = "parametrizations.";
    for (const char *at = name; (at = strstr(at, marker)); at++)
        if (at == name || at[-1] == '.') return at;
    return NULL;
}

/* Takes the name of a tensor of a quantised module apart. Other modules have a "scale", too, but as a vector. */
static bool take_packed_apart(const struct shapeproof_tensor *tensor, size_t length, struct parted *parted)
{
    static const struct end parts[] = {END(PACKED_MATRIX), END(PACKED_BIAS), END(PACKED_EMBEDDING), END("scale"),
                                       END("zero_point")};
    const char *name = tensor->name;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!has_end(name, length, &parts[i])) continue;
        const size_t front = length - parts[i].length;
        if (front && name[front - 1] != '.') continue;
        if (parts[i].text[0] != '_' && tensor->rank) return false;
        sp_text_append(&parted->weight, name, front);
        sp_text_puts(&parted->weight, strcmp(parts[i].text, PACKED_BIAS) == 0 ? "bias" : "weight");
        parted->part = name + front;
        parted->place = IN_MODULE;
        return true;
    }
    return false;
}

static bool take_apart(const struct shapeproof_tensor *tensor, struct parted *parted)
{
    static const struct end tails[] = {END("_g"), END("_v"), END("_orig"), END("_u"), END("_mask")};
    const char *name = tensor->name;
    const size_t length = strlen(name);
    /* few names have the rarest letter of the marker, which is looked for much faster */
    const char *at = memchr(name, 'z', length) ? find_marker(name) : NULL, *weight = at ? strchr(at, '.') + 1 : NULL;
    const size_t below = weight ? strcspn(weight, ".") : 0;
    parted->weight.length = 0;
    if (below && weight[below] == '.') {
        sp_text_append(&parted->weight, name, (size_t)(at - name));
        sp_text_append(&parted->weight, weight, below);
        parted->part = weight + below + 1;
        parted->place = BELOW_MARKER;
        return true;
    }
    if (take_packed_apart(tensor, length, parted)) return true;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        if (!has_end(name, length, &tails[i])) continue;
        const size_t stem = length - tails[i].length;
        if (!stem || name[stem - 1] == '.') return false;
        sp_text_append(&parted->weight, name, stem);
        parted->part = name + stem;
        parted->place = BEHIND_NAME;
        return true;
    }
    return false;
}

/* ---- groups ---- */

/* The tensors that may stand for one weight. */
struct group {
    const char *weight;
    size_t tensors[SP_MOST_PARAMETRISED_PARTS];
    const char *parts[SP_MOST_PARAMETRISED_PARTS];
    size_t count;
    enum place place;
    bool too_many;
};

struct finder {
    struct sp_arena *arena;
    const struct shapeproof_inventory *inventory;
    SP_ARRAY(struct group) groups;
    struct sp_map by_weight; /* the place of the parts as a digit, and the weight's name */
    size_t whole[KINDS];     /* how many weights of the kind are whole */
};

static void note_part(struct finder *finder, size_t tensor, const struct parted *parted)
{
    const char *key = sp_arena_printf(finder->arena, "%d%s", (int)parted->place, parted->weight.data);
    size_t number = sp_map_get(&finder->by_weight, key);
    if (number == SIZE_MAX) {
        number = finder->groups.count;
        *SP_PUSH(&finder->groups) = (struct group){.weight = key + 1, .place = parted->place};
        sp_map_add(&finder->by_weight, key, number);
    }
    struct group *group = &finder->groups.items[number];
    group->too_many = group->too_many || group->count == SP_MOST_PARAMETRISED_PARTS;
    if (group->too_many) return;
    group->tensors[group->count] = tensor;
    group->parts[group->count++] = parted->part;
}

/* The tensor of the group that is this part, or SHAPEPROOF_NONE. */
static size_t find_part(const struct group *group, const char *part)
{
    for (size_t i = 0; i < group->count; i++)
        if (strcmp(group->parts[i], part) == 0) return group->tensors[i];
    return SHAPEPROOF_NONE;
}

/* How many parts of the kind the group has. */
static size_t count_parts(const struct group *group, const struct kind *kind)
{
    size_t count = 0;
    for (size_t i = 0; group->place == kind->place && i < kind->count; i++)
        count += find_part(group, kind->parts[i]) != SHAPEPROOF_NONE;
    return count;
}

/* ---- shapes ---- */

static bool is_norm_of(const struct shapeproof_tensor *norm, const struct shapeproof_tensor *weight)
{
    size_t others = 0;
    if (!norm->rank) return true;
    if (norm->rank != weight->rank) return false;
    for (uint32_t d = 0; d < norm->rank; d++) {
        if (norm->shape[d] != 1 && norm->shape[d] != weight->shape[d]) return false;
        others += norm->shape[d] != 1;
    }
    return others <= 1;
}

/* Whether the vectors are as long as the sides of the weight as a matrix: one of its dimensions, and all others. */
static bool are_sides(const struct shapeproof_tensor *u, const struct shapeproof_tensor *v,
                      const struct shapeproof_tensor *weight)
{
    if (u->rank != 1 || v->rank != 1) return false;
    for (uint32_t d = 0; d < weight->rank; d++)
        if (u->shape[0] == weight->shape[d] && u->shape[0] && weight->parameters / u->shape[0] == v->shape[0])
            return true;
    return false;
}

static bool is_within_sides(const struct shapeproof_tensor *part, const struct shapeproof_tensor *weight)
{
    for (uint32_t d = 0; d < part->rank; d++) {
        bool found = false;
        for (uint32_t k = 0; k < weight->rank; k++) found = found || part->shape[d] == weight->shape[k];
        if (!found) return false;
    }
    return true;
}

static bool do_shapes_agree(const struct finder *finder, const struct group *group, const struct kind *kind)
{
    const struct shapeproof_tensor *parts[3] = {NULL};
    for (size_t i = 0; i < kind->count; i++) {
        parts[i] = shapeproof_inventory_tensor(finder->inventory, find_part(group, kind->parts[i]));
        if (parts[i]->flags & SHAPEPROOF_TENSOR_NO_SHAPE) return false;
    }
    const struct shapeproof_tensor *a = parts[0], *b = parts[1];
    if (kind->shapes == NORM_OF_ROWS) return is_norm_of(a, b);
    if (kind->shapes == SINGULAR_VECTORS) return are_sides(b, parts[2], a);
    if (kind->shapes == WITHIN_SIDES) return is_within_sides(b, a);
    if (kind->shapes == SCALARS) return !b->rank && !parts[2]->rank;
    if (kind->shapes == SAME_SHAPE)
        return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
    return true;
}

/* ---- what they are ---- */

/* The kind of which the group has all parts and no others; the number of the kind, or KINDS. */
static size_t whole_kind(const struct group *group)
{
    for (size_t k = 0; k < KINDS; k++)
        if (group->count == kinds[k].count && count_parts(group, &kinds[k]) == kinds[k].count) return k;
    return KINDS;
}

/* The kind of most weights of the file of which the group has some parts and lacks others; KINDS without one. A group
 * that is whole can be what is left of another: "original" where others also have "0._u". */
static size_t lacking_kind(const struct finder *finder, const struct group *group)
{
    size_t found = KINDS;
    for (size_t k = 0; k < KINDS; k++) {
        const size_t parts = count_parts(group, &kinds[k]);
        if (!parts || parts != group->count || parts == kinds[k].count || !finder->whole[k]) continue;
        if (found == KINDS || finder->whole[k] > finder->whole[found]) found = k;
    }
    return found;
}

/* The length of the module of the weight with its dot: 5 of "proj.weight". */
static size_t length_of_module(const char *weight)
{
    const char *dot = strrchr(weight, '.');
    return dot ? (size_t)(dot - weight) + 1 : 0;
}

/* The name of a tensor of the file that would be this part of the group. */
static const char *name_of_part(const struct finder *finder, const struct group *group, const char *part)
{
    const int module = (int)length_of_module(group->weight);
    const char *own = group->weight + module;
    if (group->place == BEHIND_NAME) return sp_arena_printf(finder->arena, "%s%s", group->weight, part);
    if (group->place == IN_MODULE) return sp_arena_printf(finder->arena, "%.*s%s", module, group->weight, part);
    return sp_arena_printf(finder->arena, "%.*sparametrizations.%s.%s", module, group->weight, own, part);
}

static void describe_group(const struct finder *finder, const struct group *group, struct sp_parametrised *found)
{
    const size_t lacking = lacking_kind(finder, group), whole = whole_kind(group);
    const struct kind *kind = &kinds[lacking < KINDS ? lacking : whole];
    *found = (struct sp_parametrised){.weight = group->weight, .how = kind->how, .kind = kind->kind};
    for (size_t i = 0; i < kind->count; i++) {
        const size_t part = find_part(group, kind->parts[i]);
        if (part != SHAPEPROOF_NONE) found->parts[found->count++] = part;
    }
    found->like = find_part(group, kind->parts[kind->like]);
    found->is_whole = lacking == KINDS && do_shapes_agree(finder, group, kind);
    found->is_quantised = kind->how == packed;
    for (size_t i = 0; i < kind->count && !found->lack; i++)
        if (find_part(group, kind->parts[i]) == SHAPEPROOF_NONE)
            found->lack = name_of_part(finder, group, kind->parts[i]);
}

size_t sp_parametrised_find(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                            struct sp_parametrised **found)
{
    struct finder finder = {.arena = arena, .inventory = inventory};
    struct parted parted = {.part = NULL};
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        if (!(tensor->flags & SHAPEPROOF_TENSOR_STATE) && take_apart(tensor, &parted)) note_part(&finder, i, &parted);
    }
    for (size_t i = 0; i < finder.groups.count; i++) {
        const size_t kind = whole_kind(&finder.groups.items[i]);
        if (kind < KINDS && do_shapes_agree(&finder, &finder.groups.items[i], &kinds[kind])) finder.whole[kind]++;
    }
    *found = sp_arena_array(arena, finder.groups.count, sizeof **found);
    for (size_t i = 0; i < finder.groups.count; i++) {
        const struct group *group = &finder.groups.items[i];
        if (group->too_many) continue;
        if (whole_kind(group) < KINDS || lacking_kind(&finder, group) < KINDS)
            describe_group(&finder, group, &(*found)[count++]);
    }
    sp_text_free(&parted.weight);
    sp_map_free(&finder.by_weight);
    sp_free(finder.groups.items);
    return count;
}

/* ---- names of parts ---- */

const char *sp_parametrised_list_parts(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                                       const struct sp_parametrised *stored)
{
    const size_t module = length_of_module(stored->weight);
    const char *first = shapeproof_inventory_tensor(inventory, stored->parts[0])->name + module;
    if (stored->count == 1) return first;
    if (stored->count > 2) return sp_arena_printf(arena, "%s and %zu others", first, stored->count - 1);
    return sp_arena_printf(arena, "%s and %s", first,
                           shapeproof_inventory_tensor(inventory, stored->parts[1])->name + module);
}

const char *sp_parametrised_part_name(struct sp_arena *arena, const struct sp_parametrised *stored, size_t part)
{
    const size_t module = length_of_module(stored->weight);
    if (stored->kind == SP_PARAMETRISED_OTHERWISE || !stored->is_whole) return NULL;
    for (size_t k = 0; k < KINDS; k++)
        if (kinds[k].kind == stored->kind && kinds[k].place == BELOW_MARKER)
            return sp_arena_printf(arena, "%.*sparametrizations.%s.%s", (int)module, stored->weight,
                                   stored->weight + module, kinds[k].parts[part]);
    return NULL;
}
