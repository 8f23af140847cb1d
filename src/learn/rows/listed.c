/* SPDX-License-Identifier: MIT */
#include "learn/rows/listed.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "learn/rows/layout.h"
#include "learn/terms/evidence.h"
#include "learn/terms/likely.h"

/* ---- beginnings ---- */

/* What names begin with, where that differs between the examples: the same layers are "h.0." in one and
 * "transformer.h.0." in another, because the class is another one. */

/* A name without its numbers. */
static const char *bare_name(struct sp_arena *arena, const char *name)
{
    struct sp_text text = {0};
    struct sp_indices indices = {.count = 0};
    sp_name_split(&text, name, SP_INDEX_ANYWHERE, &indices);
    return sp_text_keep(&text, arena);
}

static const char *name_in_example(const struct sp_evidence *evidence, size_t example, size_t tensor)
{
    return shapeproof_inventory_tensor(evidence->examples[example].inventory, tensor)->name;
}

static size_t count_names(const struct sp_evidence *evidence, size_t example)
{
    return shapeproof_inventory_count(evidence->examples[example].inventory);
}

/* How many names of the example begin so. */
static size_t count_with_front(const struct sp_evidence *evidence, size_t example, const char *front)
{
    size_t count = 0;
    for (size_t i = 0; i < count_names(evidence, example); i++)
        count += strncmp(name_in_example(evidence, example, i), front, strlen(front)) == 0;
    return count;
}

/* The first component of most of its names, with the dot; "" when there is none. */
static const char *usual_front(const struct sp_evidence *evidence, size_t example)
{
    for (size_t i = 0; i < count_names(evidence, example); i++) {
        const char *name = name_in_example(evidence, example, i), *dot = strchr(name, '.');
        if (!dot) continue;
        const char *front = sp_arena_copy(evidence->arena, name, (size_t)(dot + 1 - name));
        if (count_with_front(evidence, example, front) * 2 > count_names(evidence, example)) return front;
    }
    return "";
}

static void gather_bare_names(const struct sp_evidence *evidence, size_t example, const char *front,
                              struct sp_map *names)
{
    for (size_t i = 0; i < count_names(evidence, example); i++) {
        const char *name = name_in_example(evidence, example, i);
        if (strncmp(name, front, strlen(front)) == 0)
            sp_map_add(names, bare_name(evidence->arena, name + strlen(front)), 0);
    }
}

/* Whether most names of an example are those, as they are. */
static bool has_bare_names(const struct sp_evidence *evidence, size_t example, const struct sp_map *names)
{
    size_t common = 0;
    for (size_t i = 0; i < count_names(evidence, example); i++)
        common += sp_map_get(names, bare_name(evidence->arena, name_in_example(evidence, example, i))) != SIZE_MAX;
    return common * 2 > count_names(evidence, example);
}

static bool differ_in_front(const struct sp_evidence *evidence, const struct sp_map *names, const char *front)
{
    for (size_t e = 0; e < evidence->count; e++)
        if (count_with_front(evidence, e, front) * 2 <= count_names(evidence, e) && has_bare_names(evidence, e, names))
            return true;
    return false;
}

static void keep_front(struct sp_fronts *fronts, const struct sp_evidence *evidence, const char *front)
{
    fronts->text = front;
    fronts->has = sp_arena_array(evidence->arena, evidence->count, sizeof *fronts->has);
    for (size_t e = 0; e < evidence->count; e++)
        fronts->has[e] = count_with_front(evidence, e, front) * 2 > count_names(evidence, e);
    for (size_t e = 0; e < evidence->count; e++)
        if (fronts->has[e]) gather_bare_names(evidence, e, front, &fronts->names);
}

void sp_fronts_find(struct sp_fronts *fronts, const struct sp_evidence *evidence)
{
    *fronts = (struct sp_fronts){.text = ""};
    for (size_t e = 0; e < evidence->count && !*fronts->text; e++) {
        struct sp_map names = {0};
        const char *front = usual_front(evidence, e);
        if (*front) gather_bare_names(evidence, e, front, &names);
        if (*front && differ_in_front(evidence, &names, front)) keep_front(fronts, evidence, front);
        sp_map_free(&names);
    }
}

static bool is_fronted(const struct sp_fronts *fronts, const char *name)
{
    struct sp_arena arena = {0};
    const bool is = sp_map_get(&fronts->names, bare_name(&arena, name)) != SIZE_MAX;
    sp_arena_free(&arena);
    return is;
}

