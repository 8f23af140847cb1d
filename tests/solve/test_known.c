/* SPDX-License-Identifier: MIT
 * Facts that are told in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "solve/known.h"

struct facts {
    struct sp_arena arena;
    struct sp_known known;
};

static void facts_open(struct facts *facts) { *facts = (struct facts){.known = {.arena = &facts->arena}}; }

static void facts_close(struct facts *facts)
{
    sp_known_free(&facts->known);
    sp_arena_free(&facts->arena);
}

static enum sp_answer tell_number(struct facts *facts, const char *path, int64_t number)
{
    const struct sp_want want = sp_want_value(sp_value_int(number));
    return sp_known_tell(&facts->known, path, &want);
}

static enum sp_answer tell_item(struct facts *facts, const char *path, size_t index, int64_t number)
{
    const struct sp_want want = {.kind = SP_WANT_ITEM, .value = sp_value_int(number), .index = index};
    return sp_known_tell(&facts->known, path, &want);
}

static enum sp_answer tell_length(struct facts *facts, const char *path, int64_t length)
{
    const struct sp_want want = {.kind = SP_WANT_LENGTH, .value = sp_value_int(length)};
    return sp_known_tell(&facts->known, path, &want);
}

static enum sp_answer tell_member(struct facts *facts, const char *path, const char *text, bool lacks)
{
    const struct sp_want want = {.kind = SP_WANT_MEMBER, .value = sp_value_string(text), .lacks = lacks};
    return sp_known_tell(&facts->known, path, &want);
}

/* What was told or made an object is forgotten, and may be told again. */
static void forgotten(void **state)
{
    struct facts facts;
    (void)state;
    facts_open(&facts);
    for (int64_t number = 16; number < 19; number++) {
        assert_int_equal(tell_number(&facts, "sub.n_embd", number), SP_HOLDS);
        assert_int_equal(tell_item(&facts, "depths", 2, number), SP_HOLDS);
        assert_int_equal(sp_known_value(&facts.known, "sub").type, SHAPEPROOF_VALUE_OBJECT);
        sp_known_clear(&facts.known);
        assert_int_equal(sp_known_value(&facts.known, "sub").type, SHAPEPROOF_VALUE_UNKNOWN);
        assert_int_equal(sp_known_value(&facts.known, "sub.n_embd").type, SHAPEPROOF_VALUE_UNKNOWN);
        assert_int_equal(sp_known_fact(&facts.known, "depths")->item_count, 0);
    }
    facts_close(&facts);
}

/* Each member is compared with all others, so that there are not very many. */
static void members_without_end(void **state)
{
    struct facts facts;
    char text[20];
    size_t told = 0;
    (void)state;
    facts_open(&facts);
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "%d", i);
        told += tell_member(&facts, "layers", sp_arena_string(&facts.arena, text), true) == SP_HOLDS;
    }
    assert_int_equal(told, 500);
    facts_close(&facts);
}

/* No model has more layers: an index beyond tells that the list is another one. */
static void items_without_end(void **state)
{
    struct facts facts;
    const struct sp_want first = {.kind = SP_WANT_ITEM, .value = sp_value_int(8), .index = 0};
    (void)state;
    facts_open(&facts);
    assert_int_equal(tell_item(&facts, "depths", 9999, 6), SP_HOLDS);
    assert_int_equal(tell_item(&facts, "depths", 10000, 6), SP_CONTRADICTS);
    assert_int_equal(sp_known_tell_inner(&facts.known, "ops", 9999, &first), SP_HOLDS);
    assert_int_equal(sp_known_tell_inner(&facts.known, "ops", 10000, &first), SP_CONTRADICTS);
    facts_close(&facts);
}

