/* SPDX-License-Identifier: MIT
 * What the frameworks saved, one model for each class that they have: fixtures/catalogue, made by catalogue.py there. A
 * check must come to "match", whatever the tables do not know yet aside. */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/recorded.h"

struct catalogue {
    char *name; /* of the model that is read, or NULL */
    struct model model;
    size_t matched, unknown, wrong;
};

/* Whether a check of the model says that the file is what its configuration promises. */
static void hold_against_table(struct catalogue *catalogue)
{
    struct sp_error error = {0};
    struct model *model = &catalogue->model;
    model->inventory = model_in_memory(model);
    model->inventory->format = "safetensors";
    model->check = sp_check_new(model->inventory, model->tables, model->config, NULL, &error);
    if (!model->check && error.status == SP_ERR_UNKNOWN) catalogue->unknown++;
    else if (model->check && sp_check_verdict(model->check) != SP_VERDICT_DIFFERS) catalogue->matched++;
    else {
        catalogue->wrong++;
        print_message("%s: %s\n", catalogue->name, model->check ? sp_check_summary(model->check) : error.message);
    }
}

static void close_catalogue_model(struct catalogue *catalogue)
{
    if (!catalogue->name) return;
    hold_against_table(catalogue);
    model_close(&catalogue->model);
    free(catalogue->name);
    catalogue->name = NULL;
}

static void read_catalogue_line(struct catalogue *catalogue, char *line)
{
    char *tab = strchr(line, '\t');
    if (!tab) return;
    *tab = '\0';
    if (strcmp(line, "base") == 0) {
        close_catalogue_model(catalogue);
        catalogue->name = strdup(tab + 1);
    } else if (strcmp(line, "config") == 0) model_open(&catalogue->model, tab + 1);
    else model_add_recorded(&catalogue->model, line, tab + 1);
}

static struct catalogue read_catalogue(const char *path)
{
    struct catalogue catalogue = {0};
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (ssize_t length; (length = getline(&line, &size, file)) > 0;) {
        if (line[length - 1] == '\n') line[length - 1] = '\0';
        if (*line && *line != '#') read_catalogue_line(&catalogue, line);
    }
    close_catalogue_model(&catalogue);
    free(line);
    fclose(file);
    print_message("%s: %zu match, %zu are unknown, %zu are wrong\n", path, catalogue.matched, catalogue.unknown,
                  catalogue.wrong);
    return catalogue;
}

/* None is wrong; and no more are unknown than were when this was written. */
static void assert_known(const char *path, size_t unknown)
{
    const struct catalogue catalogue = read_catalogue(path);
    assert_int_equal(catalogue.wrong, 0);
    assert_true(catalogue.matched + catalogue.unknown > 0);
    assert_true(catalogue.unknown <= unknown);
}

static void knows_transformers(void **state)
{
    (void)state;
    assert_known("fixtures/catalogue/transformers.txt", 33);
}

static void knows_diffusers(void **state)
{
    (void)state;
    assert_known("fixtures/catalogue/diffusers.txt", 12);
}

static void knows_timm(void **state)
{
    (void)state;
    assert_known("fixtures/catalogue/timm.txt", 10);
}

static void knows_torchvision(void **state)
{
    (void)state;
    assert_known("fixtures/catalogue/torchvision.txt", 0);
}

/* With files, those are held against instead: test_catalogue FILE... */
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) read_catalogue(argv[i]);
    if (argc > 1) return 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(knows_transformers), cmocka_unit_test(knows_diffusers),
                                       cmocka_unit_test(knows_timm), cmocka_unit_test(knows_torchvision)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
