/* SPDX-License-Identifier: MIT
 * One spelling for names that mean the same: "model_weights/dense/dense/kernel:0" is "model_weights.dense.weight". */
#ifndef SP_NAMES_SPELLING_H
#define SP_NAMES_SPELLING_H

#include "base/arena.h"

/* What a name has that its common spelling has not. */
enum sp_naming_habit {
    SP_HABIT_SLASHES = 1 << 0, /* between components */
    SP_HABIT_COLON = 1 << 1,   /* ":0" at the end, as TensorFlow has it */
    SP_HABIT_TWICE = 1 << 2,   /* a component twice in succession, as the layers of a Keras 2 file */
    SP_HABIT_WRAPPER = 1 << 3, /* a component that is a framework's wrapper */
    SP_HABIT_SCHEME = 1 << 4   /* another program's names (naming_schemes.h): set by who translates them, not here */
};

struct sp_spelling {
    const char *text; /* in the arena */
    const char *leaf; /* the last component as it was: "kernel", "vars/0"; in the arena or static */
    unsigned habits;  /* enum sp_naming_habit */
};

/* The common spelling of a name: dots between components, no wrappers, no component twice in succession, and what
 * PyTorch calls a leaf, "weight" for "kernel". Two tensors of the same spelling may be the same weight. */
struct sp_spelling sp_spell(struct sp_arena *arena, const char *name);

#endif
