/* SPDX-License-Identifier: MIT
 * Checkpoints of which each rank of a training has saved a part, in a file of its own, by torch.save:
 *
 *   DeepSpeed   mp_rank_00_model_states.pt, one for each tensor-parallel rank
 *               zero_pp_rank_0_mp_rank_00_model_states.pt (stage 3 of ZeRO), one for each data-parallel rank as well
 *               layer_03-model_00-model_states.pt, one for each layer of a pipeline
 *               layer_0_expert_1_mp_rank_00_model_states.pt, one for each expert
 *   Megatron    mp_rank_00/model_optim_rng.pt, mp_rank_00_001/ (pipeline), mp_rank_00_001_002/ (and experts)
 *   FSDP        model_world_size_2_rank_0.pt, as verl names it; or any name with the number of a rank in it, such as
 *               weights_rank0.pt or rank_0/ckpt.pt: tensors (DTensor, ShardedTensor) that say which piece they are
 *
 *   files.c says which file is of which rank, rules.c how a tensor is divided, join.c makes one checkpoint of them. */
#ifndef SP_READ_RANKS_RANKS_H
#define SP_READ_RANKS_RANKS_H

#include "base/map.h"
#include "model/inventory.h"
#include "read/folder.h"

/* What the storage of a tensor begins with whose pieces or copies are in several files. */
#define SP_OF_SEVERAL_RANKS "rank 0: "

enum { SP_NO_LAYER = UINT32_MAX };

/* One file, and what its tensors are a part of. */
struct sp_rank_file {
    const char *path;                 /* below the folder */
    uint32_t tensor, stage;           /* tensor-parallel rank; of the pipeline */
    uint32_t expert;                  /* expert-parallel rank */
    uint32_t layer;                   /* of a pipeline of DeepSpeed, or SP_NO_LAYER */
    uint32_t of;                      /* how many ranks there are, where the name says so; or 0 */
    bool misplaced;                   /* its pieces are those of another rank */
    bool plain;                       /* experts of DeepSpeed: names without what is in front of the others' */
    struct shapeproof_inventory *own; /* what it holds, once it is read */
};

/* A piece of a tensor of the whole model, whose data are read from the file. The pieces of a tensor follow one another,
 * in the order of the ranks. */
struct sp_rank_piece {
    const char *name;                    /* of the tensor */
    size_t file;                         /* among the ranks' */
    const struct shapeproof_tensor *own; /* in that file */
    uint32_t dimension;                  /* along which the pieces lie one behind the other */
};

/* What left the files. */
extern const struct sp_format sp_format_deepspeed, sp_format_megatron, sp_format_fsdp;

/* What else ranks have saved beside the model. */
struct sp_ranks_beside {
    const char **items; /* the names of the files */
    size_t count, capacity;
    uint32_t world; /* how many ranks the names say; or 0 */
};

struct sp_ranks {
    const struct sp_format *format; /* one of those above; NULL: there are none */
    struct sp_arena arena;
    SP_ARRAY(struct sp_rank_file) files;
    size_t optimizer_files, zero_files;    /* of the latter one is read for all */
    struct sp_ranks_beside optimizers;     /* the names of the former */
    struct sp_ranks_beside extra_states;   /* of verl: scheduler and random state */
    SP_ARRAY(const char *) unused;         /* files of a training with another number of ranks */
    SP_ARRAY(struct sp_rank_piece) pieces; /* of the tensors that were joined in a way that is known for certain */
    bool numbered;         /* the names are a program's own: their tensors must show that they are pieces */
    bool universal;        /* the optimizer's part is a folder for each parameter, in "zero" */
    bool layers;           /* some are files of one layer each */
    uint32_t tensor_ranks; /* how many there are */
    uint32_t expert_cuts;  /* how many of them divide an expert: all of them, as a rule */
    uint32_t world;        /* ranks whose tensors say which piece they are; or 0 */
    bool few_groups;       /* fewer groups of queries than ranks: keys and values are not divided plainly */
};

/* The number of ranks and the rank in the name of a file of FSDP, as verl has it, by its `front`: 8 and 3 for "optim"
 * and "optim_world_size_8_rank_3.pt". False for any other name, such as "optim_world_size_8_rank_3_old.pt". */
bool sp_sharded_name_read(const char *name, const char *front, uint32_t *of, uint32_t *rank);

/* A rank of a training of `of` ranks. */
struct sp_rank_of {
    uint32_t of, rank;
};

/* Trainings with different numbers of ranks may have saved into one folder. Returns the number of ranks of the training
 * to read: the largest one for which every rank is in the list; if there is none, the largest; 0 for an empty list.
 * Sorts the list. {2, 0}, {2, 1}, {4, 3} -> 2 */
uint32_t sp_choose_world(struct sp_rank_of *ranks, size_t count);

/* How tensor-parallel ranks have divided a tensor. */
enum sp_cut {
    SP_CUT_UNKNOWN,
    SP_CUT_COLUMNS, /* along dimension 0 */
    SP_CUT_ROWS,    /* along dimension 1 */
    SP_CUT_NOT      /* each has the whole */
};

/* ---- files.c ---- */

/* The files of ranks in the folder, sorted; none is no error. */
bool sp_ranks_list(struct sp_ranks *ranks, const struct sp_folder *folder, struct shapeproof_error *error);
/* The number behind the word "rank" in a name: 3 for "optim_rank3.pt". False for a name without it. */
bool sp_rank_in_name(const char *name, uint32_t *rank);

/* ---- reader.c ---- */

void sp_ranks_free(struct sp_ranks *ranks);
/* Whether a tensor in one of the files is a piece. Files that cannot be read have none. */
bool sp_ranks_are_pieces(const struct sp_ranks *ranks, const struct sp_folder *folder);
/* Whether the files in its folders of ranks, "rank_0/ckpt.pt", are read as one checkpoint. Files are read until one has
 * a piece of a tensor. */
bool sp_ranks_join_folders(const struct sp_folder *folder);

/* ---- rules.c ---- */

/* By the end of its name; of a name that no rule knows SP_CUT_UNKNOWN. */
enum sp_cut sp_rank_cut(const char *name);
/* Whether the elements of the tensor may have another order than those of its pieces one behind the other: each rank
 * may have a piece of gate and a piece of up, or, in old files of Megatron, of queries, keys and values. */
bool sp_may_be_interleaved(const char *name);
/* Whether the tensor makes queries, keys and values at once. */
bool sp_is_grouped_cut(const char *name);

/* ---- join.c ---- */

/* All files as one list of tensors. */
bool sp_ranks_join(struct sp_ranks *ranks, struct shapeproof_inventory *inventory, struct shapeproof_error *error);

#endif
