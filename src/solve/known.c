/* SPDX-License-Identifier: MIT
 * Facts are told in pieces: a value, an item of a list, how long the list is, what is in it. A fact that was told is
 * never changed, only contradicted. */
#include "solve/known.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lang/functions.h"
#include "solve/limits.h"

static struct shapeproof_value unknown(const char *path)
{
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_UNKNOWN, .string = path};
}

/* ---- does a value meet what is wanted? ---- */

static enum sp_answer answer(bool yes) { return yes ? SP_HOLDS : SP_CONTRADICTS; }

/* Python writes 0 and 1 for truth values often enough. */
static bool equal(struct shapeproof_value have, struct shapeproof_value want)
{
    if (want.type == SHAPEPROOF_VALUE_BOOL && have.type == SHAPEPROOF_VALUE_INT)
        have = sp_value_bool(have.integer != 0);
    return have.type == SHAPEPROOF_VALUE_ABSENT ? want.type == SHAPEPROOF_VALUE_ABSENT : sp_values_equal(have, want);
}

/* As `in` does: an item of a list, or a part of a text. */
static enum sp_answer meets_member(struct shapeproof_value have, const struct sp_want *want)
{
    bool found = false;
    if (have.type == SHAPEPROOF_VALUE_STRING && want->value.type == SHAPEPROOF_VALUE_STRING)
        return answer((strstr(have.string, want->value.string) != NULL) != want->lacks);
    if (have.type != SHAPEPROOF_VALUE_LIST) return SP_CONTRADICTS;
    for (size_t i = 0; i < have.count; i++) found = found || sp_values_equal(have.items[i], want->value);
    return answer(found != want->lacks);
}

static enum sp_answer meets_item(struct shapeproof_value have, const struct sp_want *want)
{
    const bool is_all = have.type != SHAPEPROOF_VALUE_LIST && want->scalar;
    if (!is_all && (have.type != SHAPEPROOF_VALUE_LIST || want->index >= have.count)) return SP_CONTRADICTS;
    const struct shapeproof_value item = is_all ? have : have.items[want->index];
    if (item.type == SHAPEPROOF_VALUE_UNKNOWN) return SP_OPEN;
    return want->is_member ? meets_member(item, want) : answer(equal(item, want->value));
}

static enum sp_answer meets_length(struct shapeproof_value have, const struct sp_want *want)
{
    if (have.type != SHAPEPROOF_VALUE_LIST && have.type != SHAPEPROOF_VALUE_OBJECT) return SP_CONTRADICTS;
    return answer(want->value.type == SHAPEPROOF_VALUE_INT && want->value.integer == (int64_t)have.count);
}

enum sp_answer sp_value_satisfies(struct shapeproof_value have, const struct sp_want *want)
{
    if (have.type == SHAPEPROOF_VALUE_UNKNOWN) return SP_OPEN;
    switch (want->kind) {
    case SP_WANT_VALUE:
        return answer(equal(have, want->value));
    case SP_WANT_ITEM:
        return meets_item(have, want);
    case SP_WANT_LENGTH:
        return meets_length(have, want);
    case SP_WANT_MEMBER:
        return meets_member(have, want);
    }
    return SP_OPEN;
}

/* ---- facts ---- */

static struct sp_fact blank(const char *path, size_t parent, uint64_t asks)
{
    return (struct sp_fact){.path = path,
                            .value = unknown(path),
                            .parent = parent,
                            .asks = asks,
                            .length = SIZE_MAX,
                            .list_made = SIZE_MAX};
}

/* The bit of sp_known.asked for a path, by an FNV-1a hash of it without the index of an item. */
static size_t bit_of(const char *path)
{
    uint32_t hash = 2166136261U;
    for (; *path && *path != '['; path++) hash = (hash ^ (unsigned char)*path) * 16777619U;
    return hash % SP_KEY_HASHES;
}

