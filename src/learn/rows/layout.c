/* SPDX-License-Identifier: MIT */
#include "learn/rows/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/order.h"

/* ---- division of rows ---- */

/* Numbers that are places in a sequence of different things, of which some repeat:
 *
 *     layers.0 (matrix)  layers.1 (norm)  layers.4 (matrix)  layers.5 (norm)  layers.8 (matrix)
 *
 *     period 4: layers.{4*i} and layers.{4*i + 1} for i in 0..1, then layers.{4*2}
 *
 * What repeats is the body, what is behind it the end. Every place of the period, and every place of the end, is an
 * index of its own. */

/* How often the period is there, at the outer indices. */
struct sp_body {
    struct sp_point outer;
    uint64_t iterations;
};

struct sp_division {
    uint64_t period;
    struct sp_body *bodies; /* sorted */
    size_t count;
};

enum { LONGEST_PERIOD = 12, LONGEST_END = 12, MOST_ROWS = 64 };

/* ---- what is at a number ---- */

/* The census of a stem is a table of which rows exist at which numbers. Of a model with a gate in every second layer
 * (rows 0: layers.{}.w, 1: layers.{}.gate; one example, no outer index):
 *
 *     seen        (0, row 0), (1, row 0), (1, row 1), (2, row 0), (3, row 0), (3, row 1)
 *     iterations  0: {row 0}, 1: {row 0, row 1}, 2: {row 0}, 3: {row 0, row 1}
 *     sequences   one of four iterations, from which a period of 2 is read
 *
 * A tensor of a row of the stem, by its number and the place of its row among the rows of the stem. */
struct seen {
    struct sp_point outer;
    uint64_t number;
    size_t row;
};

/* All rows at one number, as bits. */
struct iteration {
    struct sp_point outer;
    uint64_t number, rows;
};

/* Everything below one outer point, in the order of the numbers. */
struct sequence {
    const struct iteration *iterations;
    size_t count;
};

struct census {
    SP_ARRAY(struct iteration) iterations;
    SP_ARRAY(struct sequence) sequences;
};

static int compare_seen(const void *left, const void *right)
{
    const struct seen *a = left, *b = right;
    const int order = sp_compare_points(&a->outer, &b->outer);
    return order ? order : sp_order(a->number, b->number);
}

/* Sorts what was seen, merges what has the same number into iterations, and these into sequences. */
static void list_sequences(struct census *census, struct seen *seen, size_t count)
{
    if (count) qsort(seen, count, sizeof *seen, compare_seen);
    for (size_t i = 0; i < count; i++) {
        if (!i || compare_seen(&seen[i - 1], &seen[i]) != 0)
            *SP_PUSH(&census->iterations) = (struct iteration){seen[i].outer, seen[i].number, 0};
        census->iterations.items[census->iterations.count - 1].rows |= (uint64_t)1 << seen[i].row;
    }
    for (size_t i = 0; i < census->iterations.count; i++) {
        const struct iteration *iteration = &census->iterations.items[i];
        if (!i || sp_compare_points(&iteration[-1].outer, &iteration->outer) != 0)
            *SP_PUSH(&census->sequences) = (struct sequence){iteration, 0};
        census->sequences.items[census->sequences.count - 1].count++;
    }
}

/* Lists the tensors of all rows of the stem, then groups them. False when there is no row, or so many that a bit set
 * does not hold more. The lists of `census` are to be freed in both cases. */
static bool take_census(const struct sp_layout *layout, size_t stem, struct census *census)
{
    const size_t depth = layout->stems.items[stem].depth;
    SP_ARRAY(struct seen) seen = {0};
    size_t rows = 0;
    for (size_t r = 0; r < layout->rows.count && rows < MOST_ROWS; r++) {
        const struct sp_tensor_row *row = &layout->rows.items[r];
        if (row->index_count <= depth || row->stems[depth] != stem) continue;
        for (size_t i = 0; i < row->places.count; i++) {
            const struct sp_point *point = &row->places.items[i].point;
            struct seen one = {.outer = {.example = point->example}, .number = point->index[depth], .row = rows};
            memcpy(one.outer.index, point->index, depth * sizeof *one.outer.index);
            *SP_PUSH(&seen) = one;
        }
        rows++;
    }
    list_sequences(census, seen.items, seen.count);
    sp_free(seen.items);
    return rows < MOST_ROWS && census->sequences.count > 0;
}