const char *sp_front_taken(const struct sp_fronts *fronts, size_t example, const char *name, bool *marked)
{
    const size_t length = strlen(fronts->text);
    *marked = false;
    if (!length) return name;
    if (fronts->has[example]) *marked = strncmp(name, fronts->text, length) == 0;
    else *marked = is_fronted(fronts, name);
    return *marked && fronts->has[example] ? name + length : name;
}

void sp_fronts_free(struct sp_fronts *fronts) { sp_map_free(&fronts->names); }

/* ---- words ---- */

static bool is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || sp_is_digit(c) || (unsigned char)c >= 0x80;
}

/* Whether a word can begin there. */
static bool begins_listed_word(const char *name, size_t place)
{
    return is_of_word(name[place]) && (!place || !is_of_word(name[place - 1]));
}

/* The length of the longest item of the list that the text begins with, as a whole word; *item is which. 0 when there
 * is none. */
static size_t length_of_item(struct shapeproof_value list, const char *text, size_t *item)
{
    size_t longest = 0;
    for (size_t i = 0; list.type == SHAPEPROOF_VALUE_LIST && i < list.count; i++) {
        const size_t length = strlen(list.items[i].string);
        if (length <= longest || strncmp(text, list.items[i].string, length) != 0 || is_of_word(text[length])) continue;
        longest = length;
        *item = i;
    }
    return longest;
}

/* A list of different texts, each of which could be a word of a name. */
static bool is_list_of_words(struct shapeproof_value list)
{
    if (list.type != SHAPEPROOF_VALUE_LIST || list.count > SP_MOST_LISTED) return false;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].type != SHAPEPROOF_VALUE_STRING || !is_of_word(list.items[i].string[0])) return false;
        if (strspn(list.items[i].string, "0123456789") == strlen(list.items[i].string)) return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(list.items[k].string, list.items[i].string) == 0) return false;
    }
    return true;
}

static bool has_words(const struct sp_evidence *evidence, const struct sp_terminal *terminal)
{
    size_t items = 0;
    for (size_t e = 0; e < evidence->count; e++) {
        if (!is_list_of_words(terminal->values[e])) return false;
        items += terminal->values[e].count;
    }
    return items > 0 && !terminal->meaning && strcmp(terminal->path, "architectures") != 0;
}

/* ---- marking ---- */

/* A piece of a name with a mark for each number. */
static const char *bare_text(struct sp_arena *arena, const char *text, size_t length)
{
    struct sp_text bare = {0};
    struct sp_indices indices = {.count = 0};
    sp_text_puts(&bare, "");
    sp_name_split(&bare, sp_arena_copy(arena, text, length), SP_INDEX_ANYWHERE, &indices);
    return sp_text_keep(&bare, arena);
}

/* What is left of the component behind a word, with marks for numbers and for other words of the list. */
static const char *rest_of_component(struct sp_arena *arena, struct shapeproof_value list, const char *text)
{
    struct sp_text rest = {0};
    const size_t length = strcspn(text, "./");
    sp_text_puts(&rest, "");
    for (size_t i = 0; i < length;) {
        size_t item;
        const size_t word = begins_listed_word(text, i) ? length_of_item(list, text + i, &item) : 0;
        const char here = word ? SP_WORD_MARK : text[i];
        sp_text_append(&rest, &here, 1);
        i += word ? word : 1;
    }
    const char *bare = bare_text(arena, rest.data, rest.length);
    sp_text_free(&rest);
    return bare;
}

/* The place whose list has an item at the beginning of `text`, *item of *length characters, and that fits what is
 * before and behind it. SHAPEPROOF_NONE when there is none. */
static size_t place_of_word(const struct sp_listed *listed, struct sp_arena *arena, size_t example,
                            const struct sp_text *before, const char *text, size_t *item, size_t *length)
{
    for (size_t i = 0; i < listed->count; i++) {
        const struct sp_listed_place *place = &listed->items[i];
        const struct shapeproof_value list = place->terminal->values[example];
        *length = length_of_item(list, text, item);
        if (!*length || strcmp(bare_text(arena, before->data, before->length), place->before) != 0) continue;
        if (strcmp(rest_of_component(arena, list, text + *length), place->behind) == 0) return i;
    }
    return SHAPEPROOF_NONE;
}

