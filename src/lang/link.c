/* SPDX-License-Identifier: MIT
 * Makes one set out of parsed units: a table that extends another gets what it inherits, rows find the parts and
 * tables that they use, calls find their functions. */
#include "base/suggest.h"
#include "lang/functions.h"
#include "lang/names.h"
#include "lang/syntax/lexer.h"

#include <string.h>

enum { MAX_EXTENDS = 16 };

/* What is wrong and where. */
struct link_mistake {
    struct sp_span span;
    const char *what;
};

struct linker {
    struct shapeproof_tables *tables;
    struct sp_units *units; /* those that are linked, and others before them */
    struct link_mistake mistakes[SP_MAX_MESSAGES];
    size_t mistake_count; /* of different ones */
};

/* What a table inherits is looked at again in the child: the same mistake counts and is reported once. Takes the
 * text. */
static void report_mistake(struct linker *linker, struct sp_span span, struct sp_text *what)
{
    bool is_known = linker->mistake_count == SP_MAX_MESSAGES;
    for (size_t i = 0; !is_known && i < linker->mistake_count; i++) {
        const struct link_mistake *known = &linker->mistakes[i];
        is_known = known->span.source == span.source && known->span.offset == span.offset &&
                   strcmp(known->what, what->data) == 0;
    }
    if (!is_known) {
        linker->mistakes[linker->mistake_count++] =
            (struct link_mistake){span, sp_arena_string(&linker->tables->arena, what->data)};
        sp_diagnose(&linker->tables->messages, span, "%s", what->data);
    }
    sp_text_free(what);
}

#define MISTAKE(linker, span, ...)                                                                                     \
    do {                                                                                                               \
        struct sp_text mistake_text = {0};                                                                             \
        sp_text_printf(&mistake_text, __VA_ARGS__);                                                                    \
        report_mistake((linker), (span), &mistake_text);                                                               \
    } while (0)

/* ---- extends: definitions and groups of the same name replace the parent's, new ones are added ---- */

static size_t find_definition(const struct sp_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->definition_count; i++)
        if (unit->definitions[i].name == name) return i;
    return SIZE_MAX;
}

static size_t find_section(const struct sp_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->section_count; i++)
        if (strcmp(unit->sections[i].name, name) == 0) return i;
    return SIZE_MAX;
}

static bool has_states(const struct sp_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->state_count; i++)
        if (strcmp(unit->states[i].name, name) == 0) return true;
    return false;
}

/* The definitions of the parent, in its order, with those of the unit in place of the ones that have the same name;
 * then the others of the unit. */
static void inherit_definitions(struct sp_arena *arena, struct sp_unit *unit, const struct sp_unit *parent)
{
    struct sp_definition *all = sp_arena_array(arena, unit->definition_count + parent->definition_count, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < parent->definition_count; i++) {
        const size_t own = find_definition(unit, parent->definitions[i].name);
        all[count++] = own == SIZE_MAX ? parent->definitions[i] : unit->definitions[own];
    }
    for (size_t i = 0; i < unit->definition_count; i++)
        if (find_definition(parent, unit->definitions[i].name) == SIZE_MAX) all[count++] = unit->definitions[i];
    unit->definitions = all;
    unit->definition_count = count;
}

static bool takes(const struct sp_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->param_count; i++)
        if (unit->params[i].name == name) return true;
    return false;
}

/* A parameter that the child does not name itself stays the parent's. */
static void inherit_params(struct sp_arena *arena, struct sp_unit *unit, const struct sp_unit *parent)
{
    struct sp_param *all = sp_arena_array(arena, unit->param_count + parent->param_count, sizeof *all);
    size_t count = 0;
    for (; count < unit->param_count; count++) all[count] = unit->params[count];
    for (size_t i = 0; i < parent->param_count; i++)
        if (!takes(unit, parent->params[i].name)) all[count++] = parent->params[i];
    unit->params = all;
    unit->param_count = count;
}

