/* SPDX-License-Identifier: MIT
 * The closed forms of a table: every group and the total for the defaults of its conditions, and then what each
 * condition, changed alone, adds or takes away. Or those of a prediction, for the conditions as it has them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"
#include "base/error.h"
#include "base/real.h"
#include "config/choose.h"
#include "prove/cases.h"
#include "prove/configured.h"
#include "prove/latex.h"
#include "prove/settle.h"
#include "prove/shorten.h"
#include "prove/symbolic/atoms.h"
#include "prove/words.h"
#include "shapeproof/prove.h"

struct shapeproof_derivation {
    struct sp_count count;
    struct shapeproof_formula *formulas;
    size_t formula_count, formula_capacity;
    struct shapeproof_symbol *symbols;
    size_t symbol_count;
    const char **assumed;
    size_t assumed_count, assumed_capacity;
    struct sp_shortening shortening;
    SP_ARRAY(struct shapeproof_part) parts; /* that have a name in the formulas */
};

static const char *factored_text(struct sp_count *count, const struct sp_poly *poly)
{
    struct sp_text text = {0};
    sp_poly_put_factored(&text, &count->symbolic.algebra, poly);
    return sp_text_keep(&text, &count->symbolic.algebra.arena);
}

static const char *expanded_text(struct sp_count *count, const struct sp_poly *poly)
{
    struct sp_text text = {0};
    sp_poly_put_expanded(&text, &count->symbolic.algebra, poly);
    return sp_text_keep(&text, &count->symbolic.algebra.arena);
}

/* Appends a formula of the group, in both forms. `when`: the change of which it is the gain, "" for the usual case. */
static void add_formula(struct shapeproof_derivation *derivation, const char *group, const char *when,
                        const struct sp_poly *poly)
{
    SP_GROW(derivation->formulas, derivation->formula_count, derivation->formula_capacity);
    derivation->formulas[derivation->formula_count++] =
        (struct shapeproof_formula){.group = group,
                                    .when = when,
                                    .text = factored_text(&derivation->count, poly),
                                    .expanded = expanded_text(&derivation->count, poly)};
}

/* A derivation under way. */
struct forms {
    struct shapeproof_derivation *derivation;
    const char *whole;           /* of what the changes are: "total", or a measure */
    const struct sp_poly *total; /* it, for all cases */
    char *seen;                  /* heap, by atom: enum mark */
    size_t seen_count;
};

/* Whether the formulas so far speak of an atom. */
enum mark {
    MARK_NONE,
    MARK_REACHED, /* only to compute another atom with it: the F of min(F, L) */
    MARK_USED     /* as a factor of a term */
};

/* Marks what the polynomial speaks of. */
static void see(struct forms *forms, const struct sp_poly *poly)
{
    struct sp_symbolic *symbolic = &forms->derivation->count.symbolic;
    const size_t count = symbolic->algebra.atom_count;
    forms->seen = sp_realloc(forms->seen, count, 1);
    memset(forms->seen + forms->seen_count, 0, count - forms->seen_count);
    forms->seen_count = count;
    sp_poly_reach(symbolic, poly, forms->seen);
    for (size_t atom = 0; atom < count; atom++)
        if (sp_poly_uses(poly, atom)) forms->seen[atom] = MARK_USED;
}

/* Appends a formula, and marks what it speaks of. */
static void add_form(struct forms *forms, const char *group, const char *when, const struct sp_poly *poly)
{
    see(forms, poly);
    add_formula(forms->derivation, group, when, poly);
}

/* The condition in words, "tied" or "not tied", and marks what it speaks of. */
static const char *say_condition(struct forms *forms, size_t condition, bool holds)
{
    struct sp_symbolic *symbolic = &forms->derivation->count.symbolic;
    see(forms, sp_poly_atom(&symbolic->algebra, condition));
    return sp_condition_words(symbolic, condition, holds);
}

/* The gain with 0 put in for x where the condition is 0 < x, which does not hold, and x is never less. */
static const struct sp_poly *without_zero(struct sp_count *count, const struct sp_poly *gain, size_t condition)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    const size_t zero = sp_positive_atom(symbolic, condition);
    return zero == SIZE_MAX ? gain : sp_sym_put(symbolic, gain, zero, sp_poly_int(&symbolic->algebra, 0));
}

/* A change, and the conditions that decide it as they are after it: "relative and reach < 1". */
static const char *change_words(struct forms *forms, const struct sp_case_change *change,
                                const struct sp_conditions *others)
{
    struct sp_count *count = &forms->derivation->count;
    const char *words = say_condition(forms, change->condition, change->holds);
    for (size_t i = 0; i < others->count; i++)
        words = sp_arena_printf(&count->symbolic.algebra.arena, "%s and %s", words,
                                say_condition(forms, others->items[i], sp_case_holds(count, others->items[i], change)));
    return words;
}

