/* SPDX-License-Identifier: MIT
 * Tables learnt from what frameworks saved: of each class of which there are three checkpoints or more, each is left
 * out once, and held against what was learnt from the others.
 *
 *     test_saved [RECORD [WORD [-v]]]    another record; only kinds whose name has the word; print all that is not
 * right
 */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/value.h"
#include "config/config.h"
#include "corpus.h"
#include "learn/judge.h"

enum { LEAST_OF_KIND = 3, MOST_OF_KIND = 8 };

static const char *record = SERIES, *only = "";
static bool tells_all;

/* A configuration, and the tensors that were saved with it. */
struct saved {
    char *name;
    struct shapeproof_config *config;
    struct shapeproof_inventory *inventory;
};

/* All that is judged. */
struct saved_list {
    struct saved *items;
    size_t count, capacity;
};

static void take_saved(void *context, const char *name, struct shapeproof_config *config,
                       struct shapeproof_inventory *inventory)
{
    struct saved_list *list = context;
    if (inventory && strstr(name, only)) {
        *SP_PUSH(list) = (struct saved){strdup(name), config, inventory};
        return;
    }
    shapeproof_config_free(config);
    shapeproof_inventory_close(inventory);
}

static void close_list(struct saved_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        shapeproof_inventory_close(list->items[i].inventory);
        shapeproof_config_free(list->items[i].config);
    }
    free(list->items);
}

static struct facts facts_of_saved(const struct saved *saved)
{
    struct facts facts = {0};
    for (size_t i = 0; i < shapeproof_inventory_count(saved->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(saved->inventory, i);
        *SP_PUSH(&facts) = (struct fact){tensor->name, tensor->rank, tensor->shape};
    }
    return facts;
}

static void judge_left_out(const struct shapeproof_tables *tables, const struct saved *list, size_t count, size_t out,
                           const char *name, struct tally *tally)
{
    static const char *const words[] = {"right", "refused", "said", "strange", "silent"};
    struct shapeproof_learn_example examples[MOST_OF_KIND];
    struct shapeproof_error error = {0};
    char first[200] = "";
    size_t others = 0;
    for (size_t i = 0; i < count; i++)
        if (i != out) examples[others++] = (struct shapeproof_learn_example){list[i].inventory, list[i].config};
    struct shapeproof_learning *learning =
        shapeproof_learn(examples, others, tables, &(struct shapeproof_learn_options){.name = "learnt_here"}, &error);
    if (!learning) die(name, error.message);
    if (shapeproof_learning_is_proved(learning)) {
        struct facts facts = facts_of_saved(&list[out]);
        const enum verdict verdict = judge_learnt(learning, list[out].config, examples, others, &facts, first);
        count_verdict(tally, verdict);
        if (verdict == SILENT || (tells_all && verdict != RIGHT))
            print_message("%s: %s: %s\n", words[verdict], name, first);
        free(facts.items);
    } else {
        tally->not_written++;
        print_message("not written: %s: %s\n", name, shapeproof_learning_rest(learning, 0));
    }
    shapeproof_learning_free(learning);
}

/* Of two that have one configuration and not the same tensors, no table is right. */
static bool is_contradicted(const struct saved *list, size_t count, size_t out)
{
    bool is = false;
    for (size_t i = 0; i < count && !is; i++) {
        struct sp_text here = {0}, there = {0};
        sp_value_json(&here, sp_config_hyper(list[out].config)->root);
        sp_value_json(&there, sp_config_hyper(list[i].config)->root);
        is = i != out && strcmp(here.data, there.data) == 0 &&
             shapeproof_inventory_count(list[i].inventory) != shapeproof_inventory_count(list[out].inventory);
        sp_text_free(&here);
        sp_text_free(&there);
    }
    return is;
}

/* Each of a kind is left out once. */
static void judge_kind(const struct shapeproof_tables *tables, const struct saved *list, size_t count,
                       struct tally *tally)
{
    if (count > MOST_OF_KIND) count = MOST_OF_KIND;
    tally->groups++;
    const clock_t start = clock();
    for (size_t i = 0; i < count; i++)
        if (!is_contradicted(list, count, i)) judge_left_out(tables, list, count, i, list[i].name, tally);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (tells_all && seconds > 3) print_message("slow: %s: %.1f s\n", list[0].name, seconds);
}

static int compare_saved(const void *left, const void *right)
{
    return strcmp(((const struct saved *)left)->name, ((const struct saved *)right)->name);
}

/* Up to the last "--": framework, type and class. */
static size_t length_of_kind(const char *name)
{
    size_t length = 0;
    for (const char *at = name; (at = strstr(at, "--")) != NULL; at++) length = (size_t)(at - name);
    return length;
}

static size_t count_of_kind(const struct saved *list, size_t count)
{
    const size_t length = length_of_kind(list[0].name);
    size_t same = 1;
    while (same < count && length_of_kind(list[same].name) == length &&
           strncmp(list[same].name, list[0].name, length) == 0)
        same++;
    return same;
}

static void judge_list(struct saved_list *list)
{
    struct tally tally = {0};
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    qsort(list->items, list->count, sizeof *list->items, compare_saved);
    for (size_t i = 0, same, kinds = 0; i < list->count; i += same) {
        same = count_of_kind(list->items + i, list->count - i);
        if (same >= LEAST_OF_KIND && kinds++ % sample() == 0) judge_kind(tables, list->items + i, same, &tally);
    }
    shapeproof_tables_free(tables);
    close_list(list);
    tell_tally(&tally);
    assert_true(tally.right > 0);
    assert_int_equal(tally.silent, 0);
}

static void series_left_out(void **state)
{
    struct saved_list list = {0};
    (void)state;
    corpus_read_record(record, take_saved, &list);
    judge_list(&list);
}

static void corpus_left_out(void **state)
{
    struct saved_list list = {0};
    (void)state;
    corpus_read_folder("saved/configs", take_saved, &list);
    if (!list.count) skip();
    judge_list(&list);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(series_left_out), cmocka_unit_test(corpus_left_out)};
    if (argc > 1) record = argv[1];
    if (argc > 2) only = argv[2];
    tells_all = argc > 3;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
