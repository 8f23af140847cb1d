/* SPDX-License-Identifier: MIT
 * A figure is a number with a unit, next to the word "parameters":
 *
 *     "The model has 6.7 billion trainable parameters."      6.7B, the word follows
 *     "| Number of parameters | 7.61B |"                     7.61B, the word precedes
 *     "Llama-2-7B"                                           none: it is a part of a name
 *
 * A README also speaks of other models, so that a figure that does not fit is wrong only if its line has no other
 * figure and no word that points to something else. */
#include "figures/readme.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "prove/printed.h"

enum {
    MOST_BEHIND = 32, /* characters between a figure and "param" behind it: "B total trainable " */
    MOST_BEFORE = 48, /* and in front of it: "parameters (without embeddings): " */
    LONGEST_FIGURE = 32,
    LEAST_DIGITS = 7,  /* of a number without a unit or commas: "2048" may be a setting of a program */
    MOST_FIGURES = 16, /* of a line; more are ignored */
    SENTENCE = 160     /* characters between a figure and the words of its sentence that say what it counts */
};

/* A line as it is, and in lower case. */
struct line {
    const char *text, *lower;
    size_t length;
};

/* ---- finding figures ---- */

/* The letter for a unit at the beginning of the text, with the bytes that it takes in *length; '\0' for none. */
static char unit_at(const char *text, size_t *length)
{
    static const struct {
        const char *word;
        char letter;
    } units[] = {{"thousand", 'K'}, {"million", 'M'}, {"billion", 'B'}, {"trillion", 'T'},
                 {"k", 'K'},        {"m", 'M'},       {"b", 'B'},       {"t", 'T'}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        *length = strlen(units[i].word);
        if (strncmp(text, units[i].word, *length) == 0 && !sp_is_word(text[*length])) return units[i].letter;
    }
    return '\0';
}

/* Copies the number at the beginning of the text without the commas between groups of three digits; returns the bytes
 * that it takes, 0 when it is too long. */
static size_t take_number(const char *text, char *number)
{
    size_t length = 0, kept = 0;
    bool point = false;
    while (kept + 2 < LONGEST_FIGURE) {
        const char c = text[length];
        const bool is_comma = c == ',' && !point && sp_is_digit(text[length + 1]) && sp_is_digit(text[length + 2]) &&
                              sp_is_digit(text[length + 3]) && !sp_is_digit(text[length + 4]);
        const bool is_point = c == '.' && !point && sp_is_digit(text[length + 1]);
        if (!sp_is_digit(c) && !is_comma && !is_point) break;
        point = point || is_point;
        if (!is_comma) number[kept++] = c;
        length++;
    }
    number[kept] = '\0';
    return kept + 2 < LONGEST_FIGURE ? length : 0;
}

/* Whether "param" stands behind that place, with only words between. */
static bool is_followed(const struct line *line, size_t place)
{
    for (size_t i = place; i < line->length && i < place + MOST_BEHIND; i++) {
        const char c = line->lower[i];
        if (strncmp(line->lower + i, "param", 5) == 0) return true;
        if (sp_is_digit(c) || c == '.' || c == ',' || c == ';' || c == '|') return false;
    }
    return false;
}

/* Whether the text begins with what a number of parameters is announced by. "The parameter" is a setting. */
static bool is_announcement(const char *lower)
{
    static const char *const words[] = {"parameters", "params", "parameter count", "param count", "parameter size"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(lower, words[i], strlen(words[i])) == 0) return true;
    return false;
}

/* Whether "parameters" stands in front of that place, in the same sentence and with no other number between. */
static bool is_preceded(const struct line *line, size_t place)
{
    for (size_t i = place; i > 0 && i + MOST_BEFORE > place; i--) {
        const char c = line->lower[i - 1];
        if (is_announcement(line->lower + i - 1)) return true;
        if (sp_is_digit(c) || c == '.' || c == ';') return false;
    }
    return false;
}

/* What a number in a line is. */
enum number { NO_FIGURE, OTHER_FIGURE, FIGURE_OF_PARAMETERS };

/* "300B tokens" is no size of a model, other than the first figure of "124M and 355M parameters". */
static bool is_of_tokens(const struct line *line, size_t place)
{
    for (size_t i = place; i < line->length && i < place + MOST_BEHIND; i++) {
        if (strncmp(line->lower + i, "token", 5) == 0) return true;
        if (sp_is_digit(line->lower[i]) || line->lower[i] == '.') return false;
    }
    return false;
}

/* Reads the number that begins at *place, as a figure if it is one, and moves *place behind it. A part of a name is no
 * figure. */
