/* SPDX-License-Identifier: MIT
 * What the explainers of ties share: which rule ties a tensor, whether two tensors hold the same, what the file's
 * metadata says of a tensor that it lacks. */
#ifndef SP_CHECK_TIES_H
#define SP_CHECK_TIES_H

#include "check/check.h"
#include "lang/prediction.h"

/* What decides whether the predicted tensor is tied; NULL when no hyper-parameter does: its table ties it always, for
 * this class, or never. */
const struct sp_condition *sp_tie_condition(struct shapeproof_check *check, size_t predicted);
/* The same of what ties it to its partner, the tensor that is stored: which may be the one that is tied to it. */
const struct sp_condition *sp_tie_condition_between(struct shapeproof_check *check, size_t predicted);
/* "tie_word_embeddings is true by default", all hyper-parameters of the condition; the cause (or NULL) gets the
 * hyper-parameter when it is one alone. */
const char *sp_tie_said(struct shapeproof_check *check, const struct sp_condition *condition,
                        struct shapeproof_cause *cause);
/* The same in brackets behind a blank; " (always tied)" for a NULL condition. */
const char *sp_tie_rule(struct shapeproof_check *check, const struct sp_condition *condition,
                        struct shapeproof_cause *cause);
/* The only hyper-parameter of a condition that is true, or SHAPEPROOF_NONE: false, it might untie them. */
size_t sp_tie_switch(struct shapeproof_check *check, const struct sp_condition *condition);

/* A tensor, and the one that it is the same as, or would be. */
struct sp_tie_pair {
    size_t member, target;                /* predicted */
    const struct sp_condition *condition; /* one hyper-parameter */
};

/* The key of a condition that is nothing else, in another part of the configuration, the whole or its text part, which
 * says the opposite of `tied`; or NULL. Parts that are models of their own do not count. */
const char *sp_tie_contradiction(struct shapeproof_check *check, const struct sp_condition *condition, bool tied);

enum sp_equality { SP_DATA_UNREAD, SP_DATA_EQUAL, SP_DATA_UNEQUAL, SP_DATA_INCOMPARABLE };

struct sp_likeness {
    enum sp_equality equality;
    uint64_t element; /* the first that differs */
    const char *why;  /* they cannot be compared */
};

/* Whether a tensor holds the same as another, or as its first rows: bytes, so that a NaN equals itself. */
struct sp_likeness sp_tie_likeness(struct shapeproof_check *check, size_t tensor, size_t whole);

/* The tensor of the file that its metadata names in place of the predicted one, or SHAPEPROOF_NONE. Writers of
 * safetensors keep one of several names of a storage, and in the metadata each of the others with the name that was
 * kept. */
size_t sp_tie_alias(const struct shapeproof_check *check, size_t predicted);

#endif
