/* SPDX-License-Identifier: MIT
 * Keras: layers whose names carry other numbers, or other names altogether, and layers without their variables. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/told.h"
#include "formats.h"

/* ---- files: layers of convolutions and a classifier ---- */

enum kind { KERAS_2, KERAS_3 };

static struct shapeproof_inventory *new_file(enum kind kind)
{
    struct shapeproof_inventory *inventory = sp_inventory_new("memory");
    sp_inventory_add_file(inventory, "memory");
    inventory->format = kind == KERAS_2 ? &format_keras_hdf5 : &format_keras_weights;
    return inventory;
}

static void add(struct shapeproof_inventory *inventory, const char *name, uint32_t rank, const uint64_t *shape)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
    uint64_t *kept = sp_arena_array(&inventory->arena, rank, sizeof *kept);
    memcpy(kept, shape, rank * sizeof *kept);
    tensor->name = sp_arena_string(&inventory->arena, name);
    tensor->dtype = SHAPEPROOF_DTYPE_F32;
    tensor->dtype_name = "F32";
    tensor->shape = kept;
    tensor->rank = rank;
    if (strncmp(name, "optimizer/", 10) == 0) tensor->flags |= SHAPEPROOF_TENSOR_STATE;
    if (!sp_tensor_measure(tensor)) die(name, "too large");
}

/* A kernel and a bias. */
static void add_layer(struct shapeproof_inventory *inventory, enum kind kind, const char *layer, uint32_t rank,
                      const uint64_t *kernel)
{
    char name[256];
    if (kind == KERAS_2) snprintf(name, sizeof name, "%s/%s/kernel:0", layer, layer);
    else snprintf(name, sizeof name, "layers/%s/vars/0", layer);
    add(inventory, name, rank, kernel);
    if (kind == KERAS_2) snprintf(name, sizeof name, "%s/%s/bias:0", layer, layer);
    else snprintf(name, sizeof name, "layers/%s/vars/1", layer);
    add(inventory, name, 1, &kernel[rank - 1]);
}

static struct shapeproof_inventory *finish(struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    if (!sp_inventory_finish(inventory, &error)) die("inventory", error.message);
    return inventory;
}

static const char *numbered(char *into, const char *class, int number)
{
    if (number) sprintf(into, "%s_%d", class, number);
    else strcpy(into, class);
    return into;
}

/* Four convolutions from number `first` on, of channels that grow by `growth`, and a classifier. */
static struct shapeproof_inventory *convolutions(enum kind kind, int first, uint64_t growth)
{
    struct shapeproof_inventory *inventory = new_file(kind);
    char layer[64];
    for (int i = 0; i < 4; i++)
        add_layer(inventory, kind, numbered(layer, "conv3d", first + i),
                  SHAPE(3, 3, 3, 4 + (uint64_t)i * growth, 4 + (uint64_t)(i + 1) * growth));
    add_layer(inventory, kind, numbered(layer, "dense", first ? 1 : 0), SHAPE(16, 2));
    return finish(inventory);
}

/* The same with names of people's own. */
static struct shapeproof_inventory *blocks(enum kind kind, uint64_t growth)
{
    struct shapeproof_inventory *inventory = new_file(kind);
    char layer[64];
    for (int i = 0; i < 4; i++) {
        sprintf(layer, "block%d_conv1", i + 1);
        add_layer(inventory, kind, layer, SHAPE(3, 3, 3, 4 + (uint64_t)i * growth, 4 + (uint64_t)(i + 1) * growth));
    }
    add_layer(inventory, kind, "predictions", SHAPE(16, 2));
    return finish(inventory);
}

/* ---- diff ---- */

/* The summary and the mappings, each in a line. */
static void assert_differ(struct shapeproof_inventory *a, struct shapeproof_inventory *b, const char *expected)
{
    struct shapeproof_error error;
    struct shapeproof_diff *diff = shapeproof_diff_new(a, b, NULL, &error);
    struct sp_text text = {0};
    assert_non_null(diff);
    sp_text_printf(&text, "%s\n", shapeproof_diff_summary(diff));
    for (size_t i = 0; i < shapeproof_diff_mapping_count(diff); i++) {
        const struct shapeproof_diff_mapping *mapping = shapeproof_diff_mapping(diff, i);
        sp_text_printf(&text, "%s -> %s %zu\n", mapping->from, mapping->to, mapping->tensors);
    }
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(a);
    shapeproof_inventory_close(b);
}

/* A second model of one program: none of its names is that of the first. */
static void counters_far_apart(void **state)
{
    (void)state;
    for (enum kind kind = KERAS_2; kind <= KERAS_3; kind++)
        assert_differ(convolutions(kind, 0, 1), convolutions(kind, 4, 1),
                      "in names alone: 10 tensors renamed\n"
                      "conv3d_{n}/* -> conv3d_{n+4}/* 8\n"
                      "dense_{n}/* -> dense_{n+1}/* 2\n");
}

