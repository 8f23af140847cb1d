/* SPDX-License-Identifier: MIT
 * The text of a table: what serves it, definitions, groups in the order of the files. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "learn/learning.h"
#include "learn/rows/alike.h"
#include "learn/rows/parts.h"
#include "shapeproof/table.h"

enum { WIDEST_COMMENT = 100 /* columns */, MOST_CLASSES = 24 };

/* The text that is being written. */
struct sheet {
    struct shapeproof_learning *learning;
    struct sp_text text;
    bool *asked;                      /* for each stem: some term reads its index */
    const struct sp_alike_row *alike; /* for each row */
};

/* The words for which a row is written once, or NULL. */
static const struct sp_alternating_words *words_of_row(const struct sheet *sheet, const struct sp_tensor_row *row)
{
    return sheet->alike[row - sheet->learning->problem.layout.rows.items].words;
}

static void put_term(struct sheet *sheet, const struct sp_search_term *term)
{
    sp_search_term_write(&sheet->text, term, SP_KEYS_BY_LETTER);
}

/* ---- the head ---- */

/* The different strings at a path, or at the first item of its list, in all examples. */
struct kinds {
    const char *items[MOST_CLASSES];
    size_t count;
    bool everywhere; /* each example has one */
};

static struct kinds kinds_at_path(const struct shapeproof_learning *learning, const char *path)
{
    const struct sp_terminal *terminal = sp_evidence_terminal(&learning->evidence, path);
    struct kinds kinds = {.everywhere = terminal != NULL};
    for (size_t e = 0; terminal && e < learning->evidence.count; e++) {
        struct shapeproof_value value = terminal->values[e];
        if (value.type == SHAPEPROOF_VALUE_LIST && value.count) value = value.items[0];
        if (value.type != SHAPEPROOF_VALUE_STRING) kinds.everywhere = false;
        else if (!sp_is_among(value.string, kinds.items, kinds.count) && kinds.count < MOST_CLASSES)
            kinds.items[kinds.count++] = value.string;
    }
    return kinds;
}

static void put_kinds(struct sheet *sheet, const struct kinds *kinds)
{
    for (size_t i = 0; i < kinds->count; i++) {
        if (i) sp_text_puts(&sheet->text, ", ");
        sp_text_printf(&sheet->text, "\"%s\"", kinds->items[i]);
    }
}

/* Writes the classes, or architectures, by which `check` chooses the table: those of diffusers; else those of timm, if
 * there is no model_type; else those of transformers, if every example has one: then the table is preferred to one for
 * any class.
 */
static void write_served_classes(struct sheet *sheet, bool has_type)
{
    struct kinds classes = kinds_at_path(sheet->learning, "_class_name");
    if (!classes.count && !has_type) classes = kinds_at_path(sheet->learning, "architecture");
    if (!classes.count) {
        classes = kinds_at_path(sheet->learning, "architectures");
        if (!classes.everywhere) classes.count = 0;
    }
    if (!classes.count) return;
    sp_text_puts(&sheet->text, "architectures ");
    put_kinds(sheet, &classes);
    sp_text_puts(&sheet->text, "\n");
}

static size_t count_all_tensors(const struct shapeproof_learning *learning)
{
    size_t count = 0;
    for (size_t r = 0; r < learning->problem.layout.rows.count; r++)
        count += learning->problem.layout.rows.items[r].places.count;
    return count;
}

static void write_head(struct sheet *sheet)
{
    const struct shapeproof_learning *learning = sheet->learning;
    const struct kinds types = kinds_at_path(learning, "model_type");
    sp_text_printf(&sheet->text, "# Learnt from %s.\n",
                   sp_count_of(&sheet->learning->arena, learning->evidence.count, "checkpoint"));
    if (learning->known)
        sp_text_printf(&sheet->text, "# The table %s predicts all of them as well.\n", learning->known);
    if (learning->base)
        sp_text_printf(&sheet->text, "# The table %s predicts %zu of their %zu tensors: here is what differs.\n",
                       learning->base->table, learning->base->tensors, count_all_tensors(learning));
    sp_text_printf(&sheet->text, "table %s%s%s\n", learning->name, learning->base ? " extends " : "",
                   learning->base ? learning->base->table : "");
    if (types.count) sp_text_puts(&sheet->text, "model_type ");
    put_kinds(sheet, &types);
    if (types.count) sp_text_puts(&sheet->text, "\n");
    write_served_classes(sheet, types.count > 0);
}

/* ---- what names say ---- */

/* What the group of a row without indices is called, by its name: "embedding", "head", "rest" ... */
static const char *word_for_name(const char *name)
{
    static const char *const words[][2] = {
        {"emb", "embedding"},   {"wte", "embedding"},    {"wpe", "embedding"},   {"lm_head", "head"},
        {"classifier", "head"}, {"score", "head"},       {"qa_outputs", "head"}, {"cls.", "head"},
        {"pooler", "pooler"},   {"norm", "final norm"},  {"ln_f", "final norm"}, {"head", "head"},
        {"proj_out", "head"},   {"shared", "embedding"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i][0])) return words[i][1];
    return "rest";
}

/* Which part of a model a name is of, by the first component that says it: "vision" of "vision_model.encoder.0"; or
 * NULL. */
static const char *part_of_name(const char *name)
{
    static const char *const parts[] = {"encoder", "decoder",  "vision", "text",
                                        "visual",  "language", "audio",  "speech"};
    for (const char *at = name; *at; at += *at == '.') {
        const size_t length = strcspn(at, ".");
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            const size_t size = strlen(parts[i]);
            if (strncmp(at, parts[i], size) == 0 && (length == size || at[size] == '_')) return parts[i];
        }
        at += length;
    }
    return NULL;
}