static void assume_words(struct shapeproof_derivation *derivation, const char *words)
{
    SP_GROW(derivation->assumed, derivation->assumed_count, derivation->assumed_capacity);
    derivation->assumed[derivation->assumed_count++] = words;
}

/* Lists what the formulas assume: that no loop goes backwards, and the conditions that change nothing alone as they are
 * in the usual case. One that a formula speaks of already is left out, unless it changes something together with
 * another. */
static void add_assumptions(struct forms *forms, const struct sp_changes *changes)
{
    struct shapeproof_derivation *derivation = forms->derivation;
    const struct sp_symbolic *symbolic = &derivation->count.symbolic;
    struct sp_conditions open = sp_case_open(&derivation->count, forms->total, changes), told = {0};
    for (size_t i = 0; i < symbolic->premises.count; i++) assume_words(derivation, symbolic->premises.assumed[i]);
    for (size_t i = 0; i < open.count; i++) {
        const size_t condition = open.items[i];
        const bool is_said = condition < forms->seen_count && forms->seen[condition];
        if (!is_said || sp_case_is_needed(&derivation->count, forms->total, &open, i)) *SP_PUSH(&told) = condition;
    }
    sp_case_drop_implied(&derivation->count, NULL, &told);
    for (size_t i = 0; i < told.count; i++) {
        const bool holds = sp_case_holds(&derivation->count, told.items[i], NULL);
        assume_words(derivation, say_condition(forms, told.items[i], holds));
    }
    sp_free(open.items);
    sp_free(told.items);
}

/* What a change gains, and the conditions that decide it beside it. */
struct row {
    const struct sp_case_change *change;
    struct sp_conditions others;
};

static void add_row(struct forms *forms, const struct row *row)
{
    struct sp_count *count = &forms->derivation->count;
    const struct sp_poly *gain = row->change->gain;
    for (size_t i = 0; gain && i < row->others.count; i++)
        if (!sp_case_holds(count, row->others.items[i], row->change))
            gain = without_zero(count, gain, row->others.items[i]);
    if (gain && !sp_poly_is_zero(gain))
        add_form(forms, forms->whole, change_words(forms, row->change, &row->others), gain);
}

/* Whether another row says the same of all of its case: of two that say the same of one case the first stays. */
static bool is_row_said(struct sp_count *count, const struct row *rows, size_t row_count, size_t which)
{
    const struct row *row = &rows[which];
    for (size_t i = 0; i < row_count; i++) {
        const struct row *other = &rows[i];
        if (i == which || !sp_poly_equal(row->change->gain, other->change->gain)) continue;
        if (!sp_case_is_within(count, row->change, &row->others, other->change, &other->others)) continue;
        if (i < which || !sp_case_is_within(count, other->change, &other->others, row->change, &row->others))
            return true;
    }
    return false;
}

static void add_changes(struct forms *forms)
{
    struct sp_count *count = &forms->derivation->count;
    struct sp_changes changes = sp_case_changes(count, forms->total);
    struct row *rows = sp_realloc(NULL, changes.count + 1, sizeof *rows);
    for (size_t i = 0; i < changes.count; i++)
        rows[i] = (struct row){&changes.items[i], sp_case_deciding(count, forms->total, &changes, i)};
    for (size_t i = 0; i < changes.count; i++)
        if (!is_row_said(count, rows, changes.count, i)) add_row(forms, &rows[i]);
    for (size_t i = 0; i < changes.count; i++) sp_free(rows[i].others.items);
    sp_free(rows);
    add_assumptions(forms, &changes);
    sp_free(changes.items);
}

/* ", or 2 if second": for each flag on which a default depends and of which formulas speak, the default where that flag
 * alone is not as usual. */
static const char *exception_words(struct sp_count *count, const struct sp_poly *fallback, const struct sp_poly *usual,
                                   const char *seen)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    const char *words = "";
    for (size_t atom = 0; atom < symbolic->algebra.atom_count; atom++) {
        if (!symbolic->algebra.atoms[atom].is_condition || !seen[atom] || !sp_poly_uses(fallback, atom)) continue;
        if (!sp_symbol_of(count, atom)) continue;
        const bool negated = !sp_case_holds(count, atom, NULL);
        struct sp_values apart = {0};
        sp_values_add(&apart, atom, sp_poly_int(&symbolic->algebra, negated));
        const struct sp_poly *other = sp_case_usual(count, fallback, &apart);
        sp_values_free(&apart);
        if (!other || sp_poly_equal(other, usual)) continue;
        words = sp_arena_printf(&symbolic->algebra.arena, "%s, or %s if %s", words,
                                sp_formula_words(symbolic, sp_sym_text(symbolic, other)),
                                sp_condition_words(symbolic, atom, negated));
    }
    return words;
}