static enum number take_figure(const struct line *line, size_t *place, char *figure)
{
    const size_t begin = *place, length = take_number(line->text + begin, figure);
    const char before = begin ? line->text[begin - 1] : ' ';
    size_t end = begin + length, unit_length = 0;
    *place = end;
    if (!length) {
        while (sp_is_digit(line->text[*place])) ++*place;
        return NO_FIGURE;
    }
    if (sp_is_word(before) || before == '-' || before == '/' || before == '.' || before == '$') return NO_FIGURE;
    if (line->lower[end] == ' ' || line->lower[end] == '-') end++;
    const char unit = unit_at(line->lower + end, &unit_length);
    if (unit) end += unit_length;
    else end = begin + length;
    const bool is_grouped = strlen(figure) < length, is_long = strlen(figure) >= LEAST_DIGITS;
    const bool is_count = unit || ((is_grouped || is_long) && !strchr(figure, '.'));
    if (!is_count || (!unit && sp_is_word(line->text[end]))) return NO_FIGURE;
    if (unit) strncat(figure, &unit, 1);
    *place = end;
    if (is_followed(line, end)) return FIGURE_OF_PARAMETERS;
    if (is_of_tokens(line, end)) return NO_FIGURE;
    if (is_preceded(line, begin)) return FIGURE_OF_PARAMETERS;
    return unit ? OTHER_FIGURE : NO_FIGURE;
}

/* ---- judging ---- */

/* What a figure of the line may be about if it is not the number of all parameters; NULL: nothing says so. */
static const char *other_subject(const char *lower)
{
    static const struct {
        const char *word, *subject;
    } words[] = {{"activ", "active parameters"},
                 {"trainable", "trainable parameters"},
                 {"lora", "an adapter"},
                 {"adapter", "an adapter"},
                 {" than", "another model"},
                 {"compar", "another model"},
                 {"outperform", "another model"},
                 {" vs", "another model"},
                 {"teacher", "another model"},
                 {"distill", "another model"},
                 {"draft", "another model"},
                 {"famil", "several models"},
                 {"rang", "several models"},
                 {" sizes", "several models"},
                 {"models", "several models"},
                 {"encoder", "a part of the model"},
                 {"decoder", "a part of the model"},
                 {"tower", "a part of the model"},
                 {"per layer", "a part of the model"},
                 {"embedding", "a part of the model"},
                 {"up to", "a limit"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(lower, words[i].word)) return words[i].subject;
    return NULL;
}

static const char embeddings[] = "the embeddings";

/* What a phrase of a sentence says that its figure counts in place of all parameters. */
struct part_phrase {
    const char *phrase, *subject;
};

static const struct part_phrase part_phrases[] = {{"active", "active parameters"},
                                                  {"activated", "active parameters"},
                                                  {"activates", "active parameters"},
                                                  {"activation param", "active parameters"},
                                                  {"per expert", "one expert"},
                                                  {"each expert", "one expert"},
                                                  {"experts of", "one expert"},
                                                  {"parameters each", "a part of the model"},
                                                  {"params each", "a part of the model"},
                                                  {"expert param", "a part of the model"},
                                                  {"per layer", "a part of the model"},
                                                  {"each layer", "a part of the model"},
                                                  {"embedding param", embeddings},
                                                  {"embeddings param", embeddings},
                                                  {"(embedding", "a part of the model"},
                                                  {"embedding layer", "a part of the model"},
                                                  {"embedding matri", "a part of the model"},
                                                  {"embedding table", "a part of the model"},
                                                  {"in the embedding", embeddings},
                                                  {"attention param", "a part of the model"},
                                                  {"(attention", "a part of the model"},
                                                  {"in the attention", "a part of the model"},
                                                  {"mlp param", "a part of the model"},
                                                  {"feed-forward param", "a part of the model"},
                                                  {"router param", "a part of the model"},
                                                  {"vision param", "a part of the model"},
                                                  {"tower", "a part of the model"},
                                                  {"encoder", "a part of the model"},
                                                  {"decoder", "a part of the model"}};

/* Whether the phrase that stands at the place names a part: not "inactive", "encoder-decoder", "decoder-only", "a
 * cross-encoder" and "an encoder model", which describe a whole model. */
static bool names_part(const char *lower, size_t place, const struct part_phrase *part)
{
    static const char *const whole[] = {"-", " only", " model", "/", " decoder", " transformer"};
    const char before = place ? lower[place - 1] : ' ';
    const char *behind = lower + place + strlen(part->phrase);
    const bool is_half = strcmp(part->phrase, "encoder") == 0 || strcmp(part->phrase, "decoder") == 0;
    if (sp_is_word(before)) return false;
    if (!is_half) return true;
    if (before == '-') return false;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strncmp(behind, whole[i], strlen(whole[i])) == 0) return false;
    return true;
}

