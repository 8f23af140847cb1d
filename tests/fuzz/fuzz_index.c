/* SPDX-License-Identifier: MIT
 * An index of shards, a line "====", and the headers of two safetensors files that it may name: the lengths before the
 * headers, and holes behind them, are made here. */
#include "folder.h"

#include "mutate_json.h"

enum { FILES = 3, DATA_BYTES = 4096 };

static void write_shard(int fd, const char *header, size_t length)
{
    unsigned char *bytes = calloc(1, 8 + length);
    fuzz_must(bytes != NULL);
    for (size_t i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)length >> 8 * i);
    memcpy(bytes + 8, header, length);
    folder_write(fd, bytes, 8 + length);
    fuzz_must(!ftruncate(fd, (off_t)(8 + length + DATA_BYTES)));
    free(bytes);
}

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
    for (size_t i = 1; i < FILES; i++) write_shard(files[i], texts[i], lengths[i]);
    snprintf(path, sizeof path, "%s%s", folder_path, names[0]);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    fuzz_must_have(inventory, &error);
    shapeproof_inventory_close(inventory);
    free(copy);
}

JSON_MUTATOR(JSON_EVERY_TEXT)
