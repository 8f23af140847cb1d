/* SPDX-License-Identifier: MIT
 * From the object graph to names. Keys, indices and attribute names on the way to a tensor are joined with '.':
 *   {"model": {"a": tensor}}              model.a
 *   [tensor, tensor]                      0, 1
 *   an object with attribute w            w
 *   a pickled module                      as its state dict: parameters, buffers, then the modules below it
 *
 * What a module holds besides, in lists, dicts and other attributes or in the arguments of its constructor, is state:
 * it is listed unless it is one of the tensors that are listed anyhow. A tensor that cannot be read or named is counted
 * and passed over; only when nothing else is there is the file refused.
 *
 * The walk keeps its own stack. A container is not entered while it is being walked (cycles), nor when nothing was
 * found in it before, nor more than MAX_VISITS times (a few bytes of pickle can spell 2^30 ways to one tensor). Names
 * are put together when there is a tensor to name, so that long keys cost nothing elsewhere. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "read/torch/torch.h"

enum {
    MAX_DEPTH = 512,
    MAX_VISITS = 64,
    MAX_STEPS = 400 * 1000 * 1000,
    LOOKUPS = 6, /* keys that expand_module looks for, each once through the attributes */
    MAX_PARTS = 6,
    MAX_TRANSPARENT = 16,
    LISTED_COST = 32, /* bytes of the limit of names that a tensor takes besides its name */
    BROKEN_NAMED = 20
};

/* Bits of the tag of a node. */
enum {
    VISITS = 0xff,   /* a container: how often it was entered */
    ON_PATH = 0x100, /* a container that is being walked: on the stack */
    BARREN = 0x200,  /* a container in which no tensor was found */
    LISTED = 0x400,  /* a tensor that is listed as a part of the model */
    SETTLED = 0x800  /* a dictionary, or an object that behaves as one, whose keys were made unique */
};

enum part_kind {
    KEYED,      /* a dict: key, value, key, value */
    ATTRIBUTES, /* the same, of a module, without what it registers */
    INDEXED,    /* a sequence: its indices are the names */
    ALONE       /* one value that adds nothing to the name */
};

/* A part of what a container holds, which is visited item by item. */
struct part {
    enum part_kind kind;
    struct sp_pickle_value *value;
    const struct sp_pickle_value *skip; /* keys to leave out, or NULL */
    bool aside;                         /* no part of a state dict */
};

/* A container that is being walked. */
struct frame {
    struct sp_pickle_value *node;
    struct part parts[MAX_PARTS];
    size_t part_count;
    size_t part, next;                 /* the part that is being visited, and its next item */
    size_t index;                      /* of the child being visited, */
    const struct sp_pickle_value *key; /* and its key, or NULL */
    size_t listed_before;              /* tensors that were listed before it was entered */
    unsigned nesting;                  /* streams within streams */
    bool is_module;                    /* a pickled module, whose attributes are no keys */
    bool aside;                        /* what is below is no part of the model */
    bool optimizer;                    /* what is below is the state of an optimizer */
    bool opaque;                       /* what is below is packed: it is named in a warning, not listed */
};

/* A tensor that was found aside of the model. */
struct aside {
    size_t tensor; /* in the inventory */
    const struct sp_pickle_value *node;
};

struct walk {
    struct sp_torch *torch;
    struct shapeproof_error *error;
    struct frame *stack;
    size_t depth;
    struct sp_text name; /* of the tensor being listed */
    size_t outer;        /* how long the key at the top is that leads to it, when it is not there itself */
    struct sp_map names;
    uint64_t steps;
    size_t listed, renamed, broken;
    bool pruned, too_deep;
    const struct sp_pickle_value *doubtful_key; /* of which it is not known whether it equals another one */
    struct shapeproof_error first;              /* why the first of the broken tensors is one */
    SP_ARRAY(struct aside) asides;
    struct sp_names transient; /* buffers that are not persistent */
    struct sp_names packed;    /* of objects whose class is in C++, and has no names for them */
};

/* ---- names ---- */

/* The name of what is being visited, from the labels of all frames. */
static bool spell_name(struct walk *w)
{
    bool first = true;
    w->name.length = w->outer = 0;
    sp_text_puts(&w->name, w->torch->name_prefix ? w->torch->name_prefix : "");
    for (size_t i = 0; i < w->depth; i++) {
        const struct frame *frame = &w->stack[i];
        if (frame->parts[frame->part].kind == ALONE) continue;
        if (!first && !w->outer && w->stack[0].parts[w->stack[0].part].kind == KEYED) w->outer = w->name.length;
        if (!first) sp_text_puts(&w->name, ".");
        first = false;
        if (!frame->key) sp_text_printf(&w->name, "%zu", frame->index);
        else if (!sp_torch_put_key(&w->name, frame->key, frame->index) || w->name.length > SP_MAX_NAME)
            return sp_fail(w->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "the name '%.200s...' is longer than %d bytes", w->name.data, SP_MAX_NAME);
    }
    return true;
}

static bool has_prefix(const struct sp_pickle_value *key, const char *prefix)
{
    return key->length >= strlen(prefix) && !memcmp(key->as.text, prefix, strlen(prefix));
}

