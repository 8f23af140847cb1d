/* SPDX-License-Identifier: MIT
 * How deep and how far the solver looks: what is told at each limit, and what is left open beyond. */
#include "solve/solving.h"

#include "solve/literals.h"

/* A table that is laid out with nothing known. */
struct laid_out {
    struct sp_outline outline;
    const struct sp_line *line; /* the first one */
};

static void lay_out(struct laid_out *laid_out, struct shapeproof_tables *tables, struct sp_text *text)
{
    sp_outline_init(&laid_out->outline, add_table(tables, text->data), "", NULL);
    laid_out->line = laid_out->outline.lines;
    sp_text_free(text);
}

static void lay_out_free(struct laid_out *laid_out) { sp_outline_free(&laid_out->outline); }

/* The number of lines that the table of the text has. */
static size_t count_lines(struct shapeproof_tables *tables, struct sp_text *text)
{
    struct laid_out laid_out;
    lay_out(&laid_out, tables, text);
    const size_t count = laid_out.outline.count;
    lay_out_free(&laid_out);
    return count;
}

/* What follows when the first dimension of the first line is that number. */
static enum sp_answer tell_dimension(struct laid_out *laid_out, int64_t number)
{
    const struct sp_want want = sp_want_value(sp_value_int(number));
    return sp_invert(&laid_out->outline.solver, laid_out->line->env, laid_out->line->row->shape[0], &want);
}

/* Definitions front0, front1, ... each of which is the one before; front0 is `end`. */
static void put_names(struct sp_text *text, const char *front, unsigned count, const char *end)
{
    sp_text_printf(text, "%s0 = %s\n", front, end);
    for (unsigned i = 1; i < count; i++) sp_text_printf(text, "%s%u = %s%u\n", front, i, front, i - 1);
}

/* ---- depths ---- */

static bool finds_key(struct shapeproof_tables *tables, unsigned names)
{
    struct sp_text text = {0};
    struct laid_out laid_out;
    sp_text_puts(&text, "table t\n");
    put_names(&text, "n", names, "width");
    sp_text_printf(&text, "w (n%u)\n", names - 1);
    lay_out(&laid_out, tables, &text);
    const char *key = sp_solver_key(&laid_out.outline.solver, laid_out.line->env, laid_out.line->row->shape[0]);
    const bool found = key && strcmp(key, "width") == 0;
    lay_out_free(&laid_out);
    return found;
}

/* Each name stands for the next one, or for a list: `n1 = n0 default [[1]]`. */
static bool finds_list(struct shapeproof_tables *tables, unsigned names)
{
    struct sp_text text = {0};
    struct laid_out laid_out;
    sp_text_puts(&text, "table t\nn0 = widths default [[1]]\n");
    for (unsigned i = 1; i < names; i++) sp_text_printf(&text, "n%u = n%u default [[1]]\n", i, i - 1);
    sp_text_printf(&text, "w (n%u[0][1])\n", names - 1);
    lay_out(&laid_out, tables, &text);
    const bool found = tell_dimension(&laid_out, 5) == SP_HOLDS;
    lay_out_free(&laid_out);
    return found;
}

static void names_in_turn(void **state)
{
    assert_true(finds_key(*state, 63));
    assert_false(finds_key(*state, 64));
    assert_true(finds_list(*state, 64));
    assert_false(finds_list(*state, 65));
}

static bool inverts(struct shapeproof_tables *tables, unsigned operators)
{
    struct sp_text text = {0};
    struct laid_out laid_out;
    sp_text_puts(&text, "table t\nw (a");
    for (unsigned i = 0; i < operators; i++) sp_text_puts(&text, " + 1");
    sp_text_puts(&text, ")\n");
    lay_out(&laid_out, tables, &text);
    const bool holds = tell_dimension(&laid_out, 1000) == SP_HOLDS;
    if (holds) assert_int_equal(sp_known_value(&laid_out.outline.solver.known, "a").integer, 1000 - operators);
    lay_out_free(&laid_out);
    return holds;
}

static void operators_within_operators(void **state)
{
    assert_true(inverts(*state, 63));
    assert_false(inverts(*state, 64));
}

/* Lines of a table in which the name depends on `named`, as many names away. */
static size_t alternatives_behind(struct shapeproof_tables *tables, unsigned names)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "table t\n");
    put_names(&text, "n", names, "old ? \"query\" : \"key\"");
    sp_text_printf(&text, "{n%u}.w (1)\n", names - 1);
    return count_lines(tables, &text);
}

/* The same of a name that two names of one condition choose. */
static size_t alternatives_of_condition(struct shapeproof_tables *tables, unsigned names)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "table t\n");
    put_names(&text, "n", names, "width > 5");
    sp_text_printf(&text, "{n0 ? \"query\" : \"key\"}.{n%u ? \"large\" : \"small\"} (1)\n", names - 1);
    return count_lines(tables, &text);
}

static void alternatives_behind_names(void **state)
{
    assert_int_equal(alternatives_behind(*state, 23), 2);
    assert_int_equal(alternatives_behind(*state, 24), 1);
    assert_int_equal(alternatives_of_condition(*state, 24), 2);
    assert_int_equal(alternatives_of_condition(*state, 25), 4);
}

static bool depends_below(struct shapeproof_tables *tables, unsigned operators)
{
    struct sp_text text = {0};
    struct laid_out laid_out;
    sp_text_puts(&text, "table t\n[layers] for i in 0..N-1\nw.{i} (i");
    for (unsigned i = 0; i < operators; i++) sp_text_puts(&text, " + 1");
    sp_text_puts(&text, ")\n");
    lay_out(&laid_out, tables, &text);
    const bool depends = sp_depends_on(laid_out.line->env, laid_out.line->row->shape[0], laid_out.line->loop);
    lay_out_free(&laid_out);
    return depends;
}

