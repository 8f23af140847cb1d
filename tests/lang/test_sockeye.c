/* SPDX-License-Identifier: MIT
 * The tables of Sockeye against what is published of it (Zhang 2019, nparam) and what it builds itself
 * (fixtures/sockeye/truth.tsv, by make_truth.py beside it). */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>

#include "base/text.h"
#include "lang/predicted.h"
#include "read/scratch.h"
#include "sample.h"

static struct scratch scratch;

static int make_tables(void **state)
{
    scratch_make(&scratch);
    return open_tables(state);
}

static int free_tables(void **state)
{
    scratch_remove(&scratch);
    return close_tables(state);
}

/* ---- the published examples ---- */

#define RNN                                                                                                            \
    "vocab_size_src=49410", "vocab_size_trg=42767", "num_embed=[512, 512]", "num_layers=[2, 2]", "rnn_num_hidden=512"

static void rnn(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction = predict("sockeye_rnn", SETTINGS(RNN, "rnn_attention_type=dot"));
    assert_int_equal(shapeproof_prediction_totals(prediction)->unique_parameters, 79638799);
    assert_int_equal(shapeproof_prediction_totals(prediction)->tensors, 34);
    assert_int_equal(group(prediction, "enc2decinit"), 1050624);
    assert_int_equal(group(prediction, "hidden"), 524800);
    assert_int_equal(group(prediction, "decoder_lx"), 5251072);
    assert_int_equal(group(prediction, "birnn"), 1576960);
    assert_int_equal(group(prediction, "encoder_lx"), 2101248);
    assert_int_equal(group(prediction, "io"), 69134095);
    assert_int_equal(shapeproof_prediction_group_count(prediction), 6);
    shapeproof_prediction_free(prediction);
}

static void rnn_variants(void **state)
{
    (void)state;
    assert_int_equal(totals("sockeye_rnn", SETTINGS(RNN)).unique_parameters, 80163599); /* mlp is Sockeye's default */
    const struct shapeproof_predicted_totals tied =
        totals("sockeye_rnn", SETTINGS(RNN, "rnn_attention_type=dot", "weight_tying=true"));
    assert_int_equal(tied.unique_parameters, 57742095);
    assert_int_equal(tied.tensors, 33);
}

/* An embedding of the target of another width than that of the source: the decoder reads its own. */
static void rnn_target_width(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction =
        predict("sockeye_rnn", SETTINGS("vocab_size_src=10", "vocab_size_trg=20", "num_embed=[6, 8]", "num_layers=2",
                                        "rnn_num_hidden=4", "rnn_cell_type=gru"));
    assert_int_equal(tensor(prediction, "encoder_birnn_forward_l0_i2h_weight")->shape[1], 6);
    assert_int_equal(tensor(prediction, "decoder_rnn_l0_i2h_weight")->shape[0], 3 * 4);
    assert_int_equal(tensor(prediction, "decoder_rnn_l0_i2h_weight")->shape[1], 8 + 4);
    shapeproof_prediction_free(prediction);
}

#define TRANSFORMER "vocab_size_src=29624", "vocab_size_trg=28059", "num_layers=[1, 1]", "num_embed=[512, 512]"

