/* SPDX-License-Identifier: MIT
 * A page of several models: a table of all of them, then the report of each. It is made of parts, one for each model,
 * so that processes that check a list can each make theirs. A part is
 *
 *     RS command US name US verdict US class US findings US tensors US parameters US bytes US note US report US tensors
 *
 * where RS and US are the control characters, which no text of a page has: reports write them as escapes. What is in a
 * part is HTML already, or a number; the last two pieces are the sections of the page that the model has by itself, but
 * for the last </section>. A page has less than 2 MB: what there is no room for is left out, and the page says so. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "report/html/html.h"

static const char begin_of_part = '\x1e', end_of_piece = '\x1f';

enum piece {
    PIECE_COMMAND, /* "check"; "" when the model could not be read */
    PIECE_NAME,
    PIECE_VERDICT, /* a word */
    PIECE_CLASS,   /* "error", "warning", "good" or "" */
    PIECE_FINDINGS,
    PIECE_TENSORS,
    PIECE_PARAMETERS,
    PIECE_BYTES,
    PIECE_NOTE,         /* causes, and the like; or why there is no report */
    PIECE_REPORT,       /* the sections in front of the tensors */
    PIECE_TENSOR_TABLE, /* the section of the tensors, or "" */
    PIECES
};

/* ---- writing a part ---- */

void sp_html_next_piece(struct sp_text *html) { sp_text_append(html, &end_of_piece, 1); }

static void put_number_piece(struct sp_text *html, uint64_t number)
{
    sp_text_number(html, number);
    sp_html_next_piece(html);
}

/* Everything up to the report. */
static void put_overview_pieces(struct sp_text *html, const struct sp_html_title *title)
{
    const struct shapeproof_totals *totals = title->totals;
    sp_text_append(html, &begin_of_part, 1);
    sp_text_puts(html, title->command);
    sp_html_next_piece(html);
    sp_html_text(html, title->subject);
    sp_html_next_piece(html);
    sp_text_puts(html, title->verdict ? title->verdict : "");
    sp_html_next_piece(html);
    sp_text_puts(html, title->verdict ? sp_html_class_of_color(title->color) : "");
    sp_html_next_piece(html);
    if (title->findings) sp_text_number(html, *title->findings);
    sp_html_next_piece(html);
    if (totals) {
        put_number_piece(html, totals->tensors);
        put_number_piece(html, totals->unique_parameters);
        put_number_piece(html, totals->bytes);
    } else
        for (int i = 0; i < 3; i++) sp_html_next_piece(html);
    sp_html_text(html, title->note ? title->note : "");
    sp_html_next_piece(html);
}

void sp_html_begin_part(struct sp_text *html, const struct sp_html_title *title)
{
    put_overview_pieces(html, title);
    sp_html_verdict(html, title);
    sp_text_puts(html, "<section>\n");
}

void sp_html_failed_part(struct sp_text *html, const char *path, const char *word, const char *message,
                         const char *hint)
{
    struct sp_text line = {0}; /* a table's mistake shows it in more lines */
    sp_text_append(&line, message, sp_first_line(message));
    sp_html_begin_part(html, &(struct sp_html_title){.command = "",
                                                     .subject = path,
                                                     .verdict = word,
                                                     .color = SP_COLOR_RED,
                                                     .line = line.length ? line.data : "",
                                                     .note = line.length ? line.data : ""});
    sp_text_free(&line);
    if (hint && *hint) {
        sp_text_puts(html, "<p class=\"hint\">");
        sp_html_text(html, hint);
        sp_text_puts(html, "</p>\n");
    }
    sp_html_next_piece(html);
}

/* ---- reading parts ---- */

struct piece_text {
    const char *text; /* borrowed, not terminated */
    size_t length;
};

struct model {
    struct piece_text pieces[PIECES];
    bool has_row, has_report, has_tensors; /* on the page */
};

struct models {
    struct model *items;
    size_t count, capacity;
};

/* Adds the models of a part, or of several in a row. */
static void add_models(struct models *models, const char *parts)
{
    while (*parts == begin_of_part) {
        struct model model = {.has_row = false};
        parts++;
        for (int piece = 0; piece < PIECES; piece++) {
            const size_t length = strcspn(parts, "\x1e\x1f");
            model.pieces[piece] = (struct piece_text){parts, length};
            parts += length;
            if (*parts == end_of_piece) parts++;
        }
        *SP_PUSH(models) = model;
    }
}

