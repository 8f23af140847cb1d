/* SPDX-License-Identifier: MIT
 * Where tensors are, and what they are: gaps in loops, powers of two by stages, thresholds, masks; and what is said of
 * what is left. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/lessons.h"

static void add_numbered(struct problem *problem, const char *format, size_t number, uint32_t rank,
                         const uint64_t *shape)
{
    char name[100];
    snprintf(name, sizeof name, format, number); /* NOLINT(clang-diagnostic-format-nonliteral) */
    lesson_add(problem, name, rank, shape);
}

/* Every k-th layer, the last of each k, and those from F on but for the last. */
static void gaps(void **state)
{
    static const struct {
        const char *config;
        size_t width, layers, every, first;
    } made[] = {{"{\"width\": 8, \"layers\": 6, \"attn_every\": 2, \"first_skip\": 1}", 8, 6, 2, 1},
                {"{\"width\": 12, \"layers\": 9, \"attn_every\": 3, \"first_skip\": 2}", 12, 9, 3, 2},
                {"{\"width\": 20, \"layers\": 8, \"attn_every\": 4, \"first_skip\": 0}", 20, 8, 4, 0}};
    struct problem problem = {0};
    (void)state;
    for (size_t m = 0; m < sizeof made / sizeof *made; m++) {
        lesson_begin(&problem, made[m].config);
        for (size_t i = 0; i < made[m].layers; i++) {
            add_numbered(&problem, "layers.%zu.mix.weight", i, SHAPE(made[m].width, made[m].width));
            if (i % made[m].every == 0) add_numbered(&problem, "layers.%zu.attn.weight", i, SHAPE(made[m].width));
            if ((i + 1) % made[m].every == 0)
                add_numbered(&problem, "layers.%zu.cross.weight", i, SHAPE(made[m].width));
            if (i >= made[m].first && i + 1 < made[m].layers)
                add_numbered(&problem, "layers.%zu.skip.weight", i, SHAPE(made[m].width));
        }
    }
    assert_learns(&problem);
    assert_says(&problem, "layers.{i}.attn.weight    (W)   if i % A == 0\n");
    assert_says(&problem, "layers.{i}.cross.weight   (W)   if (i + 1) % A == 0\n");
    assert_says(&problem, "layers.{i}.skip.weight    (W)   if i + 1 != L and i >= F\n");
    lesson_close(&problem);
}

/* Each stage is twice as wide as the one before; the way back counts from the last one. */
static void powers_of_two(void **state)
{
    static const struct {
        const char *config;
        uint64_t width, colours;
        size_t stages;
    } made[] = {{"{\"base_width\": 4, \"stages\": 3, \"colours\": 3}", 4, 3, 3},
                {"{\"base_width\": 6, \"stages\": 4, \"colours\": 1}", 6, 1, 4},
                {"{\"base_width\": 5, \"stages\": 2, \"colours\": 2}", 5, 2, 2}};
    struct problem problem = {0};
    (void)state;
    for (size_t m = 0; m < sizeof made / sizeof *made; m++) {
        const uint64_t width = made[m].width;
        lesson_begin(&problem, made[m].config);
        for (size_t i = 0; i < made[m].stages; i++)
            add_numbered(&problem, "down.%zu.conv", i, SHAPE(width << i, i ? width << (i - 1) : made[m].colours, 3, 3));
        for (size_t i = 0; i + 1 < made[m].stages; i++) {
            const size_t last = made[m].stages - 1;
            add_numbered(&problem, "up.%zu.conv", i, SHAPE(width << (last - 1 - i), width << (last - i), 3, 3));
        }
        lesson_add(&problem, "middle", SHAPE(width << (made[m].stages - 1), 7));
    }
    assert_learns(&problem);
    assert_says(&problem, "(B*2^i, i == 0 ? C : B*2^(i - 1), 3, 3)");
    assert_says(&problem, "(B*2^(S - 2 - i), B*2^(S - 1 - i), 3, 3)");
    assert_says(&problem, "(B*2^(S - 1), 7)");
    lesson_close(&problem);
}

/* A rank of 0 is none; one expert needs no router. */
static void thresholds(void **state)
{
    static const struct {
        const char *config;
        uint64_t width, rank, experts;
    } made[] = {{"{\"width\": 8, \"rank\": 0, \"experts\": 1}", 8, 0, 1},
                {"{\"width\": 24, \"rank\": 4, \"experts\": 3}", 24, 4, 3},
                {"{\"width\": 40, \"rank\": 6, \"experts\": 1}", 40, 6, 1},
                {"{\"width\": 12, \"rank\": 0, \"experts\": 5}", 12, 0, 5}};
    struct problem problem = {0};
    (void)state;
    for (size_t m = 0; m < sizeof made / sizeof *made; m++) {
        const uint64_t width = made[m].width;
        lesson_begin(&problem, made[m].config);
        lesson_add(&problem, "norm", SHAPE(width));
        lesson_add(&problem, "out", SHAPE(width, width));
        if (made[m].rank) lesson_add(&problem, "low.first", SHAPE(made[m].rank, width));
        if (made[m].rank) lesson_add(&problem, "low.second", SHAPE(width, made[m].rank));
        else lesson_add(&problem, "full", SHAPE(width, width));
        if (made[m].experts > 1) lesson_add(&problem, "router", SHAPE(made[m].experts, width));
    }
    assert_learns(&problem);
    assert_says(&problem, "low.first    (R, W)   if R > 0\n");
    assert_says(&problem, "full         (W, W)   if R == 0\n");
    assert_says(&problem, "router       (E, W)   if E > 1\n");
    lesson_close(&problem);
}

/* What no parameter has for a type: a mask, and a count. */
static void buffers_by_type(void **state)
{
    struct problem problem = {0};
    (void)state;
    for (uint64_t places = 9; places < 12; places += 2) {
        lesson_beginf(&problem, "{\"places\": %zu}", (size_t)places);
        model_add_shape(problem.models[problem.count - 1], "mask", SHAPE(places, places))->dtype =
            SHAPEPROOF_DTYPE_BOOL;
        model_add_shape(problem.models[problem.count - 1], "steps", 0, NULL)->dtype = SHAPEPROOF_DTYPE_I64;
        lesson_add(&problem, "weight", SHAPE(places));
    }
    assert_learns(&problem);
    assert_says(&problem, "mask     (P, P)   BOOL buffer\n");
    assert_says(&problem, "steps    ()       I64 buffer\n");
    lesson_close(&problem);
}

/* What no expression says is told once, and not again for each file. */
static void what_is_left_is_told_once(void **state)
{
    static const uint64_t odd[] = {40, 1013, 77};
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        lesson_beginf(&problem, "{\"width\": %zu}", 8 + 4 * i);
        lesson_add(&problem, "first.weight", SHAPE(8 + 4 * i, 8 + 4 * i));
        lesson_add(&problem, "head.weight", SHAPE(odd[i], 8 + 4 * i));
    }
    lesson_learn(&problem);
    assert_false(shapeproof_learning_is_proved(problem.learning));
    assert_int_equal(shapeproof_learning_rest_count(problem.learning), 1);
    assert_string_equal(shapeproof_learning_rest(problem.learning, 0), "head.weight: no expression gives its "
                                                                       "dimension 0");
    assert_says(&problem, "# Not explained:\n#   head.weight: no expression gives its dimension 0\n");
    lesson_close(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps),
        cmocka_unit_test(powers_of_two),
        cmocka_unit_test(buffers_by_type),
        cmocka_unit_test(thresholds),
        cmocka_unit_test(what_is_left_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
