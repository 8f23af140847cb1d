/* SPDX-License-Identifier: MIT
 * How many things learnt tables say, and what they are said of: each limit from both sides. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/lessons.h"

/* ---- what is said once for several words ---- */

/* Modules of these words, each with so many rows, behind a front. */
static void learn_modules(struct problem *problem, const char *front, const char *const *words, size_t word_count,
                          unsigned rows)
{
    *problem = (struct problem){.count = 0};
    for (uint64_t width = 6; width < 15; width += 4) {
        lesson_beginf(problem, "{\"width\": %zu}", (size_t)width);
        for (size_t n = 0; n < word_count; n++)
            for (unsigned i = 0; i < rows; i++)
                lesson_addf(problem, SHAPE(width), "%s%s.scale_%c", front, words[n], 'a' + (int)i);
    }
    assert_learns(problem);
}

static bool is_said_once(const char *front, const char *first, const char *second, unsigned rows)
{
    struct problem problem;
    learn_modules(&problem, front, (const char *const[]){first, second}, 2, rows);
    const bool once = strstr(shapeproof_learning_text(problem.learning), "for name in [") != NULL;
    lesson_close(&problem);
    return once;
}

/* Six rows of two words are worth it; five are not. */
static void rows_of_two_words(void **state)
{
    (void)state;
    assert_true(is_said_once("", "text", "sound", 6));
    assert_false(is_said_once("", "text", "sound", 5));
}

static void words_deep_in_names(void **state)
{
    (void)state;
    assert_true(is_said_once("a.b.c.d.e.f.g.", "text", "sound", 6));
    assert_false(is_said_once("a.b.c.d.e.f.g.h.", "text", "sound", 6));
}

/* Of a layout of very many rows nothing is said once. */
static bool are_words_said_of(unsigned rows_of_word, bool more)
{
    struct problem problem = {.count = 0};
    for (size_t width = 8; width < 20; width += 9) {
        lesson_beginf(&problem, "{\"width\": %zu}", width);
        for (unsigned i = 0; i < 2 * rows_of_word; i++)
            lesson_addf(&problem, SHAPE(width), "%s.scale_%c%c", i % 2 ? "text" : "sound", 'a' + (char)(i / 52),
                        'a' + (char)(i / 2 % 26));
        if (more) lesson_add(&problem, "up.weight", SHAPE(width));
    }
    lesson_learn(&problem);
    const bool said = strstr(shapeproof_learning_text(problem.learning), "for name in [") != NULL;
    lesson_close(&problem);
    return said;
}

static void many_rows(void **state)
{
    (void)state;
    assert_true(are_words_said_of(300, false));
    assert_false(are_words_said_of(300, true));
}

/* So many words are said once; the others are written one by one. */
static size_t words_said_once(const char *const *words, size_t count)
{
    struct problem problem;
    size_t said = 0;
    learn_modules(&problem, "", words, count, 6);
    const char *list = strstr(shapeproof_learning_text(problem.learning), "for name in [");
    assert_non_null(list);
    for (; *list != ']'; list++) said += *list == '"';
    lesson_close(&problem);
    return said / 2;
}

static void many_words(void **state)
{
    static const char *const words[] = {"ab", "bc", "cd", "de", "ef", "fg", "gh", "hi", "ij",
                                        "jk", "kl", "lm", "mn", "no", "op", "pq", "qr"};
    (void)state;
    assert_int_equal(words_said_once(words, sizeof words / sizeof *words), 16);
}

/* Behind the first one sixty letters. */
static void long_words(void **state)
{
    static const char *const sixty[] = {"first", "abcdefghijklmnopqrst", "bcdefghijklmnopqrstu",
                                        "cdefghijklmnopqrstuv"},
                             *const more[] = {"first", "abcdefghijklmnopqrst", "bcdefghijklmnopqrstu",
                                              "cdefghijklmnopqrstuvw"};
    (void)state;
    assert_int_equal(words_said_once(sixty, 4), 4);
    assert_int_equal(words_said_once(more, 4), 3);
}