/* Told once, never changed. */
static void values(void **state)
{
    struct facts facts;
    (void)state;
    facts_open(&facts);
    assert_int_equal(sp_known_value(&facts.known, "n_embd").type, SHAPEPROOF_VALUE_UNKNOWN);
    assert_int_equal(tell_number(&facts, "n_embd", 16), SP_HOLDS);
    assert_int_equal(tell_number(&facts, "n_embd", 16), SP_HOLDS);
    assert_int_equal(tell_number(&facts, "n_embd", 17), SP_CONTRADICTS);
    assert_int_equal(sp_known_value(&facts.known, "n_embd").integer, 16);
    assert_int_equal(tell_number(&facts, "n_head", -1), SP_CONTRADICTS);
    assert_int_equal(sp_known_value(&facts.known, "n_head").type, SHAPEPROOF_VALUE_UNKNOWN);
    facts_close(&facts);
}

/* A member makes an object of what it is in; what is absent has no members. */
static void members_of_objects(void **state)
{
    struct facts facts;
    const struct sp_want absent = sp_want_value(sp_value_absent("text_config"));
    (void)state;
    facts_open(&facts);
    assert_int_equal(tell_number(&facts, "vision_config.depth", 32), SP_HOLDS);
    assert_int_equal(sp_known_value(&facts.known, "vision_config").type, SHAPEPROOF_VALUE_OBJECT);
    assert_int_equal(sp_known_tell(&facts.known, "text_config", &absent), SP_HOLDS);
    assert_int_equal(sp_known_value(&facts.known, "text_config.depth").type, SHAPEPROOF_VALUE_ABSENT);
    assert_int_equal(tell_number(&facts, "text_config.depth", 3), SP_CONTRADICTS);
    facts_close(&facts);
}

/* An item says nothing of how long the list is, and the length nothing of the items. */
static void lists(void **state)
{
    struct facts facts;
    (void)state;
    facts_open(&facts);
    assert_int_equal(tell_item(&facts, "depths", 2, 6), SP_HOLDS);
    assert_int_equal(sp_known_value(&facts.known, "depths").type, SHAPEPROOF_VALUE_UNKNOWN);
    assert_int_equal(tell_length(&facts, "depths", 2), SP_CONTRADICTS);
    assert_int_equal(tell_length(&facts, "depths", 4), SP_HOLDS);
    const struct shapeproof_value depths = sp_known_value(&facts.known, "depths");
    assert_int_equal(depths.type, SHAPEPROOF_VALUE_LIST);
    assert_int_equal(depths.count, 4);
    assert_int_equal(depths.items[1].type, SHAPEPROOF_VALUE_UNKNOWN);
    assert_int_equal(depths.items[2].integer, 6);
    assert_int_equal(tell_item(&facts, "depths", 2, 7), SP_CONTRADICTS);
    assert_int_equal(tell_item(&facts, "depths", 4, 7), SP_CONTRADICTS);
    facts_close(&facts);
}

/* A list that was told item by item ends with its last one, or as another list beside it does. */
static void ends_of_lists(void **state)
{
    struct facts facts;
    (void)state;
    facts_open(&facts);
    assert_int_equal(tell_item(&facts, "widths", 1, 64), SP_HOLDS);
    assert_int_equal(tell_item(&facts, "depths", 0, 2), SP_HOLDS);
    assert_int_equal(tell_length(&facts, "depths", 3), SP_HOLDS);
    assert_int_equal(tell_item(&facts, "other.widths", 1, 64), SP_HOLDS);
    assert_true(sp_known_close_lists(&facts.known));
    assert_int_equal(sp_known_value(&facts.known, "widths").count, 3);
    assert_int_equal(sp_known_value(&facts.known, "other.widths").count, 2);
    assert_false(sp_known_close_lists(&facts.known));
    facts_close(&facts);
}

static void what_is_in_lists(void **state)
{
    struct facts facts;
    (void)state;
    facts_open(&facts);
    assert_int_equal(tell_member(&facts, "lhuc", "all", false), SP_HOLDS);
    assert_int_equal(tell_member(&facts, "lhuc", "encoder", true), SP_HOLDS);
    assert_int_equal(tell_member(&facts, "lhuc", "all", false), SP_HOLDS);
    assert_int_equal(tell_member(&facts, "lhuc", "all", true), SP_CONTRADICTS);
    assert_int_equal(sp_known_value(&facts.known, "lhuc").type, SHAPEPROOF_VALUE_UNKNOWN);
    facts_close(&facts);
}