/* The same if the model has several parts, which its groups are then called by; else NULL. */
static const char *part_in_heading(const struct sp_layout *layout, const char *name)
{
    const char *part = part_of_name(name), *other = NULL;
    for (size_t i = 0; part && !other && i < layout->rows.count; i++) {
        other = part_of_name(layout->rows.items[i].pattern);
        if (other == part) other = NULL;
    }
    return other ? part : NULL;
}

/* Whether a row is a head that stands in front of all layers, as in a file in alphabetical order: it is written behind
 * them. */
static bool is_late_head(const struct sp_layout *layout, size_t index)
{
    const struct sp_tensor_row *row = &layout->rows.items[index];
    if (row->index_count || strcmp(word_for_name(row->pattern), "head") != 0) return false;
    for (size_t i = 0; i < index; i++)
        if (layout->rows.items[i].index_count) return false;
    for (size_t i = index + 1; i < layout->rows.count; i++)
        if (layout->rows.items[i].index_count) return true;
    return false;
}

/* ---- definitions ---- */

static bool is_defined(const struct sp_terminal *terminal) { return terminal->uses && terminal->letter; }

/* The keys that have a letter, in the order in which the written rows use them. */
struct alphabet {
    const struct sp_terminal **items;
    size_t count;
    size_t widest; /* the length of the longest letter */
};

static void add_letter(void *context, const struct sp_terminal *terminal)
{
    struct alphabet *alphabet = context;
    if (!is_defined(terminal)) return;
    for (size_t i = 0; i < alphabet->count; i++)
        if (alphabet->items[i] == terminal) return;
    alphabet->items[alphabet->count++] = terminal;
    if (strlen(terminal->letter) > alphabet->widest) alphabet->widest = strlen(terminal->letter);
}

static void add_letters_of_row(struct alphabet *alphabet, const struct sp_layout *layout,
                               const struct sp_tensor_row *row)
{
    for (uint32_t d = 0; d < row->rank && row->is_solved && !row->is_inner; d++)
        sp_search_term_terminals(row->dims[d].term, add_letter, alphabet);
    for (size_t i = 0; i < row->index_count && !row->is_inner; i++) {
        sp_search_term_terminals(layout->stems.items[row->stems[i]].first.term, add_letter, alphabet);
        sp_search_term_terminals(layout->stems.items[row->stems[i]].count.term, add_letter, alphabet);
        sp_search_term_terminals(layout->stems.items[row->stems[i]].when.term, add_letter, alphabet);
    }
}

static struct alphabet list_letters(struct shapeproof_learning *learning)
{
    const struct sp_layout *layout = &learning->problem.layout;
    const struct sp_terminals *terminals = &learning->evidence.terminals;
    struct alphabet alphabet = {sp_arena_array(&learning->arena, terminals->count + 1, sizeof *alphabet.items), 0, 0};
    for (size_t i = 0; i < 2 * layout->rows.count; i++) {
        const struct sp_tensor_row *row = &layout->rows.items[i % layout->rows.count];
        if (is_late_head(layout, i % layout->rows.count) == (i >= layout->rows.count))
            add_letters_of_row(&alphabet, layout, row);
    }
    for (size_t i = 0; i < terminals->count; i++) add_letter(&alphabet, terminals->items[i]);
    return alphabet;
}

/* H = hidden_size      # width */
static void write_definition(struct sheet *sheet, const struct sp_terminal *terminal, size_t width)
{
    const size_t start = sheet->text.length;
    sp_text_puts(&sheet->text, terminal->letter);
    sp_text_pad(&sheet->text, width - strlen(terminal->letter));
    sp_text_puts(&sheet->text, " = ");
    if (terminal->meaning) put_term(sheet, terminal->meaning);
    else sp_text_puts(&sheet->text, terminal->says ? terminal->says : terminal->path);
    if (terminal->comment) {
        enum { COMMENT_COLUMN = 44 };
        const size_t used = sheet->text.length - start;
        sp_text_pad(&sheet->text, used < COMMENT_COLUMN ? COMMENT_COLUMN - used : 2);
        sp_text_printf(&sheet->text, "# %s", terminal->comment);
    }
    sp_text_puts(&sheet->text, "\n");
}

/* Requires one of the classes of the examples: what another class has is not known. */
static void write_classes(struct sheet *sheet)
{
    const struct kinds classes = kinds_at_path(sheet->learning, "architectures");
    if (!classes.count) return;
    sp_text_printf(&sheet->text, "class = architectures[0] default \"%s\"\nknown = [", classes.items[0]);
    put_kinds(sheet, &classes);
    sp_text_puts(&sheet->text, "]\nrequire class in known, \"there is no table for the class \" + class\n");
}

/* Requires the flags that change what there is to have the value that they have in all examples. */
static void write_unseen_flags(struct sheet *sheet)
{
    const struct shapeproof_learning *learning = sheet->learning;
    size_t count = 0;
    for (size_t i = 0; i < learning->evidence.terminals.count; i++) {
        const struct sp_terminal *terminal = learning->evidence.terminals.items[i];
        if (!sp_is_unseen_flag(learning, terminal)) continue;
        sp_text_puts(&sheet->text, count++ ? " and " : "seen = ");
        const bool is = terminal->values[0].boolean;
        sp_text_printf(&sheet->text, is ? "(%s default true)" : "not (%s default false)", terminal->path);
    }
    if (count) sp_text_puts(&sheet->text, "\nrequire seen, \"a flag has a value that it has in no example\"\n");
}

/* ---- what every example has, and what is learnt rests on ---- */