static void note_key(struct sp_known *known, const char *path) { known->changed_at[bit_of(path)] = ++known->states; }

void sp_known_note_change(struct sp_known *known, const struct sp_fact *fact)
{
    note_key(known, fact->path);
    known->changes = known->states;
}

void sp_known_renew(struct sp_known *known)
{
    known->changes = ++known->states;
    for (size_t i = 0; i <= SP_KEY_HASHES; i++) known->changed_at[i] = known->changes;
}

void sp_known_spare_defaults(struct sp_known *known, bool spares)
{
    if (known->spares_defaults != spares) known->changed_at[SP_KEY_HASHES] = ++known->states;
    known->spares_defaults = spares;
}

bool sp_known_has_changed(const struct sp_known *known, uint64_t asked, size_t state)
{
    for (; asked; asked &= asked - 1)
        if (known->changed_at[__builtin_ctzll(asked)] > state) return true;
    return false;
}

/* The fact of the path, which is made when there is none. Most are asked for again and again with the same pointer. */
static size_t index_of_fact(struct sp_known *known, const char *path)
{
    size_t *recent = &known->recent[(uintptr_t)path / sizeof(void *) % SP_RECENT_FACTS];
    if (*recent < known->count && strcmp(known->facts[*recent].path, path) == 0) return *recent;
    const size_t index = *recent = sp_map_get(&known->names, path);
    const char *dot = strrchr(path, '.');
    if (index != SIZE_MAX) return index;
    const size_t parent =
        dot ? index_of_fact(known, sp_arena_copy(known->arena, path, (size_t)(dot - path))) : SIZE_MAX;
    SP_GROW(known->facts, known->count, known->capacity);
    const uint64_t asks = UINT64_C(1) << bit_of(path) | (parent == SIZE_MAX ? 0 : known->facts[parent].asks);
    known->facts[known->count] = blank(sp_arena_string(known->arena, path), parent, asks);
    if (parent != SIZE_MAX) note_key(known, known->facts[parent].path); /* it is an object now: sp_known_is_object */
    sp_map_add(&known->names, known->facts[known->count].path, known->count);
    return known->count++;
}

struct sp_fact *sp_known_change(struct sp_known *known, size_t index)
{
    struct sp_fact *fact = &known->facts[index];
    if (known->scope && fact->saved != known->scope) {
        *SP_PUSH(&known->trail) = (struct sp_old_fact){index, *fact};
        fact->saved = known->scope;
    }
    return fact;
}

static struct sp_fact *use(struct sp_known *known, size_t index)
{
    struct sp_fact *fact = sp_known_change(known, index);
    if (!fact->is_used) *SP_PUSH(&known->used) = index;
    fact->is_used = true;
    known->asked |= fact->asks;
    return fact;
}

/* Makes nothing known of the fact, which keeps its place. */
static void forget(struct sp_known *known, size_t index)
{
    struct sp_fact *fact = sp_known_change(known, index);
    const size_t saved = fact->saved;
    *fact = blank(fact->path, fact->parent, fact->asks);
    fact->saved = saved;
    note_key(known, fact->path);
}

static struct sp_fact *fact_of(struct sp_known *known, const char *path)
{
    return use(known, index_of_fact(known, path));
}

/* After facts were blanked or put back one by one. */
static void list_used(struct sp_known *known)
{
    known->used.count = 0;
    for (size_t i = 0; i < known->count; i++)
        if (known->facts[i].is_used) *SP_PUSH(&known->used) = i;
}

const struct sp_fact *sp_known_fact(const struct sp_known *known, const char *path)
{
    const size_t index = sp_map_get(&known->names, path);
    return index == SIZE_MAX ? NULL : &known->facts[index];
}

bool sp_known_is_object(struct sp_known *known, const char *path)
{
    const size_t index = sp_map_get(&known->names, path);
    known->asked |= UINT64_C(1) << bit_of(path);
    for (size_t i = 0; i < known->count && index != SIZE_MAX; i++)
        if (known->facts[i].parent == index) return true;
    return false;
}

