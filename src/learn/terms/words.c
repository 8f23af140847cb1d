/* SPDX-License-Identifier: MIT
 * Expressions in the words of the table language, with as few brackets as it needs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/real.h"
#include "learn/terms/terms.h"

/* How strongly an operator binds: an operand that binds less stands in brackets. */
enum strength {
    LOOSE,
    BY_CHOICE,
    BY_DEFAULT,
    BY_OR,
    BY_AND,
    BY_NOT,
    BY_COMPARISON,
    BY_SUM,
    BY_PRODUCT,
    BY_POWER,
    TIGHT
};

const char *const sp_index_names[SP_MAX_INDICES] = {"i", "j", "k", "l", "m", "n", "o", "p"};

struct writer {
    struct sp_text *text;
    enum sp_key_style style;
};

struct spelling {
    const char *word; /* "ceil_div" of ceil_div(a, b); " + ", with its blanks, of a + b */
    enum strength strength;
    enum { INFIX, FUNCTION } form;
};

/* How the operators of arithmetic, comparison and logic are written. write_bare_term writes all others itself. */
static struct spelling spelling_of(enum sp_term_op op)
{
    switch (op) {
    case SP_TERM_ADD:
        return (struct spelling){" + ", BY_SUM, INFIX};
    case SP_TERM_SUBTRACT:
        return (struct spelling){" - ", BY_SUM, INFIX};
    case SP_TERM_MULTIPLY:
        return (struct spelling){"*", BY_PRODUCT, INFIX};
    case SP_TERM_DIVIDE:
        return (struct spelling){" // ", BY_PRODUCT, INFIX};
    case SP_TERM_QUOTIENT:
        return (struct spelling){"/", BY_PRODUCT, INFIX};
    case SP_TERM_REST:
        return (struct spelling){" % ", BY_PRODUCT, INFIX};
    case SP_TERM_POWER:
        return (struct spelling){"^", BY_POWER, INFIX};
    case SP_TERM_DEFAULT:
        return (struct spelling){" default ", BY_DEFAULT, INFIX};
    case SP_TERM_EQUAL:
        return (struct spelling){" == ", BY_COMPARISON, INFIX};
    case SP_TERM_LESS:
        return (struct spelling){" < ", BY_COMPARISON, INFIX};
    case SP_TERM_AT_LEAST:
        return (struct spelling){" >= ", BY_COMPARISON, INFIX};
    case SP_TERM_AND:
        return (struct spelling){" and ", BY_AND, INFIX};
    case SP_TERM_OR:
        return (struct spelling){" or ", BY_OR, INFIX};
    case SP_TERM_CEIL_DIV:
        return (struct spelling){"ceil_div", TIGHT, FUNCTION};
    case SP_TERM_ROUND_UP:
        return (struct spelling){"round_up", TIGHT, FUNCTION};
    case SP_TERM_MAX:
        return (struct spelling){"max", TIGHT, FUNCTION};
    case SP_TERM_NEAR:
        return (struct spelling){"near_multiple", TIGHT, FUNCTION};
    case SP_TERM_ROUND:
        return (struct spelling){"round", TIGHT, FUNCTION};
    default: /* SP_TERM_INT */
        return (struct spelling){"int", TIGHT, FUNCTION};
    }
}

/* Writes the term, in brackets if it binds less than `least`. */
static void write_term(const struct writer *writer, const struct sp_search_term *term, enum strength least);

static void write_name(const struct writer *writer, const struct sp_terminal *terminal)
{
    const bool by_letter = terminal->letter && writer->style == SP_KEYS_BY_LETTER && !terminal->says;
    if (terminal->list) sp_text_puts(writer->text, terminal->list);
    else if (!by_letter && terminal->meaning) write_term(writer, terminal->meaning, TIGHT);
    else sp_text_puts(writer->text, by_letter ? terminal->letter : terminal->path);
}

/* architectures[0], for which every table has the word `class`. */
static bool is_class(const struct writer *writer, const struct sp_search_term *term)
{
    return writer->style == SP_KEYS_BY_LETTER && term->op == SP_TERM_IS && term->a &&
           strcmp(term->terminal->path, "architectures") == 0;
}

/* key, key[a], member(object, key[a]) or key[a].column */
static void write_item(const struct writer *writer, const struct sp_search_term *term)
{
    if (is_class(writer, term)) {
        sp_text_puts(writer->text, "class");
        return;
    }
    if (term->terminal->object) sp_text_printf(writer->text, "member(%s, ", term->terminal->object);
    write_name(writer, term->terminal);
    if (!term->a) return;
    sp_text_puts(writer->text, "[");
    write_term(writer, term->a, LOOSE);
    sp_text_puts(writer->text, term->terminal->object ? "])" : "]");
    if (term->terminal->list) sp_text_puts(writer->text, term->terminal->column);
}