static bool is_count(struct shapeproof_value value) { return value.type == SHAPEPROOF_VALUE_INT && value.integer > 0; }

/* Whether both are positive integers in every example, the first a multiple of the other. */
static bool is_multiple(const struct shapeproof_learning *learning, const struct sp_terminal *terminal,
                        const struct sp_terminal *of)
{
    for (size_t e = 0; e < learning->evidence.count; e++)
        if (!is_count(terminal->values[e]) || !is_count(of->values[e]) ||
            terminal->values[e].integer % of->values[e].integer)
            return false;
    return true;
}

static bool has_one_parent(const char *a, const char *b)
{
    const char *dot = strrchr(a, '.'), *other = strrchr(b, '.');
    const size_t length = dot ? (size_t)(dot - a) : 0;
    return length == (other ? (size_t)(other - b) : 0) && strncmp(a, b, length) == 0;
}

/* The heads that share a width: "num_attention_heads" beside "hidden_size". */
static const struct sp_terminal *heads_of_width(const struct shapeproof_learning *learning,
                                                const struct sp_terminal *width)
{
    for (size_t i = 0; i < learning->evidence.terminals.count; i++) {
        const struct sp_terminal *terminal = learning->evidence.terminals.items[i];
        const bool heads = strstr(terminal->path, "attention_heads") || sp_ends_with(terminal->path, "num_heads") ||
                           sp_ends_with(terminal->path, "n_head") || sp_ends_with(terminal->path, "n_heads");
        if (heads && !terminal->meaning && has_one_parent(terminal->path, width->path) &&
            is_multiple(learning, width, terminal))
            return terminal;
    }
    return NULL;
}

static bool is_set_everywhere(const struct shapeproof_learning *learning, const struct sp_terminal *terminal)
{
    for (size_t e = 0; e < learning->evidence.count; e++)
        if (!is_count(terminal->values[e])) return false;
    return true;
}

/* Whether a key gives the width of a head in every example, and the table uses it: then heads need not divide the
 * width. */
static bool has_width_of_head(const struct shapeproof_learning *learning, const struct sp_terminal *heads)
{
    static const char *const words[] = {"head_dim", "head_size", "d_kv"};
    for (size_t i = 0; i < learning->evidence.terminals.count; i++) {
        const struct sp_terminal *terminal = learning->evidence.terminals.items[i];
        const bool is =
            terminal->uses && has_one_parent(terminal->path, heads->path) && is_set_everywhere(learning, terminal);
        if (is && SP_IS_AMONG(sp_behind_last(terminal->path, '.'), words)) return true;
    }
    return false;
}

/* Requires heads to divide the width, as they do in every example: what a model has where they do not is not known. */
static void write_multiples(struct sheet *sheet)
{
    static const char *const widths[] = {"hidden_size", "d_model", "n_embd", "embed_dim", "dim"};
    const struct shapeproof_learning *learning = sheet->learning;
    size_t count = 0;
    for (size_t i = 0; i < learning->evidence.terminals.count; i++) {
        const struct sp_terminal *terminal = learning->evidence.terminals.items[i];
        const struct sp_terminal *heads = NULL;
        if (terminal->uses && !terminal->meaning && SP_IS_AMONG(sp_behind_last(terminal->path, '.'), widths))
            heads = heads_of_width(learning, terminal);
        if (heads && !has_width_of_head(learning, heads))
            sp_text_printf(&sheet->text, "%s%s %% %s == 0",
                           count++ ? " and " : "whole = ", terminal->letter ? terminal->letter : terminal->path,
                           heads->uses && heads->letter ? heads->letter : heads->path);
    }
    if (count) sp_text_puts(&sheet->text, "\nrequire whole, \"in every example the heads divide the width\"\n");
}

/* Requires at least one class: which head a model without classes has is not known. */
static void write_least_counts(struct sheet *sheet)
{
    const struct shapeproof_learning *learning = sheet->learning;
    for (size_t i = 0; i < learning->evidence.terminals.count; i++) {
        const struct sp_terminal *terminal = learning->evidence.terminals.items[i];
        const bool classes = strstr(terminal->path, "classes") || strstr(terminal->path, "num_labels");
        if (terminal->uses && !terminal->meaning && classes && is_set_everywhere(learning, terminal))
            sp_text_printf(&sheet->text, "require %s > 0, \"%s is 0 in no example\"\n",
                           terminal->letter ? terminal->letter : terminal->path, terminal->path);
    }
}

/* p = condition ? "transformer." : "" */
static void write_front(struct sheet *sheet)
{
    const struct sp_layout *layout = &sheet->learning->problem.layout;
    if (!layout->fronted.term) return;
    const struct sp_search_term *when = layout->fronted.term;
    const bool negated = when->op == SP_TERM_NOT;
    sp_text_puts(&sheet->text, "p = ");
    put_term(sheet, negated ? when->a : when);
    sp_text_printf(&sheet->text, negated ? " ? \"\" : \"%s\"\n" : " ? \"%s\" : \"\"\n", layout->fronts.text);
}

static void write_definitions(struct sheet *sheet)
{
    const struct alphabet alphabet = list_letters(sheet->learning);
    sp_text_puts(&sheet->text, "\n");
    for (size_t i = 0; i < alphabet.count; i++) write_definition(sheet, alphabet.items[i], alphabet.widest);
    write_classes(sheet);
    write_front(sheet);
    write_unseen_flags(sheet);
    write_multiples(sheet);
    write_least_counts(sheet);
}

/* ---- what is not decided ---- */

