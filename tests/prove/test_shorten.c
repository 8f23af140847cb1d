/* SPDX-License-Identifier: MIT
 * The names of what repeats in long formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "prove/shorten.h"

/* As many factors as make a formula longer than a line. */
#define LONG_TAIL " + a*b*c*d*e*f*g*h*k*l*m*n*o*p*q*r*s*t*u*v*w*x*y*z*A*B*C*D*E*F*G*H*K*L*M*N*O*P*Q*R*S*T*U*V*W*X*Y*Z"

/* "NAME = MEANING; NAME = MEANING; FORMULA" of a formula with a long tail, which is left out of the result. */
static const char *shortened(struct sp_shortening *shortening, const char *formula)
{
    static char result[2000];
    const char *whole = sp_arena_printf(&shortening->arena, "%s%s", formula, LONG_TAIL);
    sp_shorten_add(shortening, whole);
    sp_shorten_choose(shortening);
    int length = 0;
    for (size_t i = 0; i < shortening->names.count; i++)
        length += snprintf(result + length, sizeof result - (size_t)length, "%s = %s; ",
                           shortening->names.items[i].name, shortening->names.items[i].meaning);
    const char *text = sp_shorten_text(shortening, whole);
    assert_true(strlen(text) > strlen(LONG_TAIL));
    const size_t head = strlen(text) - strlen(LONG_TAIL);
    assert_string_equal(text + head, LONG_TAIL);
    snprintf(result + length, sizeof result - (size_t)length, "%.*s", (int)head, text);
    sp_shorten_free(shortening);
    *shortening = (struct sp_shortening){0};
    return result;
}

static void short_formulas_stay(void **state)
{
    struct sp_shortening shortening = {0};
    const char *formula = "V*(image_size // patch_size) + N*(image_size // patch_size)";
    (void)state;
    sp_shorten_key(&shortening, "image_size");
    sp_shorten_add(&shortening, formula);
    sp_shorten_choose(&shortening);
    assert_int_equal(shortening.names.count, 0);
    assert_string_equal(sp_shorten_text(&shortening, formula), formula);
    sp_shorten_free(&shortening);
}

static void a_part_that_repeats_has_a_name(void **state)
{
    struct sp_shortening s = {0};
    (void)state;
    assert_string_equal(shortened(&s, "V*(aa // bb + cc) + N*(aa // bb + cc)"), "x_1 = aa // bb + cc; V*x_1 + N*x_1");
    assert_string_equal(shortened(&s, "min(alpha, beta) + 2*min(alpha, beta)"), "x_1 = min(alpha, beta); x_1 + 2*x_1");
    assert_string_equal(shortened(&s, "V*[alpha < beta] - [alpha < beta]"), "x_1 = [alpha < beta]; V*x_1 - x_1");
    assert_string_equal(shortened(&s, "row(alpha, beta)[1] + row(alpha, beta)[1]"),
                        "x_1 = row(alpha, beta)[1]; x_1 + x_1");
    assert_string_equal(shortened(&s, "after(text, \"a, (b\") + after(text, \"a, (b\")"),
                        "x_1 = after(text, \"a, (b\"); x_1 + x_1");
    /* once, or too short to be worth a name: (aa + bb + 1) has 11 characters without the brackets */
    assert_string_equal(shortened(&s, "V*(aa // bb + cc) + N"), "V*(aa // bb + cc) + N");
    assert_string_equal(shortened(&s, "V*(aa + bb + 1) + N*(aa + bb + 1)"), "V*(aa + bb + 1) + N*(aa + bb + 1)");
    assert_string_equal(shortened(&s, "V*(aa + bb + 12) + N*(aa + bb + 12)"), "x_1 = aa + bb + 12; V*x_1 + N*x_1");
}

static void parts_in_parts(void **state)
{
    struct sp_shortening s = {0};
    (void)state;
    /* what is in a part that repeats does not repeat by that */
    assert_string_equal(shortened(&s, "f(g(alpha, beta)*c) + f(g(alpha, beta)*c)"),
                        "x_1 = f(g(alpha, beta)*c); x_1 + x_1");
    assert_string_equal(shortened(&s, "f(g(alpha, beta)*gamma) + f(g(alpha, beta)*gamma) + g(alpha, beta)"),
                        "x_1 = g(alpha, beta); x_2 = f(x_1*gamma); x_2 + x_2 + x_1");
}