/* ---- what repeats ---- */

/* The rows at a number, as bits; 0 for a number that does not occur. Binary search. */
static uint64_t rows_at(const struct sequence *sequence, uint64_t number)
{
    size_t low = 0, high = sequence->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (sequence->iterations[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low < sequence->count && sequence->iterations[low].number == number ? sequence->iterations[low].rows : 0;
}

/* Whether the rows at the numbers from `from` on are those of the first period of `model`, and any. */
static bool is_period_at(const struct sequence *sequence, const struct sequence *model, uint64_t from, uint64_t period)
{
    uint64_t any = 0;
    for (uint64_t i = 0; i < period; i++) {
        if (rows_at(sequence, from + i) != rows_at(model, i)) return false;
        any |= rows_at(sequence, from + i);
    }
    return any != 0;
}

/* How often the first period of `model` is repeated at the beginning of the sequence. */
static uint64_t count_periods(const struct sequence *sequence, const struct sequence *model, uint64_t period)
{
    uint64_t iterations = 0;
    while (is_period_at(sequence, model, iterations * period, period)) iterations++;
    return iterations;
}

/* Whether the same rows are behind both bodies, from these numbers on, and not too many. */
static bool ends_are_alike(const struct sequence *a, uint64_t a_from, const struct sequence *b, uint64_t b_from)
{
    const uint64_t last_a = a->iterations[a->count - 1].number, last_b = b->iterations[b->count - 1].number;
    const uint64_t length_a = last_a < a_from ? 0 : last_a - a_from + 1;
    const uint64_t length_b = last_b < b_from ? 0 : last_b - b_from + 1;
    if (length_a != length_b || length_a > LONGEST_END) return false;
    for (uint64_t i = 0; i < length_a; i++)
        if (rows_at(a, a_from + i) != rows_at(b, b_from + i)) return false;
    return true;
}

/* Whether no row occurs at two places of the period. */
static bool are_places_apart(const struct sequence *model, uint64_t period)
{
    uint64_t before = 0;
    for (uint64_t i = 0; i < period; i++) {
        if (rows_at(model, i) & before) return false;
        before |= rows_at(model, i);
    }
    return true;
}

static const struct sequence *longest_sequence(const struct census *census)
{
    const struct sequence *longest = &census->sequences.items[0];
    for (size_t i = 1; i < census->sequences.count; i++)
        if (census->sequences.items[i].count > longest->count) longest = &census->sequences.items[i];
    return longest;
}

/* Divides every sequence by a period, after the longest sequence, in which it must be there twice. False when another
 * one does not begin with it, or has another end. */
static bool divide_into_periods(const struct sp_layout *layout, const struct census *census, uint64_t period,
                                struct sp_division *division)
{
    const struct sequence *model = longest_sequence(census);
    const uint64_t most = count_periods(model, model, period);
    if (most < 2) return false;
    struct sp_body *bodies = sp_arena_array(layout->evidence->arena, census->sequences.count, sizeof *bodies);
    for (size_t i = 0; i < census->sequences.count; i++) {
        const struct sequence *sequence = &census->sequences.items[i];
        const uint64_t iterations = count_periods(sequence, model, period);
        if (!iterations || !ends_are_alike(sequence, iterations * period, model, most * period)) return false;
        bodies[i] = (struct sp_body){sequence->iterations[0].outer, iterations};
    }
    *division = (struct sp_division){period, bodies, census->sequences.count};
    return true;
}

/* Finds the shortest period of the numbers behind a stem. False when nothing repeats, or what is behind the body is not
 * the same everywhere. */
static bool find_division(const struct sp_layout *layout, size_t stem, enum sp_divide which,
                          struct sp_division *division)
{
    struct census census = {0};
    bool found = false;
    if (take_census(layout, stem, &census))
        for (uint64_t period = 2; period <= LONGEST_PERIOD && !found; period++)
            found = (which == SP_DIVIDE_ANY || are_places_apart(longest_sequence(&census), period)) &&
                    divide_into_periods(layout, &census, period, division);
    sp_free(census.iterations.items);
    sp_free(census.sequences.items);
    return found;
}

static int compare_bodies(const void *left, const void *right)
{
    return sp_compare_points(&((const struct sp_body *)left)->outer, &((const struct sp_body *)right)->outer);
}

/* Which of the places a number is at: 0 to period - 1 in the body, from the period on behind it. */
static uint64_t division_place(const struct sp_division *division, const struct sp_point *outer, uint64_t number)
{
    const struct sp_body wanted = {.outer = *outer};
    const struct sp_body *body = bsearch(&wanted, division->bodies, division->count, sizeof wanted, compare_bodies);
    const uint64_t length = body ? body->iterations * division->period : 0;
    return number < length ? number % division->period : division->period + (number - length);
}

/* ---- layout ---- */

enum { STEP_UNIT = 1 << 20 }; /* a step and an offset below it in one number */

/* ---- numbers within words ---- */

enum { LAST_BIT = 63 }; /* for numbers from here on */

/* Which numbers each example has behind a text, as bits. */
struct stem_counts {
    struct sp_arena arena;
    struct sp_map stems;
    struct {
        struct counted_stem {
            const char *text;
            uint64_t *seen; /* for each example */
        } * items;
        size_t count, capacity;
    } list;
    size_t examples;
};

static struct counted_stem *stem_of(struct stem_counts *stem_counts, const char *text)
{
    const size_t known = sp_map_get(&stem_counts->stems, text);
    if (known != SIZE_MAX) return &stem_counts->list.items[known];
    const struct counted_stem made = {sp_arena_string(&stem_counts->arena, text),
                                      sp_arena_array(&stem_counts->arena, stem_counts->examples, sizeof(uint64_t))};
    sp_map_add(&stem_counts->stems, made.text, stem_counts->list.count);
    *SP_PUSH(&stem_counts->list) = made;
    return &stem_counts->list.items[stem_counts->list.count - 1];
}

/* Notes, for each number in a name, that the text in front of it has this number in the example: "h.3.l2.w" notes 3 for
 * "h." and 2 for "h.{}.l". */
static void count_numbers_of_name(struct stem_counts *stem_counts, const struct sp_layout *layout, const char *name,
                                  size_t example)
{
    bool fronted; /* of no interest here */
    struct sp_text raw = {0};
    struct sp_marked_name marked = {.count = 0};
    struct sp_indices indices = {.count = 0};
    size_t next = 0;
    sp_listed_mark(&layout->listed, example, sp_front_taken(&layout->fronts, example, name, &fronted), &marked);
    sp_name_split(&raw, marked.text.data, SP_INDEX_ANYWHERE, &indices);
    sp_text_free(&marked.text);
    for (char *c = raw.data; c && *c; c++) {
        if (*c != SP_INDEX_MARK) continue;
        *c = '\0'; /* for a moment, so that the text ends here */
        const uint64_t number = indices.value[next++];
        stem_of(stem_counts, raw.data)->seen[example] |= (uint64_t)1 << (number < LAST_BIT ? number : LAST_BIT);
        *c = SP_INDEX_MARK;
    }
    sp_text_free(&raw);
}

/* Whether two examples that have numbers behind the text have other ones. */
static bool examples_differ_at(const struct stem_counts *stem_counts, const struct counted_stem *stem)
{
    uint64_t first = 0;
    for (size_t i = 0; i < stem_counts->examples; i++) {
        if (first && stem->seen[i] && stem->seen[i] != first) return true;
        first |= stem->seen[i];
    }
    return false;
}

void sp_layout_begin(struct sp_layout *layout, struct sp_evidence *evidence, enum sp_words words)
{
    struct stem_counts stem_counts = {.examples = evidence->count};
    *layout = (struct sp_layout){.evidence = evidence};
    sp_fronts_find(&layout->fronts, evidence);
    if (words == SP_WORDS_ARE_ITEMS) sp_listed_find(&layout->listed, evidence, &layout->fronts);
    for (size_t e = 0; e < evidence->count; e++)
        for (size_t i = 0; i < shapeproof_inventory_count(evidence->examples[e].inventory); i++)
            count_numbers_of_name(&stem_counts, layout,
                                  shapeproof_inventory_tensor(evidence->examples[e].inventory, i)->name, e);
    for (size_t i = 0; i < stem_counts.list.count; i++)
        if (examples_differ_at(&stem_counts, &stem_counts.list.items[i]))
            sp_map_add(&layout->counted, sp_arena_string(evidence->arena, stem_counts.list.items[i].text), 0);
    sp_map_free(&stem_counts.stems);
    sp_free(stem_counts.list.items);
    sp_arena_free(&stem_counts.arena);
}

/* ---- names into rows ---- */

/* A name that is split into a pattern and indices, from the left to the right. */
struct split {
    size_t example;
    struct sp_marked_name marked;       /* the name with a mark for each word of a list */
    struct sp_text raw;                 /* the same with a mark for each number */
    struct sp_indices numbers;          /* every number of the name */
    struct sp_text pattern;             /* so far: numbers and words that are no indices are spelt out */
    struct sp_indices indices;          /* so far */
    size_t stems[SP_MAX_INDICES];       /* of each index */
    size_t counted[SP_MAX_INDICES];     /* which one each index is, if those that the row spells out are counted, too */
    unsigned spelled;                   /* input: bits of indices that this row spells out, by that number */
    struct sp_text whole;               /* the pattern if the row spelt out nothing */
    const struct sp_division *division; /* of the number that is added now, or NULL ... */
    uint64_t place;                     /* ... and which place of it the number is at */
};

/* The stem whose text is the pattern so far, added if it is new. `listed` is the list whose words stand there, or NULL
 * for numbers. If the stem is one place of a division, the number is period * index + place in the body, and counts
 * from the end of the body behind it. */
static size_t stem_with_text(struct sp_layout *layout, const struct split *split, const struct sp_listed_place *listed)
{
    const size_t known = sp_map_get(&layout->stem_names, split->pattern.data);
    if (known != SIZE_MAX) return known;
    struct sp_stem stem = {.text = sp_arena_string(&layout->arena, split->pattern.data),
                           .depth = split->indices.count,
                           .step = 1,
                           .listed = listed};
    if (split->division && split->place < split->division->period) {
        stem.step = split->division->period;
        stem.offset = split->place;
    } else if (split->division) {
        stem.period = split->division->period;
        stem.behind = split->place - stem.period;
    }
    const size_t step = sp_map_get(&layout->steps, stem.text);
    if (step != SIZE_MAX) {
        stem.step = step / STEP_UNIT;
        stem.offset = step % STEP_UNIT;
    }
    memcpy(stem.stems, split->stems, sizeof stem.stems);
    sp_map_add(&layout->stem_names, stem.text, layout->stems.count);
    *SP_PUSH(&layout->stems) = stem;
    return layout->stems.count - 1;
}

/* Whether the number at `mark` is an index: it stands between dots, or the examples differ in it (layout->counted), and
 * no decision was to spell it out. */
static bool is_index(const struct sp_layout *layout, const struct split *split, const char *mark)
{
    const char *start = split->raw.data, before = mark > start ? mark[-1] : '.';
    const char after = mark[1] ? mark[1] : '.';
    const bool apart = (before == '.' || before == '/') && (after == '.' || after == '/');
    if (sp_map_get(&layout->spelled, split->pattern.data) != SIZE_MAX) return false;
    if (apart) return true;
    const size_t length = (size_t)(mark - start);
    struct sp_text stem = {0};
    sp_text_append(&stem, start, length);
    const bool counted = sp_map_get(&layout->counted, stem.data ? stem.data : "") != SIZE_MAX;
    sp_text_free(&stem);
    return counted;
}

/* Whether this row spells out the next index, which is then counted; or whether there are too many indices. */
static bool is_spelled_here(struct split *split, size_t *indices_seen)
{
    const size_t place = (*indices_seen)++;
    return split->indices.count == SP_MAX_INDICES || (split->spelled >> place & 1);
}

/* Appends the mark for the place of a number in the division of its stem, and returns the division. NULL, and the
 * pattern stays, when the stem is not divided, or when there is no mark for so high a place. */
static const struct sp_division *mark_place(const struct sp_layout *layout, struct split *split, uint64_t number)
{
    struct sp_point outer = {.example = split->example};
    const size_t known = sp_map_get(&layout->divided, split->pattern.data);
    if (known == SIZE_MAX) return NULL;
    memcpy(outer.index, split->indices.value, split->indices.count * sizeof *outer.index);
    split->place = division_place(&layout->divisions.items[known], &outer, number);
    if (split->place > SP_LAST_PLACE - SP_FIRST_PLACE) return NULL;
    const char mark = (char)(SP_FIRST_PLACE + split->place);
    sp_text_append(&split->pattern, &mark, 1);
    return &layout->divisions.items[known];
}

/* Appends an index to the pattern. `place` is which one it is, with those that are spelt out. */
static void append_index(struct sp_layout *layout, struct split *split, const struct sp_listed_place *listed,
                         uint64_t number, size_t place)
{
    const size_t stem = stem_with_text(layout, split, listed);
    const struct sp_stem *made = &layout->stems.items[stem];
    split->stems[split->indices.count] = stem;
    split->counted[split->indices.count] = place;
    split->indices.value[split->indices.count++] = (number - made->offset) / made->step;
    sp_text_append(&split->pattern, &(char){SP_INDEX_MARK}, 1);
}

/* Appends a number of the name, as an index or spelt out. */
static void append_number(struct sp_layout *layout, struct split *split, const char *mark, uint64_t number,
                          size_t *indices_seen)
{
    const size_t place = *indices_seen, length = split->pattern.length;
    bool counts = is_index(layout, split, mark) && !is_spelled_here(split, indices_seen);
    split->division = counts ? mark_place(layout, split, number) : NULL;
    if (split->division) counts = sp_map_get(&layout->spelled, split->pattern.data) == SIZE_MAX;
    if (!counts) split->pattern.length = length;
    if (counts) append_index(layout, split, NULL, number, place);
    else sp_text_number(&split->pattern, number);
}

/* Appends a word that a list has, as an index or spelt out. */
static void append_word(struct sp_layout *layout, struct split *split, size_t example, size_t word,
                        size_t *indices_seen)
{
    const size_t place = *indices_seen;
    split->division = NULL;
    const bool is_index = sp_map_get(&layout->spelled, split->pattern.data) == SIZE_MAX;
    if (!is_index || is_spelled_here(split, indices_seen))
        sp_text_puts(&split->pattern, sp_listed_word(&layout->listed, example, &split->marked, word));
    else
        append_index(layout, split, &layout->listed.items[split->marked.words[word].place],
                     split->marked.words[word].item, place);
}

/* Splits a name into its pattern and its indices: "h.3.attn.w" gives "h.{}.attn.w" and 3. Numbers that are no indices
 * stay in the pattern, as do those of split->spelled. */
static void split_name(struct sp_layout *layout, struct split *split, const char *name, size_t example)
{
    size_t next = 0, word = 0, indices_seen = 0;
    bool fronted;
    split->example = example;
    split->raw.length = split->pattern.length = 0;
    split->numbers.count = split->indices.count = 0;
    sp_text_puts(&split->raw, ""); /* empty strings, not NULL */
    sp_text_puts(&split->pattern, "");
    split->pattern.data[0] = '\0';
    name = sp_front_taken(&layout->fronts, example, name, &fronted);
    if (fronted) sp_text_append(&split->pattern, &(char){SP_FRONT_MARK}, 1);
    sp_listed_mark(&layout->listed, example, name, &split->marked);
    sp_name_split(&split->raw, split->marked.text.data, SP_INDEX_ANYWHERE, &split->numbers);
    for (const char *c = split->raw.data; *c; c++) {
        if (*c == SP_INDEX_MARK) append_number(layout, split, c, split->numbers.value[next++], &indices_seen);
        else if (*c == SP_WORD_MARK) append_word(layout, split, example, word++, &indices_seen);
        else sp_text_append(&split->pattern, c, 1);
    }
}

/* The key of a row: tensors with the same pattern and another rank are another row. */
static const char *key_of_row(struct sp_layout *layout, const char *pattern, uint32_t rank)
{
    const size_t known = sp_map_get(&layout->row_names, pattern);
    if (known == SIZE_MAX || layout->rows.items[known].rank == rank) return pattern;
    return sp_arena_printf(&layout->arena, "%s\xff%u", pattern, rank);
}

/* The row of the name that was split, added if it is new. */
static size_t row_with_pattern(struct sp_layout *layout, const struct split *split, uint32_t rank)
{
    const char *key = key_of_row(layout, split->pattern.data, rank);
    const size_t known = sp_map_get(&layout->row_names, key);
    if (known != SIZE_MAX) return known;
    struct sp_tensor_row row = {.key = sp_arena_string(&layout->arena, key),
                                .pattern = sp_arena_string(&layout->arena, split->pattern.data),
                                .whole = sp_arena_string(&layout->arena, split->whole.data),
                                .index_count = split->indices.count,
                                .rank = rank,
                                .tied_to = SHAPEPROOF_NONE};
    memcpy(row.stems, split->stems, sizeof row.stems);
    memcpy(row.numbers, split->counted, sizeof row.numbers);
    sp_map_add(&layout->row_names, row.key, layout->rows.count);
    *SP_PUSH(&layout->rows) = row;
    return layout->rows.count - 1;
}

/* Links a new row behind the one that it follows in its file; SHAPEPROOF_NONE: at the beginning. */
static void put_behind(struct sp_layout *layout, size_t row, size_t previous)
{
    struct sp_tensor_row *rows = layout->rows.items;
    size_t *next = previous == SHAPEPROOF_NONE ? &layout->first_row : &rows[previous].next;
    rows[row].next = *next;
    *next = row;
}

/* Puts a tensor into the row with its pattern and rank; a new row comes behind the row `previous`. Returns the row,
 * which is that of the next tensor's `previous`. A tensor of optimizer state is left out, and `previous` is returned.
 * If the layout spells out indices in this row, the name is split a second time without them. */
static size_t add_tensor_to_layout(struct sp_layout *layout, struct split *split, size_t example,
                                   const struct shapeproof_tensor *tensor, size_t previous)
{
    if (tensor->flags & SHAPEPROOF_TENSOR_STATE) return previous;
    struct sp_row_tensor occurrence = {.point = {.example = example}, .tensor = tensor};
    split->spelled = 0;
    split_name(layout, split, tensor->name, example);
    const size_t spelled = sp_map_get(&layout->spelled_rows, split->pattern.data);
    split->whole.length = 0;
    sp_text_puts(&split->whole, split->pattern.data);
    if (spelled != SIZE_MAX) {
        split->spelled = (unsigned)spelled;
        split_name(layout, split, tensor->name, example);
    }
    memcpy(occurrence.point.index, split->indices.value, split->indices.count * sizeof(uint64_t));
    const size_t known = layout->rows.count, row = row_with_pattern(layout, split, tensor->rank);
    if (row == known) put_behind(layout, row, previous);
    *SP_PUSH(&layout->rows.items[row].places) = occurrence;
    return row;
}

static void add_example_to_layout(struct sp_layout *layout, struct split *split, size_t example)
{
    const struct shapeproof_inventory *inventory = layout->evidence->examples[example].inventory;
    size_t previous = SHAPEPROOF_NONE;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        previous = add_tensor_to_layout(layout, split, example, shapeproof_inventory_tensor(inventory, i), previous);
}

/* Sorts the rows by the links: in the order of the files, as far as they agree. */
static void sort_rows(struct sp_layout *layout)
{
    struct sp_tensor_row *sorted = sp_realloc(NULL, layout->rows.count + 1, sizeof *sorted);
    size_t count = 0;
    for (size_t i = layout->first_row; i != SHAPEPROOF_NONE; i = layout->rows.items[i].next)
        sorted[count++] = layout->rows.items[i];
    if (count) memcpy(layout->rows.items, sorted, count * sizeof *sorted);
    for (size_t i = 0; i < count; i++) sp_map_set(&layout->row_names, sorted[i].key, i);
    sp_free(sorted);
}

static int compare_occurrences(const void *left, const void *right)
{
    const struct sp_row_tensor *a = left, *b = right;
    return sp_compare_points(&a->point, &b->point);
}

static void clear_layout(struct sp_layout *layout)
{
    for (size_t i = 0; i < layout->rows.count; i++) sp_free(layout->rows.items[i].places.items);
    layout->rows.count = layout->stems.count = 0;
    layout->first_row = SHAPEPROOF_NONE;
    sp_map_free(&layout->row_names);
    sp_map_free(&layout->stem_names);
    sp_arena_free(&layout->arena);
    layout->row_names = layout->stem_names = (struct sp_map){0};
    layout->arena = (struct sp_arena){0};
}

void sp_layout_make(struct sp_layout *layout)
{
    struct split split = {0};
    clear_layout(layout);
    for (size_t e = 0; e < layout->evidence->count; e++) add_example_to_layout(layout, &split, e);
    sort_rows(layout);
    for (size_t i = 0; i < layout->rows.count; i++) {
        struct sp_tensor_row *row = &layout->rows.items[i];
        qsort(row->places.items, row->places.count, sizeof *row->places.items, compare_occurrences);
    }
    sp_text_free(&split.marked.text);
    sp_text_free(&split.raw);
    sp_text_free(&split.pattern);
    sp_text_free(&split.whole);
}

/* ---- decisions ---- */

void sp_layout_spell_stem(struct sp_layout *layout, const struct sp_stem *stem)
{
    sp_map_add(&layout->spelled, sp_arena_string(layout->evidence->arena, stem->text), 0);
}

void sp_layout_set_step(struct sp_layout *layout, const struct sp_stem *stem, uint64_t step, uint64_t offset)
{
    const char *text = sp_arena_string(layout->evidence->arena, stem->text);
    if (step < STEP_UNIT && offset < STEP_UNIT) sp_map_add(&layout->steps, text, (size_t)(step * STEP_UNIT + offset));
}

bool sp_layout_divide_stem(struct sp_layout *layout, size_t stem, enum sp_divide which)
{
    struct sp_division division;
    const char *text = layout->stems.items[stem].text;
    const size_t length = strlen(text);
    if (length && text[length - 1] >= SP_FIRST_PLACE && text[length - 1] <= SP_LAST_PLACE) return false;
    if (layout->stems.items[stem].step != 1 || !find_division(layout, stem, which, &division)) return false;
    sp_map_add(&layout->divided, sp_arena_string(layout->evidence->arena, text), layout->divisions.count);
    *SP_PUSH(&layout->divisions) = division;
    return true;
}

void sp_layout_spell_row(struct sp_layout *layout, const struct sp_tensor_row *row, size_t index)
{
    const char *whole = sp_arena_string(layout->evidence->arena, row->whole);
    const size_t known = sp_map_get(&layout->spelled_rows, whole);
    sp_map_set(&layout->spelled_rows, whole, (known == SIZE_MAX ? 0 : known) | (size_t)1 << row->numbers[index]);
}

void sp_layout_free(struct sp_layout *layout)
{
    clear_layout(layout);
    sp_free(layout->rows.items);
    sp_free(layout->stems.items);
    sp_free(layout->listed.items);
    sp_fronts_free(&layout->fronts);
    sp_map_free(&layout->spelled);
    sp_map_free(&layout->counted);
    sp_map_free(&layout->steps);
    sp_map_free(&layout->divided);
    sp_free(layout->divisions.items);
    sp_map_free(&layout->spelled_rows);
}

bool sp_row_is_in(const struct sp_tensor_row *row, size_t example)
{
    for (size_t i = 0; i < row->places.count; i++)
        if (row->places.items[i].point.example == example) return true;
    return false;
}

/* ---- every expression of the table ---- */

static bool is_row_of_table(const struct sp_tensor_row *row) { return row->is_solved && !row->is_inner; }

/* Whether the loop is written: false if all rows below it are predicted by other tables. */
static bool is_stem_of_table(const struct sp_layout *layout, size_t stem)
{
    bool inner = false;
    for (size_t r = 0; r < layout->rows.count; r++)
        for (size_t i = 0; i < layout->rows.items[r].index_count; i++) {
            if (layout->rows.items[r].stems[i] != stem) continue;
            if (!layout->rows.items[r].is_inner) return true;
            inner = true;
        }
    return !inner;
}

static void visit_row_dimensions(const struct sp_tensor_row *row, sp_visit_answer *visit, void *context)
{
    for (uint32_t d = 0; d < row->rank; d++)
        visit(context, &row->dims[d], (struct sp_asked){.pattern = row->pattern, .dimension = (int)d});
}

static void visit_row_answers(const struct sp_tensor_row *row, sp_visit_answer *visit, void *context)
{
    const struct sp_asked whether = {.pattern = row->pattern, .dimension = SP_WHETHER_OR_HOW_MANY};
    visit_row_dimensions(row, visit, context);
    if (row->where.term) visit(context, &row->where, whether);
    if (row->tied_when.term) visit(context, &row->tied_when, whether);
}

void sp_layout_dimensions(const struct sp_layout *layout, sp_visit_answer *visit, void *context)
{
    for (size_t i = 0; i < layout->rows.count; i++)
        if (is_row_of_table(&layout->rows.items[i])) visit_row_dimensions(&layout->rows.items[i], visit, context);
}

void sp_layout_answers(const struct sp_layout *layout, sp_visit_answer *visit, void *context)
{
    for (size_t i = 0; i < layout->rows.count; i++)
        if (is_row_of_table(&layout->rows.items[i])) visit_row_answers(&layout->rows.items[i], visit, context);
    if (layout->fronted.term)
        visit(context, &layout->fronted,
              (struct sp_asked){.pattern = (const char[]){SP_FRONT_MARK, '\0'},
                                .is_loop = true,
                                .dimension = SP_WHETHER_OR_HOW_MANY});
    for (size_t i = 0; i < layout->stems.count; i++) {
        const struct sp_stem *stem = &layout->stems.items[i];
        const struct sp_asked iterations = {
            .pattern = stem->text, .is_loop = true, .dimension = SP_WHETHER_OR_HOW_MANY};
        if (!stem->is_solved || !is_stem_of_table(layout, i)) continue;
        visit(context, &stem->first, iterations);
        visit(context, &stem->count, iterations);
        if (stem->when.term) visit(context, &stem->when, iterations);
    }
}

/* ---- what a stem's index is ---- */

int sp_compare_points(const struct sp_point *a, const struct sp_point *b)
{
    if (a->example != b->example) return sp_order(a->example, b->example);
    for (size_t i = 0; i < SP_MAX_INDICES; i++)
        if (a->index[i] != b->index[i]) return sp_order(a->index[i], b->index[i]);
    return 0;
}

static int compare_stem_values(const void *left, const void *right)
{
    const struct sp_stem_value *a = left, *b = right;
    const int order = sp_compare_points(&a->outer, &b->outer);
    return order ? order : sp_order(a->value, b->value);
}

static bool is_below_stem(const struct sp_tensor_row *row, size_t stem, size_t depth)
{
    return row->index_count > depth && row->stems[depth] == stem;
}

static struct sp_stem_value value_at_place(const struct sp_row_tensor *place, size_t depth)
{
    struct sp_stem_value value = {.outer = {.example = place->point.example}, .value = place->point.index[depth]};
    memcpy(value.outer.index, place->point.index, depth * sizeof *value.outer.index);
    return value;
}

size_t sp_stem_values(const struct sp_layout *layout, size_t stem, struct sp_stem_value **values)
{
    const size_t depth = layout->stems.items[stem].depth;
    SP_ARRAY(struct sp_stem_value) list = {0};
    sp_budget_spend(layout->rows.count);
    for (size_t r = 0; r < layout->rows.count; r++) {
        const struct sp_tensor_row *row = &layout->rows.items[r];
        if (!is_below_stem(row, stem, depth)) continue;
        for (size_t i = 0; i < row->places.count; i++) *SP_PUSH(&list) = value_at_place(&row->places.items[i], depth);
    }
    if (list.count) qsort(list.items, list.count, sizeof *list.items, compare_stem_values);
    size_t kept = 0;
    for (size_t i = 0; i < list.count; i++)
        if (!kept || compare_stem_values(&list.items[kept - 1], &list.items[i]) != 0)
            list.items[kept++] = list.items[i];
    *values = list.items;
    return kept;
}
