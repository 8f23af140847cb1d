/* SPDX-License-Identifier: MIT
 * Loops over names: words of a list of the configuration, and what only looks like them. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/lessons.h"

enum { MOST_NAMES = 4 };

/* A model with something for each name. */
struct made {
    uint64_t width;
    const char *names[MOST_NAMES + 1];
};

static void begin_made(struct problem *problem, const struct made *made, const char *key)
{
    char list[200] = "";
    for (size_t i = 0; made->names[i]; i++) {
        strcat(list, i ? ", \"" : "\"");
        strcat(list, made->names[i]);
        strcat(list, "\"");
    }
    lesson_beginf(problem, "{\"width\": %zu, \"%s\": [%s]}", (size_t)made->width, key, list);
}

/* Three tensors for each name, as "encoders.sound.up.weight". */
static void add_made(struct problem *problem, const struct made *made)
{
    for (size_t i = 0; made->names[i]; i++) {
        lesson_addf(problem, SHAPE(4 * made->width, made->width), "encoders.%s.up.weight", made->names[i]);
        lesson_addf(problem, SHAPE(made->width, 4 * made->width), "encoders.%s.down.weight", made->names[i]);
        lesson_addf(problem, SHAPE(made->width), "%s_norm.weight", made->names[i]);
    }
}

static const struct made several[] = {
    {6, {"text", "sound"}}, {10, {"text", "picture"}}, {14, {"video", "sound", "text"}}};

static bool is_doubted(const struct problem *problem, const char *chosen, const char *alternatives)
{
    for (size_t i = 0; i < shapeproof_learning_undecided_count(problem->learning); i++) {
        const struct shapeproof_undecided *undecided = shapeproof_learning_undecided(problem->learning, i);
        if (strcmp(undecided->chosen, chosen) == 0 && strcmp(undecided->alternatives, alternatives) == 0) return true;
    }
    return false;
}

/* Each example has other names. */
static void names_of_a_list(void **state)
{
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        begin_made(&problem, &several[i], "inputs");
        add_made(&problem, &several[i]);
    }
    assert_learns(&problem);
    assert_says(&problem, "[encoders] for name in inputs\n");
    assert_says(&problem, "encoders.{name}.up.weight ");
    assert_says(&problem, "{name}_norm.weight ");
    for (size_t i = 0; i < shapeproof_learning_undecided_count(problem.learning); i++)
        assert_null(strstr(shapeproof_learning_undecided(problem.learning, i)->chosen, "names in"));
    lesson_close(&problem);
}

/* A size for each, and a module that one of them has. */
static void sizes_of_names(void **state)
{
    struct problem problem = {0};
    static const char *const configs[] = {"{\"width\": 6, \"inputs\": [\"text\", \"sound\"], \"sizes\": [20, 31]}",
                                          "{\"width\": 10, \"inputs\": [\"sound\"], \"sizes\": [17]}",
                                          "{\"width\": 14, \"inputs\": [\"video\", \"text\"], \"sizes\": [9, 44]}"};
    (void)state;
    lesson_begin(&problem, configs[0]);
    lesson_add(&problem, "first.text.weight", SHAPE(6, 20));
    lesson_add(&problem, "first.sound.weight", SHAPE(6, 31));
    lesson_add(&problem, "first.sound.wave", SHAPE(6, 1));
    lesson_begin(&problem, configs[1]);
    lesson_add(&problem, "first.sound.weight", SHAPE(10, 17));
    lesson_add(&problem, "first.sound.wave", SHAPE(10, 1));
    lesson_begin(&problem, configs[2]);
    lesson_add(&problem, "first.video.weight", SHAPE(14, 9));
    lesson_add(&problem, "first.text.weight", SHAPE(14, 44));
    assert_learns(&problem);
    assert_says(&problem, "first.{inputs[i]}.weight   (W, sizes[i])");
    assert_says(&problem, "if inputs[i] == \"sound\"");
    lesson_close(&problem);
}

