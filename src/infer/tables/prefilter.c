/* SPDX-License-Identifier: MIT */
#include "infer/tables/prefilter.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "infer/infer.h"
#include "infer/limits.h"
#include "names/components.h"

/* ---- ends ---- */

/* A pattern that has an end, and the next one, as an index of the same list. */
struct sp_listed_pattern {
    size_t pattern, next;
};

/* The last components of a pattern of so many, since no table has names of more: one of thousands takes no square. */
static const char *last_components(const char *pattern)
{
    const char *begins[SP_MOST_ENDS] = {pattern};
    size_t count = 0;
    for (; pattern && *pattern; pattern = sp_behind_component(pattern, SP_ENDS))
        begins[count++ % SP_MOST_ENDS] = pattern;
    return begins[count < SP_MOST_ENDS ? 0 : count % SP_MOST_ENDS];
}

static void add_ends(struct sp_ends *ends, const char *pattern, size_t number)
{
    for (pattern = last_components(pattern); pattern && *pattern; pattern = sp_behind_component(pattern, SP_ENDS)) {
        const size_t first = sp_map_get(&ends->map, pattern);
        SP_GROW(ends->list, ends->count, ends->capacity);
        ends->list[ends->count].pattern = number;
        ends->list[ends->count].next = first;
        sp_map_set(&ends->map, pattern, ends->count++);
    }
}

bool sp_ends_cover(const struct sp_ends *ends, const char *name, bool *covered, size_t count)
{
    size_t i = sp_map_get(&ends->map, name);
    const bool found = i != SIZE_MAX;
    for (; i != SIZE_MAX; i = ends->list[i].next)
        if (ends->list[i].pattern < count) covered[ends->list[i].pattern] = true;
    return found;
}

/* The last two components; NULL when there is one. */
static const char *last_two(const char *name)
{
    const char *two = NULL;
    for (const char *rest; (rest = sp_behind_component(name, SP_ENDS)) && *rest; name = rest) two = name;
    return two;
}

/* Whether it holds an expression that may be a text: it says so, or has letters beside it. */
static bool is_vague(const char *end)
{
    if (strchr(end, (unsigned char)SP_TEXT_MARK)) return true;
    for (const char *p = end; *p; p++)
        if (*p == SP_INDEX_MARK && ((p > end && !strchr(SP_ENDS, p[-1])) || (p[1] && !strchr(SP_ENDS, p[1]))))
            return true;
    return false;
}

/* ---- rows ---- */

static void add_end(struct sp_prefilter *prefilter, struct sp_prefiltered *of, const char *end, bool optional)
{
    const bool found = sp_ends_cover(&prefilter->ends, end, of->covered, prefilter->patterns);
    if (!found && is_vague(end)) of->vague++;
    else if (optional) of->lacking += !found;
    else {
        of->rows++;
        of->found += found;
    }
}

static void add_name(struct sp_prefilter *prefilter, struct sp_prefiltered *of, const char *name, bool optional)
{
    const char *two = last_two(name);
    if (two) {
        add_end(prefilter, of, two, optional);
        return;
    }
    SP_GROW(of->singles, of->single_count, of->single_capacity);
    of->singles[of->single_count++] = (struct sp_single){name, optional};
}

static void add_counts(struct sp_prefiltered *of, const struct sp_prefiltered *inner)
{
    of->rows += inner->rows;
    of->found += inner->found;
    of->vague += inner->vague;
    of->lacking += inner->lacking;
}

/* Names of one component end behind what is in front of them here: "c_attn." and "weight". */
static void add_singles(struct sp_prefilter *prefilter, struct sp_prefiltered *of, const struct sp_prefiltered *inner,
                        const char *front, bool optional)
{
    for (size_t i = 0; i < inner->single_count; i++)
        add_name(prefilter, of, sp_arena_printf(&prefilter->arena, "%s%s", front, inner->singles[i].name),
                 optional || inner->singles[i].optional);
}

/* Of alternatives the one that the file has most of counts. */
struct alternative {
    const struct sp_prefiltered *best;
};

static void add_use(struct sp_prefilter *prefilter, struct sp_prefiltered *of, const struct sp_indexed_row *use,
                    const char *front, struct alternative *alternative)
{
    const bool optional = use->flags & SP_INDEXED_OPTIONAL;
    if (use->unit == SP_INDEXED_NONE) return;
    const struct sp_prefiltered *inner = sp_prefilter_unit(prefilter, use->unit);
    if (inner->busy) return;
    for (size_t i = 0; i < prefilter->patterns; i++) of->covered[i] |= inner->covered[i];
    if (use->flags & SP_INDEXED_ALTERNATIVE) {
        if (!alternative->best || inner->found > alternative->best->found) alternative->best = inner;
        of->lacking += inner->rows + inner->lacking;
    } else if (!optional) add_counts(of, inner);
    add_singles(prefilter, of, inner, front, optional);
}

static void end_section(struct sp_prefiltered *of, struct alternative *alternative)
{
    if (alternative->best) add_counts(of, alternative->best);
    alternative->best = NULL;
}

/* ---- units ---- */

/* A unit as it is indexed, with its rows and their texts. */
struct indexed {
    struct sp_indexed_unit unit;
    const struct sp_indexed_row *rows;
    const char *text;
};

