/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/chars.h"
#include "base/step_name.h"
#include "read/reader.h"
#include "shapeproof/run.h"

/* What a file of a training is, by its name: a row of file_kinds.def each. */
static const struct {
    const char *pattern;
    enum shapeproof_run_kind kind;
    const char *framework;
} file_rows[] = {
#define FILE(pattern, kind, framework) {pattern, SHAPEPROOF_RUN_##kind, framework},
#include "read/file_kinds.def"
#undef FILE
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The last two components of a path, or the whole path if it has no more. */
static const char *last_two(const char *path)
{
    const char *base = sp_base_name(path), *two = path;
    for (const char *c = path; c + 1 < base; c++)
        if (*c == '/') two = c + 1;
    return two;
}

enum shapeproof_run_kind shapeproof_run_kind_of(const char *name, const char **framework)
{
    const char *base = sp_base_name(name), *two = last_two(name);
    for (size_t i = 0; i < COUNT(file_rows); i++) {
        if (!sp_file_pattern_matches(file_rows[i].pattern, strchr(file_rows[i].pattern, '/') ? two : base)) continue;
        if (framework) *framework = file_rows[i].framework;
        return file_rows[i].kind;
    }
    if (framework) *framework = "";
    return sp_file_ending_says(base) & (SP_IN_DIRECTORIES | SP_IF_ALONE) ? SHAPEPROOF_RUN_MODEL : SHAPEPROOF_RUN_OTHER;
}

const char *shapeproof_run_kind_name(enum shapeproof_run_kind kind)
{
    static const char *const names[] = {
        [SHAPEPROOF_RUN_OTHER] = "other",
        [SHAPEPROOF_RUN_MODEL] = "model",
        [SHAPEPROOF_RUN_ADAPTER] = "adapter",
        [SHAPEPROOF_RUN_AVERAGE] = "average",
        [SHAPEPROOF_RUN_OPTIMIZER] = "optimizer",
        [SHAPEPROOF_RUN_SCHEDULER] = "scheduler",
        [SHAPEPROOF_RUN_SCALER] = "loss scaler",
        [SHAPEPROOF_RUN_RANDOM_STATE] = "random state",
        [SHAPEPROOF_RUN_TRAINER_STATE] = "trainer state",
        [SHAPEPROOF_RUN_TOKENIZER] = "tokenizer",
        [SHAPEPROOF_RUN_CONFIGURATION] = "configuration",
        [SHAPEPROOF_RUN_LOG] = "log",
    };
    return names[kind];
}
