/* SPDX-License-Identifier: MIT
 * How many tables, classes and attempts a search takes, and what it leaves: each limit from both sides. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/classes.h"
#include "infer/deduce.h"
#include "infer/guess/guess.h"
#include "infer/numbers/stages.h"
#include "infer/searching.h"
#include "infer/tables/prefilter.h"

/* ---- candidate tables ---- */

struct looking {
    struct sp_arena arena;
    struct shapeproof_inventory *inventory;
    struct sp_infer_view view;
    struct sp_candidate_tables candidates;
};

static void look(struct looking *looking, struct model *model)
{
    const struct sp_tables_searched all = {.tables = model->tables};
    *looking = (struct looking){.inventory = model_in_memory(model)};
    sp_infer_view_plain(&looking->view, looking->inventory);
    sp_candidate_tables_best(&looking->candidates, &looking->arena, &all, &looking->view);
}

static void looking_close(struct looking *looking, struct model *model)
{
    sp_candidate_tables_free(&looking->candidates);
    sp_infer_view_free(&looking->view);
    shapeproof_inventory_close(looking->inventory);
    sp_arena_free(&looking->arena);
    model_close(model);
}

/* How many tables fit of so many that are alike. */
static size_t fits_of(const char *rows, unsigned count)
{
    struct sp_text text = {0};
    struct model model;
    struct looking looking;
    put_tables(&text, "same", count, rows);
    begin_text(&model, &text);
    model_add_shape(&model, "stem.odd.quux", SHAPE(3, 4));
    look(&looking, &model);
    const size_t fits = looking.candidates.count;
    looking_close(&looking, &model);
    return fits;
}

/* Behind the first ones only parts that have all names of the file fit. */
static void tables_that_fit(void **state)
{
    (void)state;
    assert_int_equal(fits_of("architectures \"OddForCausalLM\"\n[a]\nstem.odd.quux (A, B)\n", 60), 40);
    assert_int_equal(fits_of("model_type \"odd\"\n[a]\nstem.odd.quux (A, B)\n", 60), 48);
}

/* The table that sees most of the file, which has that front, among tables whose names end alike. */
static const char *best_among(unsigned others, const char *rows, const char *own_rows, const char *front, size_t *seen)
{
    static char name[40];
    static const char *const ends[] = {"odd.quux", "even.corge", "third.grault"};
    struct sp_text text = {0};
    struct model model;
    struct looking looking;
    put_tables(&text, "other", others, rows);
    put_tables(&text, "own", 1, own_rows);
    begin_text(&model, &text);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%sstem.%s", front, ends[i]);
        model_add_shape(&model, name, SHAPE(3, 4));
    }
    look(&looking, &model);
    const struct sp_fit none = {.table = NULL}, best = looking.candidates.count ? looking.candidates.fits[0] : none;
    snprintf(name, sizeof name, "%s", best.table ? best.table->name : "");
    *seen = best.seen;
    looking_close(&looking, &model);
    return name;
}

static const char own[] = "[a]\nstem.odd.quux (A, B)\nstem.even.corge (A, B)\nstem.third.grault (A, B)\n";

/* By the ends of their names alone all are alike, and go by their own names. */
static void tables_that_are_laid_out(void **state)
{
    static const char far[] = "[a]\nx.y.odd.quux (A, B)\nx.y.even.corge (A, B)\nx.z.third.grault (A, B)\n";
    size_t seen;
    (void)state;
    assert_string_equal(best_among(95, far, own, "", &seen), "own000");
    assert_string_equal(best_among(96, far, own, "", &seen), "");
    assert_string_equal(best_among(35, far, own, "model.", &seen), "own000");
    assert_string_equal(best_among(36, far, own, "model.", &seen), "");
}

/* What is in front of the names of the file is found out by the first tables: those see a part without more of it. */
static void tables_for_naming(void **state)
{
    static const char part[] = "[a]\nodd.quux (A, B)\neven.corge (A, B)\nstem.third.grault (A, B)\n";
    size_t seen;
    (void)state;
    assert_string_equal(best_among(5, part, own, "model.", &seen), "own000");
    assert_int_equal(seen, 3);
    best_among(6, part, own, "model.", &seen);
    assert_int_equal(seen, 2);
}

