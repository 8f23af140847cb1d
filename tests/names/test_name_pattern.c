/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "names/name_pattern.h"

#define UP "model.layers.1.mlp.up_proj"

static const struct {
    const char *pattern, *module;
    bool matches;
} cases[] = {
    {"*", UP, true},
    {UP, UP, true},
    {"model.layers.1.mlp", UP, true}, /* it is within */
    {"model.layers.1.mlp.up", UP, false},
    {"model.layers.*.mlp", UP, true},
    {"model.layers.*.self_attn", UP, false},
    {"model.layers.1*", "model.layers.10.mlp.up_proj", true},
    {"model.layers.1.*", "model.layers.10.mlp.up_proj", false},
    {"*up_proj", UP, true},
    {"*gate", "model.layers.1.mlp.gate", true},
    {"*.gate", UP, false},
    {"*p*p*p*p*", UP, false},
    {"*l*l*l*", UP, true},
    {"re:.*up_proj$", UP, true},
    {"re:up_proj", UP, false}, /* from the start */
    {"re:model.layers.1", "model.layers.10", true},
    {"re:model\\.layers\\.1\\..*", "model.layers.10.mlp", false},
    {"re:.*(gate|up|down)_proj$", UP, true},
    {"re:.*(?:gate|down)_proj$", UP, false},
    {"re:model\\.layers\\.[0-3]\\..*", UP, true},
    {"re:model\\.layers\\.[^0-3]\\..*", UP, false},
    {"re:model\\.layers\\.\\d+\\.mlp", UP, true},
    {"re:model\\.layers\\.[\\d]+\\.mlp\\.\\w*$", UP, true},
    {"re:(model|vision)?.*", UP, true},
    {"re:^lm_head$", "lm_head", true},
    {"re:^lm_head$", "lm_heads", false},
    {"re:a|b", "b", true},
    {"re:(a|b)*c", "ababc", true},
    {"re:(a|b)*c", "abadc", false},
    {"re:((a+)+)+$", "aaaab", false},
    {"re:[]x]+", "]x]", true},
    {"re:(?!.*gate).*_proj$", UP, true},
    {"re:(?!.*up).*_proj$", UP, false},
    {"re:[a-", "a", true}, /* unfinished: as far as it goes */
    {"re:(a", "a", true},
    {"re:a)", "a", true},
    {"re:", UP, true},
    {"re:*", UP, false},
};

static void patterns(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t budget = 100000;
        if (sp_module_matches(cases[i].pattern, cases[i].module, &budget) != cases[i].matches)
            fail_msg("%s of %s", cases[i].pattern, cases[i].module);
    }
}

/* What takes other matchers longer than anyone waits: each ends within the budget. */
static void hostile_patterns(void **state)
{
    static const char *const hostile[] = {"re:((((((((a*)*)*)*)*)*)*)*)*b", "re:(a|a|a|a|a|a|a|a|a|a|a|a|a|a)*b",
                                          "re:(((((((((((((((((((((((((((((((a)))))))))))))))))))))))))))))))",
                                          "re:(((((a+)+)+)+)+)+(((((a+)+)+)+)+)+(((((a+)+)+)+)+)+$b",
                                          "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"};
    char module[512];
    (void)state;
    memset(module, 'a', sizeof module - 1);
    module[sizeof module - 1] = '\0';
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        size_t budget = 4000000; /* of a configuration */
        assert_false(sp_module_matches(hostile[i], module, &budget) && i != 2);
    }
}

/* Nothing matches any more, not even what is plain. */
static void no_budget(void **state)
{
    size_t budget = 10;
    (void)state;
    assert_true(sp_module_matches("*", "lm_head", &budget));
    assert_false(sp_module_matches("model.layers.0*", "model.layers.0.mlp.up_proj", &budget));
    assert_int_equal(budget, 0);
    assert_false(sp_module_matches("re:.*", "lm_head", &budget));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns), cmocka_unit_test(hostile_patterns),
                                       cmocka_unit_test(no_budget)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
