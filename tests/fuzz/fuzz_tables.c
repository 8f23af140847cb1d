/* SPDX-License-Identifier: MIT
 * The bytes as a table file with claims: what can be read is judged, its formulas are derived, and laid out it says the
 * same. */
#include "input_tables.h"

#include "lang/tree.h"

/* Claims are proved on polynomials, whose terms multiply: a table that is read may take its limits of steps. */
enum { MAX_SIZE = 2048 };

static const char *const file = "input.shapes";

static void derive_all(const struct shapeproof_tables *tables)
{
    const char *name;
    for (size_t place = 0; (name = next_input_table(tables, &place));) {
        struct shapeproof_error error = {0};
        const struct shapeproof_derive_options options = {.table = name, .notation = SHAPEPROOF_FORMULA_LATEX};
        struct shapeproof_derivation *derivation = shapeproof_derive(tables, NULL, &options, &error);
        fuzz_must_have(derivation, &error);
        shapeproof_derivation_free(derivation);
    }
}

static void lay_out(const char *text)
{
    struct shapeproof_error error = {0};
    char *once = shapeproof_table_format("input.shapes", text, strlen(text), NULL, &error);
    fuzz_must_have(once, &error);
    if (!once) return;
    char *twice = shapeproof_table_format("input.shapes", once, strlen(once), NULL, &error);
    char *tree = tree_of(text), *again = tree_of(once);
    fuzz_must(twice && tree && again && strcmp(once, twice) == 0 && strcmp(tree, again) == 0);
    shapeproof_free(once);
    shapeproof_free(twice);
    free(tree);
    free(again);
}

static void prove_all(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0}, wrong = {0};
    struct shapeproof_tables *tables = fuzz_tables(NULL);
    if (shapeproof_tables_add_text(tables, file, (const char *)data, size, &wrong) != SHAPEPROOF_OK) return;
    derive_all(tables);
    const struct shapeproof_prove_options options = {.files = &file, .file_count = 1};
    struct shapeproof_proofs *proofs = shapeproof_prove(tables, &options, &error);
    fuzz_must_have(proofs, &error);
    if (proofs) shapeproof_free(shapeproof_report_prove(proofs, NULL, NULL));
    shapeproof_proofs_free(proofs);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    if (size > MAX_SIZE || !memmem(data, size, "table ", 6)) return;
    char *text = strndup((const char *)data, size);
    lay_out(text);
    free(text);
    fuzz_tables(NULL);
    fuzz_undone(prove_all, data, size);
}