/* What is taken away in front of the names of so many tensors, when that is one thing for most of them, and another one
 * for most of every second one. */
static const char *taken_away_of(unsigned tensors)
{
    static char strip[40];
    struct sp_text text = {0};
    struct model model;
    struct looking looking;
    sp_text_puts(&text, "table own\n[a] for i in 0..N-1\nstem.{i}.quux (A)\n");
    begin_text(&model, &text);
    for (unsigned i = 0; i < tensors; i++) {
        char name[60];
        snprintf(name, sizeof name,
                 i % 2   ? "second.stem.%u.quux"
                 : i % 8 ? "first.stem.%u.quux"
                         : "other.%u.corge",
                 i / 2);
        model_add_shape(&model, name, SHAPE(4));
    }
    look(&looking, &model);
    snprintf(strip, sizeof strip, "%s", looking.candidates.naming.strip);
    looking_close(&looking, &model);
    return strip;
}

static void sampled_names(void **state)
{
    (void)state;
    assert_string_equal(taken_away_of(1999), "second.");
    assert_string_equal(taken_away_of(2000), "first.");
}

/* Of a file with very many patterns the first ones count, and of a pattern the last components. */
static void ends_of_patterns(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct sp_patterns patterns = {0};
    struct sp_text name = {0};
    bool covered[1001] = {false};
    (void)state;
    for (unsigned i = 0; i < 30; i++) sp_text_puts(&name, i ? ".x" : "x");
    for (unsigned i = 0; i < 1001; i++) {
        if (i) sp_text_puts(&name, "y");
        sp_pattern_of(&patterns, name.data, NULL);
    }
    struct sp_prefilter *prefilter = sp_prefilter_new(tables, &patterns);
    assert_int_equal(prefilter->patterns, 1000);
    name.data[2 * 30 - 1] = '\0';
    assert_true(sp_ends_cover(&prefilter->ends, name.data + 2 * 6, covered, 1));
    assert_false(sp_ends_cover(&prefilter->ends, name.data + 2 * 5, covered, 1));
    sp_prefilter_free(prefilter);
    sp_patterns_free(&patterns);
    sp_text_free(&name);
    shapeproof_tables_free(tables);
}

/* ---- attempts ---- */

/* Those that were only made to be named beside another; or the others. */
static size_t count_attempts(const struct searching *searching, bool further)
{
    size_t count = 0;
    for (size_t i = 0; i < searching->search.attempts.count; i++) {
        const struct sp_attempt *attempt = searching->search.attempts.items[i];
        count += attempt->is_further == further && !attempt->is_second_choice;
    }
    return count;
}

static void many_equals(void **state)
{
    struct sp_text text = {0};
    struct searching searching;
    (void)state;
    put_tables(&text, "same", 200, "model_type \"odd\"\n[a]\nstem.odd.quux (A, B)\n");
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "stem.odd.quux", SHAPE(3, 4));
    search_file(&searching);
    assert_int_equal(count_attempts(&searching, false), 24);
    assert_int_equal(count_attempts(&searching, true), 64);
    searching_close(&searching);
}

/* Of a file of many tensors fewer tables are named: 8 * 2857 are more than 20000, and 7 * 2857 are 19999; 10 * 2000 are
 * 20000. */
static void few_equals_of_a_large_file(void **state)
{
    static const struct {
        unsigned tensors, further;
    } cases[] = {{2857, 8}, {2000, 10}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct sp_text text = {0};
        struct searching searching;
        put_tables(&text, "same", 100, "model_type \"odd\"\n[a] for i in 0..N-1\nstem.{i}.quux (A)\n");
        begin_text(&searching.model, &text);
        for (unsigned i = 0; i < cases[c].tensors; i++) {
            char name[40];
            snprintf(name, sizeof name, "stem.%u.quux", i);
            model_add_shape(&searching.model, name, SHAPE(3));
        }
        search_file(&searching);
        assert_int_equal(count_attempts(&searching, true), cases[c].further);
        searching_close(&searching);
    }
}

