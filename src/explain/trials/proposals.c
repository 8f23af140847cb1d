/* SPDX-License-Identifier: MIT */
#include "explain/trials/proposals.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "config/variables.h"
#include "explain/patch.h"
#include "lang/prediction.h"
#include "names/components.h"

/* Whether two values of one type are the same. Lists are proposed by this file alone, and compared by their address. */
static bool is_same_change(struct shapeproof_value a, struct shapeproof_value b)
{
    if (a.type == SHAPEPROOF_VALUE_STRING) return strcmp(a.string, b.string) == 0;
    if (a.type == SHAPEPROOF_VALUE_LIST) return a.items == b.items;
    if (a.type == SHAPEPROOF_VALUE_BOOL) return a.boolean == b.boolean;
    return a.integer == b.integer;
}

void sp_propose_change(struct sp_proposals *proposals, struct sp_change change)
{
    if (sp_is_shown(proposals->check, change.key)) return;
    for (size_t i = 0; i < proposals->count; i++)
        if (strcmp(proposals->items[i].key, change.key) == 0 && proposals->items[i].value.type == change.value.type &&
            is_same_change(proposals->items[i].value, change.value))
            return;
    if (proposals->count < SP_MOST_PROPOSALS) proposals->items[proposals->count++] = change;
}

/* Some flags are computed by programs from a string that the configuration has beside them. Then the string has to
 * change, and the flag has to be taken away: to set is_gated_act beside feed_forward_proj "relu", feed_forward_proj is
 * to begin with "gated". `wanted` is the value that the flag should have. False when the configuration has no such
 * string, or the string says it already, so that the flag alone is wrong. */
static bool propose_text_of_flag(struct sp_proposals *proposals, const struct shapeproof_hyperparameter *flag,
                                 bool wanted)
{
    struct sp_arena *arena = &proposals->check->arena;
    const struct sp_hyper *hyper = sp_config_hyper(proposals->check->config);
    const size_t front = sp_last_component(flag->name, strlen(flag->name), ".");
    const char *begins, *text = sp_patch_text_of_flag(flag->name + front, &begins);
    if (!text || flag->from.source == SHAPEPROOF_SOURCE_DEFAULT) return false;
    const char *path = sp_arena_printf(arena, "%.*s%s", (int)front, flag->name, text);
    const struct shapeproof_value now = sp_value_at(hyper->root, path);
    if (now.type != SHAPEPROOF_VALUE_STRING) return false;
    const bool is_said = strncmp(now.string, begins, strlen(begins)) == 0;
    if (is_said == wanted) return false;
    sp_propose_change(proposals, (struct sp_change){
                                     .key = path,
                                     .value = sp_value_string(wanted ? begins : SP_OTHER_TEXT),
                                     .configured = now,
                                     .from = sp_hyper_provenance(hyper, path),
                                     .instead_of = flag->name,
                                 });
    return true;
}

void sp_propose(struct sp_proposals *proposals, const struct sp_changeable *key, struct shapeproof_value value)
{
    const struct shapeproof_hyperparameter hyper = key->hyper;
    if (value.type == SHAPEPROOF_VALUE_BOOL && propose_text_of_flag(proposals, &hyper, value.boolean)) return;
    if (value.type == SHAPEPROOF_VALUE_STRING) value.string = sp_arena_string(&proposals->check->arena, value.string);
    sp_propose_change(proposals, (struct sp_change){
                                     .key = hyper.name, .value = value, .configured = hyper.value, .from = hyper.from});
}

void sp_propose_for(struct sp_proposals *proposals, const struct sp_changeable *key, const struct sp_env *env,
                    const struct sp_expr *expr, struct shapeproof_value wanted)
{
    const struct sp_key_values solutions = sp_solve_key(&proposals->outline.solver, &key->unknown, env, expr, wanted);
    for (size_t i = 0; i < solutions.count; i++) sp_propose(proposals, key, solutions.list[i]);
}

/* ---- keys ---- */

static int compare_keys(const void *left, const void *right)
{
    return sp_order(*(const size_t *)left, *(const size_t *)right);
}

void sp_proposal_keys_note(struct sp_proposals *proposals)
{
    proposals->lookups.count = 0;
    sp_solver_note_lookups(&proposals->outline.solver, &proposals->lookups);
}

