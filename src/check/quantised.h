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

/* Fills `storage` from the names of the file, as they are and as the naming translates them. `part` is the part of a
 * table that describes the method; its suffixes mark a packed module. `beside` is its part for experts in one tensor
 * (sp_part_beside), or NULL. */
void sp_file_storage_read(struct sp_file_storage *storage, const struct sp_unit *part, const struct sp_unit *beside,
                          const struct shapeproof_inventory *inventory, const struct sp_naming *naming);
void sp_file_storage_free(struct sp_file_storage *storage);

/* How a check treats quantised weights. */
struct sp_quantisation {
    const char *method;                   /* NULL: nothing is quantised, or nobody can tell how */
    const char *configured;               /* the method that the configuration names, or NULL */
    bool described;                       /* a part of a table says how the configured method stores weights */
    const char *failure;                  /* why that part predicts nothing under this configuration, or NULL */
    const struct shapeproof_config *base; /* the configuration as it was given */
    struct shapeproof_config *config;     /* of the predictions, when there is a method */
    struct sp_file_storage *file;         /* its storage */
    bool elsewhere;                       /* the file is an adapter: its model is in another file, quantised or not */
    bool recognised;                      /* `method` was recognised by the tensors, against the configuration */
    size_t vanished;                      /* then: how many errors are gone with it */
};

struct shapeproof_check;

/* How many errors a prediction of quantised weights has: missing tensors, shapes, dtypes and unexpected tensors.
 * Weights of which the file has no tensor at all do not count: they are no evidence for or against a method. */
size_t sp_stored_errors(const struct shapeproof_check *check, const struct shapeproof_prediction *prediction);

/* Decides how the file is quantised, and predicts what is stored in place of the weights. Needs the naming. The match
 * of the check has been begun (sp_match_begin) before and after, and is to be completed (sp_match_rest). */
void sp_check_quantisation(struct shapeproof_check *check);
void sp_quantisation_free(struct sp_quantisation *quantisation);
/* The quantisation that explains the most of the file, as quantization_config would have it; in the arena of the check.
 * `*errors` is how many errors there are now, and becomes how many that quantisation leaves. Absent when none leaves
 * fewer. The file must have a tensor that looks packed. */
struct shapeproof_value sp_recognise_quantisation(struct shapeproof_check *check, size_t *errors);

#endif
