/* SPDX-License-Identifier: MIT
 * What most names begin with in some examples and not in others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "learn/rows/listed.h"
#include "model/inventory.h"

enum { MOST_EXAMPLES = 4 };

/* Names with blanks between. */
static struct shapeproof_inventory *inventory_of(const char *names)
{
    static const uint64_t shape = 4;
    struct shapeproof_inventory *inventory = sp_inventory_new("memory");
    struct shapeproof_error error = {0};
    sp_inventory_add_file(inventory, "memory");
    for (const char *end; *names; names = *end ? end + 1 : end) {
        end = names + strcspn(names, " ");
        struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
        tensor->name = sp_arena_copy(&inventory->arena, names, (size_t)(end - names));
        tensor->dtype = SHAPEPROOF_DTYPE_F32;
        tensor->dtype_name = shapeproof_dtype_name(tensor->dtype);
        tensor->rank = 1;
        tensor->shape = &shape;
        assert_true(sp_tensor_measure(tensor));
    }
    assert_true(sp_inventory_finish(inventory, &error));
    return inventory;
}

/* The front, and for each example whether its names have it: "model. 10". */
static void assert_fronts(const char *const *names, const char *expected)
{
    struct sp_arena arena = {0};
    struct shapeproof_learn_example examples[MOST_EXAMPLES] = {{0}};
    struct sp_evidence evidence = {.arena = &arena, .examples = examples};
    struct shapeproof_inventory *opened[MOST_EXAMPLES];
    struct sp_fronts fronts;
    struct sp_text text = {0};
    for (; names[evidence.count]; evidence.count++)
        examples[evidence.count].inventory = opened[evidence.count] = inventory_of(names[evidence.count]);
    sp_fronts_find(&fronts, &evidence);
    sp_text_puts(&text, fronts.text);
    for (size_t i = 0; i < evidence.count && *fronts.text; i++)
        sp_text_printf(&text, "%s%d", i ? "" : " ", fronts.has[i]);
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
    sp_fronts_free(&fronts);
    for (size_t i = 0; i < evidence.count; i++) shapeproof_inventory_close(opened[i]);
    sp_arena_free(&arena);
}

#define EXAMPLES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* "Most" is more than half, of all the names. */
static void most_names(void **state)
{
    (void)state;
    assert_fronts(EXAMPLES("m.a m.b m.c", "a b c"), "m. 10");
    assert_fronts(EXAMPLES("a b c", "m.a m.b c"), "m. 01");
    assert_fronts(EXAMPLES("m.a m.b c d", "a b c d"), "");
    assert_fronts(EXAMPLES("m.a m.b m.c", "a b c", "m.x m.y u v"), "m. 100");
    assert_fronts(EXAMPLES("m.a m.b m.c", "a b c", "m.x m.y u"), "m. 101");
    assert_fronts(EXAMPLES("m.a m.b m.c", "a b u v"), ""); /* half of the names are those */
    assert_fronts(EXAMPLES("m.a m.b m.c", "a b u"), "m. 10");
    assert_fronts(EXAMPLES("m.a m.b m.c", "m.a m.b m.c"), "");
    assert_fronts(EXAMPLES("m.a.0 m.b.0", "a.1 b.1"), "m. 10"); /* whatever the numbers are */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(most_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