struct sp_key_list sp_proposal_keys(struct sp_proposals *proposals)
{
    struct sp_lookups *lookups = &proposals->lookups;
    struct sp_key_list list = {.items = sp_realloc(NULL, lookups->count, sizeof *list.items)};
    sp_solver_note_lookups(&proposals->outline.solver, NULL);
    for (size_t i = 0; i < lookups->count; i++) {
        const size_t key = sp_map_get(&proposals->key_places, lookups->items[i]);
        if (key == SIZE_MAX || proposals->is_listed[key]) continue;
        proposals->is_listed[key] = true;
        list.items[list.count++] = key;
    }
    for (size_t i = 0; i < list.count; i++) proposals->is_listed[list.items[i]] = false;
    if (list.count) qsort(list.items, list.count, sizeof *list.items, compare_keys);
    return list;
}

struct sp_key_list sp_proposal_keys_of(struct sp_proposals *proposals, const struct sp_env *env,
                                       const struct sp_expr *expr)
{
    sp_proposal_keys_note(proposals);
    const struct shapeproof_value value = sp_solver_value(&proposals->outline.solver, env, expr);
    struct sp_key_list list = sp_proposal_keys(proposals);
    if (value.type != SHAPEPROOF_VALUE_UNKNOWN) return list;
    list.items = sp_realloc(list.items, proposals->key_count, sizeof *list.items);
    for (list.count = 0; list.count < proposals->key_count; list.count++) list.items[list.count] = list.count;
    return list;
}

/* ---- quantisation ---- */

/* Shapes of quantised weights do not grow with the numbers of the quantisation, and no other row depends on these:
 * there is nothing to invert, and the usual ones are tried. */
static const struct usual {
    const char *keys[5];
    int64_t numbers[9]; /* up to a 0 */
} usual[] = {
    {{".bits", ".num_bits", ".w_bit", ".nbits"}, {4, 8, 3, 2, 5, 6}},
    {{".group_size", ".q_group_size", ".hadamard_group_size"}, {128, 64, 32, 16, 256, 512, 1024, -1}},
    {{".in_group_size", ".out_group_size"}, {8, 1, 2, 4, 16}},
    {{".num_codebooks"}, {1, 2, 4, 8}},
    {{".nbits_per_codebook"}, {16, 8, 12, 10, 4}},
};

/* Whether the key is one of those that have these usual numbers. */
static bool is_key_of(const struct usual *usual_numbers, const char *key)
{
    for (size_t i = 0; usual_numbers->keys[i]; i++)
        if (strcmp(usual_numbers->keys[i], key) == 0) return true;
    return false;
}