void sp_listed_mark(const struct sp_listed *listed, size_t example, const char *name, struct sp_marked_name *marked)
{
    struct sp_arena arena = {0};
    marked->count = marked->text.length = 0;
    sp_text_puts(&marked->text, "");
    for (size_t i = 0; name[i];) {
        size_t item = 0, length = 0, place = SHAPEPROOF_NONE;
        if (listed->count && marked->count < SP_MOST_WORDS && begins_listed_word(name, i))
            place = place_of_word(listed, &arena, example, &marked->text, name + i, &item, &length);
        if (place == SHAPEPROOF_NONE) {
            sp_text_append(&marked->text, &name[i++], 1);
            continue;
        }
        marked->words[marked->count].place = place;
        marked->words[marked->count++].item = item;
        sp_text_append(&marked->text, &(char){SP_WORD_MARK}, 1);
        i += length;
    }
    sp_arena_free(&arena);
}

const char *sp_listed_word(const struct sp_listed *listed, size_t example, const struct sp_marked_name *marked,
                           size_t word)
{
    const struct sp_terminal *terminal = listed->items[marked->words[word].place].terminal;
    return terminal->values[example].items[marked->words[word].item].string;
}

/* ---- finding ---- */

/* A place that may be that of a list, and what stands there. */
struct candidate {
    struct sp_listed_place place;
    uint64_t *seen; /* for each example, bits of the items of its list that stand there */
    uint64_t *sums; /* for each example and item, a hash of what names have behind it, in any order */
    bool is_broken; /* an item of another example's list is there, and not one of this example's */
};

struct finder {
    struct sp_arena arena;
    const struct sp_evidence *evidence;
    struct sp_listed *listed;
    const struct sp_terminal **terminals;
    size_t terminal_count;
    struct sp_map known;    /* candidates by their list and place */
    struct sp_map numbered; /* what numbers stand behind */
    struct {
        struct candidate *items;
        size_t count, capacity;
    } candidates;
};

static struct candidate *candidate_at(struct finder *finder, size_t terminal, const char *before, const char *behind)
{
    const char *key = sp_arena_printf(&finder->arena, "%zu %s\n%s", terminal, before, behind);
    const size_t known = sp_map_get(&finder->known, key);
    if (known != SIZE_MAX) return &finder->candidates.items[known];
    const size_t examples = finder->evidence->count;
    sp_map_add(&finder->known, key, finder->candidates.count);
    *SP_PUSH(&finder->candidates) =
        (struct candidate){.place = {before, behind, finder->terminals[terminal], NULL},
                           .seen = sp_arena_array(&finder->arena, examples, sizeof(uint64_t)),
                           .sums = sp_arena_array(&finder->arena, examples * SP_MOST_LISTED, sizeof(uint64_t))};
    return &finder->candidates.items[finder->candidates.count - 1];
}

static uint64_t sum_of_text(const char *text, uint64_t rank)
{
    uint64_t sum = 1469598103934665603U + rank;
    for (; *text; text++) sum = (sum ^ (unsigned char)*text) * 1099511628211U;
    return sum | 1;
}

/* Notes at its place the word that the text begins with, if it is an item of the list in some example. */
static void note_word(struct finder *finder, size_t terminal, size_t example, const char *before, const char *text,
                      uint32_t rank)
{
    for (size_t e = 0; e < finder->evidence->count; e++) {
        size_t item, own;
        const struct shapeproof_value list = finder->terminals[terminal]->values[example];
        const size_t length = length_of_item(finder->terminals[terminal]->values[e], text, &item);
        if (!length) continue;
        struct candidate *candidate =
            candidate_at(finder, terminal, before, rest_of_component(&finder->arena, list, text + length));
        if (length_of_item(list, text, &own) != length) candidate->is_broken = true;
        else if (e == example) {
            candidate->seen[example] |= (uint64_t)1 << own;
            candidate->sums[example * SP_MOST_LISTED + own] += sum_of_text(text + length, rank);
        }
    }
}

static void note_name(struct finder *finder, size_t example, const struct sp_marked_name *marked, uint32_t rank)
{
    const char *name = marked->text.data;
    for (size_t i = 0; name[i]; i++) {
        if (!begins_listed_word(name, i) || name[i] == SP_WORD_MARK) continue;
        const char *before = bare_text(&finder->arena, name, i);
        if (sp_is_digit(name[i])) sp_map_add(&finder->numbered, before, 0);
        else
            for (size_t k = 0; k < finder->terminal_count; k++) note_word(finder, k, example, before, name + i, rank);
    }
}

static void note_all_names(struct finder *finder, const struct sp_fronts *fronts)
{
    struct sp_marked_name marked = {.count = 0};
    for (size_t e = 0; e < finder->evidence->count; e++) {
        const struct shapeproof_inventory *inventory = finder->evidence->examples[e].inventory;
        for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
            const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
            bool fronted;
            if (tensor->flags & SHAPEPROOF_TENSOR_STATE) continue;
            sp_listed_mark(finder->listed, e, sp_front_taken(fronts, e, tensor->name, &fronted), &marked);
            note_name(finder, e, &marked, tensor->rank);
        }
    }
    sp_text_free(&marked.text);
}

