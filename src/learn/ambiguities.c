/* SPDX-License-Identifier: MIT
 * What the examples cannot tell apart. Every expression that was chosen among equals is a choice; the same choice at
 * many places is one, and an experiment decides them all. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "learn/learning.h"
#include "learn/terms/evidence.h"
#include "learn/terms/likely.h"
#include "learn/terms/terms.h"

/* ---- numbers that the examples share ---- */

/* Numbers in expressions that may be keys: the 4 of hidden_size // 4, where every example has 32 heads and 8 of them
 * for keys. */

enum {
    UNLIKELY = 20,    /* the cost from which on a key hardly has to do with a size */
    LEAST_OF_KEY = 4, /* numbers from here on may be a key, */
    LEAST_OF_TWO = 3  /* and from here on a product or a quotient of two */
};

/* The number that it is in all examples, and which therefore cannot be told from that number; 0 for anything else. */
static double constant_of_terminal(const struct sp_evidence *evidence, const struct sp_terminal *terminal)
{
    if (terminal->meaning || terminal->cost >= UNLIKELY || !sp_terminal_is_constant(terminal, evidence->count))
        return 0;
    return terminal->values[0].type == SHAPEPROOF_VALUE_INT && terminal->values[0].integer > 1
               ? (double)terminal->values[0].integer
               : 0;
}

static const struct sp_search_term *key_of_terminal(struct sp_evidence *evidence, const struct sp_terminal *terminal)
{
    return sp_search_term_terminal(evidence->arena, SP_TERM_KEY, terminal);
}

/* A key that is this number in all examples, or NULL. */
static const struct sp_search_term *one_key(struct sp_evidence *evidence, double number)
{
    for (size_t i = 0; i < evidence->terminals.count && number >= (double)LEAST_OF_KEY; i++)
        if (constant_of_terminal(evidence, evidence->terminals.items[i]) == number)
            return key_of_terminal(evidence, evidence->terminals.items[i]);
    return NULL;
}

/* The product or the quotient of `a` and another key, if it is this number in all examples; or NULL. */
static const struct sp_search_term *two_keys(struct sp_evidence *evidence, const struct sp_terminal *a, double number)
{
    const double first = constant_of_terminal(evidence, a);
    for (size_t i = 0; i < evidence->terminals.count && first > 0; i++) {
        const struct sp_terminal *b = evidence->terminals.items[i];
        const double second = b == a ? 0 : constant_of_terminal(evidence, b);
        const bool product = second > 0 && first * second == number;
        if (!product && !(second > 0 && first == number * second)) continue;
        return sp_search_term_binary(evidence->arena, product ? SP_TERM_MULTIPLY : SP_TERM_DIVIDE,
                                     key_of_terminal(evidence, a), key_of_terminal(evidence, b));
    }
    return NULL;
}

static const struct sp_search_term *keys_of_number(struct sp_evidence *evidence, double number)
{
    const struct sp_search_term *found = one_key(evidence, number);
    for (size_t i = 0; !found && i < evidence->terminals.count && number >= (double)LEAST_OF_TWO; i++)
        found = two_keys(evidence, evidence->terminals.items[i], number);
    return found;
}

/* The first number in the term that a key, or the product or quotient of two, is in all examples; NULL when there is
 * none. `*as` is that key, or those. */
static const struct sp_search_term *number_that_may_be_key(struct sp_evidence *evidence,
                                                           const struct sp_search_term *term,
                                                           const struct sp_search_term **as)
{
    if (!term) return NULL;
    if (term->op == SP_TERM_NUMBER) {
        *as = keys_of_number(evidence, term->number);
        return *as ? term : NULL;
    }
    const struct sp_search_term *found = number_that_may_be_key(evidence, term->a, as);
    if (!found) found = number_that_may_be_key(evidence, term->b, as);
    return found ? found : number_that_may_be_key(evidence, term->c, as);
}

/* ---- undecided ---- */

enum {
    MOST_UNVARIED = 400, /* keys that are looked at */
    NEAR = 3,            /* the affinity from which on a key could be about the name */
    MOST_IDLE = 3        /* keys that are named in one report */
};

static const char *words_of_term(struct sp_arena *arena, const struct sp_search_term *term)
{
    struct sp_text text = {0};
    sp_search_term_write(&text, term, SP_KEYS_BY_PATH);
    return sp_text_keep(&text, arena);
}

