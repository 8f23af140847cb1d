/* SPDX-License-Identifier: MIT
 * What inference costs: a file of many layers and few kinds of tensors, which no table explains, takes no longer than a
 * search may. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats.h"
#include "infer/search.h"
#include "lang/tables.h"
#include "model/inventory.h"

static void add(struct shapeproof_inventory *inventory, const char *name)
{
    static const uint64_t shape[] = {2, 2};
    struct shapeproof_error error = {0};
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
    tensor->name = sp_arena_string(&inventory->arena, name);
    tensor->dtype = SHAPEPROOF_DTYPE_F32;
    tensor->dtype_name = "F32";
    tensor->shape = shape;
    tensor->rank = 2;
    assert_true(sp_tensor_measure(tensor));
}

static struct shapeproof_inventory *layers(size_t count)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = sp_inventory_new("memory");
    sp_inventory_add_file(inventory, "memory");
    inventory->format = &format_safetensors;
    for (size_t i = 0; i < count; i++) {
        char name[100];
        snprintf(name, sizeof name, "model.layers.%zu.self_attn.q_proj.weight", i);
        add(inventory, name);
    }
    assert_true(sp_inventory_finish(inventory, &error));
    return inventory;
}

/* How many constraints were asked. */
static size_t questions_about(struct shapeproof_tables *tables, size_t count)
{
    enum { AT_MOST = 1000000 };
    struct sp_arena arena = {0};
    struct shapeproof_inventory *inventory = layers(count);
    struct sp_infer_search search = {.file = inventory, .arena = &arena, .searched = {.tables = tables}};
    sp_infer_search_file(&search);
    const size_t asked = AT_MOST - search.effort.checks;
    for (size_t i = 0; i < search.attempts.count; i++) sp_attempt_free(search.attempts.items[i]);
    for (size_t i = 0; i < search.views.count; i++) sp_infer_view_free(search.views.items[i]);
    free(search.attempts.items);
    free(search.views.items);
    sp_arena_free(&arena);
    shapeproof_inventory_close(inventory);
    return asked;
}

/* Twelve times as many layers once took more than a hundred times as long, and now no longer than four times. */
static void layers_without_end(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    (void)state;
    const size_t few = questions_about(tables, 500);
    assert_true(few > 0);
    assert_true(questions_about(tables, 6000) <= 4 * few);
    shapeproof_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
