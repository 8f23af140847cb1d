/* SPDX-License-Identifier: MIT
 * Which tensor of the file is which predicted one, and in what they differ. */
#ifndef SP_COMPARE_MATCH_H
#define SP_COMPARE_MATCH_H

#include "base/arena.h"
#include "shapeproof/inventory.h"
#include "shapeproof/prediction.h"

/* How the file's names differ from the predicted ones as a whole: "module." in front, "transformer." left out. */
struct sp_naming {
    const char *strip;  /* in front of the file's names; "" for nothing */
    const char *add;    /* what the file left out in front; "" for nothing */
    bool drop_wrappers; /* components such as _orig_mod, anywhere in the name */
};

struct sp_match {
    const struct sp_inventory *inventory;
    const struct sp_prediction *prediction;
    size_t *predicted_of; /* for each tensor of the file, or SP_NONE */
    size_t *tensor_of;    /* for each predicted tensor, or SP_NONE */
    bool *old_name;       /* for each tensor of the file: matched by a name that older files use */
    size_t *tie_present;  /* for each predicted tensor that others are tied to: how many of them all are in the file */
};

/* The naming that makes the most names of the file agree with the prediction. Strings are in the arena. */
struct sp_naming sp_naming_infer(struct sp_arena *arena, const struct sp_inventory *inventory,
                                 const struct sp_prediction *prediction);
/* Fills a match; its arrays are on the heap. */
void sp_match_init(struct sp_match *match, const struct sp_inventory *inventory, const struct sp_prediction *prediction,
                   const struct sp_naming *naming);
void sp_match_free(struct sp_match *match);

enum sp_difference {
    SP_SAME,
    SP_MISSING,      /* predicted, not there */
    SP_UNEXPECTED,   /* there, not predicted */
    SP_SHAPE,        /* there with another shape */
    SP_TIED_ABSENT,  /* not there because it is the same as one that is */
    SP_TIED_PRESENT, /* there although it is the same as another */
    SP_OPTIONAL,     /* not there, and need not be */
    SP_STATE         /* optimizer or trainer state */
};

enum sp_difference sp_match_predicted(const struct sp_match *match, size_t predicted);
enum sp_difference sp_match_tensor(const struct sp_match *match, size_t tensor);
bool sp_same_shape(const struct sp_tensor *tensor, const struct sp_predicted *predicted);
/* Missing, unexpected or of another shape: what has to be explained. */
static inline bool sp_is_error(enum sp_difference difference)
{
    return difference == SP_MISSING || difference == SP_UNEXPECTED || difference == SP_SHAPE;
}
size_t sp_match_errors(const struct sp_match *match);

#endif