static const char *list_alternatives(struct sp_arena *arena, const struct sp_answer *answer)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < answer->other_count; i++) {
        if (i) sp_text_puts(&text, ", ");
        sp_search_term_write(&text, answer->others[i], SP_KEYS_BY_PATH);
    }
    return sp_text_keep(&text, arena);
}

static struct sp_ambiguity *find_choice(struct shapeproof_learning *learning, const char *chosen,
                                        const char *alternatives)
{
    for (size_t i = 0; i < learning->undecided.count; i++) {
        struct sp_ambiguity *known = &learning->undecided.items[i];
        if (strcmp(known->told.chosen, chosen) == 0 && strcmp(known->told.alternatives, alternatives) == 0)
            return known;
    }
    return NULL;
}

/* Whether a term is a truth value. */
static bool is_condition(const struct sp_search_term *term)
{
    switch (term->op) {
    case SP_TERM_TRUTH:
    case SP_TERM_IS:
    case SP_TERM_ABSENT:
    case SP_TERM_NULL:
    case SP_TERM_IS_LIST:
    case SP_TERM_CONTAINED:
        return true;
    default:
        return term->op >= SP_TERM_EQUAL;
    }
}

/* Which checkpoint would decide an ambiguity, for people. */
static const char *experiment_for(struct sp_arena *arena, const char *chosen, const struct sp_answer *answer)
{
    if (!answer->other_count && answer->short_loop) return "a checkpoint whose loop has more iterations";
    if (!answer->other_count && answer->term->op != SP_TERM_NUMBER)
        return "any other checkpoint: it is a long expression";
    if (!answer->other_count) return sp_arena_printf(arena, "a checkpoint in which it is not %s", chosen);
    const char *other = words_of_term(arena, answer->others[0]);
    if (is_condition(answer->term))
        return sp_arena_printf(arena, "a checkpoint in which one of '%s' and '%s' holds, and not the other", chosen,
                               other);
    const bool number = answer->term->op == SP_TERM_NUMBER;
    return sp_arena_printf(arena, "a checkpoint whose %s is not %s", number ? other : chosen, number ? chosen : other);
}

/* Whether an answer is reported as undecided: it has alternatives, is a number above 1 (which may be a key), may be an
 * accident, or depends on a loop with hardly any iterations. */
static bool is_choice(const struct sp_answer *answer)
{
    return answer->other_count || answer->short_loop || sp_is_accident(answer) ||
           (answer->term->op == SP_TERM_NUMBER && answer->term->number > 1);
}

/* Where a choice was made. */
struct ambiguous {
    struct shapeproof_learning *learning;
    struct sp_asked asked;
};

static struct shapeproof_undecided_place place_of_ambiguity(struct sp_arena *arena, struct sp_asked asked)
{
    const char *row = sp_row_shown(arena, asked.pattern);
    return (struct shapeproof_undecided_place){asked.is_loop ? sp_arena_printf(arena, "%s{}*", row) : row,
                                               asked.dimension};
}

/* Adds a place to the ambiguity with these words, which is made if it is new. */
static void count_choice(const struct ambiguous *ambiguous, struct shapeproof_undecided choice)
{
    struct shapeproof_learning *learning = ambiguous->learning;
    struct sp_ambiguity *known = find_choice(learning, choice.chosen, choice.alternatives);
    if (!known) {
        known = SP_PUSH(&learning->undecided);
        *known = (struct sp_ambiguity){.told = choice};
    }
    *SP_PUSH(&known->places) = place_of_ambiguity(&learning->arena, ambiguous->asked);
    known->told.places = known->places.count;
}

/* Reports that a number in a term may be a key: the 4 of hidden_size // 4, if a key is 4 in all examples. */
static void ambiguity_number(const struct ambiguous *ambiguous, const struct sp_answer *answer)
{
    struct sp_arena *arena = &ambiguous->learning->arena;
    const struct sp_search_term *as = NULL, *number = NULL;
    if (answer->term->op != SP_TERM_NUMBER)
        number = number_that_may_be_key(&ambiguous->learning->evidence, answer->term, &as);
    if (!number) return;
    const char *keys = words_of_term(arena, as), *digits = words_of_term(arena, number);
    count_choice(ambiguous,
                 (struct shapeproof_undecided){
                     .chosen = sp_arena_printf(arena, "the %s of %s", digits, words_of_term(arena, answer->term)),
                     .alternatives = keys,
                     .experiment = sp_arena_printf(arena, "a checkpoint whose %s is not %s", keys, digits)});
}

