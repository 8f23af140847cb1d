/* SPDX-License-Identifier: MIT
 * Judging claims. Both sides become polynomials and are subtracted; what is left is the error of the claim, for all
 * hyper-parameters at once. What cannot be decided in this way is tried at many points and never called proved. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/real.h"
#include "base/watch.h"
#include "prove/claims.h"
#include "prove/printed.h"
#include "prove/words.h"

enum {
    MAX_CASES = 10,                 /* conditions in one difference: up to 2^10 cases */
    LEAST_STEPS = 16 * 1000 * 1000, /* that all claims of a call may take; 15 times what the built-in ones take */
    STEPS_PART = 4,                 /* the same, of the steps of a prediction */
    STEPS_FOR_BYTE = 512            /* the same, besides for each byte of their text; the built-in ones take 100 */
};

struct shapeproof_proofs {
    struct sp_arena arena;
    struct shapeproof_proof *items;
    struct sp_located_claim *located; /* parallel to items */
    size_t count, capacity, located_capacity;
    uint64_t most_steps, steps_end; /* that the claims together may take, and where that is in the steps of the call */
};

const char *shapeproof_verdict_on_claim_name(enum shapeproof_verdict_on_claim verdict)
{
    static const char *const names[] = {"proved", "refuted", "tested", "undecided"};
    return names[verdict];
}

/* ---- numbers: both sides at the values that `when` gives, and the defaults for all else ---- */

/* approx left = right within PERCENT %: the right side may be that far from the left one. */
static void judge_approximation(struct sp_trial *trial)
{
    struct sp_rational left, right;
    if (!sp_trial_numbers(trial, &left, &right)) return;
    const double truth = (double)left.num / (double)left.den, claimed = (double)right.num / (double)right.den;
    const double percent = claimed == truth ? 0 : fabs(claimed - truth) / fabs(truth) * 100; /* of 0 it is infinite */
    trial->proof.verdict = percent <= trial->claim->percent ? SHAPEPROOF_PROVED : SHAPEPROOF_REFUTED;
    trial->proof.difference =
        sp_arena_printf(trial->arena, "%s for %s: %s %% off", sp_rational_text(trial->arena, right),
                        sp_rational_text(trial->arena, left), sp_real_text(percent, 3).text);
}

/* example ...: left rounds to "1.5B". */
static void judge_rounding(struct sp_trial *trial)
{
    struct sp_rational left, right;
    struct sp_printed printed;
    if (!sp_printed_read(trial->claim->printed, &printed))
        sp_trial_undecided(trial, "the printed figure is not like 1.5B");
    else if (sp_trial_numbers(trial, &left, &right)) {
        const bool whole = left.den == 1, good = whole && left.num >= printed.least && left.num <= printed.most;
        const char *number = sp_rational_text(trial->arena, left);
        trial->proof.verdict = good ? SHAPEPROOF_PROVED : SHAPEPROOF_REFUTED;
        trial->proof.difference =
            good ? number : sp_arena_printf(trial->arena, "%s, printed as %s", number, trial->claim->printed);
    }
}

/* ---- cases: every combination of the conditions that are left in the difference of the sides ---- */

/* The conditions, n of them. Case `number`, from 0 to 2^n - 1, makes the condition i true if bit i of the number is 1.
 */
struct cases {
    size_t atoms[MAX_CASES];
    size_t count;
};

/* Collects the conditions that the difference uses. False when there are more than MAX_CASES. */
static bool find_cases(const struct sp_trial *trial, struct cases *cases)
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

/* What `when` gives, and the truth of each condition in the case. */
static struct sp_values case_values(struct sp_trial *trial, const struct cases *cases, size_t number)
{
    struct sp_values values = {0};
    for (size_t i = 0; i < trial->when.count; i++) sp_values_add(&values, trial->when.atoms[i], trial->when.values[i]);
    for (size_t i = 0; i < cases->count; i++)
        sp_values_add(&values, cases->atoms[i],
                      sp_poly_int(&trial->count->symbolic.algebra, (int64_t)(number >> i & 1)));
    return values;
}

