/* SPDX-License-Identifier: MIT
 * The inspect report over inventories made here: what real files of one format alone would not show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats.h"
#include "model/inventory.h"
#include "shapeproof/report.h"

/* ---- inventories ---- */

static struct shapeproof_inventory *open_made(const struct sp_format *format)
{
    struct shapeproof_inventory *inventory = sp_inventory_new("made");
    sp_inventory_add_file(inventory, "made");
    inventory->format = format;
    return inventory;
}

/* An F32 tensor; `storage` may be NULL. */
static struct shapeproof_tensor *add(struct shapeproof_inventory *inventory, const char *name, uint64_t rows,
                                     uint64_t columns, const char *storage)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
    assert_non_null(tensor);
    uint64_t *shape = sp_arena_array(&inventory->arena, 2, sizeof *shape);
    shape[0] = rows;
    shape[1] = columns;
    tensor->name = sp_arena_string(&inventory->arena, name);
    tensor->dtype = SHAPEPROOF_DTYPE_F32;
    tensor->dtype_name = "F32";
    tensor->shape = shape;
    tensor->rank = columns ? 2 : 1;
    tensor->storage = storage;
    assert_true(sp_tensor_measure(tensor));
    return tensor;
}

/* Finishes the inventory, compares its report, and closes it. */
static void assert_report(struct shapeproof_inventory *inventory,
                          const struct shapeproof_report_inspect_options *options, const char *expected)
{
    struct shapeproof_error error = {0};
    size_t length = 0;
    assert_true(sp_inventory_finish(inventory, &error));
    char *report = shapeproof_report_inspect(inventory, options, &length);
    assert_string_equal(report, expected);
    assert_int_equal(length, strlen(expected));
    shapeproof_free(report);
    shapeproof_inventory_close(inventory);
}

/* A torch file with a tied head, a view, optimizer state and an oddity of each kind. */
static struct shapeproof_inventory *open_torch(void)
{
    static const uint64_t zeros[] = {0, 0}, transposed[] = {1, 4};
    struct shapeproof_inventory *inventory = open_made(&format_torch_zip);
    add(inventory, "model.wte.weight", 10, 4, "0");
    add(inventory, "model.head.weight", 10, 4, "0");
    add(inventory, "model.some_rows", 2, 4, "0")->offset = 8;
    add(inventory, "model.wide", 1000, 4, "1")->stride = zeros;
    inventory->tensors[3].flags = SHAPEPROOF_TENSOR_EXPANDED;
    add(inventory, "model.turned", 4, 2, "2")->stride = transposed;
    inventory->tensors[4].offset = 3;
    add(inventory, "optimizer.exp_avg", 10, 4, "3")->flags = SHAPEPROOF_TENSOR_STATE | SHAPEPROOF_TENSOR_NO_DATA;
    struct shapeproof_tensor *odd = add(inventory, "odd", 0, 0, NULL);
    odd->flags = SHAPEPROOF_TENSOR_NO_SHAPE;
    odd->rank = 0;
    odd->dtype = SHAPEPROOF_DTYPE_UNKNOWN;
    odd->dtype_name = "string";
    assert_true(sp_tensor_measure(odd));
    sp_inventory_add_metadata(inventory, "epoch", "7");
    sp_inventory_warn(inventory, "something to know");
    return inventory;
}

static void everything_is_said_to_people(void **state)
{
    (void)state;
    assert_report(open_torch(), NULL,
                  "made: torch-zip\n"
                  "\n"
                  "name               dtype   shape      parameters     bytes  note\n"
                  "model.wte.weight   F32     (10, 4)            40     160 B\n"
                  "model.head.weight  F32     (10, 4)            40     160 B  same as model.wte.weight\n"
                  "model.some_rows    F32     (2, 4)              8      32 B  view\n"
                  "model.wide         F32     (1000, 4)       4,000  15.6 KiB  expanded\n"
                  "model.turned       F32     (4, 2)              8      32 B\n"
                  "optimizer.exp_avg  F32     (10, 4)            40     160 B  no data, state\n"
                  "odd                string  none                0         ?\n"
                  "\n"
                  "ties        model.wte.weight = model.head.weight\n"
                  "tensors     7\n"
                  "parameters  4,096 unique (4,136 with tied tensors counted each time)\n"
                  "            4,056 of the model, 40 of state beside it\n"
                  "bytes       16.0 KiB (16,384), of which the file holds 15.8 KiB\n"
                  "dtypes      F32 4,096; string 0\n"
                  "metadata    epoch = 7\n");
}