/* How many items a list of sizes has is hardly a size: 2^(len(filters) - 1) for filters[2]. */
static bool asks_length_of_sizes(const struct sp_search_term *term)
{
    if (!term || term->op == SP_TERM_ITEM || term->op == SP_TERM_AT) return false;
    if (term->op == SP_TERM_LENGTH) {
        const struct shapeproof_value list = term->terminal->values[0];
        return list.type == SHAPEPROOF_VALUE_LIST && list.count && list.items[0].type == SHAPEPROOF_VALUE_INT;
    }
    return asks_length_of_sizes(term->a) || asks_length_of_sizes(term->b) || asks_length_of_sizes(term->c);
}

/* Reports an answer that has alternatives, or that rests on little evidence. */
static void ambiguity_answer(const struct ambiguous *ambiguous, const struct sp_answer *answer)
{
    struct sp_arena *arena = &ambiguous->learning->arena;
    ambiguity_number(ambiguous, answer);
    const bool is_far_fetched = ambiguous->asked.dimension >= 0 && asks_length_of_sizes(answer->term);
    if (!is_choice(answer) && !is_far_fetched) return;
    const char *chosen = words_of_term(arena, answer->term);
    count_choice(ambiguous, (struct shapeproof_undecided){.chosen = chosen,
                                                          .alternatives = list_alternatives(arena, answer),
                                                          .experiment = experiment_for(arena, chosen, answer)});
}

/* Reports the choice of a default at each place where its symbol is used. */
static void ambiguity_default(void *context, const struct sp_terminal *terminal)
{
    const struct ambiguous *ambiguous = context;
    const struct sp_learn_problem *problem = &ambiguous->learning->problem;
    for (size_t i = 0; terminal->meaning && i < problem->defaults.count; i++)
        if (problem->defaults.items[i].symbol == terminal)
            ambiguity_answer(ambiguous, &problem->defaults.items[i].answer);
}

/* Sets *context, a terminal, to NULL if it has the path of this one. */
static void strike_terminal(void *context, const struct sp_terminal *terminal)
{
    const struct sp_terminal **wanted = context;
    if (*wanted && strcmp((*wanted)->path, terminal->path) == 0) *wanted = NULL;
}

/* A number, or an object, which may count by its length, that some of the examples have and others have not. */
static bool is_partial(const struct sp_evidence *evidence, const struct sp_terminal *terminal)
{
    size_t numbers = 0;
    for (size_t e = 0; e < evidence->count; e++) {
        const enum shapeproof_value_type type = terminal->values[e].type;
        if (type > SHAPEPROOF_VALUE_NULL && type != SHAPEPROOF_VALUE_INT && type != SHAPEPROOF_VALUE_OBJECT)
            return false;
        numbers += type > SHAPEPROOF_VALUE_NULL;
    }
    return numbers && numbers < evidence->count && !terminal->meaning && terminal->cost < UNLIKELY;
}

static const char *last_word(const char *path)
{
    const char *word = strrchr(path, '_');
    return word ? word : path;
}

/* Whether another key of the same kind has the same values in every example, as num_attention_heads may have those of
 * num_key_value_heads. */
static bool has_twin(const struct sp_evidence *evidence, const struct sp_terminal *terminal)
{
    if (terminal->meaning || terminal->cost >= UNLIKELY || sp_terminal_is_constant(terminal, evidence->count))
        return false;
    for (size_t i = 0; i < evidence->terminals.count; i++) {
        const struct sp_terminal *other = evidence->terminals.items[i];
        size_t e = 0;
        while (e < evidence->count && terminal->values[e].type == SHAPEPROOF_VALUE_INT &&
               other->values[e].type == SHAPEPROOF_VALUE_INT && terminal->values[e].integer == other->values[e].integer)
            e++;
        if (other != terminal && !other->meaning && e == evidence->count &&
            strcmp(last_word(terminal->path), last_word(other->path)) == 0)
            return true;
    }
    return false;
}

/* Whether a key counts layers, so that it is no size of one. */
static bool counts_layers(const struct sp_terminal *terminal)
{
    return strstr(terminal->path, "num_layers") || strstr(terminal->path, "hidden_layers") ||
           strstr(terminal->path, "depth");
}

/* Whether a key that is not in the answer could be in it, although the examples cannot show it: it goes with the name,
 * and is in some examples only or equal to another key. */