bool sp_torch_is_state_key(const struct sp_pickle_value *key)
{
    static const char *const prefixes[] = {"optim", "last_optim", "lr_scheduler"};
    static const char *const keys[] = {"scheduler",
                                       "schedulers",
                                       "callbacks",
                                       "loops",
                                       "rng_state",
                                       "rng_states",
                                       "cuda_rng_state",
                                       "hyper_parameters",
                                       "trainer",
                                       "training_state",
                                       "scaler",
                                       "grad_scaler",
                                       "amp",
                                       "amp_scaler",
                                       "amp_scaling_state",
                                       "train_state",
                                       "trainer_state",
                                       "averaging_state"};
    if (!sp_pickle_is(key, SP_PICKLE_STR)) return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (has_prefix(key, prefixes[i])) return true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_pickle_is_text(key, keys[i])) return true;
    return false;
}

/* ---- what a container consists of ---- */

static void add_node_part(struct frame *frame, enum part_kind kind, struct sp_pickle_value *value)
{
    if (value && frame->part_count < MAX_PARTS)
        frame->parts[frame->part_count++] = (struct part){kind, value, NULL, false};
}

static void add_part_aside(struct frame *frame, enum part_kind kind, struct sp_pickle_value *value)
{
    const size_t count = frame->part_count;
    add_node_part(frame, kind, value);
    if (frame->part_count > count) frame->parts[count].aside = true;
}

/* Each key once, as Python has them. */
static void settle(struct walk *w, struct sp_pickle_value *dict)
{
    if (!sp_pickle_is(dict, SP_PICKLE_DICT) || dict->tag & SETTLED) return;
    const struct sp_pickle_value *doubtful = sp_torch_settle_keys(w->torch, dict);
    if (!w->doubtful_key) w->doubtful_key = doubtful;
    dict->tag |= SETTLED;
}

static void add_keyed(struct walk *w, struct frame *frame, struct sp_pickle_value *dict)
{
    settle(w, dict);
    add_node_part(frame, KEYED, dict);
}

/* A DICT of what an object that behaves as a dict holds: what it was made of, and then what was set, or NULL. It may be
 * made of a DICT, or of a LIST or TUPLE of (key, value), of which items that are no pairs are left out.
 *
 *   OrderedDict([("a", 1), ("b", 2)]), then d["c"] = 3   ->   a, 1, b, 2, c, 3 */
static struct sp_pickle_value *merge_pairs(struct walk *w, const struct sp_pickle_value *initial,
                                           const struct sp_pickle_value *set)
{
    const bool is_list = initial->type != SP_PICKLE_DICT;
    const size_t most = (size_t)initial->length * (is_list ? 2 : 1) + (set ? set->length : 0);
    struct sp_pickle_value *dict = sp_arena_array(&w->torch->arena, 1, sizeof *dict);
    dict->type = SP_PICKLE_DICT;
    dict->as.items = sp_arena_array(&w->torch->arena, most, sizeof *dict->as.items);
    for (uint32_t i = 0; i < initial->length; i++) {
        struct sp_pickle_value *item = initial->as.items[i];
        if (!is_list) { /* a key or its value, in turns */
            dict->as.items[dict->length++] = item;
            continue;
        }
        struct sp_pickle_value *key = sp_pickle_item(item, 0), *own = sp_pickle_item(item, 1);
        if (!key || !own) continue;
        dict->as.items[dict->length++] = key;
        dict->as.items[dict->length++] = own;
    }
    if (set && set->length) memcpy(dict->as.items + dict->length, set->as.items, set->length * sizeof *dict->as.items);
    dict->length += set ? set->length : 0;
    dict->capacity = dict->length;
    return dict;
}

/* What an object that behaves as a dict is made of: its first argument, of a defaultdict the second. NULL for NEWOBJ,
 * since dict.__new__ ignores its arguments, and for a Counter of elements, since their numbers are no tensors. */
static struct sp_pickle_value *initial_of(const struct sp_pickle_value *mapping)
{
    const char *name = sp_pickle_name(mapping);
    if (!name) name = "";
    struct sp_pickle_value *initial = sp_pickle_arg(mapping, !strcmp(name, "collections.defaultdict"));
    const bool counts = !strcmp(name, "collections.Counter") && !sp_pickle_is(initial, SP_PICKLE_DICT) &&
                        sp_torch_role(initial) != SP_TORCH_MAPPING;
    const bool ignores = mapping->as.object->is_new && sp_torch_role(mapping) == SP_TORCH_MAPPING;
    return counts || ignores ? NULL : initial;
}

/* Puts what the object is made of in front of what was set. It may be made of another such object. False if what it is
 * made of is something else, or nested too deeply. */
static bool merge_initial(struct walk *w, struct sp_pickle_value *mapping, unsigned depth)
{
    struct sp_pickle_object *object = mapping->as.object;
    struct sp_pickle_value *initial = initial_of(mapping);
    if (mapping->tag & SETTLED || !initial) return true;
    mapping->tag |= SETTLED;
    if (sp_pickle_is(initial, SP_PICKLE_OBJECT) && sp_torch_role(initial) == SP_TORCH_MAPPING) {
        if (depth == MAX_TRANSPARENT || !merge_initial(w, initial, depth + 1)) return false;
        initial = initial->as.object->pairs;
        if (!initial) return true;
    }
    if (initial->type != SP_PICKLE_DICT && initial->type != SP_PICKLE_LIST && initial->type != SP_PICKLE_TUPLE)
        return false;
    w->steps += initial->length;
    /* Many objects may be made of one list. */
    if (w->torch->arena.used + 2 * sizeof(void *) * initial->length > SP_PICKLE_MAX_MEMORY) w->pruned = true;
    else object->pairs = merge_pairs(w, initial, object->pairs);
    return true;
}