/* What is no part of other models. */
#define MODEL "model_type \"odd\"\narchitectures \"OddForCausalLM\"\nrequire A > 0, \"no width\"\n"

/* Lean tables, then some that may have so many names more. */
static size_t attempts_beside(unsigned lean, unsigned more)
{
    struct sp_text text = {0}, rows = {0};
    struct searching searching;
    put_tables(&text, "lean", lean, MODEL "[a]\nstem.odd.quux (A, B)\n");
    sp_text_puts(&rows, MODEL "[a]\nstem.odd.quux (A, B)\n");
    for (unsigned i = 0; i < more; i++) sp_text_printf(&rows, "more%u (A) if flag default false\n", i);
    put_tables(&text, "more", 3, rows.data);
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "stem.odd.quux", SHAPE(3, 4));
    search_file(&searching);
    const size_t count = count_attempts(&searching, false);
    searching_close(&searching);
    sp_text_free(&rows);
    return count;
}

static void equals_with_more_names(void **state)
{
    (void)state;
    assert_int_equal(attempts_beside(14, 5), 15); /* the one behind 14 of them, and no further */
    assert_int_equal(attempts_beside(15, 5), 15);
    assert_int_equal(attempts_beside(15, 4), 18);
}

/* Behind the one table that explains the file by the names as they are, those whose names end alike are laid out. */
static size_t further_among(unsigned others)
{
    struct sp_text text = {0};
    struct searching searching;
    put_tables(&text, "first", 1, "model_type \"odd\"\n[a]\nstem.odd.quux (A, B)\n");
    put_tables(&text, "other", others, "[a]\nx.y.odd.quux (A, B)\n");
    put_tables(&text, "own", 1, "[a]\nstem.odd.quux (A, B)\n");
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "stem.odd.quux", SHAPE(3, 4));
    search_file(&searching);
    const size_t count = count_attempts(&searching, true);
    searching_close(&searching);
    return count;
}

static void further_tables_that_are_laid_out(void **state)
{
    (void)state;
    assert_int_equal(further_among(238), 1);
    assert_int_equal(further_among(239), 0);
}

/* ---- effort ---- */

struct looks {
    size_t count;
    uint64_t between, last;
};

static bool look_on(void *context, const char *step, uint64_t done, uint64_t total)
{
    struct looks *looks = context;
    (void)total;
    if (strcmp(step, "questions") != 0) return true;
    looks->count++;
    looks->between = done - looks->last;
    looks->last = done;
    return true;
}

/* A table of many sizes, none of which takes a trial: so many questions are asked of a million, which one attempt
 * leaves half of. */
static void questions(void **state)
{
    struct sp_text text = {0};
    struct searching searching;
    struct looks looks = {0};
    const struct shapeproof_watch watch = {.progress = look_on, .context = &looks};
    (void)state;
    sp_text_puts(&text, "table odd\nmodel_type \"odd\"\n[a] for i in 0..N-1\nstem.{i}.quux (width[i])\n");
    begin_text(&searching.model, &text);
    for (unsigned i = 0; i < 5000; i++) {
        char name[40];
        snprintf(name, sizeof name, "stem.%u.quux", i);
        model_add_shape(&searching.model, name, SHAPE(i));
    }
    search_file_under(&searching, &watch);
    assert_int_equal(searching.search.effort.trials, 400000);
    assert_true(looks.count > 1);
    assert_int_equal(looks.between, 4096);
    assert_int_equal(looks.last % 4096, 1000000 % 4096);
    searching_close(&searching);
}

static void put_rows(struct sp_text *text, unsigned rows, const char *dimension)
{
    for (unsigned i = 0; i < rows; i++) sp_text_printf(text, "stem%u.quux (%s)\n", i, dimension);
}

/* Whether a table that is only named beside others is tried long enough to find two keys: each row of the first one
 * takes some ninety trials. */