static bool is_idle_key(const struct ambiguous *ambiguous, const struct sp_answer *answer,
                        const struct sp_terminal *terminal)
{
    const struct sp_evidence *evidence = &ambiguous->learning->evidence;
    const struct sp_terminal *missing = terminal;
    if (counts_layers(terminal) || (!is_partial(evidence, terminal) && !has_twin(evidence, terminal))) return false;
    const struct sp_search_term *key = sp_search_term_terminal(&ambiguous->learning->arena, SP_TERM_KEY, terminal);
    if (sp_search_term_proper_affinity(key, ambiguous->asked.pattern) < NEAR) return false;
    sp_search_term_terminals(answer->term, strike_terminal, &missing);
    return missing != NULL;
}

/* Reports the keys that a size may depend on although its answer has none of them: k_proj is hidden_size wide in all
 * examples, and num_key_value_heads, where it is given, equals the number of heads. */
static void ambiguity_idle_keys(const struct ambiguous *ambiguous, const struct sp_answer *answer)
{
    const struct sp_evidence *evidence = &ambiguous->learning->evidence;
    struct sp_arena *arena = &ambiguous->learning->arena;
    struct sp_text keys = {0};
    size_t count = 0;
    for (size_t i = 0; i < evidence->terminals.count && ambiguous->asked.dimension >= 0; i++)
        if (is_idle_key(ambiguous, answer, evidence->terminals.items[i]) && count++ < MOST_IDLE)
            sp_text_printf(&keys, count > 1 ? ", %s" : "%s", evidence->terminals.items[i]->path);
    if (count > MOST_IDLE) sp_text_printf(&keys, " and %zu more", count - MOST_IDLE);
    const char *list = sp_text_keep(&keys, arena);
    if (count)
        count_choice(ambiguous, (struct shapeproof_undecided){
                                    .chosen = words_of_term(arena, answer->term),
                                    .alternatives = sp_arena_printf(arena, "one with %s", list),
                                    .experiment = sp_arena_printf(arena, "checkpoints with other values of %s", list)});
}

/* Whether a size of the row is one of the keys of the condition: of a rank that is 0 there is no matrix. */
static bool is_size_of_row(const struct sp_layout *layout, const struct sp_search_term *condition, const char *pattern)
{
    for (size_t i = 0; i < layout->rows.count; i++) {
        const struct sp_tensor_row *row = &layout->rows.items[i];
        for (uint32_t d = 0; d < row->rank && row->is_solved && strcmp(row->pattern, pattern) == 0; d++)
            for (size_t k = 0; k < layout->evidence->terminals.count; k++) {
                const struct sp_terminal *in_size = layout->evidence->terminals.items[k], *in_condition = in_size;
                sp_search_term_terminals(row->dims[d].term, strike_terminal, &in_size);
                sp_search_term_terminals(condition, strike_terminal, &in_condition);
                if (!in_size && !in_condition) return true;
            }
    }
    return false;
}

/* Whether a comparison is of the first two dimensions of the row: hidden_size != embedding_size, for a matrix between
 * the two. */
static bool compares_dims_of_row(const struct sp_layout *layout, const struct sp_search_term *term, const char *pattern)
{
    for (size_t i = 0; i < layout->rows.count; i++) {
        const struct sp_tensor_row *row = &layout->rows.items[i];
        if (!row->is_solved || row->rank < 2 || strcmp(row->pattern, pattern) != 0) continue;
        const struct sp_search_term *out = row->dims[0].term, *in = row->dims[1].term;
        if ((sp_search_terms_equal(term->a, out) && sp_search_terms_equal(term->b, in)) ||
            (sp_search_terms_equal(term->a, in) && sp_search_terms_equal(term->b, out)))
            return true;
    }
    return false;
}

/* Whether it compares numbers that are no dimensions of the row: out_channels == num_res_units, layers > 4. That holds
 * in a few examples by accident, whatever its keys are called. */
static bool compares_counts(const struct sp_layout *layout, const struct sp_search_term *term, const char *pattern)
{
    if (!term) return false;
    const bool compares = term->op == SP_TERM_EQUAL || term->op == SP_TERM_LESS || term->op == SP_TERM_AT_LEAST;
    if (!compares) return compares_counts(layout, term->a, pattern) || compares_counts(layout, term->b, pattern);
    const struct sp_search_term *number = term->a->op == SP_TERM_NUMBER   ? term->a
                                          : term->b->op == SP_TERM_NUMBER ? term->b
                                                                          : NULL;
    return number ? number->number > 1 : !compares_dims_of_row(layout, term, pattern);
}