/* "tie_word_embeddings = true, n > 2"; "" where there are no conditions. */
static const char *case_name(struct sp_trial *trial, const struct cases *cases, size_t number)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < cases->count; i++)
        sp_text_printf(&text, "%s%s", i ? ", " : "",
                       sp_condition_by_key(&trial->count->symbolic, cases->atoms[i], number >> i & 1));
    return sp_text_keep(&text, trial->arena);
}

/* The case of the table's defaults. */
static size_t default_case(const struct sp_trial *trial, const struct cases *cases)
{
    size_t number = 0;
    for (size_t i = 0; i < cases->count; i++)
        if (sp_holds_by_default(trial->count, cases->atoms[i])) number |= (size_t)1 << i;
    return number;
}

/* The error in one case; NULL when it cannot be computed. */
static const struct sp_poly *error_in(struct sp_trial *trial, const struct cases *cases, size_t number)
{
    struct sp_values values = case_values(trial, cases, number);
    const struct sp_poly *error = sp_reduce(trial->count, trial->error, &values);
    sp_values_free(&values);
    return error;
}

/* Refutes the claim in one case; false when the sides are equal there, or no counter-example could be replayed. */
static bool refuted_in(struct sp_trial *trial, const struct cases *cases, size_t number)
{
    const struct sp_poly *error = error_in(trial, cases, number);
    if (!error || sp_poly_is_zero(error)) return false;
    struct sp_values values = case_values(trial, cases, number);
    const bool refuted = sp_trial_refute(trial, &values, error);
    sp_values_free(&values);
    return refuted;
}

/* ---- exact claims ---- */

/* Refutes the claim in the first case in which that is possible, that of the defaults before all others. False when
 * there is none. */
static bool find_refuted(struct sp_trial *trial, const struct cases *cases, size_t *number)
{
    const size_t all = (size_t)1 << cases->count;
    bool refuted = refuted_in(trial, cases, *number = default_case(trial, cases));
    for (size_t i = 0; i < all && !refuted; i++) refuted = refuted_in(trial, cases, *number = i);
    return refuted;
}

/* Refutes a claim whose sides differ by a number in every case, as total = total + 1 does: it is false wherever the
 * table can be predicted, although no such point was found. */
static bool refute_everywhere(struct sp_trial *trial, const struct cases *cases)
{
    const struct sp_poly *error = NULL;
    struct sp_rational number;
    for (size_t i = 0; i < (size_t)1 << cases->count; i++) {
        error = error_in(trial, cases, i);
        if (!error || !sp_poly_is_constant(error, &number)) return false;
    }
    trial->proof.verdict = SHAPEPROOF_REFUTED;
    const char *word = number.num < 0 ? "short" : "too large";
    if (number.num < 0) number.num = -number.num;
    trial->proof.difference = sp_arena_printf(trial->arena, "%s by %s", word, sp_rational_text(trial->arena, number));
    return true;
}

/* Looks for a counter-example that can be replayed, for a claim that holds in `holds` of the cases, `example` being one
 * of them. False when no case has one: the formulas may differ only where the table cannot be predicted, or in a case
 * that cannot occur, so that points decide. */
static bool refute_by_cases(struct sp_trial *trial, const struct cases *cases, size_t holds, size_t example)
{
    const size_t all = (size_t)1 << cases->count;
    size_t number;
    if (!find_refuted(trial, cases, &number)) return !holds && refute_everywhere(trial, cases);
    if (holds)
        trial->proof.cases = sp_arena_printf(trial->arena, "holds in %zu of %zu cases, as %s", holds, all,
                                             case_name(trial, cases, example));
    else if (all > 1)
        trial->proof.cases = sp_arena_printf(trial->arena, "shown for %s", case_name(trial, cases, number));
    return true;
}

/* In how many cases the claim holds; *example becomes one of these. False when that is not known of some case. */
static bool count_cases(struct sp_trial *trial, const struct cases *cases, size_t *holds, size_t *example)
{
    const size_t all = (size_t)1 << cases->count;
    *holds = *example = 0;
    for (size_t number = 0; number < all; number++) {
        const struct sp_poly *error = error_in(trial, cases, number);
        if (!error) return false;
        if (!sp_poly_is_zero(error)) continue;
        ++*holds;
        *example = number;
    }
    return true;
}

