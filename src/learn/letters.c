/* SPDX-License-Identifier: MIT
 * What the keys are called: by the letters and with the comments that the tables have for them, "V = vocab_size  #
 * tokens", each letter once. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "lang/tables.h"
#include "learn/learning.h"

enum {
    LONGEST_WORD = 80,
    LIKED = 1000,       /* the weight of a table that is preferred; that of others is 1 */
    FEWEST_REMARKS = 3, /* tables with a comment that is taken */
    FEWEST_WORDS = 5    /* tables with a name of several letters that is taken */
};

/* That tables call a key so. */
struct vote {
    const char *key, *letter;
    const char *comment; /* behind a definition; or NULL */
    const char *says;    /* for a length: the whole expression; or NULL */
    size_t count;        /* of the tables, by weight */
};

/* That tables have this comment for a key, whatever its letter. */
struct remark {
    const char *key, *words;
    size_t count; /* of the tables, by weight */
};

/* What tables call keys, and say about them. */
struct priors {
    struct sp_arena *arena;
    struct sp_map said; /* "key comment" -> the index of the remark */
    struct {
        struct remark *items;
        size_t count, capacity;
    } remarks;
    struct sp_map known; /* "key letter" -> the index of the vote */
    struct {
        struct vote *items;
        size_t count, capacity;
    } votes;
};

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || sp_is_digit(c);
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && *at == ' ') at++;
    return at;
}

static const char *copy_word(struct sp_arena *arena, const char *start, const char *end)
{
    const size_t length = (size_t)(end - start);
    return length && length < LONGEST_WORD ? sp_arena_copy(arena, start, length) : NULL;
}

/* Moves *at behind the letter, or the word, that begins there; NULL when there is none, or it is too long. */
static const char *take_letter(struct sp_arena *arena, const char **at, const char *end)
{
    const char *start = *at;
    while (*at < end && is_word_character(**at)) (*at)++;
    return copy_word(arena, start, *at);
}

/* The same for a key, which may have dots: "text_config.hidden_size". */
static const char *take_key(struct sp_arena *arena, const char **at, const char *end)
{
    const char *start = *at;
    while (*at < end && (is_word_character(**at) || **at == '.')) (*at)++;
    return copy_word(arena, start, *at);
}

static void count_vote(struct priors *priors, struct vote vote)
{
    const char *both = sp_arena_printf(priors->arena, "%s %s", vote.key, vote.letter);
    const size_t known = sp_map_get(&priors->known, both);
    if (known == SIZE_MAX) {
        sp_map_add(&priors->known, both, priors->votes.count);
        *SP_PUSH(&priors->votes) = vote;
        return;
    }
    priors->votes.items[known].count += vote.count;
    if (!priors->votes.items[known].comment) priors->votes.items[known].comment = vote.comment;
}

/* Whether a comment continues that of the line above it: "and of the decoder". */
static bool goes_on(const char *comment)
{
    static const char *const words[] = {"and ", "its ", "their ", "the same", "likewise", "or ", "of it"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(comment, words[i], strlen(words[i])) == 0) return true;
    return false;
}

static void count_remark(struct priors *priors, const char *key, const char *words, size_t weight)
{
    const char *both = sp_arena_printf(priors->arena, "%s %s", key, words);
    const size_t known = sp_map_get(&priors->said, both);
    if (known != SIZE_MAX) {
        priors->remarks.items[known].count += weight;
        return;
    }
    sp_map_add(&priors->said, both, priors->remarks.count);
    *SP_PUSH(&priors->remarks) = (struct remark){key, words, weight};
}

/* The comment that most tables have for a key; NULL when these are one or two, whose comments are about themselves. */
static const char *usual_remark(const struct priors *priors, const char *key)
{
    const struct remark *best = NULL;
    for (size_t i = 0; i < priors->remarks.count; i++) {
        const struct remark *remark = &priors->remarks.items[i];
        if (strcmp(remark->key, key) == 0 && (!best || remark->count > best->count)) best = remark;
    }
    return best && best->count >= FEWEST_REMARKS ? best->words : NULL;
}

/* Counts a line that defines a letter for a key, with a default at most:
 *
 *     H = hidden_size                        # width
 *     K = num_key_value_heads default A      # key heads
 *
 * Any other line is skipped, and so is a key that is its own letter. A comment that continues the one above is left
 * out. */