/* A group that the child has as well is replaced where it stands. */
static void inherit_sections(struct sp_arena *arena, struct sp_unit *unit, const struct sp_unit *parent)
{
    struct sp_section *all = sp_arena_array(arena, unit->section_count + parent->section_count, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < parent->section_count; i++) {
        const char *name = parent->sections[i].name;
        if (find_section(unit, name) == SIZE_MAX) all[count++] = parent->sections[i];
        else if (find_section(parent, name) == i)
            for (size_t k = 0; k < unit->section_count; k++)
                if (strcmp(unit->sections[k].name, name) == 0) all[count++] = unit->sections[k];
    }
    for (size_t i = 0; i < unit->section_count; i++)
        if (find_section(parent, unit->sections[i].name) == SIZE_MAX) all[count++] = unit->sections[i];
    unit->sections = all;
    unit->section_count = count;
}

/* Of the states those of the parent come first. A group that the child has as well, be it an empty one, replaces them.
 */
static void inherit_states(struct sp_arena *arena, struct sp_unit *unit, const struct sp_unit *parent)
{
    struct sp_section *all = sp_arena_array(arena, unit->state_count + parent->state_count, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < parent->state_count; i++) {
        const char *name = parent->states[i].name;
        if (!has_states(unit, name) && find_section(unit, name) == SIZE_MAX) all[count++] = parent->states[i];
    }
    for (size_t i = 0; i < unit->state_count; i++) all[count++] = unit->states[i];
    unit->states = all;
    unit->state_count = count;
}

static void inherit_requirements(struct sp_arena *arena, struct sp_unit *unit, const struct sp_unit *parent)
{
    const size_t count = unit->requirement_count + parent->requirement_count;
    struct sp_requirement *all = sp_arena_array(arena, count, sizeof *all);
    if (parent->requirement_count) memcpy(all, parent->requirements, parent->requirement_count * sizeof *all);
    if (unit->requirement_count)
        memcpy(all + parent->requirement_count, unit->requirements, unit->requirement_count * sizeof *all);
    unit->requirements = all;
    unit->requirement_count = count;
}

