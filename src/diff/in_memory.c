/* SPDX-License-Identifier: MIT
 * Names on disk and in memory. transformers 5 saves many models under the names of older releases, so that a state_dict
 * has other names than the file of the same model:
 *
 *     on disk    layers.0.block_sparse_moe.experts.{0-7}.w1.weight (48, 32), and as many of .w3.weight
 *     in memory  layers.0.mlp.experts.gate_up_proj (8, 96, 32)
 *
 * The rules by which its classes rename and convert are those of src/load. No configuration says which class it is: the
 * rules of each class are tried on the tensors without a counterpart, and those count that make the most of their names
 * names of the other file. */
#include <stdlib.h>
#include <string.h>

#include "base/natural.h"
#include "base/order.h"
#include "diff/pairing.h"
#include "load/conversion.h"
#include "load/loader.h"
#include "model/layouts.h"
#include "names/components.h"
#include "names/joints.h"

/* One direction: the names of `disk` become those of `memory`. */
struct direction {
    struct shapeproof_diff *diff;
    const struct sp_diff_half *disk, *memory;
    struct sp_arena arena;
    struct sp_map names;      /* of what is in memory without a counterpart -> tensor */
    SP_ARRAY(size_t) samples; /* of disk: the first and the last tensor of each pattern */
    struct sp_loaded best;    /* the class whose rules count */
    size_t known, unknown;    /* names of samples that its rules make: in memory, and not there */
    size_t applied;           /* tensors that they rename, and conversions that they make */
};

/* A tensor on disk that a conversion takes. */
struct source {
    size_t gathered, expression, tensor;
    const char *name;
};

static const struct shapeproof_tensor *tensor_of(const struct sp_diff_half *half, size_t i)
{
    return shapeproof_inventory_tensor(half->inventory, i);
}

/* ---- which class ---- */

static void collect_names(struct direction *d)
{
    for (size_t i = 0; i < shapeproof_inventory_count(d->memory->inventory); i++) {
        if (d->memory->other[i] != SHAPEPROOF_NONE) continue;
        sp_map_add(&d->names, tensor_of(d->memory, i)->name, i);
        sp_map_add(&d->names, d->memory->spelling[i].text, i);
    }
}

/* Adds a tensor, unless its name is longer than any name of a model: each rule of each class looks at all of it. */
static void add_sample(struct direction *d, size_t item)
{
    enum { MOST_BYTES = 1024 };
    if (strlen(tensor_of(d->disk, item)->name) <= MOST_BYTES) *SP_PUSH(&d->samples) = item;
}

/* A model has some dozens of patterns. Of files with more, as of names that are all different, a part is enough. */
static void collect_samples(struct direction *d, const struct sp_sides *sides)
{
    enum { MOST_PATTERNS = 1000 };
    const size_t stride = sides->count / MOST_PATTERNS + 1;
    for (size_t i = 0; i < sides->count; i += stride) {
        const struct sp_side *side = &sides->items[i];
        add_sample(d, side->members[0].item);
        if (side->count > 1) add_sample(d, side->members[side->count - 1].item);
    }
}

/* Counts what the rules of a class make of the samples, and keeps the class if that is better than before. Conversions
 * with a step that is not known are no evidence. */
static void try_class(struct direction *d, const struct sp_loaded *loaded, const struct sp_renaming_rules *rules)
{
    size_t known = 0, unknown = 0;
    for (size_t i = 0; i < d->samples.count; i++) {
        const char *name = tensor_of(d->disk, d->samples.items[i])->name;
        const struct sp_renamed renamed = sp_rename(rules, name);
        if (strcmp(renamed.name, name) == 0 || (renamed.conversion && !sp_rule_is_known(renamed.conversion))) continue;
        if (sp_map_get(&d->names, renamed.name) != SIZE_MAX) known++;
        else unknown++;
    }
    if (known < d->known || (known == d->known && unknown >= d->unknown) || known < unknown) return;
    d->best = *loaded;
    d->known = known;
    d->unknown = unknown;
}