static bool is_further_explained(unsigned rows)
{
    struct sp_text text = {0}, first = {0}, second = {0};
    struct searching searching;
    bool explained = false;
    sp_text_puts(&first, "model_type \"odd\"\n[a]\nlast.quux (1000)\n");
    put_rows(&first, rows, "1000");
    put_tables(&text, "first", 60, first.data);
    sp_text_puts(&second, "model_type \"odd\"\n[a]\n");
    put_rows(&second, rows, "k^2 % 10007 == 5929 ? 1000 : 5");
    sp_text_puts(&second, "last.quux (m^2 % 10007 == 6084 ? 1000 : 5)\n");
    put_tables(&text, "own", 1, second.data);
    begin_text(&searching.model, &text);
    for (unsigned i = 0; i < rows; i++) {
        char name[40];
        snprintf(name, sizeof name, "stem%u.quux", i);
        model_add_shape(&searching.model, name, SHAPE(1000));
    }
    model_add_shape(&searching.model, "last.quux", SHAPE(1000));
    search_file(&searching);
    for (size_t i = 0; i < searching.search.attempts.count; i++) {
        const struct sp_attempt *attempt = searching.search.attempts.items[i];
        if (strcmp(attempt->table->name, "own000") == 0) explained = explained || sp_attempt_explains_all(attempt);
    }
    searching_close(&searching);
    sp_text_free(&first);
    sp_text_free(&second);
    return explained;
}

static void few_trials(void **state)
{
    (void)state;
    assert_true(is_further_explained(10));
    assert_false(is_further_explained(11));
}

/* ---- guesses ---- */

/* A number that nothing suggests, of which a table says in its own way that it is `number`: it has to be tried. */
static bool is_number_found(unsigned number, const char *otherwise)
{
    struct sp_text text = {0};
    struct searching searching;
    sp_text_printf(&text, "table odd\nmodel_type \"odd\"\n[a]\nstem.quux (k*k %% 10007 == %u ? 1000 : %s)\n",
                   number * number % 10007, otherwise);
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "stem.quux", SHAPE(1000));
    return search_explains(&searching);
}

static void small_numbers(void **state)
{
    (void)state;
    assert_true(is_number_found(127, "5"));
    assert_true(is_number_found(128, "5"));
    assert_false(is_number_found(129, "5"));
}

/* Behind eight numbers that decide nothing no further one is tried: 1, 0, 2, ... 7. */
static void idle_numbers(void **state)
{
    (void)state;
    assert_true(is_number_found(7, "m*m % 10007"));
    assert_false(is_number_found(8, "m*m % 10007"));
}

/* Of a key that may be many texts the last numbers are not tried: behind 200 texts and what comes before numbers. */
static bool is_number_found_behind_texts(unsigned number)
{
    struct sp_text text = {0};
    struct searching searching;
    sp_text_printf(&text, "table odd\nmodel_type \"odd\"\n[a]\nstem.quux (k*k %% 10007 == %u ? 1000 : 5)\n",
                   number * number % 10007);
    for (unsigned i = 0; i < 200; i++) sp_text_printf(&text, "more%u.corge (4) if k == \"text%u\"\n", i, i);
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "stem.quux", SHAPE(1000));
    return search_explains(&searching);
}

static void many_values(void **state)
{
    (void)state;
    assert_true(is_number_found_behind_texts(110));
    assert_false(is_number_found_behind_texts(111));
}

/* A number shows to be wrong when so many sizes have followed from it, each in a round. */
static bool is_number_found_behind_sizes(unsigned sizes)
{
    struct sp_text text = {0};
    struct searching searching;
    unsigned number = 77;
    for (unsigned i = 1; i <= sizes; i++) number = 1000 + 50 * i - number;
    sp_text_printf(&text, "table own\nmodel_type \"odd\"\n[a]\nlast.quux (k%u^2 %% 10007 == %u ? 1000 : 5)\n", sizes,
                   number * number % 10007);
    for (unsigned i = sizes; i > 0; i--) sp_text_printf(&text, "stem%u.quux (k%u + k%u)\n", i, i, i - 1);
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "last.quux", SHAPE(1000));
    for (unsigned i = 1; i <= sizes; i++) {
        char name[40];
        snprintf(name, sizeof name, "stem%u.quux", i);
        model_add_shape(&searching.model, name, SHAPE(1000 + 50 * i));
    }
    return search_explains(&searching);
}