static const char *item_path(const struct sp_known *known, const char *path, size_t index)
{
    return sp_arena_printf(known->arena, "%s[%zu]", path, index);
}

static struct shapeproof_value value_of_fact(struct sp_known *known, struct sp_fact *fact);

/* Of a list for which one value may stand, and of which nothing told that it is one. */
static bool is_one_value(const struct sp_fact *fact, const struct shapeproof_value *items)
{
    if (!fact->scalar || !fact->is_closed || !fact->length) return false;
    for (size_t i = 0; i < fact->length; i++)
        if (!sp_value_is_set(items[i]) || !sp_values_equal(items[i], items[0])) return false;
    return true;
}

/* The list whose length is known, with unknown items where nothing was told of them. */
static struct shapeproof_value list_of_items(struct sp_known *known, struct sp_fact *fact)
{
    if (fact->list_made == known->changes) return fact->list;
    struct shapeproof_value *items = sp_arena_array(known->arena, fact->length, sizeof *items);
    for (size_t i = 0; i < fact->length; i++) {
        const char *path = item_path(known, fact->path, i);
        const struct sp_fact *item = sp_known_fact(known, path);
        items[i] = item ? value_of_fact(known, fact_of(known, path)) : unknown(path);
    }
    fact->list = is_one_value(fact, items)
                     ? items[0]
                     : (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = fact->length, .items = items};
    fact->list_made = known->changes;
    return fact->list;
}

static struct shapeproof_value value_of_fact(struct sp_known *known, struct sp_fact *fact)
{
    return fact->value.type != SHAPEPROOF_VALUE_UNKNOWN || fact->length == SIZE_MAX ? fact->value
                                                                                    : list_of_items(known, fact);
}

/* A sub-configuration that is not there has no members. */
static bool is_within_absent(const struct sp_known *known, const struct sp_fact *fact)
{
    for (size_t i = fact->parent; i != SIZE_MAX; i = known->facts[i].parent) {
        const enum shapeproof_value_type type = known->facts[i].value.type;
        if (type == SHAPEPROOF_VALUE_ABSENT || type == SHAPEPROOF_VALUE_NULL) return true;
    }
    return false;
}

/* sp_known_value of the key with that fact. */
static struct shapeproof_value value_at(struct sp_known *known, size_t index)
{
    struct sp_fact *fact = use(known, index);
    if (fact->guess > known->touched) known->touched = fact->guess;
    if (is_within_absent(known, fact)) return sp_value_absent(fact->path);
    if (fact->value.type == SHAPEPROOF_VALUE_UNKNOWN && fact->has_members)
        return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT};
    return value_of_fact(known, fact);
}

struct shapeproof_value sp_known_value(struct sp_known *known, const char *path)
{
    return value_at(known, index_of_fact(known, path));
}

struct shapeproof_value sp_known_item(struct sp_known *known, const char *list, size_t index)
{
    const struct sp_fact *fact = sp_known_fact(known, list);
    known->asked |= fact ? fact->asks : UINT64_C(1) << bit_of(list);
    if (!fact || index >= fact->item_count) return unknown(list);
    struct sp_text *path = &known->path;
    path->length = 0;
    sp_text_puts(path, list);
    sp_text_puts(path, "[");
    sp_text_number(path, index);
    sp_text_puts(path, "]");
    const size_t item = sp_map_get(&known->names, path->data);
    return item != SIZE_MAX ? value_at(known, item) : unknown(list);
}

/* What has a member is there. */
static void note_members(struct sp_known *known, const struct sp_fact *fact)
{
    for (size_t i = fact->parent; i != SIZE_MAX && !sp_is_item_key(known->facts[i].path); i = known->facts[i].parent) {
        struct sp_fact *outer = use(known, i);
        if (outer->has_members) continue;
        outer->guess = known->touched;
        outer->has_members = true;
        note_key(known, outer->path);
    }
}

