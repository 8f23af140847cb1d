/* SPDX-License-Identifier: MIT
 * From the object graph to names. Keys, indices and attribute names on the way to a tensor are joined with '.':
 *   {"model": {"a": tensor}}              model.a
 *   [tensor, tensor]                      0, 1
 *   an object with attribute w            w
 *   a pickled module                      as its state dict: parameters, buffers, then the modules below it
 *
 * The walk keeps its own stack. A container is not entered while it is being walked (cycles), nor when nothing was
 * found in it before, nor more than MAX_VISITS times (a few bytes of pickle can spell 2^30 ways to one tensor). Names
 * are put together when there is a tensor to name, so that long keys cost nothing elsewhere. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "read/torch/torch.h"

enum {
    MAX_DEPTH = 512,
    MAX_VISITS = 64,
    MAX_STEPS = 400 * 1000 * 1000,
    LOOKUPS = 6, /* keys that expand_module looks for, each once through the attributes */
    MAX_PARTS = 6,
    MAX_TRANSPARENT = 16,
    MAX_NAME_BYTES = 256 << 20 /* of all names together */
};

/* Bits of the tag of a container. */
enum { VISITS = 0xff, ON_PATH = 0x100, BARREN = 0x200 };

enum part_kind {
    KEYED,      /* a dict: key, value, key, value */
    ATTRIBUTES, /* the same, of a module: only tensors count */
    INDEXED,    /* a sequence: its indices are the names */
    PAIRED,     /* a sequence of (key, value) */
    ALONE       /* one value that adds nothing to the name */
};

struct part {
    enum part_kind kind;
    struct sp_pickle_value *value;
    const struct sp_pickle_value *skip; /* keys to leave out, or NULL */
};

struct frame {
    struct sp_pickle_value *node;
    struct part parts[MAX_PARTS];
    size_t part_count, part, next; /* the next item of that part */
    size_t index;                  /* of the child being visited, and its key unless it has none */
    const struct sp_pickle_value *key;
    size_t listed_before;
    unsigned nesting; /* streams within streams */
    bool is_module;
};

struct walk {
    struct sp_torch *torch;
    struct sp_error *error;
    struct frame *stack;
    size_t depth;
    struct sp_text name; /* of the tensor being listed */
    struct sp_map names;
    uint64_t name_bytes, steps;
    size_t listed, renamed;
    bool pruned;
};

/* ---- names ---- */

/* Python 2 wrote its byte strings without saying in which encoding. */
static void append_latin1(struct sp_text *name, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        const char two[] = {(char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))};
        if (c < 0x80) sp_text_append(name, text + i, 1);
        else sp_text_append(name, two, 2);
    }
}

static bool append_key_text(struct walk *w, const struct sp_pickle_value *key)
{
    if (memchr(key->as.text, 0, key->length)) return sp_malformed(w->error, "below '%s': NUL in a key", w->name.data);
    if (key->length > SP_MAX_NAME)
        return sp_fail(w->error, SP_ERR_FILE, SP_KIND_LIMIT, "below '%.200s': a key of %u bytes, at most %d",
                       w->name.data, key->length, SP_MAX_NAME);
    if (sp_utf8_check(key->as.text, key->length) == key->length) sp_text_append(&w->name, key->as.text, key->length);
    else append_latin1(&w->name, key->as.text, key->length);
    return true;
}

static bool append_key(struct walk *w, const struct sp_pickle_value *key, size_t index)
{
    switch (key->type) {
    case SP_PICKLE_STR:
    case SP_PICKLE_BYTES:
        return append_key_text(w, key);
    case SP_PICKLE_INT:
        sp_text_printf(&w->name, "%" PRId64, key->as.integer);
        return true;
    case SP_PICKLE_FLOAT:
        sp_text_printf(&w->name, "%g", key->as.real);
        return true;
    case SP_PICKLE_BOOL:
        sp_text_puts(&w->name, key->as.integer ? "True" : "False");
        return true;
    case SP_PICKLE_NONE:
        sp_text_puts(&w->name, "None");
        return true;
    default:
        sp_text_printf(&w->name, "<key %zu>", index);
        return true;
    }
}