/* The published total is that of 1024, the published list of shapes that of 300. */
static void transformer(void **state)
{
    (void)state;
    const char *wide = "transformer_feed_forward_num_hidden=1024", *list = "transformer_feed_forward_num_hidden=300";
    struct shapeproof_prediction *prediction = predict("sockeye_transformer", SETTINGS(TRANSFORMER, list));
    assert_int_equal(shapeproof_prediction_totals(prediction)->unique_parameters, 47696883);
    assert_int_equal(shapeproof_prediction_totals(prediction)->tensors, 34);
    assert_int_equal(group(prediction, "decoder_att"), 2099200);
    assert_int_equal(group(prediction, "decoder_ff"), 309036);
    assert_int_equal(group(prediction, "decoder_final"), 1024);
    assert_int_equal(group(prediction, "encoder_att"), 1049600);
    assert_int_equal(group(prediction, "encoder_ff"), 309036);
    assert_int_equal(group(prediction, "encoder_final"), 1024);
    assert_int_equal(group(prediction, "io"), 43927963);
    shapeproof_prediction_free(prediction);
    assert_int_equal(totals("sockeye_transformer", SETTINGS(TRANSFORMER, wide)).unique_parameters, 49181083);
    assert_int_equal(totals("sockeye_transformer", SETTINGS(TRANSFORMER, wide, "weight_tying=true")).unique_parameters,
                     34814875);
    assert_int_equal(totals("sockeye_transformer",
                            SETTINGS(TRANSFORMER, wide, "transformer_preprocess=\"\"", "transformer_postprocess=drn"))
                         .unique_parameters,
                     49181083 - 4 * 512);
}

/* Tied three ways: V*e + V + sn(4e^2 + 2ef + f + 5e) + tn(8e^2 + 2ef + f + 7e) + 4e, and the fixed positions beside it.
 */
static void transformer_3(void **state)
{
    (void)state;
    const uint64_t V = 32000, e = 512, f = 2048, sn = 6, tn = 4;
    struct shapeproof_prediction *prediction =
        predict("sockeye_3", SETTINGS("vocab_size_src=32000", "vocab_size_trg=32000", "num_layers=[6, 4]"));
    const struct shapeproof_predicted_totals *sum = shapeproof_prediction_totals(prediction);
    assert_int_equal(sum->unique_parameters, V * e + V + sn * (4 * e * e + 2 * e * f + f + 5 * e) +
                                                 tn * (8 * e * e + 2 * e * f + f + 7 * e) + 4 * e);
    assert_int_equal(sum->parameters, sum->unique_parameters + 2 * V * e);
    assert_int_equal(sum->buffers, 2 * 96 * e);
    assert_true(tensor(prediction, "encoder.pos_embedding.weight")->buffer);
    const size_t first = shapeproof_prediction_find(prediction, "embedding_source.embedding.weight");
    const size_t second = shapeproof_prediction_find(prediction, "embedding_target.embedding.weight");
    assert_int_equal(tensor(prediction, "embedding_target.embedding.weight")->same_as, first);
    assert_int_equal(tensor(prediction, "output_layer.weight")->same_as, second);
    shapeproof_prediction_free(prediction);
}

/* ---- what Sockeye builds: every row of truth.tsv ---- */

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static char *line_of(const struct shapeproof_predicted *one)
{
    struct sp_text line = {0};
    sp_text_printf(&line, "%s (", one->name);
    for (uint32_t i = 0; i < one->rank; i++) sp_text_printf(&line, i ? ", %" PRIu64 : "%" PRIu64, one->shape[i]);
    sp_text_puts(&line, ")\n");
    return line.data;
}