static void inherit_formula(struct sp_arena *arena, struct sp_unit *unit, const struct sp_unit *parent)
{
    const size_t count = unit->formula_condition_count + parent->formula_condition_count;
    struct sp_formula_condition *all = sp_arena_array(arena, count, sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = i < parent->formula_condition_count ? parent->formula_conditions[i]
                                                     : unit->formula_conditions[i - parent->formula_condition_count];
    unit->formula_conditions = all;
    unit->formula_condition_count = count;
    if (!unit->activations_source) unit->activations_source = parent->activations_source;
}

static bool links_own(const struct linker *linker) { return linker->units == &linker->tables->own; }

/* The built-in unit of that name: for another built-in one as it was parsed, else as anybody sees it. */
static struct sp_unit *find_builtin(const struct linker *linker, const char *name)
{
    const size_t index = sp_map_get(&linker->tables->names, name);
    if (index == SIZE_MAX) return NULL;
    if (links_own(linker)) return (struct sp_unit *)sp_tables_at(linker->tables, index);
    return sp_tables_parse_builtin(linker->tables, index);
}

/* A part without parameters is what tables have in common and no model itself. */
static bool can_be_extended(const struct sp_unit *unit) { return unit->is_table || !unit->param_count; }

/* A table may extend an earlier one of its own name, which it hides. */
static struct sp_unit *find_parent(const struct linker *linker, const struct sp_unit *unit)
{
    for (size_t i = linker->tables->own.count; links_own(linker) && i-- > 0;) {
        struct sp_unit *other = linker->tables->own.items[i];
        if (other != unit && can_be_extended(other) && other->name == unit->parent_name) return other;
    }
    struct sp_unit *builtin = find_builtin(linker, unit->parent_name);
    return builtin && can_be_extended(builtin) ? builtin : NULL;
}

/* Gives the unit what the one that it extends has: parameters, definitions, sections, requirements; parents first.
 * Not its lines `unadapted`, whose reasons are about the type of one model. `depth` is the number of units that extend
 * one another on the way to this one. */
static void inherit(struct linker *linker, struct sp_unit *unit, unsigned depth)
{
    if (unit->link_state == SP_LINK_DONE || !unit->parent_name) return;
    struct sp_unit *parent = find_parent(linker, unit);
    if (unit->link_state == SP_LINK_UNDER_WAY) MISTAKE(linker, unit->parent_span, "'%s' extends itself", unit->name);
    else if (!parent)
        MISTAKE(linker, unit->parent_span, "there is no table or part without parameters '%s' to extend",
                unit->parent_name);
    else if (depth == MAX_EXTENDS) MISTAKE(linker, unit->parent_span, "extends more than %d deep", MAX_EXTENDS);
    else {
        unit->link_state = SP_LINK_UNDER_WAY;
        inherit(linker, parent, depth + 1);
        unit->parent = parent;
        /* What other tensors are used for, nobody has said. */
        if (!unit->section_count && !unit->state_count && !unit->measures) unit->measures = parent->measures;
        if (!unit->says_unit) {
            unit->only_input = parent->only_input;
            unit->inputs = parent->inputs;
            unit->are_inputs_apart = parent->are_inputs_apart;
        }
        if (!unit->pipeline.count) unit->pipeline = parent->pipeline;
        inherit_states(&linker->tables->arena, unit, parent);
        inherit_params(&linker->tables->arena, unit, parent);
        inherit_definitions(&linker->tables->arena, unit, parent);
        inherit_sections(&linker->tables->arena, unit, parent);
        inherit_requirements(&linker->tables->arena, unit, parent);
        inherit_formula(&linker->tables->arena, unit, parent);
    }
    unit->link_state = SP_LINK_DONE;
}

/* The unit that is used under that name. */
static const struct sp_unit *find_used(struct linker *linker, const char *name)
{
    if (links_own(linker)) return sp_tables_unit(linker->tables, name);
    struct sp_unit *unit = find_builtin(linker, name);
    if (unit) inherit(linker, unit, 0);
    return unit;
}

/* ---- calls ---- */

struct scope {
    struct linker *linker;
    const struct sp_unit *unit;
    const struct sp_section *section;     /* or NULL */
    const struct sp_definition *defining; /* in whose expression a name does not mean itself, or NULL */
};

static const struct sp_definition *user_function(const struct scope *scope, const char *name)
{
    for (size_t i = 0; scope->section && i < scope->section->local_count; i++)
        if (scope->section->locals[i].name == name && &scope->section->locals[i] != scope->defining)
            return &scope->section->locals[i];
    const size_t found = find_definition(scope->unit, name);
    if (found == SIZE_MAX || &scope->unit->definitions[found] == scope->defining) return NULL;
    return &scope->unit->definitions[found];
}

/* Finds the function of a call, of the table or built in, and checks the number of arguments. */
static void link_call(const struct scope *scope, struct sp_expr *expr)
{
    const struct sp_definition *own = user_function(scope, expr->name);
    const struct sp_function *function = sp_function_find(expr->name);
    if (own && own->is_function) {
        if (own->param_count != expr->count)
            MISTAKE(scope->linker, expr->span, "'%s' takes %zu argument%s, not %zu", expr->name, own->param_count,
                    own->param_count == 1 ? "" : "s", expr->count);
    } else if (!function && scope->defining && scope->defining->name == expr->name) {
        MISTAKE(scope->linker, expr->span, "'%s' is defined through itself", expr->name);
    } else if (!function) {
        MISTAKE(scope->linker, expr->span, "there is no function '%s'", expr->name);
    } else if (expr->count < function->min_args || expr->count > function->max_args) {
        if (function->max_args > function->min_args)
            MISTAKE(scope->linker, expr->span, "'%s' takes %zu to %zu arguments, not %zu", expr->name,
                    function->min_args, function->max_args, expr->count);
        else
            MISTAKE(scope->linker, expr->span, "'%s' takes %zu argument%s, not %zu", expr->name, function->min_args,
                    function->max_args == 1 ? "" : "s", expr->count);
    } else {
        expr->function = function;
    }
}

static void link_expr(const struct scope *scope, struct sp_expr *expr)
{
    if (!expr) return;
    if (expr->kind == SP_EXPR_CALL) link_call(scope, expr);
    for (size_t i = 0; i < expr->count; i++) link_expr(scope, expr->args[i]);
    if (expr->division) link_expr(scope, expr->division->of);
}

static void link_template(const struct scope *scope, const struct sp_template *name)
{
    for (size_t i = 0; i < name->count; i++) link_expr(scope, name->pieces[i].hole);
}

/* ---- rows ---- */

/* How many arguments give the parameter at `index`. */
static size_t times_given(const struct sp_row *row, size_t positional, size_t index)
{
    size_t times = index < positional;
    for (size_t i = 0; i < row->arg_count; i++) times += row->args[i].name == row->unit->params[index].name;
    return times;
}

/* Checks the arguments of a use against the parameters of its part: names, number, none missing, none twice. */
static void check_arguments(struct linker *linker, const struct sp_row *row)
{
    const struct sp_unit *unit = row->unit;
    size_t positional = 0;
    for (size_t i = 0; i < row->arg_count; i++) {
        const struct sp_argument *arg = &row->args[i];
        if (!arg->name && positional < i) {
            MISTAKE(linker, arg->span, "an argument without a name cannot follow one with a name");
            return;
        }
        if (!arg->name) positional++;
        else if (!takes(unit, arg->name))
            MISTAKE(linker, arg->span, "'%s' has no parameter '%s'", unit->name, arg->name);
    }
    if (positional > unit->param_count)
        MISTAKE(linker, row->unit_span, "'%s' takes %zu argument%s, not %zu", unit->name, unit->param_count,
                unit->param_count == 1 ? "" : "s", positional);
    for (size_t i = 0; i < unit->param_count; i++) {
        const size_t times = times_given(row, positional, i);
        if (!times && !unit->params[i].fallback)
            MISTAKE(linker, row->unit_span, "'%s' needs its argument '%s'", unit->name, unit->params[i].name);
        if (times > 1)
            MISTAKE(linker, row->unit_span, "'%s' is given its argument '%s' twice", unit->name, unit->params[i].name);
    }
}

/* The argument for each parameter: by position first, then by name. An inherited row is one object of several tables,
 * which are linked in any order: the first one does it. If that was an earlier call, the row must not get memory of
 * this call (base/call.h). */
static void match_arguments(struct linker *linker, struct sp_row *row)
{
    size_t next = 0;
    if (row->given) return;
    row->given = sp_arena_array(&linker->tables->arena, row->unit->param_count, sizeof *row->given);
    for (size_t i = 0; i < row->arg_count; i++) {
        if (!row->args[i].name && next < row->unit->param_count) row->given[next++] = row->args[i].expr;
        for (size_t k = 0; row->args[i].name && k < row->unit->param_count; k++)
            if (row->unit->params[k].name == row->args[i].name) row->given[k] = row->args[i].expr;
    }
}

/* What a use of the table that serves an architecture is until a configuration tells which. */
static const struct sp_unit any_table = {.name = "table", .is_table = true};

static bool is_choice(const struct sp_row *row)
{
    return strcmp(row->unit_name, "table") == 0 && row->arg_count == 1 && !row->args[0].name;
}

/* Finds the unit that a row uses and checks the arguments. Of table(NAME) the configuration chooses the unit later. */
static void link_use(const struct scope *scope, struct sp_row *row)
{
    if (is_choice(row)) {
        row->unit = &any_table;
        row->choice = scope->linker->tables;
    }
    /* An inherited row keeps the unit that it was written with. */
    if (!row->unit) row->unit = find_used(scope->linker, row->unit_name);
    if (!row->unit) {
        MISTAKE(scope->linker, row->unit_span, "there is no part or table '%s'", row->unit_name);
        return;
    }
    if (!row->choice) check_arguments(scope->linker, row);
    if (!row->choice) match_arguments(scope->linker, row);
    link_expr(scope, row->from);
    for (size_t i = 0; i < row->arg_count; i++) link_expr(scope, row->args[i].expr);
    for (size_t i = 0; i < row->with_count; i++) link_expr(scope, row->with[i].expr);
}

static void link_share(const struct scope *scope, const struct sp_row_share *share)
{
    link_expr(scope, share->part);
    link_expr(scope, share->whole);
}

static void link_row(const struct scope *scope, struct sp_row *row)
{
    link_share(scope, &row->share);
    link_expr(scope, row->times);
    link_template(scope, &row->name);
    link_expr(scope, row->condition);
    if (row->kind == SP_ROW_USE) {
        link_use(scope, row);
        return;
    }
    for (size_t i = 0; i < row->rank; i++) link_expr(scope, row->shape[i]);
    for (size_t i = 0; i < row->old_count; i++) link_template(scope, &row->olds[i]);
    link_template(scope, &row->tie);
    link_expr(scope, row->tie_condition);
}

static void check_twice(struct linker *linker, const struct sp_definition *definitions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (definitions[i].name == definitions[k].name)
                MISTAKE(linker, definitions[i].span, "'%s' is defined twice", definitions[i].name);
}

static void link_definitions(struct scope scope, const struct sp_definition *definitions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        scope.defining = &definitions[i];
        link_expr(&scope, definitions[i].expr);
    }
}