/* The name of what is being visited, from the labels of all frames. */
static bool spell_name(struct walk *w)
{
    bool first = true;
    w->name.length = 0;
    sp_text_puts(&w->name, "");
    for (size_t i = 0; i < w->depth; i++) {
        const struct frame *frame = &w->stack[i];
        if (frame->parts[frame->part].kind == ALONE) continue;
        if (!first) sp_text_puts(&w->name, ".");
        first = false;
        if (!frame->key) sp_text_printf(&w->name, "%zu", frame->index);
        else if (!append_key(w, frame->key, frame->index)) return false;
        if (w->name.length > SP_MAX_NAME)
            return sp_fail(w->error, SP_ERR_FILE, SP_KIND_LIMIT, "the name '%.200s...' is longer than %d bytes",
                           w->name.data, SP_MAX_NAME);
    }
    return true;
}

static bool has_prefix(const struct sp_pickle_value *key, const char *prefix)
{
    return key->length >= strlen(prefix) && !memcmp(key->as.text, prefix, strlen(prefix));
}

/* At the root of a checkpoint: what is kept to resume training, and is no part of the model. */
static bool is_state_key(const struct sp_pickle_value *key)
{
    static const char *const prefixes[] = {"optim", "last_optim", "lr_scheduler"};
    static const char *const keys[] = {"scheduler", "schedulers",     "callbacks",        "loops",
                                       "rng_state", "rng_states",     "cuda_rng_state",   "hyper_parameters",
                                       "trainer",   "training_state", "scaler",           "grad_scaler",
                                       "amp",       "amp_scaler",     "amp_scaling_state"};
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
    if (value && frame->part_count < MAX_PARTS) frame->parts[frame->part_count++] = (struct part){kind, value, NULL};
}

/* A dict, or an object that behaves as one. */
static void add_mapping(struct frame *frame, struct sp_pickle_value *value)
{
    if (sp_pickle_is(value, SP_PICKLE_DICT)) add_node_part(frame, KEYED, value);
    if (!sp_pickle_is(value, SP_PICKLE_OBJECT)) return;
    struct sp_pickle_value *initial = sp_pickle_arg(value, 0);
    if (sp_pickle_is(initial, SP_PICKLE_DICT)) add_node_part(frame, KEYED, initial);
    else if (sp_pickle_is(initial, SP_PICKLE_LIST)) add_node_part(frame, PAIRED, initial);
    add_node_part(frame, KEYED, value->as.object->pairs);
}

/* The attributes of an object: its state, or the first half of a state (attributes, slots). */
static struct sp_pickle_value *attributes(const struct sp_pickle_value *object)
{
    struct sp_pickle_value *state = object->as.object->state;
    return sp_pickle_is(state, SP_PICKLE_TUPLE) ? sp_pickle_item(state, 0) : state;
}

static bool is_module(const struct sp_pickle_value *object)
{
    const struct sp_pickle_value *state = attributes(object);
    return sp_pickle_get(state, "_parameters") && sp_pickle_get(state, "_modules");
}

/* Parameters, buffers and modules; then tensors that are plain attributes, which the file holds as well. */
static void expand_module(struct frame *frame, const struct sp_pickle_value *object)
{
    const struct sp_pickle_value *state = attributes(object);
    add_mapping(frame, sp_pickle_get(state, "_parameters"));
    const size_t buffers = frame->part_count;
    add_mapping(frame, sp_pickle_get(state, "_buffers"));
    struct sp_pickle_value *skip = sp_pickle_get(state, "_non_persistent_buffers_set");
    if (sp_pickle_is(skip, SP_PICKLE_OBJECT)) skip = sp_pickle_arg(skip, 0); /* set([...]) */
    for (size_t i = buffers; i < frame->part_count; i++) frame->parts[i].skip = skip;
    add_mapping(frame, sp_pickle_get(state, "_modules"));
    add_node_part(frame, ATTRIBUTES, attributes(object));
}

static bool is_attributes(const struct sp_pickle_value *value)
{
    return sp_pickle_is(value, SP_PICKLE_DICT) || sp_pickle_is(value, SP_PICKLE_NONE);
}