/* Writes the keys that the examples do not vary as a comment, in lines of at most 100 columns. */
static void write_unvaried(struct sheet *sheet)
{
    const char *word = sheet->learning->unvaried;
    size_t column = 0;
    if (*word)
        sp_text_puts(&sheet->text, "\n# The effect of these keys is not known: they are the same in all examples, "
                                   "or have no effect in them:");
    while (*word) {
        const size_t length = strcspn(word, " ");
        if (!column || column + length > WIDEST_COMMENT) {
            sp_text_puts(&sheet->text, "\n#  ");
            column = 3;
        }
        sp_text_puts(&sheet->text, " ");
        sp_text_append(&sheet->text, word, length);
        column += length + 1;
        word += length + (word[length] == ' ');
    }
    if (column) sp_text_puts(&sheet->text, "\n");
}

static void write_ambiguity(struct sheet *sheet, const struct sp_ambiguity *ambiguity)
{
    const struct shapeproof_undecided *told = &ambiguity->told;
    const bool number = strspn(told->chosen, "0123456789") == strlen(told->chosen);
    sp_text_printf(&sheet->text, "#   %s", told->chosen);
    if (strcmp(told->alternatives, SP_MAY_BE_BUFFER) == 0)
        sp_text_printf(&sheet->text, " or %s: no file says which it is\n", told->alternatives);
    else if (*told->alternatives)
        sp_text_printf(&sheet->text, " or %s: equal in all examples that have these tensors:\n", told->alternatives);
    else
        sp_text_puts(&sheet->text, number ? ": a number that no key of the configuration gives\n"
                                          : ": the only expression that "
                                            "was found, with little "
                                            "evidence\n");
    sp_text_printf(&sheet->text, "#     in %s\n", sp_ambiguity_places(&sheet->learning->arena, ambiguity));
}

static void write_ambiguities(struct sheet *sheet)
{
    const struct shapeproof_learning *learning = sheet->learning;
    if (learning->undecided.count) sp_text_puts(&sheet->text, "\n# Not decided by the examples:\n");
    for (size_t i = 0; i < learning->undecided.count; i++) write_ambiguity(sheet, &learning->undecided.items[i]);
    write_unvaried(sheet);
}

/* ---- groups ---- */

/* "model.layers.#.mlp.experts." -> "layers experts": the words in front of the indices. */
static void put_stem_words(struct sp_text *text, const char *stem)
{
    const size_t start = text->length;
    for (const char *c = stem; *c; c++) {
        const bool ends = (*c == SP_INDEX_MARK) || !c[1];
        if (!ends) continue;
        const char *end = *c == SP_INDEX_MARK ? c : c + 1;
        while (end > stem && end[-1] >= SP_FIRST_PLACE && end[-1] <= SP_LAST_PLACE) end--;
        while (end > stem && (end[-1] == '.' || end[-1] == '_' || end[-1] == '/')) end--;
        const char *word = end;
        while (word > stem && word[-1] != SP_INDEX_MARK && word[-1] != SP_FRONT_MARK && word[-1] != '.' &&
               word[-1] != '/')
            word--;
        while (word < end && *word == '_') word++;
        if (end > word && text->length > start) sp_text_puts(text, " ");
        sp_text_append(text, word, (size_t)(end - word));
    }
    if (text->length == start) sp_text_puts(text, "all");
}

static const struct sp_stem *stem_of_row(const struct shapeproof_learning *learning, const struct sp_tensor_row *row,
                                         size_t depth)
{
    return &learning->problem.layout.stems.items[row->stems[depth]];
}

static bool asks_index_of_depth(const struct sp_tensor_row *row, size_t depth)
{
    for (uint32_t d = 0; d < row->rank; d++)
        if (sp_indices_of(row->dims[d].term) >> depth & 1) return true;
    return row->where.term && (sp_indices_of(row->where.term) >> depth & 1);
}

/* Whether a loop has always one iteration, and no row reads its index: then its number is written into the name,
 * layers.{4*N}. */
static bool is_one_iteration(const struct shapeproof_learning *learning, const struct sp_tensor_row *row, size_t depth)
{
    const struct sp_stem *stem = stem_of_row(learning, row, depth);
    const struct sp_layout *layout = &learning->problem.layout;
    if (stem->count.term->op != SP_TERM_NUMBER || stem->count.term->number != 1) return false;
    for (size_t i = 0; i < layout->rows.count; i++) {
        const struct sp_tensor_row *other = &layout->rows.items[i];
        if (other->index_count > depth && other->stems[depth] == row->stems[depth] && other->is_solved &&
            asks_index_of_depth(other, depth))
            return false;
    }
    return stem->step == 1;
}

/* The term minus 1: x - 1 becomes x - 2. */
static const struct sp_search_term *one_less(struct sp_arena *arena, const struct sp_search_term *term)
{
    const bool less = term->op == SP_TERM_SUBTRACT && term->b->op == SP_TERM_NUMBER;
    return sp_search_term_binary(arena, SP_TERM_SUBTRACT, less ? term->a : term,
                                 sp_search_term_number(arena, less ? term->b->number + 1 : 1));
}

/* The last number of a loop, first + count - 1, as short as possible. */
static const struct sp_search_term *last_of_stem(struct sp_arena *arena, const struct sp_stem *stem)
{
    const struct sp_search_term *first = stem->first.term, *count = stem->count.term;
    if (first->op == SP_TERM_NUMBER && first->number == 1) return count;
    if (count->op == SP_TERM_NUMBER && first->op == SP_TERM_NUMBER)
        return sp_search_term_number(arena, first->number + count->number - 1);
    if (count->op == SP_TERM_ADD && count->b->op == SP_TERM_NUMBER && count->b->number == 1 &&
        first->op == SP_TERM_NUMBER && first->number == 0)
        return count->a;
    if (first->op != SP_TERM_NUMBER || first->number != 0)
        count = sp_search_term_binary(arena, SP_TERM_ADD, first, count);
    return one_less(arena, count);
}

