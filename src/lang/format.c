/* SPDX-License-Identifier: MIT
 * A table file in the layout of the built-in ones. */
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "lang/syntax/layout.h"
#include "lang/syntax/parser.h"
#include "shapeproof/table.h"

/* Whether it can be read at all; what it names need not be there. */
static bool is_table_text(const struct sp_source_text *source, struct sp_arena *arena, struct shapeproof_error *error)
{
    struct sp_symbols symbols = {0};
    struct sp_unit **units = NULL;
    struct sp_text messages = {0};
    size_t count = 0, capacity = 0;
    bool good = sp_parse(source, arena, &symbols, &units, &count, &capacity, &messages);
    if (!good) sp_diagnoses_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, messages.data);
    sp_free(units);
    sp_text_free(&messages);
    sp_symbols_free(&symbols);
    return good;
}

char *shapeproof_table_format(const char *name, const char *text, size_t length, size_t *formatted,
                              struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("formatting the table");
    struct sp_arena arena = {0};
    struct sp_text out = {0};
    struct sp_statements statements = {0};
    sp_error_reset(error);
    const struct sp_source_text source = {
        .name = name, .text = sp_arena_copy(&arena, text, length), .length = length, .own = true};
    if (is_table_text(&source, &arena, error)) {
        sp_text_puts(&out, ""); /* so that of nothing there is a text, too */
        sp_statements_cut(&statements, &source, &arena);
        sp_layout(&statements, &arena, &out);
        if (formatted) *formatted = out.length;
    }
    sp_free(statements.items);
    sp_arena_free(&arena);
    return out.data;
}