/* Whether there are several items, and names have the same behind each. */
static bool has_alike_words(const struct candidate *candidate, size_t example, size_t items)
{
    const uint64_t *sums = candidate->sums + example * SP_MOST_LISTED;
    for (size_t i = 1; i < items; i++)
        if (sums[i] != sums[0]) return false;
    return items > 1;
}

/* Whether a place is that of its list; the head of listed.h says when. */
static bool is_of_list(const struct finder *finder, const struct candidate *candidate)
{
    const struct sp_terminal *terminal = candidate->place.terminal;
    const bool varied = !sp_terminal_is_constant(terminal, finder->evidence->count);
    if (candidate->is_broken || sp_map_get(&finder->numbered, candidate->place.before) != SIZE_MAX) return false;
    for (size_t e = 0; e < finder->evidence->count; e++) {
        const size_t items = terminal->values[e].count;
        const uint64_t all = items == SP_MOST_LISTED ? UINT64_MAX : ((uint64_t)1 << items) - 1;
        if (candidate->seen[e] != all || (!varied && !has_alike_words(candidate, e, items))) return false;
    }
    return true;
}

static unsigned nearness(struct finder *finder, const struct sp_terminal *terminal, const char *before)
{
    return sp_search_term_affinity(sp_search_term_terminal(&finder->arena, SP_TERM_LENGTH, terminal), before);
}

/* Two lists have the same items: the one that goes better with the name is kept, the other is noted beside it. */
static void choose_list(struct finder *finder, struct sp_listed_place *known, const struct sp_terminal *terminal)
{
    const struct sp_terminal *chosen = known->terminal;
    known->other = terminal;
    if (nearness(finder, terminal, known->before) <= nearness(finder, chosen, known->before)) return;
    known->other = chosen;
    for (size_t i = 0; i < finder->listed->count; i++)
        if (strcmp(finder->listed->items[i].before, known->before) == 0) finder->listed->items[i].terminal = terminal;
}

/* Adds a place, unless another list has the same beginning already. */
static void add_place(struct finder *finder, const struct sp_listed_place *place)
{
    struct sp_listed *listed = finder->listed;
    struct sp_arena *arena = finder->evidence->arena;
    for (size_t i = 0; i < listed->count; i++) {
        struct sp_listed_place *known = &listed->items[i];
        if (strcmp(known->before, place->before) != 0 || known->terminal == place->terminal) continue;
        if (strcmp(known->behind, place->behind) == 0) choose_list(finder, known, place->terminal);
        return;
    }
    *SP_PUSH(listed) = (struct sp_listed_place){sp_arena_string(arena, place->before),
                                                sp_arena_string(arena, place->behind), place->terminal, NULL};
}

/* Adds the candidates that are places of their lists; whether there were any. */
static bool add_places(struct finder *finder)
{
    const size_t known = finder->listed->count;
    for (size_t i = 0; i < finder->candidates.count; i++)
        if (is_of_list(finder, &finder->candidates.items[i])) add_place(finder, &finder->candidates.items[i].place);
    return finder->listed->count > known;
}

static void forget_candidates(struct finder *finder)
{
    sp_map_free(&finder->known);
    sp_map_free(&finder->numbered);
    finder->known = finder->numbered = (struct sp_map){0};
    finder->candidates.count = 0;
    sp_arena_free(&finder->arena);
    finder->arena = (struct sp_arena){0};
}

/* In rounds: the second word of a name is searched for when the first has its mark. */
void sp_listed_find(struct sp_listed *listed, const struct sp_evidence *evidence, const struct sp_fronts *fronts)
{
    struct finder finder = {.evidence = evidence, .listed = listed};
    finder.terminals = sp_arena_array(evidence->arena, evidence->terminals.count + 1, sizeof *finder.terminals);
    for (size_t i = 0; i < evidence->terminals.count; i++)
        if (has_words(evidence, evidence->terminals.items[i]))
            finder.terminals[finder.terminal_count++] = evidence->terminals.items[i];
    for (size_t round = 0; finder.terminal_count && round < SP_MOST_WORDS; round++) {
        note_all_names(&finder, fronts);
        const bool more = add_places(&finder);
        forget_candidates(&finder);
        if (!more) break;
    }
    sp_free(finder.candidates.items);
}
