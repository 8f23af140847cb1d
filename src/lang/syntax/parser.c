/* SPDX-License-Identifier: MIT
 * The lines of a table file, each by its kind. */
#include "lang/syntax/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/word.h"
#include "lang/syntax/line_kind.h"

/* ---- helpers shared with the expression parser ---- */

bool sp_parse_fail(struct sp_parser *parser, struct sp_span span, const char *format, ...)
{
    char message[512];
    va_list args;
    if (parser->failed) return false;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    parser->failed = true;
    parser->failed_at = span.offset;
    if (parser->mistakes++ < SP_MAX_MESSAGES) sp_diagnose(parser->messages, span, "%s", message);
    return false;
}

bool sp_parse_accept(struct sp_parser *parser, const char *text)
{
    if (!sp_token_is(&parser->lexer, text)) return false;
    sp_lexer_next(&parser->lexer);
    return true;
}

size_t sp_parse_argument_name(struct sp_parser *parser, const char *const *names, const char *expected, unsigned *seen)
{
    const struct sp_span span = parser->lexer.token.span;
    size_t i = 0;
    while (names[i] && !sp_token_is(&parser->lexer, names[i])) i++;
    if (!names[i]) {
        sp_parse_fail(parser, span, "expected %s", expected);
        return SIZE_MAX;
    }
    if (*seen & 1U << i) {
        sp_parse_fail(parser, span, "'%s' is given twice", names[i]);
        return SIZE_MAX;
    }
    *seen |= 1U << i;
    sp_lexer_next(&parser->lexer);
    return sp_parse_expect(parser, "=", "in front of the value") ? i : SIZE_MAX;
}

bool sp_parse_expect(struct sp_parser *parser, const char *text, const char *where)
{
    if (sp_parse_accept(parser, text)) return true;
    return sp_parse_fail(parser, parser->lexer.token.span, "expected '%s' %s", text, where);
}

/* Inside brackets a line goes on in the next one, so a bracket that is never closed shows only there. */
bool sp_parse_close(struct sp_parser *parser, const char *close, struct sp_span open, const char *expected)
{
    const struct sp_token *token = &parser->lexer.token;
    if (sp_parse_accept(parser, close)) return true;
    if (token->kind == SP_TOKEN_BAD) return sp_parse_fail(parser, token->span, "%s", token->problem);
    if (token->kind != SP_TOKEN_END && token->span.offset < sp_lexer_line_end(&parser->lexer, open.offset))
        return sp_parse_fail(parser, token->span, "expected %s", expected);
    open.length = 1;
    return sp_parse_fail(parser, open, "this bracket is never closed: expected '%s'", close);
}

const char *sp_parse_intern(struct sp_parser *parser, const char *text, size_t length)
{
    return shapeproof_symbol(parser->symbols, text, length);
}

const char *sp_parse_name(struct sp_parser *parser, const char *what)
{
    const struct sp_token *token = &parser->lexer.token;
    if (token->kind != SP_TOKEN_NAME) {
        sp_parse_fail(parser, token->span, "expected %s", what);
        return NULL;
    }
    if (sp_is_reserved(parser->lexer.source->text + token->span.offset, token->span.length)) {
        sp_parse_fail(parser, token->span, "expected %s, and this is a word of the language", what);
        return NULL;
    }
    const char *name = sp_parse_intern(parser, parser->lexer.source->text + token->span.offset, token->span.length);
    sp_lexer_next(&parser->lexer);
    return name;
}

void *sp_parse_grow(struct sp_arena *arena, void *items, size_t count, size_t size)
{
    if (count && (count & (count - 1))) return items; /* room is doubled at powers of two */
    void *grown = sp_arena_array(arena, count ? count * 2 : 1, size);
    if (count) memcpy(grown, items, count * size);
    return grown;
}

static size_t skip_spaces(const struct sp_parser *parser, size_t offset)
{
    while (sp_parse_is_blank(*sp_parse_text(parser, offset))) offset++;
    return offset;
}

/* ---- rows ---- */

