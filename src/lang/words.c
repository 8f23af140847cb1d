/* SPDX-License-Identifier: MIT
 * Which keys a table can read, whatever their values: those that its expressions name, and those of the parts and
 * tables that it uses; and which key an expression is. */
#include "lang/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/suggest.h"
#include "lang/names.h"

enum {
    MAX_DEPTH = 16,    /* parts used within one another */
    MAX_NESTING = 1000 /* expressions and definitions within one another */
};

struct visit {
    const struct sp_unit *unit;
    struct sp_map *words;
    unsigned depth;
};

static void visit_unit(struct visit visit);

static void visit_expr(const struct visit *visit, const struct sp_expr *expr)
{
    if (!expr) return;
    const bool is_key = expr->kind == SP_EXPR_NAME && sp_meaning_at(visit->unit, expr).kind == SP_MEANS_KEY;
    if (is_key || expr->kind == SP_EXPR_MEMBER) sp_map_add(visit->words, expr->name, 0);
    for (size_t i = 0; i < expr->count; i++) visit_expr(visit, expr->args[i]);
    if (expr->division) visit_expr(visit, expr->division->of);
}

static void visit_template(const struct visit *visit, const struct sp_template *name)
{
    for (size_t i = 0; i < name->count; i++) visit_expr(visit, name->pieces[i].hole);
}

static void visit_row(const struct visit *visit, const struct sp_row *row)
{
    visit_template(visit, &row->name);
    visit_template(visit, &row->tie);
    for (size_t i = 0; i < row->rank; i++) visit_expr(visit, row->shape[i]);
    visit_expr(visit, row->condition);
    visit_expr(visit, row->tie_condition);
    visit_expr(visit, row->from);
    visit_expr(visit, row->share.part);
    visit_expr(visit, row->share.whole);
    visit_expr(visit, row->times);
    for (size_t i = 0; i < row->arg_count; i++) visit_expr(visit, row->args[i].expr);
    for (size_t i = 0; i < row->with_count; i++) visit_expr(visit, row->with[i].expr);
    if (row->kind == SP_ROW_USE) visit_unit((struct visit){row->unit, visit->words, visit->depth + 1});
}

static void visit_definitions(const struct visit *visit, const struct sp_definition *definitions, size_t count)
{
    for (size_t i = 0; i < count; i++) visit_expr(visit, definitions[i].expr);
}

static void visit_section(const struct visit *visit, const struct sp_section *section)
{
    for (size_t i = 0; i < section->clause_count; i++) {
        visit_expr(visit, section->clauses[i].first);
        visit_expr(visit, section->clauses[i].last);
    }
    visit_expr(visit, section->share.part);
    visit_expr(visit, section->share.whole);
    visit_expr(visit, section->times);
    visit_definitions(visit, section->locals, section->local_count);
    for (size_t i = 0; i < section->row_count; i++) visit_row(visit, &section->rows[i]);
}

static void visit_unit(struct visit visit)
{
    const struct sp_unit *unit = visit.unit;
    if (visit.depth > MAX_DEPTH) return;
    visit_definitions(&visit, unit->definitions, unit->definition_count);
    visit_expr(&visit, unit->pipeline.count);
    for (size_t i = 0; i < unit->param_count; i++) visit_expr(&visit, unit->params[i].fallback);
    for (size_t i = 0; i < unit->requirement_count; i++) visit_expr(&visit, unit->requirements[i].condition);
    for (size_t i = 0; i < unit->formula_condition_count; i++)
        visit_expr(&visit, unit->formula_conditions[i].condition);
    for (size_t i = 0; i < unit->section_count; i++) visit_section(&visit, &unit->sections[i]);
    for (size_t i = 0; i < unit->state_count; i++) visit_section(&visit, &unit->states[i]);
}

void sp_unit_words(const struct sp_unit *unit, struct sp_map *words)
{
    visit_unit((struct visit){.unit = unit, .words = words});
}

const char *sp_unit_key_of_name(const struct sp_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->definition_count; i++) {
        if (strcmp(unit->definitions[i].name, name) != 0 || unit->definitions[i].is_function) continue;
        const struct sp_expr *expr = unit->definitions[i].expr;
        while (expr->kind == SP_EXPR_DEFAULT) expr = expr->args[0];
        const bool is_key = expr->kind == SP_EXPR_NAME && sp_meaning_at(unit, expr).kind == SP_MEANS_KEY;
        return is_key ? expr->name : NULL;
    }
    return NULL;
}

/* A search for a key in what measures read. */
struct key_search {
    const struct sp_unit *unit;
    struct shapeproof_value root; /* the configuration */
    const char *key;
    bool *searched; /* heap, by the unit's definitions: it is not in there, or is being searched for there */
    unsigned depth; /* of expressions and definitions within one another */
};

static bool depends_on(struct key_search *search, const struct sp_expr *expr);

/* Whether the definition that the name stands for uses the key. Each is searched once. */
static bool definition_depends_on(struct key_search *search, const char *name)
{
    const struct sp_meaning meaning = sp_meaning_by_name(search->unit, name);
    if (meaning.kind != SP_MEANS_DEFINITION || search->searched[meaning.index]) return false;
    search->searched[meaning.index] = true;
    return depends_on(search, meaning.definition->expr);
}