static enum sp_answer learn(struct sp_known *known, struct sp_fact *fact)
{
    if (fact->reason.kind == SP_REASON_NONE) {
        fact->reason = known->reason;
        fact->guess = known->touched;
    }
    if (fact->value.type == SHAPEPROOF_VALUE_UNKNOWN || sp_value_is_set(fact->value)) note_members(known, fact);
    known->told++;
    sp_known_note_change(known, fact);
    return SP_HOLDS;
}

/* ---- telling ---- */

/* What follows from a list follows from the guess that it does. */
static void touch_list(struct sp_known *known, struct sp_fact *list)
{
    if (list->guess >= known->touched) return;
    list->guess = known->touched;
    sp_known_note_change(known, list);
}

/* Of an item the list learns what it rests on, and of a member of one, or of one that is a list itself, that it has
 * such an item. */
static void tell_list_of(struct sp_known *known, const char *path, bool is_list)
{
    const char *bracket = strrchr(path, '[');
    if (!bracket) return;
    struct sp_fact *list = fact_of(known, sp_arena_copy(known->arena, path, (size_t)(bracket - path)));
    touch_list(known, list);
    if (!is_list && !strchr(bracket, '.')) return;
    const size_t index = strtoul(bracket + 1, NULL, 10);
    if (index >= list->item_count || (!is_list && !list->objects)) note_key(known, list->path);
    if (index >= list->item_count) list->item_count = index + 1;
    list->objects |= !is_list;
    if (list->reason.kind == SP_REASON_NONE) learn(known, list);
}

/* What shapes depend on counts something: it is not negative. */
static enum sp_answer tell_value(struct sp_known *known, const char *path, struct shapeproof_value value)
{
    if (value.type == SHAPEPROOF_VALUE_INT && value.integer < 0) return SP_CONTRADICTS;
    tell_list_of(known, path, false);
    struct sp_fact *fact = fact_of(known, path);
    fact->value = value;
    return learn(known, fact);
}

static enum sp_answer tell_item(struct sp_known *known, const char *path, const struct sp_want *want)
{
    struct sp_fact *list = fact_of(known, path);
    if (want->index >= (list->length == SIZE_MAX ? SP_MOST_ITEMS_TOLD : list->length)) return SP_CONTRADICTS;
    const char *item = item_path(known, path, want->index);
    const struct sp_want inner = {
        .kind = want->is_member ? SP_WANT_MEMBER : SP_WANT_VALUE, .value = want->value, .lacks = want->lacks};
    if (want->index >= list->item_count || want->scalar > list->scalar) note_key(known, list->path);
    if (want->index >= list->item_count) list->item_count = want->index + 1;
    list->scalar = list->scalar || want->scalar;
    if (list->reason.kind == SP_REASON_NONE) learn(known, list);
    touch_list(known, list);
    return sp_known_tell(known, item, &inner);
}

static enum sp_answer tell_length(struct sp_known *known, const char *path, const struct sp_want *want)
{
    struct sp_fact *list = fact_of(known, path);
    if (want->value.type != SHAPEPROOF_VALUE_INT || want->value.integer < (int64_t)list->item_count)
        return SP_CONTRADICTS;
    if (sp_is_item_key(path)) {
        tell_list_of(known, path, true);
        list = fact_of(known, path); /* facts move */
    }
    list->length = (size_t)want->value.integer;
    if (known->reason.kind == SP_REASON_LAST) list->reason = known->reason; /* its items told nothing of their number */
    return learn(known, list);
}

static enum sp_answer tell_member(struct sp_known *known, const char *path, const struct sp_want *want)
{
    struct sp_fact *list = fact_of(known, path);
    size_t count = 0;
    for (const struct sp_told_member *member = list->members; member; member = member->next, count++)
        if (sp_values_equal(member->item, want->value)) return answer(member->lacks == want->lacks);
    if (count >= SP_MOST_MEMBERS_TOLD) return SP_OPEN;
    struct sp_told_member *member = sp_arena_alloc(known->arena, sizeof *member);
    *member = (struct sp_told_member){want->value, want->lacks, list->members};
    list->members = member;
    return learn(known, list);
}

