/* SPDX-License-Identifier: MIT
 * What a call that fails undoes, and what one that succeeds leaves. Allocations fail because they are too large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/call.h"
#include "base/fault.h"
#include "base/map.h"

static char released[16]; /* the things that were released, one letter each */

static void release(void *thing) { strncat(released, thing, 1); }

static void start(void)
{
    *released = '\0';
    shapeproof_ran_out_of_memory();
}

/* What is held is released, the last one first; what was let go before is not released again. */
static bool hold_and_fail(struct shapeproof_error *error)
{
    SP_CALL(error, false);
    sp_hold("a", release);
    sp_hold("b", release);
    sp_hold("c", release);
    sp_let_go("b", release);
    sp_out_of_memory();
}

static void a_failed_call_releases(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    start();
    assert_false(hold_and_fail(&error));
    assert_string_equal(released, "bca");
    assert_string_equal(error.message, "out of memory");
    assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    assert_true(shapeproof_ran_out_of_memory());
    assert_false(shapeproof_ran_out_of_memory());
}

/* ---- old objects ---- */

struct object {
    struct sp_arena arena;
    struct sp_map map;
    SP_ARRAY(int) list;
    const char *text;
};

static bool change_object(struct object *object, bool fails)
{
    SP_CALL(NULL, false);
    sp_keep(object, object, sizeof *object);
    object->text = sp_arena_string(&object->arena, "new");
    for (int i = 0; i < 1000; i++) {
        *SP_PUSH(&object->list) = i;
        sp_map_add(&object->map, sp_arena_printf(&object->arena, "key %d", i), (size_t)i);
    }
    sp_map_set(&object->map, "old", 8);
    if (fails) sp_out_of_memory();
    return true;
}

static void an_old_object_is_restored(void **state)
{
    struct object object = {.text = NULL};
    (void)state;
    object.text = sp_arena_string(&object.arena, "old");
    *SP_PUSH(&object.list) = 7;
    sp_map_add(&object.map, object.text, 7);
    for (int i = 0; i < 3; i++) {
        assert_false(change_object(&object, true));
        assert_string_equal(object.text, "old");
        assert_int_equal(object.list.count, 1);
        assert_int_equal(object.list.items[0], 7);
        assert_int_equal(sp_map_get(&object.map, "old"), 7);
        assert_int_equal(sp_map_get(&object.map, "key 1"), SIZE_MAX);
    }
    assert_true(change_object(&object, false));
    assert_string_equal(object.text, "new");
    assert_int_equal(object.list.items[1000], 999);
    assert_int_equal(sp_map_get(&object.map, "old"), 8);
    assert_int_equal(sp_map_get(&object.map, "key 999"), 999);
    sp_map_free(&object.map);
    sp_free(object.list.items);
    sp_arena_free(&object.arena);
}

/* An old thing is released when the call succeeds, in the order in which it was let go. */
static bool let_go_of_old(bool fails)
{
    SP_CALL(NULL, false);
    sp_let_go("x", release);
    sp_let_go("y", release);
    assert_string_equal(released, "");
    if (fails) sp_out_of_memory();
    return true;
}

static void an_old_thing_is_released_at_the_end(void **state)
{
    (void)state;
    start();
    assert_false(let_go_of_old(true));
    assert_string_equal(released, "");
    assert_true(let_go_of_old(false));
    assert_string_equal(released, "xy");
}

/* ---- calls within calls ---- */

static int call_back(struct object *object, bool fails)
{
    SP_CALL_INNER(NULL, -1);
    *SP_PUSH(&object->list) = 1;
    sp_hold("i", release);
    if (fails) sp_out_of_memory();
    return 0;
}

static bool call_library(struct object *object, bool inner_fails, bool fails)
{
    SP_CALL(NULL, false);
    sp_hold("o", release);
    *SP_PUSH(&object->list) = 0;
    sp_keep(object, object,
            sizeof *object); /* so that the list of the outer call, which is old to the inner one, is restored */
    const size_t before = object->list.count;
    const int status = call_back(object, inner_fails);
    assert_int_equal(status, inner_fails ? -1 : 0);
    if (inner_fails) object->list.count = before;
    if (fails) sp_out_of_memory();
    sp_free(object->list.items);
    return true;
}

static void an_inner_call_fails_alone(void **state)
{
    struct object object = {.text = NULL};
    (void)state;
    start();
    assert_true(call_library(&object, true, false));
    assert_string_equal(released, "i");
    start();
    object = (struct object){.text = NULL};
    assert_false(call_library(&object, false, true)); /* what the inner one has acquired is the outer one's */
    assert_string_equal(released, "io");
}

/* A public function within another one does not catch. */
static bool call_public(struct shapeproof_error *error)
{
    SP_CALL(error, true);
    hold_and_fail(error);
    fail_msg("the inner call has returned");
    return false;
}

static void the_outermost_call_returns(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    start();
    assert_true(call_public(&error));
    assert_string_equal(released, "bca");
}

