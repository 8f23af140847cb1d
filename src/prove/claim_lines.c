/* SPDX-License-Identifier: MIT
 * Claims from lines of text, as a command line gives them. Publications write d for the width of a model and L for its
 * layers, whatever a table calls them: a letter that the table does not have becomes a definition above the claims.
 *
 *     "total = 12*L*d^2"   about gpt2, which has E (n_embd) and N (n_layer):   claims for gpt2
 *                                                                              d = E
 *                                                                              L = N
 *                                                                              claim total = 12*L*d^2 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/error.h"
#include "prove/claims.h"
#include "prove/symbolic/count.h"
#include "shapeproof/prove.h"

/* The usual letters for one hyper-parameter, and the keys that configurations have for it. */
static const struct role {
    const char *letters[6], *keys[12];
} roles[] = {
    {{"d", "d_model", "n_embd", "hidden_size", NULL}, {"n_embd", "hidden_size", "d_model", "dim", "embed_dim", NULL}},
    {{"L", "l", "n_layers", "n_layer", "num_layers", NULL},
     {"n_layer", "num_hidden_layers", "num_layers", "n_layers", "depth", NULL}},
    {{"V", "v", "vocab_size", "n_vocab", NULL}, {"vocab_size", "n_vocab", NULL}},
    {{"P", "T", "s", "n_ctx", "n_positions", NULL},
     {"n_positions", "max_position_embeddings", "n_ctx", "block_size", "max_seq_len", NULL}},
    {{"d_ff", "d_ffn", "F", NULL}, {"n_inner", "intermediate_size", "ffn_dim", "d_ff", NULL}},
    {{"a", "n_heads", "n_head", NULL}, {"num_attention_heads", "n_head", "n_heads", "num_heads", NULL}},
    {{"n_kv_heads", "n_kv_head", NULL}, {"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", NULL}},
    {{"d_head", "d_k", "head_dim", NULL}, {"head_dim", "d_kv", NULL}},
    {{"n_experts", "n_expert", NULL}, {"num_local_experts", "num_experts", "n_routed_experts", "n_experts", NULL}},
};

static bool is_among(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0) return true;
    return false;
}

static bool is_usual_letter(const char *name)
{
    for (size_t r = 0; r < sizeof roles / sizeof *roles; r++)
        if (is_among(roles[r].letters, name)) return true;
    return false;
}

/* The symbol of the table for which a letter usually stands; NULL when there is none, or several. */
static const struct sp_symbol_info *usual_meaning(const struct sp_count *count, const char *letter)
{
    const struct sp_symbol_info *found = NULL;
    for (size_t r = 0; r < sizeof roles / sizeof *roles; r++) {
        if (!is_among(roles[r].letters, letter)) continue;
        for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
            const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
            if (symbol->is_computed || !is_among(roles[r].keys, symbol->key)) continue;
            if (found) return NULL;
            found = symbol;
        }
    }
    return found;
}

/* ---- lines ---- */

static bool begins_name(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static size_t name_length(const char *text)
{
    size_t length = begins_name(*text);
    while (length && sp_is_word(text[length])) length++;
    return length;
}

static bool begins_with_word(const char *line, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && (line[length] == ' ' || line[length] == '\t');
}

static bool is_whole_claim(const char *line)
{
    return begins_with_word(line, "claim") || begins_with_word(line, "erratum") || begins_with_word(line, "approx") ||
           begins_with_word(line, "example");
}

/* ---- the text of a file of claims ---- */

/* Lines of a source, and what each was made of. */
struct source_lines {
    struct sp_text text;
    struct sp_line_origin *origins;
    size_t count, capacity;
};

struct lines {
    struct sp_arena arena;
    const struct shapeproof_tables *tables;
    const struct sp_unit *table; /* NULL: the claims are about a checkpoint alone, which has no table */
    struct sp_count count;       /* of the table, once a name in a line asked for its symbols */
    const char *const *list;
    size_t line_count;
    enum sp_line_kind kind;
    struct sp_map defined;                   /* names that have a meaning by a definition */
    struct sp_text letters;                  /* the meanings that were given to letters: "d = E, L = N" */
    struct source_lines definitions, claims; /* below the heading, in this order */
    size_t number;                           /* of the user's line that is being written, from 1 */
};

static size_t line_breaks(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++) count++;
    return count;
}

