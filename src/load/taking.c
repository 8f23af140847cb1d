/* SPDX-License-Identifier: MIT
 * A loader at work: names are renamed and looked up, what becomes one is put together, what is tied to something that
 * is there is there as well. */
#include "load/taking.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "load/expression.h"

/* ---- what is said of a name ---- */

/* "{rope}" and "{ids}" stand for what every class ignores that computes these by itself. */
static bool is_ignored_always(const char *name, const char *ignored)
{
    const char *tail = sp_ends_with(name, "position_ids") ? name + strlen(name) - strlen("position_ids") : NULL;
    return (strstr(ignored, "{rope}") && strstr(name, "rotary_emb.inv_freq")) ||
           (strstr(ignored, "{ids}") && tail && (tail == name || tail[-1] == '.'));
}

static bool has_match(const char *expression, const char *name)
{
    struct sp_found found;
    return *expression && sp_expression_search(expression, strlen(expression), name, &found);
}

static bool is_ignored_quietly(const struct sp_model_memory *memory, const char *name)
{
    return is_ignored_always(name, memory->loaded->ignored) || has_match(memory->loaded->ignored, name);
}

bool sp_is_spared(const struct sp_model_memory *memory, const char *name)
{
    return has_match(memory->loaded->spared, name);
}

/* ---- names ---- */

static bool is_held(const struct sp_model_memory *memory, const char *name)
{
    return sp_map_get(&memory->names, name) != SIZE_MAX;
}

/* With the name of the base model, or without it, when there is such a tensor. */
static const char *with_base(struct sp_model_memory *memory, const char *name)
{
    const char *base = memory->loaded->base;
    const size_t length = strlen(base);
    if (strncmp(name, base, length) == 0 && name[length] && is_held(memory, name + length + 1))
        return name + length + 1;
    memory->scratch.length = 0;
    sp_text_append(&memory->scratch, base, length);
    sp_text_append(&memory->scratch, ".", 1);
    sp_text_puts(&memory->scratch, name);
    const size_t longer = sp_map_get(&memory->names, memory->scratch.data);
    return longer == SIZE_MAX ? name : memory->items[longer].name;
}

/* A name that only became wrong by the rules stays what it was. */
static struct sp_renamed rename_for_memory(struct sp_model_memory *memory, const char *name)
{
    if (!memory->loader->renames) return (struct sp_renamed){.name = name};
    const size_t predicted = sp_prediction_find(memory->prediction, name);
    struct sp_renamed renamed =
        predicted == SP_NONE ? sp_alike_rename(&memory->alike, name) : memory->renamed[predicted];
    renamed.name = with_base(memory, renamed.name);
    if (is_held(memory, renamed.name) || !is_held(memory, name)) return renamed;
    return (struct sp_renamed){.name = with_base(memory, name)};
}

/* ---- tensors ---- */

static void put_held(struct sp_model_memory *memory, const char *name, const struct sp_load_shape *piece)
{
    const size_t index = sp_map_get(&memory->names, name);
    if (index == SIZE_MAX || memory->items[index].there) return;
    memory->items[index].there = true;
    memory->items[index].reshaped = !sp_same_load_shape(&memory->items[index].piece, piece);
}

static void drop(struct sp_taking *taking, const struct sp_model_memory *memory, const char *name, size_t tensor)
{
    if (memory->loader->spares && is_ignored_quietly(memory, name)) return;
    if (sp_map_add(&taking->ignored_names, name, tensor)) *SP_PUSH(&taking->ignored) = tensor;
}

/* A conversion to something that the model has not is one to each of its targets. */
static void drop_renamed(struct sp_taking *taking, struct sp_model_memory *memory, struct sp_renamed renamed,
                         size_t tensor)
{
    const size_t count = renamed.conversion ? sp_target_count(renamed.conversion) : 1;
    for (size_t i = 0; i < count; i++) {
        const char *name =
            renamed.conversion ? sp_target_name(&memory->arena, renamed.conversion, renamed.name, i) : renamed.name;
        drop(taking, memory, name, tensor);
    }
}

static void take_gathered(struct sp_model_memory *memory, const struct sp_gathered *gathered, struct sp_taking *taking)
{
    struct sp_load_shape pieces[SP_EXPRESSIONS];
    const size_t count = sp_convert(gathered, pieces);
    taking->failed += !count;
    for (size_t i = 0; i < count; i++)
        put_held(memory, sp_target_name(&memory->arena, gathered->rule, gathered->name, i), &pieces[i]);
}

static void take_tensor(struct sp_model_memory *memory, const char *name, const struct sp_tensor *tensor, size_t index,
                        struct sp_gathering *gathering, struct sp_taking *taking)
{
    struct sp_load_shape piece = {.rank = tensor->rank};
    const struct sp_renamed renamed = rename_for_memory(memory, name);
    if (!is_held(memory, renamed.name)) {
        drop_renamed(taking, memory, renamed, index);
        return;
    }
    if (tensor->rank > SP_PIECE_RANK) piece.rank = SP_PIECE_RANK + 1; /* of no shape that a model has */
    else if (tensor->rank) memcpy(piece.shape, tensor->shape, tensor->rank * sizeof *piece.shape);
    if (!renamed.conversion) put_held(memory, renamed.name, &piece);
    else if (!sp_rule_is_known(renamed.conversion)) taking->unknown = "its conversion of these weights is not known";
    else sp_load_gather(gathering, renamed, &piece);
}

/* ---- ties ---- */

/* A group of which one is there is there. */
static void tie_taken(struct sp_model_memory *memory)
{
    bool *there = sp_realloc(NULL, memory->count, sizeof *there);
    for (size_t i = 0; i < memory->count; i++) there[i] = false;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->items[i].there) there[sp_memory_tie(memory, i)] = true;
    for (size_t i = 0; i < memory->count; i++) memory->items[i].there = there[sp_memory_tie(memory, i)];
    free(there);
}

bool sp_is_fresh(const struct sp_model_memory *memory, const struct sp_held *held)
{
    return !held->there && !(memory->loader->spares && sp_is_spared(memory, held->name));
}

struct sp_taking sp_load_take(struct sp_model_memory *memory, const struct sp_inventory *inventory,
                              const char *stripped)
{
    const size_t length = stripped ? strlen(stripped) : 0;
    struct sp_gathering gathering = {0};
    struct sp_taking taking = {.unknown = memory->unknown};
    for (size_t i = 0; i < memory->count; i++) memory->items[i].there = memory->items[i].reshaped = false;
    for (size_t i = 0; i < sp_inventory_count(inventory); i++) {
        const struct sp_tensor *tensor = sp_inventory_tensor(inventory, i);
        const char *name = tensor->name;
        if (length && strncmp(name, stripped, length) == 0) name += length;
        take_tensor(memory, name, tensor, i, &gathering, &taking);
    }
    for (size_t i = 0; i < gathering.count; i++) take_gathered(memory, &gathering.items[i], &taking);
    if (memory->loader->ties && !memory->untied) tie_taken(memory);
    for (size_t i = 0; i < memory->count; i++) {
        taking.reshaped += memory->items[i].reshaped;
        taking.fresh += sp_is_fresh(memory, &memory->items[i]);
    }
    sp_gathering_free(&gathering);
    return taking;
}

void sp_taking_free(struct sp_taking *taking)
{
    free(taking->ignored.items);
    sp_map_free(&taking->ignored_names);
}
