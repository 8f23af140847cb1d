/* SPDX-License-Identifier: MIT
 * Expressions of the language of claims at one configuration. They stand below `claims for TABLE`, as claims do, and
 * are evaluated where a claim is: in the table, counted with everything as configured. The groups and the total are
 * those of the prediction, or without one those of the count; with other settings, as in total(vocab_size = 128000),
 * those of a second prediction. */
#include "shapeproof/evaluate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/dtype_word.h"
#include "base/error.h"
#include "config/config.h"
#include "config/settings.h"
#include "lang/prediction.h"
#include "lang/walk.h"
#include "lang/words.h"
#include "prove/claims.h"
#include "shapeproof/report.h"
#include "verify/verify.h"

struct shapeproof_evaluation {
    struct sp_arena arena;
    struct shapeproof_evaluated *items;
    size_t count;
};

struct shapeproof_expressions *shapeproof_expressions_new(struct shapeproof_tables *tables, const char *table,
                                                          const struct shapeproof_claim_lines *lines, char **letters,
                                                          struct shapeproof_error *error)
{
    assert(tables && table && lines && letters);
    *letters = NULL;
    SP_CALL(error, (*letters = NULL, NULL)); /* the text is gone, too */
    SP_SPENDS("evaluating the expressions");
    sp_error_reset(error);
    if (sp_tables_add_lines(tables, table, lines, SP_LINES_OF_EXPRESSIONS, letters, error) != SHAPEPROOF_OK)
        return NULL;
    struct shapeproof_expressions *expressions = sp_realloc(NULL, 1, sizeof *expressions);
    *expressions = (struct shapeproof_expressions){
        .tables = tables, .table = sp_tables_unit(tables, table), .unit = tables->own.items[tables->own.count - 1]};
    return expressions;
}

void shapeproof_expressions_free(struct shapeproof_expressions *expressions) { sp_free(expressions); }

/* ---- the measures of a model ---- */

/* The expressions of a list of measures. */
struct measure_list {
    struct sp_arena arena;
    const char *items[16];
    size_t count;
};

static void add_measure(struct measure_list *list, const char *expression)
{
    assert(list->count < sizeof list->items / sizeof *list->items);
    list->items[list->count++] = expression;
}

static bool predicts_group(const struct shapeproof_prediction *prediction, const char *name)
{
    for (size_t i = 0; i < shapeproof_prediction_group_count(prediction); i++)
        if (strcmp(shapeproof_prediction_group(prediction, i)->name, name) == 0) return true;
    return false;
}

/* The active parameters in the conventions of publications: all, without the input embedding, without both embeddings.
 * If the table does not carry the measure, its reason is the same in all of them. */
static void add_active(struct measure_list *list, const struct sp_unit *table,
                       const struct shapeproof_prediction *prediction)
{
    add_measure(list, "active");
    if (!(table->measures & SP_MEASURE_ACTIVE) || !predicts_group(prediction, "embedding")) return;
    add_measure(list, "active - active([embedding])");
    if (predicts_group(prediction, "head")) add_measure(list, "active - active([embedding]) - active([head])");
}

/* The operations of a pass with these arguments. */
static void add_passes(struct measure_list *list, const char *pass)
{
    static const char *const variants[] = {"", ", attention=none", ", pass=training"};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        add_measure(list, sp_arena_printf(&list->arena, "flops(%s%s)", pass, variants[i]));
}

/* Of a table of tokens with images or sounds, the tokens and each of these apart. A number of them that the table does
 * not read is asked for, too, so that the measure says so. */