/* From each to each other one. */
static void pairs_of_names(void **state)
{
    struct problem problem = {0};
    (void)state;
    for (size_t m = 0; m < sizeof several / sizeof *several; m++) {
        const struct made *made = &several[m];
        begin_made(&problem, made, "inputs");
        for (size_t i = 0; made->names[i]; i++)
            for (size_t k = 0; made->names[k]; k++) {
                char text[100];
                snprintf(text, sizeof text, "cross.%s_to_%s.weight", made->names[i], made->names[k]);
                if (i != k) lesson_add(&problem, text, SHAPE(made->width, made->width));
            }
    }
    assert_learns(&problem);
    assert_says(&problem, "cross.{inputs[i]}_to_{inputs[j]}.weight   (W, W)   if j != i");
    lesson_close(&problem);
}

/* The list is the same in all examples: it may be none of its business, which is said. */
static void one_list_everywhere(void **state)
{
    struct problem problem = {0};
    const struct made made[] = {{6, {"left", "right"}}, {10, {"left", "right"}}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        begin_made(&problem, &made[i], "sides");
        add_made(&problem, &made[i]);
    }
    assert_learns(&problem);
    assert_says(&problem, "for name in sides");
    assert_true(is_doubted(&problem, "names in sides", "names in [\"left\", \"right\"]"));
    lesson_close(&problem);
}

/* Two lists that are equal: one of them is chosen, and the other said. */
static void two_lists(void **state)
{
    struct problem problem = {0};
    static const char *const names[] = {"red", "blue"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        lesson_beginf(&problem, "{\"width\": %u, \"losses\": [\"%s\"], \"encoders\": [\"%s\"]}", i ? 9 : 7, names[i],
                      names[i]);
        lesson_addf(&problem, SHAPE(i ? 9 : 7), "encoders.%s.weight", names[i]);
    }
    assert_learns(&problem);
    assert_says(&problem, "for name in encoders");
    assert_true(is_doubted(&problem, "names in encoders", "names in losses"));
    lesson_close(&problem);
}

/* ---- names that no configuration lists ---- */

/* Towers that are alike are written once; where that saves no lines, q, k and v, each is. */
static void towers(void **state)
{
    static const char *const names[] = {"text", "picture", "sound"};
    struct problem problem = {0};
    (void)state;
    for (uint64_t layers = 1; layers < 4; layers++) {
        const uint64_t width = 4 + 6 * layers;
        lesson_beginf(&problem, "{\"width\": %zu, \"layers\": %zu}", (size_t)width, (size_t)layers);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            for (size_t i = 0; i < layers; i++) {
                lesson_addf(&problem, SHAPE(4 * width, width), "%s.layers.%zu.up.weight", names[n], i);
                lesson_addf(&problem, SHAPE(width, 4 * width), "%s.layers.%zu.down.weight", names[n], i);
                lesson_addf(&problem, SHAPE(width), "%s.layers.%zu.norm.weight", names[n], i);
            }
        lesson_add(&problem, "mix.q.weight", SHAPE(width, width));
        lesson_add(&problem, "mix.k.weight", SHAPE(width, width));
        lesson_add(&problem, "mix.v.weight", SHAPE(width, width));
    }
    assert_learns(&problem);
    assert_says(&problem, "[layers] for i in 0..L-1 for name in [\"text\", \"picture\", \"sound\"]\n"
                          "{name}.layers.{i}.up.weight     (4*W, W)\n"
                          "{name}.layers.{i}.down.weight   (W, 4*W)\n"
                          "{name}.layers.{i}.norm.weight   (W)\n");
    assert_says(&problem, "mix.k.weight ");
    assert_says_not(&problem, "picture.layers");
    lesson_close(&problem);
}

/* One of them has a width of its own: they are as alike as their expressions. */
static void towers_that_differ(void **state)
{
    static const char *const names[] = {"text", "picture", "sound"};
    struct problem problem = {0};
    (void)state;
    for (uint64_t layers = 1; layers < 4; layers++) {
        const uint64_t width = 4 + 6 * layers, wide = 50 * layers * layers;
        lesson_beginf(&problem, "{\"width\": %zu, \"sound_width\": %zu, \"layers\": %zu}", (size_t)width, (size_t)wide,
                      (size_t)layers);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            for (size_t i = 0; i < layers; i++) {
                static const char *const ends[] = {"a", "b", "c", "d", "e", "f", "g"};
                for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
                    lesson_addf(&problem, SHAPE(n == 2 ? wide : width), "%s.layers.%zu.%s.scale", names[n], i, ends[k]);
                }
            }
    }
    assert_learns(&problem);
    assert_says(&problem, "for name in [\"text\", \"picture\"]");
    assert_says(&problem, "sound.layers.{i}.{name}.scale   (S)");
    lesson_close(&problem);
}

