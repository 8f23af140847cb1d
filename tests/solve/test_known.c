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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
