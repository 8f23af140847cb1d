/* SPDX-License-Identifier: MIT */
#include "infer/fit.h"

#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"

/* ---- one class ---- */

/* Whether the tensors must be there, as far as is known. A loop that none of its tensors shows may have no turns. */
static bool is_expected(struct sp_outline *outline, const struct sp_line *line, const bool *turns)
{
    if (line->loop && !turns[line->loop->number]) return false;
    for (const struct sp_proviso *proviso = line->proviso; proviso; proviso = proviso->outer) {
        struct sp_value value;
        if (!sp_solver_eval(&outline->solver, proviso->env, proviso->expr, &value) || value.type == SP_UNKNOWN)
            return false;
    }
    return true;
}

static struct sp_fit fit_of(const struct sp_unit *table, const char *class, const struct sp_shapes *shapes)
{
    struct sp_fit fit = {.table = table, .class = class};
    struct sp_outline outline;
    struct sp_sightings sights;
    sp_outline_init(&outline, table, class);
    sp_sightings_init(&sights, &outline, shapes);
    bool *turns = sp_arena_array(&outline.solver.arena, outline.loop_count, sizeof *turns);
    for (size_t i = 0; i < outline.count; i++)
        if (sights.of[i].count && outline.lines[i].loop) turns[outline.lines[i].loop->number] = true;
    for (size_t i = 0; i < outline.count; i++) {
        const struct sp_line *line = &outline.lines[i];
        if (sights.of[i].count || line->optional || line->old_of != SIZE_MAX) continue;
        if (line->row->has_tie) fit.tied++;
        else if (is_expected(&outline, line, turns)) fit.missing++;
        else fit.absent++;
    }
    fit.seen = sights.seen;
    sp_sightings_free(&sights);
    sp_outline_free(&outline);
    return fit;
}

bool sp_fit_is_better(struct sp_fit a, struct sp_fit b)
{
    if (a.seen != b.seen) return a.seen > b.seen;
    if (a.missing != b.missing) return a.missing < b.missing;
    return a.absent != b.absent ? a.absent < b.absent : a.tied > b.tied; /* a head is more usual than none */
}

struct sp_fit sp_fit_table(struct sp_arena *arena, const struct sp_unit *table, const struct sp_shapes *shapes)
{
    size_t count;
    const char **classes = sp_classes_of(arena, table, &count);
    struct sp_fit best = fit_of(table, classes[0], shapes);
    for (size_t i = 1; i < count; i++) {
        const struct sp_fit fit = fit_of(table, classes[i], shapes);
        if (sp_fit_is_better(fit, best)) best = fit;
    }
    return best;
}

/* ---- names with something in front, or without what should be there ---- */

enum { MAX_PREFIXES = 12, MAX_COMPONENTS = 3, SAMPLE = 64, MANY = 2000 };

struct prefixes {
    struct sp_arena *arena;
    const char *list[MAX_PREFIXES];
    size_t count;
};

static void add_prefixes(struct prefixes *prefixes, const char *name)
{
    size_t components = 0;
    for (size_t i = 0; name[i] && components < MAX_COMPONENTS && name[i] != SP_INDEX_MARK; i++) {
        if (name[i] != '.' && name[i] != ':') continue;
        const char *prefix = sp_arena_copy(prefixes->arena, name, i + 1);
        bool known = false;
        for (size_t k = 0; k < prefixes->count; k++) known = known || strcmp(prefixes->list[k], prefix) == 0;
        if (!known && prefixes->count < MAX_PREFIXES) prefixes->list[prefixes->count++] = prefix;
        components++;
    }
}

/* What is in front of a few names from all over the file. */
static struct prefixes file_prefixes(struct sp_arena *arena, const struct sp_inventory *inventory)
{
    struct prefixes prefixes = {.arena = arena, .list = {""}, .count = 1};
    const size_t count = sp_inventory_count(inventory), step = count / SAMPLE + 1;
    const struct sp_naming unwrapped = {.strip = "", .add = "", .drop_wrappers = true};
    struct sp_text name = {0};
    for (size_t i = 0; i < count; i += step) {
        name.length = 0;
        sp_naming_apply(&unwrapped, sp_inventory_tensor(inventory, i)->name, &name);
        add_prefixes(&prefixes, name.data);
    }
    sp_text_free(&name);
    return prefixes;
}

static struct prefixes table_prefixes(struct sp_arena *arena, const struct sp_unit *table)
{
    struct prefixes prefixes = {.arena = arena, .list = {""}, .count = 1};
    struct sp_outline outline;
    size_t count;
    sp_outline_init(&outline, table, sp_classes_of(arena, table, &count)[0]);
    for (size_t i = 0; i < outline.count; i++) add_prefixes(&prefixes, outline.lines[i].name);
    sp_outline_free(&outline);
    return prefixes;
}

static size_t seen_under(struct sp_arena *arena, const struct sp_inventory *inventory, const struct sp_unit *table,
                         const struct sp_naming *naming)
{
    struct sp_shapes shapes;
    sp_shapes_init(&shapes, inventory, naming, sp_inventory_count(inventory) / MANY + 1);
    const size_t seen = sp_fit_table(arena, table, &shapes).seen;
    sp_shapes_free(&shapes);
    return seen;
}

struct sp_naming sp_fit_naming(struct sp_arena *arena, const struct sp_inventory *inventory,
                               const struct sp_unit *const *tables, size_t count)
{
    struct sp_naming best = {.strip = "", .add = ""};
    const struct prefixes strips = file_prefixes(arena, inventory);
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const struct prefixes adds = table_prefixes(arena, tables[i]);
        for (size_t s = 0; s < strips.count; s++)
            for (size_t a = 0; a < (s ? 1 : adds.count); a++) {
                const struct sp_naming naming = {.strip = strips.list[s], .add = adds.list[a], .drop_wrappers = true};
                const size_t seen = seen_under(arena, inventory, tables[i], &naming);
                if (seen <= most) continue;
                most = seen;
                best = naming;
            }
    }
    return best;
}