/* Writes the end of a range: N-1 without blanks, as in the built-in tables. */
static void put_last(struct sheet *sheet, const struct sp_search_term *last)
{
    const bool plain = last->op == SP_TERM_SUBTRACT && !last->a->b;
    put_term(sheet, plain ? last->a : last);
    if (plain) sp_text_puts(&sheet->text, "-");
    if (plain) put_term(sheet, last->b);
}

/* Whether a stem has words of a list whose place in the list no term reads: the loop is over the words themselves. */
static bool is_plain_word(const struct sheet *sheet, const struct sp_stem *stem)
{
    return stem->listed && !sheet->asked[stem - sheet->learning->problem.layout.stems.items];
}

/* The variable of a loop over words with so many other such loops around it: a word that is no key of the
 * configurations.
 */
static const char *name_behind(const struct sheet *sheet, size_t outer)
{
    static const char *const names[] = {"name", "word", "which", "item", "entry", "kind", "of", "one"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!sp_evidence_terminal(&sheet->learning->evidence, names[i]) && !outer--) return names[i];
    return "the_name";
}

static size_t count_listed(const struct sheet *sheet, const size_t *stems, size_t count)
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) listed += sheet->learning->problem.layout.stems.items[stems[i]].listed != NULL;
    return listed;
}

static const char *name_of_word(const struct sheet *sheet, const struct sp_stem *stem)
{
    return name_behind(sheet, count_listed(sheet, stem->stems, stem->depth));
}

static const char *name_of_words(const struct sheet *sheet, const struct sp_tensor_row *row)
{
    return name_behind(sheet, count_listed(sheet, row->stems, row->index_count));
}

/* for name in ["text", "image"]; without quotes if all are numbers */
static void put_loop_of_words(struct sheet *sheet, const struct sp_tensor_row *row,
                              const struct sp_alternating_words *words)
{
    bool numbers = true;
    for (size_t i = 0; i < words->count; i++)
        numbers = numbers && strspn(words->words[i], "0123456789") == strlen(words->words[i]);
    sp_text_printf(&sheet->text, " for %s in [", name_of_words(sheet, row));
    for (size_t i = 0; i < words->count; i++)
        sp_text_printf(&sheet->text, numbers ? "%s%s" : "%s\"%s\"", i ? ", " : "", words->words[i]);
    sp_text_puts(&sheet->text, "]");
}

/* for i in first..last, from `start` on if it is not NULL; or for name in list */
static void put_loop(struct sheet *sheet, const struct sp_stem *stem, const struct sp_search_term *start)
{
    if (!start && is_plain_word(sheet, stem)) {
        sp_text_printf(&sheet->text, " for %s in %s", name_of_word(sheet, stem), stem->listed->terminal->path);
        return;
    }
    sp_text_printf(&sheet->text, " for %s in ", sp_index_names[stem->depth]);
    put_term(sheet, start ? start : stem->first.term);
    sp_text_puts(&sheet->text, "..");
    put_last(sheet, last_of_stem(&sheet->learning->arena, stem));
}

/* The key from which on a row exists, if its condition is i >= key and the loop begins at 0; *index is which loop. NULL
 * otherwise. Such a row is written in a loop of its own that begins there, without a condition. */
static const struct sp_search_term *start_of_row(const struct shapeproof_learning *learning,
                                                 const struct sp_tensor_row *row, size_t *index)
{
    const struct sp_search_term *where = row->where.term;
    if (!where || where->op != SP_TERM_AT_LEAST || where->a->op != SP_TERM_INDEX) return NULL;
    if (where->b->op != SP_TERM_KEY) return NULL;
    *index = (size_t)where->a->number;
    const struct sp_search_term *first = stem_of_row(learning, row, *index)->first.term;
    return first->op == SP_TERM_NUMBER && first->number == 0 ? where->b : NULL;
}

/* The name of the group of a row: the words in front of its indices, or what kind of row it is. */
static const char *name_of_group(struct shapeproof_learning *learning, const struct sp_tensor_row *row)
{
    struct sp_text name = {0};
    const char *part = part_in_heading(&learning->problem.layout, row->pattern);
    if (part) sp_text_printf(&name, "%s ", part);
    if (row->index_count) put_stem_words(&name, stem_of_row(learning, row, row->index_count - 1)->text);
    else sp_text_puts(&name, word_for_name(row->pattern));
    return sp_text_keep(&name, &learning->arena);
}

static bool is_group_of_base(const struct sp_base *base, const char *name)
{
    for (size_t i = 0; i < base->group_count; i++)
        if (strcmp(base->groups[i].name, name) == 0) return true;
    return false;
}

/* Writes the name of a row's group. A group with the name of one of the base replaces that, so that only rows in its
 * place may have its name; others are called "own ...". */
static void put_group_of_row(struct sheet *sheet, const struct sp_tensor_row *row)
{
    struct shapeproof_learning *learning = sheet->learning;
    const char *name = learning->base ? learning->base->headings[row - learning->problem.layout.rows.items] : NULL;
    if (!name) {
        name = name_of_group(learning, row);
        if (learning->base && is_group_of_base(learning->base, name)) sp_text_puts(&sheet->text, "own ");
    }
    sp_text_puts(&sheet->text, name);
}

/* The condition in front of a loop, which holds for all of its rows. */
static void put_condition_of_loop(struct sheet *sheet, const struct sp_stem *stem)
{
    if (!stem->when.term) return;
    sp_text_puts(&sheet->text, " if ");
    put_term(sheet, stem->when.term);
}