/* Five words of a name are items of lists, two of each: four are looped over. */
static void words_of_lists(void **state)
{
    struct problem problem = {.count = 0};
    (void)state;
    for (unsigned e = 0; e < 3; e++) {
        struct sp_text text = {0};
        sp_text_printf(&text, "{\"width\": %u", 8 + 9 * e);
        for (unsigned i = 0; i < 5; i++) {
            const char first = (char)('a' + i), second = (char)('a' + i + e * (i % 2));
            sp_text_printf(&text, ", \"list%u\": [\"%c%c\", \"%c%c\"]", i, first, second, first, second + 1);
        }
        sp_text_puts(&text, "}");
        lesson_begin(&problem, text.data);
        for (unsigned at = 0; at < 1U << 5; at++) {
            text.length = 0;
            for (unsigned i = 0; i < 5; i++)
                sp_text_printf(&text, "%c%c.", 'a' + (char)i, 'a' + (char)(i + e * (i % 2) + (at >> i & 1)));
            sp_text_puts(&text, "scale");
            lesson_add(&problem, text.data, SHAPE(8 + 9 * e));
        }
        sp_text_free(&text);
    }
    assert_learns(&problem);
    assert_says(&problem, "for name in list0 for word in list1 for which in list2 for item in list3\n");
    assert_says(&problem, "{name}.{word}.{which}.{item}.ee.scale ");
    lesson_close(&problem);
}

/* ---- numbers of modules ---- */

/* Whether the whole of the last examples is explained. */
static bool is_all_learnt(struct problem *problem)
{
    lesson_learn(problem);
    const bool all = shapeproof_learning_is_proved(problem->learning) &&
                     shapeproof_learning_explained(problem->learning) == shapeproof_learning_tensors(problem->learning);
    lesson_close(problem);
    return all;
}

/* Modules of so many rows that repeat after so many numbers, and so many others behind the last of them. */
static bool is_period_found(unsigned period, unsigned rows, unsigned behind)
{
    struct problem problem = {.count = 0};
    for (size_t depth = 2; depth < 6; depth++) {
        const size_t width = 5 + 7 * depth;
        lesson_beginf(&problem, "{\"depth\": %zu, \"width\": %zu}", depth, width);
        for (size_t i = 0; i < depth * period * rows; i++)
            lesson_addf(&problem, SHAPE(width), "net.%zu.kind_%c%zu", i / rows, 'a' + (char)(i / rows % period),
                        i % rows);
        for (size_t i = 0; i < behind; i++)
            lesson_addf(&problem, SHAPE(width), "net.%zu.last_%c", depth * period + i, 'a' + (char)i);
    }
    return is_all_learnt(&problem);
}

static void periods(void **state)
{
    (void)state;
    assert_true(is_period_found(11, 1, 0));
    assert_true(is_period_found(12, 1, 0));
    assert_false(is_period_found(13, 1, 0));
    assert_true(is_period_found(2, 1, 12));
    assert_false(is_period_found(2, 1, 13));
    assert_true(is_period_found(9, 7, 0)); /* of 63 rows, and not of 64 */
    assert_false(is_period_found(8, 8, 0));
}

/* Numbers without a rule, the same in all examples; so many. */
static bool are_numbers_spelt_out(unsigned count)
{
    struct problem problem = {.count = 0};
    for (size_t width = 8; width < 30; width += 9) {
        lesson_beginf(&problem, "{\"width\": %zu}", width);
        for (unsigned i = 0; i < count; i++) lesson_addf(&problem, SHAPE(width), "stem.%u.w", i * i + i / 3);
    }
    return is_all_learnt(&problem);
}

/* Two modules that flags say are there, numbered 0 and that. */
static bool is_module_spelt_out(unsigned number)
{
    struct problem problem = {.count = 0};
    for (unsigned e = 0; e < 4; e++) {
        const size_t width = 8 + 9 * e;
        lesson_beginf(&problem, "{\"width\": %zu, \"low\": %s, \"high\": %s}", width, e % 2 ? "true" : "false",
                      e < 2 ? "true" : "false");
        if (e % 2) lesson_add(&problem, "stem.0.w", SHAPE(width));
        if (e < 2) lesson_addf(&problem, SHAPE(width), "stem.%u.w", number);
        lesson_add(&problem, "up.w", SHAPE(width));
    }
    return is_all_learnt(&problem);
}

