/* SPDX-License-Identifier: MIT */
#include "base/step_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"

enum step_row_what { FOLDER, FILE };

static const struct {
    const char *pattern;
    enum step_row_what what;
    const char *framework;
} step_rows[] = {
#define STEP(pattern, what, framework) {pattern, what, framework},
#include "base/steps.def"
#undef STEP
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool sp_file_pattern_matches(const char *pattern, const char *text)
{
    for (; *pattern; pattern++) {
        if (*pattern == '*') {
            for (;; text++) {
                if (sp_file_pattern_matches(pattern + 1, text)) return true;
                if (!*text || *text == '/') return false;
            }
        }
        if (*pattern == '#') {
            const size_t least = strspn(pattern, "#"), digits = strspn(text, "0123456789");
            if (digits < least) return false;
            pattern += least - 1;
            text += digits;
        } else if (*pattern != *text++) return false;
    }
    return !*text;
}

/* The number behind a word for steps: "step=12", "epoch_03"; else the first number in the name. SP_NO_STEP without
 * one. The first of the words that has a number wins: "epoch=3-step=12" is step 12. */
static uint64_t number_in(const char *name)
{
    static const char *const words[] = {"step", "iter", "-ba", "epoch", "checkpoint", "ckpt"};
    for (size_t i = 0; i < COUNT(words); i++) {
        const char *behind = strstr(name, words[i]);
        if (!behind) continue;
        behind += strlen(words[i]);
        behind += strspn(behind, "-_=.");
        if (sp_is_digit(*behind)) return strtoull(behind, NULL, 10);
    }
    const char *number = strpbrk(name, "0123456789");
    return number ? strtoull(number, NULL, 10) : SP_NO_STEP;
}

/* "checkpoint_2_500.pt" of fairseq: 500. SP_NO_STEP for names by another pattern. */
static uint64_t updates_in(const char *pattern, const char *name)
{
    if (!strstr(pattern, "#_#")) return SP_NO_STEP;
    const char *epoch = strpbrk(name, "0123456789");
    return strtoull(epoch + strspn(epoch, "0123456789") + 1, NULL, 10);
}

bool sp_rank_number_pass(const char **p, uint32_t *number)
{
    enum { MOST_DIGITS = 9, MOST_RANK = 1000 * 1000 }; /* digits of a number of 32 bits; ranks of one training */
    const size_t digits = strspn(*p, "0123456789");
    if (!digits || digits > MOST_DIGITS) return false;
    *number = (uint32_t)strtoul(*p, NULL, 10);
    *p += digits;
    return *number < MOST_RANK;
}

bool sp_rank_folder_read(const char *name, uint32_t *rank)
{
    if (strncmp(name, "rank", strlen("rank")) != 0) return false;
    name += strlen("rank");
    name += *name == '_' || *name == '-';
    return sp_rank_number_pass(&name, rank) && !*name;
}

/* "checkpoint_rank1.pt": what one rank has of a checkpoint is no step. "ep0-ba10-rank0.pt" of Composer is: other ranks
 * save a model only where it is divided, and then in a folder. */
static bool is_of_rank(const char *name)
{
    const char *rank = strstr(name, "rank");
    if (!rank || sp_ends_with(name, "-rank0.pt")) return false;
    rank += strlen("rank");
    return sp_is_digit(rank[strspn(rank, "-_=")]);
}

/* The last step, or the model at the end of a training. */
static bool is_of_last(const char *name)
{
    return strncmp(name, "last", strlen("last")) == 0 || strncmp(name, "latest", strlen("latest")) == 0 ||
           strcmp(name, "checkpoint_last.pt") == 0 || strcmp(name, "model_final.pth") == 0;
}

bool sp_step_name_read(const char *name, bool is_file, struct sp_step_name *step)
{
    if (is_of_rank(name)) return false;
    for (size_t i = 0; i < COUNT(step_rows); i++) {
        if (is_file != (step_rows[i].what == FILE) || !sp_file_pattern_matches(step_rows[i].pattern, name)) continue;
        const bool is_numbered = strchr(step_rows[i].pattern, '#') != NULL;
        *step = (struct sp_step_name){.framework = step_rows[i].framework,
                                      .number = is_numbered ? number_in(name) : SP_NO_STEP,
                                      .updates = updates_in(step_rows[i].pattern, name),
                                      .is_file = is_file,
                                      .is_best = strstr(name, "best") != NULL,
                                      .is_last = is_of_last(name)};
        return true;
    }
    return false;
}
