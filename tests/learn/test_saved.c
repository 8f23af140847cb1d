/* SPDX-License-Identifier: MIT
 * Tables learnt from what frameworks saved: of each class of which there are three checkpoints or more, each is left
 * out once, and held against what was learnt from the others. Skipped without the corpus.
 *
 *     test_saved [FOLDER [WORD [-v]]]    another corpus; only kinds whose name has the word; tell all that is not right
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/value.h"
#include "config/config.h"
#include "learn/judge.h"
#include "sample.h"

enum { LEAST_OF_KIND = 3, MOST_OF_KIND = 8, MOST_CASES = 8000, LONGEST_LINE = 4096, MOST_DIMS = 6 };

static const char *folder = "../shared/data/saved", *only = "";
static bool tells_all;

/* A configuration, and the tensors that were saved with it. */
struct saved {
    struct shapeproof_config *config;
    struct shapeproof_inventory *inventory;
};

/* "name TAB 64,8 TAB kind": false where it is no tensor of its own, or no such line. */
static bool read_tensor(struct shapeproof_inventory *inventory, char *line)
{
    struct shapeproof_error error = {0};
    char *rest = line, *name = strtok_r(rest, "\t", &rest), *fields[2] = {"", ""};
    uint64_t shape[MOST_DIMS];
    uint32_t rank = 0;
    if (rest && *rest != '\t') fields[0] = strtok_r(rest, "\t", &rest);
    if (rest && *rest) fields[1] = strtok_r(rest, "\t\n", &rest);
    if (!name || !fields[1] || strcmp(fields[1], "tied") == 0) return false;
    for (char *dims = fields[0]; dims && *dims && rank < MOST_DIMS; rank++) {
        shape[rank] = strtoull(dims, &dims, 10);
        dims += *dims == ',';
    }
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
    uint64_t *kept = sp_arena_array(&inventory->arena, rank + 1, sizeof *kept);
    memcpy(kept, shape, rank * sizeof *kept);
    tensor->name = sp_arena_string(&inventory->arena, name);
    tensor->dtype = strstr(name, "num_batches_tracked") || strstr(name, "position_ids") ? SHAPEPROOF_DTYPE_I64
                                                                                        : SHAPEPROOF_DTYPE_F32;
    tensor->rank = rank;
    tensor->shape = kept;
    sp_tensor_measure(tensor);
    return true;
}

static struct shapeproof_inventory *read_truth(const char *name)
{
    struct shapeproof_error error = {0};
    char path[1024], line[LONGEST_LINE];
    snprintf(path, sizeof path, "%s/truth/%s.tsv", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    struct shapeproof_inventory *inventory = sp_inventory_new(name);
    sp_inventory_add_file(inventory, name);
    while (fgets(line, sizeof line, file)) read_tensor(inventory, line);
    fclose(file);
    if (!sp_inventory_finish(inventory, &error)) die(name, error.message);
    return inventory;
}

static bool open_saved(struct saved *saved, const char *name)
{
    struct shapeproof_error error = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/configs/%s.json", folder, name);
    *saved = (struct saved){.config = shapeproof_config_new(), .inventory = read_truth(name)};
    return saved->inventory && shapeproof_config_load(saved->config, path, &error) == SHAPEPROOF_OK;
}

static void close_saved(struct saved *saved)
{
    shapeproof_inventory_close(saved->inventory);
    shapeproof_config_free(saved->config);
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
static void judge_kind(const struct shapeproof_tables *tables, char *const *names, size_t count, struct tally *tally)
{
    struct saved list[MOST_OF_KIND];
    if (count > MOST_OF_KIND) count = MOST_OF_KIND;
    tally->groups++;
    const clock_t start = clock();
    for (size_t i = 0; i < count; i++)
        if (!open_saved(&list[i], names[i])) die(names[i], "cannot be read");
    for (size_t i = 0; i < count; i++)
        if (!is_contradicted(list, count, i)) judge_left_out(tables, list, count, i, names[i], tally);
    for (size_t i = 0; i < count; i++) close_saved(&list[i]);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (tells_all && seconds > 3) print_message("slow: %s: %.1f s\n", names[0], seconds);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The names of the configurations, without ".json". */
static size_t list_names(char **names)
{
    char path[1024];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/configs", folder);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL && count < MOST_CASES;) {
        const size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0 && strstr(entry->d_name, only))
            names[count++] = strndup(entry->d_name, length - 5);
    }
    if (directory) closedir(directory);
    qsort(names, count, sizeof *names, compare_names);
    return count;
}

/* Up to the last "--": framework, type and class. */
static size_t length_of_kind(const char *name)
{
    size_t length = 0;
    for (const char *at = name; (at = strstr(at, "--")) != NULL; at++) length = (size_t)(at - name);
    return length;
}

static size_t count_of_kind(char *const *names, size_t count)
{
    const size_t length = length_of_kind(names[0]);
    size_t same = 1;
    while (same < count && length_of_kind(names[same]) == length && strncmp(names[same], names[0], length) == 0) same++;
    return same;
}

static void each_is_left_out_once(void **state)
{
    static char *names[MOST_CASES];
    struct tally tally = {0};
    struct shapeproof_error error = {0};
    (void)state;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    const size_t count = list_names(names);
    for (size_t i = 0, same, kinds = 0; i < count; i += same) {
        same = count_of_kind(names + i, count - i);
        if (same >= LEAST_OF_KIND && kinds++ % SAMPLE == 0) judge_kind(tables, names + i, same, &tally);
    }
    for (size_t i = 0; i < count; i++) free(names[i]);
    shapeproof_tables_free(tables);
    if (!count) skip();
    tell_tally(&tally);
    assert_int_equal(tally.silent, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_left_out_once)};
    if (argc > 1) folder = argv[1];
    if (argc > 2) only = argv[2];
    tells_all = argc > 3;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
