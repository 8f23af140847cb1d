/* SPDX-License-Identifier: MIT
 * Tables that are made up: loops within loops, indices that shadow one another and the names of hyper-parameters,
 * conditions on indices, parts with arguments and defaults, choices, tables within tables, ties, powers, lists. */
#ifndef SP_TESTS_PROVE_MADE_UP_H
#define SP_TESTS_PROVE_MADE_UP_H

#include "prove/law.h"

enum { MAX_LOOPS = 3 };

/* A table text under construction, and what the expressions in it may use. */
struct maker {
    uint64_t seed;
    struct sp_text text;
    const char *indices[MAX_LOOPS];
    size_t index_count;
    bool in_part; /* sizes are the parameters x and y */
    bool plain;   /* loops have sums in closed form */
    int rows;     /* tensors need different names */
};

static inline int64_t roll(struct maker *m, int64_t sides) { return below(&m->seed, sides); }

static inline const char *one_of(struct maker *m, const char *const *words, size_t count)
{
    return words[roll(m, (int64_t)count)];
}
#define ONE_OF(m, ...)                                                                                                 \
    one_of(m, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static inline const char *size_name(struct maker *m)
{
    if (m->in_part) return ONE_OF(m, "x", "y", "own", "W");
    return ONE_OF(m, "W", "E", "F", "L", "H", "zero", "i", "k", "deep.w", "W2");
}

static inline void put(struct maker *m, const char *text) { sp_text_puts(&m->text, text); }

static inline void number(struct maker *m, int depth);

/* An index is an integer from 0 up, and so may be a size of nothing. */
static inline void leaf(struct maker *m)
{
    if (m->index_count && roll(m, 3) == 0) put(m, m->indices[roll(m, (int64_t)m->index_count)]);
    else if (roll(m, 4) == 0) sp_text_printf(&m->text, "%d", (int)roll(m, 5));
    else put(m, size_name(m));
}

static inline void condition(struct maker *m, int depth);

static inline void binary(struct maker *m, const char *operator, int depth)
{
    put(m, "(");
    number(m, depth - 1);
    sp_text_printf(&m->text, " %s ", operator);
    number(m, depth - 1);
    put(m, ")");
}

static inline void call(struct maker *m, const char *name, int depth)
{
    put(m, name);
    put(m, "(");
    number(m, depth - 1);
    put(m, ", ");
    number(m, depth - 1);
    put(m, ")");
}

static inline void choice(struct maker *m, int depth)
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
static inline void number(struct maker *m, int depth)
{
    if (depth <= 0) {
        leaf(m);
        return;
    }
    switch (roll(m, m->plain && m->index_count ? 4 : 14)) {
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

static inline void comparison(struct maker *m, int depth)
{
    number(m, depth);
    sp_text_printf(&m->text, " %s ", ONE_OF(m, "<", "<=", ">", ">=", "==", "!="));
    number(m, depth);
}

/* On the innermost index, as tables have it. */
static inline void index_condition(struct maker *m)
{
    const char *index = m->indices[roll(m, (int64_t)m->index_count)];
    switch (m->plain ? roll(m, 2) * 4 : roll(m, 6)) {
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

static inline void condition(struct maker *m, int depth)
{
    if (m->plain && m->index_count) {
        if (roll(m, 2)) index_condition(m);
        else put(m, ONE_OF(m, "tied", "b", "not b", "flag"));
        return;
    }
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

static inline void tensor(struct maker *m)
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
static inline void tied_pair(struct maker *m)
{
    sp_text_printf(&m->text, "first%d (W, 3)\nsecond%d (W, 3) same as first%d when ", m->rows, m->rows, m->rows);
    m->rows++;
    condition(m, 1);
    put(m, "\n");
}

static inline void use(struct maker *m)
{
    sp_text_printf(&m->text, "u%d", m->rows++);
    for (size_t i = 0; i < m->index_count; i++) sp_text_printf(&m->text, ".{%s}", m->indices[i]);
    switch (m->plain ? 2 * roll(m, 2) : roll(m, 4)) {
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

static inline void range_loop(struct maker *m, const char *index)
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

static inline void heading(struct maker *m, int group)
{
    sp_text_printf(&m->text, "\n[g%d]", group);
    m->index_count = 0;
    for (int64_t loops = roll(m, m->plain ? 2 : MAX_LOOPS + 1); loops; loops--) {
        const char *index = ONE_OF(m, "i", "j", "k"); /* i and k are hyper-parameters as well */
        for (size_t i = 0; i < m->index_count; i++)
            if (!strcmp(m->indices[i], index)) index = "s"; /* names need every index */
        if (m->index_count && !strcmp(m->indices[m->index_count - 1], "s") && !strcmp(index, "s")) break;
        if (m->plain)
            sp_text_printf(&m->text, " for %s in %s..%s", index, ONE_OF(m, "0", "1", "F"), ONE_OF(m, "H-1", "H"));
        else if (!m->in_part && roll(m, 5) == 0) sp_text_printf(&m->text, " for %s in sizes", index);
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

static inline void group_body(struct maker *m, bool may_use)
{
    for (int64_t rows = 1 + roll(m, 3); rows; rows--) {
        if (may_use && roll(m, 3) == 0) use(m);
        else if (!m->index_count && !m->in_part && roll(m, 4) == 0) tied_pair(m);
        else tensor(m);
    }
}

static inline void part(struct maker *m)
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

static inline void inner_table(struct maker *m)
{
    put(m, "table inner\nH = H default 4\nW = w default 2\nb = b default true\n[i] for i in 0..H-1\n");
    put(m, "v.{i} (W, i + 1) if b\n[j] for j in 0..1 for i in j..W\nu.{i}.{j} (H, i)\n\n");
}

static inline void random_table(struct maker *m)
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

#endif