/* Where the figures of a line begin and end. */
struct places {
    size_t begin[MOST_FIGURES], end[MOST_FIGURES], count;
};

/* The bytes between the figure and the text at `place`; SIZE_MAX if a sentence ends between them, or they are more
 * than SENTENCE. */
static size_t distance(const char *lower, const struct places *places, size_t figure, size_t place)
{
    const bool is_before = place < places->begin[figure];
    const size_t from = is_before ? place : places->end[figure], to = is_before ? places->begin[figure] : place;
    if (to > from && to - from > SENTENCE) return SIZE_MAX;
    for (size_t i = from; i + 1 < to; i++)
        if ((lower[i] == '.' || lower[i] == ';') && lower[i + 1] == ' ') return SIZE_MAX;
    return to > from ? to - from : 0;
}

/* What the sentence of the figure says that it counts: a phrase belongs to the nearest figure. NULL for all parameters:
 *
 *     "46.7B parameters, 12.9B active"      46.7B: NULL, 12.9B: active parameters */
static const char *part_of_figure(const struct line *line, const struct places *places, size_t figure)
{
    const char *lower = line->lower;
    const size_t begin = places->begin[figure], end = places->end[figure] + SENTENCE;
    for (size_t place = begin > SENTENCE ? begin - SENTENCE : 0; place < line->length && place < end; place++)
        for (size_t i = 0; i < sizeof part_phrases / sizeof *part_phrases; i++) {
            const char *phrase = part_phrases[i].phrase;
            if (strncmp(lower + place, phrase, strlen(phrase)) != 0) continue;
            const size_t own = distance(lower, places, figure, place);
            bool is_nearest = own != SIZE_MAX && names_part(lower, place, &part_phrases[i]);
            for (size_t k = 0; k < places->count && is_nearest; k++)
                is_nearest = distance(lower, places, k, place) >= own;
            if (is_nearest) return part_phrases[i].subject;
        }
    return NULL;
}

static bool is_without_embeddings(const char *lower)
{
    return strstr(lower, "non-embedding") || strstr(lower, "non embedding") || strstr(lower, "without embedding") ||
           strstr(lower, "excluding embedding");
}

/* Leaves the figure open, for that reason. */
static void leave_open(struct shapeproof_statement *statement, const char *why)
{
    statement->verdict = SHAPEPROOF_UNDECIDED;
    statement->why = why;
    statement->right = "";
}

/* Judges a figure of the line. One that counts no embeddings is right with the head or without it. */
static void judge_statement(struct sp_arena *arena, struct shapeproof_statement *statement, const char *lower,
                            const struct sp_figure_parts *parts)
{
    const bool without = is_without_embeddings(lower) && parts->tokens;
    const uint64_t number = without ? parts->total - parts->tokens - parts->head - parts->positions : parts->total;
    struct sp_figure_judgement judgement = sp_figure_judge(arena, statement->printed, number, without ? NULL : parts);
    for (int i = 0; without && i < 3 && judgement.verdict == SHAPEPROOF_REFUTED; i++) {
        const uint64_t more = (i != 1 ? parts->head : 0) + (i != 0 ? parts->positions : 0);
        judgement = sp_figure_judge(arena, statement->printed, number + more, NULL);
    }
    statement->verdict = judgement.verdict;
    statement->counted = judgement.verdict == SHAPEPROOF_REFUTED ? number : judgement.counted;
    statement->convention = *judgement.convention || !without ? judgement.convention : "without embeddings";
    statement->why = judgement.verdict == SHAPEPROOF_UNDECIDED ? "it is too large to be compared" : judgement.why;
    statement->right =
        judgement.verdict == SHAPEPROOF_REFUTED ? sp_printed_like(arena, statement->printed, number) : "";
    /* As names of models often are: not rounded, and not wrong either. */
    if (judgement.is_truncated)
        leave_open(statement, sp_arena_printf(arena, "truncated; rounded it is %s", statement->right));
}

/* Judges a figure that counts the subject and not all parameters: right if it is a number of the embeddings, else left
 * open. */
static void judge_part(struct sp_arena *arena, struct shapeproof_statement *statement, const char *subject,
                       const struct sp_figure_parts *parts)
{
    const uint64_t numbers[] = {parts->tokens, parts->tokens + parts->positions, parts->tokens + parts->head,
                                parts->tokens + parts->head + parts->positions};
    for (size_t i = 0; subject == embeddings && parts->tokens && i < sizeof numbers / sizeof *numbers; i++) {
        const struct sp_figure_judgement judgement = sp_figure_judge(arena, statement->printed, numbers[i], NULL);
        if (judgement.verdict != SHAPEPROOF_PROVED) continue;
        statement->verdict = SHAPEPROOF_PROVED;
        statement->counted = judgement.counted;
        statement->convention = i < 2 ? "those of the embeddings" : "those of the embeddings and the head";
        statement->why = statement->right = "";
        return;
    }
    statement->convention = "";
    leave_open(statement, sp_arena_printf(arena, "the line may be about %s", subject));
}

