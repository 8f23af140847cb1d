/* SPDX-License-Identifier: MIT
 * Whether training can go on from a checkpoint: the model, the optimizer, the scheduler, the random states and the step
 * that were saved, held against each other. Data of tensors are not read, but for the step of an optimizer; nothing of
 * a file is executed. */
#ifndef SHAPEPROOF_RESUME_H
#define SHAPEPROOF_RESUME_H

#include <stdbool.h>
#include <stddef.h>

#include "shapeproof/api.h"
#include "shapeproof/error.h"
#include "shapeproof/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shapeproof_resume_answer {
    SHAPEPROOF_RESUME_RIGHT = 0,
    SHAPEPROOF_RESUME_UNTOLD = 1, /* the files do not show it */
    SHAPEPROOF_RESUME_WRONG = 2
};

/* What was found out about one part of the checkpoint. */
struct shapeproof_resume_statement {
    enum shapeproof_resume_answer answer;
    /* "model", "optimizer", "master weights", "step", "scheduler", "random state", "ranks", "tokenizer", "arguments",
     * "scaler" */
    const char *subject;
    const char *file;     /* that it is about, by its name in the folder; or NULL */
    const char *text;     /* what is right or wrong, or why the files do not show it */
    const char *expected; /* of what is wrong, where there are two values to compare; else NULL */
    const char *found;    /* likewise */
    bool is_essential;    /* untold: without it nobody knows whether training can go on */
};

struct shapeproof_resume; /* opaque: owns everything that the functions below return */

/* Looks at the folder of a checkpoint (of transformers' Trainer, accelerate, DeepSpeed, verl, Megatron or
 * torch.distributed.checkpoint, or with a file of each rank), or at a file that holds model and optimizer together (of
 * Lightning, or torch.save). NULL with SHAPEPROOF_ERR_FILE when there is no such path; with SHAPEPROOF_ERR_UNKNOWN when
 * nothing there is of a training. A file that cannot be read is no error, but a statement. Free with
 * shapeproof_resume_free. */
SHAPEPROOF_API struct shapeproof_resume *shapeproof_resume_new(const char *path, struct shapeproof_error *error);
/* Compares the model of a checkpoint of Trainer with the config.json in its folder, and adds a statement for each thing
 * that is wrong or unknown: the weights are another model, the loader of transformers does not load them whole, the
 * optimizer has parameters for both tensors of a tie, or Trainer does not convert names. Nothing is added for other
 * layouts, for adapters, and without a config.json. False with the error, and then nothing is added. */
SHAPEPROOF_API bool shapeproof_resume_compare(struct shapeproof_resume *resume, struct shapeproof_tables *tables,
                                              struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_resume_free(struct shapeproof_resume *resume);

/* All borrowed until shapeproof_resume_free. */
SHAPEPROOF_API const char *shapeproof_resume_path(const struct shapeproof_resume *resume); /* as it was given */
/* Whose checkpoint it is: "Trainer", "accelerate", "DeepSpeed", "torch.distributed.checkpoint", "verl", "Megatron",
 * "Lightning", "detectron2", "torch". */
SHAPEPROOF_API const char *shapeproof_resume_layout(const struct shapeproof_resume *resume);
/* Wrong if a statement is; untold if an essential one is, and none is wrong; else right: training can go on. */
SHAPEPROOF_API enum shapeproof_resume_answer shapeproof_resume_answer(const struct shapeproof_resume *resume);
SHAPEPROOF_API size_t shapeproof_resume_count(const struct shapeproof_resume *resume);
SHAPEPROOF_API const struct shapeproof_resume_statement *
shapeproof_resume_statement(const struct shapeproof_resume *resume, size_t index);

#ifdef __cplusplus
}
#endif
#endif