static void everything_is_said_to_programs(void **state)
{
    const struct shapeproof_report_inspect_options json = {.report = {.format = SHAPEPROOF_REPORT_JSON}};
    (void)state;
    assert_report(
        open_torch(), &json,
        "{\n"
        "  \"schema\": \"shapeproof.inspect/1\",\n"
        "  \"file\": \"made\",\n"
        "  \"format\": \"torch-zip\",\n"
        "  \"tensors\": [\n"
        "    {\"name\": \"model.wte.weight\", \"dtype\": \"F32\", \"shape\": [10, 4], \"parameters\": 40, "
        "\"bytes\": 160, \"storage\": \"0\"},\n"
        "    {\"name\": \"model.head.weight\", \"dtype\": \"F32\", \"shape\": [10, 4], \"parameters\": 40, "
        "\"bytes\": 160, \"storage\": \"0\", \"same_as\": \"model.wte.weight\"},\n"
        "    {\"name\": \"model.some_rows\", \"dtype\": \"F32\", \"shape\": [2, 4], \"parameters\": 8, "
        "\"bytes\": 32, \"storage\": \"0\", \"offset\": 8, \"flags\": [\"view\"]},\n"
        "    {\"name\": \"model.wide\", \"dtype\": \"F32\", \"shape\": [1000, 4], \"parameters\": 4000, "
        "\"bytes\": 16000, \"storage\": \"1\", \"stride\": [0, 0], \"flags\": [\"expanded\"]},\n"
        "    {\"name\": \"model.turned\", \"dtype\": \"F32\", \"shape\": [4, 2], \"parameters\": 8, "
        "\"bytes\": 32, \"storage\": \"2\", \"stride\": [1, 4], \"offset\": 3},\n"
        "    {\"name\": \"optimizer.exp_avg\", \"dtype\": \"F32\", \"shape\": [10, 4], \"parameters\": 40, "
        "\"bytes\": 160, \"storage\": \"3\", \"flags\": [\"no_data\", \"state\"]},\n"
        "    {\"name\": \"odd\", \"dtype\": \"string\", \"shape\": null, \"parameters\": 0, \"bytes\": null, "
        "\"storage\": null}\n"
        "  ],\n"
        "  \"totals\": {\"tensors\": 7, \"parameters\": 4136, \"unique_parameters\": 4096, \"bytes\": 16384},\n"
        "  \"metadata\": {\n"
        "    \"epoch\": \"7\"\n"
        "  },\n"
        "  \"warnings\": [\n"
        "    \"something to know\"\n"
        "  ]\n"
        "}\n");
}

/* The first of the ties is filtered away: the second then counts, once. */
static void a_filter_counts_what_it_shows(void **state)
{
    const struct shapeproof_report_inspect_options options = {.filter = "*head*", .view = SHAPEPROOF_INSPECT_TOTALS};
    (void)state;
    assert_report(open_torch(), &options,
                  "made: torch-zip\n"
                  "\n"
                  "ties        model.wte.weight = model.head.weight\n"
                  "tensors     1 of 7\n"
                  "parameters  40\n"
                  "bytes       160 B\n"
                  "dtypes      F32 40\n"
                  "metadata    epoch = 7\n");
}

/* ---- the tree ---- */