/* The class of each of both directions. Most classes have the mappings of another one: each list of mappings is read
 * and tried once. */
static void find_classes(struct direction ways[2])
{
    struct sp_arena *arena = &ways[0].arena;
    struct sp_map tried = {0};
    struct sp_loaded loaded;
    for (const char *row = NULL; sp_loader_next_class(&sp_loader_transformers, &row, &loaded);) {
        if (!sp_map_add(&tried, sp_arena_printf(arena, "%s\n%s", loaded.base, loaded.mappings), 0)) continue;
        struct sp_arena scratch = {0};
        struct sp_renaming_rules rules = sp_renaming_rules(&scratch, &sp_loader_transformers, &loaded);
        for (size_t i = 0; i < 2; i++) try_class(&ways[i], &loaded, &rules);
        sp_renaming_rules_free(&rules);
        sp_arena_free(&scratch);
    }
    sp_map_free(&tried);
}

/* ---- conversions ---- */

/* One conversion on its way: its sources on disk and its targets in memory. */
struct converting {
    struct direction *d;
    const struct sp_gathered *gathered;
    const struct source *sources;
    size_t count, target_count;
    size_t targets[SP_EXPRESSIONS]; /* tensors in memory; SIZE_MAX: it has none */
};

/* The last component of a name that is not "weight" or "bias", and the one above it: "experts.gate_up_proj". */
static const char *last_components(struct sp_arena *arena, const char *name, bool with_container)
{
    size_t length = strlen(name), begin = sp_last_component(name, length, ".");
    if (begin && (strcmp(name + begin, "weight") == 0 || strcmp(name + begin, "bias") == 0)) {
        length = begin - 1;
        begin = sp_last_component(name, length, ".");
    }
    if (with_container && begin) begin = sp_last_component(name, begin - 1, ".");
    return sp_arena_copy(arena, name + begin, length - begin);
}

static const char *target_name(const struct converting *c, size_t target)
{
    return sp_target_name(&c->d->arena, c->gathered->rule, c->gathered->name, target);
}

/* The items of joints: tensors of A, and behind them those of B. */
static size_t item_of(const struct direction *d, const struct sp_diff_half *half, size_t tensor)
{
    return half->side == SHAPEPROOF_DIFF_A ? tensor : shapeproof_inventory_count(d->diff->a.inventory) + tensor;
}

/* Says what a conversion joins: "experts.gate_up_proj = 8 x (w1 + w3)", "attn.qkv = q_proj + k_proj + v_proj". The rule
 * of transformers has the order of the components. */
static void say_conversion(const struct converting *c, struct sp_joint *joint)
{
    struct sp_arena *arena = &c->d->diff->arena;
    const bool cut = c->target_count > 1;
    const size_t most = cut ? c->target_count : c->count;
    const char **names = sp_arena_array(arena, most, sizeof *names);
    struct sp_text parts = {0};
    size_t columns = 0;
    for (size_t i = 0; i < most; i++) {
        if (!cut && i && c->sources[i].expression == c->sources[i - 1].expression) continue;
        const char *name = last_components(arena, cut ? target_name(c, i) : c->sources[i].name, false);
        sp_text_printf(&parts, "%s%s", columns ? " + " : "", name);
        names[columns++] = name;
    }
    const size_t depth = cut ? 1 : c->count / columns;
    const char *whole = last_components(&c->d->arena, cut ? c->sources->name : c->gathered->name, true);
    joint->names = names;
    joint->head = depth == 1 ? sp_arena_printf(arena, "%s = ", whole)
                             : sp_arena_printf(arena, columns > 1 ? "%s = %zu x (" : "%s = %zu x ", whole, depth);
    joint->tail = depth > 1 && columns > 1 ? ")" : "";
    joint->is_ordered = true;
    joint->says = sp_arena_printf(arena, "%s%s%s", joint->head, sp_text_keep(&parts, arena), joint->tail);
}