/* The section that is being read. */
static struct sp_section *current_section(struct sp_parser *parser, struct sp_unit *unit)
{
    if (parser->in_states) return &unit->states[unit->state_count - 1];
    if (!unit->section_count) {
        struct sp_section *section = SP_PARSE_APPEND(parser, unit->sections, unit->section_count);
        *section = (struct sp_section){.name = ""};
    }
    return &unit->sections[unit->section_count - 1];
}

static void parse_row(struct sp_parser *parser, struct sp_unit *unit, size_t offset)
{
    struct sp_row parsed = {0};
    if (!sp_parse_row(parser, &parsed, offset)) return;
    struct sp_section *section = current_section(parser, unit);
    const bool is_tensor = sp_row_is_tensor(&parsed);
    if (!is_tensor && !parser->in_states && !section->row_count && *section->name) {
        *SP_PARSE_APPEND(parser, unit->states, unit->state_count) = *section;
        unit->section_count--; /* with its first row, no tensor, the section has become one of the states */
        parser->in_states = true;
        section = current_section(parser, unit);
    }
    if (is_tensor == parser->in_states) {
        sp_parse_fail(parser, parsed.span,
                      "a group has either tensors, or states, work and activations, which have a heading above them");
        return;
    }
    *SP_PARSE_APPEND(parser, section->rows, section->row_count) = parsed;
}

/* ---- definitions ---- */

/* The parameters of a function, (a, b); without parentheses it is no function. */
static bool parse_definition_params(struct sp_parser *parser, struct sp_definition *definition)
{
    const struct sp_span open = parser->lexer.token.span;
    if (!sp_parse_accept(parser, "(")) return true;
    definition->is_function = true;
    do {
        if (definition->param_count == SP_MAX_PARAMS)
            return sp_parse_fail(parser, parser->lexer.token.span, "more than %d parameters", SP_MAX_PARAMS);
        const char *name = sp_parse_name(parser, "the name of a parameter");
        if (!name) return false;
        *SP_PARSE_APPEND(parser, definition->params, definition->param_count) = name;
    } while (sp_parse_accept(parser, ","));
    return sp_parse_close(parser, ")", open, "',' or ')'");
}

/* Before the first heading a definition is the unit's, below one it is the section's. */
static void add_definition(struct sp_parser *parser, struct sp_unit *unit, const struct sp_definition *parsed)
{
    const bool top =
        !parser->in_states && (!unit->section_count || (unit->section_count == 1 && !unit->sections[0].name[0]));
    struct sp_section *section = top ? NULL : current_section(parser, unit);
    if ((top ? unit->definition_count : section->local_count) == SP_MAX_DEFINITIONS)
        sp_parse_fail(parser, parsed->span, "more than %d definitions", SP_MAX_DEFINITIONS);
    else if (top) *SP_PARSE_APPEND(parser, unit->definitions, unit->definition_count) = *parsed;
    else *SP_PARSE_APPEND(parser, section->locals, section->local_count) = *parsed;
}

/* definition = NAME [ "(" NAME { "," NAME } ")" ] "=" expr ; */
static void parse_definition(struct sp_parser *parser, struct sp_unit *unit, size_t offset)
{
    struct sp_definition parsed = {0};
    sp_parse_restart(parser, offset);
    sp_lexer_next(&parser->lexer);
    parsed.span = parser->lexer.token.span;
    parsed.name = sp_parse_name(parser, "a name");
    if (!parsed.name || !parse_definition_params(parser, &parsed) || !sp_parse_expect(parser, "=", "in the definition"))
        return;
    parser->in_claim = unit->about != NULL;
    parsed.expr = sp_parse_expression(parser);
    parser->in_claim = false;
    if (parsed.expr) add_definition(parser, unit, &parsed);
}

/* ---- headings ---- */

static bool parse_loop(struct sp_parser *parser, struct sp_clause *clause)
{
    clause->name = sp_parse_name(parser, "the name of the index after 'for'");
    if (!clause->name || !sp_parse_expect(parser, "in", "after the index")) return false;
    clause->first = sp_parse_expression(parser);
    if (!clause->first) return false;
    clause->kind = SP_CLAUSE_EACH;
    if (!sp_parse_accept(parser, "..")) return true;
    clause->kind = SP_CLAUSE_RANGE;
    clause->last = sp_parse_expression(parser);
    if (!clause->last || !sp_parse_accept(parser, "by")) return clause->last != NULL;
    clause->by_ep = true;
    return sp_parse_expect(parser, "ep", "behind 'by': a loop is divided among the ranks of experts");
}