/* The figures of a line. Those that do not fit are wrong only if the parts are those of a prediction, and nothing in
 * the line suggests another subject. */
static void read_line(struct sp_arena *arena, const struct line *line, size_t number,
                      const struct sp_figure_parts *parts, bool predicted, struct sp_readme_statements *statements)
{
    const size_t first = statements->count;
    size_t figures = 0, own[MOST_FIGURES]; /* the place of each statement */
    struct places places = {.count = 0};
    char figure[LONGEST_FIGURE];
    const char *text = NULL, *subject = NULL;
    for (size_t place = 0; place < line->length && statements->count - first < MOST_FIGURES;) {
        if (!sp_is_digit(line->text[place])) {
            place++;
            continue;
        }
        const size_t begin = place;
        const enum number found = take_figure(line, &place, figure);
        figures += found != NO_FIGURE;
        if (found != NO_FIGURE && places.count < MOST_FIGURES) {
            places.begin[places.count] = begin;
            places.end[places.count++] = place;
        }
        if (found != FIGURE_OF_PARAMETERS) continue;
        if (!text) text = sp_arena_string(arena, line->text);
        own[statements->count - first] = places.count - 1;
        struct shapeproof_statement *statement = SP_PUSH(statements);
        *statement = (struct shapeproof_statement){
            .line = number, .text = text, .printed = sp_arena_string(arena, figure), .convention = "", .right = ""};
        judge_statement(arena, statement, line->lower, parts);
        if (is_without_embeddings(line->lower) && !parts->tokens)
            leave_open(statement, "no token embedding is known by its name");
    }
    if (figures > 1) subject = "several models";
    else if (figures && !is_without_embeddings(line->lower)) subject = other_subject(line->lower);
    for (size_t i = first; i < statements->count; i++) {
        struct shapeproof_statement *statement = &statements->items[i];
        const char *part = is_without_embeddings(line->lower) ? NULL : part_of_figure(line, &places, own[i - first]);
        if (part) judge_part(arena, statement, part, parts);
        if (statement->verdict != SHAPEPROOF_REFUTED) continue;
        if (subject) leave_open(statement, sp_arena_printf(arena, "the line may be about %s", subject));
        else if (!predicted) /* they may be packed, an adapter, or a part of the model, and buffers among them */
            leave_open(statement,
                       sp_arena_printf(arena,
                                       "the file stores %" PRIu64 " elements, which may not be those of the model",
                                       statement->counted));
    }
}

/* A string of these bytes on the heap. */
static char *copy_bytes(const char *bytes, size_t length)
{
    char *copy = sp_realloc(NULL, length + 1, 1);
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

/* What a block of code began with: "```" or "~~~", or more of the same; length 0 outside of one. */
struct fence {
    char mark;
    size_t length;
};

/* Whether the line is in a block of code, or begins or ends one. As in CommonMark, a block ends with at least as many
 * of the marks as it began with, and "```load()```" is a line of text. A fence may be indented by any number of blanks,
 * as it is in a list. */
static bool is_in_code(struct fence *fence, const char *text)
{
    text += strspn(text, " \t");
    const size_t length = strspn(text, *text == '~' ? "~" : "`");
    const char mark = *text, *rest = text + length;
    if (!fence->length) {
        if (length < 3 || (mark == '`' && strchr(rest, '`'))) return false;
        *fence = (struct fence){mark, length};
    } else if (mark == fence->mark && length >= fence->length && !rest[strspn(rest, " \t\r")]) fence->length = 0;
    return true;
}

void sp_read_statements(struct sp_arena *arena, const char *readme, size_t length, const struct sp_figure_parts *parts,
                        bool predicted, struct sp_readme_statements *statements)
{
    struct fence fence = {0};
    size_t number = 0;
    for (size_t begin = 0; begin < length; number++) {
        const char *end = memchr(readme + begin, '\n', length - begin);
        const size_t size = end ? (size_t)(end - readme) - begin : length - begin;
        char *text = copy_bytes(readme + begin, size), *lower = copy_bytes(readme + begin, size);
        for (char *c = lower; *c; c++)
            if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 'a' - 'A');
        if (!is_in_code(&fence, text))
            read_line(arena, &(struct line){text, lower, strlen(text)}, number + 1, parts, predicted, statements);
        sp_free(text);
        sp_free(lower);
        begin += size + 1;
    }
}