/* The default of a symbol in words: "true", "0.5", "4*E", "1, or 2 if second"; "" for none. */
static const char *default_words(struct sp_count *count, const struct sp_symbol_info *info, const char *seen)
{
    struct sp_rational value;
    if (!info->fallback) return "";
    if (sp_poly_is_constant(info->fallback, &value) && value.den != 1)
        return sp_arena_string(&count->symbolic.algebra.arena,
                               sp_real_text((double)value.num / (double)value.den, 12).text);
    const struct sp_poly *usual = sp_case_usual(count, info->fallback, NULL);
    if (!usual) usual = info->fallback;
    if (count->symbolic.algebra.atoms[info->atom].is_condition && sp_poly_is_constant(usual, &value))
        return value.num ? "true" : "false";
    if (sp_atom_alone(usual) == info->atom) return ""; /* it must be given, unless it is null */
    return sp_arena_printf(&count->symbolic.algebra.arena, "%s%s",
                           sp_formula_words(&count->symbolic, sp_sym_text(&count->symbolic, usual)),
                           exception_words(count, info->fallback, usual, seen));
}

/* The hyper-parameter that the symbol is a side of: of num_layers[0] it is num_layers. NULL for what is no side. */
static const struct sp_symbol_info *pair_of_side(struct sp_symbolic *symbolic, const struct sp_symbol_info *side)
{
    const struct sp_origin *origin = side->is_computed ? NULL : sp_atom_info(symbolic, side->atom)->origin;
    const size_t pair =
        origin && origin->args[0].kind == SP_SYM_NUMBER ? sp_atom_alone(origin->args[0].poly) : SIZE_MAX;
    for (size_t i = 0; pair != SIZE_MAX && i < symbolic->symbols.count; i++)
        if (symbolic->symbols.items[i].atom == pair) return &symbolic->symbols.items[i];
    return NULL;
}

/* Whether it is a pair of whose sides formulas speak, but not of the pair itself. */
static bool is_only_pair(struct sp_symbolic *symbolic, const struct sp_symbol_info *info, const char *seen)
{
    for (size_t i = 0; seen[info->atom] != MARK_USED && i < symbolic->symbols.count; i++)
        if (seen[symbolic->symbols.items[i].atom] && pair_of_side(symbolic, &symbolic->symbols.items[i]) == info)
            return true;
    return false;
}

static struct shapeproof_symbol symbol_of_info(struct sp_count *count, const struct sp_symbol_info *info,
                                               const char *seen)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    struct shapeproof_symbol symbol = {.name = info->name, .key = "", .fallback = "", .formula = ""};
    const struct sp_symbol_info *pair = pair_of_side(symbolic, info);
    if (info->is_computed) symbol.formula = sp_formula_words(symbolic, info->key);
    else {
        symbol.key = info->key;
        symbol.fallback = info->list ? info->list : default_words(count, info->fallback || !pair ? info : pair, seen);
    }
    return symbol;
}

/* Whether a formula has the name in it, and not of one of its sides: "P" is in "I // P", and not in "P[0]*P_1". */
static bool is_in_formulas(const struct shapeproof_derivation *derivation, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < derivation->formula_count; i++) {
        const char *text = derivation->formulas[i].text;
        for (const char *at = text; (at = strstr(at, name)); at += length)
            if ((at == text || (at[-1] != '.' && !sp_is_word(at[-1]))) && !sp_is_word(at[length]) && at[length] != '[')
                return true;
    }
    return false;
}

/* The symbols of the formulas. */
static void list_symbols(struct shapeproof_derivation *derivation, const char *seen)
{
    struct sp_symbolic *symbolic = &derivation->count.symbolic;
    derivation->symbols = sp_realloc(NULL, symbolic->symbols.count, sizeof *derivation->symbols);
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const struct sp_symbol_info info = symbolic->symbols.items[i];
        if (!seen[info.atom] || info.unset_key) continue;
        if (is_only_pair(symbolic, &symbolic->symbols.items[i], seen) && !is_in_formulas(derivation, info.name))
            continue;
        derivation->symbols[derivation->symbol_count++] = symbol_of_info(&derivation->count, &info, seen);
    }
}

