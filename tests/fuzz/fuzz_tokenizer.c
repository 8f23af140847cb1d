/* SPDX-License-Identifier: MIT
 * The bytes as each of the files of a tokenizer, of which only the largest id is read. */
#include "folder.h"

#include "mutate_json.h"

#include "config/tokenizer.h"

static void fuzz_input(const unsigned char *data, size_t size)
{
    static const char *const names[] = {"tokenizer.json", "tokenizer_config.json", "added_tokens.json"};
    static int files[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!files[i]) files[i] = folder_file(names[i]);
        folder_write(files[i], data, size);
    }
    struct sp_arena arena = {0};
    const struct sp_tokenizer tokenizer = sp_tokenizer_in(&arena, folder_path);
    if (tokenizer.size) fuzz_must(tokenizer.last && tokenizer.file);
    sp_arena_free(&arena);
}

JSON_MUTATOR(JSON_EVERY_TEXT)