/* Reports a condition, or a count, whose keys have nothing to do with the name, or that compares unrelated numbers: the
 * examples may have it by accident. */
static void ambiguity_stranger(const struct ambiguous *ambiguous, const struct sp_answer *answer)
{
    struct sp_arena *arena = &ambiguous->learning->arena;
    const struct sp_asked asked = ambiguous->asked;
    const struct sp_layout *layout = &ambiguous->learning->problem.layout;
    if (asked.dimension >= 0 || is_choice(answer) || sp_indices_of(answer->term)) return;
    const bool counts = is_condition(answer->term) && compares_counts(layout, answer->term, asked.pattern);
    if (!counts && asked.is_loop) return;
    if (!counts && sp_search_term_affinity(answer->term, asked.pattern)) return;
    if (!counts && is_size_of_row(layout, answer->term, asked.pattern)) return;
    count_choice(ambiguous, (struct shapeproof_undecided){
                                .chosen = words_of_term(arena, answer->term),
                                .alternatives = "",
                                .experiment = counts ? "more checkpoints: these numbers may be equal by accident"
                                                     : "more checkpoints: its name is unrelated to the names of "
                                                       "these tensors"});
}

/* The answer for the first dimension of the weight, if the answer is that for a bias and has the same term: the bias is
 * ambiguous wherever its weight is. Any other answer is returned as it is. */
static const struct sp_answer *answer_of_weight(const struct sp_layout *layout, const struct sp_answer *answer,
                                                struct sp_asked asked)
{
    const size_t length = strlen(asked.pattern);
    if (asked.dimension != 0 || !sp_ends_with(asked.pattern, ".bias")) return answer;
    for (size_t i = 0; i < layout->rows.count; i++) {
        const struct sp_tensor_row *row = &layout->rows.items[i];
        const bool beside = row->is_solved && row->rank > 1 && strncmp(row->pattern, asked.pattern, length - 4) == 0 &&
                            strcmp(row->pattern + length - 4, "weight") == 0;
        if (beside && sp_search_terms_equal(row->dims[0].term, answer->term)) return &row->dims[0];
    }
    return answer;
}

static void add_choice(void *context, const struct sp_answer *chosen, struct sp_asked asked)
{
    struct ambiguous ambiguous = {context, asked};
    const struct sp_answer *answer = answer_of_weight(&ambiguous.learning->problem.layout, chosen, asked);
    ambiguity_answer(&ambiguous, answer);
    ambiguity_idle_keys(&ambiguous, answer);
    ambiguity_stranger(&ambiguous, answer);
    sp_search_term_terminals(answer->term, ambiguity_default, &ambiguous);
}

const char *sp_ambiguity_places(struct sp_arena *arena, const struct sp_ambiguity *ambiguity)
{
    enum { MOST_SHOWN = 3 };
    struct sp_text text = {0};
    size_t rows = 0;
    for (size_t i = 0; i < ambiguity->places.count; i++) {
        if (i && strcmp(ambiguity->places.items[i].row, ambiguity->places.items[i - 1].row) == 0) continue;
        if (rows++ < MOST_SHOWN) sp_text_printf(&text, rows > 1 ? ", %s" : "%s", ambiguity->places.items[i].row);
    }
    if (rows > MOST_SHOWN) sp_text_printf(&text, " and %zu more", rows - MOST_SHOWN);
    return sp_text_keep(&text, arena);
}

/* The order of ambiguities: those at most places first, then by their words. */
static int compare_choices(const void *left, const void *right)
{
    const struct shapeproof_undecided *a = &((const struct sp_ambiguity *)left)->told,
                                      *b = &((const struct sp_ambiguity *)right)->told;
    if (a->places != b->places) return a->places < b->places ? 1 : -1;
    const int order = strcmp(a->chosen, b->chosen);
    return order ? order : strcmp(a->alternatives, b->alternatives);
}

/* Whether a key is absent or null in each example. */
static bool is_never_set(const struct sp_terminal *terminal, size_t examples)
{
    for (size_t e = 0; e < examples; e++)
        if (sp_value_is_set(terminal->values[e])) return false;
    return true;
}