/* at(sizes, i) */
static void write_at(const struct writer *writer, const struct sp_search_term *term)
{
    sp_text_puts(writer->text, "at(");
    write_name(writer, term->terminal);
    sp_text_puts(writer->text, ", ");
    write_term(writer, term->a, LOOSE);
    sp_text_puts(writer->text, ")");
}

static void write_item_or_at(const struct writer *writer, const struct sp_search_term *term)
{
    if (term->a && term->number == SP_TERM_STANDS_FOR_ALL) write_at(writer, term);
    else write_item(writer, term);
}

/* at(sizes, 0) != sizes, which is true for lists only; `how` is " != ", or " == " for the opposite. */
static void write_is_list(const struct writer *writer, const struct sp_terminal *terminal, const char *how)
{
    sp_text_puts(writer->text, "at(");
    write_name(writer, terminal);
    sp_text_printf(writer->text, ", 0)%s", how);
    write_name(writer, terminal);
}

static void write_truth(const struct writer *writer, const struct sp_search_term *term)
{
    write_item(writer, term);
    if (!isnan(term->number)) sp_text_puts(writer->text, term->number != 0 ? " default true" : " default false");
}

static void write_call(const struct writer *writer, const char *function, const struct sp_terminal *terminal)
{
    sp_text_printf(writer->text, "%s(", function);
    write_name(writer, terminal);
    sp_text_puts(writer->text, ")");
}

static void write_length(const struct writer *writer, const struct sp_terminal *terminal)
{
    if (terminal->says && writer->style == SP_KEYS_BY_LETTER) sp_text_puts(writer->text, terminal->letter);
    else write_call(writer, "len", terminal);
}

/* sum(widths); of a column, sum(tables, 1) or sum(tables, "dim"). */
static void write_sum(const struct writer *writer, const struct sp_terminal *terminal)
{
    const char *column = terminal->list ? terminal->column : NULL;
    sp_text_puts(writer->text, "sum(");
    write_name(writer, terminal);
    if (column && *column == '.') sp_text_printf(writer->text, ", \"%s\"", column + 1);
    else if (column) sp_text_printf(writer->text, ", %.*s", (int)strcspn(column + 1, "]"), column + 1);
    sp_text_puts(writer->text, ")");
}

static void write_function(const struct writer *writer, const struct sp_search_term *term, const char *name)
{
    sp_text_printf(writer->text, "%s(", name);
    write_term(writer, term->a, LOOSE);
    if (term->b) sp_text_puts(writer->text, ", ");
    if (term->b) write_term(writer, term->b, LOOSE);
    sp_text_puts(writer->text, ")");
}

/* An operator between two operands, with brackets only where they are needed: a - (b - c), (a^b)^c, a - b - c. */
static void write_operation(const struct writer *writer, const struct sp_search_term *term)
{
    const struct spelling spelling = spelling_of(term->op);
    const bool from_the_right = term->op == SP_TERM_DEFAULT || term->op == SP_TERM_POWER;
    const bool does_not_chain = spelling.strength == BY_COMPARISON; /* a < b < c is refused */
    if (spelling.form == FUNCTION) {
        write_function(writer, term, spelling.word);
        return;
    }
    write_term(writer, term->a, spelling.strength + (from_the_right || does_not_chain));
    sp_text_puts(writer->text, spelling.word);
    write_term(writer, term->b, spelling.strength + !from_the_right);
}

/* -(-width*ratio // 1): the negative value rounded down is the value rounded up. */
static void write_ceil(const struct writer *writer, const struct sp_search_term *term)
{
    sp_text_puts(writer->text, "-(-");
    write_term(writer, term->a, BY_PRODUCT);
    sp_text_puts(writer->text, " // ");
    write_term(writer, term->b, BY_POWER);
    sp_text_puts(writer->text, ")");
}

static void write_choice(const struct writer *writer, const struct sp_search_term *term)
{
    write_term(writer, term->a, BY_DEFAULT);
    sp_text_puts(writer->text, " ? ");
    write_term(writer, term->b, BY_CHOICE);
    sp_text_puts(writer->text, " : ");
    write_term(writer, term->c, BY_CHOICE);
}

static void write_number(struct sp_text *text, double number)
{
    if (number == floor(number)) sp_text_printf(text, "%" PRId64, (int64_t)number);
    else sp_text_puts(text, sp_real_text(number, 15).text);
}

static void write_comparison(const struct writer *writer, const struct sp_search_term *left, const char *how,
                             const struct sp_search_term *right)
{
    write_term(writer, left, BY_SUM);
    sp_text_puts(writer->text, how);
    write_term(writer, right, BY_SUM);
}

