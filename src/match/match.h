/* SPDX-License-Identifier: MIT
 * Which tensor of the file is which predicted one, and in what they differ. */
#ifndef SP_MATCH_MATCH_H
#define SP_MATCH_MATCH_H

#include "base/arena.h"
#include "match/naming.h"

/* The tensors of a file and the predicted ones, each a list with an index into the other:
 *
 *     file                    predicted_of   tensor_of                    predicted, differs
 *     0 module.wte.weight          0             0        wte.weight      0  same (renaming[0]: SP_STRIPPED)
 *     1 module.ln_f.weight         2          SHAPEPROOF_NONE     lm_head.weight  1  tied to 0 and therefore not there
 *     2 extra                   SHAPEPROOF_NONE          1        ln_f.weight     2  of another shape
 *
 * The file's own "extra" is unexpected: what differs about a tensor that is not predicted says sp_match_tensor. */
struct sp_match {
    const struct shapeproof_inventory *inventory;
    const struct shapeproof_prediction *prediction;
    size_t *predicted_of;    /* for each tensor of the file, or SHAPEPROOF_NONE */
    unsigned char *renaming; /* for each tensor of the file: enum sp_renaming */
    size_t paired, renamed;  /* how many are predicted, and how many of these have any */
    size_t *tensor_of;       /* for each predicted tensor, or SHAPEPROOF_NONE */
    unsigned char *differs;  /* for each predicted tensor: enum sp_difference */
    /* For each predicted tensor that others are tied to: the first of them all, itself included, that is in the file
     * (as an index in the prediction), or SHAPEPROOF_NONE. */
    size_t *tie_kept;
};

/* Pairs what has one name in both. The arrays of a match are on the heap. */
void sp_match_begin(struct sp_match *match, const struct shapeproof_inventory *inventory,
                    const struct shapeproof_prediction *prediction);
/* Then pairs what is left under the naming, and says in what each differs. */
void sp_match_rest(struct sp_match *match, const struct sp_naming *naming);
/* Both at once. */
void sp_match_init(struct sp_match *match, const struct shapeproof_inventory *inventory,
                   const struct shapeproof_prediction *prediction, const struct sp_naming *naming);
/* Undoes the pair of a predicted tensor. Only before sp_match_rest has noted differences. */
void sp_match_unpair(struct sp_match *match, size_t predicted);
void sp_match_free(struct sp_match *match);

enum sp_difference {
    SP_SAME,
    SP_MISSING,      /* predicted, not there */
    SP_UNEXPECTED,   /* there, not predicted */
    SP_SHAPE,        /* there with another shape */
    SP_TIED_ABSENT,  /* not there because it is the same as one that is */
    SP_TIED_PRESENT, /* there although it is the same as another that is there */
    SP_LEFT_OUT,     /* optional, not there */
    SP_OPTIONAL,     /* optional, there */
    SP_STATE         /* optimizer or trainer state */
};

static inline enum sp_difference sp_match_predicted(const struct sp_match *match, size_t predicted)
{
    return (enum sp_difference)match->differs[predicted];
}
enum sp_difference sp_match_tensor(const struct sp_match *match, size_t tensor);
/* The predicted tensor that is in the file and that this one is tied to, or SHAPEPROOF_NONE. */
size_t sp_match_partner(const struct sp_match *match, size_t predicted);
/* Whether the two are one storage in the file; both must be there. */
bool sp_match_shares(const struct sp_match *match, size_t predicted, size_t partner);
bool sp_same_shape(const struct shapeproof_tensor *tensor, const struct shapeproof_predicted *predicted);
/* Missing, unexpected or of another shape: what has to be explained. */
static inline bool sp_is_error(enum sp_difference difference)
{
    return difference == SP_MISSING || difference == SP_UNEXPECTED || difference == SP_SHAPE;
}
size_t sp_match_errors(const struct sp_match *match);
/* Pairs under the naming that makes the most of it. `plain`: whether that leaves every name as it is. */
void sp_match_init_best(struct sp_match *match, const struct shapeproof_inventory *inventory,
                        const struct shapeproof_prediction *prediction, bool *plain);
/* How many errors there are then. */
size_t sp_match_best_errors(const struct shapeproof_inventory *inventory,
                            const struct shapeproof_prediction *prediction);

#endif
