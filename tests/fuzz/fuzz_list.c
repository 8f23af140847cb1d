/* SPDX-License-Identifier: MIT
 * The bytes as a list of checkpoints, as `--list` takes it, and each line as one of the results of an earlier run. */
#include "fuzz.h"

#include "fleet/lines.h"
#include "fleet/list.h"

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    struct sp_list list;
    const int fd = fuzz_file(data, size);
    fuzz_must(lseek(fd, 0, SEEK_SET) == 0);
    if (sp_list_read(&list, fd, -1, "input", &error)) {
        for (size_t i = 0; i < list.count; i++) {
            struct sp_fleet_line line;
            const char *path = sp_list_path(&list, i, &error);
            fuzz_must(path);
            char *text = strdup(path);
            fuzz_must(text && *text);
            if (sp_line_read(&line, text, strlen(text))) fuzz_must(line.outcome < SP_LINE_OUTCOMES && line.path);
            free(text);
        }
    } else fuzz_must_refuse(&error);
    sp_list_free(&list);
}