static void add_flops(struct measure_list *list, const struct sp_unit *table,
                      const struct shapeproof_measures_options *what)
{
    struct sp_arena *arena = &list->arena;
    const char *patches = what->patches ? sp_arena_printf(arena, ", patches=%" PRIu64, what->patches) : "";
    const char *source =
        what->source_tokens ? sp_arena_printf(arena, ", source_tokens=%" PRIu64, what->source_tokens) : "";
    const bool has_images = table->inputs & SP_INPUT_IMAGE || what->images;
    const bool has_sounds = table->inputs & SP_INPUT_SOUND;
    if (has_images || has_sounds) {
        add_passes(list, sp_arena_printf(arena, "tokens=%" PRIu64 "%s%s%s, batch=%" PRIu64, what->tokens, source,
                                         has_images ? ", images=0" : "", has_sounds ? ", sounds=0" : "", what->batch));
        if (has_images)
            add_passes(list, sp_arena_printf(arena, "tokens=0, images=%" PRIu64 "%s%s, batch=%" PRIu64,
                                             what->images ? what->images : 1, has_sounds ? ", sounds=0" : "", patches,
                                             what->batch));
        if (has_sounds)
            add_passes(list, sp_arena_printf(arena, "tokens=0, %ssounds=1, batch=%" PRIu64,
                                             has_images ? "images=0, " : "", what->batch));
        return;
    }
    const char *tokens =
        table->only_input ? "" : sp_arena_printf(arena, "tokens=%" PRIu64 "%s, ", what->tokens, source);
    add_passes(list, sp_arena_printf(arena, "%sbatch=%" PRIu64 "%s%s", tokens, what->batch,
                                     table->only_input ? source : "", patches));
}

static bool unit_reads_source(const struct sp_unit *unit)
{
    return sp_unit_is_measured_by(unit, (struct shapeproof_value){0}, "source_tokens");
}

/* Whether a measure reads what an encoder does: in the table, or in one that it uses for the model. */
static bool reads_source(const struct shapeproof_prediction *prediction)
{
    struct sp_map seen = {0}; /* the names of units */
    bool reads = unit_reads_source(prediction->table);
    for (size_t i = 0; i < shapeproof_prediction_count(prediction) && !reads; i++) {
        const struct sp_unit *unit = prediction->origins[i].frame->unit;
        reads = sp_map_add(&seen, unit->name, 0) && unit_reads_source(unit);
    }
    sp_map_free(&seen);
    return reads;
}

/* lora and shard are not among them: their arguments have no usual value. */
static void list_measures(struct measure_list *list, const struct sp_unit *table,
                          const struct shapeproof_prediction *prediction,
                          const struct shapeproof_measures_options *what)
{
    const bool has_source = reads_source(prediction);
    const char *length = sp_arena_printf(&list->arena, "tokens=%" PRIu64, what->tokens);
    /* Without the option, an encoder of text reads `tokens` tokens. Of an encoder of sound the number is not known. */
    const bool is_given = what->source_tokens || !sp_unit_multiplies_by(table, "source_tokens");
    const uint64_t source_tokens = what->source_tokens ? what->source_tokens : what->tokens;
    const char *source =
        has_source && is_given ? sp_arena_printf(&list->arena, ", source_tokens=%" PRIu64, source_tokens) : "";
    add_measure(list, "total");
    add_active(list, table, prediction);
    add_flops(list, table, what);
    const char *images = table->are_inputs_apart && table->inputs & SP_INPUT_IMAGE
                             ? sp_arena_printf(&list->arena, ", images=%" PRIu64, what->images ? what->images : 1)
                             : "";
    add_measure(list, sp_arena_printf(&list->arena, "cache(%s%s%s, batch=%" PRIu64 ", dtype=%s)", length, source,
                                      images, what->batch, what->dtype));
    add_measure(list, sp_arena_printf(&list->arena, "bytes(%s)", what->dtype));
    add_measure(list, "optimizer(adam)");
    add_measure(list, sp_arena_printf(&list->arena, "activations(%s, batch=%" PRIu64 ")", length, what->batch));
}

static bool reads_patches(const struct sp_unit *table) { return (table->inputs | table->only_input) & SP_INPUT_IMAGE; }

/* Takes from the options the images and patches that only the model with the other table can read, and what its encoder
 * reads. */
static void drop_inputs_of_other(struct shapeproof_measures_options *what,
                                 const struct shapeproof_prediction *prediction,
                                 const struct shapeproof_prediction *against)
{
    const struct sp_unit *table = prediction->table, *other = against->table;
    const unsigned of_other_alone = other->inputs & ~table->inputs;
    if (of_other_alone & SP_INPUT_IMAGE) what->images = 0;
    if (reads_source(against) && !reads_source(prediction)) what->source_tokens = 0;
    if (reads_patches(other) && !reads_patches(table)) what->patches = 0;
}