static void strike_in_answer(void *context, const struct sp_answer *answer, struct sp_asked asked)
{
    (void)asked;
    sp_search_term_terminals(answer->term, strike_terminal, context);
}

/* Whether an expression of the table has the key. */
static bool is_in_table(const struct shapeproof_learning *learning, const struct sp_terminal *terminal)
{
    const struct sp_terminal *missing = terminal;
    sp_layout_answers(&learning->problem.layout, strike_in_answer, &missing);
    return !missing;
}

/* Whether a key is a flag of a tie that no row depends on. The examples cannot show what it changes: wherever it would
 * have left out the head, something else did. */
static bool is_idle_tie(const struct shapeproof_learning *learning, const struct sp_terminal *terminal)
{
    static const char *const ties[] = {"tie_word_embeddings", "tie_encoder_decoder", "tied", "share_embed"};
    bool is_flag = false;
    for (size_t e = 0; e < learning->evidence.count; e++)
        is_flag = is_flag || terminal->values[e].type == SHAPEPROOF_VALUE_BOOL;
    return is_flag && SP_HAS_ANY(terminal->path, ties) && !is_in_table(learning, terminal);
}

/* Keys that could say something of a size or a condition, and are the same in all examples. */
static bool is_unvaried(const struct shapeproof_learning *learning, const struct sp_terminal *terminal)
{
    const enum shapeproof_value_type type = terminal->values[0].type;
    const bool could = type == SHAPEPROOF_VALUE_BOOL || type == SHAPEPROOF_VALUE_INT ||
                       type == SHAPEPROOF_VALUE_STRING || type == SHAPEPROOF_VALUE_LIST ||
                       type == SHAPEPROOF_VALUE_NULL;
    const size_t examples = learning->evidence.count;
    if (terminal->meaning || terminal->object || terminal->cost >= UNLIKELY) return false;
    if (sp_inners_read(&learning->inners, terminal->path)) return false;
    return (could && sp_terminal_is_constant(terminal, examples)) || is_never_set(terminal, examples) ||
           is_idle_tie(learning, terminal);
}

/* Whether the model has a head, to which its embedding could be tied. */
static bool has_head(const struct shapeproof_learning *learning)
{
    static const char *const words[] = {"head", "decoder", "predictions", "embed_out", "output"};
    const struct sp_layout *layout = &learning->problem.layout;
    for (size_t i = 0; i < layout->rows.count; i++)
        if (!layout->rows.items[i].index_count && SP_HAS_ANY(layout->rows.items[i].pattern, words)) return true;
    return false;
}

bool sp_is_unseen_flag(const struct shapeproof_learning *learning, const struct sp_terminal *terminal)
{
    static const char *const words[] = {"bias",  "gate", "use_",  "with_",    "add_",     "has_",
                                        "share", "pool", "_norm", "absolute", "relative", "cross_att"};
    static const char *const others[] = {"use_cache", "scale_",    "summary", "use_return",
                                         "use_mems",  "normalize", "topk"};
    if (terminal->meaning || terminal->values[0].type != SHAPEPROOF_VALUE_BOOL) return false;
    if (sp_inners_read(&learning->inners, terminal->path)) return false;
    if (!sp_terminal_is_constant(terminal, learning->evidence.count)) return false;
    if (SP_HAS_ANY(terminal->path, others)) return false;
    if (strstr(terminal->path, "tie_")) return has_head(learning);
    return SP_HAS_ANY(terminal->path, words);
}

static const char *list_unvaried(struct shapeproof_learning *learning)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < learning->evidence.terminals.count && i < MOST_UNVARIED; i++) {
        const struct sp_terminal *terminal = learning->evidence.terminals.items[i];
        if (!is_unvaried(learning, terminal)) continue;
        if (text.length) sp_text_puts(&text, ", ");
        sp_text_puts(&text, terminal->path);
    }
    return sp_text_keep(&text, &learning->arena);
}

/* Reports that the words of names may not come from this list: they may be fixed, if the list is the same in all
 * examples, or from another list that has the same items. Nothing is reported if neither is so. */
