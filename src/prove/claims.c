/* SPDX-License-Identifier: MIT
 * Judging claims. Both sides become polynomials and are subtracted; what is left is the error of the claim, for all
 * hyper-parameters at once. What cannot be decided in this way is tried at many points and never called proved. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "prove/reduce.h"
#include "shapeproof/prove.h"

enum { MAX_CASES = 10, POINTS = 60, MAX_SMALL = 4 };

struct sp_proofs {
    struct sp_arena arena;
    struct sp_proof *items;
    size_t count, capacity;
};

/* One claim being judged. */
struct trial {
    struct sp_proofs *out;
    struct sp_count *count;
    const struct sp_unit *unit; /* where the claim stands */
    const struct sp_claim *claim;
    struct sp_values when;
    const struct sp_poly *left, *right, *error; /* right - left: what the claim says too much */
    struct sp_proof proof;
};

const char *sp_verdict_on_claim_name(enum sp_verdict_on_claim verdict)
{
    static const char *const names[] = {"proved", "refuted", "tested", "undecided"};
    return names[verdict];
}

/* ---- reading the claim ---- */

static struct sp_sym_frame *claims_frame(struct trial *trial)
{
    struct sp_arena *arena = &trial->count->symbolic.algebra.arena;
    if (!trial->unit->about) return trial->count->frame;
    struct sp_sym_frame *frame = sp_arena_alloc(arena, sizeof *frame);
    *frame = (struct sp_sym_frame){.unit = trial->unit, .path = "", .prefix = ""};
    frame->cache = sp_arena_array(arena, trial->unit->definition_count, sizeof *frame->cache);
    frame->cached = sp_arena_array(arena, trial->unit->definition_count, 1);
    return frame;
}

static struct sp_sym_env claim_env(struct trial *trial)
{
    struct sp_sym_env env = {.frame = claims_frame(trial), .group = sp_count_group, .context = trial->count};
    if (trial->unit->about) env.outer = trial->count->frame;
    return env;
}

static bool undecided(struct trial *trial, const char *why)
{
    trial->proof.verdict = SP_UNDECIDED;
    trial->proof.difference = sp_arena_string(&trial->out->arena, why);
    return false;
}

static bool undecided_by_messages(struct trial *trial)
{
    struct sp_text *messages = &trial->count->messages;
    char *message = messages->data;
    if (message) message[strcspn(message, "\n")] = '\0'; /* the source line is shown with the claim */
    undecided(trial, message ? message : "cannot be evaluated");
    sp_text_free(messages);
    trial->count->symbolic.mistakes = 0;
    return false;
}

/* "not tied" gives tied the value 0; a condition that is no single one cannot be used. */
static bool condition_value(struct trial *trial, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    const struct sp_poly *condition, *other;
    if (!sp_sym_condition(&trial->count->symbolic, env, expr, &condition)) return undecided_by_messages(trial);
    other = sp_poly_sub(algebra, sp_poly_int(algebra, 1), condition);
    const struct sp_poly *single = condition->count == 1 ? condition : other;
    if (single->count != 1 || single->terms[0].count != 1)
        return undecided(trial, "this 'when' is neither NAME = value nor a condition of the table");
    sp_values_add(&trial->when, single->terms[0].factors[0].atom, sp_poly_int(algebra, single == condition));
    return true;
}

/* rnn_cell_type = "gru": a text or a list is fixed before the table is counted. */
static bool is_setting(const struct sp_argument *when)
{
    return when->name && (when->expr->kind == SP_EXPR_LIST ||
                          (when->expr->kind == SP_EXPR_LITERAL && when->expr->value.type == SP_STRING));
}

static bool read_when(struct trial *trial, const struct sp_sym_env *env)
{
    for (size_t i = 0; i < trial->claim->when_count; i++) {
        const struct sp_argument *when = &trial->claim->when[i];
        if (is_setting(when)) continue;
        const struct sp_expr name = {.kind = SP_EXPR_NAME, .name = when->name, .span = when->span};
        const struct sp_poly *symbol, *value;
        if (!when->name) {
            if (!condition_value(trial, env, when->expr)) return false;
            continue;
        }
        if (!sp_sym_number(&trial->count->symbolic, env, &name, &symbol) ||
            !sp_sym_number(&trial->count->symbolic, env, when->expr, &value))
            return undecided_by_messages(trial);
        if (symbol->count != 1 || symbol->terms[0].count != 1 || symbol->terms[0].factors[0].exponent != 1)
            return undecided(trial, "'when' gives a value to what is no hyper-parameter");
        sp_values_add(&trial->when, symbol->terms[0].factors[0].atom, value);
    }
    return true;
}