static void put_origin(struct source_lines *lines, struct sp_line_origin origin)
{
    SP_GROW(lines->origins, lines->count, lines->capacity);
    lines->origins[lines->count++] = origin;
}

/* Puts a text of the user, which begins with `cut` blanks, behind the word that was added; a text of several lines
 * stands on as many. */
static void put_given(struct lines *lines, struct source_lines *to, const char *added, const char *given, size_t cut)
{
    sp_text_printf(&to->text, "%s%s\n", added, given + cut);
    put_origin(to, (struct sp_line_origin){.line = lines->number, .added = strlen(added), .cut = cut});
    for (size_t line = lines->number + 1; (given = strchr(given, '\n')) != NULL; given++, line++)
        put_origin(to, (struct sp_line_origin){.line = line});
}

/* Puts "d = E", which no line of the user has. */
static void put_definition(struct lines *lines, const char *name, const char *meaning)
{
    sp_text_printf(&lines->definitions.text, "%s = %s\n", name, meaning);
    put_origin(&lines->definitions, (struct sp_line_origin){.line = lines->number});
}

static void put_lines(struct source_lines *to, const struct source_lines *from)
{
    sp_text_append(&to->text, from->text.data ? from->text.data : "", from->text.length);
    for (size_t i = 0; i < from->count; i++) put_origin(to, from->origins[i]);
}

static void free_lines(struct source_lines *lines)
{
    sp_text_free(&lines->text);
    sp_free(lines->origins);
}

/* The table with its symbols. It is counted for them only when the first name in a line needs them: that takes longer
 * than all else here, and most expressions, such as "total - [head]", name no symbol. A table that cannot be counted
 * still has names. */
static const struct sp_count *counted_table(struct lines *lines)
{
    if (lines->table && !lines->count.table)
        sp_count_table(&lines->count, lines->tables, lines->table, NULL, SP_SIDES_MAY_DIFFER);
    return &lines->count;
}

static bool knows_name(struct lines *lines, const char *name)
{
    const struct sp_unit *table = lines->table;
    bool known = strcmp(name, "total") == 0 || strcmp(name, "active") == 0;
    for (size_t i = 0; table && i < table->definition_count && !known; i++)
        known = strcmp(table->definitions[i].name, name) == 0;
    return known || sp_sym_symbol(&counted_table(lines)->symbolic, name);
}

/* "d = n_embd", where the table has no d: in the arena what is defined; NULL for what is a claim. */
static const char *defined_name(struct lines *lines, const char *line)
{
    const size_t length = name_length(line);
    const char *name = sp_arena_copy(&lines->arena, line, length),
               *behind = line + length + strspn(line + length, " \t");
    return length && behind[0] == '=' && behind[1] != '=' && !knows_name(lines, name) ? name : NULL;
}

/* Where the next name may begin behind `at`, where none begins: behind a text in quotes, the name of a group, or a
 * number, 12 or 1e6, whose letters are no names. */
static const char *skip_to_name(const char *at)
{
    if (*at == '"') at += strcspn(at + 1, "\"") + 1;
    if (*at == '[') at += strcspn(at, "]");
    if (!*at) return at;
    at++;
    while (sp_is_word(at[-1]) && sp_is_word(*at)) at++;
    return at;
}

/* Gives each name in the line that neither the table nor a line defines its usual meaning, if it has one: appends the
 * definition, "d = E", to the definitions, and to the list of the letters. */
static void define_letters(struct lines *lines, const char *line)
{
    for (const char *at = line; *at;) {
        const size_t length = name_length(at);
        if (!length) {
            at = skip_to_name(at);
            continue;
        }
        const char *name = sp_arena_copy(&lines->arena, at, length);
        at += length;
        if (!is_usual_letter(name) || sp_map_get(&lines->defined, name) != SIZE_MAX || knows_name(lines, name))
            continue;
        const struct sp_symbol_info *symbol = usual_meaning(counted_table(lines), name);
        if (!symbol) continue;
        sp_map_add(&lines->defined, name, 0);
        put_definition(lines, name, symbol->name);
        sp_text_printf(&lines->letters, "%s%s = %s", lines->letters.length ? ", " : "", name, symbol->name);
    }
}

/* Puts a line of the user, and the definitions of the letters in it. A line that defines a name goes to `definitions`.
 * A claim gets the word `claim` unless it has it; expressions stand as they are. */
