/* SPDX-License-Identifier: MIT
 * Whether the files beside the models are whole: their headers, and of archives the directory at the end, are read by
 * the readers of checkpoints. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "read/reader.h"
#include "run/run.h"

static void break_file(struct shapeproof_run *run, struct shapeproof_run_file *file, const char *why)
{
    const size_t length = strlen(file->path); /* which the message begins with, and the report has beside it */
    file->state = SHAPEPROOF_RUN_BROKEN;
    if (strncmp(why, file->path, length) == 0 && strncmp(why + length, ": ", 2) == 0) why += length + 2;
    file->note = sp_arena_string(&run->arena, why);
}

/* A file that a reader knows is whole if it can be indexed. Of one that no reader knows nothing is said: pickles of
 * trainers hold any objects. */
static void examine_tensors(struct shapeproof_run *run, struct shapeproof_run_file *file, const char *path)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (inventory) file->state = SHAPEPROOF_RUN_WHOLE;
    else if (error.kind == SHAPEPROOF_KIND_MALFORMED || error.kind == SHAPEPROOF_KIND_IO)
        break_file(run, file, error.message);
    shapeproof_inventory_close(inventory);
}

static void examine_file(struct shapeproof_run *run, struct shapeproof_run_file *file)
{
    const char *base = sp_base_name(file->name);
    if (sp_ends_with(base, ".json")) {
        if (sp_value_is_set(sp_run_json(run, file->path))) file->state = SHAPEPROOF_RUN_WHOLE;
        else break_file(run, file, "no JSON");
    } else if (sp_ends_with(base, ".distcp") || strcmp(base, ".metadata") == 0) {
        const size_t folder = strlen(file->path) - strlen(base) - 1;
        examine_tensors(run, file, sp_arena_copy(&run->arena, file->path, folder));
    } else if (sp_file_ending_says(base) || sp_ends_with(base, ".pkl")) {
        if (file->bytes) examine_tensors(run, file, file->path);
        else break_file(run, file, "empty");
    }
}

void shapeproof_run_examine(struct shapeproof_run *run)
{
    for (size_t i = 0; i < run->files.count; i++) {
        struct shapeproof_run_file *file = &run->files.items[i];
        switch (file->kind) {
        case SHAPEPROOF_RUN_OPTIMIZER:
        case SHAPEPROOF_RUN_SCHEDULER:
        case SHAPEPROOF_RUN_SCALER:
        case SHAPEPROOF_RUN_RANDOM_STATE:
        case SHAPEPROOF_RUN_TRAINER_STATE:
        case SHAPEPROOF_RUN_CONFIGURATION:
            examine_file(run, file);
            break;
        default:
            break;
        }
    }
}