/* Gives names to what repeats in the formulas, and short ones to hyper-parameters, and puts them in all texts. */
static void shorten(struct shapeproof_derivation *derivation)
{
    struct sp_shortening *shortening = &derivation->shortening;
    sp_shorten_reserve_table(shortening, derivation->count.table);
    for (size_t i = 0; i < derivation->symbol_count; i++) {
        const struct shapeproof_symbol *symbol = &derivation->symbols[i];
        if (strcmp(symbol->name, symbol->key) == 0) sp_shorten_key(shortening, symbol->name);
        else sp_shorten_reserve(shortening, symbol->name);
    }
    for (size_t i = 0; i < derivation->formula_count; i++) sp_shorten_add(shortening, derivation->formulas[i].text);
    sp_shorten_choose(shortening);
    for (size_t i = 0; i < derivation->formula_count; i++) {
        struct shapeproof_formula *formula = &derivation->formulas[i];
        formula->when = sp_shorten_text(shortening, formula->when);
        formula->text = sp_shorten_text(shortening, formula->text);
        formula->expanded = sp_shorten_text(shortening, formula->expanded);
    }
    for (size_t i = 0; i < derivation->symbol_count; i++) {
        struct shapeproof_symbol *symbol = &derivation->symbols[i];
        symbol->name = sp_shorten_text(shortening, symbol->name);
        symbol->fallback = sp_shorten_text(shortening, symbol->fallback);
        symbol->formula = sp_shorten_text(shortening, symbol->formula);
    }
    for (size_t i = 0; i < derivation->assumed_count; i++)
        derivation->assumed[i] = sp_shorten_text(shortening, derivation->assumed[i]);
    for (size_t i = 0; i < shortening->names.count; i++) {
        const struct sp_short_name *name = &shortening->names.items[i];
        if (!name->is_key) *SP_PUSH(&derivation->parts) = (struct shapeproof_part){name->name, name->meaning};
    }
}

/* Writes the formulas, and the parts of them that have a name, in LaTeX. */
static void typeset(struct shapeproof_derivation *derivation)
{
    struct sp_arena *arena = &derivation->shortening.arena;
    for (size_t i = 0; i < derivation->formula_count; i++) {
        struct shapeproof_formula *formula = &derivation->formulas[i];
        formula->text = sp_latex_formula(arena, formula->text);
        formula->expanded = sp_latex_formula(arena, formula->expanded);
    }
    for (size_t i = 0; i < derivation->parts.count; i++) {
        struct shapeproof_part *part = &derivation->parts.items[i];
        part->name = sp_latex_formula(arena, part->name);
        part->formula = sp_latex_formula(arena, part->formula);
    }
}

/* Adds the formula of each group in the usual case. False when one has no value. */
static bool derive_groups(struct forms *forms)
{
    struct sp_count *count = &forms->derivation->count;
    for (size_t i = 0; i < count->group_count; i++) {
        const struct sp_poly *poly = sp_case_general(count, count->groups[i].parameters);
        poly = poly ? sp_case_usual(count, poly, NULL) : NULL;
        if (!poly) return false;
        if (!sp_poly_is_zero(poly)) add_form(forms, count->groups[i].name, "", poly);
    }
    return true;
}

/* Adds the formula of what is in use, where the table says that it is not everything. False when it has no value. */
static bool derive_active(struct forms *forms)
{
    struct sp_count *count = &forms->derivation->count;
    if (!(count->table->measures & SP_MEASURE_ACTIVE)) return true;
    const struct sp_poly *poly = sp_count_active(count, NULL);
    if (!poly || sp_poly_equal(poly, count->total)) return poly != NULL;
    poly = sp_case_general(count, poly);
    poly = poly ? sp_case_usual(count, poly, NULL) : NULL;
    if (!poly) return false;
    add_form(forms, "active", "", poly);
    forms->derivation->formulas[forms->derivation->formula_count - 1].is_measure = true;
    return true;
}

/* The text of an expression, on one line. Its span may begin or end within brackets, as that of (a) > 0 and (b): the
 * missing ones are put. */
static void put_source(struct sp_text *text, const struct sp_expr *expr)
{
    const char *source = expr->span.source->text + expr->span.offset;
    size_t open = 0, missing = 0;
    for (size_t i = 0; i < expr->span.length; i++) {
        if (source[i] == '(') open++;
        else if (source[i] == ')' && open) open--;
        else if (source[i] == ')') missing++;
    }
    for (size_t i = 0; i < missing; i++) sp_text_puts(text, "(");
    for (size_t i = 0; i < expr->span.length; i++) {
        const bool is_blank = strchr(" \t\r\n", source[i]) != NULL;
        if (!is_blank) sp_text_append(text, source + i, 1);
        else if (text->length && text->data[text->length - 1] != ' ') sp_text_puts(text, " ");
    }
    for (size_t i = 0; i < open; i++) sp_text_puts(text, ")");
}

/* The expression that a name of the table stands for; NULL if it is another expression. */
static const struct sp_expr *definition_of(const struct sp_unit *unit, const struct sp_expr *expr)
{
    for (size_t i = 0; i < unit->definition_count && expr->kind == SP_EXPR_NAME; i++)
        if (!unit->definitions[i].is_function && strcmp(unit->definitions[i].name, expr->name) == 0)
            return unit->definitions[i].expr;
    return NULL;
}

/* Assumes a condition of a formula in words, "H == 4*E" or "not cross", and marks what it speaks of, unless it holds
 * anyway. Each side of an `and` is assumed for itself, and in place of a name without a symbol what it stands for. */