static void expand_state(struct frame *frame, struct sp_pickle_value *state)
{
    if (!state) return;
    const bool slots = state->type == SP_PICKLE_TUPLE && state->length == 2 &&
                       is_attributes(sp_pickle_item(state, 0)) && is_attributes(sp_pickle_item(state, 1));
    if (slots) {
        add_mapping(frame, sp_pickle_item(state, 0));
        add_mapping(frame, sp_pickle_item(state, 1));
    } else if (state->type == SP_PICKLE_DICT) add_node_part(frame, KEYED, state);
    else if (state->type == SP_PICKLE_TUPLE || state->type == SP_PICKLE_LIST) add_node_part(frame, INDEXED, state);
    else add_node_part(frame, ALONE, state);
}

static void expand_object(struct frame *frame, struct sp_pickle_value *node)
{
    const struct sp_pickle_object *object = node->as.object;
    if (sp_torch_role(node) == SP_TORCH_MAPPING) {
        add_mapping(frame, node);
    } else if (is_module(node)) {
        frame->is_module = true;
        expand_module(frame, node);
    } else {
        add_node_part(frame, KEYED, object->pairs);
        add_node_part(frame, INDEXED, object->items);
        add_node_part(frame, INDEXED, object->args);
        if (sp_pickle_is(object->kwargs, SP_PICKLE_DICT)) add_node_part(frame, KEYED, object->kwargs);
        expand_state(frame, object->state);
    }
}