enum sp_answer sp_known_tell(struct sp_known *known, const char *path, const struct sp_want *want)
{
    const enum sp_answer already = sp_value_satisfies(sp_known_value(known, path), want);
    const struct sp_fact *fact = sp_known_fact(known, path);
    if (already != SP_OPEN) return already;
    switch (want->kind) {
    case SP_WANT_VALUE:
        return fact && (fact->item_count || fact->members) ? SP_OPEN : tell_value(known, path, want->value);
    case SP_WANT_ITEM:
        return tell_item(known, path, want);
    case SP_WANT_LENGTH:
        return tell_length(known, path, want);
    case SP_WANT_MEMBER:
        return tell_member(known, path, want);
    }
    return SP_OPEN;
}

enum sp_answer sp_known_tell_inner(struct sp_known *known, const char *path, size_t index, const struct sp_want *want)
{
    const struct sp_fact *outer = fact_of(known, path);
    const char *item = item_path(known, path, index);
    if (outer->value.type != SHAPEPROOF_VALUE_UNKNOWN ||
        index >= (outer->length == SIZE_MAX ? SP_MOST_ITEMS_TOLD : outer->length))
        return SP_CONTRADICTS;
    tell_list_of(known, item, true);
    return sp_known_tell(known, item, want);
}

/* ---- ending lists ---- */

static size_t prefix_length(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? (size_t)(dot + 1 - path) : 0;
}

/* How long a list is at least; 0 when its items told nothing. */
static size_t known_length(const struct sp_fact *list)
{
    if (!list->item_count || list->value.type != SHAPEPROOF_VALUE_UNKNOWN) return 0;
    return list->length != SIZE_MAX ? list->length : list->scalar ? 0 : list->item_count;
}

/* The lists of a configuration tend to be equally long: one item for each stage. One whose length was told, and that is
 * as long as what is known of this one, tells most. */
static size_t length_beside(const struct sp_known *known, const struct sp_fact *fact)
{
    const size_t prefix = prefix_length(fact->path);
    size_t length = fact->item_count;
    for (size_t i = 0; i < known->count; i++) {
        const struct sp_fact *other = &known->facts[i];
        const size_t beside = other == fact || sp_is_item_key(other->path) ? 0 : known_length(other);
        if (beside < fact->item_count) continue;
        if (prefix_length(other->path) != prefix || memcmp(other->path, fact->path, prefix) != 0) continue;
        if (other->length == fact->item_count && !other->scalar) return fact->item_count;
        if (beside > length) length = beside;
    }
    return length;
}

size_t sp_known_length_beside(struct sp_known *known, const char *path)
{
    const struct sp_fact *fact = fact_of(known, path);
    return fact->value.type == SHAPEPROOF_VALUE_UNKNOWN && fact->length == SIZE_MAX ? length_beside(known, fact) : 0;
}

struct shapeproof_value sp_known_item_beside(struct sp_known *known, const char *path)
{
    const char *list = sp_arena_copy(known->arena, path, (size_t)(strrchr(path, '[') - path));
    const struct sp_fact *fact = sp_known_fact(known, list);
    const size_t count = fact ? fact->item_count : 0; /* facts move when one is added */
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_value item = sp_known_value(known, item_path(known, list, i));
        if (sp_value_is_set(item)) return item;
    }
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_UNKNOWN, .string = ""};
}

static bool is_open_list(const struct sp_fact *fact)
{
    return fact->value.type == SHAPEPROOF_VALUE_UNKNOWN && fact->length == SIZE_MAX && fact->item_count;
}