static void assume_condition(void *context, const struct sp_sym_env *env, const struct sp_expr *condition)
{
    struct forms *forms = context;
    struct sp_symbolic *symbolic = &forms->derivation->count.symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_expr *named = definition_of(env->frame->unit, condition);
    const struct sp_poly *holds;
    struct sp_rational truth;
    if (!sp_sym_condition(symbolic, env, condition, &holds) || sp_poly_is_constant(holds, &truth)) return;
    const size_t so = sp_atom_alone(holds);
    const size_t denied = sp_atom_alone(sp_poly_sub(algebra, sp_poly_int(algebra, 1), holds));
    if (so != SIZE_MAX) assume_words(forms->derivation, say_condition(forms, so, true));
    else if (denied != SIZE_MAX) assume_words(forms->derivation, say_condition(forms, denied, false));
    else if (named) assume_condition(context, env, named);
    else if (condition->kind == SP_EXPR_BINARY && condition->op == SP_OP_AND) {
        assume_condition(context, env, condition->args[0]);
        assume_condition(context, env, condition->args[1]);
    } else {
        struct sp_text text = {0};
        see(forms, holds);
        put_source(&text, condition);
        assume_words(forms->derivation, sp_text_keep(&text, &algebra->arena));
    }
}

/* The bytes of activations of one sequence on one rank, without recomputation, where the conditions of the formula
 * hold. */
static const struct sp_poly *count_activations(struct forms *forms, const struct sp_poly *tokens)
{
    struct sp_count *count = &forms->derivation->count;
    const struct sp_sym one = sp_sym_of_poly(sp_poly_int(&count->symbolic.algebra, 1));
    const struct sp_sym_given given[] = {
        {"tokens", sp_sym_of_poly(tokens), NULL},
        {"batch", one, NULL},
        {"tp", one, NULL},
        {"sequence_parallel", sp_sym_of_value(&count->symbolic, sp_value_bool(false)), NULL},
        {"recompute", sp_sym_of_value(&count->symbolic, sp_value_string("none")), NULL}};
    const struct sp_open_formula open = {assume_condition, forms};
    return sp_count_activations(count, NULL, given, sizeof given / sizeof *given, &open);
}

/* The measure for one sequence or image, where `tokens` is a hyper-parameter. NULL with a message when it is not known.
 */
static const struct sp_poly *count_measure(struct forms *forms, const char *measure)
{
    struct sp_count *count = &forms->derivation->count;
    struct sp_symbolic *symbolic = &count->symbolic;
    const struct sp_poly *one = sp_poly_int(&symbolic->algebra, 1);
    const struct sp_open_formula open = {assume_condition, forms};
    if (strcmp(measure, "active") == 0) return sp_count_active(count, NULL);
    const struct sp_sym tokens = sp_atom_open(symbolic, "tokens", "tokens", 0, NULL);
    if (strcmp(measure, "activations") == 0) return count_activations(forms, tokens.poly);
    if (strcmp(measure, "flops") == 0) {
        const bool is_of_tokens = !count->table->only_input;
        const bool is_given[SP_FLOPS_ARGUMENTS] = {[SP_FLOPS_TOKENS] = is_of_tokens,
                                                   [SP_FLOPS_IMAGES] = count->table->inputs & SP_INPUT_IMAGE,
                                                   [SP_FLOPS_SOUNDS] = count->table->inputs & SP_INPUT_SOUND,
                                                   [SP_FLOPS_PATCHES] = true,
                                                   [SP_FLOPS_SOURCE_TOKENS] = is_of_tokens};
        struct sp_flops asked = {.numbers = {[SP_FLOPS_BATCH] = one}, .has_every_argument = true};
        for (size_t i = SP_FLOPS_TOKENS; i < SP_FLOPS_ARGUMENTS; i++)
            if (is_given[i])
                asked.numbers[i] = sp_atom_open(symbolic, sp_flops_names[i], sp_flops_names[i], 0, NULL).poly;
        return sp_count_flops(count, NULL, &asked, &open);
    }
    const struct sp_cache_asked asked = {.tokens = tokens.poly,
                                         .batch = one,
                                         .source_tokens =
                                             sp_atom_open(symbolic, "source_tokens", "source_tokens", 0, NULL).poly,
                                         .images = sp_atom_open(symbolic, "images", "images", 0, NULL).poly,
                                         .form = SP_CACHE_LATENT_FORM,
                                         .tp = 1,
                                         .open = &open};
    const struct sp_poly *elements = sp_count_cache(count, &asked);
    return elements ? sp_poly_scale(&symbolic->algebra, elements, sp_rational_int(2 /* bytes of an element */)) : NULL;
}

static bool is_measure(const char *name)
{
    static const char *const names[] = {"active", "cache", "flops", "activations"};
    return SP_IS_AMONG(name, names);
}