/* What a heading says at its end of all rows: share and times, in any order. */
static bool parse_section_use(struct sp_parser *parser, struct sp_section *section)
{
    while (!sp_parse_at_end(parser)) {
        bool good;
        if (sp_token_is(&parser->lexer, "share")) good = sp_parse_share(parser, &section->share);
        else if (sp_token_is(&parser->lexer, "times")) good = sp_parse_times(parser, &section->times);
        else good = sp_parse_fail(parser, parser->lexer.token.span, "expected 'share' or 'times' here");
        if (!good) return false;
    }
    return true;
}

/* The loops and conditions of a heading, its share and its times, up to the end of the line. */
static bool parse_clauses(struct sp_parser *parser, struct sp_section *section)
{
    while (!sp_parse_at_end(parser)) {
        if (sp_token_is(&parser->lexer, "share") || sp_token_is(&parser->lexer, "times"))
            return parse_section_use(parser, section);
        struct sp_clause clause = {.kind = SP_CLAUSE_IF};
        if (section->clause_count == SP_MAX_CLAUSES)
            return sp_parse_fail(parser, parser->lexer.token.span, "more than %d 'for' and 'if'", SP_MAX_CLAUSES);
        if (sp_parse_accept(parser, "for")) {
            if (!parse_loop(parser, &clause)) return false;
        } else if (sp_parse_accept(parser, "if")) {
            clause.first = sp_parse_expression(parser);
            if (!clause.first) return false;
        } else
            return sp_parse_fail(parser, parser->lexer.token.span,
                                 "expected 'for', 'if', 'share' or 'times' after the group name");
        *SP_PARSE_APPEND(parser, section->clauses, section->clause_count) = clause;
    }
    return true;
}

/* Begins a section. Its name is everything between the brackets but the blanks at its ends, "feed-forward".
 *
 *     heading = "[" group-name "]" { "for" NAME "in" expr [ ".." expr [ "by" "ep" ] ] | "if" expr } { share | times } ;
 */
static void parse_heading(struct sp_parser *parser, struct sp_unit *unit, size_t offset)
{
    const size_t end = offset + strcspn(sp_parse_text(parser, offset), "]\n");
    const struct sp_span span = {parser->lexer.source, (uint32_t)offset, (uint32_t)(end + 1 - offset)};
    size_t from = skip_spaces(parser, offset + 1), to = end;
    while (to > from && sp_parse_is_blank(*sp_parse_text(parser, to - 1))) to--;
    if (*sp_parse_text(parser, end) != ']' || from >= to) {
        sp_parse_fail(parser, span, "expected '[group name]'");
        return;
    }
    struct sp_section section = {.name = sp_parse_intern(parser, sp_parse_text(parser, from), to - from), .span = span};
    if (strcmp(section.name, "total") == 0) {
        sp_parse_fail(parser, span, "'total' is the sum of all groups: no group has this name");
        return;
    }
    sp_parse_restart(parser, end + 1);
    sp_lexer_next(&parser->lexer);
    parse_clauses(parser, &section); /* kept even after a mistake, so that its rows are checked too */
    parser->in_states = false;
    *SP_PARSE_APPEND(parser, unit->sections, unit->section_count) = section;
}

/* ---- directives ---- */

/* The first line of the comment that stands directly above the line of `offset`, without the blanks around it, or "";
 * *begin is where that comment begins, or that line. Lines may be indented: a formatted file has the same title. */
static const char *title_above(struct sp_parser *parser, size_t offset, size_t *begin)
{
    const char *text = parser->lexer.source->text, *title = NULL;
    const size_t first = sp_source_begin(text);
    size_t length = 0;
    while (offset > first && text[offset - 1] != '\n') offset--;
    while (offset > first) {
        size_t start = offset - 1;
        while (start > first && text[start - 1] != '\n') start--;
        const char *p = sp_parse_text(parser, skip_spaces(parser, start));
        if (*p != '#') break;
        title = p + 1 + strspn(p + 1, " ");
        length = strcspn(title, "\n");
        while (length && sp_parse_is_blank(title[length - 1])) length--;
        offset = start;
    }
    *begin = offset;
    return title ? sp_arena_copy(parser->arena, title, length) : "";
}