/* Proposes the usual values of a key of a quantisation, whose last component with its dot is `key`. */
static void propose_usual(struct sp_proposals *proposals, const struct sp_changeable *of, const char *key)
{
    static const struct shapeproof_value blocks[][2] = {
        {{SHAPEPROOF_VALUE_INT, .integer = 128}, {SHAPEPROOF_VALUE_INT, .integer = 128}},
        {{SHAPEPROOF_VALUE_INT, .integer = 64}, {SHAPEPROOF_VALUE_INT, .integer = 64}},
        {{SHAPEPROOF_VALUE_INT, .integer = 32}, {SHAPEPROOF_VALUE_INT, .integer = 32}},
        {{SHAPEPROOF_VALUE_INT, .integer = 256}, {SHAPEPROOF_VALUE_INT, .integer = 256}},
        {{SHAPEPROOF_VALUE_INT, .integer = 1}, {SHAPEPROOF_VALUE_INT, .integer = 128}}};
    const bool is_block = strcmp(key, ".weight_block_size") == 0 || strcmp(key, ".block_structure") == 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        for (const int64_t *number = usual[i].numbers; is_key_of(&usual[i], key) && *number; number++)
            sp_propose(proposals, of, sp_value_int(*number));
    for (size_t i = 0; is_block && i < sizeof blocks / sizeof *blocks; i++)
        sp_propose(proposals, of, (struct shapeproof_value){SHAPEPROOF_VALUE_LIST, .count = 2, .items = blocks[i]});
    if (is_block) sp_propose(proposals, of, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
    if (strcmp(key, ".symmetric") == 0 && of->hyper.value.type == SHAPEPROOF_VALUE_BOOL)
        sp_propose(proposals, of,
                   (struct shapeproof_value){SHAPEPROOF_VALUE_BOOL, .boolean = !of->hyper.value.boolean});
}

void sp_propose_quantisations(struct sp_proposals *proposals)
{
    for (size_t i = 0; proposals->check->quantisation.method && i < proposals->key_count; i++) {
        const char *key = strrchr(proposals->keys[i].hyper.name, '.');
        if (key) propose_usual(proposals, &proposals->keys[i], key);
    }
}

/* ---- findings and lines ---- */

bool sp_is_structural(const struct shapeproof_finding *finding)
{
    return sp_finding_is_open(finding) && finding->kind != SHAPEPROOF_FINDING_SHAPE;
}

/* A variable of a Keras model: the lines of its layer. Numbers do not tell which of them it is, or which is missing. */
static size_t lines_of_variable(struct sp_proposals *proposals, const struct shapeproof_finding *finding,
                                struct sp_indices *indices, const struct sp_line *lines[SP_MOST_LINES])
{
    struct sp_text front = {0};
    const char *leaf;
    const struct sp_variables *variables = proposals->check->config->variables;
    const bool placed = sp_variables_place(variables, finding->name, &front, &leaf);
    size_t count = 0;
    if (placed) count = sp_lines_below(&proposals->lines, front.data, leaf, indices, lines, SP_MOST_LINES);
    sp_text_free(&front);
    return count;
}

size_t sp_proposal_lines(struct sp_proposals *proposals, const struct shapeproof_finding *finding,
                         struct sp_indices *indices, const struct sp_line *lines[SP_MOST_LINES])
{
    const struct shapeproof_check *check = proposals->check;
    struct sp_text name = {0};
    const struct sp_variables *variables = check->config->variables;
    if (variables &&
        (finding->predicted == SHAPEPROOF_NONE || (variables->numbered && finding->kind == SHAPEPROOF_FINDING_MISSING)))
        return lines_of_variable(proposals, finding, indices, lines);
    if (finding->predicted != SHAPEPROOF_NONE) {
        const struct shapeproof_predicted *predicted =
            shapeproof_prediction_tensor(check->prediction, finding->predicted);
        sp_text_puts(&name, predicted->stands_for ? predicted->stands_for
                                                  : sp_prediction_own_name(check->prediction, finding->predicted));
    } else sp_naming_apply(&check->naming, shapeproof_inventory_tensor(check->inventory, finding->tensor)->name, &name);
    const size_t count = sp_lines_named(&proposals->lines, name.data, indices, lines, SP_MOST_LINES);
    sp_text_free(&name);
    return count;
}

bool sp_same_loop(const struct sp_named_index *a, const struct sp_named_index *b)
{
    return a->in_word == b->in_word && a->pattern == b->pattern && a->position == b->position &&
           a->missing == b->missing;
}

static int compare_named_indices(const void *left, const void *right)
{
    const struct sp_named_index *a = left, *b = right;
    if (a->in_word != b->in_word) return b->in_word ? -1 : 1;
    if (a->pattern != b->pattern) return a->pattern < b->pattern ? -1 : 1;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    if (a->missing != b->missing) return a->missing ? -1 : 1;
    if (a->index != b->index) return a->index < b->index ? -1 : 1;
    return a->finding < b->finding ? -1 : a->finding > b->finding;
}

const struct sp_indices *sp_named_indices(const struct sp_proposals *proposals, const struct sp_named_index *at)
{
    return at->in_word ? &proposals->word_places[at->finding].indices : &proposals->check->places[at->finding].indices;
}

const char *sp_named_pattern(const struct sp_proposals *proposals, const struct sp_named_index *at)
{
    return sp_pattern_text(at->in_word ? &proposals->word_patterns : &proposals->check->patterns, at->pattern);
}

/* Whether the index in the text of a pattern is a part of a word: "weight_l\xff", but not "layers.\xff". */
static bool is_in_word(const char *text, const char *mark)
{
    const char before = mark == text ? '.' : mark[-1], behind = mark[1];
    return !strchr("._/", before) || (behind && !strchr("._/", behind));
}

/* Adds the numbers within words of the name of a finding. */
static void list_word_indices(struct sp_proposals *proposals, size_t finding, size_t *capacity)
{
    const struct shapeproof_finding *of = &proposals->check->findings[finding];
    struct sp_place *place = &proposals->word_places[finding];
    place->pattern = sp_pattern_of(&proposals->word_patterns, of->name, &place->indices);
    const char *text = sp_pattern_text(&proposals->word_patterns, place->pattern), *mark = text;
    for (size_t p = 0; p < place->indices.count && (mark = strchr(mark, (unsigned char)SP_INDEX_MARK)) != NULL;
         p++, mark++) {
        if (!is_in_word(text, mark)) continue;
        SP_GROW(proposals->indices, proposals->index_count, *capacity);
        proposals->indices[proposals->index_count++] = (struct sp_named_index){
            place->pattern, p, finding, place->indices.value[p], of->kind == SHAPEPROOF_FINDING_MISSING, true};
    }
}

/* Fills proposals->indices from the open findings about missing and unexpected tensors. */
static void list_indices(struct sp_proposals *proposals)
{
    const struct shapeproof_check *check = proposals->check;
    size_t capacity = 0;
    proposals->word_patterns.rule = SP_INDEX_ANYWHERE;
    proposals->word_places = sp_realloc(NULL, check->finding_count, sizeof *proposals->word_places);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const struct sp_indices *own = &check->places[i].indices;
        if (!sp_is_structural(finding)) continue;
        for (size_t p = 0; p == 0 || p < own->count; p++) {
            SP_GROW(proposals->indices, proposals->index_count, capacity);
            proposals->indices[proposals->index_count++] =
                (struct sp_named_index){check->places[i].pattern,
                                        p,
                                        i,
                                        own->count ? own->value[p] : 0,
                                        finding->kind == SHAPEPROOF_FINDING_MISSING,
                                        false};
        }
        list_word_indices(proposals, i, &capacity);
    }
    if (proposals->index_count)
        qsort(proposals->indices, proposals->index_count, sizeof *proposals->indices, compare_named_indices);
}