static void numbers_without_a_loop(void **state)
{
    (void)state;
    assert_true(are_numbers_spelt_out(64));
    assert_false(are_numbers_spelt_out(65));
    assert_true(is_module_spelt_out(3));
    assert_false(is_module_spelt_out(4));
}

/* Rows of one tensor each in a loop over all of them: their iterations are the square of the tensors. */
static bool has_too_many_iterations(unsigned tensors)
{
    struct problem problem = {.count = 0};
    bool has = false;
    lesson_beginf(&problem, "{\"width\": 8, \"layers\": %u}", tensors);
    for (unsigned i = 0; i < tensors; i++) lesson_addf(&problem, SHAPE(8), "%u.w%u", i, tensors - i);
    lesson_learn(&problem);
    for (size_t i = 0; i < shapeproof_learning_rest_count(problem.learning); i++)
        has = has || strstr(shapeproof_learning_rest(problem.learning, i), "its loops have too many iterations");
    lesson_close(&problem);
    return has;
}

static void rows_of_one_tensor(void **state)
{
    (void)state;
    assert_false(has_too_many_iterations(900));
    assert_true(has_too_many_iterations(1200));
}

/* ---- what is undecided ---- */

static bool is_undecided(const struct problem *problem, const char *words)
{
    for (size_t i = 0; i < shapeproof_learning_undecided_count(problem->learning); i++)
        if (strcmp(shapeproof_learning_undecided(problem->learning, i)->alternatives, words) == 0) return true;
    return false;
}

/* A share of the width, where keys say that number, or twice it and two, in all examples. */
static bool may_be_keys(unsigned share, const char *keys, const char *words)
{
    struct problem problem = {.count = 0};
    for (size_t width = 24; width < 80; width += 24) {
        lesson_beginf(&problem, "{\"width\": %zu, %s}", width, keys);
        lesson_add(&problem, "up.weight", SHAPE(width, width / share));
    }
    lesson_learn(&problem);
    const bool may = is_undecided(&problem, words);
    lesson_close(&problem);
    return may;
}

static void numbers_that_may_be_keys(void **state)
{
    (void)state;
    assert_true(may_be_keys(4, "\"groups\": 4", "groups"));
    assert_false(may_be_keys(3, "\"groups\": 3", "groups"));
    assert_false(may_be_keys(4, "\"group_id\": 4", "group_id"));
    assert_true(may_be_keys(3, "\"groups\": 6, \"more\": 2", "groups // more"));
    assert_false(may_be_keys(2, "\"groups\": 6, \"more\": 3", "groups // more"));
}

/* ---- what other tables say ---- */

static void add_table(struct problem *problem, const char *text)
{
    struct shapeproof_error error = {0};
    if (shapeproof_tables_add_text(problem->models[0]->tables, "t.shapes", text, strlen(text), &error))
        die("t.shapes", shapeproof_tables_messages(problem->models[0]->tables));
}

/* What is learnt of a key when so many tables define it, by one name or each by its own. */
static bool says_of_defined(const char *key, unsigned tables, const char *const *names, const char *words)
{
    struct problem problem = {.count = 0};
    for (size_t width = 8; width < 30; width += 9) {
        lesson_beginf(&problem, "{\"%s\": %zu}", key, width);
        lesson_add(&problem, "up.weight", SHAPE(width));
    }
    for (unsigned i = 0; i < tables; i++) {
        struct sp_text text = {0};
        sp_text_printf(&text, "table own%u\n%s = %s default 7   # what holds an arch\n[a]\nw (%s)\n", i, names[i], key,
                       names[i]);
        add_table(&problem, text.data);
        sp_text_free(&text);
    }
    lesson_learn(&problem);
    const bool says = strstr(shapeproof_learning_text(problem.learning), words) != NULL;
    lesson_close(&problem);
    return says;
}

/* A word is taken from five tables, what is said of a key from three; a very long key is not read. */
static void names_of_keys(void **state)
{
    static const char *const one[] = {"ZZ", "ZZ", "ZZ", "ZZ", "ZZ"}, *const several[] = {"X", "Y", "Z"},
                             *const letter[] = {"Z"};
    char key[81];
    (void)state;
    assert_true(says_of_defined("spandrel", 5, one, "\nZZ = spandrel   #"));
    assert_true(says_of_defined("spandrel", 4, one, "\nS = spandrel\n"));
    assert_true(says_of_defined("spandrel", 3, several, "# what holds an arch"));
    assert_false(says_of_defined("spandrel", 2, several, "# what holds an arch"));
    memset(key, 'w', sizeof key);
    key[79] = '\0';
    assert_true(says_of_defined(key, 1, letter, "\nZ = w"));
    memset(key, 'w', sizeof key);
    key[80] = '\0';
    assert_false(says_of_defined(key, 1, letter, "\nZ = w"));
}