static void rounds_of_a_trial(void **state)
{
    (void)state;
    assert_true(is_number_found_behind_sizes(5));
    assert_false(is_number_found_behind_sizes(6));
}

/* What stands for a key where it is not set, in a part that is used behind so many others. */
static bool is_default_found(unsigned others)
{
    struct sp_text text = {0};
    struct model model;
    struct sp_outline outline;
    struct shapeproof_value value;
    sp_text_puts(&text, "part idle(n)\nx = n\nw (x)\npart last(n)\nx = mode default 7\nw (x)\ntable own\n[a]\n");
    for (unsigned i = 0; i < others; i++) sp_text_printf(&text, "u%u.* idle(A)\n", i);
    sp_text_puts(&text, "v.* last(A)\n");
    begin_text(&model, &text);
    sp_outline_init(&outline, sp_tables_unit(model.tables, "own"), "", NULL);
    struct sp_deduction deduction = {.outline = &outline, .solver = &outline.solver};
    const bool found = sp_default_of(&deduction, "mode", &value);
    sp_outline_free(&outline);
    model_close(&model);
    return found;
}

static void defaults_in_parts(void **state)
{
    (void)state;
    assert_true(is_default_found(62)); /* with the table itself 64 places are looked at */
    assert_false(is_default_found(63));
}

/* ---- texts that are supposed ---- */

/* Of lines with one name, each for a text, that one has a size that can be. */
static bool is_text_found(unsigned number)
{
    struct sp_text text = {0};
    struct searching searching;
    sp_text_puts(&text, "table odd\nmodel_type \"odd\"\n[a]\n");
    for (unsigned i = 0; i < 40; i++)
        sp_text_printf(&text, "stem.quux (A, k^2 %% 10007 == %u ? 1000 : 5) if kind == \"kind%u\"\n",
                       (i == number ? 100 * 100 : 777 * 777) % 10007, i);
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "stem.quux", SHAPE(3, 1000));
    return search_explains(&searching);
}

/* So many names for each of which another key says which of two lines it is: the first one, and of the last name the
 * second one. */
static bool are_texts_found(unsigned names)
{
    struct sp_text text = {0};
    struct searching searching;
    sp_text_puts(&text, "table odd\nmodel_type \"odd\"\n[a]\n");
    for (unsigned i = 0; i < names; i++)
        for (unsigned k = 0; k < 2; k++)
            sp_text_printf(&text, "stem%u.quux (A, k%u^2 %% 10007 == %u ? 1000 : 5) if kind%u == \"%s\"\n", i, i,
                           (k == (i + 1 == names) ? 100 * 100 : 777 * 777) % 10007, i, k ? "second" : "first");
    begin_text(&searching.model, &text);
    for (unsigned i = 0; i < names; i++) {
        char name[40];
        snprintf(name, sizeof name, "stem%u.quux", i);
        model_add_shape(&searching.model, name, SHAPE(3, 1000));
    }
    return search_explains(&searching);
}

static void suppositions(void **state)
{
    (void)state;
    assert_true(is_text_found(23));
    assert_false(is_text_found(24));
    assert_true(are_texts_found(3));
    assert_false(are_texts_found(4));
}

/* ---- loops ---- */

/* How far the inner loop goes depends on the outermost one of so many around it. */
static bool are_loops_found(unsigned outer)
{
    struct sp_text text = {0};
    struct searching searching;
    sp_text_puts(&text, "table odd\nmodel_type \"odd\"\n[a]");
    for (unsigned i = 0; i < outer; i++) sp_text_printf(&text, " for i%u in 0..1", i);
    sp_text_puts(&text, " for j in 0..(i0 == 0 ? few : many)-1\nstem");
    for (unsigned i = 0; i < outer; i++) sp_text_printf(&text, ".{i%u}", i);
    sp_text_puts(&text, ".{j}.quux (4)\n");
    begin_text(&searching.model, &text);
    for (unsigned at = 0; at < 1U << outer; at++)
        for (unsigned j = 0; j < (at & 1 ? 4 : 2); j++) {
            struct sp_text name = {0};
            sp_text_puts(&name, "stem");
            for (unsigned i = 0; i < outer; i++) sp_text_printf(&name, ".%u", at >> i & 1);
            sp_text_printf(&name, ".%u.quux", j);
            model_add_shape(&searching.model, name.data, SHAPE(4));
            sp_text_free(&name);
        }
    return search_explains(&searching);
}

