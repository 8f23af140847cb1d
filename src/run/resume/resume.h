/* SPDX-License-Identifier: MIT
 * Can training go on from a checkpoint? Each part of it is read once, what it says of itself is noted as facts, and the
 * facts are compared; each comparison is one statement.
 *
 *   files of the folder -> layout -> model.c       parameters: names, shapes
 *                                    optimizer.c   moments against the parameters; its last step
 *                                    states.c      scheduler, random states, trainer_state.json, arguments
 *                                    distributed.c moments that have names
 *                                    sharded.c     what the ranks of DeepSpeed have saved
 *                                    ranks.c       what the ranks of others have saved, each in a file of its own
 *                          then      resume.c      steps and numbers of ranks against each other
 *                                    configuration.c  the model against its config.json, with a table */
#ifndef SP_RUN_RESUME_RESUME_H
#define SP_RUN_RESUME_RESUME_H

#include "model/inventory.h"
#include "read/folder.h"
#include "read/torch/contents.h"
#include "shapeproof/resume.h"

enum { SP_RESUME_NO_STEP = -1, SP_STATEMENT_LOOKS = 4096 /* what statements cost as looks, as they take memory */ };

/* What the state of an optimizer says of itself, to compare ranks with each other. */
struct sp_optimizer_facts {
    bool is_read;              /* false: the state could not be read, and nothing else here is known */
    size_t parameters, groups; /* that it lists */
    size_t with, pieces;       /* parameters that have moments; of these those that are a rank's piece */
    size_t empty;              /* of these pieces those without elements: another rank may have the whole */
    size_t masters;            /* master weights that are beside it (sp_resume_masters) */
    const char *kinds;         /* "exp_avg, exp_avg_sq" */
    int64_t step;              /* the largest of all parameters, or SP_RESUME_NO_STEP */
};

struct shapeproof_resume {
    struct sp_arena arena;
    const char *given;  /* the path as it was given */
    const char *path;   /* of what is judged: the path, or the step in it that a file names */
    const char *layout; /* set before anything is judged */
    SP_ARRAY(struct shapeproof_resume_statement) statements;
    struct sp_folder folder;            /* open while the checkpoint is read */
    SP_ARRAY(const char *) names;       /* of the files and folders in it, sorted */
    struct shapeproof_inventory *model; /* NULL when it cannot be read */
    const char *partial; /* why the optimizer may rightly have parameters that the saved model has not; or NULL */
    bool trains_adapter; /* the model is an adapter of PEFT whose matrices are all trained */
    uint32_t replicas;   /* of the model, that the files of its ranks have together; 0: not known */
    struct shapeproof_inventory *moments; /* of a distributed checkpoint that has the optimizer alone; or NULL */
    /* Facts for comparisons; SP_RESUME_NO_STEP: not known. */
    int64_t folder_step;    /* by the name of the checkpoint */
    int64_t step;           /* as the trainer says */
    int64_t optimizer_step; /* the largest of all parameters */
    int64_t scheduler_step; /* of a scheduler that makes one step with each of the optimizer */
    const char *optimizer_file, *scheduler_file;
    size_t optimizers, groups;       /* groups of parameters of the only optimizer */
    struct sp_optimizer_facts facts; /* of the optimizer that was read last */
    size_t ranks;                    /* that have saved a random state; 0: not known */
    bool has_scaler;                 /* of float16: steps of the optimizer may have been skipped */
    uint64_t looks;                  /* sp_resume_spend */
};