/* Whether the expression is a key that is set, so that the other side of `default` is not read. */
static bool is_set_key(const struct key_search *search, const struct sp_expr *expr)
{
    return expr->kind == SP_EXPR_NAME && sp_meaning_at(search->unit, expr).kind == SP_MEANS_KEY &&
           sp_value_is_set(sp_value_member(search->root, expr->name));
}

/* Whether the key is in the expression, or in a definition that it uses. It may be where nesting is too deep to search.
 */
static bool depends_on(struct key_search *search, const struct sp_expr *expr)
{
    if (!expr) return false;
    if (search->depth >= MAX_NESTING) return true;
    search->depth++;
    const bool is_name = expr->kind == SP_EXPR_NAME, is_call = expr->kind == SP_EXPR_CALL;
    const bool is_key =
        expr->kind == SP_EXPR_MEMBER || (is_name && sp_meaning_at(search->unit, expr).kind == SP_MEANS_KEY);
    bool depends = is_key ? strcmp(expr->name, search->key) == 0
                          : (is_name || is_call) && definition_depends_on(search, expr->name);
    const bool has_first = expr->kind == SP_EXPR_DEFAULT && is_set_key(search, expr->args[0]);
    for (size_t i = 0; i < (has_first ? 1 : expr->count) && !depends; i++) depends = depends_on(search, expr->args[i]);
    search->depth--;
    return depends;
}

/* Whether the key is in how the dimension, or a part of it in parentheses, is divided among ranks. */
static bool division_depends_on(struct key_search *search, const struct sp_expr *dimension)
{
    bool depends = dimension->division && depends_on(search, dimension->division->of);
    for (size_t i = 0; i < dimension->count && !depends; i++) depends = division_depends_on(search, dimension->args[i]);
    return depends;
}

/* What a measure reads of a row; of what is no tensor, and is there for measures alone, everything. An argument of
 * a part may say how its dimensions are divided. */
static bool row_depends_on(struct key_search *search, const struct sp_row *row)
{
    bool depends =
        depends_on(search, row->share.part) || depends_on(search, row->share.whole) || depends_on(search, row->times);
    for (size_t i = 0; i < row->arg_count && !depends; i++)
        depends = depends_on(search, row->args[i].expr) || division_depends_on(search, row->args[i].expr);
    for (size_t i = 0; i < row->rank && !depends; i++) depends = division_depends_on(search, row->shape[i]);
    if (sp_row_is_tensor(row)) return depends;
    depends = depends || depends_on(search, row->condition);
    for (size_t i = 0; i < row->rank && !depends; i++) depends = depends_on(search, row->shape[i]);
    return depends;
}

static bool section_depends_on(struct key_search *search, const struct sp_section *section)
{
    const bool is_for_measures = section->row_count && !sp_row_is_tensor(&section->rows[0]);
    bool depends = depends_on(search, section->share.part) || depends_on(search, section->share.whole) ||
                   depends_on(search, section->times);
    for (size_t i = 0; is_for_measures && i < section->clause_count && !depends; i++)
        depends = depends_on(search, section->clauses[i].first) || depends_on(search, section->clauses[i].last);
    for (size_t i = 0; i < section->row_count && !depends; i++) depends = row_depends_on(search, &section->rows[i]);
    return depends;
}

/* Whether the row uses a table that reads the object `audio_config`, and a measure of that table reads the key behind
 * the dot of `audio_config.is_longer`. */
static bool used_table_is_measured_by(const struct sp_row *row, struct shapeproof_value root, const char *key)
{
    const size_t object = strcspn(key, ".");
    const char *const from = row->from && row->from->kind == SP_EXPR_NAME ? row->from->name : NULL;
    if (!key[object] || !row->unit || !row->unit->is_table || !from) return false;
    return strlen(from) == object && strncmp(from, key, object) == 0 &&
           sp_unit_is_measured_by(row->unit, sp_value_member(root, from), key + object + 1);
}

/* A search that has looked at no definition yet; sp_free its `searched`. */
static struct key_search open_search(const struct sp_unit *unit, struct shapeproof_value root, const char *key)
{
    struct key_search search = {.unit = unit, .root = root, .key = key};
    search.searched = sp_realloc(NULL, unit->definition_count, sizeof *search.searched);
    memset(search.searched, 0, unit->definition_count * sizeof *search.searched);
    return search;
}

static bool rows_depend_on(struct key_search *search)
{
    bool depend = false;
    for (size_t i = 0; i < search->unit->section_count && !depend; i++)
        depend = section_depends_on(search, &search->unit->sections[i]);
    return depend;
}

bool sp_unit_multiplies_by(const struct sp_unit *unit, const char *key)
{
    struct key_search search = open_search(unit, (struct shapeproof_value){0}, key);
    const bool multiplies = rows_depend_on(&search);
    sp_free(search.searched);
    return multiplies;
}

