/* SPDX-License-Identifier: MIT */
#include "read/file_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "read/directory.h"
#include "read/reader.h"

static const struct {
    const char *pattern;
    enum shapeproof_run_kind kind;
    const char *framework;
} file_rows[] = {
#define FILE(pattern, kind, framework) {pattern, SHAPEPROOF_RUN_##kind, framework},
#include "read/file_kinds.def"
#undef FILE
};

enum step_row_what { FOLDER, FILE };

static const struct {
    const char *pattern;
    enum step_row_what what;
    const char *framework;
} step_rows[] = {
#define STEP(pattern, what, framework) {pattern, what, framework},
#include "read/steps.def"
#undef STEP
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool sp_run_pattern_matches(const char *pattern, const char *text)
{
    for (; *pattern; pattern++) {
        if (*pattern == '*') {
            for (;; text++) {
                if (sp_run_pattern_matches(pattern + 1, text)) return true;
                if (!*text || *text == '/') return false;
            }
        }
        if (*pattern == '#') {
            if (!sp_is_digit(*text)) return false;
            while (sp_is_digit(*text)) text++;
        } else if (*pattern != *text++) return false;
    }
    return !*text;
}

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
        if (!sp_run_pattern_matches(file_rows[i].pattern, strchr(file_rows[i].pattern, '/') ? two : base)) continue;
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

/* ---- steps ---- */

/* The number behind a word for steps: "step=12", "epoch_03"; else the first number in the name. SHAPEPROOF_NONE without
 * one. The first of the words that has a number wins: "epoch=3-step=12" is step 12. */
static uint64_t number_in(const char *name)
{
    static const char *const words[] = {"step", "iter", "epoch", "checkpoint", "ckpt"};
    for (size_t i = 0; i < COUNT(words); i++) {
        const char *behind = strstr(name, words[i]);
        if (!behind) continue;
        behind += strlen(words[i]);
        behind += strspn(behind, "-_=.");
        if (sp_is_digit(*behind)) return strtoull(behind, NULL, 10);
    }
    const char *number = strpbrk(name, "0123456789");
    return number ? strtoull(number, NULL, 10) : SHAPEPROOF_NONE;
}

bool sp_step_name_read(const char *name, bool is_file, struct sp_step_name *step)
{
    for (size_t i = 0; i < COUNT(step_rows); i++) {
        if (is_file != (step_rows[i].what == FILE) || !sp_run_pattern_matches(step_rows[i].pattern, name)) continue;
        const bool is_numbered = strchr(step_rows[i].pattern, '#') != NULL;
        *step = (struct sp_step_name){.framework = step_rows[i].framework,
                                      .number = is_numbered ? number_in(name) : SHAPEPROOF_NONE,
                                      .is_file = is_file,
                                      .is_best = strstr(name, "best") != NULL,
                                      .is_last = strncmp(name, "last", strlen("last")) == 0 ||
                                                 strncmp(name, "latest", strlen("latest")) == 0};
        return true;
    }
    return false;
}
