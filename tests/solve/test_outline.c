/* SPDX-License-Identifier: MIT
 * Tables laid out: the lines, their names, and what the numbers in a name mean. */
#include "solve/solving.h"

static const char loops[] = "table t\nold = style default false\n"
                            "[layers] for i in 0..N-1\n"
                            "h.{i}.w (E)\n"
                            "h.{i}.x (E) if cross default false\n"
                            "g.{i + 1}.{2*i}.fc1.w (E + i)\n"
                            "[stages] for s in 0..1 for j in 0..depths[s]-1\n"
                            "b.{s*2 + j}.w (s*10 + j)\n"
                            "[names]\n"
                            "{old ? \"q2h\" : \"dense0\"}.w (E)\n";

/* Names of lines as people see them, in order. */
static char *shown_lines(struct sp_outline *outline)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < outline->count; i++)
        sp_text_printf(&text, "%s%s", i ? " " : "", sp_line_shown(outline, &outline->lines[i]));
    return text.data;
}

/* With nothing known there is a line for each name that a row may have. */
static void nothing_known(void **state)
{
    struct sp_outline outline;
    sp_outline_init(&outline, add_table(*state, loops), "", NULL);
    char *shown = shown_lines(&outline);
    assert_string_equal(shown, "h.{}.w h.{}.x g.{}.{}.fc1.w b.{}.w q2h.w dense0.w");
    free(shown);
    sp_outline_free(&outline);
}

/* What depends on the architecture may be a text, in front of names, or a number. */
static void numbers_by_architecture(void **state)
{
    static const char text[] = "table town\narchitectures \"flat\", \"hilly\"\n"
                               "streets = row(architecture, [[\"flat\", [0, 2]], [\"hilly\", [0, 1], [2, 2]]])\n"
                               "front   = row(architecture, [[\"flat\", \"\"], [\"hilly\", \"hill.\"]])[1]\n"
                               "[streets] for g in 1..len(streets)-1 for i in 0..streets[g][1]-1\n"
                               "n = streets[g][0] + i\n"
                               "{front}street.{g}.{n}.width (g)\n";
    struct sp_outline outline;
    sp_outline_init(&outline, add_table(*state, text), "", NULL);
    char *shown = shown_lines(&outline);
    assert_string_equal(shown, "\xfe"
                               "street.{}.{}.width");
    free(shown);
    sp_outline_free(&outline);
}

/* What the configuration rules out is there as well, and what it says of names holds, but for truth values. */
static void configured(void **state)
{
    struct solving s;
    solving_open(&s, *state, loops, "{\"N\": 2, \"E\": 8, \"depths\": [2, 1], \"cross\": false, \"style\": true}");
    char *shown = shown_lines(&s.outline);
    assert_string_equal(shown, "h.{}.w h.{}.x g.{}.{}.fc1.w b.{}.w q2h.w dense0.w");
    free(shown);
    assert_false(sp_line_is_ruled_out(&s.outline.solver, &s.outline.lines[0]));
    assert_true(sp_line_is_ruled_out(&s.outline.solver, &s.outline.lines[1]));
    assert_false(sp_line_is_ruled_out(&s.outline.solver, &s.outline.lines[4]));
    assert_true(sp_line_is_ruled_out(&s.outline.solver, &s.outline.lines[5]));
    solving_close(&s);
}

/* The first dimension of the only line that has the name, in the iterations that this stands for; -1 when there is
 * none. */
static int64_t dimension_of(struct solving *s, const char *name)
{
    struct sp_line_map map;
    struct sp_indices indices;
    const struct sp_line *line;
    int64_t dimension = -1;
    sp_line_map_init(&map, &s->outline);
    if (sp_lines_named(&map, name, &indices, &line, 1) == 1) {
        sp_line_find_iterations(&s->outline.solver, line, indices.value);
        if (sp_line_is_used(&s->outline.solver, line))
            dimension = sp_solver_value(&s->outline.solver, line->env, line->row->shape[0]).integer;
        sp_loop_leave(line->loop);
    }
    sp_line_map_free(&map);
    return dimension;
}

static void names_and_iterations(void **state)
{
    struct solving s;
    solving_open(&s, *state, loops, "{\"N\": 2, \"E\": 8, \"depths\": [2, 1], \"style\": true}");
    assert_int_equal(dimension_of(&s, "h.1.w"), 8);
    assert_int_equal(dimension_of(&s, "h.2.w"), -1);
    assert_int_equal(dimension_of(&s, "h.0.x"), -1);
    assert_int_equal(dimension_of(&s, "g.2.2.fc1.w"), 9);
    assert_int_equal(dimension_of(&s, "g.2.0.fc1.w"), -1);
    assert_int_equal(dimension_of(&s, "g.2.2.fc2.w"), -1);
    assert_int_equal(dimension_of(&s, "b.1.w"), 1);
    assert_int_equal(dimension_of(&s, "b.2.w"), 10);
    assert_int_equal(dimension_of(&s, "b.3.w"), -1);
    assert_int_equal(dimension_of(&s, "q2h.w"), 8);
    assert_int_equal(dimension_of(&s, "dense0.w"), -1);
    assert_int_equal(dimension_of(&s, "other"), -1);
    solving_close(&s);
}

/* Lines whose numbers are constants, and those of loops, come in the order of the table, however many there are. */
static void constants_and_loops(void **state)
{
    enum { LINES = 300 };
    struct solving s;
    struct sp_line_map map;
    struct sp_indices indices;
    struct sp_text text = {0};
    const struct sp_line *lines[4];
    sp_text_puts(&text, "table t\nw7.1 (1)\n[a] for i in 0..9\nw{i}.1 (2)\n[b]\n");
    for (int i = 0; i < LINES; i++) sp_text_printf(&text, "w%d.1 (3) if i%d default false\n", i, i);
    sp_text_puts(&text, "[c] for i in 5..9\nw{i}.1 (4)\n");
    solving_open(&s, *state, text.data, "{}");
    sp_line_map_init(&map, &s.outline);
    assert_int_equal(sp_lines_named(&map, "w7.1", &indices, lines, 4), 4);
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(sp_solver_value(&s.outline.solver, lines[i]->env, lines[i]->row->shape[0]).integer, 1 + i);
    assert_int_equal(sp_lines_named(&map, "w7.1", &indices, lines, 2), 2);
    assert_ptr_equal(lines[0], &s.outline.lines[0]);
    assert_ptr_equal(lines[1], &s.outline.lines[1]);
    assert_int_equal(sp_lines_named(&map, "w7.2", &indices, lines, 4), 0);
    sp_line_map_free(&map);
    solving_close(&s);
    sp_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_known),        cmocka_unit_test(numbers_by_architecture), cmocka_unit_test(configured),
        cmocka_unit_test(names_and_iterations), cmocka_unit_test(constants_and_loops),
    };
    return cmocka_run_group_tests(tests, tables_setup, tables_teardown);
}
