/* SPDX-License-Identifier: MIT
 * The folder of a checkpoint of a training (folder.h): whether training can go on from it, by its files and by its
 * configuration. A folder with one file is checked as that file, too. */
#include "folder.h"
#include "small_decoder.h"

#include "mutate_folder.h"

enum { MAX_SIZE = 16384, MOST_TENSORS = 20000 };

static void must_be_stated(const struct shapeproof_resume *resume)
{
    fuzz_must(shapeproof_resume_layout(resume)[0]);
    for (size_t i = 0; i < shapeproof_resume_count(resume); i++) {
        const struct shapeproof_resume_statement *statement = shapeproof_resume_statement(resume, i);
        fuzz_must(statement->subject[0] && statement->text[0]);
        fuzz_must(statement->answer <= SHAPEPROOF_RESUME_WRONG);
    }
}

static void check(const char *path, enum shapeproof_report_format format)
{
    struct shapeproof_error error = {0};
    struct shapeproof_resume *resume = shapeproof_resume_new(path, &error);
    fuzz_must_have(resume, &error);
    if (!resume) return;
    if (!shapeproof_resume_compare(resume, fuzz_tables(add_small_decoder), &error)) fuzz_must_refuse(&error);
    must_be_stated(resume);
    const struct shapeproof_report_options how = {.format = format};
    shapeproof_free(shapeproof_report_resume(resume, &how, NULL));
    shapeproof_resume_free(resume);
}

static void check_folder(const unsigned char *data, size_t size)
{
    const enum shapeproof_report_format format = size % 2 ? SHAPEPROOF_REPORT_TEXT : SHAPEPROOF_REPORT_JSON;
    folder_fill(data, size);
    check(folder_path, format);
    if (folder_made_count == 1) {
        char path[sizeof folder_path + FOLDER_PATH];
        snprintf(path, sizeof path, "%s%s", folder_path, folder_made[0].path);
        check(path, format);
    }
    folder_empty();
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_limit(&(struct shapeproof_limits){.tensors = MOST_TENSORS});
    fuzz_tables(add_small_decoder);
    if (size <= MAX_SIZE && !fuzz_is_hdf5(data, size)) fuzz_undone(check_folder, data, size);
}

FOLDER_MUTATOR
