/* SPDX-License-Identifier: MIT
 * What bytes of a file are for: claims that overlap, storages that are used in part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/inventory.h"

static struct shapeproof_inventory *file_of(uint64_t size)
{
    struct shapeproof_inventory *inventory = sp_inventory_new("path");
    sp_inventory_add_file(inventory, "file");
    sp_inventory_set_size(inventory, size);
    return inventory;
}

static struct shapeproof_tensor *add_bytes(struct shapeproof_inventory *inventory, const char *storage, uint64_t offset,
                                           uint64_t count)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
    uint64_t *shape = sp_arena_array(&inventory->arena, 1, sizeof *shape);
    *shape = count;
    tensor->name = sp_arena_printf(&inventory->arena, "%zu", inventory->count);
    tensor->dtype = SHAPEPROOF_DTYPE_U8;
    tensor->rank = 1;
    tensor->shape = shape;
    tensor->storage = storage;
    tensor->offset = offset;
    assert_true(sp_tensor_measure(tensor));
    return tensor;
}

/* Closes the inventory. */
static void assert_bytes(struct shapeproof_inventory *inventory, const char *expected)
{
    struct shapeproof_error error = {0};
    char found[256];
    assert_true(sp_inventory_finish(inventory, &error));
    const struct shapeproof_file_bytes *b = shapeproof_inventory_file_bytes(inventory);
    int length = snprintf(found, sizeof found, "%d %d %d %d %d", (int)b->tensors, (int)b->unused, (int)b->padding,
                          (int)b->structure, (int)b->unaccounted);
    for (size_t i = 0; i < shapeproof_inventory_unused_count(inventory); i++) {
        const struct shapeproof_unused *unused = shapeproof_inventory_unused(inventory, i);
        length +=
            snprintf(found + length, sizeof found - (size_t)length, " %s:%d", unused->storage, (int)unused->bytes);
    }
    assert_string_equal(found, expected);
    assert_int_equal(b->size, b->tensors + b->unused + b->padding + b->structure + b->unaccounted);
    shapeproof_inventory_close(inventory);
}

static void nothing_is_claimed(void **state)
{
    (void)state;
    assert_bytes(file_of(100), "0 0 0 0 100");
    assert_bytes(file_of(0), "0 0 0 0 0");
}

static void the_strongest_claim_counts(void **state)
{
    struct shapeproof_inventory *inventory = file_of(100);
    (void)state;
    struct shapeproof_tensor *tensor = add_bytes(inventory, NULL, 0, 30);
    tensor->data_begin = 20;
    tensor->data_end = 50;
    sp_inventory_claim(inventory, 0, 0, 60, SP_USE_STRUCTURE);
    sp_inventory_claim(inventory, 0, 40, 70, SP_USE_PADDING);
    sp_inventory_claim(inventory, 0, 90, 90, SP_USE_PADDING);
    sp_inventory_claim(inventory, 0, 95, 1000, SP_USE_STRUCTURE); /* past the end */
    sp_inventory_claim(inventory, 0, 200, 300, SP_USE_STRUCTURE);
    assert_bytes(inventory, "30 0 20 25 25");
}

static void storages_are_used_in_part(void **state)
{
    struct shapeproof_inventory *inventory = file_of(100);
    (void)state;
    add_bytes(inventory, "a", 2, 10);
    add_bytes(inventory, "a", 8, 10);
    add_bytes(inventory, "packed", 0, 1000);
    sp_inventory_claim_storage(inventory, 0, 0, 20, "a", "record a", false);
    sp_inventory_claim_storage(inventory, 0, 20, 30, "b", "record b", false);
    sp_inventory_claim_storage(inventory, 0, 30, 40, NULL, "nobody", false);
    sp_inventory_claim_storage(inventory, 0, 40, 60, "packed", "record c", true);
    sp_inventory_claim_storage(inventory, 0, 60, 70, "d", "record d", true);
    assert_bytes(inventory, "36 34 0 0 30 record a:4 record b:10 nobody:10 record d:10");
}

/* A tensor with a place is not counted twice when its storage is claimed as well. */
static void places_within_storages_count_once(void **state)
{
    struct shapeproof_inventory *inventory = file_of(100);
    (void)state;
    struct shapeproof_tensor *tensor = add_bytes(inventory, "a", 30, 10);
    tensor->data_begin = 40;
    tensor->data_end = 50;
    sp_inventory_claim_storage(inventory, 0, 10, 50, "a", "a", false);
    assert_bytes(inventory, "10 30 0 0 60 a:30");
}

static void files_are_summed_up(void **state)
{
    struct shapeproof_inventory *inventory = file_of(100);
    (void)state;
    sp_inventory_claim(inventory, 0, 0, 50, SP_USE_STRUCTURE);
    sp_inventory_add_file(inventory, "second");
    sp_inventory_set_size(inventory, 10);
    sp_inventory_claim(inventory, 1, 0, 50, SP_USE_PADDING);
    sp_inventory_claim_scattered(inventory, 20, SP_USE_TENSOR);
    sp_inventory_claim_scattered(inventory, 1000, SP_USE_STRUCTURE);
    assert_bytes(inventory, "20 0 10 80 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_claimed),        cmocka_unit_test(the_strongest_claim_counts),
        cmocka_unit_test(storages_are_used_in_part), cmocka_unit_test(places_within_storages_count_once),
        cmocka_unit_test(files_are_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