static void put_piece(struct sp_text *html, const struct model *model, enum piece piece)
{
    sp_text_append(html, model->pieces[piece].text, model->pieces[piece].length);
}

static bool are_equal(struct piece_text a, struct piece_text b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool is_text(struct piece_text piece, const char *text)
{
    return are_equal(piece, (struct piece_text){text, strlen(text)});
}

/* The number that a piece is; 0 for none. */
static uint64_t number_in(const struct model *model, enum piece piece)
{
    return model->pieces[piece].length ? strtoull(model->pieces[piece].text, NULL, 10) : 0;
}

/* The command of the models that were read, or "". */
static struct piece_text command_of(const struct models *models)
{
    for (size_t i = 0; i < models->count; i++)
        if (models->items[i].pieces[PIECE_COMMAND].length) return models->items[i].pieces[PIECE_COMMAND];
    return (struct piece_text){"", 0};
}

/* ---- what the page has room for ---- */

/* 0 for what a reader must see first. */
static int urgency_of(const struct model *model)
{
    const struct piece_text class = model->pieces[PIECE_CLASS];
    return is_text(class, "error") ? 0 : is_text(class, "warning") ? 1 : 2;
}

static int by_urgency(const void *left, const void *right)
{
    const struct model *a = *(struct model *const *)left, *b = *(struct model *const *)right;
    const int first = urgency_of(a), second = urgency_of(b);
    if (first != second) return first - second;
    return a < b ? -1 : a > b;
}

/* Takes rows, then reports, then tensors; each of the models that fail first, and otherwise in the order of the list. A
 * model whose report is too large does not keep out those behind it. */
static void choose_pieces(struct models *models)
{
    /* bytes; head, style, script and headings take the rest of the 2 MB */
    enum { MOST = 1900 * 1000, MOST_OF_ROWS = 400 * 1000, MOST_ROWS = 2000, TAGS_OF_ROW = 400, TAGS_OF_MODEL = 300 };
    struct model **sorted = sp_realloc(NULL, models->count + 1, sizeof *sorted);
    size_t size = 0, rows = 0;
    for (size_t i = 0; i < models->count; i++) sorted[i] = &models->items[i];
    qsort(sorted, models->count, sizeof *sorted, by_urgency);
    for (; rows < models->count && rows < MOST_ROWS; rows++) {
        const struct piece_text *pieces = sorted[rows]->pieces;
        const size_t more = pieces[PIECE_NAME].length + pieces[PIECE_NOTE].length + TAGS_OF_ROW;
        if (size + more > MOST_OF_ROWS) break;
        size += more;
        sorted[rows]->has_row = true;
    }
    for (size_t i = 0; i < rows; i++) {
        const struct piece_text *pieces = sorted[i]->pieces;
        const size_t more = pieces[PIECE_NAME].length + pieces[PIECE_REPORT].length + TAGS_OF_MODEL;
        sorted[i]->has_report = size + more <= MOST;
        if (sorted[i]->has_report) size += more;
    }
    for (size_t i = 0; i < rows; i++) {
        const size_t more = sorted[i]->pieces[PIECE_TENSOR_TABLE].length;
        sorted[i]->has_tensors = sorted[i]->has_report && size + more <= MOST;
        if (sorted[i]->has_tensors) size += more;
    }
    sp_free(sorted);
}

/* ---- the table of all models ---- */

static const struct {
    enum piece piece;
    const char *heading; /* NULL: that of the note depends on the command */
    bool is_number;
} overview[] = {
    {PIECE_VERDICT, "verdict", false},      {PIECE_FINDINGS, "findings", true}, {PIECE_TENSORS, "tensors", true},
    {PIECE_PARAMETERS, "parameters", true}, {PIECE_BYTES, "bytes", true},       {PIECE_NOTE, NULL, false},
};
enum { OVERVIEW_COLUMNS = sizeof overview / sizeof *overview };

static const char *heading_of_note(struct piece_text command)
{
    return is_text(command, "check") ? "causes" : is_text(command, "prove") ? "claims" : "format";
}

static void put_overview_cell(struct sp_text *html, const struct model *model, size_t column)
{
    const enum piece piece = overview[column].piece;
    sp_text_puts(html, "<td");
    if (overview[column].is_number) sp_text_puts(html, " class=\"number\"");
    else if (piece == PIECE_VERDICT && model->pieces[PIECE_CLASS].length) {
        sp_text_puts(html, " class=\"");
        put_piece(html, model, PIECE_CLASS);
        sp_text_puts(html, "\"");
    }
    sp_text_puts(html, ">");
    const bool is_number = overview[column].is_number && model->pieces[piece].length;
    if (is_number && piece == PIECE_BYTES) sp_put_bytes(html, number_in(model, piece));
    else if (is_number) sp_text_grouped(html, number_in(model, piece));
    else put_piece(html, model, piece);
    sp_text_puts(html, "</td>");
}

/* Sums of many checkpoints may be too large where none of them is. */
static uint64_t sum_of(const struct models *models, enum piece piece)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < models->count; i++) sum = sp_add_saturated(sum, number_in(&models->items[i], piece));
    return sum;
}