bool sp_known_has_open_lists(const struct sp_known *known)
{
    for (size_t i = 0; i < known->count; i++)
        if (is_open_list(&known->facts[i])) return true;
    return false;
}

bool sp_known_close_list(struct sp_known *known, const char *path, size_t length)
{
    struct sp_fact *fact = fact_of(known, path);
    if (!is_open_list(fact) || fact->scalar || length <= fact->item_count) return false;
    fact->length = length;
    fact->is_closed = true;
    sp_known_note_change(known, fact);
    return true;
}

void sp_known_open_list(struct sp_known *known, const char *path)
{
    struct sp_fact *fact = fact_of(known, path);
    if (fact->value.type != SHAPEPROOF_VALUE_UNKNOWN || !fact->item_count) return;
    fact->length = SIZE_MAX;
    fact->is_closed = false;
    sp_known_note_change(known, fact);
}

size_t sp_known_count_set(const struct sp_known *known)
{
    size_t count = 0;
    for (size_t i = 0; i < known->count; i++) count += known->facts[i].value.type != SHAPEPROOF_VALUE_UNKNOWN;
    return count;
}

/* Closes the open lists for which one value may stand, or those for which none may. */
static bool close_lists(struct sp_known *known, bool scalar)
{
    const size_t before = known->changes;
    for (size_t i = 0; i < known->count; i++) {
        if (!is_open_list(&known->facts[i]) || known->facts[i].scalar != scalar) continue;
        struct sp_fact *fact = sp_known_change(known, i);
        const bool is_alone = fact->scalar || sp_is_item_key(fact->path);
        fact->length = is_alone ? fact->item_count : length_beside(known, fact);
        fact->is_closed = true;
        sp_known_note_change(known, fact);
    }
    return known->changes != before;
}

/* The former only if there is none of the latter: once these are closed, more items of the former may follow. */
bool sp_known_close_lists(struct sp_known *known) { return close_lists(known, false) || close_lists(known, true); }

/* ---- trying out ---- */

struct sp_mark sp_known_mark(struct sp_known *known)
{
    struct sp_mark mark = {.trail = known->trail.count,
                           .count = known->count,
                           .told = known->told,
                           .guesses = known->guesses,
                           .scope = known->scope,
                           .changes = known->changes};
    memcpy(mark.changed_at, known->changed_at, sizeof mark.changed_at);
    known->scope = ++known->scopes;
    return mark;
}

void sp_known_undo(struct sp_known *known, const struct sp_mark *mark)
{
    while (known->trail.count > mark->trail) {
        const struct sp_old_fact *old = &known->trail.items[--known->trail.count];
        known->facts[old->index] = old->fact;
    }
    known->scope = mark->scope;
    list_used(known);
    known->told = mark->told;
    known->guesses = mark->guesses;
    known->changes = mark->changes;
    memcpy(known->changed_at, mark->changed_at, sizeof known->changed_at);
    for (size_t i = mark->count; i < known->count; i++) /* which stay, and make objects of their parents */
        if (known->facts[i].parent != SIZE_MAX) note_key(known, known->facts[known->facts[i].parent].path);
}

void sp_known_commit(struct sp_known *known, const struct sp_mark *mark)
{
    known->scope = mark->scope;
    if (!known->scope) known->trail.count = 0;
}

/* Of too many the last one stands for those that come after it. */
void sp_known_guess(struct sp_known *known, const char *key)
{
    if (known->guesses < SP_MAX_GUESSES) known->guessed[++known->guesses] = key;
    known->others[known->guesses] = NULL;
    known->touched = known->guesses;
}

