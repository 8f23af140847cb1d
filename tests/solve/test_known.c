/* SPDX-License-Identifier: MIT
 * What is known of hyper-parameters: which of it is forgotten, by the reasons for it. */
#include "solve/solving.h"

static void tell(struct sp_known *known, const char *key, struct sp_reason reason)
{
    const struct sp_want want = sp_want_value(sp_value_int(4));
    known->reason = reason;
    assert_int_equal(sp_known_tell(known, key, &want), SP_HOLDS);
}

/* Tells one key for each kind of reason. */
static void tell_some_of_each(struct sp_known *known)
{
    const struct sp_want item = {.kind = SP_WANT_ITEM, .index = 1, .value = sp_value_int(4)};
    known->touched = 0; /* what is told follows from no guess */
    tell(known, "sure", (struct sp_reason){.kind = SP_REASON_DIMENSION});
    tell(known, "rounded", (struct sp_reason){.kind = SP_REASON_DIMENSION, .rounded = true});
    tell(known, "product", (struct sp_reason){.kind = SP_REASON_PRODUCT});
    tell(known, "tie", (struct sp_reason){.kind = SP_REASON_TIE});
    known->reason = (struct sp_reason){.kind = SP_REASON_DIMENSION};
    assert_int_equal(sp_known_tell(known, "list", &item), SP_HOLDS);
    sp_known_settle(known, "tried", sp_value_int(4));
    sp_known_settle_as_guess(known, "number", sp_value_int(4));
    sp_known_settle_as_guess(known, "flag", sp_value_bool(true));
}

/* The keys that are known. */
static void assert_known(struct sp_known *known, const char *expected)
{
    static const char *const keys[] = {"sure", "rounded", "product", "tie", "list[1]", "tried", "number", "flag"};
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct sp_fact *fact = sp_known_fact(known, keys[i]);
        if (fact && fact->value.type != SHAPEPROOF_VALUE_UNKNOWN)
            sp_text_printf(&text, "%s%s", text.length ? " " : "", keys[i]);
    }
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
}

static void what_is_forgotten(void **state)
{
    struct sp_arena arena = {0};
    struct sp_known known = {.arena = &arena};
    (void)state;
    tell_some_of_each(&known);
    assert_known(&known, "sure rounded product tie list[1] tried number flag");
    assert_true(sp_known_forget_guesses(&known, SP_FORGET_GUESSES));
    assert_known(&known, "sure rounded product tie list[1]");
    assert_false(sp_known_forget_guesses(&known, SP_FORGET_GUESSES));
    assert_true(sp_known_forget_guesses(&known, SP_FORGET_GUESSES_AND_LISTS));
    assert_known(&known, "sure rounded product tie");
    sp_known_clear(&known);
    assert_known(&known, "");
    tell_some_of_each(&known);
    sp_known_forget_dimensions(&known);
    assert_known(&known, "tie tried flag");
    sp_known_clear(&known);
    tell_some_of_each(&known);
    sp_known_keep_dimensions(&known);
    assert_known(&known, "sure");
    sp_known_free(&known);
    sp_arena_free(&arena);
}

/* Which keys have changed since a state: those that were told, an item as its list, and the objects around a member;
 * not what was told in a scope that is undone. */
static void what_has_changed(void **state)
{
    struct sp_arena arena = {0};
    struct sp_known known = {.arena = &arena};
    const struct sp_want item = {.kind = SP_WANT_ITEM, .index = 1, .value = sp_value_int(4)};
    uint64_t asked[4];
    static const char *const keys[] = {"width", "sizes", "text_config.heads", "text_config"}; /* of different hashes */
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        known.asked = 0;
        sp_known_value(&known, keys[i]);
        asked[i] = known.asked;
    }
    const size_t start = known.states;
    for (size_t i = 0; i < 4; i++) assert_false(sp_known_has_changed(&known, asked[i], start));
    tell(&known, "width", (struct sp_reason){.kind = SP_REASON_DIMENSION});
    assert_true(sp_known_has_changed(&known, asked[0], start));
    assert_false(sp_known_has_changed(&known, asked[1], start));
    assert_false(sp_known_has_changed(&known, asked[0], known.states));

    const size_t before = known.states, changes = known.changes;
    const struct sp_mark mark = sp_known_mark(&known);
    assert_int_equal(sp_known_tell(&known, "sizes", &item), SP_HOLDS);
    assert_true(sp_known_has_changed(&known, asked[1], before));
    sp_known_undo(&known, &mark);
    assert_false(sp_known_has_changed(&known, asked[1], before));
    assert_int_equal(known.changes, changes);
    assert_int_equal(sp_known_tell(&known, "sizes", &item), SP_HOLDS);
    assert_true(sp_known_has_changed(&known, asked[1], before));
    assert_true(known.changes > changes);

    const size_t last = known.states;
    tell(&known, "text_config.heads", (struct sp_reason){.kind = SP_REASON_DIMENSION});
    assert_true(sp_known_has_changed(&known, asked[2], last));
    assert_true(sp_known_has_changed(&known, asked[3], last)); /* it is an object now */
    assert_false(sp_known_has_changed(&known, asked[0], last));
    sp_known_spare_defaults(&known, true);
    assert_true(sp_known_has_changed(&known, SP_ASKED_DEFAULTS, last));
    sp_known_clear(&known);
    assert_true(sp_known_has_changed(&known, asked[0], last));
    sp_known_free(&known);
    sp_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_forgotten), cmocka_unit_test(what_has_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