/* What was told since is forgotten; what was known before is as it was. */
static void trying_out(void **state)
{
    struct facts facts;
    (void)state;
    facts_open(&facts);
    assert_int_equal(tell_number(&facts, "a", 1), SP_HOLDS);
    const struct sp_mark mark = sp_known_mark(&facts.known);
    assert_int_equal(tell_number(&facts, "b", 2), SP_HOLDS);
    assert_int_equal(tell_item(&facts, "c", 0, 2), SP_HOLDS);
    sp_known_undo(&facts.known, &mark);
    assert_int_equal(sp_known_value(&facts.known, "a").integer, 1);
    assert_int_equal(sp_known_value(&facts.known, "b").type, SHAPEPROOF_VALUE_UNKNOWN);
    assert_int_equal(tell_number(&facts, "c", 5), SP_HOLDS);
    sp_known_clear(&facts.known);
    assert_int_equal(sp_known_value(&facts.known, "a").type, SHAPEPROOF_VALUE_UNKNOWN);
    assert_int_equal(tell_number(&facts, "a", 7), SP_HOLDS);
    facts_close(&facts);
}

/* What follows from a guess remembers the last one. */
static void guesses(void **state)
{
    struct facts facts;
    (void)state;
    facts_open(&facts);
    facts.known.reason = (struct sp_reason){.kind = SP_REASON_GUESS, .name = ""};
    facts.known.touched = 1;
    assert_int_equal(tell_number(&facts, "n_head", 4), SP_HOLDS);
    facts.known.reason = (struct sp_reason){.kind = SP_REASON_DIMENSION, .name = "q.weight"};
    facts.known.touched = 0;
    assert_int_equal(tell_number(&facts, "n_embd", 16), SP_HOLDS);
    assert_int_equal(sp_known_value(&facts.known, "n_head").integer, 4);
    assert_int_equal(tell_number(&facts, "head_dim", 4), SP_HOLDS);
    assert_int_equal(sp_known_fact(&facts.known, "n_embd")->guess, 0);
    assert_int_equal(sp_known_fact(&facts.known, "head_dim")->guess, 1);
    assert_int_equal(sp_known_fact(&facts.known, "head_dim")->reason.kind, SP_REASON_DIMENSION);
    assert_null(sp_known_fact(&facts.known, "n_layer"));
    facts_close(&facts);
}

/* Lists in a list; an item is known before it is how long its list is, and the list may be open again. */
static void lists_of_lists(void **state)
{
    struct facts facts;
    const struct sp_want third = {.kind = SP_WANT_ITEM, .value = sp_value_int(8), .index = 2};
    (void)state;
    facts_open(&facts);
    assert_int_equal(sp_known_tell_inner(&facts.known, "ops", 1, &third), SP_HOLDS);
    assert_int_equal(sp_known_item(&facts.known, "ops[1]", 2).integer, 8);
    assert_int_equal(sp_known_item(&facts.known, "ops[1]", 0).type, SHAPEPROOF_VALUE_UNKNOWN);
    assert_int_equal(sp_known_item(&facts.known, "ops[1]", 7).type, SHAPEPROOF_VALUE_UNKNOWN);
    assert_int_equal(sp_known_value(&facts.known, "ops[1][2]").integer, 8);
    assert_int_equal(sp_known_value(&facts.known, "ops").type, SHAPEPROOF_VALUE_UNKNOWN);
    assert_int_equal(sp_known_count_set(&facts.known), 1);
    assert_int_equal(tell_length(&facts, "ops", 1), SP_CONTRADICTS);
    assert_int_equal(tell_length(&facts, "ops[0]", 2), SP_HOLDS);
    assert_int_equal(tell_length(&facts, "ops", 4), SP_HOLDS);
    assert_int_equal(sp_known_tell_inner(&facts.known, "ops", 4, &third), SP_CONTRADICTS);
    sp_known_open_list(&facts.known, "ops");
    while (sp_known_close_lists(&facts.known)) continue;
    assert_int_equal(sp_known_value(&facts.known, "ops").count, 2);
    assert_int_equal(sp_known_value(&facts.known, "ops").items[0].count, 2);
    assert_int_equal(sp_known_value(&facts.known, "ops").items[1].count, 3);
    facts_close(&facts);
}