/* Layers 0-3 and 10 are equal, 4 has another shape, 7 one tensor more; "07" is no number. */
static struct shapeproof_inventory *open_layers(void)
{
    static const char *const equal[] = {"10", "0", "1", "2", "3"};
    struct shapeproof_inventory *inventory = open_made(&format_safetensors);
    char name[64];
    add(inventory, "head.weight", 2, 2, NULL);
    for (size_t i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "m.layers.%s.w", equal[i]);
        add(inventory, name, 3, 3, NULL);
        snprintf(name, sizeof name, "m.layers.%s.b", equal[i]);
        add(inventory, name, 3, 0, NULL);
    }
    add(inventory, "m.layers.4.w", 3, 4, NULL);
    add(inventory, "m.layers.4.b", 3, 0, NULL);
    add(inventory, "m.layers.7.w", 3, 3, NULL);
    add(inventory, "m.layers.7.b", 3, 0, NULL);
    add(inventory, "m.layers.7.extra", 1, 0, NULL);
    add(inventory, "m.layers.07.w", 3, 3, NULL);
    add(inventory, "m.norm", 3, 0, NULL);
    return inventory;
}

static void equal_siblings_are_folded_and_others_are_not(void **state)
{
    const struct shapeproof_report_inspect_options options = {.view = SHAPEPROOF_INSPECT_TREE};
    (void)state;
    assert_report(open_layers(), &options,
                  "made: safetensors\n"
                  "\n"
                  "name          tensors  dtype  shape   parameters  bytes  note\n"
                  "head.weight            F32    (2, 2)           4   16 B\n"
                  "m                  17                        100  400 B\n"
                  "  layers           16                         97  388 B\n"
                  "    {0-3,10}       10                         60  240 B  5 x 12\n"
                  "      w                F32    (3, 3)           9   36 B\n"
                  "      b                F32    (3)              3   12 B\n"
                  "    4               2                         15   60 B\n"
                  "      w                F32    (3, 4)          12   48 B\n"
                  "      b                F32    (3)              3   12 B\n"
                  "    7               3                         13   52 B\n"
                  "      w                F32    (3, 3)           9   36 B\n"
                  "      b                F32    (3)              3   12 B\n"
                  "      extra            F32    (1)              1    4 B\n"
                  "    07.w               F32    (3, 3)           9   36 B\n"
                  "  norm                 F32    (3)              3   12 B\n"
                  "\n"
                  "tensors     18\n"
                  "parameters  104\n"
                  "bytes       416 B\n"
                  "dtypes      F32 104\n");
}

static void prefixes_are_summed_up(void **state)
{
    const struct shapeproof_report_inspect_options options = {
        .view = SHAPEPROOF_INSPECT_PREFIXES, .depth = 2, .sort = SHAPEPROOF_SORT_NAME};
    (void)state;
    assert_report(open_layers(), &options,
                  "made: safetensors\n"
                  "\n"
                  "prefix       tensors  parameters  bytes\n"
                  "head.weight        1           4   16 B\n"
                  "m.layers.         16          97  388 B\n"
                  "m.norm             1           3   12 B\n"
                  "\n"
                  "tensors     18\n"
                  "parameters  104\n"
                  "bytes       416 B\n"
                  "dtypes      F32 104\n");
}

/* Both of a tie have sub-trees; only one has the parameters. HDF5 paths nest too. A name may be a prefix of another. */
static void ties_paths_and_prefixes_in_the_tree(void **state)
{
    const struct shapeproof_report_inspect_options options = {.view = SHAPEPROOF_INSPECT_TREE};
    struct shapeproof_inventory *inventory = open_made(&format_hdf5);
    (void)state;
    add(inventory, "enc/0/w", 2, 2, "a");
    add(inventory, "enc/1/w", 2, 2, "b");
    add(inventory, "dec/0/w", 2, 2, "a");
    add(inventory, "dec/1/w", 2, 2, "b");
    add(inventory, "enc", 5, 0, NULL);
    assert_report(inventory, &options,
                  "made: hdf5\n"
                  "\n"
                  "name       tensors  dtype  shape   parameters  bytes  note\n"
                  "enc/{0-1}        2                          8   32 B  2 x 4\n"
                  "  w                 F32    (2, 2)           4   16 B\n"
                  "dec/{0-1}        2                          0    0 B  2 x 0\n"
                  "  w                 F32    (2, 2)           4   16 B  tied\n"
                  "enc                 F32    (5)              5   20 B\n"
                  "\n"
                  "ties        enc/0/w = dec/0/w\n"
                  "            enc/1/w = dec/1/w\n"
                  "tensors     5\n"
                  "parameters  13 unique (21 with tied tensors counted each time)\n"
                  "bytes       52 B\n"
                  "dtypes      F32 13\n");
}