static void put_sums(struct sp_text *html, const struct models *models, const bool *shown)
{
    sp_text_puts(html, "<tfoot><tr><th scope=\"row\">together</th>");
    for (size_t column = 0; column < OVERVIEW_COLUMNS; column++) {
        if (!shown[column]) continue;
        sp_text_puts(html, overview[column].is_number ? "<td class=\"number\">" : "<td>");
        const uint64_t sum = overview[column].is_number ? sum_of(models, overview[column].piece) : 0;
        if (overview[column].piece == PIECE_BYTES) sp_put_bytes(html, sum);
        else if (overview[column].is_number) sp_text_grouped(html, sum);
        sp_text_puts(html, "</td>");
    }
    sp_text_puts(html, "</tr></tfoot>\n");
}

static void put_overview(struct sp_text *html, const struct models *models)
{
    bool shown[OVERVIEW_COLUMNS] = {false};
    size_t rows = 0;
    for (size_t i = 0; i < models->count; i++)
        for (size_t column = 0; column < OVERVIEW_COLUMNS; column++)
            shown[column] |= models->items[i].pieces[overview[column].piece].length > 0;
    sp_text_puts(html, "<div class=\"wide\"><table id=\"models\">\n<thead><tr><th scope=\"col\">model</th>");
    for (size_t column = 0; column < OVERVIEW_COLUMNS; column++)
        if (shown[column])
            sp_text_printf(html, "<th scope=\"col\"%s>%s</th>", overview[column].is_number ? " class=\"number\"" : "",
                           overview[column].heading ? overview[column].heading : heading_of_note(command_of(models)));
    sp_text_puts(html, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < models->count; i++) {
        const struct model *model = &models->items[i];
        if (!model->has_row) continue;
        rows++;
        sp_text_puts(html, "<tr><th scope=\"row\">");
        if (model->has_report) sp_text_printf(html, "<a href=\"#model-%zu\">", i + 1);
        put_piece(html, model, PIECE_NAME);
        sp_text_puts(html, model->has_report ? "</a></th>" : "</th>");
        for (size_t column = 0; column < OVERVIEW_COLUMNS; column++)
            if (shown[column]) put_overview_cell(html, model, column);
        sp_text_puts(html, "</tr>\n");
    }
    sp_text_puts(html, "</tbody>\n");
    if (models->count > 1) put_sums(html, models, shown);
    sp_text_puts(html, "</table></div>\n");
    if (rows == models->count) return;
    sp_text_puts(html, "<p>... and ");
    sp_put_count(html, models->count - rows, "more model", "more models");
    sp_text_puts(html, ". <code>--format json</code> has all of them.</p>\n");
}

/* How many models have no report, or a report without tensors, on the page. */
static void put_left_out(struct sp_text *html, const struct models *models)
{
    size_t reports = 0, tensors = 0;
    for (size_t i = 0; i < models->count; i++) {
        const struct model *model = &models->items[i];
        if (!model->has_report) reports++;
        else if (!model->has_tensors && model->pieces[PIECE_TENSOR_TABLE].length) tensors++;
    }
    if (!reports && !tensors) return;
    sp_text_puts(html, "<p>To keep the page small, it leaves out ");
    if (reports) {
        sp_text_puts(html, "the reports of ");
        sp_put_count(html, reports, "model", "models");
    }
    if (reports && tensors) sp_text_puts(html, ", and ");
    if (tensors) {
        sp_text_puts(html, "the tensors of ");
        sp_put_count(html, tensors, "model", "models");
    }
    sp_text_puts(html, ". The page of one model alone has them.</p>\n");
}