static void link_section(struct scope scope, const struct sp_section *section)
{
    scope.section = section;
    for (size_t i = 0; i < section->clause_count; i++) {
        link_expr(&scope, section->clauses[i].first);
        link_expr(&scope, section->clauses[i].last);
    }
    link_share(&scope, &section->share);
    link_expr(&scope, section->times);
    check_twice(scope.linker, section->locals, section->local_count);
    link_definitions(scope, section->locals, section->local_count);
    for (size_t i = 0; i < section->row_count; i++) link_row(&scope, &section->rows[i]);
}

static void link_claim(const struct scope *scope, const struct sp_claim *claim)
{
    link_expr(scope, claim->left);
    link_expr(scope, claim->right);
    for (size_t i = 0; i < claim->when_count; i++) link_expr(scope, claim->when[i].expr);
}

/* What is meant by a name that only a definition among claims has, such as params, Total or attention: "total", or a
 * group of the table, "[attention]"; "total" when no group is near. */
static const char *quantity_meant(struct sp_arena *arena, const struct sp_unit *about, const char *name)
{
    for (size_t i = 0; about && i < about->section_count; i++) {
        const char *group = about->sections[i].name;
        if (strcmp(name, group) == 0 || sp_is_misspelt(name, group)) return sp_arena_printf(arena, "[%s]", group);
    }
    return "total";
}