struct shapeproof_expressions *shapeproof_measures_new(struct shapeproof_tables *tables,
                                                       const struct shapeproof_prediction *prediction,
                                                       const struct shapeproof_measures_options *options,
                                                       struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("evaluating the expressions");
    static const struct shapeproof_measures_options none = {0};
    assert(tables && prediction);
    sp_error_reset(error);
    struct shapeproof_measures_options what = options ? *options : none;
    if (!what.tokens) what.tokens = 1;
    if (!what.batch) what.batch = 1;
    if (!what.dtype) what.dtype = "f32";
    if (!sp_weight_bits_of_word(what.dtype)) {
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "'%s' is no dtype of weights: expected %s",
                what.dtype, SP_WEIGHT_DTYPES);
        return NULL;
    }
    const char *table = shapeproof_prediction_table(prediction);
    struct measure_list list = {.count = 0};
    if (what.against) drop_inputs_of_other(&what, prediction, what.against);
    list_measures(&list, sp_tables_unit(tables, table), prediction, &what);
    const struct shapeproof_claim_lines lines = {.name = "measure", .items = list.items, .count = list.count};
    char *letters;
    struct shapeproof_expressions *expressions = shapeproof_expressions_new(tables, table, &lines, &letters, error);
    shapeproof_free(letters);
    sp_arena_free(&list.arena);
    return expressions;
}

/* ---- one expression ---- */

/* An expression being evaluated. */
struct asked {
    struct sp_trial trial; /* first: the context of its environment */
    const struct shapeproof_expressions *expressions;
    const struct shapeproof_config *config;
};

/* The prediction of the table; NULL with the error. */
static struct shapeproof_prediction *predict_table(const struct shapeproof_expressions *expressions,
                                                   const struct shapeproof_config *config,
                                                   struct shapeproof_error *error)
{
    return shapeproof_predict(expressions->tables, config,
                              &(struct shapeproof_predict_options){.table = expressions->table->name}, error);
}

/* Why a prediction does not answer a question with the setting `key`: it has not read it, so the number would be that
 * without it. NULL when it has read it. */
static const char *why_not_read(struct sp_arena *arena, const struct shapeproof_prediction *prediction, const char *key)
{
    if (sp_prediction_has_asked(prediction, key)) return NULL;
    const char *like = sp_prediction_key_like(prediction, key);
    return sp_arena_printf(arena, "no tensor depends on '%s'%s%s%s", key, like ? "; did you mean '" : "",
                           like ? like : "", like ? "'?" : "");
}

/* The parameters of [group], or of the total, with other settings, by a prediction of their own. `context` is a struct
 * asked. NULL with the reason in *why. */
static const struct sp_poly *varied_group(void *context, const char *name, const struct sp_sym_setting *settings,
                                          size_t count, const char **why)
{
    const struct asked *asked = context;
    struct sp_arena *arena = asked->trial.arena;
    struct shapeproof_config *config = sp_config_variant(asked->config);
    struct shapeproof_error error = {0};
    const struct sp_poly *sum = NULL;
    const char **keys = sp_arena_array(arena, count, sizeof *keys), *unread = NULL;
    for (size_t i = 0; i < count; i++) {
        keys[i] = sp_trial_key_of_name(&asked->trial, settings[i].key);
        if (!keys[i]) keys[i] = settings[i].key;
        sp_config_set_value(config, keys[i], settings[i].value, "the expression");
    }
    struct shapeproof_prediction *prediction = predict_table(asked->expressions, config, &error);
    const char *unknown =
        prediction ? sp_prediction_unknown_setting(prediction, asked->expressions->tables, config) : NULL;
    for (size_t i = 0; prediction && i < count && !unread; i++) unread = why_not_read(arena, prediction, keys[i]);
    if (!prediction) *why = sp_arena_copy(arena, error.message, sp_first_line(error.message));
    else if (unread && !unknown) *why = unread;
    else if (unknown) *why = sp_arena_printf(arena, "the table has no hyper-parameter '%s'", unknown);
    else {
        const struct sp_group_sums sums = sp_verify_predicted_sums(arena, prediction);
        sum = sp_trial_sum_of_group(&asked->trial, &sums, name);
        if (!sum) *why = sp_arena_printf(arena, "the table has no group [%s]", name);
    }
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return sum;
}

/* ---- measures ---- */