/* ---- the models ---- */

/* The headings of a model are one level lower than on a page of its own. No text from outside has a "<h2>". */
static void put_lowered(struct sp_text *html, struct piece_text piece)
{
    static const char opening[] = "<h2>", closing[] = "</h2>";
    const char *text = piece.text, *end = text + piece.length;
    while (text < end) {
        const char *tag = memchr(text, '<', (size_t)(end - text));
        if (!tag) tag = end;
        sp_text_append(html, text, (size_t)(tag - text));
        text = tag;
        const size_t rest = (size_t)(end - text);
        if (rest >= sizeof opening - 1 && memcmp(text, opening, sizeof opening - 1) == 0) {
            sp_text_puts(html, "<h3>");
            text += sizeof opening - 1;
        } else if (rest >= sizeof closing - 1 && memcmp(text, closing, sizeof closing - 1) == 0) {
            sp_text_puts(html, "</h3>");
            text += sizeof closing - 1;
        } else if (rest) sp_text_append(html, text++, 1);
    }
}

static void put_model(struct sp_text *html, const struct model *model, size_t number)
{
    sp_text_printf(html, "<article class=\"model\" id=\"model-%zu\">\n<h2>", number);
    put_piece(html, model, PIECE_NAME);
    sp_text_puts(html, "</h2>\n");
    put_lowered(html, model->pieces[PIECE_REPORT]);
    if (model->has_tensors) put_lowered(html, model->pieces[PIECE_TENSOR_TABLE]);
    else if (model->pieces[PIECE_TENSOR_TABLE].length)
        sp_text_puts(html, "<p>To keep the page small, its tensors are left out.</p>\n");
    sp_text_puts(html, "</section>\n<p><a href=\"#models\">all models</a></p>\n</article>\n");
}

/* "match: 9, differs: 2", in the order in which the words first occur. */
static void put_verdict_counts(struct sp_text *html, const struct models *models)
{
    enum { MOST_WORDS = 24 }; /* verdicts, answers and kinds of errors: there are fewer of each */
    struct {
        struct piece_text word;
        size_t count;
    } words[MOST_WORDS];
    size_t count = 0;
    for (size_t i = 0; i < models->count; i++) {
        const struct piece_text word = models->items[i].pieces[PIECE_VERDICT];
        size_t k = 0;
        while (k < count && !are_equal(words[k].word, word)) k++;
        if (k == MOST_WORDS || !word.length) continue;
        if (k == count) words[count++].word = word, words[k].count = 0;
        words[k].count++;
    }
    if (!count) return;
    sp_text_puts(html, "<p>");
    for (size_t i = 0; i < count; i++) {
        if (i) sp_text_puts(html, ", ");
        sp_text_append(html, words[i].word.text, words[i].word.length);
        sp_text_printf(html, ": %zu", words[i].count);
    }
    sp_text_puts(html, "</p>\n");
}

void sp_html_several(struct sp_text *html, const char *const *parts, size_t count)
{
    struct models models = {.count = 0};
    struct sp_text command = {0}, subject = {0};
    for (size_t i = 0; i < count; i++) add_models(&models, parts[i]);
    choose_pieces(&models);
    sp_text_append(&command, command_of(&models).text, command_of(&models).length);
    sp_put_count(&subject, models.count, "model", "models");
    sp_html_begin(html,
                  &(struct sp_html_title){.command = command.length ? command.data : "", .subject = subject.data});
    put_verdict_counts(html, &models);
    put_overview(html, &models);
    put_left_out(html, &models);
    sp_text_puts(html, "</section>\n");
    for (size_t i = 0; i < models.count; i++)
        if (models.items[i].has_report) put_model(html, &models.items[i], i + 1);
    sp_text_puts(html, "<section>\n");
    sp_html_end(html);
    sp_text_free(&command);
    sp_text_free(&subject);
    sp_free(models.items);
}
