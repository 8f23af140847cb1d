/* SPDX-License-Identifier: MIT
 * Claims against a checkpoint as HTML: what holds, then what the formulas are about. */
#include "report/verify.h"
#include "report/html/html.h"

/* The answer to all claims; none where only groups are shown. */
static void begin_page(const struct shapeproof_verification *verification, struct sp_text *html,
                       const struct shapeproof_report_verify_options *options, bool is_part)
{
    static const enum sp_color colors[] = {SP_COLOR_GREEN, SP_COLOR_RED, SP_COLOR_YELLOW, SP_COLOR_YELLOW};
    const enum shapeproof_claim_answer answer = shapeproof_verification_answer(verification);
    const struct shapeproof_prediction *prediction = shapeproof_verification_prediction(verification);
    const struct shapeproof_inventory *inventory = shapeproof_verification_inventory(verification);
    struct sp_text line = {0};
    sp_text_puts(&line, "");
    sp_put_claim_totals(verification, &line);
    while (line.length && line.data[line.length - 1] == '\n') line.data[--line.length] = '\0';
    const struct sp_html_title title = {.command = options->groups ? "inspect --by group" : "prove",
                                        .subject = options->path ? options->path
                                                   : prediction  ? shapeproof_prediction_table(prediction)
                                                                 : "",
                                        .verdict = options->groups ? NULL : shapeproof_claim_answer_name(answer),
                                        .color = colors[answer],
                                        .line = line.data,
                                        .totals = inventory ? shapeproof_inventory_totals(inventory) : NULL,
                                        .note = options->groups ? NULL : line.data};
    (is_part ? sp_html_begin_part : sp_html_begin)(html, &title);
    sp_text_free(&line);
}

/* Table, what was inferred, and what letters stand for. */
static void put_subject(const struct shapeproof_verification *verification, struct sp_text *html,
                        const struct shapeproof_report_verify_options *options)
{
    static const struct sp_column columns[] = {{NULL, SP_LEFT}, {NULL, SP_LEFT}};
    const struct shapeproof_prediction *prediction = shapeproof_verification_prediction(verification);
    const struct shapeproof_inventory *inventory = shapeproof_verification_inventory(verification);
    const size_t guessed = options->inference ? shapeproof_inference_undetermined_count(options->inference) : 0;
    struct sp_table table = {.columns = columns, .column_count = 2};
    if (prediction) {
        sp_text_puts(sp_table_cell(&table), "table");
        sp_put_visible(sp_table_cell(&table), shapeproof_prediction_table(prediction));
    }
    if (inventory) {
        sp_text_puts(sp_table_cell(&table), "checkpoint");
        struct sp_text *cell = sp_table_cell(&table);
        sp_put_count(cell, shapeproof_inventory_totals(inventory)->tensors, "tensor", "tensors");
        sp_text_puts(cell, ", ");
        sp_put_count(cell, shapeproof_inventory_totals(inventory)->unique_parameters, "parameter", "parameters");
    }
    if (options->letters) {
        sp_text_puts(sp_table_cell(&table), "in the claims");
        sp_put_visible(sp_table_cell(&table), options->letters);
    }
    if (guessed) {
        sp_text_puts(sp_table_cell(&table), "guessed");
        struct sp_text *cell = sp_table_cell(&table);
        for (size_t i = 0; i < guessed; i++) {
            if (i) sp_text_puts(cell, ", ");
            sp_put_visible(cell, shapeproof_inference_undetermined(options->inference, i));
        }
    }
    sp_html_table(&table, html);
}

void sp_html_verify(const struct shapeproof_verification *verification, struct sp_text *html,
                    const struct shapeproof_report_verify_options *options, bool is_part)
{
    const struct shapeproof_prediction *prediction = shapeproof_verification_prediction(verification);
    begin_page(verification, html, options, is_part);
    put_subject(verification, html, options);
    if (!options->groups) sp_html_claims(html, verification, options->report.all);
    sp_html_groups(html, verification);
    if (prediction) sp_html_hyperparameters(html, prediction);
    if (is_part) sp_html_next_piece(html);
    else sp_html_end(html);
}