static void write_heading(struct sheet *sheet, const struct sp_tensor_row *row)
{
    const struct shapeproof_learning *learning = sheet->learning;
    sp_text_puts(&sheet->text, "\n[");
    put_group_of_row(sheet, row);
    sp_text_puts(&sheet->text, "]");
    size_t from = SIZE_MAX;
    const struct sp_search_term *start = start_of_row(learning, row, &from);
    for (size_t i = 0; i < row->index_count; i++) {
        put_condition_of_loop(sheet, stem_of_row(learning, row, i));
        if (!is_one_iteration(learning, row, i))
            put_loop(sheet, stem_of_row(learning, row, i), i == from ? start : NULL);
    }
    if (words_of_row(sheet, row)) put_loop_of_words(sheet, row, words_of_row(sheet, row));
    sp_text_puts(&sheet->text, "\n");
}

static bool is_same_condition(const struct sp_search_term *a, const struct sp_search_term *b)
{
    return a && b ? sp_search_terms_equal(a, b) : a == b;
}

/* Whether two rows can be written under one heading: they have the same loops, or are of the same kind. */
static bool are_in_one_group(const struct sheet *sheet, const struct sp_tensor_row *a, const struct sp_tensor_row *b)
{
    const struct shapeproof_learning *learning = sheet->learning;
    if (words_of_row(sheet, a) != words_of_row(sheet, b)) return false;
    const struct sp_tensor_row *rows = learning->problem.layout.rows.items;
    if (learning->base && learning->base->headings[a - rows] != learning->base->headings[b - rows]) return false;
    if (a->index_count != b->index_count) return false;
    size_t index, other_index;
    const struct sp_search_term *start = start_of_row(learning, a, &index),
                                *other_start = start_of_row(learning, b, &other_index);
    if ((start || other_start) && !is_same_condition(a->where.term, b->where.term)) return false;
    if (!a->index_count)
        return strcmp(word_for_name(a->pattern), word_for_name(b->pattern)) == 0 &&
               part_in_heading(&learning->problem.layout, a->pattern) ==
                   part_in_heading(&learning->problem.layout, b->pattern);
    return memcmp(a->stems, b->stems, a->index_count * sizeof *a->stems) == 0;
}

/* ---- rows ---- */

static bool needs_quotes(const char *name)
{
    static const char *const words[] = {"table",  "part",  "require", "model_type", "architectures",
                                        "claims", "claim", "erratum", "approx",     "example"};
    const size_t word = strcspn(name, ".");
    char first[32];
    if (strpbrk(name, " \t") || !*name || strchr("[#\"", *name)) return true;
    if (word >= sizeof first) return false;
    memcpy(first, name, word);
    first[word] = '\0';
    return !name[word] && SP_IS_AMONG(first, words);
}

static void put_word(const struct sheet *sheet, struct sp_text *text, const struct sp_stem *stem)
{
    if (is_plain_word(sheet, stem)) sp_text_printf(text, "{%s}", name_of_word(sheet, stem));
    else sp_text_printf(text, "{%s[%s]}", stem->listed->terminal->path, sp_index_names[stem->depth]);
}

static void put_index(const struct sheet *sheet, struct sp_text *text, const struct sp_tensor_row *row, size_t depth)
{
    const struct sp_stem *stem = stem_of_row(sheet->learning, row, depth);
    if (stem->listed) {
        put_word(sheet, text, stem);
        return;
    }
    if (is_one_iteration(sheet->learning, row, depth) && stem->first.term->op == SP_TERM_NUMBER && !stem->offset) {
        sp_search_term_write(text, stem->first.term, SP_KEYS_BY_LETTER);
        return;
    }
    sp_text_puts(text, "{");
    if (stem->step > 1) sp_text_printf(text, "%llu*", (unsigned long long)stem->step);
    if (is_one_iteration(sheet->learning, row, depth)) sp_search_term_write(text, stem->first.term, SP_KEYS_BY_LETTER);
    else sp_text_puts(text, sp_index_names[stem->depth]);
    if (stem->offset) sp_text_printf(text, " + %llu", (unsigned long long)stem->offset);
    sp_text_puts(text, "}");
}

static void put_first_iteration(struct sp_text *text, const struct sp_stem *stem)
{
    if (stem->listed) sp_text_printf(text, "{%s[0]}", stem->listed->terminal->path);
    else sp_text_puts(text, "0");
}

/* `first` is the depth of a loop whose first iteration is meant, or SHAPEPROOF_NONE; `words` are those that it is
 * written for. */
static const char *name_at_iteration(const struct sheet *sheet, const struct sp_tensor_row *row, size_t length,
                                     size_t first, const struct sp_alternating_words *words)
{
    struct shapeproof_learning *learning = sheet->learning;
    struct sp_text text = {0};
    const bool quotes = needs_quotes(row->pattern);
    size_t index = 0;
    if (quotes) sp_text_puts(&text, "\"");
    for (size_t i = 0; i < length; i++) {
        if (row->pattern[i] >= SP_FIRST_PLACE && row->pattern[i] <= SP_LAST_PLACE) continue;
        if (words && i == words->begin) {
            sp_text_printf(&text, "{%s}", name_of_words(sheet, row));
            i += words->length - 1;
        } else if (row->pattern[i] == SP_FRONT_MARK) sp_text_puts(&text, "{p}");
        else if (row->pattern[i] != SP_INDEX_MARK) sp_text_append(&text, &row->pattern[i], 1);
        else if (index++ == first) put_first_iteration(&text, stem_of_row(learning, row, first));
        else put_index(sheet, &text, row, index - 1);
    }
    if (quotes) sp_text_puts(&text, "\"");
    return sp_text_keep(&text, &learning->arena);
}

