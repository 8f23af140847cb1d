/* SPDX-License-Identifier: MIT
 * What the file says of quantised modules: which there are, and, without a configuration that says so, how. */
#ifndef SP_CHECK_QUANTISED_H
#define SP_CHECK_QUANTISED_H

#include "base/map.h"
#include "config/quantised.h"
#include "match/naming.h"
#include "stored/suffixes.h"

struct sp_told_sizes {
    uint64_t of[SP_TOLD_COUNT];
};

/* How the modules of a file are stored, by the names of the tensors: "lm_head.qweight" says that lm_head is packed. */
struct sp_file_storage {
    struct sp_storage storage; /* comes first: it is handed out in place of the whole */
    struct sp_arena arena;
    struct sp_map modules; /* -> enum sp_stored */
    struct sp_map told;    /* modules -> index of what the file tells of them */
    SP_ARRAY(struct sp_told_sizes) told_sizes;
    size_t packed; /* modules */
};

/* As the part has them, and the one beside it, which may be NULL; the names are looked at under the naming. */
void sp_file_storage_read(struct sp_file_storage *storage, const struct sp_unit *part, const struct sp_unit *beside,
                          const struct shapeproof_inventory *inventory, const struct sp_naming *naming);
void sp_file_storage_free(struct sp_file_storage *storage);

/* How a check treats quantised weights. */
struct sp_quantisation {
    const char *method;                   /* NULL: nothing is quantised, or nobody can tell how */
    const char *configured;               /* the method that the configuration names, or NULL */
    bool described;                       /* a part of a table says how that stores weights */
    const char *failure;                  /* why nothing can be predicted from what it says, or NULL */
    const struct shapeproof_config *base; /* the configuration as it was given */
    struct shapeproof_config *config;     /* of the predictions, when there is a method */
    struct sp_file_storage *file;         /* its storage */
    bool elsewhere;                       /* the file is an adapter: what is quantised is in no part of it */
    bool recognised;                      /* by the tensors, and not as configured: */
    size_t vanished;                      /* how many findings are gone with that */
};

struct shapeproof_check;

/* What a prediction of quantised weights gets wrong of the tensors that the file has: a weight of which it has nothing
 * is no evidence. */
size_t sp_stored_errors(const struct shapeproof_check *check, const struct shapeproof_prediction *prediction);

/* Decides how the file is quantised, and predicts that instead of the weights. Needs the naming; the match is begun
 * anew then, and to be completed. */
void sp_check_quantisation(struct shapeproof_check *check);
void sp_quantisation_free(struct sp_quantisation *quantisation);
/* The quantisation that explains the most of the file, as quantization_config would have it, and the errors that it
 * leaves of those there are; absent when none leaves fewer. In the arena of the check. The file must have a tensor that
 * looks packed. */
struct shapeproof_value sp_recognise_quantisation(struct shapeproof_check *check, size_t *errors);

#endif