static void add_converted_joint(struct converting *c)
{
    struct direction *d = c->d;
    const bool cut = c->target_count > 1;
    const struct sp_diff_half *whole = cut ? d->disk : d->memory, *half = cut ? d->memory : d->disk;
    const size_t tensor = cut ? c->sources->tensor : c->targets[0];
    struct sp_joint joint = {
        .joining = strncmp(c->gathered->rule->how, "stack", 5) == 0 ? SP_OVER_LAST : SP_SIDE_BY_SIDE,
        .transposed = strstr(c->gathered->rule->how, "swap"),
        .part_count = cut ? c->target_count : c->count,
    };
    say_conversion(c, &joint);
    size_t *parts = sp_arena_array(&d->diff->arena, joint.part_count, sizeof *parts);
    for (size_t i = 0; i < joint.part_count; i++)
        parts[i] = item_of(d, half, cut ? c->targets[i] : c->sources[i].tensor);
    joint.mixed = cut || c->sources[0].expression != c->sources[c->count - 1].expression;
    joint.whole = (struct sp_joint_piece){item_of(d, whole, tensor), tensor_of(whole, tensor)->shape,
                                          tensor_of(whole, tensor)->rank};
    joint.parts = parts;
    joint.component_count = cut ? c->target_count : 1;
    for (size_t i = 1; !cut && i < c->count; i++)
        joint.component_count += c->sources[i].expression != c->sources[i - 1].expression;
    size_t *order = sp_arena_array(&d->diff->arena, joint.component_count, sizeof *order);
    for (size_t i = 0; i < joint.component_count; i++) order[i] = i;
    joint.order = order;
    sp_diff_add_joint(d->diff, &joint, whole, half);
}

/* ---- conversions that do not fit ---- */

static void mark_converted(struct converting *c)
{
    for (size_t i = 0; i < c->count; i++) c->d->disk->joined[c->sources[i].tensor] = true;
    for (size_t i = 0; i < c->target_count; i++)
        if (c->targets[i] != SIZE_MAX) c->d->memory->joined[c->targets[i]] = true;
}

/* A finding about a tensor on disk and one in memory, of which one may be SIZE_MAX. */
static void add_conversion_finding(const struct direction *d, size_t on_disk, size_t in_memory,
                                   struct shapeproof_diff_finding finding)
{
    const bool disk_is_a = d->disk->side == SHAPEPROOF_DIFF_A;
    const size_t a = disk_is_a ? on_disk : in_memory, b = disk_is_a ? in_memory : on_disk;
    const char *name = finding.name;
    finding.a = a;
    finding.b = b;
    if (!name) finding.name = a != SHAPEPROOF_NONE ? sp_diff_a(d->diff, a)->name : sp_diff_b(d->diff, b)->name;
    sp_diff_add(d->diff, finding);
}

/* What a source has to be called so that it stands at that place in a stack: the number of another one replaced. */
static const char *name_at(struct direction *d, const char *name, uint64_t index)
{
    struct sp_patterns patterns = {.rule = SP_INDEX_COMPONENT};
    struct sp_indices indices = {0};
    struct sp_text text = {0};
    const size_t pattern = sp_pattern_of(&patterns, name, &indices);
    if (indices.count) indices.value[indices.count - 1] = index;
    sp_pattern_fill(&text, sp_pattern_text(&patterns, pattern), &indices);
    sp_patterns_free(&patterns);
    return sp_text_keep(&text, &d->diff->arena);
}

static uint64_t last_index(const char *name)
{
    struct sp_patterns patterns = {.rule = SP_INDEX_COMPONENT};
    struct sp_indices indices = {0};
    sp_pattern_of(&patterns, name, &indices);
    sp_patterns_free(&patterns);
    return indices.count ? indices.value[indices.count - 1] : 0;
}

/* Reports the sources of one expression that are not there, of as many as the stack in memory has; not of a stack of
 * more than twice as many, whose first dimension may be anything. */