/* Whether a line of the source, from this place on, has the name. */
static bool line_mentions(struct sp_span at, const char *name)
{
    const char *text = at.source->text + at.offset;
    const size_t length = strlen(name), line = strcspn(text, "\n");
    for (size_t i = 0; i + length <= line; i++) {
        const bool begins = i == 0 || !sp_is_name_char(text[i - 1]);
        if (begins && strncmp(text + i, name, length) == 0 && !sp_is_name_char(text[i + length])) return true;
    }
    return false;
}

/* Whether a claim of the unit, its first line, or another definition has the name of the definition. */
static bool is_used(const struct sp_unit *unit, size_t definition)
{
    const char *name = unit->definitions[definition].name;
    bool used = line_mentions(unit->span, name);
    for (size_t i = 0; i < unit->claim_count && !used; i++) used = line_mentions(unit->claims[i].span, name);
    for (size_t i = 0; i < unit->definition_count && !used; i++)
        used = i != definition && line_mentions(unit->definitions[i].span, name);
    return used;
}

/* A definition that no claim uses says nothing: `params = 12*L*d^2` defines params, where a claim about total was
 * meant. A mistake when nothing else is claimed, else a remark. */
static void check_claimed(struct linker *linker, const struct sp_unit *unit, const struct sp_unit *about)
{
    struct sp_arena *arena = &linker->tables->arena;
    for (size_t i = 0; i < unit->definition_count && links_own(linker); i++) {
        const struct sp_definition *definition = &unit->definitions[i];
        if (unit->span.source->has_expressions || unit->span.source->has_mistakes || is_used(unit, i)) continue;
        const char *meant = quantity_meant(arena, about, definition->name);
        if (!unit->claim_count)
            MISTAKE(linker, definition->span,
                    "nothing is claimed: this line defines '%s'; did you mean the quantity in 'claim %s = ...'?",
                    definition->name, meant);
        else
            sp_text_printf(&linker->tables->remarks, "%s: '%s' is defined, and no claim uses it\n",
                           definition->span.source->name, definition->name);
    }
}