static uint64_t hash_lines(char **lines, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325U;
    qsort(lines, count, sizeof *lines, by_text);
    for (size_t i = 0; i < count; i++)
        for (const char *c = lines[i]; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3U;
    return hash;
}

/* Tensors, elements and the hash of names and shapes, as make_truth.py writes them. */
static char *digest(const struct shapeproof_prediction *prediction)
{
    const size_t all = shapeproof_prediction_count(prediction);
    char **lines = calloc(all, sizeof *lines);
    uint64_t elements = 0;
    size_t count = 0;
    struct sp_text text = {0};
    assert_non_null(lines);
    for (size_t i = 0; i < all; i++) {
        const struct shapeproof_predicted *one = shapeproof_prediction_tensor(prediction, i);
        if (one->optional) continue;
        lines[count++] = line_of(one);
        elements += one->parameters;
    }
    sp_text_printf(&text, "%zu\t%" PRIu64 "\t%016" PRIx64, count, elements, hash_lines(lines, count));
    for (size_t i = 0; i < count; i++) free(lines[i]);
    free(lines);
    return text.data;
}

/* release, table, settings, and then the digest. */
static bool is_right(char *row)
{
    char *save = NULL, *words = NULL;
    const char *release = strtok_r(row, "\t", &save), *table = strtok_r(NULL, "\t", &save);
    char *settings = strtok_r(NULL, "\t", &save), *expected = strtok_r(NULL, "\n", &save);
    assert_non_null(expected);
    char *all = strdup(settings);
    const char *list[64] = {strtok_r(settings, " ", &words)};
    for (size_t i = 1; i < 63 && list[i - 1]; i++) list[i] = strtok_r(NULL, " ", &words);
    struct shapeproof_prediction *prediction = predict(table, list);
    char *found = digest(prediction);
    const bool right = strcmp(found, expected) == 0;
    if (!right) print_error("%s %s: %s\n  is        %s\n  should be %s\n", table, release, all, found, expected);
    shapeproof_prediction_free(prediction);
    free(found);
    free(all);
    return right;
}

static void what_sockeye_builds(void **state)
{
    (void)state;
    char row[4096];
    size_t rows = 0, wrong = 0;
    FILE *file = fopen("fixtures/sockeye/truth.tsv", "r");
    assert_non_null(file);
    for (; fgets(row, sizeof row, file); rows++) wrong += !is_right(row);
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_int_equal(rows, 307);
}

/* ---- the table of counts that nparam publishes: 216 models, from recipes ---- */

static const char *const rnn_groups[] = {"enc2decinit", "hidden", "decoder_lx", "birnn", "encoder_lx", "io"};
static const char *const transformer_groups[] = {
    "decoder_att", "decoder_ff", "decoder_final", "encoder_att", "encoder_ff", "encoder_final", "io"};

/* kind layers cell embed width bpe sb tb total, and the groups. */
struct counted {
    char kind[16], layers[8], cell[8], embed[8], width[8];
    uint64_t bpe, words[2], total, groups[7];
    size_t group_count;
};

static bool parse(const char *line, struct counted *row)
{
    int used = 0;
    if (sscanf(line, "%15s %7s %7s %7s %7s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", row->kind, row->layers,
               row->cell, row->embed, row->width, &row->bpe, &row->words[0], &row->words[1], &row->total, &used) != 9)
        return false;
    for (row->group_count = 0; row->group_count < 7; row->group_count++) {
        line += used;
        if (sscanf(line, "%" SCNu64 "%n", &row->groups[row->group_count], &used) != 1) break;
    }
    return true;
}

static void load_recipe(const struct counted *row)
{
    struct sp_text text = {0};
    struct shapeproof_error error = {0};
    const bool recurrent = strcmp(row->kind, "rnn") == 0;
    sp_text_printf(&text, "# a recipe\nencoder=\"%s\"\ndecoder=\"%s\"\n", row->kind, row->kind);
    sp_text_printf(&text, "layers=%s\nnum_layers=\"$layers:${layers}\" # both\nnum_embed=\"%s:%s\"\n", row->layers,
                   row->embed, row->embed);
    if (recurrent)
        sp_text_printf(&text, "rnn_num_hidden=%s\nrnn_cell_type=\"%s\"\nrnn_attention_type=\"dot\"\n", row->width,
                       row->cell);
    else
        sp_text_printf(&text, "transformer_model_size=%s\ntransformer_feed_forward_num_hidden=%s\n", row->embed,
                       row->width);
    sp_text_printf(&text, "vocab_size_src=%" PRIu64 "\nvocab_size_trg=%" PRIu64 "\n", row->words[0], row->words[1]);
    configure((const char *const[]){NULL});
    shapeproof_config_load(config, scratch_write(&scratch, "row.hpm", text.data, text.length), &error);
    assert_string_equal(error.message, "");
    sp_text_free(&text);
}

static void check_row(const struct counted *row)
{
    const bool recurrent = strcmp(row->kind, "rnn") == 0;
    load_recipe(row);
    struct shapeproof_prediction *prediction = predicted(NULL); /* the recipe chooses the table */
    assert_string_equal(shapeproof_prediction_table(prediction), recurrent ? "sockeye_rnn" : "sockeye_transformer");
    assert_int_equal(shapeproof_prediction_totals(prediction)->unique_parameters, row->total);
    assert_int_equal(row->group_count, recurrent ? 6 : 7);
    for (size_t i = 0; i < row->group_count; i++)
        assert_int_equal(group(prediction, recurrent ? rnn_groups[i] : transformer_groups[i]), row->groups[i]);
    shapeproof_prediction_free(prediction);
}

static void published_counts(void **state)
{
    (void)state;
    char line[512], path[CORPUS_PATH];
    size_t rows = 0;
    FILE *file = corpus_path(path, "nparam-param-table.tsv") ? fopen(path, "r") : NULL;
    if (!file) skip();
    while (fgets(line, sizeof line, file)) {
        struct counted row;
        if (*line == '#' || !parse(line, &row)) continue;
        check_row(&row);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 216);
}

/* Some of them, for machines without that file. */
static void published_counts_here(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "rnn 1 lstm 256 256 10000 10004 10004 9139732 131584 131328 788480 395264 0 7693076",
        "rnn 1 lstm 256 256 30000 30004 28244 23616852 131584 131328 788480 395264 0 22170196",
        "rnn 1 lstm 256 512 10000 10004 10004 14982420 525312 524800 2625536 1052672 0 10254100",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct counted row;
        assert_true(parse(lines[i], &row));
        check_row(&row);
    }
}