/* The name that a table which is liked has for a key is worth as much as that of a thousand others. */
static bool is_liked_name(unsigned others)
{
    struct problem problem = {.count = 0, .like = "liked"};
    struct sp_text text = {0};
    for (size_t width = 8; width < 20; width += 9) {
        lesson_beginf(&problem, "{\"spandrel\": %zu}", width);
        lesson_add(&problem, "up.weight", SHAPE(width));
    }
    sp_text_puts(&text, "table liked\nY = spandrel default 7\n[a]\nother (Y)\n");
    for (unsigned i = 0; i < others; i++) sp_text_printf(&text, "table own%u\nX = spandrel default 7\n[a]\nw (X)\n", i);
    add_table(&problem, text.data);
    sp_text_free(&text);
    lesson_learn(&problem);
    const bool liked = strstr(shapeproof_learning_text(problem.learning), "\nY = spandrel\n") != NULL;
    lesson_close(&problem);
    return liked;
}

static void liked_names(void **state)
{
    (void)state;
    assert_true(is_liked_name(1000));
    assert_false(is_liked_name(1001));
}

/* What another table says of a part of the configuration, which must have a few tensors. */
static bool is_inner_model(unsigned rows)
{
    struct problem problem = {.count = 0};
    struct sp_text text = {0};
    for (size_t width = 8; width < 30; width += 9) {
        lesson_beginf(&problem, "{\"width\": %zu, \"text_config\": {\"model_type\": \"tiny\", \"size\": %zu}}", width,
                      3 * width + 1);
        lesson_add(&problem, "up.weight", SHAPE(width));
        for (unsigned i = 0; i < rows; i++)
            lesson_addf(&problem, SHAPE(3 * width + 1), "text.row%c.weight", 'a' + (char)i);
    }
    sp_text_puts(&text, "table tiny\nmodel_type \"tiny\"\n[a]\n");
    for (unsigned i = 0; i < rows; i++) sp_text_printf(&text, "row%c.weight (size)\n", 'a' + (char)i);
    add_table(&problem, text.data);
    sp_text_free(&text);
    lesson_learn(&problem);
    const bool is = strstr(shapeproof_learning_text(problem.learning), "tiny from text_config") != NULL;
    lesson_close(&problem);
    return is;
}

static void inner_models(void **state)
{
    (void)state;
    assert_true(is_inner_model(8));
    assert_false(is_inner_model(7));
}

/* ---- what the examples do not vary ---- */

static const char *unvaried_of(struct problem *problem, unsigned count, int length)
{
    struct sp_text text = {0};
    *problem = (struct problem){.count = 0};
    for (size_t width = 8; width < 30; width += 9) {
        text.length = 0;
        sp_text_printf(&text, "{\"width\": %zu", width);
        for (unsigned i = 0; i < count; i++) sp_text_printf(&text, ", \"size_%0*u\": 7", length - 5, i);
        sp_text_puts(&text, "}");
        lesson_begin(problem, text.data);
        lesson_add(problem, "up.weight", SHAPE(width));
    }
    sp_text_free(&text);
    lesson_learn(problem);
    return shapeproof_learning_unvaried(problem->learning);
}

/* The first ones of very many keys are looked at; one of them is the width. */
static void keys_without_effect(void **state)
{
    struct problem problem;
    (void)state;
    const char *unvaried = unvaried_of(&problem, 400, 8);
    assert_non_null(strstr(unvaried, "size_398"));
    assert_null(strstr(unvaried, "size_399"));
    lesson_close(&problem);
}

/* Keys in the first line of the comment about them. */
static size_t keys_in_a_line(int length)
{
    struct problem problem;
    size_t count = 0;
    unvaried_of(&problem, 40, length);
    const char *line = strstr(shapeproof_learning_text(problem.learning), "#   size_");
    assert_non_null(line);
    for (const char *at = line; *at != '\n'; at++) count += *at == ',';
    lesson_close(&problem);
    return count;
}