static bool read_sides(struct trial *trial, const struct sp_sym_env *env)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    if (!sp_sym_number(symbolic, env, trial->claim->left, &trial->left)) return undecided_by_messages(trial);
    trial->right = trial->left;
    if (trial->claim->right && !sp_sym_number(symbolic, env, trial->claim->right, &trial->right))
        return undecided_by_messages(trial);
    trial->left = sp_reduce(trial->count, trial->left, &trial->when);
    trial->right = sp_reduce(trial->count, trial->right, &trial->when);
    if (!trial->left || !trial->right) return undecided(trial, "a value stands below a fraction line");
    trial->error = sp_poly_sub(&symbolic->algebra, trial->right, trial->left);
    if (symbolic->algebra.failed) return undecided(trial, symbolic->algebra.failed);
    return true;
}

/* ---- numbers ---- */

static const char *rational_text(struct sp_arena *arena, struct sp_rational value)
{
    if (value.den == 1) return sp_arena_printf(arena, "%" PRId64, value.num);
    return sp_arena_printf(arena, "%" PRId64 "/%" PRId64, value.num, value.den);
}

/* The value of a side when the claim's values and the table's defaults are put in; false when a symbol is left. */
static bool number_of(struct trial *trial, const struct sp_poly *side, struct sp_rational *value)
{
    struct sp_values all = {0};
    for (size_t i = 0; i < trial->when.count; i++) sp_values_add(&all, trial->when.atoms[i], trial->when.values[i]);
    sp_values_add_defaults(trial->count, &all, false);
    const struct sp_poly *reduced = sp_reduce(trial->count, side, &all);
    sp_values_free(&all);
    if (reduced && sp_poly_is_constant(reduced, value)) return true;
    return undecided(trial, reduced ? sp_arena_printf(&trial->out->arena, "what is the value of %s?",
                                                      sp_sym_text(&trial->count->symbolic, reduced))
                                    : "division by zero");
}

static void judge_approximation(struct trial *trial)
{
    struct sp_rational left, right;
    if (!number_of(trial, trial->left, &left) || !number_of(trial, trial->right, &right)) return;
    const double truth = (double)left.num / (double)left.den, claimed = (double)right.num / (double)right.den;
    const double percent = fabs(claimed - truth) / fabs(truth) * 100;
    trial->proof.verdict = percent <= trial->claim->percent ? SP_PROVED : SP_REFUTED;
    trial->proof.difference =
        sp_arena_printf(&trial->out->arena, "%s for %s: %.3g %% off", rational_text(&trial->out->arena, right),
                        rational_text(&trial->out->arena, left), percent);
}

/* "1.5B", "124M", "65000": the figure and the unit of its last digit. False when it is no figure. */
static bool read_printed(const char *text, int64_t *figure, int64_t *unit)
{
    static const struct {
        char letter;
        int64_t factor;
    } suffixes[] = {{'\0', 1}, {'K', 1000}, {'M', 1000000}, {'B', 1000000000}, {'T', 1000000000000}};
    int64_t value = 0, fraction = 1;
    bool point = false;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (value > INT64_MAX / 100 || fraction > 1000000000) return false;
        value = value * 10 + (*text - '0');
        if (point) fraction *= 10;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (suffixes[i].letter == *text && (!*text || !text[1]) && suffixes[i].factor % fraction == 0) {
            *unit = suffixes[i].factor / fraction;
            return !__builtin_mul_overflow(value, *unit, figure);
        }
    return false;
}

static void judge_rounding(struct trial *trial)
{
    struct sp_rational left;
    int64_t figure, unit;
    if (!read_printed(trial->claim->printed, &figure, &unit)) undecided(trial, "the printed figure is not like 1.5B");
    else if (number_of(trial, trial->left, &left)) {
        const double truth = (double)left.num / (double)left.den,
                     rounded = floor(truth / (double)unit + 0.5) * (double)unit;
        trial->proof.verdict = rounded == (double)figure ? SP_PROVED : SP_REFUTED;
        trial->proof.difference =
            sp_arena_printf(&trial->out->arena, "%s%s", rational_text(&trial->out->arena, left),
                            trial->proof.verdict == SP_PROVED
                                ? ""
                                : sp_arena_printf(&trial->out->arena, ", printed as %s", trial->claim->printed));
    }
}