/* Adds a statement. Strings are copied; those that may be NULL stay so. */
void sp_resume_right(struct shapeproof_resume *resume, const char *subject, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void sp_resume_wrong(struct shapeproof_resume *resume, const char *subject, const char *file, const char *expected,
                     const char *found, const char *format, ...) __attribute__((format(printf, 6, 7)));
void sp_resume_untold(struct shapeproof_resume *resume, bool is_essential, const char *subject, const char *file,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Must come before values of a pickle are walked, with the number of looks at them: a small file may refer to one large
 * value a million times. False when these are too many for one checkpoint, which is said once. */
bool sp_resume_spend(struct shapeproof_resume *resume, const char *subject, const char *file, uint64_t looks);
/* The elements of a tensor; the largest number where they are more than 64 bits hold. */
uint64_t sp_resume_elements(const struct sp_contents_tensor *tensor);
/* Keys and values of a dictionary together; 0 for any other value. */
uint64_t sp_resume_length(const struct sp_pickle_value *value);
/* A number of steps in a file, which may be any: at most 2^63 - 1, and none when it is negative or no number. */
int64_t sp_resume_steps(double number);
/* Lists the files and folders in the folder; also again, after resume->path is another one. */
void sp_resume_list_folder(struct shapeproof_resume *resume);
/* Compares the last step of the moments with that of the trainer, as far as both are known; says what is odd. */
void sp_resume_compare_optimizer(struct shapeproof_resume *resume, const char *file, int64_t step, int64_t optimizer);
/* The number behind the last `marker` in the last part of a path: "a/checkpoint-4" -> 4. SP_RESUME_NO_STEP without. */
int64_t sp_resume_number_in_name(const char *path, const char *marker);
/* Whether the folder has that file or folder. */
bool sp_resume_has(const struct shapeproof_resume *resume, const char *name);
/* Whether the folder has folders of steps of DeepSpeed, and no files of ranks. */
bool sp_resume_has_steps(const struct shapeproof_resume *resume);
/* Opens a file of torch.save; after a statement that it is wrong NULL. */
struct sp_contents *sp_resume_open(struct shapeproof_resume *resume, const char *subject, const char *name);

/* model.c: reads the model at `path` below the folder, "" for the folder itself. */
void sp_resume_model(struct shapeproof_resume *resume, const char *path);
/* Whether a tensor of the model may be a parameter; of tied ones, the first. */
bool sp_resume_is_parameter(const struct shapeproof_tensor *tensor);
/* Says of the tokenizer in the folder whether each of its tokens has a row in the embedding. */
void sp_resume_tokenizer(struct shapeproof_resume *resume);

/* optimizer.c: the state dict of an optimizer. */
bool sp_resume_is_optimizer(const struct sp_pickle_value *value);
/* Whether optimizers call a tensor so that has the shape of its parameter: "exp_avg". */
bool sp_resume_is_moment(const char *kind);
/* What moments look like. */
enum sp_moment_form {
    SP_MOMENTS_NONE,   /* there are none */
    SP_MOMENTS_SHAPED, /* as the parameters: matrices, their factors, or pieces that have a shape */
    SP_MOMENTS_FLAT    /* all without rows: FSDP 1 and ZeRO have parts of the parameters end to end */
};
enum sp_moment_form sp_resume_moment_form(struct shapeproof_resume *resume, struct sp_contents *contents,
                                          const struct sp_pickle_value *value, const char *file);
void sp_resume_optimizer(struct shapeproof_resume *resume, struct sp_contents *contents,
                         const struct sp_pickle_value *value, const char *file);
/* The step that the groups of an optimizer say, [{"step": 4, ...}], or SP_RESUME_NO_STEP. */
int64_t sp_resume_step_of_groups(struct sp_contents *contents, const struct sp_pickle_value *groups);
/* Lists of lists of master weights, one for each group of parameters, against the model, and their number against the
 * parameters of the optimizer that was read last. NULL: there are none. */
void sp_resume_masters(struct shapeproof_resume *resume, struct sp_contents *contents,
                       const struct sp_pickle_value *groups, const char *file);
/* The moments of parameters that ranks have laid end to end and divided: how long they are in all ranks together. */
struct sp_flat_moment {
    const char *id;      /* of the parameter */
    uint64_t sum, first; /* elements, in all ranks and in the first */
    uint64_t last;       /* elements in the last rank that has another number of them than the first */
    bool is_uneven;      /* there is such a rank */
    uint32_t ranks;      /* that have them */
};
struct sp_flat_moments {
    struct sp_map ids; /* -> index in the list */
    SP_ARRAY(struct sp_flat_moment) list;
    bool failed;        /* something wrong was said */
    bool keeps_moments; /* an optimizer such as Adam has moments of each parameter */
};
/* Adds the moments of one rank. */
void sp_resume_flat_optimizer(struct shapeproof_resume *resume, struct sp_contents *contents,
                              const struct sp_pickle_value *value, const char *file, struct sp_flat_moments *flat);
/* After the last rank: compares their lengths with those of the parameters. `file`: of all ranks. */
void sp_resume_judge_flat(struct shapeproof_resume *resume, const struct sp_flat_moments *flat, uint32_t world,
                          const char *file);

/* distributed.c: a folder with .metadata, or with the files that it should list. */
void sp_resume_distributed(struct shapeproof_resume *resume);
/* The moments of such a folder, which may be another one than that of the model: FSDP's, in accelerate and Trainer. */
void sp_resume_named_optimizer(struct shapeproof_resume *resume, const struct shapeproof_inventory *moments);

/* states.c */
bool sp_resume_is_scheduler(const struct sp_pickle_value *value);
void sp_resume_scheduler(struct shapeproof_resume *resume, struct sp_contents *contents,
                         const struct sp_pickle_value *value, const char *file);
/* The random states of all ranks: `alone` is the name for one rank, or NULL; the others are PREFIX R SUFFIX. */
void sp_resume_random(struct shapeproof_resume *resume, const char *alone, const char *prefix, const char *suffix);
/* The random states of one rank; says only what is wrong, and is true when nothing is. */
bool sp_resume_random_value(struct shapeproof_resume *resume, struct sp_contents *contents,
                            const struct sp_pickle_value *value, const char *file);
/* Notes why the optimizer may have parameters that the model in the folder has not. */
void sp_resume_note_partial(struct shapeproof_resume *resume);
void sp_resume_trainer_state(struct shapeproof_resume *resume);

/* Says of the statements from `first` on which folder they are about. */
void sp_resume_put_folder_before(struct shapeproof_resume *resume, size_t first, const char *folder);

/* ranks.c: a step of verl, or one of its models; sets resume->layout. False, without a statement, when the folder has
 * no files of ranks. */
bool sp_resume_verl(struct shapeproof_resume *resume);
/* Likewise folders of Megatron, and of files such as model_rank0.pt. */
bool sp_resume_ranks(struct shapeproof_resume *resume);

/* sharded.c: the folder that `latest` names, or global_stepN itself; with the model in it, unless that has been read
 * elsewhere. False after a statement that `latest` leads nowhere. */
bool sp_resume_deepspeed(struct shapeproof_resume *resume, bool with_model);
/* The folder that latest_checkpointed_iteration.txt of Megatron and verl names: "iter_0000010". NULL after a statement
 * that it leads nowhere. */
const char *sp_resume_latest_iteration(struct shapeproof_resume *resume);
/* Says if the file `latest` or latest_checkpointed_iteration.txt above the folder names another step. */
void sp_resume_compare_latest(struct shapeproof_resume *resume);

#endif