static void dependence_below_operators(void **state)
{
    assert_true(depends_below(*state, 39));
    assert_false(depends_below(*state, 40));
}

/* Parts p0, p1, ... each of which uses the next one; the last one has the row. */
static void put_parts(struct sp_text *text, unsigned count, const char *row)
{
    for (unsigned i = 0; i + 1 < count; i++) sp_text_printf(text, "part p%u(kind)\nx.* p%u(kind)\n", i, i + 1);
    sp_text_printf(text, "part p%u(kind)\n%s\ntable t\n[a]\ny.* p0(mode)\n", count - 1, row);
}

static size_t texts_behind_parts(struct shapeproof_tables *tables, unsigned parts)
{
    struct sp_text text = {0};
    struct sp_literals literals = {0};
    put_parts(&text, parts, "w (kind == \"wide\" ? 8 : 4)");
    sp_literals_about(&literals, add_table(tables, text.data), "mode");
    const size_t count = literals.count;
    sp_literals_free(&literals);
    sp_text_free(&text);
    return count;
}

static size_t lines_behind_parts(struct shapeproof_tables *tables, unsigned parts)
{
    struct sp_text text = {0};
    put_parts(&text, parts, "w (8)");
    return count_lines(tables, &text);
}

static void parts_within_parts(void **state)
{
    assert_int_equal(texts_behind_parts(*state, 16), 1);
    assert_int_equal(texts_behind_parts(*state, 17), 0);
    assert_int_equal(lines_behind_parts(*state, 64), 1);
    assert_int_equal(lines_behind_parts(*state, 65), 0);
}

/* What depends on the architecture is a number behind so many names; behind more it may be a text. */
static bool is_known_number(struct shapeproof_tables *tables, unsigned names)
{
    struct sp_text text = {0};
    struct laid_out laid_out;
    sp_text_puts(&text, "table t\narchitectures \"flat\", \"hilly\"\n");
    put_names(&text, "n", names, "row(architecture, [[\"flat\", 0], [\"hilly\", 1]])[1] + 1");
    sp_text_printf(&text, "w.{n%u} (8)\n", names - 1);
    lay_out(&laid_out, tables, &text);
    const bool number = strcmp(sp_line_shown(&laid_out.outline, laid_out.line), "w.{}") == 0;
    lay_out_free(&laid_out);
    return number;
}

static void numbers_behind_names(void **state)
{
    assert_true(is_known_number(*state, 62));
    assert_false(is_known_number(*state, 63));
}

/* ---- counts ---- */

/* A row in loops over lists, which is a line for each combination of their items. */
static void rows_of_a_table(void **state)
{
    struct sp_text text = {0};
    struct laid_out laid_out;
    sp_text_puts(&text,
                 "part p(x)\nrequire x < 500, \"too large\"\nrequire x >= 0, \"too small\"\nw (x + 1)\ntable t\n");
    sp_text_puts(&text, "items = [0");
    for (unsigned i = 1; i < 28; i++) sp_text_printf(&text, ", %u", i);
    sp_text_puts(&text, "]\n[a] for i in items for j in items for k in items\nw.{i}.{j}.{k}.* p(k)\n");
    lay_out(&laid_out, *state, &text);
    assert_int_equal(laid_out.outline.count, 20000);
    assert_int_equal(laid_out.outline.requirement_count, 20000);
    lay_out_free(&laid_out);
}

static void texts_of_a_table(void **state)
{
    struct sp_text text = {0};
    struct sp_literals literals = {0};
    sp_text_puts(&text, "table t\n[a]\n");
    for (unsigned i = 0; i < 201; i++) sp_text_printf(&text, "w%u (E) if mode == \"text%u\"\n", i, i);
    sp_literals_about(&literals, add_table(*state, text.data), "mode");
    assert_int_equal(literals.count, 200);
    sp_literals_free(&literals);
    sp_text_free(&text);
}

/* The iteration in which a name has its number is looked for among the first ones. */
static bool finds_iteration(struct laid_out *laid_out, uint64_t iteration)
{
    const struct sp_line *line = laid_out->line;
    const uint64_t number = iteration * iteration;
    const bool found = sp_line_find_iterations(&laid_out->outline.solver, line, &number);
    if (found) assert_int_equal(line->loop->binding.value.integer, iteration);
    sp_loop_leave(line->loop);
    return found;
}

static void iterations_of_a_line(void **state)
{
    struct sp_text text = {0};
    struct laid_out laid_out;
    sp_text_puts(&text, "table t\n[a] for i in 0..1999\nw.{i*i} (8)\n");
    lay_out(&laid_out, *state, &text);
    assert_true(finds_iteration(&laid_out, 998));
    assert_false(finds_iteration(&laid_out, 999));
    lay_out_free(&laid_out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_turn),
        cmocka_unit_test(operators_within_operators),
        cmocka_unit_test(alternatives_behind_names),
        cmocka_unit_test(dependence_below_operators),
        cmocka_unit_test(parts_within_parts),
        cmocka_unit_test(numbers_behind_names),
        cmocka_unit_test(rows_of_a_table),
        cmocka_unit_test(texts_of_a_table),
        cmocka_unit_test(iterations_of_a_line),
    };
    return cmocka_run_group_tests(tests, tables_setup, tables_teardown);
}
