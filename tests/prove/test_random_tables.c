/* SPDX-License-Identifier: MIT
 * The law of src/prove for tables that are made up: loops within loops, indices that shadow one another and the names
 * of hyper-parameters, conditions on indices, parts with arguments and defaults, choices, tables within tables, ties,
 * powers, lists. SEED and TABLES in the environment choose others than the first 120. */
#define _POSIX_C_SOURCE 200809L

#include "prove/law.h"

#include <ctype.h>

enum { TABLES = 120, POINTS = 12, MAX_LOOPS = 3 };

/* A table text under construction, and what the expressions in it may use. */
struct maker {
    uint64_t seed;
    struct sp_text text;
    const char *indices[MAX_LOOPS];
    size_t index_count;
    bool in_part; /* sizes are the parameters x and y */
    int rows;     /* tensors need different names */
};

static int64_t roll(struct maker *m, int64_t sides) { return below(&m->seed, sides); }

static const char *one_of(struct maker *m, const char *const *words, size_t count)
{
    return words[roll(m, (int64_t)count)];
}
#define ONE_OF(m, ...)                                                                                                 \
    one_of(m, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static const char *size_name(struct maker *m)
{
    if (m->in_part) return ONE_OF(m, "x", "y", "own", "W");
    return ONE_OF(m, "W", "E", "F", "L", "H", "zero", "i", "k", "deep.w", "W2");
}

static void put(struct maker *m, const char *text) { sp_text_puts(&m->text, text); }

static void number(struct maker *m, int depth);

/* An index is an integer from 0 up, and so may be a size of nothing. */
static void leaf(struct maker *m)
{
    if (m->index_count && roll(m, 3) == 0) put(m, m->indices[roll(m, (int64_t)m->index_count)]);
    else if (roll(m, 4) == 0) sp_text_printf(&m->text, "%d", (int)roll(m, 5));
    else put(m, size_name(m));
}

static void condition(struct maker *m, int depth);

static void binary(struct maker *m, const char *operator, int depth)
{
    put(m, "(");
    number(m, depth - 1);
    sp_text_printf(&m->text, " %s ", operator);
    number(m, depth - 1);
    put(m, ")");
}

static void call(struct maker *m, const char *name, int depth)
{
    put(m, name);
    put(m, "(");
    number(m, depth - 1);
    put(m, ", ");
    number(m, depth - 1);
    put(m, ")");
}

static void choice(struct maker *m, int depth)
{
    put(m, "(");
    condition(m, depth - 1);
    put(m, " ? ");
    number(m, depth - 1);
    put(m, " : ");
    number(m, depth - 1);
    put(m, ")");
}

/* Whole and never negative, so that most points can be predicted. */
static void number(struct maker *m, int depth)
{
    if (depth <= 0) {
        leaf(m);
        return;
    }
    switch (roll(m, 14)) {
    case 0:
    case 1:
        binary(m, "+", depth);
        break;
    case 2:
    case 3:
        binary(m, "*", depth);
        break;
    case 4:
        call(m, ONE_OF(m, "min", "max"), depth);
        break;
    case 5:
        choice(m, depth);
        break;
    case 6:
        put(m, "(");
        number(m, depth - 1);
        sp_text_printf(&m->text, " %s %d)", ONE_OF(m, "//", "%"), 1 + (int)roll(m, 4));
        break;
    case 7:
        put(m, "(");
        number(m, depth - 1);
        sp_text_printf(&m->text, ")^%d", (int)roll(m, 4));
        break;
    case 8:
        put(m, "square(");
        number(m, depth - 1);
        put(m, ")");
        break;
    case 9:
        sp_text_printf(&m->text, "(%s default ", ONE_OF(m, "W", "extra", "extra + 1", "nothing"));
        number(m, depth - 1);
        put(m, ")");
        break;
    case 10:
        sp_text_printf(&m->text, "%s(", ONE_OF(m, "ceil_div", "round_up"));
        number(m, depth - 1);
        sp_text_printf(&m->text, ", %d)", 1 + (int)roll(m, 4));
        break;
    case 11:
        put(m, ONE_OF(m, "len(sizes)", "[3, W, 5][W % 3]", "max([2, F, 7])", "sum([1, W, W])"));
        break;
    default:
        leaf(m);
    }
}

static void comparison(struct maker *m, int depth)
{
    number(m, depth);
    sp_text_printf(&m->text, " %s ", ONE_OF(m, "<", "<=", ">", ">=", "==", "!="));
    number(m, depth);
}

/* On the innermost index, as tables have it. */
static void index_condition(struct maker *m)
{
    const char *index = m->indices[roll(m, (int64_t)m->index_count)];
    switch (roll(m, 6)) {
    case 0:
        sp_text_printf(&m->text, "%s %s %s", index, ONE_OF(m, "<", "<=", ">", ">=", "==", "!="), size_name(m));
        break;
    case 1:
        sp_text_printf(&m->text, "(%s + %d) %% %d == 0", index, (int)roll(m, 3), 1 + (int)roll(m, 4));
        break;
    case 2:
        sp_text_printf(&m->text, "(%s + 1) %% %s == 0", index, m->in_part ? "own" : "L");
        break;
    case 3:
        sp_text_printf(&m->text, "%s %s [1, 2, 5]", index, ONE_OF(m, "in", "not in"));
        break;
    case 4:
        sp_text_printf(&m->text, "%s == %d", index, (int)roll(m, 4));
        break;
    default:
        sp_text_printf(&m->text, "%s %% 2 == %s", index, ONE_OF(m, "0", "1"));
    }
}

static void condition(struct maker *m, int depth)
{
    switch (roll(m, depth > 0 ? 8 : 4)) {
    case 0:
        put(m, ONE_OF(m, "tied", "b", "not b", "not tied", "flag"));
        break;
    case 1:
        comparison(m, depth > 0 ? 1 : 0);
        break;
    case 2:
    case 3:
        if (m->index_count) index_condition(m);
        else put(m, ONE_OF(m, "b", "W == H", "0 < zero", "zero == 0", "kind == \"a\"", "kind in [\"b\", \"c\"]"));
        break;
    case 4:
        put(m, "not (");
        condition(m, depth - 1);
        put(m, ")");
        break;
    default:
        put(m, "(");
        condition(m, depth - 1);
        put(m, ONE_OF(m, " and ", " or "));
        condition(m, depth - 1);
        put(m, ")");
    }
}

/* ---- groups and rows ---- */

static void tensor(struct maker *m)
{
    sp_text_printf(&m->text, "t%d", m->rows++);
    for (size_t i = 0; i < m->index_count; i++) sp_text_printf(&m->text, ".{%s}", m->indices[i]);
    put(m, " (");
    for (int64_t i = roll(m, 3); i >= 0; i--) {
        number(m, 2);
        put(m, i ? ", " : ")");
    }
    if (roll(m, 2)) {
        put(m, " if ");
        condition(m, 1);
    }
    if (roll(m, 8) == 0) put(m, ONE_OF(m, " buffer", " optional"));
    put(m, "\n");
}

/* Two tensors of one shape, of which the second may be tied to the first. */
static void tied_pair(struct maker *m)
{
    sp_text_printf(&m->text, "first%d (W, 3)\nsecond%d (W, 3) same as first%d if ", m->rows, m->rows, m->rows);
    m->rows++;
    condition(m, 1);
    put(m, "\n");
}

static void use(struct maker *m)
{
    sp_text_printf(&m->text, "u%d", m->rows++);
    for (size_t i = 0; i < m->index_count; i++) sp_text_printf(&m->text, ".{%s}", m->indices[i]);
    switch (roll(m, 4)) {
    case 0:
        put(m, ".* inner from deep with H = ");
        number(m, 1);
        break;
    case 1:
        put(m, ".* inner with w = ");
        number(m, 1);
        put(m, ", b = ");
        put(m, ONE_OF(m, "true", "b", "W < 3"));
        break;
    default:
        put(m, ".* piece(");
        number(m, 1);
        if (roll(m, 2)) {
            put(m, ", ");
            number(m, 1);
        }
        put(m, ")");
    }
    if (roll(m, 3) == 0) {
        put(m, " if ");
        condition(m, 1);
    }
    put(m, "\n");
}

static void range_loop(struct maker *m, const char *index)
{
    const char *last =
        m->in_part ? ONE_OF(m, "x-1", "own", "2") : ONE_OF(m, "L-1", "L", "L-F", "H // 2", "3", "-1", "W-2");
    const char *first = ONE_OF(m, "0", "0", "0", "1", "F", "2", "W");
    if (m->in_part && !strcmp(first, "F")) first = "y";
    const bool from_outer = m->index_count && roll(m, 3) == 0;
    if (from_outer) first = m->indices[roll(m, (int64_t)m->index_count)];
    if (m->index_count && roll(m, 4) == 0) last = m->indices[roll(m, (int64_t)m->index_count)];
    sp_text_printf(&m->text, " for %s in %s..%s", index, first, last);
}

static void heading(struct maker *m, int group)
{
    sp_text_printf(&m->text, "\n[g%d]", group);
    m->index_count = 0;
    for (int64_t loops = roll(m, MAX_LOOPS + 1); loops; loops--) {
        const char *index = ONE_OF(m, "i", "j", "k"); /* i and k are hyper-parameters as well */
        for (size_t i = 0; i < m->index_count; i++)
            if (!strcmp(m->indices[i], index)) index = "s"; /* names need every index */
        if (m->index_count && !strcmp(m->indices[m->index_count - 1], "s") && !strcmp(index, "s")) break;
        if (!m->in_part && roll(m, 5) == 0) sp_text_printf(&m->text, " for %s in sizes", index);
        else if (roll(m, 5) == 0) sp_text_printf(&m->text, " for %s in [1, 4]", index);
        else range_loop(m, index);
        m->indices[m->index_count++] = index;
        if (roll(m, 4) == 0) {
            put(m, " if ");
            condition(m, 0);
        }
    }
    put(m, "\n");
}

static void group_body(struct maker *m, bool may_use)
{
    for (int64_t rows = 1 + roll(m, 3); rows; rows--) {
        if (may_use && roll(m, 3) == 0) use(m);
        else if (!m->index_count && !m->in_part && roll(m, 4) == 0) tied_pair(m);
        else tensor(m);
    }
}

static void part(struct maker *m)
{
    m->in_part = true;
    m->index_count = 0;
    put(m, "part piece(x, y = 2*x)\nown = x + 1\nW = y default 3\nb = b default false\ntied = x < y\nflag = true\n");
    put(m, "kind = \"c\"\nzero = 0\nH = 2\nsizes = [x, 1]\nF = y\nsquare(z) = z*z\n");
    heading(m, 0);
    group_body(m, false);
    heading(m, 1);
    group_body(m, false);
    put(m, "\n");
    m->in_part = false;
}

static void inner_table(struct maker *m)
{
    put(m, "table inner\nH = H default 4\nW = w default 2\nb = b default true\n[i] for i in 0..H-1\n");
    put(m, "v.{i} (W, i + 1) if b\n[j] for j in 0..1 for i in j..W\nu.{i}.{j} (H, i)\n\n");
}

static void random_table(struct maker *m)
{
    part(m);
    inner_table(m);
    put(m, "table random\nW = w default 2\nE = width default 4*W\nF = first default 0\nL = layers\nH = heads\n");
    put(m, "zero = zero default 0\ni = i default 3\nb = bias\nW2 = W // 2\n");
    put(m,
        "tied = tie default true\nflag = flag default W == E\nkind = kind default \"a\"\nk = key\nsquare(z) = z^2\n");
    for (int group = 0; group < 3; group++) {
        heading(m, group);
        group_body(m, true);
    }
}

/* ---- the law ---- */

static struct tries try_random_table(uint64_t seed, const struct sp_config *none)
{
    struct maker m = {.seed = seed};
    struct sp_error error = {0};
    struct sp_tables *tables = sp_tables_new(&error);
    struct tries tries = {0};
    struct sp_arena arena = {0};
    struct sp_count count;
    random_table(&m);
    if (sp_tables_add_text(tables, "random.shapes", m.text.data, m.text.length, &error) != SP_OK)
        fail_msg("%s\n%s", sp_tables_messages(tables), m.text.data);
    const bool good = sp_count_table(&count, tables, sp_tables_unit(tables, "random"), NULL, false);
    if (!good && !is_limit(count.messages.data)) {
        print_message("%s\n", count.messages.data);
        tries.differences++;
    }
    for (int i = 0; good && i < POINTS && !tries.differences; i++) {
        struct sp_config *config = random_point(&count, none, &arena, &m.seed, true);
        try_point(tables, &count, config, &tries);
        sp_config_free(config);
    }
    if (tries.differences) fprintf(stderr, "--- seed %" PRIu64 "\n%s\n", seed, m.text.data);
    sp_count_free(&count);
    sp_tables_free(tables);
    sp_text_free(&m.text);
    sp_arena_free(&arena);
    return tries;
}

static void random_tables_count_what_they_expand_to(void **state)
{
    const char *from = getenv("SEED"), *tables = getenv("TABLES");
    struct sp_config *none = sp_config_new();
    size_t differences = 0, points = 0, tried = 0;
    (void)state;
    const uint64_t first = from ? strtoull(from, NULL, 10) : 1, count = tables ? strtoull(tables, NULL, 10) : TABLES;
    for (uint64_t seed = first; seed < first + count && differences < 3; seed++) {
        const struct tries tries = try_random_table(seed, none);
        differences += tries.differences > 0;
        points += tries.points;
        tried += tries.points > 0;
    }
    print_message("%zu points of %zu tables\n", points, tried);
    assert_int_equal(differences, 0);
    assert_true(from || tried > count / 2);
    sp_config_free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_tables_count_what_they_expand_to)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
