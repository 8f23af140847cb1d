/* SPDX-License-Identifier: MIT
 * A configuration in JSON, a line "====", and tensors as lines: checked with a small table, and reported. */
#include "described.h"
#include "small_table.h"

#include "mutate_json.h"

/* Bytes: the longest seed has 4 KiB. MOST_TENSORS of a prediction fit into FUZZ_MEMORY_FLOOR, and so do the arrays that
 * double their size at 16,384 of them; of the default limit, 163,840 and more, a configuration of 72 bytes has 44 MB
 * made. */
enum { MAX_SIZE = 8192, MOST_TENSORS = 16000 };

static void check_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    const char *texts[2];
    size_t lengths[2];
    char *copy = fuzz_split(data, size, texts, lengths, 2);
    struct shapeproof_config *config = shapeproof_config_new();
    struct shapeproof_inventory *inventory = describe_lines(texts[1]);
    if (shapeproof_config_load_text(config, "config.json", texts[0], lengths[0], &error) != SHAPEPROOF_OK)
        fuzz_must_refuse(&error);
    else if (inventory) {
        const struct shapeproof_check_options options = {.table = "small"};
        struct shapeproof_check *check =
            shapeproof_check_new(inventory, fuzz_tables(add_small_table), config, &options, &error);
        fuzz_must_have(check, &error);
        if (check) fuzz_must(shapeproof_check_summary(check)[0]);
        if (check) shapeproof_free(shapeproof_report_check(check, NULL, NULL));
        shapeproof_check_free(check);
    }
    shapeproof_inventory_close(inventory);
    shapeproof_config_free(config);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_limit(&(struct shapeproof_limits){.tensors = MOST_TENSORS});
    fuzz_tables(add_small_table);
    if (size <= MAX_SIZE) fuzz_undone(check_input, data, size);
}

JSON_MUTATOR(JSON_TEXT(0))
