/* SPDX-License-Identifier: MIT
 * The bytes as what stands behind the magic number of a GGUF file, in each version and in both byte orders, so that no
 * input is spent on finding the reader. A fixture is taken without its own first eight bytes. */
#include "fuzz.h"

#include "mutate_gguf.h"

static void open_as(const char *head, unsigned char *file, size_t size)
{
    memcpy(file, head, 8);
    struct shapeproof_inventory *inventory = fuzz_open(file, size);
    if (inventory) fuzz_must(strcmp(shapeproof_inventory_format(inventory), "gguf") == 0);
    shapeproof_inventory_close(inventory);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    static const char *const heads[] = {"GGUF\1\0\0\0", "GGUF\3\0\0\0", "GGUF\0\0\0\3"};
    if (size >= 8 && memcmp(data, "GGUF", 4) == 0) data += 8, size -= 8;
    unsigned char *file = malloc(8 + size);
    fuzz_must(file != NULL);
    if (size) memcpy(file + 8, data, size);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) open_as(heads[i], file, 8 + size);
    free(file);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    uint64_t state = seed;
    return gguf_mutate(data, size, most, &state);
}
