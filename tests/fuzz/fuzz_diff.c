/* SPDX-License-Identifier: MIT
 * Two checkpoints with a line "====" between them, data and all. One that begins with '{' is the header of a
 * safetensors file, whose length and data, all zeros, are made here; another one is a whole file. What is found does
 * not depend on which of them is the first. A checkpoint without another is compared with itself, and has no
 * difference.
 */
#define FUZZ_MEMORY_FLOOR FUZZ_MEMORY_INFLATED
#include "folder.h"

#include "mutate_folder.h"

enum { MAX_SIZE = 4096 };

/* Data that cannot be read are no difference. */
static void must_be_same(const struct shapeproof_diff *diff)
{
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++)
        fuzz_must(strcmp(shapeproof_diff_finding(diff, i)->id, "not-compared") == 0);
}

/* NULL after a refusal: of the data that a file should have, and has not. */
static struct shapeproof_diff *compare(const struct shapeproof_inventory *a, const struct shapeproof_inventory *b)
{
    struct shapeproof_error error = {0};
    struct shapeproof_diff *diff = shapeproof_diff_new(a, b, &(struct shapeproof_diff_options){.data = true}, &error);
    if (!diff) fuzz_must(error.status == SHAPEPROOF_ERR_FILE);
    fuzz_must_have(diff, &error);
    if (!diff) return NULL;
    fuzz_must(shapeproof_diff_summary(diff)[0]);
    shapeproof_free(shapeproof_report_diff(diff, NULL, NULL));
    return diff;
}

static void compare_with_itself(const struct shapeproof_inventory *inventory)
{
    struct shapeproof_diff *diff = compare(inventory, inventory);
    if (diff) must_be_same(diff);
    shapeproof_diff_free(diff);
}

static void compare_both_ways(const struct shapeproof_inventory *a, const struct shapeproof_inventory *b)
{
    struct shapeproof_diff *there = compare(a, b), *back = compare(b, a);
    fuzz_must((there != NULL) == (back != NULL));
    if (there) fuzz_must(shapeproof_diff_is_same(there) == shapeproof_diff_is_same(back));
    shapeproof_diff_free(there);
    shapeproof_diff_free(back);
}

static struct shapeproof_inventory *open_text(int fd, const char *text, size_t length)
{
    char path[32];
    struct shapeproof_error error = {0};
    if (*text == '{') folder_write_safetensors(fd, text, length);
    else folder_write(fd, text, length);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    fuzz_must_have(inventory, &error);
    return inventory;
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    static int files[2];
    struct shapeproof_inventory *inventories[2] = {NULL};
    const char *texts[2];
    size_t lengths[2];
    if (size > MAX_SIZE || fuzz_is_hdf5(data, size)) return;
    char *copy = fuzz_split(data, size, texts, lengths, 2);
    for (size_t i = 0; i < 2; i++) {
        if (!files[i]) files[i] = memfd_create("input", MFD_CLOEXEC);
        fuzz_must(files[i] >= 0);
        if (lengths[i]) inventories[i] = open_text(files[i], texts[i], lengths[i]);
    }
    if (inventories[0] && inventories[1]) compare_both_ways(inventories[0], inventories[1]);
    else if (inventories[0]) compare_with_itself(inventories[0]);
    for (size_t i = 0; i < 2; i++) shapeproof_inventory_close(inventories[i]);
    free(copy);
}

/* An input of one checkpoint becomes two of them, and one of two checkpoints changes: so the other is what it was made
 * of. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    static const char line[] = "\n====\n";
    const size_t separator = sizeof line - 1;
    uint64_t state = seed;
    uint8_t *found = memmem(data, size, line, separator);
    if (!found && 2 * size + separator <= most && mutate_random(&state) % 2) {
        memcpy(data + size + separator, data, size);
        memcpy(found = data + size, line, separator);
        size += size + separator;
    }
    const size_t first = found ? (size_t)(found - data) : size;
    if (!found || mutate_random(&state) % 2) return content_mutate(data, size, most, 0, first, &state);
    return content_mutate(data, size, most, first + separator, size, &state);
}