/* Judges by cases; true when the verdict is sure. */
static bool judge_by_cases(struct sp_trial *trial)
{
    struct cases cases;
    size_t holds, example;
    if (!find_cases(trial, &cases) || !count_cases(trial, &cases, &holds, &example)) return false;
    const size_t all = (size_t)1 << cases.count;
    if (holds < all) return refute_by_cases(trial, &cases, holds, example);
    trial->proof.verdict = SHAPEPROOF_PROVED;
    if (all > 1) trial->proof.cases = sp_arena_printf(trial->arena, "in all %zu cases", all);
    return true;
}

/* The same without a verdict, and without looking for a counter-example. */
static bool holds_in_all_cases(struct sp_trial *trial)
{
    struct cases cases;
    size_t holds, example;
    return find_cases(trial, &cases) && count_cases(trial, &cases, &holds, &example) &&
           holds == (size_t)1 << cases.count;
}

/* Adds to the explanation what both sides are in each case, as expanded polynomials, their normal form:
 *
 *     total = V*E - E*V*[untied], with one condition     if tied, both sides: V*E
 *                                                        if untied, both sides: 0
 *
 * Sides that differ have a line each; a case in which one has no value has none. With more than MAX_CASES conditions
 * the sides are written once, with the conditions in them. */
static void explain_sides(struct sp_trial *trial)
{
    struct cases cases;
    if (!trial->explanation) return;
    if (!find_cases(trial, &cases)) cases.count = 0; /* one case, without a condition */
    for (size_t number = 0; number < (size_t)1 << cases.count; number++) {
        struct sp_values values = case_values(trial, &cases, number);
        const struct sp_poly *left = sp_reduce(trial->count, trial->left, &values),
                             *right = sp_reduce(trial->count, trial->right, &values);
        sp_values_free(&values);
        if (!left || !right) continue;
        const char *name = case_name(trial, &cases, number);
        const char *front = *name ? sp_arena_printf(trial->arena, "if %s, ", name) : "";
        const bool equal = sp_poly_equal(left, right);
        sp_explanation_add(trial->explanation,
                           sp_arena_printf(trial->arena, "%s%s: %s", front, equal ? "both sides" : "left",
                                           sp_sym_text(&trial->count->symbolic, left)));
        if (!equal)
            sp_explanation_add(trial->explanation, sp_arena_printf(trial->arena, "%sright: %s", front,
                                                                   sp_sym_text(&trial->count->symbolic, right)));
    }
}

/* example left = right when ...: an exact claim about one point. */
static void judge_example(struct sp_trial *trial)
{
    struct sp_rational left, right;
    if (!sp_trial_numbers(trial, &left, &right)) return;
    trial->proof.verdict = sp_rational_compare(left, right) == 0 ? SHAPEPROOF_PROVED : SHAPEPROOF_REFUTED;
    if (trial->proof.verdict == SHAPEPROOF_REFUTED)
        trial->proof.difference = sp_arena_printf(trial->arena, "%s, claimed %s", sp_rational_text(trial->arena, left),
                                                  sp_rational_text(trial->arena, right));
}

/* Judges an exact claim about all hyper-parameters: by the cases of its conditions, then by splitting what is no
 * polynomial, then at points. What is proved or tested is refuted after all when it divides by zero at the defaults, or
 * at another point. Returns whether splitting proved it, which explains itself. */
static bool judge_exact(struct sp_trial *trial)
{
    const bool is_sure = judge_by_cases(trial);
    const bool is_split = !is_sure && sp_trial_prove_by_splitting(trial);
    if (!is_sure && !is_split) sp_trial_try_points(trial);
    else if (trial->proof.verdict == SHAPEPROOF_PROVED) sp_trial_check_at_defaults(trial);
    sp_trial_check_poles(trial);
    return is_split;
}

/* Whether the text speaks of the name: "E" in "short by E*(V + 2)", not in "short by E_q". */
static bool speaks_of(const char *text, const char *name)
{
    const size_t length = strlen(name);
    const char *at = text;
    while (at && (at = strstr(at, name)) != NULL) {
        const bool begins = at == text || !(sp_is_word(at[-1]) || at[-1] == '.');
        if (begins && !sp_is_word(at[length]) && at[length] != '.') return true;
        at += length;
    }
    return false;
}

/* "short by V*E" of "short by V*E: lm_head.weight". */
static const char *difference_alone(struct sp_arena *arena, const char *difference)
{
    const char *behind = strstr(difference, ": ");
    return sp_arena_copy(arena, difference, behind ? (size_t)(behind - difference) : strlen(difference));
}