/* "2 of 8 experts", for a share of the group that is the same in all layers. */
static void put_share(struct sp_text *text, const struct sp_share_count *share)
{
    struct sp_rational part, whole;
    if (text->length) sp_text_puts(text, "; ");
    if (sp_poly_is_constant(share->part, &part) && sp_poly_is_constant(share->whole, &whole))
        sp_text_printf(text, "%" PRId64 " of %" PRId64 " %s", part.num, whole.num, share->group);
    else sp_text_printf(text, "a share of the %s that differs between layers", share->group);
}

/* Says of a measure what it counts: the parameters in use of the group, or of all for NULL. */
static void describe_active(struct asked *asked, const char *group, struct shapeproof_evaluated *item)
{
    const struct sp_active_count *active = &asked->trial.count->active;
    struct sp_rational whole;
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    if (!group && active->has_lookup) sp_text_puts(&text, "with the input embedding");
    for (size_t i = 0; i < active->share_count; i++)
        if (!group || sp_group_is_in(asked->expressions->table, active->shares[i].group, group))
            put_share(&text, &active->shares[i]);
    item->unit = "parameters";
    item->convention = sp_text_keep(&text, asked->trial.arena);
    const struct sp_poly *all = sp_trial_group(&asked->trial, group);
    if (sp_poly_is_constant(all, &whole)) item->whole = (uint64_t)whole.num;
}

/* Bytes are whole: what the processes share is rounded up where their number does not divide it. */
static void describe_bytes(struct asked *asked, const char *convention, struct shapeproof_evaluated *item)
{
    const struct shapeproof_fraction exact = item->value;
    item->unit = "bytes";
    item->convention = convention;
    if (exact.denominator <= 1) return;
    item->value = (struct shapeproof_fraction){exact.numerator / exact.denominator + 1, 1};
    item->number = (double)item->value.numerator;
    item->text = sp_arena_printf(asked->trial.arena, "%" PRId64, item->value.numerator);
}

/* The parameters of a rank, with how they are divided. */
static void describe_parameters(const char *convention, struct shapeproof_evaluated *item)
{
    item->unit = "parameters";
    item->convention = convention;
}

/* The value of another expression in the place of the one that is evaluated. */
static struct sp_expression_value evaluate_instead(struct asked *asked, struct sp_expr *expr)
{
    const struct sp_claim *claim = asked->trial.claim;
    struct sp_claim other = *claim;
    other.left = expr;
    asked->trial.claim = &other;
    const struct sp_expression_value value = sp_expression_evaluate(&asked->trial, varied_group);
    asked->trial.claim = claim;
    return value;
}

/* Whether causal attention is asked for, and takes less than full attention. It does not in an encoder, where every
 * token attends to all. */
static bool is_causal(struct asked *asked, const struct sp_expr *flops, const struct shapeproof_evaluated *item)
{
    struct sp_expr full = *flops;
    if (!(flops->value.integer & SP_FLOPS_CAUSAL)) return false;
    full.value = sp_value_int(flops->value.integer & ~(int64_t)SP_FLOPS_CAUSAL);
    const struct sp_expression_value other = evaluate_instead(asked, &full);
    return !other.text || strcmp(other.text, item->text) != 0;
}

/* "forward pass, full attention, 2 operations a multiply-add; 2 of 8 experts". */
static void describe_flops(struct asked *asked, const struct sp_expr *expr, struct shapeproof_evaluated *item)
{
    const struct sp_active_count *flops = &asked->trial.count->flops;
    const struct sp_unit *table = asked->expressions->table;
    struct sp_text text = {0};
    sp_text_puts(&text, expr->value.integer & SP_FLOPS_TRAINING ? "forward and backward pass" : "forward pass");
    if (expr->value.integer & SP_FLOPS_WEIGHTS_ALONE) sp_text_puts(&text, " without attention scores");
    else if (flops->has_attention)
        sp_text_puts(&text, is_causal(asked, expr, item) ? ", causal attention" : ", full attention");
    sp_text_puts(&text, ", 2 operations a multiply-add");
    if (table->inputs)
        sp_text_puts(&text, table->are_inputs_apart           ? "; the tokens are those of the text alone"
                            : table->inputs == SP_INPUT_IMAGE ? "; the tokens include those of the images"
                            : table->inputs == SP_INPUT_SOUND ? "; the tokens include those of the sounds"
                                                              : "; the tokens include those of the images and sounds");
    for (size_t i = 0; i < flops->share_count; i++)
        if (!expr->name || sp_group_is_in(table, flops->shares[i].group, expr->name))
            put_share(&text, &flops->shares[i]);
    item->unit = "operations";
    item->convention = sp_text_keep(&text, asked->trial.arena);
}

