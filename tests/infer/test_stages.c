/* SPDX-License-Identifier: MIT
 * Modules that are numbered through all stages: where one ends shows in what its modules look like. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/finding.h"

/* How wide a stage is takes two keys, and how deep it is two more: no name and no single dimension tells. */
static void stages_of_a_list(void **state)
{
    static const char text[] = "table ladder\nmodel_type \"ladder\"\n"
                               "last = len(widths) - 1\n"
                               "wide(s) = int(widths[s] * (factor default 2.0)) // 4 * 4\n"
                               "deep(s) = int(-(-(stretch default 1.5) * repeats[s] // 1))\n"
                               "upto(s, t) = s > t ? deep(t) : 0\n"
                               "before(s) = upto(s, 0) + upto(s, 1) + upto(s, 2)\n"
                               "require last <= 3, \"no such table\"\n"
                               "[first]\nfirst.weight (wide(0), 3)\n"
                               "[rungs] for s in 0..last for j in 0..deep(s)-1\n"
                               "rung.{before(s) + j}.weight (wide(s), j == 0 ? wide(max(s - 1, 0)) : wide(s))\n"
                               "[last]\nlast.weight (5, wide(last))\n";
    static const unsigned widths[] = {8, 20, 12}, depths[] = {3, 4, 5};
    struct model model;
    unsigned number = 0;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "first.weight", SHAPE(8, 3));
    for (unsigned s = 0; s < 3; s++)
        for (unsigned j = 0; j < depths[s]; j++)
            add_module(&model, "rung", number++, "weight", widths[s], j ? widths[s] : widths[s ? s - 1 : 0]);
    model_add_shape(&model, "last.weight", SHAPE(5, 12));
    FIND();
    FOUND("ladder");
    END();
}

/* Which kinds of modules there are, and how often they are repeated. */
static void repeated_kinds(void **state)
{
    static const char text[] = "table chain\nmodel_type \"chain\"\n"
                               "kinds = block_types default [[\"conv\", \"attention\"]]\n"
                               "[levels] for i in 0..levels-1\n"
                               "level.{i}.weight (width, 7)\n"
                               "[links] for i in 0..levels-1 for j in 0..depths[i]-1 for k in 0..len(kinds[i])-1\n"
                               "link.{i}.{j*len(kinds[i]) + k}.*  link(kinds[i][k], width)\n"
                               "part link(kind, C)\n"
                               "[convolution] if kind == \"conv\"\nconv (C, 3)\n"
                               "[attention] if kind == \"attention\"\nattn (C, C)\n"
                               "[time] if kind == \"time\"\ntime (C, 2)\n"
                               "extra (C, 1)   if \"more\" in times\n"
                               "less (C, 1)    if \"less\" in times\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned i = 0; i < 2; i++) add_module(&model, "level", i, "weight", 16, 7);
    for (unsigned j = 0; j < 3; j++) add_module(&model, "link.0", j, "conv", 16, 3);
    for (unsigned j = 0; j < 4; j++) {
        add_module(&model, "link.1", 3 * j, "conv", 16, 3);
        add_module(&model, "link.1", 3 * j + 1, "time", 16, 2);
        add_module(&model, "link.1", 3 * j + 1, "less", 16, 1);
        add_module(&model, "link.1", 3 * j + 2, "attn", 16, 16);
    }
    FIND();
    FOUND("chain");
    assert_value(inferred(&finding, "block_types").value, "[[\"conv\"], [\"conv\", \"time\", \"attention\"]]");
    assert_value(inferred(&finding, "depths").value, "[3, 4]");
    assert_value(inferred(&finding, "times").value, "[\"less\"]");
    END();
}

/* What comes behind a stage has names as its modules have: only what all of them have tells how many these are. */
static void names_of_what_comes_behind(void **state)
{
    static const char text[] = "table stairs\nmodel_type \"stairs\"\n"
                               "last = len(depths) - 1\n"
                               "each(s) = ratios[s] > 0 ? 2 : 1\n"
                               "[attention] for s in 0..last for i in 0..depths[s]-1\n"
                               "stage.{s}.{each(s)*i}.attn (widths[s], widths[s])\n"
                               "[feed-forward] for s in 0..last for i in 0..depths[s]-1 if ratios[s] > 0\n"
                               "stage.{s}.{2*i + 1}.mlp (widths[s] * ratios[s], widths[s])\n"
                               "[down] for s in 0..min(last, 1)-1\n"
                               "D = down[s][1] default 16\n"
                               "stage.{s}.{each(s)*depths[s]}.down (widths[s + 1], widths[s] * D)\n"
                               "stage.{s}.{each(s)*depths[s] + 1}.mlp (2 * widths[s + 1], widths[s + 1])\n";
    static const unsigned widths[] = {8, 12};
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned s = 0; s < 2; s++)
        for (unsigned i = 0; i < 2 + s; i++) {
            add_module(&model, s ? "stage.1" : "stage.0", 2 * i, "attn", widths[s], widths[s]);
            add_module(&model, s ? "stage.1" : "stage.0", 2 * i + 1, "mlp", 3UL * widths[s], widths[s]);
        }
    add_module(&model, "stage.0", 4, "down", 12, 40);
    add_module(&model, "stage.0", 5, "mlp", 24, 12);
    FIND();
    FOUND("stairs");
    assert_value(inferred(&finding, "depths").value, "[2, 3]");
    assert_value(inferred(&finding, "ratios").value, "[3, 3]");
    END();
}