/* A dict, or an object that behaves as one. */
static void add_mapping(struct walk *w, struct frame *frame, struct sp_pickle_value *value)
{
    if (sp_pickle_is(value, SP_PICKLE_DICT)) add_keyed(w, frame, value);
    if (!sp_pickle_is(value, SP_PICKLE_OBJECT)) return;
    const bool is_known = merge_initial(w, value, 0);
    add_keyed(w, frame, value->as.object->pairs);
    if (!is_known) add_node_part(frame, INDEXED, value->as.object->args);
}

static bool registers(const struct sp_pickle_value *attributes)
{
    return sp_pickle_get(attributes, "_parameters") && sp_pickle_get(attributes, "_modules");
}

/* The attributes of an object: its state, or the first half of a state (attributes, slots); of a module that a call
 * makes again, as of torch.fx, the first argument of the call. */
static struct sp_pickle_value *attributes(const struct sp_pickle_value *object)
{
    struct sp_pickle_value *state = object->as.object->state, *given = sp_pickle_arg(object, 0);
    if (!state && registers(given)) return given;
    return sp_pickle_is(state, SP_PICKLE_TUPLE) ? sp_pickle_item(state, 0) : state;
}

static bool is_module(const struct sp_pickle_value *object) { return registers(attributes(object)); }

/* Parameters, buffers and modules; then what is in plain attributes and in arguments of the constructor, which the file
 * holds as well. */
static void expand_module(struct walk *w, struct frame *frame, const struct sp_pickle_value *object)
{
    const struct sp_pickle_value *state = attributes(object);
    add_mapping(w, frame, sp_pickle_get(state, "_parameters"));
    const size_t buffers = frame->part_count;
    add_mapping(w, frame, sp_pickle_get(state, "_buffers"));
    struct sp_pickle_value *skip = sp_pickle_get(state, "_non_persistent_buffers_set");
    if (sp_pickle_is(skip, SP_PICKLE_OBJECT)) skip = sp_pickle_arg(skip, 0); /* set([...]) */
    for (size_t i = buffers; i < frame->part_count; i++) frame->parts[i].skip = skip;
    add_mapping(w, frame, sp_pickle_get(state, "_modules"));
    settle(w, attributes(object));
    add_part_aside(frame, ATTRIBUTES, attributes(object));
    add_part_aside(frame, INDEXED, object->as.object->args);
}

/* What torch.compile makes of a module: a call with the module and how it was compiled. */
static void expand_compiled(struct walk *w, struct frame *frame, struct sp_pickle_value *node)
{
    static const char name[] = "_orig_mod";
    struct sp_arena *arena = &w->torch->arena;
    struct sp_pickle_value *dict = sp_arena_alloc(arena, sizeof *dict), *key = sp_arena_alloc(arena, sizeof *key);
    *key = (struct sp_pickle_value){.type = SP_PICKLE_STR, .length = sizeof name - 1, .as.text = name};
    *dict = (struct sp_pickle_value){.type = SP_PICKLE_DICT, .length = 2, .capacity = 2};
    dict->as.items = sp_arena_array(arena, 2, sizeof *dict->as.items);
    dict->as.items[0] = key;
    dict->as.items[1] = sp_pickle_arg(node, 0);
    frame->is_module = true;
    add_node_part(frame, KEYED, dict);
    add_part_aside(frame, INDEXED, node->as.object->args);
}

static bool is_attributes(const struct sp_pickle_value *value)
{
    return sp_pickle_is(value, SP_PICKLE_DICT) || sp_pickle_is(value, SP_PICKLE_NONE);
}

static void expand_state(struct walk *w, struct frame *frame, struct sp_pickle_value *state)
{
    if (!state) return;
    const bool slots = state->type == SP_PICKLE_TUPLE && state->length == 2 &&
                       is_attributes(sp_pickle_item(state, 0)) && is_attributes(sp_pickle_item(state, 1));
    if (slots) {
        add_mapping(w, frame, sp_pickle_item(state, 0));
        add_mapping(w, frame, sp_pickle_item(state, 1));
    } else if (state->type == SP_PICKLE_DICT) add_keyed(w, frame, state);
    else if (state->type == SP_PICKLE_TUPLE || state->type == SP_PICKLE_LIST) add_node_part(frame, INDEXED, state);
    else add_node_part(frame, ALONE, state);
}

static void expand_object(struct walk *w, struct frame *frame, struct sp_pickle_value *node)
{
    const struct sp_pickle_object *object = node->as.object;
    if (sp_torch_role(node) == SP_TORCH_MAPPING) {
        add_mapping(w, frame, node);
    } else if (sp_torch_role(node) == SP_TORCH_COMPILED && sp_pickle_arg(node, 0)) {
        expand_compiled(w, frame, node);
    } else if (is_module(node)) {
        frame->is_module = true;
        expand_module(w, frame, node);
    } else {
        add_keyed(w, frame, object->pairs);
        add_node_part(frame, INDEXED, object->items);
        add_node_part(frame, INDEXED, object->args);
        if (sp_pickle_is(object->kwargs, SP_PICKLE_DICT)) add_keyed(w, frame, object->kwargs);
        expand_state(w, frame, object->state);
    }
}

