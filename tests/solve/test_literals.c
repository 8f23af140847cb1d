/* SPDX-License-Identifier: MIT
 * The texts that a key may have, as far as a table mentions them. */
#include "solving.h"

#include "solve/literals.h"

/* The texts about `path` in the last table of `text`, in order and parted by blanks; what stands for the key behind a
 * bar. */
static void assert_about(struct shapeproof_tables *tables, const char *text, const char *path, const char *expected)
{
    struct sp_literals literals = {0};
    char told[500] = "";
    size_t length = 0;
    sp_literals_about(&literals, add_table(tables, text), path);
    for (size_t i = 0; i < literals.count; i++)
        length += (size_t)snprintf(told + length, sizeof told - length, "%s%s", i ? " " : "", literals.list[i]);
    if (literals.fallback) snprintf(told + length, sizeof told - length, " | %s", literals.fallback);
    assert_string_equal(told, expected);
    sp_literals_free(&literals);
}

/* In the expressions that mention the key, or a name that is defined by it; not in those about another key. */
static void beside_the_key(void **state)
{
    static const char text[] = "table t\nK = mode default \"plain\"\nrequire K != \"none\", \"needs a mode\"\n"
                               "[a]\nw (E) if K == \"deep\"\nv (E, mode == \"wide\" ? 2 : 1)\n"
                               "u (E) if other == \"foreign\"\n";
    assert_about(*state, text, "mode", "plain none deep wide | plain");
    assert_about(*state, text, "sub.mode", "plain none deep wide | plain");
    assert_about(*state, text, "other", "foreign");
    assert_about(*state, text, "E", "");
}

/* A part that is given the key calls it something else. */
static void in_a_part(void **state)
{
    static const char text[] = "part inner(s)\nw (s == \"large\" ? 8 : 4)\n"
                               "part outer(kind, n)\nv (n) if kind == \"wide\"\nx.* inner(kind)\n"
                               "u (n) if foreign == \"odd\"\n"
                               "table t\n[a]\ny.* outer(mode, E)\nz (E) if mode == \"last\"\n";
    assert_about(*state, text, "mode", "wide large last");
}

/* The name of a parameter means the key inside of the part alone. */
static void not_behind_a_part(void **state)
{
    static const char text[] = "part p(kind)\nw (kind == \"wide\" ? 8 : 4)\n"
                               "table t\n[a]\ny.* p(mode)\nz (E) if kind == \"foreign\"\n";
    assert_about(*state, text, "mode", "wide");
}

/* `K in known` means the texts of `known`; an item of a list may be what the list is compared with. */
static void in_lists(void **state)
{
    static const char text[] = "table t\nknown = [\"one\", \"two\"]\nodd = [\"three\"]\n"
                               "[a]\nw (E) if mode in known\nv (E) if modes[0] == \"item\"\n";
    assert_about(*state, text, "mode", "one two");
    assert_about(*state, text, "modes[1]", "item");
}

/* What a text begins with is none where the table has a longer one; a release may begin another. */
static void beginnings(void **state)
{
    static const char text[] = "table t\n[a]\nw (E) if starts_with(mode, \"Cross\")\nv (E) if mode == \"CrossAttn\"\n"
                               "u (E) if starts_with(kind, \"Cross\")\n"
                               "s (E) if starts_with(release, \"1.1\")\nr (E) if release == \"1.13\"\n";
    assert_about(*state, text, "mode", "CrossAttn");
    assert_about(*state, text, "kind", "Cross");
    assert_about(*state, text, "release", "1.1 1.13");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_the_key), cmocka_unit_test(in_a_part),  cmocka_unit_test(not_behind_a_part),
        cmocka_unit_test(in_lists),       cmocka_unit_test(beginnings),
    };
    return cmocka_run_group_tests(tests, tables_setup, tables_teardown);
}