static size_t report_gaps(struct converting *c, const struct source *sources, size_t count, uint64_t depth)
{
    struct direction *d = c->d;
    size_t gaps = 0, next = 0;
    if (depth / 2 > count) return 0;
    for (uint64_t index = 0; index < depth; index++) {
        if (next < count && last_index(sources[next].name) == index) {
            next++;
            continue;
        }
        const enum shapeproof_diff_finding_kind kind =
            d->disk->side == SHAPEPROOF_DIFF_A ? SHAPEPROOF_DIFF_FINDING_ADDED : SHAPEPROOF_DIFF_FINDING_REMOVED;
        add_conversion_finding(
            d, SHAPEPROOF_NONE, c->targets[0],
            (struct shapeproof_diff_finding){
                .kind = kind,
                .name = name_at(d, sources->name, index),
                .message = sp_arena_printf(&d->diff->arena, "is in %s alone, as a part of %s", sp_half_name(d->memory),
                                           tensor_of(d->memory, c->targets[0])->name)});
        gaps++;
    }
    return gaps;
}

/* The source whose shape more than half of them have; NULL when none is. This is the majority vote of Boyer and Moore:
 * each source with another shape than the candidate outweighs one with the same. */
static const struct shapeproof_tensor *usual_source(const struct direction *d, const struct source *sources,
                                                    size_t count)
{
    const struct shapeproof_tensor *candidate = NULL;
    size_t lead = 0, alike = 0;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_tensor *tensor = tensor_of(d->disk, sources[i].tensor);
        if (!lead) candidate = tensor;
        lead = !lead || sp_tensor_same_shape(tensor, candidate) ? lead + 1 : lead - 1;
    }
    for (size_t i = 0; i < count; i++) alike += sp_tensor_same_shape(candidate, tensor_of(d->disk, sources[i].tensor));
    return alike > count / 2 ? candidate : NULL;
}

/* Reports the sources of one expression whose shape is not that of most of them. */
static size_t report_odd_ones(struct converting *c, const struct source *sources, size_t count)
{
    struct direction *d = c->d;
    const struct shapeproof_tensor *usual = usual_source(d, sources, count);
    size_t odd = 0;
    for (size_t i = 0; usual && i < count; i++) {
        const struct shapeproof_tensor *tensor = tensor_of(d->disk, sources[i].tensor);
        if (sp_tensor_same_shape(tensor, usual)) continue;
        add_conversion_finding(
            d, sources[i].tensor, c->targets[0],
            (struct shapeproof_diff_finding){
                .kind = SHAPEPROOF_DIFF_FINDING_SHAPE,
                .name = sources[i].name,
                .message = sp_arena_printf(&d->diff->arena, "%s in %s, the other parts of %s are %s",
                                           sp_found_shape(&d->diff->arena, tensor), sp_half_name(d->disk),
                                           tensor_of(d->memory, c->targets[0])->name,
                                           sp_found_shape(&d->diff->arena, usual))});
        odd++;
    }
    return odd;
}

/* The sources that are stacked or joined do not make the tensor in memory: reports which are missing or odd; otherwise
 * that the whole has another shape. */
static void report_sources(struct converting *c, const struct sp_load_shape *made)
{
    struct direction *d = c->d;
    struct sp_arena *arena = &d->diff->arena;
    const struct shapeproof_tensor *whole = tensor_of(d->memory, c->targets[0]);
    const bool stacked = strncmp(c->gathered->rule->how, "stack0", 6) == 0 && whole->rank;
    size_t reported = 0;
    for (size_t from = 0, to; from < c->count; from = to) {
        for (to = from + 1; to < c->count && c->sources[to].expression == c->sources[from].expression;) to++;
        if (stacked) reported += report_gaps(c, c->sources + from, to - from, whole->shape[0]);
        if (stacked) reported += report_odd_ones(c, c->sources + from, to - from);
    }
    if (reported) return;
    const char *makes = made ? sp_arena_printf(arena, "make %s", sp_shape_text(arena, made->shape, made->rank))
                             : "have shapes that do not fit each other";
    add_conversion_finding(
        d, SHAPEPROOF_NONE, c->targets[0],
        (struct shapeproof_diff_finding){
            .kind = SHAPEPROOF_DIFF_FINDING_SHAPE,
            .message = sp_arena_printf(arena, "%s in %s, its %zu parts in %s %s", sp_found_shape(arena, whole),
                                       sp_half_name(d->memory), c->count, sp_half_name(d->disk), makes)});
}