/* Says which class of the architecture the formula is about, if the table serves several and the configuration names
 * none: an encoder alone has no cache, an encoder-decoder has one. */
static void assume_class(struct shapeproof_derivation *derivation)
{
    struct sp_count *count = &derivation->count;
    const struct sp_hyper *settings = count->symbolic.fixed.settings;
    const struct sp_unit *table = count->table;
    const struct sp_sym_env env = {.frame = count->frame};
    if (settings && sp_value_is_set(sp_value_member(settings->root, "architectures"))) return;
    for (size_t i = 0; i < table->definition_count; i++) {
        const struct sp_definition *definition = &table->definitions[i];
        struct sp_sym class;
        if (strcmp(definition->name, "class") != 0 || definition->is_function ||
            !sp_sym_eval(&count->symbolic, &env, definition->expr, &class) || class.kind != SP_SYM_VALUE ||
            class.value.type != SHAPEPROOF_VALUE_STRING)
            continue;
        assume_words(derivation, sp_arena_printf(&count->symbolic.algebra.arena, "the class %s", class.value.string));
    }
}

/* Whether the table has latent keys and values, so that a cache has two forms. */
static bool has_two_forms(struct sp_count *count)
{
    const struct sp_poly *one = sp_poly_int(&count->symbolic.algebra, 1);
    const struct sp_cache_asked in_latent_form = {
        .tokens = one, .batch = one, .source_tokens = one, .images = one, .form = SP_CACHE_LATENT_FORM, .tp = 1};
    struct sp_cache_asked in_expanded_form = in_latent_form;
    in_expanded_form.form = SP_CACHE_EXPANDED_FORM;
    const struct sp_poly *latent = sp_count_cache(count, &in_latent_form);
    const struct sp_poly *expanded = sp_count_cache(count, &in_expanded_form);
    return latent && expanded && !sp_poly_equal(latent, expanded);
}

/* Says what the number of a measure counts. */
static void assume_convention(struct shapeproof_derivation *derivation, const char *measure,
                              const struct sp_poly *formula)
{
    struct sp_count *count = &derivation->count;
    if (strcmp(measure, "active") == 0) return;
    if (strcmp(measure, "activations") == 0) {
        assume_words(derivation, "one sequence on one rank");
        assume_words(derivation, "no recomputation");
        if (count->table->activations_source)
            assume_words(derivation, sp_arena_printf(&count->symbolic.algebra.arena, "the bytes %s",
                                                     count->table->activations_source));
        return;
    }
    if (strcmp(measure, "flops") == 0 || sp_poly_is_zero(formula)) assume_class(derivation);
    if (strcmp(measure, "cache") == 0) {
        assume_words(derivation, "one sequence");
        assume_words(derivation, "2 bytes for an element");
        if (has_two_forms(count)) assume_words(derivation, "latent keys and values (form=latent)");
        return;
    }
    static const char *const passes[] = {[0] = "a forward pass over one sequence",
                                         [SP_INPUT_IMAGE] = "a forward pass over one sequence and its images",
                                         [SP_INPUT_SOUND] = "a forward pass over one sequence and its sounds",
                                         [SP_INPUT_IMAGE | SP_INPUT_SOUND] =
                                             "a forward pass over one sequence, its images and its sounds"};
    const unsigned only_input = count->table->only_input;
    assume_words(derivation, only_input == SP_INPUT_IMAGE   ? "a forward pass over one image"
                             : only_input == SP_INPUT_SOUND ? "a forward pass over one sound"
                                                            : passes[count->table->inputs]);
    if (count->flops.has_attention) assume_words(derivation, "full attention");
    assume_words(derivation, "2 operations for a multiply-add");
}

/* Adds the formula of a measure in the usual case, what conditions change in it, and the assumptions of the formula.
 * False when the measure has no value. */
static bool derive_measure(struct forms *forms, const char *measure)
{
    struct shapeproof_derivation *derivation = forms->derivation;
    struct sp_count *count = &derivation->count;
    const struct sp_poly *poly = count_measure(forms, measure);
    poly = poly ? sp_case_general(count, poly) : NULL;
    const struct sp_poly *usual = poly ? sp_case_usual(count, poly, NULL) : NULL;
    if (!usual) return false;
    forms->whole = measure;
    forms->total = poly;
    add_form(forms, measure, "", usual);
    assume_convention(derivation, measure, usual);
    add_changes(forms);
    for (size_t i = 0; i < derivation->formula_count; i++) derivation->formulas[i].is_measure = true;
    return true;
}

/* Adds all formulas of the counted table: the groups, the total, its changes, and what is in use; or that of a measure
 * alone. False when the usual case has no value. */
