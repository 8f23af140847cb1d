/* SPDX-License-Identifier: MIT
 * A loader at work: names are renamed and looked up, what becomes one is put together, what is tied to something that
 * is there is there as well. */
#include "load/taking.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "load/renaming.h"
#include "model/inventory.h"
#include "names/expression.h"

/* ---- models alike ---- */

/* Names that differ in nothing but their indices are renamed alike: it is worked out once for all of them.
 *
 *     layers.17.experts.208.w1.weight        a name
 *     layers.11.experts.222.w1.weight        what stands for it and its like: indices of the same length
 *     layers.11.experts.w13                  what that becomes
 *     layers.17.experts.w13                  so the name becomes this */

/* ---- rules ---- */

/* A number in a word ("fc1") is no index; one after anything else may be. */
static bool rule_has_index(const char *expression)
{
    bool in_word = false;
    for (const char *c = expression; *c; c++) {
        if (*c == '\\' && c[1]) {
            in_word = false;
            c++;
            continue;
        }
        if (sp_is_digit(*c) && !in_word) return true;
        in_word = sp_is_word(*c);
    }
    return false;
}

static bool have_index(const struct sp_scoped_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rule_has_index(rules[i].rule.from) || (rules[i].scope && rule_has_index(rules[i].scope))) return true;
    return false;
}

void sp_alike_init(struct sp_alike *alike, const struct sp_renaming_rules *rules)
{
    *alike = (struct sp_alike){.rules = rules, .last = SIZE_MAX};
    alike->ruled_out = have_index(rules->renamings.items, rules->renamings.count) ||
                       have_index(rules->conversions.items, rules->conversions.count);
}

void sp_alike_free(struct sp_alike *alike)
{
    sp_map_free(&alike->known);
    sp_free(alike->kinds.items);
    sp_text_free(&alike->scratch);
}

/* ---- indices ---- */

/* False when there is no room. */
static bool add_component_number(struct sp_name_numbers *numbers, const char *begin, size_t length)
{
    size_t first = 0;
    if (numbers->count == SP_ALIKE_INDICES) return false;
    while (first < numbers->count &&
           !(numbers->items[first].length == length && memcmp(numbers->items[first].begin, begin, length) == 0))
        first++;
    numbers->items[numbers->count].begin = begin;
    numbers->items[numbers->count].length = length;
    numbers->items[numbers->count++].first = first;
    return true;
}

/* Finds the components that are numbers; false when there are too many. */
static bool find_numbers(const char *name, struct sp_name_numbers *numbers)
{
    numbers->count = 0;
    for (const char *begin = name; begin; begin = strchr(begin, '.')) {
        begin += *begin == '.';
        const char *end = begin;
        while (sp_is_digit(*end)) end++;
        if (end > begin && (!*end || *end == '.') && !add_component_number(numbers, begin, (size_t)(end - begin)))
            return false;
    }
    return true;
}

/* The name with each number replaced by one digit, repeated: `from` for the first, from + step for the second, ...;
 * equal numbers have equal digits. */
static const char *with_digits(struct sp_text *text, const char *name, const struct sp_name_numbers *numbers, char from,
                               int step)
{
    text->length = 0;
    sp_text_puts(text, name);
    for (size_t i = 0; i < numbers->count; i++)
        memset(text->data + (numbers->items[i].begin - name), from + step * (int)numbers->items[i].first,
               numbers->items[i].length);
    return text->data;
}

/* ---- kinds ---- */

/* What a name of the kind becomes: kind->result with the numbers of the name, where kind->digits says which comes
 * where. A note on the result is forgotten when a number has changed. */
static const char *with_numbers(struct sp_alike_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->digits.count; i++) {
        const char *digit = kind->digits.items[i].begin;
        const size_t which = (size_t)(*digit - '1'), length = kind->digits.items[i].length;
        if (which >= kind->numbers.count || length != kind->numbers.items[which].length) continue;
        const char *number = name + (kind->numbers.items[which].begin - kind->name);
        char *place = kind->result + (digit - kind->renamed.name);
        for (size_t k = 0; k < length; k++)
            if (place[k] != number[k]) {
                place[k] = number[k];
                kind->note = SIZE_MAX;
            }
    }
    return kind->result;
}

/* Whether two numbers have the same length. */
static bool has_pair(const struct sp_name_numbers *numbers)
{
    for (size_t i = 1; i < numbers->count; i++)
        for (size_t k = 0; k < i; k++)
            if (numbers->items[i].length == numbers->items[k].length) return true;
    return false;
}