static void numbered_tensors_fold_too(void **state)
{
    const struct shapeproof_report_inspect_options options = {.view = SHAPEPROOF_INSPECT_TREE};
    struct shapeproof_inventory *inventory = open_made(&format_torch_zip);
    (void)state;
    add(inventory, "0", 2, 2, NULL);
    add(inventory, "1", 2, 2, NULL);
    add(inventory, "2", 3, 0, NULL);
    assert_report(inventory, &options,
                  "made: torch-zip\n"
                  "\n"
                  "name   dtype  shape   parameters  bytes  note\n"
                  "{0-1}  F32    (2, 2)           8   32 B  2 x 4\n"
                  "2      F32    (3)              3   12 B\n"
                  "\n"
                  "tensors     3\n"
                  "parameters  11\n"
                  "bytes       44 B\n"
                  "dtypes      F32 11\n");
}

/* A name of very many components is split only so far. */
static void depth_is_bounded(void **state)
{
    const struct shapeproof_report_inspect_options options = {.view = SHAPEPROOF_INSPECT_TREE};
    struct shapeproof_inventory *inventory = open_made(&format_torch_zip);
    char deep[40001], other[40001];
    (void)state;
    for (size_t i = 0; i < sizeof deep - 1; i++) deep[i] = i % 2 ? '.' : 'a';
    deep[sizeof deep - 1] = '\0';
    memcpy(other, deep, sizeof deep);
    other[40] = 'b';
    add(inventory, deep, 1, 0, NULL);
    add(inventory, other, 1, 0, NULL);
    struct shapeproof_error error = {0};
    assert_true(sp_inventory_finish(inventory, &error));
    char *report = shapeproof_report_inspect(inventory, &options, NULL);
    assert_non_null(strstr(report, "\n  a.a.a"));
    assert_non_null(strstr(report, "\n  b.a.a"));
    shapeproof_free(report);
    shapeproof_inventory_close(inventory);
}

/* ---- order ---- */