/* conv3d_1 is in both and is not the same layer; by name it would be loaded wrong without a word where the shapes
 * agree. */
static void counters_that_overlap(void **state)
{
    (void)state;
    for (enum kind kind = KERAS_2; kind <= KERAS_3; kind++)
        for (uint64_t growth = 0; growth <= 1; growth++) {
            assert_differ(convolutions(kind, 0, growth), convolutions(kind, 1, growth),
                          "in names alone: 10 tensors renamed\n"
                          "conv3d_{n}/* -> conv3d_{n+1}/* 8\n"
                          "dense_{n}/* -> dense_{n+1}/* 2\n");
            assert_differ(convolutions(kind, 12, growth), convolutions(kind, 11, growth),
                          "in names alone: 8 tensors renamed, conv3d_{n}/* -> conv3d_{n-1}/*\n"
                          "conv3d_{n}/* -> conv3d_{n-1}/* 8\n");
        }
}

/* Loaded beside another of the same names: conv2d_10_1. */
static void an_ending_behind_all_names(void **state)
{
    struct shapeproof_inventory *a = new_file(KERAS_2), *b = new_file(KERAS_2);
    (void)state;
    add_layer(a, KERAS_2, "conv2d_9", SHAPE(3, 3, 1, 2));
    add_layer(a, KERAS_2, "conv2d_10", SHAPE(3, 3, 1, 2));
    add_layer(b, KERAS_2, "conv2d_9_1", SHAPE(3, 3, 1, 2));
    add_layer(b, KERAS_2, "conv2d_10_1", SHAPE(3, 3, 1, 2));
    assert_differ(finish(a), finish(b), "in names alone: 4 tensors renamed, x/* -> x_1/*\nx/* -> x_1/* 4\n");
}

/* A gap in the numbers, another number of layers or another shape: these are other layers. */
static void other_layers(void **state)
{
    struct shapeproof_inventory *a = new_file(KERAS_3), *b = new_file(KERAS_3);
    (void)state;
    add_layer(a, KERAS_3, "conv3d", SHAPE(3, 3, 3, 1, 2));
    add_layer(a, KERAS_3, "conv3d_1", SHAPE(3, 3, 3, 1, 2));
    add_layer(b, KERAS_3, "conv3d_1", SHAPE(3, 3, 3, 1, 2));
    add_layer(b, KERAS_3, "conv3d_3", SHAPE(3, 3, 3, 1, 2));
    assert_differ(finish(a), finish(b),
                  "in names alone: 2 tensors renamed, *.conv3d.* -> *.conv3d_3.*\n*.conv3d.* -> *.conv3d_3.* 2\n");
    a = new_file(KERAS_3), b = new_file(KERAS_3);
    add_layer(a, KERAS_3, "conv3d", SHAPE(3, 3, 3, 1, 2));
    add_layer(a, KERAS_3, "conv3d_1", SHAPE(3, 3, 3, 2, 3));
    add_layer(b, KERAS_3, "conv3d_1", SHAPE(3, 3, 3, 2, 3));
    add_layer(b, KERAS_3, "conv3d_2", SHAPE(3, 3, 3, 3, 4));
    assert_differ(finish(a), finish(b),
                  "2 tensors removed (layers/conv3d/vars/{0,1}), 2 added (layers/conv3d_2/vars/{0,1})\n");
}

/* By name nothing would be loaded; in their order all layers fit. Keras 3 keeps no order, but names that are alike. */
static void no_name_in_common(void **state)
{
    (void)state;
    assert_differ(convolutions(KERAS_2, 0, 1), blocks(KERAS_2, 1),
                  "in names alone: 10 tensors renamed\n"
                  "conv3d/* -> block1_conv1/* 2\n"
                  "conv3d_1/* -> block2_conv1/* 2\n"
                  "conv3d_2/* -> block3_conv1/* 2\n"
                  "conv3d_3/* -> block4_conv1/* 2\n"
                  "dense/* -> predictions/* 2\n");
    assert_differ(convolutions(KERAS_2, 0, 1), blocks(KERAS_2, 2),
                  "nothing in common: 10 tensors in A alone, 10 in B alone\n");
}

/* A file of fewer layers. */
static void fewer_layers(void **state)
{
    struct shapeproof_inventory *a = convolutions(KERAS_3, 0, 1), *b = new_file(KERAS_3);
    (void)state;
    add_layer(b, KERAS_3, "conv3d", SHAPE(3, 3, 3, 4, 5));
    assert_differ(a, finish(b), "8 tensors removed: layers/conv3d_{1-3}/vars/{0,1}, layers/dense/vars/{0,1}\n");
}

