/* SPDX-License-Identifier: MIT
 * The formulas that `derive` prints, taken at their word: each is read again as an expression and evaluated at the
 * hyper-parameters of nparam's table of counts, 216 models, every group and total of each
 * (data/nparam-param-table.tsv of a corpus; skipped without it). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "sample.h"
#include "shapeproof/prove.h"

enum { MAX_GROUPS = 7 };

/* One kind of model: what it is called in the file, the table, its settings and the columns behind the total. */
struct kind {
    const char *name, *cell, *table;
    const char *settings[3];
    const char *groups[MAX_GROUPS];
    size_t rows;
};

#define RNN_GROUPS "enc2decinit", "hidden", "decoder_lx", "birnn", "encoder_lx", "io"
static const struct kind kinds[] = {
    {"rnn", "lstm", "nparam_rnn", {"rnn_attention_type=dot", "rnn_cell_type=lstm"}, {RNN_GROUPS}, 81},
    {"rnn", "gru", "nparam_rnn", {"rnn_attention_type=dot", "rnn_cell_type=gru"}, {RNN_GROUPS}, 81},
    {"transformer",
     "-",
     "nparam_transformer",
     {NULL},
     {"decoder_att", "decoder_ff", "decoder_final", "encoder_att", "encoder_ff", "encoder_final", "io"},
     54}};

struct row {
    char kind[16], cell[8];
    long layers, embed, hidden, source, target;
    long total, groups[MAX_GROUPS];
};

static bool read_row(const char *line, struct row *row)
{
    int place = 0;
    *row = (struct row){.layers = 0};
    const int read = sscanf(line, "%15s %ld %7s %ld %ld %*d %ld %ld %ld%n", row->kind, &row->layers, row->cell,
                            &row->embed, &row->hidden, &row->source, &row->target, &row->total, &place);
    for (size_t i = 0; read == 8 && i < MAX_GROUPS; i++) {
        char *end;
        row->groups[i] = strtol(line + place, &end, 10);
        place = (int)(end - line);
    }
    return read == 8;
}

/* The value of a symbol of the formulas, by the hyper-parameter that it stands for. */
static long value_of(const struct row *row, const char *key)
{
    const struct {
        const char *part;
        long value;
    } values[] = {{"vocab_size_src", row->source}, {"vocab_source", row->source}, {"vocab", row->target},
                  {"num_embed", row->embed},       {"model_size", row->embed},    {"num_layers", row->layers},
                  {"num_hidden", row->hidden}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strstr(key, values[i].part)) return values[i].value;
    return 0; /* a flag, which is in no formula of a group */
}

static struct shapeproof_derivation *derive(const struct shapeproof_tables *tables, const struct kind *kind)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    for (size_t i = 0; i < 3 && kind->settings[i]; i++)
        assert_int_equal(shapeproof_config_set(config, kind->settings[i], &error), SHAPEPROOF_OK);
    struct shapeproof_derivation *derivation =
        shapeproof_derive(tables, config, &(struct shapeproof_derive_options){.table = kind->table}, &error);
    if (!derivation) fail_msg("%s: %s", kind->table, error.message);
    shapeproof_config_free(config);
    return derivation;
}

static struct shapeproof_formula formula_of(const struct shapeproof_derivation *derivation, const char *group)
{
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derivation); i++) {
        const struct shapeproof_formula formula = *shapeproof_derivation_formula(derivation, i);
        if (strcmp(formula.group, group) == 0 && !*formula.when) return formula;
    }
    fail_msg("there is no formula for [%s]", group);
    return (struct shapeproof_formula){.group = group};
}

static void put_example(struct sp_text *text, const struct shapeproof_derivation *derivation, const struct row *row,
                        const char *formula, long count)
{
    for (size_t i = 0; i < shapeproof_derivation_symbol_count(derivation); i++) {
        const struct shapeproof_symbol *symbol = shapeproof_derivation_symbol(derivation, i);
        sp_text_printf(text, "%s%s = %ld", i ? ", " : "example ", symbol->name, value_of(row, symbol->key));
    }
    sp_text_printf(text, ": %s = %ld\n", formula, count);
}

static void put_row(struct sp_text *text, const struct shapeproof_derivation *derivation, const struct kind *kind,
                    const struct row *row)
{
    for (size_t i = 0; i <= MAX_GROUPS; i++) {
        const char *group = i < MAX_GROUPS ? kind->groups[i] : "total";
        if (!group) continue;
        const struct shapeproof_formula formula = formula_of(derivation, group);
        const long count = i < MAX_GROUPS ? row->groups[i] : row->total;
        put_example(text, derivation, row, formula.text, count);
        put_example(text, derivation, row, formula.expanded, count);
    }
}

/* A table that knows the names of the symbols and nothing else, and the rows as examples about it. */
static size_t put_examples(struct sp_text *text, const struct shapeproof_derivation *derivation,
                           const struct kind *kind, FILE *file)
{
    char line[512];
    struct row row;
    size_t rows = 0;
    sp_text_printf(text, "table symbols_of_%s_%s\n", kind->name, strcmp(kind->cell, "-") == 0 ? "any" : kind->cell);
    for (size_t i = 0; i < shapeproof_derivation_symbol_count(derivation); i++)
        sp_text_printf(text, "weight_%zu (%s)\n", i, shapeproof_derivation_symbol(derivation, i)->name);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        if (!read_row(line, &row) || strcmp(row.kind, kind->name) != 0 || strcmp(row.cell, kind->cell) != 0) continue;
        put_row(text, derivation, kind, &row);
        rows++;
    }
    return rows;
}

static void assert_proved(const struct shapeproof_tables *tables, const char *table, size_t least)
{
    struct shapeproof_error error = {0};
    struct shapeproof_proofs *proofs =
        shapeproof_prove(tables, &(struct shapeproof_prove_options){.tables = &table, .table_count = 1}, &error);
    if (!proofs) fail_msg("%s", error.message);
    assert_true(shapeproof_proofs_count(proofs) >= least);
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        if (proof->verdict != SHAPEPROOF_PROVED)
            fail_msg("%s: %s: %s", proof->claim, shapeproof_verdict_on_claim_name(proof->verdict), proof->difference);
    }
    shapeproof_proofs_free(proofs);
}

static void nparam_rows(void **state)
{
    (void)state;
    char path[CORPUS_PATH];
    FILE *file = corpus_path(path, "nparam-param-table.tsv") ? fopen(path, "r") : NULL;
    if (!file) skip();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct shapeproof_error error = {0};
        struct sp_text text = {0};
        char table[64];
        struct shapeproof_tables *tables = shapeproof_tables_new(&error);
        struct shapeproof_derivation *derivation = derive(tables, &kinds[i]);
        const size_t rows = put_examples(&text, derivation, &kinds[i], file);
        assert_int_equal(rows, kinds[i].rows);
        if (shapeproof_tables_add_text(tables, "rows", text.data, text.length, &error) != SHAPEPROOF_OK)
            fail_msg("%s", error.message);
        assert_int_equal(sscanf(text.data, "table %63s", table), 1);
        assert_proved(tables, table, rows * (kinds[i].groups[MAX_GROUPS - 1] ? 16 : 14));
        shapeproof_derivation_free(derivation);
        shapeproof_tables_free(tables);
        sp_text_free(&text);
    }
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nparam_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
