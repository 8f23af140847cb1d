/* SPDX-License-Identifier: MIT
 * What holds of every report for people: how long it is, how wide, and that it says what to do. */
#ifndef TESTS_CHECK_READING_H
#define TESTS_CHECK_READING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shapeproof/report.h"

enum { MOST_LINES = 25, MOST_COLUMNS = 80, MOST_OF_FIRST = 159 };

static inline void assert_reads(bool good, const char *why, const char *report)
{
    if (good) return;
    fprintf(stderr, "a report that %s:\n%s\n", why, report);
    abort();
}

static inline size_t columns_of(const char *line, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; i++) columns += ((unsigned char)line[i] & 0xc0) != 0x80;
    return columns;
}

/* A line that is too long is one that cannot be broken: a path, a name or a patch, behind a label or "hint: ". */
static inline bool is_one_piece(const char *line, size_t length)
{
    enum { LABEL = 17 };
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        depth += (line[i] == '{' || line[i] == '[') - (line[i] == '}' || line[i] == ']');
        if (line[i] == ' ' && i >= LABEL && !depth) return false;
    }
    return true;
}

static inline void assert_lines_are_short(const char *report)
{
    size_t lines = 0;
    for (const char *line = report; *line; lines++) {
        const size_t length = strcspn(line, "\n");
        const size_t columns = columns_of(line, length);
        if (!lines) assert_reads(columns <= MOST_OF_FIRST, "has a long first line", report);
        else assert_reads(columns <= MOST_COLUMNS || is_one_piece(line, length), "has a long line", report);
        line += length + 1;
    }
    assert_reads(lines <= MOST_LINES, "has more lines than anybody reads", report);
}

static inline void assert_says_what_to_do(const struct shapeproof_check *check, const char *report)
{
    bool is_open = false;
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++) {
        const struct shapeproof_cause *cause = shapeproof_check_cause(check, i);
        assert_reads(cause->hint || cause->severity != SHAPEPROOF_SEVERITY_ERROR, "has an error without a hint",
                     report);
    }
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        is_open = is_open || (finding->severity == SHAPEPROOF_SEVERITY_ERROR && finding->cause == SHAPEPROOF_NONE);
    }
    assert_reads(!is_open || shapeproof_check_advice(check), "says nothing of findings without a cause", report);
    if (shapeproof_check_verdict(check) == SHAPEPROOF_VERDICT_DIFFERS)
        assert_reads(strstr(report, " hint: ") != NULL, "says not what to do", report);
}

static inline void assert_report_reads_well(const struct shapeproof_check *check)
{
    char *report = shapeproof_report_check(check, NULL, NULL);
    assert_lines_are_short(report);
    assert_says_what_to_do(check, report);
    shapeproof_free(report);
}

#endif