bool sp_unit_is_measured_by(const struct sp_unit *unit, struct shapeproof_value root, const char *key)
{
    const char *dot = strrchr(key, '.');
    struct key_search search = open_search(unit, root, dot ? dot + 1 : key);
    bool is_measured = rows_depend_on(&search);
    for (size_t i = 0; i < unit->section_count; i++)
        for (size_t k = 0; k < unit->sections[i].row_count && !is_measured; k++)
            is_measured = used_table_is_measured_by(&unit->sections[i].rows[k], root, key);
    for (size_t i = 0; i < unit->state_count && !is_measured; i++)
        is_measured = section_depends_on(&search, &unit->states[i]);
    for (size_t i = 0; i < unit->formula_condition_count && !is_measured; i++)
        is_measured = depends_on(&search, unit->formula_conditions[i].condition);
    sp_free(search.searched);
    return is_measured;
}

/* Keys that transformers 4 and 5 write of every model or read of every configuration, whatever its class. */
static const char *const common_keys[] = {"architectures",
                                          "_name_or_path",
                                          "add_cross_attention",
                                          "attn_implementation",
                                          "bad_words_ids",
                                          "begin_suppress_tokens",
                                          "bos_token_id",
                                          "chunk_size_feed_forward",
                                          "cross_attention_hidden_size",
                                          "decoder_start_token_id",
                                          "diversity_penalty",
                                          "do_sample",
                                          "early_stopping",
                                          "encoder_no_repeat_ngram_size",
                                          "eos_token_id",
                                          "experts_implementation",
                                          "exponential_decay_length_penalty",
                                          "finetuning_task",
                                          "forced_bos_token_id",
                                          "forced_eos_token_id",
                                          "id2label",
                                          "is_decoder",
                                          "is_encoder_decoder",
                                          "label2id",
                                          "length_penalty",
                                          "max_length",
                                          "min_length",
                                          "name_or_path",
                                          "no_repeat_ngram_size",
                                          "num_beam_groups",
                                          "num_beams",
                                          "num_labels",
                                          "num_return_sequences",
                                          "output_attentions",
                                          "output_hidden_states",
                                          "output_scores",
                                          "pad_token_id",
                                          "problem_type",
                                          "pruned_heads",
                                          "remove_invalid_values",
                                          "repetition_penalty",
                                          "return_dict",
                                          "return_dict_in_generate",
                                          "rope_parameters",
                                          "sep_token_id",
                                          "suppress_tokens",
                                          "task_specific_params",
                                          "temperature",
                                          "tf_legacy_loss",
                                          "tie_encoder_decoder",
                                          "tie_word_embeddings",
                                          "tokenizer_class",
                                          "torch_dtype",
                                          "torchscript",
                                          "transformers_version",
                                          "typical_p",
                                          "use_bfloat16",
                                          NULL};

/* Keys that a class has beside one that is nearly the same: both are meant as they stand. */
static const char *const pairs[][2] = {{"layer_types", "layer_type"}, {"patch_size", "patch_sizes"}};

/* Whether the keys differ only in the half of the model that they are about: encoder_layers and decoder_layers. */
static bool are_of_two_sides(const char *a, const char *b)
{
    bool differ = false;
    while (*a && *b) {
        const bool other = (strncmp(a, "encoder", 7) == 0 && strncmp(b, "decoder", 7) == 0) ||
                           (strncmp(a, "decoder", 7) == 0 && strncmp(b, "encoder", 7) == 0);
        if (!other && *a != *b) return false;
        differ = differ || other;
        a += other ? 7 : 1;
        b += other ? 7 : 1;
    }
    return differ && !*a && !*b;
}

/* Whether a key is one of its own right, and no other one misspelt. */
static bool is_key_by_itself(const char *key, const char *meant)
{
    for (const char *const *common = common_keys; *common; common++)
        if (strcmp(key, *common) == 0) return true;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(key, pairs[i][0]) == 0 && strcmp(meant, pairs[i][1]) == 0) return true;
    return are_of_two_sides(key, meant);
}

const char *sp_unit_misspelt(const struct sp_unit *unit, struct shapeproof_value object, const char *meant)
{
    const char *found = NULL;
    struct sp_map words = {0};
    const size_t count = object.type == SHAPEPROOF_VALUE_OBJECT ? object.count : 0;
    sp_budget_spend(count);
    for (size_t i = 0; i < count && !found; i++) {
        const struct shapeproof_member *member = &object.members[i];
        if (!sp_value_is_set(member->value) || !sp_is_misspelt(member->key, meant)) continue;
        if (is_key_by_itself(member->key, meant)) continue;
        if (!words.count) sp_unit_words(unit, &words);
        if (sp_map_get(&words, member->key) == SIZE_MAX) found = member->key;
    }
    sp_map_free(&words);
    return found;
}

const char *sp_expr_key(struct sp_arena *arena, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME) return expr->name;
    const char *before = expr->kind == SP_EXPR_MEMBER ? sp_expr_key(arena, expr->args[0]) : NULL;
    return before ? sp_arena_printf(arena, "%s.%s", before, expr->name) : NULL;
}