static void expand_node(struct walk *w, struct frame *frame, struct sp_pickle_value *node)
{
    switch (node->type) {
    case SP_PICKLE_DICT:
        add_keyed(w, frame, node);
        break;
    case SP_PICKLE_TUPLE:
    case SP_PICKLE_LIST:
    case SP_PICKLE_SET:
        add_node_part(frame, INDEXED, node);
        break;
    default:
        expand_object(w, frame, node);
        break;
    }
}

/* ---- listing ---- */

/* Two ways of spelling one name ("a.b" and "a" holding "b") are both shown. */
static const char *unique_name(struct walk *w)
{
    struct sp_arena *arena = &w->torch->inventory->arena;
    const char *name = sp_arena_copy(arena, w->name.data, w->name.length);
    if (sp_map_get(&w->names, name) == SIZE_MAX) return name;
    if (!w->renamed++)
        sp_inventory_warn(w->torch->inventory, "several tensors have the name '%s': the later ones got a number", name);
    for (size_t number = w->renamed + 1;; number++) {
        const char *numbered = sp_arena_printf(arena, "%s (%zu)", name, number);
        if (sp_map_get(&w->names, numbered) == SIZE_MAX) return numbered;
    }
}

static const uint64_t *keep(struct sp_arena *arena, const uint64_t *values, uint32_t count)
{
    uint64_t *kept = sp_arena_array(arena, count, sizeof *kept);
    if (count) memcpy(kept, values, count * sizeof *kept);
    return kept;
}

static void place_tensor(const struct sp_torch_tensor *found, struct shapeproof_tensor *tensor)
{
    const struct sp_torch_storage *storage = found->storage;
    tensor->data_begin = found->data_begin;
    tensor->data_end = found->data_end;
    if (!storage) return;
    tensor->storage = storage->key;
    tensor->offset = found->offset;
    const unsigned bits = shapeproof_dtype_bits(found->dtype);
    if (!storage->root->data_begin || !bits || bits % 8) return;
    tensor->data_begin = storage->root->data_begin + found->offset * (bits / 8); /* inside the storage: checked */
    tensor->data_end = tensor->data_begin + found->extent * (bits / 8);
}

bool sp_torch_list(struct sp_torch *torch, const char *name, const struct sp_torch_tensor *found,
                   struct shapeproof_error *error)
{
    struct shapeproof_inventory *inventory = torch->inventory;
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, error);
    if (!tensor) return false;
    tensor->name = name;
    tensor->dtype = found->dtype;
    tensor->dtype_name =
        found->dtype ? shapeproof_dtype_name(found->dtype) : sp_arena_string(&inventory->arena, found->dtype_name);
    tensor->rank = found->rank;
    tensor->shape = keep(&inventory->arena, found->shape, found->rank);
    tensor->stride = found->strided ? keep(&inventory->arena, found->stride, found->rank) : NULL;
    tensor->flags = found->flags;
    tensor->file = torch->file;
    tensor->parameters = found->parameters;
    tensor->bytes = found->bytes;
    tensor->piece = found->piece;
    place_tensor(found, tensor);
    return true;
}

/* Whether it is what state_dict() of an optimizer of torch returns: {"state": {0: {...}}, "param_groups": [{...}]}. */
static bool is_state_of_optimizer(const struct sp_pickle_value *node)
{
    enum { MOST = 2 * 16 }; /* keys and values: a state has two keys, and a few more of a wrapper */
    return sp_pickle_is(node, SP_PICKLE_DICT) && node->length <= MOST &&
           sp_pickle_is(sp_pickle_get(node, "state"), SP_PICKLE_DICT) &&
           sp_pickle_is(sp_pickle_get(node, "param_groups"), SP_PICKLE_LIST);
}

/* What a state dict would not have. A flat one may well have a key "amp.weight": only containers at the root are told
 * by their keys, and the state of an optimizer beside the model by its own. */
static bool is_optimizer_state(const struct walk *w)
{
    const struct frame *top = w->depth ? &w->stack[w->depth - 1] : NULL;
    if (top && (top->aside || top->parts[top->part].aside || top->optimizer)) return true;
    return w->depth > 1 && sp_torch_is_state_key(w->stack[0].key) && !w->stack[0].is_module;
}

/* Notes a tensor or an object as unread, since it is no reason to refuse the others. `what` it is goes in front of its
 * name in the message; NULL: the error is about the name itself. Its name is the way to it, as far as that can be
 * spelt. False when there are too many. */
static bool pass_over(struct walk *w, const char *what)
{
    const struct shapeproof_error why = *w->error;
    char where[256];
    sp_error_reset(w->error);
    if (what) spell_name(w);
    sp_error_reset(w->error);
    if (!w->broken++) {
        w->first = why;
        snprintf(where, sizeof where, "%s '%.200s'", what ? what : "", w->name.data);
        if (what) sp_error_prefix(&w->first, where);
    }
    if (w->broken > SP_MAX_TENSORS)
        return sp_fail(w->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d tensors cannot be read",
                       SP_MAX_TENSORS);
    return sp_inventory_unread(w->torch->inventory, w->name.data, &why, w->error);
}