/* Of a level with one repetition there is nothing: it is a level all the same. */
static void a_level_without_repetitions(void **state)
{
    static const char text[] = "table echo\nmodel_type \"echo\"\n"
                               "n = len(widths)\n"
                               "[levels] for i in 1..n-1\n"
                               "down.{i}.weight (widths[i], widths[i - 1])\n"
                               "[repeats] for i in 0..n-1 for j in 0..repeats[i]-2\n"
                               "repeat.{i}.{j}.weight (widths[i], widths[i])\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    add_module(&model, "down", 1, "weight", 8, 4);
    add_module(&model, "down", 2, "weight", 16, 8);
    add_module(&model, "repeat.0", 0, "weight", 4, 4);
    FIND();
    FOUND("echo");
    TOLD("widths", "[4, 8, 16]");
    assert_value(inferred(&finding, "repeats").value, "[2, 1, 1]");
    END();
}

/* Two keys in front of what stands for both, one of which must be set. */
static void what_stands_behind_two_keys(void **state)
{
    static const char text[] = "table eye\nmodel_type \"eye\"\n"
                               "named = net.features\n"
                               "outs = net.indices default named default [2, 4]\n"
                               "place(s) = find([\"stem\", \"one\", \"two\", \"three\", \"four\"], s) default s % 5\n"
                               "told = not absent(net.indices) or not (absent(named) or null(named))\n"
                               "require told, \"no such table without indices\"\n"
                               "[net] for i in 0..3\n"
                               "net.{i}.weight (net.widths[i], 3)\n"
                               "[outs] for i in 0..len(outs)-1\n"
                               "out.{i}.weight (width, net.widths[place(outs[i]) - 1])\n";
    static const unsigned widths[] = {8, 16, 24, 40};
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned i = 0; i < 4; i++) add_module(&model, "net", i, "weight", widths[i], 3);
    add_module(&model, "out", 0, "weight", 6, 16);
    add_module(&model, "out", 1, "weight", 6, 40);
    FIND();
    FOUND("eye");
    assert_value(inferred(&finding, "net.indices").value, "[2, 4]");
    END();
}

/* Each level is a list of its own, of one kind of modules or the other; lists in a list may be empty. */
static void levels_of_either_kind(void **state)
{
    static const char text[] = "table slope\nmodel_type \"slope\"\n"
                               "kinds = block_types default [\"conv\", \"conv\", \"attention\"]\n"
                               "scales = multiscales default [[], [], [5]]\n"
                               "[levels] for i in 0..levels-1\n"
                               "level.{i}.0.up (width, 7)\n"
                               "[blocks] for i in 0..levels-1 for j in 0..depths[i]-1\n"
                               "level.{i}.{i < levels - 1 ? j + 1 : j + 2}.*  slope_block(kinds[i], width, scales[i])\n"
                               "part slope_block(kind, C, K)\n"
                               "[convolution] if kind == \"conv\"\nconv (C, 3)\n"
                               "[attention] if kind == \"attention\"\nattn (C, C)\n"
                               "[scales] for k in 0..len(K)-1 if kind == \"attention\"\nscale.{k} (C, K[k])\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned i = 0; i < 3; i++) {
        char list[16];
        snprintf(list, sizeof list, "level.%u", i);
        add_module(&model, list, 0, "up", 16, 7);
        for (unsigned j = 0; j < 3 - i; j++)
            add_module(&model, list, j + (i < 2 ? 1 : 2), i ? "attn" : "conv", 16, i ? 16 : 3);
    }
    FIND();
    FOUND("slope");
    assert_value(inferred(&finding, "depths").value, "[3, 2, 1]");
    assert_value(inferred(&finding, "block_types").value, "[\"conv\", \"attention\", \"attention\"]");
    assert_value(inferred(&finding, "multiscales").value, "[[], [], []]");
    END();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_of_a_list),
        cmocka_unit_test(repeated_kinds),
        cmocka_unit_test(names_of_what_comes_behind),
        cmocka_unit_test(a_level_without_repetitions),
        cmocka_unit_test(what_stands_behind_two_keys),
        cmocka_unit_test(levels_of_either_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