static void read_definition(struct priors *priors, const char *line, const char *end, size_t weight)
{
    struct vote vote = {.count = weight};
    vote.letter = take_letter(priors->arena, &line, end);
    line = skip_blanks(line, end);
    if (!vote.letter || line >= end || *line != '=') return;

    line = skip_blanks(line + 1, end);
    vote.key = take_key(priors->arena, &line, end);
    line = skip_blanks(line, end);
    const bool is_plain = line >= end || *line == '#' || (end - line > 8 && memcmp(line, "default ", 8) == 0);
    if (!vote.key || !is_plain) return;
    const bool begins_small = *vote.key >= 'a' && *vote.key <= 'z'; /* others are letters: E = H */
    if (!begins_small || strcmp(vote.key, vote.letter) == 0) return;

    const char *comment = memchr(line, '#', (size_t)(end - line));
    if (comment) {
        comment = skip_blanks(comment + 1, end);
        vote.comment = sp_arena_copy(priors->arena, comment, (size_t)(end - comment));
    }
    if (vote.comment && goes_on(vote.comment)) vote.comment = NULL;
    if (vote.comment) count_remark(priors, vote.key, vote.comment, weight);
    count_vote(priors, vote);
}

/* Counts a line that defines a letter for a length with a default: C = len(id2label) default 2. A default with a call
 * or a string is skipped, since it may depend on other definitions of its table. */
static void read_length(struct priors *priors, const char *line, const char *end, size_t weight)
{
    struct vote vote = {.count = weight};
    vote.letter = take_letter(priors->arena, &line, end);
    line = skip_blanks(line, end);
    if (!vote.letter || line >= end || *line != '=') return;
    const char *expression = skip_blanks(line + 1, end), *stop = expression;
    while (stop < end && *stop != '#') stop++;
    while (stop > expression && stop[-1] == ' ') stop--;
    if (stop - expression < 5 || memcmp(expression, "len(", 4) != 0) return;
    line = expression + 4;
    vote.key = take_key(priors->arena, &line, end);
    if (!vote.key || stop - line < 10 || memcmp(line, ") default ", 10) != 0) return;
    if (memchr(line + 1, '(', (size_t)(stop - line - 1)) || memchr(line, '"', (size_t)(stop - line))) return;
    vote.says = sp_arena_copy(priors->arena, expression, (size_t)(stop - expression));
    count_vote(priors, vote);
}

static void read_table(struct priors *priors, const struct shapeproof_table_info *info, size_t weight)
{
    const char *line = info->source, *stop = line + info->source_length;
    while (line < stop) {
        const char *end = memchr(line, '\n', (size_t)(stop - line));
        if (!end) end = stop;
        read_definition(priors, line, end, weight);
        read_length(priors, line, end, weight);
        line = end + 1;
    }
}

static void free_priors(struct priors *priors)
{
    sp_map_free(&priors->known);
    sp_map_free(&priors->said);
    sp_free(priors->remarks.items);
    sp_free(priors->votes.items);
}

/* ---- giving them out ---- */

struct naming {
    struct shapeproof_learning *learning;
    struct priors priors;
    struct sp_map taken;
};

/* Whether a letter is not given to a key yet, and neither a word of the language nor a key of the configurations. */
static bool is_free_letter(const struct naming *naming, const char *letter)
{
    static const char *const reserved[] = {"class", "known", "seen", "whole"};
    return sp_map_get(&naming->taken, letter) == SIZE_MAX && !SP_IS_AMONG(letter, reserved) &&
           !SP_IS_AMONG(letter, sp_index_names) && !sp_evidence_terminal(&naming->learning->evidence, letter);
}

/* The most usual free letter for a key of that name. */
static const struct vote *usual_letter(const struct naming *naming, const char *key)
{
    const struct vote *best = NULL;
    for (size_t i = 0; i < naming->priors.votes.count; i++) {
        const struct vote *vote = &naming->priors.votes.items[i];
        if (strcmp(vote->key, key) != 0 || !is_free_letter(naming, vote->letter)) continue;
        const bool is_word = vote->letter[1] != '\0';
        if (is_word && vote->count < FEWEST_WORDS && !vote->says) continue; /* few tables call it so */
        if (!best || vote->count > best->count) best = vote;
    }
    return best;
}

/* A capital of one of its words, the first that is free; NULL when none is. */
static const char *capital_of_key(const struct naming *naming, const char *key)
{
    for (const char *c = key; *c; c++) {
        const bool begins = c == key || c[-1] == '_';
        if (!begins || *c < 'a' || *c > 'z') continue;
        const char letter[2] = {(char)(*c - 'a' + 'A'), '\0'};
        if (strncmp(c, "num", 3) != 0 && is_free_letter(naming, letter))
            return sp_arena_string(&naming->learning->arena, letter);
    }
    return NULL;
}

/* Whether there is a symbol for a key with its default: that gets the letter, and the key is written by its path. */
static bool has_symbol(const struct naming *naming, const struct sp_terminal *terminal)
{
    for (size_t i = 0; i < naming->learning->evidence.terminals.count; i++) {
        const struct sp_terminal *other = naming->learning->evidence.terminals.items[i];
        if (other->meaning && !terminal->meaning && strcmp(other->path, terminal->path) == 0) return true;
    }
    return false;
}