static void write_contained(const struct writer *writer, const struct sp_search_term *term, const char *how)
{
    if (term->a) write_term(writer, term->a, BY_SUM);
    else sp_text_printf(writer->text, "\"%s\"", term->text);
    sp_text_puts(writer->text, how);
    write_name(writer, term->terminal);
}

/* The negation of a term: not a == b is written a != b, not a >= b is a < b, not a < b is b <= a. */
static void write_negation(const struct writer *writer, const struct sp_search_term *term)
{
    if (term->op == SP_TERM_IS) {
        write_item_or_at(writer, term);
        sp_text_printf(writer->text, " != \"%s\"", term->text);
    } else if (term->op == SP_TERM_CONTAINED) write_contained(writer, term, " not in ");
    else if (term->op == SP_TERM_IS_LIST) write_is_list(writer, term->terminal, " == ");
    else if (term->op == SP_TERM_EQUAL) write_comparison(writer, term->a, " != ", term->b);
    else if (term->op == SP_TERM_AT_LEAST) write_comparison(writer, term->a, " < ", term->b);
    else if (term->op == SP_TERM_LESS) write_comparison(writer, term->b, " <= ", term->a);
    else {
        sp_text_puts(writer->text, "not ");
        write_term(writer, term, BY_NOT);
    }
}

/* Writes a term in the language of tables, without parentheses around it. */
static void write_bare_term(const struct writer *writer, const struct sp_search_term *term)
{
    switch (term->op) {
    case SP_TERM_NUMBER:
        write_number(writer->text, term->number);
        break;
    case SP_TERM_INDEX:
        sp_text_puts(writer->text, sp_index_names[(size_t)term->number]);
        break;
    case SP_TERM_KEY:
    case SP_TERM_ITEM:
        write_item(writer, term);
        break;
    case SP_TERM_AT:
        write_at(writer, term);
        break;
    case SP_TERM_IS_LIST:
        write_is_list(writer, term->terminal, " != ");
        break;
    case SP_TERM_CEIL:
        write_ceil(writer, term);
        break;
    case SP_TERM_TRUTH:
        write_truth(writer, term);
        break;
    case SP_TERM_LENGTH:
        write_length(writer, term->terminal);
        break;
    case SP_TERM_SUM:
        write_sum(writer, term->terminal);
        break;
    case SP_TERM_ABSENT:
        write_call(writer, "absent", term->terminal);
        break;
    case SP_TERM_NULL:
        write_call(writer, "null", term->terminal);
        break;
    case SP_TERM_IS:
        write_item_or_at(writer, term);
        sp_text_printf(writer->text, " == \"%s\"", term->text);
        break;
    case SP_TERM_CONTAINED:
        write_contained(writer, term, " in ");
        break;
    case SP_TERM_NOT:
        write_negation(writer, term->a);
        break;
    case SP_TERM_IF:
        write_choice(writer, term);
        break;
    case SP_TERM_LESS:
        if (term->a->op == SP_TERM_NUMBER) write_comparison(writer, term->b, " > ", term->a);
        else write_comparison(writer, term->a, " < ", term->b);
        break;
    default:
        write_operation(writer, term);
    }
}

/* How strongly the outermost operator binds in the term as it is written: a truth value may have a default behind it,
 * and a negative number has a minus in front. */
static enum strength strength_of(const struct sp_search_term *term)
{
    switch (term->op) {
    case SP_TERM_TRUTH:
        return isnan(term->number) ? TIGHT : BY_DEFAULT;
    case SP_TERM_IS:
    case SP_TERM_IS_LIST:
    case SP_TERM_CONTAINED:
        return BY_COMPARISON;
    case SP_TERM_NOT:
        return BY_NOT;
    case SP_TERM_IF:
        return BY_CHOICE;
    case SP_TERM_CEIL:
        return BY_PRODUCT;
    case SP_TERM_NUMBER:
        return term->number < 0 ? BY_PRODUCT : TIGHT;
    case SP_TERM_INDEX:
    case SP_TERM_KEY:
    case SP_TERM_LENGTH:
    case SP_TERM_SUM:
    case SP_TERM_ITEM:
    case SP_TERM_AT:
    case SP_TERM_ABSENT:
    case SP_TERM_NULL:
        return TIGHT;
    default:
        return spelling_of(term->op).strength;
    }
}

static void write_term(const struct writer *writer, const struct sp_search_term *term, enum strength least)
{
    const bool brackets = strength_of(term) < least;
    if (brackets) sp_text_puts(writer->text, "(");
    write_bare_term(writer, term);
    if (brackets) sp_text_puts(writer->text, ")");
}

void sp_search_term_write(struct sp_text *text, const struct sp_search_term *term, enum sp_key_style style)
{
    const struct writer writer = {text, style};
    write_term(&writer, term, LOOSE);
}
