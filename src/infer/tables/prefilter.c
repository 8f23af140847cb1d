/* SPDX-License-Identifier: MIT */
#include "infer/tables/prefilter.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "infer/infer.h"
#include "names/components.h"

enum { MOST_PATTERNS = 1000, MOST_ENDS = 24 };

/* ---- ends ---- */

/* A pattern that has an end, and the next one, as an index of the same list. */
struct sp_listed_pattern {
    size_t pattern, next;
};

/* The last components of a pattern of so many, since no table has names of more: one of thousands takes no square. */
static const char *last_components(const char *pattern)
{
    const char *begins[MOST_ENDS] = {pattern};
    size_t count = 0;
    for (; pattern && *pattern; pattern = sp_behind_component(pattern, SP_ENDS)) begins[count++ % MOST_ENDS] = pattern;
    return begins[count < MOST_ENDS ? 0 : count % MOST_ENDS];
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

/* ---- names without expressions ---- */

/* Whether an expression may be a text, as far as it says so itself. */
static bool may_be_text(const struct sp_unit *unit, const struct sp_expr *expr, unsigned depth)
{
    enum { MAX_DEPTH = 8 };
    if (depth == MAX_DEPTH) return false;
    if (expr->kind == SP_EXPR_LITERAL) return expr->value.type == SHAPEPROOF_VALUE_STRING;
    if (expr->kind == SP_EXPR_NAME || expr->kind == SP_EXPR_CALL) {
        const struct sp_meaning meaning = sp_meaning_at(unit, expr);
        return meaning.kind == SP_MEANS_DEFINITION && may_be_text(unit, meaning.definition->expr, depth + 1);
    }
    if (expr->kind == SP_EXPR_UNARY || (expr->kind == SP_EXPR_BINARY && expr->op != SP_OP_ADD)) return false;
    const size_t end = expr->kind == SP_EXPR_INDEX || expr->kind == SP_EXPR_MEMBER ? 1 : expr->count;
    for (size_t i = expr->kind == SP_EXPR_CHOICE; i < end; i++)
        if (may_be_text(unit, expr->args[i], depth + 1)) return true;
    return false;
}

/* A name with a mark for each number and each expression. An expression at its beginning is what is in front of all
 * names of a class, and left out. */
static const char *rough_name(struct sp_prefilter *prefilter, const struct sp_unit *unit,
                              const struct sp_template *name)
{
    const char number = SP_INDEX_MARK, any = SP_TEXT_MARK;
    struct sp_text text = {0};
    struct sp_indices indices = {.count = 0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < name->count; i++) {
        const char *next = i + 1 < name->count ? name->pieces[i + 1].text : NULL;
        if (name->pieces[i].text) sp_name_split(&text, name->pieces[i].text, SP_INDEX_ANYWHERE, &indices);
        else if (i > 0 || (next && strchr(SP_ENDS, *next)))
            sp_text_append(&text, may_be_text(unit, name->pieces[i].hole, 0) ? &any : &number, 1);
    }
    return sp_text_keep(&text, &prefilter->arena);
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

static void add_tensor(struct sp_prefilter *prefilter, struct sp_prefiltered *of, const struct sp_row *row,
                       bool optional)
{
    optional |= row->optional || row->has_tie || row->condition;
    add_name(prefilter, of, rough_name(prefilter, of->unit, &row->name), optional);
    for (size_t i = 0; i < row->old_count; i++)
        add_name(prefilter, of, rough_name(prefilter, of->unit, &row->olds[i]), true);
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
                        const struct sp_row *use, bool optional)
{
    const char *front = rough_name(prefilter, of->unit, &use->name);
    const size_t length = strlen(front);
    const size_t last = sp_last_component(front, length ? length - 1 : 0, SP_ENDS);
    for (size_t i = 0; i < inner->single_count; i++)
        add_name(prefilter, of, sp_arena_printf(&prefilter->arena, "%s%s", front + last, inner->singles[i].name),
                 optional || inner->singles[i].optional);
}

/* Of alternatives the one that the file has most of counts. */
struct alternative {
    const struct sp_prefiltered *best;
};

static void add_use(struct sp_prefilter *prefilter, struct sp_prefiltered *of, const struct sp_row *use, bool optional,
                    struct alternative *alternative)
{
    const struct sp_prefiltered *inner = sp_prefilter_unit(prefilter, use->unit);
    if (inner->busy) return;
    optional |= use->optional;
    for (size_t i = 0; i < prefilter->patterns; i++) of->covered[i] |= inner->covered[i];
    if (sp_row_is_alternative(use)) {
        if (!alternative->best || inner->found > alternative->best->found) alternative->best = inner;
        of->lacking += inner->rows + inner->lacking;
    } else if (!optional && !use->condition) add_counts(of, inner);
    add_singles(prefilter, of, inner, use, optional || use->condition);
}

static bool is_conditional(const struct sp_section *section)
{
    for (size_t i = 0; i < section->clause_count; i++)
        if (section->clauses[i].kind == SP_CLAUSE_IF) return true;
    return false;
}

static void add_section(struct sp_prefilter *prefilter, struct sp_prefiltered *of, const struct sp_section *section)
{
    struct alternative alternative = {NULL};
    const bool optional = is_conditional(section);
    for (size_t i = 0; i < section->row_count; i++) {
        const struct sp_row *row = &section->rows[i];
        if (row->kind == SP_ROW_TENSOR) add_tensor(prefilter, of, row, optional);
        else add_use(prefilter, of, row, optional, &alternative);
    }
    if (alternative.best) add_counts(of, alternative.best);
}

/* ---- units ---- */

struct sp_prefiltered *sp_prefilter_unit(struct sp_prefilter *prefilter, const struct sp_unit *unit)
{
    const size_t known = sp_map_get(&prefilter->units, unit->name);
    if (known != SIZE_MAX) return prefilter->prefiltered[known];
    struct sp_prefiltered *of = sp_arena_alloc(&prefilter->arena, sizeof *of);
    *of = (struct sp_prefiltered){
        .unit = unit, .covered = sp_arena_array(&prefilter->arena, prefilter->patterns, sizeof(bool)), .busy = true};
    SP_GROW(prefilter->prefiltered, prefilter->count, prefilter->capacity);
    prefilter->prefiltered[prefilter->count] = of;
    sp_map_add(&prefilter->units, unit->name, prefilter->count++);
    for (size_t i = 0; i < unit->section_count; i++) add_section(prefilter, of, &unit->sections[i]);
    of->busy = false;
    return of;
}

bool sp_prefilter_table(struct sp_prefilter *prefilter, const struct sp_unit *table, struct sp_ranked *ranked)
{
    struct sp_prefiltered of = *sp_prefilter_unit(prefilter, table);
    bool *covered = sp_arena_array(&prefilter->arena, prefilter->patterns, sizeof *covered);
    if (prefilter->patterns) memcpy(covered, of.covered, prefilter->patterns * sizeof *covered);
    of.covered = covered;
    for (size_t i = 0; i < of.single_count; i++) add_end(prefilter, &of, of.singles[i].name, of.singles[i].optional);
    *ranked = (struct sp_ranked){.table = table, .uncovered = of.rows - of.found, .conditional = of.lacking};
    for (size_t i = 0; i < prefilter->patterns; i++) ranked->covered += covered[i];
    const size_t others =
        prefilter->patterns - ranked->covered; /* names that cannot be told may be any of the others */
    ranked->likely = ranked->covered + (of.vague < others ? of.vague : others);
    return of.vague <= of.rows || of.found * 2 < of.rows;
}

static bool keeps_use(void *context, const struct sp_row *use)
{
    if (!sp_row_is_alternative(use)) return true;
    const struct sp_prefiltered *inner = sp_prefilter_unit(context, use->unit);
    return inner->found * 20 >= inner->rows * 17;
}

struct sp_prefilter *sp_prefilter_new(const struct sp_patterns *patterns)
{
    struct sp_prefilter *prefilter = sp_realloc(NULL, 1, sizeof *prefilter);
    *prefilter = (struct sp_prefilter){.patterns = patterns->count < MOST_PATTERNS ? patterns->count : MOST_PATTERNS};
    prefilter->filter = (struct sp_use_filter){keeps_use, prefilter};
    for (size_t i = 0; i < patterns->count; i++) add_ends(&prefilter->ends, sp_pattern_text(patterns, i), i);
    return prefilter;
}

void sp_prefilter_free(struct sp_prefilter *prefilter)
{
    if (!prefilter) return;
    for (size_t i = 0; i < prefilter->count; i++) free(prefilter->prefiltered[i]->singles);
    free(prefilter->prefiltered);
    free(prefilter->ends.list);
    sp_map_free(&prefilter->ends.map);
    sp_map_free(&prefilter->units);
    sp_arena_free(&prefilter->arena);
    free(prefilter);
}