/* Renames the name that stands for a kind. Each of its numbers is one digit, repeated, which shows where that number
 * comes in the result: "layers.11.experts.222.w1" becoming "w1.222.11" has the second number first. Whether that holds
 * for all names of the kind is tried on one other, with digits from 9 down, "layers.99.experts.888.w1": it has to
 * become the same but for the numbers. */
static struct sp_alike_kind rename_kind(struct sp_alike *alike, const char *name)
{
    struct sp_arena *arena = alike->rules->arena;
    struct sp_alike_kind kind = {.name = name, .length = strlen(name), .next = SIZE_MAX, .note = SIZE_MAX};
    find_numbers(name, &kind.numbers);
    kind.front = (size_t)(kind.numbers.items[kind.numbers.count - 1].begin - name);
    kind.end = kind.front + kind.numbers.items[kind.numbers.count - 1].length;
    kind.last = sp_arena_string(arena, name);
    kind.paired = has_pair(&kind.numbers);
    kind.renamed = sp_rename(alike->rules, name);
    kind.same = kind.renamed.name == name;
    kind.result = sp_arena_string(arena, kind.renamed.name);
    find_numbers(kind.renamed.name, &kind.digits);
    for (size_t i = 0; i < kind.digits.count; i++)
        kind.follows_last |= *kind.digits.items[i].begin == (char)('0' + kind.numbers.count);
    const char *other = with_digits(&alike->scratch, name, &kind.numbers, '9', -1);
    const struct sp_renamed proof = sp_rename(alike->rules, other);
    kind.known = kind.renamed.conversion == proof.conversion && kind.renamed.expression == proof.expression &&
                 strcmp(with_numbers(&kind, other), proof.name) == 0;
    return kind;
}

/* Whether the same numbers of the name are equal as in the kind. */
static bool are_paired_alike(const struct sp_alike_kind *kind, const char *name)
{
    struct sp_name_numbers numbers = {.count = 0};
    for (size_t i = 0; i < kind->numbers.count; i++) {
        add_component_number(&numbers, name + (kind->numbers.items[i].begin - kind->name),
                             kind->numbers.items[i].length);
        if (numbers.items[i].first != kind->numbers.items[i].first) return false;
    }
    return true;
}

/* Whether the name is the one that was looked up last, but for the last number: the next expert, or the next layer. */
static bool is_next_of_kind(const struct sp_alike_kind *kind, const char *name)
{
    if (strlen(name) != kind->length || memcmp(name, kind->last, kind->front) != 0) return false;
    for (size_t i = kind->front; i < kind->end; i++)
        if (!sp_is_digit(name[i])) return false;
    if (memcmp(name + kind->end, kind->last + kind->end, kind->length - kind->end) != 0) return false;
    return !kind->paired || are_paired_alike(kind, name);
}

/* The index of the kind of a name with these numbers, which is added when it is new. */
static size_t find_kind(struct sp_alike *alike, const char *name, const struct sp_name_numbers *numbers)
{
    const char *kind = with_digits(&alike->scratch, name, numbers, '1', 1);
    const size_t known = sp_map_get(&alike->known, kind);
    if (known != SIZE_MAX) return known;
    kind = sp_arena_string(alike->rules->arena, kind);
    sp_map_add(&alike->known, kind, alike->kinds.count);
    *SP_PUSH(&alike->kinds) = rename_kind(alike, kind);
    return alike->kinds.count - 1;
}

/* The kind of a name, whose `result` is then that of the name; NULL when it has no number, or too many. Names come in
 * the same order again and again, expert by expert: so the kind that came next the last time is tried before any is
 * looked up. */
static struct sp_alike_kind *kind_of_name(struct sp_alike *alike, const char *name)
{
    struct sp_alike_kind *kinds = alike->kinds.items;
    struct sp_name_numbers numbers;
    const size_t last = alike->last, likely = last == SIZE_MAX ? SIZE_MAX : kinds[last].next;
    if (likely != SIZE_MAX && is_next_of_kind(&kinds[likely], name)) {
        if (kinds[likely].follows_last) with_numbers(&kinds[likely], name);
        return &kinds[alike->last = likely];
    }
    if (!find_numbers(name, &numbers) || !numbers.count) return NULL;
    alike->last = find_kind(alike, name, &numbers);
    if (last != SIZE_MAX) alike->kinds.items[last].next = alike->last;
    struct sp_alike_kind *kind = &alike->kinds.items[alike->last];
    memcpy(kind->last, name, kind->length);
    with_numbers(kind, name);
    return kind;
}