/* Whether most of the targets are what the tensor on disk is cut into. Otherwise it may be cut in another way: the
 * rules of another class are perhaps those of this model, and q, k and v need not be of one size. */
static bool targets_mostly_fit(const struct converting *c, const struct sp_load_shape *made)
{
    size_t fitting = 0;
    for (size_t i = 0; i < c->target_count; i++) {
        if (c->targets[i] == SIZE_MAX) continue;
        const struct shapeproof_tensor *tensor = tensor_of(c->d->memory, c->targets[i]);
        fitting += sp_same_dims(tensor->shape, tensor->rank, made[i].shape, made[i].rank);
    }
    return 2 * fitting >= c->target_count;
}

/* A tensor on disk is cut into others than memory has: reports which are missing or have another shape. */
static void report_targets(struct converting *c, const struct sp_load_shape *made)
{
    struct direction *d = c->d;
    struct sp_arena *arena = &d->diff->arena;
    const char *whole = c->sources->name, *on_disk = sp_half_name(d->disk), *in_memory = sp_half_name(d->memory);
    const enum shapeproof_diff_finding_kind missing =
        d->disk->side == SHAPEPROOF_DIFF_A ? SHAPEPROOF_DIFF_FINDING_REMOVED : SHAPEPROOF_DIFF_FINDING_ADDED;
    for (size_t i = 0; i < c->target_count; i++) {
        const size_t target = c->targets[i];
        struct shapeproof_diff_finding finding = {.kind = missing};
        if (target == SIZE_MAX) {
            finding.name = sp_arena_string(arena, target_name(c, i));
            finding.message = sp_arena_printf(arena, "is in %s alone, as a part of %s", on_disk, whole);
            add_conversion_finding(d, c->sources->tensor, SHAPEPROOF_NONE, finding);
            continue;
        }
        const struct shapeproof_tensor *tensor = tensor_of(d->memory, target);
        if (sp_same_dims(tensor->shape, tensor->rank, made[i].shape, made[i].rank)) continue;
        finding.kind = SHAPEPROOF_DIFF_FINDING_SHAPE;
        finding.message = sp_arena_printf(arena, "%s in %s, as a part of %s %s in %s", sp_found_shape(arena, tensor),
                                          in_memory, whole, sp_shape_text(arena, made[i].shape, made[i].rank), on_disk);
        add_conversion_finding(d, SHAPEPROOF_NONE, target, finding);
    }
}

/* ---- applying the rules ---- */

/* Gives a tensor on disk the name that it has in memory, under which the later steps pair it. */
static void rename_tensor(struct direction *d, size_t tensor, const char *name, bool turned)
{
    d->applied += sp_map_get(&d->names, name) != SIZE_MAX;
    struct sp_spelling *spelling = &d->disk->spelling[tensor];
    const unsigned habits = spelling->habits | SP_HABIT_SCHEME;
    *spelling = sp_spell(&d->diff->arena, name);
    spelling->habits = habits;
    d->disk->turned[tensor] = turned;
}

/* Whether the shapes of the targets are those that the sources make. */
static bool targets_fit(const struct converting *c, const struct sp_load_shape *made, size_t count)
{
    for (size_t i = 0; i < c->target_count; i++) {
        if (i >= count || c->targets[i] == SIZE_MAX) return false;
        const struct shapeproof_tensor *tensor = tensor_of(c->d->memory, c->targets[i]);
        if (!sp_same_dims(tensor->shape, tensor->rank, made[i].shape, made[i].rank)) return false;
    }
    return true;
}

/* One to one, a name is all that changes, and perhaps the order of the dimensions. What a rule makes in steps that are
 * not known is left to the other ways to find fused tensors (joints.c). */