bool sp_known_forget_guesses(struct sp_known *known, enum sp_forget what)
{
    bool any = false;
    for (size_t i = 0; i < known->count; i++) {
        const struct sp_fact *fact = &known->facts[i];
        const bool is_list = fact->item_count || fact->length != SIZE_MAX || sp_is_item_key(fact->path);
        const bool is_guess = fact->reason.kind == SP_REASON_GUESS || fact->reason.kind == SP_REASON_ONLY;
        if (fact->reason.kind == SP_REASON_NONE || !(is_guess || (what == SP_FORGET_GUESSES_AND_LISTS && is_list)))
            continue;
        forget(known, i);
        any = true;
    }
    list_used(known);
    if (any) known->changes = ++known->states;
    return any;
}

/* Makes the value the only thing that is known of the key, and, for a list, each item the only thing of that. `guess`:
 * the number of the guess that it follows from, or 0. */
static void settle(struct sp_known *known, const char *path, struct shapeproof_value value, enum sp_reason_kind kind,
                   size_t guess)
{
    const size_t index = index_of_fact(known, path);
    forget(known, index);
    struct sp_fact *fact = use(known, index);
    fact->value = value;
    fact->guess = guess;
    fact->reason = (struct sp_reason){
        .kind = kind, .name = "", .rounded = kind != SP_REASON_STATED && value.type == SHAPEPROOF_VALUE_INT};
    if (sp_value_is_set(value)) note_members(known, fact);
    if (value.type == SHAPEPROOF_VALUE_LIST) fact->item_count = fact->length = value.count;
    for (size_t i = 0; value.type == SHAPEPROOF_VALUE_LIST && i < value.count; i++)
        settle(known, item_path(known, path, i), value.items[i], kind, guess);
}

void sp_known_state(struct sp_known *known, const char *path, struct shapeproof_value value)
{
    if (!sp_value_is_set(value) || sp_value_is_set(sp_known_value(known, path))) return;
    settle(known, path, value, SP_REASON_STATED, 0);
    known->told++;
    known->changes = ++known->states;
}

void sp_known_settle_exactly(struct sp_known *known, const char *path, struct shapeproof_value value)
{
    settle(known, path, value, SP_REASON_ONLY, 0);
    fact_of(known, path)->reason.rounded = false;
    known->told++;
    known->changes = ++known->states;
}

void sp_known_settle(struct sp_known *known, const char *path, struct shapeproof_value value)
{
    settle(known, path, value, SP_REASON_ONLY, 0);
    known->told++;
    known->changes = ++known->states;
}

void sp_known_settle_as_guess(struct sp_known *known, const char *path, struct shapeproof_value value)
{
    sp_known_guess(known, path);
    settle(known, path, value, SP_REASON_GUESS, known->guesses);
    known->told++;
    known->changes = ++known->states;
}

void sp_known_keep_dimensions(struct sp_known *known)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct sp_fact *fact = &known->facts[i];
        const bool is_sure = fact->reason.kind == SP_REASON_DIMENSION && !fact->reason.rounded && !fact->guess &&
                             fact->value.type == SHAPEPROOF_VALUE_INT && !strchr(fact->path, '[');
        if (!is_sure) forget(known, i);
    }
    list_used(known);
    known->changes = ++known->states;
}

void sp_known_forget_dimensions(struct sp_known *known)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct sp_fact *fact = &known->facts[i];
        const bool is_told = fact->reason.kind == SP_REASON_DIMENSION || fact->reason.kind == SP_REASON_PRODUCT;
        const bool is_guess = fact->reason.kind == SP_REASON_GUESS && fact->value.type == SHAPEPROOF_VALUE_INT;
        if (is_told || is_guess) forget(known, i);
    }
    list_used(known);
    known->changes = ++known->states;
}

void sp_known_clear(struct sp_known *known)
{
    for (size_t i = 0; i < known->used.count; i++) forget(known, known->used.items[i]);
    known->used.count = 0;
    known->changes = ++known->states;
}

void sp_known_free(struct sp_known *known)
{
    sp_free(known->facts);
    sp_free(known->used.items);
    sp_free(known->trail.items);
    sp_map_free(&known->names);
    sp_text_free(&known->path);
    *known = (struct sp_known){0};
}