static bool is_number_somewhere(const struct naming *naming, const struct sp_terminal *terminal)
{
    for (size_t e = 0; e < naming->learning->evidence.count; e++)
        if (terminal->values[e].type == SHAPEPROOF_VALUE_INT || terminal->values[e].type == SHAPEPROOF_VALUE_REAL)
            return true;
    return terminal->meaning != NULL;
}

/* Gives a list or an object whose length counts the letter and the default that other tables have for it. */
static void name_length(struct naming *naming, struct sp_terminal *terminal)
{
    const struct vote *usual =
        terminal->meaning || has_symbol(naming, terminal) ? NULL : usual_letter(naming, terminal->path);
    if (!usual || !usual->says) return;
    terminal->letter = usual->letter;
    terminal->says = usual->says;
    terminal->comment = "classes; the defaults are those of other tables";
    sp_map_add(&naming->taken, terminal->letter, 0);
}

/* Gives a key its letter when it occurs for the first time. */
static void name_terminal(void *context, const struct sp_terminal *asked)
{
    struct naming *naming = context;
    struct sp_terminal *terminal = NULL;
    for (size_t i = 0; i < naming->learning->evidence.terminals.count; i++)
        if (naming->learning->evidence.terminals.items[i] == asked)
            terminal = naming->learning->evidence.terminals.items[i];
    if (!terminal || terminal->uses++) return;
    if (!is_number_somewhere(naming, terminal)) name_length(naming, terminal);
    if (!is_number_somewhere(naming, terminal) || has_symbol(naming, terminal)) return;
    const char *key = sp_behind_last(terminal->path, '.');
    const struct vote *usual = usual_letter(naming, terminal->path);
    if (!usual) usual = usual_letter(naming, key);
    terminal->letter = usual ? usual->letter : capital_of_key(naming, key);
    terminal->comment = usual ? usual_remark(&naming->priors, usual->key) : NULL;
    if (terminal->letter) sp_map_add(&naming->taken, terminal->letter, 0);
    else if (terminal->meaning) terminal->letter = sp_arena_printf(&naming->learning->arena, "%s_", key);
}

static void name_answer(void *context, const struct sp_answer *answer, struct sp_asked asked)
{
    (void)asked;
    sp_search_term_terminals(answer->term, name_terminal, context);
}

void sp_learn_letters(struct shapeproof_learning *learning, const char *like)
{
    struct naming naming = {.learning = learning, .priors.arena = &learning->arena};
    for (size_t i = 0; i < shapeproof_tables_count(learning->tables); i++) {
        const struct shapeproof_table_info info = *shapeproof_tables_info(learning->tables, i);
        read_table(&naming.priors, &info, like && strcmp(info.name, like) == 0 ? LIKED : 1);
    }
    sp_layout_answers(&learning->problem.layout, name_answer, &naming);
    free_priors(&naming.priors);
    sp_map_free(&naming.taken);
}

/* ---- of a table that is extended ---- */

/* Its own text, and then that of those which it extends. */
static void read_table_and_bases(struct priors *priors, const struct shapeproof_tables *tables, const char *table)
{
    enum { DEEPEST = 8 };
    for (size_t depth = 0; table && depth < DEEPEST; depth++) {
        const size_t place = sp_learn_place_of_table(tables, table);
        if (place == SIZE_MAX) return;
        const struct shapeproof_table_info info = *shapeproof_tables_info(tables, place);
        read_table(priors, &info, DEEPEST - depth);
        const struct sp_unit *unit = sp_tables_unit(tables, table);
        table = unit ? unit->parent_name : NULL;
    }
}

/* Whether a vote is the first one for its letter: the table itself comes before those that it extends. */
static bool is_letter_of(const struct priors *priors, const struct vote *vote)
{
    for (size_t i = 0; i < priors->votes.count; i++)
        if (strcmp(priors->votes.items[i].letter, vote->letter) == 0) return &priors->votes.items[i] == vote;
    return false;
}

void sp_learn_letters_of_base(struct shapeproof_learning *learning)
{
    struct priors priors = {.arena = &learning->arena};
    const struct sp_terminals *terminals = &learning->evidence.terminals;
    read_table_and_bases(&priors, learning->tables, learning->base->table);
    for (size_t i = 0; i < terminals->count; i++) terminals->items[i]->letter = NULL;
    for (size_t i = 0; i < terminals->count; i++)
        for (size_t v = priors.votes.count; v-- > 0;) {
            const struct vote *vote = &priors.votes.items[v];
            if (!vote->says && strcmp(vote->key, terminals->items[i]->path) == 0 && is_letter_of(&priors, vote))
                terminals->items[i]->letter = vote->letter;
        }
    free_priors(&priors);
}
