/* SPDX-License-Identifier: MIT
 * A table, a line "====", and a configuration in JSON: what the table predicts, as `predict` prints it. */
#include "input_tables.h"
#include "mutate_json.h"

/* Bytes: the longest seed is 7 KiB. A predicted tensor takes some 700 bytes with its line of the report; MOST_TENSORS
 * of them fit into FUZZ_MEMORY_FLOOR. The default limit of steps takes ten seconds under sanitizers; what exceeds a
 * smaller one does so at the same places. */
enum { MAX_SIZE = 8192, MOST_TENSORS = 20000, MOST_STEPS = 4 * 1000 * 1000 };

/* The tables that the seeds extend. */
static void parse_parents(struct shapeproof_tables *tables)
{
    parse_builtin(tables, "transformers_decoder");
    parse_builtin(tables, "backbone");
}

static void predict_all(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    const char *texts[2], *name;
    size_t lengths[2];
    char *copy = fuzz_split(data, size, texts, lengths, 2);
    struct shapeproof_tables *tables = fuzz_tables(parse_parents);
    struct shapeproof_config *config = shapeproof_config_new();
    if (shapeproof_tables_add_text(tables, "input.shapes", texts[0], lengths[0], &error) == SHAPEPROOF_OK &&
        shapeproof_config_load_text(config, "input.json", texts[1], lengths[1], &error) == SHAPEPROOF_OK)
        for (size_t place = 0; (name = next_input_table(tables, &place));) {
            const struct shapeproof_predict_options options = {.table = name, .most_tensors = MOST_TENSORS};
            struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, &options, &error);
            fuzz_must_have(prediction, &error);
            if (prediction) shapeproof_free(shapeproof_report_predict(prediction, NULL, NULL));
            shapeproof_prediction_free(prediction);
        }
    else fuzz_must_refuse(&error);
    shapeproof_config_free(config);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_tables(parse_parents);
    fuzz_limit(&(struct shapeproof_limits){.steps = MOST_STEPS});
    if (size <= MAX_SIZE && memmem(data, size, "table ", 6)) fuzz_undone(predict_all, data, size);
}

JSON_MUTATOR(JSON_TEXT(1))