static bool derive(struct shapeproof_derivation *derivation, const char *measure)
{
    struct sp_count *count = &derivation->count;
    struct forms forms = {.derivation = derivation, .whole = "total"};
    forms.total = sp_case_general(count, count->total);
    const struct sp_poly *usual = forms.total ? sp_case_usual(count, forms.total, NULL) : NULL;
    bool good = usual && (measure ? derive_measure(&forms, measure) : derive_groups(&forms));
    if (good && !measure) {
        add_form(&forms, "total", "", usual);
        add_changes(&forms);
        good = derive_active(&forms);
    }
    if (good) {
        list_symbols(derivation, forms.seen);
        shorten(derivation);
    }
    sp_free(forms.seen);
    return good;
}

/* What to give so that a table can be derived: its arguments are given by other tables, and one that serves classes is
 * as many tables as it has classes. */
static void hint_at_settings(const struct sp_unit *unit, const struct sp_hyper *hyper, struct shapeproof_error *error)
{
    bool needs_arguments = false;
    for (size_t i = 0; i < unit->param_count; i++) needs_arguments = needs_arguments || !unit->params[i].fallback;
    const char *key = sp_unit_class_key(unit);
    const bool is_open = !hyper || !sp_value_is_set(sp_value_member(hyper->root, key));
    if (needs_arguments) sp_hint(error, "'%s' is a part of other tables: derive one that uses it", unit->name);
    else if (sp_unit_is_by_class(unit) && is_open)
        sp_hint(error, "give the model, such as --set %s=%s", key, unit->architectures[0]);
}

/* The error of a derivation that failed: the mistakes of the table if it could not be counted, else what the algebra
 * says, else that there is no value in the usual case. */
static void fail_derivation(const struct shapeproof_derivation *derivation, bool is_counted, const struct sp_unit *unit,
                            const struct sp_hyper *hyper, struct shapeproof_error *error)
{
    const struct sp_symbolic *symbolic = &derivation->count.symbolic;
    const char *message = derivation->count.messages.data;
    if (is_counted && !symbolic->algebra.failed && message) { /* of a measure that the table does not know */
        message = sp_behind_place(message);
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "%.*s", (int)sp_first_line(message), message);
        return;
    }
    const char *why = symbolic->algebra.failed ? symbolic->algebra.failed
                                               : "a hyper-parameter that has a default "
                                                 "is in a denominator";
    sp_fail_lines(error, symbolic->report.unknown ? SHAPEPROOF_ERR_UNKNOWN : SHAPEPROOF_ERR_TABLE,
                  sp_sym_failure(symbolic), is_counted ? why : derivation->count.messages.data);
    if (error->status == SHAPEPROOF_ERR_UNKNOWN)
        sp_hint(error, "'shapeproof tables' lists the tables; name one that comes near, or write one");
    hint_at_settings(unit, hyper, error);
}

static struct shapeproof_derivation *new_derivation(void)
{
    struct shapeproof_derivation *derivation = sp_realloc(NULL, 1, sizeof *derivation);
    *derivation = (struct shapeproof_derivation){0};
    return derivation;
}

static bool derive_counted(struct shapeproof_derivation *derivation, bool is_counted, const char *measure)
{
    return is_counted && derive(derivation, measure) && !derivation->count.symbolic.algebra.failed;
}

static struct shapeproof_derivation *finish_derivation(struct shapeproof_derivation *derivation,
                                                       enum shapeproof_formula_notation notation)
{
    if (notation == SHAPEPROOF_FORMULA_LATEX) typeset(derivation);
    return derivation;
}

/* The characters of the formulas and of the parts that they name. */
static size_t derivation_length(const struct shapeproof_derivation *derivation)
{
    size_t length = 0;
    for (size_t i = 0; i < derivation->formula_count; i++)
        length += strlen(derivation->formulas[i].when) + strlen(derivation->formulas[i].text);
    for (size_t i = 0; i < derivation->parts.count; i++)
        length += strlen(derivation->parts.items[i].name) + strlen(derivation->parts.items[i].formula);
    return length;
}

/* A formula of a measure is for the lists that the table has by default, or for all lists of numbers, with sums over
 * their items: the shorter one of the two is derived. */
