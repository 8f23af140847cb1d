/* SPDX-License-Identifier: MIT */
#include "lang/syntax/line_kind.h"

#include <stdbool.h>
#include <string.h>

#include "lang/syntax/lexer.h"

/* NAME = ... or NAME(a, b) = ... at the start of a line. */
static bool is_definition(const char *p)
{
    size_t i = 0;
    if (!sp_is_name_start(*p)) return false;
    while (sp_is_name_char(p[i])) i++;
    if (p[i] == '(') {
        i += strcspn(p + i, ")\n");
        if (p[i++] != ')') return false;
    }
    while (p[i] == ' ' || p[i] == '\t') i++;
    return p[i] == '=' && p[i + 1] != '=';
}

/* Whether the word of that kind can stand before what begins with `next`. A tensor may be called "table": the word is a
 * directive only before what it needs. */
static bool can_precede(enum sp_line_kind kind, char next)
{
    if (kind == SP_LINE_UNIT || kind == SP_LINE_MEASURES || kind == SP_LINE_UNIT_OF_WORK || kind == SP_LINE_PIPELINE)
        return sp_is_name_start(next);
    if (kind == SP_LINE_CLAIM) return next != '='; /* else it is a definition of that name */
    if (kind == SP_LINE_MODEL_TYPE || kind == SP_LINE_ARCHITECTURES || kind == SP_LINE_UNADAPTED) return next == '"';
    return true;
}

enum sp_line_kind sp_line_kind_at(const char *p)
{
    static const struct {
        const char *word;
        enum sp_line_kind kind;
    } words[] = {{"table", SP_LINE_UNIT},
                 {"part", SP_LINE_UNIT},
                 {"claims", SP_LINE_UNIT},
                 {"claim", SP_LINE_CLAIM},
                 {"erratum", SP_LINE_CLAIM},
                 {"approx", SP_LINE_CLAIM},
                 {"example", SP_LINE_CLAIM},
                 {"model_type", SP_LINE_MODEL_TYPE},
                 {"architectures", SP_LINE_ARCHITECTURES},
                 {"require", SP_LINE_REQUIRE},
                 {"measures", SP_LINE_MEASURES},
                 {"unit", SP_LINE_UNIT_OF_WORK},
                 {"pipeline", SP_LINE_PIPELINE},
                 {"unadapted", SP_LINE_UNADAPTED}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].word);
        const bool is_word =
            *p == *words[i].word && strncmp(p, words[i].word, length) == 0 && (p[length] == ' ' || p[length] == '\t');
        if (is_word && can_precede(words[i].kind, p[length + strspn(p + length, " \t\r")])) return words[i].kind;
    }
    if (*p == '[') return SP_LINE_HEADING;
    return is_definition(p) ? SP_LINE_DEFINITION : SP_LINE_ROW;
}
