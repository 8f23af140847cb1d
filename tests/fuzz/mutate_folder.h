/* SPDX-License-Identifier: MIT
 * Mutation of an input that is a folder (folder.h): a file is removed, doubled, put in place of another or renamed, or
 * changed as files of its kind are. */
#ifndef TESTS_FUZZ_MUTATE_FOLDER_H
#define TESTS_FUZZ_MUTATE_FOLDER_H

#include "mutate_json.h"
#include "mutate_zip.h"

/* The texts, each with the line "====" behind it. */
static inline void folder_divide(const uint8_t *data, size_t size, struct mutate_spans *texts)
{
    static const char line[] = "\n====\n";
    texts->count = 0;
    for (size_t begin = 0; begin < size;) {
        const uint8_t *stop = memmem(data + begin, size - begin, line, sizeof line - 1);
        const size_t end = stop ? (size_t)(stop - data) + sizeof line - 1 : size;
        mutate_add(texts, begin, end, 0);
        begin = end;
    }
}

/* The path of a text, without the end of its line. */
static inline size_t folder_path_length(const uint8_t *data, struct mutate_span text)
{
    const uint8_t *end = memchr(data + text.begin, '\n', text.end - text.begin);
    return end ? (size_t)(end - data) - text.begin : text.end - text.begin;
}

/* The path becomes that of another text with a number raised, or is changed by libFuzzer. */
static inline size_t folder_rename(uint8_t *data, size_t size, size_t most, const struct mutate_spans *texts,
                                   struct mutate_span text, uint64_t *state)
{
    const struct mutate_span other = texts->items[mutate_random(state) % texts->count];
    const size_t length = folder_path_length(data, text);
    uint8_t path[512];
    size_t copied = folder_path_length(data, other);
    if (copied > sizeof path) copied = sizeof path;
    memcpy(path, data + other.begin, copied);
    if (mutate_random(state) % 2) copied = LLVMFuzzerMutate(path, copied, sizeof path);
    else
        for (size_t i = copied; i--;)
            if (path[i] >= '0' && path[i] < '9') {
                path[i]++;
                break;
            }
    return mutate_splice(data, size, most, text.begin, text.begin + length, path, copied);
}

/* The content between `begin` and `end` changes as its kind does, which its first bytes tell: JSON, which the header of
 * a safetensors file is as well, an archive, a pickle, or anything else. */
static inline size_t content_mutate(uint8_t *data, size_t size, size_t most, size_t begin, size_t end, uint64_t *state)
{
    enum { ROOM = 512 }; /* bytes that a mutation may add */
    const size_t length = end - begin;
    if (length && (data[begin] == '{' || data[begin] == '[')) return json_mutate(data, size, most, begin, end, state);
    uint8_t *copy = malloc(length + ROOM);
    if (!copy) abort();
    if (length) memcpy(copy, data + begin, length);
    size_t changed;
    if (length >= 4 && memcmp(copy, "PK\3\4", 4) == 0) changed = zip_mutate(copy, length, length + ROOM, state);
    else if (length >= 2 && copy[0] == 0x80) changed = pickle_mutate(copy, length, length + ROOM, state);
    else changed = LLVMFuzzerMutate(copy, length, length + ROOM);
    const size_t result = mutate_splice(data, size, most, begin, end, copy, changed);
    free(copy);
    return result;
}

/* The content of a text. */
static inline size_t folder_change(uint8_t *data, size_t size, size_t most, struct mutate_span text, uint64_t *state)
{
    const size_t line = strlen("\n====\n"), length = text.end - text.begin;
    const bool is_closed = length >= line && memcmp(data + text.end - line, "\n====\n", line) == 0;
    const size_t separator = is_closed ? line : 0;
    const size_t begin = text.begin + folder_path_length(data, text) + 1;
    if (begin + separator > text.end) return LLVMFuzzerMutate(data, size, most);
    return content_mutate(data, size, most, begin, text.end - separator, state);
}

/* Puts a line "====" behind the last text, so that another one can follow. */
static inline size_t folder_close(uint8_t *data, size_t size, size_t most)
{
    static const char line[] = "\n====\n";
    const size_t length = sizeof line - 1;
    if ((size >= length && memcmp(data + size - length, line, length) == 0) || most - size < length) return size;
    memcpy(data + size, line, length);
    return size + length;
}

static inline size_t folder_mutate(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    static struct mutate_spans texts;
    uint64_t state = seed;
    size = folder_close(data, size, most);
    folder_divide(data, size, &texts);
    if (!texts.count) return LLVMFuzzerMutate(data, size, most);
    const struct mutate_span text = texts.items[mutate_random(&state) % texts.count];
    switch (mutate_random(&state) % 8) {
    case 0:
        return mutate_spans(data, size, most, &texts, &state, NULL);
    case 1:
        return folder_rename(data, size, most, &texts, text, &state);
    default:
        return folder_change(data, size, most, text, &state);
    }
}

/* The mutator of a target whose inputs are folders. */
#define FOLDER_MUTATOR                                                                                                 \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)                         \
    {                                                                                                                  \
        return folder_mutate(data, size, most, seed);                                                                  \
    }

#endif