/* Notes whether the tensor was found as a part of the model, or aside: in an attribute of a module that PyTorch does
 * not register. What is aside is removed at the end if it is listed elsewhere. A persistent id is left alone, because
 * its tag belongs to the storage that it names. */
static void note_aside(struct walk *w, struct sp_pickle_value *node)
{
    const struct frame *top = w->depth ? &w->stack[w->depth - 1] : NULL;
    if (node->type == SP_PICKLE_PERSID) return;
    if (top && top->aside) *SP_PUSH(&w->asides) = (struct aside){w->torch->inventory->count - 1, node};
    else node->tag |= LISTED;
}

/* Adds the tensor to the inventory under the name that its path spells. A tensor inside of an opaque (packed)
 * object is only named; if no name can be spelled it is passed over.
 *
 *     {"model": {"a": tensor}}       "model.a", with outer = 6, the length of "model.": loaders may want what is below
 *                                    that key alone
 *     a whole module, pickled        no outer: its attributes are no such keys */
static bool list_tensor(struct walk *w, const struct sp_torch_tensor *found, struct sp_pickle_value *node)
{
    struct shapeproof_inventory *inventory = w->torch->inventory;
    w->listed++;
    if (w->torch->count_only) return true;
    if (!spell_name(w)) return pass_over(w, NULL);
    if (w->depth && w->stack[w->depth - 1].opaque) {
        sp_names_add(&w->packed, w->name.data);
        return true;
    }
    if (!sp_inventory_spend_names(inventory, w->name.length + LISTED_COST, w->error)) return false;
    struct sp_torch_tensor listed = *found;
    /* What get_extra_state of a module returned, such as the scales of Transformer Engine for FP8. */
    const bool is_extra_state = sp_ends_with(w->name.data, "_extra_state");
    if (is_optimizer_state(w) || is_extra_state) listed.flags |= SHAPEPROOF_TENSOR_STATE;
    const char *name = unique_name(w);
    if (!sp_torch_list(w->torch, name, &listed, w->error)) return false;
    if (!w->depth || !w->stack[0].is_module) inventory->tensors[inventory->count - 1].outer = w->outer;
    sp_map_add(&w->names, name, inventory->count - 1);
    note_aside(w, node);
    return true;
}

/* ---- what was found aside, and is listed anyhow ---- */

static const char *spell_place(struct sp_arena *arena, struct sp_text *text, const struct shapeproof_tensor *tensor)
{
    text->length = 0;
    sp_text_printf(text, "%s@%" PRIu64, tensor->storage, tensor->offset);
    for (uint32_t i = 0; i < tensor->rank; i++) sp_text_printf(text, ",%" PRIu64, tensor->shape[i]);
    return arena ? sp_arena_copy(arena, text->data, text->length) : text->data;
}

/* Whether the same tensor is listed as a part of the model. */
static bool is_listed_anyhow(const struct aside *aside, const struct sp_map *places, struct sp_text *text,
                             const struct shapeproof_tensor *tensor)
{
    return (aside->node->tag & LISTED) ||
           (tensor->storage && sp_map_get(places, spell_place(NULL, text, tensor)) != SIZE_MAX);
}

/* Removes the tensors that were found aside and are listed as parts of the model as well: a module may hold its own
 * parameters once more, in a list. The same tensor is the same node of the pickle, or the same place in a storage with
 * the same shape. The first pass collects the places of the model's tensors. */
static void drop_asides(struct walk *w, size_t first)
{
    struct shapeproof_inventory *inventory = w->torch->inventory;
    struct sp_map places = {0};
    struct sp_text text = {0};
    size_t kept = first, next = 0;
    for (size_t i = first, aside = 0; i < inventory->count; i++) {
        if (aside < w->asides.count && w->asides.items[aside].tensor == i) aside++;
        else if (inventory->tensors[i].storage)
            sp_map_add(&places, spell_place(&w->torch->arena, &text, &inventory->tensors[i]), i);
    }
    for (size_t i = first; i < inventory->count; i++) {
        const bool aside = next < w->asides.count && w->asides.items[next].tensor == i;
        if (aside && is_listed_anyhow(&w->asides.items[next++], &places, &text, &inventory->tensors[i])) continue;
        inventory->tensors[kept++] = inventory->tensors[i];
    }
    inventory->count = kept;
    sp_map_free(&places);
    sp_text_free(&text);
}

/* ---- the walk ---- */

static bool is_container(const struct sp_pickle_value *node)
{
    return node->type == SP_PICKLE_OBJECT || node->type == SP_PICKLE_PERSID ||
           (node->type >= SP_PICKLE_TUPLE && node->type <= SP_PICKLE_DICT);
}

/* Whether what is below the current frame is no part of the model: an optimizer, an attribute of an object. */
static bool leads_aside(const struct walk *w)
{
    const struct frame *top = w->depth ? &w->stack[w->depth - 1] : NULL;
    return top && (top->aside || top->parts[top->part].aside);
}

/* Quantised layers are packed as (weight, bias), which their state dicts have as a pair. What else is packed begins
 * with the number or the word of its layout. */