/* ---- the difference, in words ---- */

static bool same_reduced(struct trial *trial, const struct sp_poly *part, const struct sp_values *values,
                         const struct sp_poly *gap)
{
    const struct sp_poly *reduced = sp_reduce(trial->count, part, values);
    return reduced && sp_poly_equal(reduced, gap);
}

/* The group or tensor that has just as many parameters as are missing. */
static const char *namesake(struct trial *trial, const struct sp_values *values, const struct sp_poly *gap)
{
    const struct sp_count *count = trial->count;
    for (size_t i = 0; i < count->group_count; i++)
        if (same_reduced(trial, count->groups[i].parameters, values, gap))
            return sp_arena_printf(&trial->out->arena, ": [%s]", count->groups[i].name);
    for (size_t i = 0; i < count->row_count; i++)
        if (same_reduced(trial, count->rows[i].parameters, values, gap))
            return sp_arena_printf(&trial->out->arena, ": %s", count->rows[i].name);
    return "";
}

static const char *describe_error(struct trial *trial, const struct sp_values *values, const struct sp_poly *error)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    const struct sp_poly *gap = sp_poly_scale(algebra, error, sp_rational_int(-1));
    const bool is_short = gap->terms[0].coefficient.num > 0;
    struct sp_text text = {0};
    sp_poly_put_factored(&text, algebra, is_short ? gap : error, SP_NOTATION_TEXT);
    const char *words = sp_arena_printf(&trial->out->arena, "%s %s%s", is_short ? "short by" : "too large by",
                                        text.data, namesake(trial, values, is_short ? gap : error));
    sp_text_free(&text);
    return words;
}

/* ---- counter-examples: the smallest values at which the sides differ ---- */

struct point {
    size_t atoms[16];
    int64_t values[16];
    size_t count;
};

static void collect_symbols(const struct trial *trial, const struct sp_poly *poly, struct point *point)
{
    for (size_t atom = 0; atom < trial->count->symbolic.algebra.atom_count; atom++)
        if (sp_poly_uses(poly, atom) && point->count < 16) {
            point->values[point->count] = 1;
            point->atoms[point->count++] = atom;
        }
}

static bool value_at(struct trial *trial, const struct sp_poly *poly, const struct point *point,
                     struct sp_rational *value)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    struct sp_rational *values = sp_realloc(NULL, algebra->atom_count, sizeof *values);
    for (size_t i = 0; i < algebra->atom_count; i++) values[i] = sp_rational_int(1);
    for (size_t i = 0; i < point->count; i++) values[point->atoms[i]] = sp_rational_int(point->values[i]);
    const bool good = sp_poly_evaluate(poly, values, value);
    free(values);
    return good;
}

/* Counts up, the first symbol fastest; false after the last point. */
static bool next_point(struct point *point)
{
    for (size_t i = 0; i < point->count; i++) {
        if (++point->values[i] <= MAX_SMALL) return true;
        point->values[i] = 1;
    }
    return false;
}