static void loops_around_loops(void **state)
{
    (void)state;
    assert_true(are_loops_found(3));
    assert_false(are_loops_found(4));
}

/* ---- rounds ---- */

/* A table about a file, and what is known of its keys. */
struct deducing {
    struct model model;
    struct shapeproof_inventory *inventory;
    struct sp_outline outline;
    struct sp_shapes shapes;
    struct sp_effort effort;
    struct sp_deduction deduction;
};

/* The model is made. */
static void deducing_begin(struct deducing *deducing)
{
    const struct sp_naming plain = {.strip = "", .add = ""};
    deducing->inventory = model_in_memory(&deducing->model);
    deducing->effort = (struct sp_effort){NULL, 1000, 100000};
    sp_outline_init(&deducing->outline, sp_tables_unit(deducing->model.tables, "own"), "", NULL);
    sp_shapes_init(&deducing->shapes, deducing->model.tables, deducing->inventory, &plain, NULL, SP_EVERY_TENSOR);
    sp_deduction_init(&deducing->deduction, &deducing->outline, &deducing->shapes, &deducing->effort);
}

static void deducing_end(struct deducing *deducing)
{
    sp_deduction_free(&deducing->deduction);
    sp_shapes_free(&deducing->shapes);
    sp_outline_free(&deducing->outline);
    shapeproof_inventory_close(deducing->inventory);
    model_close(&deducing->model);
}

/* Each size tells one more key, the line behind it first: a round for each. */
static void rounds(void **state)
{
    struct sp_text text = {0};
    struct deducing deducing;
    (void)state;
    sp_text_puts(&text, "table own\n[a]\n");
    for (unsigned i = 50; i > 0; i--) sp_text_printf(&text, "stem.%u.quux (k%u + k%u)\n", i, i, i - 1);
    sp_text_puts(&text, "stem.0.quux (k0)\n");
    begin_text(&deducing.model, &text);
    for (unsigned i = 0; i <= 50; i++) {
        char name[40];
        snprintf(name, sizeof name, "stem.%u.quux", i);
        model_add_shape(&deducing.model, name, SHAPE(1000 + 3 * i));
    }
    deducing_begin(&deducing);
    sp_deduce(&deducing.deduction, SP_CONTESTED_FIRST);
    struct sp_known *known = &deducing.outline.solver.known;
    assert_int_equal(sp_known_value(known, "k39").type, SHAPEPROOF_VALUE_INT);
    assert_int_equal(sp_known_value(known, "k40").type, SHAPEPROOF_VALUE_UNKNOWN);
    deducing_end(&deducing);
}

/* Of a size that the file does not have so many keys are given values. */
static void keys_of_a_missing_size(void **state)
{
    struct sp_text text = {0};
    struct deducing deducing;
    (void)state;
    sp_text_puts(&text, "table own\n[a]\none.quux (4)\nmore.quux (k0");
    for (unsigned i = 1; i < 25; i++) sp_text_printf(&text, " + k%u", i);
    sp_text_puts(&text, ")\n");
    begin_text(&deducing.model, &text);
    model_add_shape(&deducing.model, "one.quux", SHAPE(4));
    deducing_begin(&deducing);
    sp_guess_rest(&deducing.deduction);
    assert_int_equal(sp_known_count_set(&deducing.outline.solver.known), 20);
    deducing_end(&deducing);
}

/* Of a list with more modules shapes tell no stages. */
static void modules_in_stages(void **state)
{
    struct sp_stages stages;
    (void)state;
    sp_stages_read(&stages, NULL, NULL, 0, NULL, 0, 4095);
    assert_int_equal(stages.count, 4096);
    sp_stages_free(&stages);
    sp_stages_read(&stages, NULL, NULL, 0, NULL, 0, 4096);
    assert_int_equal(stages.count, 0);
    sp_stages_free(&stages);
}