/* ---- the whole ---- */

/* Fills `keys`, `key_of` and `key_places`. A hyper-parameter that the table itself gives to a table within it is no key
 * of the configuration, and left out. */
static void list_keys(struct sp_proposals *proposals)
{
    const struct shapeproof_prediction *prediction = proposals->check->prediction;
    struct sp_arena *arena = &proposals->outline.solver.arena;
    const size_t count = shapeproof_prediction_hyperparameter_count(prediction);
    proposals->keys = sp_arena_array(arena, count, sizeof *proposals->keys);
    proposals->key_of = sp_arena_array(arena, count, sizeof *proposals->key_of);
    proposals->is_listed = sp_arena_array(arena, count, sizeof *proposals->is_listed);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(prediction, i);
        proposals->key_of[i] = SHAPEPROOF_NONE;
        if (hyper.from.source == SHAPEPROOF_SOURCE_TABLE) continue;
        proposals->key_of[i] = proposals->key_count;
        sp_map_add(&proposals->key_places, hyper.name, proposals->key_count);
        proposals->keys[proposals->key_count++] = (struct sp_changeable){hyper, {hyper.name, hyper.value}};
    }
}

void sp_proposals_init(struct sp_proposals *proposals, struct shapeproof_check *check)
{
    *proposals = (struct sp_proposals){.check = check};
    sp_outline_configure(&proposals->outline, check->prediction->table, &sp_config_hyper(check->config)->root);
    sp_line_map_init(&proposals->lines, &proposals->outline);
    list_keys(proposals);
    list_indices(proposals);
}

void sp_proposals_renew(struct sp_proposals *proposals, const struct shapeproof_config *config)
{
    size_t kept = 0;
    proposals->outline.solver.configured = &sp_config_hyper(config)->root;
    sp_solver_ask_anew(&proposals->outline.solver);
    for (size_t i = 0; i < proposals->index_count; i++)
        if (sp_finding_is_open(&proposals->check->findings[proposals->indices[i].finding]))
            proposals->indices[kept++] = proposals->indices[i];
    proposals->index_count = kept;
}

void sp_proposals_free(struct sp_proposals *proposals)
{
    sp_free(proposals->indices);
    sp_free(proposals->word_places);
    sp_patterns_free(&proposals->word_patterns);
    sp_free(proposals->lookups.items);
    sp_map_free(&proposals->key_places);
    sp_line_map_free(&proposals->lines);
    sp_outline_free(&proposals->outline);
}