struct sp_renamed sp_alike_rename(struct sp_alike *alike, const char *name, size_t **note)
{
    struct sp_alike_kind *kind = alike->ruled_out ? NULL : kind_of_name(alike, name);
    alike->unused = SIZE_MAX;
    if (note) *note = kind && !kind->same ? &kind->note : &alike->unused;
    if (!kind || !kind->known) return sp_rename(alike->rules, name);
    struct sp_renamed renamed = kind->renamed;
    renamed.name = kind->same ? name : kind->result;
    return renamed;
}

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
    struct sp_expression_match found;
    return expression && *expression && sp_expression_search(expression, strlen(expression), name, &found);
}

static bool is_ignored_quietly(const struct sp_state_dict *state, const char *name)
{
    if (state->loader->ignores_computed && sp_class_computes(state, name)) return true;
    return is_ignored_always(name, state->loaded->ignored) || has_match(state->loaded->ignored, name);
}

bool sp_class_computes(const struct sp_state_dict *state, const char *name)
{
    return has_match(state->loaded->computed, name);
}

bool sp_class_may_lack(const struct sp_state_dict *state, const char *name)
{
    return has_match(state->loaded->spared, name);
}

bool sp_is_preferred(const struct sp_state_dict *state, const char *name)
{
    return has_match(state->loader->preferred, name);
}

/* ---- names ---- */

static const char *stripped_name(const char *name, const char *stripped)
{
    const size_t length = stripped ? strlen(stripped) : 0;
    return length && strncmp(name, stripped, length) == 0 ? name + length : name;
}

static bool is_held(const struct sp_state_dict *state, const char *name)
{
    return sp_map_get(&state->names, name) != SIZE_MAX;
}

/* The tensor of that name with the name of the base model, or without it; or else of the name as it is. SIZE_MAX when
 * there is none. */
static size_t find_with_base(struct sp_state_dict *state, const char *name)
{
    const char *base = state->loaded->base;
    const size_t length = strlen(base);
    size_t found = SIZE_MAX;
    if (length && strncmp(name, base, length) == 0 && name[length])
        found = sp_map_get(&state->names, name + length + 1);
    if (length && found == SIZE_MAX) {
        state->scratch.length = 0;
        sp_text_append(&state->scratch, base, length);
        sp_text_append(&state->scratch, ".", 1);
        sp_text_puts(&state->scratch, name);
        found = sp_map_get(&state->names, state->scratch.data);
    }
    return found == SIZE_MAX ? sp_map_get(&state->names, name) : found;
}

/* Which tensor takes what has the name of this one. */
static size_t find_taker(struct sp_state_dict *state, size_t held)
{
    struct sp_state_entry *item = &state->items[held];
    if (item->taker == SIZE_MAX) item->taker = find_with_base(state, item->name);
    return item->taker;
}

/* A file of which no name begins with that of the base model, though the class has one, is of the base model alone; and
 * one of which some does is of a class with a head. */
static enum sp_base_move base_move(const struct sp_state_dict *state, const struct shapeproof_inventory *inventory,
                                   const char *stripped)
{
    const char *base = state->loaded->base;
    const size_t length = strlen(base);
    bool has = false, expects = false;
    if (!state->loader->base_of_file || !length) return SP_BASE_STAYS;
    for (size_t i = 0; i < state->count && !expects; i++)
        expects = strncmp(state->items[i].name, base, length) == 0 && state->items[i].name[length] == '.';
    for (size_t i = 0; i < shapeproof_inventory_count(inventory) && !has; i++)
        has = strncmp(stripped_name(shapeproof_inventory_tensor(inventory, i)->name, stripped), base, length) == 0;
    return has == expects ? SP_BASE_STAYS : has ? SP_BASE_TAKEN : SP_BASE_ADDED;
}

/* NULL when the name has no place. */
static const char *with_base_moved(struct sp_state_dict *state, const char *name, struct sp_taking *taking)
{
    const char *base = state->loaded->base;
    const size_t length = strlen(base);
    if (state->move == SP_BASE_STAYS) return name;
    if (state->move == SP_BASE_TAKEN)
        return strncmp(name, base, length) == 0 && name[length] == '.' ? name + length + 1 : NULL;
    const char *longer = sp_arena_printf(&state->arena, "%s.%s", base, name);
    if (is_held(state, name) && !is_held(state, longer) && !taking->stray) taking->stray = name;
    return longer;
}

static struct sp_renamed rename_by_rules(struct sp_state_dict *state, const char *name)
{
    struct sp_renamed renamed = sp_alike_rename(&state->alike, name, NULL);
    if (renamed.name != name) renamed.name = sp_arena_string(&state->arena, renamed.name);
    return renamed;
}

/* Where a name goes; `predicted` is its place among the predicted ones, or SHAPEPROOF_NONE. A name that only became
 * wrong by the rules stays what it was. */