static void put_line(struct lines *lines, struct source_lines *definitions, const char *given)
{
    const size_t cut = strspn(given, " \t");
    const char *line = given + cut;
    define_letters(lines, line);
    if (lines->kind == SP_LINES_OF_EXPRESSIONS || is_whole_claim(line))
        put_given(lines, &lines->claims, "", given, cut);
    else if (defined_name(lines, line)) put_given(lines, definitions, "", given, cut);
    else put_given(lines, &lines->claims, "claim ", given, cut);
}

/* Whether the line closes the brackets that it opens, outside of texts in quotes and of comments. */
static bool is_closed(const char *line)
{
    size_t depth = 0;
    for (; *line; line++) {
        if (*line == '"') line += strcspn(line + 1, "\"") + 1;
        if (*line == '#') line += strcspn(line, "\n");
        if (!*line) break;
        if (*line == '(' || *line == '[') depth++;
        if ((*line == ')' || *line == ']') && depth) depth--;
    }
    return !depth;
}

/* Puts the lines. Within brackets a statement goes on in the next line, which is another one of the user: the first
 * that does not close its brackets is put behind all others, so that the mistake is reported there. */
static void put_all_lines(struct lines *lines)
{
    size_t open = 0, number_of_open = 0;
    while (open < lines->line_count && is_closed(lines->list[open])) open++;
    lines->number = 1;
    for (size_t i = 0; i < lines->line_count; i++) {
        if (i == open) number_of_open = lines->number;
        else put_line(lines, &lines->definitions, lines->list[i]);
        lines->number += line_breaks(lines->list[i]) + 1;
    }
    if (open == lines->line_count) return;
    lines->number = number_of_open;
    put_line(lines, &lines->claims, lines->list[open]);
}

/* Writes the lines as a file of claims about the table: its heading, the definitions, then the claims, in the order of
 * the lines. */
static void write_claims(struct lines *lines, const char *table, struct source_lines *source)
{
    for (size_t i = 0; i < lines->line_count; i++) {
        const char *name = is_whole_claim(lines->list[i]) ? NULL : defined_name(lines, lines->list[i]);
        if (name) sp_map_add(&lines->defined, name, 0);
    }
    put_all_lines(lines);
    sp_text_printf(&source->text, "claims for %s\n", table);
    put_origin(source, (struct sp_line_origin){.line = 1});
    put_lines(source, &lines->definitions);
    put_lines(source, &lines->claims);
    source->text.data[--source->text.length] = '\0'; /* a mistake at the end of the text is one of the last line */
}

/* Writes the lines as a file of claims, and adds that to the tables. *letters becomes the meanings that letters got,
 * "d = E, L = N", or NULL for none. */
enum shapeproof_status sp_tables_add_lines(struct shapeproof_tables *tables, const char *table,
                                           const struct shapeproof_claim_lines *lines, enum sp_line_kind kind,
                                           char **letters, struct shapeproof_error *error)
{
    *letters = NULL;
    const bool is_about_checkpoint = strcmp(table, SP_CHECKPOINT_ALONE) == 0;
    const struct sp_unit *unit = is_about_checkpoint ? NULL : sp_tables_table(tables, table, error);
    struct source_lines made = {.count = 0};
    if (!unit && !is_about_checkpoint) return error->status;
    struct lines all = {
        .tables = tables, .table = unit, .list = lines->items, .line_count = lines->count, .kind = kind};
    write_claims(&all, table, &made);
    const struct sp_source_text source = {.name = lines->name,
                                          .text = made.text.data,
                                          .length = made.text.length,
                                          .own = true,
                                          .has_expressions = kind == SP_LINES_OF_EXPRESSIONS,
                                          .origins = made.origins,
                                          .origin_count = made.count};
    const enum shapeproof_status status = sp_tables_add_source(tables, source, error);
    *letters = all.letters.data; /* handed over */
    free_lines(&made);
    free_lines(&all.definitions);
    free_lines(&all.claims);
    sp_map_free(&all.defined);
    sp_arena_free(&all.arena);
    sp_count_free(&all.count);
    return status;
}

enum shapeproof_status shapeproof_tables_add_claims(struct shapeproof_tables *tables, const char *table,
                                                    const struct shapeproof_claim_lines *lines, char **letters,
                                                    struct shapeproof_error *error)
{
    assert(tables && table && lines && letters);
    *letters = NULL;
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("reading the claims");
    sp_error_reset(error);
    return sp_tables_add_lines(tables, table, lines, SP_LINES_OF_CLAIMS, letters, error);
}
