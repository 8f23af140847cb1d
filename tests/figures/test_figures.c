/* SPDX-License-Identifier: MIT
 * Printed figures: the conventions by which they are right, and the book of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures/readme.h"
#include "prove/printed.h"
#include "shapeproof/shapeproof.h"
#include "world.h"

/* ---- conventions ---- */

/* A model of 124,439,808 parameters: 38,597,376 of tokens, whose head is tied, and 786,432 of positions. */
static const struct sp_figure_parts gpt2 = {.total = 124439808,
                                            .tied = 38597376,
                                            .buffers = 12582912,
                                            .tokens = 38597376,
                                            .tied_head = 38597376,
                                            .positions = 786432};

/* What is said of a figure: "right", a convention, or what is wrong. In a buffer of its own until the next call. */
static const char *judged(const char *figure, uint64_t number, const struct sp_figure_parts *parts)
{
    static char text[128];
    struct sp_arena arena = {0};
    const struct sp_figure_judgement judgement = sp_figure_judge(&arena, figure, number, parts);
    const char *said = judgement.verdict == SHAPEPROOF_UNDECIDED ? "no number"
                       : judgement.verdict == SHAPEPROOF_REFUTED ? judgement.why
                       : *judgement.convention                   ? judgement.convention
                                                                 : "right";
    snprintf(text, sizeof text, "%s", said);
    sp_arena_free(&arena);
    return text;
}

static void rounds(void **state)
{
    (void)state;
    assert_string_equal(judged("124M", 124439808, NULL), "right");
    assert_string_equal(judged("124439808", 124439808, NULL), "right");
    assert_string_equal(judged("0.12B", 124439808, NULL), "right");
    assert_string_equal(judged("124.4M", 124439808, NULL), "right");
    assert_string_equal(judged("123M", 124439808, NULL), "1.2% too small");
    assert_string_equal(judged("1.23B", 1235814400, NULL), "truncated instead of rounded");
    assert_string_equal(judged("124439809", 124439808, NULL), "1 too large");
    assert_string_equal(judged("a lot", 124439808, NULL), "no number");
}

/* Zeros at the end need not be digits; two digits are left, or one before a single zero. */
static void rounds_to_zeros(void **state)
{
    (void)state;
    assert_string_equal(judged("120M", 124439808, NULL), "rounded to 10M");
    assert_string_equal(judged("110M", 124439808, NULL), "11.6% too small");
    assert_string_equal(judged("70B", 68976648192, NULL), "rounded to 10B");
    assert_string_equal(judged("1100M", 1136480768, NULL), "rounded to 100M");
    assert_string_equal(judged("100M", 124439808, NULL), "19.6% too small");
    assert_string_equal(judged("120.0M", 124439808, NULL), "3.6% too small");
    assert_string_equal(judged("0", 124439808, NULL), "100.0% too small");
    assert_string_equal(judged("0B", 1244398080, NULL), "100.0% too small");
}

static void finds_conventions(void **state)
{
    (void)state;
    assert_string_equal(judged("163M", gpt2.total, &gpt2), "with the tied head counted on its own");
    assert_string_equal(judged("137M", gpt2.total, &gpt2), "with buffers");
    assert_string_equal(judged("85842432", gpt2.total, &gpt2), "without the token embedding");
    assert_string_equal(judged("85.1M", gpt2.total, &gpt2), "without the embeddings of tokens and positions");
    assert_string_equal(judged("123.7M", gpt2.total, &gpt2), "without the position embedding");
    assert_string_equal(judged("117M", gpt2.total, &gpt2), "6.0% too small");
    /* A matrix that the model lacks makes no convention. */
    const struct sp_figure_parts bare = {.total = 32762123264, .tokens = 777912320, .head = 777912320};
    assert_string_equal(judged("32B", bare.total, &bare), "without the token embedding, or truncated");
    assert_string_equal(judged("31.2B", bare.total, &bare), "without the token embedding and the head");
}

static void writes_alike(void **state)
{
    static const struct {
        const char *figure;
        uint64_t number;
        const char *written;
    } cases[] = {{"117M", 124439808, "124M"},    {"1.23B", 1235814400, "1.24B"},   {"12", 34, "34"},
                 {"7B", 6500000000, "7B"},       {"7B", 6499999999, "6B"},         {"0.9B", 926679040, "0.9B"},
                 {"0.99B", 1005000000, "1.01B"}, {"36.70B", 36004999999, "36.00B"}};
    struct sp_arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(sp_printed_like(&arena, cases[i].figure, cases[i].number), cases[i].written);
    sp_arena_free(&arena);
}

/* ---- statements of a README ---- */