/* The bytes of the cache that is asked for, if the form of latent keys and values were the other one. */
static struct sp_expression_value cache_in_other_form(struct asked *asked)
{
    struct sp_expr cache = *asked->trial.claim->left, form = *cache.args[SP_CACHE_EXPANDED];
    struct sp_expr *args[SP_CACHE_ARGUMENTS] = {0};
    memcpy(args, cache.args, cache.count * sizeof *args);
    form.value = sp_value_bool(!form.value.boolean);
    args[SP_CACHE_EXPANDED] = &form;
    cache.args = args;
    return evaluate_instead(asked, &cache);
}

/* Says of a cache with latent keys and values in which form it has them, unless the words about ranks do, and what the
 * other form takes. */
static void describe_form(struct asked *asked, const struct sp_expr *cache, struct shapeproof_evaluated *item)
{
    static const char latent[] = "latent keys and values";
    const struct sp_expression_value other = cache_in_other_form(asked);
    struct sp_text text = {0};
    const bool is_expanded = cache->args[SP_CACHE_EXPANDED]->value.boolean;
    if (!other.text || strcmp(other.text, item->text) == 0) return;
    if (*item->convention) sp_text_printf(&text, "%s; ", item->convention);
    if (is_expanded) sp_text_puts(&text, "of expanded keys and values; ");
    else if (!strstr(item->convention, latent)) sp_text_printf(&text, "of %s; ", latent);
    sp_text_printf(&text, "form=%s takes ", is_expanded ? "latent" : "expanded");
    sp_text_grouped(&text, (uint64_t)other.exact.num);
    item->convention = sp_text_keep(&text, asked->trial.arena);
}

/* ---- all of them ---- */

/* Whether the expression is a group of the table, without other settings. */
static bool names_group(const struct sp_expr *expr)
{
    return expr->kind == SP_EXPR_BRACKET || (expr->kind == SP_EXPR_GROUP && !expr->count);
}

/* [language] counts the tensors of the group alone if it has some; says that those of the tables it uses are left out:
 * "[language: layers]". A prediction lists these groups; without one, this says nothing. */
static void describe_group(struct asked *asked, const char *name, struct shapeproof_evaluated *item)
{
    const struct sp_group_sums *sums = asked->trial.sums;
    const size_t length = strlen(name);
    for (size_t i = 0; sums && i < sums->count; i++) {
        const char *other = sums->items[i].name;
        if (strncmp(other, name, length) != 0 || strncmp(other + length, ": ", 2) != 0) continue;
        if (sp_group_is_in(asked->expressions->table, other, name)) return;
        describe_parameters(sp_arena_printf(asked->trial.arena,
                                            "without the groups of the tables that [%s] uses, such as [%s]", name,
                                            other),
                            item);
        return;
    }
}

/* Counts the table, with everything as configured. False with the mistakes in the messages of the count. */
static bool count_table(struct asked *asked)
{
    const struct shapeproof_expressions *expressions = asked->expressions;
    return sp_count_settled(asked->trial.count, expressions->tables, expressions->table,
                            sp_config_hyper(asked->config));
}

/* Evaluates each expression. One without a value has the reason in `why`. False with the mistakes in the messages of
 * the count. */