static bool is_opaque(const struct sp_pickle_value *content)
{
    return sp_torch_role(sp_pickle_item(content, 0)) < SP_TORCH_TENSOR;
}

/* Whether the walk does not enter the container: it is on the current path already (a cycle), is known to hold no
 * tensors, or was entered too often. One that is no part of the model is entered once, since its tensors have their
 * names from other paths. Notes what is left out for the warnings. */
static bool is_passed_over(struct walk *w, const struct sp_pickle_value *node, bool aside)
{
    const bool first = !(node->tag & VISITS), at_limit = w->depth >= MAX_DEPTH;
    if (node->tag & (ON_PATH | BARREN)) return true;
    if (aside && (!first || at_limit)) {
        w->too_deep = w->too_deep || first;
        return true;
    }
    if ((node->tag & VISITS) < MAX_VISITS && (!at_limit || first)) return false;
    w->pruned = true;
    return true;
}

/* Puts a container on the stack of the walk, whose next steps visit what is in it. `packed`: the node is the state of a
 * C++ object (a ScriptObject), which holds the packed weight and bias of a quantised layer. */
static bool enter_node(struct walk *w, struct sp_pickle_value *node, bool packed)
{
    const bool aside = leads_aside(w) && !packed;
    const bool opaque = (w->depth && w->stack[w->depth - 1].opaque) || (packed && is_opaque(node));
    const bool optimizer = w->depth && (w->stack[w->depth - 1].optimizer || is_state_of_optimizer(node));
    if (is_passed_over(w, node, aside)) return true;
    if (w->depth >= MAX_DEPTH)
        return sp_fail(w->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "objects nested deeper than %d",
                       MAX_DEPTH);
    node->tag = (node->tag + 1) | ON_PATH;
    struct frame *frame = &w->stack[w->depth++];
    *frame = (struct frame){.node = node,
                            .listed_before = w->listed,
                            .nesting = w->torch->nesting,
                            .aside = aside,
                            .optimizer = optimizer,
                            .opaque = opaque};
    expand_node(w, frame, node);
    if (node->type == SP_PICKLE_OBJECT && attributes(node))
        w->steps += LOOKUPS * (uint64_t)attributes(node)->length; /* many objects may share one state */
    return true;
}

static void leave(struct walk *w)
{
    struct frame *frame = &w->stack[--w->depth];
    frame->node->tag &= ~(uint32_t)ON_PATH;
    if (w->listed == frame->listed_before) frame->node->tag |= BARREN;
}

/* Paddle writes a tensor as tuple((its name, its array)). */
static struct sp_pickle_value *content_of(const struct sp_torch *torch, struct sp_pickle_value *node)
{
    struct sp_pickle_value *array = sp_pickle_is(node, SP_PICKLE_TUPLE) && node->length == 2 ? node->as.items[1] : NULL;
    const bool named = torch->arrays && array && node->as.items[0]->type == SP_PICKLE_STR;
    return named && sp_torch_role(array) >= SP_TORCH_ARRAY ? array : node;
}

static bool is_deque_class(const char *name) { return !strcmp(name, "collections.deque"); }

/* list, tuple, set, frozenset and deque, whose call iterates over its first argument. */
static bool is_sequence_class(const char *name)
{
    static const char *const classes[] = {"list", "tuple", "set", "frozenset"};
    const char *own = sp_torch_python_name(name);
    return own ? SP_IS_AMONG(own, classes) : is_deque_class(name) || !strcmp(name, "torch.Size");
}

static bool is_sequence(const struct sp_pickle_value *value)
{
    if (sp_pickle_is(value, SP_PICKLE_OBJECT)) return sp_pickle_name(value) && is_sequence_class(sp_pickle_name(value));
    return value && value->type >= SP_PICKLE_TUPLE && value->type <= SP_PICKLE_SET;
}

/* Why it cannot be told what a call of a sequence class holds, or NULL. __new__ of list, set and deque ignores its
 * arguments; of a dict all of them would have the keys alone; and a deque keeps the last `most` items. */
static const char *find_odd_sequence(const struct sp_pickle_value *call, const char *name)
{
    const struct sp_pickle_object *object = call->as.object;
    const struct sp_pickle_value *first = sp_pickle_item(object->args, 0), *most = sp_pickle_item(object->args, 1);
    const char *own = sp_torch_python_name(name);
    const bool is_deque = is_deque_class(name);
    const bool is_filled = object->items && object->items->length;
    if (first && !is_sequence(first)) return "of what is no sequence";
    if (object->is_new && object->args->length && (is_deque || (own && (!strcmp(own, "list") || !strcmp(own, "set")))))
        return "by NEWOBJ, which ignores its arguments";
    if (object->kwargs || object->pairs || object->state || object->args->length > 1U + is_deque)
        return "with more than a sequence";
    if (is_filled && (!is_deque || (first && first->length))) return "which is filled afterwards";
    if (!most || sp_pickle_is(most, SP_PICKLE_NONE)) return NULL;
    const struct sp_pickle_value *kept = is_filled ? object->items : first;
    const bool fits = sp_pickle_is(most, SP_PICKLE_INT) && most->as.integer >= kept->length;
    return fits ? NULL : "with a number of items to keep";
}