static void check_about(struct linker *linker, const struct sp_unit *unit)
{
    if (!unit->about) return;
    const bool is_alone = strcmp(unit->about, SP_CHECKPOINT_ALONE) == 0;
    const struct sp_unit *about = is_alone ? NULL : find_used(linker, unit->about);
    if (is_alone || (about && about->is_table)) check_claimed(linker, unit, about);
    else MISTAKE(linker, unit->about_span, "there is no table '%s' to make claims about", unit->about);
}

static void check_params(struct linker *linker, const struct sp_unit *unit)
{
    for (size_t i = 0; i < unit->param_count; i++) {
        const struct sp_param *param = &unit->params[i];
        const size_t defined = find_definition(unit, param->name);
        if (defined != SIZE_MAX)
            MISTAKE(linker, unit->definitions[defined].span, "'%s' is a parameter already", param->name);
        for (size_t k = 0; k < i; k++)
            if (unit->params[k].name == param->name)
                MISTAKE(linker, param->span, "'%s' is a parameter already", param->name);
    }
}

static void link_unit(struct linker *linker, struct sp_unit *unit)
{
    const struct scope scope = {linker, unit, NULL, NULL};
    check_twice(linker, unit->definitions, unit->definition_count);
    check_params(linker, unit);
    check_about(linker, unit);
    for (size_t i = 0; i < unit->param_count; i++) link_expr(&scope, unit->params[i].fallback);
    link_definitions(scope, unit->definitions, unit->definition_count);
    link_expr(&scope, unit->pipeline.count);
    for (size_t i = 0; i < unit->requirement_count; i++) {
        link_expr(&scope, unit->requirements[i].condition);
        link_expr(&scope, unit->requirements[i].message);
    }
    for (size_t i = 0; i < unit->formula_condition_count; i++) link_expr(&scope, unit->formula_conditions[i].condition);
    for (size_t i = 0; i < unit->section_count; i++) link_section(scope, &unit->sections[i]);
    for (size_t i = 0; i < unit->state_count; i++) link_section(scope, &unit->states[i]);
    for (size_t i = 0; i < unit->claim_count; i++) link_claim(&scope, &unit->claims[i]);
}

/* Of the built-in ones the build sees to it. */
static void check_names(struct linker *linker, size_t first)
{
    const struct sp_units *units = linker->units;
    struct sp_map seen = {0};
    for (size_t i = first; links_own(linker) && i < units->count; i++)
        if (*units->items[i]->name && !units->items[i]->about && !sp_map_add(&seen, units->items[i]->name, i))
            MISTAKE(linker, units->items[i]->span, "'%s' is defined twice", units->items[i]->name);
    sp_map_free(&seen);
}

bool sp_link(struct shapeproof_tables *tables, struct sp_units *units, size_t first)
{
    struct linker linker = {.tables = tables, .units = units};
    for (size_t i = first; i < units->count; i++)
        if (!units->items[i]->name) units->items[i]->name = ""; /* its line was reported already */
    check_names(&linker, first);
    for (size_t i = first; i < units->count; i++) inherit(&linker, units->items[i], 0);
    for (size_t i = first; i < units->count; i++) link_unit(&linker, units->items[i]);
    if (!linker.mistake_count) sp_resolve_names(tables, units, first);
    return linker.mistake_count == 0;
}
