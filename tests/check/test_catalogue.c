/* SPDX-License-Identifier: MIT
 * What the frameworks saved, one model for each class that they have: fixtures/catalogue, made by catalogue.py there. A
 * check must come to "match", or in a few known models to "explained": their files have names of an older version, or
 * store a tied tensor twice. */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/recorded.h"
#include "formats.h"

struct catalogue {
    char *name; /* of the model that is read, or NULL */
    struct model model;
    size_t matched, explained, unknown, wrong;
};

/* Whether a check of the model says that the file is what its configuration promises. */
static void hold_against_table(struct catalogue *catalogue)
{
    struct shapeproof_error error = {0};
    struct model *model = &catalogue->model;
    model->inventory = model_in_memory(model);
    model->inventory->format = &format_safetensors;
    model->check = shapeproof_check_new(model->inventory, model->tables, model->config, NULL, &error);
    if (!model->check && error.status == SHAPEPROOF_ERR_UNKNOWN) catalogue->unknown++;
    else if (model->check && shapeproof_check_verdict(model->check) == SHAPEPROOF_VERDICT_MATCH) catalogue->matched++;
    else {
        if (model->check && shapeproof_check_verdict(model->check) == SHAPEPROOF_VERDICT_EXPLAINED)
            catalogue->explained++;
        else catalogue->wrong++;
        print_message("%s: %s\n", catalogue->name,
                      model->check ? shapeproof_check_summary(model->check) : error.message);
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

static void read_catalogue_line(void *context, const char *word, char *rest)
{
    struct catalogue *catalogue = context;
    if (strcmp(word, "base") == 0) {
        close_catalogue_model(catalogue);
        catalogue->name = strdup(rest);
    } else if (strcmp(word, "config") == 0) model_open(&catalogue->model, rest);
    else model_add_recorded(&catalogue->model, word, rest);
}

static struct catalogue read_catalogue(const char *path)
{
    struct catalogue catalogue = {0};
    read_record(path, read_catalogue_line, &catalogue);
    close_catalogue_model(&catalogue);
    print_message("%s: %zu match, %zu are explained, %zu are unknown, %zu are wrong\n", path, catalogue.matched,
                  catalogue.explained, catalogue.unknown, catalogue.wrong);
    return catalogue;
}

struct record {
    const char *path;
    size_t explained; /* models whose files differ from the table by a harmless cause */
};

/* Each model of the framework has a table, and its file is what this predicts. */
static void knows_framework(void **state)
{
    const struct record *record = *state;
    const struct catalogue catalogue = read_catalogue(record->path);
    assert_int_equal(catalogue.wrong, 0);
    assert_int_equal(catalogue.unknown, 0);
    assert_int_equal(catalogue.explained, record->explained);
    assert_true(catalogue.matched > 0);
}

/* With files, those are held against instead: test_catalogue FILE... */
int main(int argc, char **argv)
{
    static struct record transformers = {"fixtures/catalogue/transformers.txt", 9};
    static struct record diffusers = {"fixtures/catalogue/diffusers.txt", 0};
    static struct record older = {"fixtures/catalogue/older.txt", 6};
    static struct record timm = {"fixtures/catalogue/timm.txt", 1};
    static struct record torchvision = {"fixtures/catalogue/torchvision.txt", 0};
    static struct record detectron2 = {"fixtures/catalogue/detectron2.txt", 0};
    for (int i = 1; i < argc; i++) read_catalogue(argv[i]);
    if (argc > 1) return 0;
    const struct CMUnitTest tests[] = {{"knows_transformers", knows_framework, NULL, NULL, &transformers},
                                       {"knows_diffusers", knows_framework, NULL, NULL, &diffusers},
                                       {"knows_older", knows_framework, NULL, NULL, &older},
                                       {"knows_timm", knows_framework, NULL, NULL, &timm},
                                       {"knows_torchvision", knows_framework, NULL, NULL, &torchvision},
                                       {"knows_detectron2", knows_framework, NULL, NULL, &detectron2}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