/* param = NAME [ "=" expr ] ; */
static bool parse_unit_params(struct sp_parser *parser, struct sp_unit *unit)
{
    const struct sp_span open = parser->lexer.token.span;
    if (!sp_parse_accept(parser, "(")) return true;
    while (!sp_token_is(&parser->lexer, ")")) {
        if (unit->param_count == SP_MAX_PARAMS)
            return sp_parse_fail(parser, parser->lexer.token.span, "more than %d parameters", SP_MAX_PARAMS);
        struct sp_param *param = SP_PARSE_APPEND(parser, unit->params, unit->param_count);
        *param = (struct sp_param){.span = parser->lexer.token.span};
        param->name = sp_parse_name(parser, "the name of a parameter");
        if (!param->name) return false;
        if (sp_parse_accept(parser, "=") && !(param->fallback = sp_parse_expression(parser))) return false;
        if (!sp_parse_accept(parser, ",")) break;
    }
    return sp_parse_close(parser, ")", open, "',' or ')'");
}

/* The heading of a table, a part or a set of claims; the word is the current token. A unit after a mistake as well, so
 * that its lines are read.
 *
 *     unit = ( "table" | "part" ) NAME [ "(" [ param { "," param } ] ")" ] [ "extends" NAME ] ; */
static struct sp_unit *parse_unit(struct sp_parser *parser, size_t offset)
{
    struct sp_unit *unit = sp_arena_alloc(parser->arena, sizeof *unit);
    unit->title = title_above(parser, offset, &unit->begin);
    parser->is_about_checkpoint = false;
    parser->in_states = false;
    if (sp_token_is(&parser->lexer, "claims")) {
        sp_parse_claims_header(parser, unit);
        return unit;
    }
    unit->is_table = sp_token_is(&parser->lexer, "table");
    sp_lexer_next(&parser->lexer);
    unit->span = parser->lexer.token.span;
    unit->name = sp_parse_name(parser, "a name");
    if (!unit->name || !parse_unit_params(parser, unit)) return unit;
    if (!unit->is_table && sp_token_is(&parser->lexer, "extends")) {
        sp_parse_fail(parser, parser->lexer.token.span, "a part cannot extend anything: only a table can");
    } else if (sp_parse_accept(parser, "extends")) {
        unit->parent_span = parser->lexer.token.span;
        unit->parent_name = sp_parse_name(parser, "the name of the table that is extended");
    }
    return unit;
}

static bool parse_string(struct sp_parser *parser, const char **string)
{
    if (parser->lexer.token.kind != SP_TOKEN_STRING)
        return sp_parse_fail(parser, parser->lexer.token.span, "expected a string in quotes");
    *string = parser->lexer.token.value.string;
    sp_lexer_next(&parser->lexer);
    return true;
}

/* model_type = ( "model_type" | "architectures" ) TEXT { [ "," ] TEXT } ; */
static void parse_texts(struct sp_parser *parser, const char ***list, size_t *count)
{
    sp_lexer_next(&parser->lexer);
    do {
        const char *string;
        if (!parse_string(parser, &string)) return;
        *list = sp_parse_grow(parser->arena, *list, *count, sizeof **list);
        (*list)[(*count)++] = string;
    } while (sp_parse_accept(parser, ",") || parser->lexer.token.kind == SP_TOKEN_STRING);
}

/* require = "require" expr "," expr ; */
static void parse_requirement(struct sp_parser *parser, struct sp_unit *unit)
{
    struct sp_requirement parsed = {.span = parser->lexer.token.span};
    sp_lexer_next(&parser->lexer);
    parsed.condition = sp_parse_expression(parser);
    if (!parsed.condition || !sp_parse_expect(parser, ",", "between the condition and its message")) return;
    parsed.message = sp_parse_expression(parser);
    if (parsed.message) *SP_PARSE_APPEND(parser, unit->requirements, unit->requirement_count) = parsed;
}

/* What may stand behind `cache` and `flops`, and behind `activations` and its source: where the measure is known.
 *
 *     known = [ "if" expr "," TEXT ] ; */
