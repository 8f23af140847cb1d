/* SPDX-License-Identifier: MIT
 * Examples of one architecture, each a configuration in JSON and tensors as lines, with lines "====" between them: the
 * table that explains them can be read. */
#define FUZZ_MEMORY_FLOOR ((size_t)128 << 20) /* the search keeps MOST_VALUES values, each for all examples */
#include "described.h"
#include "small_table.h"

#include "mutate_json.h"

enum { MAX_SIZE = 4096, EXAMPLES = 2, MOST_VALUES = 20 * 1000 };

static bool read_example(struct shapeproof_learn_example *example, const char *json, size_t length, const char *lines)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    example->config = config;
    example->inventory = describe_lines(lines);
    const bool loaded = shapeproof_config_load_text(config, "config.json", json, length, &error) == SHAPEPROOF_OK;
    if (!loaded) fuzz_must_refuse(&error);
    return loaded && example->inventory;
}

static void learn_from(const struct shapeproof_learn_example *examples, size_t count)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_learn_options options = {.name = "input", .most_values = MOST_VALUES};
    struct shapeproof_learning *learning =
        shapeproof_learn(examples, count, fuzz_tables(add_small_table), &options, &error);
    fuzz_must_have(learning, &error);
    if (learning && shapeproof_learning_is_proved(learning) && !shapeproof_learning_known(learning)) {
        const char *text = shapeproof_learning_text(learning);
        struct shapeproof_tables *tables = fuzz_tables(add_small_table);
        fuzz_must(shapeproof_tables_add_text(tables, "input.shapes", text, strlen(text), &error) == SHAPEPROOF_OK);
    }
    if (learning) shapeproof_free(shapeproof_report_learn(learning, NULL, NULL));
    shapeproof_learning_free(learning);
}

static void learn_input(const unsigned char *data, size_t size)
{
    struct shapeproof_learn_example examples[EXAMPLES] = {{NULL, NULL}};
    const char *texts[2 * EXAMPLES];
    size_t lengths[2 * EXAMPLES], count = 0;
    char *copy = fuzz_split(data, size, texts, lengths, 2 * EXAMPLES);
    for (size_t i = 0; i < EXAMPLES && texts[2 * i][0]; i++) {
        const bool ok = read_example(&examples[i], texts[2 * i], lengths[2 * i], texts[2 * i + 1]);
        if (!ok) break;
        count++;
    }
    if (count) learn_from(examples, count);
    for (size_t i = 0; i < EXAMPLES; i++) {
        shapeproof_inventory_close((struct shapeproof_inventory *)examples[i].inventory);
        shapeproof_config_free((struct shapeproof_config *)examples[i].config);
    }
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_tables(add_small_table);
    if (size <= MAX_SIZE) fuzz_undone(learn_input, data, size);
}

JSON_MUTATOR(JSON_TEXT(0) | JSON_TEXT(2))