/* Those whose place is not in the index of the built-in ones. */
static void index_others(struct sp_prefilter *prefilter)
{
    const size_t count = sp_tables_place_count(prefilter->tables) - sp_builtin_index_count;
    prefilter->others = sp_arena_array(&prefilter->arena, count + 1, sizeof *prefilter->others);
    for (size_t i = 0; i < count; i++) {
        const struct sp_unit *unit = sp_tables_at(prefilter->tables, sp_builtin_index_count + i);
        prefilter->others[i] = unit ? sp_table_index_add(&prefilter->own, prefilter->tables, unit)
                                    : (struct sp_indexed_unit){.needs_arguments = true}; /* it has a mistake */
    }
}

static struct indexed find_indexed(struct sp_prefilter *prefilter, size_t place)
{
    if (place < sp_builtin_index_count)
        return (struct indexed){sp_builtin_index_units[place], sp_builtin_index_rows, sp_builtin_index_text};
    if (!prefilter->others) index_others(prefilter);
    return (struct indexed){prefilter->others[place - sp_builtin_index_count], prefilter->own.rows.items,
                            prefilter->own.text.data};
}

static void add_rows(struct sp_prefilter *prefilter, struct sp_prefiltered *of, const struct indexed *indexed)
{
    struct alternative alternative = {NULL};
    for (size_t i = 0; i < indexed->unit.count; i++) {
        const struct sp_indexed_row *row = &indexed->rows[indexed->unit.first + i];
        const char *name = indexed->text + row->name;
        if (row->flags & SP_INDEXED_SECTION) end_section(of, &alternative);
        of->is_choice &= (row->flags & SP_INDEXED_ALTERNATIVE) != 0;
        if (row->flags & SP_INDEXED_USE) add_use(prefilter, of, row, name, &alternative);
        else add_name(prefilter, of, name, row->flags & SP_INDEXED_OPTIONAL);
    }
    end_section(of, &alternative);
}

struct sp_prefiltered *sp_prefilter_unit(struct sp_prefilter *prefilter, size_t place)
{
    if (!prefilter->prefiltered)
        prefilter->prefiltered =
            sp_arena_array(&prefilter->arena, sp_tables_place_count(prefilter->tables), sizeof *prefilter->prefiltered);
    if (prefilter->prefiltered[place]) return prefilter->prefiltered[place];
    const struct indexed indexed = find_indexed(prefilter, place);
    struct sp_prefiltered *of = sp_arena_alloc(&prefilter->arena, sizeof *of);
    *of = (struct sp_prefiltered){.covered = sp_arena_array(&prefilter->arena, prefilter->patterns, sizeof(bool)),
                                  .is_choice = indexed.unit.count > 0,
                                  .needs_arguments = indexed.unit.needs_arguments,
                                  .busy = true};
    prefilter->prefiltered[place] = of;
    add_rows(prefilter, of, &indexed);
    of->busy = false;
    return of;
}

bool sp_prefilter_table(struct sp_prefilter *prefilter, size_t place, struct sp_ranked *ranked)
{
    struct sp_prefiltered of = *sp_prefilter_unit(prefilter, place);
    bool *covered = sp_arena_array(&prefilter->arena, prefilter->patterns, sizeof *covered);
    if (prefilter->patterns) memcpy(covered, of.covered, prefilter->patterns * sizeof *covered);
    of.covered = covered;
    for (size_t i = 0; i < of.single_count; i++) add_end(prefilter, &of, of.singles[i].name, of.singles[i].optional);
    *ranked = (struct sp_ranked){.place = place, .uncovered = of.rows - of.found, .conditional = of.lacking};
    for (size_t i = 0; i < prefilter->patterns; i++) ranked->covered += covered[i];
    const size_t others =
        prefilter->patterns - ranked->covered; /* names that cannot be told may be any of the others */
    ranked->likely = ranked->covered + (of.vague < others ? of.vague : others);
    return of.vague <= of.rows || of.found * 2 < of.rows;
}

static bool keeps_use(void *context, const struct sp_row *use)
{
    struct sp_prefilter *prefilter = context;
    const size_t place = sp_row_is_alternative(use) ? sp_tables_place_of(prefilter->tables, use->unit) : SIZE_MAX;
    if (place == SIZE_MAX) return true;
    const struct sp_prefiltered *inner = sp_prefilter_unit(prefilter, place);
    return inner->is_choice || inner->found * 20 >= inner->rows * 17;
}

struct sp_prefilter *sp_prefilter_new(const struct shapeproof_tables *tables, const struct sp_patterns *patterns)
{
    struct sp_prefilter *prefilter = sp_realloc(NULL, 1, sizeof *prefilter);
    *prefilter = (struct sp_prefilter){
        .tables = tables, .patterns = patterns->count < SP_MOST_PATTERNS ? patterns->count : SP_MOST_PATTERNS};
    prefilter->filter = (struct sp_use_filter){keeps_use, prefilter};
    for (size_t i = 0; i < patterns->count; i++) add_ends(&prefilter->ends, sp_pattern_text(patterns, i), i);
    return prefilter;
}

void sp_prefilter_free(struct sp_prefilter *prefilter)
{
    if (!prefilter) return;
    const size_t places = prefilter->prefiltered ? sp_tables_place_count(prefilter->tables) : 0;
    for (size_t i = 0; i < places; i++)
        if (prefilter->prefiltered[i]) sp_free(prefilter->prefiltered[i]->singles);
    sp_table_index_free(&prefilter->own);
    sp_free(prefilter->ends.list);
    sp_map_free(&prefilter->ends.map);
    sp_arena_free(&prefilter->arena);
    sp_free(prefilter);
}