static bool parse_known(struct sp_parser *parser, struct sp_unit *unit, unsigned measure)
{
    struct sp_formula_condition parsed = {.measure = measure, .span = parser->lexer.token.span};
    if (!sp_parse_accept(parser, "if")) return true;
    parsed.condition = sp_parse_expression(parser);
    if (!parsed.condition || !sp_parse_expect(parser, ",", "between the condition and its reason") ||
        !parse_string(parser, &parsed.reason))
        return false;
    *SP_PARSE_APPEND(parser, unit->formula_conditions, unit->formula_condition_count) = parsed;
    return true;
}

const struct sp_measure_word sp_measure_words[] = {
    {"active", SP_MEASURE_ACTIVE},
    {"cache", SP_MEASURE_CACHE},
    {"flops", SP_MEASURE_FLOPS},
    {"shard", SP_MEASURE_SHARD},
    {"activations", SP_MEASURE_ACTIVATIONS},
    {NULL, (enum sp_measure)0},
};

/* measures = "measures" measure { "," measure } ;
 * measure = "active" | "cache" known | "flops" known | "shard" | "activations" [ "by" TEXT ] known ; */
static void parse_measures(struct sp_parser *parser, struct sp_unit *unit)
{
    sp_lexer_next(&parser->lexer);
    do {
        const struct sp_measure_word *word = sp_measure_words;
        while (word->name && !sp_parse_accept(parser, word->name)) word++;
        if (!word->name) {
            sp_parse_fail(parser, parser->lexer.token.span,
                          "expected the name of a measure: 'active', 'cache', 'flops', 'shard' or 'activations'");
            return;
        }
        unit->measures |= word->measure;
        const bool is_formula = word->measure == SP_MEASURE_ACTIVATIONS;
        if (is_formula && sp_parse_accept(parser, "by") && !parse_string(parser, &unit->activations_source)) return;
        const bool may_have_condition =
            is_formula || word->measure == SP_MEASURE_FLOPS || word->measure == SP_MEASURE_CACHE;
        if (may_have_condition && !parse_known(parser, unit, word->measure)) return;
    } while (sp_parse_accept(parser, ","));
}

/* input = "image" | "sound" ; 0 if the next token is neither */
static unsigned accept_input(struct sp_parser *parser)
{
    return sp_parse_accept(parser, "image") ? SP_INPUT_IMAGE : sp_parse_accept(parser, "sound") ? SP_INPUT_SOUND : 0;
}

/* of-work = "unit" ( "token" { "," input } [ "apart" ] | input ) ; */
static void parse_unit_of_work(struct sp_parser *parser, struct sp_unit *unit)
{
    sp_lexer_next(&parser->lexer);
    unit->says_unit = true;
    unit->only_input = accept_input(parser);
    if (unit->only_input) return;
    if (!sp_parse_accept(parser, "token")) {
        sp_parse_fail(parser, parser->lexer.token.span, "expected what a pass is over: 'token', 'image' or 'sound'");
        return;
    }
    while (sp_parse_accept(parser, ",")) {
        const struct sp_span span = parser->lexer.token.span;
        const unsigned input = accept_input(parser);
        if (!input || input & unit->inputs) {
            sp_parse_fail(parser, span,
                          input ? "this input is named twice"
                                : "expected 'image' or 'sound', what a pass is over besides tokens");
            return;
        }
        unit->inputs |= input;
    }
    if (unit->inputs) unit->are_inputs_apart = sp_parse_accept(parser, "apart");
}

/* pipeline = "pipeline" NAME "of" expr ; */
static void parse_pipeline(struct sp_parser *parser, struct sp_unit *unit)
{
    sp_lexer_next(&parser->lexer);
    unit->pipeline.index = sp_parse_name(parser, "the index of the loops over layers");
    if (!unit->pipeline.index || !sp_parse_expect(parser, "of", "between the index and the number of layers")) return;
    unit->pipeline.count = sp_parse_expression(parser);
}

