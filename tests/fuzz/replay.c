/* SPDX-License-Identifier: MIT
 * Runs a fuzz target without libFuzzer: on each file as it is, then on copies of it that are damaged the same way every
 * time. Surviving is passing. The name of each file is printed before it is run: the last one is that which broke it.
 *
 *   fuzz_NAME FILE... */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static uint64_t next_random(uint64_t *state) /* xorshift64 */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Overwrites a few bytes, most often near the start, where the headers are; one copy in four is also cut short. */
static size_t damage(unsigned char *bytes, size_t size, uint64_t *state)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '"', '{', '9'};
    for (uint64_t left = 1 + next_random(state) % 4; left > 0; left--) {
        const size_t span = next_random(state) % 2 && size > 256 ? 256 : size;
        bytes[next_random(state) % span] = values[next_random(state) % sizeof values];
    }
    return next_random(state) % 4 ? size : next_random(state) % size;
}

/* In a buffer of exactly `size` bytes, so that a sanitizer sees a read past the end. */
static void run(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static bool run_file(const char *path)
{
    const int copies = sample() > 1 ? 16 : 32;
    static unsigned char original[1 << 20], damaged[1 << 20];
    uint64_t state = 0x9e3779b97f4a7c15;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const size_t size = fread(original, 1, sizeof original, file);
    fclose(file);
    run(original, size);
    for (int left = copies; left > 0 && size > 0; left--) {
        memcpy(damaged, original, size);
        run(damaged, damage(damaged, size, &state));
    }
    return true;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        puts(argv[i]);
        fflush(stdout);
        if (run_file(argv[i])) continue;
        perror(argv[i]);
        return 2;
    }
    return argc > 1 ? 0 : 2;
}