static const char *name_of_row(const struct sheet *sheet, const struct sp_tensor_row *row, size_t length)
{
    return name_at_iteration(sheet, row, length, SHAPEPROOF_NONE, words_of_row(sheet, row));
}

/* Whether frameworks use that name for buffers, whatever the dtype. */
static bool is_statistic(const char *name)
{
    static const char *const ends[] = {"running_mean",
                                       "running_var",
                                       "num_batches_tracked",
                                       "position_ids",
                                       "inv_freq",
                                       "relative_position_index",
                                       "relative_coords_table",
                                       "masked_bias",
                                       "mel_basis",
                                       "hann_window",
                                       "cos_cached",
                                       "sin_cached",
                                       "cluster_size",
                                       "embed_avg",
                                       "pixel_mean",
                                       "pixel_std",
                                       "attention_bias_idxs"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sp_ends_with(name, ends[i])) return true;
    return false;
}

/* The dtype of a row if all its tensors have it and parameters never do, as those of counters and masks; else NULL. */
static const char *dtype_of_buffer(const struct sp_tensor_row *row)
{
    const enum shapeproof_dtype dtype = row->places.items[0].tensor->dtype;
    for (size_t i = 1; i < row->places.count; i++)
        if (row->places.items[i].tensor->dtype != dtype) return NULL;
    return dtype == SHAPEPROOF_DTYPE_I64 || dtype == SHAPEPROOF_DTYPE_BOOL ? shapeproof_dtype_name(dtype) : NULL;
}

bool sp_learn_is_buffer(const struct sp_tensor_row *row) { return dtype_of_buffer(row) || is_statistic(row->pattern); }

static void put_condition(struct sheet *sheet, const struct sp_tensor_row *row)
{
    size_t index;
    if (!row->where.term || start_of_row(sheet->learning, row, &index)) return; /* its loop says so */
    sp_text_puts(&sheet->text, "   if ");
    put_term(sheet, row->where.term);
}

static void put_tie(struct sheet *sheet, const struct sp_tensor_row *row)
{
    if (row->tied_to == SHAPEPROOF_NONE) return;
    const struct sp_tensor_row *target = &sheet->learning->problem.layout.rows.items[row->tied_to];
    sp_text_printf(&sheet->text, "   same as %s",
                   name_at_iteration(sheet, target, strlen(target->pattern),
                                     target == row ? row->tied_at : SHAPEPROOF_NONE, NULL));
    if (row->tied_when.term) {
        sp_text_puts(&sheet->text, " when ");
        put_term(sheet, row->tied_when.term);
    } else if (row->where.term) sp_text_puts(&sheet->text, " always");
}

static void put_shape(struct sheet *sheet, const struct sp_tensor_row *row)
{
    sp_text_puts(&sheet->text, "(");
    for (uint32_t d = 0; d < row->rank; d++) {
        if (d) sp_text_puts(&sheet->text, ", ");
        put_term(sheet, row->dims[d].term);
    }
    sp_text_puts(&sheet->text, ")");
}

static void write_row(struct sheet *sheet, const struct sp_tensor_row *row)
{
    const char *dtype = dtype_of_buffer(row);
    sp_text_printf(&sheet->text, "%s   ", name_of_row(sheet, row, strlen(row->pattern)));
    put_shape(sheet, row);
    if (dtype) sp_text_printf(&sheet->text, "   %s buffer", dtype);
    else if (is_statistic(row->pattern)) sp_text_puts(&sheet->text, "   buffer");
    put_condition(sheet, row);
    put_tie(sheet, row);
    sp_text_puts(&sheet->text, "\n");
}

static void write_part(struct sheet *sheet, const struct sp_part_found *found)
{
    const struct sp_tensor_row *row = &sheet->learning->problem.layout.rows.items[found->rows[0]];
    sp_text_printf(&sheet->text, "%s*   %s(", name_of_row(sheet, row, found->base_length), found->part);
    for (size_t i = 0; i < found->argument_count; i++) {
        if (i) sp_text_puts(&sheet->text, ", ");
        put_term(sheet, found->arguments[i]);
    }
    if (found->bias) sp_text_puts(&sheet->text, ", ");
    if (found->bias) put_term(sheet, found->bias);
    for (size_t i = 0; i < found->flag_count; i++) {
        sp_text_puts(&sheet->text, ", ");
        if (found->flags[i].when) put_term(sheet, found->flags[i].when);
        else sp_text_puts(&sheet->text, found->flags[i].holds ? "true" : "false");
    }
    sp_text_puts(&sheet->text, ")");
    if (found->where) put_condition(sheet, row);
    sp_text_puts(&sheet->text, "\n");
}

static bool is_any_of_base(const struct shapeproof_learning *learning, const struct sp_part_found *found)
{
    for (size_t i = 0; i < found->row_count && learning->base; i++)
        if (learning->base->rows[found->rows[i]]) return true;
    return false;
}

/* Writes a row, or the part that it is in, and marks all rows of that as written. A part with a row of the base is not
 * used. */
static void write_row_or_part(struct sheet *sheet, size_t index, bool *written)
{
    const struct sp_layout *layout = &sheet->learning->problem.layout;
    const struct sp_part_found found = sp_find_part(layout, index);
    written[index] = true;
    if (!found.part || needs_quotes(found.base) || is_any_of_base(sheet->learning, &found))
        write_row(sheet, &layout->rows.items[index]);
    else write_part(sheet, &found);
    for (size_t i = 0; found.part && i < found.row_count && !is_any_of_base(sheet->learning, &found); i++)
        written[found.rows[i]] = true;
}