/* The statements in a text about a model: "1: 7B right; 2: 13B WRONG; ". In a buffer of its own until the next call. */
static const char *statements_about(const struct sp_figure_parts *parts, bool predicted, const char *readme)
{
    static const char *const verdicts[] = {"right", "WRONG", "tested", "unclear"};
    static char text[512];
    struct sp_arena arena = {0};
    struct sp_readme_statements statements = {.items = NULL};
    size_t length = 0;
    sp_read_statements(&arena, readme, strlen(readme), parts, predicted, &statements);
    *text = '\0';
    for (size_t i = 0; i < statements.count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%zu: %s %s; ", statements.items[i].line,
                                   statements.items[i].printed, verdicts[statements.items[i].verdict]);
    free(statements.items);
    sp_arena_free(&arena);
    return text;
}

/* About a model of 6,738,415,616 parameters, 131,072,000 of them in each matrix of the vocabulary. */
static const char *statements_in(const char *readme)
{
    static const struct sp_figure_parts llama = {.total = 6738415616, .tokens = 131072000, .head = 131072000};
    return statements_about(&llama, true, readme);
}

static void finds_statements(void **state)
{
    (void)state;
    assert_string_equal(statements_in("It has 7B parameters.\nIt has 13B parameters."), "1: 7B right; 2: 13B WRONG; ");
    assert_string_equal(statements_in("# L\n| Parameters | 6.74B |\n"), "2: 6.74B right; ");
    assert_string_equal(statements_in("a 7-billion-parameter model"), "1: 7B right; ");
    assert_string_equal(statements_in("6,738,415,616 params"), "1: 6738415616 right; ");
    assert_string_equal(statements_in("Number of parameters: 6738415617"), "1: 6738415617 WRONG; ");
    assert_string_equal(statements_in("**13B** total parameters, 2T tokens"), "1: 13B WRONG; ");
    assert_string_equal(statements_in("Parameters (non-embedding): 6.48B"), "1: 6.48B right; ");
    assert_string_equal(statements_in("Non-embedding parameters: 6.61B"), "1: 6.61B right; ");
    assert_string_equal(statements_in("Non-embedding parameters: 6.3B"), "1: 6.3B WRONG; ");
    /* What may be about something else, or is truncated, is not wrong. */
    assert_string_equal(statements_in("smaller than the 13B parameters of L2"), "1: 13B unclear; ");
    assert_string_equal(statements_in("13B active parameters"), "1: 13B unclear; ");
    assert_string_equal(statements_in("with 7B and 13B parameters"), "1: 13B unclear; ");
    assert_string_equal(statements_in("6.7B or 70B parameters"), "1: 70B unclear; ");
    assert_string_equal(statements_in("6.73B parameters"), "1: 6.73B unclear; ");
}

/* Without a known token embedding, what is left without it is not known either. */
static void needs_the_token_embedding(void **state)
{
    (void)state;
    static const struct sp_figure_parts nameless = {.total = 6738415616};
    assert_string_equal(statements_about(&nameless, true, "Non-embedding parameters: 6.48B"), "1: 6.48B unclear; ");
    assert_string_equal(statements_about(&nameless, true, "Parameters without embeddings: 7B"), "1: 7B unclear; ");
    assert_string_equal(statements_about(&nameless, true, "Parameters: 6.48B"), "1: 6.48B WRONG; ");
}

/* What a file stores may be packed, or an adapter: it refutes nothing. */
static void refutes_by_a_prediction(void **state)
{
    (void)state;
    static const struct sp_figure_parts file = {.total = 6738415616};
    assert_string_equal(statements_about(&file, false, "7B parameters\n13B parameters"),
                        "1: 7B right; 2: 13B unclear; ");
}

/* A number without a unit is often a setting of a program. */
static void skips_settings(void **state)
{
    (void)state;
    assert_string_equal(statements_in("12 parameters of the command"), "");
    assert_string_equal(statements_in("Set the max_new_tokens parameter to 2048."), "");
    assert_string_equal(statements_in("Set the max_new_tokens parameter to 2,048."), "");
    assert_string_equal(statements_in("parameters: lr 0.00001, steps 100000"), "");
    assert_string_equal(statements_in("parameters: 1234567.5"), "");
    assert_string_equal(statements_in("parameters: 100,000"), "1: 100000 WRONG; ");
    assert_string_equal(statements_in("parameters: 1000000"), "1: 1000000 WRONG; ");
    assert_string_equal(statements_in("Parameter count: 7B\n| Param count | 13B |"), "1: 7B right; 2: 13B WRONG; ");
}

