/* SPDX-License-Identifier: MIT
 * The bytes as a table file with claims: what can be read is judged, and its formulas are derived. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "shapeproof/shapeproof.h"

enum { MAX_SIZE = 2048 }; /* each claim may take its time */

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void insist(const void *result, const struct sp_error *error)
{
    if (!result && (error->status == SP_OK || !error->message[0])) abort(); /* a refusal gives its reason */
}

static void derive_all(const struct sp_tables *tables, const char *file)
{
    for (size_t i = 0; i < sp_tables_count(tables); i++) {
        const struct sp_table_info info = sp_tables_info(tables, i);
        struct sp_error error = {0};
        if (strcmp(info.file, file) != 0) continue;
        const struct sp_derive_options options = {.table = info.name, .notation = SP_FORMULA_LATEX};
        struct sp_derivation *derivation = sp_derive(tables, NULL, &options, &error);
        insist(derivation, &error);
        sp_derivation_free(derivation);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const char *const file = "input.shapes";
    struct sp_error error = {0}, wrong = {0};
    if (size > MAX_SIZE || !memmem(data, size, "table ", 6)) return 0;
    struct sp_tables *tables = sp_tables_new(&error);
    if (sp_tables_add_text(tables, file, (const char *)data, size, &wrong) == SP_OK) {
        derive_all(tables, file);
        const struct sp_prove_options options = {.files = &file, .file_count = 1};
        struct sp_proofs *proofs = sp_prove(tables, &options, &error);
        insist(proofs, &error);
        if (proofs) sp_free(sp_report_prove(proofs, NULL, NULL));
        sp_proofs_free(proofs);
    }
    sp_tables_free(tables);
    return 0;
}