static const char *counterexample(struct trial *trial, const struct sp_poly *error, const struct sp_poly *left)
{
    struct point point = {.count = 0};
    struct sp_rational gap, truth, claimed;
    struct sp_text text = {0};
    collect_symbols(trial, error, &point);
    while (!value_at(trial, error, &point, &gap) || sp_rational_is_zero(gap))
        if (!next_point(&point)) return NULL;
    const size_t shown = point.count;
    collect_symbols(trial, left, &point); /* the others are 1 */
    if (!value_at(trial, left, &point, &truth) || !sp_rational_add(truth, gap, &claimed)) return NULL;
    for (size_t i = 0; i < shown; i++)
        sp_text_printf(&text, "%s%s = %" PRId64, i ? ", " : "",
                       trial->count->symbolic.algebra.atoms[point.atoms[i]].text, point.values[i]);
    if (shown < point.count && shown) sp_text_puts(&text, ", the others 1");
    sp_text_printf(&text, "%s%s, claimed %s", text.length ? ": " : "", rational_text(&trial->out->arena, truth),
                   rational_text(&trial->out->arena, claimed));
    const char *kept = sp_arena_copy(&trial->out->arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

/* ---- cases: every combination of the conditions that are left ---- */

struct cases {
    size_t atoms[MAX_CASES];
    size_t count;
};

static bool find_cases(const struct trial *trial, struct cases *cases)
{
    const struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    cases->count = 0;
    for (size_t atom = 0; atom < algebra->atom_count; atom++) {
        if (!algebra->atoms[atom].is_condition || !sp_poly_uses(trial->error, atom)) continue;
        if (cases->count == MAX_CASES) return false;
        cases->atoms[cases->count++] = atom;
    }
    return true;
}

static struct sp_values case_values(struct trial *trial, const struct cases *cases, size_t number)
{
    struct sp_values values = {0};
    for (size_t i = 0; i < trial->when.count; i++) sp_values_add(&values, trial->when.atoms[i], trial->when.values[i]);
    for (size_t i = 0; i < cases->count; i++)
        sp_values_add(&values, cases->atoms[i],
                      sp_poly_int(&trial->count->symbolic.algebra, (int64_t)(number >> i & 1)));
    return values;
}

static const char *case_name(struct trial *trial, const struct cases *cases, size_t number)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < cases->count; i++)
        sp_text_printf(&text, "%s%s%s", i ? ", " : "", number >> i & 1 ? "" : "not ",
                       trial->count->symbolic.algebra.atoms[cases->atoms[i]].text);
    const char *kept = sp_arena_copy(&trial->out->arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

/* The case of the table's defaults. */
static size_t default_case(const struct trial *trial, const struct cases *cases)
{
    size_t number = 0;
    struct sp_rational value;
    for (size_t i = 0; i < cases->count; i++) {
        const struct sp_symbol_info *symbol = sp_symbol_of(trial->count, cases->atoms[i]);
        if (symbol && symbol->fallback && sp_poly_is_constant(symbol->fallback, &value) && value.num)
            number |= (size_t)1 << i;
    }
    return number;
}

static void refute(struct trial *trial, const struct cases *cases, size_t number, const struct sp_poly *error)
{
    struct sp_values values = case_values(trial, cases, number);
    const struct sp_poly *left = sp_reduce(trial->count, trial->left, &values);
    trial->proof.verdict = SP_REFUTED;
    trial->proof.difference = describe_error(trial, &values, error);
    if (left) trial->proof.counterexample = counterexample(trial, error, left);
    sp_values_free(&values);
}

/* ---- points: where a polynomial cannot decide ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* Sizes that divide each other often, as real ones do. */
static int64_t random_size(uint64_t *state)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    return sizes[next_random(state) % (sizeof sizes / sizeof *sizes)];
}

static void set_point(struct trial *trial, struct sp_config *config, struct sp_values *values, uint64_t *state)
{
    const struct sp_symbolic *symbolic = &trial->count->symbolic;
    for (size_t i = 0; i < symbolic->symbol_count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols[i];
        const bool condition = symbolic->algebra.atoms[symbol->atom].is_condition;
        const int64_t value = condition ? (int64_t)(next_random(state) & 1) : random_size(state);
        bool given = false;
        for (size_t k = 0; k < trial->when.count; k++) given = given || trial->when.atoms[k] == symbol->atom;
        if (given) continue;
        sp_values_add(values, symbol->atom, sp_poly_int(&trial->count->symbolic.algebra, value));
        sp_config_set_value(config, symbol->key, condition ? sp_value_bool(value != 0) : sp_value_int(value), "test");
    }
    for (size_t k = 0; k < trial->when.count; k++) {
        struct sp_rational number;
        const struct sp_symbol_info *symbol = sp_symbol_of(trial->count, trial->when.atoms[k]);
        const struct sp_poly *value = sp_reduce(trial->count, trial->when.values[k], values);
        if (symbol && value && sp_poly_is_constant(value, &number) && number.den == 1)
            sp_config_set_value(config, symbol->key, sp_value_int(number.num), "test");
    }
}

/* 1 when the sides agree at a random point, 0 when they differ, -1 when the point cannot be evaluated. */
static int try_point(struct trial *trial, uint64_t *state, const char **example)
{
    struct sp_config *config = sp_config_new();
    struct sp_values values = {0};
    struct sp_count there;
    struct sp_rational left, right;
    int result = -1;
    set_point(trial, config, &values, state);
    if (sp_count_table(&there, trial->count->tables, trial->count->table, sp_config_hyper(config), true)) {
        struct trial local = *trial;
        local.count = &there;
        local.when = (struct sp_values){0};
        const struct sp_sym_env env = claim_env(&local);
        if (read_sides(&local, &env) && sp_poly_is_constant(local.left, &left) &&
            sp_poly_is_constant(local.right, &right))
            result = sp_rational_compare(left, right) == 0;
    }
    if (result == 0) {
        struct sp_text text = {0};
        for (size_t i = 0; i < values.count; i++)
            if (sp_poly_uses(trial->left, values.atoms[i]) || sp_poly_uses(trial->right, values.atoms[i]))
                sp_text_printf(&text, "%s%s = %s", text.length ? ", " : "",
                               trial->count->symbolic.algebra.atoms[values.atoms[i]].text,
                               sp_sym_text(&trial->count->symbolic, values.values[i]));
        *example = sp_arena_printf(&trial->out->arena, "%s: %s, claimed %s", text.data ? text.data : "",
                                   rational_text(&trial->out->arena, left), rational_text(&trial->out->arena, right));
        sp_text_free(&text);
    }
    sp_count_free(&there);
    sp_values_free(&values);
    sp_config_free(config);
    return result;
}

static void judge_by_points(struct trial *trial)
{
    uint64_t state = 20241;
    for (int i = 0; i < POINTS; i++) {
        const char *example = NULL;
        const int result = try_point(trial, &state, &example);
        if (result > 0) trial->proof.points++;
        if (result != 0) continue;
        trial->proof.verdict = SP_REFUTED;
        trial->proof.counterexample = example;
        trial->proof.difference = "differs where it was tried";
        return;
    }
    trial->proof.verdict = SP_TESTED;
    if (!trial->proof.points) undecided(trial, "is no polynomial identity, and no point could be tried");
}

/* ---- exact claims ---- */

/* Judges by cases; true when the verdict is sure. */
static bool judge_by_cases(struct trial *trial)
{
    struct cases cases;
    size_t holds = 0, first = SIZE_MAX, good = SIZE_MAX;
    const struct sp_poly *wrong = NULL;
    if (!find_cases(trial, &cases)) return false;
    const size_t all = (size_t)1 << cases.count, usual = default_case(trial, &cases);
    for (size_t number = 0; number < all; number++) {
        struct sp_values values = case_values(trial, &cases, number);
        const struct sp_poly *error = sp_reduce(trial->count, trial->error, &values);
        sp_values_free(&values);
        if (!error) return false;
        if (sp_poly_is_zero(error)) {
            holds++;
            good = number;
        } else if (first == SIZE_MAX || number == usual) {
            if (!sp_is_transparent(trial->count, error)) return false;
            first = number;
            wrong = error;
        }
    }
    if (holds == all) {
        trial->proof.verdict = SP_PROVED;
        if (all > 1) trial->proof.cases = sp_arena_printf(&trial->out->arena, "in all %zu cases", all);
        return true;
    }
    refute(trial, &cases, first, wrong);
    if (holds)
        trial->proof.cases = sp_arena_printf(&trial->out->arena, "holds in %zu of %zu cases, as %s", holds, all,
                                             case_name(trial, &cases, good));
    else if (all > 1)
        trial->proof.cases = sp_arena_printf(&trial->out->arena, "shown for %s", case_name(trial, &cases, first));
    return true;
}

static void judge(struct trial *trial)
{
    const struct sp_sym_env env = claim_env(trial);
    if (!read_when(trial, &env) || !read_sides(trial, &env)) return;
    if (trial->claim->kind == SP_CLAIM_APPROX) judge_approximation(trial);
    else if (trial->claim->kind == SP_CLAIM_ROUNDS) judge_rounding(trial);
    else if (trial->claim->is_example) {
        struct sp_rational left, right;
        if (!number_of(trial, trial->left, &left) || !number_of(trial, trial->right, &right)) return;
        trial->proof.verdict = sp_rational_compare(left, right) == 0 ? SP_PROVED : SP_REFUTED;
        if (trial->proof.verdict == SP_REFUTED)
            trial->proof.difference =
                sp_arena_printf(&trial->out->arena, "%s, claimed %s", rational_text(&trial->out->arena, left),
                                rational_text(&trial->out->arena, right));
    } else if (!judge_by_cases(trial)) judge_by_points(trial);
}

/* ---- all claims ---- */

/* The text of the claim without its source. */
static const char *claim_text(struct sp_arena *arena, const struct sp_claim *claim)
{
    const char *text = claim->span.source->text + claim->span.offset;
    size_t length = claim->text_length;
    while (length && strchr(" \t", text[length - 1])) length--;
    return sp_arena_copy(arena, text, length);
}

static void prove_claim(struct sp_proofs *proofs, struct sp_count *count, const struct sp_unit *unit,
                        const struct sp_claim *claim)
{
    struct trial trial = {.out = proofs, .count = count, .unit = unit, .claim = claim};
    trial.proof = (struct sp_proof){.table = sp_arena_string(&proofs->arena, count->table->name),
                                    .claim = claim_text(&proofs->arena, claim),
                                    .source = claim->source,
                                    .file = claim->span.source->name,
                                    .line = sp_span_position(claim->span).line,
                                    .erratum = claim->erratum};
    judge(&trial);
    if (count->symbolic.algebra.failed) undecided(&trial, count->symbolic.algebra.failed);
    count->symbolic.algebra.failed = NULL;
    trial.proof.as_expected = trial.proof.verdict == (claim->erratum ? SP_REFUTED : SP_PROVED) ||
                              (!claim->erratum && trial.proof.verdict == SP_TESTED);
    sp_values_free(&trial.when);
    SP_GROW(proofs->items, proofs->count, proofs->capacity);
    proofs->items[proofs->count++] = trial.proof;
}

static bool concerns(const struct sp_tables *tables, const struct sp_unit *unit, const struct sp_unit *table)
{
    return unit == table || (unit->about && sp_tables_unit(tables, unit->about) == table);
}

static bool prove_table(struct sp_proofs *proofs, const struct sp_tables *tables, const struct sp_unit *table,
                        struct sp_error *error)
{
    struct sp_count count;
    size_t claims = 0;
    for (size_t i = 0; i < tables->count; i++)
        if (concerns(tables, tables->units[i], table)) claims += tables->units[i]->claim_count;
    if (!claims) return true;
    const bool good = sp_count_table(&count, tables, table, NULL, false);
    if (!good) sp_fail(error, SP_ERR_TABLE, SP_KIND_NONE, "%s", count.messages.data);
    for (size_t i = 0; good && i < tables->count; i++)
        for (size_t k = 0; concerns(tables, tables->units[i], table) && k < tables->units[i]->claim_count; k++)
            prove_claim(proofs, &count, tables->units[i], &tables->units[i]->claims[k]);
    sp_count_free(&count);
    return good;
}

static const struct sp_unit *table_named(const struct sp_tables *tables, const char *name, struct sp_error *error)
{
    const struct sp_unit *unit = sp_tables_unit(tables, name);
    if (unit && unit->is_table) return unit;
    sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "there is no table '%s'", name);
    return NULL;
}

struct sp_proofs *sp_prove(const struct sp_tables *tables, const char *const *names, size_t count,
                           struct sp_error *error)
{
    struct sp_proofs *proofs = sp_realloc(NULL, 1, sizeof *proofs);
    const size_t all = count ? count : sp_tables_count(tables);
    bool good = true;
    *proofs = (struct sp_proofs){0};
    for (size_t i = 0; i < all && good; i++) {
        const struct sp_unit *table = table_named(tables, count ? names[i] : sp_tables_info(tables, i).name, error);
        good = table && prove_table(proofs, tables, table, error);
    }
    if (good) return proofs;
    sp_proofs_free(proofs);
    return NULL;
}

void sp_proofs_free(struct sp_proofs *proofs)
{
    if (!proofs) return;
    free(proofs->items);
    sp_arena_free(&proofs->arena);
    free(proofs);
}

size_t sp_proofs_count(const struct sp_proofs *proofs) { return proofs->count; }
const struct sp_proof *sp_proofs_get(const struct sp_proofs *proofs, size_t index) { return &proofs->items[index]; }