static void skips_what_is_no_statement(void **state)
{
    (void)state;
    assert_string_equal(statements_in(""), "");
    assert_string_equal(statements_in("Llama-2-13B, 13B, parameters"), "");
    assert_string_equal(statements_in("trained on 2T tokens; parameters are in bfloat16"), "");
    assert_string_equal(statements_in("```\nmodel = load(13B parameters)\n```\n"), "");
    assert_string_equal(statements_in("~~~sh\nload(13B parameters)\n```\n13B parameters\n~~~\n13B parameters"),
                        "6: 13B WRONG; ");
    assert_string_equal(statements_in("   ```\n13B parameters\n  ```\r\n13B parameters"), "4: 13B WRONG; ");
    assert_string_equal(statements_in("````\n```\n13B parameters\n````\n13B parameters"), "5: 13B WRONG; ");
    assert_string_equal(statements_in("```load()``` needs\n13B parameters"), "2: 13B WRONG; ");
    assert_string_equal(statements_in("v1.13B parameters"), "");
    assert_string_equal(statements_in("99999999999999999999999999999999999999999999B parameters"), "");
    assert_string_equal(statements_in("parameters 1,2,3 1.2.3"), "");
}

/* ---- the book ---- */

/* Every figure has a verdict; docs/errata.md, which a test compares, lists those that are wrong. */
static void judges_all(void **state)
{
    const struct world *world = *state;
    struct shapeproof_error error = {0};
    struct shapeproof_figures *figures = shapeproof_figures_new(world->tables, world->models, NULL, &error);
    size_t refuted = 0;
    if (!figures) fail_msg("%s", error.message);
    for (size_t i = 0; i < shapeproof_figures_count(figures); i++) {
        const struct shapeproof_figure *figure = shapeproof_figures_get(figures, i);
        if (figure->verdict == SHAPEPROOF_UNDECIDED)
            fail_msg("%s, %s of %s: %s", figure->source, figure->printed, figure->model, figure->why);
        assert_int_equal(figure->verdict == SHAPEPROOF_REFUTED, *figure->why != '\0');
        assert_int_equal(figure->verdict == SHAPEPROOF_REFUTED, *figure->right != '\0');
        refuted += figure->verdict == SHAPEPROOF_REFUTED;
    }
    assert_true(shapeproof_figures_count(figures) >= 500);
    assert_true(refuted >= 65);
    shapeproof_figures_free(figures);
}

static void judges_one(void **state)
{
    const struct world *world = *state;
    struct shapeproof_error error = {0};
    const struct shapeproof_figures_options one = {.model = "Mixtral-8x7B"}, none = {.model = "no such model"};
    struct shapeproof_figures *figures = shapeproof_figures_new(world->tables, world->models, &one, &error);
    assert_true(shapeproof_figures_count(figures) >= 5);
    size_t active = 0;
    for (size_t i = 0; i < shapeproof_figures_count(figures); i++) {
        const struct shapeproof_figure *figure = shapeproof_figures_get(figures, i);
        assert_string_equal(figure->model, "mixtral-8x7b");
        if (figure->total != 12879925248) continue;
        active++;
        assert_int_equal(figure->verdict,
                         strcmp(figure->printed, "12.9B") == 0 ? SHAPEPROOF_PROVED : SHAPEPROOF_REFUTED);
        if (strcmp(figure->printed, "46.7B") == 0) assert_string_equal(figure->right, "12.9B");
    }
    assert_true(active >= 3);
    shapeproof_figures_free(figures);
    figures = shapeproof_figures_new(world->tables, world->models, &none, &error);
    assert_int_equal(shapeproof_figures_count(figures), 0);
    shapeproof_figures_free(figures);
}

static bool stop(void *context, const char *step, uint64_t done, uint64_t total)
{
    (void)context, (void)step, (void)done, (void)total;
    return false;
}

static void can_be_ended(void **state)
{
    const struct world *world = *state;
    struct shapeproof_error error = {0};
    const struct shapeproof_watch watch = {.progress = stop};
    const struct shapeproof_figures_options options = {.watch = &watch};
    assert_null(shapeproof_figures_new(world->tables, world->models, &options, &error));
    assert_true(*error.message != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds),
        cmocka_unit_test(rounds_to_zeros),
        cmocka_unit_test(finds_conventions),
        cmocka_unit_test(writes_alike),
        cmocka_unit_test(judges_all),
        cmocka_unit_test(judges_one),
        cmocka_unit_test(can_be_ended),
        cmocka_unit_test(finds_statements),
        cmocka_unit_test(needs_the_token_embedding),
        cmocka_unit_test(refutes_by_a_prediction),
        cmocka_unit_test(skips_settings),
        cmocka_unit_test(skips_what_is_no_statement),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