/* What the names that the table gives to hyper-parameters mean, of those in what is said of a refuted claim: "E =
 * n_embd, N = n_layer". NULL for none. */
static const char *letters_of(const struct sp_trial *trial)
{
    const struct shapeproof_proof *proof = &trial->proof;
    const struct sp_sym_symbols *symbols = &trial->count->symbolic.symbols;
    const char *difference = proof->difference ? difference_alone(trial->arena, proof->difference) : NULL;
    struct sp_text text = {0};
    for (size_t i = 0; i < symbols->count; i++) {
        const struct sp_symbol_info *symbol = &symbols->items[i];
        if (symbol->unset_key || strcmp(symbol->name, symbol->key) == 0) continue;
        if (speaks_of(difference, symbol->name) || speaks_of(proof->counterexample, symbol->name) ||
            speaks_of(proof->cases, symbol->name))
            sp_text_printf(&text, "%s%s = %s", text.length ? ", " : "", symbol->name, symbol->key);
    }
    return text.length ? sp_text_keep(&text, trial->arena) : NULL;
}

/* Reads and judges the claim of the trial, whose table is counted. A claim that is too much for the algebra becomes
 * undecided, and the algebra is ready for the next one. */
static void judge_counted(struct sp_trial *trial)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    struct sp_divisors divisors = {0};
    trial->divisors = &divisors;
    algebra->work = 0;
    trial->count->counts_may_be_0 = true;
    if (sp_trial_read_when(trial) && sp_trial_read_sides(trial)) {
        bool is_explained = false;
        if (trial->claim->kind == SP_CLAIM_APPROX) judge_approximation(trial);
        else if (trial->claim->kind == SP_CLAIM_ROUNDS) judge_rounding(trial);
        else if (trial->claim->is_example) judge_example(trial);
        else is_explained = judge_exact(trial);
        if (!is_explained) explain_sides(trial);
    }
    trial->divisors = NULL;
    sp_free(divisors.items);
    sp_values_free(&trial->when);
    if (algebra->failed) {
        sp_trial_undecided(trial, algebra->failed);
        trial->proof.counterexample = trial->proof.cases = NULL;
    }
    algebra->failed = NULL;
    if (trial->proof.verdict == SHAPEPROOF_REFUTED) trial->proof.letters = letters_of(trial);
}

/* Judges a claim in the count that all claims share. */
static void judge_as_usual(struct sp_trial *trial)
{
    if (trial->uncounted) sp_trial_undecided(trial, trial->uncounted);
    else judge_counted(trial);
}

/* Judges a claim whose `when` gives texts or lists, the `settings`: the table is counted anew under these. */
static void judge_under_settings(struct sp_trial *trial, const struct sp_hyper *settings)
{
    struct sp_count there, *usual = trial->count;
    trial->count = &there;
    if (!sp_count_table(&there, usual->tables, usual->table, settings, SP_SIDES_MAY_DIFFER))
        sp_trial_undecided(trial, "the table cannot be counted under this 'when'");
    else if (sp_trial_check_settings(trial)) judge_counted(trial);
    trial->count = usual;
    sp_count_free(&there);
}

/* Judges a claim about the class of a checkpoint, the only one of the `settings`. A table that does not read it is
 * judged as usual. */
static void judge_for_class(struct sp_trial *trial, const struct sp_hyper *settings)
{
    struct sp_count there, *usual = trial->count;
    const bool counted = sp_count_table(&there, usual->tables, usual->table, settings, SP_SIDES_MAY_DIFFER);
    const bool is_read = counted && there.symbolic.fixed.settings_read;
    if (is_read) {
        trial->count = &there;
        judge_counted(trial);
        trial->count = usual;
    }
    sp_count_free(&there);
    if (!is_read) judge_as_usual(trial);
}

/* Judges the claim of the trial: in the count of the table that all claims share, unless its `when` gives texts or
 * lists, or it is about a `class` (or NULL). The verdict is in trial->proof, also where the claim cannot be read. */