/* ---- what cannot be predicted is said so ---- */

static void refused(const char *table, const char *setting, const char *expected)
{
    struct shapeproof_error error = {0};
    assert_null(attempt(
        table, SETTINGS("vocab_size_src=9", "vocab_size_trg=9", "num_layers=1", "rnn_num_hidden=8", setting), &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_UNKNOWN);
    if (!strstr(error.message, expected)) assert_string_equal(error.message, expected);
}

static void unknown_kinds(void **state)
{
    (void)state;
    refused("sockeye_rnn", "rnn_cell_type=peephole", "there is no table for the cell type peephole");
    refused("sockeye_rnn", "rnn_attention_type=sparse", "there is no table for the attention type sparse");
    refused("sockeye_2", "transformer_positional_embedding_type=none",
            "there is no table for the positional embedding type none");
    refused("sockeye_mixed", "encoder=image-pretrain-cnn", "there is no table for the encoder image-pretrain-cnn");
}

/* The first of the names that a value can have is the one to give. */
static void missing_settings(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    assert_null(attempt("sockeye_rnn", (const char *const[]){NULL}, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_TABLE);
    assert_non_null(strstr(error.message, "the hyper-parameter 'rnn_num_hidden' is not set"));
    assert_non_null(strstr(error.message, "the hyper-parameter 'vocab_size_src' is not set"));
    assert_non_null(strstr(error.message, "the hyper-parameter 'num_layers' is not set"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rnn, free_config),
        cmocka_unit_test_teardown(rnn_variants, free_config),
        cmocka_unit_test_teardown(rnn_target_width, free_config),
        cmocka_unit_test_teardown(transformer, free_config),
        cmocka_unit_test_teardown(transformer_3, free_config),
        cmocka_unit_test_teardown(what_sockeye_builds, free_config),
        cmocka_unit_test_teardown(published_counts, free_config),
        cmocka_unit_test_teardown(published_counts_here, free_config),
        cmocka_unit_test_teardown(unknown_kinds, free_config),
        cmocka_unit_test_teardown(missing_settings, free_config),
    };
    return cmocka_run_group_tests(tests, make_tables, free_tables);
}