/* Blocks that move, in a set that grows. */
static bool use_many_blocks(bool fails)
{
    enum { COUNT = 5000 };
    static char *blocks[COUNT];
    SP_CALL(NULL, false);
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = sp_realloc(NULL, i + 1, 1);
        blocks[i][0] = (char)i;
    }
    for (size_t i = 0; i < COUNT; i += 3) sp_free(blocks[i]);
    for (size_t i = 1; i < COUNT; i += 3) blocks[i] = sp_realloc(blocks[i], 3 * i, 7);
    if (fails) sp_out_of_memory();
    for (size_t i = 0; i < COUNT; i++) {
        if (i % 3 == 0) continue;
        assert_int_equal(blocks[i][0], (char)i);
        assert_false(sp_is_old(blocks[i]));
        sp_free(blocks[i]);
    }
    return true;
}

static void many_blocks_are_freed(void **state)
{
    (void)state;
    assert_false(use_many_blocks(true));
    assert_true(use_many_blocks(false));
}

static bool prepare_and_hold(void)
{
    SP_CALL(NULL, false);
    sp_prepare_to_hold(3);
    sp_hold("a", release);
    sp_hold("b", release);
    sp_let_be("b", release);
    sp_out_of_memory();
}

static void what_is_let_be_is_not_released(void **state)
{
    (void)state;
    start();
    assert_false(prepare_and_hold());
    assert_string_equal(released, "a");
}

enum { BLOCK_SIZE = 64 };

/* Frees the block, and makes another one that is at the same place, as a rule, full of ones. */
static char *replace_block(char *memory)
{
    sp_free(memory);
    char *block = malloc(BLOCK_SIZE);
    memset(block, 1, BLOCK_SIZE);
    return block;
}

static void assert_all_ones(char *block)
{
    for (size_t i = 0; i < BLOCK_SIZE; i++) assert_int_equal(block[i], 1);
    free(block);
}

static bool keep_new_memory(char **block, size_t offset)
{
    SP_CALL(NULL, false);
    char *memory = sp_zeroed(BLOCK_SIZE);
    sp_keep(memory, memory + offset, BLOCK_SIZE - offset);
    *block = replace_block(memory);
    sp_out_of_memory();
}

/* What was kept in a new block is not written back into it: the block may be another's by then. */
static void new_memory_is_not_restored(void **state)
{
    char *block = NULL;
    (void)state;
    for (size_t offset = 0; offset < BLOCK_SIZE; offset += BLOCK_SIZE / 2) {
        assert_false(keep_new_memory(&block, offset));
        assert_all_ones(block);
    }
}

/* Stands for bytes of the owner: here it can be seen whether they were restored, although the owner was freed. */
static char owned;

static int change_owned(const void *owner, bool fails)
{
    SP_CALL_INNER(NULL, -1);
    sp_keep(owner, &owned, 1);
    owned = 7;
    if (fails) sp_out_of_memory();
    return 0;
}

static bool change_and_fail(const void *old)
{
    SP_CALL(NULL, false);
    owned = 0;
    void *owner = old ? NULL : sp_zeroed(BLOCK_SIZE);
    assert_int_equal(change_owned(old ? old : owner, true), -1);
    assert_int_equal(owned, 0);
    assert_int_equal(change_owned(old ? old : owner, false), 0);
    assert_int_equal(owned, 7);
    sp_free(owner);
    sp_out_of_memory();
}

/* A block that is new to a call is old to a call within it: it is restored when the inner call fails, but not when the
 * outer one does, which may have freed it. */
static void what_an_inner_call_keeps_may_be_new(void **state)
{
    static const char old[1];
    (void)state;
    assert_false(change_and_fail(NULL));
    assert_int_equal(owned, 7);
    assert_false(change_and_fail(old));
    assert_int_equal(owned, 0);
}

/* Public functions that work on the same inventory within one call: it is input of the call once. */
static void an_inventory_counts_once(void **state)
{
    static const char one[1], other[1];
    struct sp_budget budget = {.used = 0};
    (void)state;
    sp_budget_use(&budget);
    sp_budget_reuse(one, "one", 100);
    sp_budget_reuse(one, "one", 100);
    assert_int_equal(sp_budget_input(), 100);
    sp_budget_reuse(other, "other", 20);
    sp_budget_reuse(one, "one", 100);
    assert_int_equal(sp_budget_input(), 120);
    sp_budget_use(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_call_releases),
        cmocka_unit_test(an_old_object_is_restored),
        cmocka_unit_test(an_old_thing_is_released_at_the_end),
        cmocka_unit_test(an_inner_call_fails_alone),
        cmocka_unit_test(the_outermost_call_returns),
        cmocka_unit_test(many_blocks_are_freed),
        cmocka_unit_test(what_is_let_be_is_not_released),
        cmocka_unit_test(new_memory_is_not_restored),
        cmocka_unit_test(what_an_inner_call_keeps_may_be_new),
        cmocka_unit_test(an_inventory_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
