/* SPDX-License-Identifier: MIT
 * Of what is tried by the thousand, how much is tried: all of it, or one in sample(); and the folder that
 * SHAPEPROOF_CORPUS names, with more than the repository has (see corpus.h). */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
enum { USUAL_SAMPLE = 32 }; /* it takes ten times as long */
#else
enum { USUAL_SAMPLE = 1 };
#endif

/* One of so many is tried: SHAPEPROOF_SAMPLE in the environment says otherwise, where all have been tried already. */
static inline size_t sample(void)
{
    const char *wanted = getenv("SHAPEPROOF_SAMPLE");
    const size_t step = wanted ? strtoul(wanted, NULL, 10) : 0;
    return step ? step : USUAL_SAMPLE;
}

/* The same of what is tried by the hundred, where one in 32 would be too few to say anything. */
static inline size_t quarter(void) { return sample() > 4 ? 4 : sample(); }

enum { CORPUS_PATH = 1024 };

/* The path of a file, or a pattern, below the folder; false without one. */
static inline bool corpus_path(char path[CORPUS_PATH], const char *file)
{
    const char *corpus = getenv("SHAPEPROOF_CORPUS");
    return corpus && *corpus && snprintf(path, CORPUS_PATH, "%s/data/%s", corpus, file) < CORPUS_PATH;
}

#endif