static void sums(void **state)
{
    struct sp_shortening s = {0};
    (void)state;
    /* what speaks of the index of a sum has a name with the index */
    assert_string_equal(shortened(&s, "sum(j in 0..N: min(sizes[j], 4)*min(sizes[j], 4))"),
                        "x_1(j) = min(sizes[j], 4); sum(j in 0..N: x_1(j)*x_1(j))");
    /* a sum that repeats as a whole does not */
    assert_string_equal(shortened(&s, "sum(j in 0..N: sizes[j]) + V*sum(j in 0..N: sizes[j])"),
                        "x_1 = sum(j in 0..N: sizes[j]); x_1 + V*x_1");
    /* of two indices: no name */
    assert_string_equal(
        shortened(&s, "sum(i in 0..N: sum(j in 0..i: min(at(a, i), at(b, j))*min(at(a, i), at(b, j))))"),
        "sum(i in 0..N: sum(j in 0..i: min(at(a, i), at(b, j))*min(at(a, i), at(b, j))))");
}

static void hyper_parameters(void **state)
{
    struct sp_shortening s = {0};
    (void)state;
    sp_shorten_key(&s, "vision_config.hidden_size");
    sp_shorten_key(&s, "patch_size[0]");
    sp_shorten_key(&s, "patch_size[1]");
    sp_shorten_key(&s, "depths");
    assert_string_equal(shortened(&s, "vision_config.hidden_size*patch_size[0]*patch_size[1]*depths*hidden_size"),
                        "v_hs = vision_config.hidden_size; ps_0 = patch_size[0]; ps_1 = patch_size[1]; "
                        "v_hs*ps_0*ps_1*depths*hidden_size");
    /* a longer name that begins with the key is another one */
    sp_shorten_key(&s, "vision_config.hidden_size");
    assert_string_equal(shortened(&s, "vision_config.hidden_size_2 + a.vision_config.hidden_size"),
                        "vision_config.hidden_size_2 + a.vision_config.hidden_size");
    /* an item of a list that is a key */
    sp_shorten_key(&s, "encoder_depths");
    assert_string_equal(shortened(&s, "sum(j in 0..N: encoder_depths[j])"),
                        "ed = encoder_depths; sum(j in 0..N: ed[j])");
}

static void names_that_are_in_use(void **state)
{
    struct sp_shortening s = {0};
    (void)state;
    sp_shorten_reserve(&s, "hs");
    sp_shorten_key(&s, "hidden_size");
    sp_shorten_key(&s, "head_scales");
    sp_shorten_key(&s, "inner_features"); /* "if" is a word of the language */
    sp_shorten_key(&s, "memory_in_num");  /* "min" is a function */
    assert_string_equal(
        shortened(&s, "hidden_size*head_scales*inner_features*memory_in_num*x_1*(aa // bb + cc + (aa // bb + cc))"),
        "hs_2 = hidden_size; hs_3 = head_scales; if_2 = inner_features; min_2 = memory_in_num; "
        "hs_2*hs_3*if_2*min_2*x_1*(aa // bb + cc + (aa // bb + cc))");
    assert_string_equal(shortened(&s, "x_1*f(alpha, beta)*f(alpha, beta)"), "x_2 = f(alpha, beta); x_1*x_2*x_2");
}

static void other_texts(void **state)
{
    struct sp_shortening s = {0};
    (void)state;
    sp_shorten_key(&s, "hidden_size");
    sp_shorten_add(&s, "hidden_size*f(alpha, beta)*f(alpha, beta)" LONG_TAIL);
    sp_shorten_choose(&s);
    assert_string_equal(sp_shorten_text(&s, "4*hidden_size + f(alpha, beta)"), "4*hs + x_1");
    assert_string_equal(sp_shorten_text(&s, "hidden_size is not given"), "hs is not given");
    assert_string_equal(sp_shorten_text(&s, ""), "");
    assert_string_equal(sp_shorten_text(&s, "f(alpha, beta"), "f(alpha, beta"); /* no bracket closes it */
    assert_string_equal(sp_shorten_text(&s, "hidden_size"), "hs");
    assert_string_equal(sp_shorten_text(&s, "other_size"), "other_size");
    sp_shorten_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_formulas_stay), cmocka_unit_test(a_part_that_repeats_has_a_name),
        cmocka_unit_test(parts_in_parts),      cmocka_unit_test(sums),
        cmocka_unit_test(hyper_parameters),    cmocka_unit_test(names_that_are_in_use),
        cmocka_unit_test(other_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