/* The optimizer of the one has more variables: that is no matter of the model. */
static void variables_of_the_optimizer(void **state)
{
    struct shapeproof_inventory *files[2];
    (void)state;
    for (int f = 0; f < 2; f++) {
        files[f] = new_file(KERAS_3);
        add_layer(files[f], KERAS_3, "dense", SHAPE(16, 2));
        for (int i = 0; i < (f ? 22 : 30); i++) {
            char name[64];
            sprintf(name, "optimizer/vars/%d", i);
            add(files[f], name, 1, (uint64_t[]){2});
        }
        finish(files[f]);
    }
    assert_differ(files[0], files[1],
                  "all 24 tensors, 78 elements; 8 tensors of the state of an optimizer or trainer in one alone\n");
}

/* ---- check ---- */

static const char table[] = "table convolutions\n"
                            "[convolutions]\n"
                            "layers/conv3d/vars/0     (3, 3, 3, 4, 5)\n"
                            "layers/conv3d/vars/1     (5)\n"
                            "layers/conv3d_1/vars/0   (3, 3, 3, 5, 6)\n"
                            "layers/conv3d_1/vars/1   (6)\n"
                            "layers/conv3d_2/vars/0   (3, 3, 3, 6, 7)\n"
                            "layers/conv3d_2/vars/1   (7)\n"
                            "layers/conv3d_3/vars/0   (3, 3, 3, 7, 8)\n"
                            "layers/conv3d_3/vars/1   (8)\n"
                            "[classifier]\n"
                            "layers/dense/vars/0      (16, 2)\n"
                            "layers/dense/vars/1      (2)\n";

/* The whole first line and the causes of a check against the table. */
static void assert_checked(struct shapeproof_inventory *inventory, const char *line, const char *ids, size_t open)
{
    struct model model;
    struct shapeproof_error error = {0};
    model_open(&model, "{}");
    const char *path = scratch_write(&model.scratch, "convolutions.shapes", table, strlen(table));
    assert_int_equal(shapeproof_tables_add_file(model.tables, path, &error), SHAPEPROOF_OK);
    model.inventory = inventory;
    model.check = shapeproof_check_new(inventory, model.tables, model.config,
                                       &(struct shapeproof_check_options){.table = "convolutions"}, &error);
    assert_non_null(model.check);
    struct sp_text text = {0};
    sp_text_printf(&text, "%s: %s", shapeproof_verdict_name(shapeproof_check_verdict(model.check)),
                   shapeproof_check_summary(model.check));
    model.first_line = text.data;
    assert_told(&model, line, ids, open);
    model_close(&model);
}

static void as_the_table_says(void **state)
{
    (void)state;
    assert_checked(convolutions(KERAS_3, 0, 1), "match: all 10 tensors, 4,056 elements", "", 0);
}

static void other_counters_than_the_table(void **state)
{
    (void)state;
    assert_checked(convolutions(KERAS_3, 1, 1),
                   "explained: the layers have other numbers in the file: conv3d_{n} is conv3d_{n+1}, dense_{n} is "
                   "dense_{n+1} (10 tensors); nothing else differs",
                   "counters", 0);
    assert_checked(convolutions(KERAS_3, 191, 1),
                   "explained: the layers have other numbers in the file: conv3d_{n} is conv3d_{n+191}, dense_{n} "
                   "is dense_{n+1} (10 tensors); nothing else differs",
                   "counters", 0);
}

/* What is there besides is no part of the layers that are numbered otherwise. */
static void other_counters_and_one_more(void **state)
{
    struct shapeproof_inventory *inventory = new_file(KERAS_3);
    char layer[64];
    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        add_layer(inventory, KERAS_3, numbered(layer, "conv3d", (int)i + 1), SHAPE(3, 3, 3, 4 + i, 5 + i));
    add_layer(inventory, KERAS_3, "dense_1", SHAPE(16, 2));
    add(inventory, "stray/vars/0", 1, (uint64_t[]){7});
    assert_checked(finish(inventory), "differs: stray/vars/0 is unexpected", "counters", 1);
}

/* Expected 2 variables, received none. */
static void a_layer_without_its_variables(void **state)
{
    struct shapeproof_inventory *inventory = new_file(KERAS_3);
    char layer[64];
    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        if (i != 1) add_layer(inventory, KERAS_3, numbered(layer, "conv3d", (int)i), SHAPE(3, 3, 3, 4 + i, 5 + i));
    add_layer(inventory, KERAS_3, "dense", SHAPE(16, 2));
    assert_checked(finish(inventory), "differs: layers/conv3d_1 is missing altogether (2 tensors)", "layers-missing",
                   0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_far_apart),
        cmocka_unit_test(counters_that_overlap),
        cmocka_unit_test(an_ending_behind_all_names),
        cmocka_unit_test(other_layers),
        cmocka_unit_test(no_name_in_common),
        cmocka_unit_test(fewer_layers),
        cmocka_unit_test(variables_of_the_optimizer),
        cmocka_unit_test(as_the_table_says),
        cmocka_unit_test(other_counters_than_the_table),
        cmocka_unit_test(other_counters_and_one_more),
        cmocka_unit_test(a_layer_without_its_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
