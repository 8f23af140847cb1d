/* SPDX-License-Identifier: MIT
 * Tensors as records of what frameworks wrote have them: fixtures/loading/README.md. */
#ifndef TESTS_CHECK_RECORDED_H
#define TESTS_CHECK_RECORDED_H

#include "check/model.h"

/* "3,4", or "3,I64" */
static inline void model_add_recorded_one(struct model *model, const char *name, const char *dims)
{
    uint64_t shape[8];
    uint32_t rank = 0;
    char *end = NULL;
    for (; *dims >= '0' && *dims <= '9'; dims = *end ? end + 1 : end) shape[rank++] = strtoull(dims, &end, 10);
    struct part *part = model_add_shape(model, name, rank, shape);
    if (*dims) part->dtype = shapeproof_dtype_from_name(dims, strlen(dims));
}

/* "h.{0-3}.bias" is four tensors. */
static inline void model_add_recorded(struct model *model, const char *name, const char *dims)
{
    const char *brace = strchr(name, '{');
    unsigned long first, last;
    int length;
    if (!brace || sscanf(brace, "{%lu-%lu}%n", &first, &last, &length) != 2) {
        model_add_recorded_one(model, name, dims);
        return;
    }
    for (; first <= last; first++) {
        struct sp_text one = {0};
        sp_text_printf(&one, "%.*s%lu%s", (int)(brace - name), name, first, brace + length);
        model_add_recorded(model, one.data, dims);
        sp_text_free(&one);
    }
}

/* Each line of a record that has fields: its first word, and what is behind the tab. */
static inline void read_record(const char *path, void (*take)(void *context, const char *word, char *rest),
                               void *context)
{
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (!file) die(path, "cannot be opened");
    for (ssize_t length; (length = getline(&line, &size, file)) > 0;) {
        if (line[length - 1] == '\n') line[length - 1] = '\0';
        char *tab = *line == '#' ? NULL : strchr(line, '\t');
        if (!tab) continue;
        *tab = '\0';
        take(context, line, tab + 1);
    }
    free(line);
    fclose(file);
}

#endif