static void ambiguity_words(struct shapeproof_learning *learning, const struct sp_stem *stem)
{
    const struct sp_terminal *terminal = stem->listed->terminal, *other = stem->listed->other;
    const bool constant = sp_terminal_is_constant(terminal, learning->evidence.count);
    if (!constant && !other) return;

    const struct ambiguous ambiguous = {learning,
                                        {.pattern = stem->text, .is_loop = true, .dimension = SP_WHETHER_OR_HOW_MANY}};
    struct sp_text items = {0}, others = {0};
    sp_value_json(&items, terminal->values[0]);
    if (other) sp_text_printf(&others, "names in %s", other->path);
    if (constant) sp_text_printf(&others, "%snames in %s", other ? ", " : "", items.data);
    count_choice(&ambiguous, (struct shapeproof_undecided){
                                 .chosen = sp_arena_printf(&learning->arena, "names in %s", terminal->path),
                                 .alternatives = sp_text_keep(&others, &learning->arena),
                                 .experiment = sp_arena_printf(&learning->arena, "a checkpoint whose %s is not %s",
                                                               terminal->path, constant ? items.data : other->path)});
    sp_text_free(&items);
}

static bool is_stem_used(const struct sp_layout *layout, size_t stem)
{
    for (size_t r = 0; r < layout->rows.count; r++)
        for (size_t i = 0; i < layout->rows.items[r].index_count; i++)
            if (layout->rows.items[r].stems[i] == stem && !layout->rows.items[r].is_inner) return true;
    return false;
}

/* ---- parameters and buffers ---- */

/* "weight", "weight_ih_l0", "cls_token", "lora_A": a word that only parameters are called by. A causal mask that is
 * called bias has more than two dimensions. */
static bool is_called_as_parameter(const struct sp_tensor_row *row)
{
    static const char *const words[] = {"weight",     "bias",  "gamma", "beta",      "kernel", "embedding",
                                        "embeddings", "token", "lora",  "depthwise", "w",      "b"};
    const char *name = sp_behind_last(row->pattern, '.');
    if (strcmp(name, "bias") == 0 && row->rank > 2) return false;
    if (strcmp(name, "e_score_correction_bias") == 0)
        return false; /* which some models have as the one, some as the other */
    for (const char *word = name; *word;) {
        const size_t length = strcspn(word, "_/");
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strlen(words[i]) == length && strncmp(word, words[i], length) == 0) return true;
        word += length + (word[length] != '\0');
    }
    return false;
}

static bool has_sibling(const struct sp_layout *layout, const char *pattern, const char *name)
{
    const size_t module = (size_t)(sp_behind_last(pattern, '.') - pattern);
    for (size_t i = 0; i < layout->rows.count; i++) {
        const char *other = layout->rows.items[i].pattern;
        if (strncmp(other, pattern, module) == 0 && strcmp(other + module, name) == 0) return true;
    }
    return false;
}

/* A normalisation with statistics that counts no batches: a frozen one, all of which are buffers. */
static bool is_of_frozen_norm(const struct sp_layout *layout, const char *pattern)
{
    return has_sibling(layout, pattern, "running_mean") && has_sibling(layout, pattern, "running_var") &&
           !has_sibling(layout, pattern, "num_batches_tracked");
}

/* Reports rows that may be buffers, which no file says: those whose names are not those of parameters. */
static void ambiguity_buffers(struct shapeproof_learning *learning)
{
    const struct sp_layout *layout = &learning->problem.layout;
    for (size_t i = 0; i < layout->rows.count; i++) {
        const struct sp_tensor_row *row = &layout->rows.items[i];
        if (!row->is_solved || row->is_inner || sp_learn_is_buffer(row)) continue;
        if (is_called_as_parameter(row) && !is_of_frozen_norm(layout, row->pattern)) continue;
        const struct ambiguous ambiguous = {learning, {.pattern = row->pattern, .dimension = SP_WHETHER_BUFFER}};
        count_choice(&ambiguous, (struct shapeproof_undecided){
                                     .chosen = "a parameter",
                                     .alternatives = SP_MAY_BE_BUFFER,
                                     .experiment = "the program: no file says which of its tensors are buffers"});
    }
}

void sp_learn_ambiguity(struct shapeproof_learning *learning)
{
    const struct sp_layout *layout = &learning->problem.layout;
    sp_layout_answers(layout, add_choice, learning);
    for (size_t i = 0; i < layout->stems.count; i++)
        if (layout->stems.items[i].listed && is_stem_used(layout, i))
            ambiguity_words(learning, &layout->stems.items[i]);
    ambiguity_buffers(learning);
    if (learning->undecided.count)
        qsort(learning->undecided.items, learning->undecided.count, sizeof *learning->undecided.items, compare_choices);
    learning->unvaried = list_unvaried(learning);
}