static bool evaluate_all(struct shapeproof_evaluation *evaluation, struct asked *asked)
{
    const struct sp_unit *unit = asked->expressions->unit;
    evaluation->count = unit->claim_count;
    evaluation->items = sp_arena_array(&evaluation->arena, unit->claim_count, sizeof *evaluation->items);
    for (size_t i = 0; i < unit->claim_count; i++) {
        const struct sp_span span = unit->claims[i].span;
        evaluation->items[i] = (struct shapeproof_evaluated){
            .expression = sp_arena_copy(&evaluation->arena, span.source->text + span.offset, span.length)};
        if (i && !sp_count_give_back(asked->trial.count)) return false;
        asked->trial.claim = &unit->claims[i];
        const struct sp_expression_value value = sp_expression_evaluate(&asked->trial, varied_group);
        evaluation->items[i].text = value.text;
        evaluation->items[i].value = (struct shapeproof_fraction){value.exact.num, value.exact.den};
        evaluation->items[i].number = value.number;
        evaluation->items[i].why = value.why;
        const struct sp_expr *asked_for = unit->claims[i].left;
        if (value.is_bytes) describe_bytes(asked, value.convention, &evaluation->items[i]);
        else if (value.convention) describe_parameters(value.convention, &evaluation->items[i]);
        else if (value.text && names_group(asked_for)) describe_group(asked, asked_for->name, &evaluation->items[i]);
        if (value.text && asked_for->kind == SP_EXPR_FLOPS) describe_flops(asked, asked_for, &evaluation->items[i]);
        if (value.text && asked_for->kind == SP_EXPR_CACHE) describe_form(asked, asked_for, &evaluation->items[i]);
        if (value.is_active)
            describe_active(asked, asked_for->kind == SP_EXPR_ACTIVE ? asked_for->name : NULL, &evaluation->items[i]);
    }
    return true;
}

/* Counts the table with all settled, and evaluates the expressions. [group] and `total` are those of the prediction, or
 * for NULL those of the count. */
static struct shapeproof_evaluation *evaluate(const struct shapeproof_expressions *expressions,
                                              const struct shapeproof_config *config,
                                              const struct shapeproof_prediction *prediction,
                                              const struct sp_group_sums *stored, struct shapeproof_error *error)
{
    struct shapeproof_evaluation *evaluation = sp_realloc(NULL, 1, sizeof *evaluation);
    *evaluation = (struct shapeproof_evaluation){.count = 0};
    struct sp_count count = {.table = NULL};
    struct sp_group_sums sums = {.count = 0};
    if (prediction) sums = sp_verify_predicted_sums(&evaluation->arena, prediction);
    struct asked asked = {.trial = {.arena = &evaluation->arena,
                                    .count = &count,
                                    .unit = expressions->unit,
                                    .sums = prediction ? &sums : NULL,
                                    .stored = stored},
                          .expressions = expressions,
                          .config = config};
    const bool counted = count_table(&asked) && evaluate_all(evaluation, &asked);
    if (!counted) sp_fail_lines(error, SHAPEPROOF_ERR_TABLE, sp_sym_failure(&count.symbolic), count.messages.data);
    sp_count_free(&count);
    if (counted) return evaluation;
    shapeproof_evaluation_free(evaluation);
    return NULL;
}

struct shapeproof_evaluation *shapeproof_evaluate(const struct shapeproof_expressions *expressions,
                                                  const struct shapeproof_config *config,
                                                  const struct shapeproof_evaluate_options *options,
                                                  struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("evaluating the expressions");
    static const struct shapeproof_evaluate_options none = {0};
    sp_error_reset(error);
    assert(expressions && config);
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    struct shapeproof_prediction *own = options->prediction ? NULL : predict_table(expressions, config, error);
    const struct shapeproof_prediction *prediction = own ? own : options->prediction;
    if (!prediction) return NULL;
    const struct sp_group_sums *stored = options->checkpoint ? &options->checkpoint->sums : NULL;
    struct shapeproof_evaluation *evaluation = evaluate(expressions, config, prediction, stored, error);
    shapeproof_prediction_free(own);
    return evaluation;
}

struct shapeproof_evaluation *sp_evaluate_by_count(const struct shapeproof_expressions *expressions,
                                                   const struct shapeproof_config *config,
                                                   struct shapeproof_error *error)
{
    return evaluate(expressions, config, NULL, NULL, error);
}

void shapeproof_evaluation_free(struct shapeproof_evaluation *evaluation)
{
    if (!evaluation) return;
    sp_arena_free(&evaluation->arena);
    sp_free(evaluation);
}

size_t shapeproof_evaluation_count(const struct shapeproof_evaluation *evaluation) { return evaluation->count; }

const struct shapeproof_evaluated *shapeproof_evaluation_get(const struct shapeproof_evaluation *evaluation,
                                                             size_t index)
{
    assert(index < evaluation->count);
    return &evaluation->items[index];
}