/* unadapted = "unadapted" TEXT { TEXT } "," TEXT ; */
static void parse_unadapted(struct sp_parser *parser, struct sp_unit *unit)
{
    struct sp_unadapted parsed = {.count = 0};
    sp_lexer_next(&parser->lexer);
    do {
        const char *module;
        if (!parse_string(parser, &module)) return;
        *SP_PARSE_APPEND(parser, parsed.modules, parsed.count) = module;
    } while (parser->lexer.token.kind == SP_TOKEN_STRING);
    if (!sp_parse_expect(parser, ",", "between the modules and the reason") || !parse_string(parser, &parsed.reason))
        return;
    *SP_PARSE_APPEND(parser, unit->unadapted, unit->unadapted_count) = parsed;
}

/* ---- the file, line by line ---- */

struct output {
    struct sp_unit ***units;
    size_t *count, *capacity;
    struct sp_unit *current;
};

static void start_unit(struct sp_parser *parser, struct output *out, size_t offset)
{
    if (*out->count >= SP_MAX_UNITS) {
        sp_parse_fail(parser, parser->lexer.token.span, "more than %d tables and parts", SP_MAX_UNITS);
        return;
    }
    out->current = parse_unit(parser, offset);
    SP_GROW(*out->units, *out->count, *out->capacity);
    (*out->units)[(*out->count)++] = out->current;
}

/* The line at `offset`. Of a directive the word is the current token when its parser is called; all other kinds begin
 * to read at the offset.
 *
 *     line = unit | model_type | require | measures | of-work | pipeline | unadapted | heading | definition | tensor
 *          | use | claims | claim ; */
static void parse_line(struct sp_parser *parser, struct output *out, size_t offset)
{
    struct sp_unit *unit = out->current;
    const enum sp_line_kind kind = sp_line_kind_at(sp_parse_text(parser, offset));
    const size_t end = sp_lexer_line_end(&parser->lexer, offset);
    const struct sp_span line = {parser->lexer.source, (uint32_t)offset, (uint32_t)(end - offset)};
    const bool is_directive = kind >= SP_LINE_UNIT;
    if (is_directive) {
        sp_parse_restart(parser, offset);
        sp_lexer_next(&parser->lexer);
    }
    if (kind == SP_LINE_UNIT) start_unit(parser, out, offset);
    else if (!unit) sp_parse_fail(parser, line, "expected 'table NAME' or 'part NAME(...)' first");
    else if (unit->about && kind > SP_LINE_UNIT && kind < SP_LINE_CLAIM)
        sp_parse_fail(parser, parser->lexer.token.span, "a file of claims cannot say this about the table");
    else if ((kind == SP_LINE_MODEL_TYPE || kind == SP_LINE_ARCHITECTURES) && !unit->is_table)
        sp_parse_fail(parser, parser->lexer.token.span,
                      "only a table can say this, since no configuration selects "
                      "a part");
    else if (kind >= SP_LINE_MEASURES && kind <= SP_LINE_UNADAPTED && !unit->is_table)
        sp_parse_fail(parser, parser->lexer.token.span,
                      "only a table can say this: a part is measured by the tables that use it");
    else if (kind == SP_LINE_MODEL_TYPE) parse_texts(parser, &unit->model_types, &unit->model_type_count);
    else if (kind == SP_LINE_ARCHITECTURES) parse_texts(parser, &unit->architectures, &unit->architecture_count);
    else if (kind == SP_LINE_REQUIRE) parse_requirement(parser, unit);
    else if (kind == SP_LINE_MEASURES) parse_measures(parser, unit);
    else if (kind == SP_LINE_UNIT_OF_WORK) parse_unit_of_work(parser, unit);
    else if (kind == SP_LINE_PIPELINE) parse_pipeline(parser, unit);
    else if (kind == SP_LINE_UNADAPTED) parse_unadapted(parser, unit);
    else if (unit->about && parser->lexer.source->has_expressions && kind != SP_LINE_DEFINITION)
        sp_parse_asked_expression(parser, unit, offset);
    else if (kind == SP_LINE_CLAIM) sp_parse_claim(parser, unit);
    else if (unit->about && kind != SP_LINE_DEFINITION)
        sp_parse_fail(parser, line,
                      "a file of claims has only 'claim', 'erratum', 'approx', 'example' and NAME = value");
    else if (kind == SP_LINE_HEADING) parse_heading(parser, unit, offset);
    else if (kind == SP_LINE_DEFINITION) parse_definition(parser, unit, offset);
    else parse_row(parser, unit, offset);
}

