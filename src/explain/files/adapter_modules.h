/* SPDX-License-Identifier: MIT
 * The modules that the base of an adapter has, by every name that an adapter may call them. All names are made from the
 * prediction: a name in the file, whose dots may be underscores, is looked up and never taken apart. */
#ifndef SP_EXPLAIN_FILES_ADAPTER_MODULES_H
#define SP_EXPLAIN_FILES_ADAPTER_MODULES_H

#include "base/arena.h"
#include "base/map.h"
#include "check/adapter_names.h"
#include "check/check.h"
#include "shapeproof/prediction.h"

/* What a module of an adapter is for: mostly one weight, or several whose rows stand one behind the other. */
struct sp_adapter_target {
    size_t weights[SP_MOST_FUSED]; /* predicted; SHAPEPROOF_NONE while one of several has not been added */
    size_t count;                  /* 0: the name means two modules, and therefore none */
    size_t cuts;                   /* as in struct sp_memory_name; mostly 1 */
    bool original;                 /* by a name of its publisher's */
    bool before_peft; /* by an older name, which only files from before PEFT and names with underscores have: to_out for
                       * to_out.0, or a text encoder with or without "text_model." */
};

struct sp_adapter_modules {
    struct sp_arena *arena;
    struct sp_map dotted, flat; /* names -> targets; in `flat` with underscores for dots */
    struct sp_map state;        /* names of modules in memory, which come first: those of PEFT */
    struct sp_map in_memory; /* whole names of tensors in memory -> predicted, where they differ from those of files */
    struct sp_adapter_target *targets;
    size_t count, capacity;
};

/* Lists the modules of the check's prediction. `diffusers`: the base is one of its models, and its modules have
 * original names as well; otherwise it is one of transformers, and they have names in memory. */
void sp_adapter_modules_open(struct sp_adapter_modules *modules, const struct shapeproof_check *check,
                             struct sp_arena *arena, bool diffusers);
void sp_adapter_modules_close(struct sp_adapter_modules *modules);
/* The target of that name, if all of its weights are known; or NULL. `flat`: the name has underscores for dots. */
const struct sp_adapter_target *sp_adapter_modules_find(const struct sp_adapter_modules *modules, const char *name,
                                                        bool flat);

#endif
