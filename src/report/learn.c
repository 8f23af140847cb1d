/* SPDX-License-Identifier: MIT
 * What came of learning: how much of the examples the table is, what is left, and what they do not decide. The text
 * goes beside the table, which is a text of its own; JSON holds both. */
#include <string.h>

#include "base/call.h"
#include "base/json_write.h"
#include "report/common.h"
#include "shapeproof/report.h"

/* ---- JSON: shapeproof.learn/1 ---- */

static void json_rest(struct sp_writer *json, const struct shapeproof_learning *learning)
{
    sp_write_key_open(json, "rest", '[');
    for (size_t i = 0; i < shapeproof_learning_rest_count(learning); i++)
        sp_write_string(json, shapeproof_learning_rest(learning, i));
    sp_write_close(json);
}

/* "dimension" of a place is left out where it is no dimension that is undecided, but whether there are such tensors. */
static void json_doubt(struct sp_writer *json, const struct shapeproof_learning *learning, size_t index)
{
    const struct shapeproof_undecided *undecided = shapeproof_learning_undecided(learning, index);
    sp_write_open(json, '{');
    sp_write_key_string(json, "chosen", undecided->chosen);
    sp_write_key_filled(json, "alternatives", undecided->alternatives);
    sp_write_key_string(json, "experiment", undecided->experiment);
    sp_write_key_open(json, "places", '[');
    for (size_t i = 0; i < undecided->places; i++) {
        const struct shapeproof_undecided_place *place = shapeproof_learning_undecided_place(learning, index, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "row", place->row);
        if (place->dimension >= 0) sp_write_key_number(json, "dimension", (uint64_t)place->dimension);
        sp_write_close(json);
    }
    sp_write_close(json);
    sp_write_close(json);
}

/* The document of `learn --json`. */
static void learn_json(const struct shapeproof_learning *learning, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.learn/1");
    sp_write_key_string(&json, "table", shapeproof_learning_name(learning));
    sp_write_key_bool(&json, "proved", shapeproof_learning_is_proved(learning));
    sp_write_key_number(&json, "checkpoints", shapeproof_learning_examples(learning));
    sp_write_key_number(&json, "tensors", shapeproof_learning_tensors(learning));
    sp_write_key_number(&json, "explained", shapeproof_learning_explained(learning));
    sp_write_key_optional(&json, "extends", shapeproof_learning_base(learning));
    sp_write_key_optional(&json, "known", shapeproof_learning_known(learning));
    json_rest(&json, learning);
    sp_write_key_open(&json, "undecided", '[');
    for (size_t i = 0; i < shapeproof_learning_undecided_count(learning); i++) json_doubt(&json, learning, i);
    sp_write_close(&json);
    sp_write_key_filled(&json, "unvaried", shapeproof_learning_unvaried(learning));
    sp_write_key_string(&json, "text", shapeproof_learning_text(learning));
    sp_write_close(&json);
}

/* ---- text ---- */

enum { SHOWN = 12, SHOWN_ROWS = 3 };

/* The first lines: how much of the examples the table is, and what it has to do with those that were there. */
static void put_outcome(const struct shapeproof_learning *learning, struct sp_text *text)
{
    sp_put_visible(text, shapeproof_learning_name(learning));
    if (shapeproof_learning_is_proved(learning))
        sp_text_printf(text, ": explains all %zu tensors of ", shapeproof_learning_tensors(learning));
    else sp_text_puts(text, ": does not explain the ");
    sp_put_count(text, shapeproof_learning_examples(learning), "checkpoint", "checkpoints");
    sp_text_puts(text, "\n");
    if (shapeproof_learning_known(learning))
        sp_text_printf(text, "  the table %s already predicts all of them\n", shapeproof_learning_known(learning));
    if (shapeproof_learning_base(learning))
        sp_text_printf(text, "  it extends the table %s, which predicts most of them\n",
                       shapeproof_learning_base(learning));
}

static void put_rest(const struct shapeproof_learning *learning, struct sp_text *text, size_t most)
{
    const size_t count = shapeproof_learning_rest_count(learning);
    for (size_t i = 0; i < count && i < most; i++) {
        sp_text_puts(text, "  not explained: ");
        sp_put_visible(text, shapeproof_learning_rest(learning, i));
        sp_text_puts(text, "\n");
    }
    if (count > most) sp_text_printf(text, "  and %zu more; --all lists them\n", count - most);
}

/* in h.{}.up.weight, h.{}.down.weight and 2 more */
static void put_places(const struct shapeproof_learning *learning, size_t doubt, struct sp_text *text, size_t most)
{
    const size_t count = shapeproof_learning_undecided(learning, doubt)->places;
    const char *before = NULL;
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        const char *row = shapeproof_learning_undecided_place(learning, doubt, i)->row;
        if (before && strcmp(row, before) == 0) continue;
        before = row;
        if (rows++ >= most) continue;
        sp_text_puts(text, rows > 1 ? ", " : "    in ");
        sp_put_visible(text, row);
    }
    if (rows > most) sp_text_printf(text, " and %zu more", rows - most);
    sp_text_puts(text, "\n");
}

static void put_doubt(const struct shapeproof_learning *learning, size_t index, struct sp_text *text, size_t most_rows)
{
    const struct shapeproof_undecided undecided = *shapeproof_learning_undecided(learning, index);
    sp_text_puts(text, "  undecided: ");
    sp_put_visible(text, undecided.chosen);
    if (*undecided.alternatives) sp_text_puts(text, " or ");
    sp_put_visible(text, undecided.alternatives);
    sp_text_puts(text, "\n");
    put_places(learning, index, text, most_rows);
    sp_text_puts(text, "    decided by ");
    sp_put_visible(text, undecided.experiment);
    sp_text_puts(text, "\n");
}

static void put_undecided(const struct shapeproof_learning *learning, struct sp_text *text,
                          const struct shapeproof_report_options *options)
{
    const size_t count = shapeproof_learning_undecided_count(learning), most = options->all ? SIZE_MAX : SHOWN;
    for (size_t i = 0; i < count && i < most; i++) put_doubt(learning, i, text, options->all ? SIZE_MAX : SHOWN_ROWS);
    if (count > most) sp_text_printf(text, "  and %zu more, in the table\n", count - most);
    if (!*shapeproof_learning_unvaried(learning)) return;
    sp_text_puts(text, "  keys of unknown effect, which are the same in all examples, or have no effect in them: ");
    sp_put_visible(text, shapeproof_learning_unvaried(learning));
    sp_text_puts(text, "\n");
}

char *shapeproof_report_learn(const struct shapeproof_learning *learning,
                              const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) {
        learn_json(learning, &text);
        return sp_text_take(&text, length);
    }
    put_outcome(learning, &text);
    put_rest(learning, &text, options->all ? SIZE_MAX : SHOWN);
    if (shapeproof_learning_is_proved(learning) || options->all) put_undecided(learning, &text, options);
    return sp_text_take(&text, length);
}