/* Whether a dict can be made of it: of a dict, or of (key, value). */
static bool is_initial(const struct sp_pickle_value *initial)
{
    return !initial || is_attributes(initial) || initial->type == SP_PICKLE_LIST || initial->type == SP_PICKLE_TUPLE ||
           (sp_pickle_is(initial, SP_PICKLE_OBJECT) && sp_torch_role(initial) == SP_TORCH_MAPPING);
}

/* Why it cannot be told without the call what an object of one of Python's own classes holds, or NULL. Python writes
 * none of these forms. */
static const char *find_odd_form(const struct sp_pickle_value *node, enum sp_torch_role role)
{
    const char *name = sp_pickle_is(node, SP_PICKLE_OBJECT) ? sp_pickle_name(node) : NULL;
    if (!name || role >= SP_TORCH_TENSOR) return NULL;
    const struct sp_pickle_object *object = node->as.object;
    if (role == SP_TORCH_FUNCTION) return "which computes another tensor";
    if (is_sequence_class(name)) return find_odd_sequence(node, name);
    if (role == SP_TORCH_MAPPING && !is_initial(initial_of(node))) return "of what is no dict";
    if (role == SP_TORCH_RECONSTRUCTOR) {
        const struct sp_pickle_value *class = sp_pickle_arg(node, 0);
        const bool is_own = sp_pickle_name(class) && is_sequence_class(sp_pickle_name(class));
        return is_own || sp_torch_role(class) == SP_TORCH_MAPPING ? "which is for classes of other packages" : NULL;
    }
    const bool ignores = object->is_new && (object->kwargs || object->args->length);
    return ignores && !strcmp(name, "types.SimpleNamespace") ? "by NEWOBJ, which ignores its arguments" : NULL;
}

static bool is_deque(const struct sp_pickle_value *node)
{
    return sp_pickle_is(node, SP_PICKLE_OBJECT) && sp_pickle_name(node) && is_deque_class(sp_pickle_name(node));
}

/* Replaces objects that only wrap another value by that value. *packed: one of them is a C++ object. NULL when nothing
 * is left, with an error when what is wrapped is broken. */
static struct sp_pickle_value *uncover_node(struct walk *w, struct sp_pickle_value *node, bool *packed)
{
    for (int i = 0; i < MAX_TRANSPARENT && node; i++) {
        const enum sp_torch_role role = sp_torch_role(node);
        const char *odd = find_odd_form(node, role);
        if (odd) {
            sp_malformed(w->error, "it is made by a call of %s, %s: its content is not known", sp_pickle_name(node),
                         odd);
            return node;
        }
        if (is_deque(node) && node->as.object->items) node = node->as.object->items;
        else if (role == SP_TORCH_TRANSPARENT || is_deque(node)) node = content_of(w->torch, sp_pickle_arg(node, 0));
        else if (role == SP_TORCH_SCRIPT_OBJECT && node->type == SP_PICKLE_OBJECT) { /* ((its tensors), its class) */
            node = sp_pickle_item(node->as.object->state, 0);
            *packed = true;
        } else break;
    }
    while (node && sp_torch_role(node) == SP_TORCH_LOAD_FROM_BYTES) { /* ends: the nesting is limited */
        node = sp_torch_load_from_bytes(w->torch, node, w->error);
        w->torch->nesting++;
    }
    return node;
}

/* Looks at one value, whose name is the path. */
static bool visit_node(struct walk *w, struct sp_pickle_value *node)
{
    struct sp_torch_tensor tensor;
    bool is_tensor = false, packed = false;
    node = uncover_node(w, node, &packed);
    if (w->error->status) return pass_over(w, "object");
    if (!node || !is_container(node)) return true;
    if (!sp_torch_tensor(w->torch, node, &tensor, &is_tensor, w->error)) return pass_over(w, "tensor");
    if (is_tensor) return list_tensor(w, &tensor, node);
    if (node->type == SP_PICKLE_PERSID) return true;
    return enter_node(w, node, packed);
}

/* What a module registers, and lists as its own. */
static bool is_registered(const struct sp_pickle_value *key)
{
    return sp_pickle_is_text(key, "_parameters") || sp_pickle_is_text(key, "_buffers") ||
           sp_pickle_is_text(key, "_modules");
}

static bool is_skipped(const struct sp_pickle_value *skip, const struct sp_pickle_value *key)
{
    if (!skip || key->type != SP_PICKLE_STR || skip->type < SP_PICKLE_TUPLE || skip->type > SP_PICKLE_SET) return false;
    for (uint32_t i = 0; i < skip->length; i++) {
        const struct sp_pickle_value *item = skip->as.items[i];
        if (item->type == SP_PICKLE_STR && item->length == key->length &&
            !memcmp(item->as.text, key->as.text, key->length))
            return true;
    }
    return false;
}

/* Moves the frame on to its next child; NULL for an item to pass over; false when there is none left. */
static bool next_child(struct frame *frame, struct sp_pickle_value **child)
{
    for (; frame->part < frame->part_count; frame->part++, frame->next = 0) {
        const struct part *part = &frame->parts[frame->part];
        const bool keyed = part->kind == KEYED || part->kind == ATTRIBUTES;
        const size_t index = frame->index = frame->next++;
        struct sp_pickle_value **items = part->value->as.items;
        frame->key = NULL;
        *child = part->value;
        if (part->kind == ALONE && !index) return true;
        if (part->kind == ALONE || index >= part->value->length / (keyed ? 2 : 1)) continue;
        if (keyed) frame->key = items[2 * index];
        if (part->kind == INDEXED) *child = items[index];
        else *child = items[2 * index + 1];
        if (part->kind == ATTRIBUTES && is_registered(frame->key)) *child = NULL;
        return true;
    }
    return false;
}