/* ---- messages ---- */

/* What is said of a file that has one tensor of each table, which lacks so many others. */
static void assert_nearest(unsigned tables, unsigned lacking, const char *message)
{
    struct sp_text text = {0}, rows = {0};
    struct model model;
    sp_text_puts(&rows, "[a]\nstem.quux (4)\n");
    for (unsigned i = 0; i < lacking; i++) sp_text_printf(&rows, "more%u.corge (4)\n", i);
    put_tables(&text, "odd", tables, rows.data);
    begin_text(&model, &text);
    model_add_shape(&model, "stem.quux", SHAPE(4));
    model_add_shape(&model, "other.one", SHAPE(4));
    FIND();
    assert_null(finding.inference);
    assert_string_equal(finding.error.message, message);
    finding_close(&finding);
    model_close(&model);
    sp_text_free(&rows);
}

static void nearest_tables(void **state)
{
    (void)state;
    assert_nearest(4, 0,
                   "memory: no table explains the 2 tensors; nearest: odd000 (explains 1, lacks 0), "
                   "odd001 (explains 1, lacks 0), odd002 (explains 1, lacks 0)");
    assert_nearest(1, 7, "memory: no table explains the 2 tensors; nearest: odd000 (explains 1, lacks 7)");
    assert_nearest(1, 8, "memory: no table explains the 2 tensors");
}

/* ---- classes ---- */

/* Classes Odd0, Odd1, ..., each of which is as wide as its number says. */
static void put_classes(struct sp_text *text, unsigned count)
{
    sp_text_puts(text, "table many\nmodel_type \"odd\"\narchitectures \"Odd0\"");
    for (unsigned i = 1; i < count; i++) sp_text_printf(text, ", \"Odd%u\"", i);
    sp_text_puts(text, "\nwidth = ");
    for (unsigned i = 1; i < count; i++) sp_text_printf(text, "architectures[0] == \"Odd%u\" ? %u : ", i, 10 + i);
    sp_text_puts(text, "10\nrequire width > 0, \"no width\"\n[a]\nstem.odd.quux (A, width)\n");
}

static void classes_of_a_table(void **state)
{
    struct sp_text text = {0};
    struct model model;
    size_t count;
    (void)state;
    put_classes(&text, 33);
    begin_text(&model, &text);
    sp_classes_of(model.tables, sp_tables_unit(model.tables, "many"), &count);
    assert_int_equal(count, 32);
    model_close(&model);
}

/* Classes that have the same names are told apart by shapes: the first one, and so many others. */
static bool is_class_found(unsigned number)
{
    struct sp_text text = {0};
    struct searching searching;
    put_classes(&text, 8);
    begin_text(&searching.model, &text);
    model_add_shape(&searching.model, "stem.odd.quux", SHAPE(3, 10 + number));
    return search_explains(&searching);
}

static void classes_of_the_same_names(void **state)
{
    (void)state;
    assert_true(is_class_found(4));
    assert_false(is_class_found(5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_that_fit),
        cmocka_unit_test(tables_that_are_laid_out),
        cmocka_unit_test(tables_for_naming),
        cmocka_unit_test(sampled_names),
        cmocka_unit_test(ends_of_patterns),
        cmocka_unit_test(many_equals),
        cmocka_unit_test(few_equals_of_a_large_file),
        cmocka_unit_test(equals_with_more_names),
        cmocka_unit_test(further_tables_that_are_laid_out),
        cmocka_unit_test(questions),
        cmocka_unit_test(few_trials),
        cmocka_unit_test(small_numbers),
        cmocka_unit_test(idle_numbers),
        cmocka_unit_test(many_values),
        cmocka_unit_test(rounds_of_a_trial),
        cmocka_unit_test(defaults_in_parts),
        cmocka_unit_test(suppositions),
        cmocka_unit_test(loops_around_loops),
        cmocka_unit_test(rounds),
        cmocka_unit_test(keys_of_a_missing_size),
        cmocka_unit_test(modules_in_stages),
        cmocka_unit_test(nearest_tables),
        cmocka_unit_test(classes_of_a_table),
        cmocka_unit_test(classes_of_the_same_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
