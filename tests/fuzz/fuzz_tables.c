/* SPDX-License-Identifier: MIT
 * The bytes as a table file with claims: what can be read is judged, its formulas are derived, and laid out it says the
 * same. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "lang/tree.h"
#include "shapeproof/shapeproof.h"

enum { MAX_SIZE = 2048 }; /* each claim may take its time */

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void insist(const void *result, const struct shapeproof_error *error)
{
    if (!result && (error->status == SHAPEPROOF_OK || !error->message[0])) abort(); /* a refusal gives its reason */
}

static void derive_all(const struct shapeproof_tables *tables, const char *file)
{
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const struct shapeproof_table_info *info = shapeproof_tables_info(tables, i);
        struct shapeproof_error error = {0};
        if (strcmp(info->file, file) != 0) continue;
        const struct shapeproof_derive_options options = {.table = info->name, .notation = SHAPEPROOF_FORMULA_LATEX};
        struct shapeproof_derivation *derivation = shapeproof_derive(tables, NULL, &options, &error);
        insist(derivation, &error);
        shapeproof_derivation_free(derivation);
    }
}

static void insist_on_equal(const char *one, const char *other)
{
    if (!one || !other || strcmp(one, other) != 0) abort();
}

static void lay_out(const char *text)
{
    struct shapeproof_error error = {0};
    char *once = shapeproof_table_format("input.shapes", text, strlen(text), NULL, &error);
    insist(once, &error);
    if (!once) return;
    char *twice = shapeproof_table_format("input.shapes", once, strlen(once), NULL, &error);
    char *tree = tree_of(text), *again = tree_of(once);
    insist_on_equal(once, twice);
    insist_on_equal(tree, again);
    shapeproof_free(once);
    shapeproof_free(twice);
    free(tree);
    free(again);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const char *const file = "input.shapes";
    struct shapeproof_error error = {0}, wrong = {0};
    if (size > MAX_SIZE || !memmem(data, size, "table ", 6)) return 0;
    char *text = strndup((const char *)data, size);
    lay_out(text);
    free(text);
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (shapeproof_tables_add_text(tables, file, (const char *)data, size, &wrong) == SHAPEPROOF_OK) {
        derive_all(tables, file);
        const struct shapeproof_prove_options options = {.files = &file, .file_count = 1};
        struct shapeproof_proofs *proofs = shapeproof_prove(tables, &options, &error);
        insist(proofs, &error);
        if (proofs) shapeproof_free(shapeproof_report_prove(proofs, NULL, NULL));
        shapeproof_proofs_free(proofs);
    }
    shapeproof_tables_free(tables);
    return 0;
}
