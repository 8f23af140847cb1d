/* SPDX-License-Identifier: MIT
 * What is to be written into a configuration, held against what transformers said of it once it was: the record
 * fixtures/loading/patched.txt, which patched.py writes. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "explain/told.h"

/* All patches of a check in one, as it is written. */
static const char *patch_of_all(struct model *model)
{
    struct shapeproof_value patch = {.type = SHAPEPROOF_VALUE_OBJECT};
    for (size_t i = 0; i < shapeproof_check_cause_count(model->check); i++) {
        const struct shapeproof_value own = shapeproof_check_cause(model->check, i)->patch;
        if (sp_value_is_set(own)) patch = sp_value_patched(&model->check->arena, patch, own);
    }
    return sp_value_words(&model->check->arena, patch);
}

/* One line of the record. */
static void hold(char *line)
{
    struct model model, other;
    const char *made = strtok(line, "\t"), *asked = strtok(NULL, "\t"), *patch = strtok(NULL, "\t"),
               *answer = strtok(NULL, "\n");
    if (!made || !asked || !patch || !answer) fail_msg("a line of the record has too few fields");
    model_open(&model, made);
    model_predict(&model, 0);
    model_write(&model, "model.safetensors");
    model_open(&other, asked);
    model_check_path(&other, scratch_path(&model.scratch, "model.safetensors"));
    const char *own = patch_of_all(&other);
    if (strcmp(own, patch) != 0)
        fail_msg("%s\n  beside %s\n  is patched with %s, and was with %s", made, asked, own, patch);
    if (strcmp(answer, "whole") != 0) fail_msg("%s with %s: transformers says %s", asked, patch, answer);
    assert_hints_hold(other.check);
    model_close(&other);
    model_close(&model);
}

static void patches_that_transformers_loads(void **state)
{
    static char line[1 << 14];
    size_t count = 0;
    FILE *record = fopen("fixtures/loading/patched.txt", "r");
    (void)state;
    if (!record) fail_msg("fixtures/loading/patched.txt is not there");
    while (fgets(line, sizeof line, record))
        if (*line == '{') {
            hold(line);
            count++;
        }
    fclose(record);
    assert_true(count >= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patches_that_transformers_loads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