static void names_are_sorted_by_their_numbers(void **state)
{
    const struct shapeproof_report_inspect_options options = {.sort = SHAPEPROOF_SORT_NAME};
    struct shapeproof_inventory *inventory = open_made(&format_safetensors);
    static const char *const names[] = {"h.10.w", "h.2.w", "h.02.w", "h.2", "a", "h.2.b", "h.99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) add(inventory, names[i], 1, 0, NULL);
    assert_report(inventory, &options,
                  "made: safetensors\n"
                  "\n"
                  "name                    dtype  shape  parameters  bytes\n"
                  "a                       F32    (1)             1    4 B\n"
                  "h.2                     F32    (1)             1    4 B\n"
                  "h.2.b                   F32    (1)             1    4 B\n"
                  "h.02.w                  F32    (1)             1    4 B\n"
                  "h.2.w                   F32    (1)             1    4 B\n"
                  "h.10.w                  F32    (1)             1    4 B\n"
                  "h.99999999999999999999  F32    (1)             1    4 B\n"
                  "\n"
                  "tensors     7\n"
                  "parameters  7\n"
                  "bytes       28 B\n"
                  "dtypes      F32 7\n");
}

/* ---- piece by piece ---- */

struct collected {
    struct sp_text text;
    size_t pieces;
};

static void collect(void *to, const char *bytes, size_t length)
{
    struct collected *collected = to;
    sp_text_append(&collected->text, bytes, length);
    collected->pieces++;
    assert_int_not_equal(length, 0);
}

static void assert_pieces_are_the_whole(const struct shapeproof_inventory *inventory,
                                        enum shapeproof_report_format format)
{
    struct collected collected = {0};
    const struct shapeproof_report_inspect_options whole = {.report = {.format = format}},
                                                   pieces = {.report = whole.report, .sink = collect, .to = &collected};
    char *expected = shapeproof_report_inspect(inventory, &whole, NULL),
         *rest = shapeproof_report_inspect(inventory, &pieces, NULL);
    sp_text_puts(&collected.text, rest);
    assert_true(collected.pieces > 2);
    assert_string_equal(collected.text.data, expected);
    sp_text_free(&collected.text);
    shapeproof_free(expected);
    shapeproof_free(rest);
}

static void pieces_are_the_whole(void **state)
{
    struct shapeproof_inventory *inventory = open_made(&format_safetensors);
    struct shapeproof_error error = {0};
    char name[32];
    (void)state;
    for (int i = 0; i < 6000; i++) {
        snprintf(name, sizeof name, "layers.%d.weight", i);
        add(inventory, name, 3, 4, NULL);
    }
    assert_true(sp_inventory_finish(inventory, &error));
    assert_pieces_are_the_whole(inventory, SHAPEPROOF_REPORT_JSON);
    assert_pieces_are_the_whole(inventory, SHAPEPROOF_REPORT_TEXT);
    shapeproof_inventory_close(inventory);
}

static void many_ties_are_summarised(void **state)
{
    const struct shapeproof_report_inspect_options options = {.view = SHAPEPROOF_INSPECT_TOTALS};
    struct shapeproof_inventory *inventory = open_made(&format_torch_zip);
    char name[32], storage[12][16];
    (void)state;
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "shared.%d", i);
        add(inventory, name, 1, 0, "s");
    }
    for (int i = 0; i < 12; i++) {
        snprintf(storage[i], sizeof storage[i], "%d", i);
        snprintf(name, sizeof name, "a.%d", i);
        add(inventory, name, 1, 0, storage[i]);
        snprintf(name, sizeof name, "b.%d", i);
        add(inventory, name, 1, 0, storage[i]);
    }
    assert_report(inventory, &options,
                  "made: torch-zip\n"
                  "\n"
                  "ties        shared.0 = shared.1 = shared.2 = shared.3 = shared.4 = ... (1 more)\n"
                  "            a.0 = b.0\n"
                  "            a.1 = b.1\n"
                  "            a.2 = b.2\n"
                  "            a.3 = b.3\n"
                  "            a.4 = b.4\n"
                  "            a.5 = b.5\n"
                  "            a.6 = b.6\n"
                  "            a.7 = b.7\n"
                  "            a.8 = b.8\n"
                  "            ... and 3 more tied tensors\n"
                  "tensors     30\n"
                  "parameters  13 unique (30 with tied tensors counted each time)\n"
                  "bytes       52 B\n"
                  "dtypes      F32 13\n");
}

static void what_cannot_be_measured_is_said(void **state)
{
    static const char *const words[] = {"compound", "enum"};
    struct shapeproof_inventory *inventory = open_made(&format_hdf5);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct shapeproof_tensor *tensor = add(inventory, words[i], 3, 0, NULL);
        tensor->dtype = SHAPEPROOF_DTYPE_UNKNOWN;
        tensor->dtype_name = words[i];
        assert_true(sp_tensor_measure(tensor));
    }
    assert_report(inventory, NULL,
                  "made: hdf5\n"
                  "\n"
                  "name      dtype     shape  parameters  bytes\n"
                  "compound  compound  (3)             3      ?\n"
                  "enum      enum      (3)             3      ?\n"
                  "\n"
                  "tensors     2\n"
                  "parameters  6\n"
                  "bytes       0 B without 2 tensors of unknown size\n"
                  "dtypes      compound 3; enum 3\n");
}

static void an_empty_checkpoint_has_totals(void **state)
{
    (void)state;
    assert_report(open_made(&format_safetensors), NULL,
                  "made: safetensors\n"
                  "\n"
                  "tensors     0\n"
                  "parameters  0\n"
                  "bytes       0 B\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_said_to_people),
        cmocka_unit_test(everything_is_said_to_programs),
        cmocka_unit_test(a_filter_counts_what_it_shows),
        cmocka_unit_test(equal_siblings_are_folded_and_others_are_not),
        cmocka_unit_test(prefixes_are_summed_up),
        cmocka_unit_test(ties_paths_and_prefixes_in_the_tree),
        cmocka_unit_test(numbered_tensors_fold_too),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(names_are_sorted_by_their_numbers),
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(many_ties_are_summarised),
        cmocka_unit_test(what_cannot_be_measured_is_said),
        cmocka_unit_test(an_empty_checkpoint_has_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