/* Where the next line begins. What is left on this one is a mistake; after a mistake, reading goes on in the line
 * below it. */
static size_t finish_line(struct sp_parser *parser, size_t offset)
{
    const struct sp_token *token = &parser->lexer.token;
    if (!parser->failed && token->kind == SP_TOKEN_BAD) sp_parse_fail(parser, token->span, "%s", token->problem);
    if (!parser->failed && !sp_parse_at_end(parser))
        sp_parse_fail(parser, token->span, "unexpected here: the line should end");
    const size_t from = parser->failed ? parser->failed_at : token->span.offset;
    const size_t end = sp_lexer_line_end(&parser->lexer, from > offset ? from : offset);
    return *sp_parse_text(parser, end) ? end + 1 : end;
}

/* How many bytes from `p` on are no control characters. */
static size_t plain_bytes(const char *p, size_t left)
{
    size_t i = 0;
    for (; left - i >= SP_WORD; i += SP_WORD) {
        const uint64_t word = sp_word_at(p + i), control = sp_word_below(word, 0x20) | sp_word_equal(word, 0x7f);
        if (control) return i + sp_word_first(control);
    }
    while (i < left && (unsigned char)p[i] >= 0x20 && p[i] != 0x7f) i++;
    return i;
}

/* Offset of the first byte that a table file cannot hold, or its length. */
static size_t first_bad_byte(const struct sp_source_text *source)
{
    const size_t valid = sp_utf8_check(source->text, source->length);
    for (size_t i = 0; i < valid; i++) {
        i += plain_bytes(source->text + i, valid - i);
        const char c = source->text[i];
        if (i < valid && c != '\t' && c != '\n' && c != '\r') return i;
    }
    return valid;
}

/* The lines that begin before `end`.
 *
 *     file = { line } ; */
static bool parse_lines(struct sp_parser *parser, struct output *out, size_t offset, size_t end)
{
    while (*sp_parse_text(parser, offset = skip_spaces(parser, offset)) && offset < end) {
        const char c = *sp_parse_text(parser, offset);
        if (c == '\n' || c == '#') {
            offset = sp_lexer_line_end(&parser->lexer, offset);
            offset += *sp_parse_text(parser, offset) == '\n';
            continue;
        }
        parser->failed = false;
        parser->failed_at = offset;
        parser->depth = parser->operators = 0;
        parser->lexer.token = (struct sp_token){0};
        parse_line(parser, out, offset);
        offset = finish_line(parser, offset);
    }
    return parser->mistakes == 0;
}

bool sp_parse(const struct sp_source_text *source, struct sp_arena *arena, struct sp_symbols *symbols,
              struct sp_unit ***units, size_t *count, size_t *capacity, struct sp_text *messages)
{
    struct sp_parser parser = {
        .lexer = {.source = source, .arena = arena}, .arena = arena, .symbols = symbols, .messages = messages};
    struct output out = {units, count, capacity, NULL};
    const size_t bad = first_bad_byte(source);
    if (source->length > UINT32_MAX / 2) return sp_parse_fail(&parser, (struct sp_span){source, 0, 1}, "too long");
    if (bad < source->length)
        return sp_parse_fail(&parser, (struct sp_span){source, (uint32_t)bad, 1},
                             "a table file is UTF-8 text without control characters");
    return parse_lines(&parser, &out, sp_source_begin(source->text), source->length);
}

struct sp_unit *sp_parse_unit(const struct sp_source_text *source, size_t begin, size_t end, struct sp_arena *arena,
                              struct sp_symbols *symbols, struct sp_text *messages)
{
    struct sp_parser parser = {
        .lexer = {.source = source, .arena = arena}, .arena = arena, .symbols = symbols, .messages = messages};
    struct sp_unit **units = NULL;
    size_t count = 0, capacity = 0;
    const bool good = parse_lines(&parser, &(struct output){&units, &count, &capacity, NULL}, begin, end);
    struct sp_unit *unit = good && count == 1 ? units[0] : NULL;
    sp_free(units);
    return unit;
}