static void assert_number(struct facts *facts, const char *path, int64_t number)
{
    const struct shapeproof_value value = sp_known_value(&facts->known, path);
    assert_int_equal(value.type, SHAPEPROOF_VALUE_INT);
    assert_int_equal(value.integer, number);
}

static void assert_unknown(struct facts *facts, const char *path)
{
    assert_int_equal(sp_known_value(&facts->known, path).type, SHAPEPROOF_VALUE_UNKNOWN);
}

/* What an inner scope keeps is forgotten with the outer one; so is what was told after the inner one; and what was
 * forgotten within is known again. */
static void scopes_within_scopes(void **state)
{
    struct facts facts;
    (void)state;
    facts_open(&facts);
    tell_number(&facts, "first", 1);
    const struct sp_mark outer = sp_known_mark(&facts.known);
    tell_number(&facts, "second", 2);
    const struct sp_mark kept = sp_known_mark(&facts.known);
    tell_number(&facts, "third", 3);
    tell_item(&facts, "list", 1, 7);
    sp_known_commit(&facts.known, &kept);
    assert_number(&facts, "third", 3);
    const struct sp_mark undone = sp_known_mark(&facts.known);
    sp_known_clear(&facts.known);
    assert_unknown(&facts, "first");
    tell_number(&facts, "first", 10);
    sp_known_undo(&facts.known, &undone);
    assert_number(&facts, "first", 1);
    assert_number(&facts, "second", 2);
    assert_number(&facts, "third", 3);
    tell_length(&facts, "list", 2);
    assert_int_equal(sp_known_value(&facts.known, "list").count, 2);
    sp_known_undo(&facts.known, &outer);
    assert_number(&facts, "first", 1);
    assert_unknown(&facts, "second");
    assert_unknown(&facts, "third");
    assert_unknown(&facts, "list");
    assert_int_equal(facts.known.trail.count, 0);
    assert_int_equal(tell_number(&facts, "third", 4), SP_HOLDS);
    facts_close(&facts);
}

/* Nothing is noted outside of a scope, nor after the last one is closed. */
static void trail_ends_with_the_scope(void **state)
{
    struct facts facts;
    (void)state;
    facts_open(&facts);
    tell_number(&facts, "first", 1);
    assert_int_equal(facts.known.trail.count, 0);
    const struct sp_mark mark = sp_known_mark(&facts.known);
    for (int64_t i = 0; i < 5; i++) tell_item(&facts, "list", (size_t)i, i);
    assert_int_equal(facts.known.trail.count, 6); /* the list and its items, each once */
    sp_known_commit(&facts.known, &mark);
    assert_int_equal(facts.known.trail.count, 0);
    facts_close(&facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgotten),
        cmocka_unit_test(members_without_end),
        cmocka_unit_test(items_without_end),
        cmocka_unit_test(values),
        cmocka_unit_test(members_of_objects),
        cmocka_unit_test(lists),
        cmocka_unit_test(ends_of_lists),
        cmocka_unit_test(what_is_in_lists),
        cmocka_unit_test(trying_out),
        cmocka_unit_test(guesses),
        cmocka_unit_test(lists_of_lists),
        cmocka_unit_test(scopes_within_scopes),
        cmocka_unit_test(trail_ends_with_the_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
