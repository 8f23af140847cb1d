/* SPDX-License-Identifier: MIT
 * The output folder of a training (folder.h): its steps, what each of its files is, and which of them are broken. */
#include "folder.h"

#include "mutate_folder.h"

enum { MAX_SIZE = 6144 };

/* A file is in a step that there is, and a broken one says why. */
static void must_be_known(const struct shapeproof_run *run)
{
    const size_t steps = shapeproof_run_step_count(run), last = shapeproof_run_last(run),
                 best = shapeproof_run_best(run);
    fuzz_must((last == SHAPEPROOF_NONE || last < steps) && (best == SHAPEPROOF_NONE || best < steps));
    for (size_t i = 0; i < shapeproof_run_file_count(run); i++) {
        const struct shapeproof_run_file *file = shapeproof_run_file(run, i);
        fuzz_must(file->step == SHAPEPROOF_NONE || file->step < steps);
        fuzz_must(shapeproof_run_kind_name(file->kind)[0]);
        fuzz_must(file->state != SHAPEPROOF_RUN_BROKEN || file->note[0]);
    }
    for (size_t i = 0; i < shapeproof_run_model_count(run); i++) {
        const struct shapeproof_run_model *model = shapeproof_run_model(run, i);
        fuzz_must(model->step == SHAPEPROOF_NONE || model->step < steps);
    }
}

static void report(const struct shapeproof_run *run, enum shapeproof_report_format format)
{
    const size_t count = shapeproof_run_model_count(run);
    struct shapeproof_run_result *results = calloc(count + 1, sizeof *results);
    fuzz_must(results != NULL);
    for (size_t i = 0; i < count; i++)
        results[i] = (struct shapeproof_run_result){.status = 0, .verdict = "match", .reason = "", .document = "{}\n"};
    const struct shapeproof_report_options how = {.format = format, .all = true};
    shapeproof_free(shapeproof_report_run(run, results, &how, NULL));
    free(results);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    if (size > MAX_SIZE || fuzz_is_hdf5(data, size)) return;
    folder_fill(data, size);
    struct shapeproof_run *run = shapeproof_run_open(folder_path, &error);
    fuzz_must_have(run, &error);
    if (run) {
        must_be_known(run);
        if (!shapeproof_run_examine(run, &error)) fuzz_must_refuse(&error);
        must_be_known(run);
        report(run, size % 2 ? SHAPEPROOF_REPORT_TEXT : SHAPEPROOF_REPORT_JSON);
    }
    shapeproof_run_close(run);
    folder_empty();
}

FOLDER_MUTATOR