static struct sp_load_place place_name(struct sp_state_dict *state, const char *name, size_t predicted,
                                       struct sp_taking *taking)
{
    if (!state->loader->renames || state->as_named)
        return (struct sp_load_place){{.name = name}, sp_map_get(&state->names, name)};
    const bool known = predicted != SHAPEPROOF_NONE && state->places[predicted].held != SIZE_MAX;
    struct sp_load_place place =
        known ? state->places[predicted] : (struct sp_load_place){rename_by_rules(state, name), SIZE_MAX};
    if (state->loader->base_of_file) {
        place.renamed.name = with_base_moved(state, place.renamed.name, taking);
        place.held = place.renamed.name ? sp_map_get(&state->names, place.renamed.name) : SIZE_MAX;
        return place;
    }
    place.held = known ? find_taker(state, place.held) : find_with_base(state, place.renamed.name);
    if (place.held != SIZE_MAX || !is_held(state, name)) return place;
    return (struct sp_load_place){{.name = name}, find_with_base(state, name)};
}

/* ---- tensors ---- */

/* Gives an entry the values of a tensor of that shape; SIZE_MAX: put together of several. The first one counts. */
static void put_held(struct sp_state_dict *state, size_t index, const struct sp_load_shape *piece, size_t tensor)
{
    if (index == SIZE_MAX || state->items[index].there) return;
    state->items[index].there = true;
    state->items[index].tensor = tensor;
    state->items[index].reshaped = !sp_same_load_shape(&state->items[index].piece, piece);
}

/* Notes a tensor that the model has no place for, unless the loader says nothing of it. */
static void drop(struct sp_taking *taking, const struct sp_state_dict *state, const char *name, size_t tensor)
{
    if (state->loader->spares && is_ignored_quietly(state, name)) return;
    if (sp_map_add(&taking->ignored_names, name, tensor)) *SP_PUSH(&taking->ignored) = tensor;
}

/* A conversion to something that the model has not is one to each of its targets. */
static void drop_renamed(struct sp_taking *taking, struct sp_state_dict *state, struct sp_renamed renamed,
                         size_t tensor)
{
    const size_t count = renamed.conversion ? sp_target_count(renamed.conversion) : 1;
    for (size_t i = 0; i < count; i++) {
        const char *name =
            renamed.conversion ? sp_target_name(&state->arena, renamed.conversion, renamed.name, i) : renamed.name;
        drop(taking, state, name, tensor);
    }
}

/* Converts what was gathered for one name, and gives the results to the entries. */
static void take_gathered(struct sp_state_dict *state, const struct sp_gathered *gathered, struct sp_taking *taking)
{
    struct sp_load_shape pieces[SP_EXPRESSIONS];
    const size_t count = sp_convert(gathered, pieces);
    taking->failed += !count;
    for (size_t i = 0; i < count; i++) {
        const char *name = sp_target_name(&state->arena, gathered->rule, gathered->name, i);
        put_held(state, sp_map_get(&state->names, name), &pieces[i], SIZE_MAX);
    }
}

static bool is_buffer(const struct sp_state_dict *state, const char *name)
{
    const size_t predicted = shapeproof_prediction_find(state->prediction, name);
    return predicted != SHAPEPROOF_NONE && shapeproof_prediction_tensor(state->prediction, predicted)->buffer;
}

/* Puts the tensor to those that become the same as it. */
static void gather_held(struct sp_state_dict *state, size_t held, struct sp_renamed renamed,
                        const struct shapeproof_tensor *tensor, struct sp_gathering *gathering,
                        struct sp_taking *taking)
{
    struct sp_state_entry *item = &state->items[held];
    if (item->gathered == SIZE_MAX) {
        renamed.name = item->name;
        if (!sp_rule_is_known(renamed.conversion)) taking->unknown = "its conversion of these weights is not known";
        else item->gathered = sp_gathering_find(gathering, renamed);
    }
    if (item->gathered != SIZE_MAX)
        sp_gathering_add(gathering, item->gathered, renamed.expression, tensor->shape, tensor->rank);
}

/* Puts one tensor of the file at the place in the model that its (possibly renamed) name gives. One without a place
 * is dropped and noted; one that is converted (joined with others) waits until all its parts are there. */