static void convert_sources(struct converting *c)
{
    const struct sp_rule *rule = c->gathered->rule;
    struct sp_load_shape made[SP_EXPRESSIONS];
    size_t found = 0;
    for (size_t i = 0; i < c->target_count; i++) {
        c->targets[i] = sp_map_get(&c->d->names, target_name(c, i));
        found += c->targets[i] != SIZE_MAX;
    }
    if (c->count == 1 && c->target_count == 1 && strncmp(rule->how, "stack", 5) != 0)
        rename_tensor(c->d, c->sources->tensor, c->gathered->name, strstr(rule->how, "swap"));
    if (!found || (c->count == 1) == (c->target_count == 1)) return;
    if (!sp_rule_is_known(rule)) return;
    const size_t count = sp_convert(c->gathered, made);
    if (targets_fit(c, made, count)) add_converted_joint(c);
    else if (c->target_count == 1) report_sources(c, count ? made : NULL);
    else if (count == c->target_count && targets_mostly_fit(c, made)) report_targets(c, made);
    else return;
    c->d->applied++;
    mark_converted(c);
}

static int compare_sources(const void *left, const void *right)
{
    const struct source *a = left, *b = right;
    if (a->gathered != b->gathered) return sp_order(a->gathered, b->gathered);
    if (a->expression != b->expression) return sp_order(a->expression, b->expression);
    return sp_compare_natural(a->name, b->name);
}

/* Renames what has no counterpart, and joins what the class converts. */
static void apply_class(struct direction *d)
{
    struct sp_renaming_rules rules = sp_renaming_rules(&d->arena, &sp_loader_transformers, &d->best);
    struct sp_gathering gathering = {.arena = &d->arena};
    SP_ARRAY(struct source) sources = {0};
    for (size_t i = 0; i < shapeproof_inventory_count(d->disk->inventory); i++) {
        const struct shapeproof_tensor *tensor = tensor_of(d->disk, i);
        if (d->disk->other[i] != SHAPEPROOF_NONE) continue;
        const struct sp_renamed renamed = sp_rename(&rules, tensor->name);
        if (renamed.conversion && !(tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE)) {
            const size_t index = sp_gathering_find(&gathering, renamed);
            sp_gathering_add(&gathering, index, renamed.expression, tensor->shape, tensor->rank);
            *SP_PUSH(&sources) = (struct source){index, renamed.expression, i, tensor->name};
        } else if (strcmp(renamed.name, tensor->name) != 0) rename_tensor(d, i, renamed.name, false);
    }
    if (sources.count) qsort(sources.items, sources.count, sizeof *sources.items, compare_sources);
    for (size_t from = 0, to; from < sources.count; from = to) {
        const struct source *first = &sources.items[from];
        for (to = from + 1; to < sources.count && sources.items[to].gathered == first->gathered;) to++;
        struct converting c = {
            .d = d, .gathered = &gathering.items[first->gathered], .sources = first, .count = to - from};
        c.target_count = sp_target_count(c.gathered->rule);
        if (c.target_count <= SP_EXPRESSIONS) convert_sources(&c);
    }
    sp_free(sources.items);
    sp_gathering_free(&gathering);
    sp_renaming_rules_free(&rules);
}

static void free_direction(struct direction *d)
{
    sp_free(d->samples.items);
    sp_map_free(&d->names);
    sp_arena_free(&d->arena);
}

bool sp_pairing_in_memory(struct sp_pairing *p)
{
    struct shapeproof_diff *diff = p->diff;
    struct direction ways[] = {{.diff = diff, .disk = &diff->a, .memory = &diff->b},
                               {.diff = diff, .disk = &diff->b, .memory = &diff->a}};
    if (!p->a.count || !p->b.count || sp_diff_is_conversion(diff)) return false;
    for (size_t i = 0; i < 2; i++) {
        collect_names(&ways[i]);
        collect_samples(&ways[i], i == 0 ? &p->a : &p->b);
    }
    find_classes(ways);
    struct direction *best = &ways[ways[1].known > ways[0].known];
    if (best->known) apply_class(best);
    const bool found = best->applied;
    if (found) {
        diff->scheme = "that transformers 5 saves";
        diff->plain = "that it has in memory";
    }
    free_direction(&ways[0]);
    free_direction(&ways[1]);
    return found;
}