struct shapeproof_derivation *shapeproof_derive(const struct shapeproof_tables *tables,
                                                const struct shapeproof_config *config,
                                                const struct shapeproof_derive_options *options,
                                                struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("deriving the formulas");
    sp_error_reset(error);
    static const struct shapeproof_derive_options none = {0};
    assert(tables);
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    if (!options->table && !config) {
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                "there is neither a table nor a configuration that chooses one");
        return NULL;
    }
    if (options->measure && !is_measure(options->measure)) {
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "there is no measure '%s'", options->measure);
        return NULL;
    }
    const struct sp_hyper *hyper = config ? sp_config_hyper(config) : NULL;
    const struct sp_unit *unit = sp_choose_table(tables, options->table, hyper, error);
    if (!unit) return NULL;
    struct shapeproof_derivation *derivation = new_derivation();
    const bool counted = sp_count_table(&derivation->count, tables, unit, hyper, SP_SIDES_MAY_DIFFER);
    const bool good = derive_counted(derivation, counted, options->measure);
    if (counted && options->measure && derivation->count.symbolic.took_list) {
        struct shapeproof_derivation *general = new_derivation();
        const bool is_open = sp_count_table_of_lists(&general->count, tables, unit, hyper, SP_SIDES_MAY_DIFFER);
        const bool is_better = derive_counted(general, is_open, options->measure) &&
                               (!good || derivation_length(general) < derivation_length(derivation));
        shapeproof_derivation_free(is_better ? derivation : general);
        if (is_better) return finish_derivation(general, options->notation);
    }
    if (good) return finish_derivation(derivation, options->notation);
    fail_derivation(derivation, counted, unit, hyper, error);
    shapeproof_derivation_free(derivation);
    return NULL;
}

/* ---- of a prediction ---- */

/* Adds the formula of a group if it gives that number. */
static void add_checked(struct shapeproof_derivation *derivation, struct sp_configured *configured, const char *group,
                        uint64_t number)
{
    const struct sp_poly *form = sp_configured_group(configured, group, number);
    if (form) add_formula(derivation, group, "", form);
}

/* Adds the formulas of the groups and of the total that give the predicted numbers, and the symbols of the total. */
static void derive_prediction(struct shapeproof_derivation *derivation, struct sp_configured *configured,
                              const struct shapeproof_prediction *prediction)
{
    for (size_t i = 0; i < shapeproof_prediction_group_count(prediction); i++) {
        const struct shapeproof_group *group = shapeproof_prediction_group(prediction, i);
        add_checked(derivation, configured, group->name, group->parameters);
    }
    add_checked(derivation, configured, "total", shapeproof_prediction_totals(prediction)->unique_parameters);
    const struct sp_poly *total = sp_configured_form(configured, derivation->count.total);
    struct forms shown = {.derivation = derivation};
    see(&shown, total ? total : derivation->count.total);
    list_symbols(derivation, shown.seen);
    sp_free(shown.seen);
}

struct shapeproof_derivation *shapeproof_derive_prediction(const struct shapeproof_tables *tables,
                                                           const struct shapeproof_prediction *prediction,
                                                           const struct shapeproof_config *config,
                                                           struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("deriving the formulas");
    sp_error_reset(error);
    assert(tables && prediction && config);
    struct sp_configured configured;
    const struct sp_unit *unit = sp_tables_unit(tables, shapeproof_prediction_table(prediction));
    struct shapeproof_derivation *derivation = sp_realloc(NULL, 1, sizeof *derivation);
    *derivation = (struct shapeproof_derivation){0};
    const bool counted = sp_configured_open(&configured, &derivation->count, tables, unit, config, error);
    if (counted) derive_prediction(derivation, &configured, prediction);
    sp_configured_free(&configured);
    if (counted) return derivation;
    shapeproof_derivation_free(derivation);
    return NULL;
}

void shapeproof_derivation_free(struct shapeproof_derivation *derivation)
{
    if (!derivation) return;
    sp_free(derivation->formulas);
    sp_free(derivation->symbols);
    sp_free(derivation->assumed);
    sp_free(derivation->parts.items);
    sp_shorten_free(&derivation->shortening);
    sp_count_free(&derivation->count);
    sp_free(derivation);
}

const char *shapeproof_derivation_table(const struct shapeproof_derivation *derivation)
{
    return derivation->count.table->name;
}
size_t shapeproof_derivation_formula_count(const struct shapeproof_derivation *derivation)
{
    return derivation->formula_count;
}
const struct shapeproof_formula *shapeproof_derivation_formula(const struct shapeproof_derivation *derivation,
                                                               size_t index)
{
    return &derivation->formulas[index];
}
size_t shapeproof_derivation_assumption_count(const struct shapeproof_derivation *derivation)
{
    return derivation->assumed_count;
}
const char *shapeproof_derivation_assumption(const struct shapeproof_derivation *derivation, size_t index)
{
    return derivation->assumed[index];
}
size_t shapeproof_derivation_part_count(const struct shapeproof_derivation *derivation)
{
    return derivation->parts.count;
}
const struct shapeproof_part *shapeproof_derivation_part(const struct shapeproof_derivation *derivation, size_t index)
{
    return &derivation->parts.items[index];
}
size_t shapeproof_derivation_symbol_count(const struct shapeproof_derivation *derivation)
{
    return derivation->symbol_count;
}
const struct shapeproof_symbol *shapeproof_derivation_symbol(const struct shapeproof_derivation *derivation,
                                                             size_t index)
{
    return &derivation->symbols[index];
}
