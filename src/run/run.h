/* SPDX-License-Identifier: MIT
 * The inside of a run, for the files of this module. The flow of shapeproof_run_open:
 *
 *     list.c   folder -> files, by names alone: path, bytes, kind, step
 *     run.c    files -> steps in order, models (what is opened as one checkpoint), the last and the best step
 *
 * shapeproof_run_examine (examine.c) then reads headers. */
#ifndef SP_RUN_RUN_H
#define SP_RUN_RUN_H

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/step_name.h"
#include "base/value.h"
#include "shapeproof/run.h"

/* A step while it is found: its name is also the beginning of the names of its files. */
struct sp_run_step_entry {
    struct shapeproof_run_step step;
    uint64_t updates;      /* as of struct sp_step_name */
    bool is_best, is_last; /* by its name */
};

struct shapeproof_run {
    struct sp_arena arena;
    const char *path;
    const char *framework;
    SP_ARRAY(struct sp_run_step_entry) steps;
    SP_ARRAY(struct shapeproof_run_file) files;
    SP_ARRAY(struct shapeproof_run_model) models;
    struct sp_map step_names;  /* -> steps */
    struct sp_map model_names; /* "STEP NAME" -> models */
    struct sp_map lists;       /* the names of lists of components, modules.json and model_index.json */
    struct sp_map of_ranks;    /* a folder with folders of ranks -> 1 if their files are joined, or 0 */
    size_t last, best;
    const char *last_reason, *best_reason;
};

/* Lists the files below the folder, sorted by name, without kinds and steps. False with an error. */
bool sp_run_list(struct shapeproof_run *run, int folder, struct shapeproof_error *error);
/* The step that a path, also one of another machine, means by its last component; or SHAPEPROOF_NONE. */
size_t sp_run_step_called(const struct shapeproof_run *run, const char *path);
/* The value of a JSON file, in the arena, which for a large file should not be that of the run. False with an error,
 * which is malformed when it is no JSON. */
bool sp_run_json(struct sp_arena *arena, const char *path, struct shapeproof_value *value,
                 struct shapeproof_error *error);
/* The first word of a small text file, in the arena; NULL when there is none. */
const char *sp_run_word(struct shapeproof_run *run, const char *path);
/* "folder/name"; the name itself when the folder is ".". */
const char *sp_run_join(struct sp_arena *arena, const char *folder, const char *name);

#endif
