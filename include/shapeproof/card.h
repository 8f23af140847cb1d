/* SPDX-License-Identifier: MIT
 * The numbers for the model card of a checkpoint, and the statements about numbers of parameters in its README. */
#ifndef SHAPEPROOF_CARD_H
#define SHAPEPROOF_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/inventory.h"
#include "shapeproof/prediction.h"
#include "shapeproof/prove.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_card_totals {
    bool predicted;      /* the first six are those of the prediction; otherwise they are counted in the file */
    uint64_t parameters; /* of the model: each tied tensor once, without buffers */
    uint64_t tied;       /* elements of tensors that are tied to another */
    uint64_t buffers;    /* elements of the buffers; 0 without a prediction */
    uint64_t tokens;     /* parameters of the token embedding; 0 if no name says which it is */
    uint64_t head;       /* parameters of the head that gives the tokens, if it is not tied; likewise */
    uint64_t positions;  /* parameters of learned position embeddings; likewise */
    uint64_t stored;     /* elements in the file, each shared storage once */
    uint64_t bytes;      /* of these */
};

/* The tensors of one dtype in the file, each shared storage once. The 64th is "other": all that are more. */
struct shapeproof_card_dtype {
    const char *name;
    uint64_t tensors, elements, bytes;
};

/* A number of parameters that the README says the model has. */
struct shapeproof_statement {
    size_t line;         /* in the README, from 1 */
    const char *text;    /* the line */
    const char *printed; /* the figure: "7B", also for "7 billion" */
    /* SHAPEPROOF_PROVED and SHAPEPROOF_REFUTED as for struct shapeproof_figure; SHAPEPROOF_UNDECIDED if the line may be
     * about something else, or the model may have another number than the file, which `why` says. */
    enum shapeproof_verdict_on_claim verdict;
    uint64_t counted;                     /* the number by the convention; that of all parameters where there is none */
    const char *convention, *why, *right; /* as those of struct shapeproof_figure, or "" */
};

struct shapeproof_card; /* opaque */

/* Counts. `prediction` is that of the configuration of the checkpoint, or NULL; `readme` is the text of the README, of
 * `length` bytes, or NULL. Both may be freed afterwards; the inventory must outlive the card. Never NULL. */
SHAPEPROOF_API struct shapeproof_card *shapeproof_card_new(const struct shapeproof_inventory *inventory,
                                                           const struct shapeproof_prediction *prediction,
                                                           const char *readme, size_t length);
SHAPEPROOF_API void shapeproof_card_free(struct shapeproof_card *card);

/* All borrowed until shapeproof_card_free. */

SHAPEPROOF_API const struct shapeproof_card_totals *shapeproof_card_totals(const struct shapeproof_card *card);
/* The groups of the prediction that have parameters; none without one. */
SHAPEPROOF_API size_t shapeproof_card_group_count(const struct shapeproof_card *card);
SHAPEPROOF_API const struct shapeproof_group *shapeproof_card_group(const struct shapeproof_card *card, size_t index);
/* Dtypes, in the order in which the file has them. */
SHAPEPROOF_API size_t shapeproof_card_dtype_count(const struct shapeproof_card *card);
SHAPEPROOF_API const struct shapeproof_card_dtype *shapeproof_card_dtype(const struct shapeproof_card *card,
                                                                         size_t index);
/* Statements, in the order of the README. */
SHAPEPROOF_API size_t shapeproof_card_statement_count(const struct shapeproof_card *card);
SHAPEPROOF_API const struct shapeproof_statement *shapeproof_card_statement(const struct shapeproof_card *card,
                                                                            size_t index);

#ifdef __cplusplus
}
#endif
#endif
