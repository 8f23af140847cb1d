/* SPDX-License-Identifier: MIT
 * The bytes as claims about a small table, a line each, as `prove --claim` takes them. */
#include "small_table.h"

enum { MAX_SIZE = 512, MAX_LINES = 8 };

static void prove_input(const unsigned char *data, size_t size)
{
    static const char *const name = "input";
    struct shapeproof_error error = {0};
    const char *text, *lines[MAX_LINES];
    size_t length;
    char *copy = fuzz_split(data, size, &text, &length, 1), *rest = copy, *letters = NULL;
    struct shapeproof_claim_lines claims = {.name = name, .items = lines};
    while (claims.count < MAX_LINES && (lines[claims.count] = strsep(&rest, "\n"))) claims.count++;
    struct shapeproof_tables *tables = fuzz_tables(add_small_table);
    if (shapeproof_tables_add_claims(tables, "small", &claims, &letters, &error) == SHAPEPROOF_OK) {
        const struct shapeproof_prove_options options = {.files = &name, .file_count = 1};
        struct shapeproof_proofs *proofs = shapeproof_prove(tables, &options, &error);
        fuzz_must_have(proofs, &error);
        if (proofs) shapeproof_free(shapeproof_report_prove(proofs, NULL, NULL));
        shapeproof_proofs_free(proofs);
    } else fuzz_must_refuse(&error);
    shapeproof_free(letters);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_tables(add_small_table);
    if (size <= MAX_SIZE) fuzz_undone(prove_input, data, size);
}
