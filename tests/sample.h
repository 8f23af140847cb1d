/* SPDX-License-Identifier: MIT
 * Of what is tried by the thousand, how much is tried: all of it, or under the address sanitizer, where it is slow, one
 * in SAMPLE; and the folder that SHAPEPROOF_CORPUS names, with more than the repository has (see corpus.h). */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
enum { SAMPLE = 16 };
#else
enum { SAMPLE = 1 };
#endif

enum { CORPUS_PATH = 1024 };

/* The path of a file, or a pattern, below the folder; false without one. */
static inline bool corpus_path(char path[CORPUS_PATH], const char *file)
{
    const char *corpus = getenv("SHAPEPROOF_CORPUS");
    return corpus && *corpus && snprintf(path, CORPUS_PATH, "%s/data/%s", corpus, file) < CORPUS_PATH;
}

#endif