/* model.language_model.*   llama from text_config */
static void write_inner(struct sheet *sheet, const struct sp_inner *inner)
{
    const char *end = strstr(inner->key, "_config");
    sp_text_puts(&sheet->text, "\n[");
    sp_text_append(&sheet->text, inner->key, end ? (size_t)(end - inner->key) : strlen(inner->key));
    sp_text_printf(&sheet->text, "]\n%s*   %s from %s", inner->prefix, inner->table, inner->key);
    if (inner->class) sp_text_printf(&sheet->text, " with architectures = [\"%s\"]", inner->class);
    sp_text_puts(&sheet->text, "\n");
}

/* Writes the inner tables whose first row is this one; whether there were any. */
static bool write_inners_at(struct sheet *sheet, size_t row)
{
    const struct sp_inners *inners = &sheet->learning->inners;
    bool any = false;
    for (size_t i = 0; i < inners->count; i++) {
        if (inners->items[i].first_row != row) continue;
        write_inner(sheet, &inners->items[i]);
        any = true;
    }
    return any;
}

/* Which rows are written: late heads come behind all others. */
enum written_rows { ALL_BUT_LATE_HEADS, LATE_HEADS };

static void write_rows_of(struct sheet *sheet, enum written_rows which, bool *written)
{
    const struct sp_layout *layout = &sheet->learning->problem.layout;
    const struct sp_tensor_row *last = NULL;
    for (size_t i = 0; i < layout->rows.count; i++) {
        const struct sp_tensor_row *row = &layout->rows.items[i];
        if (which == ALL_BUT_LATE_HEADS && write_inners_at(sheet, i)) last = NULL;
        if (row->is_inner || !row->is_solved || written[i] || sheet->alike[i].is_said ||
            (sheet->learning->base && sheet->learning->base->rows[i]))
            continue;
        if (is_late_head(layout, i) != (which == LATE_HEADS)) continue;
        if (!last || !are_in_one_group(sheet, last, row)) write_heading(sheet, row);
        write_row_or_part(sheet, i, written);
        last = row;
    }
}

static void write_rows(struct sheet *sheet)
{
    const size_t count = sheet->learning->problem.layout.rows.count;
    bool *written = sp_arena_array(&sheet->learning->arena, count + 1, sizeof *written);
    write_rows_of(sheet, ALL_BUT_LATE_HEADS, written);
    write_rows_of(sheet, LATE_HEADS, written);
}

/* Writes an empty group for each group of the base that no example has: that removes it. */
static void write_removed_groups(struct sheet *sheet)
{
    const struct sp_base *base = sheet->learning->base;
    for (size_t i = 0; base && i < base->group_count; i++)
        if (base->groups[i].is_replaced && !base->groups[i].is_written)
            sp_text_printf(&sheet->text, "\n# No example has this group.\n[%s]\n", base->groups[i].name);
}

static void write_rest(struct sheet *sheet)
{
    if (sheet->learning->rest.count) sp_text_puts(&sheet->text, "\n# Not explained:\n");
    for (size_t i = 0; i < sheet->learning->rest.count; i++)
        sp_text_printf(&sheet->text, "#   %s\n", sheet->learning->rest.items[i]);
}

/* The text as the formatter of tables writes it; as it is if that refuses it. */
static const char *format_sheet(struct sheet *sheet)
{
    struct shapeproof_error error = {0};
    const char *plain = sp_text_keep(&sheet->text, &sheet->learning->arena);
    char *formatted = shapeproof_table_format("learnt.shapes", plain, strlen(plain), NULL, &error);
    const char *kept = formatted ? sp_arena_string(&sheet->learning->arena, formatted) : plain;
    sp_free(formatted);
    return kept;
}

/* Which indices the terms of a row read, as bits. */
static unsigned indices_of_row(const struct sp_layout *layout, const struct sp_tensor_row *row)
{
    unsigned asked = row->where.term ? sp_indices_of(row->where.term) : 0;
    if (row->tied_when.term) asked |= sp_indices_of(row->tied_when.term);
    for (uint32_t d = 0; d < row->rank; d++) asked |= sp_indices_of(row->dims[d].term);
    for (size_t i = 0; i < row->index_count; i++) {
        const struct sp_stem *stem = &layout->stems.items[row->stems[i]];
        asked |= sp_indices_of(stem->first.term) | sp_indices_of(stem->count.term) | sp_indices_of(stem->when.term);
    }
    return asked;
}

static void note_asked_indices(struct sheet *sheet)
{
    const struct sp_layout *layout = &sheet->learning->problem.layout;
    sheet->asked = sp_arena_array(&sheet->learning->arena, layout->stems.count + 1, sizeof *sheet->asked);
    for (size_t r = 0; r < layout->rows.count; r++) {
        const struct sp_tensor_row *row = &layout->rows.items[r];
        const unsigned asked = row->is_solved ? indices_of_row(layout, row) : 0;
        for (size_t i = 0; i < row->index_count; i++)
            if (asked >> i & 1) sheet->asked[row->stems[i]] = true;
    }
}

void sp_learn_write(struct shapeproof_learning *learning)
{
    struct sheet sheet = {.learning = learning};
    note_asked_indices(&sheet);
    sheet.alike =
        sp_find_alike(&learning->arena, &learning->problem.layout, learning->base ? learning->base->rows : NULL);
    write_head(&sheet);
    if (!learning->are_strangers) {
        if (!learning->base) write_definitions(&sheet);
        if (!learning->base || learning->is_proved) write_ambiguities(&sheet);
        write_rows(&sheet);
        write_removed_groups(&sheet);
    }
    write_rest(&sheet);
    learning->text = format_sheet(&sheet);
}