static void expand_node(struct frame *frame, struct sp_pickle_value *node)
{
    switch (node->type) {
    case SP_PICKLE_DICT:
        add_node_part(frame, KEYED, node);
        break;
    case SP_PICKLE_TUPLE:
    case SP_PICKLE_LIST:
    case SP_PICKLE_SET:
        add_node_part(frame, INDEXED, node);
        break;
    default:
        expand_object(frame, node);
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
        sp_inventory_warn(w->torch->inventory, "two ways lead to the name '%s': the later ones got a number", name);
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

static void place_tensor(const struct sp_torch_tensor *found, struct sp_tensor *tensor)
{
    const struct sp_torch_storage *storage = found->storage;
    if (!storage) return;
    tensor->storage = storage->key;
    tensor->offset = found->offset;
    const unsigned bits = sp_dtype_bits(found->dtype);
    if (!storage->root->data_begin || !bits || bits % 8) return;
    tensor->data_begin = storage->root->data_begin + found->offset * (bits / 8); /* inside the storage: checked */
    tensor->data_end = tensor->data_begin + found->extent * (bits / 8);
}

/* What a state dict would not have. A flat one may well have a key "amp.weight": only containers at the root are told
 * by their keys. */
static bool is_optimizer_state(const struct walk *w)
{
    const struct frame *top = w->depth ? &w->stack[w->depth - 1] : NULL;
    if (top && top->parts[top->part].kind == ATTRIBUTES) return true;
    return w->depth > 1 && is_state_key(w->stack[0].key) && !w->stack[0].is_module;
}

static bool list_tensor(struct walk *w, const struct sp_torch_tensor *found)
{
    struct sp_inventory *inventory = w->torch->inventory;
    w->listed++;
    if (w->torch->count_only) return true;
    if (!spell_name(w)) return false;
    w->name_bytes += w->name.length;
    if (w->name_bytes > MAX_NAME_BYTES)
        return sp_fail(w->error, SP_ERR_FILE, SP_KIND_LIMIT, "tensor names of more than %d bytes in all",
                       MAX_NAME_BYTES);
    struct sp_tensor *tensor = sp_inventory_add(inventory, w->error);
    if (!tensor) return false;
    tensor->name = unique_name(w);
    sp_map_add(&w->names, tensor->name, inventory->count - 1);
    tensor->dtype = found->dtype;
    tensor->dtype_name =
        found->dtype ? sp_dtype_name(found->dtype) : sp_arena_string(&inventory->arena, found->dtype_name);
    tensor->rank = found->rank;
    tensor->shape = keep(&inventory->arena, found->shape, found->rank);
    tensor->stride = found->strided ? keep(&inventory->arena, found->stride, found->rank) : NULL;
    tensor->flags = found->flags | (is_optimizer_state(w) ? SP_TENSOR_STATE : 0);
    tensor->file = w->torch->file;
    tensor->parameters = found->parameters;
    tensor->bytes = found->bytes;
    place_tensor(found, tensor);
    return true;
}

/* ---- the walk ---- */

static bool is_container(const struct sp_pickle_value *node)
{
    return node->type == SP_PICKLE_OBJECT || (node->type >= SP_PICKLE_TUPLE && node->type <= SP_PICKLE_DICT);
}

static bool enter_node(struct walk *w, struct sp_pickle_value *node)
{
    const bool first = !(node->tag & VISITS);
    if (node->tag & (ON_PATH | BARREN)) return true;
    if ((node->tag & VISITS) >= MAX_VISITS || (w->depth >= MAX_DEPTH && !first)) {
        w->pruned = true;
        return true;
    }
    if (w->depth >= MAX_DEPTH)
        return sp_fail(w->error, SP_ERR_FILE, SP_KIND_LIMIT, "objects nested deeper than %d", MAX_DEPTH);
    node->tag = (node->tag + 1) | ON_PATH;
    struct frame *frame = &w->stack[w->depth++];
    *frame = (struct frame){.node = node, .listed_before = w->listed, .nesting = w->torch->nesting};
    expand_node(frame, node);
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

/* Looks at one value, whose name is the path. */
static bool visit_node(struct walk *w, struct sp_pickle_value *node)
{
    struct sp_torch_tensor tensor;
    bool is_tensor = false;
    for (int i = 0; i < MAX_TRANSPARENT && node && sp_torch_role(node) == SP_TORCH_TRANSPARENT; i++)
        node = sp_pickle_arg(node, 0);
    while (node && sp_torch_role(node) == SP_TORCH_LOAD_FROM_BYTES) { /* ends: the nesting is limited */
        node = sp_torch_load_from_bytes(w->torch, node, w->error);
        w->torch->nesting++;
    }
    if (w->error->status) return false;
    if (!node || !is_container(node)) return true;
    if (!sp_torch_tensor(w->torch, node, &tensor, &is_tensor, w->error)) {
        struct sp_error broken = *w->error; /* a name that cannot be spelt is no better reason */
        char where[256];
        *w->error = (struct sp_error){0};
        spell_name(w);
        snprintf(where, sizeof where, "tensor '%.200s'", w->name.data);
        *w->error = broken;
        sp_error_prefix(w->error, where);
        return false;
    }
    return is_tensor ? list_tensor(w, &tensor) : enter_node(w, node);
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
        if (part->kind == PAIRED) frame->key = sp_pickle_item(items[index], 0);
        if (part->kind == INDEXED) *child = items[index];
        else if (keyed) *child = items[2 * index + 1];
        else *child = frame->key ? sp_pickle_item(items[index], 1) : NULL;
        if (part->kind == ATTRIBUTES && sp_torch_role(*child) < SP_TORCH_TENSOR) *child = NULL;
        return true;
    }
    return false;
}

static bool step_into(struct walk *w, struct sp_pickle_value *child)
{
    const struct frame *frame = &w->stack[w->depth - 1];
    const struct sp_pickle_value *skip = frame->parts[frame->part].skip;
    w->steps += 1 + (skip ? skip->length : 0);
    if (w->steps > MAX_STEPS)
        return sp_fail(w->error, SP_ERR_FILE, SP_KIND_LIMIT, "more than %d ways through the objects", MAX_STEPS);
    if (!child || !is_container(child) || (frame->key && is_skipped(skip, frame->key))) return true;
    w->torch->nesting = frame->nesting;
    return visit_node(w, child);
}

bool sp_torch_walk(struct sp_torch *torch, struct sp_pickle_value *root, struct sp_error *error)
{
    struct walk w = {.torch = torch, .error = error};
    struct sp_pickle_value *child;
    w.stack = sp_realloc(NULL, MAX_DEPTH, sizeof *w.stack);
    sp_text_puts(&w.name, "");
    bool ok = visit_node(&w, root);
    while (ok && w.depth) {
        struct frame *frame = &w.stack[w.depth - 1];
        if (next_child(frame, &child)) ok = step_into(&w, child);
        else leave(&w);
    }
    if (ok && w.pruned)
        sp_inventory_warn(torch->inventory, "more than %d ways lead to one container: not all of them are listed",
                          MAX_VISITS);
    torch->counted = w.listed;
    sp_map_free(&w.names);
    sp_text_free(&w.name);
    free(w.stack);
    return ok;
}