static void note_transient(struct walk *w, const struct sp_pickle_value *buffer)
{
    if (sp_torch_role(buffer) < SP_TORCH_TENSOR) return;
    if (spell_name(w)) sp_names_add(&w->transient, w->name.data);
    sp_error_reset(w->error);
}

static bool step_into(struct walk *w, struct sp_pickle_value *child)
{
    const struct frame *frame = &w->stack[w->depth - 1];
    const struct sp_pickle_value *skip = frame->parts[frame->part].skip;
    w->steps += 1 + (skip ? skip->length : 0);
    if (w->steps > MAX_STEPS)
        return sp_fail(w->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d paths through the objects",
                       MAX_STEPS);
    if (!child || !is_container(child)) return true;
    if (frame->key && is_skipped(skip, frame->key)) {
        note_transient(w, child);
        return true;
    }
    w->torch->nesting = frame->nesting;
    return visit_node(w, child);
}

/* The keys at the top of a pickle, one after the other. */
struct top_keys {
    bool begun;      /* there is a key that is being walked */
    bool has_tensor; /* the value of a key was a tensor itself */
    size_t listed;   /* tensors that were found before this key, */
    size_t count;    /* and those of them that are in the inventory */
};

/* Called before each key at the top, and after the last: notes what the key before led to (plain_keys and headed of the
 * inventory), and that the next begins. */
static void end_top_key(struct walk *w, struct top_keys *top)
{
    struct shapeproof_inventory *inventory = w->torch->inventory;
    const bool is_tensor = inventory->count > top->count && !inventory->tensors[inventory->count - 1].outer;
    if (top->begun && w->listed == top->listed) inventory->plain_keys++;
    if (top->begun && !is_tensor && !top->has_tensor) inventory->headed = true;
    top->has_tensor = top->has_tensor || (top->begun && is_tensor);
    top->begun = true;
    top->listed = w->listed;
    top->count = inventory->count;
}

static bool is_dictionary(const struct sp_pickle_value *root)
{
    return root && (root->type == SP_PICKLE_DICT || sp_torch_role(root) == SP_TORCH_MAPPING);
}

/* What is not in the list, in words. */
static void warn_of_the_rest(struct walk *w)
{
    struct shapeproof_inventory *inventory = w->torch->inventory;
    if (w->pruned)
        sp_inventory_warn(inventory, "more than %d paths lead to one container: not all of them are listed",
                          MAX_VISITS);
    if (w->too_deep) sp_inventory_warn(inventory, "attributes nested deeper than %d are not looked at", MAX_DEPTH);
    if (w->transient.count)
        sp_inventory_warn(inventory, "buffers that are not persistent are in no state dict, and not listed: %s",
                          sp_names_text(&w->transient));
    if (w->packed.count)
        sp_inventory_warn(inventory,
                          "tensors that are packed for a library have no names in a state dict, and are not "
                          "listed: %s",
                          sp_names_text(&w->packed));
}

/* A depth-first walk over a stack of frames: each step takes the next child of the topmost frame, which is listed when
 * it is a tensor and entered when it is a container, or leaves the frame when none is left. */
bool sp_torch_walk(struct sp_torch *torch, struct sp_pickle_value *root, struct shapeproof_error *error)
{
    struct walk w = {.torch = torch, .error = error};
    const size_t before = torch->inventory->count;
    struct sp_pickle_value *child;
    w.stack = sp_realloc(NULL, MAX_DEPTH, sizeof *w.stack);
    sp_text_puts(&w.name, "");
    struct top_keys top = {.begun = false};
    const bool keyed = is_dictionary(root);
    bool ok = visit_node(&w, root);
    if (!keyed) torch->inventory->unkeyed = true;
    while (ok && w.depth) {
        struct frame *frame = &w.stack[w.depth - 1];
        const bool more = next_child(frame, &child);
        if (w.depth == 1) end_top_key(&w, &top);
        if (w.depth == 1 && keyed && more && frame->key && frame->key->type != SP_PICKLE_STR)
            torch->inventory->numbered = true;
        if (more) ok = step_into(&w, child);
        else leave(&w);
    }
    if (ok && w.doubtful_key)
        ok = sp_malformed(error, "a key is made by a call of %s, and may equal another key of its dictionary",
                          sp_pickle_name(w.doubtful_key));
    if (ok && w.asides.count) drop_asides(&w, before);
    if (ok && w.broken && !torch->inventory->count && !torch->count_only) { /* all that there is cannot be read */
        *error = w.first;
        ok = false;
    }
    if (ok) warn_of_the_rest(&w);
    ok = ok && sp_torch_model_states(torch, root, before, error);
    if (ok) sp_torch_note_settings(torch, root);
    torch->counted = w.listed;
    sp_map_free(&w.names);
    sp_names_free(&w.transient);
    sp_names_free(&w.packed);
    sp_text_free(&w.name);
    sp_free(w.asides.items);
    sp_free(w.stack);
    return ok;
}
