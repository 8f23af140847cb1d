/* SPDX-License-Identifier: MIT
 * A README, a line "====", and tensors as lines: what the card says of them, and of the statements of the README, with
 * a prediction if the README begins with "---", as one with metadata does, and without one otherwise. */
#include "described.h"
#include "small_table.h"

#include "mutate_json.h"

enum { MAX_SIZE = 8192 };

static void must_judge(const struct shapeproof_statement *statement)
{
    fuzz_must(statement->line && strpbrk(statement->printed, "0123456789"));
    fuzz_must(statement->verdict == SHAPEPROOF_PROVED || statement->verdict == SHAPEPROOF_REFUTED ||
              statement->verdict == SHAPEPROOF_UNDECIDED);
    fuzz_must(statement->verdict != SHAPEPROOF_UNDECIDED || statement->why[0]);
    fuzz_must(statement->verdict != SHAPEPROOF_REFUTED || statement->right[0]);
}

static void make_card(const struct shapeproof_inventory *inventory, const struct shapeproof_prediction *prediction,
                      const char *readme, size_t length)
{
    struct shapeproof_card *card = shapeproof_card_new(inventory, prediction, readme, length);
    for (size_t i = 0; i < shapeproof_card_statement_count(card); i++) must_judge(shapeproof_card_statement(card, i));
    for (int format = SHAPEPROOF_REPORT_TEXT; format <= SHAPEPROOF_REPORT_MARKDOWN; format++) {
        const struct shapeproof_report_card_options how = {
            .report = {.format = (enum shapeproof_report_format)format}, .path = "input", .table = "small"};
        shapeproof_free(shapeproof_report_card(card, &how, NULL));
    }
    shapeproof_card_free(card);
}

static void read_card(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    const char *texts[2];
    size_t lengths[2];
    char *copy = fuzz_split(data, size, texts, lengths, 2);
    struct shapeproof_inventory *inventory = describe_lines(texts[1]);
    if (inventory && strncmp(texts[0], "---", 3) == 0) {
        struct shapeproof_config *config = shapeproof_config_new();
        const struct shapeproof_predict_options what = {.table = "small"};
        struct shapeproof_prediction *prediction =
            shapeproof_predict(fuzz_tables(add_small_table), config, &what, &error);
        fuzz_must(prediction != NULL);
        make_card(inventory, prediction, texts[0], lengths[0]);
        shapeproof_prediction_free(prediction);
        shapeproof_config_free(config);
    } else if (inventory) make_card(inventory, NULL, texts[0], lengths[0]);
    shapeproof_inventory_close(inventory);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_tables(add_small_table);
    if (size <= MAX_SIZE) fuzz_undone(read_card, data, size);
}

JSON_MUTATOR(0)