/* 3 + 7 * 14 - 1 is 100, and 3 + 9 * 11 - 1 is 101. */
static void comments_of_a_hundred_columns(void **state)
{
    (void)state;
    assert_int_equal(keys_in_a_line(12), 7);
    assert_int_equal(keys_in_a_line(9), 8);
}

static void idle_keys(void **state)
{
    struct problem problem = {.count = 0};
    (void)state;
    for (size_t width = 24; width < 80; width += 24) {
        lesson_beginf(&problem, "{\"width\": %zu%s}", width,
                      width == 24 ? ", \"mlp_a\": 3, \"mlp_b\": 4, \"mlp_c\": 5, \"mlp_d\": 6, \"mlp_e\": 7" : "");
        lesson_add(&problem, "mlp.up.weight", SHAPE(width));
    }
    lesson_learn(&problem);
    assert_true(is_undecided(&problem, "one with mlp_a, mlp_b, mlp_c and 2 more"));
    lesson_close(&problem);
}

/* A word that only goes with the name is near enough. */
static void idle_keys_of_other_words(void **state)
{
    struct problem problem = {.count = 0};
    (void)state;
    for (size_t width = 24; width < 80; width += 24) {
        lesson_beginf(&problem, "{\"width\": %zu%s}", width, width == 24 ? ", \"intermediate\": 3" : "");
        lesson_add(&problem, "mlp.weight", SHAPE(width));
    }
    lesson_learn(&problem);
    assert_true(is_undecided(&problem, "one with intermediate"));
    lesson_close(&problem);
}

/* ---- without a configuration ---- */

/* The table of one file alone, whose sizes become keys. */
static bool says_of_file(const char *name, uint64_t rows, uint64_t columns, const char *words)
{
    struct shapeproof_error error = {0};
    struct model model;
    model_open(&model, "{}");
    model_add_shape(&model, name, SHAPE(rows, columns));
    const struct shapeproof_learn_example example = {model_in_memory(&model), NULL};
    struct shapeproof_learning *learning = shapeproof_learn(&example, 1, model.tables, NULL, &error);
    if (!learning) die("learn", error.message);
    const bool says = strstr(shapeproof_learning_text(learning), words) != NULL;
    shapeproof_learning_free(learning);
    shapeproof_inventory_close((struct shapeproof_inventory *)example.inventory);
    model_close(&model);
    return says;
}

/* A size of 4 is a number; a word of a name is cut. */
static void sizes_become_keys(void **state)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrs.weight";
    (void)state;
    assert_true(says_of_file("up.weight", 5, 4, "up_rows"));
    assert_false(says_of_file("up.weight", 5, 4, "up_columns"));
    assert_true(says_of_file(name, 50, 40, " abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefg_rows"));
}

/* ---- the head of a table ---- */

static void classes(void **state)
{
    struct problem problem = {.count = 0};
    (void)state;
    for (size_t i = 0; i < 25; i++) {
        lesson_beginf(&problem, "{\"architectures\": [\"Class%zuModel\"], \"width\": %zu}", i, 8 + 3 * i);
        lesson_add(&problem, "up.weight", SHAPE(8 + 3 * i));
    }
    lesson_learn(&problem);
    assert_says(&problem, "\"Class23Model\"");
    assert_says_not(&problem, "\"Class24Model\"");
    lesson_close(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_two_words),
        cmocka_unit_test(words_deep_in_names),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(many_words),
        cmocka_unit_test(long_words),
        cmocka_unit_test(words_of_lists),
        cmocka_unit_test(periods),
        cmocka_unit_test(numbers_without_a_loop),
        cmocka_unit_test(rows_of_one_tensor),
        cmocka_unit_test(numbers_that_may_be_keys),
        cmocka_unit_test(names_of_keys),
        cmocka_unit_test(liked_names),
        cmocka_unit_test(inner_models),
        cmocka_unit_test(keys_without_effect),
        cmocka_unit_test(comments_of_a_hundred_columns),
        cmocka_unit_test(idle_keys),
        cmocka_unit_test(idle_keys_of_other_words),
        cmocka_unit_test(sizes_become_keys),
        cmocka_unit_test(classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
