/* SPDX-License-Identifier: MIT
 * The output folder of a training: its steps, and what each of its files is. Names and sizes are listed, a few small
 * files are read (trainer_state.json, latest), and headers only where shapeproof_run_examine is called.
 *
 *     run/                                 the run
 *       config.json                        a file of no step
 *       checkpoint-500/                    a step
 *         model.safetensors                a model: shapeproof_inventory_open reads the folder
 *         optimizer.pt, scheduler.pt       two files of other kinds */
#ifndef SHAPEPROOF_RUN_H
#define SHAPEPROOF_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/error.h"
#include "shapeproof/inventory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a file of a training is. */
enum shapeproof_run_kind {
    SHAPEPROOF_RUN_OTHER = 0, /* none of these, or not known */
    SHAPEPROOF_RUN_MODEL = 1, /* weights, alone or with the rest of the state in the same file */
    SHAPEPROOF_RUN_ADAPTER = 2,
    SHAPEPROOF_RUN_AVERAGE = 3, /* averaged weights of a model: EMA, SWA */
    SHAPEPROOF_RUN_OPTIMIZER = 4,
    SHAPEPROOF_RUN_SCHEDULER = 5,
    SHAPEPROOF_RUN_SCALER = 6, /* the factor of the loss under mixed precision */
    SHAPEPROOF_RUN_RANDOM_STATE = 7,
    SHAPEPROOF_RUN_TRAINER_STATE = 8, /* where the training is: its step, its place in the data, which step is last */
    SHAPEPROOF_RUN_TOKENIZER = 9,
    SHAPEPROOF_RUN_CONFIGURATION = 10, /* of the model or of the training */
    SHAPEPROOF_RUN_LOG = 11
};

/* Whether the data of a file are complete. */
enum shapeproof_run_state {
    SHAPEPROOF_RUN_NOT_READ = 0, /* not examined, or of a format without a check */
    SHAPEPROOF_RUN_WHOLE = 1,
    SHAPEPROOF_RUN_BROKEN = 2, /* cut short, or not readable as what it is named */
    SHAPEPROOF_RUN_UNUSED = 3  /* of a training with another number of ranks than the one that is checked */
};

struct shapeproof_run_step {
    const char *name;      /* its path below the run: "checkpoint-500", "checkpoints/epoch=3-step=12.ckpt" */
    const char *path;      /* the same with the run's folder in front */
    const char *framework; /* that names steps so: "transformers"; "" when several do, or none that is known */
    uint64_t number;       /* of steps or epochs, by its name; SHAPEPROOF_NONE when it has no number: "last.ckpt" */
    bool is_file;          /* it is one file, and no folder */
};

struct shapeproof_run_file {
    const char *name;      /* its path below the run: "checkpoint-500/optimizer.pt" */
    const char *path;      /* the same with the run's folder in front */
    const char *framework; /* that names such files so; "" when several do, or none that is known */
    enum shapeproof_run_kind kind;
    size_t step; /* index of its step, or SHAPEPROOF_NONE */
    uint64_t bytes;
    enum shapeproof_run_state state; /* NOT_READ until shapeproof_run_examine */
    const char *note;                /* why it is broken or not used, or ""  */
};

/* Weights that shapeproof_inventory_open reads as one checkpoint: a folder, with all its shards and ranks, or a file.
 */
struct shapeproof_run_model {
    const char *name;              /* its path below the run; "." for the run's folder itself */
    const char *path;              /* to be opened */
    enum shapeproof_run_kind kind; /* MODEL, ADAPTER or AVERAGE */
    size_t step;                   /* index of its step, or SHAPEPROOF_NONE */
    uint32_t holds;     /* what else the same file has tensors of: 1 << kind for each; 0 until shapeproof_run_examine */
    const char *config; /* of weights without a configuration (.weights.h5) another model of the run that has it in
                           itself; or the config.json of a folder of the run that shapeproof_config_beside does not
                           look into; or NULL: shapeproof_config_beside finds it */
};

struct shapeproof_run; /* opaque: owns everything that the functions below return */

/* Lists the folder at `path`. A folder is a run if it has a folder that is called like a step, or two files that are;
 * any other folder, such as that of a single step, has files and models, but no steps. What is no folder has nothing.
 * NULL with SHAPEPROOF_ERR_FILE when the folder cannot be listed, or has more than 100,000 files. Free with
 * shapeproof_run_close. */
SHAPEPROOF_API struct shapeproof_run *shapeproof_run_open(const char *path, struct shapeproof_error *error);
/* Reads the headers of the files that are no model, and fills in their states; of models that are one file or one
 * distributed checkpoint, fills in what else they hold. Whether a model is whole shapeproof_inventory_open and a check
 * tell. False if a call of the system fails for a reason that is not the file's, such as too many open files; the
 * states are then not to be used. */
SHAPEPROOF_API bool shapeproof_run_examine(struct shapeproof_run *run, struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_run_close(struct shapeproof_run *run);

/* All borrowed until shapeproof_run_close. */
SHAPEPROOF_API const char *shapeproof_run_path(const struct shapeproof_run *run); /* as it was given */
/* The framework that has written it, as far as its names tell: "transformers"; or "". */
SHAPEPROOF_API const char *shapeproof_run_framework(const struct shapeproof_run *run);
/* In the order of their numbers, those without a number last. */
SHAPEPROOF_API size_t shapeproof_run_step_count(const struct shapeproof_run *run);
SHAPEPROOF_API const struct shapeproof_run_step *shapeproof_run_step(const struct shapeproof_run *run, size_t index);
/* The index of the step that is the last, by the file that says so (`latest`) or by its number, and of the best one, by
 * trainer_state.json, by its name or, once the run was examined, by Lightning's ModelCheckpoint; SHAPEPROOF_NONE when
 * that is not known. */
SHAPEPROOF_API size_t shapeproof_run_last(const struct shapeproof_run *run);
SHAPEPROOF_API size_t shapeproof_run_best(const struct shapeproof_run *run);
/* How the last and the best are known: "by its number", "by trainer_state.json: best_metric 1.25"; or "". */
SHAPEPROOF_API const char *shapeproof_run_last_reason(const struct shapeproof_run *run);
SHAPEPROOF_API const char *shapeproof_run_best_reason(const struct shapeproof_run *run);
/* In the order of the steps, those of no step first; in a step by their kinds, and then by their names. */
SHAPEPROOF_API size_t shapeproof_run_file_count(const struct shapeproof_run *run);
SHAPEPROOF_API const struct shapeproof_run_file *shapeproof_run_file(const struct shapeproof_run *run, size_t index);
/* In the order of the steps, those of no step first. */
SHAPEPROOF_API size_t shapeproof_run_model_count(const struct shapeproof_run *run);
SHAPEPROOF_API const struct shapeproof_run_model *shapeproof_run_model(const struct shapeproof_run *run, size_t index);
/* "model", "random state"; static. */
SHAPEPROOF_API const char *shapeproof_run_kind_name(enum shapeproof_run_kind kind);
/* What a file is by its name alone, which may have folders in front: what names do not tell, such as "state.pt", is a
 * model. `framework`, which may be NULL, receives who names it so, or "". */
SHAPEPROOF_API enum shapeproof_run_kind shapeproof_run_kind_of(const char *name, const char **framework);

#ifdef __cplusplus
}
#endif
#endif