/* ---- what is no loop ---- */

/* The list names two of three modules that are always there. */
static void some_names_of_a_list(void **state)
{
    struct problem problem = {0};
    const struct made made[] = {{6, {"text", "sound"}},
                                {10, {"text", "picture"}},
                                {14, {"sound", "picture"}},
                                {7, {"text", "sound", "picture"}}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        begin_made(&problem, &made[i], "losses");
        struct made whole = made[3];
        whole.width = made[i].width;
        add_made(&problem, &whole);
    }
    assert_learns(&problem);
    assert_says_not(&problem, "losses");
    lesson_close(&problem);
}

/* One word that is in both, by accident as far as anybody can tell; and two whose modules are not alike. */
static void accidents(void **state)
{
    struct problem problem = {0};
    (void)state;
    for (uint64_t width = 6; width < 12; width += 4) {
        char text[120];
        snprintf(text, sizeof text, "{\"width\": %zu, \"heads\": [\"score\"], \"steps\": [\"up\", \"down\"]}",
                 (size_t)width);
        lesson_begin(&problem, text);
        lesson_add(&problem, "score.weight", SHAPE(3, width));
        lesson_add(&problem, "mlp.up.weight", SHAPE(4 * width, width));
        lesson_add(&problem, "mlp.up.bias", SHAPE(4 * width));
        lesson_add(&problem, "mlp.down.weight", SHAPE(width, 4 * width));
    }
    assert_learns(&problem);
    assert_says_not(&problem, "for name");
    assert_says_not(&problem, "heads)");
    lesson_close(&problem);
}

/* A list that says which of different modules there are: each has its condition. */
static void modules_of_a_list(void **state)
{
    struct problem problem = {0};
    static const char *const configs[] = {"{\"width\": 6, \"inputs\": [\"text\"], \"symbols\": 40}",
                                          "{\"width\": 10, \"inputs\": [\"picture\", \"sound\"], \"symbols\": 51}",
                                          "{\"width\": 14, \"inputs\": [\"sound\", \"text\"], \"symbols\": 62}"};
    (void)state;
    lesson_begin(&problem, configs[0]);
    lesson_add(&problem, "text_symbols", SHAPE(40, 6));
    lesson_begin(&problem, configs[1]);
    lesson_add(&problem, "picture_patches", SHAPE(10, 3, 4, 4));
    lesson_add(&problem, "sound_wave.weight", SHAPE(10, 1, 9));
    lesson_begin(&problem, configs[2]);
    lesson_add(&problem, "text_symbols", SHAPE(62, 14));
    lesson_add(&problem, "sound_wave.weight", SHAPE(14, 1, 9));
    for (size_t i = 0; i < 3; i++) {
        const uint64_t width = 6 + 4 * i;
        model_add_shape(problem.models[i], "head.weight", SHAPE(width, width));
        model_add_shape(problem.models[i], "norm.weight", SHAPE(width));
    }
    assert_learns(&problem);
    assert_says(&problem, "if \"text\" in inputs\n");
    assert_says(&problem, "if \"sound\" in inputs\n");
    assert_says(&problem, "if \"picture\" in inputs\n");
    lesson_close(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_a_list),    cmocka_unit_test(sizes_of_names),
        cmocka_unit_test(pairs_of_names),     cmocka_unit_test(one_list_everywhere),
        cmocka_unit_test(two_lists),          cmocka_unit_test(towers),
        cmocka_unit_test(towers_that_differ), cmocka_unit_test(some_names_of_a_list),
        cmocka_unit_test(accidents),          cmocka_unit_test(modules_of_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