static void take_into_memory(struct sp_state_dict *state, const char *name, size_t predicted,
                             const struct shapeproof_tensor *tensor, size_t index, struct sp_gathering *gathering,
                             struct sp_taking *taking)
{
    const struct sp_load_place place = place_name(state, name, predicted, taking);
    const struct sp_renamed renamed = place.renamed;
    if (!renamed.name) {
        if (!is_buffer(state, name)) drop(taking, state, name, index);
        return;
    }
    if (place.held == SIZE_MAX) {
        drop_renamed(taking, state, renamed, index);
        return;
    }
    if (tensor->flags & SHAPEPROOF_TENSOR_SPARSE && !taking->sparse++) taking->first_sparse = index;
    if (renamed.conversion) {
        gather_held(state, place.held, renamed, tensor, gathering, taking);
        return;
    }
    const struct sp_load_shape piece = sp_load_shape_of(tensor->shape, tensor->rank);
    put_held(state, place.held, &piece, index);
}

/* ---- ties ---- */

/* All tensors of a tied group are there if one of them is. */
static void tie_taken(struct sp_state_dict *state)
{
    bool *there = sp_realloc(NULL, state->count, sizeof *there);
    for (size_t i = 0; i < state->count; i++) there[i] = false;
    for (size_t i = 0; i < state->count; i++)
        if (state->items[i].there) there[sp_state_dict_tie(state, i)] = true;
    for (size_t i = 0; i < state->count; i++) state->items[i].there = there[sp_state_dict_tie(state, i)];
    sp_free(there);
}

bool sp_is_newly_initialised(const struct sp_state_dict *state, const struct sp_state_entry *entry)
{
    if (entry->there || (state->loader->spares && sp_class_may_lack(state, entry->name))) return false;
    return !state->unversioned || !has_match(state->loader->forgiven, entry->name);
}

/* Which predicted tensor has the name of one of the file, or SHAPEPROOF_NONE. */
static size_t predicted_of_tensor(const struct sp_state_dict *state, const struct sp_match *match, size_t tensor,
                                  const char *name)
{
    if (match && match->predicted_of[tensor] != SHAPEPROOF_NONE && !match->renaming[tensor])
        return match->predicted_of[tensor];
    return shapeproof_prediction_find(state->prediction, name);
}

/* Whether a key at the top of a pickle leads to the tensor. The loader sees that key alone, and has no place for it. */
static bool is_inside(const struct shapeproof_tensor *tensor, const char *stripped)
{
    const size_t length = stripped ? strlen(stripped) : 0;
    return tensor->outer && !(length > tensor->outer && strncmp(tensor->name, stripped, length) == 0);
}

/* Notes the key at the top of a pickle that leads to a tensor. */
static void drop_outer(struct sp_taking *taking, struct sp_state_dict *state, const struct shapeproof_tensor *tensor,
                       size_t index)
{
    drop(taking, state, sp_arena_copy(&state->arena, tensor->name, tensor->outer), index);
    if (!taking->outer) taking->outer = tensor->outer;
}

struct sp_taking sp_load_take(struct sp_state_dict *state, const struct shapeproof_inventory *inventory,
                              const char *stripped)
{
    const struct sp_match *match = state->match;
    /* A match knows the names as they are in the file, so it is of no use once a prefix is removed. */
    if (stripped || (match && (match->inventory != inventory || match->prediction != state->prediction))) match = NULL;
    struct sp_gathering gathering = {.arena = &state->arena};
    struct sp_taking taking = {.unknown = state->unknown};
    state->unversioned = sp_format_has(inventory, SP_TENSORS_ALONE);
    state->as_named = state->loader->shards_as_named && inventory->file_count > 1;
    state->move = base_move(state, inventory, stripped);
    for (size_t i = 0; i < state->count; i++) {
        struct sp_state_entry *item = &state->items[i];
        item->there = item->reshaped = false;
        item->gathered = item->tensor = SIZE_MAX;
    }
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        const char *name = stripped_name(tensor->name, stripped);
        if (state->scales && state->scales[i]) continue; /* it is unpacked into the weight beside it */
        if (is_inside(tensor, stripped)) {
            drop_outer(&taking, state, tensor, i);
            continue;
        }
        take_into_memory(state, name, predicted_of_tensor(state, match, i, name), tensor, i, &gathering, &taking);
    }
    for (size_t i = 0; i < gathering.count; i++) take_gathered(state, &gathering.items[i], &taking);
    if (state->loader->ties && !state->untied) tie_taken(state);
    for (size_t i = 0; i < state->count; i++) {
        taking.reshaped += state->items[i].reshaped;
        taking.fresh += sp_is_newly_initialised(state, &state->items[i]);
    }
    if (taking.fresh) taking.broken = sp_state_dict_broken(state);
    sp_gathering_free(&gathering);
    return taking;
}

void sp_taking_free(struct sp_taking *taking)
{
    sp_free(taking->ignored.items);
    sp_map_free(&taking->ignored_names);
}