static void judge_claim(struct sp_trial *trial, const struct shapeproof_value *class)
{
    struct shapeproof_config *settings = shapeproof_config_new();
    const struct sp_hyper *hyper = sp_config_hyper(settings);
    trial->settings = settings;
    if (sp_trial_read_settings(trial, settings)) {
        if (hyper->root.count) judge_under_settings(trial, hyper);
        else if (class && sp_value_is_set(*class)) {
            sp_config_set_value(settings, "architectures", *class, "class");
            judge_for_class(trial, hyper);
        } else judge_as_usual(trial);
    }
    shapeproof_config_free(settings);
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

/* What `prove_unit` judges all claims with. */
struct judge {
    struct shapeproof_proofs *proofs;
    struct sp_count *count;
    const char *uncounted;                /* why the table cannot be counted, or NULL */
    bool allow_tested;                    /* a claim that is only tested counts as expected */
    bool explain;                         /* the steps of each proof are wanted */
    const struct shapeproof_value *class; /* `architectures` that the claims are about, or NULL */
    const struct shapeproof_watch *watch;
};

struct shapeproof_proof sp_proof_begin(struct sp_arena *arena, const char *table, struct sp_located_claim located)
{
    return (struct shapeproof_proof){.table = sp_arena_string(arena, table),
                                     .claim = claim_text(arena, located.claim),
                                     .given = "",
                                     .source = located.claim->source,
                                     .file = located.claim->span.source->name,
                                     .line = sp_span_line(located.claim->span),
                                     .erratum = located.claim->erratum};
}

/* Appends the proof of the claim, and whether its verdict is as expected. */
static void append_proof(struct shapeproof_proofs *proofs, struct sp_located_claim located,
                         struct shapeproof_proof proof, bool allow_tested)
{
    const bool is_good_enough =
        proof.verdict == SHAPEPROOF_PROVED || (allow_tested && proof.verdict == SHAPEPROOF_TESTED);
    proof.as_expected = located.claim->erratum ? proof.verdict == SHAPEPROOF_REFUTED : is_good_enough;
    SP_GROW(proofs->items, proofs->count, proofs->capacity);
    SP_GROW(proofs->located, proofs->count, proofs->located_capacity);
    proofs->located[proofs->count] = located;
    proofs->items[proofs->count++] = proof;
}

/* Judges one claim, and appends the proof, with its steps if they are wanted. */
static void prove_claim(const struct judge *judge, const struct sp_unit *unit, const struct sp_claim *claim)
{
    struct shapeproof_proofs *proofs = judge->proofs;
    struct sp_count *count = judge->count;
    const struct sp_located_claim located = {unit, claim};
    struct sp_trial trial = {
        .arena = &proofs->arena, .count = count, .unit = unit, .claim = claim, .uncounted = judge->uncounted};
    trial.proof = sp_proof_begin(&proofs->arena, count->table->name, located);
    trial.replaced = sp_arena_array(&proofs->arena, claim->when_count, sizeof *trial.replaced);
    struct sp_explanation explanation = {.arena = &proofs->arena};
    if (judge->explain) trial.explanation = &explanation;
    judge_claim(&trial, judge->class);
    if (judge->explain) trial.proof.steps = sp_explanation_take(&explanation, &trial.proof.step_count);
    trial.proof.given = sp_trial_given(&trial);
    append_proof(proofs, located, trial.proof, judge->allow_tested);
}

bool sp_claim_is_proved(struct sp_count *count, const struct shapeproof_config *settings,
                        struct sp_located_claim located, const struct sp_premise *premises, size_t premise_count)
{
    struct sp_arena arena = {0};
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_trial trial = {.arena = &arena,
                             .count = count,
                             .unit = located.unit,
                             .claim = located.claim,
                             .settings = settings,
                             .premises = premises,
                             .premise_count = premise_count};
    trial.replaced = sp_arena_array(&arena, located.claim->when_count, sizeof *trial.replaced);
    algebra->work = 0;
    count->counts_may_be_0 = true;
    const bool proved = sp_trial_read_when(&trial) && sp_trial_read_sides(&trial) &&
                        (holds_in_all_cases(&trial) || sp_trial_prove_by_splitting(&trial)) && !algebra->failed;
    algebra->failed = NULL; /* what was too much for this claim is not so for the next */
    sp_values_free(&trial.when);
    sp_arena_free(&arena);
    return proved;
}

/* Gives each erratum from the proof `first` on its correction: the first claim in the lines directly below it that is
 * no erratum itself. */
static void link_corrections(struct shapeproof_proofs *proofs, size_t first)
{
    for (size_t i = proofs->count; i-- > first;) {
        struct shapeproof_proof *proof = &proofs->items[i];
        const struct shapeproof_proof *below = i + 1 < proofs->count ? &proofs->items[i + 1] : NULL;
        if (!proof->erratum || !below || below->line != proof->line + 1) continue;
        proof->correction = below->erratum ? below->correction : below->claim;
    }
}

/* Appends that the claim is undecided, and why. */
static void leave_undecided(struct shapeproof_proofs *proofs, const char *table, struct sp_located_claim located,
                            const char *why)
{
    struct shapeproof_proof proof = sp_proof_begin(&proofs->arena, table, located);
    proof.verdict = SHAPEPROOF_UNDECIDED;
    proof.difference = why;
    append_proof(proofs, located, proof, false);
}

/* Whether the claims before have taken the steps of all claims; then this one is undecided. Each claim that begins
 * within the budget may end beyond it, so that a claim that is alone has the steps of the call. */
static bool is_left_undecided(struct shapeproof_proofs *proofs, const char *table, struct sp_located_claim located)
{
    if (!sp_budget_is_past(proofs->steps_end)) return false;
    leave_undecided(proofs, table, located,
                    sp_arena_printf(&proofs->arena,
                                    "not tried, since the claims before it take more than %" PRIu64
                                    " steps, the limit for all of them; --limit steps=N allows N/%d",
                                    proofs->most_steps, STEPS_PART));
    return true;
}

/* Lets the claims that are judged next take so many steps more. */
static void allow_steps(struct shapeproof_proofs *proofs, uint64_t steps)
{
    proofs->most_steps = sp_add_saturated(proofs->most_steps, steps);
    proofs->steps_end = sp_add_saturated(proofs->steps_end, steps);
}

/* False if the watch ends the call. */
static bool prove_unit(const struct judge *judge, const struct sp_unit *unit)
{
    const size_t first = judge->proofs->count;
    for (size_t i = 0; i < unit->claim_count; i++) {
        if (!sp_goes_on(judge->watch, "claims", judge->proofs->count, 0)) return false;
        const struct sp_located_claim located = {unit, &unit->claims[i]};
        if (!is_left_undecided(judge->proofs, judge->count->table->name, located))
            prove_claim(judge, unit, &unit->claims[i]);
    }
    link_corrections(judge->proofs, first);
    return true;
}

/* Which claims are judged: those of all files, or those that stand in these. */
struct scope {
    const char *const *files;
    size_t file_count;
};

static bool is_in_scope(const struct scope *scope, const char *file)
{
    for (size_t i = 0; i < scope->file_count; i++)
        if (strcmp(file, scope->files[i]) == 0) return true;
    return scope->file_count == 0;
}

/* The names of the tables about which claims are judged, found without parsing any. */
static struct sp_map tables_claimed(const struct shapeproof_tables *tables, const struct scope *scope)
{
    struct sp_map names = {0};
    for (size_t i = 0; i < sp_tables_place_count(tables); i++) {
        const struct sp_entry entry = sp_tables_entry(tables, i);
        if (entry.has_claims && is_in_scope(scope, entry.file))
            sp_map_add(&names, entry.about ? entry.about : entry.name, i);
    }
    return names;
}

/* The claims in that place about the table, those of its own among them; or NULL. */
static const struct sp_unit *claims_about(const struct shapeproof_tables *tables, size_t place,
                                          const struct sp_unit *table)
{
    const struct sp_entry entry = sp_tables_entry(tables, place);
    if (strcmp(entry.about ? entry.about : entry.name, table->name) != 0) return NULL;
    const struct sp_unit *unit = sp_tables_at(tables, place);
    const bool concerns = entry.about ? sp_tables_unit(tables, entry.about) == table : unit == table;
    const bool has_claims = unit && unit->claim_count && !unit->span.source->has_expressions;
    return has_claims && concerns ? unit : NULL;
}

/* "cannot be counted: there is no item 2 in a list of 2 (t.shapes:77:61)": the first mistake, in one line. */
static const char *why_uncounted(struct sp_arena *arena, const struct sp_count *count)
{
    const char *message = count->messages.data ? count->messages.data : "it takes too much";
    return sp_arena_printf(arena, "the table cannot be counted as it is: %.*s", (int)sp_first_line(message), message);
}

/* Takes the failure of a count back, so that the claims of the table can still be read and answered with the reason. */
static void forgive_failed_count(struct sp_count *count)
{
    sp_text_free(&count->messages);
    count->symbolic.algebra.failed = NULL;
    count->symbolic.report.mistakes = 0;
}

/* Whether the memory or the steps were too few. */
static bool needs_more(const struct shapeproof_error *error)
{
    const enum sp_budget_kind kind = sp_budget_exceeded();
    return error->kind == SHAPEPROOF_KIND_LIMIT && (kind == SP_BUDGET_OF_MEMORY || kind == SP_BUDGET_OF_STEPS);
}

/* The claims about one table, wherever they stand. */
struct table_claims {
    struct shapeproof_proofs *proofs;
    const struct shapeproof_tables *tables;
    const struct shapeproof_prove_options *options;
    const struct sp_unit *table;
    const struct shapeproof_value *class; /* as in struct judge */
    const struct sp_unit **units;         /* that have the claims */
    size_t unit_count;
};

/* Counts the table once, and judges all claims about it, or only the given one. A call of its own: if it exceeds its
 * memory or its steps, it leaves nothing behind. False with an error then, or if the watch ends the call. */
static bool judge_in_call(const struct table_claims *about, const struct sp_located_claim *only,
                          struct shapeproof_error *error)
{
    SP_CALL_INNER(error, false);
    struct sp_count count;
    struct judge judge = {.proofs = about->proofs,
                          .count = &count,
                          .allow_tested = about->options->allow_tested != 0,
                          .explain = about->options->explain != 0,
                          .class = about->class,
                          .watch = about->options->watch};
    bool goes_on = true;
    sp_keep(about->proofs, about->proofs, sizeof *about->proofs);
    if (!sp_count_table(&count, about->tables, about->table, NULL, SP_SIDES_MAY_DIFFER)) {
        judge.uncounted = why_uncounted(&about->proofs->arena, &count);
        forgive_failed_count(&count);
    }
    if (only) prove_claim(&judge, only->unit, only->claim);
    for (size_t i = 0; !only && i < about->unit_count && goes_on; i++) goes_on = prove_unit(&judge, about->units[i]);
    sp_count_free(&count);
    return goes_on || sp_fail_cancelled(error);
}

/* The same with one of so many shares of the steps that are left to the call. If the system has no memory, the outer
 * call fails as well, so that the tables do not keep what it has parsed. No file is read here, so no other error is one
 * of input. */
static bool judge_counted_table(const struct table_claims *about, const struct sp_located_claim *only, size_t shares,
                                struct shapeproof_error *error)
{
    sp_budget_begin_part(shares);
    const bool good = judge_in_call(about, only, error);
    sp_budget_end_part();
    if (!good && error->kind == SHAPEPROOF_KIND_IO) sp_out_of_memory();
    return good;
}

/* Judges the claims one by one, each with a count of its own. One that exceeds the memory or its share of the steps is
 * undecided: of n claims that are left, the next may take an (n + 1)th of the steps that are left, so that something
 * stays for other tables. */
static bool judge_one_by_one(const struct table_claims *about, struct shapeproof_error *error)
{
    struct shapeproof_proofs *proofs = about->proofs;
    size_t left = 0;
    for (size_t i = 0; i < about->unit_count; i++) left += about->units[i]->claim_count;
    for (size_t i = 0; i < about->unit_count; i++) {
        const size_t first = proofs->count;
        for (size_t k = 0; k < about->units[i]->claim_count; k++, left--) {
            const struct sp_located_claim located = {about->units[i], &about->units[i]->claims[k]};
            if (!sp_goes_on(about->options->watch, "claims", proofs->count, 0)) return sp_fail_cancelled(error);
            if (is_left_undecided(proofs, about->table->name, located)) continue;
            if (judge_counted_table(about, &located, left + 1, error)) continue;
            if (!needs_more(error)) return false;
            leave_undecided(proofs, about->table->name, located, sp_arena_string(&proofs->arena, error->message));
            sp_error_reset(error);
        }
        link_corrections(proofs, first);
    }
    return true;
}

/* Judges all claims about one table. */
static bool judge_claims_about(struct shapeproof_proofs *proofs, const struct shapeproof_tables *tables,
                               const struct shapeproof_prove_options *options, const struct sp_unit *table,
                               const struct shapeproof_value *class, struct shapeproof_error *error)
{
    const struct scope scope = {options->files, options->file_count};
    const size_t places = sp_tables_place_count(tables);
    struct table_claims about = {.proofs = proofs,
                                 .tables = tables,
                                 .options = options,
                                 .table = table,
                                 .class = class,
                                 .units = sp_realloc(NULL, places, sizeof *about.units)};
    for (size_t i = 0; i < places; i++) {
        const struct sp_unit *unit = claims_about(tables, i, table);
        if (!unit || !is_in_scope(&scope, unit->span.source->name)) continue;
        about.units[about.unit_count++] = unit;
        for (size_t k = 0; k < unit->claim_count; k++)
            allow_steps(proofs, (uint64_t)unit->claims[k].text_length * STEPS_FOR_BYTE);
    }
    const uint64_t steps_before = sp_budget_steps_taken();
    bool good = !about.unit_count || judge_counted_table(&about, NULL, 2, error);
    if (!good && needs_more(error)) {
        sp_error_reset(error);
        proofs->steps_end = sp_add_saturated(proofs->steps_end, sp_budget_steps_taken() - steps_before);
        good = judge_one_by_one(&about, error);
    }
    sp_free(about.units);
    return good;
}

/* Judges the claims of each table that the options name, or of each one about which there are claims. A table is parsed
 * when claims about it are judged, and when it is named, for a name that is none is an error. */
struct shapeproof_proofs *sp_prove_class(const struct shapeproof_tables *tables,
                                         const struct shapeproof_prove_options *options,
                                         const struct shapeproof_value *class, struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("proving the claims");
    sp_error_reset(error);
    static const struct shapeproof_prove_options none = {0};
    struct shapeproof_error ignored = {0};
    assert(tables);
    if (!error) error = &ignored; /* it decides what is judged again */
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    assert((options->tables || !options->table_count) && (options->files || !options->file_count));
    const size_t named = options->table_count, count = named ? named : shapeproof_tables_count(tables);
    struct shapeproof_proofs *proofs = sp_realloc(NULL, 1, sizeof *proofs);
    const struct scope scope = {options->files, options->file_count};
    struct sp_map claimed = tables_claimed(tables, &scope);
    bool good = true;
    *proofs = (struct shapeproof_proofs){.steps_end = sp_budget_steps_taken()};
    const uint64_t part = sp_budget_steps() / STEPS_PART;
    allow_steps(proofs, part < LEAST_STEPS ? LEAST_STEPS : part);
    for (size_t i = 0; i < count && good; i++) {
        const char *name = named ? options->tables[i] : shapeproof_tables_info(tables, i)->name;
        const bool is_claimed = sp_map_get(&claimed, name) != SIZE_MAX;
        if (!named && !is_claimed) continue;
        const struct sp_unit *table = sp_tables_table(tables, name, error);
        good = table != NULL;
        if (table && is_claimed) good = judge_claims_about(proofs, tables, options, table, class, error);
    }
    sp_map_free(&claimed);
    if (good) return proofs;
    shapeproof_proofs_free(proofs);
    return NULL;
}

struct shapeproof_proofs *shapeproof_prove(const struct shapeproof_tables *tables,
                                           const struct shapeproof_prove_options *options,
                                           struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("proving the claims");
    return sp_prove_class(tables, options, NULL, error);
}

void shapeproof_proofs_free(struct shapeproof_proofs *proofs)
{
    if (!proofs) return;
    sp_free(proofs->items);
    sp_free(proofs->located);
    sp_arena_free(&proofs->arena);
    sp_free(proofs);
}

size_t shapeproof_proofs_count(const struct shapeproof_proofs *proofs) { return proofs->count; }
const struct shapeproof_proof *shapeproof_proofs_get(const struct shapeproof_proofs *proofs, size_t index)
{
    return &proofs->items[index];
}

struct sp_located_claim sp_proofs_claim(const struct shapeproof_proofs *proofs, size_t index)
{
    return proofs->located[index];
}
