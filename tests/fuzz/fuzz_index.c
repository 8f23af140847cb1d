/* SPDX-License-Identifier: MIT
 * An index of shards, a line "====", and the headers of two safetensors files that it may name: the lengths before the
 * headers, and the data behind them, are made here. */
#include "folder.h"

#include "mutate_json.h"

enum { FILES = 3 };

static void fuzz_input(const unsigned char *data, size_t size)
{
    static const char *const names[FILES] = {"model.safetensors.index.json", "a.safetensors", "b.safetensors"};
    static int files[FILES];
    const char *texts[FILES];
    size_t lengths[FILES];
    char path[128];
    struct shapeproof_error error = {0};
    for (size_t i = 0; i < FILES && !files[i]; i++) files[i] = folder_file(names[i]);
    char *copy = fuzz_split(data, size, texts, lengths, FILES);
    folder_write(files[0], texts[0], lengths[0]);
    for (size_t i = 1; i < FILES; i++) folder_write_safetensors(files[i], texts[i], lengths[i]);
    snprintf(path, sizeof path, "%s%s", folder_path, names[0]);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    fuzz_must_have(inventory, &error);
    shapeproof_inventory_close(inventory);
    free(copy);
}

JSON_MUTATOR(JSON_EVERY_TEXT)
