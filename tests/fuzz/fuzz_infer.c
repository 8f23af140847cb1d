/* SPDX-License-Identifier: MIT
 * Tensors as lines: which hyper-parameters of a small table they are evidence for. The search among all built-in tables
 * takes a second. What is inferred can be written and read as a configuration. */
#include "described.h"
#include "small_table.h"

enum { MAX_SIZE = 512 }; /* bytes: some 40 tensors, of which the table has 8 */

static void infer_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    const char *text;
    size_t length;
    char *copy = fuzz_split(data, size, &text, &length, 1);
    struct shapeproof_inventory *inventory = describe_lines(text);
    const struct shapeproof_infer_options options = {.table = "small"};
    struct shapeproof_inference *inference =
        inventory ? shapeproof_infer(inventory, fuzz_tables(add_small_table), &options, &error) : NULL;
    if (inventory) fuzz_must_have(inference, &error);
    if (inference) {
        struct shapeproof_config *config = shapeproof_config_new();
        const char *json = shapeproof_inference_config(inference);
        fuzz_must(shapeproof_config_load_text(config, "config.json", json, strlen(json), &error) == SHAPEPROOF_OK);
        shapeproof_config_free(config);
        shapeproof_free(shapeproof_report_infer(inference, NULL, NULL));
    }
    shapeproof_inference_free(inference);
    shapeproof_inventory_close(inventory);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_tables(add_small_table);
    if (size <= MAX_SIZE) fuzz_undone(infer_input, data, size);
}
